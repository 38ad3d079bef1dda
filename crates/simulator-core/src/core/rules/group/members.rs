//! Calls that concern single members: termination, protection, health.

use crate::core::error::{AwsError, AwsResult};
use crate::core::group::activity::Activity;
use crate::core::group::model::{Member, RootVolume};
use crate::core::region::Region;
use crate::core::settings::{Batches, BusyTermination, RepeatedTermination, SuspendedTerminate};
use crate::core::time::iso_seconds;
use foo_model::{Decrement, GroupName, Health, InstanceId, LifecycleState, Process, Protection};
use std::collections::BTreeSet;

/// Most ids of one SetInstanceProtection (Auto Scaling API Reference).
pub const PROTECTION_LIMIT: usize = 50;

/// Most ids of one TerminateInstanceInAutoScalingGroup (Auto Scaling API Reference, InstanceIds).
pub const TERMINATION_LIMIT: usize = 100;

/// Whether a health report respects the group's grace period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GracePeriod {
    /// The report has no effect during the grace period.
    Respected,
    /// The report has effect at once.
    Ignored,
}

impl Region {
    /// TerminateInstanceInAutoScalingGroup with InstanceIds: terminates members of one group.
    ///
    /// # Errors
    /// There are more than a hundred, or one of them cannot be terminated; [`Batches`] decides what happens to the
    /// others.
    pub fn terminate_members(
        &mut self,
        name: &GroupName,
        ids: &[InstanceId],
        decrement: Decrement,
    ) -> AwsResult<Vec<Activity>> {
        let group = self.living_group(name)?;
        if ids.len() > TERMINATION_LIMIT {
            let text = format!("You can specify up to {TERMINATION_LIMIT} instances.");
            return Err(AwsError::validation(text));
        }
        let others: BTreeSet<InstanceId> =
            ids.iter().filter(|id| !group.members.contains_key(*id)).cloned().collect();
        let batches = self.settings.batches;
        if batches == Batches::AllOrNothing {
            // On a copy, so that a refusal of one of them changes nothing.
            let mut trial = self.clone();
            for id in ids {
                trial.terminate_one(id, &others, decrement)?;
            }
        }
        let (mut ended, mut refused) = (Vec::new(), None);
        for id in ids {
            match self.terminate_one(id, &others, decrement) {
                Ok(activity) => ended.push(activity),
                Err(error) if batches == Batches::AllButTheRefused => refused = Some(error),
                Err(error) => return Err(error),
            }
        }
        refused.filter(|_| ended.is_empty()).map_or(Ok(ended), Err)
    }

    fn terminate_one(
        &mut self,
        id: &InstanceId,
        others: &BTreeSet<InstanceId>,
        decrement: Decrement,
    ) -> AwsResult<Activity> {
        if others.contains(id) { Err(AwsError::no_member(id)) } else { self.terminate_member(id, decrement) }
    }

    /// TerminateInstanceInAutoScalingGroup: terminates a member, protected or not.
    pub fn terminate_member(&mut self, id: &InstanceId, decrement: Decrement) -> AwsResult<Activity> {
        let name = self.group_of(id).ok_or_else(|| AwsError::no_member(id))?;
        let group = self.groups.get(&name).ok_or_else(|| AwsError::no_member(id))?;
        let member = group.members.get(id).ok_or_else(|| AwsError::no_member(id))?;
        let suspended = group.is_suspended(Process::Terminate);
        if suspended && self.settings.suspended_terminate == SuspendedTerminate::Refused {
            let text = format!("The Terminate process of group {name} is suspended.");
            return Err(AwsError::new("ScalingActivityInProgress", text));
        }
        if member.lifecycle.is_leaving() {
            let activity =
                member.activity.and_then(|serial| self.activities.get(&name)?.get(serial).cloned());
            return match (self.settings.repeated_termination, activity) {
                (RepeatedTermination::Accepted, Some(activity)) => Ok(activity),
                (RepeatedTermination::Accepted, None) => Err(AwsError::no_member(id)),
                (RepeatedTermination::Refused, _) => Err(AwsError::new(
                    "ScalingActivityInProgress",
                    format!("Instance {id} is already being terminated."),
                )),
            };
        }
        if let Some(activity) = self.running_activity(&name, member)
            && self.settings.busy_termination == BusyTermination::Refused
        {
            let text = format!("Activity {activity} is in progress.");
            return Err(AwsError::new("ScalingActivityInProgress", text));
        }
        let (sizes, counted, weight) = (group.sizes, member.lifecycle.is_capacity(), member.weight);
        let shrinks = decrement == Decrement::Shrink && counted;
        if shrinks && sizes.desired < sizes.min.saturating_add(weight) {
            return Err(AwsError::validation(format!(
                "Currently, desiredSize equals minSize ({}). Terminating instance without replacement will violate \
                 group's min size constraint. Either set shouldDecrementDesiredCapacity flag to false or lower \
                 group's min size.",
                sizes.min
            )));
        }
        let mut cause = format!(
            "At {} instance {id} was taken out of service in response to a user request",
            iso_seconds(self.now)
        );
        if shrinks {
            let (from, to) = (sizes.desired, sizes.desired.saturating_sub(weight));
            cause = format!("{cause}, shrinking the capacity from {from} to {to}");
            if let Some(group) = self.groups.get_mut(&name) {
                group.sizes.desired = to;
            }
        }
        cause.push('.');
        let serial = self.begin_leaving(&name, id, &cause).ok_or_else(|| AwsError::no_member(id))?;
        self.wake_soon(&name);
        self.activities
            .get(&name)
            .and_then(|log| log.get(serial))
            .cloned()
            .ok_or_else(|| AwsError::no_member(id))
    }

