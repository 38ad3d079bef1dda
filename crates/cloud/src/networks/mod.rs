//! Reads of networks, shared by all clusters of one set of credentials and region.
//!
//! Every question (the parts of one kind within one scope, or the quotas) has one answer, the newest. The
//! caller says how old an answer may be; only if none is new enough is AWS called, and callers with the same
//! question share that call. So a hundred clusters at rest, for which an answer of five minutes ago is new
//! enough, cost one call per kind in five minutes, and kinds that none of them has cost none.
//!
//! * An answer is never replaced by one whose call was sent earlier.
//! * A failed call keeps the last answer and reports the failure; the pause before the next call grows with
//!   each failure.
//! * No wait is endless: a call has a deadline, and so has the wait for another caller's call.
//!
//! The age of an answer counts from the start of its call: it shows at least what existed then, as far as
//! EC2's reads do. The clock must never go back ([`crate::SystemClock`]). Nothing is decided here, and
//! nothing is changed.

mod answer;
mod known;

pub use known::{Freshness, Known, Look};

use crate::error::CloudError;
use crate::operation::Operation;
use crate::{Clock, Cloud, Result};
use answer::Answers;
use foo_model::network::{Kind, Parts, Quotas, Scope};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Deadline of a call: longer than the SDK's own limits for one attempt.
const LONGEST_CALL: Duration = Duration::from_secs(45);
/// Maximum time that a caller waits for an answer, its own call or another's.
const LONGEST_WAIT: Duration = Duration::from_secs(90);

/// The shared looks, one per (credentials, region).
pub struct NetworkLooks {
    cloud: Arc<dyn Cloud>,
    parts: Answers<(Kind, Scope), Parts>,
    quotas: Answers<(), Quotas>,
}

impl NetworkLooks {
    /// Nothing was looked at yet.
    pub fn new(cloud: Arc<dyn Cloud>, clock: Arc<dyn Clock>) -> Self {
        Self { cloud, parts: Answers::new(Arc::clone(&clock)), quotas: Answers::new(clock) }
    }

    /// The parts of a kind within a scope.
    pub async fn parts(&self, kind: Kind, scope: &Scope, freshness: Freshness) -> Known<Parts> {
        let question = (kind, canonical(kind, scope));
        let ask = || in_time(kind.into(), self.cloud.describe_network(kind, &question.1));
        let last = || self.parts.last(&question);
        in_line(kind.into(), self.parts.get(&question, freshness, ask), last).await
    }

    /// How much AWS allows, and how much there is.
    pub async fn quotas(&self, freshness: Freshness) -> Known<Quotas> {
        let operation = Operation::GetServiceQuota;
        let ask = || in_time(operation, self.cloud.quotas());
        in_line(operation, self.quotas.get(&(), freshness, ask), || self.quotas.last(&())).await
    }

    /// The newest look at the parts of a kind within a scope, however old. Does not call AWS.
    pub fn last(&self, kind: Kind, scope: &Scope) -> Option<Look<Parts>> {
        self.parts.last(&(kind, canonical(kind, scope)))
    }
}

impl fmt::Debug for NetworkLooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NetworkLooks").finish_non_exhaustive()
    }
}

/// One scope for all callers that ask the same: zones are of the region, in every scope.
fn canonical(kind: Kind, scope: &Scope) -> Scope {
    if kind == Kind::Zone { Scope::TagKey(String::new()) } else { scope.clone() }
}

async fn in_time<T>(operation: Operation, call: impl Future<Output = Result<T>>) -> Result<T> {
    let answer = tokio::time::timeout(LONGEST_CALL, call).await;
    answer.unwrap_or_else(|_elapsed| Err(CloudError::no_answer(operation, LONGEST_CALL)))
}

async fn in_line<T>(
    operation: Operation,
    wait: impl Future<Output = Known<T>>,
    last: impl FnOnce() -> Option<Look<T>>,
) -> Known<T> {
    let known = tokio::time::timeout(LONGEST_WAIT, wait).await;
    known.unwrap_or_else(|_elapsed| Known {
        look: last(),
        trouble: Some(CloudError::no_answer(operation, LONGEST_WAIT)),
    })
}
