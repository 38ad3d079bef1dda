//! Settings of a launch template that no other field of a pool has, named as in EC2's API (EC2 API Reference,
//! RequestLaunchTemplateData).
//!
//! Here is nothing that another field sets, that the provider sets itself, or that EC2 Auto Scaling refuses: each of these is in
//! `docs/reference/aws-fields.md`, with its field or the reason.

use super::instance::Switch;
use crate::patterns;
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the launch template that no other field has, named as in EC2's API.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "PascalCase")]
pub struct LaunchTemplateOverlay {
    /// Devices besides `rootVolume` and `volumes`, devices of the image that are left out, and EBS cards, up to 24.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 24))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["DeviceName".into()]))]
    pub block_device_mappings: Vec<BlockDeviceMapping>,
    /// Processors, besides `cpuOptions`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_options: Option<CpuOptionsOverlay>,
    /// Whether EC2 refuses to stop instances (EC2 User Guide, "Enable stop protection for your EC2 instances"). Not with a warm pool of
    /// stopped instances. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_api_stop: Option<bool>,
    /// Whether EC2 refuses to terminate instances for other callers than EC2 Auto Scaling, through which the provider terminates them.
    /// Not with spot instances (EC2 User Guide, "Change instance termination protection"). Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disable_api_termination: Option<bool>,
    /// Whether instances have bandwidth for EBS of their own. Current instance types always have it; for former ones EC2 charges for
    /// it. Default: as the instance type has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ebs_optimized: Option<bool>,
    /// What a shutdown from within the operating system does to the instance. In both cases EC2 Auto Scaling replaces it. Default:
    /// `stop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_initiated_shutdown_behavior: Option<ShutdownBehavior>,
    /// Id of the kernel, for paravirtual images. Default: that of the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::KERNEL))]
    pub kernel_id: Option<String>,
    /// What EC2 does when an instance is impaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maintenance_options: Option<MaintenanceOptions>,
    /// Id of the RAM disk, for paravirtual images. Default: that of the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::RAM_DISK))]
    pub ram_disk_id: Option<String>,
    /// Interfaces in secondary networks, up to 64. All instances have them, so all subnets of the pool have to be in the zone of the
    /// secondary subnets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub secondary_interfaces: Vec<SecondaryInterface>,
    /// Tags of what is created with an instance, besides the instance and its volumes, which have `tags`. With `networkInterfaces`,
    /// network interfaces have `tags`, too; of a key in both they have the value here. A change replaces no instances.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["ResourceType".into()]))]
    pub tag_specifications: Vec<TagSpecification>,
}

/// What a device is, if it is none of `rootVolume` and `volumes`, or which EBS card a volume is attached to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "PascalCase")]
#[x_kube(
    validation = Rule::new("[has(self.Ebs), has(self.NoDevice), has(self.VirtualName)].exists_one(given, given)")
        .message("set exactly one of Ebs, NoDevice and VirtualName")
)]
pub struct BlockDeviceMapping {
    /// Device name, for example `/dev/xvdb`.
    #[schemars(length(min = 1, max = 32))]
    pub device_name: String,
    /// The EBS volume of this name: one of `volumes`, the root volume, or one of the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ebs: Option<EbsBlockDevice>,
    /// Leaves the device of the image out. EC2 takes an empty text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 0))]
    pub no_device: Option<String>,
    /// An instance store volume, `ephemeral0` to `ephemeral23`. NVMe ones need no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 16), regex(pattern = patterns::INSTANCE_STORE))]
    pub virtual_name: Option<String>,
}

/// Settings of an EBS volume, besides those of `rootVolume` and `volumes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase")]
pub struct EbsBlockDevice {
    /// Index of the EBS card that the volume is attached to, for instance types that have several.
    #[schemars(range(min = 0, max = 63))]
    pub ebs_card_index: i32,
}

/// Processors of instances, besides `cpuOptions`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase")]
pub struct CpuOptionsOverlay {
    /// Whether the instance can run virtual machines of its own. Instance types of the families C8i, M8i and R8i and their flex variants
    /// can (EC2 API Reference, LaunchTemplateCpuOptionsRequest). Default: `disabled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nested_virtualization: Option<Switch>,
}

/// What a shutdown from within the operating system does to the instance, as EC2 names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ShutdownBehavior {
    /// It stops, and EC2 Auto Scaling terminates it.
    Stop,
    /// It terminates at once.
    Terminate,
}

/// What EC2 does when an instance is impaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase")]
pub struct MaintenanceOptions {
    /// Whether EC2 moves the instance to other hardware if its own fails (EC2 User Guide, "Automatic instance recovery"). Default:
    /// `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_recovery: Option<AutoRecovery>,
}

/// Whether EC2 recovers an instance, as EC2 names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AutoRecovery {
    /// If the instance type supports it.
    Default,
    /// Never: only EC2 Auto Scaling replaces the instance.
    Disabled,
}

/// An interface in a secondary network (EC2 API Reference, LaunchTemplateInstanceSecondaryInterfaceSpecificationRequest). EC2 deletes it
/// with its instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase")]
pub struct SecondaryInterface {
    /// Its place among the interfaces of its network card. Default: EC2's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 63))]
    pub device_index: Option<i32>,
    /// Index of its network card. Default: EC2's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 63))]
    pub network_card_index: Option<i32>,
    /// Number of its private IPv4 addresses, 1 to 64. Default: EC2's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub private_ip_address_count: Option<i32>,
    /// Id of its secondary subnet. The identity of the FooCluster may restrict which ones are allowed (`allowedSubnets`).
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::SECONDARY_SUBNET))]
    pub secondary_subnet_id: String,
}

/// Tags of what is created with an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "PascalCase")]
pub struct TagSpecification {
    /// What has the tags.
    pub resource_type: TaggedResource,
    /// The tags, up to 40; with `networkInterfaces` up to 40 together with `tags` of the pool. Keys that begin with `aws:` or
    /// `infrastructure.foo.com/` are reserved.
    #[schemars(length(min = 1, max = 40))]
    #[x_kube(
        merge_strategy = ListMerge::Map(vec!["Key".into()]),
        validation = Rule::new("self.all(tag, !tag.Key.startsWith('aws:') && !tag.Key.startsWith('infrastructure.foo.com/'))")
            .message("tags must not begin with aws: or infrastructure.foo.com/")
    )]
    pub tags: Vec<Tag>,
}

/// What is created with an instance and can have tags of its own, as EC2 names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TaggedResource {
    /// Each network interface of the instance.
    NetworkInterface,
}

/// A tag.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase")]
pub struct Tag {
    /// Its key, 1 to 128 characters.
    #[schemars(length(min = 1, max = 128), regex(pattern = patterns::TAG_TEXT))]
    pub key: String,
    /// Its value, up to 256 characters.
    #[schemars(length(max = 256), regex(pattern = patterns::TAG_TEXT))]
    pub value: String,
}
