//! Instance refresh (Auto Scaling User Guide, "Use an instance refresh to update instances in an Auto Scaling group").

use super::scene::{Scene, name, refusal, scene, source};
use crate::core::error::AwsResult;
use crate::core::mishaps::{LaunchMishap, Mishap};
use crate::core::rules::group::hooks::{ActionKey, ActionResult, HookChange, Transition};
use crate::core::rules::group::refresh::{PreferencesSpec, Refresh, RefreshStatus, Treatment};
use crate::core::rules::group::source::SourceSpec;
use foo_model::{InstanceId, LaunchTemplateId, LifecycleState, Process, Protection};
use std::time::Duration;

impl Scene {
    /// A group in service, and a second version of its template.
    fn with_newer_version(&self, sizes: (u32, u32, u32)) -> LaunchTemplateId {
        self.settled_pool(sizes);
        let template = self.group().template().id.clone();
        self.version(&template, "m7i.xlarge");
        template
    }

    fn start(&self, desired: Option<SourceSpec>, preferences: PreferencesSpec) -> AwsResult<String> {
        self.with(|region| region.start_refresh(&name("pool"), desired, preferences))
    }

    fn refresh(&self) -> Refresh {
        self.group().refreshes.last().cloned().expect("a refresh")
    }

    fn status(&self) -> RefreshStatus {
        self.refresh().status
    }

    fn refresh_events(&self) -> Vec<String> {
        let kinds = self.region.events_after(0).into_iter();
        kinds
            .filter_map(|(_, event)| {
                event["detail-type"]
                    .as_str()?
                    .strip_prefix("EC2 Auto Scaling Instance Refresh ")
                    .map(str::to_owned)
            })
            .collect()
    }

    /// The fewest and the most members in service over a while.
    fn range_over(&self, seconds: u64) -> (usize, usize) {
        let (mut least, mut most) = (usize::MAX, 0);
        for _ in 0..seconds {
            self.wait(1);
            let serving = self.count(&LifecycleState::InService);
            (least, most) = (least.min(serving), most.max(serving));
        }
        (least, most)
    }
}

#[test]
fn a_refresh_replaces_everything_within_its_percentages_and_then_changes_the_group() {
    let scene = scene();
    let template = scene.with_newer_version((0, 10, 10));
    let range = PreferencesSpec { min_healthy: Some(80), ..PreferencesSpec::default() };
    scene.start(Some(source(&template, Some("2"))), range).expect("started");
    let (least, most) = scene.range_over(200);
    assert_eq!((least, most), (8, 10));
    assert_eq!(scene.status(), RefreshStatus::Successful);
    assert!(scene.types().iter().all(|it| it == "m7i.xlarge"));
    assert_eq!(scene.group().template().version, "2", "the desired configuration is the group's now");
    assert_eq!((scene.refresh().percentage(), scene.refresh().to_update()), (100, 0));
    assert_eq!(scene.refresh_events(), ["Started", "Succeeded"]);
}

#[test]
fn above_100_percent_replacements_come_first() {
    let scene = scene();
    let template = scene.with_newer_version((0, 4, 4));
    let range =
        PreferencesSpec { min_healthy: Some(100), max_healthy: Some(125), ..PreferencesSpec::default() };
    scene.start(Some(source(&template, Some("2"))), range).expect("started");
    scene.wait(1);
    assert_eq!((scene.group().capacity(), scene.count(&LifecycleState::Pending)), (5, 1));
    assert_eq!(scene.range_over(300), (4, 4));
    assert_eq!(scene.status(), RefreshStatus::Successful);
}

#[test]
fn with_100_percent_on_both_sides_one_is_replaced_at_a_time() {
    let scene = scene();
    let template = scene.with_newer_version((0, 3, 3));
    let range =
        PreferencesSpec { min_healthy: Some(100), max_healthy: Some(100), ..PreferencesSpec::default() };
    scene.start(Some(source(&template, Some("2"))), range).expect("started");
    assert_eq!(scene.range_over(300), (2, 3));
    assert_eq!(scene.status(), RefreshStatus::Successful);
}

