mod brought;
mod endpoints;
mod zones;

use super::*;
use foo_api::cluster::ManagedNetwork;
use foo_model::names::{TAG_NETWORK, TAG_ROLE};
use foo_model::network::{CidrAssociation, CidrState, Parts, Protocol, Subnet, Tags, Vpc, ZoneInfo};
use foo_model::{AssociationId, Reason, SubnetId, Zone};
use foo_network::Role;
use foo_network::desired::{Connection, DesiredEndpointKind, DesiredGroup, GroupPeer, GroupRule, Tier};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const ID: &str = "uid-1";
const REGION: &str = "eu-central-1";

/// What the tests know besides a spec.
#[derive(Default)]
struct Region {
    zones: BTreeMap<Zone, ZoneInfo>,
    seen: Parts,
    status: Option<api::NetworkStatus>,
    vpc: Option<Vpc>,
    vpc_subnets: Parts,
    name: Option<&'static str>,
    connection: Connection,
    being_deleted: bool,
}

impl Region {
    /// With Availability Zones of these letters.
    fn with(letters: &str) -> Self {
        let zones = letters.chars().map(|letter| zone(REGION, letter, &format!("euc1-az{letter}"))).collect();
        Self { zones, ..Self::default() }
    }

    fn desired(&self, spec: Value) -> Result<Desired, Blocked> {
        let spec: ManagedNetwork = serde_json::from_value(spec).unwrap();
        let known = Known {
            id: ID,
            uid: ID,
            begun_before: false,
            cluster: ("team-a", "prod"),
            kubernetes_cluster: Some("team-a_prod"),
            connection: &self.connection,
            region: self.name.unwrap_or(REGION),
            installation: "here",
            adopt_from: None,
            account: Some("123456789012"),
            zones: &self.zones,
            seen: &self.seen,
            status: self.status.as_ref(),
            vpc: self.vpc.as_ref(),
            vpc_subnets: Some(&self.vpc_subnets),
            being_deleted: self.being_deleted,
            paused: false,
        };
        desired(&spec, &known)
    }

    /// Key, range and number of the IPv6 range of each subnet.
    fn subnets(&self, spec: Value) -> Vec<String> {
        let desired = self.desired(spec).unwrap();
        let shown = |subnet: &foo_network::desired::DesiredSubnet| match subnet.ipv6_index {
            Some(index) => format!("{} {} {index}", subnet.key, subnet.cidr),
            None => format!("{} {}", subnet.key, subnet.cidr),
        };
        desired.subnets.iter().map(shown).collect()
    }

    fn problem(&self, spec: Value) -> (Reason, String) {
        let blocked = self.desired(spec).unwrap_err();
        (blocked.reason, blocked.message)
    }

    /// A subnet of the network is there.
    fn has_subnet(mut self, id: &str, network: &str, key: &str, cidr: &str, ipv6: Option<&str>) -> Self {
        let role = Role::Subnet(key.to_owned()).to_string();
        let tags = Tags::from([(TAG_NETWORK.to_owned(), network.to_owned()), (TAG_ROLE.to_owned(), role)]);
        let letter = key.chars().last().unwrap();
        let range = |range: &str| CidrAssociation {
            id: AssociationId::new("subnet-cidr-assoc-1"),
            range: range.parse().unwrap(),
            state: CidrState::Associated,
        };
        let subnet = Subnet {
            id: SubnetId::new(id),
            vpc: VpcId::new("vpc-1"),
            zone: Zone::new(format!("{REGION}{letter}")),
            zone_id: format!("euc1-az{letter}"),
            cidr: cidr.parse().unwrap(),
            ipv6: ipv6.map(range).into_iter().collect(),
            state: "available".to_owned(),
            free_addresses: 100,
            public_ip_on_launch: false,
            ipv6_on_creation: false,
            tags,
        };
        self.seen.subnets.insert(subnet.id.clone(), subnet);
        self
    }
}

fn zone(region: &str, letter: char, id: &str) -> (Zone, ZoneInfo) {
    let name = Zone::new(format!("{region}{letter}"));
    let info =
        ZoneInfo { name: name.clone(), id: id.to_owned(), available: true, is_availability_zone: true };
    (name, info)
}

