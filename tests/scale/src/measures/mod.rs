//! What is measured, each in a world of its own.

pub(crate) mod fail_over;
mod idle;
pub(crate) mod many_pools;
pub(crate) mod one_pool;
mod restart;
pub(crate) mod roll_out;
pub(crate) mod scale_in;
mod setup;
