//! A group that another tool created: its Nodes and their Pods run on while a pool adopts it, and are drained when the user begins
//! the roll-out.

use super::WORLD;
use super::user_of_aws::UserOfAws;
use anyhow::{Context as _, Result, anyhow, ensure};
use foo_cloud::{Compute as _, Groups as _};
use foo_e2e::kubectl_foo_with;
use foo_model::names::{TAG_ADOPTABLE, TAG_ADOPTED};
use foo_model::{GroupName, GroupSettings, InstanceId, NewGroup, Protection, SubnetId, TemplateContent};
use foo_simulator::plain_content;
use foo_testbed::world::kinds::{self, Kind};
use foo_testbed::world::manifests;
use foo_testbed::world::{
    AFTER_DRAIN, Cluster, GROUP_LABEL, MachineView, Pool, PoolView, QUIET_PERIOD, REGION, SOON, SUBNETS,
    World,
};
use foo_testbed::{Probe, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[test]
fn an_adopted_group_keeps_its_nodes_with_their_pods_until_the_user_begins_the_roll_out() {
    WORLD.run(async |world| {
        let cluster = cluster_that_may_adopt(world, "adopting").await?;
        let pool = cluster.existing_pool("workers");
        let group = pool.group();
        another_tool_creates_a_group(world, &cluster, &group).await?;
        pool.wait("to have two Nodes", SOON, |view| view.instances.len() == 2).await?;
        let web = pool.run("web", 2).await?;
        web.is_ready(2).await?;
        let before = pool.view().await?;
        let uids = uids_of_nodes(world, &group).await?;
        ensure!(uids.len() == 2, "{uids:?}");

        let manifest = written_by_the_plugin(world, &cluster, &group).await?;
        // One replica less than the group has.
        let manifest = manifest.replace("replicas: 2", "replicas: 1");
        let apply = ["apply", "--server-side", "-f", "-"];
        world.api().run("kubectl", apply, &[], &manifest).await?;
        let is_held = |view: &PoolView| {
            view.condition("AutoScalingGroupReady").is_some_and(|(_, reason, _)| reason == "AdoptionWaiting")
        };
        pool.wait("to wait for its replicas", SOON, is_held).await?;
        pool.scale(2).await?;
        let has_machines = |view: &PoolView| view.good().count() == 2;
        let adopted = pool.wait("to have a Machine for each instance", SOON, has_machines).await?;
        ensure!(adopted.instances == before.instances, "{adopted}");
        let stays = |view: &PoolView| view.instances == before.instances && has_machines(view);
        pool.stays("with its instances", QUIET_PERIOD, stays).await?;
        ensure!(uids_of_nodes(world, &group).await? == uids, "a Node was deleted");
        shows_the_console(world, &pool, &adopted).await?;
        let tags = adopted.group.context("the group")?.tags;
        ensure!(tags.contains_key(TAG_ADOPTED), "{tags:?}");
        web.is_ready(2).await?;

        // The budget allows none of the Pods to go: the roll-out waits for it, as for every drain.
        pool.patch(Kind::FooMachinePool, &json!({"spec": {"adopt": false}})).await?;
        let waits = |view: &PoolView| view.deleting().any(MachineView::waits_for_budget);
        pool.wait("to wait for the budget", SOON, waits).await?;
        web.allow(1).await?;
        let is_replaced = |view: &PoolView| {
            view.is_settled_at(2) && view.instances.keys().all(|id| !before.instances.contains_key(id))
        };
        pool.wait("to have replaced its instances", 2 * AFTER_DRAIN, is_replaced).await?;
        web.is_ready(2).await?;

        // It stays, as its pool does not say otherwise.
        pool.delete().await?;
        let gone = |view: &PoolView| view.machine_pool.is_none() && view.foo_pool.is_none();
        let after = pool.wait("to be deleted in Kubernetes", AFTER_DRAIN, gone).await?;
        ensure!(after.instances.len() == 2 && after.group.is_some(), "{after}");
        let aws = UserOfAws::of(world).await?;
        let orphans = kubectl_foo_with(world, &["orphans", "--region", REGION], &aws.env(), "").await;
        let orphans = orphans.err().map(|error| format!("{error:#}")).unwrap_or_default();
        let retained = orphans.lines().find(|line| line.contains(&group) && line.contains("it was retained"));
        ensure!(retained.is_some() && orphans.contains("exit status: 4"), "{orphans}");
        let again = cluster
            .pool_with("workers", 2, |_, pool| {
                pool["spec"]["groupName"] = json!(group);
                pool["spec"]["deletionPolicy"] = json!("Delete");
                pool["metadata"]["annotations"] = json!({"infrastructure.foo.com/adopt-from": "retained"});
            })
            .await?;
        again.settles_at(2).await?;
        web.allow(2).await?;
        again.delete().await?;
        again.is_gone(AFTER_DRAIN).await?;
        Ok(())
    });
}

/// A Cluster whose identity allows adoption.
async fn cluster_that_may_adopt<'w>(world: &'w World, name: &str) -> Result<Cluster<'w>> {
    let identity = json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooClusterIdentity",
        "metadata": {"name": name},
        "spec": {"controller": {}, "allowedNamespaces": {"list": [name]}, "allowAdoption": true},
    });
    world.apply(&identity).await?;
    let cluster = world.cluster(name).await?;
    cluster.patch(Kind::FooCluster, &json!({"spec": {"identityRef": {"name": name}}})).await?;
    Ok(cluster)
}

