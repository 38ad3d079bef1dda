//! The inputs of a plan: the desired state, and what is observed. [`crate::memory`] is the third.

pub mod desired;
pub mod observed;
