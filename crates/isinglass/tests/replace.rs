//! Files that `--plot` and `-o` name: one that isinglass made is replaced, any other is kept, unless --force is given.

mod common;

use std::fs;

use common::Scratch;

const MAP: &str = "theory map --neuron sign --sigma-m2 0.9 --points 3";

/// A command that must keep a file of the user's, and replace it with --force; what is replaced once is ours.
fn keeps_and_replaces(home: &Scratch, command: &str, file: &str) {
    for mine in [b"mine".as_slice(), b"", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>"] {
        home.write(file, mine);
        let message = home.fails(&format!("{command} {file}"), 2);
        assert!(message.contains(file) && message.contains("not replaced (--force replaces it)"), "{message}");
        assert_eq!(home.read(file), mine);
    }
    home.succeeds(&format!("{command} {file} --force"));
    let made = home.read(file);
    home.succeeds(&format!("{command} {file}"));
    assert_eq!(home.read(file), made);
    fs::remove_file(home.path(file)).unwrap();
    home.succeeds(&format!("{command} {file}"));
    assert_eq!(home.read(file), made);
}

#[test]
fn pictures_replace_only_pictures_of_ours() {
    let home = Scratch::new("replace-plot");
    keeps_and_replaces(&home, &format!("{MAP} --plot"), "a.svg");
    keeps_and_replaces(&home, &format!("{MAP} --plot"), "a.png");
    keeps_and_replaces(&home, "data show digits --count 1 --plot", "sheet.png");
    // One that an older version made, without the mark, is kept.
    let text = String::from_utf8(home.read("a.svg")).unwrap();
    home.write("old.svg", text.replace("<!-- Made by isinglass -->", "").as_bytes());
    assert!(home.fails(&format!("{MAP} --plot old.svg"), 2).contains("--force"));
    // Another command may replace it, but not by a picture of the other format under its name.
    home.succeeds("theory critical-line --points 3 --plot a.svg");
    fs::copy(home.path("a.svg"), home.path("b.png")).unwrap();
    assert!(home.fails(&format!("{MAP} --plot b.png"), 2).contains("is not a chart made by isinglass"));
    assert!(home.fails(&format!("{MAP} --force"), 2).contains("--plot"), "--force alone means nothing");
}

#[test]
fn a_file_in_the_way_is_found_before_anything_is_computed() {
    let home = Scratch::new("replace-early");
    home.small_images();
    home.write("mine.svg", b"mine");
    let train = "train --data mnist --data-dir data --width 9 --depth 1 --epochs 1 --quiet";
    assert!(home.fails(&format!("{train} --out a --plot mine.svg"), 2).contains("--force"));
    assert!(!home.path("a").exists());
    home.succeeds(&format!("{train} --out a --plot mine.svg --force"));
    assert!(home.read("mine.svg").starts_with(b"<svg "));

    home.write("grid.toml", b"[train]\ndata = \"mnist\"\ndata-dir = \"data\"\nwidth = 9\nepochs = 1\n[grid]\ndepth = [1, 2]\n");
    home.succeeds("sweep run grid.toml --out s --quiet");
    keeps_and_replaces(&home, "sweep collect s --plot", "sweep.svg");
    keeps_and_replaces(&home, "inspect a --plot", "insides.png");
    keeps_and_replaces(&home, "report a -o", "report.html");
    home.succeeds("pack a -o m.safetensors");
    keeps_and_replaces(&home, "export m.safetensors --to c -o", "net.c");
    keeps_and_replaces(&home, "export m.safetensors --to onnx -o", "net.onnx");
    // Before the model is read, too; and a packed network is nothing to be forced.
    home.write("mine.c", b"mine");
    assert!(home.fails("export nowhere.safetensors --to c -o mine.c", 2).contains("--force"));
    home.write("mine.safetensors", b"mine");
    assert!(home.fails("pack a -o mine.safetensors", 2).trim_end().ends_with("not replaced"));
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_never_replaced() {
    let home = Scratch::new("replace-pipe");
    for name in ["pipe.svg", "pipe.html", "pipe.c"] {
        assert!(std::process::Command::new("mkfifo").arg(home.path(name)).status().unwrap().success());
    }
    home.write("runs/config.toml", b"");
    for command in ["theory map --sigma-m2 0.9 --plot pipe.svg", "report runs -o pipe.html", "export m.safetensors --to c -o pipe.c"] {
        for force in ["", " --force"] {
            assert!(home.fails(&format!("{command}{force}"), 2).contains("not a regular file"), "{command}{force}");
        }
    }
    fs::create_dir(home.path("folder.svg")).unwrap();
    assert!(home.fails("theory map --sigma-m2 0.9 --plot folder.svg --force", 2).contains("not a regular file"));
}
