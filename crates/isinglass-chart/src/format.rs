//! Which format the name of a file means, and drawing in it.

use std::path::Path;

use super::{ChartError, Figure, ImageSheet};

/// Pixels to a unit of length in a PNG file.
const FILE_SCALE: f64 = 2.0;

/// The formats a chart can be drawn in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Scalable vector graphics.
    Svg,
    /// Portable network graphics; needs the feature `png`.
    Png,
}

impl Format {
    /// Those that this build can draw.
    #[cfg(feature = "png")]
    pub const AVAILABLE: &[Self] = &[Self::Svg, Self::Png];
    /// Those that this build can draw.
    #[cfg(not(feature = "png"))]
    pub const AVAILABLE: &[Self] = &[Self::Svg];

    /// The format that the extension of `path` stands for, in either case.
    ///
    /// # Errors
    ///
    /// [`ChartError::Format`] unless the extension is `.svg` or `.png`, and [`ChartError::NoPng`] for the latter in a build without PNG.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, ChartError> {
        let path = path.as_ref();
        let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
        let format = match extension.as_deref() {
            Some("svg") => Self::Svg,
            Some("png") => Self::Png,
            _ => return Err(ChartError::Format(path.to_owned())),
        };
        if Self::AVAILABLE.contains(&format) { Ok(format) } else { Err(ChartError::NoPng) }
    }

    /// The extension of its files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }
}

/// What can be drawn into a file.
pub trait Drawing {
    /// The contents of a file of this format, which say that isinglass made it; a PNG has two pixels to a unit of length.
    ///
    /// # Errors
    ///
    /// Those of [`Figure::to_svg`] and [`Figure::to_png`].
    fn draw(&self, format: Format) -> Result<Vec<u8>, ChartError>;
}

impl Drawing for Figure {
    fn draw(&self, format: Format) -> Result<Vec<u8>, ChartError> {
        match format {
            Format::Svg => self.to_svg().map(String::into_bytes),
            Format::Png => self.to_png(FILE_SCALE),
        }
    }
}

impl Drawing for ImageSheet {
    fn draw(&self, format: Format) -> Result<Vec<u8>, ChartError> {
        match format {
            Format::Svg => self.to_svg().map(String::into_bytes),
            Format::Png => self.to_png(FILE_SCALE),
        }
    }
}
