//! Tokens: an hour of them, and a manager that does not renew them for a while.

use super::clock::passes;
use super::parts::{has_access, has_condition, kubeconfig_secret};
use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::kinds::{History, Kind, condition};
use foo_testbed::world::{Cluster, SOON};
use foo_testbed::{Probe, World, wait_until};
use std::collections::BTreeSet;
use std::time::Duration;

/// The time that passes at once: half of what a token lives before it is renewed.
const STEP: Duration = Duration::from_mins(4);
/// A token with less left is renewed (`RENEWED_WITH` in the controller).
const RENEWED_WITH: Duration = Duration::from_mins(7);
/// How long a token is valid.
const LIFE: Duration = Duration::from_mins(15);
/// An hour.
const STEPS: u32 = 15;

/// How long the token that Cluster API reads is valid, by AWS's clock.
async fn left(world: &World, cluster: &Cluster<'_>) -> Result<Duration> {
    let (_, ends) = kubeconfig_secret(cluster).await?;
    let left = ends.as_millisecond().saturating_sub(world.aws().simulator().real_time().0);
    Ok(Duration::from_millis(u64::try_from(left).unwrap_or_default()))
}

/// How often the managers wrote the Secret that Cluster API reads.
fn writes(world: &World, cluster: &Cluster<'_>) -> Result<usize> {
    let name = format!("{}-kubeconfig", cluster.name());
    let of_it = world.writes()?.into_iter().filter(|it| it.resource == "secrets" && it.name == name);
    Ok(of_it.count())
}

/// How often Cluster API connected to the API server.
fn connections(world: &World, cluster: &Cluster<'_>) -> Result<usize> {
    let log = std::fs::read_to_string(world.rig().folder().join("capi/core.log"))?;
    let name = format!("{}/{}", cluster.namespace(), cluster.name());
    let connected = |line: &&str| line.contains("\"Connected\"") && line.contains(&name);
    Ok(log.lines().filter(connected).count())
}

/// What the Cluster reported of Cluster API's connection.
fn probes(history: &History) -> BTreeSet<String> {
    let versions = history.versions();
    let reported = versions.iter().filter_map(|it| condition(it, "RemoteConnectionProbe"));
    reported.map(|(status, reason, _)| format!("{status} {reason}")).collect()
}

/// An hour passes. The token in the kubeconfig is always valid; it is not written, and Cluster API does not connect
/// again, more often than the lifetime of a token requires.
pub(crate) async fn an_hour_passes(world: &World, cluster: &Cluster<'_>) -> Result<()> {
    let history = world.history(Kind::Cluster, cluster.namespace()).await?;
    let (written, connected) = (writes(world, cluster)?, connections(world, cluster)?);
    ensure!(connected > 0, "the log of Cluster API does not show when it connects");
    for step in 0..STEPS {
        passes(cluster, STEP).await?;
        has_access(cluster).await.with_context(|| format!("after {step} steps"))?;
        wait_until("the token to be fresh", SOON, async || {
            let left = left(world, cluster).await?;
            Ok(Probe::when(left > RENEWED_WITH, || format!("{left:?} left")))
        })
        .await?;
    }
    has_access(cluster).await?;
    let (written, connected) = (writes(world, cluster)? - written, connections(world, cluster)? - connected);
    println!("an hour of tokens: {written} writes of the Secret, {connected} connections of Cluster API");
    ensure!((7..=8).contains(&written), "{written} writes in an hour");
    let lives = usize::try_from((STEP * STEPS).as_secs() / LIFE.as_secs())?;
    ensure!(connected <= lives + 1, "Cluster API connected {connected} times in {lives} lives of a token");
    stays_connected(&history)?;
    has_condition(cluster, "Available", "the API server to respond", |(status, ..)| status == "True").await?;
    Ok(())
}

fn stays_connected(history: &History) -> Result<()> {
    let probes = probes(history);
    ensure!(probes.iter().all(|it| it.starts_with("True ")), "Cluster API lost the connection: {probes:?}");
    Ok(())
}

/// The manager stops just before it would renew the token, and comes back after five minutes.
pub(crate) async fn the_manager_is_away_for_five_minutes(world: &World, cluster: &Cluster<'_>) -> Result<()> {
    let history = world.history(Kind::Cluster, cluster.namespace()).await?;
    let spare = Duration::from_secs(20);
    let before_renewal = left(world, cluster).await?.checked_sub(RENEWED_WITH + spare);
    passes(cluster, before_renewal.context("the token is about to be renewed")?).await?;
    let (_, ends) = kubeconfig_secret(cluster).await?;
    world.manager().terminate().await?;
    world.passes(Duration::from_mins(5))?;
    ensure!(kubeconfig_secret(cluster).await?.1 == ends, "it was renewed just now");
    has_access(cluster).await.context("while the manager is away")?;
    world.manager().start().await?;
    wait_until("the token to be renewed", SOON, async || {
        let left = left(world, cluster).await?;
        Ok(Probe::when(left > RENEWED_WITH, || format!("{left:?} left")))
    })
    .await?;
    has_access(cluster).await?;
    stays_connected(&history)
}
