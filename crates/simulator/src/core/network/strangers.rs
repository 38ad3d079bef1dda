//! What a test does to a network: parts that others made there, and parts that others take away.

use super::balancers::description;
use super::interfaces::NewInterfaceOf;
use super::part::Part;
use super::state::Network;
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use foo_model::network::{
    Address, EgressOnlyGateway, Endpoint, Interface, InternetGateway, LoadBalancer, LoadBalancerKind,
    NatGateway, RouteTable, SecurityGroup, Subnet, Tags, TargetGroup,
};
use foo_model::{
    AllocationId, EgressOnlyGatewayId, EndpointId, InterfaceId, InternetGatewayId, NatGatewayId,
    RouteTableId, SecurityGroupId, SubnetId,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// An interface that somebody made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewInterface {
    /// Its subnet.
    pub subnet: SubnetId,
    /// Its security groups; the VPC's default one if there are none.
    #[serde(default)]
    pub groups: BTreeSet<SecurityGroupId>,
    /// Its description.
    #[serde(default)]
    pub description: String,
    /// Whether an AWS service made it.
    #[serde(default)]
    pub requester_managed: bool,
    /// Whether it is attached to something.
    #[serde(default)]
    pub in_use: bool,
    /// The public address that it has.
    #[serde(default)]
    pub public_ip: Option<String>,
    /// Its tags.
    #[serde(default)]
    pub tags: Tags,
}

/// A load balancer that somebody made, with an interface in each of its subnets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewLoadBalancer {
    /// Its name.
    pub name: String,
    /// Its type.
    pub kind: LoadBalancerKind,
    /// Its subnets; at least one.
    pub subnets: BTreeSet<SubnetId>,
    /// Its security groups.
    #[serde(default)]
    pub groups: BTreeSet<SecurityGroupId>,
    /// Whether it has public addresses.
    #[serde(default)]
    pub internet_facing: bool,
    /// Whether it refuses to be deleted.
    #[serde(default)]
    pub deletion_protection: bool,
    /// Names of target groups that are made with it.
    #[serde(default)]
    pub target_groups: BTreeSet<String>,
    /// Its tags, and those of its target groups.
    #[serde(default)]
    pub tags: Tags,
}

/// How a type of load balancer appears in ARNs and in the type of its interfaces.
fn words_of(kind: LoadBalancerKind) -> (&'static str, &'static str) {
    match kind {
        LoadBalancerKind::Classic => ("", "interface"),
        LoadBalancerKind::Application => ("app/", "interface"),
        LoadBalancerKind::Network => ("net/", "network_load_balancer"),
        LoadBalancerKind::Gateway => ("gwy/", "gateway_load_balancer"),
    }
}

impl Region {
    /// Takes away everything but zones: a region whose default VPC was deleted.
    pub fn empty_network(&mut self) {
        self.network = Network::of_zones(&self.name, self.settings.read_lag);
        self.network.advance(self.now);
    }

    /// Puts somebody's network interface into a subnet and returns its id.
    ///
    /// # Errors
    /// The subnet does not exist or is full.
    pub fn put_stranger_interface(&mut self, new: NewInterface) -> AwsResult<InterfaceId> {
        let vpc = self.part::<Subnet>(&new.subnet)?.vpc.clone();
        let mut groups = new.groups;
        if groups.is_empty() {
            groups.extend(self.network.default_group(vpc.as_str()));
        }
        let id: InterfaceId = self.new_id("eni");
        let of = NewInterfaceOf {
            subnet: new.subnet,
            groups,
            description: new.description,
            interface_type: "interface",
            requester_managed: new.requester_managed,
        };
        self.network.add_interface(id.clone(), of).ok_or_else(full)?;
        if let Some(interface) = self.network.interfaces.get_mut(&id) {
            interface.in_use = new.in_use;
            interface.public_ip = new.public_ip;
            interface.tags = new.tags;
        }
        Ok(id)
    }

