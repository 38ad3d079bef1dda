//! Edits, pauses and moves.

use super::{census, small, tagged};
use crate::support::{CLUSTER, NS, World};
use foo_api::FooCluster;
use foo_api::cluster::{ManagedNetwork, NatMode, Zones};
use foo_api::names::DELETE_FOR_MOVE_ANNOTATION;
use foo_model::names::{ADOPT_FROM_ANNOTATION, NETWORK_ID_ANNOTATION, TAG_INSTALLATION};
use foo_simulator_core::{DEFAULT_REGION, Fault, FaultRule};
use kube::ResourceExt;
use std::collections::BTreeSet;
use std::time::Duration;

fn zones(count: i32) -> Zones {
    Zones { count: Some(count), names: None }
}

#[tokio::test(start_paused = true)]
async fn a_zone_that_is_added_moves_nothing() {
    let world =
        World::of_network(ManagedNetwork { zones: Some(zones(2)), ..ManagedNetwork::default() }).await;
    let before = tagged(&world.region);
    world.edits_network(|network| network.zones = Some(zones(3)));
    world.until("there are six subnets", || world.network_status().subnets.len() == 6).await;
    world.network_gets_ready().await;
    let after = tagged(&world.region);
    for (id, subnet) in &before.subnets {
        assert_eq!(after.subnets[id].cidr, subnet.cidr);
    }
    assert!(before.nat_gateways.keys().all(|id| after.nat_gateways.contains_key(id)));
    assert_eq!(world.network_cluster().status.unwrap().failure_domains.len(), 3);
}

/// Instances in a zone whose routes are not there yet could not join.
#[tokio::test(start_paused = true)]
async fn pools_get_a_new_zone_only_when_its_routes_are_there() {
    let world =
        World::of_network(ManagedNetwork { zones: Some(zones(2)), ..ManagedNetwork::default() }).await;
    let pool = world.pool("p").of(2).await;
    let private = || pool.group().unwrap().subnets.len();
    assert_eq!(private(), 2);
    world.edits_network(|network| network.zones = Some(zones(3)));
    world.until("the subnets are there", || tagged(&world.region).subnets.len() == 6).await;
    world.waits(Duration::from_secs(30)).await;
    let pending = tagged(&world.region)
        .nat_gateways
        .values()
        .filter(|it| it.state == foo_model::network::NatState::Pending)
        .count();
    assert_eq!((pending, private()), (1, 2));
    world.until("the group has the third subnet", || private() == 3).await;
}

#[tokio::test(start_paused = true)]
async fn fewer_nat_gateways_release_their_addresses() {
    let world = World::of_network(ManagedNetwork::default()).await;
    world.edits_network(|network| network.nat = Some(NatMode::Single));
    world.until("one is left", || census(&tagged(&world.region))["addresses"] == 1).await;
    world.rests().await;
    assert_eq!(census(&tagged(&world.region))["NAT gateways"], 1);
    let left = world.network_status().resources;
    let left: Vec<_> =
        left.iter().filter(|it| it.state != "Ready").map(|it| (&*it.role, &*it.state)).collect();
    let zones = ["b", "c"].map(|letter| format!("nat/{DEFAULT_REGION}{letter}"));
    assert_eq!(left, [(&*zones[0], "Deleted"), (&*zones[1], "Deleted")]);
    assert!(world.network_state("NetworkReady").0.starts_with("True"));
}

/// A change of the spec.
type Edit = fn(&mut ManagedNetwork);

fn names(letters: &str) -> Zones {
    let names = letters.chars().map(|letter| format!("{DEFAULT_REGION}{letter}"));
    Zones { count: None, names: Some(names.collect()) }
}

#[tokio::test(start_paused = true)]
async fn a_value_that_cannot_be_created_can_be_reverted_and_upkeep_continues() {
    let network = ManagedNetwork { zones: Some(names("ab")), nat: Some(NatMode::Single), ..small() };
    let world = World::of_network(network).await;
    let before = tagged(&world.region);
    let cases: [(Edit, Edit, &str); 3] = [
        (|it| it.zones = Some(names("abx")), |it| it.zones = Some(names("ab")), "False ZoneNotFound"),
        (|it| it.zones = Some(zones(6)), |it| it.zones = Some(zones(2)), "False ZonesTooFew"),
        (
            |it| it.secondary_cidrs = vec!["10.0.128.0/20".to_owned()],
            |it| it.secondary_cidrs.clear(),
            "False RangeUnfit",
        ),
    ];
    for (edit, back, refusal) in cases {
        world.edits_network(edit);
        world.until("it is refused", || world.network_state("NetworkReady").0 == refusal).await;
        for area in ["VPCReady", "SubnetsReady", "RoutesReady", "NATReady", "EndpointsReady"] {
            let reported = world.network_state(area);
            assert_eq!(
                reported,
                ("Unknown NotVerified".to_owned(), "see condition NetworkReady".to_owned()),
                "{area}"
            );
        }
        assert_eq!(world.network_status().subnets.len(), 4, "pools stay where they are");
        world.edits_network(back);
        world.network_gets_ready().await;
        assert!(world.network_state("VPCReady").0.starts_with("True"));
    }
    world.rests().await;
    assert_eq!(tagged(&world.region), before);
}

