//! Topologies before a simulated AWS, and an AWS that does not answer.

use super::*;
use crate::testing::{World, topology_request};
use crate::validation::validate;
use foo_simulator::core::catalogue::{IMAGE_ARM64, IMAGE_X86_64};
use foo_simulator::core::network::{PRIVATE_SUBNETS, PUBLIC_SUBNETS};
use foo_simulator::{Fault, FaultRule};
use serde_json::{Value, json};

/// What is said of a topology whose one pool was changed.
async fn said(world: &World, change: impl FnOnce(&mut Value)) -> Result<(), String> {
    let request = topology_request(change);
    validate(&world.clouds, &serde_json::from_value(request).unwrap())
        .await
        .map_err(|failure| failure.message().to_owned())
}

fn pool(request: &mut Value) -> &mut Value {
    &mut request["items"][1]["object"]["spec"]["template"]["spec"]
}

fn cluster(request: &mut Value) -> &mut Value {
    &mut request["items"][0]["object"]["spec"]["template"]["spec"]
}

#[tokio::test]
async fn what_aws_has_is_accepted_and_asked_once() {
    let world = World::new();
    assert_eq!(said(&world, |_| {}).await, Ok(()));
    let calls = world.aws.total_calls();
    assert!(calls > 0);
    assert_eq!(said(&world, |_| {}).await, Ok(()));
    assert_eq!(world.aws.total_calls(), calls, "answered from the cache");
}

#[tokio::test]
async fn what_aws_does_not_have_is_named() {
    let world = World::new();
    let region = "eu-central-1";
    let unknown = said(&world, |it| pool(it)["instanceType"] = json!("m99.large")).await;
    assert_eq!(unknown, Err(format!("pool workers: instance type m99.large in {region} does not exist")));
    let unknown = said(&world, |it| pool(it)["ami"]["id"] = json!("ami-0ffffffffffffffff")).await;
    assert_eq!(unknown, Err(format!("pool workers: image ami-0ffffffffffffffff in {region} does not exist")));
    let unknown = said(&world, |it| {
        cluster(it)["network"]["existing"]["subnets"][0]["id"] = json!("subnet-0ffffffffffffffff");
    })
    .await;
    assert_eq!(unknown, Err(format!("subnet subnet-0ffffffffffffffff in {region} does not exist")));
    let unknown = said(&world, |it| {
        cluster(it)["network"]["existing"]["subnets"] = json!([{"tags": {"role": "none"}}]);
    })
    .await;
    assert_eq!(unknown, Err(format!("a subnet with the tags role=none in {region} does not exist")));
}

#[tokio::test]
async fn images_fit_types_and_subnets_are_the_clusters() {
    let world = World::new();
    let arm = said(&world, |it| pool(it)["ami"]["id"] = json!(IMAGE_ARM64)).await.unwrap_err();
    assert_eq!(
        arm,
        format!("pool workers: image {IMAGE_ARM64} is for arm64, instance type m7i.large is x86_64")
    );
    let mixed = said(&world, |it| {
        let types = json!([{"instanceType": "m7i.large"}, {"instanceType": "m7g.large"}]);
        *pool(it) = json!({"mixedInstances": {"overrides": types}, "ami": {"id": IMAGE_X86_64}});
    });
    assert!(mixed.await.unwrap_err().ends_with("is for x86_64, instance type m7g.large is arm64"));
    let public = said(&world, |it| pool(it)["subnets"] = json!([{"id": PUBLIC_SUBNETS[0]}])).await;
    assert_eq!(
        public,
        Err(format!("pool workers: subnet {} is not one of the cluster's", PUBLIC_SUBNETS[0]))
    );
    let other =
        said(&world, |it| cluster(it)["network"]["existing"]["vpcID"] = json!("vpc-0fffffffffffffff0"))
            .await
            .unwrap_err();
    assert!(other.contains("not in vpc-0fffffffffffffff0"), "{other}");
}

