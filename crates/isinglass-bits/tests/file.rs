//! Files: their contents, their length, and how damaged and foreign ones are refused, without a panic and without allocating more than the file's size warrants.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use isinglass_bits::{PackedModel, PackedNetwork, Predictor, Quantiser};
use support::files::{edit, forged_from, parts, sha256, whole};
use support::{Plain, Random, images, network};

/// Counts what is allocated.
struct Counting;

static RESERVED: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = RESERVED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        RESERVED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// An ensemble of two small networks with two blocks of hidden layers.
fn model() -> PackedModel {
    let plains: Vec<Plain> = (0..2).map(|seed| Plain::random(&[9, 12, 12, 12, 5, 3], &mut Random(seed + 1))).collect();
    let mut model = PackedModel::new(plains.iter().map(Plain::packed).collect(), plains[0].preprocessing, 1.5).unwrap();
    model.provenance.insert("data".into(), "nine \"pixels\" – ±1".into());
    model.with_image(3, 3).unwrap()
}

/// The same with a quantiser and class names: format 2.
fn extended() -> PackedModel {
    let centres = (0..9).map(|column| column as f32 - 4.0).collect();
    let factors = (0..9).map(|column| if column == 3 { 0.0 } else { 1.5 * column as f32 + 0.1 }).collect();
    let model = model().with_quantiser(Quantiser::new(centres, factors).unwrap()).unwrap();
    model.with_class_names(["setosa", "versi \"color\"", "é"]).unwrap()
}

/// With a layer that carries: format 3.
fn carrying() -> PackedModel {
    let network = |network: &PackedNetwork| {
        let layers = network.layers().iter().enumerate().map(|(index, layer)| layer.clone().carrying(index == 2).unwrap());
        PackedNetwork::from_layers(layers.collect(), network.output().clone()).unwrap()
    };
    let model = extended();
    let carrying = PackedModel::new(model.networks().iter().map(network).collect(), model.preprocessing(), model.tau()).unwrap();
    carrying.with_quantiser(model.quantiser().unwrap().clone()).unwrap()
}

/// Models of all formats, with all that may be added or only some.
fn models() -> [PackedModel; 5] {
    let named = model().with_class_names(["a", "b", "c"]).unwrap();
    let real = model().with_quantiser(extended().quantiser().unwrap().clone()).unwrap();
    [model(), extended(), named, real, carrying()]
}

/// Reads foreign contents, and checks that it takes no more memory than a small multiple of their length.
fn read(bytes: &[u8]) -> Result<PackedModel, isinglass_bits::Error> {
    let before = RESERVED.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let result = PackedModel::from_bytes(bytes);
    let taken = MOST.load(Ordering::Relaxed).saturating_sub(before);
    // Other tests of this file run at the same time; trusting a wrong size would take gigabytes.
    assert!(taken <= 64 * bytes.len() + (1 << 24), "{taken} bytes were allocated for a file of {}", bytes.len());
    result
}

#[test]
fn what_is_written_is_what_is_read() {
    for model in models() {
        let bytes = model.to_bytes();
        assert_eq!(bytes, model.to_bytes());
        let again = read(&bytes).unwrap();
        assert_eq!(again, model);
        assert_eq!(again.to_bytes(), bytes);
        assert!(PackedModel::is_packed(&bytes) && !PackedModel::is_packed(b"other"));
    }
}

#[test]
fn saved_files_are_complete_and_load() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("save");
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("model.safetensors");
    for model in models() {
        model.save(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), model.to_bytes());
        assert_eq!(PackedModel::load(&path).unwrap(), model);
    }
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 1, "temporary files are left over");
    let missing = directory.join("no/such/model.safetensors");
    assert!(model().save(&missing).unwrap_err().to_string().starts_with(&missing.display().to_string()));
}

#[test]
fn models_of_bytes_are_written_as_before() {
    // The bytes that the version before quantisers wrote for this model.
    let sum = sha256(&model().to_bytes());
    assert_eq!(sum, "46cfb483a3bd0fe08ae221633f3b6f3c59e6575622d0a35cf76a1e082136a3b5");
    let format = |model: &PackedModel| parts(&model.to_bytes()).0.split("format\\\":").nth(1).unwrap()[..1].to_owned();
    assert_eq!(models().each_ref().map(format), ["1", "2", "2", "2", "3"]);
}

