//! FooMachinePool: one Auto Scaling group. This file has the spec as a whole; each part of it has a file by
//! subject.
//!
//! # A new field
//!
//! Paths are below `crates/`. Every field: its CEL rule here, a case in `tests/e2e/tests/admission/rules.rs`, a row in
//! `POOLS` in `runtime-extension/src/variables/table.rs` and in `docs/extensions/foo.md` (tests ask for both),
//! `docs/concepts/pools.md`, `cargo xtask generate`. A row in
//! `xtask/src/generate/features/rows.rs` names it (a test asks).
//!
//! A field that is part of the launch template is read in `controller/src/pool/inputs/{desired,content}.rs`:
//!
//! * If it replaces Nodes, it is a field of `Rolls` in `content.rs`, an `Option` with `skip_serializing_if`. A pool
//!   without the field keeps its hash, and the test with the pinned hash passes unchanged. Never raise `SCHEME` for a
//!   field: that replaces every Node.
//! * Then it is a field in `model/src/template.rs`. The compiler leads to the code that fills, hashes and sends it.
//!   `simulator/src/wire/ec2/launch_fields.rs` needs it if EC2's field is not there yet.
//!
//! A setting of the Auto Scaling group is a field of `GroupSettings` in `model/src/settings.rs`. The compiler leads to
//! the code that compares it (in the same file), fills it (`assembled` in `controller/src/pool/inputs/desired.rs`),
//! sends and reads it (`cloud-adapter/src/groups/`) and simulates it (`simulator-core/src/sim_cloud/{groups,convert}.rs`),
//! and to a line in `planner/tests/world/manager.rs`. The planner itself repairs whatever the struct has.

mod capacity;
mod efa;
mod hooks;
mod image;
pub mod image_source;
mod instance;
mod launch;
mod network_interface;
mod overlay;
mod replace;
mod requirements;
mod status;
mod traffic;
mod warm_pool;

pub use crate::interruption::{Interruption, RebalancePolicy};
pub use capacity::{CapacityBlock, CapacityReservation, Placement, ReservationPreference};
pub use efa::{Efa, EfaType, PrimaryInterface};
pub use hooks::{
    HookResult, HookTransition, LifecycleHook, Notification, NotificationType, SuspendedProcess,
};
pub use image::{
    Ami, ImageArchitecture, ImageFamily, ImageIds, ImageLookup, ImagePolicy, ImageVariant, RecommendedImage,
};
pub use instance::{
    BandwidthWeighting, CpuCredits, CpuOptions, HostnameType, PrivateDnsNameOptions, Switch, Tenancy,
    is_burstable,
};
pub use launch::{
    DataVolume, HttpTokens, MetadataOptions, MixedInstances, MixedInstancesOverride, OnDemandStrategy, Spot,
    SpotStrategy, UserDataBucket, UserDataStorage, Volume, VolumeType,
};
pub use network_interface::NetworkInterface;
pub use overlay::{
    AutoRecovery, BlockDeviceMapping, CpuOptionsOverlay, EbsBlockDevice, LaunchTemplateOverlay,
    MaintenanceOptions, SecondaryInterface, ShutdownBehavior, Tag, TagSpecification, TaggedResource,
};
pub use replace::{Remediation, Rollout, RolloutFailurePolicy, RolloutStrategy, ScaleIn, VictimPolicy};
pub use requirements::{
    AcceleratorManufacturer, AcceleratorType, AtLeast, CpuManufacturer, DecimalRange, Inclusion,
    InstanceGeneration, InstanceRequirements, LocalStorageType, SmallestInstance, WholeRange,
};
pub use status::{
    Arm64ImageStatus, FooMachinePoolStatus, GroupStatus, ImageStatus, LaunchTemplateStatus, MaxPods,
    NodeInfo, RolloutStatus, WarmPoolStatus,
};
pub use traffic::TargetHealth;
pub use warm_pool::{WarmPool, WarmPoolState};

