//! `isinglass theory map`.

use isinglass_lab::chart::Figure;
use isinglass_theory::activation::FieldPair;
use isinglass_theory::linspace;
use isinglass_theory::{Correlation, MeanField};

use super::carried::{CarryArgs, refuse};
use super::network::{NetworkArgs, OutputArgs, VarianceArgs, describe_network, describe_variances, title};
use super::range::at_least_two;
use crate::cli::CliError;
use crate::cli::answer::{Answer, Record, number};
use crate::cli::output::rows_among;

/// The correlation map c_in → c_out of one layer, with the variance at its fixed point.
///
/// Where the signal dies out (q* = 0), this is the map of vanishing signals; where every variance is kept or none is finite (relu, linear), that of large ones.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["map", "facts"])))]
#[command(after_help = "Examples:
  isinglass theory map --neuron sign --sigma-m2 0.99 --sigma-b2 0.001 --plot map.svg
  isinglass theory map --model binary --c 0.1,0.5,0.9 --format csv")]
pub struct Args {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    output: OutputArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let plot = self.output.plot()?;
        let answer = self.question.describe()?;
        if let Some(plot) = plot {
            plot.write(&self.question.figure()?)?;
        }
        self.output.print.print(answer)
    }
}

/// The correlation map of one layer.
#[derive(Debug, Clone, clap::Args)]
pub struct Question {
    /// Which network.
    #[command(flatten)]
    pub network: NetworkArgs,
    /// Which initialisation.
    #[command(flatten)]
    pub variances: VarianceArgs,
    // Refused with a reason rather than as an unknown flag.
    #[command(flatten)]
    pub(crate) carry: CarryArgs,

    /// Correlations to map [default: evenly spaced from 0 to 1]
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true)]
    pub c: Option<Vec<f64>>,

    /// Number of evenly spaced correlations
    #[arg(long, default_value_t = 21, value_parser = at_least_two, conflicts_with = "c")]
    pub points: usize,
}

impl Question {
    fn field(&self) -> Result<MeanField, CliError> {
        if self.carry.carry {
            let reason = "the correlation map of carried fields differs from layer to layer and tends to the identity";
            return Err(refuse("map", reason, "theory trajectory --carry"));
        }
        self.variances.field(&self.network.network()?)
    }

    pub(crate) fn describe(&self) -> Result<Answer, CliError> {
        let field = self.field()?;
        let network = field.network();
        let q_star = field.variance_fixed_point()?;
        let (layer, q) = field.at_fixed_point()?;
        let inputs = self.c.clone().unwrap_or_else(|| linspace(0.0, 1.0, self.points));
        let rows = inputs.into_iter().map(|c| describe_step(&layer, q, Correlation::new(c)?)).collect::<Result<Vec<_>, _>>()?;
        let mut answer = Answer::default();
        answer
            .facts(describe_network(network))
            .facts(describe_variances(network.model(), field.sigma2(), field.sigma_b2()))
            .fact("q_star", number(q_star.finite()))
            .rows("map", rows);
        Ok(answer)
    }

    pub(crate) fn figure(&self) -> Result<Figure, CliError> {
        let field = self.field()?;
        let (layer, q) = field.at_fixed_point()?;
        let curve = linspace(0.0, 1.0, 201)
            .into_iter()
            .map(|c| Ok((c, step(&layer, q, Correlation::new(c)?)?.c())))
            .collect::<Result<Vec<_>, CliError>>()?;
        Ok(super::pictures::correlation_map(&title(&field), &curve))
    }
}

fn step(field: &MeanField, q: f64, correlation: Correlation) -> Result<Correlation, CliError> {
    Ok(field.pair_map(&FieldPair::equal(q, correlation))?.correlation)
}

fn describe_step(field: &MeanField, q: f64, correlation: Correlation) -> Result<Record, CliError> {
    let next = step(field, q, correlation)?;
    let mut record = Record::new();
    for (key, value) in
        [("c_in", correlation.c()), ("c_out", next.c()), ("one_minus_c_in", correlation.deficit()), ("one_minus_c_out", next.deficit())]
    {
        record.insert(key.into(), number(value));
    }
    Ok(record)
}
