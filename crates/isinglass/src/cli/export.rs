//! `isinglass export`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use isinglass_lab::replace;
use serde_json::json;

use super::answer::{Answer, to_record};
use super::output::{FormatArgs, usage};
use super::packed::{ModelArgs, shape_text};
use super::run::tables::grouped;
use super::{CliError, Format};

/// Export a packed network to ONNX or to a single C file.
///
/// onnx: weights stay one bit each in the file and are unpacked when it is loaded; onnxruntime takes images as uint8 [batch, inputs] and returns the integer output sums, the probabilities and the
/// classes. c: C99 without dependencies, suitable for microcontrollers; its header comment states how much memory it needs and how to call it. Both give the same sums as `predict`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  isinglass export model.safetensors --to onnx -o model.onnx
  isinglass export model.safetensors --to c -o digits.c --name digits")]
pub struct Args {
    #[command(flatten)]
    model: ModelArgs,

    /// Target format
    #[arg(long, value_enum)]
    to: Target,

    /// File to write [default: the model's name with .onnx or .c]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace the file even if isinglass did not make it
    #[arg(long)]
    force: bool,

    /// Prefix of the C functions [default: the file's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    print: FormatArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// A graph for onnxruntime
    Onnx,
    /// A single C99 file
    C,
}

impl Target {
    fn name(self) -> &'static str {
        match self {
            Self::Onnx => "onnx",
            Self::C => "c",
        }
    }
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        if self.name.is_some() && self.to != Target::C {
            return Err(usage("--name is for --to c"));
        }
        let path = self.output.clone().unwrap_or_else(|| self.model.path().with_extension(self.to.name()));
        let other = match self.to {
            Target::Onnx => ["safetensors", "c"],
            Target::C => ["safetensors", "onnx"],
        };
        if let Some(extension) = path.extension().filter(|extension| other.iter().any(|other| extension == other)) {
            let (name, extension) = (self.to.name(), extension.display());
            return Err(usage(format!("{}: --to {name} does not write .{extension}; name the file .{name}", path.display())));
        }
        replace::check_export_target(&path, self.force)?;
        let model = self.model.load()?;
        let bytes = match self.to {
            Target::Onnx => model.to_onnx(),
            Target::C => model.to_c(&self.name.clone().unwrap_or_else(|| identifier(&path)))?.into_bytes(),
        };
        replace::write_export(&bytes, &path, self.force)?;
        if self.print.format == Format::Table {
            return Ok(writeln!(io::stdout().lock(), "{}: {} in {} bytes", path.display(), shape_text(&model), grouped(bytes.len()))?);
        }
        let mut answer = Answer::default();
        answer.place("file", &path).facts(to_record(&json!({
            "to": self.to.name(),
            "bytes": bytes.len(),
            "shape": shape_text(&model),
            "networks": model.networks().len(),
        })));
        Ok(answer.print(self.print.format)?)
    }
}

/// The file's name as a name in C.
fn identifier(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) { name } else { format!("net_{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_becomes_a_name_in_c() {
        let names = ["model.c", "runs/My-Net.v2.c", "0.c", "ä.c"].map(|path| identifier(Path::new(path)));
        assert_eq!(names, ["model", "my_net_v2", "net_0", "net__"]);
    }
}
