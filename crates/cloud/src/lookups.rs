//! Facts that hardly ever change, asked once: images, instance types, subnets, security groups.
//!
//! A settled pool costs no call: what was found is kept for a day while it is asked for. Only a caller that says that
//! its own question is new ([`Asking::Anew`]: the spec changed, a group is about to be made) gets an answer that is at
//! most ten minutes old. Failures are remembered for a minute, those that pass by themselves for five seconds, so that
//! a pool with a misspelt subnet does not ask with every pass. Callers with the same question share one call.

use crate::error::{CloudError, ErrorKind};
use crate::operation::Operation;
use crate::{Cloud, ImageInfo, InstanceTypeInfo, NetworkQuery, Result, SecurityGroupInfo, SubnetInfo};
use foo_model::{ImageId, InstanceType};
use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// What was found serves this long while nobody asks anew; unused answers are dropped after the same time.
const SETTLED: Duration = Duration::from_hours(24);
/// What was found serves this long for somebody who asks anew.
const ANEW: Duration = Duration::from_mins(10);
/// A failure is the answer for this long.
const FAILED: Duration = Duration::from_mins(1);
/// A failure that is nobody's fault is the answer for this long.
const PASSING: Duration = Duration::from_secs(5);

/// Why somebody asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// For the same reason as before: any answer up to a day old will do.
    Again,
    /// Because the question is new to the caller: an answer up to ten minutes old will do.
    Anew,
}

/// The shared cache, one per (credentials, region).
pub struct Lookups {
    cloud: Arc<dyn Cloud>,
    images: Answers<ImageId, ImageInfo>,
    types: Answers<InstanceType, InstanceTypeInfo>,
    subnets: Answers<NetworkQuery, Vec<SubnetInfo>>,
    security_groups: Answers<NetworkQuery, Vec<SecurityGroupInfo>>,
}

impl Lookups {
    /// An empty cache in front of `cloud`.
    pub fn new(cloud: Arc<dyn Cloud>) -> Self {
        Self {
            cloud,
            images: Answers::new(|_| false),
            types: Answers::new(|_| false),
            subnets: Answers::new(Vec::is_empty),
            security_groups: Answers::new(Vec::is_empty),
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

    /// Facts about an instance type.
    pub async fn instance_type(&self, name: &InstanceType, asking: Asking) -> Result<InstanceTypeInfo> {
        let ask = async || {
            let found = self.cloud.describe_instance_types(std::slice::from_ref(name)).await?;
            only(found, Operation::DescribeInstanceTypes, name)
        };
        self.types.get(name, asking, ask).await
    }

    /// The subnets a query names; tags that match nothing give an empty list, which serves for a minute.
    pub async fn subnets(&self, query: &NetworkQuery, asking: Asking) -> Result<Vec<SubnetInfo>> {
        self.subnets.get(query, asking, async || self.cloud.describe_subnets(query).await).await
    }

    /// The security groups a query names; tags that match nothing give an empty list, which serves for a
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

fn only<T>(found: Vec<T>, operation: Operation, id: &impl fmt::Display) -> Result<T> {
    let unknown = || CloudError::new(operation, ErrorKind::NotFound, None, &format!("{id} does not exist"));
    found.into_iter().next().ok_or_else(unknown)
}

/// One answer per question. Whoever holds the lock of a slot asks; the others wait for it and read.
struct Answers<K, V> {
    slots: Mutex<HashMap<K, Slot<V>>>,
    /// Whether an answer says that there is nothing.
    is_nothing: fn(&V) -> bool,
}

struct Slot<V> {
    answer: Arc<tokio::sync::Mutex<Answer<V>>>,
    used: Instant,
}

struct Answer<V> {
    found: Option<Found<V>>,
    failed: Option<(Instant, CloudError)>,
}

struct Found<V> {
    at: Instant,
    value: V,
    /// How long it serves at most, whoever asks.
    serves: Duration,
}

impl<K: Clone + Eq + Hash, V: Clone> Answers<K, V> {
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
        let mut answer = slot.lock().await;
        if let Some(known) = answer.known(asking) {
            return known;
        }
        let result = ask().await;
        let at = Instant::now();
        match result {
            Ok(value) => {
                let serves = if (self.is_nothing)(&value) { FAILED } else { SETTLED };
                *answer = Answer { found: Some(Found { at, value: value.clone(), serves }), failed: None };
                Ok(value)
            }
            Err(error) => {
                let best = answer.despite(&error, asking);
                answer.failed = Some((at, error));
                best
            }
        }
    }

    fn slot(&self, key: &K) -> Arc<tokio::sync::Mutex<Answer<V>>> {
        let now = Instant::now();
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if !slots.contains_key(key) {
            slots.retain(|_, slot| now.saturating_duration_since(slot.used) < SETTLED);
        }
        let slot = slots.entry(key.clone()).or_insert_with(|| Slot {
            answer: Arc::new(tokio::sync::Mutex::new(Answer { found: None, failed: None })),
            used: now,
        });
        slot.used = now;
        Arc::clone(&slot.answer)
    }
}

impl<V: Clone> Answer<V> {
    /// The answer without asking, if there is one.
    fn known(&self, asking: Asking) -> Option<Result<V>> {
        let longest = match asking {
            Asking::Again => SETTLED,
            Asking::Anew => ANEW,
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

    /// The best answer when asking failed: a settled pool lives on with what was true yesterday, unless AWS says that
    /// it is no longer.
    fn despite(&self, error: &CloudError, asking: Asking) -> Result<V> {
        match (&self.found, asking) {
            (Some(found), Asking::Again) if error.kind != ErrorKind::NotFound => Ok(found.value.clone()),
            (_, Asking::Again | Asking::Anew) => Err(error.clone()),
        }
    }
}

/// Whether a failure says nothing about the question.
fn passes(kind: ErrorKind) -> bool {
    match kind {
        ErrorKind::Throttled
        | ErrorKind::LostAnswer
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
