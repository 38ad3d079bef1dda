//! What EKS refuses and what users write wrong: conditions report it in plain words, and it ends without a restart of
//! the manager.

use super::clock::{WAITING, calls, has_condition_in_time, in_time, passes, run_alone};
use super::input;
use super::life::has_nodes;
use super::parts::{
    cluster_in_existing_network, eks_name, has_access, has_condition, has_its_server, is_deleted, pool,
    role_arn, runs, simulated,
};
use anyhow::{Context as _, Result, ensure};
use foo_e2e::Worlds;
use foo_simulator::{Fault, FaultRule, Probability, Service};
use foo_testbed::world::kinds::{Kind, condition};
use foo_testbed::world::{ACTIVE_PERIOD, Cluster};
use foo_testbed::{Probe, World};
use serde_json::{Value, json};
use std::time::Duration;

/// A role that EKS cannot assume, until its trust policy is corrected.
const ROLE: &str = "eks-mistrusted";

#[test]
fn refusals_of_eks_and_mistakes_of_users_are_reported_and_recovered_from() {
    static WORLDS: Worlds<1> = Worlds::new(module_path!());
    run_alone(&WORLDS, async |world| {
        world.aws().simulator().put_role(foo_testbed::service_role(ROLE, "ec2.amazonaws.com"));
        let cluster = cluster_in_existing_network(world, "trouble", "v1.40.0", |object| {
            object["spec"]["eks"]["roleARN"] = json!(role_arn(ROLE));
        })
        .await?;
        let pid = world.manager().pid();
        let denied = world.aws().fails(FaultRule::on("CreateAddon", Fault::Denied));
        it_is_not_created_for_three_reasons(world, &cluster).await?;
        has_its_server(&cluster).await?;
        runs(&cluster, "v1.34.0").await?;
        let workers = pool(&cluster, "workers", "v1.34.0", 1, json!({"family": "AL2023"})).await?;
        has_condition_in_time(
            &cluster,
            WAITING,
            "AddonsReady",
            "the missing permission",
            |(status, reason, message)| {
                status == "False" && reason == "AccessDenied" && message.contains("eks:CreateAddon")
            },
        )
        .await?;
        has_nodes(&cluster, "workers", 1).await?;
        drop(denied);
        is_ready(&cluster, "AddonsReady").await?;
        is_ready(&cluster, "AccessReady").await?;

        eks_is_away(world, &cluster, &workers).await?;
        eks_throttles(world, &cluster).await?;
        input::addons_that_eks_does_not_have(&cluster).await?;
        input::a_second_control_plane_of_that_name(world, &cluster).await?;
        input::a_pool_that_is_too_new_with_user_data_that_is_too_long(&cluster).await?;
        ensure!(world.manager().pid() == pid, "the manager was restarted");
        is_deleted(&cluster).await
    });
}

pub(crate) async fn is_ready(cluster: &Cluster<'_>, kind: &str) -> Result<Value> {
    let what = format!("{kind} to be true");
    has_condition_in_time(cluster, WAITING, kind, &what, |(status, ..)| status == "True").await
}

