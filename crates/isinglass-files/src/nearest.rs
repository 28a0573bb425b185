//! Which name a misspelt one stands for.

use alloc::string::String;
use alloc::vec::Vec;

/// The name that a misspelt word most likely stands for: at most a third of its letters are wrong, missing, superfluous or swapped with their neighbour. Of equally near ones the one that begins like the word, then the first.
///
/// ```
/// use isinglass_files::nearest;
///
/// assert_eq!(nearest("dept", ["data", "depth", "width"]), Some("depth"));
/// assert_eq!(nearest("frobnicate", ["data", "depth", "width"]), None);
/// ```
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = letters(word);
    let near = names.into_iter().filter_map(|name| {
        let letters = letters(name);
        let length = word.len().max(letters.len());
        let distance = distance(&word, &letters);
        let shared = word.iter().zip(&letters).take_while(|(a, b)| a == b).count();
        (distance <= (length / 3).max(1) && distance < length).then_some((distance, usize::MAX - shared, name))
    });
    near.min_by_key(|(distance, unshared, _)| (*distance, *unshared)).map(|(.., name)| name)
}

/// ` (did you mean depth?)`, or nothing if no name is near.
///
/// ```
/// assert_eq!(isinglass_files::did_you_mean("mnsit", ["digits", "mnist"]), " (did you mean mnist?)");
/// assert_eq!(isinglass_files::did_you_mean("imagenet", ["digits", "mnist"]), "");
/// ```
pub fn did_you_mean<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, names).map(|name| alloc::format!(" (did you mean {name}?)")).unwrap_or_default()
}

/// Capitals, and what joins words, are not what tells names apart.
fn letters(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).map(|c| if c == '_' || c == ' ' { '-' } else { c }).collect()
}

/// How many letters must be changed, left out, inserted or swapped with their neighbour (the distance of Damerau and Levenshtein, each letter touched once).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i);
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = core::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_one_counts() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("depth", "depth", 0),
            ("dept", "depth", 1),
            ("detph", "depth", 1),
            ("width", "depth", 3),
            ("kitten", "sitting", 3),
            ("ca", "abc", 3),
        ] {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            assert_eq!((distance(&chars(a), &chars(b)), distance(&chars(b), &chars(a))), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn spelling_and_capitals_do_not_matter_but_other_words_do() {
        let names = ["train-fraction", "depth", "lr", "seed"];
        for (word, name) in
            [("train_fraction", "train-fraction"), ("Depth", "depth"), ("LR", "lr"), ("sede", "seed"), ("trainfraction", "train-fraction")]
        {
            assert_eq!(nearest(word, names), Some(name), "{word}");
        }
        assert_eq!(nearest("of", ["auto", "on", "off"]), Some("off"));
        for word in ["", "x", "batch", "learning-rate"] {
            assert_eq!(nearest(word, names), None, "{word}");
        }
    }
}
