//! The settings of an EKS cluster and what belongs to it, as EKS and IAM show them and as a FooPlan shows what differs.

use crate::plans::fields::{Resources, by_name, fields};
use foo_eks::canonical_configuration;
use foo_model::eks::{
    AccessEntry, AccessPolicy, Addon, AddonSettings, Cluster, EndpointAccess, IdentityProvider, OidcProvider,
    PodIdentity, Query, QueryResult, is_generated_username,
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

type Reads = BTreeMap<Query, QueryResult>;

/// What exists, with its settings.
pub(super) fn resources(reads: &Reads) -> Resources {
    let all = reads.iter().filter_map(|(query, result)| one(query, result, reads));
    by_name(all.map(|(resource, settings)| (resource, fields(&settings))))
}

fn one(query: &Query, result: &QueryResult, reads: &Reads) -> Option<(String, Value)> {
    match (query, result) {
        (_, QueryResult::Cluster(it)) => it.as_deref().map(cluster),
        (_, QueryResult::Addon(it)) => it.as_deref().map(|it| addon(it, reads)),
        (_, QueryResult::AccessEntry(it)) => it.as_ref().map(entry),
        (Query::AccessPolicies { principal, .. }, QueryResult::AccessPolicies(all)) => {
            Some(policies(principal, all))
        }
        // A list has no roles.
        (Query::PodIdentity { .. }, QueryResult::PodIdentities(all)) => all.first().map(pod_identity),
        (_, QueryResult::OidcProvider(it)) => it.as_ref().map(oidc_provider),
        (_, QueryResult::IdentityProvider(it)) => it.as_deref().map(identity_provider),
        (
            _,
            QueryResult::AccessPolicies(_)
            | QueryResult::PodIdentities(_)
            | QueryResult::Names(_)
            | QueryResult::Update(_)
            | QueryResult::Insights(_)
            | QueryResult::InsightsRefresh(_)
            | QueryResult::Versions(_)
            | QueryResult::AddonReleases(_)
            | QueryResult::Schema(_)
            | QueryResult::Role(_)
            | QueryResult::InstanceProfile(_),
        ) => None,
    }
}

fn cluster(shown: &Cluster) -> (String, Value) {
    let Cluster {
        name,
        arn: _,
        status: _,
        version,
        platform_version: _,
        created: _,
        endpoint: _,
        certificate_authority: _,
        role_arn,
        vpc: _,
        placement,
        cluster_security_group: _,
        access,
        service_ipv4,
        service_ipv6: _,
        ip_family,
        oidc_issuer: _,
        authentication_mode,
        logging,
        encryption_key,
        upgrade_policy,
        zonal_shift,
        deletion_protection,
        scaling_tier,
        auto_mode,
        tags,
        health: _,
    } = shown;
    let ranges = access.sent_cidrs().cloned().unwrap_or_default();
    let access = EndpointAccess { public_cidrs: ranges, ..access.clone() };
    let settings = json!({
        "version": version,
        "role_arn": role_arn,
        "placement": placement,
        "access": access,
        "service_ipv4": service_ipv4,
        "ip_family": ip_family,
        "authentication_mode": authentication_mode,
        "logging": logging,
        "encryption_key": encryption_key,
        "upgrade_policy": upgrade_policy,
        "zonal_shift": zonal_shift,
        "deletion_protection": deletion_protection,
        "scaling_tier": scaling_tier,
        "auto_mode": auto_mode,
        "tags": tags,
    });
    (format!("cluster {name}"), settings)
}

fn addon(shown: &Addon, reads: &Reads) -> (String, Value) {
    let Addon { name, arn, version, status: _, issues: _, settings, pod_identities: _, tags } = shown;
    let AddonSettings { configuration, service_account_role } = settings;
    let settings = json!({
        "version": version,
        "settings": {
            "configuration": canonical_configuration(configuration.as_deref()),
            "service_account_role": service_account_role,
        },
        "pod_identities": roles(arn, reads),
        "tags": tags,
    });
    (format!("add-on {name}"), settings)
}

/// The role of each service account of an add-on, as far as it was read.
fn roles(addon: &str, reads: &Reads) -> Map<String, Value> {
    let lists = reads.iter().filter_map(|read| match read {
        (Query::PodIdentities(cluster), QueryResult::PodIdentities(all)) => Some((cluster, all)),
        _ => None,
    });
    let all = lists.flat_map(|(cluster, all)| all.iter().map(move |it| (cluster, it)));
    let own = all.filter(|(_, it)| it.owner_arn.as_deref() == Some(addon));
    let role = |(cluster, listed): (&String, &PodIdentity)| {
        let query = Query::PodIdentity { cluster: cluster.clone(), id: listed.id.clone() };
        let Some(QueryResult::PodIdentities(full)) = reads.get(&query) else { return None };
        Some((listed.service_account.clone(), json!(full.first()?.role_arn)))
    };
    own.filter_map(role).collect()
}

fn entry(shown: &AccessEntry) -> (String, Value) {
    let AccessEntry { principal, arn: _, kind, username, groups, tags, created: _ } = shown;
    // One that EKS generates is the same again in an entry that is created again.
    let username = (!is_generated_username(principal, username)).then_some(username);
    let settings = json!({ "type": kind, "username": username, "groups": groups, "tags": tags });
    (format!("access entry {principal}"), settings)
}

fn policies(principal: &str, all: &BTreeSet<AccessPolicy>) -> (String, Value) {
    let scopes: Map<String, Value> =
        all.iter().map(|AccessPolicy { arn, scope }| (arn.clone(), json!(scope))).collect();
    (format!("access policies of {principal}"), json!({ "policies": scopes }))
}

fn pod_identity(shown: &PodIdentity) -> (String, Value) {
    let PodIdentity { id, arn: _, namespace, service_account, role_arn, owner_arn: _, tags } = shown;
    let settings = json!({ "role_arn": role_arn, "tags": tags });
    (format!("pod identity association {id} of {namespace}/{service_account}"), settings)
}

fn identity_provider(shown: &IdentityProvider) -> (String, Value) {
    let IdentityProvider { name, arn: _, status: _, settings, tags } = shown;
    (format!("identity provider {name}"), json!({ "settings": settings, "tags": tags }))
}

fn oidc_provider(shown: &OidcProvider) -> (String, Value) {
    let OidcProvider { arn, url: _, client_ids, tags } = shown;
    (format!("OIDC provider {arn}"), json!({ "client_ids": client_ids, "tags": tags }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_model::eks::{AccessScope, AddonStatus, EntryKind};

    const CLUSTER: &str = "prod";

    fn association(id: &str, owner: Option<&str>, role: Option<&str>) -> PodIdentity {
        PodIdentity {
            id: id.to_owned(),
            arn: format!("arn:{id}"),
            namespace: "kube-system".to_owned(),
            service_account: "aws-node".to_owned(),
            role_arn: role.map(str::to_owned),
            owner_arn: owner.map(str::to_owned),
            tags: BTreeMap::new(),
        }
    }

    #[test]
    fn what_belongs_to_a_cluster_has_its_settings() {
        let cluster = || CLUSTER.to_owned();
        let addon = Addon {
            name: "vpc-cni".to_owned(),
            arn: "arn:addon".to_owned(),
            version: "v1".to_owned(),
            status: AddonStatus::Active,
            issues: Vec::new(),
            settings: AddonSettings {
                configuration: Some("{\"b\": 1, \"a\":2}".to_owned()),
                service_account_role: None,
            },
            pod_identities: ["arn:a-1".to_owned()].into(),
            tags: BTreeMap::new(),
        };
        let entry = AccessEntry {
            principal: "arn:aws:iam::1:role/my_role".to_owned(),
            arn: "arn:entry".to_owned(),
            kind: EntryKind::Standard,
            username: "user".to_owned(),
            groups: ["viewers".to_owned()].into(),
            tags: BTreeMap::new(),
            created: None,
        };
        let principal = entry.principal.clone();
        let policy = |arn: &str, scope| AccessPolicy { arn: arn.to_owned(), scope };
        let policies = BTreeSet::from([
            policy("arn:of_cluster", AccessScope::Cluster),
            policy("arn:of_some", AccessScope::Namespaces(["team-*".to_owned()].into())),
        ]);
        let of_addon = |role| association("a-1", Some("arn:addon"), role);
        let reads = Reads::from([
            (
                Query::Addon { cluster: cluster(), name: "vpc-cni".to_owned() },
                QueryResult::Addon(Some(Box::new(addon))),
            ),
            (
                Query::AccessEntry { cluster: cluster(), principal: principal.clone() },
                QueryResult::AccessEntry(Some(entry)),
            ),
            (Query::AccessPolicies { cluster: cluster(), principal }, QueryResult::AccessPolicies(policies)),
            (
                Query::PodIdentities(cluster()),
                QueryResult::PodIdentities(vec![of_addon(None), association("a-2", None, None)]),
            ),
            (
                Query::PodIdentity { cluster: cluster(), id: "a-1".to_owned() },
                QueryResult::PodIdentities(vec![of_addon(Some("arn:role"))]),
            ),
        ]);
        let found = resources(&reads);
        let shown: Vec<String> = found
            .iter()
            .flat_map(|(resource, shown)| {
                shown.settings.iter().map(move |(field, value)| format!("{resource}: {field} = {value}"))
            })
            .collect();
        let expected = [
            "access entry arn:aws:iam::1:role/my_role: groups = [\"viewers\"]",
            "access entry arn:aws:iam::1:role/my_role: type = \"STANDARD\"",
            "access entry arn:aws:iam::1:role/my_role: username = \"user\"",
            "access policies of arn:aws:iam::1:role/my_role: policies.arn:of_cluster.type = \"cluster\"",
            "access policies of arn:aws:iam::1:role/my_role: policies.arn:of_some.namespaces = [\"team-*\"]",
            "access policies of arn:aws:iam::1:role/my_role: policies.arn:of_some.type = \"namespace\"",
            "add-on vpc-cni: podIdentities.aws-node = \"arn:role\"",
            r#"add-on vpc-cni: settings.configuration = "{\"a\":2,\"b\":1}""#,
            "add-on vpc-cni: version = \"v1\"",
            "pod identity association a-1 of kube-system/aws-node: roleArn = \"arn:role\"",
        ];
        assert_eq!(shown, expected);
    }
}
