//! The rasteriser against a complete one: `tests/snapshots/*.png` were drawn from the SVG files beside them by resvg, a renderer of all of SVG, with DejaVu Sans
//! (`sheet.png` with `--zoom 2`):
//!
//! `sed 's/<text /<text style="font-kerning:none" /g' NAME.svg | resvg --skip-system-fonts --use-font-file DejaVuSans.ttf - NAME.png`

mod figures;

use std::{fs, path::PathBuf};

fn pixels(png: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let channels = info.color_type.samples();
    (info.width, info.height, pixels.chunks(channels).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect())
}

/// Edges may differ by rounding, and the hatching by how it is sampled; nothing may be missing, moved or of another colour.
#[track_caller]
fn assert_alike(name: &str, png: &[u8]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(format!("{name}.png"));
    let (width, height, drawn) = pixels(png);
    let (want_width, want_height, want) = pixels(&fs::read(path).unwrap());
    assert_eq!((width, height), (want_width, want_height));
    let differences: Vec<u8> = drawn.iter().zip(&want).map(|(a, b)| a.abs_diff(*b)).collect();
    let mean = differences.iter().map(|d| f64::from(*d)).sum::<f64>() / differences.len() as f64;
    let largest = differences.iter().max().unwrap();
    let place = differences.iter().position(|d| d == largest).unwrap() / 3;
    let place = (place % width as usize, place / width as usize);
    eprintln!("{name}: mean difference {mean:.4} of 255, largest {largest} at {place:?}");
    assert!(mean < 0.15 && *largest <= 30, "{name}: mean difference {mean:.4} of 255, largest {largest} at {place:?}");
}

#[test]
fn a_line_with_a_band() {
    assert_alike("line-with-band", &figures::line_with_band().to_png(1.0).unwrap());
}

#[test]
fn a_heat_map_over_lists() {
    assert_alike("map-over-lists", &figures::map_over_lists().to_png(1.0).unwrap());
}

#[test]
fn one_of_everything() {
    assert_alike("everything", &figures::everything().to_png(1.0).unwrap());
}

#[test]
fn a_sheet_of_images() {
    assert_alike("sheet", &figures::sheet().to_png(2.0).unwrap());
}
