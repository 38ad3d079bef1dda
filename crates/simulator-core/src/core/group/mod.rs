//! Auto Scaling: what a group consists of. What its calls and time change is in [`rules::group`](crate::core::rules::group).

pub mod activity;
pub mod model;
pub mod policies;
pub(in crate::core) mod requirements;
