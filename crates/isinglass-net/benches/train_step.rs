//! `cargo bench -p isinglass-net --bench train_step [-- --quick]`: training steps here and with PyTorch, in turns.
//!
//! PyTorch's side is `torch_partner.py`, which says how to install it; `ISINGLASS_PYTHON` names another interpreter than `python3`.
//! Every round measures each side and the machine's peak of fused multiply-adds; ratios are medians over the rounds of a round's own ratio.
//! They mean something on a noisy machine, absolute times little.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use isinglass_net::{Examples, Goal, Init, Means, NetworkConfig, Neuron, Rng, Schedule, TrainConfig, Trainer, Values};
use serde_json::{Value, json};

const INPUTS: usize = 784;
const CLASSES: usize = 10;

/// A network and its batch.
#[derive(Debug, Clone, Copy)]
struct Case {
    width: usize,
    depth: usize,
    batch: usize,
    surrogate: &'static str,
}

const fn deterministic(width: usize, depth: usize, batch: usize) -> Case {
    Case { width, depth, batch, surrogate: "deterministic" }
}

const SMALL: Case = deterministic(256, 10, 64);
const MIDDLE: Case = deterministic(512, 20, 64);
const LARGE: Case = deterministic(1000, 20, 64);
const SAMPLED: Case = Case { surrogate: "lrt-binary", ..MIDDLE };
/// Divisible by nothing a kernel likes, and the next size that is.
const ODD: Case = deterministic(501, 10, 100);
const EVEN: Case = deterministic(512, 10, 112);

impl Case {
    /// Inputs and outputs of every layer.
    fn layers(&self) -> impl Iterator<Item = (usize, usize)> {
        let sizes: Vec<usize> = [INPUTS].into_iter().chain(vec![self.width; self.depth]).chain([CLASSES]).collect();
        (0..=self.depth).map(move |l| (sizes[l], sizes[l + 1]))
    }

    fn parameters(&self) -> usize {
        self.layers().map(|(inputs, outputs)| (inputs + 1) * outputs).sum()
    }

    /// Floating-point operations of a step's matrix products: two forward and four backward, of which the first layer needs only the two of its means.
    fn flops(&self) -> f64 {
        let products = self.layers().enumerate().map(|(l, (inputs, outputs))| inputs * outputs * if l == 0 { 4 } else { 6 });
        2.0 * self.batch as f64 * products.sum::<usize>() as f64
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}x{} batch {} {}", self.width, self.depth, self.batch, self.surrogate))
    }
}

