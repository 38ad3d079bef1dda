//! A FooControlPlane whose kubeconfig Secret is not as it must be.

use crate::support::{CLUSTER, NS, World, objects};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use foo_api::capi::Cluster;
use foo_api::control_plane::{External, SecretReference};
use foo_api::names::{CLUSTER_NAME_LABEL, CLUSTER_SECRET_TYPE, PAUSED_ANNOTATION, SECRET_VALUE_KEY};
use foo_api::{FooControlPlane, FooControlPlaneSpec};
use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use std::time::Duration;

/// A cluster with a FooControlPlane that names the Secret `k`.
async fn world() -> World {
    world_with("k").await
}

/// A cluster with a FooControlPlane that names this Secret.
async fn world_with(secret: &str) -> World {
    let world = World::new().await;
    let reference = SecretReference { name: secret.to_owned() };
    let spec = FooControlPlaneSpec {
        version: "v1.36.3".to_owned(),
        control_plane_endpoint: None,
        external: Some(External { kubeconfig_secret_ref: reference }),
        eks: None,
    };
    world.has(&objects::placed(FooControlPlane::new(CLUSTER, spec)));
    let named = |cluster: &mut Cluster| {
        let mut reference = objects::reference("FooControlPlane", CLUSTER);
        foo_api::names::CONTROL_PLANE_GROUP.clone_into(&mut reference.api_group);
        cluster.spec.control_plane_ref = Some(reference);
    };
    world.server.edit(NS, CLUSTER, named).unwrap();
    world.settles().await;
    world
}

/// `status reason` of a condition of the FooControlPlane.
fn reported(world: &World, kind: &str) -> String {
    let control_plane: FooControlPlane = world.server.get(NS, CLUSTER).unwrap();
    let conditions = control_plane.status.unwrap_or_default().conditions;
    let condition = conditions.into_iter().find(|condition| condition.type_ == kind).unwrap();
    format!("{} {}", condition.status, condition.reason)
}

#[tokio::test(start_paused = true)]
async fn a_missing_kubeconfig_secret_is_reported() {
    let world = world().await;
    for kind in ["Available", "Ready"] {
        assert_eq!(reported(&world, kind), "False KubeconfigSecretNotFound");
    }
}

#[tokio::test(start_paused = true)]
async fn a_malformed_kubeconfig_is_reported_and_not_copied() {
    let world = world().await;
    world.has(&objects::secret("k", b"this: is: [no kubeconfig"));
    world.settles().await;
    assert_eq!(reported(&world, "Available"), "False KubeconfigInvalid");
    assert!(world.server.get::<Secret>(NS, "c-kubeconfig").is_none());
    let version = world.server.resource_version();
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(world.server.resource_version(), version, "status churn");
    let text = b"{clusters: [], contexts: [], users: []}".to_vec();
    let edit = |secret: &mut Secret| secret.data = objects::secret("k", &text).data;
    world.server.edit(NS, "k", edit).unwrap();
    world.settles().await;
    assert_eq!(reported(&world, "Available"), "False KubeconfigInvalid");
}

#[tokio::test(start_paused = true)]
async fn a_kubeconfig_secret_without_value_is_reported() {
    let world = world().await;
    let mut secret = objects::secret("k", b"");
    secret.data = None;
    world.has(&secret);
    world.settles().await;
    assert_eq!(reported(&world, "Available"), "False KubeconfigInvalid");
}

/// A kubeconfig of an API server that refuses connections.
fn kubeconfig(token: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Config, current-context: x, \
         clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:1'}}}}], \
         users: [{{name: u, user: {{token: {token}}}}}], \
         contexts: [{{name: x, context: {{cluster: c, user: u}}}}]}}"
    )
}

fn made(world: &World) -> Secret {
    world.server.get(NS, "c-kubeconfig").unwrap()
}

fn edits_made(world: &World, change: impl FnOnce(&mut Secret)) {
    world.server.edit(NS, "c-kubeconfig", change).unwrap();
}

/// Panics unless it is as Cluster API, its cache, `clusterctl move` and the garbage collector want it.
fn is_right(world: &World, text: &str) {
    let secret = made(world);
    assert_eq!(secret.type_.as_deref(), Some(CLUSTER_SECRET_TYPE));
    assert_eq!(secret.labels().get(CLUSTER_NAME_LABEL).map(String::as_str), Some(CLUSTER));
    let owners =
        secret.owner_references().iter().map(|owner| (owner.api_version.as_str(), owner.kind.as_str()));
    let owners: Vec<(&str, &str)> = owners.collect();
    assert_eq!(owners, [("controlplane.foo.com/v1alpha1", "FooControlPlane")]);
    assert_eq!(secret.data.unwrap()[SECRET_VALUE_KEY].0, text.as_bytes());
}

