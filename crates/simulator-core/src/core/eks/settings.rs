//! How EKS behaves: durations in virtual time, quotas, and the versions it offers.

use super::versions::{Offer, offers};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How EKS behaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EksSettings {
    /// From CreateCluster to ACTIVE, or to FAILED.
    pub create: Duration,
    /// From DeleteCluster until the cluster is gone.
    pub delete: Duration,
    /// How long an update of the version takes.
    pub version_update: Duration,
    /// How long any other update of a cluster takes.
    pub config_update: Duration,
    /// How long an identity provider is associated or disassociated.
    pub identity_provider_update: Duration,
    /// How long a cluster still reads ACTIVE after an update began (kubernetes-sigs/cluster-api-provider-aws waits for UPDATING).
    pub update_shows_after: Duration,
    /// How long an add-on is created, updated or deleted.
    pub addon: Duration,
    /// How long an add-on without nodes stays CREATING before it is DEGRADED (EKS User Guide, "Troubleshoot add-ons").
    pub addon_patience: Duration,
    /// Which clusters have nodes.
    pub nodes: Nodes,
    /// How long a refresh of the insights takes.
    pub insights_refresh: Duration,
    /// How often EKS refreshes the insights by itself (EKS User Guide: once a day). 0: what a test says of them shows at once.
    pub insights_period: Duration,
    /// A cluster stays CREATING until a test bed says which API server runs for it, so that no caller sees another endpoint before.
    pub waits_for_server: bool,
    /// How long EKS does not find a cluster that was just created.
    pub clusters_appear_after: Duration,
    /// How long EKS does not know a role that was just created (IAM User Guide, "Changes that I make are not always immediately
    /// visible").
    pub roles_appear_after: Duration,
    /// How long at least until a cluster's API server knows a policy that was associated with an access entry. EKS gives no bound
    /// **(A)**; seconds are usual.
    pub policies_apply_after: Duration,
    /// How much longer that takes at most; each association has a random part of it.
    pub policies_apply_spread: Duration,
    /// Whether the policies of KMS keys delegate to IAM, as the default policy of a key does: then the caller needs
    /// rights for the key of a cluster. Otherwise the keys' policies allow all callers.
    pub keys_need_rights: bool,
    /// Whether the region has zonal shift; otherwise a request that names it is refused, `enabled: false` as well **(A)** (Amazon Application
    /// Recovery Controller guide, "AWS Region availability": not in GovCloud).
    pub zonal_shift: bool,
    /// Most clusters of a region.
    pub clusters: u32,
    /// Most access entries of a cluster.
    pub access_entries: u32,
    /// Most pod identity associations of a cluster.
    pub pod_identities: u32,
    /// How long after an update of the version it can be rolled back.
    pub rollback: Duration,
    /// The versions that are offered, oldest first, whatever their release dates.
    pub versions: Vec<Offer>,
}

/// Which clusters have nodes: some add-ons need them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Nodes {
    /// Those with running instances that are tagged as nodes of the cluster.
    #[default]
    Instances,
    /// All, whatever instances run.
    Assumed,
}

impl Default for EksSettings {
    fn default() -> Self {
        Self {
            create: Duration::from_mins(10),
            delete: Duration::from_mins(4),
            version_update: Duration::from_mins(12),
            config_update: Duration::from_mins(3),
            identity_provider_update: Duration::from_mins(10),
            update_shows_after: Duration::from_secs(2),
            addon: Duration::from_mins(1),
            addon_patience: Duration::from_mins(20),
            nodes: Nodes::Instances,
            insights_refresh: Duration::from_mins(1),
            insights_period: Duration::ZERO,
            waits_for_server: false,
            clusters_appear_after: Duration::ZERO,
            roles_appear_after: Duration::ZERO,
            policies_apply_after: Duration::ZERO,
            policies_apply_spread: Duration::ZERO,
            keys_need_rights: false,
            zonal_shift: true,
            clusters: 100,
            access_entries: 3_000,
            pod_identities: 5_000,
            rollback: Duration::from_hours(7 * 24),
            versions: offers(),
        }
    }
}
