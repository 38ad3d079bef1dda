//! The spec of a FooControlPlane that is like an EKS cluster: each setting is what EKS has, so that the adoption changes nothing, and
//! neither does `adopt: false` afterwards. What such a spec cannot have is named: EKS keeps it.

use super::access;
use super::found::{Addon, Association, Cluster, Found};
use super::settings::settings;
use crate::adopt::manifest::{of_name, without_defaults};
use anyhow::{Result, anyhow};
use foo_api::control_plane::eks::{
    AddonPodIdentity, AuthenticationMode, Encryption, EndpointAccess, IpFamily, LogType, ScalingTier,
    SupportType, UpgradePolicy,
};
use foo_api::control_plane::{Eks, eks};
use foo_model::eks::Minor;
use foo_model::names::TAG_PREFIX;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Beginnings of keys of tags that are for others: AWS's own, the provider's, and those of tools that created the cluster.
const TAGS_OF_OTHERS: [&str; 8] = [
    "aws:",
    TAG_PREFIX,
    "alpha.eksctl.io/",
    "eksctl.cluster.k8s.io/",
    "eksctl.io/",
    "karpenter.sh/",
    "kubernetes.io/cluster/",
    "sigs.k8s.io/cluster-api-provider-aws/",
];
/// The audience that Pods with roles of their service accounts need (IAM User Guide, "Create an OpenID Connect (OIDC) identity
/// provider").
const AUDIENCE: &str = "sts.amazonaws.com";

/// A spec, and what EKS keeps beside it.
pub(super) struct Written {
    pub(super) spec: Value,
    pub(super) eks: Eks,
    pub(super) left: Vec<String>,
}

/// The spec for a cluster.
///
/// # Errors
/// EKS shows no version of Kubernetes 1, or no mode that is known.
pub(super) fn spec(found: &Found) -> Result<Written> {
    let cluster = &found.cluster;
    let version = Minor::of(&cluster.version);
    let version = version.ok_or_else(|| anyhow!("EKS shows the version {:?}", cluster.version))?;
    let mut left = Vec::new();
    let vpc = &cluster.resources_vpc_config;
    let ipv6 = cluster.kubernetes_network_config.ip_family.as_deref() == Some("ipv6");
    let eks = Eks {
        name: Some(cluster.name.clone()),
        role_arn: cluster.role_arn.clone(),
        subnets: vpc.subnet_ids.clone(),
        security_groups: vpc.security_group_ids.clone(),
        endpoint_access: Some(endpoint_access(cluster)),
        logging: logging(cluster, &mut left),
        encryption: encryption(cluster, &mut left),
        service_cidr: cluster.kubernetes_network_config.service_ipv4_cidr.clone().filter(|_| !ipv6),
        ip_family: ipv6.then_some(IpFamily::Ipv6),
        authentication_mode: Some(authentication_mode(cluster)?),
        access_entries: access::entries(&found.entries, &mut left),
        addons: found.addons.iter().map(|it| addon(it, &found.associations, &mut left)).collect(),
        pod_identity_associations: access::pod_identities(&found.associations, &mut left),
        oidc_provider: oidc_provider(found, &mut left),
        identity_provider: access::identity_provider(&found.identity_providers, &mut left),
        upgrade_policy: upgrade_policy(cluster),
        scaling_tier: scaling_tier(cluster, &mut left),
        zonal_shift: cluster.zonal_shift_config.enabled,
        deletion_protection: cluster.deletion_protection,
        tags: tags(cluster),
        adopt: true,
        ..Eks::default()
    };
    left.extend(others(cluster));
    left.extend(beside(found));
    let spec = json!({"version": format!("v{version}.0"), "eks": shown(&eks)?});
    Ok(Written { spec, eks, left })
}

/// The fields that are not as the API server sets them by default.
fn shown(eks: &Eks) -> Result<Value> {
    let mut fields = without_defaults(eks)?;
    let mut put = |name: &str, items: Vec<Value>| {
        if let Some(fields) = fields.as_object_mut().filter(|_| !items.is_empty()) {
            fields.insert(name.to_owned(), items.into());
        }
    };
    put("accessEntries", eks.access_entries.iter().map(without_defaults).collect::<Result<_>>()?);
    put("addons", eks.addons.iter().map(without_defaults).collect::<Result<_>>()?);
    Ok(fields)
}

/// Ranges mean something only for a public endpoint.
fn endpoint_access(cluster: &Cluster) -> EndpointAccess {
    let vpc = &cluster.resources_vpc_config;
    let ranges = Some(&vpc.public_access_cidrs).filter(|it| vpc.endpoint_public_access && !it.is_empty());
    EndpointAccess {
        public: vpc.endpoint_public_access,
        private: vpc.endpoint_private_access,
        public_cidrs: ranges.cloned(),
    }
}

