//! Requests of changes, as the API has them in JSON, which is the form that the core reads.

use crate::core::error::{AwsError, AwsResult};
use foo_model::eks::{AccessScope, ConfigUpdate, EndpointAccess, LogType, NewAddon, NewCluster, Placement};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use strum::IntoEnumIterator as _;

/// A request of the core.
pub(super) fn read<T: DeserializeOwned>(request: Value) -> AwsResult<T> {
    serde_json::from_value(request)
        .map_err(|error| AwsError::new("InvalidParameterException", error.to_string()))
}

/// A request with more fields.
pub(super) fn and(mut request: Value, more: Value) -> Value {
    if let (Some(request), Value::Object(more)) = (request.as_object_mut(), more) {
        request.extend(more);
    }
    request
}

/// An enum's name in AWS.
pub(super) fn text<T: Into<&'static str>>(value: T) -> Value {
    json!(value.into())
}

/// CreateCluster.
pub(super) fn new_cluster(cluster: &NewCluster, token: &str) -> Value {
    let Placement { subnets, security_groups } = &cluster.placement;
    let vpc =
        and(access(&cluster.access), json!({ "subnetIds": subnets, "securityGroupIds": security_groups }));
    let key = cluster.encryption_key.iter().map(|key| encryption(key));
    let zonal_shift =
        if cluster.zonal_shift { json!({ "zonalShiftConfig": { "enabled": true } }) } else { json!({}) };
    let request = json!({
        "name": cluster.name,
        "version": cluster.version.map(|version| version.to_string()),
        "roleArn": cluster.role_arn,
        "resourcesVpcConfig": vpc,
        "kubernetesNetworkConfig": {
            "serviceIpv4Cidr": cluster.service_ipv4,
            "ipFamily": text(cluster.ip_family),
        },
        "logging": logging(&cluster.logging),
        "clientRequestToken": token,
        "tags": cluster.tags,
        "encryptionConfig": key.collect::<Vec<_>>(),
        "accessConfig": {
            "bootstrapClusterCreatorAdminPermissions": cluster.creator_is_admin,
            "authenticationMode": text(cluster.authentication_mode),
        },
        "bootstrapSelfManagedAddons": cluster.self_managed_addons,
        "deletionProtection": cluster.deletion_protection,
    });
    let policy = |it| json!({ "upgradePolicy": { "supportType": text(it) } });
    and(and(request, zonal_shift), cluster.upgrade_policy.map_or_else(|| json!({}), policy))
}

/// The ranges are not sent without the public endpoint, for which they are meaningless.
fn access(access: &EndpointAccess) -> Value {
    let cidrs = Some(&access.public_cidrs).filter(|cidrs| access.public && !cidrs.is_empty());
    json!({
        "endpointPublicAccess": access.public,
        "endpointPrivateAccess": access.private,
        "publicAccessCidrs": cidrs,
    })
}

/// An encryption of Secrets.
pub(super) fn encryption(key: &str) -> Value {
    json!({ "resources": ["secrets"], "provider": { "keyArn": key } })
}

fn logging(on: &BTreeSet<LogType>) -> Value {
    let off: BTreeSet<LogType> = LogType::iter().filter(|log| !on.contains(log)).collect();
    let setup = |logs: &BTreeSet<LogType>, enabled: bool| {
        let types: Vec<Value> = logs.iter().map(|log| text(*log)).collect();
        json!({ "types": types, "enabled": enabled })
    };
    json!({ "clusterLogging": [setup(on, true), setup(&off, false)] })
}

/// UpdateClusterConfig.
pub(super) fn config_update(update: &ConfigUpdate, token: &str) -> Value {
    let request = match update {
        ConfigUpdate::Access(to) => json!({ "resourcesVpcConfig": access(to) }),
        ConfigUpdate::Subnets(subnets) => json!({ "resourcesVpcConfig": { "subnetIds": subnets } }),
        ConfigUpdate::SecurityGroups(groups) => {
            json!({ "resourcesVpcConfig": { "securityGroupIds": groups } })
        }
        ConfigUpdate::Logging(on) => json!({ "logging": logging(on) }),
        ConfigUpdate::AuthenticationMode(mode) => {
            json!({ "accessConfig": { "authenticationMode": text(*mode) } })
        }
        ConfigUpdate::UpgradePolicy(support) => {
            json!({ "upgradePolicy": { "supportType": text(*support) } })
        }
        ConfigUpdate::ZonalShift(enabled) => json!({ "zonalShiftConfig": { "enabled": enabled } }),
        ConfigUpdate::DeletionProtection(enabled) => json!({ "deletionProtection": enabled }),
    };
    and(request, json!({ "clientRequestToken": token }))
}

/// What CreateAddon and UpdateAddon have in common.
pub(super) fn addon(addon: &NewAddon, token: &str) -> Value {
    let pods = addon.pod_identities.as_ref().map(|pods| {
        let pod = |(account, role): &(String, String)| json!({ "serviceAccount": account, "roleArn": role });
        pods.iter().map(pod).collect::<Vec<_>>()
    });
    json!({
        "addonVersion": addon.version,
        "serviceAccountRoleArn": addon.service_account_role,
        "resolveConflicts": text(addon.conflicts),
        "clientRequestToken": token,
        "configurationValues": addon.configuration,
        "podIdentityAssociations": pods,
    })
}

pub(super) fn scope(scope: &AccessScope) -> Value {
    match scope {
        AccessScope::Cluster => json!({ "type": "cluster" }),
        AccessScope::Namespaces(names) => json!({ "type": "namespace", "namespaces": names }),
    }
}

/// EKS's refusal of what is IAM's.
pub(super) fn of_iam() -> AwsError {
    AwsError::new("UnknownOperationException", "IAM has this operation, not EKS").status(404)
}
