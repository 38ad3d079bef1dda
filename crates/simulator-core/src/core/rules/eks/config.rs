//! UpdateClusterConfig and AssociateEncryptionConfig (EKS API Reference): one type of update in a call, and none that changes
//! nothing.

use super::place::{check_endpoint, check_ranges, placement_after};
use super::updates::NewUpdate;
use crate::core::eks::cluster::{Change, Cluster, Update};
use crate::core::eks::refusal::{invalid, no_cluster};
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use foo_model::eks::{
    AuthenticationMode, ConfigUpdate, EndpointAccess, LogType, Minor, Placement, ScalingTier, Support,
    SupportType, UpdateType,
};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeSet;
use strum::IntoEnumIterator as _;

/// What an update changes, with everything that the request left out, and how it is described.
type Planned = (ConfigUpdate, Vec<(&'static str, String)>);

/// `clusterLogging`: those that are on, and those that are not.
pub fn log_setup(logs: &BTreeSet<LogType>) -> serde_json::Value {
    let off: Vec<LogType> = LogType::iter().filter(|log| !logs.contains(log)).collect();
    let mut setups = Vec::new();
    if !logs.is_empty() {
        setups.push(json!({ "types": logs, "enabled": true }));
    }
    if !off.is_empty() {
        setups.push(json!({ "types": off, "enabled": false }));
    }
    json!({ "clusterLogging": setups })
}

/// The key that encrypts Secrets.
pub(super) fn check_key(key: &str) -> AwsResult<()> {
    if key.starts_with("arn:aws:kms:") {
        return Ok(());
    }
    Err(invalid("Invalid KMS key ARN in the encryptionConfig."))
}

/// The first version whose control planes can be provisioned (EKS User Guide, "Amazon EKS Provisioned Control Plane").
const PROVISIONED_SINCE: Minor = Minor(28);

/// Whether a control plane of this version can have that capacity. Code and words of the refusal are a guess **(A)**.
pub(super) fn check_tier(version: Minor, tier: ScalingTier) -> AwsResult<()> {
    if tier == ScalingTier::Standard || version >= PROVISIONED_SINCE {
        return Ok(());
    }
    let tier: &str = tier.into();
    Err(invalid(format!(
        "The control plane scaling tier {tier} is not supported for Kubernetes version {version}."
    )))
}

impl Region {
    /// UpdateClusterConfig. Without ranges of the public endpoint those that it has stay. A client token belongs to `request`, as the
    /// caller sent it; `update` returns what that changes in the cluster as it is now.
    ///
    /// # Errors
    /// EKS's refusals; nothing begins then.
    pub fn update_cluster_config(
        &mut self,
        name: &str,
        request: &impl std::fmt::Debug,
        update: impl FnOnce(&Cluster) -> AwsResult<ConfigUpdate>,
        token: Option<&str>,
    ) -> AwsResult<Update> {
        const ACTION: &str = "UpdateClusterConfig";
        if let Some(id) = self.eks.tokens.made_before(ACTION, name, token, request)? {
            return self.update_seen(name, &id, None).cloned();
        }
        let update = update(self.known_cluster(name)?)?;
        let kind = type_of(&update);
        self.check_free(name, kind)?;
        let (planned, params) = self.planned(name, &update)?;
        let takes = self.settings.eks.config_update;
        let change = Change::Config(planned);
        let begun = self.begin_update(name, NewUpdate { kind, params, change, takes })?;
        self.eks.tokens.remember(ACTION, name, token, request, &begun.id);
        Ok(begun)
    }

    fn planned(&self, name: &str, update: &ConfigUpdate) -> AwsResult<Planned> {
        let cluster = self.eks.cluster(name).ok_or_else(|| no_cluster(name))?;
        match update {
            ConfigUpdate::Access(access) => endpoint_change(cluster, access),
            ConfigUpdate::Placement { .. } => self.placement_change(cluster, update),
            ConfigUpdate::Logging(logs) if *logs == cluster.logs => {
                Err(invalid("No changes needed for the logging config provided"))
            }
            ConfigUpdate::Logging(logs) => {
                Ok((update.clone(), vec![("ClusterLogging", log_setup(logs).to_string())]))
            }
            ConfigUpdate::AuthenticationMode(mode) => mode_change(cluster, *mode),
            ConfigUpdate::UpgradePolicy(support) => self.support_change(cluster, *support),
            ConfigUpdate::ZonalShift(enabled) => {
                self.check_zonal_shift(Some(*enabled))?;
                let text = json!({ "enabled": enabled }).to_string();
                if *enabled == cluster.zonal_shift {
                    return Err(unchanged("zonalShiftConfig", &text));
                }
                Ok((update.clone(), vec![("ZonalShiftConfig", text)]))
            }
            ConfigUpdate::DeletionProtection(enabled) => {
                if *enabled == cluster.deletion_protection {
                    return Err(unchanged("deletionProtection", &enabled.to_string()));
                }
                Ok((update.clone(), vec![("DeletionProtection", enabled.to_string())]))
            }
            ConfigUpdate::ScalingTier(tier) => tier_change(cluster, *tier),
        }
    }

    fn support_change(&self, cluster: &Cluster, support: SupportType) -> AwsResult<Planned> {
        let offer = self.settings.eks.versions.iter().find(|offer| offer.version == cluster.version);
        if offer.is_some_and(|offer| offer.support(self.now) != Support::StandardSupport) {
            return Err(invalid(
                "The upgrade policy cannot be changed while the cluster's version is in extended support.",
            ));
        }
        let text = json!({ "supportType": support }).to_string();
        if support == cluster.support {
            return Err(unchanged("upgradePolicy", &text));
        }
        Ok((ConfigUpdate::UpgradePolicy(support), vec![("UpgradePolicy", text)]))
    }

    /// Other subnets or security groups: of the same VPC, and subnets of the same zones.
    fn placement_change(&self, cluster: &Cluster, update: &ConfigUpdate) -> AwsResult<Planned> {
        let present = &cluster.placement;
        let placement = placement_after(present, update);
        if self.check_placement(&placement)? != cluster.vpc {
            return Err(invalid("Provided subnets must belong to the VPC of the cluster."));
        }
        if self.subnet_zones(&placement.subnets) != self.subnet_zones(&present.subnets) {
            return Err(invalid(
                "Provided subnets belong to the wrong AZs. They must belong to the same set of AZs as those that were \
                 specified at the creation of the cluster.",
            ));
        }
        let Placement { subnets, security_groups: groups } = &placement;
        if placement == *present {
            return Err(invalid(format!(
                "Cluster is already at the desired configuration with subnetIds: {} and securityGroupIds: {}",
                list(subnets),
                list(groups)
            )));
        }
        let params = vec![("Subnets", list(subnets)), ("SecurityGroups", list(groups))];
        let Placement { subnets, security_groups } = placement;
        let planned =
            ConfigUpdate::Placement { subnets: Some(subnets), security_groups: Some(security_groups) };
        Ok((planned, params))
    }

    /// AssociateEncryptionConfig: once in the life of a cluster.
    ///
    /// # Errors
    /// EKS's refusals.
    pub fn associate_encryption(&mut self, name: &str, key: &str, token: Option<&str>) -> AwsResult<Update> {
        const ACTION: &str = "AssociateEncryptionConfig";
        let kind = UpdateType::AssociateEncryptionConfig;
        if let Some(id) = self.eks.tokens.made_before(ACTION, name, token, &key)? {
            return self.update_seen(name, &id, None).cloned();
        }
        if self.check_free(name, kind)?.key.is_some() {
            return Err(invalid("Encryption is already enabled for the cluster."));
        }
        check_key(key)?;
        let text = json!([{ "resources": ["secrets"], "provider": { "keyArn": key } }]).to_string();
        let takes = self.settings.eks.config_update;
        let params = vec![("EncryptionConfig", text)];
        let change = Change::Key(key.to_owned());
        let update = self.begin_update(name, NewUpdate { kind, params, change, takes })?;
        self.eks.tokens.remember(ACTION, name, token, &key, &update.id);
        Ok(update)
    }
}

fn list(ids: &impl Serialize) -> String {
    json!(ids).to_string()
}

fn unchanged(field: &str, value: &str) -> AwsError {
    invalid(format!("Cluster is already at the desired configuration with {field}: {value}"))
}

fn type_of(update: &ConfigUpdate) -> UpdateType {
    match update {
        ConfigUpdate::Access(_) => UpdateType::EndpointAccessUpdate,
        ConfigUpdate::Placement { .. } => UpdateType::VpcConfigUpdate,
        ConfigUpdate::Logging(_) => UpdateType::LoggingUpdate,
        ConfigUpdate::AuthenticationMode(_) => UpdateType::AccessConfigUpdate,
        ConfigUpdate::UpgradePolicy(_) => UpdateType::UpgradePolicyUpdate,
        ConfigUpdate::ZonalShift(_) => UpdateType::ZonalShiftConfigUpdate,
        ConfigUpdate::DeletionProtection(_) => UpdateType::DeletionProtectionUpdate,
        ConfigUpdate::ScalingTier(_) => UpdateType::ControlPlaneScalingConfigUpdate,
    }
}

/// There are no restrictions on how often it changes (EKS User Guide, "Amazon EKS Provisioned Control Plane"). The size of the
/// database, above which there is no way back to `standard`, is not simulated.
fn tier_change(cluster: &Cluster, tier: ScalingTier) -> AwsResult<Planned> {
    let (before, after): (&str, &str) = (cluster.scaling_tier.into(), tier.into());
    check_tier(cluster.version, tier)?;
    if tier == cluster.scaling_tier {
        return Err(unchanged("controlPlaneScalingConfig", after));
    }
    let params = vec![("UpdatedTier", after.to_owned()), ("PreviousTier", before.to_owned())];
    Ok((ConfigUpdate::ScalingTier(tier), params))
}

fn endpoint_change(cluster: &Cluster, access: &EndpointAccess) -> AwsResult<Planned> {
    let present = &cluster.endpoint;
    let EndpointAccess { public, private, public_cidrs } = access;
    let public_cidrs =
        if public_cidrs.is_empty() { present.public_cidrs.clone() } else { check_ranges(public_cidrs)? };
    let endpoint = EndpointAccess { public: *public, private: *private, public_cidrs };
    check_endpoint(endpoint.public, endpoint.private)?;
    if endpoint == *present {
        let ranges: Vec<&str> = endpoint.public_cidrs.iter().map(String::as_str).collect();
        return Err(invalid(format!(
            "Cluster is already at the desired configuration with endpointPrivateAccess: {} , endpointPublicAccess: {}, and \
             Public Endpoint Restrictions: [{}]",
            endpoint.private,
            endpoint.public,
            ranges.join(", ")
        )));
    }
    let params = vec![
        ("EndpointPublicAccess", endpoint.public.to_string()),
        ("EndpointPrivateAccess", endpoint.private.to_string()),
        ("PublicAccessCidrs", list(&endpoint.public_cidrs)),
    ];
    Ok((ConfigUpdate::Access(endpoint), params))
}

/// CONFIG_MAP → API_AND_CONFIG_MAP → API: one way, one step.
fn mode_change(cluster: &Cluster, mode: AuthenticationMode) -> AwsResult<Planned> {
    let (from, to): (&str, &str) = (cluster.authentication.into(), mode.into());
    let legal = match cluster.authentication {
        AuthenticationMode::ConfigMap => mode == AuthenticationMode::ApiAndConfigMap,
        AuthenticationMode::ApiAndConfigMap => mode == AuthenticationMode::Api,
        AuthenticationMode::Api => false,
    };
    if mode == cluster.authentication {
        return Err(unchanged("authenticationMode", to));
    }
    if !legal {
        return Err(invalid(format!("Unsupported authentication mode update from {from} to {to}")));
    }
    Ok((ConfigUpdate::AuthenticationMode(mode), vec![("AuthenticationMode", to.to_owned())]))
}
