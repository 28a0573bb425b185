//! Ctrl-C: it stops a run that can go on, and ends a process that is past it.
#![cfg(unix)]

mod common;

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Scratch, start, wait_until};

const INTERRUPT: i32 = 2;

fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

/// Waits for the end of a process, for some seconds.
#[track_caller]
fn end_of(mut child: Child) -> std::process::Output {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > Duration::from_secs(30) {
            child.kill().unwrap();
            panic!("it did not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn the_final_evaluation_can_be_stopped() {
    let home = Scratch::new("evaluation");
    home.small_images();
    let child = start(&home, "train --data mnist --data-dir data --width 33 --epochs 1 --samples 1000000 --out a --goal surrogate");
    wait_until("the end of training", || home.path("a/last.safetensors").exists());
    std::thread::sleep(Duration::from_millis(300));
    interrupt(&child);
    let output = end_of(child);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(128 + INTERRUPT), "{said}");
    assert!(said.contains("of 6") && said.contains("`isinglass resume a`"), "{said}");
    assert!(!home.path("a/summary.json").exists());
    home.json("evaluate a --samples 2");
}

/// Run by the test below in a process of its own: trains, then waits.
#[test]
fn child() {
    let Some(directory) = std::env::var_os("ISINGLASS_TEST_SIGNALS") else { return };
    std::env::set_current_dir(directory).unwrap();
    let train = "isinglass train --data mnist --data-dir data --width 9 --depth 1 --epochs 1 --quiet --out";
    for run in ["first", "second"] {
        assert_eq!(isinglass::command_line(train.split(' ').chain([run])), 0);
    }
    std::fs::write("ended", "").unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn after_a_run_a_signal_ends_the_process() {
    let home = Scratch::new("after");
    home.small_images();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--nocapture"]).env("ISINGLASS_TEST_SIGNALS", home.path("."));
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("two runs", || home.path("ended").exists());
    interrupt(&child);
    let output = end_of(child);
    assert_eq!(output.status.signal(), Some(INTERRUPT), "{:?} {}", output.status, String::from_utf8_lossy(&output.stderr));
}
