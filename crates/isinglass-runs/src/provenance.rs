//! What a packed network says about where it comes from.

use isinglass_net::Checkpoint;

/// An ensemble of stochastic draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draws {
    /// Number of networks.
    pub samples: usize,
    /// The seed they are drawn with.
    pub seed: u64,
}

/// What is worth knowing of a network in a year; nothing of paths, time or host, so that equal runs give equal files.
pub fn provenance(checkpoint: &Checkpoint, draws: Option<Draws>) -> Vec<(String, String)> {
    let config = checkpoint.network().config();
    let progress = checkpoint.progress();
    let weights = draws.map_or("sign(M)".to_owned(), |Draws { samples, seed }| format!("{samples} draws with seed {seed}"));
    let all = [
        ("isinglass", env!("CARGO_PKG_VERSION").to_owned()),
        ("surrogate", config.surrogate.to_string()),
        ("neuron", config.neuron.to_string()),
        ("weights", weights),
        ("epochs", format!("{} of {}", progress.epoch, progress.epochs)),
        ("seed", checkpoint.train_config().seed.to_string()),
    ];
    // A network that was not trained here has neither epochs nor a seed.
    let known = if progress.step == 0 { all.len() - 2 } else { all.len() };
    all.into_iter().take(known).map(|(key, value)| (key.to_owned(), value)).collect()
}
