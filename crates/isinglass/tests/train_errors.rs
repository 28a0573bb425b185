//! What `isinglass train` says to bad input, and what it leaves behind when something goes wrong on the way.

mod common;

use common::{Scratch, floats, npy};

const SMALL: &str = "train --data mnist --data-dir data --width 33 --epochs 3 --batch 32 --samples 1 --quiet";

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.small_images();
    scratch
}

#[test]
fn impossible_settings_are_one_sentence_and_leave_nothing() {
    let home = scratch("settings");
    for (args, names) in [
        ("--width 0", "width = 0"),
        ("--depth 0", "depth = 0"),
        ("--depth -1", "-1"),
        ("--width 10000000", "at most"),
        ("--batch 0", "batch = 0"),
        ("--epochs 0", "epochs = 0"),
        ("--lr 0", "lr = 0"),
        ("--lr -1", "lr = -1"),
        ("--lr nan", "lr = NaN"),
        ("--lr fast", "fast"),
        ("--init auto --sigma-m2 0.5", "chooses σ_m² itself"),
        ("--init critical --sigma-m2 0.5", "chooses σ_m² itself"),
        ("--init two-point --sigma-m2 1.2", "cannot exceed 1"),
        ("--init two-point --sigma-m2 -1", "σ_m² = -1"),
        ("--init two-point --sigma-b2 -1", "σ_b² = -1"),
        ("--init he --sigma-m2 0.5", "leave out sigma-m2"),
        ("--init magic", "[possible values: auto"),
        ("--surrogate magic", "[possible values: deterministic"),
        ("--neuron magic", "use sign"),
        ("--surrogate lrt-binary --neuron sign", "a step has no gradient"),
        ("--surrogate continuous --neuron relu", "only bounded neurons"),
        ("--surrogate lrt-continuous --neuron relu", "only bounded neurons"),
        ("--surrogate deterministic --neuron relu", "not the mean of a ±1 neuron"),
        ("--optimizer magic", "[possible values: adam"),
        ("--schedule magic", "known are constant"),
        ("--schedule step:0:0.1", "at least 1"),
        ("--goal magic", "[possible values: binary"),
        ("--means magic", "[possible values: clip"),
        ("--variance-gradient maybe", "maybe"),
        ("--anneal-from 1", "anneal-from = 1"),
        ("--beta 0.5", "beta = 0.5"),
        ("--tau 0", "tau = 0"),
        ("--tau 1e30", "tau = 1e30: the scale of the logits must be above 0 and at most 1e9"),
        ("--init two-point --sigma-b2 1e300", "σ_b² = 1e300"),
        ("--surrogate continuous --init two-point --sigma-m2 1e300", "σ_w² = 1e300: the variance of weights is at most 1e12"),
        ("--beta 1e300", "beta = 1e300: must be"),
        ("--lr -1e300", "lr = -1e300: must be"),
        ("--weight-decay 1e300", "weight-decay = 1e300: must be"),
        ("--train-fraction 0", "train-fraction = 0"),
        ("--train-fraction 2", "train-fraction = 2"),
        ("--validation 1", "validation = 1"),
        ("--train-fraction 0.0025 --validation 0.9", "leave none"),
        ("--samples 0", "samples = 0"),
        ("--samples many", "many"),
        ("--seed -1", "-1"),
        ("--seed 18446744073709551615", "at most"),
        ("--threads -1", "-1"),
        ("--checkpoint-steps 0", "0"),
        ("--config nowhere.toml", "nowhere.toml"),
        ("--plot no/such/place.svg", "no/such"),
        ("--format yaml", "yaml"),
        ("--frobnicate", "frobnicate"),
    ] {
        let message = home.fails(&format!("{SMALL} --out x {args}"), 2);
        assert!(message.contains(names), "{args}: {message}");
        assert!(!home.path("x").exists(), "{args}");
    }
    for (args, names) in [
        ("train --data cifar --out x", "use digits, mnist or fashion-mnist"),
        ("train --data fashion-mnist --data-dir data --out x", "data fetch fashion-mnist"),
        ("train --train-images a", "--test-images"),
        ("train --test-images a", "--train-images"),
        ("train --data mnist --train-images a --test-images b", "--data"),
    ] {
        assert!(home.fails(args, 2).contains(names), "{args}");
    }
    assert_eq!(home.entries(), 1, "nothing is left but the data");
}

