//! The contents of files, unpacked if they are gzipped. The first bytes of a file decide, not its name.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use isinglass_files::hex;
use sha2::{Digest, Sha256};

use crate::Error;

/// What a gzip stream starts with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Compressed files unpack to at most this multiple of their length, or to [`SMALLEST_LIMIT`] if that is more. Images compress to about a tenth, but deflate can
/// reach a thousandth: a small file could fill the memory.
pub(crate) const MOST_TIMES: u64 = 100;
/// Any file may unpack to this many bytes; see [`MOST_TIMES`].
pub(crate) const SMALLEST_LIMIT: u64 = 64 << 20;
/// No compressed file may unpack to more than this many bytes. Its values can take a few times as much memory.
pub(crate) const LARGEST_LIMIT: u64 = 1 << 30;

/// Opens a file for reading its contents.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead>, Error> {
    unpacked(BufReader::with_capacity(1 << 16, isinglass_files::open(path).map_err(Error::Read)?))
}

/// Whether a file is gzipped.
pub(crate) fn is_packed(path: &Path) -> Result<bool, Error> {
    let mut start = Vec::new();
    isinglass_files::open(path).and_then(|file| file.take(2).read_to_end(&mut start)).map_err(Error::Read)?;
    Ok(start == GZIP)
}

/// The contents of a file.
pub(crate) fn unpacked<'a>(mut file: impl BufRead + 'a) -> Result<Box<dyn BufRead + 'a>, Error> {
    let start = file.fill_buf().map_err(Error::Read)?;
    if start.starts_with(&GZIP) { Ok(Box::new(BufReader::new(Limited::new(file)))) } else { Ok(Box::new(file)) }
}

/// Unpacks as much as [`MOST_TIMES`] allows; more is an error.
struct Limited<R> {
    from: MultiGzDecoder<Counted<R>>,
    unpacked: u64,
}

impl<R: BufRead> Limited<R> {
    fn new(file: R) -> Self {
        Self { from: MultiGzDecoder::new(Counted { from: file, count: 0 }), unpacked: 0 }
    }
}

impl<R: BufRead> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(buffer)?;
        self.unpacked += length as u64;
        let limit = limit_of(self.from.get_ref().count);
        if self.unpacked > limit { Err(io::Error::new(io::ErrorKind::FileTooLarge, TooLarge(limit))) } else { Ok(length) }
    }
}

/// What may be unpacked from `length` bytes.
pub(crate) fn limit_of(length: u64) -> u64 {
    length.saturating_mul(MOST_TIMES).clamp(SMALLEST_LIMIT, LARGEST_LIMIT)
}

/// The limit, inside an error of the standard library.
#[derive(Debug)]
struct TooLarge(u64);

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Error::Unpacked { limit: self.0 }.fmt(f)
    }
}

impl std::error::Error for TooLarge {}

/// Counts the bytes that were read.
struct Counted<R> {
    from: R,
    count: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(buffer)?;
        self.count += length as u64;
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.from.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        self.count += length as u64;
        self.from.consume(length);
    }
}

/// SHA-256 in hexadecimal of the contents, or of their first `most + 1` bytes if they are longer.
///
/// So a file of `most` bytes is summed in full, and no file makes this run forever.
pub(crate) fn sha256(path: &Path, most: u64) -> Result<String, Error> {
    let mut from = open(path)?.take(most.saturating_add(1));
    let mut sum = Sha256::new();
    loop {
        let part = from.fill_buf().map_err(read_error)?;
        if part.is_empty() {
            return Ok(hex(&sum.finalize()));
        }
        sum.update(part);
        let length = part.len();
        from.consume(length);
    }
}

/// SHA-256 in hexadecimal.
pub fn sha256_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Distinguishes damage inside a gzip stream from trouble with the disk.
pub(crate) fn read_error(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::FileTooLarge => match error.get_ref().and_then(|inner| inner.downcast_ref()) {
            Some(&TooLarge(limit)) => Error::Unpacked { limit },
            None => Error::Read(error),
        },
        io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => Error::Gzip(error),
        _ => Error::Read(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn zeros(length: u64) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        io::copy(&mut io::repeat(0).take(length), &mut packed).unwrap();
        packed.finish().unwrap()
    }

    #[test]
    fn small_files_do_not_unpack_to_large_ones() {
        let length = |packed: &[u8]| -> Result<u64, Error> { io::copy(&mut unpacked(packed)?, &mut io::sink()).map_err(read_error) };
        assert_eq!(length(&zeros(SMALLEST_LIMIT)).unwrap(), SMALLEST_LIMIT);
        let error = length(&zeros(SMALLEST_LIMIT + 1)).unwrap_err().to_string();
        assert!(error.contains("64 MiB") && error.contains("gunzip"), "{error}");
        // Files of an ordinary ratio may be of any size; here one behind the other.
        let mut random = vec![0; 1 << 20];
        random.iter_mut().fold(1u32, |state, byte| {
            *byte = (state >> 24) as u8;
            state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
        });
        let mut packed = GzEncoder::new(zeros(SMALLEST_LIMIT), Compression::fast());
        packed.write_all(&random).unwrap();
        assert!(length(&packed.finish().unwrap()).is_err(), "at that point most of it is zeros");
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(&random).unwrap();
        let both = [packed.finish().unwrap(), zeros(SMALLEST_LIMIT)].concat();
        assert_eq!(length(&both).unwrap(), SMALLEST_LIMIT + (1 << 20));
    }

    #[test]
    fn large_files_do_not_fill_the_memory() {
        // Counted while it is unpacked, so a long file is refused as soon as it has reached the limit.
        assert_eq!([0, 1 << 20, 23 << 20, u64::MAX].map(limit_of), [64 << 20, 100 << 20, 1 << 30, 1 << 30]);
    }

    #[test]
    fn the_sum_is_that_of_the_standard() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(sha256_of(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
