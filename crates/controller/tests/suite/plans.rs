//! FooPlans: what the manager foresees, that it is what then happens, and that a plan changes nothing.

use crate::support::{CLUSTER, MANAGER, NS, Pool, World, objects};
use foo_api::capi::MachinePool;
use foo_api::names::{CLUSTER_NAME_LABEL, WATCH_LABEL};
use foo_api::plan::{GivenDurations, Outcome, PoolPlan, SettingInAws};
use foo_api::pool::{Ami, RolloutStrategy, WarmPool};
use foo_api::{FooMachinePool, FooMachinePoolSpec, FooPlan, FooPlanSpec, FooPlanStatus};
use foo_cloud::Groups as _;
use foo_model::hook::{DESCRIBE_HOOK_AFTER, DRAIN_HOOK, HookConfig};
use foo_model::names::{
    ADOPT_FROM_ANNOTATION, APPLIED_ANNOTATION, IMAGE_ANNOTATION, WAITS_IN_WARM_POOL_ANNOTATION,
};
use foo_model::{GroupChange, GroupName, Process, Seconds};
use foo_simulator_core::core::catalogue::IMAGE_X86_64_NEWER;
use foo_simulator_core::{Fault, FaultRule};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::ResourceExt;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The object as `kubectl apply --dry-run=server` prints it.
pub(crate) fn as_json<K: Serialize + kube::Resource<DynamicType = ()>>(object: &K) -> Value {
    let mut value = serde_json::to_value(object).unwrap();
    value["apiVersion"] = K::api_version(&()).into();
    value["kind"] = K::kind(&()).into();
    value
}

/// Name, desired value and value in AWS of each setting.
pub(crate) fn settings(all: &[SettingInAws]) -> Vec<(&str, Option<&str>, Option<&str>)> {
    all.iter().map(|it| (it.setting.as_str(), it.desired.as_deref(), it.in_aws.as_deref())).collect()
}

impl World {
    /// From now on AWS refuses everything by which the manager would change something.
    pub(crate) fn refuses_changes_of_the_manager(&self) -> u64 {
        let callers = self.callers();
        let caller = callers.first().expect("the manager has called AWS");
        assert_eq!(callers.len(), 1, "{callers:?}");
        self.aws.add_fault(FaultRule::on_changes(Fault::Denied).for_caller(caller))
    }

    /// A user creates a FooPlan, and reads its status.
    pub(crate) async fn plans(&self, objects: Vec<Value>) -> FooPlanStatus {
        self.plans_with(FooPlanSpec { objects, durations: None }).await
    }

    async fn plans_with(&self, spec: FooPlanSpec) -> FooPlanStatus {
        let name = format!("plan-{}", self.server.list::<FooPlan>(NS).len());
        let mut plan = FooPlan::new(&name, spec);
        plan.metadata.namespace = Some(NS.to_owned());
        self.has(&plan);
        for _ in 0..600 {
            self.waits(Duration::from_millis(100)).await;
            let plan: FooPlan = self.server.get(NS, &name).unwrap();
            if let Some(status) = plan.status {
                return status;
            }
        }
        panic!("no status\n{}", self.summary());
    }
}

impl Pool<'_> {
    fn planned(&self, change: impl FnOnce(&mut FooMachinePoolSpec)) -> Value {
        let mut pool = self.object();
        change(&mut pool.spec);
        as_json(&pool)
    }

    fn planned_replicas(&self, replicas: i32) -> Value {
        let mut pool = self.machine_pool();
        pool.spec.replicas = Some(replicas);
        as_json(&pool)
    }
}

fn pool_of(status: FooPlanStatus) -> PoolPlan {
    assert_eq!(status.error, None);
    status.pool.expect("a plan for a pool")
}

fn fields(plan: &PoolPlan) -> Vec<(&str, bool)> {
    plan.changes.iter().map(|change| (change.field.as_str(), change.replaces)).collect()
}

