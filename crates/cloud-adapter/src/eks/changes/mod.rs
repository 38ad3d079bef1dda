//! Changes: one call each, sent once unless it carries a token.

mod access;
mod addons;
mod calls;
mod clusters;

use crate::AwsCloud;
use foo_cloud::{NewOidcProvider, Result, Roles as _};
use foo_model::eks::{Change, Changed};

/// Sends a change; the answer has what is worth knowing of AWS's. One table of all changes, hence its length.
pub(super) async fn send(cloud: &AwsCloud, change: &Change) -> Result<Changed> {
    use Change as C;
    let (once, with_token) = (&cloud.eks.once, &cloud.eks.repeating);
    match change {
        C::CreateCluster { cluster, token } => clusters::create(with_token, cluster, token).await,
        C::UpdateClusterVersion { cluster, version, force, token } => {
            clusters::update_version(with_token, cluster, *version, *force, token).await
        }
        C::UpdateClusterConfig { cluster, update, token } => {
            clusters::update_config(with_token, cluster, update, token).await
        }
        C::AssociateEncryptionConfig { cluster, key, token } => {
            clusters::encrypt(with_token, cluster, key, token).await
        }
        C::DeleteCluster { cluster } => clusters::delete(once, cluster).await,
        C::StartInsightsRefresh { cluster } => clusters::refresh_insights(once, cluster).await,
        C::TagResource { arn, tags } => clusters::tag(once, arn, tags).await,
        C::UntagResource { arn, keys } => clusters::untag(once, arn, keys).await,

        C::CreateAddon { cluster, addon, token } => addons::create(with_token, cluster, addon, token).await,
        C::UpdateAddon { cluster, addon, token } => addons::update(with_token, cluster, addon, token).await,
        C::DeleteAddon { cluster, name, preserve } => addons::delete(once, cluster, name, *preserve).await,
        C::CreatePodIdentityAssociation { cluster, namespace, service_account, role_arn, tags, token } => {
            let bound = addons::Bound { cluster, namespace, service_account, role_arn };
            addons::bind(with_token, bound, tags, token).await
        }
        C::UpdatePodIdentityAssociation { cluster, id, role_arn, token } => {
            addons::rebind(with_token, cluster, id, role_arn, token).await
        }
        C::DeletePodIdentityAssociation { cluster, id } => addons::unbind(once, cluster, id).await,

        C::CreateAccessEntry { cluster, principal, kind, username, groups, tags, token } => {
            let entry =
                access::New { cluster, principal, kind: *kind, username: username.as_deref(), groups };
            access::create(with_token, entry, tags, token).await
        }
        C::UpdateAccessEntry { cluster, principal, username, groups, token } => {
            access::update(with_token, (cluster, principal), username.as_deref(), groups, token).await
        }
        C::DeleteAccessEntry { cluster, principal } => access::delete(once, cluster, principal).await,
        C::AssociateAccessPolicy { cluster, principal, policy } => {
            access::associate(once, cluster, principal, policy).await
        }
        C::DisassociateAccessPolicy { cluster, principal, policy } => {
            access::disassociate(once, cluster, principal, policy).await
        }

        C::CreateOpenIDConnectProvider { url, client_ids, tags } => {
            let provider =
                NewOidcProvider { url: url.clone(), clients: client_ids.clone(), tags: tags.clone() };
            let id = Some(cloud.create_oidc_provider(&provider).await?);
            Ok(Changed { id, ..Changed::default() })
        }
        C::DeleteOpenIDConnectProvider { arn } => {
            cloud.delete_oidc_provider(arn).await.map(|()| Changed::default())
        }
    }
}
