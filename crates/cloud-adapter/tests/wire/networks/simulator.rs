//! The life of a network through the real SDK against the simulator's wire, with the rights of the generated policies and no
//! others. After each change, every read must equal that of the simulator's own implementation of the trait.

use crate::canned::settings;
use crate::shapes::tags;
use foo_cloud::{CloudError, Compute as _, ErrorKind, Networks, VcpuQuota};
use foo_cloud_adapter::{AwsCloud, AwsSettings, Timeouts};
use foo_model::names::{TAG_CLUSTER, TAG_NETWORK};
use foo_model::network::{
    Change, Destination, DnsAttribute, EndpointChange, EndpointKind, Kind, LoadBalancerKind, Parts, Peer,
    Protocol, RouteTarget, Rule, Scope, SubnetAttribute, Tags,
};
use foo_model::{
    AllocationId, InternetGatewayId, NatGatewayId, RouteTableId, SecurityGroupId, SubnetId, VpcId,
};
use foo_simulator::core::mishaps::QuotaClass;
use foo_simulator::core::network::{NewInterface, NewLoadBalancer, PUBLIC_SUBNETS, VPC};
use foo_simulator::{AccessKey, Fault, FaultRule, Handle, Policy, RegionHandle, SimCloud, SimulatorConfig};
use std::collections::BTreeSet;
use std::time::Duration;
use strum::IntoEnumIterator as _;

const REGION: &str = "eu-central-1";
const POOLS: &str = include_str!("../../../../../docs/reference/iam-policy.json");
const NETWORKS: &str = include_str!("../../../../../docs/reference/iam-network-policy.json");
const LEFTOVERS: &str = include_str!("../../../../../docs/reference/iam-leftovers-policy.json");

/// The simulator, the adapter in front of its wire, and its own implementation of the traits.
struct World {
    server: Handle,
    wire: AwsCloud,
    direct: SimCloud,
    region: RegionHandle,
}

impl World {
    /// With a key that has these policies.
    async fn with_rights(policies: &[&str]) -> Self {
        let server = Handle::start(SimulatorConfig::stepped()).await.unwrap();
        let settings = AwsSettings { timeouts: Timeouts::default(), ..settings(&server.endpoint()) };
        let key = AccessKey {
            id: "AKIAEXAMPLE".into(),
            secret: "example".into(),
            policy: Some(together(policies)),
        };
        server.simulator().put_key(key);
        let wire = AwsCloud::connect(settings).await.unwrap();
        let direct = server.simulator().cloud(REGION, "direct");
        let region = server.simulator().region(REGION);
        Self { server, wire, direct, region }
    }

    fn step(&self, seconds: u64) {
        self.server.simulator().step(Duration::from_secs(seconds));
    }

    /// Sends a change through the wire; then both sides see the same.
    async fn does(&self, change: Change) -> Parts {
        let made = self.wire.change_network(&change).await.unwrap_or_else(|error| panic!("{error}"));
        self.compare().await;
        made
    }

    async fn refused(&self, change: Change) -> CloudError {
        self.wire.change_network(&change).await.unwrap_err()
    }

    /// The parts of the test's scope, which both sides see alike.
    async fn compare(&self) -> Parts {
        let mut all = Parts::default();
        for kind in Kind::iter() {
            if !matches!(kind, Kind::VpcAttributes | Kind::LoadBalancer | Kind::TargetGroup) {
                merge(&mut all, self.same(kind, own_scope()).await);
            }
        }
        all
    }

    /// Everything in our VPCs and in the one that is not, which both sides see alike.
    async fn compare_vpcs(&self) {
        let vpcs: Vec<VpcId> = self.compare().await.vpcs.into_keys().collect();
        self.same(Kind::VpcAttributes, Scope::Ids(vpcs.iter().map(ToString::to_string).collect())).await;
        for vpc in vpcs.into_iter().chain([VPC.into()]) {
            for kind in Kind::iter().filter(|kind| *kind != Kind::VpcAttributes) {
                self.same(kind, Scope::Vpc(vpc.clone())).await;
            }
        }
    }