/// Our side: the trainer as a user has it, data and all.
struct Ours(Trainer<'static>);

impl Ours {
    fn new(case: &Case, threads: usize) -> Self {
        let config = NetworkConfig {
            inputs: INPUTS,
            hidden: vec![case.width; case.depth],
            classes: CLASSES,
            surrogate: case.surrogate.parse().expect("a surrogate"),
            neuron: if case.surrogate == "deterministic" { Neuron::Sign } else { Neuron::Tanh(1.0) },
            init: Init::TwoPoint,
            sigma_m2: Some(0.9),
            ..NetworkConfig::default()
        };
        let network = config.init(1).expect("a network");
        let count = 100 * case.batch;
        // Leaked: the benchmark ends soon enough.
        let values: &[u8] = (0..count * INPUTS).map(|i| (i * i % 251) as u8).collect::<Vec<_>>().leak();
        let labels: &[u8] = (0..count).map(|i| (i % CLASSES) as u8).collect::<Vec<_>>().leak();
        let examples = Examples::new(Values::Bytes(values), INPUTS, labels, CLASSES).expect("examples");
        let config = TrainConfig {
            goal: Goal::Surrogate,
            means: Means::Clip,
            schedule: Schedule::Constant,
            lr: 2e-4,
            batch: case.batch,
            epochs: 1_000_000,
            validation: 0.0,
            ..TrainConfig::default()
        };
        Self(Trainer::new(network, config, examples, threads).expect("a trainer"))
    }

    /// Seconds for so many steps, and the last loss.
    fn steps(&mut self, count: usize) -> (f64, f32) {
        let start = Instant::now();
        let mut loss = 0.0;
        for _ in 0..count {
            loss = self.0.step().expect("a step").loss;
        }
        (start.elapsed().as_secs_f64(), loss)
    }
}

/// How long and how often to measure.
struct Plan {
    rounds: usize,
    seconds: f64,
    threads: usize,
}

fn main() {
    let quick = match std::env::args().skip(1).filter(|argument| argument != "--bench").collect::<Vec<_>>().as_slice() {
        [] => false,
        [only] if only == "--quick" => true,
        other => {
            eprintln!("unknown arguments {other:?}: only --quick is known");
            std::process::exit(2);
        }
    };
    let threads = thread::available_parallelism().map_or(1, |cores| cores.get().min(2));
    let plan = if quick { Plan { rounds: 3, seconds: 0.1, threads } } else { Plan { rounds: 9, seconds: 0.4, threads } };
    let cases: &[Case] = if quick { &[SMALL] } else { &[SMALL, MIDDLE, LARGE, SAMPLED] };

    let mut torch = Torch::start_all();
    if torch.is_empty() {
        println!("PyTorch was not found (torch_partner.py says how to install it): only our side is measured");
    }
    println!("{threads} threads, median of {} rounds", plan.rounds);
    println!(
        "{:<34} {:>8} {:>9} {:>10} {:>8} {:>8} {:>6} {:>8}",
        "", "ours ms", "eager ms", "compile ms", "eager/us", "comp./us", "GF/s", "of peak"
    );
    for case in cases {
        against_torch(case, &plan, &mut torch);
    }
    println!();
    per_flop("time per operation, odd sizes over even ones", &ODD, &EVEN, &plan);
    per_flop("time per step, lrt-binary over deterministic", &SAMPLED, &MIDDLE, &plan);
    side_by_side(&MIDDLE, &plan);
}

/// One row of the table.
fn against_torch(case: &Case, plan: &Plan, torch: &mut [Torch]) {
    for side in &mut *torch {
        side.setup(case, plan.threads);
    }
    let mut ours = Ours::new(case, plan.threads);
    let our_count = count_for(plan.seconds, |n| ours.steps(n).0);
    let counts: Vec<usize> = torch.iter_mut().map(|side| count_for(plan.seconds, |n| side.steps(n))).collect();

    let mut our_times = Vec::new();
    let mut peaks = Vec::new();
    let mut times = vec![Vec::new(); torch.len()];
    for _ in 0..plan.rounds {
        peaks.extend(fma_peak(plan.threads));
        our_times.push(settled(|| ours.steps(our_count).0) / our_count as f64);
        for ((side, &count), times) in torch.iter_mut().zip(&counts).zip(&mut times) {
            times.push(settled(|| side.steps(count)) / count as f64);
        }
    }
    let milliseconds = |times: Option<&Vec<f64>>| times.map_or_else(|| "-".to_owned(), |times| format!("{:.2}", 1e3 * median(times)));
    let ratio =
        |times: Option<&Vec<f64>>| times.map_or_else(|| "-".to_owned(), |times| format!("{:.2}", median(&ratios(times, &our_times))));
    let speeds: Vec<f64> = our_times.iter().map(|seconds| case.flops() / seconds / 1e9).collect();
    println!(
        "{case:<34} {:>8} {:>9} {:>10} {:>8} {:>8} {:>6.0} {:>8}",
        milliseconds(Some(&our_times)),
        milliseconds(times.first()),
        milliseconds(times.get(1)),
        ratio(times.first()),
        ratio(times.get(1)),
        median(&speeds),
        if peaks.is_empty() { "-".to_owned() } else { format!("{:.0} %", 100.0 * median(&ratios(&speeds, &peaks))) },
    );
}

/// The time one case takes per operation over that of another.
fn per_flop(name: &str, upper: &Case, lower: &Case, plan: &Plan) {
    let mut sides = [upper, lower].map(|case| {
        let mut ours = Ours::new(case, plan.threads);
        let count = count_for(plan.seconds, |n| ours.steps(n).0);
        (ours, count, count as f64 * case.flops())
    });
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..plan.rounds {
        for ((ours, count, flops), times) in sides.iter_mut().zip(&mut times) {
            times.push(settled(|| ours.steps(*count).0) / *flops);
        }
    }
    println!("{name}: {:.3} ({upper} over {lower})", median(&ratios(&times[0], &times[1])));
}

/// What two independent trainers of one thread each get done, over what one alone does.
fn side_by_side(case: &Case, plan: &Plan) {
    let mut pair = [Ours::new(case, 1), Ours::new(case, 1)];
    let count = count_for(plan.seconds, |n| pair[0].steps(n).0);
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        alone.push(settled(|| pair[0].steps(count).0));
        let start = Instant::now();
        thread::scope(|scope| {
            for ours in &mut pair {
                scope.spawn(|| ours.steps(count));
            }
        });
        together.push(start.elapsed().as_secs_f64() / 2.0);
    }
    println!("throughput, two trainers of one thread over one: {:.2} ({case})", median(&ratios(&alone, &together)));
}

/// How many steps take about so many seconds, after a warm-up.
fn count_for(seconds: f64, mut steps: impl FnMut(usize) -> f64) -> usize {
    steps(2);
    ((2.0 * seconds / steps(2)) as usize).max(2)
}

