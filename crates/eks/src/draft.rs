//! A plan being written: actions, what the record says before they are sent, looks, timers and what is said about each condition.

use crate::action::Action;
use crate::hash;
use crate::memory::{Failure, Memory};
use crate::recorded::{Recorded, RecordedFailure, RecordedUpdate, UpdateKind};
use crate::refusals::{explained, is_about_a_role, is_missing_right, is_no_change};
use crate::report::ConditionKind;
use crate::situation::Situation;
use crate::timing::{ASK_AGAIN, PROPAGATION, PROPAGATION_RETRY, TRY_AGAIN};
use foo_calls::Refusal;
use foo_model::eks::{Answer, Change, Question};
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
    /// Something is waited for.
    pub(crate) unsettled: bool,
    pub(crate) looks: BTreeMap<Question, Timestamp>,
    /// What EKS is working on: one of these is asked at a time.
    pub(crate) waits: BTreeSet<Question>,
    /// What the plan read: at rest each is asked in turn.
    pub(crate) read: BTreeSet<Question>,
    /// Of these what becomes as it should be without us: at rest it is asked more often.
    pub(crate) awaited: BTreeSet<Question>,
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
            looks: BTreeMap::new(),
            waits: BTreeSet::new(),
            read: BTreeSet::new(),
            awaited: BTreeSet::new(),
            timers: Vec::new(),
        }
    }

    /// A look is needed, begun at this moment or later.
    pub(crate) fn look(&mut self, question: &Question, from: Timestamp) {
        let entry = self.looks.entry(question.clone()).or_insert(from);
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
        self.unsettled |= weight != Weight::Idle;
        self.notes.push(Note { kind, weight, reason, message: message.into() });
    }

    /// The answer to a question, as far as it can be believed. Otherwise it is asked, and the condition says so.
    pub(crate) fn read<'s>(
        &mut self,
        situation: &'s Situation<'_>,
        kind: ConditionKind,
        question: &Question,
    ) -> Option<&'s Answer> {
        self.read.insert(question.clone());
        let distrusted = situation.distrusted(question);
        let answer = situation.shown.get(question).filter(|_| distrusted.is_none());
        let failed = situation.observed.failed.get(question);
        let from = distrusted.unwrap_or(situation.now);
        let from = failed.map_or(from, |it| it.at.plus(ASK_AGAIN.after(it.times)).max(from));
        if failed.is_some() || answer.is_none() {
            self.look(question, from);
        }
        match (failed, answer) {
            (Some(failed), None) => self.say_failed_look(kind, question, failed.times, &failed.refusal),
            // The answer of before is good enough for a while.
            (Some(failed), Some(_)) if failed.times >= 3 => {
                self.say_failed_look(kind, question, failed.times, &failed.refusal);
            }
            (None, None) => {
                let message = format!("AWS is asked for {}", in_words(question));
                self.note(kind, Weight::Pending, Reason::AskingEks, message);
            }
            (Some(_) | None, Some(_)) => {}
        }
        answer
    }

    fn say_failed_look(&mut self, kind: ConditionKind, question: &Question, times: u32, refusal: &Refusal) {
        let weight =
            if refusal.reason.is_transient() && times < 5 { Weight::Pending } else { Weight::Failed };
        let message = format!("asking for {}: {}", in_words(question), refusal.message);
        self.note(kind, weight, refusal.reason, message);
    }

    /// EKS is working on it: it is asked again in a while.
    pub(crate) fn wait(&mut self, question: &Question) {
        self.waits.insert(question.clone());
    }

    /// Sends a call, unless it failed lately. Says what AWS said. A token is added: the one of before if that answer was lost, otherwise
    /// one of this moment, so that EKS does not repeat the answer to an earlier call that was the same.
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

/// What a question asks for.
pub(crate) fn in_words(question: &Question) -> String {
    match question {
        Question::Cluster(name) => format!("the cluster {name}"),
        Question::Updates(_) => "the updates of the cluster".to_owned(),
        Question::Update { id, .. } => format!("the update {id}"),
        Question::Insights(_) => "the upgrade insights".to_owned(),
        Question::InsightsRefresh(_) => "the refresh of the upgrade insights".to_owned(),
        Question::Addons(_) => "the add-ons".to_owned(),
        Question::Addon { name, .. } => format!("the add-on {name}"),
        Question::AccessEntries(_) => "the access entries".to_owned(),
        Question::AccessEntry { principal, .. } => format!("the access entry of {principal}"),
        Question::AccessPolicies { principal, .. } => format!("the access policies of {principal}"),
        Question::PodIdentities(_) => "the pod identity associations".to_owned(),
        Question::PodIdentity { id, .. } => format!("the pod identity association {id}"),
        Question::Versions => "the Kubernetes versions that EKS offers".to_owned(),
        Question::AddonReleases { addon, kubernetes } => {
            format!("the versions of {addon} for Kubernetes {kubernetes}")
        }
        Question::AddonSchema { addon, version } => format!("the configuration of {addon} {version}"),
        Question::Role(name) => format!("the role {name}"),
        Question::InstanceProfile(name) => format!("the instance profile {name}"),
        Question::OidcProvider(arn) => format!("the OIDC provider {arn}"),
    }
}
