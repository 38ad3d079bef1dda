//! How much of requests is in memory at the same time. A call without room waits, before its body is read.
//!
//! Core computes as many topologies at the same time as it has workers, and each sends all templates of a Cluster in
//! one body. A handler completes a call in milliseconds, so calls that wait for each other lose little; calls that are
//! all read at the same time cost unplanned memory.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// Bytes of bodies that are read or handled at the same time: one of [`BODY_LIMIT`](super::BODY_LIMIT), or 27
/// topologies of 100 pools. A request takes two to three times its body while it is decoded and handled: with
/// `foo-extension` 200 topologies of 100 pools at the same time are 83 MB in all.
pub const ROOM: usize = 24 << 20;

/// What a call takes at least, in bytes: its tasks and buffers are not free either.
const LEAST: usize = 16 << 10;

/// Bytes that one permit stands for.
const GRAIN: usize = 1 << 10;

/// The room that is left.
#[derive(Clone, Debug)]
pub(super) struct Room(Arc<Semaphore>);

/// Room of a call. It is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Taken {
    _permit: OwnedSemaphorePermit,
}

impl Room {
    /// All of it is free.
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(ROOM.div_ceil(GRAIN))))
    }

    /// Waits for room for a body of this many bytes, in the order of the calls; `None` if there is none by then.
    pub(super) async fn take(&self, bytes: usize, until: Instant) -> Option<Taken> {
        let permits = u32::try_from(bytes.clamp(LEAST, ROOM).div_ceil(GRAIN)).unwrap_or(u32::MAX);
        let waiting = Arc::clone(&self.0).acquire_many_owned(permits);
        Some(Taken { _permit: timeout_at(until, waiting).await.ok()?.ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_caller_without_room_waits_until_there_is_room_or_its_deadline() {
        let room = Room::new();
        let soon = || Instant::now() + Duration::from_secs(1);
        let half = room.take(ROOM / 2, soon()).await.unwrap();
        let rest = room.take(ROOM / 2, soon()).await.unwrap();
        let began = Instant::now();
        assert!(room.take(1, soon()).await.is_none());
        assert_eq!(began.elapsed(), Duration::from_secs(1));
        let (waited, ()) = tokio::join!(room.take(ROOM / 2, soon()), async { drop(half) });
        assert!(waited.is_some());
        drop((rest, waited));
        assert!(room.take(usize::MAX, soon()).await.is_some(), "nothing is too large to get its turn");
    }

    #[tokio::test(start_paused = true)]
    async fn small_calls_take_more_than_their_bytes() {
        let room = Room::new();
        let mut taken = Vec::new();
        while let Some(one) = room.take(1, Instant::now()).await {
            taken.push(one);
        }
        assert_eq!(taken.len(), ROOM / LEAST);
    }
}
