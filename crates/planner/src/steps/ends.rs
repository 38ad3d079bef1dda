//! Which released instances are ended, and does the group shrink by it?

use crate::action::Action;
use crate::draft::{Draft, Stage};
use crate::memory::BUSY_FOR;
use crate::model::{Decrement, Group, LifecycleState};
use crate::report::{About, Severity};
use crate::situation::{Capacity, Member, Situation, Standing, claim};

/// Most instances that one plan ends. Auto Scaling allows bursts of about a hundred calls and every call is one
/// instance; twenty leave room for the other pools of the account, and the next pass goes on with the rest.
pub(crate) const ENDS_AT_ONCE: usize = 20;

/// Ends instances that Cluster API let go of.
pub(crate) fn end_released(situation: &Situation<'_>, draft: &mut Draft) {
    let Some(group) = situation.sizable_group() else {
        return;
    };
    let released = situation.members.iter().filter(|member| is_released(situation, member));
    end(situation, group, released, situation.total(), draft);
}

/// Released, and in a state in which ending it is ours to decide. Standby counts: its Machine was drained like any
/// other, and nobody else will end it.
pub(crate) fn is_released(situation: &Situation<'_>, member: &Member<'_>) -> bool {
    match member.standing {
        Standing::Released => true,
        Standing::Aside => {
            member.instance.lifecycle == LifecycleState::Standby
                && claim(member.foo_machine, member.machine, situation.memory) == Standing::Released
        }
        Standing::New
        | Standing::Unclaimed
        | Standing::Kept
        | Standing::Doomed
        | Standing::Draining
        | Standing::Undercut
        | Standing::Ending
        | Standing::Leaving => false,
    }
}

/// Ends instances, each counted against desired capacity as the calls before it leave it.
pub(crate) fn end<'s, 'a: 's>(
    situation: &Situation<'a>,
    group: &Group,
    members: impl Iterator<Item = &'s Member<'a>>,
    wanted: u32,
    draft: &mut Draft,
) {
    let change = draft.pending_change();
    let mut capacity = change.desired.map_or(situation.capacity, Capacity::exactly);
    let min = change.min.unwrap_or(group.sizes.min);
    let busy = |member: &&Member<'_>| situation.memory.busy.contains_key(&member.instance.id);
    for at in situation.memory.busy.values() {
        draft.wake_at(at.plus(BUSY_FOR));
    }
    for member in members.filter(|member| !busy(member)).take(ENDS_AT_ONCE) {
        let decrement = if member.standing == Standing::Aside && !counts_as_capacity(member) {
            // Not part of desired capacity, so desired capacity has nothing to lose.
            Some(Decrement::Replace)
        } else {
            capacity.decrement(wanted, min)
        };
        let Some(decrement) = decrement else {
            // The two values that desired capacity may have lead to different answers: look again.
            return;
        };
        act(group, member, decrement, draft);
        if decrement == Decrement::Shrink {
            capacity = capacity.less_one();
        }
    }
}

fn counts_as_capacity(member: &Member<'_>) -> bool {
    member.instance.lifecycle.is_capacity()
}

fn act(group: &Group, member: &Member<'_>, decrement: Decrement, draft: &mut Draft) {
    let why = match (member.foo_machine, decrement) {
        (Some(_), Decrement::Shrink) => "Cluster API released it; desired capacity goes down with it",
        (Some(_), Decrement::Replace) => "Cluster API released it; desired capacity stays",
        (None, _) => "it never had a Machine",
    };
    let id = member.instance.id.clone();
    draft.tell(
        Severity::Normal,
        About::Instance(id.clone()),
        "InstanceEnded",
        format!("instance {id} is ended: {why}"),
    );
    let group = group.name.clone();
    draft.act(Stage::Ends, Action::TerminateInstance { group, id, decrement, why: why.to_owned() });
}

impl Capacity {
    /// Whether ending one instance shall lower desired capacity: yes when what is left is still what is wanted.
    /// `None` when the two values it may have disagree.
    fn decrement(self, wanted: u32, min: u32) -> Option<Decrement> {
        let shrinks = |desired: u32| desired > wanted && desired > min;
        match (shrinks(self.low), shrinks(self.high)) {
            (true, true) => Some(Decrement::Shrink),
            (false, false) => Some(Decrement::Replace),
            (true, false) | (false, true) => None,
        }
    }

    fn less_one(self) -> Self {
        Self { low: self.low.saturating_sub(1), high: self.high.saturating_sub(1) }
    }
}
