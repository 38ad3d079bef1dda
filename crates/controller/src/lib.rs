//! The manager: watches, gather, observe, plan, execute, publish.
//!
//! Files at the top level contain what all controllers share, one question per file; each controller is a
//! folder. Start with [`run`], which connects everything in start order.
//!
//! No decision about a pool is made here (`foo_planner` does that), and only [`run`] names the cloud that
//! uses the AWS SDK.

pub mod admin;
pub mod announcements;
pub mod apply;
pub mod args;
#[cfg(feature = "aws")]
pub mod aws;
pub mod backoff;
mod calls;
pub mod census;
pub mod client;
pub mod clock;
pub mod clouds;
pub mod cluster;
pub mod context;
pub mod control_plane;
pub mod credentials;
pub mod debug;
pub mod diagnostics;
pub mod events;
mod expiry;
pub mod harness;
pub mod identities;
mod installation;
mod kubeconfig;
pub mod labels;
mod lanes;
pub mod leader;
pub mod liveness;
pub mod lookup;
pub mod metrics;
pub mod node_config;
mod owners;
pub mod passes;
pub mod pool;
pub mod pulses;
pub mod queue;
pub mod readiness;
pub mod run;
pub mod tasks;
pub mod telemetry;
pub mod unmanaged_groups;
pub mod watch;
mod workload_name;

pub use context::Context;
