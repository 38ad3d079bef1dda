//! What all domains of calls have around their planner: networks and EKS clusters.
//!
//! * [`Driver`]: what a domain gives: its reads, its status, its events; [`run`](fn@run): a pass over one object of it;
//! * [`send`]: the calls of a plan, all at the same time; [`events`]: events about them;
//! * [`state`]: what is remembered of each object between passes; [`identity`]: its id on the object;
//! * [`record`]: times in a status.
//!
//! Nothing is decided here: the domain's planner does that ([`foo_calls::Domain`]).

mod driver;
mod events;
pub(crate) mod identity;
mod pass;
pub(crate) mod record;
mod run;
mod send;
mod sent;
pub(crate) mod state;
mod warned;

pub(crate) use driver::{Driver, Turn};
pub(crate) use pass::{CONTINUE, Ended, Goal, Pass, Progress, Purpose, READ_SOON, ReadOnly};
pub(crate) use run::run;
pub(crate) use sent::{Sent, refusal};
pub(crate) use warned::Warned;
