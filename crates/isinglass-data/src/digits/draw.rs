//! A pen on a grid of pixels.
//!
//! Every pixel keeps its distance from the nearest piece of a stroke, measured from the edge of the pen there; ink follows from that distance.
//! Only + − × ÷ and the square root are used, which IEEE 754 rounds the same way everywhere.

use super::SIDE;
use super::strokes::Point;

/// How far from the edge of the pen ink can still be seen, in pixels.
const REACH: f32 = 1.0;

/// Straight pieces between two points of a stroke.
const PIECES: usize = 6;

/// A drawing under way.
pub(super) struct Canvas {
    /// Distance from the pen's edge, negative inside.
    distance: [f32; SIDE * SIDE],
}

impl Canvas {
    pub(super) fn new() -> Self {
        Self { distance: [REACH; SIDE * SIDE] }
    }

    /// Draws a smooth curve through `points` (Catmull–Rom; a point given twice is a corner), the pen's radius going evenly from `start` to `end`.
    pub(super) fn stroke(&mut self, points: &[Point], start: f32, end: f32) {
        let last = points.len() - 1;
        let pieces = (last * PIECES) as f32;
        let radius = |piece: usize| start + (end - start) * piece as f32 / pieces;
        let mut from = points[0];
        for i in 0..last {
            let (p1, p2) = (points[i], points[i + 1]);
            if p1 == p2 {
                continue;
            }
            let p0 = if i > 0 && points[i - 1] != p1 { points[i - 1] } else { p1 };
            let p3 = if i + 2 <= last && points[i + 2] != p2 { points[i + 2] } else { p2 };
            for piece in 1..=PIECES {
                let t = piece as f32 / PIECES as f32;
                let to = (spline(p0.0, p1.0, p2.0, p3.0, t), spline(p0.1, p1.1, p2.1, p3.1, t));
                self.piece(from, to, radius(i * PIECES + piece));
                from = to;
            }
        }
    }

    /// A straight piece of a stroke, or a dot.
    pub(super) fn piece(&mut self, from: Point, to: Point, radius: f32) {
        let margin = radius + REACH;
        let (left, right) = pixels(from.0.min(to.0) - margin, from.0.max(to.0) + margin);
        let (top, bottom) = pixels(from.1.min(to.1) - margin, from.1.max(to.1) + margin);
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let length2 = dx * dx + dy * dy;
        // A dot is a piece of length 0.
        let (ux, uy) = if length2 > 0.0 { (dx / length2, dy / length2) } else { (0.0, 0.0) };
        for row in top..bottom {
            for column in left..right {
                let (x, y) = (column as f32 + 0.5 - from.0, row as f32 + 0.5 - from.1);
                let along = (x * ux + y * uy).clamp(0.0, 1.0);
                let (x, y) = (x - along * dx, y - along * dy);
                let distance = (x * x + y * y).sqrt() - radius;
                let nearest = &mut self.distance[row * SIDE + column];
                if distance < *nearest {
                    *nearest = distance;
                }
            }
        }
    }

    /// Ink from 0 to 1 at every pixel, its edge `softness` pixels wide.
    pub(super) fn ink(&self, softness: f32) -> impl Iterator<Item = f32> {
        self.distance.iter().map(move |distance| {
            let x = (0.5 - distance / softness).clamp(0.0, 1.0);
            x * x * (3.0 - 2.0 * x)
        })
    }
}

/// The pixels that meet the interval.
fn pixels(low: f32, high: f32) -> (usize, usize) {
    let inside = |x: f32| x.clamp(0.0, SIDE as f32) as usize;
    (inside(low), inside(high + 1.0))
}

/// Catmull–Rom between `p1` (t = 0) and `p2` (t = 1).
fn spline(p0: f32, p1: f32, p2: f32, p3: f32, t: f32) -> f32 {
    let (m1, m2) = (0.5 * (p2 - p0), 0.5 * (p3 - p1));
    let (t2, t3) = (t * t, t * t * t);
    (2.0 * t3 - 3.0 * t2 + 1.0) * p1 + (t3 - 2.0 * t2 + t) * m1 + (3.0 * t2 - 2.0 * t3) * p2 + (t3 - t2) * m2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ink(canvas: &Canvas) -> Vec<f32> {
        canvas.ink(1.0).collect()
    }

    #[test]
    fn a_straight_stroke_covers_its_width() {
        let mut canvas = Canvas::new();
        canvas.stroke(&[(4.0, 10.0), (24.0, 10.0)], 2.0, 2.0);
        let ink = ink(&canvas);
        let column: Vec<f32> = (6..14).map(|row| ink[row * SIDE + 14]).collect();
        assert_eq!(column, [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn ink_outside_the_picture_is_cut_off() {
        let mut canvas = Canvas::new();
        canvas.stroke(&[(-50.0, -50.0), (-40.0, 90.0)], 2.0, 2.0);
        canvas.piece((100.0, 3.0), (100.0, 3.0), 1.0);
        assert!(ink(&canvas).iter().all(|x| *x == 0.0));
    }

    #[test]
    fn a_point_given_twice_is_a_corner() {
        let corner = |points: &[Point]| {
            let mut canvas = Canvas::new();
            canvas.stroke(points, 0.5, 0.5);
            canvas.distance[20 * SIDE + 20]
        };
        let sharp = corner(&[(5.0, 20.5), (20.5, 20.5), (20.5, 20.5), (20.5, 5.0)]);
        assert_eq!(sharp, -0.5);
    }
}
