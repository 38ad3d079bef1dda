//! `kubectl foo`: what an operator of pools asks, answered from the objects in the cluster.
//!
//! * [`gather`] reads; nothing is ever written;
//! * [`explain`] says in words what a pool waits for. Pure, so its output is tested to the letter.

pub mod explain;
pub mod gather;
mod terminal;
