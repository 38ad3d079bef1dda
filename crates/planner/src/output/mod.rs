//! The outputs of a plan: what to do, and what is true.

pub mod action;
pub mod report;
