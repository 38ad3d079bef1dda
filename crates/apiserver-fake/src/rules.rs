//! What each write is checked against and cut down to before it reaches the store.

use crate::failure::{self, ApiError};
use crate::json::{copy, object, set, take, text};
use crate::kinds::Kind;
use crate::schema;
use base64::Engine;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Part of an object a write may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All but the status, if that is a subresource.
    Main,
    /// The status alone.
    Status,
}

/// The object without managedFields, which are kept apart.
pub(crate) fn bare(object: &Value) -> Value {
    let mut object = object.clone();
    take(&mut object, &["metadata", "managedFields"]);
    object
}

/// What `metadata.generation` counts changes of: all but metadata and, where it is a subresource, the status.
pub(crate) fn target<'a>(kind: &Kind, object: &'a Value) -> BTreeMap<&'a str, &'a Value> {
    let fields = object.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value));
    fields.filter(|(name, _)| *name != "metadata" && !(kind.status && *name == "status")).collect()
}

/// apiVersion and kind must be those of the path; built-in kinds may leave them out.
pub(crate) fn check_types(kind: &Kind, body: &mut Value) -> Result<(), ApiError> {
    if !body.is_object() {
        return Err(failure::bad_request("the body of the request is not an object"));
    }
    for (field, wanted) in [("apiVersion", kind.api_version()), ("kind", kind.kind.clone())] {
        match text(body, &[field]) {
            Some(found) if found == wanted => {}
            None if kind.built_in => set(body, &[field], json!(wanted)),
            None => return Err(failure::bad_request(format!("Object '{field}' is missing in the request"))),
            Some(found) => {
                return Err(failure::bad_request(format!(
                    "the {field} in the data ({found}) does not match the expected one ({wanted})"
                )));
            }
        }
    }
    Ok(())
}

/// A name must be a DNS subdomain.
pub(crate) fn check_name(kind: &Kind, name: &str) -> Result<(), ApiError> {
    let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let good = name.len() <= 253
        && edge(name.chars().next())
        && edge(name.chars().last())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.'));
    if good {
        return Ok(());
    }
    let fault =
        format!("metadata.name: Invalid value: \"{name}\": a lowercase RFC 1123 subdomain is required");
    Err(failure::invalid(kind, name, &[fault]))
}

/// A uid in a write is a precondition.
pub(crate) fn check_uid(kind: &Kind, name: &str, wanted: Option<&str>, live: &Value) -> Result<(), ApiError> {
    let found = text(live, &["metadata", "uid"]).unwrap_or_default();
    match wanted.filter(|wanted| !wanted.is_empty() && *wanted != found) {
        None => Ok(()),
        Some(wanted) => {
            let why =
                format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}");
            Err(failure::conflict(kind, name, &why))
        }
    }
}

/// A uid in a patch cannot be another one.
pub(crate) fn check_same_uid(
    kind: &Kind,
    name: &str,
    wanted: Option<&str>,
    live: &Value,
) -> Result<(), ApiError> {
    match wanted.filter(|wanted| !wanted.is_empty() && Some(*wanted) != text(live, &["metadata", "uid"])) {
        None => Ok(()),
        Some(wanted) => {
            let fault = format!("metadata.uid: Invalid value: \"{wanted}\": field is immutable");
            Err(failure::invalid(kind, name, &[fault]))
        }
    }
}

/// The part of a written object that the path allows to write; the rest as it is.
pub(crate) fn limit_to(part: Part, kind: &Kind, body: Value, live: &Value) -> Value {
    match part {
        Part::Main => {
            let mut new = body;
            take(&mut new, &["metadata", "managedFields"]);
            if kind.status {
                copy(&mut new, live, &["status"]);
            }
            new
        }
        Part::Status => {
            let mut new = live.clone();
            copy(&mut new, &body, &["status"]);
            new
        }
    }
}

/// The same for what is applied: what the path does not write is not owned through it either.
pub(crate) fn limit_apply(part: Part, kind: &Kind, mut body: Value) -> Value {
    match part {
        Part::Main => {
            if kind.status {
                take(&mut body, &["status"]);
            }
        }
        Part::Status => {
            object(&mut body).retain(|name, _| matches!(name.as_str(), "apiVersion" | "kind" | "status"));
        }
    }
    body
}

/// What only the server writes stays as it is.
pub(crate) fn keep_system_fields(new: &mut Value, live: &Value) {
    for name in [
        "name",
        "namespace",
        "generateName",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        copy(new, live, &["metadata", name]);
    }
}

/// Pruning, defaults and validation by the schema; a Secret's `stringData` becomes `data`.
pub(crate) fn admit(kind: &Kind, name: &str, body: &mut Value) -> Result<(), ApiError> {
    if let Some(Value::Object(metadata)) = body.get_mut("metadata") {
        metadata.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
        metadata.retain(|_, value| value.as_object().is_none_or(|map| !map.is_empty()));
    }
    if kind.built_in && kind.kind == "Secret" {
        for (key, value) in
            take(body, &["stringData"]).as_ref().and_then(Value::as_object).into_iter().flatten()
        {
            let encoded =
                base64::engine::general_purpose::STANDARD.encode(value.as_str().unwrap_or_default());
            set(body, &["data", key], json!(encoded));
        }
        if text(body, &["type"]).is_none() {
            set(body, &["type"], json!("Opaque"));
        }
    }
    schema::tidy(body, &kind.schema);
    let faults = schema::faults(body, &kind.schema);
    if faults.is_empty() { Ok(()) } else { Err(failure::invalid(kind, name, &faults)) }
}
