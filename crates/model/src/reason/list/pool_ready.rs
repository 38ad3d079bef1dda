//! Reasons of `Ready` of a FooMachinePool. `reason/list.rs` says what each line has.

macro_rules! pool_ready {
    ([$($rest:ident)*] $($before:tt)*) => {
        all! {
            [$($rest)*]
            $($before)*

            // FooMachinePool, Ready.
            Ready Good [PoolReady True]
            "as many instances as requested are in service, and nothing is in progress. While work is in progress within its limits the condition is True as well, with the reason of that work"
            ""

            ReadyAtMaxSize NeedsUser [PoolReady True]
            "the same, but the MachinePool requests more replicas than `spec.maxSize`; the message says how many"
            "raise `spec.maxSize`, or lower `replicas`"

            WaitingForMachinePool NeedsUser [PoolReady False, NodeConfigReady False, DataSecretAvailable False]
            "no MachinePool owns this object and references it; a FooNodeConfig is not for Machines"
            "reference a FooMachinePool in a MachinePool's `spec.template.spec.infrastructureRef`, a FooNodeConfig in its `bootstrap.configRef`; Cluster API sets the owner"

            NotReferenced NeedsUser [PoolReady False]
            "the MachinePool that owns it references another FooMachinePool now; nothing is launched or terminated"
            "delete this FooMachinePool, whose instances are then drained and terminated, or reference it again"

            ReplicasUnknown NeedsUser [PoolReady False]
            "the MachinePool has no `spec.replicas`; nothing is launched or terminated"
            "set it"

            WaitingForCluster NeedsUser [PoolReady False, NetworkReady False, ControlPlaneAvailable False, EksClusterReady False, NodeConfigReady False, DataSecretAvailable False]
            "there is no Cluster, or it does not reference this object; an ownerReference alone is not enough"
            "create the Cluster; reference a FooCluster in its `spec.infrastructureRef`, a FooControlPlane in its `spec.controlPlaneRef`"

            WaitingForClusterInfrastructure Waiting [PoolReady False, AutoScalingGroupReady False, EksClusterReady False, ControlPlaneDeleting True]
            "the Cluster's infrastructure is not provisioned, or is no FooCluster, or the FooCluster has not found its network; the message repeats what the FooCluster says"
            "if it lasts: the conditions of the FooCluster"

            AutoscalingBoundsMissing NeedsUser [PoolReady False]
            "the MachinePool has the annotation `cluster.x-k8s.io/replicas-managed-by`, and `spec.autoscaling` is not set"
            "set `spec.autoscaling.minSize` and `maxSize`, or remove the annotation from the MachinePool"

            InstancesNotInService Waiting [PoolReady False]
            "fewer instances are in service than requested"
            "wait; if it lasts: `CapacityAvailable`"

            FooMachinesMissing Waiting [PoolReady False]
            "instances have no FooMachine yet; the manager is about to create it"
            "wait"

            Draining Waiting [PoolReady True, ScalingDown True, PoolDeleting True]
            "Cluster API drains Machines; the message names up to three"
            "wait; if it lasts: the Machine's conditions name the pod or PodDisruptionBudget that prevents it"

            TerminatingInstances Waiting [PoolReady True, ScalingDown True, PoolDeleting True]
            "instances are drained and about to be terminated"
            "wait"

            AwaitingNodes NeedsUser [PoolDeleting True]
            "the pool adopted instances whose Nodes Cluster API does not know, so that it could not drain them; the message names up to three. The provider deletes none of their Machines"
            "wait a minute after an adoption. If it lasts: give the Nodes their provider ids, or delete the Machines or terminate the instances yourself; or `deletionPolicy: Retain`"

            InstancesShuttingDown Waiting [PoolReady True, ScalingDown True, PoolDeleting True]
            "AWS is terminating instances"
            "wait. If the message says that the process Terminate is suspended: resume it"

            TooManyMachines Waiting [PoolReady True, ScalingDown True]
            "there are more Machines than desired; they are deleted within the limits of `spec.scaleIn`"
            "wait"

            ScaleInDelayed Waiting [PoolReady True, ScalingDown True]
            "replicas were lowered without marking Machines; the message says how many serving nodes are kept and until when ([why](autoscaler.md#when-aws-has-no-capacity))"
            "wait; to delete them sooner mark their Machines with `cluster.x-k8s.io/delete-machine`, or set `spec.scaleIn.stabilizationSeconds`"

            KubernetesRequestFailed NeedsUser [PoolReady False]
            "the API server rejects what the pool needs, or does not respond; the message says which action failed and why"
            "the message: missing rights, an admission policy or a quota"

            UnreadableObject NeedsUser [PoolReady False]
            "a FooMachine or Machine of the namespace cannot be decoded; the message names it. Without it an instance would count as one that never had a Machine, so nothing is done in this namespace"
            "repair or delete the object; other namespaces are not affected"

            InvalidPlan Fault [PoolReady False, NetworkReady False, ClusterDeleting True, EksClusterReady False, ControlPlaneDeleting True]
            "the manager's check found that its plan would violate an invariant; nothing was done"
            "please report it with the message and `/debug/pools`"

            ImageLookupFailed NeedsUser [PoolWarning True]
            "with `spec.ami.policy: Latest`, the newest image is unknown or cannot be used; the pool keeps the image that it has"
            "the message says what is wrong with the SSM parameter, the image, or the call"

            ClocksDiffer NeedsUser [PoolWarning True]
            "the clocks of the manager and of the API server, or of AWS, differ by more than five minutes, so one of them is wrong; nothing is deleted because of the age of what that clock dated, and no roll-out fails because of it"
            "the message names the clock: synchronize those of the manager's Node and of the control plane's machines with NTP; `foo_clock_difference_seconds` has the difference"

            MultipleMachinePools NeedsUser [PoolWarning True]
            "another MachinePool references this FooMachinePool as well, and gets no instances"
            "reference another FooMachinePool there before you delete anything: when a MachinePool is deleted, Cluster API deletes the FooMachinePool it references, whoever owns that"

            NodeVersionDiffers NeedsUser [PoolWarning True]
            "the Nodes report another build of the Kubernetes version than the topology of the Cluster requests; Cluster API considers the pool as being upgraded for ever"
            "[take over the version of the Nodes](clusterclass.md#take-over-the-version-of-the-nodes)"
        }
    };
}
pub(super) use pool_ready;
