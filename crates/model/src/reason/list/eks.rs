//! Reasons of a FooControlPlane in mode `eks`. `reason/list.rs` says what each line has.

macro_rules! eks {
    ([$($rest:ident)*] $($before:tt)*) => {
        all! {
            [$($rest)*]
            $($before)*

            // FooControlPlane in mode eks.
            ClusterAsRequested Good [EksClusterReady True]
            "the EKS cluster is ACTIVE, has no issues, and is configured as requested"
            ""

            AskingEks Waiting [EksClusterReady Unknown, ControlPlaneUpgrading Unknown, AddonsReady Unknown, AccessReady Unknown, ControlPlaneDeleting True]
            "EKS or IAM has not responded yet; the message names the reads"
            "wait"

            WaitingForEksCluster Waiting [ControlPlaneUpgrading False, AddonsReady False, AccessReady False]
            "the EKS cluster is not ACTIVE yet, or may not be changed; `ClusterReady` says why"
            "see `ClusterReady`"

            WaitingForSubnets Waiting [EksClusterReady False, AddonsReady False]
            "there are not two subnets for the control plane yet, or an add-on with `customNetworking` waits for subnets of type `Pods`: the FooCluster has not found or created its network"
            "if it lasts: the conditions of the FooCluster, and with `customNetworking` whether its `spec.network.managed` has subnets of type `Pods`"

            CreatingCluster Waiting [EksClusterReady False]
            "EKS creates the cluster"
            "wait: it takes about ten minutes"

            UpdatingCluster Waiting [EksClusterReady False]
            "the configuration of the cluster is being changed; EKS makes one change at a time, and the message says which is next"
            "wait: a change takes minutes"

            ClusterFailed NeedsUser [EksClusterReady False]
            "EKS could not create the cluster; the message has its issues. One that never was ACTIVE is deleted, and its creation is retried with exponential back-off"
            "the message, for example a role, or subnets without free addresses"

            ClusterUnhealthy NeedsUser [EksClusterReady False]
            "EKS reports issues of the cluster; the message has their codes"
            "the message, for example a subnet, security group, role or KMS key that was deleted"

            ClusterUpdateFailed NeedsUser [EksClusterReady False, ControlPlaneUpgrading False, AccessReady False]
            "EKS accepted an update of the cluster, which then failed; the message has EKS's words. It is retried with exponential back-off"
            "the message"

            ClusterNotOwned NeedsUser [EksClusterReady False]
            "an EKS cluster of this name exists whose tags `infrastructure.foo.com/control-plane` and `infrastructure.foo.com/cluster` are missing, or name another FooControlPlane or Cluster. It is not touched"
            "another `spec.eks.name`; or, if it has no owner, [adopt it](../eks.md#adoption). If it was this Cluster's before a restore: [take it back](runbooks/restored.md#networks-and-control-planes)"

            DeletionNotConfirmed NeedsUser [ControlPlaneDeleting True]
            "a user deleted the FooControlPlane, and its Cluster is not being deleted. The EKS cluster is kept until that is confirmed; the deletion of the FooControlPlane cannot be undone"
            "delete the Cluster; or, to lose the EKS cluster and keep the Cluster, the annotation `infrastructure.foo.com/deletion-allowed`. To keep the EKS cluster: [restore the FooControlPlane](../eks.md#deletion)"

            AdoptionNotAllowed NeedsUser [EksClusterReady False, AutoScalingGroupReady False]
            "`adopt` is true in the spec and an EKS cluster or Auto Scaling group of this name has no owner, but its adoption is not allowed: by the FooClusterIdentity (`allowAdoption`), or by the owner of the AWS account (the tag `infrastructure.foo.com/adoptable`). The message says by which. It is not touched"
            "what adoption needs: [of EKS clusters](../eks.md#adoption), [of groups](../concepts/pools.md#adopt-a-group)"

            ClusterNameTaken NeedsUser [EksClusterReady False]
            "another FooControlPlane has an EKS cluster of this name, or was created earlier, and AWS sees the same user or role in both. Tokens name the cluster and no region, so that one for either cluster would be valid for both. No token is renewed. If both have clusters already and are in different namespaces, both stop"
            "another `spec.eks.name`, or identities with separate roles"

            ControlPlaneNameNotAllowed NeedsUser [EksClusterReady False]
            "the name of the EKS cluster does not begin with the namespace and an underscore, and the FooCluster's identity does not allow it"
            "leave out `spec.eks.name`, begin it with `<namespace>_`, or list it in `allowedControlPlaneNames` of the [identity](identities.md#what-may-be-used-with-it)"

            ClusterOfAnotherInstallation NeedsUser [EksClusterReady False, ControlPlaneDeleting True]
            "the EKS cluster has the id of another management cluster in its tag `infrastructure.foo.com/installation`; the message has both ids. Nothing is created, changed or deleted"
            "after a move, or when the other management cluster is gone for good: the annotation `infrastructure.foo.com/adopt-from` with its id. In a copy of a management cluster: nothing"

            ClusterDiffers NeedsUser [EksClusterReady False]
            "the cluster differs from the spec in what EKS never changes; the message says in what"
            "change the spec to what the cluster has; or create another cluster"

            ClusterGone NeedsUser [EksClusterReady False]
            "the EKS cluster was ACTIVE and is gone, but its FooControlPlane was not deleted. It is not created again: nodes and workloads would not find the new one"
            "delete the Cluster and create it again"

            ClusterDeletedInEks Waiting [EksClusterReady False]
            "the EKS cluster is being deleted, though its FooControlPlane is not"
            "find out who deletes it"

            AutoModeEnabled NeedsUser [EksClusterReady False]
            "EKS Auto Mode is on: EKS launches nodes that no MachinePool knows"
            "switch it off in EKS"

            RoleNotUsable NeedsUser [EksClusterReady False, AddonsReady False, AccessReady False]
            "EKS cannot use a role for more than two minutes, longer than IAM needs to show a new one; the message has EKS's words"
            "create the role, or correct its trust policy or policies"

            VersionNotOffered NeedsUser [EksClusterReady False, ControlPlaneUpgrading False]
            "EKS does not offer this Kubernetes version; the message lists those that it offers"
            "`spec.version`"

            NotUpgrading Good [ControlPlaneUpgrading False]
            "the cluster runs the requested version"
            ""

            UpgradingControlPlane Waiting [ControlPlaneUpgrading True]
            "EKS updates the control plane by one minor version, or is about to; the message says from which to which"
            "wait: it takes up to 40 minutes"

            UpgradeBlocked NeedsUser [ControlPlaneUpgrading False]
            "upgrade insights of EKS say that the next version is a problem; the message has their titles"
            "resolve them (EKS console, Upgrade insights; EKS looks again once a day or on request), or `spec.eks.upgrade.force: true`"

            KubeletsTooOld NeedsUser [ControlPlaneUpgrading False]
            "nodes run a Kubernetes version that is too old for the next one of the control plane, which is at most three minor versions newer"
            "upgrade the pools first; the message has the version"

            VersionAboveRequested NeedsUser [ControlPlaneUpgrading False]
            "the cluster runs a newer version than requested: AWS upgrades clusters at the end of their support, or a user upgraded it. The provider never downgrades"
            "`spec.version`: request what it runs"

            VersionRolledBack NeedsUser [ControlPlaneUpgrading False]
            "a user rolled the version back after an upgrade. The cluster is not updated to the same version again"
            "`spec.version`: request what it runs, and the newer version again when the cause is gone"

            AddonsAsRequested Good [AddonsReady True]
            "all add-ons that are requested are ACTIVE in the requested version"
            ""

            ChangingAddons Waiting [AddonsReady False]
            "add-ons are being created, updated or deleted; the message names them"
            "wait"

            AddonWaitsForNodes Waiting [AddonsReady False]
            "an add-on has fewer replicas than it needs, as long as there are no nodes, or too few"
            "add nodes"

            AddonFailed NeedsUser [AddonsReady False]
            "EKS could not create, update or delete an add-on; the message has EKS's words. It is retried with exponential back-off"
            "the message"

            AddonDegraded NeedsUser [AddonsReady False]
            "EKS reports issues of an add-on"
            "the message"

            AddonNotOffered NeedsUser [AddonsReady False]
            "EKS has no add-on of this name or version for the cluster's Kubernetes version; the message lists versions that there are"
            "`spec.eks.addons`"

            AddonConfigurationInvalid NeedsUser [AddonsReady False]
            "the configuration of an add-on does not fit its schema; the message says where"
            "`spec.eks.addons[].configurationValues`"

            AccessAsRequested Good [AccessReady True]
            "access entries, pod identity associations, the OIDC provider and the identity provider are as requested"
            ""

            ChangingAccess Waiting [AccessReady False]
            "access entries, pod identity associations, the OIDC provider or the identity provider are being created, changed or deleted"
            "wait"

            PrincipalNotFound NeedsUser [AccessReady False]
            "the role or instance profile of an access entry does not exist in IAM, or the profile has no role; the message names it"
            "create it, or correct its name in `spec.eks.accessEntries` or the pool"

            AccessDiffers NeedsUser [AccessReady False]
            "an access entry, association, OIDC provider or identity provider that the provider did not create has what cannot be changed; the message says what"
            "delete it, and it is created as requested"

            AccessEntriesImpossible NeedsUser [AccessReady False]
            "the authentication mode `CONFIG_MAP` knows no access entries"
            "`spec.eks.authenticationMode: API_AND_CONFIG_MAP`"

            DeletingCluster Waiting [ControlPlaneDeleting True]
            "EKS deletes the cluster; the message says what still exists"
            "wait: it takes minutes"

            ClusterProtected NeedsUser [ControlPlaneDeleting True]
            "EKS's deletion protection of the cluster is on"
            "`spec.eks.deletionProtection: false`, or switch it off in EKS"

            WaitingForFinalizers Waiting [ControlPlaneDeleting True, NodeConfigDeleting True]
            "finalizers of other controllers; the message names them"
            "wait; if it lasts: the controllers that set them"
        }
    };
}
pub(super) use eks;
