//! The flags that say where examples come from.

use std::path::{Path, PathBuf};

use std::time::Instant;

use isinglass_data::Dataset;
use isinglass_data::archive::{Archive, data_directory};
use isinglass_lab::run::{RunConfig, RunError};
use isinglass_net::Features;

use crate::cli::terminal::detail;

/// Reads the data of a run; with --verbose, says from which files and how long it took.
pub fn load_data(config: &RunConfig, directory: Option<&Path>) -> Result<Dataset, RunError> {
    let began = Instant::now();
    let data = config.load_data(directory)?;
    for file in files(config, directory) {
        detail(|| format!("data file {}", file.display()));
    }
    detail(|| {
        let (name, train, test) = (&data.name, data.train.len(), data.test.len());
        format!("{name}: {train} training and {test} test examples, read in {:.2} s", began.elapsed().as_secs_f64())
    });
    Ok(data)
}

/// The files that data are read from; none if they are generated.
fn files(config: &RunConfig, directory: Option<&Path>) -> Vec<PathBuf> {
    if config.train_images.is_some() {
        let named = [&config.train_images, &config.train_labels, &config.test_images, &config.test_labels];
        return named.into_iter().flatten().cloned().collect();
    }
    let remembered = config.data_dir.as_deref().filter(|remembered| remembered.is_dir());
    let archive = config.data.as_deref().and_then(Archive::named);
    let found = archive.zip(data_directory(directory.or(remembered)).ok()).map(|(archive, data)| archive.find(&data));
    found.into_iter().flatten().flatten().collect()
}

/// A data set by name, or files of one's own.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Data")]
pub struct DataArgs {
    /// Data set: digits (generated), mnist or fashion-mnist [default: the run's, else digits]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["train_images", "test_images"])]
    data: Option<String>,

    /// Directory containing mnist/ and fashion-mnist/ [default: $ISINGLASS_DATA, else the user's cache]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,

    /// Your own training images or table: IDX, .npy, or CSV with the labels in the first column
    #[arg(long, value_name = "FILE", requires = "test_images")]
    train_images: Option<PathBuf>,

    /// Training labels, unless in the CSV: IDX or .npy
    #[arg(long, value_name = "FILE", requires = "train_images")]
    train_labels: Option<PathBuf>,

    /// Your own test images or table
    #[arg(long, value_name = "FILE", requires = "train_images")]
    test_images: Option<PathBuf>,

    /// Test labels, unless in the CSV
    #[arg(long, value_name = "FILE", requires = "test_images")]
    test_labels: Option<PathBuf>,
}

/// What the columns of the examples are.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Data")]
pub struct FeaturesArgs {
    /// image: all inputs share one scale; table: each column is standardised on its own [default: image for bytes and pictures, table for rows of real numbers]
    #[arg(long, value_name = "KIND")]
    features: Option<Features>,
}

impl FeaturesArgs {
    pub fn apply(&self, config: &mut RunConfig) {
        config.features = self.features.or(config.features);
    }
}

impl DataArgs {
    /// Whether a flag names data.
    pub fn is_given(&self) -> bool {
        self.data.is_some() || self.train_images.is_some()
    }

    /// Where data sets are looked for first.
    pub fn directory(&self) -> Option<&Path> {
        self.data_dir.as_deref()
    }

    /// Puts the flags over what the settings say.
    pub fn apply(&self, config: &mut RunConfig) {
        if self.is_given() {
            config.data.clone_from(&self.data);
            config.train_images.clone_from(&self.train_images);
            config.train_labels.clone_from(&self.train_labels);
            config.test_images.clone_from(&self.test_images);
            config.test_labels.clone_from(&self.test_labels);
        }
        if self.data_dir.is_some() {
            config.data_dir.clone_from(&self.data_dir);
        }
    }
}
