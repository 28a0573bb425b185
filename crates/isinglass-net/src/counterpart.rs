//! The networks behind a trained [`Network`], with their predictions and scores.
//!
//! - [`Network::surrogate`]: the network that is trained. Local reparameterisation draws its noise once per example.
//! - [`Network::binary`]: `sign(M)` with the neurons' signs, `sign(0) = +1` (continuous neurons stay as they are).
//! - [`Network::sampled`]: `K` networks whose weights are drawn with means `M`, each shared by all examples, and whose stochastic neurons are drawn per example; class probabilities are
//!   averaged.
//!
//! Binary networks with sign neurons run on bits, exactly as when packed; the others run in floats.
//!
//! ```
//! use isinglass_net::{Init, Network};
//!
//! let mut network = Network::builder(4).hidden([33, 17]).classes(2).init(Init::Auto, 1)?;
//! network.set_class_names(Some(vec!["cat".into(), "dog".into()]))?;
//! let images = [0, 255, 255, 0, 10, 20, 30, 40]; // two images of four pixels; no labels needed
//! let prediction = network.binary().predict(&images)?;
//! assert_eq!(prediction.classes().len(), 2);
//! assert!(["cat", "dog"].contains(&prediction.name(1).unwrap()));
//! let averaged = network.sampled(20).predict(&images)?;
//! assert!((averaged.probabilities()[..2].iter().sum::<f64>() - 1.0).abs() < 1e-12);
//! # Ok::<(), isinglass_net::Error>(())
//! ```

use std::ops::ControlFlow;

use isinglass_bits::{Prediction, argmax, softmax};

use isinglass_pool::MAX_THREADS;

use crate::engine::{Engine, Purpose, Scale};
use crate::examples::Rows;
use crate::layer::Unit;
use crate::packing;
use crate::score::{BATCH, NOISE_SEED, surrogate_score};
use crate::spins::SpinNetwork;
use crate::votes::{Chosen, Votes};
use crate::{Error, Examples, Network, SampledScore, Score, Values, noise};

/// One of the networks behind a [`Network`].
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct Counterpart<'a> {
    network: &'a Network,
    kind: Kind,
    threads: usize,
    seed: u64,
    in_floats: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Surrogate,
    Binary,
    Sampled { samples: usize },
}

impl Network {
    /// The differentiable network that is trained.
    pub fn surrogate(&self) -> Counterpart<'_> {
        Counterpart::new(self, Kind::Surrogate)
    }

    /// The deterministic binary network `sign(M)`.
    pub fn binary(&self) -> Counterpart<'_> {
        Counterpart::new(self, Kind::Binary)
    }

    /// An ensemble of binary networks drawn at random.
    pub fn sampled(&self, samples: usize) -> Counterpart<'_> {
        Counterpart::new(self, Kind::Sampled { samples })
    }

    /// Whether there are ±1 weights behind the surrogate. Without them there is neither a binary nor a sampled network.
    pub fn has_binary_weights(&self) -> bool {
        self.config().surrogate.has_binary_weights()
    }

    pub(crate) fn require_binary_weights(&self) -> Result<(), Error> {
        if self.has_binary_weights() { Ok(()) } else { Err(Error::NotBinary(self.config().surrogate)) }
    }
}

impl<'a> Counterpart<'a> {
    fn new(network: &'a Network, kind: Kind) -> Self {
        let threads = crate::default_threads();
        Self { network, kind, threads, seed: 1, in_floats: false }
    }

