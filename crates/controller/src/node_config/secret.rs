//! The Secret with the user data: written when its content changes, and kept as Cluster API needs it.

use crate::apply::{self, Written};
use crate::kubeconfig::KUBECONFIG_SUFFIX;
use crate::owners::{has_current_owner, is_owned_by};
use foo_api::FooNodeConfig;
use foo_api::names::{self, managers};
use foo_model::names::{WAITS_IN_WARM_POOL_ANNOTATION, is_marked_as_waiting};
use foo_model::{Blocked, Reason};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Resource, ResourceExt};
use serde_json::{Map, Value, json};

/// Value of the annotation on user data that waits.
const WAITS: &str = "true";
/// Value of the annotation on user data that does not wait, although the Secret had the annotation before. An apply would
/// leave an annotation that another field manager owns, too, as that of a restored backup does; a call of its own would leave
/// a moment in which the annotation says something else than the user data.
const DOES_NOT_WAIT: &str = "false";

/// The Secret is there and has the user data.
pub(super) struct Kept {
    /// Size of the user data.
    pub(super) bytes: usize,
    /// Whether it was written just now.
    pub(super) written: Written,
}

/// What the Secret has to have.
pub(super) struct Content<'a> {
    /// Name of the Cluster.
    pub(super) cluster: &'a str,
    /// The user data.
    pub(super) user_data: Vec<u8>,
    /// Whether an instance with this user data can wait in a warm pool: it joins only once it is in service.
    pub(super) waits_in_warm_pool: bool,
}

/// Creates or repairs the Secret with the name of the FooNodeConfig.
pub(super) async fn keep(
    secrets: &Api<Secret>,
    config: &FooNodeConfig,
    content: Content<'_>,
) -> Result<Result<Kept, Blocked>, apply::Error> {
    let Content { cluster, user_data, waits_in_warm_pool } = content;
    let name = config.name_any();
    let bytes = user_data.len();
    if name.ends_with(KUBECONFIG_SUFFIX) {
        let message = format!(
            "Secret {name} would have the name of a Cluster's kubeconfig: a FooNodeConfig must not end in {KUBECONFIG_SUFFIX}"
        );
        return Ok(Err(Blocked::new(Reason::DataSecretNotOwned, message)));
    }
    let there = secrets.get_opt(&name).await?;
    let was_annotated = there.as_ref().is_some_and(|secret| is_marked_as_waiting(secret.annotations()));
    if let Some(there) = there {
        let same_data = has_only(&there, &user_data);
        if let Some(blocked) = has_other_content(&there, config, same_data) {
            return Ok(Err(blocked));
        }
        let annotated = waits_in_warm_pool == was_annotated;
        if same_data && annotated && is_labelled(&there, cluster) && has_current_owner(&there, config) {
            return Ok(Ok(Kept { bytes, written: Written::Unchanged }));
        }
    }
    let annotation = match (waits_in_warm_pool, was_annotated) {
        (true, _) => Some(WAITS),
        (false, true) => Some(DOES_NOT_WAIT),
        (false, false) => None,
    };
    let secret = json!({
        "metadata": metadata(config, cluster, annotation),
        "type": names::CLUSTER_SECRET_TYPE,
        "data": {names::SECRET_VALUE_KEY: ByteString(user_data)},
    });
    apply::apply(secrets, &name, managers::USER_DATA, secret).await?;
    Ok(Ok(Kept { bytes, written: Written::Yes }))
}

fn metadata(config: &FooNodeConfig, cluster: &str, annotation: Option<&str>) -> Map<String, Value> {
    let owner = config.controller_owner_ref(&());
    let mut metadata = Map::new();
    metadata.insert("labels".to_owned(), json!({names::CLUSTER_NAME_LABEL: cluster}));
    metadata.insert("ownerReferences".to_owned(), json!(owner.into_iter().collect::<Vec<_>>()));
    if let Some(value) = annotation {
        metadata.insert("annotations".to_owned(), json!({WAITS_IN_WARM_POOL_ANNOTATION: value}));
    }
    metadata
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
