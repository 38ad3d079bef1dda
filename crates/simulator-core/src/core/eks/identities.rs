//! Who is let into a cluster, and what its pods may do elsewhere (EKS API Reference, AccessEntry, PodIdentityAssociation,
//! OidcIdentityProviderConfig).

use foo_model::Timestamp;
use foo_model::eks::{AccessScope, EntryKind, IdentityProvider};
use foo_model::network::Tags;
use serde::Serialize;
use std::collections::BTreeMap;

/// An access entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccessEntry {
    /// Its ARN.
    pub arn: String,
    /// ARN of the user or role that has access.
    pub principal: String,
    /// Unique id of that role when the entry was created: a later role of the same name has no access.
    pub unique_id: Option<String>,
    /// Its type.
    pub kind: EntryKind,
    /// The name it has in Kubernetes.
    pub username: String,
    /// Its groups in Kubernetes.
    pub groups: Vec<String>,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub modified: Timestamp,
    /// Its tags.
    pub tags: Tags,
    /// The policies that are associated with it, by ARN.
    pub policies: BTreeMap<String, Association>,
}

/// A policy that is associated with an access entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Association {
    /// Where it holds.
    pub scope: AccessScope,
    /// When it was associated.
    pub created: Timestamp,
    /// When its scope was last changed.
    pub modified: Timestamp,
    /// From when on the cluster's API server knows it.
    pub applies: Timestamp,
}

impl AccessEntry {
    /// The policies that the cluster's API server knows at this time, by ARN.
    pub fn policies_at(&self, now: Timestamp) -> BTreeMap<String, Association> {
        let known = self.policies.iter().filter(|(_, association)| association.applies <= now);
        known.map(|(arn, association)| (arn.clone(), association.clone())).collect()
    }
}

/// The identity provider of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClusterProvider {
    /// Its configuration.
    pub config: IdentityProvider,
    /// When its association was asked for.
    pub created: Timestamp,
}

/// A pod identity association.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PodIdentity {
    /// Its id.
    pub id: String,
    /// Its ARN.
    pub arn: String,
    /// Namespace of the service account.
    pub namespace: String,
    /// The service account.
    pub service_account: String,
    /// The role its pods get.
    pub role: String,
    /// The role that they assume with it.
    pub target_role: Option<String>,
    /// What a session must know to assume the target role.
    pub external_id: Option<String>,
    /// Whether sessions have no tags.
    pub without_session_tags: bool,
    /// When it was made.
    pub created: Timestamp,
    /// When it was last changed.
    pub modified: Timestamp,
    /// ARN of the add-on that it belongs to.
    pub owner: Option<String>,
    /// Its tags.
    pub tags: Tags,
}
