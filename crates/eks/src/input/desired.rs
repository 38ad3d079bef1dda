//! What the cluster is to be. Written out from the FooControlPlane: every default is decided.

use foo_model::eks::{
    AccessPolicy, AddonSettings, AuthenticationMode, EndpointAccess, IdentityProviderSettings, IpFamily,
    LogType, Minor, Placement, ResolveConflicts, ScalingTier, SupportType,
};
use foo_model::network::Tags;
use foo_model::{Adoption, Maintenance, SubnetId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What one cluster is to be.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of an object, and none depends on another"
)]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Desired {
    /// Name of the cluster in EKS.
    pub name: String,
    /// The control plane's id: value of the tag `infrastructure.foo.com/control-plane`. The uid that the FooControlPlane had when the
    /// cluster was begun; written into an annotation before the first plan, which goes along when the object is moved.
    pub id: String,
    /// The FooControlPlane's present uid. Client tokens are made of it.
    pub uid: String,
    /// Whether the id was in the annotation before this process saw the FooControlPlane first: the cluster may exist though the status
    /// does not say so (clusterctl move loses status).
    pub begun_before: bool,
    /// `<namespace>/<name>` of the Cluster: value of the tag `infrastructure.foo.com/cluster`.
    pub cluster: String,
    /// Id of this management cluster: value of the tag `infrastructure.foo.com/installation`.
    pub installation: String,
    /// Id of the management cluster that gave the cluster up to this one (annotation `adopt-from`).
    pub adopt_from: Option<String>,
    /// Whether a cluster of that name that exists and has no owner is adopted.
    pub adoption: Adoption,
    /// Ids of the other FooControlPlanes in the namespace: an owner of this Cluster's EKS cluster that is not among them does not exist.
    pub neighbours: BTreeSet<String>,
    /// What the spec says nothing about. A new cluster gets what is in here all the same; one that exists keeps what it has.
    pub left_open: BTreeSet<Setting>,
    /// The partition of the region: `aws`, `aws-cn`, `aws-us-gov`.
    pub partition: String,
    /// The region.
    pub region: String,
    /// The account that our credentials belong to (12 digits), if known.
    pub account: Option<String>,
    /// ARN of the role or user that our credentials belong to, if known: of a role, not of its session. It gets an access entry with
    /// the administrator's policy, so that access does not depend on who created the cluster.
    pub own_principal: Option<String>,
    /// Whether [`Self::own_principal`] may lack the path of the role, which could not be read.
    pub own_principal_is_guessed: bool,
    /// The version that is requested.
    pub version: Minor,
    /// Update although insights say that the version is a problem.
    pub force_upgrade: bool,
    /// The oldest version that kubelets of the cluster's pools run, if there are any: the control plane is at most three ahead.
    pub oldest_kubelet: Option<Minor>,
    /// ARN of the cluster's role.
    pub role_arn: String,
    /// Subnets and security groups. `None`: the FooCluster does not have them yet.
    pub placement: Option<Placement>,
    /// Whether the spec lists the subnets of [`Self::placement`].
    pub subnet_choice: SubnetChoice,
    /// The subnets of the FooCluster, as far as they are known.
    pub known_subnets: BTreeMap<SubnetId, KnownSubnet>,
    /// Who reaches the API server.
    pub access: EndpointAccess,
    /// The IPv4 range of Services. `None`: EKS chooses.
    pub service_ipv4: Option<String>,
    /// Family of the addresses of Pods and Services.
    pub ip_family: IpFamily,
    /// Who may come in by which means.
    pub authentication_mode: AuthenticationMode,
    /// Logs that are to be on.
    pub logging: BTreeSet<LogType>,
    /// ARN of the KMS key for Secrets.
    pub encryption_key: Option<String>,
    /// What EKS does at the end of standard support. `None`: as it is, EKS's default for a new cluster (extended).
    pub upgrade_policy: Option<SupportType>,
    /// Whether zonal shift is on.
    pub zonal_shift: bool,
    /// Capacity of the control plane. `None`: as it is, EKS's default for a new cluster (standard).
    pub scaling_tier: Option<ScalingTier>,
    /// Whether EKS is to refuse the cluster's deletion. It is switched off when the FooControlPlane is deleted only if
    /// [`Self::may_unprotect`].
    pub deletion_protection: bool,
    /// Whether a deletion may switch the protection off.
    pub may_unprotect: bool,
    /// The access entries that are requested, by ARN of the principal. Entries that are not the provider's (by tag) and not in here stay.
    pub entries: BTreeMap<String, DesiredEntry>,
    /// Names of the instance profiles of the cluster's pools: each role behind one gets an access entry of type EC2_LINUX.
    pub node_profiles: BTreeSet<String>,
    /// Whether every instance of these pools has one of [`Self::node_profiles`]: as long as one of an earlier template may live, entries
    /// of instances stay that no pool needs any more.
    pub nodes_settled: bool,
    /// The add-ons that are requested, by name.
    pub addons: BTreeMap<String, DesiredAddon>,
    /// When the provider may begin to update add-ons that follow EKS ([`AddonVersion::Latest`]) to another version. Not limited: what the
    /// spec requests itself, and updates of an add-on that EKS does not offer for the cluster's version.
    #[serde(default)]
    pub maintenance: Maintenance,
    /// The pod identity associations that are requested, by namespace and service account: ARN of the role.
    pub pod_identities: BTreeMap<(String, String), String>,
    /// Whether IAM is to have an OIDC provider for the cluster's issuer.
    pub oidc_provider: bool,
    /// The identity provider that is requested. `None`: none; one that this provider did not associate stays.
    pub identity_provider: Option<DesiredIdentityProvider>,
    /// The user's tags for the cluster. The provider's are added, and win.
    pub tags: Tags,
    /// What happens to the cluster when the FooControlPlane is deleted. `None`: one that was created is deleted, one that was adopted is
    /// retained.
    pub deletion: Option<DeletionPolicy>,
    /// Whether the FooControlPlane is being deleted and the pools of the cluster are gone: the cluster may be deleted.
    pub being_deleted: bool,
    /// Whether the Cluster is being deleted as well, or a user confirmed that it loses its EKS cluster. What is retained needs neither.
    pub deletion_confirmed: bool,
    /// Whether nothing is to be created, changed or deleted.
    pub paused: bool,
}

