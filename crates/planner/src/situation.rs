//! What is the case: the three sources (group, FooMachines, Machines) joined per instance and counted, once per pass.
//!
//! Nothing is decided here. Every question the steps ask of the world is a function of [`Situation`].

use crate::desired::{Desired, Goal, OnFailure, Size, Wanted};
use crate::memory::Memory;
use crate::model::group::{GroupStatus, TemplateChoice};
use crate::model::{
    FooMachine, Group, Instance, InstanceId, LifecycleState, Machine, MachineName, Signal, SignalKind,
    SpecHash, TemplateVersion, Zone,
};
use crate::names::machine_name;
use crate::observed::{Look, Observed, Quarantine, Stray, Verdict};
use crate::rollout::Standpoint;
use crate::signals;
use crate::tally::Tally;
use std::collections::BTreeMap;

/// All that is the case with one pool.
pub(crate) struct Situation<'a> {
    pub(crate) desired: &'a Desired,
    pub(crate) observed: &'a Observed,
    /// Memory with all that was seen struck off.
    pub(crate) memory: &'a Memory,
    pub(crate) view: View<'a>,
    /// One per instance in the view, by instance id.
    pub(crate) members: Vec<Member<'a>>,
    /// FooMachines whose instance is not in the view, by name.
    pub(crate) absentees: Vec<Absentee<'a>>,
    pub(crate) tally: Tally,
    pub(crate) capacity: Capacity,
    pub(crate) wish: Wish,
    /// The wanted content was given up on, and why.
    pub(crate) given_up: Option<&'a Quarantine>,
    /// Spec hash of what is launched instead of wanted content that was given up on.
    pub(crate) fallback: Option<&'a SpecHash>,
    /// Where the replacement of outdated instances stands.
    pub(crate) rollout: Standpoint,
    /// Instances beyond the wish that are wanted for the sake of what is at risk.
    pub(crate) spare: u32,
    /// The same while those that go for that reason are still there.
    pub(crate) spare_held: u32,
    /// Spec hashes of our template's versions, as far as known.
    hashes: BTreeMap<TemplateVersion, &'a SpecHash>,
}

/// What is known of the group.
#[derive(Clone, Copy)]
pub(crate) enum View<'a> {
    /// Never looked.
    Unknown,
    /// Looking failed.
    Failed { reason: &'a str, message: &'a str },
    /// There is none.
    Absent,
    /// There is one without our ownership tags, or of another management cluster.
    Foreign(&'a Group),
    /// Ours.
    Ours(&'a Group),
}

/// One instance of the group with what Kubernetes knows of it.
pub(crate) struct Member<'a> {
    pub(crate) instance: &'a Instance,
    pub(crate) foo_machine: Option<&'a FooMachine>,
    pub(crate) machine: Option<&'a Machine>,
    /// EC2's word on it; `None` when nobody asked, and when it has no FooMachine.
    pub(crate) word: Option<Stray>,
    /// What AWS announced about it.
    pub(crate) signal: Option<Signal>,
    pub(crate) name: MachineName,
    pub(crate) standing: Standing,
    pub(crate) generation: Generation,
}

/// Where a member stands between the cloud and Kubernetes (the table in the planner's specification).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// Capacity without a FooMachine.
    New,
    /// Capacity with a FooMachine that has no Machine yet.
    Unclaimed,
    /// Capacity with a Machine that stays.
    Kept,
    /// Capacity that AWS takes back in a moment; its Machine is about to be deleted for it.
    Doomed,
    /// Its Machine is being deleted: Cluster API is at work.
    Draining,
    /// Its FooMachine is being deleted although its Machine is alive: a person did that.
    Undercut,
    /// Cluster API let go of its FooMachine: we may end it.
    Released,
    /// We ended it and have not seen it leave yet.
    Ending,
    /// On its way out.
    Leaving,
    /// A member, yet neither capacity nor on its way out: standby, warm pool, being detached, unknown.
    Aside,
}

impl Standing {
    /// It exists and will go.
    pub(crate) fn is_going(self) -> bool {
        matches!(self, Self::Doomed | Self::Draining | Self::Undercut | Self::Released)
    }
}

/// Whether an instance was launched from the wanted content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Generation {
    Current,
    Outdated,
    Unknown,
}

/// A FooMachine whose instance is not in the group.
pub(crate) struct Absentee<'a> {
    pub(crate) foo_machine: &'a FooMachine,
    pub(crate) machine: Option<&'a Machine>,
    /// EC2's word; `None` when nobody asked.
    pub(crate) word: Option<Stray>,
}

