//! Why a figure cannot be drawn.

use std::path::PathBuf;

/// Why a chart could not be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChartError {
    /// The file name says neither SVG nor PNG.
    #[error("{}: the file name of a chart must end in .svg or .png", .0.display())]
    Format(PathBuf),
    /// This build draws no PNG.
    #[error("this build of isinglass draws no PNG: name a file that ends in .svg, or build it with the feature png")]
    NoPng,
    /// An axis, a heat map or a colour scale was given an interval it cannot
    /// show: not finite, empty, reaching zero on a logarithmic scale, or not
    /// containing the centre of a diverging colour map.
    #[error("{what} cannot show the range from {low} to {high}")]
    Range {
        /// What the interval was for.
        what: String,
        /// Its lower end.
        low: f64,
        /// Its upper end.
        high: f64,
    },
    /// A heat map's values do not fill its grid.
    #[error("a heat map of {nx} by {ny} cells was given {values} values")]
    Grid {
        /// Cells along x.
        nx: usize,
        /// Cells along y.
        ny: usize,
        /// Values given.
        values: usize,
    },
    /// A heat map has another number of hints than cells.
    #[error("a heat map of {cells} cells was given {hints} hints")]
    Hints {
        /// Cells of the map.
        cells: usize,
        /// Hints given.
        hints: usize,
    },
    /// An image of a sheet is not of the size of the sheet's images.
    #[error("an image of {width} by {height} pixels was given {pixels} values")]
    Image {
        /// Pixels from left to right.
        width: usize,
        /// Pixels from top to bottom.
        height: usize,
        /// Values given.
        pixels: usize,
    },
    /// The size or the scale asks for an image of no pixels or of too many.
    #[error("a chart of {width} by {height} pixels cannot be drawn")]
    Size {
        /// Width in pixels.
        width: f64,
        /// Height in pixels.
        height: f64,
    },
    /// The SVG could not be turned into pixels.
    #[error("cannot rasterise the chart: {0}")]
    Raster(String),
}
