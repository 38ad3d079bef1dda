//! Settings of instances for which EC2 has defaults: monitoring, addresses, tenancy, processors, bandwidth, DNS
//! names.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tenancy of instances, as EC2 names it (EC2 User Guide, "Amazon EC2 Dedicated Instances"). A change replaces the instances
/// (`rollout`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tenancy {
    /// Hardware that other AWS accounts use, too.
    Default,
    /// Hardware that only this AWS account uses.
    Dedicated,
}

/// Processors of instances. EC2 takes only combinations that the instance type supports (EC2 User Guide, "Supported CPU
/// options"): for another one, launches fail. With `mixedInstances` all instance types must support them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("has(self.coreCount) == has(self.threadsPerCore)")
        .message("set both coreCount and threadsPerCore, or neither"),
    validation = Rule::new("has(self.coreCount) || has(self.amdSEVSNP)")
        .message("set coreCount and threadsPerCore, or amdSEVSNP")
)]
pub struct CpuOptions {
    /// Number of cores. Set it together with `threadsPerCore`. Default: all cores of the instance type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub core_count: Option<i32>,
    /// Threads of each core: 1 turns simultaneous multithreading off. Set it together with `coreCount`. Default: as the
    /// instance type has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 2))]
    pub threads_per_core: Option<i32>,
    /// AMD SEV-SNP, which encrypts the memory of the instance. EC2 has it for some instance types of AMD and some regions, and
    /// charges for it. Default: `disabled`.
    #[serde(default, rename = "amdSEVSNP", skip_serializing_if = "Option::is_none")]
    pub amd_sev_snp: Option<Switch>,
}

/// Whether something is on, as EC2 spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// On.
    Enabled,
    /// Off.
    Disabled,
}

/// Whether an instance type is burstable, as the CEL rules of `cpuCredits` have it: T2, T3, T3a, T4g. Not Trn1, for example.
pub fn is_burstable(instance_type: &str) -> bool {
    let generation = instance_type.strip_prefix('t');
    generation.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// How burstable instances (T2, T3, T3a, T4g) use processors above their baseline, as EC2 names it (EC2 User Guide,
/// "Burstable performance instances"). A change replaces the instances (`rollout`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CpuCredits {
    /// As long as they have credits.
    Standard,
    /// As long as they need; EC2 charges for what exceeds the credits.
    Unlimited,
}

/// How instances divide their baseline bandwidth between network and EBS, as EC2 names it (EC2 User Guide, "EC2 instance bandwidth
/// weighting configuration"): with `vpc-1` the network has more and EBS less, with `ebs-1` EBS has more and the network less, with
/// `default`, or if absent, both have what is standard for the instance type. All instance types that the spec names have to offer `vpc-1`
/// or `ebs-1`. A change replaces the instances (`rollout`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum BandwidthWeighting {
    /// As the instance type has it.
    #[serde(rename = "default")]
    Default,
    /// More for the network, less for EBS.
    #[serde(rename = "vpc-1")]
    Vpc1,
    /// More for EBS, less for the network.
    #[serde(rename = "ebs-1")]
    Ebs1,
}

/// Private DNS names of instances (EC2 User Guide, "Amazon EC2 instance hostname types").
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrivateDnsNameOptions {
    /// What the host name is derived from. Default: as the subnet has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname_type: Option<HostnameType>,
    /// Whether the DNS name with the instance's id resolves to its IPv4 address. Default: as the subnet has it.
    #[serde(default, rename = "enableResourceNameDNSARecord", skip_serializing_if = "Option::is_none")]
    pub enable_resource_name_dns_a_record: Option<bool>,
    /// Whether the DNS name with the instance's id resolves to its IPv6 address. Default: as the subnet has it.
    #[serde(default, rename = "enableResourceNameDNSAAAARecord", skip_serializing_if = "Option::is_none")]
    pub enable_resource_name_dns_aaaa_record: Option<bool>,
}

/// What a host name is derived from, as EC2 names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostnameType {
    /// The private IPv4 address: `ip-10-0-0-1.eu-central-1.compute.internal`.
    IpName,
    /// The id of the instance: `i-0123456789abcdef0.eu-central-1.compute.internal`.
    ResourceName,
}
