//! Auto Scaling groups that others created: a pool adopts one with its instances, and no Node is replaced.

use crate::plans::as_json;
use crate::support::{CLUSTER, NS, Pool, World, objects};
use foo_api::FooMachinePool;
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_api::shared::DeletionPolicy;
use foo_apiserver_fake::{Fault, Verb};
use foo_cloud::Groups as _;
use foo_model::names::{ADOPTED_ANNOTATION, TAG_ADOPTABLE, TAG_ADOPTED, TAG_INSTALLATION, TAG_POOL};
use foo_model::{GroupName, InstanceId};
use foo_simulator_core::core::rules::group::hooks::{HookChange, Transition};
use foo_simulator_core::{Fault as AwsFault, FaultRule};
use kube::ResourceExt as _;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// Name of the group.
const GROUP: &str = "legacy";

/// A world with a group of three instances that no FooMachinePool manages, which the owner of the account lets pool `p` adopt.
async fn with_a_group() -> World {
    let world = World::new().await;
    let tags = BTreeMap::from([
        (TAG_ADOPTABLE.to_owned(), format!("{NS}/p")),
        ("team".to_owned(), "blue".to_owned()),
    ]);
    world.another_user_creates_group(GROUP, 3, tags).await;
    world
}

/// Whether the identity of the Cluster allows adoption.
fn has_identity(world: &World, allow_adoption: bool) {
    let spec = json!({ "allowedNamespaces": {}, "controller": {}, "allowAdoption": allow_adoption });
    world.has(&objects::identity("default", spec));
}

fn pool_that_adopts(world: &World) -> Pool<'_> {
    world.pool("p").with(|spec| {
        spec.group_name = Some(GROUP.to_owned());
        spec.adopt = true;
    })
}

/// A pool that has adopted the group, and the instances.
async fn adopted(world: &World) -> (Pool<'_>, Vec<InstanceId>) {
    has_identity(world, true);
    let before = world.region.group(GROUP).unwrap().members.keys().cloned().collect();
    (pool_that_adopts(world).of(3).await, before)
}

/// Panics unless the group has these instances, each with a Machine and a lifecycle hook before its termination.
fn is_adopted(pool: &Pool<'_>, instances: &[InstanceId]) {
    pool.is_of(3);
    assert_eq!(pool.instances(), instances, "none is replaced");
    let group = pool.group().unwrap();
    assert_eq!(group.tags[TAG_ADOPTED].value, "true");
    assert_eq!(group.tags["team"].value, "blue", "tags of others stay");
    assert_eq!(group.hooks.len(), 1);
    assert!(group.members.values().all(|member| member.protection == foo_model::Protection::Protected));
    assert_eq!(pool.object().annotations()[ADOPTED_ANNOTATION], "true");
}

#[tokio::test(start_paused = true)]
async fn a_group_is_adopted_with_its_instances_which_are_replaced_when_the_user_says_so() {
    let world = with_a_group().await;
    let (pool, instances) = adopted(&world).await;
    is_adopted(&pool, &instances);
    assert_eq!(pool.condition("RollingOut").reason, "RolloutPaused");
    let said = pool.condition("RollingOut").message;
    assert!(said.contains("once spec.adopt is false"), "{said}");
    assert_eq!(pool.status().up_to_date_replicas, Some(0));
    assert_eq!(world.notes("AutoScalingGroupAdopted").len(), 1);
    // It is a pool like others: it scales, and its Machines drain.
    pool.scales_to(4);
    world.settles().await;
    pool.scales_to(3);
    world.settles().await;
    assert_eq!(world.core.drains().len(), 1);
    // Idle, no call changes anything.
    let writes = world.aws_writes();
    world.waits(Duration::from_mins(30)).await;
    assert_eq!(world.aws_writes(), writes);

    pool.edits(|spec| spec.adopt = false);
    world.waits(Duration::from_mins(20)).await;
    pool.is_of(3);
    assert!(pool.instances().iter().all(|id| !instances.contains(id)), "{}", world.summary());
    assert_eq!(pool.status().up_to_date_replicas, Some(3));
}

