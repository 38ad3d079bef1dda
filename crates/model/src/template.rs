//! Launch templates: what new instances are made of.

use super::ids::{ImageId, InstanceType, LaunchTemplateId, SecurityGroupId, SpecHash, TemplateVersion};
use super::object::ObjectPlace;
use super::overlay::Overlay;
use super::requirements::Requirements;
use super::time::AwsTime;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use strum::IntoStaticStr;

/// The wanted content of a launch template version.
///
/// Everything except `user_data`, `tags` and `interface_tags` goes into the spec hash. These are hashed apart: a rotated bootstrap
/// token or a new tag makes a new version for the instances to come, and rolls none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateContent {
    /// Image to boot. With `arm64_image`, x86_64 types boot it.
    pub image: ImageId,
    /// Image of the arm64 types of a mix that has types of both architectures: the group names it for each of them. Not part of a
    /// hash if absent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub arm64_image: Option<ImageId>,
    /// Type of the instances; with a mix, the first of its types that boot `image`. None if types are chosen by their attributes.
    pub instance_type: Option<InstanceType>,
    /// Security groups of the first network interface, sorted.
    pub security_groups: Vec<SecurityGroupId>,
    /// Name of the instance profile.
    pub instance_profile: Option<String>,
    /// EC2 key pair for SSH.
    pub key_name: Option<String>,
    /// Root volume and further volumes.
    pub volumes: Vec<Volume>,
    /// Instance metadata service.
    pub metadata: MetadataOptions,
    /// Bought on the spot market when present.
    pub spot: Option<SpotOptions>,
    /// Settings that EC2 has defaults for.
    pub options: InstanceOptions,
    /// What the instance runs at first boot.
    pub user_data: UserData,
    /// Tags for instances and volumes.
    pub tags: BTreeMap<String, String>,
    /// Tags for all network interfaces. Not part of a hash if there are none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interface_tags: BTreeMap<String, String>,
}

/// Bytes for the instance's first boot, before base64. EC2 takes at most 16,384 of them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UserData(pub Vec<u8>);

impl std::fmt::Debug for UserData {
    /// The length only: user data carries join tokens.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UserData({} bytes)", self.0.len())
    }
}

/// User data to keep in S3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredUserData {
    /// Where.
    pub place: ObjectPlace,
    /// Its content.
    pub user_data: UserData,
    /// ARN of the role that may read it.
    pub reader: String,
}

/// One EBS volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// Device name (`/dev/xvda`).
    pub device: String,
    /// Size in GiB.
    pub size_gib: u32,
    /// Kind of volume.
    pub kind: VolumeType,
    /// Provisioned I/O operations per second.
    pub iops: Option<u32>,
    /// Provisioned throughput, MiB/s; gp3 only.
    pub throughput: Option<u32>,
    /// Whether it is encrypted.
    pub encrypted: Option<bool>,
    /// KMS key of the encryption.
    pub kms_key: Option<String>,
    /// Whether it stays when its instance is terminated. Not part of a hash if it does not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub outlives_instance: bool,
    /// Snapshot that it is created from. Not part of a hash without one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub snapshot: Option<String>,
    /// How fast EBS reads its snapshot, MiB/s. Not part of a hash if absent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub initialization_rate: Option<u32>,
}

/// EBS volume types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are AWS's own (EBS User Guide, \"Amazon EBS volume types\")")]
pub enum VolumeType {
    Gp2,
    Gp3,
    Io1,
    Io2,
    St1,
    Sc1,
}

/// Options of the instance metadata service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetadataOptions {
    /// Whether IMDSv2 session tokens are required.
    pub tokens_required: bool,
    /// How many network hops a response may travel: 1–64.
    pub hop_limit: u32,
    /// Whether it does not respond at all. Not part of a hash if it does.
    #[serde(default, skip_serializing_if = "is_default")]
    pub disabled: bool,
    /// Whether it has an IPv6 address. Not part of a hash if it has none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ipv6: bool,
}

impl MetadataOptions {
    /// A service that needs session tokens, with IPv4 only.
    pub fn with_tokens(hop_limit: u32) -> Self {
        Self { tokens_required: true, hop_limit, disabled: false, ipv6: false }
    }
}

