//! Canonical JSON: keys sorted, no spaces.

use serde_json::Value;

/// The canonical text of a value.
pub fn canonical_json(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            let text = |(key, value): (&String, &Value)| format!("{}:{}", Value::String(key.clone()), canonical_json(value));
            format!("{{{}}}", members.into_iter().map(text).collect::<Vec<_>>().join(","))
        }
        Value::Array(elements) => format!("[{}]", elements.iter().map(canonical_json).collect::<Vec<_>>().join(",")),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn keys_are_sorted_at_every_level() {
        let value = serde_json::json!({"b": [{"z": 1, "a": "\"q"}], "a": null, "c": 0.1});
        assert_eq!(super::canonical_json(&value), r#"{"a":null,"b":[{"a":"\"q","z":1}],"c":0.1}"#);
    }
}
