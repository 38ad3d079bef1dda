//! Which Machines are deleted when there are too many?
//!
//! This step deletes the Machine and writes nothing to AWS. The Machine's deletionTimestamp is the only
//! record of the choice.

use crate::action::{MachineAction, Precondition};
use crate::capacity_block::ending;
use crate::desired::VictimPolicy;
use crate::draft::{Draft, Postponed, Stage, Until};
use crate::report::EventTrigger;
use crate::situation::{
    ContentState, MachineState, Member, Situation, TargetFailure, has_expired, is_available, target_failure,
};
use crate::steps::budget::room_to_drain;
use foo_model::{EventReason, Health, Machine, MachineName, NodeState, RemovalMark, Timestamp, Zone, count};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// Why a Machine was chosen, in the order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Marked,
    Unhealthy,
    NeverJoined,
    NotReady,
    Outdated,
    Expired,
    Ordinary,
}

impl Rank {
    fn of(situation: &Situation<'_>, member: &Member<'_>, machine: &Machine) -> Self {
        let fails = member.instance.health == Health::Unhealthy
            || machine.unhealthy_because().is_some()
            || matches!(target_failure(situation, member), TargetFailure::Unhealthy(_));
        if machine.mark == RemovalMark::DeleteFirst {
            Self::Marked
        } else if fails {
            Self::Unhealthy
        } else if machine.node == NodeState::None {
            Self::NeverJoined
        } else if machine.node == NodeState::NotReady {
            Self::NotReady
        } else if member.content == ContentState::Outdated {
            Self::Outdated
        } else if has_expired(situation, member) {
            Self::Expired
        } else {
            Self::Ordinary
        }
    }

    /// The policy among equals. Of Machines whose Node never joined, the one that has waited longest comes
    /// first, whatever the policy: a Node that was just launched may still join.
    fn policy(self, policy: VictimPolicy) -> VictimPolicy {
        if self.heeds_zones() { policy } else { VictimPolicy::Oldest }
    }

    fn heeds_zones(self) -> bool {
        self != Self::NeverJoined
    }

    fn reason(self, policy: VictimPolicy) -> &'static str {
        match (self, policy) {
            (Self::Marked, _) => "it is marked for deletion",
            (Self::Unhealthy, _) => {
                "Auto Scaling, MachineHealthCheck or a load balancer reports it as unhealthy"
            }
            (Self::NeverJoined, _) => "its Node never joined",
            (Self::NotReady, _) => "its Node is not Ready",
            (Self::Outdated, _) => "it was launched from an outdated template version",
            (Self::Expired, _) => "it has reached its maximum lifetime",
            (Self::Ordinary, VictimPolicy::Oldest) => "it is the oldest in the fullest zone",
            (Self::Ordinary, VictimPolicy::Newest) => "it is the newest in the fullest zone",
        }
    }
}

pub(crate) struct Candidate<'s, 'a> {
    pub(crate) member: &'s Member<'a>,
    pub(crate) machine: &'a Machine,
    rank: Rank,
}

