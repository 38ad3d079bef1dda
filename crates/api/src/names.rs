//! Every name that other programs or people rely on: labels, annotations, finalizers, field managers, Secret
//! types.
//!
//! Names that Cluster API defines are as in its API reference ("Labels and Annotations").

/// Label on everything that belongs to a Cluster.
pub const CLUSTER_NAME_LABEL: &str = "cluster.x-k8s.io/cluster-name";
/// Cluster API's label on objects that its topology controller created.
pub const TOPOLOGY_OWNED_LABEL: &str = "topology.cluster.x-k8s.io/owned";
/// Label on FooMachines and Machines of a pool; its value comes from [`crate::labels::must_format_value`].
pub const POOL_NAME_LABEL: &str = "cluster.x-k8s.io/pool-name";
/// Label that says which manager reconciles an object (`--watch-filter`).
pub const WATCH_LABEL: &str = "cluster.x-k8s.io/watch-filter";
/// Annotation that pauses an object, whatever its value.
pub const PAUSED_ANNOTATION: &str = "cluster.x-k8s.io/paused";
/// Value of [`PAUSED_ANNOTATION`] on Machines whose instances stay when their pool is deleted.
pub const PAUSED_FOR_RETENTION: &str = "infrastructure.foo.com/deletion-policy-retain";
/// The same once the provider removes the Machine.
pub const PAUSED_FOR_REMOVAL: &str = "infrastructure.foo.com/deletion-policy-retain-removing";
/// Finalizer of Cluster API on Machines.
pub const CAPI_MACHINE_FINALIZER: &str = "machine.cluster.x-k8s.io";
/// The namespace whose uid is the id of a management cluster: every cluster has it, and it is never deleted.
pub const INSTALLATION_NAMESPACE: &str = "kube-system";
/// Annotation on a MachinePool: its replicas are set outside of Cluster API, unless the value is `false`.
pub const REPLICAS_MANAGED_BY_ANNOTATION: &str = "cluster.x-k8s.io/replicas-managed-by";
/// Annotation on a Machine: deleted first when there are more Machines than desired.
pub const DELETE_MACHINE_ANNOTATION: &str = "cluster.x-k8s.io/delete-machine";
/// Annotation on a Machine: there is nothing to drain.
pub const EXCLUDE_DRAINING_ANNOTATION: &str = "machine.cluster.x-k8s.io/exclude-node-draining";
/// Annotation on a Machine: it is not replaced for being unhealthy.
pub const SKIP_REMEDIATION_ANNOTATION: &str = "cluster.x-k8s.io/skip-remediation";
/// Annotation on an infrastructure cluster that another controller or user manages.
pub const MANAGED_BY_ANNOTATION: &str = "cluster.x-k8s.io/managed-by";
/// Annotation clusterctl leaves as the only one on an object that was moved away.
pub const DELETE_FOR_MOVE_ANNOTATION: &str = "clusterctl.cluster.x-k8s.io/delete-for-move";
/// Annotation on an object that clusterctl must not move yet.
pub const BLOCK_MOVE_ANNOTATION: &str = "clusterctl.cluster.x-k8s.io/block-move";
/// Annotations by which cluster-autoscaler recognises a node group.
pub const AUTOSCALER_MIN_ANNOTATION: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size";
/// See [`AUTOSCALER_MIN_ANNOTATION`].
pub const AUTOSCALER_MAX_ANNOTATION: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size";

/// Annotation on a MachinePool from which cluster-autoscaler reads labels of Nodes that do not exist yet.
pub const AUTOSCALER_LABELS_ANNOTATION: &str = "capacity.cluster-autoscaler.kubernetes.io/labels";
/// The same for taints.
pub const AUTOSCALER_TAINTS_ANNOTATION: &str = "capacity.cluster-autoscaler.kubernetes.io/taints";
/// The same for the number of pods that a Node runs.
pub const AUTOSCALER_MAX_PODS_ANNOTATION: &str = "capacity.cluster-autoscaler.kubernetes.io/maxPods";

/// Annotation on a Cluster, MachinePool, FooCluster or FooMachinePool that must not be deleted, whatever its
/// value. The policy `foo-protection` reads it; the manager does not.
pub const PROTECTED_ANNOTATION: &str = "infrastructure.foo.com/protected";

/// Annotation on a Cluster with a managed topology, whatever its value: after the upgrade of its control plane the runtime
/// extension holds its workers (setting `pauseWorkers`).
pub const PAUSE_WORKERS_ANNOTATION: &str = "infrastructure.foo.com/pause-workers";
/// Annotation on a Cluster with a managed topology, whatever its value: the runtime extension holds its deletion until its
/// workloads have left no load balancers in AWS (setting `leftovers`).
pub const WAIT_FOR_LEFTOVERS_ANNOTATION: &str = "infrastructure.foo.com/wait-for-leftovers";

/// Annotation on a FooMachine, on a Machine of a pool, on a FooControlPlane or on one of our CRDs, whatever its value: users
/// other than the manager and Cluster API may delete it. The policies `foo-machines`, `foo-control-planes` and `foo-crds` require it; the
/// manager requires it before it deletes the EKS cluster of a Cluster that is not being deleted.
pub const DELETION_ALLOWED_ANNOTATION: &str = "infrastructure.foo.com/deletion-allowed";
/// Label on a FooClusterIdentity, whatever its value: it does not become an owner of its Secret, so
/// `clusterctl move` leaves the keys where they are.
pub const KEEP_KEYS_LABEL: &str = "infrastructure.foo.com/keep-keys";

