//! The simulated AWS of `foo-simulator-core` over the AWS wire protocol.
//!
//! * `server`: one listener for AWS's protocols and for the control API.
//! * `wire`: AWS's query protocols, so that any SDK can talk to it; `request` has what it reads.
//! * `asks`: the permissions that a call needs.
//! * `control`: reads and changes of all state as JSON over HTTP, under `/_sim/`.
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
//! A request arrives in `server`, is read by `wire`, and changes state in [`core`]. Users read docs/simulator.md. No state is
//! here and no rule of AWS about resources.
//!
//! A new action is in the service's file in `wire/` and its table `ACTIONS`, with its resources in
//! `asks/` (networks: `asks/networks.rs`), a step in `tests/conformance/python`, where every action must be
//! called, and docs/simulator.md.

mod asks;
mod control;
mod handle;
mod page;
mod request;
mod server;
mod wire;

#[cfg(test)]
mod tests;

use foo_simulator_core::{config, faults, iam, service, signing, simulator, throttle, world};

pub use foo_simulator_core::core;
pub use foo_simulator_core::{
    AccessKey, AccessMapping, BucketSize, CallCount, CallRecord, DEFAULT_ACCOUNT, DEFAULT_REGION,
    Ec2Throttling, Effect, Fault, FaultRule, InstanceProfile, NodeInstance, NotAProbability, OneOrMany,
    Operator, Pace, Policy, Probability, RegionHandle, Role, SNAPSHOT_LIMIT, STEPPED_START, Service,
    SigningKey, SimCloud, SimQueue, Simulator, SimulatorConfig, SnapshotError, Statement, Throttling,
    WebIdentityTrust, plain_content,
};
pub use handle::{EksEndpoint, Handle};
