//! Limits how many passes may be under way for one cloud at a time, so that one account that is slow, or has
//! used up its request budget, does not delay the objects of all others.
//!
//! An object for which there is no room waits in line without using a slot: it is named again when a pass of
//! the same cloud has ended. Urgent passes take precedence.

use crate::clouds::CloudKey;
use futures::Stream;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Each cloud may use this part of all passes, however many clouds there are: one of four.
const SMALLEST_PART: usize = 4;

/// Whether a pass can wait for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// It can.
    Usual,
    /// It cannot: an instance terminates soon.
    Urgent,
}

/// The passes under way, by cloud, and the objects that wait.
pub(crate) struct Lanes<Object> {
    passes: usize,
    inner: Arc<Inner<Object>>,
    freed: Mutex<Option<UnboundedReceiver<Object>>>,
}

struct Inner<Object> {
    lanes: Mutex<HashMap<CloudKey, Lane<Object>>>,
    next: UnboundedSender<Object>,
}

struct Lane<Object> {
    under_way: usize,
    waiting: VecDeque<Object>,
}

impl<Object> Default for Lane<Object> {
    fn default() -> Self {
        Self { under_way: 0, waiting: VecDeque::new() }
    }
}

/// A slot for one pass; freed when dropped.
pub(crate) struct Room<Object> {
    inner: Arc<Inner<Object>>,
    cloud: CloudKey,
}

impl<Object: Clone + PartialEq> Lanes<Object> {
    /// Allows this many passes at a time, all clouds together.
    pub(crate) fn new(passes: usize) -> Self {
        let (next, freed) = unbounded();
        let inner = Arc::new(Inner { lanes: Mutex::default(), next });
        Self { passes, inner, freed: Mutex::new(Some(freed)) }
    }

    /// Objects that waited and may have their pass now. For one consumer.
    pub(crate) fn freed(&self) -> impl Stream<Item = Object> + use<Object> {
        let freed = self.freed.lock().unwrap_or_else(PoisonError::into_inner).take();
        futures::StreamExt::flatten(futures::stream::iter(freed))
    }

    /// A slot for a pass over that object, given the number of clouds in use; without one the object joins
    /// the line.
    pub(crate) fn enter(
        &self,
        cloud: &CloudKey,
        object: &Object,
        urgency: Urgency,
        clouds: usize,
    ) -> Option<Room<Object>> {
        let part = self.passes.checked_div(clouds.clamp(1, SMALLEST_PART)).unwrap_or_default().max(1);
        let mut lanes = self.inner.lanes();
        let lane = lanes.entry(cloud.clone()).or_default();
        if lane.under_way >= part && urgency == Urgency::Usual {
            if !lane.waiting.contains(object) {
                lane.waiting.push_back(object.clone());
            }
            return None;
        }
        lane.under_way += 1;
        lane.waiting.retain(|waits| waits != object);
        Some(Room { inner: Arc::clone(&self.inner), cloud: cloud.clone() })
    }
}

impl<Object> Inner<Object> {
    fn lanes(&self) -> MutexGuard<'_, HashMap<CloudKey, Lane<Object>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Object> Drop for Room<Object> {
    fn drop(&mut self) {
        let mut lanes = self.inner.lanes();
        let Some(lane) = lanes.get_mut(&self.cloud) else { return };
        lane.under_way = lane.under_way.saturating_sub(1);
        let next = lane.waiting.pop_front();
        if lane.under_way == 0 && lane.waiting.is_empty() {
            lanes.remove(&self.cloud);
        }
        if let Some(next) = next {
            // The receiver is dropped when the manager ends.
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

    #[test]
    fn a_cloud_alone_has_all_passes_and_one_of_many_a_quarter() {
        for (clouds, part) in [(0, 16), (1, 16), (2, 8), (3, 5), (4, 4), (100, 4)] {
            let lanes = Lanes::<String>::new(16);
            let enter = |at: usize| lanes.enter(&cloud("a"), &at.to_string(), Urgency::Usual, clouds);
            let rooms: Vec<Room<String>> = (0..40).filter_map(enter).collect();
            assert_eq!(rooms.len(), part, "{clouds} clouds");
            assert!(lanes.enter(&cloud("b"), &"b".to_owned(), Urgency::Usual, clouds).is_some());
        }
        let one = Lanes::<String>::new(1);
        assert!(one.enter(&cloud("a"), &"p".to_owned(), Urgency::Usual, 9).is_some());
    }

    #[test]
    fn those_that_wait_are_named_in_order_each_once() {
        let lanes = Lanes::<String>::new(4);
        let mut freed = Box::pin(lanes.freed());
        let enter = |name: &str| lanes.enter(&cloud("a"), &name.to_owned(), Urgency::Usual, 4);
        let room = enter("1").unwrap();
        for name in ["2", "3", "2"] {
            assert!(enter(name).is_none());
        }
        assert!(freed.next().now_or_never().is_none(), "none has ended");
        drop(room);
        assert_eq!(freed.next().now_or_never().unwrap(), Some("2".to_owned()));
        let room = enter("2").unwrap();
        assert!(freed.next().now_or_never().is_none(), "one at a time");
        drop(room);
        assert_eq!(freed.next().now_or_never().unwrap(), Some("3".to_owned()));
        drop(enter("3").unwrap());
        assert!(lanes.inner.lanes().is_empty(), "nothing is kept of a cloud without passes");
    }

    #[test]
    fn urgent_passes_do_not_wait() {
        let lanes = Lanes::<String>::new(4);
        let _room = lanes.enter(&cloud("a"), &"1".to_owned(), Urgency::Usual, 4).unwrap();
        assert!(lanes.enter(&cloud("a"), &"2".to_owned(), Urgency::Usual, 4).is_none());
        assert!(lanes.enter(&cloud("a"), &"2".to_owned(), Urgency::Urgent, 4).is_some());
    }
}
