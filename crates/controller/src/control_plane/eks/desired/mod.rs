//! From a FooControlPlane to what its EKS cluster is to be: every default is decided.
//!
//! Nothing is asked here: what is needed of Kubernetes and AWS comes in as values.

mod access;
mod addons;
mod custom_networking;
mod partition;
mod placement;
#[cfg(test)]
mod tests;

use foo_api::cluster::NetworkStatus;
use foo_api::control_plane::{Eks, eks as api};
use foo_eks::Desired;
use foo_eks::desired::{DeletionPolicy, Setting};
use foo_model::eks::{AuthenticationMode, IpFamily, LogType, Minor, ScalingTier, SupportType};
use foo_model::{Adoption, Blocked, Maintenance, Reason};
use std::collections::BTreeSet;

pub(super) use partition::partition;

/// What is known besides the FooControlPlane's spec.
#[expect(clippy::struct_excessive_bools, reason = "facts from five sources, none of which excludes another")]
#[derive(Clone, Debug)]
pub(super) struct Known<'a> {
    /// The control plane's id.
    pub(super) id: &'a str,
    /// The FooControlPlane's uid.
    pub(super) uid: &'a str,
    /// Whether the FooControlPlane had its id before this process saw it.
    pub(super) begun_before: bool,
    /// Name of the EKS cluster.
    pub(super) name: &'a str,
    /// Namespace and name of the Cluster.
    pub(super) cluster: (&'a str, &'a str),
    /// Id of this management cluster.
    pub(super) installation: &'a str,
    /// Id of the management cluster that gave the cluster up.
    pub(super) adopt_from: Option<&'a str>,
    /// Whether the FooClusterIdentity allows adoption.
    pub(super) adoption_allowed: bool,
    /// Ids of the other FooControlPlanes in the namespace.
    pub(super) neighbours: BTreeSet<String>,
    /// The region.
    pub(super) region: &'a str,
    /// The account, if known.
    pub(super) account: Option<&'a str>,
    /// ARN of our own role or user, if known.
    pub(super) own_principal: Option<&'a str>,
    /// Whether that ARN may lack the role's path.
    pub(super) own_principal_is_guessed: bool,
    /// The FooCluster's network, once it is ready.
    pub(super) network: Option<&'a NetworkStatus>,
    /// Names of the instance profiles of the cluster's pools.
    pub(super) node_profiles: BTreeSet<String>,
    /// Whether every instance of these pools has the profile of its pool's spec.
    pub(super) nodes_settled: bool,
    /// The oldest version of the kubelets of the cluster's pools.
    pub(super) oldest_kubelet: Option<Minor>,
    /// When add-ons that follow EKS may be updated.
    pub(super) maintenance: Maintenance,
    /// Whether the cluster may be deleted.
    pub(super) being_deleted: bool,
    /// Whether its Cluster is deleted as well, or a user confirmed the deletion.
    pub(super) deletion_confirmed: bool,
}

