//! Launch templates in AWS's types and in those of `foo-model`.

use super::overlay;
use crate::error::Gap;
use crate::numbers::signed;
use aws_sdk_ec2::types as aws;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use foo_cloud::{TemplateSummary, VersionCopy};
use foo_model::{
    AwsTime, CapacityReservation, Cores, InstanceOptions, LaunchTemplateId, MetadataOptions,
    NetworkInterface, Placement, PlacementGroup, PrivateDns, SecurityGroupId, SpotOptions, TemplateContent,
    TemplateHashes, TemplateRecord, TemplateVersion, Tenancy, UserData, Volume,
};
use std::collections::BTreeMap;

/// The data that instances are launched from.
///
/// Security groups are at the top level, or in each network interface if there are some.
pub(super) fn data(content: &TemplateContent) -> aws::RequestLaunchTemplateData {
    let TemplateContent {
        image,
        arm64_image: _, // Of overrides of the group.
        instance_type,
        security_groups,
        instance_profile,
        key_name,
        volumes,
        metadata,
        spot,
        options,
        user_data,
        tags,
        interface_tags,
    } = content;
    let InstanceOptions {
        detailed_monitoring,
        public_address: _, // Of the network interfaces.
        tenancy,
        cores,
        amd_sev_snp,
        cpu_credits,
        nitro_enclaves,
        private_dns,
        placement,
        capacity_reservation,
        license_configurations,
        efa: _, // Of the network interfaces.
        bandwidth_weighting,
        overlay,
        interfaces: _, // Of the network interfaces.
    } = options;
    let interfaces = non_empty(options.network_interfaces(security_groups).map(interface));
    let profile = instance_profile
        .as_ref()
        .map(|name| aws::LaunchTemplateIamInstanceProfileSpecificationRequest::builder().name(name).build());
    let of_spec = volumes.iter().map(|it| volume(it, overlay.ebs_card(&it.device)));
    let data = aws::RequestLaunchTemplateData::builder()
        .image_id(image.as_str())
        .set_instance_type(instance_type.as_ref().map(|name| name.as_str().into()))
        .set_security_group_ids(ids(security_groups).filter(|_| interfaces.is_none()))
        .set_network_interfaces(interfaces)
        .set_iam_instance_profile(profile)
        .set_key_name(key_name.clone())
        .set_block_device_mappings(non_empty(of_spec.chain(overlay::other_devices(overlay, volumes))))
        .metadata_options(metadata_options(*metadata))
        .set_instance_market_options(market_options(spot.as_ref(), capacity_reservation.as_ref()))
        .set_monitoring(
            detailed_monitoring
                .then(|| aws::LaunchTemplatesMonitoringRequest::builder().enabled(true).build()),
        )
        .set_placement(placement_of(*tenancy, placement.as_ref()))
        .set_capacity_reservation_specification(capacity_reservation.as_ref().map(reservation))
        .set_license_specifications(non_empty(license_configurations.iter().map(|arn| {
            aws::LaunchTemplateLicenseConfigurationRequest::builder().license_configuration_arn(arn).build()
        })))
        .set_cpu_options(cpu_options(*cores, *amd_sev_snp, overlay.nested_virtualization))
        .set_credit_specification(cpu_credits.map(|credits| {
            aws::CreditSpecificationRequest::builder().cpu_credits(<&str>::from(credits)).build()
        }))
        .set_enclave_options(
            nitro_enclaves.then(|| aws::LaunchTemplateEnclaveOptionsRequest::builder().enabled(true).build()),
        )
        .set_private_dns_name_options(private_dns_names(*private_dns))
        .set_network_performance_options(bandwidth_weighting.map(|weighting| {
            aws::LaunchTemplateNetworkPerformanceOptionsRequest::builder()
                .bandwidth_weighting(<&str>::from(weighting).into())
                .build()
        }))
        .set_user_data(encoded(user_data))
        .set_tag_specifications(non_empty(tag_specifications(tags, interface_tags)));
    overlay::over(data, overlay).build()
}

