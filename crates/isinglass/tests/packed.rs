//! `isinglass pack | predict | inspect | export | bench`, run as a user runs them.

mod common;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use common::Scratch;
use isinglass_bits::{PackedModel, PackedNetwork};
use serde_json::Value;

/// A small trained run `a`, on images of 8 × 8 under MNIST's name.
fn trained(name: &str, args: &str) -> Scratch {
    let home = Scratch::new(name);
    home.small_images();
    home.succeeds(&format!("train --data mnist --data-dir data --width 33 --epochs 2 --batch 32 --samples 2 --quiet --out a {args}"));
    home
}

/// The same, packed as `m.safetensors`.
fn packed(name: &str, args: &str) -> Scratch {
    let home = trained(name, args);
    home.succeeds("pack a -o m.safetensors");
    home
}

/// The test images of the small data set.
fn test_images(home: &Scratch) -> Vec<u8> {
    home.read("data/mnist/t10k-images-idx3-ubyte")[16..].to_vec()
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn a_packed_network_is_as_good_as_evaluate_says() {
    let home = trained("pack", "--goal surrogate");
    for checkpoint in ["last", "best"] {
        let result = home.json(&format!("pack a --checkpoint {checkpoint} -o m.safetensors"));
        assert_eq!(keys(&result), ["file", "bytes", "shape", "networks", "checked_images", "accuracy", "images", "path"]);
        assert_eq!((&result["shape"], &result["networks"], &result["images"]), (&"64-33×2-10".into(), &1.into(), &100.into()));
        assert_eq!(result["bytes"], home.read("m.safetensors").len());
        assert!(result["checked_images"].as_u64().unwrap() > 100);
        let evaluated = &home.json(&format!("evaluate a --checkpoint {checkpoint}"))["test"]["binary"]["accuracy"];
        assert_eq!(&result["accuracy"], evaluated);
        let predicted = home.json("predict m.safetensors --data mnist --data-dir data");
        assert_eq!(keys(&predicted), ["accuracy", "images", "correct", "data", "networks", "path", "predictions"]);
        assert_eq!((&predicted["accuracy"], &predicted["images"]), (evaluated, &100.into()));
        let correct = predicted["correct"].as_u64().unwrap() as f64;
        assert_eq!(predicted["accuracy"], correct / 100.0);
        // It knows what it was packed with.
        assert_eq!(home.json("predict m.safetensors --data-dir data"), predicted);
    }
    let table = home.succeeds("pack a -o m.safetensors");
    assert!(table.contains("equals that of the float network") && table.contains("64-33×2-10"), "{table}");
    assert!(home.succeeds("predict m.safetensors --data-dir data").contains("of 100 "));
}

#[test]
fn an_ensemble_is_as_good_as_evaluate_says() {
    let home = trained("ensemble", "--goal surrogate");
    let evaluated = home.json("evaluate a --samples 5");
    let result = home.json("pack a --samples 5 -o m.safetensors");
    assert_eq!((&result["networks"], &result["accuracy"]), (&5.into(), &evaluated["test"]["stochastic"][0]["accuracy"]));
    assert_eq!(home.json("predict m.safetensors --data-dir data")["accuracy"], result["accuracy"]);
    let first = home.read("m.safetensors");
    home.succeeds("pack a --samples 5 -o m.safetensors --threads 1");
    assert_eq!(home.read("m.safetensors"), first, "equal runs give equal files");
    home.succeeds("pack a --samples 5 --seed 8 -o m.safetensors");
    assert_ne!(home.read("m.safetensors"), first);
}

#[test]
fn stochastic_neurons_are_packed_as_signs_or_with_their_noise() {
    for neuron in ["logistic:1", "probit:1"] {
        let home = trained("noisy", &format!("--neuron {neuron} --goal surrogate"));
        let binary = &home.json("evaluate a")["test"]["binary"]["accuracy"];
        assert_eq!(&home.json("pack a -o m.safetensors")["accuracy"], binary);
        home.json("pack a --samples 9 -o e.safetensors");
        assert_eq!(PackedModel::load(home.path("e.safetensors")).unwrap().networks().len(), 9);
    }
    let home = trained("lrt", "--surrogate lrt-binary --neuron logistic:1");
    home.succeeds("pack a -o m.safetensors");
}

#[test]
fn what_has_no_bits_is_refused_with_the_way_out() {
    for (surrogate, reason) in [("lrt-continuous", "neurons (tanh:1) are real numbers"), ("continuous", "weights are real numbers")] {
        let home = trained("refused", &format!("--surrogate {surrogate} --goal surrogate"));
        let message = home.fails("pack a -o m.safetensors", 2);
        assert!(message.contains(reason) && message.contains("--surrogate deterministic"), "{message}");
        assert!(!home.path("m.safetensors").exists());
    }
    let home = trained("refused", "");
    assert!(home.fails("pack a --samples 3 -o m.safetensors", 2).contains("every draw is the same network"));
    assert!(home.fails("pack a --samples 0 -o m.safetensors", 2).contains("at least one network"));
    assert!(home.fails("pack a -o no/such/m.safetensors", 2).contains("no such directory"));
    assert!(home.fails("pack nowhere -o m.safetensors", 2).contains("no such run"));
    assert!(home.fails("pack a --data digits -o m.safetensors", 2).contains("784"));
    let before = home.read("a/last.safetensors");
    assert!(home.fails("pack a -o a/last.safetensors", 2).contains("not replaced"));
    assert_eq!(home.read("a/last.safetensors"), before);
}

#[test]
fn without_its_data_a_network_is_checked_with_random_images() {
    let home = trained("alone", "");
    fs::rename(home.path("a/last.safetensors"), home.path("alone.safetensors")).unwrap();
    let output = home.run("pack alone.safetensors -o m.safetensors --format json");
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("note: "));
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&result["accuracy"], result["checked_images"].as_u64()), (&Value::Null, Some(64)));
    assert!(home.fails("predict m.safetensors", 2).contains("--data"));
    assert_eq!(home.json("predict m.safetensors --data mnist --data-dir data")["images"], 100);
}

