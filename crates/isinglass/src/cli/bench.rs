//! `isinglass bench`.

use std::time::{Duration, Instant};

use isinglass_bits::{Isa, Model, Predictor};
use isinglass_lab::packing;
use isinglass_net::{Examples, Inference, Network, Rng, Values};
use isinglass_theory::verdict::digits;
use serde_json::json;

use super::output::{FormatArgs, ThreadsArgs};
use super::packed::{ModelArgs, shape_text};
use super::report::{Record, Report};
use super::run::progress::bar;
use super::run::tables::grouped;
use super::{CliError, Format};

/// Times a packed network against the same network in floats, in turns.
///
/// Latency of a single image, throughput in batches of 64 and 1024, on one thread and on all. The float network has the same ±1 weights as 32-bit numbers and runs on isinglass' own fused
/// kernels; both see the same random images, and how often they agree on the class is printed. Times are medians over rounds in which both sides take turns, so that the ratio is
/// good even on a busy machine.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass bench model.safetensors
  isinglass bench model.safetensors --threads 1 --seconds 10 --format json
  ISINGLASS_SIMD=avx2 isinglass bench model.safetensors")]
pub struct Args {
    #[command(flatten)]
    model: ModelArgs,

    /// How long to measure each line of the table
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    seconds: f64,

    #[command(flatten)]
    threads: ThreadsArgs,
    #[command(flatten)]
    output: FormatArgs,
}

const BATCHES: [usize; 3] = [1, 64, 1024];

/// Both sides of the comparison on a number of threads.
struct Sides {
    packed: Predictor,
    float: Vec<Inference>,
    threads: usize,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let model = self.model.load()?;
        let floats = packing::unpack(&model)?;
        let images = random_images(&model);
        let labels = labels_of(&model, &images)?;
        let threads = self.threads.count();
        let plan: Vec<(usize, usize)> = BATCHES
            .into_iter()
            .flat_map(|batch| [(batch, 1), (batch, threads)])
            .filter(|&(batch, on)| on == 1 || (threads > 1 && batch > 1))
            .collect();
        let bar = bar(true, "{bar:24} {pos} of {len} measured, {eta} left");
        bar.set_length(plan.len() as u64);
        let mut rows = Vec::new();
        for (batch, threads) in plan {
            let mut sides = Sides::new(&model, &floats, batch, threads);
            let count = batch * model.inputs();
            let examples = Examples::new(Values::Bytes(&images[..count]), model.inputs(), &labels[..batch], model.classes());
            let examples = examples.map_err(isinglass_lab::run::RunError::from)?;
            let budget = Duration::from_secs_f64(self.seconds.clamp(0.01, 3600.0));
            let (packed, float) = sides.measure(&images[..count], &examples, budget)?;
            rows.push(row(batch, threads, packed, float));
            bar.inc(1);
        }
        bar.finish_and_clear();
        let agreement = agreement(&model, &floats, &images, &labels, threads)?;
        let mut report = Report::default();
        let isa = Isa::best().name();
        if self.output.format == Format::Table {
            println!("{}, {isa}, medians in turns\n", shape_text(&model));
            let table: Vec<Record> = rows.iter().map(table_row).collect();
            super::report::write_columns(&mut std::io::stdout().lock(), &table)?;
            println!("\nboth find the same class for {} of {} images", grouped(agreement), grouped(labels.len()));
            return Ok(());
        }
        report.fact("shape", shape_text(&model)).fact("isa", isa).fact("agreeing_images", agreement).fact("images", labels.len());
        report.rows("measurements", rows);
        Ok(report.print(self.output.format)?)
    }
}

impl Sides {
    fn new(model: &Model, floats: &[Network], batch: usize, threads: usize) -> Self {
        Self { packed: model.predictor(), float: floats.iter().map(|network| Inference::new(network, batch, threads)).collect(), threads }
    }

