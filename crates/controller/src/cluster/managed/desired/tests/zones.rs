//! Which zones a network has.

use super::*;

#[test]
fn zones_stay_whatever_zones_the_region_gets() {
    // Begun when there were b, c and d; the status is lost, as after a move.
    let region = Region::with("abcd")
        .has_subnet("subnet-1", ID, "private/eu-central-1b", "10.0.0.0/19", None)
        .has_subnet("subnet-2", ID, "private/eu-central-1c", "10.0.32.0/19", None)
        .has_subnet("subnet-3", ID, "private/eu-central-1d", "10.0.64.0/19", None);
    let three = region.subnets(json!({"subnets": {"types": ["Private"]}}));
    assert_eq!(
        three,
        [
            "private/eu-central-1b 10.0.0.0/19",
            "private/eu-central-1c 10.0.32.0/19",
            "private/eu-central-1d 10.0.64.0/19"
        ]
    );
    let four = region.subnets(json!({"zones": {"count": 4}, "subnets": {"types": ["Private"]}}));
    assert_eq!(four[0], "private/eu-central-1a 10.0.96.0/19");
    assert_eq!(four[1..], three);
    // A read that fails does not stop a network that has all its zones.
    let blind = Region { zones: BTreeMap::new(), ..region };
    assert_eq!(blind.subnets(json!({"subnets": {"types": ["Private"]}})), three);
    assert_eq!(blind.problem(json!({"zones": {"count": 4}})).0, Reason::ZonesUnknown);
}

#[test]
fn subnets_of_another_network_choose_no_zone() {
    let region =
        Region::with("abc").has_subnet("subnet-1", "uid-2", "private/eu-central-1c", "10.0.0.0/19", None);
    let subnets = region.subnets(json!({"zones": {"count": 1}, "subnets": {"types": ["Private"]}}));
    assert_eq!(subnets, ["private/eu-central-1a 10.0.0.0/19"]);
}

#[test]
fn subnets_in_the_status_count_until_they_are_observed() {
    let subnet = |name: &str, cidr: &str| api::SubnetStatus {
        id: format!("subnet-{name}"),
        zone: "eu-central-1c".to_owned(),
        public: false,
        name: Some(name.to_owned()),
        cidr: Some(cidr.to_owned()),
        ipv6_cidr: None,
    };
    let status = api::NetworkStatus {
        subnets: vec![subnet("private/eu-central-1c", "10.0.32.0/19")],
        ..api::NetworkStatus::default()
    };
    let region = Region { status: Some(status), ..Region::with("abc") };
    let one = json!({"zones": {"count": 1}, "subnets": {"types": ["Private"]}});
    assert_eq!(region.subnets(one), ["private/eu-central-1c 10.0.32.0/19"]);
}

#[test]
fn zones_chosen_before_a_crash_stay_chosen() {
    let resource = api::NetworkResource {
        role: "subnet/private/eu-central-1b".to_owned(),
        id: None,
        state: "Missing".to_owned(),
        message: None,
        since: None,
        seen: false,
        attempts: 0,
        reached: None,
        tag_keys: Vec::new(),
    };
    let status = api::NetworkStatus { resources: vec![resource], ..api::NetworkStatus::default() };
    let region = Region { status: Some(status), ..Region::with("abc") };
    let one = json!({"zones": {"count": 1}, "subnets": {"types": ["Private"]}});
    assert_eq!(region.subnets(one), ["private/eu-central-1b 10.0.0.0/19"]);
}

#[test]
fn the_status_selects_between_two_subnets_of_one_role() {
    let recorded = api::SubnetStatus {
        id: "subnet-2".to_owned(),
        zone: "eu-central-1a".to_owned(),
        public: false,
        name: Some("private/eu-central-1a".to_owned()),
        cidr: Some("10.0.32.0/19".to_owned()),
        ipv6_cidr: None,
    };
    let status = api::NetworkStatus { subnets: vec![recorded], ..api::NetworkStatus::default() };
    let region = Region { status: Some(status), ..Region::with("ab") }
        .has_subnet("subnet-1", ID, "private/eu-central-1a", "10.0.0.0/19", None)
        .has_subnet("subnet-2", ID, "private/eu-central-1a", "10.0.32.0/19", None);
    assert_eq!(
        region.subnets(json!({"zones": {"count": 2}, "subnets": {"types": ["Private"]}})),
        ["private/eu-central-1a 10.0.32.0/19", "private/eu-central-1b 10.0.64.0/19"]
    );
}

