//! Ticks: where an axis is marked, and with which numbers.

use super::{axis::Scale, text::Text};

/// A mark on an axis; minor ticks have no label.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: Option<String>,
}

/// Ticks for an axis of `length` pixels, as many as fit without crowding.
///
/// `across` is true for labels side by side, false for labels in a column.
pub(crate) fn fitting(scale: Scale, range: (f64, f64), length: f64, size: f64, across: bool) -> Vec<Tick> {
    let spacing = if across { 5.0 } else { 3.2 } * size;
    let most = ((length / spacing) as usize).clamp(2, 12);
    for count in (2..=most).rev() {
        let ticks = at_most(scale, range, count);
        if !across || !crowded(&ticks, scale, range, length, size) {
            return ticks;
        }
    }
    at_most(scale, range, 2)
}

/// Ticks at 1, 2, 3, … with labels of their own: every one, or every second, third, … if they would touch.
pub(crate) fn listed(labels: &[String], range: (f64, f64), length: f64, size: f64, across: bool) -> Vec<Tick> {
    let apart = length / (range.1 - range.0);
    let every = |stride: usize| -> Vec<Tick> {
        let label = |i: usize| i.is_multiple_of(stride).then(|| labels[i].clone());
        // Marks so close that they run together say nothing.
        let is_marked = |i: usize| i.is_multiple_of(stride) || apart >= 5.0;
        let places = (0..labels.len()).filter(|&i| is_marked(i)).map(|i| Tick { value: (i + 1) as f64, label: label(i) });
        places.filter(|tick| tick.value >= range.0 && tick.value <= range.1).collect()
    };
    let touch = |ticks: &[Tick], stride: usize| {
        if across { crowded(ticks, Scale::Linear, range, length, size) } else { stride as f64 * apart < 1.25 * size }
    };
    for stride in 1..labels.len() {
        let ticks = every(stride);
        if !touch(&ticks, stride) {
            return ticks;
        }
    }
    every(labels.len().max(1))
}

/// Ticks where they are asked for, if the axis reaches there.
pub(crate) fn given(marks: &[(f64, String)], range: (f64, f64)) -> Vec<Tick> {
    let is_inside = |value: f64| (range.0..=range.1).contains(&value);
    marks.iter().filter(|(value, _)| is_inside(*value)).map(|(value, label)| Tick { value: *value, label: Some(label.clone()) }).collect()
}

fn crowded(ticks: &[Tick], scale: Scale, range: (f64, f64), length: f64, size: f64) -> bool {
    let low = scale.coordinate(range.0);
    let per_unit = length / (scale.coordinate(range.1) - low);
    let mut end = f64::NEG_INFINITY;
    for tick in ticks {
        let Some(label) = &tick.label else { continue };
        let middle = (scale.coordinate(tick.value) - low) * per_unit;
        let half = 0.5 * Text::new(label, size).width();
        if middle - half < end + 0.8 * size {
            return true;
        }
        end = middle + half;
    }
    false
}

/// Ticks with about `count` labels, and no more than that between the ends.
pub(crate) fn at_most(scale: Scale, range: (f64, f64), count: usize) -> Vec<Tick> {
    match scale {
        Scale::Linear => linear(range, count),
        // Where steps of 1 are too wide, there is a whole number or there is none.
        Scale::Whole if range.1 - range.0 <= 1.0 => {
            linear((range.0.ceil(), range.0.ceil() + 1.0), 1).into_iter().filter(|tick| tick.value <= range.1).collect()
        }
        Scale::Whole => linear(range, count.min((range.1 - range.0).ceil() as usize)),
        Scale::Log10 => logarithmic(range, count),
    }
}

/// The step `digit`·10^`exponent`, with a digit of 1, 2 or 5.
#[derive(Clone, Copy)]
struct Step {
    digit: i64,
    exponent: i32,
}

impl Step {
    /// The smallest step that makes at most `count` intervals of `span`.
    fn covering(span: f64, count: usize) -> Self {
        let least = span / count as f64 * (1.0 - 1e-9);
        let exponent = least.log10().floor() as i32;
        for (digit, exponent) in [(1, exponent), (2, exponent), (5, exponent)] {
            let step = Self { digit, exponent };
            if step.times(1) >= least {
                return step;
            }
        }
        Self { digit: 1, exponent: exponent + 1 }
    }

    /// `n` steps. Dividing by a power of ten gives the float nearest to the
    /// decimal number, which multiplying by a negative power would not.
    fn times(self, n: i64) -> f64 {
        let digits = (n * self.digit) as f64;
        if self.exponent < 0 && self.exponent >= -300 { digits / 10_f64.powi(-self.exponent) } else { digits * 10_f64.powi(self.exponent) }
    }
}

