//! The generated digits: the same for ever, balanced, and each image on its own.

use isinglass_data::digits::{self, Part, SIDE};
use isinglass_data::{Image, Pixels, Split, sha256_of};

fn bytes(split: &Split) -> &[u8] {
    match split.pixels() {
        Pixels::Bytes(bytes) => bytes,
        Pixels::Floats(_) => panic!("digits are bytes"),
    }
}

/// Results of other people depend on these bytes: a change here is a new data set, which needs a new name.
#[test]
fn the_bytes_never_change() {
    let data = digits::dataset();
    assert_eq!(sha256_of(bytes(&data.train)), "e32b088bae5ba1ae95382447f9d8f7730d04f9107ba05e17d9e72ac0bd7c2b9e");
    assert_eq!(sha256_of(bytes(&data.test)), "d3df279be69536b610e02e5e4d2d7d8aea460737c8b54c7bc8e2cd5deb47f39d");
}

#[test]
fn classes_are_balanced_in_every_beginning() {
    let data = digits::dataset();
    assert_eq!((data.name.as_str(), data.classes, data.train.shape()), ("digits", 10, (SIDE, SIDE)));
    assert_eq!(data.train.class_counts(10), [2_000; 10]);
    assert_eq!(data.test.class_counts(10), [500; 10]);
    assert_eq!(data.train.labels()[..12], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]);
}

#[test]
fn an_image_depends_on_its_place_only() {
    let data = digits::dataset();
    for index in [4_999, 0, 17] {
        assert_eq!(data.train.image(index), Image::Bytes(&digits::image(Part::Train, index)));
        assert_eq!(data.test.image(index), Image::Bytes(&digits::image(Part::Test, index)));
    }
}

#[test]
fn no_image_occurs_twice_and_all_have_ink() {
    let data = digits::dataset();
    let mut images: Vec<&[u8]> = bytes(&data.train).chunks(SIDE * SIDE).chain(bytes(&data.test).chunks(SIDE * SIDE)).collect();
    for image in &images {
        let dark = image.iter().filter(|grey| **grey > 120).count();
        assert!((10..400).contains(&dark), "{dark} dark pixels");
    }
    images.sort_unstable();
    images.dedup();
    assert_eq!(images.len(), digits::TRAIN + digits::TEST);
}
