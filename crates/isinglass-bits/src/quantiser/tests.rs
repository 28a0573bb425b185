use super::*;

/// The rule in 64 bits. Each operation's exact result fits, or is rounded harmlessly (53 ≥ 2·24 + 2), before it is rounded to f32.
fn byte_by_doubles(value: f32, centre: f32, factor: f32) -> u8 {
    let difference = (f64::from(value) - f64::from(centre)) as f32;
    let t = f64::from((f64::from(difference) * f64::from(factor)) as f32);
    if t.is_nan() {
        return 128;
    }
    let t = t.clamp(-128.0, 127.0);
    let below = libm::floor(t);
    let up = match t - below {
        rest if rest > 0.5 => true,
        rest if rest < 0.5 => false,
        _ => below as i32 % 2 != 0,
    };
    (128 + below as i32 + i32::from(up)) as u8
}

fn random_bits(state: &mut u64) -> u32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 32) as u32
}

#[test]
fn ties_go_to_the_even_byte() {
    let quantiser = Quantiser::new(vec![0.0], vec![1.0]).unwrap();
    for (value, byte) in [
        (0.5, 128),
        (1.5, 130),
        (2.5, 130),
        (-0.5, 128),
        (-1.5, 126),
        (-2.5, 126),
        (126.5, 254),
        (126.500_01, 255),
        (127.5, 255),
        (-126.5, 2),
        (-127.5, 0),
        (-127.499_99, 1),
        (-128.5, 0),
        (0.499_999_97, 128),
        (0.500_000_06, 129),
        (0.0, 128),
        (-0.0, 128),
        (1e-45, 128),
        (-1e-40, 128),
        (f32::MAX, 255),
        (f32::MIN, 0),
    ] {
        assert_eq!(quantiser.quantise(&[value]).unwrap(), [byte], "{value:?}");
    }
}

#[test]
fn bytes_are_those_of_doubles_for_numbers_of_every_size() {
    let mut state = 5;
    let (mut between, mut count) = (0, 0);
    while count < 300_000 {
        // Any three floats; and values a few steps from the centre, where bytes differ.
        let [value, centre, factor] = [0; 3].map(|_| f32::from_bits(random_bits(&mut state)));
        let factor = factor.abs();
        let near = centre + (random_bits(&mut state) as f32 / 2f32.powi(24) - 128.0) / factor;
        for value in [value, near] {
            if value.is_finite() && centre.is_finite() && factor.is_finite() {
                let byte = byte_of(value, centre, factor);
                assert_eq!(byte, byte_by_doubles(value, centre, factor), "({value:?} − {centre:?})·{factor:?}");
                between += usize::from(!matches!(byte, 0 | 128 | 255));
                count += 1;
            }
        }
    }
    assert!(between > 50_000, "only {between} of {count} bytes lie between the edges");
}

#[test]
fn a_factor_of_zero_gives_the_middle_even_where_the_difference_overflows() {
    let quantiser = Quantiser::new(vec![f32::MAX], vec![0.0]).unwrap();
    assert_eq!(quantiser.quantise(&[f32::MAX, 0.0, f32::MIN]).unwrap(), [128; 3]);
    let quantiser = Quantiser::new(vec![f32::MAX], vec![1e-37]).unwrap();
    assert_eq!(quantiser.quantise(&[f32::MAX, f32::MIN]).unwrap(), [128, 0]);
}

#[test]
fn impossible_quantisers_are_refused() {
    for (centres, factors) in [
        (vec![], vec![]),
        (vec![0.0], vec![]),
        (vec![0.0], vec![1.0, 1.0]),
        (vec![f32::NAN], vec![1.0]),
        (vec![f32::INFINITY], vec![1.0]),
        (vec![0.0], vec![-1.0]),
        (vec![0.0], vec![f32::INFINITY]),
        (vec![0.0], vec![f32::NAN]),
    ] {
        assert!(Quantiser::new(centres.clone(), factors.clone()).is_err(), "{centres:?}, {factors:?}");
    }
}

#[test]
fn values_that_are_not_finite_are_named() {
    let quantiser = Quantiser::new(vec![0.0; 6], vec![1.0; 6]).unwrap();
    let mut values = [1.0; 24];
    for (value, expected) in
        [(f32::NAN, "missing value (NaN)"), (f32::INFINITY, "infinite value (inf)"), (f32::NEG_INFINITY, "infinite value (-inf)")]
    {
        values[23] = value;
        let expected = format!("{expected} in row 3, column 5");
        assert_eq!(quantiser.quantise(&values).unwrap_err().to_string(), expected);
        // Rows that are not chosen do not matter.
        assert!(Quantiser::table(&values, 6, 0..3).is_ok());
        assert_eq!(Quantiser::table(&values, 6, [1, 3].into_iter()).unwrap_err().to_string(), expected);
        assert_eq!(Quantiser::image(&values, 6, [3, 0].into_iter()).unwrap_err().to_string(), expected);
    }
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let quantiser = Quantiser::new(vec![0.0; 3], vec![1.0; 3]).unwrap();
    assert!(quantiser.quantise(&[0.0; 4]).is_err());
    assert!(quantiser.quantise_into(&[0.0; 3], &mut [0; 2]).is_err());
    assert!(quantiser.quantise(&[]).unwrap().is_empty());
    type Choose = fn(&[f32], usize, core::ops::Range<usize>) -> Result<(Quantiser, Preprocessing), Error>;
    for choose in [Quantiser::table as Choose, Quantiser::image] {
        assert!(choose(&[0.0; 6], 4, 0..1).is_err(), "no whole rows");
        assert!(choose(&[0.0; 6], 0, 0..1).is_err(), "no columns");
        assert!(choose(&[0.0; 6], 3, 0..0).is_err(), "no rows");
        assert!(choose(&[0.0; 6], 3, 1..3).is_err(), "a row too many");
        assert!(choose(&[], 3, 0..1).is_err(), "no values");
    }
}

