//! A small grid of training runs, in turns with PyTorch in two worker processes: `cargo bench -p isinglass-runs --bench sweep [-- [--epochs 3] [--turns 3]]`.
//!
//! PyTorch's side is `sweep_torch.py`; `ISINGLASS_PYTHON` names another interpreter than `python3`. Both sides train the same networks on the same images for the same epochs and
//! evaluate the surrogate and `sign(M)` on all images; ours also saves its state and writes records. Reported are the ratio of the times, how busy our threads were,
//! and what a cell takes that trains almost nothing.
//!
//! `--epochs N` trains for `N` epochs instead of 10; `--turns N` takes `N` turns instead of 9.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use isinglass_data::{Dataset, Pixels};
use isinglass_runs::sweep::{Grid, Sweep, SweepData, WorkOptions};
use serde_json::{Value, json};

const TURNS: u32 = 9;
const GRID: &str = r#"
[train]
data = "digits"
train-fraction = 0.3
validation = 0.0
width = 128
neuron = "tanh:1"
init = "two-point"
sigma-b2 = 0.0
goal = "surrogate"
means = "clip"
optimizer = "adam"
lr = 1e-3
schedule = "constant"
batch = 64
epochs = 10
samples = []
[grid]
depth = [3, 6, 12]
sigma-m2 = [0.3, 0.9]
seed = [1, 2]
"#;

/// The number that follows an option on the command line, if it is given.
fn option(name: &str) -> Option<u32> {
    let args: Vec<String> = std::env::args().collect();
    let at = args.iter().position(|arg| arg == name)?;
    Some(args.get(at + 1).and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{name} N")))
}

/// The grid for as many epochs as the command line asks for with `--epochs N`.
fn grid() -> Grid {
    let text = option("--epochs").map_or(GRID.to_owned(), |epochs| GRID.replace("epochs = 10", &format!("epochs = {epochs}")));
    Grid::from_toml(&text).expect("a grid")
}

/// Twenty images' worth of training: what is left is claiming, evaluating and landing a cell.
const TINY: &str = r#"
[train]
data = "digits"
train-fraction = 0.001
validation = 0.0
width = 4
depth = 1
epochs = 1
samples = []
[grid]
seed = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
lr = [0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.007, 0.008, 0.009, 0.01, 0.011, 0.012, 0.013, 0.014, 0.015, 0.016, 0.017, 0.018, 0.019, 0.02]
"#;

fn main() {
    // Cargo passes `--bench`; a test run of all targets does not, and wants no measurement.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let scratch = std::env::temp_dir().join(format!("isinglass-sweep-bench-{}", std::process::id()));
    fs::create_dir_all(&scratch).expect("a scratch directory");
    let (grid, turns) = (grid(), option("--turns").unwrap_or(TURNS));
    let cells = grid.cells().expect("cells");
    let data = SweepData::load(&cells, None).expect("digits are generated");
    let job = export(&cells[0].config.load_data(None).expect("digits"), &cells, &scratch);
    let mut ratios = Vec::new();
    for turn in 1..=turns {
        let ours = run(&scratch.join(format!("sweep-{turn}")), &grid, &data, 2);
        print!("turn {turn}: ours {:.1} s ({:.0} cells/h), threads {:.1} % busy", ours.seconds, ours.per_hour(), 100.0 * ours.busy);
        match torch(&job) {
            Some(theirs) => {
                ratios.push(theirs / ours.seconds);
                println!("; PyTorch {theirs:.1} s, ratio {:.1}", theirs / ours.seconds);
            }
            None => println!("; PyTorch cannot be imported"),
        }
    }
    if !ratios.is_empty() {
        ratios.sort_by(f64::total_cmp);
        println!("median ratio {:.1}", ratios[ratios.len() / 2]);
    }
    let grid = Grid::from_toml(TINY).expect("a grid");
    let data = SweepData::load(&grid.cells().expect("cells"), None).expect("digits are generated");
    let tiny = run(&scratch.join("tiny"), &grid, &data, 2);
    println!(
        "{} cells of almost no training: {:.1} ms of a thread each, all included",
        tiny.cells,
        2000.0 * tiny.seconds / tiny.cells as f64
    );
    let _ = fs::remove_dir_all(&scratch);
}

/// One run of the whole grid.
struct Outcome {
    cells: usize,
    seconds: f64,
    /// Processor time over wall time and threads, until only the last cells were left.
    busy: f64,
}

impl Outcome {
    fn per_hour(&self) -> f64 {
        3600.0 * self.cells as f64 / self.seconds
    }
}

fn run(directory: &Path, grid: &Grid, data: &SweepData, threads: usize) -> Outcome {
    let (began, processor) = (Instant::now(), processor_seconds());
    let sweep = Sweep::create(directory, grid.clone(), false).expect("a sweep");
    let mut busy = None;
    let options = WorkOptions { threads, ..WorkOptions::default() };
    let is_last =
        |standing: &isinglass_runs::sweep::Standing| standing.done + standing.running >= standing.cells && standing.running < threads;
    let mut watch = |event: isinglass_runs::sweep::Event<'_>| {
        if let isinglass_runs::sweep::Event::Tick(standing) = event
            && busy.is_none()
            && is_last(standing)
        {
            busy = Some((processor_seconds() - processor) / (threads as f64 * began.elapsed().as_secs_f64()));
        }
    };
    sweep.work(data, &options, &AtomicBool::new(false), &mut watch).expect("all cells end");
    let seconds = began.elapsed().as_secs_f64();
    Outcome { cells: sweep.cells().len(), seconds, busy: busy.unwrap_or(f64::NAN) }
}

