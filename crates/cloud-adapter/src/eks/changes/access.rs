//! Changes of access entries and their policies, and of identity providers.

use super::calls::{began, done, incomplete, received, tagged};
use crate::eks::shapes;
use aws_sdk_eks::Client;
use aws_sdk_eks::types as aws;
use foo_cloud::{Operation, Result};
use foo_model::eks::{
    AccessPolicy, AccessScope, Changed, IdentityProviderSettings, NewEntry, NewIdentityProvider,
};
use std::collections::BTreeSet;

/// No groups are not sent: entries of types other than STANDARD refuse the field.
pub(super) async fn create(
    eks: &Client,
    cluster: &str,
    principal: &str,
    new: &NewEntry,
    token: Option<&str>,
) -> Result<Changed> {
    let NewEntry { kind, username, groups, tags } = new;
    let groups = Some(groups).filter(|groups| !groups.is_empty());
    let call = eks
        .create_access_entry()
        .cluster_name(cluster)
        .principal_arn(principal)
        .r#type(<&str>::from(*kind))
        .set_username(username.clone())
        .set_kubernetes_groups(groups.map(|groups| groups.iter().cloned().collect()))
        .set_tags(tagged(tags))
        .set_client_request_token(token.map(str::to_owned));
    done(Operation::CreateAccessEntry, call.send().await)
}

/// An empty list takes the groups away.
pub(super) async fn update(
    eks: &Client,
    (cluster, principal): (&str, &str),
    username: Option<&str>,
    groups: Option<&BTreeSet<String>>,
    token: Option<&str>,
) -> Result<Changed> {
    let call = eks
        .update_access_entry()
        .cluster_name(cluster)
        .principal_arn(principal)
        .set_username(username.map(str::to_owned))
        .set_kubernetes_groups(groups.map(|groups| groups.iter().cloned().collect()))
        .set_client_request_token(token.map(str::to_owned));
    done(Operation::UpdateAccessEntry, call.send().await)
}

pub(super) async fn delete(eks: &Client, cluster: &str, principal: &str) -> Result<Changed> {
    let call = eks.delete_access_entry().cluster_name(cluster).principal_arn(principal);
    done(Operation::DeleteAccessEntry, call.send().await)
}

pub(super) async fn associate(
    eks: &Client,
    cluster: &str,
    principal: &str,
    policy: &AccessPolicy,
) -> Result<Changed> {
    let scope = match &policy.scope {
        AccessScope::Cluster => aws::AccessScope::builder().r#type(aws::AccessScopeType::Cluster),
        AccessScope::Namespaces(names) => aws::AccessScope::builder()
            .r#type(aws::AccessScopeType::Namespace)
            .set_namespaces(Some(names.iter().cloned().collect())),
    };
    let call = eks.associate_access_policy().cluster_name(cluster).principal_arn(principal);
    let call = call.policy_arn(&policy.arn).access_scope(scope.build());
    done(Operation::AssociateAccessPolicy, call.send().await)
}

/// What is not set is not sent: EKS has defaults of its own.
pub(super) async fn associate_provider(
    eks: &Client,
    cluster: &str,
    new: &NewIdentityProvider,
    token: Option<&str>,
) -> Result<Changed> {
    const OPERATION: Operation = Operation::AssociateIdentityProviderConfig;
    let NewIdentityProvider { name, settings, tags } = new;
    let IdentityProviderSettings {
        issuer_url,
        client_id,
        username_claim,
        username_prefix,
        groups_claim,
        groups_prefix,
        required_claims,
    } = settings.clone();
    let oidc = aws::OidcIdentityProviderConfigRequest::builder()
        .identity_provider_config_name(name)
        .issuer_url(issuer_url)
        .client_id(client_id)
        .set_username_claim(username_claim)
        .set_username_prefix(username_prefix)
        .set_groups_claim(groups_claim)
        .set_groups_prefix(groups_prefix)
        .set_required_claims(tagged(&required_claims))
        .build()
        .map_err(|why| incomplete(OPERATION, &why))?;
    let call = eks.associate_identity_provider_config().cluster_name(cluster).oidc(oidc);
    let call = call.set_tags(tagged(tags)).set_client_request_token(token.map(str::to_owned));
    began(OPERATION, received(OPERATION, call.send().await)?.update())
}

pub(super) async fn disassociate_provider(
    eks: &Client,
    cluster: &str,
    name: &str,
    token: Option<&str>,
) -> Result<Changed> {
    const OPERATION: Operation = Operation::DisassociateIdentityProviderConfig;
    let named = shapes::named(name).map_err(|why| incomplete(OPERATION, &why))?;
    let call = eks.disassociate_identity_provider_config().cluster_name(cluster);
    let call = call.identity_provider_config(named).set_client_request_token(token.map(str::to_owned));
    began(OPERATION, received(OPERATION, call.send().await)?.update())
}

pub(super) async fn disassociate(
    eks: &Client,
    cluster: &str,
    principal: &str,
    policy: &str,
) -> Result<Changed> {
    let call = eks.disassociate_access_policy().cluster_name(cluster).principal_arn(principal);
    done(Operation::DisassociateAccessPolicy, call.policy_arn(policy).send().await)
}
