//! The list of variables.

/// Which object a variable is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    /// FooClusterTemplate.
    Cluster,
    /// FooControlPlaneTemplate in mode `external`.
    ControlPlane,
    /// FooControlPlaneTemplate in mode `eks`.
    EksControlPlane,
    /// FooMachinePoolTemplate.
    Pool,
    /// A FooMachinePoolTemplate whose instances have one type (`instanceType`).
    PoolOfOneType,
    /// A FooMachinePoolTemplate whose instances have several types (`mixedInstances`).
    PoolOfSeveralTypes,
    /// FooNodeConfigTemplate.
    Nodes,
}

/// Which ClusterClass variables are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// One whose control plane exists (`foo-extension`).
    External,
    /// One whose control plane the provider creates in EKS (`foo-eks-extension`).
    Eks,
}

impl Class {
    /// Its variables that are written to one field, in the order in which they are documented.
    pub(crate) fn table(self) -> impl Iterator<Item = &'static Variable> {
        let parts: [&[Variable]; 4] = match self {
            Self::External => [NETWORK, EXTERNAL, POOLS, &[]],
            Self::Eks => [NETWORK, EKS, POOLS, EKS_POOLS],
        };
        parts.into_iter().flatten()
    }
}

/// All variables of all classes that are written to an object of this kind, each once.
pub(crate) fn written_to(object: Object) -> impl Iterator<Item = &'static Variable> {
    [NETWORK, EXTERNAL, EKS, POOLS, EKS_POOLS]
        .into_iter()
        .flatten()
        .filter(move |variable| variable.object == object)
}

/// Whether a variable has to be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It has to.
    Required,
    /// The field is left as the template has it, unless the variable is given.
    Optional,
    /// The same, and an empty text or list, the default, counts as not given: the ClusterClass with inline patches
    /// needs a value.
    EmptyMeansNone,
    /// A default, JSON.
    Default(&'static str),
}

/// A variable that is written to one field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variable {
    /// Its name.
    pub(crate) name: &'static str,
    /// Where it is written to.
    pub(crate) object: Object,
    /// The field, below `spec.template.spec`.
    pub(crate) field: &'static [&'static str],
    /// Whether it has to be given.
    pub(crate) presence: Presence,
}

const fn variable(
    name: &'static str,
    object: Object,
    field: &'static [&'static str],
    presence: Presence,
) -> Variable {
    Variable { name, object, field, presence }
}

/// Name of the variable with the one image of all versions.
pub(crate) const AMI_ID: &str = "amiID";

/// Name of the variable with the subnets of a network that exists.
pub(crate) const SUBNETS: &str = "subnets";

use Object::{Cluster, ControlPlane, EksControlPlane, Nodes, Pool, PoolOfOneType, PoolOfSeveralTypes};
use Presence::{Default, EmptyMeansNone, Optional, Required};

/// Those of clusters. Not in these tables: `images`, a list of images by version, and those of `network`, which decide
/// on what a cluster has.
const NETWORK: &[Variable] = &[
    variable("region", Cluster, &["region"], Required),
    variable("identity", Cluster, &["identityRef", "name"], EmptyMeansNone),
    variable("vpcID", Cluster, &["network", "existing", "vpcID"], EmptyMeansNone),
    variable(SUBNETS, Cluster, &["network", "existing", "subnets"], EmptyMeansNone),
    variable("securityGroups", Cluster, &["network", "existing", "securityGroups"], Default("[]")),
];

/// Those of control planes that exist.
const EXTERNAL: &[Variable] =
    &[variable("kubeconfigSecret", ControlPlane, &["external", "kubeconfigSecretRef", "name"], Required)];

