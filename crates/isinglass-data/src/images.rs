//! Images without labels, for prediction: PNG, `.npy`, IDX or CSV.
//!
//! The first bytes of a file tell its format. A packed network takes bytes, so every value must be a whole number from 0 to 255.
//!
//! ```
//! use isinglass_data::images;
//!
//! // Two images of 1 × 3 pixels.
//! let path = std::env::temp_dir().join(format!("isinglass-images-{}.csv", std::process::id()));
//! std::fs::write(&path, "0,128,255\n1,2,3\n").unwrap();
//! assert_eq!(images::read(&path, (1, 3))?, [0, 128, 255, 1, 2, 3]);
//! # std::fs::remove_file(path).unwrap();
//! # Ok::<(), isinglass_data::Error>(())
//! ```

use std::io::{BufRead, Cursor, Read};
use std::path::Path;

use isinglass_files::number;

use crate::files::{Kind, in_file, kind};
use crate::{Error, Pixels, contents, csv, idx, npy};

/// Bytes from the start of a PNG file to the end of its header: signature, length, name, thirteen bytes of contents and their sum.
const PNG_HEADER: usize = 8 + 4 + 4 + 13 + 4;

/// A byte of a deflate stream unpacks to no more than this.
const MOST_DEFLATED: usize = 1032;

/// Reads images of a height and width, one after the other. A PNG file is one image, or a sheet of images in rows without gaps. Colours become grey values, and transparent pixels black.
///
/// # Errors
///
/// [`Error::File`] with the name of the file and what is wrong with it.
pub fn read(path: &Path, shape: (usize, usize)) -> Result<Vec<u8>, Error> {
    in_file(path, |from| read_contents(from, shape))
}

/// Reads images from the contents of a file, as [`read`] does.
///
/// # Errors
///
/// [`Error`] says what is wrong with them.
pub fn read_from(file: impl BufRead, shape: (usize, usize)) -> Result<Vec<u8>, Error> {
    read_contents(&mut *contents::unpacked(file)?, shape)
}

fn read_contents(from: &mut dyn BufRead, shape: (usize, usize)) -> Result<Vec<u8>, Error> {
    let size = shape.0 * shape.1;
    match kind(from)? {
        Kind::Png => read_png(from, shape),
        Kind::Idx => idx::read_images(from).and_then(|images| fitting(Pixels::Bytes(images.pixels), images.height * images.width, size)),
        Kind::Npy => npy::read_images(from).and_then(|(height, width, pixels)| fitting(pixels, height * width, size)),
        Kind::Other => csv::read_values(from).and_then(|(pixels, fields)| match fields {
            fields if fields == size + 1 => {
                Err(Error::Images(format!("lines of {fields} values, one more than the {size} of an image: remove the labels")))
            }
            fields => fitting(pixels, fields, size),
        }),
    }
}

/// Reads rows of real numbers without labels, one after the other: `.npy`, CSV, or IDX.
///
/// # Errors
///
/// [`Error::File`] with the name of the file and what is wrong with it.
pub fn read_reals(path: &Path, columns: usize) -> Result<Vec<f32>, Error> {
    in_file(path, |from| {
        let (pixels, found) = match kind(from)? {
            Kind::Png => return Err(Error::Images("a PNG file, where the network takes rows of real numbers: give .npy or CSV".into())),
            Kind::Idx => idx::read_images(from).map(|images| (Pixels::Bytes(images.pixels), images.height * images.width))?,
            Kind::Npy => npy::read_images(from).map(|(height, width, pixels)| (pixels, height * width))?,
            Kind::Other => csv::read_values(from)?,
        };
        match pixels {
            _ if found == columns + 1 => Err(Error::Images(format!(
                "rows of {found} values, one more than the {columns} columns of the table: leave the labels out"
            ))),
            _ if found != columns => Err(Error::Images(format!("rows of {found} values: the network takes {columns}"))),
            Pixels::Bytes(bytes) => Ok(bytes.into_iter().map(f32::from).collect()),
            Pixels::Floats(floats) => match floats.iter().position(|value| !value.is_finite()) {
                Some(at) => Err(Error::NotFinite { value: floats[at].to_string(), row: at / columns, column: at % columns }),
                None => Ok(floats),
            },
        }
    })
}

