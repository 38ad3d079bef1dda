//! Network interfaces: each has an address of its subnet until it is removed.

use super::pool::AddressPool;
use super::state::Network;
use super::view::Networking;
use crate::core::ec2::instances::Ec2Instance;
use crate::core::error::{AwsError, AwsResult};
use foo_model::network::{Interface, Parts, Tags};
use foo_model::{InstanceId, InterfaceId, SecurityGroupId, SubnetId, VpcId};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

/// A new interface that is attached to a resource of AWS.
pub(super) struct NewInterfaceOf {
    pub(super) subnet: SubnetId,
    pub(super) groups: BTreeSet<SecurityGroupId>,
    pub(super) description: String,
    pub(super) interface_type: &'static str,
    pub(super) requester_managed: bool,
}

/// The id of the interface of an instance, with the digits of the instance's id.
fn interface_of(instance: &InstanceId) -> InterfaceId {
    InterfaceId::new(instance.as_str().replacen("i-", "eni-", 1))
}

impl Network {
    /// Adds an interface to a subnet; `None` if the subnet has no free address.
    pub(super) fn add_interface(&mut self, id: InterfaceId, new: NewInterfaceOf) -> Option<()> {
        let vpc = self.subnets.get(&new.subnet)?.vpc.clone();
        let private = self.assign_address(&new.subnet)?;
        self.put(Interface {
            id,
            vpc,
            subnet: new.subnet,
            groups: new.groups,
            description: new.description,
            interface_type: new.interface_type.to_owned(),
            requester_managed: new.requester_managed,
            in_use: true,
            instance: None,
            private_ip: private.to_string(),
            public_ip: None,
            tags: Tags::new(),
        });
        Some(())
    }

    /// Removes an interface and frees its addresses.
    pub(super) fn remove_interface(&mut self, id: &InterfaceId) {
        let Some(interface) = self.remove::<Interface>(id) else { return };
        self.disassociate_addresses(id);
        if let Ok(address) = interface.private_ip.parse::<Ipv4Addr>() {
            self.free_address(&interface.subnet, address);
        }
    }

    /// Adds the interface of a launched instance. Its address was assigned before.
    pub(crate) fn add_instance_interface(&mut self, instance: &Ec2Instance) {
        let Some(addresses) = &instance.addresses else { return };
        self.put(Interface {
            id: interface_of(&instance.id),
            vpc: VpcId::new(instance.vpc.as_str()),
            subnet: instance.subnet.clone(),
            groups: instance.security_groups.iter().cloned().collect(),
            description: String::new(),
            interface_type: "interface".to_owned(),
            requester_managed: false,
            in_use: true,
            instance: Some(instance.id.clone()),
            private_ip: addresses.private.to_string(),
            public_ip: addresses.public.as_ref().map(|(address, _)| address.to_string()),
            tags: Tags::new(),
        });
    }

    /// Removes the interface of a terminated instance.
    pub(crate) fn remove_instance_interface(&mut self, instance: &InstanceId) {
        self.remove_interface(&interface_of(instance));
    }
}

impl Network {
    /// Assigns an address of a subnet; `None` if none is free.
    pub(crate) fn assign_address(&mut self, subnet: &SubnetId) -> Option<Ipv4Addr> {
        let address = self.pools.get_mut(subnet)?.take()?;
        self.count_free(subnet);
        Some(address)
    }

    /// Frees an address of a subnet.
    pub(crate) fn free_address(&mut self, subnet: &SubnetId, address: Ipv4Addr) {
        if let Some(pool) = self.pools.get_mut(subnet) {
            pool.give_back(address);
            self.count_free(subnet);
        }
    }

    fn count_free(&mut self, subnet: &SubnetId) {
        let free = self.pools.get(subnet).map_or(0, AddressPool::free);
        if let Some(subnet) = self.subnets.get_mut(subnet) {
            subnet.free_addresses = free;
        }
    }
}

impl Networking<'_> {
    /// DeleteNetworkInterface.
    pub(super) fn delete_network_interface(&mut self, id: &InterfaceId) -> AwsResult<Parts> {
        let interface = self.part::<Interface>(id)?;
        if interface.in_use {
            return Err(AwsError::invalid_value(format!("Network interface '{id}' is currently in use.")));
        }
        if interface.requester_managed {
            return Err(AwsError::new(
                "OperationNotPermitted",
                format!(
                    "You do not have permission to manage the requester-managed network interface '{id}'."
                ),
            ));
        }
        self.network.remove_interface(id);
        Ok(Parts::default())
    }
}
