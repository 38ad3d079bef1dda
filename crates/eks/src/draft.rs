//! A plan being written: actions, what the record says before they are sent, reads, timers and what is said about each condition.

use crate::action::Action;
use crate::hash;
use crate::memory::{Failure, Memory};
use crate::recorded::{Recorded, RecordedFailure, RecordedUpdate, UpdateKind};
use crate::refusals::{explained, is_about_a_role, is_missing_right, is_no_change};
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::timing::{ASK_AGAIN, PROPAGATION, PROPAGATION_RETRY, TRY_AGAIN};
use foo_calls::{Names, Refusal};
use foo_model::eks::{Change, Query, QueryResult};
use foo_model::{Reason, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// A plan being written.
pub(crate) struct Draft {
    pub(crate) actions: Vec<Action>,
    pub(crate) record: Recorded,
    pub(crate) memory: Memory,
    pub(crate) notes: Vec<Note>,
    /// An update of the version is under way or next: from what to what.
    pub(crate) upgrading: Option<String>,
    /// Something is waited for, besides a maintenance window.
    pub(crate) unsettled: bool,
    /// Something waits for a maintenance window.
    pub(crate) awaits_window: bool,
    /// The updates of add-ons that wait for one, in words.
    pub(crate) held: Vec<String>,
    pub(crate) reads: BTreeMap<Query, Timestamp>,
    /// What EKS is working on: one of these is asked at a time.
    pub(crate) waits: BTreeSet<Query>,
    /// The queries of the plan: in an idle cluster they are repeated in turn.
    pub(crate) read: BTreeSet<Query>,
    /// Of these what changes without the provider: in an idle cluster they are repeated more often.
    pub(crate) awaited: BTreeSet<Query>,
    timers: Vec<Timestamp>,
}

/// What is said in a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) kind: ConditionKind,
    pub(crate) weight: Weight,
    pub(crate) reason: Reason,
    pub(crate) message: String,
}

/// How bad what is said is; the worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// It is not as requested, and does not become so by itself soon.
    Failed,
    /// It takes its time.
    Pending,
    /// Nothing is left to do here.
    Idle,
    /// It begins in a maintenance window, and nothing is wrong until then.
    Scheduled,
}

impl Draft {
    pub(crate) fn new(situation: &Situation<'_>) -> Self {
        Self {
            actions: Vec::new(),
            record: situation.record.clone(),
            memory: situation.memory.clone(),
            notes: Vec::new(),
            upgrading: None,
            unsettled: false,
            awaits_window: false,
            held: Vec::new(),
            reads: BTreeMap::new(),
            waits: BTreeSet::new(),
            read: BTreeSet::new(),
            awaited: BTreeSet::new(),
            timers: Vec::new(),
        }
    }

    /// A read is needed, begun at this moment or later.
    pub(crate) fn request_read(&mut self, query: &Query, from: Timestamp) {
        let entry = self.reads.entry(query.clone()).or_insert(from);
        *entry = (*entry).min(from);
    }

    /// Plan again at this moment even if nothing happens.
    pub(crate) fn wake_at(&mut self, at: Timestamp) {
        self.timers.push(at);
    }

    /// The next moment at which to plan again.
    pub(crate) fn next_timer(&self, now: Timestamp) -> Option<Timestamp> {
        self.timers.iter().copied().filter(|at| *at > now).min()
    }

    /// Says something in a condition.
    pub(crate) fn note(
        &mut self,
        kind: ConditionKind,
        weight: Weight,
        reason: Reason,
        message: impl Into<String>,
    ) {
        match weight {
            Weight::Failed | Weight::Pending => self.unsettled = true,
            Weight::Idle => {}
            Weight::Scheduled => self.awaits_window = true,
        }
        self.notes.push(Note { kind, weight, reason, message: message.into() });
    }

