//! What others put into a network, and what they take away.

use super::scene::{Net, delete_subnet, net, only, tags};
use crate::core::network::{NewInterface, NewLoadBalancer};
use foo_model::network::{Change, Destination, Kind, LoadBalancerKind, NatState, RouteTarget, Scope, Tags};
use foo_model::{SecurityGroupId, SubnetId};

fn balancer(subnets: &[&SubnetId], kind: LoadBalancerKind) -> NewLoadBalancer {
    NewLoadBalancer {
        name: "web".to_owned(),
        kind,
        subnets: subnets.iter().map(|id| (*id).clone()).collect(),
        groups: [].into(),
        internet_facing: true,
        deletion_protection: false,
        target_groups: ["web-targets".to_owned()].into(),
        tags: tags(&[("kubernetes.io/cluster/c", "owned")]),
    }
}

fn delete(kind: LoadBalancerKind, arn: &str) -> Change {
    Change::DeleteLoadBalancer { kind, name: "web".to_owned(), arn: Some(arn.to_owned()) }
}

#[test]
fn a_load_balancer_is_in_the_way_until_a_while_after_its_deletion() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let (a, b) = (net.subnet(&vpc, 0, "10.0.0.0/20"), net.subnet(&vpc, 1, "10.0.16.0/20"));
    let gateway = net.attached(&vpc);
    let kind = LoadBalancerKind::Application;
    let arn =
        net.0.with(|region| region.put_load_balancer(balancer(&[&a, &b], kind))).expect("a load balancer");
    let seen = net.seen(Kind::LoadBalancer, &Scope::Vpc(vpc.clone()));
    assert_eq!(only(&seen.load_balancers), arn);
    let now = net.now();
    assert_eq!(now.interfaces.len(), 2);
    for interface in now.interfaces.values() {
        assert!(interface.description.starts_with("ELB app/web/"), "{}", interface.description);
        assert!(interface.requester_managed && interface.in_use && interface.public_ip.is_some());
    }
    let interface = now.interfaces.keys().next().expect("an interface").clone();
    let (code, message) = net.refused(&Change::DeleteNetworkInterface { interface: interface.clone() });
    let text = format!("Network interface '{interface}' is currently in use.");
    assert_eq!((code.as_str(), message), ("InvalidParameterValue", text));
    let target_group = only(&now.target_groups);
    assert_eq!(net.code(&Change::DeleteTargetGroup { arn: target_group.clone() }), "ResourceInUse");
    net.done(&delete(kind, &arn));
    net.done(&delete(kind, &arn));
    assert_eq!(net.code(&delete_subnet(&a)), "DependencyViolation");
    let detach = Change::DetachInternetGateway { gateway, vpc: vpc.clone() };
    assert_eq!(net.code(&detach), "DependencyViolation");
    net.wait(30).done(&delete_subnet(&a));
    net.done(&detach);
    net.done(&Change::DeleteTargetGroup { arn: target_group });
    assert!(net.now().target_groups.is_empty());
}

#[test]
fn classic_ones_have_a_name_and_protected_ones_stay() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let a = net.subnet(&vpc, 0, "10.0.0.0/20");
    let classic = LoadBalancerKind::Classic;
    let name =
        net.0.with(|region| region.put_load_balancer(balancer(&[&a], classic))).expect("a load balancer");
    assert_eq!(name, "web");
    assert_eq!(net.now().interfaces.values().next().expect("one").description, "ELB web");
    let protected =
        NewLoadBalancer { deletion_protection: true, ..balancer(&[&a], LoadBalancerKind::Network) };
    let arn = net.0.with(|region| region.put_load_balancer(protected)).expect("a load balancer");
    let (code, message) = net.refused(&delete(LoadBalancerKind::Network, &arn));
    let text = format!("Load balancer '{arn}' cannot be deleted because deletion protection is enabled");
    assert_eq!((code.as_str(), message), ("OperationNotPermitted", text));
    net.done(&Change::DeleteLoadBalancer { kind: classic, name, arn: None });
    assert_eq!(net.now().load_balancers.len(), 1, "only the classic one of that name");
}

#[test]
fn only_services_delete_their_interfaces() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let subnet = net.subnet(&vpc, 0, "10.0.0.0/20");
    let new = NewInterface {
        subnet,
        groups: [].into(),
        description: "aws-K8S-i-1".to_owned(),
        requester_managed: true,
        in_use: false,
        public_ip: None,
        tags: Tags::new(),
    };
    let interface = net.0.with(|region| region.put_foreign_interface(new)).expect("an interface");
    assert_eq!(net.code(&Change::DeleteNetworkInterface { interface }), "OperationNotPermitted");
}

