//! `kubectl foo`: answers an operator's questions about pools from the objects in the cluster.
//!
//! * [`gather`] reads objects and writes nothing;
//! * [`explain`] turns them into text. It is a pure function, so tests pin its whole output.

pub mod explain;
pub mod gather;
mod terminal;
