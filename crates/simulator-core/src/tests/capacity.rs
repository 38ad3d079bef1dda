//! Placement groups, Capacity Reservations, dedicated hosts, license configurations and snapshots of launches.

use super::mixed::{mix, types};
use super::scene::{REGION, Scene, data, name, refusal, scene, source};
use crate::core::document::Document;
use crate::core::ec2::capacity::{MatchCriteria, Period, Strategy};
use crate::core::ec2::instances::Market;
use crate::core::ec2::launch_data::LaunchData;
use crate::core::ec2::workload_volumes::WorkloadVolume;
use crate::core::error::AwsResult;
use crate::core::rules::capacity::NewReservation;
use crate::core::rules::group::warm_pool::WarmPoolChange;
use foo_model::network::Tags;
use foo_model::{ActivityStatus, InstanceType, Zone};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

fn map(fields: &[(&str, &str)]) -> Document {
    let with = |map: Document, (field, value): &(&str, &str)| map.with(field, Some(Document::text(value)));
    fields.iter().fold(Document::map(), with)
}

fn reserved(field: &str, value: &str) -> (&'static str, Document) {
    let specification = match field {
        "capacityReservationPreference" => map(&[(field, value)]),
        _ => Document::map().with("capacityReservationTarget", Some(map(&[(field, value)]))),
    };
    ("capacityReservationSpecification", specification)
}

/// A group of instances with these fields in their template.
fn launch(scene: &Scene, desired: u32, fields: &[(&str, Document)]) -> AwsResult<()> {
    let mut document = data("m7i.large").document;
    for (name, value) in fields {
        document.set(name, value.clone());
    }
    let mut new = scene.pool((0, desired, 20));
    new.source = Some(source(&scene.template_of("own", LaunchData { document }), None));
    scene.create(new)
}

fn fork(scene: &Scene) -> Scene {
    let sim = scene.sim.fork();
    let region = sim.region(REGION);
    Scene { sim, region }
}

/// In a copy of the scene.
fn is_refused(scene: &Scene, fields: &[(&str, Document)], text: &str) {
    let (code, message) = refusal(launch(&fork(scene), 1, fields));
    assert_eq!(code, "ValidationError", "{fields:?}");
    assert!(message.contains(text), "{fields:?}: {message}");
}

fn reservation(scene: &Scene, zone: &str, total: u32, criteria: MatchCriteria) -> String {
    let new = NewReservation {
        instance_type: InstanceType::from("m7i.large"),
        zone: Zone::new(format!("eu-central-1{zone}")),
        total,
        criteria,
        tags: Tags::new(),
    };
    scene.with(|region| region.create_capacity_reservation(new)).expect("a reservation")
}

fn zones(scene: &Scene) -> BTreeSet<String> {
    let members = scene.group().members;
    members.values().map(|member| member.zone.to_string()).collect()
}

/// EC2 User Guide, "Placement strategies for your placement groups".
#[test]
fn placement_groups_limit_where_and_how_many_instances_are() {
    for (strategy, expected, spans) in
        [(Strategy::Cluster, 8, 1), (Strategy::Spread, 21, 3), (Strategy::Partition(3), 22, 3)]
    {
        let scene = scene();
        scene
            .with(|region| region.create_placement_group("own", strategy, Tags::new()).map(drop))
            .expect("a group");
        let mut document = data("m7i.large").document;
        document.set("placement", map(&[("groupName", "own")]));
        let mut new = scene.pool((0, if strategy == Strategy::Cluster { 8 } else { 22 }, 22));
        new.source = Some(source(&scene.template_of("own", LaunchData { document }), None));
        scene.create(new).expect("a group");
        scene.wait(2_000);
        assert_eq!(scene.in_service().len(), expected, "{strategy:?}");
        assert_eq!(zones(&scene).len(), spans, "{strategy:?}");
        let in_use = scene.with(|region| region.delete_placement_group("own"));
        assert_eq!(refusal(in_use).0, "InvalidPlacementGroup.InUse");
    }
}