#[tokio::test(start_paused = true)]
async fn another_image_is_planned_as_it_then_happens() {
    let world = World::new().await;
    let pool = world.pool("p").of(4).await;
    let before: BTreeSet<String> = pool.machines().iter().map(ResourceExt::name_any).collect();
    let newer = |spec: &mut FooMachinePoolSpec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER);
    let plan = pool_of(world.plans(vec![pool.planned(newer)]).await);
    assert_eq!(fields(&plan), [("launchTemplate.image", true)], "{:?}", plan.changes);
    assert_eq!(plan.changes[0].to, Some(format!("\"{IMAGE_X86_64_NEWER}\"")));
    assert_eq!((plan.outcome, plan.deletion_count, plan.launches), (Outcome::Settled, 4, 4));
    assert_eq!((plan.ready.now, plan.ready.extreme), (4, 4), "no instance may be missing by default");
    assert_eq!((plan.instances.now, plan.instances.extreme), (4, 5), "one more by default");
    assert_eq!(plan.durations.measured_launches, 4);
    assert_eq!(plan.remaining, []);
    let named: BTreeSet<String> = plan.deletions.iter().map(|it| it.machine.clone()).collect();
    assert_eq!(named, before);

    world.forgets();
    pool.edits(newer);
    let mut order: Vec<String> = Vec::new();
    world
        .until("all were replaced", || {
            for machine in pool.machines() {
                let name = machine.name_any();
                if machine.metadata.deletion_timestamp.is_some() && !order.contains(&name) {
                    order.push(name);
                }
            }
            pool.status().rollout.is_some_and(|it| it.phase == "Finished") && order.len() == 4
        })
        .await;
    world.settles().await;
    let planned: Vec<String> = plan.deletions.iter().map(|it| it.machine.clone()).collect();
    assert_eq!(order, planned, "in the same order");
    let calls = world.aws.call_counts();
    let of = |name: &str| calls.iter().filter(|((_, it), _)| it == name).map(|(_, it)| it.calls).sum::<u64>();
    let planned =
        |name: &str| plan.actions.iter().filter(|it| it.name == name).map(|it| it.times).sum::<i64>();
    for (action, call) in [
        ("CreateTemplateVersion", "CreateLaunchTemplateVersion"),
        ("TerminateInstance", "TerminateInstanceInAutoScalingGroup"),
        ("CompleteLifecycleAction", "CompleteLifecycleAction"),
        ("UpdateGroup", "UpdateAutoScalingGroup"),
    ] {
        assert_eq!(i64::try_from(of(call)), Ok(planned(action)), "{action}: {:?} {calls:?}", plan.actions);
    }
}

#[tokio::test(start_paused = true)]
async fn a_plan_changes_nothing() {
    let world = World::new().await;
    let pool = world.pool("p").of(2).await;
    world.settles().await;
    let (object, machine_pool) = (pool.object(), pool.machine_pool());
    world.forgets();
    let newer = |spec: &mut FooMachinePoolSpec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER);
    pool_of(world.plans(vec![pool.planned(newer), pool.planned_replicas(7)]).await);
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(pool.object(), object);
    assert_eq!(pool.machine_pool(), machine_pool);
    let reads = ["Describe", "Get", "List"];
    let calls = world.aws.call_counts();
    let writes: Vec<_> =
        calls.keys().filter(|(_, name)| !reads.iter().any(|it| name.starts_with(it))).collect();
    assert!(writes.is_empty(), "{writes:?}");
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn fewer_replicas_name_the_machines_that_go() {
    let world = World::new().await;
    let pool = world.pool("p").of(5).await;
    let plan = pool_of(world.plans(vec![pool.planned_replicas(2)]).await);
    assert_eq!(fields(&plan), [("size.replicas", false)]);
    assert_eq!((plan.deletion_count, plan.launches, plan.ready.extreme), (3, 0, 2));
    pool.scales_to(2);
    world.settles().await;
    let left: BTreeSet<String> = pool.machines().iter().map(ResourceExt::name_any).collect();
    assert!(plan.deletions.iter().all(|it| !left.contains(&it.machine)), "{:?} {left:?}", plan.deletions);
}

#[tokio::test(start_paused = true)]
async fn an_unchanged_pool_needs_nothing() {
    let world = World::new().await;
    let pool = world.pool("p").of(3).await;
    let plan = pool_of(world.plans(vec![pool.planned(|_| {})]).await);
    assert_eq!((plan.outcome, plan.seconds, plan.aws_calls), (Outcome::Settled, 0, 0), "{plan:#?}");
    assert_eq!((plan.changes.len(), plan.actions.len(), plan.remaining.len()), (0, 0, 0), "{plan:#?}");
}

