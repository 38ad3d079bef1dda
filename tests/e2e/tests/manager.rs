//! The manager's own life: how it ends and comes back. In a world of its own, because that disturbs everybody.

use anyhow::{Context as _, Result};
use foo_e2e::in_world;
use foo_testbed::World;
use foo_testbed::world::kinds::text;
use serde_json::Value;
use std::time::{Duration, Instant};

const LEASE: [&str; 6] = [
    "get",
    "lease",
    "controller-leader-election-foo",
    "--namespace=foo-system",
    "--output=json",
    "--ignore-not-found",
];

async fn leader(world: &World) -> Result<String> {
    let lease = world.api().kubectl(LEASE).await?;
    let lease: Value = serde_json::from_str(&lease).context("there is no lease")?;
    Ok(text(&lease, "/spec/holderIdentity").to_owned())
}

/// SIGTERM: the lease is given back, so that the next manager need not wait for its end.
#[test]
fn it_ends_in_order_and_its_successor_changes_nothing_that_is_settled() {
    in_world(async |world| {
        let pool = world.cluster("succession").await?.pool("workers", 2).await?;
        pool.settles_at(2).await?;
        let first = leader(world).await?;
        assert_ne!(first, "");
        world.manager().terminate().await?;
        assert_eq!(leader(world).await?, "");

        let of_pool = || -> Result<usize> {
            Ok(world.writes()?.iter().filter(|request| request.namespace == "succession").count())
        };
        let writes = of_pool()?;
        let started = Instant::now();
        world.manager().start().await?;
        foo_testbed::wait_until("the successor to lead", Duration::from_secs(5), async || {
            let now = leader(world).await?;
            Ok(foo_testbed::Probe::when(!now.is_empty() && now != first, || now))
        })
        .await?;
        assert!(started.elapsed() < Duration::from_secs(5));
        tokio::time::sleep(Duration::from_secs(8)).await;
        assert_eq!(of_pool()?, writes, "{:#?}", world.writes()?);
        pool.scale(3).await?;
        pool.settles_at(3).await?;
        Ok(())
    });
}

/// What every test here relies on: that a right a manager lacks would be seen.
#[test]
fn what_a_role_does_not_give_is_refused_and_seen() {
    in_world(async |world| {
        world.check_nothing_forbidden()?;
        let kubeconfig = world.rig().service_account_kubeconfig("foo-system", "default").await?;
        let kubeconfig = format!("--kubeconfig={}", kubeconfig.display());
        let refused = world.api().kubectl(["get", "secrets", "--namespace=default", &kubeconfig]).await;
        assert!(refused.is_err_and(|error| format!("{error:#}").contains("Forbidden")));
        let forbidden = world.forbidden()?;
        let seen = forbidden.iter().any(|request| {
            request.user.ends_with(":default")
                && (request.verb.as_str(), request.resource.as_str()) == ("list", "secrets")
        });
        assert!(seen, "{forbidden:#?}");
        Ok(())
    });
}
