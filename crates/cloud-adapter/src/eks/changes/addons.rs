//! Changes of add-ons, and of what pods may do in AWS.

use super::calls::{answered, began, done, incomplete, tagged};
use crate::error::Gap;
use aws_sdk_eks::Client;
use aws_sdk_eks::types as aws;
use foo_cloud::{Operation, Result};
use foo_model::eks::{Changed, NewAddon, ResolveConflicts};
use foo_model::network::Tags;

pub(super) async fn create(eks: &Client, cluster: &str, addon: &NewAddon, token: &str) -> Result<Changed> {
    const OPERATION: Operation = Operation::CreateAddon;
    let call = eks
        .create_addon()
        .cluster_name(cluster)
        .addon_name(&addon.name)
        .addon_version(&addon.version)
        .set_configuration_values(addon.configuration.clone())
        .set_service_account_role_arn(addon.service_account_role.clone())
        .set_pod_identity_associations(associations(OPERATION, addon)?)
        .resolve_conflicts(conflicts(addon.conflicts))
        .set_tags(tagged(&addon.tags))
        .client_request_token(token);
    done(OPERATION, call.send().await)
}

pub(super) async fn update(eks: &Client, cluster: &str, addon: &NewAddon, token: &str) -> Result<Changed> {
    const OPERATION: Operation = Operation::UpdateAddon;
    let call = eks
        .update_addon()
        .cluster_name(cluster)
        .addon_name(&addon.name)
        .addon_version(&addon.version)
        .set_configuration_values(addon.configuration.clone())
        .set_service_account_role_arn(addon.service_account_role.clone())
        .set_pod_identity_associations(associations(OPERATION, addon)?)
        .resolve_conflicts(conflicts(addon.conflicts))
        .client_request_token(token);
    began(OPERATION, answered(OPERATION, call.send().await)?.update())
}

pub(super) async fn delete(eks: &Client, cluster: &str, name: &str, preserve: bool) -> Result<Changed> {
    let call = eks.delete_addon().cluster_name(cluster).addon_name(name).preserve(preserve);
    done(Operation::DeleteAddon, call.send().await)
}

/// What an association binds.
pub(super) struct Bound<'a> {
    pub(super) cluster: &'a str,
    pub(super) namespace: &'a str,
    pub(super) service_account: &'a str,
    pub(super) role_arn: &'a str,
}

pub(super) async fn bind(eks: &Client, bound: Bound<'_>, tags: &Tags, token: &str) -> Result<Changed> {
    const OPERATION: Operation = Operation::CreatePodIdentityAssociation;
    let call = eks
        .create_pod_identity_association()
        .cluster_name(bound.cluster)
        .namespace(bound.namespace)
        .service_account(bound.service_account)
        .role_arn(bound.role_arn)
        .set_tags(tagged(tags))
        .client_request_token(token);
    let answer = answered(OPERATION, call.send().await)?;
    let id = answer.association().and_then(aws::PodIdentityAssociation::association_id);
    let id = id.ok_or_else(|| Gap("associationId").during(OPERATION))?;
    Ok(Changed { id: Some(id.to_owned()), ..Changed::default() })
}

pub(super) async fn rebind(
    eks: &Client,
    cluster: &str,
    id: &str,
    role_arn: &str,
    token: &str,
) -> Result<Changed> {
    let call = eks.update_pod_identity_association().cluster_name(cluster).association_id(id);
    let call = call.role_arn(role_arn).client_request_token(token);
    done(Operation::UpdatePodIdentityAssociation, call.send().await)
}

pub(super) async fn unbind(eks: &Client, cluster: &str, id: &str) -> Result<Changed> {
    let call = eks.delete_pod_identity_association().cluster_name(cluster).association_id(id);
    done(Operation::DeletePodIdentityAssociation, call.send().await)
}

/// The add-on's own associations. An empty list takes them away, none leaves them.
fn associations(
    operation: Operation,
    addon: &NewAddon,
) -> Result<Option<Vec<aws::AddonPodIdentityAssociations>>> {
    let Some(wanted) = &addon.pod_identities else { return Ok(None) };
    let association = |(account, role): &(String, String)| {
        aws::AddonPodIdentityAssociations::builder().service_account(account).role_arn(role).build()
    };
    let all: Result<Vec<_>, _> = wanted.iter().map(association).collect();
    all.map(Some).map_err(|error| incomplete(operation, &error))
}

fn conflicts(resolve: ResolveConflicts) -> aws::ResolveConflicts {
    match resolve {
        ResolveConflicts::None => aws::ResolveConflicts::None,
        ResolveConflicts::Overwrite => aws::ResolveConflicts::Overwrite,
        ResolveConflicts::Preserve => aws::ResolveConflicts::Preserve,
    }
}
