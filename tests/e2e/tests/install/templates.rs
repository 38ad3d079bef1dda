//! What `clusterctl generate cluster` generates from each flavour, as accepted by Cluster API and the provider's CRDs.

use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::kinds::{Kind, list};
use foo_testbed::world::{RELEASE, SOON, released_providers};
use foo_testbed::{CapiOptions, Probe, Rig, RigOptions, wait_until};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

static RIG: OnceCell<Result<(Rig, tempfile::TempDir), String>> = OnceCell::const_new();

/// Only those that have no default.
const VARIABLES: [(&str, &str); 7] = [
    ("AWS_REGION", "eu-central-1"),
    ("FOO_SUBNETS", "[{id: subnet-0a}, {tags: {tier: private}}]"),
    ("FOO_AMI_ID", "ami-0a"),
    ("FOO_INSTANCE_PROFILE", "nodes"),
    ("FOO_CONTROL_PLANE_ROLE_ARN", "arn:aws:iam::123456789012:role/eks-control-plane"),
    ("FOO_KUBECONFIG_SECRET", "c1-existing"),
    ("FOO_BOOTSTRAP_SECRET", "c1-bootstrap"),
];

fn on_rig(test: impl AsyncFnOnce(&'static Rig) -> Result<()>) {
    foo_e2e::alone(async || {
        let started = RIG.get_or_init(async || start().await.map_err(|error| format!("{error:#}"))).await;
        let (rig, _) = started.as_ref().map_err(|error| anyhow::Error::msg(error.clone()))?;
        test(rig).await
    });
}

async fn start() -> Result<(Rig, tempfile::TempDir)> {
    let release = tempfile::tempdir()?;
    let capi = CapiOptions {
        providers: released_providers(release.path())?,
        variables: VARIABLES.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        ..CapiOptions::default()
    };
    let rig = Rig::start(RigOptions { capi: Some(capi), ..RigOptions::default() }).await?;
    // The class refers to kubeadm's kinds. Its provider need not run, so its webhooks are left out.
    let path = rig.api().tools().capi().join("bootstrap-components.yaml");
    let all: Vec<Value> = serde_saphyr::from_multiple(&std::fs::read_to_string(path)?)?;
    let crds = all.iter().filter(|object| object["kind"] == "CustomResourceDefinition");
    let crds: Vec<String> = crds.map(Value::to_string).collect();
    ensure!(!crds.is_empty(), "no CRDs of the kubeadm bootstrap provider");
    rig.api().apply(&crds.join("\n---\n")).await?;
    rig.api().kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]).await?;
    Ok((rig, release))
}

async fn generate(rig: &Rig, flavour: &str, namespace: &str) -> Result<String> {
    let mut args =
        vec!["generate", "cluster", "c1", "--kubernetes-version=v1.36.3", "--worker-machine-count=2"];
    let (provider, namespace, flavor) = (
        format!("--infrastructure=foo:{RELEASE}"),
        format!("--target-namespace={namespace}"),
        format!("--flavor={flavour}"),
    );
    args.extend([provider.as_str(), &namespace]);
    if !flavour.is_empty() {
        args.push(&flavor);
    }
    rig.clusterctl(args).await
}

/// A dry run goes through everything that a request does: schemas, rules, webhooks, policies.
async fn dry_run(rig: &Rig, yaml: &str) -> Result<Vec<String>> {
    let args = ["apply", "--server-side", "--dry-run=server", "--output=name", "-f", "-"];
    let printed = rig.api().run("kubectl", args, &[], yaml).await?;
    Ok(printed.stdout.lines().map(str::to_owned).collect())
}

#[test]
fn what_each_flavour_creates_is_accepted() {
    on_rig(async |rig| {
        for flavour in ["", "spot", "mixed", "managed-network"] {
            let yaml = generate(rig, flavour, "default").await?;
            let names = dry_run(rig, &yaml).await.with_context(|| format!("flavour {flavour:?}:\n{yaml}"))?;
            assert_eq!(
                names,
                [
                    "cluster.cluster.x-k8s.io/c1",
                    "foocontrolplane.controlplane.foo.com/c1",
                    "machinepool.cluster.x-k8s.io/c1-workers",
                    "foocluster.infrastructure.foo.com/c1",
                    "foomachinepool.infrastructure.foo.com/c1-workers",
                ]
            );
        }
        Ok(())
    });
}

