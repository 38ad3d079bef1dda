//! Who may do what, and why: a right that is not here is not granted, one without a reason cannot be written down.
//!
//! A new right is an entry of `RIGHTS`; then `cargo xtask generate`.

use foo_api::names::{BOOTSTRAP_GROUP, CONTROL_PLANE_GROUP, INFRASTRUCTURE_GROUP};

/// A part of the manager that can run alone (`--controllers`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Controller {
    Pool,
    Cluster,
    ControlPlane,
    Eks,
    NodeConfig,
}

use Controller::{Cluster, ControlPlane, Eks, NodeConfig, Pool};

pub(crate) const ALL: &[Controller] = &[Pool, Cluster, ControlPlane, Eks, NodeConfig];

impl Controller {
    /// As `--controllers` spells it.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Pool => "pool",
            Cluster => "cluster",
            ControlPlane => "control-plane",
            Eks => "eks",
            NodeConfig => "node-config",
        }
    }
}

/// One right: verbs on resources of one group, the controllers that need it, and what for.
#[derive(Clone, Copy)]
pub(crate) struct Right {
    pub(super) group: &'static str,
    pub(super) resources: &'static [&'static str],
    pub(super) verbs: &'static [&'static str],
    pub(super) controllers: &'static [Controller],
    /// The only objects; all if empty.
    pub(super) names: &'static [&'static str],
    pub(super) reason: &'static str,
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

/// Control planes of the providers that publish under Cluster API's group. The version of any other control plane is
/// not known, so nothing waits for it.
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
    "the version of the control plane, before content of another Kubernetes version is created";

