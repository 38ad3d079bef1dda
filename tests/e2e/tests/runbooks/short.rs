//! docs/operations/runbooks/short.md: accidents after which nothing has to be restored.

use super::{PATIENCE, members, run_alone};
use anyhow::{Context as _, Result, ensure};
use foo_e2e::document::Reader;
use foo_simulator::{Fault, FaultRule};
use foo_testbed::world::kinds::{self, Kind, text};
use foo_testbed::world::{Pool, SOON, World};
use foo_testbed::{Probe, nothing_happens, wait_until};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

const PAGE: &str = "docs/operations/runbooks/short.md";
/// The renew deadline of a release: after that long without the API server a leader has to stop.
const RENEW_DEADLINE: Duration = Duration::from_secs(10);
const LEASE: &str = "controller-leader-election-foo";
/// No candidate has this name.
const ANOTHER_HOLDER: &str = "another-holder";

/// Waits for a leader that is neither the one before nor [`ANOTHER_HOLDER`].
async fn another_leads(world: &World, before: &str) -> Result<String> {
    wait_until("another leader", SOON, async || {
        let now = leader(world).await?;
        let another = !now.is_empty() && now != before && now != ANOTHER_HOLDER;
        Ok(if another { Probe::Done(now) } else { Probe::NotYet(now) })
    })
    .await
}

async fn leader(world: &World) -> Result<String> {
    let lease = ["get", "lease", LEASE, "--namespace=foo-system", "--output=json", "--ignore-not-found"];
    let lease = world.api().kubectl(lease).await?;
    let lease: Value = if lease.is_empty() { Value::Null } else { serde_json::from_str(&lease)? };
    Ok(text(&lease, "/spec/holderIdentity").to_owned())
}

/// The pool grows to a number, and what it had before is still there.
async fn grows(world: &World, pool: &Pool<'_>, replicas: u32, before: &BTreeSet<String>) -> Result<()> {
    pool.scale(replicas).await?;
    pool.settles_within(usize::try_from(replicas)?, PATIENCE).await?;
    ensure!(before.is_subset(&members(world, pool)), "{before:?}, {:?}", members(world, pool));
    Ok(())
}

#[test]
fn a_lease_that_is_deleted_or_edited_costs_a_moment_without_a_leader() {
    run_alone(async |world| {
        let pool = world.cluster("lease").await?.pool("workers", 1).await?;
        pool.settles_at(1).await?;
        let before = members(world, &pool);
        let first = another_leads(world, "").await?;
        let reader = Reader::of(world.rig()).await?;
        reader.follow(PAGE, "The Lease was deleted or edited").await?;
        // Either the leader made it again, or another user or controller was first and waited.
        let second = another_leads(world, "").await?;
        grows(world, &pool, 2, &before).await?;
        assert_eq!(second, first, "no other candidate was there to take it");

        let edit = format!(r#"{{"spec": {{"holderIdentity": "{ANOTHER_HOLDER}"}}}}"#);
        let edit = ["patch", "lease", LEASE, "--namespace=foo-system", "--type=merge", "--patch", &edit];
        world.api().kubectl(edit).await?;
        another_leads(world, &second).await?;
        grows(world, &pool, 3, &before).await
    });
}

/// Meanwhile AWS terminates an instance: it waits in its hook for a manager, and is drained when there is one.
#[test]
fn instances_terminated_during_an_outage_of_the_api_server_are_drained_after_it() {
    run_alone(async |world| {
        let pool = world.cluster("away").await?.pool("workers", 2).await?;
        let settled = pool.settles_at(2).await?;
        let before = members(world, &pool);
        let workload = pool.run("web", 2).await?;
        workload.allow(1).await?;
        let victim = settled.machines.first().context("no Machine")?.instance.clone();
        world.api().stop();
        world.aws().find_unhealthy(&victim)?;
        nothing_happens(&format!("{victim} did not wait"), RENEW_DEADLINE, async || {
            let there = world.aws().instances_of(&pool.group());
            Ok(Probe::when(there.iter().any(|it| it.id.as_str() == victim), || format!("{there:?}")))
        })
        .await?;
        world.api().resume().await?;
        let deleted =
            |view: &foo_testbed::world::PoolView| view.machine_of(&victim).is_none() && view.is_settled_at(2);
        pool.wait("its replacement", PATIENCE, deleted).await?;
        let after = members(world, &pool);
        ensure!(before.iter().all(|id| *id == victim || after.contains(id)), "{before:?}, {after:?}");
        workload.is_ready(2).await
    });
}

/// A Machine that is deleted meanwhile is drained, and its instance waits; so does what is asked for.
#[test]
fn without_credentials_nothing_is_launched_or_terminated_and_afterwards_every_target_is_reached() {
    run_alone(async |world| {
        let pool = world.cluster("refused").await?.pool("workers", 2).await?;
        let settled = pool.settles_at(2).await?;
        let before = members(world, &pool);
        let workload = pool.run("web", 2).await?;
        workload.allow(1).await?;
        let expired = Fault::Error {
            code: "ExpiredToken".to_owned(),
            status: 0,
            message: "The security token included in the request is expired".to_owned(),
        };
        let rule = FaultRule { action: None, ..FaultRule::on("", expired) };
        let rule = world.aws().simulator().add_fault(rule);
        pool.scale(3).await?;
        let deleted = settled.machines.first().context("no Machine")?;
        pool.delete_machine(deleted).await?;
        wait_until("the pool to report it", SOON, async || {
            let object = pool.read(Kind::FooMachinePool).await?.context("no FooMachinePool")?;
            let reported = kinds::condition(&object, "CredentialsReady");
            Ok(Probe::when(reported.is_some_and(|(status, ..)| status == "False"), || {
                format!("{reported:?}")
            }))
        })
        .await?;
        let drained = |view: &foo_testbed::world::PoolView| view.foo_machines.iter().any(kinds::is_deleting);
        pool.wait("the drain to end", PATIENCE, drained).await?;
        assert_eq!(members(world, &pool), before);
        world.aws().simulator().remove_fault(rule);
        let done = |view: &foo_testbed::world::PoolView| {
            view.machine_of(&deleted.instance).is_none() && view.is_settled_at(3)
        };
        pool.wait("all that was requested", PATIENCE, done).await?;
        let after = members(world, &pool);
        ensure!(before.iter().all(|id| *id == deleted.instance || after.contains(id)), "{after:?}");
        workload.is_ready(2).await
    });
}
