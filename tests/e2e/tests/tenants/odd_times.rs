//! Times that the API server takes and that cannot be decoded: they block no object, not even a manager that starts
//! with them.

use super::{WORLD, as_tenant, cluster, identity, namespace_of_tenant};
use anyhow::{Context as _, Result, ensure};
use foo_testbed::world::kinds::text;
use foo_testbed::world::{SOON, manifests};
use foo_testbed::{Probe, World, wait_until};
use serde_json::{Value, json};

/// A day later than the last one that our decoder knows.
const LATE: &str = "9999-12-31T23:59:59Z";
const NAMESPACE: &str = "odd";

/// Puts the time into an object of the tenant's namespace by a replacement of the whole, and fails unless it is stored.
async fn is_replaced(world: &World, what: &str, time_at: &str, flags: &[&str]) -> Result<()> {
    let get = ["get", what, "--namespace", NAMESPACE, "--output=json", "--show-managed-fields"];
    let read =
        async || -> Result<Value> { Ok(serde_json::from_str(&as_tenant(world, &get, &Value::Null).await?)?) };
    let mut object = read().await?;
    // The API server takes a write that changes nothing but such a time for none.
    object["metadata"]["annotations"]["of-the-tenant"] = "1".into();
    *object.pointer_mut(time_at).with_context(|| format!("{what} has no {time_at}"))? = LATE.into();
    let replace: Vec<&str> = ["replace", "-f", "-"].iter().chain(flags).copied().collect();
    as_tenant(world, &replace, &object).await?;
    let stored = read().await?.to_string();
    ensure!(stored.contains(LATE), "{what} does not have it: {stored}");
    Ok(())
}

#[test]
fn objects_with_times_of_the_year_9999_block_neither_their_namespace_nor_the_next_manager() {
    WORLD.run(async |world| {
        namespace_of_tenant(world, NAMESPACE).await?;
        world.apply(&manifests::namespace("even")).await?;
        identity(world, "odd-and-even", &[NAMESPACE, "even"], &json!({})).await?;
        let odd = cluster(world, NAMESPACE, "odd", Some("odd-and-even")).await?;
        let even = cluster(world, "even", "even", Some("odd-and-even")).await?;
        odd.is_provisioned().await?;
        even.is_provisioned().await?;
        let (of_odd, of_even) = (odd.pool("workers", 1).await?, even.pool("workers", 1).await?);
        let view = of_odd.settles_at(1).await?;
        of_even.settles_at(1).await?;

        let machine = view.machines.first().context("no Machine")?.name.clone();
        let foo_machine =
            view.foo_machines.first().map(|it| text(it, "/metadata/name")).context("no FooMachine")?;
        let managed = "/metadata/managedFields/0/time";
        is_replaced(world, "secret/odd-bootstrap", managed, &[]).await?;
        is_replaced(world, "foomachinepool/workers", managed, &[]).await?;
        is_replaced(world, &format!("machine/{machine}"), managed, &[]).await?;
        let condition = "/status/conditions/0/lastTransitionTime";
        let status = ["--subresource=status"];
        is_replaced(world, &format!("foomachine/{foo_machine}"), condition, &status).await?;

        world.manager().terminate().await?;
        world.manager().start().await?;
        of_even.scale(2).await?;
        of_even.settles_at(2).await?;
        of_odd.scale(2).await?;
        // What reads objects for a test cannot decode them either; kubectl can.
        let row = "--output=jsonpath={.status.replicas} {.status.readyReplicas} {.status.conditions[?(@.type==\"Ready\")].status}";
        wait_until("the pool with odd times to be of two", SOON, async || {
            let get = ["get", "foomachinepool/workers", "--namespace", NAMESPACE, row];
            let reported = as_tenant(world, &get, &Value::Null).await?;
            let instances = world.aws().instances_of(&of_odd.group()).len();
            Ok(Probe::when((reported.as_str(), instances) == ("2 2 True", 2), || {
                format!("{reported}, {instances}")
            }))
        })
        .await
    });
}
