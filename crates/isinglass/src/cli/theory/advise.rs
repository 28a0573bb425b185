//! `isinglass theory advise`.

use isinglass_lab::chart::Figure;
use isinglass_lab::verdict;
use isinglass_theory::advice::DEFAULT_REACH;
use isinglass_theory::{Advice, CarriedAdvice, Model, RandomNetwork, Recommendation};
use serde_json::Value;

use super::carried::{self, CarryArgs};
use super::network::{NetworkArgs, OutputArgs, VarianceArgs, describe_network, describe_variances, network_title};
use super::point::describe_point;
use crate::cli::answer::{Answer, Record, SENTENCE, number};
use crate::cli::output::rows_among;
use crate::cli::{CliError, Format, terminal};

/// Advise which σ_m² and σ_b² to use for a given depth.
///
/// best is a critical initialisation if one can be used, otherwise the allowed point where signals survive longest; smallest is the smallest σ_m² (or σ_w²) that still carries signal and gradient through
/// the depth. signal and gradient are the factors by which their mean squares change from end to end (where the signal dies out: what is left of a variance of 1); max_depth is the depth that the best
/// point reaches (null: any).
///
/// With --carry the question is whether to carry fields, and what is left, after all layers, of two signals of variance 1 and correlation 0.5: q and c at the neurons, and the fractions signal and
/// gradient. The variance is the smallest σ_m² from 1/3 (means uniform over [-1, 1]) that leaves e^-reach of the signal, or the one you give; for real weights σ_w² = 1/depth. plain_depth is the reach of
/// the plain network at the same variance, plain_max_depth its reach at best.
#[derive(Debug, clap::Args)]
#[command(mut_arg("rows", rows_among(&["facts"])))]
#[command(after_help = "Examples:
  isinglass theory advise --model deterministic --neuron sign --depth 40
  isinglass theory advise --model deterministic --neuron tanh --depth 40 --plot reach.svg
  isinglass theory advise --model deterministic --neuron sign --hidden 512,256,128
  isinglass theory advise --model lrt-continuous --neuron tanh --depth 20 --format json
  isinglass theory advise --neuron sign --depth 100 --carry --plot left.svg
  isinglass theory advise --neuron sign --depth 100 --carry --sigma-m2 0.333")]
pub struct Args {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    output: OutputArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let plot = self.output.plot()?;
        let advised = self.question.advise()?;
        if let Some(note) = self.question.hidden.as_deref().filter(|_| self.question.carry.carry).and_then(unequal_widths) {
            terminal::note(&note);
        }
        if let Some(plot) = plot {
            plot.write(&advised.figure()?)?;
        }
        let format = match self.output.print.rows() {
            Some(_) if self.output.format() == Format::Table => Format::Csv,
            _ => self.output.format(),
        };
        self.output.print.print(advised.answer(format)?)
    }
}

/// Which σ_m² and σ_b² to use for a network of a given depth.
#[derive(Debug, Clone, clap::Args)]
pub struct Question {
    /// Which network.
    #[command(flatten)]
    pub network: NetworkArgs,

    /// Number of hidden layers
    #[arg(long, allow_hyphen_values = true, required_unless_present = "hidden")]
    pub depth: Option<usize>,

    /// Neurons in each hidden layer, as for `isinglass train`; only the number of layers matters to the theory, which with --carry supposes equal widths
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', num_args = 1, allow_hyphen_values = true, conflicts_with = "depth")]
    pub hidden: Option<Vec<usize>>,

    /// Number of depth scales ξ that a signal is assumed to survive (3 in the paper's experiments)
    #[arg(long, value_name = "SCALES", default_value_t = DEFAULT_REACH, allow_hyphen_values = true)]
    pub reach: f64,

    /// Whether fields may be carried.
    #[command(flatten)]
    pub carry: CarryArgs,

    /// With --carry: the variance of the means, instead of the one advised
    #[arg(long, value_name = "σ_m²", allow_hyphen_values = true, requires = "carry")]
    pub sigma_m2: Option<f64>,

    /// With --carry: the variance of real weights, instead of the one advised
    #[arg(long, value_name = "σ_w²", allow_hyphen_values = true, requires = "carry")]
    pub sigma_w2: Option<f64>,
}