/// From the release to what Cluster API's topology controller creates from it.
#[test]
fn the_class_creates_pools_of_both_classes_from_its_variables() {
    on_rig(async |rig| {
        let namespace = "classy";
        rig.api().kubectl(["create", "namespace", namespace]).await?;
        let yaml = generate(rig, "topology", namespace).await?;
        dry_run(rig, &yaml).await.with_context(|| format!("flavour topology:\n{yaml}"))?;
        let mut objects: Vec<Value> = serde_saphyr::from_multiple(&yaml)?;
        let cluster = objects.iter_mut().find(|object| object["kind"] == "Cluster").context("no Cluster")?;
        let topology = &mut cluster["spec"]["topology"];
        let variables = topology["variables"].as_array_mut().context("no variables")?;
        variables.push(json!({"name": "sshKeyName", "value": "operators"}));
        variables.push(json!({"name": "tags", "value": {"team": "platform"}}));
        let pools = topology["workers"]["machinePools"].as_array_mut().context("no pools")?;
        pools.push(json!({
            "class": "mixed", "name": "batch", "replicas": 0,
            "variables": {"overrides": [
                {"name": "onDemandPercentage", "value": 0},
                {"name": "instanceTypes", "value": [{"instanceType": "c7i.large"}]},
            ]},
        }));
        let objects: Vec<String> = objects.iter().map(Value::to_string).collect();
        rig.api().apply(&objects.join("\n---\n")).await?;
        let pools = wait_until("both pools", SOON, async || {
            let pools = list(rig.api().client(), Kind::FooMachinePool, namespace, "").await?;
            if let [_, _] = pools.as_slice() {
                return Ok(Probe::Done(pools));
            }
            let cluster = list(rig.api().client(), Kind::Cluster, namespace, "").await?;
            Ok(Probe::NotYet(format!("{} pools; {cluster:?}", pools.len())))
        })
        .await?;
        let of = |name: &str| {
            let label = "/metadata/labels/topology.cluster.x-k8s.io~1pool-name";
            let pool = pools.iter().find(|pool| pool.pointer(label) == Some(&json!(name)));
            pool.map(|pool| pool["spec"].clone()).with_context(|| format!("no pool {name}: {pools:#?}"))
        };
        let (workers, batch) = (of("workers")?, of("batch")?);
        for spec in [&workers, &batch] {
            assert_eq!(spec["ami"]["id"], "ami-0a");
            assert_eq!(
                (&spec["iamInstanceProfile"], &spec["sshKeyName"]),
                (&json!("nodes"), &json!("operators"))
            );
            assert_eq!((&spec["maxSize"], &spec["tags"]), (&json!(100), &json!({"team": "platform"})));
        }
        assert_eq!(
            (&workers["instanceType"], &workers["mixedInstances"]),
            (&json!("m7i.large"), &Value::Null)
        );
        let mix = &batch["mixedInstances"];
        assert_eq!(mix["overrides"], json!([{"instanceType": "c7i.large"}]));
        assert_eq!((&mix["onDemandBase"], &mix["onDemandPercentage"]), (&json!(1), &json!(0)));

        let cluster = list(rig.api().client(), Kind::FooCluster, namespace, "").await?;
        let spec = &cluster.first().context("no FooCluster")?["spec"];
        assert_eq!(spec["region"], "eu-central-1");
        assert_eq!(
            spec["network"]["existing"]["subnets"],
            json!([{"id": "subnet-0a"}, {"tags": {"tier": "private"}}])
        );
        let control_plane = list(rig.api().client(), Kind::FooControlPlane, namespace, "").await?;
        let spec = &control_plane.first().context("no FooControlPlane")?["spec"];
        assert_eq!(
            (&spec["version"], &spec["external"]["kubeconfigSecretRef"]["name"]),
            (&json!("v1.36.3"), &json!("c1-existing"))
        );
        // Nothing of the class's own values is left where a variable belongs.
        for object in pools.iter().chain(&cluster).chain(&control_plane) {
            let text = object.to_string();
            for placeholder in ["set-by-variable", "\"subnet-0\"", "\"ami-0\""] {
                assert!(!text.contains(placeholder), "{placeholder}: {object:#}");
            }
        }
        Ok(())
    });
}