/// The bytes, if the images have the right size and every value is a byte.
fn fitting(pixels: Pixels, found: usize, expected: usize) -> Result<Vec<u8>, Error> {
    if found != expected {
        return Err(Error::Images(format!("images of {found} values: the network takes {expected}")));
    }
    match pixels {
        Pixels::Bytes(bytes) => Ok(bytes),
        Pixels::Floats(floats) => floats.into_iter().enumerate().map(|(at, value)| byte(value, at / expected, at % expected)).collect(),
    }
}

fn byte(value: f32, row: usize, column: usize) -> Result<u8, Error> {
    if value.fract() == 0.0 && (0.0..=255.0).contains(&value) {
        return Ok(value as u8);
    }
    Err(Error::Images(format!(
        "{} in row {row}, column {column}: the network takes grey values, whole numbers from 0 to 255",
        number(value)
    )))
}

fn read_png(from: &mut dyn BufRead, (height, width): (usize, usize)) -> Result<Vec<u8>, Error> {
    let damaged = |error: &dyn std::fmt::Display| Error::Images(format!("a damaged PNG file ({error})"));
    let mut file = Vec::new();
    from.take(PNG_HEADER as u64).read_to_end(&mut file).map_err(contents::read_error)?;
    let (rows, columns) = size_of_png(&file).ok_or_else(|| damaged(&"its header is missing"))?;
    if !rows.is_multiple_of(height) || !columns.is_multiple_of(width) {
        return Err(Error::Images(format!(
            "a picture of {rows} × {columns} pixels: the network takes images of {height} × {width}, one or a sheet of them without gaps"
        )));
    }
    // Pixels have eight bytes at most, rows one more, and there may be text and colour profiles beside them.
    let most = (rows as u64).saturating_mul(8 * columns as u64 + 1).saturating_add(contents::SMALLEST_LIMIT).min(contents::LARGEST_LIMIT);
    from.take(most).read_to_end(&mut file).map_err(contents::read_error)?;
    let file_length = file.len();
    let limit = contents::limit_of(file_length as u64);
    let mut decoder = png::Decoder::new(Cursor::new(file));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|error| damaged(&error))?;
    // The decoder panics on a palette that ends in the middle of a colour.
    if reader.info().palette.as_ref().is_some_and(|palette| !palette.len().is_multiple_of(3)) {
        return Err(damaged(&"its palette ends in the middle of a colour"));
    }
    if rows.saturating_mul(reader.info().raw_row_length()) / MOST_DEFLATED > file_length {
        return Err(damaged(&format!("{rows} × {columns} pixels do not fit into {file_length} bytes")));
    }
    // A small file can hold any number of pixels if they are all alike.
    let length = reader.output_buffer_size().filter(|&length| length as u64 <= limit).ok_or_else(|| {
        let limit = limit >> 20;
        Error::Images(format!(
            "a picture of {rows} × {columns} pixels unpacks to more than {limit} MiB, the limit for a PNG file of this length: save the images as .npy instead"
        ))
    })?;
    let mut pixels = vec![0; length];
    let frame = reader.next_frame(&mut pixels).map_err(|error| damaged(&error))?;
    let channels = frame.color_type.samples();
    let grey = greyed(pixels, frame.buffer_size() / channels, channels);
    let (across, down) = (columns / width, rows / height);
    let mut images = Vec::with_capacity(grey.len());
    for image in 0..across * down {
        for row in 0..height {
            let start = (image / across * height + row) * columns + image % across * width;
            images.extend(&grey[start..start + width]);
        }
    }
    Ok(images)
}

/// Height and width, by the first bytes of a file.
fn size_of_png(header: &[u8]) -> Option<(usize, usize)> {
    let word = |at: usize| -> Option<usize> { Some(u32::from_be_bytes(header.get(at..at + 4)?.try_into().ok()?) as usize) };
    (header.get(12..16)? == b"IHDR" && header.len() == PNG_HEADER).then_some(())?;
    Some((word(20)?, word(16)?)).filter(|&(rows, columns)| rows > 0 && columns > 0)
}

/// The grey values of the first pixels, in their place.
fn greyed(mut pixels: Vec<u8>, count: usize, channels: usize) -> Vec<u8> {
    if channels > 1 {
        for at in 0..count {
            pixels[at] = grey_value(&pixels[at * channels..][..channels]);
        }
    }
    pixels.truncate(count);
    pixels
}

