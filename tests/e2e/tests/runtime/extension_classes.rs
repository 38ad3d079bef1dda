//! Our ClusterClasses, as they are released, on the real core, each pair beside the other; and a topology that AWS
//! would refuse.

use super::extension::ReleasedExtension;
use super::management::{CLUSTER, Kind, Management, on_management};
use super::provider::GROUP_VERSION;
use super::topology;
use anyhow::{Context as _, Result, ensure};
use foo_simulator::core::catalogue::IMAGE_X86_64;
use foo_simulator::core::mishaps::QuotaClass;
use foo_simulator::core::network::PRIVATE_SUBNETS;
use foo_testbed::world::SOON;
use foo_testbed::world::kinds::text;
use foo_testbed::{Probe, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const FOO_CLUSTER: Kind = Kind("infrastructure.foo.com", "v1alpha1", "FooCluster");
const FOO_CONTROL_PLANE: Kind = Kind("controlplane.foo.com", "v1alpha1", "FooControlPlane");
const FOO_MACHINE_POOL: Kind = Kind("infrastructure.foo.com", "v1alpha1", "FooMachinePool");
const FOO_NODE_CONFIG: Kind = Kind("bootstrap.foo.com", "v1alpha1", "FooNodeConfig");
const LABEL: &str = "/metadata/labels/cluster.x-k8s.io~1cluster-name";
const POOL_LABEL: &str = "/metadata/labels/topology.cluster.x-k8s.io~1pool-name";

/// Applies a released class in a namespace, its handlers those of the ExtensionConfig of that name, its bootstrap
/// configuration that of the stand-in provider where it is kubeadm's, which is not here.
async fn released_class(management: &Management, namespace: &str, file: &str) -> Result<()> {
    let text_of = xtask::root().join("deploy/clusterctl").join(file);
    let objects: Vec<Value> = serde_saphyr::from_multiple(&std::fs::read_to_string(text_of)?)?;
    let (classes, templates): (Vec<_>, Vec<_>) =
        objects.into_iter().partition(|object| text(object, "/kind") == "ClusterClass");
    management.apply(&topology::template("TestConfig", namespace, "foo", &json!({"files": "none"}))).await?;
    for mut template in templates {
        if text(&template, "/kind") != "KubeadmConfigTemplate" {
            template["metadata"]["namespace"] = json!(namespace);
            management.apply(&template).await?;
        }
    }
    let mut class = classes.into_iter().next().context("no class")?;
    class["metadata"]["namespace"] = json!(namespace);
    for pool in class["spec"]["workers"]["machinePools"].as_array_mut().into_iter().flatten() {
        let template = &mut pool["bootstrap"]["templateRef"];
        if template["kind"] == "KubeadmConfigTemplate" {
            *template = json!({"apiVersion": GROUP_VERSION, "kind": "TestConfigTemplate", "name": "foo"});
        }
    }
    let class: Value =
        serde_json::from_str(&class.to_string().replace(".foo\"", &format!(".{namespace}\"")))?;
    management.apply(&class).await
}

/// Names and values, as Cluster API lists them.
fn listed(values: &Value) -> Vec<Value> {
    let named = |(name, value): (&String, &Value)| json!({"name": name, "value": value});
    values.as_object().into_iter().flatten().map(named).collect()
}

/// A Cluster on EKS with one pool of each kind, and with a value for each kind of field.
fn eks_cluster(namespace: &str, class: &str) -> Value {
    let variables = json!({
        "region": "eu-central-1", "roleARN": "arn:aws:iam::123456789012:role/eks", "instanceProfile": "nodes",
        "managedNetwork": {"zones": {"count": 2}, "egress": "None"},
        "endpointAccess": {"publicCIDRs": ["192.0.2.0/24"]}, "logging": ["audit"],
        "addons": [{"name": "vpc-cni", "configurationValues": {"env": {"ENABLE_PREFIX_DELEGATION": "true"}}}],
        "accessEntries": [{
            "principalARN": "arn:aws:iam::123456789012:role/developers",
            "policies": [{"name": "AmazonEKSViewPolicy", "namespaces": ["team-*"]}],
        }],
        "nodeLabels": {"team": "a"}, "imagePolicy": "Latest",
    });
    cluster(namespace, class, |cluster| {
        cluster["spec"]["topology"]["variables"] = json!(listed(&variables));
        let pools = &mut cluster["spec"]["topology"]["workers"]["machinePools"];
        pools[0]["variables"]["overrides"] = json!(listed(&json!({"amiID": IMAGE_X86_64})));
        let taints = json!([{"key": "dedicated", "value": "a", "effect": "NoSchedule"}]);
        pools[1]["variables"]["overrides"] =
            json!(listed(&json!({"nodeTaints": taints, "onDemandPercentage": 0})));
    })
}

/// A Cluster of a class with one pool of each kind, after a change.
fn cluster(namespace: &str, class: &str, change: impl FnOnce(&mut Value)) -> Value {
    let subnets: Vec<Value> = PRIVATE_SUBNETS.iter().map(|id| json!({"id": id})).collect();
    let variables = json!({
        "region": "eu-central-1", "subnets": subnets, "kubeconfigSecret": "external", "amiID": IMAGE_X86_64,
        "instanceProfile": "nodes", "tags": {"team": "a"}, "maxSize": 7,
    });
    let mut cluster = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
        "metadata": {"name": class, "namespace": namespace},
        "spec": {"topology": {
            "classRef": {"name": class}, "version": topology::VERSION, "variables": listed(&variables),
            "workers": {"machinePools": [
                {
                    "class": "on-demand", "name": "one", "replicas": 2,
                    "variables": {"overrides": [{"name": "sshKeyName", "value": "operators"}]},
                },
                {
                    "class": "mixed", "name": "several", "replicas": 1,
                    "variables": {"overrides": [{"name": "onDemandPercentage", "value": 0}]},
                },
            ]},
        }},
    });
    change(&mut cluster);
    cluster
}

