//! `isinglass theory`, run as a user runs it: formats, pictures, help, and what it says to bad input.

mod common;

use std::process::Stdio;

use common::Scratch;

#[test]
fn every_command_prints_tables_too() {
    for args in [
        "point --sigma-m2 0.9",
        "trajectory --sigma-m2 0.9 --depth 3",
        "map --sigma-m2 0.9",
        "critical-line",
        "phase-diagram --grid 5x5",
        "advise --depth 3",
        "advise --depth 3 --model binary",
    ] {
        let scratch = Scratch::new("tables");
        let table = scratch.succeeds(&format!("theory {args}"));
        assert!(table.contains("model") && table.lines().count() > 5, "{table}");
        let csv = scratch.succeeds(&format!("theory {args} --format csv"));
        assert!(!csv.contains("null") && csv.lines().count() > 1, "{csv}");
    }
}

#[test]
fn bad_input_is_one_sentence_and_exit_code_2() {
    let scratch = Scratch::new("bad-input");
    for (args, names) in [
        ("theory point --sigma-m2 1.2", "cannot exceed 1"),
        ("theory point --sigma-m2 -0.1", "-0.1"),
        ("theory point --sigma-m2 nan", "NaN"),
        ("theory point --sigma-m2 inf", "inf"),
        ("theory point --sigma-m2 0.9 --sigma-b2 -1", "σ_b² = -1"),
        ("theory point --sigma-m2 0.9 --sigma-b2 1e300", "1e30"),
        ("theory point --neuron tanh:1e200 --sigma-m2 0.9", "1e9"),
        ("theory trajectory --model continuous --neuron linear --sigma-w2 2 --depth 1100", "fewer layers"),
        ("theory trajectory --sigma-m2 0.9 --input-variance -1", "|x_a|²/N = -1"),
        ("theory phase-diagram --x -1:1", "MIN < MAX"),
        ("theory phase-diagram --grid -1x3", "at least 2"),
        ("theory critical-line --q 1e-40:1", "above 0"),
        ("theory point --sigma-m2 0.9 --sigma-b2 NaN", "σ_b² = NaN"),
        ("theory point --sigma-m2 abc", "abc"),
        ("theory point", "--sigma-m2"),
        ("theory point --sigma-w2 1", "--sigma-m2"),
        ("theory point --model continuous --neuron tanh --sigma-m2 0.9", "--sigma-w2"),
        ("theory point --model continuous --neuron tanh --sigma-w2 -2", "-2"),
        ("theory point --model binary --sigma-m2 0.5", "--sigma-b2"),
        ("theory point --model binary --neuron tanh", "valid neurons are sign"),
        ("theory point --neuron relu --sigma-m2 0.9", "valid neurons are sign, probit"),
        ("theory point --neuron softmax --sigma-m2 0.9", "use sign, probit"),
        ("theory point --neuron tanh:0 --sigma-m2 0.9", "between 1e-9 and 1e9"),
        ("theory point --neuron probit:-1 --sigma-m2 0.9", "between 1e-9 and 1e9"),
        ("theory point --neuron tanh:nan --sigma-m2 0.9", "between 1e-9 and 1e9"),
        ("theory point --neuron sign:2 --sigma-m2 0.9", "unknown neuron"),
        ("theory point --model quantum --sigma-m2 0.9", "use continuous, deterministic"),
        ("theory trajectory --sigma-m2 0.9 --c 1.5", "[-1, 1]"),
        ("theory trajectory --sigma-m2 0.9 --c -2", "[-1, 1]"),
        ("theory trajectory --sigma-m2 0.9 --c nan", "[-1, 1]"),
        ("theory trajectory --sigma-m2 0.9 --q-a -1", "q_a = -1"),
        ("theory trajectory --sigma-m2 0.9 --depth -5", "-5"),
        ("theory trajectory --sigma-m2 0.9 --depth 10000000", "at most 1000000 layers"),
        ("theory trajectory --sigma-m2 0.9 --depth 18446744073709551615 --carry", "at most 1000000 layers"),
        ("theory advise --neuron tanh --depth 100000000 --carry", "use a smaller depth"),
        ("theory trajectory --sigma-m2 1 --input-variance 1", "Σ = 0"),
        ("theory map --sigma-m2 0.9 --c 0.5,2", "[-1, 1]"),
        ("theory map --sigma-m2 0.9 --points 1", "at least 2"),
        ("theory critical-line --q 0:1", "above 0"),
        ("theory critical-line --q 2:1", "MIN < MAX"),
        ("theory phase-diagram --grid 0x0", "at least 2"),
        ("theory phase-diagram --grid 10", "COLUMNSxROWS"),
        ("theory phase-diagram --x 1:0", "MIN < MAX"),
        ("theory phase-diagram --model binary", "no plane"),
        ("theory phase-diagram --model continuous --neuron sign", "infinite everywhere"),
        ("theory advise --depth 0", "at least one layer"),
        ("theory advise --neuron erf:1 --depth 100000000", "use a smaller depth"),
        ("theory advise --depth 3 --reach -1", "must be positive"),
        ("theory advise", "--depth"),
        ("theory point --sigma-m2 0.9 --format yaml", "yaml"),
        ("theory frobnicate", "frobnicate"),
        ("theory map --sigma-m2 0.9 --plot no/such/dir/a.svg", "no/such/dir"),
        ("theory map --sigma-m2 0.9 --plot a.jpeg", "svg"),
    ] {
        let message = scratch.fails(args, 2);
        assert!(message.contains(names), "{args}: {message}");
    }
    assert_eq!(scratch.entries(), 0, "nothing is left behind");
}