#[test]
fn data_of_one_s_own() {
    let home = Scratch::new("own");
    // Two classes: the first or the second value is the larger one.
    let values = |n: usize| (0..n).flat_map(move |i| if i % 2 == 0 { [0.9, 0.1 * i as f32 / n as f32, 0.5] } else { [0.0, 0.8, 0.4] });
    let labels = |n: usize| (0..n).map(|i| (i % 2) as u8).collect::<Vec<u8>>();
    home.write("x.npy", &npy("<f4", "(40, 3)", &floats(values(40))));
    home.write("y.npy", &npy("|u1", "(40,)", &labels(40)));
    home.write("x2.npy", &npy("<f4", "(10, 3)", &floats(values(10))));
    home.write("y2.npy", &npy("|u1", "(10,)", &labels(10)));
    let files = "--train-images x.npy --train-labels y.npy --test-images x2.npy --test-labels y2.npy";
    let settings = "--width 15 --depth 1 --epochs 20 --batch 8 --quiet";
    let result = home.json(&format!("train {files} {settings} --out npy"));
    assert_eq!((&result["network"]["shape"], &result["test"]["surrogate"]["accuracy"]), (&"3-15×1-2".into(), &1.0.into()));
    // The run knows where they are, wherever it is looked at from.
    let evaluation = home.command("evaluate ../npy --samples 10 --format json").current_dir(home.path("npy")).output().unwrap();
    assert!(String::from_utf8(evaluation.stdout).unwrap().contains("\"test\""));
    assert_eq!(home.json("evaluate npy")["test"], result["test"]);
    assert_eq!(home.json(&format!("evaluate npy/last.safetensors {files}"))["test"], result["test"]);

    let line = |i: usize| format!("{},{},{}\n", i % 2, 250 * (i % 2), 250 - 250 * (i % 2));
    home.write("train.csv", (0..40).map(line).collect::<String>().as_bytes());
    home.write("test.csv", (0..9).map(line).collect::<String>().as_bytes());
    let result = home.json(&format!("train --train-images train.csv --test-images test.csv {settings} --out csv"));
    assert_eq!(result["test"]["binary"]["accuracy"], 1.0);

    let mut broken: Vec<f32> = values(40).collect();
    broken[7] = f32::NAN;
    home.write("nan.npy", &npy("<f4", "(40, 3)", &floats(broken)));
    home.write("cut.npy", &npy("<f4", "(40, 3)", &floats(values(39))));
    home.write("nine.npy", &npy("|u1", "(10,)", &[9; 10]));
    for (from, to, names) in [
        ("x.npy", "nan.npy", "NaN in row 2, column 1"),
        ("x.npy", "cut.npy", "truncated"),
        ("y2.npy", "nine.npy", "label 9 of row 0"),
        ("x2.npy", "x.npy", "40 images and 10 labels"),
        ("x.npy", "nowhere.npy", "nowhere.npy"),
        ("--test-labels y2.npy", "", "need a second file"),
    ] {
        let files = files.replacen(from, to, 1);
        let message = home.fails(&format!("train {files} {settings} --out bad"), 2);
        assert!(message.contains(names), "{files}: {message}");
    }
    assert!(!home.path("bad").exists());
}

#[test]
fn damaged_data_are_refused() {
    let home = scratch("data");
    let images = home.read("data/mnist/train-images-idx3-ubyte");
    home.write("data/mnist/train-images-idx3-ubyte", &images[..images.len() - 1]);
    assert!(home.fails(&format!("{SMALL} --out x"), 2).contains("truncated"));
    home.write("data/mnist/train-images-idx3-ubyte", &images);
    let mut labels = home.read("data/mnist/train-labels-idx1-ubyte");
    labels[20] = 10;
    home.write("data/mnist/train-labels-idx1-ubyte", &labels);
    assert!(home.fails(&format!("{SMALL} --out x"), 2).contains("label 10 of row 12"));
    assert!(!home.path("x").exists());
}