#[test]
fn an_empty_spec_is_three_zones_with_a_nat_gateway_each() {
    let desired = Region::with("abcd").desired(json!({})).unwrap();
    assert_eq!(
        desired.vpc,
        DesiredVpc::Managed { cidr: "10.0.0.0/16".parse().unwrap(), secondary: Vec::new() }
    );
    let keys: Vec<&str> = desired.subnets.iter().map(|subnet| subnet.key.as_str()).collect();
    assert_eq!(
        keys,
        [
            "private/eu-central-1a",
            "public/eu-central-1a",
            "private/eu-central-1b",
            "public/eu-central-1b",
            "private/eu-central-1c",
            "public/eu-central-1c"
        ]
    );
    for subnet in &desired.subnets {
        assert_eq!(subnet.public_ip_on_launch, subnet.tier == Tier::Public);
    }
    assert_eq!((desired.nat, desired.ipv6), (NatMode::PerZone, false));
    assert_eq!((desired.drift, desired.leftovers), (DriftPolicy::Enforce, Leftovers::Wait));
    let names = (desired.cluster.as_str(), desired.kubernetes_cluster.as_deref());
    assert_eq!(names, ("team-a/prod", Some("team-a_prod")));
    assert!(desired.endpoints.is_empty());
}

#[test]
fn every_field_of_the_spec_counts() {
    let desired = Region::with("ab")
        .desired(json!({
            "cidr": "10.2.0.0/20", "secondaryCIDRs": ["100.64.0.0/16"],
            "zones": {"count": 1}, "subnets": {"types": ["Private"], "sizes": {"private": 24}},
            "egress": "None", "tags": {"team": "a"}, "driftPolicy": "Warn",
            "deletion": {"leftovers": "Delete"}, "deletionPolicy": "Retain",
        }))
        .unwrap();
    let range = |text: &str| text.parse().unwrap();
    assert_eq!(
        desired.vpc,
        DesiredVpc::Managed { cidr: range("10.2.0.0/20"), secondary: vec![range("100.64.0.0/16")] }
    );
    assert_eq!(desired.subnets.len(), 1);
    assert_eq!(desired.subnets[0].cidr, range("10.2.0.0/24"));
    assert_eq!(desired.nat, NatMode::None);
    assert_eq!(desired.tags, Tags::from([("team".to_owned(), "a".to_owned())]));
    assert_eq!(
        (desired.drift, desired.deletion, desired.leftovers),
        (DriftPolicy::Warn, DeletionPolicy::Retain, Leftovers::Delete)
    );
    let single = Region::with("abc").desired(json!({"nat": "Single"})).unwrap();
    assert_eq!(single.nat, NatMode::Single);
}

#[test]
fn bad_ranges_are_reported_before_anything_is_created() {
    let region = Region::with("abc");
    for (spec, reason, words) in [
        (json!({"cidr": "10.0.0.0/27"}), Reason::RangeTooSmall, "10.0.0.0/27 has room for"),
        (json!({"cidr": "8.8.0.0/16"}), Reason::RangeUnfit, "8.8.0.0/16 is a public range"),
        (json!({"cidr": "nonsense"}), Reason::RangeUnfit, "nonsense is not an IPv4 range"),
        (
            json!({"cidr": "10.2.0.0/16", "secondaryCIDRs": ["10.2.1.0/24"]}),
            Reason::RangeUnfit,
            "10.2.0.0/16 and 10.2.1.0/24 overlap",
        ),
        (
            json!({"subnets": {"list": [{"name": "a", "type": "Public", "zone": "eu-central-1a", "cidr": "10.1.0.0/24"}]}}),
            Reason::RangeUnfit,
            "subnet a with 10.1.0.0/24 is in none of the network's ranges",
        ),
    ] {
        let problem = region.problem(spec.clone());
        assert_eq!(problem.0, reason, "{spec}: {problem:?}");
        assert!(problem.1.starts_with(words), "{spec}: {problem:?}");
        // What exists can be deleted nevertheless.
        let deleted = Region { being_deleted: true, ..Region::with("abc") }.desired(spec).unwrap();
        assert!(deleted.being_deleted && deleted.subnets.is_empty());
    }
}

