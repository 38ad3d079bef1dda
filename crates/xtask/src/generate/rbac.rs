//! deploy/rbac: who may do what in the management cluster, and why.
//!
//! [`RIGHTS`] is the one list of the manager's rights. A right that is not there is not granted, one without a reason
//! cannot be written down. Roles are cut from it per controller, because clusterctl installs the infrastructure and the
//! control-plane provider as two Deployments.

use super::Generated;
use anyhow::Result;
use foo_api::names::{CONTROL_PLANE_GROUP, INFRASTRUCTURE_GROUP};
use std::fmt::Write as _;

pub(crate) const FOLDER: &str = "deploy/rbac";
/// The flavour for one namespace (`--namespace`).
const NAMESPACED: &str = "deploy/namespaced";
/// The namespace it is written for; a user replaces it.
const SAMPLE_NAMESPACE: &str = "team-a";

/// A part of the manager that can run alone (`--controllers`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Controller {
    Pool,
    Cluster,
    ControlPlane,
}

use Controller::{Cluster, ControlPlane, Pool};

pub(crate) const ALL: &[Controller] = &[Pool, Cluster, ControlPlane];

impl Controller {
    /// As `--controllers` spells it.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Pool => "pool",
            Cluster => "cluster",
            ControlPlane => "control-plane",
        }
    }
}

/// One right: verbs on resources of one group, the controllers that need it, and what for.
#[derive(Clone, Copy)]
pub(crate) struct Right {
    group: &'static str,
    resources: &'static [&'static str],
    verbs: &'static [&'static str],
    controllers: &'static [Controller],
    /// The only objects; all if empty.
    names: &'static [&'static str],
    reason: &'static str,
}

impl Right {
    /// The same right on these objects only.
    const fn on(self, names: &'static [&'static str]) -> Self {
        Self { names, ..self }
    }
}

const CAPI: &str = "cluster.x-k8s.io";
const READ: &[&str] = &["get", "list", "watch"];

const fn right(
    group: &'static str,
    resources: &'static [&'static str],
    verbs: &'static [&'static str],
    controllers: &'static [Controller],
    reason: &'static str,
) -> Right {
    Right { group, resources, verbs, controllers, names: &[], reason }
}

/// Control planes of the providers that publish under Cluster API's group. Of one that is not here the version is not
/// known, and nothing waits for it.
const CONTROL_PLANES: &[&str] = &[
    "awsmanagedcontrolplanes",
    "k0scontrolplanes",
    "kthreescontrolplanes",
    "kubeadmcontrolplanes",
    "microk8scontrolplanes",
    "rke2controlplanes",
    "taloscontrolplanes",
];

const VERSION: &str =
    "the version of the control plane, before content of another Kubernetes version is made";