#[test]
fn inspect_says_how_long_the_file_is() {
    let home = packed("inspect", "--depth 3");
    let result = home.json("inspect m.safetensors");
    let length = home.read("m.safetensors").len() as u64;
    assert_eq!(result["bytes"].as_u64(), Some(length));
    let layers = result["layers"].as_array().unwrap();
    assert_eq!(layers.len(), 4);
    let sum = |key: &str| layers.iter().map(|layer| layer[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("bytes") + result["header_bytes"].as_u64().unwrap(), length);
    assert_eq!(sum("bits"), 33 * 64 + 2 * 33 * 33 + 10 * 33);
    assert!(result["header_bytes"].as_u64().unwrap() < 2048);
    assert_eq!(sum("weight_bytes"), 33 * 8 + 2 * 33 * 5 + 10 * 5);
    let model = PackedModel::load(home.path("m.safetensors")).unwrap();
    let shown: String =
        (0..32).map(|column| if model.networks()[0].layers()[1].weights().spin(0, column) > 0 { '+' } else { '−' }).collect();
    assert_eq!(layers[1]["first_weights"], shown);
    assert_eq!(result["provenance"]["data"], "mnist");
    assert!(layers[0]["least_threshold"].is_i64() && layers[3]["least_threshold"].is_null());
    assert!(layers.iter().all(|layer| layer["carries"] == false));
    let table = home.succeeds("inspect m.safetensors");
    assert!(!table.contains("carr"), "{table}");
    assert!(table.contains("64-33×3-10") && table.contains('−') && table.contains("weights: sign(M)"), "{table}");
    let csv = home.succeeds("inspect m.safetensors --format csv");
    assert!(csv.lines().count() == 5 && csv.lines().all(|line| line.split(',').count() == 15), "{csv}");
    assert!(home.fails("inspect m.safetensors --checkpoint best", 2).contains("--checkpoint"));
    assert!(home.fails("inspect m.safetensors --plot a.png", 2).contains("--plot"));
}

fn png(width: usize, pixels: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width as u32, (pixels.len() / width) as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().unwrap().write_image_data(pixels).unwrap();
    file
}

#[test]
fn images_of_any_kind_are_predicted_alike() {
    let home = packed("inputs", "");
    let all = home.succeeds("predict m.safetensors --data-dir data --format csv");
    assert!(all.starts_with("image,label,class,probability,p0,p1,"), "{all}");
    let classes: Vec<&str> = all.lines().skip(1).map(|line| line.split(',').nth(2).unwrap()).collect();
    assert_eq!(classes.len(), 100);
    let images = &test_images(&home)[..3 * 64];
    // Three images side by side.
    let sheet: Vec<u8> = (0..8).flat_map(|row| images.chunks(64).flat_map(move |image| image[8 * row..8 * row + 8].to_vec())).collect();
    home.write("x.png", &png(24, &sheet));
    home.write("negative.png", &png(24, &sheet.iter().map(|byte| 255 - byte).collect::<Vec<_>>()));
    let lines = images.chunks(64).map(|image| image.iter().map(u8::to_string).collect::<Vec<_>>().join(",") + "\n");
    home.write("x.csv", lines.collect::<String>().as_bytes());
    let header = format!("{:117}\n", "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 8, 8), }");
    home.write("x.npy", &[b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), images].concat());
    home.write("x.idx", &[&[0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 8, 0, 0, 0, 8][..], images].concat());
    let mut results = Vec::new();
    for input in ["x.png", "x.csv", "x.npy", "x.idx", "negative.png --invert"] {
        let result = home.json(&format!("predict m.safetensors --input {input}"));
        assert_eq!(result["images"], 3, "{input}");
        for (prediction, class) in result["predictions"].as_array().unwrap().iter().zip(&classes) {
            assert_eq!(prediction["class"].to_string(), *class, "{input}");
            let probabilities: Vec<f64> = prediction["probabilities"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect();
            assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert_eq!(prediction["probability"], probabilities[prediction["class"].as_u64().unwrap() as usize]);
        }
        results.push(result);
    }
    assert!(results.iter().all(|result| *result == results[0]));
    assert!(home.succeeds("predict m.safetensors --input x.png").contains("p9"));
    home.write("labelled.csv", b"1,2,3\n");
    for (input, reason) in [("a/config.toml", "number"), ("labelled.csv", "64"), ("none.png", "none.png")] {
        assert!(home.fails(&format!("predict m.safetensors --input {input}"), 2).contains(reason));
    }
}

#[test]
fn every_instruction_set_predicts_the_same() {
    let home = packed("isa", "--depth 3");
    let expected = home.succeeds("predict m.safetensors --data-dir data --format csv");
    for isa in isinglass_bits::Isa::available() {
        for threads in [1, 3] {
            let args = format!("predict m.safetensors --data-dir data --format csv --threads {threads}");
            let output = home.command(&args).env("ISINGLASS_SIMD", isa.name()).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), expected, "{}", isa.name());
        }
    }
}

