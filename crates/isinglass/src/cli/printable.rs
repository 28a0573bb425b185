//! Text from files, made safe to show on a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The same for text of several lines.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\n' || c == '\t')
}

/// Text as it can be shown on a terminal: control characters, which could move the cursor, change colours or rename the window, and those that turn the
/// direction of writing, are escaped.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

fn escaped(text: &str, kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_harmful = |c: char| !kept(c) && (c.is_control() || turns_direction(c));
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_harmful(c) {
            let _ = write!(safe, "{}", c.escape_default());
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

/// The explicit marks, embeddings, overrides and isolates of bidirectional text, and the separators of lines and paragraphs.
fn turns_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped_and_words_are_not() {
        assert_eq!(printable("σ_m² = 0.5 — größer × 漢字 🙂"), "σ_m² = 0.5 — größer × 漢字 🙂");
        assert_eq!(printable("a\u{1b}]0;b\u{7}c\nd\u{9b}31m"), "a\\u{1b}]0;b\\u{7}c\\nd\\u{9b}31m");
        assert_eq!(printable("\u{202e}txt.exe"), "\\u{202e}txt.exe");
    }
}