#[test]
fn unknown_formats_are_refused_with_a_way_out() {
    // Whatever else such a file may hold.
    let (header, data) = parts(&model().to_bytes());
    for (from, to) in [("\\\"format\\\":1", "\\\"format\\\":4"), ("\\\"format\\\":1", "\\\"novelty\\\":7,\\\"format\\\":4")] {
        let error = read(&whole(&header.replace(from, to), &data)).unwrap_err().to_string();
        assert!(error.contains("format 4") && error.contains("update isinglass"), "{error}");
    }
}

#[test]
fn a_file_is_its_bits_its_thresholds_and_less_than_two_kibibytes() {
    for (sizes, networks) in [(vec![784, 512, 512, 10], 1), ([vec![784], vec![100; 60], vec![10]].concat(), 1), (vec![784, 65, 10], 16)] {
        let plains: Vec<Plain> = (0..networks).map(|seed| Plain::random(&sizes, &mut Random(seed + 1))).collect();
        let mut model = PackedModel::new(plains.iter().map(Plain::packed).collect(), plains[0].preprocessing, 1.0).unwrap();
        model = model.with_image(28, 28).unwrap();
        for key in ["isinglass", "surrogate", "neuron", "weights", "epochs", "seed", "data", "test-accuracy"] {
            model.provenance.insert(key.into(), "deterministic, 16 draws".into());
        }
        let contents: usize = sizes.windows(2).map(|pair| pair[1] * (pair[0].div_ceil(8) + 4)).sum();
        let length = model.to_bytes().len();
        let expected = contents * networks as usize;
        assert!(length > expected && length - expected < 2048, "{length} bytes for {expected} of bits and thresholds");
    }
}

#[test]
fn a_file_cut_off_anywhere_is_refused() {
    for model in models() {
        let bytes = model.to_bytes();
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
        }
        let longer = [&bytes[..], &[0]].concat();
        assert!(read(&longer).is_err());
    }
}

#[test]
fn a_file_with_any_bit_flipped_is_refused() {
    for model in [model(), extended(), carrying()] {
        let bytes = model.to_bytes();
        for place in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[place] ^= 1 << bit;
                if let Ok(read) = read(&damaged) {
                    panic!("bit {bit} of byte {place} was flipped, and nobody noticed: {:?}", read.provenance);
                }
            }
        }
    }
}

#[test]
fn sizes_are_not_believed() {
    [model(), extended(), carrying()].iter().for_each(assert_sizes_are_not_believed);
}

fn assert_sizes_are_not_believed(model: &PackedModel) {
    let (header, data) = parts(&model.to_bytes());
    let digits: Vec<(usize, usize)> = {
        let bytes = header.as_bytes();
        let starts = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit() && (at == 0 || !bytes[at - 1].is_ascii_digit()));
        starts.map(|at| (at, at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count())).collect()
    };
    for (start, end) in digits {
        for number in
            ["0", "1", "2", "7", "255", "65536", "4294967295", "4294967297", "9223372036854775807", "18446744073709551615", "1e308", "-1"]
        {
            let changed = [&header[..start], number, &header[end..]].concat();
            if changed != header {
                assert!(read(&whole(&changed, &data)).is_err(), "{changed}");
            }
        }
    }
    for length in [0, 1, 7, u64::MAX, u64::MAX - 7, 1 << 32, 1 << 62] {
        let mut bytes = whole(&header, &data);
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        assert!(read(&bytes).is_err(), "a header of {length} bytes");
    }
}

#[test]
fn tensors_that_are_missing_superfluous_or_renamed_are_noticed() {
    let (header, data) = parts(&model().to_bytes());
    for (from, to) in [
        ("input.weights", "input.weight"),
        ("hidden.0.weights", "hidden.9.weights"),
        ("hidden.1.thresholds", "hidden.1.x"),
        ("output.bias", "output.b"),
        ("\"U8\"", "\"I8\""),
        ("\"I32\"", "\"F32\""),
        ("isinglass-bits", "isinglass-bots"),
        ("\\\"format\\\":1", "\\\"format\\\":2"),
        ("\\\"inputs\\\":9", "\\\"inputs\\\":10"),
        ("\\\"tau\\\":1.5", "\\\"tau\\\":1e999"),
    ] {
        let changed = header.replace(from, to);
        assert_ne!(changed, header, "{from} is not in {header}");
        assert!(read(&whole(&changed, &data)).is_err(), "{changed}");
    }
}