/// "One at a time (InstanceRefreshInProgress)."
#[test]
fn there_is_one_refresh_at_a_time_and_cancelling_leaves_what_is_done() {
    let scene = scene();
    let template = scene.with_newer_version((0, 4, 4));
    let desired = || Some(source(&template, Some("2")));
    scene.start(desired(), PreferencesSpec::default()).expect("started");
    assert_eq!(refusal(scene.start(None, PreferencesSpec::default())).0, "InstanceRefreshInProgress");
    scene.wait(30);
    scene.with(|region| region.cancel_refresh(&name("pool"), true)).expect("cancelling");
    assert_eq!(scene.status(), RefreshStatus::Cancelling);
    scene.wait(60);
    assert_eq!(scene.status(), RefreshStatus::Cancelled);
    let newer = scene.types().iter().filter(|it| *it == "m7i.xlarge").count();
    assert!((1..4).contains(&newer), "{newer}");
    assert_eq!(scene.group().template().version, "1", "the group stays as it was");
    let refused = scene.with(|region| region.cancel_refresh(&name("pool"), true));
    assert_eq!(refusal(refused).0, "ActiveInstanceRefreshNotFound");
}

#[test]
fn checkpoints_stop_for_their_delay() {
    let scene = scene();
    let template = scene.with_newer_version((0, 4, 4));
    let preferences = PreferencesSpec {
        min_healthy: Some(50),
        checkpoints: vec![50, 100],
        checkpoint_delay: Some(Duration::from_mins(10)),
        ..PreferencesSpec::default()
    };
    scene.start(Some(source(&template, Some("2"))), preferences).expect("started");
    scene.wait(300);
    let newer = || scene.types().iter().filter(|it| *it == "m7i.xlarge").count();
    assert_eq!((newer(), scene.refresh().percentage(), scene.status()), (2, 50, RefreshStatus::InProgress));
    scene.wait(400);
    assert_eq!(newer(), 4);
    assert_eq!(scene.status(), RefreshStatus::Successful);
    assert_eq!(scene.refresh_events(), ["Started", "Checkpoint Reached", "Checkpoint Reached", "Succeeded"]);
}

/// "To replace all of your instances, the last number must be 100."
#[test]
fn a_refresh_ends_at_its_last_checkpoint() {
    let scene = scene();
    let template = scene.with_newer_version((0, 4, 4));
    let preferences = PreferencesSpec { checkpoints: vec![25], ..PreferencesSpec::default() };
    scene.start(Some(source(&template, Some("2"))), preferences).expect("started");
    scene.wait(200);
    assert_eq!(scene.types().iter().filter(|it| *it == "m7i.xlarge").count(), 1);
    assert_eq!((scene.status(), scene.refresh().percentage()), (RefreshStatus::Successful, 25));
}

#[test]
fn skip_matching_leaves_what_is_new_already() {
    let scene = scene();
    scene.settled_pool((0, 3, 3));
    let before = scene.in_service();
    let preferences = PreferencesSpec { skip_matching: true, ..PreferencesSpec::default() };
    scene.start(None, preferences).expect("started");
    scene.wait(30);
    assert_eq!((scene.status(), scene.in_service()), (RefreshStatus::Successful, before));
}

/// `ScaleInProtectedInstances` of the preferences.
#[test]
fn protected_instances_are_waited_for_passed_over_or_replaced() {
    for (treatment, replaced, status) in [
        (Treatment::Wait, 0, RefreshStatus::Failed),
        (Treatment::Ignore, 0, RefreshStatus::Successful),
        (Treatment::Replace, 2, RefreshStatus::Successful),
    ] {
        let scene = scene();
        let template = scene.with_newer_version((0, 2, 2));
        let ids = scene.in_service();
        scene
            .with(|region| region.set_protection(&name("pool"), &ids, Protection::Protected))
            .expect("protected");
        let preferences = PreferencesSpec { protected: Some(treatment), ..PreferencesSpec::default() };
        scene.start(Some(source(&template, Some("2"))), preferences).expect("started");
        scene.wait(3_700);
        let newer = scene.types().iter().filter(|it| *it == "m7i.xlarge").count();
        assert_eq!((newer, scene.status()), (replaced, status), "{treatment:?}");
    }
}

