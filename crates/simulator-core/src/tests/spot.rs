//! Spot instances that AWS wants back (EC2 User Guide, "Spot Instance interruptions"; Auto Scaling User Guide, "Capacity
//! Rebalancing in Auto Scaling").

use super::scene::{Scene, name, refusal, scene};
use crate::core::document::Document;
use crate::core::ec2::templates::TemplateKey;
use crate::core::rules::group::hooks::{HookChange, Transition};
use crate::core::rules::group::operations::{GroupUpdate, SettingsChange};
use crate::core::rules::group::source::{SourceSpec, TemplateSpec};
use foo_model::{Decrement, InstanceId, LifecycleState};

impl Scene {
    /// A group of spot instances that are all in service.
    fn spot_pool(&self, sizes: (u32, u32, u32), rebalance: bool) -> &Self {
        let mut new = self.pool(sizes);
        let key = TemplateKey::Name("pool-template".to_owned());
        new.source = Some(SourceSpec::Mixed {
            template: Some(TemplateSpec { key, version: None }),
            overrides: None,
            distribution: Some(
                Document::map()
                    .with("OnDemandBaseCapacity", Some(Document::text(0)))
                    .with("OnDemandPercentageAboveBaseCapacity", Some(Document::text(0))),
            ),
        });
        new.settings.stored.insert("CapacityRebalance".to_owned(), Document::text(rebalance));
        self.create(new).expect("a group");
        self.wait(21)
    }

    fn events(&self, kind: &str) -> usize {
        let events = self.region.events_after(0);
        events.iter().filter(|(_, event)| event["detail-type"] == serde_json::json!(kind)).count()
    }

    fn lives(&self, id: &InstanceId) -> bool {
        self.with(|region| region.instance(id).is_some_and(|instance| instance.state.is_alive()))
    }
}

#[test]
fn an_interrupted_instance_ends_two_minutes_after_its_notice_and_is_replaced() {
    let scene = scene();
    scene.spot_pool((0, 2, 5), false);
    let id = scene.in_service()[0].clone();
    scene.region.interrupt(&id).expect("a spot instance");
    assert_eq!(scene.events("EC2 Spot Instance Interruption Warning"), 1);
    scene.wait(119);
    assert!(scene.lives(&id) && scene.count(&LifecycleState::InService) == 2, "nothing but a notice");
    scene.wait(1);
    assert!(!scene.lives(&id));
    scene.wait(60);
    assert_eq!(scene.count(&LifecycleState::InService), 2);
    assert!(!scene.in_service().contains(&id));
}

#[test]
fn with_capacity_rebalance_the_transition_begins_at_the_notice_and_the_end_does_not_wait_for_hooks() {
    let scene = scene();
    scene.spot_pool((0, 1, 5), true);
    let hook = HookChange {
        name: "drain".to_owned(),
        transition: Some(Transition::Terminating),
        ..HookChange::default()
    };
    scene.with(|region| region.put_hook(&name("pool"), hook)).expect("a hook");
    let id = scene.in_service()[0].clone();
    scene.region.interrupt(&id).expect("a spot instance");
    assert_eq!(scene.group().members[&id].lifecycle, LifecycleState::TerminatingWait);
    scene.wait(30);
    assert_eq!(scene.count(&LifecycleState::InService), 1, "the replacement is asked for at once");
    scene.wait(91);
    assert!(!scene.lives(&id), "two minutes are two minutes");
    assert_eq!(scene.group().members[&id].lifecycle, LifecycleState::TerminatingWait);
}

#[test]
fn a_recommendation_is_followed_only_with_capacity_rebalance_and_after_the_replacement_serves() {
    for rebalance in [false, true] {
        let scene = scene();
        scene.spot_pool((0, 2, 2), rebalance);
        let id = scene.in_service()[0].clone();
        scene.region.recommend_rebalance(&id).expect("a spot instance");
        assert_eq!(scene.events("EC2 Instance Rebalance Recommendation"), 1);
        scene.wait(10);
        assert_eq!(
            scene.group().members.len(),
            if rebalance { 3 } else { 2 },
            "above the maximum for a while"
        );
        assert!(scene.in_service().contains(&id));
        scene.wait(60);
        assert_eq!(scene.in_service().contains(&id), !rebalance);
        assert_eq!((scene.group().members.len(), scene.group().sizes.desired), (2, 2));
    }
}

#[test]
fn capacity_rebalance_that_is_switched_off_ends_no_instance() {
    let scene = scene();
    scene.spot_pool((0, 2, 5), true);
    let id = scene.in_service()[0].clone();
    scene.region.recommend_rebalance(&id).expect("a spot instance");
    scene.wait(10);
    let stored = [("CapacityRebalance".to_owned(), Document::text(false))].into();
    let settings = SettingsChange { stored, ..SettingsChange::default() };
    scene
        .with(|region| region.update_group(&name("pool"), GroupUpdate { settings, ..GroupUpdate::default() }))
        .expect("updated");
    scene.wait(60);
    assert_eq!(scene.group().members.len(), 2, "one too many goes by the termination policy");
}

#[test]
fn only_running_spot_instances_are_interrupted() {
    let scene = scene();
    scene.settled_pool((0, 1, 5));
    let id = scene.in_service()[0].clone();
    assert_eq!(refusal(scene.region.interrupt(&id)).0, "InvalidParameterValue");
    scene.with(|region| region.terminate_member(&id, Decrement::Shrink)).expect("accepted");
    assert_eq!(refusal(scene.region.recommend_rebalance(&id)).0, "InvalidInstanceID.NotFound");
}
