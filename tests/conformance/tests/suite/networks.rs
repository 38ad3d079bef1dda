//! The life of a network through the Rust SDK, as the provider asks for it: of the simulator and of moto.

use crate::sdk::{Moto, REGION, World, differ_only_in, here};
use anyhow::{Context as _, Result};
use foo_cloud::Networks;
use foo_model::network::{
    Change, Destination, DnsAttribute, EndpointKind, Kind, NatState, Parts, Peer, Protocol, RouteTarget,
    Rule, Scope, SubnetAttribute, Tags,
};
use foo_model::{
    AllocationId, InternetGatewayId, NatGatewayId, RouteTableId, SecurityGroupId, SubnetId, VpcId,
};
use foo_simulator::{Handle, SimulatorConfig};
use std::collections::BTreeSet;

const TAG: &str = "infrastructure.foo.com/network";

/// Where moto's results differ, and why moto is wrong ("API" is the EC2 API Reference, "Guide" the VPC User
/// Guide).
const DEVIATIONS: [(&str, &str); 12] = [
    (
        "the same with its token",
        "API, CreateNatGateway: a repeated ClientToken makes nothing new; moto refuses the address",
    ),
    (
        "the table with its token",
        "API, CreateRouteTable: a repeated ClientToken makes nothing new; moto makes another table",
    ),
    (
        "revoke the rule for the group itself",
        "API, RevokeSecurityGroupIngress: descriptions are not compared",
    ),
    ("the subnet first", "Guide, Delete subnets: what has interfaces in it stays; moto does not check it"),
    (
        "the address first",
        "Guide, NAT gateways: the address belongs to them until they are deleted; moto releases it",
    ),
    ("release the address", "follows from the release that moto let pass before"),
    ("delete the subnet", "follows from the deletion that moto let pass before"),
    (
        "delete the table that it had",
        "an association goes with its subnet (kOps relies on it); moto keeps it",
    ),
    ("delete the table again", "follows from the refusal before"),
    ("delete the VPC", "follows from the tables that moto has left"),
    ("delete the VPC again", "follows from the tables that moto has left"),
    ("nothing is left", "follows from the tables that moto has left"),
];

/// Ids of what was created.
struct Network {
    vpc: VpcId,
    subnet: SubnetId,
    gateway: InternetGatewayId,
    address: AllocationId,
    nat: NatGatewayId,
    table: RouteTableId,
    group: SecurityGroupId,
}

fn tags() -> Tags {
    [(TAG.to_owned(), "n1".to_owned()), ("Name".to_owned(), "net".to_owned())].into()
}

fn everywhere() -> Result<Destination> {
    Ok(Destination::V4("0.0.0.0/0".parse()?))
}

/// Whom a rule is about, without ids.
fn peer(rule: &Rule) -> String {
    match &rule.peer {
        Peer::V4(range) => range.to_string(),
        Peer::V6(range) => range.to_string(),
        Peer::Group(_) => "the group itself".to_owned(),
        Peer::Prefixes(_) => "prefixes".to_owned(),
    }
}

/// The first of what a change made.
fn first<K: Clone + Ord, V>(made: &std::collections::BTreeMap<K, V>) -> Result<K> {
    made.keys().next().cloned().context("the response shows nothing new")
}

impl World {
    /// A change that must succeed everywhere, since what follows needs it.
    async fn makes(&mut self, step: &str, change: Change) -> Result<Parts> {
        let made = self.cloud.change_network(&change).await.with_context(|| step.to_owned())?;
        self.note(step, Ok("done".to_owned()));
        Ok(made)
    }

    /// A change of which is noted what came of it.
    async fn tries(&mut self, step: &str, change: Change) {
        let outcome = self.cloud.change_network(&change).await;
        self.note(step, outcome.map(|_| "done".to_owned()));
    }

    /// The test's own parts of a kind, as far as they are the same in every AWS.
    async fn sees(&mut self, step: &str, kind: Kind, show: impl Fn(&Parts) -> String) {
        let found = self.cloud.describe_network(kind, &Scope::TagKey(TAG.to_owned())).await;
        self.note(step, found.map(|parts| show(&parts)));
    }