impl Candidate<'_, '_> {
    /// Why this Machine was chosen.
    pub(crate) fn reason(&self, situation: &Situation<'_>) -> &'static str {
        match self.rank {
            // The message says that already.
            Rank::Outdated => Rank::Ordinary.reason(situation.desired.scale_in.policy),
            rank => rank.reason(situation.desired.scale_in.policy),
        }
    }
}

/// Chooses Machines and deletes them.
pub(crate) fn choose(situation: &Situation<'_>, draft: &mut Draft) {
    if situation.sizable_group().is_none() {
        return;
    }
    let target = situation.target();
    let kept = situation.counts.active;
    let coming = situation.unlaunched();
    let capacity_excess = kept.saturating_add(coming).saturating_sub(target);
    if capacity_excess == 0 {
        return;
    }
    let mut queue = Queue::new(situation);
    let mut chosen = Vec::new();
    let launched_excess = kept.saturating_sub(target);
    let marked_excess =
        if launches_are_overdue(situation, draft) { capacity_excess } else { launched_excess };
    take(&mut queue, Rank::Marked..=Rank::Marked, marked_excess, &mut chosen);
    let marked = count(&chosen);
    draft.reserved = queue.left(Rank::Marked).min(capacity_excess.saturating_sub(marked)).min(coming);

    if let (Some(since), 1..) = (draft.memory.short_since, draft.reserved) {
        draft.wake_at(since.plus(MARK_WAITS));
    }

    let unmarked_excess =
        kept.saturating_sub(marked).saturating_sub(target).saturating_sub(joining(situation, draft));
    let unmarked_excess = unmarked_excess.saturating_sub(replaced_by_aws(situation, draft));
    let budget = room_to_drain(situation, draft).saturating_sub(marked);
    let rooms = unmarked_excess.min(budget);
    let registered = registered_may_go(situation, draft, &queue, unmarked_excess);
    take_spare(situation, &mut queue, rooms, registered, &mut chosen);
    for candidate in &chosen {
        let excess = if candidate.rank == Rank::Marked { capacity_excess } else { launched_excess };
        delete(situation, candidate, excess, draft);
    }
    draft.victims = count(&chosen);
}

/// How long a marked Machine waits for a launch that makes it one too many. The autoscaler counts launches in
/// progress: it marks one Machine, lowers the desired replicas by one, and keeps the one that is launching.
/// If the marked Machine has no deletionTimestamp after five minutes, the autoscaler lowers the desired
/// replicas again for the same Machine, so the wait must end well before that.
const MARK_WAITS: Duration = Duration::from_mins(3);

/// Whether launches in progress have taken too long to wait for.
fn launches_are_overdue(situation: &Situation<'_>, draft: &Draft) -> bool {
    draft.memory.short_since.is_some_and(|since| situation.observed.now >= since.plus(MARK_WAITS))
}

/// How long an unmarked excess waits for instances whose Machines are still being created. They have no Node,
/// so they are chosen before any that has one; Cluster API needs seconds to create the Machines.
const JOINING_WAIT: Duration = Duration::from_mins(1);

/// How many of an unmarked excess are reserved for such instances.
fn joining(situation: &Situation<'_>, draft: &mut Draft) -> u32 {
    let until = draft.memory.excess_since.unwrap_or(situation.observed.now).plus(JOINING_WAIT);
    let unclaimed = [MachineState::New, MachineState::AwaitingMachine]
        .into_iter()
        .map(|standing| situation.members_that_are(standing).count())
        .sum::<usize>();
    if unclaimed == 0 || situation.observed.now >= until {
        return 0;
    }
    draft.wake_at(until);
    u32::try_from(unclaimed).unwrap_or(u32::MAX)
}

/// How many unmarked Machines with a registered Node may be deleted: no more than a target justifies that has
/// lasted for the window, and none while launches fail or shortly afterwards.
///
/// An autoscaler cancels a scale-up that timed out, without marking Machines, and requests it again seconds
/// later; a Node that joined in between already runs pods. If AWS has no capacity, it even reduces below what
/// served all the time, because it compares with an outdated list, corrects that after minutes, and requests
/// again after its back-off.
fn registered_may_go(
    situation: &Situation<'_>,
    draft: &mut Draft,
    queue: &Queue<'_, '_>,
    excess: u32,
) -> u32 {
    let now = situation.observed.now;
    let stabilization = situation.desired.scale_in.stabilization;
    let window = Duration::from(stabilization);
    let surplus = excess.saturating_sub(queue.unmarked(|machine| machine.node == NodeState::None));
    if window.is_zero() {
        return excess;
    }
    let steady = draft.memory.targets.steady(now, window);
    let starved = draft.memory.starved_at.map(|at| at.plus(window)).filter(|until| *until > now);
    let lowered = steady.map_or(u32::MAX, |steady| steady.saturating_sub(situation.target.replicas));
    let free = if starved.is_some() { 0 } else { surplus.saturating_sub(lowered) };
    let held = surplus - free;
    if held == 0 {
        return surplus;
    }
    let there = situation.target.replicas.saturating_add(surplus);
    let steps = draft.memory.targets.steps(there, now, window);
    let first = steps.map(|(first, _)| first).max(starved);
    let last = steps.map(|(_, last)| last).max(starved);
    let until = match (first, last) {
        _ if draft.memory.is_starving(situation.observed.now) => Until::Launches(stabilization),
        (Some(first), Some(last)) if first < last => Until::AtLeast(first),
        (first, _) => Until::At(first.unwrap_or(now)),
    };
    if let Some(first) = first {
        draft.wake_at(first);
    }
    let machines = held.min(queue.unmarked(|machine| machine.node != NodeState::None));
    draft.postponed = (machines > 0).then_some(Postponed { machines, from: steady, until });
    free
}

/// How long AWS has to terminate what it replaces after a change of purchase options. It launches the new
/// instance first, which takes some minutes, and then terminates an old one of its own choice. An excess that
/// lasts longer has another cause.
const AWS_REPLACES_FOR: Duration = Duration::from_mins(15);

/// Instances that AWS launched beyond desired capacity because the purchase options changed, and until when
/// AWS may terminate as many others (Auto Scaling API Reference, InstancesDistribution). If the provider
/// chose one, AWS would launch another for it; raising desired capacity would keep them.
pub(crate) fn left_to_aws(situation: &Situation<'_>) -> Option<(u32, Timestamp)> {
    let until = situation.memory.purchase?.changed?.plus(AWS_REPLACES_FOR);
    let beyond = situation.counts.existing.saturating_sub(situation.view.group()?.sizes.desired);
    (beyond > 0 && situation.observed.now < until).then_some((beyond, until))
}

fn replaced_by_aws(situation: &Situation<'_>, draft: &mut Draft) -> u32 {
    let Some((beyond, until)) = left_to_aws(situation) else { return 0 };
    draft.wake_at(until);
    beyond
}

fn take<'s, 'a>(
    queue: &mut Queue<'s, 'a>,
    ranks: std::ops::RangeInclusive<Rank>,
    limit: u32,
    chosen: &mut Vec<Candidate<'s, 'a>>,
) {
    for _ in 0..limit {
        match queue.next(&ranks) {
            Some(candidate) => chosen.push(candidate),
            None => return,
        }
    }
}

/// Takes unmarked candidates: at most `registered` of those with a Node, and no more serving ones than can be
/// spared. The excess may be instances that do not serve yet.
fn take_spare<'s, 'a>(
    situation: &Situation<'a>,
    queue: &mut Queue<'s, 'a>,
    limit: u32,
    mut registered: u32,
    chosen: &mut Vec<Candidate<'s, 'a>>,
) {
    let marked = count(chosen.iter().filter(|candidate| is_available(situation, candidate.member)));
    let mut spare =
        situation.rollout.available.saturating_sub(marked).saturating_sub(situation.least_available());
    if registered == 0 {
        queue.spare_registered();
    }
    for _ in 0..limit {
        let Some(candidate) = queue.next(&(Rank::Unhealthy..=Rank::Ordinary)) else { return };
        if candidate.machine.node != NodeState::None {
            registered = registered.saturating_sub(1);
            if registered == 0 {
                queue.spare_registered();
            }
        }
        if is_available(situation, candidate.member) {
            if spare == 0 {
                return;
            }
            spare -= 1;
        }
        chosen.push(candidate);
    }
}

fn delete(situation: &Situation<'_>, candidate: &Candidate<'_, '_>, excess: u32, draft: &mut Draft) {
    let target = situation.target.spec_replicas;
    let only_if = match candidate.rank {
        Rank::Marked => Precondition::StillMarkedForDeletion { replicas: target },
        Rank::Unhealthy
        | Rank::NeverJoined
        | Rank::NotReady
        | Rank::Outdated
        | Rank::Expired
        | Rank::Ordinary => Precondition::ReplicasAtMost { replicas: target },
    };
    let (event, why) = if let Some(why) = ending(situation.desired, situation.observed) {
        (EventReason::CapacityBlockEnding, why)
    } else {
        let reason = candidate.rank.reason(situation.desired.scale_in.policy);
        let why = format!("{excess} over the desired {}; {reason}", situation.target.replicas);
        (EventReason::MachineDeleted, why)
    };
    let name = candidate.machine.name.clone();
    draft.deleted.insert(name.clone());
    draft.event(EventTrigger::Machine(name.clone()), event, format!("Deleting Machine {name}: {why}"));
    let uid = candidate.machine.uid.clone();
    draft.act(Stage::Victims, MachineAction::DeleteMachine { name, uid, only_if, why });
}

/// Candidates by rank and zone, each queue in the order of the policy. Taking one compares only the heads of
/// the zones, so choosing among a thousand Machines stays cheap.
pub(crate) struct Queue<'s, 'a> {
    ranks: BTreeMap<Rank, BTreeMap<&'s Zone, VecDeque<Candidate<'s, 'a>>>>,
    /// Remaining Machines, by zone.
    zones: BTreeMap<&'s Zone, u32>,
    policy: VictimPolicy,
}

impl<'s, 'a> Queue<'s, 'a> {
    /// All active members with a Machine. A FooMachine without a Machine is never chosen: Cluster API would
    /// create its Machine a moment later, for an instance that is terminating.
    fn new(situation: &'s Situation<'a>) -> Self {
        Self::of(situation, |_| true)
    }

