//! Packed files taken apart and put together again.

use isinglass_bits::PackedModel;
use sha2::{Digest, Sha256};

/// The JSON header of a safetensors file, and what follows it.
pub fn parts(bytes: &[u8]) -> (String, Vec<u8>) {
    let end = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    (String::from_utf8(bytes[8..end].to_vec()).unwrap(), bytes[end..].to_vec())
}

pub fn whole(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Takes a file apart, changes it, and gives it the right sum, as somebody would who means harm.
pub fn forged_from(model: &PackedModel, change: impl FnOnce(&mut serde_json::Value, &mut Vec<u8>)) -> Vec<u8> {
    let (header, mut data) = parts(&model.to_bytes());
    let mut header: serde_json::Value = serde_json::from_str(&header).unwrap();
    change(&mut header, &mut data);
    let text = header["__metadata__"]["isinglass-bits"].as_str().unwrap().to_owned();
    let old = text.split("\"sha256\":\"").nth(1).unwrap()[..64].to_owned();
    let mut hash = Sha256::new();
    hash.update(text.replacen(&old, "", 1));
    for name in ["input", "hidden.0", "hidden.1", "hidden.2", "output"] {
        for part in ["centres", "factors", "weights", "thresholds", "bias"] {
            if let Some(range) = header[format!("{name}.{part}")]["data_offsets"].as_array() {
                hash.update(&data[range[0].as_u64().unwrap() as usize..range[1].as_u64().unwrap() as usize]);
            }
        }
    }
    let sum = hex(&hash.finalize());
    header["__metadata__"]["isinglass-bits"] = text.replacen(&old, &sum, 1).into();
    whole(&header.to_string(), &data)
}

/// Changes the metadata's text.
pub fn edit(header: &mut serde_json::Value, from: &str, to: &str) {
    let text = header["__metadata__"]["isinglass-bits"].as_str().unwrap();
    assert!(text.contains(from), "{from} is not in {text}");
    header["__metadata__"]["isinglass-bits"] = text.replacen(from, to, 1).into();
}
