//! Access entries (EKS User Guide, "Grant IAM users access to Kubernetes with EKS access entries").

use super::tags::check_tags;
use crate::core::eks::cluster::Cluster;
use crate::core::eks::identities::{AccessEntry, Association};
use crate::core::eks::policies::policy_arn;
use crate::core::eks::principals::Principals;
use crate::core::eks::refusal::{in_use, invalid, not_found, too_many, wrong_state};
use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use foo_model::eks::{AccessScope, AuthenticationMode, EntryKind, NewEntry};
use foo_model::network::Tags;
use std::collections::{BTreeMap, BTreeSet};

/// How names and groups of one's own must not begin.
const RESERVED: [&str; 5] = ["system:", "eks:", "aws:", "amazon:", "iam:"];

pub(super) fn no_entry(principal: &str) -> AwsError {
    not_found(format!("The specified principalArn could not be found on this cluster: {principal}."))
}

/// The name that EKS gives (EKS API Reference, CreateAccessEntry, `username`).
fn generated(kind: EntryKind, principal: &str) -> String {
    let role = principal.strip_prefix("arn:aws:iam::").and_then(|rest| rest.split_once(":role/"));
    let session = || match role {
        Some((account, path)) => {
            let name = path.rsplit('/').next().unwrap_or(path);
            format!("arn:aws:sts::{account}:assumed-role/{name}/{{{{SessionName}}}}")
        }
        None => principal.to_owned(),
    };
    match kind {
        EntryKind::Standard => session(),
        EntryKind::Ec2Linux | EntryKind::Ec2Windows => "system:node:{{EC2PrivateDNSName}}".to_owned(),
        EntryKind::FargateLinux | EntryKind::Ec2 | EntryKind::HybridLinux | EntryKind::HyperpodLinux => {
            "system:node:{{SessionName}}".to_owned()
        }
    }
}

/// The groups that EKS gives.
fn generated_groups(kind: EntryKind) -> Vec<String> {
    let groups: &[&str] = match kind {
        EntryKind::Standard => &[],
        EntryKind::Ec2Windows => &["system:nodes", "eks:kube-proxy-windows"],
        EntryKind::FargateLinux => &["system:bootstrappers", "system:nodes", "system:node-proxier"],
        EntryKind::Ec2Linux | EntryKind::Ec2 | EntryKind::HybridLinux | EntryKind::HyperpodLinux => {
            &["system:nodes"]
        }
    };
    groups.iter().map(|group| (*group).to_owned()).collect()
}

/// A name of the caller's own; an empty one is generated.
fn own_name(
    kind: EntryKind,
    username: Option<&str>,
    groups: Option<&BTreeSet<String>>,
) -> AwsResult<Option<String>> {
    let username = username.filter(|name| !name.is_empty());
    if kind != EntryKind::Standard && (username.is_some() || groups.is_some_and(|groups| !groups.is_empty()))
    {
        let kind: &str = kind.into();
        return Err(invalid(format!("The username and kubernetesGroups cannot be set for type {kind}.")));
    }
    let reserved = |text: &str| RESERVED.into_iter().find(|prefix| text.starts_with(prefix));
    if let Some(prefix) = username.and_then(reserved) {
        return Err(invalid(format!("The username must not begin with {prefix}")));
    }
    for group in groups.into_iter().flatten() {
        if let Some(prefix) = reserved(group) {
            return Err(invalid(format!(
                "The kubernetes group name {group} is invalid, it cannot start with {prefix}"
            )));
        }
    }
    Ok(username.map(str::to_owned))
}

impl Region {
    /// A cluster whose authentication mode knows access entries.
    pub(super) fn cluster_with_entries(&mut self, name: &str) -> AwsResult<&mut Cluster> {
        let cluster = self.cluster_to_change(name)?;
        check_mode(cluster)?;
        Ok(cluster)
    }

    /// CreateAccessEntry.
    ///
    /// # Errors
    /// EKS's refusals.
    pub fn create_access_entry(
        &mut self,
        cluster: &str,
        principal: &str,
        new: &NewEntry,
        token: Option<&str>,
        principals: &Principals,
    ) -> AwsResult<AccessEntry> {
        const ACTION: &str = "CreateAccessEntry";
        let NewEntry { kind, username, groups, tags } = new;
        let (kind, request) = (*kind, &(principal, new));
        self.cluster_with_entries(cluster)?;
        if let Some(made) = self.eks.tokens.made_before(ACTION, cluster, token, request)?
            && let Some(entry) = self.known_cluster(cluster)?.entries.get(&made)
        {
            return Ok(entry.clone());
        }
        let unique_id = self.entry_principal(principal, kind, principals)?;
        let username = own_name(kind, username.as_deref(), Some(groups))?;
        check_tags(tags)?;
        let quota = usize::try_from(self.settings.eks.access_entries).unwrap_or(usize::MAX);
        let of = self.known_cluster(cluster)?;
        if of.entries.contains_key(principal) {
            return Err(in_use("The specified access entry resource is already in use on this cluster."));
        }
        if of.entries.len() >= quota {
            return Err(too_many("The maximum number of access entries has been reached."));
        }
        let mut entry = self.new_entry(cluster, principal, kind, unique_id);
        entry.username = username.unwrap_or(entry.username);
        if kind == EntryKind::Standard {
            entry.groups = groups.iter().cloned().collect();
        }
        entry.tags.clone_from(tags);
        self.cluster_to_change(cluster)?.entries.insert(principal.to_owned(), entry.clone());
        self.eks.tokens.remember(ACTION, cluster, token, request, principal);
        Ok(entry)
    }