fn logging(cluster: &Cluster, left: &mut Vec<String>) -> Vec<LogType> {
    let on = cluster.logging.cluster_logging.iter().filter(|setup| setup.enabled);
    let mut logs = Vec::new();
    for name in on.flat_map(|setup| &setup.types) {
        match of_name::<LogType>(name) {
            Some(log) => logs.push(log),
            None => left.push(format!("log {name}: a FooControlPlane does not have it")),
        }
    }
    logs.sort();
    logs.dedup();
    logs
}

fn encryption(cluster: &Cluster, left: &mut Vec<String>) -> Option<Encryption> {
    let key = cluster.encryption_config.iter().find_map(|it| it.provider.key_arn.clone())?;
    if key.contains(":key/") {
        return Some(Encryption { kms_key_arn: key });
    }
    left.push(format!("encryption with {key}: a FooControlPlane has the ARN of a key"));
    None
}

/// The mode that EKS has; of `CONFIG_MAP` the next one, without which the provider gets no access.
fn authentication_mode(cluster: &Cluster) -> Result<AuthenticationMode> {
    let mode = cluster.authentication_mode();
    match of_name(mode) {
        Some(AuthenticationMode::ConfigMap) => Ok(AuthenticationMode::ApiAndConfigMap),
        Some(mode) => Ok(mode),
        None => Err(anyhow!("EKS shows the authentication mode {mode:?}, which is not known")),
    }
}

fn upgrade_policy(cluster: &Cluster) -> Option<UpgradePolicy> {
    let support_type: SupportType = cluster.upgrade_policy.support_type.as_deref().and_then(of_name)?;
    Some(UpgradePolicy { support_type })
}

/// The tier that is paid for. That of every other cluster is not written.
fn scaling_tier(cluster: &Cluster, left: &mut Vec<String>) -> Option<ScalingTier> {
    let name = cluster.control_plane_scaling_config.tier.as_deref()?;
    let tier: Option<ScalingTier> = of_name(name);
    if tier.is_none() {
        left.push(format!("scaling tier {name}: a FooControlPlane does not have it"));
    }
    tier.filter(|tier| *tier != ScalingTier::Standard)
}

fn oidc_provider(found: &Found, left: &mut Vec<String>) -> bool {
    let Some(audiences) = &found.audiences else { return false };
    let usable = audiences.iter().any(|audience| audience == AUDIENCE);
    if !usable {
        left.push(format!("the OIDC provider in IAM, which lacks the audience {AUDIENCE}"));
    }
    usable
}

fn tags(cluster: &Cluster) -> BTreeMap<String, String> {
    let is_own = |key: &str| TAGS_OF_OTHERS.iter().all(|of_others| !key.starts_with(of_others));
    let kept = cluster.tags.iter().filter(|(key, _)| is_own(key));
    kept.map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn addon(addon: &Addon, associations: &[Association], left: &mut Vec<String>) -> eks::Addon {
    let name = &addon.addon_name;
    let configuration = addon.configuration_values.as_deref().filter(|text| !text.trim().is_empty());
    let configuration_values = configuration.and_then(|text| {
        let values: Option<Map<String, Value>> = serde_json::from_str(text).ok();
        if values.is_none() {
            left.push(format!(
                "the configuration of add-on {name} is no JSON object: written into the manifest, it would update the add-on"
            ));
        }
        values.filter(|values| !values.is_empty())
    });
    let of_addon =
        associations.iter().filter(|it| addon.pod_identity_associations.contains(&it.association_arn));
    let identities: Vec<AddonPodIdentity> = of_addon
        .map(|it| AddonPodIdentity {
            service_account: it.service_account.clone(),
            role_arn: it.role_arn.clone(),
        })
        .collect();
    let all = identities.len() == addon.pod_identity_associations.len();
    let pod_identities = (all && !identities.is_empty()).then_some(identities);
    if pod_identities.is_some() && addon.service_account_role_arn.is_some() {
        left.push(format!(
            "the pod identity associations of add-on {name}: a FooControlPlane has these or the role of its service account"
        ));
    }
    left.extend(settings(&format!("add-on {name}"), &addon.others));
    eks::Addon {
        name: name.clone(),
        version: addon.addon_version.clone(),
        configuration_values,
        service_account_role_arn: addon.service_account_role_arn.clone(),
        pod_identities: pod_identities.filter(|_| addon.service_account_role_arn.is_none()),
        ..eks::Addon::default()
    }
}

/// Settings of EKS that the spec does not have.
fn others(cluster: &Cluster) -> impl Iterator<Item = String> {
    let of_cluster = settings("cluster", &cluster.others);
    of_cluster.chain(settings("VPC configuration", &cluster.resources_vpc_config.others))
}

/// What runs Pods, and no FooControlPlane has.
fn beside(found: &Found) -> impl Iterator<Item = String> {
    let node_groups = found.node_groups.iter().map(|name| {
        format!("managed node group {name}: EKS owns its Auto Scaling group; its Pods can move to a pool")
    });
    node_groups.chain(found.fargate_profiles.iter().map(|name| format!("Fargate profile {name}")))
}
