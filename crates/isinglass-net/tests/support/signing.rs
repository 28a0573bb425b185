//! Checkpoint files taken apart, changed and given a valid hash again.

use isinglass_net::canonical_json;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A checkpoint file in parts.
#[derive(Clone)]
pub struct Parts {
    pub metadata: Value,
    /// In the order of the file's hash.
    pub tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
}

impl Parts {
    pub fn new(bytes: &[u8]) -> Self {
        let (_, header) = SafeTensors::read_metadata(bytes).unwrap();
        let metadata: Value = serde_json::from_str(&header.metadata().as_ref().unwrap()["isinglass"]).unwrap();
        let file = SafeTensors::deserialize(bytes).unwrap();
        let layers = (0..file.len()).map(|layer| format!("layers.{layer}."));
        let arrays = ["means", "bias", "theta", "m", "v", "bias_m", "bias_v"];
        let names = layers.flat_map(|layer| arrays.map(|array| format!("{layer}{array}")));
        let others = ["input.centres", "input.factors", "partition.train", "partition.validation"].map(String::from);
        let found = names.chain(others).filter_map(|name| {
            let tensor = file.tensor(&name).ok()?;
            Some((name, tensor.dtype(), tensor.shape().to_vec(), tensor.data().to_vec()))
        });
        let tensors: Vec<_> = found.collect();
        assert_eq!(tensors.len(), file.len(), "a tensor without a place in the hash");
        Self { metadata, tensors }
    }

    /// The bytes of a tensor.
    pub fn tensor(&mut self, name: &str) -> &mut Vec<u8> {
        &mut self.tensors.iter_mut().find(|tensor| tensor.0 == name).unwrap_or_else(|| panic!("no {name}")).3
    }

    /// The words of a tensor of indices.
    pub fn indices(&mut self, name: &str) -> Vec<u32> {
        self.tensor(name).chunks(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect()
    }

    /// The numbers of a tensor of floats.
    pub fn floats(&mut self, name: &str) -> Vec<f32> {
        self.tensor(name).chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
    }

    /// Sets one word of a tensor.
    pub fn set(&mut self, name: &str, place: usize, word: [u8; 4]) {
        self.tensor(name)[4 * place..4 * place + 4].copy_from_slice(&word);
    }

    /// The file, with a valid SHA-256.
    pub fn sign(mut self) -> Vec<u8> {
        self.metadata["sha256"] = "".into();
        let mut hash = Sha256::new();
        hash.update(canonical_json(&self.metadata));
        self.tensors.iter().for_each(|tensor| hash.update(&tensor.3));
        self.metadata["sha256"] = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<String>().into();
        let metadata = [("isinglass".to_string(), canonical_json(&self.metadata))].into();
        let views = self.tensors.iter().map(|(name, dtype, shape, data)| (name, TensorView::new(*dtype, shape.clone(), data).unwrap()));
        safetensors::serialize(views, Some(metadata)).unwrap()
    }
}
