//! A data set: images with labels, once for training and once for testing.
//!
//! Pixels stay bytes where possible, in a quarter of the memory of floats. How they become the inputs of a network is up to the network.
//!
//! ```
//! use isinglass_data::{Dataset, Image, Pixels, Split};
//!
//! let train = Split::new(1, 2, Pixels::Bytes(vec![0, 255, 255, 0]), vec![0, 1])?;
//! let test = Split::new(1, 2, Pixels::Bytes(vec![9, 200]), vec![0])?;
//! let data = Dataset::new("edges", train, test)?;
//! assert_eq!((data.classes, data.train.len(), data.test.len()), (2, 2, 1));
//! assert_eq!(data.train.image(1), Image::Bytes(&[255, 0]));
//! assert_eq!(data.train.class_counts(data.classes), [1, 1]);
//! assert_eq!(data.train.moments(), (127.5, 127.5));
//! # Ok::<(), isinglass_data::Error>(())
//! ```

use std::sync::OnceLock;

use crate::Error;

/// Images and labels for training and testing.
#[derive(Clone, Debug, PartialEq)]
pub struct Dataset {
    /// The name of the data set.
    pub name: String,
    /// Number of classes; labels are below it.
    pub classes: usize,
    /// Examples for training.
    pub train: Split,
    /// Examples for testing.
    pub test: Split,
    /// Of a published set, the files that are not the published ones.
    foreign: Option<Vec<&'static str>>,
}

impl Dataset {
    /// Combines two splits. The largest label of the training images decides the number of classes.
    ///
    /// If one split holds floats, the other becomes floats too, with unchanged values.
    ///
    /// # Errors
    ///
    /// [`Error::Splits`] if the images differ in shape, [`Error::Label`] if a test label does not occur among the training classes.
    pub fn new(name: impl Into<String>, train: Split, test: Split) -> Result<Self, Error> {
        if let Some(names) = train.class_names.clone() {
            if test.class_names.is_none() {
                return Err(Error::MixedLabels { label: test.labels[0].to_string(), row: 0 });
            }
            return Self::with_classes(name, names.len(), train, test.in_classes(&names)?);
        }
        if let Some(names) = &test.class_names {
            return Err(Error::Label { label: names[usize::from(test.labels[0])].clone(), row: 0, largest: 255 });
        }
        let classes = usize::from(train.labels.iter().copied().max().unwrap_or(0)) + 1;
        Self::with_classes(name, classes, train, test)
    }

    /// The same data with labels that count in these names of classes.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownName`] if a label is none of them.
    pub fn in_classes(self, names: &[String]) -> Result<Self, Error> {
        Ok(Self { classes: names.len(), train: self.train.in_classes(names)?, test: self.test.in_classes(names)?, ..self })
    }

    /// Combines two splits with the given number of classes.
    ///
    /// # Errors
    ///
    /// Those of [`Dataset::new`], for the labels of both splits.
    pub fn with_classes(name: impl Into<String>, classes: usize, train: Split, test: Split) -> Result<Self, Error> {
        if train.shape() != test.shape() {
            return Err(Error::Splits { train: train.shape(), test: test.shape() });
        }
        for split in [&train, &test] {
            if let Some(row) = split.labels.iter().position(|label| usize::from(*label) >= classes) {
                return Err(Error::Label { label: split.labels[row].to_string(), row, largest: classes.saturating_sub(1) });
            }
        }
        let floats = [&train, &test].iter().any(|split| matches!(split.pixels, Pixels::Floats(_)));
        let (train, test) = if floats { (train.into_floats(), test.into_floats()) } else { (train, test) };
        Ok(Self { name: name.into(), classes, train, test, foreign: None })
    }

    /// The same data, of a published set; `foreign` names the files that are not the published ones.
    pub(crate) fn verified(self, foreign: Vec<&'static str>) -> Self {
        Self { foreign: Some(foreign), ..self }
    }

    /// Whether these are the published data of that name: all files have the published SHA-256. `None` if nothing of that name was published.
    pub fn is_published(&self) -> Option<bool> {
        self.foreign.as_ref().map(Vec::is_empty)
    }

