//! How many NAT gateways a network that does not exist needs.

use super::*;
use serde_json::{Value, json};

fn zones_of(network: Value) -> Result<Vec<String>, String> {
    let info = |letter: char| {
        let name = Zone::new(format!("eu-central-1{letter}"));
        let info = ZoneInfo {
            id: format!("euc1-az{letter}"),
            name: name.clone(),
            is_availability_zone: true,
            available: true,
        };
        (name, info)
    };
    let known = "abc".chars().map(info).collect();
    let network = serde_json::from_value(network).unwrap();
    let zones = nat_zones(&network, "eu-central-1", &known)?;
    Ok(zones.into_iter().map(|zone| zone.to_string().replace("eu-central-1", "")).collect())
}

/// Subnets as `public a`, one by one.
fn list(nat: &str, subnets: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let subnet = |(number, (tier, zone)): (usize, &(&str, &str))| {
        json!({
            "name": format!("s{number}"), "type": tier, "zone": format!("eu-central-1{zone}"),
            "cidr": format!("10.0.{number}.0/24"),
        })
    };
    let list: Vec<Value> = subnets.iter().enumerate().map(subnet).collect();
    zones_of(json!({"nat": nat, "subnets": {"list": list}}))
}

#[test]
fn nat_gateways_are_in_public_zones_with_private_subnets() {
    let more_public = [("Public", "a"), ("Public", "b"), ("Public", "c"), ("Private", "b")];
    assert_eq!(list("PerZone", &more_public).unwrap(), ["b"]);
    let apart = [("Public", "c"), ("Public", "b"), ("Private", "a")];
    assert_eq!(list("PerZone", &apart).unwrap(), ["b"], "one for all, in the first public zone");
    assert_eq!(list("Single", &apart).unwrap(), ["b"]);
    let two_private = [("Public", "a"), ("Private", "a"), ("Private", "b")];
    assert_eq!(list("PerZone", &two_private).unwrap(), ["a"]);
    let for_pods = [("Public", "a"), ("Public", "b"), ("Private", "a"), ("Pods", "b")];
    assert_eq!(list("PerZone", &for_pods).unwrap(), ["a", "b"], "Pods use the routes of private subnets");
}

#[test]
fn without_private_subnets_there_is_no_nat_gateway() {
    for nat in ["PerZone", "Single"] {
        assert_eq!(list(nat, &[("Public", "a"), ("Public", "b")]).unwrap(), Vec::<String>::new());
    }
    assert_eq!(zones_of(json!({"egress": "None"})).unwrap(), Vec::<String>::new());
}

#[test]
fn a_network_that_is_not_listed_has_one_in_each_zone() {
    assert_eq!(zones_of(json!({})).unwrap(), ["a", "b", "c"]);
    assert_eq!(zones_of(json!({"nat": "Single", "zones": {"count": 2}})).unwrap(), ["a"]);
    assert_eq!(zones_of(json!({"subnets": {"types": ["Private"]}})).unwrap(), Vec::<String>::new());
}

#[test]
fn subnets_for_pods_need_room_in_their_range() {
    let problem = |pods: u8| {
        let network = json!({
            "secondaryCIDRs": ["100.64.0.0/24"],
            "subnets": {"types": ["Public", "Private", "Pods"], "sizes": {"pods": pods}},
        });
        ranges_fit(&serde_json::from_value(network).unwrap())
    };
    assert_eq!(problem(26), Ok(()));
    let unfit = problem(25).unwrap_err();
    assert!(unfit.starts_with("100.64.0.0/24 has room for pods subnets of /25 in 2 of 3 zones"), "{unfit}");
}
