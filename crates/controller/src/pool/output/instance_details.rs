//! Details of instances in service from EC2: requested until their FooMachines show them, and again from time
//! to time, because an address may be assigned later.
//!
//! EC2 may not know an instance that is already in service. This does not prove that it is terminated, and the
//! request is repeated.

use crate::pool::gather::Gathered;
use foo_cloud::observer::{InstanceReport, Observer};
use foo_model::{GroupName, InstanceId, LifecycleState, MachineName, Timestamp};
use foo_planner::report::Report;
use std::time::Duration;

/// How soon EC2 is asked again about an instance that it did not know; later if it has not known it for long.
const UNKNOWN_AGAIN: Duration = Duration::from_secs(10);
const UNKNOWN_AT_LAST: Duration = Duration::from_mins(5);
/// Maximum age of published details. One call describes many instances.
const GOOD_FOR: Duration = Duration::from_hours(1);

/// The present time, and since when this manager reconciles the pool.
pub(in crate::pool) struct Since {
    pub(in crate::pool) began: Option<Timestamp>,
    pub(in crate::pool) now: Timestamp,
}

/// Requests details that are missing or too old. The age of details that an earlier manager published is
/// unknown: a restart alone is no reason to request those of all instances.
pub(in crate::pool) fn want(
    observer: &Observer,
    group: &GroupName,
    gathered: &Gathered,
    report: &Report,
    Since { began, now }: Since,
) {
    let (shown, awaited): (Vec<_>, Vec<_>) =
        in_service(report).partition(|(name, _)| is_published(gathered, name));
    let is_new_here = began.is_none_or(|began| began.until(now) < GOOD_FOR);
    let is_due = |id: &InstanceId| !is_new_here || observer.details(id).is_some();
    let old: Vec<InstanceId> = shown.into_iter().map(|(_, id)| id).filter(|id| is_due(id)).cloned().collect();
    if !old.is_empty() {
        observer.request_details(group, &old, Some(now.minus(GOOD_FOR)));
    }
    for (_, id) in awaited {
        let pause = observer.details(id).map_or(Duration::ZERO, |(_, word)| again_in(&word, now));
        observer.request_details(group, std::slice::from_ref(id), Some(now.minus(pause)));
    }
}

/// When to come back for an instance in service that EC2 does not know.
pub(in crate::pool) fn next_try(
    observer: &Observer,
    gathered: &Gathered,
    report: &Report,
    now: Timestamp,
) -> Option<Duration> {
    let awaited = in_service(report).filter(|(name, _)| !is_published(gathered, name));
    awaited
        .filter_map(|(_, id)| observer.details(id))
        .filter(|(_, word)| word.details().is_none())
        .map(|(at, word)| now.until(at.plus(again_in(&word, now))).max(Duration::from_secs(1)))
        .min()
}

fn in_service(report: &Report) -> impl Iterator<Item = (&MachineName, &InstanceId)> {
    report
        .machines
        .iter()
        .filter(|machine| machine.lifecycle == LifecycleState::InService)
        .map(|machine| (&machine.name, &machine.instance))
}

fn again_in(word: &InstanceReport, now: Timestamp) -> Duration {
    match word {
        InstanceReport::Known(_) => GOOD_FOR,
        InstanceReport::NotFound { since } => (since.until(now) / 2).clamp(UNKNOWN_AGAIN, UNKNOWN_AT_LAST),
    }
}

/// Whether the FooMachine of that name is ready: then its status has all details.
fn is_published(gathered: &Gathered, name: &MachineName) -> bool {
    let found = gathered
        .foo_machines
        .binary_search_by(|machine| machine.metadata.name.as_deref().cmp(&Some(name.as_str())));
    let status = found.ok().and_then(|at| gathered.foo_machines.get(at)?.status.as_ref());
    status.is_some_and(|status| status.ready == Some(true))
}
