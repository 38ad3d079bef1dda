//! A cloud that plays a script and counts its calls, and the wall clock of paused tokio time.

use async_trait::async_trait;
use foo_cloud::*;
use foo_model::eks::{
    self, Changed, InstanceProfile, NewOidcProvider, OidcProvider, Query, QueryResult, Role,
};
use foo_model::network::{Change, Kind, Parts, Quotas, Scope};
use foo_model::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// What exists in the cloud, how it fails, and its calls.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) groups: BTreeMap<GroupName, Group>,
    /// AWS returns a malformed description of this group.
    pub(crate) odd: Option<GroupName>,
    pub(crate) instances: BTreeMap<InstanceId, InstanceDetails>,
    /// Instances that EC2 omits from its responses.
    pub(crate) omitted: BTreeSet<InstanceId>,
    pub(crate) templates: BTreeMap<String, TemplateSummary>,
    pub(crate) images: BTreeMap<ImageId, ImageInfo>,
    /// The error of every call, while it is set.
    pub(crate) failing: Option<ErrorKind>,
    /// How long each call takes.
    pub(crate) latency: Duration,
    /// Group calls that carry this name never come back.
    pub(crate) hanging: Option<GroupName>,
    pub(crate) group_calls: Vec<(Instant, Vec<GroupName>)>,
    pub(crate) heartbeats: Vec<Instant>,
    pub(crate) instance_calls: Vec<(Instant, Vec<InstanceId>)>,
    pub(crate) template_calls: Vec<Instant>,
    pub(crate) version_calls: u32,
    pub(crate) image_calls: u32,
    pub(crate) parameters: BTreeMap<String, String>,
    pub(crate) parameter_calls: u32,
    /// What every read of a network shows.
    pub(crate) parts: Parts,
    pub(crate) quotas: Quotas,
    /// Reads of this kind never return.
    pub(crate) hanging_kind: Option<Kind>,
    pub(crate) network_calls: Vec<(Instant, Kind, Scope)>,
    pub(crate) quota_calls: u32,
    /// The name that EKS responds to every question.
    pub(crate) eks_name: String,
    /// Questions that never come back.
    pub(crate) hanging_question: Option<Query>,
    pub(crate) eks_calls: Vec<(Instant, Query)>,
}

#[derive(Clone, Default)]
pub(crate) struct Scripted(pub(crate) Arc<Mutex<World>>);

impl Scripted {
    pub(crate) fn edit<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        change(&mut self.0.lock().unwrap())
    }

    async fn respond<T>(&self, operation: Operation, respond: impl FnOnce(&World) -> T) -> Result<T> {
        let latency = self.edit(|world| world.latency);
        tokio::time::sleep(latency).await;
        self.edit(|world| match world.failing {
            Some(kind) => Err(CloudError::new(operation, kind, None, "as scripted")),
            None => Ok(respond(world)),
        })
    }
}

/// A group of that name with that desired capacity and these instances.
pub(crate) fn group(name: &str, desired: u32, instances: &[&str]) -> Group {
    let instances = instances.iter().map(|id| Instance {
        id: InstanceId::from(*id),
        zone: "z-1a".into(),
        instance_type: "m7i.large".into(),
        lifecycle: LifecycleState::InService,
        health: Health::Healthy,
        protection: Protection::Protected,
        template: None,
    });
    Group {
        name: name.into(),
        arn: format!("arn:{name}"),
        sizes: Sizes { min: 0, max: 10, desired },
        template: None,
        mix: None,
        settings: GroupSettings::in_subnets(BTreeSet::new()),
        suspended: BTreeMap::new(),
        tags: BTreeMap::new(),
        status: GroupStatus::Active,
        traffic_sources: BTreeSet::new(),
        deletion_protection: DeletionProtection::None,
        warm_pool: None,
        instances: instances.collect(),
    }
}

pub(crate) fn details(id: &str) -> InstanceDetails {
    InstanceDetails {
        id: id.into(),
        state: InstanceState::Running,
        zone: "z-1a".into(),
        instance_type: "m7i.large".into(),
        private_dns: None,
        private_ip: None,
        public_dns: None,
        public_ip: None,
        spot: false,
    }
}

/// A wall clock that an administrator sets.
#[derive(Clone, Default)]
pub(crate) struct Wall(Arc<AtomicI64>);

