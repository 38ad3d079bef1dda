//! The days of a cluster that runs: what others do to it in EKS, what breaks there, and tokens.

use super::clock::{IDLE, has_condition_in_time, restarts, run_alone};
use super::life::has_nodes;
use super::parts::{
    NODE_ROLE, SOON_ON_EKS, cluster_in_existing_network, eks_name, has_access, has_condition, has_its_server,
    is_deleted, pool, role_arn, runs, simulated,
};
use super::tokens;
use anyhow::{Context as _, Result, ensure};
use foo_e2e::Worlds;
use foo_model::eks::{Change, EntryChange, EntryKind, Issue, NewEntry};
use foo_model::network::Tags;
use foo_simulator::core::eks::identities::AccessEntry;
use foo_testbed::world::kinds::{Kind, condition, text};
use foo_testbed::world::{Cluster, Pool, REGION, SOON};
use foo_testbed::{Probe, World, wait_until};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn a_cluster_that_runs_keeps_its_access_its_addons_and_its_tokens() {
    static WORLDS: Worlds<1> = Worlds::new(module_path!());
    run_alone(&WORLDS, async |world| {
        let cluster = cluster_in_existing_network(world, "days", "v1.36.0", |_| {}).await?;
        let pool = pool(&cluster, "workers", "v1.36.0", 1, json!({"family": "AL2023"})).await?;
        has_its_server(&cluster).await?;
        runs(&cluster, "v1.36.0").await?;
        has_nodes(&cluster, "workers", 1).await?;
        for kind in ["AddonsReady", "AccessReady"] {
            has_condition(&cluster, kind, "it to be ready", |(status, ..)| status == "True").await?;
        }
        deleted_entries_are_restored(world, &cluster, &pool).await?;
        a_degraded_addon_delays_nothing(world, &cluster, &pool).await?;
        tokens::an_hour_passes(world, &cluster).await?;
        tokens::the_manager_is_away_for_five_minutes(world, &cluster).await?;
        is_deleted(&cluster).await
    });
}

/// What an entry gives, whenever it was created.
fn gives(entry: &AccessEntry) -> (String, Vec<String>, String, Vec<String>) {
    let kind = format!("{:?}", entry.kind);
    (kind, entry.groups.clone(), entry.username.clone(), entry.policies.keys().cloned().collect())
}

fn entries(cluster: &Cluster<'_>) -> Result<BTreeMap<String, AccessEntry>> {
    Ok(simulated(cluster).context("no EKS cluster")?.entries)
}

/// That of our own identity and that of the nodes' role are deleted by hand. Another owner's entry stays as it is
/// meanwhile.
async fn deleted_entries_are_restored(world: &World, cluster: &Cluster<'_>, pool: &Pool<'_>) -> Result<()> {
    let before = entries(cluster)?;
    let nodes = role_arn(NODE_ROLE);
    ensure!(before.len() == 2 && before.contains_key(&nodes), "{:?}", before.keys());
    let (name, foreign) = (eks_name(cluster), role_arn("people"));
    world.aws().simulator().put_role(foo_testbed::service_role("people", "ec2.amazonaws.com"));
    let another_user = world.aws().simulator().cloud(REGION, "another-user");
    let of = |principal: &String, change| Change::Entry {
        cluster: name.clone(),
        principal: principal.clone(),
        change,
    };
    let new = NewEntry {
        kind: EntryKind::Standard,
        username: None,
        groups: BTreeSet::from(["people".to_owned()]),
        tags: Tags::new(),
    };
    let change = of(&foreign, EntryChange::Create(new));
    foo_cloud::Clusters::change_eks(&another_user, &change, Some("by hand")).await?;
    let foreign_entry = entries(cluster)?.remove(&foreign).context("no foreign entry")?;
    for principal in before.keys() {
        let change = of(principal, EntryChange::Delete);
        foo_cloud::Clusters::change_eks(&another_user, &change, None).await?;
    }
    // kube-apiserver believes a token for ten seconds that it has just reviewed.
    wait_until("who has no entry to stay out", SOON, async || {
        Ok(Probe::when(has_access(cluster).await.is_err(), || "it gets in".to_owned()))
    })
    .await?;
    restarts(world).await?;
    wait_until("the entries to be there again", SOON_ON_EKS, async || {
        let now = entries(cluster)?;
        let are_back = before.iter().all(|(it, was)| now.get(it).map(gives) == Some(gives(was)));
        Ok(Probe::when(are_back, || format!("{now:#?}")))
    })
    .await?;
    ensure!(entries(cluster)?.get(&foreign) == Some(&foreign_entry), "the foreign entry was changed");
    wait_until("the manager to get in", SOON, async || {
        let refused = has_access(cluster).await.err();
        Ok(Probe::when(refused.is_none(), || format!("{refused:?}")))
    })
    .await?;
    pool.scale(2).await?;
    has_nodes(cluster, "workers", 2).await?;
    Ok(())
}

/// EKS finds an add-on degraded: its words are in the condition, and the pool continues.
async fn a_degraded_addon_delays_nothing(
    world: &World,
    cluster: &Cluster<'_>,
    pool: &Pool<'_>,
) -> Result<()> {
    let words = "The add-on has no rights to describe network interfaces.";
    let issue = Issue { code: "AccessDenied".to_owned(), message: words.to_owned(), resources: Vec::new() };
    let (region, name) = (world.aws().region(), eks_name(cluster));
    region.set_addon_health(&name, "vpc-cni", vec![issue])?;
    restarts(world).await?;
    let object = has_condition(cluster, "AddonsReady", "the message of EKS", |(status, reason, message)| {
        status == "False"
            && reason == "AddonDegraded"
            && message.contains("vpc-cni")
            && message.contains(words)
    })
    .await?;
    let shown = object.pointer("/status/eks/addons").and_then(Value::as_array).context("no add-ons")?;
    let degraded = shown.iter().find(|it| text(it, "/name") == "vpc-cni").context("no vpc-cni")?;
    ensure!(
        text(degraded, "/status") == "DEGRADED" && text(degraded, "/message").contains(words),
        "{degraded}"
    );
    ensure!(condition(&object, "Ready").is_some_and(|(status, ..)| status == "True"), "{object:#}");
    pool.scale(1).await?;
    has_nodes(cluster, "workers", 1).await?;
    let updates = simulated(cluster).context("no EKS cluster")?.updates.len();
    region.set_addon_health(&name, "vpc-cni", Vec::new())?;
    has_condition_in_time(cluster, IDLE, "AddonsReady", "it to work again", |(status, ..)| status == "True")
        .await?;
    let after = simulated(cluster).context("no EKS cluster")?.updates.len();
    ensure!(after == updates, "an add-on is not updated because it is degraded");
    let object = cluster.read(Kind::FooControlPlane).await?.context("no FooControlPlane")?;
    ensure!(!object.pointer("/status/eks/addons").map_or_else(String::new, Value::to_string).contains(words));
    Ok(())
}
