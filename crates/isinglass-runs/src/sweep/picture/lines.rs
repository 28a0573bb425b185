//! Columns as lines over one axis.

use super::axis::SweepAxis;
use super::pool::Pool;
use crate::sweep::{Column, Results};
use isinglass_chart::{Axis, Legend, Look, Panel};

pub(super) fn panel(results: &Results, x: &SweepAxis, columns: &[Column]) -> Panel {
    let (axis, places) = x.in_line();
    let parts = columns.iter().all(|column| column.is_fraction());
    let label = match columns {
        [column] => column.label(),
        _ if columns.iter().all(|column| column.is_accuracy()) => "accuracy".into(),
        _ => String::new(),
    };
    let y = Axis::linear(label);
    let mut panel = Panel::new(axis, if parts { y.range(0.0, 1.0) } else { y }).legend(Legend::Below);
    for (index, column) in columns.iter().enumerate() {
        let mut pools = vec![Pool::default(); x.values.len()];
        for row in results.rows() {
            if let Some(place) = row.axis(&x.name).and_then(|value| x.index(&value)) {
                pools[place].add(row, *column);
            }
        }
        let look = Look::nth(index);
        let points: Vec<(f64, f64)> =
            places.iter().zip(&pools).map(|(&place, pool)| (place, pool.mean())).filter(|(_, mean)| mean.is_finite()).collect();
        if pools.iter().any(Pool::has_several) {
            let around = places.iter().zip(&pools).filter(|(_, pool)| pool.mean().is_finite());
            let around =
                around.map(|(&place, pool)| (place, pool.mean() - pool.standard_deviation(), pool.mean() + pool.standard_deviation()));
            panel = panel.band(look.band(around));
        }
        // Between words there is nothing to go through.
        let series = if x.numbers.is_some() { look.marked_line(points) } else { look.markers(points) };
        panel = panel.series(if columns.len() > 1 { series.name(column.label()) } else { series });
    }
    panel
}