impl Wall {
    /// Sets it forward by this many seconds, or back.
    pub(crate) fn steps_by(&self, seconds: i64) {
        self.0.fetch_add(seconds * 1_000, Ordering::SeqCst);
    }

    /// Milliseconds of tokio's clock, and what it was set by.
    pub(crate) fn clock(&self) -> impl Clock + use<> {
        let (start, shift) = (Instant::now(), Arc::clone(&self.0));
        move || {
            let passed = i64::try_from(start.elapsed().as_millis()).unwrap();
            Timestamp(1_000_000_000 + passed + shift.load(Ordering::SeqCst))
        }
    }
}

#[async_trait]
impl Groups for Scripted {
    async fn account(&self) -> Result<String> {
        Ok("123456789012".to_owned())
    }
    async fn caller(&self) -> Result<String> {
        Ok("arn:aws:sts::123456789012:assumed-role/manager/session".to_owned())
    }
    async fn describe_groups(&self, names: &[GroupName]) -> Result<FoundGroups> {
        assert!((1..=100).contains(&names.len()), "{} names", names.len());
        let hangs = self.edit(|world| {
            world.group_calls.push((Instant::now(), names.to_vec()));
            world.hanging.as_ref().is_some_and(|name| names.contains(name))
        });
        if hangs {
            std::future::pending::<()>().await;
        }
        let found = |world: &World| {
            let is_odd = |name: &&GroupName| world.odd.as_ref() == Some(*name);
            let seen = names.iter().filter(|name| !is_odd(name));
            let groups: Vec<Group> = seen.filter_map(|name| world.groups.get(name).cloned()).collect();
            let odd = |name: &GroupName| {
                let operation = Operation::DescribeAutoScalingGroups;
                (name.clone(), CloudError::new(operation, ErrorKind::Internal, None, "no usable MinSize"))
            };
            FoundGroups { groups, odd: names.iter().filter(is_odd).map(odd).collect() }
        };
        self.respond(Operation::DescribeAutoScalingGroups, found).await
    }
    async fn describe_groups_tagged(&self, _: &str) -> Result<Vec<Group>> {
        unreachable!()
    }
    async fn create_group(&self, _: &NewGroup) -> Result<()> {
        self.respond(Operation::CreateAutoScalingGroup, |_| ()).await
    }
    async fn update_group(&self, _: &GroupName, _: &GroupChange) -> Result<()> {
        unreachable!()
    }
    async fn tag_group(&self, _: &GroupName, _: &BTreeMap<String, String>) -> Result<()> {
        unreachable!()
    }
    async fn suspend_processes(&self, _: &GroupName, _: &[Process]) -> Result<()> {
        unreachable!()
    }
    async fn resume_processes(&self, _: &GroupName, _: &[Process]) -> Result<()> {
        unreachable!()
    }
    async fn attach_traffic_sources(&self, _: &GroupName, _: &BTreeSet<TrafficSource>) -> Result<()> {
        unreachable!()
    }
    async fn detach_traffic_sources(&self, _: &GroupName, _: &BTreeSet<TrafficSource>) -> Result<()> {
        unreachable!()
    }
    async fn describe_target_health(&self, _: &TargetGroupArn) -> Result<Targets> {
        unreachable!()
    }
    async fn protect_instances(&self, _: &GroupName, _: &[InstanceId]) -> Result<()> {
        unreachable!()
    }
    async fn terminate_instance(&self, _: &InstanceId, _: Decrement) -> Result<()> {
        unreachable!()
    }
    async fn terminate_instances(&self, _: &GroupName, _: &[InstanceId], _: Decrement) -> Result<Ended> {
        unreachable!()
    }
    async fn describe_notifications(&self) -> Result<BTreeMap<GroupName, Notifications>> {
        unreachable!()
    }
    async fn put_notifications(
        &self,
        _: &GroupName,
        _: &TopicArn,
        _: &BTreeSet<NotificationType>,
    ) -> Result<()> {
        unreachable!()
    }
    async fn delete_notifications(&self, _: &GroupName, _: &TopicArn) -> Result<()> {
        unreachable!()
    }
    async fn put_warm_pool(&self, _: &GroupName, _: &WarmPoolSettings) -> Result<()> {
        unreachable!()
    }
    async fn delete_warm_pool(&self, _: &GroupName) -> Result<()> {
        unreachable!()
    }
    async fn describe_hooks(&self, _: &GroupName) -> Result<Hooks> {
        unreachable!()
    }
    async fn put_hook(
        &self,
        _: &GroupName,
        _: &HookName,
        _: &LifecycleHook,
        _: Option<&LifecycleHook>,
    ) -> Result<()> {
        unreachable!()
    }
    async fn delete_hook(&self, _: &GroupName, _: &HookName) -> Result<()> {
        unreachable!()
    }
    async fn record_heartbeat(&self, _: &GroupName, _: &InstanceId) -> Result<()> {
        self.edit(|world| world.heartbeats.push(Instant::now()));
        self.respond(Operation::RecordLifecycleActionHeartbeat, |_| ()).await
    }
    async fn complete_drain_hook(&self, _: &GroupName, _: &InstanceId) -> Result<()> {
        unreachable!()
    }
    async fn delete_group(&self, _: &GroupName) -> Result<()> {
        unreachable!()
    }
    async fn describe_activities(&self, _: &GroupName, _: u32) -> Result<Vec<Activity>> {
        unreachable!()
    }
}