/// Where the subnets of a control plane come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SubnetChoice {
    /// The spec lists them.
    Listed,
    /// The spec lists none: those of the FooCluster's network, as far as EKS accepts them.
    Network,
}

/// What is known of a subnet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownSubnet {
    /// Name of its zone.
    pub zone: String,
    /// Whether it has a range of IPv6 addresses. `None`: not known.
    pub has_ipv6: Option<bool>,
}

/// A part of a cluster's configuration that can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Setting {
    /// [`Desired::access`].
    Access,
    /// The subnets of [`Desired::placement`].
    Subnets,
    /// The security groups of [`Desired::placement`].
    SecurityGroups,
    /// [`Desired::authentication_mode`]. The ConfigMap stays in use; access entries are allowed beside it.
    AuthenticationMode,
    /// [`Desired::logging`].
    Logging,
    /// [`Desired::zonal_shift`].
    ZonalShift,
    /// [`Desired::deletion_protection`].
    DeletionProtection,
}

/// What happens to the cluster when its FooControlPlane goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeletionPolicy {
    /// It is deleted, with its OIDC provider.
    Delete,
    /// It stays, and our tags of it go.
    Retain,
}

/// An access entry of a person or program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredEntry {
    /// Type.
    pub kind: foo_model::eks::EntryKind,
    /// Name of the user in Kubernetes. `None`: the one that EKS generates, whatever it is.
    pub username: Option<String>,
    /// Groups in Kubernetes.
    pub groups: BTreeSet<String>,
    /// Policies. Those that are not in here are taken off.
    pub policies: BTreeSet<AccessPolicy>,
}

/// An identity provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredIdentityProvider {
    /// Name of the configuration in EKS.
    pub name: String,
    /// Whose tokens are accepted, and who their users are.
    pub settings: IdentityProviderSettings,
}

/// An add-on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesiredAddon {
    /// Version.
    pub version: AddonVersion,
    /// Options.
    pub settings: AddonSettings,
    /// Its pod identity associations, by service account: ARN of the role. `None`: not managed.
    pub pod_identities: Option<BTreeMap<String, String>>,
    /// What EKS does about fields that another user changed.
    pub conflicts: ResolveConflicts,
    /// Leave its objects in the cluster when it is no longer requested.
    pub preserve: bool,
    /// What its configuration waits for. Until there is nothing, the add-on is neither created nor changed.
    #[serde(default)]
    pub awaits: Option<String>,
}

/// Which version of an add-on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AddonVersion {
    /// EKS's default for the cluster's Kubernetes version. It is read up again when that version changes, and recorded: a newer
    /// default does not update an add-on by itself.
    Latest,
    /// This one.
    Exactly(String),
}
