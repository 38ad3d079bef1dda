//! Instance types by their attributes: EC2 Auto Scaling finds the types that have them.
//!
//! A new attribute of AWS is a field here, an attribute in `model/src/requirements.rs`, and a line in
//! `controller/src/pool/inputs/mix.rs`, where the compiler asks for it.

use super::image::ImageArchitecture;
use super::image_source::NodeType;
use crate::patterns;
use crate::shared::unsigned;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Attributes of instance types (Auto Scaling API Reference, `InstanceRequirements`). A type needs all of them. AWS applies
/// price protection, and excludes bare metal and burstable types unless they are included here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("!has(self.allowedInstanceTypes) || !has(self.excludedInstanceTypes)")
        .message("set either allowedInstanceTypes or excludedInstanceTypes"),
    validation = Rule::new("!has(self.spotMaxPricePercentageOverLowestPrice) || !has(self.maxSpotPriceAsPercentageOfOptimalOnDemandPrice)")
        .message("set either spotMaxPricePercentageOverLowestPrice or maxSpotPriceAsPercentageOfOptimalOnDemandPrice"),
    validation = Rule::new("!has(self.localStorage) || self.localStorage != 'excluded' || (!has(self.localStorageTypes) && !has(self.totalLocalStorageGB))")
        .message("localStorageTypes and totalLocalStorageGB need instance types with local storage: localStorage cannot be excluded")
)]
pub struct InstanceRequirements {
    /// Architecture of the instance types. Auto Scaling launches types of the image's architecture, which has to be this one. A pool
    /// whose sets have both architectures needs an image of each (`ami`). Default: `x86_64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<ImageArchitecture>,
    /// Number of vCPUs. With `min`, cluster-autoscaler knows what a Node has at least.
    pub vcpu_count: AtLeast,
    /// Memory in MiB. With `min`, cluster-autoscaler knows what a Node has at least.
    #[serde(rename = "memoryMiB")]
    pub memory_mib: AtLeast,
    /// Memory per vCPU in GiB. Default: any.
    #[serde(default, rename = "memoryGiBPerVCPU", skip_serializing_if = "Option::is_none")]
    pub memory_gib_per_vcpu: Option<DecimalRange>,
    /// Manufacturers of the processors. If `overrides` has sets of both architectures, those of `x86_64` may have `intel` and `amd`, and
    /// those of `arm64` `amazon-web-services`, which is then the default, too. Otherwise the default is any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub cpu_manufacturers: Vec<CpuManufacturer>,
    /// Instance types that the other attributes are applied to, all others are excluded. `*` stands for any text, for example
    /// `m5.8xlarge`, `c5*.*`, `*3*`; up to 200. Not together with `excludedInstanceTypes`. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200), inner(length(min = 1, max = 30), regex(pattern = patterns::INSTANCE_TYPES)))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub allowed_instance_types: Vec<String>,
    /// Instance types that are excluded, in the form of `allowedInstanceTypes`. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200), inner(length(min = 1, max = 30), regex(pattern = patterns::INSTANCE_TYPES)))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub excluded_instance_types: Vec<String>,
    /// Generations of instance types. Default: both.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 2))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub instance_generations: Vec<InstanceGeneration>,
    /// Bare metal instance types. Default: `excluded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bare_metal: Option<Inclusion>,
    /// Burstable instance types (the T families). Default: `excluded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burstable_performance: Option<Inclusion>,
    /// Instance types with instance store volumes. Default: `included`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_storage: Option<Inclusion>,
    /// Kinds of instance store volumes. Default: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 2))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub local_storage_types: Vec<LocalStorageType>,
    /// Size of all instance store volumes together, in GB. Default: any.
    #[serde(default, rename = "totalLocalStorageGB", skip_serializing_if = "Option::is_none")]
    pub total_local_storage_gb: Option<DecimalRange>,
    /// Number of network interfaces that an instance can have. Default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_interface_count: Option<WholeRange>,
    /// Network bandwidth in Gbit/s. Default: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network_bandwidth_gbps: Option<DecimalRange>,
    /// Baseline bandwidth to EBS in Mbit/s. Default: any.
    #[serde(default, rename = "baselineEBSBandwidthMbps", skip_serializing_if = "Option::is_none")]
    pub baseline_ebs_bandwidth_mbps: Option<WholeRange>,
    /// Number of accelerators: GPUs, FPGAs, or chips of AWS Inferentia and Trainium. `{min: 0}` allows types with and without
    /// accelerators. Default: types with accelerators are excluded, unless another attribute of accelerators is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accelerator_count: Option<WholeRange>,
    /// Kinds of accelerators. Default: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 4))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub accelerator_types: Vec<AcceleratorType>,
    /// Manufacturers of the accelerators. With `nvidia` alone, the Nodes have NVIDIA GPUs (`status.capacity`, and the variant of
    /// `ami.recommended`); with `amazon-web-services` alone, AWS Inferentia or Trainium. Default: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 5))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub accelerator_manufacturers: Vec<AcceleratorManufacturer>,
    /// Names of accelerators as AWS has them, for example `a100`, `t4`, `l4`. Default: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 50), inner(length(min = 1, max = 30), regex(pattern = patterns::ACCELERATOR)))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub accelerator_names: Vec<String>,
    /// Memory of all accelerators together, in MiB. Default: any.
    #[serde(default, rename = "acceleratorTotalMemoryMiB", skip_serializing_if = "Option::is_none")]
    pub accelerator_total_memory_mib: Option<WholeRange>,
    /// Price protection of on-demand instances: how many percent a type may cost more than the cheapest current type of the
    /// families C, M and R with these attributes (otherwise the cheapest of all). 999999 switches it off. AWS's default: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 999_999))]
    pub on_demand_max_price_percentage_over_lowest_price: Option<i32>,
    /// Price protection of spot instances: how many percent the spot price of a type may be above that of the same cheapest type.
    /// 999999 switches it off. Not together with `maxSpotPriceAsPercentageOfOptimalOnDemandPrice`. Default: AWS chooses a threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 999_999))]
    pub spot_max_price_percentage_over_lowest_price: Option<i32>,
    /// Price protection of spot instances: what percentage of the on-demand price of the same cheapest type the spot price of a
    /// type may be. 999999 switches it off. Default: AWS chooses a threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 999_999))]
    pub max_spot_price_as_percentage_of_optimal_on_demand_price: Option<i32>,
}

