//! What a packed file holds: networks, and all that is needed to use them.
//!
//! ```
//! use isinglass_bits::{BitMatrix, PackedModel, PackedNetwork, Preprocessing};
//!
//! // Four bytes, three neurons, two classes.
//! let input = BitMatrix::from_fn(3, 4, |unit, byte| unit != byte);
//! let output = BitMatrix::from_fn(2, 3, |class, unit| class == 0 || unit == 0);
//! let preprocessing = Preprocessing::new(127.5, 1.0 / 127.5)?;
//! let network = PackedNetwork::new(preprocessing, vec![(input, vec![0.0, 0.5, -0.5]), (output, vec![0.1, 0.0])])?;
//! let model = PackedModel::new(vec![network], preprocessing, 1.0)?.with_class_names(["dark", "light"])?;
//! let prediction = model.predictor().predict(&[0, 255, 255, 0, 255, 0, 0, 0])?; // two images
//! assert_eq!(prediction.classes(), [1, 0]);
//! assert_eq!(prediction.name(0), Some("light"));
//! # Ok::<(), isinglass_bits::Error>(())
//! ```

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::{Error, Isa, PackedNetwork, Predictor, Preprocessing, Quantiser};

/// The largest factor between fields and logits: beyond it probabilities overflow.
const LARGEST_TAU: f64 = 1e9;

/// A network, or an ensemble of networks of one shape whose class probabilities are averaged.
///
/// It takes bytes, unless it has a [`Quantiser`]: then it takes real numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedModel {
    networks: Vec<PackedNetwork>,
    preprocessing: Preprocessing,
    tau: f64,
    quantiser: Option<Arc<Quantiser>>,
    class_names: Option<Arc<[String]>>,
    image: Option<(usize, usize)>,
    /// Where the network comes from, in words: the data set, the seed, …
    pub provenance: BTreeMap<String, String>,
}

impl PackedModel {
    /// A model of one network, or an ensemble of several. Logits are `tau` times the fields of the output.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if there are no networks, or they differ in shape or in the layers that carry; [`Error::Value`] if `tau` is not above 0, or above 1e9.
    pub fn new(networks: Vec<PackedNetwork>, preprocessing: Preprocessing, tau: f64) -> Result<Self, Error> {
        if !(tau > 0.0 && tau <= LARGEST_TAU) {
            return Err(Error::Value(format!(
                "tau = {}: the scale of the logits must be above 0 and at most 1e9",
                isinglass_files::number(tau)
            )));
        }
        let Some(first) = networks.first() else { return Err(Error::Shape("a model needs at least one network".into())) };
        let sizes = first.sizes();
        if networks.iter().any(|network| network.sizes() != sizes) {
            return Err(Error::Shape("all networks of an ensemble must have the same shape".into()));
        }
        let carrying = first.carrying_layers();
        if let Some(other) = networks.iter().position(|network| network.carrying_layers() != carrying) {
            return Err(Error::Shape(format!(
                "all networks of an ensemble must carry in the same layers: network 0 carries in {carrying:?}, network {other} in {:?}",
                networks[other].carrying_layers()
            )));
        }
        Ok(Self { networks, preprocessing, tau, quantiser: None, class_names: None, image: None, provenance: BTreeMap::new() })
    }

    /// Makes the model take real numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if the quantiser does not have a column for every input.
    pub fn with_quantiser(self, quantiser: Quantiser) -> Result<Self, Error> {
        if quantiser.columns() != self.inputs() {
            return Err(Error::Shape(format!("a quantiser of {} columns for {} inputs", quantiser.columns(), self.inputs())));
        }
        Ok(Self { quantiser: Some(Arc::new(quantiser)), ..self })
    }

    /// Names the classes.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if there is not one name for every class, [`Error::Value`] if two classes share one.
    pub fn with_class_names(self, names: impl IntoIterator<Item = impl Into<String>>) -> Result<Self, Error> {
        let names: Arc<[String]> = names.into_iter().map(Into::into).collect();
        if names.len() != self.classes() {
            return Err(Error::Shape(format!("{} names for {} classes", names.len(), self.classes())));
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
            return Err(Error::Value(format!("two classes are named {twice:?}")));
        }
        Ok(Self { class_names: Some(names), ..self })
    }

    /// Says that the inputs are images of this height and width.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if such images do not have as many pixels as there are inputs.
    pub fn with_image(self, height: usize, width: usize) -> Result<Self, Error> {
        if height.checked_mul(width) != Some(self.inputs()) {
            return Err(Error::Shape(format!("images of {height} × {width} pixels for {} inputs", self.inputs())));
        }
        Ok(Self { image: Some((height, width)), ..self })
    }

    /// The networks; one, unless it is an ensemble.
    pub fn networks(&self) -> &[PackedNetwork] {
        &self.networks
    }

    /// How bytes become inputs. The thresholds of the first layer already include it.
    pub fn preprocessing(&self) -> Preprocessing {
        self.preprocessing
    }

    /// How real numbers become bytes, if the model takes real numbers.
    pub fn quantiser(&self) -> Option<&Quantiser> {
        self.quantiser.as_deref()
    }

    /// The names of the classes, if they have any.
    pub fn class_names(&self) -> Option<&[String]> {
        self.class_names.as_deref()
    }

    /// Height and width of the images, if the inputs are images.
    pub fn image(&self) -> Option<(usize, usize)> {
        self.image
    }

    /// The logits are this factor times the fields of the output.
    pub fn tau(&self) -> f64 {
        self.tau
    }

    /// Which layers of neurons carry, in every network, as [`PackedNetwork::carrying_layers`].
    pub fn carrying_layers(&self) -> Vec<Range<usize>> {
        self.networks[0].carrying_layers()
    }

    /// Sizes from the inputs to the classes.
    pub fn sizes(&self) -> Vec<usize> {
        self.networks[0].sizes()
    }

    /// Number of inputs: bytes of an image, or columns of a table.
    pub fn inputs(&self) -> usize {
        self.networks[0].inputs()
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.networks[0].output().classes()
    }

    /// Prepares the model for the fastest instruction set of this machine, or the one that `ISINGLASS_SIMD` names.
    ///
    /// # Panics
    ///
    /// If the machine does not have the set that `ISINGLASS_SIMD` names; [`Predictor::new`] with [`Isa::chosen`] makes it an error.
    pub fn predictor(&self) -> Predictor {
        Predictor::new(self, Isa::best())
    }

    pub(crate) fn shared_quantiser(&self) -> Option<Arc<Quantiser>> {
        self.quantiser.clone()
    }

    pub(crate) fn shared_class_names(&self) -> Option<Arc<[String]>> {
        self.class_names.clone()
    }
}