#[tokio::test(start_paused = true)]
async fn the_kubeconfig_secret_is_created_and_repaired() {
    let world = world().await;
    let text = kubeconfig("t");
    world.has(&objects::secret("k", text.as_bytes()));
    world.settles().await;
    is_right(&world, &text);
    let version = made(&world).resource_version();
    world.waits(Duration::from_mins(15)).await;
    assert_eq!(made(&world).resource_version(), version, "written once");

    edits_made(&world, |secret| drop(secret.labels_mut().remove(CLUSTER_NAME_LABEL)));
    world.waits(Duration::from_mins(2)).await;
    is_right(&world, &text);
    edits_made(&world, |secret| secret.owner_references_mut().clear());
    world.waits(Duration::from_mins(2)).await;
    is_right(&world, &text);
    edits_made(&world, an_old_owner);
    world.waits(Duration::from_mins(2)).await;
    is_right(&world, &text);
    let rotated = kubeconfig("another");
    let fresh = objects::secret("k", rotated.as_bytes());
    world.server.edit(NS, "k", |secret: &mut Secret| secret.data.clone_from(&fresh.data)).unwrap();
    world.waits(Duration::from_mins(2)).await;
    is_right(&world, &rotated);
}

/// The owner gets a version that is not served.
fn an_old_owner(secret: &mut Secret) {
    "controlplane.foo.com/v1alpha0".clone_into(&mut secret.owner_references_mut()[0].api_version);
}

/// As a restore from a backup does it: everything is paused, and comes without owners.
#[tokio::test(start_paused = true)]
async fn the_kubeconfig_secret_gets_an_owner_that_it_lost_while_paused() {
    let world = world().await;
    let text = kubeconfig("t");
    world.has(&objects::secret("k", text.as_bytes()));
    world.settles().await;
    let pause = |paused: bool| {
        world.server.edit(NS, CLUSTER, |cluster: &mut Cluster| cluster.spec.paused = Some(paused)).unwrap();
    };
    pause(true);
    world.waits(Duration::from_mins(2)).await;
    edits_made(&world, |secret| secret.owner_references_mut().clear());
    world.waits(Duration::from_mins(2)).await;
    assert!(made(&world).owner_references().is_empty(), "paused");
    pause(false);
    world.waits(Duration::from_mins(2)).await;
    is_right(&world, &text);
}

