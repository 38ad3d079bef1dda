//! What the network looks like after our own calls, where looks do not show them yet.

use super::part::{Part, for_each_kind};
use crate::role::Role;
use foo_model::network::{
    Change, CidrAssociation, CidrState, Destination, DnsAttribute, EndpointChange, EndpointKind,
    EndpointState, NatState, Parts, Peer, Protocol, Route, RouteTarget, Rule, SubnetAttribute,
    TableAssociation, Tags,
};
use foo_model::{AssociationId, RouteTableId, SubnetId};
use ipnet::Ipv4Net;
use std::collections::BTreeSet;

/// Applies a change to parts that looks show; a part that they do not show stays unknown. Each change is in one of these families, so that a
/// new one cannot be forgotten here.
pub(crate) fn apply(change: &Change, created: &Parts, parts: &mut Parts) {
    match change {
        Change::CreateVpc { .. }
        | Change::CreateSubnet { .. }
        | Change::CreateInternetGateway { .. }
        | Change::CreateEgressOnlyInternetGateway { .. }
        | Change::AllocateAddress { .. }
        | Change::CreateNatGateway { .. }
        | Change::CreateRouteTable { .. }
        | Change::CreateSecurityGroup { .. }
        | Change::CreateVpcEndpoint { .. } => insert_created(change, created, parts),
        Change::ModifyVpcAttribute { .. }
        | Change::AssociateVpcCidrBlock { .. }
        | Change::AssociateVpcIpv6 { .. }
        | Change::DisassociateVpcCidrBlock { .. } => apply_to_vpc(change, created, parts),
        Change::ModifySubnetAttribute { .. } | Change::AssociateSubnetCidrBlock { .. } => {
            apply_to_subnet(change, parts);
        }
        Change::AttachInternetGateway { .. }
        | Change::DetachInternetGateway { .. }
        | Change::DeleteNatGateway { .. } => apply_to_gateways(change, parts),
        Change::CreateRoute { .. }
        | Change::ReplaceRoute { .. }
        | Change::DeleteRoute { .. }
        | Change::AssociateRouteTable { .. }
        | Change::ReplaceRouteTableAssociation { .. }
        | Change::DisassociateRouteTable { .. } => apply_to_routes(change, created, parts),
        Change::AuthorizeSecurityGroupIngress { .. }
        | Change::AuthorizeSecurityGroupEgress { .. }
        | Change::RevokeSecurityGroupIngress { .. }
        | Change::RevokeSecurityGroupEgress { .. }
        | Change::UpdateSecurityGroupRuleDescriptionsIngress { .. } => apply_to_groups(change, parts),
        Change::ModifyVpcEndpoint { .. } | Change::DeleteVpcEndpoints { .. } => {
            apply_to_endpoints(change, parts);
        }
        Change::CreateTags { .. } | Change::DeleteTags { .. } => apply_to_tags(change, parts),
        Change::DeleteVpc { .. }
        | Change::DeleteSubnet { .. }
        | Change::DeleteInternetGateway { .. }
        | Change::DeleteEgressOnlyInternetGateway { .. }
        | Change::ReleaseAddress { .. }
        | Change::DeleteRouteTable { .. }
        | Change::DeleteSecurityGroup { .. }
        | Change::DeleteNetworkInterface { .. }
        | Change::DeleteLoadBalancer { .. }
        | Change::DeleteTargetGroup { .. } => delete(change, parts),
    }
}

/// Whether the change creates a part with tags.
pub(crate) fn creates(change: &Change) -> bool {
    change.tags().is_some()
}

fn insert_created(change: &Change, created: &Parts, parts: &mut Parts) {
    let Some(tags) = change.tags() else { return };
    for_each_kind!(insert(tags, created, parts));
    new_vpc_attributes(change, created, parts);
    new_group_egress(change, created, parts);
    apply_to_subnet(change, parts);
}