/// A range of whole numbers with a smallest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("!has(self.max) || self.min <= self.max").message("min must not exceed max"))]
pub struct AtLeast {
    /// The smallest number.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub min: i32,
    /// The largest number. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max: Option<i32>,
}

/// A range of whole numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("has(self.min) || has(self.max)").message("set min or max"),
    validation = Rule::new("!has(self.min) || !has(self.max) || self.min <= self.max").message("min must not exceed max")
)]
pub struct WholeRange {
    /// The smallest number. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100_000_000))]
    pub min: Option<i32>,
    /// The largest number. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100_000_000))]
    pub max: Option<i32>,
}

/// A range of decimal numbers, as texts, for example `"0.5"`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("has(self.min) || has(self.max)").message("set min or max"),
    validation = Rule::new("!has(self.min) || !has(self.max) || double(self.min) <= double(self.max)")
        .message("min must not exceed max")
)]
pub struct DecimalRange {
    /// The smallest number, with up to three digits after the point. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16), regex(pattern = patterns::DECIMAL))]
    pub min: Option<String>,
    /// The largest number, with up to three digits after the point. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16), regex(pattern = patterns::DECIMAL))]
    pub max: Option<String>,
}

/// Whether instance types with a feature are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Inclusion {
    /// Types with and without it.
    Included,
    /// Types without it only.
    Excluded,
    /// Types with it only.
    Required,
}

/// Manufacturers of processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are AWS's own (Auto Scaling API Reference, InstanceRequirements)")]
pub enum CpuManufacturer {
    Intel,
    Amd,
    AmazonWebServices,
    Apple,
}

/// Generations of instance types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "the names are AWS's own (Auto Scaling API Reference, InstanceRequirements)")]
pub enum InstanceGeneration {
    Current,
    Previous,
}

/// Kinds of instance store volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "the names are AWS's own (Auto Scaling API Reference, InstanceRequirements)")]
pub enum LocalStorageType {
    Hdd,
    Ssd,
}

/// Kinds of accelerators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "the names are AWS's own (Auto Scaling API Reference, InstanceRequirements)")]
pub enum AcceleratorType {
    Gpu,
    Fpga,
    Inference,
}

/// Manufacturers of accelerators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are AWS's own (Auto Scaling API Reference, InstanceRequirements)")]
pub enum AcceleratorManufacturer {
    Nvidia,
    Amd,
    AmazonWebServices,
    Xilinx,
}

