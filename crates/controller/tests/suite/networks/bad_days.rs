//! AWS refuses, or there is too little of something: what is reported, and what is not done.

use super::{census, managed, small, tagged};
use crate::support::{CLUSTER, NS, World, objects};
use foo_api::cluster::ManagedNetwork;
use foo_api::{FooCluster, FooClusterIdentity};
use foo_controller::labels::{Controller, PassResult};
use foo_model::network::Change;
use foo_simulator_core::core::network::VPC;
use foo_simulator_core::{Fault, FaultRule};
use kube::ResourceExt;
use serde_json::json;
use std::time::Duration;

#[tokio::test(start_paused = true)]
async fn too_small_a_quota_is_reported_in_numbers_and_nothing_is_created_until_it_is_raised() {
    let world = World::empty();
    world.region.change_settings(|settings| settings.network_quotas.addresses = 2).unwrap();
    world.begins_network(ManagedNetwork::default());
    world.waits(Duration::from_mins(5)).await;
    let (reported, message) = world.network_state("NetworkReady");
    assert_eq!(reported, "False LimitExceeded", "{message}");
    assert!(message.contains('3') && message.contains('2') && message.contains("Elastic IP"), "{message}");
    assert_eq!(world.aws_writes(), 0);
    world.region.change_settings(|settings| settings.network_quotas.addresses = 5).unwrap();
    world.network_gets_ready().await;
}

#[tokio::test(start_paused = true)]
async fn a_missing_permission_is_named_and_used_once_granted() {
    for action in ["CreateVpc", "CreateNatGateway", "DescribeRouteTables"] {
        let world = World::empty();
        let rule = world.aws.add_fault(FaultRule::on(action, Fault::Denied));
        world.begins_network(small());
        world.waits(Duration::from_mins(3)).await;
        let (reported, message) = world.network_state("NetworkReady");
        assert_eq!(reported, "False AccessDenied", "{action}: {message}");
        assert!(message.contains(&format!("ec2:{action}")), "{message}");
        assert!(!world.events_on(CLUSTER).is_empty());
        world.aws.remove_fault(rule);
        world.network_gets_ready().await;
    }
}

#[tokio::test(start_paused = true)]
async fn one_refusal_does_not_stop_the_others() {
    let world = World::empty();
    world.aws.add_fault(FaultRule::on(
        "AllocateAddress",
        Fault::Error {
            code: "AddressLimitExceeded".to_owned(),
            status: 0,
            message: "The maximum number of addresses has been reached.".to_owned(),
        },
    ));
    world.begins_network(small());
    world.waits(Duration::from_mins(3)).await;
    let reported = world.network_state("NATReady");
    assert_eq!(reported.0, "False LimitExceeded", "{reported:?}");
    assert!(world.network_state("SubnetsReady").0.starts_with("True"));
    assert!(world.network_state("SecurityGroupsReady").0.starts_with("True"));
    world.forgets();
    world.waits(Duration::from_mins(20)).await;
    let tries = world.aws.calls("AllocateAddress");
    assert!((1..=5).contains(&tries), "{tries} tries in twenty minutes");
}

#[tokio::test(start_paused = true)]
async fn while_aws_cannot_be_reached_an_idle_network_stays_ready() {
    let world = World::of_network(small()).await;
    world.rests().await;
    let rule = world.aws.add_fault(FaultRule::on_everything(Fault::Unreachable));
    world.waits(Duration::from_mins(15)).await;
    let passes = |result| world.metrics().passes(Controller::Cluster, result);
    let before = passes(PassResult::Settled) + passes(PassResult::Worked);
    world.waits(Duration::from_mins(15)).await;
    let passes = passes(PassResult::Settled) + passes(PassResult::Worked) - before;
    assert!(passes < 200, "{passes} passes in a quarter of an hour without a response");
    assert!(world.network_state("NetworkReady").0.starts_with("True"));
    world.aws.remove_fault(rule);
    world.rests().await;
    assert!(world.network_state("Ready").0.starts_with("True"));
}

