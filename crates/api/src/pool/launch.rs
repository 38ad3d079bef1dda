//! What instances are launched from, besides their image: instance types, volumes, metadata service, spot or on demand.

use super::instance::Switch;
use super::requirements::InstanceRequirements;
use crate::patterns;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where user data is kept, if not in the launch template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserDataStorage {
    /// A bucket in S3.
    pub s3: UserDataBucket,
}

/// A bucket in S3. It belongs to the account of the pool, is in its region, and has the policy of
/// `deploy/aws/user-data-bucket.yaml`, which lets only the role of the pool's instance profile read its user data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserDataBucket {
    /// Name of the bucket, 3 to 63 lower-case letters, digits and `-`.
    #[schemars(length(min = 3, max = 63), regex(pattern = patterns::BUCKET))]
    pub bucket: String,
    /// What the keys of the objects begin with: words of letters, digits, `.`, `_` and `-` with `/` between them, up to 32
    /// characters. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 32), regex(pattern = patterns::KEY_PREFIX))]
    pub prefix: Option<String>,
}

/// Several instance types, and on-demand and spot instances in one Auto Scaling group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("self.overrides.all(it, has(it.instanceType)) || self.overrides.all(it, has(it.requirements))")
        .message("either all of overrides have instanceType, or all have requirements"),
    validation = Rule::new("!has(self.overrides[0].requirements) || size(self.overrides) <= 4")
        .message("a group has at most 4 sets of requirements"),
    validation = Rule::new("!has(self.overrides[0].requirements) || self.overrides.all(it, has(it.requirements.architecture) && it.requirements.architecture == 'arm64') || self.overrides.all(it, !has(it.requirements.architecture) || it.requirements.architecture != 'arm64') || self.overrides.all(it, !has(it.requirements.cpuManufacturers) || it.requirements.cpuManufacturers.all(maker, maker in (has(it.requirements.architecture) && it.requirements.architecture == 'arm64' ? ['amazon-web-services'] : ['intel', 'amd'])))")
        .message("with requirements of both architectures, cpuManufacturers can be intel and amd for x86_64, and amazon-web-services for arm64"),
    validation = Rule::new("!has(self.onDemandStrategy) || self.onDemandStrategy != 'prioritized' || !has(self.overrides[0].requirements)")
        .message("onDemandStrategy prioritized needs a list of instance types: requirements have no order"),
    validation = Rule::new("!has(self.spotStrategy) || self.spotStrategy != 'capacity-optimized-prioritized' || !has(self.overrides[0].requirements)")
        .message("spotStrategy capacity-optimized-prioritized needs a list of instance types: requirements have no order")
)]
pub struct MixedInstances {
    /// What AWS may choose from: 1 to 40 instance types in order of preference, or 1 to 4 sets of attributes.
    #[schemars(length(min = 1, max = 40))]
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub overrides: Vec<MixedInstancesOverride>,
    /// Number of instances that AWS launches on demand before it launches any spot instance. Default: 0.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10000))]
    pub on_demand_base: i32,
    /// Percentage of on-demand instances among those beyond `onDemandBase`; the others are spot instances.
    /// Default: 100, which means no spot instances.
    #[serde(default = "all")]
    #[schemars(range(min = 0, max = 100))]
    pub on_demand_percentage: i32,
    /// On-demand allocation strategy: how AWS chooses the instance type of an on-demand instance. `prioritized`: the first one in
    /// the order of `overrides` that is available; not with `requirements`. Default: `prioritized` for a list of instance types,
    /// `lowest-price` for `requirements`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_demand_strategy: Option<OnDemandStrategy>,
    /// Spot allocation strategy: how AWS chooses the instance type and zone of a spot instance. Default:
    /// `price-capacity-optimized`.
    #[serde(default)]
    pub spot_strategy: SpotStrategy,
    /// Maximum spot price per hour in US dollars, for example `0.05`. Default: the on-demand price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9]+(\.[0-9]+)?$"))]
    pub spot_max_price: Option<String>,
}

fn all() -> i32 {
    100
}

