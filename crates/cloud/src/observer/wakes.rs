//! The stream of groups with news.

use foo_model::GroupName;
use futures::Stream;
use std::collections::{HashSet, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Names of groups with news, each once, in the order of the news.
///
/// Its length is bounded by the number of watched groups. A name leaves the set before it is handed out, so
/// news that arrive while its consumer is at work report it again.
#[derive(Debug)]
pub struct Wakes {
    set: Arc<WakeSet>,
}

#[derive(Debug, Default)]
pub(super) struct WakeSet {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    queue: VecDeque<GroupName>,
    members: HashSet<GroupName>,
    waker: Option<Waker>,
    life: Life,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Life {
    #[default]
    Open,
    Closed,
}

impl Wakes {
    pub(super) fn new(set: Arc<WakeSet>) -> Self {
        Self { set }
    }
}

impl WakeSet {
    pub(super) fn add(&self, names: impl IntoIterator<Item = GroupName>) {
        let waker = {
            let mut inner = self.lock();
            for name in names {
                if inner.members.insert(name.clone()) {
                    inner.queue.push_back(name);
                }
            }
            if inner.queue.is_empty() { None } else { inner.waker.take() }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(super) fn remove(&self, name: &GroupName) {
        let mut inner = self.lock();
        if inner.members.remove(name) {
            inner.queue.retain(|queued| queued != name);
        }
    }

    pub(super) fn close(&self) {
        let waker = {
            let mut inner = self.lock();
            inner.life = Life::Closed;
            inner.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stream for Wakes {
    type Item = GroupName;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<GroupName>> {
        let mut inner = self.set.lock();
        if let Some(name) = inner.queue.pop_front() {
            inner.members.remove(&name);
            return Poll::Ready(Some(name));
        }
        if inner.life == Life::Closed {
            return Poll::Ready(None);
        }
        inner.waker = Some(context.waker().clone());
        Poll::Pending
    }
}
