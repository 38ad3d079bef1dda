//! NAT gateways: minutes until they work or are gone, failures that show later.

use super::scene::{Net, delete_subnet, net, net_with, new_nat, only};
use crate::core::network::NatMishap;
use foo_model::network::{Change, Destination, NatState, RouteTarget};
use foo_model::{AllocationId, NatGatewayId, SubnetId, VpcId, Zone};

/// A VPC with an internet gateway, one public subnet, one address.
fn ready(net: &Net) -> (VpcId, SubnetId, AllocationId) {
    let vpc = net.vpc("10.0.0.0/16");
    let subnet = net.subnet(&vpc, 0, "10.0.0.0/28");
    net.attached(&vpc);
    (vpc, subnet, net.address())
}

fn delete(gateway: &NatGatewayId) -> Change {
    Change::DeleteNatGateway { gateway: gateway.clone() }
}

fn failure(net: &Net, id: &NatGatewayId) -> (NatState, Option<String>) {
    let gateway = net.nat_gateway(id);
    (gateway.state, gateway.failure.map(|(code, _)| code))
}

#[test]
fn a_nat_gateway_takes_minutes_uses_an_interface_and_goes_in_minutes() {
    let net = net();
    let (vpc, subnet, address) = ready(&net);
    let id = net.nat(&subnet, &address);
    assert_eq!(net.nat_gateway(&id).state, NatState::Pending);
    let now = net.now();
    let interface = &now.interfaces[&only(&now.interfaces)];
    assert_eq!(interface.description, format!("Interface for NAT Gateway {id}"));
    assert!(interface.requester_managed && interface.in_use);
    assert_eq!(interface.public_ip, Some(now.addresses[&address].ip.clone()));
    assert_eq!((now.addresses[&address].interface.as_ref(), net.free(&subnet)), (Some(&interface.id), 10));
    net.wait(119);
    assert_eq!(net.nat_gateway(&id).state, NatState::Pending);
    net.wait(1);
    assert_eq!(net.nat_gateway(&id).state, NatState::Available);
    let table = net.table(&vpc);
    net.done(&Change::CreateRoute {
        table: table.clone(),
        destination: Destination::V4("0.0.0.0/0".parse().expect("a range")),
        target: RouteTarget::NatGateway(id.clone()),
    });
    net.done(&delete(&id));
    net.done(&delete(&id));
    assert_eq!(net.nat_gateway(&id).state, NatState::Deleting);
    assert_eq!(net.code(&delete_subnet(&subnet)), "DependencyViolation");
    net.wait(60);
    assert_eq!((net.nat_gateway(&id).state, net.free(&subnet)), (NatState::Deleted, 11));
    assert!(net.route_table(&table).routes[1].blackhole);
    let (code, message) = net.refused(&delete(&id));
    assert_eq!(
        (code.as_str(), message),
        ("NatGatewayNotFound", format!("The Nat Gateway {id} was not found"))
    );
    net.done(&delete_subnet(&subnet));
    assert!(net.wait(3_600).now().nat_gateways.is_empty(), "shown for an hour");
}

#[test]
fn what_cannot_work_fails_after_seconds_and_says_why() {
    let net = net_with(|settings| settings.network_quotas.addresses = 30);
    let vpc = net.vpc("10.0.0.0/16");
    let subnet = net.subnet(&vpc, 0, "10.0.0.0/28");
    let address = net.address();
    let unattached = net.nat(&subnet, &address);
    assert_eq!(failure(&net, &unattached), (NatState::Pending, None));
    net.wait(10);
    assert_eq!(failure(&net, &unattached), (NatState::Failed, Some("Gateway.NotAttached".to_owned())));
    let message = net.nat_gateway(&unattached).failure.expect("a failure").1;
    assert_eq!(message, format!("Network {vpc} has no Internet gateway attached"));
    net.attached(&vpc);
    net.nat(&subnet, &address);
    let twice = net.nat(&subnet, &address);
    net.wait(10);
    assert_eq!(failure(&net, &twice), (NatState::Failed, Some("Resource.AlreadyAssociated".to_owned())));
    net.0.with(|region| while region.network.assign_address(&subnet).is_some() {});
    let full = net.nat(&subnet, &net.address());
    net.wait(10);
    let code = "InsufficientFreeAddressesInSubnet".to_owned();
    assert_eq!(failure(&net, &full), (NatState::Failed, Some(code)));
    assert_eq!(net.now().interfaces.len(), 1, "what failed has none");
    net.done(&delete(&full));
    assert!(!net.wait(3_660).now().nat_gateways.contains_key(&unattached), "shown for an hour");
}

