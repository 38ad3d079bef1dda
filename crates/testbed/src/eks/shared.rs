//! What the parts of the clusters' servers have in common.

use super::user_data::{UserData, UserDataCache};
use crate::kubelets::KubeletOptions;
use crate::{Tools, lock};
use foo_model::Timestamp;
use foo_simulator::{NodeInstance, RegionHandle, Simulator};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

/// Refusals that are kept, the latest ones.
const REFUSALS: usize = 200;

/// What the parts of it have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) simulator: Simulator,
    /// The simulator's address, for which clients presign whose endpoint is overridden.
    pub(super) simulator_host: String,
    pub(super) region: RegionHandle,
    pub(super) tools: Tools,
    pub(super) folder: PathBuf,
    pub(super) kubelets: KubeletOptions,
    pub(super) webhook_port: u16,
    /// Why tokens were refused, with their clusters, oldest first.
    pub(super) refused_tokens: Mutex<Vec<(String, String)>>,
    /// Why instances whose user data names a cluster have not joined it, by instance.
    pub(super) refused_nodes: Mutex<BTreeMap<String, String>>,
    /// How far the clock of the authenticators is ahead, in milliseconds.
    pub(super) ahead: AtomicI64,
    pub(super) user_data: UserDataCache,
}

impl Shared {
    /// The time by which signatures are judged: AWS's, unless a test moved that of the authenticators alone.
    pub(super) fn now(&self) -> Timestamp {
        Timestamp(self.simulator.real_time().0.saturating_add(self.ahead.load(Ordering::Relaxed)))
    }

    /// What the user data of an instance says.
    pub(super) fn user_data_of(&self, instance: &NodeInstance) -> Arc<UserData> {
        self.user_data.of(instance, &self.region)
    }

    pub(super) fn refuse_token(&self, cluster: &str, why: String) {
        let mut refused = lock(&self.refused_tokens);
        refused.push((cluster.to_owned(), why));
        let too_many = refused.len().saturating_sub(REFUSALS);
        refused.drain(..too_many);
    }
}
