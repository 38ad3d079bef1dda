//! A cluster with an identity of its own, before an AWS that checks every signature: the released manager assumes its
//! role, a key that is rotated while it runs is picked up, and clusterctl takes the credentials along.
//!
//! In a world of its own, because as soon as AWS knows one key it refuses all others.

use anyhow::{Context as _, Result, ensure};
use foo_e2e::SharedWorld;
use foo_simulator::{AccessKey, Role};
use foo_testbed::World;
use foo_testbed::world::kinds::{Kind, text, until_condition};
use foo_testbed::world::{Cluster, Pool, WorldOptions};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

static WORLD: SharedWorld = SharedWorld::new(module_path!(), WorldOptions::default);

const NAMESPACE: &str = "team";
const SECRET: &str = "team-keys";
/// The key of the manager itself, as the testbed gives it: AWS's own example.
const OWN_KEY: (&str, &str) = ("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
const FIRST_KEY: (&str, &str) = ("AKIATEAMFIRST", "first");
const SECOND_KEY: (&str, &str) = ("AKIATEAMSECOND", "second");

fn knows(world: &World, (id, secret): (&str, &str)) {
    let key = AccessKey { id: id.to_owned(), secret: secret.to_owned(), policy: None };
    world.aws().simulator().put_key(key);
}

async fn has_secret(world: &World, (id, secret): (&str, &str)) -> Result<()> {
    let keys = json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": SECRET, "namespace": "foo-system"},
        "stringData": {"AccessKeyID": id, "SecretAccessKey": secret},
    });
    world.apply(&keys).await
}

async fn has_identity(world: &World, name: &str, spec: Value) -> Result<()> {
    let identity = json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooClusterIdentity",
        "metadata": {"name": name}, "spec": spec,
    });
    world.apply(&identity).await
}

/// Who has changed groups or launch templates since this was asked last.
fn who_changed_anything(world: &World) -> BTreeSet<String> {
    let counts = world.aws().simulator().call_counts_by_caller();
    world.aws().simulator().reset_calls();
    let reads = |action: &str| ["Describe", "Get", "Assume"].iter().any(|read| action.starts_with(read));
    counts.into_keys().filter(|(_, _, action)| !reads(action)).map(|(caller, _, _)| caller).collect()
}

#[test]
fn a_cluster_lives_on_its_own_identity_and_survives_the_rotation_of_its_key() {
    WORLD.run(async |world| {
        knows(world, OWN_KEY);
        knows(world, FIRST_KEY);
        let role = json!({"name": "team-pools", "trusts": [FIRST_KEY.0], "external_id": "of-the-team"});
        world.aws().simulator().put_role(serde_json::from_value::<Role>(role)?);
        has_identity(world, "team-base", json!({"secret": {"name": SECRET}})).await?;
        let role = json!({
            "arn": "arn:aws:iam::123456789012:role/team-pools",
            "externalID": "of-the-team",
            "source": {"name": "team-base"},
        });
        let spec = json!({"allowedNamespaces": {"list": [NAMESPACE]}, "role": role});
        has_identity(world, "team", spec).await?;
        let cluster = world.cluster(NAMESPACE).await?;
        cluster.patch(Kind::FooCluster, &json!({"spec": {"identityRef": {"name": "team"}}})).await?;

        // The Secret is not there yet, and that is what is reported of it.
        let of_cluster = async || cluster.read(Kind::FooCluster).await;
        has_condition("FooCluster", "IdentitySecretNotFound", of_cluster).await?;
        has_secret(world, FIRST_KEY).await?;
        has_condition("FooCluster", "Accepted", of_cluster).await?;
        who_changed_anything(world);
        let pool = cluster.pool("workers", 2).await?;
        pool.settles_at(2).await?;
        let callers = who_changed_anything(world);
        ensure!(!callers.is_empty() && callers.iter().all(|id| id.starts_with("ASIA")), "{callers:?}");

        // The key is replaced, in AWS and then in the Secret. Sessions made with it end, as revoked ones do.
        let manager = world.manager().pid();
        knows(world, SECOND_KEY);
        let role = json!({"name": "team-pools", "trusts": [SECOND_KEY.0], "external_id": "of-the-team"});
        world.aws().simulator().put_role(serde_json::from_value::<Role>(role)?);
        world.aws().simulator().remove_key(FIRST_KEY.0);
        world.aws().simulator().expire_sessions();
        let of_pool = async || pool.read(Kind::FooMachinePool).await;
        has_condition("pool", "CredentialsInvalid", of_pool).await?;
        has_secret(world, SECOND_KEY).await?;
        has_condition("pool", "Accepted", of_pool).await?;
        pool.scale(3).await?;
        pool.settles_at(3).await?;
        ensure!(manager.is_some() && world.manager().pid() == manager, "the manager was started again");

        moves_with_the_cluster(world).await?;
        stay_until_the_cluster_is_deleted(world, &cluster, &pool).await?;
        nothing_is_left_that_needs_a_manager(world).await
    });
}