#[test]
fn the_class_creates_a_managed_network_if_a_variable_requests_it() {
    on_rig(async |rig| {
        let namespace = "managed";
        rig.api().kubectl(["create", "namespace", namespace]).await?;
        let yaml = generate(rig, "topology", namespace).await?;
        let mut objects: Vec<Value> = serde_saphyr::from_multiple(&yaml)?;
        let cluster = objects.iter_mut().find(|object| object["kind"] == "Cluster").context("no Cluster")?;
        let variables = cluster["spec"]["topology"]["variables"].as_array_mut().context("no variables")?;
        variables.retain(|variable| variable["name"] != "subnets" && variable["name"] != "securityGroups");
        variables.push(json!({"name": "networkMode", "value": "Managed"}));
        variables.push(json!({"name": "managedNetwork", "value": {"nat": "Single", "zones": {"count": 2}}}));
        let objects: Vec<String> = objects.iter().map(Value::to_string).collect();
        rig.api().apply(&objects.join("\n---\n")).await?;
        let cluster = wait_until("the FooCluster", SOON, async || {
            let found = list(rig.api().client(), Kind::FooCluster, namespace, "").await?;
            if let Some(cluster) = found.into_iter().next() {
                return Ok(Probe::Done(cluster));
            }
            let cluster = list(rig.api().client(), Kind::Cluster, namespace, "").await?;
            Ok(Probe::NotYet(format!("none; {cluster:?}")))
        })
        .await?;
        let network = &cluster["spec"]["network"];
        assert_eq!(network["existing"], Value::Null, "{cluster:#}");
        assert_eq!(
            (&network["managed"]["nat"], &network["managed"]["zones"], &network["managed"]["egress"]),
            (&json!("Single"), &json!({"count": 2}), &json!("NAT"))
        );
        Ok(())
    });
}

/// Of the objects that users delete, those that have the annotation; the policy is the released one.
#[test]
fn protected_objects_are_not_deleted_until_the_annotation_is_removed() {
    on_rig(async |rig| {
        let namespace = "protected";
        rig.api().kubectl(["create", "namespace", namespace]).await?;
        rig.api().apply(&generate(rig, "", namespace).await?).await?;
        let at = format!("--namespace={namespace}");
        let objects = ["foomachinepool/c1-workers", "machinepool/c1-workers", "foocluster/c1", "cluster/c1"];
        for object in objects {
            rig.api().kubectl(["annotate", object, &at, "infrastructure.foo.com/protected="]).await?;
            // Known to admission at once: the object is read as it is.
            let refused = rig.api().kubectl(["delete", object, &at, "--wait=false"]).await;
            let message = refused.err().map(|error| format!("{error:#}")).unwrap_or_default();
            assert!(message.contains("protected by the annotation"), "{object}: {message}");
        }
        // All of a kind at once is no way around it.
        let refused = rig.api().kubectl(["delete", "foomachinepools", "--all", &at, "--wait=false"]).await;
        assert!(refused.is_err(), "{refused:?}");
        for object in objects {
            rig.api().kubectl(["annotate", object, &at, "infrastructure.foo.com/protected-"]).await?;
            rig.api().kubectl(["delete", object, &at, "--wait=false"]).await?;
        }
        Ok(())
    });
}

/// RBAC lets them, for the sake of ownerReferences; the released policy does not.
#[test]
fn managers_delete_no_secret_although_they_have_the_permission() {
    on_rig(async |rig| {
        for (namespace, account) in
            [("foo-system", "foo-manager"), ("foo-control-plane-system", "foo-control-plane-manager")]
        {
            let at = format!("--namespace={namespace}");
            rig.api().kubectl(["create", "secret", "generic", "kept", &at]).await?;
            let kubeconfig = rig.service_account_kubeconfig(namespace, account).await?;
            let manager = format!("--kubeconfig={}", kubeconfig.display());
            let may = rig.api().kubectl([&manager, "auth", "can-i", "delete", "secret/kept", &at]).await?;
            assert_eq!(may.trim(), "yes", "{account}");
            let refused = rig.api().kubectl([&manager, "delete", "secret", "kept", &at]).await;
            let message = refused.err().map(|error| format!("{error:#}")).unwrap_or_default();
            assert!(message.contains("this manager must not delete Secrets"), "{account}: {message}");
        }
        Ok(())
    });
}
