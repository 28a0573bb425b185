//! Running the command as a user runs it.

#![allow(dead_code)] // Each test file uses its own part.

pub mod browser;
#[cfg(target_os = "linux")]
pub mod cluster;
pub mod sweeps;
pub mod synthetic;

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A directory of the test's own, removed at its end: where commands run, and their home. They see no data but what is put there.
pub struct Scratch {
    directory: PathBuf,
    variables: Vec<(String, OsString)>,
}

impl Scratch {
    pub fn new(name: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let unique = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("isinglass-{name}-{}-{unique}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self { directory: path, variables: Vec::new() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Sets a variable for all commands from now on.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.push((name.to_owned(), value.into()));
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn entries(&self) -> usize {
        fs::read_dir(&self.directory).unwrap().count()
    }

    /// The command, ready to run.
    pub fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isinglass"));
        command.args(args.split_whitespace()).current_dir(&self.directory);
        command.env("HOME", &self.directory).env("LOCALAPPDATA", &self.directory);
        command.env_remove("XDG_CACHE_HOME").env_remove("ISINGLASS_DATA");
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    pub fn run(&self, args: &str) -> Output {
        self.command(args).output().expect("the binary runs")
    }

    /// The standard output of a command that must succeed without a word on standard error.
    #[track_caller]
    pub fn succeeds(&self, args: &str) -> String {
        let output = self.run(args);
        assert_eq!(output.status.code(), Some(0), "{args}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(said(&output).is_empty(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    pub fn json(&self, args: &str) -> Value {
        serde_json::from_str(&self.succeeds(&format!("{args} --format json"))).unwrap()
    }

    /// The one sentence of a command that must fail with the given code and print nothing.
    #[track_caller]
    pub fn fails(&self, args: &str, code: i32) -> String {
        let output = self.run(args);
        let message = said(&output);
        assert_eq!(output.status.code(), Some(code), "{args}: {message}");
        assert!(output.stdout.is_empty(), "{args}");
        assert!(message.starts_with("error: ") && message.lines().count() == 1, "{args}: {message}");
        message
    }
}

/// What a command said, except that images of the tests under a published name are not the published ones.
pub fn said(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    text.lines().filter(|line| !(line.starts_with("note: ") && line.contains("published as"))).map(|line| format!("{line}\n")).collect()
}

impl Scratch {
    /// Small images to learn, under MNIST's names: 400 to train with and 100 to test with, of 8 × 8 pixels in ten classes.
    pub fn small_images(&self) {
        for (split, count, seed) in [("train", 400, 1u64), ("t10k", 100, 2)] {
            let mut state = seed;
            let mut random = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize
            };
            let labels: Vec<u8> = (0..count).map(|i| (i % 10) as u8).collect();
            // Every class is bright where its own pattern is, on average.
            let bright = |label: usize, pixel: usize| (7 * pixel + 13 * label + pixel * label) % 11 < 4;
            let pixel = |label: usize, pixel: usize, noise: usize| if bright(label, pixel) == (noise % 100 < 85) { 200 + noise % 56 } else { noise % 56 } as u8;
            let pixels: Vec<u8> = labels
                .iter()
                .flat_map(|&label| (0..64).map(move |at| (usize::from(label), at)))
                .map(|(label, at)| pixel(label, at, random()))
                .collect();
            let size = |count: usize| (count as u32).to_be_bytes();
            self.write(
                &format!("data/mnist/{split}-images-idx3-ubyte"),
                &[&[0, 0, 8, 3][..], &size(count), &size(8), &size(8), &pixels].concat(),
            );
            self.write(&format!("data/mnist/{split}-labels-idx1-ubyte"), &[&[0, 0, 8, 1][..], &size(count), &labels].concat());
        }
    }

    /// A small table, `train.csv` (240 rows) and `test.csv` (60): three classes, columns of very different scale, one of them constant.
    pub fn small_table(&self) {
        for (name, count, seed) in [("train.csv", 240, 1u64), ("test.csv", 60, 2)] {
            let mut state = seed;
            let mut noise = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
            };
            let mut text = "class,height,weight,constant,tiny\n".to_owned();
            for row in 0..count {
                let class = row % 3;
                let height = 1.5 + 0.3 * f64::from(class) + 0.2 * noise();
                let weight = f64::from(10_000 * (1 + class % 2)) + 3000.0 * noise();
                let tiny = if class == 1 { 1e-6 } else { 0.0 } + 4e-7 * noise();
                text += &format!("{class},{height:.4},{weight:.2},7.5,{tiny:.9}\n");
            }
            self.write(name, text.as_bytes());
        }
    }

    /// The rows of a CSV file with a header, without their labels.
    pub fn rows(&self, name: &str) -> Vec<Vec<f32>> {
        let text = self.text(name);
        text.lines().skip(1).map(|line| line.split(',').skip(1).map(|field| field.parse().unwrap()).collect()).collect()
    }

    /// A file of text that must be there.
    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    /// The bytes of a file that must be there.
    #[track_caller]
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The lines of a run's metrics.
    pub fn metrics(&self, run: &str) -> Vec<Value> {
        let text = String::from_utf8(self.read(&format!("{run}/metrics.jsonl"))).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// A `.npy` file of format 1.0.
pub fn npy(dtype: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}");
    header += &" ".repeat(63 - (10 + header.len()) % 64);
    header.push('\n');
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

/// Numbers as `<f4` has them.
pub fn floats(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// A command that goes on while the test does.
pub fn start(home: &Scratch, args: &str) -> Child {
    home.command(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Kills a process again and again until one comes to its end, which must be a success. Process number `round` gets `patience(round)`, which grows; `resume` starts the
/// next and is given the number of kills.
pub fn kill_until_the_end(mut child: Child, patience: impl Fn(u64) -> Duration, resume: impl Fn(u64) -> Child) {
    let mut kills = 0;
    loop {
        let began = Instant::now();
        while began.elapsed() < patience(kills) && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        child = resume(kills);
    }
    assert!(child.wait().unwrap().success() && kills >= 1, "{kills} kills");
}

/// Waits until something holds; panics if it never does.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}