/// Settings of instances that EC2 has defaults for. What has its default is not serialized: hashes of what exists stay the
/// same when a setting is added. Names and order of the fields are part of a hash, so they never change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InstanceOptions {
    /// CloudWatch gets metrics every minute.
    #[serde(skip_serializing_if = "is_default")]
    pub detailed_monitoring: bool,
    /// Whether instances get a public IPv4 address; as the subnet has it if absent.
    #[serde(skip_serializing_if = "is_default")]
    pub public_address: Option<bool>,
    /// Whose hardware it is; as the VPC has it if absent.
    #[serde(skip_serializing_if = "is_default")]
    pub tenancy: Option<Tenancy>,
    /// Number of cores, and of threads of each; those of the type if absent.
    #[serde(skip_serializing_if = "is_default")]
    pub cores: Option<Cores>,
    /// Whether the memory is encrypted by AMD SEV-SNP; EC2's default if absent.
    #[serde(skip_serializing_if = "is_default")]
    pub amd_sev_snp: Option<bool>,
    /// How burstable instances use processors above their baseline; the account's default if absent.
    #[serde(skip_serializing_if = "is_default")]
    pub cpu_credits: Option<CpuCredits>,
    /// Instances can run Nitro Enclaves.
    #[serde(skip_serializing_if = "is_default")]
    pub nitro_enclaves: bool,
    /// Private DNS names; as the subnet has them where absent.
    #[serde(skip_serializing_if = "is_default")]
    pub private_dns: PrivateDns,
    /// A placement group or dedicated hosts.
    #[serde(skip_serializing_if = "is_default")]
    pub placement: Option<Placement>,
    /// Which Capacity Reservations instances use; open ones that match if absent.
    #[serde(skip_serializing_if = "is_default")]
    pub capacity_reservation: Option<CapacityReservation>,
    /// ARNs of license configurations besides those of the image.
    #[serde(skip_serializing_if = "is_default")]
    pub license_configurations: BTreeSet<String>,
    /// Elastic Fabric Adapter interfaces.
    #[serde(skip_serializing_if = "is_default")]
    pub efa: Option<Efa>,
    /// How the baseline bandwidth is divided between network and EBS; as the instance type has it if absent.
    #[serde(skip_serializing_if = "is_default")]
    pub bandwidth_weighting: Option<BandwidthWeighting>,
    /// What no other field of these has.
    #[serde(skip_serializing_if = "is_default")]
    pub overlay: Overlay,
    /// Network interfaces besides the primary one and Elastic Fabric Adapters, sorted.
    #[serde(skip_serializing_if = "is_default")]
    pub interfaces: Vec<AdditionalInterface>,
}

/// A network interface besides the primary one and Elastic Fabric Adapters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AdditionalInterface {
    /// Index of its network card.
    pub card: u32,
    /// Its security groups, sorted; those of the primary interface if there are none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub security_groups: Vec<SecurityGroupId>,
}

/// Elastic Fabric Adapter interfaces, one on each network card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Efa {
    /// How many.
    pub interfaces: u32,
    /// What the primary interface is.
    pub primary: Primary,
    /// Those other than the primary one have no Elastic Network Adapter.
    pub only: bool,
}

/// The primary interface of instances with Elastic Fabric Adapters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Primary {
    /// One of them.
    Efa,
    /// None of them; the first one is beside it, on the first network card.
    Plain,
    /// None of them; the first one is on the second network card, because the first card has none.
    PlainAlone,
}

/// A network interface of a launch template, which names no subnet: the group chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkInterface<'a> {
    /// DeviceIndex among the interfaces of the card.
    pub device: u32,
    /// NetworkCardIndex; the first card if absent.
    pub card: Option<u32>,
    /// InterfaceType: `interface`, which is EC2's default, `efa` or `efa-only`.
    pub kind: Option<&'static str>,
    /// AssociatePublicIpAddress; as the subnet has it if absent.
    pub public: Option<bool>,
    /// Its security groups.
    pub groups: &'a [SecurityGroupId],
}

