//! A command's result, printed as a table, as JSON or as CSV.

use std::io::{self, Write};
use std::path::Path;

use isinglass_lab::csv;
use isinglass_lab::words::digits;
use serde::Serialize;
use serde_json::{Map, Value};

use super::output::usage;
use super::printable::printable;
use super::style;
use super::{CliError, Format};

/// One object, with named values in order.
pub type Record = Map<String, Value>;

/// A result, the same in every format: facts about the whole, and optionally rows.
///
/// JSON has all of it. CSV has one table: the flat rows if there are any, else the rows, else the facts in one line.
#[derive(Debug, Default)]
pub struct Answer {
    facts: Record,
    /// Where the result is, under the one name that all commands share.
    path: Option<String>,
    rows: Option<Rows>,
    /// The rows as a table, where JSON nests them.
    flat: Option<Rows>,
}

/// The name of the facts, where one table of a result is chosen.
pub const FACTS: &str = "facts";

/// The answer in one sentence: tables begin with it.
pub const SENTENCE: &str = "answer";

/// Rows under one header.
#[derive(Debug)]
struct Rows {
    key: &'static str,
    columns: Vec<String>,
    rows: Vec<Record>,
}

impl Rows {
    fn new(key: &'static str, rows: Vec<Record>) -> Self {
        let columns = rows.first().map(|row| row.keys().cloned().collect()).unwrap_or_default();
        Self { key, columns, rows }
    }

    /// Objects with nested values, and not all with the same keys, as rows.
    fn flattened(key: &'static str, objects: impl IntoIterator<Item = Record>) -> Self {
        let objects: Vec<Record> = objects.into_iter().map(flatten_all).collect();
        let mut columns: Vec<String> = Vec::new();
        for name in objects.iter().flat_map(|object| object.keys()) {
            if !columns.contains(name) {
                columns.push(name.clone());
            }
        }
        let fill = |mut object: Record| columns.iter().map(|name| (name.clone(), object.remove(name).unwrap_or_default())).collect();
        Self { key, rows: objects.into_iter().map(fill).collect(), columns }
    }

    fn write_csv(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}", self.columns.iter().map(|column| csv::text_field(column)).collect::<Vec<_>>().join(","))?;
        for row in &self.rows {
            writeln!(out, "{}", row.values().map(csv::field).collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    }
}

impl Answer {
    /// Adds a fact.
    pub fn fact(&mut self, key: &str, value: impl Into<Value>) -> &mut Self {
        self.facts.insert(key.to_owned(), value.into());
        self
    }

    /// Adds several facts.
    pub fn facts(&mut self, facts: Record) -> &mut Self {
        self.facts.extend(facts);
        self
    }

    /// Says where the result is: under `key`, and in JSON as `path` too.
    pub fn place(&mut self, key: &str, path: &Path) -> &mut Self {
        let text = path.display().to_string();
        self.path = Some(text.clone());
        self.fact(key, text)
    }

    /// Says which run, sweep or file the result is about: `path` in JSON.
    pub fn at(&mut self, path: &Path) -> &mut Self {
        self.path = Some(path.display().to_string());
        self
    }

    /// Sets the rows and the key they have in JSON.
    pub fn rows(&mut self, key: &'static str, rows: Vec<Record>) -> &mut Self {
        self.rows = Some(Rows::new(key, rows));
        self
    }

    /// Sets the rows of CSV, where JSON has the same in another shape.
    pub fn flat(&mut self, key: &'static str, rows: Vec<Record>) -> &mut Self {
        self.flat = Some(Rows::new(key, rows));
        self
    }

    /// Leaves nothing behind: the end of a chain.
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Names the columns of a table that may be empty.
    pub fn columns(&mut self, columns: impl IntoIterator<Item = String>) -> &mut Self {
        if let Some(rows) = &mut self.rows {
            rows.columns = columns.into_iter().collect();
        }
        self
    }

    /// What JSON shows: facts and, under their key, rows.
    pub fn into_values(self) -> Record {
        let mut values = self.facts;
        if let Some(Rows { key, rows, .. }) = self.rows {
            values.insert(key.to_owned(), Value::Array(rows.into_iter().map(Value::Object).collect()));
        }
        if let Some(path) = self.path {
            values.insert("path".to_owned(), path.into());
        }
        values
    }