#[test]
fn a_placement_group_has_to_exist_and_only_one_with_partitions_has_numbers() {
    let scene = scene();
    let id = scene.with(|region| {
        region.create_placement_group("spread", Strategy::Spread, Tags::new()).expect("a group");
        let group = region.create_placement_group("parts", Strategy::Partition(2), Tags::new());
        group.expect("a group").id.clone()
    });
    let placed = |fields: &[(&str, &str)]| [("placement", map(fields))];
    is_refused(&scene, &placed(&[("groupName", "other")]), "The Placement Group 'other' is unknown");
    is_refused(&scene, &placed(&[("groupId", "pg-1")]), "'pg-1' is unknown");
    is_refused(&scene, &placed(&[("groupName", "parts"), ("groupId", &id)]), "GroupName and GroupId");
    is_refused(&scene, &placed(&[("partitionNumber", "1")]), "needs a placement group");
    let of_spread = [("groupName", "spread"), ("partitionNumber", "1")];
    is_refused(&scene, &placed(&of_spread), "with the strategy partition");
    is_refused(&scene, &placed(&[("groupId", &id), ("partitionNumber", "3")]), "has the partitions 1 to 2");
    launch(&scene, 1, &placed(&[("groupId", &id), ("partitionNumber", "2")])).expect("a group");
    scene.wait(30);
    let shown = scene.with(|region| {
        let instance = region.instances().next().cloned().expect("an instance");
        (instance.placement_group, instance.partition)
    });
    assert_eq!(shown, (Some("parts".to_owned()), Some("2".to_owned())));
}

/// Auto Scaling User Guide, "Create a launch template for an Auto Scaling group"; EC2 API Reference, SpotPlacement.
#[test]
fn dedicated_hosts_are_in_host_resource_groups_and_licenses_have_arns() {
    let hosts = "arn:aws:resource-groups:eu-central-1:123456789012:group/hosts";
    let spot = || ("instanceMarketOptions", map(&[("marketType", "spot")]));
    let license = |arn: &str| ("licenseSet", Document::List(vec![map(&[("licenseConfigurationArn", arn)])]));
    for (fields, refused) in [
        (vec![("placement", map(&[("hostResourceGroupArn", hosts)]))], None),
        (vec![("placement", map(&[("hostResourceGroupArn", hosts), ("tenancy", "host")]))], None),
        (
            vec![("placement", map(&[("hostResourceGroupArn", hosts), ("tenancy", "dedicated")]))],
            Some("the tenancy host"),
        ),
        (vec![("placement", map(&[("tenancy", "host")]))], Some("host resource groups only")),
        (
            vec![("placement", map(&[("tenancy", "host"), ("hostId", "h-1")]))],
            Some("host resource groups only"),
        ),
        (vec![("placement", map(&[("affinity", "host")]))], Some("host resource groups only")),
        (
            vec![("placement", map(&[("hostResourceGroupArn", hosts), ("groupName", "x")]))],
            Some("cannot be in a placement group"),
        ),
        (vec![("placement", map(&[("hostResourceGroupArn", hosts)])), spot()], Some("no Spot Instances")),
        (vec![license("arn:aws:license-manager:eu-central-1:1:license-configuration:lic-1")], None),
        (vec![license("lic-1")], Some("Invalid value 'lic-1' for LicenseConfigurationArn")),
        (vec![reserved("capacityReservationId", "cr-1")], Some("'cr-1' does not exist")),
        (
            vec![(
                "capacityReservationSpecification",
                map(&[("capacityReservationPreference", "none")])
                    .with("capacityReservationTarget", Some(map(&[("capacityReservationId", "cr-1")]))),
            )],
            Some("cannot be specified together"),
        ),
        (vec![reserved("capacityReservationId", "cr-1"), spot()], Some("Spot Instances cannot use")),
        (vec![reserved("capacityReservationResourceGroupArn", "arn:aws:resource-groups:x")], None),
    ] {
        let scene = scene();
        match refused {
            None => launch(&scene, 1, &fields).unwrap_or_else(|error| panic!("{fields:?}: {error:?}")),
            Some(text) => is_refused(&scene, &fields, text),
        }
    }
}

/// EC2 User Guide, "Launch instances into an existing Capacity Reservation".
#[test]
fn a_reservation_that_is_named_has_capacity_for_so_many_instances_in_its_zone() {
    let scene = scene();
    let id = reservation(&scene, "b", 2, MatchCriteria::Targeted);
    // Reserved capacity exists whatever other capacity the zone has.
    scene.region.set_capacity_limit("eu-central-1b", "m7i.large", Some(0)).expect("a limit");
    launch(&scene, 3, &[reserved("capacityReservationId", &id)]).expect("a group");
    scene.wait(2_000);
    assert_eq!(scene.in_service().len(), 2);
    assert_eq!(zones(&scene), BTreeSet::from(["eu-central-1b".to_owned()]));
    assert_eq!(scene.with(|region| region.capacity_left(&id)), 0);
    let failed = scene.activities();
    let failed = failed.iter().filter(|it| it.status == ActivityStatus::Failed);
    assert!(failed.clone().count() > 0);
    for activity in failed {
        let text = "does not have sufficient compatible and available capacity";
        assert!(activity.description.contains(text), "{}", activity.description);
    }
    // An instance that ends gives its capacity back.
    let ended = scene.in_service().remove(0);
    scene.with(|region| region.terminate_in_ec2(&ended, ("Client", "Client")));
    scene.wait(2_000);
    assert_eq!(scene.in_service().len(), 2);
    // Instances stay when their reservation is cancelled.
    scene.with(|region| region.cancel_capacity_reservation(&id)).expect("cancelled");
    let again = scene.with(|region| region.cancel_capacity_reservation(&id));
    assert_eq!(refusal(again).0, "InvalidCapacityReservationId.NotFound");
    scene.wait(60);
    assert_eq!(scene.in_service().len(), 2);
}

