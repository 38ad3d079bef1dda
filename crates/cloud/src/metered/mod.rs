//! A decorator that limits and measures every call of a cloud.
//!
//! Before each call it takes a token from the operation's bucket, after the more urgent calls that wait for one
//! ([`Priority`](foo_model::operation::Priority)); after it, it counts the outcome and the time. The response `Throttled`
//! makes the bucket slower for a while, so that repetitions do not add to the overload.
//!
//! The decorator repeats only heartbeats and completions of lifecycle actions, and only while AWS throttles them: a
//! throttled call was not carried out.
//!
//! A method that needs several API calls (pages, a batch with unknown ids) takes one token and counts once.

mod allowance;
mod bucket;
mod line;

pub use allowance::{Accounts, Allowance};
pub use bucket::Rate;

use crate::bucket::Bucket;
use crate::error::{CloudError, ErrorKind};
use crate::metrics::{Code, Metrics};
use crate::objects::{BucketOf, NewObject, ObjectInfo, Objects, Written};
use crate::queue::{Message, Queue, Receipt};
use crate::retry::{Jitter, RetryDelays};
use crate::{
    ClusterToken, Clusters, Compute, Described, Ended, FoundGroups, Groups, ImageInfo, ImageQuery,
    InstanceTypeInfo, Made, NetworkQuery, Networks, Result, Roles, SecurityGroupInfo, SubnetInfo,
    TemplateSummary, VcpuQuota, VersionCopy, VolumeInfo,
};
use async_trait::async_trait;
use foo_model::eks::{
    self, Changed, InstanceProfile, NewOidcProvider, OidcProvider, Query, QueryResult, Role,
};
use foo_model::hook::{Hooks, LifecycleHook};
use foo_model::network::{Change, Kind, Parts, Quotas, Scope};
use foo_model::{
    Activity, Decrement, FoundReservation, Group, GroupChange, GroupName, HookName, ImageId, InstanceId,
    InstanceType, LaunchTemplate, LaunchTemplateId, NewGroup, NotificationType, Notifications, Operation,
    Process, TargetGroupArn, Targets, TemplateContent, TemplateRecord, TemplateVersion, TopicArn,
    TrafficSource, WarmPoolSettings,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::Instrument;
use tracing::field::Empty;

/// A throttled heartbeat or completion is repeated for this long. The pool repeats it as well, after pauses of up to five
/// minutes: if AWS accepts one call in ten, that alone is too rare for a hook that times out after an hour.
const PERSISTS: Duration = Duration::from_secs(30);
/// Pauses between these repetitions, before the wait for a token.
const PAUSES: RetryDelays = RetryDelays { longest: Duration::from_secs(5), jitter: Jitter::Around };

/// Whether this process may change anything at this moment, which means that it leads.
pub type Permit = Arc<dyn Fn() -> bool + Send + Sync>;

/// A cloud whose calls are limited and measured. One per (credentials, region); those of one account share
/// their limits. It shares the inner cloud, so `C` may be a trait: `Metered<dyn Cloud>`.
pub struct Metered<C: ?Sized> {
    inner: Arc<C>,
    permit: Option<Permit>,
    metrics: Metrics,
    allowance: Arc<Allowance>,
}

/// Client-side limits, one per bucket.
///
/// The defaults stay below what AWS publishes (EC2 Developer Guide, "Request throttling for the Amazon EC2 API": 100
/// tokens, 20/s for describe calls; 50 tokens, 5/s for changes), because other controllers share the account. The size
/// of Auto Scaling's only bucket is unpublished; this one assumes 100 tokens, 10/s and leaves it half the burst. EKS's
/// and IAM's are unpublished too: these are enough for 100 idle clusters, which ask 30 times a minute together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// All Auto Scaling calls.
    pub auto_scaling: Rate,
    /// EC2 calls that only read.
    pub ec2_describe: Rate,
    /// EC2 calls that change something.
    pub ec2_mutate: Rate,
    /// All SQS calls.
    pub sqs: Rate,
    /// All calls of Elastic Load Balancing, Service Quotas and Systems Manager.
    pub rare: Rate,
    /// Reads of the health of targets.
    pub target_health: Rate,
    /// EKS calls that only read.
    pub eks_describe: Rate,
    /// EKS calls that change something.
    pub eks_mutate: Rate,
    /// All IAM calls. IAM counts those of all regions together, and all controllers of the account share them.
    pub iam: Rate,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            auto_scaling: Rate { per_second: 10, burst: 50 },
            ec2_describe: Rate { per_second: 15, burst: 80 },
            ec2_mutate: Rate { per_second: 4, burst: 40 },
            sqs: Rate { per_second: 100, burst: 100 },
            rare: Rate { per_second: 2, burst: 20 },
            target_health: Rate { per_second: 5, burst: 50 },
            eks_describe: Rate { per_second: 5, burst: 50 },
            eks_mutate: Rate { per_second: 1, burst: 20 },
            iam: Rate { per_second: 2, burst: 20 },
        }
    }
}

