//! Outlines of rectangles, circles and paths.

use roxmltree::Node;
use tiny_skia::{Path, PathBuilder, Rect};

use super::paint::number;

/// The outline of an element, if it has any extent; an error if this module does not know it.
pub(super) fn outline(node: Node<'_, '_>) -> Result<Option<Path>, ()> {
    let attribute = |name| number(node, name);
    match node.tag_name().name() {
        "rect" => {
            let (x, y) = (attribute("x").unwrap_or(0.0), attribute("y").unwrap_or(0.0));
            let area = Rect::from_xywh(x, y, attribute("width").ok_or(())?, attribute("height").ok_or(())?);
            Ok(area.filter(|area| area.width() > 0.0 && area.height() > 0.0).and_then(|area| match attribute("rx") {
                Some(radius) => rounded(area, radius),
                None => Some(PathBuilder::from_rect(area)),
            }))
        }
        "circle" => {
            let [x, y, radius] = ["cx", "cy", "r"].map(attribute);
            Ok(PathBuilder::from_circle(x.ok_or(())?, y.ok_or(())?, radius.ok_or(())?))
        }
        "path" => path(node.attribute("d").ok_or(())?),
        _ => Err(()),
    }
}

/// A rectangle with round corners.
fn rounded(area: Rect, radius: f32) -> Option<Path> {
    let radius = radius.min(0.5 * area.width()).min(0.5 * area.height());
    // A quarter of a circle as a cubic curve.
    let handle = radius * (1.0 - 0.552_284_8);
    let (left, top, right, bottom) = (area.left(), area.top(), area.right(), area.bottom());
    let mut path = PathBuilder::new();
    path.move_to(left + radius, top);
    path.line_to(right - radius, top);
    path.cubic_to(right - handle, top, right, top + handle, right, top + radius);
    path.line_to(right, bottom - radius);
    path.cubic_to(right, bottom - handle, right - handle, bottom, right - radius, bottom);
    path.line_to(left + radius, bottom);
    path.cubic_to(left + handle, bottom, left, bottom - handle, left, bottom - radius);
    path.line_to(left, top + radius);
    path.cubic_to(left, top + handle, left + handle, top, left + radius, top);
    path.close();
    path.finish()
}

/// Straight lines: the commands `M`, `L`, `H`, `V`, `h`, `v` and `z`, each with its own numbers.
fn path(data: &str) -> Result<Option<Path>, ()> {
    let mut path = PathBuilder::new();
    let (mut x, mut y) = (0.0_f32, 0.0_f32);
    let mut rest = data;
    while let Some(command) = rest.chars().next() {
        let tail = rest.get(1..).ok_or(())?;
        let (numbers, next) = tail.split_at(tail.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(tail.len()));
        let numbers: Vec<f32> = numbers.split_whitespace().map(str::parse).collect::<Result<_, _>>().map_err(|_| ())?;
        (x, y) = match (command, numbers.as_slice()) {
            ('M' | 'L', &[x, y]) => (x, y),
            ('H', &[x]) => (x, y),
            ('V', &[y]) => (x, y),
            ('h', &[step]) => (x + step, y),
            ('v', &[step]) => (x, y + step),
            ('z', []) => (x, y),
            _ => return Err(()),
        };
        match command {
            'M' => path.move_to(x, y),
            'z' => path.close(),
            _ => path.line_to(x, y),
        }
        rest = next;
    }
    Ok(path.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiny_skia::{PathSegment, Point};

    #[test]
    fn paths_are_read_as_they_are_written() {
        let path = path("M1 2L3.5 -4H5V6h-1v.5zM0 0h.01").unwrap().unwrap();
        let point = Point::from_xy;
        let want = [
            PathSegment::MoveTo(point(1.0, 2.0)),
            PathSegment::LineTo(point(3.5, -4.0)),
            PathSegment::LineTo(point(5.0, -4.0)),
            PathSegment::LineTo(point(5.0, 6.0)),
            PathSegment::LineTo(point(4.0, 6.0)),
            PathSegment::LineTo(point(4.0, 6.5)),
            PathSegment::Close,
            PathSegment::MoveTo(point(0.0, 0.0)),
            PathSegment::LineTo(point(0.01, 0.0)),
        ];
        assert!(path.segments().eq(want));
        for other in ["M1", "M1 2Q1 2 3 4", "M1 x", "1 2", "M1 2é"] {
            assert!(super::path(other).is_err(), "{other}");
        }
    }
}
