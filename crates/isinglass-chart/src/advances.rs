//! How far the pen moves for each character of DejaVu Sans.
//!
//! The numbers are in a table of their own, `advances/table.rs`, so that text is measured alike with and without the font at hand. A test compares it with the font;
//! `ISINGLASS_BLESS=1 cargo test -p isinglass-chart --lib advances` writes it anew.

mod table;

use table::{ADVANCES, UNITS_PER_EM};

/// The advance of a character in units of the text size; `None` if the font has no glyph for it.
pub(crate) fn advance(c: char) -> Option<f64> {
    let c = u32::from(c);
    let block = ADVANCES.partition_point(|(first, _)| *first <= c).checked_sub(1)?;
    let (first, advances) = ADVANCES[block];
    advances.get((c - first) as usize).map(|advance| f64::from(*advance) / UNITS_PER_EM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_dejavu_sans() {
        for (characters, units) in [("0123456789", 1303.0), ("W", 2025.0), ("i", 569.0), (" ", 651.0), ("\u{301}", 0.0)] {
            assert!(characters.chars().all(|c| advance(c) == Some(units / 2048.0)), "{characters}");
        }
        for missing in ['\0', '\u{1f}', '\u{7f}', '漢', char::MAX] {
            assert_eq!(advance(missing), None, "{missing:?}");
        }
    }

    #[test]
    fn every_symbol_in_use_is_there() {
        assert!("σχξγαδℓρ²⁻³≤≥→−×∞√′±…".chars().all(|c| advance(c).is_some_and(|advance| advance > 0.0)));
    }

    #[cfg(feature = "png")]
    #[test]
    fn the_table_is_the_fonts() {
        use std::fmt::Write;

        let mut characters = crate::raster::font::advances();
        characters.sort_unstable();
        let mut blocks: Vec<(u32, Vec<u16>)> = Vec::new();
        for (character, advance) in characters {
            match blocks.last_mut() {
                Some((first, advances)) if *first + advances.len() as u32 == character => advances.push(advance),
                _ => blocks.push((character, vec![advance])),
            }
        }
        if std::env::var_os("ISINGLASS_BLESS").is_some() {
            let mut text = String::from(
                "//! Made by the test in `advances.rs` from DejaVu Sans 2.37.\n\n/// Units of the advances to the size of the text.\n\
                 pub(super) const UNITS_PER_EM: f64 = 2048.0;\n\n/// The first character of each run of characters, and their advances.\n\
                 #[rustfmt::skip]\npub(super) const ADVANCES: &[(u32, &[u16])] = &[\n",
            );
            for (first, advances) in &blocks {
                write!(text, "    ({first:#06x}, &[").unwrap();
                let mut column = 20;
                for (index, advance) in advances.iter().enumerate() {
                    let number = format!("{}{advance}", if index > 0 { ", " } else { "" });
                    column += number.len();
                    if column > 250 {
                        text += ",\n        ";
                        column = 8;
                        write!(text, "{advance}").unwrap();
                    } else {
                        text += &number;
                    }
                }
                text += "]),\n";
            }
            text += "];\n";
            std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/advances/table.rs"), text).unwrap();
            return;
        }
        assert_eq!(blocks.len(), ADVANCES.len());
        for ((first, advances), (want_first, want)) in ADVANCES.iter().zip(&blocks) {
            assert_eq!((first, *advances), (want_first, want.as_slice()), "{first:#x}");
        }
    }
}
