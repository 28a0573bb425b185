//! Runs exported networks: C with `cc`, ONNX with onnxruntime if `ISINGLASS_PYTHON` names a Python that has it (`pip install onnxruntime onnx numpy`).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use isinglass_bits::{PackedModel, Values};

/// All warnings, as errors.
pub const STRICT: &str = "-Wall -Wextra -Werror -pedantic -Wconversion -Wshadow -Wvla";

/// A directory for one test.
pub fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Whether there is a C compiler that knows these flags.
pub fn cc_knows(flags: &str) -> bool {
    let program = directory("cc").join("probe.c");
    std::fs::write(&program, "int main(void) { return 0; }\n").unwrap();
    let mut cc = Command::new("cc");
    let status = cc.args(flags.split_whitespace()).arg("-c").arg(program).arg("-o").arg("/dev/null").stderr(Stdio::null()).status();
    let knows = status.is_ok_and(|status| status.success());
    if !knows {
        if Command::new("cc").arg("--version").output().is_err() {
            isinglass_fuzz::skip("there is no C compiler (cc)");
        }
        eprintln!("skipped: cc does not take {flags}");
    }
    knows
}

/// Compiles a program that may be an exported network.
pub fn compile(directory: &Path, name: &str, code: &str, flags: &str) -> PathBuf {
    let (source, program) = (directory.join(format!("{name}.c")), directory.join(name));
    std::fs::write(&source, code).unwrap();
    let mut cc = Command::new("cc");
    cc.args(flags.split_whitespace()).args(STRICT.split(' ')).arg(&source).arg("-o").arg(&program);
    // One network needs no library.
    if code.contains("<math.h>") {
        cc.arg("-lm");
    }
    let output = cc.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// What a program writes when it reads these inputs.
pub fn run(program: &Path, inputs: Values<'_>) -> String {
    let raw = program.with_extension("raw");
    std::fs::write(&raw, bytes_of(inputs)).unwrap();
    let output = Command::new(program).stdin(std::fs::File::open(raw).unwrap()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What onnxruntime prints, a line for each row of each model; `None` without a Python that has it.
pub fn onnxruntime(directory: &Path, cases: &[(&PackedModel, Values<'_>)]) -> Option<Vec<Vec<String>>> {
    let Some(python) = std::env::var_os("ISINGLASS_PYTHON") else {
        isinglass_fuzz::skip("ISINGLASS_PYTHON names no Python with onnxruntime");
        return None;
    };
    let mut peer = Command::new(python);
    peer.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/onnx_peer.py"));
    for (index, (model, inputs)) in cases.iter().enumerate() {
        let (onnx, raw) = (directory.join(format!("{index}.onnx")), directory.join(format!("{index}.raw")));
        std::fs::write(&onnx, model.to_onnx()).unwrap();
        std::fs::write(&raw, bytes_of(*inputs)).unwrap();
        peer.arg(onnx).arg(raw);
    }
    let output = peer.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines = text.lines().map(str::to_owned);
    let of_cases = cases.iter().map(|(model, inputs)| lines.by_ref().take(inputs.len() / model.inputs()).collect()).collect();
    assert_eq!(lines.next(), None);
    Some(of_cases)
}

fn bytes_of(inputs: Values<'_>) -> Vec<u8> {
    match inputs {
        Values::Bytes(bytes) => bytes.to_vec(),
        Values::Floats(reals) => reals.iter().flat_map(|real| real.to_le_bytes()).collect(),
    }
}