    async fn lives_through_a_network(&mut self) -> Result<()> {
        let (vpc, subnet) = self.vpc_with_subnet().await?;
        let (gateway, address, nat) = self.gateways(&vpc, &subnet).await?;
        let table = self.routes(&vpc, &subnet, &gateway, &nat).await?;
        let group = self.security_group(&vpc).await?;
        self.endpoint(&vpc, &table).await;
        self.tags(&vpc).await;
        self.deletes(Network { vpc, subnet, gateway, address, nat, table, group }).await
    }

    async fn vpc_with_subnet(&mut self) -> Result<(VpcId, SubnetId)> {
        let change = Change::CreateVpc { cidr: "10.9.0.0/16".parse()?, ipv6: false, tags: tags() };
        let vpc = first(&self.makes("a VPC", change).await?.vpcs)?;
        self.wait(10);
        self.sees("the VPC", Kind::Vpc, |parts| {
            let show = |it: &foo_model::network::Vpc| {
                let ranges: Vec<_> = it.cidrs.iter().map(|it| (it.range, it.state)).collect();
                format!("{} {ranges:?} {} {:?}", it.cidr, it.available, it.tags)
            };
            parts.vpcs.values().map(show).collect()
        })
        .await;
        for attribute in [DnsAttribute::Support, DnsAttribute::Hostnames] {
            let change = Change::ModifyVpcAttribute { vpc: vpc.clone(), attribute, enabled: true };
            self.tries(&format!("{attribute:?} of the VPC"), change).await;
        }
        let ids = Scope::Ids([vpc.to_string()].into());
        let known = self.cloud.describe_network(Kind::VpcAttributes, &ids).await;
        self.note(
            "attributes of the VPC",
            known.map(|parts| {
                parts
                    .vpcs
                    .values()
                    .map(|it| format!("{:?} {:?}", it.dns_support, it.dns_hostnames))
                    .collect::<Vec<_>>()
                    .concat()
            }),
        );

        let subnet = |cidr: &str| -> Result<Change> {
            let zone = format!("{REGION}a").into();
            Ok(Change::CreateSubnet { vpc: vpc.clone(), zone, cidr: cidr.parse()?, ipv6: None, tags: tags() })
        };
        let made = first(&self.makes("a subnet", subnet("10.9.0.0/20")?).await?.subnets)?;
        self.tries("a subnet of the same range", subnet("10.9.8.0/24")?).await;
        self.tries("a subnet outside of the VPC", subnet("10.10.0.0/24")?).await;
        self.wait(10);
        let attribute = SubnetAttribute::PublicIpOnLaunch;
        let change = Change::ModifySubnetAttribute { subnet: made.clone(), attribute, enabled: true };
        self.tries("public addresses in the subnet", change).await;
        self.sees("the subnet", Kind::Subnet, |parts| {
            let show = |it: &foo_model::network::Subnet| {
                format!(
                    "{} {} {} {} {}",
                    it.cidr, it.zone, it.state, it.free_addresses, it.public_ip_on_launch
                )
            };
            parts.subnets.values().map(show).collect()
        })
        .await;
        Ok((vpc, made))
    }

    async fn gateways(
        &mut self,
        vpc: &VpcId,
        subnet: &SubnetId,
    ) -> Result<(InternetGatewayId, AllocationId, NatGatewayId)> {
        let made = self.makes("an internet gateway", Change::CreateInternetGateway { tags: tags() }).await?;
        let gateway = first(&made.internet_gateways)?;
        let attach = Change::AttachInternetGateway { gateway: gateway.clone(), vpc: vpc.clone() };
        self.makes("attach it", attach.clone()).await?;
        self.tries("attach it again", attach).await;
        self.sees("the internet gateway", Kind::InternetGateway, |parts| {
            parts.internet_gateways.values().map(|it| (it.vpc.as_ref() == Some(vpc)).to_string()).collect()
        })
        .await;
        let made = self.makes("an address", Change::AllocateAddress { tags: tags() }).await?;
        let address = first(&made.addresses)?;
        let change = Change::CreateNatGateway {
            subnet: subnet.clone(),
            allocation: address.clone(),
            tags: tags(),
            token: "nat".into(),
        };
        let nat = first(&self.makes("a NAT gateway", change.clone()).await?.nat_gateways)?;
        let again = self.cloud.change_network(&change).await;
        self.note(
            "the same with its token",
            again.map(|made| made.nat_gateways.contains_key(&nat).to_string()),
        );
        self.wait(300);
        self.sees("NAT gateways", Kind::NatGateway, |parts| {
            let own = parts.nat_gateways.values().filter(|it| it.allocations.contains(&address));
            own.map(|it| format!("{:?} {}", it.state, &it.subnet == subnet)).collect::<Vec<_>>().concat()
        })
        .await;
        self.sees("the address", Kind::Address, |parts| {
            parts.addresses.values().map(|it| it.interface.is_some().to_string()).collect()
        })
        .await;
        Ok((gateway, address, nat))
    }

