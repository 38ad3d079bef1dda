//! Access entries, pod identity associations and the identity provider of a FooControlPlane that are as EKS has them. The
//! provider makes an entry that the spec lists exactly like the spec, so one that the spec cannot say completely is left out, and stays as it is.

use super::found::{self, Association, Entry, Policy};
use super::settings::settings;
use crate::adopt::manifest::of_name;
use foo_api::control_plane::eks::{
    AccessEntry, AccessPolicy, EntryType, IdentityProvider, PodIdentityAssociation,
};
use foo_api::patterns::is_object_name;
use foo_model::eks::is_generated_username;

/// Beginnings of names and groups that EKS keeps for itself, and the API for EKS (EKS API Reference, CreateAccessEntry).
const RESERVED: [&str; 5] = ["system:", "eks:", "aws:", "amazon:", "iam:"];
/// Most groups, and most policies, of an access entry.
const MOST: usize = 20;
/// Most namespaces of an access policy.
const MOST_NAMESPACES: usize = 100;
/// Most required claims of an identity provider.
const MOST_CLAIMS: usize = 40;
/// Longest name of a namespace.
const LONGEST_NAMESPACE: usize = 63;

pub(super) fn entries(found: &[Entry], left: &mut Vec<String>) -> Vec<AccessEntry> {
    let mut entries = Vec::new();
    for it in found {
        match entry(it) {
            Ok(entry) => entries.push(entry),
            Err(why) => left.push(format!("access entry of {}: {why}", it.principal_arn)),
        }
    }
    entries
}

/// The entry, or why a FooControlPlane does not have it.
fn entry(found: &Entry) -> Result<AccessEntry, String> {
    let principal = &found.principal_arn;
    let kind: Option<EntryType> = of_name(&found.kind);
    let kind = kind.ok_or_else(|| format!("it is of type {}, which EKS keeps itself", found.kind))?;
    if principal.contains(":role/aws-service-role/") {
        return Err("it is of a service-linked role, and EKS keeps it itself".to_owned());
    }
    let is_principal = [":role/", ":user/"].iter().any(|part| principal.contains(part));
    if !is_principal {
        return Err("its principal is neither a role nor a user".to_owned());
    }
    if kind != EntryType::Standard {
        return Ok(AccessEntry { principal_arn: principal.clone(), kind, ..AccessEntry::default() });
    }
    let username = found.username.clone().filter(|name| !is_generated_username(principal, name));
    let groups = &found.kubernetes_groups;
    let is_reserved = |name: &String| RESERVED.iter().any(|prefix| name.starts_with(prefix));
    if let Some(name) = username.iter().chain(groups).find(|name| is_reserved(name)) {
        return Err(format!("{name} is a reserved name"));
    }
    if groups.len() > MOST || found.policies.len() > MOST {
        return Err(format!("it has more than {MOST} groups or policies"));
    }
    let policies: Vec<AccessPolicy> = found.policies.iter().map(policy).collect::<Result<_, _>>()?;
    Ok(AccessEntry {
        principal_arn: principal.clone(),
        kind,
        username,
        groups: Some(groups.clone()).filter(|groups| !groups.is_empty()),
        policies: Some(policies).filter(|policies| !policies.is_empty()),
    })
}

fn policy(found: &Policy) -> Result<AccessPolicy, String> {
    let arn = &found.policy_arn;
    let name = arn.split_once(":eks::aws:cluster-access-policy/").map(|(_, name)| name);
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric());
    let name = name.filter(is_name).ok_or_else(|| format!("{arn} is no access policy that is known"))?;
    let scope = &found.access_scope;
    let namespaces = match scope.kind.as_str() {
        "cluster" => None,
        "namespace" if !scope.namespaces.is_empty() => Some(scope.namespaces.clone()),
        other => return Err(format!("{name} has the scope {other}, which is not known")),
    };
    let fits = |namespace: &String| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "*-".contains(c);
        (1..=LONGEST_NAMESPACE).contains(&namespace.len()) && namespace.chars().all(plain)
    };
    if namespaces.iter().flatten().count() > MOST_NAMESPACES || !namespaces.iter().flatten().all(fits) {
        return Err(format!("{name} holds in namespaces that a FooControlPlane cannot name"));
    }
    Ok(AccessPolicy { name: name.to_owned(), namespaces })
}

/// The identity provider, which is not this FooControlPlane's: the provider does not touch it, and says if it differs.
pub(super) fn identity_provider(
    found: &[found::IdentityProvider],
    left: &mut Vec<String>,
) -> Option<IdentityProvider> {
    let it = found.first()?;
    let name = &it.identity_provider_config_name;
    let is_usual = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_usual);
    if !is_name || it.required_claims.len() > MOST_CLAIMS {
        left.push(format!("identity provider {name}: a FooControlPlane cannot have it"));
        return None;
    }
    left.extend(settings(&format!("identity provider {name}"), &it.others));
    let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let groups_claim = given(&it.groups_claim);
    Some(IdentityProvider {
        name: name.clone(),
        issuer_url: it.issuer_url.clone(),
        client_id: it.client_id.clone(),
        username_claim: given(&it.username_claim),
        username_prefix: given(&it.username_prefix),
        groups_prefix: given(&it.groups_prefix).filter(|_| groups_claim.is_some()),
        groups_claim,
        required_claims: it.required_claims.clone(),
    })
}

/// The associations that belong to no add-on.
pub(super) fn pod_identities(found: &[Association], left: &mut Vec<String>) -> Vec<PodIdentityAssociation> {
    let mut associations = Vec::new();
    for it in found.iter().filter(|it| it.owner_arn.is_none()) {
        let Association { namespace, service_account, role_arn, .. } = it;
        let named = format!("pod identity association of {namespace}/{service_account}");
        let is_namespace = is_object_name(namespace) && !namespace.contains('.');
        if !is_namespace || namespace.len() > LONGEST_NAMESPACE || !is_object_name(service_account) {
            left.push(format!("{named}: no service account has that name"));
            continue;
        }
        if let Some(target) = &it.target_role_arn {
            left.push(format!("{named}: its target role {target}, which EKS keeps"));
        }
        if it.disable_session_tags {
            left.push(format!("{named}: session tags are disabled, which EKS keeps"));
        }
        left.extend(settings(&named, &it.others));
        associations.push(PodIdentityAssociation {
            namespace: namespace.clone(),
            service_account: service_account.clone(),
            role_arn: role_arn.clone(),
        });
    }
    associations
}
