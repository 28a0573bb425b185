//! The directory of a figure: pictures, data, and the record of both.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::judgement::{Judgement, Ruling, Undecided};
use super::record::{Claim, FIGURE, FigureRecord, Picture, Table, Verdict};
use super::results::Results;
use super::study::{Study, Subject};
use super::{ReproduceError, grids};
use isinglass_chart::{Drawing, Figure, Format};
use isinglass_runs::csv::{field, text_field};
use isinglass_runs::sweep::Sweep;
use isinglass_runs::sweep::picture::value_text;

/// The settings that a figure tells, where its sweeps do not vary them.
const SETTINGS: [&str; 12] =
    ["data", "train-fraction", "width", "init", "sigma-b2", "goal", "means", "optimizer", "lr", "schedule", "batch", "epochs"];

/// Missing cells that a caption lists.
const SHOWN: usize = 3;

/// A figure that is being made.
pub(super) struct Output {
    directory: PathBuf,
    record: FigureRecord,
}

impl Output {
    pub fn new(study: &Study, subject: Subject, caption: &str) -> Result<Self, ReproduceError> {
        let directory = study.directory_of(subject);
        fs::create_dir_all(&directory).map_err(|source| ReproduceError::Write { path: directory.clone(), source })?;
        let sweeps = grids::plans(study, subject).iter().map(|plan| format!("../sweeps/{}", plan.name)).collect();
        let record = FigureRecord {
            figure: subject.name().to_owned(),
            title: subject.title().to_owned(),
            scale: study.scale.name().to_owned(),
            caption: caption.to_owned(),
            sweeps,
            seeds: vec![study.seed],
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: study.command(subject),
            ..FigureRecord::default()
        };
        Ok(Self { directory, record })
    }

    /// Draws a picture, as SVG and as PNG.
    pub fn picture(&mut self, name: &str, figure: &Figure, caption: &str) -> Result<(), ReproduceError> {
        for format in Format::AVAILABLE {
            self.write(&format!("{name}.{}", format.extension()), &figure.draw(*format)?)?;
        }
        self.record.pictures.push(Picture { file: format!("{name}.svg"), caption: caption.to_owned() });
        Ok(())
    }

    /// A table to be read.
    pub fn table(&mut self, table: Table) {
        self.record.tables.push(table);
    }

    /// A table for programs: what was drawn.
    pub fn data(&mut self, name: &str, table: &Table) -> Result<(), ReproduceError> {
        self.write(&format!("{name}.csv"), csv(table).as_bytes())
    }

    /// A claim, and what a rule makes of it.
    pub fn claim(&mut self, claim: &str, ruling: Ruling) {
        let undecided = |Undecided(reason)| Judgement { verdict: Verdict::NotDecided, evidence: reason };
        let Judgement { verdict, evidence } = ruling.unwrap_or_else(undecided);
        self.record.claims.push(Claim { claim: claim.to_owned(), verdict, evidence });
    }

    /// Takes over the settings and seeds of a sweep, and says which cells have failed. Settings in which the figure's sweeps differ are listed.
    pub fn describe(&mut self, sweep: &Sweep, results: &Results) {
        for cell in sweep.cells() {
            let settings = cell.config.to_json();
            for key in SETTINGS.into_iter().filter(|key| cell.axes.iter().all(|(axis, _)| axis != key)) {
                let Some(value) = settings.get(key).map(value_text) else { continue };
                match self.record.settings.get(key).and_then(Value::as_str) {
                    Some(text) if text.split(", ").any(|one| one == value) => {}
                    Some(text) => self.setting(key, format!("{text}, {value}")),
                    None => self.setting(key, value),
                }
            }
            if !self.record.seeds.contains(&cell.config.seed) {
                self.record.seeds.push(cell.config.seed);
            }
        }
        let name = sweep.directory().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let cells = sweep.cells().len();
        if let failed @ 1.. = results.untrained() {
            self.record.caption +=
                &format!("\n\nOf the sweep {name}, {failed} of {cells} cells failed, since their loss diverged. They count as untrained.");
        }
        let missing: Vec<String> = results.missing().map(|(cell, reason)| format!("{cell} ({reason})")).collect();
        if !missing.is_empty() {
            let shown = missing.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("; ");
            let more = if missing.len() > SHOWN { "; …" } else { "" };
            self.record.caption += &format!(
                "\n\nOf the sweep {name}, {} of {cells} cells failed for another reason and are missing: {shown}{more}. What needs them is not decided.",
                missing.len()
            );
        }
    }

    pub fn setting(&mut self, key: &str, value: impl Into<Value>) {
        self.record.settings.insert(key.to_owned(), value.into());
    }

    /// Puts it on record.
    pub fn finish(self) -> Result<FigureRecord, ReproduceError> {
        let text = serde_json::to_string_pretty(&self.record).expect("a record is JSON") + "\n";
        self.write(FIGURE, text.as_bytes())?;
        Ok(self.record)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), ReproduceError> {
        let path = self.directory.join(name);
        isinglass_files::write(&path, bytes).map_err(|source| ReproduceError::Write { path, source })
    }
}

fn csv(table: &Table) -> String {
    let line = |fields: Vec<String>| fields.join(",") + "\n";
    let header = line(table.columns.iter().map(|column| text_field(column)).collect());
    table.rows.iter().fold(header, |text, row| text + &line(row.iter().map(field).collect()))
}

/// One row of a table.
pub(super) fn row<const N: usize>(values: [Value; N]) -> Vec<Value> {
    values.into()
}

/// A number with the digits one reads.
pub(super) fn rounded(value: f64, digits: i32) -> Value {
    let factor = 10f64.powi(digits);
    let rounded = (value * factor).round() / factor;
    if rounded.is_finite() { rounded.into() } else { Value::Null }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_quotes_what_would_break_it() {
        let table = Table {
            title: String::new(),
            columns: vec!["a".into(), "b".into()],
            rows: vec![row(["x,\"y\"".into(), 1.5.into()]), row([Value::Null, "z".into()])],
        };
        assert_eq!(csv(&table), "a,b\n\"x,\"\"y\"\"\",1.5\n,z\n");
    }
}