    /// Prints to standard output.
    pub fn print(self, format: Format) -> io::Result<()> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        match format {
            Format::Json => self.write_json(&mut out)?,
            Format::Csv => self.write_csv(&mut out)?,
            Format::Table => self.write_table(&mut out)?,
        }
        out.flush()
    }

    /// Prints one of its tables; JSON has them all.
    pub fn print_table(self, format: Format, name: &str) -> Result<(), CliError> {
        if format == Format::Json {
            return Ok(self.print(format)?);
        }
        let table = self.table(name).ok_or_else(|| usage(format!("--rows {name}: this result has no such table")))?;
        let mut out = io::BufWriter::new(io::stdout().lock());
        match format {
            Format::Table if name == FACTS => write_facts(&mut out, &table.rows[0])?,
            Format::Table if table.rows.is_empty() => {}
            Format::Table => write_columns(&mut out, &table.rows)?,
            _ => table.write_csv(&mut out)?,
        }
        Ok(out.flush()?)
    }

    fn table(self, name: &str) -> Option<Rows> {
        if name == FACTS {
            return Some(Rows::flattened(FACTS, [self.facts.into_iter().filter(|(_, value)| !is_table(value)).collect()]));
        }
        match (self.flat, self.rows) {
            (Some(flat), _) if flat.key == name => Some(flat),
            (_, Some(rows)) if rows.key == name && rows.rows.is_empty() => Some(rows),
            (_, Some(rows)) if rows.key == name => Some(Rows::flattened(rows.key, rows.rows)),
            _ => match self.facts.get(name) {
                Some(Value::Array(objects)) => Some(Rows::flattened("", objects.iter().filter_map(Value::as_object).cloned())),
                _ => None,
            },
        }
    }

    fn write_json(self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &Value::Object(self.into_values()))?;
        writeln!(out)
    }

    fn write_csv(self, out: &mut impl Write) -> io::Result<()> {
        let table = self.flat.or(self.rows).unwrap_or_else(|| Rows::new(FACTS, vec![flatten(self.facts)]));
        table.write_csv(out)
    }

    fn write_table(self, out: &mut impl Write) -> io::Result<()> {
        let mut facts = flatten(self.facts);
        if let Some(Value::String(sentence)) = facts.shift_remove(SENTENCE) {
            write_wrapped(out, &sentence)?;
            writeln!(out)?;
        }
        let path = self.path;
        let is_sentence = |value: &Value| value.as_str().is_some_and(|text| text.contains(' ') && path.as_deref() != Some(text));
        let (words, facts): (Record, Record) = facts.into_iter().partition(|(_, value)| is_sentence(value));
        write_facts(out, &facts)?;
        if let Some(Rows { rows, .. }) = self.flat.as_ref().or(self.rows.as_ref())
            && !rows.is_empty()
        {
            if !facts.is_empty() {
                writeln!(out)?;
            }
            write_columns(out, rows)?;
        }
        // Sentences go below the numbers.
        for text in words.values().filter_map(Value::as_str) {
            writeln!(out)?;
            write_wrapped(out, text)?;
        }
        Ok(())
    }
}

fn write_facts(out: &mut impl Write, facts: &Record) -> io::Result<()> {
    let width = facts.keys().map(|key| key.chars().count()).max().unwrap_or(0);
    facts.iter().try_for_each(|(key, value)| writeln!(out, "{key:width$}  {}", fact_text(key, value)))
}

fn write_wrapped(out: &mut impl Write, text: &str) -> io::Result<()> {
    wrap(text, 100).iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// A list of objects is a table of its own, a list of lists a matrix.
fn is_table(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.iter().any(|value| value.is_object() || value.is_array()))
}

/// A number, or null where it does not exist or is not finite.
pub fn number(x: impl Into<Option<f64>>) -> Value {
    x.into().map_or(Value::Null, Value::from)
}

/// Any structure with named values.
pub fn to_record(value: &impl Serialize) -> Record {
    match serde_json::to_value(value) {
        Ok(Value::Object(record)) => record,
        _ => Record::new(),
    }
}

