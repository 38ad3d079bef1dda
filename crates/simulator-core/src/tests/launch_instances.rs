//! LaunchInstances (Auto Scaling User Guide, "Launch instances synchronously").

use super::scene::{Scene, name, refusal, scene};
use crate::core::error::AwsResult;
use crate::core::network::PRIVATE_SUBNETS;
use crate::core::rules::group::launch_instances::{LaunchPlace, LaunchRequest, Launched};
use foo_model::{SubnetId, Zone};

fn request(capacity: u32, token: &str) -> LaunchRequest {
    LaunchRequest {
        group: name("pool"),
        capacity,
        token: token.to_owned(),
        place: Some(LaunchPlace::Zone(Zone::from("eu-central-1b"))),
        retries: false,
    }
}

impl Scene {
    fn launch(&self, request: LaunchRequest) -> AwsResult<Launched> {
        self.with(|region| region.launch_instances(request))
    }
}

#[test]
fn instances_are_known_at_once_and_desired_capacity_rises() {
    let scene = scene();
    scene.settled_pool((0, 1, 5));
    let launched = scene.launch(request(2, "t")).expect("launched");
    assert_eq!(launched.instances.iter().map(|it| it.ids.len()).sum::<usize>(), 2);
    assert!(launched.instances.iter().all(|it| it.zone.as_str() == "eu-central-1b"));
    assert_eq!(scene.group().sizes.desired, 3);
    scene.wait(21);
    assert_eq!(scene.in_service().len(), 3);
}

/// "only CreateLaunchTemplate/-Version, RunInstances, LaunchInstances have a client token."
#[test]
fn a_repeated_token_launches_once() {
    let scene = scene();
    scene.settled_pool((0, 0, 5));
    let first = scene.launch(request(2, "t")).expect("launched");
    assert_eq!(scene.launch(request(2, "t")).expect("repeated"), first);
    assert_eq!(scene.group().members.len(), 2);
    assert_eq!(refusal(scene.launch(request(1, "t"))).0, "IdempotentParameterMismatch");
}

#[test]
fn what_cannot_be_launched_is_reported_and_left_to_the_group_only_on_request() {
    let scene = scene();
    scene.settled_pool((0, 0, 9));
    scene.region.set_capacity_limit("eu-central-1b", "m7i.large", Some(1)).expect("a limit");
    let launched = scene.launch(request(2, "a")).expect("in part");
    assert_eq!((launched.instances.len(), launched.errors.len()), (1, 1));
    assert_eq!(launched.errors[0].code, "InsufficientInstanceCapacity");
    assert_eq!(scene.group().sizes.desired, 1);
    let retried = LaunchRequest { retries: true, ..request(2, "b") };
    assert_eq!(scene.launch(retried).expect("nothing").errors.len(), 1);
    assert_eq!(scene.group().sizes.desired, 3);
    scene.wait(30);
    assert_eq!(scene.in_service().len(), 3, "the group launches the rest elsewhere");
}

#[test]
fn a_place_must_be_the_groups_and_the_maximum_holds() {
    let scene = scene();
    scene.settled_pool((0, 0, 1));
    let elsewhere = LaunchPlace::Zone(Zone::from("eu-central-1z"));
    let strange = LaunchPlace::Subnet(SubnetId::from("subnet-0b00000000000000a"));
    for place in [Some(elsewhere), Some(strange), None] {
        let request = LaunchRequest { place, ..request(1, "t") };
        assert_eq!(refusal(scene.launch(request)).0, "ValidationError");
    }
    assert_eq!(refusal(scene.launch(request(2, "t"))).0, "ValidationError");
}

#[test]
fn a_subnet_without_addresses_is_an_error_in_the_response() {
    let scene = scene();
    scene.settled_pool((0, 0, 9));
    let subnet = SubnetId::from(PRIVATE_SUBNETS[0]);
    scene.with(|region| while region.network.assign_address(&subnet).is_some() {});
    let launched = scene
        .launch(LaunchRequest { place: Some(LaunchPlace::Subnet(subnet)), ..request(2, "t") })
        .expect("a response");
    assert_eq!((launched.instances.len(), launched.errors.len()), (0, 1));
    assert_eq!(launched.errors[0].code, "InsufficientFreeAddressesInSubnet");
}
