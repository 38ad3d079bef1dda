//! Every change of a network that can be sent. Each is one API call.

use super::parts::{EndpointKind, LoadBalancerKind, Tags};
use super::rules::{Destination, RouteTarget, Rule};
use crate::ids::{
    AllocationId, AssociationId, EgressOnlyGatewayId, EndpointId, InterfaceId, InternetGatewayId,
    NatGatewayId, RouteTableId, SecurityGroupId, SubnetId, VpcId, Zone,
};
use crate::operation::Operation;
use ipnet::{Ipv4Net, Ipv6Net};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use strum::IntoStaticStr;

/// One call, named as AWS names the operation. [`Change::facts`] has what is true of each.
///
/// Whatever has a `token` does not happen twice with the same one; the others may, when a response is lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Adds a range of Amazon's IPv6 addresses (/56), by AssociateVpcCidrBlock.
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

/// What is true of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts<'a> {
    /// Its operation.
    pub operation: Operation,
    /// What it does with which parts.
    pub effect: Effect<'a>,
}

/// What a change does. Parts that it only refers to (the subnet of a new NAT gateway) are not among its targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect<'a> {
    /// It creates one part.
    Creates {
        /// The tags that the part has from the beginning.
        tags: &'a Tags,
        /// The client token, of those creations that AWS takes one with; `None` if it is empty.
        token: Option<&'a str>,
    },
    /// It changes these: also their routes, rules, ranges, associations or tags.
    Changes(Vec<Target<'a>>),
    /// It deletes one part at once.
    Deletes(Target<'a>),
    /// It deletes these, which AWS shows as being deleted for a while.
    BeginsToDelete(Vec<Target<'a>>),
}

/// Something that a change changes or deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target<'a> {
    /// A part that carries tags, by its id.
    Part(&'a str),
    /// The association of a table with a subnet.
    Association(&'a AssociationId),
    /// A range of a VPC.
    Range(&'a AssociationId),
    /// What controllers of the workload cluster created, by its id; a load balancer or target group by its ARN, a classic load balancer
    /// by its name.
    Leftover(&'a str),
}

impl<'a> Target<'a> {
    /// Its id.
    pub fn id(self) -> &'a str {
        match self {
            Self::Part(id) | Self::Leftover(id) => id,
            Self::Association(id) | Self::Range(id) => id.as_str(),
        }
    }
}

fn creates(operation: Operation, tags: &Tags) -> Facts<'_> {
    Facts { operation, effect: Effect::Creates { tags, token: None } }
}

fn creates_once<'a>(operation: Operation, tags: &'a Tags, token: &'a str) -> Facts<'a> {
    let token = Some(token).filter(|token| !token.is_empty());
    Facts { operation, effect: Effect::Creates { tags, token } }
}

fn changes(operation: Operation, target: Target<'_>) -> Facts<'_> {
    Facts { operation, effect: Effect::Changes(vec![target]) }
}

fn deletes(operation: Operation, target: Target<'_>) -> Facts<'_> {
    Facts { operation, effect: Effect::Deletes(target) }
}

fn parts(ids: &BTreeSet<String>) -> Vec<Target<'_>> {
    ids.iter().map(|id| Target::Part(id)).collect()
}

impl Change {
    /// What is true of it. One table of all changes, hence its length.
    pub fn facts(&self) -> Facts<'_> {
        use Operation as O;
        use Target::{Association, Leftover, Part, Range};
        let several = |operation, effect| Facts { operation, effect };
        match self {
            Self::CreateVpc { tags, .. } => creates(O::CreateVpc, tags),
            Self::ModifyVpcAttribute { vpc, .. } => changes(O::ModifyVpcAttribute, Part(vpc.as_str())),
            Self::AssociateVpcCidrBlock { vpc, .. } | Self::AssociateVpcIpv6 { vpc } => {
                changes(O::AssociateVpcCidrBlock, Part(vpc.as_str()))
            }
            Self::DisassociateVpcCidrBlock { association } => {
                changes(O::DisassociateVpcCidrBlock, Range(association))
            }
            Self::DeleteVpc { vpc } => deletes(O::DeleteVpc, Part(vpc.as_str())),

            Self::CreateSubnet { tags, .. } => creates(O::CreateSubnet, tags),
            Self::ModifySubnetAttribute { subnet, .. } => {
                changes(O::ModifySubnetAttribute, Part(subnet.as_str()))
            }
            Self::AssociateSubnetCidrBlock { subnet, .. } => {
                changes(O::AssociateSubnetCidrBlock, Part(subnet.as_str()))
            }
            Self::DeleteSubnet { subnet } => deletes(O::DeleteSubnet, Part(subnet.as_str())),

            Self::CreateInternetGateway { tags } => creates(O::CreateInternetGateway, tags),
            Self::AttachInternetGateway { gateway, .. } => {
                changes(O::AttachInternetGateway, Part(gateway.as_str()))
            }
            Self::DetachInternetGateway { gateway, .. } => {
                changes(O::DetachInternetGateway, Part(gateway.as_str()))
            }
            Self::DeleteInternetGateway { gateway } => {
                deletes(O::DeleteInternetGateway, Part(gateway.as_str()))
            }

            Self::CreateEgressOnlyInternetGateway { tags, token, .. } => {
                creates_once(O::CreateEgressOnlyInternetGateway, tags, token)
            }
            Self::DeleteEgressOnlyInternetGateway { gateway } => {
                deletes(O::DeleteEgressOnlyInternetGateway, Part(gateway.as_str()))
            }

            Self::AllocateAddress { tags } => creates(O::AllocateAddress, tags),
            Self::ReleaseAddress { allocation } => deletes(O::ReleaseAddress, Part(allocation.as_str())),

            Self::CreateNatGateway { tags, token, .. } => creates_once(O::CreateNatGateway, tags, token),
            Self::DeleteNatGateway { gateway } => {
                several(O::DeleteNatGateway, Effect::BeginsToDelete(vec![Part(gateway.as_str())]))
            }

            Self::CreateRouteTable { tags, token, .. } => creates_once(O::CreateRouteTable, tags, token),
            Self::CreateRoute { table, .. } => changes(O::CreateRoute, Part(table.as_str())),
            Self::ReplaceRoute { table, .. } => changes(O::ReplaceRoute, Part(table.as_str())),
            Self::DeleteRoute { table, .. } => changes(O::DeleteRoute, Part(table.as_str())),
            Self::AssociateRouteTable { table, subnet } => {
                let both = vec![Part(table.as_str()), Part(subnet.as_str())];
                several(O::AssociateRouteTable, Effect::Changes(both))
            }
            Self::ReplaceRouteTableAssociation { table, .. } => {
                changes(O::ReplaceRouteTableAssociation, Part(table.as_str()))
            }
            Self::DisassociateRouteTable { association } => {
                changes(O::DisassociateRouteTable, Association(association))
            }
            Self::DeleteRouteTable { table } => deletes(O::DeleteRouteTable, Part(table.as_str())),

            Self::CreateSecurityGroup { tags, .. } => creates(O::CreateSecurityGroup, tags),
            Self::AuthorizeSecurityGroupIngress { group, .. } => {
                changes(O::AuthorizeSecurityGroupIngress, Part(group.as_str()))
            }
            Self::AuthorizeSecurityGroupEgress { group, .. } => {
                changes(O::AuthorizeSecurityGroupEgress, Part(group.as_str()))
            }
            Self::RevokeSecurityGroupIngress { group, .. } => {
                changes(O::RevokeSecurityGroupIngress, Part(group.as_str()))
            }
            Self::RevokeSecurityGroupEgress { group, .. } => {
                changes(O::RevokeSecurityGroupEgress, Part(group.as_str()))
            }
            Self::UpdateSecurityGroupRuleDescriptionsIngress { group, .. } => {
                changes(O::UpdateSecurityGroupRuleDescriptionsIngress, Part(group.as_str()))
            }
            Self::DeleteSecurityGroup { group } => deletes(O::DeleteSecurityGroup, Part(group.as_str())),

            Self::CreateVpcEndpoint { tags, token, .. } => creates_once(O::CreateVpcEndpoint, tags, token),
            Self::ModifyVpcEndpoint { endpoint, .. } => {
                changes(O::ModifyVpcEndpoint, Part(endpoint.as_str()))
            }
            Self::DeleteVpcEndpoints { endpoints } => {
                let all = endpoints.iter().map(|it| Part(it.as_str())).collect();
                several(O::DeleteVpcEndpoints, Effect::BeginsToDelete(all))
            }

            Self::CreateTags { ids, .. } => several(O::CreateTags, Effect::Changes(parts(ids))),
            Self::DeleteTags { ids, .. } => several(O::DeleteTags, Effect::Changes(parts(ids))),

            Self::DeleteNetworkInterface { interface } => {
                deletes(O::DeleteNetworkInterface, Leftover(interface.as_str()))
            }
            Self::DeleteLoadBalancer { name, arn, .. } => {
                deletes(O::DeleteLoadBalancer, Leftover(arn.as_ref().unwrap_or(name)))
            }
            Self::DeleteTargetGroup { arn } => deletes(O::DeleteTargetGroup, Leftover(arn)),
        }
    }

    /// Its operation.
    pub fn operation(&self) -> Operation {
        self.facts().operation
    }

    /// The tags that what it creates has from the beginning; `None` of a change that creates nothing with tags.
    pub fn tags(&self) -> Option<&Tags> {
        let Effect::Creates { tags, .. } = self.facts().effect else { return None };
        Some(tags)
    }

    /// The client token, of those changes that AWS takes one with; `None` if it is empty.
    pub fn token(&self) -> Option<&str> {
        let Effect::Creates { token, .. } = self.facts().effect else { return None };
        token
    }

    /// The id of what the change deletes at once: without a state in between, as NAT gateways and endpoints have. Of a load balancer
    /// and a target group the ARN, of a classic load balancer the name.
    pub fn deleted_at_once(&self) -> Option<&str> {
        let Effect::Deletes(target) = self.facts().effect else { return None };
        Some(target.id())
    }

    /// The ids of what the change deletes, at once or in a while.
    pub fn deleted(&self) -> BTreeSet<&str> {
        match self.facts().effect {
            Effect::Deletes(target) => BTreeSet::from([target.id()]),
            Effect::BeginsToDelete(targets) => targets.into_iter().map(Target::id).collect(),
            Effect::Creates { .. } | Effect::Changes(_) => BTreeSet::new(),
        }
    }
}
