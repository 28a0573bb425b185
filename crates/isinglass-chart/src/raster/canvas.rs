//! Walking through a document and painting its elements.

use roxmltree::{Document, Node};
use tiny_skia::{Color, FillRule, Mask, PathBuilder, Pixmap, Rect, Transform};

use super::paint::{self, Fill};
use super::{image, shape, text};
use crate::{ChartError, encode};

/// Most pixels of an image: a poster, in memory less than a gigabyte.
const MAX_PIXELS: f64 = 1e8;

/// Renders an SVG of this crate of the given size, magnified by `scale`, to a PNG.
pub(crate) fn render(svg: &str, size: (f64, f64), scale: f64) -> Result<Vec<u8>, ChartError> {
    let (width, height) = ((size.0 * scale).round(), (size.1 * scale).round());
    let possible = width >= 1.0 && height >= 1.0 && width * height <= MAX_PIXELS;
    if !possible {
        return Err(ChartError::Size { width, height });
    }
    let document = Document::parse(svg).map_err(|error| ChartError::Raster(error.to_string()))?;
    let mut pixmap = Pixmap::new(width as u32, height as u32).ok_or(ChartError::Size { width, height })?;
    pixmap.fill(Color::WHITE);
    let transform = Transform::from_scale((width / size.0) as f32, (height / size.1) as f32);
    let mut canvas = Canvas { pixmap, transform };
    for child in document.root_element().children() {
        canvas.draw(child, None)?;
    }
    // The background is opaque, so that alpha carries nothing.
    let rgb: Vec<u8> = canvas.pixmap.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    encode::chart(canvas.pixmap.width(), canvas.pixmap.height(), &rgb)
}

struct Canvas {
    pixmap: Pixmap,
    /// From units of length to pixels.
    transform: Transform,
}

impl Canvas {
    /// Draws an element and what is in it, within the mask.
    fn draw(&mut self, node: Node<'_, '_>, mask: Option<&Mask>) -> Result<(), ChartError> {
        match node.tag_name().name() {
            "g" => {
                let own = node.attribute("clip-path").map(|name| self.mask(node, name)).transpose()?;
                for child in node.children() {
                    self.draw(child, own.as_ref().or(mask))?;
                }
                Ok(())
            }
            "rect" | "circle" | "path" => self.draw_shape(node, mask),
            "text" => self.draw_text(node, mask),
            "image" => image::draw(node, &mut self.pixmap, self.transform, mask).ok_or_else(|| unknown(node)),
            // Without pixels of their own: white space, comments, what is told to readers, and what others refer to.
            "" | "title" | "defs" | "clipPath" => Ok(()),
            _ => Err(unknown(node)),
        }
    }

    fn draw_shape(&mut self, node: Node<'_, '_>, mask: Option<&Mask>) -> Result<(), ChartError> {
        let Some(path) = shape::outline(node).map_err(|()| unknown(node))? else {
            return Ok(());
        };
        match paint::fill(node).ok_or_else(|| unknown(node))? {
            Fill::Nothing => {}
            Fill::Colour(colour) => self.pixmap.fill_path(&path, &paint::solid(colour), FillRule::Winding, self.transform, mask),
            Fill::Hatch(colour) => self.hatch(path.bounds(), colour, mask),
        }
        if let Some((colour, stroke)) = paint::stroke(node).ok_or_else(|| unknown(node))? {
            self.pixmap.stroke_path(&path, &paint::solid(colour), &stroke, self.transform, mask);
        }
        Ok(())
    }

    /// Fills a rectangle with slanting lines.
    fn hatch(&mut self, area: Rect, colour: Color, mask: Option<&Mask>) {
        let inside = self.inside(area, mask);
        let Some((lines, stroke)) = paint::hatch(area) else { return };
        let transform = self.transform.pre_concat(paint::hatch_transform());
        self.pixmap.stroke_path(&lines, &paint::solid(colour), &stroke, transform, inside.as_ref());
    }

    fn draw_text(&mut self, node: Node<'_, '_>, mask: Option<&Mask>) -> Result<(), ChartError> {
        let (Some(glyphs), Some(Fill::Colour(colour))) = (text::outlines(node), paint::fill(node)) else {
            return Err(unknown(node));
        };
        if let Some((path, turn)) = glyphs {
            self.pixmap.fill_path(&path, &paint::solid(colour), FillRule::Winding, self.transform.pre_concat(turn), mask);
        }
        Ok(())
    }

    /// The mask of a clip path, which here is always a rectangle.
    fn mask(&self, node: Node<'_, '_>, reference: &str) -> Result<Mask, ChartError> {
        let name = reference.strip_prefix("url(#").and_then(|rest| rest.strip_suffix(')'));
        let mut clips =
            node.document().descendants().filter(|node| node.has_tag_name((node.tag_name().namespace().unwrap_or(""), "clipPath")));
        let clip = clips.find(|clip| clip.attribute("id") == name).and_then(|clip| clip.first_element_child());
        let area = clip.and_then(|rect| shape::outline(rect).ok());
        // A plot without any area shows nothing.
        let area = area.ok_or_else(|| unknown(node))?.map(|path| path.bounds());
        let whole = || Mask::new(self.pixmap.width(), self.pixmap.height());
        area.and_then(|area| self.inside(area, None)).or_else(whole).ok_or_else(|| unknown(node))
    }

    /// What of a mask lies in a rectangle.
    fn inside(&self, area: Rect, mask: Option<&Mask>) -> Option<Mask> {
        let path = PathBuilder::from_rect(area);
        match mask {
            Some(mask) => {
                let mut mask = mask.clone();
                mask.intersect_path(&path, FillRule::Winding, true, self.transform);
                Some(mask)
            }
            None => {
                let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height())?;
                mask.fill_path(&path, FillRule::Winding, true, self.transform);
                Some(mask)
            }
        }
    }
}

/// This crate writes no such element; if it does, the rasteriser is behind.
fn unknown(node: Node<'_, '_>) -> ChartError {
    let text = &node.document().input_text()[node.range()];
    ChartError::Raster(format!("unknown to the rasteriser: {}", text.chars().take(80).collect::<String>()))
}
