//! What the core knows, in the nouns of `foo-model`, as the adapter makes them of AWS's answers.

use crate::core::Region;
use crate::core::eks::cluster::{self as core, EndpointAccess, Issue};
use crate::core::eks::identities::{self, Association, ScopeType};
use crate::core::eks::versions::{Offer, Support, day};
use crate::core::eks::{AddonStatus, Insight};
use crate::core::error::{AwsError, AwsResult};
use crate::sim_cloud::convert::dated;
use foo_model::Timestamp;
use foo_model::eks as model;
use foo_model::network::Tags;
use std::str::FromStr;

/// The model's value of the same name.
fn same<T: FromStr>(name: &str) -> AwsResult<T> {
    name.parse().map_err(|_| {
        AwsError::new("InternalFailure", format!("{name} has no place in the model")).status(500)
    })
}

/// An enum's name in AWS.
fn name<T: Into<&'static str>>(value: T) -> &'static str {
    value.into()
}

pub(super) fn cluster(region: &Region, it: &core::Cluster) -> AwsResult<model::Cluster> {
    let server = it.server(&region.name);
    let ipv6 = it.service_ipv6();
    Ok(model::Cluster {
        name: it.name.clone(),
        arn: it.arn.clone(),
        status: same(name(it.status))?,
        version: model::Minor(it.version.0),
        platform_version: Some(format!("eks.{}", it.platform)),
        created: Some(dated(it.created)),
        endpoint: server.as_ref().map(|server| server.endpoint.clone()),
        certificate_authority: server.map(|server| server.certificate_authority),
        role_arn: it.role.clone(),
        vpc: Some(it.vpc.clone()),
        placement: model::Placement {
            subnets: it.placement.subnets.iter().cloned().collect(),
            security_groups: it.placement.groups.iter().cloned().collect(),
        },
        cluster_security_group: Some(it.security_group.clone()),
        access: access(&it.endpoint),
        service_ipv4: ipv6.is_none().then(|| it.service_range.to_string()),
        service_ipv6: ipv6,
        ip_family: same(name(it.family))?,
        oidc_issuer: Some(it.issuer(&region.name)),
        authentication_mode: same(name(it.authentication))?,
        logging: it.logs.iter().map(|log| model_log(*log)).collect(),
        encryption_key: it.key.clone(),
        upgrade_policy: same(name(it.support))?,
        zonal_shift: it.zonal_shift,
        deletion_protection: it.deletion_protection,
        auto_mode: false,
        tags: it.tags.clone(),
        health: it.health.iter().map(issue).collect(),
    })
}

fn model_log(log: core::LogType) -> model::LogType {
    match log {
        core::LogType::Api => model::LogType::Api,
        core::LogType::Audit => model::LogType::Audit,
        core::LogType::Authenticator => model::LogType::Authenticator,
        core::LogType::ControllerManager => model::LogType::ControllerManager,
        core::LogType::Scheduler => model::LogType::Scheduler,
    }
}

fn access(it: &EndpointAccess) -> model::EndpointAccess {
    model::EndpointAccess {
        public: it.public,
        private: it.private,
        public_cidrs: it.cidrs.iter().cloned().collect(),
    }
}

fn issue(it: &Issue) -> model::Issue {
    model::Issue { code: it.code.clone(), message: it.message.clone(), resources: it.resource_ids.clone() }
}

pub(super) fn update(it: &core::Update) -> AwsResult<model::Update> {
    Ok(model::Update {
        id: it.id.clone(),
        kind: name(it.kind).to_owned(),
        status: same(name(it.status))?,
        errors: it.errors.iter().map(issue).collect(),
        created: Some(dated(it.created)),
    })
}

pub(super) fn insight(it: &Insight) -> AwsResult<model::Insight> {
    Ok(model::Insight {
        id: it.id.clone(),
        name: it.name.clone(),
        version: Some(model::Minor(it.version.0)),
        status: same(&it.status)?,
        reason: Some(it.reason.clone()).filter(|reason| !reason.is_empty()),
    })
}

pub(super) fn addon(
    it: &core::ClusterAddon,
    status: AddonStatus,
    issues: &[Issue],
) -> AwsResult<model::Addon> {
    Ok(model::Addon {
        name: it.name.clone(),
        arn: it.arn.clone(),
        version: it.spec.version.clone(),
        status: same(name(status))?,
        issues: issues.iter().map(issue).collect(),
        configuration: it.spec.values.clone(),
        service_account_role: it.spec.role.clone(),
        pod_identities: it.spec.pod_identities.iter().cloned().collect(),
        tags: it.tags.clone(),
    })
}

pub(super) fn entry(it: &identities::AccessEntry) -> AwsResult<model::AccessEntry> {
    Ok(model::AccessEntry {
        principal: it.principal.clone(),
        arn: it.arn.clone(),
        kind: same(name(it.kind))?,
        username: it.username.clone(),
        groups: it.groups.iter().cloned().collect(),
        tags: it.tags.clone(),
        created: Some(dated(it.created)),
    })
}

pub(super) fn policy(arn: &str, it: &Association) -> model::AccessPolicy {
    let scope = match it.scope.r#type {
        ScopeType::Cluster => model::AccessScope::Cluster,
        ScopeType::Namespace => model::AccessScope::Namespaces(it.scope.namespaces.iter().cloned().collect()),
    };
    model::AccessPolicy { arn: arn.to_owned(), scope }
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
        version: model::Minor(it.version.0),
        patch: Some(format!("{}.{}", it.version, it.patch)),
        default: it.default,
        support: match it.support(now) {
            Support::Standard => model::Support::StandardSupport,
            Support::Extended => model::Support::ExtendedSupport,
            Support::Ended => model::Support::Unsupported,
        },
        standard_ends: Some(dated(day(it.standard_until))),
        extended_ends: Some(dated(day(it.extended_until))),
    }
}
