//! FooPlans about control planes: what the manager foresees is what then happens, and a plan changes nothing.

use super::{NAME, ROLE};
use crate::plans::{as_json, settings};
use crate::support::{CLUSTER, NS, World, objects};
use foo_api::plan::{CallsPlan, FooPlanStatus, Outcome};
use foo_api::{FooControlPlane, FooControlPlaneSpec, FooPlan, FooPlanSpec};
use foo_model::eks::{Change, ClusterChange, ConfigUpdate, EndpointAccess, LogType, TagChange};
use foo_model::names::{
    ADOPT_FROM_ANNOTATION, CONTROL_PLANE_ID_ANNOTATION, EKS_NAME_ANNOTATION, TAG_INSTALLATION,
};
use kube::ResourceExt;
use serde_json::{Value, json};
use std::time::Duration;

fn addons() -> Value {
    json!({ "addons": [{ "name": "vpc-cni" }, { "name": "kube-proxy" }] })
}

impl World {
    /// The FooControlPlane with a changed spec, as a dry run shows it.
    fn planned_eks(&self, change: impl FnOnce(&mut FooControlPlaneSpec)) -> Value {
        let mut object = self.eks_object();
        change(&mut object.spec);
        as_json(&object)
    }

    fn edits_control_plane(&self, edit: impl FnOnce(&mut FooControlPlaneSpec)) {
        self.server.edit(NS, CLUSTER, |object: &mut FooControlPlane| edit(&mut object.spec)).unwrap();
    }
}

fn plan_of(status: FooPlanStatus) -> CallsPlan {
    assert_eq!((status.error, status.pool), (None, None));
    status.control_plane.expect("a plan for a control plane")
}

fn fields(plan: &CallsPlan) -> Vec<&str> {
    plan.changes.iter().map(|change| change.field.as_str()).collect()
}

