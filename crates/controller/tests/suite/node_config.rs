//! FooNodeConfigs: user data of a MachinePool, from what the control plane reports.

use crate::support::{CLUSTER, NS, Pool, World, objects};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foo_api::capi::{Cluster, ContractReference, MachinePool};
use foo_api::control_plane::EksStatus;
use foo_api::names::{
    BOOTSTRAP_GROUP, CLUSTER_NAME_LABEL, CLUSTER_SECRET_TYPE, CONTROL_PLANE_GROUP, PAUSED_ANNOTATION,
    SECRET_VALUE_KEY,
};
use foo_api::node_config::{Family, KubeletSettings, VpcCni};
use foo_api::pool::{Ami, ImageFamily, NetworkInterface, RecommendedImage};
use foo_api::shared::ApiEndpoint;
use foo_api::{FooControlPlane, FooMachinePoolSpec, FooNodeConfig, FooNodeConfigSpec, FooNodeConfigStatus};
use foo_bootstrap::{Seen, read};
use foo_model::names::WAITS_IN_WARM_POOL_ANNOTATION;
use foo_simulator_core::core::catalogue::IMAGE_X86_64;
use foo_simulator_core::{Fault, FaultRule};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use serde_json::{Value, json};
use std::time::Duration;

/// Name of the pool, of its configuration and of the Secret.
const POOL: &str = "workers";
const PEM: &str = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
/// The SSM parameter of Bottlerocket's recommended image.
const BOTTLEROCKET: &str = "/aws/service/bottlerocket/aws-k8s-1.36/x86_64/latest/image_id";

/// A cluster with a FooControlPlane, whose reports only the test writes.
async fn world(control_plane: Value) -> World {
    let mut world = World::new().await;
    world.restarts_the_manager_without_eks();
    let spec = serde_json::from_value(control_plane).unwrap();
    let mut plane = objects::placed(FooControlPlane::new(CLUSTER, spec));
    plane.annotations_mut().insert(PAUSED_ANNOTATION.to_owned(), String::new());
    plane.labels_mut().insert(CLUSTER_NAME_LABEL.to_owned(), CLUSTER.to_owned());
    world.has(&plane);
    let named = |cluster: &mut Cluster| {
        let mut reference = objects::reference("FooControlPlane", CLUSTER);
        CONTROL_PLANE_GROUP.clone_into(&mut reference.api_group);
        cluster.spec.control_plane_ref = Some(reference);
    };
    world.server.edit(NS, CLUSTER, named).unwrap();
    world
}

/// The same with an EKS cluster that is there.
async fn eks_world() -> World {
    let world =
        world(json!({"version": "v1.36.3", "eks": {"roleARN": "arn:aws:iam::123456789012:role/eks"}})).await;
    world.server.edit(NS, CLUSTER, |plane: &mut FooControlPlane| reports(plane, PEM)).unwrap();
    world
}

/// The control plane reports an EKS cluster with these certificates.
fn reports(plane: &mut FooControlPlane, certificates: &str) {
    let host = "ABC.gr7.eu-central-1.eks.amazonaws.com".to_owned();
    plane.spec.control_plane_endpoint = Some(ApiEndpoint { host, port: 443 });
    let status = plane.status.get_or_insert_default();
    status.external_managed_control_plane = Some(true);
    status.eks = Some(EksStatus {
        name: Some("shop".to_owned()),
        certificate_authority: Some(BASE64.encode(certificates)),
        service_cidr: Some("10.100.0.0/16".to_owned()),
        ..EksStatus::default()
    });
}

fn spec(fields: Value) -> FooNodeConfigSpec {
    serde_json::from_value(fields).unwrap()
}

/// A MachinePool that names this configuration, both made by the user.
fn begins(world: &World, fields: Value) -> Pool<'_> {
    world.has(&objects::placed(FooNodeConfig::new(POOL, spec(fields))));
    let pool = world.pool(POOL).without_secret(2);
    pool.edits_machine_pool(|pool| {
        let bootstrap = &mut pool.spec.template.spec.bootstrap;
        bootstrap.data_secret_name = None;
        bootstrap.config_ref = Some(reference());
    });
    pool
}

