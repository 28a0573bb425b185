use isinglass_net::*;
fn main() {
    let a: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let (width, depth, batch, threads, steps) = (a[0], a[1], a[2], a[3], a[4]);
    let config = NetworkConfig { depth, width, init: Init::TwoPoint, sigma_m2: Some(0.9), sigma_b2: Some(0.01), ..NetworkConfig::default() };
    let network = config.init(&mut Rng::new(1)).unwrap();
    let count = 10 * batch;
    let values: Vec<u8> = (0..count * 784).map(|i| (i * i % 251) as u8).collect();
    let labels: Vec<u8> = (0..count).map(|i| (i % 10) as u8).collect();
    let examples = Examples::new(Values::Bytes(&values), 784, &labels, 10).unwrap();
    let c = TrainConfig { goal: Goal::Surrogate, means: Means::Clip, schedule: Schedule::Constant, lr: 2e-4, optimizer: Optimizer::Sgd, batch, epochs: 100000, validation: 0.0, ..TrainConfig::default() };
    let mut t = Trainer::new(network, c, examples, threads).unwrap();
    for _ in 0..3 { t.step().unwrap(); }
    let mut best = f64::MAX;
    for _ in 0..5 {
        let s = std::time::Instant::now();
        for _ in 0..steps { t.step().unwrap(); }
        best = best.min(s.elapsed().as_secs_f64() / steps as f64);
    }
    let p: usize = 784 * width * 4 + (depth - 1) * width * width * 6 + width * 10 * 6;
    println!("{:.2} ms {:.0} GF/s", best * 1e3, 2.0 * batch as f64 * p as f64 / best / 1e9);
}
