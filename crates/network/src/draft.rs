//! A plan being written: actions, what the record says before they are sent, reads, timers and what is said about each role.

use crate::action::Action;
use crate::desired::DriftPolicy;
use crate::hash;
use crate::memory::{Failure, Memory};
use crate::recorded::{Intent, Origin, Recorded};
use crate::report::ReadRequest;
use crate::role::Role;
use crate::situation::{Situation, Standing, may_be_sent_again};
use crate::timing::{LAG, PATIENCE, WORKING, later};
use foo_model::names::{TAG_CLUSTER, TAG_NETWORK};
use foo_model::network::{Change, Kind, Scope, Tags};
use foo_model::{Reason, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// A plan being written.
pub(crate) struct Draft {
    pub(crate) actions: Vec<Action>,
    pub(crate) record: Recorded,
    pub(crate) memory: Memory,
    pub(crate) notes: Vec<Note>,
    pub(crate) wants_quotas: bool,
    /// What is not created although it is requested; the notes say why.
    pub(crate) withheld: BTreeSet<Role>,
    /// Something is waited for.
    pub(crate) unsettled: bool,
    reads: BTreeMap<(Kind, Scope), Timestamp>,
    timers: Vec<Timestamp>,
    fixes: BTreeMap<Role, Vec<(Change, String)>>,
    tag_fixes: BTreeMap<Role, (String, Tags)>,
    contents: BTreeMap<Role, String>,
    incomplete: BTreeSet<Role>,
}

/// What is said about a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) role: Role,
    pub(crate) weight: Weight,
    pub(crate) reason: Reason,
    pub(crate) message: String,
}

/// How bad what is said is; the worst comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Weight {
    /// The part is not as requested, and does not become so by itself soon.
    Failed,
    /// It takes its time.
    Pending,
    /// A person or another program changed it, and the drift policy leaves it like that.
    Drifted,
    /// The part is as requested as far as that is possible, and something about that is worth knowing.
    Noted,
}

impl Draft {
    pub(crate) fn new(situation: &Situation<'_>) -> Self {
        Self {
            actions: Vec::new(),
            record: situation.record.clone(),
            memory: situation.memory.clone(),
            notes: Vec::new(),
            wants_quotas: false,
            withheld: BTreeSet::new(),
            unsettled: false,
            reads: BTreeMap::new(),
            timers: Vec::new(),
            fixes: BTreeMap::new(),
            tag_fixes: BTreeMap::new(),
            contents: BTreeMap::new(),
            incomplete: BTreeSet::new(),
        }
    }

    /// The shared read of this kind is needed, begun at this moment or later.
    pub(crate) fn request_read(&mut self, kind: Kind, from: Timestamp) {
        self.request_read_in(kind, Scope::TagKey(TAG_NETWORK.to_owned()), from);
    }

    /// A read in another scope is needed.
    pub(crate) fn request_read_in(&mut self, kind: Kind, scope: Scope, from: Timestamp) {
        let entry = self.reads.entry((kind, scope)).or_insert(from);
        *entry = (*entry).min(from);
    }

    /// Plan again at this moment even if nothing happens.
    pub(crate) fn wake_at(&mut self, at: Timestamp) {
        self.timers.push(at);
    }

    /// Says something about a role.
    pub(crate) fn note(&mut self, role: &Role, weight: Weight, reason: Reason, message: impl Into<String>) {
        self.unsettled |= match weight {
            Weight::Failed | Weight::Pending => true,
            Weight::Drifted | Weight::Noted => false,
        };
        self.notes.push(Note { role: role.clone(), weight, reason, message: message.into() });
    }

    /// The role's content is not complete yet, for a reason that no fix of this plan ends.
    pub(crate) fn incomplete(&mut self, role: &Role, message: impl Into<String>) {
        self.incomplete.insert(role.clone());
        self.note(role, Weight::Pending, Reason::CreatingNetwork, message);
    }

    /// What the role's content is to be, to know later whether it was reached once.
    pub(crate) fn content(&mut self, role: &Role, content: &impl std::fmt::Debug) {
        use std::fmt::Write as _;
        let text = self.contents.entry(role.clone()).or_default();
        // Writing to a String does not fail.
        let _ = write!(text, "{content:?};");
    }

