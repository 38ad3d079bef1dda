//! What differs between two states, field by field.
//!
//! States are compared in their serialized form: a new field cannot be forgotten.

use foo_api::plan::{NAMED_CHANGES, PlannedChange};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Fields whose values have names as keys.
const MAPS: [&str; 7] =
    ["tags", "entries", "addons", "podIdentities", "subnets", "endpoints", "securityGroups"];

/// The value of each field of a state, as JSON, by its path.
pub(crate) type Fields = BTreeMap<String, String>;

/// The fields of a state.
pub(crate) fn fields(state: &Value) -> Fields {
    let mut fields = BTreeMap::new();
    flatten("", state, &mut fields);
    fields
}

/// What ends the path of a field whose values are not shown: they may contain secrets.
const HIDDEN: [&str; 1] = [".configuration"];
/// The longest value that is shown, in characters.
const LONGEST_VALUE: usize = 1_000;

/// The fields that differ, by their path; of many, the first ones.
pub(crate) fn differences(before: &Fields, after: &Fields) -> Vec<PlannedChange> {
    let mut paths: Vec<&String> = before.keys().chain(after.keys()).collect();
    paths.sort();
    paths.dedup();
    let differs = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
    let change = |path: &String| {
        let is_hidden = HIDDEN.iter().any(|hidden| path.ends_with(hidden));
        let shown = |fields: &Fields| fields.get(path).map(|value| shown(value));
        let (from, to) = if is_hidden {
            (None, Some(Value::from("another one, which is not shown").to_string()))
        } else {
            (shown(before), shown(after))
        };
        PlannedChange { field: path.clone(), from, to, replaces: false }
    };
    differs.take(NAMED_CHANGES).map(change).collect()
}

fn shown(value: &str) -> String {
    if value.chars().count() <= LONGEST_VALUE {
        return value.to_owned();
    }
    let beginning: String = value.chars().take(LONGEST_VALUE).collect();
    Value::from(format!("{beginning}...")).to_string()
}

/// Lists of values are one field. `Ready` of `foo_planner::desired::Wanted` is no part of a path.
fn flatten(path: &str, value: &Value, fields: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(map) if is_ready(map) => {
            for inner in map.values() {
                flatten(path, inner, fields);
            }
        }
        Value::Object(map) => {
            for (name, inner) in map {
                let name = if is_own_field(path) { camel_case(name) } else { name.clone() };
                let below = if path.is_empty() { name } else { format!("{path}.{name}") };
                flatten(&below, inner, fields);
            }
        }
        Value::Null => {}
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            fields.insert(path.to_owned(), value.to_string());
        }
    }
}

fn is_ready(map: &Map<String, Value>) -> bool {
    map.len() == 1 && map.contains_key("Ready")
}

/// Whether the names below this path are fields, and not names that users or AWS gave.
fn is_own_field(path: &str) -> bool {
    !MAPS.contains(&path.rsplit('.').next().unwrap_or_default())
}

fn camel_case(name: &str) -> String {
    let mut parts = name.split('_');
    let mut joined = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        joined.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        joined.push_str(letters.as_str());
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_have_paths_and_names_stay_as_they_are() {
        let state = json!({
            "role_arn": "arn", "paused": false, "nothing": null, "some": ["a", "b"],
            "entries": { "arn:aws:iam::1:role/my_role": { "user_name": "u" } },
            "tags": { "team_of": "red" },
            "wanted": { "Ready": { "launch_template": 1 } },
        });
        let found: Vec<(String, String)> = fields(&state).into_iter().collect();
        let expected = [
            ("entries.arn:aws:iam::1:role/my_role.userName", "\"u\""),
            ("paused", "false"),
            ("roleArn", "\"arn\""),
            ("some", "[\"a\",\"b\"]"),
            ("tags.team_of", "\"red\""),
            ("wanted.launchTemplate", "1"),
        ];
        assert_eq!(found, expected.map(|(path, value)| (path.to_owned(), value.to_owned())));
    }

    #[test]
    fn what_may_be_secret_or_long_is_not_shown() {
        let of = |text: &str| {
            fields(&json!({ "addons": { "a": { "configuration": text } }, "long": text.repeat(300) }))
        };
        let changes = differences(&of("hush"), &of("hash"));
        assert_eq!(changes[0].field, "addons.a.configuration");
        assert_eq!(
            (&changes[0].from, changes[0].to.as_deref()),
            (&None, Some("\"another one, which is not shown\""))
        );
        let to = changes[1].to.clone().unwrap();
        assert!(to.len() < 1100 && serde_json::from_str::<String>(&to).unwrap().ends_with("..."), "{to}");
    }

    #[test]
    fn what_comes_and_what_goes_differs() {
        let of = |state: Value| fields(&state);
        let changes =
            differences(&of(json!({ "a": 1, "b": 2, "c": 3 })), &of(json!({ "b": 2, "c": 4, "d": 5 })));
        let shown = changes.iter().map(|it| (it.field.as_str(), it.from.as_deref(), it.to.as_deref()));
        let expected = [("a", Some("1"), None), ("c", Some("3"), Some("4")), ("d", None, Some("5"))];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }
}
