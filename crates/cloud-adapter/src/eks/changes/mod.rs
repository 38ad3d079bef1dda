//! Changes: one call each, sent once unless it carries a token.

mod access;
mod addons;
mod calls;
mod clusters;

pub(super) use calls::incomplete;

use crate::AwsCloud;
use foo_cloud::{Result, Roles as _};
use foo_model::eks::{
    AddonChange, Change, Changed, ClusterChange, EntryChange, OidcChange, PodIdentityChange, TagChange,
};

/// Sends a change; returns what the caller needs of AWS's response.
pub(super) async fn send(cloud: &AwsCloud, change: &Change, token: Option<&str>) -> Result<Changed> {
    let eks = if token.is_some() { &cloud.eks.repeating } else { &cloud.eks.once };
    match change {
        Change::Cluster { cluster, change } => match change {
            ClusterChange::Create(new) => clusters::create(eks, cluster, new, token).await,
            ClusterChange::UpdateVersion { version, force } => {
                clusters::update_version(eks, cluster, *version, *force, token).await
            }
            ClusterChange::UpdateConfig(update) => clusters::update_config(eks, cluster, update, token).await,
            ClusterChange::Encrypt(key) => clusters::encrypt(eks, cluster, key, token).await,
            ClusterChange::AssociateIdentityProvider(new) => {
                access::associate_provider(eks, cluster, new, token).await
            }
            ClusterChange::DisassociateIdentityProvider(name) => {
                access::disassociate_provider(eks, cluster, name, token).await
            }
            ClusterChange::RefreshInsights => clusters::refresh_insights(eks, cluster).await,
            ClusterChange::Delete => clusters::delete(eks, cluster).await,
        },
        Change::Addon { cluster, name, change } => match change {
            AddonChange::Create(new, tags) => addons::create(eks, cluster, name, new, tags, token).await,
            AddonChange::Update(new) => addons::update(eks, cluster, name, new, token).await,
            AddonChange::Delete { preserve } => addons::delete(eks, cluster, name, *preserve).await,
        },
        Change::Entry { cluster, principal, change } => match change {
            EntryChange::Create(new) => access::create(eks, cluster, principal, new, token).await,
            EntryChange::Update { username, groups } => {
                access::update(eks, (cluster, principal), username.as_deref(), groups.as_ref(), token).await
            }
            EntryChange::Delete => access::delete(eks, cluster, principal).await,
            EntryChange::Associate(policy) => access::associate(eks, cluster, principal, policy).await,
            EntryChange::Disassociate(policy) => access::disassociate(eks, cluster, principal, policy).await,
        },
        Change::PodIdentity { cluster, change } => match change {
            PodIdentityChange::Create(new) => addons::bind(eks, cluster, new, token).await,
            PodIdentityChange::Update { id, role_arn } => {
                addons::rebind(eks, cluster, id, role_arn, token).await
            }
            PodIdentityChange::Delete { id } => addons::unbind(eks, cluster, id).await,
        },
        Change::Tags { arn, change } => match change {
            TagChange::Tag(tags) => clusters::tag(eks, arn, tags).await,
            TagChange::Untag(keys) => clusters::untag(eks, arn, keys).await,
        },
        Change::Oidc(OidcChange::Create(provider)) => {
            let id = Some(cloud.create_oidc_provider(provider).await?);
            Ok(Changed { id, ..Changed::default() })
        }
        Change::Oidc(OidcChange::Delete { arn }) => {
            cloud.delete_oidc_provider(arn).await.map(|()| Changed::default())
        }
    }
}
