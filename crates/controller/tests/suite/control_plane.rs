//! A FooControlPlane whose kubeconfig Secret is not as it must be.

use crate::support::{CLUSTER, NS, World, objects};
use foo_api::capi::Cluster;
use foo_api::control_plane::{External, SecretReference};
use foo_api::{FooControlPlane, FooControlPlaneSpec};
use k8s_openapi::api::core::v1::Secret;
use std::time::Duration;

/// A cluster with a FooControlPlane that names the Secret `k`.
async fn world() -> World {
    let world = World::new().await;
    let reference = SecretReference { name: "k".to_owned() };
    let spec = FooControlPlaneSpec {
        version: "v1.36.3".to_owned(),
        control_plane_endpoint: None,
        external: External { kubeconfig_secret_ref: reference },
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
fn said(world: &World, kind: &str) -> String {
    let control_plane: FooControlPlane = world.server.get(NS, CLUSTER).unwrap();
    let conditions = control_plane.status.unwrap_or_default().conditions;
    let condition = conditions.into_iter().find(|condition| condition.type_ == kind).unwrap();
    format!("{} {}", condition.status, condition.reason)
}

#[tokio::test(start_paused = true)]
async fn a_missing_kubeconfig_secret_is_told() {
    let world = world().await;
    for kind in ["Available", "Ready"] {
        assert_eq!(said(&world, kind), "False KubeconfigSecretNotFound");
    }
}

#[tokio::test(start_paused = true)]
async fn a_malformed_kubeconfig_is_told_and_not_copied() {
    let world = world().await;
    world.has(&objects::secret("k", b"this: is: [no kubeconfig"));
    world.settles().await;
    assert_eq!(said(&world, "Available"), "False KubeconfigInvalid");
    assert!(world.server.get::<Secret>(NS, "c-kubeconfig").is_none());
    let version = world.server.resource_version();
    world.waits(Duration::from_mins(10)).await;
    assert_eq!(world.server.resource_version(), version, "status churn");
    let text = b"{clusters: [], contexts: [], users: []}".to_vec();
    let edit = |secret: &mut Secret| secret.data = objects::secret("k", &text).data;
    world.server.edit(NS, "k", edit).unwrap();
    world.settles().await;
    assert_eq!(said(&world, "Available"), "False KubeconfigInvalid");
}

#[tokio::test(start_paused = true)]
async fn a_kubeconfig_secret_without_value_is_told() {
    let world = world().await;
    let mut secret = objects::secret("k", b"");
    secret.data = None;
    world.has(&secret);
    world.settles().await;
    assert_eq!(said(&world, "Available"), "False KubeconfigInvalid");
}

#[tokio::test(start_paused = true)]
async fn a_pool_begins_whatever_its_control_plane_says() {
    let world = world().await;
    let pool = world.pool("p").of(2).await;
    assert_eq!(pool.instances().len(), 2);
    pool.is_of(2);
}
