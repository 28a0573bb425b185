//! Pictures as they were when somebody last looked at them, byte for byte.
//!
//! After a change that is meant, `ISINGLASS_BLESS=1 cargo test -p isinglass-chart --test snapshots` writes them anew. Look at them before they are committed: browsers show SVG files.

mod figures;

use std::{fs, path::PathBuf};

#[track_caller]
fn assert_snapshot(name: &str, svg: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(format!("{name}.svg"));
    if std::env::var_os("ISINGLASS_BLESS").is_some() {
        fs::write(&path, svg).unwrap();
    }
    // Git may have turned the ends of lines into those of the system.
    let stored = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).replace("\r\n", "\n");
    if let Some((line, (now, before))) = svg.lines().zip(stored.lines()).enumerate().find(|(_, (now, before))| now != before) {
        panic!("{name}.svg, line {}: was\n{before}\nand is\n{now}\n(ISINGLASS_BLESS=1 takes it over)", line + 1);
    }
    assert_eq!(svg.len(), stored.len(), "{name}.svg ends elsewhere");
}

#[test]
fn a_line_with_a_band() {
    assert_snapshot("line-with-band", &figures::line_with_band().to_svg().unwrap());
}

#[test]
fn a_heat_map_over_lists() {
    assert_snapshot("map-over-lists", &figures::map_over_lists().to_svg().unwrap());
}

#[test]
fn one_of_everything() {
    assert_snapshot("everything", &figures::everything().to_svg().unwrap());
}

#[test]
fn a_sheet_of_images() {
    assert_snapshot("sheet", &figures::sheet().to_svg().unwrap());
}
