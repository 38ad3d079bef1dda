//! Results of reads of AWS, shared by all clusters of one set of credentials and region: the newest per question.
//!
//! The caller specifies how old a result may be. AWS is called only if none is new enough, and callers with the same
//! question share the call. So a hundred idle clusters, for which a result of five minutes ago is new enough, cost one
//! call per question in five minutes, and questions that none of them has cost none.
//!
//! * A result is never replaced by one whose call was sent earlier.
//! * A failed call keeps the last result and reports the failure; the pause before the next call grows with each
//!   failure.
//! * No wait is endless: a call has a deadline, and so has the wait for another caller's call.
//! * A result that no caller requested for an hour is dropped.
//!
//! The age of a result counts from the start of its call: it shows at least what existed then, as far as AWS's reads
//! do. The clock must never run backwards ([`crate::SystemClock`]). Nothing is decided here, and nothing is changed.

mod cloud;
mod known;
mod shared;

pub use cloud::CloudReads;
pub use known::{Freshness, Known, ReadResult};
