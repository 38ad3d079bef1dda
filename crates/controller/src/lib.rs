//! The manager: watches, gather, observe, plan, execute, publish.
//!
//! Files at the top level contain what all controllers share, one question per file; each controller is a
//! folder. Start with [`run`], which connects everything in start order.
//!
//! Nothing about a pool is decided here (`foo_planner` does that), and only the file `aws.rs` names the crate that
//! links the AWS SDK.
//!
//! Folders of controllers: `pool`, `cluster` (with `managed`: networks), `control_plane` (mode external; `eks`: mode
//! eks), `node_config`, `identity`. How to add one: `harness/mod.rs`. At the top level:
//!
//! | Files | About |
//! |---|---|
//! | `args`, `run`, `context` | flags; start order; what every controller is given |
//! | `harness`, `passes`, `queue`, `lanes`, `backoff`, `tasks` | passes: deadlines, order, room per account, pauses; other tasks |
//! | `watch` (with `filled`, `received`, `pulses` and `versions`), `client` (with `overload`), `apply`, `events`, `workload_name` | Kubernetes: caches, requests, writes, events |
//! | `clouds`, `credentials`, `identities`, `aws`, `lookup` | AWS: connections, credentials, references in specs |
//! | `calls` | the passes of domains that are made of AWS calls: a new one is a `Driver` there |
//! | `announcements` | events of AWS, through a queue |
//! | `leader`, `installation`, `owners` | who leads; which management cluster this is; which ownerReferences are believed |
//! | `clock`, `clock_warnings`, `maintenance` | times of the API server and of AWS, and which clock differs; when maintenance windows are open |
//! | `warnings` | warnings in the message of `Ready` |
//! | `kubeconfig`, `expiry` | credentials of workload clusters |
//! | `metrics`, `labels`, `census`, `unmanaged_groups`, `telemetry`, `debug`, `diagnostics`, `admin`, `readiness`, `liveness` | what operators see |
//!
//! The leader election has a client, a connection and a thread of its own. The file
//! `aws.rs` is behind the default feature `aws`; without it the tests do not link the SDK.

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
mod clock_warnings;
pub mod clouds;
pub mod cluster;
pub mod context;
pub mod control_plane;
pub mod credentials;
pub mod debug;
pub mod diagnostics;
pub mod events;
mod expiry;
mod filled;
pub mod harness;
pub mod identities;
pub mod identity;
mod installation;
mod kubeconfig;
pub mod labels;
mod lanes;
pub mod leader;
pub mod liveness;
pub mod lookup;
mod maintenance;
pub mod metrics;
pub mod node_config;
mod overload;
mod owners;
pub mod passes;
pub mod plans;
pub mod pool;
pub mod pulses;
pub mod queue;
pub mod readiness;
mod received;
pub mod responders;
pub mod run;
pub mod tasks;
pub mod telemetry;
pub mod unmanaged_groups;
mod versions;
mod warnings;
pub mod watch;
mod workload_name;

pub use context::Context;
