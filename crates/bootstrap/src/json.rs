//! JSON in one way of printing, which readers of YAML read alike.
//!
//! Only ASCII leaves here: readers of MIME disagree about other characters, and YAML takes some of them (U+0085,
//! U+2028) for ends of lines. No line of the output begins with a character that the user chose, so nothing in it can
//! be taken for a boundary between parts. Keys are sorted whatever the features of serde_json: the same value is the
//! same bytes.

use serde_json::{Map, Value};
use std::fmt::Write as _;

/// Who reads it: they differ in how characters above U+FFFF are escaped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A reader of JSON: two escapes that form a pair.
    Json,
    /// A reader of YAML, which knows no pairs: one escape of eight digits.
    Yaml,
}

/// The value in lines, without an end of line at the end.
pub(crate) fn print(value: &Value, reader: Reader) -> String {
    let mut out = String::new();
    put(&mut out, value, reader, 0);
    out
}

fn put(out: &mut String, value: &Value, reader: Reader, depth: usize) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
        Value::String(text) => put_text(out, text, reader),
        Value::Array(items) if items.is_empty() => out.push_str("[]"),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                begin_line(out, index, depth + 1);
                put(out, item, reader, depth + 1);
            }
            end(out, depth, ']');
        }
        Value::Object(fields) if fields.is_empty() => out.push_str("{}"),
        Value::Object(fields) => {
            out.push('{');
            for (index, (name, field)) in sorted(fields).into_iter().enumerate() {
                begin_line(out, index, depth + 1);
                put_text(out, name, reader);
                out.push_str(": ");
                put(out, field, reader, depth + 1);
            }
            end(out, depth, '}');
        }
    }
}

fn sorted(fields: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_by_key(|(name, _)| *name);
    fields
}

fn begin_line(out: &mut String, index: usize, depth: usize) {
    out.push_str(if index == 0 { "\n" } else { ",\n" });
    out.push_str(&"  ".repeat(depth));
}

fn end(out: &mut String, depth: usize, bracket: char) {
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push(bracket);
}

fn put_text(out: &mut String, text: &str, reader: Reader) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(c),
            _ => put_escape(out, c, reader),
        }
    }
    out.push('"');
}

fn put_escape(out: &mut String, c: char, reader: Reader) {
    let mut units = [0; 2];
    let units = c.encode_utf16(&mut units);
    let written = if units.len() == 2 && reader == Reader::Yaml {
        write!(out, "\\U{:08x}", u32::from(c))
    } else {
        units.iter().try_for_each(|unit| write!(out, "\\u{unit:04x}"))
    };
    debug_assert!(written.is_ok(), "writing into a String does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_and_lines_indented() {
        let value = json!({"b": [1, {"c": null}], "a": {}, "": []});
        let expected =
            "{\n  \"\": [],\n  \"a\": {},\n  \"b\": [\n    1,\n    {\n      \"c\": null\n    }\n  ]\n}";
        assert_eq!(print(&value, Reader::Json), expected);
    }

    proptest! {
        #[test]
        fn both_readers_read_what_was_printed(text in any::<String>()) {
            let value = json!({"text": text});
            let json = print(&value, Reader::Json);
            let yaml = print(&value, Reader::Yaml);
            prop_assert!(json.is_ascii() && yaml.is_ascii());
            prop_assert_eq!(&serde_json::from_str::<Value>(&json).unwrap(), &value);
            prop_assert_eq!(&serde_saphyr::from_str::<Value>(&yaml).unwrap(), &value);
        }
    }
}
