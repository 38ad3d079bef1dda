//! Tests of the whole simulator. Each names the rule it checks; the rules come from AWS's documentation.

mod assumptions;
mod aws_decides;
mod capacity;
mod events;
mod eventual;
mod health;
mod hooks;
mod launch_instances;
mod launches;
mod membership;
mod mishaps;
mod mixed;
mod network;
mod notifications;
mod objects;
mod properties;
mod refreshes;
mod replacing;
mod scene;
mod sim_cloud;
mod sizes;
mod spot;
mod targets;
mod templates;
mod termination;
mod warm_pools;
