//! The best cells of a sweep that has ended.

use std::io::{self, Write};

use isinglass_lab::run::{Behind, Part};
use isinglass_lab::sweep::{Column, Results, Row};
use isinglass_net::Goal;

use crate::cli::answer::{Record, write_columns};

/// How many are shown.
const SHOWN: usize = 5;

/// The best cells, by validation accuracy of the network that the goal names where examples were held out, else by test accuracy.
pub fn best_rows(results: &Results) -> Vec<Record> {
    let Some(column) = column(results) else { return Vec::new() };
    let test = [Behind::Surrogate, Behind::Binary].map(|network| Column::accuracy(Part::Test, network));
    let columns: Vec<Column> =
        std::iter::once(column).chain(test.into_iter().filter(|test| *test != column && results.has(*test))).collect();
    let row = |row: &Row| {
        let mut record = Record::new();
        record.insert("cell".into(), row.cell().name.clone().into());
        record.extend(results.axes().map(|axis| (axis.to_owned(), row.axis(axis).unwrap_or_default())));
        record.extend(columns.iter().map(|column| (column.to_string(), row.number(*column).into())));
        record
    };
    results.best(column, SHOWN).into_iter().map(row).collect()
}

/// The same as a table.
pub fn write_best(rows: &[Record]) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    writeln!(out, "\nBest cells:")?;
    write_columns(&mut out, rows)
}

/// What is best is judged by this column; `None` without results.
fn column(results: &Results) -> Option<Column> {
    let has_goal = |goal: Goal| results.rows().all(|row| row.cell().config.goal == Some(goal));
    let network = if has_goal(Goal::Binary) { Behind::Binary } else { Behind::Surrogate };
    [Part::Validation, Part::Test].map(|part| Column::accuracy(part, network)).into_iter().find(|column| results.has(*column))
}
