//! What the checks read from AWS.

use async_trait::async_trait;
use foo_cloud::{ImageInfo, ImageQuery, InstanceTypeInfo, NetworkQuery, Result, SubnetInfo, VcpuQuota};
use foo_model::eks::{InstanceProfile, Role, VersionOffer};
use foo_model::network::{Kind, Quotas, ZoneInfo};
use foo_model::{ImageId, InstanceType, Zone};
use std::collections::{BTreeMap, BTreeSet};

/// An Auto Scaling group of a Cluster: its instances have their addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Name of its FooMachinePool, if a tag has it.
    pub pool: Option<String>,
    /// Its subnets.
    pub subnets: BTreeSet<String>,
    /// How many instances it has.
    pub instances: usize,
}

/// One account and region, as far as the checks read it.
///
/// # Errors
/// Of every read: a missing response and a missing right are gaps in the report; `NotFound` and `Invalid` are findings.
#[async_trait]
pub trait Account: Send + Sync {
    /// An image.
    async fn image(&self, id: &ImageId) -> Result<ImageInfo>;
    /// The value of an SSM parameter, if there is one.
    async fn parameter(&self, name: &str) -> Result<Option<String>>;
    /// The newest image that a query selects; deprecated ones do not count.
    async fn newest_image(&self, query: &ImageQuery) -> Result<Option<ImageInfo>>;
    /// An instance type.
    async fn instance_type(&self, name: &InstanceType) -> Result<InstanceTypeInfo>;
    /// The subnets that a query names.
    async fn subnets(&self, query: &NetworkQuery) -> Result<Vec<SubnetInfo>>;
    /// An instance profile, if there is one.
    async fn instance_profile(&self, name: &str) -> Result<Option<InstanceProfile>>;
    /// A role, if there is one.
    async fn role(&self, name: &str) -> Result<Option<Role>>;
    /// The Kubernetes versions that EKS offers in the region.
    async fn eks_versions(&self) -> Result<Vec<VersionOffer>>;
    /// How many vCPUs of a quota can run; `None` if AWS does not return it.
    async fn vcpu_quota(&self, quota: VcpuQuota) -> Result<Option<u32>>;
    /// The region's zones.
    async fn zones(&self) -> Result<BTreeMap<Zone, ZoneInfo>>;
    /// What networks may have and what there is of it.
    async fn quotas(&self) -> Result<Quotas>;
    /// Whether there is something of a Cluster's managed network: a part of this kind with its tag.
    async fn has_begun(&self, cluster: &str, kind: Kind) -> Result<bool>;
    /// The Auto Scaling groups with the tag of a Cluster.
    async fn groups(&self, cluster: &str) -> Result<Vec<Group>>;
}