fn linear((low, high): (f64, f64), count: usize) -> Vec<Tick> {
    let step = Step::covering(high - low, count);
    let width = step.times(1);
    // A tick exactly at an end must not be lost to rounding.
    let first = (low / width - 1e-6).ceil() as i64;
    let last = (high / width + 1e-6).floor() as i64;
    // Too narrow for its distance from zero: consecutive ticks would be the
    // same float.
    if last - first > 2 * count as i64 || first.abs() > 1 << 52 {
        return Vec::new();
    }
    let largest = low.abs().max(high.abs());
    let power = if largest >= 1e5 || step.exponent < -4 && largest < 1e-3 { largest.log10().floor() as i32 } else { 0 };
    let decimals = usize::try_from(power - step.exponent).unwrap_or(0);
    (first..=last)
        .map(|n| {
            // The same power of ten for all labels, so that they compare.
            let mantissa = Step { exponent: step.exponent - power, ..step };
            let number = signed(format!("{:.decimals$}", mantissa.times(n)));
            let label = match (power, n) {
                (0, _) => number,
                (_, 0) => "0".to_owned(),
                _ => format!("{number}×10^{{{power}}}"),
            };
            Tick { value: step.times(n), label: Some(label) }
        })
        .collect()
}

/// With a real minus sign.
fn signed(number: String) -> String {
    number.replace('-', "−")
}

fn logarithmic((low, high): (f64, f64), count: usize) -> Vec<Tick> {
    let (a, b) = (low.log10(), high.log10());
    let first = (a - 1e-9).ceil() as i32;
    let last = (b + 1e-9).floor() as i32;
    if last <= first {
        return within_a_decade((low, high), count);
    }
    let decades = (last - first) as usize;
    let step = [1, 2, 3, 5, 10, 20, 50, 100, 200].into_iter().find(|step| decades / *step <= count).unwrap_or(500);
    let mut ticks = Vec::new();
    for exponent in first - 1..=last {
        let decade = 10_f64.powi(exponent);
        if exponent >= first {
            let label = exponent.rem_euclid(step as i32) == 0;
            ticks.push(Tick { value: decade, label: label.then(|| format!("10^{{{exponent}}}")) });
        }
        if step == 1 && decades <= 12 {
            let minor = (2..10).map(|m| f64::from(m) * decade).filter(|v| (low..=high).contains(v));
            ticks.extend(minor.map(|value| Tick { value, label: None }));
        }
    }
    ticks
}