/// What the manager may do in every namespace it looks at.
///
/// There is no right on `…/finalizers`: the owners that we set do not block (`blockOwnerDeletion`), so the admission plugin
/// OwnerReferencesPermissionEnforcement, which is on in the end-to-end tests, does not ask for it.
const RIGHTS: &[Right] = &[
    right(
        INFRASTRUCTURE_GROUP,
        &["foomachinepools"],
        &["get", "list", "watch", "patch"],
        &[Pool],
        "the pools themselves; patched: finalizer, spec.providerID, spec.providerIDList",
    ),
    right(
        INFRASTRUCTURE_GROUP,
        &["foomachines"],
        &["get", "list", "watch", "create", "patch", "delete"],
        &[Pool],
        "one per instance: made, and deleted itself only when it never got a Machine",
    ),
    right(
        INFRASTRUCTURE_GROUP,
        &["foomachinepools/status", "foomachines/status"],
        &["patch"],
        &[Pool],
        "status of both, by server-side apply",
    ),
    right(INFRASTRUCTURE_GROUP, &["fooclusters"], READ, &[Pool], "region and subnets of a pool's cluster"),
    right(
        INFRASTRUCTURE_GROUP,
        &["fooclusters"],
        &["get", "list", "watch", "patch"],
        &[Cluster],
        "the clusters themselves; patched: finalizer",
    ),
    right(INFRASTRUCTURE_GROUP, &["fooclusters/status"], &["patch"], &[Cluster], "their status"),
    right(
        INFRASTRUCTURE_GROUP,
        &["fooclusteridentities"],
        &["get", "list", "watch", "patch"],
        &[Pool, Cluster],
        "which AWS credentials are used for a cluster, and for which namespaces; patched: finalizer, while FooClusters use it",
    ),
    right(
        INFRASTRUCTURE_GROUP,
        &["fooclusteridentities/status"],
        &["patch"],
        &[Pool, Cluster],
        "whether their credentials are complete",
    ),
    right(
        "",
        &["namespaces"],
        READ,
        &[Pool, Cluster],
        "a watch over the metadata of namespaces: an identity may be for those with certain labels",
    ),
    right(
        "",
        &["namespaces"],
        &["get"],
        &[Pool],
        "its uid is the id of the management cluster, which the tags of Auto Scaling groups carry",
    )
    .on(&["kube-system"]),
    right(
        INFRASTRUCTURE_GROUP,
        &["foomachinepools"],
        READ,
        &[Cluster],
        "a FooCluster stays until the last pool of its cluster is gone",
    ),
    right(
        CONTROL_PLANE_GROUP,
        &["foocontrolplanes"],
        &["get", "list", "watch", "patch"],
        &[ControlPlane],
        "the control planes themselves; patched: spec.controlPlaneEndpoint",
    ),
    right(CONTROL_PLANE_GROUP, &["foocontrolplanes/status"], &["patch"], &[ControlPlane], "their status"),
    right(CONTROL_PLANE_GROUP, &["foocontrolplanes"], &["get"], &[Pool], VERSION),
    right("controlplane.cluster.x-k8s.io", CONTROL_PLANES, &["get"], &[Pool], VERSION),
    right(CAPI, &["clusters"], READ, ALL, "paused, infrastructure ready, being deleted"),
    right(
        CAPI,
        &["machinepools"],
        &["get", "list", "watch", "patch"],
        &[Pool],
        "requested replicas; patched: spec.replicas, only with the annotation replicas-managed-by",
    ),
    right(
        CAPI,
        &["machines"],
        &["get", "list", "watch", "patch", "delete"],
        &[Pool],
        "deleting a Machine is how an instance goes: Cluster API drains it first; patched: deletion timeouts",
    ),
    right(
        "",
        &["secrets"],
        &["get", "list", "watch"],
        &[Pool],
        "bootstrap data by name, and <cluster>-kubeconfig where Nodes are to be cordoned; a watch over the metadata of \
         labelled Secrets tells when to read one again (RBAC cannot narrow it to metadata)",
    ),
    right(
        "",
        &["secrets"],
        &["get", "list", "watch", "create", "patch", "delete"],
        &[ControlPlane],
        "kubeconfig of the external API server in, Cluster API's <cluster>-kubeconfig out; never deleted: admission plugin \
         OwnerReferencesPermissionEnforcement lets nobody else give back an owner that a restore has lost",
    ),
    right("", &["events"], &["create", "patch"], ALL, "events as older tools read them"),
    right("events.k8s.io", &["events"], &["create", "patch"], ALL, "events"),
    right(
        "authentication.k8s.io",
        &["tokenreviews"],
        &["create"],
        ALL,
        "whose token it is that asks for metrics or debug pages; without this right nobody gets them",
    ),
    right("authorization.k8s.io", &["subjectaccessreviews"], &["create"], ALL, "whether they may"),
];

/// What is to be granted to those who look at a manager: paths of its diagnostics (`--diagnostics-address`).
const DIAGNOSTICS: &[Page] = &[
    Page { role: "foo-metrics-reader", path: "/metrics", reason: "for scrapers; no metric names an object" },
    Page {
        role: "foo-debug-reader",
        path: "/debug/*",
        reason: "for people: the last plan of each pool of all namespaces, without bootstrap data",
    },
];

/// The right to get certain pages, and the role that gives it.
struct Page {
    role: &'static str,
    path: &'static str,
    reason: &'static str,
}

/// What the manager may do in its own namespace.
const LEADER_ELECTION: &[Right] = &[
    right(
        "coordination.k8s.io",
        &["leases"],
        &["get", "update"],
        ALL,
        "leader election: every write carries the resourceVersion that was read; the names are those of --leader-election-id",
    )
    .on(LEASES),
    right(
        "coordination.k8s.io",
        &["leases"],
        &["create"],
        ALL,
        "the first manager makes the Lease (RBAC cannot narrow a creation to a name)",
    ),
];

/// Leases of the managers of both providers.
const LEASES: &[&str] = &["controller-leader-election-foo", "controller-leader-election-foo-control-plane"];

