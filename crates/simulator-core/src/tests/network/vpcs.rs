//! VPCs and their ranges (VPC User Guide, "VPC basics", "VPC CIDR blocks").

use super::scene::{delete_vpc, dns, net, net_with, new_group, only, tags};
use foo_model::VpcId;
use foo_model::network::{
    Change, CidrState, Destination, DnsAttribute, Kind, Peer, Protocol, RouteTarget, Scope, Tags,
};
use std::collections::BTreeSet;

fn create(cidr: &str) -> Change {
    Change::CreateVpc { cidr: cidr.parse().expect("a range"), ipv6: false, tags: Tags::new() }
}

fn associate(vpc: &VpcId, cidr: &str) -> Change {
    Change::AssociateVpcCidrBlock { vpc: vpc.clone(), cidr: cidr.parse().expect("a range") }
}

#[test]
fn a_new_vpc_is_pending_and_has_a_main_table_and_a_default_group() {
    let net = net();
    let wanted = tags(&[("a", "b")]);
    let change = Change::CreateVpc {
        cidr: "10.1.2.3/16".parse().expect("a range"),
        ipv6: false,
        tags: wanted.clone(),
    };
    let response = net.done(&change);
    let id = only(&response.vpcs);
    let vpc = &response.vpcs[&id];
    assert_eq!((vpc.cidr.to_string(), vpc.available, &vpc.tags), ("10.1.0.0/16".to_owned(), false, &wanted));
    assert_eq!((vpc.dns_support, vpc.dns_hostnames), (None, None), "only DescribeVpcAttribute shows them");
    let now = net.wait(1).now();
    assert!(now.vpcs[&id].available);
    let table = &now.route_tables[&only(&now.route_tables)];
    assert!(table.main);
    assert_eq!(table.routes.iter().map(|route| &route.target).collect::<Vec<_>>(), [&RouteTarget::Local]);
    let group = &now.security_groups[&only(&now.security_groups)];
    assert_eq!(group.name, "default");
    let peers = |rules: &BTreeSet<foo_model::network::Rule>| -> Vec<Peer> {
        assert!(rules.iter().all(|rule| rule.protocol == Protocol::All));
        rules.iter().map(|rule| rule.peer.clone()).collect()
    };
    assert_eq!(peers(&group.ingress), [Peer::Group(group.id.clone())]);
    assert_eq!(peers(&group.egress), [Peer::V4("0.0.0.0/0".parse().expect("a range"))]);
}

#[test]
fn ranges_that_no_vpc_can_have_are_refused() {
    let net = net();
    for cidr in ["10.0.0.0/15", "10.0.0.0/29", "127.0.0.0/16", "169.254.0.0/16", "224.0.0.0/16", "0.0.0.0/16"]
    {
        let (code, message) = net.refused(&create(cidr));
        assert_eq!((code.as_str(), message), ("InvalidVpc.Range", format!("The CIDR '{cidr}' is invalid.")));
    }
    for cidr in ["100.64.0.0/16", "192.168.0.0/28", "54.0.0.0/16"] {
        net.done(&create(cidr));
    }
}

#[test]
fn there_are_as_many_vpcs_as_the_quota_says() {
    let net = net_with(|settings| settings.network_quotas.vpcs = 2);
    let first = net.vpc("10.0.0.0/16");
    net.vpc("10.0.0.0/16");
    let (code, message) = net.refused(&create("10.0.0.0/16"));
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("VpcLimitExceeded", "The maximum number of VPCs has been reached.")
    );
    net.done(&delete_vpc(&first));
    net.done(&create("10.0.0.0/16"));
}

