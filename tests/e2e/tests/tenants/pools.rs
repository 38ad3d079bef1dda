//! Pools that request foreign resources: names that would become paths, Secrets, profiles, subnets, tags and groups of
//! others, and credentials that were not granted to them.

use super::{WORLD, cluster, identity, is_refused, namespace_of_tenant, writes};
use anyhow::{Result, ensure};
use foo_testbed::World;
use foo_testbed::world::kinds::Kind;
use foo_testbed::world::{PoolName, SUBNETS, manifests};
use serde_json::{Value, json};

/// What is tried: the name of the pool, its MachinePool's Secret (the usual one if none), its own fields.
struct Attempt {
    pool: &'static str,
    secret: Option<&'static str>,
    spec: Value,
    /// The condition and its reason.
    reported: (&'static str, &'static str),
    /// What the message has in it.
    message: &'static str,
}

/// Everything that is refused for the bootstrap data of a pool.
fn foreign_secrets() -> Vec<Attempt> {
    let attempt = |pool, secret, reason, message| Attempt {
        pool,
        secret: Some(secret),
        spec: json!({}),
        reported: ("LaunchTemplateReady", reason),
        message,
    };
    let no_name = "BootstrapDataSecretNameInvalid";
    vec![
        attempt("listing", "?x=", no_name, "\"?x=\" cannot be the name of a Secret"),
        attempt("watching", "?watch=true&x=", no_name, "cannot be the name of a Secret"),
        attempt(
            "climbing",
            "../../neighbour/secrets/neighbour-bootstrap",
            no_name,
            "cannot be the name of a Secret",
        ),
        attempt("kubeconfig", "victim-kubeconfig", no_name, "is the name of a Cluster's kubeconfig"),
        attempt(
            "copied",
            "copied",
            "BootstrapDataNotAllowed",
            "contains a kubeconfig, which is never given to instances",
        ),
        attempt("foreign", "foreign", "BootstrapDataNotAllowed", "belongs to Cluster victim by its label"),
    ]
}

/// Everything else that is refused of a pool.
fn foreign_resources() -> Vec<Attempt> {
    vec![
        Attempt {
            pool: "profile",
            secret: None,
            spec: json!({"iamInstanceProfile": "admin"}),
            reported: ("LaunchTemplateReady", "InstanceProfileNotAllowed"),
            message: "FooClusterIdentity tenants does not allow instance profile \"admin\"",
        },
        Attempt {
            pool: "tag",
            secret: None,
            spec: json!({"tags": {"kubernetes.io/cluster/neighbour": "owned"}}),
            reported: ("LaunchTemplateReady", "TagNotAllowed"),
            message: "\"kubernetes.io/cluster/neighbour\" is for instances of another Cluster",
        },
        Attempt {
            pool: "group",
            secret: None,
            spec: json!({"groupName": "neighbour-neighbour-workers"}),
            reported: ("AutoScalingGroupReady", "GroupNameTaken"),
            message: "belongs to a FooMachinePool of another namespace",
        },
    ]
}

async fn try_it(world: &World, attempt: &Attempt) -> Result<()> {
    let name = PoolName {
        namespace: "tenant".to_owned(),
        cluster: "mine".to_owned(),
        pool: attempt.pool.to_owned(),
        machine_pool: attempt.pool.to_owned(),
    };
    let mut pool = manifests::foo_machine_pool(&name);
    for (field, value) in attempt.spec.as_object().into_iter().flatten() {
        pool["spec"][field] = value.clone();
    }
    let mut machine_pool = manifests::machine_pool(&name, 1);
    if let Some(secret) = attempt.secret {
        machine_pool["spec"]["template"]["spec"]["bootstrap"]["dataSecretName"] = secret.into();
    }
    writes(world, &pool).await?;
    writes(world, &machine_pool).await
}

async fn is_reported(world: &World, attempt: &Attempt) -> Result<()> {
    let Attempt { pool, reported, message, .. } = attempt;
    let reported = is_refused(world, Kind::FooMachinePool, "tenant", pool, *reported).await?;
    ensure!(reported.contains(message), "{pool}: {reported}");
    let group = if *pool == "group" { None } else { world.aws().group(&format!("tenant-mine-{pool}")) };
    ensure!(group.is_none(), "{pool} has a group");
    Ok(())
}

fn secret(name: &str, cluster: &str, value: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "namespace": "tenant", "labels": {"cluster.x-k8s.io/cluster-name": cluster}},
        "stringData": {"value": value},
    })
}

#[test]
fn a_pool_that_names_foreign_resources_is_refused_by_name_and_its_neighbour_continues() {
    WORLD.run(async |world| {
        identity(world, "neighbours", &["neighbour"], &json!({})).await?;
        let limits = json!({"allowedInstanceProfiles": ["team-*"], "allowedSubnets": SUBNETS});
        identity(world, "tenants", &["tenant"], &limits).await?;
        world.apply(&manifests::namespace("neighbour")).await?;
        namespace_of_tenant(world, "tenant").await?;
        let neighbour = cluster(world, "neighbour", "neighbour", Some("neighbours")).await?;
        let mine = cluster(world, "tenant", "mine", Some("tenants")).await?;
        let victim = cluster(world, "tenant", "victim", Some("tenants")).await?;
        for cluster in [&neighbour, &mine, &victim] {
            cluster.is_provisioned().await?;
        }
        let workers = neighbour.pool("workers", 1).await?;
        workers.settles_at(1).await?;

        writes(world, &manifests::bootstrap_secret(&mine.pool_name("any"))).await?;
        writes(world, &secret("copied", "mine", world.api().kubeconfig())).await?;
        writes(world, &secret("foreign", "victim", "#!/bin/sh\n")).await?;
        let attempts: Vec<Attempt> = foreign_secrets().into_iter().chain(foreign_resources()).collect();
        for attempt in &attempts {
            try_it(world, attempt).await?;
        }
        for attempt in &attempts {
            is_reported(world, attempt).await?;
        }
        workers.scale(2).await?;
        workers.settles_at(2).await.map(drop)
    });
}

#[test]
fn a_cluster_gets_only_the_credentials_and_subnets_granted_to_its_namespace() {
    WORLD.run(async |world| {
        namespace_of_tenant(world, "limited").await?;
        identity(world, "of-others", &["neighbour"], &json!({})).await?;
        identity(world, "of-two-subnets", &["limited"], &json!({"allowedSubnets": SUBNETS[..2]})).await?;
        for (name, identity, reported, message) in [
            (
                "without",
                None,
                ("CredentialsReady", "IdentityRequired"),
                "the manager runs with --require-identity",
            ),
            ("borrowed", Some("of-others"), ("CredentialsReady", "IdentityNotAllowed"), "namespace"),
            ("made-up", Some("no-such-one"), ("CredentialsReady", "IdentityNotFound"), "no-such-one"),
            ("third", Some("of-two-subnets"), ("NetworkReady", "SubnetNotAllowed"), SUBNETS[2]),
        ] {
            cluster(world, "limited", name, identity).await?;
            let reported = is_refused(world, Kind::FooCluster, "limited", name, reported).await?;
            ensure!(reported.contains(message), "{name}: {reported}");
        }
        Ok(())
    });
}
