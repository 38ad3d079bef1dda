//! The network of a new region.

use super::given::{SecurityGroupSpec, SubnetSpec, VpcSpec, local_routes};
use super::state::Network;
use foo_model::network::{
    Destination, InternetGateway, Route, RouteTable, RouteTarget, TableAssociation, Tags,
};
use foo_model::{AssociationId, InternetGatewayId, RouteTableId, SecurityGroupId, SubnetId, VpcId, Zone};
use ipnet::Ipv4Net;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

/// The VPC of the default region.
pub const VPC: &str = "vpc-0a000000000000001";
/// The security group of the default region.
pub const SECURITY_GROUP: &str = "sg-0a000000000000001";
/// The internet gateway of the default region.
pub const INTERNET_GATEWAY: &str = "igw-0a000000000000001";
/// The route table of the public subnets.
const PUBLIC_TABLE: &str = "rtb-0b000000000000001";
/// The private subnets of the default region, in zones a, b and c.
pub const PRIVATE_SUBNETS: [&str; 3] =
    ["subnet-0a00000000000000a", "subnet-0a00000000000000b", "subnet-0a00000000000000c"];
/// The public subnets of the default region, in zones a, b and c.
pub const PUBLIC_SUBNETS: [&str; 3] =
    ["subnet-0b00000000000000a", "subnet-0b00000000000000b", "subnet-0b00000000000000c"];

fn named(text: impl Into<String>) -> Tags {
    BTreeMap::from([("Name".to_owned(), text.into())])
}

impl Network {
    /// One VPC with an internet gateway; in each of three zones a private and a public subnet. The private ones use
    /// the main route table.
    pub(crate) fn default_of(region: &str, account: &str, lag: Duration) -> Self {
        let mut network = Self::of_zones(region, lag);
        let vpc = VpcId::new(VPC);
        let cidr = Ipv4Net::new_assert(Ipv4Addr::new(10, 0, 0, 0), 16);
        let spec = VpcSpec { id: vpc.clone(), cidr, is_default: false, tags: named("sim") };
        network.put_vpc(spec, account);
        network.put_security_group(SecurityGroupSpec {
            id: SecurityGroupId::new(SECURITY_GROUP),
            name: "sim-node".to_owned(),
            description: "nodes".to_owned(),
            vpc: vpc.clone(),
            tags: named("sim-node"),
        });
        let rows = ["a", "b", "c"].into_iter().zip(PRIVATE_SUBNETS).zip(PUBLIC_SUBNETS).zip([0_u8, 1, 2]);
        for (((letter, private), public), n) in rows {
            for (id, third, prefix, visibility) in
                [(private, n * 32, 19, "private"), (public, 96 + n * 16, 20, "public")]
            {
                let mut tags = named(format!("sim-{visibility}-{letter}"));
                let role = if visibility == "public" { "elb" } else { "internal-elb" };
                tags.insert(format!("kubernetes.io/role/{role}"), "1".to_owned());
                network.put_subnet(SubnetSpec {
                    id: SubnetId::new(id),
                    vpc: vpc.clone(),
                    zone: Zone::new(format!("{region}{letter}")),
                    base: Ipv4Addr::new(10, 0, third, 0),
                    prefix,
                    public: visibility == "public",
                    tags,
                });
            }
        }
        network.open_to_the_internet(&vpc);
        network
    }

    /// A network without anything but zones.
    pub(crate) fn of_zones(region: &str, lag: Duration) -> Self {
        let mut network = Self::empty(lag);
        for (letter, n) in [("a", 1), ("b", 2), ("c", 3)] {
            let id = format!("{}-az{n}", short_region(region));
            network.zones.insert(Zone::new(format!("{region}{letter}")), id);
        }
        network
    }

    fn open_to_the_internet(&mut self, vpc: &VpcId) {
        let gateway = InternetGatewayId::new(INTERNET_GATEWAY);
        self.put(InternetGateway { id: gateway.clone(), vpc: Some(vpc.clone()), tags: named("sim") });
        let mut routes = self.vpcs.get(vpc).map(local_routes).unwrap_or_default();
        routes.push(Route {
            destination: Destination::V4(Ipv4Net::default()),
            target: RouteTarget::InternetGateway(gateway),
            blackhole: false,
        });
        let association = |id: &str| TableAssociation {
            id: AssociationId::new(id.replacen("subnet", "rtbassoc", 1)),
            subnet: SubnetId::new(id),
        };
        self.put(RouteTable {
            id: RouteTableId::new(PUBLIC_TABLE),
            vpc: vpc.clone(),
            main: false,
            routes,
            associations: PUBLIC_SUBNETS.into_iter().map(association).collect(),
            tags: named("sim-public"),
        });
    }
}

/// `eu-central-1` → `euc1`, as zone ids begin.
fn short_region(region: &str) -> String {
    let mut parts = region.split('-');
    let first = parts.next().unwrap_or_default();
    first.chars().chain(parts.filter_map(|part| part.chars().next())).collect()
}