#[test]
fn open_reservations_are_used_by_all_that_match_unless_they_prefer_another_way() {
    for (preference, running, used) in
        [(None, 4, 1), (Some("open"), 4, 1), (Some("none"), 4, 0), (Some("capacity-reservations-only"), 1, 1)]
    {
        let scene = scene();
        let id = reservation(&scene, "a", 1, MatchCriteria::Open);
        let targeted = reservation(&scene, "a", 5, MatchCriteria::Targeted);
        let fields: Vec<_> =
            preference.map(|it| reserved("capacityReservationPreference", it)).into_iter().collect();
        launch(&scene, 4, &fields).expect("a group");
        scene.wait(2_000);
        let left = scene.with(|region| (region.capacity_left(&id), region.capacity_left(&targeted)));
        assert_eq!((scene.in_service().len(), 1 - left.0, left.1), (running, used, 5), "{preference:?}");
    }
}

/// A Capacity Block of two instances in zone b, from one hour after the present until twelve hours after it.
fn block(scene: &Scene) -> String {
    let now = scene.sim.now();
    let new = NewReservation {
        instance_type: InstanceType::from("m7i.large"),
        zone: Zone::from("eu-central-1b"),
        total: 2,
        criteria: MatchCriteria::Targeted,
        tags: Tags::new(),
    };
    let period =
        Period { starts: now.plus(Duration::from_hours(1)), ends: now.plus(Duration::from_hours(12)) };
    scene.with(|region| region.create_capacity_block(new, period)).expect("a block")
}

fn in_block(id: &str) -> [(&'static str, Document); 2] {
    let market = map(&[("marketType", "capacity-block")]);
    [reserved("capacityReservationId", id), ("instanceMarketOptions", market)]
}

fn state(scene: &Scene, id: &str) -> &'static str {
    scene.with(|region| region.capacity.reservations[id].state(region.now()))
}

/// Auto Scaling User Guide, "Use Capacity Blocks for machine learning workloads".
#[test]
fn a_capacity_block_has_instances_from_its_start_until_half_an_hour_before_its_end() {
    let scene = scene();
    let id = block(&scene);
    launch(&scene, 2, &in_block(&id)).expect("a group");
    scene.wait(3_500);
    assert_eq!((scene.in_service().len(), state(&scene, &id)), (0, "scheduled"));
    assert!(scene.count_activities(ActivityStatus::Failed, "Capacity Block is not active") > 0);
    scene.wait(2_000);
    assert_eq!((scene.in_service().len(), state(&scene, &id)), (2, "active"));
    assert_eq!(zones(&scene), BTreeSet::from(["eu-central-1b".to_owned()]));
    let half_an_hour_before = 12 * 3_600 - 1_800;
    scene.wait(half_an_hour_before - 5_500 - 10);
    assert_eq!(scene.in_service().len(), 2);
    scene.wait(600);
    assert_eq!((scene.in_service().len(), state(&scene, &id)), (0, "active"), "no launches any more");
    scene.wait(1_800);
    assert_eq!(state(&scene, &id), "expired");
}

/// EC2 User Guide, "Extend Capacity Blocks".
#[test]
fn a_capacity_block_that_was_extended_keeps_its_instances() {
    let scene = scene();
    let id = block(&scene);
    launch(&scene, 2, &in_block(&id)).expect("a group");
    scene.wait(5_500);
    let ends = scene.sim.now().plus(Duration::from_hours(36));
    scene.with(|region| region.extend_capacity_block(&id, ends)).expect("extended");
    scene.wait(12 * 3_600);
    assert_eq!(scene.in_service().len(), 2);
    scene.wait(24 * 3_600);
    assert_eq!((scene.in_service().len(), state(&scene, &id)), (0, "expired"));
}

