//! Access policies as RBAC: what a policy allows is bound to a group that the authenticator assigns to users of the
//! access entry. EKS has an authorizer of its own for that; its policies are modelled after the roles that Kubernetes
//! brings (EKS User Guide, "Review access policy permissions").

use anyhow::{Context as _, Result};
use foo_model::Timestamp;
use foo_model::eks::AccessScope;
use foo_simulator::RegionHandle;
use foo_simulator::core::eks::cluster::Cluster;
use foo_simulator::core::eks::identities::AccessEntry;
use foo_simulator::core::wildcard::like;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding, RoleBinding};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, Error};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

/// How often the entries are read.
const TICK: Duration = Duration::from_millis(300);
/// What AmazonEKSAdminViewPolicy allows: Kubernetes has no role of the kind.
const ADMIN_VIEW: &str = "foo.test:admin-view";
/// Manager of the fields that are applied.
const MANAGER: &str = "foo-testbed";

/// The role that an access policy is modelled after. `None` for what nodes of Auto Mode may do: there are none.
fn role_of(policy: &str) -> Option<&'static str> {
    match policy.rsplit('/').next()? {
        "AmazonEKSClusterAdminPolicy" => Some("cluster-admin"),
        "AmazonEKSAdminPolicy" => Some("admin"),
        "AmazonEKSEditPolicy" => Some("edit"),
        "AmazonEKSViewPolicy" => Some("view"),
        "AmazonEKSAdminViewPolicy" => Some(ADMIN_VIEW),
        _ => None,
    }
}

/// The group of those who come by the access entry of this principal.
pub(super) fn group_of(principal: &str) -> String {
    format!("foo.test/access-entry:{principal}")
}

/// A role that a group has, everywhere or in one namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Binding {
    role: &'static str,
    group: String,
    namespace: Option<String>,
}

impl Binding {
    /// Its name: no two of a place have the same one. Roles and groups have characters that names may have in RBAC.
    fn name(&self) -> String {
        format!("{}:{}", self.role, self.group.replace('/', ":"))
    }

    fn object(&self) -> serde_json::Value {
        let kind = if self.namespace.is_some() { "RoleBinding" } else { "ClusterRoleBinding" };
        let group = "rbac.authorization.k8s.io";
        json!({
            "apiVersion": format!("{group}/v1"), "kind": kind,
            "metadata": { "name": self.name(), "namespace": self.namespace },
            "roleRef": { "apiGroup": group, "kind": "ClusterRole", "name": self.role },
            "subjects": [{ "apiGroup": group, "kind": "Group", "name": self.group }],
        })
    }

    async fn create(&self, client: &Client) -> Result<(), Error> {
        let params = PostParams::default();
        let made = match &self.namespace {
            None => {
                let binding: ClusterRoleBinding =
                    serde_json::from_value(self.object()).map_err(Error::SerdeError)?;
                Api::all(client.clone()).create(&params, &binding).await.map(drop)
            }
            Some(namespace) => {
                let binding: RoleBinding =
                    serde_json::from_value(self.object()).map_err(Error::SerdeError)?;
                Api::namespaced(client.clone(), namespace).create(&params, &binding).await.map(drop)
            }
        };
        but_not(made, 409)
    }

    async fn delete(&self, client: &Client) -> Result<(), Error> {
        let (name, params) = (self.name(), DeleteParams::default());
        let gone = match &self.namespace {
            None => Api::<ClusterRoleBinding>::all(client.clone()).delete(&name, &params).await.map(drop),
            Some(namespace) => Api::<RoleBinding>::namespaced(client.clone(), namespace)
                .delete(&name, &params)
                .await
                .map(drop),
        };
        but_not(gone, 404)
    }
}

/// Takes one status for success: the requested state exists already.
fn but_not(result: Result<(), Error>, code: u16) -> Result<(), Error> {
    match result {
        Err(Error::Api(status)) if status.code == code => Ok(()),
        other => other,
    }
}

/// Whether any policy of these entries applies to namespaces only.
fn names_namespaces(entries: &[AccessEntry]) -> bool {
    let mut policies = entries.iter().flat_map(|entry| entry.policies.values());
    policies.any(|association| matches!(association.scope, AccessScope::Namespaces(_)))
}

/// What the policies of these entries are in a cluster with these namespaces.
fn bindings(entries: &[AccessEntry], namespaces: &[String]) -> BTreeSet<Binding> {
    let mut wanted = BTreeSet::new();
    for entry in entries {
        for (policy, association) in &entry.policies {
            let Some(role) = role_of(policy) else { continue };
            let group = group_of(&entry.principal);
            match &association.scope {
                AccessScope::Cluster => drop(wanted.insert(Binding { role, group, namespace: None })),
                AccessScope::Namespaces(patterns) => {
                    let fits = |name: &&String| patterns.iter().any(|pattern| like(pattern, name));
                    let of =
                        |name: &String| Binding { role, group: group.clone(), namespace: Some(name.clone()) };
                    wanted.extend(namespaces.iter().filter(fits).map(of));
                }
            }
        }
    }
    wanted
}

/// Creates the role that Kubernetes does not bring.
pub(super) async fn prepare(client: &Client) -> Result<()> {
    let reads = ["get", "list", "watch"];
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": { "name": ADMIN_VIEW },
        "rules": [{ "apiGroups": ["*"], "resources": ["*"], "verbs": reads }],
    });
    let roles: Api<ClusterRole> = Api::all(client.clone());
    let params = PatchParams::apply(MANAGER).force();
    roles.patch(ADMIN_VIEW, &params, &Patch::Apply(role)).await.context("making a role").map(drop)
}

/// Keeps the bindings of a cluster in line with its access entries, until the task is aborted.
pub(super) async fn keep(region: RegionHandle, cluster: String, id: String, client: Client) {
    let mut there = BTreeSet::new();
    loop {
        let entries = in_effect(&region, &cluster, &id);
        if let Err(error) = bring_about(&client, &entries, &mut there).await {
            tracing::warn!(cluster, %error, "binding its access policies");
        }
        tokio::time::sleep(TICK).await;
    }
}

/// The access entries of a cluster, with the policies that EKS has applied by now.
fn in_effect(region: &RegionHandle, cluster: &str, id: &str) -> Vec<AccessEntry> {
    let now = region.with(|region| region.now()).ok();
    let found = region.cluster(cluster).filter(|found| found.id == id).zip(now);
    let entries = |(found, now): (Cluster, Timestamp)| {
        let entries = found.entries.into_values();
        entries.map(move |entry| AccessEntry { policies: entry.policies_at(now), ..entry })
    };
    found.into_iter().flat_map(entries).collect()
}

async fn bring_about(
    client: &Client,
    entries: &[AccessEntry],
    there: &mut BTreeSet<Binding>,
) -> Result<(), Error> {
    let namespaces = if names_namespaces(entries) {
        let all = Api::<Namespace>::all(client.clone()).list(&ListParams::default()).await?;
        all.items
            .iter()
            .filter(|it| it.metadata.deletion_timestamp.is_none())
            .map(kube::ResourceExt::name_any)
            .collect()
    } else {
        Vec::new()
    };
    let wanted = bindings(entries, &namespaces);
    let now = there.clone();
    for binding in now.difference(&wanted) {
        binding.delete(client).await?;
        there.remove(binding);
    }
    for binding in wanted.difference(&now) {
        binding.create(client).await?;
        there.insert(binding.clone());
    }
    Ok(())
}