/// What docs/operations/install.md promises of the removal: no finalizer of the provider is left on anything.
async fn nothing_is_left_that_needs_a_manager(world: &World) -> Result<()> {
    world.check_nothing_forbidden()?;
    tokio::try_join!(
        world.manager().terminate(),
        world.control_plane_manager().terminate(),
        world.bootstrap_manager().terminate()
    )?;
    for provider in ["bootstrap", "control-plane", "infrastructure"] {
        let flag = format!("--{provider}");
        let selector = format!("cluster.x-k8s.io/provider={provider}-foo");
        let allow = "infrastructure.foo.com/deletion-allowed=";
        world.rig().api().kubectl(["annotate", "crd", "--selector", &selector, allow]).await?;
        world.rig().clusterctl(["delete", &flag, "foo", "--include-crd", "--include-namespace"]).await?;
        let deleted = ["wait", "--for=delete", "crd", "--selector", &selector, "--timeout", "60s"];
        world.rig().api().kubectl(deleted).await?;
    }
    Ok(())
}

/// Everything is deleted at once, credentials first: what is in AWS is removed with them nevertheless.
async fn stay_until_the_cluster_is_deleted(
    world: &World,
    cluster: &Cluster<'_>,
    pool: &Pool<'_>,
) -> Result<()> {
    let kubectl = async |args: &[&str]| world.rig().api().kubectl(args.iter().copied()).await;
    kubectl(&["delete", "fooclusteridentities", "team", "team-base", "--wait=false"]).await?;
    let users = r#"jsonpath={.status.conditions[?(@.type=="Deleting")].message}"#;
    foo_testbed::wait_until("both identities to wait", Duration::from_mins(1), async || {
        let of_one = kubectl(&["get", "fooclusteridentities", "team", "-o", users]).await?;
        let reported =
            of_one + "; " + &kubectl(&["get", "fooclusteridentities", "team-base", "-o", users]).await?;
        let each = format!(
            "in use by FooClusters, delete them or set another identityRef there: {NAMESPACE}/{NAMESPACE}"
        );
        let waits = reported == format!("{each}; {each}");
        Ok(foo_testbed::Probe::when(waits, || reported))
    })
    .await?;
    cluster.delete().await?;
    cluster.is_gone(Duration::from_mins(5)).await?;
    foo_testbed::wait_until("identities and Secret to go", Duration::from_mins(1), async || {
        let identities = kubectl(&["get", "fooclusteridentities", "-o", "name"]).await?;
        let secret = kubectl(&["get", "secret", SECRET, "-n", "foo-system", "--ignore-not-found"]).await?;
        let left = identities + &secret;
        Ok(foo_testbed::Probe::when(left.is_empty(), || left))
    })
    .await?;
    let left = world.aws().leftovers(&pool.group());
    ensure!(left.is_empty(), "{left:?}");
    Ok(())
}

/// An object reports this of its credentials.
async fn has_condition(
    what: &str,
    reason: &str,
    read: impl AsyncFn() -> Result<Option<Value>>,
) -> Result<()> {
    let what = format!("CredentialsReady of the {what} to be {reason}");
    let read = async || Ok(read().await?.unwrap_or_default());
    let is_so = |(_, it, _): (&str, &str, &str)| it == reason;
    until_condition(&what, Duration::from_mins(2), read, "CredentialsReady", is_so).await?;
    Ok(())
}

/// `clusterctl move` takes the identities and the Secret along.
async fn moves_with_the_cluster(world: &World) -> Result<()> {
    let folder = world.rig().folder().join("moved");
    std::fs::create_dir_all(&folder)?;
    let to = format!("--to-directory={}", folder.display());
    world.rig().clusterctl(["move", &format!("--namespace={NAMESPACE}"), &to]).await?;
    let mut moved = BTreeSet::new();
    for file in std::fs::read_dir(&folder)? {
        let object: Value = serde_json::from_str(&std::fs::read_to_string(file?.path())?)
            .context("clusterctl saves objects as JSON")?;
        moved.insert(format!("{} {}", text(&object, "/kind"), text(&object, "/metadata/name")));
    }
    for wanted in
        ["FooClusterIdentity team", "FooClusterIdentity team-base", "Secret team-keys", "FooCluster team"]
    {
        ensure!(moved.contains(wanted), "{wanted} is not among {moved:#?}");
    }
    Ok(())
}
