//! Subnets (VPC User Guide, "Subnet CIDR blocks").

use super::scene::{Net, delete_subnet, net, net_with, new_subnet};
use crate::core::network::NewInterface;
use foo_model::network::{Change, CidrState, SubnetAttribute, Tags};
use foo_model::{SubnetId, VpcId, Zone};

#[test]
fn a_subnet_is_pending_and_has_five_addresses_less_than_its_range() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let response = net.done(&new_subnet(&vpc, 1, "10.0.16.9/20"));
    let subnet = response.subnets.values().next().expect("a subnet");
    assert_eq!((subnet.state.as_str(), subnet.cidr.to_string()), ("pending", "10.0.16.0/20".to_owned()));
    assert_eq!((subnet.free_addresses, subnet.zone_id.as_str()), (4091, "euc1-az2"));
    assert!(!subnet.public_ip_on_launch && !subnet.ipv6_on_creation);
    assert_eq!(net.wait(1).now().subnets[&subnet.id].state, "available");
}

#[test]
fn ranges_outside_the_vpc_and_ranges_that_are_taken_are_refused() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    net.subnet(&vpc, 0, "10.0.16.0/20");
    for cidr in ["10.1.0.0/20", "10.0.0.0/15", "10.0.0.0/29", "9.0.0.0/20"] {
        let (code, message) = net.refused(&new_subnet(&vpc, 0, cidr));
        assert_eq!(
            (code.as_str(), message),
            ("InvalidSubnet.Range", format!("The CIDR '{cidr}' is invalid."))
        );
    }
    for cidr in ["10.0.16.0/20", "10.0.31.0/24", "10.0.0.0/16"] {
        let (code, message) = net.refused(&new_subnet(&vpc, 1, cidr));
        let text = format!("The CIDR '{cidr}' conflicts with another subnet");
        assert_eq!((code.as_str(), message), ("InvalidSubnet.Conflict", text));
    }
    let other = net.vpc("10.0.0.0/16");
    net.subnet(&other, 0, "10.0.16.0/20");
}

#[test]
fn zones_vpcs_and_quotas_are_checked() {
    let net = net_with(|settings| settings.network_quotas.subnets = 1);
    let vpc = net.vpc("10.0.0.0/16");
    let mut nowhere = new_subnet(&vpc, 0, "10.0.0.0/20");
    if let Change::CreateSubnet { zone, .. } = &mut nowhere {
        *zone = Zone::new("eu-central-1z");
    }
    let (code, message) = net.refused(&nowhere);
    assert_eq!(code, "InvalidParameterValue");
    assert!(
        message.ends_with("availability zones: eu-central-1a, eu-central-1b, eu-central-1c."),
        "{message}"
    );
    let unknown = VpcId::new("vpc-0123456789abcdef0");
    assert_eq!(net.code(&new_subnet(&unknown, 0, "10.0.0.0/20")), "InvalidVpcID.NotFound");
    assert_eq!(net.code(&new_subnet(&VpcId::new("x"), 0, "10.0.0.0/20")), "InvalidVpcID.Malformed");
    net.subnet(&vpc, 0, "10.0.0.0/20");
    assert_eq!(net.code(&new_subnet(&vpc, 1, "10.0.16.0/20")), "SubnetLimitExceeded");
}

#[test]
fn ipv6_ranges_are_of_the_vpc_one_per_subnet_and_none_twice() {
    let net = net();
    let vpc = net.dual_stack("10.0.0.0/16");
    let all: Vec<_> = vpc.ipv6[0].range.subnets(64).expect("subnets").take(3).collect();
    let create = |cidr: &str, ipv6| Change::CreateSubnet {
        vpc: vpc.id.clone(),
        zone: Zone::new("eu-central-1a"),
        cidr: cidr.parse().expect("a range"),
        ipv6: Some(ipv6),
        tags: Tags::new(),
    };
    let first = super::scene::only(&net.done(&create("10.0.0.0/20", all[0])).subnets);
    assert_eq!(net.wait(1).now().subnets[&first].ipv6[0].state, CidrState::Associated);
    assert_eq!(net.code(&create("10.0.16.0/20", all[0])), "InvalidSubnet.Conflict");
    let outside = "2001:db8::/64".parse().expect("a range");
    assert_eq!(net.code(&create("10.0.16.0/20", outside)), "InvalidSubnet.Range");
    let add = |subnet: &SubnetId, n: usize| Change::AssociateSubnetCidrBlock {
        subnet: subnet.clone(),
        ipv6: all[n],
    };
    assert_eq!(net.code(&add(&first, 1)), "CidrLimitExceeded");
    let second = net.subnet(&vpc.id, 1, "10.0.16.0/20");
    assert_eq!(net.code(&ipv6_on_creation(&second)), "InvalidParameterValue");
    net.done(&add(&second, 1));
    net.wait(1).done(&ipv6_on_creation(&second));
    assert!(net.now().subnets[&second].ipv6_on_creation);
}

