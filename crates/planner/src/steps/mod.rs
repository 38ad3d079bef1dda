//! One file per question, in the order of the plan.

pub(crate) mod budget;
pub(crate) mod delete;
pub(crate) mod ends;
pub(crate) mod group;
pub(crate) mod hooks;
pub(crate) mod interrupt;
pub(crate) mod machines;
pub(crate) mod objects;
pub(crate) mod own;
pub(crate) mod remediate;
pub(crate) mod remove;
pub(crate) mod replace;
pub(crate) mod size;
pub(crate) mod template;
pub(crate) mod victims;
