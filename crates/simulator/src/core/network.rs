//! VPC, subnets and security groups: data that tests can add to, and the addresses instances get.

use foo_model::{SecurityGroupId, SubnetId, Zone};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

/// The VPC of the default region.
pub const VPC: &str = "vpc-0a000000000000001";
/// The security group of the default region.
pub const SECURITY_GROUP: &str = "sg-0a000000000000001";
/// The private subnets of the default region, in zones a, b and c.
pub const PRIVATE_SUBNETS: [&str; 3] =
    ["subnet-0a00000000000000a", "subnet-0a00000000000000b", "subnet-0a00000000000000c"];
/// The public subnets of the default region, in zones a, b and c.
pub const PUBLIC_SUBNETS: [&str; 3] =
    ["subnet-0b00000000000000a", "subnet-0b00000000000000b", "subnet-0b00000000000000c"];

/// A VPC.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vpc {
    /// Its id.
    pub id: String,
    /// Its address range.
    pub cidr: String,
    /// Whether it is the region's default VPC.
    pub is_default: bool,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// A subnet. The first four and the last address of its range are AWS's (VPC User Guide, "Subnet CIDR blocks").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subnet {
    /// Its id.
    pub id: SubnetId,
    /// Its VPC.
    pub vpc: String,
    /// Its zone.
    pub zone: Zone,
    /// First address of its range.
    pub base: Ipv4Addr,
    /// Length of the network prefix, 16–28.
    pub prefix: u8,
    /// MapPublicIpOnLaunch.
    pub public: bool,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// Addresses given out so far.
    #[serde(default, skip)]
    pub(crate) given: u32,
    /// Addresses given back, by offset.
    #[serde(default, skip)]
    pub(crate) returned: BTreeSet<u32>,
}

/// A security group. Its rules are not simulated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityGroup {
    /// Its id.
    pub id: SecurityGroupId,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its VPC.
    pub vpc: String,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// The network of a region.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Network {
    /// VPCs by id.
    pub vpcs: BTreeMap<String, Vpc>,
    /// Subnets by id.
    pub subnets: BTreeMap<SubnetId, Subnet>,
    /// Security groups by id.
    pub security_groups: BTreeMap<SecurityGroupId, SecurityGroup>,
    /// Zones with their ids (`eu-central-1a` → `euc1-az1`).
    pub zones: BTreeMap<Zone, String>,
}

const RESERVED_AT_START: u32 = 4;

impl Subnet {
    /// Its range in CIDR notation.
    pub fn cidr(&self) -> String {
        format!("{}/{}", self.base, self.prefix)
    }

    fn capacity(&self) -> u32 {
        1_u32.checked_shl(32_u32.saturating_sub(u32::from(self.prefix))).unwrap_or(0).saturating_sub(5)
    }

    /// Addresses that are free.
    pub fn free(&self) -> u32 {
        let returned = u32::try_from(self.returned.len()).unwrap_or(u32::MAX);
        self.capacity().saturating_sub(self.given).saturating_add(returned)
    }

    /// Gives out an address: a fresh one as long as there are any, so that names rarely repeat.
    pub(crate) fn take_address(&mut self) -> Option<Ipv4Addr> {
        let offset = if self.given < self.capacity() {
            self.given += 1;
            RESERVED_AT_START + self.given - 1
        } else {
            self.returned.pop_first()?
        };
        Some(Ipv4Addr::from(u32::from(self.base).wrapping_add(offset)))
    }

    /// Takes an address back.
    pub(crate) fn return_address(&mut self, address: Ipv4Addr) {
        self.returned.insert(u32::from(address).wrapping_sub(u32::from(self.base)));
    }
}

impl Network {
    /// The security group of instances that name none (VPC User Guide, "Default security groups for your VPCs").
    pub(crate) fn default_group(&self, vpc: &str) -> Option<SecurityGroupId> {
        let default = |group: &&SecurityGroup| group.vpc == vpc && group.name == "default";
        self.security_groups.values().find(default).map(|group| group.id.clone())
    }