#[tokio::test(start_paused = true)]
async fn adoption_needs_the_consent_of_the_identity_and_of_the_account() {
    let world = with_a_group().await;
    let tag = async |value: &str| {
        let tags = BTreeMap::from([(TAG_ADOPTABLE.to_owned(), value.to_owned())]);
        world.another_user().tag_group(&GroupName::new(GROUP), &tags).await.unwrap();
        world.waits(Duration::from_mins(5)).await;
    };
    tag("other/p").await;
    let before = || serde_json::to_string(&world.region.group(GROUP).unwrap()).unwrap();
    let untouched = before();
    let pool = pool_that_adopts(&world).of(3).await;
    let refused = |text: &str| {
        assert_eq!(pool.state_of("Ready"), "False AdoptionNotAllowed", "{}", world.summary());
        let message = pool.condition("Ready").message;
        assert!(message.contains(text), "{message}");
        assert_eq!(before(), untouched);
        assert_eq!(world.region.templates().len(), 1, "nothing is created for it");
    };
    refused("allowAdoption");
    has_identity(&world, false);
    world.waits(Duration::from_mins(5)).await;
    refused("allowAdoption");
    let allow = |identity: &mut foo_api::FooClusterIdentity| identity.spec.allow_adoption = true;
    world.server.edit("", "default", allow).unwrap();
    world.waits(Duration::from_mins(5)).await;
    refused("adoptable=default/p");
    tag("default/p").await;
    world.settles().await;
    pool.is_of(3);
}

#[tokio::test(start_paused = true)]
async fn adoption_waits_for_the_number_of_instances_and_a_name_for_the_launch_template() {
    let world = with_a_group().await;
    has_identity(&world, true);
    world.another_user_creates_template(GROUP).await;
    let pool = pool_that_adopts(&world).of(1).await;
    assert_eq!(pool.state_of("Ready"), "False AdoptionWaiting", "{}", world.summary());
    assert!(pool.condition("Ready").message.contains("MachinePool.spec.replicas is 1: set it to 3"));
    pool.scales_to(3);
    world.settles().await;
    let message = pool.condition("AutoScalingGroupReady").message;
    assert!(message.contains("another spec.launchTemplateName"), "{message}");
    let group = pool.group().unwrap();
    assert_eq!((group.members.len(), group.tags.contains_key(TAG_POOL)), (3, false));
    // Nothing was adopted, so the pool can be deleted and created again.
    pool.is_deleted();
    world.settles().await;
    assert!(world.server.get::<FooMachinePool>(NS, "p").is_none(), "{}", world.summary());
    let instances: Vec<_> = world.region.group(GROUP).unwrap().members.keys().cloned().collect();
    let named = pool_that_adopts(&world).with(|spec| spec.launch_template_name = Some("own".to_owned()));
    named.without_secret(3);
    world.settles().await;
    let pool = pool_that_adopts(&world);
    is_adopted(&pool, &instances);
    let names: Vec<String> = world.region.templates().into_iter().map(|template| template.name).collect();
    assert!(names.contains(&"own".to_owned()), "{names:?}");
    assert_eq!(pool.state_of("LaunchTemplateReady"), "True");
}

