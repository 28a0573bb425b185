//! `isinglass data list`.

use isinglass_data::archive::{ARCHIVES, data_directory};
use isinglass_data::digits;
use serde_json::Value;

use super::DirectoryArgs;
use crate::cli::CliError;
use crate::cli::answer::{Answer, Record};
use crate::cli::output::FormatArgs;

/// List the data sets, and whether they have been downloaded.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass data list
  isinglass data list --format json")]
pub struct Args {
    #[command(flatten)]
    directory: DirectoryArgs,
    #[command(flatten)]
    output: FormatArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let data = data_directory(self.directory.given())?;
        let mut rows = vec![describe("digits", [digits::TRAIN, digits::TEST, 10], true, "generated".to_owned())];
        let mut paths = vec![Value::Null];
        for archive in ARCHIVES {
            let present = archive.find(&data).iter().all(Option::is_some);
            let place = archive.directory(&data).display().to_string();
            paths.push(place.clone().into());
            rows.push(describe(archive.name, [archive.train, archive.test, archive.classes.len()], present, place));
        }
        let with_path = |(mut row, path): (Record, Value)| {
            row.insert("path".into(), path);
            row
        };
        let mut answer = Answer::default();
        answer.rows("datasets", rows.clone().into_iter().zip(paths).map(with_path).collect()).flat("datasets", rows);
        self.output.print(answer)
    }
}

/// All of them are 28 × 28.
fn describe(name: &str, [train, test, classes]: [usize; 3], present: bool, place: String) -> Record {
    let mut record = Record::new();
    record.insert("name".into(), name.into());
    for (key, number) in [("train", train), ("test", test), ("classes", classes), ("height", digits::SIDE), ("width", digits::SIDE)] {
        record.insert(key.into(), number.into());
    }
    record.insert("present".into(), present.into());
    record.insert("where".into(), place.into());
    record
}
