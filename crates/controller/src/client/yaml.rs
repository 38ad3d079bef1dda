//! The API server reads the body of a server-side apply as YAML, JSON though it is. YAML takes fewer characters as they
//! are: it refuses control characters, and turns the line breaks of other alphabets into blanks. Both may stand in what
//! users write, and from there get into every message. As `\uXXXX` they are the same text in either language.

use bytes::Bytes;
use std::fmt::Write as _;

/// The same JSON, without characters that YAML would read in another way.
pub(super) fn readable_as_yaml(json: Bytes) -> Bytes {
    match std::str::from_utf8(&json) {
        Ok(text) if text.contains(must_be_escaped) => {
            let mut escaped = String::with_capacity(text.len().saturating_add(64));
            for character in text.chars() {
                // They stand in strings only: JSON knows no other place for them. None is beyond U+FFFF.
                if must_be_escaped(character) {
                    let _ = write!(escaped, "\\u{:04x}", u32::from(character));
                } else {
                    escaped.push(character);
                }
            }
            escaped.into()
        }
        Ok(_) | Err(_) => json,
    }
}

/// What go-yaml's reader refuses, takes for a line break, or drops.
fn must_be_escaped(character: char) -> bool {
    matches!(character, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn characters_that_yaml_refuses_are_escaped_and_mean_the_same() {
        let value = json!({
            "a\u{93}b": "ami-\u{93}oops\u{94} \u{7f}\u{85}\u{2028}\u{2029}\u{feff}\u{ffff}",
            "plain": "äöü 漢 😀 \n\t\u{1} \\ \"",
        });
        let escaped = readable_as_yaml(value.to_string().into());
        let text = std::str::from_utf8(&escaped).unwrap();
        assert!(!text.contains(must_be_escaped), "{text}");
        assert!(text.contains("\\u0093oops\\u0094") && text.contains("漢 😀"), "{text}");
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), value);
    }

    #[test]
    fn everything_else_is_left_as_it_is() {
        let json = Bytes::from(json!({"a": "ä\n"}).to_string());
        assert_eq!(readable_as_yaml(json.clone()), json);
    }
}
