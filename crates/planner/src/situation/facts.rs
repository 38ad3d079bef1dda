//! The sources joined and counted: what is the case, whatever is being done about it.

use super::content::Content;
use super::counts::MemberCounts;
use super::member::{Joined, MachineState, Member, MissingInstance};
use super::size::{Capacity, Target};
use super::view::View;
use crate::desired::{Desired, Size};
use crate::memory::Memory;
use crate::observed::Observed;
use foo_model::Group;
use foo_model::group::GroupStatus;

/// All that can be said of a pool without asking what is being replaced.
pub(crate) struct Facts<'a> {
    pub(crate) desired: &'a Desired,
    pub(crate) observed: &'a Observed,
    /// Memory with all that was seen struck off.
    pub(crate) memory: &'a Memory,
    pub(crate) view: View<'a>,
    pub(crate) capacity: Capacity,
    pub(crate) target: Target,
    pub(crate) content: Content<'a>,
    /// One per instance in the view, by instance id.
    pub(crate) members: Vec<Member<'a>>,
    /// FooMachines whose instance is not in the view, by name.
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
        self.observed.now >= self.observed.size_decisions_from
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

    /// The group is known freshly, and is ours or is certainly not there.
    pub(crate) fn knows_members(&self) -> bool {
        match self.view {
            View::Ours(_) | View::Absent => self.is_fresh(),
            View::Unknown | View::Failed { .. } | View::Foreign(_) => false,
        }
    }

    /// Capacity that desired capacity asks for and that has not been launched, at least.
    pub(crate) fn unlaunched(&self) -> u32 {
        self.capacity.low.saturating_sub(self.counts.existing)
    }

    /// How many Machines must stay available, whatever is replaced or chosen to go.
    pub(crate) fn least_available(&self) -> u32 {
        self.target.replicas.saturating_sub(self.desired.rollout.unavailable(self.target.replicas))
    }

    /// Members of a standing.
    pub(crate) fn members_that_are(&self, standing: MachineState) -> impl Iterator<Item = &Member<'a>> {
        self.members.iter().filter(move |member| member.state == standing)
    }
}
