//! Running cells until all are done: the longest first, on every thread there is, beside other processes that do the same.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use super::claim::{Claim, Claimed, OF_DAMAGED};
use super::perform::{Message, Performance, Reins};
use super::plan::{Refusal, Speed, longest_first, threads_for_next};
use super::record::Spent;
use super::{Cell, Plan, Record, Status, Sweep, SweepData, SweepError};
use crate::memory;

/// How often the scheduler looks around.
const TICK: Duration = Duration::from_millis(50);
/// How often it looks whether cells of other processes have ended, or their processes have.
const LOOK_ELSEWHERE: Duration = Duration::from_millis(500);
/// A cell that takes longer than this is worth the trouble of giving it more threads in the middle.
const WORTH_MORE_THREADS: f64 = 3.0;

/// How cells are run, without changing what they come to.
#[derive(Debug, Clone)]
pub struct WorkOptions {
    /// Number of threads in all.
    pub threads: usize,
    /// How often a cell saves its state.
    pub checkpoint_interval: Duration,
    /// Whether cells that have failed, or whose record is damaged, are run again.
    pub retry_failed: bool,
    /// Cells that are run again if they have failed and been tried just so often, by name.
    pub retries: HashMap<String, usize>,
    /// Names of the cells to run; `None` runs all.
    pub cells: Option<Vec<String>>,
}

impl Default for WorkOptions {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            checkpoint_interval: Duration::from_secs(5),
            retry_failed: false,
            retries: HashMap::new(),
            cells: None,
        }
    }
}

