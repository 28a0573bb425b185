//! Heat maps: a grid of values, the colours for them, and the image.

use super::{
    axis::{Scale, extent},
    colour::{Colour, ColourMap, LEVELS},
    encode,
    error::ChartError,
    svg::Svg,
};
use crate::base64;

/// A grid of values shown as colours.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatMap {
    pub(crate) x: (f64, f64),
    pub(crate) y: (f64, f64),
    nx: usize,
    ny: usize,
    values: Vec<f64>,
    map: ColourMap,
    scale: Scale,
    limits: Option<(f64, f64)>,
    pub(crate) label: String,
    hints: Vec<String>,
}

impl HeatMap {
    /// A grid of `nx` by `ny` cells over the intervals `x` and `y`, which are
    /// the outer edges of the first and the last cells.
    ///
    /// The values go row by row from the smallest y, which is drawn at the
    /// bottom, and each row from the smallest x. NaN means no value and is
    /// drawn grey. On a logarithmic axis the cells are equal factors apart.
    ///
    /// # Errors
    ///
    /// [`ChartError::Grid`] unless there are `nx * ny` values and at least
    /// one, [`ChartError::Range`] for an interval that is empty, reversed or
    /// not finite.
    pub fn new(x: (f64, f64), y: (f64, f64), nx: usize, ny: usize, values: Vec<f64>) -> Result<Self, ChartError> {
        if values.is_empty() || nx.checked_mul(ny) != Some(values.len()) {
            return Err(ChartError::Grid { nx, ny, values: values.len() });
        }
        let map = Self {
            x,
            y,
            nx,
            ny,
            values,
            map: ColourMap::default(),
            scale: Scale::Linear,
            limits: None,
            label: String::new(),
            hints: Vec::new(),
        };
        map.check_edges(Scale::Linear, Scale::Linear)?;
        Ok(map)
    }

    /// Sets the colour map, which otherwise is sequential.
    #[must_use]
    pub fn colours(mut self, map: ColourMap) -> Self {
        self.map = map;
        self
    }

    /// Sets the values of the two ends of the colour bar, which otherwise are
    /// the extremes of the data. Values beyond take the colour of the end,
    /// and the bar ends in a triangle to say so.
    #[must_use]
    pub fn limits(mut self, low: f64, high: f64) -> Self {
        self.limits = Some((low, high));
        self
    }

    /// Spreads the colours evenly over factors instead of differences. A zero
    /// then is below every limit, a negative value is no value.
    #[must_use]
    pub fn log10(mut self) -> Self {
        self.scale = Scale::Log10;
        self
    }

    /// Sets the label of the colour bar.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Sets a plain text for each cell, in the order of the values, that a browser shows while the pointer is on the cell. It may have several lines. The PNG
    /// does not change.
    ///
    /// In the SVG each is the `title` of an invisible rectangle of class `cell`.
    #[must_use]
    pub fn hints(mut self, hints: Vec<String>) -> Self {
        self.hints = hints;
        self
    }

    /// Whether axes of the given scales can show the grid.
    pub(crate) fn check_edges(&self, x: Scale, y: Scale) -> Result<(), ChartError> {
        for (scale, (low, high)) in [(x, self.x), (y, self.y)] {
            if !scale.admits((low, high)) {
                return Err(ChartError::Range { what: "a heat map".to_owned(), low, high });
            }
        }
        Ok(())
    }

    /// The colour scale, with limits that are known to be usable.
    pub(crate) fn colour_scale(&self) -> Result<ColourScale, ChartError> {
        let centre = match self.map {
            ColourMap::Sequential => None,
            ColourMap::Diverging { centre } => Some(centre),
        };
        let at = |v: f64| self.scale.coordinate(v);
        let (low, high) = match self.limits {
            Some(limits) => limits,
            None => {
                let found = extent(self.scale, self.values.iter().copied());
                self.widened(found, centre)
            }
        };
        let usable = self.scale.admits((low, high)) && centre.is_none_or(|c| at(low) < at(c) && at(c) < at(high));
        if !usable {
            return Err(ChartError::Range { what: "the colour bar".to_owned(), low, high });
        }
        Ok(ColourScale {
            map: self.map,
            scale: self.scale,
            low,
            high,
            centre,
            below: self.values.iter().any(|v| *v < low && !at(*v).is_nan()) || self.scale == Scale::Log10 && self.values.contains(&0.0),
            above: self.values.iter().any(|v| *v > high),
        })
    }