    /// Adds a VPC or replaces one. It has a default security group.
    pub(crate) fn put_vpc(&mut self, vpc: Vpc) {
        if self.default_group(&vpc.id).is_none() {
            let digits: String = vpc.id.chars().skip("vpc-".len() + 2).collect();
            let id = SecurityGroupId::new(format!("sg-0d{digits}"));
            let group = SecurityGroup {
                id: id.clone(),
                name: "default".to_owned(),
                description: "default VPC security group".to_owned(),
                vpc: vpc.id.clone(),
                tags: BTreeMap::new(),
            };
            self.security_groups.insert(id, group);
        }
        self.vpcs.insert(vpc.id.clone(), vpc);
    }

    /// The network every region starts with: one VPC, in each of three zones a private and a public subnet.
    pub(crate) fn default_of(region: &str) -> Self {
        let mut network = Self::default();
        let name = |text: String| BTreeMap::from([("Name".to_owned(), text)]);
        network.put_vpc(Vpc {
            id: VPC.to_owned(),
            cidr: "10.0.0.0/16".to_owned(),
            is_default: false,
            tags: name("sim".into()),
        });
        network.security_groups.insert(
            SecurityGroupId::new(SECURITY_GROUP),
            SecurityGroup {
                id: SecurityGroupId::new(SECURITY_GROUP),
                name: "sim-node".to_owned(),
                description: "nodes".to_owned(),
                vpc: VPC.to_owned(),
                tags: name("sim-node".into()),
            },
        );
        let rows = ["a", "b", "c"].into_iter().zip(PRIVATE_SUBNETS).zip(PUBLIC_SUBNETS).zip([0_u8, 1, 2]);
        for (((letter, private), public), n) in rows {
            let zone = Zone::new(format!("{region}{letter}"));
            network.zones.insert(zone.clone(), format!("{}-az{}", short_region(region), n + 1));
            for (id, third, prefix, visibility) in
                [(private, n * 32, 19, "private"), (public, 96 + n * 16, 20, "public")]
            {
                let mut tags = name(format!("sim-{visibility}-{letter}"));
                let role = if visibility == "public" { "elb" } else { "internal-elb" };
                tags.insert(format!("kubernetes.io/role/{role}"), "1".to_owned());
                let subnet = Subnet {
                    id: SubnetId::new(id),
                    vpc: VPC.to_owned(),
                    zone: zone.clone(),
                    base: Ipv4Addr::new(10, 0, third, 0),
                    prefix,
                    public: visibility == "public",
                    tags,
                    given: 0,
                    returned: BTreeSet::new(),
                };
                network.subnets.insert(subnet.id.clone(), subnet);
            }
        }
        network
    }
}

/// `eu-central-1` → `euc1`, as zone ids begin.
fn short_region(region: &str) -> String {
    let mut parts = region.split('-');
    let first = parts.next().unwrap_or_default();
    first.chars().chain(parts.filter_map(|part| part.chars().next())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_unique_until_the_subnet_is_full() {
        let mut network = Network::default_of("eu-central-1");
        let subnet = network.subnets.get_mut(&SubnetId::new(PRIVATE_SUBNETS[1])).expect("default subnet");
        assert_eq!(subnet.free(), 8187);
        let first = subnet.take_address().expect("free");
        assert_eq!(first.to_string(), "10.0.32.4");
        let mut seen = BTreeSet::from([first]);
        while let Some(address) = subnet.take_address() {
            assert!(seen.insert(address));
        }
        assert_eq!((seen.len(), subnet.free()), (8187, 0));
        subnet.return_address(first);
        assert_eq!(subnet.take_address(), Some(first));
        assert_eq!(network.zones[&Zone::new("eu-central-1b")], "euc1-az2");
    }
}
