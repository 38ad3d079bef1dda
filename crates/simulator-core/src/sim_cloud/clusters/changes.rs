//! Changes, as EKS's own calls make them.

use super::to_model::{self, of_iam};
use crate::core::Region;
use crate::core::eks::Principals;
use crate::core::eks::cluster::{Cluster, Update};
use crate::core::error::AwsResult;
use crate::core::rules::eks::PodSession;
use crate::iam::ask::ask;
use crate::iam::policy::Verdict;
use crate::iam::refusals;
use crate::service::Service;
use foo_model::eks::{
    AddonChange, Change, Changed, ClusterChange, ConfigUpdate, EndpointAccess, EntryChange, NewCluster,
    PodIdentityChange, TagChange,
};

/// One call of EKS by the caller with this ARN.
pub(super) fn carry_out(
    region: &mut Region,
    principals: &Principals,
    caller: &str,
    change: &Change,
    token: Option<&str>,
) -> AwsResult<Changed> {
    may_use_key(region, caller, change)?;
    match change {
        Change::Cluster { cluster, change } => match change {
            ClusterChange::Create(new) => {
                let new = NewCluster { access: sent(&new.access), ..new.as_ref().clone() };
                let made = region.create_cluster(cluster, &new, token, caller, principals)?;
                Ok(shown(region, &made))
            }
            ClusterChange::UpdateVersion { version, force } => {
                began(region.update_cluster_version(cluster, *version, *force, token))
            }
            ClusterChange::UpdateConfig(update) => {
                let sent = match update {
                    ConfigUpdate::Access(access) => ConfigUpdate::Access(sent(access)),
                    other => other.clone(),
                };
                began(region.update_cluster_config(cluster, update, |_| Ok(sent), token))
            }
            ClusterChange::Encrypt(key) => began(region.associate_encryption(cluster, key, token)),
            ClusterChange::AssociateIdentityProvider(new) => {
                began(region.associate_identity_provider(cluster, new, token))
            }
            ClusterChange::DisassociateIdentityProvider(name) => {
                began(region.disassociate_identity_provider(cluster, name, token))
            }
            ClusterChange::RefreshInsights => done(region.refresh_insights(cluster)),
            ClusterChange::Delete => {
                let deleted = region.delete_cluster(cluster)?;
                Ok(shown(region, &deleted))
            }
        },
        Change::Addon { cluster, name, change } => match change {
            AddonChange::Create(new, tags) => {
                done(region.create_addon(cluster, name, new, tags, token, principals))
            }
            AddonChange::Update(new) => began(region.update_addon(cluster, name, new, token, principals)),
            AddonChange::Delete { preserve } => done(region.delete_addon(cluster, name, *preserve)),
        },
        Change::Entry { cluster, principal, change } => match change {
            EntryChange::Create(new) => {
                done(region.create_access_entry(cluster, principal, new, token, principals))
            }
            EntryChange::Update { username, groups } => {
                done(region.update_access_entry(cluster, principal, username.as_deref(), groups.as_ref()))
            }
            EntryChange::Delete => done(region.delete_access_entry(cluster, principal)),
            EntryChange::Associate(policy) => {
                done(region.associate_access_policy(cluster, principal, policy))
            }
            EntryChange::Disassociate(policy) => {
                done(region.disassociate_access_policy(cluster, principal, policy))
            }
        },
        Change::PodIdentity { cluster, change } => match change {
            PodIdentityChange::Create(new) => {
                let session = PodSession::default();
                let made = region.create_pod_identity(cluster, new, &session, token, principals)?;
                Ok(Changed { id: Some(made.id), ..Changed::default() })
            }
            PodIdentityChange::Update { id, role_arn } => {
                let session = PodSession::default();
                done(region.update_pod_identity(cluster, id, Some(role_arn), &session, principals))
            }
            PodIdentityChange::Delete { id } => done(region.delete_pod_identity(cluster, id)),
        },
        Change::Tags { arn, change } => match change {
            TagChange::Tag(tags) => done(region.tag_eks_resource(arn, tags)),
            TagChange::Untag(keys) => {
                done(region.untag_eks_resource(arn, &keys.iter().cloned().collect::<Vec<_>>()))
            }
        },
        Change::Oidc(_) => Err(of_iam()),
    }
}

/// The manager's policy has no right to a key, which is in the key's policy or in one of the user's: an in-process cloud has no policy, and
/// gets the refusal of a caller with that one.
fn may_use_key(region: &Region, caller: &str, change: &Change) -> AwsResult<()> {
    let Change::Cluster { change, .. } = change else { return Ok(()) };
    let key = match change {
        ClusterChange::Create(new) => new.encryption_key.as_ref(),
        ClusterChange::Encrypt(key) => Some(key),
        ClusterChange::UpdateVersion { .. }
        | ClusterChange::UpdateConfig(_)
        | ClusterChange::AssociateIdentityProvider(_)
        | ClusterChange::DisassociateIdentityProvider(_)
        | ClusterChange::RefreshInsights
        | ClusterChange::Delete => None,
    };
    match key.filter(|_| region.settings.eks.keys_need_rights) {
        Some(key) => {
            let asked = ask("kms:DescribeKey".to_owned(), key);
            Err(refusals::denied(&asked, Verdict::NotAllowed, Service::Eks, caller))
        }
        None => Ok(()),
    }
}

/// As the adapter sends it.
fn sent(access: &EndpointAccess) -> EndpointAccess {
    EndpointAccess { public_cidrs: access.sent_cidrs().cloned().unwrap_or_default(), ..access.clone() }
}

fn done<T>(outcome: AwsResult<T>) -> AwsResult<Changed> {
    outcome.map(|_| Changed::default())
}

fn began(update: AwsResult<Update>) -> AwsResult<Changed> {
    Ok(Changed { update: Some(to_model::update(&update?)), ..Changed::default() })
}

fn shown(region: &Region, cluster: &Cluster) -> Changed {
    Changed { cluster: Some(Box::new(to_model::cluster(region, cluster))), ..Changed::default() }
}
