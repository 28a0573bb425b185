//! `isinglass theory`: the six questions.

mod advise;
pub(super) mod carried;
mod critical_line;
mod map;
pub(super) mod network;
mod phase_diagram;
mod pictures;
mod point;
mod range;
mod trajectory;

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