/// What the pass would continue to create may be what the user reverts.
#[tokio::test(start_paused = true)]
async fn a_pass_yields_when_the_spec_changes() {
    let world = World::empty();
    let slow = FaultRule::on("CreateInternetGateway", Fault::Delay { millis: 5_000 });
    world.aws.add_fault(slow.times(1));
    world.begins_network(ManagedNetwork { zones: Some(zones(3)), ..small() });
    world.until("it has begun", || !tagged(&world.region).vpcs.is_empty()).await;
    assert!(tagged(&world.region).internet_gateways.is_empty(), "the pass waits for this response");
    world.edits_network(|network| network.zones = Some(zones(1)));
    world.network_gets_ready().await;
    world.rests().await;
    assert_eq!(tagged(&world.region).subnets.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_paused_cluster_makes_no_call_and_continues_when_unpaused() {
    let world = World::empty();
    world.begins_network(ManagedNetwork::default());
    world.until("it has begun", || !tagged(&world.region).vpcs.is_empty()).await;
    world.pauses_network(true);
    world.waits(Duration::from_secs(10)).await;
    world.forgets();
    world.waits(Duration::from_mins(15)).await;
    // The search for groups without a pool is of the region, not of the cluster.
    let of_region =
        world.aws.call_counts().into_iter().filter(|((_, action), _)| action == "DescribeAutoScalingGroups");
    assert_eq!(world.aws.total_calls(), of_region.map(|(_, count)| count.calls).sum::<u64>());
    assert_eq!(world.network_state("Paused").0, "True Paused");
    assert!(!world.network_status().resources.is_empty(), "what is known stays known");
    world.pauses_network(false);
    world.network_gets_ready().await;
}

/// What clusterctl moves: metadata except uid and status, and the spec.
fn moved(world: &World, to: &World) {
    let cluster = world.server.get::<foo_api::capi::Cluster>(NS, CLUSTER).unwrap();
    let mut copy = foo_api::capi::Cluster::new(CLUSTER, cluster.spec.clone());
    copy.metadata.namespace = Some(NS.to_owned());
    copy.spec.paused = None;
    to.has(&copy);
    let network = world.network_cluster();
    let mut copy = FooCluster::new(CLUSTER, network.spec.clone());
    copy.metadata.namespace = Some(NS.to_owned());
    copy.metadata.annotations.clone_from(&network.metadata.annotations);
    copy.annotations_mut().insert(ADOPT_FROM_ANNOTATION.to_owned(), crate::support::INSTALLATION.to_owned());
    to.has(&copy);
    let marked = |cluster: &mut FooCluster| {
        cluster.annotations_mut().clear();
        cluster.annotations_mut().insert(DELETE_FOR_MOVE_ANNOTATION.to_owned(), String::new());
    };
    world.server.edit(NS, CLUSTER, marked).unwrap();
    world.deletes_network();
}

const OTHER: &str = "5ba1e1d0-0000-4000-8000-000000000002";

#[tokio::test(start_paused = true)]
async fn a_move_in_the_middle_of_its_creation_duplicates_nothing() {
    for parts in [1, 4, 9] {
        let world = World::empty();
        world.begins_network(small());
        let has_parts = || census(&tagged(&world.region)).values().sum::<usize>() >= parts;
        world.until("it has begun", has_parts).await;
        let id = world.annotation(NETWORK_ID_ANNOTATION).unwrap();
        world.pauses_network(true);
        world.waits(Duration::from_secs(5)).await;
        let target = world.beside(OTHER);
        world.forgets();
        moved(&world, &target);
        world.network_is_removed().await;
        target.network_gets_ready().await;
        let whole = census(&tagged(&target.region));
        assert_eq!(
            (whole["vpcs"], whole["subnets"], whole["NAT gateways"], whole["addresses"]),
            (1, 4, 1, 1)
        );
        assert_eq!(target.annotation(NETWORK_ID_ANNOTATION), Some(id));
        target
            .until("the permission is used up", || target.annotation(ADOPT_FROM_ANNOTATION).is_none())
            .await;
        let installations: BTreeSet<String> = tagged(&target.region)
            .vpcs
            .values()
            .filter_map(|vpc| vpc.tags.get(TAG_INSTALLATION).cloned())
            .collect();
        assert_eq!(installations, [OTHER.to_owned()].into());
        target.deletes_network();
        target.network_is_removed().await;
        assert!(census(&tagged(&target.region)).is_empty());
    }
}
