//! A sweep: pictures over its axes, its cells, its grid.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::section::{Section, Writer, shown};
use super::source::{Kind, check_regular};
use super::{ReportError, table};
use isinglass_chart::{Figure, plain};
use isinglass_runs::sweep::picture::{PictureError, Results, View, column_label, value_text};
use isinglass_runs::sweep::{CELLS, Row, SWEEP, Sweep};

/// Rows of the table of cells, and of that of failed cells.
const SHOWN: usize = 200;
const FAILED_SHOWN: usize = 50;
/// A picture each for so many combinations of the axes that are not drawn; more are averaged over.
const PARTS: usize = 6;

pub(super) fn read(directory: &Path, mut writer: Writer) -> Result<Section, ReportError> {
    let sweep = open(directory)?;
    let rows = sweep.rows()?;
    let standing = Standing::of(&rows);
    let remark = standing.remark();
    if let Some(remark) = &remark {
        writer.html.element("p", &[("class", "notice")], &format!("This sweep is {remark}."));
    }
    write_facts(&sweep, &rows, &standing, &mut writer);
    write_pictures(&sweep, &rows, &mut writer);
    write_failed(&sweep, &rows, standing.failed, &mut writer);
    write_cells(&sweep, &rows, &mut writer);
    let grid = directory.join(SWEEP);
    let text = fs::read_to_string(&grid).map_err(|source| ReportError::Read { path: grid, source })?;
    writer.text_file("The grid", &text);
    let name = shown(directory);
    Ok(writer.finish(Kind::Sweep, format!("Sweep {name}"), name, remark))
}

/// Opens a sweep in which every file is one.
fn open(directory: &Path) -> Result<Sweep, ReportError> {
    check_regular(&directory.join(SWEEP))?;
    for entry in fs::read_dir(directory.join(CELLS)).into_iter().flatten().flatten() {
        check_regular(&entry.path())?;
    }
    Ok(Sweep::open(directory)?)
}

/// A sweep as part of a figure: how it stands, and its grid.
pub(super) fn summarise(directory: &Path, name: &str, writer: &mut Writer) {
    let read = || -> Result<(Standing, String), ReportError> {
        let sweep = open(directory)?;
        Ok((Standing::of(&sweep.rows()?), sweep.grid().to_toml()))
    };
    match read() {
        Ok((standing, grid)) => {
            writer.html.folded(&format!("Sweep {name}: {}", standing.counts()), false, |html| {
                html.element("pre", &[], grid.trim_end());
            });
        }
        Err(error) => writer.warn(format!("the sweep {name} cannot be read: {error}")),
    }
}

/// How many cells are how far.
struct Standing {
    cells: usize,
    done: usize,
    failed: usize,
    running: usize,
}

impl Standing {
    fn of(rows: &[Row]) -> Self {
        let count = |status: &str| rows.iter().filter(|row| row["status"] == status).count();
        Self { cells: rows.len(), done: count("done"), failed: count("failed"), running: count("running") }
    }

