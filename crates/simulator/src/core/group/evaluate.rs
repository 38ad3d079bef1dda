//! What a group does by itself: compare desired with actual capacity, replace the unhealthy, end when it is deleted.

use crate::core::due::Event;
use crate::core::region::Region;
use crate::core::settings::Replacement;
use crate::core::time::iso_seconds;
use foo_cloud::InstanceState;
use foo_cloud::model::{GroupName, Health, InstanceId, LifecycleState, Process, Timestamp};

impl Region {
    /// Makes sure that the group is evaluated at `when` or earlier. One wake-up at a time: each evaluation asks for
    /// the next one itself.
    pub(crate) fn wake(&mut self, name: &GroupName, when: Timestamp) {
        let Some(group) = self.groups.get_mut(name) else { return };
        if group.wakes_at.is_some_and(|at| at <= when) {
            return;
        }
        group.wakes_at = Some(when);
        self.due.at(when, Event::Evaluate(name.clone()));
    }

    /// The same, once the group has had its usual time to notice.
    pub(crate) fn wake_soon(&mut self, name: &GroupName) {
        self.wake(name, self.now.plus(self.settings.reaction));
    }

    pub(crate) fn evaluate(&mut self, name: &GroupName) {
        let now = self.now;
        match self.groups.get_mut(name) {
            Some(group) if group.wakes_at == Some(now) => group.wakes_at = None,
            // An earlier wake-up took its place, or the group is gone.
            Some(_) | None => return,
        }
        self.replace_unhealthy(name);
        self.end_replaced(name);
        let Some(group) = self.groups.get(name) else { return };
        if group.is_deleting() {
            return self.evaluate_deletion(name);
        }
        let (capacity, desired) = (group.capacity(), group.target());
        let may = |process| !group.is_suspended(process);
        if capacity > desired && may(Process::Terminate) {
            self.scale_in(name, capacity - desired);
        } else if capacity < desired && may(Process::Launch) {
            let awaited = match self.settings.replacement {
                Replacement::AtOnce => 0,
                Replacement::AfterTermination => u32::try_from(
                    group.members.values().filter(|member| member.lifecycle.is_leaving()).count(),
                )
                .unwrap_or(u32::MAX),
            };
            self.launch_missing(name, (desired - capacity).saturating_sub(awaited));
        }
    }

    /// A deleted group disappears once its last member has left.
    fn evaluate_deletion(&mut self, name: &GroupName) {
        let Some(group) = self.groups.get(name) else { return };
        if group.members.is_empty() {
            let event = Event::GroupGone(name.clone(), group.serial);
            self.due.at(self.now.plus(self.settings.group_delete), event);
        }
    }

    /// Removes a deleted group. Its diary stays.
    pub(crate) fn remove_group(&mut self, name: &GroupName, serial: u64) {
        let gone = self
            .groups
            .get(name)
            .is_some_and(|group| group.serial == serial && group.is_deleting() && group.members.is_empty());
        if gone {
            self.groups.remove(name);
        }
    }

    /// Looks at one member on whose instance something happened.
    pub(crate) fn check_health(&mut self, id: &InstanceId) {
        let Some(name) = self.group_of(id) else { return };
        let dead = self.instances.get(id).is_none_or(|instance| instance.state != InstanceState::Running);
        let Some(group) = self.groups.get_mut(&name) else { return };
        if !dead || group.is_suspended(Process::HealthCheck) {
            return;
        }
        let Some(member) = group.members.get_mut(id) else { return };
        // A launching member is looked at when its launch is over; one in standby when it returns.
        if member.lifecycle == LifecycleState::InService {
            member.health = Health::Unhealthy;
            self.wake(&name, self.now);
        }
    }

    /// Looks at all members again: after the HealthCheck process was resumed.
    pub(crate) fn check_all(&mut self, name: &GroupName) {
        let members: Vec<InstanceId> =
            self.groups.get(name).into_iter().flat_map(|group| group.members.keys().cloned()).collect();
        for id in members {
            self.check_health(&id);
        }
    }

    /// Ends members that were found unhealthy; protection from scale-in does not help them (Auto Scaling User Guide,
    /// "Use instance scale-in protection").
    fn replace_unhealthy(&mut self, name: &GroupName) {
        let Some(group) = self.groups.get(name) else { return };
        if group.is_suspended(Process::ReplaceUnhealthy) || group.is_suspended(Process::Terminate) {
            return;
        }
        let unhealthy: Vec<InstanceId> = group
            .members
            .values()
            .filter(|member| {
                member.health == Health::Unhealthy && member.lifecycle == LifecycleState::InService
            })
            .map(|member| member.id.clone())
            .collect();
        for id in unhealthy {
            let alive = self.instances.get(&id).is_some_and(|instance| instance.state.is_alive());
            let what = if alive {
                "in response to a user health-check"
            } else {
                "in response to an EC2 health check indicating it has been terminated or stopped"
            };
            let cause = format!("At {} an instance was taken out of service {what}.", iso_seconds(self.now));
            self.begin_leaving(name, &id, &cause);
        }
    }

    /// The group an instance is a member of.
    pub(crate) fn group_of(&self, id: &InstanceId) -> Option<GroupName> {
        self.instances.get(id).and_then(|instance| instance.group.clone())
    }
}
