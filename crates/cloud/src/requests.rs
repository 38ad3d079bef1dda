//! Parameters and results of calls, beyond the nouns of `foo-model`.

use crate::error::CloudError;
use foo_model::{
    AwsTime, BandwidthWeighting, Group, GroupName, ImageId, InstanceId, InstanceType, LaunchTemplateId,
    Process, SecurityGroupId, SubnetId, TemplateVersion, UserData, Zone,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A template version to create from another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionCopy<'a> {
    /// The version to copy.
    pub from: TemplateVersion,
    /// The user data of the copy; everything else except these tags stays, as do the tags of network interfaces.
    pub user_data: &'a UserData,
    /// The tags of instances and volumes of the copy.
    pub tags: &'a BTreeMap<String, String>,
}

/// Something that EC2 created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made<T> {
    /// What was created.
    pub made: T,
    /// EC2's warning about what will not work: EC2 creates it nevertheless, and refuses it later.
    pub warning: Option<String>,
}

/// The result of describing groups by name. A name in neither part has no group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundGroups {
    /// Those that exist.
    pub groups: Vec<Group>,
    /// Those with an invalid description, and what is wrong: they exist, but were not observed.
    pub odd: BTreeMap<GroupName, CloudError>,
}

impl From<Vec<Group>> for FoundGroups {
    fn from(groups: Vec<Group>) -> Self {
        Self { groups, odd: BTreeMap::new() }
    }
}

/// AWS's response to a call that terminates several instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It terminates all of them.
    All,
    /// It terminates fewer than requested; it does not show which.
    NotAll,
}

/// A launch template without its versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateSummary {
    /// Its id.
    pub id: LaunchTemplateId,
    /// Its name.
    pub name: String,
    /// Number of its latest version.
    pub latest: TemplateVersion,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

/// State of an instance, as EC2 reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are AWS's own (EC2 User Guide, \"Instance state changes\")")]
pub enum InstanceState {
    Pending,
    Running,
    ShuttingDown,
    Terminated,
    Stopping,
    Stopped,
}

impl InstanceState {
    /// Whether it runs or may run again: neither terminated nor terminating.
    pub fn is_alive(self) -> bool {
        !matches!(self, Self::ShuttingDown | Self::Terminated)
    }
}

/// What EC2 reports about an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceDetails {
    /// Its id.
    pub id: InstanceId,
    /// Its state.
    pub state: InstanceState,
    /// Its zone.
    pub zone: Zone,
    /// Its type.
    pub instance_type: InstanceType,
    /// Private DNS name, which is the Node's name with the AWS cloud provider's default.
    pub private_dns: Option<String>,
    /// Private IPv4 address.
    pub private_ip: Option<String>,
    /// Public DNS name.
    pub public_dns: Option<String>,
    /// Public IPv4 address.
    pub public_ip: Option<String>,
    /// Whether it is a spot instance.
    pub spot: bool,
}

/// EC2's response about one instance. An id that is missing in a response is neither known nor unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Described {
    /// The details.
    Known(InstanceDetails),
    /// EC2 does not know the id. That is so for an instance that terminated an hour ago, and sometimes for a
    /// live one: EC2's reads trail its writes (EC2 Developer Guide, "Eventual consistency").
    NotFound,
}

impl Described {
    /// The details, if EC2 knows the instance.
    pub fn details(&self) -> Option<&InstanceDetails> {
        match self {
            Self::Known(details) => Some(details),
            Self::NotFound => None,
        }
    }
}

/// What an instance type offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceTypeInfo {
    /// The type.
    pub instance_type: InstanceType,
    /// Default vCPUs.
    pub vcpus: u32,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// Total number of NVIDIA GPUs.
    pub nvidia_gpus: u32,
    /// Total number of AWS Inferentia and Trainium devices.
    pub neuron_devices: u32,
    /// First supported architecture, as AWS names it: `x86_64` or `arm64`.
    pub architecture: String,
    /// Number of network cards, at least 1.
    pub network_cards: u32,
    /// Maximum number of Elastic Fabric Adapter interfaces: 0 if it has none.
    pub efa_interfaces: u32,
    /// Bandwidth weightings that it offers, of those that the provider knows: empty if its bandwidth cannot be configured.
    pub bandwidth_weightings: BTreeSet<BandwidthWeighting>,
    /// Limits of its addresses; absent if EC2 does not report them.
    pub addresses: Option<AddressLimits>,
    /// Maximum number of network interfaces of each network card, by the index of the card; without cards of which EC2 does not
    /// report it.
    pub interfaces_per_card: BTreeMap<u32, u32>,
}

