//! Discovery: which handlers there are. Served by [`crate::Extension`]; it needs no handler.

use super::common::{request, response};
use super::{FailurePolicy, Hook};
use serde::{Deserialize, Serialize};

/// Core asks which handlers an extension has, whenever it reconciles the ExtensionConfig.
#[derive(Clone, Copy, Debug)]
pub struct Discovery;

request! {
    /// Request of [`Discovery`].
    DiscoveryRequest {}
}

response! {
    /// Response of [`Discovery`].
    DiscoveryResponse {
        /// The handlers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        handlers: Vec<ExtensionHandler>,
    }
}

/// One handler of an extension.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExtensionHandler {
    /// Name, a DNS label. Core registers it as `<name>.<name of the ExtensionConfig>`.
    pub name: String,
    /// The hook it serves.
    pub request_hook: GroupVersionHook,
    /// Core times out after this many seconds, 0 to 30; absent: 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<i32>,
    /// What core does when it cannot be called; absent: `Fail`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_policy: Option<FailurePolicy>,
}

/// A hook and its version.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupVersionHook {
    /// Group and version.
    pub api_version: String,
    /// Name.
    pub hook: String,
}

impl Hook for Discovery {
    const NAME: &'static str = "Discovery";
    const BLOCKING: bool = false;
    type Request = DiscoveryRequest;
    type Response = DiscoveryResponse;
    type Output = Vec<ExtensionHandler>;

    fn respond(handlers: Vec<ExtensionHandler>) -> DiscoveryResponse {
        DiscoveryResponse { handlers, ..DiscoveryResponse::default() }
    }
}