#[test]
fn pictures_are_written_whole_or_not_at_all() {
    let scratch = Scratch::new("pictures");
    for (i, args) in [
        "trajectory --neuron sign --sigma-m2 0.9 --q-b 2",
        "trajectory --neuron tanh --sigma-m2 0.9 --sigma-b2 0.1 --c -0.5",
        "trajectory --sigma-m2 0 --depth 2",
        "map --model binary",
        "critical-line --neuron sign",
        "critical-line --model stochastic-weights --neuron tanh:2",
        "critical-line --model lrt-binary --neuron tanh",
        "phase-diagram --neuron sign --grid 20x20",
        "phase-diagram --model continuous --neuron relu --grid 5x5",
        "phase-diagram --model lrt-binary --neuron sign --grid 20x20 --quantity xi_c",
        "advise --neuron sign --depth 40",
        "advise --neuron erf:1 --depth 40",
    ]
    .into_iter()
    .enumerate()
    {
        let (svg, png) = (format!("{i}.svg"), format!("{i}.png"));
        scratch.succeeds(&format!("theory {args} --plot {svg}"));
        scratch.succeeds(&format!("theory {args} --plot {png}"));
        let text = std::fs::read_to_string(scratch.path(&svg)).unwrap();
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{args}");
        assert!(std::fs::read(scratch.path(&png)).unwrap().starts_with(b"\x89PNG"), "{args}");
    }
    // A command that fails leaves an existing picture alone.
    let kept = scratch.path("0.svg");
    let before = std::fs::read(&kept).unwrap();
    scratch.fails("theory map --sigma-m2 2 --plot 0.svg", 2);
    assert_eq!(std::fs::read(&kept).unwrap(), before);
    assert_eq!(scratch.entries(), 24);
}

#[test]
fn help_has_examples_that_run() {
    for command in ["point", "trajectory", "map", "critical-line", "phase-diagram", "advise"] {
        let scratch = Scratch::new("help");
        let help = scratch.succeeds(&format!("theory {command} --help"));
        let examples: Vec<&str> = help.lines().filter_map(|line| line.trim().strip_prefix("isinglass ")).collect();
        assert!(examples.len() >= 2, "{help}");
        for example in examples.iter().filter(|example| !example.contains("Usage")) {
            scratch.succeeds(&example.replace("200x200", "20x20"));
        }
    }
    let scratch = Scratch::new("help");
    assert_eq!(scratch.run("").status.code(), Some(2));
    assert!(scratch.succeeds("--version").starts_with("isinglass "));
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let scratch = Scratch::new("pipe");
    let mut command = scratch.command("theory trajectory --sigma-m2 0.9 --depth 100000 --format csv");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
}
