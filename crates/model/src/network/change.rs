//! Every change of a network that can be sent. Each is one API call.

use super::parts::{EndpointKind, LoadBalancerKind, Tags};
use super::rules::{Destination, RouteTarget, Rule};
use crate::ids::{
    AllocationId, AssociationId, EgressOnlyGatewayId, EndpointId, InterfaceId, InternetGatewayId,
    NatGatewayId, RouteTableId, SecurityGroupId, SubnetId, VpcId, Zone,
};
use ipnet::{Ipv4Net, Ipv6Net};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use strum::IntoStaticStr;

/// One call. Its text is AWS's name of the operation.
///
/// Whatever has a `token` does not happen twice with the same one; the others may, when an answer is lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[expect(
    missing_docs,
    reason = "the names are AWS's own (API references of Amazon EC2 and Elastic Load Balancing)"
)]
pub enum Change {
    CreateVpc {
        cidr: Ipv4Net,
        ipv6: bool,
        tags: Tags,
    },
    ModifyVpcAttribute {
        vpc: VpcId,
        attribute: DnsAttribute,
        enabled: bool,
    },
    /// Adds an IPv4 range.
    AssociateVpcCidrBlock {
        vpc: VpcId,
        cidr: Ipv4Net,
    },
    /// Adds a range of Amazon's IPv6 addresses (/56).
    #[strum(serialize = "AssociateVpcCidrBlock")]
    AssociateVpcIpv6 {
        vpc: VpcId,
    },
    DisassociateVpcCidrBlock {
        association: AssociationId,
    },
    DeleteVpc {
        vpc: VpcId,
    },

    CreateSubnet {
        vpc: VpcId,
        zone: Zone,
        cidr: Ipv4Net,
        ipv6: Option<Ipv6Net>,
        tags: Tags,
    },
    ModifySubnetAttribute {
        subnet: SubnetId,
        attribute: SubnetAttribute,
        enabled: bool,
    },
    /// Adds an IPv6 range (/64) to a subnet.
    AssociateSubnetCidrBlock {
        subnet: SubnetId,
        ipv6: Ipv6Net,
    },
    DeleteSubnet {
        subnet: SubnetId,
    },

    CreateInternetGateway {
        tags: Tags,
    },
    AttachInternetGateway {
        gateway: InternetGatewayId,
        vpc: VpcId,
    },
    DetachInternetGateway {
        gateway: InternetGatewayId,
        vpc: VpcId,
    },
    DeleteInternetGateway {
        gateway: InternetGatewayId,
    },

    CreateEgressOnlyInternetGateway {
        vpc: VpcId,
        tags: Tags,
        token: String,
    },
    DeleteEgressOnlyInternetGateway {
        gateway: EgressOnlyGatewayId,
    },

    AllocateAddress {
        tags: Tags,
    },
    ReleaseAddress {
        allocation: AllocationId,
    },

    CreateNatGateway {
        subnet: SubnetId,
        allocation: AllocationId,
        tags: Tags,
        token: String,
    },
    DeleteNatGateway {
        gateway: NatGatewayId,
    },

    CreateRouteTable {
        vpc: VpcId,
        tags: Tags,
        token: String,
    },
    CreateRoute {
        table: RouteTableId,
        destination: Destination,
        target: RouteTarget,
    },
    ReplaceRoute {
        table: RouteTableId,
        destination: Destination,
        target: RouteTarget,
    },
    DeleteRoute {
        table: RouteTableId,
        destination: Destination,
    },
    AssociateRouteTable {
        table: RouteTableId,
        subnet: SubnetId,
    },
    ReplaceRouteTableAssociation {
        association: AssociationId,
        table: RouteTableId,
    },
    DisassociateRouteTable {
        association: AssociationId,
    },
    DeleteRouteTable {
        table: RouteTableId,
    },

