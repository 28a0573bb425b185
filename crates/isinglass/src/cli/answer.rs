//! A command's result, printed as a table, as JSON or as CSV.

use std::io::{self, Write};

use isinglass_lab::csv;
use isinglass_lab::words::digits;
use serde::Serialize;
use serde_json::{Map, Value};

use super::Format;
use super::messages::printable;

/// One object, with named values in order.
pub type Record = Map<String, Value>;

/// A result: facts about the whole, and optionally rows.
#[derive(Debug, Default)]
pub struct Answer {
    facts: Record,
    rows: Option<Rows>,
}

/// Rows under one header.
#[derive(Debug)]
struct Rows {
    key: &'static str,
    columns: Vec<String>,
    rows: Vec<Record>,
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

    /// Sets the rows and the key they have in JSON.
    pub fn rows(&mut self, key: &'static str, rows: Vec<Record>) -> &mut Self {
        let columns = rows.first().map(|row| row.keys().cloned().collect()).unwrap_or_default();
        self.rows = Some(Rows { key, columns, rows });
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

    fn write_json(self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &Value::Object(self.into_values()))?;
        writeln!(out)
    }

    fn write_csv(self, out: &mut impl Write) -> io::Result<()> {
        let (columns, rows) = match self.rows {
            Some(Rows { columns, rows, .. }) => (columns, rows),
            None => {
                let row = flatten(self.facts);
                (row.keys().cloned().collect(), vec![row])
            }
        };
        writeln!(out, "{}", columns.iter().map(|column| csv::text_field(column)).collect::<Vec<_>>().join(","))?;
        for row in &rows {
            writeln!(out, "{}", row.values().map(csv::field).collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    }

    fn write_table(self, out: &mut impl Write) -> io::Result<()> {
        let mut words = Vec::new();
        let facts = flatten(self.facts);
        let width = facts.keys().map(|key| key.chars().count()).max().unwrap_or(0);
        for (key, value) in &facts {
            match value {
                // Sentences go below the numbers.
                Value::String(text) if text.contains(' ') => words.push(text.clone()),
                _ => writeln!(out, "{:width$}  {}", printable(key), cell_text(value))?,
            }
        }
        if let Some(Rows { rows, .. }) = &self.rows
            && !rows.is_empty()
        {
            if !facts.is_empty() {
                writeln!(out)?;
            }
            write_columns(out, rows)?;
        }
        for text in words {
            writeln!(out)?;
            for line in wrap(&text, 100) {
                writeln!(out, "{}", printable(&line))?;
            }
        }
        Ok(())
    }
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

fn cell_text(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => printable(text).into_owned(),
        Value::Number(n) if n.is_f64() => digits(n.as_f64().unwrap_or(f64::NAN)),
        Value::Array(values) => values.iter().map(cell_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
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
    for row in [&header].into_iter().chain(&cells) {
        let align = |(i, (cell, &width)): (usize, (&String, &usize))| {
            if left[i] { format!("{cell:width$}") } else { format!("{cell:>width$}") }
        };
        let line: Vec<String> = row.iter().zip(&widths).enumerate().map(align).collect();
        writeln!(out, "{}", line.join("  ").trim_end())?;
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
    fn text_is_wrapped_between_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
    }
}