fn edit(spec: &mut FooControlPlaneSpec) {
    "v1.36.0".clone_into(&mut spec.version);
    let changes =
        json!({ "logging": ["audit"], "addons": [{ "name": "kube-proxy" }], "tags": { "team_of": "red" } });
    let mut eks = serde_json::to_value(&spec.eks).unwrap();
    eks.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    spec.eks = serde_json::from_value(eks).unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_upgrade_with_other_changes_is_planned_as_it_then_happens() {
    let world = World::of_eks(addons()).await;
    world.waits(Duration::from_hours(1)).await;
    let plan = plan_of(world.plans(vec![world.planned_eks(edit)]).await);
    let expected = [
        "addons.vpc-cni.conflicts",
        "addons.vpc-cni.preserve",
        "addons.vpc-cni.version",
        "logging",
        "tags.team_of",
        "version",
    ];
    assert_eq!(fields(&plan), expected, "{:?}", plan.changes);
    assert_eq!(plan.changes[5].from.as_deref(), Some("\"1.34\""));
    // As it is at the end, not on the way there.
    let expected = [
        ("version", Some("\"v1.36.0-eksbuild.14\""), Some("\"v1.34.1-eksbuild.2\"")),
        ("logging", Some("[\"audit\"]"), Some("[]")),
        ("tags.team_of", Some("\"red\""), None),
        ("version", Some("\"1.36\""), Some("\"1.34\"")),
    ];
    assert_eq!(settings(&plan.settings), expected, "{:?}", plan.settings);
    let resources: Vec<&str> = plan.settings.iter().map(|it| it.resource.as_str()).collect();
    let cluster = format!("cluster {NAME}");
    assert_eq!(resources, ["add-on kube-proxy", &cluster, &cluster, &cluster]);
    assert_eq!((plan.outcome, plan.remaining.len()), (Outcome::Settled, 0), "{plan:#?}");
    let planned: Vec<&str> = plan.calls.iter().map(|call| call.operation.as_str()).collect();
    assert_eq!(plan.aws_calls, i64::try_from(planned.len()).unwrap());
    let updates = |all: &[&str]| all.iter().filter(|it| it.starts_with("UpdateCluster")).count();
    assert_eq!(updates(&planned), 3, "{planned:?}");
    assert!(plan.seconds > 1500, "two versions and a change of the configuration: {}", plan.seconds);
    assert!(plan.notes.iter().any(|note| note.contains("next version")), "{:?}", plan.notes);

    world.forgets();
    world.edits_control_plane(edit);
    world
        .until("upgraded", || {
            world
                .region
                .cluster(NAME)
                .is_some_and(|it| it.version.to_string() == "1.36" && it.addons.len() == 1)
        })
        .await;
    world.eks_is_ready().await;
    world.waits(Duration::from_hours(1)).await;
    let calls = world.aws.call_counts();
    let sent =
        |name: &str| calls.iter().filter(|((_, it), _)| it == name).map(|(_, it)| it.calls).sum::<u64>();
    for name in [
        "UpdateClusterVersion",
        "UpdateClusterConfig",
        "UpdateAddon",
        "DeleteAddon",
        "CreateAddon",
        "TagResource",
    ] {
        let planned = planned.iter().filter(|it| **it == name).count();
        assert_eq!(sent(name), u64::try_from(planned).unwrap(), "{name}: {:?}", plan.calls);
    }
}

#[tokio::test(start_paused = true)]
async fn an_update_that_waits_for_a_window_is_planned_for_its_opening() {
    let world = World::of_eks(addons()).await;
    let window = crate::windows::window(&world, 600, "Europe/Berlin");
    let edit = |spec: &mut FooControlPlaneSpec| {
        "v1.35.0".clone_into(&mut spec.version);
        spec.eks.as_mut().unwrap().maintenance_windows = vec![window];
    };
    let plan = plan_of(world.plans(vec![world.planned_eks(edit)]).await);
    assert_eq!(fields(&plan), ["maintenanceWindows", "version"], "{:?}", plan.changes);
    assert_eq!((plan.outcome, plan.remaining.len()), (Outcome::Settled, 0), "{plan:#?}");
    let (last, others) = plan.calls.split_last().unwrap();
    assert_eq!(last.operation, "UpdateAddon");
    assert!((598 * 60..=600 * 60).contains(&last.after_seconds), "{:?}", plan.calls);
    assert!(others.iter().all(|call| call.after_seconds < 3_600), "{:?}", plan.calls);
}

#[tokio::test(start_paused = true)]
async fn a_plan_changes_nothing() {
    let world = World::of_eks(addons()).await;
    world.waits(Duration::from_hours(1)).await;
    let object = world.eks_object();
    world.forgets();
    plan_of(world.plans(vec![world.planned_eks(edit)]).await);
    let calls = world.aws.call_counts();
    let reads = ["Describe", "Get", "List"];
    let writes: Vec<_> =
        calls.keys().filter(|(_, name)| !reads.iter().any(|it| name.starts_with(it))).collect();
    assert!(writes.is_empty(), "{writes:?}");
    world.waits(Duration::from_hours(2)).await;
    assert_eq!(world.eks_object().spec, object.spec);
    assert_eq!(world.eks_object().status.unwrap().eks, object.status.unwrap().eks);
    assert_eq!(world.region.cluster(NAME).unwrap().version.to_string(), "1.34");
}

#[tokio::test(start_paused = true)]
async fn an_unchanged_control_plane_needs_nothing() {
    let world = World::of_eks(addons()).await;
    let plan = plan_of(world.plans(vec![world.planned_eks(|_| {})]).await);
    assert_eq!((plan.outcome, plan.seconds, plan.aws_calls), (Outcome::Settled, 0, 0), "{plan:#?}");
    assert_eq!((plan.changes.len(), plan.calls.len(), plan.notes.len()), (0, 0, 0), "{plan:#?}");
}

/// While EKS refuses what the manager would do about it.
#[tokio::test(start_paused = true)]
async fn what_another_user_changed_in_eks_is_shown_with_both_values() {
    let world = World::of_eks(json!({ "tags": { "team": "blue" } })).await;
    let refusal = world.refuses_changes_of_the_manager();
    let arn = world.region.cluster(NAME).unwrap().arn;
    let config =
        |update| Change::Cluster { cluster: NAME.to_owned(), change: ClusterChange::UpdateConfig(update) };
    let user = world.another_user();
    let ranges = ["203.0.113.0/24".to_owned()].into();
    let access = EndpointAccess { public: true, private: false, public_cidrs: ranges };
    let tags = [("team".to_owned(), "red".to_owned())].into();
    for change in [
        config(ConfigUpdate::Access(access)),
        config(ConfigUpdate::Logging([LogType::Api].into())),
        Change::Tags { arn, change: TagChange::Tag(tags) },
    ] {
        foo_cloud::Clusters::change_eks(&user, &change, None).await.unwrap();
        world.waits(Duration::from_mins(2)).await;
    }
    world.waits(Duration::from_hours(1)).await;
    let plan = plan_of(world.plans(vec![world.planned_eks(|_| {})]).await);
    let expected = [
        ("access.private", Some("true"), Some("false")),
        ("access.publicCidrs", Some("[\"0.0.0.0/0\"]"), Some("[\"203.0.113.0/24\"]")),
        ("logging", Some("[]"), Some("[\"api\"]")),
        ("tags.team", Some("\"blue\""), Some("\"red\"")),
    ];
    assert_eq!(settings(&plan.settings), expected, "{plan:#?}");
    world.aws.remove_fault(refusal);
    world.waits(Duration::from_hours(1)).await;
    let plan = plan_of(world.plans(vec![world.planned_eks(|_| {})]).await);
    assert_eq!((plan.settings.len(), plan.calls.len()), (0, 0), "{plan:#?}");
}

#[tokio::test(start_paused = true)]
async fn what_holds_an_upgrade_up_is_named() {
    let world = World::of_eks(addons()).await;
    let insights = json!([{ "name": "Deprecated APIs", "kubernetesVersion": "1.35", "status": "ERROR" }]);
    world.region.set_cluster_insights(NAME, serde_json::from_value(insights).unwrap()).unwrap();
    let newer = |spec: &mut FooControlPlaneSpec| "v1.35.0".clone_into(&mut spec.version);
    let plan = plan_of(world.plans(vec![world.planned_eks(newer)]).await);
    assert_eq!((plan.outcome, plan.aws_calls), (Outcome::Waiting, 0), "{plan:#?}");
    let held = plan.remaining.iter().find(|it| it.kind == "Upgrading").unwrap();
    assert_eq!(held.reason, "UpgradeBlocked");
    assert!(held.message.contains("Deprecated APIs"), "{held:?}");
    world.pauses_eks(true);
    world.waits(Duration::from_secs(5)).await;
    let plan = plan_of(world.plans(vec![world.planned_eks(newer)]).await);
    assert_eq!((plan.outcome, plan.aws_calls), (Outcome::Settled, 0), "{plan:#?}");
    assert!(plan.notes.iter().any(|note| note.contains("paused")), "{:?}", plan.notes);
}

#[tokio::test(start_paused = true)]
async fn questions_without_a_plan_say_why() {
    let world = World::of_eks(json!({})).await;
    let with = |pointer: &str, value: Value| {
        let mut object = world.planned_eks(|_| {});
        *object.pointer_mut(pointer).unwrap() = value;
        object
    };
    let pool = as_json(&objects::foo_machine_pool("p", objects::pool_spec()));
    for (objects, expected) in [
        (
            vec![with("/metadata/name", json!("none"))],
            "there is no FooControlPlane none in namespace default",
        ),
        (vec![with("/metadata/namespace", json!("team-b"))], "an object is in namespace team-b"),
        (vec![with("/spec/eks", Value::Null)], "mode is immutable"),
        (vec![with("/spec/version", json!("v2.0.0"))], "VersionNotOffered"),
        (
            vec![world.planned_eks(|_| {}), pool],
            "has FooControlPlane (controlplane.foo.com/v1alpha1), which does not fit",
        ),
        (vec![world.planned_eks(|_| {}), world.planned_eks(|_| {})], "two objects of one kind"),
    ] {
        let status = world.plans(objects).await;
        let error = status.error.unwrap_or_default();
        assert!(error.contains(expected), "{error}");
        assert_eq!(status.control_plane, None);
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_without_effect_is_named_as_what_remains() {
    let world = World::of_eks(json!({})).await;
    let older = |spec: &mut FooControlPlaneSpec| "v1.33.0".clone_into(&mut spec.version);
    let plan = plan_of(world.plans(vec![world.planned_eks(older)]).await);
    assert_eq!((plan.outcome, plan.aws_calls, plan.seconds), (Outcome::Settled, 0, 0), "{plan:#?}");
    let stays = plan.remaining.iter().find(|it| it.kind == "Upgrading").unwrap();
    assert_eq!(stays.reason, "VersionAboveRequested");
    assert!(stays.message.contains("it stays so"), "{stays:?}");
}

#[tokio::test(start_paused = true)]
async fn a_paused_control_plane_is_planned_by_a_manager_that_never_had_a_pass_over_it() {
    let mut world = World::of_eks(addons()).await;
    world.pauses_eks(true);
    world.waits(Duration::from_secs(5)).await;
    world.kills_the_manager();
    world.starts_the_manager();
    world.waits(Duration::from_secs(30)).await;
    let newer = |spec: &mut FooControlPlaneSpec| "v1.35.0".clone_into(&mut spec.version);
    let plan = plan_of(world.plans(vec![world.planned_eks(newer)]).await);
    assert_eq!((fields(&plan), plan.aws_calls), (vec!["version"], 0), "{plan:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_manager_without_the_controller_leaves_the_plan_to_another_one() {
    let mut world = World::of_eks(json!({})).await;
    let object = world.planned_eks(|_| {});
    world.restarts_the_manager_without_eks();
    let mut plan = FooPlan::new("left-alone", FooPlanSpec { objects: vec![object], durations: None });
    plan.metadata.namespace = Some(NS.to_owned());
    world.has(&plan);
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(world.server.get::<FooPlan>(NS, "left-alone").unwrap().status, None);
}

/// Whoever writes a FooPlan by hand claims whatever they like: the plan is about their own cluster all the same.
#[tokio::test(start_paused = true)]
async fn a_forged_plan_shows_nothing_of_another_cluster() {
    let world = World::of_eks(json!({})).await;
    let mut forged = world.eks_object();
    forged.annotations_mut().insert(CONTROL_PLANE_ID_ANNOTATION.to_owned(), "of-another".to_owned());
    forged.annotations_mut().insert(EKS_NAME_ANNOTATION.to_owned(), "of-another".to_owned());
    forged.annotations_mut().insert(ADOPT_FROM_ANNOTATION.to_owned(), "another-installation".to_owned());
    forged.spec.eks.as_mut().unwrap().name = Some("of-another".to_owned());
    forged.status = None;
    let plan = plan_of(world.plans(vec![as_json(&forged)]).await);
    assert_eq!((plan.outcome, plan.aws_calls, plan.changes.len()), (Outcome::Settled, 0, 0), "{plan:#?}");
    // Another management cluster has it by now: only who may move clusters takes it over.
    let tags = [(TAG_INSTALLATION.to_owned(), "another-installation".to_owned())].into();
    let arn = world.region.cluster(NAME).unwrap().arn;
    let person = world.aws.cloud(foo_simulator_core::DEFAULT_REGION, "person");
    let change = Change::Tags { arn, change: TagChange::Tag(tags) };
    foo_cloud::Clusters::change_eks(&person, &change, None).await.unwrap();
    world
        .until("it is seen", || world.eks_state("ClusterReady").contains("ClusterOfAnotherInstallation"))
        .await;
    forged.spec.version = "v1.35.0".to_owned();
    let plan = plan_of(world.plans(vec![as_json(&forged)]).await);
    assert_eq!((plan.outcome, plan.aws_calls), (Outcome::Waiting, 0), "{plan:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_plan_respects_what_the_identity_allows() {
    let world = World::of_eks(json!({})).await;
    let limits = json!({ "allowedNamespaces": {}, "controller": {}, "allowedRoles": [ROLE] });
    world.has(&objects::identity("default", limits));
    world.waits(Duration::from_secs(10)).await;
    let other = |spec: &mut FooControlPlaneSpec| {
        "arn:aws:iam::123456789012:role/other".clone_into(&mut spec.eks.as_mut().unwrap().role_arn);
    };
    let status = world.plans(vec![world.planned_eks(other)]).await;
    let error = status.error.unwrap_or_default();
    assert!(error.starts_with("RoleNotAllowed"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn plans_about_control_planes_of_other_managers_are_left_to_them() {
    let mut world = World::of_eks(json!({})).await;
    let object = world.planned_eks(|_| {});
    world.restarts_the_manager_for("others");
    let mut plan = FooPlan::new("left-alone", FooPlanSpec { objects: vec![object], durations: None });
    plan.metadata.namespace = Some(NS.to_owned());
    world.has(&plan);
    world.waits(Duration::from_mins(2)).await;
    let plan: FooPlan = world.server.get(NS, "left-alone").unwrap();
    assert_eq!(plan.status, None);
}
