//! Base64 (RFC 4648), for images and digests inside texts.

/// The bytes as text.
pub fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        for i in 0..4 {
            let digit = (word >> (18 - 6 * i)) & 63;
            out.push(if i <= chunk.len() { char::from(DIGITS[digit as usize]) } else { '=' });
        }
    }
    out
}

/// The bytes of a text that [`encode`] has written; `None` for any other.
#[cfg(feature = "png")]
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (groups, []) = text.as_bytes().as_chunks::<4>() else { return None };
    let mut out = Vec::with_capacity(3 * groups.len());
    for group in groups {
        let padding = group.iter().rev().take_while(|c| **c == b'=').count();
        if padding > 2 {
            return None;
        }
        let digits = &group[..4 - padding];
        let word = digits.iter().try_fold(0_u32, |word, c| Some(word << 6 | u32::from(digit(*c)?)))? << (6 * padding);
        out.extend_from_slice(&word.to_be_bytes()[1..4 - padding]);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_reference_vectors() {
        for (bytes, want) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foobar", "Zm9vYmFy")] {
            assert_eq!(encode(bytes.as_bytes()), want);
            #[cfg(feature = "png")]
            assert_eq!(decode(want).unwrap(), bytes.as_bytes());
        }
    }

    #[cfg(feature = "png")]
    #[test]
    fn every_byte_comes_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        for length in 0..=256 {
            assert_eq!(decode(&encode(&bytes[..length])).unwrap(), &bytes[..length]);
        }
        for other in ["A", "AAA", "A===", "====", "AA A", "=AAA"] {
            assert!(decode(other).is_none(), "{other}");
        }
    }
}
