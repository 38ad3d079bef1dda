//! Brings record and memory up to date with what reads and responses show.

use super::effects::{Overlay, about};
use super::known::Situation;
use crate::desired::Desired;
use crate::memory::{Effect, Failure, Memory};
use crate::observed::Observed;
use crate::recorded::Recorded;
use crate::refusals::is_no_change;
use crate::timing::{CONFIRM, GONE, LAG};
use foo_model::eks::{
    AddonChange, Change, ClusterChange, ClusterStatus, EntryChange, PodIdentityChange, Query, QueryResult,
};
use foo_model::{Reason, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) fn situation<'a>(
    desired: &'a Desired,
    observed: &'a Observed,
    recorded: &Recorded,
    memory: &Memory,
) -> Situation<'a> {
    let mut memory = memory.clone();
    let mut record = memory.calls.begin(recorded, observed.now);
    record.initialized |= recorded.initialized;
    responses(&mut record, &memory);
    distrust(&mut memory);
    let mut shown: BTreeMap<Query, QueryResult> =
        observed.reads.iter().map(|(query, read)| (query.clone(), read.response.clone())).collect();
    let mut overlay = Overlay { observed, shown: &mut shown };
    memory.calls.effects.retain(|effect| overlay.apply(effect));
    drop_unlisted(observed, &memory, &mut shown);
    forget(&mut memory, observed);
    see_cluster(desired, observed, &shown, &mut record, &mut memory);
    Situation { desired, observed, now: observed.now, shown, record, memory }
}

/// Notes the ids of updates that began, and drops what AWS refused.
fn responses(record: &mut Recorded, memory: &Memory) {
    if let Some(update) = &mut record.update
        && update.id.is_none()
    {
        let begun = memory
            .calls
            .effects
            .iter()
            .filter(|it| it.action.change.updates_cluster() && it.at >= update.since);
        update.id = begun.filter_map(|it| it.response.update.as_ref()).map(|it| it.id.clone()).next_back();
    }
    let refused = |since: Timestamp| move |it: &&Failure| !it.lost && it.at >= since;
    let dropped = record.update.as_ref().is_some_and(|update| {
        let mut refused = memory.calls.failures.iter().filter(refused(update.since));
        update.id.is_none() && refused.any(|it| it.action.change.updates_cluster())
    });
    if dropped {
        record.update = None;
    }
    let refused_creation = record.creating_since.is_some_and(|since| {
        let mut refused = memory.calls.failures.iter().filter(refused(since));
        refused.any(|it| it.action.change.creates_cluster())
    });
    if refused_creation {
        // EKS may refuse the same token again.
        record.attempts = record.attempts.saturating_add(1);
        record.creating_since = None;
    }
}

/// After a failed call it is read again at what the call was to change, unless AWS said nothing about that.
fn distrust(memory: &mut Memory) {
    let mut doubts: Vec<(Query, Timestamp)> = Vec::new();
    for failure in &memory.calls.failures {
        let refusal = &failure.refusal;
        let is_other =
            matches!(refusal.reason, Reason::ResourceInUse | Reason::AlreadyExists | Reason::NotFound);
        if failure.lost {
            doubts.extend(concerns(&failure.action.change).map(|it| (it, failure.at.plus(LAG))));
        } else if is_other || is_no_change(refusal) {
            doubts.extend(concerns(&failure.action.change).map(|it| (it, failure.at)));
        }
    }
    for effect in memory.calls.effects.iter().filter(|it| binds_pods(&it.action.change)) {
        let list = about(&effect.action.change).cluster().map(|it| Query::PodIdentities(it.to_owned()));
        doubts.extend(list.map(|list| (list, effect.visible_at())));
    }
    for (query, moment) in doubts {
        memory.distrust(query, moment);
    }
}

