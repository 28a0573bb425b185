//! `isinglass predict`.

use std::path::{Path, PathBuf};

use isinglass_bits::{PackedModel, Values};
use isinglass_data::{Split, images};
use isinglass_lab::run::RunConfig;
use serde_json::json;

use super::answer::{FACTS, Record, to_record};
use super::output::{TableArgs, ThreadsArgs, print_line, rows_among, usage};
use super::packed::{ModelArgs, inputs_of};
use super::predictions::Predictions;
use super::printable::printable;
use super::run::data::load_data;
use super::run::progress::tell_notices;
use super::{CliError, Format};

/// Predict classes with a packed network.
///
/// With --data or --test-images: the accuracy on a test set, the same number that `evaluate` prints for the network. With --input: the class and the probabilities of every image in a file, which may be
/// a PNG of one image or of a sheet of images without gaps (bright on dark, as in MNIST; see --invert), .npy, IDX, or CSV without labels. A network trained on a table takes the table's real numbers as
/// .npy or CSV, and quantises them by the rule in its file.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["predictions", "facts"])))]
#[command(after_help = "Examples:
  isinglass predict model.safetensors --data mnist
  isinglass predict model.safetensors --data mnist --format csv      # every image
  isinglass predict model.safetensors --input digits.png
  isinglass predict model.safetensors --input x.npy --format json")]
pub struct Args {
    #[command(flatten)]
    model: ModelArgs,

    /// Images to predict: PNG, .npy, IDX or CSV; rows of a table: .npy or CSV
    #[arg(long, value_name = "FILE", conflicts_with_all = ["data", "test_images"])]
    input: Option<PathBuf>,

    /// Invert the images (dark strokes on a light background)
    #[arg(long, requires = "input")]
    invert: bool,

    /// Test set: digits (generated), mnist or fashion-mnist [default: the one it was packed with]
    #[arg(long, value_name = "NAME", conflicts_with = "test_images")]
    data: Option<String>,

    /// Directory containing mnist/ and fashion-mnist/ [default: $ISINGLASS_DATA, else the user's cache]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,

    /// Your own test images: IDX, .npy, or CSV with the labels in the first column
    #[arg(long, value_name = "FILE")]
    test_images: Option<PathBuf>,

    /// Test labels, unless in the CSV: IDX or .npy
    #[arg(long, value_name = "FILE", requires = "test_images")]
    test_labels: Option<PathBuf>,

    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    output: TableArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        // Beside --data, clap forgets that this one requires --input.
        if self.invert && self.input.is_none() {
            return Err(usage("--invert needs --input"));
        }
        let model = self.model.load()?;
        match &self.input {
            Some(path) => self.predict_images(&model, path),
            None => self.score(&model),
        }
    }

    fn predict_images(&self, model: &PackedModel, path: &Path) -> Result<(), CliError> {
        if model.quantiser().is_some() {
            if self.invert {
                return Err(usage("--invert is for images, but this network takes real numbers"));
            }
            return self.print(model, Values::Floats(&images::read_reals(path, model.inputs())?));
        }
        let mut bytes = images::read(path, shape_of_images(model))?;
        if self.invert {
            bytes.iter_mut().for_each(|byte| *byte = 255 - *byte);
        }
        self.print(model, Values::Bytes(&bytes))
    }

    fn print(&self, model: &PackedModel, inputs: Values<'_>) -> Result<(), CliError> {
        let predictions = Predictions::new(model, inputs, None, self.threads.count());
        let facts = to_record(&json!({"images": predictions.len(), "path": self.model.path().display().to_string()}));
        predictions.print(&self.output, facts)
    }

    fn score(&self, model: &PackedModel) -> Result<(), CliError> {
        let (name, test) = self.test_set(model)?;
        if test.image_len() != model.inputs() {
            let (found, expected) = (test.image_len(), model.inputs());
            return Err(usage(format!("the examples of {name} have {found} values, the network takes {expected}")));
        }
        let inputs = inputs_of(model, &test)?;
        let predictions = Predictions::new(model, inputs.values(), Some(test.labels()), self.threads.count());
        if self.output.format() == Format::Csv && self.output.rows() != Some(FACTS) {
            return predictions.print(&self.output, Record::new());
        }
        let score = predictions.score()?;
        if self.output.is_for_reading() {
            return Ok(print_line(&printable(&score.sentence(model, &name)))?);
        }
        let facts = to_record(&json!({
            "accuracy": score.accuracy(),
            "images": score.examples,
            "correct": score.correct,
            "data": name,
            "networks": model.networks().len(),
            "path": self.model.path().display().to_string(),
        }));
        predictions.print(&self.output, facts)
    }

    /// The test images of what the flags name, else of what the network was packed with.
    fn test_set(&self, model: &PackedModel) -> Result<(String, Split), CliError> {
        if let Some(images) = &self.test_images {
            let split = Split::read(images, self.test_labels.as_deref())?;
            let split = match (model.class_names(), split.class_names()) {
                (Some(names), Some(_)) => split.in_classes(names)?,
                (None, Some(_)) => return Err(usage("the labels are words, but this network knows its classes only by number")),
                _ => split,
            };
            return Ok((images.display().to_string(), split));
        }
        let name = self.data.as_ref().or_else(|| model.provenance.get("data"));
        let Some(name) = name else {
            return Err(usage("name a test set with --data, or images with --input"));
        };
        if self.data.is_none() && isinglass_data::Archive::named(name).is_none() && name != "digits" {
            return Err(usage(format!("the network was packed with your own images ({name}): name the test images with --test-images")));
        }
        let config = RunConfig { data: Some(name.clone()), ..RunConfig::default() };
        let data = load_data(&config, self.data_dir.as_deref())?;
        tell_notices(&data);
        Ok((name.clone(), data.test))
    }
}

/// Height and width: as when it was packed, else a square if it can be one.
fn shape_of_images(model: &PackedModel) -> (usize, usize) {
    let inputs = model.inputs();
    let side = inputs.isqrt();
    model.image().unwrap_or(if side * side == inputs { (side, side) } else { (1, inputs) })
}