#[test]
fn columns_of_any_size_are_standardised() {
    // One shape of column at many sizes: 101 values, evenly spaced around an offset.
    let sizes = [(0.0, 1.0), (1e6, 1e3), (-5.0, 1e-6), (1e-30, 1e-33), (0.0, 3e38), (1.0, 1e-5), (0.0, 1e-36)];
    let values: Vec<f32> =
        (-50..=50).flat_map(|step| sizes.map(|(offset, size)| (offset + size * f64::from(step) / 50.0) as f32)).collect();
    let (quantiser, preprocessing) = Quantiser::table(&values, sizes.len(), 0..101).unwrap();
    assert_eq!(preprocessing.offset(), 128.0);
    let bytes = quantiser.quantise(&values).unwrap();
    for column in 0..sizes.len() {
        let inputs: Vec<f64> =
            bytes.iter().skip(column).step_by(sizes.len()).map(|&byte| preprocessing.apply(byte.into()).into()).collect();
        let mean = inputs.iter().sum::<f64>() / 101.0;
        let variance = inputs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 101.0;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "column {column}: mean {mean}, variance {variance}");
    }
}

#[test]
fn constant_columns_have_no_factor() {
    // Constant; 0 and −0; so close that 127/(4σ) overflows; and one that varies in the last digit of a large number.
    let close = f32::from_bits(1);
    let values = [7.0, 0.0, 0.0, 16_777_216.0, 7.0, -0.0, close, 16_777_218.0];
    let (quantiser, _) = Quantiser::table(&values, 4, 0..2).unwrap();
    assert_eq!(quantiser.factors()[..3], [0.0; 3]);
    let bytes = quantiser.quantise(&values).unwrap();
    assert_eq!(bytes[..3], [128; 3]);
    assert_ne!(bytes[3], bytes[7]);
    // Values never seen in training change nothing.
    assert_eq!(quantiser.quantise(&[-1e30, 4.0, 3e38, 16_777_217.0]).unwrap()[..3], [128; 3]);
}

#[test]
fn large_equal_values_are_constant_despite_rounding() {
    // 0.1 is not a sum of few powers of two: sums of many copies round.
    let values = vec![0.1; 3000];
    assert_eq!(Quantiser::table(&values, 3, 0..1000).unwrap().0.factors(), [0.0; 3]);
}

#[test]
fn extreme_tables_stay_in_order() {
    let values = [f32::MIN, f32::MIN, f32::MIN, f32::MAX];
    let (quantiser, _) = Quantiser::table(&values, 1, 0..4).unwrap();
    let bytes = quantiser.quantise(&[f32::MIN, 0.0, f32::MAX]).unwrap();
    assert!(bytes[0] < bytes[1] && bytes[1] < bytes[2], "{bytes:?}");
    let (quantiser, _) = Quantiser::image(&values, 2, 0..2).unwrap();
    assert_eq!(quantiser.quantise(&[f32::MIN, f32::MAX]).unwrap(), [0, 255]);
}

#[test]
fn images_give_back_their_bytes() {
    let bytes: Vec<u8> = (0..=255).rev().collect();
    let expected = Preprocessing::standardising_bytes([&bytes[..]].into_iter());
    let scalings: [fn(u8) -> f32; 5] = [
        |byte| f32::from(byte) / 255.0,
        |byte| f32::from(byte) * (1.0 / 255.0),
        |byte| f32::from(byte),
        |byte| f32::from(byte) / 127.5 - 1.0,
        |byte| (f32::from(byte) / 255.0 - 0.1307) / 0.3081,
    ];
    for (index, scaling) in scalings.into_iter().enumerate() {
        let values: Vec<f32> = bytes.iter().map(|&byte| scaling(byte)).collect();
        let (quantiser, preprocessing) = Quantiser::image(&values, 16, 0..16).unwrap();
        assert_eq!(quantiser.quantise(&values).unwrap(), bytes, "scaling {index}");
        assert_eq!(preprocessing, expected, "scaling {index}");
    }
}

#[test]
fn blank_images_are_defined() {
    for value in [0.0, -0.0, 0.25, 1e-45, f32::MAX] {
        let (quantiser, preprocessing) = Quantiser::image(&[value; 6], 3, 0..2).unwrap();
        assert_eq!(quantiser.quantise(&[value; 3]).unwrap(), [128; 3]);
        assert_eq!(preprocessing, Preprocessing::new(128.0, 1.0).unwrap());
    }
}

#[test]
fn the_order_of_columns_and_the_other_rows_do_not_matter() {
    let values: Vec<f32> = (0..60).map(|index| ((index * 37 % 23) as f32 - 11.0) * 0.3).collect();
    let reversed: Vec<f32> = values.chunks(3).flat_map(|row| row.iter().rev().copied()).collect();
    let (quantiser, _) = Quantiser::table(&values, 3, (0..20).step_by(2)).unwrap();
    let (mirrored, _) = Quantiser::table(&reversed, 3, (0..20).step_by(2)).unwrap();
    assert!(quantiser.factors().iter().eq(mirrored.factors().iter().rev()));
    let chosen: Vec<f32> = values.chunks(3).step_by(2).flatten().copied().collect();
    assert_eq!(Quantiser::table(&chosen, 3, 0..10).unwrap().0, quantiser);
}
