//! `cargo bench -p isinglass-net --bench train_step [-- [--quick] [--only TEXT]]`: training steps here and with PyTorch, in turns.
//!
//! PyTorch's side is `torch_partner.py`, which says how to install it; `ISINGLASS_PYTHON` names another interpreter than `python3`.
//! Before anything is timed, PyTorch's gradients are compared with ours.
//! Every round measures each side and the machine's peak of fused multiply-adds; ratios are medians over the rounds of a round's own ratio.
//! They mean something on a noisy machine, absolute times little.
//!
//! `--only TEXT` measures the cases whose labels contain the text, and pairs of which one does.
//!
//! The first rows train as the paper does: clipped means, goal `surrogate`. The last ones are the default of `isinglass train`: tanh means, goal `binary`.

mod peak;
mod torch;

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use isinglass_net::{
    Examples, Goal, Gradients, Inference, Init, Means, Network, NetworkConfig, Neuron, Schedule, TrainConfig, Trainer, Values, lrt_noise,
};

use peak::fma_peak;
use torch::Torch;

const INPUTS: usize = 784;
const CLASSES: usize = 10;

/// A network and its batch.
#[derive(Debug, Clone, Copy)]
struct Case {
    width: usize,
    depth: usize,
    batch: usize,
    surrogate: &'static str,
    /// Whether means and goal are the defaults: tanh and binary.
    is_default: bool,
}

const fn deterministic(width: usize, depth: usize, batch: usize) -> Case {
    Case { width, depth, batch, surrogate: "deterministic", is_default: false }
}

const SMALL: Case = deterministic(256, 10, 64);
const MIDDLE: Case = deterministic(512, 20, 64);
const LARGE: Case = deterministic(1000, 20, 64);
const SAMPLED: Case = Case { surrogate: "lrt-binary", ..MIDDLE };
const SMALL_DEFAULT: Case = Case { is_default: true, ..SMALL };
const MIDDLE_DEFAULT: Case = Case { is_default: true, ..MIDDLE };
const LARGE_DEFAULT: Case = Case { is_default: true, ..LARGE };
/// Divisible by nothing a kernel likes, and the next size that is.
const ODD: Case = deterministic(501, 10, 100);
const EVEN: Case = deterministic(512, 10, 112);

impl Case {
    /// Inputs and outputs of every layer.
    fn layers(&self) -> impl Iterator<Item = (usize, usize)> {
        let sizes: Vec<usize> = [INPUTS].into_iter().chain(vec![self.width; self.depth]).chain([CLASSES]).collect();
        (0..=self.depth).map(move |l| (sizes[l], sizes[l + 1]))
    }

    /// What PyTorch's side calls the parametrisation.
    fn means(&self) -> &'static str {
        if self.is_default { "tanh" } else { "clip" }
    }

    fn parameters(&self) -> usize {
        self.layers().map(|(inputs, outputs)| (inputs + 1) * outputs).sum()
    }

    /// Floating-point operations of an example's way through the network.
    fn forward_flops(&self) -> f64 {
        4.0 * self.layers().map(|(inputs, outputs)| inputs * outputs).sum::<usize>() as f64
    }

    /// Floating-point operations of a step's matrix products: two forward and four backward, of which the first layer needs only the two of its means.
    fn flops(&self) -> f64 {
        let products = self.layers().enumerate().map(|(l, (inputs, outputs))| inputs * outputs * if l == 0 { 4 } else { 6 });
        2.0 * self.batch as f64 * products.sum::<usize>() as f64
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { width, depth, batch, surrogate, is_default } = self;
        f.pad(&format!("{width}x{depth} batch {batch} {surrogate}{}", if *is_default { " tanh" } else { "" }))
    }
}