/// The same, idle with its two instances.
async fn rests(world: &World, fields: Value) -> Pool<'_> {
    let pool = begins(world, fields);
    world.settles().await;
    pool.is_of(2);
    pool
}

fn reference() -> ContractReference {
    ContractReference {
        api_group: BOOTSTRAP_GROUP.to_owned(),
        kind: "FooNodeConfig".to_owned(),
        name: POOL.to_owned(),
    }
}

fn edits(world: &World, change: impl FnOnce(&mut FooNodeConfigSpec)) {
    world.server.edit(NS, POOL, |config: &mut FooNodeConfig| change(&mut config.spec)).unwrap();
}

fn recommended(family: ImageFamily) -> Ami {
    Ami { recommended: Some(RecommendedImage { family, variant: None }), ..Ami::default() }
}

fn status(world: &World) -> FooNodeConfigStatus {
    world.server.get::<FooNodeConfig>(NS, POOL).unwrap().status.unwrap_or_default()
}

/// `status reason` of a condition, and its message.
fn state_of(world: &World, kind: &str) -> (String, String) {
    let found = status(world).conditions.into_iter().find(|condition| condition.type_ == kind).unwrap();
    (format!("{} {}", found.status, found.reason), found.message)
}

fn is_refused(world: &World, reason: &str, words: &str) {
    for kind in ["Ready", "DataSecretAvailable"] {
        let (reported, message) = state_of(world, kind);
        assert_eq!(reported, format!("False {reason}"), "{message}");
        assert!(message.contains(words), "{message}");
    }
    assert_eq!(status(world).data_secret_name, None);
    assert!(world.server.get::<Secret>(NS, POOL).is_none());
}

fn secret(world: &World) -> Secret {
    world.server.get(NS, POOL).unwrap()
}

fn user_data(world: &World) -> Vec<u8> {
    secret(world).data.unwrap()[SECRET_VALUE_KEY].0.clone()
}

/// What a node of the family takes from the Secret.
fn seen(world: &World, family: foo_bootstrap::Family) -> Seen {
    read(family, &user_data(world)).unwrap()
}

#[tokio::test(start_paused = true)]
async fn nodes_of_an_eks_cluster_get_the_facts_that_it_reports() {
    let world = eks_world().await;
    rests(&world, json!({"family": "AL2023", "labels": {"team": "a"}, "kubelet": {"maxPods": 58}})).await;
    let seen = seen(&world, foo_bootstrap::Family::AL2023);
    assert_eq!(seen.cluster, "shop");
    assert_eq!(seen.endpoint, "https://ABC.gr7.eu-central-1.eks.amazonaws.com");
    assert_eq!(seen.labels.get("team").map(String::as_str), Some("a"));
    let status = status(&world);
    assert_eq!(status.data_secret_name.as_deref(), Some(POOL));
    assert_eq!((status.ready, status.initialization.unwrap().data_secret_created), (Some(true), Some(true)));
    assert_eq!(status.user_data_bytes, i32::try_from(user_data(&world).len()).ok());
    for (kind, reported) in [
        ("Ready", "True UserDataReady"),
        ("DataSecretAvailable", "True DataSecretWritten"),
        ("Paused", "False NotPaused"),
        ("Deleting", "False NotDeleting"),
    ] {
        assert_eq!(state_of(&world, kind).0, reported);
    }
    let secret = secret(&world);
    assert_eq!(secret.type_.as_deref(), Some(CLUSTER_SECRET_TYPE));
    assert_eq!(secret.labels().get(CLUSTER_NAME_LABEL).map(String::as_str), Some(CLUSTER));
    let owner = &secret.owner_references()[0];
    assert_eq!((owner.kind.as_str(), owner.controller), ("FooNodeConfig", Some(true)));
    assert_eq!(secret.data.unwrap().len(), 1, "the contract has a single key");
}

#[tokio::test(start_paused = true)]
async fn an_idle_pool_keeps_its_user_data_and_an_edit_replaces_its_nodes() {
    let world = eks_world().await;
    let pool = rests(&world, json!({"family": "AL2023"})).await;
    let (before, written) = (pool.instances(), secret(&world).resource_version());
    world.waits_long(Duration::from_hours(3)).await;
    assert_eq!(secret(&world).resource_version(), written, "written once");
    assert_eq!(pool.instances(), before);

    edits(&world, |spec| drop(spec.labels.insert("team".to_owned(), "b".to_owned())));
    world.settles().await;
    let after = pool.instances();
    assert_eq!(after.len(), 2);
    assert!(after.iter().all(|id| !before.contains(id)), "Nodes have the new label: {before:?} {after:?}");
}

