//! The other side, kept running between questions.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A Python process with PyTorch, onnxruntime or both.
pub struct Partner {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// What it can run.
    pub sides: Vec<String>,
    /// Versions of the libraries.
    pub versions: String,
}

impl Partner {
    /// One for every interpreter that `ISINGLASS_PYTHON` names, as `PATH` would.
    pub fn start_all() -> Vec<Self> {
        let Some(pythons) = std::env::var_os("ISINGLASS_PYTHON") else { return Vec::new() };
        std::env::split_paths(&pythons).map(|python| Self::start(python.as_os_str())).collect()
    }

    fn start(python: &std::ffi::OsStr) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/speed/partner.py");
        let mut child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python starts");
        let questions = child.stdin.take().expect("a pipe");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut partner = Self { child, questions, answers, sides: Vec::new(), versions: String::new() };
        let answer = partner.ask(&json!({"sides": true}));
        let sides = answer["sides"].as_array().expect("a list").iter();
        partner.sides = sides.map(|side| side.as_str().expect("a name").to_owned()).collect();
        partner.versions = answer["versions"].as_str().expect("a string").to_owned();
        partner
    }

    fn ask(&mut self, question: &Value) -> Value {
        writeln!(self.questions, "{question}").expect("Python listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("Python answers");
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("Python answers {question} with JSON, not {answer:?}: {error}"))
    }

    /// Prepares a side.
    pub fn setup(&mut self, side: &str, sizes: &[usize], batch: usize, threads: usize) {
        self.ask(&json!({"setup": {"side": side, "sizes": sizes, "batch": batch, "threads": threads}}));
    }

    /// Seconds for `count` runs of a side: the least of several slices.
    pub fn runs(&mut self, side: &str, count: usize, slices: usize) -> f64 {
        self.ask(&json!({"runs": count, "slices": slices, "side": side}))["seconds"].as_f64().expect("seconds")
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        // The child process ends with this one.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