impl Efa {
    /// The primary interface of an instance and those with an Elastic Fabric Adapter, without security groups, the primary one first.
    /// On other cards than the first, interfaces without an Elastic Network Adapter have the device index 0 and all others 1 (EC2 User
    /// Guide, "Maximize network bandwidth on Amazon EC2 instances with multiple network cards").
    pub fn network_interfaces(self) -> impl ExactSizeIterator<Item = NetworkInterface<'static>> {
        let kind = if self.only { "efa-only" } else { "efa" };
        let (primary, first) = match self.primary {
            Primary::Efa => ("efa", 1_u32),
            Primary::Plain => ("interface", 0),
            Primary::PlainAlone => ("interface", 1),
        };
        let others = self.interfaces.saturating_sub(u32::from(self.primary == Primary::Efa));
        let interface = |card: u32, device: u32, kind| NetworkInterface {
            device,
            card: Some(card),
            kind: Some(kind),
            public: None,
            groups: &[],
        };
        let others = first..first.saturating_add(others);
        let others = others.map(|card| interface(card, u32::from(card == 0 || !self.only), kind));
        let all: Vec<_> = std::iter::once(interface(0, 0, primary)).chain(others).collect();
        all.into_iter()
    }
}

impl InstanceOptions {
    /// The network interfaces that a launch template has to name: EC2 takes a public address, and then the security groups, for an
    /// interface only, and the address for a single interface only (EC2 API Reference,
    /// LaunchTemplateInstanceNetworkInterfaceSpecificationRequest). Interfaces without security groups of their own have `groups`.
    pub fn network_interfaces<'a>(
        &'a self,
        groups: &'a [SecurityGroupId],
    ) -> impl Iterator<Item = NetworkInterface<'a>> {
        let of_efa = self.efa.into_iter().flat_map(Efa::network_interfaces);
        let mut interfaces: Vec<NetworkInterface<'a>> =
            of_efa.map(|it| NetworkInterface { groups, ..it }).collect();
        if interfaces.is_empty() && (self.public_address.is_some() || !self.interfaces.is_empty()) {
            interfaces.push(NetworkInterface { device: 0, card: None, kind: None, public: None, groups });
        }
        for AdditionalInterface { card, security_groups } in &self.interfaces {
            let groups = if security_groups.is_empty() { groups } else { security_groups.as_slice() };
            let device = next_device(&interfaces, *card);
            let card = (*card > 0).then_some(*card);
            interfaces.push(NetworkInterface { device, card, kind: None, public: None, groups });
        }
        if let [single] = interfaces.as_mut_slice() {
            single.public = self.public_address;
        }
        interfaces.into_iter()
    }
}

/// Device index of a further interface of this network card. On every card the first interface with an Elastic Network Adapter
/// besides the primary one has 1.
fn next_device(interfaces: &[NetworkInterface<'_>], card: u32) -> u32 {
    let on_card = interfaces.iter().filter(|it| it.card.unwrap_or(0) == card);
    on_card.map(|it| it.device).max().unwrap_or(0).saturating_add(1)
}

/// Key and value of the tag of network interfaces that the Amazon VPC CNI does not use for Pods (amazon-vpc-cni-k8s, README, "No
/// Manage tag"). It uses the primary interface in spite of it (amazon-vpc-cni-k8s, `setUnmanagedENIs` in `pkg/ipamd/ipamd.go`).
pub const NOT_FOR_PODS: (&str, &str) = ("node.k8s.amazonaws.com/no_manage", "true");

/// A placement group or dedicated hosts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placement {
    /// A placement group.
    Group {
        /// Which one.
        group: PlacementGroup,
        /// Partition of all instances, 1 to 7; EC2 chooses if absent.
        #[serde(default, skip_serializing_if = "is_default")]
        partition: Option<u32>,
    },
    /// The dedicated hosts of the host resource group with this ARN; the tenancy is `host` then.
    HostResourceGroup(String),
}

/// Which placement group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlacementGroup {
    /// The one with this name.
    Name(String),
    /// The one with this id.
    Id(String),
}

/// Which Capacity Reservations instances use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CapacityReservation {
    /// Whichever match, or none.
    Preference(ReservationPreference),
    /// The one with this id.
    Id(String),
    /// Those in the resource group with this ARN.
    ResourceGroup(String),
    /// The Capacity Block with this id: the instances have the market of Capacity Blocks (Auto Scaling User Guide, "Use Capacity
    /// Blocks for machine learning workloads").
    Block(String),
}

impl CapacityReservation {
    /// Whether the instances have the market of Capacity Blocks.
    pub fn is_block(&self) -> bool {
        matches!(self, Self::Block(_))
    }
}

/// Whether instances use reservations that match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "the names are EC2's own (EC2 API Reference, LaunchTemplateCapacityReservationSpecificationRequest)"
)]
pub enum ReservationPreference {
    Open,
    None,
    CapacityReservationsOnly,
}

