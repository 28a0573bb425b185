//! Every kernel of this machine against sums written out, at sizes around those of words, panels and accumulators.

use alloc::vec;
use alloc::vec::Vec;

use super::*;
#[cfg(target_arch = "x86_64")]
use crate::PackedLayer;

/// 1 to 4096 as in layers; 7 936 and more bits overflow 16-bit sums of AVX2 unless they are emptied, 248 bytes and bits those of bytes.
const COLUMNS: [usize; 17] = [1, 3, 31, 32, 33, 63, 64, 65, 248, 257, 501, 784, 1000, 1028, 4096, 65_536, 70_001];
const ROWS: [usize; 6] = [1, 15, 16, 17, 33, 64];
const IMAGES: usize = 3;

/// A generator that is good enough to choose bits.
struct Bits(u64);

impl Bits {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }
}

/// Random matrices, and the two that reach the largest counts.
fn matrices(rows: usize, columns: usize, bits: &mut Bits) -> [BitMatrix; 3] {
    [
        BitMatrix::from_fn(rows, columns, |_, _| bits.next() & 1 == 1),
        BitMatrix::from_fn(rows, columns, |_, _| true),
        BitMatrix::from_fn(rows, columns, |row, _| row % 2 == 0),
    ]
}

fn interleaved(words: usize, word: impl Fn(usize, usize) -> u32) -> Vec<[u32; IMAGES]> {
    (0..words).map(|index| core::array::from_fn(|image| word(image, index))).collect()
}

/// Compares neurons with counts at limits that are reached exactly, just missed, or out of reach.
fn check_neurons(isa: Isa, panels: &SpinPanels, inputs: &[[u32; IMAGES]], counts: &[Counts], rows: usize) {
    let limits: Vec<Counts> = (0..rows.div_ceil(GROUP))
        .map(|group| {
            let limit = |lane: usize| counts[group * IMAGES + lane % IMAGES][lane] - (lane % 2) as i32;
            core::array::from_fn(|lane| if group * GROUP + lane < rows { limit(lane) } else { i32::MIN })
        })
        .collect();
    let mut spins = vec![[u32::MAX; IMAGES]; words_of(rows)];
    let mut working_memory = vec![[0; GROUP]; panels.groups * IMAGES];
    isa.neurons((panels, &limits), inputs, &mut working_memory, &mut spins, &mut Scratch::default());
    for neuron in 0..32 * spins.len() {
        for image in 0..IMAGES {
            let (group, lane) = (neuron / GROUP, neuron % GROUP);
            let expected = neuron < rows && counts[group * IMAGES + image][lane] <= limits[group][lane];
            assert_eq!(
                spins[neuron / 32][image] >> (neuron % 32) & 1 == 1,
                expected,
                "{} neuron {neuron} of {rows}, image {image}",
                isa.name()
            );
        }
    }
}

#[test]
fn differing_spins_are_counted() {
    let mut bits = Bits(1);
    for columns in COLUMNS {
        for rows in if columns > 5000 { &ROWS[3..5] } else { &ROWS[..] } {
            for matrix in matrices(*rows, columns, &mut bits) {
                let images = BitMatrix::from_fn(IMAGES, columns, |image, _| image != 1 && (image == 2 || bits.next() & 1 == 1));
                let byte = |image: usize, index: usize| u32::from(images.row(image).get(index).copied().unwrap_or(0));
                let inputs =
                    interleaved(words_of(columns), |image, word| (0..4).map(|index| byte(image, 4 * word + index) << (8 * index)).sum());
                for isa in Isa::available() {
                    let panels = isa.spin_panels(&matrix);
                    let mut counts = vec![[-1; GROUP]; panels.groups * IMAGES];
                    isa.mismatches(&panels, &inputs, &mut counts, &mut Scratch::default());
                    check_neurons(isa, &panels, &inputs, &counts, *rows);
                    for row in 0..matrix.rows() {
                        for image in 0..IMAGES {
                            let expected = (0..columns).filter(|&column| matrix.spin(row, column) != images.spin(image, column)).count();
                            let found = counts[row / GROUP * IMAGES + image][row % GROUP];
                            assert_eq!(found, expected as i32, "{} {rows}×{columns}, row {row}, image {image}", isa.name());
                        }
                    }
                }
            }
        }
    }
}

