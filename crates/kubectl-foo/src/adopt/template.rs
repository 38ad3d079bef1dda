//! The launch template of a group that is to be adopted, in the shapes of EC2's responses (EC2 API Reference,
//! ResponseLaunchTemplateData). Only what a FooMachinePool can have is typed; the names of all other settings are kept.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::BTreeMap;

/// A tag of a group or launch template.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Tag {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Whether new instances have it; only of groups.
    pub propagate_at_launch: bool,
}

/// A version of a launch template.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TemplateVersion {
    /// Name of the template.
    pub launch_template_name: String,
    /// Its content.
    pub launch_template_data: TemplateData,
}

/// The content of a launch template.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TemplateData {
    /// Id of the image, or `resolve:ssm:` and the name of a parameter.
    pub image_id: Option<String>,
    /// Instance type.
    pub instance_type: Option<String>,
    /// Key pair.
    pub key_name: Option<String>,
    /// Instance profile.
    pub iam_instance_profile: Option<Profile>,
    /// Ids of security groups.
    pub security_group_ids: Vec<String>,
    /// Network interfaces.
    pub network_interfaces: Vec<Interface>,
    /// Volumes.
    pub block_device_mappings: Vec<Mapping>,
    /// Instance metadata service.
    pub metadata_options: Option<Metadata>,
    /// Spot instances.
    pub instance_market_options: Option<Market>,
    /// Set if there is user data. It is never shown: it may contain secrets.
    pub user_data: Option<IgnoredAny>,
    /// Tags by type of resource.
    pub tag_specifications: Vec<Tags>,
    /// Detailed monitoring.
    pub monitoring: Option<Enabled>,
    /// Nitro Enclaves.
    pub enclave_options: Option<Enabled>,
    /// Where instances are.
    pub placement: Option<Placement>,
    /// Processors.
    pub cpu_options: Option<Cpu>,
    /// Burstable instances.
    pub credit_specification: Option<Credits>,
    /// Bandwidth.
    pub network_performance_options: Option<NetworkPerformance>,
    /// Private DNS names.
    pub private_dns_name_options: Option<PrivateDns>,
    /// Capacity Reservations.
    pub capacity_reservation_specification: Option<Reservation>,
    /// License configurations.
    pub license_specifications: Vec<License>,
    /// Whether instances are optimized for EBS.
    pub ebs_optimized: Option<bool>,
    /// `stop` or `terminate`.
    pub instance_initiated_shutdown_behavior: Option<String>,
    /// Kernel.
    pub kernel_id: Option<String>,
    /// RAM disk.
    pub ram_disk_id: Option<String>,
    /// What EC2 does with impaired instances.
    pub maintenance_options: Option<Maintenance>,
    /// Stop protection.
    pub disable_api_stop: Option<bool>,
    /// Termination protection.
    pub disable_api_termination: Option<bool>,
    /// Interfaces in secondary networks.
    pub secondary_interfaces: Vec<SecondaryInterface>,
    /// All other settings.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// An instance profile by name or ARN.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Profile {
    /// Its ARN.
    pub arn: Option<String>,
    /// Its name.
    pub name: Option<String>,
}

/// A network interface.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Interface {
    /// Its network card.
    pub network_card_index: Option<u32>,
    /// Its place among the interfaces.
    pub device_index: Option<i64>,
    /// `interface`, `efa` or `efa-only`.
    pub interface_type: Option<String>,
    /// Whether it is deleted with its instance.
    pub delete_on_termination: Option<bool>,
    /// Ids of its security groups.
    pub groups: Vec<String>,
    /// Whether it has a public IPv4 address.
    pub associate_public_ip_address: Option<bool>,
    /// All other settings.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// A volume by its device.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Mapping {
    /// The device.
    pub device_name: String,
    /// Set if a device of the image is left out.
    pub no_device: Option<String>,
    /// The instance store volume.
    pub virtual_name: Option<String>,
    /// The volume; none for an instance store.
    pub ebs: Option<Ebs>,
}

