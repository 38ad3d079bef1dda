//! The traits that a cloud implements, and what works around every implementation.
//!
//! * [`Groups`], [`Compute`], [`Networks`] and [`Clusters`]: traits in the nouns of `foo-model`.
//! * [`roles`]: the trait of IAM, with its nouns.
//! * [`objects`]: the trait of S3, with its nouns.
//! * [`queue`]: messages that AWS sends.
//! * [`error`]: failures, classified by what to do about them; `codes`: which of AWS's error codes means what.
//! * decorators: [`metered`] adds token buckets and one metric per call and outcome to any cloud.
//! * [`compared`]: how far another clock is from the manager's.
//! * [`observer`]: one sweep for all groups of one set of credentials and region, shared by all pools.
//! * [`lookups`]: facts that rarely change, looked up once.
//! * [`reads`]: results that are shared by all clusters; [`networks`], [`clusters`], [`stored`],
//!   [`targets`], [`notifications`] and [`reservations`] request them.
//! * [`retry`]: pauses after failures.
//! * [`lines`]: what never appears in logs.
//! * [`trust`]: what trust policies of roles allow.
//! * [`quotas`]: codes of quotas.
//! * [`watchdog`]: detects loops that should run for ever and do not.
//!
//! There is no AWS SDK here and no Kubernetes; `cloud-adapter` and `simulator-core` implement the traits.
//!
//! * [`clock`]: the manager's clock. The age of an observation is measured by the monotonic one.
//! * `bucket`: which of the provider's own limits the calls of an operation count towards.
//!
//! A new call is an `Operation` of `foo_model` and a method of a trait here, or, for networks and EKS, a variant of the enums in
//! `foo_model::network` (`Kind`, `Change`) and `foo_model::eks` (`Query`, `Change`). Then `metered/mod.rs`,
//! `cloud-adapter`, the simulator's `sim_cloud/` and `wire/`, and the statement that allows it: `guards.rs` in
//! `xtask/src/generate/iam/` names it, and `{pools,networks,leftovers,control_planes}.rs` beside it have the
//! statements.

mod bucket;
pub mod clock;
pub mod clusters;
mod codes;
pub mod compared;
pub mod error;
pub mod initialized;
pub mod lines;
pub mod lookups;
pub mod metered;
pub mod metrics;
pub mod networks;
pub mod notifications;
pub mod objects;
pub mod observer;
mod observers;
pub mod queue;
pub mod quotas;
pub mod reads;
pub mod requests;
pub mod reservations;
pub mod retry;
pub mod roles;
pub mod stored;
pub mod targets;
pub mod trust;
mod vcpus;
pub mod watchdog;

pub use clock::{Clock, SystemClock};
pub use clusters::ClusterReads;
pub use compared::{AwsClock, Compared, TOLERATED};
pub use error::{CloudError, ErrorKind};
pub use lookups::{Asking, Lookups, newest};
pub use metered::{Limits, Metered, Permit};
pub use metrics::Metrics;
pub use networks::NetworkReads;
pub use notifications::NotificationReads;
pub use objects::{BucketOf, NewObject, ObjectInfo, Objects, Written};
pub use observer::{InstanceReport, Observation, Observer, Pace, Seen};
pub use observers::Observers;
pub use queue::{Message, Queue, Receipt};
pub use reads::{Freshness, Known, ReadResult};
pub use requests::{
    AddressLimits, ClusterToken, Described, Ended, FoundGroups, ImageInfo, ImageQuery, InstanceDetails,
    InstanceState, InstanceTypeInfo, Made, NetworkQuery, SecurityGroupInfo, SubnetInfo, TemplateSummary,
    VersionCopy, VolumeInfo, literal,
};
pub use reservations::ReservationReads;
pub use roles::Roles;
pub use stored::ObjectReads;
pub use targets::TargetReads;
pub use vcpus::VcpuQuota;
pub use watchdog::Watchdog;

pub use foo_model::Operation;

use async_trait::async_trait;
use foo_model::eks::{self, Changed, Query, QueryResult};
use foo_model::hook::{Hooks, LifecycleHook};
use foo_model::network::{Change, Kind, Parts, Quotas, Scope};
use foo_model::{
    Activity, Decrement, FoundReservation, Group, GroupChange, GroupName, HookName, ImageId, InstanceId,
    InstanceType, LaunchTemplate, LaunchTemplateId, NewGroup, NotificationType, Notifications, Process,
    TargetGroupArn, Targets, TemplateContent, TemplateRecord, TemplateVersion, TopicArn, TrafficSource,
    WarmPoolSettings,
};
use std::collections::{BTreeMap, BTreeSet};