#[test]
fn hostnames_need_dns_support_and_attributes_are_distinct() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let attributes = |net: &super::scene::Net| {
        let ids = Scope::Ids([vpc.to_string()].into());
        let vpcs = net.seen(Kind::VpcAttributes, &ids).vpcs;
        (vpcs[&vpc].dns_support, vpcs[&vpc].dns_hostnames)
    };
    assert_eq!(attributes(&net), (Some(true), Some(false)));
    net.done(&dns(&vpc, DnsAttribute::Support, false));
    assert_eq!(net.code(&dns(&vpc, DnsAttribute::Hostnames, true)), "InvalidParameterCombination");
    net.done(&dns(&vpc, DnsAttribute::Support, true));
    net.done(&dns(&vpc, DnsAttribute::Hostnames, true));
    assert_eq!(attributes(&net), (Some(true), Some(true)));
    let plain = net.seen(Kind::Vpc, &Scope::Ids([vpc.to_string()].into())).vpcs;
    assert_eq!((plain[&vpc].dns_support, plain[&vpc].dns_hostnames), (None, None));
}

#[test]
fn a_second_range_associates_gets_local_routes_and_goes() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let table = net.table(&vpc);
    let response = net.done(&associate(&vpc, "100.64.0.0/16"));
    let [association] = response.vpcs[&vpc].cidrs.as_slice() else { panic!("{response:?}") };
    assert_eq!(association.state, CidrState::Associating);
    assert_eq!(net.code(&super::scene::new_subnet(&vpc, 0, "100.64.0.0/20")), "InvalidSubnet.Range");
    net.wait(1);
    let subnet = net.subnet(&vpc, 0, "100.64.0.0/20");
    let local = |net: &super::scene::Net| net.route_table(&table).routes.len();
    assert_eq!(local(&net), 2);
    let disassociate = Change::DisassociateVpcCidrBlock { association: association.id.clone() };
    let (code, message) = net.refused(&disassociate);
    let text = format!("The vpc {vpc} currently has a subnet within CIDR block 100.64.0.0/16");
    assert_eq!((code.as_str(), message), ("InvalidCidrBlock.InUse", text));
    net.done(&super::scene::delete_subnet(&subnet));
    net.done(&disassociate);
    assert_eq!(local(&net), 1);
    assert_eq!(net.now().vpcs[&vpc].cidrs[1].state, CidrState::Disassociating);
    assert_eq!(net.wait(1).now().vpcs[&vpc].cidrs.len(), 1);
    let first = net.now().vpcs[&vpc].cidrs[0].id.clone();
    assert_eq!(net.code(&Change::DisassociateVpcCidrBlock { association: first }), "OperationNotPermitted");
    assert_eq!(net.code(&disassociate), "InvalidVpcCidrBlockAssociationIdError.NotFound");
}

#[test]
fn ranges_of_another_kind_overlapping_ones_and_a_sixth_are_refused() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    for cidr in ["10.0.128.0/17", "10.0.0.0/16"] {
        assert_eq!(net.refused(&associate(&vpc, cidr)).1, format!("The CIDR '{cidr}' is invalid."));
    }
    for cidr in ["172.16.0.0/16", "192.168.0.0/24", "198.19.0.0/16"] {
        assert!(net.refused(&associate(&vpc, cidr)).1.contains("is restricted"), "{cidr}");
    }
    for cidr in ["10.2.0.0/16", "10.3.0.0/16", "100.64.0.0/16", "100.65.0.0/16"] {
        net.done(&associate(&vpc, cidr));
    }
    assert_eq!(net.code(&associate(&vpc, "100.66.0.0/16")), "CidrLimitExceeded");
    let other = net.vpc("172.16.0.0/16");
    assert_eq!(net.code(&associate(&other, "172.31.0.0/16")), "InvalidVpc.Range");
    net.done(&associate(&other, "172.17.0.0/16"));
}

