//! What is the case: what reads show after the effects of our calls, and the record and memory brought up to date with it. Nothing is
//! decided here.

mod absorb;
mod effects;
mod known;

pub(crate) use absorb::situation;
pub(crate) use effects::{Overlay, about};
pub(crate) use known::Situation;
