//! PyTorch, which answers questions in JSON, a line each.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde_json::{Value, json};

use crate::{CLASSES, Case, INPUTS};

/// The other side, kept running between questions.
pub struct Torch {
    pub mode: &'static str,
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Torch {
    /// One process in eager mode and one that compiles, or none if PyTorch cannot be imported.
    pub fn start_all() -> Vec<Self> {
        let python = std::env::var("ISINGLASS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let probe = Command::new(&python).args(["-c", "import torch"]).stderr(Stdio::null()).status();
        if !probe.is_ok_and(|status| status.success()) {
            return Vec::new();
        }
        ["eager", "compile"].map(|mode| Self::start(&python, mode)).into()
    }

    fn start(python: &str, mode: &'static str) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/train_step/torch_partner.py");
        let mut child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("Python starts");
        let questions = child.stdin.take().expect("a pipe");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { mode, child, questions, answers }
    }

    fn ask(&mut self, question: &Value) -> Value {
        writeln!(self.questions, "{question}").expect("PyTorch listens");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("PyTorch answers");
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("PyTorch answers {question} with JSON, not {answer:?}: {error}"))
    }

    pub fn setup(&mut self, case: &Case, threads: usize) {
        let Case { width, depth, batch, surrogate, .. } = case;
        let (mode, means) = (self.mode, case.means());
        let answer = self.ask(&json!({"setup": {
            "width": width, "depth": depth, "batch": batch, "inputs": INPUTS, "classes": CLASSES,
            "threads": threads, "mode": mode, "surrogate": surrogate, "means": means, "seed": 1,
        }}));
        assert_eq!(answer["parameters"], case.parameters(), "both sides train the same network");
    }

    /// The loss of a network and its gradients, by the names of the arrays.
    pub fn gradients(
        &mut self,
        arrays: &[(String, Vec<usize>, Vec<f64>)],
        labels: &[u8],
        surrogate: &str,
        means: &str,
    ) -> (f64, HashMap<String, Vec<f64>>) {
        let directory = std::env::temp_dir().join(format!("isinglass-train-step-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory for the arrays");
        let (question, answer) = (directory.join("network.safetensors"), directory.join("gradients.safetensors"));
        let bytes: Vec<Vec<u8>> = arrays.iter().map(|array| array.2.iter().flat_map(|value| value.to_le_bytes()).collect()).collect();
        let view = |dtype, shape: &[usize], data| TensorView::new(dtype, shape.to_vec(), data).expect("a tensor");
        let views = arrays.iter().zip(&bytes).map(|((name, shape, _), data)| (name.as_str(), view(Dtype::F64, shape, data)));
        let views = views.chain([("labels", view(Dtype::U8, &[labels.len()], labels))]);
        safetensors::serialize_to_file(views, None, &question).expect("the arrays are written");
        let mode = self.mode;
        let loss = self.ask(&json!({"check": question, "gradients": answer, "surrogate": surrogate, "means": means, "mode": mode}));
        let file = std::fs::read(&answer).expect("PyTorch writes its gradients");
        let _ = std::fs::remove_dir_all(&directory);
        let gradients = SafeTensors::deserialize(&file).expect("tensors");
        let numbers = |data: &[u8]| data.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes"))).collect();
        let named = gradients.iter().map(|(name, tensor)| (name.to_owned(), numbers(tensor.data())));
        (loss["loss"].as_f64().expect("a loss"), named.collect())
    }

    /// Seconds taken by `count` steps.
    pub fn steps(&mut self, count: usize) -> f64 {
        self.ask(&json!({"steps": count}))["seconds"].as_f64().expect("seconds")
    }
}

impl Drop for Torch {
    fn drop(&mut self) {
        // Our own child; it ends with us.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
