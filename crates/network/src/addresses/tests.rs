use super::*;
use proptest::prelude::*;

fn net(text: &str) -> Ipv4Net {
    text.parse().unwrap()
}

fn zones(names: &[&str]) -> Vec<Zone> {
    names.iter().map(|name| Zone::new(format!("eu-central-1{name}"))).collect()
}

fn carving(ranges: &[&str], zones: Vec<Zone>) -> Carving {
    let ranges: Vec<Ipv4Net> = ranges.iter().map(|range| net(range)).collect();
    let sizes = [Tier::Private, Tier::Public].map(|tier| (tier, usual_size(tier, ranges[0])));
    Carving { ranges, sizes: sizes.into(), zones, existing: BTreeMap::new(), foreign: Vec::new() }
}

/// With subnets for Pods, and all of the usual size.
fn carving_with_pods(ranges: &[&str], zones: Vec<Zone>) -> Carving {
    let mut carving = carving(ranges, zones);
    carving.sizes =
        sizes([Tier::Private, Tier::Public, Tier::Pods].map(|tier| (tier, None)), &carving.ranges);
    carving
}

fn shown(carved: &[Carved]) -> Vec<String> {
    carved.iter().map(|subnet| format!("{} {}", subnet.key, subnet.range)).collect()
}

#[test]
fn the_usual_network_has_large_private_and_small_public_subnets() {
    let carved = carve(&carving(&["10.0.0.0/16"], zones(&["a", "b", "c"]))).unwrap();
    assert_eq!(
        shown(&carved),
        [
            "private/eu-central-1a 10.0.0.0/19",
            "public/eu-central-1a 10.0.252.0/22",
            "private/eu-central-1b 10.0.32.0/19",
            "public/eu-central-1b 10.0.248.0/22",
            "private/eu-central-1c 10.0.64.0/19",
            "public/eu-central-1c 10.0.244.0/22",
        ]
    );
    assert_eq!((usable(carved[0].range), usable(carved[1].range)), (8187, 1019));
}

#[test]
fn every_vpc_of_the_usual_sizes_has_room_for_the_zones_of_the_largest_region() {
    for prefix in 16..=22 {
        let range = format!("10.0.0.0/{prefix}");
        let all = zones(&["a", "b", "c", "d", "e", "f"]);
        assert_eq!(carve(&carving(&[&range], all)).unwrap().len(), 12, "{range}");
    }
}

#[test]
fn what_has_no_room_says_how_many_zones_have() {
    let unfit = carve(&carving(&["10.0.0.0/25"], zones(&["a", "b", "c", "d", "e"]))).unwrap_err();
    assert_eq!(
        unfit.to_string(),
        "10.0.0.0/25 has room for public subnets of /28, private subnets of /28 in 4 of 5 zones: add a range, or take a \
         larger one or smaller subnets"
    );
}

#[test]
fn a_full_range_continues_in_the_next() {
    let mut carving = carving(&["10.0.0.0/24", "10.2.0.0/24"], zones(&["a", "b"]));
    carving.sizes = BTreeMap::from([(Tier::Private, 25), (Tier::Public, 28)]);
    assert_eq!(
        shown(&carve(&carving).unwrap()),
        [
            "private/eu-central-1a 10.0.0.0/25",
            "public/eu-central-1a 10.0.0.240/28",
            "private/eu-central-1b 10.2.0.0/25",
            "public/eu-central-1b 10.0.0.224/28",
        ]
    );
}

#[test]
fn a_network_without_public_subnets_has_none() {
    let mut carving = carving(&["10.0.0.0/24"], zones(&["a", "b"]));
    carving.sizes = BTreeMap::from([(Tier::Private, 25)]);
    assert_eq!(
        shown(&carve(&carving).unwrap()),
        ["private/eu-central-1a 10.0.0.0/25", "private/eu-central-1b 10.0.0.128/25"]
    );
}