    CreateSecurityGroup {
        vpc: VpcId,
        name: String,
        description: String,
        tags: Tags,
    },
    AuthorizeSecurityGroupIngress {
        group: SecurityGroupId,
        rules: BTreeSet<Rule>,
    },
    AuthorizeSecurityGroupEgress {
        group: SecurityGroupId,
        rules: BTreeSet<Rule>,
    },
    RevokeSecurityGroupIngress {
        group: SecurityGroupId,
        rules: BTreeSet<Rule>,
    },
    RevokeSecurityGroupEgress {
        group: SecurityGroupId,
        rules: BTreeSet<Rule>,
    },
    UpdateSecurityGroupRuleDescriptionsIngress {
        group: SecurityGroupId,
        rules: BTreeSet<Rule>,
    },
    DeleteSecurityGroup {
        group: SecurityGroupId,
    },

    CreateVpcEndpoint {
        vpc: VpcId,
        service: String,
        kind: EndpointKind,
        tags: Tags,
        token: String,
    },
    ModifyVpcEndpoint {
        endpoint: EndpointId,
        change: EndpointChange,
    },
    DeleteVpcEndpoints {
        endpoints: BTreeSet<EndpointId>,
    },

    /// Creates or overwrites tags. `ids` of any kind of EC2; at most 1000.
    CreateTags {
        ids: BTreeSet<String>,
        tags: Tags,
    },
    /// Removes the tags of these keys, whatever their values.
    DeleteTags {
        ids: BTreeSet<String>,
        keys: BTreeSet<String>,
    },

    DeleteNetworkInterface {
        interface: InterfaceId,
    },
    /// Classic load balancers are named, all others have an ARN.
    DeleteLoadBalancer {
        kind: LoadBalancerKind,
        name: String,
        arn: Option<String>,
    },
    DeleteTargetGroup {
        arn: String,
    },
}

/// An attribute of a VPC that ModifyVpcAttribute changes, one per call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr)]
pub enum DnsAttribute {
    /// `enableDnsSupport`: the VPC's own resolver. Before hostnames.
    #[strum(serialize = "enableDnsSupport")]
    Support,
    /// `enableDnsHostnames`: instances with public addresses get names; private endpoints need it.
    #[strum(serialize = "enableDnsHostnames")]
    Hostnames,
}

/// An attribute of a subnet that ModifySubnetAttribute changes, one per call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr)]
pub enum SubnetAttribute {
    /// `mapPublicIpOnLaunch`.
    #[strum(serialize = "mapPublicIpOnLaunch")]
    PublicIpOnLaunch,
    /// `assignIpv6AddressOnCreation`. The subnet needs an IPv6 range.
    #[strum(serialize = "assignIpv6AddressOnCreation")]
    Ipv6OnCreation,
}

/// What ModifyVpcEndpoint changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each field is named after AWS's parameter")]
pub struct EndpointChange {
    pub add_tables: BTreeSet<RouteTableId>,
    pub remove_tables: BTreeSet<RouteTableId>,
    pub add_subnets: BTreeSet<SubnetId>,
    pub remove_subnets: BTreeSet<SubnetId>,
    pub add_groups: BTreeSet<SecurityGroupId>,
    pub remove_groups: BTreeSet<SecurityGroupId>,
    pub private_dns: Option<bool>,
}

/// What a change does with a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It creates one, with tags.
    Created,
    /// It deletes one, or several.
    Deleted,
    /// It changes one: also its routes, rules, ranges, associations or tags.
    Changed,
}

