//! Extensions built on crates/runtime-sdk, called by the real Cluster API core: every hook that core calls, and what
//! becomes of a Cluster while an extension is slow, refuses, panics, is away or is another one.
//!
//! No manager of the provider runs here: the kinds of a stand-in provider (`provider`) are all that a topology needs.
//! The released extension (`extension`) runs as the process that is released, before a simulated AWS.
#![expect(clippy::indexing_slicing, reason = "helpers of tests, on JSON that they write themselves")]

#[path = "runtime/book.rs"]
mod book;
#[path = "runtime/extension.rs"]
mod extension;
#[path = "runtime/extension_classes.rs"]
mod extension_classes;
#[path = "runtime/extension_installed.rs"]
mod extension_installed;
#[path = "runtime/extension_life.rs"]
mod extension_life;
#[path = "runtime/extension_upgraded.rs"]
mod extension_upgraded;
#[path = "runtime/failures.rs"]
mod failures;
#[path = "runtime/in_place.rs"]
mod in_place;
#[path = "runtime/life.rs"]
mod life;
#[path = "runtime/management.rs"]
mod management;
#[path = "runtime/minimal.rs"]
mod minimal;
#[path = "runtime/provider.rs"]
mod provider;
#[path = "runtime/restart.rs"]
mod restart;
#[path = "runtime/served.rs"]
mod served;
#[path = "runtime/topology.rs"]
mod topology;
