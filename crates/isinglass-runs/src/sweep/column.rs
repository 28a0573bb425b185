//! The columns of numbers that cells have.

use std::fmt;
use std::str::FromStr;

use crate::run::{Behind, Part};

/// A column of numbers.
///
/// ```
/// use isinglass_runs::run::{Behind, Part};
/// use isinglass_runs::sweep::Column;
///
/// let column = Column::accuracy(Part::Test, Behind::Stochastic(10));
/// assert_eq!(column.to_string(), "test_stochastic_10_accuracy");
/// assert_eq!("test_stochastic_10_accuracy".parse(), Ok(column));
/// assert!("test_binry_accuracy".parse::<Column>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Column {
    /// How good a network is on some examples.
    Score {
        /// Which examples.
        part: Part,
        /// Which network.
        network: Behind,
        /// By what measure.
        measure: Measure,
    },
    /// The epoch with the best validation accuracy.
    BestEpoch,
    /// `σ_m²` that the initialisation came to.
    InitSigmaM2,
    /// `σ_b²` that the initialisation came to.
    InitSigmaB2,
    /// The fraction of means beyond ±0.9.
    Polarised,
    /// The fraction of weights whose sign is not the initial one.
    FlipRatio,
    /// How often the cell was begun or resumed.
    Attempts,
    /// Threads of the last attempt.
    Threads,
    /// How long the last attempt took.
    Seconds,
}

/// A measure of how good a network is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// The fraction of examples classified correctly.
    Accuracy,
    /// The mean negative log-likelihood of the true class.
    Nll,
}

impl Measure {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Accuracy, Self::Nll];

    fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::Nll => "nll",
        }
    }
}

const OTHERS: [(Column, &str); 8] = [
    (Column::BestEpoch, "best_epoch"),
    (Column::InitSigmaM2, "init_sigma_m2"),
    (Column::InitSigmaB2, "init_sigma_b2"),
    (Column::Polarised, "polarised"),
    (Column::FlipRatio, "flip_ratio"),
    (Column::Attempts, "run_attempts"),
    (Column::Threads, "run_threads"),
    (Column::Seconds, "run_seconds"),
];

impl Column {
    /// The accuracy of a network on some examples.
    pub const fn accuracy(part: Part, network: Behind) -> Self {
        Self::Score { part, network, measure: Measure::Accuracy }
    }

    /// Whether it is an accuracy.
    pub fn is_accuracy(self) -> bool {
        matches!(self, Self::Score { measure: Measure::Accuracy, .. })
    }

    /// Whether its values are between 0 and 1 by their nature.
    pub fn is_fraction(self) -> bool {
        self.is_accuracy() || matches!(self, Self::Polarised | Self::FlipRatio)
    }

    /// What it is called in a picture: `test accuracy of the surrogate`.
    pub fn label(self) -> String {
        let Self::Score { part, network, measure } = self else {
            return match self {
                Self::BestEpoch => "best epoch",
                Self::InitSigmaM2 => "initial σ_m^2",
                Self::InitSigmaB2 => "initial σ_b^2",
                Self::Polarised => "fraction of means beyond ±0.9",
                Self::FlipRatio => "fraction of weights that changed sign",
                Self::Attempts => "attempts",
                Self::Threads => "threads",
                _ => "seconds",
            }
            .to_owned();
        };
        let part = if part == Part::Train { "training" } else { part.name() };
        let measure = match measure {
            Measure::Accuracy => "accuracy",
            Measure::Nll => "negative log-likelihood",
        };
        let network = match network {
            Behind::Surrogate => "the surrogate".to_owned(),
            Behind::Binary => "the network sign(M)".to_owned(),
            Behind::Stochastic(1) => "a stochastic network".to_owned(),
            Behind::Stochastic(samples) => format!("{samples} stochastic networks"),
        };
        format!("{part} {measure} of {network}")
    }
}

/// As in the header of a table.
impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Score { part, network, measure } => {
                let (part, measure) = (part.name(), measure.name());
                match network {
                    Behind::Surrogate => write!(f, "{part}_surrogate_{measure}"),
                    Behind::Binary => write!(f, "{part}_binary_{measure}"),
                    Behind::Stochastic(samples) => write!(f, "{part}_stochastic_{samples}_{measure}"),
                }
            }
            other => f.write_str(OTHERS.iter().find(|(column, _)| column == other).map_or("", |(_, name)| name)),
        }
    }
}

impl FromStr for Column {
    /// The name, if it is none.
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if let Some((column, _)) = OTHERS.iter().find(|(_, other)| *other == name) {
            return Ok(*column);
        }
        let score = || {
            let (part, rest) = name.split_once('_')?;
            let (network, measure) = rest.rsplit_once('_')?;
            let network = match network {
                "surrogate" => Behind::Surrogate,
                "binary" => Behind::Binary,
                other => Behind::Stochastic(other.strip_prefix("stochastic_")?.parse().ok()?),
            };
            Some(Self::Score {
                part: Part::ALL.into_iter().find(|known| known.name() == part)?,
                network,
                measure: Measure::ALL.into_iter().find(|known| known.name() == measure)?,
            })
        };
        score().ok_or_else(|| name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        let networks = [Behind::Surrogate, Behind::Binary, Behind::Stochastic(100)];
        let scores = Part::ALL.into_iter().flat_map(|part| {
            networks.into_iter().flat_map(move |network| Measure::ALL.map(|measure| Column::Score { part, network, measure }))
        });
        for column in scores.chain(OTHERS.map(|(column, _)| column)) {
            assert_eq!(column.to_string().parse(), Ok(column));
            assert!(!column.label().is_empty());
        }
        for wrong in ["", "test", "test_accuracy", "test_binary", "test_stochastic__nll", "tests_binary_nll", "status"] {
            assert!(wrong.parse::<Column>().is_err(), "{wrong}");
        }
    }
}
