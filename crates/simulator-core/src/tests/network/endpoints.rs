//! VPC endpoints (AWS PrivateLink Guide).

use super::scene::{Net, delete_subnet, delete_vpc, dns, net, net_with, only};
use crate::core::network::EndpointMishap;
use foo_model::network::{
    Change, Destination, DnsAttribute, EndpointChange, EndpointKind, EndpointState, RouteTarget, Tags,
};
use foo_model::{EndpointId, RouteTableId, SubnetId, VpcId};

fn service(name: &str) -> String {
    format!("com.amazonaws.eu-central-1.{name}")
}

fn create(vpc: &VpcId, name: &str, kind: EndpointKind, token: &str) -> Change {
    let (service, token) = (service(name), token.to_owned());
    Change::CreateVpcEndpoint { vpc: vpc.clone(), service, kind, tags: Tags::new(), token }
}

fn gateway(tables: &[&RouteTableId]) -> EndpointKind {
    EndpointKind::Gateway { tables: tables.iter().map(|id| (*id).clone()).collect() }
}

fn interface(subnets: &[&SubnetId], private_dns: bool) -> EndpointKind {
    let subnets = subnets.iter().map(|id| (*id).clone()).collect();
    EndpointKind::Interface { subnets, groups: [].into(), private_dns }
}

fn endpoint(net: &Net, change: &Change) -> EndpointId {
    only(&net.done(change).endpoints)
}

fn delete(ids: &[&EndpointId]) -> Change {
    Change::DeleteVpcEndpoints { endpoints: ids.iter().map(|id| (*id).clone()).collect() }
}

fn modify(endpoint: &EndpointId, change: EndpointChange) -> Change {
    Change::ModifyVpcEndpoint { endpoint: endpoint.clone(), change }
}

fn has_route(net: &Net, table: &RouteTableId, endpoint: &EndpointId) -> bool {
    let target = RouteTarget::Endpoint(endpoint.clone());
    net.route_table(table).routes.iter().any(|route| route.target == target)
}

#[test]
fn a_gateway_endpoint_is_a_route_in_each_of_its_tables() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let (one, two) = (net.table(&vpc), net.table(&vpc));
    let s3 = endpoint(&net, &create(&vpc, "s3", gateway(&[&one]), ""));
    assert_eq!(net.now().endpoints[&s3].state, EndpointState::Available);
    assert!(has_route(&net, &one, &s3) && !has_route(&net, &two, &s3));
    let list = net.route_table(&one).routes[1].destination.clone();
    assert!(matches!(&list, Destination::Prefixes(list) if list.as_str().starts_with("pl-")));
    let (code, message) = net.refused(&create(&vpc, "s3", gateway(&[&two, &one]), ""));
    assert_eq!(code, "RouteAlreadyExists");
    assert!(
        message
            .starts_with(&format!("route table {one} already has a route with destination-prefix-list-id"))
    );
    let delete_route = Change::DeleteRoute { table: one.clone(), destination: list };
    assert_eq!(net.code(&delete_route), "InvalidParameterValue");
    let moved = EndpointChange {
        add_tables: [two.clone()].into(),
        remove_tables: [one.clone()].into(),
        ..EndpointChange::default()
    };
    net.done(&modify(&s3, moved));
    assert!(!has_route(&net, &one, &s3) && has_route(&net, &two, &s3));
    assert_eq!(net.now().endpoints[&s3].kind, gateway(&[&two]));
    assert_eq!(net.code(&delete_vpc(&vpc)), "DependencyViolation");
    net.done(&delete(&[&s3]));
    assert!(net.now().endpoints.is_empty() && !has_route(&net, &two, &s3));
}

#[test]
fn an_interface_endpoint_has_an_interface_per_subnet_and_takes_its_time() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let (a, b) = (net.subnet(&vpc, 0, "10.0.0.0/20"), net.subnet(&vpc, 1, "10.0.16.0/20"));
    let sts = endpoint(&net, &create(&vpc, "sts", interface(&[&a], false), ""));
    let state = |net: &Net| net.now().endpoints[&sts].state;
    assert_eq!((state(&net), net.free(&a), net.free(&b)), (EndpointState::Pending, 4090, 4091));
    net.wait(60);
    assert_eq!(state(&net), EndpointState::Available);
    let default = only(&net.now().security_groups);
    let group = net.group(&vpc, "endpoints");
    let change = EndpointChange {
        add_subnets: [b.clone()].into(),
        add_groups: [group.clone()].into(),
        remove_groups: [default.clone()].into(),
        ..EndpointChange::default()
    };
    net.done(&modify(&sts, change));
    let now = net.now();
    assert_eq!((net.free(&a), net.free(&b)), (4090, 4090));
    for interface in now.interfaces.values() {
        assert_eq!(interface.groups, [group.clone()].into());
        assert_eq!(interface.interface_type, "vpc_endpoint");
        assert!(interface.requester_managed);
    }
    assert_eq!(net.code(&Change::DeleteSecurityGroup { group: group.clone() }), "DependencyViolation");
    let last = EndpointChange { remove_groups: [group].into(), ..EndpointChange::default() };
    assert_eq!(net.code(&modify(&sts, last)), "InvalidParameter");
    let less = EndpointChange { remove_subnets: [a.clone()].into(), ..EndpointChange::default() };
    net.done(&modify(&sts, less));
    net.done(&delete_subnet(&a));
    net.done(&delete(&[&sts]));
    assert_eq!(
        (state(&net), net.code(&delete_subnet(&b))),
        (EndpointState::Deleting, "DependencyViolation".into())
    );
    net.wait(60);
    assert!(net.now().endpoints.is_empty() && net.now().interfaces.is_empty());
    net.done(&delete_subnet(&b));
}

