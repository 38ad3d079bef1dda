//! EBS volumes that workloads created. An instance's own volumes are part of the instance here.

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
