//! Changes, as EKS's own calls make them.

use super::requests::{self, of_iam, read, text};
use super::tell;
use crate::core::Region;
use crate::core::eks::Principals;
use crate::core::eks::cluster::{Cluster, Update};
use crate::core::error::AwsResult;
use foo_model::eks::{Change, Changed};
use serde_json::json;

/// One call of EKS by the caller with this ARN. One table of all changes, hence its length.
pub(super) fn carry_out(
    region: &mut Region,
    principals: &Principals,
    caller: &str,
    change: &Change,
) -> AwsResult<Changed> {
    use Change as C;
    match change {
        C::CreateCluster { cluster, token } => {
            let request = read(requests::new_cluster(cluster, token))?;
            let made = region.create_cluster(&request, caller, principals)?;
            shown(region, &made)
        }
        C::UpdateClusterVersion { cluster, version, force, token } => {
            let request =
                json!({ "version": version.to_string(), "force": force, "clientRequestToken": token });
            began(region.update_cluster_version(cluster, &read(request)?))
        }
        C::UpdateClusterConfig { cluster, update, token } => {
            began(region.update_cluster_config(cluster, &read(requests::config_update(update, token))?))
        }
        C::AssociateEncryptionConfig { cluster, key, token } => {
            let request =
                json!({ "encryptionConfig": [requests::encryption(key)], "clientRequestToken": token });
            began(region.associate_encryption(cluster, &read(request)?))
        }
        C::DeleteCluster { cluster } => {
            let deleted = region.delete_cluster(cluster)?;
            shown(region, &deleted)
        }
        C::StartInsightsRefresh { cluster } => done(region.refresh_insights(cluster)),
        C::CreateAddon { cluster, addon, token } => {
            let new = json!({ "addonName": addon.name, "tags": addon.tags });
            let request = read(requests::and(requests::addon(addon, token), new))?;
            done(region.create_addon(cluster, &request, principals))
        }
        C::UpdateAddon { cluster, addon, token } => {
            let request = read(requests::addon(addon, token))?;
            began(region.update_addon(cluster, &addon.name, &request, principals))
        }
        C::DeleteAddon { cluster, name, preserve } => done(region.delete_addon(cluster, name, *preserve)),
        C::CreateAccessEntry { cluster, principal, kind, username, groups, tags, token } => {
            let request = json!({
                "principalArn": principal,
                "type": text(*kind),
                "username": username,
                "kubernetesGroups": Some(groups).filter(|groups| !groups.is_empty()),
                "tags": tags,
                "clientRequestToken": token,
            });
            done(region.create_access_entry(cluster, &read(request)?, principals))
        }
        C::UpdateAccessEntry { cluster, principal, username, groups, token } => {
            let request =
                json!({ "username": username, "kubernetesGroups": groups, "clientRequestToken": token });
            done(region.update_access_entry(cluster, principal, &read(request)?))
        }
        C::DeleteAccessEntry { cluster, principal } => done(region.delete_access_entry(cluster, principal)),
        C::AssociateAccessPolicy { cluster, principal, policy } => {
            let request = json!({ "policyArn": policy.arn, "accessScope": requests::scope(&policy.scope) });
            done(region.associate_access_policy(cluster, principal, &read(request)?))
        }
        C::DisassociateAccessPolicy { cluster, principal, policy } => {
            done(region.disassociate_access_policy(cluster, principal, policy))
        }
        C::CreatePodIdentityAssociation { cluster, namespace, service_account, role_arn, tags, token } => {
            let request = json!({
                "namespace": namespace,
                "serviceAccount": service_account,
                "roleArn": role_arn,
                "tags": tags,
                "clientRequestToken": token,
            });
            let made = region.create_pod_identity(cluster, &read(request)?, principals)?;
            Ok(Changed { id: Some(made.id), ..Changed::default() })
        }
        C::UpdatePodIdentityAssociation { cluster, id, role_arn, token } => {
            let request = json!({ "roleArn": role_arn, "clientRequestToken": token });
            done(region.update_pod_identity(cluster, id, &read(request)?, principals))
        }
        C::DeletePodIdentityAssociation { cluster, id } => done(region.delete_pod_identity(cluster, id)),
        C::TagResource { arn, tags } => done(region.tag_eks_resource(arn, tags)),
        C::UntagResource { arn, keys } => {
            done(region.untag_eks_resource(arn, &keys.iter().cloned().collect::<Vec<_>>()))
        }
        C::CreateOpenIDConnectProvider { .. } | C::DeleteOpenIDConnectProvider { .. } => Err(of_iam()),
    }
}

fn done<T>(outcome: AwsResult<T>) -> AwsResult<Changed> {
    outcome.map(|_| Changed::default())
}

fn began(update: AwsResult<Update>) -> AwsResult<Changed> {
    Ok(Changed { update: Some(tell::update(&update?)?), ..Changed::default() })
}

fn shown(region: &Region, cluster: &Cluster) -> AwsResult<Changed> {
    Ok(Changed { cluster: Some(Box::new(tell::cluster(region, cluster)?)), ..Changed::default() })
}