/// The fields that a copied version replaces; EC2 takes the rest from the source.
pub(super) fn replaced(
    copy: &VersionCopy<'_>,
    interface_tags: &BTreeMap<String, String>,
) -> aws::RequestLaunchTemplateData {
    let VersionCopy { from: _, user_data, tags } = copy;
    aws::RequestLaunchTemplateData::builder()
        .set_user_data(encoded(user_data))
        .set_tag_specifications(non_empty(tag_specifications(tags, interface_tags)))
        .build()
}

/// The tags of network interfaces of a version.
pub(super) fn interface_tags(version: &aws::LaunchTemplateVersion) -> BTreeMap<String, String> {
    let data = version.launch_template_data();
    let specifications = data.map(aws::ResponseLaunchTemplateData::tag_specifications).unwrap_or_default();
    let of_interfaces =
        specifications.iter().filter(|it| it.resource_type() == Some(&aws::ResourceType::NetworkInterface));
    of_interfaces.flat_map(aws::LaunchTemplateTagSpecification::tags).filter_map(tag).collect()
}

fn tag(tag: &aws::Tag) -> Option<(String, String)> {
    Some((tag.key()?.to_owned(), tag.value().unwrap_or_default().to_owned()))
}

fn encoded(data: &UserData) -> Option<String> {
    (!data.0.is_empty()).then(|| BASE64_STANDARD.encode(&data.0))
}

fn ids(groups: &[SecurityGroupId]) -> Option<Vec<String>> {
    non_empty(groups.iter().map(|id| id.as_str().to_owned()))
}

fn interface(
    interface: NetworkInterface<'_>,
) -> aws::LaunchTemplateInstanceNetworkInterfaceSpecificationRequest {
    let NetworkInterface { device, card, kind, public, groups } = interface;
    aws::LaunchTemplateInstanceNetworkInterfaceSpecificationRequest::builder()
        .device_index(signed(device))
        .set_network_card_index(card.map(signed))
        .set_interface_type(kind.map(str::to_owned))
        .set_associate_public_ip_address(public)
        .delete_on_termination(true)
        .set_groups(ids(groups))
        .build()
}

fn cpu_options(
    cores: Option<Cores>,
    snp: Option<bool>,
    nested: Option<bool>,
) -> Option<aws::LaunchTemplateCpuOptionsRequest> {
    let snp = snp.map(|on| {
        if on { aws::AmdSevSnpSpecification::Enabled } else { aws::AmdSevSnpSpecification::Disabled }
    });
    let nested = nested.map(|on| {
        if on {
            aws::NestedVirtualizationSpecification::Enabled
        } else {
            aws::NestedVirtualizationSpecification::Disabled
        }
    });
    (cores.is_some() || snp.is_some() || nested.is_some()).then(|| {
        aws::LaunchTemplateCpuOptionsRequest::builder()
            .set_core_count(cores.map(|it| signed(it.count)))
            .set_threads_per_core(cores.map(|it| signed(it.threads)))
            .set_amd_sev_snp(snp)
            .set_nested_virtualization(nested)
            .build()
    })
}

/// Instances in a host resource group have the tenancy `host` (EC2 API Reference, LaunchTemplatePlacementRequest).
fn placement_of(
    tenancy: Option<Tenancy>,
    placement: Option<&Placement>,
) -> Option<aws::LaunchTemplatePlacementRequest> {
    let built = aws::LaunchTemplatePlacementRequest::builder();
    let built = built.set_tenancy(tenancy.map(|tenancy| <&str>::from(tenancy).into()));
    let built = match placement {
        None => built,
        Some(Placement::Group { group, partition }) => {
            let built = built.set_partition_number(partition.map(signed));
            match group {
                PlacementGroup::Name(name) => built.group_name(name),
                PlacementGroup::Id(id) => built.group_id(id),
            }
        }
        Some(Placement::HostResourceGroup(arn)) => {
            built.tenancy(aws::Tenancy::Host).host_resource_group_arn(arn)
        }
    };
    (tenancy.is_some() || placement.is_some()).then(|| built.build())
}

