//! Changes of a network that other users or services make: tests cause them.

use super::balancers::description;
use super::interfaces::NewInterfaceOf;
use super::part::Part;
use super::state::Network;
use super::view::Networking;
use crate::core::error::{AwsError, AwsResult};
use foo_model::network::{
    Address, EgressOnlyGateway, Endpoint, Interface, InternetGateway, LoadBalancer, LoadBalancerKind,
    NatGateway, RouteTable, SecurityGroup, Subnet, Tags, TargetGroup, Vpc,
};
use foo_model::{InterfaceId, SecurityGroupId, SubnetId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::net::Ipv4Addr;

/// The first public address of load balancers; these addresses belong to Amazon.
const BALANCERS: Ipv4Addr = Ipv4Addr::new(18, 184, 0, 0);

/// An interface of another user or service.
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
    /// Whether an AWS service created it.
    #[serde(default)]
    pub requester_managed: bool,
    /// Whether it is attached (`in-use`).
    #[serde(default)]
    pub in_use: bool,
    /// Its public address.
    #[serde(default)]
    pub public_ip: Option<String>,
    /// Its tags.
    #[serde(default)]
    pub tags: Tags,
}

/// A load balancer of another user or controller, with an interface in each of its subnets.
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
    /// Whether it has deletion protection.
    #[serde(default)]
    pub deletion_protection: bool,
    /// Names of target groups that are created with it.
    #[serde(default)]
    pub target_groups: BTreeSet<String>,
    /// Its tags, and those of its target groups.
    #[serde(default)]
    pub tags: Tags,
}

/// The name of a type of load balancer in ARNs, and the type of its interfaces.
fn words_of(kind: LoadBalancerKind) -> (&'static str, &'static str) {
    match kind {
        LoadBalancerKind::Classic => ("", "interface"),
        LoadBalancerKind::Application => ("app/", "interface"),
        LoadBalancerKind::Network => ("net/", "network_load_balancer"),
        LoadBalancerKind::Gateway => ("gwy/", "gateway_load_balancer"),
    }
}

impl Networking<'_> {
    /// Removes everything except zones, as in a region whose default VPC was deleted.
    pub(crate) fn empty(&mut self) {
        *self.network = Network::of_zones(self.name, self.settings.read_lag);
        self.network.advance(self.now);
    }

    /// Adds a network interface of another user to a subnet, and returns its id.
    ///
    /// # Errors
    /// The subnet does not exist or is full.
    pub(crate) fn put_interface(&mut self, new: NewInterface) -> AwsResult<InterfaceId> {
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

    /// Adds a load balancer, and returns its ARN, or the name of a classic one.
    ///
    /// # Errors
    /// A subnet does not exist or is full, or the load balancer has none.
    pub(crate) fn put_load_balancer(&mut self, new: NewLoadBalancer) -> AwsResult<String> {
        let first = new.subnets.first().ok_or_else(|| AwsError::missing("Subnets"))?;
        let vpc = self.part::<Subnet>(first)?.vpc.clone();
        let (path, interface_type) = words_of(new.kind);
        let digits = |chance: String| chance.chars().rev().take(16).collect::<String>();
        let tail = digits(self.chance.id("x"));
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
        let n = u32::try_from(self.network.interfaces.len()).unwrap_or(0);
        if let Some(interface) = self.network.interfaces.get_mut(&id).filter(|_| internet_facing) {
            interface.public_ip = Some(Ipv4Addr::from(u32::from(BALANCERS).wrapping_add(n)).to_string());
        }
        Ok(())
    }

    /// Deletes a part as another user would, after removing what AWS requires to be removed first: attachments,
    /// associations, rules that refer to it. A NAT gateway or an endpoint is deleted at once.
    ///
    /// # Errors
    /// There is no part with this id, or it contains other parts: AWS's refusal.
    pub(crate) fn delete_as_another_user(&mut self, id: &str) -> AwsResult<()> {
        match id.split('-').next().unwrap_or_default() {
            "vpc" => self.delete_vpc(&present::<Vpc>(self, id)?).map(drop),
            "subnet" => self.delete_subnet(&present::<Subnet>(self, id)?).map(drop),
            "igw" => {
                let gateway = present::<InternetGateway>(self, id)?;
                self.detach_from_vpc(&gateway);
                self.delete_internet_gateway(&gateway).map(drop)
            }
            "eigw" => self.delete_egress_only_gateway(&present::<EgressOnlyGateway>(self, id)?).map(drop),
            "eipalloc" => {
                let address = present::<Address>(self, id)?;
                self.network.disassociate_address(&address);
                self.release_address(&address).map(drop)
            }
            "nat" => {
                let gateway = present::<NatGateway>(self, id)?;
                self.nat_gateway_deleted(&gateway);
                Ok(())
            }
            "rtb" => {
                let table = present::<RouteTable>(self, id)?;
                if let Some(table) = self.network.route_tables.get_mut(&table).filter(|table| !table.main) {
                    table.associations.clear();
                }
                self.delete_route_table(&table).map(drop)
            }
            "sg" => {
                let group = present::<SecurityGroup>(self, id)?;
                self.network.forget_rules_of(&group);
                self.delete_security_group(&group).map(drop)
            }
            "vpce" => {
                let endpoint = present::<Endpoint>(self, id)?;
                self.endpoint_deleted(&endpoint);
                Ok(())
            }
            "eni" => {
                let interface = present::<Interface>(self, id)?;
                if let Some(interface) =
                    self.network.interfaces.get_mut(&interface).filter(|it| it.instance.is_none())
                {
                    interface.in_use = false;
                }
                self.delete_network_interface(&interface).map(drop)
            }
            _ => Err(AwsError::invalid_value(format!("No part of a network has the id {id}."))),
        }
    }
}

/// The id of an existing part.
fn present<T: Part>(net: &Networking<'_>, id: &str) -> AwsResult<T::Id> {
    let id = T::Id::from(id.to_owned());
    net.network.get::<T>(&id).map(Part::id).ok_or_else(|| T::WORDS.not_found(&id))
}

fn full() -> AwsError {
    AwsError::new("InsufficientFreeAddressesInSubnet", "The subnet has no free addresses.")
}