#[async_trait]
impl Compute for Scripted {
    async fn create_template(
        &self,
        _: &str,
        _: &TemplateContent,
        _: &str,
        _: &BTreeMap<String, String>,
        _: &str,
    ) -> Result<Made<(LaunchTemplateId, TemplateVersion)>> {
        unreachable!()
    }
    async fn create_template_version(
        &self,
        _: &LaunchTemplateId,
        _: &TemplateContent,
        _: &str,
        _: &str,
    ) -> Result<Made<TemplateVersion>> {
        unreachable!()
    }
    async fn copy_template_version(
        &self,
        _: &LaunchTemplateId,
        _: VersionCopy<'_>,
        _: &str,
        _: &str,
    ) -> Result<Made<TemplateVersion>> {
        unreachable!()
    }
    async fn describe_template(&self, _: &str) -> Result<Option<LaunchTemplate>> {
        unreachable!()
    }
    async fn describe_templates_tagged(&self, tag_key: &str) -> Result<Vec<TemplateSummary>> {
        assert_eq!(tag_key, "infrastructure.foo.com/pool");
        self.edit(|world| world.template_calls.push(Instant::now()));
        let all = |world: &World| world.templates.values().cloned().collect();
        self.respond(Operation::DescribeLaunchTemplates, all).await
    }
    async fn describe_latest_versions(
        &self,
        ids: &BTreeSet<LaunchTemplateId>,
    ) -> Result<BTreeMap<LaunchTemplateId, TemplateRecord>> {
        self.edit(|world| world.version_calls += 1);
        let record = |template: &TemplateSummary| TemplateRecord {
            version: template.latest,
            spec_hash: None,
            data_hash: None,
            source_hash: None,
            object: None,
            arm64_image: None,
            is_default: false,
            created: AwsTime::default(),
        };
        let all = |world: &World| {
            let requested = world.templates.values().filter(|template| ids.contains(&template.id));
            requested.map(|template| (template.id.clone(), record(template))).collect()
        };
        self.respond(Operation::DescribeLaunchTemplateVersions, all).await
    }
    async fn delete_template_versions(&self, _: &LaunchTemplateId, _: &[TemplateVersion]) -> Result<()> {
        unreachable!()
    }
    async fn delete_template(&self, _: &LaunchTemplateId) -> Result<()> {
        unreachable!()
    }
    async fn describe_instances(&self, ids: &[InstanceId]) -> Result<BTreeMap<InstanceId, Described>> {
        self.edit(|world| world.instance_calls.push((Instant::now(), ids.to_vec())));
        let found = |world: &World| {
            let described = |id: &InstanceId| match world.instances.get(id) {
                Some(details) => Described::Known(details.clone()),
                None => Described::NotFound,
            };
            let returned = ids.iter().filter(|id| !world.omitted.contains(*id));
            returned.map(|id| (id.clone(), described(id))).collect()
        };
        self.respond(Operation::DescribeInstances, found).await
    }
    async fn describe_instance_types(&self, _: &[InstanceType]) -> Result<Vec<InstanceTypeInfo>> {
        unreachable!()
    }
    async fn vcpu_quota(&self, _: VcpuQuota) -> Result<Option<u32>> {
        unreachable!()
    }
    async fn describe_volumes_tagged(&self, _: &str) -> Result<Vec<VolumeInfo>> {
        unreachable!()
    }
    async fn describe_capacity_reservation(&self, _: &str) -> Result<Option<FoundReservation>> {
        unreachable!()
    }
    async fn describe_images(&self, ids: &[ImageId]) -> Result<Vec<ImageInfo>> {
        self.edit(|world| world.image_calls += 1);
        let found =
            |world: &World| ids.iter().map(|id| world.images.get(id).cloned()).collect::<Option<Vec<_>>>();
        let unknown =
            || CloudError::new(Operation::DescribeImages, ErrorKind::NotFound, None, "no such image");
        self.respond(Operation::DescribeImages, found).await?.ok_or_else(unknown)
    }
    async fn find_images(&self, query: &ImageQuery) -> Result<Vec<ImageInfo>> {
        self.edit(|world| world.image_calls += 1);
        let fits = |image: &&ImageInfo| image.architecture == query.architecture && image.name == query.name;
        self.respond(Operation::DescribeImages, |world| world.images.values().filter(fits).cloned().collect())
            .await
    }
    async fn parameter(&self, name: &str) -> Result<Option<String>> {
        self.edit(|world| world.parameter_calls += 1);
        self.respond(Operation::GetParameter, |world| world.parameters.get(name).cloned()).await
    }
    async fn describe_subnets(&self, _: &NetworkQuery) -> Result<Vec<SubnetInfo>> {
        unreachable!()
    }
    async fn describe_security_groups(&self, _: &NetworkQuery) -> Result<Vec<SecurityGroupInfo>> {
        unreachable!()
    }
}

