//! The `isinglass` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(isinglass::command_line(std::env::args_os()))
}