/// Our side: the trainer as a user has it, data and all.
struct Ours(Trainer<'static>);

impl Ours {
    fn network(case: &Case) -> Network {
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
        config.init(1).expect("a network")
    }

    /// A hundred batches: values and labels. Leaked: the benchmark ends soon enough.
    fn examples(case: &Case) -> (&'static [u8], &'static [u8]) {
        let count = 100 * case.batch;
        let values: &[u8] = (0..count * INPUTS).map(|i| (i * i % 251) as u8).collect::<Vec<_>>().leak();
        let labels: &[u8] = (0..count).map(|i| (i % CLASSES) as u8).collect::<Vec<_>>().leak();
        (values, labels)
    }

    fn new(case: &Case, threads: usize) -> Self {
        let network = Self::network(case);
        let (values, labels) = Self::examples(case);
        let examples = Examples::new(Values::Bytes(values), INPUTS, labels, CLASSES).expect("examples");
        let (goal, means) = if case.is_default { (Goal::Binary, Means::Tanh) } else { (Goal::Surrogate, Means::Clip) };
        let config = TrainConfig {
            goal,
            means,
            schedule: Schedule::Constant,
            lr: 2e-4,
            batch: case.batch,
            epochs: 1_000_000,
            validation: 0.0,
            ..TrainConfig::default()
        };
        Self(Trainer::new(network, config, &examples).expect("a trainer").with_threads(threads))
    }

    /// Seconds taken by `count` steps, and the last loss.
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
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let (quick, only) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => (false, ""),
        ["--quick"] => (true, ""),
        ["--only", text] => (false, text),
        ["--quick", "--only", text] | ["--only", text, "--quick"] => (true, text),
        _ => {
            eprintln!("unknown arguments {arguments:?}: only --quick and --only TEXT are known");
            std::process::exit(2);
        }
    };
    let wanted = |case: &Case| case.to_string().contains(only);
    let threads = thread::available_parallelism().map_or(1, |cores| cores.get().min(2));
    let plan = if quick { Plan { rounds: 3, seconds: 0.1, threads } } else { Plan { rounds: 9, seconds: 0.4, threads } };
    let cases: &[Case] = if quick { &[SMALL] } else { &[SMALL, MIDDLE, LARGE, SAMPLED] };
    let default_cases: &[Case] = if quick { &[SMALL_DEFAULT] } else { &[SMALL_DEFAULT, MIDDLE_DEFAULT, LARGE_DEFAULT] };

    let mut torch = Torch::start_all();
    if torch.is_empty() {
        println!("PyTorch was not found (torch_partner.py says how to install it): only our side is measured");
    }
    for side in &mut torch {
        // Compiling takes long: two cases that cover both surrogates and both kinds of means.
        let cases: &[(&str, &str)] = match side.mode {
            "compile" => &[("deterministic", "clip"), ("lrt-binary", "tanh")],
            _ => &[("deterministic", "clip"), ("deterministic", "tanh"), ("lrt-binary", "clip"), ("lrt-binary", "tanh")],
        };
        for (surrogate, means) in cases {
            compare_gradients(side, surrogate, means);
        }
    }
    println!("{threads} threads, median of {} rounds", plan.rounds);
    println!(
        "{:<34} {:>8} {:>9} {:>10} {:>8} {:>8} {:>6} {:>8}",
        "", "ours ms", "eager ms", "compile ms", "eager/us", "comp./us", "GF/s", "of peak"
    );
    for case in cases.iter().filter(|case| wanted(case)) {
        against_torch(case, &plan, &mut torch);
    }
    println!();
    let compare = |name: &str, upper: &Case, lower: &Case| {
        if wanted(upper) || wanted(lower) {
            per_flop(name, upper, lower, &plan);
        }
    };
    compare("time per operation, odd sizes over even ones", &ODD, &EVEN);
    compare("time per step, lrt-binary over deterministic", &SAMPLED, &MIDDLE);
    if wanted(&MIDDLE) {
        side_by_side(&MIDDLE, &plan);
    }
    println!();
    for case in default_cases.iter().filter(|case| wanted(case)) {
        against_torch(case, &plan, &mut torch);
    }
    for (default, clipped) in [(&MIDDLE_DEFAULT, &MIDDLE), (&SMALL_DEFAULT, &SMALL), (&LARGE_DEFAULT, &LARGE)] {
        compare("time per step, tanh means and goal binary over clipped means", default, clipped);
    }
    println!();
    for case in cases.iter().filter(|case| case.surrogate == "deterministic" && wanted(case)) {
        evaluation(case, &plan);
    }
}