/// Processors of instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cores {
    /// Number of cores.
    pub count: u32,
    /// Threads of each: 1 or 2.
    pub threads: u32,
}

/// Tenancy of instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[expect(
    missing_docs,
    reason = "the names are EC2's own (EC2 API Reference, LaunchTemplatePlacementRequest)"
)]
pub enum Tenancy {
    Default,
    Dedicated,
}

/// How burstable instances use processors above their baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[expect(missing_docs, reason = "the names are EC2's own (EC2 API Reference, CreditSpecificationRequest)")]
pub enum CpuCredits {
    Standard,
    Unlimited,
}

/// How the baseline bandwidth is divided between network and EBS, as EC2 names it (EC2 API Reference,
/// LaunchTemplateNetworkPerformanceOptionsRequest).
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    IntoStaticStr,
    strum::EnumString,
)]
pub enum BandwidthWeighting {
    /// As the instance type has it.
    #[serde(rename = "default")]
    #[strum(serialize = "default")]
    Default,
    /// More for the network, less for EBS.
    #[serde(rename = "vpc-1")]
    #[strum(serialize = "vpc-1")]
    Vpc1,
    /// More for EBS, less for the network.
    #[serde(rename = "ebs-1")]
    #[strum(serialize = "ebs-1")]
    Ebs1,
}

/// Private DNS names of instances; as the subnet has them where absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PrivateDns {
    /// What the host name is derived from.
    #[serde(skip_serializing_if = "is_default")]
    pub hostname: Option<HostnameType>,
    /// Whether the name with the instance's id resolves to its IPv4 address.
    #[serde(skip_serializing_if = "is_default")]
    pub a_record: Option<bool>,
    /// Whether it resolves to its IPv6 address.
    #[serde(skip_serializing_if = "is_default")]
    pub aaaa_record: Option<bool>,
}

/// What a host name is derived from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "the names are EC2's own (EC2 API Reference, LaunchTemplatePrivateDnsNameOptionsRequest)"
)]
pub enum HostnameType {
    IpName,
    ResourceName,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Spot market options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpotOptions {
    /// Highest price per hour in US dollars; the on-demand price if absent.
    pub max_price: Option<String>,
}

/// Instance types and purchase options of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstancesMix {
    /// The types to choose from, by priority.
    pub overrides: Vec<MixOverride>,
    /// How many instances, at least, are on demand.
    pub on_demand_base: u32,
    /// Share of on-demand instances above the base, 0–100.
    pub on_demand_percentage: u32,
    /// How the type of an on-demand instance is chosen.
    pub on_demand_strategy: OnDemandStrategy,
    /// How spot pools are chosen.
    pub spot_strategy: SpotStrategy,
    /// Highest spot price per hour in US dollars.
    pub spot_max_price: Option<String>,
}

/// One choice of a mix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MixOverride {
    /// What AWS may launch.
    pub types: MixTypes,
    /// The image that these types boot, if it is another one than that of the launch template.
    pub image: Option<ImageId>,
}

/// The instance types of one choice of a mix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MixTypes {
    /// The type with this name.
    Named(InstanceType),
    /// All types with these attributes, without AWS's defaults.
    Requirements(Requirements),
}

impl MixOverride {
    /// A type by its name, with its own image if it has one.
    pub fn named(instance_type: InstanceType, image: Option<ImageId>) -> Self {
        Self { types: MixTypes::Named(instance_type), image }
    }

    /// Types by their attributes, with their own image if they have one.
    pub fn described(requirements: Requirements, image: Option<ImageId>) -> Self {
        Self { types: MixTypes::Requirements(requirements), image }
    }
}

impl InstancesMix {
    /// The choice of these types.
    pub fn choice_of(&self, types: &MixTypes) -> Option<&MixOverride> {
        self.overrides.iter().find(|choice| choice.types == *types)
    }

    /// The mix for a launch template version with this image for the types that do not boot that of the launch template; without one
    /// there is nothing that they could boot, and they are left out. Which types these are follows from `wanted`, the mix of the spec,
    /// and from this mix for types that the spec does not have: any user of AWS can change the overrides of a group.
    pub fn with_other_image(mut self, image: Option<&ImageId>, wanted: Option<&Self>) -> Self {
        let adapted = |choice: &MixOverride| {
            let of_spec = wanted.and_then(|wanted| wanted.choice_of(&choice.types));
            let other = of_spec.unwrap_or(choice).image.is_some();
            let image = if other { Some(image?.clone()) } else { None };
            Some(MixOverride { types: choice.types.clone(), image })
        };
        self.overrides = self.overrides.iter().filter_map(adapted).collect();
        self
    }
}