#[test]
fn a_secondary_range_takes_what_does_not_fit() {
    let region = Region::with("abc");
    let spec = |more: Value| json!({"cidr": "10.2.0.0/24", "secondaryCIDRs": more, "subnets": {"types": ["Private"], "sizes": {"private": 25}}});
    assert_eq!(region.problem(spec(json!([]))).0, Reason::RangeTooSmall);
    assert_eq!(
        region.subnets(spec(json!(["100.64.0.0/24"]))),
        [
            "private/eu-central-1a 10.2.0.0/25",
            "private/eu-central-1b 10.2.0.128/25",
            "private/eu-central-1c 100.64.0.0/25"
        ]
    );
}

#[test]
fn listed_subnets_are_created_as_listed() {
    let list = json!([
        {"name": "edge", "type": "Public", "zone": "eu-central-1a", "cidr": "10.0.0.0/24"},
        {"name": "nodes", "type": "Private", "zone": "eu-central-1a", "cidr": "10.0.1.0/24"},
        {"name": "pods", "type": "Private", "zone": "eu-central-1a", "cidr": "100.64.0.0/17"},
    ]);
    let spec = json!({"secondaryCIDRs": ["100.64.0.0/16"], "subnets": {"list": list}, "ipv6": true});
    assert_eq!(
        Region::with("abc").subnets(spec),
        ["private/nodes 10.0.1.0/24 0", "private/pods 100.64.0.0/17 1", "public/edge 10.0.0.0/24 128"]
    );
}

#[test]
fn subnets_for_pods_are_computed_without_ipv6_and_have_tags_of_their_own() {
    let spec = json!({
        "ipv6": true,
        "secondaryCIDRs": ["100.64.0.0/16"],
        "zones": {"count": 2},
        "subnets": {
            "types": ["Public", "Private", "Pods"],
            "sizes": {"pods": 18},
            "tags": {"pods": {"cost": "pods"}},
        },
    });
    let region = Region::with("ab");
    assert_eq!(
        region.subnets(spec.clone()),
        [
            "pods/eu-central-1a 100.64.0.0/18",
            "private/eu-central-1a 10.0.0.0/19 0",
            "public/eu-central-1a 10.0.252.0/22 128",
            "pods/eu-central-1b 100.64.64.0/18",
            "private/eu-central-1b 10.0.32.0/19 1",
            "public/eu-central-1b 10.0.248.0/22 129",
        ]
    );
    for subnet in region.desired(spec.clone()).unwrap().subnets {
        assert_eq!(subnet.tags.contains_key("cost"), subnet.tier == Tier::Pods, "{}", subnet.key);
        assert_eq!(subnet.public_ip_on_launch, subnet.tier == Tier::Public, "{}", subnet.key);
    }
    // The status alone has the subnet, for example while reads do not show it yet.
    let recorded = api::SubnetStatus {
        id: "subnet-1".to_owned(),
        zone: "eu-central-1a".to_owned(),
        public: false,
        name: Some("pods/eu-central-1a".to_owned()),
        cidr: Some("100.64.192.0/18".to_owned()),
        ipv6_cidr: None,
    };
    let status = api::NetworkStatus { pod_subnets: vec![recorded], ..api::NetworkStatus::default() };
    let begun = Region { status: Some(status), ..Region::with("ab") };
    assert_eq!(begun.subnets(spec)[0], "pods/eu-central-1a 100.64.192.0/18");
}

#[test]
fn listed_subnets_for_pods_are_created_as_listed() {
    let list = json!([
        {"name": "nodes", "type": "Private", "zone": "eu-central-1a", "cidr": "10.0.1.0/24"},
        {"name": "a", "type": "Pods", "zone": "eu-central-1a", "cidr": "100.64.0.0/17"},
    ]);
    let spec = json!({
        "secondaryCIDRs": ["100.64.0.0/16"], "subnets": {"list": list}, "egress": "None", "ipv6": true,
    });
    assert_eq!(Region::with("a").subnets(spec), ["pods/a 100.64.0.0/17", "private/nodes 10.0.1.0/24 0"]);
}

#[test]
fn ipv6_ranges_keep_their_numbers() {
    let region = Region::with("ab").has_subnet(
        "subnet-1",
        ID,
        "private/eu-central-1b",
        "10.0.0.0/19",
        Some("2001:db8:1234:1a00::/64"),
    );
    assert_eq!(
        region.subnets(json!({"ipv6": true, "zones": {"count": 2}})),
        [
            "private/eu-central-1a 10.0.32.0/19 1",
            "public/eu-central-1a 10.0.252.0/22 128",
            "private/eu-central-1b 10.0.0.0/19 0",
            "public/eu-central-1b 10.0.248.0/22 129"
        ]
    );
}

