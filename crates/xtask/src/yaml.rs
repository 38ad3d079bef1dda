//! YAML as we write it: the same bytes for the same content, whatever features serde_json was compiled with.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Number, Value};

/// One document, keys sorted, numbers without a needless `.0`, no trailing spaces.
pub fn document(value: &Value) -> Result<String> {
    let value = canonical(value);
    let options = serde_saphyr::ser_options! { folded_wrap_chars: 110 };
    let text = serde_saphyr::to_string_with_options(&value, options).context("writing YAML")?;
    let mut clean = String::with_capacity(text.len());
    for line in text.lines() {
        // The writer indents the empty lines of multi-line texts; they mean the same without.
        clean.push_str(line.trim_end());
        clean.push('\n');
    }
    // A writer that loses something would be noticed by users only.
    let read: Value = serde_saphyr::from_str(&clean).context("reading back what was written")?;
    ensure!(canonical(&read) == value, "YAML that reads back differently:\n{clean}");
    Ok(clean)
}

/// Several documents.
pub fn documents<'a>(values: impl IntoIterator<Item = &'a Value>) -> Result<String> {
    let mut text = String::new();
    for value in values {
        text.push_str("---\n");
        text.push_str(&document(value)?);
    }
    Ok(text)
}

/// Reads all documents of a file.
pub fn parse(text: &str) -> Result<Vec<Value>> {
    let all: Vec<Value> = serde_saphyr::from_multiple(text).context("reading YAML")?;
    Ok(all.into_iter().filter(|value| !value.is_null()).collect())
}

/// Keys sorted, numbers without a needless `.0`.
pub(crate) fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            Value::Object(entries.into_iter().map(|(k, v)| (k.clone(), canonical(v))).collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(canonical).collect()),
        Value::Number(number) => Value::Number(whole(number)),
        other => other.clone(),
    }
}

/// `10000.0` as `10000`: JSON Schema limits are floats in the Rust types and integers in every CRD people have seen.
fn whole(number: &Number) -> Number {
    number
        .as_f64()
        .filter(|value| number.is_f64() && value.fract() == 0.0)
        .and_then(|value| format!("{value:.0}").parse::<i64>().ok())
        .map_or_else(|| number.clone(), Number::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_and_whole_numbers_have_no_fraction() {
        let text = document(&json!({"b": 1.0, "a": {"d": [true], "c": 0.5}})).unwrap();
        assert_eq!(text, "a:\n  c: 0.5\n  d:\n  - true\nb: 1\n");
    }

    #[test]
    fn texts_of_several_lines_keep_their_empty_lines_and_have_no_trailing_spaces() {
        let text = document(&json!({"a": {"description": "One.\n\nTwo."}})).unwrap();
        assert!(text.lines().all(|line| line == line.trim_end()), "{text}");
        assert_eq!(parse(&text).unwrap()[0]["a"]["description"], "One.\n\nTwo.");
    }

    #[test]
    fn texts_that_look_like_something_else_stay_texts() {
        let value =
            json!({"a": "true", "b": "1", "c": "no", "d": "", "e": "1e3", "f": "${X:=y}", "g": "null"});
        assert_eq!(parse(&document(&value).unwrap()).unwrap(), [value]);
    }
}
