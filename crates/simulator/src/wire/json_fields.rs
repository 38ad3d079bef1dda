//! Parameters in JSON bodies.

use crate::core::error::{AwsError, AwsResult};
use serde_json::Value;

/// A text.
pub(in crate::wire) fn text<'a>(body: &'a Value, name: &str) -> AwsResult<Option<&'a str>> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(AwsError::new("SerializationException", format!("{name} must be a text."))),
    }
}

/// A required text that is not empty.
pub(in crate::wire) fn required<'a>(body: &'a Value, name: &str) -> AwsResult<&'a str> {
    text(body, name)?.filter(|text| !text.is_empty()).ok_or_else(|| AwsError::missing(name))
}

/// A whole number within limits.
pub(in crate::wire) fn number(body: &Value, name: &str, least: u64, most: u64) -> AwsResult<Option<u64>> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_u64().filter(|number| (least..=most).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(AwsError::invalid_value(format!(
                "Value {value} for parameter {name} is invalid. Reason: Must be between {least} and {most}, if provided."
            ))),
        },
    }
}

/// A list of texts.
pub(in crate::wire) fn texts<'a>(body: &'a Value, name: &str) -> AwsResult<Vec<&'a str>> {
    let wrong = || AwsError::new("SerializationException", format!("{name} must be a list of texts."));
    match body.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items.iter().map(|item| item.as_str().ok_or_else(wrong)).collect(),
        Some(_) => Err(wrong()),
    }
}

/// A boolean.
pub(in crate::wire) fn flag(body: &Value, name: &str) -> AwsResult<Option<bool>> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(AwsError::new("SerializationException", format!("{name} must be a boolean."))),
    }
}
