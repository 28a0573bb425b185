//! Damaged and deceitful files of every format: refused or read, but never with a panic, and never with more memory than the file accounts for.
//!
//! `ISINGLASS_FUZZ=10000000 cargo test --release -p isinglass-data --test fuzz -- --nocapture` tries that many inputs per format.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use isinglass_data::{Split, csv, idx, images, npy};
use isinglass_fuzz::{Allocations, Campaign, Generator};

#[global_allocator]
static ALLOCATIONS: Allocations = Allocations;

/// Deflate unpacks a byte to about a thousand at most.
const DEFLATE: usize = 1032;

fn idx_images() -> Vec<u8> {
    let mut file = Vec::new();
    idx::write_images(&mut file, 4, 5, &[7; 60]).unwrap();
    file
}

fn idx_labels() -> Vec<u8> {
    let mut file = Vec::new();
    idx::write_labels(&mut file, &[0, 1, 2]).unwrap();
    file
}

fn npy_file(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn npy_images() -> [Vec<u8>; 3] {
    let floats: Vec<u8> = (0..60).flat_map(|i| (i as f32 / 7.0).to_le_bytes()).collect();
    let wide: Vec<u8> = (0..60).flat_map(|i| (f64::from(i) * 1e3).to_le_bytes()).collect();
    [npy_file("|u1", "(3, 4, 5)", &[9; 60]), npy_file("<f4", "(3, 20)", &floats), npy_file("<f8", "(3, 4, 5)", &wide)]
}

fn npy_labels() -> [Vec<u8>; 2] {
    [npy_file("<i8", "(3,)", &[1, 0, 2].map(i64::to_le_bytes).concat()), npy_file("|u1", "(3, 1)", &[1, 0, 2])]
}

fn csv_files() -> [Vec<u8>; 3] {
    [b"label,a,b\n0,1,2\n1,3,255\n".to_vec(), b"0,0.5,-1e-3\r\n\r\n7.0,1,2\r\n".to_vec(), "\u{feff}1, 2, 3\n0, 4, 5".into()]
}

fn png_file(color: png::ColorType, depth: png::BitDepth, data: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, 8, 4);
    encoder.set_color(color);
    encoder.set_depth(depth);
    if color == png::ColorType::Indexed {
        encoder.set_palette(vec![0, 0, 0, 255, 255, 255, 9, 9, 9]);
    }
    encoder.write_header().unwrap().write_image_data(data).unwrap();
    file
}

