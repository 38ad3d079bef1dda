//! The overlay of a launch template in AWS's types: what is set last, over everything else.

use crate::numbers::signed;
use aws_sdk_ec2::types as aws;
use aws_sdk_ec2::types::builders::RequestLaunchTemplateDataBuilder;
use foo_model::{Device, Overlay, SecondaryInterface, Volume};

/// The data with the overlay, except its parts of CPU options and of block device mappings.
pub(super) fn over(
    data: RequestLaunchTemplateDataBuilder,
    overlay: &Overlay,
) -> RequestLaunchTemplateDataBuilder {
    let Overlay {
        ebs_optimized,
        shutdown_behavior,
        kernel,
        ram_disk,
        auto_recovery,
        stop_protection,
        termination_protection,
        nested_virtualization: _, // Beside the other CPU options.
        devices: _,               // In `other_devices`, and with the volumes.
        secondary_interfaces,
    } = overlay;
    let recovery = auto_recovery.map(|it| {
        aws::LaunchTemplateInstanceMaintenanceOptionsRequest::builder()
            .auto_recovery(<&str>::from(it).into())
            .build()
    });
    let interfaces: Vec<_> = secondary_interfaces.iter().map(secondary_interface).collect();
    data.set_ebs_optimized(*ebs_optimized)
        .set_instance_initiated_shutdown_behavior(shutdown_behavior.map(|it| <&str>::from(it).into()))
        .set_kernel_id(kernel.clone())
        .set_ram_disk_id(ram_disk.clone())
        .set_maintenance_options(recovery)
        .set_disable_api_stop(*stop_protection)
        .set_disable_api_termination(*termination_protection)
        .set_secondary_interfaces((!interfaces.is_empty()).then_some(interfaces))
}

/// The devices that are none of these volumes.
pub(super) fn other_devices(
    overlay: &Overlay,
    volumes: &[Volume],
) -> impl Iterator<Item = aws::LaunchTemplateBlockDeviceMappingRequest> {
    overlay.devices.iter().filter_map(|(name, device)| {
        let built = aws::LaunchTemplateBlockDeviceMappingRequest::builder().device_name(name);
        let built = match device {
            Device::Omitted => built.no_device(""),
            Device::InstanceStore(virtual_name) => built.virtual_name(virtual_name),
            Device::OnEbsCard(_) if volumes.iter().any(|it| it.device == *name) => return None,
            Device::OnEbsCard(card) => {
                let ebs = aws::LaunchTemplateEbsBlockDeviceRequest::builder();
                built.ebs(ebs.ebs_card_index(signed(*card)).build())
            }
        };
        Some(built.build())
    })
}

fn secondary_interface(
    interface: &SecondaryInterface,
) -> aws::LaunchTemplateInstanceSecondaryInterfaceSpecificationRequest {
    let SecondaryInterface { subnet, device, card, addresses } = interface;
    aws::LaunchTemplateInstanceSecondaryInterfaceSpecificationRequest::builder()
        .interface_type(SecondaryInterface::KIND.into())
        .secondary_subnet_id(subnet)
        .set_device_index(device.map(signed))
        .set_network_card_index(card.map(signed))
        .set_private_ip_address_count(addresses.map(signed))
        .delete_on_termination(true)
        .build()
}
