//! Responses, as the API has them in JSON.

use crate::core::eks::cluster::{Cluster, Update};
use crate::core::eks::identities::{AccessEntry, Association, PodIdentity};
use crate::core::region::Region;
use foo_model::Timestamp;
use foo_model::eks::{AccessScope, IdentityProvider, IdentityProviderSettings};
use serde_json::{Map, Value, json};

/// Seconds since 1970.
pub(super) fn time(at: Timestamp) -> Value {
    json!(at.0.div_euclid(1_000))
}

/// Adds a field if it has a value.
fn put(response: &mut Value, field: &str, value: Option<Value>) {
    if let (Some(value), Some(response)) = (value, response.as_object_mut()) {
        response.insert(field.to_owned(), value);
    }
}

/// A cluster. Its endpoint and its authority are there once it has been ACTIVE.
pub(super) fn cluster(region: &Region, cluster: &Cluster) -> Value {
    let mut response = json!({
        "name": cluster.name,
        "arn": cluster.arn,
        "createdAt": time(cluster.created),
        "version": cluster.version,
        "roleArn": cluster.role,
        "resourcesVpcConfig": {
            "subnetIds": cluster.placement.subnets,
            "securityGroupIds": cluster.placement.security_groups,
            "clusterSecurityGroupId": cluster.security_group,
            "vpcId": cluster.vpc,
            "endpointPublicAccess": cluster.endpoint.public,
            "endpointPrivateAccess": cluster.endpoint.private,
            "publicAccessCidrs": cluster.endpoint.public_cidrs,
        },
        "kubernetesNetworkConfig": services(cluster),
        "logging": crate::core::rules::eks::log_setup(&cluster.logs),
        "identity": { "oidc": { "issuer": cluster.issuer(&region.name) } },
        "status": cluster.status,
        "certificateAuthority": {},
        "platformVersion": format!("eks.{}", cluster.platform),
        "tags": cluster.tags,
        "health": { "issues": cluster.health },
        "accessConfig": { "authenticationMode": cluster.authentication },
        "upgradePolicy": { "supportType": cluster.support },
        "zonalShiftConfig": { "enabled": cluster.zonal_shift },
        "deletionProtection": cluster.deletion_protection,
        "controlPlaneScalingConfig": { "tier": cluster.scaling_tier },
    });
    if let Some(server) = cluster.server(&region.name) {
        put(&mut response, "endpoint", Some(json!(server.endpoint)));
        put(&mut response, "certificateAuthority", Some(json!({ "data": server.certificate_authority })));
    }
    let key = cluster.key.as_ref();
    let encryption = key.map(|key| json!([{ "resources": ["secrets"], "provider": { "keyArn": key } }]));
    put(&mut response, "encryptionConfig", encryption);
    put(&mut response, "clientRequestToken", cluster.token.as_ref().map(|token| json!(token)));
    response
}

/// The addresses of Services: the IPv6 range is EKS's choice.
fn services(cluster: &Cluster) -> Value {
    let family = cluster.family;
    match cluster.service_ipv6() {
        Some(range) => json!({ "serviceIpv6Cidr": range, "ipFamily": family }),
        None => json!({ "serviceIpv4Cidr": cluster.service_range, "ipFamily": family }),
    }
}

/// An update, as it is within a response.
pub(super) fn update(update: &Update) -> Value {
    let params: Vec<Value> =
        update.params.iter().map(|(kind, value)| json!({ "type": kind, "value": value })).collect();
    let errors: Vec<Value> = update
        .errors
        .iter()
        .map(|it| json!({ "errorCode": it.code, "errorMessage": it.message, "resourceIds": it.resources }))
        .collect();
    json!({ "update": {
        "id": update.id,
        "status": update.status,
        "type": update.kind,
        "params": params,
        "createdAt": time(update.created),
        "errors": errors,
    }})
}

/// An access entry, as it is within a response.
pub(super) fn entry(cluster: &str, entry: &AccessEntry) -> Value {
    json!({ "accessEntry": {
        "clusterName": cluster,
        "principalArn": entry.principal,
        "kubernetesGroups": entry.groups,
        "accessEntryArn": entry.arn,
        "createdAt": time(entry.created),
        "modifiedAt": time(entry.modified),
        "tags": entry.tags,
        "username": entry.username,
        "type": entry.kind,
    }})
}

/// The scope of a whole cluster has an empty list of namespaces (EKS API Reference, ListAssociatedAccessPolicies).
pub(super) fn association(policy: &str, association: &Association) -> Value {
    let scope = match &association.scope {
        AccessScope::Cluster => json!({ "type": "cluster", "namespaces": [] }),
        AccessScope::Namespaces(names) => json!({ "type": "namespace", "namespaces": names }),
    };
    json!({
        "policyArn": policy,
        "accessScope": scope,
        "associatedAt": time(association.created),
        "modifiedAt": time(association.modified),
    })
}

/// A pod identity association.
pub(super) fn pod_identity(cluster: &str, it: &PodIdentity) -> Value {
    let mut response = short_pod_identity(cluster, it);
    let more: Map<String, Value> = [
        ("roleArn", json!(it.role)),
        ("tags", json!(it.tags)),
        ("createdAt", time(it.created)),
        ("modifiedAt", time(it.modified)),
        ("disableSessionTags", json!(it.without_session_tags)),
    ]
    .into_iter()
    .map(|(field, value)| (field.to_owned(), value))
    .collect();
    if let Some(response) = response.as_object_mut() {
        response.extend(more);
    }
    put(&mut response, "targetRoleArn", it.target_role.as_ref().map(|role| json!(role)));
    put(&mut response, "externalId", it.external_id.as_ref().map(|id| json!(id)));
    response
}

/// An identity provider configuration, as it is within a response.
pub(super) fn identity_provider(cluster: &str, it: &IdentityProvider) -> Value {
    let IdentityProvider { name, arn, status, settings, tags } = it;
    let IdentityProviderSettings {
        issuer_url,
        client_id,
        username_claim,
        username_prefix,
        groups_claim,
        groups_prefix,
        required_claims,
    } = settings;
    let mut response = json!({
        "identityProviderConfigName": name,
        "identityProviderConfigArn": arn,
        "clusterName": cluster,
        "issuerUrl": issuer_url,
        "clientId": client_id,
        "requiredClaims": required_claims,
        "tags": tags,
        "status": status,
    });
    for (field, value) in [
        ("usernameClaim", username_claim),
        ("usernamePrefix", username_prefix),
        ("groupsClaim", groups_claim),
        ("groupsPrefix", groups_prefix),
    ] {
        put(&mut response, field, value.as_ref().map(|value| json!(value)));
    }
    response
}

/// A pod identity association in a list.
pub(super) fn short_pod_identity(cluster: &str, it: &PodIdentity) -> Value {
    let mut response = json!({
        "clusterName": cluster,
        "namespace": it.namespace,
        "serviceAccount": it.service_account,
        "associationArn": it.arn,
        "associationId": it.id,
    });
    put(&mut response, "ownerArn", it.owner.as_ref().map(|owner| json!(owner)));
    response
}