/// Result of a cloud call.
pub type Result<T, E = CloudError> = std::result::Result<T, E>;

/// Auto Scaling groups of one set of credentials in one region.
///
/// Each method is one API call, unless documented otherwise. Changes are sent once: a lost response
/// is returned as [`ErrorKind::LostResponse`], and the caller reads the present state before anything else.
#[async_trait]
pub trait Groups: Send + Sync {
    /// The AWS account that all calls go to (12 digits; GetCallerIdentity, which needs no right).
    async fn account(&self) -> Result<String>;
    /// ARN of the user, or of the session of a role, that all calls are made as (GetCallerIdentity, which needs no
    /// right). That of a session has the name of its role without the role's path.
    async fn caller(&self) -> Result<String>;
    /// The groups with these names that exist, in one call. At most 100 names (DescribeAutoScalingGroups,
    /// MaxRecords).
    async fn describe_groups(&self, names: &[GroupName]) -> Result<FoundGroups>;
    /// All groups that have a tag with this key, except those that cannot be read; one call per 100 groups.
    async fn describe_groups_tagged(&self, tag_key: &str) -> Result<Vec<Group>>;
    /// Creates a group. `AlreadyExists` if the name is in use, whoever created the group.
    async fn create_group(&self, spec: &NewGroup) -> Result<()>;
    /// Changes what is given, leaves the rest unchanged.
    async fn update_group(&self, name: &GroupName, change: &GroupChange) -> Result<()>;
    /// Creates or overwrites tags of the group; new instances do not inherit them.
    async fn tag_group(&self, name: &GroupName, tags: &BTreeMap<String, String>) -> Result<()>;
    /// Suspends processes.
    async fn suspend_processes(&self, name: &GroupName, processes: &[Process]) -> Result<()>;
    /// Resumes processes.
    async fn resume_processes(&self, name: &GroupName, processes: &[Process]) -> Result<()>;
    /// Registers present and future members with these traffic sources, too; at most 10 (AttachTrafficSources). `Invalid` if
    /// one does not exist.
    async fn attach_traffic_sources(&self, name: &GroupName, sources: &BTreeSet<TrafficSource>)
    -> Result<()>;
    /// Deregisters all members from these traffic sources; at most 10. `Invalid` if the group is not attached to one.
    async fn detach_traffic_sources(&self, name: &GroupName, sources: &BTreeSet<TrafficSource>)
    -> Result<()>;
    /// The health of the targets of a target group that are instances. `NotFound` if it does not exist.
    async fn describe_target_health(&self, arn: &TargetGroupArn) -> Result<Targets>;
    /// What all groups of the region report to SNS topics; groups without any are missing. One call per 100 pairs of topic
    /// and type.
    async fn describe_notifications(&self) -> Result<BTreeMap<GroupName, Notifications>>;
    /// Has the group report exactly these types to a topic. AWS sends a test message there. `Invalid` if it cannot.
    async fn put_notifications(
        &self,
        name: &GroupName,
        topic: &TopicArn,
        types: &BTreeSet<NotificationType>,
    ) -> Result<()>;
    /// Ends all reports of the group to a topic.
    async fn delete_notifications(&self, name: &GroupName, topic: &TopicArn) -> Result<()>;
    /// The group of this name, read now; `None` if there is none.
    async fn describe_group(&self, name: &GroupName) -> Result<Option<Group>> {
        let found = self.describe_groups(std::slice::from_ref(name)).await?;
        Ok(found.groups.into_iter().find(|group| group.name == *name))
    }
    /// Creates the group's warm pool, or sets all of its settings. `Invalid` for a group with spot instances.
    async fn put_warm_pool(&self, name: &GroupName, settings: &WarmPoolSettings) -> Result<()>;
    /// Deletes the group's warm pool with its instances, without their lifecycle hooks. `Invalid` if there is none.
    async fn delete_warm_pool(&self, name: &GroupName) -> Result<()>;
    /// Protects members from scale-in. At most 50 ids (SetInstanceProtection).
    async fn protect_instances(&self, name: &GroupName, ids: &[InstanceId]) -> Result<()>;
    /// Terminates one member, protected or not. `Invalid` when a decrement would go below the minimum size,
    /// or for an unknown id.
    async fn terminate_instance(&self, id: &InstanceId, decrement: Decrement) -> Result<()>;
    /// Terminates members of a group, protected or not, in one call; at most 100. AWS does not document
    /// whether an error about one of them leaves the others running.
    async fn terminate_instances(
        &self,
        group: &GroupName,
        ids: &[InstanceId],
        decrement: Decrement,
    ) -> Result<Ended>;
    /// All lifecycle hooks of the group.
    async fn describe_hooks(&self, name: &GroupName) -> Result<Hooks>;
    /// Creates a lifecycle hook, or changes it from `before`, as it was read. AWS sends a test message to a target. Waits that
    /// have begun keep the earlier settings. A call keeps what it leaves out, and only the target can be cleared: a hook that had
    /// `metadata` has to be deleted first to lose it. Without `before`, a target that the hook has stays. `Invalid` if AWS cannot send
    /// to the target.
    async fn put_hook(
        &self,
        group: &GroupName,
        name: &HookName,
        hook: &LifecycleHook,
        before: Option<&LifecycleHook>,
    ) -> Result<()>;
    /// Deletes a lifecycle hook; AWS abandons launches that wait for it, and continues terminations. `Invalid` if it
    /// does not exist.
    async fn delete_hook(&self, group: &GroupName, name: &HookName) -> Result<()>;
    /// Extends the wait of an instance for our hook. `Invalid` if it does not wait.
    async fn record_heartbeat(&self, name: &GroupName, id: &InstanceId) -> Result<()>;
    /// Ends the wait of an instance for our hook. `Invalid` if it does not wait.
    async fn complete_drain_hook(&self, name: &GroupName, id: &InstanceId) -> Result<()>;
    /// Deletes an empty group; never with ForceDelete. `InUse` while it has instances or activities.
    async fn delete_group(&self, name: &GroupName) -> Result<()>;
    /// The newest scaling activities of a group, newest first, at most `limit` (1–100).
    async fn describe_activities(&self, name: &GroupName, limit: u32) -> Result<Vec<Activity>>;
}

