//! The periodic evaluation of a group: it replaces members, adjusts capacity to desired capacity, fills the warm
//! pool, and removes a deleted group.

use crate::core::due::Event;
use crate::core::group::model::{Group, units};
use crate::core::region::Region;
use crate::core::settings::Replacement;
use foo_cloud::InstanceState;
use foo_model::{GroupName, Health, InstanceId, LifecycleState, Process, Timestamp};

impl Region {
    /// Makes sure that the group is evaluated at `when` or earlier. There is one scheduled evaluation at a time: each
    /// one schedules the next.
    pub(crate) fn wake(&mut self, name: &GroupName, when: Timestamp) {
        let Some(group) = self.groups.get_mut(name) else { return };
        if group.wakes_at.is_some_and(|at| at <= when) {
            return;
        }
        group.wakes_at = Some(when);
        self.due.at(when, Event::Evaluate(name.clone()));
    }

    /// Schedules an evaluation after the time that a group takes to notice a change.
    pub(crate) fn wake_soon(&mut self, name: &GroupName) {
        self.wake(name, self.now.plus(self.settings.reaction));
    }

    pub(crate) fn evaluate(&mut self, name: &GroupName) {
        let now = self.now;
        match self.groups.get_mut(name) {
            Some(group) if group.wakes_at == Some(now) => group.wakes_at = None,
            // An earlier evaluation replaced this one, or the group was removed.
            Some(_) | None => return,
        }
        if self.groups.get(name).is_some_and(Group::is_deleting) {
            return self.evaluate_deletion(name);
        }
        self.step_refresh(name);
        self.replace_unhealthy(name);
        self.replace_expired(name);
        self.remix(name);
        self.rebalance_zones(name);
        self.end_replaced(name);
        self.fit_capacity(name);
        self.fit_warm_pool(name);
        let timeout = self.settings.refresh_timeout;
        let next = self.groups.get(name).and_then(|group| {
            let refresh = group.refresh().and_then(|refresh| refresh.next_step(timeout));
            let troubles = group.troubles.values().map(|trouble| trouble.until);
            let others = refresh.into_iter().chain(troubles).filter(|when| *when > now);
            group.next_replacement(now).into_iter().chain(others).min()
        });
        if let Some(next) = next {
            self.wake(name, next);
        }
    }

    /// Launches missing capacity, terminates surplus capacity.
    fn fit_capacity(&mut self, name: &GroupName) {
        let Some(group) = self.groups.get(name) else { return };
        let (capacity, target) = (group.capacity(), group.target());
        let may = |process| !group.is_suspended(process);
        if capacity > target && may(Process::Terminate) {
            self.scale_in(name);
        } else if capacity < target && may(Process::Launch) {
            let awaited = match self.settings.replacement {
                Replacement::AtOnce => 0,
                Replacement::AfterTermination => {
                    units(group.members.values().filter(|member| member.lifecycle.is_leaving()))
                }
            };
            let missing = (target - capacity).saturating_sub(awaited);
            let missing = missing.saturating_sub(self.draw_from_warm_pool(name, missing));
            self.launch_missing(name, missing);
        }
    }

    /// Schedules the removal of a deleted group once its last member has left.
    fn evaluate_deletion(&mut self, name: &GroupName) {
        let Some(group) = self.groups.get(name) else { return };
        if group.is_empty() {
            let event = Event::GroupGone(name.clone(), group.serial);
            self.due.at(self.now.plus(self.settings.group_delete), event);
        }
    }

    /// Removes a deleted group. Its activities stay.
    pub(crate) fn remove_group(&mut self, name: &GroupName, serial: u64) {
        let gone = self
            .groups
            .get(name)
            .is_some_and(|group| group.serial == serial && group.is_deleting() && group.is_empty());
        if gone {
            self.groups.remove(name);
        }
    }

    /// Checks the health of a member after a change of its instance.
    pub(crate) fn check_health(&mut self, id: &InstanceId) {
        let Some(name) = self.group_of(id) else { return };
        let Some(instance) = self.instances.get(id) else { return };
        let fails = self.is_unavailable(&instance.zone);
        let scheduled = instance.events.iter().any(|event| event.not_before <= self.now);
        let serves = instance.state == InstanceState::Running && !fails && !scheduled;
        let rests = instance.state.is_alive() && !fails;
        let fails_as_target = self.fails_as_target(&name, id);
        let Some(group) = self.groups.get_mut(&name) else { return };
        if group.is_suspended(Process::HealthCheck) {
            return;
        }
        let Some(member) = group.member_mut(id) else { return };
        if member.lifecycle == LifecycleState::TerminatingRetained && !rests {
            // A retained instance that is terminated leaves the group.
            member.lifecycle = LifecycleState::Terminating;
            return self.due.at(self.now, Event::Left(id.clone()));
        }
        // A launching member is checked when its launch is over, one in standby when it returns.
        let broken = match member.lifecycle {
            LifecycleState::InService => !serves || fails_as_target,
            LifecycleState::Warmed => !rests,
            _ => false,
        };
        if broken {
            member.health = Health::Unhealthy;
            self.wake(&name, self.now);
        }
    }

    /// Checks all members, after the HealthCheck process was resumed.
    pub(crate) fn check_all(&mut self, name: &GroupName) {
        let members: Vec<InstanceId> = self
            .groups
            .get(name)
            .into_iter()
            .flat_map(|group| group.members.keys().chain(group.warm.keys()).cloned())
            .collect();
        for id in members {
            self.check_health(&id);
        }
    }

    /// The group an instance is a member of.
    pub(crate) fn group_of(&self, id: &InstanceId) -> Option<GroupName> {
        self.instances.get(id).and_then(|instance| instance.group.clone())
    }
}
