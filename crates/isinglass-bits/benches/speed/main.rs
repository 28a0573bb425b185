//! `cargo bench -p isinglass-bits [-- [--quick] [--layers | --networks] [--one-thread] [--no-scalar]]`: layers and networks on every instruction set, alternating with PyTorch and onnxruntime.
//!
//! `partner.py` runs the other libraries and says what to install; `ISINGLASS_PYTHON` names the interpreters, separated as in `PATH`. Without it only isinglass is measured.
//! Every round measures each side, and how fast this machine can count bits, by the best of a few slices, shorter than the scheduler's where possible.
//! Ratios are medians over the ratios of the rounds: they are meaningful on a noisy machine, absolute times much less so.
//!
//! With two threads, isinglass runs a batch on each, the others one batch on both.

mod limit;
mod partner;

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use isinglass_bits::{BitMatrix, Isa, PackedLayer, PackedModel, PackedNetwork, Predictor, Preprocessing, Products};

use limit::{Limit, clock};
use partner::Partner;

/// Two sizes: a layer on spins, with sums and thresholds. More: a network on bytes.
struct Case {
    sizes: &'static [usize],
    batch: usize,
    /// Images of MNIST, black around the digits, instead of bytes of all kinds. Without MNIST the case is left out.
    mnist: bool,
}

const NETWORK: &[usize] = &[784, 1024, 1024, 1024, 10];
const CASES: [Case; 8] = [
    Case { sizes: &[256, 256], batch: 256, mnist: false },
    Case { sizes: &[1024, 1024], batch: 1024, mnist: false },
    Case { sizes: &[4096, 4096], batch: 4096, mnist: false },
    Case { sizes: NETWORK, batch: 1, mnist: false },
    Case { sizes: NETWORK, batch: 64, mnist: false },
    Case { sizes: NETWORK, batch: 1024, mnist: false },
    Case { sizes: NETWORK, batch: 1, mnist: true },
    Case { sizes: NETWORK, batch: 1024, mnist: true },
];

impl Case {
    /// The inputs of a network.
    fn images(&self) -> Vec<u8> {
        let len = self.batch * self.sizes[0];
        if !self.mnist {
            return (0..len).map(|i| (i * i % 251) as u8).collect();
        }
        match isinglass_data::load("mnist", None).expect("looked for before").test.pixels() {
            isinglass_data::Pixels::Bytes(bytes) => bytes.iter().copied().cycle().take(len).collect(),
            isinglass_data::Pixels::Floats(_) => unreachable!("images are bytes"),
        }
    }

    /// Products of a weight and an input.
    fn products(&self) -> f64 {
        self.batch as f64 * self.sizes.windows(2).map(|pair| (pair[0] * pair[1]) as f64).sum::<f64>()
    }
}

/// One isinglass thread with its own batch.
enum Worker {
    PackedLayer { products: Box<Products>, inputs: BitMatrix, neurons: BitMatrix },
    PackedNetwork { predictor: Box<Predictor>, images: Vec<u8> },
}

impl Worker {
    fn new(case: &Case, isa: Isa) -> Self {
        let mut state = 1_u64;
        let mut bit = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            state >> 63 == 1
        };
        let mut matrices: Vec<BitMatrix> = case.sizes.windows(2).map(|pair| BitMatrix::from_fn(pair[1], pair[0], |_, _| bit())).collect();
        let images = case.images();
        if let [inputs, neurons] = *case.sizes {
            let layer = PackedLayer::new(matrices.remove(0), vec![0; neurons]).expect("as many thresholds as neurons");
            let products = Box::new(Products::new(&layer, isa).expect("a layer"));
            let inputs = BitMatrix::from_fn(case.batch, inputs, |_, _| bit());
            return Self::PackedLayer { products, inputs, neurons: BitMatrix::from_fn(case.batch, neurons, |_, _| false) };
        }
        let preprocessing = Preprocessing::new(127.5, 1.0 / 127.5).expect("finite");
        let layers = matrices.into_iter().map(|matrix| (matrix.clone(), vec![0.0; matrix.rows()])).collect();
        let network = PackedNetwork::new(preprocessing, layers).expect("a network");
        let model = PackedModel::new(vec![network], preprocessing, 1.0).expect("a model");
        Self::PackedNetwork { predictor: Box::new(Predictor::new(&model, isa)), images }
    }

    fn run(&mut self) {
        match self {
            Self::PackedLayer { products, inputs, neurons } => products.neurons_into(inputs, neurons).expect("sizes that fit"),
            Self::PackedNetwork { predictor, images } => assert!(!predictor.sums(&*images).expect("whole images").is_empty()),
        }
    }
}