/// Compares the sums of weights and bytes of every instruction set with sums written out.
fn check_weighted_bytes<const IMAGES: usize>(matrix: &BitMatrix, images: &[Vec<u8>; IMAGES]) {
    let columns = matrix.columns();
    for isa in Isa::available() {
        let panels = isa.byte_panels(matrix);
        let mut counts = vec![[-1; GROUP]; panels.groups() * IMAGES];
        let (mut arranged, mut scratch) = (Images::<IMAGES>::default(), Scratch::default());
        // What other images left behind does not matter.
        for images in [vec![255; IMAGES * columns], images.concat()] {
            isa.arrange(&images, columns, &mut arranged);
            isa.deficits(&panels, &arranged, &mut counts, &mut scratch);
        }
        for row in 0..matrix.rows() {
            for (image, bytes) in images.iter().enumerate() {
                let sum: i64 = bytes.iter().enumerate().map(|(i, &byte)| i64::from(byte) * i64::from(matrix.spin(row, i))).sum();
                let found = counts[row / GROUP * IMAGES + image][row % GROUP];
                assert_eq!(i64::from(found), -sum, "{} {}×{columns}, row {row}, image {image}", isa.name(), matrix.rows());
            }
        }
    }
}

#[test]
fn weighted_bytes_are_summed() {
    let mut bits = Bits(2);
    for columns in COLUMNS {
        for rows in if columns > 5000 { &ROWS[3..5] } else { &ROWS[..] } {
            for matrix in matrices(*rows, columns, &mut bits) {
                // Black at the beginning and, of seven rounds of 16, in three: in all images, or in all but one byte of one.
                let is_black = |column: usize| columns > 100 && (column < 20 || column / 16 % 7 < 3 && !column.is_multiple_of(97));
                let value = |image: usize, random: u8| if image == 1 { 255 } else { random };
                let images: [Vec<u8>; IMAGES] = core::array::from_fn(|image| {
                    (0..columns).map(|i| if is_black(i) { 0 } else { value(image, bits.next() as u8) }).collect()
                });
                check_weighted_bytes(&matrix, &images);
            }
        }
    }
}

/// Tiles of 1 and of 8 images: black but for a picture in the middle, but for a single byte, and everywhere.
#[test]
fn black_borders_and_black_images_add_nothing() {
    let mut bits = Bits(3);
    for (rows, side) in [(1, 1), (17, 5), (64, 19), (100, 28), (65, 31)] {
        let columns = side * side;
        let matrix = BitMatrix::from_fn(rows, columns, |_, _| bits.next() & 1 == 1);
        let border = side / 5;
        let is_inside = |i: usize| i % side >= border && i % side + border < side && i / side >= border && i / side + border < side;
        let mut image = |is_used: &dyn Fn(usize) -> bool| -> Vec<u8> {
            (0..columns).map(|i| if is_used(i) { bits.next() as u8 | 1 } else { 0 }).collect()
        };
        for place in [0, columns / 2, columns - 1] {
            check_weighted_bytes(&matrix, &[image(&|i| i == place)]);
            let mut tile: [Vec<u8>; 8] = core::array::from_fn(|_| vec![0; columns]);
            tile[place % 8] = image(&|i| i == place);
            check_weighted_bytes(&matrix, &tile);
        }
        check_weighted_bytes(&matrix, &[image(&is_inside)]);
        check_weighted_bytes(&matrix, &core::array::from_fn::<_, 8, _>(|_| image(&is_inside)));
        check_weighted_bytes(&matrix, &[vec![0; columns]]);
        check_weighted_bytes(&matrix, &core::array::from_fn::<_, 8, _>(|_| vec![0; columns]));
    }
}

