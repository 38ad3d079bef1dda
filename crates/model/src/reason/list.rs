//! The list of reasons. Each line: reason, class, where it is shown; then what it means; then what to do.

use super::{Class, Entry, Place};
use serde::{Deserialize, Serialize};

/// A condition and its status.
pub type Shown = (Place, &'static str);

macro_rules! reasons {
    ($($name:ident $class:ident [$($place:ident $status:ident),+] $meaning:literal $action:literal)+) => {
        /// Why a condition has its status: CamelCase, what is the case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Reason {
            $(#[doc = $meaning] $name,)+
        }

        impl Reason {
            /// Its text.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($name),)+
                }
            }

            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// What the documentation says of it.
            pub const fn entry(self) -> Entry {
                match self {
                    $(Self::$name => Entry {
                        class: Class::$class,
                        shown: &[$((Place::$place, stringify!($status))),+],
                        meaning: $meaning,
                        action: $action,
                    },)+
                }
            }
        }
    };
}

reasons! {
    // A call to AWS failed.
    AccessDenied NeedsUser [AnyAfterAwsCall False, CredentialsReady False]
    "the credentials lack a right; the message names the IAM action. For a launch template Auto Scaling does not say which; the message names those it may be"
    "add it: [IAM policy](../reference/iam-policy.md); also check permission boundaries and organisation policies"

    CredentialsInvalid NeedsUser [AnyAfterAwsCall False, CredentialsReady False]
    "there are no usable credentials, or they expired"
    "[credentials](install.md#with-clusterctl) of the manager, or the cluster's [identity](identities.md)"

    Throttled Waiting [AnyAfterAwsCall False]
    "AWS rejects calls because there are too many of them"
    "nothing: the manager slows down by itself. If it lasts, find out who else calls AWS in this account and region"

    NotFound NeedsUser [AnyAfterAwsCall False]
    "something that the request names does not exist in AWS"
    "the message names it"

    AlreadyExists NeedsUser [AnyAfterAwsCall False]
    "something else has the name already"
    "delete what has the name, or delete the pool and create it again with another `spec.groupName` (it is immutable)"

    RequestInvalid NeedsUser [AnyAfterAwsCall False]
    "AWS rejects the request as it is"
    "the message says what is wrong with it; usually a value in the spec"

    LimitExceeded NeedsUser [AnyAfterAwsCall False]
    "a quota of the account is used up"
    "raise the quota, or free some of it"

    ResourceInUse Waiting [AnyAfterAwsCall False]
    "something else uses or changes the resource in AWS"
    "nothing; the manager tries again"

    ResponseLost Waiting [AnyAfterAwsCall False]
    "the response to a change never arrived; AWS may have made the change"
    "nothing; the manager reads the state in AWS before it does anything else"

    AwsUnreachable NeedsUser [AnyAfterAwsCall False]
    "AWS could not be reached; the message names the region"
    "is `spec.region` of the FooCluster right? Check network, endpoint and DNS"

    AwsInternalError Waiting [AnyAfterAwsCall False]
    "AWS failed on its side"
    "nothing; the manager tries again. If it lasts: the AWS Health Dashboard"

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

    // Every kind.
    Paused NeedsUser [Paused True, NetworkReady False, ClusterDeleting True, ControlPlaneDeleting True]
    "the Cluster has `spec.paused`, or the object the annotation `cluster.x-k8s.io/paused`; nothing is created, changed or deleted"
    "unpause it when you are done"

    NotPaused Good [Paused False]
    "not paused"
    ""

    // CredentialsReady.
    Accepted Good [CredentialsReady True]
    "AWS accepted the credentials"
    ""

    WrongAccount NeedsUser [CredentialsReady False, AutoScalingGroupReady Unknown, PoolDeleting True]
    "the credentials belong to another account than the one in which the pool was created (its group's ARN; before there is one the annotation `infrastructure.foo.com/account`, which you may remove if nothing of the pool is in that account); nothing is done in AWS"
    "the FooCluster's [identity](identities.md); for the manager's own credentials also a restart"

    IdentityNotYetKnown Waiting [CredentialsReady False]
    "the manager has not read the FooClusterIdentities yet; nothing is done in AWS"
    "wait; if it lasts: the manager's log"

    IdentityRequired NeedsUser [CredentialsReady False]
    "the FooCluster references no FooClusterIdentity, there is no `default`, and the manager requires one"
    "[identities](identities.md#when-something-is-wrong)"

    IdentityNotFound NeedsUser [CredentialsReady False, IdentityReady False]
    "the FooClusterIdentity, or one that it assumes its role from, does not exist"
    "create it, or reference another one"

    IdentityNotAllowed NeedsUser [CredentialsReady False]
    "the FooClusterIdentity must not be used from this namespace or in this region"
    "`allowedNamespaces`, `allowedRegions` of the [identity](identities.md#when-something-is-wrong)"

    IdentityInvalid NeedsUser [CredentialsReady False, IdentityReady False]
    "the FooClusterIdentity cannot be decoded, or its chain of source identities is circular or too long"
    "repair it; the message says what is wrong"

    IdentitySecretNotFound NeedsUser [CredentialsReady False, IdentityReady False]
    "the Secret with the FooClusterIdentity's access key does not exist"
    "create it"

    IdentitySecretInvalid NeedsUser [CredentialsReady False, IdentityReady False]
    "the Secret with the FooClusterIdentity's access key lacks a key"
    "add what the message names"

    IdentitySecretUnreadable NeedsUser [CredentialsReady False, IdentityReady False]
    "the API server did not return the Secret with the FooClusterIdentity's access key"
    "the manager's log and its rights"

    NotYetVerified Waiting [CredentialsReady Unknown, NetworkReady Unknown, EksClusterReady Unknown, ControlPlaneUpgrading Unknown, AddonsReady Unknown, AccessReady Unknown]
    "no call was made to AWS yet"
    "wait"

    // LaunchTemplateReady.
    VersionReady Good [LaunchTemplateReady True]
    "the launch template has a version with the desired content"
    ""

    WaitingForBootstrapData Waiting [LaunchTemplateReady False]
    "the MachinePool has no `dataSecretName`"
    "wait until the bootstrap provider sets it, or set it"

    BootstrapDataSecretNotFound NeedsUser [LaunchTemplateReady False]
    "the Secret that `dataSecretName` names does not exist"
    "create it"

    BootstrapDataSecretUnreadable NeedsUser [LaunchTemplateReady False]
    "the API server does not let the manager read the Secret, or failed"
    "the manager's log and its rights"

    BootstrapDataInvalid NeedsUser [LaunchTemplateReady False]
    "the Secret has no data under the key `value`"
    "put the bootstrap data there"

    BootstrapDataSecretNameInvalid NeedsUser [LaunchTemplateReady False]
    "`dataSecretName` cannot be the name of a Secret, or ends in `-kubeconfig`"
    "name the Secret with the bootstrap data"

    BootstrapDataNotAllowed NeedsUser [LaunchTemplateReady False]
    "the Secret has the label of another Cluster, or contains a kubeconfig: user data can be read on the instance, and by all users who may describe launch templates"
    "a Secret of this Cluster's own"

    InstanceProfileNotAllowed NeedsUser [LaunchTemplateReady False]
    "the FooCluster's identity does not allow `spec.iamInstanceProfile`"
    "another profile, or `allowedInstanceProfiles` of the [identity](identities.md#what-may-be-used-with-it)"

    TagNotAllowed NeedsUser [LaunchTemplateReady False]
    "`spec.tags` has `kubernetes.io/cluster/<name>` of another Cluster, whose cloud controllers would treat the instances as their own. The tag is not set"
    "remove it from `spec.tags`"

    UserDataTooLarge NeedsUser [LaunchTemplateReady False, NodeConfigReady False, DataSecretAvailable False]
    "the user data is larger than 16,384 bytes, EC2's limit, or, in S3, larger than 524,288 bytes"
    "shorter user data; of a FooNodeConfig also `compression: Gzip`; `userDataStorage` of the FooMachinePool ([nodes](../nodes.md#user-data-in-s3))"

    UserDataNotStorable NeedsUser [LaunchTemplateReady False]
    "the pool keeps user data in S3 (`spec.userDataStorage`), and what reads this user data on the instance does not fetch it: Bottlerocket, Ignition, or a form that is not known"
    "remove `spec.userDataStorage`, or use an image with cloud-init"

    NodeRoleUnusable NeedsUser [LaunchTemplateReady False]
    "the pool keeps user data in S3 (`spec.userDataStorage`), and there is no role of its instance profile that could be allowed to read it: the profile does not exist or has no role, or the role's ARN cannot be the value of a tag"
    "the message says which; names of roles with a comma cannot be used. A profile or role that appears is found within a minute"

    UserDataMissing NeedsUser [LaunchTemplateReady False]
    "the object in S3 that new instances fetch their user data from (`spec.userDataStorage`) was deleted outside this provider. Until it is there again the provider launches nothing; an instance that AWS launches by itself does not join"
    "the manager writes it again as soon as it may; `Ready` has the error if it cannot. After a rollback the pool may no longer have this user data: give it content that works. Take the lifecycle rule or the program that deletes objects off the bucket"

    WaitingForControlPlane NeedsUser [LaunchTemplateReady False]
    "the control plane runs an older Kubernetes version than the pool requests; no instance of that version is launched before"
    "upgrade the control plane; its version is read again every 30 s"

    ImageNotFound NeedsUser [LaunchTemplateReady False]
    "the account cannot see an image of this id in this region, or `spec.ami` leads to none; the message says what is missing"
    "`spec.ami`; share the image with the account. An SSM parameter or an image that appears is found within a minute"

    ImageFamilyDiffers NeedsUser [LaunchTemplateReady False]
    "`spec.ami.recommended.family` names an operating system that cannot read the user data of the FooNodeConfig: Nodes launched with both would never join"
    "remove `spec.family` of the FooNodeConfig, whose default is the family of `spec.ami.recommended` of the FooMachinePool"

    ImageNotAvailable NeedsUser [LaunchTemplateReady False]
    "the image is not in state `available`"
    "wait until it is, or another image in `spec.ami`"

    ImageNotRecorded Waiting [LaunchTemplateReady False]
    "the image is not looked up while the pool is paused, or the API server did not take its record yet; nothing is launched from an image that is not recorded"
    "nothing; the manager tries again"

    InstanceTypeNotFound NeedsUser [LaunchTemplateReady False]
    "the region does not have this instance type"
    "`spec.instanceType` or `spec.mixedInstances`"

    EfaNotSupported NeedsUser [LaunchTemplateReady False]
    "the instance type does not support the Elastic Fabric Adapter interfaces of `spec.efa`"
    "fewer `efa.interfaces`, another `efa.primary`, or another `instanceType`"

    BandwidthWeightingNotSupported NeedsUser [LaunchTemplateReady False]
    "an instance type that the spec names does not offer `spec.bandwidthWeighting`; the message has what it offers"
    "another `bandwidthWeighting`, none, or instance types that offer it"

    ArchitectureMismatch NeedsUser [LaunchTemplateReady False]
    "image and instance type have different architectures, or `spec.ami` names one image for types of both"
    "change one of the two; for types of both architectures, [name an image of each](../concepts/pools.md#both-architectures-in-one-pool)"

    ImagesNotCombinable NeedsUser [LaunchTemplateReady False]
    "one launch template cannot have the images of both architectures: their root volumes have different device names, and the spec has a `rootVolume`; or their record does not fit beside that of `spec.userDataStorage`"
    "the message names which: remove `spec.rootVolume`, or use images with the same device name; or shorten bucket and prefix"

    SecurityGroupNotFound NeedsUser [LaunchTemplateReady False, NetworkReady False]
    "no security group has this id or these tags"
    "`spec.securityGroups` of the pool, `spec.network.existing.securityGroups` of the FooCluster"

    SecurityGroupOutsideCluster NeedsUser [LaunchTemplateReady False]
    "the security group is in another VPC than the FooCluster"
    "`spec.securityGroups`"

    LaunchTemplateMissing Waiting [LaunchTemplateReady False]
    "the launch template does not exist yet; the manager is about to create it"
    "wait; if it lasts: the pool's events"

    VersionMissing Waiting [LaunchTemplateReady False]
    "no version of the launch template has the desired content yet; the manager is about to create it"
    "wait; if it lasts: the pool's events"

    LaunchTemplateNotOwned NeedsUser [LaunchTemplateReady False]
    "a launch template of this name does not have this pool's ownership tags; it is not touched. The message says whose it is by its tags, as with `GroupNotOwned`"
    "delete the pool and create it again with another `spec.launchTemplateName` (it is immutable), or delete that launch template"

    NotYetObserved Waiting [LaunchTemplateReady Unknown, AutoScalingGroupReady Unknown, PoolDeleting True]
    "it has not been read from AWS yet"
    "wait; after two periods another reason says why"

    Moved Good [PoolReady False, LaunchTemplateReady Unknown, AutoScalingGroupReady Unknown, CapacityAvailable Unknown]
    "the pool was moved to another management cluster, which manages it now"
    ""

    // AutoScalingGroupReady.
    GroupReady Good [AutoScalingGroupReady True]
    "the group exists, is this pool's, and has the desired settings"
    ""

    GroupRecreated Good [AutoScalingGroupReady True]
    "the group was deleted outside this provider and recreated; `spec.providerID` has the old ARN"
    "nothing; the field is immutable"

    GroupMissing Waiting [AutoScalingGroupReady False]
    "the group does not exist yet; the manager is about to create it"
    "wait"

    GroupLost Waiting [AutoScalingGroupReady False]
    "the group was deleted outside this provider; the manager is about to recreate it"
    "find out who deleted it (CloudTrail: DeleteAutoScalingGroup)"

    GroupNotOwned NeedsUser [AutoScalingGroupReady False]
    "a group of this name does not have this pool's ownership tags; it is not touched. The message says whose it is by its tags, if that is a pool of the same namespace; otherwise the manager's log does"
    "`spec.groupName` is immutable: delete the pool and create it again with another; or [adopt the group](../concepts/pools.md#adopt-a-group). If the tags of this pool's own group were removed: restore them ([which](aws.md#ownership))"

    AdoptionWaiting NeedsUser [AutoScalingGroupReady False, LaunchTemplateReady Unknown]
    "`spec.adopt` is true, and the group is not adopted yet: it does not exist, it has another number of instances or another share of on-demand instances than the pool requests, AWS is launching or terminating instances, or a launch template of the pool's name exists that is not its own. The message says which. The group is not touched"
    "what the message says; [what adoption needs](../concepts/pools.md#adopt-a-group)"

    GroupOfAnotherInstallation NeedsUser [AutoScalingGroupReady False, LaunchTemplateReady Unknown]
    "the group has the id of another management cluster in its tag `infrastructure.foo.com/installation`; the message has both ids. Nothing is changed, drained or terminated"
    "after a move, or when the other management cluster is gone for good: [adopt it](aws.md#ownership). In a copy of a management cluster: nothing"

    GroupNameTaken NeedsUser [AutoScalingGroupReady False]
    "another pool of this manager, which the message names if it is in the same namespace, and the manager's log in any case, has the group of this name in the same account and region. The one that the group's tags name has it, else the one with its ARN in `spec.providerID`, else the older one. Nothing is done for this pool"
    "delete the pool and create it again with a `spec.groupName` of its own. If you delete the other pool, this one continues within half a minute"

    GroupDeleting Waiting [AutoScalingGroupReady False]
    "AWS is deleting a group of this name"
    "wait"

    SettingsDiffer Waiting [AutoScalingGroupReady False]
    "another user or a new spec changed the settings that the message lists; the manager is about to update the group"
    "wait"

    NetworkOfAnotherCluster NeedsUser [NetworkReady False, NetworkPartReady False]
    "the annotation `infrastructure.foo.com/network-id` names the network of another FooCluster, which the message names if it is in the same namespace: this FooCluster was created from a copy of that one"
    "delete this FooCluster, and create it again without the annotation"

    SubnetNotFound NeedsUser [AutoScalingGroupReady False, NetworkReady False]
    "no subnet has this id or these tags, or none is configured"
    "`spec.subnets` of the pool, `spec.network.existing.subnets` of the FooCluster"

    SubnetOutsideCluster NeedsUser [AutoScalingGroupReady False]
    "the subnet is not one of the FooCluster's"
    "`spec.subnets`"

    VpcNotAllowed NeedsUser [NetworkReady False]
    "the FooCluster's identity does not allow the VPC"
    "another VPC, or `allowedVPCs` of the [identity](identities.md#what-may-be-used-with-it)"

    SecurityGroupNotAllowed NeedsUser [LaunchTemplateReady False, NetworkReady False, EksClusterReady False]
    "the FooCluster's identity does not allow one of the security groups that the spec names"
    "other security groups, or `allowedSecurityGroups` of the [identity](identities.md#what-may-be-used-with-it)"

    RoleNotAllowed NeedsUser [EksClusterReady False, LaunchTemplateReady False]
    "the FooCluster's identity does not allow a role that the spec names"
    "another role, or `allowedRoles` of the [identity](identities.md#what-may-be-used-with-it)"

    KmsKeyNotAllowed NeedsUser [LaunchTemplateReady False, EksClusterReady False]
    "the FooCluster's identity does not allow a KMS key that the spec names"
    "another key, or `allowedKMSKeys` of the [identity](identities.md#what-may-be-used-with-it)"

    TargetGroupNotAllowed NeedsUser [LaunchTemplateReady False]
    "the FooCluster's identity does not allow one of `spec.targetGroups`"
    "another target group, or `allowedTargetGroups` of the [identity](identities.md#what-may-be-used-with-it)"

    NotificationTargetNotAllowed NeedsUser [LaunchTemplateReady False]
    "the FooCluster's identity does not allow a topic or queue that the spec names"
    "another topic or queue, or `allowedNotificationTargets` of the [identity](identities.md#what-may-be-used-with-it)"

    KeyPairNotAllowed NeedsUser [LaunchTemplateReady False]
    "the FooCluster's identity does not allow `spec.sshKeyName`"
    "another key pair, or `allowedKeyPairs` of the [identity](identities.md#what-may-be-used-with-it)"

    BucketNotAllowed NeedsUser [LaunchTemplateReady False]
    "the FooCluster's identity does not allow the bucket in `spec.userDataStorage`"
    "another bucket, or `allowedBuckets` of the [identity](identities.md#what-may-be-used-with-it)"

    CapacityNotAllowed NeedsUser [LaunchTemplateReady False]
    "the FooCluster's identity does not allow a placement group, reservation, resource group or license configuration that the spec names"
    "another one, or `allowedCapacity` of the [identity](identities.md#what-may-be-used-with-it)"

    SnapshotNotAllowed NeedsUser [LaunchTemplateReady False]
    "the FooCluster's identity does not allow a snapshot in `spec.volumes`"
    "another snapshot, or `allowedSnapshots` of the [identity](identities.md#what-may-be-used-with-it)"

    SubnetNotAllowed NeedsUser [AutoScalingGroupReady False, NetworkReady False, EksClusterReady False]
    "the FooCluster's identity does not allow one of the subnets"
    "other subnets, or `allowedSubnets` of the [identity](identities.md#what-may-be-used-with-it)"

    NoSubnetInFailureDomain NeedsUser [AutoScalingGroupReady False]
    "the FooCluster has no subnet in a zone of `MachinePool.spec.failureDomains`"
    "add a subnet of that zone to the FooCluster, or remove the zone"

    ObservationStale Fault [AutoScalingGroupReady Unknown]
    "the group has not been read for two periods, although no read failed; the message says since when"
    "`/readyz` fails as well: restart the manager, and report it with its log"

    // CapacityAvailable.
    Available Good [CapacityAvailable True]
    "no instance is missing, or not for long"
    ""

    InstancesNotLaunched NeedsUser [CapacityAvailable False]
    "for two minutes the group has had fewer instances than its desired capacity; the message has AWS's text on the last launch that failed"
    "what AWS says (capacity, quota, a KMS key, an image); more zones or instance types help"

    LaunchSuspended NeedsUser [CapacityAvailable False]
    "process Launch of the group is suspended and instances are missing; the message has AWS's reason"
    "resume it. If AWS suspended it after launches had failed for a day: remove the cause; the manager resumes it when replicas, template or network change"

    NoGroup Waiting [CapacityAvailable Unknown, WarmPoolReady Unknown]
    "this pool has no group yet"
    "`AutoScalingGroupReady`"

    // ScalingUp, ScalingDown.
    InstancesLaunching Waiting [ScalingUp True]
    "instances are being launched, or more are desired"
    "wait"

    NotScalingUp Good [ScalingUp False]
    "no instance is missing"
    ""

    MaxSizeReached NeedsUser [ScalingUp False]
    "the MachinePool requests more replicas than `spec.maxSize`. The message of `Ready` warns of it"
    "raise `spec.maxSize`, or lower `replicas`"

    NotScalingDown Good [ScalingDown False]
    "no instance is too many"
    ""

    // RollingOut.
    NotRollingOut Good [RollingOut False]
    "every instance is up to date and within its lifetime, or nothing else is known"
    ""

    AwaitingDeletion NeedsUser [RollingOut False]
    "instances are outdated, and `spec.rollout.strategy` is OnDelete"
    "delete their Machines"

    RolledBack NeedsUser [RollingOut False]
    "the new launch template failed, and all instances have the previous one again; the message says what failed"
    "fix the spec; or fix the image and remove the annotation `infrastructure.foo.com/quarantine`"

    RolloutWaiting NeedsUser [RollingOut True, PoolReady False]
    "a roll-out has started, and the new launch template cannot be created; the message says why"
    "see `LaunchTemplateReady`"

    RolloutPreparing Waiting [RollingOut True, PoolReady True, PoolReady False]
    "the group does not launch from the new launch template version yet"
    "wait; if it lasts: `LaunchTemplateReady`, `AutoScalingGroupReady`"

    RollingOut Waiting [RollingOut True, PoolReady True, PoolReady False]
    "the message says how many instances are updated, and what is waited for: AWS, Nodes by name, drains by name, or room"
    "wait; if it lasts: check what the message names"

    RolloutPaused NeedsUser [RollingOut True, PoolReady True, PoolReady False]
    "the roll-out is paused by the annotation `infrastructure.foo.com/rollout-paused`; or its instances are those of an [adopted group](../concepts/pools.md#adopt-a-group), and `spec.adopt` is true"
    "to continue, remove the annotation, or set `spec.adopt` to false. The message says which"

    RolloutHalted NeedsUser [RollingOut True, PoolReady False]
    "the new launch template failed, and so did its roll-back or there is none; no instance is replaced. The message says what failed"
    "as for `RolledBack`"

    RollingBack NeedsUser [RollingOut True, PoolReady False]
    "the new launch template failed; instances are replaced by ones with the previous one"
    "as for `RolledBack`"

    AwaitingMaintenanceWindow Waiting [RollingOut True, PoolReady True, PoolReady False, AddonsReady True]
    "no maintenance window is open; the message says when the next one opens. Until then, instances that are outdated or have reached their lifetime are not replaced, and add-ons with the version `Latest` are not updated to another version. Sizes change and unhealthy Machines are replaced at any time"
    "wait; or, if it must not wait, annotate the FooMachinePool ([how](../concepts/pools.md#maintenance-windows)) or the FooControlPlane ([how](../eks.md#maintenance-windows)) with `infrastructure.foo.com/rollout-now`"

    MaintenanceWindowsIgnored NeedsUser [PoolWarning True]
    "the annotation `infrastructure.foo.com/rollout-now` of the FooMachinePool or the FooControlPlane opens its maintenance windows until it is removed"
    "remove it when what must not wait is finished"

    MaintenanceWindowsUnusable NeedsUser [RollingOut True, PoolReady False, PoolWarning True, AddonsReady False]
    "a maintenance window cannot be used, so no instance is replaced for a roll-out or because of its age, or no add-on with the version `Latest` is updated to another version; the message says why: an unknown time zone"
    "use a name of the IANA time zone database, such as `Europe/Berlin`"

    ReplacingExpired Waiting [RollingOut True, PoolReady True, PoolReady False]
    "instances have reached the lifetime that `spec.maxInstanceLifetimeSeconds` allows, and are replaced within the limits of roll-outs; the message says how many, and what is waited for"
    "wait; if it lasts: check what the message names. Without room, set `spec.rollout.maxUnavailable`, or raise `spec.maxSize`"

    ExpiryWaiting NeedsUser [RollingOut True, PoolReady True, PoolReady False]
    "instances have reached the lifetime that `spec.maxInstanceLifetimeSeconds` allows, and are not replaced yet; the message says what that waits for"
    "see what the message names: a roll-out that is paused or failed, or `LaunchTemplateReady`"

    // Remediating.
    NotRemediating Good [Remediating False]
    "no Machine is unhealthy"
    ""

    RemediationDisabled NeedsUser [Remediating False]
    "Machines are unhealthy, and `spec.remediation.enabled` is false"
    "delete the Machines that the message names, or enable remediation"

    Remediating Waiting [Remediating True, PoolReady False]
    "unhealthy Machines are being replaced"
    "wait"

    TooManyUnhealthy NeedsUser [Remediating True, PoolReady False]
    "more Machines are unhealthy than `spec.remediation.unhealthyLimit`: none is replaced"
    "look for a common cause; raise the limit, or delete Machines yourself"

    // Deleting.
    Deleting Waiting [PoolReady False, LaunchTemplateReady False, AutoScalingGroupReady False, CapacityAvailable False, NetworkReady False, ControlPlaneAvailable False, NodeConfigReady False]
    "the object is being deleted; the message says what that waits for"
    "see its condition `Deleting`"

    NotDeleting Good [PoolDeleting False, ClusterDeleting False, ControlPlaneDeleting False, NodeConfigDeleting False]
    "not being deleted"
    ""

    DeletionProtected NeedsUser [PoolDeleting True]
    "another user set the group's deletion protection to `prevent-all-deletion`. The provider never removes it. The instances are drained and terminated before"
    "set it to `none` (`aws autoscaling update-auto-scaling-group --deletion-protection none`); the manager then deletes the group"

    DeletingGroup Waiting [PoolDeleting True]
    "AWS is deleting the group, or the manager makes sure that there is none"
    "wait"

    WaitingForFooMachines Waiting [PoolDeleting True]
    "FooMachines still exist"
    "wait; one that stays has another controller's finalizer, or its Machine has"

    DeletingLaunchTemplate Waiting [PoolDeleting True]
    "the launch template is being deleted"
    "wait"

    PausingMachines Waiting [PoolDeleting True]
    "the group stays (`deletionPolicy: Retain`), and Cluster API has not paused all Machines yet"
    "wait; Cluster API reports `Paused` on each Machine"

    ReleasingGroup Waiting [PoolDeleting True]
    "the group stays (`deletionPolicy: Retain`), and its lifecycle hook is being deleted"
    "wait"

    Finished Good [PoolDeleting True]
    "nothing of this pool is left in AWS, or it stays without an owner"
    ""

    // AutoscalerReady.
    AutoscalerAnnotationsInvalid NeedsUser [AutoscalerReady False]
    "cluster-autoscaler ignores all its node groups because of this MachinePool's annotations"
    "correct them ([annotations](autoscaler.md#annotations-on-the-machinepool))"

    // WarmPoolReady.
    WarmPoolReady Good [WarmPoolReady True]
    "the group has the warm pool of the spec, and instances launched into it have the current launch template version"
    ""

    WarmPoolUpdating Waiting [WarmPoolReady False]
    "the group's warm pool is being created, changed, renewed for a new launch template version, or deleted; the message says which, and what it waits for"
    "wait. If AWS does not delete it for 10 min, the provider empties it, and roll-outs no longer wait for it: see the group's activities for what keeps its instances. A warm pool that is to be deleted can also be deleted by hand"

    UserDataDoesNotWait NeedsUser [WarmPoolReady False]
    "the user data from which the group is to launch are not known to wait in a warm pool before they join the cluster, so that waiting instances would be Nodes: the group gets no warm pool, and one that it has is deleted first"
    "use a FooNodeConfig with `joinWhenInService`, or put the annotation `infrastructure.foo.com/waits-in-warm-pool: \"true\"` on the Secret of user data that do wait ([warm pools](../concepts/pools.md#warm-pools))"

    WarmPoolNotOwned NeedsUser [WarmPoolReady False, PoolDeleting True]
    "the group has a warm pool that another user created, whose instances may be Nodes with Pods: they run, hibernate, or were in the group. The provider neither changes nor deletes it"
    "drain these Nodes and delete the warm pool: the provider then creates its own, or deletes the group of a pool that is being deleted. Without `spec.warmPool`, a pool that stays leaves it alone"

    // CapacityBlockReady.
    CapacityBlockActive Good [CapacityBlockReady True]
    "instances can run in the Capacity Block of the spec; the message says until when, and from when all Machines are drained"
    ""

    CapacityBlockUnknown Waiting [CapacityBlockReady Unknown, PoolReady False, LaunchTemplateReady False, AutoScalingGroupReady False]
    "the Capacity Block has not been read yet: nothing is launched or drained because of it, and the group keeps its subnets. Scale-ins continue"
    "wait; if it cannot be read, `Ready` and the reason of `CapacityBlockReady` say why"

    CapacityBlockUnusable NeedsUser [CapacityBlockReady False, LaunchTemplateReady False, AutoScalingGroupReady False]
    "what `capacityReservation.block.id` names is no Capacity Block that the pool can use: EC2 does not know it, or it is another kind of reservation, or of another instance type, or in a zone in which the pool has no subnet, or `drainLeadSeconds` leaves no time after its start. Nothing is launched, and what runs stays"
    "the message says which: correct the id, `spec.instanceType`, the subnets or `drainLeadSeconds`"

    CapacityBlockNotStarted Waiting [CapacityBlockReady False, LaunchTemplateReady False]
    "the Capacity Block has no capacity yet: its start lies ahead, or it is not paid. Nothing is launched until then; instances of another block stay and are not replaced"
    "wait until it starts"

    CapacityBlockUnavailable Waiting [CapacityBlockReady False, LaunchTemplateReady False]
    "EC2 reports another state of the Capacity Block than that it is active, has not started or is over, such as `unavailable`: nothing is launched, and what runs stays until it is drained before the end"
    "wait, or ask AWS Support about the block"

    CapacityBlockClocksDiffer NeedsUser [CapacityBlockReady False, LaunchTemplateReady False]
    "the Capacity Block ends soon by the manager's clock, which does not agree with that of AWS: no Machine is drained, and none is launched"
    "synchronize the clock of the manager's Node with NTP. EC2 terminates the instances at the time that the message says, drained or not"

    CapacityBlockEnding NeedsUser [CapacityBlockReady False]
    "the Capacity Block ends soon, and EC2 terminates its instances half an hour before its end, those of UltraServers an hour: all Machines of the pool are drained, and none is launched, whatever `replicas` say"
    "extend the block: the pool then goes back to its replicas. Otherwise nothing: the instances are drained in time unless a PodDisruptionBudget or a Pod prevents it"

    CapacityBlockEnded NeedsUser [CapacityBlockReady False, LaunchTemplateReady False]
    "the Capacity Block has ended, or was cancelled, or could not be paid: the pool launches nothing"
    "name another block in `capacityReservation.block.id`, or delete the pool"

    CapacityBlockNeedsReplicas NeedsUser [PoolWarning True]
    "the MachinePool has the annotation `cluster.x-k8s.io/replicas-managed-by`, and the pool is in a Capacity Block, at whose end the provider sets the size: the annotation has no effect, and the pool has the `replicas` of the MachinePool"
    "remove the annotation from the MachinePool"

    // FooMachine.
    InService Good [MachineReady True]
    "the instance is in service"
    ""

    Launching Waiting [MachineReady False]
    "the instance is not in service yet"
    "wait"

    NotInService NeedsUser [MachineReady False]
    "the instance is in standby, is being detached and the like; see `status.lifecycleState`"
    "return it to service, or delete its Machine"

    Terminating Waiting [MachineReady False]
    "AWS is terminating the instance, if need be after its drain"
    "wait"

    NotInGroup NeedsUser [MachineReady False]
    "the instance runs, but is not in the group: it was detached, or the group does not list it yet"
    "attach it again, or delete its Machine"

    InstanceGone Waiting [MachineReady False]
    "EC2 says that the instance is terminated"
    "wait; its Machine is being deleted"

    InstanceNotFound Waiting [MachineReady Unknown]
    "EC2 does not know the instance; if it keeps saying so, the instance counts as terminated"
    "wait"

    Unmanaged NeedsUser [MachineReady False]
    "no FooMachinePool has an instance of this name: the FooMachine was created by hand, and no controller manages it"
    "delete it (with the annotation that the [policy](install.md#protection-from-deletion) names); for one more instance raise `MachinePool.spec.replicas`"

    UpToDate Good [MachineUpToDate True]
    "the instance was launched from the launch template version that all instances should have"
    ""

    Outdated Waiting [MachineUpToDate False]
    "the instance was launched from another version of the launch template"
    "`RollingOut` of the pool says when it is replaced"

    TemplateVersionUnknown Waiting [MachineUpToDate Unknown]
    "it is not known yet from what the instance was launched"
    "wait"

    // FooCluster.
    NetworkFound Good [NetworkReady True]
    "all subnets and security groups of the spec exist, in one VPC"
    ""

    SubnetsInMultipleVpcs NeedsUser [NetworkReady False]
    "the subnets are in different VPCs, or in another than `spec.network.existing.vpcID`"
    "`spec.network.existing`"

    SecurityGroupOutsideVpc NeedsUser [NetworkReady False]
    "the security group is in another VPC than the subnets"
    "`spec.network.existing.securityGroups`"

    RangeUnfit NeedsUser [NetworkReady False]
    "a range of a managed network is public, overlaps another, or is one that AWS does not allow; the message says which"
    "`spec.network.managed.cidr`, `secondaryCIDRs` or `subnets.list`"

    RangeTooSmall NeedsUser [NetworkReady False]
    "the ranges of a managed network have no room for the subnets of all zones"
    "add a range to `spec.network.managed.secondaryCIDRs`; as long as nothing was created, change `cidr`, `zones` or `subnets.sizes`"

    ZonesTooFew NeedsUser [NetworkReady False]
    "the region has fewer Availability Zones that can be used than are requested"
    "`spec.network.managed.zones`"

    ZonesUnknown Waiting [NetworkReady False]
    "AWS has not said yet which Availability Zones the region has"
    "wait"

    ZoneInUse NeedsUser [NetworkReady False]
    "the network has subnets in a zone that `spec.network.managed.zones.names` does not list"
    "list it: zones with subnets cannot be removed"

    EndpointUnknown NeedsUser [NetworkReady False]
    "what AWS calls the endpoints of this service in this region is not known"
    "`spec.network.managed.endpoints[].service` with its whole name"

    EndpointTwice NeedsUser [NetworkReady False]
    "`spec.network.managed.endpoints` has one service as a gateway and as an interface, both by its whole name"
    "list one of the two by its short name"

    RuleInvalid NeedsUser [NetworkReady False]
    "a rule of a security group cannot be as it is written; the message says why"
    "`spec.network.managed.securityGroups`"

    // FooCluster with a managed network.
    NetworkAsRequested Good [NetworkReady True, NetworkPartReady True]
    "everything that is requested exists and is as requested"
    ""

    NothingRequested Good [NetworkPartReady True]
    "the spec asks for nothing of this kind"
    ""

    CreatingNetwork Waiting [NetworkReady False, NetworkPartReady False]
    "parts of the network are being created or changed; the message says what each waits for"
    "wait. A NAT gateway takes minutes"

    NotVerified Waiting [NetworkPartReady Unknown, ControlPlaneUpgrading Unknown, AddonsReady Unknown, AccessReady Unknown]
    "the provider does not compare the network, or the EKS cluster, with the spec at present, or cannot use the kubeconfig; the message names the condition that says why: `NetworkReady`, `ClusterReady` or `Available`"
    "see that condition"

    NetworkDrifted NeedsUser [NetworkReady True, NetworkPartReady True]
    "parts of the network were changed by hand, and `driftPolicy: Warn` leaves them so; the message says what differs"
    "change them back, or set `driftPolicy: Enforce`"

    NetworkTagRemoved NeedsUser [NetworkReady False, NetworkPartReady False]
    "a part of the network lost its tag `infrastructure.foo.com/network`; the provider touches nothing without that tag, and creates no second one"
    "add the tag again with the value of the annotation `infrastructure.foo.com/network-id`"

    NetworkOfAnotherInstallation NeedsUser [NetworkReady False, NetworkPartReady False, ClusterDeleting True]
    "the VPC, or what was created in a VPC of yours, has the id of another management cluster in its tag `infrastructure.foo.com/installation`; the message has both ids. Nothing is created, changed or deleted"
    "after a move, or when the other management cluster is gone for good: the annotation `infrastructure.foo.com/adopt-from` with its id. In a copy of a management cluster: nothing"

    EarlierNetworkExists NeedsUser [NetworkReady False, NetworkPartReady False]
    "a network of the same Cluster and management cluster exists that another FooCluster created: etcd was restored to before that FooCluster, or its network was retained. No second network is created"
    "[take it back](runbooks/restored.md#networks-and-control-planes): the annotation `infrastructure.foo.com/network-id` with the value of its tag; or delete what exists"

    ZoneNotFound NeedsUser [NetworkReady False, NetworkPartReady False]
    "the region has no Availability Zone of this name"
    "`spec.network.managed.zones` or `subnets.list`"

    VpcNotFound NeedsUser [NetworkReady False, NetworkPartReady False]
    "there is no VPC of this id in the account and region"
    "`spec.network.managed.vpcID`; `spec.region`; the identity"

    VpcOfAnotherAccount NeedsUser [NetworkReady False, NetworkPartReady False]
    "the VPC belongs to another account, which alone may create subnets in it"
    "reference its subnets in `spec.network.existing`"

    VpcDnsDisabled NeedsUser [NetworkReady False, NetworkPartReady False]
    "`enableDnsSupport` or `enableDnsHostnames` of your VPC is off; your VPC is never changed"
    "switch it on"

    RangeOutsideVpc NeedsUser [NetworkReady False, NetworkPartReady False]
    "the range of a subnet is in none of the ranges of the VPC, or the VPC has no IPv6 range; your VPC is never changed"
    "add the range to the VPC, or request other subnets"

    SubnetDiffers NeedsUser [NetworkReady False, NetworkPartReady False]
    "a subnet has another range or zone than requested, which cannot be changed"
    "request what it has; or delete it by hand when nothing uses it"

    SubnetUnusable NeedsUser [NetworkReady False, NetworkPartReady False]
    "AWS says that a subnet is not available"
    "AWS Support; the message has the state"

    NatGatewayFailed Waiting [NetworkReady False, NetworkPartReady False]
    "a NAT gateway failed; the message has AWS's reason. It is deleted, and its creation is retried with exponential back-off"
    "wait; if it lasts: the message, for example a quota, or a subnet without free addresses"

    EndpointFailed Waiting [NetworkReady False, NetworkPartReady False]
    "a VPC endpoint failed; the message has AWS's reason. It is deleted, and its creation is retried with exponential back-off"
    "wait; if it lasts: the message, for example a subnet without free addresses"

    EndpointDiffers NeedsUser [NetworkReady False, NetworkPartReady False]
    "a VPC endpoint has another type than requested, or its service did not accept it"
    "the message; delete the endpoint, and it is created again"

    DeletingNetwork Waiting [ClusterDeleting True]
    "the network is being deleted; the message says what still stands and what it waits for"
    "wait. A NAT gateway takes minutes"

    ForeignResourcesInVpc NeedsUser [ClusterDeleting True]
    "something that is not part of the network stands in the way of its deletion; the message names it"
    "delete it; of what Services left behind also `deletion.leftovers: Delete`"

    WaitingForPools Waiting [ClusterDeleting True, ControlPlaneDeleting True]
    "FooMachinePools of the Cluster still exist; the message names them"
    "wait; if it lasts: their conditions `Deleting`"

    WaitingForControlPlaneDeletion Waiting [ClusterDeleting True]
    "the FooControlPlane of the Cluster still has an EKS cluster in the network"
    "wait; if it lasts: its condition `Deleting`"

    // FooClusterIdentity.
    Complete Good [IdentityReady True]
    "the manager has all parts of its credentials. Whether AWS accepts them is said by the FooClusters and pools that use them"
    ""

    InUse NeedsUser [IdentityDeleting True]
    "FooClusters use it; the message names them"
    "delete them first, or reference another identity there"

    // FooControlPlane.
    ApiServerReachable Good [ControlPlaneAvailable True]
    "the API server responded with its version, and the credentials in `<cluster>-kubeconfig` have the rights that Cluster API needs: to list and patch Nodes, and to evict Pods"
    ""

    KubeconfigSecretNameInvalid NeedsUser [ControlPlaneAvailable False, KubeconfigReady False]
    "`kubeconfigSecretRef.name` cannot be the name of a Secret"
    "name the Secret"

    KubeconfigSecretNotFound NeedsUser [ControlPlaneAvailable False, KubeconfigReady False]
    "the Secret does not exist"
    "create it"

    KubeconfigInvalid NeedsUser [ControlPlaneAvailable False, KubeconfigReady False]
    "there is no kubeconfig under the key `value`, or one without a usable current context, or with a server that is no https URL, or one that names files instead of embedding token, certificates and keys, or that sets `insecure-skip-tls-verify`; the message says which"
    "correct it"

    ExecCredentialsNotSupported NeedsUser [ControlPlaneAvailable False, KubeconfigReady False]
    "the kubeconfig uses an exec plugin or auth provider, which Cluster API does not run"
    "a client certificate or a token"

    KubeconfigSecretNotOwned NeedsUser [ControlPlaneAvailable False, KubeconfigReady False]
    "`<cluster>-kubeconfig` holds another kubeconfig and is not owned by this FooControlPlane; it is not touched"
    "delete it if it is not needed, or name it in `spec.external.kubeconfigSecretRef`"

    ApiServerUnreachable NeedsUser [ControlPlaneAvailable False]
    "no response within five seconds; the message names the cause (connection refused, a certificate, …)"
    "network; certificate"

    KubeconfigLacksRights NeedsUser [ControlPlaneAvailable False]
    "the API server does not accept the credentials in the kubeconfig (401), or their user lacks a right that Cluster API needs; the message names it"
    "renew the credentials; bind the right to their user in the workload cluster"

    WaitingForAccess Waiting [ControlPlaneAvailable False, AccessReady False]
    "the API server of the EKS cluster does not accept the manager's credentials yet, or does not allow what Cluster API needs; the message names it. EKS applies access entries and access policies seconds after it lists them"
    "wait. If it lasts for minutes: with authentication mode `CONFIG_MAP`, map the manager's user or role in `aws-auth`; with `spec.eks.accessEntries`, check what they give the manager's user or role"

    NotChecked Good [ControlPlaneAvailable False, KubeconfigReady Unknown, NodeConfigReady Unknown, DataSecretAvailable Unknown]
    "paused, or being deleted, before it was checked for the first time"
    ""

    KubeconfigValid Good [KubeconfigReady True]
    "the kubeconfig can be used"
    ""

    KubeconfigExpiresSoon NeedsUser [KubeconfigReady True]
    "the client certificate or token expires within 30 days"
    "put a kubeconfig with newer ones into the Secret"

    KubeconfigExpired NeedsUser [KubeconfigReady False]
    "the client certificate or token has expired"
    "put a kubeconfig with newer ones into the Secret"

    KubeconfigSecretWrongType NeedsUser [KubeconfigReady False]
    "`<cluster>-kubeconfig` has another type than `cluster.x-k8s.io/secret`; the type of a Secret cannot be changed"
    "delete it, and create it again with that type"

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

    // FooNodeConfig.
    UserDataReady Good [NodeConfigReady True]
    "the Secret has the user data that the spec and the cluster ask for"
    ""

    DataSecretWritten Good [DataSecretAvailable True]
    "the Secret is there and up to date"
    ""

    DataSecretOutdated NeedsUser [DataSecretAvailable True]
    "the Secret has the user data that was written last, with which Nodes are launched meanwhile"
    "what the condition `Ready` says"

    WaitingForFooMachinePool Waiting [NodeConfigReady False, DataSecretAvailable False]
    "the default of `spec.family`, or `spec.vpcCNI`, needs the FooMachinePool of the Nodes, which does not exist yet or does not report `status.maxPods` yet; the message says which"
    "create the FooMachinePool that the MachinePool references; if it lasts: its conditions, whether it is paused, and the release of the infrastructure provider. Or set `spec.family`, and `spec.kubelet.maxPods` instead of `spec.vpcCNI`"

    WaitingForClusterFacts Waiting [NodeConfigReady False, DataSecretAvailable False]
    "the control plane does not report a fact of the cluster yet, or there is no kubeconfig; the message names it"
    "wait until the control plane is there; if it lasts: the conditions of the FooControlPlane"

    ClusterFactMissing NeedsUser [NodeConfigReady False, DataSecretAvailable False]
    "a fact of the cluster is not known and will not be reported; the message says which, and where to set it"
    "set it"

    NodeConfigInvalid NeedsUser [NodeConfigReady False, DataSecretAvailable False]
    "nodes would not start with it; the message has every field that is wrong, and why"
    "correct these fields"

    DataSecretNotOwned NeedsUser [NodeConfigReady False, DataSecretAvailable False]
    "the Secret with the name of the FooNodeConfig is of another owner or type, or has other data; it is not touched"
    "delete it if it is not needed, or create the FooNodeConfig with another name"
}
