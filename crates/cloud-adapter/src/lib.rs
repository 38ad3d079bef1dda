//! AWS Auto Scaling, EC2, Elastic Load Balancing, Service Quotas, Systems Manager, EKS, IAM, S3 and SQS behind the traits of `foo-cloud`.
//!
//! The only crate that links the AWS SDK: aws-sdk-ec2 takes minutes and gigabytes to compile, so nothing else
//! may depend on this crate except where a program is put together: the manager, the extension, the probe. It makes
//! no decisions and has no caches and no limits: one trait method is one API call, with input and output translated and
//! errors classified by AWS's error code.
//!
//! * `clients`: the SDK's clients;
//! * [`connect`]: credentials, HTTP, timeouts, retries;
//! * `recorder`: requests and responses as they are on the wire;
//! * `groups`, `templates`, `instances`, `lookups`: the operations by family, with the shapes they need;
//! * `images`: images, and the parameters that name them;
//! * `networks`: VPCs and the resources in them;
//! * `eks`: EKS clusters; `token`: their tokens, which are signed here and never sent;
//! * `objects`: S3;
//! * `queue`: one SQS queue;
//! * `roles`: IAM;
//! * `sessions`: sessions of roles, and the cache of credentials;
//! * `error`: from SDK errors to [`foo_cloud::ErrorKind`].
//!
//! The SDK repeats reads, heartbeats, and creations with a client token. Every other change is sent once.

mod clients;
pub mod connect;
mod eks;
mod error;
mod filters;
mod groups;
mod ids;
mod images;
mod instances;
mod lookups;
mod networks;
mod numbers;
mod objects;
mod queue;
mod recorder;
mod reservations;
mod roles;
mod sessions;
mod templates;
mod token;
mod volumes;

pub use clients::AwsCloud;
pub use connect::{AwsSettings, ConnectError, Identity, Proxy, Timeouts};
pub use queue::AwsQueue;
pub use recorder::{Exchange, Recorder};
pub use sessions::AssumedRole;

use async_trait::async_trait;
use foo_cloud::{
    Compute, Described, ImageInfo, ImageQuery, InstanceTypeInfo, Made, NetworkQuery, Result,
    SecurityGroupInfo, SubnetInfo, TemplateSummary, VcpuQuota, VersionCopy, VolumeInfo,
};
use foo_model::{
    FoundReservation, ImageId, InstanceId, InstanceType, LaunchTemplate, LaunchTemplateId, TemplateContent,
    TemplateRecord, TemplateVersion,
};
use std::collections::{BTreeMap, BTreeSet};

impl AwsCloud {
    /// Prepares clients; makes no call yet.
    pub async fn connect(settings: AwsSettings) -> Result<Self, ConnectError> {
        connect::connect(settings).await
    }
}

#[async_trait]
impl Compute for AwsCloud {
    async fn create_template(
        &self,
        name: &str,
        content: &TemplateContent,
        description: &str,
        tags: &BTreeMap<String, String>,
        token: &str,
    ) -> Result<Made<(LaunchTemplateId, TemplateVersion)>> {
        templates::create(&self.ec2.repeating, name, content, description, tags, token).await
    }
    async fn create_template_version(
        &self,
        id: &LaunchTemplateId,
        content: &TemplateContent,
        description: &str,
        token: &str,
    ) -> Result<Made<TemplateVersion>> {
        templates::create_version(&self.ec2.repeating, id, content, description, token).await
    }
    async fn copy_template_version(
        &self,
        id: &LaunchTemplateId,
        copy: VersionCopy<'_>,
        description: &str,
        token: &str,
    ) -> Result<Made<TemplateVersion>> {
        templates::copy_version(&self.ec2.repeating, id, copy, description, token).await
    }
    async fn describe_template(&self, name: &str) -> Result<Option<LaunchTemplate>> {
        templates::describe(&self.ec2.repeating, name).await
    }
    async fn describe_templates_tagged(&self, tag_key: &str) -> Result<Vec<TemplateSummary>> {
        templates::describe_tagged(&self.ec2.repeating, tag_key).await
    }
    async fn describe_latest_versions(
        &self,
        ids: &BTreeSet<LaunchTemplateId>,
    ) -> Result<BTreeMap<LaunchTemplateId, TemplateRecord>> {
        templates::describe_latest(&self.ec2.repeating, ids).await
    }
    async fn delete_template_versions(
        &self,
        id: &LaunchTemplateId,
        versions: &[TemplateVersion],
    ) -> Result<()> {
        templates::delete_versions(&self.ec2.once, id, versions).await
    }
    async fn delete_template(&self, id: &LaunchTemplateId) -> Result<()> {
        templates::delete(&self.ec2.once, id).await
    }
    async fn describe_instances(&self, ids: &[InstanceId]) -> Result<BTreeMap<InstanceId, Described>> {
        instances::describe(&self.ec2.repeating, ids).await
    }
    async fn describe_instance_types(&self, types: &[InstanceType]) -> Result<Vec<InstanceTypeInfo>> {
        instances::describe_types(&self.ec2.repeating, types).await
    }
    async fn vcpu_quota(&self, quota: VcpuQuota) -> Result<Option<u32>> {
        networks::allowed(&self.quotas, ("ec2", quota.code())).await
    }
    async fn describe_volumes_tagged(&self, tag_key: &str) -> Result<Vec<VolumeInfo>> {
        volumes::describe_tagged(&self.ec2.repeating, tag_key).await
    }
    async fn describe_capacity_reservation(&self, id: &str) -> Result<Option<FoundReservation>> {
        reservations::describe(&self.ec2.repeating, id).await
    }
    async fn describe_images(&self, ids: &[ImageId]) -> Result<Vec<ImageInfo>> {
        images::describe(&self.ec2.repeating, ids).await
    }
    async fn find_images(&self, query: &ImageQuery) -> Result<Vec<ImageInfo>> {
        images::find(&self.ec2.repeating, query).await
    }
    async fn parameter(&self, name: &str) -> Result<Option<String>> {
        images::parameter(&self.ssm, name).await
    }
    async fn describe_subnets(&self, query: &NetworkQuery) -> Result<Vec<SubnetInfo>> {
        lookups::describe_subnets(&self.ec2.repeating, query).await
    }
    async fn describe_security_groups(&self, query: &NetworkQuery) -> Result<Vec<SecurityGroupInfo>> {
        lookups::describe_security_groups(&self.ec2.repeating, query).await
    }
}