#[tokio::test(start_paused = true)]
async fn a_second_authority_of_the_cluster_reaches_the_nodes() {
    let world = eks_world().await;
    rests(&world, json!({"family": "Bottlerocket"})).await;
    let both = format!("{PEM}{}", PEM.replace("MIIB", "MIIC"));
    world.server.edit(NS, CLUSTER, |plane: &mut FooControlPlane| reports(plane, &both)).unwrap();
    world.settles().await;
    let text = String::from_utf8(user_data(&world)).unwrap();
    assert!(text.contains(&BASE64.encode(&both)), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_fact_that_the_control_plane_does_not_report_is_named() {
    let world =
        world(json!({"version": "v1.36.3", "eks": {"roleARN": "arn:aws:iam::123456789012:role/eks"}})).await;
    begins(&world, json!({"family": "AL2023"}));
    world.settles().await;
    is_refused(&world, "WaitingForClusterFacts", "does not report status.eks.name yet");
    let without_range = |plane: &mut FooControlPlane| {
        reports(plane, PEM);
        plane.status.as_mut().unwrap().eks.as_mut().unwrap().service_cidr = None;
    };
    world.server.edit(NS, CLUSTER, without_range).unwrap();
    world.settles().await;
    is_refused(&world, "WaitingForClusterFacts", "does not report status.eks.serviceCIDR yet");
    world.server.edit(NS, CLUSTER, |plane: &mut FooControlPlane| reports(plane, PEM)).unwrap();
    world.settles().await;
    assert_eq!(state_of(&world, "Ready").0, "True UserDataReady");
}

/// A kubeconfig as Cluster API has it.
fn kubeconfig(authority: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Config, current-context: x, \
         clusters: [{{name: c, cluster: {{server: 'https://10.0.0.9:6443'{authority}}}}}], \
         users: [{{name: u, user: {{token: t}}}}], \
         contexts: [{{name: x, context: {{cluster: c, user: u}}}}]}}"
    )
}

#[tokio::test(start_paused = true)]
async fn nodes_of_an_external_control_plane_get_the_facts_of_its_kubeconfig_and_cluster() {
    let external = json!({"version": "v1.36.3", "external": {"kubeconfigSecretRef": {"name": "k"}}});
    let world = world(external).await;
    begins(&world, json!({"family": "AL2023"}));
    world.settles().await;
    is_refused(
        &world,
        "WaitingForClusterFacts",
        "Secret c-kubeconfig with the kubeconfig does not exist yet",
    );
    world.has(&objects::secret("c-kubeconfig", kubeconfig("").as_bytes()));
    world.settles().await;
    is_refused(&world, "ClusterFactMissing", "no certificate-authority-data");
    let authority = format!(", certificate-authority-data: {}", BASE64.encode(PEM));
    let whole = objects::secret("c-kubeconfig", kubeconfig(&authority).as_bytes());
    world.server.edit(NS, "c-kubeconfig", |it: &mut Secret| it.data.clone_from(&whole.data)).unwrap();
    world.settles().await;
    is_refused(&world, "ClusterFactMissing", "set spec.clusterNetwork.services.cidrBlocks of Cluster c");
    let range = |cluster: &mut Cluster| {
        let network = json!({"services": {"cidrBlocks": ["172.20.0.0/16"]}});
        cluster.spec.cluster_network = Some(serde_json::from_value(network).unwrap());
    };
    world.server.edit(NS, CLUSTER, range).unwrap();
    world.settles().await;
    is_refused(&world, "ClusterFactMissing", "set spec.cluster.name");
    edits(&world, |of| of.cluster = spec(json!({"family": "AL2023", "cluster": {"name": "legacy"}})).cluster);
    world.settles().await;
    let seen = seen(&world, foo_bootstrap::Family::AL2023);
    assert_eq!(seen.endpoint, "https://10.0.0.9:6443");
    assert_eq!(seen.cluster, "legacy");
}

