//! Rules that tests set for what goes wrong in networks.

use foo_model::Zone;
use serde::{Deserialize, Serialize};

/// A rule for future NAT gateways: of those that match, `skip` become available, then `times` fail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NatMishap {
    /// The zone; any if absent.
    #[serde(default)]
    pub zone: Option<Zone>,
    /// How many become available first.
    #[serde(default)]
    pub skip: u32,
    /// How many fail; all further ones if absent.
    #[serde(default)]
    pub times: Option<u32>,
    /// Code of the failure (`InternalError`).
    pub code: String,
    /// AWS's message for it.
    pub message: String,
}

/// Future interface endpoints that fail instead of becoming available.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EndpointMishap {
    /// How many.
    pub times: u32,
    /// Code and message of the failure, as the adapter writes them (`Other: there is no room`).
    pub failure: String,
}
