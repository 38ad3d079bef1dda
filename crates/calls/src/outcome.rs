//! What became of a call.

use foo_model::Reason;
use serde::{Deserialize, Serialize};

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome<R> {
    /// It was carried out, with this response.
    Done(R),
    /// AWS refused it, or it never reached AWS; nothing was carried out.
    Refused(Refusal),
    /// It may or may not have been carried out: the response was lost, or AWS failed on its side.
    Lost(Refusal),
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Its class.
    pub reason: Reason,
    /// AWS's error code, if the response had one.
    pub code: Option<String>,
    /// AWS's words, without what differs from one failure to the next.
    pub message: String,
}

impl Refusal {
    /// There was no response.
    pub(crate) fn no_response() -> Self {
        Self { reason: Reason::ResponseLost, code: None, message: "the response was lost".to_owned() }
    }
}
