//! A cluster that a user made by hand: it is taken over as it is, upgraded, and left when its objects go.

use crate::clock::{WAITING, has_condition_in_time, in_time, run_alone};
use crate::drains;
use crate::parts::{
    SOON_ON_EKS, cluster_with_identity, create_by_hand, delete_by_hand, eks_name, has_its_server,
    names_by_hand, pool_with, runs, simulated,
};
use anyhow::{Context as _, Result, ensure};
use foo_e2e::{Worlds, kubectl_foo};
use foo_model::eks::{Change, ClusterStatus, TagChange};
use foo_model::names::TAG_ADOPTABLE;
use foo_simulator::core::eks::cluster::Cluster as Simulated;
use foo_testbed::world::kinds::text;
use foo_testbed::world::{Cluster, REGION};
use foo_testbed::{Probe, World, wait_until};
use serde_json::{Value, json};

/// Our tags.
const PREFIX: &str = "infrastructure.foo.com/";

#[test]
fn an_adopted_cluster_is_upgraded_around_a_budget_and_stays_when_its_objects_are_deleted() {
    static WORLDS: Worlds<1> = Worlds::new();
    run_alone(&WORLDS, async |world| {
        create_by_hand(world, "adopted").await?;
        drains::images_are_published(world)?;
        let made = is_active(world, "adopted_adopted").await?;
        allow_its_adoption(world, &made).await?;
        let adopts = |object: &mut Value| {
            names_by_hand(object, "adopted");
            object["spec"]["eks"]["adopt"] = json!(true);
        };
        let cluster = cluster_with_identity(world, "adopted", "v1.34.0", "adopters", adopts).await?;
        let recommended = json!({"recommended": {"family": "AL2023"}});
        let workers = (1, json!({"family": "AL2023"}));
        let pool =
            pool_with(&cluster, "workers", "v1.34.0", workers, |spec| spec["ami"] = recommended).await?;
        has_its_server(&cluster).await?;
        runs(&cluster, "v1.34.0").await?;
        for kind in ["ClusterReady", "AccessReady"] {
            has_condition_in_time(&cluster, WAITING, kind, "it to be ready", |(status, ..)| status == "True")
                .await?;
        }
        in_time(&cluster, WAITING, "the add-ons to be there", async || {
            let addons = simulated(&cluster).context("no EKS cluster")?.addons;
            Ok(Probe::when(addons.len() == 3, || format!("{:?}", addons.keys())))
        })
        .await?;
        is_taken_over(&cluster, &made)?;
        let planned = planned_updates(world).await?;
        drains::an_upgrade_waits_for_a_budget(world, &cluster, &pool).await?;
        let made_updates = simulated(&cluster).context("no EKS cluster")?.updates.len();
        ensure!(planned == made_updates, "{planned} updates were planned, {made_updates} were made");
        // Cluster API drains no Machines of a Cluster that is being deleted, and this one's pods continue elsewhere.
        pool.delete().await?;
        pool.is_gone(SOON_ON_EKS).await?;
        cluster.delete().await?;
        cluster.is_gone(SOON_ON_EKS).await?;
        is_left(&cluster, &made)?;
        delete_by_hand(world, "adopted").await
    });
}

/// The owner of the account and the administrator of the management cluster consent.
async fn allow_its_adoption(world: &World, made: &Simulated) -> Result<()> {
    let tags = [(TAG_ADOPTABLE.to_owned(), "adopted/adopted".to_owned())].into();
    let change = Change::Tags { arn: made.arn.clone(), change: TagChange::Tag(tags) };
    let owner = world.aws().simulator().cloud(REGION, "owner");
    foo_cloud::Clusters::change_eks(&owner, &change, None).await?;
    let identity = json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooClusterIdentity",
        "metadata": {"name": "adopters"},
        "spec": {"controller": {}, "allowedNamespaces": {"list": ["adopted"]}, "allowAdoption": true},
    });
    world.apply(&identity).await
}

/// The cluster in the simulated EKS, once it is ACTIVE.
async fn is_active(world: &World, name: &str) -> Result<Simulated> {
    wait_until("the cluster to be ACTIVE", SOON_ON_EKS, async || {
        let cluster = world.aws().region().cluster(name).context("no cluster")?;
        let active = cluster.status == ClusterStatus::Active;
        Ok(if active { Probe::Done(cluster) } else { Probe::NotYet(format!("{:?}", cluster.status)) })
    })
    .await
}

/// It is the same cluster, configured as it was, with our tags and with what was requested beside it.
fn is_taken_over(cluster: &Cluster<'_>, made: &Simulated) -> Result<()> {
    let now = simulated(cluster).with_context(|| eks_name(cluster))?;
    ensure!((&now.arn, now.created) == (&made.arn, made.created), "another cluster: {now:#?}");
    ensure!(now.updates.is_empty(), "it was changed: {:?}", now.updates);
    ensure!(now.tags.keys().any(|key| key.starts_with(PREFIX)), "it is not adopted: {:?}", now.tags);
    let kept = made.entries.iter().all(|(principal, entry)| now.entries.get(principal) == Some(entry));
    ensure!(kept && now.entries.len() == made.entries.len() + 2, "{:#?}", now.entries);
    Ok(())
}

/// How many updates of the cluster and its add-ons `kubectl foo plan` foresees for the version that is requested next.
async fn planned_updates(world: &World) -> Result<usize> {
    let manifest = json!({
        "apiVersion": "controlplane.foo.com/v1alpha1", "kind": "FooControlPlane",
        "metadata": {"name": "adopted"}, "spec": {"version": "v1.36.0"},
    });
    let command = ["plan", "-f", "-", "-o", "json", "-n", "adopted"];
    let printed: Value = serde_json::from_str(&kubectl_foo(world, &command, &manifest.to_string()).await?)?;
    let plan = printed.pointer("/controlPlanes/0").context("no plan")?;
    ensure!(plan["outcome"] == "Settled" && plan["seconds"].as_i64() > Some(1200), "{printed:#}");
    let calls = plan["calls"].as_array().context("no calls")?;
    Ok(calls.iter().filter(|call| text(call, "/operation").starts_with("Update")).count())
}

/// It is not managed by others, and it is as it was last.
fn is_left(cluster: &Cluster<'_>, made: &Simulated) -> Result<()> {
    let now = simulated(cluster).context("it was deleted")?;
    ensure!((&now.arn, now.status) == (&made.arn, ClusterStatus::Active), "{now:#?}");
    ensure!(now.version.to_string() == "1.36" && now.addons.len() == 3, "{now:#?}");
    let own: Vec<&String> =
        now.tags.keys().filter(|key| key.starts_with(PREFIX) && *key != TAG_ADOPTABLE).collect();
    ensure!(own.is_empty(), "it can be adopted again only without the provider's tags: {own:?}");
    Ok(())
}
