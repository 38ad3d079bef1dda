//! Route tables, their associations and routes (VPC User Guide, "Configure route tables").

use super::scene::{Net, net, net_with, only};
use foo_model::network::{Change, Destination, RouteTarget, Tags};
use foo_model::{AssociationId, NatGatewayId, RouteTableId, SubnetId};

fn v4(range: &str) -> Destination {
    Destination::V4(range.parse().expect("a range"))
}

fn create(table: &RouteTableId, destination: &str, target: &RouteTarget) -> Change {
    Change::CreateRoute { table: table.clone(), destination: v4(destination), target: target.clone() }
}

fn replace(table: &RouteTableId, destination: &str, target: &RouteTarget) -> Change {
    Change::ReplaceRoute { table: table.clone(), destination: v4(destination), target: target.clone() }
}

fn delete_route(table: &RouteTableId, destination: &str) -> Change {
    Change::DeleteRoute { table: table.clone(), destination: v4(destination) }
}

fn associate(table: &RouteTableId, subnet: &SubnetId) -> Change {
    Change::AssociateRouteTable { table: table.clone(), subnet: subnet.clone() }
}

fn association(net: &Net, change: &Change) -> AssociationId {
    let response = net.done(change);
    response.route_tables.values().next().expect("a table").associations[0].id.clone()
}

#[test]
fn a_destination_has_one_route_which_can_be_replaced_and_deleted() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let table = net.table(&vpc);
    let target = RouteTarget::InternetGateway(net.attached(&vpc));
    let (code, message) = net.refused(&replace(&table, "0.0.0.0/0", &target));
    let text = "There is no route defined for '0.0.0.0/0' in the route table. Use CreateRoute instead.";
    assert_eq!((code.as_str(), message.as_str()), ("InvalidParameterValue", text));
    net.done(&create(&table, "0.0.0.0/0", &target));
    let (code, message) = net.refused(&create(&table, "0.0.0.0/0", &target));
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("RouteAlreadyExists", "The route identified by 0.0.0.0/0 already exists.")
    );
    let subnet = net.subnet(&vpc, 0, "10.0.0.0/20");
    let nat = RouteTarget::NatGateway(net.nat(&subnet, &net.address()));
    net.done(&replace(&table, "0.0.0.0/0", &nat));
    assert_eq!(net.route_table(&table).routes[1].target, nat);
    net.done(&delete_route(&table, "0.0.0.0/0"));
    let (code, message) = net.refused(&delete_route(&table, "0.0.0.0/0"));
    let text = format!("no route with destination-cidr-block 0.0.0.0/0 in route table {table}");
    assert_eq!((code.as_str(), message), ("InvalidRoute.NotFound", text));
}

#[test]
fn local_routes_stay_and_nothing_more_specific_is_routed_elsewhere() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let table = net.table(&vpc);
    let target = RouteTarget::InternetGateway(net.attached(&vpc));
    assert_eq!(net.code(&create(&table, "10.0.0.0/16", &target)), "RouteAlreadyExists");
    let (code, message) = net.refused(&create(&table, "10.0.1.0/24", &target));
    assert_eq!(code, "InvalidParameterValue");
    assert!(message.contains("equal to or more specific than one of this VPC's CIDR blocks"), "{message}");
    let (code, message) = net.refused(&delete_route(&table, "10.0.0.0/16"));
    let text = format!("cannot remove local route 10.0.0.0/16 in route table {table}");
    assert_eq!((code.as_str(), message), ("InvalidParameterValue", text));
    net.done(&create(&table, "10.0.0.0/8", &target));
}

