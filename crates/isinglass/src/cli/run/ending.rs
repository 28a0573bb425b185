//! What becomes of a run that followed a recipe: its network, packed.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use isinglass_bits::PackedModel;
use isinglass_data::Dataset;
use isinglass_lab::provenance::Draws;
use isinglass_lab::recipe::Recipe;
use isinglass_lab::run::{LAST, Line, MODEL, Run, RunConfig, Summary, read_checkpoint, read_metrics};
use isinglass_lab::{replace, shell};
use serde_json::{Value, json};

use super::tables::grouped;
use crate::cli::CliError;
use crate::cli::answer::Record;
use crate::cli::pack::{DATA, Packing, TEST_ACCURACY, Written};
use crate::cli::packed::{PackedFile, Score};
use crate::cli::printable::printable;
use crate::cli::terminal::tell;

/// What there is beside the result of a run that has ended.
pub enum Ending {
    /// Nothing: the run followed no recipe.
    Plain {
        /// Whether the network can be packed.
        has_bits: bool,
    },
    /// Nothing, for a reason: there are no bits to pack.
    NoBits(String),
    /// The packed network of the last checkpoint.
    Packed(PackedRun),
}

/// A run's packed network.
pub struct PackedRun {
    file: PathBuf,
    bytes: usize,
    score: Score,
    /// What `isinglass predict` says of it.
    sentence: String,
}

impl Ending {
    /// What there is already: `None` if the network of a run that has ended is still to be packed.
    ///
    /// A file counts if its bits are those of the last checkpoint and it says how well it does on the run's data; another packed network, or a damaged one, is to be replaced.
    pub fn at_hand(directory: &Path, config: &RunConfig, summary: &Summary) -> Result<Option<Self>, CliError> {
        if let Some(ending) = Self::without_file(config) {
            return Ok(Some(ending));
        }
        let file = directory.join(MODEL);
        replace::check_packed_target(&file)?;
        let Ok(Some(packed)) = PackedFile::open_if_packed(&file) else {
            return Ok(None);
        };
        let (model, bytes) = (packed.model(), packed.bytes());
        let data = model.provenance.get(DATA).filter(|data| summary.data == **data);
        let accuracy = model.provenance.get(TEST_ACCURACY).and_then(|accuracy| accuracy.parse().ok());
        let metrics = read_metrics(directory)?;
        let examples = metrics.first().and_then(|line| if let Line::Start(start) = line { Some(start.data.test) } else { None });
        let (Some(data), Some(accuracy), Some(examples)) = (data, accuracy, examples) else {
            return Ok(None);
        };
        let checkpoint = read_checkpoint(directory, LAST)?;
        let packing = Self::packing(config, 1);
        if packing.counterpart(checkpoint.network()).pack()?.networks() != model.networks() {
            return Ok(None);
        }
        let score = Score::of_accuracy(accuracy, examples);
        Ok(Some(PackedRun::ending(file, model, bytes, score, data)))
    }

    /// Packs the last checkpoint of a run that has ended, if it followed a recipe.
    pub fn pack(run: &Run, data: &Dataset, threads: usize) -> Result<Self, CliError> {
        if let Some(ending) = Self::without_file(run.config()) {
            return Ok(ending);
        }
        let file = run.directory().join(MODEL);
        let checkpoint = read_checkpoint(run.directory(), LAST)?;
        let written = Self::packing(run.config(), threads).write(&file, &checkpoint, Some(data))?;
        let Written { model, bytes, score, .. } = written;
        let score = score.expect("the data are given");
        Ok(PackedRun::ending(file, &model, bytes, score, &data.name))
    }

    /// What a recipe packs: sign(M), or some draws with the run's seed.
    fn packing(config: &RunConfig, threads: usize) -> Packing {
        let recipe = config.recipe.as_deref().and_then(|name| Recipe::find(name).ok());
        Packing { draws: recipe.and_then(Recipe::draws).map(|samples| Draws { samples, seed: config.seed }), threads }
    }

    /// Checks, before a run is trained, that its packed network will not be in the place of another file.
    pub fn check_target(run: &Run) -> Result<(), CliError> {
        match Self::without_file(run.config()) {
            Some(_) => Ok(()),
            None => Ok(replace::check_packed_target(&run.directory().join(MODEL))?),
        }
    }

    /// The ending of runs that are not packed.
    fn without_file(config: &RunConfig) -> Option<Self> {
        let surrogate = config.surrogate;
        match (&config.recipe, surrogate.has_binary_weights(), surrogate.has_binary_neurons()) {
            (None, weights, neurons) => Some(Self::Plain { has_bits: weights && neurons }),
            (_, false, _) => Some(Self::NoBits(format!("Not packed: the weights of surrogate {surrogate} are real numbers, not bits"))),
            (_, _, false) => Some(Self::NoBits(format!("Not packed: the neurons of surrogate {surrogate} are real numbers, not bits"))),
            _ => None,
        }
    }

    /// Adds `packed` to the result of a run that followed a recipe.
    pub fn add_to(&self, result: &mut Record) {
        let packed = match self {
            Self::Plain { .. } => return,
            Self::NoBits(_) => Value::Null,
            Self::Packed(packed) => json!({
                "file": packed.file.display().to_string(),
                "bytes": packed.bytes,
                "accuracy": packed.score.accuracy(),
                "correct": packed.score.correct,
                "images": packed.score.examples,
                "path": packed.file.display().to_string(),
            }),
        };
        result.insert("packed".to_owned(), packed);
    }

    /// Says what can be done with a run that has ended, as commands to paste.
    pub fn tell_what_next(&self, directory: &Path, summary: &Summary) {
        let run = shell::path(directory);
        let has_weights = summary.evaluation.test.binary.is_some();
        let more = if has_weights { "accuracies, with more samples or on other data" } else { "accuracies on other data" };
        let mut commands = vec![(format!("isinglass evaluate {run}"), more)];
        commands.push((format!("isinglass inspect {run}"), "what the layers look like inside"));
        match self {
            Self::Packed(packed) => {
                commands.push((format!("isinglass predict {} --input FILE", shell::path(&packed.file)), "classes of your own images"))
            }
            Self::Plain { has_bits: true } => {
                commands.push((format!("isinglass pack {run} -o model.safetensors"), "the binary network, one bit per weight"));
            }
            _ => {}
        }
        let width = commands.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
        tell("\nNext:");
        for (command, what) in commands {
            tell(&format!("  {command:width$}  # {what}"));
        }
    }

    /// The last lines of the tables.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Plain { .. } => Ok(()),
            Self::NoBits(reason) => writeln!(out, "{reason}"),
            Self::Packed(packed) => {
                writeln!(out, "The packed network is {} ({} bytes)", packed.file.display(), grouped(packed.bytes))?;
                writeln!(out, "{}", printable(&packed.sentence))
            }
        }
    }
}

impl PackedRun {
    fn ending(file: PathBuf, model: &PackedModel, bytes: usize, score: Score, data: &str) -> Ending {
        Ending::Packed(Self { file, bytes, score, sentence: score.sentence(model, data) })
    }
}