    async fn routes(
        &mut self,
        vpc: &VpcId,
        subnet: &SubnetId,
        gateway: &InternetGatewayId,
        nat: &NatGatewayId,
    ) -> Result<RouteTableId> {
        let change = Change::CreateRouteTable { vpc: vpc.clone(), tags: tags(), token: "table".into() };
        let table = first(&self.makes("a route table", change.clone()).await?.route_tables)?;
        let again = self.cloud.change_network(&change).await;
        self.note(
            "the table with its token",
            again.map(|made| made.route_tables.contains_key(&table).to_string()),
        );
        let to = |target| -> Result<Change> {
            Ok(Change::CreateRoute { table: table.clone(), destination: everywhere()?, target })
        };
        self.makes("a route", to(RouteTarget::InternetGateway(gateway.clone()))?).await?;
        self.tries("another route to there", to(RouteTarget::NatGateway(nat.clone()))?).await;
        let target = RouteTarget::NatGateway(nat.clone());
        let change = Change::ReplaceRoute { table: table.clone(), destination: everywhere()?, target };
        self.makes("replace the route", change).await?;
        let change = Change::AssociateRouteTable { table: table.clone(), subnet: subnet.clone() };
        self.makes("associate the table", change).await?;
        self.sees("the table", Kind::RouteTable, |parts| {
            let Some(found) = parts.route_tables.get(&table) else { return "none".to_owned() };
            let to_nat = found.routes.iter().any(|it| it.target == RouteTarget::NatGateway(nat.clone()));
            let subnets: Vec<_> = found.associations.iter().map(|it| &it.subnet == subnet).collect();
            format!(
                "{} routes, one to the NAT gateway: {to_nat}; {subnets:?} {}",
                found.routes.len(),
                found.main
            )
        })
        .await;
        Ok(table)
    }

    async fn security_group(&mut self, vpc: &VpcId) -> Result<SecurityGroupId> {
        let change = Change::CreateSecurityGroup {
            vpc: vpc.clone(),
            name: "node".into(),
            description: "nodes".into(),
            tags: tags(),
        };
        let group = first(&self.makes("a security group", change.clone()).await?.security_groups)?;
        self.tries("a security group of that name", change).await;
        let rule = |protocol, peer, text: &str| Rule { protocol, peer, description: text.into() };
        let rules: BTreeSet<Rule> = [
            rule(Protocol::All, Peer::Group(group.clone()), "nodes"),
            rule(Protocol::Tcp(443, 443), Peer::V4("10.9.0.0/16".parse()?), ""),
            rule(Protocol::Udp(53, 53), Peer::V6("2001:db8::/32".parse()?), "names"),
        ]
        .into();
        let change = Change::AuthorizeSecurityGroupIngress { group: group.clone(), rules: rules.clone() };
        self.makes("rules", change.clone()).await?;
        self.tries("the same rules", change).await;
        self.sees("the rules", Kind::SecurityGroup, |parts| {
            parts.security_groups.get(&group).map_or_else(
                || "none".to_owned(),
                |it| format!("{} {} {}", it.name, it.ingress == rules, it.egress.len()),
            )
        })
        .await;
        for rule in rules {
            let step = format!("revoke the rule for {}", peer(&rule));
            let change = Change::RevokeSecurityGroupIngress { group: group.clone(), rules: [rule].into() };
            self.tries(&step, change.clone()).await;
            self.tries(&format!("{step} again"), change).await;
        }
        Ok(group)
    }

