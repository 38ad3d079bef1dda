//! What the parts of the clusters' servers have in common.

use super::endpoints::Endpoints;
use super::user_data::{UserData, UserDataCache};
use crate::Tools;
use crate::kubelets::KubeletOptions;
use foo_simulator::{NodeInstance, RegionHandle, Simulator};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What the parts of it have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) simulator: Simulator,
    /// What authenticators take for AWS.
    pub(super) endpoints: Endpoints,
    pub(super) region: RegionHandle,
    pub(super) tools: Tools,
    pub(super) folder: PathBuf,
    pub(super) kubelets: KubeletOptions,
    /// Why instances whose user data names a cluster have not joined it, by instance.
    pub(super) refused_nodes: Mutex<BTreeMap<String, String>>,
    pub(super) user_data: UserDataCache,
}

impl Shared {
    /// The content of an instance's user data.
    pub(super) fn user_data_of(&self, instance: &NodeInstance) -> Arc<UserData> {
        self.user_data.of(instance, &self.region)
    }
}