#[tokio::test(start_paused = true)]
async fn another_name_than_that_of_the_eks_cluster_is_refused() {
    let world = eks_world().await;
    begins(&world, json!({"family": "AL2023", "cluster": {"name": "other"}}));
    world.settles().await;
    is_refused(&world, "NodeConfigInvalid", "the EKS cluster is named shop");
    edits(&world, |of| of.cluster = spec(json!({"family": "AL2023", "cluster": {"name": "shop"}})).cluster);
    world.settles().await;
    assert_eq!(state_of(&world, "Ready").0, "True UserDataReady");
}

#[tokio::test(start_paused = true)]
async fn all_mistakes_are_reported_at_once_and_the_former_user_data_stays() {
    let world = eks_world().await;
    let pool = rests(&world, json!({"family": "CloudInit"})).await;
    let (before, nodes) = (user_data(&world), pool.instances());
    edits(&world, |of| {
        of.labels.insert("kubernetes.io/role".to_owned(), "x".to_owned());
        of.extra = Some("runcmd: [ls]".to_owned());
    });
    world.settles().await;
    let (reported, message) = state_of(&world, "Ready");
    assert_eq!(reported, "False NodeConfigInvalid");
    for words in
        ["spec.labels[kubernetes.io/role]: a kubelet may not set", "spec.extra.runcmd: is written from"]
    {
        assert!(message.contains(words), "{message}");
    }
    assert_eq!(state_of(&world, "DataSecretAvailable").0, "True DataSecretOutdated");
    let status = status(&world);
    assert_eq!(status.initialization.unwrap().data_secret_created, Some(true), "it stays true");
    assert_eq!((user_data(&world), pool.instances()), (before, nodes));
    assert_eq!(world.notes("NodeConfigInvalid").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn user_data_that_is_too_long_for_a_launch_template_is_reported_by_the_pool_and_fits_with_gzip() {
    let world = eks_world().await;
    let long = "x".repeat(20_000);
    begins(&world, json!({"family": "AL2023", "files": [{"path": "/a", "content": long}]}));
    let pool = world.pool(POOL);
    world.settles().await;
    assert_eq!(
        state_of(&world, "Ready").0,
        "True UserDataReady",
        "whether it is too long depends on the pool"
    );
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False UserDataTooLarge");
    edits(&world, |of| of.compression = foo_api::node_config::Compression::Gzip);
    world.settles().await;
    assert!(user_data(&world).starts_with(&[0x1f, 0x8b]));
    pool.is_of(2);
    assert_eq!(pool.state_of("LaunchTemplateReady"), "True");
    seen(&world, foo_bootstrap::Family::AL2023);
}

#[tokio::test(start_paused = true)]
async fn a_configuration_that_no_machine_pool_names_gets_no_user_data() {
    let world = eks_world().await;
    world.has(&objects::placed(FooNodeConfig::new(POOL, spec(json!({"family": "AL2023"})))));
    world.settles().await;
    is_refused(&world, "WaitingForMachinePool", "no MachinePool owns this FooNodeConfig yet");
    // An owner alone proves nothing.
    world.has(&objects::machine_pool("other", 0));
    let other: MachinePool = world.server.get(NS, "other").unwrap();
    let owned = |config: &mut FooNodeConfig| {
        config.metadata.owner_references = Some(kube::Resource::owner_ref(&other, &()).into_iter().collect());
    };
    world.server.edit(NS, POOL, owned).unwrap();
    world.settles().await;
    is_refused(&world, "WaitingForMachinePool", "MachinePool other does not name it");
}

#[tokio::test(start_paused = true)]
async fn a_secret_of_another_owner_is_unchanged() {
    let world = eks_world().await;
    world.has(&objects::secret(POOL, b"foreign"));
    begins(&world, json!({"family": "AL2023"}));
    world.settles().await;
    assert_eq!(state_of(&world, "Ready").0, "False DataSecretNotOwned");
    assert_eq!(user_data(&world), b"foreign");
    world.server.delete::<Secret>(NS, POOL).unwrap();
    world.settles().await;
    assert_eq!(state_of(&world, "Ready").0, "True UserDataReady");
}

#[tokio::test(start_paused = true)]
async fn the_secret_is_kept_as_cluster_api_needs_it() {
    let world = eks_world().await;
    rests(&world, json!({"family": "AL2023"})).await;
    let right = secret(&world);
    let spoils: [fn(&mut Secret); 4] = [
        |secret| drop(secret.labels_mut().remove(CLUSTER_NAME_LABEL)),
        |secret| secret.owner_references_mut().clear(),
        // Of a version that is not served: Kubernetes would never collect the Secret.
        |secret| secret.owner_references_mut()[0].api_version = "bootstrap.foo.com/v1alpha0".to_owned(),
        |secret| {
            drop(
                secret.data.as_mut().unwrap().insert(SECRET_VALUE_KEY.to_owned(), ByteString(b"x".to_vec())),
            );
        },
    ];
    for corrupt in spoils {
        world.server.edit(NS, POOL, corrupt).unwrap();
        world.settles().await;
        let there = secret(&world);
        assert_eq!(there.data, right.data);
        assert_eq!(there.labels(), right.labels());
        assert_eq!(there.owner_references(), right.owner_references());
    }
    world.server.delete::<Secret>(NS, POOL).unwrap();
    world.settles().await;
    assert_eq!(secret(&world).data, right.data);
}

/// The annotation by which the pool may get a warm pool.
fn annotation(world: &World) -> Option<String> {
    secret(world).annotations().get(WAITS_IN_WARM_POOL_ANNOTATION).cloned()
}

/// The user data no longer waits, and the Secret says so from the same moment on: a pool that read it in between would get a
/// warm pool of instances that join.
async fn no_longer_waits(world: &World) {
    world.forgets();
    edits(world, |spec| spec.join_when_in_service = false);
    world.settles().await;
    assert_ne!(annotation(world).as_deref(), Some("true"));
    assert!(!seen(world, foo_bootstrap::Family::AL2023).join_when_in_service);
    assert_eq!(world.requests().writes().kind("Secret").name(POOL).changing().count(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_secret_shows_whether_its_user_data_waits_in_a_warm_pool() {
    let world = eks_world().await;
    rests(&world, json!({"family": "AL2023"})).await;
    let at_once = user_data(&world);
    assert_eq!(annotation(&world), None);
    edits(&world, |spec| spec.join_when_in_service = true);
    world.settles().await;
    assert_eq!(annotation(&world).as_deref(), Some("true"));
    assert!(seen(&world, foo_bootstrap::Family::AL2023).join_when_in_service);
    let removed = |secret: &mut Secret| drop(secret.annotations_mut().remove(WAITS_IN_WARM_POOL_ANNOTATION));
    world.server.edit(NS, POOL, removed).unwrap();
    world.settles().await;
    assert_eq!(annotation(&world).as_deref(), Some("true"), "it is repaired");
    no_longer_waits(&world).await;
    assert_eq!(user_data(&world), at_once);
    let wrong = |secret: &mut Secret| {
        secret.annotations_mut().insert(WAITS_IN_WARM_POOL_ANNOTATION.to_owned(), "true".to_owned());
    };
    world.server.edit(NS, POOL, wrong).unwrap();
    world.settles().await;
    assert_ne!(annotation(&world).as_deref(), Some("true"), "nor does it say so of other user data");
}

/// The annotation has another owner besides the provider then.
#[tokio::test(start_paused = true)]
async fn the_annotation_of_a_restored_secret_changes_together_with_its_user_data() {
    let world = eks_world().await;
    rests(&world, json!({"family": "AL2023", "joinWhenInService": true})).await;
    let mut backup = secret(&world);
    backup.metadata.owner_references = None;
    backup.metadata.uid = None;
    backup.metadata.resource_version = None;
    backup.metadata.managed_fields = None;
    world.server.delete::<Secret>(NS, POOL).unwrap();
    world.has(&backup);
    world.settles().await;
    assert_eq!(secret(&world).owner_references().len(), 1, "the provider has taken it over");
    no_longer_waits(&world).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_while_it_is_paused() {
    let world = eks_world().await;
    rests(&world, json!({"family": "AL2023"})).await;
    let before = user_data(&world);
    let pause = |paused: bool| {
        world.server.edit(NS, CLUSTER, |cluster: &mut Cluster| cluster.spec.paused = Some(paused)).unwrap();
    };
    pause(true);
    world.settles().await;
    edits(&world, |spec| spec.family = Some(Family::Bottlerocket));
    world.settles().await;
    assert_eq!(state_of(&world, "Paused").0, "True Paused");
    assert_eq!(state_of(&world, "Ready").0, "True UserDataReady", "as it was found before");
    assert_eq!(user_data(&world), before);
    pause(false);
    world.settles().await;
    assert_ne!(user_data(&world), before);
    assert_eq!(state_of(&world, "Paused").0, "False NotPaused");
}

#[tokio::test(start_paused = true)]
async fn a_deletion_that_others_delay_is_reported() {
    let world = eks_world().await;
    let pool = rests(&world, json!({"family": "AL2023"})).await;
    let hold = |config: &mut FooNodeConfig| config.finalizers_mut().push("example.com/hold".to_owned());
    world.server.edit(NS, POOL, hold).unwrap();
    pool.is_deleted();
    world.settles().await;
    assert_eq!(state_of(&world, "Ready").0, "False Deleting");
    let (reported, message) = state_of(&world, "Deleting");
    assert_eq!(reported, "True WaitingForFinalizers");
    assert!(message.contains("example.com/hold"), "{message}");
    world.server.edit(NS, POOL, |config: &mut FooNodeConfig| config.finalizers_mut().clear()).unwrap();
    world.settles().await;
    assert!(world.server.get::<FooNodeConfig>(NS, POOL).is_none());
}

const AUTOSCALED: [&str; 2] = [
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size",
    "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size",
];

fn is_scaled_by_the_autoscaler(pool: &Pool<'_>) {
    for name in AUTOSCALED {
        pool.annotates_machine_pool(name, "3");
    }
}

/// An annotation of the MachinePool from which cluster-autoscaler reads.
fn of_new_nodes(pool: &Pool<'_>, name: &str) -> Option<String> {
    pool.machine_pool()
        .annotations()
        .get(&format!("capacity.cluster-autoscaler.kubernetes.io/{name}"))
        .cloned()
}

#[tokio::test(start_paused = true)]
async fn labels_and_taints_reach_an_autoscaler_that_scales_from_zero() {
    let world = eks_world().await;
    let taints = json!([{"key": "dedicated", "value": "batch", "effect": "NoSchedule"}]);
    let fields =
        json!({"family": "AL2023", "labels": {"team": "a"}, "taints": taints, "kubelet": {"maxPods": 58}});
    let pool = rests(&world, fields).await;
    assert_eq!(of_new_nodes(&pool, "labels"), None, "cluster-autoscaler does not scale it");
    is_scaled_by_the_autoscaler(&pool);
    world.settles().await;
    let all = ["labels", "taints", "maxPods"].map(|name| of_new_nodes(&pool, name).unwrap_or_default());
    assert_eq!(all, ["team=a", "dedicated=batch:NoSchedule", "58"]);
    edits(&world, |of| {
        of.labels.insert("zone".to_owned(), "x".to_owned());
        of.taints.clear();
    });
    world.settles().await;
    assert_eq!(of_new_nodes(&pool, "labels").as_deref(), Some("team=a,zone=x"));
    assert_eq!(of_new_nodes(&pool, "taints"), None, "it is removed with the last taint");
}

#[tokio::test(start_paused = true)]
async fn annotations_of_the_user_for_the_autoscaler_stay_without_repeated_writes() {
    let world = eks_world().await;
    let pool =
        begins(&world, json!({"family": "AL2023", "labels": {"team": "a"}, "kubelet": {"maxPods": 58}}));
    pool.annotates_machine_pool("capacity.cluster-autoscaler.kubernetes.io/labels", "team=b");
    is_scaled_by_the_autoscaler(&pool);
    world.settles().await;
    assert_eq!(of_new_nodes(&pool, "labels").as_deref(), Some("team=b"));
    assert_eq!(
        of_new_nodes(&pool, "maxPods").as_deref(),
        Some("58"),
        "one conflict does not keep the others away"
    );
    world.forgets();
    world.waits(Duration::from_hours(1)).await;
    assert_eq!(of_new_nodes(&pool, "labels").as_deref(), Some("team=b"));
}

/// The number of Pods that a node of the family takes from the Secret.
fn max_pods(world: &World, family: foo_bootstrap::Family) -> Option<i64> {
    seen(world, family).kubelet.get("maxPods").and_then(Value::as_i64)
}

/// An edit: the pool has several instance types, or attributes of them.
fn mixed(overrides: Value) -> impl FnOnce(&mut FooMachinePoolSpec) {
    move |spec: &mut FooMachinePoolSpec| {
        spec.instance_type = None;
        spec.mixed_instances = Some(serde_json::from_value(json!({"overrides": overrides})).unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn the_number_of_pods_follows_from_the_vpc_cni_and_the_smallest_instance_type() {
    let world = eks_world().await;
    let pool = rests(&world, json!({"family": "AL2023", "vpcCNI": {"customNetworking": true}})).await;
    is_scaled_by_the_autoscaler(&pool);
    world.settles().await;
    let al2023 = foo_bootstrap::Family::AL2023;
    assert_eq!(pool.status().max_pods.map(|known| known.standard), Some(29));
    assert_eq!(max_pods(&world, al2023), Some(20), "m7i.large has three interfaces with ten addresses");
    assert_eq!(of_new_nodes(&pool, "maxPods").as_deref(), Some("20"));

    let before = pool.instances();
    pool.edits(|spec| spec.instance_type = Some("m7i.xlarge".to_owned()));
    world.settles().await;
    assert_eq!(max_pods(&world, al2023), Some(44));
    assert_eq!(of_new_nodes(&pool, "maxPods").as_deref(), Some("44"));
    pool.is_of(2);
    assert!(pool.instances().iter().all(|id| !before.contains(id)), "Nodes have the new number");

    pool.edits(mixed(json!([{"instanceType": "m7i.xlarge"}, {"instanceType": "t3.medium"}])));
    world.settles().await;
    assert_eq!(max_pods(&world, al2023), Some(12), "that of t3.medium");
    edits(&world, |spec| spec.vpc_cni = Some(VpcCni { prefix_delegation: true, custom_networking: true }));
    world.settles().await;
    assert_eq!(max_pods(&world, al2023), Some(110));
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn the_number_of_pods_reaches_nodes_of_every_family() {
    let world = eks_world().await;
    let vpc_cni = Some(VpcCni { prefix_delegation: true, custom_networking: false });
    let pool = begins(&world, json!({}));
    pool.scales_to(0);
    for (family, rendered) in [
        (Family::AL2023, foo_bootstrap::Family::AL2023),
        (Family::Bottlerocket, foo_bootstrap::Family::Bottlerocket),
        (Family::CloudInit, foo_bootstrap::Family::CloudInit),
    ] {
        edits(&world, |spec| (spec.family, spec.vpc_cni) = (Some(family), vpc_cni));
        world.settles().await;
        assert_eq!(max_pods(&world, rendered), Some(110), "{family:?}");
        edits(&world, |spec| spec.vpc_cni = None);
        world.settles().await;
        assert_eq!(max_pods(&world, rendered), None, "the image of {family:?} finds it");
    }
    pool.edits(|spec| spec.network_interfaces = vec![NetworkInterface::default()]);
    world.settles().await;
    let number = max_pods(&world, foo_bootstrap::Family::CloudInit);
    assert_eq!(number, Some(20), "no image knows of interfaces that are not for Pods");
}

#[tokio::test(start_paused = true)]
async fn a_number_of_pods_is_not_guessed_without_the_instance_types() {
    let world = eks_world().await;
    let pool = begins(&world, json!({"family": "AL2023", "vpcCNI": {"prefixDelegation": true}}));
    pool.edits(|spec| spec.instance_type = Some("z9.huge".to_owned()));
    world.waits(Duration::from_mins(2)).await;
    is_refused(
        &world,
        "WaitingForFooMachinePool",
        "FooMachinePool workers does not report status.maxPods yet",
    );
    let attributes = json!({"vcpuCount": {"min": 2, "max": 4}, "memoryMiB": {"min": 4096}});
    pool.edits(mixed(json!([{"requirements": attributes}])));
    world.waits(Duration::from_mins(2)).await;
    is_refused(&world, "NodeConfigInvalid", "AWS chooses the instance types of FooMachinePool workers");
    edits(&world, |spec| {
        spec.vpc_cni = None;
        spec.kubelet = Some(KubeletSettings { max_pods: Some(30), ..KubeletSettings::default() });
    });
    world.settles().await;
    assert_eq!(max_pods(&world, foo_bootstrap::Family::AL2023), Some(30));
    pool.is_of(2);
}

/// Also of a manager that starts meanwhile.
#[tokio::test(start_paused = true)]
async fn the_number_of_pods_stays_while_ec2_does_not_describe_the_instance_types() {
    let mut world = eks_world().await;
    let pool = rests(&world, json!({"family": "AL2023", "vpcCNI": {"customNetworking": true}})).await;
    is_scaled_by_the_autoscaler(&pool);
    world.settles().await;
    let known = pool.status().max_pods;
    assert!(known.is_some());
    world.kills_the_manager();
    world.aws.add_fault(FaultRule::on("DescribeInstanceTypes", Fault::DroppedBefore));
    world.forgets();
    world.starts_the_manager();
    world.waits(Duration::from_mins(3)).await;
    let pool = world.pool(POOL);
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False AwsUnreachable", "{}", world.summary());
    assert_eq!(pool.status().max_pods, known);
    assert_eq!(state_of(&world, "Ready").0, "True UserDataReady");
    assert_eq!(of_new_nodes(&pool, "maxPods").as_deref(), Some("20"));
    for kind in ["FooNodeConfig", "Secret", "MachinePool"] {
        assert_eq!(world.requests().writes().kind(kind).changing().count(), 0, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_autoscaler_knows_the_number_of_pods_that_images_find_themselves() {
    let world = eks_world().await;
    world.region.publish_parameter(BOTTLEROCKET, IMAGE_X86_64).unwrap();
    let pool = begins(&world, json!({"family": "Bottlerocket"}));
    is_scaled_by_the_autoscaler(&pool);
    world.settles().await;
    assert_eq!(of_new_nodes(&pool, "maxPods"), None, "what an image of the user does is not known");
    pool.edits(|spec| spec.ami = recommended(ImageFamily::Bottlerocket));
    world.settles().await;
    assert_eq!(of_new_nodes(&pool, "maxPods").as_deref(), Some("29"));
    edits(&world, |spec| spec.extra = Some("[settings.kubernetes]\nmax-pods = 40\n".to_owned()));
    world.settles().await;
    assert_eq!(of_new_nodes(&pool, "maxPods"), None, "extra may have any number");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_launched_from_an_image_that_cannot_read_the_user_data() {
    let world = eks_world().await;
    world.region.publish_parameter(BOTTLEROCKET, IMAGE_X86_64).unwrap();
    let pool = begins(&world, json!({"family": "AL2023"}));
    pool.edits(|spec| spec.ami = recommended(ImageFamily::Bottlerocket));
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False ImageFamilyDiffers", "{}", world.summary());
    let message = pool.condition("LaunchTemplateReady").message;
    assert!(message.contains("whose spec.family has to be absent or Bottlerocket"), "{message}");
    assert_eq!(pool.instances().len(), 0);

    edits(&world, |spec| spec.family = Some(Family::Bottlerocket));
    world.settles().await;
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn the_family_of_user_data_is_that_of_the_recommended_image() {
    let world = eks_world().await;
    for path in [
        "/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id",
        BOTTLEROCKET,
    ] {
        world.region.publish_parameter(path, IMAGE_X86_64).unwrap();
    }
    let pool = begins(&world, json!({}));
    world.waits(Duration::from_mins(2)).await;
    is_refused(
        &world,
        "NodeConfigInvalid",
        "spec.family is required: FooMachinePool workers has no spec.ami.recommended",
    );

    for (image, family) in [
        (ImageFamily::Al2023, foo_bootstrap::Family::AL2023),
        (ImageFamily::Bottlerocket, foo_bootstrap::Family::Bottlerocket),
    ] {
        pool.edits(|spec| spec.ami = recommended(image));
        world.settles().await;
        pool.is_of(2);
        seen(&world, family);
    }
}