/// Desired capacity between the two values that it may have while an effect of ours is unseen. Equal otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capacity {
    pub(crate) low: u32,
    pub(crate) high: u32,
}

/// How many instances are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    /// The wish within its ceiling.
    pub(crate) size: u32,
    /// The wish as it is written in the MachinePool: what a live re-read is compared with.
    pub(crate) written: u32,
    pub(crate) ceiling: Option<u32>,
    pub(crate) decider: Decider,
}

/// Who decides on the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decider {
    /// MachinePool.spec.replicas; we write desired capacity.
    Replicas,
    /// Somebody else through the group; we never write desired capacity.
    External { min: u32, max: u32, published: u32 },
}

impl<'a> Situation<'a> {
    pub(crate) fn new(desired: &'a Desired, observed: &'a Observed, memory: &'a Memory) -> Self {
        let view = View::of(desired, observed);
        let capacity = Capacity::of(view.group(), memory);
        let mut situation = Self {
            desired,
            observed,
            memory,
            view,
            members: Vec::new(),
            absentees: Vec::new(),
            tally: Tally::default(),
            capacity,
            wish: Wish::of(&desired.size, view.group(), capacity),
            hashes: recorded_hashes(desired, observed),
            given_up: given_up(desired, observed),
            fallback: None,
            rollout: Standpoint::default(),
            spare: 0,
            spare_held: 0,
        };
        situation.fallback = situation.fallback();
        situation.join();
        situation.tally = Tally::of(&situation.members);
        situation.rollout = Standpoint::of(&situation);
        (situation.spare, situation.spare_held) = signals::spare(&situation);
        situation
    }