    /// The result of a query, if it is recent enough. Otherwise the query is requested, and the condition says so.
    pub(crate) fn read<'s>(
        &mut self,
        situation: &'s Situation<'_>,
        kind: ConditionKind,
        query: &Query,
    ) -> Option<&'s QueryResult> {
        self.read.insert(query.clone());
        let distrusted = situation.distrusted(query);
        let response = situation.shown.get(query).filter(|_| distrusted.is_none());
        let failed = situation.observed.failed.get(query);
        let from = distrusted.unwrap_or(situation.now);
        let from = failed.map_or(from, |it| it.at.plus(ASK_AGAIN.after(it.times)).max(from));
        if failed.is_some() || response.is_none() {
            self.request_read(query, from);
        }
        match (failed, response) {
            (Some(failed), None) => self.report_failed_read(kind, query, failed.times, &failed.refusal),
            // The earlier response is good enough for a while.
            (Some(failed), Some(_)) if failed.times >= 3 => {
                self.report_failed_read(kind, query, failed.times, &failed.refusal);
            }
            (None, None) => self.note_unread(kind, query),
            (Some(_) | None, Some(_)) => {}
        }
        response
    }

    /// A condition reports that a read is awaited.
    pub(crate) fn note_unread(&mut self, kind: ConditionKind, query: &Query) {
        let message = format!("waiting for a read of {}", in_words(query));
        self.note(kind, Weight::Pending, Reason::AskingEks, message);
    }

    /// Drops from the record the names that neither the spec nor the result of this query has: `is_over`. If the newest read may not show
    /// all that was done, it drops none, and requests one that does. Returns whether no such name is left.
    pub(crate) fn forget<N: Names>(
        &mut self,
        situation: &Situation<'_>,
        query: &Query,
        names: impl FnOnce(&mut Recorded) -> &mut N,
        is_over: impl FnMut(&N::Name) -> bool,
    ) -> bool {
        let begun = situation.begun(query);
        let from = situation.memory.calls.forget(begun, names(&mut self.record), is_over);
        if let Some(from) = from {
            self.request_read(query, from);
        }
        from.is_none()
    }

    fn report_failed_read(&mut self, kind: ConditionKind, query: &Query, times: u32, refusal: &Refusal) {
        let weight =
            if refusal.reason.is_transient() && times < 5 { Weight::Pending } else { Weight::Failed };
        let message = format!("asking for {}: {}", in_words(query), refusal.message);
        self.note(kind, weight, refusal.reason, message);
    }

    /// EKS is working on it: it is asked again in a while.
    pub(crate) fn wait(&mut self, query: &Query) {
        self.waits.insert(query.clone());
    }

    /// Sends a call, unless it failed lately. Says what AWS said. A token is added: the one of before if that response was lost, otherwise
    /// one of this moment, so that EKS does not repeat the response to an earlier call that was the same.
    pub(crate) fn send(
        &mut self,
        situation: &Situation<'_>,
        kind: ConditionKind,
        change: &Change,
        why: impl Into<String>,
    ) -> bool {
        let moment = situation.now.0.to_string();
        let content = hash::content(change);
        let desired = situation.desired;
        let token = hash::token(&[&desired.id, &desired.uid, &content, &moment]);
        self.send_with(situation, kind, change.clone(), token, why)
    }

    /// Sends a call with its own token, if the operation takes one.
    pub(crate) fn send_with(
        &mut self,
        situation: &Situation<'_>,
        kind: ConditionKind,
        change: Change,
        token: String,
        why: impl Into<String>,
    ) -> bool {
        self.unsettled = true;
        let token = change.facts().takes_token.then_some(token);
        let mut action = Action { change, token, why: why.into() };
        if let Some(failure) = situation.memory.calls.failure(&action) {
            self.say_failure(situation, kind, failure);
            let at = next_try(situation, failure);
            if at > situation.now {
                self.wake_at(at);
                return false;
            }
            let change = &action.change;
            if failure.lost && !change.creates_cluster() && !change.updates_cluster() {
                action.token.clone_from(&failure.action.token);
            }
        }
        foo_calls::add(&mut self.actions, action);
        true
    }

    fn say_failure(&mut self, situation: &Situation<'_>, kind: ConditionKind, failure: &Failure) {
        let refusal = &failure.refusal;
        if is_no_change(refusal) {
            return;
        }
        let message = failure.named(&explained(refusal));
        if is_missing_right(refusal) {
            return self.note(kind, Weight::Failed, Reason::AccessDenied, message);
        }
        if is_about_a_role(refusal) {
            let passing = failure.first.until(situation.now) < PROPAGATION;
            let weight = if passing { Weight::Pending } else { Weight::Failed };
            return self.note(kind, weight, Reason::RoleNotUsable, message);
        }
        let weight = if failure.is_passing() { Weight::Pending } else { Weight::Failed };
        self.note(kind, weight, refusal.reason, message);
    }

    /// Begins an update of the cluster, of which EKS makes one at a time. Whether it is sent.
    pub(crate) fn update(
        &mut self,
        situation: &Situation<'_>,
        kind: ConditionKind,
        update: UpdateKind,
        change: &Change,
        why: impl Into<String>,
    ) -> bool {
        let content = hash::content(change);
        if self.is_to_wait(situation, kind, Reason::ClusterUpdateFailed, update.name(), &content) {
            return false;
        }
        let count = self.record.updates.get(&update).copied().unwrap_or(0).saturating_add(1);
        let desired = situation.desired;
        let token = hash::token(&[&desired.id, &desired.uid, update.name(), &count.to_string(), &content]);
        let sent = self.send_with(situation, kind, change.clone(), token, why);
        if sent {
            self.record.updates.insert(update, count);
            self.record.update =
                Some(RecordedUpdate { kind: update, content, id: None, since: situation.now });
        }
        sent
    }

    /// Whether the same failed in EKS lately. Says so.
    pub(crate) fn is_to_wait(
        &mut self,
        situation: &Situation<'_>,
        kind: ConditionKind,
        reason: Reason,
        name: &str,
        content: &str,
    ) -> bool {
        let Some(failed) = self.record.failed.get(name).filter(|it| it.content == content).cloned() else {
            return false;
        };
        self.note(kind, Weight::Failed, reason, failed.message);
        let at = failed.at.plus(TRY_AGAIN.after(failed.times));
        self.wake_at(at);
        at > situation.now
    }

    /// Records that something failed in EKS.
    pub(crate) fn fails(&mut self, now: Timestamp, name: &str, content: &str, message: String) {
        let before = self.record.failed.get(name).filter(|it| it.content == content);
        let times = before.map_or(0, |it| it.times).saturating_add(1);
        let failure = RecordedFailure { content: content.to_owned(), message, times, at: now };
        self.record.failed.insert(name.to_owned(), failure);
    }
}

