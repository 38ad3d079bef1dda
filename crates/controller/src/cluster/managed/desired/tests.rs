mod brought;

use super::*;
use foo_api::cluster::ManagedNetwork;
use foo_model::names::{TAG_NETWORK, TAG_ROLE};
use foo_model::network::{CidrAssociation, CidrState, Parts, Subnet, Tags, Vpc, ZoneInfo};
use foo_model::{AssociationId, Reason, SubnetId, Zone};
use foo_network::Role;
use foo_network::desired::{DesiredEndpointKind, DesiredGroup, GroupPeer, GroupRule, Tier};
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

    fn says(&self, spec: Value) -> (Reason, String) {
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
    assert_eq!((desired.cluster.as_str(), desired.kubernetes_cluster.as_str()), ("team-a/prod", "prod"));
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
fn zones_stay_whatever_comes_to_the_region() {
    // Begun when there were b, c and d; the status is lost, as after a move.
    let region = Region::with("abcd")
        .has_subnet("subnet-1", ID, "private/eu-central-1b", "10.0.0.0/19", None)
        .has_subnet("subnet-2", ID, "private/eu-central-1c", "10.0.32.0/19", None)
        .has_subnet("subnet-3", ID, "private/eu-central-1d", "10.0.64.0/19", None);
    let three = region.subnets(json!({"subnets": {"types": ["Private"]}}));
    assert_eq!(
        three,
        [
            "private/eu-central-1b 10.0.0.0/19",
            "private/eu-central-1c 10.0.32.0/19",
            "private/eu-central-1d 10.0.64.0/19"
        ]
    );
    let four = region.subnets(json!({"zones": {"count": 4}, "subnets": {"types": ["Private"]}}));
    assert_eq!(four[0], "private/eu-central-1a 10.0.96.0/19");
    assert_eq!(four[1..], three);
    // A look that fails does not stop a network that has all its zones.
    let blind = Region { zones: BTreeMap::new(), ..region };
    assert_eq!(blind.subnets(json!({"subnets": {"types": ["Private"]}})), three);
    assert_eq!(blind.says(json!({"zones": {"count": 4}})).0, Reason::ZonesUnknown);
}

#[test]
fn subnets_of_another_network_choose_no_zone() {
    let region =
        Region::with("abc").has_subnet("subnet-1", "uid-2", "private/eu-central-1c", "10.0.0.0/19", None);
    let subnets = region.subnets(json!({"zones": {"count": 1}, "subnets": {"types": ["Private"]}}));
    assert_eq!(subnets, ["private/eu-central-1a 10.0.0.0/19"]);
}

#[test]
fn what_the_status_says_of_subnets_counts_until_they_are_seen() {
    let subnet = |name: &str, cidr: &str| api::SubnetStatus {
        id: format!("subnet-{name}"),
        zone: "eu-central-1c".to_owned(),
        public: false,
        name: Some(name.to_owned()),
        cidr: Some(cidr.to_owned()),
        ipv6_cidr: None,
    };
    let status = api::NetworkStatus {
        subnets: vec![subnet("private/eu-central-1c", "10.0.32.0/19")],
        ..api::NetworkStatus::default()
    };
    let region = Region { status: Some(status), ..Region::with("abc") };
    let one = json!({"zones": {"count": 1}, "subnets": {"types": ["Private"]}});
    assert_eq!(region.subnets(one), ["private/eu-central-1c 10.0.32.0/19"]);
}

#[test]
fn zones_that_were_chosen_before_a_crash_are_chosen_still() {
    let resource = api::NetworkResource {
        role: "subnet/private/eu-central-1b".to_owned(),
        id: None,
        state: "Missing".to_owned(),
        message: None,
        since: None,
        seen: false,
        attempts: 0,
        reached: None,
    };
    let status = api::NetworkStatus { resources: vec![resource], ..api::NetworkStatus::default() };
    let region = Region { status: Some(status), ..Region::with("abc") };
    let one = json!({"zones": {"count": 1}, "subnets": {"types": ["Private"]}});
    assert_eq!(region.subnets(one), ["private/eu-central-1b 10.0.0.0/19"]);
}

#[test]
fn of_two_subnets_of_one_role_the_one_in_the_status_counts_and_the_others_range_is_not_used() {
    let recorded = api::SubnetStatus {
        id: "subnet-2".to_owned(),
        zone: "eu-central-1a".to_owned(),
        public: false,
        name: Some("private/eu-central-1a".to_owned()),
        cidr: Some("10.0.32.0/19".to_owned()),
        ipv6_cidr: None,
    };
    let status = api::NetworkStatus { subnets: vec![recorded], ..api::NetworkStatus::default() };
    let region = Region { status: Some(status), ..Region::with("ab") }
        .has_subnet("subnet-1", ID, "private/eu-central-1a", "10.0.0.0/19", None)
        .has_subnet("subnet-2", ID, "private/eu-central-1a", "10.0.32.0/19", None);
    assert_eq!(
        region.subnets(json!({"zones": {"count": 2}, "subnets": {"types": ["Private"]}})),
        ["private/eu-central-1a 10.0.32.0/19", "private/eu-central-1b 10.0.64.0/19"]
    );
}

#[test]
fn zones_that_are_chosen_are_available_availability_zones_that_eks_can_use() {
    let mut region = Region { name: Some("us-east-1"), ..Region::default() };
    region.zones.extend([
        zone("us-east-1", 'a', "use1-az3"),
        zone("us-east-1", 'b', "use1-az1"),
        zone("us-east-1", 'c', "use1-az2"),
        zone("us-east-1", 'd', "use1-az4"),
    ]);
    let (local, mut info) = zone("us-east-1", 'e', "use1-bos1-az1");
    info.is_availability_zone = false;
    region.zones.insert(local, info);
    let (down, mut info) = zone("us-east-1", 'f', "use1-az5");
    info.available = false;
    region.zones.insert(down, info);
    let of = |spec| {
        let desired = region.desired(spec).unwrap();
        let zones: BTreeSet<Zone> = desired.subnets.iter().map(|it| it.zone.clone()).collect();
        zones.into_iter().map(|zone| zone.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of(json!({})), ["us-east-1b", "us-east-1c", "us-east-1d"]);
    // Whoever names one gets it.
    assert_eq!(of(json!({"zones": {"names": ["us-east-1f", "us-east-1a"]}})), ["us-east-1a", "us-east-1f"]);
    assert_eq!(
        region.says(json!({"zones": {"count": 4}})),
        (
            Reason::ZonesTooFew,
            "region us-east-1 has 3 Availability Zones that can be used (us-east-1b, us-east-1c, us-east-1d), and 4 are \
             requested: set spec.network.managed.zones"
                .to_owned()
        )
    );
    assert_eq!(
        region.says(json!({"zones": {"names": ["us-east-1e"]}})).1,
        "us-east-1e is a Local Zone or a Wavelength Zone, not an Availability Zone; there are us-east-1b, us-east-1c, \
         us-east-1d"
    );
}

#[test]
fn zones_that_the_region_does_not_have_are_named() {
    let region = Region::with("abc");
    let said = (
        Reason::ZoneNotFound,
        "region eu-central-1 has no Availability Zone eu-central-1x; there are eu-central-1a, eu-central-1b, eu-central-1c"
            .to_owned(),
    );
    assert_eq!(region.says(json!({"zones": {"names": ["eu-central-1x"]}})), said);
    let listed = json!([{"name": "a", "type": "Private", "zone": "eu-central-1x", "cidr": "10.0.0.0/24"}]);
    assert_eq!(region.says(json!({"egress": "None", "subnets": {"list": listed}})), said);
}

#[test]
fn a_zone_with_subnets_cannot_be_left_out() {
    let region = Region::with("abc").has_subnet("subnet-1", ID, "private/eu-central-1c", "10.0.0.0/19", None);
    let (reason, message) = region.says(json!({"zones": {"names": ["eu-central-1a"]}}));
    assert_eq!(reason, Reason::ZoneInUse);
    assert!(message.starts_with("the network has subnets in eu-central-1c, which"), "{message}");
}

fn resource(role: &str, id: Option<&str>) -> api::NetworkResource {
    let mut resource = json!({"role": role, "state": "Missing"});
    if let Some(id) = id {
        resource["id"] = json!(id);
    }
    serde_json::from_value(resource).unwrap()
}

#[test]
fn a_zone_without_subnets_can_be_left_out() {
    let status = |resources: &[api::NetworkResource]| api::NetworkStatus {
        resources: resources.to_vec(),
        ..api::NetworkStatus::default()
    };
    let b = resource("subnet/private/eu-central-1b", None);
    let names = |letters: &str| {
        let names: Vec<String> = letters.chars().map(|letter| format!("eu-central-1{letter}")).collect();
        json!({"zones": {"names": names}, "subnets": {"types": ["Private"]}})
    };
    let region = Region { status: Some(status(std::slice::from_ref(&b))), ..Region::with("abc") };
    assert_eq!(region.subnets(names("a")), ["private/eu-central-1a 10.0.0.0/19"]);
    // While it is being created nobody knows.
    let mut creating = status(&[]);
    let intent = json!({"role": b.role, "since": "2026-01-01T00:00:00Z", "attempt": 0});
    creating.intents.push(serde_json::from_value(intent).unwrap());
    let region = Region { status: Some(creating), ..Region::with("abc") };
    assert_eq!(region.subnets(names("a")).len(), 2);
    let exists = resource("subnet/private/eu-central-1b", Some("subnet-1"));
    let region = Region { status: Some(status(&[exists])), ..Region::with("abc") };
    assert_eq!(region.says(names("a")).0, Reason::ZoneInUse);
}

#[test]
fn a_count_can_be_lowered_to_the_zones_with_subnets() {
    let resources = ["b", "c"].map(|letter| resource(&format!("subnet/private/eu-central-1{letter}"), None));
    let status = api::NetworkStatus { resources: resources.to_vec(), ..api::NetworkStatus::default() };
    let region = Region { status: Some(status), ..Region::with("abc") };
    let count = |count: i32| json!({"zones": {"count": count}, "subnets": {"types": ["Private"]}});
    assert_eq!(region.subnets(count(1)), ["private/eu-central-1b 10.0.0.0/19"]);
    let region = region.has_subnet("subnet-1", ID, "private/eu-central-1c", "10.0.0.0/19", None);
    assert_eq!(region.subnets(count(1)), ["private/eu-central-1c 10.0.0.0/19"]);
}

#[test]
fn names_of_listed_subnets_are_no_zones() {
    let status = api::NetworkStatus {
        resources: vec![resource("subnet/private/nodes", None)],
        ..api::NetworkStatus::default()
    };
    let one = json!({"zones": {"count": 1}, "subnets": {"types": ["Private"]}});
    let region = Region { status: Some(status), ..Region::with("ab") };
    assert_eq!(region.subnets(one), ["private/eu-central-1a 10.0.0.0/19"]);
}

#[test]
fn bad_ranges_are_said_before_anything_is_created() {
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
        let said = region.says(spec.clone());
        assert_eq!(said.0, reason, "{spec}: {said:?}");
        assert!(said.1.starts_with(words), "{spec}: {said:?}");
        // What exists can be deleted all the same.
        let deleted = Region { being_deleted: true, ..Region::with("abc") }.desired(spec).unwrap();
        assert!(deleted.being_deleted && deleted.subnets.is_empty());
    }
}

#[test]
fn a_secondary_range_takes_what_has_no_room() {
    let region = Region::with("abc");
    let spec = |more: Value| json!({"cidr": "10.2.0.0/24", "secondaryCIDRs": more, "subnets": {"types": ["Private"], "sizes": {"private": 25}}});
    assert_eq!(region.says(spec(json!([]))).0, Reason::RangeTooSmall);
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
fn listed_subnets_are_as_they_are_listed() {
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

#[test]
fn a_service_that_is_listed_twice_is_one_endpoint_of_each_type() {
    let region = Region::with("ab");
    let endpoints = |list: Value| {
        let desired = region.desired(json!({"endpoints": list, "zones": {"count": 2}})).unwrap();
        let kind = |it: &DesiredEndpointKind| match it {
            DesiredEndpointKind::Gateway => "gateway",
            DesiredEndpointKind::Interface { private_dns: true, .. } => "interface with names",
            DesiredEndpointKind::Interface { private_dns: false, .. } => "interface",
        };
        desired.endpoints.iter().map(|it| format!("{} {}", it.name, kind(&it.kind))).collect::<Vec<_>>()
    };
    let whole = |service: &str, kind: &str| json!({"service": format!("com.amazonaws.eu-central-1.{service}"), "type": kind});
    let both = endpoints(json!([{"name": "S3"}, whole("s3", "Interface")]));
    assert_eq!(both, ["com.amazonaws.eu-central-1.s3 interface", "s3 gateway"]);
    for list in
        [json!([{"name": "S3"}, whole("s3", "Gateway")]), json!([whole("s3", "Gateway"), {"name": "S3"}])]
    {
        assert_eq!(endpoints(list), ["s3 gateway"]);
    }
    assert_eq!(endpoints(json!([whole("ec2", "Interface"), {"name": "EC2"}])), ["ec2 interface with names"]);
    // Admission refuses the same service twice by its whole name.
    let both_whole = [whole("s3", "Gateway"), whole("s3", "Interface")];
    let twice = json!({"endpoints": both_whole, "zones": {"count": 2}});
    let (reason, message) = region.says(twice);
    assert_eq!(reason, Reason::EndpointTwice);
    assert!(
        message.starts_with("com.amazonaws.eu-central-1.s3 is listed as a gateway and as an interface"),
        "{message}"
    );
}

#[test]
fn names_of_services_become_endpoints() {
    let endpoints = |region: &Region, list: Value| {
        let desired = region.desired(json!({"endpoints": list, "zones": {"count": 2}})).unwrap();
        desired.endpoints
    };
    let region = Region::with("ab");
    let all = endpoints(&region, json!([{"name": "S3"}, {"name": "ECR"}, {"name": "SSM"}]));
    let names: Vec<_> = all.iter().map(|it| (it.name.as_str(), it.service.as_str())).collect();
    assert_eq!(
        names,
        [
            ("ec2messages", "com.amazonaws.eu-central-1.ec2messages"),
            ("ecr.api", "com.amazonaws.eu-central-1.ecr.api"),
            ("ecr.dkr", "com.amazonaws.eu-central-1.ecr.dkr"),
            ("s3", "com.amazonaws.eu-central-1.s3"),
            ("ssm", "com.amazonaws.eu-central-1.ssm"),
            ("ssmmessages", "com.amazonaws.eu-central-1.ssmmessages"),
        ]
    );
    assert_eq!(all[3].kind, DesiredEndpointKind::Gateway);
    assert_eq!(
        all[0].kind,
        DesiredEndpointKind::Interface {
            subnets: ["private/eu-central-1a".to_owned(), "private/eu-central-1b".to_owned()].into(),
            groups: ["endpoint".to_owned()].into(),
            private_dns: true,
        }
    );
    let is_private = |service: &str| {
        let endpoints = endpoints(&region, json!([{"service": service}]));
        matches!(endpoints[0].kind, DesiredEndpointKind::Interface { private_dns: true, .. })
    };
    assert!(is_private("com.amazonaws.eu-central-1.kms"));
    assert!(!is_private("com.amazonaws.eu-central-1.s3"));
    assert!(!is_private("com.amazonaws.vpce.eu-central-1.vpce-svc-0123"));
}

#[test]
fn names_of_services_differ_between_partitions() {
    let of = |name: &'static str| Region {
        name: Some(name),
        zones: [zone(name, 'a', "az1")].into(),
        ..Region::default()
    };
    let spec =
        || json!({"zones": {"count": 1}, "endpoints": [{"name": "S3"}, {"name": "EC2"}, {"name": "Logs"}]});
    let services = |region: &'static str| {
        let desired = of(region).desired(spec()).unwrap();
        desired.endpoints.into_iter().map(|it| it.service).collect::<Vec<_>>()
    };
    assert_eq!(
        services("cn-north-1"),
        ["cn.com.amazonaws.cn-north-1.ec2", "com.amazonaws.cn-north-1.logs", "com.amazonaws.cn-north-1.s3"]
    );
    assert_eq!(services("us-gov-west-1")[0], "com.amazonaws.us-gov-west-1.ec2");
    assert_eq!(of("us-iso-east-1").says(spec()).0, Reason::EndpointUnknown);
    assert_eq!(of("eusc-de-east-1").says(spec()).0, Reason::EndpointUnknown);
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
fn nodes_and_the_api_server_reach_each_other_and_nobody_else_is_let_in() {
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
            "Tcp(10250, 10250) controlPlane API server to kubelets",
            "Tcp(443, 443) controlPlane API server to webhooks",
            "Tcp(4443, 4443) controlPlane API server to webhooks",
            "Tcp(8443, 8443) controlPlane API server to webhooks",
            "Tcp(9443, 9443) controlPlane API server to webhooks",
        ]
    );
    assert_eq!(desired.security_groups.len(), 2);
    for group in &desired.security_groups {
        assert_eq!(shown(&group.egress), ["All 0.0.0.0/0 ", "All ::/0 "]);
        assert_eq!(group.is_for_nodes, group.name == "node");
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
        shown(&group(&desired, "node").ingress)[6..],
        ["Udp(30000, 32767) 2001:db8::/32 ports", "Tcp(22, 22) bastion from there", "All sg-0123 all"]
    );
    assert_eq!(shown(&group(&desired, "bastion").ingress), ["Icmp node ping"]);
    let bad =
        json!({"node": [rule("odd", json!({"ports": {"first": 1}, "from": {"securityGroup": "nobody"}}))]});
    assert_eq!(
        Region::with("abc").says(json!({"securityGroups": bad})),
        (
            Reason::RuleInvalid,
            "the security group rule odd names the security group nobody, which is none of the network"
                .to_owned()
        )
    );
}
