//! `figure.json`: a figure that was made again, and what it says of the paper's claims.
//!
//! Only `figure` and `title` must be there; unknown keys are ignored. `format` counts the changes that older versions could not read.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// The file of a figure's directory that holds its [`FigureRecord`].
pub const FIGURE: &str = "figure.json";

/// What one figure came to.
///
/// ```
/// use isinglass_lab::reproduce::{FigureRecord, Verdict};
///
/// let text = r#"{"figure": "fig1", "title": "Dynamics", "claims": [{"claim": "c → 1", "verdict": "holds in part"}]}"#;
/// let record: FigureRecord = serde_json::from_str(text)?;
/// assert_eq!(record.claims[0].verdict, Verdict::HoldsInPart);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FigureRecord {
    /// The version of the format; a file without it has the first.
    #[serde(default)]
    pub format: FigureFormat,
    /// A short name, such as `fig1`: that of the directory.
    pub figure: String,
    /// What the figure shows.
    pub title: String,
    /// How large the experiment was: `quick`, or the paper's own size.
    #[serde(default, deserialize_with = "or_default")]
    pub scale: String,
    /// Plain text; blank lines separate paragraphs.
    #[serde(default, deserialize_with = "or_default")]
    pub caption: String,
    /// The pictures, in order.
    #[serde(default, deserialize_with = "or_default")]
    pub pictures: Vec<Picture>,
    /// The tables, in order.
    #[serde(default, deserialize_with = "or_default")]
    pub tables: Vec<Table>,
    /// What the paper says, and whether it was seen here.
    #[serde(default, deserialize_with = "or_default")]
    pub claims: Vec<Claim>,
    /// The settings that all parts share.
    #[serde(default, deserialize_with = "or_default")]
    pub settings: Map<String, Value>,
    /// Directories of sweeps that the figure was made from, as seen from its own: in it, or beside it (`../sweeps/a`).
    #[serde(default, deserialize_with = "or_default")]
    pub sweeps: Vec<String>,
    /// The seeds in use.
    #[serde(default, deserialize_with = "or_default")]
    pub seeds: Vec<u64>,
    /// The version of isinglass that made the figure.
    #[serde(default, deserialize_with = "or_default")]
    pub version: String,
    /// The command that makes it again.
    #[serde(default, deserialize_with = "or_default")]
    pub command: String,
}

/// The version of the format of [`FigureRecord`]: 1. Files of later ones are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u32")]
pub struct FigureFormat(u32);

impl FigureFormat {
    /// What this version writes, and the last that it reads.
    pub const CURRENT: Self = Self(1);
}

impl Default for FigureFormat {
    fn default() -> Self {
        Self::CURRENT
    }
}

impl TryFrom<u32> for FigureFormat {
    type Error = String;

    fn try_from(format: u32) -> Result<Self, String> {
        let Self(last) = Self::CURRENT;
        if (1..=last).contains(&format) {
            return Ok(Self(format));
        }
        Err(format!("format {format}: this version reads up to format {last}; use the version that wrote the file, or a later one"))
    }
}

/// A picture of a figure.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// An SVG file inside the figure's directory.
    pub file: String,
    /// Plain text below it.
    #[serde(default, deserialize_with = "or_default")]
    pub caption: String,
}

/// A table of a figure. Cells are texts, numbers or null.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Plain text above it.
    #[serde(default, deserialize_with = "or_default")]
    pub title: String,
    /// The header.
    #[serde(default, deserialize_with = "or_default")]
    pub columns: Vec<String>,
    /// Row by row.
    #[serde(default, deserialize_with = "or_default")]
    pub rows: Vec<Vec<Value>>,
}

/// A statement of the paper beside what was seen here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The statement, in plain text.
    pub claim: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// The numbers behind the verdict, in words.
    #[serde(default, deserialize_with = "or_default")]
    pub evidence: String,
}

/// Whether a claim holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// All of it was seen.
    #[serde(rename = "holds")]
    Holds,
    /// Some of it was seen, or only in places.
    #[serde(rename = "holds in part")]
    HoldsInPart,
    /// The opposite was seen.
    #[serde(rename = "does not hold")]
    DoesNotHold,
    /// What was seen does not decide it.
    #[serde(rename = "not decided")]
    NotDecided,
}

impl Verdict {
    /// All verdicts, the best first.
    pub const ALL: [Self; 4] = [Self::Holds, Self::HoldsInPart, Self::DoesNotHold, Self::NotDecided];

    /// The words that stand for it in the file and on a page.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::HoldsInPart => "holds in part",
            Self::DoesNotHold => "does not hold",
            Self::NotDecided => "not decided",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Null is the same as a key that is not there.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_record_survives_being_written() {
        let text = r#"{"format":1,"figure":"fig1","title":"Dynamics","scale":"quick","caption":"one\n\ntwo","pictures":[{"file":"a.svg","caption":"A"}],"tables":[{"title":"t","columns":["a","b","c"],"rows":[["x",1.5,null]]}],"claims":[{"claim":"c","verdict":"does not hold","evidence":"e"}],"settings":{"width":1000,"neuron":"sign"},"sweeps":["deterministic"],"seeds":[1],"version":"0.1.0","command":"isinglass reproduce fig1"}"#;
        let record: FigureRecord = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&record).unwrap(), text);
    }

    #[test]
    fn most_keys_may_be_missing_null_or_unknown() {
        let record: FigureRecord = serde_json::from_str(r#"{"figure":"f","title":"t","seeds":null,"later":{}}"#).unwrap();
        assert_eq!(record, FigureRecord { figure: "f".into(), title: "t".into(), ..FigureRecord::default() });
        assert!(serde_json::from_str::<FigureRecord>(r#"{"figure":"f"}"#).unwrap_err().to_string().contains("title"));
    }

    #[test]
    fn files_without_a_format_have_the_first_and_later_ones_are_refused() {
        let of = |key: &str| serde_json::from_str::<FigureRecord>(&format!(r#"{{{key}"figure":"f","title":"t"}}"#));
        assert_eq!(of("").unwrap(), of(r#""format":1,"#).unwrap());
        assert_eq!(serde_json::to_value(of("").unwrap()).unwrap()["format"], 1);
        for later in [0, 2] {
            let message = of(&format!(r#""format":{later},"#)).unwrap_err().to_string();
            assert!(message.contains(&format!("format {later}: ")) && message.contains("up to format 1"), "{message}");
        }
    }

    #[test]
    fn verdicts_are_read_by_their_words() {
        for verdict in Verdict::ALL {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.to_string());
        }
    }
}
