//! `isinglass data fetch`.

use indicatif::ProgressBar;
use isinglass_data::archive::{ARCHIVES, Archive, data_directory};
use isinglass_data::fetch::{Fetched, Progress, fetch};
use isinglass_files::did_you_mean;

use super::DirectoryArgs;
use crate::cli::CliError;
use crate::cli::answer::{Answer, Record};
use crate::cli::output::{TableArgs, rows_among, usage};
use crate::cli::terminal::bar;

/// Download a data set, or verify the local copy.
///
/// Files are downloaded over HTTPS from public mirrors, tried in turn, and kept only if the SHA-256 of their contents is the published one. An interrupted download resumes where it stopped. Without a
/// network, copy the four files to DIR/mnist or DIR/fashion-mnist and run this command to verify them.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["files", "facts"])))]
#[command(after_help = "Examples:
  isinglass data fetch mnist
  isinglass data fetch fashion-mnist --data-dir data")]
pub struct Args {
    /// mnist or fashion-mnist
    dataset: String,

    #[command(flatten)]
    directory: DirectoryArgs,

    /// Download from this address instead of the public mirrors; may be repeated
    #[arg(long, value_name = "URL")]
    mirror: Vec<String>,

    #[command(flatten)]
    output: TableArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        if self.dataset == "digits" {
            return Err(usage("digits are generated on demand: there is nothing to fetch"));
        }
        let archive = Archive::named(&self.dataset).ok_or_else(|| {
            let hint = did_you_mean(&self.dataset, ARCHIVES.map(|archive| archive.name));
            usage(format!("{:?} cannot be fetched{hint}: use mnist or fashion-mnist", self.dataset))
        })?;
        if let Some(mirror) = self.mirror.iter().find(|mirror| !mirror.starts_with("https://") && !mirror.starts_with("http://")) {
            return Err(usage(format!("--mirror {mirror}: an address starts with https:// or http://")));
        }
        let mirrors = if self.mirror.is_empty() { archive.mirrors.to_vec() } else { self.mirror.iter().map(String::as_str).collect() };
        let data = data_directory(self.directory.given())?;
        let bar = bar("{msg} {bar:24} {bytes} of {total_bytes}, {eta} left");
        let fetched = fetch(&archive, &data, &mirrors, &mut |progress| show(&bar, progress));
        bar.finish_and_clear();
        let mut answer = Answer::default();
        answer.fact("dataset", archive.name).place("directory", &archive.directory(&data));
        let fetched = fetched?;
        let files = || fetched.iter().zip(&archive.members).map(|(file, member)| describe(file, member.sha256));
        let with_path = |(mut row, file): (Record, &Fetched)| {
            row.insert("path".into(), file.path.display().to_string().into());
            row
        };
        answer.rows("files", files().zip(&fetched).map(with_path).collect()).flat("files", files().collect());
        self.output.print(answer)
    }
}

fn describe(file: &Fetched, sha256: &str) -> Record {
    let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut record = Record::new();
    record.insert("file".into(), name.into());
    record.insert("status".into(), if file.downloaded { "downloaded" } else { "present" }.into());
    record.insert("sha256".into(), sha256.into());
    record
}

fn show(bar: &ProgressBar, Progress { file, received, total }: Progress<'_>) {
    if bar.message() != file {
        bar.reset();
        bar.set_message(file.to_owned());
    }
    bar.set_length(total.unwrap_or(received));
    bar.set_position(received);
}
