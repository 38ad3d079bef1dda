//! Conversions from the SDK's shapes to `foo_model`.
//!
//! A status or type that is not known yet becomes the value from which the planner concludes least; only what has no name, id or
//! version cannot be decoded.

use crate::error::Gap;
use aws_sdk_eks::operation::describe_insights_refresh::DescribeInsightsRefreshOutput;
use aws_sdk_eks::types as aws;
use aws_smithy_types::DateTime;
use aws_smithy_types::error::operation::BuildError;
use foo_model::AwsTime;
use foo_model::eks::{
    AccessEntry, AccessPolicy, AccessScope, Addon, AddonRelease, AddonSettings, AddonStatus,
    AuthenticationMode, Cluster, ClusterStatus, EndpointAccess, EntryKind, IdentityProvider,
    IdentityProviderSettings, IdentityProviderStatus, Insight, InsightStatus, InsightsRefresh, IpFamily,
    Issue, Minor, Placement, PodIdentity, ScalingTier, Support, SupportType, Update, UpdateStatus,
    VersionOffer,
};
use foo_model::network::Tags;
use std::cmp::Reverse;
use std::collections::HashMap;

fn owned(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

fn needed(text: Option<&str>, name: &'static str) -> Result<String, Gap> {
    owned(text).ok_or(Gap(name))
}

fn tags(tags: Option<&HashMap<String, String>>) -> Tags {
    tags.into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn time(at: Option<&DateTime>) -> Option<AwsTime> {
    at.and_then(|at| at.to_millis().ok()).map(AwsTime::from_millis)
}

fn issue(code: Option<&str>, message: Option<&str>, resources: &[String]) -> Issue {
    Issue {
        code: code.unwrap_or("Other").to_owned(),
        message: message.unwrap_or_default().to_owned(),
        resources: resources.to_vec(),
    }
}

pub(super) fn cluster(it: &aws::Cluster) -> Result<Cluster, Gap> {
    let vpc = it.resources_vpc_config();
    let services = it.kubernetes_network_config();
    let mode = it.access_config().and_then(|config| config.authentication_mode());
    let support = it.upgrade_policy().and_then(|policy| policy.support_type());
    let mut providers = it.encryption_config().iter().filter_map(|config| config.provider());
    Ok(Cluster {
        name: needed(it.name(), "name")?,
        arn: needed(it.arn(), "arn")?,
        // An unknown status is a change that EKS is at work on.
        status: it
            .status()
            .and_then(|status| status.as_str().parse().ok())
            .unwrap_or(ClusterStatus::Updating),
        version: it.version().and_then(Minor::of).ok_or(Gap("version"))?,
        platform_version: owned(it.platform_version()),
        created: time(it.created_at()),
        endpoint: owned(it.endpoint()),
        certificate_authority: owned(it.certificate_authority().and_then(aws::Certificate::data)),
        role_arn: needed(it.role_arn(), "roleArn")?,
        vpc: owned(vpc.and_then(aws::VpcConfigResponse::vpc_id)).map(Into::into),
        placement: vpc.map(placement).unwrap_or_default(),
        cluster_security_group: owned(vpc.and_then(|vpc| vpc.cluster_security_group_id())).map(Into::into),
        access: access(vpc),
        service_ipv4: owned(services.and_then(|services| services.service_ipv4_cidr())),
        service_ipv6: owned(services.and_then(|services| services.service_ipv6_cidr())),
        ip_family: match services.and_then(|services| services.ip_family()) {
            Some(aws::IpFamily::Ipv6) => IpFamily::Ipv6,
            _ => IpFamily::Ipv4,
        },
        oidc_issuer: owned(it.identity().and_then(aws::Identity::oidc).and_then(aws::Oidc::issuer)),
        authentication_mode: match mode {
            None | Some(aws::AuthenticationMode::ConfigMap) => AuthenticationMode::ConfigMap,
            Some(aws::AuthenticationMode::ApiAndConfigMap) => AuthenticationMode::ApiAndConfigMap,
            // No change leads on from API, nor from what is not known.
            Some(_) => AuthenticationMode::Api,
        },
        logging: logs(it),
        encryption_key: owned(providers.find_map(aws::Provider::key_arn)),
        upgrade_policy: match support {
            Some(aws::SupportType::Standard) => SupportType::Standard,
            _ => SupportType::Extended,
        },
        zonal_shift: it.zonal_shift_config().and_then(aws::ZonalShiftConfigResponse::enabled) == Some(true),
        deletion_protection: it.deletion_protection() == Some(true),
        scaling_tier: match it.control_plane_scaling_config().and_then(|config| config.tier()) {
            None => Some(ScalingTier::Standard),
            Some(tier) => tier.as_str().parse().ok(),
        },
        auto_mode: it.compute_config().and_then(aws::ComputeConfigResponse::enabled) == Some(true),
        tags: tags(it.tags()),
        health: it.health().map(health).unwrap_or_default(),
    })
}

fn health(health: &aws::ClusterHealth) -> Vec<Issue> {
    let issues = health.issues().iter();
    let code = |it: &aws::ClusterIssue| it.code().map(aws::ClusterIssueCode::as_str).map(str::to_owned);
    issues.map(|it| issue(code(it).as_deref(), it.message(), it.resource_ids())).collect()
}

fn placement(vpc: &aws::VpcConfigResponse) -> Placement {
    Placement {
        subnets: vpc.subnet_ids().iter().map(|id| id.as_str().into()).collect(),
        security_groups: vpc.security_group_ids().iter().map(|id| id.as_str().into()).collect(),
    }
}

fn access(vpc: Option<&aws::VpcConfigResponse>) -> EndpointAccess {
    EndpointAccess {
        public: vpc.is_some_and(aws::VpcConfigResponse::endpoint_public_access),
        private: vpc.is_some_and(aws::VpcConfigResponse::endpoint_private_access),
        public_cidrs: vpc.map(|vpc| vpc.public_access_cidrs().iter().cloned().collect()).unwrap_or_default(),
    }
}

/// The logs that are on, without those that are not known.
fn logs(it: &aws::Cluster) -> std::collections::BTreeSet<foo_model::eks::LogType> {
    let setups = it.logging().map(aws::Logging::cluster_logging).unwrap_or_default();
    let on = setups.iter().filter(|setup| setup.enabled() == Some(true));
    on.flat_map(aws::LogSetup::types).filter_map(|log| log.as_str().parse().ok()).collect()
}

pub(super) fn update(it: &aws::Update) -> Result<Update, Gap> {
    let errors = it
        .errors()
        .iter()
        .map(|it| issue(it.error_code().map(aws::ErrorCode::as_str), it.error_message(), it.resource_ids()));
    Ok(Update {
        id: needed(it.id(), "id")?,
        kind: it.r#type().and_then(|kind| kind.as_str().parse().ok()),
        status: it
            .status()
            .and_then(|status| status.as_str().parse().ok())
            .unwrap_or(UpdateStatus::InProgress),
        errors: errors.collect(),
        created: time(it.created_at()),
    })
}

/// A refresh that failed is over as well.
pub(super) fn insights_refresh(it: &DescribeInsightsRefreshOutput) -> Result<InsightsRefresh, Gap> {
    let started = time(it.started_at()).ok_or(Gap("startedAt"))?;
    let is_over = it.status() != Some(&aws::InsightsRefreshStatus::InProgress);
    Ok(InsightsRefresh { started, is_over })
}

pub(super) fn insight(it: &aws::InsightSummary) -> Result<Insight, Gap> {
    let said = it.insight_status();
    let status = said.and_then(aws::InsightStatus::status).and_then(|status| status.as_str().parse().ok());
    Ok(Insight {
        id: needed(it.id(), "id")?,
        name: it.name().unwrap_or_default().to_owned(),
        version: it.kubernetes_version().and_then(Minor::of),
        status: status.unwrap_or(InsightStatus::Unknown),
        reason: owned(said.and_then(aws::InsightStatus::reason)),
    })
}

pub(super) fn addon(it: &aws::Addon) -> Result<Addon, Gap> {
    let issues = it.health().map(aws::AddonHealth::issues).unwrap_or_default().iter();
    Ok(Addon {
        name: needed(it.addon_name(), "addonName")?,
        arn: needed(it.addon_arn(), "addonArn")?,
        version: it.addon_version().unwrap_or_default().to_owned(),
        status: it.status().and_then(|status| status.as_str().parse().ok()).unwrap_or(AddonStatus::Updating),
        issues: issues
            .map(|it| issue(it.code().map(aws::AddonIssueCode::as_str), it.message(), it.resource_ids()))
            .collect(),
        settings: AddonSettings {
            configuration: owned(it.configuration_values()),
            service_account_role: owned(it.service_account_role_arn()),
        },
        pod_identities: it.pod_identity_associations().iter().cloned().collect(),
        tags: tags(it.tags()),
    })
}

pub(super) fn access_entry(it: &aws::AccessEntry) -> Result<AccessEntry, Gap> {
    Ok(AccessEntry {
        principal: needed(it.principal_arn(), "principalArn")?,
        arn: it.access_entry_arn().unwrap_or_default().to_owned(),
        // The type of an entry cannot be changed: any type that the provider does not make stands for an unknown one.
        kind: it.r#type().and_then(|kind| kind.parse().ok()).unwrap_or(EntryKind::HyperpodLinux),
        username: it.username().unwrap_or_default().to_owned(),
        groups: it.kubernetes_groups().iter().cloned().collect(),
        tags: tags(it.tags()),
        created: time(it.created_at()),
    })
}

pub(super) fn access_policy(it: &aws::AssociatedAccessPolicy) -> Result<AccessPolicy, Gap> {
    let scope = it.access_scope().ok_or(Gap("accessScope"))?;
    Ok(AccessPolicy {
        arn: needed(it.policy_arn(), "policyArn")?,
        scope: match scope.r#type() {
            Some(aws::AccessScopeType::Cluster) => AccessScope::Cluster,
            Some(aws::AccessScopeType::Namespace) => {
                AccessScope::Namespaces(scope.namespaces().iter().cloned().collect())
            }
            _ => return Err(Gap("accessScope.type")),
        },
    })
}

pub(super) fn pod_identity(it: &aws::PodIdentityAssociation) -> Result<PodIdentity, Gap> {
    Ok(PodIdentity {
        id: needed(it.association_id(), "associationId")?,
        arn: it.association_arn().unwrap_or_default().to_owned(),
        namespace: needed(it.namespace(), "namespace")?,
        service_account: needed(it.service_account(), "serviceAccount")?,
        role_arn: owned(it.role_arn()),
        owner_arn: owned(it.owner_arn()),
        tags: tags(it.tags()),
    })
}

pub(super) fn listed_pod_identity(it: &aws::PodIdentityAssociationSummary) -> Result<PodIdentity, Gap> {
    Ok(PodIdentity {
        id: needed(it.association_id(), "associationId")?,
        arn: it.association_arn().unwrap_or_default().to_owned(),
        namespace: needed(it.namespace(), "namespace")?,
        service_account: needed(it.service_account(), "serviceAccount")?,
        role_arn: None,
        owner_arn: owned(it.owner_arn()),
        tags: Tags::new(),
    })
}

/// The only type of identity providers that EKS has (EKS API Reference, IdentityProviderConfig).
pub(super) const OIDC: &str = "oidc";

/// What names an identity provider configuration in a request.
pub(super) fn named(name: &str) -> Result<aws::IdentityProviderConfig, BuildError> {
    aws::IdentityProviderConfig::builder().r#type(OIDC).name(name).build()
}

/// A status that is not known yet is a change that EKS is at work on.
pub(super) fn identity_provider(it: &aws::OidcIdentityProviderConfig) -> Result<IdentityProvider, Gap> {
    let claims = it.required_claims().into_iter().flatten();
    Ok(IdentityProvider {
        name: needed(it.identity_provider_config_name(), "identityProviderConfigName")?,
        arn: it.identity_provider_config_arn().unwrap_or_default().to_owned(),
        status: it
            .status()
            .and_then(|status| status.as_str().parse().ok())
            .unwrap_or(IdentityProviderStatus::Creating),
        settings: IdentityProviderSettings {
            issuer_url: needed(it.issuer_url(), "issuerUrl")?,
            client_id: needed(it.client_id(), "clientId")?,
            username_claim: owned(it.username_claim()),
            username_prefix: owned(it.username_prefix()),
            groups_claim: owned(it.groups_claim()),
            groups_prefix: owned(it.groups_prefix()),
            required_claims: claims.map(|(claim, value)| (claim.clone(), value.clone())).collect(),
        },
        tags: tags(it.tags()),
    })
}

/// A version; `None` if it is none of Kubernetes 1 or its support is not known.
pub(super) fn version(it: &aws::ClusterVersionInformation) -> Option<VersionOffer> {
    Some(VersionOffer {
        version: it.cluster_version().and_then(Minor::of)?,
        patch: owned(it.kubernetes_patch_version()),
        default: it.default_version(),
        support: match it.version_status()? {
            aws::VersionStatus::StandardSupport => Support::StandardSupport,
            aws::VersionStatus::ExtendedSupport => Support::ExtendedSupport,
            aws::VersionStatus::Unsupported => Support::Unsupported,
            _ => return None,
        },
        standard_ends: time(it.end_of_standard_support_date()),
        extended_ends: time(it.end_of_extended_support_date()),
    })
}

/// A version of an add-on, if it fits this version of Kubernetes.
pub(super) fn addon_release(it: &aws::AddonVersionInfo, kubernetes: &str) -> Option<AddonRelease> {
    let fit = it.compatibilities().iter().find(|fit| fit.cluster_version() == Some(kubernetes))?;
    Some(AddonRelease {
        version: owned(it.addon_version())?,
        default: fit.default_version(),
        requires_configuration: it.requires_configuration(),
        requires_iam: it.requires_iam_permissions(),
    })
}

/// Sorts by the numbers in the versions (`v1.18.3-eksbuild.1`). EKS does not promise any order.
pub(super) fn newest_first(releases: &mut [AddonRelease]) {
    releases.sort_by_cached_key(|release| Reverse(numbers(&release.version)));
}

fn numbers(version: &str) -> Vec<u64> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smallest() -> aws::builders::ClusterBuilder {
        aws::Cluster::builder().name("c").arn("arn").version("1.34").role_arn("role")
    }

    #[test]
    fn a_cluster_that_shows_little_has_the_defaults_of_eks() {
        let seen = cluster(&smallest().build()).unwrap();
        assert_eq!((seen.version, seen.ip_family), (Minor(34), IpFamily::Ipv4));
        assert_eq!(seen.authentication_mode, AuthenticationMode::ConfigMap);
        assert_eq!(seen.upgrade_policy, SupportType::Extended);
        assert_eq!(seen.scaling_tier, Some(ScalingTier::Standard));
        assert_eq!((seen.endpoint, seen.certificate_authority, seen.vpc), (None, None, None));
    }

    #[test]
    fn what_is_not_known_yet_is_what_nothing_is_concluded_from() {
        let mode = aws::AccessConfigResponse::builder().authentication_mode("NEW_MODE".into()).build();
        let tier = aws::ControlPlaneScalingConfig::builder().tier("tier-64xl".into()).build();
        let new = smallest().status("RESTING".into()).access_config(mode).control_plane_scaling_config(tier);
        let seen = cluster(&new.build()).unwrap();
        assert_eq!((seen.status, seen.scaling_tier), (ClusterStatus::Updating, None));
        assert_eq!(seen.authentication_mode, AuthenticationMode::Api);
        let of = aws::Update::builder().id("u").status("Paused".into()).build();
        assert_eq!(update(&of).unwrap().status, UpdateStatus::InProgress);
        let of = aws::Addon::builder().addon_name("a").addon_arn("arn").status("RESTING".into()).build();
        assert!(addon(&of).unwrap().status.is_moving());
        let of = aws::AccessEntry::builder().principal_arn("p").r#type("NEW").build();
        assert_ne!(access_entry(&of).unwrap().kind, EntryKind::Standard);
    }

    #[test]
    fn what_has_no_version_is_no_cluster() {
        let without = aws::Cluster::builder().name("c").arn("arn").role_arn("role").build();
        assert_eq!(cluster(&without), Err(Gap("version")));
    }

    #[test]
    fn releases_are_sorted_by_their_numbers() {
        let release = |version: &str| AddonRelease {
            version: version.to_owned(),
            default: false,
            requires_configuration: false,
            requires_iam: false,
        };
        let mut releases =
            ["v1.9.0-eksbuild.1", "v1.18.3-eksbuild.10", "v1.18.3-eksbuild.9", "v1.18.10-eksbuild.1"]
                .map(release);
        newest_first(&mut releases);
        let sorted: Vec<&str> = releases.iter().map(|release| release.version.as_str()).collect();
        assert_eq!(
            sorted,
            ["v1.18.10-eksbuild.1", "v1.18.3-eksbuild.10", "v1.18.3-eksbuild.9", "v1.9.0-eksbuild.1"]
        );
    }
}