    async fn same(&self, kind: Kind, scope: Scope) -> Parts {
        let wire = self.wire.describe_network(kind, &scope).await.unwrap();
        let direct = self.direct.describe_network(kind, &scope).await.unwrap();
        assert_eq!(wire, direct, "{kind:?} {scope:?}");
        wire
    }
}

fn merge(all: &mut Parts, some: Parts) {
    all.vpcs.extend(some.vpcs);
    all.subnets.extend(some.subnets);
    all.internet_gateways.extend(some.internet_gateways);
    all.egress_only_gateways.extend(some.egress_only_gateways);
    all.addresses.extend(some.addresses);
    all.nat_gateways.extend(some.nat_gateways);
    all.route_tables.extend(some.route_tables);
    all.security_groups.extend(some.security_groups);
    all.endpoints.extend(some.endpoints);
}

/// One policy with the statements of several, as a role has them attached.
fn together(policies: &[&str]) -> Policy {
    let statements: Vec<serde_json::Value> = policies
        .iter()
        .flat_map(|text| {
            let policy: serde_json::Value = serde_json::from_str(text).unwrap();
            policy["Statement"].as_array().unwrap().clone()
        })
        .collect();
    serde_json::from_value(serde_json::json!({"Version": "2012-10-17", "Statement": statements})).unwrap()
}

fn own_scope() -> Scope {
    Scope::TagKey(TAG_NETWORK.into())
}

fn own() -> Tags {
    tags(&[(TAG_CLUSTER, "ns/c"), (TAG_NETWORK, "n1"), ("infrastructure.foo.com/role", "r")])
}

fn v4<T: std::str::FromStr<Err: std::fmt::Debug>>(range: &str) -> T {
    range.parse().unwrap()
}

fn everywhere() -> Destination {
    Destination::V4(v4("0.0.0.0/0"))
}

/// The ids of a network with everything in it.
struct Network {
    vpc: VpcId,
    subnet: SubnetId,
    gateway: InternetGatewayId,
    address: AllocationId,
    nat: NatGatewayId,
    table: RouteTableId,
    group: SecurityGroupId,
}

/// A VPC of two ranges and IPv6, with a subnet and an internet gateway.
async fn vpc_of(world: &World) -> (VpcId, SubnetId, InternetGatewayId) {
    let change = Change::CreateVpc { cidr: v4("10.8.0.0/16"), ipv6: true, tags: own() };
    let vpc = world.does(change).await.vpcs.into_keys().next().unwrap();
    world.step(10);
    for attribute in [DnsAttribute::Support, DnsAttribute::Hostnames] {
        world.does(Change::ModifyVpcAttribute { vpc: vpc.clone(), attribute, enabled: true }).await;
    }
    let attributes = Scope::Ids([vpc.to_string()].into());
    let known = world.wire.describe_network(Kind::VpcAttributes, &attributes).await.unwrap().vpcs;
    assert_eq!((known[&vpc].dns_support, known[&vpc].dns_hostnames), (Some(true), Some(true)));
    let made =
        world.does(Change::AssociateVpcCidrBlock { vpc: vpc.clone(), cidr: v4("100.64.0.0/16") }).await;
    world.step(10);
    let association = made.vpcs[&vpc].cidrs[0].id.clone();
    world.does(Change::DisassociateVpcCidrBlock { association }).await;

    let ipv6 = world.compare().await.vpcs[&vpc].ipv6[0].range;
    let ipv6 = ipnet::Ipv6Net::new(ipv6.network(), 64).unwrap();
    let change = Change::CreateSubnet {
        vpc: vpc.clone(),
        zone: format!("{REGION}a").into(),
        cidr: v4("10.8.0.0/20"),
        ipv6: None,
        tags: own(),
    };
    let subnet = world.does(change).await.subnets.into_keys().next().unwrap();
    world.step(10);
    world.does(Change::AssociateSubnetCidrBlock { subnet: subnet.clone(), ipv6 }).await;
    world.step(10);
    for attribute in [SubnetAttribute::PublicIpOnLaunch, SubnetAttribute::Ipv6OnCreation] {
        world.does(Change::ModifySubnetAttribute { subnet: subnet.clone(), attribute, enabled: true }).await;
    }

    let made = world.does(Change::CreateInternetGateway { tags: own() }).await;
    let gateway = made.internet_gateways.into_keys().next().unwrap();
    world.does(Change::AttachInternetGateway { gateway: gateway.clone(), vpc: vpc.clone() }).await;
    (vpc, subnet, gateway)
}