#[test]
fn zones_that_are_chosen_are_available_availability_zones_that_eks_can_use() {
    let mut region = Region { name: Some("us-east-1"), ..Region::default() };
    region.zones.extend([
        zone("us-east-1", 'a', "use1-az3"),
        zone("us-east-1", 'b', "use1-az1"),
        zone("us-east-1", 'c', "use1-az2"),
        zone("us-east-1", 'd', "use1-az4"),
    ]);
    let (local, mut info) = zone("us-east-1", 'e', "use1-bos1-az1");
    info.is_availability_zone = false;
    region.zones.insert(local, info);
    let (down, mut info) = zone("us-east-1", 'f', "use1-az5");
    info.available = false;
    region.zones.insert(down, info);
    let of = |spec| {
        let desired = region.desired(spec).unwrap();
        let zones: BTreeSet<Zone> = desired.subnets.iter().map(|it| it.zone.clone()).collect();
        zones.into_iter().map(|zone| zone.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of(json!({})), ["us-east-1b", "us-east-1c", "us-east-1d"]);
    // A zone that is named is used.
    assert_eq!(of(json!({"zones": {"names": ["us-east-1f", "us-east-1a"]}})), ["us-east-1a", "us-east-1f"]);
    assert_eq!(
        region.problem(json!({"zones": {"count": 4}})),
        (
            Reason::ZonesTooFew,
            "region us-east-1 has 3 Availability Zones that can be used (us-east-1b, us-east-1c, us-east-1d), and 4 are \
             requested: set spec.network.managed.zones"
                .to_owned()
        )
    );
    assert_eq!(
        region.problem(json!({"zones": {"names": ["us-east-1e"]}})).1,
        "us-east-1e is a Local Zone or a Wavelength Zone, not an Availability Zone; there are us-east-1b, us-east-1c, \
         us-east-1d"
    );
}

#[test]
fn zones_that_the_region_does_not_have_are_named() {
    let region = Region::with("abc");
    let problem = (
        Reason::ZoneNotFound,
        "region eu-central-1 has no Availability Zone eu-central-1x; there are eu-central-1a, eu-central-1b, eu-central-1c"
            .to_owned(),
    );
    assert_eq!(region.problem(json!({"zones": {"names": ["eu-central-1x"]}})), problem);
    let listed = json!([{"name": "a", "type": "Private", "zone": "eu-central-1x", "cidr": "10.0.0.0/24"}]);
    assert_eq!(region.problem(json!({"egress": "None", "subnets": {"list": listed}})), problem);
}

#[test]
fn a_zone_with_subnets_cannot_be_left_out() {
    let region = Region::with("abc").has_subnet("subnet-1", ID, "private/eu-central-1c", "10.0.0.0/19", None);
    let (reason, message) = region.problem(json!({"zones": {"names": ["eu-central-1a"]}}));
    assert_eq!(reason, Reason::ZoneInUse);
    assert!(message.starts_with("the network has subnets in eu-central-1c, which"), "{message}");
}

fn resource(role: &str, id: Option<&str>) -> api::NetworkResource {
    let mut resource = json!({"role": role, "state": "Missing"});
    if let Some(id) = id {
        resource["id"] = json!(id);
    }
    serde_json::from_value(resource).unwrap()
}

#[test]
fn a_zone_without_subnets_can_be_left_out() {
    let status = |resources: &[api::NetworkResource]| api::NetworkStatus {
        resources: resources.to_vec(),
        ..api::NetworkStatus::default()
    };
    let b = resource("subnet/private/eu-central-1b", None);
    let names = |letters: &str| {
        let names: Vec<String> = letters.chars().map(|letter| format!("eu-central-1{letter}")).collect();
        json!({"zones": {"names": names}, "subnets": {"types": ["Private"]}})
    };
    let region = Region { status: Some(status(std::slice::from_ref(&b))), ..Region::with("abc") };
    assert_eq!(region.subnets(names("a")), ["private/eu-central-1a 10.0.0.0/19"]);
    // While it is being created this is unknown.
    let mut creating = status(&[]);
    let intent = json!({"role": b.role, "since": "2026-01-01T00:00:00Z", "attempt": 0});
    creating.intents.push(serde_json::from_value(intent).unwrap());
    let region = Region { status: Some(creating), ..Region::with("abc") };
    assert_eq!(region.subnets(names("a")).len(), 2);
    let exists = resource("subnet/private/eu-central-1b", Some("subnet-1"));
    let region = Region { status: Some(status(&[exists])), ..Region::with("abc") };
    assert_eq!(region.problem(names("a")).0, Reason::ZoneInUse);
}

#[test]
fn a_count_can_be_lowered_to_the_zones_with_subnets() {
    let resources = ["b", "c"].map(|letter| resource(&format!("subnet/private/eu-central-1{letter}"), None));
    let status = api::NetworkStatus { resources: resources.to_vec(), ..api::NetworkStatus::default() };
    let region = Region { status: Some(status), ..Region::with("abc") };
    let count = |count: i32| json!({"zones": {"count": count}, "subnets": {"types": ["Private"]}});
    assert_eq!(region.subnets(count(1)), ["private/eu-central-1b 10.0.0.0/19"]);
    let region = region.has_subnet("subnet-1", ID, "private/eu-central-1c", "10.0.0.0/19", None);
    assert_eq!(region.subnets(count(1)), ["private/eu-central-1c 10.0.0.0/19"]);
}

#[test]
fn names_of_listed_subnets_are_not_zones() {
    let status = api::NetworkStatus {
        resources: vec![resource("subnet/private/nodes", None)],
        ..api::NetworkStatus::default()
    };
    let one = json!({"zones": {"count": 1}, "subnets": {"types": ["Private"]}});
    let region = Region { status: Some(status), ..Region::with("ab") };
    assert_eq!(region.subnets(one), ["private/eu-central-1a 10.0.0.0/19"]);
}