#[test]
fn a_diverging_loss_is_an_error_and_the_last_good_checkpoint_stays() {
    let home = scratch("diverging");
    let message = home.fails(&format!("{SMALL} --surrogate continuous --optimizer sgd --lr 1e38 --checkpoint-steps 1 --out x"), 1);
    assert!(message.contains("diverged") && message.contains("smaller learning rate"), "{message}");
    assert!(home.path("x/last.safetensors").exists() && !home.path("x/summary.json").exists());
    assert_eq!(home.fails("resume x --quiet", 1), message, "it is the same again");
    home.json("inspect x");
}

#[test]
fn what_overflows_before_anything_is_learned_is_named() {
    let home = scratch("overflow");
    for (args, names) in [
        ("--surrogate continuous --tau 1e9", "tau = 1e9 is too large"),
        ("--surrogate continuous --init two-point --sigma-m2 1 --sigma-b2 1e12 --tau 1e5", "sigma-b2 = 1e12 is too large"),
    ] {
        let message = home.fails(&format!("{SMALL} {args} --out x"), 1);
        assert!(message.contains(names) && !message.contains("smaller learning rate"), "{args}: {message}");
        std::fs::remove_dir_all(home.path("x")).unwrap();
    }
}

/// With room for the first checkpoint's settings only, then with enough: as on a disk that was full and no longer is.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_and_the_run_goes_on_when_there_is_room() {
    let home = scratch("full");
    home.succeeds(&format!("{SMALL} --out whole"));
    let binary = env!("CARGO_BIN_EXE_isinglass");
    // Blocks of 1024 bytes (512 in some shells): the checkpoints take about 57 KB.
    for (blocks, out) in [(1, "no-metrics"), (16, "no-checkpoint")] {
        // The limit on the size of files fails as a full disk does, if its signal is ignored.
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {binary} {SMALL} --out {out}");
        let output = std::process::Command::new("bash").args(["-c", &script]).current_dir(home.path(".")).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.starts_with("error: cannot write ") && message.lines().count() == 1, "{message}");
        assert!(!home.path(out).join("last.safetensors").exists(), "no half a checkpoint");
        home.succeeds(&format!("resume {out} --quiet"));
        for file in ["last.safetensors", "best.safetensors"] {
            assert_eq!(home.read(&format!("{out}/{file}")), home.read(&format!("whole/{file}")), "{out}/{file}");
        }
    }
}

#[test]
fn a_data_directory_that_is_named_is_the_one_that_counts() {
    let scratch = Scratch::new("train-data-dir");
    let error = scratch.fails("train --data mnist --data-dir nowhere --out run", 2);
    assert!(error.contains("nowhere"), "{error}");
}

#[test]
fn impossible_numbers_of_threads_and_epochs_are_refused() {
    let scratch = Scratch::new("train-limits");
    assert!(scratch.fails("train --threads 100000", 2).contains("1024"));
    assert!(scratch.fails("train --epochs 18446744073709551615", 2).contains("epochs"));
}

#[cfg(target_os = "linux")]
#[test]
fn networks_that_do_not_fit_the_memory_are_refused() {
    let home = scratch("memory");
    let message = home.fails(&format!("{SMALL} --width 1048576 --depth 12 --out x"), 2);
    assert!(message.contains("GiB are available; use narrower or fewer layers"), "{message}");
    assert!(!home.path("x").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_settings_cannot_hold_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let home = scratch("names");
    let name = std::ffi::OsStr::from_bytes(b"table-\xff.csv");
    std::fs::write(home.path(".").join(name), "0,1.5\n1,2.5\n0,1.5\n1,2.5\n").unwrap();
    let output = home.command("train --width 3 --out x --train-images").arg(name).arg("--test-images").arg(name).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("not UTF-8"), "{said}");
    assert!(!home.path("x").exists());
}