async fn network(world: &World) -> Network {
    let (vpc, subnet, gateway) = vpc_of(world).await;
    let made = world.does(Change::AllocateAddress { tags: own() }).await;
    let address = made.addresses.into_keys().next().unwrap();
    let nat = Change::CreateNatGateway {
        subnet: subnet.clone(),
        allocation: address.clone(),
        tags: own(),
        token: "nat".into(),
    };
    // The response is lost; with the token the SDK repeats the call and gets the same gateway.
    world.server.simulator().add_fault(FaultRule::on("CreateNatGateway", Fault::DroppedAfter).times(1));
    let made = world.does(nat.clone()).await.nat_gateways;
    assert_eq!(world.does(nat).await.nat_gateways, made);
    let nat = made.into_keys().next().unwrap();
    world.step(300);

    let table = Change::CreateRouteTable { vpc: vpc.clone(), tags: own(), token: "table".into() };
    let table = world.does(table).await.route_tables.into_keys().next().unwrap();
    let target = RouteTarget::InternetGateway(gateway.clone());
    world.does(Change::CreateRoute { table: table.clone(), destination: everywhere(), target }).await;
    let target = RouteTarget::NatGateway(nat.clone());
    world.does(Change::ReplaceRoute { table: table.clone(), destination: everywhere(), target }).await;
    let made = world.does(Change::AssociateRouteTable { table: table.clone(), subnet: subnet.clone() }).await;
    let association = made.route_tables[&table].associations[0].id.clone();
    let made = world.does(Change::ReplaceRouteTableAssociation { association, table: table.clone() }).await;
    assert_eq!(made.route_tables[&table].associations.len(), 1);

    let change = Change::CreateSecurityGroup {
        vpc: vpc.clone(),
        name: "node".into(),
        description: "nodes".into(),
        tags: own(),
    };
    let group = world.does(change).await.security_groups.into_keys().next().unwrap();
    rules(world, &group).await;
    world.compare_vpcs().await;
    Network { vpc, subnet, gateway, address, nat, table, group }
}

async fn rules(world: &World, group: &SecurityGroupId) {
    let rule = |protocol, peer, description: &str| Rule { protocol, peer, description: description.into() };
    let ingress: BTreeSet<Rule> = [
        rule(Protocol::All, Peer::Group(group.clone()), "nodes"),
        rule(Protocol::Tcp(443, 443), Peer::V4(v4("10.8.0.0/16")), ""),
        rule(Protocol::Icmpv6, Peer::V6(v4("2001:db8::/32")), ""),
    ]
    .into();
    let egress: BTreeSet<Rule> = [rule(Protocol::Udp(53, 53), Peer::V4(v4("10.0.0.2/32")), "names")].into();
    let (one, two) = (group.clone(), group.clone());
    world.does(Change::AuthorizeSecurityGroupIngress { group: one, rules: ingress.clone() }).await;
    world.does(Change::AuthorizeSecurityGroupEgress { group: two, rules: egress.clone() }).await;
    let seen = world.compare().await.security_groups.remove(group).unwrap();
    assert_eq!(seen.ingress, ingress);
    assert!(seen.egress.is_superset(&egress));
    let described: BTreeSet<Rule> = [
        rule(Protocol::All, Peer::Group(group.clone()), ""),
        rule(Protocol::Tcp(443, 443), Peer::V4(v4("10.8.0.0/16")), "the network"),
    ]
    .into();
    let one = group.clone();
    let change = Change::UpdateSecurityGroupRuleDescriptionsIngress { group: one, rules: described.clone() };
    world.does(change).await;
    let seen = world.compare().await.security_groups.remove(group).unwrap();
    assert!(seen.ingress.is_superset(&described) && seen.ingress.len() == 3, "{:?}", seen.ingress);
    let (one, two) = (group.clone(), group.clone());
    world.does(Change::RevokeSecurityGroupIngress { group: one, rules: ingress }).await;
    world.does(Change::RevokeSecurityGroupEgress { group: two, rules: egress }).await;
}