fn group<'a>(desired: &'a Desired, name: &str) -> &'a DesiredGroup {
    desired.security_groups.iter().find(|group| group.name == name).unwrap()
}

fn shown(rules: &[GroupRule]) -> Vec<String> {
    let peer = |peer: &GroupPeer| match peer {
        GroupPeer::V4(range) => range.to_string(),
        GroupPeer::V6(range) => range.to_string(),
        GroupPeer::Group(name) => name.clone(),
        GroupPeer::GroupId(id) => id.to_string(),
        GroupPeer::Prefixes(id) => id.to_string(),
    };
    rules
        .iter()
        .map(|rule| format!("{:?} {} {}", rule.protocol, peer(&rule.peer), rule.description))
        .collect()
}

#[test]
fn subnets_and_groups_have_tags_of_their_own() {
    let of = |value: &str| Tags::from([("karpenter.sh/discovery".to_owned(), value.to_owned())]);
    let json = |value: &str| json!({"karpenter.sh/discovery": value});
    let desired = Region::with("ab")
        .desired(json!({
            "zones": {"count": 2},
            "subnets": {"tags": {"public": json("public"), "private": json("private")}},
            "securityGroups": {
                "tags": {"node": json("node"), "controlPlane": json("control plane")},
                "additional": [{"name": "bastion", "tags": json("bastion")}],
            },
        }))
        .unwrap();
    for subnet in &desired.subnets {
        let value = if subnet.tier == Tier::Public { "public" } else { "private" };
        assert_eq!(subnet.tags, of(value), "{}", subnet.key);
    }
    for (name, value) in [("node", "node"), ("controlPlane", "control plane"), ("bastion", "bastion")] {
        assert_eq!(group(&desired, name).tags, of(value));
    }
    let one = |name: &str, kind: &str, cidr: &str| json!({"name": name, "type": kind, "zone": "eu-central-1a", "cidr": cidr});
    let mut tagged = one("a", "Private", "10.0.0.0/24");
    tagged["tags"] = json("a");
    let list = json!([tagged, one("b", "Public", "10.0.1.0/24")]);
    let desired = Region::with("a").desired(json!({"subnets": {"list": list}})).unwrap();
    let tags: Vec<_> = desired.subnets.iter().map(|it| (it.key.as_str(), it.tags.clone())).collect();
    assert_eq!(tags, [("private/a", of("a")), ("public/b", Tags::new())]);
}

#[test]
fn only_nodes_and_the_api_server_reach_each_other() {
    let desired = Region::with("abc").desired(json!({"ipv6": true})).unwrap();
    assert_eq!(
        shown(&group(&desired, "controlPlane").ingress),
        [
            "All controlPlane control plane to control plane",
            "Tcp(6443, 6443) node nodes to API server",
            "Tcp(443, 443) node nodes to API server",
        ]
    );
    assert_eq!(
        shown(&group(&desired, "node").ingress),
        [
            "All node node to node",
            "Tcp(443, 443) controlPlane API server to webhooks",
            "Tcp(1025, 65535) controlPlane API server to kubelets and webhooks",
        ]
    );
    assert_eq!(desired.security_groups.len(), 2);
    for group in &desired.security_groups {
        assert_eq!(shown(&group.egress), ["All 0.0.0.0/0 ", "All ::/0 "]);
        assert_eq!(group.is_for_nodes, group.name == "node");
    }
}

/// All traffic in both directions, with the group itself as the other side.
#[test]
fn the_group_of_nodes_alone_allows_what_elastic_fabric_adapters_need() {
    let desired = Region::with("abc")
        .desired(
            json!({"endpoints": [{"name": "EC2"}], "securityGroups": {"additional": [{"name": "bastion"}]}}),
        )
        .unwrap();
    let itself = |rule: &&GroupRule| {
        rule.protocol == Protocol::All && rule.peer == GroupPeer::Group("node".to_owned())
    };
    let node = group(&desired, "node");
    assert_eq!(node.ingress.iter().filter(itself).count(), 1);
    assert_eq!(shown(&node.own_egress), ["All node node to node, for Elastic Fabric Adapters"]);
    for group in &desired.security_groups {
        assert_eq!(shown(&group.egress), ["All 0.0.0.0/0 "], "{}", group.name);
        assert_eq!(group.own_egress.is_empty(), group.name != "node", "{}", group.name);
    }
}

