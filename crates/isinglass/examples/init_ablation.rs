//! Is the smallest `σ_m²` that carries signals a good initialisation? Trains networks of depth 2, 10 and 30 from it and from others.
//!
//! `cargo run --release --example init_ablation [-- EPOCHS WIDTH SEEDS]` prints a table in Markdown: test accuracy of the binary network `sign(M)`, mean over seeds, generated
//! digits.

use std::error::Error;

use isinglass::data::{Pixels, digits};
use isinglass::net::{Examples, Init, NetworkConfig, Neuron, TrainConfig, Trainer, Values};

const DEPTHS: [usize; 3] = [2, 10, 30];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let epochs: usize = arguments.next().map_or(Ok(10), |text| text.parse())?;
    let width: usize = arguments.next().map_or(Ok(256), |text| text.parse())?;
    let seeds: u64 = arguments.next().map_or(Ok(2), |text| text.parse())?;
    let data = digits::dataset();
    let bytes = |pixels: &'static Pixels| match pixels {
        Pixels::Bytes(bytes) => bytes.as_slice(),
        Pixels::Floats(_) => unreachable!("digits are bytes"),
    };
    let data = Box::leak(Box::new(data));
    let train = Examples::new(Values::Bytes(bytes(data.train.pixels())), 784, data.train.labels(), 10)?;
    let test = Examples::new(Values::Bytes(bytes(data.test.pixels())), 784, data.test.labels(), 10)?;
    let threads = std::thread::available_parallelism()?.get();

    let inits: [(&str, Init, Option<f64>); 5] = [
        ("auto", Init::Auto, None),
        ("uniform 0.05", Init::Uniform, Some(0.05)),
        ("uniform 1/3", Init::Uniform, None),
        ("two-point 0.99", Init::TwoPoint, Some(0.99)),
        ("glorot", Init::Glorot, None),
    ];
    println!("| neuron | depth | {} |", inits.map(|(name, ..)| name).join(" | "));
    println!("|---|---|{}", "---|".repeat(inits.len()));
    for neuron in [Neuron::Sign, Neuron::Tanh(1.0)] {
        for depth in DEPTHS {
            print!("| `{neuron}` | {depth} |");
            for (_, init, sigma_m2) in inits {
                let mut total = 0.0;
                for seed in 1..=seeds {
                    let network = NetworkConfig { hidden: vec![width; depth], neuron, init, sigma_m2, ..NetworkConfig::default() };
                    let config = TrainConfig { epochs, seed, ..TrainConfig::default() };
                    let network = Trainer::new(network.init(seed)?, config, &train)?.with_threads(threads).run(|_| {})?;
                    total += network.binary().threads(threads).score(&test, None)?.accuracy;
                }
                print!(" {:.1} % |", 100.0 * total / seeds as f64);
                std::io::Write::flush(&mut std::io::stdout())?;
            }
            println!();
        }
    }
    Ok(())
}
