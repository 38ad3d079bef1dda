//! A network from nothing and back to nothing, and what happens to it in between.

use super::parts::{
    SOON_IN_AWS, apply_in, cluster, has_condition, has_one_of_each, is_deleted, is_ready, network, run_alone,
    zones,
};
use anyhow::{Context as _, Result, ensure};
use foo_e2e::kubectl_foo;
use foo_model::network::{Change, NatState, Parts, RouteTarget, Tags};
use foo_simulator::core::Region;
use foo_simulator::core::network::NewInterface;
use foo_testbed::world::kinds::Kind;
use foo_testbed::world::network::ids;
use foo_testbed::world::{Cluster, manifests};
use foo_testbed::{Probe, wait_until};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// A region in which nothing of the world is.
const ELSEWHERE: &str = "us-east-2";

fn only<'p, K, V>(parts: impl IntoIterator<Item = (&'p K, &'p V)>, what: &str) -> Result<&'p K>
where
    K: 'p,
    V: 'p,
{
    parts.into_iter().next().map(|(id, _)| id).with_context(|| format!("no {what}"))
}

/// Whether all private default routes lead to NAT gateways that work.
fn leads_out(parts: &Parts) -> bool {
    let works = |target: &RouteTarget| match target {
        RouteTarget::NatGateway(id) => {
            parts.nat_gateways.get(id).is_some_and(|gateway| gateway.state == NatState::Available)
        }
        RouteTarget::Local
        | RouteTarget::InternetGateway(_)
        | RouteTarget::EgressOnlyGateway(_)
        | RouteTarget::Endpoint(_)
        | RouteTarget::Other(_) => true,
    };
    let routes = || parts.route_tables.values().flat_map(|table| &table.routes);
    routes().any(|route| matches!(route.target, RouteTarget::NatGateway(_)))
        && routes().all(|route| !route.blackhole && works(&route.target))
}

/// clusterctl prints all of this in one line of its description of a Cluster.
async fn described<const N: usize>(cluster: &Cluster<'_>, parts: [&str; N]) -> Result<()> {
    let namespace = format!("--namespace={}", cluster.namespace());
    let printed =
        cluster.world().rig().clusterctl(["describe", "cluster", cluster.name(), &namespace]).await?;
    let reported = printed.lines().any(|line| parts.iter().all(|part| line.contains(part)));
    ensure!(reported, "no line with {parts:?}:\n{printed}");
    Ok(())
}

/// How many subnets `kubectl foo plan` foresees for a change of the FooCluster.
async fn planned_subnets(cluster: &Cluster<'_>, change: &Value) -> Result<usize> {
    let manifest = json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooCluster",
        "metadata": {"name": cluster.name()}, "spec": change["spec"],
    });
    let command = ["plan", "-f", "-", "-o", "json", "-n", cluster.namespace()];
    let printed: Value =
        serde_json::from_str(&kubectl_foo(cluster.world(), &command, &manifest.to_string()).await?)?;
    let plan = printed.pointer("/networks/0").context("no plan")?;
    ensure!(plan["outcome"] == "Settled", "{printed:#}");
    let calls = plan["calls"].as_array().context("no calls")?;
    Ok(calls.iter().filter(|call| call["operation"] == "CreateSubnet").count())
}