/// What the manager may do in every namespace that it reconciles.
///
/// There is no right on `…/finalizers`: the owners that we set do not block (`blockOwnerDeletion`), so the admission plugin
/// OwnerReferencesPermissionEnforcement, which is on in the end-to-end tests, does not ask for it.
pub(super) const RIGHTS: &[Right] = &[
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
        "one per instance: made, and deleted itself only when it has no Machine, or its instance stays (deletionPolicy)",
    ),
    right(
        INFRASTRUCTURE_GROUP,
        &["foomachinepools/status", "foomachines/status"],
        &["patch"],
        &[Pool],
        "status of both, by server-side apply",
    ),
    right(
        INFRASTRUCTURE_GROUP,
        &["fooplans"],
        &["get", "list", "watch"],
        &[Pool, Cluster, Eks],
        "what users ask would follow from a changed pool, control plane or network",
    ),
    right(
        INFRASTRUCTURE_GROUP,
        &["fooplans"],
        &["delete"],
        &[Pool, Cluster, Eks],
        "the manager deletes them ten minutes after their creation",
    ),
    right(INFRASTRUCTURE_GROUP, &["fooplans/status"], &["patch"], &[Pool, Cluster, Eks], "what would follow"),
    right(
        INFRASTRUCTURE_GROUP,
        &["fooclusters"],
        READ,
        &[Pool, Eks],
        "region and subnets of the cluster of a pool or control plane",
    ),
    right(
        INFRASTRUCTURE_GROUP,
        &["fooclusters"],
        &["get", "list", "watch", "patch"],
        &[Cluster],
        "the clusters themselves; patched: finalizer, the annotations with the id of the network and `adopt-from`",
    ),
    right(INFRASTRUCTURE_GROUP, &["fooclusters/status"], &["patch"], &[Cluster], "their status"),
    right(
        INFRASTRUCTURE_GROUP,
        &["fooclusteridentities"],
        &["get", "list", "watch", "patch"],
        &[Pool, Cluster, Eks],
        "which AWS credentials are used for a cluster, and for which namespaces; patched: finalizer, while FooClusters use it",
    ),
    right(
        INFRASTRUCTURE_GROUP,
        &["fooclusteridentities/status"],
        &["patch"],
        &[Pool, Cluster, Eks],
        "whether their credentials are complete",
    ),
    right(
        "",
        &["namespaces"],
        READ,
        &[Pool, Cluster, Eks],
        "a watch over the metadata of namespaces: an identity may be for those with certain labels",
    ),
    right(
        "",
        &["namespaces"],
        &["get"],
        &[Pool, Cluster, Eks],
        "its uid is the id of the management cluster, which the tags of Auto Scaling groups, VPCs and EKS clusters carry",
    )
    .on(&["kube-system"]),
    right(
        INFRASTRUCTURE_GROUP,
        &["foomachinepools"],
        READ,
        &[Cluster, Eks],
        "a FooCluster and an EKS cluster stay until the last pool of their Cluster is gone; the roles of pools get access",
    ),
    right(
        CONTROL_PLANE_GROUP,
        &["foocontrolplanes"],
        &["get", "list", "watch", "patch"],
        &[ControlPlane],
        "the control planes themselves; patched: spec.controlPlaneEndpoint",
    ),
    right(
        CONTROL_PLANE_GROUP,
        &["foocontrolplanes"],
        &["get", "list", "watch", "patch"],
        &[Eks],
        "the control planes themselves; patched: finalizer, the annotations with the id and `adopt-from`, spec.controlPlaneEndpoint",
    ),
    right(CONTROL_PLANE_GROUP, &["foocontrolplanes/status"], &["patch"], &[ControlPlane, Eks], "their status"),
    right(
        CONTROL_PLANE_GROUP,
        &["foocontrolplanes"],
        &["list"],
        &[Cluster],
        "a network stays until the EKS cluster in it is gone",
    ),
    right(CONTROL_PLANE_GROUP, &["foocontrolplanes"], &["get"], &[Pool], VERSION),
    right("controlplane.cluster.x-k8s.io", CONTROL_PLANES, &["get"], &[Pool], VERSION),
    right(
        BOOTSTRAP_GROUP,
        &["foonodeconfigs"],
        READ,
        &[NodeConfig],
        "the configurations of nodes themselves",
    ),
    right(BOOTSTRAP_GROUP, &["foonodeconfigs/status"], &["patch"], &[NodeConfig], "their status"),
    right(
        CONTROL_PLANE_GROUP,
        &["foocontrolplanes"],
        READ,
        &[NodeConfig],
        "endpoint, certificate authority, name and range of Services of the cluster that nodes join",
    ),
    right(
        INFRASTRUCTURE_GROUP,
        &["foomachinepools"],
        READ,
        &[NodeConfig],
        "the operating system family of the image that nodes boot from",
    ),
    right(
        CAPI,
        &["machinepools"],
        &["get", "list", "watch", "patch"],
        &[NodeConfig],
        "the owners of configurations, and so their Clusters; patched: the annotations from which cluster-autoscaler reads labels, \
         taints and pods of Nodes that do not exist yet",
    ),
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
        &["machinepools"],
        READ,
        &[Eks],
        "the versions of kubelets: a control plane is at most three minors ahead; an EKS cluster stays until they are gone",
    ),
    right(
        CAPI,
        &["machines"],
        &["get", "list", "watch", "patch", "delete"],
        &[Pool],
        "deleting a Machine is how an instance goes: Cluster API drains it first; patched: deletion timeouts; if the instance stays (deletionPolicy), the annotation that pauses it and Cluster API's finalizer",
    ),
    right(
        "",
        &["secrets"],
        &["get", "list", "watch"],
        &[Pool],
        "bootstrap data by name, and <cluster>-kubeconfig where Nodes are to be cordoned; a watch over the metadata of \
         labelled Secrets shows when to read one again (RBAC cannot narrow it to metadata)",
    ),
    right(
        "",
        &["secrets"],
        &["get", "list", "watch", "create", "patch", "delete"],
        &[ControlPlane],
        "kubeconfig of the external API server in, Cluster API's <cluster>-kubeconfig out; never deleted: admission plugin \
         OwnerReferencesPermissionEnforcement lets no other user restore an owner that was lost",
    ),
    right(
        "",
        &["secrets"],
        &["get", "list", "watch", "create", "patch", "delete"],
        &[NodeConfig],
        "user data out, and the kubeconfig of an external API server in, for its certificate authority; never deleted: \
         admission plugin OwnerReferencesPermissionEnforcement lets no other user restore an owner that was lost",
    ),
    right(
        "",
        &["secrets"],
        &["get", "list", "watch", "create", "patch", "delete"],
        &[Eks],
        "<cluster>-kubeconfig and <cluster>-user-kubeconfig of EKS clusters; never deleted: admission plugin \
         OwnerReferencesPermissionEnforcement lets no other user restore an owner that was lost",
    ),
    right("", &["events"], &["create", "patch"], ALL, "events as older tools read them"),
    right("events.k8s.io", &["events"], &["create", "patch"], ALL, "events"),
    right(
        "authentication.k8s.io",
        &["tokenreviews"],
        &["create"],
        ALL,
        "whose token it is that asks for metrics or debug pages; without this right no user gets them",
    ),
    right("authorization.k8s.io", &["subjectaccessreviews"], &["create"], ALL, "whether they may"),
    right(INFRASTRUCTURE_GROUP, &["managers"], &["act-as-provider"], &[Pool, Cluster], RECOGNIZED),
    right(CONTROL_PLANE_GROUP, &["managers"], &["act-as-provider"], &[ControlPlane, Eks], RECOGNIZED),
    right(BOOTSTRAP_GROUP, &["managers"], &["act-as-provider"], &[NodeConfig], RECOGNIZED),
];