/// When a failed call may be sent again.
fn next_try(situation: &Situation<'_>, failure: &Failure) -> Timestamp {
    if is_about_a_role(&failure.refusal) && failure.first.until(situation.now) < PROPAGATION {
        return failure.at.plus(PROPAGATION_RETRY);
    }
    failure.next_try()
}

/// What a query asks for.
pub(crate) fn in_words(query: &Query) -> String {
    match query {
        Query::Cluster(name) => format!("the cluster {name}"),
        Query::Updates(_) => "the updates of the cluster".to_owned(),
        Query::Update { id, .. } => format!("the update {id}"),
        Query::Insights(_) => "the upgrade insights".to_owned(),
        Query::InsightsRefresh(_) => "the refresh of the upgrade insights".to_owned(),
        Query::Addons(_) => "the add-ons".to_owned(),
        Query::Addon { name, .. } => format!("the add-on {name}"),
        Query::AccessEntries(_) => "the access entries".to_owned(),
        Query::AccessEntry { principal, .. } => format!("the access entry of {principal}"),
        Query::AccessPolicies { principal, .. } => format!("the access policies of {principal}"),
        Query::PodIdentities(_) => "the pod identity associations".to_owned(),
        Query::PodIdentity { id, .. } => format!("the pod identity association {id}"),
        Query::IdentityProviders(_) => "the identity providers".to_owned(),
        Query::IdentityProvider { name, .. } => format!("the identity provider {name}"),
        Query::Versions => "the Kubernetes versions that EKS offers".to_owned(),
        Query::AddonReleases { addon, kubernetes } => {
            format!("the versions of {addon} for Kubernetes {kubernetes}")
        }
        Query::AddonSchema { addon, version } => format!("the configuration of {addon} {version}"),
        Query::Role(name) => format!("the role {name}"),
        Query::InstanceProfile(name) => format!("the instance profile {name}"),
        Query::OidcProvider(arn) => format!("the OIDC provider {arn}"),
    }
}
