//! The smallest provider that clusterctl installs and core accepts. Nothing reconciles its kinds: what a provider
//! would do a test does by hand.

use anyhow::{Context as _, Result};
use foo_testbed::{ApiServer, CapiOptions, Provider, ProviderKind, Rig, RigOptions};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

const VERSION: &str = "v0.1.0";

const METADATA: &str = "
apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3
kind: Metadata
releaseSeries: [{major: 0, minor: 1, contract: v1beta2}]
";

const CLUSTER: &str = "
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c1, namespace: default}
spec:
  infrastructureRef: {apiGroup: test.foo.com, kind: TestCluster, name: c1}
  controlPlaneRef: {apiGroup: test.foo.com, kind: TestControlPlane, name: c1}
---
apiVersion: test.foo.com/v1
kind: TestCluster
metadata: {name: c1, namespace: default}
spec: {controlPlaneEndpoint: {host: 127.0.0.1, port: 6443}}
---
apiVersion: test.foo.com/v1
kind: TestControlPlane
metadata: {name: c1, namespace: default}
spec: {version: v1.36.3}
";

/// A rig with this provider, whose release is written into `folder`.
pub(crate) async fn rig(folder: &Path) -> Result<Rig> {
    Rig::start(RigOptions { capi: Some(options(folder)?), ..RigOptions::default() }).await
}

/// Core with this provider.
pub(crate) fn options(folder: &Path) -> Result<CapiOptions> {
    let provider = Provider {
        name: "test".to_owned(),
        kind: ProviderKind::Infrastructure,
        version: VERSION.to_owned(),
        folder: folder.join("infrastructure-test"),
    };
    let release = provider.folder.join(VERSION);
    std::fs::create_dir_all(&release)?;
    std::fs::write(release.join("metadata.yaml"), METADATA)?;
    std::fs::write(release.join("infrastructure-components.yaml"), components()?)?;
    Ok(CapiOptions { providers: vec![provider], ..CapiOptions::default() })
}

fn components() -> Result<String> {
    let mut yaml = String::new();
    for kind in ["TestCluster", "TestMachine", "TestControlPlane"] {
        writeln!(yaml, "---\n{}", crd(kind))?;
    }
    yaml.push_str(
        "---
{apiVersion: v1, kind: Namespace, metadata: {name: test-system}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: test-manager, namespace: test-system}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: test-provider, labels: {cluster.x-k8s.io/aggregate-to-manager: 'true'}}
rules: [{apiGroups: [test.foo.com], resources: ['*'], verbs: ['*']}]
",
    );
    Ok(yaml)
}

fn crd(kind: &str) -> Value {
    let singular = kind.to_lowercase();
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{singular}s.test.foo.com"), "labels": {"cluster.x-k8s.io/v1beta2": "v1"}},
        "spec": {
            "group": "test.foo.com", "scope": "Namespaced",
            "names": {
                "kind": kind, "singular": singular,
                "plural": format!("{singular}s"), "listKind": format!("{kind}List"),
            },
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": open, "status": open}}},
            }],
        },
    })
}

/// Creates Cluster `c1` and reports it provisioned.
pub(crate) async fn provision_cluster(api: &ApiServer) -> Result<()> {
    api.apply(CLUSTER).await.context("applying the Cluster")?;
    set_status(api, "testcluster", "c1", &json!({"initialization": {"provisioned": true}})).await?;
    let initialized = json!({
        "initialization": {"controlPlaneInitialized": true}, "externalManagedControlPlane": true,
        "version": "v1.36.3",
    });
    set_status(api, "testcontrolplane", "c1", &initialized).await
}

/// Writes the status of an object.
pub(crate) async fn set_status(api: &ApiServer, kind: &str, name: &str, status: &Value) -> Result<()> {
    let patch = json!({"status": status}).to_string();
    api.kubectl(["patch", kind, name, "--subresource=status", "--type=merge", "-p", &patch]).await.map(drop)
}
