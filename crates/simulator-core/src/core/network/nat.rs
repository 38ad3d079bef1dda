//! NAT gateways (VPC User Guide, "NAT gateways", "Troubleshoot NAT gateways"): AWS reports only after the creation
//! that one cannot work.

use super::interfaces::NewInterfaceOf;
use super::part::Part;
use super::step::Step;
use super::view::Networking;
use crate::core::error::{AwsError, AwsResult};
use foo_model::network::{
    Address, Interface, InternetGateway, NatGateway, NatState, Parts, RouteTarget, Subnet, Tags,
};
use foo_model::{AllocationId, AwsTime, InterfaceId, NatGatewayId, SubnetId, Zone};
use std::collections::BTreeSet;

/// The description of the interface of a NAT gateway.
fn description(id: &NatGatewayId) -> String {
    format!("Interface for NAT Gateway {id}")
}

impl Networking<'_> {
    /// CreateNatGateway, a public one. It is pending for minutes; one that cannot work fails after seconds.
    pub(super) fn create_nat_gateway(
        &mut self,
        subnet: &SubnetId,
        allocation: &AllocationId,
        tags: &Tags,
    ) -> AwsResult<Parts> {
        let subnet = self.part::<Subnet>(subnet)?.clone();
        self.part::<Address>(allocation)?;
        let quota = self.settings.network_quotas.nat_gateways;
        if self.network.nat_gateways_by_zone().get(&subnet.zone).is_some_and(|count| *count >= quota) {
            return Err(AwsError::new(
                "NatGatewayLimitExceeded",
                format!("Performing this operation would exceed the limit of {quota} NAT gateways"),
            ));
        }
        let gateway = NatGateway {
            id: self.new_id("nat"),
            vpc: subnet.vpc.clone(),
            subnet: subnet.id.clone(),
            allocations: BTreeSet::from([allocation.clone()]),
            state: NatState::Pending,
            failure: None,
            created: Some(AwsTime::from_millis(self.now.0)),
            tags: tags.clone(),
        };
        let failure = self.nat_problem(&subnet, allocation).or_else(|| self.nat_mishap(&subnet.zone));
        let id = gateway.id.clone();
        self.network.put_new(gateway.clone(), self.now);
        if let Some((code, message)) = failure {
            let step = Step::NatGatewayFailed(id, code, message);
            self.later(self.settings.nat_gateway_failure, step);
        } else {
            self.give_nat_interface(&gateway, allocation);
            self.begin_pending::<NatGateway>(id);
        }
        Ok(gateway.alone())
    }

    /// Why a NAT gateway cannot work: code and message (EC2 API Reference, NatGateway, `failureCode`).
    fn nat_problem(&self, subnet: &Subnet, allocation: &AllocationId) -> Option<(String, String)> {
        if self.network.of_vpc::<InternetGateway>(&subnet.vpc).next().is_none() {
            let message = format!("Network {} has no Internet gateway attached", subnet.vpc);
            return Some(("Gateway.NotAttached".to_owned(), message));
        }
        if self.network.get::<Address>(allocation).is_some_and(|address| address.interface.is_some()) {
            let message = format!("Elastic IP address [{allocation}] is already associated");
            return Some(("Resource.AlreadyAssociated".to_owned(), message));
        }
        if subnet.free_addresses == 0 {
            let message = "Subnet has insufficient free addresses to create this NAT gateway".to_owned();
            return Some(("InsufficientFreeAddressesInSubnet".to_owned(), message));
        }
        None
    }

    fn nat_mishap(&mut self, zone: &Zone) -> Option<(String, String)> {
        let mut struck = None;
        for rule in &mut self.network.nat_mishaps {
            if rule.zone.as_ref().is_some_and(|it| it != zone) {
                continue;
            }
            if rule.skip > 0 {
                rule.skip -= 1;
            } else if struck.is_none() {
                rule.times = rule.times.map(|times| times.saturating_sub(1));
                struck = Some((rule.code.clone(), rule.message.clone()));
            }
        }
        self.network.nat_mishaps.retain(|rule| rule.times != Some(0));
        struck
    }

    fn give_nat_interface(&mut self, gateway: &NatGateway, allocation: &AllocationId) {
        let id: InterfaceId = self.new_id("eni");
        let new = NewInterfaceOf {
            subnet: gateway.subnet.clone(),
            groups: BTreeSet::new(),
            description: description(&gateway.id),
            interface_type: "nat_gateway",
            requester_managed: true,
        };
        if self.network.add_interface(id.clone(), new).is_some() {
            self.network.associate_address(allocation, &id);
        }
    }

    /// Marks a NAT gateway as failed and frees its address and interface. EC2 shows it for about an hour (VPC User
    /// Guide, "Troubleshoot NAT gateways").
    pub(super) fn nat_gateway_failed(&mut self, id: &NatGatewayId, code: String, message: String) {
        if let Some(gateway) = self.network.nat_gateways.get_mut(id)
            && gateway.state == NatState::Pending
        {
            gateway.state = NatState::Failed;
            gateway.failure = Some((code, message));
            self.release_nat_gateway(id);
        }
    }

    /// DeleteNatGateway. It takes minutes; until then its interface and its address are in use.
    pub(super) fn delete_nat_gateway(&mut self, id: &NatGatewayId) -> AwsResult<Parts> {
        match self.part::<NatGateway>(id)?.state {
            NatState::Deleted => return Err(NatGateway::WORDS.not_found(id)),
            NatState::Deleting => {}
            NatState::Pending | NatState::Failed | NatState::Available => {
                if let Some(gateway) = self.network.nat_gateways.get_mut(id) {
                    gateway.state = NatState::Deleting;
                }
                self.later(self.settings.nat_gateway_delete, Step::NatGatewayDeleted(id.clone()));
            }
        }
        Ok(Parts::default())
    }

    /// Marks a NAT gateway as deleted. EC2 shows it for about an hour (VPC User Guide, "Delete a NAT gateway");
    /// routes to it become blackholes.
    pub(super) fn nat_gateway_deleted(&mut self, id: &NatGatewayId) {
        if let Some(gateway) = self.network.nat_gateways.get_mut(id) {
            gateway.state = NatState::Deleted;
            self.release_nat_gateway(id);
        }
    }

    fn release_nat_gateway(&mut self, id: &NatGatewayId) {
        let name = description(id);
        let of = |it: &&Interface| it.interface_type == "nat_gateway" && it.description == name;
        let found: Vec<InterfaceId> =
            self.network.all::<Interface>().filter(of).map(|it| it.id.clone()).collect();
        for interface in found {
            self.network.remove_interface(&interface);
        }
        self.network.break_routes(&RouteTarget::NatGateway(id.clone()));
        self.later(self.settings.nat_gateway_visible, Step::NatGatewayForgotten(id.clone()));
    }
}