/// User and system time of this process.
fn processor_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name, which may hold anything but a closing parenthesis, the 12th and 13th fields are hundredths of seconds.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).unwrap_or(f64::NAN);
    (ticks(11) + ticks(12)) / 100.0
}

/// Writes the images that cells train and test with, and says what is to be done.
fn export(data: &Dataset, cells: &[isinglass_runs::sweep::Cell], directory: &Path) -> Value {
    let used = (cells[0].config.train_fraction * data.train.len() as f64) as usize;
    for (name, split, count) in [("train", &data.train, used), ("test", &data.test, data.test.len())] {
        let Pixels::Bytes(bytes) = split.pixels() else { panic!("digits are bytes") };
        let length = split.image_len();
        write_npy(&directory.join(format!("{name}_images.npy")), &bytes[..count * length], &format!("({count}, {length})"));
        write_npy(&directory.join(format!("{name}_labels.npy")), &split.labels()[..count], &format!("({count},)"));
    }
    let places: Vec<Value> = cells.iter().map(|cell| json!([cell.config.depth, cell.config.sigma_m2, cell.config.seed])).collect();
    let config = &cells[0].config;
    json!({"cells": places, "width": config.width, "epochs": config.epochs, "batch": config.batch, "lr": config.lr, "workers": 2, "data": directory})
}

fn write_npy(path: &Path, bytes: &[u8], shape: &str) {
    let mut header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}");
    // The header ends with a line feed, at a multiple of 64 bytes.
    let padding = 64 - (10 + header.len() + 1) % 64;
    header += &" ".repeat(padding);
    header.push('\n');
    let length = u16::try_from(header.len()).expect("a short header").to_le_bytes();
    fs::write(path, [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), bytes].concat()).expect("a file");
}

/// Seconds of the other side; `None` if there is no PyTorch.
fn torch(job: &Value) -> Option<f64> {
    let python = std::env::var("ISINGLASS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/sweep_torch.py");
    let mut child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    child.stdin.take()?.write_all(job.to_string().as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    let answer: Value = serde_json::from_slice(&output.stdout).ok()?;
    answer["seconds"].as_f64()
}
