//! Events as EventBridge delivers them (Auto Scaling User Guide, "Amazon EC2 Auto Scaling event reference").

use super::scene::{Scene, name, scene, scene_with};
use crate::core::rules::group::hooks::{HookChange, Transition};
use foo_model::Decrement;
use serde_json::{Value, json};

impl Scene {
    fn events_of(&self, kind: &str) -> Vec<Value> {
        let events = self.region.events_after(0).into_iter().map(|(_, event)| event);
        events.filter(|event| event["detail-type"] == json!(kind)).collect()
    }
}

#[test]
fn a_life_is_published_from_launch_to_termination() {
    let scene = scene();
    scene.settled_pool((0, 1, 5));
    let id = scene.in_service()[0].clone();
    scene.with(|region| region.terminate_member(&id, Decrement::Shrink)).expect("accepted");
    scene.wait(20);
    let states: Vec<Value> = scene
        .events_of("EC2 Instance State-change Notification")
        .iter()
        .map(|event| event["detail"]["state"].clone())
        .collect();
    assert_eq!(states, ["pending", "running", "shutting-down", "terminated"]);
    for kind in ["EC2 Instance Launch Successful", "EC2 Instance Terminate Successful"] {
        let events = scene.events_of(kind);
        assert_eq!(events.len(), 1, "{kind}");
        let detail = &events[0]["detail"];
        assert_eq!((&detail["EC2InstanceId"], &detail["AutoScalingGroupName"]), (&json!(id), &json!("pool")));
        assert!(detail["Details"]["Availability Zone"].as_str().is_some_and(|zone| !zone.is_empty()));
        assert_eq!(events[0]["resources"].as_array().map(Vec::len), Some(2));
    }
}

#[test]
fn a_lifecycle_action_is_published_with_its_token() {
    let scene = scene();
    scene.settled_pool((0, 1, 5));
    let hook = HookChange {
        name: "drain".to_owned(),
        transition: Some(Transition::Terminating),
        notification: [("NotificationMetadata".to_owned(), "cluster-a".to_owned())].into(),
        ..HookChange::default()
    };
    scene.with(|region| region.put_hook(&name("pool"), hook)).expect("a hook");
    let id = scene.in_service()[0].clone();
    scene.with(|region| region.terminate_member(&id, Decrement::Shrink)).expect("accepted");
    let events = scene.events_of("EC2 Instance-terminate Lifecycle Action");
    let detail = &events[0]["detail"];
    let token = scene.group().members[&id].waits["drain"].token.clone();
    assert_eq!(detail["LifecycleActionToken"], json!(token));
    assert_eq!(detail["LifecycleTransition"], json!("autoscaling:EC2_INSTANCE_TERMINATING"));
    assert_eq!(detail["NotificationMetadata"], json!("cluster-a"));
    assert_eq!((&detail["Origin"], &detail["Destination"]), (&json!("AutoScalingGroup"), &json!("EC2")));
    assert_eq!((&events[0]["source"], &events[0]["version"]), (&json!("aws.autoscaling"), &json!("0")));
}

#[test]
fn a_launch_that_fails_is_published_without_an_instance() {
    let scene =
        scene_with(|settings| settings.template_check = crate::core::settings::TemplateCheck::AtLaunch);
    for zone in ["eu-central-1a", "eu-central-1b", "eu-central-1c"] {
        scene.region.set_capacity_limit(zone, "m7i.large", Some(0)).expect("limited");
    }
    scene.create(scene.pool((0, 1, 5))).expect("a group");
    scene.wait(1);
    let events = scene.events_of("EC2 Instance Launch Unsuccessful");
    assert!(!events.is_empty());
    assert_eq!(events[0]["detail"]["EC2InstanceId"], json!(""));
    assert!(events[0]["detail"]["StatusMessage"].as_str().is_some_and(|text| text.contains("capacity")));
}

/// "`aws.health`: AWS Health Event with affectedEntities": nothing here causes one, but a test can publish it.
#[test]
fn an_event_from_outside_is_published_like_any_other() {
    let scene = scene();
    let detail = json!({ "affectedEntities": [{ "entityValue": "i-1" }] });
    scene.region.publish("aws.health", "AWS Health Event", Vec::new(), detail.clone()).expect("published");
    let (_, event) = scene.region.events_after(0).pop().expect("an event");
    assert_eq!((event["source"].clone(), event["detail"].clone()), (json!("aws.health"), detail));
}
