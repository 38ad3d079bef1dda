//! Responses of AWS that are shared: by all clusters of one set of credentials and region, one response per question, the newest.
//!
//! The caller specifies how old a response may be; only if none is new enough is AWS called, and callers with the same question share that
//! call. So a hundred idle clusters, for which a response of five minutes ago is new enough, cost one call per question in five
//! minutes, and questions that none of them has cost none.
//!
//! * A response is never replaced by one whose call was sent earlier.
//! * A failed call keeps the last response and reports the failure; the pause before the next call grows with each failure.
//! * No wait is endless: a call has a deadline, and so has the wait for another caller's call.
//! * A response that no caller requested for an hour is dropped.
//!
//! The age of a response counts from the start of its call: it shows at least what existed then, as far as AWS's reads do. The clock
//! must never go back ([`crate::SystemClock`]). Nothing is decided here, and nothing is changed.

mod answer;
mod known;

pub(crate) use answer::Answers;
pub use known::{Freshness, Known, Look};
