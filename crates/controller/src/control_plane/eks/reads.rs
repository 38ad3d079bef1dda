//! The reads of AWS that the plans of one cluster requested, and their newest results.
//!
//! Results are taken from the region's shared reads. They are kept here as well, because the shared ones are dropped
//! after an hour without a request, and an idle plan requests each of many in turn.

use crate::calls::refusal;
use foo_cloud::{CloudError, ClusterReads, Freshness, ReadResult};
use foo_eks::observed::FailedRead;
use foo_eks::report::ReadRequest;
use foo_eks::{Observed, observed};
use foo_model::eks::{Query, QueryResult};
use foo_model::{Agreement, Aws, Comparison, Reason, Timestamp};
use futures::{StreamExt, stream};
use std::collections::BTreeMap;
use std::time::Duration;

/// What no plan requested in this time is dropped: much longer than an idle plan needs to request everything once.
const IN_VIEW: Duration = Duration::from_hours(48);
/// Versions and releases change every few weeks: a new cluster reuses another cluster's cached result.
const OF_THE_REGION: Duration = Duration::from_hours(6);
/// The same for roles, instance profiles and OIDC providers, which users create while they wait.
const OF_IAM: Duration = Duration::from_mins(1);
/// Reads that one cluster sends at a time.
const AT_ONCE: usize = 4;

/// What was asked, and what AWS responded.
#[derive(Clone, Debug, Default)]
pub(super) struct Reads(BTreeMap<Query, Asked>);

#[derive(Clone, Debug)]
struct Asked {
    /// When a plan asked for it last.
    by_plan: Timestamp,
    read: Option<ReadResult<QueryResult>>,
    failed: Option<FailedRead>,
}

impl Reads {
    /// A plan asks for these.
    pub(super) fn request(&mut self, requests: &[ReadRequest], now: Timestamp) {
        for ReadRequest { query, .. } in requests {
            let new = || Asked { by_plan: now, read: None, failed: None };
            self.0.entry(query.clone()).or_insert_with(new).by_plan = now;
        }
        self.0.retain(|_, asked| asked.by_plan.until(now) < IN_VIEW);
    }

    /// The input of the next plan.
    pub(super) fn observed(&self, now: Timestamp, clocks: Agreement, aws_clock: Comparison<Aws>) -> Observed {
        let known = |(query, asked): (&Query, &Asked)| {
            let read = asked.read.as_ref()?;
            let response = QueryResult::clone(&read.value);
            Some((query.clone(), observed::CompletedRead { begun: read.began, response }))
        };
        let failed =
            |(query, asked): (&Query, &Asked)| asked.failed.clone().map(|failed| (query.clone(), failed));
        Observed {
            now,
            clocks,
            aws_clock,
            reads: self.0.iter().filter_map(known).collect(),
            failed: self.0.iter().filter_map(failed).collect(),
        }
    }

    /// Takes these reads. Returns the worst failure, if any: of several one that a user can do something
    /// about.
    pub(super) async fn take(
        &mut self,
        requests: &[ReadRequest],
        reads: &ClusterReads,
        now: Timestamp,
    ) -> Option<CloudError> {
        let asked: Vec<(Query, Freshness)> =
            requests.iter().map(|it| (it.query.clone(), self.freshness(it, now))).collect();
        let results = stream::iter(asked)
            .map(async |(query, freshness)| {
                let known = reads.ask(&query, freshness).await;
                (query, known)
            })
            .buffer_unordered(AT_ONCE)
            .collect::<Vec<_>>()
            .await;
        let mut failures = Vec::new();
        for (query, known) in results {
            self.note(query, known.last_read, known.failure.as_ref(), now);
            failures.extend(known.failure);
        }
        failures.into_iter().min_by_key(|error| Reason::from(error.kind).is_transient())
    }

    /// As new as requested; but what is the same for all clusters may be as old as such responses may be, the first
    /// time.
    fn freshness(&self, request: &ReadRequest, now: Timestamp) -> Freshness {
        let is_first = self.0.get(&request.query).is_none_or(|asked| asked.read.is_none());
        match longest_age(&request.query).filter(|_| is_first) {
            Some(age) => Freshness::Since(request.from.min(now.minus(age))),
            None => Freshness::Since(request.from),
        }
    }

    fn note(
        &mut self,
        query: Query,
        read: Option<ReadResult<QueryResult>>,
        failure: Option<&CloudError>,
        now: Timestamp,
    ) {
        let asked = self.0.entry(query).or_insert_with(|| Asked { by_plan: now, read: None, failed: None });
        if let Some(newer) = read.filter(|new| asked.read.as_ref().is_none_or(|old| old.began <= new.began)) {
            asked.read = Some(newer);
        }
        asked.failed = failure.map(|error| {
            let before = asked.failed.as_ref().map_or(0, |failed| failed.times);
            FailedRead { at: now, times: before.saturating_add(1), refusal: refusal(error) }
        });
    }
}

