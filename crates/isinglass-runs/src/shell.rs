//! Commands that people can paste into a shell.

use std::path::Path;

/// A word of a command, quoted where the shell would take it for something else.
///
/// ```
/// use isinglass_runs::shell::word;
///
/// assert_eq!(word("runs/a-1_b.c"), "runs/a-1_b.c");
/// assert_eq!(word("my runs/it's"), r"'my runs/it'\''s'");
/// assert_eq!(word(""), "''");
/// ```
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./,:+@%=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// A path as an argument: never taken for a flag, and the same bytes even if they are not UTF-8 (as bash and zsh spell them).
///
/// ```
/// use isinglass_runs::shell::path;
///
/// assert_eq!(path("my runs/a".as_ref()), "'my runs/a'");
/// assert_eq!(path("-a".as_ref()), "./-a");
/// ```
pub fn path(path: &Path) -> String {
    match path.to_str() {
        Some(text) if text.starts_with('-') => word(&format!("./{text}")),
        Some(text) => word(text),
        None => escaped(path.as_os_str().as_encoded_bytes()),
    }
}

/// `$'…'`, byte by byte where there is no character.
fn escaped(bytes: &[u8]) -> String {
    let mut text = "$'".to_owned();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if matches!(c, '\'' | '\\') {
                text.push('\\');
            }
            text.push(c);
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text + "'"
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    use super::*;

    /// What bash makes of it is what was meant.
    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        for bytes in [
            &b"plain"[..],
            b"two words",
            b"it's \"quoted\"",
            b"~/a",
            b"$HOME/`date`",
            b"a;b&c|d>e<f(g)*?[h]{i}!#",
            b"back\\slash",
            b"new\nline\ttab",
            b"-flag",
            "größe σ".as_bytes(),
            b"caf\xe9 '\\ x",
        ] {
            let expected = Path::new(OsStr::from_bytes(bytes));
            let script = format!("printf %s {}", path(expected));
            let Ok(output) = Command::new("bash").args(["-c", &script]).output() else {
                eprintln!("skipped: there is no bash");
                return;
            };
            let read = output.stdout.strip_prefix(b"./").unwrap_or(&output.stdout);
            assert_eq!(read, bytes, "{script}");
        }
    }
}
