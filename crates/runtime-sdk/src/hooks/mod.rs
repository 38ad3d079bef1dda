//! The hooks of Cluster API v1.14 and their requests and responses.
//!
//! A hook is a unit value that is also a type ([`BeforeClusterCreate`]): it stands for its name, its request, its
//! response, and what a handler of it responds. Requests and responses read and write exactly what upstream's Go types
//! do, which a test of this project compares for every hook; fields that are unknown here pass through.
//!
//! | Hook | When core calls it | May block |
//! |---|---|---|
//! | [`Discovery`] | when the ExtensionConfig is reconciled; served by this crate | no |
//! | [`BeforeClusterCreate`] | before the topology of a Cluster is created | yes |
//! | [`AfterControlPlaneInitialized`] | when the control plane is reachable for the first time | no |
//! | [`BeforeClusterUpgrade`] | before an upgrade begins | yes |
//! | [`BeforeControlPlaneUpgrade`], [`AfterControlPlaneUpgrade`] | around each step of the control plane | yes |
//! | [`BeforeWorkersUpgrade`], [`AfterWorkersUpgrade`] | around each step of the workers | yes |
//! | [`AfterClusterUpgrade`] | when everything runs the new version | yes: the next upgrade |
//! | [`BeforeClusterDelete`] | when a Cluster is being deleted, before anything of it is | yes |
//! | [`DiscoverVariables`] | when a ClusterClass is reconciled | no |
//! | [`GeneratePatches`], [`ValidateTopology`] | at every computation of a topology | no |
//! | [`GenerateUpgradePlan`] | while a Cluster has not reached its version, if its ClusterClass names the handler | no |
//! | [`CanUpdateMachine`], [`CanUpdateMachineSet`], [`UpdateMachine`] | in-place updates, behind a feature gate | `UpdateMachine` |
//!
//! What happens when a handler fails: with failure policy `Fail` core stops there, reports it in a condition of the
//! object and tries again with back-off; with `Ignore` it continues if the extension did not respond. A response with
//! status `Failure` is never ignored. Source: The Cluster API Book, "Implementing Runtime Extensions".

mod common;
mod discovery;
mod in_place;
mod lifecycle;
mod topology;
mod upgrade_plan;

pub use common::{FailurePolicy, Patch, PatchType, ResponseStatus, TypeMeta};
pub use discovery::{Discovery, DiscoveryRequest, DiscoveryResponse, ExtensionHandler, GroupVersionHook};
pub use in_place::*;
pub use lifecycle::*;
pub use topology::*;
pub use upgrade_plan::*;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Group and version of all hooks that exist.
pub const GROUP_VERSION: &str = "hooks.runtime.cluster.x-k8s.io/v1alpha1";

/// A hook of Cluster API.
pub trait Hook: Copy + Send + Sync + 'static {
    /// Name, as in the catalogue of core.
    const NAME: &'static str;
    /// Whether a response may ask core to wait and call again.
    const BLOCKING: bool;
    /// What core sends.
    type Request: Request;
    /// What core reads.
    type Response: Response;
    /// What a handler returns when it succeeds.
    type Output: Send + 'static;

    /// The response with this output.
    fn respond(output: Self::Output) -> Self::Response;
}

/// What all requests have.
pub trait Request: Serialize + DeserializeOwned + std::fmt::Debug + Send + Sync + 'static {
    /// The kind and the version of the request.
    fn type_meta(&self) -> &TypeMeta;
}

/// What all responses have.
pub trait Response: Serialize + DeserializeOwned + std::fmt::Debug + Default + Send + 'static {
    /// Sets success or failure, and why.
    fn set_status(&mut self, status: ResponseStatus, message: String);
    /// What was reported.
    fn status(&self) -> (ResponseStatus, &str);
    /// Names the kind: `<hook>Response` of [`GROUP_VERSION`].
    fn set_type(&mut self, hook: &str);
    /// After how many seconds core shall call again; 0: not at all.
    fn retry_after_seconds(&self) -> i32;
}

/// Name of a hook, and whether it may block: one row of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Name.
    pub name: &'static str,
    /// Whether it may block.
    pub blocking: bool,
}

const fn row<H: Hook>() -> Row {
    Row { name: H::NAME, blocking: H::BLOCKING }
}

/// Every hook of Cluster API v1.14.
pub const CATALOGUE: [Row; 17] = [
    row::<Discovery>(),
    row::<BeforeClusterCreate>(),
    row::<AfterControlPlaneInitialized>(),
    row::<BeforeClusterUpgrade>(),
    row::<BeforeControlPlaneUpgrade>(),
    row::<AfterControlPlaneUpgrade>(),
    row::<BeforeWorkersUpgrade>(),
    row::<AfterWorkersUpgrade>(),
    row::<AfterClusterUpgrade>(),
    row::<BeforeClusterDelete>(),
    row::<GeneratePatches>(),
    row::<ValidateTopology>(),
    row::<DiscoverVariables>(),
    row::<GenerateUpgradePlan>(),
    row::<CanUpdateMachine>(),
    row::<CanUpdateMachineSet>(),
    row::<UpdateMachine>(),
];

/// The path at which core calls a handler: group, version, hook and handler in lower case.
///
/// Discovery has no handler's name in its path.
pub fn path(hook: &str, handler: Option<&str>) -> String {
    let hook = hook.to_ascii_lowercase();
    match handler {
        None => format!("/{GROUP_VERSION}/{hook}"),
        Some(handler) => format!("/{GROUP_VERSION}/{hook}/{}", handler.to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_that_core_calls() {
        assert_eq!(path("Discovery", None), "/hooks.runtime.cluster.x-k8s.io/v1alpha1/discovery");
        assert_eq!(
            path("BeforeClusterCreate", Some("quota")),
            "/hooks.runtime.cluster.x-k8s.io/v1alpha1/beforeclustercreate/quota"
        );
    }
}
