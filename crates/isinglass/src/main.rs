//! The `isinglass` command.

mod cli;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage_error(&error),
    };
    match cli.run() {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output has gone away, as `head` does: nothing is wrong.
        Err(cli::CliError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error @ (cli::CliError::Stopped { .. } | cli::CliError::SweepStopped { .. })) => {
            eprintln!("{error}");
            error.exit_code()
        }
        Err(error) => {
            eprintln!("error: {error}");
            error.exit_code()
        }
    }
}

/// Help goes out as it is; a mistake becomes one sentence.
fn usage_error(error: &clap::Error) -> ExitCode {
    let wants_help = !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if wants_help {
        // Nobody is left to tell if even this cannot be printed.
        let _ = error.print();
        return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
    }
    let text = error.render().to_string();
    let sentence: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
    eprintln!("{} (try --help)", sentence.join(" "));
    ExitCode::from(2)
}
