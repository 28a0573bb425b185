//! `isinglass man`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};
use clap_mangen::Man;
use isinglass_lab::run::RunError;

use super::output::print_line;
use super::{Cli, CliError};

/// Print the manual page, or write one for every command.
///
/// The pages say what --help says. Without --out the page of isinglass itself goes to standard output.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass man | man -l -
  isinglass man --out ~/.local/share/man/man1")]
pub struct Args {
    /// Write isinglass.1, isinglass-train.1 and so on to this directory, and print their paths
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        let mut command = Cli::command().disable_help_subcommand(true);
        command.build();
        match &self.out {
            None => Ok(io::stdout().write_all(&page(command)?)?),
            Some(directory) => {
                let failed = |path: &Path| {
                    let path = path.to_owned();
                    move |source| RunError::Directory { path, source }
                };
                std::fs::create_dir_all(directory).map_err(failed(directory))?;
                let mut paths = Vec::new();
                write_pages(command, "isinglass", directory, &mut paths)?;
                // Once all are written: a reader that goes away does not stop the work.
                Ok(paths.iter().try_for_each(|path| print_line(&path.display().to_string()))?)
            }
        }
    }
}

fn page(command: Command) -> io::Result<Vec<u8>> {
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut page = Vec::new();
    let has_commands = command.has_subcommands();
    let man = Man::new(command).source(format!("isinglass {}", env!("CARGO_PKG_VERSION"))).date(" ").manual("isinglass manual");
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_commands {
        man.render_subcommands_section(&mut page)?;
    }
    page.extend(sections(&after).into_bytes());
    Ok(page)
}

/// What follows the options in `--help`: `Examples:` and the like become sections, and keep their lines.
fn sections(text: &str) -> String {
    let mut roff = String::new();
    for line in text.lines() {
        match line.strip_suffix(':').filter(|title| !title.starts_with(' ')) {
            Some(title) if roff.is_empty() => roff += &section(title),
            Some(title) => roff += &format!(".fi\n{}", section(title)),
            None if roff.is_empty() => roff += &format!("{}{}\n", section("Notes"), escaped(line)),
            None => roff += &format!("{}\n", escaped(line)),
        }
    }
    if roff.is_empty() { roff } else { roff + ".fi\n" }
}

fn section(title: &str) -> String {
    let title = if title == "Exit codes" { "EXIT STATUS".to_owned() } else { title.to_uppercase() };
    format!(".SH \"{}\"\n.nf\n", escaped(&title))
}

/// A line as roff prints it unchanged.
fn escaped(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if line.starts_with('.') { format!("\\&{line}") } else { line }
}

/// Writes the page of a command and those of its subcommands; adds where they are to `paths`.
fn write_pages(command: Command, name: &str, directory: &Path, paths: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let path = directory.join(format!("{name}.1"));
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_pages(below.clone(), &format!("{name}-{}", below.get_name()), directory, paths)?;
    }
    isinglass_files::write(&path, &page(command)?).map_err(|source| RunError::Write { path: path.clone(), source })?;
    paths.push(path);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_a_section_that_keeps_its_lines() {
        let roff = sections("Examples:\n  a --b \\\n    'c'\nExit codes:\n  0  done");
        assert_eq!(roff, ".SH \"EXAMPLES\"\n.nf\n  a \\-\\-b \\e\n    \\(aqc\\(aq\n.fi\n.SH \"EXIT STATUS\"\n.nf\n  0  done\n.fi\n");
        assert_eq!(sections(""), "");
    }
}
