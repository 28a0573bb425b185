//! JSON files that notice when they are altered: the last entry is the SHA-256 of everything before it.
//!
//! ```text
//! {"format":2,"cell":"0123456789ab", … ,"checksum":"e3b0c442…"}
//! ```

use serde::Serialize;

const KEY: &str = ",\"checksum\":\"";
const END: &str = "\"}\n";
/// Hexadecimal digits of a checksum.
const DIGITS: usize = 64;

/// An object as a line of JSON, sealed.
pub(crate) fn seal(object: &impl Serialize) -> String {
    let mut text = serde_json::to_string(object).expect("records are JSON");
    debug_assert!(text.ends_with('}') && text.len() > 2, "an object with entries");
    text.pop();
    let checksum = isinglass_data::sha256_of(text.as_bytes());
    text + KEY + &checksum + END
}

/// Whether a seal is there, and holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seal {
    /// The contents are as they were written.
    Whole,
    /// They are not.
    Broken,
    /// There is none: files of older versions have none.
    Missing,
}

/// Looks at the seal of a file.
pub(crate) fn check(bytes: &[u8]) -> Seal {
    let tail = KEY.len() + DIGITS + END.len();
    let Some((body, rest)) = bytes.len().checked_sub(tail).map(|at| bytes.split_at(at)) else { return Seal::Missing };
    let checksum = rest.strip_prefix(KEY.as_bytes()).and_then(|rest| rest.strip_suffix(END.as_bytes()));
    match checksum {
        None => Seal::Missing,
        Some(checksum) if checksum == isinglass_data::sha256_of(body).as_bytes() => Seal::Whole,
        Some(_) => Seal::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_altered_byte_is_noticed() {
        let text = seal(&serde_json::json!({ "format": 2, "accuracy": 0.9375 }));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((value["format"].as_u64(), value["accuracy"].as_f64()), (Some(2), Some(0.9375)));
        assert_eq!(check(text.as_bytes()), Seal::Whole);
        for place in 0..text.len() {
            let mut altered = text.clone().into_bytes();
            altered[place] ^= 1;
            assert_ne!(check(&altered), Seal::Whole, "{place}");
        }
        assert_eq!(check(b"{\"cell\":\"a\"}\n"), Seal::Missing);
        assert_eq!(check(b""), Seal::Missing);
    }
}
