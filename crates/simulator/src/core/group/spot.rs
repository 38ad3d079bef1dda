//! Spot instances that AWS wants back (EC2 User Guide, "Spot Instance interruptions"; Auto Scaling User Guide, "Capacity
//! Rebalancing in Auto Scaling").

use super::model::{Group, Member};
use crate::core::due::Event;
use crate::core::ec2::instances::Market;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::core::time::iso_seconds;
use foo_cloud::model::{GroupName, InstanceId, LifecycleState, Process};
use std::time::Duration;

/// From the interruption notice to the end of the instance (EC2 User Guide, "Spot Instance interruption notices").
pub const NOTICE: Duration = Duration::from_mins(2);

impl Region {
    /// EC2 recommends to rebalance: the instance is at an elevated risk. With CapacityRebalance its group launches a
    /// replacement and ends the instance when that is in service; otherwise nothing follows.
    ///
    /// # Errors
    /// It is not a living spot instance.
    pub fn recommend_rebalance(&mut self, id: &InstanceId) -> AwsResult<()> {
        self.living_spot(id)?;
        self.tell_rebalance(id);
        if let Some(name) = self.group_of(id)
            && let Some(member) = self.member_mut(&name, id)
        {
            member.at_risk = true;
            self.wake_soon(&name);
        }
        Ok(())
    }

    /// EC2 takes the instance back in two minutes. With CapacityRebalance its group begins the terminating transition at
    /// the notice; otherwise it notices when the instance is gone.
    ///
    /// # Errors
    /// It is not a living spot instance.
    pub fn interrupt(&mut self, id: &InstanceId) -> AwsResult<()> {
        self.living_spot(id)?;
        self.tell_interruption(id);
        self.due.at(self.now.plus(NOTICE), Event::Interrupted(id.clone()));
        let Some(name) = self.group_of(id) else { return Ok(()) };
        if self.groups.get(&name).is_some_and(Group::rebalances_capacity) {
            let at = iso_seconds(self.now);
            let cause = format!(
                "At {at} an instance was taken out of service in response to an EC2 Spot Instance interruption notice."
            );
            self.begin_leaving(&name, id, &cause);
            self.wake_soon(&name);
        }
        Ok(())
    }

    /// The two minutes are over.
    pub(crate) fn finish_interruption(&mut self, id: &InstanceId) {
        let reason =
            ("Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination");
        self.terminate_in_ec2(id, reason);
    }

    fn living_spot(&self, id: &InstanceId) -> AwsResult<()> {
        let instance = self.instances.get(id).filter(|instance| instance.state.is_alive());
        match instance.map(|instance| instance.market) {
            Some(Market::Spot) => Ok(()),
            Some(Market::OnDemand) => {
                Err(AwsError::invalid_value(format!("Instance {id} is not a Spot Instance.")))
            }
            None => Err(AwsError::new(
                "InvalidInstanceID.NotFound",
                format!("The instance ID '{id}' does not exist"),
            )),
        }
    }

    /// Ends members at risk for which a replacement is in service.
    pub(crate) fn end_replaced(&mut self, name: &GroupName) {
        let Some(group) = self.groups.get(name) else { return };
        if group.is_suspended(Process::Terminate) {
            return;
        }
        let at_risk: Vec<InstanceId> =
            group.members.values().filter(|it| group.is_surplus(it)).map(|it| it.id.clone()).collect();
        let serving = group
            .members
            .values()
            .filter(|member| member.lifecycle == LifecycleState::InService && !group.is_surplus(member))
            .count();
        let mut needed = usize::try_from(group.sizes.desired).unwrap_or(usize::MAX).saturating_sub(serving);
        let at = iso_seconds(self.now);
        for id in at_risk {
            if needed > 0 {
                needed -= 1;
                continue;
            }
            let cause = format!(
                "At {at} an instance was taken out of service in response to an EC2 instance rebalance recommendation."
            );
            self.begin_leaving(name, &id, &cause);
        }
    }
}

impl Group {
    /// CapacityRebalance.
    pub(crate) fn rebalances_capacity(&self) -> bool {
        self.settings.stored.get("CapacityRebalance").and_then(|it| it.get_text(&[])) == Some("true")
    }

    /// Whether a member is only kept until its replacement serves.
    pub(crate) fn is_surplus(&self, member: &Member) -> bool {
        member.at_risk && member.lifecycle == LifecycleState::InService && self.rebalances_capacity()
    }

    /// How many instances shall be there: desired capacity, and those that are to be replaced first. Never more than a
    /// tenth above the maximum, at least one (Auto Scaling User Guide, "Capacity Rebalancing": considerations).
    pub(crate) fn target(&self) -> u32 {
        let surplus = self.members.values().filter(|member| self.is_surplus(member)).count();
        let limit = self.sizes.max.saturating_add((self.sizes.max / 10).max(1));
        let target = self.sizes.desired.saturating_add(u32::try_from(surplus).unwrap_or(u32::MAX));
        target.min(limit).max(self.sizes.desired)
    }
}