/// Lets the threads of the side before go to sleep first.
fn settled(measure: impl FnOnce() -> f64) -> f64 {
    thread::sleep(Duration::from_millis(250));
    measure()
}

fn ratios(upper: &[f64], lower: &[f64]) -> Vec<f64> {
    upper.iter().zip(lower).map(|(upper, lower)| upper / lower).collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// The other side, kept running between questions.
struct Torch {
    mode: &'static str,
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Torch {
    /// One process in eager mode and one that compiles, or none if PyTorch cannot be imported.
    fn start_all() -> Vec<Self> {
        let python = std::env::var("ISINGLASS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let probe = Command::new(&python).args(["-c", "import torch"]).stderr(Stdio::null()).status();
        if !probe.is_ok_and(|status| status.success()) {
            return Vec::new();
        }
        ["eager", "compile"].map(|mode| Self::start(&python, mode)).into()
    }

    fn start(python: &str, mode: &'static str) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/torch_partner.py");
        let mut child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python starts");
        let questions = child.stdin.take().expect("a pipe");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { mode, child, questions, answers }
    }

    fn ask(&mut self, question: &Value) -> Value {
        writeln!(self.questions, "{question}").expect("PyTorch listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("PyTorch answers");
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("PyTorch answers {question} with JSON, not {answer:?}: {error}"))
    }

    fn setup(&mut self, case: &Case, threads: usize) {
        let Case { width, depth, batch, surrogate } = case;
        let mode = self.mode;
        let answer = self.ask(&json!({"setup": {
            "width": width, "depth": depth, "batch": batch, "inputs": INPUTS, "classes": CLASSES,
            "threads": threads, "mode": mode, "surrogate": surrogate, "seed": 1,
        }}));
        assert_eq!(answer["parameters"], case.parameters(), "both sides train the same network");
    }

    /// Seconds for so many steps.
    fn steps(&mut self, count: usize) -> f64 {
        self.ask(&json!({"steps": count}))["seconds"].as_f64().expect("seconds")
    }
}

impl Drop for Torch {
    fn drop(&mut self) {
        // Our own child; it ends with us.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Fused multiply-adds on registers alone, on all threads at once, in GFLOP/s: the best of a few short runs.
fn fma_peak(threads: usize) -> Option<f64> {
    const RUNS: usize = 3;
    const LOOPS: usize = 10_000_000;
    let (kernel, flops_per_loop) = fma_kernel()?;
    let run = || {
        let barrier = Barrier::new(threads);
        let spans: Vec<(Instant, Instant)> = thread::scope(|scope| {
            let measure = || {
                barrier.wait();
                let start = Instant::now();
                kernel(LOOPS);
                (start, Instant::now())
            };
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(measure)).collect();
            workers.into_iter().map(|worker| worker.join().expect("no panic")).collect()
        });
        let start = spans.iter().map(|span| span.0).min()?;
        let end = spans.iter().map(|span| span.1).max()?;
        Some((threads * LOOPS * flops_per_loop) as f64 / (end - start).as_secs_f64() / 1e9)
    };
    (0..RUNS).filter_map(|_| run()).max_by(f64::total_cmp)
}

/// A loop of fused multiply-adds, and the operations of one turn.
#[cfg(target_arch = "x86_64")]
fn fma_kernel() -> Option<(fn(usize), usize)> {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps, _mm512_fmadd_ps, _mm512_set1_ps};
    use std::hint::black_box;

    /// Enough to hide the latency of four or five cycles of two units.
    const CHAINS: usize = 12;

    #[target_feature(enable = "avx512f")]
    fn avx512(loops: usize) {
        let (factor, term) = (_mm512_set1_ps(black_box(0.5)), _mm512_set1_ps(black_box(0.5)));
        let mut sums = [_mm512_set1_ps(black_box(1.0)); CHAINS];
        for _ in 0..loops {
            for sum in &mut sums {
                *sum = _mm512_fmadd_ps(*sum, factor, term);
            }
        }
        black_box(sums);
    }

    #[target_feature(enable = "avx2,fma")]
    fn avx2(loops: usize) {
        let (factor, term) = (_mm256_set1_ps(black_box(0.5)), _mm256_set1_ps(black_box(0.5)));
        let mut sums = [_mm256_set1_ps(black_box(1.0)); CHAINS];
        for _ in 0..loops {
            for sum in &mut sums {
                *sum = _mm256_fmadd_ps(*sum, factor, term);
            }
        }
        black_box(sums);
    }

    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the feature was detected.
        Some((|loops| unsafe { avx512(loops) }, 2 * 16 * CHAINS))
    } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the features were detected.
        Some((|loops| unsafe { avx2(loops) }, 2 * 8 * CHAINS))
    } else {
        None
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn fma_kernel() -> Option<(fn(usize), usize)> {
    None
}