    /// The management cluster that manages this pool's group instead of this one. The launch template is its, too.
    pub(crate) fn other_installation(&self) -> Option<&'a str> {
        let View::Foreign(group) = self.view else { return None };
        let identity = &self.desired.identity;
        identity.owns(&group.tags).then(|| identity.other_installation(&group.tags)).flatten()
    }

    /// The group's view is newer than our last change of the group.
    pub(crate) fn is_fresh(&self) -> bool {
        match (self.observed.group.seen_at(), self.memory.ledger.changed_at) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(seen), Some(changed)) => seen > changed,
        }
    }

    /// This manager has been in the lead long enough to know what its predecessor did.
    pub(crate) fn is_settled(&self) -> bool {
        self.observed.now >= self.observed.settled_from
    }

    /// The group, if it may be written to now: ours, alive, freshly seen.
    pub(crate) fn writable_group(&self) -> Option<&'a Group> {
        match self.view {
            View::Ours(group) if group.status == GroupStatus::Active && self.is_fresh() => Some(group),
            View::Ours(_) | View::Unknown | View::Failed { .. } | View::Absent | View::Foreign(_) => None,
        }
    }

    /// The group, if decisions that depend on its size may be made now.
    pub(crate) fn sizable_group(&self) -> Option<&'a Group> {
        let known = self.desired.size != Size::Unknown;
        self.writable_group().filter(|_| known && self.is_settled())
    }

    /// The spec hash an instance was launched from: by its template version, else as its FooMachine recorded it.
    pub(crate) fn spec_hash(
        &self,
        instance: &Instance,
        foo_machine: Option<&'a FooMachine>,
    ) -> Option<&'a SpecHash> {
        let by_version = instance
            .template
            .as_ref()
            .filter(|(id, _)| self.is_our_template(id))
            .and_then(|(_, version)| self.hashes.get(version).copied());
        by_version.or_else(|| foo_machine.and_then(|foo_machine| foo_machine.spec_hash.as_ref()))
    }

    /// The recorded spec hash of a version of our template.
    pub(crate) fn hash_of_version(&self, version: TemplateVersion) -> Option<&'a SpecHash> {
        self.hashes.get(&version).copied()
    }

    /// Capacity that desired capacity asks for and that has not been launched, at least.
    pub(crate) fn unlaunched(&self) -> u32 {
        self.capacity.low.saturating_sub(self.tally.existing)
    }

    /// How many instances there shall be: the wish, and what replacements have beyond it for a while.
    pub(crate) fn total(&self) -> u32 {
        self.wish.size.saturating_add(self.surge())
    }

    /// Instances beyond the wish that are wanted for the sake of replacements.
    pub(crate) fn surge(&self) -> u32 {
        self.rollout.surge.max(self.spare)
    }

    /// The same while those that go for the sake of replacements are still there.
    fn held(&self) -> u32 {
        self.rollout.held.max(self.spare_held)
    }

    /// Those that AWS takes and that a replacement in advance does not make up for already.
    pub(crate) fn taken_beyond(&self) -> u32 {
        self.tally.interrupted.saturating_sub(self.tally.going.min(self.held()))
    }

    /// How many Machines must stay available, whatever is replaced or chosen to go.
    pub(crate) fn least_available(&self) -> u32 {
        self.wish.size.saturating_sub(self.desired.rollout.unavailable(self.wish.size))
    }

    /// How many Machines shall stay. Those that are going still take the place of what replacements have beyond the wish,
    /// but for those that AWS takes.
    pub(crate) fn target(&self) -> u32 {
        let going = self.tally.going.saturating_sub(self.taken_beyond());
        self.wish.size.saturating_add(self.held().saturating_sub(going))
    }

    /// Members of a standing.
    pub(crate) fn members_that_are(&self, standing: Standing) -> impl Iterator<Item = &Member<'a>> {
        self.members.iter().filter(move |member| member.standing == standing)
    }

    /// What to launch instead of content that was given up on: of what never failed that which most instances were
    /// launched from, the newest among equals.
    fn fallback(&self) -> Option<&'a SpecHash> {
        self.given_up?;
        let failed = |hash: &SpecHash| self.observed.quarantine.iter().any(|record| record.hash == *hash);
        let mut uses: BTreeMap<&'a SpecHash, (usize, TemplateVersion)> = BTreeMap::new();
        for (version, hash) in self.hashes.iter().filter(|(_, hash)| !failed(hash)) {
            let (_, newest) = uses.entry(*hash).or_insert((0, *version));
            *newest = (*newest).max(*version);
        }
        for instance in self.view.group().iter().flat_map(|group| &group.instances) {
            let used = self.spec_hash(instance, None).and_then(|hash| uses.get_mut(hash));
            if let Some((count, _)) = used.filter(|_| instance.lifecycle.is_capacity()) {
                *count += 1;
            }
        }
        uses.into_iter().max_by_key(|(_, weight)| *weight).map(|(hash, _)| hash)
    }

    fn is_our_template(&self, id: &crate::model::LaunchTemplateId) -> bool {
        match self.observed.template.seen() {
            Some(Some(template)) => &template.id == id,
            Some(None) | None => false,
        }
    }

    fn join(&mut self) {
        let machines: BTreeMap<&MachineName, &'a Machine> =
            self.observed.machines.iter().map(|machine| (&machine.name, machine)).collect();
        let mut foo_machines: BTreeMap<&InstanceId, &'a FooMachine> = BTreeMap::new();
        for foo_machine in &self.observed.foo_machines {
            foo_machines.entry(&foo_machine.instance).or_insert(foo_machine);
        }
        let instances = self.view.group().map_or(&[][..], |group| &group.instances);
        let mut members: Vec<Member<'a>> =
            instances.iter().map(|instance| self.member(instance, &foo_machines, &machines)).collect();
        members.sort_by(|a, b| a.instance.id.cmp(&b.instance.id));
        let there: std::collections::BTreeSet<&InstanceId> =
            instances.iter().map(|instance| &instance.id).collect();
        let mut absentees: Vec<Absentee<'a>> = self
            .observed
            .foo_machines
            .iter()
            .filter(|foo_machine| !there.contains(&foo_machine.instance))
            .map(|foo_machine| Absentee {
                foo_machine,
                machine: machines.get(&foo_machine.name).copied(),
                word: word(self.observed, &foo_machine.instance),
            })
            .collect();
        absentees.sort_by(|a, b| a.foo_machine.name.cmp(&b.foo_machine.name));
        self.members = members;
        self.absentees = absentees;
    }

    fn member(
        &self,
        instance: &'a Instance,
        foo_machines: &BTreeMap<&InstanceId, &'a FooMachine>,
        machines: &BTreeMap<&MachineName, &'a Machine>,
    ) -> Member<'a> {
        let foo_machine = foo_machines.get(&instance.id).copied();
        let name = foo_machine.map_or_else(
            || machine_name(&self.desired.identity.pool, &instance.id),
            |foo_machine| foo_machine.name.clone(),
        );
        let machine = machines.get(&name).copied();
        Member {
            standing: self.standing(instance, foo_machine, machine),
            generation: self.generation(instance, foo_machine),
            instance,
            foo_machine,
            machine,
            word: foo_machine.and_then(|_| word(self.observed, &instance.id)),
            signal: self.observed.signals.get(&instance.id).copied(),
            name,
        }
    }

    fn standing(
        &self,
        instance: &Instance,
        foo_machine: Option<&FooMachine>,
        machine: Option<&Machine>,
    ) -> Standing {
        if instance.lifecycle.is_leaving() {
            return Standing::Leaving;
        }
        if self.memory.ledger.leaving.contains_key(&instance.id) {
            return Standing::Ending;
        }
        if !instance.lifecycle.is_capacity() {
            return Standing::Aside;
        }
        match claim(foo_machine, machine, self.memory) {
            Standing::Kept if self.takes_back(&instance.id) => Standing::Doomed,
            standing => standing,
        }
    }

    /// AWS announced to take it back, and we may do something about it.
    fn takes_back(&self, id: &InstanceId) -> bool {
        let acts = self.desired.goal == Goal::Run && self.desired.pause.is_none();
        acts && self.observed.signals.get(id).is_some_and(|signal| signal.kind == SignalKind::Interruption)
    }

    /// The spec hash that all instances shall have in the end: the wanted one or what is gone back to; while the wanted
    /// content cannot be made, what the group launches. `None` while nobody knows.
    pub(crate) fn aim(&self) -> Option<&'a SpecHash> {
        match (&self.desired.template, self.fallback, self.desired.rollout.on_failure) {
            (Wanted::Blocked(_), _, _) => match self.view.group()?.template.as_ref()? {
                (id, TemplateChoice::Version(version)) if self.is_our_template(id) => {
                    self.hash_of_version(*version)
                }
                (_, TemplateChoice::Version(_) | TemplateChoice::Floating(_)) => None,
            },
            (Wanted::Ready(_), Some(fallback), OnFailure::Rollback) => Some(fallback),
            (Wanted::Ready(template), _, _) => Some(&template.spec_hash),
        }
    }

    fn generation(&self, instance: &Instance, foo_machine: Option<&'a FooMachine>) -> Generation {
        let Some(wanted) = self.aim() else { return Generation::Unknown };
        match self.spec_hash(instance, foo_machine) {
            None => Generation::Unknown,
            Some(hash) if hash == wanted => Generation::Current,
            Some(_) => Generation::Outdated,
        }
    }
}