/// On-demand allocation strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "the names are AWS's own (Auto Scaling User Guide, \"Allocation strategies\")"
)]
pub enum OnDemandStrategy {
    Prioritized,
    LowestPrice,
}

impl OnDemandStrategy {
    /// AWS's default: attributes have no order (Auto Scaling API Reference, `InstancesDistribution`).
    pub fn default_for(overrides: &[MixOverride]) -> Self {
        let by_attributes = overrides.iter().any(|it| matches!(it.types, MixTypes::Requirements(_)));
        if by_attributes { Self::LowestPrice } else { Self::Prioritized }
    }
}

/// Spot allocation strategies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "the names are AWS's own (Auto Scaling User Guide, \"Allocation strategies\")"
)]
pub enum SpotStrategy {
    PriceCapacityOptimized,
    CapacityOptimized,
    CapacityOptimizedPrioritized,
    LowestPrice,
}

impl SpotStrategy {
    /// AWS's text.
    pub fn name(self) -> &'static str {
        match self {
            Self::PriceCapacityOptimized => "price-capacity-optimized",
            Self::CapacityOptimized => "capacity-optimized",
            Self::CapacityOptimizedPrioritized => "capacity-optimized-prioritized",
            Self::LowestPrice => "lowest-price",
        }
    }

    /// The strategy of an AWS text.
    pub fn from_name(text: &str) -> Option<Self> {
        [
            Self::PriceCapacityOptimized,
            Self::CapacityOptimized,
            Self::CapacityOptimizedPrioritized,
            Self::LowestPrice,
        ]
        .into_iter()
        .find(|strategy| strategy.name() == text)
    }
}

impl VolumeType {
    /// AWS's text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gp2 => "gp2",
            Self::Gp3 => "gp3",
            Self::Io1 => "io1",
            Self::Io2 => "io2",
            Self::St1 => "st1",
            Self::Sc1 => "sc1",
        }
    }
}

/// A launch template that exists, with the versions we made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchTemplate {
    /// Its id.
    pub id: LaunchTemplateId,
    /// Its name: equal to its group's name.
    pub name: String,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// Its versions, ascending.
    pub versions: Vec<TemplateRecord>,
}

/// One version of a template as we find it again: the hashes are read from its description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateRecord {
    /// Version number.
    pub version: TemplateVersion,
    /// Hash of the content that rolls nodes; `None` for a version that another user created.
    pub spec_hash: Option<SpecHash>,
    /// Hash of what makes a new version but rolls nothing (user data, tags); `None` for a version that another user created.
    pub data_hash: Option<SpecHash>,
    /// Hash of the name of the Secret that its user data came from; `None` if that was not recorded.
    pub source_hash: Option<SpecHash>,
    /// The object that its user data fetches, if it does.
    pub object: Option<ObjectPlace>,
    /// Image of arm64 types ([`TemplateContent::arm64_image`]).
    #[serde(default)]
    pub arm64_image: Option<ImageId>,
    /// Whether it is the template's default version, which cannot be deleted.
    pub is_default: bool,
    /// When it was made.
    pub created: AwsTime,
}

impl LaunchTemplate {
    /// What is known of one of its versions.
    pub fn record(&self, version: TemplateVersion) -> Option<&TemplateRecord> {
        self.versions.iter().find(|record| record.version == version)
    }
}

impl TemplateRecord {
    /// A version whose description has these hashes. Without any, another user created it.
    pub fn new(
        version: TemplateVersion,
        hashes: Option<TemplateHashes>,
        is_default: bool,
        created: AwsTime,
    ) -> Self {
        let (spec_hash, data_hash, source_hash, object, arm64_image) = match hashes {
            None => (None, None, None, None, None),
            Some(TemplateHashes { spec, data, source, object, arm64_image }) => {
                (Some(spec), Some(data), source, object, arm64_image)
            }
        };
        Self { version, spec_hash, data_hash, source_hash, object, arm64_image, is_default, created }
    }
}

