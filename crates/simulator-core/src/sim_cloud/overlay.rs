//! The overlay of a launch template as launch template data, in the names of EC2's responses.

use crate::core::document::Document;
use foo_model::{Device, Overlay, SecondaryInterface, Volume};

/// Sets the overlay, except its parts of CPU options and of block device mappings.
pub(super) fn over(document: &mut Document, overlay: &Overlay) {
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
    let recovery =
        auto_recovery.map(|it| Document::map().with("autoRecovery", Some(Document::text(<&str>::from(it)))));
    let behavior = shutdown_behavior.map(|it| Document::text(<&str>::from(it)));
    let interfaces: Vec<Document> = secondary_interfaces.iter().map(secondary_interface).collect();
    let interfaces = (!interfaces.is_empty()).then_some(Document::List(interfaces));
    for (field, value) in [
        ("ebsOptimized", ebs_optimized.map(Document::text)),
        ("instanceInitiatedShutdownBehavior", behavior),
        ("kernelId", kernel.as_ref().map(Document::text)),
        ("ramDiskId", ram_disk.as_ref().map(Document::text)),
        ("maintenanceOptions", recovery),
        ("disableApiStop", stop_protection.map(Document::text)),
        ("disableApiTermination", termination_protection.map(Document::text)),
        ("secondaryInterfaceSet", interfaces),
    ] {
        if let Some(value) = value {
            document.set(field, value);
        }
    }
}

/// The devices that are none of these volumes.
pub(super) fn other_devices(overlay: &Overlay, volumes: &[Volume]) -> impl Iterator<Item = Document> {
    overlay.devices.iter().filter_map(|(name, device)| {
        let named = Document::map().with("deviceName", Some(Document::text(name)));
        match device {
            Device::Omitted => Some(named.with("noDevice", Some(Document::text("")))),
            Device::InstanceStore(virtual_name) => {
                Some(named.with("virtualName", Some(Document::text(virtual_name))))
            }
            Device::OnEbsCard(_) if volumes.iter().any(|it| it.device == *name) => None,
            Device::OnEbsCard(card) => {
                let ebs = Document::map().with("ebsCardIndex", Some(Document::text(card)));
                Some(named.with("ebs", Some(ebs)))
            }
        }
    })
}

fn secondary_interface(interface: &SecondaryInterface) -> Document {
    let SecondaryInterface { subnet, device, card, addresses } = interface;
    Document::map()
        .with("interfaceType", Some(Document::text(SecondaryInterface::KIND)))
        .with("secondarySubnetId", Some(Document::text(subnet)))
        .with("deviceIndex", device.map(Document::text))
        .with("networkCardIndex", card.map(Document::text))
        .with("privateIpAddressCount", addresses.map(Document::text))
        .with("deleteOnTermination", Some(Document::text(true)))
}
