//! How many passes may be under way for one cloud at a time, so that one account that is slow, or has used up its calls, does
//! not hold up the pools of all others.
//!
//! A pool for which there is no room waits in line without holding anything: it is named again when a pass of the same
//! cloud has ended. What cannot wait, because AWS takes an instance back or one waits in its hook, goes ahead.

use crate::clouds::CloudKey;
use foo_api::FooMachinePool;
use futures::Stream;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use kube_runtime::reflector::ObjectRef;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// However many clouds there are, each may have this part of all passes: one of four.
const SMALLEST_PART: usize = 4;

/// Whether a pass can wait for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Urgency {
    /// It can.
    Usual,
    /// Something ends soon.
    Urgent,
}

/// The passes under way, by cloud, and the pools that wait.
pub(super) struct Lanes {
    passes: usize,
    inner: Arc<Inner>,
    freed: Mutex<Option<UnboundedReceiver<ObjectRef<FooMachinePool>>>>,
}

struct Inner {
    lanes: Mutex<HashMap<CloudKey, Lane>>,
    next: UnboundedSender<ObjectRef<FooMachinePool>>,
}

#[derive(Default)]
struct Lane {
    under_way: usize,
    waiting: VecDeque<ObjectRef<FooMachinePool>>,
}

/// Room for one pass; given back when dropped.
pub(super) struct Room {
    inner: Arc<Inner>,
    cloud: CloudKey,
}

impl Lanes {
    /// For so many passes at a time, all clouds together.
    pub(super) fn new(passes: usize) -> Self {
        let (next, freed) = unbounded();
        let inner = Arc::new(Inner { lanes: Mutex::default(), next });
        Self { passes, inner, freed: Mutex::new(Some(freed)) }
    }

    /// Pools that waited and may be worked on now. For one consumer.
    pub(super) fn freed(&self) -> impl Stream<Item = ObjectRef<FooMachinePool>> + use<> {
        let freed = self.freed.lock().unwrap_or_else(PoisonError::into_inner).take();
        futures::StreamExt::flatten(futures::stream::iter(freed))
    }

    /// Room for a pass over that pool, when so many clouds are in use; without it the pool stands in line.
    pub(super) fn enter(
        &self,
        cloud: &CloudKey,
        pool: &ObjectRef<FooMachinePool>,
        urgency: Urgency,
        clouds: usize,
    ) -> Option<Room> {
        let part = self.passes.checked_div(clouds.clamp(1, SMALLEST_PART)).unwrap_or_default().max(1);
        let mut lanes = self.inner.lanes();
        let lane = lanes.entry(cloud.clone()).or_default();
        if lane.under_way >= part && urgency == Urgency::Usual {
            if !lane.waiting.contains(pool) {
                lane.waiting.push_back(pool.clone());
            }
            return None;
        }
        lane.under_way += 1;
        lane.waiting.retain(|waits| waits != pool);
        Some(Room { inner: Arc::clone(&self.inner), cloud: cloud.clone() })
    }
}

impl Inner {
    fn lanes(&self) -> MutexGuard<'_, HashMap<CloudKey, Lane>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut lanes = self.inner.lanes();
        let Some(lane) = lanes.get_mut(&self.cloud) else { return };
        lane.under_way = lane.under_way.saturating_sub(1);
        let next = lane.waiting.pop_front();
        if lane.under_way == 0 && lane.waiting.is_empty() {
            lanes.remove(&self.cloud);
        }
        if let Some(next) = next {
            // Nobody listens any more when the manager ends.
            let _ended = self.inner.next.unbounded_send(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::{FutureExt, StreamExt};

    fn cloud(credentials: &str) -> CloudKey {
        CloudKey { credentials: credentials.to_owned(), region: "r".to_owned() }
    }

    fn pool(name: &str) -> ObjectRef<FooMachinePool> {
        ObjectRef::new(name).within("ns")
    }

    #[test]
    fn a_cloud_alone_has_all_passes_and_one_of_many_a_quarter() {
        for (clouds, part) in [(0, 16), (1, 16), (2, 8), (3, 5), (4, 4), (100, 4)] {
            let lanes = Lanes::new(16);
            let enter = |at: usize| lanes.enter(&cloud("a"), &pool(&at.to_string()), Urgency::Usual, clouds);
            let rooms: Vec<Room> = (0..40).filter_map(enter).collect();
            assert_eq!(rooms.len(), part, "{clouds} clouds");
            assert!(lanes.enter(&cloud("b"), &pool("b"), Urgency::Usual, clouds).is_some());
        }
        let one = Lanes::new(1);
        assert!(one.enter(&cloud("a"), &pool("p"), Urgency::Usual, 9).is_some());
    }

    #[test]
    fn those_that_wait_are_named_in_order_each_once() {
        let lanes = Lanes::new(4);
        let mut freed = Box::pin(lanes.freed());
        let enter = |name: &str| lanes.enter(&cloud("a"), &pool(name), Urgency::Usual, 4);
        let room = enter("1").unwrap();
        for name in ["2", "3", "2"] {
            assert!(enter(name).is_none());
        }
        assert!(freed.next().now_or_never().is_none(), "nobody has gone");
        drop(room);
        assert_eq!(freed.next().now_or_never().unwrap(), Some(pool("2")));
        let room = enter("2").unwrap();
        assert!(freed.next().now_or_never().is_none(), "one at a time");
        drop(room);
        assert_eq!(freed.next().now_or_never().unwrap(), Some(pool("3")));
        drop(enter("3").unwrap());
        assert!(lanes.inner.lanes().is_empty(), "nothing is kept of a cloud without passes");
    }

    #[test]
    fn what_cannot_wait_does_not() {
        let lanes = Lanes::new(4);
        let _room = lanes.enter(&cloud("a"), &pool("1"), Urgency::Usual, 4).unwrap();
        assert!(lanes.enter(&cloud("a"), &pool("2"), Urgency::Usual, 4).is_none());
        assert!(lanes.enter(&cloud("a"), &pool("2"), Urgency::Urgent, 4).is_some());
    }
}
