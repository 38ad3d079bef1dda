//! Extensions built on crates/runtime-sdk, called by the real Cluster API core: every hook that core calls, and what
//! becomes of a Cluster while an extension is slow, refuses, panics, is away or is another one.
//!
//! No manager of the provider runs here: the kinds of a stand-in provider (`provider`) are all that a topology needs.
//! The released extension (`extension`) runs as the process that is released, before a simulated AWS.
#![expect(clippy::indexing_slicing, reason = "helpers of tests, on JSON that they write themselves")]

mod book;
mod extension;
mod extension_classes;
mod extension_installed;
mod extension_life;
mod extension_upgraded;
mod failures;
mod in_place;
mod life;
mod management;
mod minimal;
mod provider;
mod restart;
mod served;
mod topology;
