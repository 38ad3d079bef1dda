//! Instance types and images.

use super::tags;
use crate::core::catalogue::{Image, InterfaceLimits, TypeInfo};
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use crate::request::params::Params;
use crate::wire::filters::Filters;
use crate::wire::operation::Caller;
use crate::wire::paging::{Page, Paging};
use crate::wire::xml::Xml;
use foo_model::{ImageId, InstanceType};
use std::collections::BTreeMap;

const TYPES: Paging = Paging { limit: "MaxResults", default: 100, min: 5, max: 100 };
const IMAGES: Paging = Paging { limit: "MaxResults", default: 1_000, min: 1, max: 1_000 };

pub(super) fn instance_types(
    region: &mut Region,
    params: &Params,
    _: &Caller<'_>,
    xml: &mut Xml,
) -> AwsResult<()> {
    let page = Page::of(params, &TYPES)?;
    let wanted: Vec<InstanceType> =
        params.texts("InstanceType").into_iter().map(InstanceType::from).collect();
    if wanted.len() > 100 {
        return Err(AwsError::invalid_value("You can specify up to 100 instance types."));
    }
    region.types_by_name(&wanted)?;
    let filters = Filters::ec2(params)?.only(&["instance-type", "processor-info.supported-architecture"])?;
    let none = BTreeMap::new();
    let entries = region
        .types
        .values()
        .filter(|info| wanted.is_empty() || wanted.contains(&info.name))
        .filter(|info| {
            filters.match_with(&none, |name| match name {
                "instance-type" => vec![info.name.as_str()],
                _ => vec![info.architecture.as_str()],
            })
        })
        .filter(|info| page.after.as_deref().is_none_or(|after| info.name.as_str() > after));
    let (found, next) = page.take(entries, |info| info.name.to_string());
    xml.list("instanceTypeSet", "item", found, write_type);
    xml.optional("nextToken", next);
    Ok(())
}

fn write_type(xml: &mut Xml, info: &TypeInfo) {
    xml.text("instanceType", info.name.as_str());
    xml.text("currentGeneration", "true");
    xml.text("freeTierEligible", "false");
    xml.texts("supportedUsageClasses", "item", ["on-demand", "spot"]);
    xml.texts("supportedRootDeviceTypes", "item", ["ebs"]);
    xml.texts("supportedVirtualizationTypes", "item", ["hvm"]);
    xml.text("bareMetal", "false");
    xml.text("hypervisor", "nitro");
    xml.within("processorInfo", |xml| xml.texts("supportedArchitectures", "item", [&info.architecture]));
    xml.within("vCpuInfo", |xml| {
        xml.value("defaultVCpus", info.vcpus);
        xml.value("defaultCores", info.cores);
        xml.optional("defaultThreadsPerCore", info.vcpus.checked_div(info.cores));
    });
    xml.within("memoryInfo", |xml| xml.value("sizeInMiB", info.memory_mib));
    xml.value("instanceStorageSupported", info.disks.is_some());
    if let Some(disks) = &info.disks {
        xml.within("instanceStorageInfo", |xml| {
            xml.value("totalSizeInGB", disks.size_gb.saturating_mul(u64::from(disks.count)));
            xml.list("disks", "item", [disks], |xml, disks| {
                xml.value("sizeInGB", disks.size_gb);
                xml.value("count", disks.count);
                xml.text("type", "ssd");
            });
            xml.text("nvmeSupport", "required");
        });
    }
    if let Some(gpu) = &info.gpu {
        xml.within("gpuInfo", |xml| {
            xml.list("gpus", "item", [gpu], |xml, gpu| {
                xml.text("name", &gpu.name);
                xml.text("manufacturer", &gpu.manufacturer);
                xml.value("count", gpu.count);
                xml.within("memoryInfo", |xml| xml.value("sizeInMiB", gpu.memory_mib));
            });
            xml.value("totalGpuMemoryInMiB", gpu.memory_mib.saturating_mul(gpu.count));
        });
    }
    xml.within("networkInfo", |xml| {
        xml.value("maximumNetworkCards", info.network_cards);
        xml.value("defaultNetworkCardIndex", 0);
        if let Some(InterfaceLimits { per_card, ipv4_addresses }) = info.interfaces {
            xml.value("maximumNetworkInterfaces", per_card.saturating_mul(info.network_cards));
            xml.value("ipv4AddressesPerInterface", ipv4_addresses);
            xml.list("networkCards", "item", 0..info.network_cards, |xml, index| {
                xml.value("networkCardIndex", index);
                xml.value("maximumNetworkInterfaces", per_card);
            });
        }
        xml.value("efaSupported", info.efa_interfaces > 0);
        if info.efa_interfaces > 0 {
            xml.within("efaInfo", |xml| xml.value("maximumEfaInterfaces", info.efa_interfaces));
        }
        if !info.bandwidth_weightings.is_empty() {
            let weightings = info.bandwidth_weightings.iter().map(<&str>::from);
            xml.texts("bandwidthWeightings", "item", weightings);
        }
    });
    xml.value("burstablePerformanceSupported", info.burstable);
}