/// How old the first response to a query may be that is not about one cluster.
fn longest_age(query: &Query) -> Option<Duration> {
    match query {
        Query::Versions | Query::AddonReleases { .. } | Query::AddonSchema { .. } => Some(OF_THE_REGION),
        Query::Role(_) | Query::InstanceProfile(_) | Query::OidcProvider(_) => Some(OF_IAM),
        Query::Cluster(_)
        | Query::Updates(_)
        | Query::Update { .. }
        | Query::Insights(_)
        | Query::InsightsRefresh(_)
        | Query::Addons(_)
        | Query::Addon { .. }
        | Query::AccessEntries(_)
        | Query::AccessEntry { .. }
        | Query::AccessPolicies { .. }
        | Query::PodIdentities(_)
        | Query::PodIdentity { .. }
        | Query::IdentityProviders(_)
        | Query::IdentityProvider { .. } => None,
    }
}

/// The requests whose time has come.
pub(super) fn due(requests: &[ReadRequest], now: Timestamp) -> Vec<ReadRequest> {
    requests.iter().filter(|request| request.from <= now).cloned().collect()
}

/// How soon the first of the requests that have to wait is due.
pub(super) fn next(requests: &[ReadRequest], now: Timestamp) -> Option<Duration> {
    requests.iter().filter(|request| request.from > now).map(|request| now.until(request.from)).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_cloud::{ErrorKind, Operation};
    use std::sync::Arc;

    fn request(query: Query, from: i64) -> ReadRequest {
        ReadRequest { query, from: Timestamp(from) }
    }

    fn read(began: i64) -> ReadResult<QueryResult> {
        ReadResult { began: Timestamp(began), value: Arc::new(QueryResult::Versions(Vec::new())) }
    }

    fn refused() -> CloudError {
        CloudError::new(Operation::DescribeClusterVersions, ErrorKind::Throttled, None, "slow down")
    }

    fn observed_at(reads: &Reads, now: i64) -> Observed {
        reads.observed(Timestamp(now), Agreement::Agree, Comparison::default())
    }

    #[test]
    fn failures_in_a_row_are_counted_until_a_read_succeeds() {
        let mut reads = Reads::default();
        for times in 1..=3 {
            reads.note(Query::Versions, None, Some(&refused()), Timestamp(times));
            let observed = observed_at(&reads, times);
            assert_eq!(i64::from(observed.failed[&Query::Versions].times), times);
        }
        reads.note(Query::Versions, Some(read(5)), None, Timestamp(5));
        let observed = observed_at(&reads, 6);
        assert!(observed.failed.is_empty());
        assert_eq!(observed.reads[&Query::Versions].begun, Timestamp(5));
    }

    #[test]
    fn an_older_result_does_not_replace_a_newer_one() {
        let mut reads = Reads::default();
        reads.note(Query::Versions, Some(read(5)), None, Timestamp(5));
        reads.note(Query::Versions, Some(read(3)), None, Timestamp(6));
        assert_eq!(observed_at(&reads, 6).reads[&Query::Versions].begun, Timestamp(5));
    }

    #[test]
    fn results_shared_by_all_clusters_are_reused_the_first_time_only() {
        let (mut reads, day) = (Reads::default(), Timestamp(86_400_000));
        let versions = request(Query::Versions, day.0);
        assert_eq!(reads.freshness(&versions, day), Freshness::Since(day.minus(OF_THE_REGION)));
        let own = request(Query::Cluster("c".to_owned()), day.0);
        assert_eq!(reads.freshness(&own, day), Freshness::Since(day));
        reads.note(Query::Versions, Some(read(day.0)), None, day);
        assert_eq!(reads.freshness(&versions, day), Freshness::Since(day));
    }

    #[test]
    fn results_that_no_plan_needs_are_dropped() {
        let mut reads = Reads::default();
        reads.note(Query::Versions, Some(read(1)), None, Timestamp(1));
        reads.request(&[], Timestamp(1).plus(IN_VIEW));
        assert!(observed_at(&reads, 2).reads.is_empty());
    }

    #[test]
    fn requests_of_the_future_wait() {
        let requests = [request(Query::Versions, 10), request(Query::Cluster("c".into()), 30)];
        assert_eq!(due(&requests, Timestamp(10)), requests[..1]);
        assert_eq!(next(&requests, Timestamp(10)), Some(Duration::from_millis(20)));
        assert_eq!(next(&requests, Timestamp(30)), None);
    }
}