    /// What a user should know about these data, a sentence each.
    pub fn notices(&self) -> Vec<String> {
        let foreign = self.foreign.as_deref().unwrap_or_default();
        let are = match foreign.len() {
            0 => return Vec::new(),
            1 => "is not the file",
            _ => "are not the files",
        };
        let (files, name) = (foreign.join(", "), &self.name);
        vec![format!("{files} {are} published as {name} (SHA-256 differs): results are not those of {name}")]
    }
}

/// All pixels of a split, image after image and row after row.
#[derive(Clone, Debug, PartialEq)]
pub enum Pixels {
    /// Grey values from 0 to 255.
    Bytes(Vec<u8>),
    /// Any finite values.
    Floats(Vec<f32>),
}

impl Pixels {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Floats(floats) => floats.len(),
        }
    }
}

/// The pixels of one image, row after row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Image<'a> {
    /// Grey values from 0 to 255.
    Bytes(&'a [u8]),
    /// Any finite values.
    Floats(&'a [f32]),
}

/// Images of one shape, with a label each. There is at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    height: usize,
    width: usize,
    pixels: Pixels,
    labels: Vec<u8>,
    class_names: Option<Vec<String>>,
    digest: Memo,
}

/// Something computed once that depends on the images alone.
#[derive(Clone, Debug, Default)]
struct Memo(OnceLock<String>);

impl PartialEq for Memo {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Split {
    /// Images of `height` by `width` pixels and their labels.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] for images without pixels or none at all, [`Error::Counts`] unless there is one label for each image,
    /// [`Error::NotFinite`] for a value that is infinite or NaN.
    pub fn new(height: usize, width: usize, pixels: Pixels, labels: Vec<u8>) -> Result<Self, Error> {
        let shape = |reason| Error::Shape(format!("{} pixels as images of {height}×{width}", pixels.len()), reason);
        let size = height.checked_mul(width).filter(|size| *size > 0).ok_or_else(|| shape("an image has at least one pixel"))?;
        if pixels.len() == 0 || !pixels.len().is_multiple_of(size) {
            return Err(shape("there must be at least one image, and only whole ones"));
        }
        let images = pixels.len() / size;
        if images != labels.len() {
            return Err(Error::Counts { images, labels: labels.len() });
        }
        if let Pixels::Floats(floats) = &pixels
            && let Some(at) = floats.iter().position(|x| !x.is_finite())
        {
            return Err(Error::NotFinite { value: floats[at].to_string(), row: at / size, column: at % size });
        }
        Ok(Self { height, width, pixels, labels, class_names: None, digest: Memo::default() })
    }

    /// Names the classes: label `k` stands for name `k`.
    ///
    /// # Errors
    ///
    /// [`Error::Label`] if a label has no name.
    pub fn with_class_names(self, names: Vec<String>) -> Result<Self, Error> {
        match self.labels.iter().position(|&label| usize::from(label) >= names.len()) {
            Some(row) => Err(Error::Label { label: self.labels[row].to_string(), row, largest: names.len().saturating_sub(1) }),
            None => Ok(Self { class_names: Some(names), ..self }),
        }
    }

    /// The names of the classes, if the labels have any.
    pub fn class_names(&self) -> Option<&[String]> {
        self.class_names.as_deref()
    }

    /// The same images with labels that count in these names of classes. Labels that are numbers stay as they are.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownName`] if a label is none of them.
    pub fn in_classes(mut self, names: &[String]) -> Result<Self, Error> {
        let Some(own) = self.class_names.take() else { return Ok(self) };
        for (row, label) in self.labels.iter_mut().enumerate() {
            let name = &own[usize::from(*label)];
            match names.iter().position(|known| known == name) {
                Some(class) => *label = class as u8,
                None => return Err(Error::UnknownName { label: name.clone(), row, known: names.join(", ") }),
            }
        }
        Ok(Self { class_names: Some(names.to_vec()), digest: Memo::default(), ..self })
    }

    /// Number of images.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Never true: a split without images cannot be made.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Height and width of an image.
    pub fn shape(&self) -> (usize, usize) {
        (self.height, self.width)
    }

    /// Pixels of an image.
    pub fn image_len(&self) -> usize {
        self.height * self.width
    }

    /// A place to remember a digest of images and labels in, which never change.
    pub fn digest_memo(&self) -> &OnceLock<String> {
        &self.digest.0
    }

