//! Images as PNG files.

use super::{colour::Colour, error::ChartError};

/// Encodes an image of palette indices.
pub(crate) fn indexed(palette: &[Colour], width: usize, height: usize, pixels: &[u8]) -> Result<Vec<u8>, ChartError> {
    let size_error = |_| ChartError::Size { width: width as f64, height: height as f64 };
    let (w, h) = (u32::try_from(width).map_err(size_error)?, u32::try_from(height).map_err(size_error)?);
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, w, h);
    encoder.set_color(png::ColorType::Indexed);
    let entries: Vec<u8> = palette.iter().flat_map(|c| [c.0, c.1, c.2]).collect();
    encoder.set_palette(entries);
    // Filters predict numbers, not indices.
    encoder.set_filter(png::Filter::NoFilter);
    finish(encoder, pixels)?;
    Ok(png)
}

/// Encodes a whole chart, red, green and blue for each pixel, and says who made it.
#[cfg(feature = "png")]
pub(crate) fn chart(width: u32, height: u32, rgb: &[u8]) -> Result<Vec<u8>, ChartError> {
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.add_text_chunk("Software".to_owned(), "isinglass".to_owned()).map_err(encoding)?;
    finish(encoder, rgb)?;
    Ok(png)
}

fn finish(mut encoder: png::Encoder<'_, &mut Vec<u8>>, data: &[u8]) -> Result<(), ChartError> {
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(encoding)?;
    writer.write_image_data(data).map_err(encoding)?;
    writer.finish().map_err(encoding)
}

fn encoding(error: png::EncodingError) -> ChartError {
    ChartError::Raster(error.to_string())
}
