//! 0, 1 and 2 mean the same for every command; what a signal does to runs and sweeps is in `resume.rs` and `sweep.rs`.

mod common;

use common::Scratch;

#[test]
fn wrong_usage_and_wrong_input_are_2() {
    let home = Scratch::new("exit-2");
    home.write("text", b"nothing of ours");
    for args in [
        "",
        "frobnicate",
        "train --data nothing",
        "train --config nowhere.toml",
        "resume nowhere",
        "evaluate text",
        "inspect nowhere",
        "pack nowhere",
        "predict text",
        "export nowhere --to c",
        "bench text",
        "sweep run nowhere.toml --out a",
        "sweep status nowhere",
        "sweep collect nowhere",
        "sweep submit text --out a",
        "report nowhere -o a.html",
        "theory point",
        "simulate",
        "reproduce fig9",
        "data show nothing",
        "data fetch digits",
        "completions tcsh",
    ] {
        let output = home.run(args);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args}: {message}");
        assert!(output.stdout.is_empty() && (args.is_empty() || message.starts_with("error: ")), "{args}: {message}");
    }
    assert_eq!(home.entries(), 1, "nothing was made");
}

#[test]
fn what_fails_on_the_way_is_1() {
    let home = Scratch::new("exit-1");
    // Nobody listens there.
    let message = home.fails("data fetch mnist --data-dir data --mirror http://127.0.0.1:9/", 1);
    assert!(message.contains("cannot download"), "{message}");
    let message = home.fails("theory critical-line --model lrt-continuous --neuron relu", 2);
    assert!(message.contains("relu"), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_1() {
    let home = Scratch::new("exit-full");
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for args in ["theory point --sigma-m2 0.9", "data list --format csv", "completions bash", "man"] {
        let output = home.command(args).stdout(full()).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{args}: {message}");
        assert!(message.starts_with("error: cannot write the result"), "{args}: {message}");
    }
}

#[test]
fn the_codes_are_in_the_help() {
    let home = Scratch::new("exit-help");
    let help = home.succeeds("--help");
    for line in ["0         done", "1         ", "2         ", "130, 143  "] {
        assert!(help.contains(line), "{help}");
    }
    assert_eq!(home.succeeds("help"), help);
}
