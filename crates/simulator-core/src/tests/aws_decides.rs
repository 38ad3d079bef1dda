//! What AWS refuses or does on its own account: metadata tags, busy instances, suspended launches, changed purchase mixes,
//! scheduled events.

use super::mixed::types;
use super::scene::{Scene, data, name, refusal, scene, scene_with, source};
use crate::core::document::Document;
use crate::core::ec2::instances::Market;
use crate::core::ec2::launch_data::LaunchData;
use crate::core::error::AwsError;
use crate::core::group::model::{GroupTag, RootVolume};
use crate::core::mishaps::ZoneState;
use crate::core::rules::group::hooks::{ActionKey, ActionResult, HookChange, Transition};
use crate::core::rules::group::operations::GroupUpdate;
use crate::core::rules::group::refresh::PreferencesSpec;
use crate::core::settings::{BusyTermination, MetadataTags, MixChange, ProtectionAgainst, ProtectionBegins};
use foo_model::{
    ActivityStatus, Decrement, GroupName, Health, InstanceId, LifecycleState, Process, Protection,
};
use std::collections::BTreeMap;
use std::time::Duration;

impl Scene {
    fn ends(&self, id: &InstanceId) -> Result<(), (String, String)> {
        let ended = self.with(|region| region.terminate_member(id, Decrement::Shrink));
        ended.map(drop).map_err(|error| (error.code, error.message))
    }

    fn markets(&self) -> (usize, usize) {
        let group = self.group();
        let of = |market| group.members.values().filter(|it| it.market == market).count();
        (of(Market::OnDemand), of(Market::Spot))
    }
}

/// EC2 API Reference, ModifyInstanceMetadataDefaults: what a template leaves open the account decides.
#[test]
fn where_the_account_shows_tags_in_metadata_a_key_that_does_not_fit_fails_the_launch() {
    for (of_template, launches) in [(None, 0), (Some("disabled"), 1), (Some("enabled"), 0)] {
        let scene = scene_with(|settings| settings.instance_metadata_tags = MetadataTags::Enabled);
        let options = Document::map().with("instanceMetadataTags", of_template.map(Document::text));
        let document = data("m7i.large").document.with("metadataOptions", Some(options));
        let template = scene.template_of("own", LaunchData { document });
        let mut new = scene.pool((0, 1, 1));
        new.source = Some(source(&template, None));
        let tag = GroupTag { value: "owned".to_owned(), propagate: true };
        new.tags = BTreeMap::from([("kubernetes.io/cluster/x".to_owned(), tag)]);
        scene.create(new).expect("a group is not refused for it");
        scene.wait(0);
        assert_eq!(scene.group().members.len(), launches, "{of_template:?}");
        if launches == 0 {
            let activity = scene.activities().remove(0);
            let message = activity.status_message.unwrap_or_default();
            assert_eq!(activity.status, ActivityStatus::Failed);
            assert!(
                message.starts_with("'kubernetes.io/cluster/x' is not a valid tag key. Tag keys must"),
                "{message}"
            );
        }
    }
    let scene = scene_with(|settings| settings.instance_metadata_tags = MetadataTags::Enabled);
    scene.settled_pool((0, 1, 1));
    assert_eq!(scene.in_service().len(), 1, "AWS's own tags fit");
}

/// Auto Scaling API Reference, TerminateInstanceInAutoScalingGroup: ScalingActivityInProgress.
#[test]
fn an_instance_that_is_being_launched_or_moved_is_not_ended() {
    let scene = scene();
    scene.create(scene.pool((0, 1, 2))).expect("a group");
    let hook = HookChange {
        name: "boot".to_owned(),
        transition: Some(Transition::Launching),
        heartbeat: Some(60),
        ..HookChange::default()
    };
    scene.with(|region| region.put_hook(&name("pool"), hook)).expect("a hook");
    scene.wait(1);
    let id = scene.group().members.into_keys().next().expect("a member");
    let refused = || {
        let activity = scene.activities().remove(0);
        let (code, message) = scene.ends(&id).expect_err("refused");
        assert_eq!(code, "ScalingActivityInProgress");
        assert_eq!(message, format!("Activity {} is in progress.", activity.id));
    };
    refused();
    scene.wait(20);
    assert_eq!(scene.count(&LifecycleState::PendingWait), 1);
    refused();
    assert_eq!(scene.group().sizes.desired, 1, "nothing happened");
    let key = ActionKey::Instance(id.clone());
    let done = ActionResult::Continue;
    scene.with(|region| region.complete_action(&name("pool"), "boot", &key, done)).expect("completed");
    scene.wait(5);
    scene
        .with(|region| region.enter_standby(&name("pool"), std::slice::from_ref(&id), Decrement::Shrink))
        .expect("moving");
    refused();
    scene.wait(10);
    assert_eq!(scene.ends(&id), Ok(()));
}