/// EKS does not have the version, cannot assume the role, and has as many clusters as the account may have.
async fn it_is_not_created_for_three_reasons(world: &World, cluster: &Cluster<'_>) -> Result<()> {
    has_condition(cluster, "ClusterReady", "the version to be named", |(status, reason, message)| {
        status == "False"
            && reason == "VersionNotOffered"
            && message.contains("1.40")
            && message.contains("1.36")
    })
    .await?;
    ensure!(world.aws().calls_of("CreateCluster") == 0 || simulated(cluster).is_none());
    cluster.patch(Kind::FooControlPlane, &json!({"spec": {"version": "v1.34.0"}})).await?;
    has_condition_in_time(
        cluster,
        WAITING,
        "ClusterReady",
        "the role to be named",
        |(status, reason, message)| {
            status == "False" && reason == "RoleNotUsable" && message.contains("could not be assumed")
        },
    )
    .await?;
    let quota = world.aws().fails(FaultRule::on(
        "CreateCluster",
        Fault::Error {
            code: "ResourceLimitExceededException".to_owned(),
            status: 400,
            message: "You've reached your quota for the number of clusters in your account.".to_owned(),
        },
    ));
    world.aws().simulator().put_role(foo_testbed::service_role(ROLE, "eks.amazonaws.com"));
    has_condition_in_time(
        cluster,
        WAITING,
        "ClusterReady",
        "the quota to be named",
        |(status, reason, message)| {
            status == "False" && reason == "LimitExceeded" && message.contains("quota")
        },
    )
    .await?;
    let before = world.aws().calls_of("CreateCluster");
    for _ in 0..10 {
        passes(cluster, WAITING).await?;
        tokio::time::sleep(ACTIVE_PERIOD / 4).await;
    }
    let more = world.aws().calls_of("CreateCluster") - before;
    ensure!(more <= 1, "{more} creations in five minutes in which none can come");
    drop(quota);
    in_time(cluster, Duration::from_mins(5), "the creation to begin", async || {
        Ok(Probe::when(simulated(cluster).is_some(), || "no cluster in EKS".to_owned()))
    })
    .await
}

/// All of EKS responds with 503 for a while: pools continue, the kubeconfig works, and EKS is not stormed.
async fn eks_is_away(
    world: &World,
    cluster: &Cluster<'_>,
    workers: &foo_testbed::world::Pool<'_>,
) -> Result<()> {
    const WORDS: &str = "Service is unavailable. Please try again later.";
    let fault = Fault::Error {
        code: "ServiceUnavailableException".to_owned(),
        status: 503,
        message: WORDS.to_owned(),
    };
    let before = calls(world);
    let away =
        world.aws().fails(FaultRule { service: Some(Service::Eks), ..FaultRule::on_everything(fault) });
    cluster.patch(Kind::FooControlPlane, &json!({"spec": {"eks": {"zonalShift": true}}})).await?;
    workers.scale(2).await?;
    let object = has_condition(cluster, "ClusterReady", "the message of EKS", |(status, _, message)| {
        status == "False" && message.contains(WORDS)
    })
    .await?;
    ensure!(condition(&object, "Available").is_some_and(|(status, ..)| status == "True"), "{object:#}");
    has_nodes(cluster, "workers", 2).await?;
    for _ in 0..4 {
        passes(cluster, Duration::from_secs(15)).await?;
        tokio::time::sleep(ACTIVE_PERIOD / 2).await;
    }
    has_access(cluster).await?;
    let asked = calls(world) - before;
    println!("EKS away: {asked} calls");
    ensure!(asked <= 40, "{asked} calls of EKS while it was away");
    drop(away);
    is_ready(cluster, "ClusterReady").await?;
    ensure!(simulated(cluster).with_context(|| eks_name(cluster))?.zonal_shift);
    Ok(())
}

/// EKS throttles three of four calls: what was requested is carried out nevertheless.
async fn eks_throttles(world: &World, cluster: &Cluster<'_>) -> Result<()> {
    let most = Probability::new(0.75)?;
    let before = calls(world);
    let rule = FaultRule { service: Some(Service::Eks), ..FaultRule::on_everything(Fault::Throttled) };
    let throttled = world.aws().fails(rule.with_probability(most));
    cluster.patch(Kind::FooControlPlane, &json!({"spec": {"eks": {"logging": ["audit"]}}})).await?;
    in_time(cluster, WAITING, "the logs to be on", async || {
        let logs = simulated(cluster).with_context(|| eks_name(cluster))?.logs;
        Ok(Probe::when(logs.len() == 1, || format!("{logs:?}")))
    })
    .await?;
    drop(throttled);
    is_ready(cluster, "ClusterReady").await?;
    let asked = calls(world) - before;
    println!("EKS throttles: {asked} calls");
    ensure!(asked <= 60, "{asked} calls of EKS while it throttled");
    Ok(())
}
