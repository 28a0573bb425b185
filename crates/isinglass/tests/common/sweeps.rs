//! What tests of sweeps have in common.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::Scratch;

/// A directory with small images and a grid.
pub fn scratch(name: &str, grid: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.small_images();
    scratch.write("grid.toml", grid.as_bytes());
    scratch
}

/// The rows of `collect --format csv`, column by column. Nothing in them has a comma.
pub fn collect(home: &Scratch, sweep: &str) -> Vec<BTreeMap<String, String>> {
    let text = home.succeeds(&format!("sweep collect {sweep} --format csv"));
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            assert_eq!(fields.len(), header.len(), "{line}");
            header.iter().zip(fields).map(|(key, field)| (key.to_string(), field.to_owned())).collect()
        })
        .collect()
}

/// What does not depend on how cells were run.
pub fn results(home: &Scratch, sweep: &str) -> Vec<BTreeMap<String, String>> {
    let mut rows = collect(home, sweep);
    rows.iter_mut().for_each(|row| row.retain(|key, _| !key.starts_with("run_")));
    rows
}

/// The cells' own files, without the facts of the run, and nothing else is left in the directory.
pub fn records(home: &Scratch, sweep: &str) -> BTreeMap<String, String> {
    assert_eq!(fs::read_dir(home.path(sweep).join("runs")).unwrap().count(), 0, "nothing is left of runs");
    let entries = fs::read_dir(home.path(sweep).join("cells")).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let (result, _) = text.split_once("\"run\":").unwrap();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), result.to_owned())
        })
        .collect()
}

/// Puts an error on record in place of a cell's result, as versions did whose records have no checksum.
pub fn fail(path: &Path, error: &str) {
    let mut record: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    (record["result"], record["error"]) = (Value::Null, error.into());
    let record_of_old = record.as_object_mut().unwrap();
    ["format", "error_kind", "checksum"].iter().for_each(|key| drop(record_of_old.remove(*key)));
    fs::write(path, record.to_string()).unwrap();
}