async fn delete(world: &World, network: Network) {
    let Network { vpc, subnet, gateway, address, nat, table, group } = network;
    world.does(Change::DeleteRoute { table: table.clone(), destination: everywhere() }).await;
    world.does(Change::DeleteNatGateway { gateway: nat }).await;
    let early = world.refused(Change::DeleteSubnet { subnet: subnet.clone() }).await;
    assert_eq!(early.kind, ErrorKind::InUse, "{early}");
    world.step(600);
    world.does(Change::ReleaseAddress { allocation: address }).await;
    let tables = world.compare().await.route_tables;
    let association = tables[&table].associations[0].id.clone();
    world.does(Change::DisassociateRouteTable { association }).await;
    world.does(Change::DeleteRouteTable { table }).await;
    world.does(Change::DeleteSecurityGroup { group }).await;
    world.does(Change::DetachInternetGateway { gateway: gateway.clone(), vpc: vpc.clone() }).await;
    world.does(Change::DeleteInternetGateway { gateway }).await;
    world.does(Change::DeleteSubnet { subnet }).await;
    world.does(Change::DeleteVpc { vpc: vpc.clone() }).await;
    let gone = world.wire.describe_network(Kind::Vpc, &Scope::Ids([vpc.to_string()].into())).await.unwrap();
    assert_eq!(gone, Parts::default());
}

#[tokio::test]
async fn a_network_comes_and_goes_with_the_rights_of_its_policies() {
    let world = World::with_rights(&[POOLS, NETWORKS]).await;
    let quotas = world.wire.quotas().await.unwrap();
    assert_eq!(quotas, world.direct.quotas().await.unwrap());
    assert!(quotas.vpcs.is_some() && quotas.nat_gateways.is_some(), "{quotas:?}");
    world.region.set_vcpu_quota(QuotaClass::Standard, Some(64)).unwrap();
    for (quota, vcpus) in [(VcpuQuota::Standard, Some(64)), (VcpuQuota::SpotStandard, None)] {
        assert_eq!(world.wire.vcpu_quota(quota).await.unwrap(), vcpus);
        assert_eq!(world.direct.vcpu_quota(quota).await.unwrap(), vcpus);
    }
    let network = network(&world).await;
    let ids = || [network.vpc.to_string(), network.subnet.to_string()].into();
    world.does(Change::CreateTags { ids: ids(), tags: tags(&[("team", "a")]) }).await;
    assert_eq!(world.compare().await.vpcs[&network.vpc].tags["team"], "a");
    world.does(Change::DeleteTags { ids: ids(), keys: ["team".to_owned()].into() }).await;
    let foreign =
        world.refused(Change::DeleteTags { ids: ids(), keys: [TAG_NETWORK.to_owned()].into() }).await;
    assert_eq!(foreign.kind, ErrorKind::Denied, "our own tags stay");
    delete(&world, network).await;
    world.step(7200);
    assert_eq!(world.compare().await, Parts::default());
}

