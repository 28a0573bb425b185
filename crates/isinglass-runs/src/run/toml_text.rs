//! TOML as users write it: errors in one sentence, and no nesting that a small stack could not take.

use isinglass_files::nearest;
use serde::de::DeserializeOwned;

/// Levels of lists and tables, or names in a dotted key. Settings and grids have three at most.
const DEEPEST: usize = 16;

/// Reads settings or tables.
///
/// # Errors
///
/// A sentence that names what is wrong, and the line.
pub(crate) fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    if let Some(line) = too_deep(text) {
        return Err(format!("line {line}: lists or tables nested more than {DEEPEST} deep"));
    }
    toml::from_str(text).map_err(|error| one_sentence(text, &error))
}

/// An error of TOML's in one line. For an unknown key it says which was meant, or else which there are.
pub(crate) fn in_plain_words(error: &toml::de::Error) -> String {
    // Where there is no place in a text to point at, TOML names the key.
    let message = if error.span().is_some() { error.message().to_owned() } else { error.to_string() };
    let message = message.trim_end().lines().collect::<Vec<_>>().join(", ");
    let Some(rest) = message.strip_prefix("unknown field `") else { return message };
    // unknown field `dept`, expected one of `data`, `depth`, …
    let mut names = rest.split('`').step_by(2);
    let key = names.next().unwrap_or_default();
    let known: Vec<&str> = names.filter(|name| *name != key).collect();
    match nearest(key, known.iter().copied()) {
        Some(name) => format!("unknown key `{key}`; did you mean `{name}`?"),
        None => format!("unknown key `{key}`; the keys are {}", known.join(", ")),
    }
}

/// TOML's account of an error takes several lines and repeats the text.
fn one_sentence(text: &str, error: &toml::de::Error) -> String {
    let message = in_plain_words(error);
    match error.span() {
        Some(span) => format!("line {}: {message}", 1 + text[..span.start].matches('\n').count()),
        None => message,
    }
}

/// The line in which nesting goes too far, outside strings and comments. The parser has limits of its own, but recurses without one on some faulty input (`{]{]…`), so each kind of bracket is
/// counted by itself.
fn too_deep(text: &str) -> Option<usize> {
    let (mut line, mut square, mut curly, mut dots) = (1, 0usize, 0usize, 0usize);
    // The quote that ends the string, or # in a comment.
    let mut within = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (within, character) {
            (_, '\n') => (line, within, dots) = (line + 1, None, 0),
            (Some('"'), '\\') => drop(characters.next()),
            (Some(quote), character) => within = (quote == '#' || quote != character).then_some(quote),
            (None, '"' | '\'' | '#') => within = Some(character),
            (None, '[') => (square, dots) = (square + 1, 0),
            (None, '{') => (curly, dots) = (curly + 1, 0),
            (None, ']') => square = square.saturating_sub(1),
            (None, '}') => curly = curly.saturating_sub(1),
            (None, '=' | ',') => dots = 0,
            (None, '.') => dots += 1,
            (None, _) => {}
        }
        if square > DEEPEST || curly > DEEPEST || dots > DEEPEST {
            return Some(line);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_nesting_is_refused_before_it_is_parsed() {
        let keys = "a.".repeat(70);
        let tables = format!("{{{keys}b = ").repeat(70);
        let broken = "{".repeat(200_000);
        for text in [
            format!("x = {broken}"),
            format!("x = {}", "[".repeat(100)),
            format!("{keys}a = 1"),
            format!("x = {tables}"),
            format!("[{keys}a]"),
        ] {
            let error = from_toml::<toml::Table>(&format!("a = 1\n{text}\n")).unwrap_err();
            assert_eq!(error, "line 2: lists or tables nested more than 16 deep", "{text:.20}");
        }
    }

    #[test]
    fn unknown_keys_are_answered_with_the_nearest() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        #[allow(dead_code)]
        struct Settings {
            depth: usize,
            width: usize,
        }
        let error = |text: &str| from_toml::<Settings>(text).unwrap_err();
        assert_eq!(error("dept = 3"), "line 1: unknown key `dept`; did you mean `depth`?");
        assert_eq!(error("# a\nfrobnicate = 3"), "line 2: unknown key `frobnicate`; the keys are depth, width");
    }

    #[test]
    fn strings_and_comments_do_not_count() {
        let deep = "[{.".repeat(40);
        let comments = "# width [default: 512]\n".repeat(40);
        let text = format!("{comments}a = \"{deep}\\\"{deep}\" # {deep}\nb = '{deep}'\nc = [[1.5, 2.5], [0.5]]\n");
        assert_eq!(from_toml::<toml::Table>(&text).unwrap().len(), 3);
    }
}
