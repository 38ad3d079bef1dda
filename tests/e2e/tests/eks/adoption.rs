//! A cluster that a user made by hand: it is taken over as it is, upgraded, and left when its objects go. Its objects are written by
//! hand, or by the plugin.

use super::clock::{WAITING, has_condition_in_time, in_time, restarts, run_alone};
use super::drains;
use super::parts::{
    SOON_ON_EKS, cluster_with_identity, create_by_hand, delete_by_hand, eks_name, has_condition,
    has_its_server, name_by_hand, names_by_hand, pool_with, role_arn, runs, simulated,
};
use crate::contract::user_of_aws::UserOfAws;
use anyhow::{Context as _, Result, ensure};
use foo_cloud::Clusters as _;
use foo_e2e::{Worlds, kubectl_foo, kubectl_foo_with};
use foo_model::eks::{
    AccessPolicy, AccessScope, AddonChange, AddonSettings, Change, ClusterStatus, EntryChange, EntryKind,
    NewAddon, NewEntry, ResolveConflicts, TagChange,
};
use foo_model::names::{TAG_ADOPTABLE, TAG_ADOPTED};
use foo_model::network::Tags;
use foo_simulator::core::eks::cluster::Cluster as Simulated;
use foo_testbed::world::kinds::{Kind, text};
use foo_testbed::world::{Cluster, QUIET_PERIOD, REGION};
use foo_testbed::{Printed, Probe, World, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Our tags.
const PREFIX: &str = "infrastructure.foo.com/";

#[test]
fn an_adopted_cluster_is_upgraded_around_a_budget_and_stays_when_its_objects_are_deleted() {
    static WORLDS: Worlds<1> = Worlds::new(module_path!());
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

#[test]
fn the_manifest_that_the_plugin_writes_adopts_a_cluster_and_changes_nothing_in_it() {
    // Without a clock of its own: the AWS CLI signs by the real time.
    super::parts::run_alone(async |world| {
        let name = "written";
        create_by_hand(world, name).await?;
        let cluster = world.no_cluster(name).await?;
        is_active(world, &name_by_hand(name)).await?;
        a_user_configures_it(world, name).await?;
        world.apply(&identity_of_writers(name, false)).await?;
        let aws = UserOfAws::of(world).await?;
        let written = is_written_by_the_plugin(world, name, &aws).await?;
        let made = world.aws().region().cluster(&name_by_hand(name)).context("no EKS cluster")?;
        let apply = ["apply", "--server-side", "-f", "-"];
        world.api().run("kubectl", apply, &[], &written.stdout).await?;
        has_condition(&cluster, "ClusterReady", "it to wait for consent", |(_, reason, _)| {
            reason == "AdoptionNotAllowed"
        })
        .await?;
        // The administrator and the owner do what they are advised to.
        world.apply(&identity_of_writers(name, true)).await?;
        let tag = written.stderr.lines().map(str::trim).find(|line| line.starts_with("aws eks tag-resource"));
        let tag = tag.with_context(|| written.stderr.clone())?;
        world.api().run("/bin/sh", ["-c", tag], &aws.env(), "").await?;
        // One that starts reads all of EKS.
        restarts(world).await?;
        has_its_server(&cluster).await?;
        for kind in ["ClusterReady", "AccessReady", "AddonsReady"] {
            has_condition(&cluster, kind, "it to be ready", |(status, ..)| status == "True").await?;
        }
        runs(&cluster, "v1.34.0").await?;
        is_as_it_was(&cluster, &made)?;
        // The manifest has all settings, so nothing changes either when defaults apply.
        cluster.patch(Kind::FooControlPlane, &json!({"spec": {"eks": {"adopt": false}}})).await?;
        // A manager that starts compares all of it.
        restarts(world).await?;
        tokio::time::sleep(2 * QUIET_PERIOD).await;
        is_as_it_was(&cluster, &made)?;
        cluster.delete().await?;
        cluster.is_gone(SOON_ON_EKS).await?;
        delete_by_hand(world, name).await
    });
}

/// An add-on with a configuration, and a role with a group and a policy.
async fn a_user_configures_it(world: &World, name: &str) -> Result<()> {
    world.aws().simulator().put_role(foo_testbed::service_role("readers", "ec2.amazonaws.com"));
    let (cluster, principal) = (name_by_hand(name), role_arn("readers"));
    let entry = |change| Change::Entry { cluster: cluster.clone(), principal: principal.clone(), change };
    let new = NewEntry {
        kind: EntryKind::Standard,
        username: None,
        groups: BTreeSet::from(["readers".to_owned()]),
        tags: Tags::new(),
    };
    let policy = AccessPolicy {
        arn: "arn:aws:eks::aws:cluster-access-policy/AmazonEKSViewPolicy".to_owned(),
        scope: AccessScope::Namespaces(BTreeSet::from(["web".to_owned()])),
    };
    let addon = NewAddon {
        version: None,
        settings: AddonSettings {
            configuration: Some(r#"{"env": {"WARM_ENI_TARGET": "2"}}"#.to_owned()),
            service_account_role: None,
        },
        pod_identities: None,
        conflicts: ResolveConflicts::Overwrite,
    };
    let addon = Change::Addon {
        cluster: cluster.clone(),
        name: "vpc-cni".to_owned(),
        change: AddonChange::Create(addon, Tags::new()),
    };
    let another_user = world.aws().simulator().cloud(REGION, "another-user");
    another_user.change_eks(&entry(EntryChange::Create(new)), Some("readers by hand")).await?;
    another_user.change_eks(&entry(EntryChange::Associate(policy)), None).await?;
    another_user.change_eks(&addon, Some("vpc-cni by hand")).await?;
    Ok(())
}

fn identity_of_writers(namespace: &str, allow_adoption: bool) -> Value {
    json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooClusterIdentity",
        "metadata": {"name": "writers"},
        "spec": {"controller": {}, "allowedNamespaces": {"list": [namespace]}, "allowAdoption": allow_adoption},
    })
}

/// What `kubectl foo adopt-cluster` prints, from what the AWS CLI reads of the simulated AWS.
async fn is_written_by_the_plugin(world: &World, name: &str, aws: &UserOfAws) -> Result<Printed> {
    let eks = name_by_hand(name);
    let adopt =
        ["adopt-cluster", &eks, "--region", REGION, "--cluster", name, "-n", name, "--identity", "writers"];
    // Until the add-on is ACTIVE it is in the way.
    let printed = wait_until("nothing to be in the way", SOON_ON_EKS, async || {
        let printed = kubectl_foo_with(world, &adopt, &aws.env(), "").await;
        Ok(match printed {
            Ok(printed) => Probe::Done(printed),
            Err(error) => Probe::NotYet(format!("{error:#}")),
        })
    });
    let printed = printed.await?;
    for expected in ["version: v1.34.0", "WARM_ENI_TARGET", "AmazonEKSViewPolicy", "adopt: true"] {
        ensure!(printed.stdout.contains(expected), "no {expected}:\n{}", printed.stdout);
    }
    let permission = "kubectl patch fooclusteridentity writers";
    for expected in [permission, "the tool that created the cluster has to give it up"] {
        ensure!(printed.stderr.contains(expected), "no {expected}:\n{}", printed.stderr);
    }
    ensure!(!printed.stderr.contains("In the way"), "{}", printed.stderr);
    Ok(printed)
}

/// It has the provider's tags and the entry of its identity, and is otherwise as its owner left it.
fn is_as_it_was(cluster: &Cluster<'_>, made: &Simulated) -> Result<()> {
    let now = simulated(cluster).with_context(|| eks_name(cluster))?;
    ensure!((&now.arn, now.created) == (&made.arn, made.created), "another cluster: {now:#?}");
    ensure!(now.updates.is_empty(), "it was changed: {:?}", now.updates);
    ensure!(now.addons == made.addons, "{:#?}", now.addons);
    let kept = made.entries.iter().all(|(principal, entry)| now.entries.get(principal) == Some(entry));
    ensure!(kept && now.entries.len() == made.entries.len() + 1, "{:#?}", now.entries);
    let (own, others): (Vec<_>, Vec<_>) = now.tags.iter().partition(|(key, _)| key.starts_with(PREFIX));
    ensure!(own.iter().any(|(key, _)| *key == TAG_ADOPTED), "it is not adopted: {own:?}");
    ensure!(others == made.tags.iter().collect::<Vec<_>>(), "{others:?}");
    Ok(())
}

/// The owner of the account and the administrator of the management cluster consent.
async fn allow_its_adoption(world: &World, made: &Simulated) -> Result<()> {
    let tags = [(TAG_ADOPTABLE.to_owned(), "adopted/adopted".to_owned())].into();
    let change = Change::Tags { arn: made.arn.clone(), change: TagChange::Tag(tags) };
    let owner = world.aws().simulator().cloud(REGION, "owner");
    owner.change_eks(&change, None).await?;
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
