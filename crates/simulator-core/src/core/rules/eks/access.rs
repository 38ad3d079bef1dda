//! Access policies, and the Kubernetes identity that an access entry gives its principal (EKS User Guide, "Associate access
//! policies with access entries", "Review access policy permissions").

use super::entries::no_entry;
use crate::core::eks::identities::Association;
use crate::core::eks::policies::{ACCESS_POLICIES, policy_arn};
use crate::core::eks::principals::Principals;
use crate::core::eks::refusal::{invalid, not_found};
use crate::core::error::AwsResult;
use crate::core::region::Region;
use foo_model::Timestamp;
use foo_model::eks::{AccessPolicy, AccessScope, AuthenticationMode, EntryKind};
use std::collections::BTreeMap;
use std::time::Duration;

/// The identity of a caller in Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubernetesIdentity {
    /// The name, with its placeholders.
    pub username: String,
    /// The groups.
    pub groups: Vec<String>,
    /// The access policies that the API server knows, by ARN, with their scopes.
    pub policies: BTreeMap<String, Association>,
}

/// A user or role that the authenticator of a cluster accepts, with its user name and groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessMapping {
    /// Its ARN.
    pub principal: String,
    /// What identifies it in STS's responses: the unique id of a role, the name of a user.
    pub user_id: String,
    /// The name in Kubernetes, with its placeholders.
    pub username: String,
    /// The groups in Kubernetes.
    pub groups: Vec<String>,
}

impl Region {
    /// AssociateAccessPolicy; the same policy again gets another scope.
    ///
    /// # Errors
    /// EKS's refusals.
    pub fn associate_access_policy(
        &mut self,
        cluster: &str,
        principal: &str,
        policy: &AccessPolicy,
    ) -> AwsResult<Association> {
        let AccessPolicy { arn, scope } = policy;
        let (now, applies) = (self.now, self.policy_applies());
        let entries = &mut self.cluster_with_entries(cluster)?.entries;
        let entry = entries.get_mut(principal).ok_or_else(|| no_entry(principal))?;
        if !ACCESS_POLICIES.iter().any(|name| policy_arn(name) == *arn) {
            return Err(invalid(format!("The policyArn parameter format is not valid: {arn}")));
        }
        let takes = match entry.kind {
            EntryKind::Standard => true,
            EntryKind::Ec2 => *arn == policy_arn("AmazonEKSAutoNodePolicy"),
            EntryKind::Ec2Linux
            | EntryKind::Ec2Windows
            | EntryKind::FargateLinux
            | EntryKind::HybridLinux
            | EntryKind::HyperpodLinux => false,
        };
        if !takes {
            let kind: &str = entry.kind.into();
            return Err(invalid(format!(
                "Access policies cannot be associated with an entry of type {kind}."
            )));
        }
        if matches!(scope, AccessScope::Namespaces(names) if names.is_empty()) {
            return Err(invalid("Namespaces must be given for the type namespace."));
        }
        let there = entry.policies.get(arn);
        let (created, applies) = there.map_or((now, applies), |it| (it.created, it.applies));
        let association = Association { scope: scope.clone(), created, modified: now, applies };
        entry.policies.insert(arn.clone(), association.clone());
        Ok(association)
    }

    /// From when on a policy that is associated now is known to the cluster's API server.
    pub(super) fn policy_applies(&mut self) -> Timestamp {
        let (least, spread) =
            (self.settings.eks.policies_apply_after, self.settings.eks.policies_apply_spread);
        let millis = u64::try_from(spread.as_millis()).unwrap_or(u64::MAX);
        // Without a spread the stream of random numbers stays as it was.
        let more = if millis == 0 { 0 } else { self.eks.chance.below(millis.saturating_add(1)) };
        self.now.plus(least).plus(Duration::from_millis(more))
    }

    /// DisassociateAccessPolicy.
    ///
    /// # Errors
    /// The entry or the association is not there.
    pub fn disassociate_access_policy(
        &mut self,
        cluster: &str,
        principal: &str,
        policy: &str,
    ) -> AwsResult<()> {
        let entries = &mut self.cluster_with_entries(cluster)?.entries;
        let entry = entries.get_mut(principal).ok_or_else(|| no_entry(principal))?;
        let absent = || not_found(format!("The access policy {policy} is not associated with {principal}."));
        entry.policies.remove(policy).map(drop).ok_or_else(absent)
    }

    /// Who the caller with a role or user of this ARN is in Kubernetes. A role made again under the same name is another one than
    /// the entry was made for (terraform-aws-modules/terraform-aws-eks#3329).
    pub fn kubernetes_identity(
        &self,
        cluster: &str,
        principal: &str,
        unique_id: Option<&str>,
    ) -> Option<KubernetesIdentity> {
        let cluster = self.eks.cluster(cluster)?;
        if cluster.authentication == AuthenticationMode::ConfigMap {
            // Of what aws-auth holds only the creator's right is known here.
            let creator = cluster.creator_is_admin && cluster.creator == principal;
            return creator.then(|| KubernetesIdentity {
                username: "kubernetes-admin".to_owned(),
                groups: vec!["system:masters".to_owned()],
                policies: BTreeMap::new(),
            });
        }
        let entry = cluster.entries.get(principal)?;
        if entry.unique_id.as_deref().is_some_and(|own| Some(own) != unique_id) {
            return None;
        }
        Some(KubernetesIdentity {
            username: entry.username.clone(),
            groups: entry.groups.clone(),
            policies: entry.policies_at(self.now),
        })
    }

    /// The users and roles that the authenticator of a cluster accepts. A deleted role does not count, nor does a later
    /// role of its name.
    pub fn access_mappings(&self, cluster: &str, principals: &Principals) -> Vec<AccessMapping> {
        let Some(cluster) = self.eks.cluster(cluster) else { return Vec::new() };
        let ids: Vec<(&String, Option<String>)> = if cluster.authentication == AuthenticationMode::ConfigMap {
            let of_role = principals.role(&cluster.creator).map(|role| role.unique_id);
            vec![(&cluster.creator, of_role)]
        } else {
            cluster.entries.values().map(|entry| (&entry.principal, entry.unique_id.clone())).collect()
        };
        let mapping = |(principal, of_role): (&String, Option<String>)| {
            let identity = self.kubernetes_identity(&cluster.name, principal, of_role.as_deref())?;
            let name = || principal.rsplit('/').next().map(str::to_owned);
            let user_id = if principals.is_user(principal) { name() } else { of_role }?;
            let KubernetesIdentity { username, groups, .. } = identity;
            Some(AccessMapping { principal: principal.clone(), user_id, username, groups })
        };
        ids.into_iter().filter_map(mapping).collect()
    }
}