/// Those of control planes in EKS. What the ClusterClass with inline patches has is first.
const EKS: &[Variable] = &[
    variable("roleARN", EksControlPlane, &["eks", "roleARN"], Required),
    variable("endpointAccess", EksControlPlane, &["eks", "endpointAccess"], Default("{}")),
    variable(
        "addons",
        EksControlPlane,
        &["eks", "addons"],
        Default(r#"[{"name":"vpc-cni"},{"name":"kube-proxy"},{"name":"coredns"}]"#),
    ),
    variable("accessEntries", EksControlPlane, &["eks", "accessEntries"], Default("[]")),
    variable("logging", EksControlPlane, &["eks", "logging"], Default("[]")),
    variable("eksName", EksControlPlane, &["eks", "name"], Optional),
    variable("controlPlaneSubnets", EksControlPlane, &["eks", "subnets"], Optional),
    variable("controlPlaneSecurityGroups", EksControlPlane, &["eks", "securityGroups"], Optional),
    variable("encryption", EksControlPlane, &["eks", "encryption"], Optional),
    variable("serviceCIDR", EksControlPlane, &["eks", "serviceCIDR"], Optional),
    variable("ipFamily", EksControlPlane, &["eks", "ipFamily"], Optional),
    variable("authenticationMode", EksControlPlane, &["eks", "authenticationMode"], Optional),
    variable("controlPlaneMaintenanceWindows", EksControlPlane, &["eks", "maintenanceWindows"], Optional),
    variable("podIdentityAssociations", EksControlPlane, &["eks", "podIdentityAssociations"], Optional),
    variable("oidcProvider", EksControlPlane, &["eks", "oidcProvider"], Optional),
    variable("identityProvider", EksControlPlane, &["eks", "identityProvider"], Optional),
    variable("upgrade", EksControlPlane, &["eks", "upgrade"], Optional),
    variable("upgradePolicy", EksControlPlane, &["eks", "upgradePolicy"], Optional),
    variable("scalingTier", EksControlPlane, &["eks", "scalingTier"], Optional),
    variable("zonalShift", EksControlPlane, &["eks", "zonalShift"], Optional),
    variable("deletionProtection", EksControlPlane, &["eks", "deletionProtection"], Optional),
    variable("deletionPolicy", EksControlPlane, &["eks", "deletionPolicy"], Optional),
    variable("eksTags", EksControlPlane, &["eks", "tags"], Optional),
    variable("adopt", EksControlPlane, &["eks", "adopt"], Optional),
];

/// Those of pools.
const POOLS: &[Variable] = &[
    variable(AMI_ID, Pool, &["ami", "id"], EmptyMeansNone),
    variable("instanceProfile", Pool, &["iamInstanceProfile"], Required),
    variable("instanceType", PoolOfOneType, &["instanceType"], Default("\"m7i.large\"")),
    variable(
        "instanceTypes",
        PoolOfSeveralTypes,
        &["mixedInstances", "overrides"],
        Default(r#"[{"instanceType":"m7i.large"},{"instanceType":"m6i.large"},{"instanceType":"m5.large"}]"#),
    ),
    variable("onDemandBase", PoolOfSeveralTypes, &["mixedInstances", "onDemandBase"], Default("1")),
    variable(
        "onDemandPercentage",
        PoolOfSeveralTypes,
        &["mixedInstances", "onDemandPercentage"],
        Default("25"),
    ),
    variable("maxSize", Pool, &["maxSize"], Default("100")),
    variable("sshKeyName", Pool, &["sshKeyName"], EmptyMeansNone),
    variable("tags", Pool, &["tags"], Default("{}")),
    // What the ClusterClass with inline patches has no variable for.
    variable("onDemandStrategy", PoolOfSeveralTypes, &["mixedInstances", "onDemandStrategy"], Optional),
    variable("spotStrategy", PoolOfSeveralTypes, &["mixedInstances", "spotStrategy"], Optional),
    variable("spotMaxPrice", PoolOfSeveralTypes, &["mixedInstances", "spotMaxPrice"], Optional),
    variable("spot", PoolOfOneType, &["spot"], Optional),
    variable("poolSubnets", Pool, &["subnets"], Optional),
    variable("poolSecurityGroups", Pool, &["securityGroups"], Optional),
    variable("rootVolume", Pool, &["rootVolume"], Optional),
    variable("volumes", Pool, &["volumes"], Optional),
    variable("metadataOptions", Pool, &["metadataOptions"], Optional),
    variable("detailedMonitoring", Pool, &["detailedMonitoring"], Optional),
    variable("associatePublicIPAddress", Pool, &["associatePublicIPAddress"], Optional),
    variable("efa", Pool, &["efa"], Optional),
    variable("networkInterfaces", Pool, &["networkInterfaces"], Optional),
    variable("tenancy", Pool, &["tenancy"], Optional),
    variable("cpuOptions", Pool, &["cpuOptions"], Optional),
    variable("cpuCredits", Pool, &["cpuCredits"], Optional),
    variable("bandwidthWeighting", Pool, &["bandwidthWeighting"], Optional),
    variable("nitroEnclaves", Pool, &["nitroEnclaves"], Optional),
    variable("privateDNSNameOptions", Pool, &["privateDNSNameOptions"], Optional),
    variable("targetGroups", Pool, &["targetGroups"], Optional),
    variable("classicLoadBalancers", Pool, &["classicLoadBalancers"], Optional),
    variable("vpcLatticeTargetGroups", Pool, &["vpcLatticeTargetGroups"], Optional),
    variable("targetHealth", Pool, &["targetHealth"], Optional),
    variable("lifecycleHooks", Pool, &["lifecycleHooks"], Optional),
    variable("notifications", Pool, &["notifications"], Optional),
    variable("suspendedProcesses", Pool, &["suspendedProcesses"], Optional),
    variable("warmPool", Pool, &["warmPool"], Optional),
    variable("placement", Pool, &["placement"], Optional),
    variable("capacityReservation", Pool, &["capacityReservation"], Optional),
    variable("licenseConfigurations", Pool, &["licenseConfigurations"], Optional),
    variable("launchTemplateOverlay", Pool, &["launchTemplateOverlay"], Optional),
    variable("userDataStorage", Pool, &["userDataStorage"], Optional),
    variable("autoscaling", Pool, &["autoscaling"], Optional),
    variable("scaleIn", Pool, &["scaleIn"], Optional),
    variable("rollout", Pool, &["rollout"], Optional),
    variable("maxInstanceLifetimeSeconds", Pool, &["maxInstanceLifetimeSeconds"], Optional),
    variable("maintenanceWindows", Pool, &["maintenanceWindows"], Optional),
    variable("remediation", Pool, &["remediation"], Optional),
    variable("interruption", Pool, &["interruption"], Optional),
    variable("poolDeletionPolicy", Pool, &["deletionPolicy"], Optional),
];

/// Those of pools whose images the provider looks up, and whose Nodes join by a FooNodeConfig.
const EKS_POOLS: &[Variable] = &[
    variable("imagePolicy", Pool, &["ami", "policy"], Default("\"Pinned\"")),
    variable("nodeLabels", Nodes, &["labels"], Default("{}")),
    variable("nodeTaints", Nodes, &["taints"], Default("[]")),
    variable("kubelet", Nodes, &["kubelet"], Optional),
    variable("vpcCNI", Nodes, &["vpcCNI"], Optional),
    variable("containerd", Nodes, &["containerd"], Optional),
    variable("registryMirrors", Nodes, &["registryMirrors"], Optional),
    variable("localStorage", Nodes, &["localStorage"], Optional),
    variable("files", Nodes, &["files"], Optional),
    variable("preCommands", Nodes, &["preCommands"], Optional),
    variable("postCommands", Nodes, &["postCommands"], Optional),
    variable("nodeExtra", Nodes, &["extra"], Optional),
    variable("joinWhenInService", Nodes, &["joinWhenInService"], Optional),
    variable("userDataCompression", Nodes, &["compression"], Optional),
];