#[test]
fn a_test_lets_the_next_ones_fail() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let subnet = net.subnet(&vpc, 0, "10.0.0.0/20");
    let failure = "Other: there is no room".to_owned();
    net.0.with(|region| region.set_endpoint_mishap(EndpointMishap { times: 1, failure: failure.clone() }));
    let state = |id: &EndpointId| {
        let endpoint = net.now().endpoints[id].clone();
        (endpoint.state, endpoint.failure)
    };
    for expected in [(EndpointState::Failed, Some(failure)), (EndpointState::Available, None)] {
        let token = format!("{expected:?}");
        let id = endpoint(&net, &create(&vpc, "sts", interface(&[&subnet], false), &token));
        assert_eq!(state(&id), (EndpointState::Pending, None));
        net.wait(60);
        assert_eq!(state(&id), expected);
        net.done(&delete(&[&id]));
    }
}

#[test]
fn services_types_subnets_and_tables_are_checked() {
    let net = net();
    let (vpc, other) = (net.vpc("10.0.0.0/16"), net.vpc("10.0.0.0/16"));
    let (a, b) = (net.subnet(&vpc, 0, "10.0.0.0/20"), net.subnet(&vpc, 0, "10.0.16.0/20"));
    let foreign = net.subnet(&other, 1, "10.0.0.0/20");
    let (code, message) = net.refused(&create(&vpc, "nothing", interface(&[&a], false), ""));
    let text = "The Vpc Endpoint Service 'com.amazonaws.eu-central-1.nothing' does not exist";
    assert_eq!((code.as_str(), message.as_str()), ("InvalidServiceName", text));
    assert_eq!(net.code(&create(&vpc, "sts", gateway(&[]), "")), "InvalidParameter");
    assert_eq!(net.code(&create(&vpc, "sts", EndpointKind::Other("X".into()), "")), "InvalidParameter");
    assert_eq!(net.code(&create(&vpc, "sts", interface(&[&a, &b], false), "")), "DuplicateSubnetsInSameZone");
    assert_eq!(net.code(&create(&vpc, "sts", interface(&[&foreign], false), "")), "InvalidParameter");
    let table = net.table(&other);
    assert_eq!(net.code(&create(&vpc, "s3", gateway(&[&table]), "")), "InvalidParameter");
}

#[test]
fn private_dns_needs_a_vpc_that_resolves_and_leads_to_one_endpoint() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let a = net.subnet(&vpc, 0, "10.0.0.0/20");
    let (code, message) = net.refused(&create(&vpc, "ecr.api", interface(&[&a], true), ""));
    assert_eq!(code, "InvalidParameter");
    assert!(
        message.starts_with("Enabling private DNS requires both enableDnsSupport and enableDnsHostnames")
    );
    net.done(&dns(&vpc, DnsAttribute::Hostnames, true));
    let first = endpoint(&net, &create(&vpc, "ecr.api", interface(&[&a], true), ""));
    let (_, message) = net.refused(&create(&vpc, "ecr.api", interface(&[&a], true), ""));
    let text = format!(
        "private-dns-enabled cannot be set because there is already a conflicting DNS domain for \
         api.ecr.eu-central-1.amazonaws.com in the VPC {vpc}"
    );
    assert_eq!(message, text);
    let second = endpoint(&net, &create(&vpc, "ecr.api", interface(&[&a], false), ""));
    let on = || EndpointChange { private_dns: Some(true), ..EndpointChange::default() };
    assert_eq!(net.code(&modify(&second, on())), "InvalidParameter");
    net.done(&modify(&first, on()));
    net.done(&modify(&first, EndpointChange { private_dns: Some(false), ..EndpointChange::default() }));
    net.done(&modify(&second, on()));
}

#[test]
fn tokens_create_once_quotas_hold_and_deletion_does_what_it_can() {
    let net = net_with(|settings| settings.network_quotas.endpoints = 2);
    let vpc = net.vpc("10.0.0.0/16");
    let s3 = endpoint(&net, &create(&vpc, "s3", gateway(&[]), "t"));
    assert_eq!(endpoint(&net, &create(&vpc, "s3", gateway(&[]), "t")), s3);
    assert_eq!(net.code(&create(&vpc, "dynamodb", gateway(&[]), "t")), "IdempotentParameterMismatch");
    net.done(&create(&vpc, "dynamodb", gateway(&[]), ""));
    assert_eq!(net.code(&create(&vpc, "dynamodb", gateway(&[]), "")), "VpcEndpointLimitExceeded");
    let unknown = EndpointId::new("vpce-0123456789abcdef0");
    let refused = net.change(&delete(&[&unknown, &s3])).expect_err("one is unknown");
    assert_eq!(refused.code, "InvalidVpcEndpointId.NotFound");
    assert!(!net.now().endpoints.contains_key(&s3), "the other one is deleted");
}

#[test]
fn a_table_that_goes_is_taken_from_its_endpoint() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let table = net.table(&vpc);
    let s3 = endpoint(&net, &create(&vpc, "s3", gateway(&[&table]), ""));
    net.done(&Change::DeleteRouteTable { table });
    assert_eq!(net.now().endpoints[&s3].kind, gateway(&[]));
}
