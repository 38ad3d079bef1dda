//! EC2's rules for settings of a launch that depend on each other or on the instance type.

use super::launch_data::LaunchData;
use crate::core::catalogue::TypeInfo;
use crate::core::document::Document;
use crate::core::error::AwsError;
use std::collections::BTreeSet;

/// What EC2 would refuse in RunInstances. The codes are those of similar refusals **(A)**.
pub(crate) fn problem(data: &LaunchData, info: &TypeInfo) -> Option<AwsError> {
    let combination = |text: String| Some(AwsError::new("InvalidParameterCombination", text));
    let document = &data.document;
    let of_instance = |name| !document.get_list(&[name]).is_empty();
    // EC2 API Reference, RunInstances, NetworkInterface.N.
    if of_instance("networkInterfaceSet")
        && (of_instance("securityGroupIdSet") || of_instance("securityGroupSet"))
    {
        return combination(
            "Network interfaces and an instance-level security groups may not be specified on the same request"
                .to_owned(),
        );
    }
    // EC2 User Guide, "Rules for specifying CPU options".
    let cpu = |name: &str| document.get_text(&["cpuOptions", name]);
    let number = |name| cpu(name).map(|text| text.parse::<u32>().unwrap_or_default());
    match (number("coreCount"), number("threadsPerCore")) {
        (None, None) => {}
        (Some(cores), Some(threads)) => {
            let wanted = cores.saturating_mul(threads);
            if wanted == 0 || wanted > info.vcpus {
                return combination(format!(
                    "The CpuOptions with {cores} cores and {threads} threads per core are not valid for the instance type with \
                     {} vCPUs",
                    info.vcpus
                ));
            }
        }
        _ => {
            return combination("CpuOptions needs both CoreCount and ThreadsPerCore".to_owned());
        }
    }
    // EC2 API Reference, CreditSpecificationRequest: valid for T instances only.
    if document.get_text(&["creditSpecification", "cpuCredits"]).is_some() && !info.burstable {
        return Some(AwsError::new(
            "InstanceCreditSpecification.NotSupported",
            format!("The {} instance type does not support CPU credits", info.name),
        ));
    }
    // EC2 User Guide, "AMD SEV-SNP for Amazon EC2 instances".
    if cpu("amdSevSnp") == Some("enabled")
        && document.get_text(&["enclaveOptions", "enabled"]) == Some("true")
    {
        return combination("AMD SEV-SNP and Nitro Enclaves cannot be combined".to_owned());
    }
    bandwidth_weighting(document, info)
        .or_else(|| network_interfaces(document, info))
        .or_else(|| special_capacity(data))
        .or_else(|| nested_virtualization(document, info))
        .or_else(|| block_devices(document))
        .or_else(|| secondary_interfaces(document))
        .or_else(|| tagged_resources(document))
        .or_else(|| termination_protection(data))
}

/// EC2 User Guide, "Change instance termination protection". **(A)** The code and the text.
fn termination_protection(data: &LaunchData) -> Option<AwsError> {
    let is_protected = data.document.get_text(&["disableApiTermination"]) == Some("true");
    let text = "Spot Instances have no termination protection";
    (is_protected && data.is_spot()).then(|| AwsError::new("InvalidParameterCombination", text))
}

/// EC2 API Reference, LaunchTemplateCpuOptionsRequest: the types that have it. **(A)** The code and the text are like those for a
/// bandwidth weighting.
fn nested_virtualization(document: &Document, info: &TypeInfo) -> Option<AwsError> {
    let wanted = document.get_text(&["cpuOptions", "nestedVirtualization"]) == Some("enabled");
    let family = info.name.as_str().split(['.', '-']).next().unwrap_or_default();
    (wanted && !["c8i", "m8i", "r8i"].contains(&family)).then(|| {
        AwsError::new(
            "UnsupportedOperation",
            format!("The {} instance type does not support nested virtualization.", info.name),
        )
    })
}

