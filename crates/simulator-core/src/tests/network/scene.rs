//! A region with nothing but zones, and short words for what is done there.

use crate::core::Settings;
use crate::core::error::AwsResult;
use crate::core::region::Region;
use crate::tests::scene::{Scene, refusal, scene_with};
use foo_model::network::{Change, DnsAttribute, Kind, NatGateway, Parts, RouteTable, Scope, Tags, Vpc};
use foo_model::{
    AllocationId, InternetGatewayId, NatGatewayId, RouteTableId, SecurityGroupId, SubnetId, VpcId, Zone,
};

pub(super) const ZONES: [&str; 3] = ["eu-central-1a", "eu-central-1b", "eu-central-1c"];

pub(super) struct Net(pub(super) Scene);

/// A region without any network, in which nothing takes a random time.
pub(super) fn net() -> Net {
    net_with(|_| {})
}

pub(super) fn net_with(change: impl FnOnce(&mut Settings)) -> Net {
    let net = Net(scene_with(change));
    net.0.with(Region::empty_network);
    net
}

pub(super) fn tags(pairs: &[(&str, &str)]) -> Tags {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// The only part of a kind in a response.
pub(super) fn only<K: Clone, V>(parts: &std::collections::BTreeMap<K, V>) -> K {
    assert_eq!(parts.len(), 1, "one part");
    parts.keys().next().expect("one part").clone()
}

impl Net {
    pub(super) fn change(&self, change: &Change) -> AwsResult<Parts> {
        self.0.with(|region| region.change_network(change))
    }

    pub(super) fn done(&self, change: &Change) -> Parts {
        self.change(change).unwrap_or_else(|error| panic!("{change:?}: {error}"))
    }

    /// The code and the message of a refusal, after which all is as it was.
    pub(super) fn refused(&self, change: &Change) -> (String, String) {
        let before = self.now();
        let refused = refusal(self.change(change));
        assert_eq!(self.now(), before, "a refusal changes nothing");
        refused
    }

    pub(super) fn code(&self, change: &Change) -> String {
        self.refused(change).0
    }

    pub(super) fn wait(&self, seconds: u64) -> &Self {
        self.0.wait(seconds);
        self
    }

    /// Everything, as it is.
    pub(super) fn now(&self) -> Parts {
        self.0.with(|region| region.network_now())
    }

    pub(super) fn seen(&self, kind: Kind, scope: &Scope) -> Parts {
        self.0.with(|region| region.describe_network(kind, scope))
    }

    /// A VPC that is available.
    pub(super) fn vpc(&self, cidr: &str) -> VpcId {
        let cidr = cidr.parse().expect("a range");
        let id = only(&self.done(&Change::CreateVpc { cidr, ipv6: false, tags: Tags::new() }).vpcs);
        self.wait(1);
        id
    }

    pub(super) fn dual_stack(&self, cidr: &str) -> Vpc {
        let cidr = cidr.parse().expect("a range");
        let id = only(&self.done(&Change::CreateVpc { cidr, ipv6: true, tags: Tags::new() }).vpcs);
        self.wait(1);
        self.now().vpcs[&id].clone()
    }

    pub(super) fn subnet(&self, vpc: &VpcId, zone: usize, cidr: &str) -> SubnetId {
        let id = only(&self.done(&new_subnet(vpc, zone, cidr)).subnets);
        self.wait(1);
        id
    }

    pub(super) fn free(&self, subnet: &SubnetId) -> u32 {
        self.now().subnets[subnet].free_addresses
    }

    pub(super) fn gateway(&self) -> InternetGatewayId {
        only(&self.done(&Change::CreateInternetGateway { tags: Tags::new() }).internet_gateways)
    }

    pub(super) fn attached(&self, vpc: &VpcId) -> InternetGatewayId {
        let gateway = self.gateway();
        self.done(&Change::AttachInternetGateway { gateway: gateway.clone(), vpc: vpc.clone() });
        gateway
    }

    pub(super) fn address(&self) -> AllocationId {
        only(&self.done(&Change::AllocateAddress { tags: Tags::new() }).addresses)
    }

    pub(super) fn nat(&self, subnet: &SubnetId, allocation: &AllocationId) -> NatGatewayId {
        only(&self.done(&new_nat(subnet, allocation, "")).nat_gateways)
    }

    pub(super) fn nat_gateway(&self, id: &NatGatewayId) -> NatGateway {
        self.now().nat_gateways[id].clone()
    }

    pub(super) fn table(&self, vpc: &VpcId) -> RouteTableId {
        let change = Change::CreateRouteTable { vpc: vpc.clone(), tags: Tags::new(), token: String::new() };
        only(&self.done(&change).route_tables)
    }

    pub(super) fn route_table(&self, id: &RouteTableId) -> RouteTable {
        self.now().route_tables[id].clone()
    }

    pub(super) fn group(&self, vpc: &VpcId, name: &str) -> SecurityGroupId {
        only(&self.done(&new_group(vpc, name)).security_groups)
    }
}

pub(super) fn dns(vpc: &VpcId, attribute: DnsAttribute, enabled: bool) -> Change {
    Change::ModifyVpcAttribute { vpc: vpc.clone(), attribute, enabled }
}

pub(super) fn new_subnet(vpc: &VpcId, zone: usize, cidr: &str) -> Change {
    Change::CreateSubnet {
        vpc: vpc.clone(),
        zone: Zone::new(ZONES[zone]),
        cidr: cidr.parse().expect("a range"),
        ipv6: None,
        tags: Tags::new(),
    }
}

pub(super) fn new_nat(subnet: &SubnetId, allocation: &AllocationId, token: &str) -> Change {
    Change::CreateNatGateway {
        subnet: subnet.clone(),
        allocation: allocation.clone(),
        tags: Tags::new(),
        token: token.to_owned(),
    }
}

pub(super) fn new_group(vpc: &VpcId, name: &str) -> Change {
    Change::CreateSecurityGroup {
        vpc: vpc.clone(),
        name: name.to_owned(),
        description: "a group".to_owned(),
        tags: Tags::new(),
    }
}

pub(super) fn delete_vpc(vpc: &VpcId) -> Change {
    Change::DeleteVpc { vpc: vpc.clone() }
}

pub(super) fn delete_subnet(subnet: &SubnetId) -> Change {
    Change::DeleteSubnet { subnet: subnet.clone() }
}
