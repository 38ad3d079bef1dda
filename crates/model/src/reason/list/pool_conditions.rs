//! Reasons of the other conditions of a FooMachinePool. `reason/list.rs` says what each line has.

macro_rules! pool_conditions {
    ([$($rest:ident)*] $($before:tt)*) => {
        all! {
            [$($rest)*]
            $($before)*

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
            "`spec.tags` or `spec.launchTemplateOverlay.TagSpecifications` has `kubernetes.io/cluster/<name>` of another Cluster, whose cloud controllers would treat the instances as their own. The tag is not set"
            "remove it from the field that the message names"

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

            NetworkInterfacesNotSupported NeedsUser [LaunchTemplateReady False]
            "an instance type that the spec names cannot have the interfaces of `spec.networkInterfaces` beside the primary one and those of `spec.efa`; the message has what it can have"
            "fewer of `networkInterfaces`, another `networkCard`, or other instance types"

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
            "`spec.securityGroups` of the pool, or `securityGroups` in its `spec.networkInterfaces`; `spec.network.existing.securityGroups` of the FooCluster"

            SecurityGroupOutsideCluster NeedsUser [LaunchTemplateReady False]
            "the security group is in another VPC than the FooCluster"
            "`spec.securityGroups`, or `securityGroups` in `spec.networkInterfaces`"

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
            "the FooCluster's identity does not allow one of `spec.targetGroups`, `spec.classicLoadBalancers` or `spec.vpcLatticeTargetGroups`"
            "another one, or `allowedTargetGroups` of the [identity](identities.md#what-may-be-used-with-it)"

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

            SubnetNotAllowed NeedsUser [AutoScalingGroupReady False, NetworkReady False, EksClusterReady False, LaunchTemplateReady False]
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
        }
    };
}
pub(super) use pool_conditions;
