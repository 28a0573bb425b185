//! An axis of accuracies on which both the loss of everything and the last per cent can be seen: distances are those of the logarithm of the error.

use isinglass_chart::Axis;

/// What a network of ten classes has learnt nothing from.
pub(super) const CHANCE: f64 = 0.1;

/// Values in per cent that are marked.
const MARKS: [f64; 12] = [10.0, 30.0, 50.0, 70.0, 80.0, 90.0, 95.0, 97.0, 98.0, 99.0, 99.5, 99.9];

/// Where an accuracy is on the axis.
pub(super) fn place(accuracy: f64) -> f64 {
    -(1.0 - accuracy).max(1e-4).log10()
}

/// The axis from less than chance to a little more than the best accuracy.
pub(super) fn axis(label: &str, accuracies: impl IntoIterator<Item = f64>) -> Axis {
    let best = accuracies.into_iter().fold(CHANCE, f64::max);
    let marks = MARKS.map(|mark| (place(mark / 100.0), format!("{mark} %")));
    Axis::linear(label).ticks_at(marks).range(-0.04, place(best) + 0.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_factors_of_the_error_are_equally_far_apart() {
        assert!((place(0.99) - place(0.9) - 1.0).abs() < 1e-12);
        assert!((place(0.98) - place(0.96) - (place(0.6) - place(0.2))).abs() < 1e-12);
        // No error at all has a place too.
        assert_eq!(place(1.0), 4.0);
        let (low, high) = axis("", [0.3, 0.98]).range.unwrap();
        assert!(low < place(0.0) && high > place(0.98) && high < place(0.99));
    }
}
