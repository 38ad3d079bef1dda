//! The provider's own runtime extension, binary `foo-extension`: variables and patches of topologies, what AWS would refuse
//! of them, upgrade plans, and waits on the way.
//!
//! * [`extension`]: the handlers, each with its name and deadline;
//! * [`settings`]: what an ExtensionConfig or a ClusterClass may set;
//! * [`variables`]: variables of topologies, whose schemas are cut from our CRDs;
//! * [`patches`]: templates with the values of the variables;
//! * [`upgrade`]: upgrade plans.
//!
//! There is no Kubernetes client here: requests carry all that is known of a Cluster.

pub mod args;
pub mod extension;
mod patches;
pub mod settings;
mod upgrade;
pub mod variables;
mod versions;

pub use extension::extension;
