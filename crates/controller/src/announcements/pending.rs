//! Announcements about instances, and messages that wait until a pool has acted on them. Plain data; time is
//! a parameter.

use crate::clouds::GroupKey;
use crate::labels::EventKind;
use foo_cloud::Receipt;
use foo_cloud::queue::LONGEST_HIDDEN;
use foo_model::{AwsTime, InstanceId, Signal, SignalKind, Timestamp};
use foo_planner::report::AnnouncementState;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;
use tokio::time::Instant;

/// How long a received message stays hidden from all readers; while it waits, the time is extended. If this
/// manager is killed, the message becomes visible after this time: an interruption leaves two minutes.
pub(super) const HIDDEN: Duration = Duration::from_secs(30);
/// How long before that time ends it is extended: longer than a throttled call takes.
const EXTEND_BEFORE: Duration = Duration::from_secs(10);
/// Maximum number of waiting messages. Beyond it, messages that can wait return to the queue, so that urgent
/// ones are still received.
pub(super) const MOST_PENDING: usize = 500;
/// How long a withdrawal is remembered: AWS announces retirements up to two weeks ahead, and a queue keeps
/// messages no longer.
const WITHDRAWN_FOR: Duration = Duration::from_hours(24 * 14);

/// All announcements and waiting messages.
#[derive(Debug, Default)]
pub(super) struct PendingMessages {
    signals: HashMap<GroupKey, BTreeMap<InstanceId, Signal>>,
    /// Retirements that AWS withdrew, and when.
    withdrawn: BTreeMap<InstanceId, AwsTime>,
    messages: BTreeMap<u64, PendingMessage>,
    next: u64,
}

/// A message that waits until a pool has acted on it.
#[derive(Clone, Debug)]
pub(super) struct PendingMessage {
    pub(super) receipt: Receipt,
    pub(super) kind: EventKind,
    /// When the event happened.
    pub(super) time: AwsTime,
    /// What it waits for; empty once a pool has acted on it.
    pub(super) waits: Vec<Wait>,
    /// It names something unknown here, which may become known later or belong to another manager.
    pub(super) partly_unknown: bool,
    /// How long it is hidden each time.
    pub(super) hide_for: Duration,
    /// When it is too old to wait any longer.
    pub(super) until: Option<Timestamp>,
    /// When it was received.
    pub(super) received: Instant,
    /// Until when other readers do not see it.
    pub(super) hidden_until: Instant,
}

/// What a message waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// A pass over the pool with an observation of its group that is newer than this.
    Observed(GroupKey, Timestamp),
    /// The pool's handling of an announcement about an instance.
    Handled(GroupKey, InstanceId),
}

impl Wait {
    fn group(&self) -> &GroupKey {
        match self {
            Self::Observed(place, _) | Self::Handled(place, _) => place,
        }
    }

    fn group_mut(&mut self) -> &mut GroupKey {
        match self {
            Self::Observed(place, _) | Self::Handled(place, _) => place,
        }
    }
}

/// What to do with messages now.
#[derive(Debug, Default)]
pub(super) struct Due {
    /// Messages that pools have acted on.
    pub(super) done: Vec<PendingMessage>,
    /// Messages that are too old; no pool acted on them.
    pub(super) expired: Vec<PendingMessage>,
    /// Messages whose hidden time must be extended.
    pub(super) hide: Vec<(u64, Receipt, Duration)>,
    /// When the next message is due.
    pub(super) next: Option<Instant>,
}

impl PendingMessages {
    /// Announcements about instances of a group.
    pub(super) fn signals(&self, place: &GroupKey) -> BTreeMap<InstanceId, Signal> {
        self.signals.get(place).cloned().unwrap_or_default()
    }

    /// Records an announcement about an instance; repetitions have no effect. Ignores one that was withdrawn
    /// later: events arrive in any order.
    pub(super) fn announce(&mut self, place: &GroupKey, id: &InstanceId, signal: Signal) {
        let taken_back = self.withdrawn.get(id).is_some_and(|at| *at >= signal.at);
        if signal.kind == SignalKind::Retirement && taken_back {
            return;
        }
        let known = self.signals.entry(place.clone()).or_default();
        let signal = known.get(id).map_or(signal, |before| before.or(signal));
        known.insert(id.clone(), signal);
    }

    /// Removes a retirement that AWS withdrew.
    pub(super) fn withdraw(&mut self, place: &GroupKey, id: &InstanceId, at: AwsTime) {
        self.withdrawn.retain(|_, taken_back| taken_back.until(at) < WITHDRAWN_FOR);
        self.withdrawn.insert(id.clone(), at);
        let Some(signals) = self.signals.get_mut(place) else { return };
        signals.retain(|of, signal| of != id || signal.kind != SignalKind::Retirement || signal.at > at);
        if signals.is_empty() {
            self.signals.remove(place);
        }
        let handled = Wait::Handled(place.clone(), id.clone());
        self.end_waits(|wait| *wait == handled);
    }

    /// Whether there is an announcement about an instance.
    pub(super) fn is_announced(&self, place: &GroupKey, id: &InstanceId) -> bool {
        self.signals.get(place).is_some_and(|signals| signals.contains_key(id))
    }

    /// Whether only messages that cannot wait are still accepted.
    pub(super) fn is_full(&self) -> bool {
        self.messages.len() >= MOST_PENDING
    }