pub(super) fn images(region: &mut Region, params: &Params, _: &Caller<'_>, xml: &mut Xml) -> AwsResult<()> {
    let page = Page::of(params, &IMAGES)?;
    let ids: Vec<ImageId> = params.texts("ImageId").into_iter().map(ImageId::from).collect();
    region.images_by_id(&ids)?;
    let owners = params.texts("Owner");
    let of_owner = |image: &Image| {
        owners.is_empty()
            || owners.iter().any(|owner| owner == &image.owner || matches!(owner.as_str(), "self" | "amazon"))
    };
    let filters = Filters::ec2(params)?.only(&["architecture", "image-id", "name", "owner-id", "state"])?;
    let entries = region
        .images
        .values()
        .filter(|image| ids.is_empty() || ids.contains(&image.id))
        .filter(|image| of_owner(image))
        .filter(|image| {
            filters.match_with(&image.tags, |name| {
                vec![match name {
                    "architecture" => image.architecture.as_str(),
                    "image-id" => image.id.as_str(),
                    "name" => image.name.as_str(),
                    "owner-id" => image.owner.as_str(),
                    _ => image_state(image),
                }]
            })
        })
        .filter(|image| page.after.as_deref().is_none_or(|after| image.id.as_str() > after));
    let (found, next) = page.take(entries, |image| image.id.to_string());
    xml.list("imagesSet", "item", found, write_image);
    xml.optional("nextToken", next);
    Ok(())
}

fn image_state(image: &Image) -> &'static str {
    if image.available { "available" } else { "deregistered" }
}

fn write_image(xml: &mut Xml, image: &Image) {
    xml.text("imageId", image.id.as_str());
    xml.value("imageLocation", format!("{}/{}", image.owner, image.name));
    xml.text("imageState", image_state(image));
    xml.text("imageOwnerId", &image.owner);
    xml.text("creationDate", &image.created);
    xml.text("isPublic", "true");
    xml.text("architecture", &image.architecture);
    xml.text("imageType", "machine");
    xml.text("name", &image.name);
    xml.text("rootDeviceType", "ebs");
    xml.text("rootDeviceName", &image.root_device);
    xml.list("blockDeviceMapping", "item", [image], |xml, image| {
        xml.text("deviceName", &image.root_device);
        xml.within("ebs", |xml| {
            xml.value("volumeSize", image.root_gib);
            xml.text("volumeType", "gp3");
            xml.text("deleteOnTermination", "true");
            xml.text("encrypted", "false");
        });
    });
    xml.text("virtualizationType", "hvm");
    xml.text("hypervisor", "xen");
    xml.text("enaSupport", "true");
    tags::write(xml, &image.tags);
}