/// What adoption would do, before anything is applied.
#[tokio::test(start_paused = true)]
async fn an_adoption_is_planned_as_it_then_happens() {
    let world = with_a_group().await;
    has_identity(&world, true);
    world.pool("other").of(1).await;
    world.has(&objects::secret(&objects::secret_name("p"), b"#cloud-config"));
    let planned = |name: &str, replicas| {
        let spec = foo_api::FooMachinePoolSpec {
            group_name: Some(GROUP.to_owned()),
            adopt: true,
            ..objects::pool_spec()
        };
        let mut pool = objects::foo_machine_pool(name, spec);
        pool.labels_mut().insert(CLUSTER_NAME_LABEL.to_owned(), CLUSTER.to_owned());
        let mut machine_pool = objects::machine_pool(name, replicas);
        machine_pool.spec.template.spec.bootstrap.data_secret_name = Some(objects::secret_name("p"));
        vec![as_json(&pool), as_json(&machine_pool)]
    };
    let plan = world.plans(planned("p", 3)).await.pool.unwrap();
    let names: Vec<&str> = plan.actions.iter().map(|action| action.name.as_str()).collect();
    assert_eq!((plan.launches, plan.deletion_count), (0, 0), "{plan:#?}");
    for name in ["RecordAdoption", "AdoptGroup", "ProtectInstances", "CreateTemplate", "PutLifecycleHook"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert_eq!(plan.notes, ["the pool is new, and adopts an Auto Scaling group that exists"]);
    // The bootstrap provider writes its data once the MachinePool exists.
    let mut to_come = planned("p", 3);
    to_come[1]["spec"]["template"]["spec"]["bootstrap"] =
        json!({"configRef": {"apiGroup": "bootstrap.foo.com", "kind": "FooNodeConfig", "name": "p"}});
    let assumed = world.plans(to_come).await.pool.unwrap();
    assert_eq!(assumed.actions, plan.actions, "{assumed:#?}");
    assert!(assumed.notes[1].starts_with("the bootstrap data does not exist yet"), "{:?}", assumed.notes);
    let waits = world.plans(planned("p", 2)).await.pool.unwrap();
    let text = serde_json::to_string(&waits).unwrap();
    assert!(text.contains("set it to 3") && !text.contains("AdoptGroup"), "{text}");
    // Whoever may not adopt the group learns only that its name is in use.
    let refused = world.plans(planned("q", 3)).await.error.unwrap();
    assert_eq!(
        refused,
        format!(
            "the Auto Scaling group of that name does not belong to this pool, and does not have the tag {TAG_ADOPTABLE}={NS}/q, by which \
             the owner of the AWS account lets it adopt the group"
        )
    );
    let group = world.region.group(GROUP).unwrap();
    assert!(!group.tags.contains_key(TAG_POOL), "a plan changes nothing");
}

#[tokio::test(start_paused = true)]
async fn a_plan_of_an_adoption_that_the_identity_does_not_allow_names_the_identity() {
    let world = with_a_group().await;
    has_identity(&world, false);
    world.pool("other").of(1).await;
    let spec = foo_api::FooMachinePoolSpec {
        group_name: Some(GROUP.to_owned()),
        adopt: true,
        ..objects::pool_spec()
    };
    let mut pool = objects::foo_machine_pool("p", spec);
    pool.labels_mut().insert(CLUSTER_NAME_LABEL.to_owned(), CLUSTER.to_owned());
    let refused = world.plans(vec![as_json(&pool)]).await.error.unwrap();
    assert!(refused.contains("(allowAdoption)"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn a_mistaken_name_creates_no_group() {
    let world = World::new().await;
    has_identity(&world, true);
    let pool = pool_that_adopts(&world).of(3).await;
    assert_eq!(pool.state_of("Ready"), "False AdoptionWaiting", "{}", world.summary());
    assert!(world.region.groups().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_adopted_group_stays_unless_the_spec_says_delete() {
    let world = with_a_group().await;
    let (pool, instances) = adopted(&world).await;
    // The roll-out is a matter of its own.
    pool.edits(|spec| {
        (spec.adopt, spec.rollout.strategy) = (false, foo_api::pool::RolloutStrategy::OnDelete);
    });
    world.settles().await;
    // A manifest that replaces the object drops its annotations; the record comes back.
    pool.edits_object(|pool| drop(pool.annotations_mut().remove(ADOPTED_ANNOTATION)));
    pool.is_deleted();
    world.settles().await;
    assert!(world.server.get::<FooMachinePool>(NS, "p").is_none(), "{}", world.summary());
    let group = world.region.group(GROUP).unwrap();
    assert_eq!(group.members.keys().cloned().collect::<Vec<_>>(), instances);
    assert_eq!(group.tags[TAG_INSTALLATION].value, "retained");
    assert!(world.core.drains().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_adopted_group_is_deleted_if_the_spec_says_so() {
    let world = with_a_group().await;
    let (pool, _) = adopted(&world).await;
    pool.edits(|spec| spec.deletion_policy = Some(DeletionPolicy::Delete));
    pool.is_deleted();
    world.waits(Duration::from_mins(20)).await;
    assert!(world.region.group(GROUP).is_none(), "{}", world.summary());
    assert_eq!(world.core.drains().len(), 3);
    let names: Vec<String> = world.region.templates().into_iter().map(|template| template.name).collect();
    assert_eq!(names, ["foreign"], "the template of others stays");
}

/// A call whose response is lost, and a crash after it, change nothing about the result.
#[tokio::test(start_paused = true)]
async fn lost_responses_and_crashes_cost_only_time() {
    for operation in
        ["CreateOrUpdateTags", "CreateLaunchTemplate", "SetInstanceProtection", "PutLifecycleHook"]
    {
        for fault in [AwsFault::DroppedAfter, AwsFault::Denied] {
            let mut world = with_a_group().await;
            let rule = world.aws.add_fault(FaultRule::on(operation, fault));
            has_identity(&world, true);
            let instances: Vec<_> = world.region.group(GROUP).unwrap().members.keys().cloned().collect();
            drop(pool_that_adopts(&world).begins_with(3));
            world.waits(Duration::from_mins(2)).await;
            world.kills_the_manager();
            world.starts_the_manager();
            world.waits(Duration::from_mins(2)).await;
            world.aws.remove_fault(rule);
            world.waits(Duration::from_mins(20)).await;
            is_adopted(&pool_that_adopts(&world), &instances);
        }
    }
}

/// Whoever owned the group may have hooks of the same and of other names.
#[tokio::test(start_paused = true)]
async fn an_adopted_group_gets_the_hooks_of_the_spec_and_keeps_those_of_others() {
    let world = with_a_group().await;
    has_identity(&world, true);
    for name in ["of-the-owner", "evict"] {
        let hook = HookChange {
            name: name.to_owned(),
            transition: Some(Transition::Terminating),
            ..HookChange::default()
        };
        world.region.with(|region| region.put_hook(&GroupName::new(GROUP), hook)).unwrap().unwrap();
    }
    let evict = json!({"name": "evict", "transition": "Terminating", "heartbeatTimeoutSeconds": 600});
    let pool = world.pool("p").with(|spec| {
        spec.group_name = Some(GROUP.to_owned());
        spec.adopt = true;
        spec.lifecycle_hooks = vec![serde_json::from_value(evict).unwrap()];
    });
    let pool = pool.of(3).await;
    let hooks = || pool.group().unwrap().hooks;
    assert_eq!(hooks().into_keys().collect::<Vec<_>>(), ["evict", "foo-drain", "of-the-owner"]);
    assert_eq!(hooks()["evict"].heartbeat, Duration::from_mins(10), "that of the spec");
    pool.edits(|spec| spec.lifecycle_hooks.clear());
    world.settles().await;
    assert_eq!(hooks().into_keys().collect::<Vec<_>>(), ["foo-drain", "of-the-owner"]);
}

/// AWS waits for drains from the beginning, whatever else is refused.
#[tokio::test(start_paused = true)]
async fn a_refused_launch_template_leaves_no_adopted_group_without_its_hook() {
    let world = with_a_group().await;
    has_identity(&world, true);
    world.aws.add_fault(FaultRule::on("CreateLaunchTemplate", AwsFault::Denied));
    let pool = pool_that_adopts(&world).begins_with(3);
    world.waits(Duration::from_mins(10)).await;
    let group = pool.group().unwrap();
    assert_eq!((group.hooks.len(), pool.machines().len()), (1, 3), "{}", world.summary());
    assert!(group.members.values().all(|member| member.protection == foo_model::Protection::Protected));
    assert!(pool.condition("Ready").message.contains("CreateLaunchTemplate"), "{}", world.summary());
    // What AWS terminates by itself is drained.
    let id = pool.instances()[0].clone();
    world.region.find_unhealthy(&id).unwrap();
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(world.core.drains().len(), 1);
}

/// The record on the FooMachinePool comes before the tags: a group whose adoption is not recorded would be deleted with its pool.
#[tokio::test(start_paused = true)]
async fn without_the_record_the_group_is_not_tagged() {
    let world = with_a_group().await;
    has_identity(&world, true);
    // The finalizer comes first, the record second.
    let fault = Fault::unavailable().on(Verb::Patch).kind("FooMachinePool").subresource("").skip(2).always();
    let injected = world.server.inject(fault);
    let pool = pool_that_adopts(&world).begins_with(3);
    world.waits(Duration::from_mins(10)).await;
    assert!(injected.struck() > 0 && !pool.object().finalizers().is_empty(), "{}", world.summary());
    assert!(!pool.object().annotations().contains_key(ADOPTED_ANNOTATION));
    assert!(!world.region.group(GROUP).unwrap().tags.contains_key(TAG_POOL));
}

/// Another management cluster adopts the group between the observation and the tags.
#[tokio::test(start_paused = true)]
async fn a_group_that_got_an_owner_a_moment_ago_is_not_adopted() {
    let world = with_a_group().await;
    has_identity(&world, true);
    let pool = pool_that_adopts(&world).without_secret(3);
    world.waits(Duration::from_mins(5)).await;
    // It is observed every half minute.
    let tags = BTreeMap::from([(TAG_INSTALLATION.to_owned(), "elsewhere".to_owned())]);
    world.another_user().tag_group(&GroupName::new(GROUP), &tags).await.unwrap();
    let mut secret = objects::secret(&objects::secret_name("p"), b"#cloud-config");
    secret.labels_mut().insert(CLUSTER_NAME_LABEL.to_owned(), CLUSTER.to_owned());
    world.has(&secret);
    world.waits(Duration::from_mins(5)).await;
    let group = world.region.group(GROUP).unwrap();
    assert!(!group.tags.contains_key(TAG_POOL), "{}", world.summary());
    assert_eq!(pool.state_of("AutoScalingGroupReady"), "False GroupNotOwned", "{}", world.summary());
}

#[tokio::test(start_paused = true)]
async fn two_pools_that_want_one_group_do_not_share_it() {
    let world = with_a_group().await;
    let (pool, instances) = adopted(&world).await;
    let second = world.pool("q").with(|spec| {
        spec.group_name = Some(GROUP.to_owned());
        spec.launch_template_name = Some("another".to_owned());
        spec.adopt = true;
    });
    let second = second.of(3).await;
    assert_eq!(second.state_of("Ready"), "False GroupNameTaken", "{}", world.summary());
    is_adopted(&pool, &instances);
    let requests = world.aws.calls("DescribeLaunchTemplateVersions");
    world.waits(Duration::from_mins(30)).await;
    assert!(
        world.aws.calls("DescribeLaunchTemplateVersions") <= requests + 6,
        "the other name causes no reads"
    );
}