/// **(A)** EC2 refuses a device name that is there twice.
fn block_devices(document: &Document) -> Option<AwsError> {
    let mut names = BTreeSet::new();
    let mappings = document.get_list(&["blockDeviceMappingSet"]);
    let mut devices = mappings.iter().filter_map(|it| it.get_text(&["deviceName"]));
    let twice = devices.find(|name| !names.insert(*name))?;
    let text = format!("The device '{twice}' is used in more than one block-device mapping");
    Some(AwsError::new("InvalidBlockDeviceMapping", text))
}

/// EC2 API Reference, LaunchTemplateInstanceSecondaryInterfaceSpecificationRequest: the only values of two fields. The codes are those
/// of similar refusals **(A)**.
fn secondary_interfaces(document: &Document) -> Option<AwsError> {
    document.get_list(&["secondaryInterfaceSet"]).iter().find_map(|interface| {
        let wrong = |field: &str, only: &str| {
            let value = interface.get_text(&[field])?;
            let text = format!("Value ({value}) for parameter {field} is invalid.");
            (value != only).then(|| AwsError::invalid_value(text))
        };
        wrong("deleteOnTermination", "true").or_else(|| wrong("interfaceType", "secondary"))
    })
}

/// EC2 API Reference, LaunchTemplateTagSpecificationRequest: what tags can be for.
fn tagged_resources(document: &Document) -> Option<AwsError> {
    let specifications = document.get_list(&["tagSpecificationSet"]);
    let mut kinds = specifications.iter().filter_map(|it| it.get_text(&["resourceType"]));
    let known = ["instance", "volume", "network-interface", "spot-instances-request"];
    let wrong = kinds.find(|kind| !known.contains(kind))?;
    Some(AwsError::invalid_value(format!(
        "'{wrong}' is not a valid taggable resource type for this operation."
    )))
}

/// EC2 User Guide, "EC2 instance bandwidth weighting configuration": the instance type has to support it; EC2 API Reference,
/// NetworkInfo: which weightings it supports. **(A)** That EC2 refuses all others, the code and the text are not documented: both are
/// like those for a type without CPU options.
fn bandwidth_weighting(document: &Document, info: &TypeInfo) -> Option<AwsError> {
    let wanted = document.get_text(&["networkPerformanceOptions", "bandwidthWeighting"])?;
    let is_offered = info.bandwidth_weightings.iter().any(|it| <&str>::from(it) == wanted);
    (!is_offered).then(|| {
        AwsError::new(
            "UnsupportedOperation",
            format!("The {} instance type does not support the bandwidth weighting {wanted}.", info.name),
        )
    })
}

/// Several network interfaces, and Elastic Fabric Adapters (EC2 User Guide, "Network interfaces" and "Elastic Fabric Adapter").
fn network_interfaces(document: &Document, info: &TypeInfo) -> Option<AwsError> {
    let combination = |text: String| Some(AwsError::new("InvalidParameterCombination", text));
    let interfaces = document.get_list(&["networkInterfaceSet"]);
    let number = |it: &Document, name: &str| {
        it.get_text(&[name]).and_then(|text| text.parse::<u32>().ok()).unwrap_or_default()
    };
    let kind = |it: &Document| it.get_text(&["interfaceType"]).unwrap_or("interface").to_owned();
    if interfaces.len() > 1
        && interfaces.iter().any(|it| it.get_text(&["associatePublicIpAddress"]).is_some())
    {
        return combination(
            "The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces"
                .to_owned(),
        );
    }
    let mut places = BTreeSet::new();
    for it in interfaces {
        let (card, device) = (number(it, "networkCardIndex"), number(it, "deviceIndex"));
        if card >= info.network_cards {
            return combination(format!("{card} is not a network card index of {}", info.name));
        }
        if !places.insert((card, device)) {
            return combination("Each network interface requires a unique device index.".to_owned());
        }
        if kind(it) == "efa-only" && (card, device) == (0, 0) {
            return combination("The primary network interface cannot be efa-only".to_owned());
        }
    }
    if let Some(error) = too_many_interfaces(&places, info) {
        return Some(error);
    }
    let adapters = interfaces.iter().filter(|it| kind(it).starts_with("efa")).count();
    if u32::try_from(adapters).unwrap_or(u32::MAX) > info.efa_interfaces {
        return combination(format!(
            "EFA interfaces: {adapters}. The {} instance type supports {}",
            info.name, info.efa_interfaces
        ));
    }
    None
}