/// The advice, for carried or for plain layers.
pub enum Advised {
    Plain(RandomNetwork, Box<Advice>),
    Carried(RandomNetwork, Box<CarriedAdvice>),
}

impl Question {
    pub(crate) fn advise(&self) -> Result<Advised, CliError> {
        let network = self.network.network()?;
        let depth = self.hidden.as_ref().map_or(self.depth.unwrap_or(0), Vec::len);
        if self.carry.carry {
            let given = self.sigma_m2.is_some() || self.sigma_w2.is_some();
            let variances = VarianceArgs { sigma_m2: self.sigma_m2, sigma_w2: self.sigma_w2, sigma_b2: 0.0 };
            let advice = match given {
                false => CarriedAdvice::new(&network, depth, self.reach)?,
                true => CarriedAdvice::at(&network, variances.field(&network)?.sigma2(), 0.0, depth, self.reach)?,
            };
            return Ok(Advised::Carried(network, Box::new(advice)));
        }
        let advice = Advice::new(&network, depth, self.reach)?;
        Ok(Advised::Plain(network, Box::new(advice)))
    }
}

/// The theory of carried fields is of layers that all carry; lists of widths may have others. `None` for equal widths.
fn unequal_widths(hidden: &[usize]) -> Option<String> {
    let carrying = hidden.windows(3).filter(|widths| widths[0] == widths[1] && widths[1] == widths[2]).count();
    (hidden.windows(2).any(|pair| pair[0] != pair[1])).then(|| {
        format!(
            "this is for equal widths; in yours {carrying} of {} layers can carry a field (three in a row of equal width are needed), and `isinglass train --hidden … --carry` takes the \
             others into account",
            hidden.len()
        )
    })
}

impl Advised {
    pub fn figure(&self) -> Result<Figure, CliError> {
        match self {
            Self::Plain(network, advice) => super::pictures::reach(&network_title(network), network, advice),
            Self::Carried(network, advice) => super::pictures::signal_left(network, advice),
        }
    }

    pub fn answer(&self, format: Format) -> Result<Answer, CliError> {
        let (network, advice) = match self {
            Self::Plain(network, advice) => (network, advice),
            Self::Carried(network, advice) => return Ok(carried::advise(network, advice)),
        };
        let mut answer = Answer::default();
        answer
            .fact(SENTENCE, verdict::advice_in_short(network, advice))
            .facts(describe_network(network))
            .fact("depth", advice.depth)
            .fact("reach", advice.reach)
            .fact("critical_exists", advice.critical.is_reachable())
            .fact("max_depth", number(advice.max_depth));
        let best = describe(network.model(), &advice.best);
        let smallest = advice.smallest.as_ref().map(|smallest| describe(network.model(), smallest));
        if format == Format::Table {
            answer.rows("advice", side_by_side(&best, smallest.as_ref()));
        } else {
            // CSV keeps its columns even if there is nothing to put into them.
            let nothing = || match format {
                Format::Csv => Value::Object(best.keys().map(|key| (key.clone(), Value::Null)).collect()),
                _ => Value::Null,
            };
            let smallest = smallest.map_or_else(nothing, Value::Object);
            answer.fact("best", best).fact("smallest", smallest);
        }
        answer.fact("verdict", verdict::of_advice(network, advice)?);
        Ok(answer)
    }
}

fn describe(model: Model, recommendation: &Recommendation) -> Record {
    let mut record = describe_variances(model, recommendation.sigma2, recommendation.sigma_b2);
    record.extend(describe_point(&recommendation.point));
    record.insert("signal".into(), number(recommendation.signal));
    record.insert("gradient".into(), number(recommendation.gradient));
    record
}

/// One row per quantity, one column per recommendation.
fn side_by_side(best: &Record, smallest: Option<&Record>) -> Vec<Record> {
    let row = |(key, value): (&String, &Value)| {
        let other = smallest.and_then(|smallest| smallest.get(key)).cloned().unwrap_or(Value::Null);
        Record::from_iter([("".to_owned(), key.as_str().into()), ("best".to_owned(), value.clone()), ("smallest".to_owned(), other)])
    };
    best.iter().map(row).collect()
}
