//! A move by clusterctl in the middle of a change. Before a network was ready once, clusterctl itself refuses to move
//! its Cluster.

use super::parts::{SOON_IN_AWS, cluster, has_one_of_each, is_ready, network, run_alone};
use anyhow::{Context as _, ensure};
use foo_e2e::document::Reader;
use foo_model::network::NatState;
use foo_testbed::world::kinds::{self, Kind, condition};
use foo_testbed::world::network::ids;
use foo_testbed::{Probe, wait_until};
use serde_json::json;
use std::time::Duration;

const PAGE: &str = "docs/operations/move.md";

#[test]
fn a_change_that_is_half_done_is_finished_by_the_manager_that_the_cluster_moved_to() {
    run_alone(async |world| {
        let other = world.another_management_cluster("network-target").await?;
        let cluster = cluster(world, "half-made", json!({"zones": {"count": 2}})).await?;
        is_ready(&cluster).await?;
        cluster.is_provisioned().await?;
        world
            .aws()
            .region()
            .change_settings(|settings| settings.nat_gateway_create = Duration::from_secs(30))?;
        let zone_more = json!({"spec": {"network": {"managed": {"zones": {"count": 3}}}}});
        cluster.patch(Kind::FooCluster, &zone_more).await?;
        wait_until("the NAT gateway to be on its way", SOON_IN_AWS, async || {
            let parts = network(&cluster)?;
            let pending = parts.nat_gateways.values().any(|gateway| gateway.state == NatState::Pending);
            Ok(Probe::when(pending, || format!("{:?}", ids(&parts))))
        })
        .await?;
        let before = network(&cluster)?;
        let reader = Reader::of(world.rig()).await?;
        let variables = format!(
            "export NAMESPACE=half-made TARGET_KUBECONFIG={} SECRETS=half-made-existing-api-server",
            other.api().kubeconfig_path().display()
        );
        reader.run(&variables).await?;
        reader.follow(PAGE, "Prepare").await?;
        reader.follow(PAGE, "Move").await?;
        let client = other.api().client();
        wait_until("the network to be finished", SOON_IN_AWS, async || {
            let object = kinds::read(client.clone(), Kind::FooCluster, "half-made", "half-made").await?;
            let object = object.context("no FooCluster")?;
            let ready = condition(&object, "NetworkReady");
            Ok(Probe::when(ready.is_some_and(|(status, ..)| status == "True"), || format!("{ready:?}")))
        })
        .await?;
        let after = network(&cluster)?;
        has_one_of_each(&after, 3, 3)?;
        ensure!(before.vpcs.keys().eq(after.vpcs.keys()), "another VPC");
        kinds::delete(client.clone(), Kind::Cluster, "half-made", "half-made").await?;
        wait_until("nothing to be left in AWS", SOON_IN_AWS, async || {
            let left = ids(&network(&cluster)?);
            Ok(Probe::when(left.is_empty(), || format!("{left:?}")))
        })
        .await
    });
}