#[async_trait]
impl Networks for Scripted {
    async fn describe_network(&self, kind: Kind, scope: &Scope) -> Result<Parts> {
        let hangs = self.edit(|world| {
            world.network_calls.push((Instant::now(), kind, scope.clone()));
            world.hanging_kind == Some(kind)
        });
        if hangs {
            std::future::pending::<()>().await;
        }
        self.respond(kind.operation(), |world| world.parts.clone()).await
    }
    async fn change_network(&self, _: &Change) -> Result<Parts> {
        unreachable!()
    }
    async fn quotas(&self) -> Result<Quotas> {
        self.edit(|world| world.quota_calls += 1);
        self.respond(Operation::GetServiceQuota, |world| world.quotas.clone()).await
    }
}

#[async_trait]
impl Clusters for Scripted {
    async fn describe_eks(&self, question: &Query) -> Result<QueryResult> {
        let hangs = self.edit(|world| {
            world.eks_calls.push((Instant::now(), question.clone()));
            world.hanging_question.as_ref() == Some(question)
        });
        if hangs {
            std::future::pending::<()>().await;
        }
        let names = |world: &World| QueryResult::Names(BTreeSet::from([world.eks_name.clone()]));
        self.respond(question.operation(), names).await
    }
    async fn change_eks(&self, change: &eks::Change, _: Option<&str>) -> Result<Changed> {
        self.respond(change.operation(), |_| Changed::default()).await
    }
    async fn cluster_token(&self, cluster: &str) -> Result<ClusterToken> {
        Ok(ClusterToken { token: format!("token of {cluster}"), lives: std::time::Duration::from_mins(15) })
    }
}

#[async_trait]
impl Roles for Scripted {
    async fn instance_profile(&self, _: &str) -> Result<Option<InstanceProfile>> {
        unreachable!()
    }
    async fn role(&self, _: &str) -> Result<Option<Role>> {
        self.respond(Operation::GetRole, |_| None).await
    }
    async fn oidc_provider(&self, _: &str) -> Result<Option<OidcProvider>> {
        unreachable!()
    }
    async fn create_oidc_provider(&self, _: &NewOidcProvider) -> Result<String> {
        unreachable!()
    }
    async fn delete_oidc_provider(&self, _: &str) -> Result<()> {
        unreachable!()
    }
}

#[async_trait]
impl Objects for Scripted {
    async fn put_object(&self, _: BucketOf<'_>, _: NewObject<'_>) -> Result<Written> {
        unreachable!()
    }
    async fn list_objects(&self, _: BucketOf<'_>, _: &str) -> Result<Vec<ObjectInfo>> {
        unreachable!()
    }
    async fn delete_object(&self, _: BucketOf<'_>, _: &str) -> Result<()> {
        unreachable!()
    }
}
