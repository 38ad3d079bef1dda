//! `kubectl foo preflight` finds what AWS would refuse, and what the manager may not do; `rollout history` and `undo` what a pool
//! launched before.

use super::WORLD;
use super::user_of_aws::UserOfAws;
use anyhow::{Result, ensure};
use foo_e2e::kubectl_foo_with;
use foo_simulator::{DEFAULT_ACCOUNT, Role};
use foo_testbed::world::kinds::{self, Kind};
use foo_testbed::world::{Pool, REGION, SOON, World, manifests};
use foo_testbed::{Probe, wait_until};
use serde_json::{Value, json};

/// The published policies.
const POLICY: &str = include_str!("../../../../docs/reference/iam-policy.json");
const NETWORK_POLICY: &str = include_str!("../../../../docs/reference/iam-network-policy.json");
const CONTROL_PLANE_POLICY: &str = include_str!("../../../../docs/reference/iam-control-plane-policy.json");

#[test]
fn preflight_finds_what_aws_would_refuse_and_what_the_manager_may_not_do() {
    WORLD.run(async |world| {
        let policy: Value = serde_json::from_str(POLICY)?;
        let mut narrow = policy.clone();
        if let Some(statements) = narrow.pointer_mut("/Statement").and_then(Value::as_array_mut) {
            statements.retain(|it| it["Sid"] != "CreateGroups");
        }
        for (name, policy) in [("preflight-narrow", narrow), ("preflight-whole", policy)] {
            let role = json!({"name": name, "policy": policy});
            world.aws().simulator().put_role(serde_json::from_value::<Role>(role)?);
        }
        let role = |name: &str| format!("arn:aws:iam::{DEFAULT_ACCOUNT}:role/{name}");
        let cluster = world.cluster("preflight").await?;
        let image = "ami-0ffffffffffffffff";
        let pool =
            cluster.pool_with("workers", 0, |_, pool| pool["spec"]["ami"] = json!({"id": image})).await?;
        let aws = UserOfAws::of(world).await?;
        let (env, narrow, whole) = (aws.env(), role("preflight-narrow"), role("preflight-whole"));
        let command =
            |principal: &'static str| ["preflight", "preflight", "-n", "preflight", "--principal", principal];
        let (narrow, whole): (&'static str, &'static str) = (narrow.leak(), whole.leak());

        let refused = kubectl_foo_with(world, &command(narrow), &env, "").await;
        let refused = refused.err().map(|error| format!("{error:#}")).unwrap_or_default();
        for expected in [
            &format!("pool workers: image {image} in eu-central-1 does not exist"),
            "CreateGroups of iam-policy.json is not allowed: autoscaling:CreateAutoScalingGroup",
            "exit status: 4",
        ] {
            ensure!(refused.contains(expected), "no {expected}:\n{refused}");
        }
        let usable = foo_simulator::plain_content(b"").image.to_string();
        pool.patch(Kind::FooMachinePool, &json!({"spec": {"ami": {"id": usable}}})).await?;
        let printed = kubectl_foo_with(world, &command(whole), &env, "").await?;
        ensure!(
            printed.stdout.contains("Nothing was found that AWS would refuse"),
            "{}\n{}",
            printed.stdout,
            printed.stderr
        );
        ensure!(printed.stderr.is_empty(), "{}", printed.stderr);
        returns_to_the_earlier_type(world, &pool, &aws).await?;
        pool.delete().await?;
        Ok(())
    });
}

/// A paused Cluster with everything that is looked up in AWS: nothing of it is created, and all of it can be checked.
#[test]
fn preflight_reads_what_a_cluster_on_eks_in_a_new_network_needs() {
    WORLD.run(async |world| {
        let name = "preflight-eks";
        let mut statements = Vec::new();
        for policy in [POLICY, NETWORK_POLICY, CONTROL_PLANE_POLICY] {
            let policy: Value = serde_json::from_str(policy)?;
            statements.extend(policy["Statement"].as_array().cloned().unwrap_or_default());
        }
        let role = json!({"name": name, "policy": {"Version": "2012-10-17", "Statement": statements}});
        world.aws().simulator().put_role(serde_json::from_value::<Role>(role)?);
        for object in paused_cluster(name) {
            world.apply(&object).await?;
        }
        let aws = UserOfAws::of(world).await?;
        let principal = format!("arn:aws:iam::{DEFAULT_ACCOUNT}:role/{name}");
        let command = ["preflight", name, "-n", name, "--principal", &principal, "-o", "json"];
        let command = [command.as_slice(), &["--kubernetes-version", "v1.60.0"]].concat();
        let checked = kubectl_foo_with(world, &command, &aws.env(), "").await;
        let refused = checked.err().map(|error| format!("{error:#}")).unwrap_or_default();
        // EKS does not have that version yet, and the policy lets it have roles of certain names only.
        for expected in [
            "EKS does not offer Kubernetes 1.60 in eu-central-1",
            "/aws/service/eks/optimized-ami/1.60/amazon-linux-2023/x86_64/standard/recommended/image_id",
            "\"unknown\": []",
            "GiveClustersTheirRole of iam-control-plane-policy.json is not allowed: iam:PassRole",
            "exit status: 4",
        ] {
            ensure!(refused.contains(expected), "no {expected}:\n{refused}");
        }
        Ok(())
    });
}

