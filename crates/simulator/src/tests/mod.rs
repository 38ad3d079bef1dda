//! Tests of the whole simulator. Each names the rule it checks; the rules come from AWS's documentation.

mod events;
mod faults;
mod health;
mod hooks;
mod http;
mod iam;
mod launch_instances;
mod launches;
mod membership;
mod mishaps;
mod mixed;
mod properties;
mod refreshes;
mod replacing;
mod scale;
mod scene;
mod sim_cloud;
mod sizes;
mod spot;
mod sqs;
mod templates;
mod termination;
mod warm_pools;
mod wire;