/// More network interfaces on a card than the type has, by card and device index (EC2 API Reference, NetworkCardInfo). **(A)** The
/// code is that of AttachNetworkInterface for an interface too many ("Error codes for the Amazon EC2 API").
fn too_many_interfaces(places: &BTreeSet<(u32, u32)>, info: &TypeInfo) -> Option<AwsError> {
    let most = info.interfaces?.per_card;
    let on_card = |card: u32| foo_model::count(places.iter().filter(|(of, _)| *of == card));
    let wanted = (0..info.network_cards).map(on_card).find(|wanted| *wanted > most)?;
    Some(AwsError::new(
        "AttachmentLimitExceeded",
        format!("Interface count {wanted} exceeds the limit for {}", info.name),
    ))
}

/// Placement, reservations and license configurations.
fn special_capacity(data: &LaunchData) -> Option<AwsError> {
    let combination = |text: &str| Some(AwsError::new("InvalidParameterCombination", text));
    let placement = |name: &str| data.document.get_text(&["placement", name]);
    let has = |name: &str| placement(name).is_some();
    let (tenancy, has_hosts) = (placement("tenancy"), has("hostResourceGroupArn"));
    // EC2 API Reference, LaunchTemplatePlacementRequest.
    if has("groupName") && has("groupId") {
        return combination("GroupName and GroupId cannot be specified together");
    }
    if has("partitionNumber") && !has("groupName") && !has("groupId") {
        return combination("PartitionNumber needs a placement group");
    }
    // EC2 User Guide, "Placement groups for your Amazon EC2 instances": no dedicated hosts.
    if has_hosts && (has("groupName") || has("groupId")) {
        return combination("Dedicated hosts cannot be in a placement group");
    }
    if has_hosts && tenancy.is_some_and(|tenancy| tenancy != "host") {
        return combination("HostResourceGroupArn needs the tenancy host, or none");
    }
    // Auto Scaling User Guide, "Create a launch template for an Auto Scaling group": limitations.
    if has("hostId") || has("affinity") || (tenancy == Some("host") && !has_hosts) {
        return combination("Auto Scaling supports dedicated hosts in host resource groups only");
    }
    if data.is_spot() && has_hosts {
        return combination("Dedicated hosts have no Spot Instances");
    }
    // EC2 API Reference, LaunchTemplateCapacityReservationSpecificationRequest: one of both.
    let reservation = |name| data.document.get(&["capacityReservationSpecification", name]).is_some();
    let has_target = reservation("capacityReservationTarget");
    if has_target && reservation("capacityReservationPreference") {
        return combination(
            "CapacityReservationPreference and CapacityReservationTarget cannot be specified together",
        );
    }
    if data.is_spot() && has_target {
        return combination("Spot Instances cannot use a Capacity Reservation");
    }
    // EC2 User Guide, "Launch instances using Capacity Blocks".
    let target = ["capacityReservationSpecification", "capacityReservationTarget", "capacityReservationId"];
    if data.is_block() && data.document.get_text(&target).is_none() {
        return combination("The market type capacity-block needs a CapacityReservationId");
    }
    let licenses = data.document.get_list(&["licenseSet"]);
    let mut arns = licenses.iter().map(|it| it.get_text(&["licenseConfigurationArn"]).unwrap_or_default());
    let wrong = arns.find(|arn| !arn.starts_with("arn:") || !arn.contains(":license-configuration:"))?;
    Some(AwsError::invalid_value(format!("Invalid value '{wrong}' for LicenseConfigurationArn.")))
}