/// One of several instance types, or all types with certain attributes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("has(self.instanceType) != has(self.requirements)").message("set either instanceType or requirements"))]
pub struct MixedInstancesOverride {
    /// EC2 instance type, for example `m7i.large`. Set either this or `requirements`. A change of the first one (if the list has both
    /// architectures, of the first x86_64 type) replaces the instances (`rollout`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::INSTANCE_TYPE))]
    pub instance_type: Option<String>,
    /// Attributes of instance types: AWS launches any type that has them. A change concerns new instances only, except that a second
    /// architecture, or one that is removed, replaces the instances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirements: Option<InstanceRequirements>,
}

/// On-demand allocation strategies, as AWS names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnDemandStrategy {
    /// The first one in the order of `overrides` that is available.
    Prioritized,
    /// The cheapest one in each zone.
    LowestPrice,
}

impl MixedInstancesOverride {
    /// One instance type.
    pub fn of_type(name: impl Into<String>) -> Self {
        Self { instance_type: Some(name.into()), requirements: None }
    }
}

impl MixedInstances {
    /// The instance types of the list, preferred ones first; none if they are chosen by their attributes.
    pub fn instance_types(&self) -> impl Iterator<Item = &str> {
        self.overrides.iter().filter_map(|choice| choice.instance_type.as_deref())
    }

    /// The sets of attributes that instance types are chosen by.
    pub fn requirements(&self) -> impl Iterator<Item = &InstanceRequirements> {
        self.overrides.iter().filter_map(|choice| choice.requirements.as_ref())
    }
}

/// Spot allocation strategies, as AWS names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpotStrategy {
    /// Prefers spot capacity pools with the least risk of interruption, and among these the cheapest.
    #[default]
    PriceCapacityOptimized,
    /// Prefers spot capacity pools with the least risk of interruption.
    CapacityOptimized,
    /// As `capacity-optimized`, and considers the order of `overrides` as far as possible.
    CapacityOptimizedPrioritized,
    /// Prefers the cheapest spot capacity pools.
    LowestPrice,
}

/// An EBS volume. Values that EC2 would refuse only when it launches an instance are refused when the object
/// is written (EBS User Guide, "Amazon EBS volume types").
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("!(self.type in ['io1', 'io2']) || has(self.iops)")
        .message("io1 and io2 require iops"),
    validation = Rule::new("!has(self.iops) || self.type in ['gp3', 'io1', 'io2']")
        .message("iops can be set for gp3, io1 and io2 only"),
    validation = Rule::new("!has(self.throughput) || self.type == 'gp3'")
        .message("throughput can be set for gp3 only"),
    validation = Rule::new("self.type != 'gp3' || !has(self.iops) || (self.iops >= 3000 && self.iops <= 80000 && (self.iops == 3000 || self.iops <= self.sizeGiB * 500))")
        .message("gp3 allows 3000 to 80000 iops, above 3000 at most 500 per GiB"),
    validation = Rule::new("self.type != 'io1' || !has(self.iops) || (self.iops <= 64000 && self.iops <= self.sizeGiB * 50)")
        .message("io1 allows at most 64000 iops, and at most 50 per GiB"),
    validation = Rule::new("self.type != 'io2' || !has(self.iops) || self.iops <= self.sizeGiB * 1000")
        .message("io2 allows at most 1000 iops per GiB"),
    validation = Rule::new("self.type != 'gp3' || !has(self.throughput) || self.throughput * 4 <= (has(self.iops) ? self.iops : 3000)")
        .message("gp3 allows at most 0.25 MiB/s of throughput per unit of iops (default: 3000 iops)"),
    validation = Rule::new("!(self.type in ['st1', 'sc1']) || self.sizeGiB >= 125")
        .message("st1 and sc1 need at least 125 GiB"),
    validation = Rule::new("!(self.type in ['io1', 'io2']) || self.sizeGiB >= 4")
        .message("io1 and io2 need at least 4 GiB"),
    validation = Rule::new("self.type in ['gp3', 'io2'] || self.sizeGiB <= 16384")
        .message("gp2, io1, st1 and sc1 allow at most 16384 GiB"),
    validation = Rule::new("!has(self.kmsKeyID) || (has(self.encrypted) && self.encrypted)")
        .message("kmsKeyID requires encrypted: true")
)]
pub struct Volume {
    /// Size in GiB. Minimum and maximum depend on `type`.
    #[serde(rename = "sizeGiB")]
    #[schemars(range(min = 1, max = 65536))]
    pub size_gib: i32,
    /// EBS volume type. Default: `gp3`.
    #[serde(default, rename = "type")]
    pub kind: VolumeType,
    /// Provisioned I/O operations per second. Required for io1 and io2, optional for gp3 (EC2's default:
    /// 3000), not allowed for other types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 256_000))]
    pub iops: Option<i32>,
    /// Provisioned throughput in MiB/s, 125 to 2000. Allowed for gp3 only. EC2's default: 125.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 125, max = 2000))]
    pub throughput: Option<i32>,
    /// Whether the volume is encrypted. Default: as the AWS account or the image's snapshot says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// Id, alias or ARN of the KMS key that encrypts the volume. Requires `encrypted: true`. Default: the
    /// account's key for EBS.
    #[serde(default, rename = "kmsKeyID", skip_serializing_if = "Option::is_none")]
    pub kms_key_id: Option<String>,
    /// Whether EC2 deletes the volume when it terminates the instance. A volume that stays costs money until a user deletes it.
    /// Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_on_termination: Option<bool>,
    /// How fast EBS reads the snapshot that the volume is created from, in MiB/s, 100 to 300; EBS charges for it. A volume that is
    /// created from no snapshot (neither `snapshotID` nor one of the image) has none: launches fail. Default: EBS reads blocks when
    /// the instance first needs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 300))]
    pub initialization_rate: Option<i32>,
}