/// The hashes that a version carries in its description, and what is in no field of the version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateHashes {
    /// Of the content that rolls nodes.
    pub spec: SpecHash,
    /// Of what makes a new version but rolls nothing.
    pub data: SpecHash,
    /// Of the name of the Secret that the user data came from.
    pub source: Option<SpecHash>,
    /// The object that the user data fetches, if it does.
    pub object: Option<ObjectPlace>,
    /// Image of arm64 types ([`TemplateContent::arm64_image`]).
    pub arm64_image: Option<ImageId>,
}

impl TemplateHashes {
    /// Most characters of a description (EC2 API Reference, CreateLaunchTemplateVersion).
    pub const LONGEST: usize = 255;

    /// The description that carries them: `foo spec=<hash> data=<hash> source=<hash> object=<bucket>/<prefix>/<name> arm64=<image>`. It
    /// has at most [`Self::LONGEST`] characters, since a prefix has at most 32, unless there are both an object and an image of arm64.
    pub fn describe(&self) -> String {
        let Self { spec, data, source, object, arm64_image } = self;
        let mut text = format!("foo spec={spec} data={data}");
        text.extend(source.iter().map(|source| format!(" source={source}")));
        text.extend(object.iter().map(|object| format!(" object={object}")));
        text.extend(arm64_image.iter().map(|image| format!(" arm64={image}")));
        text
    }

    /// The hashes in a description that [`Self::describe`] wrote. Words that are not known yet are passed over.
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.strip_prefix("foo ")?.split(' ');
        let spec = SpecHash::new(words.next()?.strip_prefix("spec=")?);
        let data = SpecHash::new(words.next()?.strip_prefix("data=")?);
        let words: Vec<&str> = words.collect();
        let named = |name: &str| words.iter().find_map(|word| word.strip_prefix(name));
        let source = named("source=").map(SpecHash::new);
        let object = named("object=").and_then(|place| place.parse().ok());
        let arm64_image = named("arm64=").map(ImageId::new);
        Some(Self { spec, data, source, object, arm64_image })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::Storage;
    use crate::requirements::List;

    #[test]
    fn the_longest_description_is_accepted_and_reads_back() {
        let hash = || SpecHash::new("v1-0123456789abcdef");
        let storage = Storage { bucket: "b".repeat(63), prefix: "p".repeat(32) };
        let object = ObjectPlace { storage, name: "0f".repeat(32) };
        let mut hashes = TemplateHashes {
            spec: hash(),
            data: hash(),
            source: Some(hash()),
            object: Some(object),
            arm64_image: None,
        };
        let text = hashes.describe();
        assert!(text.len() <= TemplateHashes::LONGEST, "{} characters", text.len());
        assert_eq!(TemplateHashes::parse(&text), Some(hashes.clone()));
        (hashes.object, hashes.arm64_image) = (None, Some("ami-0123456789abcdef0".into()));
        let text = hashes.describe();
        assert!(text.ends_with(" arm64=ami-0123456789abcdef0") && text.len() <= TemplateHashes::LONGEST);
        assert_eq!(TemplateHashes::parse(&text), Some(hashes));
    }

