use isinglass_net::*;
use std::arch::x86_64::*;
#[target_feature(enable = "avx512f")]
fn peak() -> f64 {
    let mut acc = [_mm512_set1_ps(1.0); 16];
    let (a, b) = (_mm512_set1_ps(std::hint::black_box(0.999)), _mm512_set1_ps(std::hint::black_box(0.001)));
    let s = std::time::Instant::now();
    let n = 2_000_000;
    for _ in 0..n { for x in &mut acc { *x = _mm512_fmadd_ps(*x, a, b); } }
    let t = s.elapsed().as_secs_f64();
    std::hint::black_box(acc);
    n as f64 * 16.0 * 32.0 / t / 1e9
}
fn main() {
    let a: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let (width, depth, batch, threads, steps) = (a[0], a[1], a[2], a[3], a[4]);
    let config = NetworkConfig { depth, width, init: Init::TwoPoint, sigma_m2: Some(0.9), sigma_b2: Some(0.01), ..NetworkConfig::default() };
    let network = config.init(&mut Rng::new(1)).unwrap();
    let count = 10 * batch;
    let values: Vec<u8> = (0..count * 784).map(|i| (i * i % 251) as u8).collect();
    let labels: Vec<u8> = (0..count).map(|i| (i % 10) as u8).collect();
    let examples = Examples::new(Values::Bytes(&values), 784, &labels, 10).unwrap();
    let c = TrainConfig { goal: Goal::Surrogate, means: Means::Clip, schedule: Schedule::Constant, lr: 2e-4, batch, epochs: 100000, validation: 0.0, ..TrainConfig::default() };
    let mut t = Trainer::new(network, c, examples, threads).unwrap();
    for _ in 0..3 { t.step().unwrap(); }
    let mut best = f64::MAX; let mut bestp = 0.0;
    for _ in 0..5 {
        let s = std::time::Instant::now();
        for _ in 0..steps { t.step().unwrap(); }
        let e = s.elapsed(); let pk = unsafe { peak() }; if pk > bestp { bestp = pk; }
        best = best.min(e.as_secs_f64() / steps as f64);
    }
    let p: usize = 784 * width * 4 + (depth - 1) * width * width * 6 + width * 10 * 6;
    println!("{:.2} ms {:.0} GF/s peak1 {bestp:.0}", best * 1e3, 2.0 * batch as f64 * p as f64 / best / 1e9);
}
