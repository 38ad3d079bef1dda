//! What users do to a network by hand, and what blocks its deletion.

use super::{census, small, tagged};
use crate::support::World;
use foo_api::cluster::DriftPolicy;
use foo_api::cluster::ManagedNetwork;
use foo_model::network::{Change, Destination, NatState, RouteTarget};
use std::time::Duration;

/// The default route of the first private route table; its table, and where it leads.
pub(super) fn private_default(world: &World) -> (foo_model::RouteTableId, Option<RouteTarget>) {
    let parts = tagged(&world.region);
    let is_private = |table: &&foo_model::network::RouteTable| {
        table.tags.get("infrastructure.foo.com/role").is_some_and(|role| role.starts_with("routes/private"))
    };
    let table = parts.route_tables.values().find(is_private).unwrap();
    let default = Destination::V4("0.0.0.0/0".parse().unwrap());
    let route = table.routes.iter().find(|route| route.destination == default && !route.blackhole);
    (table.id.clone(), route.map(|route| route.target.clone()))
}

fn deletes_the_private_default(world: &World) {
    let (table, _) = private_default(world);
    let destination = Destination::V4("0.0.0.0/0".parse().unwrap());
    let change = Change::DeleteRoute { table, destination };
    world.region.with(|region| region.change_network(&change)).unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_deleted_nat_gateway_is_replaced_and_routes_lead_to_the_new_one() {
    let world = World::of_network(small()).await;
    let whole = census(&tagged(&world.region));
    let (_, Some(RouteTarget::NatGateway(before))) = private_default(&world) else { panic!("no route") };
    world.deletes_by_hand(before.as_str());
    let leads_to_another = || {
        let gateways = tagged(&world.region).nat_gateways;
        match private_default(&world).1 {
            Some(RouteTarget::NatGateway(id)) => id != before && gateways[&id].state == NatState::Available,
            _ => false,
        }
    };
    world.until("there is another NAT gateway", leads_to_another).await;
    world.rests().await;
    assert_eq!(census(&tagged(&world.region)), whole);
    assert_eq!(world.network_state("NATReady").0.split(' ').next(), Some("True"));
}

#[tokio::test(start_paused = true)]
async fn a_failed_nat_gateway_is_recreated() {
    let world = World::empty();
    world.begins_network(small());
    let mishap = foo_simulator_core::core::network::NatMishap {
        zone: None,
        skip: 0,
        times: Some(1),
        code: "InternalError".to_owned(),
        message: "Network interface eni-1 encountered an internal error.".to_owned(),
    };
    world.region.with(|region| region.set_nat_mishaps(vec![mishap])).unwrap();
    world
        .until("it failed", || {
            tagged(&world.region).nat_gateways.values().any(|it| it.state == NatState::Failed)
        })
        .await;
    world.network_gets_ready().await;
    assert_eq!(census(&tagged(&world.region))["NAT gateways"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_route_is_restored() {
    let world = World::of_network(small()).await;
    deletes_the_private_default(&world);
    world.until("the route is there", || private_default(&world).1.is_some()).await;
    world.rests().await;
    assert!(world.events_on("c").contains(&"NetworkChanged".to_owned()));
    assert!(world.network_state("RoutesReady").0.starts_with("True"));
}

#[tokio::test(start_paused = true)]
async fn with_the_policy_warn_it_is_reported_and_not_repaired() {
    let world = World::of_network(ManagedNetwork { drift_policy: DriftPolicy::Warn, ..small() }).await;
    let subnets = world.network_status().subnets;
    world.rests().await;
    deletes_the_private_default(&world);
    world.forgets();
    world.rests().await;
    world.rests().await;
    assert_eq!(private_default(&world).1, None);
    assert_eq!(world.aws_writes(), 0);
    let reported = world.network_state("RoutesReady");
    assert!(reported.1.contains("0.0.0.0/0"), "{reported:?}");
    assert_eq!(world.network_status().subnets, subnets, "pools stay where they are");
}

#[tokio::test(start_paused = true)]
async fn a_foreign_interface_is_named_and_waited_for_without_writes() {
    let world = World::of_network(small()).await;
    let interface = world.puts_foreign_interface();
    world.deletes_network();
    world.waits(Duration::from_mins(10)).await;
    assert!(!world.network_cluster_is_deleted());
    let (_, message) = world.network_state("Deleting");
    assert!(message.contains(&interface) && message.contains("a user's database"), "{message}");
    let parts = tagged(&world.region);
    assert_eq!(parts.vpcs.len(), 1, "never with foreign resources in it");
    world.forgets();
    world.waits(Duration::from_mins(10)).await;
    let changes = world.aws_writes();
    assert!(changes <= 20, "{changes} changes tried in ten minutes: {:?}", world.ec2_calls());
    world.deletes_by_hand(&interface);
    world.network_is_removed().await;
    assert!(census(&tagged(&world.region)).is_empty());
}

#[tokio::test(start_paused = true)]
async fn lagging_reads_of_aws_duplicate_nothing() {
    for tags_after in [0, 20] {
        let world = World::empty();
        world.begins_network(small());
        let trail = |settings: &mut foo_simulator_core::core::Settings| {
            settings.read_lag = Duration::from_secs(5);
            settings.tags_appear_after = Duration::from_secs(tags_after);
        };
        world.region.change_settings(trail).unwrap();
        world.network_gets_ready().await;
        world.rests().await;
        let counts = census(&tagged(&world.region));
        assert_eq!((counts["vpcs"], counts["subnets"], counts["NAT gateways"]), (1, 4, 1), "{counts:?}");
        world.deletes_network();
        world.network_is_removed().await;
        world.waits(Duration::from_secs(10)).await;
        assert_eq!(census(&tagged(&world.region)), [].into());
    }
}