/// The specs of what core made of a Cluster: its cluster, its control plane, each pool, and how its Nodes join.
async fn made(management: &Management, namespace: &str, name: &str) -> Result<BTreeMap<String, Value>> {
    let mut specs = BTreeMap::new();
    for kind in [FOO_CLUSTER, FOO_CONTROL_PLANE, FOO_MACHINE_POOL, FOO_NODE_CONFIG] {
        for object in management.list(kind, namespace).await? {
            if text(&object, LABEL) == name {
                specs.insert(format!("{} {}", kind.2, text(&object, POOL_LABEL)), object["spec"].clone());
            }
        }
    }
    Ok(specs)
}

/// Waits until as many objects of a Cluster are there.
async fn complete(
    management: &Management,
    (namespace, name): (&str, &str),
    count: usize,
) -> Result<BTreeMap<String, Value>> {
    wait_until(&format!("all objects of {name}"), SOON, async || {
        let specs = made(management, namespace, name).await?;
        if specs.len() == count {
            return Ok(Probe::Done(specs));
        }
        let cluster = management.read(CLUSTER, namespace, name).await?;
        Ok(Probe::NotYet(format!("{:?} {:#}", specs.keys(), cluster["status"]["conditions"])))
    })
    .await
}

#[test]
fn both_classes_create_the_same_cluster_on_the_real_core() {
    const NAME: &str = "our-classes";
    on_management(async |management| {
        let extension = ReleasedExtension::start(management).await?;
        extension.register(management, NAME, &json!({})).await?;
        management.namespace(NAME).await?;
        let mut specs = Vec::new();
        for class in ["foo", "foo-extension"] {
            released_class(management, NAME, &format!("clusterclass-{class}.yaml")).await?;
            topology::with_variables(management, NAME, class).await?;
            management.rig().link_cluster(NAME, class).await?;
            management.apply(&cluster(NAME, class, |_| {})).await?;
            specs.push(complete(management, (NAME, class), 4).await?);
        }
        ensure!(specs[0] == specs[1], "{:#?}\n{:#?}", specs[0], specs[1]);
        let (one, several) = (&specs[0]["FooMachinePool one"], &specs[0]["FooMachinePool several"]);
        ensure!(text(one, "/sshKeyName") == "operators" && one["maxSize"] == 7, "{one:#}");
        ensure!(several["mixedInstances"]["onDemandPercentage"] == 0, "{several:#}");
        ensure!(extension.aws.simulator().calls("DescribeImages") > 0, "the validation did not call AWS");
        Ok(())
    });
}