/// What a manager that calls AWS may do in its own namespace besides.
const IDENTITY_SECRETS: &[Right] = &[right(
    "",
    &["secrets"],
    &["get", "list", "watch", "patch", "delete"],
    &[Pool, Cluster],
    "keys of FooClusterIdentities; patched: ownerReferences, so that clusterctl moves them with their identity; never \
     deleted: admission plugin OwnerReferencesPermissionEnforcement lets nobody else change owners",
)];

/// What Cluster API's core controllers may do with our kinds: they own, patch and delete them.
const CORE_VERBS: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];
const CORE_INFRASTRUCTURE: &[Right] = &[right(
    INFRASTRUCTURE_GROUP,
    &["fooclusters", "fooclustertemplates", "foomachinepools", "foomachinepooltemplates", "foomachines"],
    CORE_VERBS,
    &[],
    "Cluster, MachinePool, Machine and topology controllers of Cluster API",
)];
const CORE_CONTROL_PLANE: &[Right] = &[right(
    CONTROL_PLANE_GROUP,
    &["foocontrolplanes", "foocontrolplanetemplates"],
    CORE_VERBS,
    &[],
    "Cluster and topology controllers of Cluster API",
)];

/// What cluster-autoscaler needs in the management cluster to scale pools (provider `clusterapi`).
const AUTOSCALER: &[Right] = &[
    right(
        CAPI,
        &["machinepools", "machinedeployments", "machinesets"],
        READ,
        &[],
        "node groups; its caches of all three must fill before it looks at any",
    ),
    right(
        CAPI,
        &["machinepools/scale"],
        &["get", "patch", "update"],
        &[],
        "its only way to change the number of replicas",
    ),
    right(
        CAPI,
        &["machines"],
        &["get", "list", "watch", "update"],
        &[],
        "annotates the Machine to delete (cluster.x-k8s.io/delete-machine)",
    ),
    right(
        INFRASTRUCTURE_GROUP,
        &["foomachinepools"],
        READ,
        &[],
        "capacity of a node for scaling from zero; without this right its main loop hangs while it reports to be healthy",
    ),
];

/// What the kubeadm bootstrap provider needs: before it writes user data it asks the object that a Cluster names in
/// `spec.controlPlaneRef` for its version, whatever its kind. It has no aggregated role.
const KUBEADM_BOOTSTRAP: &[Right] = &[right(
    CONTROL_PLANE_GROUP,
    &["foocontrolplanes"],
    &["get"],
    &[],
    "the version of the control plane that new Nodes join; without this right it writes no user data",
)];

/// Label that gives the rules to the core manager's own ClusterRole.
const AGGREGATE: &str = "  labels:\n    cluster.x-k8s.io/aggregate-to-manager: \"true\"\n";

pub(super) fn files() -> Result<Vec<Generated>> {
    let file = |name: &str, text: String| Generated { path: format!("{FOLDER}/{name}"), text };
    Ok(vec![
        file("role.yaml", manager_role(ALL)),
        file(
            "leader_election_role.yaml",
            role("Role", "foo-leader-election", "  namespace: foo-system\n", LEADER_ELECTION.iter()),
        ),
        file(
            "identity_secrets_role.yaml",
            role("Role", "foo-identity-secrets", "  namespace: foo-system\n", IDENTITY_SECRETS.iter()),
        ),
        file("diagnostics_roles.yaml", diagnostics_roles()),
        Generated { path: format!("{NAMESPACED}/role.yaml"), text: namespaced_roles() },
        file(
            "aggregated_role.yaml",
            [core_role(Provider::Infrastructure), core_role(Provider::ControlPlane)].concat(),
        ),
        file(
            "cluster_autoscaler_role.yaml",
            role("ClusterRole", "foo-cluster-autoscaler", "", AUTOSCALER.iter()),
        ),
        file(
            "kubeadm_bootstrap_role.yaml",
            role("ClusterRole", "foo-kubeadm-bootstrap", "", KUBEADM_BOOTSTRAP.iter()),
        ),
        Generated { path: "docs/reference/rbac.md".to_owned(), text: page()? },
    ])
}

/// Which of the two providers of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provider {
    Infrastructure,
    ControlPlane,
}

/// ClusterRole of a manager that runs these controllers.
pub(crate) fn manager_role(controllers: &[Controller]) -> String {
    let needed = RIGHTS.iter().filter(|right| right.controllers.iter().any(|c| controllers.contains(c)));
    role("ClusterRole", "foo-manager", "", needed)
}

