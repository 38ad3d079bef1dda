//! What a hostile tenant tries while the managers run: a user with the usual permissions in a namespace, before the
//! real API server and Cluster API's real core, and a manager that requires identities. Each attempt ends in a
//! condition that shows why, and the neighbours continue.
//!
//! What is refused before a manager sees it is in `admission/tenants.rs` (policies, patterns, the manager's own token),
//! `admission/rules.rs` (the ownership tags of others, control characters in tags) and `admission/namespaced.rs` (the
//! rights of a manager of one namespace). What needs no real server is in the controller's suite: `tenants.rs` (every
//! name that would become a path, made-up FooMachines), `odd_objects.rs` (objects that cannot be decoded),
//! `same_group.rs` (what becomes of the first pool).

#![expect(clippy::indexing_slicing, reason = "an index into JSON creates the field, or fails the test")]

mod control_planes;
mod namespaced;
mod odd_times;
mod pools;

use anyhow::{Context as _, Result};
use foo_e2e::SharedWorld;
use foo_testbed::world::kinds::{self, Kind, condition};
use foo_testbed::world::{Cluster, SOON, World, WorldOptions, manifests};
use foo_testbed::{Probe, wait_until};
use serde_json::{Value, json};

/// The user that all attempts are made as.
const TENANT: &str = "tina";

static WORLD: SharedWorld = SharedWorld::new(module_path!(), options);

/// A manager that requires identities.
fn options() -> WorldOptions {
    let mut options = WorldOptions::default();
    options.manager_args.push("--require-identity".to_owned());
    options
}

/// A namespace in which [`TENANT`] has the permissions that users usually have in their own.
async fn namespace_of_tenant(world: &World, namespace: &str) -> Result<()> {
    world.apply(&manifests::namespace(namespace)).await?;
    let groups = ["cluster.x-k8s.io", "infrastructure.foo.com", "controlplane.foo.com"];
    let all = |groups: &[&str], resources: &str| json!({"apiGroups": groups, "resources": [resources], "verbs": ["*"]});
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
        "metadata": {"name": "tenant", "namespace": namespace},
        "rules": [all(&groups, "*"), all(&[""], "secrets")],
    });
    world.apply(&role).await?;
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
        "metadata": {"name": "tenant", "namespace": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "tenant"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": TENANT}],
    });
    world.apply(&binding).await
}

/// Asks kubectl for something as the tenant.
async fn as_tenant(world: &World, args: &[&str], stdin: &Value) -> Result<String> {
    let user = format!("--as={TENANT}");
    let args = args.iter().copied().chain([user.as_str()]);
    Ok(world.api().run("kubectl", args, &[], &stdin.to_string()).await?.stdout)
}

/// Writes an object as the tenant.
async fn writes(world: &World, object: &Value) -> Result<()> {
    let written = as_tenant(world, &["apply", "--server-side", "-f", "-"], object).await;
    written.map(drop).with_context(|| format!("the tenant writes {object}"))
}

/// An identity with the manager's own credentials.
async fn identity(world: &World, name: &str, namespaces: &[&str], limits: &Value) -> Result<()> {
    let mut spec = json!({"controller": {}, "allowedNamespaces": {"list": namespaces}});
    for (limit, value) in limits.as_object().into_iter().flatten() {
        spec[limit] = value.clone();
    }
    let identity = json!({
        "apiVersion": "infrastructure.foo.com/v1alpha1", "kind": "FooClusterIdentity",
        "metadata": {"name": name}, "spec": spec,
    });
    world.apply(&identity).await
}

/// A Cluster of that name in a namespace that is there. `None`: its FooCluster names no identity.
async fn cluster<'w>(
    world: &'w World,
    namespace: &str,
    name: &str,
    identity: Option<&str>,
) -> Result<Cluster<'w>> {
    world.apply(&manifests::kubeconfig_secret(namespace, name, world.api().kubeconfig())).await?;
    let mut foo_cluster = manifests::foo_cluster(namespace, name);
    if let Some(identity) = identity {
        foo_cluster["spec"]["identityRef"] = json!({"name": identity});
    }
    world.apply(&foo_cluster).await?;
    world.apply(&manifests::foo_control_plane(namespace, name)).await?;
    world.apply(&manifests::cluster(namespace, name)).await?;
    Ok(world.existing_cluster(namespace, name))
}

/// Waits until a condition of an object is False for this reason, and returns its message.
async fn is_refused(
    world: &World,
    kind: Kind,
    namespace: &str,
    name: &str,
    reported: (&str, &str),
) -> Result<String> {
    let (type_, reason) = reported;
    let what = format!("{type_} of {kind:?} {namespace}/{name} to be False, {reason}");
    wait_until(&what, SOON, async || {
        let object = kinds::read(world.client(), kind, namespace, name).await?.unwrap_or_default();
        Ok(match condition(&object, type_) {
            Some(("False", found, message)) if found == reason => Probe::Done(message.to_owned()),
            other => Probe::NotYet(format!("{other:?}")),
        })
    })
    .await
}