#[test]
fn damaged_and_foreign_files_are_refused() {
    let home = packed("damaged", "");
    let mut bytes = home.read("m.safetensors");
    *bytes.last_mut().unwrap() ^= 1;
    home.write("damaged.safetensors", &bytes);
    for command in ["predict", "inspect", "bench", "export --to c"] {
        assert!(home.fails(&format!("{command} damaged.safetensors"), 2).contains("damaged"), "{command}");
    }
    assert!(home.fails("predict a/last.safetensors", 2).contains("isinglass pack"));
    assert!(home.fails("predict a", 2).contains("isinglass pack a"));
    assert!(home.fails("predict missing.safetensors", 2).contains("missing.safetensors"));
    assert!(home.fails("export m.safetensors --to onnx -o m.safetensors", 2).contains(".safetensors"));
    for target in ["a/config.toml", "a", "no/such/net.c"] {
        assert!(home.fails(&format!("export m.safetensors --to c -o {target}"), 2).contains(target));
    }
    assert!(String::from_utf8(home.read("a/config.toml")).unwrap().contains("width"));
    home.succeeds("export m.safetensors --to c -o net.c");
    home.succeeds("export m.safetensors --to c -o net.c --name other"); // an earlier export may go
    home.write("mine.c", b"int main(void) { return 0; }");
    assert!(home.fails("export m.safetensors --to c -o mine.c", 2).contains("not replaced"));
    assert!(home.fails("pack m.safetensors -o n.safetensors", 2).contains("packed already"));
    assert!(home.fails("predict m.safetensors --data mnist --data-dir data --invert", 2).contains("--invert"));
    assert!(home.fails("export m.safetensors --to onnx --name x", 2).contains("--name"));
    assert!(home.fails("export m.safetensors --to c --name 0x -o x.c", 2).contains("letter"));
}

