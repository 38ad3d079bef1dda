//! What goes into a plan.

pub mod desired;
pub mod observed;
pub mod recorded;