/// A manifest in a repository has no annotation of the provider.
#[tokio::test(start_paused = true)]
async fn a_manifest_without_the_record_of_what_the_provider_set_is_planned_with_that_of_the_object() {
    let world = World::new().await;
    let one = WarmPool { min_size: 1, ..WarmPool::default() };
    let pool = world.pool("p").with(|spec| spec.warm_pool = Some(one)).of(2).await;
    let waits = |secret: &mut Secret| {
        secret.annotations_mut().insert(WAITS_IN_WARM_POOL_ANNOTATION.to_owned(), "true".to_owned());
    };
    world.server.edit(NS, &objects::secret_name("p"), waits).unwrap();
    world.until("an instance waits", || pool.group().is_some_and(|group| !group.warm.is_empty())).await;
    world.settles().await;
    let mut manifest = pool.planned(|_| {});
    let annotations = manifest["metadata"]["annotations"].take();
    assert!(annotations.get(APPLIED_ANNOTATION).is_some(), "{annotations}");
    let plan = pool_of(world.plans(vec![manifest]).await);
    assert_eq!((plan.outcome, plan.aws_calls), (Outcome::Settled, 0), "{plan:#?}");
    assert_eq!((plan.changes.len(), plan.actions.len()), (0, 0), "{plan:#?}");
}

/// While AWS refuses what the manager would do about it.
#[tokio::test(start_paused = true)]
async fn what_another_user_changed_in_aws_is_shown_with_both_values() {
    let world = World::new().await;
    let tags = BTreeMap::from([("team".to_owned(), "blue".to_owned())]);
    let pool = world.pool("p").with(|spec| spec.tags = tags).of(2).await;
    let refusal = world.refuses_changes_of_the_manager();
    let (group, user) = (GroupName::new(pool.group_name()), world.another_user());
    let change = GroupChange { min: Some(1), max: Some(9), ..GroupChange::default() };
    user.update_group(&group, &change).await.unwrap();
    let tags = [("team", "red\nX"), ("other", "stays")];
    let tags = tags.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
    user.tag_group(&group, &tags).await.unwrap();
    user.resume_processes(&group, &[Process::AZRebalance]).await.unwrap();
    let hook = HookConfig { heartbeat: Seconds(60), ..HookConfig::DRAIN }.into();
    user.put_hook(&group, &DRAIN_HOOK.into(), &hook, None).await.unwrap();
    world.waits(DESCRIBE_HOOK_AFTER + Duration::from_mins(5)).await;
    let plan = pool_of(world.plans(vec![pool.planned(|_| {})]).await);
    let expected = [
        ("lifecycleHook.heartbeat", Some("3600"), Some("60")),
        ("maxSize", Some("2"), Some("9")),
        ("minSize", Some("0"), Some("1")),
        ("suspendedProcesses", Some("[\"AZRebalance\"]"), Some("[]")),
        ("tags.team", Some("\"blue\""), Some("\"red\\nX\"")),
    ];
    assert_eq!(settings(&plan.settings), expected, "{plan:#?}");
    assert_eq!(plan.settings[0].resource, format!("Auto Scaling group {group}"));
    assert_eq!(fields(&plan), [], "the spec is the same");
    // A roll-out needs another size for a while, which is no setting that differs.
    let newer = |spec: &mut FooMachinePoolSpec| spec.ami = Ami::of_id(IMAGE_X86_64_NEWER);
    let plan = pool_of(world.plans(vec![pool.planned(newer)]).await);
    let changed: Vec<_> = settings(&plan.settings).into_iter().map(|(setting, ..)| setting).collect();
    let of_template = ["launchTemplate.content", "launchTemplate.version"];
    let mut all: Vec<&str> = expected.iter().map(|(setting, ..)| *setting).chain(of_template).collect();
    all.sort_unstable();
    assert_eq!((changed, plan.launches), (all, 2), "{plan:#?}");

    world.aws.remove_fault(refusal);
    world.waits(Duration::from_mins(15)).await;
    world.settles().await;
    let plan = pool_of(world.plans(vec![pool.planned(|_| {})]).await);
    assert_eq!((plan.settings.len(), plan.actions.len()), (0, 0), "{plan:#?}");
}