    /// All pixels, image after image.
    pub fn pixels(&self) -> &Pixels {
        &self.pixels
    }

    /// The label of each image.
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }

    /// Image `index`.
    ///
    /// # Panics
    ///
    /// If there is no such image.
    pub fn image(&self, index: usize) -> Image<'_> {
        let size = self.image_len();
        let range = index * size..(index + 1) * size;
        match &self.pixels {
            Pixels::Bytes(bytes) => Image::Bytes(&bytes[range]),
            Pixels::Floats(floats) => Image::Floats(&floats[range]),
        }
    }

    /// How many images each class has.
    ///
    /// # Panics
    ///
    /// If a label is not below `classes`.
    pub fn class_counts(&self, classes: usize) -> Vec<usize> {
        let mut counts = vec![0; classes];
        for label in &self.labels {
            counts[usize::from(*label)] += 1;
        }
        counts
    }

    /// Mean and standard deviation over all pixels.
    pub fn moments(&self) -> (f64, f64) {
        match &self.pixels {
            Pixels::Bytes(bytes) => {
                // Whole numbers: exact in any order.
                let (sum, squares) =
                    bytes.iter().fold((0u64, 0u64), |(sum, squares), &x| (sum + u64::from(x), squares + u64::from(x).pow(2)));
                let n = bytes.len() as f64;
                let mean = sum as f64 / n;
                (mean, (squares as f64 / n - mean * mean).max(0.0).sqrt())
            }
            Pixels::Floats(floats) => {
                let n = floats.len() as f64;
                let mean = floats.iter().map(|x| f64::from(*x)).sum::<f64>() / n;
                (mean, (floats.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / n).sqrt())
            }
        }
    }

    fn into_floats(mut self) -> Self {
        self.digest = Memo::default();
        if let Pixels::Bytes(bytes) = &self.pixels {
            self.pixels = Pixels::Floats(bytes.iter().map(|x| f32::from(*x)).collect());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(n: usize, labels: &[u8]) -> Result<Split, Error> {
        Split::new(2, 2, Pixels::Bytes(vec![7; n]), labels.to_vec())
    }

    #[test]
    fn a_split_is_full_or_refused() {
        assert!(bytes(8, &[0, 1]).is_ok());
        for (n, labels) in [(8, &[0][..]), (7, &[0, 1]), (0, &[])] {
            assert!(bytes(n, labels).is_err(), "{n} {labels:?}");
        }
        assert!(Split::new(0, 5, Pixels::Bytes(vec![]), vec![]).is_err());
        assert!(Split::new(usize::MAX, 2, Pixels::Bytes(vec![1]), vec![0]).is_err());
    }

    #[test]
    fn values_that_are_not_finite_are_named_by_row_and_column() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let error = Split::new(1, 3, Pixels::Floats(vec![0.0, 1.0, 2.0, 3.0, bad, 5.0]), vec![0, 1]).unwrap_err();
            assert_eq!(error.to_string(), format!("{bad} in row 1, column 1: values must be finite 32-bit numbers"));
        }
    }

    #[test]
    fn splits_of_a_set_have_one_shape() {
        let wide = Split::new(1, 4, Pixels::Bytes(vec![0; 4]), vec![0]).unwrap();
        let error = Dataset::new("x", bytes(4, &[0]).unwrap(), wide).unwrap_err();
        assert_eq!(error.to_string(), "training images are 2×2, test images 1×4: they must have the same shape");
        let error = Dataset::new("x", bytes(8, &[0, 2]).unwrap(), bytes(8, &[1, 3]).unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "label 3 of row 1: labels must be whole numbers from 0 to 2");
        let floats = Split::new(2, 2, Pixels::Floats(vec![0.5; 4]), vec![0]).unwrap();
        let mixed = Dataset::new("x", bytes(4, &[0]).unwrap(), floats).unwrap();
        assert_eq!(mixed.train.image(0), Image::Floats(&[7.0; 4]));
    }

    #[test]
    fn moments_are_those_of_the_definition() {
        let split = Split::new(1, 4, Pixels::Bytes(vec![2, 4, 4, 6]), vec![0]).unwrap();
        assert_eq!(split.moments(), (4.0, 2f64.sqrt()));
        assert_eq!(split.into_floats().moments(), (4.0, 2f64.sqrt()));
    }
}
