//! Laying out text.

use roxmltree::Node;
use tiny_skia::{Path, PathBuilder, Transform};

use super::font;
use super::paint::number;
use crate::text::advance_or_typical;

/// The outlines of all characters of a `text` element, if any of them has one, and how they are turned; `None` if this module does not know the element.
pub(super) fn outlines(node: Node<'_, '_>) -> Option<Option<(Path, Transform)>> {
    let size = number(node, "font-size")?;
    let (mut x, mut y) = (number(node, "x")?, number(node, "y")?);
    let mut characters: Vec<(char, f32, f32, f32)> = Vec::new();
    let (start, mut end) = (x, x);
    for child in node.children() {
        let size = number(child, "font-size").unwrap_or(size);
        x += number(child, "dx").unwrap_or(0.0);
        y += number(child, "dy").unwrap_or(0.0);
        // Elements in it are `tspan`s of nothing but text.
        for c in child.text()?.chars() {
            // Spaces at the beginning and after others take no room.
            if c == ' ' && characters.last().is_none_or(|last| last.0 == ' ') {
                continue;
            }
            characters.push((c, x, y, size));
            x += size * advance_or_typical(c) as f32;
            // Of two scripts on top of each other the longer one counts.
            end = end.max(x);
        }
    }
    let shift = match node.attribute("text-anchor") {
        None => 0.0,
        Some("middle") => 0.5 * (start - end),
        Some("end") => start - end,
        Some(_) => return None,
    };
    let turn = match node.attribute("transform") {
        None => Transform::identity(),
        Some(text) => rotation(text)?,
    };
    let mut path = PathBuilder::new();
    for (c, x, y, size) in characters {
        font::push_outline(&mut path, c, (x + shift, y), size);
    }
    Some(path.finish().map(|path| (path, turn)))
}

/// `rotate(angle x y)`.
fn rotation(text: &str) -> Option<Transform> {
    let numbers = text.strip_prefix("rotate(")?.strip_suffix(')')?.split(' ').map(str::parse).collect::<Result<Vec<f32>, _>>().ok()?;
    match numbers.as_slice() {
        &[angle, x, y] => Some(Transform::from_rotate_at(angle, x, y)),
        _ => None,
    }
}