use crate::maintenance::MaintenanceWindow;
use crate::patterns;
use crate::shared::{DeletionPolicy, NetworkReference};
use crate::tags::{lengths_of_keys, no_control_characters, reserved_keys};
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One Auto Scaling group. A MachinePool uses it through `spec.template.spec.infrastructureRef`.
///
/// Every field can be changed at any time unless its description says otherwise.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[kube(
    group = "infrastructure.foo.com",
    version = "v1alpha1",
    kind = "FooMachinePool",
    plural = "foomachinepools",
    shortname = "foomp",
    category = "cluster-api",
    namespaced,
    derive = "PartialEq",
    status = "FooMachinePoolStatus",
    label("cluster.x-k8s.io/v1beta2", "v1alpha1"),
    printcolumn(
        name = "Cluster",
        type_ = "string",
        json_path = r".metadata.labels['cluster\.x-k8s\.io/cluster-name']"
    ),
    printcolumn(name = "Desired", type_ = "integer", json_path = ".status.desiredReplicas"),
    printcolumn(name = "Replicas", type_ = "integer", json_path = ".status.replicas"),
    printcolumn(name = "Ready", type_ = "integer", json_path = ".status.readyReplicas"),
    printcolumn(name = "Up-To-Date", type_ = "integer", json_path = ".status.upToDateReplicas"),
    printcolumn(
        name = "Status",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Ready")].reason"#
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Version", type_ = "string", json_path = ".status.version", priority = 1),
    printcolumn(name = "Type", type_ = "string", json_path = ".status.instanceType", priority = 1),
    printcolumn(name = "Group", type_ = "string", json_path = ".status.autoScalingGroup.name", priority = 1),
    printcolumn(
        name = "Template",
        type_ = "integer",
        json_path = ".status.launchTemplate.version",
        priority = 1
    )
)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new("has(self.instanceType) != has(self.mixedInstances)")
        .message("set either instanceType or mixedInstances"),
    validation = Rule::new("!has(oldSelf.mixedInstances) || !has(oldSelf.mixedInstances.overrides[0].requirements) || has(self.mixedInstances)")
        .message("mixedInstances stays after requirements: name one instance type in mixedInstances.overrides; with instanceType, EC2 could not launch the former content again, whose launch template has no type"),
    validation = Rule::new("!has(self.mixedInstances) || !has(self.spot)")
        .message("spot cannot be combined with mixedInstances: set mixedInstances.onDemandPercentage and mixedInstances.spotMaxPrice"),
    validation = Rule::new("!has(oldSelf.providerID) || !has(self.providerID) || self.providerID == oldSelf.providerID")
        .message("providerID is written by the provider and cannot be changed"),
    validation = Rule::new("has(self.groupName) == has(oldSelf.groupName) && (!has(self.groupName) || self.groupName == oldSelf.groupName)")
        .message("groupName cannot be added, changed or removed later: create another FooMachinePool with a MachinePool of its own"),
    validation = Rule::new("has(self.launchTemplateName) == has(oldSelf.launchTemplateName) && (!has(self.launchTemplateName) || self.launchTemplateName == oldSelf.launchTemplateName)")
        .message("launchTemplateName cannot be added, changed or removed later"),
    validation = Rule::new("!self.adopt || has(self.groupName)")
        .message("adopt needs groupName: the name of the Auto Scaling group"),
    validation = Rule::new("!has(self.autoscaling) || !has(self.maxSize) || self.autoscaling.maxSize <= self.maxSize")
        .message("autoscaling.maxSize must not exceed maxSize"),
    validation = Rule::new("!has(self.rootVolume) || !(self.rootVolume.type in ['st1', 'sc1'])")
        .message("st1 and sc1 cannot be root volumes"),
    validation = Rule::new("!has(self.userDataStorage) || has(self.iamInstanceProfile)")
        .message("userDataStorage needs iamInstanceProfile, whose role reads the user data"),
    validation = Rule::new("!has(self.cpuCredits) || !has(self.instanceType) || self.instanceType.matches('^t[0-9]')")
        .message("cpuCredits is for burstable instance types: T2, T3, T3a, T4g"),
    validation = Rule::new("!has(self.cpuCredits) || !has(self.mixedInstances) || self.mixedInstances.overrides.all(choice, has(choice.instanceType) ? choice.instanceType.matches('^t[0-9]') : has(choice.requirements.burstablePerformance) && choice.requirements.burstablePerformance == 'required')")
        .message("cpuCredits is for burstable instance types: all of mixedInstances.overrides have to be T2, T3, T3a or T4g, or to require burstablePerformance"),
    validation = Rule::new("!has(self.cpuOptions) || !has(self.cpuOptions.amdSEVSNP) || self.cpuOptions.amdSEVSNP != 'enabled' || !has(self.nitroEnclaves) || !self.nitroEnclaves")
        .message("EC2 has either cpuOptions.amdSEVSNP or nitroEnclaves"),
    validation = Rule::new("!has(self.efa) || has(self.instanceType)")
        .message("efa needs instanceType: how many interfaces there are depends on it"),
    validation = Rule::new("!has(self.efa) || !has(self.associatePublicIPAddress) || (self.efa.primary == 'EFA' && has(self.efa.interfaces) && self.efa.interfaces == 1)")
        .message("associatePublicIPAddress cannot be combined with efa, unless efa.primary is EFA and efa.interfaces is 1: EC2 takes it for a single network interface"),
    validation = Rule::new("!has(self.networkInterfaces) || size(self.networkInterfaces) == 0 || !has(self.associatePublicIPAddress)")
        .message("associatePublicIPAddress cannot be combined with networkInterfaces: EC2 takes it for a single network interface"),
    validation = Rule::new("!has(self.targetHealth) || (has(self.targetGroups) && size(self.targetGroups) > 0)")
        .message("targetHealth needs targetGroups: the provider reads no health of classicLoadBalancers and vpcLatticeTargetGroups"),
    validation = Rule::new("!has(self.targetHealth) || !has(self.suspendedProcesses) || !('AddToLoadBalancer' in self.suspendedProcesses)")
        .message("targetHealth needs AddToLoadBalancer: new instances would never be healthy in the target groups"),
    validation = Rule::new("!has(self.placement) || !has(self.placement.hostResourceGroupARN) || !has(self.tenancy)")
        .message("placement.hostResourceGroupARN has the tenancy host: leave tenancy out"),
    validation = Rule::new("!has(self.placement) || !has(self.placement.hostResourceGroupARN) || (!has(self.spot) && (!has(self.mixedInstances) || self.mixedInstances.onDemandPercentage == 100))")
        .message("dedicated hosts (placement.hostResourceGroupARN) have no spot instances"),
    validation = Rule::new("!has(self.capacityReservation) || (has(self.capacityReservation.preference) && self.capacityReservation.preference in ['none', 'open']) || (!has(self.spot) && (!has(self.mixedInstances) || self.mixedInstances.onDemandPercentage == 100))")
        .message("EC2 has no Capacity Reservations for spot instances: capacityReservation can only be preference none or open then"),
    validation = Rule::new("!has(self.capacityReservation) || (has(self.capacityReservation.preference) && self.capacityReservation.preference in ['none', 'open']) || !has(self.placement) || !has(self.placement.hostResourceGroupARN)")
        .message("EC2 has no Capacity Reservations on dedicated hosts (placement.hostResourceGroupARN): capacityReservation can only be preference none or open then"),
    validation = Rule::new("!has(self.capacityReservation) || !has(self.capacityReservation.block) || !(has(self.mixedInstances) || has(self.warmPool) || has(self.autoscaling))")
        .message("capacityReservation.block needs instanceType, without warmPool and autoscaling: EC2 Auto Scaling has no Capacity Blocks for several instance types and for warm pools, and at the end of a block the provider sets the size"),
    validation = Rule::new("!has(self.launchTemplateOverlay) || !has(self.launchTemplateOverlay.DisableApiTermination) || !self.launchTemplateOverlay.DisableApiTermination || (!has(self.spot) && (!has(self.mixedInstances) || self.mixedInstances.onDemandPercentage == 100))")
        .message("EC2 has no termination protection for spot instances: launchTemplateOverlay.DisableApiTermination cannot be combined with spot, nor with an onDemandPercentage below 100"),
    validation = Rule::new("!has(self.launchTemplateOverlay) || !has(self.launchTemplateOverlay.DisableApiStop) || !self.launchTemplateOverlay.DisableApiStop || !has(self.warmPool) || self.warmPool.state == 'Running'")
        .message("launchTemplateOverlay.DisableApiStop cannot be combined with a warm pool of stopped instances: EC2 Auto Scaling has to stop them"),
    validation = Rule::new("!has(self.launchTemplateOverlay) || !has(self.launchTemplateOverlay.BlockDeviceMappings) || !has(self.volumes) || self.launchTemplateOverlay.BlockDeviceMappings.all(device, has(device.Ebs) || !self.volumes.exists(volume, volume.deviceName == device.DeviceName))")
        .message("a device of volumes can have Ebs in launchTemplateOverlay.BlockDeviceMappings, neither NoDevice nor VirtualName"),
    validation = Rule::new("!has(self.networkInterfaces) || size(self.networkInterfaces) == 0 || !has(self.tags) || !has(self.launchTemplateOverlay) || !has(self.launchTemplateOverlay.TagSpecifications) || self.launchTemplateOverlay.TagSpecifications.all(each, size(self.tags) + size(each.Tags.filter(tag, !(tag.Key in self.tags))) <= 40)")
        .message("with networkInterfaces, network interfaces have tags and launchTemplateOverlay.TagSpecifications: together they can have 40 keys"),
    validation = Rule::new("!has(self.warmPool) || (!has(self.spot) && (!has(self.mixedInstances) || self.mixedInstances.onDemandPercentage == 100))")
        .message("EC2 Auto Scaling has no warm pools of spot instances: warmPool cannot be combined with spot, nor with an onDemandPercentage below 100"),
    validation = Rule::new("!has(self.warmPool) || self.warmPool.minSize > 0 || (has(self.warmPool.maxPreparedCapacity) ? self.warmPool.maxPreparedCapacity > 0 : has(self.autoscaling))")
        .message("warmPool needs minSize or maxPreparedCapacity: without them no instance waits"),
    validation = Rule::new("!has(self.warmPool) || !has(self.userDataStorage)")
        .message("warmPool cannot be combined with userDataStorage: an instance that cannot fetch its user data would join the cluster from the warm pool, or never")
)]
pub struct FooMachinePoolSpec {
    /// ARN of the Auto Scaling group. Leave it empty: the provider writes it when it has created the group,
    /// and it cannot be changed after that. If the object is replaced by one without it, the provider writes
    /// it again.
    #[serde(default, rename = "providerID", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub provider_id: Option<String>,
    /// Provider ids, `aws:///<zone>/<instance id>`, of every instance that exists, sorted. Leave it empty:
    /// the provider writes it. An id stays in the list until EC2 reports its instance as terminated.
    #[serde(default, rename = "providerIDList", skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 10000), inner(length(min = 1, max = 512)))]
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub provider_id_list: Option<Vec<String>>,
    /// Name of the Auto Scaling group, and of its launch template unless `launchTemplateName` is set, 3 to 128 characters.
    /// Default: `<namespace>-<cluster>-<pool>`, with `_` between the parts if namespace or cluster contain a `-`.
    /// Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128), regex(pattern = patterns::AWS_NAME))]
    pub group_name: Option<String>,
    /// Name of the launch template that the provider creates, 3 to 128 characters. Set it if a template with the group's name
    /// exists that is not the pool's, for example that of an adopted group. Default: the name of the group. Immutable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128), regex(pattern = patterns::AWS_NAME))]
    pub launch_template_name: Option<String>,
    /// Whether the provider adopts an Auto Scaling group named `groupName` that exists and has no owner, with its instances. The
    /// FooClusterIdentity must allow it (`allowAdoption`), and the group must have the tag
    /// `infrastructure.foo.com/adoptable` with the value `<namespace>/<name>` of the FooMachinePool. Until then the provider creates no
    /// group. While it is true, no adopted instance is replaced because it was launched from another launch template: set it to
    /// false to begin that roll-out. Ignored if the provider created the group. Default: false.
    #[serde(default)]
    pub adopt: bool,
    /// Upper limit for the number of instances, instances that a roll-out adds for a while included; those that wait in the
    /// warm pool (`warmPool`) come on top. If the MachinePool requests more replicas, the provider launches only this many.
    /// Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10000))]
    pub max_size: Option<i32>,
    /// MinSize and MaxSize of the Auto Scaling group for pools whose desired capacity is set outside of
    /// Cluster API, for example by an AWS scaling policy. Required if the MachinePool has the annotation
    /// `cluster.x-k8s.io/replicas-managed-by`; ignored otherwise. cluster-autoscaler does not need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub autoscaling: Option<Autoscaling>,

