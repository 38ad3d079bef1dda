//! The sources joined and counted: facts that do not depend on replacements in progress.

use super::content::Content;
use super::counts::MemberCounts;
use super::member::{Joined, MachineState, Member, MissingInstance};
use super::size::{Capacity, Target};
use super::view::View;
use crate::desired::{Desired, Size};
use crate::memory::Memory;
use crate::observed::Observed;
use foo_model::group::GroupStatus;
use foo_model::{Group, Machine, Timestamp};

/// What is known of a pool without knowing what is being replaced.
pub(crate) struct Facts<'a> {
    pub(crate) desired: &'a Desired,
    pub(crate) observed: &'a Observed,
    /// The memory, without effects that were observed.
    pub(crate) memory: &'a Memory,
    pub(crate) view: View<'a>,
    pub(crate) capacity: Capacity,
    pub(crate) target: Target,
    pub(crate) content: Content<'a>,
    /// One per observed instance, by instance id.
    pub(crate) members: Vec<Member<'a>>,
    /// FooMachines whose instance was not observed in the group, by name.
    pub(crate) missing: Vec<MissingInstance<'a>>,
    pub(crate) counts: MemberCounts,
}

impl<'a> Facts<'a> {
    pub(super) fn of(desired: &'a Desired, observed: &'a Observed, memory: &'a Memory) -> Self {
        let view = View::of(desired, observed);
        let capacity = Capacity::of(view.group(), memory);
        let content = Content::of(desired, observed, view);
        let Joined { members, missing } = Joined::of(desired, observed, memory, view, &content);
        Self {
            desired,
            observed,
            memory,
            view,
            capacity,
            target: Target::of(&desired.size, view.group(), capacity),
            content,
            counts: MemberCounts::of(&members),
            members,
            missing,
        }
    }

    /// The management cluster that manages this pool's group, if it is another one. The launch template
    /// belongs to it, too.
    pub(crate) fn other_installation(&self) -> Option<&'a str> {
        let View::Foreign(group) = self.view else { return None };
        let identity = &self.desired.identity;
        identity.owns(&group.tags).then(|| identity.other_installation(&group.tags)).flatten()
    }

    /// Whether the group has this pool's tags, and this management cluster did not create it: then the launch template is not its own either.
    pub(crate) fn is_tagged_by_others(&self) -> bool {
        matches!(self.view, View::Foreign(group) if self.desired.identity.owns(&group.tags))
    }

    /// Whether FooMachines are left, or Machines that Cluster API would drain.
    pub(crate) fn has_machines(&self) -> bool {
        let alive = |machine: &Machine| !machine.deletion.is_deleting();
        !self.observed.foo_machines.is_empty() || self.observed.machines.iter().any(alive)
    }

    /// Whether the observation of the group is newer than our last change of it.
    pub(crate) fn is_fresh(&self) -> bool {
        match (self.observed.group.seen_at(), self.memory.ledger.changed_at) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(seen), Some(changed)) => seen > changed,
        }
    }

    /// Whether this manager has led long enough to observe what its predecessor did.
    pub(crate) fn is_settled(&self) -> bool {
        self.observed.now >= self.observed.size_decisions_from
    }

    /// Whether a read at this time shows what this manager's predecessor did: it may have acted until this manager is settled.
    pub(crate) fn shows_predecessor(&self, read_at: Option<Timestamp>) -> bool {
        read_at.is_some_and(|at| at >= self.observed.size_decisions_from)
    }

    /// Whether the age of a Kubernetes object may be the reason for a deletion.
    pub(crate) fn knows_ages(&self) -> bool {
        self.observed.clocks.proves_ages()
    }

    /// The group, if the provider may write to it now: the pool's own, active, freshly observed.
    pub(crate) fn writable_group(&self) -> Option<&'a Group> {
        match self.view {
            View::Own(group) if group.status == GroupStatus::Active && self.is_fresh() => Some(group),
            View::Own(_) | View::Unknown | View::Failed { .. } | View::Absent | View::Foreign(_) => None,
        }
    }

    /// The group, if decisions that depend on its size are allowed now.
    pub(crate) fn sizable_group(&self) -> Option<&'a Group> {
        let known = self.desired.size != Size::Unknown;
        self.writable_group().filter(|_| known && self.is_settled())
    }

    /// Whether the group was freshly observed, and is the pool's own or does not exist.
    pub(crate) fn knows_members(&self) -> bool {
        match self.view {
            View::Own(_) | View::Absent => self.is_fresh(),
            View::Unknown | View::Failed { .. } | View::Foreign(_) => false,
        }
    }

    /// At least this much of desired capacity has not been launched.
    pub(crate) fn unlaunched(&self) -> u32 {
        self.capacity.low.saturating_sub(self.counts.existing)
    }

    /// How many Machines must stay available during replacements and deletions.
    pub(crate) fn least_available(&self) -> u32 {
        self.target.replicas.saturating_sub(self.desired.rollout.unavailable(self.target.replicas))
    }

    /// Members in a state.
    pub(crate) fn members_that_are(&self, standing: MachineState) -> impl Iterator<Item = &Member<'a>> {
        self.members.iter().filter(move |member| member.state == standing)
    }
}