#[test]
fn a_test_lets_the_second_one_of_a_zone_fail() {
    let net = net();
    let (_, subnet, address) = ready(&net);
    let rule = NatMishap {
        zone: Some(Zone::new("eu-central-1a")),
        skip: 1,
        times: Some(1),
        code: "InternalError".to_owned(),
        message: "Something went wrong".to_owned(),
    };
    net.0.with(|region| region.set_nat_mishaps(vec![rule]));
    let other = net.address();
    let gateways = [net.nat(&subnet, &address), net.nat(&subnet, &other), net.nat(&subnet, &net.address())];
    net.wait(10);
    let failed = gateways.map(|id| failure(&net, &id).1);
    assert_eq!(failed, [None, Some("InternalError".to_owned()), None]);
    let free = net.now().addresses[&other].interface.is_none();
    assert!(free, "the address of a failed one is free");
}

#[test]
fn those_pending_available_and_deleting_count_for_the_quota_of_their_zone() {
    let net = net_with(|settings| settings.network_quotas.nat_gateways = 1);
    let (vpc, subnet, address) = ready(&net);
    let id = net.nat(&subnet, &address);
    let other = net.address();
    let (code, message) = net.refused(&new_nat(&subnet, &other, ""));
    let text = "Performing this operation would exceed the limit of 1 NAT gateways";
    assert_eq!((code.as_str(), message.as_str()), ("NatGatewayLimitExceeded", text));
    let elsewhere = net.subnet(&vpc, 1, "10.0.16.0/28");
    net.nat(&elsewhere, &net.address());
    net.done(&delete(&id));
    assert_eq!(net.code(&new_nat(&subnet, &other, "")), "NatGatewayLimitExceeded");
    net.wait(60);
    net.nat(&subnet, &other);
    let (most, used) = net.0.with(|region| region.network_quotas().nat_gateways).expect("a quota");
    assert_eq!((most, used.into_values().collect::<Vec<_>>()), (1, vec![1, 1]));
}

#[test]
fn the_same_token_creates_once_and_another_request_with_it_is_refused() {
    let net = net();
    let (_, subnet, address) = ready(&net);
    let first = net.done(&new_nat(&subnet, &address, "t"));
    assert_eq!(net.done(&new_nat(&subnet, &address, "t")), first);
    assert_eq!(net.now().nat_gateways.len(), 1);
    assert_eq!(net.code(&new_nat(&subnet, &net.address(), "t")), "IdempotentParameterMismatch");
    let refused = new_nat(&SubnetId::new("subnet-0123456789abcdef0"), &address, "u");
    assert_eq!(net.code(&refused), "InvalidSubnetID.NotFound");
    assert_eq!(net.code(&refused), "InvalidSubnetID.NotFound", "a refusal is not remembered");
    net.done(&new_nat(&subnet, &net.address(), "u"));
    assert_eq!(net.now().nat_gateways.len(), 2);
}

#[test]
fn one_that_is_deleted_while_pending_never_becomes_available() {
    let net = net();
    let (_, subnet, address) = ready(&net);
    let id = net.nat(&subnet, &address);
    net.wait(100).done(&delete(&id));
    net.wait(30);
    assert_eq!(net.nat_gateway(&id).state, NatState::Deleting);
    net.wait(30);
    assert_eq!(net.nat_gateway(&id).state, NatState::Deleted);
}