/// Of one to four channels: grey, grey and opacity, colours, colours and opacity. Colours by their share in brightness (Rec. 601).
fn grey_value(pixel: &[u8]) -> u8 {
    let (grey, opacity) = match *pixel {
        [grey] => (u32::from(grey), 255),
        [grey, opacity] => (u32::from(grey), opacity),
        [red, green, blue, ref rest @ ..] => {
            let weighted = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
            ((weighted + 500) / 1000, rest.first().copied().unwrap_or(255))
        }
        [] => (0, 255),
    };
    ((grey * u32::from(opacity) + 127) / 255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_palette_of_broken_colours_is_refused() {
        // Found by trying damaged files: thirteen bytes of palette.
        let file = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x1c\x00\x00\x00\x08\x08\x03\x00\x00\x00\xdd\x94o+\x00\x00\x00\rPLTE\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\xff\xdc\xf8&\x00\x00\x00\x01sBIT\x01\x9f\xd6\xe3=\x00\x00\x00\x1bIDATx\xda\xed\xc01\x01\x00\x00\x00\xc2\xa0g\xfd3\x1bD(\x00\x00\x00\x00\xb818446+c9\xa173709551616\x9f\xb4L}\xe9\xff\xce\xbb\x00\x00\x00\x00IEND\xaeB`";
        let error = read_png(&mut &file[..], (8, 28)).unwrap_err().to_string();
        assert!(error.contains("damaged PNG"), "{error}");
    }

    fn png(color: png::ColorType, width: u32, height: u32, data: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, width, height);
        encoder.set_color(color);
        encoder.write_header().unwrap().write_image_data(data).unwrap();
        file
    }

    /// The sum that PNG has after every piece.
    fn crc32(bytes: &[u8]) -> u32 {
        let step =
            |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg()));
        !bytes.iter().fold(u32::MAX, step)
    }

    #[test]
    fn a_sheet_is_read_image_by_image() {
        // Three across, two down, of 1 × 2 pixels.
        let file = png(png::ColorType::Grayscale, 6, 2, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(read_png(&mut &file[..], (1, 2)).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(read_png(&mut &file[..], (2, 3)).unwrap(), [0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10, 11]);
        let error = read_png(&mut &file[..], (2, 4)).unwrap_err().to_string();
        assert!(error.contains("2 × 6 pixels") && error.contains("2 × 4"), "{error}");
    }

    #[test]
    fn colours_and_opacity_become_grey() {
        let colours = png(png::ColorType::Rgba, 3, 1, &[255, 255, 255, 255, 255, 255, 255, 0, 255, 0, 0, 255]);
        assert_eq!(read_png(&mut &colours[..], (1, 3)).unwrap(), [255, 0, 76]);
        // A header that claims more than the file can hold.
        let mut huge = png(png::ColorType::Grayscale, 3, 1, &[0; 3]);
        huge[16..24].copy_from_slice(&[0, 0x10, 0, 0, 0, 0x10, 0, 0]);
        let sum = crc32(&huge[12..29]).to_be_bytes();
        huge[29..33].copy_from_slice(&sum);
        assert!(read_png(&mut &huge[..], (1, 1)).unwrap_err().to_string().contains("do not fit"));
        assert!(read_png(&mut &colours[..40], (1, 3)).unwrap_err().to_string().contains("damaged PNG"));
    }

    #[test]
    fn a_picture_is_refused_by_its_header() {
        // However much would follow.
        let start = png(png::ColorType::Grayscale, 6, 2, &[0; 12])[..PNG_HEADER].to_vec();
        let endless = |start: Vec<u8>| std::io::BufReader::new(std::io::Cursor::new(start).chain(std::io::repeat(0)));
        assert!(read_png(&mut endless(start), (2, 4)).unwrap_err().to_string().contains("2 × 6 pixels"));
        assert!(read_png(&mut endless(b"\x89PNG\r\n\x1a\n".to_vec()), (2, 4)).unwrap_err().to_string().contains("damaged PNG"));
    }

    #[test]
    fn values_that_are_not_bytes_are_named() {
        assert_eq!(fitting(Pixels::Floats(vec![0.0, 255.0]), 2, 2).unwrap(), [0, 255]);
        let error = fitting(Pixels::Floats(vec![0.0, 1.0, 2.0, 0.5]), 2, 2).unwrap_err().to_string();
        assert!(error.starts_with("0.5 in row 1, column 1"), "{error}");
        assert!(fitting(Pixels::Bytes(vec![0; 6]), 3, 2).unwrap_err().to_string().contains("images of 3 values"));
    }
}
