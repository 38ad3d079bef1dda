//! What groups report to SNS topics.

use super::scene::{name, refusal, scene};
use std::collections::BTreeSet;

const LAUNCH: &str = "autoscaling:EC2_INSTANCE_LAUNCH";
const TERMINATE: &str = "autoscaling:EC2_INSTANCE_TERMINATE";

fn types(types: &[&str]) -> BTreeSet<String> {
    types.iter().map(|it| (*it).to_owned()).collect()
}

#[test]
fn a_topic_has_the_types_of_the_last_call_and_a_group_has_at_most_ten() {
    let scene = scene();
    scene.settled_pool((0, 0, 5));
    let put = |topic: &str, with: &[&str]| {
        scene.with(|region| region.put_notifications(&name("pool"), topic, types(with)))
    };
    put("arn:0", &[LAUNCH, TERMINATE]).expect("two types");
    put("arn:0", &[LAUNCH]).expect("one of them");
    assert_eq!(scene.group().notifications, [("arn:0".to_owned(), types(&[LAUNCH]))].into());
    for topic in 1..10 {
        put(&format!("arn:{topic}"), &[LAUNCH]).expect("one of ten");
    }
    assert_eq!(refusal(put("arn:10", &[LAUNCH])).0, "LimitExceeded");
    put("arn:9", &[TERMINATE]).expect("it is there already");
    scene.with(|region| region.delete_notifications(&name("pool"), "arn:9")).expect("deleted");
    scene.with(|region| region.delete_notifications(&name("pool"), "arn:9")).expect("nothing to delete");
    assert_eq!(scene.group().notifications.len(), 9);
}

#[test]
fn an_unknown_type_and_a_topic_that_cannot_be_reached_are_refused() {
    let scene = scene();
    scene.settled_pool((0, 0, 5));
    scene.with(|region| region.settings.unreachable_targets.insert("arn:missing".to_owned()));
    let put = |topic: &str, with: &[&str]| {
        scene.with(|region| region.put_notifications(&name("pool"), topic, types(with)))
    };
    for refused in [put("arn:0", &["autoscaling:LAUNCH"]), put("arn:0", &[]), put("arn:missing", &[LAUNCH])] {
        assert_eq!(refusal(refused).0, "ValidationError");
    }
    assert!(scene.group().notifications.is_empty());
}
