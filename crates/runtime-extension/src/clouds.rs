//! Connections to AWS: one per credentials and region, made when first needed, with one cache of lookups each, the
//! manager's own ([`Lookups`]). Nothing here changes anything in AWS: a change is refused before it is sent.

use crate::cached::Cache;
use crate::seen::Seen;
use crate::settings::Access;
use async_trait::async_trait;
use foo_cloud::{
    Asking, AwsClock, Cloud, CloudError, ErrorKind, ImageInfo, ImageQuery, InstanceTypeInfo, Limits, Lookups,
    Metered, Metrics, NetworkQuery, Operation, Result, SubnetInfo, SystemClock, VcpuQuota,
};
use foo_model::eks::{InstanceProfile, Query, QueryResult, Role, VersionOffer};
use foo_model::names::{TAG_CLUSTER, TAG_POOL};
use foo_model::network::{Kind, Quotas, Scope, ZoneInfo};
use foo_model::{ImageId, InstanceType, Zone};
use foo_preflight::{Account, Group};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Connections at a time. Regions come from users: beyond this all are closed, and those in use made again.
const MOST: usize = 64;

/// How long a question of one call may take, and one of nine calls, one after the other. Both together are less than
/// all checks have, so that one operation or service that does not respond leaves time for the others.
const ONE_CALL: Duration = Duration::from_millis(1500);
const MANY_CALLS: Duration = Duration::from_secs(3);

/// How long zones, quotas of vCPUs, versions of EKS and instance profiles are cached: as long as the other
/// lookups of new questions.
const RARELY_CHANGES: Duration = Duration::from_mins(10);
/// How long the quotas of networks are cached: what is used of them is part of the response, and a user
/// who made room waits for it.
const USED: Duration = Duration::from_mins(3);
/// How long a network is known to be begun. A Cluster that is deleted and created again under its name is new after
/// that.
const BEGUN: Duration = Duration::from_hours(1);

/// Creates the connection to a cloud. No call is sent yet.
#[async_trait]
pub trait Connect: Send + Sync {
    /// With these credentials, in this region.
    ///
    /// # Errors
    ///
    /// When the settings of the process cannot be used.
    async fn connect(&self, access: &Access, region: &str) -> anyhow::Result<Arc<dyn Cloud>>;
}

/// A connection, and the results of its lookups.
pub(crate) struct Connected {
    /// For questions without a cache.
    pub(crate) cloud: Arc<dyn Cloud>,
    /// Images that are deprecated by now are not the newest. Nothing is measured here: a warning that is minutes early
    /// or late does no harm.
    clock: AwsClock,
    /// Facts that hardly ever change, kept as long as the manager keeps them.
    lookups: Lookups,
    images: Cache<ImageId, ImageInfo>,
    types: Cache<InstanceType, InstanceTypeInfo>,
    parameters: Cache<String, Option<String>>,
    newest_images: Cache<ImageQuery, Option<ImageInfo>>,
    subnets: Cache<NetworkQuery, Vec<SubnetInfo>>,
    profiles: Cache<String, Option<InstanceProfile>>,
    roles: Cache<String, Option<Role>>,
    vcpus: Cache<VcpuQuota, Option<u32>>,
    versions: Cache<(), Vec<VersionOffer>>,
    zones: Cache<(), BTreeMap<Zone, ZoneInfo>>,
    quotas: Cache<(), Quotas>,
    /// By cluster: whether something of its managed network exists.
    begun: Cache<String, bool>,
}

impl Connected {
    fn new(cloud: Arc<dyn Cloud>) -> Self {
        let metered = Metered::new(cloud, Limits::default(), Metrics::unregistered());
        let cloud: Arc<dyn Cloud> = Arc::new(metered.permitted_by(Arc::new(|| false)));
        let lookups = Lookups::new(Arc::clone(&cloud));
        Self {
            lookups,
            cloud,
            clock: AwsClock::with(Arc::new(SystemClock::start())),
            images: Cache::of_cache(Operation::DescribeImages, ONE_CALL),
            types: Cache::of_cache(Operation::DescribeInstanceTypes, ONE_CALL),
            parameters: Cache::of_cache(Operation::GetParameter, ONE_CALL),
            newest_images: Cache::of_cache(Operation::DescribeImages, ONE_CALL),
            subnets: Cache::of_cache(Operation::DescribeSubnets, ONE_CALL),
            // One that lacks something may get it at any moment.
            profiles: Cache::new(Operation::GetInstanceProfile, ONE_CALL, |profile| match profile {
                Some(profile) if profile.role.is_some() => RARELY_CHANGES,
                Some(_) | None => Duration::ZERO,
            }),
            // One that is refused may be repaired at any moment.
            roles: Cache::new(Operation::GetRole, ONE_CALL, |_| Duration::ZERO),
            versions: Cache::new(Operation::DescribeClusterVersions, ONE_CALL, |_| RARELY_CHANGES),
            vcpus: Cache::new(Operation::GetServiceQuota, ONE_CALL, |_| RARELY_CHANGES),
            zones: Cache::new(Operation::DescribeAvailabilityZones, ONE_CALL, |_| RARELY_CHANGES),
            quotas: Cache::new(Operation::GetServiceQuota, MANY_CALLS, |_| USED),
            // Until it is begun it may begin at any moment.
            begun: Cache::new(
                Operation::DescribeVpcs,
                ONE_CALL,
                |begun| {
                    if *begun { BEGUN } else { Duration::ZERO }
                },
            ),
        }
    }
}

