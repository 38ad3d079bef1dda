//! Settings of a launch template that no other field of its options has, as EC2's API has them (EC2 API Reference,
//! RequestLaunchTemplateData).

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use strum::IntoStaticStr;

/// Settings of instances besides their other options. What is absent is as EC2 has it, and not serialized: hashes of what exists stay the same
/// when a setting is added. Names and order of the fields are part of a hash, so they never change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Overlay {
    /// EbsOptimized.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ebs_optimized: Option<bool>,
    /// InstanceInitiatedShutdownBehavior.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shutdown_behavior: Option<ShutdownBehavior>,
    /// KernelId.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// RamDiskId.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ram_disk: Option<String>,
    /// AutoRecovery of the MaintenanceOptions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_recovery: Option<AutoRecovery>,
    /// DisableApiStop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_protection: Option<bool>,
    /// DisableApiTermination.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_protection: Option<bool>,
    /// NestedVirtualization of the CpuOptions: whether it is enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nested_virtualization: Option<bool>,
    /// BlockDeviceMappings by their device names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub devices: BTreeMap<String, Device>,
    /// SecondaryInterfaces.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secondary_interfaces: Vec<SecondaryInterface>,
}

impl Overlay {
    /// EbsCardIndex of the EBS volume with this device name.
    pub fn ebs_card(&self, device: &str) -> Option<u32> {
        match self.devices.get(device)? {
            Device::OnEbsCard(index) => Some(*index),
            Device::Omitted | Device::InstanceStore(_) => None,
        }
    }
}

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Device {
    /// NoDevice: that of the image is left out.
    Omitted,
    /// VirtualName: the instance store volume with this name.
    InstanceStore(String),
    /// An EBS volume on the EBS card with this index. Which volume it is has been set elsewhere: by the spec or the image.
    OnEbsCard(u32),
}

/// What a shutdown from within the operating system does to the instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "the names are EC2's own (EC2 API Reference, RequestLaunchTemplateData)")]
pub enum ShutdownBehavior {
    Stop,
    Terminate,
}

/// Whether EC2 recovers an impaired instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[expect(
    missing_docs,
    reason = "the names are EC2's own (EC2 API Reference, LaunchTemplateInstanceMaintenanceOptionsRequest)"
)]
pub enum AutoRecovery {
    Default,
    Disabled,
}

/// An interface in a secondary network, which is deleted with its instance: EC2 has no other (EC2 API Reference,
/// LaunchTemplateInstanceSecondaryInterfaceSpecificationRequest).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondaryInterface {
    /// SecondarySubnetId.
    pub subnet: String,
    /// DeviceIndex; EC2's default if absent.
    pub device: Option<u32>,
    /// NetworkCardIndex; EC2's default if absent.
    pub card: Option<u32>,
    /// PrivateIpAddressCount; EC2's default if absent.
    pub addresses: Option<u32>,
}

impl SecondaryInterface {
    /// The only InterfaceType that EC2 has for them.
    pub const KIND: &'static str = "secondary";
}
