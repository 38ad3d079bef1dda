//! The overlay of the launch template, from the spec to the settings that it consists of.

use foo_api::pool::{
    self as api, BlockDeviceMapping, FooMachinePoolSpec, LaunchTemplateOverlay, Switch, TagSpecification,
    TaggedResource,
};
use foo_api::shared::unsigned;
use foo_model::{AutoRecovery, Device, Overlay, SecondaryInterface, ShutdownBehavior};
use std::collections::BTreeMap;

/// What replaces instances when it changes: everything except tags.
pub(super) fn overlay(spec: &FooMachinePoolSpec) -> Overlay {
    let Some(overlay) = &spec.launch_template_overlay else { return Overlay::default() };
    let LaunchTemplateOverlay {
        block_device_mappings,
        cpu_options,
        disable_api_stop,
        disable_api_termination,
        ebs_optimized,
        instance_initiated_shutdown_behavior,
        kernel_id,
        maintenance_options,
        ram_disk_id,
        secondary_interfaces,
        tag_specifications: _, // In `interface_tags`.
    } = overlay;
    let nested =
        cpu_options.and_then(|api::CpuOptionsOverlay { nested_virtualization }| nested_virtualization);
    let recovery = maintenance_options.and_then(|api::MaintenanceOptions { auto_recovery }| auto_recovery);
    Overlay {
        ebs_optimized: *ebs_optimized,
        shutdown_behavior: instance_initiated_shutdown_behavior.map(|it| match it {
            api::ShutdownBehavior::Stop => ShutdownBehavior::Stop,
            api::ShutdownBehavior::Terminate => ShutdownBehavior::Terminate,
        }),
        kernel: kernel_id.clone(),
        ram_disk: ram_disk_id.clone(),
        auto_recovery: recovery.map(|it| match it {
            api::AutoRecovery::Default => AutoRecovery::Default,
            api::AutoRecovery::Disabled => AutoRecovery::Disabled,
        }),
        stop_protection: *disable_api_stop,
        termination_protection: *disable_api_termination,
        nested_virtualization: nested.map(|it| it == Switch::Enabled),
        devices: block_device_mappings.iter().filter_map(device).collect(),
        secondary_interfaces: secondary_interfaces.iter().map(secondary_interface).collect(),
    }
}

/// Tags of network interfaces that the overlay names.
pub(super) fn interface_tags(spec: &FooMachinePoolSpec) -> BTreeMap<String, String> {
    let specifications = spec.launch_template_overlay.iter().flat_map(|it| &it.tag_specifications);
    let tags = specifications.flat_map(|TagSpecification { resource_type, tags }| match resource_type {
        TaggedResource::NetworkInterface => tags,
    });
    tags.map(|api::Tag { key, value }| (key.clone(), value.clone())).collect()
}

/// Ids of the secondary subnets that it names.
pub(super) fn secondary_subnets(spec: &FooMachinePoolSpec) -> impl Iterator<Item = &str> {
    let interfaces = spec.launch_template_overlay.iter().flat_map(|it| &it.secondary_interfaces);
    interfaces.map(|it| it.secondary_subnet_id.as_str())
}

/// The schema has exactly one of the three.
fn device(mapping: &BlockDeviceMapping) -> Option<(String, Device)> {
    let BlockDeviceMapping { device_name, ebs, no_device, virtual_name } = mapping;
    let on_card =
        ebs.map(|api::EbsBlockDevice { ebs_card_index }| Device::OnEbsCard(unsigned(ebs_card_index)));
    let omitted = || no_device.as_ref().map(|_| Device::Omitted);
    let of_instance = || virtual_name.clone().map(Device::InstanceStore);
    Some((device_name.clone(), on_card.or_else(omitted).or_else(of_instance)?))
}

fn secondary_interface(interface: &api::SecondaryInterface) -> SecondaryInterface {
    let api::SecondaryInterface {
        device_index,
        network_card_index,
        private_ip_address_count,
        secondary_subnet_id,
    } = interface;
    SecondaryInterface {
        subnet: secondary_subnet_id.clone(),
        device: device_index.map(unsigned),
        card: network_card_index.map(unsigned),
        addresses: private_ip_address_count.map(unsigned),
    }
}
