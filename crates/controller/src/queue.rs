//! The objects of a controller that wait for a pass. kube does not expose the length of its own queue, so
//! this module records which objects are named, which timers expire, and which objects get their pass. It
//! decides nothing.

use futures::{Stream, StreamExt};
use kube::Resource;
use kube::runtime::controller::Action as KubeAction;
use kube_runtime::reflector::{Lookup, ObjectRef};
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Namespace and name.
type Key = (Option<String>, String);

/// When an object that had its pass has the next one, if nothing names it before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action(Option<Duration>);

impl Action {
    /// After this long.
    pub const fn requeue(after: Duration) -> Self {
        Self(Some(after))
    }

    /// When something names it.
    pub const fn await_change() -> Self {
        Self(None)
    }

    /// How long after at the latest.
    pub const fn after(&self) -> Option<Duration> {
        self.0
    }
}

impl From<Action> for KubeAction {
    fn from(action: Action) -> Self {
        action.0.map_or_else(Self::await_change, Self::requeue)
    }
}

/// The record of one controller's queue. Clones share it.
#[derive(Clone, Debug)]
pub struct Queue {
    /// When each object is or was due.
    due: Arc<Mutex<HashMap<Key, Instant>>>,
    /// Times that objects waited.
    pub(crate) waited: Histogram,
}

impl Default for Queue {
    fn default() -> Self {
        // 10 ms … 11 min: from the pause that collects changes to an overload of objects.
        Self { due: Arc::default(), waited: Histogram::new(exponential_buckets(0.01, 4.0, 9)) }
    }
}

/// The queue at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Number of objects.
    pub objects: usize,
    /// How long the object that has waited longest has waited.
    pub longest: Duration,
}

impl Queue {
    /// Records changed objects, each of which is to have a pass.
    pub fn changed<K, E>(
        &self,
        changes: impl Stream<Item = Result<K, E>> + Send + 'static,
    ) -> impl Stream<Item = Result<K, E>> + Send + 'static
    where
        K: Resource<DynamicType = ()> + 'static,
    {
        let queue = self.clone();
        changes.inspect(move |change| {
            if let Ok(object) = change {
                queue.is_named(&ObjectRef::from_obj(object));
            }
        })
    }

    /// Records the objects that changes of other objects name.
    pub fn named_by<K, O, I>(
        &self,
        names: impl Fn(O) -> I + Send + Sync + 'static,
    ) -> impl Fn(O) -> Vec<ObjectRef<K>> + Send + Sync + 'static
    where
        K: Lookup + 'static,
        O: 'static,
        I: IntoIterator<Item = ObjectRef<K>> + 'static,
    {
        let queue = self.clone();
        move |other| names(other).into_iter().inspect(|object| queue.is_named(object)).collect()
    }

    /// Records objects that are named for other reasons.
    pub fn named<K: Lookup + 'static>(
        &self,
        names: impl Stream<Item = ObjectRef<K>> + Send + 'static,
    ) -> impl Stream<Item = ObjectRef<K>> + Send + 'static {
        let queue = self.clone();
        names.inspect(move |object| queue.is_named(object))
    }

    /// Records that an object gets its pass.
    pub async fn turn<K: Lookup>(
        self,
        object: ObjectRef<K>,
        pass: impl Future<Output = Action>,
    ) -> KubeAction {
        let key = key(&object);
        let due = self.lock().remove(&key);
        if let Some(due) = due {
            self.waited.observe(Instant::now().saturating_duration_since(due).as_secs_f64());
        }
        let action = pass.await;
        if let Some(again) = action.0.and_then(|after| Instant::now().checked_add(after)) {
            self.is_due(key, again);
        }
        action.into()
    }

    /// Records that an object no longer exists and needs no pass.
    pub fn is_gone<K: Lookup>(&self, object: &ObjectRef<K>) {
        self.lock().remove(&key(object));
    }

    /// What waits now.
    pub fn waiting(&self) -> Waiting {
        let now = Instant::now();
        let due = self.lock();
        let waiting = due.values().filter(|due| **due <= now);
        waiting.fold(Waiting::default(), |sum, due| Waiting {
            objects: sum.objects.saturating_add(1),
            longest: sum.longest.max(now.saturating_duration_since(*due)),
        })
    }

    fn is_named<K: Lookup>(&self, object: &ObjectRef<K>) {
        self.is_due(key(object), Instant::now());
    }

    /// As in kube: the earliest time counts.
    fn is_due(&self, key: Key, at: Instant) {
        let mut all = self.lock();
        let due = all.entry(key).or_insert(at);
        *due = at.min(*due);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Instant>> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key<K: Lookup>(object: &ObjectRef<K>) -> Key {
    (object.namespace.clone(), object.name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_api::FooCluster;
    use futures::stream;
    use tokio::time::advance;

    fn object(name: &str) -> ObjectRef<FooCluster> {
        ObjectRef::new(name).within("ns")
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn waiting_is_measured_from_the_trigger_or_the_timer() {
        let queue = Queue::default();
        let named: Vec<_> = queue.named(stream::iter([object("a"), object("b")])).collect().await;
        assert_eq!(named.len(), 2);
        advance(SECOND * 3).await;
        assert_eq!(queue.named_by(|()| [object("a"), object("c")])(()).len(), 2);
        assert_eq!(queue.waiting(), Waiting { objects: 3, longest: SECOND * 3 });
        let turn = |name, action| queue.clone().turn(object(name), async { action });
        turn("a", Action::requeue(SECOND * 60)).await;
        turn("b", Action::await_change()).await;
        assert_eq!(queue.waiting(), Waiting { objects: 1, longest: Duration::ZERO });
        queue.is_gone(&object("c"));
        assert_eq!(queue.waiting(), Waiting::default());
        advance(SECOND * 62).await;
        assert_eq!(queue.waiting(), Waiting { objects: 1, longest: SECOND * 2 });
        assert_eq!(queue.lock().len(), 1, "nothing is kept of the others");
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_named_during_its_pass_waits_for_the_next() {
        let queue = Queue::default();
        let names = queue.named_by(|()| [object("a")]);
        names(());
        let pass = async {
            names(());
            Action::requeue(SECOND * 60)
        };
        queue.clone().turn(object("a"), pass).await;
        advance(SECOND).await;
        assert_eq!(queue.waiting(), Waiting { objects: 1, longest: SECOND });
    }
}
