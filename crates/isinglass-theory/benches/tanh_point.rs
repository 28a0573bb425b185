//! `cargo bench -p isinglass-theory`: one point of a continuous tanh network, here and with SciPy, in turns.
//!
//! SciPy's side is `tanh_point.py`; it needs `python3` with `scipy` (`pip install scipy`), or `ISINGLASS_PYTHON` naming another interpreter.
//! Ratios mean something on a noisy machine, absolute times little.

use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use isinglass_theory::{Model, Neuron, Point, RandomNetwork};

const ROUNDS: usize = 3;
/// In the ordered phase (one-dimensional integrals only) and in the chaotic one (two-dimensional too).
const POINTS: [(&str, f64, f64); 2] = [("ordered", 1.2, 0.1), ("chaotic", 3.0, 0.1)];

fn main() {
    let Some(mut scipy) = Scipy::start() else {
        println!("SciPy was not found (pip install scipy): only our side is measured");
        for (phase, sigma_w2, sigma_b2) in POINTS {
            println!("{phase}: {:.1} µs", 1e6 * ours(sigma_w2, sigma_b2).0);
        }
        return;
    };
    for (phase, sigma_w2, sigma_b2) in POINTS {
        let mut ratios = Vec::new();
        let mut last = (0.0, 0.0);
        for _ in 0..ROUNDS {
            let (our_seconds, our_chi) = ours(sigma_w2, sigma_b2);
            let (their_seconds, their_chi) = scipy.point(sigma_w2, sigma_b2);
            assert!((our_chi / their_chi - 1.0).abs() < 1e-5, "both sides compute the same: {our_chi} and {their_chi}");
            ratios.push(their_seconds / our_seconds);
            last = (our_seconds, their_seconds);
        }
        ratios.sort_by(f64::total_cmp);
        println!(
            "tanh point, {phase}: SciPy takes {:.0} times as long (median of {ROUNDS}; last round {:.1} µs against {:.1} ms)",
            ratios[ROUNDS / 2],
            1e6 * last.0,
            1e3 * last.1
        );
    }
}

/// Seconds per point, and χ.
fn ours(sigma_w2: f64, sigma_b2: f64) -> (f64, f64) {
    const REPEATS: u32 = 200;
    let network = RandomNetwork::new(Model::Continuous, Neuron::Tanh(1.0)).expect("a valid pair");
    let compute = || Point::of(&network.at(Some(black_box(sigma_w2)), sigma_b2).expect("valid variances")).expect("a certified point");
    let point = compute();
    let start = Instant::now();
    for _ in 0..REPEATS {
        black_box(compute());
    }
    (start.elapsed().as_secs_f64() / f64::from(REPEATS), point.chi.expect("a slope"))
}

/// The other side, kept running between questions.
struct Scipy {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Scipy {
    fn start() -> Option<Self> {
        let python = std::env::var("ISINGLASS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/tanh_point.py");
        let mut child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let questions = child.stdin.take()?;
        let mut answers = BufReader::new(child.stdout.take()?);
        let mut ready = String::new();
        answers.read_line(&mut ready).ok()?;
        (ready.trim() == "ready").then_some(Self { child, questions, answers })
    }

    /// Seconds for the point, and χ.
    fn point(&mut self, sigma_w2: f64, sigma_b2: f64) -> (f64, f64) {
        writeln!(self.questions, "{sigma_w2} {sigma_b2}").expect("SciPy listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("SciPy answers");
        let numbers: Vec<f64> = answer.split_whitespace().map(|word| word.parse().expect("a number")).collect();
        (numbers[0], numbers[4])
    }
}

impl Drop for Scipy {
    fn drop(&mut self) {
        // Our own child; it ends with us.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
