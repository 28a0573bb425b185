//! A figure that was made again: `figure.json` and the pictures beside it.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::section::{Section, Writer, shown};
use super::source::Kind;
use super::{ReportError, page, sweep, table};
use crate::reproduce::{FIGURE, FigureRecord};

pub(super) fn read(directory: &Path, mut writer: Writer) -> Result<Section, ReportError> {
    let path = directory.join(FIGURE);
    let bytes = fs::read(&path).map_err(|source| ReportError::Read { path: path.clone(), source })?;
    let record: FigureRecord =
        serde_json::from_slice(&bytes).map_err(|error| ReportError::Figure { path, reason: format!("no record of a figure ({error})") })?;

    writer.html.open("div", &[("class", "prose")]).paragraphs(&record.caption).close("div");
    if !record.claims.is_empty() {
        page::write_claims(&mut writer.html, &record.claims);
    }
    for picture in &record.pictures {
        let name = if picture.caption.is_empty() { &record.title } else { &picture.caption };
        let svg = read_inside(directory, &picture.file);
        if let Err(reason) = svg.and_then(|svg| writer.picture(&svg, first_sentence(name), &picture.caption)) {
            writer.warn(format!("{}: the picture {} cannot be shown: {reason}", shown(directory), picture.file));
        }
    }
    for one in &record.tables {
        if !one.title.is_empty() {
            writer.html.element("h3", &[], &one.title);
        }
        table::write(&mut writer.html, &one.columns, &one.rows);
    }
    for name in &record.sweeps {
        match beside(directory, name) {
            Ok(path) => sweep::summarise(&path, name, &mut writer),
            Err(reason) => writer.warn(format!("{}: the sweep {name} cannot be read: {reason}", shown(directory))),
        }
    }
    write_facts(&record, directory, &mut writer);
    writer.claims.clone_from(&record.claims);
    Ok(writer.finish(Kind::Figure, record.title, record.figure, None))
}

fn write_facts(record: &FigureRecord, directory: &Path, writer: &mut Writer) {
    let seeds: Vec<String> = record.seeds.iter().map(u64::to_string).collect();
    writer.facts([
        ("directory", shown(directory)),
        ("scale", record.scale.clone()),
        ("seeds", seeds.join(", ")),
        ("version", record.version.clone()),
    ]);
    if !record.command.is_empty() {
        writer.html.open("pre", &[("class", "command")]).text(&record.command).close("pre");
    }
    if !record.settings.is_empty() {
        let rows: Vec<_> = record.settings.iter().map(|(key, value)| vec![key.clone().into(), table::text(value).into()]).collect();
        writer.html.folded("Settings", false, |html| table::write(html, &["setting".into(), "value".into()], &rows));
    }
}

/// Most bytes of a picture. Charts have some ten thousand, with a hint for every cell of a large map a few million.
const MAX_BYTES: u64 = 100_000_000;

/// The text of a file in a directory.
fn read_inside(directory: &Path, name: &str) -> Result<String, String> {
    let path = inside(directory, name)?;
    // Before it is opened: reading a pipe would wait for ever.
    let metadata = fs::metadata(&path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if metadata.len() > MAX_BYTES {
        return Err(format!("it has {} bytes, more than the {MAX_BYTES} of a large chart", metadata.len()));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

/// The path of something in a figure's directory: not outside, neither by its name nor by a link.
fn inside(directory: &Path, name: &str) -> Result<PathBuf, String> {
    let path = directory.join(name);
    let is_below = !name.is_empty() && Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if is_below && resolved(&path)?.starts_with(resolved(directory)?) {
        return Ok(path);
    }
    Err("it is not inside the figure's directory".to_owned())
}

/// The same of something that several figures may share: it may also lie in the directory that holds them.
fn beside(directory: &Path, name: &str) -> Result<PathBuf, String> {
    let path = directory.join(name);
    let own = resolved(directory)?;
    let shared = own.parent().unwrap_or(&own);
    if resolved(&path)?.starts_with(shared) {
        return Ok(path);
    }
    Err("it is neither inside the figure's directory nor beside it".to_owned())
}

fn resolved(path: &Path) -> Result<PathBuf, String> {
    fs::canonicalize(path).map_err(|error| error.to_string())
}

/// What is read out: the whole caption would be read twice.
fn first_sentence(text: &str) -> &str {
    let end = text.find(". ").map_or(text.len(), |end| end + 1);
    text[..end].lines().next().unwrap_or_default()
}