impl Change {
    /// What it does. One table of all changes.
    pub fn kind(&self) -> ChangeKind {
        match self {
            Self::CreateVpc { .. }
            | Self::CreateSubnet { .. }
            | Self::CreateInternetGateway { .. }
            | Self::CreateEgressOnlyInternetGateway { .. }
            | Self::AllocateAddress { .. }
            | Self::CreateNatGateway { .. }
            | Self::CreateRouteTable { .. }
            | Self::CreateSecurityGroup { .. }
            | Self::CreateVpcEndpoint { .. } => ChangeKind::Created,
            Self::ModifyVpcAttribute { .. }
            | Self::AssociateVpcCidrBlock { .. }
            | Self::AssociateVpcIpv6 { .. }
            | Self::DisassociateVpcCidrBlock { .. }
            | Self::ModifySubnetAttribute { .. }
            | Self::AssociateSubnetCidrBlock { .. }
            | Self::AttachInternetGateway { .. }
            | Self::DetachInternetGateway { .. }
            | Self::CreateRoute { .. }
            | Self::ReplaceRoute { .. }
            | Self::DeleteRoute { .. }
            | Self::AssociateRouteTable { .. }
            | Self::ReplaceRouteTableAssociation { .. }
            | Self::DisassociateRouteTable { .. }
            | Self::AuthorizeSecurityGroupIngress { .. }
            | Self::AuthorizeSecurityGroupEgress { .. }
            | Self::RevokeSecurityGroupIngress { .. }
            | Self::RevokeSecurityGroupEgress { .. }
            | Self::UpdateSecurityGroupRuleDescriptionsIngress { .. }
            | Self::ModifyVpcEndpoint { .. }
            | Self::CreateTags { .. }
            | Self::DeleteTags { .. } => ChangeKind::Changed,
            Self::DeleteVpc { .. }
            | Self::DeleteSubnet { .. }
            | Self::DeleteInternetGateway { .. }
            | Self::DeleteEgressOnlyInternetGateway { .. }
            | Self::ReleaseAddress { .. }
            | Self::DeleteNatGateway { .. }
            | Self::DeleteRouteTable { .. }
            | Self::DeleteSecurityGroup { .. }
            | Self::DeleteVpcEndpoints { .. }
            | Self::DeleteNetworkInterface { .. }
            | Self::DeleteLoadBalancer { .. }
            | Self::DeleteTargetGroup { .. } => ChangeKind::Deleted,
        }
    }

    /// The tags that what it creates has from the beginning; `None` of a change that creates nothing with tags.
    pub fn tags(&self) -> Option<&Tags> {
        let (Self::CreateVpc { tags, .. }
        | Self::CreateSubnet { tags, .. }
        | Self::CreateInternetGateway { tags }
        | Self::CreateEgressOnlyInternetGateway { tags, .. }
        | Self::AllocateAddress { tags }
        | Self::CreateNatGateway { tags, .. }
        | Self::CreateRouteTable { tags, .. }
        | Self::CreateSecurityGroup { tags, .. }
        | Self::CreateVpcEndpoint { tags, .. }) = self
        else {
            return None;
        };
        Some(tags)
    }

    /// The client token, of those changes that AWS takes one with; `None` if it is empty.
    pub fn token(&self) -> Option<&str> {
        let (Self::CreateEgressOnlyInternetGateway { token, .. }
        | Self::CreateNatGateway { token, .. }
        | Self::CreateRouteTable { token, .. }
        | Self::CreateVpcEndpoint { token, .. }) = self
        else {
            return None;
        };
        Some(token.as_str()).filter(|token| !token.is_empty())
    }

    /// The id (of a load balancer the name) of the part that the change deletes at once: without a state in between, as NAT gateways and
    /// endpoints have.
    pub fn deleted_at_once(&self) -> Option<String> {
        let id: &dyn std::fmt::Display = match self {
            Self::DeleteVpc { vpc } => vpc,
            Self::DeleteSubnet { subnet } => subnet,
            Self::DeleteInternetGateway { gateway } => gateway,
            Self::DeleteEgressOnlyInternetGateway { gateway } => gateway,
            Self::ReleaseAddress { allocation } => allocation,
            Self::DeleteRouteTable { table } => table,
            Self::DeleteSecurityGroup { group } => group,
            Self::DeleteNetworkInterface { interface } => interface,
            Self::DeleteLoadBalancer { name, .. } => name,
            _ => return None,
        };
        Some(id.to_string())
    }

    /// AWS's name of the operation.
    pub fn operation(&self) -> &'static str {
        self.into()
    }
}