#[test]
fn subnets_for_pods_have_a_range_of_their_own() {
    let carved = carve(&carving_with_pods(&["10.2.0.0/24", "100.64.0.0/16"], zones(&["a", "b"]))).unwrap();
    assert_eq!(
        shown(&carved),
        [
            "private/eu-central-1a 10.2.0.0/27",
            "public/eu-central-1a 10.2.0.240/28",
            "pods/eu-central-1a 100.64.0.0/19",
            "private/eu-central-1b 10.2.0.32/27",
            "public/eu-central-1b 10.2.0.224/28",
            "pods/eu-central-1b 100.64.32.0/19",
        ]
    );
    for (ranges, pods) in [
        (&["10.2.0.0/16"][..], "10.2.32.0/19"),
        (&["10.2.0.0/16", "10.3.0.0/16"], "10.3.0.0/19"),
        (&["10.2.0.0/16", "10.3.0.0/16", "100.64.0.0/17"], "100.64.0.0/20"),
        (&["10.2.0.0/16", "198.19.0.0/16", "100.64.0.0/16"], "198.19.0.0/19"),
        (&["100.64.0.0/16", "100.65.0.0/24"], "100.65.0.0/27"),
    ] {
        let carved = carve(&carving_with_pods(ranges, zones(&["a"]))).unwrap();
        assert_eq!(carved[2].range, net(pods), "{ranges:?}");
    }
}

#[test]
fn with_subnets_for_pods_nodes_stay_out_of_the_ranges_that_aws_recommends_for_pods() {
    let mut carving = carving_with_pods(&["10.2.0.0/24", "100.64.0.0/16", "10.3.0.0/24"], zones(&["a", "b"]));
    carving.sizes = BTreeMap::from([(Tier::Private, 24), (Tier::Pods, 17)]);
    assert_eq!(
        shown(&carve(&carving).unwrap()),
        [
            "private/eu-central-1a 10.2.0.0/24",
            "pods/eu-central-1a 100.64.0.0/17",
            "private/eu-central-1b 10.3.0.0/24",
            "pods/eu-central-1b 100.64.128.0/17",
        ]
    );
    carving.zones = zones(&["a", "b", "c"]);
    carving.sizes = BTreeMap::from([(Tier::Private, 25), (Tier::Pods, 17)]);
    let unfit = carve(&carving).unwrap_err().to_string();
    assert!(unfit.starts_with("100.64.0.0/16 has room for pods subnets of /17 in 2 of 3 zones"), "{unfit}");
}

#[test]
fn subnets_of_others_are_gone_round() {
    let mut carving = carving(&["10.0.0.0/24"], zones(&["a"]));
    carving.foreign = vec![net("10.0.0.0/27"), net("10.0.0.128/25")];
    assert_eq!(
        shown(&carve(&carving).unwrap()),
        ["private/eu-central-1a 10.0.0.32/27", "public/eu-central-1a 10.0.0.112/28"]
    );
}

#[test]
fn ranges_of_a_vpc_are_private_of_a_size_that_aws_allows_and_apart() {
    let check = |ranges: &[&str]| {
        let ranges: Vec<Ipv4Net> = ranges.iter().map(|range| net(range)).collect();
        check_ranges(&ranges).map_err(|unfit| unfit.to_string())
    };
    for good in [
        &["10.0.0.0/16"][..],
        &["172.31.0.0/16", "172.16.0.0/16"],
        &["192.168.0.0/16", "100.64.0.0/16"],
        &["10.2.0.0/16", "100.64.0.0/16", "10.3.0.0/16"],
        &["100.127.255.240/28"],
        &["198.19.0.0/16", "100.64.0.0/16"],
    ] {
        assert_eq!(check(good), Ok(()), "{good:?}");
    }
    for (bad, why) in [
        (&["10.0.0.0/8"][..], "10.0.0.0/8 is not of a size that AWS allows: /16 to /28"),
        (&["10.0.0.0/29"], "10.0.0.0/29 is not of a size that AWS allows: /16 to /28"),
        (&["10.0.1.0/16"], "10.0.1.0/16 is not the beginning of a range: did you mean 10.0.0.0/16?"),
        (&["8.8.0.0/16"], "8.8.0.0/16 is a public range"),
        (&["172.32.0.0/16"], "172.32.0.0/16 is a public range"),
        (&["100.128.0.0/16"], "100.128.0.0/16 is a public range"),
        (&["10.2.0.0/16", "10.2.3.0/24"], "10.2.0.0/16 and 10.2.3.0/24 overlap"),
        (&["10.2.3.0/24", "10.2.0.0/16"], "10.2.3.0/24 and 10.2.0.0/16 overlap"),
        (&["10.2.0.0/16", "192.168.0.0/16"], "AWS does not add 192.168.0.0/16 to a VPC that has 10.2.0.0/16"),
        (&["100.64.0.0/16", "10.2.0.0/16"], "AWS does not add 10.2.0.0/16 to a VPC that has 100.64.0.0/16"),
        (&["10.1.0.0/16", "10.0.0.0/16"], "AWS does not add 10.0.0.0/16 to a VPC that has 10.1.0.0/16"),
        (
            &["172.16.0.0/16", "172.31.0.0/16"],
            "AWS does not add 172.31.0.0/16 to a VPC that has 172.16.0.0/16",
        ),
    ] {
        let said = check(bad).unwrap_err();
        assert!(said.starts_with(why), "{bad:?}: {said}");
    }
}

