//! What comes out of a plan besides the record and the memory.

pub mod action;
pub mod report;
