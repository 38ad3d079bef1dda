//! Results of requests to the control API, and the parsing of their bodies.

use crate::core::error::AwsResult;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Why a request fails.
pub(super) enum ControlError {
    NotFound,
    Bad(String),
}

/// The result of a request.
pub(super) type ControlResult = Result<Value, ControlError>;

pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ControlError> {
    serde_json::from_slice(body).map_err(|error| ControlError::Bad(error.to_string()))
}

pub(super) fn value_of(value: impl serde::Serialize) -> ControlResult {
    serde_json::to_value(value).map_err(|error| ControlError::Bad(error.to_string()))
}

pub(super) fn removed(was_there: bool) -> ControlResult {
    if was_there { Ok(json!({})) } else { Err(ControlError::NotFound) }
}

pub(super) fn done(result: AwsResult<()>) -> ControlResult {
    result.map(|()| json!({})).map_err(|error| ControlError::Bad(error.to_string()))
}