#[tokio::test(start_paused = true)]
async fn limits_and_durations_show_in_the_time() {
    let world = World::new().await;
    let pool = world.pool("p").of(4).await;
    let with = |surge: i32, spec: &mut FooMachinePoolSpec| {
        spec.ami = Ami::of_id(IMAGE_X86_64_NEWER);
        spec.rollout.max_surge = IntOrString::Int(surge);
    };
    let durations = Some(GivenDurations { launch_seconds: Some(600), drain_seconds: Some(300) });
    let ask = async |surge: i32| {
        let objects = vec![pool.planned(|spec| with(surge, spec))];
        pool_of(world.plans_with(FooPlanSpec { objects, durations }).await)
    };
    let (slow, fast) = (ask(1).await, ask(4).await);
    assert!(slow.seconds >= 4 * 900 && fast.seconds < slow.seconds, "{} {}", slow.seconds, fast.seconds);
    assert_eq!((slow.durations.launch_seconds, slow.durations.measured_launches), (600, 0));
    let limit = [("launchTemplate.image", true), ("rollOut.maxSurge.Count", false)];
    assert_eq!(fields(&fast), limit, "{:?}", fast.changes);
}

#[tokio::test(start_paused = true)]
async fn what_blocks_the_plan_is_named() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    let missing = |spec: &mut FooMachinePoolSpec| spec.ami = Ami::of_id("ami-0000000000000dead");
    let plan = pool_of(world.plans(vec![pool.planned(missing)]).await);
    assert_eq!((plan.outcome, plan.deletion_count), (Outcome::Waiting, 0));
    let blocked = plan.remaining.iter().find(|it| it.kind == "LaunchTemplateReady").unwrap();
    assert_eq!(blocked.reason, "ImageNotFound", "{:?}", plan.remaining);
    let by_hand = |spec: &mut FooMachinePoolSpec| {
        spec.ami = Ami::of_id(IMAGE_X86_64_NEWER);
        spec.rollout.strategy = RolloutStrategy::OnDelete;
    };
    let plan = pool_of(world.plans(vec![pool.planned(by_hand)]).await);
    assert_eq!((plan.outcome, plan.deletion_count), (Outcome::Waiting, 0), "{plan:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_new_pool_is_planned_from_nothing() {
    let world = World::new().await;
    world.pool("p").of(1).await;
    // The manager's cache does not have the Secret yet.
    let _hold = world.server.watches().kind("Secret").client(MANAGER).hold();
    world.has(&objects::secret(&objects::secret_name("q"), b"#cloud-config"));
    let mut pool: FooMachinePool = objects::foo_machine_pool("q", objects::pool_spec());
    pool.labels_mut().insert(CLUSTER_NAME_LABEL.to_owned(), CLUSTER.to_owned());
    let machine_pool: MachinePool = objects::machine_pool("q", 3);
    let plan = pool_of(world.plans(vec![as_json(&pool), as_json(&machine_pool)]).await);
    assert_eq!((plan.outcome, plan.launches, plan.deletion_count), (Outcome::Settled, 3, 0), "{plan:#?}");
    assert!(plan.notes.iter().any(|note| note.contains("new")), "{:?}", plan.notes);
    assert!(plan.actions.iter().any(|it| it.name == "CreateGroup"), "{:?}", plan.actions);
    world.waits(Duration::from_mins(2)).await;
    assert!(world.region.group("default-c-q").is_none());
    let text = serde_json::to_string(&plan).unwrap();
    assert!(!text.contains("cloud-config"), "user data is never shown: {text}");
}

