//! Calls that move instances into and out of a group without terminating them: standby, detach, attach.

use crate::core::due::Event;
use crate::core::error::{AwsError, AwsResult};
use crate::core::group::activity::Activity;
use crate::core::group::model::Member;
use crate::core::region::Region;
use crate::core::time::iso_seconds;
use foo_cloud::InstanceState;
use foo_model::{ActivityStatus, Decrement, GroupName, Health, InstanceId, LifecycleState};
use std::collections::BTreeMap;
use std::time::Duration;

/// Most ids of one of these calls (Auto Scaling API Reference).
pub const MOVE_LIMIT: usize = 20;
/// How long a member takes to enter standby or to be detached: seconds when no load balancer is involved.
const MOVE_TIME: Duration = Duration::from_secs(3);

/// Destination of members that are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Standby,
    Out,
}

impl Region {
    /// EnterStandby: the members stay in the group but no longer count as capacity.
    pub fn enter_standby(
        &mut self,
        name: &GroupName,
        ids: &[InstanceId],
        decrement: Decrement,
    ) -> AwsResult<Vec<Activity>> {
        self.move_members(name, ids, decrement, Move::Standby)
    }

    /// DetachInstances: the instances continue to run outside of the group.
    pub fn detach_instances(
        &mut self,
        name: &GroupName,
        ids: &[InstanceId],
        decrement: Decrement,
    ) -> AwsResult<Vec<Activity>> {
        self.move_members(name, ids, decrement, Move::Out)
    }

    fn move_members(
        &mut self,
        name: &GroupName,
        ids: &[InstanceId],
        decrement: Decrement,
        to: Move,
    ) -> AwsResult<Vec<Activity>> {
        let ids = &each_once(ids)?;
        let group = self.living_group(name)?;
        let mut counted = 0_u32;
        for id in ids {
            match group.members.get(id).map(|member| &member.lifecycle) {
                Some(LifecycleState::InService) => {
                    counted = group.members.get(id).map_or(counted, |member| counted + member.weight);
                }
                Some(LifecycleState::Standby) if to == Move::Out => {}
                Some(other) => {
                    return Err(AwsError::validation(format!(
                        "The instance {id} is not in InService{}, but in {}.",
                        if to == Move::Out { " or Standby" } else { "" },
                        other.name()
                    )));
                }
                None => return Err(not_part(id, name)),
            }
        }
        let (min, desired) = (group.sizes.min, group.sizes.desired);
        let after = match decrement {
            Decrement::Shrink => desired.saturating_sub(counted),
            Decrement::Replace => desired,
        };
        if after < min {
            return Err(AwsError::validation(format!(
                "AutoScalingGroup {name} has min size {min}, and cannot be decreased below it. Lower the min size or \
                 do not decrement desired capacity."
            )));
        }
        if let Some(group) = self.groups.get_mut(name) {
            group.sizes.desired = after;
        }
        let mut activities = Vec::new();
        for id in ids {
            activities.extend(self.move_member(name, id, to));
        }
        self.wake_soon(name);
        Ok(activities)
    }

    fn move_member(&mut self, name: &GroupName, id: &InstanceId, to: Move) -> Option<Activity> {
        let (description, what, lifecycle, event) = match to {
            Move::Standby => (
                format!("Moving EC2 instance to Standby: {id}"),
                "was moved to standby",
                LifecycleState::EnteringStandby,
                Event::StoodBy(id.clone()),
            ),
            Move::Out => (
                format!("Detaching EC2 instance: {id}"),
                "was detached",
                LifecycleState::Detaching,
                Event::Detached(id.clone()),
            ),
        };
        let cause =
            format!("At {} instance {id} {what} in response to a user request.", iso_seconds(self.now));
        let serial = self.begin_activity_of(name, id, description, cause);
        // How long a move waits for connections is not simulated.
        let _drained = self.deregister_targets(name, id);
        let member = self.groups.get_mut(name)?.members.get_mut(id)?;
        member.lifecycle = lifecycle;
        member.activity = Some(serial);
        self.due.at(self.now.plus(MOVE_TIME), event);
        self.activities.get(name)?.get(serial).cloned()
    }

    pub(crate) fn finish_standby(&mut self, id: &InstanceId) {
        let Some(name) = self.group_of(id) else { return };
        let Some(group) = self.groups.get_mut(&name) else { return };
        let Some(member) =
            group.members.get_mut(id).filter(|member| member.lifecycle == LifecycleState::EnteringStandby)
        else {
            return;
        };
        member.lifecycle = LifecycleState::Standby;
        let activity = member.activity.take();
        self.end_activity(&name, activity, ActivityStatus::Successful, None);
        self.wake(&name, self.now);
    }

    pub(crate) fn finish_detach(&mut self, id: &InstanceId) {
        let Some(name) = self.group_of(id) else { return };
        let Some(group) = self.groups.get_mut(&name) else { return };
        if group.members.get(id).is_none_or(|member| member.lifecycle != LifecycleState::Detaching) {
            return;
        }
        let activity = group.members.remove(id).and_then(|member| member.activity);
        if let Some(instance) = self.instances.get_mut(id) {
            instance.group = None;
            instance.tags.remove("aws:autoscaling:groupName");
        }
        self.end_activity(&name, activity, ActivityStatus::Successful, None);
        self.wake(&name, self.now);
    }

