//! Unusual input of users and other tenants, on the real API server.

use super::WORLD;
use foo_e2e::odd;
use foo_testbed::world::kinds::Kind;
use foo_testbed::world::{SOON, manifests};
use kube::api::PostParams;
use serde_json::json;

/// A status that quotes them is written, and written again when the cause is gone.
#[test]
fn control_characters_in_a_spec_are_quoted_in_the_status() {
    WORLD.run(async |world| {
        let cluster = world.cluster("quoted").await?;
        let names = cluster.pool_name("workers");
        let mut foo_pool = manifests::foo_machine_pool(&names);
        foo_pool["spec"]["subnets"] = json!([{"tags": {"Name": odd::CONTROLS}}]);
        // Not applied: the API server reads what is applied as YAML, which has no control characters.
        let pools = Kind::FooMachinePool.api(world.client(), "quoted");
        pools.create(&PostParams::default(), &serde_json::from_value(foo_pool)?).await?;
        world.apply(&manifests::bootstrap_secret(&names)).await?;
        world.apply(&manifests::machine_pool(&names, 1)).await?;
        let pool = cluster.existing_pool("workers");
        let reported = pool.wait("to report that there is no such subnet", SOON, |view| {
            let ready = view.condition("Ready");
            ready.is_some_and(|(status, reason, message)| {
                status == "False" && reason.starts_with("Subnet") && message.contains("oops")
            })
        });
        let reported = reported.await?;
        let (.., message) = reported.condition("Ready").unwrap_or_default();
        assert!(!message.chars().any(char::is_control), "{message:?}");
        pool.patch(Kind::FooMachinePool, &json!({"spec": {"subnets": null}})).await?;
        pool.settles_at(1).await.map(drop)
    });
}
