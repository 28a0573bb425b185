//! `isinglass runs compare`.

use std::io::{self, Write};
use std::path::PathBuf;

use isinglass_lab::run::{Behind, Evaluation, Overview, Part, compared_curves, differences};
use isinglass_lab::words::percent;
use serde_json::{Value, json};

use crate::cli::answer::{Answer, Record, write_columns};
use crate::cli::output::{OutputArgs, rows_among};
use crate::cli::{CliError, Format};

/// Compare training runs: the settings that differ, and the results side by side.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["settings", "results"])))]
#[command(after_help = "Examples:
  isinglass runs compare runs/a runs/b
  isinglass runs compare runs/a runs/b runs/c --plot curves.svg
  isinglass runs compare runs/a runs/b --format json")]
pub struct Args {
    /// Directories of the runs
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    runs: Vec<PathBuf>,

    #[command(flatten)]
    output: OutputArgs,
}

/// A line of the comparison: a name, and a value for each run.
struct Line {
    name: String,
    values: Vec<Value>,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let plot = self.output.plot()?;
        let runs = self.runs.iter().map(|run| Overview::of(run)).collect::<Result<Vec<_>, _>>()?;
        if let Some(plot) = plot {
            plot.write(&compared_curves(&runs))?;
        }
        let mut settings: Vec<Line> = differences(&runs)
            .into_iter()
            .map(|difference| Line {
                name: difference.setting,
                values: difference.values.into_iter().map(Option::unwrap_or_default).collect(),
            })
            .collect();
        let mut results = results(&runs);
        let chosen = self.output.print.rows();
        let names: Vec<String> = self.runs.iter().map(|run| run.display().to_string()).collect();
        match self.output.format() {
            Format::Table => Ok(write_tables(&names, chosen, &settings, &results)?),
            Format::Json => {
                let list = |key: &str, lines: &[Line]| {
                    lines.iter().map(|line| json!({ key: line.name, "values": line.values })).collect::<Vec<_>>()
                };
                let mut answer = Answer::default();
                answer
                    .fact("runs", names.clone())
                    .fact("paths", names)
                    .fact("settings", list("setting", &settings))
                    .fact("results", list("result", &results));
                Ok(answer.print(Format::Json)?)
            }
            Format::Csv => {
                match chosen {
                    Some("settings") => results.clear(),
                    Some(_) => settings.clear(),
                    None => {}
                }
                let columns = ["kind", "name"].map(str::to_owned).into_iter().chain(names.iter().cloned());
                let rows = settings.iter().map(|line| record("setting", line, &names));
                let rows = rows.chain(results.iter().map(|line| record("result", line, &names))).collect();
                Ok(Answer::default().rows("lines", rows).columns(columns).take().print(Format::Csv)?)
            }
        }
    }
}

fn record(kind: &str, line: &Line, names: &[String]) -> Record {
    let mut row = Record::from_iter([("kind".to_owned(), kind.into()), ("name".to_owned(), line.name.clone().into())]);
    row.extend(names.iter().cloned().zip(line.values.iter().cloned()));
    row
}

/// How the runs stand and what they came to.
fn results(runs: &[Overview]) -> Vec<Line> {
    let line = |name: &str, value: &dyn Fn(&Overview) -> Value| Line { name: name.to_owned(), values: runs.iter().map(value).collect() };
    let score = |part: Part, network: Behind| {
        move |run: &Overview| -> Option<f64> {
            let evaluation: &Evaluation = &run.summary()?.evaluation;
            Some(evaluation.of(part)?.of(network)?.accuracy)
        }
    };
    let mut lines = vec![line("status", &|run| run.state.name().into()), line("epochs", &|run| run.epochs.len().into())];
    lines.push(line("best_epoch", &|run| run.summary().and_then(|summary| summary.best_epoch).into()));
    lines.push(line("seconds", &|run| run.summary().map(|summary| summary.seconds).into()));
    for part in Part::ALL {
        for (network, name) in [(Behind::Surrogate, "surrogate"), (Behind::Binary, "binary")] {
            let value = score(part, network);
            if runs.iter().any(|run| value(run).is_some()) {
                lines.push(line(&format!("{}_{name}_accuracy", part.name()), &|run| value(run).into()));
            }
        }
    }
    lines
}

fn write_tables(names: &[String], chosen: Option<&str>, settings: &[Line], results: &[Line]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let table = |key: &str, lines: &[Line]| -> Vec<Record> {
        let row = |line: &Line| {
            let readable = |value: &Value| match value.as_f64() {
                Some(accuracy) if line.name.ends_with("_accuracy") => percent(accuracy).into(),
                _ if value.is_array() => value.to_string().into(),
                _ => value.clone(),
            };
            let mut row = Record::from_iter([(key.to_owned(), line.name.clone().into())]);
            row.extend(names.iter().cloned().zip(line.values.iter().map(readable)));
            row
        };
        lines.iter().map(row).collect()
    };
    if chosen != Some("results") {
        match settings {
            [] => writeln!(out, "All settings are the same.")?,
            settings => write_columns(&mut out, &table("setting", settings))?,
        }
    }
    if chosen.is_none() {
        writeln!(out)?;
    }
    if chosen != Some("settings") {
        write_columns(&mut out, &table("result", results))?;
    }
    Ok(())
}