/// What the EKS cluster is to be.
///
/// # Errors
///
/// The version is not one of Kubernetes 1, unless the cluster is being deleted.
pub(super) fn desired(version: &str, eks: &Eks, known: &Known<'_>) -> Result<Desired, Blocked> {
    let version = match Minor::of(version) {
        Some(version) => version,
        // Nothing of a deletion depends on it.
        None if known.being_deleted => Minor(0),
        None => {
            let message = format!("EKS has no version {version:?}: its versions are those of Kubernetes 1");
            return Err(Blocked::new(Reason::VersionNotOffered, message));
        }
    };
    let (namespace, cluster) = known.cluster;
    let partition = partition(known.region);
    Ok(Desired {
        name: known.name.to_owned(),
        id: known.id.to_owned(),
        uid: known.uid.to_owned(),
        begun_before: known.begun_before,
        cluster: format!("{namespace}/{cluster}"),
        installation: known.installation.to_owned(),
        adopt_from: known.adopt_from.map(str::to_owned),
        adoption: Adoption::of(eks.adopt, known.adoption_allowed),
        neighbours: known.neighbours.clone(),
        left_open: left_open(eks),
        partition: partition.to_owned(),
        region: known.region.to_owned(),
        account: known.account.map(str::to_owned),
        own_principal: known.own_principal.map(str::to_owned),
        own_principal_is_guessed: known.own_principal_is_guessed,
        version,
        force_upgrade: eks.upgrade.is_some_and(|upgrade| upgrade.force),
        oldest_kubelet: known.oldest_kubelet,
        role_arn: eks.role_arn.clone(),
        placement: placement::placement(eks, known.network),
        subnet_choice: placement::choice(eks),
        known_subnets: placement::known_subnets(known.network),
        access: access::endpoint(eks),
        service_ipv4: eks.service_cidr.as_deref().map(access::as_eks_shows_it),
        ip_family: family(eks),
        authentication_mode: mode(eks),
        logging: eks.logging.iter().map(|log| log_type(*log)).collect(),
        encryption_key: eks.encryption.as_ref().map(|encryption| encryption.kms_key_arn.clone()),
        upgrade_policy: eks.upgrade_policy.map(support),
        zonal_shift: eks.zonal_shift,
        scaling_tier: eks.scaling_tier.map(tier),
        deletion_protection: eks.deletion_protection,
        // Users request the protection in the spec and remove it there; that of an adopted cluster belongs to another
        // owner.
        may_unprotect: !eks.deletion_protection && !eks.adopt,
        entries: access::entries(eks, partition),
        node_profiles: known.node_profiles.clone(),
        nodes_settled: known.nodes_settled,
        addons: addons::addons(eks, known.network, known.region),
        maintenance: known.maintenance.clone(),
        pod_identities: access::pod_identities(eks),
        oidc_provider: eks.oidc_provider,
        identity_provider: eks.identity_provider.as_ref().map(access::identity_provider),
        tags: eks.tags.clone(),
        deletion: eks.deletion_policy.map(|policy| match policy {
            foo_api::shared::DeletionPolicy::Delete => DeletionPolicy::Delete,
            foo_api::shared::DeletionPolicy::Retain => DeletionPolicy::Retain,
        }),
        being_deleted: known.being_deleted,
        deletion_confirmed: known.deletion_confirmed,
        // A pass over what is paused does not come as far as this.
        paused: false,
    })
}

/// Fields that the spec omits, of a cluster that may be adopted: the defaults are for new clusters.
fn left_open(eks: &Eks) -> BTreeSet<Setting> {
    let all = [
        (Setting::Access, eks.endpoint_access.is_none()),
        (Setting::Subnets, eks.subnets.is_empty()),
        (Setting::SecurityGroups, eks.security_groups.is_empty()),
        (Setting::AuthenticationMode, eks.authentication_mode.is_none()),
        (Setting::Logging, eks.logging.is_empty()),
        (Setting::ZonalShift, !eks.zonal_shift),
        (Setting::DeletionProtection, !eks.deletion_protection),
    ];
    all.into_iter().filter(|(_, open)| eks.adopt && *open).map(|(setting, _)| setting).collect()
}

fn family(eks: &Eks) -> IpFamily {
    match eks.ip_family.unwrap_or_default() {
        api::IpFamily::Ipv4 => IpFamily::Ipv4,
        api::IpFamily::Ipv6 => IpFamily::Ipv6,
    }
}

fn mode(eks: &Eks) -> AuthenticationMode {
    match eks.authentication_mode.unwrap_or_default() {
        api::AuthenticationMode::ConfigMap => AuthenticationMode::ConfigMap,
        api::AuthenticationMode::ApiAndConfigMap => AuthenticationMode::ApiAndConfigMap,
        api::AuthenticationMode::Api => AuthenticationMode::Api,
    }
}

fn log_type(log: api::LogType) -> LogType {
    match log {
        api::LogType::Api => LogType::Api,
        api::LogType::Audit => LogType::Audit,
        api::LogType::Authenticator => LogType::Authenticator,
        api::LogType::ControllerManager => LogType::ControllerManager,
        api::LogType::Scheduler => LogType::Scheduler,
    }
}

fn tier(tier: api::ScalingTier) -> ScalingTier {
    match tier {
        api::ScalingTier::Standard => ScalingTier::Standard,
        api::ScalingTier::Xl => ScalingTier::Xl,
        api::ScalingTier::TwoXl => ScalingTier::TwoXl,
        api::ScalingTier::FourXl => ScalingTier::FourXl,
        api::ScalingTier::EightXl => ScalingTier::EightXl,
    }
}

fn support(policy: api::UpgradePolicy) -> SupportType {
    match policy.support_type {
        api::SupportType::Standard => SupportType::Standard,
        api::SupportType::Extended => SupportType::Extended,
    }
}
