//! Named snapshots of the whole simulated world, in memory: regions, time, faults, throttling and counts.
//!
//! The snapshots themselves are not part of it: restoring one keeps the others.

use crate::simulator::Simulator;

/// Most snapshots at a time; each contains a copy of everything.
pub const SNAPSHOT_LIMIT: usize = 32;

/// Why a snapshot cannot be taken or restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// No snapshot of that name was taken.
    #[error("there is no snapshot {0:?}")]
    Unknown(String),
    /// There are [`SNAPSHOT_LIMIT`] already. A snapshot with the name of an existing one replaces that.
    #[error("there are {SNAPSHOT_LIMIT} snapshots already")]
    TooMany,
}

impl Simulator {
    /// Stores a copy of the whole world under a name, and replaces an older one of that name.
    ///
    /// # Errors
    /// [`SnapshotError::TooMany`].
    pub fn take_snapshot(&self, name: &str) -> Result<(), SnapshotError> {
        let mut copy = self.world.lock().clone();
        copy.clock.pause();
        let mut snapshots = self.world.snapshots.lock();
        if snapshots.len() >= SNAPSHOT_LIMIT && !snapshots.contains_key(name) {
            return Err(SnapshotError::TooMany);
        }
        snapshots.insert(name.to_owned(), copy);
        Ok(())
    }

    /// Restores the world of a snapshot; virtual time continues from the moment of the snapshot.
    ///
    /// # Errors
    /// [`SnapshotError::Unknown`].
    pub fn restore_snapshot(&self, name: &str) -> Result<(), SnapshotError> {
        let snapshot = self.world.snapshots.lock().get(name).cloned();
        let mut copy = snapshot.ok_or_else(|| SnapshotError::Unknown(name.to_owned()))?;
        copy.clock.resume();
        *self.world.lock() = copy;
        Ok(())
    }

    /// Removes a snapshot; `false` if it is unknown.
    pub fn drop_snapshot(&self, name: &str) -> bool {
        self.world.snapshots.lock().remove(name).is_some()
    }

    /// Names of the existing snapshots.
    pub fn snapshot_names(&self) -> Vec<String> {
        self.world.snapshots.lock().keys().cloned().collect()
    }
}