/// Resources that are in no namespace, or are looked at in all: identities are for the whole cluster, and stay while any
/// FooCluster uses them.
const CLUSTER_WIDE: &[&str] = &[
    "fooclusteridentities",
    "fooclusteridentities/status",
    "namespaces",
    "fooclusters",
    "tokenreviews",
    "subjectaccessreviews",
];

/// The rights of a manager that looks after one namespace: a Role there, and a ClusterRole for what is in none.
fn namespaced_roles() -> String {
    let is_wide = |right: &&Right| right.resources.iter().all(|name| CLUSTER_WIDE.contains(name));
    let of_namespace = |right: &&Right| !is_wide(right) || right.resources == ["fooclusters"];
    let (role_name, metadata) = ("foo-manager-of-namespace", format!("  namespace: {SAMPLE_NAMESPACE}\n"));
    let wide = RIGHTS.iter().filter(is_wide).filter(|right| !of_namespace(right)).chain([&ALL_CLUSTERS]);
    [
        role("Role", role_name, &metadata, RIGHTS.iter().filter(of_namespace)),
        role("ClusterRole", role_name, "", wide),
    ]
    .concat()
}

/// Of the clusters in other namespaces.
const ALL_CLUSTERS: Right = right(
    INFRASTRUCTURE_GROUP,
    &["fooclusters"],
    READ,
    &[Pool, Cluster],
    "who uses an identity, wherever it is",
);

/// ClusterRole that gives Cluster API's core its rights on one provider's kinds.
pub(crate) fn core_role(provider: Provider) -> String {
    let (name, rights) = match provider {
        Provider::Infrastructure => ("foo-aggregate-to-manager", CORE_INFRASTRUCTURE),
        Provider::ControlPlane => ("foo-control-plane-aggregate-to-manager", CORE_CONTROL_PLANE),
    };
    role("ClusterRole", name, AGGREGATE, rights.iter())
}

/// Written by hand rather than by the serialiser, so that each rule carries its reason.
fn role<'a>(kind: &str, name: &str, metadata: &str, rights: impl Iterator<Item = &'a Right>) -> String {
    let rules: Vec<String> = rights
        .map(|right| {
            format!(
                "# {}\n- apiGroups: [\"{}\"]\n  resources: [{}]\n{}  verbs: [{}]\n",
                right.reason,
                right.group,
                right.resources.join(", "),
                if right.names.is_empty() {
                    String::new()
                } else {
                    format!("  resourceNames: [{}]\n", right.names.join(", "))
                },
                right.verbs.join(", "),
            )
        })
        .collect();
    role_of(kind, name, metadata, &rules.concat())
}

fn role_of(kind: &str, name: &str, metadata: &str, rules: &str) -> String {
    format!(
        "---\n# Generated by `cargo xtask generate` from crates/xtask/src/generate/rbac.rs.\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: {name}\n{metadata}rules:\n{rules}"
    )
}

/// ClusterRoles for those who look at a manager. Nobody has them until somebody binds them.
fn diagnostics_roles() -> String {
    let role = |Page { role, path, reason }: &Page| {
        let rules = format!("# {reason}\n- nonResourceURLs: [\"{path}\"]\n  verbs: [get]\n");
        role_of("ClusterRole", role, "", &rules)
    };
    DIAGNOSTICS.iter().map(role).collect::<Vec<_>>().concat()
}

