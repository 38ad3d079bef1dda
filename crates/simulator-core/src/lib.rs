//! A simulated AWS without its wire protocol: Auto Scaling, EC2, EKS and other state machines on a virtual clock.
//!
//! It refuses what AWS refuses, with AWS's error codes, and takes about as long as AWS does.
//!
//! * [`core`]: the state of a region and its rules; pure, changed by calls and by time.
//! * [`SimCloud`]: the core behind the `foo_cloud` traits.
//! * [`world`]: the regions behind one lock, with clock, faults, throttling and call counts.
//! * [`iam`]: keys, roles and policies.
//! * [`Simulator`]: all of that for tests and programs.
//!
//! HTTP, signatures of requests, AWS's protocols, the control API and the page are in `foo-simulator`, which re-exports
//! this crate: a test that needs no socket compiles without them.
//!
//! ```
//! use foo_simulator_core::{Simulator, SimulatorConfig};
//!
//! let aws = Simulator::new(SimulatorConfig::stepped());
//! aws.step(std::time::Duration::from_secs(60));
//! assert!(aws.region("eu-central-1").in_service_instances().is_empty());
//! ```
//!
//! State is in the modules of `core/`, and what calls and time change in `core/rules/`, which state never refers to. A new
//! behaviour is in the subject's file there (groups: `core/rules/group/`, in the order of `evaluate.rs`; networks, whose
//! state and rules are together: `core/network/`), with a test that cites the rule and its line in docs/simulator-rules.md;
//! where AWS is silent, it is a switch in `core/settings/`.

mod calls;
mod clock;
pub mod config;
pub mod core;
pub mod faults;
pub mod iam;
mod presign;
pub mod service;
pub mod signing;
mod sim_cloud;
pub mod simulator;
mod snapshots;
pub mod throttle;
pub mod world;

#[cfg(test)]
mod tests;

pub use calls::{CallCount, CallRecord};
pub use clock::{Pace, STEPPED_START};
pub use config::{DEFAULT_ACCOUNT, DEFAULT_REGION, SimulatorConfig};
pub use core::probability::{NotAProbability, Probability};
pub use core::rules::eks::AccessMapping;
pub use faults::{Fault, FaultRule};
pub use iam::AccessKey;
pub use iam::directory::InstanceProfile;
pub use iam::policy::{Effect, OneOrMany, Operator, Policy, Statement};
pub use iam::roles::{Role, WebIdentityTrust};
pub use presign::SigningKey;
pub use service::Service;
pub use sim_cloud::{SimCloud, SimQueue, plain_content};
pub use simulator::{NodeInstance, RegionHandle, Simulator};
pub use snapshots::{SNAPSHOT_LIMIT, SnapshotError};
pub use throttle::{BucketSize, Ec2Throttling, Throttling};
