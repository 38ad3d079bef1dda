//! Follows the one update of the cluster that EKS makes at a time. Its id says how far it is: just after a call the cluster may still
//! read ACTIVE.

use crate::draft::{Draft, Weight};
use crate::recorded::{RecordedUpdate, UpdateKind};
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::steps::identity_provider;
use crate::steps::wait::in_words;
use crate::timing::{LAG, SKEW, UNSEEN};
use foo_model::eks::{Cluster, ClusterStatus, Query, QueryResult, Update, UpdateStatus};
use foo_model::{Agreement, Reason, Timestamp};

/// Whether EKS works on no update of the cluster, and the newest read of it is of after the last one.
pub(crate) fn is_free(situation: &Situation<'_>, draft: &mut Draft, cluster: &Cluster) -> bool {
    if let Some(update) = draft.record.update.clone() {
        follow(situation, draft, &update);
    } else if cluster.status == ClusterStatus::Updating {
        let message = "EKS updates the cluster, which was not requested here";
        draft.note(topic(situation, None), Weight::Pending, Reason::UpdatingCluster, message);
        draft.wait(&situation.query());
    } else if situation.distrusted(&situation.query()).is_none() {
        return true;
    }
    false
}

/// Which condition speaks of an update.
fn topic(situation: &Situation<'_>, update: Option<&RecordedUpdate>) -> ConditionKind {
    if situation.desired.being_deleted {
        return ConditionKind::Deleting;
    }
    match update.map(|it| it.kind) {
        Some(UpdateKind::Version) => ConditionKind::Upgrading,
        Some(kind) if kind.is_of_access() => ConditionKind::AccessReady,
        Some(_) | None => ConditionKind::ClusterReady,
    }
}

fn follow(situation: &Situation<'_>, draft: &mut Draft, update: &RecordedUpdate) {
    let kind = topic(situation, Some(update));
    let Some(id) = &update.id else { return find(situation, draft, update) };
    let query = query(situation, id);
    let Some(QueryResult::Update(shown)) = draft.read(situation, kind, &query) else { return };
    let reason = match kind {
        ConditionKind::Upgrading => Reason::UpgradingControlPlane,
        ConditionKind::AccessReady => Reason::ChangingAccess,
        ConditionKind::ClusterReady | ConditionKind::AddonsReady | ConditionKind::Deleting => {
            Reason::UpdatingCluster
        }
    };
    match shown.as_ref().map(|it| (it.status, it)) {
        Some((UpdateStatus::InProgress, _)) => {
            let message = format!("EKS makes the update {id} ({})", update.kind);
            draft.note(kind, Weight::Pending, reason, message);
            draft.wait(&query);
        }
        Some((UpdateStatus::Successful, _)) => {
            draft.record.failed.remove(update.kind.name());
            over(situation, draft, update, &query);
        }
        Some((UpdateStatus::Failed | UpdateStatus::Cancelled, shown)) => {
            let message = format!("the update {id} ({}) failed: {}", update.kind, in_words(&shown.errors));
            draft.note(kind, Weight::Failed, Reason::ClusterUpdateFailed, message.clone());
            draft.fails(situation.now, update.kind.name(), &update.content, message);
            over(situation, draft, update, &query);
        }
        None if update.since.plus(UNSEEN) > situation.now => {
            let message = format!("EKS does not show the update {id} yet");
            draft.note(kind, Weight::Pending, reason, message);
            draft.wait(&query);
        }
        None => over(situation, draft, update, &query),
    }
}

fn query(situation: &Situation<'_>, id: &str) -> Query {
    Query::Update { cluster: situation.desired.name.clone(), id: id.to_owned(), addon: None }
}

/// The update is over: what it changed is read again before anything else is decided.
fn over(situation: &Situation<'_>, draft: &mut Draft, update: &RecordedUpdate, query: &Query) {
    draft.record.update = None;
    draft.read.remove(query);
    let seen = situation.begun(query).unwrap_or(situation.now);
    believe_from(situation, draft, update.kind, seen);
}

fn believe_from(situation: &Situation<'_>, draft: &mut Draft, kind: UpdateKind, moment: Timestamp) {
    if kind.is_of_access() {
        // A read that began before may arrive later.
        for query in identity_provider::queries(situation) {
            draft.memory.distrust(query, moment);
        }
    }
    let cluster = situation.query();
    if situation.begun(&cluster).is_none_or(|begun| begun < moment) {
        draft.memory.distrust(cluster.clone(), moment);
        draft.request_read(&cluster, moment);
    }
    draft.wake_at(situation.now.plus(std::time::Duration::from_millis(1)));
    draft.unsettled = true;
}

/// The response to the call was lost: an update of that kind that began since is its.
fn find(situation: &Situation<'_>, draft: &mut Draft, update: &RecordedUpdate) {
    let kind = topic(situation, Some(update));
    let message = "the response to an update was lost; the provider reads whether it began";
    draft.note(kind, Weight::Pending, Reason::ResponseLost, message);
    let list = Query::Updates(situation.desired.name.clone());
    let decided = update.since.plus(LAG);
    let from = situation.memory.calls.shows_all_from().map_or(decided, |from| from.max(decided));
    if situation.begun(&list).is_none_or(|begun| begun < from) {
        return draft.request_read(&list, from);
    }
    let Some(QueryResult::Names(ids)) = draft.read(situation, kind, &list) else { return };
    let Some(shown) = all(situation, draft, kind, ids.iter()) else { return };
    let clock = situation.observed.aws_clock;
    if clock.agreement == Agreement::Unknown {
        // Whether an update began before the call or after it is known when AWS's clock is.
        return draft.wake_at(situation.now.plus(LAG));
    }
    let began =
        |it: &&Update| it.created.is_none_or(|created| clock.local(created).plus(SKEW) >= update.since);
    let own = shown.into_iter().filter(|it| it.kind == Some(update.kind.of_eks())).filter(began);
    if let Some(found) = own.max_by_key(|it| it.created) {
        draft.record.update = Some(RecordedUpdate { id: Some(found.id.clone()), ..update.clone() });
        draft.wake_at(situation.now.plus(std::time::Duration::from_millis(1)));
    } else {
        draft.record.update = None;
        believe_from(situation, draft, update.kind, from);
    }
}

/// All these updates, once each was asked for. One that is over does not change any more.
pub(crate) fn all<'s>(
    situation: &'s Situation<'_>,
    draft: &mut Draft,
    kind: ConditionKind,
    ids: impl Iterator<Item = &'s String>,
) -> Option<Vec<&'s Update>> {
    let mut shown = Vec::new();
    let mut complete = true;
    for id in ids {
        let query = query(situation, id);
        let response = draft.read(situation, kind, &query);
        draft.read.remove(&query);
        if let Some(QueryResult::Update(update)) = response {
            shown.extend(update.as_ref());
        } else {
            complete = false;
        }
    }
    complete.then_some(shown)
}