/// What happens while cells are run.
#[derive(Debug)]
pub enum Event<'a> {
    /// It is about to begin.
    Planned(&'a Plan),
    /// This process has brought a cell to its end.
    Ended(&'a Cell, &'a Record, &'a Standing),
    /// Files that a cell was to resume from are damaged, for this reason: it starts again.
    Restarted(&'a Cell, &'a str),
    /// Some time has passed.
    Tick(&'a Standing),
}

/// How things stand.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Standing {
    /// Cells in all.
    pub cells: usize,
    /// Cells with a result.
    pub done: usize,
    /// Cells with an error.
    pub failed: usize,
    /// Cells whose record is damaged.
    pub damaged: usize,
    /// Cells that do not fit the memory.
    pub refused: usize,
    /// Cells that this process is running.
    pub running: usize,
    /// Cells that other processes are running.
    pub elsewhere: usize,
    /// The part of this process's work that is done, from 0 to 1.
    pub part: f64,
    /// How long it will take to the end, as far as is known.
    pub seconds_left: Option<f64>,
}

impl Sweep {
    /// Runs all cells that have no result yet, and returns when every one has ended, here or in another process. `watch` is told what happens.
    ///
    /// # Errors
    ///
    /// [`SweepError::Stopped`] soon after `stop` became true. A cell that fails is no error; a machine that does is.
    pub fn work(
        &self,
        data: &SweepData,
        options: &WorkOptions,
        stop: &AtomicBool,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<Standing, SweepError> {
        let mut scheduler = Scheduler::new(self, data, options)?;
        let plan = scheduler.plan()?;
        watch(Event::Planned(&plan));
        let (sender, receiver) = channel();
        std::thread::scope(|scope| scheduler.run(scope, (&sender, &receiver), stop, watch))
    }

    /// The places of some cells, by their names.
    fn places(&self, names: &[String]) -> Result<Vec<usize>, SweepError> {
        let places: HashMap<&str, usize> = self.cells().iter().enumerate().map(|(index, cell)| (cell.name.as_str(), index)).collect();
        let place = |name: &String| {
            let unknown = || SweepError::UnknownCell { directory: Path::to_owned(self.directory()), cell: name.clone() };
            places.get(name.as_str()).copied().ok_or_else(unknown)
        };
        names.iter().map(place).collect()
    }
}

/// A cell that is going on here.
struct Running {
    threads: usize,
    reins: Reins,
    /// Whether its threads are free again.
    is_computed: bool,
    /// Whether it was asked to stop in order to go on with more threads.
    is_called_back: bool,
}

/// A cell that waits for a thread.
struct Waiting {
    index: usize,
    /// How often it was tried before it is retried.
    retry: Option<usize>,
    /// Its run, if this process has it already.
    claimed: Option<(Box<Claimed>, Spent)>,
}

struct Scheduler<'a> {
    sweep: &'a Sweep,
    data: &'a SweepData,
    options: &'a WorkOptions,
    queue: VecDeque<Waiting>,
    /// Cells that other processes were running when last looked at.
    elsewhere: Vec<Waiting>,
    looked: Instant,
    running: HashMap<usize, Running>,
    free: usize,
    speed: Speed,
    total_cost: f64,
    standing: Standing,
    /// Bytes that cells may take together.
    memory: u64,
    refused: Vec<Refusal>,
    broken: Option<SweepError>,
}

impl<'a> Scheduler<'a> {
    fn new(sweep: &'a Sweep, data: &'a SweepData, options: &'a WorkOptions) -> Result<Self, SweepError> {
        let mut wanted: Vec<usize> = match &options.cells {
            Some(names) => sweep.places(names)?,
            None => (0..sweep.cells().len()).collect(),
        };
        wanted.sort_unstable();
        wanted.dedup();
        longest_first(&mut wanted, |index| data.cost(&sweep.cells()[index]).total);
        let mut scheduler = Self {
            sweep,
            data,
            options,
            queue: VecDeque::new(),
            elsewhere: Vec::new(),
            looked: Instant::now(),
            running: HashMap::new(),
            free: options.threads.max(1),
            speed: Speed::default(),
            total_cost: 0.0,
            standing: Standing { cells: wanted.len(), ..Standing::default() },
            memory: memory::available(),
            refused: Vec::new(),
            broken: None,
        };
        for index in wanted {
            let cell = &sweep.cells()[index];
            let retry = match sweep.status(cell)? {
                Status::Done(record) => {
                    sweep.tidy(cell)?;
                    scheduler.standing.done += 1;
                    scheduler.learn(index, &record);
                    continue;
                }
                Status::Failed(record) if options.retry_failed || options.retries.get(&cell.name) == Some(&record.run.attempts.len()) => {
                    Some(record.run.attempts.len())
                }
                Status::Failed(_) => {
                    sweep.tidy(cell)?;
                    scheduler.standing.failed += 1;
                    continue;
                }
                Status::Damaged(_) if options.retry_failed || options.retries.get(&cell.name) == Some(&OF_DAMAGED) => Some(OF_DAMAGED),
                Status::Damaged(_) => {
                    scheduler.standing.damaged += 1;
                    continue;
                }
                Status::Running | Status::Waiting => None,
            };
            let needed = data.cost(cell).memory;
            if needed > scheduler.memory {
                scheduler.standing.refused += 1;
                let (name, place) = (cell.name.clone(), cell.to_string());
                scheduler.refused.push(Refusal { cell: name, place, needed, available: scheduler.memory });
                continue;
            }
            scheduler.total_cost += scheduler.cost(index);
            scheduler.queue.push_back(Waiting { index, retry, claimed: None });
        }
        Ok(scheduler)
    }

    /// What is to be done; measures how fast, unless it is known from cells that have ended.
    fn plan(&mut self) -> Result<Plan, SweepError> {
        if let Some(longest) = self.queue.front()
            && !self.speed.is_known()
        {
            self.speed = Speed::measure(&self.sweep.cells()[longest.index], self.data, self.free)?;
        }
        Ok(Plan {
            cells: self.standing.cells,
            waiting: self.queue.len(),
            failed: self.standing.failed,
            damaged: self.standing.damaged,
            refused: self.refused.clone(),
            threads: self.free,
            seconds: if self.queue.is_empty() { None } else { self.speed.seconds(self.total_cost, self.free) },
        })
    }

    fn run<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        (sender, receiver): (&Sender<Message>, &Receiver<Message>),
        stop: &AtomicBool,
        watch: &mut dyn FnMut(Event<'_>),
    ) -> Result<Standing, SweepError>
    where
        'a: 'scope,
    {
        loop {
            if stop.load(Ordering::Relaxed) {
                self.broken.get_or_insert(SweepError::Stopped);
            }
            if self.broken.is_some() {
                self.running.values().for_each(|running| running.reins.stop());
            } else {
                if let Err(error) = self.fill(scope, sender) {
                    self.broken.get_or_insert(error);
                    continue;
                }
                self.call_back();
            }
            if self.running.is_empty() && (self.broken.is_some() || self.queue.is_empty() && self.elsewhere.is_empty()) {
                return self.broken.take().map_or(Ok(self.standing), Err);
            }
            if let Ok(message) = receiver.recv_timeout(TICK) {
                self.take(message, watch);
                // Whatever else has come meanwhile, so that all free threads are filled at once.
                while let Ok(message) = receiver.try_recv() {
                    self.take(message, watch);
                }
            }
            self.update_standing();
            watch(Event::Tick(&self.standing));
        }
    }

    /// Starts cells until no thread is free.
    fn fill<'scope>(&mut self, scope: &'scope Scope<'scope, '_>, sender: &Sender<Message>) -> Result<(), SweepError>
    where
        'a: 'scope,
    {
        if self.free > 0 && self.looked.elapsed() >= LOOK_ELSEWHERE {
            self.looked = Instant::now();
            self.queue.extend(self.elsewhere.drain(..));
        }
        while self.free > 0 {
            let computing = self.running.values().filter(|running| !running.is_computed).count();
            let threads = threads_for_next(self.options.threads.max(1), self.free, computing, self.queue.len());
            let Some(mut waiting) = self.next_that_fits() else { break };
            let cell = &self.sweep.cells()[waiting.index];
            let (claimed, spent) = match waiting.claimed.take() {
                Some(claimed) => claimed,
                None => match self.sweep.claim(cell, threads, waiting.retry)? {
                    Claim::Mine(claimed) => (claimed, Spent::default()),
                    Claim::Busy => {
                        self.elsewhere.push(waiting);
                        continue;
                    }
                    Claim::Ended(record) => {
                        self.count(&record);
                        continue;
                    }
                    Claim::Damaged => {
                        self.standing.damaged += 1;
                        continue;
                    }
                },
            };
            let reins = Reins::default();
            let performance = Performance {
                index: waiting.index,
                cell,
                claimed,
                threads,
                checkpoint_interval: self.options.checkpoint_interval,
                spent,
                reins: reins.clone(),
            };
            self.free -= threads;
            self.running.insert(waiting.index, Running { threads, reins, is_computed: false, is_called_back: false });
            let (sweep, data, sender) = (self.sweep, self.data, sender.clone());
            scope.spawn(move || performance.run(sweep, data, &sender));
        }
        Ok(())
    }

    /// The first cell that waits and fits the memory beside those that are running.
    fn next_that_fits(&mut self) -> Option<Waiting> {
        let memory = |index: usize| self.data.cost(&self.sweep.cells()[index]).memory;
        let taken = self.running.keys().fold(0u64, |sum, &index| sum.saturating_add(memory(index)));
        let fits = |waiting: &Waiting| taken.saturating_add(memory(waiting.index)) <= self.memory;
        let place = self.queue.iter().position(|waiting| self.running.is_empty() || fits(waiting))?;
        self.queue.remove(place)
    }

    /// At the end, when threads are free and nothing waits: stops cells that still take long, to go on with more threads.
    fn call_back(&mut self) {
        let computing = self.running.values().filter(|running| !running.is_computed).count();
        if self.free == 0 || computing == 0 || !self.queue.is_empty() || !self.elsewhere.is_empty() {
            return;
        }
        let fair = self.options.threads / computing;
        for (&index, running) in &mut self.running {
            let left = (1.0 - running.reins.fraction()) * self.data.cost(&self.sweep.cells()[index]).train;
            let is_long = self.speed.seconds(left, running.threads).is_some_and(|seconds| seconds > WORTH_MORE_THREADS);
            // Not before its first step: making a network ready may take as long as a short cell.
            let has_begun = running.reins.fraction() > 0.0;
            if is_long && has_begun && fair > running.threads && !running.is_computed && !running.is_called_back {
                running.is_called_back = true;
                running.reins.stop();
            }
        }
    }

    fn take(&mut self, message: Message, watch: &mut dyn FnMut(Event<'_>)) {
        match message {
            Message::Computed(index) => {
                if let Some(running) = self.running.get_mut(&index) {
                    running.is_computed = true;
                    self.free += running.threads;
                }
            }
            Message::Restarted(index, reason) => watch(Event::Restarted(&self.sweep.cells()[index], &reason)),
            Message::Landed(index, record) => {
                self.running.remove(&index);
                self.count(&record);
                self.learn(index, &record);
                self.update_standing();
                watch(Event::Ended(&self.sweep.cells()[index], &record, &self.standing));
            }
            Message::Stopped(index, claimed, spent) => {
                self.release(index);
                if self.broken.is_none() {
                    self.queue.push_back(Waiting { index, retry: None, claimed: Some((claimed, spent)) });
                }
            }
            Message::Broken(index, error) => {
                self.release(index);
                self.broken.get_or_insert(error);
            }
        }
    }

    fn release(&mut self, index: usize) {
        if let Some(running) = self.running.remove(&index)
            && !running.is_computed
        {
            self.free += running.threads;
        }
    }

    fn count(&mut self, record: &Record) {
        if record.is_failed() {
            self.standing.failed += 1;
        } else {
            self.standing.done += 1;
        }
    }

    /// Cells that were interrupted, or failed half-way, say nothing about the speed.
    fn learn(&mut self, index: usize, record: &Record) {
        if !record.is_failed() && record.run.attempts.len() == 1 {
            self.speed.learn(self.cost(index), record.run.core_seconds);
        }
    }

    fn update_standing(&mut self) {
        let waiting: f64 = self.queue.iter().chain(&self.elsewhere).map(|waiting| self.cost(waiting.index)).sum();
        let going_on = self.running.iter().filter(|(_, running)| !running.is_computed);
        let left = waiting + going_on.map(|(&index, running)| self.cost(index) * (1.0 - running.reins.fraction())).sum::<f64>();
        self.standing.running = self.running.len();
        self.standing.elsewhere = self.elsewhere.len();
        self.standing.part = if self.total_cost > 0.0 { 1.0 - left / self.total_cost } else { 1.0 };
        self.standing.seconds_left = self.speed.seconds(left.max(0.0), self.options.threads.max(1));
    }

    fn cost(&self, index: usize) -> f64 {
        self.data.cost(&self.sweep.cells()[index]).total
    }
}