/// Labels for a logarithmic axis with at most one power of ten on it: first
/// choice 1, 2 and 5 times powers of ten, else the ticks of a linear axis.
fn within_a_decade((low, high): (f64, f64), count: usize) -> Vec<Tick> {
    let first = (low.log10() - 1e-9).floor() as i32;
    let last = (high.log10() + 1e-9).floor() as i32;
    let mut ticks = Vec::new();
    for exponent in first..=last {
        let unit = Step { digit: 1, exponent };
        for digit in 1..10 {
            let value = unit.times(digit);
            if value < low * (1.0 - 1e-9) || value > high * (1.0 + 1e-9) {
                continue;
            }
            let label = matches!(digit, 1 | 2 | 5).then(|| {
                if (-4..5).contains(&exponent) {
                    let decimals = usize::try_from(-exponent).unwrap_or(0);
                    format!("{value:.decimals$}")
                } else {
                    format!("{digit}×10^{{{exponent}}}")
                }
            });
            ticks.push(Tick { value, label });
        }
    }
    let labels = ticks.iter().filter(|t| t.label.is_some()).count();
    if labels >= 2 { ticks } else { linear((low, high), count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(scale: Scale, range: (f64, f64), count: usize) -> Vec<(f64, String)> {
        at_most(scale, range, count).into_iter().filter_map(|t| Some((t.value, t.label?))).collect()
    }

    fn expect_linear(range: (f64, f64), count: usize, want: &[(f64, &str)]) {
        let got = labelled(Scale::Linear, range, count);
        let got: Vec<_> = got.iter().map(|(v, l)| (*v, l.as_str())).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn what_is_counted_is_marked_at_whole_numbers() {
        let marks =
            |low, high| -> Vec<String> { at_most(Scale::Whole, (low, high), 12).into_iter().filter_map(|tick| tick.label).collect() };
        assert_eq!(marks(0.94, 3.06), ["1", "2", "3"]);
        assert_eq!(marks(0.9, 1.1), ["1"]);
        assert_eq!(marks(0.5, 21.5), ["2", "4", "6", "8", "10", "12", "14", "16", "18", "20"]);
    }

    #[test]
    fn linear_steps_are_one_two_five() {
        expect_linear((0.0, 1.0), 5, &[(0.0, "0.0"), (0.2, "0.2"), (0.4, "0.4"), (0.6, "0.6"), (0.8, "0.8"), (1.0, "1.0")]);
        expect_linear((0.5, 4.0), 4, &[(1.0, "1"), (2.0, "2"), (3.0, "3"), (4.0, "4")]);
        expect_linear((-30.0, 70.0), 2, &[(0.0, "0"), (50.0, "50")]);
        expect_linear((-0.3, 0.3), 3, &[(-0.2, "−0.2"), (0.0, "0.0"), (0.2, "0.2")]);
        // 3 × 0.1 is not 0.3 in floating point; the tick must be.
        expect_linear((0.25, 0.35), 1, &[(0.3, "0.3")]);
    }

    #[test]
    fn large_and_small_numbers_use_powers() {
        expect_linear((0.0, 4e6), 4, &[(0.0, "0"), (1e6, "1×10^{6}"), (2e6, "2×10^{6}"), (3e6, "3×10^{6}"), (4e6, "4×10^{6}")]);
        let small = labelled(Scale::Linear, (-1.5e-6, 1.6e-6), 7);
        assert_eq!(small[0], (-1.5e-6, "−1.5×10^{-6}".to_owned()));
        assert_eq!(small[1], (-1e-6, "−1.0×10^{-6}".to_owned()));
        assert_eq!(small[3], (0.0, "0".to_owned()));
    }

    #[test]
    fn decades_are_labelled_and_divided() {
        let ticks = at_most(Scale::Log10, (0.05, 100.0), 10);
        let labels: Vec<_> = ticks.iter().filter_map(|t| t.label.as_deref()).collect();
        assert_eq!(labels, ["10^{-1}", "10^{0}", "10^{1}", "10^{2}"]);
        let minor: Vec<_> = ticks.iter().filter(|t| t.label.is_none()).map(|t| t.value).take(6).collect();
        assert_eq!(minor, [0.05, 0.06, 0.07, 0.08, 0.09, 2.0 * 0.1]);
        assert_eq!(ticks.len(), 4 + 5 + 24);
    }

    #[test]
    fn many_decades_are_thinned() {
        let ticks = at_most(Scale::Log10, (1e-30, 10.0), 8);
        let labels: Vec<_> = ticks.iter().filter_map(|t| t.label.as_deref()).collect();
        assert_eq!(labels, ["10^{-30}", "10^{-25}", "10^{-20}", "10^{-15}", "10^{-10}", "10^{-5}", "10^{0}"]);
        assert_eq!(ticks.len(), 32);
    }

    #[test]
    fn less_than_a_decade_gets_plain_numbers() {
        let labels: Vec<_> = labelled(Scale::Log10, (0.5, 4.0), 6).into_iter().map(|(_, l)| l).collect();
        assert_eq!(labels, ["0.5", "1", "2"]);
        let narrow = labelled(Scale::Log10, (3.0, 4.0), 5);
        assert_eq!(narrow[1], (3.2, "3.2".to_owned()));
    }

    #[test]
    fn labels_side_by_side_do_not_touch() {
        let ticks = fitting(Scale::Linear, (0.0, 9e7), 300.0, 13.0, true);
        assert!(!crowded(&ticks, Scale::Linear, (0.0, 9e7), 300.0, 13.0));
        assert!(ticks.len() >= 2);
    }

    #[test]
    fn listed_labels_are_thinned_until_they_fit() {
        let depths: Vec<String> = ["2", "4", "8"].map(str::to_owned).to_vec();
        let all = listed(&depths, (0.5, 3.5), 300.0, 13.0, true);
        assert_eq!(
            all.iter().map(|tick| (tick.value, tick.label.as_deref())).collect::<Vec<_>>(),
            [(1.0, Some("2")), (2.0, Some("4")), (3.0, Some("8"))]
        );
        let many: Vec<String> = (0..100).map(|i| format!("0.{i:02}")).collect();
        for across in [true, false] {
            let some = listed(&many, (0.5, 100.5), 300.0, 13.0, across);
            let values: Vec<f64> = some.iter().map(|tick| tick.value).collect();
            assert!((5..=20).contains(&values.len()) && values[0] == 1.0, "{values:?}");
            assert!(some.iter().all(|tick| tick.label.is_some()), "marks 3 pixels apart");
            assert!(values.windows(2).all(|pair| pair[1] - pair[0] == values[1] - values[0]));
        }
    }

    #[test]
    fn a_range_finer_than_floats_has_no_ticks() {
        assert_eq!(at_most(Scale::Linear, (1e17, 1e17 + 16.0), 5), []);
    }
}
