//! Interruptions of spot instances (EC2 User Guide, "Spot Instance interruptions"; Auto Scaling User Guide, "Capacity
//! Rebalancing in Auto Scaling").

use super::replace::Outgoing;
use crate::core::due::Event;
use crate::core::ec2::instances::Market;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::core::time::iso_seconds;
use foo_model::{GroupName, InstanceId};
use std::time::Duration;

/// From the interruption notice to the termination of the instance (EC2 User Guide, "Spot Instance interruption
/// notices").
pub const NOTICE: Duration = Duration::from_mins(2);

impl Region {
    /// EC2 recommends to rebalance, because the instance has an elevated risk of interruption. With CapacityRebalance
    /// its group launches a replacement, and terminates the instance when that is in service; otherwise the group
    /// does nothing.
    ///
    /// # Errors
    /// It is not a running spot instance.
    pub fn recommend_rebalance(&mut self, id: &InstanceId) -> AwsResult<()> {
        self.living_spot(id)?;
        self.publish_rebalance(id);
        if let Some(name) = self.group_of(id)
            && self.rebalances_capacity(&name)
            && let Some(member) = self.member_mut(&name, id)
        {
            member.outgoing = Some(Outgoing::AtRisk);
            self.wake_soon(&name);
        }
        Ok(())
    }

    /// EC2 publishes an interruption notice, and terminates the instance two minutes later. With CapacityRebalance
    /// its group begins the terminating transition at the notice; otherwise the group notices the terminated
    /// instance.
    ///
    /// # Errors
    /// It is not a running spot instance.
    pub fn interrupt(&mut self, id: &InstanceId) -> AwsResult<()> {
        self.living_spot(id)?;
        self.publish_interruption(id);
        self.due.at(self.now.plus(NOTICE), Event::Interrupted(id.clone()));
        let Some(name) = self.group_of(id) else { return Ok(()) };
        if self.rebalances_capacity(&name) {
            let at = iso_seconds(self.now);
            let cause = format!(
                "At {at} an instance was taken out of service in response to an EC2 Spot Instance interruption notice."
            );
            self.begin_leaving(&name, id, &cause);
            self.wake_soon(&name);
        }
        Ok(())
    }

    /// Terminates an interrupted instance when the two minutes are over.
    pub(crate) fn finish_interruption(&mut self, id: &InstanceId) {
        let reason =
            ("Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination");
        self.terminate_in_ec2(id, reason);
    }

    fn rebalances_capacity(&self, name: &GroupName) -> bool {
        self.groups.get(name).is_some_and(|group| group.settings.policies.capacity_rebalance)
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
}
