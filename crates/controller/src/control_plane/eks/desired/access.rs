//! Who reaches the API server, and who gets access to the cluster.

use foo_api::control_plane::{Eks, eks as api};
use foo_eks::desired::{DesiredEntry, DesiredIdentityProvider};
use foo_model::eks::{AccessPolicy, AccessScope, EndpointAccess, EntryKind, IdentityProviderSettings};
use ipnet::IpNet;
use std::collections::{BTreeMap, BTreeSet};

/// Ranges from which EKS opens the public endpoint by default: of an IPv6 cluster also to the addresses of that family
/// (EKS User Guide, "Cluster API server endpoint").
const ANYWHERE: [&str; 2] = ["0.0.0.0/0", "::/0"];

pub(super) fn endpoint(eks: &Eks) -> EndpointAccess {
    let access = eks.endpoint_access.clone().unwrap_or_default();
    let anywhere = || {
        let families = if eks.ip_family == Some(api::IpFamily::Ipv6) { 2 } else { 1 };
        ANYWHERE.iter().take(families).map(|range| (*range).to_owned()).collect()
    };
    let public_cidrs = match (access.public, access.public_cidrs) {
        (false, _) => BTreeSet::new(),
        (true, Some(ranges)) => ranges.iter().map(|range| as_eks_shows_it(range)).collect(),
        (true, None) => anywhere(),
    };
    EndpointAccess { public: access.public, private: access.private, public_cidrs }
}

/// A range without the bits of a host and in the usual spelling, as EKS shows it: another text for the same range would
/// be changed for ever. What is no range is for EKS to refuse.
pub(super) fn as_eks_shows_it(range: &str) -> String {
    range.parse::<IpNet>().map_or_else(|_| range.to_owned(), |range| range.trunc().to_string())
}

pub(super) fn entries(eks: &Eks, partition: &str) -> BTreeMap<String, DesiredEntry> {
    let entry = |it: &api::AccessEntry| {
        let policies = it.policies.iter().flatten().map(|policy| self::policy(policy, partition));
        let entry = DesiredEntry {
            kind: kind(it.kind),
            username: it.username.clone(),
            groups: it.groups.iter().flatten().cloned().collect(),
            policies: policies.collect(),
        };
        (it.principal_arn.clone(), entry)
    };
    eks.access_entries.iter().map(entry).collect()
}

fn kind(kind: api::EntryType) -> EntryKind {
    match kind {
        api::EntryType::Standard => EntryKind::Standard,
        api::EntryType::Ec2Linux => EntryKind::Ec2Linux,
        api::EntryType::Ec2Windows => EntryKind::Ec2Windows,
        api::EntryType::HybridLinux => EntryKind::HybridLinux,
    }
}

/// Access policies belong to AWS (EKS User Guide, "Review access policy permissions").
fn policy(policy: &api::AccessPolicy, partition: &str) -> AccessPolicy {
    let scope = policy.namespaces.as_ref().map_or(AccessScope::Cluster, |namespaces| {
        AccessScope::Namespaces(namespaces.iter().cloned().collect())
    });
    AccessPolicy { arn: format!("arn:{partition}:eks::aws:cluster-access-policy/{}", policy.name), scope }
}

pub(super) fn identity_provider(it: &api::IdentityProvider) -> DesiredIdentityProvider {
    let api::IdentityProvider {
        name,
        issuer_url,
        client_id,
        username_claim,
        username_prefix,
        groups_claim,
        groups_prefix,
        required_claims,
    } = it.clone();
    let settings = IdentityProviderSettings {
        issuer_url,
        client_id,
        username_claim,
        username_prefix,
        groups_claim,
        groups_prefix,
        required_claims,
    };
    DesiredIdentityProvider { name, settings }
}

pub(super) fn pod_identities(eks: &Eks) -> BTreeMap<(String, String), String> {
    let all = eks.pod_identity_associations.iter();
    all.map(|it| ((it.namespace.clone(), it.service_account.clone()), it.role_arn.clone())).collect()
}
