//! Volumes of workloads.

use crate::core::ec2::workload_volumes::WorkloadVolume;
use crate::core::region::Region;

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
