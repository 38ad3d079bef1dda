//! What instances are launched from: image, types, volumes, metadata, the market they are bought on.

use crate::patterns;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Several types and purchase options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
pub struct MixedInstances {
    /// Types to choose from, most wanted first.
    #[schemars(length(min = 1, max = 40))]
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub overrides: Vec<MixedInstancesOverride>,
    /// How many instances, at least, are on demand.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10000))]
    pub on_demand_base: i32,
    /// Share of on-demand instances above the base, in percent.
    #[serde(default = "all")]
    #[schemars(range(min = 0, max = 100))]
    pub on_demand_percentage: i32,
    /// How spot pools are chosen.
    #[serde(default)]
    pub spot_strategy: SpotStrategy,
    /// Highest spot price per hour in US dollars; the on-demand price if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9]+(\.[0-9]+)?$"))]
    pub spot_max_price: Option<String>,
}

fn all() -> i32 {
    100
}

/// One choice of a mix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MixedInstancesOverride {
    /// The type.
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::INSTANCE_TYPE))]
    pub instance_type: String,
}

/// Spot allocation strategies, in AWS's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpotStrategy {
    /// Deep pools first, the cheaper of them.
    #[default]
    PriceCapacityOptimized,
    /// Deepest pools first.
    CapacityOptimized,
    /// Deepest pools first, the order of the overrides counting a little.
    CapacityOptimizedPrioritized,
    /// Cheapest pools first.
    LowestPrice,
}

/// Which image to boot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ami {
    /// Image id (`ami-…`).
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::RESOURCE_ID))]
    pub id: String,
}

/// An EBS volume. What EC2 would refuse only when it launches an instance is refused here (EBS User Guide, "Amazon EBS volume
/// types").
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("!(self.type in ['io1', 'io2']) || has(self.iops)")
        .message("io1 and io2 need iops"),
    validation = Rule::new("!has(self.iops) || self.type in ['gp3', 'io1', 'io2']")
        .message("iops can be given for gp3, io1 and io2 only"),
    validation = Rule::new("!has(self.throughput) || self.type == 'gp3'")
        .message("throughput can be given for gp3 only"),
    validation = Rule::new("self.type != 'gp3' || !has(self.iops) || (self.iops >= 3000 && self.iops <= 80000 && (self.iops == 3000 || self.iops <= self.sizeGiB * 500))")
        .message("gp3 has 3000 to 80000 iops, above 3000 at most 500 for each GiB"),
    validation = Rule::new("self.type != 'io1' || !has(self.iops) || (self.iops <= 64000 && self.iops <= self.sizeGiB * 50)")
        .message("io1 has at most 64000 iops and at most 50 for each GiB"),
    validation = Rule::new("self.type != 'io2' || !has(self.iops) || self.iops <= self.sizeGiB * 1000")
        .message("io2 has at most 1000 iops for each GiB"),
    validation = Rule::new("self.type != 'gp3' || !has(self.throughput) || self.throughput * 4 <= (has(self.iops) ? self.iops : 3000)")
        .message("gp3 has at most 0.25 MiB/s of throughput for each of its iops, which are 3000 if absent"),
    validation = Rule::new("!(self.type in ['st1', 'sc1']) || self.sizeGiB >= 125")
        .message("st1 and sc1 have at least 125 GiB"),
    validation = Rule::new("!(self.type in ['io1', 'io2']) || self.sizeGiB >= 4")
        .message("io1 and io2 have at least 4 GiB"),
    validation = Rule::new("self.type in ['gp3', 'io2'] || self.sizeGiB <= 16384")
        .message("gp2, io1, st1 and sc1 have at most 16384 GiB"),
    validation = Rule::new("!has(self.kmsKeyID) || (has(self.encrypted) && self.encrypted)")
        .message("kmsKeyID needs encrypted: true")
)]
pub struct Volume {
    /// Size in GiB.
    #[serde(rename = "sizeGiB")]
    #[schemars(range(min = 1, max = 65536))]
    pub size_gib: i32,
    /// Kind of volume.
    #[serde(default, rename = "type")]
    pub kind: VolumeType,
    /// Provisioned I/O operations per second; gp3, io1 and io2 only, and needed for the last two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 256_000))]
    pub iops: Option<i32>,
    /// Provisioned throughput in MiB/s; gp3 only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 125, max = 2000))]
    pub throughput: Option<i32>,
    /// Whether it is encrypted; the account's default if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// KMS key of the encryption.
    #[serde(default, rename = "kmsKeyID", skip_serializing_if = "Option::is_none")]
    pub kms_key_id: Option<String>,
}

/// A volume beside the root volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataVolume {
    /// Device name (`/dev/xvdb`).
    #[schemars(length(min = 1, max = 32))]
    pub device_name: String,
    /// The volume.
    pub volume: Volume,
}

/// EBS volume types, in AWS's words.
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

/// Instance metadata service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetadataOptions {
    /// Whether session tokens (IMDSv2) are required.
    #[serde(default)]
    pub http_tokens: HttpTokens,
    /// How many network hops an answer may travel, 1–64. Pods without host network need 2.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 64))]
    pub http_put_response_hop_limit: i32,
}

impl Default for MetadataOptions {
    fn default() -> Self {
        Self { http_tokens: HttpTokens::Required, http_put_response_hop_limit: 1 }
    }
}

fn one() -> i32 {
    1
}

/// Whether IMDSv2 session tokens are required.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HttpTokens {
    /// They are.
    #[default]
    Required,
    /// IMDSv1 works as well.
    Optional,
}

/// The spot market.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Spot {
    /// Highest price per hour in US dollars; the on-demand price if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9]+(\.[0-9]+)?$"))]
    pub max_price: Option<String>,
}
