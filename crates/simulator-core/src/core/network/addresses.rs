//! Elastic IP addresses (EC2 User Guide, "Elastic IP addresses").

use super::part::Part;
use super::quotas::is_reached;
use super::state::Network;
use super::view::Networking;
use crate::core::error::{AwsError, AwsResult};
use foo_model::network::{Address, Interface, Parts, Tags};
use foo_model::{AllocationId, InterfaceId};
use std::net::Ipv4Addr;

/// The first Elastic IP address.
const FIRST: Ipv4Addr = Ipv4Addr::new(52, 28, 0, 1);

impl Networking<'_> {
    /// AllocateAddress.
    pub(super) fn allocate_address(&mut self, tags: &Tags) -> AwsResult<Parts> {
        if is_reached(self.network.addresses.len(), self.settings.network_quotas.addresses) {
            return Err(AwsError::new(
                "AddressLimitExceeded",
                "The maximum number of addresses has been reached.",
            ));
        }
        let ip = Ipv4Addr::from(u32::from(FIRST).wrapping_add(self.network.given_addresses));
        self.network.given_addresses = self.network.given_addresses.wrapping_add(1);
        let address =
            Address { id: self.new_id("eipalloc"), ip: ip.to_string(), interface: None, tags: tags.clone() };
        self.network.put_new(address.clone(), self.now);
        Ok(address.alone())
    }

    /// ReleaseAddress. The address of a NAT gateway or load balancer belongs to AWS, which refuses the call
    /// (kubernetes/kops, `natgateway.go`: AuthFailure).
    pub(super) fn release_address(&mut self, id: &AllocationId) -> AwsResult<Parts> {
        let address = self.part::<Address>(id)?;
        let user = address.interface.as_ref().and_then(|interface| self.network.interfaces.get(interface));
        match user {
            Some(interface) if interface.requester_managed => Err(AwsError::new(
                "AuthFailure",
                "You do not have permission to access the specified resource.",
            )),
            Some(_) => {
                Err(AwsError::new("InvalidIPAddress.InUse", format!("Address {} is in use.", address.ip)))
            }
            None => {
                self.network.remove::<Address>(id);
                Ok(Parts::default())
            }
        }
    }
}

impl Network {
    /// Associates an address with an interface.
    pub(super) fn associate_address(&mut self, id: &AllocationId, interface: &InterfaceId) {
        let Some(address) = self.addresses.get_mut(id) else { return };
        address.interface = Some(interface.clone());
        let ip = address.ip.clone();
        if let Some(interface) = self.get_mut::<Interface>(interface) {
            interface.public_ip = Some(ip);
        }
    }

    /// Disassociates an address from its interface.
    pub(super) fn disassociate_address(&mut self, id: &AllocationId) {
        let Some(interface) = self.addresses.get_mut(id).and_then(|address| address.interface.take()) else {
            return;
        };
        if let Some(interface) = self.interfaces.get_mut(&interface) {
            interface.public_ip = None;
        }
    }

    /// Disassociates all addresses of an interface.
    pub(super) fn disassociate_addresses(&mut self, interface: &InterfaceId) {
        let on = |address: &&Address| address.interface.as_ref() == Some(interface);
        let ids: Vec<AllocationId> = self.all::<Address>().filter(on).map(|it| it.id.clone()).collect();
        for id in ids {
            if let Some(address) = self.addresses.get_mut(&id) {
                address.interface = None;
            }
        }
    }
}
