//! The contents of files, decompressed if they are compressed. What a file starts with decides, not its name.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use sha2::{Digest, Sha256};

use crate::Error;

/// What a gzip stream starts with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Opens a file for reading its contents.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>, Error> {
    let mut file = BufReader::with_capacity(1 << 16, File::open(path).map_err(Error::Read)?);
    let start = file.fill_buf().map_err(Error::Read)?;
    if start.starts_with(&GZIP) { Ok(Box::new(BufReader::new(MultiGzDecoder::new(file)))) } else { Ok(Box::new(file)) }
}

/// SHA-256 in hexadecimal of the first `most` bytes of the contents and one more, if there are so many.
///
/// A file of the right length is summed whole, and no file makes this run for ever.
pub(crate) fn sha256(path: &Path, most: u64) -> Result<String, Error> {
    let mut from = open(path)?.take(most.saturating_add(1));
    let mut sum = Sha256::new();
    loop {
        let part = from.fill_buf().map_err(read_error)?;
        if part.is_empty() {
            return Ok(hexadecimal(&sum.finalize()));
        }
        sum.update(part);
        let length = part.len();
        from.consume(length);
    }
}

/// SHA-256 in hexadecimal.
pub fn sha256_of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Damage inside a gzip stream is told apart from trouble with the disk.
pub(crate) fn read_error(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => Error::Gzip(error),
        _ => Error::Read(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_the_standard() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(sha256_of(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