/// An EBS volume.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Ebs {
    /// GiB.
    pub volume_size: Option<i32>,
    /// Its type.
    pub volume_type: Option<String>,
    /// Provisioned I/O operations per second.
    pub iops: Option<i32>,
    /// Provisioned throughput, MiB/s.
    pub throughput: Option<i32>,
    /// Whether it is encrypted.
    pub encrypted: Option<bool>,
    /// KMS key of the encryption.
    pub kms_key_id: Option<String>,
    /// Whether it is deleted with its instance.
    pub delete_on_termination: Option<bool>,
    /// Snapshot that it is created from.
    pub snapshot_id: Option<String>,
    /// How fast EBS reads that, MiB/s.
    pub volume_initialization_rate: Option<i32>,
    /// The EBS card that it is attached to.
    pub ebs_card_index: Option<i32>,
    /// All other settings.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// Options of the instance metadata service.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Metadata {
    /// `required` or `optional`.
    pub http_tokens: Option<String>,
    /// How many network hops a response may travel.
    pub http_put_response_hop_limit: Option<i32>,
    /// Whether the service responds.
    pub http_endpoint: Option<String>,
    /// Whether it has an IPv6 address.
    pub http_protocol_ipv6: Option<String>,
    /// Whether it has the instance's tags.
    pub instance_metadata_tags: Option<String>,
}

/// Something that is on or off.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Enabled {
    /// Whether it is on.
    pub enabled: bool,
}

/// Where instances are.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Placement {
    /// `default`, `dedicated` or `host`.
    pub tenancy: Option<String>,
    /// Name of the placement group.
    pub group_name: Option<String>,
    /// Its id.
    pub group_id: Option<String>,
    /// Partition of the placement group.
    pub partition_number: Option<i32>,
    /// ARN of the host resource group.
    pub host_resource_group_arn: Option<String>,
    /// All other settings.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// Which Capacity Reservations instances use.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Reservation {
    /// `open`, `none` or `capacity-reservations-only`.
    pub capacity_reservation_preference: Option<String>,
    /// Certain ones.
    pub capacity_reservation_target: Option<Target>,
}

/// Certain Capacity Reservations.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Target {
    /// Id of one.
    pub capacity_reservation_id: Option<String>,
    /// ARN of a resource group of some.
    pub capacity_reservation_resource_group_arn: Option<String>,
}

/// A license configuration.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct License {
    /// Its ARN.
    pub license_configuration_arn: Option<String>,
}

/// Processors.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Cpu {
    /// Number of cores.
    pub core_count: Option<i32>,
    /// Threads of each.
    pub threads_per_core: Option<i32>,
    /// `enabled` or `disabled`.
    pub amd_sev_snp: Option<String>,
    /// `enabled` or `disabled`.
    pub nested_virtualization: Option<String>,
    /// All other settings.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// What EC2 does with impaired instances.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Maintenance {
    /// `default` or `disabled`.
    pub auto_recovery: Option<String>,
    /// All other settings.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// An interface in a secondary network.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct SecondaryInterface {
    /// Its place among the interfaces of its network card.
    pub device_index: Option<i32>,
    /// Its network card.
    pub network_card_index: Option<i32>,
    /// Number of its private IPv4 addresses.
    pub private_ip_address_count: Option<i32>,
    /// Its subnet.
    pub secondary_subnet_id: Option<String>,
    /// Always `secondary`.
    pub interface_type: Option<String>,
    /// Always true.
    pub delete_on_termination: Option<bool>,
    /// All other settings.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// Burstable instances.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Credits {
    /// `standard` or `unlimited`.
    pub cpu_credits: Option<String>,
}

/// Bandwidth.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct NetworkPerformance {
    /// `default`, `vpc-1` or `ebs-1`.
    pub bandwidth_weighting: Option<String>,
}

/// Private DNS names.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct PrivateDns {
    /// `ip-name` or `resource-name`.
    pub hostname_type: Option<String>,
    /// Whether the name with the instance's id resolves to its IPv4 address.
    pub enable_resource_name_dns_a_record: Option<bool>,
    /// Whether it resolves to its IPv6 address.
    #[serde(rename = "EnableResourceNameDnsAAAARecord")]
    pub enable_resource_name_dns_aaaa_record: Option<bool>,
}

/// The market of instances.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Market {
    /// `spot`, or another market.
    pub market_type: Option<String>,
    /// Options of spot instances.
    pub spot_options: Option<SpotOptions>,
}

/// Options of spot instances.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct SpotOptions {
    /// Highest price, in US dollars per hour.
    pub max_price: Option<String>,
    /// All other settings.
    #[serde(flatten)]
    pub others: BTreeMap<String, Value>,
}

/// Tags of one type of resource.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Tags {
    /// The type.
    pub resource_type: String,
    /// The tags.
    pub tags: Vec<Tag>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_data_is_in_no_debug_output() {
        let data: TemplateData = serde_json::from_str(r#"{"UserData": "c2VjcmV0"}"#).unwrap();
        assert!(data.user_data.is_some() && !format!("{data:?}").contains("c2VjcmV0"));
    }
}
