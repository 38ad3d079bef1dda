//! Changes: one call each, sent once unless it carries a token.

mod addresses;
mod calls;
mod endpoints;
mod gateways;
mod leftovers;
mod routes;
mod security_groups;
mod subnets;
mod tags;
mod vpcs;

use crate::AwsCloud;
use foo_cloud::Result;
use foo_model::network::{Change, Parts};

/// Sends a change; the response has what it created. One table of all changes, hence its length.
pub(super) async fn send(cloud: &AwsCloud, change: &Change) -> Result<Parts> {
    use Change as C;
    let (ec2, with_token) = (&cloud.ec2.once, &cloud.ec2.repeating);
    match change {
        C::CreateVpc { cidr, ipv6, tags } => vpcs::create(ec2, *cidr, *ipv6, tags).await,
        C::ModifyVpcAttribute { vpc, attribute, enabled } => {
            vpcs::modify(ec2, vpc, *attribute, *enabled).await
        }
        C::AssociateVpcCidrBlock { vpc, cidr } => vpcs::associate(ec2, vpc, Some(*cidr)).await,
        C::AssociateVpcIpv6 { vpc } => vpcs::associate(ec2, vpc, None).await,
        C::DisassociateVpcCidrBlock { association } => vpcs::disassociate(ec2, association).await,
        C::DeleteVpc { vpc } => vpcs::delete(ec2, vpc).await,

        C::CreateSubnet { vpc, zone, cidr, ipv6, tags } => {
            subnets::create(ec2, vpc, zone, (*cidr, *ipv6), tags).await
        }
        C::ModifySubnetAttribute { subnet, attribute, enabled } => {
            subnets::modify(ec2, subnet, *attribute, *enabled).await
        }
        C::AssociateSubnetCidrBlock { subnet, ipv6 } => subnets::associate(ec2, subnet, *ipv6).await,
        C::DeleteSubnet { subnet } => subnets::delete(ec2, subnet).await,

        C::CreateInternetGateway { tags } => gateways::create_internet(ec2, tags).await,
        C::AttachInternetGateway { gateway, vpc } => gateways::attach(ec2, gateway, vpc).await,
        C::DetachInternetGateway { gateway, vpc } => gateways::detach(ec2, gateway, vpc).await,
        C::DeleteInternetGateway { gateway } => gateways::delete_internet(ec2, gateway).await,
        C::CreateEgressOnlyInternetGateway { vpc, tags, token } => {
            gateways::create_egress_only(with_token, vpc, tags, token).await
        }
        C::DeleteEgressOnlyInternetGateway { gateway } => gateways::delete_egress_only(ec2, gateway).await,

        C::AllocateAddress { tags } => addresses::allocate(ec2, tags).await,
        C::ReleaseAddress { allocation } => addresses::release(ec2, allocation).await,
        C::CreateNatGateway { subnet, allocation, tags, token } => {
            addresses::create_nat(with_token, subnet, allocation, tags, token).await
        }
        C::DeleteNatGateway { gateway } => addresses::delete_nat(ec2, gateway).await,

        C::CreateRouteTable { vpc, tags, token } => routes::create_table(with_token, vpc, tags, token).await,
        C::CreateRoute { table, destination, target } => {
            routes::create(ec2, table, destination, target).await
        }
        C::ReplaceRoute { table, destination, target } => {
            routes::replace(ec2, table, destination, target).await
        }
        C::DeleteRoute { table, destination } => routes::delete(ec2, table, destination).await,
        C::AssociateRouteTable { table, subnet } => routes::associate(ec2, table, subnet).await,
        C::ReplaceRouteTableAssociation { association, table } => {
            routes::replace_association(ec2, association, table).await
        }
        C::DisassociateRouteTable { association } => routes::disassociate(ec2, association).await,
        C::DeleteRouteTable { table } => routes::delete_table(ec2, table).await,

        C::CreateSecurityGroup { vpc, name, description, tags } => {
            security_groups::create(ec2, vpc, name, description, tags).await
        }
        C::AuthorizeSecurityGroupIngress { group, rules } => {
            security_groups::authorize_ingress(ec2, group, rules).await
        }
        C::AuthorizeSecurityGroupEgress { group, rules } => {
            security_groups::authorize_egress(ec2, group, rules).await
        }
        C::RevokeSecurityGroupIngress { group, rules } => {
            security_groups::revoke_ingress(ec2, group, rules).await
        }
        C::RevokeSecurityGroupEgress { group, rules } => {
            security_groups::revoke_egress(ec2, group, rules).await
        }
        C::UpdateSecurityGroupRuleDescriptionsIngress { group, rules } => {
            security_groups::describe_ingress(ec2, group, rules).await
        }
        C::DeleteSecurityGroup { group } => security_groups::delete(ec2, group).await,

        C::CreateVpcEndpoint { vpc, service, kind, tags, token } => {
            endpoints::create(with_token, (vpc, service), kind, tags, token).await
        }
        C::ModifyVpcEndpoint { endpoint, change } => endpoints::modify(ec2, endpoint, change).await,
        C::DeleteVpcEndpoints { endpoints } => endpoints::delete(ec2, endpoints).await,

        C::CreateTags { ids, tags } => tags::create(ec2, ids, tags).await,
        C::DeleteTags { ids, keys } => tags::delete(ec2, ids, keys).await,

        C::DeleteNetworkInterface { interface } => leftovers::delete_interface(ec2, interface).await,
        C::DeleteLoadBalancer { kind, name, arn } => {
            leftovers::delete_load_balancer(cloud, *kind, name, arn.as_deref()).await
        }
        C::DeleteTargetGroup { arn } => leftovers::delete_target_group(&cloud.balancers.once, arn).await,
    }
}
