//! Histograms in a line of text.

/// The most characters a histogram takes.
const WIDTH: usize = 24;

/// Counts as blocks of eight heights, the tallest for the largest. A bin that is not empty is never invisible.
///
/// Neighbouring bins are joined where there are more than a line has room for.
pub fn blocks(counts: &[u64]) -> String {
    const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let joined: Vec<u64> = counts.chunks(counts.len().div_ceil(WIDTH).max(1)).map(|bins| bins.iter().sum()).collect();
    let largest = joined.iter().copied().max().unwrap_or(0);
    let block = |&count: &u64| match count {
        0 => ' ',
        count => HEIGHTS[((8 * count).div_ceil(largest) - 1) as usize],
    };
    format!("│{}│", joined.iter().map(block).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_are_in_proportion_and_nothing_vanishes() {
        assert_eq!(blocks(&[0, 1, 4, 8, 1_000_000]), "│ ▁▁▁█│");
        assert_eq!(blocks(&[8, 7, 6, 5, 4, 3, 2, 1]), "│█▇▆▅▄▃▂▁│");
        assert_eq!(blocks(&[0, 0]), "│  │");
    }

    #[test]
    fn many_bins_are_joined() {
        assert_eq!(blocks(&[1; 48]), format!("│{}│", "█".repeat(24)));
        assert!(blocks(&[1; 1001]).chars().count() <= WIDTH + 2);
    }
}