/// Ends the benchmark if PyTorch's gradients of a small network, in `f64`, are not ours: then the two sides would not do the same.
fn compare_gradients(side: &mut Torch, surrogate: &str, means: &str) {
    /// Of the largest gradient of an array.
    const TOLERANCE: f64 = 1e-4;
    let neuron = if surrogate == "deterministic" { Neuron::Sign } else { Neuron::Tanh(1.0) };
    let (inputs, classes, batch) = (23, 5, 9);
    let builder =
        Network::builder(inputs).hidden([17, 17]).classes(classes).surrogate(surrogate.parse().expect("a surrogate")).neuron(neuron);
    let network = builder.sigma_m2(0.3).sigma_b2(0.1).init(Init::Uniform, 1).expect("a network");
    let values: Vec<f32> = (0..batch * inputs).map(|i| ((i * i % 251) as f32 - 125.0) / 72.0).collect();
    let labels: Vec<u8> = (0..batch).map(|i| (i % classes) as u8).collect();
    let examples = Examples::new(&values, inputs, &labels, classes).expect("examples");
    let indices: Vec<u32> = (0..batch as u32).collect();
    let ours = Gradients::new(&network, &examples, &indices, true, 1).expect("gradients");

    let wide = |values: &[f32]| values.iter().map(|&value| f64::from(value)).collect::<Vec<_>>();
    let mut arrays = vec![("inputs".to_owned(), vec![batch, inputs], wide(&values))];
    for (index, layer) in network.layers().iter().enumerate() {
        let parameters = wide(layer.means()).into_iter().map(|mean| if means == "tanh" { mean.atanh() } else { mean });
        arrays.push((format!("means.{index}"), vec![layer.outputs(), layer.inputs()], parameters.collect()));
        arrays.push((format!("biases.{index}"), vec![layer.outputs()], wide(layer.bias())));
        let noise = lrt_noise(0, 0, index, layer.outputs(), batch).unwrap();
        let transposed = (0..batch).flat_map(|example| noise.iter().map(move |unit| f64::from(unit[example])));
        arrays.push((format!("noise.{index}"), vec![batch, layer.outputs()], transposed.collect()));
    }
    let (loss, theirs) = side.gradients(&arrays, &labels, surrogate, means);
    let what = format!("{surrogate}, {means} means, PyTorch {}", side.mode);
    assert!((loss - ours.loss).abs() < TOLERANCE * ours.loss, "{what}: the losses differ, {loss} and {} here", ours.loss);
    for (index, (layer, gradients)) in network.layers().iter().zip(&ours.layers).enumerate() {
        let slope = |&mean: &f32| if means == "tanh" { 1.0 - f64::from(mean).powi(2) } else { 1.0 };
        let of_means = gradients.means.iter().zip(layer.means()).map(|(&gradient, mean)| f64::from(gradient) * slope(mean)).collect();
        for (name, ours) in [(format!("means.{index}"), of_means), (format!("biases.{index}"), wide(&gradients.bias))] {
            let theirs = &theirs[&name];
            assert_eq!(ours.len(), theirs.len(), "{what}: {name}");
            let largest = theirs.iter().fold(0f64, |largest, gradient| largest.max(gradient.abs()));
            let worst = ours.iter().zip(theirs).fold(0f64, |worst, (a, b)| worst.max((a - b).abs()));
            assert!(
                largest > 0.0 && worst < TOLERANCE * largest,
                "{what}: gradients of {name} differ by {worst:e}, the largest being {largest:e}"
            );
        }
    }
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

/// How fast networks are evaluated: the surrogate against training, per operation, and the binary network, on bits, against the surrogate.
///
/// The second line compares the surrogate's evaluation with the forward part of a training step, in batches of the same size. The step's batch is the same every time, and so in cache:
/// that is no advantage of the evaluation.
fn evaluation(case: &Case, plan: &Plan) {
    let network = Ours::network(case);
    let (values, labels) = Ours::examples(case);
    let examples = Examples::new(Values::Bytes(values), INPUTS, labels, CLASSES).expect("examples");
    let indices: Vec<u32> = (0..labels.len() as u32).collect();
    let mut ours = Ours::new(case, plan.threads);
    let steps = count_for(plan.seconds, |n| ours.steps(n).0);
    let mut surrogate = Inference::new(&network, 256, plan.threads).expect("an engine");
    let mut in_batches = Inference::new(&network, case.batch, plan.threads).expect("an engine");
    let mut binary = network.binary().pack().expect("bits").predictor();
    let mut times = [const { Vec::new() }; 5];
    let batches = labels.len() / case.batch;
    for _ in 0..plan.rounds {
        times[0].push(settled(|| ours.steps(steps).0) / (steps as f64 * case.flops()));
        times[1].push(settled(|| timed(|| assert!(surrogate.score(&examples, &indices).expect("a score").nll > 0.0))));
        times[2].push(settled(|| timed(|| assert!(!binary.sums_on(values, plan.threads).expect("sums").is_empty()))));
        times[3].push(settled(|| timed(|| assert!(in_batches.score(&examples, &indices).expect("a score").nll > 0.0))));
        let forward = || (0..batches).for_each(|_| assert!(ours.0.next_loss().expect("a loss") > 0.0));
        times[4].push(settled(|| timed(forward)));
    }
    let per_flop = |times: &[f64]| times.iter().map(|seconds| seconds / (labels.len() as f64 * case.forward_flops())).collect::<Vec<f64>>();
    println!(
        "evaluation, {case}: operations per second over those of a training step {:.2}; on bits over the surrogate {:.1}",
        median(&ratios(&times[0], &per_flop(&times[1]))),
        median(&ratios(&times[1], &times[2])),
    );
    println!(
        "evaluation in batches of {}, {case}: images per second over those of the forward part of a training step {:.2}",
        case.batch,
        median(&ratios(&times[4], &times[3])),
    );
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// How many steps take about this many seconds, after a warm-up.
fn count_for(seconds: f64, mut steps: impl FnMut(usize) -> f64) -> usize {
    steps(2);
    ((2.0 * seconds / steps(2)) as usize).max(2)
}

/// Waits first, so that the other side's threads are asleep.
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