/// Two instances of the Cluster that no FooMachinePool knows, and which the owner of the account lets its pool adopt.
pub(crate) async fn another_tool_creates_a_group(
    world: &World,
    cluster: &Cluster<'_>,
    group: &str,
) -> Result<()> {
    let owner = world.aws().simulator().cloud(REGION, "owner");
    let content = TemplateContent {
        tags: BTreeMap::from([(format!("kubernetes.io/cluster/{}", cluster.name()), "owned".to_owned())]),
        ..plain_content(b"another tool's")
    };
    let name = format!("{group}-of-another-tool");
    let template = owner.create_template(&name, &content, "", &BTreeMap::new(), &name).await?.made;
    let new = NewGroup {
        name: GroupName::new(group),
        min: 1,
        max: 4,
        desired: Some(2),
        template,
        mix: None,
        settings: GroupSettings {
            new_instances: Protection::Unprotected,
            ..GroupSettings::in_subnets(SUBNETS.map(SubnetId::new).into())
        },
        traffic_sources: [].into(),
        drain_hook: None,
        hooks: [].into(),
        tags: BTreeMap::from([(TAG_ADOPTABLE.to_owned(), format!("{}/workers", cluster.namespace()))]),
    };
    owner.create_group(&new).await?;
    Ok(())
}

/// The manifest that `kubectl foo adopt` writes, from what the AWS CLI reads of the simulated AWS.
async fn written_by_the_plugin(world: &World, cluster: &Cluster<'_>, group: &str) -> Result<String> {
    let aws = UserOfAws::of(world).await?;
    let env = aws.env();
    let pool = cluster.existing_pool("workers");
    let secret = pool.name().bootstrap_secret();
    let mut data = manifests::bootstrap_secret(pool.name());
    let metadata = data.pointer_mut("/metadata").and_then(Value::as_object_mut).context("metadata")?;
    metadata.insert("labels".to_owned(), json!({"cluster.x-k8s.io/cluster-name": cluster.name()}));
    world.apply(&data).await?;
    let adopt = ["adopt", group, "--name", "workers", "-n", cluster.namespace(), "--cluster", cluster.name()];
    let adopt = [adopt.as_slice(), &["--bootstrap-secret", &secret]].concat();
    // AWS's reads are a moment late: until then instances that are Pending are in the way.
    let plan = wait_until("nothing to be in the way", SOON, async || {
        let planned = kubectl_foo_with(world, &[adopt.as_slice(), &["--plan"]].concat(), &env, "").await;
        Ok(match planned {
            Ok(planned) => Probe::Done(planned),
            Err(error) => Probe::NotYet(format!("{error:#}")),
        })
    });
    let plan = plan.await?;
    for expected in
        ["1 AdoptGroup", "adopts an Auto Scaling group that exists", "instances that launch or run: 2 now"]
    {
        ensure!(plan.stdout.contains(expected), "no {expected}:\n{}\n{}", plan.stdout, plan.stderr);
    }
    let printed = kubectl_foo_with(world, &adopt, &env, "").await?;
    for expected in ["Different for instances that are launched later", "user data: "] {
        ensure!(printed.stderr.contains(expected), "no {expected}:\n{}", printed.stderr);
    }
    ensure!(!printed.stderr.contains("In the way") && !printed.stderr.contains("Next"), "{}", printed.stderr);
    ensure!(printed.stdout.contains("replicas: 2"), "{}", printed.stdout);
    Ok(printed.stdout)
}

/// `kubectl foo console` shows what an instance wrote.
async fn shows_the_console(world: &World, pool: &Pool<'_>, view: &PoolView) -> Result<()> {
    let machine = view.good().next().context("a Machine")?;
    let id = &machine.instance;
    let written = "[\u{1b}[0;32m  OK  \u{1b}[0m] Started kubelet.\r\n";
    world
        .aws()
        .region()
        .write_console(&InstanceId::new(id), written)
        .map_err(|error| anyhow!("{error:?}"))?;
    let aws = UserOfAws::of(world).await?;
    let command = ["console", &machine.name, "-n", &pool.name().namespace];
    let printed = kubectl_foo_with(world, &command, &aws.env(), "").await?;
    ensure!(printed.stdout == "[  OK  ] Started kubelet.\n", "{:?}", printed.stdout);
    ensure!(
        printed.stderr.starts_with(&format!("warning: console output of {id} until ")),
        "{}",
        printed.stderr
    );
    Ok(())
}

/// The uids of the Nodes of a group's instances.
async fn uids_of_nodes(world: &World, group: &str) -> Result<Vec<String>> {
    let nodes = kinds::list(world.client(), Kind::Node, "", &format!("{GROUP_LABEL}={group}")).await?;
    let mut uids: Vec<String> =
        nodes.iter().map(|node| kinds::text(node, "/metadata/uid").to_owned()).collect();
    uids.sort();
    Ok(uids)
}
