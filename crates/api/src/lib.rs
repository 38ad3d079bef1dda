//! The provider's CRD types and the few fields of Cluster API's objects that it reads.
//!
//! Types, names and small pure helpers only: no client, no async, no decisions. Validation that CEL can
//! express is here, next to the field that it belongs to; there is no webhook server.
//!
//! * `pool`, `machine`, `cluster`, `control_plane`, `node_config`, `identity`, `plan`, `templates`: the kinds, with their CEL
//!   rules. `edits.rs` has what is immutable.
//! * `shared`, `maintenance`: types that several kinds have.
//! * `capi`: what the provider reads of Cluster API's objects. `tests/contract` checks every field against the upstream
//!   CRDs.
//! * `names`, `labels`, `conditions`, `patterns` (texts that become part of a path or a host): what others rely on.
//! * `in_aws`: everything that a spec can name in AWS, and what limits it. A field without a row fails a test.
//!
//! There is no `failureReason`: Cluster API core panics on it.

#![expect(unreachable_pub, reason = "KubeSchema's derive repeats each struct inside a private scope")]
#![expect(
    clippy::duplicated_attributes,
    reason = "each printcolumn(…) has its own name, type_ and json_path; the lint takes them for repetitions"
)]

pub mod capi;
pub mod cluster;
pub mod conditions;
pub mod control_plane;
pub mod identity;
pub mod in_aws;
mod interruption;
pub mod labels;
pub mod machine;
pub mod maintenance;
pub mod names;
pub mod node_config;
pub mod patterns;
pub mod plan;
pub mod pool;
pub mod shared;
mod tags;
pub mod templates;
pub mod texts;

pub use cluster::{FooCluster, FooClusterSpec, FooClusterStatus};
pub use control_plane::{FooControlPlane, FooControlPlaneSpec, FooControlPlaneStatus};
pub use identity::{FooClusterIdentity, FooClusterIdentitySpec, FooClusterIdentityStatus};
pub use machine::{FooMachine, FooMachineSpec, FooMachineStatus};
pub use node_config::{FooNodeConfig, FooNodeConfigSpec, FooNodeConfigStatus, FooNodeConfigTemplate};
pub use plan::{FooPlan, FooPlanSpec, FooPlanStatus};
pub use pool::{FooMachinePool, FooMachinePoolSpec, FooMachinePoolStatus};
pub use templates::{
    FooClusterTemplate, FooClusterTemplateSpec, FooControlPlaneTemplate, FooControlPlaneTemplateSpec,
    FooMachinePoolTemplate, FooMachinePoolTemplateSpec,
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt;

/// All CRDs of the infrastructure, the control-plane and the bootstrap provider, in the order they are released.
pub fn crds() -> Vec<CustomResourceDefinition> {
    vec![
        FooCluster::crd(),
        FooClusterTemplate::crd(),
        FooClusterIdentity::crd(),
        FooMachine::crd(),
        FooMachinePool::crd(),
        FooMachinePoolTemplate::crd(),
        FooPlan::crd(),
        FooControlPlane::crd(),
        FooControlPlaneTemplate::crd(),
        FooNodeConfig::crd(),
        FooNodeConfigTemplate::crd(),
    ]
}
