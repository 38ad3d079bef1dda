//! The kubeconfig Secrets of EKS clusters.

use super::{NAME, control_plane};
use crate::support::{CLUSTER, MANAGER, NS, World, objects};
use foo_api::FooControlPlane;
use foo_api::names::{CLUSTER_NAME_LABEL, CLUSTER_SECRET_TYPE, SECRET_VALUE_KEY};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use kube::config::Kubeconfig;
use serde_json::json;
use std::time::Duration;

const SECRET: &str = "c-kubeconfig";
const FOR_PEOPLE: &str = "c-user-kubeconfig";

fn text(world: &World, name: &str) -> String {
    let secret: Secret = world.server.get(NS, name).unwrap();
    String::from_utf8(secret.data.unwrap()[SECRET_VALUE_KEY].0.clone()).unwrap()
}

/// Panics unless it is as Cluster API, its cache, `clusterctl move` and the garbage collector want it.
fn is_right(world: &World, name: &str) {
    let secret: Secret = world.server.get(NS, name).unwrap();
    assert_eq!(secret.type_.as_deref(), Some(CLUSTER_SECRET_TYPE));
    assert_eq!(secret.labels().get(CLUSTER_NAME_LABEL).map(String::as_str), Some(CLUSTER));
    let owners: Vec<&str> = secret.owner_references().iter().map(|owner| owner.kind.as_str()).collect();
    assert_eq!(owners, ["FooControlPlane"]);
}

/// How often the manager wrote Secrets since the last [`World::forgets`].
fn writes(world: &World) -> usize {
    let requests = world.server.requests().client(MANAGER).kind("Secret");
    requests.writes().count()
}

#[tokio::test(start_paused = true)]
async fn both_kubeconfigs_are_created_for_their_readers() {
    let world = World::of_eks(json!({})).await;
    is_right(&world, SECRET);
    is_right(&world, FOR_PEOPLE);
    let config = Kubeconfig::from_yaml(&text(&world, FOR_PEOPLE)).unwrap();
    let exec = config.auth_infos[0].auth_info.as_ref().unwrap().exec.as_ref().unwrap();
    assert!(exec.args.as_ref().unwrap().contains(&NAME.to_owned()), "{exec:?}");
    let server = config.clusters[0].cluster.as_ref().unwrap().server.clone().unwrap();
    assert!(server.starts_with("https://") && server.ends_with(".eks.amazonaws.com:443"), "{server}");
}

