//! Deep merges of documents, and what two documents both set.

use serde_json::{Map, Value};

/// Sets everything in `over` in `base`, objects field by field.
pub(crate) fn deep(base: &mut Map<String, Value>, over: Map<String, Value>) {
    for (name, value) in over {
        match (base.get_mut(&name), value) {
            (Some(Value::Object(base)), Value::Object(over)) => deep(base, over),
            (_, value) => {
                base.insert(name, value);
            }
        }
    }
}

/// Paths of what both set, in the order of `user`.
pub(crate) fn in_both(own: &Value, user: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(own, user, "", &mut found);
    found
}

fn walk(own: &Value, user: &Value, path: &str, found: &mut Vec<String>) {
    match (own, user) {
        (Value::Object(own), Value::Object(user)) => {
            for (name, user) in user {
                if let Some(own) = own.get(name) {
                    walk(own, user, &below(path, name), found);
                }
            }
        }
        (_, _) => found.push(path.to_owned()),
    }
}

/// Paths of what is in a document and not in what was understood of it.
pub(crate) fn not_understood(document: &Value, understood: &Value) -> Vec<String> {
    let mut found = Vec::new();
    lost(document, understood, "", &mut found);
    found
}

fn lost(document: &Value, understood: &Value, path: &str, found: &mut Vec<String>) {
    let (Value::Object(document), Value::Object(understood)) = (document, understood) else { return };
    for (name, value) in document {
        let path = below(path, name);
        match understood.get(name) {
            Some(understood) => lost(value, understood, &path, found),
            None if is_empty(value) => {}
            None => found.push(path),
        }
    }
}

/// What is empty, and therefore may be missing.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
