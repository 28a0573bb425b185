//! What a command says beside its result: messages and progress, all of it on standard error.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::printable::printable_lines;
use super::style::{Color, stderr};

/// How much is said, and in which colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Speech {
    /// Nothing but errors.
    pub quiet: bool,
    /// Details too.
    pub verbose: bool,
    pub color: Color,
}

thread_local! {
    // Of the thread that runs the command, so that two commands in one process do not take each other's word.
    static SPEECH: Cell<Speech> = Cell::new(Speech::default());
}

/// How the command that is running speaks.
pub fn speech() -> Speech {
    SPEECH.get()
}

impl Speech {
    /// Speaks like this until the value returned is dropped.
    pub fn begin(self) -> Speaking {
        Speaking { before: SPEECH.replace(self) }
    }
}

/// While it lives, commands on this thread speak as they were told.
#[must_use]
pub struct Speaking {
    before: Speech,
}

impl Drop for Speaking {
    fn drop(&mut self) {
        SPEECH.set(self.before);
    }
}

/// Lines on standard error, unless --quiet is given. That nobody can read them is no reason to stop.
///
/// Messages may quote files, so control characters are escaped.
pub fn tell(text: &str) {
    say(&printable_lines(text));
}

fn say(text: &str) {
    if !speech().quiet {
        let _ = writeln!(io::stderr(), "{text}");
    }
}

/// Something that the user may want to know before trusting the result.
pub fn note(text: &str) {
    say(&format!("{} {}", stderr().warn("note:"), printable_lines(text)));
}

/// Something that is probably not as the user means it.
pub fn warn(text: &str) {
    say(&format!("{} {}", stderr().warn("warning:"), printable_lines(text)));
}

/// A detail, said with --verbose only.
pub fn detail(text: impl FnOnce() -> String) {
    if speech().verbose {
        tell(&text());
    }
}

/// An error, whatever was asked for.
pub fn error(text: &str) {
    let _ = writeln!(io::stderr(), "{} {}", stderr().error("error:"), printable_lines(text));
}

/// What must be known, whatever was asked for, and is no error.
pub fn insist(text: &str) {
    let _ = writeln!(io::stderr(), "{}", printable_lines(text));
}

/// Whether progress can be shown in place, as a bar that moves.
pub fn shows_bars() -> bool {
    !speech().quiet && io::stderr().is_terminal()
}

/// A bar on a terminal, nothing elsewhere.
pub fn bar(template: &str) -> ProgressBar {
    let target = if shows_bars() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(None, target).with_style(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speech_ends_with_its_command() {
        let quiet = Speech { quiet: true, ..Speech::default() };
        let speaking = quiet.begin();
        assert_eq!(speech(), quiet);
        assert_eq!(std::thread::spawn(speech).join().unwrap(), Speech::default());
        drop(speaking);
        assert_eq!(speech(), Speech::default());
    }
}
