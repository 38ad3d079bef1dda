//! Facts that rarely change, looked up once: images, SSM parameters that name them, instance types, subnets,
//! security groups, instance profiles.
//!
//! An idle pool costs no call: results are kept for a day while they are in use. Only a caller whose
//! question is new ([`Asking::New`]: the spec changed, a group is about to be created) gets a result that
//! is at most ten minutes old. Failures are remembered for a minute, transient ones for five seconds, so that
//! a pool with a misspelt subnet does not call AWS in every pass. Callers with the same question share one
//! call.

use crate::error::{CloudError, ErrorKind};
use crate::{
    Cloud, ImageInfo, ImageQuery, InstanceTypeInfo, NetworkQuery, Result, SecurityGroupInfo, SubnetInfo,
};
use foo_model::eks::InstanceProfile;
use foo_model::{AwsTime, ImageId, InstanceType, Operation};
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long a result is valid for repeated questions; unused results are dropped after the same time.
const FOR_REPEATED: Duration = Duration::from_hours(24);
/// How long a result is valid for new questions.
const FOR_NEW: Duration = Duration::from_mins(10);
/// How long a failure is cached.
const FAILED: Duration = Duration::from_mins(1);
/// How long a transient failure is cached.
const PASSING: Duration = Duration::from_secs(5);

/// Why a caller asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// For the same reason as before: a result up to a day old suffices.
    Again,
    /// The question is new: a result up to ten minutes old suffices.
    New,
}

/// The shared cache, one per (credentials, region).
pub struct Lookups {
    cloud: Arc<dyn Cloud>,
    images: Cache<ImageId, ImageInfo>,
    newest_images: Cache<ImageQuery, Option<ImageInfo>>,
    parameters: Cache<String, Option<String>>,
    profiles: Cache<String, Option<InstanceProfile>>,
    types: Cache<InstanceType, InstanceTypeInfo>,
    subnets: Cache<NetworkQuery, Vec<SubnetInfo>>,
    security_groups: Cache<NetworkQuery, Vec<SecurityGroupInfo>>,
}

impl Lookups {
    /// An empty cache in front of `cloud`.
    pub fn new(cloud: Arc<dyn Cloud>) -> Self {
        Self {
            cloud,
            images: Cache::new(|_| false),
            newest_images: Cache::new(Option::is_none),
            parameters: Cache::new(Option::is_none),
            // A profile without a role is as good as none: its role is added in another call of IAM.
            profiles: Cache::new(|profile: &Option<InstanceProfile>| {
                profile.as_ref().is_none_or(|profile| profile.role.is_none())
            }),
            types: Cache::new(|_| false),
            subnets: Cache::new(Vec::is_empty),
            security_groups: Cache::new(Vec::is_empty),
        }
    }

    /// Facts about an image.
    pub async fn image(&self, id: &ImageId, asking: Asking) -> Result<ImageInfo> {
        let ask = async || {
            let found = self.cloud.describe_images(std::slice::from_ref(id)).await?;
            only(found, Operation::DescribeImages, id)
        };
        self.images.get(id, asking, ask).await
    }

    /// The newest image that a query selects and that is not deprecated at this time. That there is none is valid for
    /// a minute.
    pub async fn newest_image(
        &self,
        query: &ImageQuery,
        now: AwsTime,
        asking: Asking,
    ) -> Result<Option<ImageInfo>> {
        let ask = async || Ok(newest(self.cloud.find_images(query).await?, now));
        self.newest_images.get(query, asking, ask).await
    }

    /// The value of an SSM parameter, by its name or ARN. That it does not exist is valid for a minute.
    pub async fn parameter(&self, name: &str, asking: Asking) -> Result<Option<String>> {
        let name = name.to_owned();
        self.parameters.get(&name, asking, async || self.cloud.parameter(&name).await).await
    }

    /// The instance profile of this name, with its role. That there is none, or that it has no role, is valid for a
    /// minute.
    pub async fn instance_profile(&self, name: &str, asking: Asking) -> Result<Option<InstanceProfile>> {
        let name = name.to_owned();
        self.profiles.get(&name, asking, async || self.cloud.instance_profile(&name).await).await
    }

    /// Facts about an instance type.
    pub async fn instance_type(&self, name: &InstanceType, asking: Asking) -> Result<InstanceTypeInfo> {
        let ask = async || {
            let found = self.cloud.describe_instance_types(std::slice::from_ref(name)).await?;
            only(found, Operation::DescribeInstanceTypes, name)
        };
        self.types.get(name, asking, ask).await
    }

    /// The subnets that a query names; tags without a match give an empty list, which is valid for a minute.
    pub async fn subnets(&self, query: &NetworkQuery, asking: Asking) -> Result<Vec<SubnetInfo>> {
        self.subnets.get(query, asking, async || self.cloud.describe_subnets(query).await).await
    }

