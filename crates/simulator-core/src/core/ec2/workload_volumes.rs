//! EBS volumes that workloads made: those of instances are not told apart from their instances here.

use crate::core::region::Region;
use std::collections::BTreeMap;

/// A volume that a driver in a workload cluster made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadVolume {
    /// Size in GiB.
    pub size_gib: u32,
    /// The instance that it is attached to, if any, and whether it is deleted with that (`DeleteOnTermination`).
    pub attached: Option<(String, bool)>,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
}

impl Region {
    /// Puts a volume there and returns its id.
    pub fn put_volume(&mut self, volume: WorkloadVolume) -> String {
        let id = self.network_chance.id("vol");
        self.volumes.insert(id.clone(), volume);
        id
    }

    /// Deletes a volume; whether it was there.
    pub fn delete_volume(&mut self, id: &str) -> bool {
        self.volumes.remove(id).is_some()
    }
}
