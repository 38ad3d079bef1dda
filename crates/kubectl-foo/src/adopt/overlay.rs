//! What a launch template has that only the overlay of a FooMachinePool has.

use super::found::Found;
use super::options::{known, named};
use super::template::{Cpu, Maintenance, Mapping, SecondaryInterface, TemplateData};
use foo_api::FooMachinePoolSpec;
use foo_api::pool::{
    self as api, AutoRecovery, BlockDeviceMapping, CpuOptionsOverlay, EbsBlockDevice, LaunchTemplateOverlay,
    MaintenanceOptions, ShutdownBehavior, Switch, TagSpecification, TaggedResource,
};
use std::collections::BTreeMap;

/// The spec with these settings of the launch template that the group launches from. What has EC2's default is left out, and what
/// no FooMachinePool can have is named.
pub(super) fn with_overlay(
    spec: FooMachinePoolSpec,
    found: &Found,
    interface_tags: &BTreeMap<String, String>,
    differences: &mut Vec<String>,
) -> FooMachinePoolSpec {
    let data = &found.template.launch_template_data;
    let behavior = data.instance_initiated_shutdown_behavior.as_deref();
    let behavior: Option<ShutdownBehavior> =
        known(behavior, "InstanceInitiatedShutdownBehavior", differences);
    let overlay = LaunchTemplateOverlay {
        block_device_mappings: data.block_device_mappings.iter().filter_map(device).collect(),
        cpu_options: data.cpu_options.as_ref().and_then(|it| cpu_options(it, differences)),
        disable_api_stop: stop_protection(found, differences),
        disable_api_termination: termination_protection(&spec, data, differences),
        ebs_optimized: data.ebs_optimized.filter(|it| *it),
        instance_initiated_shutdown_behavior: behavior.filter(|it| *it == ShutdownBehavior::Terminate),
        kernel_id: data.kernel_id.clone(),
        maintenance_options: data.maintenance_options.as_ref().and_then(|it| maintenance(it, differences)),
        ram_disk_id: data.ram_disk_id.clone(),
        secondary_interfaces: data
            .secondary_interfaces
            .iter()
            .filter_map(|it| secondary_interface(it, differences))
            .collect(),
        tag_specifications: tag_specification(interface_tags).into_iter().collect(),
    };
    let overlay = Some(overlay).filter(|it| *it != LaunchTemplateOverlay::default());
    FooMachinePoolSpec { launch_template_overlay: overlay, ..spec }
}

/// Whether this is the name of an instance store volume, as EC2 has them.
pub(super) fn is_instance_store(virtual_name: Option<&str>) -> bool {
    let number = virtual_name.and_then(|name| name.strip_prefix("ephemeral"));
    number.and_then(|number| number.parse::<u8>().ok()).is_some_and(|number| number < 24)
}

fn device(mapping: &Mapping) -> Option<BlockDeviceMapping> {
    let Mapping { device_name, no_device, virtual_name, ebs } = mapping;
    let card = ebs.as_ref().and_then(|it| it.ebs_card_index);
    let is_left_out = ebs.is_none() && no_device.is_some();
    let device = BlockDeviceMapping {
        device_name: device_name.clone(),
        ebs: card.map(|ebs_card_index| EbsBlockDevice { ebs_card_index }),
        no_device: is_left_out.then(String::new),
        virtual_name: virtual_name
            .clone()
            .filter(|name| ebs.is_none() && !is_left_out && is_instance_store(Some(name.as_str()))),
    };
    let is_set = device.ebs.is_some() || device.no_device.is_some() || device.virtual_name.is_some();
    is_set.then_some(device)
}

fn cpu_options(cpu: &Cpu, differences: &mut Vec<String>) -> Option<CpuOptionsOverlay> {
    let nested: Option<Switch> =
        known(cpu.nested_virtualization.as_deref(), "NestedVirtualization", differences);
    let nested_virtualization = nested.filter(|it| *it == Switch::Enabled);
    nested_virtualization.is_some().then_some(CpuOptionsOverlay { nested_virtualization })
}

fn maintenance(options: &Maintenance, differences: &mut Vec<String>) -> Option<MaintenanceOptions> {
    let Maintenance { auto_recovery, others } = options;
    differences.extend(named("maintenance options", others));
    let recovery: Option<AutoRecovery> = known(auto_recovery.as_deref(), "AutoRecovery", differences);
    let auto_recovery = recovery.filter(|it| *it == AutoRecovery::Disabled);
    auto_recovery.is_some().then_some(MaintenanceOptions { auto_recovery })
}

/// The API takes it without a warm pool of stopped instances, and pools have no others after an adoption.
fn stop_protection(found: &Found, differences: &mut Vec<String>) -> Option<bool> {
    let is_set = found.template.launch_template_data.disable_api_stop == Some(true);
    let has_warm_pool = found.group.warm_pool_configuration.is_some();
    if is_set && has_warm_pool {
        differences.push("DisableApiStop: a FooMachinePool has it without a warm pool only".to_owned());
    }
    (is_set && !has_warm_pool).then_some(true)
}

/// The API takes it for on-demand instances only.
fn termination_protection(
    spec: &FooMachinePoolSpec,
    data: &TemplateData,
    differences: &mut Vec<String>,
) -> Option<bool> {
    let is_set = data.disable_api_termination == Some(true);
    let mixed = spec.mixed_instances.as_ref();
    let has_spot = spec.spot.is_some() || mixed.is_some_and(|mixed| mixed.on_demand_percentage < 100);
    if is_set && has_spot {
        differences
            .push("DisableApiTermination: a FooMachinePool has it for on-demand instances only".to_owned());
    }
    (is_set && !has_spot).then_some(true)
}

fn secondary_interface(
    interface: &SecondaryInterface,
    differences: &mut Vec<String>,
) -> Option<api::SecondaryInterface> {
    let SecondaryInterface {
        device_index,
        network_card_index,
        private_ip_address_count,
        secondary_subnet_id,
        interface_type: _,        // EC2 has one type.
        delete_on_termination: _, // EC2 deletes all of them.
        others,
    } = interface;
    differences.extend(named("secondary interface", others));
    Some(api::SecondaryInterface {
        device_index: *device_index,
        network_card_index: *network_card_index,
        private_ip_address_count: *private_ip_address_count,
        secondary_subnet_id: secondary_subnet_id.clone()?,
    })
}

fn tag_specification(tags: &BTreeMap<String, String>) -> Option<TagSpecification> {
    let tag = |(key, value): (&String, &String)| api::Tag { key: key.clone(), value: value.clone() };
    (!tags.is_empty()).then(|| TagSpecification {
        resource_type: TaggedResource::NetworkInterface,
        tags: tags.iter().map(tag).collect(),
    })
}