/// The usual model's file, forged.
fn forged(change: impl FnOnce(&mut serde_json::Value, &mut Vec<u8>)) -> Vec<u8> {
    forged_from(&model(), change)
}

#[test]
fn a_right_sum_does_not_help_what_is_wrong() {
    assert!(read(&forged(|_, _| {})).is_ok(), "the forger forges well");
    let refused = |what: &str, bytes: Vec<u8>| {
        let error = read(&bytes).expect_err(what).to_string();
        assert!(!error.contains("SHA-256"), "{what} was noticed by its sum only");
    };
    refused("other inputs", forged(|header, _| edit(header, "\"inputs\":9", "\"inputs\":17")));
    refused("inputs without end", forged(|header, _| edit(header, "\"inputs\":9", "\"inputs\":18446744073709551615")));
    refused("no inputs", forged(|header, _| edit(header, "\"inputs\":9", "\"inputs\":0")));
    refused("an image of another size", forged(|header, _| edit(header, "[3,3]", "[3,4]")));
    refused("an image without end", forged(|header, _| edit(header, "[3,3]", "[18446744073709551615,3]")));
    refused("a scale of 0", forged(|header, _| edit(header, "\"scale\":0.0125", "\"scale\":0.0")));
    refused("a negative tau", forged(|header, _| edit(header, "\"tau\":1.5", "\"tau\":-1.5")));
    refused("an older format", forged(|header, _| edit(header, "\"format\":1", "\"format\":0")));
    refused(
        "the first padding bit",
        forged(|header, data| {
            let start = header["input.weights"]["data_offsets"][0].as_u64().unwrap() as usize;
            data[start + 1] |= 0x02;
        }),
    );
    refused(
        "a padding bit",
        forged(|header, data| {
            let start = header["input.weights"]["data_offsets"][0].as_u64().unwrap() as usize;
            data[start + 1] |= 0x80;
        }),
    );
    refused(
        "a bias that is NaN",
        forged(|header, data| {
            let start = header["output.bias"]["data_offsets"][0].as_u64().unwrap() as usize;
            data[start..start + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        }),
    );
    refused(
        "another shape",
        forged(|header, _| {
            header["hidden.0.weights"]["shape"] = serde_json::json!([2, 24, 2, 2]);
        }),
    );
    refused(
        "no networks",
        forged(|header, _| {
            header["input.weights"]["shape"] = serde_json::json!([0, 24, 2]);
        }),
    );
    // A threshold may be any number: the networks still run.
    let extreme = forged(|header, data| {
        let range = &header["input.thresholds"]["data_offsets"];
        let (start, end) = (range[0].as_u64().unwrap() as usize, range[1].as_u64().unwrap() as usize);
        data[start..end].fill(0x80);
    });
    let model = read(&extreme).unwrap();
    for isa in isinglass_bits::Isa::available() {
        Predictor::new(&model, isa).sums(&images(9, 9, 1)).unwrap();
    }
}

#[test]
fn a_right_sum_does_not_help_a_wrong_quantiser_or_wrong_names() {
    let extended = extended();
    assert!(read(&forged_from(&extended, |_, _| {})).is_ok(), "the forger forges well");
    let refused = |what: &str, change: &dyn Fn(&mut serde_json::Value, &mut Vec<u8>)| {
        let error = read(&forged_from(&extended, |header, data| change(header, data))).expect_err(what).to_string();
        assert!(!error.contains("SHA-256"), "{what} was noticed by its sum only");
    };
    let put = |header: &serde_json::Value, data: &mut Vec<u8>, tensor: &str, value: f32| {
        let start = header[tensor]["data_offsets"][0].as_u64().unwrap() as usize;
        data[start + 4..start + 8].copy_from_slice(&value.to_le_bytes());
    };
    refused("a centre that is NaN", &|header, data| put(header, data, "input.centres", f32::NAN));
    refused("an infinite centre", &|header, data| put(header, data, "input.centres", f32::INFINITY));
    refused("a negative factor", &|header, data| put(header, data, "input.factors", -1.0));
    refused("an infinite factor", &|header, data| put(header, data, "input.factors", f32::INFINITY));
    refused("a matrix of centres", &|header, _| header["input.centres"]["shape"] = serde_json::json!([3, 3]));
    refused("factors of another type", &|header, _| header["input.factors"]["dtype"] = "I32".into());
    refused("centres without factors", &|header, _| {
        let factors = header.as_object_mut().unwrap().remove("input.factors").unwrap();
        header["input.something"] = factors;
    });
    refused("tensors under other names", &|header, _| {
        for name in ["centres", "factors"] {
            let tensor = header.as_object_mut().unwrap().remove(&format!("input.{name}")).unwrap();
            header[format!("hidden.2.{name}")] = tensor;
        }
    });
    refused("fewer centres and factors than inputs", &|header, data| {
        // One column less: the freed bytes stay at the end of another tensor's place.
        for tensor in ["input.centres", "input.factors"] {
            header[tensor]["shape"] = serde_json::json!([8]);
            let end = header[tensor]["data_offsets"][1].as_u64().unwrap();
            header[tensor]["data_offsets"][1] = (end - 4).into();
            data.drain(end as usize - 4..end as usize);
            for (name, entry) in header.as_object_mut().unwrap() {
                if name != "__metadata__" && name != tensor {
                    for bound in entry["data_offsets"].as_array_mut().unwrap() {
                        if bound.as_u64().unwrap() >= end {
                            *bound = (bound.as_u64().unwrap() - 4).into();
                        }
                    }
                }
            }
        }
    });
    refused("a name too few", &|header, _| edit(header, "\"setosa\",", ""));
    refused("a name too many", &|header, _| edit(header, "\"setosa\",", "\"setosa\",\"x\","));
    refused("a name twice", &|header, _| edit(header, "\"setosa\"", "\"é\""));
    refused("a name that is not text", &|header, _| edit(header, "\"setosa\"", "7"));
    refused("the older format", &|header, _| edit(header, "\"format\":2", "\"format\":1"));
    refused("a later format", &|header, _| edit(header, "\"format\":2", "\"format\":3"));
    // Format 2 without anything that needs it: there is one file for one model.
    let error = read(&forged(|header, _| edit(header, "\"format\":1", "\"format\":2"))).unwrap_err().to_string();
    assert!(error.contains("format 2 with the contents of format 1"), "{error}");
}

#[test]
fn random_damage_never_panics() {
    let files = [model().to_bytes(), extended().to_bytes(), carrying().to_bytes()];
    let mut random = Random(11);
    for trial in 0..20_000 {
        let bytes = &files[trial % 3];
        let mut damaged = bytes.clone();
        for _ in 0..1 + random.below(8) {
            match random.below(4) {
                0 => {
                    let at = random.below(damaged.len());
                    damaged[at] = random.bits() as u8;
                }
                1 => damaged.truncate(1 + random.below(damaged.len())),
                2 => {
                    let (from, to) = (random.below(damaged.len()), random.below(damaged.len()));
                    let piece: Vec<u8> = damaged[from..damaged.len().min(from + 16)].to_vec();
                    damaged.splice(to..to, piece);
                }
                _ => {
                    let at = random.below(damaged.len());
                    damaged[at] = b"0123456789{}[]\",:"[random.below(17)];
                }
            }
        }
        if damaged != *bytes {
            assert!(read(&damaged).is_err());
        }
    }
}

#[test]
fn foreign_files_are_told_apart() {
    let message = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    for bytes in [&b""[..], b"\x89PNG\r\n\x1a\n", b"\x93NUMPY\x01\x00", b"{}", &[0; 100], &[255; 100]] {
        assert!(message(bytes).starts_with("not a packed network"), "{}", message(bytes));
    }
    assert!(message(&whole("{}", &[])).contains("no isinglass metadata"));
    let checkpoint = whole(r#"{"__metadata__":{"isinglass":"{}"}}"#, &[]);
    assert!(message(&checkpoint).contains("checkpoint of a training run"), "{}", message(&checkpoint));
    assert!(PackedModel::load("/no/such/file").unwrap_err().to_string().starts_with("/no/such/file: "));
}

#[test]
fn a_loaded_network_predicts_as_the_one_that_was_written() {
    let (model, plain) = network(&[30, 65, 65, 4], 3);
    let images = images(30, 9, 1);
    let expected: Vec<i32> = images.chunks(30).flat_map(|image| plain.sums(image)).collect();
    assert_eq!(read(&model.to_bytes()).unwrap().predictor().sums(&images).unwrap(), expected);
}
