//! Thinning: leaving out points of a line that make no visible difference.

use super::geometry::Pixel;

/// A line that looks the same with fewer points: first the crowded parts of
/// traces with many points to a pixel, then the straight ones.
pub(crate) fn thinned(points: &[Pixel]) -> Vec<Pixel> {
    straightened(&uncrowded(points))
}

/// Width of a column in which the order of points cannot be seen, in pixels.
const COLUMN: f64 = 0.2;

/// Keeps the first, lowest, highest and last of consecutive points in the same
/// narrow column.
fn uncrowded(points: &[Pixel]) -> Vec<Pixel> {
    let column = |p: &Pixel| (p.0 / COLUMN).floor();
    let mut kept = Vec::new();
    for run in points.chunk_by(|p, q| column(p) == column(q)) {
        let by_height = |a: &usize, b: &usize| run[*a].1.total_cmp(&run[*b].1);
        let mut picked = vec![0, run.len() - 1];
        picked.extend((0..run.len()).min_by(by_height));
        picked.extend((0..run.len()).max_by(by_height));
        picked.sort_unstable();
        picked.dedup();
        kept.extend(picked.into_iter().map(|i| run[i]));
    }
    kept
}

/// Largest distance, in pixels, between a line and its thinned version.
const TOLERANCE: f64 = 0.03;

/// Leaves out points that are within [`TOLERANCE`] of the line through the
/// ones kept.
///
/// One pass: from the last kept point, every further point allows a wedge of
/// directions that pass it closely enough. The wedges are intersected, and
/// the first point outside the intersection, or back on the way already
/// gone, ends the segment at the point before it.
fn straightened(points: &[Pixel]) -> Vec<Pixel> {
    let Some(&first) = points.first() else {
        return Vec::new();
    };
    let mut kept = vec![first];
    let mut anchor = first;
    let mut wedge: Option<Wedge> = None;
    for (i, &point) in points.iter().enumerate().skip(1) {
        if !extend(&mut wedge, anchor, point) {
            anchor = points[i - 1];
            kept.push(anchor);
            wedge = None;
            extend(&mut wedge, anchor, point);
        }
    }
    if let (Some(&last), true) = (points.last(), points.len() > 1) {
        kept.push(last);
    }
    kept
}

/// Directions from an anchor, as angles about a first direction.
struct Wedge {
    axis: f64,
    low: f64,
    high: f64,
    reach: f64,
}

fn extend(wedge: &mut Option<Wedge>, anchor: Pixel, point: Pixel) -> bool {
    let (dx, dy) = (point.0 - anchor.0, point.1 - anchor.1);
    let distance = dx.hypot(dy);
    if distance <= TOLERANCE {
        // Any direction passes it, unless the line has come back to here.
        return wedge.as_ref().is_none_or(|w| w.reach <= 2.0 * TOLERANCE);
    }
    let half = (TOLERANCE / distance).asin();
    let angle = dy.atan2(dx);
    match wedge {
        None => {
            *wedge = Some(Wedge { axis: angle, low: -half, high: half, reach: distance });
            true
        }
        Some(w) => {
            let turn = (angle - w.axis).sin().atan2((angle - w.axis).cos());
            if turn < w.low || turn > w.high || distance < w.reach - TOLERANCE {
                return false;
            }
            w.low = w.low.max(turn - half);
            w.high = w.high.min(turn + half);
            w.reach = w.reach.max(distance);
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(p: Pixel, a: Pixel, b: Pixel) -> f64 {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let length2 = dx * dx + dy * dy;
        let t = (((p.0 - a.0) * dx + (p.1 - a.1) * dy) / length2).clamp(0.0, 1.0);
        (a.0 + t * dx - p.0).hypot(a.1 + t * dy - p.1)
    }

    #[test]
    fn thinning_stays_below_a_pixel() {
        let curve: Vec<Pixel> = (0..100_000)
            .map(|i| {
                let x = f64::from(i) * 0.006;
                (x, 200.0 + 150.0 * (x * 0.05).sin() + 3.0 * (x * 1.3).cos())
            })
            .collect();
        let thin = thinned(&curve);
        assert!(thin.len() < 4000, "{}", thin.len());
        assert_eq!((thin[0], thin[thin.len() - 1]), (curve[0], curve[99_999]));
        for &p in curve.iter().step_by(7) {
            let nearest = thin.windows(2).map(|s| distance(p, s[0], s[1])).fold(f64::INFINITY, f64::min);
            assert!(nearest <= 2.0 * TOLERANCE, "{p:?} is {nearest} off");
        }
    }

    #[test]
    fn thinning_keeps_turning_points() {
        let there_and_back = [(0.0, 0.0), (5.0, 0.0), (9.0, 0.0), (4.0, 0.0), (0.0, 0.0)];
        assert_eq!(thinned(&there_and_back), vec![(0.0, 0.0), (9.0, 0.0), (0.0, 0.0)]);
        assert_eq!(thinned(&[(1.0, 2.0)]), vec![(1.0, 2.0)]);
        assert_eq!(thinned(&[]), vec![]);
    }

    #[test]
    fn a_crowded_trace_keeps_its_envelope() {
        let mut noise: Vec<Pixel> =
            (0..200_000_u32).map(|i| (f64::from(i) * 1e-3, f64::from(i.wrapping_mul(2_654_435_761) >> 24))).collect();
        noise[123_456].1 = 999.0;
        let thin = thinned(&noise);
        assert!(thin.len() <= 4 * 1001, "{}", thin.len());
        assert!(thin.contains(&noise[123_456]));
    }
}
