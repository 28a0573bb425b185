//! Colours of the terminal, for words that deserve them.
//!
//! Under `--color auto` text is coloured on a terminal only, and not if `NO_COLOR` is set, `CLICOLOR` is 0 or `TERM` is `dumb`.

use std::io::{self, IsTerminal};

use clap::ValueEnum;

use super::terminal::speech;

/// When to colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set or CLICOLOR is 0
    #[default]
    Auto,
    /// In pipes and files too
    Always,
    /// Nowhere
    Never,
}

impl Color {
    /// Whether text on a stream is coloured.
    fn is_on(self, on_terminal: bool) -> bool {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                on_terminal
                    && variable("NO_COLOR").is_none()
                    && variable("CLICOLOR").is_none_or(|value| value != "0")
                    && variable("TERM").is_none_or(|value| value != "dumb")
            }
        }
    }

    /// The colours of standard output.
    pub fn stdout(self) -> Palette {
        Palette { on: self.is_on(io::stdout().is_terminal()) }
    }

    /// The colours of standard error.
    pub fn stderr(self) -> Palette {
        Palette { on: self.is_on(io::stderr().is_terminal()) }
    }
}

/// The colours of standard output in the command that is running.
pub fn stdout() -> Palette {
    speech().color.stdout()
}

/// The colours of standard error in the command that is running.
pub fn stderr() -> Palette {
    speech().color.stderr()
}

/// The colours of one stream; none, if text there stays plain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    on: bool,
}

impl Palette {
    #[cfg(test)]
    const PLAIN: Self = Self { on: false };

    fn paint(self, code: &str, text: &str) -> String {
        if self.on && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// `error:`, in bold red.
    pub fn error(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// What holds, has ended well or is done, in green.
    pub fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// What does not hold or has failed, in red.
    pub fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// What is undecided, or deserves a second look, in yellow.
    pub fn warn(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// What is going on, in cyan.
    pub fn busy(self, text: &str) -> String {
        self.paint("36", text)
    }

    /// Headings and flags, in bold.
    pub fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// A verdict or a status in its colour; other words stay as they are. Spaces around the word are kept, so that columns stay aligned.
    ///
    /// A verdict may go on after its first words, as in "not decided: two seeds are too few".
    pub fn verdict(self, text: &str) -> String {
        let word = text.trim();
        match word.split([':', ';', ',']).next().unwrap_or_default() {
            "holds" | "done" | "present" | "downloaded" => self.good(text),
            "does not hold" | "failed" => self.bad(text),
            "holds in part" | "not decided" | "waiting" => self.warn(text),
            "running" | "queued" => self.busy(text),
            _ => text.to_owned(),
        }
    }

    /// The text of `--help` with its headings, commands and flags in bold.
    pub fn help(self, text: &str) -> String {
        let lines: Vec<String> = text.lines().map(|line| self.help_line(line)).collect();
        lines.join("\n") + "\n"
    }

    fn help_line(self, line: &str) -> String {
        if let Some(usage) = line.strip_prefix("Usage:") {
            return self.strong("Usage:") + usage;
        }
        let is_heading = line.ends_with(':') && line.starts_with(|first: char| first.is_ascii_uppercase());
        if is_heading {
            return self.strong(line);
        }
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let starts_an_entry = (indent == 2 || indent == 6) && text.starts_with('-');
        if !starts_an_entry {
            return line.to_owned();
        }
        // The flags end where their value, or what they mean, begins.
        let end = text.find([' ', '<']).filter(|&end| !text[..end].ends_with(',')).unwrap_or_else(|| flags_end(text));
        format!("{}{}{}", &line[..indent], self.strong(&text[..end]), &text[end..])
    }
}

/// Where `-q, --quiet` ends.
fn flags_end(text: &str) -> usize {
    let long = text.find(", ").map_or(0, |comma| comma + 2);
    text[long..].find([' ', '<', '=']).map_or(text.len(), |end| long + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: Palette = Palette { on: true };

    #[test]
    fn verdicts_have_their_colours_and_keep_their_width() {
        assert_eq!(ON.verdict("holds  "), "\x1b[32mholds  \x1b[0m");
        assert_eq!(ON.verdict("does not hold"), "\x1b[31mdoes not hold\x1b[0m");
        assert_eq!(ON.verdict("not decided: too few seeds"), "\x1b[33mnot decided: too few seeds\x1b[0m");
        assert_eq!(ON.verdict("the theory holds"), "the theory holds");
        assert_eq!(Palette::PLAIN.verdict("failed"), "failed");
    }

    #[test]
    fn help_has_bold_headings_and_flags() {
        let help = "Usage: isinglass train\n\nOptions:\n      --depth <N>  Layers: a number\n  -q, --quiet  Print nothing\n  -h\n";
        let bold = ON.help(help);
        for part in
            ["\x1b[1mUsage:\x1b[0m isinglass", "\x1b[1mOptions:\x1b[0m", "\x1b[1m--depth\x1b[0m <N>", "\x1b[1m-q, --quiet\x1b[0m  Print"]
        {
            assert!(bold.contains(part), "{bold:?}");
        }
        assert_eq!(Palette::PLAIN.help(help), help);
    }

    #[test]
    fn always_and_never_ask_nobody() {
        assert_eq!([Color::Always.is_on(false), Color::Never.is_on(true), Color::Auto.is_on(false)], [true, false, false]);
    }
}
