//! The flags that every command takes, before and after its name: --quiet, --verbose, --color and --threads.

mod common;

use std::process::Output;

use common::Scratch;

const SMALL: &str = "train --data mnist --data-dir data --width 9 --depth 1 --epochs 1 --batch 64 --samples 1";

/// Every command and subcommand, as `--help` lists them.
fn commands(scratch: &Scratch, prefix: &str) -> Vec<String> {
    let help = scratch.succeeds(&format!("{prefix} --help"));
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next());
    let mut all = Vec::new();
    for name in names.filter(|name| *name != "help") {
        let command = format!("{prefix} {name}").trim().to_owned();
        let below = commands(scratch, &command);
        if below.is_empty() { all.push(command) } else { all.extend(below) }
    }
    all
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn every_command_lists_and_takes_them() {
    let scratch = Scratch::new("every-command");
    let commands = commands(&scratch, "");
    assert!(commands.len() >= 20, "{commands:?}");
    for command in commands {
        let help = scratch.succeeds(&format!("{command} --help"));
        for flag in ["-q, --quiet", "-v, --verbose", "--color <WHEN>", "--threads <N>"] {
            assert_eq!(help.matches(flag).count(), 1, "{command}: {flag} in\n{help}");
        }
        // They are understood: what is wrong is something else.
        for args in [
            format!("-q -v --color never --threads 2 {command} --frobnicate"),
            format!("{command} -q -v --color never --threads 2 --frobnicate"),
        ] {
            assert!(scratch.fails(&args, 2).contains("--frobnicate"), "{args}");
        }
        assert!(scratch.fails(&format!("{command} --threads 100000"), 2).contains("1024"), "{command}");
    }
}

#[test]
fn quiet_says_nothing_and_verbose_says_more() {
    let home = Scratch::new("speech");
    home.small_images();
    let plain = stderr(&home.run(&format!("{SMALL} --out a")));
    assert!(plain.contains("network  ") && !plain.contains("instruction set"), "{plain}");
    for (args, out) in [(format!("-q {SMALL}"), "b"), (format!("{SMALL} --quiet"), "c"), (format!("-v {SMALL} -q"), "d")] {
        home.succeeds(&format!("{args} --out {out}"));
    }
    let verbose = stderr(&home.run(&format!("{SMALL} --out e -v --threads 3")));
    for part in ["instruction set ", "threads 3", "train-images-idx3-ubyte", "finished after ", "network  "] {
        assert!(verbose.contains(part), "{part} in {verbose}");
    }
    // A number of threads before the command counts as one after it.
    let before = stderr(&home.run("--threads 5 -v theory point --sigma-m2 0.9"));
    assert!(before.contains("threads 5"), "{before}");
    // Errors are said in any case.
    assert!(home.fails("-q theory point --sigma-m2 2", 2).contains("cannot exceed 1"));
    // So are notes, but not with --quiet.
    std::fs::remove_dir_all(home.path("data")).unwrap();
    assert!(stderr(&home.run("pack a -o m.safetensors")).starts_with("note: data not found"));
    home.succeeds("pack a -o m.safetensors --quiet");
}

#[test]
fn pipes_have_no_colours_unless_they_are_asked_for() {
    let scratch = Scratch::new("colours");
    let escape = |args: &str| {
        let output = scratch.run(args);
        [output.stdout, output.stderr].map(|bytes| bytes.contains(&0x1b))
    };
    for args in ["--help", "data list", "theory point --sigma-m2 2", "theory point --frobnicate", "theory map --sigma-m2 0.5"] {
        assert_eq!(escape(args), [false, false], "{args}");
        assert_eq!(escape(&format!("{args} --color never")), [false, false], "{args}");
    }
    assert_eq!(escape("theory point --help --color always"), [true, false]);
    assert_eq!(escape("theory map --sigma-m2 0.5 --color always"), [true, false]);
    assert_eq!(escape("theory point --sigma-m2 2 --color always"), [false, true]);
    assert_eq!(escape("--color=always theory point --frobnicate"), [false, true]);
    // Machines get no colours, whatever is asked for.
    assert_eq!(escape("theory map --sigma-m2 0.5 --color always --format json"), [false, false]);
    assert_eq!(escape("theory map --sigma-m2 0.5 --color always --format csv"), [false, false]);
}

/// A terminal, as `script` makes one.
#[cfg(target_os = "linux")]
#[test]
fn terminals_have_colours_unless_the_environment_is_against_it() {
    let mut scratch = Scratch::new("terminal");
    let binary = env!("CARGO_BIN_EXE_isinglass");
    let on_terminal = |scratch: &Scratch, args: &str, variables: &[(&str, &str)]| {
        let mut command = std::process::Command::new("script");
        command.args(["-qec", &format!("{binary} {args}"), "/dev/null"]).current_dir(scratch.path(".")).stdin(std::process::Stdio::null());
        command.env_remove("NO_COLOR").env_remove("CLICOLOR").env("TERM", "xterm").envs(variables.iter().copied());
        command.output().ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    scratch.set("TERM", "xterm");
    let Some(map) = on_terminal(&scratch, "theory map --sigma-m2 0.5", &[]) else {
        eprintln!("skipped: there is no script(1)");
        return;
    };
    assert!(map.contains("\x1b[1m"), "{map:?}");
    let error = on_terminal(&scratch, "theory point --sigma-m2 2", &[]).unwrap();
    assert!(error.starts_with("\x1b[1;31merror:\x1b[0m "), "{error:?}");
    for (variables, args) in [(&[("NO_COLOR", "1")][..], ""), (&[("CLICOLOR", "0")], ""), (&[("TERM", "dumb")], ""), (&[], "--color never")]
    {
        let plain = on_terminal(&scratch, &format!("theory point --sigma-m2 2 {args}"), variables).unwrap();
        assert!(plain.starts_with("error: ") && !plain.contains('\x1b'), "{variables:?}: {plain:?}");
    }
    let asked = on_terminal(&scratch, "theory point --sigma-m2 2 --color always", &[("NO_COLOR", "1")]).unwrap();
    assert!(asked.contains('\x1b'), "{asked:?}");
}