#[tokio::test]
async fn endpoints_and_egress_only_gateways_come_and_go_with_the_rights_of_their_policies() {
    let world = World::with_rights(&[POOLS, NETWORKS]).await;
    let network = network(&world).await;
    let vpc = || network.vpc.clone();
    let change = Change::CreateEgressOnlyInternetGateway { vpc: vpc(), tags: own(), token: "eigw".into() };
    let gateway = world.does(change).await.egress_only_gateways.into_keys().next().unwrap();
    let (table, destination) = (network.table.clone(), Destination::V6(v4("::/0")));
    let target = RouteTarget::EgressOnlyGateway(gateway.clone());
    world.does(Change::CreateRoute { table: table.clone(), destination: destination.clone(), target }).await;
    world.does(Change::DeleteRoute { table: table.clone(), destination }).await;
    world.does(Change::DeleteEgressOnlyInternetGateway { gateway }).await;

    let endpoint = |service: &str, kind| Change::CreateVpcEndpoint {
        vpc: vpc(),
        service: format!("com.amazonaws.{REGION}.{service}"),
        kind,
        tags: own(),
        token: service.into(),
    };
    let gateway = EndpointKind::Gateway { tables: [table.clone()].into() };
    let s3 = world.does(endpoint("s3", gateway)).await.endpoints.into_keys().next().unwrap();
    let interface = EndpointKind::Interface {
        subnets: [network.subnet.clone()].into(),
        groups: [network.group.clone()].into(),
        private_dns: true,
    };
    let ec2 = world.does(endpoint("ec2", interface)).await.endpoints.into_keys().next().unwrap();
    world.step(300);
    world.compare_vpcs().await;
    let change = EndpointChange { remove_tables: [table].into(), ..EndpointChange::default() };
    world.does(Change::ModifyVpcEndpoint { endpoint: s3.clone(), change }).await;
    let change = EndpointChange { private_dns: Some(false), ..EndpointChange::default() };
    world.does(Change::ModifyVpcEndpoint { endpoint: ec2.clone(), change }).await;
    world.does(Change::DeleteVpcEndpoints { endpoints: [s3, ec2].into() }).await;
    world.step(600);
    delete(&world, network).await;
}

/// The generated policy without the statement about hosted zones: everything but private names.
#[tokio::test]
async fn private_names_of_endpoints_need_a_statement_of_their_own() {
    let mut policy: serde_json::Value = serde_json::from_str(NETWORKS).unwrap();
    let statements = policy["Statement"].as_array_mut().unwrap();
    let before = statements.len();
    statements.retain(|it| it["Sid"] != "NamesOfEndpoints");
    assert_eq!(statements.len(), before - 1);
    let world = World::with_rights(&[POOLS, &policy.to_string()]).await;
    let network = network(&world).await;
    let endpoint = |private_dns| Change::CreateVpcEndpoint {
        vpc: network.vpc.clone(),
        service: format!("com.amazonaws.{REGION}.ec2"),
        kind: EndpointKind::Interface {
            subnets: [network.subnet.clone()].into(),
            groups: [network.group.clone()].into(),
            private_dns,
        },
        tags: own(),
        token: format!("ec2-{private_dns}"),
    };
    let error = world.refused(endpoint(true)).await;
    assert_eq!(error.kind, ErrorKind::Denied);
    let begin = "the IAM action route53:AssociateVPCWithHostedZone is missing: You are not authorized";
    assert!(error.to_string().starts_with(begin), "{error}");
    world.does(endpoint(false)).await;
}

fn balancer(name: &str, kind: LoadBalancerKind, tags: Tags) -> NewLoadBalancer {
    NewLoadBalancer {
        name: name.into(),
        kind,
        subnets: [PUBLIC_SUBNETS[0].into()].into(),
        groups: [].into(),
        internet_facing: true,
        deletion_protection: false,
        target_groups: if kind == LoadBalancerKind::Classic { [].into() } else { [name.to_owned()].into() },
        tags,
    }
}

