//! Bytes as text.

use alloc::string::String;

/// The bytes in lower-case hexadecimal.
///
/// ```
/// assert_eq!(isinglass_files::hex(&[0x00, 0x7f, 0xff]), "007fff");
/// ```
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}
