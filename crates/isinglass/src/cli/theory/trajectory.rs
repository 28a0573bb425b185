//! `isinglass theory trajectory`.

use isinglass_lab::chart::Figure;
use isinglass_theory::activation::FieldPair;
use isinglass_theory::{CarriedState, Correlation, MOST_LAYERS, MeanField};

use super::carried::{self, CarryArgs};
use super::network::{NetworkArgs, OutputArgs, VarianceArgs, describe_network, describe_variances, title, usage};
use crate::cli::CliError;
use crate::cli::answer::{Answer, Record, number};
use crate::cli::output::rows_among;

/// Follow a pair of signals layer by layer.
///
/// Prints the variances q_a and q_b of their fields and their correlation c. Layer 0 is the start. With --input-variance it holds the network's inputs, which are not random, and the first layer follows
/// a rule of its own.
///
/// With --carry every layer adds its field to the previous one: v_a and v_b are the variances of what is carried, spread_a and spread_b its Σ. The sum starts in layer 0 with Σ = 1; with --input-variance
/// it starts in the second layer, because the first layer's field has other units.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["layers", "facts"])))]
#[command(after_help = "Examples:
  isinglass theory trajectory --model lrt-continuous --neuron tanh --sigma-m2 0.99 --depth 60
  isinglass theory trajectory --neuron sign --sigma-m2 0.9 --q-a 1 --q-b 2 --plot signals.svg
  isinglass theory trajectory --neuron sign --sigma-m2 0.9 --input-variance 0.1 --format csv
  isinglass theory trajectory --neuron sign --sigma-m2 0.333 --depth 100 --carry --plot carried.svg")]
pub struct Args {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    output: OutputArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let plot = self.output.plot()?;
        let signals = self.question.follow()?;
        if let Some(plot) = plot {
            plot.write(&signals.figure())?;
        }
        self.output.print.print(signals.answer())
    }
}

/// A pair of signals, layer by layer.
#[derive(Debug, Clone, clap::Args)]
pub struct Question {
    /// Which network.
    #[command(flatten)]
    pub network: NetworkArgs,
    /// Which initialisation.
    #[command(flatten)]
    pub variances: VarianceArgs,
    /// Whether fields are carried.
    #[command(flatten)]
    pub carry: CarryArgs,

    /// Number of layers
    #[arg(long, default_value_t = 30, allow_hyphen_values = true)]
    pub depth: usize,

    /// Variance of the first signal's field in layer 0 [default: 1]
    #[arg(long, value_name = "Q", allow_hyphen_values = true)]
    pub q_a: Option<f64>,

    /// Variance of the second signal's field in layer 0 [default: 1]
    #[arg(long, value_name = "Q", allow_hyphen_values = true)]
    pub q_b: Option<f64>,

    /// Correlation of the two signals in layer 0
    #[arg(long, default_value_t = 0.5, allow_hyphen_values = true, conflicts_with = "one_minus_c")]
    pub c: f64,

    /// The correlation as its distance from 1, for signals closer than rounding (such as 1e-20)
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    pub one_minus_c: Option<f64>,

    /// Start from non-random inputs of variance |x|²/N (one number, or one for each signal: 0.1,0.2)
    #[arg(long, value_name = "V", value_delimiter = ',', num_args = 1, conflicts_with_all = ["q_a", "q_b"], allow_hyphen_values = true)]
    pub input_variance: Option<Vec<f64>>,
}

/// What became of them.
pub struct Signals {
    field: MeanField,
    start: FieldPair,
    layers: Vec<FieldPair>,
    /// What was carried, if fields are.
    carried: Option<Vec<Option<CarriedState>>>,
}

impl Question {
    pub(crate) fn follow(&self) -> Result<Signals, CliError> {
        if self.depth > MOST_LAYERS {
            return Err(usage(format!("--depth {}: at most {MOST_LAYERS} layers", self.depth)));
        }
        let network = self.network.network()?;
        let field = self.variances.field(&network)?;
        let correlation = match self.one_minus_c {
            Some(deficit) => Correlation::from_deficit(deficit)?,
            None => Correlation::new(self.c)?,
        };
        let (start, from_inputs) = match self.input_variance.as_deref() {
            None => (FieldPair { q_a: self.q_a.unwrap_or(1.0), q_b: self.q_b.unwrap_or(1.0), correlation }, false),
            Some(&[q]) => (FieldPair::equal(q, correlation), true),
            Some(&[q_a, q_b]) => (FieldPair { q_a, q_b, correlation }, true),
            Some(_) => return Err(usage("--input-variance takes one number, or two separated by a comma")),
        };
        let carried = if self.carry.carry { Some(carried::trajectory(&field, start, from_inputs, self.depth)?) } else { None };
        let layers = match (&carried, from_inputs) {
            (Some(states), _) => states.iter().map(|state| *state.as_ref().map_or(&start, |state| state.fields())).collect(),
            (None, true) => field.trajectory_from_inputs(start, self.depth)?,
            (None, false) => field.trajectory(start, self.depth)?,
        };
        Ok(Signals { field, start, layers, carried })
    }
}

impl Signals {
    pub fn answer(&self) -> Answer {
        let network = self.field.network();
        let mut answer = Answer::default();
        answer.facts(describe_network(network)).facts(describe_variances(network.model(), self.field.sigma2(), self.field.sigma_b2()));
        if let Some(states) = &self.carried {
            let rows = states.iter().enumerate().map(|(layer, state)| carried::describe_layer(layer, state.as_ref(), &self.start));
            answer.fact("carry", true).rows("layers", rows.collect());
        } else {
            answer.rows("layers", self.layers.iter().enumerate().map(|(layer, pair)| describe_layer(layer, pair)).collect());
        }
        answer
    }

    pub fn figure(&self) -> Figure {
        let title = format!("{}{}", title(&self.field), if self.carried.is_some() { ", carried" } else { "" });
        super::pictures::trajectory(&title, &self.layers)
    }
}

fn describe_layer(layer: usize, pair: &FieldPair) -> Record {
    let mut record = Record::new();
    record.insert("layer".into(), layer.into());
    for (key, value) in [("q_a", pair.q_a), ("q_b", pair.q_b), ("c", pair.correlation.c()), ("one_minus_c", pair.correlation.deficit())] {
        record.insert(key.into(), number(value));
    }
    record
}
