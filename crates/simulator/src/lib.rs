//! An AWS in one process: Auto Scaling and EC2 state machines on a virtual clock, served over the AWS wire protocol.
//!
//! It refuses what AWS refuses, with AWS's error codes, and takes about as long as AWS does.
//!
//! * [`core`]: the state of a region and its rules; pure, changed by calls and by time.
//! * `wire`: AWS's query protocols, so that any SDK can talk to it.
//! * [`SimCloud`]: the same core behind the `foo_cloud` traits, without SDK and HTTP.
//! * `world`: the regions behind one lock, with clock, faults, throttling and call counts.
//! * `control`: reads and changes of all of that as JSON over HTTP, under `/_sim/`.
//! * `page`: the web page at `/`.
//!
//! ```
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
//! # runtime.block_on(async {
//! use foo_simulator::{Handle, SimulatorConfig};
//!
//! let aws = Handle::start(SimulatorConfig::stepped()).await.unwrap();
//! println!("AWS_ENDPOINT_URL={}", aws.endpoint());
//! aws.step(std::time::Duration::from_secs(60));
//! assert!(aws.region("eu-central-1").in_service_instances().is_empty());
//! # });
//! ```
//!
//! A request arrives in `server`, is read by `wire`, and changes state in `core/region.rs`. Users read
//! docs/simulator.md.
//!
//! A new behaviour is in the subject's file in `core/` (groups: `core/group/`, in the order of `evaluate.rs`), with a
//! test that cites the rule and its line in docs/simulator-rules.md; where AWS is silent, it is a switch in
//! `core/settings.rs`. A new action is in the service's file in `wire/` and its table `ACTIONS`, with its resources in
//! `iam/asks.rs` (networks: `iam/networks.rs`), a step in `tests/conformance/python`, where every action must be
//! called, and docs/simulator.md.

mod calls;
mod clock;
mod config;
mod control;
pub mod core;
mod faults;
mod handle;
mod iam;
mod page;
mod presign;
mod request;
mod server;
mod service;
mod signing;
mod sim_cloud;
mod simulator;
mod snapshots;
mod throttle;
mod wire;
mod world;

#[cfg(test)]
mod tests;

pub use calls::{CallCount, CallRecord};
pub use clock::{Pace, STEPPED_START};
pub use config::{DEFAULT_ACCOUNT, DEFAULT_REGION, SimulatorConfig};
pub use core::eks::AccessMapping;
pub use core::probability::{NotAProbability, Probability};
pub use faults::{Fault, FaultRule};
pub use handle::{EksEndpoint, Handle};
pub use iam::AccessKey;
pub use iam::directory::InstanceProfile;
pub use iam::policy::{Effect, OneOrMany, Operator, Policy, Statement};
pub use iam::roles::{Role, WebIdentityTrust};
pub use presign::SigningKey;
pub use service::Service;
pub use sim_cloud::{SimCloud, SimQueue};
pub use simulator::{NodeInstance, RegionHandle, Simulator};
pub use snapshots::{SNAPSHOT_LIMIT, SnapshotError};
pub use throttle::{BucketSize, Ec2Throttling, Throttling};
