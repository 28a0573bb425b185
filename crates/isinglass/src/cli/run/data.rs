//! The flags that say where examples come from.

use std::path::{Path, PathBuf};

use isinglass_lab::run::RunConfig;
use isinglass_net::Features;

/// A data set by name, or files of one's own.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Data")]
pub struct DataArgs {
    /// digits (generated), mnist or fashion-mnist [default: those of the run, else digits]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["train_images", "test_images"])]
    data: Option<String>,

    /// Directory that holds mnist/ and fashion-mnist/ [default: $ISINGLASS_DATA, else the user's cache]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,

    /// Training images or table of your own: IDX, .npy, or CSV with the labels in its first column
    #[arg(long, value_name = "FILE", requires = "test_images")]
    train_images: Option<PathBuf>,

    /// Their labels: IDX or .npy
    #[arg(long, value_name = "FILE", requires = "train_images")]
    train_labels: Option<PathBuf>,

    /// Test images or table of your own
    #[arg(long, value_name = "FILE", requires = "train_images")]
    test_images: Option<PathBuf>,

    /// Their labels
    #[arg(long, value_name = "FILE", requires = "test_images")]
    test_labels: Option<PathBuf>,
}

/// What the columns of the examples are.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Data")]
pub struct FeaturesArgs {
    /// image: all inputs share one scale; table: each column is standardised by itself [default: image for bytes and pictures, table for rows of real numbers]
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
