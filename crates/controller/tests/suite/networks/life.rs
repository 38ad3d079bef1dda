//! A network from an empty region to subnets that pools use, and back to nothing.

use super::{census, tagged};
use crate::support::{INSTALLATION, NS, World, objects};
use foo_api::cluster::{ManagedNetwork, SubnetStatus};
use foo_api::shared::DeletionPolicy;
use foo_model::names::{NETWORK_ID_ANNOTATION, TAG_CLUSTER, TAG_INSTALLATION, TAG_NETWORK};
use foo_model::{SecurityGroupId, SubnetId};
use foo_simulator_core::DEFAULT_REGION;
use kube::ResourceExt;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;

/// What we may take beyond the slowest resource, which is a NAT gateway.
const OWN_TIME: Duration = Duration::from_secs(15);

#[tokio::test(start_paused = true)]
async fn an_empty_region_becomes_a_network_in_three_zones_in_little_more_time_than_a_nat_gateway_takes() {
    let world = World::empty();
    let began = Instant::now();
    world.begins_network(ManagedNetwork::default());
    world.network_gets_ready().await;
    let own = began.elapsed().saturating_sub(world.region.settings().nat_gateway_create);
    assert!(own < OWN_TIME, "{own:?} beyond the NAT gateways");
    let expected = [
        ("NAT gateways", 3),
        ("addresses", 3),
        ("internet gateways", 1),
        ("route tables", 4),
        ("security groups", 2),
        ("subnets", 6),
        ("vpcs", 1),
    ];
    assert_eq!(census(&tagged(&world.region)), expected.into());
    for kind in [
        "VPCReady",
        "SubnetsReady",
        "RoutesReady",
        "NATReady",
        "SecurityGroupsReady",
        "EndpointsReady",
        "Ready",
    ] {
        assert!(world.network_state(kind).0.starts_with("True"), "{kind}: {:?}", world.network_state(kind));
    }
    let reasons: BTreeSet<String> = world.events_on("c").into_iter().collect();
    assert!(reasons.contains("NetworkResourcesCreated"), "{reasons:?}");
}

#[tokio::test(start_paused = true)]
async fn status_has_what_pools_and_cluster_api_need() {
    let world = World::of_network(ManagedNetwork::default()).await;
    let cluster = world.network_cluster();
    let status = cluster.status.clone().unwrap();
    assert_eq!(status.initialization.unwrap().provisioned, Some(true));
    let network = world.network_status();
    assert_eq!(network.subnets.iter().filter(|subnet| subnet.public).count(), 3);
    assert_eq!(network.subnets.iter().filter(|subnet| !subnet.public).count(), 3);
    assert_eq!(network.security_groups.len(), 1, "that of nodes");
    assert!(network.intents.is_empty() && network.vpc_id.starts_with("vpc-"));
    assert!(
        network.resources.iter().all(|it| it.id.is_some() && it.state == "Ready"),
        "{:#?}",
        network.resources
    );
    assert_eq!(status.failure_domains.len(), 3);
    for domain in &status.failure_domains {
        let attributes = domain.attributes.as_ref().unwrap();
        assert!(domain.control_plane && attributes["privateSubnets"].starts_with("subnet-"), "{domain:?}");
        assert!(attributes.contains_key("zoneID") && attributes.contains_key("publicSubnets"));
    }
    let id = cluster.uid().unwrap();
    assert_eq!(cluster.annotations()[NETWORK_ID_ANNOTATION], id);
    let vpc = tagged(&world.region).vpcs.into_values().next().unwrap();
    assert_eq!(vpc.tags[TAG_NETWORK], id);
    assert_eq!(vpc.tags[TAG_CLUSTER], format!("{NS}/c"));
    assert_eq!(vpc.tags[TAG_INSTALLATION], INSTALLATION);
}

#[tokio::test(start_paused = true)]
async fn pools_launch_into_its_private_subnets_once_it_is_ready_and_not_before() {
    let world = World::empty();
    world.begins_network(ManagedNetwork::default());
    let pool = world.pool("p").begins_with(3);
    world.until("subnets are shown", || !world.network_status().resources.is_empty()).await;
    world.waits(Duration::from_secs(30)).await;
    assert!(pool.group().is_none(), "{:?}", world.network_state("NetworkReady"));
    world.network_gets_ready().await;
    world.settles().await;
    pool.is_of(3);
    let network = world.network_status();
    let private: BTreeSet<SubnetId> =
        network.subnets.iter().filter(|it| !it.public).map(|it| SubnetId::new(it.id.as_str())).collect();
    assert_eq!(pool.group().unwrap().subnets.into_iter().collect::<BTreeSet<_>>(), private);
    let zones: BTreeSet<_> =
        pool.group().unwrap().members.values().map(|member| member.zone.clone()).collect();
    assert_eq!(zones.len(), 3);
    let nodes = SecurityGroupId::new(network.security_groups[0].as_str());
    assert!(tagged(&world.region).security_groups.contains_key(&nodes));
}

