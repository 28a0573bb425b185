//! Prediction: rows of inputs sent through the networks of a model, on one thread or several.

mod desk;
mod plan;

use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "std")]
use isinglass_pool::{MAX_THREADS, Pool};

use crate::{Error, Isa, PackedModel, Prediction, Values};
use desk::Desk;
use plan::Plan;

/// Products of weights and inputs that justify a second thread: some tens of microseconds.
#[cfg(feature = "std")]
const PRODUCTS: usize = 1 << 24;
/// Parts of the rows that each thread has on average, so that one that is held up leaves some to the others.
#[cfg(feature = "std")]
const PARTS: usize = 4;

/// Predicts with a packed model. A clone shares the weights and has its own working memory, for use on another thread.
///
/// Methods take anything that turns into [`Values`]: bytes, or real numbers if the model has a [`Quantiser`](crate::Quantiser).
/// All memory except that of the results is allocated when the predictor is made.
#[derive(Clone)]
pub struct Predictor {
    plan: Arc<Plan>,
    desk: Desk,
    #[cfg(feature = "std")]
    team: Team,
}

/// The other threads and their desks, from the first call that uses them on. A clone begins without.
#[cfg(feature = "std")]
#[derive(Default)]
struct Team {
    pool: Option<Pool>,
    desks: Vec<Mutex<Desk>>,
}

#[cfg(feature = "std")]
impl Clone for Team {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Predictor {
    /// Lays a model out for an instruction set.
    pub fn new(model: &PackedModel, isa: Isa) -> Self {
        let plan = Plan::new(model, isa);
        Self {
            desk: Desk::new(&plan),
            plan: Arc::new(plan),
            #[cfg(feature = "std")]
            team: Team::default(),
        }
    }

    /// The instruction set.
    pub fn isa(&self) -> Isa {
        self.plan.isa
    }

    /// The classes of the rows, with probabilities and names.
    ///
    /// # Errors
    ///
    /// As [`Predictor::sums`].
    pub fn predict<'a>(&mut self, inputs: impl Into<Values<'a>>) -> Result<Prediction, Error> {
        let sums = self.sums(inputs)?;
        self.prediction_of(&sums)
    }

    /// The sums `Σ_j S_kj x_j` of the output layers, `[row][network][class]`.
    ///
    /// # Errors
    ///
    /// [`Error::Inputs`] if these are not whole rows, or bytes for a model of real numbers, or real numbers for a model of bytes;
    /// [`Error::NotFinite`] if a real number is missing or infinite.
    pub fn sums<'a>(&mut self, inputs: impl Into<Values<'a>>) -> Result<Vec<i32>, Error> {
        let inputs = inputs.into();
        let mut sums = vec![0; self.plan.rows(inputs)? * self.plan.sums_per_row()];
        self.desk.sums_into(&self.plan, inputs, &mut sums);
        Ok(sums)
    }

    /// The probabilities of the classes, averaged over the networks, `[row][class]`.
    ///
    /// # Errors
    ///
    /// As [`Predictor::sums`].
    pub fn probabilities<'a>(&mut self, inputs: impl Into<Values<'a>>) -> Result<Vec<f64>, Error> {
        let sums = self.sums(inputs)?;
        Ok(self.plan.probabilities_of(&sums))
    }

    /// The most likely classes, the first of equals.
    ///
    /// # Errors
    ///
    /// As [`Predictor::sums`].
    pub fn classes<'a>(&mut self, inputs: impl Into<Values<'a>>) -> Result<Vec<usize>, Error> {
        let sums = self.sums(inputs)?;
        Ok(self.plan.classes_of(&sums))
    }

    /// Like [`Predictor::predict`], on up to `threads` threads.
    ///
    /// # Errors
    ///
    /// As [`Predictor::sums`].
    #[cfg(feature = "std")]
    pub fn predict_on<'a>(&mut self, inputs: impl Into<Values<'a>>, threads: usize) -> Result<Prediction, Error> {
        let sums = self.sums_on(inputs, threads)?;
        self.prediction_of(&sums)
    }

    /// Like [`Predictor::sums`], on up to `threads` threads, if there is enough to do. They are started by the first call, and stay.
    ///
    /// # Errors
    ///
    /// As [`Predictor::sums`].
    #[cfg(feature = "std")]
    pub fn sums_on<'a>(&mut self, inputs: impl Into<Values<'a>>, threads: usize) -> Result<Vec<i32>, Error> {
        let inputs = inputs.into();
        let (plan, desk) = (&*self.plan, &mut self.desk);
        let (count, per_row) = (plan.rows(inputs)?, plan.sums_per_row());
        let mut sums = vec![0; count * per_row];
        // The pool has all threads that were asked for: batches of another size need no other one.
        let threads = threads.min(MAX_THREADS);
        let busy = threads.min(count.div_ceil(desk::TILE));
        if busy <= 1 || count.saturating_mul(plan.products) < PRODUCTS {
            desk.sums_into(plan, inputs, &mut sums);
            return Ok(sums);
        }
        let Team { pool, desks } = &mut self.team;
        if pool.as_ref().is_none_or(|pool| pool.threads() != threads) {
            *pool = Some(Pool::new(threads));
            desks.resize_with(threads, || Mutex::new(desk.clone()));
        }
        // Parts that are not too small for tiles, if that leaves one for every thread.
        let least = count.div_ceil(busy).min(desk.rows_that_pay());
        let part = count.div_ceil(busy * PARTS).max(least).next_multiple_of(desk::TILE);
        let parts: Vec<Mutex<&mut [i32]>> = sums.chunks_mut(part * per_row).map(Mutex::new).collect();
        let rows_of = |index: usize| inputs.slice(index * part * plan.inputs..((index + 1) * part * plan.inputs).min(inputs.len()));
        if let Some(pool) = pool {
            // Nobody waits for these locks: a part is one task's, a desk one thread's. What a panic left on a desk is overwritten.
            pool.run(parts.len(), &|worker, index| {
                let mut sums = parts[index].lock().unwrap_or_else(PoisonError::into_inner);
                let mut desk = desks[worker].lock().unwrap_or_else(PoisonError::into_inner);
                desk.sums_into(plan, rows_of(index), &mut sums);
            });
        }
        drop(parts);
        Ok(sums)
    }

    /// The prediction that belongs to these sums.
    ///
    /// # Errors
    ///
    /// [`Error::Shape`] if there is not a sum for every class of every network of every row.
    pub fn prediction_of(&self, sums: &[i32]) -> Result<Prediction, Error> {
        if !sums.len().is_multiple_of(self.plan.sums_per_row()) {
            return Err(Error::Shape(format!("{} sums do not make whole rows of {}", sums.len(), self.plan.sums_per_row())));
        }
        let (classes, probabilities) = (self.plan.classes_of(sums), self.plan.probabilities_of(sums));
        Prediction::new(classes, probabilities, self.plan.classes, self.plan.class_names.clone())
    }

    /// The probabilities that belong to these sums, `[row][class]`.
    pub fn probabilities_of(&self, sums: &[i32]) -> Vec<f64> {
        self.plan.probabilities_of(sums)
    }

    /// The classes that belong to these sums.
    pub fn classes_of(&self, sums: &[i32]) -> Vec<usize> {
        self.plan.classes_of(sums)
    }
}
