//! AWS's refusals: a code, a text and an HTTP status. The codes are AWS's own.

use std::fmt::Display;

/// A refusal with AWS's code and text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct AwsError {
    /// AWS's error code (`ValidationError`).
    pub code: String,
    /// AWS's text.
    pub message: String,
    /// HTTP status of the response.
    pub status: u16,
}

/// Result of an operation of the simulated AWS.
pub type AwsResult<T> = Result<T, AwsError>;

impl AwsError {
    /// A refusal with status 400, or with the status that AWS gives this code.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        let code = code.into();
        let status = status_of(&code);
        Self { code, message: message.into(), status }
    }

    /// The same with another HTTP status.
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// `ValidationError`, Auto Scaling's code for most invalid requests.
    pub fn validation(message: impl Into<String>) -> Self {
        Self::new("ValidationError", message)
    }

    /// EC2's code for a value out of range or of the wrong form.
    pub fn invalid_value(message: impl Into<String>) -> Self {
        Self::new("InvalidParameterValue", message)
    }

    /// EC2's code for a missing parameter that is required.
    pub fn missing(parameter: impl Display) -> Self {
        Self::new("MissingParameter", format!("The request must contain the parameter {parameter}"))
    }

    /// Auto Scaling's response for a group that does not exist.
    pub fn no_group(name: impl Display) -> Self {
        Self::validation(format!("AutoScalingGroup name not found - AutoScalingGroup '{name}' not found"))
    }

    /// Auto Scaling's response for an instance that is in no group.
    pub fn no_member(id: impl Display) -> Self {
        Self::validation(format!("Instance Id not found - No managed instance found for instance ID: {id}"))
    }

    /// The code for a paging token that this service did not create.
    pub fn bad_token() -> Self {
        Self::new("InvalidNextToken", "The token 'NextToken' is not valid.")
    }
}

/// The HTTP status of a code: Auto Scaling's ResourceContention is its own fault (API Reference, "Errors": 500).
fn status_of(code: &str) -> u16 {
    if code == "ResourceContention" { 500 } else { 400 }
}
