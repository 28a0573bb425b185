//! Charts for papers: SVG, and PNG that needs no fonts installed.
//!
//! A [`Figure`] is a row of [`Panel`]s, each with its own pair of [`Axis`] and
//! any number of [`Series`] (lines, markers), [`Band`]s, [`RefLine`]s,
//! hatched [`Region`]s, labelled points ([`Callout`]) and at most one
//! [`HeatMap`]. All of them are plain values with builder methods; nothing is
//! drawn before [`Figure::to_svg`], [`Figure::to_png`] or [`Drawing::draw`].
//! Nothing is written either: that is left to whoever has a place for it.
//!
//! ```
//! use isinglass_chart::{Axis, Figure, Panel, RefLine, Series};
//!
//! let decay = (0..=50).map(|l| (f64::from(l), (-f64::from(l) / 8.0).exp()));
//! let panel = Panel::new(Axis::linear("layer ℓ"), Axis::log10("1 − c_{ab}"))
//!     .series(Series::line(decay).name("σ_w^2 = 1.5"))
//!     .ref_line(RefLine::vertical(8.0).label("ξ_c"));
//! let svg = Figure::new().title("Correlation").panel(panel).to_svg()?;
//! assert!(svg.starts_with("<svg") && svg.contains("Correlation"));
//! # Ok::<(), isinglass_chart::ChartError>(())
//! ```
//!
//! An [`ImageSheet`] shows many small images, such as those of a data set, in
//! labelled rows.
//!
//! # Labels
//!
//! Every text takes light markup: `_` and `^` lower and raise the next
//! character or the next group in braces, so that `σ_m^2`, `q_{aa}` and
//! `10^{-3}` read as in a formula. A backslash takes the meaning away, and
//! [`plain`] does so for a whole text, such as a file name.
//!
//! # What is left out
//!
//! Data may contain NaN and infinities: they interrupt a line or a band, and
//! leave a cell of a heat map grey. The same goes for values that are not
//! positive on a logarithmic axis. Limits that cannot be shown are not data
//! but mistakes, and are errors.
//!
//! # Same picture everywhere
//!
//! The SVG names its fonts and leaves the drawing of them to the viewer; text
//! is measured with the widths of DejaVu Sans. The PNG is rendered from that
//! very SVG with DejaVu Sans, which is compiled in, and no other font. Numbers are rounded to a
//! hundredth of a pixel, and lines are thinned to little more, so that files stay
//! small whatever the number of points. Heat maps are embedded as images with
//! one pixel to a cell.
//!
//! # Features
//!
//! `png`, on by default, draws PNG: it brings the rasteriser and the font.
//! SVG is the same with it and without it.

mod advances;
mod axis;
pub mod base64;
mod colour;
mod colourbar;
mod encode;
mod error;
mod figure;
mod format;
mod frame;
mod geometry;
mod heatmap;
mod labels;
mod legend;
mod look;
mod mark;
mod marks;
mod markup;
mod panel;
mod placement;
mod plot;
mod raster;
mod sheet;
mod svg;
mod text;
mod thinning;
mod ticks;

pub use axis::{Axis, Scale};
pub use colour::{Colour, ColourMap, PALETTE};
pub use error::ChartError;
pub use figure::Figure;
pub use format::{Drawing, Format};
pub use heatmap::HeatMap;
pub use legend::Legend;
pub use look::Look;
pub use mark::is_ours;
pub use marks::{Band, Callout, Dash, Marker, RefLine, Region, Series};
pub use markup::plain;
pub use panel::Panel;
pub use sheet::ImageSheet;