/// docs/reference/rbac.md.
fn page() -> Result<String> {
    let mut page = String::from(
        "# Rights in the management cluster\n\n\
         Generated by `cargo xtask generate`; the roles themselves are in `deploy/rbac`.\n\n\
         ## The manager\n\n\
         Everywhere (or in the namespace given by `--namespace`; what is in no namespace needs a ClusterRoleBinding all\n\
         the same):\n\n\
         | Resources | Verbs | For | Why |\n|---|---|---|---|\n",
    );
    for right in RIGHTS {
        let controllers: Vec<&str> = right.controllers.iter().map(|c| c.flag()).collect();
        let everywhere = right.controllers == ALL;
        row(&mut page, right, Some(if everywhere { "all".to_owned() } else { controllers.join(", ") }))?;
    }
    page.push_str("\nIn its own namespace:\n\n| Resources | Verbs | For | Why |\n|---|---|---|---|\n");
    for right in LEADER_ELECTION {
        row(&mut page, right, Some("all".to_owned()))?;
    }
    for right in IDENTITY_SECRETS {
        row(&mut page, right, Some("pool, cluster".to_owned()))?;
    }
    page.push_str(
        "\nWhat RBAC cannot say, admission policies do (`deploy/policy`): the manager's ServiceAccount writes no Secret but\n\
         `<cluster>-kubeconfig` of the type `cluster.x-k8s.io/secret`, of others nothing but ownerReferences, deletes no Secret, and\n\
         deletes no Machine but those of its pools. With [one namespace](../operations/install.md#one-namespace-only) it can read\n\
         Secrets there and in its own only.\n\n\
         The manager may not touch CRDs and webhooks. In workload clusters it has no rights of its own; where a pool says \
         `interruption.rebalance: Cordon` it patches Nodes as the user of `<cluster>-kubeconfig`.\n\n\
         ## Cluster API's core\n\n\
         Granted by label `cluster.x-k8s.io/aggregate-to-manager`.\n\n\
         | Resources | Verbs | Why |\n|---|---|---|\n",
    );
    for right in CORE_INFRASTRUCTURE.iter().chain(CORE_CONTROL_PLANE) {
        row(&mut page, right, None)?;
    }
    page.push_str(
        "\n## Whoever looks at a manager\n\n\
         ClusterRoles for [its diagnostics](../operations/metrics.md#who-may-see-them); those of the control-plane provider begin with\n\
         `foo-control-plane-`. Nobody has them until you bind them.\n\n\
         | ClusterRole | Verbs and paths | Why |\n|---|---|---|\n",
    );
    for Page { role, path, reason } in DIAGNOSTICS {
        writeln!(page, "| `{role}` | get `{path}` | {reason} |")?;
    }
    page.push_str(
        "\n## cluster-autoscaler\n\n\
         ClusterRole `foo-cluster-autoscaler`, to be bound to the autoscaler's ServiceAccount (or to the user of its\n\
         management kubeconfig). Nothing uses it until you bind it.\n\n\
         | Resources | Verbs | Why |\n|---|---|---|\n",
    );
    for right in AUTOSCALER {
        row(&mut page, right, None)?;
    }
    page.push_str(
        "\n## kubeadm bootstrap provider\n\n\
         ClusterRole `foo-kubeadm-bootstrap`, bound to the ServiceAccount `capi-kubeadm-bootstrap-manager` in\n\
         `capi-kubeadm-bootstrap-system`, where `clusterctl init` installs it. Bind it yourself if yours is elsewhere.\n\n\
         | Resources | Verbs | Why |\n|---|---|---|\n",
    );
    for right in KUBEADM_BOOTSTRAP {
        row(&mut page, right, None)?;
    }
    Ok(page)
}