    /// Uses this many threads, at most 1024; all of the machine's unless set. The results stay the same.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: threads.clamp(1, MAX_THREADS), ..self }
    }

    /// The seed that networks are drawn with; 1 unless set.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Evaluates in floats even where bits would do: slower, and an independent check.
    pub fn in_floats(self) -> Self {
        Self { in_floats: true, ..self }
    }

    pub(crate) fn network(&self) -> &'a Network {
        self.network
    }

    pub(crate) fn thread_count(&self) -> usize {
        self.threads
    }

    /// The number of networks and the seed, if networks are drawn.
    pub(crate) fn draws(&self) -> Result<Option<(usize, u64)>, Error> {
        match self.kind {
            Kind::Surrogate => Err(Error::Pack("the surrogate is a network of real numbers: pack binary() or sampled(k) instead".into())),
            Kind::Binary => Ok(None),
            Kind::Sampled { samples } => Ok(Some((samples, self.seed))),
        }
    }

    /// Classes and probabilities of whole examples, given one after the other.
    ///
    /// # Errors
    ///
    /// [`Error::Examples`] if they are not whole examples of the network's inputs, or a value is not finite; [`Error::NotBinary`] if there is no such network.
    pub fn predict<'v>(&self, values: impl Into<Values<'v>>) -> Result<Prediction, Error> {
        let rows = Rows::new(values.into(), self.network.config().inputs)?;
        let classes = self.network.config().classes;
        let names = self.network.class_names().map(Into::into);
        if rows.len() == 0 {
            return Ok(Prediction::new(Vec::new(), Vec::new(), classes, names)?);
        }
        let indices = rows.indices();
        let probabilities = match self.kind {
            Kind::Surrogate => self.surrogate_probabilities(&rows, &indices)?,
            Kind::Binary | Kind::Sampled { .. } => {
                let mut votes = Votes::new(indices.len(), classes);
                let _ = self.vote(&rows, &indices, &mut votes, &mut |_, _| ControlFlow::Continue(()))?;
                votes.probabilities()
            }
        };
        let chosen = probabilities.chunks_exact(classes).map(argmax).collect();
        Ok(Prediction::new(chosen, probabilities, classes, names)?)
    }

    /// Accuracy and likelihood on labelled examples; `indices` chooses some of them, `None` takes all.
    ///
    /// # Errors
    ///
    /// [`Error::Examples`] if they do not fit the network or none are chosen; [`Error::NotBinary`] if there is no such network.
    pub fn score(&self, examples: &Examples<'_>, indices: Option<&[u32]>) -> Result<Score, Error> {
        examples.check_fit(self.network.config())?;
        let indices = examples.chosen(indices)?;
        match self.kind {
            Kind::Surrogate => Ok(surrogate_score(&mut self.engine(&indices)?, examples, &indices, self.network.input())),
            Kind::Binary | Kind::Sampled { .. } => {
                let mut votes = Votes::new(indices.len(), self.network.config().classes);
                let _ = self.vote(examples.rows(), &indices, &mut votes, &mut |_, _| ControlFlow::Continue(()))?;
                Ok(votes.score(examples, &indices))
            }
        }
    }

    /// One score for every number of sampled networks in `samples`, where the smaller ensembles are subsets of the larger; the number given to [`Network::sampled`] is ignored. `progress` is called
    /// with the number of networks sampled so far and in total.
    ///
    /// # Errors
    ///
    /// Those of [`Counterpart::score`], and [`Error::Config`] if this is not a sampled network.
    pub fn scores(
        &self,
        examples: &Examples<'_>,
        indices: Option<&[u32]>,
        samples: &[usize],
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<SampledScore>, Error> {
        let mut go_on = |done: usize, of: usize| {
            progress(done, of);
            ControlFlow::Continue(())
        };
        Ok(self.scores_while(examples, indices, samples, &mut go_on)?.unwrap_or_default())
    }

    /// Like [`Counterpart::scores`], until `progress` breaks off; the result is then `None`.
    ///
    /// # Errors
    ///
    /// Those of [`Counterpart::scores`].
    pub fn scores_while(
        &self,
        examples: &Examples<'_>,
        indices: Option<&[u32]>,
        samples: &[usize],
        progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Option<Vec<SampledScore>>, Error> {
        examples.check_fit(self.network.config())?;
        let indices = examples.chosen(indices)?;
        if !matches!(self.kind, Kind::Sampled { .. }) {
            return Err(Error::config("only sampled networks have scores by number of samples: use network.sampled(k)"));
        }
        let most = samples.iter().copied().max().unwrap_or(0);
        if most == 0 {
            return Ok(Some(Vec::new()));
        }
        let mut scores = vec![None; samples.len()];
        let mut votes = Votes::new(indices.len(), self.network.config().classes);
        let all = Self { kind: Kind::Sampled { samples: most }, ..*self };
        let end = all.vote(examples.rows(), &indices, &mut votes, &mut |votes, done| {
            for (score, _) in scores.iter_mut().zip(samples).filter(|(_, samples)| **samples == done) {
                *score = Some(votes.score(examples, &indices));
            }
            progress(done, most)
        })?;
        if end.is_break() {
            return Ok(None);
        }
        let sampled =
            |(score, &samples): (Option<Score>, &usize)| score.map(|Score { accuracy, nll }| SampledScore { samples, accuracy, nll });
        Ok(Some(scores.into_iter().zip(samples).filter_map(sampled).collect()))
    }

    /// The sums `Σ_j S_kj x_j` of the output layer of `sign(M)`, `[example][class]`: integers.
    ///
    /// # Errors
    ///
    /// [`Error::Examples`] if the values do not fit the network or are floats that it does not quantise; [`Error::NotBinary`] if weights or neurons are not binary.
    pub fn sums<'v>(&self, values: impl Into<Values<'v>>) -> Result<Vec<i32>, Error> {
        let rows = Rows::new(values.into(), self.network.config().inputs)?;
        if self.kind != Kind::Binary {
            return Err(Error::Pack("only the deterministic binary network has one sum per class".into()));
        }
        self.network.require_binary_weights()?;
        if !self.network.config().surrogate.has_binary_neurons() {
            return Err(Error::NotBinary(self.network.config().surrogate));
        }
        if !self.network.input().gives_bytes(rows.values()) {
            return Err(Error::Examples("sums of real inputs are not integers: this network takes bytes".into()));
        }
        if rows.len() == 0 {
            return Ok(Vec::new());
        }
        if !self.in_floats {
            let bytes = self.network.input().bytes(&rows).expect("gives_bytes() was checked");
            return Ok(packing::predictor(self.network, None)?.sums_on(&*bytes, self.threads)?);
        }
        let indices = rows.indices();
        let mut engine = self.engine(&indices)?;
        let mut spins = SpinNetwork::deterministic(&mut engine, self.network.input(), &rows);
        Ok(indices.chunks(spins.batch()).flat_map(|indices| spins.output_sums(&rows, indices)).map(|sum| sum as i32).collect())
    }

    /// An engine for some examples.
    fn engine(&self, indices: &[u32]) -> Result<Engine, Error> {
        Engine::new(self.network, Purpose::Evaluation, BATCH.min(indices.len()), self.threads)
    }

    fn surrogate_probabilities(&self, rows: &Rows<'_>, indices: &[u32]) -> Result<Vec<f64>, Error> {
        let classes = self.network.config().classes;
        let mut engine = self.engine(indices)?;
        let last = engine.layers.len() - 1;
        let mut probabilities = Vec::with_capacity(indices.len() * classes);
        for (batch, indices) in indices.chunks(engine.batch()).enumerate() {
            engine.load(rows, indices, self.network.input(), Scale::Inputs);
            engine.forward(|layer| noise::key(NOISE_SEED, batch as u64, layer));
            for example in 0..indices.len() {
                let start = probabilities.len();
                probabilities.extend((0..classes).map(|class| f64::from(engine.neuron(last, class, example))));
                softmax(&mut probabilities[start..]);
            }
        }
        Ok(probabilities)
    }

    /// Adds the votes of every network in turn, unless `progress` breaks off; it is called after each with the number so far.
    fn vote(
        &self,
        rows: &Rows<'_>,
        indices: &[u32],
        votes: &mut Votes,
        progress: &mut dyn FnMut(&Votes, usize) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, Error> {
        let network = self.network;
        network.require_binary_weights()?;
        let samples = match self.kind {
            Kind::Sampled { samples } => samples,
            Kind::Surrogate | Kind::Binary => 1,
        };
        if samples == 0 {
            return Err(Error::config("samples = 0: an ensemble has at least one network"));
        }
        let is_drawn = matches!(self.kind, Kind::Sampled { .. });
        let is_random = is_drawn && network.is_random();
        // Without randomness every sample is the same network.
        let is_new = |sample: usize| sample == 0 || is_random;
        let has_signs = |unit: Unit| matches!(unit, Unit::Sign | Unit::Output { .. }) || !is_drawn && matches!(unit, Unit::Stochastic(_));
        let on_bits = !self.in_floats && network.layers().iter().all(|layer| has_signs(layer.spec().unit));
        if on_bits && network.input().gives_bytes(rows.values()) {
            let bytes = Chosen::new(network.input(), rows, indices);
            for sample in 0..samples {
                if is_new(sample) {
                    let drawn = is_drawn.then_some((self.seed, sample as u64));
                    votes.add_packed(&mut packing::predictor(network, drawn)?, &bytes, self.threads)?;
                }
                if progress(votes, sample + 1).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            return Ok(ControlFlow::Continue(()));
        }
        let mut engine = self.engine(indices)?;
        let mut spins = match is_drawn {
            false => SpinNetwork::deterministic(&mut engine, network.input(), rows),
            true => SpinNetwork::sampled(&mut engine, network.input(), rows),
        };
        for sample in 0..samples {
            if is_new(sample) {
                if is_drawn {
                    spins.draw(network, self.seed, sample as u64);
                }
                votes.add(&mut spins, rows, indices);
            }
            if progress(votes, sample + 1).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
