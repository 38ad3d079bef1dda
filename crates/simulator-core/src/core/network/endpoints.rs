//! VPC endpoints (AWS PrivateLink Guide, "Access AWS services through AWS PrivateLink", "Gateway endpoints"): gateway
//! endpoints add routes, interface endpoints add network interfaces.

use super::interfaces::NewInterfaceOf;
use super::part::Part;
use super::quotas::is_reached;
use super::services::EndpointService;
use super::state::Network;
use super::step::Step;
use super::view::Networking;
use crate::core::error::{AwsError, AwsResult};
use foo_model::network::{
    Destination, Endpoint, EndpointChange, EndpointKind, EndpointState, Interface, Parts, Route, RouteTable,
    RouteTarget, SecurityGroup, Subnet, Tags, Vpc,
};
use foo_model::{EndpointId, InterfaceId, RouteTableId, SecurityGroupId, SubnetId, VpcId};
use std::collections::BTreeSet;

/// The description of an interface of an endpoint.
fn description(id: &EndpointId) -> String {
    format!("VPC Endpoint Interface {id}")
}

fn wrong(message: impl Into<String>) -> AwsError {
    AwsError::new("InvalidParameter", message)
}

impl Networking<'_> {
    /// CreateVpcEndpoint. A gateway endpoint is available at once, an interface endpoint after a while.
    pub(super) fn create_endpoint(
        &mut self,
        vpc: &VpcId,
        name: &str,
        kind: &EndpointKind,
        tags: &Tags,
    ) -> AwsResult<Parts> {
        self.part::<Vpc>(vpc)?;
        let service = EndpointService::find(self.name, name).ok_or_else(|| {
            AwsError::new("InvalidServiceName", format!("The Vpc Endpoint Service '{name}' does not exist"))
        })?;
        let alive = |it: &&Endpoint| it.state != EndpointState::Deleting;
        let quota = self.settings.network_quotas.endpoints;
        if is_reached(self.network.of_vpc::<Endpoint>(vpc).filter(alive).count(), quota) {
            return Err(AwsError::new(
                "VpcEndpointLimitExceeded",
                "The maximum number of VPC endpoints has been reached.",
            ));
        }
        let kind = self.usable_kind(vpc, name, service, kind)?;
        let state = match kind {
            EndpointKind::Gateway { .. } => EndpointState::Available,
            EndpointKind::Interface { .. } | EndpointKind::Other(_) => EndpointState::Pending,
        };
        let endpoint = Endpoint {
            id: self.new_id("vpce"),
            vpc: vpc.clone(),
            service: name.to_owned(),
            kind,
            state,
            failure: None,
            tags: tags.clone(),
        };
        let id = endpoint.id.clone();
        self.network.put_new(endpoint.clone(), self.now);
        match &endpoint.kind {
            EndpointKind::Gateway { tables } => self.add_endpoint_routes(&endpoint, tables),
            EndpointKind::Interface { subnets, .. } => {
                self.add_endpoint_interfaces(&endpoint, subnets);
                self.begin_pending::<Endpoint>(id);
            }
            EndpointKind::Other(_) => {}
        }
        Ok(endpoint.alone())
    }

    /// Validates the connections of a new endpoint. Interfaces without a security group get the VPC's default one.
    fn usable_kind(
        &self,
        vpc: &VpcId,
        name: &str,
        service: EndpointService,
        kind: &EndpointKind,
    ) -> AwsResult<EndpointKind> {
        let unsupported = |kind: &str| {
            wrong(format!("The VPC endpoint service {name} does not support an endpoint of type {kind}."))
        };
        match kind {
            EndpointKind::Gateway { tables } => {
                if service.prefix_list().is_none() {
                    return Err(unsupported("Gateway"));
                }
                self.check_tables(vpc, service, tables)?;
                Ok(kind.clone())
            }
            EndpointKind::Interface { subnets, groups, private_dns } => {
                if !service.has_interfaces {
                    return Err(unsupported("Interface"));
                }
                self.check_subnets(vpc, &BTreeSet::new(), subnets)?;
                self.check_groups(vpc, groups)?;
                if *private_dns {
                    self.check_private_dns(vpc, service, None)?;
                }
                let mut groups = groups.clone();
                if groups.is_empty() {
                    groups.extend(self.network.default_group(vpc.as_str()));
                }
                Ok(EndpointKind::Interface { subnets: subnets.clone(), groups, private_dns: *private_dns })
            }
            EndpointKind::Other(kind) => Err(unsupported(kind)),
        }
    }

    fn check_tables(
        &self,
        vpc: &VpcId,
        service: EndpointService,
        tables: &BTreeSet<RouteTableId>,
    ) -> AwsResult<()> {
        let Some(list) = service.prefix_list() else { return Ok(()) };
        for id in tables {
            let table = self.part::<RouteTable>(id)?;
            if &table.vpc != vpc {
                return Err(wrong(format!("Route table {id} does not belong to VPC {vpc}")));
            }
            if table.routes.iter().any(|route| route.destination == Destination::Prefixes(list.clone())) {
                return Err(AwsError::new(
                    "RouteAlreadyExists",
                    format!("route table {id} already has a route with destination-prefix-list-id {list}"),
                ));
            }
        }
        Ok(())
    }

    /// At most one subnet per zone, with a free address.
    fn check_subnets(
        &self,
        vpc: &VpcId,
        present: &BTreeSet<SubnetId>,
        added: &BTreeSet<SubnetId>,
    ) -> AwsResult<()> {
        let mut zones: BTreeSet<_> =
            present.iter().filter_map(|id| self.network.subnets.get(id)).map(|it| it.zone.clone()).collect();
        for id in added {
            let subnet = self.part::<Subnet>(id)?;
            if &subnet.vpc != vpc {
                return Err(wrong(format!("Subnet {id} does not belong to VPC {vpc}")));
            }
            if !zones.insert(subnet.zone.clone()) {
                return Err(AwsError::new(
                    "DuplicateSubnetsInSameZone",
                    format!(
                        "Found another VPC endpoint subnet in the availability zone of {id}. VPC endpoint subnets should be \
                         in different availability zones supported by the VPC endpoint service."
                    ),
                ));
            }
            if subnet.free_addresses == 0 {
                return Err(AwsError::new(
                    "InsufficientFreeAddressesInSubnet",
                    format!("Subnet {id} has no free addresses."),
                ));
            }
        }
        Ok(())
    }

    fn check_groups(&self, vpc: &VpcId, groups: &BTreeSet<SecurityGroupId>) -> AwsResult<()> {
        for id in groups {
            if &self.part::<SecurityGroup>(id)?.vpc != vpc {
                return Err(wrong(format!("Security group {id} does not belong to VPC {vpc}")));
            }
        }
        Ok(())
    }

    /// Private DNS needs a VPC with DNS support and hostnames, and one endpoint per service and VPC can have it.
    fn check_private_dns(
        &self,
        vpc: &VpcId,
        service: EndpointService,
        own: Option<&EndpointId>,
    ) -> AwsResult<()> {
        let resolves = |vpc: &Vpc| vpc.dns_support == Some(true) && vpc.dns_hostnames == Some(true);
        if !self.network.vpcs.get(vpc).is_some_and(resolves) {
            return Err(wrong(format!(
                "Enabling private DNS requires both enableDnsSupport and enableDnsHostnames VPC attributes set to true for \
                 {vpc}"
            )));
        }
        let domain = service.domain(self.name);
        let conflicts = |it: &Endpoint| {
            Some(&it.id) != own
                && matches!(it.kind, EndpointKind::Interface { private_dns: true, .. })
                && EndpointService::find(self.name, &it.service) == Some(service)
        };
        if self.network.of_vpc::<Endpoint>(vpc).any(conflicts) {
            return Err(wrong(format!(
                "private-dns-enabled cannot be set because there is already a conflicting DNS domain for {domain} in the \
                 VPC {vpc}"
            )));
        }
        Ok(())
    }

    fn add_endpoint_routes(&mut self, endpoint: &Endpoint, tables: &BTreeSet<RouteTableId>) {
        let service = EndpointService::find(self.name, &endpoint.service);
        let Some(list) = service.and_then(EndpointService::prefix_list) else { return };
        for id in tables {
            if let Some(table) = self.network.route_tables.get_mut(id) {
                table.routes.push(Route {
                    destination: Destination::Prefixes(list.clone()),
                    target: RouteTarget::Endpoint(endpoint.id.clone()),
                    blackhole: false,
                });
            }
        }
    }

    fn remove_endpoint_routes(&mut self, endpoint: &EndpointId, tables: &BTreeSet<RouteTableId>) {
        for id in tables {
            if let Some(table) = self.network.route_tables.get_mut(id) {
                table.routes.retain(|route| route.target != RouteTarget::Endpoint(endpoint.clone()));
            }
        }
    }

    fn add_endpoint_interfaces(&mut self, endpoint: &Endpoint, subnets: &BTreeSet<SubnetId>) {
        let EndpointKind::Interface { groups, .. } = &endpoint.kind else { return };
        for subnet in subnets {
            let id: InterfaceId = self.new_id("eni");
            let new = NewInterfaceOf {
                subnet: subnet.clone(),
                groups: groups.clone(),
                description: description(&endpoint.id),
                interface_type: "vpc_endpoint",
                requester_managed: true,
            };
            // The subnet has a free address: `check_subnets` verified that.
            let _added = self.network.add_interface(id, new);
        }
    }

    fn endpoint_interfaces(&self, endpoint: &EndpointId) -> Vec<(InterfaceId, SubnetId)> {
        let name = description(endpoint);
        let of = |it: &&Interface| it.interface_type == "vpc_endpoint" && it.description == name;
        let found = self.network.all::<Interface>().filter(of);
        found.map(|it| (it.id.clone(), it.subnet.clone())).collect()
    }

    /// pending → available, or failed where a test has one fail.
    pub(super) fn endpoint_available(&mut self, id: &EndpointId) {
        let Network { endpoints, endpoint_mishap, .. } = &mut *self.network;
        let pending = endpoints.get_mut(id).filter(|it| it.state == EndpointState::Pending);
        if let (Some(endpoint), Some(mishap)) =
            (pending, endpoint_mishap.as_mut().filter(|mishap| mishap.times > 0))
        {
            mishap.times -= 1;
            endpoint.failure = Some(mishap.failure.clone());
            endpoint.state = EndpointState::Failed;
        }
        self.end_pending::<Endpoint>(id);
    }

    /// ModifyVpcEndpoint.
    pub(super) fn modify_endpoint(&mut self, id: &EndpointId, change: &EndpointChange) -> AwsResult<Parts> {
        let endpoint = self.part::<Endpoint>(id)?.clone();
        let service = EndpointService::find(self.name, &endpoint.service);
        let service = service.ok_or_else(|| Endpoint::WORDS.not_found(id))?;
        let kind = match &endpoint.kind {
            EndpointKind::Gateway { tables } => self.modify_gateway(&endpoint, service, tables, change)?,
            EndpointKind::Interface { subnets, groups, private_dns } => {
                let interface = (subnets, groups, *private_dns);
                self.modify_interface(&endpoint, service, interface, change)?
            }
            EndpointKind::Other(_) => return Err(wrong("An endpoint of this type cannot be modified.")),
        };
        if let Some(endpoint) = self.network.endpoints.get_mut(id) {
            endpoint.kind = kind;
        }
        Ok(Parts::default())
    }

    fn modify_gateway(
        &mut self,
        endpoint: &Endpoint,
        service: EndpointService,
        tables: &BTreeSet<RouteTableId>,
        change: &EndpointChange,
    ) -> AwsResult<EndpointKind> {
        let parts_of_interfaces = change.add_subnets.len()
            + change.remove_subnets.len()
            + change.add_groups.len()
            + change.remove_groups.len();
        if parts_of_interfaces > 0 || change.private_dns.is_some() {
            return Err(wrong("A gateway endpoint has neither subnets nor security groups nor private DNS."));
        }
        let mut added = &change.add_tables - tables;
        added.retain(|id| !change.remove_tables.contains(id));
        self.check_tables(&endpoint.vpc, service, &added)?;
        self.remove_endpoint_routes(&endpoint.id, &change.remove_tables);
        self.add_endpoint_routes(endpoint, &added);
        let tables = tables.union(&added).filter(|id| !change.remove_tables.contains(*id)).cloned().collect();
        Ok(EndpointKind::Gateway { tables })
    }

    fn modify_interface(
        &mut self,
        endpoint: &Endpoint,
        service: EndpointService,
        (subnets, groups, private_dns): (&BTreeSet<SubnetId>, &BTreeSet<SecurityGroupId>, bool),
        change: &EndpointChange,
    ) -> AwsResult<EndpointKind> {
        if !change.add_tables.is_empty() || !change.remove_tables.is_empty() {
            return Err(wrong("An interface endpoint has no route tables."));
        }
        let stay: BTreeSet<SubnetId> = subnets.difference(&change.remove_subnets).cloned().collect();
        let mut added = &change.add_subnets - subnets;
        added.retain(|id| !change.remove_subnets.contains(id));
        self.check_subnets(&endpoint.vpc, &stay, &added)?;
        self.check_groups(&endpoint.vpc, &change.add_groups)?;
        let private_dns = change.private_dns.unwrap_or(private_dns);
        if change.private_dns == Some(true) {
            self.check_private_dns(&endpoint.vpc, service, Some(&endpoint.id))?;
        }
        let mut groups: BTreeSet<SecurityGroupId> =
            groups.difference(&change.remove_groups).cloned().collect();
        groups.extend(change.add_groups.iter().cloned());
        if groups.is_empty() {
            return Err(wrong("An interface endpoint needs at least one security group."));
        }
        let kind = EndpointKind::Interface {
            subnets: stay.union(&added).cloned().collect(),
            groups: groups.clone(),
            private_dns,
        };
        for (interface, subnet) in self.endpoint_interfaces(&endpoint.id) {
            if change.remove_subnets.contains(&subnet) {
                self.network.remove_interface(&interface);
            } else if let Some(interface) = self.network.interfaces.get_mut(&interface) {
                interface.groups.clone_from(&groups);
            }
        }
        self.add_endpoint_interfaces(&Endpoint { kind: kind.clone(), ..endpoint.clone() }, &added);
        Ok(kind)
    }

    /// DeleteVpcEndpoints. Returns those that cannot be deleted with the reason; it deletes all others. A gateway
    /// endpoint is deleted at once, an interface endpoint after a while; its interfaces remain until then.
    pub(crate) fn delete_endpoints(&mut self, ids: &BTreeSet<EndpointId>) -> Vec<(EndpointId, AwsError)> {
        let mut refused = Vec::new();
        for id in ids {
            if let Err(error) = self.delete_endpoint(id) {
                refused.push((id.clone(), error));
            }
        }
        refused
    }

    fn delete_endpoint(&mut self, id: &EndpointId) -> AwsResult<()> {
        let endpoint = self.part::<Endpoint>(id)?.clone();
        match &endpoint.kind {
            EndpointKind::Gateway { .. } => self.endpoint_deleted(id),
            EndpointKind::Interface { .. } | EndpointKind::Other(_)
                if endpoint.state != EndpointState::Deleting =>
            {
                if let Some(endpoint) = self.network.endpoints.get_mut(id) {
                    endpoint.state = EndpointState::Deleting;
                }
                self.later(self.settings.endpoint_delete, Step::EndpointDeleted(id.clone()));
            }
            EndpointKind::Interface { .. } | EndpointKind::Other(_) => {}
        }
        Ok(())
    }

    /// Removes an endpoint with its routes and its interfaces.
    pub(super) fn endpoint_deleted(&mut self, id: &EndpointId) {
        let Some(endpoint) = self.network.remove::<Endpoint>(id) else { return };
        if let EndpointKind::Gateway { tables } = &endpoint.kind {
            self.remove_endpoint_routes(id, tables);
        }
        for (interface, _) in self.endpoint_interfaces(id) {
            self.network.remove_interface(&interface);
        }
    }
}
