//! `isinglass train`.

mod recipes;
mod settings;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use isinglass_lab::recipe::Recipe;
use isinglass_lab::run::{Open, Run, RunConfig, RunError, run_name};
use isinglass_net::Carry;

use super::CliError;
use super::output::rows_among;
use super::run::data::{DataArgs, FeaturesArgs, load_data};
use super::run::perform::PerformArgs;
use settings::{InitArgs, MeansArgs, NetworkArgs, OptimiserArgs, RegularisationArgs, SelectionArgs};

/// Train a network of ±1 weights through a differentiable surrogate.
///
/// Without flags: two layers of 512 sign neurons on generated digits, about a minute on two cores, nothing to download.
///
/// A run is a directory with its settings (config.toml), its history (metrics.jsonl), checkpoints (last.safetensors, best.safetensors) and the result (summary.json). It can be stopped at any moment, by
/// Ctrl-C or kill -9; `isinglass resume` then finishes it with exactly the same result. The result shows accuracy and negative log-likelihood of the surrogate, of the binary network sign(M), and of
/// stochastic binary networks drawn from the means M, on training, validation and test examples; the test examples are used for nothing else.
///
/// With --recipe, the settings come from a recipe for record accuracy, and the run ends with the packed network (model.safetensors) and its test accuracy, as `isinglass predict` prints it.
#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    mut_arg("rows", rows_among(&["scores", "layers", "facts"])),
    after_help = "Examples:
  isinglass train
  isinglass train --data mnist --depth 20 --width 512 --surrogate deterministic --neuron sign \\
    --init two-point --sigma-m2 0.99 --optimizer adam --lr 2e-4 --epochs 10 --out runs/a
  isinglass train --surrogate lrt-binary --goal surrogate --plot curves.png
  isinglass train --hidden 512,256,128
  isinglass train --data mnist --depth 50 --width 256 --carry
  isinglass train --recipe mnist-501 --out runs/record
  isinglass train --recipe mnist-carried-20 --seed 2 --epochs 10
  isinglass train --config runs/a/config.toml --seed 2 --out runs/b
  isinglass train --train-images x.npy --train-labels y.npy \\
    --test-images x2.npy --test-labels y2.npy --format json"
)]
pub struct Args {
    /// Read settings from a TOML file; its keys match these flags, and flags override it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Use the settings of a recipe, and pack the trained network; flags override the recipe, `list` prints all recipes
    #[arg(long, value_name = "NAME|list", conflicts_with = "config")]
    recipe: Option<String>,

    /// Directory for the run, new or empty [default: runs/<time>-<hash of the settings>]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    features: FeaturesArgs,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    init: InitArgs,
    #[command(flatten)]
    means: MeansArgs,
    #[command(flatten)]
    optimiser: OptimiserArgs,
    #[command(flatten)]
    regularisation: RegularisationArgs,
    #[command(flatten)]
    perform: PerformArgs,
}

impl Args {
    pub fn run(self) -> Result<(), CliError> {
        if self.recipe.as_deref() == Some("list") {
            return recipes::print(self.perform.format());
        }
        self.perform.plot()?;
        let config = self.settings()?;
        if let Some(out) = &self.out
            && out.join(isinglass_lab::run::CONFIG).exists()
        {
            // Said before the data are read, which may take a while.
            return Err(RunError::Exists(out.clone()).into());
        }
        let data = load_data(&config, self.data.directory())?;
        if config.carry == Some(Carry::Auto)
            && let choice = config.carry_choice(&data)?
            && choice.carry
        {
            self.perform.say(&format!(
                "carry    fields are carried from layer to layer, since {}; --carry off trains the plain network",
                choice.reason
            ));
        }
        let config = config.resolved_for(&data)?;
        if let Some(recipe) = config.recipe.as_deref().map(Recipe::find).transpose()? {
            let published = recipe.published().map_or(String::new(), |published| format!("; compare {published}"));
            self.perform.say(&format!("recipe   {}: {}{published}", recipe.name(), recipe.about()));
        }
        let run = match &self.out {
            Some(directory) => Run::create(directory, config)?,
            None => create_named(Path::new("runs"), config)?,
        };
        self.perform.train(run, &data)
    }

    /// The settings of the file or the recipe under those of the flags.
    fn settings(&self) -> Result<RunConfig, CliError> {
        let mut config = match (&self.config, &self.recipe) {
            (Some(path), _) => RunConfig::read(path)?,
            (None, Some(name)) => Recipe::find(name)?.config(),
            (None, None) => RunConfig { carry: Some(Carry::Auto), ..RunConfig::default() },
        };
        // Files without the key, those of earlier versions among them, mean no carry.
        config.carry = config.carry.or(Some(Carry::Off));
        if let Some(name) = &config.recipe {
            Recipe::find(name)?;
        }
        self.data.apply(&mut config);
        if self.data.is_given() {
            // What the columns are belongs to the data.
            config.features = None;
        }
        self.features.apply(&mut config);
        self.selection.apply(&mut config);
        self.network.apply(&mut config);
        self.init.apply(&mut config);
        self.means.apply(&mut config);
        self.optimiser.apply(&mut config);
        self.regularisation.apply(&mut config);
        let mut config = config.resolved()?;
        if self.config.is_none() && self.recipe.is_none() {
            config.take_advice(Open {
                lr: !self.optimiser.has_rate(),
                anneal_from: !self.means.has_anneal_from(),
                bias_correction: !self.means.has_bias_correction(),
            });
        }
        Ok(config)
    }
}

/// A directory named after time and settings. Of runs begun in the same second all but the first get a number.
fn create_named(parent: &Path, config: RunConfig) -> Result<Run, CliError> {
    let name = run_name(&config, SystemTime::now());
    let mut directory = parent.join(&name);
    for count in 2.. {
        match Run::create(&directory, config.clone()) {
            Err(RunError::Exists(_) | RunError::Busy(_)) => directory = parent.join(format!("{name}-{count}")),
            result => return Ok(result?),
        }
    }
    unreachable!("numbers do not run out")
}
