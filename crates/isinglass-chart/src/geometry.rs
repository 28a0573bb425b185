//! Rectangles, and lines and polygons cut to them.

/// A point in pixels, y downwards.
pub(crate) type Pixel = (f64, f64);

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) w: f64,
    pub(crate) h: f64,
}

impl Rect {
    pub(crate) fn new(x: f64, y: f64, w: f64, h: f64) -> Self {
        Self { x, y, w, h }
    }

    pub(crate) fn right(&self) -> f64 {
        self.x + self.w
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.h
    }

    pub(crate) fn middle(&self) -> Pixel {
        (self.x + 0.5 * self.w, self.y + 0.5 * self.h)
    }

    pub(crate) fn contains(&self, (x, y): Pixel) -> bool {
        x >= self.x && x <= self.right() && y >= self.y && y <= self.bottom()
    }

    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.x < other.right() && other.x < self.right() && self.y < other.bottom() && other.y < self.bottom()
    }

    /// Grown by `d` on every side.
    pub(crate) fn grown(&self, d: f64) -> Self {
        Self::new(self.x - d, self.y - d, self.w + 2.0 * d, self.h + 2.0 * d)
    }

    /// Moved by as little as possible to lie inside `outer`.
    pub(crate) fn moved_into(&self, outer: &Self) -> Self {
        let x = self.x.min(outer.right() - self.w).max(outer.x);
        let y = self.y.min(outer.bottom() - self.h).max(outer.y);
        Self::new(x, y, self.w, self.h)
    }
}

/// Splits a line at points that are not finite and cuts each piece to `frame`.
///
/// The renderer clips as well; cutting first keeps points far outside, such as
/// those next to a pole, from reaching it as numbers it cannot handle.
pub(crate) fn visible_pieces(points: &[Pixel], frame: &Rect) -> Vec<Vec<Pixel>> {
    let mut pieces: Vec<Vec<Pixel>> = Vec::new();
    for run in points.split(|(x, y)| !(x.is_finite() && y.is_finite())) {
        if let [point] = run {
            if frame.contains(*point) {
                pieces.push(vec![*point]);
            }
            continue;
        }
        let mut piece: Vec<Pixel> = Vec::new();
        for pair in run.windows(2) {
            match cut(pair[0], pair[1], frame) {
                Some((a, b)) => {
                    if piece.last() != Some(&a) {
                        pieces.extend((!piece.is_empty()).then(|| std::mem::take(&mut piece)));
                        piece.push(a);
                    }
                    piece.push(b);
                }
                None => pieces.extend((!piece.is_empty()).then(|| std::mem::take(&mut piece))),
            }
        }
        pieces.extend((!piece.is_empty()).then_some(piece));
    }
    pieces
}

/// The part of the segment from `a` to `b` inside `frame`, by the parameters
/// at which it enters and leaves the four half-planes.
fn cut(a: Pixel, b: Pixel, frame: &Rect) -> Option<(Pixel, Pixel)> {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (step, room) in [(-dx, a.0 - frame.x), (dx, frame.right() - a.0), (-dy, a.1 - frame.y), (dy, frame.bottom() - a.1)] {
        if step == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if step < 0.0 {
            enter = enter.max(room / step);
        } else {
            leave = leave.min(room / step);
        }
    }
    if enter > leave {
        return None;
    }
    let at = |t: f64| (a.0 + t * dx, a.1 + t * dy);
    // The ends themselves are kept exactly, so that pieces join up.
    let start = if enter > 0.0 { at(enter) } else { a };
    let end = if leave < 1.0 { at(leave) } else { b };
    Some((start, end))
}

/// Cuts a closed polygon to `frame`, one side after the other.
pub(crate) fn cut_polygon(polygon: &[Pixel], frame: &Rect) -> Vec<Pixel> {
    let sides: [&dyn Fn(Pixel) -> f64; 4] = [&|p| p.0 - frame.x, &|p| frame.right() - p.0, &|p| p.1 - frame.y, &|p| frame.bottom() - p.1];
    let mut polygon = polygon.to_vec();
    for inside in sides {
        let mut kept = Vec::with_capacity(polygon.len());
        for (i, &b) in polygon.iter().enumerate() {
            let a = polygon[(i + polygon.len() - 1) % polygon.len()];
            let (da, db) = (inside(a), inside(b));
            if (da < 0.0) != (db < 0.0) {
                let t = da / (da - db);
                kept.push((a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1)));
            }
            if db >= 0.0 {
                kept.push(b);
            }
        }
        polygon = kept;
    }
    polygon
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Rect = Rect { x: 0.0, y: 0.0, w: 10.0, h: 10.0 };

    #[test]
    fn nan_and_infinity_break_a_line() {
        let points = [(1.0, 1.0), (2.0, 2.0), (3.0, f64::NAN), (4.0, 4.0), (5.0, f64::INFINITY), (6.0, 6.0), (7.0, 7.0)];
        assert_eq!(visible_pieces(&points, &FRAME), vec![vec![(1.0, 1.0), (2.0, 2.0)], vec![(4.0, 4.0)], vec![(6.0, 6.0), (7.0, 7.0)],]);
    }

    #[test]
    fn lines_are_cut_at_the_frame() {
        let points = [(-10.0, 5.0), (5.0, 5.0), (5.0, 1e300), (20.0, 20.0), (5.0, 5.0)];
        assert_eq!(visible_pieces(&points, &FRAME), vec![vec![(0.0, 5.0), (5.0, 5.0), (5.0, 10.0)], vec![(10.0, 10.0), (5.0, 5.0)],]);
        assert!(visible_pieces(&[(-1.0, -1.0), (-1.0, 20.0)], &FRAME).is_empty());
    }

    #[test]
    fn a_polygon_around_the_frame_becomes_the_frame() {
        let big = [(-5.0, -5.0), (50.0, -5.0), (50.0, 50.0), (-5.0, 50.0)];
        let cut = cut_polygon(&big, &FRAME);
        assert_eq!(cut.len(), 4);
        for corner in [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (0.0, 10.0)] {
            assert!(cut.contains(&corner), "{corner:?} in {cut:?}");
        }
        assert!(cut_polygon(&[(20.0, 1.0), (30.0, 1.0), (25.0, 5.0)], &FRAME).is_empty());
    }
}