#[test]
fn instances_in_standby_are_ended_only_on_request() {
    for (treatment, left) in [(Treatment::Ignore, 1), (Treatment::Replace, 0)] {
        let scene = scene();
        scene.settled_pool((0, 2, 3));
        let id = scene.in_service().remove(0);
        scene
            .with(|region| {
                region.enter_standby(&name("pool"), std::slice::from_ref(&id), foo_model::Decrement::Shrink)
            })
            .expect("in standby");
        scene.wait(5);
        let preferences = PreferencesSpec { standby: Some(treatment), ..PreferencesSpec::default() };
        scene.start(None, preferences).expect("started");
        scene.wait(200);
        assert_eq!(
            (scene.count(&LifecycleState::Standby), scene.status()),
            (left, RefreshStatus::Successful)
        );
    }
}

fn failing_launches() -> Vec<LaunchMishap> {
    let message = "no".to_owned();
    let mishap = Mishap::Refused { code: "InternalError".to_owned(), message };
    vec![LaunchMishap { group: None, zone: None, skip: 0, times: None, mishap }]
}

#[test]
fn a_refresh_that_does_not_come_forward_fails() {
    let scene = scene();
    let template = scene.with_newer_version((0, 4, 4));
    scene.region.set_launch_mishaps(failing_launches()).expect("rules");
    scene.start(Some(source(&template, Some("2"))), PreferencesSpec::default()).expect("started");
    scene.wait(3_700);
    assert_eq!(scene.status(), RefreshStatus::Failed);
    assert_eq!(scene.in_service().len(), 3, "it ended no more than it may");
    assert_eq!(scene.refresh_events(), ["Started", "Failed"]);
}

#[test]
fn auto_rollback_goes_back_to_what_the_group_launched_before() {
    let scene = scene();
    let template = scene.with_newer_version((0, 4, 4));
    let preferences = PreferencesSpec { auto_rollback: true, ..PreferencesSpec::default() };
    assert_eq!(
        refusal(scene.start(None, preferences.clone())).0,
        "ValidationError",
        "to what would it go back?"
    );
    scene.start(Some(source(&template, Some("2"))), preferences).expect("started");
    scene.wait(30);
    scene.region.set_launch_mishaps(failing_launches()).expect("rules");
    scene.wait(3_700);
    assert_eq!(scene.status(), RefreshStatus::RollbackInProgress);
    scene.region.set_launch_mishaps(Vec::new()).expect("rules");
    scene.wait(1_000);
    assert_eq!(scene.status(), RefreshStatus::RollbackSuccessful);
    assert!(scene.types().iter().all(|it| it == "m7i.large"), "{:?}", scene.types());
    assert_eq!(scene.refresh_events(), ["Started", "Rollback Started", "Rollback Succeeded"]);
}

#[test]
fn a_rollback_by_hand_needs_versions_that_are_numbers() {
    let scene = scene();
    let template = scene.with_newer_version((0, 2, 2));
    scene.start(Some(source(&template, Some("$Latest"))), PreferencesSpec::default()).expect("started");
    let rollback = || scene.with(|region| region.rollback_refresh(&name("pool")));
    assert_eq!(refusal(rollback()).0, "IrreversibleInstanceRefresh");
    scene.with(|region| region.cancel_refresh(&name("pool"), false)).expect("cancelled");
    assert_eq!(refusal(rollback()).0, "ActiveInstanceRefreshNotFound");
    scene.start(Some(source(&template, Some("2"))), PreferencesSpec::default()).expect("started");
    scene.wait(40);
    rollback().expect("back");
    scene.wait(200);
    assert_eq!(scene.status(), RefreshStatus::RollbackSuccessful);
    assert!(scene.types().iter().all(|it| it == "m7i.large"));
}

#[test]
fn the_bake_time_comes_before_success() {
    let scene = scene();
    scene.settled_pool((0, 1, 1));
    let preferences = PreferencesSpec { bake: Some(Duration::from_mins(10)), ..PreferencesSpec::default() };
    scene.start(None, preferences).expect("started");
    scene.wait(100);
    assert_eq!(scene.status(), RefreshStatus::Baking);
    scene.wait(600);
    assert_eq!(scene.status(), RefreshStatus::Successful);
}

