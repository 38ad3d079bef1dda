//! What a tenant may try with the objects of one namespace: names that become other paths, Secrets and kubeconfigs of
//! others, permissions in AWS that were not granted on purpose.

use crate::support::{CLUSTER, NS, Pool, World, objects};
use foo_api::capi::Cluster;
use foo_api::control_plane::{External, SecretReference};
use foo_api::names::{CLUSTER_NAME_LABEL, CONTROL_PLANE_GROUP, SECRET_VALUE_KEY};
use foo_api::{FooCluster, FooControlPlane, FooControlPlaneSpec, FooMachine, FooMachineSpec};
use foo_apiserver_fake::Verb;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, OwnerReference};
use kube::ResourceExt as _;
use serde_json::{Value, json};
use std::time::Duration;

/// No server listens there.
const KUBECONFIG: &str = r"
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
";

/// A pool whose MachinePool names this Secret has no group and shows why; nothing but single Secrets was asked for.
async fn check_bootstrap_secret(world: &World, name: &str, reason: &str) {
    world.forgets();
    let pool = world.pool("p").without_secret(1);
    pool.edits_machine_pool(|pool| {
        pool.spec.template.spec.bootstrap.data_secret_name = Some(name.to_owned());
    });
    world.settles().await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), format!("False {reason}"), "{name}");
    assert!(pool.group().is_none());
    assert_eq!(world.aws_writes(), 0);
    let many = world.requests().kind("Secret").verb(Verb::List);
    assert!(many.is_empty(), "{many:?}");
}