/// The EC2 calls that groups need.
#[async_trait]
pub trait Compute: Send + Sync {
    /// Creates a template with its version 1. `token` makes a repetition harmless; `tags` are tags of the
    /// template itself.
    async fn create_template(
        &self,
        name: &str,
        content: &TemplateContent,
        description: &str,
        tags: &BTreeMap<String, String>,
        token: &str,
    ) -> Result<Made<(LaunchTemplateId, TemplateVersion)>>;
    /// Adds a version. `token` makes a repetition harmless.
    async fn create_template_version(
        &self,
        id: &LaunchTemplateId,
        content: &TemplateContent,
        description: &str,
        token: &str,
    ) -> Result<Made<TemplateVersion>>;
    /// Adds a version based on another one, which is read before (one call more): the copy tags what that one tags. `token` makes a
    /// repetition harmless.
    async fn copy_template_version(
        &self,
        id: &LaunchTemplateId,
        copy: VersionCopy<'_>,
        description: &str,
        token: &str,
    ) -> Result<Made<TemplateVersion>>;
    /// The template of that name with all its versions (one call for the template, one per 200 versions), if it exists.
    async fn describe_template(&self, name: &str) -> Result<Option<LaunchTemplate>>;
    /// All templates that have a tag with this key, without versions, except those that cannot be read; one
    /// call per 200 templates.
    async fn describe_templates_tagged(&self, tag_key: &str) -> Result<Vec<TemplateSummary>>;
    /// The latest versions of these templates, from a list of the latest versions of all templates of the account and
    /// region, one call per 200 (DescribeLaunchTemplateVersions with `$Latest` and no template). Ends when all are
    /// found, or after as many calls as there are ids: an account may have many templates of others. One that is left
    /// out, or cannot be read, is no error.
    async fn describe_latest_versions(
        &self,
        ids: &BTreeSet<LaunchTemplateId>,
    ) -> Result<BTreeMap<LaunchTemplateId, TemplateRecord>>;
    /// Deletes versions, at most 200. Versions that do not exist are no error.
    async fn delete_template_versions(
        &self,
        id: &LaunchTemplateId,
        versions: &[TemplateVersion],
    ) -> Result<()>;
    /// Deletes a template. `NotFound` if it does not exist.
    async fn delete_template(&self, id: &LaunchTemplateId) -> Result<()>;
    /// EC2's responses about instances. A missing id was not in the response: EC2 neither reported that it exists
    /// nor that it does not. One call per 500 ids, one for each time EC2 refuses a batch because of unknown
    /// ids, and one for each id that EC2 left out.
    async fn describe_instances(&self, ids: &[InstanceId]) -> Result<BTreeMap<InstanceId, Described>>;
    /// Facts about instance types. `NotFound` names the first unknown one.
    async fn describe_instance_types(&self, types: &[InstanceType]) -> Result<Vec<InstanceTypeInfo>>;
    /// How many vCPUs of this quota can run. `None` if AWS does not return it, or denies the read.
    async fn vcpu_quota(&self, quota: VcpuQuota) -> Result<Option<u32>>;
    /// All volumes of the region that have a tag with this key, whatever its value, and that are not being deleted; one
    /// call per 1000.
    async fn describe_volumes_tagged(&self, tag_key: &str) -> Result<Vec<VolumeInfo>>;
    /// The Capacity Reservation with this id; `None` if it does not exist, or is not shown any more.
    async fn describe_capacity_reservation(&self, id: &str) -> Result<Option<FoundReservation>>;
    /// Facts about images. `NotFound` names the unknown one.
    async fn describe_images(&self, ids: &[ImageId]) -> Result<Vec<ImageInfo>>;
    /// All images in state `available` that a query selects, in no order; one call per 1000.
    async fn find_images(&self, query: &ImageQuery) -> Result<Vec<ImageInfo>>;
    /// The value of an SSM parameter by its name or ARN, if there is one. Secrets are not decrypted.
    async fn parameter(&self, name: &str) -> Result<Option<String>>;
    /// Subnets by id or tags. `NotFound` for an unknown id; tags that match nothing give an empty list.
    async fn describe_subnets(&self, query: &NetworkQuery) -> Result<Vec<SubnetInfo>>;
    /// Security groups by id or tags. `NotFound` for an unknown id; tags that match nothing give an empty list.
    async fn describe_security_groups(&self, query: &NetworkQuery) -> Result<Vec<SecurityGroupInfo>>;
}