#[test]
fn listed_subnets_are_in_the_ranges_and_apart() {
    let check = |subnets: &[(&str, &str)]| {
        let subnets: Vec<_> = subnets.iter().map(|(name, range)| ((*name).to_owned(), net(range))).collect();
        check_listed(&[net("10.0.0.0/16"), net("100.64.0.0/16")], &subnets).map_err(|unfit| unfit.to_string())
    };
    assert_eq!(check(&[("a", "10.0.0.0/24"), ("pods", "100.64.0.0/17")]), Ok(()));
    assert_eq!(
        check(&[("a", "10.1.0.0/24")]),
        Err("subnet a with 10.1.0.0/24 is in none of the network's ranges".to_owned())
    );
    assert_eq!(
        check(&[("a", "10.0.0.0/24"), ("b", "10.0.0.128/25")]),
        Err("10.0.0.0/24 and 10.0.0.128/25 overlap".to_owned())
    );
    assert!(check(&[("a", "10.0.0.1/24")]).is_err());
}

#[test]
fn ipv6_numbers_stay_and_each_tier_of_nodes_has_its_half() {
    let subnets = BTreeMap::from([
        ("private/a".to_owned(), Tier::Private),
        ("private/b".to_owned(), Tier::Private),
        ("public/a".to_owned(), Tier::Public),
        ("pods/a".to_owned(), Tier::Pods),
    ]);
    let numbers = |existing: &[(&str, u8)], foreign: &[u8]| {
        let existing = existing.iter().map(|(key, index)| ((*key).to_owned(), *index)).collect();
        let foreign = foreign.iter().copied().collect();
        ipv6_indices(&subnets, &existing, &foreign).map(|indices| indices.into_values().collect::<Vec<_>>())
    };
    assert_eq!(numbers(&[], &[]), Ok(vec![0, 1, 128]));
    assert_eq!(numbers(&[("private/b", 0)], &[]), Ok(vec![1, 0, 128]));
    assert_eq!(numbers(&[], &[0, 128]), Ok(vec![1, 2, 129]));
    let all: Vec<u8> = (128..=255).collect();
    assert_eq!(numbers(&[], &all), Err(Unfit::NoIpv6("public/a".to_owned())));
    assert_eq!(index_of("2001:db8:1234:1a07::/64".parse().unwrap()), 7);
}

