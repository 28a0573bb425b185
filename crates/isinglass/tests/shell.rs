//! Completions, manual pages, and commands that can be pasted.

mod common;

use std::process::{Command, Stdio};

use common::Scratch;

/// What a shell prints, if there is one.
fn shell(program: &str, arguments: &[&str], home: &Scratch) -> Option<String> {
    let output = Command::new(program).args(arguments).current_dir(home.path(".")).stdin(Stdio::null()).output().ok()?;
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn bash_completes_commands_flags_and_values() {
    let home = Scratch::new("completions");
    home.write("isinglass.bash", home.succeeds("completions bash").as_bytes());
    let complete = |words: &str| {
        let script = format!(
            "bash -n isinglass.bash && source ./isinglass.bash && COMP_WORDS=({words}) && COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) && \
             _isinglass isinglass \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\" && printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        shell("bash", &["-c", &script], &home)
    };
    let Some(commands) = complete("isinglass th") else {
        eprintln!("skipped: there is no bash");
        return;
    };
    assert_eq!(commands.trim(), "theory");
    assert_eq!(complete("isinglass theory crit").unwrap().trim(), "critical-line");
    let flags = complete("isinglass train --de").unwrap();
    assert_eq!(flags.trim(), "--depth");
    assert!(complete("isinglass train --qu").unwrap().contains("--quiet"), "global flags are completed too");
    assert_eq!(complete("isinglass theory point --format j").unwrap().trim(), "json");
}

#[test]
fn every_shell_has_a_script() {
    let home = Scratch::new("completions-all");
    assert!(home.succeeds("completions zsh").starts_with("#compdef isinglass"));
    assert!(home.succeeds("completions fish").contains("complete -c isinglass"));
    assert!(home.fails("completions csh", 2).contains("bash"));
}

#[test]
fn every_command_has_a_manual_page() {
    let home = Scratch::new("man");
    let root = home.succeeds("man");
    assert!(root.contains(".TH isinglass 1") && root.contains("isinglass\\-train"), "{root:.2000}");
    let pages = home.succeeds("man --out pages");
    let names: Vec<&str> = pages.lines().map(|line| line.strip_prefix("pages/").unwrap()).collect();
    for name in ["isinglass.1", "isinglass-train.1", "isinglass-theory-advise.1", "isinglass-sweep-run.1", "isinglass-data-list.1"] {
        assert!(names.contains(&name), "{pages}");
        let page = home.text(&format!("pages/{name}"));
        assert!(page.contains(&format!(".TH {} 1", name.trim_end_matches(".1"))), "{page:.300}");
        for part in ["NAME", "SYNOPSIS", "DESCRIPTION", "\\-\\-quiet"] {
            assert!(page.contains(part), "{name}: {part}");
        }
    }
    assert!(!pages.contains("-help"), "{pages}");
    match shell("man", &["-l", "--warnings", "pages/isinglass-theory-advise.1"], &home) {
        Some(text) => assert!(text.contains("isinglass theory advise") || text.contains("isinglass-theory-advise"), "{text:.500}"),
        None => eprintln!("skipped: there is no man(1)"),
    }
}

#[test]
fn printed_commands_can_be_pasted() {
    let home = Scratch::new("pasted");
    home.small_images();
    let train = "train --data mnist --data-dir data --width 9 --depth 1 --epochs 1 --samples 1 --out";
    let output = home.command(train).arg("it's a run").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    // What to do next, as commands.
    let commands: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("  isinglass ")).collect();
    assert_eq!(commands.len(), 3, "{told}");
    assert!(commands[0].starts_with(r"evaluate 'it'\''s a run'") && commands[2].starts_with("pack "), "{told}");
    // And what to do instead.
    let output = home.command(train).arg("it's a run").output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    let resume = message.split('`').nth(1).unwrap();
    assert_eq!(resume, r"isinglass resume 'it'\''s a run'", "{message}");
    let binary = env!("CARGO_BIN_EXE_isinglass");
    for command in commands.iter().map(|command| format!("isinglass {command}")).chain([resume.to_owned()]) {
        let script = command.replacen("isinglass", &format!("'{binary}' --quiet"), 1);
        assert!(shell("bash", &["-c", &script], &home).is_none_or(|text| !text.is_empty()), "{command}");
    }
    assert!(home.path("model.safetensors").exists());
    // Nothing of it with --quiet, and nothing on standard output.
    home.succeeds(&format!("{train} b --quiet"));
}

#[test]
fn a_directory_in_place_of_a_model_is_answered_with_a_command() {
    let home = Scratch::new("pack-command");
    std::fs::create_dir(home.path("my run")).unwrap();
    let output = home.command("predict").arg("my run").output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("`isinglass pack 'my run' -o model.safetensors`"), "{message}");
}
