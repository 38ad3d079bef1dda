//! Cluster API's Runtime SDK for Rust: what a runtime extension needs, and nothing else.
//!
//! Cluster API core calls *hooks* of *runtime extensions* at points of a Cluster's life: before it is created, before
//! its workers are upgraded, whenever its topology is computed. A runtime extension is an HTTPS server that is
//! registered by an `ExtensionConfig`. This crate has the types of all hooks, a way to write one async function for
//! each, and the server.
//!
//! ```no_run
//! use foo_runtime_sdk::hooks::{BeforeClusterCreate, BeforeClusterCreateRequest};
//! use foo_runtime_sdk::{Decision, Extension, Failure, Handler};
//!
//! async fn quota(request: BeforeClusterCreateRequest) -> Result<Decision, Failure> {
//!     let workers = request.cluster.at("/spec/topology/workers/machinePools").and_then(|pools| pools.as_array());
//!     match workers.map_or(0, Vec::len) {
//!         0..=10 => Ok(Decision::Proceed),
//!         _ => Err(Failure::new("a Cluster has at most 10 pools here")),
//!     }
//! }
//!
//! # fn main() -> Result<(), foo_runtime_sdk::InvalidExtension> {
//! let extension = Extension::new([Handler::new(BeforeClusterCreate, "quota", quota)])?;
//! # Ok(()) }
//! ```
//!
//! Then [`Server`](server::Server) serves it. `examples/minimal.rs` is a whole extension in under 50 lines.
//!
//! # What the crate takes care of
//!
//! * **Discovery** lists what was registered, so it cannot name a handler that is not there.
//! * **Paths, names, time-outs and failure policies** follow Cluster API's rules; [`Extension::new`] refuses what core
//!   would refuse.
//! * **Deadlines**: a handler that takes too long gets a response a little before core times out (see [`dispatch`]).
//! * **Panics** end one call, never the server.
//! * **Bodies** are bounded, each and all together ([`server::ROOM`]), certificates are read again when their files
//!   change, and a shutdown completes what is under way.
//!
//! # Responses have to be the same for the same request
//!
//! Core shows messages in conditions of the Cluster and reconciles when those change. A message with a time, a request
//! id or a counter causes core to call again, for ever. So handlers return data and short sentences; what changes from
//! call to call belongs into logs, which this crate writes. [`testing::assert_deterministic`] checks a handler.
//!
//! # What is not here
//!
//! No Kubernetes client: an extension that reads objects brings its own. No types of Cluster API's objects:
//! [`Object`] is raw until [`Object::decode`] is asked for a type.
//!
//! Rules are those of Cluster API v1.14: group [`hooks::GROUP_VERSION`], registered by `ExtensionConfig` of
//! `runtime.cluster.x-k8s.io/v1beta2`. Source: The Cluster API Book, "Runtime SDK".
//!
//! # Modules
//!
//! [`hooks`] has typed requests and responses, one unit type per hook; `extension` handlers and discovery; [`dispatch`]
//! one call; `patch` and `variables` what topology hooks return; `settings` what an ExtensionConfig sets; [`server`]
//! TLS and limits. It depends on no other crate of this repository (docs/decisions/0016-runtime-sdk.md).
//! `tests/contract/tests/runtime_sdk.rs` compares every type with upstream's; `tests/e2e/tests/runtime.rs` has core
//! call it. For authors: docs/extensions/authors.md.

mod about;
mod decision;
mod decode;
pub mod dispatch;
mod extension;
pub mod hooks;
pub mod metrics;
mod object;
pub mod patch;
pub mod server;
mod settings;
pub mod testing;
pub mod variables;

pub use decision::Decision;
pub use extension::{Extension, Failure, Handler, InvalidExtension, MAX_TIMEOUT_SECONDS};
pub use object::{DecodeError, Object, Selector};
pub use settings::{Settings, SettingsError};