fn png_files() -> Vec<Vec<u8>> {
    use png::{BitDepth, ColorType};
    let sample = |n: usize| (0..n).map(|i| (i * 37) as u8).collect::<Vec<_>>();
    vec![
        png_file(ColorType::Grayscale, BitDepth::Eight, &sample(32)),
        png_file(ColorType::Grayscale, BitDepth::One, &[0x55; 4]),
        png_file(ColorType::GrayscaleAlpha, BitDepth::Sixteen, &sample(128)),
        png_file(ColorType::Rgba, BitDepth::Eight, &sample(128)),
        png_file(ColorType::Indexed, BitDepth::Two, &[0x21; 8]),
    ]
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn idx_files() {
    let grammar = |generator: &mut Generator| {
        let magic = *generator.choose(&[idx::IMAGES, idx::LABELS, 0x0000_0803, 0x0000_0d03, 0x0301_0000]);
        let sizes = [0, 1, 2, 3, 28, 65_536, 65_537, u32::MAX / 2, u32::MAX];
        let mut file = magic.to_be_bytes().to_vec();
        (0..generator.below(5)).for_each(|_| file.extend(generator.choose(&sizes).to_be_bytes()));
        file.resize(file.len() + generator.length(300), 1);
        file
    };
    Campaign::new("idx", [idx_images(), idx_labels()]).grammar(grammar).memory(4, 4096).run(|bytes| {
        if let Ok(images) = idx::read_images(bytes) {
            let mut again = Vec::new();
            idx::write_images(&mut again, images.height, images.width, &images.pixels).unwrap();
            assert_eq!(again, bytes);
        }
        if let Ok(labels) = idx::read_labels(bytes) {
            assert_eq!(labels, bytes[8..]);
        }
    });
}

#[test]
fn npy_files() {
    let grammar = |generator: &mut Generator| {
        let kind = *generator.choose(&["|u1", "<u1", "|i1", "<f4", "<f8", "<i8", "<u2", ">f4", "|O", "<f16", "|b1", "<M8[ns]", "'", ""]);
        let numbers = [
            "0",
            "1",
            "2",
            "60",
            "-1",
            "+1",
            "4294967296",
            "18446744073709551615",
            "99999999999999999999",
            "1.0",
            "",
            " ",
            "3L",
            "\u{663}",
        ];
        let shape: Vec<&str> = (0..generator.below(5)).map(|_| *generator.choose(&numbers)).collect();
        let order = *generator.choose(&["False", "True", "Falsehood", "0", "None"]);
        let quote = *generator.choose(&["'", "\""]);
        let header =
            format!("{{{quote}descr{quote}: {quote}{kind}{quote}, 'fortran_order': {order}, 'shape': ({}), }}\n", shape.join(", "));
        let data = vec![1; generator.length(600)];
        let version = *generator.choose(&[1u8, 1, 2, 3, 4]);
        let length = (header.len() as u32).to_le_bytes();
        [&b"\x93NUMPY"[..], &[version, 0], if version == 1 { &length[..2] } else { &length }, header.as_bytes(), &data].concat()
    };
    let words = ["'descr'", "'shape': (", "'fortran_order': True", "(", ")", ",", "{", "}", "'", "\\", "[("];
    Campaign::new("npy", npy_images().into_iter().chain(npy_labels())).grammar(grammar).words(words).memory(8, 8192).run(|bytes| {
        if let Ok((height, width, _)) = npy::read_images(bytes) {
            assert!(height * width <= bytes.len());
        }
        drop(npy::read_labels(bytes));
    });
}

#[test]
fn csv_tables() {
    let grammar = |generator: &mut Generator| {
        let fields = [
            "0",
            "1",
            "255",
            "256",
            "-1",
            "3.0",
            "0.5",
            "",
            " ",
            "NA",
            "nan",
            "inf",
            "1e39",
            "1e-50",
            "label",
            "\"1\"",
            "\"a,b\"",
            "\u{feff}1",
            "1_000",
            "0x10",
            "٣",
            "\0",
        ];
        let columns = generator.length(40);
        let mut text = String::new();
        for _ in 0..generator.length(40) {
            let columns = if generator.one_in(50) { generator.length(40) } else { columns };
            let common = generator.one_in(3);
            let line: Vec<&str> = (0..columns).map(|_| if common { "7" } else { *generator.choose(&fields) }).collect();
            text += &line.join(*generator.choose(&[",", ",", ",", ", ", ";"]));
            text += *generator.choose(&["\n", "\n", "\r\n", "\n\n", "\r"]);
        }
        text.into_bytes()
    };
    Campaign::new("csv", csv_files()).grammar(grammar).words([",", "\n", "\"", "1e9", "nan", "\r", "\u{feff}"]).memory(24, 4096).run(
        |bytes| {
            if let Ok(split) = csv::read(bytes) {
                assert!(split.len() * split.image_len() <= bytes.len());
            }
            drop(images::read_from(bytes, (1, 2)));
        },
    );
}

/// Puts the sums of a PNG file's chunks right, as far as it has chunks.
fn repair_png(file: &mut [u8]) {
    let mut at = 8;
    while let Some(length) = file.get(at..at + 4) {
        let length = u32::from_be_bytes(length.try_into().unwrap()) as usize;
        let (start, end) = (at + 4, at.saturating_add(8).saturating_add(length));
        let Some(chunk) = file.get(start..end) else { return };
        let mut sum = flate2::Crc::new();
        sum.update(chunk);
        let Some(place) = file.get_mut(end..end + 4) else { return };
        place.copy_from_slice(&sum.sum().to_be_bytes());
        at = end + 4;
    }
}

#[test]
fn png_pictures() {
    let chunk = |kind: &[u8], data: &[u8]| [&(data.len() as u32).to_be_bytes()[..], kind, data, &[0; 4]].concat();
    let grammar = |generator: &mut Generator| {
        let size = |generator: &mut Generator| *generator.choose(&[0, 1, 2, 8, 28, 1000, 65_535, 0x7fff_ffff, u32::MAX]);
        let mut header = [size(generator).to_be_bytes(), size(generator).to_be_bytes()].concat();
        header.extend([*generator.choose(&[1, 2, 4, 8, 16, 3]), *generator.choose(&[0, 2, 3, 4, 6, 1]), 0, 0, generator.below(3) as u8]);
        let mut file = [&b"\x89PNG\r\n\x1a\n"[..], &chunk(b"IHDR", &header)].concat();
        let raw: Vec<u8> = vec![generator.below(6) as u8; generator.length(5000)];
        let mut deflated = flate2::write::ZlibEncoder::new(Vec::new(), Compression::best());
        deflated.write_all(&raw).unwrap();
        let deflated = deflated.finish().unwrap();
        for _ in 0..generator.below(4) {
            let kind: &&[u8; 4] = generator
                .choose(&[b"PLTE", b"tRNS", b"IDAT", b"IDAT", b"zTXt", b"iCCP", b"acTL", b"fcTL", b"fdAT", b"sBIT", b"IEND", b"eXIf"]);
            let data = match *kind {
                b"zTXt" | b"iCCP" => [b"name\0\0", &deflated[..]].concat(),
                b"IDAT" => deflated.clone(),
                _ => vec![1; generator.length(30)],
            };
            file.extend(chunk(*kind, &data));
        }
        file.extend(chunk(b"IDAT", &deflated));
        file.extend(chunk(b"IEND", &[]));
        repair_png(&mut file);
        file
    };
    // The decoder has buffers of its own, and a bit of a picture becomes up to four bytes.
    Campaign::new("png", png_files()).grammar(grammar).repair(repair_png).memory(48 * DEFLATE, 1 << 20).run(|bytes| {
        for shape in [(4, 8), (2, 2), (1, 1)] {
            if let Ok(images) = images::read_from(bytes, shape) {
                assert!(!images.is_empty() && images.len().is_multiple_of(shape.0 * shape.1));
            }
        }
    });
}

#[test]
fn gzipped_files() {
    let all: Vec<Vec<u8>> = npy_images().into_iter().chain(csv_files()).chain([idx_images()]).collect();
    let grammar = |generator: &mut Generator| {
        let mut file = Vec::new();
        for _ in 0..1 + generator.below(3) {
            let length = generator.length(20_000);
            file.extend(if generator.one_in(2) { gzip(&vec![b'1'; length]) } else { gzip(&all[generator.below(all.len())]) });
        }
        file
    };
    let labels = idx_labels();
    Campaign::new("gzip", all.iter().map(|file| gzip(file))).grammar(grammar).memory(24 * DEFLATE, 1 << 18).run(|bytes| {
        drop(Split::read_from(bytes, None::<&[u8]>));
        drop(Split::read_from(bytes, Some(&labels[..])));
        drop(images::read_from(bytes, (4, 5)));
    });
}

/// A gzip stream or a picture of nothing but zeros is as small as a file can be for what it unpacks to.
#[test]
fn bombs_are_refused_before_they_fill_the_memory() {
    let gigabyte = |value: u8| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        (0..1024).for_each(|_| encoder.write_all(&[value; 1 << 20]).unwrap());
        encoder.finish().unwrap()
    };
    // One endless line, one endless file of images.
    let line = gigabyte(b'1');
    let pictures = [&gzip(&[0, 0, 8, 3, 0x40, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1])[..], &gigabyte(0)].concat();
    for file in [line, pictures] {
        assert!(file.len() < 10 << 20);
        let limit = 4 * (100 * file.len()).max(64 << 20);
        let (result, peak) = isinglass_fuzz::peak_of(|| images::read_from(&file[..], (1, 1)));
        let message = result.unwrap_err().to_string();
        assert!(message.contains("MiB") && message.contains("gunzip"), "{message}");
        assert!(peak < limit, "{peak}");
    }
    let mut sheet = Vec::new();
    let mut encoder = png::Encoder::new(&mut sheet, 1 << 14, 1 << 14);
    encoder.set_color(png::ColorType::Rgba);
    let mut writer = encoder.write_header().unwrap();
    let mut stream = writer.stream_writer().unwrap();
    (0..1 << 10).for_each(|_| stream.write_all(&[0; 1 << 20]).unwrap());
    stream.finish().unwrap();
    writer.finish().unwrap();
    let (result, peak) = isinglass_fuzz::peak_of(|| images::read_from(&sheet[..], (1, 1)));
    let message = result.unwrap_err().to_string();
    assert!(message.contains("16384 × 16384 pixels") && message.contains(".npy"), "{message}");
    assert!(peak < 64 << 20, "{peak}");
}
