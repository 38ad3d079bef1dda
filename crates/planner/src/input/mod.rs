//! What goes into a plan: the wish, what is seen, and what the passes before left behind.

pub mod desired;
pub mod memory;
pub mod observed;
pub mod wishes;