#[test]
fn nodes_are_connected_with_the_group_of_eks_only_if_the_spec_requests_that() {
    let with = Connection::With("sg-1".into());
    for (possible, connected) in [
        (with.clone(), with),
        (Connection::Awaited, Connection::Awaited),
        (Connection::WithoutEks, Connection::WithoutEks),
        (Connection::Ended, Connection::Ended),
    ] {
        let region = Region { connection: possible, ..Region::with("abc") };
        let of = |groups: Value| region.desired(json!({"securityGroups": groups})).unwrap().connection;
        assert_eq!(of(json!({"clusterSecurityGroup": "Connected"})), connected);
        assert_eq!(of(json!({"clusterSecurityGroup": "Separate"})), Connection::Separate);
        assert_eq!(region.desired(json!({})).unwrap().connection, Connection::Separate);
    }
}

#[test]
fn the_api_server_reaches_webhooks_and_aggregated_apis_on_the_ports_that_they_usually_have() {
    let desired = Region::with("abc").desired(json!({})).unwrap();
    for (port, of) in [
        (443, "webhooks without a port of their own"),
        (4443, "metrics-server of its own manifest"),
        (6443, "prometheus-adapter and KEDA"),
        (8443, "cert-manager"),
        (9443, "controller-runtime and AWS Load Balancer Controller"),
        (10250, "kubelet"),
        (10251, "metrics-server as an add-on of EKS"),
        (15017, "Istio"),
    ] {
        let reaches = |rule: &GroupRule| {
            let is_open =
                matches!(rule.protocol, Protocol::Tcp(first, last) if (first..=last).contains(&port));
            is_open && rule.peer == GroupPeer::Group("controlPlane".to_owned())
        };
        assert!(group(&desired, "node").ingress.iter().any(reaches), "{port}: {of}");
    }
}

#[test]
fn endpoints_with_interfaces_have_a_group_that_the_network_reaches() {
    let desired = Region::with("abc").desired(json!({"endpoints": [{"name": "EC2"}]})).unwrap();
    let rules = shown(&group(&desired, "endpoint").ingress);
    assert_eq!(
        rules,
        ["node", "controlPlane", "10.0.0.0/16"]
            .map(|peer| format!("Tcp(443, 443) {peer} network to AWS services"))
    );
    let gateways = Region::with("abc").desired(json!({"endpoints": [{"name": "S3"}]})).unwrap();
    assert_eq!(gateways.security_groups.len(), 2);
}

#[test]
fn rules_of_the_user_are_added() {
    let rule = |name: &str, more: Value| {
        let mut rule = json!({"name": name});
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        rule
    };
    let groups = json!({
        "controlPlane": [rule("office", json!({"ports": {"first": 6443}, "from": {"cidr": "192.0.2.7/24"}}))],
        "node": [
            rule("ports", json!({"protocol": "UDP", "ports": {"first": 30000, "last": 32767}, "from": {"cidr": "2001:db8::1/32"}})),
            rule("ssh", json!({"ports": {"first": 22}, "from": {"securityGroup": "bastion"}, "description": "from there"})),
            rule("all", json!({"protocol": "All", "from": {"securityGroup": "sg-0123"}})),
        ],
        "additional": [{"name": "bastion", "rules": [rule("ping", json!({"protocol": "ICMP", "from": {"securityGroup": "node"}}))]}],
    });
    let desired = Region::with("abc").desired(json!({"securityGroups": groups})).unwrap();
    assert_eq!(shown(&group(&desired, "controlPlane").ingress)[3..], ["Tcp(6443, 6443) 192.0.2.0/24 office"]);
    assert_eq!(
        shown(&group(&desired, "node").ingress)[3..],
        ["Udp(30000, 32767) 2001:db8::/32 ports", "Tcp(22, 22) bastion from there", "All sg-0123 all"]
    );
    assert_eq!(shown(&group(&desired, "bastion").ingress), ["Icmp node ping"]);
    let bad =
        json!({"node": [rule("odd", json!({"ports": {"first": 1}, "from": {"securityGroup": "none"}}))]});
    assert_eq!(
        Region::with("abc").problem(json!({"securityGroups": bad})),
        (
            Reason::RuleInvalid,
            "the security group rule odd names the security group none, which is none of the network"
                .to_owned()
        )
    );
}
