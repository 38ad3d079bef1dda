//! The engine of domains that consist of calls to AWS: read, plan, check, record, send, remember.
//!
//! A domain (networks, EKS clusters) has nouns, reads, steps, a check and a summary of its own. How its calls are
//! recorded before they are sent, what is remembered of them until reads show their effect, and when a failed one is
//! repeated is the same for all of them and is here, once. Where domains differ, the difference is an item of
//! [`Action`] or [`Domain`], with its reason.
//!
//! * [`Action`]: one call; [`Outcome`] and [`Refusal`]: what became of it; [`Backoff`]: when it is repeated;
//! * [`Calls`]: what one process remembers of its calls; [`Calls::forget`]: when a read may drop what is on record;
//! * [`Domain`]: a planner with its check; [`Plan`], [`report`], [`Violation`]: what they return;
//! * [`Process`]: the order in which a plan is recorded, sent and remembered;
//! * [`forecast`]: what will follow, if every call succeeds;
//! * `testing` (a feature): a manager on a virtual clock for the tests of a domain.
//!
//! The manager drives all domains in `foo_controller::calls`: a new one is a `Driver` there.
//!
//! No async, no clock, no I/O: time is a parameter. `tests/model` explores every order of crashes, lost responses,
//! stale reads and a second manager, and shows that this order is necessary.

mod action;
mod backoff;
mod calls;
mod domain;
pub mod forecast;
mod forget;
mod outcome;
mod process;
pub mod report;
#[cfg(feature = "testing")]
pub mod testing;

pub use action::{Action, Value, add};
pub use backoff::Backoff;
pub use calls::{Calls, Effect, Failure, Sent};
pub use domain::{Domain, Plan, Violation};
pub use forget::Names;
pub use outcome::{Outcome, Refusal};
pub use process::Process;
