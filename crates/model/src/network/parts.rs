//! The parts of a network, as EC2 and Elastic Load Balancing describe them.

use super::rules::{Route, Rule};
use crate::ids::{
    AllocationId, AssociationId, EgressOnlyGatewayId, EndpointId, InstanceId, InterfaceId, InternetGatewayId,
    NatGatewayId, RouteTableId, SecurityGroupId, SubnetId, VpcId, Zone,
};
use crate::operation::Operation;
use crate::time::AwsTime;
use ipnet::{Ipv4Net, Ipv6Net};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use strum::{EnumIter, IntoStaticStr};

/// Tags of one resource.
pub type Tags = BTreeMap<String, String>;

/// Kinds of parts. Each is read by calls of its own.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, EnumIter, IntoStaticStr,
)]
#[strum(serialize_all = "snake_case")]
pub enum Kind {
    /// VPCs, without the attributes that only DescribeVpcAttribute shows.
    Vpc,
    /// `enableDnsSupport` and `enableDnsHostnames` of VPCs (DescribeVpcAttribute, two calls per VPC; by ids only). The response
    /// is VPCs with [`Vpc::dns_support`] and [`Vpc::dns_hostnames`] known.
    VpcAttributes,
    /// Subnets.
    Subnet,
    /// Internet gateways.
    InternetGateway,
    /// Egress-only internet gateways.
    EgressOnlyGateway,
    /// Elastic IP addresses.
    Address,
    /// NAT gateways, those deleted within the last hour included.
    NatGateway,
    /// Route tables.
    RouteTable,
    /// Security groups.
    SecurityGroup,
    /// VPC endpoints.
    Endpoint,
    /// Network interfaces.
    Interface,
    /// Load balancers of all types (of a VPC only; both APIs of Elastic Load Balancing, and their tags).
    LoadBalancer,
    /// Target groups (of a VPC only, and their tags).
    TargetGroup,
    /// Availability Zones of the region; the scope is not read.
    Zone,
}

impl Kind {
    /// The kinds that a managed network consists of.
    pub const OF_A_NETWORK: [Self; 9] = [
        Self::Vpc,
        Self::Subnet,
        Self::InternetGateway,
        Self::EgressOnlyGateway,
        Self::Address,
        Self::NatGateway,
        Self::RouteTable,
        Self::SecurityGroup,
        Self::Endpoint,
    ];

    /// The operation of its calls; load balancers have more than one.
    pub fn operation(self) -> Operation {
        match self {
            Self::Vpc => Operation::DescribeVpcs,
            Self::VpcAttributes => Operation::DescribeVpcAttribute,
            Self::Subnet => Operation::DescribeSubnets,
            Self::InternetGateway => Operation::DescribeInternetGateways,
            Self::EgressOnlyGateway => Operation::DescribeEgressOnlyInternetGateways,
            Self::Address => Operation::DescribeAddresses,
            Self::NatGateway => Operation::DescribeNatGateways,
            Self::RouteTable => Operation::DescribeRouteTables,
            Self::SecurityGroup => Operation::DescribeSecurityGroups,
            Self::Endpoint => Operation::DescribeVpcEndpoints,
            Self::Interface => Operation::DescribeNetworkInterfaces,
            Self::LoadBalancer => Operation::DescribeLoadBalancers,
            Self::TargetGroup => Operation::DescribeTargetGroups,
            Self::Zone => Operation::DescribeAvailabilityZones,
        }
    }
}

/// Which parts of a kind are asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// Those that carry a tag of this key, whatever its value.
    TagKey(String),
    /// Those that carry this tag.
    Tag(String, String),
    /// Those in this VPC; of addresses, which are in none, all of the account, since an address does not show the VPC of its interface.
    Vpc(VpcId),
    /// Those of these ids. An id that EC2 does not know is left out of the response.
    Ids(BTreeSet<String>),
}

/// A VPC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vpc {
    /// Its id.
    pub id: VpcId,
    /// The account that owns it (12 digits); a VPC that is shared with us is owned by another.
    pub owner: String,
    /// Its first IPv4 range.
    pub cidr: Ipv4Net,
    /// All IPv4 ranges, the first included.
    pub cidrs: Vec<CidrAssociation<Ipv4Net>>,
    /// IPv6 ranges. Not in the response to its creation.
    pub ipv6: Vec<CidrAssociation<Ipv6Net>>,
    /// Whether it is the region's default VPC.
    pub is_default: bool,
    /// Whether it is `available`; otherwise it is `pending`.
    pub available: bool,
    /// `enableDnsSupport`, if it was asked for ([`Kind::VpcAttributes`]).
    pub dns_support: Option<bool>,
    /// `enableDnsHostnames`, if it was asked for ([`Kind::VpcAttributes`]).
    pub dns_hostnames: Option<bool>,
    /// Its tags.
    pub tags: Tags,
}