    /// ExitStandby: desired capacity rises by the number of instances.
    pub fn exit_standby(&mut self, name: &GroupName, ids: &[InstanceId]) -> AwsResult<Vec<Activity>> {
        let ids = &each_once(ids)?;
        let group = self.living_group(name)?;
        for id in ids {
            match group.members.get(id).map(|member| &member.lifecycle) {
                Some(LifecycleState::Standby) => {}
                Some(_) => {
                    return Err(AwsError::validation(format!("The instance {id} is not in Standby.")));
                }
                None => return Err(not_part(id, name)),
            }
        }
        let after = self.raised(name, ids)?;
        let mut activities = Vec::new();
        for id in ids {
            let cause = format!(
                "At {} instance {id} was moved out of standby in response to a user request.",
                iso_seconds(self.now)
            );
            let serial =
                self.begin_activity_of(name, id, format!("Moving EC2 instance out of Standby: {id}"), cause);
            self.enter_service(name, id, serial);
            activities.extend(self.activities.get(name).and_then(|log| log.get(serial)).cloned());
        }
        if let Some(group) = self.groups.get_mut(name) {
            group.sizes.desired = after;
        }
        Ok(activities)
    }

    /// AttachInstances: running instances of no group become members; desired capacity rises by their number.
    pub fn attach_instances(&mut self, name: &GroupName, ids: &[InstanceId]) -> AwsResult<()> {
        let ids = &each_once(ids)?;
        self.living_group(name)?;
        for id in ids {
            let fits = self
                .instances
                .get(id)
                .is_some_and(|instance| instance.state == InstanceState::Running && instance.group.is_none());
            if !fits {
                return Err(AwsError::validation(format!(
                    "Invalid Instance IDs: {id} is not a running instance outside of any group"
                )));
            }
        }
        let after = self.raised(name, ids)?;
        for id in ids {
            let Some(member) = self.adopt(name, id) else { continue };
            let cause = format!(
                "At {} an instance was attached in response to a user request.",
                iso_seconds(self.now)
            );
            let serial =
                self.begin_activity_of(name, id, format!("Attaching an existing EC2 instance: {id}"), cause);
            if let Some(group) = self.groups.get_mut(name) {
                group.sizes.desired = after;
                group.members.insert(id.clone(), member);
            }
            self.enter_service(name, id, serial);
        }
        Ok(())
    }

    /// Assigns an instance without a group to a group, and returns the new member.
    fn adopt(&mut self, name: &GroupName, id: &InstanceId) -> Option<Member> {
        let group = self.groups.get(name)?;
        let weight = group.weight_of(&self.instances.get(id)?.instance_type);
        let protection = group.new_instances;
        let instance = self.instances.get_mut(id)?;
        instance.group = Some(name.clone());
        instance.tags.insert("aws:autoscaling:groupName".to_owned(), name.to_string());
        let template = instance.template.clone().and_then(|(id, version)| {
            let name = self.templates.by_id.get(&id)?.name.clone();
            Some((id, name, version))
        });
        Some(Member {
            id: id.clone(),
            zone: instance.zone.clone(),
            instance_type: instance.instance_type.clone(),
            lifecycle: LifecycleState::Pending,
            health: Health::Healthy,
            protection,
            template,
            market: instance.market,
            weight,
            launched: instance.launched,
            serving_since: None,
            outgoing: None,
            rests: None,
            from_warm_pool: false,
            returns: false,
            waits: BTreeMap::new(),
            activity: None,
            root_volume: None,
        })
    }

    /// Desired capacity after these instances are added.
    fn raised(&self, name: &GroupName, ids: &[InstanceId]) -> AwsResult<u32> {
        let group = self.living_group(name)?;
        let weight = |id: &InstanceId| match (group.members.get(id), self.instances.get(id)) {
            (Some(member), _) => member.weight,
            (None, Some(instance)) => group.weight_of(&instance.instance_type),
            (None, None) => 1,
        };
        let more = ids.iter().fold(0_u32, |sum, id| sum.saturating_add(weight(id)));
        let after = group.sizes.desired.saturating_add(more);
        if after > group.sizes.max {
            return Err(AwsError::validation(format!(
                "AutoScalingGroup {name} has max size {}, and desired capacity {after} would be above it.",
                group.sizes.max
            )));
        }
        Ok(after)
    }

    fn enter_service(&mut self, name: &GroupName, id: &InstanceId, activity: u64) {
        if let Some(member) = self.member_mut(name, id) {
            member.lifecycle = LifecycleState::Pending;
            member.activity = Some(activity);
        }
        self.due.at(self.now.plus(MOVE_TIME), Event::Launched(id.clone(), Some(activity)));
    }
}

/// The ids of a call without duplicates.
fn each_once(ids: &[InstanceId]) -> AwsResult<Vec<InstanceId>> {
    if ids.is_empty() || ids.len() > MOVE_LIMIT {
        return Err(AwsError::validation(format!(
            "You must specify between 1 and {MOVE_LIMIT} instance IDs."
        )));
    }
    let mut once: Vec<InstanceId> = Vec::new();
    for id in ids {
        if !once.contains(id) {
            once.push(id.clone());
        }
    }
    Ok(once)
}

fn not_part(id: &InstanceId, name: &GroupName) -> AwsError {
    AwsError::validation(format!("The instance {id} is not part of Auto Scaling group {name}."))
}
