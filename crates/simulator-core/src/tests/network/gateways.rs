//! Internet gateways and egress-only ones.

use super::scene::{Net, net, net_with, only};
use crate::core::network::NewInterface;
use foo_model::network::{Change, Destination, RouteTarget, Tags};
use foo_model::{InternetGatewayId, VpcId};

fn attach(gateway: &InternetGatewayId, vpc: &VpcId) -> Change {
    Change::AttachInternetGateway { gateway: gateway.clone(), vpc: vpc.clone() }
}

fn detach(gateway: &InternetGatewayId, vpc: &VpcId) -> Change {
    Change::DetachInternetGateway { gateway: gateway.clone(), vpc: vpc.clone() }
}

fn delete(gateway: &InternetGatewayId) -> Change {
    Change::DeleteInternetGateway { gateway: gateway.clone() }
}

#[test]
fn a_gateway_is_attached_to_one_vpc_and_a_vpc_has_one_gateway() {
    let net = net();
    let (vpc, other) = (net.vpc("10.0.0.0/16"), net.vpc("10.0.0.0/16"));
    let gateway = net.attached(&vpc);
    for somewhere in [&vpc, &other] {
        let (code, message) = net.refused(&attach(&gateway, somewhere));
        let text = format!("resource {gateway} is already attached to network {vpc}");
        assert_eq!((code.as_str(), message), ("Resource.AlreadyAssociated", text));
    }
    let second = net.gateway();
    let (code, message) = net.refused(&attach(&second, &vpc));
    let text = format!("Network {vpc} already has an internet gateway attached");
    assert_eq!((code.as_str(), message), ("InvalidParameterValue", text));
    let (code, message) = net.refused(&detach(&second, &vpc));
    let text = format!("resource {second} is not attached to network {vpc}");
    assert_eq!((code.as_str(), message), ("Gateway.NotAttached", text));
}

#[test]
fn a_gateway_stays_while_it_is_attached_and_attached_while_addresses_are_mapped() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let subnet = net.subnet(&vpc, 0, "10.0.0.0/20");
    let gateway = net.attached(&vpc);
    let (code, message) = net.refused(&delete(&gateway));
    let text = format!("The internetGateway '{gateway}' has dependencies and cannot be deleted.");
    assert_eq!((code.as_str(), message), ("DependencyViolation", text));
    let interface = with_public_address(&net, &subnet);
    let (code, message) = net.refused(&detach(&gateway, &vpc));
    let text = format!(
        "Network {vpc} has some mapped public address(es). Please unmap those public address(es) before detaching the \
         gateway."
    );
    assert_eq!((code.as_str(), message), ("DependencyViolation", text));
    net.done(&Change::DeleteNetworkInterface { interface });
    net.done(&detach(&gateway, &vpc));
    net.done(&delete(&gateway));
    assert_eq!(net.code(&delete(&gateway)), "InvalidInternetGatewayID.NotFound");
}

fn with_public_address(net: &Net, subnet: &foo_model::SubnetId) -> foo_model::InterfaceId {
    let new = NewInterface {
        subnet: subnet.clone(),
        groups: [].into(),
        description: String::new(),
        requester_managed: false,
        in_use: false,
        public_ip: Some("18.1.2.3".to_owned()),
        tags: Tags::new(),
    };
    net.0.with(|region| region.put_foreign_interface(new)).expect("an interface")
}

#[test]
fn routes_lead_nowhere_while_their_gateway_is_detached() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let gateway = net.attached(&vpc);
    let table = net.table(&vpc);
    net.done(&Change::CreateRoute {
        table: table.clone(),
        destination: Destination::V4("0.0.0.0/0".parse().expect("a range")),
        target: RouteTarget::InternetGateway(gateway.clone()),
    });
    let blackhole = |net: &Net| net.route_table(&table).routes[1].blackhole;
    assert!(!blackhole(&net));
    net.done(&detach(&gateway, &vpc));
    assert!(blackhole(&net));
    net.done(&attach(&gateway, &vpc));
    assert!(!blackhole(&net));
}

#[test]
fn there_are_as_many_internet_gateways_as_the_quota_says() {
    let net = net_with(|settings| settings.network_quotas.internet_gateways = 1);
    net.gateway();
    assert_eq!(
        net.code(&Change::CreateInternetGateway { tags: Tags::new() }),
        "InternetGatewayLimitExceeded"
    );
}

#[test]
fn an_egress_only_gateway_is_one_per_vpc_and_leaves_a_black_hole() {
    let net = net();
    let vpc = net.dual_stack("10.0.0.0/16").id;
    let create = |token: &str| Change::CreateEgressOnlyInternetGateway {
        vpc: vpc.clone(),
        tags: Tags::new(),
        token: token.to_owned(),
    };
    let gateway = only(&net.done(&create("a")).egress_only_gateways);
    assert_eq!(only(&net.done(&create("a")).egress_only_gateways), gateway, "the same token");
    assert_eq!(net.code(&create("b")), "InvalidParameterValue");
    let table = net.table(&vpc);
    let route = |destination| Change::CreateRoute {
        table: table.clone(),
        destination,
        target: RouteTarget::EgressOnlyGateway(gateway.clone()),
    };
    assert_eq!(
        net.code(&route(Destination::V4("0.0.0.0/0".parse().expect("a range")))),
        "InvalidParameterValue"
    );
    net.done(&route(Destination::V6("::/0".parse().expect("a range"))));
    let delete = Change::DeleteEgressOnlyInternetGateway { gateway: gateway.clone() };
    net.done(&delete);
    assert!(net.route_table(&table).routes.iter().any(|route| route.blackhole));
    assert_eq!(net.code(&delete), "InvalidGatewayID.NotFound");
}