#[test]
fn counts_become_spins_at_their_limits() {
    let edges = [i32::MIN, -1, 0, 1, i32::MAX];
    let groups = 3;
    let counts: Vec<Counts> = (0..groups * IMAGES).map(|i| core::array::from_fn(|lane| edges[(i + lane) % edges.len()])).collect();
    let limits: Vec<Counts> = (0..groups).map(|i| core::array::from_fn(|lane| edges[(2 * i + 3 * lane) % edges.len()])).collect();
    for isa in Isa::available() {
        let mut spins = [[u32::MAX; IMAGES]; 2];
        isa.compare(&counts, &limits, &mut spins);
        for neuron in 0..2 * 32 {
            for (image, spins) in (0..IMAGES).map(|image| (image, spins[neuron / 32][image])) {
                let (group, lane) = (neuron / GROUP, neuron % GROUP);
                let expected = group < groups && counts[group * IMAGES + image][lane] <= limits[group][lane];
                assert_eq!(spins >> (neuron % 32) & 1 == 1, expected, "{} neuron {neuron} image {image}", isa.name());
            }
        }
    }
}

/// Neurons of a first layer by tiles, at thresholds that are reached exactly, just missed, or out of reach, and black images among the rest.
#[cfg(target_arch = "x86_64")]
#[test]
fn tiles_give_the_neurons_of_bytes() {
    let Some(token) = Amx::detect() else { return };
    const SIDE_BY_SIDE: usize = 8;
    let mut bits = Bits(4);
    for (rows, columns) in [(1, 1), (15, 63), (16, 64), (17, 65), (33, 128), (100, 784), (64, 1000), (40, 70_001)] {
        let counts = if columns > 5000 { [32, 5] } else { [amx::Block::rows_of(columns), 37] };
        let mut block = amx::Block::new(columns);
        let mut spins = vec![[u32::MAX; SIDE_BY_SIDE]; counts[0].div_ceil(SIDE_BY_SIDE) * words_of(rows)];
        for (count, matrix) in counts.into_iter().zip(matrices(rows, columns, &mut bits)) {
            let is_black =
                |image: usize, column: usize| image.is_multiple_of(5) || columns > 300 && !(130..columns - 140).contains(&column);
            let mut byte = |image: usize, column: usize| if is_black(image, column) { 0 } else { bits.next() as u8 };
            let images: Vec<u8> = (0..count * columns).map(|place| byte(place / columns, place % columns)).collect();
            let sum = |neuron: usize, image: usize| -> i64 {
                let bytes = &images[image * columns..][..columns];
                bytes.iter().enumerate().map(|(i, &byte)| i64::from(byte) * i64::from(matrix.spin(neuron, i))).sum()
            };
            // That of one of the images; one more; never; always.
            let threshold = |neuron: usize| match neuron % 4 {
                0 | 1 => sum(neuron, neuron % count) as i32 + (neuron % 4) as i32,
                2 => i32::MAX,
                _ => i32::MIN,
            };
            let layer = PackedLayer::new(matrix.clone(), (0..rows).map(threshold).collect()).unwrap();
            block.fill(&images, columns);
            block.neurons(&amx::Layer::new(token, &layer), count, &mut spins);
            for (image, neuron) in (0..count).flat_map(|image| (0..32 * words_of(rows)).map(move |neuron| (image, neuron))) {
                let word = spins[image / SIDE_BY_SIDE * words_of(rows) + neuron / 32][image % SIDE_BY_SIDE];
                let expected = neuron < rows && sum(neuron, image) >= layer.thresholds()[neuron].into();
                assert_eq!(word >> (neuron % 32) & 1 == 1, expected, "{rows}×{columns}, neuron {neuron}, image {image} of {count}");
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx512_without_the_newer_instructions_falls_back_to_avx2() {
    let Some(token) = Avx512::detect() else { return };
    assert_eq!(Isa::of_avx512(token, None).name(), "avx2");
}

#[test]
fn carried_counts_are_added() {
    for groups in [0, 1, 2, 7] {
        let carried: Vec<Counts> = (0..groups).map(|group| core::array::from_fn(|lane| 1000 * group + lane as i32)).collect();
        for isa in Isa::available() {
            let mut counts: Vec<Counts> =
                (0..groups).map(|group| core::array::from_fn(|lane| i32::MAX - 2000 * group - lane as i32)).collect();
            isa.carry(&mut counts, &carried);
            let expected: Vec<Counts> = (0..groups).map(|group| [i32::MAX - 1000 * group; GROUP]).collect();
            assert_eq!(counts, expected, "{}, {groups} groups", isa.name());
        }
    }
}
