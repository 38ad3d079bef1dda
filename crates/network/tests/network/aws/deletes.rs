//! Endpoints, tags and deletions.

use super::{Answered, Aws, not_found, refusal, violation};
use foo_model::network::*;
use foo_model::*;

impl Aws {
    pub(super) fn endpoint(&mut self, change: &Change) -> Answered {
        match change {
            Change::CreateVpcEndpoint { vpc, service, kind, tags, token } => {
                if let EndpointKind::Interface { private_dns: true, .. } = kind {
                    assert_eq!(
                        self.parts.vpcs[vpc].dns_hostnames,
                        Some(true),
                        "private names without hostnames"
                    );
                }
                let (id, new) = self.with_token(token, change, "vpce")?;
                let id = EndpointId::new(id);
                let part = Endpoint {
                    id: id.clone(),
                    vpc: vpc.clone(),
                    service: service.clone(),
                    kind: kind.clone(),
                    state: EndpointState::Pending,
                    failure: None,
                    tags: tags.clone(),
                };
                if new {
                    self.timers.insert(id.to_string(), self.now);
                    self.hide(id.as_str());
                    self.parts.endpoints.insert(id.clone(), part.clone());
                    self.connect(&id);
                }
                Ok(Parts { endpoints: [(id, part)].into(), ..Parts::default() })
            }
            Change::ModifyVpcEndpoint { endpoint, change } => {
                let it = self.parts.endpoints.get_mut(endpoint);
                let it = it.ok_or_else(|| not_found("InvalidVpcEndpointId.NotFound"))?;
                match &mut it.kind {
                    EndpointKind::Gateway { tables } => {
                        tables.extend(change.add_tables.iter().cloned());
                        tables.retain(|it| !change.remove_tables.contains(it));
                    }
                    EndpointKind::Interface { subnets, groups, private_dns } => {
                        subnets.extend(change.add_subnets.iter().cloned());
                        subnets.retain(|it| !change.remove_subnets.contains(it));
                        groups.extend(change.add_groups.iter().cloned());
                        groups.retain(|it| !change.remove_groups.contains(it));
                        *private_dns = change.private_dns.unwrap_or(*private_dns);
                    }
                    EndpointKind::Other(_) => {}
                }
                self.connect(endpoint);
                Ok(Parts::default())
            }
            _ => unreachable!(),
        }
    }

    /// The interfaces of an endpoint.
    fn connect(&mut self, id: &EndpointId) {
        let text = format!("VPC Endpoint Interface {id}");
        self.parts.interfaces.retain(|_, it| it.description != text);
        let EndpointKind::Interface { subnets, groups, .. } = self.parts.endpoints[id].kind.clone() else {
            return;
        };
        for subnet in subnets {
            let interface = self.interface(&subnet, &text);
            let it = self.parts.interfaces.get_mut(&interface).unwrap();
            it.requester_managed = true;
            "vpc_endpoint".clone_into(&mut it.interface_type);
            it.groups.clone_from(&groups);
        }
    }

    pub(super) fn tag(&mut self, change: &Change) {
        let parts = &mut self.parts;
        let mut all: Vec<(String, &mut Tags)> = Vec::new();
        all.extend(parts.vpcs.values_mut().map(|it| (it.id.to_string(), &mut it.tags)));
        all.extend(parts.subnets.values_mut().map(|it| (it.id.to_string(), &mut it.tags)));
        all.extend(parts.internet_gateways.values_mut().map(|it| (it.id.to_string(), &mut it.tags)));
        all.extend(parts.egress_only_gateways.values_mut().map(|it| (it.id.to_string(), &mut it.tags)));
        all.extend(parts.addresses.values_mut().map(|it| (it.id.to_string(), &mut it.tags)));
        all.extend(parts.nat_gateways.values_mut().map(|it| (it.id.to_string(), &mut it.tags)));
        all.extend(parts.route_tables.values_mut().map(|it| (it.id.to_string(), &mut it.tags)));
        all.extend(parts.security_groups.values_mut().map(|it| (it.id.to_string(), &mut it.tags)));
        all.extend(parts.endpoints.values_mut().map(|it| (it.id.to_string(), &mut it.tags)));
        for (id, has) in all {
            match change {
                Change::CreateTags { ids, tags } if ids.contains(&id) => has.extend(tags.clone()),
                Change::DeleteTags { ids, keys } if ids.contains(&id) => {
                    has.retain(|key, _| !keys.contains(key));
                }
                _ => {}
            }
        }
    }