    async fn endpoint(&mut self, vpc: &VpcId, table: &RouteTableId) {
        let change = Change::CreateVpcEndpoint {
            vpc: vpc.clone(),
            service: format!("com.amazonaws.{REGION}.s3"),
            kind: EndpointKind::Gateway { tables: [table.clone()].into() },
            tags: tags(),
            token: "s3".into(),
        };
        let made = self.cloud.change_network(&change).await;
        let endpoints: BTreeSet<_> = made.iter().flat_map(|made| made.endpoints.keys().cloned()).collect();
        self.note("an endpoint", made.map(|made| made.endpoints.len().to_string()));
        self.sees("the endpoint", Kind::Endpoint, |parts| {
            let show = |it: &foo_model::network::Endpoint| format!("{} {:?}", it.service, it.state);
            parts.endpoints.values().map(show).collect()
        })
        .await;
        self.tries("delete the endpoint", Change::DeleteVpcEndpoints { endpoints }).await;
        self.wait(300);
    }

    async fn tags(&mut self, vpc: &VpcId) {
        let ids = || [vpc.to_string()].into();
        let team: Tags = [("team".to_owned(), "a".to_owned())].into();
        self.tries("another tag", Change::CreateTags { ids: ids(), tags: team }).await;
        self.tries("a name less", Change::DeleteTags { ids: ids(), keys: ["Name".to_owned()].into() }).await;
        self.sees("tags of the VPC", Kind::Vpc, |parts| {
            parts.vpcs.values().map(|it| format!("{:?}", it.tags)).collect::<Vec<_>>().concat()
        })
        .await;
    }

    async fn deletes(&mut self, network: Network) -> Result<()> {
        let Network { vpc, subnet, gateway, address, nat, table, group } = network;
        self.tries("the VPC first", Change::DeleteVpc { vpc: vpc.clone() }).await;
        self.tries("the subnet first", Change::DeleteSubnet { subnet: subnet.clone() }).await;
        self.tries("the address first", Change::ReleaseAddress { allocation: address.clone() }).await;
        self.tries("the table first", Change::DeleteRouteTable { table: table.clone() }).await;
        self.makes("delete the NAT gateway", Change::DeleteNatGateway { gateway: nat.clone() }).await?;
        self.wait(300);
        self.sees("the NAT gateway is deleted", Kind::NatGateway, |parts| {
            let state = parts.nat_gateways.get(&nat).map(|it| it.state);
            state.is_none_or(|state| state == NatState::Deleted).to_string()
        })
        .await;
        self.tries("release the address", Change::ReleaseAddress { allocation: address.clone() }).await;
        self.tries("release it again", Change::ReleaseAddress { allocation: address }).await;
        let detach = Change::DetachInternetGateway { gateway: gateway.clone(), vpc: vpc.clone() };
        self.tries("delete an attached gateway", Change::DeleteInternetGateway { gateway: gateway.clone() })
            .await;
        self.tries("detach it", detach.clone()).await;
        self.tries("detach it again", detach).await;
        self.tries("delete the gateway", Change::DeleteInternetGateway { gateway: gateway.clone() }).await;
        self.tries("delete it again", Change::DeleteInternetGateway { gateway }).await;
        self.tries("delete the subnet", Change::DeleteSubnet { subnet: subnet.clone() }).await;
        self.tries("delete the subnet again", Change::DeleteSubnet { subnet }).await;
        self.tries("delete the table that it had", Change::DeleteRouteTable { table: table.clone() }).await;
        self.tries("delete the table again", Change::DeleteRouteTable { table }).await;
        self.tries("delete the group", Change::DeleteSecurityGroup { group: group.clone() }).await;
        self.tries("delete the group again", Change::DeleteSecurityGroup { group }).await;
        self.tries("delete the VPC", Change::DeleteVpc { vpc: vpc.clone() }).await;
        self.tries("delete the VPC again", Change::DeleteVpc { vpc: vpc.clone() }).await;
        let left = self.cloud.describe_network(Kind::Vpc, &Scope::Ids([vpc.to_string()].into())).await;
        self.note("nothing is left", left.map(|left| (left == Parts::default()).to_string()));
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moto_creates_networks_differently_only_where_it_deviates_from_aws() -> Result<()> {
    let aws = Handle::start(SimulatorConfig::stepped()).await?;
    let mut moto = Moto::start().await?;
    let mut simulated = World::new(here(aws.endpoint()), Some(aws.simulator().clone())).await?;
    let mut of_moto = World::new(moto.place.take().context("no place")?, None).await?;
    simulated.lives_through_a_network().await.context("foo-sim")?;
    of_moto.lives_through_a_network().await.context("moto")?;
    differ_only_in(&DEVIATIONS, &simulated, &of_moto);
    Ok(())
}
