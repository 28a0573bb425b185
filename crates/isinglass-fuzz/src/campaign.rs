//! Many inputs for one reader.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use crate::{Generator, mutate, peak_of};

/// Inputs for one reader. Everything but the valid files is optional.
pub struct Campaign<'a> {
    name: &'a str,
    valid: Vec<Vec<u8>>,
    words: Vec<&'a [u8]>,
    grammar: Option<Grammar<'a>>,
    repair: Option<Repair<'a>>,
    count: u64,
    memory_per_byte: usize,
    memory_besides: usize,
}

type Grammar<'a> = Box<dyn Fn(&mut Generator) -> Vec<u8> + 'a>;
type Repair<'a> = Box<dyn Fn(&mut [u8]) + 'a>;

/// A reader that takes longer for a file of some kilobytes has a defect. Far more than any takes, so that a busy machine is no failure.
const LONGEST: Duration = Duration::from_secs(20);

impl<'a> Campaign<'a> {
    /// A campaign that starts from valid files.
    ///
    /// # Panics
    ///
    /// If there is no file.
    pub fn new(name: &'a str, valid: impl IntoIterator<Item = Vec<u8>>) -> Self {
        let valid: Vec<Vec<u8>> = valid.into_iter().collect();
        assert!(!valid.is_empty(), "a campaign needs a valid file");
        let count = match std::env::var("ISINGLASS_FUZZ") {
            Ok(count) => count.parse().unwrap_or_else(|_| panic!("ISINGLASS_FUZZ={count}: expected a number of inputs")),
            Err(_) => 10_000,
        };
        Self { name, valid, words: Vec::new(), grammar: None, repair: None, count, memory_per_byte: 32, memory_besides: 1 << 16 }
    }

    /// What files of the format are made of; some of it is inserted now and then.
    pub fn words(mut self, words: impl IntoIterator<Item = &'a str>) -> Self {
        self.words.extend(words.into_iter().map(str::as_bytes));
        self
    }

    /// Makes up whole inputs that look like the format, a third of all.
    pub fn grammar(mut self, grammar: impl Fn(&mut Generator) -> Vec<u8> + 'a) -> Self {
        self.grammar = Some(Box::new(grammar));
        self
    }

    /// Puts right what would end every other check: the sums of half of the inputs.
    pub fn repair(mut self, repair: impl Fn(&mut [u8]) + 'a) -> Self {
        self.repair = Some(Box::new(repair));
        self
    }

    /// The memory that the reader may take: a multiple of the input's length, plus a fixed number of bytes.
    pub fn memory(mut self, per_byte: usize, besides: usize) -> Self {
        (self.memory_per_byte, self.memory_besides) = (per_byte, besides);
        self
    }

    /// Input number `index`, and whether it was repaired.
    pub fn input(&self, index: u64) -> (Vec<u8>, bool) {
        let mut seed = Generator::new(index);
        // The campaigns of one test differ.
        let seed = self.name.bytes().fold(seed.bits(), |seed, byte| Generator::new(seed ^ u64::from(byte)).bits());
        let generator = &mut Generator::new(seed);
        let mut bytes = match &self.grammar {
            Some(grammar) if generator.one_in(3) => grammar(generator),
            _ => generator.choose(&self.valid).clone(),
        };
        // A file that is made up may be left as it is.
        if !generator.one_in(10) {
            bytes = mutate(generator, &bytes, &self.valid, &self.words);
        }
        match &self.repair {
            Some(repair) if generator.one_in(2) => {
                repair(&mut bytes);
                (bytes, true)
            }
            _ => (bytes, false),
        }
    }

    /// Hands all inputs to `read` and prints how many there were.
    ///
    /// # Panics
    ///
    /// If `read` panics, takes too much memory or takes too long; the message has the input.
    pub fn run(&self, mut read: impl FnMut(&[u8])) {
        self.run_marked(|bytes, _| read(bytes));
    }

    /// Like [`run`](Self::run); `read` is also told whether the input was repaired.
    ///
    /// # Panics
    ///
    /// As [`run`](Self::run).
    pub fn run_marked(&self, mut read: impl FnMut(&[u8], bool)) {
        let start = Instant::now();
        for valid in &self.valid {
            self.check("valid file", valid, || read(valid, false));
        }
        for index in 0..self.count {
            let (bytes, is_repaired) = self.input(index);
            self.check(&format!("input {index}"), &bytes, || read(&bytes, is_repaired));
        }
        eprintln!("{}: {} inputs in {:.1} s", self.name, self.count, start.elapsed().as_secs_f64());
    }

    fn check(&self, which: &str, bytes: &[u8], read: impl FnOnce()) {
        let start = Instant::now();
        let (result, peak) = peak_of(|| catch_unwind(AssertUnwindSafe(read)));
        if let Err(panic) = result {
            eprintln!("{}, {which}: panic for {}", self.name, text_of(bytes));
            resume_unwind(panic);
        }
        let allowed = self.memory_per_byte * bytes.len() + self.memory_besides;
        assert!(peak <= allowed, "{}, {which}: {peak} bytes of memory, at most {allowed} allowed, for {}", self.name, text_of(bytes));
        let time = start.elapsed();
        assert!(time < LONGEST, "{}, {which}: {time:?} for {}", self.name, text_of(bytes));
    }
}

/// The bytes as a literal of Rust.
fn text_of(bytes: &[u8]) -> String {
    let mut text = format!("{} bytes: b\"", bytes.len());
    for part in bytes {
        let _ = write!(text, "{}", std::ascii::escape_default(*part));
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[global_allocator]
    static ALLOCATIONS: crate::Allocations = crate::Allocations;

    fn campaign() -> Campaign<'static> {
        let mut campaign = Campaign::new("test", [b"name = 12\n".to_vec(), vec![0; 100]]).words(["[", "]"]);
        campaign.count = 2_000;
        campaign
    }

    fn fails(read: impl FnMut(&[u8])) -> bool {
        catch_unwind(AssertUnwindSafe(|| campaign().run(read))).is_err()
    }

    #[test]
    fn inputs_are_many_and_always_the_same() {
        let inputs: HashSet<Vec<u8>> = (0..2_000).map(|index| campaign().input(index).0).collect();
        assert!(inputs.len() > 1_500, "{}", inputs.len());
        assert!((0..100).all(|index| campaign().input(index) == campaign().input(index)));
        assert!(inputs.iter().any(|bytes| bytes.windows(20).any(|window| window == b"18446744073709551615")));
    }

    #[test]
    fn defects_are_found() {
        assert!(!fails(|_| ()));
        // A length that is believed.
        assert!(fails(|bytes| if bytes.first() == Some(&0xff) {
            drop(std::hint::black_box(vec![1u8; 100_000]))
        }));
        assert!(fails(|bytes| assert!(bytes.len() != 9)));
    }

    #[test]
    fn memory_is_counted() {
        let (vector, peak) = peak_of(|| {
            drop(std::hint::black_box(vec![1u8; 5_000]));
            std::hint::black_box(vec![1u8; 1_000])
        });
        assert_eq!((vector.len(), peak), (1_000, 5_000));
    }
}
