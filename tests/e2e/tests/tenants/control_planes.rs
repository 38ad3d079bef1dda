//! FooControlPlanes and the kubeconfigs that they name.

use super::{WORLD, as_tenant, cluster, identity, is_refused, namespace_of_tenant, writes};
use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::kinds::{self, Kind, condition, text};
use foo_testbed::world::{SOON, World, manifests};
use foo_testbed::{Probe, wait_until};
use serde_json::{Value, json};

const NAMESPACE: &str = "planes";

/// The kubeconfig that Cluster API uses for a Cluster.
async fn kubeconfig_of(world: &World, cluster: &str) -> Result<Value> {
    let secret =
        kinds::read(world.client(), Kind::Secret, NAMESPACE, &format!("{cluster}-kubeconfig")).await?;
    let secret = secret.context("the Cluster has no kubeconfig")?;
    Ok(secret.pointer("/data/value").cloned().unwrap_or_default())
}

/// The rig's kubeconfig with something changed.
fn changed(world: &World, from: &str, to: &str) -> Result<String> {
    let kubeconfig = world.api().kubeconfig();
    ensure!(kubeconfig.contains(from), "{from} is not in the rig's kubeconfig");
    Ok(kubeconfig.replacen(from, to, 1))
}

/// A Cluster whose FooControlPlane names this kubeconfig. `writes` creates the Secret first.
async fn with_kubeconfig(world: &World, name: &str, kubeconfig: &str) -> Result<()> {
    writes(world, &manifests::kubeconfig_secret(NAMESPACE, name, kubeconfig)).await?;
    writes(world, &manifests::foo_control_plane(NAMESPACE, name)).await?;
    writes(world, &manifests::cluster(NAMESPACE, name)).await
}

#[test]
fn a_control_plane_writes_no_kubeconfig_but_that_of_the_cluster_that_names_it() {
    WORLD.run(async |world| {
        namespace_of_tenant(world, NAMESPACE).await?;
        identity(world, "planes", &[NAMESPACE], &json!({})).await?;
        let claimed = cluster(world, NAMESPACE, "claimed", Some("planes")).await?;
        claimed.is_provisioned().await?;
        let before = kubeconfig_of(world, "claimed").await?;
        let uid = claimed.read(Kind::Cluster).await?.map(|it| text(&it, "/metadata/uid").to_owned());

        // It shows that it belongs to that Cluster, and would have its own API server written there.
        let foreign = changed(world, "https://127.0.0.1", "https://127.0.0.2")?;
        writes(world, &manifests::kubeconfig_secret(NAMESPACE, "intruder", &foreign)).await?;
        let mut intruder = manifests::foo_control_plane(NAMESPACE, "intruder");
        intruder["metadata"]["labels"] = json!({"cluster.x-k8s.io/cluster-name": "claimed"});
        intruder["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "name": "claimed", "uid": uid,
        }]);
        writes(world, &intruder).await?;
        let reported = ("Available", "WaitingForCluster");
        let reported = is_refused(world, Kind::FooControlPlane, NAMESPACE, "intruder", reported).await?;
        ensure!(reported.contains("spec.controlPlaneRef"), "{reported}");
        assert_eq!(kubeconfig_of(world, "claimed").await?, before);

        // A Secret of that name that another user or controller wrote is left as it is.
        writes(world, &secret_of_others("taken-kubeconfig")).await?;
        with_kubeconfig(world, "taken", world.api().kubeconfig()).await?;
        let reported = ("Available", "KubeconfigSecretNotOwned");
        is_refused(world, Kind::FooControlPlane, NAMESPACE, "taken", reported).await?;
        let left = as_tenant(
            world,
            &[
                "get",
                "secret",
                "taken-kubeconfig",
                "--namespace",
                NAMESPACE,
                "--output=jsonpath={.data.value}",
            ],
            &Value::Null,
        );
        assert_eq!(left.await?, "dGhlaXJz");
        Ok(())
    });
}

/// A kubeconfig Secret that its Cluster does not own.
fn secret_of_others(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "data": {"value": "dGhlaXJz"},
    })
}

#[test]
fn a_kubeconfig_cannot_make_the_manager_run_read_or_trust_anything() {
    WORLD.run(async |world| {
        let namespace = NAMESPACE;
        namespace_of_tenant(world, namespace).await?;
        let user = |with: &str| changed(world, "user: {", &format!("user: {{{with}, "));
        let server = |with: &str| changed(world, "cluster: {", &format!("cluster: {{{with}, "));
        let exec = "exec: {apiVersion: client.authentication.k8s.io/v1, command: id, interactiveMode: Never}";
        let token = "tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token";
        for (name, kubeconfig, reason, message) in [
            (
                "runs",
                user(exec)?,
                "ExecCredentialsNotSupported",
                "Cluster API does not support kubeconfigs with exec plugins",
            ),
            ("reads", user(token)?, "KubeconfigInvalid", "the kubeconfig names files"),
            (
                "trusts",
                server("insecure-skip-tls-verify: true")?,
                "KubeconfigInvalid",
                "insecure-skip-tls-verify is set",
            ),
            ("plain", changed(world, "https://", "http://")?, "KubeconfigInvalid", "is not an https URL"),
        ] {
            with_kubeconfig(world, name, &kubeconfig).await?;
            let reported = ("Available", reason);
            let reported = is_refused(world, Kind::FooControlPlane, namespace, name, reported).await?;
            ensure!(reported.contains(message), "{name}: {reported}");
        }
        // A proxy is bypassed: the API server itself responds, though nothing listens where the proxy would be.
        with_kubeconfig(world, "proxied", &server("proxy-url: http://127.0.0.1:1")?).await?;
        wait_until("the API server to respond past the proxy", SOON, async || {
            let found = kinds::read(world.client(), Kind::FooControlPlane, namespace, "proxied").await?;
            let found = found.unwrap_or_default();
            let reported = condition(&found, "Available");
            Ok(Probe::when(reported.is_some_and(|(status, ..)| status == "True"), || format!("{reported:?}")))
        })
        .await
    });
}