fn ipv6_on_creation(subnet: &SubnetId) -> Change {
    let attribute = SubnetAttribute::Ipv6OnCreation;
    Change::ModifySubnetAttribute { subnet: subnet.clone(), attribute, enabled: true }
}

#[test]
fn a_subnet_with_an_interface_stays_and_takes_its_association_with_it() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let subnet = net.subnet(&vpc, 0, "10.0.0.0/28");
    let table = net.table(&vpc);
    net.done(&Change::AssociateRouteTable { table: table.clone(), subnet: subnet.clone() });
    let interface = foreign_interface(&net, &subnet);
    assert_eq!(net.free(&subnet), 10);
    let (code, message) = net.refused(&delete_subnet(&subnet));
    let text = format!("The subnet '{subnet}' has dependencies and cannot be deleted.");
    assert_eq!((code.as_str(), message), ("DependencyViolation", text));
    net.done(&Change::DeleteNetworkInterface { interface });
    assert_eq!(net.free(&subnet), 11);
    net.done(&delete_subnet(&subnet));
    assert!(net.route_table(&table).associations.is_empty());
    net.done(&Change::DeleteRouteTable { table });
    assert_eq!(net.code(&delete_subnet(&subnet)), "InvalidSubnetID.NotFound");
}

fn foreign_interface(net: &Net, subnet: &SubnetId) -> foo_model::InterfaceId {
    let new = NewInterface {
        subnet: subnet.clone(),
        groups: [].into(),
        description: "another user's".to_owned(),
        requester_managed: false,
        in_use: false,
        public_ip: None,
        tags: Tags::new(),
    };
    net.0.with(|region| region.put_foreign_interface(new)).expect("an interface")
}

#[test]
fn instances_use_up_addresses_of_a_subnet_that_was_created_and_keep_it() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let subnet = net.subnet(&vpc, 0, "10.0.0.0/28");
    net.attached(&vpc);
    let attribute = SubnetAttribute::PublicIpOnLaunch;
    net.done(&Change::ModifySubnetAttribute { subnet: subnet.clone(), attribute, enabled: true });
    let template = net.0.with(|region| {
        region
            .create_template(crate::core::ec2::templates::NewTemplate {
                name: "nodes".to_owned(),
                data: without_groups(),
                description: None,
                tags: Tags::new(),
                token: None,
                caller: "arn:test".to_owned(),
            })
            .expect("a template")
            .id
            .clone()
    });
    let mut pool = net.0.pool((0, 2, 4));
    pool.source = Some(crate::tests::scene::source(&template, Some("1")));
    pool.subnets = vec![subnet.clone()];
    net.0.create(pool).expect("a group");
    net.wait(30);
    let now = net.now();
    let default =
        now.security_groups.values().find(|group| group.name == "default").expect("a group").id.clone();
    assert_eq!((net.free(&subnet), now.interfaces.len()), (9, 2));
    for interface in now.interfaces.values() {
        assert!(interface.in_use && interface.instance.is_some() && interface.public_ip.is_some());
        assert_eq!(interface.groups, [default.clone()].into());
    }
    assert_eq!(net.code(&delete_subnet(&subnet)), "DependencyViolation");
    net.0.set_desired(0).expect("accepted");
    net.wait(60);
    assert_eq!((net.free(&subnet), net.now().interfaces.len()), (11, 0));
    net.done(&delete_subnet(&subnet));
}

fn without_groups() -> crate::core::ec2::launch_data::LaunchData {
    use crate::core::document::Document;
    let data = Document::map()
        .with("imageId", Some(Document::text(crate::core::catalogue::IMAGE_X86_64)))
        .with("instanceType", Some(Document::text("m7i.large")));
    crate::core::ec2::launch_data::LaunchData::new(data).expect("good data")
}
