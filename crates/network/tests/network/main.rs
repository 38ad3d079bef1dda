//! The planner against the simulated AWS.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "a test may panic"
)]
#![allow(unreachable_pub, missing_docs, reason = "a test is not a library")]

mod aws;
mod connection;
mod crashes;
mod create;
mod deletion;
mod duplicates;
mod endpoints;
mod faults;
mod forecast;
mod groups;
mod installations;
mod leaders;
mod leftovers;
mod life;
mod moves;
mod pods;
mod properties;
mod quotas;
mod removed;
mod restores;
mod world;
