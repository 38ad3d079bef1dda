//! Extensions built on crates/runtime-sdk, called by the real Cluster API core: every hook that core calls, and what
//! becomes of a Cluster while an extension is slow, refuses, panics, is away or is another one.
//!
//! Nothing of our provider runs here: the kinds of a stand-in provider (`provider`) are all that a topology needs.
#![expect(clippy::indexing_slicing, reason = "helpers of tests, on JSON that they write themselves")]

#[path = "runtime/book.rs"]
mod book;
#[path = "runtime/in_place.rs"]
mod in_place;
#[path = "runtime/life.rs"]
mod life;
#[path = "runtime/minimal.rs"]
mod minimal;
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