impl<C: ?Sized> Metered<C> {
    /// Adds limits and metrics to `inner`.
    pub fn new(inner: Arc<C>, limits: Limits, metrics: Metrics) -> Self {
        let allowance = Arc::new(Allowance::new(limits, Accounts::default(), ""));
        Self { inner, permit: None, metrics, allowance }
    }

    /// The same cloud with this allowance.
    #[must_use]
    pub fn drawing_from(mut self, allowance: Arc<Allowance>) -> Self {
        self.allowance = allowance;
        self
    }

    /// The same cloud, which sends changes only while `permit` is valid. Checked after the wait for a token,
    /// because the process may stop leading during the wait.
    #[must_use]
    pub fn permitted_by(mut self, permit: Permit) -> Self {
        self.permit = Some(permit);
        self
    }

    /// Waits for a token, sends the call, counts it, all in a span of traces.
    async fn around<T>(
        &self,
        operation: Operation,
        call: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let span = call_span(operation);
        let result = self.counted(operation, call).instrument(span.clone()).await;
        if let Err(error) = &result {
            let kind: &str = error.kind.into();
            span.record("error.type", kind);
            span.record("otel.status_code", "ERROR");
        }
        result
    }

    /// Sends a call about a lifecycle action of an instance, again while AWS throttles it. Only for calls that AWS has to
    /// receive in time.
    async fn persistently<T, F>(
        &self,
        operation: Operation,
        id: &InstanceId,
        call: impl Fn() -> F + Send + Sync,
    ) -> Result<T>
    where
        T: Send,
        F: Future<Output = Result<T>> + Send,
    {
        let (began, mut throttled) = (Instant::now(), 0_u32);
        loop {
            let result = self.around(operation, call()).await;
            if !is_throttled(&result) || began.elapsed() >= PERSISTS {
                return result;
            }
            throttled = throttled.saturating_add(1);
            tokio::time::sleep(PAUSES.after(throttled, 0, id)).await;
        }
    }

    async fn counted<T>(
        &self,
        operation: Operation,
        call: impl Future<Output = Result<T>> + Send,
    ) -> Result<T> {
        let buckets = self.allowance.buckets();
        let (bucket, priority) = (Bucket::of(operation), operation.priority());
        let tokens = buckets.tokens(bucket);
        let asked = Instant::now();
        let waiting = self.metrics.call_waits(bucket, priority);
        let taken = tokens.take(priority).await;
        drop(waiting);
        self.metrics.token_taken(bucket, priority, asked.elapsed(), taken.left, taken.rate_percent);
        tracing::Span::current().record("foo.wait_seconds", asked.elapsed().as_secs_f64());
        if operation.is_mutation() && self.permit.as_ref().is_some_and(|permit| !permit()) {
            let why = "not sent: this process does not lead any more";
            return Err(CloudError::new(operation, ErrorKind::Unreachable, None, why));
        }
        let sent = Instant::now();
        let result = call.await;
        self.metrics.call_ended(operation, Code::of(&result), sent.elapsed());
        if is_throttled(&result) {
            tokens.slow_down();
        }
        result
    }
}

