//! `isinglass simulate`.

mod records;

use std::time::Duration;

use isinglass_lab::simulate::{Comparison, Measurement, Shown, Simulation, picture};
use isinglass_theory::activation::FieldPair;
use isinglass_theory::linspace;
use isinglass_theory::{Correlation, MeanField};
use serde_json::Value;

use super::answer::{Answer, Record};
use super::output::{OutputArgs, ThreadsArgs, rows_among, usage};
use super::terminal::bar;
use super::theory::carried::CarryArgs;
use super::theory::network::{NetworkArgs, VarianceArgs, describe_network};
use super::{CliError, Format};

/// Simulate random networks of finite width and compare them with the theory.
///
/// Draws every weight of the networks at random, sends two signals through them, and reports for every layer the variances q_aa and q_bb of their fields, their covariance q_ab and their correlation c:
/// mean and standard deviation over the networks, the theory's value, and the deviation from it in standard errors. Also reports the correlation map c_in → c_out of one layer, and gradients on their way
/// back where there are any. Layer 0 is the start. docs/experiments.md describes what is simulated and how deviations are counted.
///
/// With --carry every layer adds its field to the previous one. The mean square v_aa of the carried fields and their Σ (spread) are reported too, and gradients go back through both; there is no
/// correlation map, since it differs from layer to layer.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["layers", "map", "jacobians", "overall", "networks", "facts"])))]
#[command(after_help = "Examples:
  isinglass simulate --model deterministic --neuron sign --sigma-m2 0.2,0.5,0.99 --sigma-b2 0.001 \\
    --width 1000 --realisations 50 --depth 30 --plot fig1.svg
  isinglass simulate --model lrt-continuous --neuron tanh --sigma-m2 0.9 --rows jacobians
  isinglass simulate --model binary --sigma-b2 0.1 --c 0.9 --format json
  isinglass simulate --model continuous --neuron tanh --sigma-w2 1.5,2.5 --width 300 \\
    --rows map --format csv
  isinglass simulate --neuron sign --sigma-m2 0.333 --depth 60 --width 500 --carry \\
    --plot carried.svg")]
pub struct Args {
    #[command(flatten)]
    network: NetworkArgs,

    /// Variances of the means of the binary weights, at most 1 (means are ±σ_m)
    #[arg(long, value_name = "σ_m²", value_delimiter = ',', allow_hyphen_values = true)]
    sigma_m2: Vec<f64>,

    /// Variances of real weights (models continuous and stochastic-neurons)
    #[arg(long, value_name = "σ_w²", value_delimiter = ',', allow_hyphen_values = true)]
    sigma_w2: Vec<f64>,

    /// Variance of the biases
    #[arg(long, value_name = "σ_b²", default_value_t = 0.0, allow_hyphen_values = true)]
    sigma_b2: f64,

    /// Units in every layer
    #[arg(long, value_name = "N", default_value_t = 1000, allow_hyphen_values = true)]
    width: usize,

    /// Number of random networks
    #[arg(long, value_name = "R", default_value_t = 50, allow_hyphen_values = true)]
    realisations: usize,

    /// Number of layers
    #[arg(long, default_value_t = 30, allow_hyphen_values = true)]
    depth: usize,

    /// Variance of the first signal's field in layer 0
    #[arg(long, value_name = "Q", default_value_t = 1.0, allow_hyphen_values = true)]
    q_a: f64,

    /// Variance of the second signal's field in layer 0
    #[arg(long, value_name = "Q", default_value_t = 1.0, allow_hyphen_values = true)]
    q_b: f64,

    /// Correlation of the two signals in layer 0
    #[arg(long, default_value_t = 0.5, allow_hyphen_values = true, conflicts_with = "one_minus_c")]
    c: f64,

    /// The correlation as its distance from 1, for close signals (such as 1e-6)
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    one_minus_c: Option<f64>,

    /// Number of evenly spaced c_in from 0 to 1 in the correlation map; 0 omits it
    #[arg(long, default_value_t = 11)]
    map_points: usize,

    #[command(flatten)]
    carry: CarryArgs,

    /// Skip the gradients
    #[arg(long)]
    no_gradients: bool,

    /// Random seed: equal seeds give equal numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    threads: ThreadsArgs,
}

/// The tables of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// Variances, covariance and correlation, layer by layer
    Layers,
    /// The correlation map
    Map,
    /// The way back, layer by layer
    Jacobians,
    /// The deviations of each quantity from the theory, all layers together
    Overall,
}

impl Rows {
    fn named(name: &str) -> Option<Self> {
        [("layers", Self::Layers), ("map", Self::Map), ("jacobians", Self::Jacobians), ("overall", Self::Overall)]
            .into_iter()
            .find_map(|(known, rows)| (known == name).then_some(rows))
    }
}

