//! What goes into a plan: the desired replicas, what is seen, and what the passes before left behind.

pub mod desired;
pub mod memory;
pub mod observed;
pub mod recent_targets;