#[tokio::test(start_paused = true)]
async fn a_users_own_secret_of_that_name_gets_the_label_and_is_judged() {
    let world = world_with("c-kubeconfig").await;
    let text = kubeconfig("t");
    let mut own = objects::secret("c-kubeconfig", text.as_bytes());
    own.labels_mut().clear();
    own.type_ = Some("Opaque".to_owned());
    world.has(&own);
    world.waits(Duration::from_mins(5)).await;
    let there = made(&world);
    assert_eq!(there.labels().get(CLUSTER_NAME_LABEL).map(String::as_str), Some(CLUSTER));
    assert!(there.owner_references().is_empty(), "it is the user's, and must outlive the FooControlPlane");
    assert_eq!(reported(&world, "KubeconfigReady"), "False KubeconfigSecretWrongType");
    assert_eq!(reported(&world, "Available"), "False ApiServerUnreachable", "it is used nevertheless");
    assert_eq!(world.notes("KubeconfigSecretWrongType").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_secret_of_that_name_with_another_owner_is_not_changed() {
    let world = world().await;
    let mut foreign = objects::secret("c-kubeconfig", b"foreign");
    foreign.type_ = Some(CLUSTER_SECRET_TYPE.to_owned());
    world.has(&foreign);
    world.has(&objects::secret("k", kubeconfig("t").as_bytes()));
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(reported(&world, "Available"), "False KubeconfigSecretNotOwned");
    assert_eq!(made(&world).data.unwrap()[SECRET_VALUE_KEY].0, b"foreign");
    // One of the wrong type cannot be repaired, even if its content is the same.
    world.server.delete::<Secret>(NS, "c-kubeconfig").unwrap();
    let mut opaque = objects::secret("c-kubeconfig", kubeconfig("t").as_bytes());
    opaque.type_ = Some("Opaque".to_owned());
    world.has(&opaque);
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(reported(&world, "KubeconfigReady"), "False KubeconfigSecretWrongType");
}

#[tokio::test(start_paused = true)]
async fn the_expiry_of_the_credentials_is_reported_a_month_before() {
    let world = world().await;
    let end = world.aws.now().0 / 1000 + 30 * 24 * 3600 + 1200;
    let claims = URL_SAFE_NO_PAD.encode(format!("{{\"exp\":{end}}}"));
    let text = kubeconfig(&format!("e30.{claims}.c2ln"));
    world.has(&objects::secret("k", text.as_bytes()));
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(reported(&world, "KubeconfigReady"), "True KubeconfigValid");
    world.waits(Duration::from_mins(20)).await;
    assert_eq!(reported(&world, "KubeconfigReady"), "True KubeconfigExpiresSoon");
    assert_eq!(world.notes("KubeconfigExpiresSoon").len(), 1, "{:?}", world.notes("KubeconfigExpiresSoon"));
    let newer = kubeconfig("t");
    let fresh = objects::secret("k", newer.as_bytes());
    world.server.edit(NS, "k", |secret: &mut Secret| secret.data.clone_from(&fresh.data)).unwrap();
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(reported(&world, "KubeconfigReady"), "True KubeconfigValid");
}

#[tokio::test(start_paused = true)]
async fn expired_credentials_are_reported() {
    let world = world().await;
    let claims = URL_SAFE_NO_PAD.encode("{\"exp\":1000000000}");
    world.has(&objects::secret("k", kubeconfig(&format!("e30.{claims}.c2ln")).as_bytes()));
    world.waits(Duration::from_mins(5)).await;
    assert_eq!(reported(&world, "KubeconfigReady"), "False KubeconfigExpired");
    assert_eq!(world.notes("KubeconfigExpired").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_reason_for_an_unreachable_api_server_is_reported() {
    let world = world().await;
    world.has(&objects::secret("k", kubeconfig("t").as_bytes()));
    world.waits(Duration::from_mins(5)).await;
    let control_plane: FooControlPlane = world.server.get(NS, CLUSTER).unwrap();
    let conditions = control_plane.status.unwrap().conditions;
    let message = &conditions.iter().find(|condition| condition.type_ == "Available").unwrap().message;
    assert!(
        message.starts_with("the API server at 127.0.0.1:1 did not respond with its version: "),
        "{message}"
    );
    assert!(message.to_lowercase().contains("refused"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn a_control_plane_with_finalizers_of_others_reports_what_its_deletion_waits_for() {
    let world = world().await;
    assert_eq!(reported(&world, "Deleting"), "False NotDeleting");
    let hold =
        |control_plane: &mut FooControlPlane| control_plane.finalizers_mut().push("example.com/x".to_owned());
    world.server.edit(NS, CLUSTER, hold).unwrap();
    world.server.delete::<FooControlPlane>(NS, CLUSTER).unwrap();
    world.settles().await;
    assert_eq!(reported(&world, "Deleting"), "True WaitingForFinalizers");
    assert_eq!(reported(&world, "Ready"), "False Deleting");
    let release = |control_plane: &mut FooControlPlane| control_plane.finalizers_mut().clear();
    world.server.edit(NS, CLUSTER, release).unwrap();
    world.settles().await;
    assert!(world.server.get::<FooControlPlane>(NS, CLUSTER).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_paused_annotation_pauses_a_control_plane() {
    let world = world().await;
    let pause = |control_plane: &mut FooControlPlane| {
        control_plane.annotations_mut().insert(PAUSED_ANNOTATION.to_owned(), String::new());
    };
    world.server.edit(NS, CLUSTER, pause).unwrap();
    world.settles().await;
    assert_eq!(reported(&world, "Paused"), "True Paused");
    world.has(&objects::secret("k", kubeconfig("t").as_bytes()));
    world.waits(Duration::from_mins(5)).await;
    assert!(world.server.get::<Secret>(NS, "c-kubeconfig").is_none());
    assert_eq!(reported(&world, "Available"), "False KubeconfigSecretNotFound", "as it was");
}

#[tokio::test(start_paused = true)]
async fn a_pool_starts_whatever_its_control_plane_reports() {
    let world = world().await;
    let pool = world.pool("p").of(2).await;
    assert_eq!(pool.instances().len(), 2);
    pool.is_of(2);
}