    /// Who an entry is for: its unique id if it is a role.
    fn entry_principal(
        &self,
        principal: &str,
        kind: EntryKind,
        principals: &Principals,
    ) -> AwsResult<Option<String>> {
        if principal.contains(":role/aws-service-role/") {
            return Err(invalid(
                "The caller is not allowed to modify access entries with a principalArn value of a Service Linked Role",
            ));
        }
        if let Some(role) = self.known_role(principal, principals) {
            return Ok(Some(role.unique_id));
        }
        if kind == EntryKind::Standard && principals.is_user(principal) {
            return Ok(None);
        }
        Err(invalid("The specified principalArn is invalid: invalid principal."))
    }

    fn new_entry(
        &mut self,
        cluster: &str,
        principal: &str,
        kind: EntryKind,
        unique_id: Option<String>,
    ) -> AccessEntry {
        let short = principal.rsplit(':').next().unwrap_or_default();
        let (what, name) = short.split_once('/').unwrap_or(("role", short));
        let name = name.rsplit('/').next().unwrap_or(name);
        let uuid = self.eks.chance.uuid();
        AccessEntry {
            arn: format!(
                "arn:aws:eks:{}:{}:access-entry/{cluster}/{what}/{}/{name}/{uuid}",
                self.name, self.account, self.account
            ),
            principal: principal.to_owned(),
            unique_id,
            kind,
            username: generated(kind, principal),
            groups: generated_groups(kind),
            created: self.now,
            modified: self.now,
            tags: Tags::new(),
            policies: BTreeMap::new(),
        }
    }

    /// The entry of a cluster's creator, with every right.
    pub(super) fn add_creator_entry(&mut self, cluster: &mut Cluster, unique_id: Option<String>) {
        let creator = cluster.creator.clone();
        if cluster.entries.contains_key(&creator) {
            return;
        }
        let mut entry = self.new_entry(&cluster.name, &creator, EntryKind::Standard, unique_id);
        let applies = self.policy_applies();
        let admin =
            Association { scope: AccessScope::Cluster, created: self.now, modified: self.now, applies };
        entry.policies.insert(policy_arn("AmazonEKSClusterAdminPolicy"), admin);
        cluster.entries.insert(creator, entry);
    }

    /// UpdateAccessEntry. An empty name becomes the generated one again.
    ///
    /// # Errors
    /// EKS's refusals.
    pub fn update_access_entry(
        &mut self,
        cluster: &str,
        principal: &str,
        username: Option<&str>,
        groups: Option<&BTreeSet<String>>,
    ) -> AwsResult<AccessEntry> {
        let now = self.now;
        let entries = &mut self.cluster_with_entries(cluster)?.entries;
        let entry = entries.get_mut(principal).ok_or_else(|| no_entry(principal))?;
        let name = own_name(entry.kind, username, groups)?;
        if username.is_some() {
            entry.username = name.unwrap_or_else(|| generated(entry.kind, principal));
        }
        if let Some(groups) = groups
            && entry.kind == EntryKind::Standard
        {
            entry.groups = groups.iter().cloned().collect();
        }
        entry.modified = now;
        Ok(entry.clone())
    }

    /// DeleteAccessEntry: the policies that are associated with it go with it.
    ///
    /// # Errors
    /// There is none.
    pub fn delete_access_entry(&mut self, cluster: &str, principal: &str) -> AwsResult<()> {
        let removed = self.cluster_with_entries(cluster)?.entries.remove(principal);
        removed.map(drop).ok_or_else(|| no_entry(principal))
    }

    /// An access entry, as DescribeAccessEntry sees it.
    ///
    /// # Errors
    /// There is none, or the cluster's mode knows none.
    pub fn access_entry_seen(&self, cluster: &str, principal: &str) -> AwsResult<&AccessEntry> {
        let cluster = self.cluster_seen(cluster)?;
        check_mode(cluster)?;
        cluster.entries.get(principal).ok_or_else(|| no_entry(principal))
    }

    /// The principals of all access entries, or of those with a policy.
    ///
    /// # Errors
    /// The cluster is not there, or its mode knows no entries.
    pub fn access_entries_seen(&self, cluster: &str, policy: Option<&str>) -> AwsResult<Vec<String>> {
        let cluster = self.cluster_seen(cluster)?;
        check_mode(cluster)?;
        let with = |entry: &&AccessEntry| policy.is_none_or(|policy| entry.policies.contains_key(policy));
        Ok(cluster.entries.values().filter(with).map(|entry| entry.principal.clone()).collect())
    }
}

fn check_mode(cluster: &Cluster) -> AwsResult<()> {
    if cluster.authentication != AuthenticationMode::ConfigMap {
        return Ok(());
    }
    Err(wrong_state(
        "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation.",
    ))
}
