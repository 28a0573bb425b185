//! A column as colours over two axes.

use super::axis::{SweepAxis, value_text};
use super::pool::Pool;
use super::{PictureError, theory};
use crate::sweep::{Column, Results};
use isinglass_chart::{HeatMap, Legend, Panel};

/// A map of more places has no hints: nobody can point at one of them.
const HINTED: usize = 20_000;

pub(super) fn panel(results: &Results, x: &SweepAxis, y: &SweepAxis, column: Column, scales: &[f64]) -> Result<Panel, PictureError> {
    let (columns, lines) = (x.values.len(), y.values.len());
    let mut pools = vec![Pool::default(); columns * lines];
    for row in results.rows() {
        let place = |axis: &SweepAxis| row.axis(&axis.name).and_then(|value| axis.index(&value));
        if let (Some(at_x), Some(at_y)) = (place(x), place(y)) {
            pools[at_y * columns + at_x].add(row, column);
        }
    }
    let hint = |index: usize| {
        let (at_x, at_y) = (&x.values[index % columns], &y.values[index / columns]);
        format!("{} = {}, {} = {}\n{}", x.name, value_text(at_x), y.name, value_text(at_y), pools[index].describe())
    };
    let ((x_axis, x_edges), (y_axis, y_edges)) = (x.in_cells(), y.in_cells());
    let map = HeatMap::new(x_edges, y_edges, columns, lines, pools.iter().map(Pool::mean).collect())?.label(column.label());
    let map = if pools.len() <= HINTED { map.hints((0..pools.len()).map(hint).collect()) } else { map };
    let map = if column.is_fraction() { map.limits(0.0, 1.0) } else { map };
    let (x_axis, y_axis) = (x_axis.range(x_edges.0, x_edges.1), y_axis.range(y_edges.0, y_edges.1));
    let panel = Panel::new(x_axis, y_axis).heat_map(map);
    let curve = theory::reach(results, x, y, scales);
    Ok(if curve.is_empty() { panel } else { curve.into_iter().fold(panel.legend(Legend::Below), Panel::series) })
}