    /// Network card, device index and security groups of the interfaces of these options, whose own groups are `sg-1`.
    fn layout(options: &InstanceOptions) -> Vec<(u32, u32, String)> {
        let groups = [SecurityGroupId::new("sg-1")];
        let shown = |it: NetworkInterface<'_>| {
            let groups: Vec<&str> = it.groups.iter().map(SecurityGroupId::as_str).collect();
            (it.card.unwrap_or(0), it.device, groups.join(","))
        };
        options.network_interfaces(&groups).map(shown).collect()
    }

    fn on_cards(cards: &[u32]) -> Vec<AdditionalInterface> {
        cards.iter().map(|card| AdditionalInterface { card: *card, security_groups: Vec::new() }).collect()
    }

    #[test]
    fn additional_interfaces_follow_the_primary_one_and_elastic_fabric_adapters() {
        let check = |efa: Option<Efa>, interfaces: Vec<AdditionalInterface>, expected: &[(u32, u32)]| {
            let options = InstanceOptions { efa, interfaces, ..InstanceOptions::default() };
            let places: Vec<_> =
                layout(&options).into_iter().map(|(card, device, _)| (card, device)).collect();
            assert_eq!(places, expected, "{options:?}");
        };
        let efa = |primary, only| Some(Efa { interfaces: 2, primary, only });
        check(None, on_cards(&[]), &[]);
        check(None, on_cards(&[0, 0]), &[(0, 0), (0, 1), (0, 2)]);
        check(None, on_cards(&[1, 1, 2]), &[(0, 0), (1, 1), (1, 2), (2, 1)]);
        check(efa(Primary::Plain, true), on_cards(&[0, 1]), &[(0, 0), (0, 1), (1, 0), (0, 2), (1, 1)]);
        check(efa(Primary::Efa, false), on_cards(&[0, 1]), &[(0, 0), (1, 1), (0, 1), (1, 2)]);
    }

    #[test]
    fn an_additional_interface_has_its_own_security_groups_or_those_of_the_instance() {
        let mut interfaces = on_cards(&[0, 0]);
        interfaces[1].security_groups = vec!["sg-2".into(), "sg-3".into()];
        let options = InstanceOptions { interfaces, ..InstanceOptions::default() };
        let groups: Vec<String> = layout(&options).into_iter().map(|(_, _, groups)| groups).collect();
        assert_eq!(groups, ["sg-1", "sg-1", "sg-2,sg-3"]);
    }

    #[test]
    fn a_single_interface_has_the_public_address_and_several_have_none() {
        let publics = |interfaces: Vec<AdditionalInterface>| -> Vec<Option<bool>> {
            let options =
                InstanceOptions { public_address: Some(true), interfaces, ..InstanceOptions::default() };
            options.network_interfaces(&[]).map(|it| it.public).collect()
        };
        assert_eq!(publics(on_cards(&[])), [Some(true)]);
        assert_eq!(publics(on_cards(&[0])), [None, None]);
    }

    fn of_types(overrides: Vec<MixOverride>) -> InstancesMix {
        InstancesMix {
            overrides,
            on_demand_base: 0,
            on_demand_percentage: 100,
            on_demand_strategy: OnDemandStrategy::LowestPrice,
            spot_strategy: SpotStrategy::LowestPrice,
            spot_max_price: None,
        }
    }

    /// `x86` and `arm` are the types of a pool, of which the first boot the image of the launch template.
    fn check_images_of_version(x86: &MixTypes, arm: &MixTypes) {
        let plain = |types: &MixTypes| MixOverride { types: types.clone(), image: None };
        let with = |types: &MixTypes, image: &str| MixOverride { image: Some(image.into()), ..plain(types) };
        let both = |image: &str| of_types(vec![plain(x86), with(arm, image)]);
        let only_x86 = of_types(vec![plain(x86)]);
        let (image, wanted) = (ImageId::new("ami-1"), both("ami-3"));
        for wanted in [None, Some(&wanted)] {
            assert_eq!(both("ami-2").with_other_image(Some(&image), wanted), both("ami-1"));
            assert_eq!(both("ami-2").with_other_image(None, wanted), only_x86);
            let same = only_x86.clone().with_other_image(Some(&image), wanted);
            assert_eq!(same, only_x86, "none of these is arm64");
        }
        let confused = of_types(vec![with(x86, "ami-2"), plain(arm)]);
        assert_eq!(confused.clone().with_other_image(Some(&image), Some(&wanted)), both("ami-1"));
        assert_eq!(confused.with_other_image(None, Some(&wanted)), only_x86);
    }

    #[test]
    fn the_types_of_a_mix_that_boot_another_image_get_that_of_the_version() {
        let [x86, arm] = ["m7i.large", "m7g.large"].map(|name| MixTypes::Named(name.into()));
        check_images_of_version(&x86, &arm);
    }

    #[test]
    fn sets_of_attributes_that_boot_another_image_get_that_of_the_version() {
        let [x86, arm] = ["intel", "amazon-web-services"].map(|maker| {
            MixTypes::Requirements(Requirements {
                lists: [(List::CpuManufacturers, [maker.to_owned()].into())].into(),
                ..Requirements::default()
            })
        });
        check_images_of_version(&x86, &arm);
    }

    #[test]
    fn a_description_of_an_earlier_version_names_no_object() {
        let read = TemplateHashes::parse("foo spec=v1-a data=v1-b source=v1-c").unwrap();
        assert_eq!((read.source, read.object), (Some(SpecHash::new("v1-c")), None));
        let read = TemplateHashes::parse("foo spec=v1-a data=v1-b object=nonsense").unwrap();
        assert_eq!(read.object, None);
    }
}
