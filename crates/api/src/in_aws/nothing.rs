//! Fields with texts that name nothing in AWS, each with the reason.

/// Kind and path of fields, and why they name nothing in AWS.
pub type Reasoned = (&'static str, &'static [(&'static str, &'static str)]);

const POOL: &str = "FooMachinePool";
const CLUSTER: &str = "FooCluster";
const CONTROL_PLANE: &str = "FooControlPlane";
const IDENTITY: &str = "FooClusterIdentity";
const NODE_CONFIG: &str = "FooNodeConfig";
const PLAN: &str = "FooPlan";

/// All of them. A path that ends in `.*` stands for everything below it.
pub const NOTHING: &[Reasoned] = &[
    (
        "written on the node itself: no service of AWS reads it",
        &[
            (NODE_CONFIG, "spec.containerd"),
            (NODE_CONFIG, "spec.extra"),
            (NODE_CONFIG, "spec.files.*"),
            (NODE_CONFIG, "spec.kubelet.*"),
            (NODE_CONFIG, "spec.labels.*"),
            (NODE_CONFIG, "spec.taints.*"),
            (NODE_CONFIG, "spec.preCommands.*"),
            (NODE_CONFIG, "spec.postCommands.*"),
            (NODE_CONFIG, "spec.registryMirrors.*"),
            (NODE_CONFIG, "spec.cluster.dns"),
        ],
    ),
    (
        "read with the limits of the kinds that it holds, and nothing in AWS is changed for it",
        &[(PLAN, "spec.objects[]")],
    ),
    (
        "names something in Kubernetes, in the object's own namespace or cluster-scoped",
        &[
            (CLUSTER, "spec.identityRef.name"),
            (CONTROL_PLANE, "spec.external.kubeconfigSecretRef.name"),
            (IDENTITY, "spec.allowedNamespaces.*"),
            (IDENTITY, "spec.role.source.name"),
            (IDENTITY, "spec.secret.name"),
        ],
    ),
    (
        "names something inside of the workload cluster",
        &[
            (CONTROL_PLANE, "spec.eks.accessEntries[].groups[]"),
            (CONTROL_PLANE, "spec.eks.accessEntries[].policies[].namespaces[]"),
            (CONTROL_PLANE, "spec.eks.accessEntries[].username"),
            (CONTROL_PLANE, "spec.eks.addons[].podIdentities[].serviceAccount"),
            (CONTROL_PLANE, "spec.eks.addons[].configurationValues"),
            (CONTROL_PLANE, "spec.eks.identityProvider.groupsPrefix"),
            (CONTROL_PLANE, "spec.eks.identityProvider.name"),
            (CONTROL_PLANE, "spec.eks.identityProvider.usernamePrefix"),
            (CONTROL_PLANE, "spec.eks.podIdentityAssociations[].namespace"),
            (CONTROL_PLANE, "spec.eks.podIdentityAssociations[].serviceAccount"),
        ],
    ),
    (
        "names something at an identity provider outside of AWS",
        &[
            (CONTROL_PLANE, "spec.eks.identityProvider.clientID"),
            (CONTROL_PLANE, "spec.eks.identityProvider.groupsClaim"),
            (CONTROL_PLANE, "spec.eks.identityProvider.issuerURL"),
            (CONTROL_PLANE, "spec.eks.identityProvider.requiredClaims{}"),
            (CONTROL_PLANE, "spec.eks.identityProvider.usernameClaim"),
        ],
    ),
    (
        "an access policy of AWS's own, the same in every account",
        &[(CONTROL_PLANE, "spec.eks.accessEntries[].policies[].name")],
    ),
    (
        "an address, a range, a host or a port",
        &[
            (CONTROL_PLANE, "spec.controlPlaneEndpoint.host"),
            (CONTROL_PLANE, "spec.eks.endpointAccess.publicCIDRs[]"),
            (CONTROL_PLANE, "spec.eks.serviceCIDR"),
            (CLUSTER, "spec.controlPlaneEndpoint.host"),
            (CLUSTER, "spec.network.managed.cidr"),
            (CLUSTER, "spec.network.managed.secondaryCIDRs[]"),
            (CLUSTER, "spec.network.managed.securityGroups.additional[].rules[].from.cidr"),
            (CLUSTER, "spec.network.managed.securityGroups.controlPlane[].from.cidr"),
            (CLUSTER, "spec.network.managed.securityGroups.node[].from.cidr"),
            (CLUSTER, "spec.network.managed.subnets.list[].cidr"),
        ],
    ),
    (
        "a name or a text within the FooCluster's own network",
        &[
            (CLUSTER, "spec.network.managed.securityGroups.additional[].name"),
            (CLUSTER, "spec.network.managed.securityGroups.additional[].rules[].description"),
            (CLUSTER, "spec.network.managed.securityGroups.additional[].rules[].name"),
            (CLUSTER, "spec.network.managed.securityGroups.controlPlane[].description"),
            (CLUSTER, "spec.network.managed.securityGroups.controlPlane[].name"),
            (CLUSTER, "spec.network.managed.securityGroups.node[].description"),
            (CLUSTER, "spec.network.managed.securityGroups.node[].name"),
            (CLUSTER, "spec.network.managed.subnets.list[].name"),
        ],
    ),
    (
        "a kind of machine, a device, a version, a price or an amount",
        &[
            (POOL, "spec.instanceType"),
            (POOL, "spec.launchTemplateOverlay.BlockDeviceMappings[].*"),
            (POOL, "spec.mixedInstances.overrides[].instanceType"),
            (POOL, "spec.mixedInstances.overrides[].requirements.acceleratorNames[]"),
            (POOL, "spec.mixedInstances.overrides[].requirements.allowedInstanceTypes[]"),
            (POOL, "spec.mixedInstances.overrides[].requirements.excludedInstanceTypes[]"),
            (POOL, "spec.mixedInstances.overrides[].requirements.memoryGiBPerVCPU.max"),
            (POOL, "spec.mixedInstances.overrides[].requirements.memoryGiBPerVCPU.min"),
            (POOL, "spec.mixedInstances.overrides[].requirements.networkBandwidthGbps.max"),
            (POOL, "spec.mixedInstances.overrides[].requirements.networkBandwidthGbps.min"),
            (POOL, "spec.mixedInstances.overrides[].requirements.totalLocalStorageGB.max"),
            (POOL, "spec.mixedInstances.overrides[].requirements.totalLocalStorageGB.min"),
            (POOL, "spec.mixedInstances.spotMaxPrice"),
            (POOL, "spec.spot.maxPrice"),
            (POOL, "spec.volumes[].deviceName"),
            (POOL, "spec.remediation.maxInFlight"),
            (POOL, "spec.remediation.unhealthyLimit"),
            (POOL, "spec.rollout.maxSurge"),
            (POOL, "spec.rollout.maxUnavailable"),
            (CONTROL_PLANE, "spec.version"),
            (CONTROL_PLANE, "spec.eks.addons[].version"),
        ],
    ),
    (
        "part of the pool's own group: a name that is unique in the group, and a text that programs read which the target of the hook \
         admits",
        &[(POOL, "spec.lifecycleHooks[].name"), (POOL, "spec.lifecycleHooks[].notificationMetadata")],
    ),
    (
        "a time",
        &[
            (POOL, "spec.maintenanceWindows[].start"),
            (POOL, "spec.maintenanceWindows[].timeZone"),
            (CONTROL_PLANE, "spec.eks.maintenanceWindows[].start"),
            (CONTROL_PLANE, "spec.eks.maintenanceWindows[].timeZone"),
        ],
    ),
    ("the manager's own credentials; there is nothing to set", &[(IDENTITY, "spec.controller")]),
];
