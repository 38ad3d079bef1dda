//! Whether a cache has been filled once, for any number of waiting tasks.
//!
//! `Store::wait_until_ready` of kube 5 does not work for that: all waiting tasks poll one oneshot channel,
//! which wakes only the task that polled last. Of ten passes that wait for a slow list nine would wait for
//! ever, and all ten if another task polled once in between. kube's own controller waits there, and nothing
//! else may (`clippy.toml` enforces it).

use tokio::sync::watch;

/// Signals that a cache has been filled once. Clones refer to the same cache.
#[derive(Clone, Debug)]
pub struct Filled(watch::Receiver<bool>);

/// The cache will never be filled: its watch has ended, because the manager is shutting down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the watch has ended")]
pub struct WatchEnded;

/// The sending side of a [`Filled`], owned by the writer of the cache.
#[derive(Debug)]
pub(super) struct Filling(watch::Sender<bool>);

/// A pair for a cache that is still empty.
pub(super) fn filled() -> (Filling, Filled) {
    let (sender, receiver) = watch::channel(false);
    (Filling(sender), Filled(receiver))
}

impl Filling {
    /// The cache is filled now.
    pub(super) fn done(&self) {
        self.0.send_if_modified(|filled| !std::mem::replace(filled, true));
    }
}

impl Filled {
    /// Whether the cache has been filled.
    pub fn now(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the cache has been filled. Any number of tasks may wait.
    pub async fn wait(&self) -> Result<(), WatchEnded> {
        self.0.clone().wait_for(|filled| *filled).await.map(drop).map_err(|_| WatchEnded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn all_waiting_tasks_are_woken_although_others_only_check() {
        let (filling, filled) = filled();
        let waiting: Vec<_> = (0..10)
            .map(|_| {
                let filled = filled.clone();
                tokio::spawn(async move { filled.wait().await })
            })
            .collect();
        tokio::task::yield_now().await;
        assert!(!filled.now());
        assert_eq!(filled.wait().now_or_never(), None);
        filling.done();
        for task in waiting {
            assert_eq!(task.await.unwrap(), Ok(()));
        }
        assert!(filled.now());
    }

    #[tokio::test]
    async fn waiting_tasks_are_woken_when_the_watch_ends() {
        let (filling, filled) = filled();
        drop(filling);
        assert_eq!(filled.wait().await, Err(WatchEnded));
    }
}
