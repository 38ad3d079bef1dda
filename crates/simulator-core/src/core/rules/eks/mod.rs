//! Amazon EKS: one file per kind of call; [`later`] has what EKS does a while after a call, and [`mishaps`] what a test
//! causes.

mod access;
mod addons;
mod config;
mod create;
mod delete;
mod entries;
mod identity_provider;
mod insights;
mod later;
mod lookups;
mod mishaps;
mod place;
mod pods;
mod tags;
mod updates;
mod version_update;

pub use access::{AccessMapping, KubernetesIdentity};
pub use config::log_setup;
pub use insights::{Insight, InsightsFilter};
pub use pods::PodSession;