    /// The security groups that a query names; tags without a match give an empty list, which is valid for a
    /// minute.
    pub async fn security_groups(
        &self,
        query: &NetworkQuery,
        asking: Asking,
    ) -> Result<Vec<SecurityGroupInfo>> {
        self.security_groups
            .get(query, asking, async || self.cloud.describe_security_groups(query).await)
            .await
    }
}

impl fmt::Debug for Lookups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookups").finish_non_exhaustive()
    }
}

/// The newest of these images that can be launched and is not deprecated at this time. Of images of the same age, the one whose id sorts last: callers get the same one in whatever order AWS lists them.
pub fn newest(images: Vec<ImageInfo>, now: AwsTime) -> Option<ImageInfo> {
    images
        .into_iter()
        .filter(|image| image.available && image.deprecated_from.is_none_or(|from| now < from))
        .max_by(|one, other| (one.created, &one.id).cmp(&(other.created, &other.id)))
}

fn only<T>(found: Vec<T>, operation: Operation, id: &impl fmt::Display) -> Result<T> {
    let unknown = || CloudError::new(operation, ErrorKind::NotFound, None, &format!("{id} does not exist"));
    found.into_iter().next().ok_or_else(unknown)
}

/// One result per question. The holder of a slot's lock sends the call; the others wait for the lock and
/// read.
struct Cache<K, V> {
    slots: Mutex<HashMap<K, Slot<V>>>,
    /// Whether a result is empty.
    is_nothing: fn(&V) -> bool,
}

struct Slot<V> {
    cached: Arc<tokio::sync::Mutex<Cached<V>>>,
    used: Instant,
}

struct Cached<V> {
    found: Option<Found<V>>,
    failed: Option<(Instant, CloudError)>,
}

struct Found<V> {
    at: Instant,
    value: V,
    /// How long it is valid at most, for any caller.
    serves: Duration,
}

impl<K: Clone + Eq + Hash, V: Clone> Cache<K, V> {
    fn new(is_nothing: fn(&V) -> bool) -> Self {
        Self { slots: Mutex::default(), is_nothing }
    }

    async fn get<F: Future<Output = Result<V>>>(
        &self,
        key: &K,
        asking: Asking,
        ask: impl FnOnce() -> F,
    ) -> Result<V> {
        let slot = self.slot(key);
        let mut cached = slot.lock().await;
        if let Some(known) = cached.known(asking) {
            return known;
        }
        let result = ask().await;
        let at = Instant::now();
        match result {
            Ok(value) => {
                let serves = if (self.is_nothing)(&value) { FAILED } else { FOR_REPEATED };
                *cached = Cached { found: Some(Found { at, value: value.clone(), serves }), failed: None };
                Ok(value)
            }
            Err(error) => {
                let best = cached.despite(&error, asking);
                cached.failed = Some((at, error));
                best
            }
        }
    }

    fn slot(&self, key: &K) -> Arc<tokio::sync::Mutex<Cached<V>>> {
        let now = Instant::now();
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if !slots.contains_key(key) {
            slots.retain(|_, slot| now.saturating_duration_since(slot.used) < FOR_REPEATED);
        }
        let slot = slots.entry(key.clone()).or_insert_with(|| Slot {
            cached: Arc::new(tokio::sync::Mutex::new(Cached { found: None, failed: None })),
            used: now,
        });
        slot.used = now;
        Arc::clone(&slot.cached)
    }
}

impl<V: Clone> Cached<V> {
    /// The known result, if it is still valid.
    fn known(&self, asking: Asking) -> Option<Result<V>> {
        let longest = match asking {
            Asking::Again => FOR_REPEATED,
            Asking::New => FOR_NEW,
        };
        if let Some(found) = &self.found
            && found.at.elapsed() < longest.min(found.serves)
        {
            return Some(Ok(found.value.clone()));
        }
        let (at, error) = self.failed.as_ref()?;
        let remembered = if passes(error.kind) { PASSING } else { FAILED };
        (at.elapsed() < remembered).then(|| self.despite(error, asking))
    }

    /// The best result after a failed call: an idle pool keeps using yesterday's result, unless AWS reports
    /// that it is no longer true.
    fn despite(&self, error: &CloudError, asking: Asking) -> Result<V> {
        match (&self.found, asking) {
            (Some(found), Asking::Again) if error.kind != ErrorKind::NotFound => Ok(found.value.clone()),
            (_, Asking::Again | Asking::New) => Err(error.clone()),
        }
    }
}

/// Whether a failure is transient and independent of the question.
fn passes(kind: ErrorKind) -> bool {
    match kind {
        ErrorKind::Throttled
        | ErrorKind::LostResponse
        | ErrorKind::Unreachable
        | ErrorKind::Internal
        | ErrorKind::InUse => true,
        ErrorKind::Denied
        | ErrorKind::Credentials
        | ErrorKind::NotFound
        | ErrorKind::AlreadyExists
        | ErrorKind::Invalid
        | ErrorKind::LimitExceeded => false,
    }
}