#[test]
fn targets_are_of_the_same_vpc_and_exist() {
    let net = net();
    let (vpc, other) = (net.vpc("10.0.0.0/16"), net.vpc("10.0.0.0/16"));
    let table = net.table(&vpc);
    let foreign = net.attached(&other);
    let (code, message) =
        net.refused(&create(&table, "0.0.0.0/0", &RouteTarget::InternetGateway(foreign.clone())));
    let text = format!("route table {table} and network gateway {foreign} belong to different networks");
    assert_eq!((code.as_str(), message), ("InvalidParameterValue", text));
    let detached = RouteTarget::InternetGateway(net.gateway());
    assert_eq!(net.code(&create(&table, "0.0.0.0/0", &detached)), "InvalidParameterValue");
    let unknown = NatGatewayId::new("nat-0123456789abcdef0");
    let (code, message) =
        net.refused(&create(&table, "0.0.0.0/0", &RouteTarget::NatGateway(unknown.clone())));
    let text = format!("The natGateway ID '{unknown}' does not exist");
    assert_eq!((code.as_str(), message), ("InvalidNatGatewayID.NotFound", text));
    for target in [RouteTarget::Local, RouteTarget::Other("tgw-1".to_owned())] {
        assert_eq!(net.code(&create(&table, "0.0.0.0/0", &target)), "InvalidParameterValue");
    }
}

#[test]
fn a_subnet_has_one_association_and_a_table_in_use_stays() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let subnet = net.subnet(&vpc, 0, "10.0.0.0/20");
    let (one, two) = (net.table(&vpc), net.table(&vpc));
    let first = association(&net, &associate(&one, &subnet));
    for table in [&one, &two] {
        let (code, message) = net.refused(&associate(table, &subnet));
        let text = format!(
            "the specified association for route table {table} conflicts with an existing association"
        );
        assert_eq!((code.as_str(), message), ("Resource.AlreadyAssociated", text));
    }
    let (code, message) = net.refused(&Change::DeleteRouteTable { table: one.clone() });
    let text = format!("The routeTable '{one}' has dependencies and cannot be deleted.");
    assert_eq!((code.as_str(), message), ("DependencyViolation", text));
    let replaced = Change::ReplaceRouteTableAssociation { association: first.clone(), table: two.clone() };
    let second = association(&net, &replaced);
    assert_ne!(first, second);
    let (code, message) = net.refused(&Change::DisassociateRouteTable { association: first.clone() });
    let text = format!("The association ID '{first}' does not exist");
    assert_eq!((code.as_str(), message), ("InvalidAssociationID.NotFound", text));
    net.done(&Change::DeleteRouteTable { table: one });
    net.done(&Change::DisassociateRouteTable { association: second });
    net.done(&Change::DeleteRouteTable { table: two });
    let elsewhere = net.table(&net.vpc("10.0.0.0/16"));
    let (code, message) = net.refused(&associate(&elsewhere, &subnet));
    let text = format!("Route table {elsewhere} and subnet {subnet} belong to different networks");
    assert_eq!((code.as_str(), message), ("InvalidParameterValue", text));
}

#[test]
fn the_main_table_stays_until_another_one_takes_its_place() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let main = only(&net.now().route_tables);
    assert_eq!(net.code(&Change::DeleteRouteTable { table: main.clone() }), "DependencyViolation");
    let association = net.0.with(|region| region.network.main_associations[&vpc].clone());
    let (code, message) = net.refused(&Change::DisassociateRouteTable { association: association.clone() });
    let text = format!("cannot disassociate the main route table association {association}");
    assert_eq!((code.as_str(), message), ("InvalidParameterValue", text));
    let table = net.table(&vpc);
    net.done(&Change::ReplaceRouteTableAssociation { association, table: table.clone() });
    assert!(net.route_table(&table).main && !net.route_table(&main).main);
    net.done(&Change::DeleteRouteTable { table: main });
}

#[test]
fn there_are_as_many_tables_as_the_quota_says_and_tokens_create_once() {
    let net = net_with(|settings| settings.network_quotas.route_tables = 2);
    let vpc = net.vpc("10.0.0.0/16");
    let create = |token: &str| Change::CreateRouteTable {
        vpc: vpc.clone(),
        tags: Tags::new(),
        token: token.to_owned(),
    };
    assert_eq!(net.done(&create("a")), net.done(&create("a")));
    assert_eq!(net.code(&create("b")), "RouteTableLimitExceeded");
}
