//! An axis of a picture: its values, and where they are drawn.

use serde_json::Value;

use super::labels;
use crate::sweep::Results;
use crate::sweep::cell::plain_text;
use crate::words::digits;
use isinglass_chart::{Axis, plain};

/// Up to so many values are all named, each in its place; more of them, if they are evenly apart, get an axis of numbers.
const NAMED: usize = 12;
/// Longer words are cut.
const LONGEST: usize = 22;

/// The values along one direction.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SweepAxis {
    pub name: String,
    /// In the order they are drawn in.
    pub values: Vec<Value>,
    /// The same, if all of them are numbers.
    pub numbers: Option<Vec<f64>>,
}

impl SweepAxis {
    pub fn of(name: &str, results: &Results) -> Self {
        let values = results.values(name);
        let numbers = values.iter().map(Value::as_f64).collect();
        Self { name: name.to_owned(), values, numbers }
    }

    /// Where a value is in the list.
    pub fn index(&self, value: &Value) -> Option<usize> {
        self.values.iter().position(|other| other == value)
    }

    /// The numbers, if they are drawn where they lie and not in equal places.
    fn even(&self) -> Option<&[f64]> {
        let numbers = self.numbers.as_deref().filter(|numbers| numbers.len() > NAMED)?;
        let step = (numbers[numbers.len() - 1] - numbers[0]) / (numbers.len() - 1) as f64;
        let is_even = numbers.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() < 1e-6 * step);
        is_even.then_some(numbers)
    }

    /// The axis of a heat map, and its edges.
    pub fn in_cells(&self) -> (Axis, (f64, f64)) {
        let label = labels::axis_label(&self.name);
        if let Some(numbers) = self.even() {
            let (low, high) = (numbers[0], numbers[numbers.len() - 1]);
            let half = 0.5 * (high - low) / (numbers.len() - 1) as f64;
            let whole = numbers.iter().all(|number| number.fract() == 0.0);
            let axis = if whole { Axis::whole(label) } else { Axis::linear(label) };
            return (axis, (low - half, high + half));
        }
        let axis = Axis::listed(label, self.values.iter().map(|value| plain(&short(&value_text(value)))));
        let edges = axis.list_edges();
        (axis, edges)
    }

    /// The axis of a line, and where each value lies on it.
    pub fn in_line(&self) -> (Axis, Vec<f64>) {
        let label = labels::axis_label(&self.name);
        match &self.numbers {
            Some(numbers) => {
                let (low, high) = (numbers[0], numbers[numbers.len() - 1]);
                let whole = numbers.iter().all(|number| number.fract() == 0.0);
                let axis = match (low > 0.0 && high >= 50.0 * low, whole) {
                    (true, _) => Axis::log10(label),
                    (false, true) => Axis::whole(label),
                    (false, false) => Axis::linear(label),
                };
                (axis, numbers.clone())
            }
            None => (self.in_cells().0, (1..=self.values.len()).map(|place| place as f64).collect()),
        }
    }

    /// The number at a coordinate of [`SweepAxis::in_cells`]: between two places it goes evenly from one number to the other.
    pub fn number_at(&self, coordinate: f64) -> Option<f64> {
        if self.even().is_some() {
            return Some(coordinate);
        }
        let numbers = self.numbers.as_deref().filter(|numbers| numbers.len() > 1)?;
        let left = ((coordinate - 1.0).floor().max(0.0) as usize).min(numbers.len() - 2);
        Some(numbers[left] + (coordinate - 1.0 - left as f64) * (numbers[left + 1] - numbers[left]))
    }

    /// The coordinate of a number, the inverse of [`SweepAxis::number_at`].
    pub fn coordinate_of(&self, number: f64) -> Option<f64> {
        if self.even().is_some() {
            return Some(number);
        }
        let numbers = self.numbers.as_deref().filter(|numbers| numbers.len() > 1)?;
        let left = numbers.partition_point(|&other| other < number).saturating_sub(1).min(numbers.len() - 2);
        Some(1.0 + left as f64 + (number - numbers[left]) / (numbers[left + 1] - numbers[left]))
    }
}

/// A value of an axis in few characters: a number with its leading digits, a text as it is.
pub fn value_text(value: &Value) -> String {
    match value.as_f64() {
        Some(number) => {
            let exact = number.to_string();
            if exact.len() <= 8 { exact } else { digits(number) }
        }
        None => plain_text(value),
    }
}

/// The end of a long text, which tells files in one directory apart.
fn short(text: &str) -> String {
    let count = text.chars().count();
    if count <= LONGEST {
        return text.to_owned();
    }
    format!("…{}", text.chars().skip(count + 1 - LONGEST).collect::<String>())
}
