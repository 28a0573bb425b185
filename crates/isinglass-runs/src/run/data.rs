//! The data of a run: by name, or from files of one's own.

use std::path::Path;

use isinglass_data::{Dataset, Pixels, Split};
use isinglass_net::{Examples, Features, NetworkConfig, Values};

use super::{RunConfig, RunError};

/// What settings have to know of their data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataShape {
    /// Number of training examples.
    pub examples: usize,
    /// Height and width of an example; rows of a table have height 1.
    pub size: (usize, usize),
    /// Number of classes.
    pub classes: usize,
    /// What the columns are, unless the settings say otherwise.
    pub features: Features,
}

impl DataShape {
    /// Values per example.
    pub fn inputs(&self) -> usize {
        self.size.0 * self.size.1
    }
}

impl From<&Dataset> for DataShape {
    /// Bytes and pictures of real numbers are images, rows of real numbers tables.
    fn from(data: &Dataset) -> Self {
        let features = match data.train.pixels() {
            Pixels::Floats(_) if data.train.shape().0 == 1 => Features::Table,
            _ => Features::Image,
        };
        Self { examples: data.train.len(), size: data.train.shape(), classes: data.classes, features }
    }
}

impl RunConfig {
    /// Reads the data. They are looked for in `directory`, else where the run found them before, else where
    /// [`data_directory`](isinglass_data::data_directory) says.
    ///
    /// # Errors
    ///
    /// [`RunError::Data`].
    pub fn load_data(&self, directory: Option<&Path>) -> Result<Dataset, RunError> {
        if let (Some(train), Some(test)) = (&self.train_images, &self.test_images) {
            let name = train.file_name().map_or_else(|| "own data".into(), |name| name.to_string_lossy().into_owned());
            return Ok(Dataset::from_files(name, (train, self.train_labels.as_deref()), (test, self.test_labels.as_deref()))?);
        }
        // A run that moved to another machine left its directory behind.
        let remembered = self.data_dir.as_deref().filter(|remembered| remembered.is_dir());
        let name = self.data.as_deref().unwrap_or("digits");
        Ok(isinglass_data::load(name, directory.or(remembered))?)
    }
}

/// A split's values, as a network takes them.
pub fn values(split: &Split) -> Values<'_> {
    match split.pixels() {
        Pixels::Bytes(bytes) => Values::Bytes(bytes),
        Pixels::Floats(floats) => Values::Floats(floats),
    }
}

/// A split as a network sees it.
///
/// # Errors
///
/// Those of [`Examples::new`].
pub fn examples(split: &Split, classes: usize) -> Result<Examples<'_>, RunError> {
    Ok(Examples::new(values(split), split.image_len(), split.labels(), classes)?.remembering(split.digest_memo()))
}

/// Checks that a network can look at the data.
///
/// # Errors
///
/// [`RunError::Unfit`].
pub fn check_fit(network: &NetworkConfig, data: &Dataset) -> Result<(), RunError> {
    let (features, labels) = (data.train.image_len(), data.classes);
    if features == network.inputs && labels <= network.classes {
        return Ok(());
    }
    Err(RunError::Unfit { inputs: network.inputs, classes: network.classes, data: data.name.clone(), features, labels })
}
