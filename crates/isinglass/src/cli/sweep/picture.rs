//! A sweep as a heat map over two of its axes.

use isinglass_lab::chart::{Axis, Figure, HeatMap, Panel, plain};
use isinglass_lab::sweep::Sweep;

use crate::cli::CliError;
use crate::cli::output::usage;
use crate::cli::report::Record;

/// The values of an axis, in increasing order, and where they lie.
struct Scale {
    name: String,
    values: Vec<f64>,
    is_even: bool,
}

impl Scale {
    fn of(name: &str, rows: &[Record]) -> Option<Self> {
        let mut values: Vec<f64> = rows.iter().map(|row| row.get(name).and_then(|value| value.as_f64())).collect::<Option<_>>()?;
        values.sort_by(f64::total_cmp);
        values.dedup();
        if values.len() < 2 {
            return None;
        }
        let step = (values[values.len() - 1] - values[0]) / (values.len() - 1) as f64;
        let is_even = values.windows(2).all(|pair| (pair[1] - pair[0] - step).abs() < 1e-9 * step.abs().max(1e-300) + 1e-6 * step);
        Some(Self { name: name.to_owned(), values, is_even })
    }

    /// The outer edges: of the numbers themselves if they are evenly apart, else of their places.
    fn edges(&self) -> (f64, f64) {
        let last = self.values.len() - 1;
        let (low, high) = if self.is_even { (self.values[0], self.values[last]) } else { (1.0, (last + 1) as f64) };
        let half = 0.5 * (high - low) / last as f64;
        (low - half, high + half)
    }

    fn axis(&self) -> Axis {
        let label = plain(&self.name);
        if self.is_even {
            let whole = self.values.iter().all(|value| value.fract() == 0.0);
            return if whole { Axis::whole(label) } else { Axis::linear(label) };
        }
        let values: Vec<String> = self.values.iter().map(f64::to_string).collect();
        Axis::whole(format!("{label}, in order: {}", values.join(", ")))
    }

    fn place(&self, value: f64) -> usize {
        self.values.partition_point(|&other| other < value)
    }
}

/// The mean of a column over all cells that share two axes.
pub fn heat_map(sweep: &Sweep, rows: &[Record], x: Option<&str>, y: Option<&str>, column: &str) -> Result<Figure, CliError> {
    let axes: Vec<&str> = sweep.grid().axes().collect();
    let named = |name: &str| {
        if !axes.contains(&name) {
            return Err(usage(format!("{name} is no axis of this sweep: it has {}", axes.join(", "))));
        }
        Scale::of(name, rows).ok_or_else(|| usage(format!("the axis {name} does not have several numbers to draw a map over")))
    };
    let first_beside = |other: Option<&str>| {
        let scale = axes.iter().filter(|axis| Some(**axis) != other).find_map(|axis| Scale::of(axis, rows));
        scale.ok_or_else(|| usage("a map needs two axes with several numbers each; leave --plot out"))
    };
    let x = x.map_or_else(|| first_beside(y), named)?;
    let y = y.map_or_else(|| first_beside(Some(&x.name)), named)?;
    if x.name == y.name {
        return Err(usage(format!("--x and --y are both {}: a map needs two axes", x.name)));
    }
    if !rows.iter().any(|row| row.contains_key(column)) {
        return Err(usage(format!("there is no column {column}: see the header of --format csv")));
    }
    let (columns, lines) = (x.values.len(), y.values.len());
    let mut sums = vec![(0.0, 0usize); columns * lines];
    for row in rows {
        let number = |key: &str| row.get(key).and_then(|value| value.as_f64());
        if let (Some(at_x), Some(at_y), Some(value)) = (number(&x.name), number(&y.name), number(column)) {
            let sum = &mut sums[y.place(at_y) * columns + x.place(at_x)];
            *sum = (sum.0 + value, sum.1 + 1);
        }
    }
    let values = sums.into_iter().map(|(sum, count)| if count > 0 { sum / count as f64 } else { f64::NAN }).collect();
    let map = HeatMap::new(x.edges(), y.edges(), columns, lines, values)?.label(plain(column));
    let map = if column.ends_with("_accuracy") { map.limits(0.0, 1.0) } else { map };
    let ((left, right), (bottom, top)) = (x.edges(), y.edges());
    Ok(Figure::new().panel(Panel::new(x.axis().range(left, right), y.axis().range(bottom, top)).heat_map(map)))
}
