//! Networks in a VPC of the user's.

use super::*;

fn brought() -> Vpc {
    let association = |range: &str| CidrAssociation {
        id: AssociationId::new("a"),
        range: range.parse().unwrap(),
        state: CidrState::Associated,
    };
    let ipv6 = CidrAssociation {
        id: AssociationId::new("b"),
        range: "2001:db8:1234:1a00::/56".parse().unwrap(),
        state: CidrState::Associated,
    };
    Vpc {
        id: VpcId::new("vpc-1"),
        owner: "123456789012".to_owned(),
        cidr: "172.31.0.0/16".parse().unwrap(),
        cidrs: vec![association("172.31.0.0/16")],
        ipv6: vec![ipv6],
        is_default: true,
        available: true,
        dns_support: None,
        dns_hostnames: None,
        tags: Tags::new(),
    }
}

/// A brought VPC with subnets of others.
fn shared(foreign: &[(&str, &str)]) -> Region {
    let mut region = Region::with("ab");
    for (number, (cidr, ipv6)) in foreign.iter().enumerate() {
        let id = format!("subnet-foreign-{number}");
        region = region.has_subnet(&id, "another", "private/eu-central-1a", cidr, Some(ipv6));
    }
    Region { vpc: Some(brought()), vpc_subnets: std::mem::take(&mut region.seen), ..region }
}

#[test]
fn ranges_and_numbers_are_carved_around_the_subnets_that_a_brought_vpc_has() {
    let spec = json!({"vpcID": "vpc-1", "cidr": "172.31.0.0/20", "zones": {"count": 2}, "ipv6": true});
    let free = Region { vpc: Some(brought()), ..Region::with("ab") };
    assert_eq!(
        free.subnets(spec.clone()),
        [
            "private/eu-central-1a 172.31.0.0/23 0",
            "public/eu-central-1a 172.31.15.192/26 128",
            "private/eu-central-1b 172.31.2.0/23 1",
            "public/eu-central-1b 172.31.15.128/26 129",
        ]
    );
    let region = shared(&[
        ("172.31.0.0/24", "2001:db8:1234:1a00::/64"),
        ("172.31.15.192/26", "2001:db8:1234:1a80::/63"),
    ]);
    let around = [
        "private/eu-central-1a 172.31.2.0/23 1",
        "public/eu-central-1a 172.31.15.128/26 130",
        "private/eu-central-1b 172.31.4.0/23 2",
        "public/eu-central-1b 172.31.15.64/26 131",
    ];
    assert_eq!(region.subnets(spec.clone()), around);
    // The provider's is one of the VPC's subnets and keeps its range, although a user removed the tag.
    let status = api::SubnetStatus {
        id: "subnet-foreign-0".to_owned(),
        zone: "eu-central-1a".to_owned(),
        public: false,
        name: Some("private/eu-central-1a".to_owned()),
        cidr: Some("172.31.0.0/24".to_owned()),
        ipv6_cidr: Some("2001:db8:1234:1a00::/64".to_owned()),
    };
    let status = api::NetworkStatus { subnets: vec![status], ..api::NetworkStatus::default() };
    let region = Region { status: Some(status), ..region };
    assert_eq!(region.subnets(spec)[0], "private/eu-central-1a 172.31.0.0/24 0");
}

#[test]
fn a_listed_subnet_that_the_brought_vpc_has_no_room_for_is_named() {
    let list =
        json!([{"name": "nodes", "type": "Private", "zone": "eu-central-1a", "cidr": "172.31.1.0/24"}]);
    let spec =
        json!({"vpcID": "vpc-1", "cidr": "172.31.0.0/20", "egress": "None", "subnets": {"list": list}});
    let region = shared(&[("172.31.0.0/23", "2001:db8:1234:1a00::/64")]);
    let message = "subnet nodes with 172.31.1.0/24 overlaps 172.31.0.0/23, a subnet that the VPC has already";
    assert_eq!(region.problem(spec.clone()), (Reason::RangeUnfit, message.to_owned()));
    // Once it is there, it is the one that the VPC has.
    let region = region.has_subnet("subnet-1", ID, "private/nodes", "172.31.1.0/24", None);
    assert_eq!(region.subnets(spec), ["private/nodes 172.31.1.0/24"]);
}

#[test]
fn a_brought_vpc_is_used_in_the_part_that_the_spec_names() {
    let region = Region { vpc: Some(brought()), ..Region::with("abc") };
    let desired = region.desired(json!({"vpcID": "vpc-1", "cidr": "172.31.128.0/20"})).unwrap();
    assert_eq!(desired.vpc, DesiredVpc::Existing(VpcId::new("vpc-1")));
    assert_eq!(desired.subnets[0].cidr, "172.31.128.0/23".parse().unwrap());
    assert_eq!(
        region.problem(json!({"vpcID": "vpc-1", "cidr": "10.0.0.0/20"})),
        (Reason::RangeUnfit, "10.0.0.0/20 is not in VPC vpc-1, which has 172.31.0.0/16".to_owned())
    );
}