fn is_throttled<T>(result: &Result<T>) -> bool {
    result.as_ref().is_err_and(|error| error.kind == ErrorKind::Throttled)
}

/// The span of a call, with the attributes that OpenTelemetry's conventions for AWS SDKs name.
fn call_span(operation: Operation) -> tracing::Span {
    let service: &str = operation.service().into();
    let name = format_args!("{service} {}", operation.name());
    tracing::info_span!(
        target: crate::lines::TRACES, "aws", otel.name = name, otel.kind = "client", rpc.system = "aws-api",
        rpc.service = service, rpc.method = operation.name(), foo.wait_seconds = Empty, error.type = Empty,
        otel.status_code = Empty
    )
}

impl<C: fmt::Debug + ?Sized> fmt::Debug for Metered<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metered").field("inner", &self.inner).finish_non_exhaustive()
    }
}

#[async_trait]
impl<C: Queue + ?Sized> Queue for Metered<C> {
    async fn receive(&self, wait: Duration, hide: Duration) -> Result<Vec<Message>> {
        self.around(Operation::ReceiveMessage, self.inner.receive(wait, hide)).await
    }
    async fn delete(&self, receipts: &[Receipt]) -> Result<()> {
        self.around(Operation::DeleteMessageBatch, self.inner.delete(receipts)).await
    }
    async fn hide(&self, receipt: &Receipt, time: Duration) -> Result<()> {
        self.around(Operation::ChangeMessageVisibility, self.inner.hide(receipt, time)).await
    }
}