/// A range that is associated with a VPC or subnet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CidrAssociation<T> {
    /// Id of the association (`vpc-cidr-assoc-…`).
    pub id: AssociationId,
    /// The range.
    pub range: T,
    /// Its state.
    pub state: CidrState,
}

/// State of a range of a VPC or subnet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are AWS's own (EC2 API Reference, VpcCidrBlockState)")]
pub enum CidrState {
    Associating,
    Associated,
    Disassociating,
    Disassociated,
    Failing,
    Failed,
}

/// A subnet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subnet {
    /// Its id.
    pub id: SubnetId,
    /// Its VPC.
    pub vpc: VpcId,
    /// Name of its zone.
    pub zone: Zone,
    /// Id of its zone, the same in every account (`euc1-az1`).
    pub zone_id: String,
    /// Its IPv4 range.
    pub cidr: Ipv4Net,
    /// Its IPv6 ranges.
    pub ipv6: Vec<CidrAssociation<Ipv6Net>>,
    /// State in AWS's words: `pending`, `available`, `unavailable`, `failed`, `failed-insufficient-capacity`.
    pub state: String,
    /// Free IPv4 addresses.
    pub free_addresses: u32,
    /// MapPublicIpOnLaunch.
    pub public_ip_on_launch: bool,
    /// AssignIpv6AddressOnCreation.
    pub ipv6_on_creation: bool,
    /// Its tags.
    pub tags: Tags,
}

/// An internet gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InternetGateway {
    /// Its id.
    pub id: InternetGatewayId,
    /// The VPC that it is attached to.
    pub vpc: Option<VpcId>,
    /// Its tags.
    pub tags: Tags,
}

/// An egress-only internet gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EgressOnlyGateway {
    /// Its id.
    pub id: EgressOnlyGatewayId,
    /// Its VPC.
    pub vpc: VpcId,
    /// Its tags.
    pub tags: Tags,
}

/// An Elastic IP address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// Id of its allocation.
    pub id: AllocationId,
    /// The address.
    pub ip: String,
    /// The interface that it is associated with.
    pub interface: Option<InterfaceId>,
    /// Its tags.
    pub tags: Tags,
}

/// A NAT gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NatGateway {
    /// Its id.
    pub id: NatGatewayId,
    /// Its VPC.
    pub vpc: VpcId,
    /// Its subnet.
    pub subnet: SubnetId,
    /// The addresses that it uses.
    pub allocations: BTreeSet<AllocationId>,
    /// Its state.
    pub state: NatState,
    /// Code and message of a failure, in AWS's words.
    pub failure: Option<(String, String)>,
    /// When it was created.
    pub created: Option<AwsTime>,
    /// Its tags.
    pub tags: Tags,
}

/// State of a NAT gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "the names are AWS's own (EC2 API Reference, NatGateway)")]
pub enum NatState {
    Pending,
    Failed,
    Available,
    Deleting,
    Deleted,
}

/// A route table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteTable {
    /// Its id.
    pub id: RouteTableId,
    /// Its VPC.
    pub vpc: VpcId,
    /// Whether it is the VPC's main table, which cannot be deleted.
    pub main: bool,
    /// Its routes, the one of the VPC itself (`local`) and those that endpoints put there included.
    pub routes: Vec<Route>,
    /// The subnets that use it.
    pub associations: Vec<TableAssociation>,
    /// Its tags.
    pub tags: Tags,
}

/// The association of a route table with a subnet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TableAssociation {
    /// Its id (`rtbassoc-…`).
    pub id: AssociationId,
    /// The subnet.
    pub subnet: SubnetId,
}

/// A security group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityGroup {
    /// Its id.
    pub id: SecurityGroupId,
    /// Its VPC.
    pub vpc: VpcId,
    /// Its name; `default` is the VPC's own, which cannot be deleted.
    pub name: String,
    /// Its description, which cannot change.
    pub description: String,
    /// Its ingress rules, one per peer.
    pub ingress: BTreeSet<Rule>,
    /// What it lets out, one rule per peer.
    pub egress: BTreeSet<Rule>,
    /// Its tags.
    pub tags: Tags,
}

/// A VPC endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Its id.
    pub id: EndpointId,
    /// Its VPC.
    pub vpc: VpcId,
    /// Name of the service (`com.amazonaws.eu-central-1.s3`).
    pub service: String,
    /// Its type and what it is connected with.
    pub kind: EndpointKind,
    /// Its state.
    pub state: EndpointState,
    /// What AWS says about a failure.
    pub failure: Option<String>,
    /// Its tags.
    pub tags: Tags,
}