#[test]
fn a_launch_can_be_cancelled_if_the_setting_allows_it() {
    let scene = scene_with(|settings| settings.busy_termination = BusyTermination::Accepted);
    scene.create(scene.pool((0, 1, 2))).expect("a group");
    scene.wait(1);
    let id = scene.group().members.into_keys().next().expect("a member");
    assert_eq!(scene.ends(&id), Ok(()));
    assert_eq!(scene.count_activities(ActivityStatus::Cancelled, "Launching"), 1);
}

/// Auto Scaling User Guide, "Suspend and resume processes": administrative suspension.
#[test]
fn a_group_that_launches_nothing_for_a_day_is_suspended_by_aws() {
    let scene = scene();
    for zone in ["a", "b", "c"] {
        scene.region.set_zone_state(&format!("eu-central-1{zone}"), ZoneState::Impaired).expect("a zone");
    }
    scene.create(scene.pool((0, 1, 2))).expect("a group");
    scene.wait(23 * 3_600);
    assert!(scene.group().suspended.is_empty());
    scene.wait(2 * 3_600);
    let reason = scene.group().suspended.get(&Process::Launch).cloned().expect("suspended");
    assert!(reason.starts_with("Administratively suspended at 2026-01-02T00:"), "{reason}");
    let failed = scene.activities().len();
    scene.wait(3_600);
    assert_eq!(scene.activities().len(), failed, "nothing is tried any more");
    for zone in ["a", "b", "c"] {
        scene.region.set_zone_state(&format!("eu-central-1{zone}"), ZoneState::Available).expect("a zone");
    }
    scene.wait(600);
    assert_eq!(scene.in_service().len(), 0, "the mended cause alone does not help");
    scene.with(|region| region.resume_processes(&name("pool"), &[Process::Launch])).expect("resumed");
    scene.wait(25);
    assert_eq!(scene.in_service().len(), 1);
    scene.with(|region| region.suspend_processes(&name("pool"), &[Process::Launch])).expect("suspended");
    assert!(scene.group().suspended[&Process::Launch].starts_with("User suspended at 2026-"));
}

/// Auto Scaling User Guide, "How instance refresh works": update restriction.
#[test]
fn a_refresh_with_a_desired_configuration_holds_the_template() {
    let scene = scene();
    scene.settled_pool((0, 2, 4));
    let template = scene.group().template().id.clone();
    scene.version(&template, "m7i.xlarge");
    let update = |update| scene.with(|region| region.update_group(&name("pool"), update));
    let other = || GroupUpdate { source: Some(source(&template, Some("1"))), ..GroupUpdate::default() };
    let start = |desired| {
        let start = |region: &mut crate::core::Region| {
            region.start_refresh(&name("pool"), desired, PreferencesSpec::default())
        };
        scene.with(start).expect("started")
    };
    start(None);
    update(other()).expect("nothing is derived from a configuration");
    scene.with(|region| region.cancel_refresh(&name("pool"), false)).expect("cancelled");
    start(Some(source(&template, Some("2"))));
    let (code, message) = refusal(update(other()));
    assert_eq!(code, "ValidationError");
    assert!(
        message.starts_with("An active instance refresh with a desired configuration exists."),
        "{message}"
    );
    update(GroupUpdate { desired: Some(3), ..GroupUpdate::default() }).expect("sizes are free");
    scene.with(|region| region.cancel_refresh(&name("pool"), false)).expect("cancelled");
    update(other()).expect("free again");
}

/// Auto Scaling API Reference, InstancesDistribution: "gradually replaces instances", and launches first.
#[test]
fn another_purchase_mix_replaces_instances_gradually_and_launches_first() {
    const SHARE: &str = "OnDemandPercentageAboveBaseCapacity";
    let changed = |setting, protection, against| {
        let scene = scene_with(|settings| {
            settings.mix_change = setting;
            settings.mix_change_protection = against;
        });
        let mut new = scene.mixed((0, 4, 4), types(&["m7i.large"]), &[(SHARE, "100")]);
        new.new_instances = protection;
        scene.create(new).expect("a group");
        scene.wait(21);
        assert_eq!(scene.markets(), (4, 0));
        let source = super::mixed::mix("pool-template", types(&["m7i.large"]), &[(SHARE, "0")]);
        let update = GroupUpdate { source: Some(source), ..GroupUpdate::default() };
        scene.with(|region| region.update_group(&name("pool"), update)).expect("changed");
        let mut most = 0;
        for _ in 0..300 {
            scene.wait(1);
            assert!(scene.in_service().len() >= 4, "never fewer");
            most = most.max(scene.group().capacity());
        }
        (scene.markets(), most)
    };
    assert_eq!(
        changed(MixChange::Replaces, Protection::Unprotected, ProtectionAgainst::Respected),
        ((0, 4), 5)
    );
    assert_eq!(
        changed(MixChange::Leaves, Protection::Unprotected, ProtectionAgainst::Respected),
        ((4, 0), 4)
    );
    assert_eq!(
        changed(MixChange::Replaces, Protection::Protected, ProtectionAgainst::Respected),
        ((4, 0), 4)
    );
    assert_eq!(changed(MixChange::Replaces, Protection::Protected, ProtectionAgainst::Ignored), ((0, 4), 5));
}

