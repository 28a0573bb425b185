//! Runs that begin where a shorter one of the same settings ended.
//!
//! That comes to the same as training from the beginning, bit for bit, where no step depends on how many there are in all: with a constant learning rate, or one that falls every
//! so many epochs, without annealing and averaging.

use std::path::Path;

use isinglass_net::{Checkpoint, Goal, Schedule};

use super::{BEST, Epoch, LAST, RunConfig, RunError, epochs, read_checkpoint, read_metrics};

/// What a shorter run left.
#[derive(Debug)]
pub(crate) struct Earlier {
    pub last: Checkpoint,
    pub best: Option<Checkpoint>,
    pub epochs: Vec<Epoch>,
}

impl RunConfig {
    /// Whether a run of these settings goes through the end of a run of `shorter` ones.
    pub(crate) fn continues(&self, shorter: &Self) -> bool {
        let without = |config: &Self| Self { epochs: 1, data_dir: None, ..config.clone() };
        let is_even = matches!(self.schedule, Schedule::Constant | Schedule::Step { .. });
        let is_plain = self.goal == Some(Goal::Surrogate) && self.average <= 1;
        shorter.epochs < self.epochs && is_even && is_plain && without(shorter) == without(self)
    }
}

impl Earlier {
    /// Reads what a run that has ended left, for a run with these settings.
    pub(crate) fn read(directory: &Path, config: &RunConfig) -> Result<Self, RunError> {
        let train = config.train_config()?;
        let longer = |checkpoint: Checkpoint| checkpoint.with_train_config(train.clone());
        let best = match read_checkpoint(directory, BEST) {
            Ok(best) => Some(longer(best)?),
            Err(RunError::NoCheckpoint { .. }) => None,
            Err(error) => return Err(error),
        };
        let lines = read_metrics(directory)?;
        Ok(Self { last: longer(read_checkpoint(directory, LAST)?)?, best, epochs: epochs(&lines).cloned().collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_runs_that_do_not_look_at_their_length_are_continued() {
        let config = |text: &str| RunConfig::from_toml(text).unwrap().resolved().unwrap();
        let plain = "goal = \"surrogate\"\nschedule = \"constant\"\n";
        let (short, long) = (config(&format!("{plain}epochs = 3\n")), config(&format!("{plain}epochs = 5\n")));
        assert!(long.continues(&short) && !short.continues(&long) && !long.continues(&long));
        for other in [
            "goal = \"surrogate\"\nschedule = \"cosine\"\n",
            "goal = \"binary\"\nschedule = \"constant\"\n",
            "goal = \"surrogate\"\nschedule = \"constant\"\naverage = 2\n",
        ] {
            assert!(!config(&format!("{other}epochs = 5\n")).continues(&config(&format!("{other}epochs = 3\n"))), "{other}");
        }
        assert!(!long.continues(&config(&format!("{plain}epochs = 3\nseed = 2\n"))));
    }
}
