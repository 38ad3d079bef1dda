//! The list of variables.

/// Which object a variable is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    /// FooClusterTemplate.
    Cluster,
    /// FooControlPlaneTemplate.
    ControlPlane,
    /// FooMachinePoolTemplate.
    Pool,
    /// A FooMachinePoolTemplate whose instances have one type (`instanceType`).
    PoolOfOneType,
    /// A FooMachinePoolTemplate whose instances have several types (`mixedInstances`).
    PoolOfSeveralTypes,
}

/// Whether a variable has to be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It has to.
    Required,
    /// The field is left as the template has it, unless the variable is given.
    Optional,
    /// The same, and an empty text or list, the default, counts as not given: the ClusterClass with inline patches needs a value.
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

use Object::{Cluster, ControlPlane, Pool, PoolOfOneType, PoolOfSeveralTypes};
use Presence::{Default, EmptyMeansNone, Optional, Required};

/// All variables but `images`, a list of images by version, and those of `network`, which decide on what a cluster has.
pub(crate) const TABLE: &[Variable] = &[
    variable("region", Cluster, &["region"], Required),
    variable("identity", Cluster, &["identityRef", "name"], EmptyMeansNone),
    variable("vpcID", Cluster, &["network", "existing", "vpcID"], EmptyMeansNone),
    variable(SUBNETS, Cluster, &["network", "existing", "subnets"], EmptyMeansNone),
    variable("securityGroups", Cluster, &["network", "existing", "securityGroups"], Default("[]")),
    variable("kubeconfigSecret", ControlPlane, &["external", "kubeconfigSecretRef", "name"], Required),
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
    variable("spotStrategy", PoolOfSeveralTypes, &["mixedInstances", "spotStrategy"], Optional),
    variable("spotMaxPrice", PoolOfSeveralTypes, &["mixedInstances", "spotMaxPrice"], Optional),
    variable("spot", PoolOfOneType, &["spot"], Optional),
    variable("poolSubnets", Pool, &["subnets"], Optional),
    variable("poolSecurityGroups", Pool, &["securityGroups"], Optional),
    variable("rootVolume", Pool, &["rootVolume"], Optional),
    variable("volumes", Pool, &["volumes"], Optional),
    variable("metadataOptions", Pool, &["metadataOptions"], Optional),
    variable("autoscaling", Pool, &["autoscaling"], Optional),
    variable("scaleIn", Pool, &["scaleIn"], Optional),
    variable("rollout", Pool, &["rollout"], Optional),
    variable("remediation", Pool, &["remediation"], Optional),
    variable("interruption", Pool, &["interruption"], Optional),
];
