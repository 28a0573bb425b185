//! Ways to damage a file.

use crate::Generator;

/// Longer inputs are cut: a reader that fails on them fails on shorter ones.
const LONGEST: usize = 1 << 16;

/// Numbers at which arithmetic goes wrong.
const EXTREMES: [u64; 16] =
    [0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 32, i64::MAX as u64, u64::MAX];

/// Numbers, as text.
const NUMBERS: [&str; 18] = [
    "0",
    "-0",
    "1",
    "-1",
    "255",
    "256",
    "65536",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e999",
    "-1e999",
    "nan",
    "inf",
    "0.1",
    "1e-400",
];

/// Damages `bytes` in a few places. `others` are valid files to take pieces from, `words` what the format is made of.
pub fn mutate(generator: &mut Generator, bytes: &[u8], others: &[Vec<u8>], words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + generator.below(4) {
        mutate_once(generator, &mut bytes, others, words);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn mutate_once(generator: &mut Generator, bytes: &mut Vec<u8>, others: &[Vec<u8>], words: &[&[u8]]) {
    // Most of what a reader decides, it decides at the beginning.
    let position = |generator: &mut Generator, length: usize| {
        let end = if generator.one_in(2) { length.min(64) } else { length };
        generator.below(end)
    };
    match generator.below(12) {
        0 if !bytes.is_empty() => {
            let at = position(generator, bytes.len());
            bytes[at] ^= 1 << generator.below(8);
        }
        1 if !bytes.is_empty() => {
            let at = position(generator, bytes.len());
            bytes[at] = generator.bits() as u8;
        }
        2 => bytes.truncate(generator.below(bytes.len() + 1)),
        // A byte too few or too many is what off-by-one errors are about.
        3 if generator.one_in(2) => drop(bytes.pop()),
        3 => bytes.push(generator.bits() as u8),
        4 => {
            let at = position(generator, bytes.len() + 1);
            let more: Vec<u8> = (0..generator.length(256)).map(|_| generator.bits() as u8).collect();
            bytes.splice(at..at, more);
        }
        5 => {
            let range = range_of(generator, bytes.len());
            bytes.drain(range);
        }
        6 => {
            let piece = bytes[range_of(generator, bytes.len())].to_vec();
            let at = generator.below(bytes.len() + 1);
            let times = *generator.choose(&[1, 1, 1, 2, 100]);
            bytes.splice(at..at, piece.repeat(times.min(LONGEST / piece.len().max(1))));
        }
        // Lengths, sizes and offsets, of every width and in both orders.
        7 | 8 => {
            let width = *generator.choose(&[1, 2, 4, 8]);
            if bytes.len() >= width {
                let at = position(generator, bytes.len() - width + 1);
                let near = generator.below(5) as u64;
                let value = generator.choose(&EXTREMES).wrapping_add(near).wrapping_sub(2);
                let (little, big) = (value.to_le_bytes(), value.to_be_bytes());
                bytes[at..at + width].copy_from_slice(if generator.one_in(2) { &little[..width] } else { &big[8 - width..] });
            }
        }
        // A number in the text is another number.
        9 => {
            let starts: Vec<usize> =
                (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit() && (at == 0 || !bytes[at - 1].is_ascii_digit())).collect();
            if !starts.is_empty() {
                let start = *generator.choose(&starts);
                let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                bytes.splice(start..start + length, generator.choose(&NUMBERS).bytes());
            }
        }
        10 if !words.is_empty() => {
            let word = generator.choose(words).to_vec();
            let at = position(generator, bytes.len() + 1);
            let end = if generator.one_in(2) { at } else { (at + word.len()).min(bytes.len()) };
            bytes.splice(at..end, word);
        }
        _ if !others.is_empty() => {
            let other = generator.choose(others);
            let piece = &other[range_of(generator, other.len())];
            let range = range_of(generator, bytes.len());
            bytes.splice(range, piece.iter().copied());
        }
        _ => bytes.clear(),
    }
}

fn range_of(generator: &mut Generator, length: usize) -> std::ops::Range<usize> {
    let start = generator.below(length + 1);
    start..start + generator.length(length - start).min(length - start)
}