#[test]
fn an_ipv6_range_comes_later_than_the_response() {
    let net = net();
    let cidr = "10.0.0.0/16".parse().expect("a range");
    let response = net.done(&Change::CreateVpc { cidr, ipv6: true, tags: Tags::new() });
    let id = only(&response.vpcs);
    assert!(response.vpcs[&id].ipv6.is_empty());
    let vpc = net.wait(1).now().vpcs[&id].clone();
    assert_eq!(
        (vpc.ipv6.len(), vpc.ipv6[0].state, vpc.ipv6[0].range.prefix_len()),
        (1, CidrState::Associated, 56)
    );
    let other = net.dual_stack("10.0.0.0/16");
    assert_ne!(vpc.ipv6[0].range, other.ipv6[0].range);
    let group = only(&net.done(&new_group(&id, "g")).security_groups);
    assert_eq!(net.now().security_groups[&group].egress.len(), 2, "everything out, with IPv6 too");
    let table = net.table(&id);
    let local = |range| Destination::V6(range);
    assert!(net.route_table(&table).routes.iter().any(|it| it.destination == local(vpc.ipv6[0].range)));
    let plain = net.vpc("10.0.0.0/16");
    net.done(&Change::AssociateVpcIpv6 { vpc: plain.clone() });
    assert_eq!(net.wait(1).now().vpcs[&plain].ipv6[0].state, CidrState::Associated);
}

#[test]
fn a_vpc_goes_only_when_nothing_but_its_own_is_in_it() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let blocked = |net: &super::scene::Net, what: &str| {
        let (code, message) = net.refused(&delete_vpc(&vpc));
        let text = format!("The vpc '{vpc}' has dependencies and cannot be deleted.");
        assert_eq!((code.as_str(), message), ("DependencyViolation", text), "{what}");
    };
    let subnet = net.subnet(&vpc, 0, "10.0.0.0/20");
    blocked(&net, "a subnet");
    net.done(&super::scene::delete_subnet(&subnet));
    let gateway = net.attached(&vpc);
    blocked(&net, "an internet gateway");
    net.done(&Change::DetachInternetGateway { gateway, vpc: vpc.clone() });
    let change =
        Change::CreateEgressOnlyInternetGateway { vpc: vpc.clone(), tags: Tags::new(), token: String::new() };
    let gateway = only(&net.done(&change).egress_only_gateways);
    blocked(&net, "an egress-only internet gateway");
    net.done(&Change::DeleteEgressOnlyInternetGateway { gateway });
    let table = net.table(&vpc);
    blocked(&net, "a route table");
    net.done(&Change::DeleteRouteTable { table });
    let group = net.group(&vpc, "g");
    blocked(&net, "a security group");
    net.done(&Change::DeleteSecurityGroup { group });
    net.done(&delete_vpc(&vpc));
    let now = net.now();
    assert!(now.vpcs.is_empty() && now.route_tables.is_empty() && now.security_groups.is_empty());
    let (code, message) = net.refused(&delete_vpc(&vpc));
    assert_eq!(
        (code.as_str(), message),
        ("InvalidVpcID.NotFound", format!("The vpc ID '{vpc}' does not exist"))
    );
}

#[test]
fn the_region_begins_with_a_network_as_aws_would_have_it() {
    use crate::core::network::{INTERNET_GATEWAY, PUBLIC_SUBNETS, VPC};
    let scene = crate::tests::scene::scene();
    let now = scene.with(|region| region.network_now());
    assert_eq!(
        now.internet_gateways.values().map(|it| it.vpc.clone()).collect::<Vec<_>>(),
        [Some(VPC.into())]
    );
    assert_eq!((now.subnets.len(), now.route_tables.len(), now.security_groups.len()), (6, 2, 2));
    let public = now.route_tables.values().find(|table| !table.main).expect("a table of public subnets");
    let subnets: Vec<&str> = public.associations.iter().map(|it| it.subnet.as_str()).collect();
    assert_eq!(subnets, PUBLIC_SUBNETS);
    let target = RouteTarget::InternetGateway(INTERNET_GATEWAY.into());
    assert!(public.routes.iter().any(|route| route.target == target && !route.blackhole));
}
