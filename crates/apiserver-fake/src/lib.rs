//! A Kubernetes API server in memory, with faults on demand, and a stand-in for Cluster API core.
//!
//! For tests of controllers that use `kube`: [`FakeApiServer`] is the service behind a `kube::Client`, so watchers,
//! reflectors and controllers run on it unchanged, in milliseconds and on a paused clock. What a controller relies on
//! (resourceVersions, server-side apply with owners of fields, status as a subresource, generations, finalizers,
//! watches with bookmarks and 410, pruning and defaults of CRD schemas) follows the real server, and is compared with
//! one by `tests/suite/differential.rs` (last with kube-apiserver 1.36.3). Not there: admission, CEL, RBAC, quotas,
//! conversion between versions, namespaces' life, YAML and protobuf bodies (but what YAML refuses in an applied object
//! is refused).

mod cluster_api;
mod direct;
mod failure;
mod faults;
mod fields;
mod interference;
mod json;
mod kinds;
mod log;
mod ownership;
mod request;
mod rules;
mod schema;
mod selectors;
mod serve;
mod server;
mod store;
mod typed;
mod watch;
mod wire;

pub use cluster_api::{CoreBuilder, DrainOutcome, DrainRecord, DrainTime, FakeCore, NodeState, SkipReason};
pub use direct::Object;
pub use failure::ApiError;
pub use faults::{Fault, Injected};
pub use log::{Ending, Recorded, Requests};
pub use request::Verb;
pub use server::{FakeApiServer, Hold, Watches};
pub use wire::ResponseBody;
