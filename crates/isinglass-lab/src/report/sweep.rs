//! A sweep: pictures over its axes, its cells, its grid.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::section::{Section, Writer, shown};
use super::source::{Kind, check_regular};
use super::{ReportError, table};
use isinglass_chart::{Figure, plain};
use isinglass_runs::run::{Behind, Part};
use isinglass_runs::shell;
use isinglass_runs::sweep::picture::{PictureError, View, value_text};
use isinglass_runs::sweep::{Attempt, CELLS, Column, Results, Row, SWEEP, Status, Sweep};
use isinglass_runs::words::duration;

/// Rows of the table of cells, and of that of failed cells.
const SHOWN: usize = 200;
const FAILED_SHOWN: usize = 50;
/// A picture each for so many combinations of the axes that are not drawn; more are averaged over.
const PARTS: usize = 6;

pub(super) fn read(directory: &Path, mut writer: Writer) -> Result<Section, ReportError> {
    let sweep = open(directory)?;
    let results = sweep.results()?;
    let standing = Standing::of(&results);
    let remark = standing.remark();
    if let Some(remark) = &remark {
        writer.html.element("p", &[("class", "notice")], &format!("This sweep is {remark}."));
    }
    write_facts(&sweep, &results, &standing, &mut writer);
    write_pictures(&results, &mut writer);
    write_failed(&results, standing.failed, &mut writer);
    write_cells(&sweep, &results, &mut writer);
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
        Ok((Standing::of(&sweep.results()?), sweep.grid().to_toml()))
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
    fn of(results: &Results) -> Self {
        let count = |is: fn(&Status) -> bool| results.rows().filter(|row| is(row.status())).count();
        Self {
            cells: results.len(),
            done: count(|status| matches!(status, Status::Done(_))),
            failed: count(|status| matches!(status, Status::Failed(_) | Status::Damaged(_))),
            running: count(|status| matches!(status, Status::Running)),
        }
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

fn write_facts(sweep: &Sweep, results: &Results, standing: &Standing, writer: &mut Writer) {
    let runs = || results.rows().filter_map(|row| row.record()).map(|record| &record.run);
    // What differs between cells, in order and once.
    let join = |texts: BTreeSet<&str>| texts.into_iter().collect::<Vec<_>>().join(", ");
    let list = |values: &[Value]| values.iter().map(value_text).collect::<Vec<_>>().join(", ");
    let seeds: BTreeSet<u64> = sweep.cells().iter().map(|cell| cell.config.seed).collect();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    let data: BTreeSet<&str> = sweep.cells().iter().filter_map(|cell| cell.config.data.as_deref()).collect();
    let seconds: f64 = runs().map(|run| run.seconds).sum();
    let began = runs().filter_map(|run| run.attempts.first()).map(|first: &Attempt| first.began.as_str()).min();
    let span = began.zip(runs().map(|run| run.ended.as_str()).max()).map(|(began, ended)| format!("{began} to {ended}"));
    let mut facts = vec![("cells", standing.counts())];
    let axes: Vec<&str> = sweep.grid().axes().filter(|axis| *axis != "seed").collect();
    facts.extend(axes.into_iter().map(|axis| (axis, list(&results.values(axis)))));
    facts.extend([
        ("seeds", seeds.join(", ")),
        ("data", data.into_iter().collect::<Vec<_>>().join(", ")),
        ("version", join(runs().map(|run| run.version.as_str()).collect())),
        ("machines", join(runs().filter_map(|run| run.attempts.last()).map(|last| last.host.as_str()).collect())),
        ("time of all cells", if seconds > 0.0 { duration(seconds) } else { String::new() }),
        ("from … to", span.unwrap_or_default()),
    ]);
    writer.facts(facts);
}

fn write_pictures(all: &Results, writer: &mut Writer) {
    // Nothing to draw is nothing wrong: a single cell, or none that has ended.
    let Ok(view) = View::choose(all, None, None) else { return };
    let columns = columns(all);
    if columns.is_empty() {
        return;
    }
    let others: Vec<&str> = all.varying().into_iter().filter(|axis| *axis != "seed" && !view.axes().any(|drawn| drawn == *axis)).collect();
    let parts = parts(all, &others);
    let averaged = match (parts.len() > PARTS, all.varying().contains(&"seed") && view.x != "seed") {
        (true, _) => format!(" Each value is the mean over all cells there, whatever {} and seed.", others.join(", ")),
        (false, true) => " Each value is the mean over seeds.".to_owned(),
        (false, false) => String::new(),
    };
    let parts = if parts.len() > PARTS { vec![(String::new(), all.clone())] } else { parts };
    for (part, results) in &parts {
        let over = view.axes().collect::<Vec<_>>().join(" and ");
        let described = if part.is_empty() { String::new() } else { format!(", {part}") };
        let titled = |figure: Figure| if part.is_empty() { figure } else { figure.title(plain(part)) };
        if view.y.is_none() {
            let present: Vec<Column> = columns.iter().copied().filter(|column| results.has(*column)).collect();
            let figure = view.lines(results, &present).map(|panel| titled(Figure::new().panel(panel)));
            let caption = format!("Accuracy over {over}{described}. Bands are one standard deviation.{averaged}");
            chart(writer, figure, &format!("Accuracy over {over}{described}"), &caption);
            continue;
        }
        let present: Vec<Column> = columns.iter().copied().filter(|column| results.has(*column)).collect();
        for pair in present.chunks(2) {
            let figure = pair.iter().try_fold(Figure::new(), |figure, column| Ok(figure.panel(view.panel(results, *column)?)));
            let names = pair.iter().map(|column| column.label()).collect::<Vec<_>>().join(" and ");
            let name = format!("{}{} over {over}{described}", names[..1].to_uppercase(), &names[1..]);
            let grey = if pair.iter().all(|column| results.is_complete(*column)) { "" } else { " Grey: no value." };
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
fn columns(results: &Results) -> Vec<Column> {
    let sampled = results.most_sampled().map(|samples| (Part::Test, Behind::Stochastic(samples)));
    let all = [(Part::Test, Behind::Surrogate), (Part::Train, Behind::Surrogate), (Part::Test, Behind::Binary)].into_iter().chain(sampled);
    all.map(|(part, network)| Column::accuracy(part, network)).filter(|column| results.has(*column)).collect()
}

/// The cells with each combination of some axes' values.
fn parts(all: &Results, axes: &[&str]) -> Vec<(String, Results)> {
    axes.iter().fold(vec![(String::new(), all.clone())], |parts, axis| {
        let split = |(name, results): (String, Results)| {
            let one = |value: Value| {
                let comma = if name.is_empty() { "" } else { ", " };
                (format!("{name}{comma}{axis} = {}", value_text(&value)), results.only(axis, &value))
            };
            results.values(axis).into_iter().map(one).collect::<Vec<_>>()
        };
        parts.into_iter().flat_map(split).collect()
    })
}

fn write_failed(results: &Results, failed: usize, writer: &mut Writer) {
    if failed == 0 {
        return;
    }
    let failures = results.rows().filter_map(|row| Some((row, row.error()?)));
    let failures: Vec<Vec<Value>> =
        failures.take(FAILED_SHOWN).map(|(row, error)| vec![row.cell().to_string().into(), error.into()]).collect();
    let more = if failed > FAILED_SHOWN { format!(" (the first {FAILED_SHOWN} of {failed})") } else { String::new() };
    writer.html.element("h3", &[], &format!("Failed cells{more}"));
    table::write(&mut writer.html, &["cell".into(), "error".into()], &failures);
}

fn write_cells(sweep: &Sweep, results: &Results, writer: &mut Writer) {
    let scores = columns(results);
    let axes: Vec<&str> = results.axes().collect();
    let mut header: Vec<String> = axes.iter().map(|axis| (*axis).to_owned()).collect();
    header.push("status".into());
    header.extend(scores.iter().map(|column| column.label()));
    header.push("seconds".into());
    let line = |row: &Row| {
        let mut line: Vec<Value> = axes.iter().map(|axis| row.axis(axis).unwrap_or_default()).collect();
        line.push(row.status().name().into());
        line.extend(scores.iter().map(|column| table::percent(&row.number(*column).into())));
        line.push(table::two_decimals(&row.number(Column::Seconds).into()));
        line
    };
    let count = results.len();
    let lines: Vec<Vec<Value>> = results.rows().take(SHOWN).map(line).collect();
    let heading = if count > SHOWN { format!("The first {SHOWN} of {} cells", count) } else { format!("All {} cells", count) };
    writer.html.folded(&heading, count <= 12, |html| {
        table::write(html, &header, &lines);
        if count > SHOWN {
            html.open("p", &[]).text("All of them: ");
            html.element("code", &[], &format!("isinglass sweep collect {} --format csv", shell::word(&shown(sweep.directory()))))
                .close("p");
        }
    });
}
