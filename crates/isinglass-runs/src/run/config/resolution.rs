//! Settings with nothing left open.

use isinglass_net::{Carry, CarryChoice, Features, Goal, Initialisation};

use super::{DEPTH, RunConfig, WIDTH, check_samples};
use crate::memory;
use crate::run::{DataShape, RunError};

impl RunConfig {
    /// The same with nothing left open: the data's name, the neuron, the goal, absolute paths.
    ///
    /// # Errors
    ///
    /// If settings do not go together or one is impossible.
    pub fn resolved(mut self) -> Result<Self, RunError> {
        let setting = |message: &str| Err(RunError::Setting(message.to_owned()));
        match (&self.train_images, &self.test_images) {
            (Some(_), Some(_)) if self.data.is_some() => {
                return setting("a data set by name and files of one's own exclude each other: leave out data, or the files");
            }
            (Some(_), Some(_)) => {}
            (None, None) if self.train_labels.is_some() || self.test_labels.is_some() => {
                return setting("labels without images: give train-images and test-images too");
            }
            (None, None) => self.data = Some(self.data.unwrap_or_else(|| "digits".to_owned())),
            _ => return setting("data of one's own need both train-images and test-images"),
        }
        for path in self.paths() {
            *path = std::path::absolute(&*path).map_err(RunError::read(path))?;
            // The settings are text, and so is what tells one run from another.
            if path.to_str().is_none() {
                return Err(RunError::Setting(format!(
                    "{}: the name is not UTF-8, and settings hold only such names; rename or link it",
                    path.display()
                )));
            }
        }
        if self.hidden.is_some() && (self.depth.is_some() || self.width.is_some()) {
            return setting(
                "hidden lists the neurons of every layer, depth and width are the short form for equal ones: leave out one or the other",
            );
        }
        match self.hidden.as_deref() {
            Some([]) => return setting("hidden is empty: list the neurons of at least one hidden layer"),
            Some(hidden) if hidden.contains(&0) => {
                let list = hidden.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
                return Err(RunError::Setting(format!("hidden = {list}: a layer needs at least one neuron")));
            }
            _ => {}
        }
        if self.hidden.is_none() {
            self.depth = Some(self.depth.unwrap_or(DEPTH));
            self.width = Some(self.width.unwrap_or(WIDTH));
        }
        self.init = Some(self.init_or_default());
        self.neuron = Some(self.neuron_or_default());
        if self.goal == Some(Goal::Binary) && !self.surrogate.has_binary_weights() {
            return Err(RunError::Setting(format!(
                "goal binary with surrogate {}: there are no binary weights behind it; use goal surrogate",
                self.surrogate
            )));
        }
        self.goal = Some(self.goal_or_default());
        if i64::try_from(self.seed).is_err() {
            return Err(RunError::Setting(format!("seed = {}: at most {}", self.seed, i64::MAX)));
        }
        check_samples(&self.samples)?;
        self.train_config()?.check()?;
        Ok(self)
    }

    /// The same for these data: what was left to them is settled.
    ///
    /// # Errors
    ///
    /// Those of [`RunConfig::resolved`], and if there is no such network, the theory has no initialisation for it, or no example is left to train with.
    pub fn resolved_for(self, data: impl Into<DataShape>) -> Result<Self, RunError> {
        let (mut config, data) = (self.resolved()?, data.into());
        config.check_with(data)?;
        if config.carry == Some(Carry::Auto) {
            config.carry = Some(if config.carry_choice(data)?.carry { Carry::On } else { Carry::Off });
        }
        let network = config.network_config(data.inputs(), data.classes)?;
        memory::check_training(&network, config.batch)?;
        Initialisation::new(&network)?;
        config.features = Some(config.features_of(data));
        Ok(config)
    }

    /// Whether fields are carried with these data, and why.
    ///
    /// # Errors
    ///
    /// If there is no such network, or the theory does not cover it.
    pub fn carry_choice(&self, data: impl Into<DataShape>) -> Result<CarryChoice, RunError> {
        let (plain, data) = (Self { carry: None, ..self.clone() }, data.into());
        let network = plain.network_config(data.inputs(), data.classes)?;
        Ok(self.carry.unwrap_or(Carry::Off).resolve(&network)?)
    }

    /// What the columns of these data are: as the settings say, else what is usual for them.
    pub fn features_of(&self, data: impl Into<DataShape>) -> Features {
        self.features.unwrap_or(data.into().features)
    }
}
