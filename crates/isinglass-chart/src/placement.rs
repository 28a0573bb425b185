//! Finding room for labels and the legend between the data.

use super::geometry::{Pixel, Rect};

/// Distance between the samples that stand for a line, in pixels.
const SPACING: f64 = 4.0;

/// What a label should keep clear of.
#[derive(Debug)]
pub(crate) struct Placer {
    area: Rect,
    samples: Vec<Pixel>,
    taken: Vec<Rect>,
}

impl Placer {
    /// For labels inside `area`.
    pub(crate) fn new(area: Rect) -> Self {
        Self { area, samples: Vec::new(), taken: Vec::new() }
    }

    /// Adds a line; labels avoid it where they can.
    pub(crate) fn add_line(&mut self, points: &[Pixel]) {
        self.samples.extend(points.first());
        for pair in points.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let length = (b.0 - a.0).hypot(b.1 - a.1);
            let steps = (length / SPACING).ceil().max(1.0);
            for i in 1..=steps as usize {
                let t = i as f64 / steps;
                self.samples.push((a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1)));
            }
        }
    }

    /// Adds a marker, which must stay visible.
    pub(crate) fn add_marker(&mut self, (x, y): Pixel, radius: f64) {
        self.taken.push(Rect::new(x - radius, y - radius, 2.0 * radius, 2.0 * radius));
    }

    /// The best of some places, moved into the area; the first of equals. It
    /// is taken from then on.
    pub(crate) fn place(&mut self, candidates: &[Rect]) -> Option<Rect> {
        let best = candidates.iter().map(|c| c.moved_into(&self.area)).min_by_key(|c| self.cost(c))?;
        self.taken.push(best);
        Some(best)
    }

    fn cost(&self, rect: &Rect) -> usize {
        let near = rect.grown(2.0);
        let under = self.samples.iter().filter(|p| near.contains(**p)).count();
        let hidden = self.taken.iter().filter(|t| near.overlaps(t)).count();
        // Text over text cannot be read at all, text over a line can.
        under + 1000 * hidden
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Rect = Rect { x: 0.0, y: 0.0, w: 100.0, h: 100.0 };

    #[test]
    fn labels_avoid_lines_and_each_other() {
        let left = Rect::new(5.0, 40.0, 20.0, 20.0);
        let right = Rect::new(75.0, 40.0, 20.0, 20.0);
        let mut placer = Placer::new(AREA);
        placer.add_line(&[(10.0, 0.0), (10.0, 100.0)]);
        assert_eq!(placer.place(&[left, right]), Some(right));
        // Now the line on the left is the lesser evil.
        assert_eq!(placer.place(&[right, left]), Some(left));
    }

    #[test]
    fn labels_stay_inside() {
        let mut placer = Placer::new(AREA);
        let outside = Rect::new(95.0, -7.0, 20.0, 10.0);
        let placed = placer.place(&[outside]);
        assert_eq!(placed, Some(Rect::new(80.0, 0.0, 20.0, 10.0)));
    }
}
