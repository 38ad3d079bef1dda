//! The core's state in the nouns of `foo-model`, as the adapter reads them from AWS's responses.

use crate::core::Region;
use crate::core::eks::cluster::{self as core, AddonSpec};
use crate::core::eks::identities::{self, Association};
use crate::core::eks::versions::{Offer, day};
use crate::core::error::AwsError;
use crate::core::rules::eks::Insight;
use crate::sim_cloud::convert::dated;
use foo_model::Timestamp;
use foo_model::eks as model;
use foo_model::network::Tags;

/// EKS's refusal of what is IAM's.
pub(super) fn of_iam() -> AwsError {
    AwsError::new("UnknownOperationException", "IAM has this operation, not EKS").status(404)
}

pub(super) fn cluster(region: &Region, it: &core::Cluster) -> model::Cluster {
    let server = it.server(&region.name);
    let ipv6 = it.service_ipv6();
    model::Cluster {
        name: it.name.clone(),
        arn: it.arn.clone(),
        status: it.status,
        version: it.version,
        platform_version: Some(format!("eks.{}", it.platform)),
        created: Some(dated(it.created)),
        endpoint: server.as_ref().map(|server| server.endpoint.clone()),
        certificate_authority: server.map(|server| server.certificate_authority),
        role_arn: it.role.clone(),
        vpc: Some(it.vpc.clone()),
        placement: it.placement.clone(),
        cluster_security_group: Some(it.security_group.clone()),
        access: it.endpoint.clone(),
        service_ipv4: ipv6.is_none().then(|| it.service_range.to_string()),
        service_ipv6: ipv6,
        ip_family: it.family,
        oidc_issuer: Some(it.issuer(&region.name)),
        authentication_mode: it.authentication,
        logging: it.logs.clone(),
        encryption_key: it.key.clone(),
        upgrade_policy: it.support,
        zonal_shift: it.zonal_shift,
        deletion_protection: it.deletion_protection,
        scaling_tier: Some(it.scaling_tier),
        auto_mode: false,
        tags: it.tags.clone(),
        health: it.health.clone(),
    }
}

pub(super) fn update(it: &core::Update) -> model::Update {
    model::Update {
        id: it.id.clone(),
        kind: Some(it.kind),
        status: it.status,
        errors: it.errors.clone(),
        created: Some(dated(it.created)),
    }
}

pub(super) fn insight(it: &Insight) -> model::Insight {
    model::Insight {
        id: it.id.clone(),
        name: it.name.clone(),
        version: Some(it.version),
        status: it.status,
        reason: Some(it.reason.clone()).filter(|reason| !reason.is_empty()),
    }
}

pub(super) fn addon(
    it: &core::ClusterAddon,
    status: model::AddonStatus,
    issues: Vec<model::Issue>,
) -> model::Addon {
    let AddonSpec { version, settings, pod_identities } = it.spec.clone();
    model::Addon {
        name: it.name.clone(),
        arn: it.arn.clone(),
        version,
        status,
        issues,
        settings,
        pod_identities: pod_identities.into_iter().collect(),
        tags: it.tags.clone(),
    }
}

pub(super) fn entry(it: &identities::AccessEntry) -> model::AccessEntry {
    model::AccessEntry {
        principal: it.principal.clone(),
        arn: it.arn.clone(),
        kind: it.kind,
        username: it.username.clone(),
        groups: it.groups.iter().cloned().collect(),
        tags: it.tags.clone(),
        created: Some(dated(it.created)),
    }
}

pub(super) fn policy(arn: &str, it: &Association) -> model::AccessPolicy {
    model::AccessPolicy { arn: arn.to_owned(), scope: it.scope.clone() }
}

pub(super) fn pod_identity(it: &identities::PodIdentity) -> model::PodIdentity {
    model::PodIdentity { role_arn: Some(it.role.clone()), tags: it.tags.clone(), ..listed_pod_identity(it) }
}

/// An association in a list, which shows neither role nor tags.
pub(super) fn listed_pod_identity(it: &identities::PodIdentity) -> model::PodIdentity {
    model::PodIdentity {
        id: it.id.clone(),
        arn: it.arn.clone(),
        namespace: it.namespace.clone(),
        service_account: it.service_account.clone(),
        role_arn: None,
        owner_arn: it.owner.clone(),
        tags: Tags::new(),
    }
}

pub(super) fn offer(it: &Offer, now: Timestamp) -> model::VersionOffer {
    model::VersionOffer {
        version: it.version,
        patch: Some(format!("{}.{}", it.version, it.patch)),
        default: it.default,
        support: it.support(now),
        standard_ends: Some(dated(day(it.standard_until))),
        extended_ends: Some(dated(day(it.extended_until))),
    }
}
