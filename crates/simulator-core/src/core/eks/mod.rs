//! Amazon EKS: clusters with their updates, add-ons, access entries, pod identity associations and insights.
//!
//! [`cluster`] has what EKS knows; what callers send is in the types of `foo_model::eks`. One file per kind of call;
//! [`step`] has what EKS does a while after a call, and [`mishaps`] what a test causes. No control plane runs: the
//! endpoint is a name until a test bed says which server runs.

mod access;
mod addon_catalogue;
mod addons;
pub mod cluster;
mod config;
mod create;
mod delete;
mod entries;
pub mod identities;
mod insights;
mod later;
mod lookups;
pub mod mishaps;
mod place;
mod pods;
mod policies;
mod principals;
mod refusal;
mod rules;
mod schema;
mod settings;
mod state;
pub(crate) mod step;
mod tags;
mod tokens;
mod updates;
mod version_update;
pub mod versions;

pub use access::{AccessMapping, KubernetesIdentity};
pub use addon_catalogue::{Addon as AddonInfo, CATALOGUE as ADDONS, Release};
pub use config::log_setup;
pub use insights::{Insight, InsightsFilter};
pub use pods::PodSession;
pub use policies::ACCESS_POLICIES;
pub use policies::policy_arn;
pub use principals::{Principal, Principals};
pub use rules::EksMishap;
pub use settings::{EksSettings, Nodes};
pub use state::Eks;
