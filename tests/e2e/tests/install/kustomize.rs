//! `kubectl apply -k deploy/default`, and the end of it.

use anyhow::{Context as _, Result};
use foo_e2e::document::Reader;
use foo_testbed::world::SOON;
use foo_testbed::{Probe, Rig, RigOptions, wait_until};
use serde_json::{Value, json};

const PAGE: &str = "docs/operations/install.md";
/// Kinds of what the provider installs outside of its namespace, and the namespace.
const CLUSTER_WIDE: &str =
    "crd,clusterrole,clusterrolebinding,validatingadmissionpolicy,validatingadmissionpolicybinding,namespace";

#[test]
fn the_page_on_installing_with_kubectl_works_and_nothing_is_left() {
    foo_e2e::alone(async || {
        let rig = Rig::start(RigOptions { capi: None, ..RigOptions::default() }).await?;
        let reader = Reader::of(&rig).await?;
        assert_eq!(installed(&rig).await?, Vec::<String>::new());
        reader.follow(PAGE, "With kubectl").await?;
        let all = installed(&rig).await?;
        for name in ["namespace/foo-system", "clusterrole.rbac.authorization.k8s.io/foo-manager"] {
            assert!(all.iter().any(|it| it == name), "{all:?}");
        }
        // As clusterctl would have labelled them.
        let labelled =
            "-o=custom-columns=NAME:.metadata.name,PROVIDER:.metadata.labels.cluster\\.x-k8s\\.io/provider";
        let table = rig.api().kubectl(["get", CLUSTER_WIDE, "--no-headers", labelled]).await?;
        for line in table.lines().filter(|line| line.contains("foo")) {
            let of_control_plane = line.starts_with("foocontrolplane")
                || line.starts_with("foo-control-plane-")
                || line.starts_with("foo-kubeadm-bootstrap");
            let provider = if of_control_plane {
                "control-plane-foo"
            } else if line.starts_with("foonodeconfig") || line.starts_with("foo-bootstrap-") {
                "bootstrap-foo"
            } else {
                "infrastructure-foo"
            };
            assert_eq!(line.split_whitespace().nth(1), Some(provider), "{table}");
        }
        runs_the_image_of_the_page(&rig).await?;
        fits_the_restricted_standard(&rig).await?;
        reader.follow(PAGE, "Remove what kubectl installed").await?;
        assert_eq!(installed(&rig).await?, Vec::<String>::new());
        Ok(())
    });
}

/// The release is built for the image that the page names.
#[test]
fn the_page_on_installing_with_helm_works_and_nothing_is_left() {
    foo_e2e::alone(async || {
        let rig = Rig::start(RigOptions { capi: None, ..RigOptions::default() }).await?;
        let reader = Reader::of(&rig).await?;
        reader.run("export IMAGE=registry.example.com/cluster-api-provider-foo; make release-manifests IMAGE=$IMAGE").await?;
        reader.follow(PAGE, "With Helm").await?;
        runs_the_image_of_the_page(&rig).await?;
        fits_the_restricted_standard(&rig).await?;
        reader.follow(PAGE, "Remove what Helm installed").await?;
        assert_eq!(installed(&rig).await?, Vec::<String>::new());
        Ok(())
    });
}

/// The provider's objects that are in no namespace.
async fn installed(rig: &Rig) -> Result<Vec<String>> {
    let names = rig.api().kubectl(["get", CLUSTER_WIDE, "-o", "name"]).await?;
    Ok(names.lines().filter(|name| name.contains("foo")).map(str::to_owned).collect())
}

async fn runs_the_image_of_the_page(rig: &Rig) -> Result<()> {
    let image = "-o=jsonpath={.spec.template.spec.containers[0].image}";
    let deployment = ["get", "deployment/foo-controller-manager", "-n=foo-system", image];
    let image = rig.api().kubectl(deployment).await?;
    assert_eq!(image, "registry.example.com/cluster-api-provider-foo:v0.1.0");
    Ok(())
}

/// The namespace enforces the Pod security standard `restricted`; the manager's pod is admitted, and only as it is.
async fn fits_the_restricted_standard(rig: &Rig) -> Result<()> {
    let deployment = ["get", "deployment/foo-controller-manager", "--namespace=foo-system", "--output=json"];
    let deployment: Value = serde_json::from_str(&rig.api().kubectl(deployment).await?)?;
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "manager", "namespace": "foo-system"},
        "spec": deployment.pointer("/spec/template/spec"),
    });
    let create = async |pod: &Value| {
        rig.api().run("kubectl", ["create", "--dry-run=server", "-f", "-"], &[], &pod.to_string()).await
    };
    create(&pod).await?;
    let context = pod.pointer_mut("/spec/containers/0/securityContext").context("no securityContext")?;
    *context = Value::Null;
    let refused = create(&pod).await.err().map(|error| format!("{error:#}")).unwrap_or_default();
    assert!(refused.contains("violates PodSecurity \"restricted"), "{refused}");
    Ok(())
}

const POOL: &str = "
apiVersion: infrastructure.foo.com/v1alpha1
kind: FooMachinePool
metadata: {name: blocked, namespace: default, finalizers: [foomachinepool.infrastructure.foo.com]}
spec: {instanceType: m7i.large, ami: {id: ami-1}}
";

/// The test takes the part of the manager: it removes the finalizer when it is restored.
#[test]
fn a_removal_that_hangs_because_the_manager_was_removed_first_can_be_completed() {
    foo_e2e::alone(async || {
        let rig = Rig::start(RigOptions { capi: None, ..RigOptions::default() }).await?;
        let reader = Reader::of(&rig).await?;
        reader.follow(PAGE, "With kubectl").await?;
        rig.api().apply(POOL).await?;
        let allowed = "kubectl annotate crd --selector cluster.x-k8s.io/provider infrastructure.foo.com/deletion-allowed=";
        reader.run(allowed).await?;
        reader.run("kubectl delete -k deploy/default --ignore-not-found --wait=false").await?;
        let namespace = async || {
            rig.api().kubectl(["get", "namespace/foo-system", "--ignore-not-found", "-o=name"]).await
        };
        let deleted = async || {
            Ok(Probe::when(namespace().await?.is_empty(), || "the namespace is still there".to_owned()))
        };
        wait_until("the manager to be deleted", SOON, deleted).await?;
        let blocked = rig
            .api()
            .kubectl(["get", "foomachinepool/blocked", "-o=jsonpath={.metadata.deletionTimestamp}"])
            .await?;
        assert!(!blocked.is_empty(), "the pool is not being deleted");

        let manager = async {
            // The last of what is applied: then kubectl is done with the CRDs.
            let last =
                ["get", "validatingadmissionpolicybinding/foo-protection", "--ignore-not-found", "-o=name"];
            wait_until("everything to be there again", SOON, async || {
                let there = rig.api().kubectl(last).await?;
                Ok(Probe::when(!there.is_empty(), || "not yet".to_owned()))
            })
            .await?;
            let patch = r#"--patch={"metadata": {"finalizers": null}}"#;
            rig.api().kubectl(["patch", "foomachinepool/blocked", "--type=merge", patch]).await
        };
        let (page, manager) = tokio::join!(reader.follow(PAGE, "If the manager was removed first"), manager);
        manager?;
        page?;
        let left = rig.api().kubectl(["get", "crd,namespace", "-o=name"]).await?;
        assert!(!left.contains("foo"), "{left}");
        Ok(())
    });
}
