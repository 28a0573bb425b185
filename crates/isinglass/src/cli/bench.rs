//! `isinglass bench`.

mod rows;

use std::io::Write;
use std::time::{Duration, Instant};

use isinglass_bits::{Isa, PackedModel, Predictor};
use isinglass_lab::words::digits;
use isinglass_net::{Examples, Inference, Network, Rng, Values};
use serde::Serialize;

use super::CliError;
use super::answer::{Answer, Record, to_record, write_columns};
use super::output::{TableArgs, ThreadsArgs, rows_among, usage};
use super::packed::{ModelArgs, shape_text};
use super::run::progress::bar;
use super::run::tables::grouped;
use rows::RowNetwork;

/// Benchmark a packed network against the same network in floats, alternating between the two.
///
/// Measures the latency of a single image and the throughput in batches of 64 and 1024, on one thread and on several. The float network has the same ±1 weights as 32-bit numbers: a single image goes
/// through it row by row, batches through isinglass's own training kernels (row by row too if layers carry their sums). Both sides see the same random images, and the number on which they agree is
/// printed. Times are medians over alternating rounds. The environment variable ISINGLASS_SIMD (amx, avx512, avx2, neon, scalar) selects the instruction set.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["measurements", "facts"])))]
#[command(after_help = "Examples:
  isinglass bench model.safetensors
  isinglass bench model.safetensors --threads 1 --seconds 10 --format json
  ISINGLASS_SIMD=avx2 isinglass bench model.safetensors")]
pub struct Args {
    #[command(flatten)]
    model: ModelArgs,

    /// Seconds to spend on each row of the table
    #[arg(long, value_name = "S", default_value_t = 1.0, allow_hyphen_values = true)]
    seconds: f64,

    #[command(flatten)]
    output: TableArgs,
    #[command(flatten)]
    threads: ThreadsArgs,
}

const BATCHES: [usize; 3] = [1, 64, 1024];

/// Both sides of the comparison on a number of threads.
struct Sides<'a> {
    packed: Predictor,
    float: Float<'a>,
    threads: usize,
}

/// The float network, an ensemble's one after the other.
enum Float<'a> {
    Rows(&'a [RowNetwork]),
    Batches(Vec<Inference>),
}

/// The networks in floats.
struct Floats {
    rows: Vec<RowNetwork>,
    /// None if a layer carries, which the kernels for training do not do.
    networks: Option<Vec<Network>>,
}

impl Floats {
    fn of(model: &PackedModel) -> Result<Self, CliError> {
        let carries = !model.carrying_layers().is_empty();
        let networks = if carries { None } else { Some(Network::from_packed(model)?) };
        Ok(Self { rows: RowNetwork::of(model), networks })
    }
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        if !(self.seconds > 0.0 && self.seconds <= 3600.0) {
            return Err(usage(format!("--seconds {}: must be above 0 and at most 3600", digits(self.seconds))));
        }
        let model = self.model.load()?;
        // The bytes that real numbers are rounded to are as good as any.
        let model = PackedModel::new(model.networks().to_vec(), model.preprocessing(), model.tau())?;
        let floats = Floats::of(&model)?;
        let images = random_images(&model);
        let labels = labels_of(&model, &images)?;
        let threads = self.threads.count();
        let mut plan: Vec<(usize, usize)> = BATCHES.into_iter().flat_map(|batch| [(batch, 1), (batch, threads)]).collect();
        plan.retain(|&(batch, threads)| batch > 1 || threads == 1);
        plan.dedup();
        let bar = bar("{bar:24} {pos} of {len} measured, {eta} left");
        bar.set_length(plan.len() as u64);
        let mut rows = Vec::new();
        for (batch, threads) in plan {
            let mut sides = Sides::new(&model, &floats, batch, threads)?;
            let count = batch * model.inputs();
            let examples = Examples::new(Values::Bytes(&images[..count]), model.inputs(), &labels[..batch], model.classes())?;
            let (packed, float) = sides.measure(&images[..count], &examples, Duration::from_secs_f64(self.seconds))?;
            rows.push(Measurement::new(batch, threads, packed, float));
            bar.inc(1);
        }
        bar.finish_and_clear();
        let agreement = agreement(&model, &floats, &images, &labels, threads)?;
        let isa = Isa::best().name();
        let shown: Vec<Record> = rows.iter().map(Measurement::table_row).collect();
        let mut answer = Answer::default();
        answer
            .at(self.model.path())
            .fact("shape", shape_text(&model))
            .fact("isa", isa)
            .fact("agreeing_images", agreement)
            .fact("images", labels.len());
        answer.rows("measurements", rows.iter().map(to_record).collect());
        self.output.print_with(answer, |out| {
            writeln!(out, "{}, {isa}, medians, alternating\n", shape_text(&model))?;
            write_columns(out, &shown)?;
            writeln!(out, "\nboth find the same class for {} of {} images", grouped(agreement), grouped(labels.len()))
        })
    }
}