/// Its schemas, the rules of the API in them included, are ones that core accepts.
#[test]
fn both_eks_classes_create_the_same_cluster_on_the_real_core() {
    const NAME: &str = "our-eks-classes";
    on_management(async |management| {
        let extension = ReleasedExtension::start(management).await?;
        extension.register(management, NAME, &json!({})).await?;
        management.namespace(NAME).await?;
        let mut specs = Vec::new();
        for class in ["foo-eks", "foo-eks-extension"] {
            released_class(management, NAME, &format!("clusterclass-{class}.yaml")).await?;
            topology::with_variables(management, NAME, class).await?;
            management.rig().link_cluster(NAME, class).await?;
            management.apply(&eks_cluster(NAME, class)).await?;
            specs.push(complete(management, (NAME, class), 6).await?);
        }
        ensure!(specs[0] == specs[1], "{:#?}\n{:#?}", specs[0], specs[1]);
        let (one, several) = (&specs[0]["FooMachinePool one"], &specs[0]["FooMachinePool several"]);
        ensure!(one["ami"] == json!({"id": IMAGE_X86_64}), "{one:#}");
        let recommended = json!({"recommended": {"family": "Bottlerocket"}, "policy": "Latest"});
        ensure!(several["ami"] == recommended, "{several:#}");
        let nodes = &specs[0]["FooNodeConfig several"];
        ensure!(text(nodes, "/taints/0/value") == "a" && text(nodes, "/labels/team") == "a", "{nodes:#}");
        // A value that the field does not accept gets no further than core's webhook.
        let mut odd = eks_cluster(NAME, "foo-eks-extension");
        odd["spec"]["topology"]["variables"] =
            json!(listed(&json!({"region": "eu-central-1", "roleARN": "eks", "instanceProfile": "nodes"})));
        let refused =
            management.apply(&odd).await.err().map(|error| format!("{error:#}")).unwrap_or_default();
        ensure!(refused.contains("roleARN"), "{refused}");
        Ok(())
    });
}

#[test]
fn a_topology_that_aws_would_refuse_is_refused_before_anything_exists() {
    const NAME: &str = "our-refusal";
    on_management(async |management| {
        let extension = ReleasedExtension::start(management).await?;
        extension.aws.simulator().region("eu-central-1").set_vcpu_quota(QuotaClass::Standard, Some(5))?;
        extension.register(management, NAME, &json!({})).await?;
        management.namespace(NAME).await?;
        released_class(management, NAME, "clusterclass-foo-extension.yaml").await?;
        topology::with_variables(management, NAME, "foo-extension").await?;
        management.rig().link_cluster(NAME, "foo-extension").await?;
        let wrong = cluster(NAME, "foo-extension", |cluster| {
            let overrides =
                &mut cluster["spec"]["topology"]["workers"]["machinePools"][0]["variables"]["overrides"];
            overrides[0] = json!({"name": "instanceType", "value": "m99.large"});
        });
        management.apply(&wrong).await?;
        let refused = "pool one: instance type m99.large in eu-central-1 does not exist";
        topology::has_condition(management, NAME, "foo-extension", &[refused]).await?;
        let there = made(management, NAME, "foo-extension").await?;
        ensure!(there.is_empty(), "{there:#?}");
        // A value that the field does not accept gets no further than core's webhook.
        let odd = cluster(NAME, "foo-extension", |cluster| {
            let variables = cluster["spec"]["topology"]["variables"].as_array_mut();
            for variable in variables.into_iter().flatten().filter(|variable| variable["name"] == "amiID") {
                variable["value"] = json!("not an image");
            }
        });
        let refused =
            management.apply(&odd).await.err().map(|error| format!("{error:#}")).unwrap_or_default();
        ensure!(refused.contains("amiID"), "{refused}");
        // Two instances and one, of 2 vCPUs each.
        management.apply(&cluster(NAME, "foo-extension", |_| {})).await?;
        let refused = "pools one, several: 6 vCPUs are requested, and the account's quota L-1216C47A";
        topology::has_condition(management, NAME, "foo-extension", &[refused]).await?;
        let there = made(management, NAME, "foo-extension").await?;
        ensure!(there.is_empty(), "{there:#?}");
        let fits = cluster(NAME, "foo-extension", |cluster| {
            cluster["spec"]["topology"]["workers"]["machinePools"][0]["replicas"] = json!(1);
        });
        management.apply(&fits).await?;
        complete(management, (NAME, "foo-extension"), 4).await.map(drop)
    });
}