fn paused_cluster(name: &str) -> Vec<Value> {
    let reference = |group: &str, kind: &str| json!({"apiGroup": group, "kind": kind, "name": name});
    let object = |api: &str, kind: &str, spec: Value| {
        let labels = json!({"cluster.x-k8s.io/cluster-name": name});
        let metadata = json!({"name": name, "namespace": name, "labels": labels});
        json!({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec})
    };
    let (core, foo) = ("cluster.x-k8s.io/v1beta2", "infrastructure.foo.com");
    let template = json!({
        "version": "v1.36.0", "clusterName": name,
        "bootstrap": {"dataSecretName": "none"}, "infrastructureRef": reference(foo, "FooMachinePool"),
    });
    let role = format!("arn:aws:iam::{DEFAULT_ACCOUNT}:role/preflight-control-plane");
    vec![
        manifests::namespace(name),
        object(
            core,
            "Cluster",
            json!({
                "paused": true,
                "infrastructureRef": reference(foo, "FooCluster"),
                "controlPlaneRef": reference("controlplane.foo.com", "FooControlPlane"),
            }),
        ),
        object(
            "infrastructure.foo.com/v1alpha1",
            "FooCluster",
            json!({"region": REGION, "network": {"managed": {}}}),
        ),
        object(
            "controlplane.foo.com/v1alpha1",
            "FooControlPlane",
            json!({"version": "v1.36.0", "eks": {"roleARN": role}}),
        ),
        object(
            "infrastructure.foo.com/v1alpha1",
            "FooMachinePool",
            json!({
                "instanceType": "m7i.large", "ami": {"recommended": {"family": "AL2023"}},
                "iamInstanceProfile": "preflight.nodes.infrastructure.foo.com",
            }),
        ),
        object(
            core,
            "MachinePool",
            json!({"clusterName": name, "replicas": 2, "template": {"spec": template}}),
        ),
    ]
}

/// The history of a pool whose instance type changed, and the way back.
async fn returns_to_the_earlier_type(world: &World, pool: &Pool<'_>, aws: &UserOfAws) -> Result<()> {
    let env = aws.env();
    let shows = async |expected: &str| {
        wait_until(&format!("the history to show {expected}"), SOON, async || {
            let history = ["rollout", "history", "workers", "-n", "preflight"];
            let printed = kubectl_foo_with(world, &history, &env, "").await?.stdout;
            Ok(if printed.contains(expected) { Probe::Done(()) } else { Probe::NotYet(printed) })
        })
        .await
    };
    shows("1* ").await?;
    pool.patch(Kind::FooMachinePool, &json!({"spec": {"instanceType": "m7i.xlarge"}})).await?;
    shows("InstanceType: m7i.large -> m7i.xlarge").await?;
    shows("2* ").await?;
    let undo = ["rollout", "undo", "workers", "-n", "preflight"];
    let tried = kubectl_foo_with(world, &[undo.as_slice(), &["--dry-run"]].concat(), &env, "").await?;
    ensure!(tried.stdout.contains("would return to the instance type of version 1"), "{}", tried.stdout);
    let done = kubectl_foo_with(world, &undo, &env, "").await?;
    ensure!(done.stdout.contains("spec.instanceType: m7i.xlarge -> m7i.large"), "{}", done.stdout);
    let view = pool.view().await?;
    let found = view.foo_pool.as_ref().map(|it| kinds::text(it, "/spec/instanceType").to_owned());
    ensure!(found.as_deref() == Some("m7i.large"), "{found:?}");
    Ok(())
}
