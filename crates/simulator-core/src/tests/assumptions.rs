//! Where AWS's documentation is silent: each assumption has a switch, and both sides of it work.

use super::scene::{Scene, data, name, refusal, scene_with};
use crate::core::document::Document;
use crate::core::ec2::launch_data::LaunchData;
use crate::core::ec2::templates::NewTemplate;
use crate::core::rules::group::hooks::{ActionKey, ActionResult, HookChange, Transition};
use crate::core::rules::group::operations::Deletion;
use crate::core::settings::{AllProtected, Batches, HookOrder, RepeatedTermination, SuspendedTerminate};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foo_model::{ActivityStatus, Decrement, InstanceId, LifecycleState, Process, Protection};
use std::collections::BTreeMap;

impl Scene {
    fn with_hooks(&self, names: &[&str]) {
        for hook in names {
            let change = HookChange {
                name: (*hook).to_owned(),
                transition: Some(Transition::Terminating),
                heartbeat: Some(60),
                ..HookChange::default()
            };
            self.with(|region| region.put_hook(&name("pool"), change)).expect("a hook");
        }
    }

    fn waits_of(&self, id: &InstanceId) -> Vec<String> {
        self.group().members[id].waits.keys().cloned().collect()
    }
}

#[test]
fn hooks_of_a_transition_are_waited_for_together_or_one_by_one() {
    for (order, first, second) in
        [(HookOrder::Together, vec!["a", "b"], vec!["b"]), (HookOrder::OneByOne, vec!["a"], vec!["b"])]
    {
        let scene = scene_with(|settings| settings.hook_order = order);
        scene.settled_pool((0, 1, 2)).with_hooks(&["a", "b"]);
        let id = scene.in_service().remove(0);
        scene.with(|region| region.terminate_member(&id, Decrement::Shrink)).expect("accepted");
        assert_eq!(scene.waits_of(&id), first);
        let key = ActionKey::Instance(id.clone());
        let complete = |hook: &str| {
            scene
                .with(|region| region.complete_action(&name("pool"), hook, &key, ActionResult::Continue))
                .expect("completed");
        };
        complete("a");
        assert_eq!(scene.waits_of(&id), second);
        complete("b");
        assert_eq!(scene.count(&LifecycleState::TerminatingProceed), 1);
    }
}

#[test]
fn a_call_for_several_instances_is_all_or_nothing_or_goes_as_far_as_it_can() {
    for (batches, protected) in [(Batches::AllOrNothing, 0), (Batches::UpToTheRefused, 1)] {
        let scene = scene_with(|settings| settings.batches = batches);
        scene.settled_pool((0, 1, 2));
        let ids = [scene.in_service().remove(0), InstanceId::from("i-00000000000000009")];
        let refused = scene.with(|region| region.set_protection(&name("pool"), &ids, Protection::Protected));
        assert_eq!(refusal(refused).0, "ValidationError");
        let group = scene.group();
        let found = group.members.values().filter(|it| it.protection == Protection::Protected).count();
        assert_eq!(found, protected, "{batches:?}");
    }
}

/// Auto Scaling API Reference, TerminateInstanceInAutoScalingGroup, InstanceIds: what becomes of the others when one is refused
/// is not documented.
#[test]
fn a_termination_of_several_ends_none_or_some_when_one_is_refused() {
    let cases = [
        (Batches::AllOrNothing, 0, true),
        (Batches::UpToTheRefused, 1, true),
        (Batches::AllButTheRefused, 2, false),
    ];
    for (batches, ended, refused) in cases {
        let scene = scene_with(|settings| {
            settings.batches = batches;
            settings.repeated_termination = RepeatedTermination::Refused;
        });
        scene.settled_pool((0, 3, 3));
        let ids = scene.in_service();
        let end = |ids: &[InstanceId]| {
            scene.with(|region| region.terminate_members(&name("pool"), ids, Decrement::Shrink))
        };
        end(&ids[1..2]).expect("ended");
        let response = end(&ids);
        assert_eq!(response.is_err(), refused, "{batches:?}");
        assert!(response.is_err() || response.is_ok_and(|activities| activities.len() == ended));
        let left = usize::try_from(scene.group().sizes.desired).unwrap();
        assert_eq!(2 - left, ended, "{batches:?}");
        let foreign = [InstanceId::from("i-00000000000000009")];
        assert_eq!(refusal(end(&foreign)).0, "ValidationError", "{batches:?}");
    }
}

#[test]
fn a_scale_in_that_finds_only_protected_instances_is_cancelled_or_failed() {
    for (setting, status) in
        [(AllProtected::Cancelled, ActivityStatus::Cancelled), (AllProtected::Failed, ActivityStatus::Failed)]
    {
        let scene = scene_with(|settings| settings.all_protected = setting);
        let mut new = scene.pool((0, 2, 2));
        new.new_instances = Protection::Protected;
        scene.create(new).expect("a group");
        scene.wait(21).set_desired(1).expect("set");
        scene.wait(1);
        assert_eq!(scene.count_activities(status, "all remaining instances are protected"), 1);
    }
}

#[test]
fn a_termination_under_a_suspended_terminate_is_carried_out_or_refused() {
    for setting in [SuspendedTerminate::CarriedOut, SuspendedTerminate::Refused] {
        let scene = scene_with(|settings| settings.suspended_terminate = setting);
        scene.settled_pool((0, 1, 2));
        scene
            .with(|region| region.suspend_processes(&name("pool"), &[Process::Terminate]))
            .expect("suspended");
        let id = scene.in_service().remove(0);
        let outcome = scene.with(|region| region.terminate_member(&id, Decrement::Shrink));
        assert_eq!(outcome.is_ok(), setting == SuspendedTerminate::CarriedOut, "{setting:?}");
    }
}

#[test]
fn max_instance_lifetime_replaces_as_many_at_a_time_as_configured() {
    let scene = scene_with(|settings| settings.lifetime_percent = 50);
    let mut new = scene.pool((0, 4, 4));
    new.settings.stored.insert("MaxInstanceLifetime".to_owned(), Document::text(86_400));
    scene.create(new).expect("a group");
    scene.wait(86_401);
    assert_eq!(scene.count(&LifecycleState::Terminating), 2);
}

#[test]
fn undocumented_codes_can_be_replaced() {
    let scene = scene_with(|settings| {
        settings.codes.group_in_deletion = "ResourceContention".to_owned();
        settings.codes.user_data_too_long = "InvalidParameterValue".to_owned();
    });
    scene.settled_pool((0, 1, 2));
    scene.with(|region| region.delete_group(&name("pool"), Deletion::Forced)).expect("deleted");
    assert_eq!(refusal(scene.set_desired(0)).0, "ResourceContention");
    let long = STANDARD.encode(vec![b'x'; 16 * 1024 + 1]);
    let document = data("m7i.large").document.with("userData", Some(Document::Text(long)));
    let new = NewTemplate {
        name: "long".to_owned(),
        data: LaunchData::new(document).expect("well-formed"),
        description: None,
        tags: BTreeMap::new(),
        token: None,
        caller: "arn:test".to_owned(),
    };
    let refused = scene.with(|region| region.create_template(new).map(drop));
    assert_eq!(refusal(refused).0, "InvalidParameterValue");
}
