//! The marks by which files of charts are recognised.

use super::Format;

/// At the beginning of every SVG.
pub(crate) const SVG_MARK: &str = "<!-- Made by isinglass -->";

/// The chunk `Software` of a PNG, from its type on.
const PNG_MARK: &[u8] = b"tEXtSoftware\0isinglass";

const PNG_SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Whether the first bytes of a file, a few hundred suffice, are those of a chart of this format that isinglass has drawn.
///
/// ```
/// use isinglass_chart::{Figure, Format, is_ours};
///
/// let svg = Figure::new().to_svg()?;
/// assert!(is_ours(Format::Svg, svg.as_bytes()) && !is_ours(Format::Png, svg.as_bytes()));
/// assert!(!is_ours(Format::Svg, b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>"));
/// # Ok::<(), isinglass_chart::ChartError>(())
/// ```
pub fn is_ours(format: Format, head: &[u8]) -> bool {
    let (start, mark) = match format {
        Format::Svg => (b"<svg ".as_slice(), SVG_MARK.as_bytes()),
        Format::Png => (PNG_SIGNATURE, PNG_MARK),
    };
    head.starts_with(start) && head.windows(mark.len()).take(1024).any(|window| window == mark)
}
