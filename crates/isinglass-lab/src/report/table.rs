//! Tables, with numbers to the right.

use serde_json::Value;

use super::markup::Html;
use isinglass_runs::words::{self, digits};

/// Writes a table, in a box that scrolls if it is too wide or too long.
pub(super) fn write(html: &mut Html, columns: &[String], rows: &[Vec<Value>]) {
    let is_numeric = |column: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(column)).filter(|value| !value.is_null()).peekable();
        cells.peek().is_some() && cells.all(is_number)
    };
    let classes: Vec<&str> = (0..columns.len()).map(|column| if is_numeric(column) { "n" } else { "" }).collect();
    let attributes = |column: usize| -> &[(&str, &str)] { if classes.get(column) == Some(&"n") { &[("class", "n")] } else { &[] } };
    html.open("div", &[("class", "scroll"), ("tabindex", "0")]).open("table", &[]);
    html.open("thead", &[]).open("tr", &[]);
    for (index, column) in columns.iter().enumerate() {
        html.element("th", attributes(index), column);
    }
    html.close("tr").close("thead").open("tbody", &[]);
    for row in rows {
        html.open("tr", &[]);
        for (index, value) in row.iter().enumerate() {
            html.element("td", attributes(index), &text(value));
        }
        html.close("tr");
    }
    html.close("tbody").close("table").close("div");
}

/// Numbers, and texts that are numbers of a fixed form: `1.50`, `97.31 %`.
fn is_number(value: &Value) -> bool {
    let of_text = |text: &str| text.strip_suffix(" %").unwrap_or(text).parse::<f64>().is_ok();
    value.is_number() || value.as_str().is_some_and(of_text)
}

/// A value of a table: numbers with their leading digits, lists without brackets, nothing as a dash.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Number(number) if number.is_f64() => {
            let number = number.as_f64().unwrap_or(f64::NAN);
            let exact = number.to_string();
            let short = if exact.len() <= 7 { exact } else { digits(number) };
            short.replace('-', "−")
        }
        Value::Number(number) => number.to_string().replace('-', "−"),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(", "),
        Value::Object(object) => object.iter().map(|(key, value)| format!("{key} = {}", text(value))).collect::<Vec<_>>().join(", "),
    }
}

/// A number with two decimals.
pub(super) fn two_decimals(value: &Value) -> Value {
    value.as_f64().map_or(Value::Null, |number| format!("{number:.2}").into())
}

/// A part of all as a percentage.
pub(super) fn percent(value: &Value) -> Value {
    value.as_f64().map_or(Value::Null, |part| words::percent(part).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_short() {
        for (value, want) in [
            (json!(0.123_456_789), "0.1235"),
            (json!(-2), "−2"),
            (json!(1.5), "1.5"),
            (json!(null), "–"),
            (json!([1, "a"]), "1, a"),
            (json!({ "a": true }), "a = yes"),
        ] {
            assert_eq!(text(&value), want);
        }
        assert_eq!(percent(&json!(0.97312)), json!("97.31 %"));
    }

    #[test]
    fn only_columns_of_numbers_go_to_the_right() {
        let mut html = Html::default();
        write(
            &mut html,
            &["a".into(), "b".into()],
            &[vec![json!(1), json!("<x>")], vec![json!(null), json!(2)], vec![json!("7.50 %"), json!(2)]],
        );
        let html = html.finish();
        assert!(html.contains("<th class=\"n\">a</th><th>b</th>") && html.contains("<td class=\"n\">–</td><td>2</td>"), "{html}");
        assert!(html.contains("&lt;x&gt;"));
    }
}
