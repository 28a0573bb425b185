//! `isinglass runs list`.

use std::path::{Path, PathBuf};

use isinglass_lab::run::{Overview, RunError, find_runs};
use isinglass_lab::words::percent;
use isinglass_net::NetworkConfig;
use serde_json::Value;

use crate::cli::answer::{Answer, Record};
use crate::cli::output::FormatArgs;
use crate::cli::{CliError, Format};

/// List the training runs in a directory and below it, with status and accuracy.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass runs list
  isinglass runs list sweeps/a runs --format csv")]
pub struct Args {
    /// Directories to look in
    #[arg(value_name = "DIR", default_value = "runs")]
    directories: Vec<PathBuf>,

    #[command(flatten)]
    print: FormatArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let mut rows = Vec::new();
        for directory in &self.directories {
            for run in find_runs(directory)? {
                rows.push(self.row(&run, Overview::of(&run)));
            }
        }
        let mut answer = Answer::default();
        if self.print.format == Format::Json {
            answer.fact("count", rows.len());
        }
        answer.rows("runs", rows);
        Ok(answer.print(self.print.format)?)
    }

    /// A run that cannot be read says why, and does not hide the others.
    fn row(&self, directory: &Path, overview: Result<Overview, RunError>) -> Record {
        let (run, error) = match overview {
            Ok(run) => (Some(run), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let summary = run.as_ref().and_then(Overview::summary);
        let config = run.as_ref().map(|run| &run.config);
        let is_table = self.print.format == Format::Table;
        let accuracy = |value: Option<f64>| if is_table { Value::from(value.map(percent)) } else { value.into() };
        let test = summary.map(|summary| &summary.evaluation.test);
        let hidden = |hidden: Vec<usize>| NetworkConfig { hidden, ..NetworkConfig::default() }.hidden_shape();
        let done = run.as_ref().map(|run| run.epochs.len());
        let mut row = Record::from_iter([
            ("run".to_owned(), directory.display().to_string().into()),
            ("status".to_owned(), run.as_ref().map_or("damaged", |run| run.state.name()).into()),
            ("data".to_owned(), config.map(|config| config.data.clone().unwrap_or_else(|| "files".into())).into()),
            ("hidden".to_owned(), config.map(|config| hidden(config.hidden_layers())).into()),
            ("surrogate".to_owned(), config.map(|config| config.surrogate.to_string()).into()),
            ("seed".to_owned(), config.map(|config| config.seed).into()),
            ("epochs".to_owned(), done.into()),
            ("of".to_owned(), config.map(|config| config.epochs).into()),
            ("test_surrogate_accuracy".to_owned(), accuracy(test.map(|test| test.surrogate.accuracy))),
            ("test_binary_accuracy".to_owned(), accuracy(test.and_then(|test| Some(test.binary?.accuracy)))),
        ]);
        if !is_table || error.is_some() {
            row.insert("seconds".to_owned(), summary.map(|summary| summary.seconds).into());
            row.insert("error".to_owned(), error.into());
        }
        if !is_table {
            row.insert("path".to_owned(), directory.display().to_string().into());
        }
        row
    }
}
