//! Rules that tests set for what goes wrong with clusters.

use foo_model::eks::Issue;
use serde::{Deserialize, Serialize};

/// Something that goes wrong with coming creations or updates. A rule is used up when it has struck so often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EksMishap {
    /// What fails.
    pub what: MishapOf,
    /// Only for this cluster.
    #[serde(default)]
    pub cluster: Option<String>,
    /// Only for this add-on.
    #[serde(default)]
    pub addon: Option<String>,
    /// How often.
    #[serde(default = "once")]
    pub times: u32,
    /// What EKS says.
    pub issue: Issue,
}

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MishapOf {
    /// A cluster's creation: it is FAILED.
    Creation,
    /// An update of a cluster: it is Failed, and the cluster as before.
    Update,
    /// The creation of an add-on: CREATE_FAILED.
    AddonCreation,
    /// An update of an add-on: UPDATE_FAILED.
    AddonUpdate,
}

fn once() -> u32 {
    1
}
