//! Faults, throttling and counts, through the in-process cloud.

use super::scene::REGION;
use crate::{BucketSize, Ec2Throttling, Fault, FaultRule, Simulator, SimulatorConfig, Throttling};
use foo_cloud::{ErrorKind, Groups as _};
use foo_model::GroupName;
use std::time::{Duration, Instant};

fn error(code: &str, status: u16, message: &str) -> Fault {
    Fault::Error { code: code.to_owned(), status, message: message.to_owned() }
}

#[tokio::test]
async fn a_fault_hits_as_often_as_configured() {
    let sim = Simulator::new(SimulatorConfig::stepped());
    let cloud = sim.cloud(REGION, "manager");
    let names = [GroupName::from("pool")];
    sim.add_fault(
        FaultRule::on("DescribeAutoScalingGroups", error("InternalFailure", 500, "sorry")).after(1).times(2),
    );
    let mut kinds = Vec::new();
    for _ in 0..4 {
        kinds.push(cloud.describe_groups(&names).await.err().map(|error| error.kind));
    }
    assert_eq!(kinds, [None, Some(ErrorKind::Internal), Some(ErrorKind::Internal), None]);
    assert_eq!(sim.calls("DescribeAutoScalingGroups"), 4);
    let count = sim.call_counts().into_values().next().expect("a count");
    assert_eq!((count.calls, count.failures), (4, 2));
    sim.reset_calls();
    assert_eq!(sim.total_calls(), 0);
}

#[tokio::test]
async fn a_message_can_carry_a_new_request_id_each_time() {
    let sim = Simulator::new(SimulatorConfig::stepped());
    sim.add_fault(FaultRule::on_everything(error(
        "InternalFailure",
        500,
        "failed (RequestId: {request-id})",
    )));
    let request = crate::wire::WireRequest {
        authorization: Some(
            "AWS4-HMAC-SHA256 Credential=AKID/20260101/eu-central-1/autoscaling/aws4_request, Signature=0",
        ),
        query: "",
        body: b"Action=DescribeAutoScalingGroups",
        received: foo_model::Timestamp(0),
    };
    let mut bodies = std::collections::BTreeSet::new();
    for _ in 0..3 {
        let response = crate::wire::respond(&sim.world, crate::wire::WireRequest { ..request }).await;
        let crate::wire::WireResponse::Xml { status: 500, body, .. } = response else { panic!("a response") };
        let message =
            body.split("RequestId: ").nth(1).and_then(|rest| rest.split(')').next()).expect("an id");
        assert_eq!(message.len(), 36);
        bodies.insert(message.to_owned());
    }
    assert_eq!(bodies.len(), 3);
}

#[tokio::test]
async fn a_call_with_a_lost_response_was_carried_out_and_one_with_a_lost_request_was_not() {
    let sim = Simulator::new(SimulatorConfig::stepped());
    let cloud = sim.cloud(REGION, "manager");
    let scene = super::scene::Scene { sim: sim.clone(), region: sim.region(REGION) };
    scene.settled_pool((0, 1, 5));
    let name = GroupName::from("pool");
    let to = |desired| foo_model::GroupChange { desired: Some(desired), ..Default::default() };
    sim.add_fault(FaultRule::on("UpdateAutoScalingGroup", Fault::DroppedBefore).times(1));
    let lost = cloud.update_group(&name, &to(2)).await.expect_err("lost");
    assert_eq!((lost.kind, scene.group().sizes.desired), (ErrorKind::LostResponse, 1));
    sim.add_fault(FaultRule::on("UpdateAutoScalingGroup", Fault::DroppedAfter).times(1));
    let lost = cloud.update_group(&name, &to(3)).await.expect_err("lost");
    assert_eq!((lost.kind, scene.group().sizes.desired), (ErrorKind::LostResponse, 3));
    sim.add_fault(FaultRule::on("UpdateAutoScalingGroup", Fault::Unreachable).times(1));
    let away = cloud.update_group(&name, &to(4)).await.expect_err("away");
    assert_eq!((away.kind, scene.group().sizes.desired), (ErrorKind::Unreachable, 3));
    sim.add_fault(FaultRule::on("DescribeAutoScalingGroups", Fault::DroppedAfter).times(1));
    let read = cloud.describe_groups(&[name]).await.expect_err("broken");
    assert_eq!(read.kind, ErrorKind::Unreachable, "a read that broke is only unreachable");
    let outcomes: Vec<String> = sim.recent_calls().into_iter().map(|call| call.outcome).collect();
    assert_eq!(outcomes, ["DroppedBefore", "DroppedAfter", "Unreachable", "DroppedAfter"]);
}

