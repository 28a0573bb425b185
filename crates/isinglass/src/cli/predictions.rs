//! What a packed network says of examples, example by example. There may be millions: they are predicted and printed page by page, so that memory does not grow with their number.

use std::cell::RefCell;
use std::io::{self, Write};

use isinglass_bits::{PackedModel, Prediction, Predictor, Values};
use isinglass_lab::csv;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use super::answer::{Answer, FACTS, Record, to_record, write_columns};
use super::output::TableArgs;
use super::packed::Score;
use super::{CliError, Format};

/// The most rows of a page, and about the most values in it.
const ROWS: usize = 10_000;
const VALUES: usize = 1 << 19;

/// A model and the examples it is to classify.
pub struct Predictions<'a> {
    inputs: Values<'a>,
    labels: Option<&'a [u8]>,
    columns: usize,
    threads: usize,
    rows_per_page: usize,
    predictor: RefCell<Predictor>,
}

impl<'a> Predictions<'a> {
    /// `inputs` are whole rows.
    pub fn new(model: &PackedModel, inputs: Values<'a>, labels: Option<&'a [u8]>, threads: usize) -> Self {
        let per_row = model.networks().len().saturating_mul(model.classes());
        let rows_per_page = (VALUES / per_row.max(1)).clamp(1, ROWS);
        Self { inputs, labels, columns: model.inputs(), threads, rows_per_page, predictor: RefCell::new(model.predictor()) }
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        self.inputs.len() / self.columns
    }

    /// The predictions, some rows at a time, each with the number of its first row.
    fn pages(&self) -> impl Iterator<Item = Result<(usize, Prediction), CliError>> {
        (0..self.len()).step_by(self.rows_per_page).map(|first| {
            let end = (first + self.rows_per_page).min(self.len());
            let rows = self.inputs.slice(first * self.columns..end * self.columns);
            Ok((first, self.predictor.borrow_mut().predict_on(rows, self.threads)?))
        })
    }

    /// How many classes are those of the labels.
    pub fn score(&self) -> Result<Score, CliError> {
        let labels = self.labels.unwrap_or_default();
        let mut score = Score { correct: 0, examples: self.len() };
        for page in self.pages() {
            let (first, prediction) = page?;
            let pairs = prediction.classes().iter().zip(labels.iter().skip(first));
            score.correct += pairs.filter(|(class, label)| **class == usize::from(**label)).count();
        }
        Ok(score)
    }

    /// Prints a row for every example to standard output.
    pub fn print(&self, output: &TableArgs, facts: Record) -> Result<(), CliError> {
        if output.rows() == Some(FACTS) && output.format() != Format::Json {
            return output.print(Answer::default().facts(facts).take());
        }
        let mut out = io::BufWriter::new(io::stdout().lock());
        match output.format() {
            Format::Json => self.write_json(&mut out, &facts)?,
            Format::Csv => self.write_csv(&mut out)?,
            Format::Table => self.write_table(&mut out)?,
        }
        Ok(out.flush()?)
    }

    fn write_json(&self, out: &mut impl Write, facts: &Record) -> Result<(), CliError> {
        let failed = RefCell::new(None);
        let mut serializer = serde_json::Serializer::pretty(&mut *out);
        let mut map = serializer.serialize_map(Some(facts.len() + 1)).map_err(io::Error::from)?;
        for (key, value) in facts {
            map.serialize_entry(key, value).map_err(io::Error::from)?;
        }
        map.serialize_entry("predictions", &Objects { predictions: self, failed: &failed }).map_err(io::Error::from)?;
        map.end().map_err(io::Error::from)?;
        writeln!(out)?;
        failed.into_inner().map_or(Ok(()), Err)
    }

    fn write_csv(&self, out: &mut impl Write) -> Result<(), CliError> {
        for page in self.pages() {
            let (first, prediction) = page?;
            for (index, row) in self.rows(first, &prediction).enumerate() {
                if first + index == 0 {
                    writeln!(out, "{}", row.keys().map(|column| csv::text_field(column)).collect::<Vec<_>>().join(","))?;
                }
                writeln!(out, "{}", row.values().map(csv::field).collect::<Vec<_>>().join(","))?;
            }
        }
        Ok(())
    }

    /// A table for every page.
    fn write_table(&self, out: &mut impl Write) -> Result<(), CliError> {
        writeln!(out, "images  {}", self.len())?;
        for page in self.pages() {
            let (first, prediction) = page?;
            writeln!(out)?;
            write_columns(out, &self.rows(first, &prediction).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// A flat row for every example, with its label where it has one.
    fn rows(&self, first: usize, prediction: &Prediction) -> impl Iterator<Item = Record> {
        prediction.classes().iter().enumerate().map(move |(index, &class)| {
            let mut row = Record::from_iter([("image".to_owned(), (first + index).into())]);
            if let Some(labels) = self.labels {
                row.insert("label".to_owned(), labels[first + index].into());
            }
            row.insert("class".to_owned(), class.into());
            if let Some(name) = prediction.name(index) {
                row.insert("name".to_owned(), name.into());
            }
            let probabilities = prediction.probabilities_of(index);
            row.insert("probability".to_owned(), probabilities[class].into());
            row.extend(probabilities.iter().enumerate().map(|(class, &p)| (format!("p{class}"), Value::from(p))));
            row
        })
    }

    /// An object for every example, with its label where it has one.
    fn objects(&self, first: usize, prediction: &Prediction) -> Vec<Record> {
        let object = |(index, &class): (usize, &usize)| {
            let probabilities = prediction.probabilities_of(index);
            let mut object = to_record(
                &json!({"image": first + index, "class": class, "probability": probabilities[class], "probabilities": probabilities}),
            );
            if let Some(name) = prediction.name(index) {
                object.insert("name".to_owned(), name.into());
            }
            if let Some(labels) = self.labels {
                object.insert("label".to_owned(), labels[first + index].into());
            }
            object
        };
        prediction.classes().iter().enumerate().map(object).collect()
    }
}

/// An object for every example, made while it is written. An error ends the list, and is kept.
struct Objects<'a> {
    predictions: &'a Predictions<'a>,
    failed: &'a RefCell<Option<CliError>>,
}

impl Serialize for Objects<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pages = self.predictions.pages().map_while(|page| match page {
            Ok(page) => Some(page),
            Err(error) => {
                self.failed.replace(Some(error));
                None
            }
        });
        serializer.collect_seq(pages.flat_map(|(first, prediction)| self.predictions.objects(first, &prediction)))
    }
}
