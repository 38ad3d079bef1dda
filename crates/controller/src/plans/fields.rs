//! What differs between two states, field by field.
//!
//! States are compared in their serialized form: a new field cannot be forgotten.

use foo_api::plan::{NAMED_CHANGES, NAMED_SETTINGS, PlannedChange, SettingInAws};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Fields whose values have names as keys.
const MAPS: [&str; 12] = [
    "tags",
    "entries",
    "policies",
    "addons",
    "podIdentities",
    "subnets",
    "endpoints",
    "securityGroups",
    "routes",
    "ingress",
    "egress",
    "requiredClaims",
];

/// The value of each field of a state, as JSON, by its path.
pub(crate) type Fields = BTreeMap<String, String>;

/// The fields of a state.
pub(crate) fn fields(state: &Value) -> Fields {
    let mut fields = BTreeMap::new();
    flatten("", state, &mut fields);
    fields
}

/// What ends the path of a field whose values are not shown: they may contain secrets, or say something about one.
const HIDDEN: [&str; 2] = [".configuration", ".userDataAndTags"];
/// Stands for the value that such a field has now.
const NOT_SHOWN: &str = "not shown";
/// The longest value of a change of the spec that is shown, in characters.
const LONGEST_VALUE: usize = 1_000;
/// The longest value of a setting in AWS: a tag has at most 256 characters.
const LONGEST_IN_AWS: usize = 300;

/// The fields that differ, by their path; of many, the first ones.
pub(crate) fn differences(before: &Fields, after: &Fields) -> Vec<PlannedChange> {
    let change = |path: &String| {
        let (from, to) = values(path, before, after, LONGEST_VALUE);
        PlannedChange { field: path.clone(), from, to, replaces: false }
    };
    differing(before, after).take(NAMED_CHANGES).map(change).collect()
}

/// A resource in AWS.
pub(crate) struct Resource {
    /// Its name for users.
    pub(crate) name: String,
    /// Its settings.
    pub(crate) settings: Fields,
}

/// Resources, by what identifies them.
pub(crate) type Resources = BTreeMap<String, Resource>;

/// Resources that their names identify.
pub(crate) fn by_name(all: impl IntoIterator<Item = (String, Fields)>) -> Resources {
    all.into_iter().map(|(name, settings)| (name.clone(), Resource { name, settings })).collect()
}

/// The settings that differ between what AWS has now and what it has at the end of a plan; of many, the first ones. The calls of
/// the plan, and changes that AWS is carrying out, are all that changes them. What is created or deleted has no settings to
/// compare.
pub(crate) fn in_aws(now: &Resources, then: &Resources) -> Vec<SettingInAws> {
    let both = now.iter().filter_map(|(id, now)| Some((now, then.get(id)?)));
    let all = both.flat_map(|(now, then)| {
        differing(&now.settings, &then.settings).map(move |path| {
            let (in_aws, desired) = values(path, &now.settings, &then.settings, LONGEST_IN_AWS);
            SettingInAws { resource: then.name.clone(), setting: path.clone(), desired, in_aws }
        })
    });
    all.take(NAMED_SETTINGS).collect()
}

/// The paths whose values differ.
fn differing<'f>(before: &'f Fields, after: &'f Fields) -> impl Iterator<Item = &'f String> {
    let mut paths: Vec<&String> = before.keys().chain(after.keys()).collect();
    paths.sort();
    paths.dedup();
    paths.into_iter().filter(|path| before.get(*path) != after.get(*path))
}

/// The values of a field in both states, as they are shown.
fn values(path: &str, before: &Fields, after: &Fields, longest: usize) -> (Option<String>, Option<String>) {
    if HIDDEN.iter().any(|hidden| path.ends_with(hidden)) {
        let hidden = |fields: &Fields, text: &str| fields.get(path).map(|_| Value::from(text).to_string());
        return (hidden(before, NOT_SHOWN), hidden(after, "another one, which is not shown"));
    }
    let shown = |fields: &Fields| fields.get(path).map(|value| shown(value, longest));
    (shown(before), shown(after))
}

fn shown(value: &str, longest: usize) -> String {
    if value.chars().count() <= longest {
        return value.to_owned();
    }
    let beginning: String = value.chars().take(longest).collect();
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
        let (before, after) = (Some("\"not shown\""), Some("\"another one, which is not shown\""));
        assert_eq!((changes[0].from.as_deref(), changes[0].to.as_deref()), (before, after));
        let none = fields(&json!({}));
        let added = &differences(&none, &of("hash"))[0];
        assert_eq!((added.from.as_deref(), added.to.as_deref()), (None, after));
        let removed = &differences(&of("hush"), &none)[0];
        assert_eq!((removed.from.as_deref(), removed.to.as_deref()), (before, None));
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

    fn resources(all: &[(&str, Value)]) -> Resources {
        by_name(all.iter().map(|(name, settings)| ((*name).to_owned(), fields(settings))))
    }

    #[test]
    fn what_aws_has_otherwise_is_shown_and_what_is_created_or_deleted_is_not() {
        let now = resources(&[
            ("group", json!({ "max": 9, "suspended": ["Launch"], "tags": { "a": "by hand" } })),
            ("deleted", json!({ "a": 1 })),
            ("same", json!({ "a": 1 })),
        ]);
        let then = resources(&[
            ("created", json!({ "a": 1 })),
            ("group", json!({ "max": 5, "suspended": ["Launch"], "tags": { "a": "b", "c": "d" } })),
            ("same", json!({ "a": 1 })),
        ]);
        let differing = in_aws(&now, &then);
        let shown = differing.iter().map(|it| {
            (it.resource.as_str(), it.setting.as_str(), it.desired.as_deref(), it.in_aws.as_deref())
        });
        let expected = [
            ("group", "max", Some("5"), Some("9")),
            ("group", "tags.a", Some("\"b\""), Some("\"by hand\"")),
            ("group", "tags.c", Some("\"d\""), None),
        ];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    /// Whoever may create one fills the status with what others wrote: it stays far below what etcd takes.
    #[test]
    fn settings_in_aws_are_bounded_and_hide_what_may_be_secret() {
        let of = |value: &str| {
            let tags: Map<String, Value> =
                (0..300).map(|n| (format!("tag-{n}"), json!(value.repeat(2_000)))).collect();
            let secrets = json!({
                "launch_template": { "user_data_and_tags": value },
                "settings": { "configuration": value },
            });
            resources(&[("a", secrets), ("b", json!({ "tags": tags }))])
        };
        let differing = in_aws(&of("hush"), &of("hash"));
        assert_eq!(differing.len(), NAMED_SETTINGS);
        for hidden in &differing[..2] {
            let values = (hidden.in_aws.as_deref(), hidden.desired.as_deref());
            assert_eq!(values, (Some("\"not shown\""), Some("\"another one, which is not shown\"")));
        }
        let bytes = serde_json::to_string(&differing).unwrap().len();
        assert!(bytes < 200_000, "{bytes}");
    }
}
