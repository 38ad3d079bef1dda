//! What tests make go wrong: zones, launches, quotas.

use super::scene::{Scene, name, scene};
use crate::core::ec2::instances::Market;
use crate::core::mishaps::{LaunchMishap, Mishap, QuotaClass, ZoneState};
use crate::core::rules::group::hooks::{ActionKey, ActionResult, HookChange, Transition};
use crate::core::rules::group::warm_pool::WarmPoolChange;
use foo_model::{ActivityStatus, Decrement, InstanceId, InstanceType, LifecycleState};

fn mishap(skip: u32, mishap: Mishap) -> LaunchMishap {
    LaunchMishap { group: Some(name("pool")), zone: None, skip, times: Some(1), mishap }
}

impl Scene {
    fn failed_launches(&self) -> Vec<String> {
        self.activities()
            .into_iter()
            .filter(|it| it.status == ActivityStatus::Failed)
            .filter_map(|it| it.status_message)
            .collect()
    }
}

/// "Lack of capacity, quota, a bad AMI or template: activity Failed with EC2's message, no instance, retried."
#[test]
fn a_quota_of_vcpus_is_not_exceeded() {
    let scene = scene();
    scene.region.set_vcpu_quota(QuotaClass::Standard, Some(5)).expect("a quota");
    scene.settled_pool((0, 4, 4));
    assert_eq!(scene.in_service().len(), 2, "two of 2 vCPUs each");
    assert!(scene.failed_launches()[0].contains("current vCPU limit of 5"), "{:?}", scene.failed_launches());
    scene.region.set_vcpu_quota(QuotaClass::Standard, None).expect("lifted");
    scene.wait(400);
    assert_eq!(scene.in_service().len(), 4);
}

#[test]
fn the_nth_launch_fails_as_configured_and_the_group_makes_up_for_it() {
    let scene = scene();
    let refused =
        Mishap::Refused { code: "InternalError".to_owned(), message: "An internal error.".to_owned() };
    scene.region.set_launch_mishaps(vec![mishap(1, refused)]).expect("a rule");
    scene.settled_pool((0, 3, 3));
    assert_eq!(scene.failed_launches(), ["An internal error. Launching EC2 instance failed."]);
    assert!(scene.region.launch_mishaps().is_empty(), "used up");
    assert_eq!(scene.in_service().len(), 3, "in other zones");
}

#[test]
fn an_instance_that_dies_on_launch_is_never_in_service_and_is_replaced() {
    let scene = scene();
    scene.region.set_launch_mishaps(vec![mishap(0, Mishap::Dies)]).expect("a rule");
    scene.settled_pool((0, 2, 2));
    assert_eq!(scene.in_service().len(), 1);
    assert_eq!(scene.count_activities(ActivityStatus::Cancelled, "Launching"), 1);
    scene.wait(60);
    assert_eq!(scene.in_service().len(), 2);
}

#[test]
fn a_node_that_never_joins_looks_well_to_aws() {
    let scene = scene();
    scene.region.set_launch_mishaps(vec![mishap(0, Mishap::NeverJoins)]).expect("a rule");
    scene.settled_pool((0, 2, 2));
    let nodes = scene.region.in_service_instances();
    assert_eq!(nodes.iter().filter(|it| it.boots == crate::core::catalogue::Boot::Fails).count(), 1);
    assert_eq!(scene.in_service().len(), 2);
}

/// A zone that fails takes its instances with it: health checks find them, replacements come up elsewhere.
#[test]
fn an_unavailable_zone_is_left() {
    let scene = scene();
    scene.settled_pool((0, 6, 6));
    scene.region.set_zone_state("eu-central-1a", ZoneState::Unavailable).expect("a zone");
    assert_eq!(scene.region.in_service_instances().len(), 4, "no kubelet reports from there");
    scene.wait(120);
    let group = scene.group();
    let serving = group.members.values().filter(|it| it.lifecycle == LifecycleState::InService);
    assert_eq!(serving.clone().count(), 6);
    assert!(serving.into_iter().all(|it| it.zone.as_str() != "eu-central-1a"));
    assert!(scene.region.set_zone_state("nowhere-1z", ZoneState::Impaired).is_err());
}

/// What enters service in a zone that is gone is found by the next health check, however it comes.
#[test]
fn nothing_stays_in_service_in_an_unavailable_zone() {
    let in_a = |scene: &Scene| {
        let members = scene.group().members.into_values();
        members
            .filter(|it| it.zone.as_str() == "eu-central-1a" && it.lifecycle == LifecycleState::InService)
            .count()
    };
    let launching = scene();
    launching.create(launching.pool((0, 3, 4))).expect("a group");
    let hook = HookChange {
        name: "boot".to_owned(),
        transition: Some(Transition::Launching),
        heartbeat: Some(7200),
        ..HookChange::default()
    };
    launching.with(|region| region.put_hook(&name("pool"), hook)).expect("a hook");
    launching.wait(25);
    launching.region.set_zone_state("eu-central-1a", ZoneState::Unavailable).expect("a zone");
    let ids: Vec<InstanceId> = launching.group().members.into_keys().collect();
    for id in ids {
        let key = ActionKey::Instance(id);
        launching
            .with(|region| region.complete_action(&name("pool"), "boot", &key, ActionResult::Continue))
            .expect("completed");
    }
    launching.wait(300);
    assert_eq!(in_a(&launching), 0);

    let standby = scene();
    standby.settled_pool((0, 3, 8));
    let ids = standby.in_service();
    standby.with(|region| region.enter_standby(&name("pool"), &ids, Decrement::Shrink)).expect("in standby");
    standby.wait(5);
    standby.region.set_zone_state("eu-central-1a", ZoneState::Unavailable).expect("a zone");
    standby.wait(100);
    standby.with(|region| region.exit_standby(&name("pool"), &ids)).expect("back");
    standby.wait(300);
    assert_eq!(in_a(&standby), 0);
}

/// "current vCPU limit": running instances count, stopped ones do not.
#[test]
fn stopped_instances_do_not_count_for_the_quota() {
    let scene = scene();
    scene.settled_pool((0, 1, 8));
    let prepared = WarmPoolChange { max_prepared: Some(Some(4)), ..WarmPoolChange::default() };
    scene.with(|region| region.put_warm_pool(&name("pool"), prepared)).expect("a warm pool");
    scene.wait(100);
    scene.region.set_vcpu_quota(QuotaClass::Standard, Some(4)).expect("a quota");
    let check = || {
        scene.with(|region| region.check_quota(&InstanceType::from("m7i.large"), Market::OnDemand).is_ok())
    };
    assert!(check());
    scene.region.set_vcpu_quota(QuotaClass::Standard, Some(3)).expect("a quota");
    assert!(!check());
}
