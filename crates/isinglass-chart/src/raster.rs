//! Pixels: a rasteriser for the SVG that this crate writes, and for no other.
//!
//! It knows the elements and attributes in use here and nothing else of SVG, which keeps it small; a test compares its pictures with those of a complete one.

#[cfg(feature = "png")]
mod canvas;
#[cfg(feature = "png")]
pub(crate) mod font;
#[cfg(feature = "png")]
mod image;
#[cfg(feature = "png")]
mod paint;
#[cfg(feature = "png")]
mod shape;
#[cfg(feature = "png")]
mod text;

#[cfg(feature = "png")]
pub(crate) use canvas::render;

/// Without a rasteriser there are no pixels.
#[cfg(not(feature = "png"))]
pub(crate) fn render(_svg: &str, _size: (f64, f64), _scale: f64) -> Result<Vec<u8>, super::ChartError> {
    Err(super::ChartError::NoPng)
}
