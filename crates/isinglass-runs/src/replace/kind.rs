//! Kinds of files, and by what those of isinglass are recognised.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use isinglass_bits::PackedModel;
use isinglass_chart::Format;

/// Every mark is within this many bytes of the beginning.
const HEAD: u64 = 4096;

/// In the description of every export.
const EXPORT_MARK: &[u8] = b"Made by isinglass";

/// In the head of every report.
const PAGE_MARK: &[u8] = b"<meta name=\"generator\" content=\"isinglass\">";

/// A kind of file that users name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A packed network, known by its header.
    Packed,
    /// A packed network as ONNX or C, which says near its beginning who made it.
    Export,
    /// A chart: an SVG with a comment, or a PNG with a chunk, that says who made it.
    Chart(Format),
    /// The page of a report, whose head names its generator.
    Page,
}

impl Kind {
    /// With its article.
    pub fn name(self) -> &'static str {
        match self {
            Self::Packed => "a packed network",
            Self::Export => "an export",
            Self::Chart(_) => "a chart",
            Self::Page => "a report",
        }
    }

    /// Whether the file at `path` is one of this kind that isinglass has made.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub(super) fn is_at(self, path: &Path) -> io::Result<bool> {
        if self == Self::Packed {
            return Ok(PackedModel::is_packed(&fs::read(path)?));
        }
        let mut head = Vec::new();
        File::open(path)?.take(HEAD).read_to_end(&mut head)?;
        let contains = |mark: &[u8]| head.windows(mark.len()).any(|window| window == mark);
        Ok(match self {
            Self::Packed => false,
            // A chart says the same, but begins with a tag.
            Self::Export => contains(EXPORT_MARK) && !head.starts_with(b"<"),
            Self::Chart(format) => isinglass_chart::is_ours(format, &head),
            Self::Page => head.starts_with(b"<!doctype html>") && contains(PAGE_MARK),
        })
    }
}