prop_compose! {
    fn any_carving()(
        vpc in 16_u8..=26,
        sizes in (17_u8..=28, 17_u8..=28),
        usual in any::<bool>(),
        public in any::<bool>(),
        pods in proptest::option::of(17_u8..=28),
        second in proptest::option::of(16_u8..=26),
        third in proptest::option::of(16_u8..=26),
        count in 1_usize..=6,
        foreign in proptest::option::of(24_u8..=28),
    ) -> Carving {
        let first = Ipv4Net::new(Ipv4Addr::new(10, 2, 0, 0), vpc).unwrap();
        let second = second.map(|prefix| Ipv4Net::new(Ipv4Addr::new(10, 4, 0, 0), prefix).unwrap());
        let third = third.map(|prefix| Ipv4Net::new(Ipv4Addr::new(100, 64, 0, 0), prefix).unwrap());
        let mut sizes = if usual {
            BTreeMap::from([Tier::Private, Tier::Public].map(|tier| (tier, usual_size(tier, first))))
        } else {
            BTreeMap::from([(Tier::Private, sizes.0), (Tier::Public, sizes.1)])
        };
        if !public {
            sizes.remove(&Tier::Public);
        }
        sizes.extend(pods.map(|size| (Tier::Pods, size)));
        let foreign = foreign.map(|prefix| Ipv4Net::new(Ipv4Addr::new(10, 2, 0, 0), prefix).unwrap());
        Carving {
            ranges: [Some(first), second, third].into_iter().flatten().collect(),
            sizes,
            zones: zones(&["a", "b", "c", "d", "e", "f"])[..count].to_vec(),
            existing: BTreeMap::new(),
            foreign: foreign.into_iter().collect(),
        }
    }
}

proptest! {
    #[test]
    fn subnets_are_apart_in_the_ranges_and_of_their_size(carving in any_carving()) {
        let Ok(carved) = carve(&carving) else { return Ok(()) };
        prop_assert_eq!(carved.len(), carving.zones.len() * carving.sizes.len());
        for (number, subnet) in carved.iter().enumerate() {
            prop_assert!(carving.ranges.iter().any(|range| range.contains(&subnet.range)));
            prop_assert_eq!(Some(&subnet.range.prefix_len()), carving.sizes.get(&subnet.tier));
            prop_assert_eq!(check_range(subnet.range), Ok(()));
            let others = carved[..number].iter().map(|other| other.range).chain(carving.foreign.iter().copied());
            for other in others {
                prop_assert!(!overlap(other, subnet.range), "{other} {}", subnet.range);
            }
        }
    }

    /// A crash between two creations, or a zone that was made by hand: the rest is carved as before.
    #[test]
    fn a_part_that_exists_changes_nothing(carving in any_carving(), exists in any::<[bool; 18]>()) {
        let Ok(whole) = carve(&carving) else { return Ok(()) };
        let existing = whole.iter().zip(exists).filter(|(_, exists)| *exists);
        let existing = existing.map(|(subnet, _)| (subnet.key.clone(), subnet.range)).collect();
        prop_assert_eq!(carve(&Carving { existing, ..carving }), Ok(whole));
    }

    #[test]
    fn a_zone_that_is_added_moves_nothing(carving in any_carving(), shuffled in Just(zones(&["a", "b", "c", "d", "e", "f"])).prop_shuffle()) {
        let few = Carving { zones: shuffled[..3].to_vec(), ..carving };
        let Ok(before) = carve(&few) else { return Ok(()) };
        let existing = before.iter().map(|subnet| (subnet.key.clone(), subnet.range)).collect();
        let Ok(after) = carve(&Carving { zones: shuffled, existing, ..few }) else { return Ok(()) };
        for subnet in before {
            prop_assert!(after.contains(&subnet));
        }
    }

    #[test]
    fn how_many_zones_fit_is_true(carving in any_carving()) {
        let Err(Unfit::NoRoom { fit, .. }) = carve(&carving) else { return Ok(()) };
        let fewer = Carving { zones: carving.zones[..fit].to_vec(), ..carving.clone() };
        prop_assert!(carve(&fewer).is_ok());
        let more = Carving { zones: carving.zones[..=fit].to_vec(), ..carving };
        prop_assert!(carve(&more).is_err());
    }
}

#[test]
fn a_range_of_the_vpc_takes_the_numbers_of_its_64s() {
    let vpc = "2001:db8:0:1200::/56".parse().unwrap();
    let numbers = |range: &str| indices_of(vpc, range.parse().unwrap()).into_iter().collect::<Vec<_>>();
    assert_eq!(numbers("2001:db8:0:12ff::/64"), [0xff]);
    assert_eq!(numbers("2001:db8:0:1204::/62"), [4, 5, 6, 7]);
    assert_eq!(numbers("2001:db8:0:1200::/56").len(), 256);
    assert_eq!(numbers("2001:db8:0:1300::/64"), [0_u8; 0], "of another range");
}