fn row(page: &mut String, right: &Right, controllers: Option<String>) -> Result<()> {
    let group = if right.group.is_empty() { "core" } else { right.group };
    let resources: Vec<String> = right.resources.iter().map(|name| format!("`{name}`")).collect();
    write!(page, "| {} ({group}) | {} |", resources.join(", "), right.verbs.join(", "))?;
    if let Some(controllers) = controllers {
        write!(page, " {controllers} |")?;
    }
    writeln!(page, " {} |", right.reason.replace('<', "\\<"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn rights() -> impl Iterator<Item = &'static Right> {
        RIGHTS
            .iter()
            .chain(LEADER_ELECTION)
            .chain(IDENTITY_SECRETS)
            .chain(CORE_INFRASTRUCTURE)
            .chain(CORE_CONTROL_PLANE)
            .chain(AUTOSCALER)
            .chain(KUBEADM_BOOTSTRAP)
    }

    #[test]
    fn nothing_is_granted_by_wildcard_and_every_right_has_a_reason() {
        for right in rights() {
            assert!(right.resources.iter().chain(right.verbs).all(|text| !text.contains('*')));
            assert!(right.reason.len() > 5, "{:?}", right.resources);
        }
        assert!(RIGHTS.iter().all(|right| !right.controllers.is_empty()));
    }

    #[test]
    fn secrets_are_never_changed_by_the_pool_controller() {
        let secrets = rights().filter(|right| right.resources.contains(&"secrets"));
        for right in secrets.filter(|right| right.controllers == [Pool]) {
            assert_eq!(right.verbs, ["get", "list", "watch"]);
        }
    }

    /// Admission plugin OwnerReferencesPermissionEnforcement, which many clusters have on, asks for the right to delete of
    /// whoever changes owners.
    #[test]
    fn what_a_manager_gives_owners_it_has_the_right_to_delete() {
        for resource in ["secrets", "foomachines"] {
            let patched = rights()
                .filter(|right| right.resources.contains(&resource) && right.verbs.contains(&"patch"))
                .filter(|right| !right.controllers.is_empty());
            let without = patched.filter(|right| !right.verbs.contains(&"delete")).map(|right| right.reason);
            let without: Vec<_> = without.collect();
            assert!(without.is_empty(), "{resource}: {without:?}");
        }
    }

    #[test]
    fn every_kind_of_ours_is_open_to_core_but_credentials_are_not_its_business() {
        let of_core = |kind: &str| kind != "FooClusterIdentity";
        for crd in foo_api::crds().into_iter().filter(|crd| of_core(&crd.spec.names.kind)) {
            let plural = crd.spec.names.plural.as_str();
            let rights =
                if crd.spec.group == INFRASTRUCTURE_GROUP { CORE_INFRASTRUCTURE } else { CORE_CONTROL_PLANE };
            let granted =
                rights.iter().any(|right| right.group == crd.spec.group && right.resources.contains(&plural));
            assert!(granted, "{plural}");
        }
    }

    #[test]
    fn a_manager_of_one_namespace_has_all_its_rights_there_and_secrets_nowhere_else() {
        let roles = crate::yaml::parse(&namespaced_roles()).unwrap();
        let [of_namespace, wide] = roles.as_slice() else { panic!("{roles:?}") };
        assert_eq!(
            (&of_namespace["kind"], &of_namespace["metadata"]["namespace"]),
            (&"Role".into(), &SAMPLE_NAMESPACE.into())
        );
        let granted = |resource: &str, verb: &str| {
            [of_namespace, wide].into_iter().flat_map(|role| role["rules"].as_array().unwrap()).any(|rule| {
                let has = |key: &str, what: &str| rule[key].as_array().unwrap().iter().any(|it| it == what);
                has("resources", resource) && has("verbs", verb)
            })
        };
        for right in RIGHTS {
            for (resource, verb) in
                right.resources.iter().flat_map(|it| right.verbs.iter().map(move |verb| (it, verb)))
            {
                assert!(granted(resource, verb), "{verb} {resource}");
            }
        }
        // A review changes nothing.
        let is_review = |rule: &&Value| rule["resources"].to_string().contains("reviews");
        let rules = wide["rules"].as_array().unwrap();
        assert_eq!(rules.iter().filter(is_review).count(), 2);
        let wide: String = rules.iter().filter(|rule| !is_review(rule)).map(Value::to_string).collect();
        for absent in ["secrets", "machines", "machinepools", "\"clusters\"", "events", "delete", "create"] {
            assert!(!wide.contains(absent), "{absent}: {wide}");
        }
    }

    #[test]
    fn who_looks_may_get_pages_and_nothing_else() {
        for role in crate::yaml::parse(&diagnostics_roles()).unwrap() {
            let rules = role["rules"].as_array().unwrap();
            assert_eq!(rules.len(), 1);
            let keys: Vec<&str> = rules[0].as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(
                (keys, &rules[0]["verbs"]),
                (vec!["nonResourceURLs", "verbs"], &serde_json::json!(["get"]))
            );
            assert!(
                rules[0]["nonResourceURLs"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|path| path != "*" && path != "/*")
            );
        }
    }

    #[test]
    fn leases_are_narrowed_to_those_of_the_managers() {
        for right in LEADER_ELECTION {
            assert_eq!(right.names.is_empty(), right.verbs == ["create"]);
        }
    }

    #[test]
    fn a_role_is_cut_to_its_controllers() {
        let rules = |controllers: &[Controller]| -> Vec<Value> {
            let role = crate::yaml::parse(&manager_role(controllers)).unwrap().remove(0);
            role["rules"].as_array().unwrap().clone()
        };
        let control_plane = serde_json::to_string(&rules(&[ControlPlane])).unwrap();
        assert!(control_plane.contains("foocontrolplanes") && !control_plane.contains("machines"));
        let infrastructure = serde_json::to_string(&rules(&[Pool, Cluster])).unwrap();
        assert!(!infrastructure.contains("foocontrolplanes/status"));
        assert!(!infrastructure.contains("\"create\",\"patch\"],\"resources\":[\"secrets\""));
        assert_eq!(rules(ALL).len(), RIGHTS.len());
    }
}
