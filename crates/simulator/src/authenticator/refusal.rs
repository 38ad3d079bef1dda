//! Why tokens are refused.

use crate::core::error::AwsError;
use thiserror::Error;

/// Why a token is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TokenRefusal {
    /// It is not what the authenticator sends to STS.
    #[error("input token was not properly formatted: {0}")]
    Format(String),
    /// STS refuses the request that it is: another cluster was signed, the key is unknown, the time is over.
    #[error("sts getCallerIdentity failed: error from AWS (expected 200, got {}). Body: {}: {}", .0.status, .0.code, .0.message)]
    Sts(AwsError),
    /// No access entry is for this principal.
    #[error("{0} is not mapped")]
    NotMapped(String),
    /// The region has no cluster of this name.
    #[error("there is no cluster {0}")]
    NoCluster(String),
}