impl<'a> Sides<'a> {
    fn new(model: &PackedModel, floats: &'a Floats, batch: usize, threads: usize) -> Result<Self, CliError> {
        let float = match &floats.networks {
            // The kernels for training work on 16 images, however few there are.
            Some(networks) if batch > 1 => {
                let engines: Result<_, _> = networks.iter().map(|network| Inference::new(network, batch, threads)).collect();
                Float::Batches(engines?)
            }
            _ => Float::Rows(&floats.rows),
        };
        Ok(Self { packed: model.predictor(), float, threads })
    }

    /// Median seconds of both for one batch.
    fn measure(&mut self, images: &[u8], examples: &Examples<'_>, budget: Duration) -> Result<(f64, f64), CliError> {
        let indices: Vec<u32> = (0..examples.len() as u32).collect();
        let (mut packed, mut float) = (Vec::new(), Vec::new());
        let began = Instant::now();
        // The first round warms up; after that, rounds of both until the time is over.
        while packed.len() < 4 || began.elapsed() < budget {
            packed.push(self.time_packed(images)?);
            float.push(self.time_float(images, examples, &indices)?);
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

    fn time_float(&mut self, images: &[u8], examples: &Examples<'_>, indices: &[u32]) -> Result<f64, CliError> {
        let (began, mut repeats) = (Instant::now(), 0);
        while repeats == 0 || began.elapsed() < ROUND {
            match &mut self.float {
                Float::Rows(networks) => {
                    for network in *networks {
                        std::hint::black_box(network.classes(images, self.threads));
                    }
                }
                Float::Batches(networks) => {
                    for network in networks {
                        std::hint::black_box(network.score(examples, indices)?);
                    }
                }
            }
            repeats += 1;
        }
        Ok(began.elapsed().as_secs_f64() / f64::from(repeats))
    }
}

/// The length of one side's turn.
const ROUND: Duration = Duration::from_millis(10);

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn random_images(model: &PackedModel) -> Vec<u8> {
    let mut rng = Rng::new(1);
    (0..BATCHES[2] * model.inputs()).map(|_| rng.next_u64() as u8).collect()
}

fn labels_of(model: &PackedModel, images: &[u8]) -> Result<Vec<u8>, CliError> {
    Ok(model.predictor().classes(images)?.into_iter().map(|class| class as u8).collect())
}

/// For how many images the float network finds the class of the packed one. Ensembles average; their first network stands for them.
fn agreement(model: &PackedModel, floats: &Floats, images: &[u8], labels: &[u8], threads: usize) -> Result<usize, CliError> {
    let labels = match model.networks().len() {
        1 => labels.to_vec(),
        _ => {
            let first = PackedModel::new(vec![model.networks()[0].clone()], model.preprocessing(), model.tau())?;
            labels_of(&first, images)?
        }
    };
    let Some(networks) = &floats.networks else {
        let classes = floats.rows[0].classes(images, threads);
        return Ok(classes.iter().zip(&labels).filter(|(class, label)| **class == usize::from(**label)).count());
    };
    let examples = Examples::new(Values::Bytes(images), model.inputs(), &labels, model.classes())?;
    let indices: Vec<u32> = (0..labels.len() as u32).collect();
    let score = Inference::new(&networks[0], 256, threads)?.score(&examples, &indices)?;
    Ok((score.accuracy * labels.len() as f64).round() as usize)
}

/// How long the two sides took for a batch.
#[derive(Debug, Serialize)]
struct Measurement {
    batch: usize,
    threads: usize,
    packed_seconds: f64,
    float_seconds: f64,
    packed_images_per_second: f64,
    float_images_per_second: f64,
    ratio: f64,
}

impl Measurement {
    fn new(batch: usize, threads: usize, packed: f64, float: f64) -> Self {
        Self {
            batch,
            threads,
            packed_seconds: packed,
            float_seconds: float,
            packed_images_per_second: batch as f64 / packed,
            float_images_per_second: batch as f64 / float,
            ratio: float / packed,
        }
    }

    /// For reading.
    fn table_row(&self) -> Record {
        let time = |seconds: f64| match seconds {
            seconds if seconds < 1e-3 => format!("{} µs", digits(1e6 * seconds)),
            seconds if seconds < 1.0 => format!("{} ms", digits(1e3 * seconds)),
            seconds => format!("{} s", digits(seconds)),
        };
        let speed = |images: f64| grouped(images.round() as usize);
        Record::from_iter([
            ("batch".to_owned(), self.batch.into()),
            ("threads".to_owned(), self.threads.into()),
            ("packed".to_owned(), time(self.packed_seconds).into()),
            ("float".to_owned(), time(self.float_seconds).into()),
            ("packed images/s".to_owned(), speed(self.packed_images_per_second).into()),
            ("float images/s".to_owned(), speed(self.float_images_per_second).into()),
            ("ratio".to_owned(), format!("{:.1}", self.ratio).into()),
        ])
    }
}