#[tokio::test(start_paused = true)]
async fn invalid_names_of_secrets_never_become_paths() {
    for name in ["?x=", "?watch=true&x=", "../../kube-system/secrets/x", "a/b", ".", "%2e%2e", "A"] {
        let world = World::new().await;
        check_bootstrap_secret(&world, name, "BootstrapDataSecretNameInvalid").await;
        let live = world.requests().kind("Secret").verb(Verb::Get);
        assert!(live.is_empty(), "{live:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_kubeconfig_never_becomes_user_data() {
    let world = World::new().await;
    world.has(&objects::secret("other-kubeconfig", b"#cloud-config"));
    check_bootstrap_secret(&world, "other-kubeconfig", "BootstrapDataSecretNameInvalid").await;
    let world = World::new().await;
    let mut existing = objects::secret("existing", KUBECONFIG.as_bytes());
    existing.metadata.labels = None;
    world.has(&existing);
    check_bootstrap_secret(&world, "existing", "BootstrapDataNotAllowed").await;
}

#[tokio::test(start_paused = true)]
async fn bootstrap_data_are_refused_until_their_label_names_the_cluster() {
    let world = World::new().await;
    let mut foreign = objects::secret("p-boot", b"#cloud-config");
    foreign.labels_mut().insert(CLUSTER_NAME_LABEL.to_owned(), "other".to_owned());
    world.has(&foreign);
    check_bootstrap_secret(&world, "p-boot", "BootstrapDataNotAllowed").await;
    world
        .server
        .edit(NS, "p-boot", |secret: &mut Secret| {
            secret.labels_mut().insert(CLUSTER_NAME_LABEL.to_owned(), CLUSTER.to_owned());
        })
        .unwrap();
    world.settles().await;
    world.pool("p").is_of(1);
}

fn control_plane(name: &str, secret: &str) -> FooControlPlane {
    let reference = SecretReference { name: secret.to_owned() };
    let external = External { kubeconfig_secret_ref: reference };
    let spec = FooControlPlaneSpec {
        version: "v1.36.3".to_owned(),
        control_plane_endpoint: None,
        external: Some(external),
        eks: None,
    };
    objects::placed(FooControlPlane::new(name, spec))
}

fn names_its_control_plane(world: &World) {
    let named = |cluster: &mut Cluster| {
        let mut reference = objects::reference("FooControlPlane", CLUSTER);
        CONTROL_PLANE_GROUP.clone_into(&mut reference.api_group);
        cluster.spec.control_plane_ref = Some(reference);
    };
    world.server.edit(NS, CLUSTER, named).unwrap();
}

fn available(world: &World, name: &str) -> Condition {
    let control_plane: FooControlPlane = world.server.get(NS, name).unwrap();
    let conditions = control_plane.status.unwrap_or_default().conditions;
    conditions.into_iter().find(|condition| condition.type_ == "Available").unwrap()
}

fn kubeconfig(world: &World) -> Option<(Vec<u8>, Vec<OwnerReference>)> {
    let secret: Secret = world.server.get(NS, "c-kubeconfig")?;
    let owners = secret.owner_references().to_vec();
    Some((secret.data?.remove(SECRET_VALUE_KEY)?.0, owners))
}

#[tokio::test(start_paused = true)]
async fn the_kubeconfig_of_a_cluster_that_does_not_name_the_control_plane_is_not_changed() {
    let world = World::new().await;
    world.has(&objects::secret("mine", KUBECONFIG.as_bytes()));
    let cluster: Cluster = world.server.get(NS, CLUSTER).unwrap();
    let mut intruder = control_plane("intruder", "mine");
    let owner = |uid: String| OwnerReference {
        api_version: "cluster.x-k8s.io/v1beta2".to_owned(),
        kind: "Cluster".to_owned(),
        name: CLUSTER.to_owned(),
        uid,
        ..OwnerReference::default()
    };
    intruder.metadata.owner_references = Some(vec![owner(cluster.uid().unwrap())]);
    world.has(&intruder);
    world.settles().await;
    assert_eq!(available(&world, "intruder").reason, "WaitingForCluster");
    assert_eq!(kubeconfig(&world), None);
    // The same of a Cluster that would name it, but has another uid.
    let mut second = control_plane(CLUSTER, "mine");
    second.metadata.owner_references = Some(vec![owner("another".to_owned())]);
    world.has(&second);
    world.settles().await;
    assert_eq!(kubeconfig(&world), None);
}

#[tokio::test(start_paused = true)]
async fn a_kubeconfig_secret_of_another_owner_is_unchanged_until_it_is_deleted() {
    let world = World::new().await;
    let foreign = KUBECONFIG.replace("127.0.0.1", "10.0.0.1");
    world.has(&objects::secret("c-kubeconfig", foreign.as_bytes()));
    world.has(&objects::secret("mine", KUBECONFIG.as_bytes()));
    world.has(&control_plane(CLUSTER, "mine"));
    names_its_control_plane(&world);
    world.settles().await;
    let reported = available(&world, CLUSTER);
    assert_eq!((reported.status.as_str(), reported.reason.as_str()), ("False", "KubeconfigSecretNotOwned"));
    assert!(reported.message.contains("c-kubeconfig"), "{}", reported.message);
    assert_eq!(kubeconfig(&world), Some((foreign.into_bytes(), Vec::new())));
    let version = world.server.resource_version();
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(world.server.resource_version(), version, "status churn");
    world.server.delete::<Secret>(NS, "c-kubeconfig").unwrap();
    world.waits(Duration::from_mins(1)).await;
    let (text, owners) = kubeconfig(&world).unwrap();
    assert_eq!((text.as_slice(), owners.len()), (KUBECONFIG.as_bytes(), 1));
    // From then on it is kept as it must be.
    let rotated = KUBECONFIG.replace("token: t", "token: u");
    let edit = |secret: &mut Secret| {
        secret.data = objects::secret("mine", rotated.as_bytes()).data;
    };
    world.server.edit(NS, "mine", edit).unwrap();
    world.waits(Duration::from_mins(1)).await;
    assert_eq!(kubeconfig(&world).unwrap().0, rotated.as_bytes());
}

#[tokio::test(start_paused = true)]
async fn a_kubeconfig_reference_that_is_no_name_is_refused() {
    let world = World::new().await;
    world.has(&control_plane(CLUSTER, "?watch=true&x="));
    names_its_control_plane(&world);
    world.forgets();
    world.settles().await;
    assert_eq!(available(&world, CLUSTER).reason, "KubeconfigSecretNameInvalid");
    let asked = world.requests().kind("Secret");
    assert!(asked.is_empty(), "{asked:?}");
}

/// An identity `prod` for all namespaces with these limits, and a FooCluster that names it.
async fn limited(limits: Value) -> World {
    let world = World::empty();
    let mut spec = json!({"allowedNamespaces": {}, "controller": {}});
    spec.as_object_mut().unwrap().extend(limits.as_object().unwrap().clone());
    world.has(&objects::identity("prod", spec));
    world.has(&objects::cluster());
    let mut cluster = objects::foo_cluster();
    cluster.spec.identity_ref = Some(objects::identity_reference("prod"));
    world.has(&cluster);
    world.settles().await;
    world
}

fn with_profile<'w>(world: &'w World, profile: &str) -> Pool<'w> {
    world.pool("p").with(|spec| spec.iam_instance_profile = Some(profile.to_owned()))
}

#[tokio::test(start_paused = true)]
async fn an_instance_profile_that_the_identity_does_not_allow_is_never_given_to_an_instance() {
    let world = limited(json!({"allowedInstanceProfiles": ["team-a-*"]})).await;
    let pool = with_profile(&world, "admin").of(1).await;
    assert_eq!(pool.state_of("Ready"), "False InstanceProfileNotAllowed");
    assert!(pool.condition("Ready").message.contains("\"admin\""));
    assert_eq!(world.aws_writes(), 0);
    pool.edits(|spec| spec.iam_instance_profile = Some("team-a-workers".to_owned()));
    world.settles().await;
    pool.is_of(1);
    // What runs stays, and no version is created of what is not allowed.
    let before = pool.instances();
    world.forgets();
    pool.edits(|spec| spec.iam_instance_profile = Some("admin".to_owned()));
    world.settles().await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False InstanceProfileNotAllowed");
    assert_eq!((pool.instances(), world.aws_writes()), (before, 0));
}