/// VPCs and the resources in them. The nouns are those of [`foo_model::network`].
#[async_trait]
pub trait Networks: Send + Sync {
    /// The parts of one kind within a scope; all pages of the response. One API call per page (up to 1000
    /// parts), except for the kinds documented otherwise. If nothing is found the response is
    /// empty. EC2's reads may be older than the last change (EC2 Developer Guide, "Eventual consistency").
    async fn describe_network(&self, kind: Kind, scope: &Scope) -> Result<Parts>;
    /// Sends one change. The response contains what it created (it is empty for all other changes), as far as
    /// AWS's response shows it: always ids; for a route table association or an address range a table or VPC that
    /// contains nothing else. Sent once, except for creations with a token.
    async fn change_network(&self, change: &Change) -> Result<Parts>;
    /// Quotas and present use of what a network needs: one call of Service Quotas for each quota, and one of
    /// EC2 for each count. A quota that AWS does not report, or that may not be read, is `None`.
    async fn quotas(&self) -> Result<Quotas>;
}

/// EKS clusters, and what EKS needs of IAM. The nouns are those of [`foo_model::eks`].
#[async_trait]
pub trait Clusters: Send + Sync {
    /// Asks one query; all pages of the response. What does not exist is an empty response.
    async fn describe_eks(&self, query: &Query) -> Result<QueryResult>;
    /// Sends one change, with a client request token if the operation takes one ([`eks::OperationFacts::takes_token`]).
    /// Sent once without one.
    async fn change_eks(&self, change: &eks::Change, token: Option<&str>) -> Result<Changed>;
    /// A token that the API server of this EKS cluster accepts from these credentials, as `aws eks get-token` creates
    /// it: a presigned GetCallerIdentity. No call is sent.
    async fn cluster_token(&self, cluster: &str) -> Result<ClusterToken>;
}

/// A whole cloud.
pub trait Cloud: Groups + Compute + Networks + Clusters + Roles + Objects {}
impl<T: Groups + Compute + Networks + Clusters + Roles + Objects + ?Sized> Cloud for T {}
