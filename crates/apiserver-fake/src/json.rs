//! Small steps in untyped JSON: reading and writing by path.

use serde_json::{Map, Value};

/// The value under a path of object keys.
pub(crate) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// The text under a path of object keys.
pub(crate) fn text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path).and_then(Value::as_str)
}

/// The object `value` is, made one if it is something else.
#[expect(clippy::expect_used, reason = "the value becomes an object one line above")]
pub(crate) fn object(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    value.as_object_mut().expect("an object")
}

/// Writes a value under a path of object keys, making objects on the way.
pub(crate) fn set(value: &mut Value, path: &[&str], new: Value) {
    match path.split_first() {
        None => *value = new,
        Some((key, rest)) => {
            set(object(value).entry((*key).to_owned()).or_insert(Value::Null), rest, new);
        }
    }
}

/// Removes what is under a path of object keys.
pub(crate) fn take(value: &mut Value, path: &[&str]) -> Option<Value> {
    let (last, parents) = path.split_last()?;
    let parent = parents.iter().try_fold(value, |value, key| value.get_mut(key))?;
    parent.as_object_mut()?.remove(*last)
}

/// Copies what `source` has under the path to `target`; removes it if the source has nothing there.
pub(crate) fn copy(target: &mut Value, source: &Value, path: &[&str]) {
    match at(source, path) {
        Some(found) => set(target, path, found.clone()),
        None => drop(take(target, path)),
    }
}

/// The texts of a list under a path.
pub(crate) fn texts<'a>(value: &'a Value, path: &[&str]) -> Vec<&'a str> {
    at(value, path)
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}