fn insert<P: Part>(tags: &Tags, created: &Parts, parts: &mut Parts) {
    for (id, part) in P::map(created) {
        let part = P::map_mut(parts).entry(id.clone()).or_insert_with(|| part.clone());
        for (key, value) in tags {
            part.tags_mut().entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}

/// A new VPC resolves names, and gives none to instances (VPC User Guide, "DNS attributes for your VPC").
fn new_vpc_attributes(change: &Change, created: &Parts, parts: &mut Parts) {
    if !matches!(change, Change::CreateVpc { .. }) {
        return;
    }
    for id in created.vpcs.keys() {
        if let Some(vpc) = parts.vpcs.get_mut(id) {
            vpc.dns_support.get_or_insert(true);
            vpc.dns_hostnames.get_or_insert(false);
        }
    }
}

/// A new group lets everything out over IPv4 (VPC User Guide, "Security group rules").
fn new_group_egress(change: &Change, created: &Parts, parts: &mut Parts) {
    if !matches!(change, Change::CreateSecurityGroup { .. }) {
        return;
    }
    for id in created.security_groups.keys() {
        if let Some(group) = parts.security_groups.get_mut(id)
            && group.egress.is_empty()
        {
            let peer = Peer::V4(Ipv4Net::default());
            group.egress.insert(Rule { protocol: Protocol::All, peer, description: String::new() });
        }
    }
}

fn apply_to_vpc(change: &Change, created: &Parts, parts: &mut Parts) {
    match change {
        Change::ModifyVpcAttribute { vpc, attribute, enabled } => {
            if let Some(vpc) = parts.vpcs.get_mut(vpc) {
                match attribute {
                    DnsAttribute::Support => vpc.dns_support = Some(*enabled),
                    DnsAttribute::Hostnames => vpc.dns_hostnames = Some(*enabled),
                }
            }
        }
        Change::AssociateVpcCidrBlock { vpc: id, cidr } => {
            let Some(vpc) = parts.vpcs.get_mut(id) else { return };
            if vpc.cidrs.iter().any(|it| it.range == *cidr) {
                return;
            }
            let answered = created.vpcs.get(id).and_then(|it| it.cidrs.iter().find(|it| it.range == *cidr));
            vpc.cidrs.push(answered.cloned().unwrap_or_else(|| CidrAssociation {
                id: AssociationId::new(String::new()),
                range: *cidr,
                state: CidrState::Associating,
            }));
        }
        Change::AssociateVpcIpv6 { vpc: id } => {
            let Some(vpc) = parts.vpcs.get_mut(id) else { return };
            for answered in created.vpcs.get(id).into_iter().flat_map(|it| &it.ipv6) {
                if !vpc.ipv6.iter().any(|it| it.id == answered.id) {
                    vpc.ipv6.push(answered.clone());
                }
            }
        }
        Change::DisassociateVpcCidrBlock { association } => {
            for vpc in parts.vpcs.values_mut() {
                vpc.cidrs.retain(|it| it.id != *association);
                vpc.ipv6.retain(|it| it.id != *association);
            }
        }
        _ => {}
    }
}

fn apply_to_subnet(change: &Change, parts: &mut Parts) {
    match change {
        Change::CreateSubnet { ipv6: Some(range), cidr, .. } => {
            for subnet in parts.subnets.values_mut().filter(|it| it.cidr == *cidr) {
                add_ipv6(subnet, *range);
            }
        }
        Change::AssociateSubnetCidrBlock { subnet, ipv6 } => {
            if let Some(subnet) = parts.subnets.get_mut(subnet) {
                add_ipv6(subnet, *ipv6);
            }
        }
        Change::ModifySubnetAttribute { subnet, attribute, enabled } => {
            if let Some(subnet) = parts.subnets.get_mut(subnet) {
                match attribute {
                    SubnetAttribute::PublicIpOnLaunch => subnet.public_ip_on_launch = *enabled,
                    SubnetAttribute::Ipv6OnCreation => subnet.ipv6_on_creation = *enabled,
                }
            }
        }
        _ => {}
    }
}

fn add_ipv6(subnet: &mut foo_model::network::Subnet, range: ipnet::Ipv6Net) {
    if !subnet.ipv6.iter().any(|it| it.range == range) {
        let id = AssociationId::new(String::new());
        subnet.ipv6.push(CidrAssociation { id, range, state: CidrState::Associated });
    }
}

fn apply_to_gateways(change: &Change, parts: &mut Parts) {
    match change {
        Change::AttachInternetGateway { gateway, vpc } => {
            if let Some(gateway) = parts.internet_gateways.get_mut(gateway) {
                gateway.vpc = Some(vpc.clone());
            }
        }
        Change::DetachInternetGateway { gateway, .. } => {
            if let Some(gateway) = parts.internet_gateways.get_mut(gateway) {
                gateway.vpc = None;
            }
        }
        Change::DeleteNatGateway { gateway } => {
            if let Some(gateway) = parts.nat_gateways.get_mut(gateway) {
                gateway.state = match gateway.state {
                    NatState::Pending | NatState::Available | NatState::Failed => NatState::Deleting,
                    NatState::Deleting | NatState::Deleted => gateway.state,
                };
            }
        }
        _ => {}
    }
}

fn apply_to_routes(change: &Change, created: &Parts, parts: &mut Parts) {
    match change {
        Change::CreateRoute { table, destination, target }
        | Change::ReplaceRoute { table, destination, target } => {
            set_route(parts, table, destination, target);
        }
        Change::DeleteRoute { table, destination } => {
            if let Some(table) = parts.route_tables.get_mut(table) {
                table.routes.retain(|it| it.destination != *destination);
            }
        }
        Change::AssociateRouteTable { table, subnet } => {
            associate(parts, created, table, Some(subnet), None);
        }
        Change::ReplaceRouteTableAssociation { association, table } => {
            let subnet = all_associations(parts).find(|it| it.id == *association).map(|it| it.subnet.clone());
            associate(parts, created, table, subnet.as_ref(), Some(association));
        }
        Change::DisassociateRouteTable { association } => {
            for table in parts.route_tables.values_mut() {
                table.associations.retain(|it| it.id != *association);
            }
        }
        _ => {}
    }
}

fn all_associations(parts: &Parts) -> impl Iterator<Item = &TableAssociation> {
    parts.route_tables.values().flat_map(|table| &table.associations)
}

fn set_route(parts: &mut Parts, table: &RouteTableId, destination: &Destination, target: &RouteTarget) {
    if let Some(table) = parts.route_tables.get_mut(table) {
        table.routes.retain(|it| it.destination != *destination);
        let route = Route { destination: destination.clone(), target: target.clone(), blackhole: false };
        table.routes.push(route);
    }
}

fn associate(
    parts: &mut Parts,
    created: &Parts,
    table: &RouteTableId,
    subnet: Option<&SubnetId>,
    replaced: Option<&AssociationId>,
) {
    let answered = created.route_tables.get(table).and_then(|it| it.associations.first());
    let Some(subnet) = subnet.or_else(|| answered.map(|it| &it.subnet)) else { return };
    let there = parts.route_tables.get(table).is_some_and(|table| {
        table.associations.iter().any(|it| it.subnet == *subnet && Some(&it.id) != replaced)
    });
    for other in parts.route_tables.values_mut().filter(|it| it.id != *table) {
        other.associations.retain(|it| it.subnet != *subnet);
    }
    if let Some(table) = parts.route_tables.get_mut(table)
        && !there
    {
        table.associations.retain(|it| it.subnet != *subnet);
        let id = answered.map_or_else(|| AssociationId::new(String::new()), |it| it.id.clone());
        table.associations.push(TableAssociation { id, subnet: subnet.clone() });
    }
}

fn apply_to_groups(change: &Change, parts: &mut Parts) {
    let without = |set: &mut BTreeSet<Rule>, rules: &BTreeSet<Rule>| {
        set.retain(|it| !rules.iter().any(|gone| gone.protocol == it.protocol && gone.peer == it.peer));
    };
    match change {
        Change::AuthorizeSecurityGroupIngress { group, rules } => {
            if let Some(group) = parts.security_groups.get_mut(group) {
                group.ingress.extend(rules.iter().cloned());
            }
        }
        Change::AuthorizeSecurityGroupEgress { group, rules } => {
            if let Some(group) = parts.security_groups.get_mut(group) {
                group.egress.extend(rules.iter().cloned());
            }
        }
        Change::RevokeSecurityGroupIngress { group, rules } => {
            if let Some(group) = parts.security_groups.get_mut(group) {
                without(&mut group.ingress, rules);
            }
        }
        Change::UpdateSecurityGroupRuleDescriptionsIngress { group, rules } => {
            if let Some(group) = parts.security_groups.get_mut(group) {
                without(&mut group.ingress, rules);
                group.ingress.extend(rules.iter().cloned());
            }
        }
        Change::RevokeSecurityGroupEgress { group, rules } => {
            if let Some(group) = parts.security_groups.get_mut(group) {
                without(&mut group.egress, rules);
            }
        }
        _ => {}
    }
}

pub(crate) fn apply_to_endpoints(change: &Change, parts: &mut Parts) {
    match change {
        Change::ModifyVpcEndpoint { endpoint, change } => {
            if let Some(endpoint) = parts.endpoints.get_mut(endpoint) {
                modify_endpoint(&mut endpoint.kind, change);
            }
        }
        Change::DeleteVpcEndpoints { endpoints } => {
            for id in endpoints {
                if let Some(endpoint) = parts.endpoints.get_mut(id)
                    && endpoint.state != EndpointState::Deleted
                {
                    endpoint.state = EndpointState::Deleting;
                }
            }
        }
        _ => {}
    }
}

fn modify_endpoint(kind: &mut EndpointKind, change: &EndpointChange) {
    match kind {
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
}

fn apply_to_tags(change: &Change, parts: &mut Parts) {
    for_each_kind!(tag(change, parts));
}

fn tag<P: Part>(change: &Change, parts: &mut Parts) {
    match change {
        Change::CreateTags { ids, tags } => {
            for id in ids {
                if let Some(part) = P::map_mut(parts).get_mut(&P::Id::from(id.clone())) {
                    part.tags_mut().extend(tags.clone());
                }
            }
        }
        Change::DeleteTags { ids, keys } => {
            for id in ids {
                if let Some(part) = P::map_mut(parts).get_mut(&P::Id::from(id.clone())) {
                    part.tags_mut().retain(|key, _| !keys.contains(key));
                }
            }
        }
        _ => {}
    }
}

/// Takes away what the change deletes.
pub(crate) fn delete(change: &Change, parts: &mut Parts) {
    match change {
        Change::DeleteVpc { vpc } => drop(parts.vpcs.remove(vpc)),
        Change::DeleteSubnet { subnet } => {
            parts.subnets.remove(subnet);
            // Deleting a subnet ends its association.
            for table in parts.route_tables.values_mut() {
                table.associations.retain(|it| it.subnet != *subnet);
            }
        }
        Change::DeleteInternetGateway { gateway } => drop(parts.internet_gateways.remove(gateway)),
        Change::DeleteEgressOnlyInternetGateway { gateway } => {
            parts.egress_only_gateways.remove(gateway);
        }
        Change::ReleaseAddress { allocation } => drop(parts.addresses.remove(allocation)),
        Change::DeleteRouteTable { table } => drop(parts.route_tables.remove(table)),
        Change::DeleteSecurityGroup { group } => drop(parts.security_groups.remove(group)),
        Change::DeleteNetworkInterface { interface } => drop(parts.interfaces.remove(interface)),
        Change::DeleteLoadBalancer { name, arn, .. } => {
            parts.load_balancers.retain(|_, it| !(it.name == *name && it.arn == *arn));
        }
        Change::DeleteTargetGroup { arn } => {
            parts.target_groups.retain(|_, it| it.arn != *arn);
        }
        _ => {}
    }
}

/// The ids of the parts that the change deletes, at once or in a while.
pub(crate) fn deletes(change: &Change) -> BTreeSet<String> {
    match change {
        Change::DeleteNatGateway { gateway } => BTreeSet::from([gateway.to_string()]),
        Change::DeleteVpcEndpoints { endpoints } => endpoints.iter().map(ToString::to_string).collect(),
        _ => change.deleted_at_once().into_iter().collect(),
    }
}

/// Whether the creation of a role's part can be sent twice and happens once: by its token, or by a name that is unique in the VPC.
pub(crate) fn may_be_sent_again(role: &Role) -> bool {
    match role {
        Role::EgressOnlyGateway
        | Role::Nat(_)
        | Role::PublicRoutes
        | Role::PrivateRoutes(_)
        | Role::Endpoint(_)
        | Role::SecurityGroup(_) => true,
        Role::Vpc | Role::VpcIpv6 | Role::Subnet(_) | Role::InternetGateway | Role::Address(_) => false,
    }
}