/// Passes give way to others while many calls wait. What they were about to read is read in the next one.
#[tokio::test(start_paused = true)]
async fn a_network_makes_progress_while_others_use_up_the_calls_of_the_account() {
    let world = World::empty();
    world.begins_network(small());
    world.until("it has begun", || !tagged(&world.region).vpcs.is_empty()).await;
    let busy = Duration::from_mins(3);
    world.uses_up_calls_for(busy);
    let began = tokio::time::Instant::now();
    world.network_gets_ready().await;
    let took = began.elapsed();
    let own = took.saturating_sub(world.region.settings().nat_gateway_create);
    assert!(own < busy + Duration::from_secs(45), "{own:?} beyond the NAT gateway");
}

#[tokio::test(start_paused = true)]
async fn a_region_without_enough_zones_is_reported_before_anything_is_created() {
    let world = World::empty();
    let network = serde_json::from_value(json!({ "zones": { "names": ["eu-central-1x"] } })).unwrap();
    world.begins_network(network);
    world.waits(Duration::from_mins(1)).await;
    let (reported, message) = world.network_state("NetworkReady");
    assert_eq!(reported, "False ZoneNotFound", "{message}");
    assert!(message.contains("eu-central-1x"), "{message}");
    assert_eq!(world.aws_writes(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_copy_of_a_cluster_with_its_annotations_does_not_take_over_its_network() {
    let world = World::of_network(small()).await;
    let id = world.annotation(foo_model::names::NETWORK_ID_ANNOTATION).unwrap();
    let (cluster, _) = objects::another_cluster("copy", None);
    let mut copy = managed(small());
    copy.metadata.name = Some("copy".to_owned());
    copy.annotations_mut().insert(foo_model::names::NETWORK_ID_ANNOTATION.to_owned(), id);
    world.has(&cluster);
    world.has(&copy);
    world.forgets();
    world.rests().await;
    let status = world.server.get::<FooCluster>(NS, "copy").unwrap().status.unwrap();
    let ready = status.conditions.iter().find(|it| it.type_ == "NetworkReady").unwrap();
    assert_eq!(ready.reason, "NetworkOfAnotherCluster");
    assert!(ready.message.contains(&format!("FooCluster {CLUSTER}")), "{}", ready.message);
    world.server.delete::<FooCluster>(NS, "copy").unwrap();
    world.rests().await;
    assert_eq!(world.aws_writes(), 0);
    assert!(world.network_state("NetworkReady").0.starts_with("True"));
}

#[tokio::test(start_paused = true)]
async fn an_identity_that_allows_certain_subnets_only_allows_no_new_ones() {
    let world = World::empty();
    let spec = json!({ "allowedNamespaces": {}, "controller": {}, "allowedSubnets": ["subnet-1"] });
    world.has::<FooClusterIdentity>(&objects::identity("team", spec));
    let mut cluster = managed(small());
    cluster.spec.identity_ref = Some(objects::identity_reference("team"));
    world.has(&objects::cluster());
    world.has(&cluster);
    world.waits(Duration::from_mins(1)).await;
    let (reported, message) = world.network_state("NetworkReady");
    assert_eq!(reported, "False SubnetNotAllowed", "{message}");
    assert!(census(&tagged(&world.region)).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_range_that_the_users_vpc_gets_later_is_noticed() {
    let world = World::empty();
    let spec = json!({
        "vpcID": VPC, "cidr": "10.1.0.0/16", "zones": {"count": 1}, "subnets": {"types": ["Private"]}, "egress": "None",
    });
    world.has(&objects::cluster());
    world.has(&managed(serde_json::from_value(spec).unwrap()));
    world.waits(Duration::from_mins(5)).await;
    let (reported, message) = world.network_state("NetworkReady");
    assert_eq!(reported, "False RangeUnfit", "{message}");
    assert!(message.contains("10.1.0.0/16 is not in VPC"), "{message}");
    assert_eq!(world.aws_writes(), 0);

    let cidr = "10.1.0.0/16".parse().unwrap();
    for action in ["DescribeVpcs", "DescribeSubnets"] {
        // The sweep every five minutes, and a read of each kind every minute.
        assert!(world.aws.calls(action) <= 12, "{action}: {}", world.aws.calls(action));
    }
    let change = Change::AssociateVpcCidrBlock { vpc: VPC.into(), cidr };
    world.region.with(|region| region.change_network(&change)).unwrap().unwrap();
    world.network_gets_ready().await;
}