#[async_trait]
impl<C: Groups + ?Sized> Groups for Metered<C> {
    async fn account(&self) -> Result<String> {
        let account = self.around(Operation::GetCallerIdentity, self.inner.account()).await?;
        self.allowance.belongs_to(&account);
        Ok(account)
    }
    async fn caller(&self) -> Result<String> {
        self.around(Operation::GetCallerIdentity, self.inner.caller()).await
    }
    async fn describe_groups(&self, names: &[GroupName]) -> Result<FoundGroups> {
        let call = self.inner.describe_groups(names);
        let described = self.around(Operation::DescribeAutoScalingGroups, call).await?;
        // Every ARN contains the account (`arn:aws:autoscaling:<region>:<account>:…`); no call is needed.
        if let Some(account) = described.groups.first().and_then(|group| group.arn.split(':').nth(4)) {
            self.allowance.belongs_to(account);
        }
        Ok(described)
    }
    async fn describe_groups_tagged(&self, tag_key: &str) -> Result<Vec<Group>> {
        self.around(Operation::DescribeAutoScalingGroups, self.inner.describe_groups_tagged(tag_key)).await
    }
    async fn create_group(&self, spec: &NewGroup) -> Result<()> {
        self.around(Operation::CreateAutoScalingGroup, self.inner.create_group(spec)).await
    }
    async fn update_group(&self, name: &GroupName, change: &GroupChange) -> Result<()> {
        self.around(Operation::UpdateAutoScalingGroup, self.inner.update_group(name, change)).await
    }
    async fn tag_group(&self, name: &GroupName, tags: &BTreeMap<String, String>) -> Result<()> {
        self.around(Operation::CreateOrUpdateTags, self.inner.tag_group(name, tags)).await
    }
    async fn suspend_processes(&self, name: &GroupName, processes: &[Process]) -> Result<()> {
        self.around(Operation::SuspendProcesses, self.inner.suspend_processes(name, processes)).await
    }
    async fn resume_processes(&self, name: &GroupName, processes: &[Process]) -> Result<()> {
        self.around(Operation::ResumeProcesses, self.inner.resume_processes(name, processes)).await
    }
    async fn attach_traffic_sources(
        &self,
        name: &GroupName,
        sources: &BTreeSet<TrafficSource>,
    ) -> Result<()> {
        self.around(Operation::AttachTrafficSources, self.inner.attach_traffic_sources(name, sources)).await
    }
    async fn detach_traffic_sources(
        &self,
        name: &GroupName,
        sources: &BTreeSet<TrafficSource>,
    ) -> Result<()> {
        self.around(Operation::DetachTrafficSources, self.inner.detach_traffic_sources(name, sources)).await
    }
    async fn describe_target_health(&self, arn: &TargetGroupArn) -> Result<Targets> {
        self.around(Operation::DescribeTargetHealth, self.inner.describe_target_health(arn)).await
    }
    async fn protect_instances(&self, name: &GroupName, ids: &[InstanceId]) -> Result<()> {
        self.around(Operation::SetInstanceProtection, self.inner.protect_instances(name, ids)).await
    }
    async fn terminate_instance(&self, id: &InstanceId, decrement: Decrement) -> Result<()> {
        self.around(
            Operation::TerminateInstanceInAutoScalingGroup,
            self.inner.terminate_instance(id, decrement),
        )
        .await
    }
    async fn terminate_instances(
        &self,
        group: &GroupName,
        ids: &[InstanceId],
        decrement: Decrement,
    ) -> Result<Ended> {
        let call = self.inner.terminate_instances(group, ids, decrement);
        self.around(Operation::TerminateInstanceInAutoScalingGroup, call).await
    }
    async fn describe_notifications(&self) -> Result<BTreeMap<GroupName, Notifications>> {
        self.around(Operation::DescribeNotificationConfigurations, self.inner.describe_notifications()).await
    }
    async fn put_notifications(
        &self,
        name: &GroupName,
        topic: &TopicArn,
        types: &BTreeSet<NotificationType>,
    ) -> Result<()> {
        let call = self.inner.put_notifications(name, topic, types);
        self.around(Operation::PutNotificationConfiguration, call).await
    }
    async fn delete_notifications(&self, name: &GroupName, topic: &TopicArn) -> Result<()> {
        let call = self.inner.delete_notifications(name, topic);
        self.around(Operation::DeleteNotificationConfiguration, call).await
    }
    async fn put_warm_pool(&self, name: &GroupName, settings: &WarmPoolSettings) -> Result<()> {
        self.around(Operation::PutWarmPool, self.inner.put_warm_pool(name, settings)).await
    }
    async fn delete_warm_pool(&self, name: &GroupName) -> Result<()> {
        self.around(Operation::DeleteWarmPool, self.inner.delete_warm_pool(name)).await
    }
    async fn describe_hooks(&self, name: &GroupName) -> Result<Hooks> {
        self.around(Operation::DescribeLifecycleHooks, self.inner.describe_hooks(name)).await
    }
    async fn put_hook(
        &self,
        group: &GroupName,
        name: &HookName,
        hook: &LifecycleHook,
        before: Option<&LifecycleHook>,
    ) -> Result<()> {
        self.around(Operation::PutLifecycleHook, self.inner.put_hook(group, name, hook, before)).await
    }
    async fn delete_hook(&self, group: &GroupName, name: &HookName) -> Result<()> {
        self.around(Operation::DeleteLifecycleHook, self.inner.delete_hook(group, name)).await
    }
    async fn record_heartbeat(&self, name: &GroupName, id: &InstanceId) -> Result<()> {
        let call = || self.inner.record_heartbeat(name, id);
        self.persistently(Operation::RecordLifecycleActionHeartbeat, id, call).await
    }
    async fn complete_drain_hook(&self, name: &GroupName, id: &InstanceId) -> Result<()> {
        let call = || self.inner.complete_drain_hook(name, id);
        self.persistently(Operation::CompleteLifecycleAction, id, call).await
    }
    async fn delete_group(&self, name: &GroupName) -> Result<()> {
        self.around(Operation::DeleteAutoScalingGroup, self.inner.delete_group(name)).await
    }
    async fn describe_activities(&self, name: &GroupName, limit: u32) -> Result<Vec<Activity>> {
        self.around(Operation::DescribeScalingActivities, self.inner.describe_activities(name, limit)).await
    }
}