/// "Hooks run for … instance refresh".
#[test]
fn a_refresh_waits_for_terminating_hooks() {
    let scene = scene();
    scene.settled_pool((0, 2, 2));
    let hook = HookChange {
        name: "drain".to_owned(),
        transition: Some(Transition::Terminating),
        heartbeat: Some(600),
        ..HookChange::default()
    };
    scene.with(|region| region.put_hook(&name("pool"), hook)).expect("a hook");
    scene.start(None, PreferencesSpec::default()).expect("started");
    scene.wait(5);
    let waiting: Vec<InstanceId> = scene
        .group()
        .members
        .into_values()
        .filter(|it| it.lifecycle == LifecycleState::TerminatingWait)
        .map(|it| it.id)
        .collect();
    assert_eq!(waiting.len(), 1);
    assert!(scene.with(|region| region.instance(&waiting[0]).is_some_and(|it| it.state.is_alive())));
    let key = ActionKey::Instance(waiting[0].clone());
    scene
        .with(|region| region.complete_action(&name("pool"), "drain", &key, ActionResult::Continue))
        .expect("completed");
    scene.wait(700);
    scene.wait(700);
    assert_eq!(scene.status(), RefreshStatus::Successful);
}

#[test]
fn a_suspended_refresh_rests() {
    let scene = scene();
    scene.settled_pool((0, 2, 2));
    scene
        .with(|region| region.suspend_processes(&name("pool"), &[Process::InstanceRefresh]))
        .expect("suspended");
    scene.start(None, PreferencesSpec::default()).expect("started");
    scene.wait(500);
    assert_eq!(scene.status(), RefreshStatus::Pending);
    scene
        .with(|region| region.resume_processes(&name("pool"), &[Process::InstanceRefresh]))
        .expect("resumed");
    scene.wait(200);
    assert_eq!(scene.status(), RefreshStatus::Successful);
}

#[test]
fn cancelling_ends_when_what_is_in_progress_cannot() {
    let scene = scene();
    let template = scene.with_newer_version((0, 4, 4));
    for zone in ["a", "b", "c"] {
        let zone = format!("eu-central-1{zone}");
        scene.region.set_capacity_limit(&zone, "m7i.xlarge", Some(0)).expect("a limit");
    }
    scene.start(Some(source(&template, Some("2"))), PreferencesSpec::default()).expect("started");
    scene.wait(120);
    scene.with(|region| region.cancel_refresh(&name("pool"), true)).expect("cancelling");
    scene.wait(7200);
    assert_eq!(scene.status(), RefreshStatus::Cancelled);
    assert_eq!(scene.types(), ["m7i.large"; 4], "the group makes up with what it launched before");
}

#[test]
fn a_rollback_goes_all_the_way_past_the_checkpoints() {
    let scene = scene();
    let template = scene.with_newer_version((0, 10, 12));
    let halfway =
        PreferencesSpec { checkpoints: vec![20, 50], min_healthy: Some(90), ..PreferencesSpec::default() };
    scene.start(Some(source(&template, Some("2"))), halfway).expect("started");
    scene.wait(600);
    assert_eq!(scene.types().iter().filter(|it| *it == "m7i.xlarge").count(), 2);
    scene.with(|region| region.rollback_refresh(&name("pool"))).expect("rolling back");
    scene.wait(3000);
    assert_eq!(scene.status(), RefreshStatus::RollbackSuccessful);
    assert_eq!(scene.types(), ["m7i.large"; 10]);
}

#[test]
fn a_rollback_that_is_cancelled_launches_nothing_new() {
    let scene = scene();
    let template = scene.with_newer_version((0, 4, 12));
    scene.start(Some(source(&template, Some("2"))), PreferencesSpec::default()).expect("started");
    scene.wait(45);
    scene.with(|region| region.rollback_refresh(&name("pool"))).expect("rolling back");
    scene.wait(1);
    scene.with(|region| region.cancel_refresh(&name("pool"), true)).expect("cancelling");
    let newer = |scene: &Scene| scene.types().iter().filter(|it| *it == "m7i.xlarge").count();
    let before = newer(&scene);
    scene.set_desired(8).expect("set");
    scene.wait(300);
    assert_eq!(scene.in_service().len(), 8);
    assert!(newer(&scene) <= before, "{:?}", scene.types());
}