#[tokio::test(start_paused = true)]
async fn a_tag_that_claims_instances_for_another_cluster_is_never_written() {
    let world = World::new().await;
    let tag = ("kubernetes.io/cluster/other".to_owned(), "owned".to_owned());
    let own = ("kubernetes.io/cluster/c".to_owned(), "shared".to_owned());
    let pool = world.pool("p").with(|spec| spec.tags = [tag.clone(), own].into()).of(1).await;
    assert_eq!(pool.state_of("LaunchTemplateReady"), "False TagNotAllowed");
    assert_eq!(world.aws_writes(), 0);
    pool.edits(|spec| drop(spec.tags.remove(&tag.0)));
    world.settles().await;
    pool.is_of(1);
    pool.edits(|spec| drop(spec.tags.insert(tag.0.clone(), tag.1.clone())));
    world.settles().await;
    let group = pool.group().unwrap();
    assert!(!group.tags.contains_key(&tag.0), "{:?}", group.tags);
    assert_eq!(group.tags["kubernetes.io/cluster/c"].value, "owned");
    assert_eq!(pool.instances().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_region_that_the_identity_does_not_allow_is_never_called() {
    let world = limited(json!({"allowedRegions": ["mx-central-1"]})).await;
    let pool = world.pool("p").of(1).await;
    assert_eq!(pool.state_of("CredentialsReady"), "False IdentityNotAllowed");
    assert!(world.callers().is_empty(), "{:?}", world.callers());
}

#[tokio::test(start_paused = true)]
async fn subnets_that_the_identity_does_not_allow_are_not_launched_into() {
    let world = limited(json!({"allowedSubnets": ["subnet-0123"]})).await;
    let cluster: FooCluster = world.server.get(NS, CLUSTER).unwrap();
    let conditions = cluster.status.unwrap().conditions;
    assert!(conditions.iter().any(|c| c.type_ == "NetworkReady" && c.reason == "SubnetNotAllowed"));
    let pool = world.pool("p").of(1).await;
    assert!(pool.group().is_none());
    assert_eq!(world.aws_writes(), 0);
}

#[tokio::test(start_paused = true)]
async fn later_limits_apply_to_existing_pools() {
    let world = limited(json!({})).await;
    let pool = world.pool("p").of(1).await;
    pool.is_of(1);
    let edit = |identity: &mut foo_api::FooClusterIdentity| {
        identity.spec.allowed_subnets = Some(vec!["subnet-0123".to_owned()]);
    };
    world.server.edit("", "prod", edit).unwrap();
    world.settles().await;
    assert_eq!(pool.state_of("AutoScalingGroupReady"), "False SubnetNotAllowed");
    assert_eq!(pool.instances().len(), 1);
}

/// clusterctl takes a Secret along because its identity owns it.
#[tokio::test(start_paused = true)]
async fn keys_that_must_not_be_moved_are_not_owned_by_their_identity() {
    let world = World::empty();
    world.has(&objects::keys("prod", "AKIAFIRST"));
    world.has(&objects::identity("prod", json!({"allowedNamespaces": {}, "secret": {"name": "prod"}})));
    world.settles().await;
    let owners = || world.server.get::<Secret>(NS, "prod").unwrap().owner_references().len();
    assert_eq!(owners(), 1);
    let label = |identity: &mut foo_api::FooClusterIdentity| {
        identity.labels_mut().insert(foo_api::names::KEEP_KEYS_LABEL.to_owned(), String::new());
    };
    world.server.edit("", "prod", label).unwrap();
    world.settles().await;
    assert_eq!(owners(), 0);
}

#[tokio::test(start_paused = true)]
async fn where_an_identity_is_required_the_managers_own_credentials_are_unused() {
    let mut world = World::empty();
    world.restarts_the_manager_requiring_identities();
    world.has(&objects::cluster());
    world.has(&objects::foo_cluster());
    let pool = world.pool("p").of(1).await;
    assert_eq!(pool.state_of("CredentialsReady"), "False IdentityRequired");
    assert!(pool.condition("CredentialsReady").message.contains("--require-identity"));
    assert!(world.callers().is_empty(), "{:?}", world.callers());
    world.has(&objects::identity("default", json!({"allowedNamespaces": {"list": [NS]}, "controller": {}})));
    world.settles().await;
    pool.is_of(1);
}

/// A FooMachine of the tenant's pool that names the instance of another owner's.
#[tokio::test(start_paused = true)]
async fn a_forged_foo_machine_terminates_no_instance_of_others() {
    let world = World::new().await;
    let victim = world.pool("victim").of(1).await;
    let mine = world.pool("mine").of(1).await;
    let id = victim.instances()[0].clone();
    let name = format!("mine-{}", id.as_str().trim_start_matches("i-"));
    let spec = FooMachineSpec {
        provider_id: format!("aws:///eu-central-1a/{id}"),
        instance_id: id.as_str().to_owned(),
    };
    world.forgets();
    world.has(&objects::placed(FooMachine::new(&name, spec)));
    world.waits(Duration::from_mins(10)).await;
    drop(world.server.delete::<FooMachine>(NS, &name));
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(world.aws.calls("TerminateInstanceInAutoScalingGroup"), 0, "{}", world.summary());
    assert_eq!(victim.instances(), [id]);
    assert_eq!(mine.instances().len(), 1);
}
