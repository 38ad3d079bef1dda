//! AWS refuses, does not respond, or was changed by another user.

use crate::support::{CLUSTER, NS, Pool, World, objects};
use foo_cloud::Compute as _;
use foo_model::GroupName;
use foo_simulator_core::core::rules::group::operations::Deletion;
use foo_simulator_core::{DEFAULT_REGION, Fault, FaultRule};
use kube::ResourceExt as _;
use std::collections::BTreeMap;
use std::time::Duration;

/// What AWS refuses is named with its IAM action; once it is allowed, the pool continues.
async fn check_denied(action: &str, iam: &str) {
    let world = World::new().await;
    let rule = world.aws.add_fault(FaultRule::on(action, Fault::Denied));
    let pool = world.pool("p").begins_with(2);
    world.waits(Duration::from_mins(10)).await;
    is_named(&pool, iam);
    backs_off(&world).await;
    world.aws.remove_fault(rule);
    world.waits(Duration::from_mins(7)).await;
    world.settles().await;
    pool.is_of(2);
    assert_eq!(pool.state_of("CredentialsReady"), "True");
}

/// The pool reports that this IAM action is missing.
fn is_named(pool: &Pool<'_>, iam: &str) {
    for kind in ["Ready", "CredentialsReady"] {
        let condition = pool.condition(kind);
        assert_eq!(
            (condition.status.as_str(), condition.reason.as_str()),
            ("False", "AccessDenied"),
            "{iam} {kind}"
        );
        assert!(
            condition.message.contains(&format!("the IAM action {iam} is missing")),
            "{}",
            condition.message
        );
    }
}

/// For ten minutes there are no more than two calls a minute, and no status is written.
async fn backs_off(world: &World) {
    backs_off_to(world, 20).await;
}

