//! The three providers of a release that the manager serves, and what belongs to each.
//!
//! A new cluster template is a file in `deploy/clusterctl/` and an entry of `TEMPLATES`; its variables are in
//! docs/reference/template-variables.md.

use crate::generate::rbac::{Controller, Provider};

/// One of the providers, as clusterctl sees it.
pub(super) struct Entry {
    pub(super) provider: Provider,
    /// Folder of the provider in a repository, and value of its label.
    pub(super) label: &'static str,
    pub(super) components: &'static str,
    /// API group of its CRDs.
    pub(super) group: &'static str,
    pub(super) controllers: &'static [Controller],
    /// What stands in the place of `foo-` in the names of deploy/.
    pub(super) prefix: &'static str,
    /// Its Lease: all managers may be in one namespace (`clusterctl init --target-namespace`).
    pub(super) lease: &'static str,
    /// Objects of deploy/rbac for others.
    pub(super) for_others: &'static [&'static str],
    /// Its admission policies in deploy/policy.
    pub(super) policies: &'static [&'static str],
    /// Templates for users: the name of each, and the files of deploy/clusterctl it is put together from.
    pub(super) templates: &'static [(&'static str, &'static [&'static str])],
}

pub(super) const METADATA: (&str, &[&str]) = ("metadata.yaml", &["metadata.yaml"]);

/// Cluster, control plane and MachinePool of a template.
const CLUSTER: &str = "templates/cluster.yaml";
/// FooCluster of a template, with a network that exists.
const NETWORK: &str = "templates/network-existing.yaml";

/// clusterctl finds flavours and ClusterClasses by the names of these files.
pub(super) const TEMPLATES: &[(&str, &[&str])] = &[
    ("cluster-template.yaml", &[CLUSTER, NETWORK, "templates/pool.yaml"]),
    ("cluster-template-spot.yaml", &[CLUSTER, NETWORK, "templates/pool-spot.yaml"]),
    ("cluster-template-mixed.yaml", &[CLUSTER, NETWORK, "templates/pool-mixed.yaml"]),
    (
        "cluster-template-managed-network.yaml",
        &[CLUSTER, "templates/network-managed.yaml", "templates/pool.yaml"],
    ),
    ("cluster-template-topology.yaml", &["templates/topology.yaml"]),
    ("cluster-template-extension.yaml", &["templates/extension.yaml"]),
    ("cluster-template-eks.yaml", &["templates/eks.yaml"]),
    ("cluster-template-eks-extension.yaml", &["templates/eks-extension.yaml"]),
    ("clusterclass-foo.yaml", &["clusterclass-foo.yaml"]),
    ("clusterclass-foo-extension.yaml", &["clusterclass-foo-extension.yaml"]),
    ("clusterclass-foo-eks.yaml", &["clusterclass-foo-eks.yaml"]),
    ("clusterclass-foo-eks-extension.yaml", &["clusterclass-foo-eks-extension.yaml"]),
];

pub(super) const ENTRIES: [Entry; 3] = [
    Entry {
        provider: Provider::Infrastructure,
        label: "infrastructure-foo",
        components: "infrastructure-components.yaml",
        group: foo_api::names::INFRASTRUCTURE_GROUP,
        controllers: &[Controller::Pool, Controller::Cluster, Controller::Eks],
        prefix: "foo-",
        lease: "controller-leader-election-foo",
        for_others: &["cluster_autoscaler_role.yaml"],
        policies: &[
            "adoption.yaml",
            "cluster_templates.yaml",
            "crds.yaml",
            "machines.yaml",
            "manager_machines.yaml",
            "protection.yaml",
        ],
        templates: TEMPLATES,
    },
    Entry {
        provider: Provider::ControlPlane,
        label: "control-plane-foo",
        components: "control-plane-components.yaml",
        group: foo_api::names::CONTROL_PLANE_GROUP,
        controllers: &[Controller::ControlPlane],
        prefix: "foo-control-plane-",
        lease: "controller-leader-election-foo-control-plane",
        for_others: &["kubeadm_bootstrap_role.yaml", "kubeadm_bootstrap_role_binding.yaml"],
        policies: &["control_plane_templates.yaml", "control_planes.yaml", "control_plane_secrets.yaml"],
        templates: &[],
    },
    Entry {
        provider: Provider::Bootstrap,
        label: "bootstrap-foo",
        components: "bootstrap-components.yaml",
        group: foo_api::names::BOOTSTRAP_GROUP,
        controllers: &[Controller::NodeConfig],
        prefix: "foo-bootstrap-",
        lease: "controller-leader-election-foo-bootstrap",
        for_others: &[],
        policies: &["bootstrap_secrets.yaml"],
        templates: &[],
    },
];
