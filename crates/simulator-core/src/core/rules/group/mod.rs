//! Auto Scaling: groups, their calls and their own activity.
//!
//! [`evaluate`] compares desired with actual capacity; [`launch`], [`scale_in`] and [`leave`] adjust it; [`hooks`]
//! delay launches and terminations; [`operations`] are the calls that change a group as a whole, [`members`] those
//! that concern single instances.

mod choose;
mod evaluate;
pub mod hooks;
mod launch;
pub mod launch_instances;
mod leave;
pub mod members;
pub mod membership;
pub mod notifications;
pub mod operations;
pub mod processes;
pub mod refresh;
pub mod replace;
mod scale_in;
pub mod source;
pub mod spot;
pub mod tags;
pub mod targets;
pub mod warm_pool;