    /// Limits for the extremes of the data: wide enough to have an inside,
    /// and with both sides of the centre.
    fn widened(&self, found: Option<(f64, f64)>, centre: Option<f64>) -> (f64, f64) {
        let start = centre.unwrap_or(1.0);
        let (low, high) = found.unwrap_or((start, start));
        let (mut a, mut b) = (self.scale.coordinate(low), self.scale.coordinate(high));
        if let Some(c) = centre.map(|c| self.scale.coordinate(c)) {
            if a >= c {
                a = 2.0 * c - b;
            }
            if b <= c {
                b = 2.0 * c - a;
            }
        }
        if a >= b {
            (a, b) = (a - 0.5, b + 0.5);
        }
        // Only ends that moved go through the logarithm and back.
        let end = |moved: f64, value: f64| {
            if moved == self.scale.coordinate(value) { value } else { self.scale.value(moved) }
        };
        (end(a, low), end(b, high))
    }

    /// The grid as a PNG with one pixel per cell, top row first.
    pub(crate) fn png(&self, colours: &ColourScale) -> Result<Vec<u8>, ChartError> {
        let mut palette = colours.map.colours().to_vec();
        let masked = palette.len() as u8;
        palette.push(Colour::MASK);
        let mut pixels = Vec::with_capacity(self.values.len());
        for row in self.values.chunks(self.nx).rev() {
            pixels.extend(row.iter().map(|v| match colours.fraction(*v) {
                Some(f) => (f * (LEVELS - 1) as f64).round() as u8,
                None => masked,
            }));
        }
        encode::indexed(&palette, self.nx, self.ny, &pixels)
    }

    pub(crate) fn has_hints(&self) -> bool {
        !self.hints.is_empty()
    }

    /// Writes the hints over the cells, whose rectangle is given.
    pub(crate) fn write_hints(&self, svg: &mut Svg, [x, y, w, h]: [f64; 4]) -> Result<(), ChartError> {
        if self.hints.len() != self.values.len() {
            return Err(ChartError::Hints { cells: self.values.len(), hints: self.hints.len() });
        }
        let edge = |start: f64, length: f64, i: usize, count: usize| start + length * i as f64 / count as f64;
        for (index, hint) in self.hints.iter().enumerate() {
            let (column, row) = (index % self.nx, self.ny - 1 - index / self.nx);
            let (left, right) = (edge(x, w, column, self.nx), edge(x, w, column + 1, self.nx));
            let (top, bottom) = (edge(y, h, row, self.ny), edge(y, h, row + 1, self.ny));
            svg.tag("rect")
                .attr("class", "cell")
                .num("x", left)
                .num("y", top)
                .num("width", right - left)
                .num("height", bottom - top)
                .open();
            svg.tag("title").open();
            svg.lines(hint);
            svg.close_inline("title");
            svg.end("rect");
        }
        Ok(())
    }
}

/// The map from values to places on a colour bar.
#[derive(Clone, Debug)]
pub(crate) struct ColourScale {
    pub(crate) map: ColourMap,
    pub(crate) scale: Scale,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) centre: Option<f64>,
    /// Whether there are values below and above the limits.
    pub(crate) below: bool,
    pub(crate) above: bool,
}

impl ColourScale {
    /// The place of a value between the ends of the bar, 0 to 1.
    pub(crate) fn fraction(&self, value: f64) -> Option<f64> {
        let at = |v: f64| self.scale.coordinate(v);
        let value = match self.scale {
            // Its logarithm lies below any limit.
            Scale::Log10 if value == 0.0 => f64::NEG_INFINITY,
            _ => at(value),
        };
        if value.is_nan() {
            return None;
        }
        let part = |low: f64, high: f64| ((value - low) / (high - low)).clamp(0.0, 1.0);
        Some(match self.centre.map(at) {
            None => part(at(self.low), at(self.high)),
            Some(c) if value < c => 0.5 * part(at(self.low), c),
            Some(c) => 0.5 + 0.5 * part(c, at(self.high)),
        })
    }
}