    /// Puts a load balancer there and returns its ARN, or the name of a classic one.
    ///
    /// # Errors
    /// A subnet does not exist or is full; there is no subnet.
    pub fn put_load_balancer(&mut self, new: NewLoadBalancer) -> AwsResult<String> {
        let first = new.subnets.first().ok_or_else(|| AwsError::missing("Subnets"))?;
        let vpc = self.part::<Subnet>(first)?.vpc.clone();
        let (path, interface_type) = words_of(new.kind);
        let digits = |chance: String| chance.chars().rev().take(16).collect::<String>();
        let tail = digits(self.network_chance.id("x"));
        let arn_of = |region: &Self, kind: &str, path: String| {
            format!("arn:aws:elasticloadbalancing:{}:{}:{kind}/{path}", region.name, region.account)
        };
        let arn = (new.kind != LoadBalancerKind::Classic)
            .then(|| arn_of(self, "loadbalancer", format!("{path}{}/{tail}", new.name)));
        let balancer = LoadBalancer {
            name: new.name,
            arn,
            kind: new.kind,
            vpc: vpc.clone(),
            groups: new.groups,
            tags: new.tags.clone(),
        };
        for subnet in &new.subnets {
            self.add_balancer_interface(&balancer, subnet, interface_type, new.internet_facing)?;
        }
        let key = balancer.id();
        if new.deletion_protection {
            self.network.protected_balancers.insert(key.clone());
        }
        for name in new.target_groups {
            let arn = arn_of(self, "targetgroup", format!("{name}/{tail}"));
            self.network.targeted.insert(arn.clone(), key.clone());
            let group = TargetGroup { arn, name, vpc: vpc.clone(), tags: new.tags.clone() };
            self.network.put_new(group, self.now);
        }
        self.network.put_new(balancer, self.now);
        Ok(key)
    }

    fn add_balancer_interface(
        &mut self,
        balancer: &LoadBalancer,
        subnet: &SubnetId,
        interface_type: &'static str,
        internet_facing: bool,
    ) -> AwsResult<()> {
        self.part::<Subnet>(subnet)?;
        let id: InterfaceId = self.new_id("eni");
        let new = NewInterfaceOf {
            subnet: subnet.clone(),
            groups: balancer.groups.clone(),
            description: description(balancer),
            interface_type,
            requester_managed: true,
        };
        self.network.add_interface(id.clone(), new).ok_or_else(full)?;
        // The addresses of load balancers are Amazon's own; only that there is one matters here.
        if let Some(interface) = self.network.interfaces.get_mut(&id).filter(|_| internet_facing) {
            interface.public_ip = Some(interface.private_ip.replacen("10.", "18.", 1));
        }
        Ok(())
    }

    /// Somebody deletes a part by hand, whatever is in it or uses it; calls that ask for it find nothing, at once.
    ///
    /// # Errors
    /// There is no part of this id.
    pub fn delete_behind_back(&mut self, id: &str) -> AwsResult<()> {
        match id.split('-').next().unwrap_or_default() {
            "subnet" => {
                let subnet = gone::<Subnet>(self, id)?;
                self.forget_subnet(&subnet);
            }
            "igw" => {
                let gateway: InternetGatewayId = gone::<InternetGateway>(self, id)?;
                self.take_internet_gateway_off(&gateway);
                self.network.remove::<InternetGateway>(&gateway);
            }
            "eigw" => {
                let gateway: EgressOnlyGatewayId = gone::<EgressOnlyGateway>(self, id)?;
                self.delete_egress_only_gateway(&gateway)?;
            }
            "eipalloc" => {
                let address: AllocationId = gone::<Address>(self, id)?;
                self.network.remove::<Address>(&address);
            }
            "nat" => {
                let gateway: NatGatewayId = gone::<NatGateway>(self, id)?;
                self.nat_gateway_deleted(&gateway);
            }
            "rtb" => {
                let table: RouteTableId = gone::<RouteTable>(self, id)?;
                self.forget_route_table(&table);
            }
            "sg" => {
                let group: SecurityGroupId = gone::<SecurityGroup>(self, id)?;
                self.network.remove::<SecurityGroup>(&group);
            }
            "vpce" => {
                let endpoint: EndpointId = gone::<Endpoint>(self, id)?;
                self.endpoint_deleted(&endpoint);
            }
            "eni" => {
                let interface: InterfaceId = gone::<Interface>(self, id)?;
                self.network.remove_interface(&interface);
            }
            _ => return Err(AwsError::invalid_value(format!("No part of a network has the id {id}."))),
        }
        Ok(())
    }
}

/// The id of a part that is there.
fn gone<T: Part>(region: &Region, id: &str) -> AwsResult<T::Id> {
    let id = T::Id::from(id.to_owned());
    region.network.get::<T>(&id).map(Part::id).ok_or_else(|| T::WORDS.not_found(&id))
}

fn full() -> AwsError {
    AwsError::new("InsufficientFreeAddressesInSubnet", "The subnet has no free addresses.")
}