    /// EC2 instance type of all instances, for example `m7i.large`. Set either this or `mixedInstances`. A
    /// change replaces the instances (`rollout`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64), regex(pattern = patterns::INSTANCE_TYPE))]
    pub instance_type: Option<String>,
    /// Several instance types, by their names or by their attributes, and the share of spot instances among them. Set either this
    /// or `instanceType`.
    /// There are no weights: each replica is one instance, whatever its type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixed_instances: Option<MixedInstances>,
    /// Image that the instances boot from; two, if the instance types of `mixedInstances` have both architectures. A change replaces the
    /// instances (`rollout`), those of the other architecture as well.
    pub ami: Ami,
    /// Name (not the ARN) of the IAM instance profile of the instances. The identity of the FooCluster may
    /// restrict which ones are allowed (`allowedInstanceProfiles`). Default: none. A change replaces the
    /// instances (`rollout`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128), regex(pattern = patterns::INSTANCE_PROFILE))]
    pub iam_instance_profile: Option<String>,
    /// Name of the EC2 key pair for SSH access. Default: none. A change replaces the instances (`rollout`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub ssh_key_name: Option<String>,
    /// Security groups of the instances, in addition to those of the FooCluster. A change replaces the
    /// instances (`rollout`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub security_groups: Vec<NetworkReference>,
    /// Root volume. Default: as the image defines it. A change replaces the instances (`rollout`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_volume: Option<Volume>,
    /// EBS volumes in addition to the root volume. A change replaces the instances (`rollout`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 24))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["deviceName".into()]))]
    pub volumes: Vec<DataVolume>,
    /// Settings of the instance metadata service. Default: IMDSv2 is required, with a hop limit of 1. A
    /// change replaces the instances (`rollout`).
    #[serde(default)]
    pub metadata_options: MetadataOptions,
    /// Whether CloudWatch gets the metrics of instances every minute instead of every five; it charges for that. Default:
    /// false. A change replaces the instances (`rollout`).
    #[serde(default)]
    pub detailed_monitoring: bool,
    /// Whether instances get a public IPv4 address. Default: as the subnet has it. A change replaces the instances (`rollout`).
    #[serde(default, rename = "associatePublicIPAddress", skip_serializing_if = "Option::is_none")]
    pub associate_public_ip_address: Option<bool>,
    /// Elastic Fabric Adapter (EFA) interfaces. Default: none. A change replaces the instances (`rollout`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub efa: Option<Efa>,
    /// Network interfaces of each instance besides the primary one and those of `efa`, in any order. They are for Pods on the host
    /// network, for Multus, and for other software than the Amazon VPC CNI: a tag makes the VPC CNI leave them alone, so that a Node
    /// can have fewer Pods (`status.maxPods`). EC2 assigns no public IPv4 address to an instance with several interfaces. Default:
    /// none. A change replaces the instances (`rollout`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub network_interfaces: Vec<NetworkInterface>,
    /// Tenancy of the instances. Default: that of the VPC. A change replaces the instances (`rollout`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenancy: Option<Tenancy>,
    /// Processors of the instances. Default: as the instance type has them. A change replaces the instances (`rollout`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_options: Option<CpuOptions>,
    /// How burstable instances use processors above their baseline. EC2 may refuse to launch other instance types with it.
    /// Default: as the AWS account has it for the instance family. A change replaces the instances (`rollout`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_credits: Option<CpuCredits>,
    /// How the instances divide their baseline bandwidth between network and EBS. All instance types that the spec names have to offer
    /// it. Default: as the instance type has it. A change replaces the instances (`rollout`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_weighting: Option<BandwidthWeighting>,
    /// Whether the instances can run AWS Nitro Enclaves. Their instance types must support them. Default: false. A change
    /// replaces the instances (`rollout`).
    #[serde(default)]
    pub nitro_enclaves: bool,
    /// Private DNS names of the instances. Default: as the subnet has them. A change replaces the instances (`rollout`).
    #[serde(default, rename = "privateDNSNameOptions", skip_serializing_if = "Option::is_none")]
    pub private_dns_name_options: Option<PrivateDnsNameOptions>,
    /// A placement group, or dedicated hosts, that the instances are launched in. Default: none. A change replaces the instances
    /// (`rollout`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Which Capacity Reservations, or which Capacity Block, the instances use. Default: open reservations that match. A change
    /// replaces the instances (`rollout`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_reservation: Option<CapacityReservation>,
    /// ARNs of license configurations of AWS License Manager that the instances count against, in any order. The identity of the
    /// FooCluster may restrict which ones are allowed (`allowedCapacity`). Default: those of the image. A change replaces the
    /// instances (`rollout`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10), inner(length(min = 1, max = 2048), regex(pattern = patterns::LICENSE_CONFIGURATION)))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub license_configurations: Vec<String>,
    /// Settings of the launch template that no other field has, named as in EC2's API (EC2 API Reference,
    /// RequestLaunchTemplateData). Default: none. A change replaces the instances (`rollout`), except one of `TagSpecifications`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_template_overlay: Option<LaunchTemplateOverlay>,
    /// Where the bootstrap data is stored. By default it is in the launch template: EC2 takes at most 16384 bytes, and all
    /// who may describe launch templates can read it. In S3 it may have 524288 bytes, and only the role of `iamInstanceProfile`
    /// reads it. For instances with cloud-init, Amazon Linux 2023 among them; not for Bottlerocket and Ignition. Not allowed with
    /// `warmPool`. A change replaces no instances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_data_storage: Option<UserDataStorage>,
    /// Launches all instances as spot instances. `spot: {}` sets no price limit. Default: on-demand
    /// instances. Not allowed with `mixedInstances`, which has its own settings for spot. A change replaces
    /// the instances (`rollout`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spot: Option<Spot>,
    /// Subnets that instances are launched into. Each must be one of the FooCluster's subnets. Default: the
    /// FooCluster's subnets in the MachinePool's `failureDomains`; without `failureDomains`, its private
    /// subnets, or all of its subnets if none is private.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub subnets: Vec<NetworkReference>,
    /// ARNs of target groups of Application, Network and Gateway Load Balancers, up to 50, in the region of the FooCluster:
    /// Auto Scaling registers instances there when they enter service, and deregisters them, and lets their connections drain,
    /// before their terminating lifecycle hook. Target groups that are not in the list are detached; `[]` detaches all. Without
    /// the field, those that the Auto Scaling group is attached to stay. A change replaces no instances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 50), inner(length(min = 1, max = 256), regex(pattern = patterns::TARGET_GROUP_ARN)))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub target_groups: Option<Vec<String>>,
    /// Names of Classic Load Balancers, up to 50, in the region of the FooCluster. Auto Scaling registers and deregisters instances
    /// as in `targetGroups`; connections drain if that is enabled in the load balancer. Those that are not in the list are
    /// detached; `[]` detaches all. Without the field, those that the Auto Scaling group is attached to stay. The provider does
    /// not read the health of instances there. A change replaces no instances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 50), inner(length(min = 1, max = 32), regex(pattern = patterns::CLASSIC_LOAD_BALANCER)))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub classic_load_balancers: Option<Vec<String>>,
    /// ARNs of target groups of VPC Lattice, up to 5, in the region of the FooCluster. Auto Scaling registers and deregisters
    /// instances as in `targetGroups`. Those that are not in the list are detached; `[]` detaches all. Without the field, those
    /// that the Auto Scaling group is attached to stay. The provider does not read the health of instances there. A change
    /// replaces no instances.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 5), inner(length(min = 1, max = 256), regex(pattern = patterns::LATTICE_TARGET_GROUP_ARN)))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub vpc_lattice_target_groups: Option<Vec<String>>,
    /// What the health of instances in `targetGroups` means for roll-outs and replacements. Default: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_health: Option<TargetHealth>,
    /// Lifecycle hooks of the Auto Scaling group besides the provider's own, up to 49. The group is created with them. A hook that
    /// leaves the list is deleted; those that others added stay. A change replaces no instances.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 49))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub lifecycle_hooks: Vec<LifecycleHook>,
    /// SNS topics to which EC2 Auto Scaling reports launches and terminations, up to 10. A topic that leaves the list gets no
    /// further reports; those that others added stay. A change replaces no instances.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["topicARN".into()]))]
    pub notifications: Vec<Notification>,
    /// Processes of EC2 Auto Scaling that the provider suspends in the group, besides `AZRebalance`. One that leaves the list is
    /// resumed; those that others suspended stay suspended. A change replaces no instances.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 6))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub suspended_processes: Vec<SuspendedProcess>,
    /// Warm pool of the Auto Scaling group. It exists as long as the bootstrap Secret has the annotation
    /// `infrastructure.foo.com/waits-in-warm-pool: "true"`, which says that its user data wait until the instance is in service before
    /// they join the cluster; that of a FooNodeConfig with `joinWhenInService: true` has it, that of others does not. Each new launch
    /// template version renews the warm pool: its instances end, and others are launched. If the field is removed, they end; a warm
    /// pool that others created stays. Not allowed with spot instances, nor with `userDataStorage`. A change replaces no instances.
    /// Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_pool: Option<WarmPool>,
    /// Which Machines the provider deletes when there are more than requested, and how fast.
    #[serde(default)]
    pub scale_in: ScaleIn,
    /// How the provider replaces instances that were launched from an outdated launch template version.
    #[serde(default)]
    pub rollout: Rollout,
    /// How many seconds an instance may live, counted from the creation of its Machine. The provider replaces it within the limits
    /// of `rollout` in the last tenth of that time, each instance at a moment of its own, and drains its Node first. An
    /// adopted instance is counted from its adoption, all instances again after a `clusterctl move`. Not while a roll-out is
    /// under way, paused or failed. Range: 3600 to 31536000 (365 days, the most that Auto Scaling's own MaxInstanceLifetime has;
    /// that one terminates instances without draining Nodes). Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 3600, max = 31_536_000))]
    pub max_instance_lifetime_seconds: Option<i32>,
    /// When the provider may begin to replace instances by its own choice: outdated ones (`rollout`, also if a newer image is
    /// recommended), and those that reach their lifetime (`maxInstanceLifetimeSeconds`). Outside of all windows it begins no such
    /// replacement, and ends what has begun. At any time it changes the number of instances, replaces unhealthy ones, does what
    /// announcements of AWS require, and launches new instances with the newest content. The annotation
    /// `infrastructure.foo.com/rollout-now` opens the windows until it is removed. Default: at any time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10))]
    #[x_kube(merge_strategy = ListMerge::Atomic)]
    pub maintenance_windows: Vec<MaintenanceWindow>,
    /// How the provider replaces unhealthy Machines.
    #[serde(default)]
    pub remediation: Remediation,
    /// What the provider does when AWS announces that an instance is at risk. Announcements reach the manager
    /// only through an SQS queue (flag `--events-queue-url`). On a spot interruption notice the provider
    /// always deletes the Machine at once and launches a replacement; an instance that AWS schedules for
    /// retirement it replaces within the limits of `rollout`.
    #[serde(default)]
    pub interruption: Interruption,
    /// What becomes of the Auto Scaling group when the FooMachinePool is deleted, also together with its Cluster. Default: `Delete`
    /// for a group that the provider created, `Retain` for one that it adopted. With `Retain` the group stays with its launch
    /// template and all instances, and no Node is drained or deleted. The provider drains none of them from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<DeletionPolicy>,
    /// Tags of the Auto Scaling group, and of instances and volumes that are launched from now on, with `networkInterfaces` of network
    /// interfaces as well, up to 40.
    /// A change replaces no instances: running instances keep the tags they were launched with. Keys that
    /// begin with `aws:` or `infrastructure.foo.com/` are reserved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[x_kube(
        validation = reserved_keys(),
        validation = lengths_of_keys(),
        validation = no_control_characters()
    )]
    #[schemars(extend("maxProperties" = 40, "additionalProperties" = {"type": "string", "maxLength": 256}))]
    pub tags: BTreeMap<String, String>,
}

/// Limits of an Auto Scaling group whose desired capacity is set outside of Cluster API, in instances.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, KubeSchema)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("self.minSize <= self.maxSize").message("minSize must not exceed maxSize"))]
pub struct Autoscaling {
    /// MinSize of the Auto Scaling group, 0 to 10000.
    #[schemars(range(min = 0, max = 10000))]
    pub min_size: i32,
    /// MaxSize of the Auto Scaling group, 0 to 10000; at least `minSize`, and at most `spec.maxSize` if that
    /// is set.
    #[schemars(range(min = 0, max = 10000))]
    pub max_size: i32,
    /// DefaultInstanceWarmup of the Auto Scaling group, 0 to 3600 seconds: for how long the metrics of a new instance do not count in
    /// scaling policies. Default: as the group has it, and AWS has none for new groups. If it is removed, the group keeps the last
    /// value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 3600))]
    pub default_instance_warmup_seconds: Option<i32>,
}
