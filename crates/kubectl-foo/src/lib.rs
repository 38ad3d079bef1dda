//! `kubectl foo`: explains the state of objects in the cluster to an operator.
//!
//! * [`asked`] reads which objects are meant;
//! * [`gather`] reads objects and writes nothing;
//! * [`explain`] turns them into text. Pure functions, so tests pin their whole output.
//!
//! It writes nothing, and calls neither the manager nor AWS. A new command is a variant of `Command` in `main.rs`, its
//! reads in `gather`, its text in a module of pure functions like `explain`, a golden file for each output, and a
//! section in docs/operations/plugin.md.

pub mod asked;
pub mod explain;
pub mod gather;
mod terminal;