    /// The activity that launches a member or moves it out of service.
    fn running_activity(&self, name: &GroupName, member: &Member) -> Option<&str> {
        use LifecycleState::{Detaching, EnteringStandby, Pending, PendingProceed, PendingWait};
        let busy =
            matches!(member.lifecycle, Pending | PendingWait | PendingProceed | EnteringStandby | Detaching);
        let activity = self.activities.get(name)?.get(member.activity.filter(|_| busy)?)?;
        Some(&activity.id)
    }

    /// SetInstanceProtection. Refused if an id is not a member.
    pub fn set_protection(
        &mut self,
        name: &GroupName,
        ids: &[InstanceId],
        wanted: Protection,
    ) -> AwsResult<()> {
        let group = self.living_group(name)?;
        if ids.len() > PROTECTION_LIMIT {
            return Err(AwsError::validation(format!(
                "You can specify a maximum of {PROTECTION_LIMIT} instances in one request."
            )));
        }
        if ids.is_empty() {
            return Err(AwsError::validation("At least one instance ID is required."));
        }
        let refusal = |id: &InstanceId| match group.members.get(id).map(|member| &member.lifecycle) {
            None => Some(format!("The instance {id} is not part of Auto Scaling group {name}.")),
            Some(lifecycle) if lifecycle.is_leaving() => {
                Some(format!("The instance {id} is not in InService or EnteringStandby or Standby."))
            }
            Some(_) => None,
        };
        let refused = ids.iter().enumerate().find_map(|(at, id)| Some((at, refusal(id)?)));
        let done = match (&refused, self.settings.batches) {
            (None, _) => ids,
            (Some(_), Batches::AllOrNothing) => &[],
            (Some((at, _)), Batches::UpToTheRefused | Batches::AllButTheRefused) => {
                ids.get(..*at).unwrap_or_default()
            }
        };
        for id in done {
            if let Some(member) = self.groups.get_mut(name).and_then(|group| group.members.get_mut(id)) {
                member.protection = wanted;
            }
        }
        self.wake_soon(name);
        refused.map_or(Ok(()), |(_, text)| Err(AwsError::validation(text)))
    }

    /// Sets the state of the root volume replacement of a member in service; `None` ends the replacement.
    ///
    /// # Errors
    /// The instance is not a member in service.
    pub fn set_root_volume(&mut self, id: &InstanceId, state: Option<RootVolume>) -> AwsResult<()> {
        let name = self.group_of(id).ok_or_else(|| AwsError::no_member(id))?;
        let member =
            self.member_mut(&name, id).filter(|member| member.lifecycle == LifecycleState::InService);
        member.ok_or_else(|| AwsError::no_member(id))?.root_volume = state;
        Ok(())
    }

    /// SetInstanceHealth. A report has effect even while the group's own checks are suspended (Auto Scaling User
    /// Guide, "Suspend and resume processes").
    pub fn set_health(&mut self, id: &InstanceId, health: Health, grace: GracePeriod) -> AwsResult<()> {
        let name = self.group_of(id).ok_or_else(|| AwsError::no_member(id))?;
        let now = self.now;
        let group = self.groups.get_mut(&name).ok_or_else(|| AwsError::no_member(id))?;
        let grace_period = group.settings.grace;
        let member = group.members.get_mut(id).ok_or_else(|| AwsError::no_member(id))?;
        let too_young = grace == GracePeriod::Respected && now < member.launched.plus(grace_period);
        if member.lifecycle == LifecycleState::InService && !(too_young && health == Health::Unhealthy) {
            member.health = health;
            self.wake_soon(&name);
        }
        Ok(())
    }
}