async fn backs_off_to(world: &World, most: u64) {
    let version = world.server.resource_version();
    world.forgets();
    world.waits(Duration::from_mins(10)).await;
    let calls = world.aws.call_counts();
    assert!(world.aws.total_calls() <= most, "{calls:?}");
    let written: Vec<_> = world.requests().writes().changing().iter().map(|one| one.body.clone()).collect();
    assert_eq!(world.server.resource_version(), version, "status churn: {written:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_denied_launch_template_is_named() {
    check_denied("CreateLaunchTemplate", "ec2:CreateLaunchTemplate").await;
}

#[tokio::test(start_paused = true)]
async fn a_denied_group_is_named() {
    check_denied("CreateAutoScalingGroup", "autoscaling:CreateAutoScalingGroup").await;
}

#[tokio::test(start_paused = true)]
async fn a_denied_description_of_groups_is_named() {
    check_denied("DescribeAutoScalingGroups", "autoscaling:DescribeAutoScalingGroups").await;
}

#[tokio::test(start_paused = true)]
async fn a_denied_description_of_templates_is_named() {
    check_denied("DescribeLaunchTemplates", "ec2:DescribeLaunchTemplates").await;
}

#[tokio::test(start_paused = true)]
async fn a_denied_description_of_images_is_named() {
    check_denied_lookup("DescribeImages", "ec2:DescribeImages").await;
}

#[tokio::test(start_paused = true)]
async fn a_denied_description_of_instance_types_is_named() {
    check_denied_lookup("DescribeInstanceTypes", "ec2:DescribeInstanceTypes").await;
}

/// The same for what is looked up before there is anything to create.
async fn check_denied_lookup(action: &str, iam: &str) {
    let world = World::new().await;
    world.aws.add_fault(FaultRule::on(action, Fault::Denied));
    let pool = world.pool("p").begins_with(2);
    world.waits(Duration::from_mins(10)).await;
    let condition = pool.condition("Ready");
    assert_eq!((condition.status.as_str(), condition.reason.as_str()), ("False", "AccessDenied"));
    assert!(condition.message.contains(iam), "{}", condition.message);
    backs_off(&world).await;
    world.aws.clear_faults();
    world.waits(Duration::from_mins(12)).await;
    world.settles().await;
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn a_denied_description_of_template_versions_is_named() {
    let mut world = World::new().await;
    let action = "DescribeLaunchTemplateVersions";
    let rule = world.aws.add_fault(FaultRule::on(action, Fault::Denied));
    // A template that this manager made it need not read.
    world.pool("p").of(2).await.is_of(2);
    assert_eq!(world.aws.calls(action), 0);
    world.kills_the_manager();
    world.starts_the_manager();
    world.waits(Duration::from_mins(10)).await;
    is_named(&world.pool("p"), "ec2:DescribeLaunchTemplateVersions");
    // Beside the two reads of a minute, and two of all templates: two tries.
    backs_off_to(&world, 20 + 2 + 2).await;
    world.aws.remove_fault(rule);
    world.waits(Duration::from_mins(7)).await;
    world.settles().await;
    let pool = world.pool("p");
    pool.is_of(2);
    assert_eq!(pool.state_of("CredentialsReady"), "True");
}

#[tokio::test(start_paused = true)]
async fn a_denied_suspension_of_processes_is_named_and_delays_no_instance() {
    let world = World::new().await;
    let rule = world.aws.add_fault(FaultRule::on("SuspendProcesses", Fault::Denied));
    let pool = world.pool("p").begins_with(2);
    world.waits(Duration::from_mins(10)).await;
    assert_eq!((pool.instances().len(), pool.machines().len()), (2, 2));
    let condition = pool.condition("CredentialsReady");
    assert_eq!(
        (condition.status.as_str(), condition.reason.as_str()),
        ("False", "AccessDenied"),
        "{}",
        world.summary()
    );
    assert!(condition.message.contains("autoscaling:SuspendProcesses"), "{}", condition.message);
    backs_off_to(&world, 20 + 2 + 6).await;
    world.aws.remove_fault(rule);
    world.waits(Duration::from_mins(7)).await;
    world.settles().await;
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn a_denied_description_of_the_network_is_named_by_the_foo_cluster() {
    for (action, iam) in
        [("DescribeSubnets", "ec2:DescribeSubnets"), ("DescribeSecurityGroups", "ec2:DescribeSecurityGroups")]
    {
        let world = World::empty();
        world.aws.add_fault(FaultRule::on(action, Fault::Denied));
        world.has(&objects::cluster());
        world.has(&objects::foo_cluster());
        let pool = world.pool("p").of(1).await;
        let reported = || {
            let cluster: foo_api::FooCluster = world.server.get(NS, CLUSTER).unwrap();
            cluster.status.unwrap().conditions.into_iter().find(|one| one.type_ == "NetworkReady").unwrap()
        };
        assert_eq!((reported().status.as_str(), reported().reason.as_str()), ("False", "AccessDenied"));
        assert!(reported().message.contains(iam), "{}", reported().message);
        assert_eq!(pool.state_of("Ready"), "False WaitingForClusterInfrastructure");
        backs_off(&world).await;
        world.aws.clear_faults();
        world.waits(Duration::from_mins(7)).await;
        world.settles().await;
        pool.is_of(1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_response_to_any_call_duplicates_nothing() {
    for action in
        ["CreateLaunchTemplate", "CreateAutoScalingGroup", "SuspendProcesses", "UpdateAutoScalingGroup"]
    {
        for fault in [Fault::DroppedAfter, Fault::DroppedBefore, Fault::Throttled] {
            let world = World::new().await;
            world.aws.add_fault(FaultRule::on(action, fault).times(1));
            let pool = world.pool("p").begins_with(2);
            world.waits(Duration::from_mins(3)).await;
            world.settles().await;
            pool.is_of(2);
            pool.scales_to(3);
            world.waits(Duration::from_mins(3)).await;
            world.settles().await;
            pool.is_of(3);
            assert_eq!((world.region.groups().len(), world.region.templates().len()), (1, 1));
            pool.is_deleted();
            world.settles().await;
            pool.left_nothing();
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_response_to_a_termination_terminates_no_other_instance() {
    for fault in [Fault::DroppedAfter, Fault::DroppedBefore, Fault::Throttled] {
        let world = World::new().await;
        let pool = world.pool("p").of(4).await;
        world.aws.add_fault(FaultRule::on("TerminateInstanceInAutoScalingGroup", fault).times(1));
        pool.scales_to(2);
        world.waits(Duration::from_mins(5)).await;
        world.settles().await;
        pool.is_of(2);
        assert_eq!(world.core.drains().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn denied_details_of_instances_delay_no_group() {
    let world = World::new().await;
    world.aws.add_fault(FaultRule::on("DescribeInstances", Fault::Denied));
    let pool = world.pool("p").begins_with(2);
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(pool.instances().len(), 2);
    let condition = pool.condition("Ready");
    assert!(condition.message.contains("ec2:DescribeInstances"), "{}", world.summary());
}

#[tokio::test(start_paused = true)]
async fn a_denied_termination_is_named_and_retried() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    let rule = world.aws.add_fault(FaultRule::on("TerminateInstanceInAutoScalingGroup", Fault::Denied));
    pool.scales_to(1);
    world.waits(Duration::from_mins(10)).await;
    let message = pool.condition("Ready").message;
    assert!(message.contains("autoscaling:TerminateInstanceInAutoScalingGroup is missing"), "{message}");
    assert_eq!(pool.instances().len(), 3);
    // Beside the two reads of a minute, and two of all templates: three tries, and a reconcile each.
    backs_off_to(&world, 20 + 2 + 6).await;
    world.aws.remove_fault(rule);
    world.waits(Duration::from_mins(7)).await;
    world.settles().await;
    pool.is_of(1);
}

#[tokio::test(start_paused = true)]
async fn a_create_that_keeps_failing_with_another_message_each_time_is_left_alone() {
    let world = World::new().await;
    let message = "We failed (Service: AutoScaling, Status Code: 500, Request ID: {request-id})".to_owned();
    let fault = Fault::Error { code: "InternalFailure".to_owned(), status: 500, message };
    world.aws.add_fault(FaultRule::on("CreateAutoScalingGroup", fault));
    let pool = world.pool("p").begins_with(2);
    world.waits(Duration::from_mins(20)).await;
    let condition = pool.condition("AutoScalingGroupReady");
    assert_eq!(
        (condition.status.as_str(), condition.reason.as_str()),
        ("False", "AwsInternalError"),
        "{condition:?}"
    );
    assert!(condition.message.contains("InternalFailure"), "{}", condition.message);
    backs_off(&world).await;
    assert!(world.aws.calls("CreateAutoScalingGroup") <= 5);
    world.aws.clear_faults();
    world.waits(Duration::from_mins(7)).await;
    world.settles().await;
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn another_size_is_tried_at_once_however_often_the_last_one_failed() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let rule = world.aws.add_fault(FaultRule::on("UpdateAutoScalingGroup", Fault::Denied));
    pool.scales_to(3);
    world.waits(Duration::from_mins(20)).await;
    world.aws.remove_fault(rule);
    pool.scales_to(4);
    world.waits(Duration::from_secs(45)).await;
    assert_eq!(pool.instances().len(), 4, "{}", world.summary());
    world.settles().await;
    pool.is_of(4);
}

#[tokio::test(start_paused = true)]
async fn a_machine_is_deleted_at_once_however_often_something_else_failed() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let rule = world.aws.add_fault(FaultRule::on("CreateOrUpdateTags", Fault::Denied));
    pool.edits(|spec| drop(spec.tags.insert("team".to_owned(), "blue".to_owned())));
    world.waits(Duration::from_mins(20)).await;
    let victim = pool.machines()[0].name_any();
    let before = pool.instances();
    world.server.delete::<foo_api::capi::Machine>(NS, &victim).unwrap();
    world.waits(Duration::from_mins(1)).await;
    let left = before.iter().filter(|id| pool.instances().contains(id)).count();
    assert_eq!(left, 1, "{}", world.summary());
    world.aws.remove_fault(rule);
    world.waits(Duration::from_mins(7)).await;
    world.settles().await;
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn a_pool_recovers_from_a_storm_of_throttling() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    world.aws.add_fault(FaultRule::on_everything(Fault::Throttled));
    pool.scales_to(4);
    world.waits(Duration::from_mins(10)).await;
    let reason = pool.condition("Ready").reason;
    assert_eq!(reason, "Throttled", "{}", world.summary());
    // For all pools of the region together: a read of the groups and one of the templates in less than a minute.
    backs_off_to(&world, 30).await;
    world.aws.clear_faults();
    world.waits(Duration::from_mins(7)).await;
    world.settles().await;
    pool.is_of(4);
}

#[tokio::test(start_paused = true)]
async fn a_short_storm_flips_no_condition() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let version = world.server.resource_version();
    world.aws.add_fault(FaultRule::on_everything(Fault::Throttled).times(2));
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(world.server.resource_version(), version);
    pool.is_of(2);
}

fn summary(pool: &Pool<'_>) -> String {
    serde_json::to_string_pretty(&pool.group().unwrap()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_group_of_another_owner_is_never_changed() {
    let world = World::new().await;
    world
        .another_user_creates_group(
            "taken",
            2,
            BTreeMap::from([("owner".to_owned(), "another-user".to_owned())]),
        )
        .await;
    let pool = world.pool("p").with(|spec| spec.group_name = Some("taken".to_owned()));
    let before = summary(&pool);
    let pool = pool.of(3).await;
    assert_eq!(summary(&pool), before);
    let condition = pool.condition("AutoScalingGroupReady");
    assert_eq!(condition.status, "False");
    assert!(condition.message.contains("taken"), "{condition:?}");
    pool.scales_to(1);
    world.waits(Duration::from_mins(5)).await;
    pool.is_deleted();
    world.settles().await;
    assert_eq!(summary(&pool), before);
    let left = world.server.get::<foo_api::FooMachinePool>("default", "p");
    assert!(left.is_none(), "{}", world.summary());
}

#[tokio::test(start_paused = true)]
async fn a_launch_template_of_another_owner_is_never_changed() {
    let world = World::new().await;
    world.another_user_creates_template("default-c-p").await;
    let before = format!("{:?}", world.region.templates());
    let pool = world.pool("p").of(1).await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False LaunchTemplateNotOwned");
    pool.is_deleted();
    world.settles().await;
    assert_eq!(format!("{:?}", world.region.templates()), before);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_template_is_recreated() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let before = pool.instances();
    let id = world.region.templates()[0].id.clone();
    world.another_user().delete_template(&id).await.unwrap();
    world.waits(Duration::from_mins(61)).await;
    world.settles().await;
    pool.is_of(2);
    assert_eq!(pool.instances(), before);
    assert_eq!(world.region.templates().len(), 1, "by the list of all templates");
    pool.scales_to(3);
    world.settles().await;
    pool.is_of(3);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_template_is_noticed_when_launches_fail() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let id = world.region.templates()[0].id.clone();
    world.another_user().delete_template(&id).await.unwrap();
    pool.scales_to(3);
    world.waits(Duration::from_mins(4)).await;
    world.settles().await;
    pool.is_of(3);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_group_is_recreated() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    let arn = pool.object().spec.provider_id;
    for id in pool.instances() {
        world.kills_instance(&id);
    }
    let group = GroupName::from("default-c-p");
    world.region.with(|region| region.delete_group(&group, Deletion::Forced)).unwrap().unwrap();
    world.waits(Duration::from_mins(2)).await;
    world.settles().await;
    pool.is_of(2);
    assert_eq!(pool.condition("AutoScalingGroupReady").reason, "GroupRecreated");
    assert_eq!(pool.object().spec.provider_id, arn);
    assert_eq!(objects::secret_name("p"), "p-boot");
}

#[tokio::test(start_paused = true)]
async fn an_instance_that_aws_refuses_to_terminate_delays_no_other() {
    let world = World::new().await;
    let pool = world.pool("p").of(4).await;
    let first = pool.instances()[0].clone();
    let busy = Fault::Error {
        code: "ScalingActivityInProgress".to_owned(),
        status: 400,
        message: "busy".to_owned(),
    };
    let rule = FaultRule::on("TerminateInstanceInAutoScalingGroup", busy).containing(first.as_str());
    let rule = world.aws.add_fault(rule);
    pool.scales_to(0);
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(pool.instances(), [first], "{}", world.summary());
    world.aws.remove_fault(rule);
    world.waits(Duration::from_mins(7)).await;
    world.settles().await;
    pool.is_of(0);
}

#[tokio::test(start_paused = true)]
async fn completed_actions_have_events_whatever_else_fails() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    world.aws.add_fault(FaultRule::on("CreateOrUpdateTags", Fault::Denied));
    pool.edits(|spec| drop(spec.tags.insert("team".to_owned(), "blue".to_owned())));
    pool.scales_to(2);
    world.waits(Duration::from_mins(20)).await;
    assert_eq!(pool.instances().len(), 2);
    for reason in ["MachineDeleted", "InstanceTerminated", "ActionFailed"] {
        let events = world.events_on("p").iter().filter(|event| *event == reason).count();
        assert_eq!(events, 1, "{reason}: {:?}", world.events_on("p"));
    }
}

#[tokio::test(start_paused = true)]
async fn failed_actions_have_no_event() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    world.aws.add_fault(FaultRule::on("TerminateInstanceInAutoScalingGroup", Fault::Denied));
    pool.scales_to(2);
    world.waits(Duration::from_mins(20)).await;
    assert!(!world.events_on("p").iter().any(|event| event == "InstanceTerminated"));
}

/// A region that does not respond is named wherever AWS is called: it may be misspelt.
#[tokio::test(start_paused = true)]
async fn calls_about_the_launch_template_without_a_response_name_the_region() {
    for (action, reason) in [
        ("DescribeImages", "AwsUnreachable"),
        ("DescribeInstanceTypes", "AwsUnreachable"),
        ("DescribeLaunchTemplates", "AwsUnreachable"),
        ("CreateLaunchTemplate", "ResponseLost"),
    ] {
        let world = World::new().await;
        world.aws.add_fault(FaultRule::on(action, Fault::DroppedBefore));
        let pool = world.pool("p").begins_with(1);
        world.waits(Duration::from_mins(3)).await;
        assert_eq!(pool.state_of("LaunchTemplateReady"), format!("False {reason}"), "{action}");
        let reported = pool.condition("LaunchTemplateReady").message;
        for words in [
            &format!("AWS did not respond in region {DEFAULT_REGION}"),
            "can the manager reach its endpoints",
            action,
        ] {
            assert!(reported.contains(words), "{action}: {reported}");
        }
        backs_off(&world).await;
    }
}
