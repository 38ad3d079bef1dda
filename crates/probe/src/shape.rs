//! What two responses are compared by: which elements they have, and the code of an error. Values differ from account to
//! account; ids in them are what a replay has to translate.

use serde_json::Value;
use std::collections::BTreeSet;

/// The texts of a response in XML or JSON, each with the names that lead to it, in order.
pub(crate) fn leaves(text: &str) -> Vec<(String, String)> {
    match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => {
            let mut found = Vec::new();
            json(&value, String::new(), &mut found);
            found
        }
        _ => xml(text),
    }
}

/// The paths of a response.
pub(crate) fn paths(text: &str) -> BTreeSet<String> {
    leaves(text).into_iter().map(|(path, _)| path).collect()
}

/// AWS's code of an error.
pub(crate) fn code(response: &str) -> Option<String> {
    let codes = ["Error.Code", "__type", "code"];
    let leaves = leaves(response);
    let found = leaves.iter().find(|(path, _)| codes.iter().any(|code| path.ends_with(code)));
    // `namespace#Code` in AWS's JSON protocols.
    found.map(|(_, code)| code.rsplit('#').next().unwrap_or_default().to_owned())
}

fn json(value: &Value, path: String, found: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                json(value, path, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| json(item, path.clone(), found)),
        Value::String(text) => found.push((path, text.clone())),
        Value::Null | Value::Bool(_) | Value::Number(_) => found.push((path, value.to_string())),
    }
}

/// Without attributes, comments and CDATA, which AWS's responses do not have.
fn xml(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    let mut is_leaf = false;
    let mut rest = text;
    while let Some((before, (tag, next))) =
        rest.split_once('<').and_then(|(before, after)| Some((before, after.split_once('>')?)))
    {
        if tag.starts_with('/') {
            if is_leaf {
                found.push((open.join("."), before.to_owned()));
            }
            open.pop();
            is_leaf = false;
        } else if !tag.starts_with(['?', '!']) {
            let name = tag.split([' ', '/', '\n']).next().unwrap_or_default();
            open.push(name);
            is_leaf = !tag.ends_with('/');
            if !is_leaf {
                found.push((open.join("."), String::new()));
                open.pop();
            }
        }
        rest = next;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_of_both_formats_have_paths_and_texts() {
        let pairs =
            |text| leaves(text).into_iter().map(|(path, text)| format!("{path}={text}")).collect::<Vec<_>>();
        let text = "<?xml version=\"1.0\"?>\n<R xmlns=\"x\"><l>\n<item><id>a</id><e/></item><item><id>b</id></item>\n</l></R>";
        assert_eq!(pairs(text), ["R.l.item.id=a", "R.l.item.e=", "R.l.item.id=b"]);
        assert_eq!(pairs("{\"L\":[\"a\"],\"P\":{\"N\":1,\"V\":\"x\"}}"), ["L=a", "P.N=1", "P.V=x"]);
        assert_eq!(paths(text).len(), 2);
    }

    #[test]
    fn codes_of_errors_are_found_in_each_protocol() {
        for text in [
            "<ErrorResponse><Error><Type>Sender</Type><Code>Bad</Code></Error></ErrorResponse>",
            "<Response><Errors><Error><Code>Bad</Code></Error></Errors></Response>",
            "{\"__type\":\"com.amazonaws.ssm#Bad\"}",
        ] {
            assert_eq!(code(text).as_deref(), Some("Bad"), "{text}");
        }
        assert_eq!(code("<html>"), None);
    }
}
