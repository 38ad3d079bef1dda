//! What a test changes in a region without a call of AWS.

use crate::core::region::Region;
use foo_model::{InstanceId, SubnetId, Zone};

impl Region {
    /// Adds a tag to an instance. Without the instance nothing is changed.
    pub fn tag_instance(&mut self, id: &InstanceId, key: &str, value: &str) {
        if let Some(instance) = self.instances.get_mut(id) {
            instance.tags.insert(key.to_owned(), value.to_owned());
        }
    }

    /// Has GuardDuty find the agent's Node on an instance, as if the instance were launched now.
    pub fn guard_instance(&mut self, id: &InstanceId) {
        if let Some(instance) = self.instances.get(id).cloned() {
            self.networking().guard_node(&instance);
        }
    }

    /// Assigns every free address of a subnet.
    pub fn fill_subnet(&mut self, subnet: &SubnetId) {
        while self.network.assign_address(subnet).is_some() {}
    }

    /// Changes the zone id of a zone and of its subnets.
    pub fn set_zone_id(&mut self, zone: &Zone, zone_id: &str) {
        self.network.zones.insert(zone.clone(), zone_id.to_owned());
        let ids: Vec<SubnetId> = self.network.subnets.iter().map(|(id, _)| id.clone()).collect();
        for id in ids {
            if let Some(subnet) = self.network.subnets.get_mut(&id).filter(|subnet| subnet.zone == *zone) {
                zone_id.clone_into(&mut subnet.zone_id);
            }
        }
    }
}
