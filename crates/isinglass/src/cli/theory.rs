//! `isinglass theory`: the six questions.

pub(crate) mod advise;
pub(crate) mod carried;
pub(crate) mod critical_line;
pub(crate) mod map;
pub(crate) mod network;
pub(crate) mod phase_diagram;
mod pictures;
pub(crate) mod point;
pub(crate) mod range;
pub(crate) mod trajectory;

use clap::Subcommand;

use super::CliError;

/// The commands; each is described where its flags are.
#[derive(Debug, Subcommand)]
pub enum Command {
    Point(point::Args),
    Trajectory(trajectory::Args),
    Map(map::Args),
    CriticalLine(critical_line::Args),
    PhaseDiagram(phase_diagram::Args),
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