/// A volume in addition to the root volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataVolume {
    /// Device name, for example `/dev/xvdb`.
    #[schemars(length(min = 1, max = 32))]
    pub device_name: String,
    /// Id of the snapshot that the volume is created from, which may have at most `sizeGiB`. The identity of the FooCluster may
    /// restrict which ones are allowed (`allowedSnapshots`). Default: an empty volume, or the image's snapshot for this device name.
    #[serde(default, rename = "snapshotID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::SNAPSHOT))]
    pub snapshot_id: Option<String>,
    /// Size and type of the volume.
    #[serde(flatten)]
    pub volume: Volume,
}

/// EBS volume types, as AWS names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are AWS's own (EBS User Guide, \"Amazon EBS volume types\")")]
pub enum VolumeType {
    Gp2,
    #[default]
    Gp3,
    Io1,
    Io2,
    St1,
    Sc1,
}

/// Settings of the instance metadata service (IMDS). It never has the instance's tags: their keys contain `/`, and then EC2
/// launches no instance (EC2 User Guide, "View tags for your EC2 instances using instance metadata").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetadataOptions {
    /// Whether IMDSv2 session tokens are required. Default: `required`.
    #[serde(default)]
    pub http_tokens: HttpTokens,
    /// Maximum number of network hops of a response, 1 to 64. Pods without host network need 2. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 64))]
    pub http_put_response_hop_limit: i32,
    /// Whether the service responds at all. Without it the Nodes of no image family join, and no AWS SDK on the instance finds
    /// the credentials of its instance profile. Default: `enabled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_endpoint: Option<Switch>,
    /// Whether the service has an IPv6 address, too. Default: `disabled`.
    #[serde(default, rename = "httpProtocolIPv6", skip_serializing_if = "Option::is_none")]
    pub http_protocol_ipv6: Option<Switch>,
}

impl Default for MetadataOptions {
    fn default() -> Self {
        Self {
            http_tokens: HttpTokens::Required,
            http_put_response_hop_limit: 1,
            http_endpoint: None,
            http_protocol_ipv6: None,
        }
    }
}

fn one() -> i32 {
    1
}

/// Whether IMDSv2 session tokens are required.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HttpTokens {
    /// Requests need a session token (IMDSv2).
    #[default]
    Required,
    /// Requests without a session token (IMDSv1) are served, too.
    Optional,
}

/// Settings of spot instances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Spot {
    /// Maximum price per hour in US dollars, for example `0.05`. Default: the on-demand price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9]+(\.[0-9]+)?$"))]
    pub max_price: Option<String>,
}
