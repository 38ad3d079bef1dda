//! Amazon EKS: what it knows of clusters, add-ons, access entries, pod identity associations and updates.
//!
//! [`cluster`] has the state; what callers send is in the types of `foo_model::eks`; [`step`] names what EKS does a while
//! after a call. The calls and the steps are in [`rules::eks`](crate::core::rules::eks). No control plane runs: the
//! endpoint is a name until a test bed says which server runs.

pub(in crate::core) mod addon_catalogue;
pub mod cluster;
pub mod identities;
pub(in crate::core) mod mishap;
pub(in crate::core) mod policies;
pub(in crate::core) mod principals;
pub(in crate::core) mod refusal;
pub(in crate::core) mod schema;
pub(in crate::core) mod settings;
pub(in crate::core) mod state;
pub(crate) mod step;
mod tokens;
pub mod versions;

pub use addon_catalogue::{Addon as AddonInfo, CATALOGUE as ADDONS, Release};
pub use mishap::{EksMishap, MishapOf};
pub use policies::ACCESS_POLICIES;
pub use policies::policy_arn;
pub use principals::{Principal, Principals};
pub use settings::{EksSettings, Nodes};
pub use state::Eks;