#[async_trait]
impl<C: Compute + ?Sized> Compute for Metered<C> {
    async fn create_template(
        &self,
        name: &str,
        content: &TemplateContent,
        description: &str,
        tags: &BTreeMap<String, String>,
        token: &str,
    ) -> Result<Made<(LaunchTemplateId, TemplateVersion)>> {
        let call = self.inner.create_template(name, content, description, tags, token);
        self.around(Operation::CreateLaunchTemplate, call).await
    }
    async fn create_template_version(
        &self,
        id: &LaunchTemplateId,
        content: &TemplateContent,
        description: &str,
        token: &str,
    ) -> Result<Made<TemplateVersion>> {
        let call = self.inner.create_template_version(id, content, description, token);
        self.around(Operation::CreateLaunchTemplateVersion, call).await
    }
    async fn copy_template_version(
        &self,
        id: &LaunchTemplateId,
        copy: VersionCopy<'_>,
        description: &str,
        token: &str,
    ) -> Result<Made<TemplateVersion>> {
        let call = self.inner.copy_template_version(id, copy, description, token);
        self.around(Operation::CreateLaunchTemplateVersion, call).await
    }
    async fn describe_template(&self, name: &str) -> Result<Option<LaunchTemplate>> {
        self.around(Operation::DescribeLaunchTemplateVersions, self.inner.describe_template(name)).await
    }
    async fn describe_templates_tagged(&self, tag_key: &str) -> Result<Vec<TemplateSummary>> {
        self.around(Operation::DescribeLaunchTemplates, self.inner.describe_templates_tagged(tag_key)).await
    }
    async fn describe_latest_versions(
        &self,
        ids: &BTreeSet<LaunchTemplateId>,
    ) -> Result<BTreeMap<LaunchTemplateId, TemplateRecord>> {
        self.around(Operation::DescribeLaunchTemplateVersions, self.inner.describe_latest_versions(ids)).await
    }
    async fn delete_template_versions(
        &self,
        id: &LaunchTemplateId,
        versions: &[TemplateVersion],
    ) -> Result<()> {
        self.around(
            Operation::DeleteLaunchTemplateVersions,
            self.inner.delete_template_versions(id, versions),
        )
        .await
    }
    async fn delete_template(&self, id: &LaunchTemplateId) -> Result<()> {
        self.around(Operation::DeleteLaunchTemplate, self.inner.delete_template(id)).await
    }
    async fn describe_instances(&self, ids: &[InstanceId]) -> Result<BTreeMap<InstanceId, Described>> {
        self.around(Operation::DescribeInstances, self.inner.describe_instances(ids)).await
    }
    async fn describe_instance_types(&self, types: &[InstanceType]) -> Result<Vec<InstanceTypeInfo>> {
        self.around(Operation::DescribeInstanceTypes, self.inner.describe_instance_types(types)).await
    }
    async fn vcpu_quota(&self, quota: VcpuQuota) -> Result<Option<u32>> {
        self.around(Operation::GetServiceQuota, self.inner.vcpu_quota(quota)).await
    }
    async fn describe_volumes_tagged(&self, tag_key: &str) -> Result<Vec<VolumeInfo>> {
        self.around(Operation::DescribeVolumes, self.inner.describe_volumes_tagged(tag_key)).await
    }
    async fn describe_capacity_reservation(&self, id: &str) -> Result<Option<FoundReservation>> {
        let call = self.inner.describe_capacity_reservation(id);
        self.around(Operation::DescribeCapacityReservations, call).await
    }
    async fn describe_images(&self, ids: &[ImageId]) -> Result<Vec<ImageInfo>> {
        self.around(Operation::DescribeImages, self.inner.describe_images(ids)).await
    }
    async fn find_images(&self, query: &ImageQuery) -> Result<Vec<ImageInfo>> {
        self.around(Operation::DescribeImages, self.inner.find_images(query)).await
    }
    async fn parameter(&self, name: &str) -> Result<Option<String>> {
        self.around(Operation::GetParameter, self.inner.parameter(name)).await
    }
    async fn describe_subnets(&self, query: &NetworkQuery) -> Result<Vec<SubnetInfo>> {
        self.around(Operation::DescribeSubnets, self.inner.describe_subnets(query)).await
    }
    async fn describe_security_groups(&self, query: &NetworkQuery) -> Result<Vec<SecurityGroupInfo>> {
        self.around(Operation::DescribeSecurityGroups, self.inner.describe_security_groups(query)).await
    }
}

