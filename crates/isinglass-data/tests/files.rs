//! Data sets in files: your own, and the published ones where present.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use isinglass_data::archive::{ARCHIVES, Archive};
use isinglass_data::{Dataset, Error, Image, Pixels, Split, idx, load};

/// A directory of the test's own, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("isinglass-data-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn images(n: usize) -> Vec<u8> {
    let mut file = Vec::new();
    idx::write_images(&mut file, 2, 2, &(0..4 * n).map(|i| i as u8).collect::<Vec<_>>()).unwrap();
    file
}

fn labels(labels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    idx::write_labels(&mut file, labels).unwrap();
    file
}

/// The bytes of `numpy.save` for a header and data.
fn npy(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

#[test]
fn gzip_is_told_by_content_not_by_name() {
    let scratch = Scratch::new("gzip");
    let plain = Split::read(&scratch.file("a", &images(3)), Some(&scratch.file("b", &labels(&[0, 1, 2])))).unwrap();
    let lying = Split::read(&scratch.file("c", &gzip(&images(3))), Some(&scratch.file("d.gz", &labels(&[0, 1, 2])))).unwrap();
    assert_eq!(plain, lying);
    assert_eq!(plain.image(2), Image::Bytes(&[8, 9, 10, 11]));
}

#[test]
fn idx_npy_and_csv_give_the_same_data() {
    let scratch = Scratch::new("same");
    let pixels: Vec<u8> = (0..8).collect();
    let npy_images = scratch.file("i.npy", &npy("|u1", "(2, 2, 2)", &pixels));
    let npy_labels = scratch.file("l.npy", &npy("<i8", "(2,)", &[1i64.to_le_bytes(), 0i64.to_le_bytes()].concat()));
    let idx = Split::read(&scratch.file("i", &images(2)), Some(&scratch.file("l", &labels(&[1, 0])))).unwrap();
    assert_eq!(Split::read(&npy_images, Some(&npy_labels)).unwrap(), idx);
    let csv = Split::read(&scratch.file("t.csv.gz", &gzip(b"y,a,b,c,d\n1,0,1,2,3\n0,4,5,6,7\n")), None).unwrap();
    assert_eq!((csv.pixels(), csv.labels()), (idx.pixels(), idx.labels()));
    assert_eq!(csv.shape(), (1, 4));
}

#[test]
fn a_set_from_files() {
    let scratch = Scratch::new("set");
    let train = scratch.file("train.csv", b"0,1,2\n1,3,4\n");
    let test = scratch.file("test.csv", b"0,0.5,2\n");
    let data = Dataset::from_files("mine", (&train, None), (&test, None)).unwrap();
    assert_eq!((data.name.as_str(), data.classes), ("mine", 2));
    assert_eq!(data.train.pixels(), &Pixels::Floats(vec![1.0, 2.0, 3.0, 4.0]));
    let unseen = scratch.file("unseen.csv", b"5,1,2\n");
    let message = Dataset::from_files("mine", (&train, None), (&unseen, None)).unwrap_err().to_string();
    assert!(message.ends_with("unseen.csv: label 5 of row 0: labels must be whole numbers from 0 to 1"), "{message}");
}

#[test]
fn what_is_wrong_is_said_with_the_name_of_the_file() {
    let scratch = Scratch::new("wrong");
    let (good, three) = (scratch.file("good", &images(3)), scratch.file("three", &labels(&[0, 1, 2])));
    let whole = gzip(&images(3));
    let nan = [1.0f32, f32::NAN, 0.0, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    for (images, labels, says) in [
        (scratch.file("short", &images(3)[..20]), &three, "short: truncated: the header announces 12 bytes of data, the file has 4"),
        (scratch.file("long", &[&images(3)[..], b"x"].concat()), &three, "long: the file continues after the 12 bytes"),
        (scratch.file("cut.gz", &whole[..whole.len() - 9]), &three, "cut.gz: the gzip stream is truncated or damaged"),
        (scratch.file("tail.gz", &[&whole[..], b"tail"].concat()), &three, "tail.gz: the gzip stream is truncated or damaged"),
        (scratch.file("two", &images(2)), &three, "two: 2 images and 3 labels"),
        (scratch.file("empty", b""), &three, "empty: not an IDX or .npy file of images"),
        (scratch.file("text", b"0,1,2\n"), &three, "text: not an IDX or .npy file of images (a CSV file contains its labels"),
        (scratch.file("nan", &npy("<f4", "(2, 2)", &nan)), &three, "NaN in row 0, column 1"),
        (three.clone(), &three, "three: not an IDX file of images: it starts with 2049"),
        (good.clone(), &good, "good: not an IDX file of labels: it starts with 2051"),
        (scratch.0.join("absent"), &three, "absent: cannot be read"),
        (scratch.0.clone(), &three, "cannot be read"),
    ] {
        let labels = if says.contains("NaN") { scratch.file("l2", &self::labels(&[0, 1])) } else { labels.clone() };
        let message = Split::read(&images, Some(&labels)).unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
    }
    let message = Split::read(&good, None).unwrap_err().to_string();
    assert!(message.contains("need a second file with the labels"), "{message}");
}

/// Four small files under the published names.
fn small_mnist(scratch: &Scratch, test_labels: &[u8]) {
    scratch.file("mnist/train-images-idx3-ubyte.gz", &gzip(&images(3)));
    scratch.file("mnist/train-labels-idx1-ubyte", &labels(&[9, 1, 2]));
    scratch.file("mnist/t10k-images-idx3-ubyte", &images(2));
    scratch.file("mnist/t10k-labels-idx1-ubyte.gz", &gzip(&labels(test_labels)));
}

#[test]
fn an_archive_is_found_gzipped_or_not() {
    let scratch = Scratch::new("archive");
    small_mnist(&scratch, &[0, 5]);
    let data = load("mnist", Some(&scratch.0)).unwrap();
    assert_eq!((data.name.as_str(), data.classes, data.train.len(), data.test.len()), ("mnist", 10, 3, 2));
    assert!(Archive::named("mnist").unwrap().find(&scratch.0).iter().all(Option::is_some));

    small_mnist(&scratch, &[0, 10]);
    let message = load("mnist", Some(&scratch.0)).unwrap_err().to_string();
    assert!(message.contains("label 10 of row 1: labels must be whole numbers from 0 to 9"), "{message}");

    fs::remove_file(scratch.0.join("mnist/t10k-images-idx3-ubyte")).unwrap();
    let error = load("mnist", Some(&scratch.0)).unwrap_err();
    assert!(matches!(&error, Error::Missing { file: "t10k-images-idx3-ubyte", .. }), "{error}");
    let error = load("fashion-mnist", Some(&scratch.0)).unwrap_err().to_string();
    for says in ["fashion-mnist not found", "train-images-idx3-ubyte.gz", "`isinglass data fetch fashion-mnist`", "ISINGLASS_DATA"] {
        assert!(error.contains(says), "{error}");
    }
    assert!(matches!(load("cifar", Some(&scratch.0)), Err(Error::UnknownDataset(_))));
}

#[test]
fn the_published_sets_have_their_published_statistics() {
    let Some(directory) = std::env::var_os("ISINGLASS_DATA") else {
        isinglass_fuzz::skip("ISINGLASS_DATA names no directory with mnist/ and fashion-mnist/");
        return;
    };
    let directory = Path::new(&directory);
    // Mean and standard deviation of the training pixels divided by 255, as widely quoted (0.1307, 0.3081 and 0.2860, 0.3530).
    for (archive, mean, deviation, first) in
        [(ARCHIVES[0], 0.1307, 0.3081, [5, 0, 4, 1, 9]), (ARCHIVES[1], 0.2860, 0.3530, [9, 0, 0, 3, 0])]
    {
        if archive.find(directory).contains(&None) {
            isinglass_fuzz::skip(&format!("{} is not in ISINGLASS_DATA", archive.name));
            continue;
        }
        let data = archive.load(directory).unwrap();
        assert_eq!((data.train.len(), data.test.len(), data.train.shape()), (60_000, 10_000, (28, 28)));
        let (found_mean, found_deviation) = data.train.moments();
        assert!((found_mean / 255.0 - mean).abs() < 5e-5 && (found_deviation / 255.0 - deviation).abs() < 5e-5, "{}", archive.name);
        assert_eq!(data.train.labels()[..5], first);
        // What is there and right is not fetched again: no mirror is needed.
        let fetched = isinglass_data::fetch::fetch(&archive, directory, &[], &mut |_| ()).unwrap();
        assert!(fetched.iter().all(|file| !file.downloaded));
    }
}