#[test]
fn bench_compares_in_turns() {
    let home = packed("bench", "");
    let result = home.json("bench m.safetensors --seconds 0.01 --threads 2");
    let rows = result["measurements"].as_array().unwrap();
    let plan: Vec<(u64, u64)> = rows.iter().map(|row| (row["batch"].as_u64().unwrap(), row["threads"].as_u64().unwrap())).collect();
    assert_eq!(plan, [(1, 1), (64, 1), (64, 2), (1024, 1), (1024, 2)]);
    assert!(rows.iter().all(|row| row["ratio"].as_f64().unwrap() > 0.0));
    assert_eq!(result["agreeing_images"], result["images"]);
    let table = home.succeeds("bench m.safetensors --seconds 0.01 --threads 1");
    assert!(table.contains("images/s") && table.lines().count() == 8, "{table}");
    for isa in isinglass_bits::Isa::available() {
        let output = home.command("bench m.safetensors --seconds 0.01 --format json").env("ISINGLASS_SIMD", isa.name()).output().unwrap();
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(result["isa"], isa.name());
    }
    for seconds in ["nan", "-1", "0"] {
        assert!(home.fails(&format!("bench m.safetensors --seconds {seconds}"), 2).contains("--seconds"));
    }
}

/// The network of `m.safetensors`, of one width, with all layers carrying that can, as `carrying.safetensors`.
fn carrying(home: &Scratch) -> PackedModel {
    let model = PackedModel::load(home.path("m.safetensors")).unwrap();
    let network = &model.networks()[0];
    let layers = network.layers().iter().enumerate().map(|(index, layer)| layer.clone().carrying(index >= 2).unwrap()).collect();
    let network = PackedNetwork::from_layers(layers, network.output().clone()).unwrap();
    let model = PackedModel::new(vec![network], model.preprocessing(), model.tau()).unwrap();
    model.save(home.path("carrying.safetensors")).unwrap();
    model
}

#[test]
fn networks_that_carry_are_shown_measured_and_exported() {
    let home = packed("carrying", "--depth 5");
    let model = carrying(&home);
    let result = home.json("inspect carrying.safetensors");
    let layers: Vec<&Value> = result["layers"].as_array().unwrap().iter().map(|layer| &layer["carries"]).collect();
    assert_eq!(layers, [false, false, true, true, true, false]);
    let table = home.succeeds("inspect carrying.safetensors");
    assert_eq!(table.lines().filter(|line| line.ends_with(" yes")).count(), 3, "{table}");
    assert!(table.contains("layers that carry add their sums to those of the layer before"), "{table}");

    let result = home.json("bench carrying.safetensors --seconds 0.01 --threads 2");
    assert_eq!(result["measurements"].as_array().unwrap().len(), 5);
    assert_eq!(result["agreeing_images"], result["images"]);

    let images = test_images(&home);
    check_exports(&home, "carrying.safetensors", &images);
    let predicted = home.json("predict carrying.safetensors --data mnist --data-dir data");
    let labels = &home.read("data/mnist/t10k-labels-idx1-ubyte")[8..];
    let classes = model.predictor().classes(&images).unwrap();
    let correct = classes.iter().zip(labels).filter(|(class, label)| **class == usize::from(**label)).count();
    assert_eq!(predicted["correct"], correct);
}