#[tokio::test]
async fn a_call_that_hangs_after_it_was_carried_out_never_responds() {
    let sim = Simulator::new(SimulatorConfig::stepped());
    let cloud = sim.cloud(REGION, "manager");
    let scene = super::scene::Scene { sim: sim.clone(), region: sim.region(REGION) };
    scene.settled_pool((0, 1, 5));
    let to = foo_model::GroupChange { desired: Some(4), ..Default::default() };
    sim.add_fault(FaultRule::on("UpdateAutoScalingGroup", Fault::HangAfter).times(1));
    let name = GroupName::from("pool");
    let response = tokio::time::timeout(Duration::from_millis(50), cloud.update_group(&name, &to)).await;
    assert!(response.is_err());
    assert_eq!(scene.group().sizes.desired, 4);
    let last = sim.recent_calls().pop().map(|call| call.outcome);
    assert_eq!(last.as_deref(), Some("HangAfter"));
}

#[tokio::test]
async fn a_denied_call_names_the_missing_action() {
    let sim = Simulator::new(SimulatorConfig::stepped());
    sim.add_fault(FaultRule::on("DescribeAutoScalingGroups", Fault::Denied).for_caller("manager"));
    let names = [GroupName::from("pool")];
    let error = sim.cloud(REGION, "manager").describe_groups(&names).await.expect_err("denied");
    assert_eq!(error.kind, ErrorKind::Denied);
    assert!(
        error.message.contains("not authorized to perform: autoscaling:DescribeAutoScalingGroups"),
        "{error}"
    );
    sim.cloud(REGION, "other").describe_groups(&names).await.expect("not denied to others");
}

#[tokio::test]
async fn a_delay_is_real_time_and_delays_no_other_call() {
    let sim = Simulator::new(SimulatorConfig::stepped());
    sim.add_fault(FaultRule::on_everything(Fault::Delay { millis: 80 }).times(1));
    let names = [GroupName::from("pool")];
    let (slow, quick) = (sim.cloud(REGION, "a"), sim.cloud(REGION, "b"));
    let start = Instant::now();
    let slow = async { slow.describe_groups(&names).await.map(|_| start.elapsed()) };
    let quick = async { quick.describe_groups(&names).await.map(|_| start.elapsed()) };
    let (slow, quick) = tokio::join!(slow, quick);
    assert!(slow.expect("completed") >= Duration::from_millis(80));
    assert!(quick.expect("completed") < Duration::from_millis(80));
}

#[tokio::test]
async fn calls_are_throttled_in_virtual_time() {
    let sim = Simulator::new(SimulatorConfig::stepped());
    sim.set_throttling(Throttling {
        autoscaling: Some(BucketSize { burst: 2.0, per_second: 1.0 }),
        rare: None,
        ec2: Ec2Throttling::Off,
    });
    let cloud = sim.cloud(REGION, "manager");
    let names = [GroupName::from("pool")];
    cloud.describe_groups(&names).await.expect("a token");
    cloud.describe_groups(&names).await.expect("a token");
    let error = cloud.describe_groups(&names).await.expect_err("no token");
    assert_eq!((error.kind, error.code.as_deref()), (ErrorKind::Throttled, Some("Throttling")));
    sim.step(Duration::from_secs(1));
    cloud.describe_groups(&names).await.expect("a token came back");
}
