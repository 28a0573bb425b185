//! Messages: they never end a command that does its work, and they show text from files without obeying it.

mod common;

use std::process::Stdio;

use common::Scratch;
use isinglass::bits::PackedModel;

/// Runs a command whose standard error has no room; returns its code and its result.
#[cfg(target_os = "linux")]
fn unheard(home: &Scratch, args: &str) -> (Option<i32>, String) {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = home.command(args).stderr(full).stdout(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn commands_do_their_work_if_nothing_can_be_said() {
    let home = Scratch::new("unheard");
    home.small_images();
    assert_eq!(unheard(&home, "theory point --sigma-m2 1.2"), (Some(2), String::new()));
    assert_eq!(unheard(&home, "theory point --no-such-flag"), (Some(2), String::new()));
    let (code, result) = unheard(&home, "train --data mnist --data-dir data --width 9 --depth 1 --epochs 1 --out a");
    assert!(code == Some(0) && result.contains("The run is in a"), "{code:?} {result}");
    std::fs::remove_dir_all(home.path("data")).unwrap();
    let (code, result) = unheard(&home, "pack a -o a.bits.safetensors");
    assert!(code == Some(0) && result.contains("checked"), "{code:?} {result}");

    let broken = r#"{ "figure": "fig1", "title": "T", "pictures": [{ "file": "missing.svg" }] }"#;
    home.write("figures/fig1/figure.json", broken.as_bytes());
    assert!(home.run("report figures -o before.html").stderr.starts_with(b"warning: "));
    assert_eq!(unheard(&home, "report figures -o after.html"), (Some(0), "after.html\n".to_owned()));
    assert_eq!(home.read("before.html"), home.read("after.html"));
}

#[test]
fn text_from_files_cannot_steer_the_terminal() {
    let home = Scratch::new("hostile");
    home.small_table();
    home.write(
        "words.csv",
        home.text("train.csv").replace("\n0,", "\n\u{1b}[2Jzero,").replace("\n1,", "\none,").replace("\n2,", "\ntwo,").as_bytes(),
    );
    home.succeeds("train --train-images words.csv --test-images words.csv --width 9 --depth 1 --epochs 1 --quiet --out a");
    home.succeeds("pack a -o model.safetensors");
    let mut model = PackedModel::load(home.path("model.safetensors")).unwrap();
    model.provenance.insert("data".into(), "\u{1b}]0;renamed\u{7}\r\u{9b}31mred".into());
    home.write("model.safetensors", &model.to_bytes());

    for args in ["inspect model.safetensors", "inspect a", "resume a", "predict model.safetensors --test-images words.csv"] {
        let output = home.run(args);
        assert_eq!(output.status.code(), Some(0), "{args}: {}", String::from_utf8_lossy(&output.stderr));
        assert_printable(args, &output.stdout);
        assert_printable(args, &output.stderr);
    }
    let shown = home.succeeds("inspect model.safetensors");
    assert!(shown.contains(r"\u{1b}]0;renamed\u{7}\r\u{9b}31mred") && shown.contains(r"\u{1b}[2Jzero"), "{shown}");
    assert!(home.json("inspect model.safetensors")["provenance"]["data"].as_str().unwrap().contains('\u{1b}'), "JSON has the text itself");

    home.write("grid.toml", "[train]\n\"\\u001b[31mdepth\" = 3\n".as_bytes());
    home.write("settings.toml", "\"\\u001b[31mdepth\" = 3\n".as_bytes());
    for args in ["predict model.safetensors", "sweep run grid.toml --out s", "train --config settings.toml --out b"] {
        let output = home.run(args);
        assert_eq!(output.status.code(), Some(2), "{args}: {}", String::from_utf8_lossy(&output.stderr));
        assert_printable(args, &output.stderr);
    }
}

#[track_caller]
fn assert_printable(args: &str, text: &[u8]) {
    let text = String::from_utf8(text.to_vec()).unwrap();
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{args}: {text:?}");
}