#[async_trait]
impl<C: Networks + ?Sized> Networks for Metered<C> {
    async fn describe_network(&self, kind: Kind, scope: &Scope) -> Result<Parts> {
        self.around(kind.operation(), self.inner.describe_network(kind, scope)).await
    }
    async fn change_network(&self, change: &Change) -> Result<Parts> {
        self.around(change.operation(), self.inner.change_network(change)).await
    }
    async fn quotas(&self) -> Result<Quotas> {
        self.around(Operation::GetServiceQuota, self.inner.quotas()).await
    }
}

#[async_trait]
impl<C: Clusters + ?Sized> Clusters for Metered<C> {
    async fn describe_eks(&self, query: &Query) -> Result<QueryResult> {
        self.around(query.operation(), self.inner.describe_eks(query)).await
    }
    async fn change_eks(&self, change: &eks::Change, token: Option<&str>) -> Result<Changed> {
        self.around(change.operation(), self.inner.change_eks(change, token)).await
    }
    /// Neither limited nor counted: no call is sent.
    async fn cluster_token(&self, cluster: &str) -> Result<ClusterToken> {
        self.inner.cluster_token(cluster).await
    }
}

#[async_trait]
impl<C: Objects + ?Sized> Objects for Metered<C> {
    async fn put_object(&self, bucket: BucketOf<'_>, object: NewObject<'_>) -> Result<Written> {
        self.around(Operation::PutObject, self.inner.put_object(bucket, object)).await
    }
    async fn list_objects(&self, bucket: BucketOf<'_>, prefix: &str) -> Result<Vec<ObjectInfo>> {
        self.around(Operation::ListObjectsV2, self.inner.list_objects(bucket, prefix)).await
    }
    async fn delete_object(&self, bucket: BucketOf<'_>, key: &str) -> Result<()> {
        self.around(Operation::DeleteObject, self.inner.delete_object(bucket, key)).await
    }
}

#[async_trait]
impl<C: Roles + ?Sized> Roles for Metered<C> {
    async fn instance_profile(&self, name: &str) -> Result<Option<InstanceProfile>> {
        self.around(Operation::GetInstanceProfile, self.inner.instance_profile(name)).await
    }
    async fn role(&self, name: &str) -> Result<Option<Role>> {
        self.around(Operation::GetRole, self.inner.role(name)).await
    }
    async fn oidc_provider(&self, arn: &str) -> Result<Option<OidcProvider>> {
        self.around(Operation::GetOpenIDConnectProvider, self.inner.oidc_provider(arn)).await
    }
    async fn create_oidc_provider(&self, provider: &NewOidcProvider) -> Result<String> {
        let call = self.inner.create_oidc_provider(provider);
        self.around(Operation::CreateOpenIDConnectProvider, call).await
    }
    async fn delete_oidc_provider(&self, arn: &str) -> Result<()> {
        self.around(Operation::DeleteOpenIDConnectProvider, self.inner.delete_oidc_provider(arn)).await
    }
}