/// EC2's word on an instance, as far as it is believed.
fn word(observed: &Observed, id: &InstanceId) -> Option<Stray> {
    observed.strays.get(id).map(|word| word.believed())
}

/// The record that the wanted content was given up on.
fn given_up<'a>(desired: &Desired, observed: &'a Observed) -> Option<&'a Quarantine> {
    let Wanted::Ready(template) = &desired.template else { return None };
    let stands = |record: &&Quarantine| record.verdict != Verdict::Over && record.hash == template.spec_hash;
    observed.quarantine.iter().find(stands)
}

/// What Kubernetes says of a live instance.
///
/// A FooMachine that is being deleted means "released" only when its Machine is gone, or never was, or says that it
/// waits for the infrastructure: core deletes a FooMachine after drain and hooks, and never otherwise, but the garbage
/// collector and people delete it at any time. Nothing undoes a deletionTimestamp, and core skips the rest of a drain
/// once it sees one on the FooMachine; what is left in our power is to wait for core's word. With its Machine alive
/// the Machine is deleted first (see the machines step), which lets core run its pre-terminate hooks and forget the
/// Node.
pub(crate) fn claim(
    foo_machine: Option<&FooMachine>,
    machine: Option<&Machine>,
    memory: &Memory,
) -> Standing {
    let Some(foo_machine) = foo_machine else { return Standing::New };
    let machine_goes = machine
        .map(|machine| machine.deletion.is_deleting() || memory.deleted_machines.contains_key(&machine.name));
    match (foo_machine.deletion.is_deleting(), machine, machine_goes) {
        (false, None, _) => Standing::Unclaimed,
        (false, Some(_), Some(true)) => Standing::Draining,
        (false, Some(_), _) => Standing::Kept,
        (true, None, _) => Standing::Released,
        // Only a deletionTimestamp that was seen releases; our own call alone does not.
        (true, Some(machine), _) if machine.lets_go() => Standing::Released,
        (true, Some(machine), _) if machine.deletion.is_deleting() => Standing::Draining,
        (true, Some(_), _) => Standing::Undercut,
    }
}

