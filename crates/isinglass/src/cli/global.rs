//! The flags that every command takes.

use std::ffi::OsString;

use clap::ValueEnum;
use clap::builder::RangedU64ValueParser;

use super::style::Color;
use super::terminal::Speech;

/// The heading of these flags in every `--help`.
const HEADING: &str = "Global options";

/// What every command takes, before or after its name.
#[derive(Debug, clap::Args)]
pub struct GlobalArgs {
    /// Print nothing but errors on standard error
    #[arg(short, long, global = true, overrides_with = "quiet", help_heading = HEADING)]
    quiet: bool,

    /// Print details on standard error: version, instruction set, threads, data files, times
    #[arg(short, long, global = true, overrides_with = "verbose", help_heading = HEADING)]
    verbose: bool,

    /// When to use colours
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t = Color::Auto, hide_possible_values = true, help_heading = HEADING)]
    #[arg(help = "When to use colours: auto (on terminals; NO_COLOR and CLICOLOR are honoured), always or never")]
    color: Color,

    #[command(flatten)]
    threads: ThreadsArgs,
}

/// How many threads to use. Commands that use several have it too, and get what was given before their name.
#[derive(Debug, clap::Args)]
pub struct ThreadsArgs {
    /// Number of threads; the result does not depend on it [default: one per core]
    #[arg(long, global = true, value_name = "N", default_value_t = 0, hide_default_value = true, help_heading = HEADING)]
    #[arg(value_parser = RangedU64ValueParser::<usize>::new().range(..=1024))]
    threads: usize,
}

impl GlobalArgs {
    /// How the command speaks. Of both, --quiet wins.
    pub fn speech(&self) -> Speech {
        Speech { quiet: self.quiet, verbose: self.verbose && !self.quiet, color: self.color }
    }

    /// Number of threads.
    pub fn threads(&self) -> usize {
        self.threads.count()
    }
}

impl ThreadsArgs {
    /// Number of threads.
    pub fn count(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }
}

/// What `--color` says on a command line that cannot be understood, or asks for help.
pub fn color_in(arguments: &[OsString]) -> Color {
    let mut color = Color::Auto;
    let mut words = arguments.iter().map(|argument| argument.to_string_lossy());
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--color") {
            Some("") => words.next().map(|value| value.into_owned()),
            Some(value) => value.strip_prefix('=').map(str::to_owned),
            None if word == "--" => break,
            None => None,
        };
        color = value.and_then(|value| Color::from_str(&value, false).ok()).unwrap_or(color);
    }
    color
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_is_found_on_any_command_line() {
        let of = |line: &str| color_in(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of("isinglass --color never train --dept"), Color::Never);
        assert_eq!(of("isinglass train --color=always"), Color::Always);
        assert_eq!(of("isinglass train --color=pink --colour always"), Color::Auto);
        assert_eq!(of("isinglass train -- --color always"), Color::Auto);
    }
}
