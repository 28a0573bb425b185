//! What is replaced, what is not, and what is left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use isinglass_chart::{Axis, Figure, Panel};
use isinglass_runs::replace::{
    Kind, ReplaceError, check_chart_target, check_export_target, check_packed_target, check_page_target, write_chart, write_export,
    write_page,
};

const PAGE: &str = "<!doctype html>\n<meta name=\"generator\" content=\"isinglass\">\n";
const EXPORT: &[u8] = b"/* A network. Made by isinglass. */\n";

/// A directory of its own for a test, removed with everything in it.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let name = format!("isinglass-replace-{}-{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn figure() -> Figure {
    Figure::new().panel(Panel::new(Axis::linear("x"), Axis::linear("y")))
}

/// The four kinds of files, each as a check and, but for packed networks, as a function that writes.
fn kinds(scratch: &Scratch, stem: &str) -> Vec<(PathBuf, Kind)> {
    use isinglass_chart::Format;
    let mut kinds = vec![("svg", Kind::Chart(Format::Svg)), ("c", Kind::Export), ("html", Kind::Page)];
    if Format::AVAILABLE.contains(&Format::Png) {
        kinds.push(("png", Kind::Chart(Format::Png)));
    }
    kinds.into_iter().map(|(extension, kind)| (scratch.path(&format!("{stem}.{extension}")), kind)).collect()
}

fn check(path: &Path, kind: Kind, force: bool) -> Result<(), ReplaceError> {
    match kind {
        Kind::Chart(_) => check_chart_target(path, force),
        Kind::Export => check_export_target(path, force),
        Kind::Page => check_page_target(path, force),
        _ => unreachable!("not among the kinds"),
    }
}

fn write(path: &Path, kind: Kind, force: bool) -> Result<(), ReplaceError> {
    match kind {
        Kind::Chart(_) => write_chart(&figure(), path, force),
        Kind::Export => write_export(EXPORT, path, force),
        Kind::Page => write_page(PAGE, path, force),
        _ => unreachable!("not among the kinds"),
    }
}

#[test]
fn own_files_are_replaced_and_others_only_by_force() {
    let scratch = Scratch::new();
    for (path, kind) in kinds(&scratch, "a") {
        check(&path, kind, false).unwrap();
        assert!(!path.exists(), "the check leaves nothing");
        for _ in 0..2 {
            write(&path, kind, false).unwrap();
        }
        let ours = fs::read(&path).unwrap();
        for foreign in
            [b"".as_slice(), b"mine", b"<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>", b"<!doctype html>", b"\x89PNG\r\n\x1a\n"]
        {
            fs::write(&path, foreign).unwrap();
            for result in [check(&path, kind, false), write(&path, kind, false)] {
                let message = result.unwrap_err().to_string();
                assert!(message.contains("not replaced") && message.contains(&path.display().to_string()), "{message}");
                assert!(!message.contains("--force"), "programs have no flags");
            }
            assert_eq!(fs::read(&path).unwrap(), foreign);
            check(&path, kind, true).unwrap();
            assert_eq!(fs::read(&path).unwrap(), foreign);
            write(&path, kind, true).unwrap();
            assert_eq!(fs::read(&path).unwrap(), ours);
        }
    }
}

#[test]
fn a_file_of_another_kind_is_foreign() {
    let scratch = Scratch::new();
    let all = kinds(&scratch, "a");
    for (path, kind) in &all {
        write(path, *kind, false).unwrap();
    }
    for (path, kind) in &all {
        for (other, other_kind) in all.iter().filter(|(_, other)| other != kind) {
            fs::copy(other, path).unwrap();
            assert!(matches!(check(path, *kind, false), Err(ReplaceError::NotOurs { .. })), "{kind:?} over {other_kind:?}");
            write(path, *kind, true).unwrap();
        }
        assert!(matches!(check_packed_target(path), Err(ReplaceError::NotOurs { kind: Kind::Packed, .. })));
    }
}

#[test]
fn a_file_is_replaced_at_once_and_nothing_else_is_left() {
    let scratch = Scratch::new();
    let (path, link) = (scratch.path("a.svg"), scratch.path("link"));
    fs::write(&path, "old").unwrap();
    // A second name of the old file keeps the old content: the new one was put in its place, not written into it.
    fs::hard_link(&path, &link).unwrap();
    write_chart(&figure(), &path, true).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), figure().to_svg().unwrap());
    assert_eq!(fs::read_to_string(&link).unwrap(), "old");
    // What cannot be drawn leaves the old file.
    let bad = Figure::new().panel(Panel::new(Axis::linear("").range(1.0, 0.0), Axis::linear("")));
    assert!(matches!(write_chart(&bad, &path, true), Err(ReplaceError::Chart(_))));
    assert_eq!(fs::read_to_string(&path).unwrap(), figure().to_svg().unwrap());
    assert_eq!(scratch.files(), ["a.svg", "link"]);
}

#[test]
fn bad_places_are_named_before_and_while_writing() {
    let scratch = Scratch::new();
    fs::write(scratch.path("file"), "").unwrap();
    for (path, kind) in kinds(&scratch, "folder") {
        fs::create_dir(&path).unwrap();
        for force in [false, true] {
            assert!(matches!(check(&path, kind, force), Err(ReplaceError::NotAFile(_))));
            assert!(matches!(write(&path, kind, force), Err(ReplaceError::NotAFile(_))));
        }
    }
    let before = scratch.files();
    for place in ["missing/a", "file/a"] {
        for (path, kind) in kinds(&scratch, place) {
            for result in [check(&path, kind, false), write(&path, kind, true)] {
                assert!(matches!(result, Err(ReplaceError::NoDirectory { .. })), "{result:?}");
            }
        }
    }
    assert!(check_page_target(Path::new("a.txt"), true).unwrap_err().to_string().contains("must end in .html"));
    assert!(check_chart_target(Path::new("a.txt"), true).unwrap_err().to_string().contains(".svg or .png"));
    assert_eq!(scratch.files(), before);
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_neither_read_nor_replaced() {
    let scratch = Scratch::new();
    for (path, kind) in kinds(&scratch, "pipe") {
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        for force in [false, true] {
            assert!(matches!(check(&path, kind, force), Err(ReplaceError::NotAFile(_))));
            assert!(matches!(write(&path, kind, force), Err(ReplaceError::NotAFile(_))));
        }
    }
    let link = scratch.path("null.svg");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    assert!(matches!(write_chart(&figure(), &link, true), Err(ReplaceError::NotAFile(_))));
}
