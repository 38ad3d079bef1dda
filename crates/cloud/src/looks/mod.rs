//! Answers of AWS that are shared: by all clusters of one set of credentials and region, one answer per question, the newest.
//!
//! The caller says how old an answer may be; only if none is new enough is AWS called, and callers with the same question share that
//! call. So a hundred clusters at rest, for which an answer of five minutes ago is new enough, cost one call per question in five
//! minutes, and questions that none of them has cost none.
//!
//! * An answer is never replaced by one whose call was sent earlier.
//! * A failed call keeps the last answer and reports the failure; the pause before the next call grows with each failure.
//! * No wait is endless: a call has a deadline, and so has the wait for another caller's call.
//! * An answer that nobody asked for in an hour is forgotten.
//!
//! The age of an answer counts from the start of its call: it shows at least what existed then, as far as AWS's reads do. The clock
//! must never go back ([`crate::SystemClock`]). Nothing is decided here, and nothing is changed.

mod answer;
mod known;

pub(crate) use answer::Answers;
pub use known::{Freshness, Known, Look};
