//! The situation itself, and simple queries about it.

use crate::desired::Desired;
use crate::memory::Memory;
use crate::observed::Observed;
use crate::recorded::Recorded;
use crate::timing::GONE;
use foo_model::Timestamp;
use foo_model::eks::{Cluster, Query, QueryResult};
use std::collections::BTreeMap;

/// What is the case.
pub(crate) struct Situation<'a> {
    pub(crate) desired: &'a Desired,
    pub(crate) observed: &'a Observed,
    pub(crate) now: Timestamp,
    /// The newest responses, after the effects of our calls that they do not show yet.
    pub(crate) shown: BTreeMap<Query, QueryResult>,
    /// The record, brought up to date.
    pub(crate) record: Recorded,
    /// The memory, brought up to date.
    pub(crate) memory: Memory,
}

impl Situation<'_> {
    /// The query about the cluster.
    pub(crate) fn query(&self) -> Query {
        Query::Cluster(self.desired.name.clone())
    }

    /// The cluster of that name, whosever it is. `None` if it is not known whether there is one.
    #[expect(clippy::option_option, reason = "that nothing is known is not that there is none")]
    pub(crate) fn cluster(&self) -> Option<Option<&Cluster>> {
        let Some(QueryResult::Cluster(cluster)) = self.shown.get(&self.query()) else { return None };
        Some(cluster.as_deref())
    }

    /// Whether several reads in a row do not find the cluster, the last of which shows what the manager before this one did.
    pub(crate) fn is_missing(&self) -> bool {
        let missing = &self.memory.missing;
        missing.len() >= GONE && self.memory.calls.shows_all(missing.last().copied())
    }

    /// When the newest read began that got a response.
    pub(crate) fn begun(&self, query: &Query) -> Option<Timestamp> {
        self.observed.reads.get(query).map(|read| read.begun)
    }

    /// When it was asked or changed last; now if never.
    pub(crate) fn touched(&self, query: &Query) -> Timestamp {
        let effects = self.memory.calls.effects.iter();
        let changed = effects.filter(|it| super::about(&it.action.change) == *query).map(|it| it.at).max();
        self.begun(query).max(changed).unwrap_or(self.now)
    }

    /// From when on a read has to begin to be believed, if the newest one is not.
    pub(crate) fn distrusted(&self, query: &Query) -> Option<Timestamp> {
        let moment = *self.memory.distrusted.get(query)?;
        self.begun(query).is_none_or(|begun| begun < moment).then_some(moment)
    }

    /// The account of the cluster: of its ARN, or of our credentials.
    pub(crate) fn account(&self) -> Option<String> {
        let shown = self.cluster().flatten().map(|it| it.arn.as_str());
        let arn = shown.or(self.record.arn.as_deref());
        let of_arn = arn.and_then(|arn| arn.split(':').nth(4)).filter(|it| !it.is_empty());
        of_arn.map(str::to_owned).or_else(|| self.desired.account.clone())
    }
}