/// Finalizer on FooMachinePools: a group or launch template of the pool may still exist in AWS.
pub const POOL_FINALIZER: &str = "foomachinepool.infrastructure.foo.com";
/// Finalizer on FooMachines: the instance still exists.
pub const MACHINE_FINALIZER: &str = "foomachine.infrastructure.foo.com";
/// Finalizer on FooClusters: pools of the cluster still exist.
pub const CLUSTER_FINALIZER: &str = "foocluster.infrastructure.foo.com";
/// Finalizer on FooClusterIdentities: FooClusters use it.
pub const IDENTITY_FINALIZER: &str = "fooclusteridentity.infrastructure.foo.com";

/// Finalizer on FooControlPlanes in mode `eks`: the EKS cluster may still exist.
pub const CONTROL_PLANE_FINALIZER: &str = "foocontrolplane.controlplane.foo.com";

/// API group of the infrastructure kinds.
pub const INFRASTRUCTURE_GROUP: &str = "infrastructure.foo.com";
/// API group of the control plane kinds.
pub const CONTROL_PLANE_GROUP: &str = "controlplane.foo.com";
/// API group of the bootstrap kinds.
pub const BOOTSTRAP_GROUP: &str = "bootstrap.foo.com";

/// Type of Secrets that Cluster API reads.
pub const CLUSTER_SECRET_TYPE: &str = "cluster.x-k8s.io/secret";
/// Key of a Secret that holds bootstrap data or a kubeconfig.
pub const SECRET_VALUE_KEY: &str = "value";

/// On a FooMachinePool: the AWS account (12 digits) in which its group was begun. Written with the
/// provider's finalizer, before anything is created in AWS: from then on nothing is created with credentials of another
/// account.
pub const ACCOUNT_ANNOTATION: &str = "infrastructure.foo.com/account";

/// On a FooMachinePool: the default name of its group and launch template, as chosen when it was begun.
/// Written with the provider's finalizer. A pool that an earlier version began has none: its name may be one of another
/// scheme.
pub const GROUP_NAME_ANNOTATION: &str = "infrastructure.foo.com/group-name";

/// On a FooMachine: hash of the content that its instance was launched from. Its status says so, too, and can
/// be lost.
pub const SPEC_HASH_ANNOTATION: &str = "infrastructure.foo.com/spec-hash";
/// On a FooMachine: since when its instance waits for the provider's terminating hook (RFC 3339). Its status says so,
/// too, and can be lost; AWS counts 48 hours from then.
pub const DRAIN_HOOK_SINCE_ANNOTATION: &str = "infrastructure.foo.com/drain-hook-since";

/// Field managers of the provider's server-side apply: one for each kind of write, so that two writers never undo each
/// other.
pub mod managers {
    /// `spec.unschedulable` of Nodes.
    pub const CORDON: &str = "foo/cordon";
    /// Spec fields of the FooMachinePool that the provider sets: providerID and providerIDList.
    pub const POOL_SPEC: &str = "foo/pool-spec";
    /// The annotation with the image of the FooMachinePool that was looked up.
    pub const POOL_IMAGE: &str = "foo/pool-image";
    /// Status of the FooMachinePool.
    pub const POOL_STATUS: &str = "foo/pool-status";
    /// Status of FooPlans.
    pub const PLAN_STATUS: &str = "foo/plan-status";
    /// FooMachines as a whole.
    pub const MACHINE: &str = "foo/machine";
    /// Status of FooMachines.
    pub const MACHINE_STATUS: &str = "foo/machine-status";
    /// Deletion timeouts of CAPI Machines.
    pub const MACHINE_TIMEOUTS: &str = "foo/machine-timeouts";
    /// Annotations of CAPI Machines.
    pub const MACHINE_DRAIN: &str = "foo/machine-drain";
    /// The annotation that pauses CAPI Machines.
    pub const MACHINE_PAUSE: &str = "foo/machine-pause";
    /// MachinePool.spec.replicas when the group decides.
    pub const REPLICAS: &str = "foo/replicas";
    /// Owner references of Secrets with credentials.
    pub const IDENTITY_SECRET: &str = "foo/identity-secret";
    /// FooClusterIdentity: status.
    pub const IDENTITY_STATUS: &str = "foo/identity-status";
    /// Annotations of FooClusters: the id of the network, and `adopt-from` once it is done.
    pub const CLUSTER_NETWORK: &str = "foo/cluster-network";
    /// FooCluster: status.
    pub const CLUSTER_STATUS: &str = "foo/cluster-status";
    /// The endpoint in a FooControlPlane's spec.
    pub const CONTROL_PLANE_ENDPOINT: &str = "foo/control-plane-endpoint";
    /// Annotations of a FooControlPlane: its id, and `adopt-from` once it is done.
    pub const CONTROL_PLANE_ID: &str = "foo/control-plane-id";
    /// FooControlPlane: status.
    pub const CONTROL_PLANE: &str = "foo/control-plane";
    /// FooNodeConfig: status.
    pub const NODE_CONFIG: &str = "foo/node-config";
    /// The Secret with the user data of a FooNodeConfig.
    pub const USER_DATA: &str = "foo/user-data";
    /// The annotation of a MachinePool with the labels of Nodes that do not exist yet.
    pub const NODE_LABELS: &str = "foo/node-labels";
    /// The annotation of a MachinePool with the taints of Nodes that do not exist yet.
    pub const NODE_TAINTS: &str = "foo/node-taints";
    /// The annotation of a MachinePool with the number of pods of Nodes that do not exist yet.
    pub const NODE_PODS: &str = "foo/node-pods";
    /// The kubeconfig Secret of a cluster.
    pub const KUBECONFIG: &str = "foo/kubeconfig";
    /// The label of a user's own Secret that has that name.
    pub const KUBECONFIG_LABEL: &str = "foo/kubeconfig-label";
}