fn delete_as_another_user(net: &Net, id: &str) -> Result<(), String> {
    net.0.with(|region| region.delete_as_another_user(id)).map_err(|error| error.code)
}

#[test]
fn what_another_user_deletes_is_gone_at_once() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let (subnet, other) = (net.subnet(&vpc, 0, "10.0.0.0/20"), net.subnet(&vpc, 1, "10.0.16.0/20"));
    let (gateway, address, table) = (net.attached(&vpc), net.address(), net.table(&vpc));
    let nat = net.nat(&subnet, &address);
    net.done(&Change::AssociateRouteTable { table: table.clone(), subnet: other.clone() });
    for (destination, target) in [
        ("0.0.0.0/0", RouteTarget::InternetGateway(gateway.clone())),
        ("1.0.0.0/8", RouteTarget::NatGateway(nat.clone())),
    ] {
        let destination = Destination::V4(destination.parse().expect("a range"));
        net.done(&Change::CreateRoute { table: table.clone(), destination, target });
    }
    assert_eq!(delete_as_another_user(&net, subnet.as_str()), Err("DependencyViolation".to_owned()));
    assert_eq!(delete_as_another_user(&net, "nat-0123456789abcdef0"), Err("NatGatewayNotFound".to_owned()));
    delete_as_another_user(&net, gateway.as_str())
        .expect("the gateway, although its VPC has a public address");
    assert_eq!(net.route_table(&table).routes.iter().filter(|route| route.blackhole).count(), 1);
    delete_as_another_user(&net, nat.as_str()).expect("the NAT gateway");
    assert_eq!(net.nat_gateway(&nat).state, NatState::Deleted);
    for id in [subnet.as_str(), address.as_str(), table.as_str(), other.as_str(), vpc.as_str()] {
        delete_as_another_user(&net, id).unwrap_or_else(|code| panic!("{id}: {code}"));
    }
    let now = net.now();
    assert!(
        now.vpcs.is_empty()
            && now.subnets.is_empty()
            && now.addresses.is_empty()
            && now.interfaces.is_empty()
    );
}

#[test]
fn a_security_group_that_another_user_deletes_is_removed_from_rules() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let (one, two) = (net.group(&vpc, "one"), net.group(&vpc, "two"));
    let rule = foo_model::network::Rule {
        protocol: foo_model::network::Protocol::All,
        peer: foo_model::network::Peer::Group(one.clone()),
        description: String::new(),
    };
    net.done(&Change::AuthorizeSecurityGroupIngress { group: two.clone(), rules: [rule].into() });
    delete_as_another_user(&net, one.as_str()).expect("the group");
    assert!(net.now().security_groups[&two].ingress.is_empty());
}

fn idle(subnet: &SubnetId) -> NewInterface {
    NewInterface {
        subnet: subnet.clone(),
        groups: [].into(),
        description: String::new(),
        requester_managed: false,
        in_use: false,
        public_ip: None,
        tags: Tags::new(),
    }
}

#[test]
fn an_edit_needs_no_rules_and_what_it_removes_is_gone_with_its_addresses() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let (subnet, other) = (net.subnet(&vpc, 0, "10.0.0.0/20"), net.subnet(&vpc, 0, "10.0.16.0/20"));
    let free = net.free(&subnet);
    let interface = net.0.with(|region| region.put_foreign_interface(idle(&subnet))).expect("added");
    assert_eq!(net.free(&subnet), free - 1);
    let group = SecurityGroupId::new("sg-foreign");
    net.0.with(|region| {
        region.edit_network(|parts| {
            parts.interfaces.remove(&interface);
            parts.subnets.remove(&other);
            parts.vpcs.get_mut(&vpc).expect("there").tags = tags(&[("k", "v")]);
            let mut copy = parts.security_groups.values().next().expect("the default one").clone();
            copy.id = group.clone();
            parts.security_groups.insert(group.clone(), copy);
        });
    });
    let now = net.now();
    assert_eq!((net.free(&subnet), now.interfaces.len(), now.subnets.len()), (free, 0, 1));
    assert_eq!(now.vpcs[&vpc].tags, tags(&[("k", "v")]));
    assert!(now.security_groups.contains_key(&group));
    net.subnet(&vpc, 0, "10.0.16.0/20");
}

#[test]
fn a_fork_runs_independently() {
    let net = net();
    let fork = net.0.sim.fork();
    net.vpc("10.0.0.0/16");
    let there = |sim: &crate::Simulator| {
        let region = sim.region("eu-central-1");
        region.with(|region| region.network_now().vpcs.len()).expect("a region")
    };
    assert_eq!((there(&net.0.sim), there(&fork)), (1, 0));
}
