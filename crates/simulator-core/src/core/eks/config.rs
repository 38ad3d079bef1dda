//! UpdateClusterConfig and AssociateEncryptionConfig (EKS API Reference): one type of update in a call, and none that changes
//! nothing.

use super::cluster::{AuthenticationMode, Change, Cluster, EndpointAccess, LogType, Update, UpdateType};
use super::place::{check_endpoint, check_ranges};
use super::refusal::{invalid, no_cluster};
use super::requests::{ConfigUpdate, Encryption, EncryptionUpdate, Logging, VpcConfig};
use super::updates::NewUpdate;
use super::versions::Support;
use crate::core::error::AwsResult;
use crate::core::region::Region;
use serde_json::json;
use std::collections::BTreeSet;
use strum::IntoEnumIterator as _;

/// What an update changes, and how it is described.
type Planned = (UpdateType, Change, Vec<(&'static str, String)>);

/// The logs that are on after a request.
pub(super) fn logs_after(before: &BTreeSet<LogType>, request: &Logging) -> BTreeSet<LogType> {
    let mut logs = before.clone();
    for setup in &request.cluster_logging {
        match setup.enabled {
            Some(true) => logs.extend(&setup.types),
            Some(false) | None => logs.retain(|log| !setup.types.contains(log)),
        }
    }
    logs
}

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

/// The key of an encryption config; at most one, for Secrets.
pub(super) fn check_encryption(configs: &[Encryption]) -> AwsResult<Option<String>> {
    let [config] = configs else {
        return if configs.is_empty() {
            Ok(None)
        } else {
            Err(invalid("Only one encryptionConfig can be specified."))
        };
    };
    let key = config.provider.key_arn.as_deref().filter(|key| key.starts_with("arn:aws:kms:"));
    match (config.resources.as_slice(), key) {
        ([resource], Some(key)) if resource == "secrets" => Ok(Some(key.to_owned())),
        ([resource], None) if resource == "secrets" => {
            Err(invalid("Invalid KMS key ARN in the encryptionConfig."))
        }
        _ => Err(invalid("The resources of an encryptionConfig must be [secrets].")),
    }
}

impl Region {
    /// UpdateClusterConfig.
    ///
    /// # Errors
    /// EKS's refusals; nothing begins then.
    pub fn update_cluster_config(&mut self, name: &str, request: &ConfigUpdate) -> AwsResult<Update> {
        const ACTION: &str = "UpdateClusterConfig";
        let token = request.client_request_token.as_deref();
        if let Some(id) = self.eks.tokens.made_before(ACTION, name, token, request)? {
            return self.update_seen(name, &id, None).cloned();
        }
        let kind = type_of(request)?;
        self.known_cluster(name)?;
        self.check_free(name, kind)?;
        let (kind, change, params) = self.planned(name, kind, request)?;
        let takes = self.settings.eks.config_update;
        let update = self.begin_update(name, NewUpdate { kind, params, change, takes })?;
        self.eks.tokens.remember(ACTION, name, token, request, &update.id);
        Ok(update)
    }

    fn planned(&self, name: &str, kind: UpdateType, request: &ConfigUpdate) -> AwsResult<Planned> {
        let cluster = self.eks.cluster(name).ok_or_else(|| no_cluster(name))?;
        if let Some(config) = &request.resources_vpc_config {
            return if kind == UpdateType::VpcConfigUpdate {
                self.placement_change(cluster, config)
            } else {
                endpoint_change(cluster, config)
            };
        }
        if let Some(logging) = &request.logging {
            return logging_change(cluster, logging);
        }
        if let Some(config) = &request.access_config {
            return mode_change(cluster, config.authentication_mode);
        }
        if let Some(support) = request.upgrade_policy.as_ref().and_then(|it| it.support_type) {
            let offers = &self.settings.eks.versions;
            let offer = offers.iter().find(|offer| offer.version == cluster.version);
            if offer.is_some_and(|offer| offer.support(self.now) != Support::Standard) {
                return Err(invalid(
                    "The upgrade policy cannot be changed while the cluster's version is in extended support.",
                ));
            }
            let policy: &str = support.into();
            let text = json!({ "supportType": policy }).to_string();
            let change = Change::Support(support);
            return if support == cluster.support {
                Err(unchanged("upgradePolicy", &text))
            } else {
                Ok((kind, change, vec![("UpgradePolicy", text)]))
            };
        }
        if let Some(enabled) = request.zonal_shift_config.as_ref().and_then(|it| it.enabled) {
            self.check_zonal_shift(Some(enabled))?;
            let text = json!({ "enabled": enabled }).to_string();
            return if enabled == cluster.zonal_shift {
                Err(unchanged("zonalShiftConfig", &text))
            } else {
                Ok((kind, Change::ZonalShift(enabled), vec![("ZonalShiftConfig", text)]))
            };
        }
        let Some(enabled) = request.deletion_protection else { return Err(nothing()) };
        if enabled == cluster.deletion_protection {
            return Err(unchanged("deletionProtection", &enabled.to_string()));
        }
        Ok((kind, Change::DeletionProtection(enabled), vec![("DeletionProtection", enabled.to_string())]))
    }

    /// Other subnets or security groups: of the same VPC, and subnets of the same zones.
    fn placement_change(&self, cluster: &Cluster, config: &VpcConfig) -> AwsResult<Planned> {
        let texts = |ids: Vec<&str>| ids.into_iter().map(str::to_owned).collect::<Vec<_>>();
        let present = &cluster.placement;
        let subnets = config.subnet_ids.clone();
        let subnets = subnets
            .unwrap_or_else(|| texts(present.subnets.iter().map(foo_model::SubnetId::as_str).collect()));
        let groups = config.security_group_ids.clone();
        let groups = groups.unwrap_or_else(|| {
            texts(present.groups.iter().map(foo_model::SecurityGroupId::as_str).collect())
        });
        let (placement, vpc) = self.check_placement(&subnets, &groups)?;
        if vpc != cluster.vpc {
            return Err(invalid("Provided subnets must belong to the VPC of the cluster."));
        }
        if self.subnet_zones(&placement.subnets) != self.subnet_zones(&present.subnets) {
            return Err(invalid(
                "Provided subnets belong to the wrong AZs. They must belong to the same set of AZs as those that were \
                 specified at the creation of the cluster.",
            ));
        }
        if same(&placement.subnets, &present.subnets) && same(&placement.groups, &present.groups) {
            return Err(invalid(format!(
                "Cluster is already at the desired configuration with subnetIds: {subnets:?} and securityGroupIds: {groups:?}"
            )));
        }
        let params =
            vec![("Subnets", json!(subnets).to_string()), ("SecurityGroups", json!(groups).to_string())];
        Ok((UpdateType::VpcConfigUpdate, Change::Placement(placement), params))
    }

    /// AssociateEncryptionConfig: once in the life of a cluster.
    ///
    /// # Errors
    /// EKS's refusals.
    pub fn associate_encryption(&mut self, name: &str, request: &EncryptionUpdate) -> AwsResult<Update> {
        const ACTION: &str = "AssociateEncryptionConfig";
        let kind = UpdateType::AssociateEncryptionConfig;
        let token = request.client_request_token.as_deref();
        if let Some(id) = self.eks.tokens.made_before(ACTION, name, token, request)? {
            return self.update_seen(name, &id, None).cloned();
        }
        if self.check_free(name, kind)?.key.is_some() {
            return Err(invalid("Encryption is already enabled for the cluster."));
        }
        let Some(key) = check_encryption(&request.encryption_config)? else {
            return Err(invalid("encryptionConfig cannot be empty."));
        };
        let text = json!([{ "resources": ["secrets"], "provider": { "keyArn": key } }]).to_string();
        let takes = self.settings.eks.config_update;
        let params = vec![("EncryptionConfig", text)];
        let update = self.begin_update(name, NewUpdate { kind, params, change: Change::Key(key), takes })?;
        self.eks.tokens.remember(ACTION, name, token, request, &update.id);
        Ok(update)
    }
}

fn same<T: Ord>(one: &[T], other: &[T]) -> bool {
    one.iter().collect::<BTreeSet<_>>() == other.iter().collect::<BTreeSet<_>>()
}

fn nothing() -> crate::core::error::AwsError {
    invalid("Invalid type for cluster update.")
}

fn unchanged(field: &str, value: &str) -> crate::core::error::AwsError {
    invalid(format!("Cluster is already at the desired configuration with {field}: {value}"))
}

/// The one type of update that a request is.
fn type_of(request: &ConfigUpdate) -> AwsResult<UpdateType> {
    let vpc = request.resources_vpc_config.as_ref();
    let placed = vpc.is_some_and(|it| it.subnet_ids.is_some() || it.security_group_ids.is_some());
    let reached = vpc.is_some_and(|it| {
        it.endpoint_public_access.is_some()
            || it.endpoint_private_access.is_some()
            || it.public_access_cidrs.is_some()
    });
    let asked = [
        (placed, UpdateType::VpcConfigUpdate),
        (reached, UpdateType::EndpointAccessUpdate),
        (request.logging.is_some(), UpdateType::LoggingUpdate),
        (request.access_config.is_some(), UpdateType::AccessConfigUpdate),
        (request.upgrade_policy.is_some(), UpdateType::UpgradePolicyUpdate),
        (request.zonal_shift_config.is_some(), UpdateType::ZonalShiftConfigUpdate),
        (request.deletion_protection.is_some(), UpdateType::DeletionProtectionUpdate),
    ];
    let mut kinds = asked.into_iter().filter(|(asked, _)| *asked).map(|(_, kind)| kind);
    match (kinds.next(), kinds.next()) {
        (Some(kind), None) => Ok(kind),
        (None, _) => Err(nothing()),
        (Some(_), Some(_)) => Err(invalid("Only one type of update can be allowed.")),
    }
}

fn endpoint_change(cluster: &Cluster, config: &VpcConfig) -> AwsResult<Planned> {
    let present = &cluster.endpoint;
    let cidrs = match &config.public_access_cidrs {
        Some(cidrs) => check_ranges(cidrs)?,
        None => present.cidrs.clone(),
    };
    let endpoint = EndpointAccess {
        public: config.endpoint_public_access.unwrap_or(present.public),
        private: config.endpoint_private_access.unwrap_or(present.private),
        cidrs,
    };
    check_endpoint(endpoint.public, endpoint.private)?;
    let cidrs = json!(endpoint.cidrs).to_string();
    if (endpoint.public, endpoint.private) == (present.public, present.private)
        && same(&endpoint.cidrs, &present.cidrs)
    {
        return Err(invalid(format!(
            "Cluster is already at the desired configuration with endpointPrivateAccess: {} , endpointPublicAccess: {}, and \
             Public Endpoint Restrictions: [{}]",
            endpoint.private,
            endpoint.public,
            endpoint.cidrs.join(", ")
        )));
    }
    let params = vec![
        ("EndpointPublicAccess", endpoint.public.to_string()),
        ("EndpointPrivateAccess", endpoint.private.to_string()),
        ("PublicAccessCidrs", cidrs),
    ];
    Ok((UpdateType::EndpointAccessUpdate, Change::Endpoint(endpoint), params))
}

fn logging_change(cluster: &Cluster, logging: &Logging) -> AwsResult<Planned> {
    let logs = logs_after(&cluster.logs, logging);
    if logs == cluster.logs {
        return Err(invalid("No changes needed for the logging config provided"));
    }
    let params = vec![("ClusterLogging", log_setup(&logs).to_string())];
    Ok((UpdateType::LoggingUpdate, Change::Logs(logs), params))
}

/// CONFIG_MAP → API_AND_CONFIG_MAP → API: one way, one step.
fn mode_change(cluster: &Cluster, mode: Option<AuthenticationMode>) -> AwsResult<Planned> {
    let Some(mode) = mode else { return Err(nothing()) };
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
    let params = vec![("AuthenticationMode", to.to_owned())];
    Ok((UpdateType::AccessConfigUpdate, Change::Authentication(mode), params))
}
