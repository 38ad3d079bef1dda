//! Terminations of members: Terminating → no longer a member, while EC2 goes from shutting-down to terminated.

use super::hooks::Transition;
use crate::core::due::Event;
use crate::core::region::Region;
use foo_model::{ActivityStatus, GroupName, InstanceId, LifecycleState};
use std::time::Duration;

/// Status message of the launching activity of an instance that was terminated before it was in service.
const DIED_WHILE_LAUNCHING: &str = "Instance became unhealthy while waiting for instance to be in InService state. \
                                    Termination Reason: Client.UserInitiatedShutdown: User initiated shutdown";

impl Region {
    /// Begins the terminating transition of a member, which waits for the group's hooks, and returns the serial
    /// number of its activity. `None` if it is not a member or already terminating.
    pub(crate) fn begin_leaving(&mut self, name: &GroupName, id: &InstanceId, cause: &str) -> Option<u64> {
        let serial = self.start_leaving(name, id, cause)?;
        match self.deregister_targets(name, id) {
            Some(until) => self.due.at(until, Event::Deregistered(id.clone())),
            None => self.wait_or_end(name, id),
        }
        Some(serial)
    }

    /// The connections of a terminating member are drained: its hooks begin.
    pub(crate) fn finish_deregistration(&mut self, id: &InstanceId) {
        let Some(name) = self.group_of(id) else { return };
        let member = self.groups.get(&name).and_then(|group| group.member(id));
        if member.is_some_and(|it| it.lifecycle == LifecycleState::Terminating && it.waits.is_empty()) {
            self.wait_or_end(&name, id);
        }
    }

    fn wait_or_end(&mut self, name: &GroupName, id: &InstanceId) {
        if !self.begin_waits(name, id, Transition::Terminating) {
            self.end_member(name, id);
        }
    }

    /// Terminates a member without hooks, and ends waits that have begun: ForceDelete (API Reference,
    /// DeleteAutoScalingGroup).
    pub(crate) fn leave_at_once(&mut self, name: &GroupName, id: &InstanceId, cause: &str) {
        let waits = |region: &Self| {
            Some(region.groups.get(name)?.member(id)?.lifecycle == LifecycleState::TerminatingWait)
        };
        if let Some(member) = self.member_mut(name, id) {
            member.returns = false;
        }
        // What is terminated at once waits for no connections.
        let _drained = self.deregister_targets(name, id);
        if waits(self) == Some(true) || self.drains_connections(name, id) {
            self.proceed_leaving(name, id);
        } else if self.start_leaving(name, id, cause).is_some() {
            self.end_member(name, id);
        }
    }

    /// Whether it terminates, and its hooks have not begun because connections to it drain.
    fn drains_connections(&self, name: &GroupName, id: &InstanceId) -> bool {
        let member = self.groups.get(name).and_then(|group| group.member(id));
        let before_hooks =
            member.is_some_and(|it| it.lifecycle == LifecycleState::Terminating && it.waits.is_empty());
        let runs =
            |it: &crate::core::ec2::instances::Ec2Instance| it.state == foo_cloud::InstanceState::Running;
        before_hooks && self.instances.get(id).is_some_and(runs)
    }

    /// Continues the termination of a member whose waits are over.
    pub(crate) fn proceed_leaving(&mut self, name: &GroupName, id: &InstanceId) {
        if let Some(member) = self.member_mut(name, id) {
            member.waits.clear();
            member.lifecycle = LifecycleState::TerminatingProceed;
            self.end_member(name, id);
        }
    }

    fn start_leaving(&mut self, name: &GroupName, id: &InstanceId, cause: &str) -> Option<u64> {
        let member = self.groups.get(name)?.member(id)?;
        if member.lifecycle.is_leaving() {
            return None;
        }
        let before = member.activity;
        if before.is_some() {
            let message = if member.lifecycle.is_capacity() {
                "The instance was terminated before it was in service."
            } else {
                "The instance was terminated."
            };
            self.end_activity(name, before, ActivityStatus::Cancelled, Some(message.to_owned()));
        }
        let what = if self.groups.get(name)?.warm.contains_key(id) {
            "Terminating EC2 instance from warm pool"
        } else if self.groups.get(name)?.member(id)?.returns {
            // AWS does not document the text.
            "Moving EC2 instance to warm pool"
        } else {
            "Terminating EC2 instance"
        };
        let serial = self.begin_activity_of(name, id, format!("{what}: {id}"), cause.to_owned());
        if let Some(member) = self.member_mut(name, id) {
            member.lifecycle = LifecycleState::Terminating;
            member.waits.clear();
            member.activity = Some(serial);
        }
        Some(serial)
    }

    /// The last part of the transition: EC2 shuts the instance down, and the group removes it when it is terminated.
    fn end_member(&mut self, name: &GroupName, id: &InstanceId) {
        let alive = self.instances.get(id).is_some_and(|it| it.state == foo_cloud::InstanceState::Running);
        let pool = self.groups.get(name).and_then(|group| group.warm_pool);
        let takes_back = alive && pool.is_some_and(|pool| !pool.deleting);
        if takes_back && self.member_mut(name, id).is_some_and(|member| member.returns) {
            return self.return_to_warm_pool(name, id);
        }
        let reason =
            ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown");
        let ends = self.shut_down(id, reason).unwrap_or(self.now);
        // Removing an instance that was already terminated takes a moment as well.
        let leaves = ends.max(self.now.plus(Duration::from_secs(1)));
        self.due.at(leaves, Event::Left(id.clone()));
    }

    pub(crate) fn finish_termination(&mut self, id: &InstanceId) {
        let Some(name) = self.group_of(id) else { return };
        let Some(group) = self.groups.get_mut(&name) else { return };
        if !group.member(id).is_some_and(|member| member.lifecycle.is_leaving()) {
            return;
        }
        let activity = group.remove_member(id).and_then(|member| member.activity);
        if let Some(instance) = self.instances.get_mut(id) {
            instance.group = None;
        }
        self.end_activity(&name, activity, ActivityStatus::Successful, None);
        self.wake(&name, self.now);
    }

    /// Cancels the launch of a member whose instance was terminated meanwhile, and removes the member.
    pub(crate) fn cancel_launch(&mut self, name: &GroupName, id: &InstanceId, activity: Option<u64>) {
        self.end_activity(name, activity, ActivityStatus::Cancelled, Some(DIED_WHILE_LAUNCHING.to_owned()));
        let cause = format!(
            "At {} an instance was taken out of service in response to an EC2 health check indicating it has been \
             terminated or stopped.",
            crate::core::time::iso_seconds(self.now)
        );
        self.begin_leaving(name, id, &cause);
        self.wake(name, self.now);
    }

    /// The details of an activity about an instance: subnet and zone, as JSON.
    pub(crate) fn details_of(&self, id: &InstanceId) -> String {
        self.instances
            .get(id)
            .map(|it| format!(r#"{{"Subnet ID":"{}","Availability Zone":"{}"}}"#, it.subnet, it.zone))
            .unwrap_or_default()
    }
}