    /// A part of the active members with a Machine. Zones count all active members.
    pub(crate) fn of(situation: &'s Situation<'a>, includes: impl Fn(&Member<'_>) -> bool) -> Self {
        let policy = situation.desired.scale_in.policy;
        let mut candidates: Vec<Candidate<'s, 'a>> = situation
            .members_that_are(MachineState::Active)
            .filter_map(|member| {
                let machine = member.machine?;
                Some(Candidate { rank: Rank::of(situation, member, machine), member, machine })
            })
            .collect();
        candidates.sort_by(|a, b| a.rank.cmp(&b.rank).then_with(|| by_policy(a.rank.policy(policy), a, b)));
        let mut queue = Self { ranks: BTreeMap::new(), zones: BTreeMap::new(), policy };
        for candidate in candidates {
            let zone = candidate.member.zone();
            *queue.zones.entry(zone).or_default() += 1;
            let spared = candidate.member.cannot_be_drained() && candidate.rank != Rank::Marked;
            if spared || !includes(candidate.member) {
                continue;
            }
            queue.ranks.entry(candidate.rank).or_default().entry(zone).or_default().push_back(candidate);
        }
        queue
    }

    /// Without these Machines, in the counts of the zones.
    pub(crate) fn without(mut self, going: &BTreeSet<MachineName>, situation: &'s Situation<'a>) -> Self {
        for member in situation.members_that_are(MachineState::Active).filter(|it| going.contains(&it.name)) {
            if let Some(left) = self.zones.get_mut(member.zone()) {
                *left = left.saturating_sub(1);
            }
        }
        self
    }

    /// Takes the next candidate of any rank.
    pub(crate) fn any(&mut self) -> Option<Candidate<'s, 'a>> {
        self.next(&(Rank::Marked..=Rank::Ordinary))
    }

    fn spare_registered(&mut self) {
        for zones in self.ranks.values_mut() {
            for queue in zones.values_mut() {
                queue.retain(|candidate| candidate.machine.node == NodeState::None);
            }
        }
    }

    /// How many unmarked candidates of a kind are left.
    fn unmarked(&self, is: impl Fn(&Machine) -> bool) -> u32 {
        let left = self.ranks.range(Rank::Unhealthy..).flat_map(|(_, zones)| zones.values().flatten());
        count(left.filter(|candidate| is(candidate.machine)))
    }

    /// How many candidates of a rank are left.
    fn left(&self, rank: Rank) -> u32 {
        let left = self.ranks.get(&rank).map_or(0, |zones| zones.values().map(VecDeque::len).sum());
        u32::try_from(left).unwrap_or(u32::MAX)
    }

    /// Takes the next candidate: of the lowest rank, from the fullest zone, by policy, by name.
    fn next(&mut self, ranks: &std::ops::RangeInclusive<Rank>) -> Option<Candidate<'s, 'a>> {
        let policy = self.policy;
        let zones = &mut self.zones;
        self.ranks.range_mut(ranks.clone()).find_map(|(rank, queues)| {
            let policy = rank.policy(policy);
            let size = |zone: &Zone| zones.get(zone).copied().unwrap_or(0);
            let (zone, _) = queues.iter().filter_map(|(zone, queue)| Some((*zone, queue.front()?))).min_by(
                |(a, first), (b, second)| {
                    let by_zone = size(b).cmp(&size(a)).then_with(|| by_policy(policy, first, second));
                    if rank.heeds_zones() { by_zone } else { by_policy(policy, first, second) }
                },
            )?;
            let taken = queues.get_mut(zone)?.pop_front()?;
            if let Some(left) = zones.get_mut(zone) {
                *left = left.saturating_sub(1);
            }
            Some(taken)
        })
    }
}

fn by_policy(policy: VictimPolicy, a: &Candidate<'_, '_>, b: &Candidate<'_, '_>) -> Ordering {
    let by_age = a.machine.created.cmp(&b.machine.created);
    let by_age = match policy {
        VictimPolicy::Oldest => by_age,
        VictimPolicy::Newest => by_age.reverse(),
    };
    by_age.then_with(|| a.machine.name.cmp(&b.machine.name))
}