/// The recorded hashes of our template's versions; nothing when the template is not ours.
fn recorded_hashes<'a>(desired: &Desired, observed: &'a Observed) -> BTreeMap<TemplateVersion, &'a SpecHash> {
    let Some(Some(template)) = observed.template.seen() else { return BTreeMap::new() };
    if !desired.identity.owns(&template.tags) {
        return BTreeMap::new();
    }
    template.versions.iter().filter_map(|record| Some((record.version, record.spec_hash.as_ref()?))).collect()
}

impl<'a> View<'a> {
    fn of(desired: &Desired, observed: &'a Observed) -> Self {
        match &observed.group {
            Look::Unknown => Self::Unknown,
            Look::Failed { reason, message } => Self::Failed { reason, message },
            Look::At { seen: None, .. } => Self::Absent,
            Look::At { seen: Some(group), .. } if desired.identity.holds(&group.tags) => Self::Ours(group),
            Look::At { seen: Some(group), .. } => Self::Foreign(group),
        }
    }

    /// The group if there is one, whoever's it is.
    pub(crate) fn group(self) -> Option<&'a Group> {
        match self {
            Self::Ours(group) | Self::Foreign(group) => Some(group),
            Self::Unknown | Self::Failed { .. } | Self::Absent => None,
        }
    }
}

impl Member<'_> {
    /// One of the pool's replicas: capacity, or on its way out and not yet gone. An id is taken off the provider id
    /// list only when its instance is gone, because core deletes the Node of an id that leaves the list.
    pub(crate) fn is_replica(&self) -> bool {
        match self.standing {
            // Put aside by a person, yet it runs, with a Node and maybe pods: taken off the list, core would delete its
            // Node at once. What never was a Machine of ours (the warm pool) is not listed.
            Standing::Aside => self.foo_machine.is_some(),
            // The group keeps a dead instance for our hook, too. Its Node lives until the Machine is not drained any more:
            // core deletes the Node of an id that leaves the list.
            Standing::Leaving => {
                let undrained =
                    self.machine.is_some_and(|machine| !machine.drain_excluded && !machine.lets_go());
                let dead = self.word == Some(Stray::Gone) && !undrained;
                self.instance.lifecycle != LifecycleState::Terminated && !dead
            }
            Standing::New
            | Standing::Unclaimed
            | Standing::Kept
            | Standing::Doomed
            | Standing::Draining
            | Standing::Undercut
            | Standing::Released
            | Standing::Ending => true,
        }
    }

    /// Its provider id.
    pub(crate) fn provider_id(&self) -> String {
        self.instance.id.provider_id(&self.instance.zone)
    }

    /// Whether AWS announced this of it.
    pub(crate) fn is_announced(&self, kind: SignalKind) -> bool {
        self.signal.is_some_and(|signal| signal.kind == kind)
    }

    /// Its zone.
    pub(crate) fn zone(&self) -> &Zone {
        &self.instance.zone
    }
}

impl Capacity {
    fn of(group: Option<&Group>, memory: &Memory) -> Self {
        let seen = group.map_or(0, |group| group.sizes.desired);
        let expected = memory.ledger.desired.map_or(seen, |(expected, _)| expected);
        Self { low: seen.min(expected), high: seen.max(expected) }
    }

    /// Known exactly.
    pub(crate) fn exactly(desired: u32) -> Self {
        Self { low: desired, high: desired }
    }
}

impl Wish {
    fn of(size: &Size, group: Option<&Group>, capacity: Capacity) -> Self {
        match *size {
            // Not decided on (`sizable_group`); for the report the group is what it should be.
            Size::Unknown => Self {
                size: capacity.high,
                written: capacity.high,
                ceiling: None,
                decider: Decider::Replicas,
            },
            Size::Replicas { wanted, ceiling } => Self {
                size: ceiling.map_or(wanted, |ceiling| wanted.min(ceiling)),
                written: wanted,
                ceiling,
                decider: Decider::Replicas,
            },
            Size::External { min, max, published } => {
                // Before there is a group, AWS would start it at its minimum. Afterwards the group's desired
                // capacity is the wish; of two values the higher takes fewer Machines away.
                let size = if group.is_some() { capacity.high } else { min };
                Self {
                    size,
                    written: size,
                    ceiling: Some(max),
                    decider: Decider::External { min, max, published },
                }
            }
        }
    }
}
