//! What shows late: ids, tags, and everything with a read lag (EC2 Developer Guide, "Eventual consistency").

use super::scene::{net, net_with, new_subnet, only, tags};
use crate::core::settings::NewParts;
use foo_model::network::{Change, Kind, Scope, Tags};
use std::collections::BTreeMap;
use std::time::Duration;

fn tagged(key: &str) -> Change {
    let cidr = "10.0.0.0/16".parse().expect("a range");
    Change::CreateVpc { cidr, ipv6: false, tags: tags(&[(key, "v")]) }
}

#[test]
fn a_new_id_is_neither_shown_nor_known_for_a_while() {
    let late = BTreeMap::from([(Kind::Vpc, Duration::from_secs(5))]);
    let net = net_with(|settings| settings.parts_appear_after = late);
    let vpc = only(&net.done(&tagged("k")).vpcs);
    let seen = || net.seen(Kind::Vpc, &Scope::Ids([vpc.to_string()].into())).vpcs.len();
    assert_eq!(seen(), 0);
    assert_eq!(net.code(&new_subnet(&vpc, 0, "10.0.0.0/20")), "InvalidVpcID.NotFound");
    assert_eq!(net.code(&super::scene::delete_vpc(&vpc)), "InvalidVpcID.NotFound");
    net.wait(5);
    assert_eq!(seen(), 1);
    net.subnet(&vpc, 0, "10.0.0.0/20");
}

#[test]
fn changes_can_know_an_id_that_reads_do_not_show_yet() {
    let late = BTreeMap::from([(Kind::Vpc, Duration::from_secs(5))]);
    let net = net_with(|settings| {
        (settings.parts_appear_after, settings.new_parts) = (late, NewParts::NotDescribed);
    });
    let vpc = only(&net.done(&tagged("k")).vpcs);
    assert_eq!(net.seen(Kind::Vpc, &Scope::Ids([vpc.to_string()].into())).vpcs.len(), 0);
    net.done(&super::scene::delete_vpc(&vpc));
}

#[test]
fn tags_show_late_and_what_they_name_is_not_found_by_them() {
    let net = net_with(|settings| settings.tags_appear_after = Duration::from_secs(5));
    let vpc = only(&net.done(&tagged("k")).vpcs);
    let by_key = || net.seen(Kind::Vpc, &Scope::TagKey("k".to_owned())).vpcs.len();
    let by_tag = || net.seen(Kind::Vpc, &Scope::Tag("k".to_owned(), "v".to_owned())).vpcs.len();
    let by_id = || net.seen(Kind::Vpc, &Scope::Ids([vpc.to_string()].into())).vpcs[&vpc].tags.len();
    assert_eq!((by_key(), by_tag(), by_id()), (0, 0, 0));
    net.wait(5);
    assert_eq!((by_key(), by_tag(), by_id()), (1, 1, 1));
    assert_eq!(net.seen(Kind::Vpc, &Scope::Tag("k".to_owned(), "w".to_owned())).vpcs.len(), 0);
}

#[test]
fn reads_are_as_old_as_the_read_lag_and_changes_are_not() {
    let net = net_with(|settings| settings.read_lag = Duration::from_secs(10));
    let vpc = only(&net.done(&tagged("k")).vpcs);
    let all = || net.seen(Kind::Vpc, &Scope::TagKey("k".to_owned())).vpcs.len();
    assert_eq!(all(), 0);
    net.wait(10);
    assert_eq!(all(), 1);
    net.done(&super::scene::delete_vpc(&vpc));
    assert_eq!(all(), 1);
    net.wait(10);
    assert_eq!(all(), 0);
}

#[test]
fn parts_of_a_vpc_and_all_addresses_are_found_by_vpc() {
    let net = net();
    let (vpc, other) = (net.vpc("10.0.0.0/16"), net.vpc("10.0.0.0/16"));
    net.subnet(&vpc, 0, "10.0.0.0/20");
    net.subnet(&other, 0, "10.0.0.0/20");
    net.attached(&other);
    net.address();
    let count = |kind| {
        let parts = net.seen(kind, &Scope::Vpc(vpc.clone()));
        parts.subnets.len()
            + parts.internet_gateways.len()
            + parts.addresses.len()
            + parts.security_groups.len()
    };
    let found = [Kind::Subnet, Kind::InternetGateway, Kind::Address, Kind::SecurityGroup].map(count);
    assert_eq!(found, [1, 0, 1, 1]);
    let zones = net.seen(Kind::Zone, &Scope::Vpc(vpc.clone())).zones;
    assert_eq!(
        zones.values().map(|zone| zone.id.as_str()).collect::<Vec<_>>(),
        ["euc1-az1", "euc1-az2", "euc1-az3"]
    );
}

#[test]
fn tags_of_every_kind_are_created_overwritten_and_deleted() {
    let net = net();
    let vpc = net.vpc("10.0.0.0/16");
    let subnet = net.subnet(&vpc, 0, "10.0.0.0/20");
    let (gateway, address, table) = (net.attached(&vpc), net.address(), net.table(&vpc));
    let nat = net.nat(&subnet, &address);
    let interface = only(&net.now().interfaces);
    let ids = [
        vpc.to_string(),
        subnet.to_string(),
        gateway.to_string(),
        address.to_string(),
        table.to_string(),
        nat.to_string(),
        interface.to_string(),
    ];
    let tag = |value: &str| Change::CreateTags { ids: ids.clone().into(), tags: tags(&[("k", value)]) };
    net.done(&tag("1"));
    net.done(&tag("2"));
    let now = net.now();
    let wanted = tags(&[("k", "2")]);
    assert_eq!(
        [&now.vpcs[&vpc].tags, &now.addresses[&address].tags, &now.nat_gateways[&nat].tags],
        [&wanted; 3]
    );
    assert_eq!([&now.interfaces[&interface].tags, &now.route_tables[&table].tags], [&wanted; 2]);
    net.done(&Change::DeleteTags { ids: ids.into(), keys: ["k".to_owned()].into() });
    assert!(net.now().subnets[&subnet].tags.is_empty());
    let some_unknown = Change::CreateTags {
        ids: [vpc.to_string(), "igw-0123456789abcdef0".to_owned()].into(),
        tags: tags(&[("k", "3")]),
    };
    assert_eq!(net.code(&some_unknown), "InvalidInternetGatewayID.NotFound");
    let reserved = Change::CreateInternetGateway { tags: tags(&[("aws:x", "1")]) };
    assert_eq!(net.code(&reserved), "InvalidParameterValue");
    let many: Tags = (0..51).map(|n| (n.to_string(), String::new())).collect();
    assert_eq!(net.code(&Change::CreateInternetGateway { tags: many }), "TagLimitExceeded");
}
