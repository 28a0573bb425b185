//! Comma-separated values, as pandas and polars read them.

use serde_json::Value;

/// A value as one field; what does not exist is empty.
///
/// ```
/// use isinglass_runs::csv::field;
///
/// assert_eq!(field(&"a, \"b\"".into()), "\"a, \"\"b\"\"\"");
/// assert_eq!((field(&1.5.into()), field(&serde_json::Value::Null)), ("1.5".into(), String::new()));
/// assert_eq!(field(&vec![1, 2].into()), "\"[1,2]\"");
/// ```
pub fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text_field(text),
        Value::Array(_) | Value::Object(_) => text_field(&value.to_string()),
        other => other.to_string(),
    }
}

/// A text as one field, in quotes where it must.
pub fn text_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