#[tokio::test(start_paused = true)]
async fn both_kubeconfigs_get_the_version_of_their_owner_back() {
    let world = World::of_eks(json!({})).await;
    for name in [SECRET, FOR_PEOPLE] {
        let old = |secret: &mut Secret| {
            secret.owner_references_mut()[0].api_version = "controlplane.foo.com/v1alpha0".to_owned();
        };
        world.server.edit(NS, name, old).unwrap();
        world.waits(Duration::from_mins(10)).await;
        is_right(&world, name);
        let secret: Secret = world.server.get(NS, name).unwrap();
        assert_eq!(secret.owner_references()[0].api_version, "controlplane.foo.com/v1alpha1", "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_token_is_renewed_by_the_clock_and_nothing_else_is_written() {
    let world = World::of_eks(json!({})).await;
    world.waits(Duration::from_mins(2)).await;
    world.forgets();
    world.waits(Duration::from_hours(1)).await;
    let written = writes(&world);
    println!("EKS: {written} writes of Secrets in an hour of tokens");
    assert!((7..=8).contains(&written), "{written} in an hour");
    assert!(world.eks_state("Available").starts_with("True"), "{}", world.eks_summary());
    let calls = world.aws_calls();
    let all: u64 = calls.values().sum();
    println!("EKS: {all} calls of AWS in an idle hour: {calls:?}");
    assert!(all <= 13, "one in five minutes, at both ends of the hour: {calls:?}");
}

#[tokio::test(start_paused = true)]
async fn a_token_stays_valid_while_the_manager_is_down_for_five_minutes() {
    for minutes in 1..=9 {
        let mut world = World::of_eks(json!({})).await;
        world.waits(Duration::from_mins(minutes)).await;
        world.kills_the_manager();
        world.waits(Duration::from_mins(5)).await;
        let ends = ends(&world);
        assert!(ends > world.aws.now().0, "after {minutes} minutes");
    }
}

/// When the token in the Secret ends, in milliseconds.
fn ends(world: &World) -> i64 {
    let secret: Secret = world.server.get(NS, SECRET).unwrap();
    let ends = secret.annotations()["infrastructure.foo.com/token-expires"].parse::<jiff::Timestamp>();
    ends.unwrap().as_millisecond()
}

#[tokio::test(start_paused = true)]
async fn changes_of_users_are_repaired() {
    let world = World::of_eks(json!({})).await;
    for name in [SECRET, FOR_PEOPLE] {
        let before = text(&world, name);
        let corrupt = |secret: &mut Secret| {
            secret.labels_mut().insert(CLUSTER_NAME_LABEL.to_owned(), CLUSTER.to_owned());
            secret.owner_references_mut().clear();
        };
        world.server.edit(NS, name, corrupt).unwrap();
        world.waits(Duration::from_mins(2)).await;
        is_right(&world, name);
        let unlabel = |secret: &mut Secret| drop(secret.labels_mut().remove(CLUSTER_NAME_LABEL));
        world.server.edit(NS, name, unlabel).unwrap();
        world.waits(Duration::from_mins(2)).await;
        is_right(&world, name);
        world.server.delete::<Secret>(NS, name).unwrap();
        world.waits(Duration::from_mins(2)).await;
        is_right(&world, name);
        assert_eq!(text(&world, name) == before, name == FOR_PEOPLE, "only a token is new");
    }
    assert!(world.eks_state("KubeconfigReady").starts_with("True"));
}

#[tokio::test(start_paused = true)]
async fn a_changed_token_is_replaced_before_it_would_expire() {
    let world = World::of_eks(json!({})).await;
    let wrong = text(&world, SECRET).replace("k8s-aws-v1.", "k8s-aws-v1.x");
    let corrupt = |secret: &mut Secret| {
        secret.data.as_mut().unwrap().get_mut(SECRET_VALUE_KEY).unwrap().0 = wrong.clone().into_bytes();
    };
    world.server.edit(NS, SECRET, corrupt).unwrap();
    world.waits(Duration::from_mins(1)).await;
    assert!(!text(&world, SECRET).contains("k8s-aws-v1.x"), "{}", text(&world, SECRET));
    assert!(world.eks_state("Available").starts_with("True"), "{}", world.eks_summary());
}

#[tokio::test(start_paused = true)]
async fn a_secret_of_another_owner_is_not_changed() {
    let world = World::fast_eks();
    let mut foreign = objects::secret(SECRET, b"foreign");
    foreign.type_ = Some(CLUSTER_SECRET_TYPE.to_owned());
    world.has(&foreign);
    world.begins_eks("v1.34.0", json!({}));
    let state_of = || world.eks_state("KubeconfigReady");
    world.until("it is reported", || state_of() == "False KubeconfigSecretNotOwned").await;
    assert!(world.eks_state("Available").starts_with("False KubeconfigSecretNotOwned"));
    assert_eq!(text(&world, SECRET), "foreign");
    world.server.delete::<Secret>(NS, SECRET).unwrap();
    world.eks_is_ready().await;
}

/// EKS does not respond for an hour; Cluster API continues with tokens, for which EKS is not needed.
#[tokio::test(start_paused = true)]
async fn tokens_are_renewed_during_an_outage_of_eks() {
    let mut world = World::of_eks(json!({})).await;
    for action in ["DescribeCluster", "ListAddons", "ListAccessEntries"] {
        world.aws.add_fault(foo_simulator_core::FaultRule::on(action, foo_simulator_core::Fault::Throttled));
    }
    world.waits_long(Duration::from_mins(20)).await;
    assert!(world.eks_state("Available").starts_with("True"), "{}", world.eks_summary());
    world.kills_the_manager();
    world.starts_the_manager();
    world.waits_long(Duration::from_mins(20)).await;
    assert!(world.eks_state("Available").starts_with("True"), "{}", world.eks_summary());
    assert!(ends(&world) > world.aws.now().0);
}

#[tokio::test(start_paused = true)]
async fn lost_access_to_an_api_server_is_reported_and_the_entry_restored() {
    let world = World::of_eks(json!({})).await;
    let arn = "arn:aws:iam::123456789012:user/manager";
    assert!(world.eks_cluster().entries.contains_key(arn), "{:?}", world.eks_cluster().entries.keys());
    world.region.with(|region| region.delete_access_entry(NAME, arn)).unwrap().unwrap();
    world.until("it is reported", || world.eks_state("Available") == "False WaitingForAccess").await;
    let object: FooControlPlane = world.eks_object();
    assert_eq!(object.status.unwrap().initialization.unwrap().control_plane_initialized, Some(true));
    world.until("it is there again", || world.eks_state("Available").starts_with("True")).await;
}

#[tokio::test(start_paused = true)]
async fn a_control_plane_of_the_other_mode_keeps_its_controller() {
    let world = World::fast_eks();
    world.begins_eks("v1.34.0", json!({}));
    let mut other = control_plane("other", "v1.34.0", json!({}));
    other.spec.eks = None;
    other.spec.external =
        Some(serde_json::from_value(json!({ "kubeconfigSecretRef": { "name": "k" } })).unwrap());
    world.has(&other);
    world.eks_is_ready().await;
    assert_eq!(world.eks_condition("other", "Available").0, "False WaitingForCluster");
    assert_eq!(world.eks_condition("other", "ClusterReady").0, "", "it has the conditions of its mode");
}

/// EKS lists an access policy before the cluster's API server knows it.
#[tokio::test(start_paused = true)]
async fn available_and_access_ready_wait_until_the_credentials_work_at_the_api_server() {
    let world = World::fast_eks();
    let late = |settings: &mut foo_simulator_core::core::Settings| {
        settings.eks.policies_apply_after = Duration::from_mins(3);
    };
    world.region.change_settings(late).unwrap();
    world.begins_eks("v1.34.0", json!({}));
    let arn = "arn:aws:iam::123456789012:user/manager";
    let listed = || {
        let cluster = world.region.cluster(NAME);
        cluster.and_then(|it| it.entries.get(arn).map(|it| it.policies.len())) == Some(1)
    };
    world.until("EKS lists the policy", listed).await;
    world.waits(Duration::from_mins(1)).await;
    for kind in ["Available", "AccessReady", "Ready", "Initialized"] {
        assert_eq!(world.eks_state(kind), "False WaitingForAccess", "{kind}: {}", world.eks_summary());
    }
    let message = world.eks_condition(CLUSTER, "Available").1;
    assert!(message.contains("list nodes") && message.contains("waiting for EKS"), "{message}");
    assert_eq!(world.eks_object().status.unwrap().initialized, Some(false));
    let version = world.server.resource_version();
    world.waits(Duration::from_secs(30)).await;
    assert_eq!(world.server.resource_version(), version, "nothing is written while it waits");
    world.eks_is_ready().await;
    assert_eq!(world.eks_object().status.unwrap().initialized, Some(true));
}

/// What a tenant's API server does is not in our hands.
#[tokio::test(start_paused = true)]
async fn an_api_server_that_never_responds_stalls_no_pass() {
    for unresponsive in ["all", "reviews"] {
        let world = World::fast_eks();
        world.begins_eks(
            "v1.34.0",
            json!({ "tags": { "unresponsive": unresponsive }, "addons": [{ "name": "vpc-cni" }] }),
        );
        let (mut cluster, infrastructure) = objects::another_cluster("d", None);
        super::refers(&mut cluster);
        world.has(&cluster);
        world.has(&infrastructure);
        world.has(&control_plane("d", "v1.34.0", json!({})));
        let ready = |kind: &str| world.eks_condition("d", kind).0.starts_with("True");
        world.until("the other one is ready", || ready("Ready") && ready("AccessReady")).await;
        let state_of = |kind: &str| world.eks_state(kind).starts_with("True");
        world.until("what AWS does is done", || state_of("ClusterReady") && state_of("AddonsReady")).await;
        world.waits(Duration::from_mins(1)).await;
        assert_eq!(world.eks_state("Available"), "False ApiServerUnreachable", "{unresponsive}");
        assert_eq!(world.eks_state("AccessReady"), "Unknown NotVerified", "{unresponsive}");
        let message = world.eks_condition(CLUSTER, "Available").1;
        assert!(message.ends_with("did not respond within 5 s"), "{message}");
    }
}
