//! Patches from what there is and what shall be.

use crate::Object;
use crate::hooks::{Patch, PatchType};
use serde::Serialize;
use serde_json::{Map, Value};

/// The smallest patch that turns `before` into `after`, JSON patch or merge patch; `None` when they are equal: an empty
/// patch costs core a computation and suggests a change that there was not.
///
/// # Errors
///
/// When a value cannot be written as JSON (a map whose keys are no texts).
pub fn between(before: &impl Serialize, after: &impl Serialize) -> Result<Option<Patch>, serde_json::Error> {
    between_values(&serde_json::to_value(before)?, &serde_json::to_value(after)?)
}

/// The same of two objects, without a copy of either.
///
/// # Errors
///
/// Never: they are JSON already.
pub fn between_objects(before: &Object, after: &Object) -> Result<Option<Patch>, serde_json::Error> {
    between_values(&before.0, &after.0)
}

fn between_values(before: &Value, after: &Value) -> Result<Option<Patch>, serde_json::Error> {
    if before == after {
        return Ok(None);
    }
    let operations = serde_json::to_vec(&json_patch::diff(before, after))?;
    let merge = match merge_patch(before, after) {
        Some(merge) => Some(serde_json::to_vec(&merge)?),
        None => None,
    };
    Ok(Some(match merge {
        Some(merge) if merge.len() <= operations.len() => {
            Patch { patch_type: PatchType::JSONMergePatch, patch: merge }
        }
        _ => Patch { patch_type: PatchType::JSONPatch, patch: operations },
    }))
}

/// A merge patch, if there can be one: `null` means "remove" in it, so it can neither set a null nor write an object
/// that has one; and what is no object on both sides is replaced whole.
fn merge_patch(before: &Value, after: &Value) -> Option<Value> {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        // A patch that is an object merges into an object; anything else replaces.
        return (!after.is_object() && !after.is_null()).then(|| after.clone());
    };
    let mut patch = Map::new();
    for (key, old) in before {
        match after.get(key) {
            None => {
                patch.insert(key.clone(), Value::Null);
            }
            Some(new) if new == old => {}
            Some(new) => {
                let part = match (old, new) {
                    (Value::Object(_), Value::Object(_)) => merge_patch(old, new)?,
                    _ => without_nulls(new)?,
                };
                patch.insert(key.clone(), part);
            }
        }
    }
    for (key, new) in after.iter().filter(|(key, _new)| !before.contains_key(*key)) {
        patch.insert(key.clone(), without_nulls(new)?);
    }
    Some(Value::Object(patch))
}

/// A value that a merge patch can write as it is: no null anywhere in its objects.
fn without_nulls(value: &Value) -> Option<Value> {
    fn writable(value: &Value) -> bool {
        match value {
            Value::Null => false,
            Value::Object(fields) => fields.values().all(writable),
            // Lists are replaced whole, nulls in them included.
            _ => true,
        }
    }
    writable(value).then(|| value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn applied(mut object: Value, patch: &Patch) -> Value {
        let value: Value = serde_json::from_slice(&patch.patch).unwrap();
        match patch.patch_type {
            PatchType::JSONMergePatch => json_patch::merge(&mut object, &value),
            PatchType::JSONPatch => {
                json_patch::patch(&mut object, &serde_json::from_value::<json_patch::Patch>(value).unwrap())
                    .unwrap();
            }
        }
        object
    }

    #[test]
    fn equal_objects_make_no_patch() {
        assert_eq!(between(&json!({"a": 1}), &json!({"a": 1})).unwrap(), None);
    }

    #[test]
    fn a_patch_produces_the_requested_object() {
        let objects = [
            json!({}),
            json!({"spec": {"size": 1, "tags": {"a": "b", "c": "d"}, "list": [1, 2, {"x": null}]}}),
            json!({"spec": {"size": 2, "tags": {"a": "b"}, "list": [1, 2, 3]}}),
            json!({"spec": {"size": null, "tags": null}}),
            json!({"spec": "text"}),
            json!({"spec": {"new": {"deep": {"deeper": null, "other": 1}}}}),
            json!({"spec": {"new": {"deep": {}}}, "other": {"a/b": 1, "m~n": 2}}),
            json!([1, 2]),
            json!(null),
        ];
        for before in &objects {
            for after in &objects {
                match between(before, after).unwrap() {
                    None => assert_eq!(before, after),
                    Some(patch) => {
                        assert_eq!(&applied(before.clone(), &patch), after, "{before} with {patch:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_shorter_kind_is_taken() {
        let kind = |before: &Value, after: &Value| between(before, after).unwrap().unwrap().patch_type;
        assert_eq!(
            kind(&json!({"spec": {"size": 1}}), &json!({"spec": {"size": 2}})),
            PatchType::JSONMergePatch
        );
        let long: Vec<u32> = (0..100).collect();
        let mut longer = long.clone();
        longer.push(100);
        assert_eq!(kind(&json!({"list": long}), &json!({"list": longer})), PatchType::JSONPatch);
    }

    #[test]
    fn a_null_is_set_by_operations_only() {
        let patch = between(&json!({"a": 1}), &json!({"a": null})).unwrap().unwrap();
        assert_eq!(patch.patch_type, PatchType::JSONPatch);
    }
}
