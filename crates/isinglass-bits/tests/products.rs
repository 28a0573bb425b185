//! Layers on their own, against sums spelt out.

use isinglass_bits::{BitMatrix, Error, Isa, PackedLayer, Products};

fn bits(rows: usize, columns: usize, seed: usize) -> BitMatrix {
    BitMatrix::from_fn(rows, columns, |row, column| {
        let mixed = ((row + seed) * 0x9e37_79b9 + column * 0x85eb_ca6b) as u32;
        mixed.wrapping_mul(mixed ^ 0x27d4_eb2f) >> 31 == 1
    })
}

#[test]
fn sums_and_neurons_are_those_spelt_out() {
    for (neurons, inputs, rows) in [(1, 1, 1), (15, 33, 7), (16, 32, 8), (17, 100, 9), (40, 257, 17), (70, 1028, 25)] {
        let (weights, spins) = (bits(neurons, inputs, 1), bits(rows, inputs, 2));
        let sum = |row: usize, neuron: usize| -> i32 {
            (0..inputs).map(|input| i32::from(weights.spin(neuron, input) * spins.spin(row, input))).sum()
        };
        // Some at the sum of the first row itself: the threshold belongs to +1.
        let thresholds: Vec<i32> = (0..neurons).map(|neuron| sum(0, neuron) + neuron as i32 % 3 - 1).collect();
        let expected = BitMatrix::from_fn(rows, neurons, |row, neuron| sum(row, neuron) >= thresholds[neuron]);
        let sums: Vec<i32> =
            (0..rows).flat_map(|row| (0..neurons).map(move |neuron| (row, neuron))).map(|(row, neuron)| sum(row, neuron)).collect();
        let layer = PackedLayer::new(weights.clone(), thresholds).unwrap();
        for isa in Isa::available() {
            let mut products = Products::new(&layer, isa).unwrap();
            let name = isa.name();
            assert_eq!(products.sums(&spins).unwrap(), sums, "{name} {neurons} × {inputs}, {rows} rows");
            assert_eq!(products.clone().neurons(&spins).unwrap(), expected, "{name} {neurons} × {inputs}, {rows} rows");
        }
    }
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let layer = PackedLayer::new(bits(3, 10, 1), vec![0; 3]).unwrap();
    let mut products = Products::new(&layer, Isa::best()).unwrap();
    assert!(matches!(PackedLayer::new(bits(3, 10, 1), vec![0; 2]), Err(Error::Shape(_))));
    assert!(matches!(products.sums(&bits(1, 11, 1)), Err(Error::Shape(_))));
    assert!(matches!(products.sums_into(&bits(2, 10, 1), &mut [0; 5]), Err(Error::Shape(_))));
    assert!(matches!(products.neurons_into(&bits(2, 10, 1), &mut bits(2, 4, 1)), Err(Error::Shape(_))));
}
