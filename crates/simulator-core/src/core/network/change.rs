//! One change of a network, as EC2 and Elastic Load Balancing carry it out.

use super::groups::Direction;
use super::step::Step;
use super::view::Networking;
use crate::core::error::AwsResult;
use crate::core::tags;
use foo_model::network::{Change, NatGateway, Parts, Subnet, Vpc};
use std::collections::BTreeMap;

impl Networking<'_> {
    /// Carries out one change completely or not at all (except DeleteVpcEndpoints, which deletes those that it can).
    /// The response contains what it created. For an association of a route table or a range that is the table,
    /// subnet or VPC, which contains only that association. A second call with the same client token creates nothing
    /// and gets the first response.
    ///
    /// # Errors
    /// AWS's refusals, with its codes and messages.
    pub(crate) fn change(&mut self, change: &Change) -> AwsResult<Parts> {
        if let Some(created) = self.network.tokens.repeated(change)? {
            return Ok(created);
        }
        tags::check_creation(change)?;
        let created = self.carry_out(change)?;
        self.network.tokens.remember(change, &created);
        Ok(created)
    }

    /// One table of all changes, hence its length.
    fn carry_out(&mut self, change: &Change) -> AwsResult<Parts> {
        match change {
            Change::CreateVpc { cidr, ipv6, tags } => self.create_vpc(*cidr, *ipv6, tags),
            Change::ModifyVpcAttribute { vpc, attribute, enabled } => {
                self.modify_vpc_attribute(vpc, *attribute, *enabled)
            }
            Change::AssociateVpcCidrBlock { vpc, cidr } => self.associate_range(vpc, *cidr),
            Change::AssociateVpcIpv6 { vpc } => self.associate_ipv6(vpc),
            Change::DisassociateVpcCidrBlock { association } => self.disassociate_range(association),
            Change::DeleteVpc { vpc } => self.delete_vpc(vpc),
            Change::CreateSubnet { vpc, zone, cidr, ipv6, tags } => {
                self.create_subnet(vpc, zone, *cidr, *ipv6, tags)
            }
            Change::ModifySubnetAttribute { subnet, attribute, enabled } => {
                self.modify_subnet_attribute(subnet, *attribute, *enabled)
            }
            Change::AssociateSubnetCidrBlock { subnet, ipv6 } => self.associate_subnet_range(subnet, *ipv6),
            Change::DeleteSubnet { subnet } => self.delete_subnet(subnet),
            Change::CreateInternetGateway { tags } => self.create_internet_gateway(tags),
            Change::AttachInternetGateway { gateway, vpc } => self.attach_internet_gateway(gateway, vpc),
            Change::DetachInternetGateway { gateway, vpc } => self.detach_internet_gateway(gateway, vpc),
            Change::DeleteInternetGateway { gateway } => self.delete_internet_gateway(gateway),
            Change::CreateEgressOnlyInternetGateway { vpc, tags, token: _ } => {
                self.create_egress_only_gateway(vpc, tags)
            }
            Change::DeleteEgressOnlyInternetGateway { gateway } => self.delete_egress_only_gateway(gateway),
            Change::AllocateAddress { tags } => self.allocate_address(tags),
            Change::ReleaseAddress { allocation } => self.release_address(allocation),
            Change::CreateNatGateway { subnet, allocation, tags, token: _ } => {
                self.create_nat_gateway(subnet, allocation, tags)
            }
            Change::DeleteNatGateway { gateway } => self.delete_nat_gateway(gateway),
            Change::CreateRouteTable { vpc, tags, token: _ } => self.create_route_table(vpc, tags),
            Change::CreateRoute { table, destination, target } => {
                self.create_route(table, destination, target)
            }
            Change::ReplaceRoute { table, destination, target } => {
                self.replace_route(table, destination, target)
            }
            Change::DeleteRoute { table, destination } => self.delete_route(table, destination),
            Change::AssociateRouteTable { table, subnet } => self.associate_route_table(table, subnet),
            Change::ReplaceRouteTableAssociation { association, table } => {
                self.replace_table_association(association, table)
            }
            Change::DisassociateRouteTable { association } => self.disassociate_route_table(association),
            Change::DeleteRouteTable { table } => self.delete_route_table(table),
            Change::CreateSecurityGroup { vpc, name, description, tags } => {
                self.create_security_group(vpc, name, description, tags)
            }
            Change::AuthorizeSecurityGroupIngress { group, rules } => {
                self.authorize(group, Direction::In, rules)
            }
            Change::AuthorizeSecurityGroupEgress { group, rules } => {
                self.authorize(group, Direction::Out, rules)
            }
            Change::RevokeSecurityGroupIngress { group, rules } => self.revoke(group, Direction::In, rules),
            Change::RevokeSecurityGroupEgress { group, rules } => self.revoke(group, Direction::Out, rules),
            Change::UpdateSecurityGroupRuleDescriptionsIngress { group, rules } => {
                self.describe_rules(group, Direction::In, rules)
            }
            Change::DeleteSecurityGroup { group } => self.delete_security_group(group),
            Change::CreateVpcEndpoint { vpc, service, kind, tags, token: _ } => {
                self.create_endpoint(vpc, service, kind, tags)
            }
            Change::ModifyVpcEndpoint { endpoint, change } => self.modify_endpoint(endpoint, change),
            Change::DeleteVpcEndpoints { endpoints } => {
                let refused = self.delete_endpoints(endpoints).into_iter().next();
                refused.map_or_else(|| Ok(Parts::default()), |(_, error)| Err(error))
            }
            Change::CreateTags { ids, tags } => {
                let ids: Vec<String> = ids.iter().cloned().collect();
                self.create_tags(&ids, tags).map(|()| Parts::default())
            }
            Change::DeleteTags { ids, keys } => {
                let ids: Vec<String> = ids.iter().cloned().collect();
                let keys: BTreeMap<_, _> = keys.iter().map(|key| (key.clone(), None)).collect();
                self.delete_tags(&ids, &keys).map(|()| Parts::default())
            }
            Change::DeleteNetworkInterface { interface } => self.delete_network_interface(interface),
            Change::DeleteLoadBalancer { kind, name, arn } => {
                self.delete_load_balancer(*kind, name, arn.as_deref())
            }
            Change::DeleteTargetGroup { arn } => self.delete_target_group(arn),
        }
    }

    /// Completes a change. Does nothing if the part was removed meanwhile.
    pub(crate) fn complete_step(&mut self, step: Step) {
        match step {
            Step::VpcAvailable(id) => self.end_pending::<Vpc>(&id),
            Step::RangeAssociated(vpc, id) => self.range_associated(&vpc, &id),
            Step::RangeGone(vpc, id) => self.range_gone(&vpc, &id),
            Step::SubnetAvailable(id) => self.end_pending::<Subnet>(&id),
            Step::SubnetRangeAssociated(subnet, id) => self.subnet_range_associated(&subnet, &id),
            Step::NatGatewayAvailable(id) => self.end_pending::<NatGateway>(&id),
            Step::NatGatewayFailed(id, code, message) => self.nat_gateway_failed(&id, code, message),
            Step::NatGatewayDeleted(id) => self.nat_gateway_deleted(&id),
            Step::NatGatewayForgotten(id) => drop(self.network.remove::<NatGateway>(&id)),
            Step::EndpointAvailable(id) => self.endpoint_available(&id),
            Step::EndpointDeleted(id) => self.endpoint_deleted(&id),
            Step::BalancerGone(description) => self.balancer_gone(&description),
        }
    }
}