    /// Median seconds of both for one batch.
    fn measure(&mut self, images: &[u8], examples: &Examples<'_>, budget: Duration) -> Result<(f64, f64), CliError> {
        let indices: Vec<u32> = (0..examples.len() as u32).collect();
        let (mut packed, mut float) = (Vec::new(), Vec::new());
        let began = Instant::now();
        // The first round warms up; after that, rounds of both until the time is over.
        while packed.len() < 4 || began.elapsed() < budget {
            packed.push(self.time_packed(images)?);
            float.push(self.time_float(examples, &indices));
        }
        Ok((median(&mut packed[1..]), median(&mut float[1..])))
    }

    /// Repeated until it is long enough for the clock.
    fn time_packed(&mut self, images: &[u8]) -> Result<f64, CliError> {
        let (began, mut repeats) = (Instant::now(), 0);
        while repeats == 0 || began.elapsed() < ROUND {
            let sums = self.packed.sums_on(images, self.threads)?;
            std::hint::black_box(self.packed.classes_of(&sums));
            repeats += 1;
        }
        Ok(began.elapsed().as_secs_f64() / f64::from(repeats))
    }

    fn time_float(&mut self, examples: &Examples<'_>, indices: &[u32]) -> f64 {
        let (began, mut repeats) = (Instant::now(), 0);
        while repeats == 0 || began.elapsed() < ROUND {
            for network in &mut self.float {
                std::hint::black_box(network.score(examples, indices));
            }
            repeats += 1;
        }
        began.elapsed().as_secs_f64() / f64::from(repeats)
    }
}

/// The length of one side's turn.
const ROUND: Duration = Duration::from_millis(10);

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn random_images(model: &Model) -> Vec<u8> {
    let mut rng = Rng::new(1);
    (0..BATCHES[2] * model.inputs()).map(|_| rng.next_u64() as u8).collect()
}

fn labels_of(model: &Model, images: &[u8]) -> Result<Vec<u8>, CliError> {
    Ok(model.predictor().classes(images)?.into_iter().map(|class| class as u8).collect())
}

/// For how many images the float network finds the class of the packed one. Ensembles average; their first network stands for them.
fn agreement(model: &Model, floats: &[Network], images: &[u8], labels: &[u8], threads: usize) -> Result<usize, CliError> {
    let labels = match floats.len() {
        1 => labels.to_vec(),
        _ => {
            let first = Model::new(vec![model.networks()[0].clone()], model.preprocessing(), model.tau())?;
            labels_of(&first, images)?
        }
    };
    let examples = Examples::new(Values::Bytes(images), model.inputs(), &labels, model.classes());
    let examples = examples.map_err(isinglass_lab::run::RunError::from)?;
    let indices: Vec<u32> = (0..labels.len() as u32).collect();
    let score = Inference::new(&floats[0], 256, threads).score(&examples, &indices);
    Ok((score.accuracy * labels.len() as f64).round() as usize)
}

fn row(batch: usize, threads: usize, packed: f64, float: f64) -> Record {
    let object = json!({
        "batch": batch,
        "threads": threads,
        "packed_seconds": packed,
        "float_seconds": float,
        "packed_images_per_second": batch as f64 / packed,
        "float_images_per_second": batch as f64 / float,
        "ratio": float / packed,
    });
    super::report::to_record(&object)
}

fn table_row(row: &Record) -> Record {
    let number = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
    let time = |key: &str| format!("{} µs", digits(1e6 * number(key)));
    let speed = |key: &str| grouped(number(key).round() as usize);
    Record::from_iter([
        ("batch".to_owned(), row["batch"].clone()),
        ("threads".to_owned(), row["threads"].clone()),
        ("packed".to_owned(), time("packed_seconds").into()),
        ("float".to_owned(), time("float_seconds").into()),
        ("packed images/s".to_owned(), speed("packed_images_per_second").into()),
        ("float images/s".to_owned(), speed("float_images_per_second").into()),
        ("ratio".to_owned(), format!("{:.1}", number("ratio")).into()),
    ])
}