#[tokio::test]
async fn replicas_that_find_no_addresses_are_refused() {
    let world = World::new();
    let replicas =
        |it: &mut Value| it["items"][1]["variables"][0]["value"]["machinePool"]["replicas"] = json!(100_000);
    let refused = said(&world, replicas).await.unwrap_err();
    let subnets = PRIVATE_SUBNETS.join(", ");
    assert_eq!(
        refused,
        format!(
            "pool workers: too few free addresses in {subnets} for 100001 instances, those of a roll-out included"
        )
    );
}

#[tokio::test]
async fn an_image_of_the_wanted_version_is_missing() {
    let world = World::new();
    let images = |it: &mut Value| {
        let images = json!([{"version": "v1.36.3", "id": IMAGE_X86_64}]);
        it["variables"].as_array_mut().unwrap().push(json!({"name": "images", "value": images}));
        it["variables"][0]["value"]["cluster"]["topology"]["version"] = json!("v1.37.0");
    };
    let missing = "pool workers: variable images has no image for Kubernetes v1.37.0".to_owned();
    assert_eq!(said(&world, images).await, Err(missing));
    let waiting = |it: &mut Value| {
        images(it);
        it["settings"]["waitForImages"] = json!("true");
    };
    assert_eq!(said(&world, waiting).await, Ok(()), "the hook waits for it");
}

/// A cluster must not stand still because AWS does.
#[tokio::test(start_paused = true)]
async fn an_aws_that_does_not_answer_refuses_nothing() {
    for fault in [Fault::Hang, Fault::Throttled, Fault::Denied, Fault::Unreachable] {
        let world = World::new();
        for action in ["DescribeImages", "DescribeInstanceTypes", "DescribeSubnets"] {
            world.aws.add_fault(FaultRule::on(action, fault.clone()));
        }
        let began = tokio::time::Instant::now();
        assert_eq!(
            said(&world, |it| pool(it)["instanceType"] = json!("m99.large")).await,
            Ok(()),
            "{fault:?}"
        );
        assert!(began.elapsed() <= DEADLINE, "{fault:?}: {:?}", began.elapsed());
    }
}

/// What AWS does say counts, whatever else it is silent about.
#[tokio::test]
async fn half_an_answer_still_refuses() {
    let world = World::new();
    world.aws.add_fault(FaultRule::on("DescribeSubnets", Fault::Denied));
    let refused = said(&world, |it| pool(it)["instanceType"] = json!("m99.large")).await;
    assert!(refused.unwrap_err().contains("m99.large"));
}

#[tokio::test]
async fn settings_decide_whether_aws_is_asked_and_what_follows() {
    for (key, value, expected) in
        [("checks", "Off", 0), ("identities", "team-a=own", 0), ("checks", "Warn", 1)]
    {
        let world = World::new();
        let wrong = |it: &mut Value| {
            pool(it)["instanceType"] = json!("m99.large");
            it["settings"][key] = json!(value);
        };
        assert_eq!(said(&world, wrong).await, Ok(()), "{key}={value}");
        assert_eq!(world.aws.calls("DescribeInstanceTypes"), expected, "{key}={value}");
    }
    let world = World::new();
    let unknown = said(&world, |it| it["settings"]["cheks"] = json!("Off")).await.unwrap_err();
    assert!(unknown.contains("unknown field `cheks`"), "{unknown}");
}

#[tokio::test]
async fn other_providers_topologies_are_none_of_our_business() {
    let world = World::new();
    let other = said(&world, |it| {
        it["items"][0]["object"]["apiVersion"] = json!("infrastructure.example.com/v1");
        pool(it)["instanceType"] = json!(7);
    });
    assert_eq!(other.await, Ok(()));
    let unreadable = said(&world, |it| pool(it)["instanceType"] = json!(7)).await.unwrap_err();
    assert!(unreadable.starts_with("FooMachinePoolTemplate pool cannot be read: "), "{unreadable}");
}

#[test]
fn regions_that_would_be_another_host_are_not_asked() {
    assert!(is_region("eu-central-1"));
    for bad in ["", "eu.example.com", "EU", "a/b", "a@b"] {
        assert!(!is_region(bad), "{bad}");
    }
}
