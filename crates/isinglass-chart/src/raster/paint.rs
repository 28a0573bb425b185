//! Colours, strokes and hatching.

use roxmltree::Node;
use tiny_skia::{Color, LineCap, LineJoin, Paint, Path, PathBuilder, Rect, Stroke, StrokeDash, Transform};

use crate::plot::{HATCH, HATCH_COLOUR, HATCH_STEP, HATCH_WIDTH};

/// What is inside a shape.
pub(super) enum Fill {
    Nothing,
    Colour(Color),
    /// Slanting lines of this colour.
    Hatch(Color),
}

/// The fill of an element; `None` if this module does not know it.
pub(super) fn fill(node: Node<'_, '_>) -> Option<Fill> {
    let opacity = number(node, "fill-opacity").unwrap_or(1.0);
    // Inherited: of groups, those of hints have one.
    match node.ancestors().find_map(|node| node.attribute("fill")) {
        None => Some(Fill::Colour(Color::BLACK)),
        Some("none") => Some(Fill::Nothing),
        Some(reference) if reference.starts_with("url(#") => {
            (reference[5..].strip_suffix(')') == Some(HATCH)).then_some(Fill::Hatch(colour(HATCH_COLOUR, opacity)?))
        }
        Some(text) => Some(Fill::Colour(colour(text, opacity)?)),
    }
}

/// Colour and shape of an element's outline, if it has one; `None` if this module does not know it.
pub(super) fn stroke(node: Node<'_, '_>) -> Option<Option<(Color, Stroke)>> {
    let Some(colour) = node.attribute("stroke").map(|text| colour(text, 1.0)) else {
        return Some(None);
    };
    let dash = match node.attribute("stroke-dasharray") {
        Some(text) => Some(StrokeDash::new(text.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?, 0.0)?),
        None => None,
    };
    let stroke = Stroke {
        width: number(node, "stroke-width").unwrap_or(1.0),
        line_cap: if node.attribute("stroke-linecap") == Some("round") { LineCap::Round } else { LineCap::Butt },
        line_join: if node.attribute("stroke-linejoin") == Some("round") { LineJoin::Round } else { LineJoin::Miter },
        dash,
        ..Stroke::default()
    };
    Some(Some((colour?, stroke)))
}

/// A paint of one colour.
pub(super) fn solid(colour: Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(colour);
    paint
}

/// From the space in which hatching lines are upright to that of the picture.
pub(super) fn hatch_transform() -> Transform {
    Transform::from_rotate(45.0)
}

/// The hatching lines that cross a rectangle, upright in their own space.
pub(super) fn hatch(area: Rect) -> Option<(Path, Stroke)> {
    let area = area.transform(hatch_transform().invert()?)?;
    let mut lines = PathBuilder::new();
    for index in (area.left() / HATCH_STEP).floor() as i32..=(area.right() / HATCH_STEP).ceil() as i32 {
        let x = (index as f32 + 0.5) * HATCH_STEP;
        lines.move_to(x, area.top());
        lines.line_to(x, area.bottom());
    }
    Some((lines.finish()?, Stroke { width: HATCH_WIDTH, ..Stroke::default() }))
}

/// An attribute that is a number.
pub(super) fn number(node: Node<'_, '_>, name: &str) -> Option<f32> {
    node.attribute(name)?.parse().ok()
}

/// `#rgb` or `#rrggbb`.
fn colour(text: &str, opacity: f32) -> Option<Color> {
    let digits = text.strip_prefix('#')?;
    let value = u32::from_str_radix(digits, 16).ok()?;
    let [red, green, blue] = match digits.len() {
        3 => [8, 4, 0].map(|shift| 17 * (value >> shift & 0xf) as u8),
        6 => [16, 8, 0].map(|shift| (value >> shift) as u8),
        _ => return None,
    };
    let mut colour = Color::from_rgba8(red, green, blue, 255);
    colour.set_alpha(opacity.clamp(0.0, 1.0));
    Some(colour)
}
