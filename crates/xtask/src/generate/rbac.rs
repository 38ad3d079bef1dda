//! deploy/rbac: who may do what in the management cluster, and why.
//!
//! [`RIGHTS`] is the one list of the manager's rights. Roles are cut from it per controller, because clusterctl installs the infrastructure, the
//! control-plane and the bootstrap provider as three Deployments.

mod page;
mod rights;

pub(crate) use rights::{ALL, Controller};

use super::Generated;
use anyhow::Result;
use rights::{
    ALL_CLUSTERS, AUTOSCALER, CORE_BOOTSTRAP, CORE_CONTROL_PLANE, CORE_INFRASTRUCTURE, DIAGNOSTICS,
    IDENTITY_SECRETS, KUBEADM_BOOTSTRAP, LEADER_ELECTION, Page, RIGHTS, Right,
};

pub(crate) const FOLDER: &str = "deploy/rbac";
/// The flavour for one namespace (`--namespace`).
const NAMESPACED: &str = "deploy/namespaced";
/// The namespace it is written for; a user replaces it.
const SAMPLE_NAMESPACE: &str = "team-a";

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
            [Provider::Infrastructure, Provider::ControlPlane, Provider::Bootstrap].map(core_role).concat(),
        ),
        file(
            "cluster_autoscaler_role.yaml",
            role("ClusterRole", "foo-cluster-autoscaler", "", AUTOSCALER.iter()),
        ),
        file(
            "kubeadm_bootstrap_role.yaml",
            role("ClusterRole", "foo-kubeadm-bootstrap", "", KUBEADM_BOOTSTRAP.iter()),
        ),
        Generated { path: "docs/reference/rbac.md".to_owned(), text: page::page()? },
    ])
}

/// Which of the providers of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Provider {
    Infrastructure,
    ControlPlane,
    Bootstrap,
}

/// ClusterRole of a manager that runs these controllers.
pub(crate) fn manager_role(controllers: &[Controller]) -> String {
    let needed = RIGHTS.iter().filter(|right| right.controllers.iter().any(|c| controllers.contains(c)));
    role("ClusterRole", "foo-manager", "", needed)
}

/// Resources that are cluster-scoped, or that the manager reads in all namespaces: identities are for the whole
/// cluster, and stay while any FooCluster uses them. `managers` because whoever may grant rights in a namespace could grant
/// these: the policies ask for rights in all.
const CLUSTER_WIDE: &[&str] = &[
    "fooclusteridentities",
    "fooclusteridentities/status",
    "namespaces",
    "fooclusters",
    "tokenreviews",
    "subjectaccessreviews",
    "managers",
];

/// The rights of a manager that reconciles one namespace: a Role there, and a ClusterRole for what is in none.
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

/// ClusterRole that gives Cluster API's core its rights on one provider's kinds.
pub(crate) fn core_role(provider: Provider) -> String {
    let (name, rights) = match provider {
        Provider::Infrastructure => ("foo-aggregate-to-manager", CORE_INFRASTRUCTURE),
        Provider::ControlPlane => ("foo-control-plane-aggregate-to-manager", CORE_CONTROL_PLANE),
        Provider::Bootstrap => ("foo-bootstrap-aggregate-to-manager", CORE_BOOTSTRAP),
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

/// ClusterRoles for readers of a manager's diagnostics. They have no effect until an administrator binds them.
fn diagnostics_roles() -> String {
    let role = |Page { role, path, verbs, reason }: &Page| {
        let verbs = verbs.join(", ");
        let rules = format!("# {reason}\n- nonResourceURLs: [\"{path}\"]\n  verbs: [{verbs}]\n");
        role_of("ClusterRole", role, "", &rules)
    };
    DIAGNOSTICS.iter().map(role).collect::<Vec<_>>().concat()
}

#[cfg(test)]
mod tests {
    use super::Controller::{Cluster, ControlPlane, NodeConfig, Pool};
    use super::*;
    use serde_json::Value;

    fn rights() -> impl Iterator<Item = &'static Right> {
        RIGHTS
            .iter()
            .chain(LEADER_ELECTION)
            .chain(IDENTITY_SECRETS)
            .chain(CORE_INFRASTRUCTURE)
            .chain(CORE_CONTROL_PLANE)
            .chain(CORE_BOOTSTRAP)
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

    /// Admission plugin OwnerReferencesPermissionEnforcement, which many clusters have on, requires the permission to
    /// delete of a client that changes owners.
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
    fn every_kind_of_the_provider_is_open_to_core_except_credentials_and_plans() {
        let of_core = |kind: &str| !["FooClusterIdentity", "FooPlan"].contains(&kind);
        for crd in foo_api::crds().into_iter().filter(|crd| of_core(&crd.spec.names.kind)) {
            let plural = crd.spec.names.plural.as_str();
            let mut rights = [CORE_INFRASTRUCTURE, CORE_CONTROL_PLANE, CORE_BOOTSTRAP].into_iter().flatten();
            let granted =
                rights.any(|right| right.group == crd.spec.group && right.resources.contains(&plural));
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
    fn who_looks_may_get_pages_and_the_log_level_has_a_role_of_its_own() {
        for role in crate::yaml::parse(&diagnostics_roles()).unwrap() {
            let rules = role["rules"].as_array().unwrap();
            assert_eq!(rules.len(), 1);
            let keys: Vec<&str> = rules[0].as_object().unwrap().keys().map(String::as_str).collect();
            let writes = role["metadata"]["name"] == "foo-log-level-writer";
            let (paths, verbs) = (&rules[0]["nonResourceURLs"], &rules[0]["verbs"]);
            assert_eq!(keys, ["nonResourceURLs", "verbs"]);
            if writes {
                assert_eq!(*paths, serde_json::json!(["/debug/log-level"]));
            } else {
                assert_eq!(*verbs, serde_json::json!(["get"]));
            }
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
        let bootstrap = serde_json::to_string(&rules(&[NodeConfig])).unwrap();
        assert!(
            bootstrap.contains("foonodeconfigs/status") && !bootstrap.contains("foocontrolplanes/status")
        );
        assert!(!bootstrap.contains("foomachines") && !bootstrap.contains("\"machines\""));
        let pools = serde_json::json!({"apiGroups": ["infrastructure.foo.com"], "resources": ["foomachinepools"], "verbs": ["get", "list", "watch"]});
        assert!(rules(&[NodeConfig]).contains(&pools), "it reads pools only: {bootstrap}");
        let infrastructure = serde_json::to_string(&rules(&[Pool, Cluster])).unwrap();
        assert!(!infrastructure.contains("foocontrolplanes/status"));
        assert!(!infrastructure.contains("\"create\",\"patch\"],\"resources\":[\"secrets\""));
        assert_eq!(rules(ALL).len(), RIGHTS.len());
    }
}