fn reservation(
    reservation: &CapacityReservation,
) -> aws::LaunchTemplateCapacityReservationSpecificationRequest {
    let built = aws::LaunchTemplateCapacityReservationSpecificationRequest::builder();
    let target = aws::CapacityReservationTarget::builder();
    let built = match reservation {
        CapacityReservation::Preference(preference) => {
            built.capacity_reservation_preference(<&str>::from(preference).into())
        }
        CapacityReservation::Id(id) | CapacityReservation::Block(id) => {
            built.capacity_reservation_target(target.capacity_reservation_id(id).build())
        }
        CapacityReservation::ResourceGroup(arn) => {
            let target = target.capacity_reservation_resource_group_arn(arn).build();
            built.capacity_reservation_target(target)
        }
    };
    built.build()
}

fn private_dns_names(names: PrivateDns) -> Option<aws::LaunchTemplatePrivateDnsNameOptionsRequest> {
    let PrivateDns { hostname, a_record, aaaa_record } = names;
    (names != PrivateDns::default()).then(|| {
        aws::LaunchTemplatePrivateDnsNameOptionsRequest::builder()
            .set_hostname_type(hostname.map(|it| <&str>::from(it).into()))
            .set_enable_resource_name_dns_a_record(a_record)
            .set_enable_resource_name_dns_aaaa_record(aaaa_record)
            .build()
    })
}

/// An EBS volume, on this EBS card.
fn volume(volume: &Volume, card: Option<u32>) -> aws::LaunchTemplateBlockDeviceMappingRequest {
    let Volume {
        device,
        size_gib,
        kind,
        iops,
        throughput,
        encrypted,
        kms_key,
        outlives_instance,
        snapshot,
        initialization_rate,
    } = volume;
    let ebs = aws::LaunchTemplateEbsBlockDeviceRequest::builder()
        .volume_size(signed(*size_gib))
        .volume_type(kind.name().into())
        .set_iops(iops.map(signed))
        .set_throughput(throughput.map(signed))
        .set_encrypted(*encrypted)
        .set_kms_key_id(kms_key.clone())
        .set_snapshot_id(snapshot.clone())
        .set_volume_initialization_rate(initialization_rate.map(signed))
        .set_ebs_card_index(card.map(signed))
        .delete_on_termination(!outlives_instance)
        .build();
    aws::LaunchTemplateBlockDeviceMappingRequest::builder().device_name(device).ebs(ebs).build()
}

/// Tags in the metadata are explicitly off: for fields that a template leaves out the account's defaults
/// apply, and with tags in the metadata EC2 refuses to launch with tag keys like the provider's, which contain a slash
/// (EC2 User Guide, "View tags for your EC2 instances using instance metadata").
fn metadata_options(options: MetadataOptions) -> aws::LaunchTemplateInstanceMetadataOptionsRequest {
    let MetadataOptions { tokens_required, hop_limit, disabled, ipv6 } = options;
    let tokens = if tokens_required {
        aws::LaunchTemplateHttpTokensState::Required
    } else {
        aws::LaunchTemplateHttpTokensState::Optional
    };
    aws::LaunchTemplateInstanceMetadataOptionsRequest::builder()
        .http_endpoint(if disabled {
            aws::LaunchTemplateInstanceMetadataEndpointState::Disabled
        } else {
            aws::LaunchTemplateInstanceMetadataEndpointState::Enabled
        })
        .set_http_protocol_ipv6(ipv6.then_some(aws::LaunchTemplateInstanceMetadataProtocolIpv6::Enabled))
        .http_tokens(tokens)
        .http_put_response_hop_limit(signed(hop_limit))
        .instance_metadata_tags(aws::LaunchTemplateInstanceMetadataTagsState::Disabled)
        .build()
}