    /// Messages that would stay hidden until their time ends if this manager ended now.
    pub(super) fn receipts(&self) -> Vec<Receipt> {
        self.messages.values().map(|message| message.receipt.clone()).collect()
    }

    /// Adds a waiting message.
    pub(super) fn add(&mut self, message: PendingMessage) {
        self.messages.insert(self.next, message);
        self.next += 1;
    }

    /// The number of waiting messages.
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    /// A pass over a pool has ended, with an observation of the group from `seen_at` and these states of
    /// announcements. Returns whether a message is done now.
    pub(super) fn pass_ended(
        &mut self,
        place: &GroupKey,
        seen_at: Option<Timestamp>,
        states: &BTreeMap<InstanceId, AnnouncementState>,
    ) -> bool {
        if let Some(signals) = self.signals.get_mut(place) {
            signals.retain(|id, _| states.get(id) != Some(&AnnouncementState::Expired));
            if signals.is_empty() {
                self.signals.remove(place);
            }
        }
        self.end_waits(|wait| match wait {
            Wait::Observed(at, after) => at == place && seen_at.is_some_and(|seen| seen > *after),
            Wait::Handled(at, id) => {
                at == place
                    && matches!(states.get(id), Some(AnnouncementState::Handled | AnnouncementState::Expired))
            }
        })
    }

    /// The key of a group changed: moves its announcements and waits.
    pub(super) fn move_group(&mut self, from: &GroupKey, to: &GroupKey) {
        for (id, signal) in self.signals.remove(from).unwrap_or_default() {
            self.announce(to, &id, signal);
        }
        for wait in self.messages.values_mut().flat_map(|message| &mut message.waits) {
            let place = wait.group_mut();
            if place == from {
                *place = to.clone();
            }
        }
    }

    /// The group no longer belongs to a pool.
    pub(super) fn forget(&mut self, place: &GroupKey) -> bool {
        self.signals.remove(place);
        self.end_waits(|wait| wait.group() == place)
    }

    fn end_waits(&mut self, over: impl Fn(&Wait) -> bool) -> bool {
        let mut any = false;
        for message in self.messages.values_mut() {
            let before = message.waits.len();
            message.waits.retain(|wait| !over(wait));
            any |= message.waits.is_empty() && before > 0;
        }
        any
    }

    /// What to do now. Removes messages that are done.
    pub(super) fn due(&mut self, wall: Timestamp, now: Instant) -> Due {
        let mut due = Due::default();
        let mut handled = Vec::new();
        for (number, message) in &self.messages {
            if message.waits.is_empty() {
                due.done.push(message.clone());
                handled.push(*number);
            } else if message.until.is_some_and(|until| until <= wall) {
                due.expired.push(message.clone());
                handled.push(*number);
            } else if now.saturating_duration_since(message.received) + message.hide_for >= LONGEST_HIDDEN {
                // It cannot be hidden any longer; it becomes visible again.
                handled.push(*number);
            } else {
                let again = message.hidden_until.checked_sub(EXTEND_BEFORE).unwrap_or(now);
                if again <= now {
                    due.hide.push((*number, message.receipt.clone(), message.hide_for));
                } else {
                    let expires = message.until.and_then(|until| now.checked_add(wall.until(until)));
                    due.next = [due.next, Some(again), expires].into_iter().flatten().min();
                }
            }
        }
        for number in handled {
            self.messages.remove(&number);
        }
        due
    }

    /// The hidden time of a message was extended.
    pub(super) fn set_hidden_until(&mut self, number: u64, until: Instant) {
        if let Some(message) = self.messages.get_mut(&number) {
            message.hidden_until = until;
        }
    }

    /// The hidden time of a message cannot be extended: it becomes visible again.
    pub(super) fn forget_message(&mut self, number: u64) {
        self.messages.remove(&number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clouds::CloudKey;

    fn place(credentials: &str) -> GroupKey {
        let cloud = CloudKey { credentials: credentials.to_owned(), region: "r".to_owned() };
        GroupKey { cloud, group: "g".into() }
    }

    #[test]
    fn announcements_survive_a_change_of_credentials() {
        let (old, new, id) = (place("old"), place("new"), InstanceId::new("i-1"));
        let mut pending = PendingMessages::default();
        pending.announce(&old, &id, Signal { kind: SignalKind::Interruption, at: AwsTime::from_millis(1) });
        let now = Instant::now();
        pending.add(PendingMessage {
            receipt: Receipt::new("r"),
            kind: EventKind::Interruption,
            time: AwsTime::from_millis(1),
            waits: vec![Wait::Observed(old.clone(), Timestamp(1)), Wait::Handled(old.clone(), id.clone())],
            partly_unknown: false,
            hide_for: HIDDEN,
            until: None,
            received: now,
            hidden_until: now + HIDDEN,
        });
        pending.move_group(&old, &new);
        assert!(pending.signals(&old).is_empty());
        assert!(pending.signals(&new).contains_key(&id));
        assert!(!pending.forget(&old), "nothing waits there any more");
        assert!(pending.pass_ended(&new, Some(Timestamp(2)), &[(id, AnnouncementState::Handled)].into()));
        assert_eq!(pending.due(Timestamp(2), now).done.len(), 1);
    }
}