/// What is not as it was thought if a change fails.
fn concerns(change: &Change) -> impl Iterator<Item = Query> {
    let more = match change {
        Change::Entry {
            cluster,
            principal,
            change: EntryChange::Associate(_) | EntryChange::Disassociate(_),
        } => vec![Query::AccessEntry { cluster: cluster.clone(), principal: principal.clone() }],
        Change::PodIdentity {
            cluster,
            change: PodIdentityChange::Update { .. } | PodIdentityChange::Delete { .. },
        } => vec![Query::PodIdentities(cluster.clone())],
        // EKS has one for each cluster, and works on one update of a cluster at a time.
        Change::Cluster {
            cluster,
            change:
                ClusterChange::AssociateIdentityProvider(_) | ClusterChange::DisassociateIdentityProvider(_),
        } => vec![Query::Cluster(cluster.clone()), Query::IdentityProviders(cluster.clone())],
        Change::Cluster { .. }
        | Change::Addon { .. }
        | Change::Entry { .. }
        | Change::PodIdentity { .. }
        | Change::Tags { .. }
        | Change::Oidc(_) => Vec::new(),
    };
    std::iter::once(about(change)).chain(more)
}

/// Add-ons bring pod identity associations of their own, of which the response says nothing.
fn binds_pods(change: &Change) -> bool {
    let Change::Addon { change: AddonChange::Create(addon, _) | AddonChange::Update(addon), .. } = change
    else {
        return false;
    };
    addon.pod_identities.is_some()
}

/// What a newer list does not have is gone.
fn drop_unlisted(observed: &Observed, memory: &Memory, shown: &mut BTreeMap<Query, QueryResult>) {
    let newer = |list: &Query, item: &Query| {
        let changed = memory
            .calls
            .effects
            .iter()
            .filter(|it| about(&it.action.change) == *item)
            .map(Effect::visible_at)
            .max();
        let of_item = observed.reads.get(item).map(|it| it.begun).max(changed);
        let list = observed.reads.get(list).map(|it| it.begun);
        list > of_item.map(|it| it.plus(LAG))
    };
    let lists: BTreeMap<Query, QueryResult> = shown
        .iter()
        .filter(|(query, _)| matches!(query, Query::Addons(_) | Query::AccessEntries(_)))
        .map(|(query, response)| (query.clone(), response.clone()))
        .collect();
    for (query, response) in shown.iter_mut() {
        let (list, name) = match query {
            Query::Addon { cluster, name } => (Query::Addons(cluster.clone()), name),
            Query::AccessEntry { cluster, principal } => (Query::AccessEntries(cluster.clone()), principal),
            _ => continue,
        };
        let Some(QueryResult::Names(names)) = lists.get(&list) else { continue };
        if names.contains(name) || !newer(&list, query) {
            continue;
        }
        match response {
            QueryResult::Addon(addon) => *addon = None,
            QueryResult::AccessEntry(entry) => *entry = None,
            _ => {}
        }
    }
}

/// Forgets failures of more than an hour ago, and doubts that newer reads ended.
fn forget(memory: &mut Memory, observed: &Observed) {
    let now = observed.now;
    memory.calls.forget_failures(now);
    memory.distrusted.retain(|query, moment| {
        observed.reads.get(query).is_none_or(|read| read.begun < *moment)
            && moment.plus(Duration::from_hours(1)) > now
    });
}

/// Notes that EKS shows the cluster, or how often in a row it did not.
fn see_cluster(
    desired: &Desired,
    observed: &Observed,
    shown: &BTreeMap<Query, QueryResult>,
    record: &mut Recorded,
    memory: &mut Memory,
) {
    let query = Query::Cluster(desired.name.clone());
    match shown.get(&query) {
        Some(QueryResult::Cluster(Some(cluster))) => {
            memory.missing.clear();
            if !crate::tags::are_own(desired, &cluster.tags) {
                return;
            }
            record.arn = Some(cluster.arn.clone());
            record.creating_since = None;
            record.adopted |= crate::tags::were_adopted(&cluster.tags);
            record.active_once |= matches!(cluster.status, ClusterStatus::Active | ClusterStatus::Updating);
        }
        Some(QueryResult::Cluster(None)) => {
            let begun = observed.reads.get(&query).map(|read| read.begun);
            let last = memory.missing.last().copied();
            if let Some(begun) = begun.filter(|begun| last.is_none_or(|last| *begun >= last.plus(CONFIRM))) {
                memory.missing.push(begun);
                let extra = memory.missing.len().saturating_sub(GONE);
                memory.missing.drain(..extra);
            }
        }
        _ => {}
    }
}
