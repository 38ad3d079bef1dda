//! Extensions built on crates/runtime-sdk, called by the real Cluster API core: every hook that core calls, and what
//! becomes of a Cluster while an extension is slow, refuses, panics, is away or is another one.
//!
//! No manager of ours runs here: the kinds of a stand-in provider (`provider`) are all that a topology needs. Our own extension
//! (`ours`) runs as the process that is released, before a simulated AWS.
#![expect(clippy::indexing_slicing, reason = "helpers of tests, on JSON that they write themselves")]

#[path = "runtime/book.rs"]
mod book;
#[path = "runtime/in_place.rs"]
mod in_place;
#[path = "runtime/life.rs"]
mod life;
#[path = "runtime/minimal.rs"]
mod minimal;
#[path = "runtime/ours.rs"]
mod ours;
#[path = "runtime/ours_classes.rs"]
mod ours_classes;
#[path = "runtime/ours_installed.rs"]
mod ours_installed;
#[path = "runtime/ours_life.rs"]
mod ours_life;
#[path = "runtime/ours_upgraded.rs"]
mod ours_upgraded;
#[path = "runtime/provider.rs"]
mod provider;
#[path = "runtime/restart.rs"]
mod restart;
#[path = "runtime/served.rs"]
mod served;
#[path = "runtime/stage.rs"]
mod stage;
#[path = "runtime/topology.rs"]
mod topology;
#[path = "runtime/trouble.rs"]
mod trouble;
