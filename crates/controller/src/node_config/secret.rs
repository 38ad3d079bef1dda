//! The Secret with the user data: written when its content changes, and kept as Cluster API needs it.

use crate::apply::{self, Written};
use crate::kubeconfig::KUBECONFIG_SUFFIX;
use crate::owners::{has_current_owner, is_owned_by};
use foo_api::FooNodeConfig;
use foo_api::names::{self, managers};
use foo_model::{Blocked, Reason};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Resource, ResourceExt};
use serde_json::json;

/// The Secret is there and has the user data.
pub(super) struct Kept {
    /// Size of the user data.
    pub(super) bytes: usize,
    /// Whether it was written just now.
    pub(super) written: Written,
}

/// Creates or repairs the Secret with the name of the FooNodeConfig.
pub(super) async fn keep(
    secrets: &Api<Secret>,
    config: &FooNodeConfig,
    cluster: &str,
    user_data: Vec<u8>,
) -> Result<Result<Kept, Blocked>, apply::Error> {
    let name = config.name_any();
    let bytes = user_data.len();
    if name.ends_with(KUBECONFIG_SUFFIX) {
        let message = format!(
            "Secret {name} would have the name of a Cluster's kubeconfig: a FooNodeConfig must not end in {KUBECONFIG_SUFFIX}"
        );
        return Ok(Err(Blocked::new(Reason::DataSecretNotOwned, message)));
    }
    if let Some(there) = secrets.get_opt(&name).await? {
        let same_data = has_only(&there, &user_data);
        if let Some(blocked) = has_other_content(&there, config, same_data) {
            return Ok(Err(blocked));
        }
        if same_data && is_labelled(&there, cluster) && has_current_owner(&there, config) {
            return Ok(Ok(Kept { bytes, written: Written::Unchanged }));
        }
    }
    let owner = config.controller_owner_ref(&());
    let secret = json!({
        "metadata": {
            "labels": {names::CLUSTER_NAME_LABEL: cluster},
            "ownerReferences": owner.into_iter().collect::<Vec<_>>(),
        },
        "type": names::CLUSTER_SECRET_TYPE,
        "data": {names::SECRET_VALUE_KEY: ByteString(user_data)},
    });
    apply::apply(secrets, &name, managers::USER_DATA, secret).await?;
    Ok(Ok(Kept { bytes, written: Written::Yes }))
}

/// Why a Secret of that name is left alone: another owner's, or a user's. One without any owner, as after a restore
/// from a backup, counts as written by the provider if its content is what the provider would write. The type of a
/// Secret cannot be changed.
fn has_other_content(there: &Secret, config: &FooNodeConfig, same_data: bool) -> Option<Blocked> {
    let name = there.name_any();
    let restored = there.owner_references().is_empty() && same_data;
    let message = if !is_owned_by(there, config) && !restored {
        format!(
            "Secret {name} holds other data or has another owner, and is not changed: delete it, or choose another name"
        )
    } else if there.type_.as_deref() != Some(names::CLUSTER_SECRET_TYPE) {
        let found = there.type_.as_deref().unwrap_or("Opaque");
        format!(
            "Secret {name} has type {found} instead of {}, which cannot be changed: delete it",
            names::CLUSTER_SECRET_TYPE
        )
    } else {
        return None;
    };
    Some(Blocked::new(Reason::DataSecretNotOwned, message))
}

/// Whether these bytes are all that is in it (contract for bootstrap providers: "a single key").
fn has_only(secret: &Secret, user_data: &[u8]) -> bool {
    secret.data.as_ref().is_some_and(|data| {
        data.len() == 1 && data.get(names::SECRET_VALUE_KEY).is_some_and(|bytes| bytes.0 == user_data)
    })
}

fn is_labelled(secret: &Secret, cluster: &str) -> bool {
    secret.labels().get(names::CLUSTER_NAME_LABEL).is_some_and(|label| label == cluster)
}
