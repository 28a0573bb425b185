//! Commands that can be pasted into a shell.

use std::path::Path;

/// A text as one word of a POSIX shell: as it is if nothing in it has a meaning there, else in single quotes.
///
/// ```
/// use isinglass_runs::shell::quote;
///
/// assert_eq!(quote("runs/a"), "runs/a");
/// assert_eq!(quote("my runs/it's"), r"'my runs/it'\''s'");
/// assert_eq!(quote(""), "''");
/// ```
pub fn quote(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:=+@%^".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) { text.to_owned() } else { always_quote(text) }
}

/// A path as one word of a shell. What is not UTF-8 in it is replaced.
pub fn quote_path(path: &Path) -> String {
    quote(&path.to_string_lossy())
}

/// In single quotes, whatever it is.
pub(crate) fn always_quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
