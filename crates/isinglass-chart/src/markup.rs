//! Light mathematical markup: `σ_m^2`, `q_{aa}`, `10^{-3}`.
//!
//! `_` and `^` lower or raise the next character, or the next group in braces.
//! A backslash takes the special meaning from the character after it. What is
//! not complete markup (a trailing `^`, a brace never closed) stays as typed.

/// Where a run of characters stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Base,
    Sub,
    Super,
}

/// Characters that stand on one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) level: Level,
    pub(crate) text: String,
}

/// `text` with everything special escaped, for labels that come from file
/// names or other text that only happens to contain `_` or `^`.
///
/// ```
/// assert_eq!(isinglass_chart::plain("run_1"), "run\\_1");
/// ```
#[must_use]
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '_' | '^' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The characters of marked-up text, all on one line.
pub(crate) fn stripped(markup: &str) -> String {
    parse(markup).into_iter().map(|run| run.text).collect()
}

/// Splits marked-up text into runs.
pub(crate) fn parse(markup: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut rest = markup;
    while let Some(c) = rest.chars().next() {
        let tail = &rest[c.len_utf8()..];
        if let Some((level, text, after)) = script(c, tail) {
            runs.push(Run { level, text });
            rest = after;
            continue;
        }
        match (c, tail.chars().next()) {
            ('\\', Some(next @ ('_' | '^' | '\\'))) => {
                push_base(&mut runs, next);
                rest = &tail[next.len_utf8()..];
            }
            _ => {
                push_base(&mut runs, c);
                rest = tail;
            }
        }
    }
    runs
}

fn push_base(runs: &mut Vec<Run>, c: char) {
    match runs.last_mut() {
        Some(run) if run.level == Level::Base => run.text.push(c),
        _ => runs.push(Run { level: Level::Base, text: c.to_string() }),
    }
}

/// The script that `operator` starts in front of `tail`, and what follows it.
fn script(operator: char, tail: &str) -> Option<(Level, String, &str)> {
    let level = match operator {
        '_' => Level::Sub,
        '^' => Level::Super,
        _ => return None,
    };
    let (text, after) = match tail.strip_prefix('{') {
        Some(group) => group.split_once('}').filter(|(text, _)| !text.is_empty())?,
        None => {
            let first = tail.chars().next().filter(|c| !c.is_whitespace())?;
            tail.split_at(first.len_utf8())
        }
    };
    // A hyphen is too short and too low for a minus sign.
    Some((level, text.replace('-', "−"), after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Level::{Base, Sub, Super};

    fn runs(markup: &str) -> Vec<(Level, String)> {
        parse(markup).into_iter().map(|r| (r.level, r.text)).collect()
    }

    fn expect(markup: &str, want: &[(Level, &str)]) {
        let want: Vec<_> = want.iter().map(|(l, t)| (*l, (*t).to_owned())).collect();
        assert_eq!(runs(markup), want, "{markup}");
    }

    #[test]
    fn scripts_take_one_character_or_a_group() {
        expect("χ_1", &[(Base, "χ"), (Sub, "1")]);
        expect("σ_m^2 = 1", &[(Base, "σ"), (Sub, "m"), (Super, "2"), (Base, " = 1")]);
        expect("q_{aa}b", &[(Base, "q"), (Sub, "aa"), (Base, "b")]);
        expect("10^{-3}", &[(Base, "10"), (Super, "−3")]);
    }

    #[test]
    fn incomplete_markup_stays_as_typed() {
        expect("a_", &[(Base, "a_")]);
        expect("a_ b", &[(Base, "a_ b")]);
        expect("a^{b", &[(Base, "a^{b")]);
        expect("a^{}", &[(Base, "a^{}")]);
        expect("", &[]);
    }

    #[test]
    fn a_backslash_escapes() {
        expect("a\\_b", &[(Base, "a_b")]);
        expect("C:\\x", &[(Base, "C:\\x")]);
        expect(&plain("a_b^c\\_d"), &[(Base, "a_b^c\\_d")]);
    }
}
