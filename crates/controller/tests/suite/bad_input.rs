//! What users and AWS can get wrong: a condition reports it, nothing is lost, and the pool continues once it is
//! repaired.

use crate::support::{NS, World, objects};
use foo_api::pool::Ami;
use foo_api::shared::NetworkReference;
use foo_model::SecurityGroupId;
use foo_simulator_core::core::network::{PUBLIC_SUBNETS, SECURITY_GROUP, SecurityGroupSpec, VpcSpec};
use k8s_openapi::api::core::v1::Secret;
use std::collections::BTreeMap;
use std::time::Duration;

/// The pool reports this, has no group, and is of 2 once it is repaired.
async fn check(
    corrupt: impl FnOnce(&mut foo_api::FooMachinePoolSpec),
    condition: &str,
    reported: &str,
    named: &str,
) {
    let world = World::new().await;
    let pool = world.pool("p").with(corrupt).of(2).await;
    assert_eq!(pool.state_of(condition), format!("False {reported}"), "{}", world.summary());
    assert_eq!(pool.state_of("Ready"), format!("False {reported}"));
    assert!(pool.condition("Ready").message.contains(named), "{}", pool.condition("Ready").message);
    assert!(pool.group().is_none());
    let version = world.server.resource_version();
    world.forgets();
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(world.server.resource_version(), version, "status churn");
    assert!(world.aws.total_calls() <= 30, "{:?}", world.aws.call_counts());
    pool.edits(|spec| {
        let good = objects::pool_spec();
        spec.instance_type = good.instance_type;
        spec.ami = good.ami;
        spec.subnets = good.subnets;
        spec.security_groups = good.security_groups;
    });
    world.settles().await;
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_image_is_named() {
    let corrupt = |spec: &mut foo_api::FooMachinePoolSpec| spec.ami = Ami::of_id("ami-0nowhere");
    check(corrupt, "LaunchTemplateReady", "ImageNotFound", "ami-0nowhere").await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_instance_type_is_named() {
    let corrupt = |spec: &mut foo_api::FooMachinePoolSpec| spec.instance_type = Some("z9.huge".to_owned());
    check(corrupt, "LaunchTemplateReady", "InstanceTypeNotFound", "z9.huge").await;
}

#[tokio::test(start_paused = true)]
async fn a_type_of_another_architecture_than_the_image_is_named() {
    let corrupt = |spec: &mut foo_api::FooMachinePoolSpec| spec.instance_type = Some("m7g.large".to_owned());
    check(corrupt, "LaunchTemplateReady", "ArchitectureMismatch", "m7g.large").await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_subnet_is_named() {
    let corrupt =
        |spec: &mut foo_api::FooMachinePoolSpec| spec.subnets = vec![objects::by_id("subnet-nowhere")];
    check(corrupt, "AutoScalingGroupReady", "SubnetNotFound", "subnet-nowhere").await;
}

#[tokio::test(start_paused = true)]
async fn a_subnet_outside_the_foo_cluster_is_named() {
    let corrupt =
        |spec: &mut foo_api::FooMachinePoolSpec| spec.subnets = vec![objects::by_id(PUBLIC_SUBNETS[0])];
    check(corrupt, "AutoScalingGroupReady", "SubnetOutsideCluster", PUBLIC_SUBNETS[0]).await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_security_group_is_named() {
    let corrupt =
        |spec: &mut foo_api::FooMachinePoolSpec| spec.security_groups = vec![objects::by_id("sg-nowhere")];
    check(corrupt, "LaunchTemplateReady", "SecurityGroupNotFound", "sg-nowhere").await;
}

#[tokio::test(start_paused = true)]
async fn tags_that_no_security_group_has_are_named() {
    let tags = BTreeMap::from([("team".to_owned(), "none".to_owned())]);
    let reference = NetworkReference { tags: Some(tags), ..NetworkReference::default() };
    let corrupt = |spec: &mut foo_api::FooMachinePoolSpec| spec.security_groups = vec![reference];
    check(corrupt, "LaunchTemplateReady", "SecurityGroupNotFound", "team=none").await;
}

#[tokio::test(start_paused = true)]
async fn a_security_group_of_another_vpc_is_named() {
    let world = World::new().await;
    let vpc = VpcSpec {
        id: "vpc-x".into(),
        cidr: "10.9.0.0/16".parse().unwrap(),
        is_default: false,
        tags: BTreeMap::new(),
    };
    world.region.put_vpc(vpc).unwrap();
    let group = SecurityGroupSpec {
        id: SecurityGroupId::new("sg-x"),
        name: "x".into(),
        description: String::new(),
        vpc: "vpc-x".into(),
        tags: BTreeMap::new(),
    };
    world.region.put_security_group(group).unwrap();
    let corrupt = |spec: &mut foo_api::FooMachinePoolSpec| {
        spec.security_groups = vec![objects::by_id(SECURITY_GROUP), objects::by_id("sg-x")];
    };
    let pool = world.pool("p").with(corrupt).of(1).await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False SecurityGroupOutsideCluster");
}

#[tokio::test(start_paused = true)]
async fn user_data_over_the_limit_are_reported_and_shorter_data_recover() {
    let world = World::new().await;
    world.has(&objects::secret(&objects::secret_name("p"), &vec![b'x'; 16_385]));
    let pool = world.pool("p").without_secret(1);
    world.settles().await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False UserDataTooLarge");
    assert!(pool.condition("Ready").message.contains("16385 bytes"));
    assert_eq!(world.aws_writes(), 0);
    pool.bootstraps_with(&vec![b'x'; 16_384]);
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn a_pool_waits_for_a_secret_that_is_created_later() {
    let world = World::new().await;
    let pool = world.pool("p").without_secret(1);
    world.settles().await;
    assert_eq!(pool.state_of("Ready"), "False BootstrapDataSecretNotFound");
    assert!(pool.condition("Ready").message.contains("p-boot"));
    assert_eq!(world.aws_writes(), 0);
    world.has(&objects::secret("p-boot", b"#cloud-config"));
    world.until("the group is created at once", || pool.group().is_some()).await;
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn a_secret_without_the_clusters_label_is_found_within_half_a_minute() {
    let world = World::new().await;
    let pool = world.pool("p").without_secret(1);
    world.settles().await;
    let mut secret = objects::secret("p-boot", b"#cloud-config");
    secret.metadata.labels = None;
    world.has(&secret);
    world.waits(Duration::from_secs(40)).await;
    assert!(pool.group().is_some(), "{}", world.summary());
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn a_secret_without_value_is_reported() {
    let world = World::new().await;
    let mut secret = objects::secret("p-boot", b"");
    secret.data = Some(BTreeMap::from([("other".to_owned(), k8s_openapi::ByteString(b"x".to_vec()))]));
    world.has(&secret);
    let pool = world.pool("p").without_secret(1);
    world.settles().await;
    assert_eq!(pool.state_of("Ready"), "False BootstrapDataInvalid");
    assert!(pool.condition("Ready").message.contains("under the key \"value\""));
    pool.bootstraps_with(b"#cloud-config");
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn deleting_the_secret_later_terminates_no_instance() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let before = pool.instances();
    world.server.delete::<Secret>(NS, "p-boot").unwrap();
    world.waits(Duration::from_mins(15)).await;
    assert_eq!(pool.instances(), before);
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False BootstrapDataSecretNotFound");
    assert_eq!(pool.status().ready, Some(true));
}

#[tokio::test(start_paused = true)]
async fn replicas_above_max_size_are_capped_and_reported() {
    let world = World::new().await;
    let pool = world.pool("p").with(|spec| spec.max_size = Some(2)).of(5).await;
    assert_eq!(pool.instances().len(), 2);
    assert_eq!(pool.group().unwrap().sizes.max, 2);
    let condition = pool.condition("ScalingUp");
    assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("False", "MaxSizeReached"));
    assert!(
        condition.message.contains("5 replicas") && condition.message.contains("maxSize"),
        "{condition:?}"
    );
    assert!(pool.condition("Ready").message.contains("maxSize"), "{:?}", pool.condition("Ready"));
    assert_eq!(pool.condition("Ready").reason, "ReadyAtMaxSize");
    pool.edits(|spec| spec.max_size = Some(4));
    world.settles().await;
    assert_eq!(pool.instances().len(), 4);
    pool.edits(|spec| spec.max_size = None);
    world.settles().await;
    pool.is_of(5);
    assert_eq!(pool.state_of("ScalingUp"), "False NotScalingUp");
}

#[tokio::test(start_paused = true)]
async fn a_missing_upper_bound_is_reported_when_another_controller_scales() {
    let world = World::new().await;
    world.has(&objects::secret("p-boot", b"#cloud-config"));
    let pool = world.pool("p").without_secret(1);
    pool.annotates_machine_pool(foo_api::names::REPLICAS_MANAGED_BY_ANNOTATION, "another-controller");
    world.settles().await;
    assert_eq!(pool.state_of("Ready"), "False AutoscalingBoundsMissing");
    assert!(pool.group().is_none());
}

/// The cause stands on another object, which a user of the pool may not think of.
#[tokio::test(start_paused = true)]
async fn a_pool_repeats_what_its_foo_cluster_waits_for() {
    let world = World::empty();
    world.has(&objects::cluster());
    let mut infrastructure = objects::foo_cluster();
    if let Some(existing) = &mut infrastructure.spec.network.existing {
        existing.subnets = vec![objects::by_id("subnet-nowhere")];
    }
    world.has(&infrastructure);
    world.settles().await;
    let pool = world.pool("p").of(1).await;
    let ready = pool.condition("Ready");
    assert_eq!(ready.reason, "WaitingForClusterInfrastructure");
    assert!(ready.message.contains("FooCluster c says SubnetNotFound: "), "{}", ready.message);
}

/// What is missing first is the cause of all else; nothing is invented beside it.
#[tokio::test(start_paused = true)]
async fn a_pool_without_a_machine_pool_reports_the_same_reason_everywhere() {
    let world = World::empty();
    world.has(&objects::foo_machine_pool("p", objects::pool_spec()));
    world.settles().await;
    let pool = world.pool("p");
    for kind in ["Ready", "LaunchTemplateReady"] {
        assert_eq!(pool.state_of(kind), "False WaitingForMachinePool", "{kind}");
    }
}