    /// What has to be changed so that the role's content is as desired. Whether that is done is decided when all is known.
    pub(crate) fn fix(&mut self, role: &Role, change: Change, why: impl Into<String>) {
        self.fixes.entry(role.clone()).or_default().push((change, why.into()));
    }

    /// Tags that the role's part lacks.
    pub(crate) fn fix_tags(&mut self, role: &Role, id: &str, tags: Tags) {
        self.tag_fixes.insert(role.clone(), (id.to_owned(), tags));
    }

    /// Creates the role's part unless it exists or may exist. `change` is given the token of the attempt.
    pub(crate) fn create(
        &mut self,
        situation: &Situation<'_>,
        role: &Role,
        change: impl FnOnce(String) -> Change,
    ) {
        if self.holds(situation, role) || self.withheld.contains(role) {
            return;
        }
        if !situation.was_read(role.kind()) {
            self.request_read(role.kind(), situation.now);
            return self.note(role, Weight::Pending, Reason::CreatingNetwork, "waiting for a read");
        }
        let attempt = situation.record.attempts.get(role).copied().unwrap_or(0);
        let intent = situation.record.intents.get(role).cloned();
        let attempt = intent.as_ref().map_or(attempt, |it| it.attempt);
        let change =
            change(hash::token(&situation.desired.network_id, &situation.desired.uid, role, attempt));
        if let Some(intent) = &intent
            && !(may_be_sent_again(role) && intent.origin == Origin::Decided)
        {
            return self.wait_for_intent(situation, role, intent);
        }
        let why = format!("{role} does not exist");
        if self.send(situation, role, change, why) {
            let intent = Intent { since: situation.now, attempt, origin: Origin::Decided };
            self.record.intents.entry(role.clone()).or_insert(intent);
        }
    }

    /// Whether the role has a part. Says so if it cannot be used.
    pub(crate) fn holds(&mut self, situation: &Situation<'_>, role: &Role) -> bool {
        let Some(held) = situation.held.get(role) else { return false };
        let id = &held.id;
        match held.standing {
            Standing::Shown => {}
            Standing::Hidden => self.incomplete(role, format!("AWS does not show {id}; it is read again")),
            Standing::Disowned => {
                let message = format!(
                    "{id} lost its tag {TAG_NETWORK} or {TAG_CLUSTER}, so it is not touched; add the tag again"
                );
                self.note(role, Weight::Failed, Reason::NetworkTagRemoved, message);
            }
        }
        true
    }

    /// Only reads show whether it happened.
    pub(crate) fn wait_for_intent(&mut self, situation: &Situation<'_>, role: &Role, intent: &Intent) {
        let base = match intent.origin {
            Origin::Decided => later(intent.since, situation.memory.calls.started),
            Origin::Assumed => intent.since,
        };
        let lost = situation.memory.calls.failures.iter().filter(|it| it.action.role == *role && it.lost);
        let lost = lost.map(|it| it.at).max();
        let base = later(base, lost);
        let begun = situation.observed.tagged.begun.get(&role.kind()).copied();
        let next = begun.map_or(base, |begun| begun.plus(LAG)).max(base);
        self.request_read(role.kind(), next.min(base.plus(PATIENCE).max(later(base, begun))));
        if *role == Role::VpcIpv6 && lost.is_none() {
            // AWS assigns it after the response.
            self.unsettled = true;
            return;
        }
        let message = "the response to its creation was lost; the provider reads whether it exists";
        self.note(role, Weight::Pending, Reason::ResponseLost, message);
    }

    /// Sends a call, unless it failed lately. Says what AWS said.
    pub(crate) fn send(
        &mut self,
        situation: &Situation<'_>,
        role: &Role,
        change: Change,
        why: impl Into<String>,
    ) -> bool {
        let action = Action { role: role.clone(), change, why: why.into() };
        self.unsettled = true;
        if let Some(failure) = situation.memory.calls.failure(&action) {
            self.say_failure(role, failure);
            if !self.may_repeat(situation, role, failure) {
                return false;
            }
        }
        let deleted: BTreeSet<String> = action.change.deleted().into_iter().map(str::to_owned).collect();
        if foo_calls::add(&mut self.actions, action) {
            self.record.deletes(&deleted);
        }
        true
    }