/// Auto Scaling User Guide, "Use instance scale-in protection": it begins when the instance is in service.
#[test]
fn protection_from_scale_in_begins_in_service() {
    for (begins, left) in [(ProtectionBegins::InService, 0), (ProtectionBegins::AtLaunch, 1)] {
        let scene = scene_with(|settings| settings.protection_begins = begins);
        let mut new = scene.pool((0, 1, 2));
        new.new_instances = Protection::Protected;
        scene.create(new).expect("a group");
        scene.wait(5);
        scene.set_desired(0).expect("down");
        scene.wait(60);
        assert_eq!(scene.group().members.len(), left, "{begins:?}");
    }
}

/// Auto Scaling User Guide, "Health checks for instances in an Auto Scaling group": unhealthy on the date of the event.
#[test]
fn a_member_is_unhealthy_on_the_date_of_its_scheduled_event() {
    let scene = scene();
    scene.settled_pool((0, 2, 3));
    let ids = scene.in_service();
    let schedule = |code: &str, ahead| scene.region.schedule_event(&ids[0], code, Duration::from_secs(ahead));
    assert!(schedule("instance-party", 60).is_err());
    schedule("instance-retirement", 600).expect("scheduled");
    let mut events = scene.region.events_after(0).into_iter().map(|(_, event)| event);
    let event = events.rfind(|it| it["source"] == "aws.health").expect("published");
    assert_eq!(event["detail"]["eventTypeCode"], "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED");
    assert_eq!(event["detail"]["affectedEntities"][0]["entityValue"], ids[0].as_str());
    scene.wait(599);
    assert_eq!(scene.in_service(), ids);
    scene.wait(1);
    assert_eq!(scene.group().members[&ids[0]].health, Health::Unhealthy);
    scene.wait(60);
    assert!(!scene.in_service().contains(&ids[0]) && scene.in_service().len() == 2);
}

/// Auto Scaling User Guide, "Instance lifecycle": a member whose root volume is replaced counts all along.
#[test]
fn a_member_whose_root_volume_is_replaced_counts_and_says_so() {
    let scene = scene();
    scene.settled_pool((0, 2, 3));
    let id = scene.in_service().remove(0);
    let set = |state| scene.region.set_root_volume(&id, state);
    for (state, text) in [
        (RootVolume::Replacing, "ReplacingRootVolume"),
        (RootVolume::Wait, "ReplacingRootVolume:Wait"),
        (RootVolume::Proceed, "ReplacingRootVolume:Proceed"),
        (RootVolume::Replaced, "RootVolumeReplaced"),
    ] {
        set(Some(state)).expect("a member");
        let group = scene.group();
        assert_eq!(group.state_name(&group.members[&id]), text);
        scene.wait(30);
        assert_eq!((scene.group().members.len(), scene.group().capacity()), (2, 2));
    }
    set(None).expect("a member");
    let group = scene.group();
    assert_eq!(group.state_name(&group.members[&id]), "InService");
    assert!(scene.region.set_root_volume(&"i-00000000000000000".into(), None).is_err());
}

/// Auto Scaling API Reference, "Errors": ResourceContention has status 500.
#[test]
fn resource_contention_is_a_failure_of_aws_itself() {
    assert_eq!(AwsError::new("ResourceContention", "x").status, 500);
    assert_eq!(AwsError::validation("x").status, 400);
    let scene = scene_with(|settings| settings.codes.group_in_deletion = "ResourceContention".to_owned());
    scene.create(scene.pool((0, 1, 1))).expect("a group");
    let forced = crate::core::rules::group::operations::Deletion::Forced;
    scene.with(|region| region.delete_group(&GroupName::from("pool"), forced)).expect("deleted");
    assert_eq!(scene.set_desired(0).expect_err("refused").status, 500);
}