#[tokio::test(start_paused = true)]
async fn subnets_for_pods_are_in_the_status_and_instances_are_in_none_of_them() {
    let network = serde_json::json!({
        "zones": {"count": 2},
        "nat": "Single",
        "secondaryCIDRs": ["100.64.0.0/16"],
        "subnets": {"types": ["Public", "Private", "Pods"]},
    });
    let world = World::of_network(serde_json::from_value(network).unwrap()).await;
    let pool = world.pool("p").of(2).await;
    let network = world.network_status();
    let shown = |subnets: &[SubnetStatus]| {
        subnets.iter().filter_map(|it| it.name.clone()).collect::<BTreeSet<String>>()
    };
    let zones = ["a", "b"].map(|letter| format!("{DEFAULT_REGION}{letter}"));
    let of = |tier: &str| zones.iter().map(|zone| format!("{tier}/{zone}")).collect::<BTreeSet<String>>();
    assert_eq!(shown(&network.pod_subnets), of("pods"));
    let of_instances: BTreeSet<String> = of("private").into_iter().chain(of("public")).collect();
    assert_eq!(shown(&network.subnets), of_instances);
    let ranges: BTreeSet<_> = network.pod_subnets.iter().filter_map(|it| it.cidr.as_deref()).collect();
    assert_eq!(ranges, BTreeSet::from(["100.64.0.0/19", "100.64.32.0/19"]));
    let in_group = pool.group().unwrap().subnets;
    assert!(network.pod_subnets.iter().all(|it| !in_group.contains(&SubnetId::new(it.id.as_str()))));
    for domain in world.network_cluster().status.unwrap().failure_domains {
        let attributes = domain.attributes.unwrap();
        assert!(!network.pod_subnets.iter().any(|it| attributes.values().any(|ids| ids.contains(&it.id))));
    }
    let for_pods = network.pod_subnets[0].id.clone();
    let other = world.pool("q").with(|spec| spec.subnets = vec![objects::by_id(&for_pods)]).of(1).await;
    assert_eq!(other.state_of("AutoScalingGroupReady"), "False SubnetOutsideCluster");
    let message = other.condition("AutoScalingGroupReady").message;
    assert!(message.contains("is for Pods alone") && other.group().is_none(), "{message}");
}

#[tokio::test(start_paused = true)]
async fn it_is_deleted_after_its_pools_without_leftovers() {
    let world = World::of_network(ManagedNetwork::default()).await;
    let pool = world.pool("p").of(2).await;
    world.deletes_network();
    world.waits(Duration::from_mins(3)).await;
    assert_eq!(world.network_state("Deleting").0, "True WaitingForPools");
    assert_eq!(census(&tagged(&world.region))["subnets"], 6);
    pool.is_deleted();
    world.network_is_removed().await;
    assert!(census(&tagged(&world.region)).is_empty(), "{:?}", census(&tagged(&world.region)));
}

#[tokio::test(start_paused = true)]
async fn a_retained_network_stays_when_its_object_is_deleted() {
    let network = ManagedNetwork { deletion_policy: DeletionPolicy::Retain, ..super::small() };
    let world = World::of_network(network).await;
    let before = tagged(&world.region);
    world.forgets();
    world.deletes_network();
    world.network_is_removed().await;
    assert_eq!(tagged(&world.region), before);
    assert_eq!(world.aws_writes(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_object_without_a_network_is_deleted_without_a_call() {
    let world = World::empty();
    world.has(&super::managed(ManagedNetwork::default()));
    world.waits(Duration::from_mins(1)).await;
    world.deletes_network();
    world.network_is_removed().await;
    assert_eq!(world.aws.total_calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_restarted_manager_changes_nothing_in_an_idle_network() {
    let mut world = World::of_network(ManagedNetwork::default()).await;
    world.rests().await;
    world.forgets();
    let version = world.server.resource_version();
    world.kills_the_manager();
    world.starts_the_manager();
    world.rests().await;
    assert_eq!(world.aws_writes(), 0);
    assert_eq!(world.server.resource_version(), version, "nothing is written");
}