#[tokio::test]
async fn leftovers_are_deleted_by_the_tags_of_their_makers() {
    let world = World::with_rights(&[POOLS, NETWORKS, LEFTOVERS]).await;
    let controller = tags(&[("elbv2.k8s.aws/cluster", "c")]);
    let service = tags(&[("kubernetes.io/service-name", "ns/s"), ("kubernetes.io/cluster/c", "owned")]);
    let foreign = tags(&[("team", "x")]);
    for new in [
        balancer("web", LoadBalancerKind::Application, controller),
        balancer("old", LoadBalancerKind::Classic, service.clone()),
        balancer("net", LoadBalancerKind::Network, service),
        balancer("foreign", LoadBalancerKind::Network, foreign.clone()),
    ] {
        world.region.put_load_balancer(new).unwrap();
    }
    let interface = |tags: Tags| NewInterface {
        subnet: PUBLIC_SUBNETS[0].into(),
        groups: [].into(),
        description: "aws-K8S-i-1".into(),
        requester_managed: false,
        in_use: false,
        public_ip: None,
        tags,
    };
    let left = world
        .region
        .put_foreign_interface(interface(tags(&[("cluster.k8s.amazonaws.com/name", "c")])))
        .unwrap();
    let foreign = world.region.put_foreign_interface(interface(foreign)).unwrap();
    world.compare_vpcs().await;
    let scope = Scope::Vpc(VPC.into());
    let balancers = world.wire.describe_network(Kind::LoadBalancer, &scope).await.unwrap().load_balancers;
    assert_eq!(balancers.len(), 4);
    for it in balancers.into_values() {
        let change = Change::DeleteLoadBalancer { kind: it.kind, name: it.name.clone(), arn: it.arn.clone() };
        if it.name == "foreign" {
            assert_eq!(world.refused(change).await.kind, ErrorKind::Denied);
        } else {
            world.does(change).await;
        }
    }
    let groups = world.wire.describe_network(Kind::TargetGroup, &scope).await.unwrap().target_groups;
    for group in groups.into_values() {
        let change = Change::DeleteTargetGroup { arn: group.arn };
        if group.name == "foreign" {
            assert_eq!(world.refused(change).await.kind, ErrorKind::Denied);
        } else {
            world.does(change).await;
        }
    }
    let used = NewInterface { in_use: true, ..interface(tags(&[("cluster.k8s.amazonaws.com/name", "c")])) };
    let used = world.region.put_foreign_interface(used).unwrap();
    let error = world.refused(Change::DeleteNetworkInterface { interface: used }).await;
    let expected = (ErrorKind::InUse, Some("InvalidParameterValue"));
    assert_eq!((error.kind, error.code.as_deref()), expected, "{error}");
    world.does(Change::DeleteNetworkInterface { interface: left }).await;
    let denied = world.refused(Change::DeleteNetworkInterface { interface: foreign }).await;
    assert_eq!(denied.kind, ErrorKind::Denied);
}

/// The VPC of the simulator's region is another owner's: parts may be created in it, and it is never changed.
#[tokio::test]
async fn what_others_own_is_used_at_most() {
    let world = World::with_rights(&[POOLS, NETWORKS]).await;
    let subnet = |tags| Change::CreateSubnet {
        vpc: VPC.into(),
        zone: format!("{REGION}a").into(),
        cidr: v4("10.0.240.0/24"),
        ipv6: None,
        tags,
    };
    let made = world.does(subnet(own())).await.subnets;
    assert_eq!(made.len(), 1, "in a given VPC, with our tags");
    let allocation =
        world.does(Change::AllocateAddress { tags: own() }).await.addresses.into_keys().next().unwrap();
    let vpc = || VPC.into();
    for change in [
        subnet(Tags::new()),
        subnet(tags(&[(TAG_CLUSTER, "ns/c")])),
        Change::AllocateAddress { tags: Tags::new() },
        Change::DeleteVpc { vpc: vpc() },
        Change::ModifyVpcAttribute { vpc: vpc(), attribute: DnsAttribute::Support, enabled: false },
        Change::AssociateVpcCidrBlock { vpc: vpc(), cidr: v4("100.64.0.0/16") },
        Change::DeleteSubnet { subnet: PUBLIC_SUBNETS[0].into() },
        Change::CreateTags { ids: [VPC.to_owned()].into(), tags: own() },
        Change::CreateNatGateway {
            subnet: PUBLIC_SUBNETS[0].into(),
            allocation,
            tags: own(),
            token: "t".into(),
        },
    ] {
        let error = world.refused(change.clone()).await;
        assert_eq!(error.kind, ErrorKind::Denied, "{change:?}: {error}");
    }
}

#[tokio::test]
async fn without_rights_to_networks_quotas_are_unknown_and_nothing_is_created() {
    let world = World::with_rights(&[POOLS]).await;
    assert_eq!(world.wire.quotas().await.unwrap(), foo_model::network::Quotas::default());
    let error = world.refused(Change::CreateVpc { cidr: v4("10.8.0.0/16"), ipv6: false, tags: own() }).await;
    assert_eq!(error.kind, ErrorKind::Denied);
    assert!(error.to_string().starts_with("the IAM action ec2:CreateVpc is missing"), "{error}");
}
