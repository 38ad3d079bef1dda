//! Results of requests to the control API, and the parsing of their bodies.

use crate::core::error::AwsResult;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Why a request cannot be answered.
pub(super) enum Refusal {
    NotFound,
    Bad(String),
}

/// The result of a request.
pub(super) type Outcome = Result<Value, Refusal>;

pub(super) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|error| Refusal::Bad(error.to_string()))
}

pub(super) fn value_of(value: impl serde::Serialize) -> Outcome {
    serde_json::to_value(value).map_err(|error| Refusal::Bad(error.to_string()))
}

pub(super) fn removed(was_there: bool) -> Outcome {
    if was_there { Ok(json!({})) } else { Err(Refusal::NotFound) }
}

pub(super) fn done(result: AwsResult<()>) -> Outcome {
    result.map(|()| json!({})).map_err(|error| Refusal::Bad(error.to_string()))
}