/// Type of a VPC endpoint, and what it is connected with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndpointKind {
    /// A gateway (S3, DynamoDB): a route in each of these tables.
    Gateway {
        /// The tables.
        tables: BTreeSet<RouteTableId>,
    },
    /// A network interface in each of these subnets.
    Interface {
        /// The subnets, at most one per zone.
        subnets: BTreeSet<SubnetId>,
        /// The security groups of its interfaces.
        groups: BTreeSet<SecurityGroupId>,
        /// Whether the service's usual name leads to it inside the VPC.
        private_dns: bool,
    },
    /// Another type, in AWS's words. Never made by us.
    Other(String),
}

/// State of a VPC endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr)]
#[expect(missing_docs, reason = "the names are AWS's own (EC2 API Reference, VpcEndpoint)")]
pub enum EndpointState {
    PendingAcceptance,
    Pending,
    Available,
    Deleting,
    Deleted,
    Rejected,
    Failed,
    Expired,
}

/// A network interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// Its id.
    pub id: InterfaceId,
    /// Its VPC.
    pub vpc: VpcId,
    /// Its subnet.
    pub subnet: SubnetId,
    /// Its security groups.
    pub groups: BTreeSet<SecurityGroupId>,
    /// Its description: `ELB app/<name>/<id>`, `ELB <name>`, `Interface for NAT Gateway <id>`, `aws-K8S-<instance>`.
    pub description: String,
    /// Type in AWS's words: `interface`, `nat_gateway`, `network_load_balancer`, `vpc_endpoint`, …
    pub interface_type: String,
    /// Whether an AWS service made it and alone may delete it (`RequesterManaged`).
    pub requester_managed: bool,
    /// Whether it is `in-use`; otherwise it is `available`.
    pub in_use: bool,
    /// The instance that it is attached to.
    pub instance: Option<InstanceId>,
    /// Its private address.
    pub private_ip: String,
    /// The public address that is associated with it: neither an internet gateway nor an address can go before it.
    pub public_ip: Option<String>,
    /// Its tags.
    pub tags: Tags,
}

/// A load balancer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadBalancer {
    /// Its name, unique per account, region and API.
    pub name: String,
    /// Its ARN; classic load balancers have none.
    pub arn: Option<String>,
    /// Its type.
    pub kind: LoadBalancerKind,
    /// Its VPC.
    pub vpc: VpcId,
    /// Its security groups.
    pub groups: BTreeSet<SecurityGroupId>,
    /// Its tags.
    pub tags: Tags,
}

/// Type of a load balancer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "the names are AWS's own (Elastic Load Balancing API References)")]
pub enum LoadBalancerKind {
    Classic,
    Application,
    Network,
    Gateway,
}

/// A target group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetGroup {
    /// Its ARN.
    pub arn: String,
    /// Its name.
    pub name: String,
    /// Its VPC.
    pub vpc: VpcId,
    /// Its tags.
    pub tags: Tags,
}

/// A zone of the region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneInfo {
    /// Its name (`eu-central-1a`).
    pub name: Zone,
    /// Its id, the same in every account (`euc1-az1`).
    pub id: String,
    /// Whether it is `available`.
    pub available: bool,
    /// Whether it is an Availability Zone; otherwise it is a Local Zone or a Wavelength Zone.
    pub is_availability_zone: bool,
}

/// How much of something AWS allows in the region. `None`: AWS was not asked, or did not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quotas {
    /// VPCs per region (Service Quotas L-F678F1CE), and how many there are.
    pub vpcs: Option<(u32, u32)>,
    /// Elastic IP addresses per region (L-0263D0A3), and how many there are.
    pub addresses: Option<(u32, u32)>,
    /// NAT gateways per zone (L-FE5A380F), and how many of each zone count: those pending, available and deleting.
    pub nat_gateways: Option<(u32, BTreeMap<Zone, u32>)>,
    /// Internet gateways per region (L-A4707A72), and how many there are.
    pub internet_gateways: Option<(u32, u32)>,
}

/// Parts of a network, by id. Those of one response, or of several together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each field is the parts of the kind it is named after")]
pub struct Parts {
    pub vpcs: BTreeMap<VpcId, Vpc>,
    pub subnets: BTreeMap<SubnetId, Subnet>,
    pub internet_gateways: BTreeMap<InternetGatewayId, InternetGateway>,
    pub egress_only_gateways: BTreeMap<EgressOnlyGatewayId, EgressOnlyGateway>,
    pub addresses: BTreeMap<AllocationId, Address>,
    pub nat_gateways: BTreeMap<NatGatewayId, NatGateway>,
    pub route_tables: BTreeMap<RouteTableId, RouteTable>,
    pub security_groups: BTreeMap<SecurityGroupId, SecurityGroup>,
    pub endpoints: BTreeMap<EndpointId, Endpoint>,
    pub interfaces: BTreeMap<InterfaceId, Interface>,
    pub load_balancers: BTreeMap<String, LoadBalancer>,
    pub target_groups: BTreeMap<String, TargetGroup>,
    pub zones: BTreeMap<Zone, ZoneInfo>,
}