    fn counts(&self) -> String {
        let waiting = self.cells - self.done - self.failed - self.running;
        let mut text = format!("{} of {} cells done", self.done, self.cells);
        for (count, what) in [(self.failed, "failed"), (self.running, "running"), (waiting, "waiting")] {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        text
    }

    /// What is not as it should be.
    fn remark(&self) -> Option<String> {
        let is_finished = self.done + self.failed == self.cells;
        match (is_finished, self.failed) {
            (true, 0) => None,
            (true, _) => Some(format!("finished with failures: {}", self.counts())),
            (false, _) => Some(format!("not finished: {}", self.counts())),
        }
    }
}

fn write_facts(sweep: &Sweep, rows: &[Row], standing: &Standing, writer: &mut Writer) {
    // What differs between cells, in order and once.
    let distinct = |column: &str| -> String {
        let texts: BTreeSet<&str> = rows.iter().filter_map(|row| row.get(column)?.as_str()).collect();
        texts.into_iter().collect::<Vec<_>>().join(", ")
    };
    let results = Results::of(sweep, rows);
    let list = |values: &[Value]| values.iter().map(value_text).collect::<Vec<_>>().join(", ");
    let seeds: BTreeSet<u64> = sweep.cells().iter().map(|cell| cell.config.seed).collect();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    let data: BTreeSet<&str> = sweep.cells().iter().filter_map(|cell| cell.config.data.as_deref()).collect();
    let seconds: f64 = rows.iter().filter_map(|row| row["run_seconds"].as_f64()).sum();
    let times = |column: &'static str| rows.iter().filter_map(move |row| row[column].as_str());
    let span = times("run_began").min().zip(times("run_ended").max()).map(|(began, ended)| format!("{began} to {ended}"));
    let mut facts = vec![("cells", standing.counts())];
    let axes: Vec<&str> = sweep.grid().axes().filter(|axis| *axis != "seed").collect();
    facts.extend(axes.into_iter().map(|axis| (axis, list(&results.values(axis)))));
    facts.extend([
        ("seeds", seeds.join(", ")),
        ("data", data.into_iter().collect::<Vec<_>>().join(", ")),
        ("version", distinct("run_version")),
        ("machines", distinct("run_host")),
        ("time of all cells", if seconds > 0.0 { duration(seconds) } else { String::new() }),
        ("from … to", span.unwrap_or_default()),
    ]);
    writer.facts(facts);
}

fn write_pictures(sweep: &Sweep, rows: &[Row], writer: &mut Writer) {
    let all = Results::of(sweep, rows);
    // Nothing to draw is nothing wrong: a single cell, or none that has ended.
    let Ok(view) = View::choose(&all, None, None) else { return };
    let columns = columns(sweep, &all);
    if columns.is_empty() {
        return;
    }
    let others: Vec<&str> = all.varying().into_iter().filter(|axis| *axis != "seed" && !view.axes().any(|drawn| drawn == *axis)).collect();
    let parts = parts(&all, &others);
    let averaged = match (parts.len() > PARTS, all.varying().contains(&"seed") && view.x != "seed") {
        (true, _) => format!(" Each value is the mean over all cells there, whatever {} and seed.", others.join(", ")),
        (false, true) => " Each value is the mean over seeds.".to_owned(),
        (false, false) => String::new(),
    };
    let parts = if parts.len() > PARTS { vec![(String::new(), all)] } else { parts };
    for (part, results) in &parts {
        let over = view.axes().collect::<Vec<_>>().join(" and ");
        let described = if part.is_empty() { String::new() } else { format!(", {part}") };
        let titled = |figure: Figure| if part.is_empty() { figure } else { figure.title(plain(part)) };
        if view.y.is_none() {
            let present: Vec<&str> = columns.iter().map(String::as_str).filter(|column| results.has(column)).collect();
            let figure = view.lines(results, &present).map(|panel| titled(Figure::new().panel(panel)));
            let caption = format!("Accuracy over {over}{described}. Bands are one standard deviation.{averaged}");
            chart(writer, figure, &format!("Accuracy over {over}{described}"), &caption);
            continue;
        }
        let present: Vec<&String> = columns.iter().filter(|column| results.has(column)).collect();
        for pair in present.chunks(2) {
            let figure = pair.iter().try_fold(Figure::new(), |figure, column| Ok(figure.panel(view.panel(results, column)?)));
            let names = pair.iter().map(|column| column_label(column)).collect::<Vec<_>>().join(" and ");
            let name = format!("{}{} over {over}{described}", names[..1].to_uppercase(), &names[1..]);
            let grey = if pair.iter().all(|column| results.is_complete(column)) { "" } else { " Grey: no value." };
            chart(writer, figure.map(titled), &name, &format!("{name}.{averaged}{grey}"));
        }
    }
}

fn chart(writer: &mut Writer, figure: Result<Figure, PictureError>, name: &str, caption: &str) {
    match figure {
        Ok(figure) => writer.chart(Ok(figure), name, caption),
        Err(error) => writer.warn(format!("{name} cannot be drawn: {error}")),
    }
}

/// The accuracies that some cell has: of the surrogate, of `sign(M)`, and of the largest ensemble.
fn columns(sweep: &Sweep, results: &Results<'_>) -> Vec<String> {
    let samples = sweep.cells().iter().flat_map(|cell| cell.config.samples.iter().copied()).max();
    let mut columns: Vec<String> =
        ["test_surrogate", "train_surrogate", "test_binary"].iter().map(|name| format!("{name}_accuracy")).collect();
    columns.extend(samples.map(|samples| format!("test_stochastic_{samples}_accuracy")));
    columns.retain(|column| results.has(column));
    columns
}

/// The cells with each combination of some axes' values.
fn parts<'a>(all: &Results<'a>, axes: &[&str]) -> Vec<(String, Results<'a>)> {
    axes.iter().fold(vec![(String::new(), all.clone())], |parts, axis| {
        let split = |(name, results): (String, Results<'a>)| {
            let one = |value: Value| {
                let comma = if name.is_empty() { "" } else { ", " };
                (format!("{name}{comma}{axis} = {}", value_text(&value)), results.only(axis, &value))
            };
            results.values(axis).into_iter().map(one).collect::<Vec<_>>()
        };
        parts.into_iter().flat_map(split).collect()
    })
}

fn write_failed(sweep: &Sweep, rows: &[Row], failed: usize, writer: &mut Writer) {
    if failed == 0 {
        return;
    }
    let failures = sweep.cells().iter().zip(rows).filter(|(_, row)| row["status"] == "failed");
    let failures: Vec<Vec<Value>> =
        failures.take(FAILED_SHOWN).map(|(cell, row)| vec![cell.to_string().into(), row["error"].clone()]).collect();
    let more = if failed > FAILED_SHOWN { format!(" (the first {FAILED_SHOWN} of {failed})") } else { String::new() };
    writer.html.element("h3", &[], &format!("Failed cells{more}"));
    table::write(&mut writer.html, &["cell".into(), "error".into()], &failures);
}

fn write_cells(sweep: &Sweep, rows: &[Row], writer: &mut Writer) {
    let scores = columns(sweep, &Results::of(sweep, rows));
    let axes: Vec<&str> = sweep.grid().axes().collect();
    let mut header: Vec<String> = axes.iter().map(|axis| (*axis).to_owned()).collect();
    header.push("status".into());
    header.extend(scores.iter().map(|column| column_label(column)));
    header.push("seconds".into());
    let line = |row: &Row| {
        let mut line: Vec<Value> = axes.iter().map(|axis| row[*axis].clone()).collect();
        line.push(row["status"].clone());
        line.extend(scores.iter().map(|column| table::percent(&row[column])));
        line.push(table::two_decimals(&row["run_seconds"]));
        line
    };
    let lines: Vec<Vec<Value>> = rows.iter().take(SHOWN).map(line).collect();
    let heading =
        if rows.len() > SHOWN { format!("The first {SHOWN} of {} cells", rows.len()) } else { format!("All {} cells", rows.len()) };
    writer.html.folded(&heading, rows.len() <= 12, |html| {
        table::write(html, &header, &lines);
        if rows.len() > SHOWN {
            html.open("p", &[]).text("All of them: ");
            html.element("code", &[], &format!("isinglass sweep collect {} --format csv", shown(sweep.directory()))).close("p");
        }
    });
}

/// `45 s`, `12.5 min`, `3.4 h`.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
