//! The inputs of a plan: the desired state, what is observed, and what earlier passes left behind.

pub mod desired;
pub mod memory;
pub mod observed;
pub mod recent_targets;