    fn say_failure(&mut self, role: &Role, failure: &Failure) {
        let refusal = &failure.refusal;
        let message = failure.named(&refusal.message);
        let weight = if failure.is_passing() { Weight::Pending } else { Weight::Failed };
        let message = if refusal.reason == Reason::LimitExceeded {
            format!("{message}; it is tried again at {}", failure.next_try().time_of_day())
        } else {
            message
        };
        self.note(role, weight, refusal.reason, message);
    }

    fn may_repeat(&mut self, situation: &Situation<'_>, role: &Role, failure: &Failure) -> bool {
        let at = failure.next_try();
        let begun = situation.observed.tagged.begun.get(&role.kind()).copied();
        let is_current = begun.is_some_and(|begun| begun >= failure.at);
        // What has a token may be sent again at once: it does not happen twice.
        let needs_read = failure.lost && failure.action.change.token().is_none();
        if !is_current && (failure.lost || !failure.refusal.reason.is_transient()) {
            self.request_read(role.kind(), failure.at);
        }
        if at > situation.now {
            self.wake_at(at);
        }
        at <= situation.now && (is_current || !needs_read)
    }

    /// Requests another read of what AWS is working on.
    pub(crate) fn watch(&mut self, situation: &Situation<'_>, kind: Kind) {
        let begun = situation.observed.tagged.begun.get(&kind).copied().unwrap_or(situation.now);
        self.request_read(kind, begun.plus(WORKING));
    }

    /// Decides on all fixes: each is sent, or under the policy Warn only reported if the content was as requested once, so that a person
    /// or another program changed it since.
    pub(crate) fn settle_fixes(&mut self, situation: &Situation<'_>) {
        let mut tags: BTreeMap<Tags, (Role, BTreeSet<String>)> = BTreeMap::new();
        for (role, content) in std::mem::take(&mut self.contents) {
            let hash = hash::content(&content);
            let fixes = self.fixes.remove(&role).unwrap_or_default();
            let lacking = self.tag_fixes.remove(&role);
            let reached = self.record.reached.get(&role) == Some(&hash);
            let complete = !self.incomplete.contains(&role);
            if fixes.is_empty() && lacking.is_none() {
                if complete && situation.held.contains_key(&role) {
                    self.record.reached.insert(role, hash);
                }
                continue;
            }
            if reached && situation.desired.drift == DriftPolicy::Warn {
                self.report_drift(&role, &fixes, lacking.as_ref());
                continue;
            }
            for (change, why) in fixes {
                self.send(situation, &role, change, why);
            }
            if let Some((id, lacking)) = lacking {
                tags.entry(lacking).or_insert_with(|| (role, BTreeSet::new())).1.insert(id);
            }
        }
        for (tags, (role, ids)) in tags {
            self.send(situation, &role, Change::CreateTags { ids, tags }, "tags are missing or differ");
        }
    }

    fn report_drift(&mut self, role: &Role, fixes: &[(Change, String)], tags: Option<&(String, Tags)>) {
        for (_, why) in fixes {
            self.note(role, Weight::Drifted, Reason::NetworkDrifted, why.clone());
        }
        if let Some((_, tags)) = tags {
            let keys: Vec<&str> = tags.keys().map(String::as_str).collect();
            let message = format!("tags are missing or differ: {}", keys.join(", "));
            self.note(role, Weight::Drifted, Reason::NetworkDrifted, message);
        }
    }

    /// The reads that are needed, and when to plan again if none comes.
    pub(crate) fn next(&mut self, now: Timestamp) -> (Vec<ReadRequest>, Option<Timestamp>) {
        let reads = std::mem::take(&mut self.reads);
        let reads = reads.into_iter().map(|((kind, scope), from)| ReadRequest { kind, scope, from });
        let timers = self.timers.iter().copied().filter(|at| *at > now);
        (reads.collect(), timers.min())
    }
}
