//! `kubectl foo`: answers an operator's questions from the objects in the cluster.
//!
//! * [`asked`] reads which objects are meant;
//! * [`gather`] reads objects and writes nothing;
//! * [`explain`] turns them into text. Pure functions, so tests pin their whole output.

pub mod asked;
pub mod explain;
pub mod gather;
mod terminal;
