//! The rows.

use super::{Absent, Limit, Row, Thing};

const POOL: &str = "FooMachinePool";
const CLUSTER: &str = "FooCluster";
const CONTROL_PLANE: &str = "FooControlPlane";
const IDENTITY: &str = "FooClusterIdentity";
const MACHINE: &str = "FooMachine";
const NODE_CONFIG: &str = "FooNodeConfig";

/// The owner of the account creates it, and the provider only uses it.
const USED_ONLY: &str = "none: the provider uses it, and never creates, changes or deletes it";
const NOT_ADOPTED: &str = "not possible";
const STAYS: &str = "stays";
const OF_THE_IDENTITY: &str = "that of the FooCluster's identity";
const NEVER_HELD: &str = "that of the FooCluster's identity, which no tenant holds";

const fn listed(field: &'static str, absent: Absent) -> Limit {
    Limit::Listed { field, absent }
}

/// All of them.
pub const ROWS: &[Row] = &[
    Row {
        thing: Thing::Region,
        title: "Region",
        fields: &[
            (CLUSTER, "spec.region"),
            (IDENTITY, "spec.allowedRegions[]"),
            (CLUSTER, "spec.network.managed.zones.names[]"),
            (CLUSTER, "spec.network.managed.subnets.list[].zone"),
        ],
        limit: listed("allowedRegions", Absent::Any),
        scope: "partition. Zones are of the region",
        proof: USED_ONLY,
        adoption: NOT_ADOPTED,
        deletion: STAYS,
        credential: OF_THE_IDENTITY,
    },
    Row {
        thing: Thing::Group,
        title: "Auto Scaling group, launch template, instance",
        fields: &[
            (POOL, "spec.groupName"),
            (POOL, "spec.launchTemplateName"),
            (POOL, "spec.providerID"),
            (POOL, "spec.providerIDList[]"),
            (MACHINE, "spec.instanceID"),
            (MACHINE, "spec.providerID"),
        ],
        limit: Limit::Open {
            because: "a group is changed only with the pool's own tags on it. `Groups` and `Clusters` of the IAM policy limit names as well",
        },
        scope: "account and region. Of two pools that name one group, the one whose tags it has keeps it, otherwise the older one; the \
                other one reports `GroupNameTaken`, `GroupNotOwned` or `GroupOfAnotherInstallation`",
        proof: "tags `infrastructure.foo.com/cluster`, `…/pool` and, on the group, `…/installation`",
        adoption: "`spec.adopt`, `allowAdoption` of the identity, and the tag `infrastructure.foo.com/adoptable` with namespace and name of the \
                   FooMachinePool. From another management cluster: the annotation `adopt-from` with that cluster's id; a retained one: \
                   with `retained`",
        deletion: "deleted; with `deletionPolicy: Retain`, the default of an adopted group, they stay, without the hook `foo-drain`, and the tag `…/installation` is `retained`; \
                   released untouched if the tags are not the pool's",
        credential: NEVER_HELD,
    },
    Row {
        thing: Thing::ControlPlane,
        title: "EKS cluster, add-on, access entry, association, OIDC provider",
        fields: &[
            (CONTROL_PLANE, "spec.eks.name"),
            (IDENTITY, "spec.allowedControlPlaneNames[]"),
            (CONTROL_PLANE, "spec.eks.addons[].name"),
            (NODE_CONFIG, "spec.cluster.name"),
        ],
        limit: listed("allowedControlPlaneNames", Absent::OwnNames),
        scope: "account and region. Of two FooControlPlanes that name one cluster, the one that has it keeps it, otherwise the older one; \
                the other one reports `ClusterNameTaken` or `ClusterNotOwned`",
        proof: "tags `infrastructure.foo.com/control-plane` with the id in the annotation of that name, and `…/cluster`",
        adoption: "`spec.eks.adopt`, the tag `infrastructure.foo.com/adoptable` on the cluster, and `allowAdoption` of the identity \
                   ([EKS](../eks.md#adoption))",
        deletion: "`spec.eks.deletionPolicy`",
        credential: "that of the FooCluster's identity. Who may read the Secret `<cluster>-kubeconfig` holds a token of it that EKS \
                     clusters accept, and nothing else in AWS",
    },
    Row {
        thing: Thing::Vpc,
        title: "VPC",
        fields: &[
            (CLUSTER, "spec.network.existing.vpcID"),
            (CLUSTER, "spec.network.managed.vpcID"),
            (IDENTITY, "spec.allowedVPCs[]"),
        ],
        limit: listed("allowedVPCs", Absent::NotOfOthers),
        scope: "account and region. A VPC can have the networks of several FooClusters",
        proof: "tags `infrastructure.foo.com/network` with the id in the annotation `network-id`, and `…/cluster`, for one that the provider \
                creates",
        adoption: NOT_ADOPTED,
        deletion: "one that the provider created is deleted with its FooCluster; a named one stays",
        credential: NEVER_HELD,
    },
    Row {
        thing: Thing::Subnet,
        title: "Subnet, secondary subnet",
        fields: &[
            (CLUSTER, "spec.network.existing.subnets[].id"),
            (CLUSTER, "spec.network.existing.subnets[].tags{}"),
            (CONTROL_PLANE, "spec.eks.subnets[]"),
            (POOL, "spec.launchTemplateOverlay.SecondaryInterfaces[].SecondarySubnetId"),
            (POOL, "spec.subnets[].id"),
            (POOL, "spec.subnets[].tags{}"),
            (IDENTITY, "spec.allowedSubnets[]"),
        ],
        limit: listed("allowedSubnets", Absent::NotOfOthers),
        scope: "account and region. Several FooClusters can name one",
        proof: "as of VPCs, for one that the provider creates",
        adoption: NOT_ADOPTED,
        deletion: "as of VPCs",
        credential: NEVER_HELD,
    },
    Row {
        thing: Thing::SecurityGroup,
        title: "Security group",
        fields: &[
            (CLUSTER, "spec.network.existing.securityGroups[].id"),
            (CLUSTER, "spec.network.existing.securityGroups[].tags{}"),
            (CLUSTER, "spec.network.managed.securityGroups.additional[].rules[].from.securityGroup"),
            (CLUSTER, "spec.network.managed.securityGroups.controlPlane[].from.securityGroup"),
            (CLUSTER, "spec.network.managed.securityGroups.node[].from.securityGroup"),
            (CONTROL_PLANE, "spec.eks.securityGroups[]"),
            (POOL, "spec.networkInterfaces[].securityGroups[].id"),
            (POOL, "spec.networkInterfaces[].securityGroups[].tags{}"),
            (POOL, "spec.securityGroups[].id"),
            (POOL, "spec.securityGroups[].tags{}"),
            (IDENTITY, "spec.allowedSecurityGroups[]"),
        ],
        limit: listed("allowedSecurityGroups", Absent::NotOfOthers),
        scope: "VPC. Instances of several pools can be in one; those of a pool must be in the FooCluster's VPC",
        proof: "as of VPCs, for one that the provider creates",
        adoption: NOT_ADOPTED,
        deletion: "as of VPCs",
        credential: NEVER_HELD,
    },
    Row {
        thing: Thing::EndpointService,
        title: "Service of a VPC endpoint",
        fields: &[(CLUSTER, "spec.network.managed.endpoints[].service")],
        limit: Limit::Open {
            because: "the endpoint is in the FooCluster's own VPC; the owner of the service admits or refuses it",
        },
        scope: "region",
        proof: "as of VPCs, for the endpoint",
        adoption: NOT_ADOPTED,
        deletion: "the endpoint is deleted with the FooCluster",
        credential: NEVER_HELD,
    },
    Row {
        thing: Thing::InstanceProfile,
        title: "Instance profile, role of nodes",
        fields: &[(POOL, "spec.iamInstanceProfile"), (IDENTITY, "spec.allowedInstanceProfiles[]")],
        limit: listed("allowedInstanceProfiles", Absent::NoneIfShared),
        scope: "account. Several pools can name one; the user data of all of them has its rights",
        proof: USED_ONLY,
        adoption: NOT_ADOPTED,
        deletion: STAYS,
        credential: "that of the FooCluster's identity passes the role (`NodeRoles` of the IAM policy); who may create a pool runs \
                     programs with the role's rights",
    },
    Row {
        thing: Thing::Role,
        title: "Role of a control plane, an add-on, pods or a lifecycle hook",
        fields: &[
            (CONTROL_PLANE, "spec.eks.roleARN"),
            (CONTROL_PLANE, "spec.eks.addons[].serviceAccountRoleARN"),
            (CONTROL_PLANE, "spec.eks.addons[].podIdentities[].roleARN"),
            (CONTROL_PLANE, "spec.eks.podIdentityAssociations[].roleARN"),
            (POOL, "spec.lifecycleHooks[].roleARN"),
            (IDENTITY, "spec.allowedRoles[]"),
        ],
        limit: listed("allowedRoles", Absent::NoneIfShared),
        scope: "account. Several clusters can name one",
        proof: USED_ONLY,
        adoption: NOT_ADOPTED,
        deletion: STAYS,
        credential: "that of the FooCluster's identity passes the role; who may create a FooControlPlane runs pods with the rights of a \
                     role of pods",
    },
    Row {
        thing: Thing::Principal,
        title: "User or role with access to a cluster",
        fields: &[(CONTROL_PLANE, "spec.eks.accessEntries[].principalARN")],
        limit: Limit::Open {
            because: "it gets access to the FooControlPlane's own cluster, and gives none to anything else",
        },
        scope: "EKS cluster",
        proof: "tag `infrastructure.foo.com/control-plane` on the access entry",
        adoption: "an entry that exists is left alone, and `AccessReady` names it",
        deletion: "the entry is deleted with the cluster",
        credential: NEVER_HELD,
    },
    Row {
        thing: Thing::IdentityRole,
        title: "Role of an identity",
        fields: &[
            (IDENTITY, "spec.role.arn"),
            (IDENTITY, "spec.role.externalID"),
            (IDENTITY, "spec.role.sessionName"),
        ],
        limit: Limit::Open { because: "a FooClusterIdentity is cluster-scoped, and no tenant may write one" },
        scope: "account",
        proof: USED_ONLY,
        adoption: NOT_ADOPTED,
        deletion: STAYS,
        credential: "the manager's own, or that of `source`",
    },
    Row {
        thing: Thing::KmsKey,
        title: "KMS key",
        fields: &[
            (CONTROL_PLANE, "spec.eks.encryption.kmsKeyARN"),
            (POOL, "spec.rootVolume.kmsKeyID"),
            (POOL, "spec.volumes[].kmsKeyID"),
            (IDENTITY, "spec.allowedKMSKeys[]"),
        ],
        limit: listed("allowedKMSKeys", Absent::Any),
        scope: "account and region. Several objects can name one; what is encrypted with it needs the key's own policy to be read",
        proof: USED_ONLY,
        adoption: NOT_ADOPTED,
        deletion: STAYS,
        credential: OF_THE_IDENTITY,
    },
    Row {
        thing: Thing::KeyPair,
        title: "Key pair",
        fields: &[(POOL, "spec.sshKeyName"), (IDENTITY, "spec.allowedKeyPairs[]")],
        limit: listed("allowedKeyPairs", Absent::Any),
        scope: "account and region. Who has its private half may log in to instances of the pool that names it",
        proof: USED_ONLY,
        adoption: NOT_ADOPTED,
        deletion: STAYS,
        credential: OF_THE_IDENTITY,
    },
    Row {
        thing: Thing::TargetGroup,
        title: "Target group, Classic Load Balancer",
        fields: &[
            (POOL, "spec.targetGroups[]"),
            (POOL, "spec.classicLoadBalancers[]"),
            (POOL, "spec.vpcLatticeTargetGroups[]"),
            (IDENTITY, "spec.allowedTargetGroups[]"),
        ],
        limit: listed("allowedTargetGroups", Absent::NoneIfShared),
        scope: "account and region. Several pools can name one: its requests then reach the instances of all",
        proof: USED_ONLY,
        adoption: NOT_ADOPTED,
        deletion: "stays; AWS deregisters the instances",
        credential: OF_THE_IDENTITY,
    },
    Row {
        thing: Thing::NotificationTarget,
        title: "Topic, queue",
        fields: &[
            (POOL, "spec.lifecycleHooks[].notificationTargetARN"),
            (POOL, "spec.notifications[].topicARN"),
            (IDENTITY, "spec.allowedNotificationTargets[]"),
        ],
        limit: listed("allowedNotificationTargets", Absent::NoneIfShared),
        scope: "account and region. Several pools can name one: what reads it receives the messages of all",
        proof: USED_ONLY,
        adoption: NOT_ADOPTED,
        deletion: STAYS,
        credential: "EC2 Auto Scaling sends, with the role of the lifecycle hook or its service-linked role",
    },
    Row {
        thing: Thing::Bucket,
        title: "Bucket, object with user data",
        fields: &[
            (POOL, "spec.userDataStorage.s3.bucket"),
            (POOL, "spec.userDataStorage.s3.prefix"),
            (IDENTITY, "spec.allowedBuckets[]"),
        ],
        limit: listed("allowedBuckets", Absent::Any),
        scope: "world; S3 refuses every call about a bucket of another account. Several pools can name one bucket and prefix: the folders \
                `foo-user-data/<namespace>/<group>/` of two pools are never the same, nor one below the other",
        proof: "the folder in the key, with nothing behind it but 64 hexadecimal digits, and the group of that name, which has the \
                pool's tags",
        adoption: NOT_ADOPTED,
        deletion: "the pool's own objects are deleted with the launch template versions that fetch them; the bucket stays",
        credential: "that of the FooCluster's identity, which may not read objects; the role of the pool's instance profile reads them",
    },
    Row {
        thing: Thing::Capacity,
        title: "Placement group, Capacity Reservation, Capacity Block, host resource group, license configuration",
        fields: &[
            (POOL, "spec.placement.groupName"),
            (POOL, "spec.placement.groupID"),
            (POOL, "spec.placement.hostResourceGroupARN"),
            (POOL, "spec.capacityReservation.block.id"),
            (POOL, "spec.capacityReservation.id"),
            (POOL, "spec.capacityReservation.resourceGroupARN"),
            (POOL, "spec.licenseConfigurations[]"),
            (IDENTITY, "spec.allowedCapacity[]"),
        ],
        limit: listed("allowedCapacity", Absent::Any),
        scope: "account and region; other accounts can share them. Several pools can name one, and take its capacity from each other",
        proof: USED_ONLY,
        adoption: NOT_ADOPTED,
        deletion: STAYS,
        credential: OF_THE_IDENTITY,
    },
    Row {
        thing: Thing::Snapshot,
        title: "Snapshot",
        fields: &[(POOL, "spec.volumes[].snapshotID"), (IDENTITY, "spec.allowedSnapshots[]")],
        limit: listed("allowedSnapshots", Absent::NoneIfShared),
        scope: "region; other accounts can share them. Instances of the pool read what is in it",
        proof: USED_ONLY,
        adoption: NOT_ADOPTED,
        deletion: STAYS,
        credential: OF_THE_IDENTITY,
    },
    Row {
        thing: Thing::Image,
        title: "Image, SSM parameter that names it, kernel, RAM disk",
        fields: &[
            (POOL, "spec.ami.id"),
            (POOL, "spec.ami.ids.arm64"),
            (POOL, "spec.ami.ids.x86_64"),
            (POOL, "spec.ami.lookup.name"),
            (POOL, "spec.ami.lookup.owner"),
            (POOL, "spec.ami.ssmParameter"),
            (POOL, "spec.launchTemplateOverlay.KernelId"),
            (POOL, "spec.launchTemplateOverlay.RamDiskId"),
        ],
        limit: Limit::Open {
            because: "it is only read. An admission policy can limit images (`pool_limits.yaml`)",
        },
        scope: "region; images of other accounts if they are shared",
        proof: USED_ONLY,
        adoption: NOT_ADOPTED,
        deletion: STAYS,
        credential: OF_THE_IDENTITY,
    },
    Row {
        thing: Thing::Tag,
        title: "Tag",
        fields: &[
            (POOL, "spec.launchTemplateOverlay.TagSpecifications[].Tags[].Key"),
            (POOL, "spec.launchTemplateOverlay.TagSpecifications[].Tags[].Value"),
            (POOL, "spec.tags{}"),
            (CLUSTER, "spec.network.managed.securityGroups.additional[].tags{}"),
            (CLUSTER, "spec.network.managed.securityGroups.tags.controlPlane{}"),
            (CLUSTER, "spec.network.managed.securityGroups.tags.node{}"),
            (CLUSTER, "spec.network.managed.subnets.list[].tags{}"),
            (CLUSTER, "spec.network.managed.subnets.tags.pods{}"),
            (CLUSTER, "spec.network.managed.subnets.tags.private{}"),
            (CLUSTER, "spec.network.managed.subnets.tags.public{}"),
            (CLUSTER, "spec.network.managed.tags{}"),
            (CONTROL_PLANE, "spec.eks.tags{}"),
        ],
        limit: Limit::Open {
            because: "the keys of ownership tags, and those by which cloud controllers of another cluster find instances, are refused",
        },
        scope: "the resource",
        proof: "the resource's own",
        adoption: NOT_ADOPTED,
        deletion: "with the resource",
        credential: NEVER_HELD,
    },
];
