//! The planner against a model of its world: the races it must survive, random interleavings, and scenarios as
//! text files with golden output.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test")]

mod checker;
mod forecast;
mod properties;
mod races;
mod scripts;
mod steps;
mod world;
