//! `isinglass data show`.

use clap::ValueEnum;
use isinglass_data::{Archive, Image, Split, load};
use isinglass_lab::chart::{ImageSheet, plain};

use super::DirectoryArgs;
use crate::cli::CliError;
use crate::cli::answer::{Answer, Record, number};
use crate::cli::output::{OutputArgs, rows_among};
use crate::cli::run::progress::tell_notices;

/// Show what is in a data set: images per class, mean and standard deviation of the pixels (0 to 255).
///
/// The picture shows the first images of each class.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["class_counts", "facts"])))]
#[command(after_help = "Examples:
  isinglass data show digits --plot sheet.png
  isinglass data show digits --split test --format csv")]
pub struct Args {
    /// digits, mnist or fashion-mnist
    dataset: String,

    /// Which split
    #[arg(long, value_enum, default_value_t = SplitArg::Train)]
    split: SplitArg,

    /// Images per class in the picture
    #[arg(long, value_name = "N", default_value_t = 16, requires = "plot", value_parser = clap::value_parser!(u16).range(1..=200))]
    count: u16,

    #[command(flatten)]
    directory: DirectoryArgs,
    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SplitArg {
    /// Training images
    Train,
    /// Test images
    Test,
}

impl SplitArg {
    fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let plot = self.output.plot()?;
        let data = load(&self.dataset, self.directory.given())?;
        tell_notices(&data);
        let split = match self.split {
            SplitArg::Train => &data.train,
            SplitArg::Test => &data.test,
        };
        let names = class_names(&self.dataset, data.classes);
        if let Some(plot) = plot {
            let kind = if self.split == SplitArg::Train { "training" } else { "test" };
            plot.write(&sheet(&format!("{}, {kind} images", data.name), split, &names, usize::from(self.count)))?;
        }
        let (mean, deviation) = split.moments();
        let (height, width) = split.shape();
        let mut answer = Answer::default();
        answer.fact("dataset", data.name.as_str()).fact("published", data.is_published()).fact("split", self.split.name());
        answer.fact("images", split.len()).fact("classes", data.classes).fact("height", height).fact("width", width);
        answer.fact("mean", number(mean)).fact("standard_deviation", number(deviation));
        answer.rows("class_counts", split.class_counts(data.classes).into_iter().zip(&names).enumerate().map(describe).collect());
        self.output.print.print(answer)
    }
}

/// What the labels stand for.
fn class_names(dataset: &str, classes: usize) -> Vec<String> {
    match Archive::named(dataset) {
        Some(archive) => archive.classes.map(str::to_owned).to_vec(),
        None => (0..classes).map(|label| label.to_string()).collect(),
    }
}

fn describe((label, (images, name)): (usize, (usize, &String))) -> Record {
    let mut record = Record::new();
    record.insert("label".into(), label.into());
    record.insert("class".into(), name.as_str().into());
    record.insert("images".into(), images.into());
    record
}

fn sheet(title: &str, split: &Split, names: &[String], count: usize) -> ImageSheet {
    let (height, width) = split.shape();
    let mut sheet = ImageSheet::new(height, width).title(plain(title));
    for (label, name) in names.iter().enumerate() {
        let of_class = (0..split.len()).filter(|index| usize::from(split.labels()[*index]) == label);
        let images = of_class.take(count).map(|index| match split.image(index) {
            Image::Bytes(bytes) => bytes.to_vec(),
            Image::Floats(floats) => floats.iter().map(|grey| grey.clamp(0.0, 255.0) as u8).collect(),
        });
        sheet = sheet.row(plain(name), images);
    }
    sheet
}
