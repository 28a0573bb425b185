//! `isinglass theory point`.

use isinglass_lab::verdict;
use isinglass_theory::Point;

use super::carried::{self, CarryArgs};
use super::network::{FormatArgs, NetworkArgs, VarianceArgs, describe_network, describe_variances};
use crate::cli::CliError;
use crate::cli::answer::{Answer, Record, number};

/// Fixed points, slopes, depth scales and phase of one initialisation.
///
/// q_star is the variance that fields settle at, c_star the correlation that two signals settle at, chi_1 the factor per layer of small differences and of the mean squared gradient, chi the slope of the
/// correlation map at c_star, dq the slope of the variance map, and xi_… = −1/ln(slope) the depths over which these decay by a factor of e. Whatever diverges or does not exist is left empty (null in
/// JSON), with the reason in the verdict.
///
/// With --carry quantities decay as powers of the depth, and exponents replace depth scales: q_exponent for the signal's size (or its distance from q_star), c_exponent for the memory of differences,
/// gradient_depth_exponent and gradient_layer_exponent for the mean squared gradient in L and ℓ; gradient_root_rate is ρ where gradients grow as exp(ρ√L).
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass theory point --model deterministic --neuron sign --sigma-m2 0.9 --sigma-b2 0.001
  isinglass theory point --model continuous --neuron tanh --sigma-w2 1.76 --sigma-b2 0.05
  isinglass theory point --model binary --sigma-b2 0.1
  isinglass theory point --neuron sign --sigma-m2 0.333 --carry")]
pub struct Args {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    output: FormatArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        self.output.print(self.question.describe()?)
    }
}

/// Fixed points, slopes, depth scales and the phase at one initialisation.
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
}

impl Question {
    pub(crate) fn describe(&self) -> Result<Answer, CliError> {
        let network = self.network.network()?;
        let field = self.variances.field(&network)?;
        if self.carry.carry {
            return carried::point(&field);
        }
        let point = Point::of(&field)?;
        let mut answer = Answer::default();
        answer
            .facts(describe_network(&network))
            .facts(describe_variances(network.model(), field.sigma2(), field.sigma_b2()))
            .facts(describe_point(&point))
            .fact("verdict", verdict::of_point(&field, &point)?);
        Ok(answer)
    }
}

/// `q_star … phase`.
pub fn describe_point(point: &Point) -> Record {
    let mut record = Record::new();
    for (key, value) in [
        ("q_star", point.q_star.finite()),
        ("c_star", point.c_star.map(|c| c.c())),
        ("one_minus_c_star", point.c_star.map(|c| c.deficit())),
        ("chi_1", point.chi_1),
        ("chi", point.chi),
        ("xi_1", point.xi_1()),
        ("xi_q", point.xi_q()),
        ("xi_c", point.xi_c()),
        ("dq", point.dq),
    ] {
        record.insert(key.into(), number(value));
    }
    record.insert("phase".into(), point.phase.name().into());
    record
}
