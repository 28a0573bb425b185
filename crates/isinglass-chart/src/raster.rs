//! Pixels: rendering the SVG with the font built in, and encoding PNG.

use std::sync::{Arc, LazyLock};

use resvg::{tiny_skia, usvg};

use super::{colour::Colour, error::ChartError};

/// The only font known to the renderer, so that every machine draws the same.
static FONTS: LazyLock<Arc<usvg::fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    Arc::new(fonts)
});

/// Most pixels of an image: a poster, in memory less than a gigabyte.
const MAX_PIXELS: f64 = 1e8;

/// Renders an SVG of the given size, magnified by `scale`, to a PNG.
pub(crate) fn render(svg: &str, size: (f64, f64), scale: f64) -> Result<Vec<u8>, ChartError> {
    let (width, height) = ((size.0 * scale).round(), (size.1 * scale).round());
    let possible = width >= 1.0 && height >= 1.0 && width * height <= MAX_PIXELS;
    if !possible {
        return Err(ChartError::Size { width, height });
    }
    let options = usvg::Options { fontdb: FONTS.clone(), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options).map_err(raster_error)?;
    let mut pixmap = tiny_skia::Pixmap::new(width as u32, height as u32).ok_or(ChartError::Size { width, height })?;
    pixmap.fill(tiny_skia::Color::WHITE);
    let transform = tiny_skia::Transform::from_scale((width / size.0) as f32, (height / size.1) as f32);
    resvg::render(&tree, transform, &mut pixmap.as_mut());
    // The background is opaque, so that alpha carries nothing.
    let rgb: Vec<u8> = pixmap.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Rgb);
    finish(encoder, &rgb)?;
    Ok(png)
}

/// Encodes an image of palette indices.
pub(crate) fn encode_indexed(palette: &[Colour], width: usize, height: usize, pixels: &[u8]) -> Result<Vec<u8>, ChartError> {
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

fn finish(mut encoder: png::Encoder<'_, &mut Vec<u8>>, data: &[u8]) -> Result<(), ChartError> {
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(raster_error)?;
    writer.write_image_data(data).map_err(raster_error)?;
    writer.finish().map_err(raster_error)
}

fn raster_error(error: impl std::error::Error) -> ChartError {
    ChartError::Raster(error.to_string())
}
