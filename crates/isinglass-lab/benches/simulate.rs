//! The simulations of the paper's Figure 1, in turns with PyTorch: `cargo bench -p isinglass-lab`.
//!
//! PyTorch's side is `simulate_torch.py`; `ISINGLASS_PYTHON` names another interpreter than `python3`. Both sides draw every weight, measure all layers and the correlation map, and send no
//! gradients back. Ours also simulates the narrower networks and compares with the theory. A last part tells what gradients cost, and that the cost is linear in depth and realisations.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use isinglass_lab::simulate::Simulation;
use isinglass_theory::{MeanField, Model, Neuron, RandomNetwork};
use serde_json::{Value, json};

const SETTINGS: [f64; 3] = [0.2, 0.5, 0.99];
const SIGMA_B2: f64 = 0.001;
const TURNS: usize = 5;
/// Networks of each setting in a turn; the figure has 50, and the time is proportional to them.
const REALISATIONS: usize = 10;

fn main() {
    // Cargo passes `--bench`; a test run of all targets does not, and wants no measurement.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let simulation = Simulation { backwards: false, realisations: REALISATIONS, threads, ..Simulation::default() };
    let mut torch = Torch::start();
    if torch.is_none() {
        println!("PyTorch cannot be imported: only our side is measured");
    }
    println!("Figure 1: 3 settings, N = {}, depth {}, {threads} threads; {REALISATIONS} realisations", simulation.width, simulation.depth);
    let mut ratios = Vec::new();
    for turn in 1..=TURNS {
        let (ours, q) = total(&simulation);
        let Some(torch) = &mut torch else {
            println!("turn {turn}: ours {ours:.2} s");
            continue;
        };
        let (theirs, theirs_q) = torch.total(&simulation);
        assert!((q / theirs_q - 1.0).abs() < 0.1, "both sides simulate the same networks: q = {q} and {theirs_q}");
        ratios.push(theirs / ours);
        println!("turn {turn}: ours {ours:.2} s, PyTorch {theirs:.2} s, ratio {:.1}", theirs / ours);
    }
    if !ratios.is_empty() {
        ratios.sort_by(f64::total_cmp);
        println!("median ratio {:.1}", ratios[ratios.len() / 2]);
    }
    let ours = |realisations, depth, backwards| total(&Simulation { realisations, depth, backwards, ..simulation.clone() }).0;
    println!("the figure's 50 realisations: {:.2} s, with gradients {:.2} s", ours(50, 30, false), ours(50, 30, true));
    println!("half the realisations {:.2} s, half the depth {:.2} s (the map's layers included)", ours(25, 30, false), ours(50, 15, false));
}

fn field(sigma_m2: f64) -> MeanField {
    RandomNetwork::new(Model::Deterministic, Neuron::Sign)
        .and_then(|network| network.at(Some(sigma_m2), SIGMA_B2))
        .expect("a valid network")
}

/// Seconds for all settings, comparison included, and the last `q_aa`.
fn total(simulation: &Simulation) -> (f64, f64) {
    let begin = Instant::now();
    let mut q = 0.0;
    for sigma_m2 in SETTINGS {
        let field = field(sigma_m2);
        let comparison = simulation.run(&field, &|_, _| {}).and_then(|measured| measured.compare(&field)).expect("a comparison");
        q = comparison.layers[simulation.depth].q_aa.mean;
    }
    (begin.elapsed().as_secs_f64(), q)
}

/// The other side, kept running between turns.
struct Torch {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Torch {
    fn start() -> Option<Self> {
        let python = std::env::var("ISINGLASS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let probe = Command::new(&python).args(["-c", "import torch"]).stderr(Stdio::null()).status();
        if !probe.is_ok_and(|status| status.success()) {
            return None;
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/simulate_torch.py");
        let mut child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python starts");
        let questions = child.stdin.take().expect("a pipe");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut torch = Self { child, questions, answers };
        // The first call pays for what is loaded on demand.
        torch.total(&Simulation { realisations: 2, depth: 2, threads: 1, ..Simulation::default() });
        Some(torch)
    }

    fn total(&mut self, simulation: &Simulation) -> (f64, f64) {
        let (mut seconds, mut q) = (0.0, 0.0);
        for sigma_m2 in SETTINGS {
            let (_, q_star) = field(sigma_m2).at_fixed_point().expect("a fixed point");
            let question = json!({
                "width": simulation.width, "realisations": simulation.realisations, "depth": simulation.depth, "sigma_m2": sigma_m2,
                "sigma_b2": SIGMA_B2, "map_points": simulation.map.len(), "q_star": q_star, "threads": simulation.threads, "seed": 1,
            });
            writeln!(self.questions, "{question}").expect("PyTorch listens");
            let mut answer = String::new();
            self.answers.read_line(&mut answer).expect("PyTorch answers");
            let answer: Value = serde_json::from_str(&answer).expect("PyTorch answers with JSON");
            seconds += answer["seconds"].as_f64().expect("seconds");
            q = answer["q"].as_f64().expect("q");
        }
        (seconds, q)
    }
}

impl Drop for Torch {
    fn drop(&mut self) {
        // Our own child; it ends with us.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
