//! Embedded images: heat maps, colour bars and sheets.

use roxmltree::Node;
use tiny_skia::{FilterQuality, IntSize, Mask, Pixmap, PixmapPaint, Transform};

use super::paint::number;
use crate::base64;

/// Draws an image, each of its pixels as a rectangle; `None` if it is not one that this crate has made.
pub(super) fn draw(node: Node<'_, '_>, pixmap: &mut Pixmap, transform: Transform, mask: Option<&Mask>) -> Option<()> {
    let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| number(node, name));
    let (x, y, width, height) = (x?, y?, width?, height?);
    let address = node.attributes().find(|attribute| attribute.name() == "href")?;
    let image = decode(&base64::decode(address.value().strip_prefix("data:image/png;base64,")?)?)?;
    let paint = PixmapPaint { quality: FilterQuality::Nearest, ..PixmapPaint::default() };
    let cell = transform.pre_translate(x, y).pre_scale(width / image.width() as f32, height / image.height() as f32);
    pixmap.draw_pixmap(0, 0, image.as_ref(), &paint, cell, mask);
    Some(())
}

fn decode(png: &[u8]) -> Option<Pixmap> {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().ok()?;
    let mut pixels = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut pixels).ok()?;
    let (pixels, []) = pixels[..info.buffer_size()].as_chunks::<3>() else { return None };
    let rgba = pixels.iter().flat_map(|&[red, green, blue]| [red, green, blue, 255]).collect();
    Pixmap::from_vec(rgba, IntSize::from_wh(info.width, info.height)?)
}