#[tokio::test(start_paused = true)]
async fn questions_without_a_plan_say_why() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    let elsewhere = {
        let mut object = pool.planned(|_| {});
        object["metadata"]["namespace"] = "kube-system".into();
        object
    };
    let config_map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}});
    let unreadable = {
        let mut object = pool.planned(|_| {});
        object["spec"]["maxSize"] = "many".into();
        object
    };
    let older = {
        let mut object = pool.planned_replicas(2);
        object["apiVersion"] = "cluster.x-k8s.io/v1beta1".into();
        object
    };
    let long = {
        let mut object = pool.planned(|_| {});
        object["spec"]["anything"] = vec![1; 201].into();
        object
    };
    let mut secret = objects::secret("of-others", b"password: hush-hush");
    secret.metadata.labels = None;
    world.has(&secret);
    let of_others = {
        let mut object = pool.planned_replicas(2);
        object["spec"]["template"]["spec"]["bootstrap"]["dataSecretName"] = "of-others".into();
        object
    };
    let huge = pool.planned_replicas(2_000_000_000);
    for (objects, expected) in [
        (vec![elsewhere], "an object is in namespace kube-system, the FooPlan in default"),
        (vec![config_map], "has ConfigMap (v1), which does not fit"),
        (vec![older], "has MachinePool (cluster.x-k8s.io/v1beta1), which does not fit"),
        (vec![long], "a list has 201 items"),
        (vec![of_others], "Secret of-others does not have the label"),
        (vec![huge], "at most 10000 instances"),
        (vec![unreadable], "FooMachinePool cannot be read"),
        (vec![pool.planned(|_| {}), pool.planned(|_| {})], "two objects of one kind"),
        (vec![as_json(&objects::machine_pool("none", 1))], "there is no FooMachinePool none"),
    ] {
        let status = world.plans(objects).await;
        let error = status.error.unwrap_or_default();
        assert!(error.contains(expected), "{error}");
        assert_eq!(status.pool, None);
    }
}

/// Whoever writes a FooPlan by hand claims whatever they like.
#[tokio::test(start_paused = true)]
async fn a_forged_plan_shows_nothing_of_another_pool() {
    let world = World::new().await;
    let victim = world.pool("victim").with(|spec| spec.group_name = Some("of-victim".to_owned())).of(3).await;
    let own = world.pool("own").of(1).await;
    let forged = |pool: &Pool<'_>, name: &str| {
        let mut object = pool.planned(|spec| spec.group_name = Some("of-victim".to_owned()));
        object["metadata"]["annotations"][ADOPT_FROM_ANNOTATION] = "another-installation".into();
        object["metadata"]["name"] = name.into();
        object["metadata"]["uid"] = victim.object().uid().into();
        object["spec"]["providerID"] = victim.object().spec.provider_id.into();
        object
    };
    // Of an existing pool the name of the group is immutable; a new one finds the name taken.
    let plan = pool_of(world.plans(vec![forged(&own, "own")]).await);
    assert_eq!((plan.instances.now, plan.ready.now), (1, 1), "{plan:#?}");
    let status = world.plans(vec![forged(&own, "fresh")]).await;
    assert_eq!(status.pool, None);
    let error = status.error.unwrap();
    assert!(error.starts_with("GroupNameTaken"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_image_that_is_looked_up_for_a_plan_is_not_recorded() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    world.region.publish_parameter("/images/node", IMAGE_X86_64_NEWER).unwrap();
    let looked_up = |spec: &mut FooMachinePoolSpec| {
        spec.ami = Ami { ssm_parameter: Some("/images/node".to_owned()), ..Ami::default() };
    };
    let plan = pool_of(world.plans(vec![pool.planned(looked_up)]).await);
    assert_eq!(plan.changes[0].to, Some(format!("\"{IMAGE_X86_64_NEWER}\"")), "{:?}", plan.changes);
    assert_eq!(pool.object().annotations().get(IMAGE_ANNOTATION), None);
    assert!(world.notes("ImageResolved").is_empty());
}

#[tokio::test(start_paused = true)]
async fn old_plans_are_deleted_and_those_of_other_managers_left_alone() {
    let mut world = World::new().await;
    let pool = world.pool("p").of(1).await;
    pool_of(world.plans(vec![pool.planned(|_| {})]).await);
    let object = pool.planned(|_| {});
    world.waits(Duration::from_mins(9)).await;
    assert_eq!(world.server.list::<FooPlan>(NS).len(), 1);
    world.waits(Duration::from_mins(3)).await;
    assert_eq!(world.server.list::<FooPlan>(NS).len(), 0);
    world.restarts_the_manager_for("others");
    let mut plan = FooPlan::new("left-alone", FooPlanSpec { objects: vec![object], durations: None });
    plan.metadata.namespace = Some(NS.to_owned());
    plan.labels_mut().insert(WATCH_LABEL.to_owned(), "own".to_owned());
    world.has(&plan);
    world.waits(Duration::from_mins(2)).await;
    let plan: FooPlan = world.server.get(NS, "left-alone").unwrap();
    assert_eq!(plan.status, None);
}
