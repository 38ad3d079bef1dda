//! YAML of users and in user data.

use serde::de::DeserializeOwned;

/// Reads YAML. An error shows no line of the text: user data has tokens, and errors become messages of conditions. (Those of
/// TOML are reduced to their `message()` for the same reason.)
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, serde_saphyr::Error> {
    serde_saphyr::from_str_with_options(text, serde_saphyr::options! { with_snippet: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::collections::BTreeMap;

    #[test]
    fn an_error_quotes_no_line() {
        for text in ["token: hush-hush\nrest: [", "hush-hush: [{", "a: 1\n- hush-hush\n"] {
            let error = read::<Value>(text).unwrap_err().to_string();
            assert!(!error.contains("hush"), "{error}");
        }
        let read: BTreeMap<String, u8> = read("a: 1").unwrap();
        assert_eq!(read, BTreeMap::from([("a".to_owned(), 1)]));
    }
}
