//! The planner against the simulated EKS.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may panic")]
#![allow(unreachable_pub, missing_docs, reason = "a test is not a library")]

mod access;
mod addons;
mod adoption;
mod aws;
mod budget;
mod create;
mod deletion;
mod forecast;
mod identity_provider;
mod leaders;
mod life;
mod placement;
mod properties;
mod upgrades;
mod windows;
mod world;
