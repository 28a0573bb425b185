//! Writes the generated digits as four IDX files under MNIST's names, for programs that read those.

use std::error::Error;
use std::fs::{self, File};
use std::path::PathBuf;

use isinglass_data::{Pixels, digits, idx};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args().nth(1).ok_or("usage: digits_to_idx DIR")?);
    fs::create_dir_all(&directory)?;
    let start = std::time::Instant::now();
    let data = digits::dataset();
    eprintln!("{} images drawn in {:.2} s", data.train.len() + data.test.len(), start.elapsed().as_secs_f64());
    for (name, split) in [("train", &data.train), ("t10k", &data.test)] {
        let Pixels::Bytes(bytes) = split.pixels() else { unreachable!("digits are bytes") };
        idx::write_images(File::create(directory.join(format!("{name}-images-idx3-ubyte")))?, digits::SIDE, digits::SIDE, bytes)?;
        idx::write_labels(File::create(directory.join(format!("{name}-labels-idx1-ubyte")))?, split.labels())?;
    }
    Ok(())
}
