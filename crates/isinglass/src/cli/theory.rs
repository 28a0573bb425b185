//! `isinglass theory`: the six questions.

mod advise;
mod critical_line;
mod map;
mod network;
mod phase_diagram;
mod pictures;
mod point;
mod range;
mod trajectory;

use clap::Subcommand;

use super::CliError;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Fixed points, slopes, depth scales and the phase at one initialisation
    Point(point::Args),
    /// A pair of signals, layer by layer
    Trajectory(trajectory::Args),
    /// The correlation map c_in → c_out, with the variance at its fixed point
    Map(map::Args),
    /// All critical initialisations, and which of them can be used
    CriticalLine(critical_line::Args),
    /// χ₁ or ξ_c over the plane of initialisations
    PhaseDiagram(phase_diagram::Args),
    /// Which variances to use for a network of a given depth
    Advise(advise::Args),
}

impl Command {
    pub fn run(self) -> Result<(), CliError> {
        match self {
            Self::Point(args) => args.run(),
            Self::Trajectory(args) => args.run(),
            Self::Map(args) => args.run(),
            Self::CriticalLine(args) => args.run(),
            Self::PhaseDiagram(args) => args.run(),
            Self::Advise(args) => args.run(),
        }
    }
}