/// The market of the instances; on-demand instances have none. Instances in a Capacity Block have its own. Requests for spot
/// instances are one-time and end with the instance: the only kind Auto Scaling accepts.
fn market_options(
    spot: Option<&SpotOptions>,
    reservation: Option<&CapacityReservation>,
) -> Option<aws::LaunchTemplateInstanceMarketOptionsRequest> {
    let built = aws::LaunchTemplateInstanceMarketOptionsRequest::builder();
    if reservation.is_some_and(CapacityReservation::is_block) {
        return Some(built.market_type(aws::MarketType::CapacityBlock).build());
    }
    let SpotOptions { max_price } = spot?;
    let details =
        aws::LaunchTemplateSpotMarketOptionsRequest::builder().set_max_price(max_price.clone()).build();
    let details = max_price.is_some().then_some(details);
    Some(built.market_type(aws::MarketType::Spot).set_spot_options(details).build())
}

fn tag_specifications(
    wanted: &BTreeMap<String, String>,
    of_interfaces: &BTreeMap<String, String>,
) -> Vec<aws::LaunchTemplateTagSpecificationRequest> {
    let on = |resource: aws::ResourceType, wanted: &BTreeMap<String, String>| {
        (!wanted.is_empty()).then(|| {
            aws::LaunchTemplateTagSpecificationRequest::builder()
                .resource_type(resource)
                .set_tags(Some(tags(wanted)))
                .build()
        })
    };
    let all = [
        on(aws::ResourceType::Instance, wanted),
        on(aws::ResourceType::Volume, wanted),
        on(aws::ResourceType::NetworkInterface, of_interfaces),
    ];
    all.into_iter().flatten().collect()
}

pub(super) fn tags(tags: &BTreeMap<String, String>) -> Vec<aws::Tag> {
    tags.iter().map(|(key, value)| aws::Tag::builder().key(key).value(value).build()).collect()
}

pub(super) fn summary(template: &aws::LaunchTemplate) -> Result<TemplateSummary, Gap> {
    let tags = template.tags().iter();
    Ok(TemplateSummary {
        id: template.launch_template_id().map(LaunchTemplateId::from).ok_or(Gap("LaunchTemplateId"))?,
        name: template.launch_template_name().ok_or(Gap("LaunchTemplateName"))?.to_owned(),
        latest: template.latest_version_number().map(TemplateVersion).ok_or(Gap("LatestVersionNumber"))?,
        tags: tags.filter_map(tag).collect(),
    })
}

pub(super) fn record(version: &aws::LaunchTemplateVersion) -> Result<TemplateRecord, Gap> {
    let hashes = version.version_description().and_then(TemplateHashes::parse);
    let created = version.create_time().and_then(|time| time.to_millis().ok()).ok_or(Gap("CreateTime"))?;
    let number = version.version_number().map(TemplateVersion).ok_or(Gap("VersionNumber"))?;
    let is_default = version.default_version() == Some(true);
    Ok(TemplateRecord::new(number, hashes, is_default, AwsTime::from_millis(created)))
}

fn non_empty<T>(items: impl IntoIterator<Item = T>) -> Option<Vec<T>> {
    let items: Vec<T> = items.into_iter().collect();
    (!items.is_empty()).then_some(items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_never_shown_in_the_metadata_whatever_the_account_defaults_to() {
        for tokens_required in [true, false] {
            let options =
                metadata_options(MetadataOptions { tokens_required, ..MetadataOptions::with_tokens(2) });
            let said = options.instance_metadata_tags();
            assert_eq!(said, Some(&aws::LaunchTemplateInstanceMetadataTagsState::Disabled));
        }
    }
}