/// Of `managers`, which are no resource of the API server, and of verbs that no request has.
const RECOGNIZED: &str = "gives access to nothing: by this right the admission policies recognize who asks";

/// What readers of a manager's diagnostics need: paths of its diagnostics (`--diagnostics-address`).
pub(super) const DIAGNOSTICS: &[Page] = &[
    Page {
        role: "foo-metrics-reader",
        path: "/metrics",
        verbs: &["get"],
        reason: "for scrapers; no metric names an object",
    },
    Page {
        role: "foo-log-level-writer",
        path: "/debug/log-level",
        verbs: &["get", "put", "delete"],
        reason: "for people: how much the manager logs, for a day at most",
    },
    Page {
        role: "foo-debug-reader",
        path: "/debug/*",
        verbs: &["get"],
        reason: "for people: the last reconcile and the last plan of each object of all namespaces, without bootstrap data",
    },
];

/// The right to use certain pages, and the role that gives it.
pub(super) struct Page {
    pub(super) role: &'static str,
    pub(super) path: &'static str,
    pub(super) verbs: &'static [&'static str],
    pub(super) reason: &'static str,
}

/// What the manager may do in its own namespace.
pub(super) const LEADER_ELECTION: &[Right] = &[
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

/// Leases of the managers of all providers.
const LEASES: &[&str] = &[
    "controller-leader-election-foo",
    "controller-leader-election-foo-bootstrap",
    "controller-leader-election-foo-control-plane",
];

/// What a manager that calls AWS may do in its own namespace besides.
pub(super) const IDENTITY_SECRETS: &[Right] = &[right(
    "",
    &["secrets"],
    &["get", "list", "watch", "patch", "delete"],
    &[Pool, Cluster, Eks],
    "keys of FooClusterIdentities; patched: ownerReferences, so that clusterctl moves them with their identity; never \
     deleted: admission plugin OwnerReferencesPermissionEnforcement lets no other user change owners",
)];

/// What Cluster API's core controllers may do with our kinds: they own, patch and delete them.
const CORE_VERBS: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];
pub(super) const CORE_INFRASTRUCTURE: &[Right] = &[
    right(
        INFRASTRUCTURE_GROUP,
        &["fooclusters", "fooclustertemplates", "foomachinepools", "foomachinepooltemplates", "foomachines"],
        CORE_VERBS,
        &[],
        "Cluster, MachinePool, Machine and topology controllers of Cluster API",
    ),
    right(INFRASTRUCTURE_GROUP, &["managers"], &["act-as-core"], &[], RECOGNIZED),
];
pub(super) const CORE_CONTROL_PLANE: &[Right] = &[
    right(
        CONTROL_PLANE_GROUP,
        &["foocontrolplanes", "foocontrolplanetemplates"],
        CORE_VERBS,
        &[],
        "Cluster and topology controllers of Cluster API",
    ),
    right(CONTROL_PLANE_GROUP, &["managers"], &["act-as-core"], &[], RECOGNIZED),
];

pub(super) const CORE_BOOTSTRAP: &[Right] = &[right(
    BOOTSTRAP_GROUP,
    &["foonodeconfigs", "foonodeconfigtemplates"],
    CORE_VERBS,
    &[],
    "MachinePool and topology controllers of Cluster API",
)];

/// What cluster-autoscaler needs in the management cluster to scale pools (provider `clusterapi`).
pub(super) const AUTOSCALER: &[Right] = &[
    right(
        CAPI,
        &["machinepools", "machinedeployments", "machinesets"],
        READ,
        &[],
        "node groups; its caches of all three must fill before it reads any",
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
pub(super) const KUBEADM_BOOTSTRAP: &[Right] = &[right(
    CONTROL_PLANE_GROUP,
    &["foocontrolplanes"],
    &["get"],
    &[],
    "the version of the control plane that new Nodes join; without this right it writes no user data",
)];

/// Of the clusters in other namespaces.
pub(super) const ALL_CLUSTERS: Right = right(
    INFRASTRUCTURE_GROUP,
    &["fooclusters"],
    READ,
    &[Pool, Cluster, Eks],
    "who uses an identity, wherever it is",
);