/// Each read with what it keeps, and for how long.
#[async_trait]
impl Account for Connected {
    /// An image, at most ten minutes old.
    async fn image(&self, id: &ImageId) -> Result<ImageInfo> {
        self.images.get(id, self.lookups.image(id, Asking::New)).await
    }

    /// The value of an SSM parameter, at most ten minutes old; that there is none at most one.
    async fn parameter(&self, name: &str) -> Result<Option<String>> {
        self.parameters.get(&name.to_owned(), self.lookups.parameter(name, Asking::New)).await
    }

    /// The newest image that a query selects, at most ten minutes old; that there is none at most one.
    async fn newest_image(&self, query: &ImageQuery) -> Result<Option<ImageInfo>> {
        let ask = self.lookups.newest_image(query, self.clock.now(), Asking::New);
        self.newest_images.get(query, ask).await
    }

    /// An instance type, at most ten minutes old.
    async fn instance_type(&self, name: &InstanceType) -> Result<InstanceTypeInfo> {
        self.types.get(name, self.lookups.instance_type(name, Asking::New)).await
    }

    /// The subnets that a query names, at most ten minutes old; none for a minute.
    async fn subnets(&self, query: &NetworkQuery) -> Result<Vec<SubnetInfo>> {
        self.subnets.get(query, self.lookups.subnets(query, Asking::New)).await
    }

    /// An instance profile, if there is one; at most ten minutes old if it has a role.
    async fn instance_profile(&self, name: &str) -> Result<Option<InstanceProfile>> {
        self.profiles.get(&name.to_owned(), self.cloud.instance_profile(name)).await
    }

    /// A role, if there is one; asked for each time.
    async fn role(&self, name: &str) -> Result<Option<Role>> {
        self.roles.get(&name.to_owned(), self.cloud.role(name)).await
    }

    /// The Kubernetes versions that EKS offers in the region, at most ten minutes old.
    async fn eks_versions(&self) -> Result<Vec<VersionOffer>> {
        let ask = async {
            let question = Query::Versions;
            let QueryResult::Versions(offers) = self.cloud.describe_eks(&question).await? else {
                let why = "it is the response to another question";
                return Err(CloudError::new(question.operation(), ErrorKind::Internal, None, why));
            };
            Ok(offers)
        };
        self.versions.get(&(), ask).await
    }

    /// How many vCPUs of a quota can run, at most ten minutes old; `None` if AWS does not return it.
    async fn vcpu_quota(&self, quota: VcpuQuota) -> Result<Option<u32>> {
        self.vcpus.get(&quota, self.cloud.vcpu_quota(quota)).await
    }

    /// The region's zones, at most ten minutes old.
    async fn zones(&self) -> Result<BTreeMap<Zone, ZoneInfo>> {
        let all = Scope::TagKey(TAG_CLUSTER.to_owned());
        self.zones.get(&(), async { Ok(self.cloud.describe_network(Kind::Zone, &all).await?.zones) }).await
    }

    /// What networks may have and what there is of it, at most three minutes old.
    async fn quotas(&self) -> Result<Quotas> {
        self.quotas.get(&(), self.cloud.quotas()).await
    }

    /// Whether there is something of a cluster's managed network: a part of this kind. That there is can be an hour
    /// old.
    async fn has_begun(&self, cluster: &str, kind: Kind) -> Result<bool> {
        let tag = Scope::Tag(TAG_CLUSTER.to_owned(), cluster.to_owned());
        let ask = async {
            let parts = self.cloud.describe_network(kind, &tag).await?;
            Ok(!parts.vpcs.is_empty() || !parts.subnets.is_empty())
        };
        self.begun.get(&cluster.to_owned(), ask).await
    }

    async fn groups(&self, cluster: &str) -> Result<Vec<Group>> {
        let groups = self.cloud.describe_groups_tagged(TAG_CLUSTER).await?;
        let own =
            groups.into_iter().filter(|group| group.tags.get(TAG_CLUSTER).is_some_and(|it| it == cluster));
        let group = |it: foo_model::Group| Group {
            pool: it.tags.get(TAG_POOL).cloned(),
            subnets: it.settings.subnets.iter().map(|subnet| subnet.as_str().to_owned()).collect(),
            instances: it.instances.len(),
        };
        Ok(own.map(group).collect())
    }
}

/// All connections.
pub struct Clouds {
    connect: Arc<dyn Connect>,
    open: Mutex<BTreeMap<(Access, String), Arc<Connected>>>,
    /// What topologies were asked about.
    pub(crate) seen: Seen,
}

impl Clouds {
    /// None yet.
    pub fn new(connect: Arc<dyn Connect>) -> Self {
        Self { connect, open: Mutex::default(), seen: Seen::default() }
    }

    /// The connection with these credentials in that region.
    pub(crate) async fn get(&self, access: &Access, region: &str) -> anyhow::Result<Arc<Connected>> {
        let key = (access.clone(), region.to_owned());
        if let Some(there) = self.open().get(&key) {
            return Ok(Arc::clone(there));
        }
        let made = Arc::new(Connected::new(self.connect.connect(access, region).await?));
        let mut open = self.open();
        if open.len() >= MOST {
            open.clear();
        }
        // Another call may have been faster; then its responses are there already.
        Ok(Arc::clone(open.entry(key).or_insert(made)))
    }

    fn open(&self) -> std::sync::MutexGuard<'_, BTreeMap<(Access, String), Arc<Connected>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Clouds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clouds").finish_non_exhaustive()
    }
}