    pub(super) fn delete(&mut self, change: &Change) -> Answered {
        let parts = &mut self.parts;
        let gone = match change {
            Change::DeleteVpc { vpc } => return self.delete_vpc(vpc),
            Change::DeleteSubnet { subnet } => {
                if parts.interfaces.values().any(|it| it.subnet == *subnet) {
                    return Err(violation());
                }
                for table in parts.route_tables.values_mut() {
                    table.associations.retain(|it| it.subnet != *subnet);
                }
                parts.subnets.remove(subnet).is_some()
            }
            Change::DetachInternetGateway { gateway, vpc } => {
                if parts.interfaces.values().any(|it| it.vpc == *vpc && it.public_ip.is_some()) {
                    return Err(violation());
                }
                let it = parts.internet_gateways.get_mut(gateway);
                it.map(|it| it.vpc = None).is_some()
            }
            Change::DeleteInternetGateway { gateway } => {
                if parts.internet_gateways.get(gateway).is_some_and(|it| it.vpc.is_some()) {
                    return Err(violation());
                }
                parts.internet_gateways.remove(gateway).is_some()
            }
            Change::DeleteEgressOnlyInternetGateway { gateway } => {
                parts.egress_only_gateways.remove(gateway).is_some()
            }
            Change::ReleaseAddress { allocation } => {
                if parts.addresses.get(allocation).is_some_and(|it| it.interface.is_some()) {
                    return Err(refusal(Reason::ResourceInUse, "InvalidIPAddress.InUse"));
                }
                parts.addresses.remove(allocation).is_some()
            }
            Change::DeleteNatGateway { gateway } => return self.delete_nat(gateway),
            Change::DeleteRouteTable { table } => {
                if parts.route_tables.get(table).is_some_and(|it| it.main || !it.associations.is_empty()) {
                    return Err(violation());
                }
                parts.route_tables.remove(table).is_some()
            }
            Change::DeleteSecurityGroup { group } => {
                let names = |it: &SecurityGroup| {
                    it.id != *group
                        && it
                            .ingress
                            .iter()
                            .chain(&it.egress)
                            .any(|rule| rule.peer == Peer::Group(group.clone()))
                };
                let used = parts.interfaces.values().any(|it| it.groups.contains(group));
                if used || parts.security_groups.values().any(names) {
                    return Err(violation());
                }
                parts.security_groups.remove(group).is_some()
            }
            Change::DeleteVpcEndpoints { endpoints } => {
                for id in endpoints {
                    if let Some(it) = parts.endpoints.get_mut(id) {
                        it.state = EndpointState::Deleting;
                        self.timers.insert(id.to_string(), self.now);
                    }
                }
                true
            }
            Change::DeleteNetworkInterface { interface } => parts.interfaces.remove(interface).is_some(),
            Change::DeleteLoadBalancer { name, .. } => {
                let path = format!("/{name}/");
                parts.interfaces.retain(|_, it| !it.description.contains(&path));
                let before = parts.load_balancers.len();
                parts.load_balancers.retain(|_, it| it.name != *name);
                before != parts.load_balancers.len()
            }
            Change::DeleteTargetGroup { arn } => {
                let before = parts.target_groups.len();
                parts.target_groups.retain(|_, it| it.arn != *arn);
                before != parts.target_groups.len()
            }
            other => panic!("{other:?} is not part of this AWS"),
        };
        if gone { Ok(Parts::default()) } else { Err(not_found("Invalid.NotFound")) }
    }

    fn delete_nat(&mut self, gateway: &NatGatewayId) -> Answered {
        let it = self.parts.nat_gateways.get_mut(gateway);
        let it =
            it.filter(|it| it.state != NatState::Deleted).ok_or_else(|| not_found("NatGatewayNotFound"))?;
        it.state = NatState::Deleting;
        self.timers.insert(gateway.to_string(), self.now);
        Ok(Parts::default())
    }

    fn delete_vpc(&mut self, vpc: &VpcId) -> Answered {
        let parts = &mut self.parts;
        let full = parts.subnets.values().any(|it| it.vpc == *vpc)
            || parts.internet_gateways.values().any(|it| it.vpc.as_ref() == Some(vpc))
            || parts.egress_only_gateways.values().any(|it| it.vpc == *vpc)
            || parts.nat_gateways.values().any(|it| it.vpc == *vpc && it.state != NatState::Deleted)
            || parts.route_tables.values().any(|it| it.vpc == *vpc && !it.main)
            || parts.security_groups.values().any(|it| it.vpc == *vpc && it.name != "default")
            || parts.endpoints.values().any(|it| it.vpc == *vpc)
            || parts.interfaces.values().any(|it| it.vpc == *vpc);
        if full {
            return Err(violation());
        }
        if parts.vpcs.remove(vpc).is_none() {
            return Err(not_found("InvalidVpcID.NotFound"));
        }
        parts.route_tables.retain(|_, it| it.vpc != *vpc);
        parts.security_groups.retain(|_, it| it.vpc != *vpc);
        Ok(Parts::default())
    }
}