/// Nested objects become `outer.inner` keys; lists of objects are left to JSON.
fn flatten(record: Record) -> Record {
    let mut flat = Record::new();
    for (key, value) in record {
        match value {
            Value::Object(inner) => flat.extend(flatten(inner).into_iter().map(|(k, v)| (format!("{key}.{k}"), v))),
            Value::Array(_) => {}
            other => {
                flat.insert(key, other);
            }
        }
    }
    flat
}

/// The same with lists of numbers and words too, as JSON writes them.
fn flatten_all(record: Record) -> Record {
    let mut flat = Record::new();
    for (key, value) in record {
        match value {
            Value::Object(inner) => flat.extend(flatten_all(inner).into_iter().map(|(k, v)| (format!("{key}.{k}"), v))),
            Value::Array(_) => {
                flat.insert(key, value.to_string().into());
            }
            other => {
                flat.insert(key, other);
            }
        }
    }
    flat
}

fn cell_text(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => printable(text).into_owned(),
        Value::Number(n) if n.is_f64() => digits(n.as_f64().unwrap_or(f64::NAN)),
        Value::Array(values) => values.iter().map(cell_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// The value of a fact, in red if it counts failures.
fn fact_text(key: &str, value: &Value) -> String {
    let text = cell_text(value);
    if key == "failed" && value.as_u64().is_some_and(|count| count > 0) { style::stdout().bad(&text) } else { text }
}

/// Rows of records with the same keys, under their keys. A first column of text is aligned at the left, and so are columns of several words.
pub fn write_columns(out: &mut impl Write, rows: &[Record]) -> io::Result<()> {
    let Some(first) = rows.first() else { return Ok(()) };
    let header: Vec<String> = first.keys().map(|key| printable(key).into_owned()).collect();
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.values().map(cell_text).collect()).collect();
    let widths: Vec<usize> = (0..header.len())
        .map(|i| cells.iter().map(|row| row[i].chars().count()).chain([header[i].chars().count()]).max().unwrap_or(0))
        .collect();
    let is_left = |i: usize| {
        let mut column = rows.iter().filter_map(|row| row.values().nth(i));
        column.clone().all(Value::is_string) && (i == 0 || column.any(|value| value.as_str().is_some_and(|text| text.contains(' '))))
    };
    let left: Vec<bool> = (0..header.len()).map(is_left).collect();
    let palette = style::stdout();
    for (number, row) in [&header].into_iter().chain(&cells).enumerate() {
        let last = row.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        let align = |(i, (cell, &width)): (usize, (&String, &usize))| {
            // Nothing is left hanging at the end of a line.
            let cell = match left[i] {
                true if i + 1 == last => cell.clone(),
                true => format!("{cell:width$}"),
                false => format!("{cell:>width$}"),
            };
            match header[i].as_str() {
                _ if number == 0 => palette.strong(&cell),
                "verdict" | "status" => palette.verdict(&cell),
                _ => cell,
            }
        };
        let line: Vec<String> = row[..last].iter().zip(&widths).enumerate().map(align).collect();
        writeln!(out, "{}", line.join("  "))?;
    }
    Ok(())
}

/// Breaks a text into lines of at most `width` characters.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nested_facts_get_dotted_names() {
        let mut inner = Record::new();
        inner.insert("x".into(), 1.into());
        let mut outer = Record::new();
        outer.insert("best".into(), Value::Object(inner));
        assert_eq!(flatten(outer).keys().collect::<Vec<_>>(), ["best.x"]);
    }

    #[test]
    fn any_table_of_a_result_can_be_chosen() {
        let answer = || {
            let mut answer = Answer::default();
            let layers = json!([{"layer": 1, "means": {"counts": [1, 2]}}, {"layer": 2, "last": true}]);
            answer.place("run", Path::new("runs/a")).fact("layers", layers).fact("samples", json!([5, 100])).take()
        };
        let csv = |name: &str| {
            let mut text = Vec::new();
            answer().table(name).unwrap().write_csv(&mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        assert_eq!(csv("layers"), "layer,means.counts,last\n1,\"[1,2]\",\n2,,true\n");
        assert_eq!(csv("facts"), "run,samples\nruns/a,\"[5,100]\"\n");
        assert!(answer().table("nothing").is_none());
        assert_eq!(answer().into_values()["path"], "runs/a");
    }

    #[test]
    fn text_is_wrapped_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
    }
}