/// One network, simulated and compared.
struct Outcome {
    field: MeanField,
    measurement: Measurement,
    comparison: Comparison,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let fields = self.fields()?;
        let plot = self.output.plot()?;
        let chosen = self.output.print.rows();
        if self.carry.carry && chosen == Some("map") {
            return Err(usage(
                "--rows map: carried fields have no correlation map, since it differs from layer to layer; use layers, jacobians or overall",
            ));
        }
        let simulation = self.simulation()?;
        let bar = bar("{bar:24} {percent}% of {len} networks, {eta} left");
        bar.enable_steady_tick(Duration::from_millis(200));
        let mut outcomes = Vec::with_capacity(fields.len());
        for (index, field) in fields.iter().enumerate() {
            let measurement = simulation.run(field, &|done, of| {
                bar.set_length((of * fields.len()) as u64);
                bar.set_position((of * index + done) as u64);
            })?;
            let comparison = measurement.compare(field)?;
            outcomes.push(Outcome { field: field.clone(), measurement, comparison });
        }
        bar.finish_and_clear();
        if let Some(plot) = plot {
            let shown: Vec<Shown<'_>> =
                outcomes.iter().map(|Outcome { field, measurement, comparison }| Shown { field, measurement, comparison }).collect();
            plot.write(&picture(&shown)?)?;
        }
        let mut answer = Answer::default();
        answer.facts(describe_network(fields[0].network())).facts(records::simulation(&simulation));
        // What a network has in lists is a table for all networks, with their variances.
        let rows = chosen.map_or(Some(Rows::Layers), Rows::named);
        match (self.output.format(), rows) {
            (Format::Json, rows) => {
                answer.rows("networks", outcomes.iter().map(records::network).collect::<Result<_, _>>()?);
                if let (Some(rows), Some(_)) = (rows, chosen) {
                    let rows: Vec<Record> = outcomes.iter().flat_map(|outcome| records::rows(outcome, rows)).collect();
                    answer.fact("rows", rows.into_iter().map(Value::Object).collect::<Vec<_>>());
                }
            }
            (Format::Csv, Some(rows)) => {
                answer.rows("rows", outcomes.iter().flat_map(|outcome| records::rows(outcome, rows)).collect());
            }
            (Format::Table, Some(rows)) => {
                answer.rows("rows", outcomes.iter().flat_map(|outcome| records::brief_rows(outcome, rows)).collect());
                // A paragraph each.
                for (index, outcome) in outcomes.iter().enumerate() {
                    answer.fact(&format!("verdict {index}"), records::verdict(outcome));
                }
            }
            // One row per network, or the settings.
            (_, None) => {
                answer.rows("networks", outcomes.iter().map(records::network_without_lists).collect::<Result<_, _>>()?);
                return self.output.print.print(answer);
            }
        }
        Ok(answer.print(self.output.format())?)
    }

    /// The networks, one for each variance.
    fn fields(&self) -> Result<Vec<MeanField>, CliError> {
        let network = self.network.network()?;
        let one = |m2: Option<f64>, w2: Option<f64>| VarianceArgs { sigma_m2: m2, sigma_w2: w2, sigma_b2: self.sigma_b2 }.field(&network);
        match (self.sigma_m2.as_slice(), self.sigma_w2.as_slice()) {
            ([], []) => Ok(vec![one(None, None)?]),
            (means, []) => means.iter().map(|&m2| one(Some(m2), None)).collect(),
            ([], weights) => weights.iter().map(|&w2| one(None, Some(w2))).collect(),
            ([mean, ..], [weight, ..]) => Ok(vec![one(Some(*mean), Some(*weight))?]),
        }
    }

    fn simulation(&self) -> Result<Simulation, CliError> {
        const MOST_POINTS: usize = 1000;
        let map = match self.map_points {
            0 => Vec::new(),
            1 => return Err(usage("--map-points 1: at least 2 are needed, or 0 for no correlation map")),
            points if points > MOST_POINTS => return Err(usage(format!("--map-points {points}: at most {MOST_POINTS}"))),
            points => linspace(0.0, 1.0, points),
        };
        let correlation = match self.one_minus_c {
            Some(deficit) => Correlation::from_deficit(deficit)?,
            None => Correlation::new(self.c)?,
        };
        Ok(Simulation {
            width: self.width,
            realisations: self.realisations,
            depth: self.depth,
            start: FieldPair { q_a: self.q_a, q_b: self.q_b, correlation },
            map,
            backwards: !self.no_gradients,
            carry: self.carry.carry,
            seed: self.seed,
            threads: self.threads.count(),
        })
    }
}