/// Writes a PNG as an image stretched over a rectangle, its pixels left sharp.
pub(crate) fn write_image(svg: &mut Svg, png: &[u8], [x, y, w, h]: [f64; 4]) {
    let data = format!("data:image/png;base64,{}", base64::encode(png));
    svg.tag("image")
        .num("x", x)
        .num("y", y)
        .num("width", w)
        .num("height", h)
        .attr("preserveAspectRatio", "none")
        // The attribute is for viewers that know only SVG 1.1; the style,
        // where it is understood, goes before it.
        .attr("image-rendering", "optimizeSpeed")
        .attr("style", "image-rendering:pixelated")
        .attr("xlink:href", &data)
        .close();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(values: Vec<f64>) -> HeatMap {
        HeatMap::new((0.0, 1.0), (0.0, 1.0), values.len(), 1, values).unwrap()
    }

    #[test]
    fn grids_must_be_full() {
        let grid = |nx, ny, n| HeatMap::new((0.0, 1.0), (0.0, 1.0), nx, ny, vec![0.0; n]);
        assert!(grid(2, 3, 6).is_ok());
        assert!(matches!(grid(2, 3, 5), Err(ChartError::Grid { values: 5, .. })));
        assert!(grid(0, 0, 0).is_err());
        assert!(grid(usize::MAX, 2, 6).is_err());
        assert!(HeatMap::new((1.0, 1.0), (0.0, 1.0), 1, 1, vec![0.0]).is_err());
    }

    #[test]
    fn the_sides_of_a_centre_have_their_own_extents() {
        let scale = map(vec![0.5, 1.0, 5.0, f64::NAN]).colours(ColourMap::Diverging { centre: 1.0 }).colour_scale().unwrap();
        assert_eq!((scale.low, scale.high), (0.5, 5.0));
        assert_eq!(scale.fraction(0.75), Some(0.25));
        assert_eq!(scale.fraction(1.0), Some(0.5));
        assert_eq!(scale.fraction(3.0), Some(0.75));
        assert_eq!(scale.fraction(f64::INFINITY), Some(1.0));
        assert_eq!(scale.fraction(f64::NAN), None);
        assert!(!scale.below && !scale.above);
    }

    #[test]
    fn an_empty_side_mirrors_the_other() {
        let scale = map(vec![1.5, 3.0]).colours(ColourMap::Diverging { centre: 1.0 }).colour_scale().unwrap();
        assert_eq!((scale.low, scale.high), (-1.0, 3.0));
    }

    #[test]
    fn values_beyond_the_limits_are_noticed() {
        let scale = map(vec![0.0, 0.5, 2.0]).limits(0.1, 1.0).log10();
        let scale = scale.colour_scale().unwrap();
        assert!(scale.below && scale.above);
        assert_eq!(scale.fraction(0.0), Some(0.0));
        assert_eq!(scale.fraction(-1.0), None);
        let inside = map(vec![0.2, 0.5]).limits(0.1, 1.0).colour_scale().unwrap();
        assert!(!inside.below && !inside.above);
    }

    #[test]
    fn limits_that_cannot_be_shown_are_errors() {
        assert!(map(vec![1.0]).limits(1.0, 1.0).colour_scale().is_err());
        assert!(map(vec![1.0]).limits(0.0, 1.0).log10().colour_scale().is_err());
        let off_centre = map(vec![1.0]).colours(ColourMap::Diverging { centre: 1.0 }).limits(2.0, 3.0);
        assert!(off_centre.colour_scale().is_err());
        // Constant and empty data still have a colour bar.
        assert!(map(vec![7.0]).colour_scale().is_ok());
        assert!(map(vec![f64::NAN]).log10().colour_scale().is_ok());
    }
}