/// How many addresses the network interfaces of an instance can have (EC2 API Reference, `NetworkInfo`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressLimits {
    /// Maximum number of network interfaces on the default network card.
    pub interfaces: u32,
    /// Maximum number of private IPv4 addresses of one interface.
    pub ipv4_per_interface: u32,
    /// Whether an interface can have prefixes in place of addresses: on the Nitro System, bare metal included (EC2 User Guide,
    /// "Prefix delegation for Amazon EC2 network interfaces").
    pub prefixes: bool,
}

/// An EBS volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeInfo {
    /// Its id.
    pub id: String,
    /// Whether it is deleted together with the instance that it is attached to (EC2 API Reference, VolumeAttachment,
    /// `deleteOnTermination`).
    pub goes_with_instance: bool,
}

/// What an image is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageInfo {
    /// Its id.
    pub id: ImageId,
    /// Its name.
    pub name: String,
    /// `x86_64` or `arm64`.
    pub architecture: String,
    /// Device name of the root volume (`/dev/xvda`).
    pub root_device: String,
    /// Whether it can be launched (`available`).
    pub available: bool,
    /// When it was created; the epoch if AWS does not return it.
    pub created: AwsTime,
    /// Since when it is deprecated, or when it will be. Its owner gets it in responses nevertheless.
    pub deprecated_from: Option<AwsTime>,
}

/// Selects images by owner, name and architecture.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ImageQuery {
    /// Account id, or `self`, `amazon` or `aws-marketplace`.
    pub owner: String,
    /// Name, in which `*` matches any text and `?` any character.
    pub name: String,
    /// `x86_64` or `arm64`.
    pub architecture: String,
}

/// Names parts of the network: by id, or by tags that must all match.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NetworkQuery {
    /// These ids.
    Ids(Vec<String>),
    /// Everything in the VPC (if given) with all of these tags; an empty value matches any value of the key.
    Tags {
        /// VPC to search in.
        vpc: Option<String>,
        /// Tags that must all match.
        tags: BTreeMap<String, String>,
    },
}

/// The value with its wildcards escaped (EC2 User Guide, "List and filter your resources").
pub fn literal(value: &str) -> String {
    value.chars().fold(String::with_capacity(value.len()), |mut text, c| {
        if matches!(c, '*' | '?' | '\\') {
            text.push('\\');
        }
        text.push(c);
        text
    })
}

/// What a subnet is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubnetInfo {
    /// Its id.
    pub id: SubnetId,
    /// Its zone.
    pub zone: Zone,
    /// The VPC it belongs to.
    pub vpc: String,
    /// Whether instances get public addresses there (MapPublicIpOnLaunch): this makes a subnet public here.
    pub public: bool,
    /// Free IPv4 addresses.
    pub free_addresses: u32,
}

/// What a security group is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityGroupInfo {
    /// Its id.
    pub id: SecurityGroupId,
    /// The VPC it belongs to.
    pub vpc: String,
}

/// Processes as a set, the form comparisons use.
pub type Processes = BTreeSet<Process>;

/// A token for the API server of an EKS cluster. Its text is a credential.
#[derive(Clone, PartialEq, Eq)]
pub struct ClusterToken {
    /// `k8s-aws-v1.…`.
    pub token: String,
    /// How long it is valid from now on: 15 minutes (aws-iam-authenticator, "API Authorization from Outside a
    /// Cluster"), or as long as the credentials that signed it, whatever is shorter. No moment: the caller's clock may
    /// not be the signer's.
    pub lives: Duration,
}

impl std::fmt::Debug for ClusterToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClusterToken").field("lives", &self.lives).finish_non_exhaustive()
    }
}
