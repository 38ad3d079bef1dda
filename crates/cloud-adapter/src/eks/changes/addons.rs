//! Changes of add-ons, and of what pods may do in AWS.

use super::calls::{began, done, incomplete, received, tagged};
use crate::error::Gap;
use aws_sdk_eks::Client;
use aws_sdk_eks::types as aws;
use foo_cloud::{Operation, Result};
use foo_model::eks::{AddonSettings, Changed, NewAddon, NewPodIdentity, ResolveConflicts};
use foo_model::network::Tags;
use std::collections::BTreeMap;

pub(super) async fn create(
    eks: &Client,
    cluster: &str,
    name: &str,
    new: &NewAddon,
    tags: &Tags,
    token: Option<&str>,
) -> Result<Changed> {
    const OPERATION: Operation = Operation::CreateAddon;
    let NewAddon { version, settings, pod_identities, conflicts } = new;
    let AddonSettings { configuration, service_account_role } = settings.clone();
    let call = eks
        .create_addon()
        .cluster_name(cluster)
        .addon_name(name)
        .set_addon_version(version.clone())
        .set_configuration_values(configuration)
        .set_service_account_role_arn(service_account_role)
        .set_pod_identity_associations(associations(OPERATION, pod_identities.as_ref())?)
        .resolve_conflicts(resolve(*conflicts))
        .set_tags(tagged(tags))
        .set_client_request_token(token.map(str::to_owned));
    done(OPERATION, call.send().await)
}

pub(super) async fn update(
    eks: &Client,
    cluster: &str,
    name: &str,
    new: &NewAddon,
    token: Option<&str>,
) -> Result<Changed> {
    const OPERATION: Operation = Operation::UpdateAddon;
    let NewAddon { version, settings, pod_identities, conflicts } = new;
    let AddonSettings { configuration, service_account_role } = settings.clone();
    let call = eks
        .update_addon()
        .cluster_name(cluster)
        .addon_name(name)
        .set_addon_version(version.clone())
        .set_configuration_values(configuration)
        .set_service_account_role_arn(service_account_role)
        .set_pod_identity_associations(associations(OPERATION, pod_identities.as_ref())?)
        .resolve_conflicts(resolve(*conflicts))
        .set_client_request_token(token.map(str::to_owned));
    began(OPERATION, received(OPERATION, call.send().await)?.update())
}

pub(super) async fn delete(eks: &Client, cluster: &str, name: &str, preserve: bool) -> Result<Changed> {
    let call = eks.delete_addon().cluster_name(cluster).addon_name(name).preserve(preserve);
    done(Operation::DeleteAddon, call.send().await)
}

pub(super) async fn bind(
    eks: &Client,
    cluster: &str,
    new: &NewPodIdentity,
    token: Option<&str>,
) -> Result<Changed> {
    const OPERATION: Operation = Operation::CreatePodIdentityAssociation;
    let NewPodIdentity { namespace, service_account, role_arn, tags } = new;
    let call = eks
        .create_pod_identity_association()
        .cluster_name(cluster)
        .namespace(namespace)
        .service_account(service_account)
        .role_arn(role_arn)
        .set_tags(tagged(tags))
        .set_client_request_token(token.map(str::to_owned));
    let response = received(OPERATION, call.send().await)?;
    let id = response.association().and_then(aws::PodIdentityAssociation::association_id);
    let id = id.ok_or_else(|| Gap("associationId").during(OPERATION))?;
    Ok(Changed { id: Some(id.to_owned()), ..Changed::default() })
}

pub(super) async fn rebind(
    eks: &Client,
    cluster: &str,
    id: &str,
    role_arn: &str,
    token: Option<&str>,
) -> Result<Changed> {
    let call = eks.update_pod_identity_association().cluster_name(cluster).association_id(id);
    let call = call.role_arn(role_arn).set_client_request_token(token.map(str::to_owned));
    done(Operation::UpdatePodIdentityAssociation, call.send().await)
}

pub(super) async fn unbind(eks: &Client, cluster: &str, id: &str) -> Result<Changed> {
    let call = eks.delete_pod_identity_association().cluster_name(cluster).association_id(id);
    done(Operation::DeletePodIdentityAssociation, call.send().await)
}

/// The add-on's own associations. An empty list takes them away, none leaves them.
fn associations(
    operation: Operation,
    wanted: Option<&BTreeMap<String, String>>,
) -> Result<Option<Vec<aws::AddonPodIdentityAssociations>>> {
    let Some(wanted) = wanted else { return Ok(None) };
    let association = |(account, role): (&String, &String)| {
        aws::AddonPodIdentityAssociations::builder().service_account(account).role_arn(role).build()
    };
    let all: Result<Vec<_>, _> = wanted.iter().map(association).collect();
    all.map(Some).map_err(|error| incomplete(operation, &error))
}

fn resolve(conflicts: ResolveConflicts) -> aws::ResolveConflicts {
    match conflicts {
        ResolveConflicts::None => aws::ResolveConflicts::None,
        ResolveConflicts::Overwrite => aws::ResolveConflicts::Overwrite,
        ResolveConflicts::Preserve => aws::ResolveConflicts::Preserve,
    }
}
