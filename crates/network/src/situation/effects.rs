//! What the network reads like after our own calls, where reads do not show them yet.

use super::part::{Part, for_each_kind};
use crate::role::Role;
use foo_model::network::{
    Change, CidrAssociation, CidrState, DnsAttribute, EndpointChange, EndpointKind, EndpointState, NatState,
    Parts, Peer, Protocol, Route, Rule, SubnetAttribute, TableAssociation, Tags, Vpc,
};
use foo_model::{AssociationId, RouteTableId, SubnetId};
use ipnet::Ipv4Net;
use std::collections::{BTreeMap, BTreeSet};

/// Applies a change to parts that reads show; a part that they do not show stays unknown. One table of all changes, so that none is
/// forgotten; hence its length.
pub(crate) fn apply(change: &Change, created: &Parts, parts: &mut Parts) {
    match change {
        Change::CreateVpc { tags, .. }
        | Change::CreateSubnet { tags, .. }
        | Change::CreateInternetGateway { tags }
        | Change::CreateEgressOnlyInternetGateway { tags, .. }
        | Change::AllocateAddress { tags }
        | Change::CreateNatGateway { tags, .. }
        | Change::CreateRouteTable { tags, .. }
        | Change::CreateSecurityGroup { tags, .. }
        | Change::CreateVpcEndpoint { tags, .. } => {
            for_each_kind!(insert(tags, created, parts));
            complete(change, created, parts);
        }
        Change::ModifyVpcAttribute { vpc, attribute, enabled } => {
            edit(&mut parts.vpcs, vpc, |vpc| match attribute {
                DnsAttribute::Support => vpc.dns_support = Some(*enabled),
                DnsAttribute::Hostnames => vpc.dns_hostnames = Some(*enabled),
            });
        }
        Change::AssociateVpcCidrBlock { vpc, cidr } => {
            edit(&mut parts.vpcs, vpc, |it| add_range(it, created.vpcs.get(vpc), *cidr));
        }
        Change::AssociateVpcIpv6 { vpc } => {
            edit(&mut parts.vpcs, vpc, |it| {
                for returned in created.vpcs.get(vpc).into_iter().flat_map(|it| &it.ipv6) {
                    if !it.ipv6.iter().any(|it| it.id == returned.id) {
                        it.ipv6.push(returned.clone());
                    }
                }
            });
        }
        Change::DisassociateVpcCidrBlock { association } => {
            for vpc in parts.vpcs.values_mut() {
                vpc.cidrs.retain(|it| it.id != *association);
                vpc.ipv6.retain(|it| it.id != *association);
            }
        }
        Change::ModifySubnetAttribute { subnet, attribute, enabled } => {
            edit(&mut parts.subnets, subnet, |subnet| match attribute {
                SubnetAttribute::PublicIpOnLaunch => subnet.public_ip_on_launch = *enabled,
                SubnetAttribute::Ipv6OnCreation => subnet.ipv6_on_creation = *enabled,
            });
        }
        Change::AssociateSubnetCidrBlock { subnet, ipv6 } => {
            edit(&mut parts.subnets, subnet, |it| add_ipv6(it, *ipv6));
        }
        Change::AttachInternetGateway { gateway, vpc } => {
            edit(&mut parts.internet_gateways, gateway, |it| it.vpc = Some(vpc.clone()));
        }
        Change::DetachInternetGateway { gateway, .. } => {
            edit(&mut parts.internet_gateways, gateway, |it| it.vpc = None);
        }
        Change::CreateRoute { table, destination, target }
        | Change::ReplaceRoute { table, destination, target } => {
            edit(&mut parts.route_tables, table, |it| {
                it.routes.retain(|it| it.destination != *destination);
                let (destination, target) = (destination.clone(), target.clone());
                it.routes.push(Route { destination, target, blackhole: false });
            });
        }
        Change::DeleteRoute { table, destination } => {
            edit(&mut parts.route_tables, table, |it| it.routes.retain(|it| it.destination != *destination));
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
        Change::AuthorizeSecurityGroupIngress { .. }
        | Change::AuthorizeSecurityGroupEgress { .. }
        | Change::RevokeSecurityGroupIngress { .. }
        | Change::RevokeSecurityGroupEgress { .. }
        | Change::UpdateSecurityGroupRuleDescriptionsIngress { .. } => apply_to_rules(change, parts),
        Change::ModifyVpcEndpoint { endpoint, change } => {
            edit(&mut parts.endpoints, endpoint, |it| modify_endpoint(&mut it.kind, change));
        }
        Change::CreateTags { ids, tags } => {
            for_each_kind!(edit_tags(ids, |it| it.extend(tags.clone()), parts));
        }
        Change::DeleteTags { ids, keys } => {
            for_each_kind!(edit_tags(ids, |it| it.retain(|key, _| !keys.contains(key)), parts));
        }
        Change::DeleteVpc { .. }
        | Change::DeleteSubnet { .. }
        | Change::DeleteInternetGateway { .. }
        | Change::DeleteEgressOnlyInternetGateway { .. }
        | Change::ReleaseAddress { .. }
        | Change::DeleteNatGateway { .. }
        | Change::DeleteRouteTable { .. }
        | Change::DeleteSecurityGroup { .. }
        | Change::DeleteVpcEndpoints { .. }
        | Change::DeleteNetworkInterface { .. }
        | Change::DeleteLoadBalancer { .. }
        | Change::DeleteTargetGroup { .. } => delete(change, parts),
    }
}

/// Applies a change of rules to groups that reads show.
pub(crate) fn apply_to_rules(change: &Change, parts: &mut Parts) {
    match change {
        Change::AuthorizeSecurityGroupIngress { group, rules } => {
            edit(&mut parts.security_groups, group, |it| it.ingress.extend(rules.iter().cloned()));
        }
        Change::AuthorizeSecurityGroupEgress { group, rules } => {
            edit(&mut parts.security_groups, group, |it| it.egress.extend(rules.iter().cloned()));
        }
        Change::RevokeSecurityGroupIngress { group, rules } => {
            edit(&mut parts.security_groups, group, |it| revoke(&mut it.ingress, rules));
        }
        Change::RevokeSecurityGroupEgress { group, rules } => {
            edit(&mut parts.security_groups, group, |it| revoke(&mut it.egress, rules));
        }
        Change::UpdateSecurityGroupRuleDescriptionsIngress { group, rules } => {
            edit(&mut parts.security_groups, group, |it| {
                revoke(&mut it.ingress, rules);
                it.ingress.extend(rules.iter().cloned());
            });
        }
        _ => {}
    }
}

fn edit<K: Ord, P>(parts: &mut BTreeMap<K, P>, id: &K, edit: impl FnOnce(&mut P)) {
    if let Some(part) = parts.get_mut(id) {
        edit(part);
    }
}

fn edit_tags<P: Part>(ids: &BTreeSet<String>, edit: impl Fn(&mut Tags), parts: &mut Parts) {
    for id in ids {
        if let Some(part) = P::map_mut(parts).get_mut(&P::Id::from(id.clone())) {
            edit(part.tags_mut());
        }
    }
}

fn insert<P: Part>(tags: &Tags, created: &Parts, parts: &mut Parts) {
    for (id, part) in P::map(created) {
        let part = P::map_mut(parts).entry(id.clone()).or_insert_with(|| part.clone());
        for (key, value) in tags {
            part.tags_mut().entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
}

/// What a new part has that the response to its creation may not contain.
fn complete(change: &Change, created: &Parts, parts: &mut Parts) {
    match change {
        // A new VPC resolves names, and gives none to instances (VPC User Guide, "DNS attributes for your VPC").
        Change::CreateVpc { .. } => {
            for id in created.vpcs.keys() {
                edit(&mut parts.vpcs, id, |vpc| {
                    vpc.dns_support.get_or_insert(true);
                    vpc.dns_hostnames.get_or_insert(false);
                });
            }
        }
        Change::CreateSubnet { ipv6: Some(range), cidr, .. } => {
            for subnet in parts.subnets.values_mut().filter(|it| it.cidr == *cidr) {
                add_ipv6(subnet, *range);
            }
        }
        // A new group lets everything out over IPv4 (VPC User Guide, "Security group rules").
        Change::CreateSecurityGroup { .. } => {
            for id in created.security_groups.keys() {
                edit(&mut parts.security_groups, id, |group| {
                    if group.egress.is_empty() {
                        let peer = Peer::V4(Ipv4Net::default());
                        group.egress.insert(Rule {
                            protocol: Protocol::All,
                            peer,
                            description: String::new(),
                        });
                    }
                });
            }
        }
        _ => {}
    }
}

fn add_range(vpc: &mut Vpc, returned: Option<&Vpc>, range: Ipv4Net) {
    if vpc.cidrs.iter().any(|it| it.range == range) {
        return;
    }
    let returned = returned.and_then(|it| it.cidrs.iter().find(|it| it.range == range));
    let id = AssociationId::new(String::new());
    let unknown = || CidrAssociation { id, range, state: CidrState::Associating };
    vpc.cidrs.push(returned.cloned().unwrap_or_else(unknown));
}

fn add_ipv6(subnet: &mut foo_model::network::Subnet, range: ipnet::Ipv6Net) {
    if !subnet.ipv6.iter().any(|it| it.range == range) {
        let id = AssociationId::new(String::new());
        subnet.ipv6.push(CidrAssociation { id, range, state: CidrState::Associated });
    }
}

fn all_associations(parts: &Parts) -> impl Iterator<Item = &TableAssociation> {
    parts.route_tables.values().flat_map(|table| &table.associations)
}

fn associate(
    parts: &mut Parts,
    created: &Parts,
    table: &RouteTableId,
    subnet: Option<&SubnetId>,
    replaced: Option<&AssociationId>,
) {
    let returned = created.route_tables.get(table).and_then(|it| it.associations.first());
    let Some(subnet) = subnet.or_else(|| returned.map(|it| &it.subnet)) else { return };
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
        let id = returned.map_or_else(|| AssociationId::new(String::new()), |it| it.id.clone());
        table.associations.push(TableAssociation { id, subnet: subnet.clone() });
    }
}

fn revoke(of: &mut BTreeSet<Rule>, rules: &BTreeSet<Rule>) {
    of.retain(|it| !rules.iter().any(|gone| gone.protocol == it.protocol && gone.peer == it.peer));
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

/// Takes away what the change deletes, or marks it as being deleted.
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
        Change::DeleteNatGateway { gateway } => edit(&mut parts.nat_gateways, gateway, |it| {
            it.state = match it.state {
                NatState::Pending | NatState::Available | NatState::Failed => NatState::Deleting,
                NatState::Deleting | NatState::Deleted => it.state,
            };
        }),
        Change::DeleteVpcEndpoints { endpoints } => {
            for id in endpoints {
                edit(&mut parts.endpoints, id, |it| {
                    if it.state != EndpointState::Deleted {
                        it.state = EndpointState::Deleting;
                    }
                });
            }
        }
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