/// Auto Scaling User Guide, "Use Capacity Blocks for machine learning workloads": limitations.
#[test]
fn a_capacity_block_has_a_market_of_its_own_without_mixed_instances_and_warm_pools() {
    let scene = scene();
    let id = block(&scene);
    is_refused(&scene, &in_block(&id)[1..], "needs a CapacityReservationId");
    let other = reservation(&scene, "a", 1, MatchCriteria::Targeted);
    for (fields, text) in [
        (vec![reserved("capacityReservationId", &id)], "needs the market type capacity-block"),
        (in_block(&other).to_vec(), "needs a Capacity Block"),
    ] {
        let copy = fork(&scene);
        launch(&copy, 1, &fields).expect("a group");
        copy.wait(60);
        assert!(copy.count_activities(ActivityStatus::Failed, text) > 0, "{text}");
    }
    let copy = fork(&scene);
    launch(&copy, 0, &in_block(&id)).expect("a group");
    let warm = copy.with(|region| region.put_warm_pool(&name("pool"), WarmPoolChange::default()));
    assert!(refusal(warm).1.contains("uses a Capacity Block"));
    let mut document = data("m7i.large").document;
    for (field, value) in in_block(&id) {
        document.set(field, value);
    }
    scene.template_of("mixed", LaunchData { document });
    let mut new = scene.pool((0, 0, 2));
    new.source = Some(mix("mixed", types(&["m7i.large"]), &[]));
    assert!(refusal(scene.create(new)).1.contains("not supported"));
}

/// EC2 API Reference, EbsBlockDevice.
/// EC2 User Guide, "Capacity Reservation considerations": not for spot instances.
#[test]
fn a_spot_instance_uses_no_reservation_and_cannot_require_one() {
    let scene = scene();
    let id = reservation(&scene, "a", 1, MatchCriteria::Open);
    let of_spot = |fields: Vec<(&'static str, Document)>| {
        let mut document = data("m7i.large").document;
        for (name, value) in fields {
            document.set(name, value);
        }
        let (of, zone) = (InstanceType::from("m7i.large"), Zone::from("eu-central-1a"));
        scene.with(|region| region.reservation_for(&LaunchData { document }, &of, &zone, Market::Spot))
    };
    assert_eq!(of_spot(Vec::new()).expect("allowed"), None);
    for wrong in [
        reserved("capacityReservationId", &id),
        reserved("capacityReservationPreference", "capacity-reservations-only"),
    ] {
        assert_eq!(refusal(of_spot(vec![wrong])).0, "InvalidParameterCombination");
    }
}

#[test]
fn a_volume_is_at_least_as_large_as_its_snapshot() {
    let scene = scene();
    let snapshot = scene.with(|region| {
        let volume =
            region.put_volume(WorkloadVolume { size_gib: 40, attached: None, tags: BTreeMap::new() });
        let unknown = region.create_snapshot("vol-1", "", Tags::new());
        assert_eq!(refusal(unknown).0, "InvalidVolume.NotFound");
        region.create_snapshot(&volume, "data", Tags::new()).expect("a snapshot")
    });
    let volume = |fields: &[(&str, &str)]| {
        let ebs = map(fields).with("volumeType", Some(Document::text("gp3")));
        let mapping = map(&[("deviceName", "/dev/xvdb")]).with("ebs", Some(ebs));
        [("blockDeviceMappingSet", Document::List(vec![mapping]))]
    };
    is_refused(&scene, &volume(&[("volumeSize", "50"), ("snapshotId", "snap-1")]), "'snap-1' does not exist");
    let small = volume(&[("volumeSize", "39"), ("snapshotId", &snapshot)]);
    is_refused(&scene, &small, "expect size >= 40GB");
    let empty = volume(&[("volumeSize", "50"), ("volumeInitializationRate", "100")]);
    is_refused(&scene, &empty, "created from a snapshot");
    let fast = [("volumeSize", "40"), ("snapshotId", snapshot.as_str()), ("volumeInitializationRate", "100")];
    launch(&scene, 1, &volume(&fast)).expect("a group");
    scene.wait(30);
    assert_eq!(scene.in_service().len(), 1);
    // What vanishes fails launches.
    scene.with(|region| region.delete_snapshot(&snapshot)).expect("deleted");
    scene.set_desired(2).expect("two");
    scene.wait(60);
    assert_eq!(scene.in_service().len(), 1);
    assert!(scene.count_activities(ActivityStatus::Failed, "does not exist") > 0);
}