/// What every instance type with the attributes has at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallestInstance {
    /// vCPUs.
    pub vcpus: u32,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// GPUs of NVIDIA.
    pub nvidia_gpus: u32,
    /// Devices of AWS Inferentia and Trainium.
    pub neuron_devices: u32,
    /// `x86_64` or `arm64`.
    pub architecture: &'static str,
}

impl InstanceRequirements {
    /// Architecture of the instance types.
    pub fn architecture(&self) -> ImageArchitecture {
        self.architecture.unwrap_or(ImageArchitecture::X86_64)
    }

    /// All manufacturers of processors of this architecture that Linux runs on (Auto Scaling API Reference, InstanceRequirements:
    /// `CpuManufacturers`; processors of Apple are those of Macs).
    pub fn manufacturers(&self) -> &'static [CpuManufacturer] {
        match self.architecture() {
            ImageArchitecture::X86_64 => &[CpuManufacturer::Intel, CpuManufacturer::Amd],
            ImageArchitecture::Arm64 => &[CpuManufacturer::AmazonWebServices],
        }
    }

    /// Whether an attribute of accelerators, besides their number, asks for instance types with accelerators.
    pub fn names_accelerators(&self) -> bool {
        !self.accelerator_types.is_empty()
            || !self.accelerator_manufacturers.is_empty()
            || !self.accelerator_names.is_empty()
            || self.accelerator_total_memory_mib.is_some()
    }

    /// What every instance type with these attributes has at least, without a call of AWS.
    pub fn smallest(&self) -> SmallestInstance {
        // Types without accelerators have no manufacturer of them.
        let least = self.accelerator_count.and_then(|count| count.min).unwrap_or(1).max(1);
        let only = |maker| self.accelerator_manufacturers == [maker];
        let accelerators = |maker| if only(maker) { unsigned(least) } else { 0 };
        SmallestInstance {
            vcpus: unsigned(self.vcpu_count.min),
            memory_mib: u64::from(unsigned(self.memory_mib.min)),
            nvidia_gpus: accelerators(AcceleratorManufacturer::Nvidia),
            neuron_devices: accelerators(AcceleratorManufacturer::AmazonWebServices),
            architecture: self.architecture().as_str(),
        }
    }
}

impl SmallestInstance {
    /// What images depend on; `name` stands for the instance types in messages.
    pub fn node_type<'a>(&self, name: &'a str) -> NodeType<'a> {
        let Self { vcpus: _, memory_mib: _, nvidia_gpus, neuron_devices, architecture } = *self;
        NodeType { name, architecture, nvidia_gpus, neuron_devices }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn requirements(spec: serde_json::Value) -> InstanceRequirements {
        serde_json::from_value(spec).unwrap()
    }

    #[test]
    fn the_smallest_instance_has_what_the_attributes_guarantee() {
        let plain = json!({"vcpuCount": {"min": 4, "max": 8}, "memoryMiB": {"min": 8192}});
        let smallest = requirements(plain).smallest();
        assert_eq!((smallest.vcpus, smallest.memory_mib, smallest.architecture), (4, 8192, "x86_64"));
        assert_eq!((smallest.nvidia_gpus, smallest.neuron_devices), (0, 0));
        let accelerated = |makers: serde_json::Value| {
            let spec = json!({
                "architecture": "arm64", "vcpuCount": {"min": 1}, "memoryMiB": {"min": 1},
                "acceleratorCount": {"min": 2}, "acceleratorManufacturers": makers,
            });
            let smallest = requirements(spec).smallest();
            assert_eq!(smallest.architecture, "arm64");
            (smallest.nvidia_gpus, smallest.neuron_devices)
        };
        assert_eq!(accelerated(json!(["nvidia"])), (2, 0));
        assert_eq!(accelerated(json!(["amazon-web-services"])), (0, 2));
        assert_eq!(accelerated(json!(["nvidia", "amd"])), (0, 0), "some types have no NVIDIA GPUs");
        assert_eq!(accelerated(json!([])), (0, 0));
        let nvidia = json!({
            "vcpuCount": {"min": 1}, "memoryMiB": {"min": 1}, "acceleratorManufacturers": ["nvidia"],
        });
        assert_eq!(requirements(nvidia).smallest().nvidia_gpus, 1, "such types have at least one");
    }
}
