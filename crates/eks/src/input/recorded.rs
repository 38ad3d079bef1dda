//! What the FooControlPlane's status says. Together with the tags it is enough to go on after the memory is lost. It may be lost as
//! well (clusterctl move).

use foo_model::Timestamp;
use foo_model::eks::Minor;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The record of one cluster. All of it is written to the status before any call of the plan is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// ARN of the cluster, once known.
    pub arn: Option<String>,
    /// Since when its creation is decided, while no answer showed the cluster.
    pub creating_since: Option<Timestamp>,
    /// How many creations were begun. Tokens are derived from it.
    pub attempts: u32,
    /// How many updates of each kind were begun (`version`, `logging`, `addon/coredns`…). Tokens are derived from it.
    pub updates: BTreeMap<String, u32>,
    /// The update that is under way: its id, once known.
    pub update: Option<RecordedUpdate>,
    /// Whether the deletion was about to be sent: a cluster that is not found is then gone.
    pub deleting: bool,
    /// The version of each add-on that `Latest` was resolved to, and for which Kubernetes version.
    pub addon_versions: BTreeMap<String, (Minor, String)>,
    /// Unique id of the role behind each access entry that we created, by ARN.
    pub entry_roles: BTreeMap<String, String>,
    /// Keys of the user's tags that were put on the cluster: one that is no longer requested is removed.
    pub tag_keys: BTreeSet<String>,
    /// Whether the API server once was reachable: once true it stays true.
    pub initialized: bool,
}

/// An update under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedUpdate {
    /// Which, as in [`Recorded::updates`].
    pub kind: String,
    /// Its id in EKS. `None`: the call was about to be sent.
    pub id: Option<String>,
    /// When that was decided.
    pub since: Timestamp,
}