/// From nothing to a pool of three in three zones; a NAT gateway that a user deletes; a zone more; a foreign interface
/// that delays the deletion; and back to nothing.
#[test]
fn a_cluster_has_its_whole_life_cycle_in_a_managed_network() {
    run_alone(async |world| {
        world.aws().region().with(Region::empty_network)?;
        let managed = json!({"zones": {"count": 2}, "nat": "Single"});
        let cluster = cluster(world, "whole-life", managed).await?;
        // The manager is killed in the middle of the creation.
        wait_until("a VPC", SOON_IN_AWS, async || {
            Ok(Probe::when(!network(&cluster)?.vpcs.is_empty(), || "none".to_owned()))
        })
        .await?;
        world.manager().kill();
        world.manager().start().await?;
        cluster.is_provisioned().await?;
        is_ready(&cluster).await?;
        has_one_of_each(&network(&cluster)?, 2, 1)?;
        let pool = cluster.pool("workers", 2).await?;
        pool.settles_at(2).await?;

        let gateway = only(&network(&cluster)?.nat_gateways, "NAT gateway")?.clone();
        world.aws().change_network(&Change::DeleteNatGateway { gateway: gateway.clone() })?;
        wait_until("another NAT gateway", SOON_IN_AWS, async || {
            let parts = network(&cluster)?;
            let there = !parts.nat_gateways.contains_key(&gateway) && leads_out(&parts);
            Ok(Probe::when(there, || format!("{:#?}", parts.nat_gateways)))
        })
        .await?;
        is_ready(&cluster).await?;

        let before = network(&cluster)?;
        let zones_too = json!({"spec": {"network": {"managed": {"zones": {"count": 3}}}}});
        let planned = planned_subnets(&cluster, &zones_too).await?;
        ensure!(network(&cluster)? == before, "a plan changes nothing");
        cluster.patch(Kind::FooCluster, &zones_too).await?;
        is_ready(&cluster).await?;
        let after = network(&cluster)?;
        has_one_of_each(&after, 3, 1)?;
        ensure!(planned == after.subnets.len() - before.subnets.len(), "{planned} subnets were planned");
        for (id, subnet) in &before.subnets {
            ensure!(after.subnets.get(id).is_some_and(|now| now.cidr == subnet.cidr), "{id} moved");
        }
        pool.scale(3).await?;
        pool.settles_at(3).await?;
        wait_until("instances in three zones", SOON_IN_AWS, async || {
            let zones = zones(world, &pool);
            Ok(Probe::when(zones.len() == 3, || format!("{zones:?}")))
        })
        .await?;
        described(&cluster, ["FooCluster whole-life/whole-life", "True", "NetworkAsRequested"]).await?;

        let subnet = only(&after.subnets, "subnet")?.clone();
        let foreign = world.aws().region().put_foreign_interface(NewInterface {
            subnet,
            groups: BTreeSet::new(),
            description: "of another user's database".to_owned(),
            requester_managed: false,
            in_use: false,
            public_ip: None,
            tags: Tags::new(),
        })?;
        cluster.delete().await?;
        let waits = |(status, _, message): (&str, &str, &str)| {
            status == "True"
                && message.contains(foreign.as_str())
                && message.contains("of another user's database")
        };
        has_condition(&cluster, "Deleting", "the interface to be named", waits).await?;
        let blocks = format!("interface {foreign} (of another user's database)");
        described(&cluster, ["FooCluster whole-life/whole-life", "Deleting", &blocks]).await?;
        world.aws().change_network(&Change::DeleteNetworkInterface { interface: foreign })?;
        cluster.is_gone(SOON_IN_AWS).await?;
        let left = ids(&network(&cluster)?);
        ensure!(left.is_empty(), "left in AWS: {left:?}");
        Ok(())
    });
}

/// Two clusters of one name, in two namespaces and two regions, share nothing.
#[test]
fn clusters_of_one_name_have_networks_of_their_own() {
    run_alone(async |world| {
        let managed = || json!({"zones": {"count": 1}, "egress": "None"});
        let here = cluster(world, "namesake", managed()).await?;
        world.apply(&manifests::namespace("other-team")).await?;
        let there = world.existing_cluster("other-team", "namesake");
        apply_in(&there, ELSEWHERE, &managed()).await?;
        is_ready(&here).await?;
        is_ready(&there).await?;
        let own = network(&here)?;
        let foreign = world.aws().network_in(ELSEWHERE, "other-team", "namesake")?;
        ensure!((own.vpcs.len(), foreign.vpcs.len()) == (1, 1), "{own:#?} {foreign:#?}");
        is_deleted(&here).await?;
        let still = world.aws().network_in(ELSEWHERE, "other-team", "namesake")?;
        ensure!(ids(&still) == ids(&foreign), "the other one changed: {:?} {:?}", ids(&foreign), ids(&still));
        ensure!(still.route_tables == foreign.route_tables, "{:#?}", still.route_tables);
        ensure!(still.security_groups == foreign.security_groups, "{:#?}", still.security_groups);
        there.delete().await?;
        there.is_gone(SOON_IN_AWS).await?;
        let left = world.aws().network_in(ELSEWHERE, "other-team", "namesake")?;
        ensure!(left == Parts::default(), "left in {ELSEWHERE}: {left:#?}");
        Ok(())
    });
}

/// A range without room for the zones is refused in plain words, and nothing is created.
#[test]
fn an_impossible_network_is_reported_before_anything_is_created() {
    run_alone(async |world| {
        let managed = json!({"cidr": "10.9.0.0/28", "zones": {"count": 3}});
        let cluster = cluster(world, "too-small", managed).await?;
        let is_said =
            |(status, _, message): (&str, &str, &str)| status == "False" && message.contains("10.9.0.0/28");
        has_condition(&cluster, "NetworkReady", "the range to be refused", is_said).await?;
        ensure!(network(&cluster)? == Parts::default());
        is_deleted(&cluster).await
    });
}