/// What the exported C program, and onnxruntime where there is one, print for raw images, against the library.
fn check_exports(home: &Scratch, model: &str, images: &[u8]) {
    let packed = PackedModel::load(home.path(model)).unwrap();
    let mut predictor = packed.predictor();
    let (sums, classes) = (predictor.sums(images).unwrap(), predictor.classes(images).unwrap());
    let expected: Vec<String> = sums
        .chunks(packed.classes())
        .zip(classes)
        .map(|(sums, class)| format!("{class} {}", sums.iter().map(i32::to_string).collect::<Vec<_>>().join(" ")))
        .collect();
    home.write("images.raw", images);

    home.succeeds(&format!("export {model} --to c -o net.c"));
    let flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-DNET_MAIN", "-o", "net", "net.c"];
    let compiled = Command::new("cc").args(flags).current_dir(home.path(".")).status();
    assert!(compiled.expect("there is a C compiler").success());
    let program = Command::new(home.path("net")).stdin(fs::File::open(home.path("images.raw")).unwrap()).output().unwrap();
    let printed = String::from_utf8(program.stdout).unwrap();
    assert_eq!(printed.lines().map(|line| line.replace(';', " ")).collect::<Vec<_>>(), expected);

    let Ok(python) = std::env::var("ISINGLASS_PYTHON") else {
        isinglass_fuzz::skip("ISINGLASS_PYTHON names no Python with onnxruntime");
        return;
    };
    home.succeeds(&format!("export {model} --to onnx -o net.onnx"));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../isinglass-bits/tests/onnx_peer.py");
    let output = Command::new(python).arg(script).args(["net.onnx", "images.raw"]).current_dir(home.path(".")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let without_probabilities = |line: &str| line.rsplit_once(';').unwrap().0.replace(';', " ");
    assert_eq!(printed.lines().map(without_probabilities).collect::<Vec<_>>(), expected);
}

#[test]
fn exports_give_the_same_integers() {
    let home = packed("export", "");
    check_exports(&home, "m.safetensors", &test_images(&home));
    let result = home.json("export m.safetensors --to onnx");
    assert_eq!((&result["file"], result["bytes"].as_u64()), (&"m.onnx".into(), Some(home.read("m.onnx").len() as u64)));
    assert!(home.succeeds("export m.safetensors --to c --name digits").contains("m.c"));
    let text = String::from_utf8(home.read("m.c")).unwrap();
    assert!(text.contains("int digits_classify("), "{text}");
}

/// On all test images of the real thing, where it is there.
#[test]
fn all_test_images_of_mnist_are_exact() {
    let Some(data) = std::env::var_os("ISINGLASS_DATA").filter(|data| Path::new(data).join("mnist").is_dir()) else {
        isinglass_fuzz::skip("ISINGLASS_DATA names no directory with mnist/");
        return;
    };
    let home = Scratch::new("mnist");
    let run = |args: &str| {
        let output = home.command(args).env("ISINGLASS_DATA", &data).stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "{args}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default()
    };
    run("train --data mnist --width 201 --train-fraction 0.05 --epochs 2 --quiet --out a --format json");
    let packed = run("pack a -o m.safetensors --format json");
    assert_eq!(packed["images"], 10_000);
    let evaluated = run("evaluate a --samples 1 --format json");
    assert_eq!(packed["accuracy"], evaluated["test"]["binary"]["accuracy"]);
    assert_eq!(run("predict m.safetensors --data mnist --format json")["accuracy"], packed["accuracy"]);
    let data = isinglass_data::load("mnist", Some(Path::new(&data))).unwrap();
    let isinglass_data::Pixels::Bytes(images) = data.test.pixels() else { panic!("MNIST is bytes") };
    check_exports(&home, "m.safetensors", images);
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let home = packed("pipe", "");
    for args in [
        "predict m.safetensors --data-dir data --format csv",
        "predict m.safetensors --data-dir data",
        "pack a -o m.safetensors",
        "export m.safetensors --to c",
    ] {
        let mut child = home.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && common::said(&output).is_empty(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Runs a command that may take this much memory, in KiB of addresses.
#[cfg(target_os = "linux")]
fn within(home: &Scratch, kibibytes: usize, args: &str) -> std::process::Output {
    let command = home.command(args);
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("ulimit -v {kibibytes} && exec \"$0\" \"$@\"")]).arg(command.get_program()).args(command.get_args());
    shell.current_dir(command.get_current_dir().unwrap()).envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_number_of_images() {
    let home = packed("many", "");
    let images = 150_000;
    home.write("x.npy", &common::npy("|u1", &format!("({images}, 8, 8)"), &vec![7; 64 * images]));
    for (format, lines) in [("csv", images + 1), ("json", 17 * images), ("table", images)] {
        let output = within(&home, 100_000, &format!("predict m.safetensors --input x.npy --threads 1 --format {format}"));
        assert_eq!(output.status.code(), Some(0), "{format}: {}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.lines().count() >= lines && text.contains("149999"), "{format}: {} lines", text.lines().count());
        if format == "json" {
            let result: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(result["predictions"].as_array().unwrap().len(), images);
            assert_eq!(format!("{}\n", serde_json::to_string_pretty(&result).unwrap()), text);
        }
    }
}
