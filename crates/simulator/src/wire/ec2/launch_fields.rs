//! The fields of launch template data, which have different names in requests and in responses (EC2 API Reference,
//! RequestLaunchTemplateData and ResponseLaunchTemplateData; names on the wire as in the service's Smithy model).
//!
//! All fields are stored and returned. An unknown one is refused, as in EC2.

/// One field.
pub(super) struct Field {
    /// Its name in requests.
    pub(super) request: &'static str,
    /// Its name in responses.
    pub(super) response: &'static str,
    /// Its form.
    pub(super) shape: Shape,
}

/// The form of a field.
pub(super) enum Shape {
    /// A text, number or boolean.
    Text,
    /// A list of texts.
    Texts,
    /// A structure.
    Structure(&'static [Field]),
    /// A list of structures.
    Structures(&'static [Field]),
}

const fn text(request: &'static str, response: &'static str) -> Field {
    Field { request, response, shape: Shape::Text }
}

const fn texts(request: &'static str, response: &'static str) -> Field {
    Field { request, response, shape: Shape::Texts }
}

const fn structure(request: &'static str, response: &'static str, fields: &'static [Field]) -> Field {
    Field { request, response, shape: Shape::Structure(fields) }
}

const fn structures(request: &'static str, response: &'static str, fields: &'static [Field]) -> Field {
    Field { request, response, shape: Shape::Structures(fields) }
}

pub(super) const LAUNCH_TEMPLATE_DATA: &[Field] = &[
    text("KernelId", "kernelId"),
    text("EbsOptimized", "ebsOptimized"),
    structure("IamInstanceProfile", "iamInstanceProfile", IAM_INSTANCE_PROFILE_SPECIFICATION),
    structures("BlockDeviceMapping", "blockDeviceMappingSet", BLOCK_DEVICE_MAPPING),
    structures("NetworkInterface", "networkInterfaceSet", INSTANCE_NETWORK_INTERFACE_SPECIFICATION),
    text("ImageId", "imageId"),
    text("InstanceType", "instanceType"),
    text("KeyName", "keyName"),
    structure("Monitoring", "monitoring", MONITORING),
    structure("Placement", "placement", PLACEMENT),
    text("RamDiskId", "ramDiskId"),
    text("DisableApiTermination", "disableApiTermination"),
    text("InstanceInitiatedShutdownBehavior", "instanceInitiatedShutdownBehavior"),
    text("UserData", "userData"),
    structures("TagSpecification", "tagSpecificationSet", TAG_SPECIFICATION),
    structures("ElasticGpuSpecification", "elasticGpuSpecificationSet", ELASTIC_GPU_SPECIFICATION),
    structures(
        "ElasticInferenceAccelerator",
        "elasticInferenceAcceleratorSet",
        ELASTIC_INFERENCE_ACCELERATOR,
    ),
    texts("SecurityGroupId", "securityGroupIdSet"),
    texts("SecurityGroup", "securityGroupSet"),
    structure("InstanceMarketOptions", "instanceMarketOptions", INSTANCE_MARKET_OPTIONS),
    structure("CreditSpecification", "creditSpecification", CREDIT_SPECIFICATION),
    structure("CpuOptions", "cpuOptions", CPU_OPTIONS),
    structure(
        "CapacityReservationSpecification",
        "capacityReservationSpecification",
        CAPACITY_RESERVATION_SPECIFICATION,
    ),
    structures("LicenseSpecification", "licenseSet", LICENSE_CONFIGURATION),
    structure("HibernationOptions", "hibernationOptions", HIBERNATION_OPTIONS),
    structure("MetadataOptions", "metadataOptions", INSTANCE_METADATA_OPTIONS),
    structure("EnclaveOptions", "enclaveOptions", ENCLAVE_OPTIONS),
    structure("InstanceRequirements", "instanceRequirements", INSTANCE_REQUIREMENTS),
    structure("PrivateDnsNameOptions", "privateDnsNameOptions", PRIVATE_DNS_NAME_OPTIONS),
    structure("MaintenanceOptions", "maintenanceOptions", INSTANCE_MAINTENANCE_OPTIONS),
    text("DisableApiStop", "disableApiStop"),
    structure("Operator", "operator", OPERATOR),
    structure("NetworkPerformanceOptions", "networkPerformanceOptions", NETWORK_PERFORMANCE_OPTIONS),
    structures("SecondaryInterface", "secondaryInterfaceSet", INSTANCE_SECONDARY_INTERFACE_SPECIFICATION),
];

const INSTANCE_SECONDARY_INTERFACE_SPECIFICATION: &[Field] = &[
    text("DeleteOnTermination", "deleteOnTermination"),
    text("DeviceIndex", "deviceIndex"),
    structures(
        "PrivateIpAddress",
        "privateIpAddressesSet",
        SECONDARY_INTERFACE_PRIVATE_IP_ADDRESS_SPECIFICATION,
    ),
    text("PrivateIpAddressCount", "privateIpAddressCount"),
    text("SecondarySubnetId", "secondarySubnetId"),
    text("InterfaceType", "interfaceType"),
    text("NetworkCardIndex", "networkCardIndex"),
];

const SECONDARY_INTERFACE_PRIVATE_IP_ADDRESS_SPECIFICATION: &[Field] =
    &[text("PrivateIpAddress", "privateIpAddress")];

const NETWORK_PERFORMANCE_OPTIONS: &[Field] = &[text("BandwidthWeighting", "bandwidthWeighting")];

const OPERATOR: &[Field] = &[text("Principal", "principal")];

const INSTANCE_MAINTENANCE_OPTIONS: &[Field] = &[text("AutoRecovery", "autoRecovery")];

const PRIVATE_DNS_NAME_OPTIONS: &[Field] = &[
    text("HostnameType", "hostnameType"),
    text("EnableResourceNameDnsARecord", "enableResourceNameDnsARecord"),
    text("EnableResourceNameDnsAAAARecord", "enableResourceNameDnsAAAARecord"),
];

const INSTANCE_REQUIREMENTS: &[Field] = &[
    structure("VCpuCount", "vCpuCount", VCPU_COUNT),
    structure("MemoryMiB", "memoryMiB", MEMORY_MIB),
    texts("CpuManufacturer", "cpuManufacturerSet"),
    structure("MemoryGiBPerVCpu", "memoryGiBPerVCpu", MEMORY_GIB_PER_VCPU),
    texts("ExcludedInstanceType", "excludedInstanceTypeSet"),
    texts("InstanceGeneration", "instanceGenerationSet"),
    text("SpotMaxPricePercentageOverLowestPrice", "spotMaxPricePercentageOverLowestPrice"),
    text("OnDemandMaxPricePercentageOverLowestPrice", "onDemandMaxPricePercentageOverLowestPrice"),
    text("BareMetal", "bareMetal"),
    text("BurstablePerformance", "burstablePerformance"),
    text("RequireHibernateSupport", "requireHibernateSupport"),
    structure("NetworkInterfaceCount", "networkInterfaceCount", NETWORK_INTERFACE_COUNT),
    text("LocalStorage", "localStorage"),
    texts("LocalStorageType", "localStorageTypeSet"),
    structure("TotalLocalStorageGB", "totalLocalStorageGB", TOTAL_LOCAL_STORAGE_GB),
    structure("BaselineEbsBandwidthMbps", "baselineEbsBandwidthMbps", BASELINE_EBS_BANDWIDTH_MBPS),
    texts("AcceleratorType", "acceleratorTypeSet"),
    structure("AcceleratorCount", "acceleratorCount", ACCELERATOR_COUNT),
    texts("AcceleratorManufacturer", "acceleratorManufacturerSet"),
    texts("AcceleratorName", "acceleratorNameSet"),
    structure("AcceleratorTotalMemoryMiB", "acceleratorTotalMemoryMiB", ACCELERATOR_MEMORY_MIB),
    structure("NetworkBandwidthGbps", "networkBandwidthGbps", NETWORK_BANDWIDTH_GBPS),
    texts("AllowedInstanceType", "allowedInstanceTypeSet"),
    text("MaxSpotPriceAsPercentageOfOptimalOnDemandPrice", "maxSpotPriceAsPercentageOfOptimalOnDemandPrice"),
    structure("BaselinePerformanceFactors", "baselinePerformanceFactors", BASELINE_PERFORMANCE_FACTORS),
    text("RequireEncryptionInTransit", "requireEncryptionInTransit"),
];

const BASELINE_PERFORMANCE_FACTORS: &[Field] = &[structure("Cpu", "cpu", CPU_PERFORMANCE_FACTOR)];

const CPU_PERFORMANCE_FACTOR: &[Field] =
    &[structures("Reference", "referenceSet", PERFORMANCE_FACTOR_REFERENCE)];

const PERFORMANCE_FACTOR_REFERENCE: &[Field] = &[text("InstanceFamily", "instanceFamily")];

const NETWORK_BANDWIDTH_GBPS: &[Field] = &[text("Min", "min"), text("Max", "max")];

const ACCELERATOR_MEMORY_MIB: &[Field] = &[text("Min", "min"), text("Max", "max")];

const ACCELERATOR_COUNT: &[Field] = &[text("Min", "min"), text("Max", "max")];

const BASELINE_EBS_BANDWIDTH_MBPS: &[Field] = &[text("Min", "min"), text("Max", "max")];

const TOTAL_LOCAL_STORAGE_GB: &[Field] = &[text("Min", "min"), text("Max", "max")];

const NETWORK_INTERFACE_COUNT: &[Field] = &[text("Min", "min"), text("Max", "max")];

const MEMORY_GIB_PER_VCPU: &[Field] = &[text("Min", "min"), text("Max", "max")];

const MEMORY_MIB: &[Field] = &[text("Min", "min"), text("Max", "max")];

const VCPU_COUNT: &[Field] = &[text("Min", "min"), text("Max", "max")];

const ENCLAVE_OPTIONS: &[Field] = &[text("Enabled", "enabled")];

const INSTANCE_METADATA_OPTIONS: &[Field] = &[
    text("HttpTokens", "httpTokens"),
    text("HttpPutResponseHopLimit", "httpPutResponseHopLimit"),
    text("HttpEndpoint", "httpEndpoint"),
    text("HttpProtocolIpv6", "httpProtocolIpv6"),
    text("InstanceMetadataTags", "instanceMetadataTags"),
];

const HIBERNATION_OPTIONS: &[Field] = &[text("Configured", "configured")];

const LICENSE_CONFIGURATION: &[Field] = &[text("LicenseConfigurationArn", "licenseConfigurationArn")];

const CAPACITY_RESERVATION_SPECIFICATION: &[Field] = &[
    text("CapacityReservationPreference", "capacityReservationPreference"),
    structure("CapacityReservationTarget", "capacityReservationTarget", CAPACITY_RESERVATION_TARGET),
];

const CAPACITY_RESERVATION_TARGET: &[Field] = &[
    text("CapacityReservationId", "capacityReservationId"),
    text("CapacityReservationResourceGroupArn", "capacityReservationResourceGroupArn"),
];

const CPU_OPTIONS: &[Field] = &[
    text("CoreCount", "coreCount"),
    text("ThreadsPerCore", "threadsPerCore"),
    text("AmdSevSnp", "amdSevSnp"),
    text("NestedVirtualization", "nestedVirtualization"),
];

const CREDIT_SPECIFICATION: &[Field] = &[text("CpuCredits", "cpuCredits")];

const INSTANCE_MARKET_OPTIONS: &[Field] =
    &[text("MarketType", "marketType"), structure("SpotOptions", "spotOptions", SPOT_MARKET_OPTIONS)];

const SPOT_MARKET_OPTIONS: &[Field] = &[
    text("MaxPrice", "maxPrice"),
    text("SpotInstanceType", "spotInstanceType"),
    text("BlockDurationMinutes", "blockDurationMinutes"),
    text("ValidUntil", "validUntil"),
    text("InstanceInterruptionBehavior", "instanceInterruptionBehavior"),
];

const ELASTIC_INFERENCE_ACCELERATOR: &[Field] = &[text("Type", "type"), text("Count", "count")];

const ELASTIC_GPU_SPECIFICATION: &[Field] = &[text("Type", "type")];

const TAG_SPECIFICATION: &[Field] = &[text("ResourceType", "resourceType"), structures("Tag", "tagSet", TAG)];

const TAG: &[Field] = &[text("Key", "key"), text("Value", "value")];

const PLACEMENT: &[Field] = &[
    text("AvailabilityZone", "availabilityZone"),
    text("AvailabilityZoneId", "availabilityZoneId"),
    text("Affinity", "affinity"),
    text("GroupName", "groupName"),
    text("HostId", "hostId"),
    text("Tenancy", "tenancy"),
    text("SpreadDomain", "spreadDomain"),
    text("HostResourceGroupArn", "hostResourceGroupArn"),
    text("PartitionNumber", "partitionNumber"),
    text("GroupId", "groupId"),
];

const MONITORING: &[Field] = &[text("Enabled", "enabled"), texts("MetricCategoryId", "metricCategoryIdSet")];

const INSTANCE_NETWORK_INTERFACE_SPECIFICATION: &[Field] = &[
    text("AssociateCarrierIpAddress", "associateCarrierIpAddress"),
    text("AssociatePublicIpAddress", "associatePublicIpAddress"),
    text("DeleteOnTermination", "deleteOnTermination"),
    text("Description", "description"),
    text("DeviceIndex", "deviceIndex"),
    texts("SecurityGroupId", "groupSet"),
    text("InterfaceType", "interfaceType"),
    text("Ipv6AddressCount", "ipv6AddressCount"),
    structures("Ipv6Addresses", "ipv6AddressesSet", INSTANCE_IPV6_ADDRESS),
    text("NetworkInterfaceId", "networkInterfaceId"),
    text("PrivateIpAddress", "privateIpAddress"),
    structures("PrivateIpAddresses", "privateIpAddressesSet", PRIVATE_IP_ADDRESS_SPECIFICATION),
    text("SecondaryPrivateIpAddressCount", "secondaryPrivateIpAddressCount"),
    text("SubnetId", "subnetId"),
    text("NetworkCardIndex", "networkCardIndex"),
    structures("Ipv4Prefix", "ipv4PrefixSet", IPV4_PREFIX_SPECIFICATION),
    text("Ipv4PrefixCount", "ipv4PrefixCount"),
    structures("Ipv6Prefix", "ipv6PrefixSet", IPV6_PREFIX_SPECIFICATION),
    text("Ipv6PrefixCount", "ipv6PrefixCount"),
    text("PrimaryIpv6", "primaryIpv6"),
    structure("EnaSrdSpecification", "enaSrdSpecification", ENA_SRD_SPECIFICATION),
    structure(
        "ConnectionTrackingSpecification",
        "connectionTrackingSpecification",
        CONNECTION_TRACKING_SPECIFICATION,
    ),
    text("EnaQueueCount", "enaQueueCount"),
];

const CONNECTION_TRACKING_SPECIFICATION: &[Field] = &[
    text("TcpEstablishedTimeout", "tcpEstablishedTimeout"),
    text("UdpStreamTimeout", "udpStreamTimeout"),
    text("UdpTimeout", "udpTimeout"),
];

const ENA_SRD_SPECIFICATION: &[Field] = &[
    text("EnaSrdEnabled", "enaSrdEnabled"),
    structure("EnaSrdUdpSpecification", "enaSrdUdpSpecification", ENA_SRD_UDP_SPECIFICATION),
];

const ENA_SRD_UDP_SPECIFICATION: &[Field] = &[text("EnaSrdUdpEnabled", "enaSrdUdpEnabled")];

const IPV6_PREFIX_SPECIFICATION: &[Field] = &[text("Ipv6Prefix", "ipv6Prefix")];

const IPV4_PREFIX_SPECIFICATION: &[Field] = &[text("Ipv4Prefix", "ipv4Prefix")];

const PRIVATE_IP_ADDRESS_SPECIFICATION: &[Field] =
    &[text("Primary", "primary"), text("PrivateIpAddress", "privateIpAddress")];

const INSTANCE_IPV6_ADDRESS: &[Field] = &[text("Ipv6Address", "ipv6Address")];

const BLOCK_DEVICE_MAPPING: &[Field] = &[
    text("DeviceName", "deviceName"),
    text("VirtualName", "virtualName"),
    structure("Ebs", "ebs", EBS_BLOCK_DEVICE),
    text("NoDevice", "noDevice"),
];

const EBS_BLOCK_DEVICE: &[Field] = &[
    text("Encrypted", "encrypted"),
    text("DeleteOnTermination", "deleteOnTermination"),
    text("Iops", "iops"),
    text("KmsKeyId", "kmsKeyId"),
    text("SnapshotId", "snapshotId"),
    text("VolumeSize", "volumeSize"),
    text("VolumeType", "volumeType"),
    text("Throughput", "throughput"),
    text("VolumeInitializationRate", "volumeInitializationRate"),
    text("EbsCardIndex", "ebsCardIndex"),
];

const IAM_INSTANCE_PROFILE_SPECIFICATION: &[Field] = &[text("Arn", "arn"), text("Name", "name")];