/// The side that runs the case.
enum Side {
    Ours { isa: Isa, limit: Option<Limit>, workers: Vec<Worker> },
    Theirs { partner: usize, name: String },
}

impl Side {
    fn name(&self) -> &str {
        match self {
            Self::Ours { isa, .. } => isa.name(),
            Self::Theirs { name, .. } => name,
        }
    }

    /// Seconds per batch; workers share them.
    fn seconds(&mut self, count: usize, slices: usize, partners: &mut [Partner]) -> f64 {
        // Lets the threads of the previous side go to sleep.
        thread::sleep(Duration::from_millis(10));
        match self {
            Self::Ours { workers, .. } => {
                let slice = |_| side_by_side(workers, count) / (workers.len() * count) as f64;
                (0..slices).map(slice).fold(f64::INFINITY, f64::min)
            }
            Self::Theirs { partner, name } => partners[*partner].runs(name, count, slices) / count as f64,
        }
    }
}

/// Seconds from the first start to the last end.
fn side_by_side(workers: &mut [Worker], each: usize) -> f64 {
    if let [only] = workers {
        let start = Instant::now();
        (0..each).for_each(|_| only.run());
        return start.elapsed().as_secs_f64();
    }
    let barrier = Barrier::new(workers.len());
    let run = |worker: &mut Worker| {
        barrier.wait();
        let start = Instant::now();
        (0..each).for_each(|_| worker.run());
        (start, Instant::now())
    };
    let spans: Vec<(Instant, Instant)> = thread::scope(|scope| {
        let threads: Vec<_> = workers.iter_mut().map(|worker| scope.spawn(|| run(worker))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let start = spans.iter().map(|span| span.0).min().expect("a worker");
    let end = spans.iter().map(|span| span.1).max().expect("a worker");
    (end - start).as_secs_f64()
}

/// How often and how long to measure.
struct Plan {
    rounds: usize,
    slices: usize,
    /// Whether the scalar kernels are measured too.
    scalar: bool,
}

/// Seconds of a slice.
const SLICE: f64 = 0.002;
/// The same where it starts threads: they share a core until the scheduler has moved one.
const SLICE_OF_THREADS: f64 = 0.02;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    const KNOWN: [&str; 5] = ["--quick", "--layers", "--networks", "--one-thread", "--no-scalar"];
    if let Some(unknown) = arguments.iter().find(|argument| !KNOWN.contains(&argument.as_str())) {
        eprintln!("unknown argument {unknown}: there are {}", KNOWN.join(", "));
        std::process::exit(2);
    }
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let quick = has("--quick");
    let has_mnist = isinglass_data::load("mnist", None).is_ok();
    if !has_mnist {
        println!("MNIST was not found (ISINGLASS_DATA names its directory): its cases are left out");
    }
    let wanted = |case: &Case| {
        let other = if case.sizes.len() == 2 { "--networks" } else { "--layers" };
        !has(other) && (!quick || case.products() < 2e9) && (!case.mnist || has_mnist)
    };
    let scalar = !has("--no-scalar");
    let plan = if quick { Plan { rounds: 5, slices: 5, scalar } } else { Plan { rounds: 25, slices: 8, scalar } };
    let mut partners = Partner::start_all();
    if partners.is_empty() {
        println!("ISINGLASS_PYTHON names no interpreter: only our side is measured");
    }
    partners.iter().for_each(|partner| println!("{}", partner.versions));
    println!("clock {:.2} GHz; products that one thread could count per cycle at most:", clock() / 1e9);
    for isa in Isa::available() {
        if let Some(limit) = Limit::new(isa) {
            println!("  {}: {:.0}", isa.name(), median((0..plan.rounds).map(|_| limit.measure(SLICE, plan.slices) / clock()).collect()));
        }
    }
    for case in CASES.iter().filter(|case| wanted(case)) {
        for threads in 1..=if has("--one-thread") { 1 } else { 2 } {
            table(case, threads, &plan, &mut partners);
        }
    }
    if !has("--layers") && !has("--one-thread") {
        println!();
        for batch in [64, 1024] {
            on_threads(&Case { sizes: NETWORK, batch, mnist: has_mnist }, &plan);
        }
    }
}

/// What a second thread gains on one batch.
fn on_threads(case: &Case, plan: &Plan) {
    let isa = Isa::best();
    let Worker::PackedNetwork { mut predictor, images } = Worker::new(case, isa) else { unreachable!("a network") };
    let mut seconds = |threads: usize| {
        thread::sleep(Duration::from_millis(2));
        let slice = |_| {
            let start = Instant::now();
            assert!(!predictor.sums_on(&*images, threads).expect("whole images").is_empty());
            start.elapsed().as_secs_f64()
        };
        // The first call wakes the thread.
        (0..2 * plan.slices).map(slice).fold(f64::INFINITY, f64::min)
    };
    seconds(2);
    let gains = (0..plan.rounds).map(|_| seconds(1) / seconds(2)).collect();
    let images = if case.mnist { "MNIST images" } else { "generated images" };
    println!("one batch of {} {images} on two threads over one: {:.2} ({})", case.batch, median(gains), isa.name());
}

/// All sides on one case.
fn table(case: &Case, threads: usize, plan: &Plan, partners: &mut [Partner]) {
    let is_measured = |isa: &Isa| isa.name() != "scalar" || plan.scalar && case.products() < 1e10;
    let ours = Isa::available().into_iter().filter(is_measured).map(|isa| Side::Ours {
        isa,
        limit: Limit::new(isa),
        workers: (0..threads).map(|_| Worker::new(case, isa)).collect(),
    });
    let mut sides: Vec<Side> = ours.collect();
    for (partner, python) in partners.iter_mut().enumerate() {
        for name in python.sides.clone() {
            python.setup(&name, case.sizes, case.batch, threads);
            sides.push(Side::Theirs { partner, name });
        }
    }
    let slice = if threads == 1 { SLICE } else { SLICE_OF_THREADS };
    let mut count = |side: &mut Side| {
        side.seconds(1, 1, partners);
        ((slice / side.seconds(1, 2, partners)) as usize).clamp(1, 10_000)
    };
    let counts: Vec<usize> = sides.iter_mut().map(&mut count).collect();

    // A product of 4096³ takes a second in floats, so no slice of it is short.
    let large = case.products() > 1e10;
    let (rounds, slices) = if large { (plan.rounds.div_ceil(3), 1) } else { (plan.rounds, plan.slices) };
    let mut times = vec![Vec::new(); sides.len()];
    let mut fractions = vec![Vec::new(); sides.len()];
    let mut per_cycle = vec![Vec::new(); sides.len()];
    for _ in 0..rounds {
        for (index, (side, &count)) in sides.iter_mut().zip(&counts).enumerate() {
            let seconds = side.seconds(count, slices, partners);
            times[index].push(seconds);
            let speed = case.products() / seconds / threads as f64;
            per_cycle[index].push(speed / clock());
            if let Side::Ours { limit: Some(limit), .. } = side {
                // As long as the side itself, so that interruptions are shared.
                fractions[index].push(speed / limit.measure(seconds * count as f64, slices));
            }
        }
    }
    let sizes: Vec<String> = case.sizes.iter().map(usize::to_string).collect();
    let (mnist, plural) = (if case.mnist { " of MNIST" } else { "" }, if threads == 1 { "" } else { "s" });
    println!("\n{}, batch {}{mnist}, {threads} thread{plural}, {rounds} rounds", sizes.join("-"), case.batch);
    let reference: Vec<usize> = (0..sides.len()).filter(|&index| matches!(sides[index], Side::Ours { .. })).collect();
    print!("{:<18} {:>10} {:>9} {:>10} {:>9}", "", "µs/batch", "GMAC/s", "per cycle", "of limit");
    reference.iter().for_each(|&index| print!(" {:>9}", format!("/{}", sides[index].name())));
    println!();
    for (index, side) in sides.iter().enumerate() {
        let seconds = median(times[index].clone());
        print!("{:<18} {:>10.1} {:>9.1}", side.name(), 1e6 * seconds, case.products() / seconds / 1e9);
        print!(" {:>10.1}", median(per_cycle[index].clone()));
        match fractions[index].is_empty() {
            true => print!(" {:>9}", "-"),
            false => print!(" {:>7.0} %", 100.0 * median(fractions[index].clone())),
        }
        for &ours in &reference {
            print!(" {:>9.2}", median(times[index].iter().zip(&times[ours]).map(|(side, ours)| side / ours).collect()));
        }
        println!();
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
