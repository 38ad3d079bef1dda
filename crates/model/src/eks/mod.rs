//! The nouns of Amazon EKS: what a cluster and what belongs to it look like, the queries that AWS can be asked about them, and
//! every change that can be sent.
//!
//! The planner of control planes decides in these types, and the trait `Clusters` of the `cloud` crate speaks in them.

pub mod access;
pub mod addon;
pub mod change;
pub mod cluster;
pub mod iam;
pub mod identity_provider;
pub mod issue;
pub mod query;
pub mod reach;
pub mod version;

pub use access::{AccessEntry, AccessPolicy, AccessScope, EntryKind, PodIdentity, is_generated_username};
pub use addon::{Addon, AddonRelease, AddonSettings, AddonStatus, ResolveConflicts};
pub use change::{
    AddonChange, Change, Changed, ClusterChange, ConfigUpdate, EntryChange, NewAddon, NewCluster, NewEntry,
    NewIdentityProvider, NewOidcProvider, NewPodIdentity, OidcChange, OperationFacts, PodIdentityChange,
    TagChange,
};
pub use cluster::{
    AuthenticationMode, Cluster, ClusterStatus, Insight, InsightStatus, InsightsRefresh, IpFamily, LogType,
    ScalingTier, SupportType, Update, UpdateStatus, UpdateType,
};
pub use iam::{InstanceProfile, OidcProvider, Role};
pub use identity_provider::{IdentityProvider, IdentityProviderSettings, IdentityProviderStatus};
pub use issue::Issue;
pub use query::{Query, QueryResult};
pub use reach::{EndpointAccess, Placement};
pub use version::{Minor, Support, VersionOffer};
