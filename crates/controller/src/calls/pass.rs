//! What a pass over an object is for, how far it is, and how it ended.

use crate::Context;
use crate::clouds::CloudRegion;
use crate::harness::PassOutcome;
use foo_cloud::CloudError;
use kube::Resource;
use kube_runtime::reflector::{ObjectRef, Store};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Delay before resuming a pass that yielded.
pub(crate) const CONTINUE: Duration = Duration::from_secs(1);
/// After a read that failed: the shared reads have a backoff of their own.
pub(crate) const READ_SOON: Duration = Duration::from_secs(10);

/// What is requested of an object's resources in AWS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    /// That they are as in the spec.
    Keep,
    /// That they are deleted.
    Delete,
}

/// What AWS is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A pass: its cloud is kept in being for the next one.
    Pass,
    /// A plan, which changes nothing that passes use.
    Plan,
}

/// What a pass is over, and where AWS is called for it.
pub(crate) struct Pass<'a, K: Resource<DynamicType = ()> + Clone + 'static> {
    pub(crate) context: &'a Context,
    pub(crate) object: &'a K,
    /// The cache of such objects.
    pub(crate) own: &'a Store<K>,
    pub(crate) goal: Goal,
    pub(crate) region: Arc<CloudRegion>,
    /// The account that AWS is called for, if known.
    pub(crate) account: Option<String>,
}

impl<K: Resource<DynamicType = ()> + Clone + 'static> Pass<'_, K> {
    /// The object as the cache shows it by now; `None` if it was deleted, and perhaps created again.
    pub(crate) fn newest(&self) -> Option<Arc<K>> {
        let newest = self.own.get(&ObjectRef::from_obj(self.object))?;
        (newest.meta().uid == self.object.meta().uid).then_some(newest)
    }
}

/// How far a pass is.
pub(crate) struct Progress {
    /// No plan is begun after this moment.
    pub(crate) until: Instant,
    /// Why AWS could not be read, if it could not.
    pub(crate) failure: Option<CloudError>,
    /// Whether anything was written or sent.
    pub(crate) worked: bool,
}

impl Progress {
    /// A pass that begins now.
    pub(crate) fn begin(context: &Context) -> Self {
        let until = Instant::now() + context.settings.pass_deadline;
        Self { until, failure: None, worked: false }
    }
}

/// When the record of a plan is written that sends nothing and is followed by reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadOnly {
    /// Before the reads: they take long, and the status shows what is waited for.
    Published,
    /// With the next plan that sends something, or with the last one: the memory has it until then.
    Remembered,
}

/// How a pass ended.
pub(crate) struct Ended {
    /// Whether anything was written or sent.
    pub(crate) worked: bool,
    /// When the next pass is.
    pub(crate) after: Duration,
    /// Whether nothing is left in AWS, or what is left is retained.
    pub(crate) gone: bool,
}

impl Ended {
    /// The harness's outcome.
    pub(crate) fn outcome(&self) -> PassOutcome {
        let next = crate::queue::Action::requeue(self.after);
        if self.worked { PassOutcome::worked(next) } else { PassOutcome::settled(next) }
    }
}
