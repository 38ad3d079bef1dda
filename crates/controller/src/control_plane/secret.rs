//! Creates `<cluster>-kubeconfig`, the Secret that Cluster API reads, and keeps it correct.
//!
//! Cluster API ignores the Secret unless it has a certain type and label; `clusterctl move` and the garbage
//! collector find it by its owner. Each pass repairs all of these.

use crate::apply;
use crate::kubeconfig::{self, Usable};
use crate::owners::{has_current_owner, is_owned_by};
use foo_api::FooControlPlane;
use foo_api::names::{self, managers};
use foo_model::{Blocked, Reason};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Resource, ResourceExt};
use serde_json::json;

/// A problem of the Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// Cluster API cannot use it, or reads another Secret.
    Unusable(Blocked),
    /// Cluster API can read it, but it is not completely correct.
    Wrong(Blocked),
}

/// Creates or repairs `<cluster>-kubeconfig`.
pub(super) async fn keep(
    secrets: &Api<Secret>,
    control_plane: &FooControlPlane,
    cluster: &str,
    usable: &Usable,
) -> Result<Result<(), Problem>, apply::Error> {
    let name = kubeconfig::secret_name(cluster);
    let there = secrets.get_opt(&name).await?;
    if super::relations::users_secret(control_plane) == Some(&name) {
        return match there {
            Some(there) => keep_users_own(secrets, cluster, &there).await,
            // Another client created it a moment ago.
            None => Ok(Ok(())),
        };
    }
    if let Some(there) = &there {
        let has_it = kubeconfig::contains(there, &usable.text);
        if !is_owned_by(there, control_plane) && (!has_it || has_other_owner(there)) {
            return Ok(Err(Problem::Unusable(has_other_content(&name))));
        }
        if let Some(wrong) = wrong_type(there) {
            return Ok(Err(if has_it { Problem::Wrong(wrong) } else { Problem::Unusable(wrong) }));
        }
        if has_it && is_labelled(there, cluster) && has_current_owner(there, control_plane) {
            return Ok(Ok(()));
        }
    }
    let owner = control_plane.owner_ref(&());
    let secret = json!({
        "metadata": {
            "labels": {names::CLUSTER_NAME_LABEL: cluster},
            "ownerReferences": owner.into_iter().collect::<Vec<_>>(),
        },
        "type": names::CLUSTER_SECRET_TYPE,
        "data": {names::SECRET_VALUE_KEY: k8s_openapi::ByteString(usable.text.clone().into_bytes())},
    });
    apply::apply(secrets, &name, managers::KUBECONFIG, secret).await?;
    Ok(Ok(()))
}

/// The user's own Secret has the name that Cluster API reads. It gets the label without which Cluster API
/// does not see it, and no owner: it must not be deleted with the FooControlPlane.
async fn keep_users_own(
    secrets: &Api<Secret>,
    cluster: &str,
    there: &Secret,
) -> Result<Result<(), Problem>, apply::Error> {
    if !is_labelled(there, cluster) {
        let label = json!({"metadata": {
            "uid": there.uid(), "labels": {names::CLUSTER_NAME_LABEL: cluster}
        }});
        apply::apply(secrets, &there.name_any(), managers::KUBECONFIG_LABEL, label).await?;
    }
    Ok(wrong_type(there).map_or(Ok(()), |wrong| Err(Problem::Wrong(wrong))))
}

fn has_other_content(name: &str) -> Blocked {
    let message = format!(
        "Secret {name} holds another kubeconfig or has another owner, and is not changed: delete it, or name it in \
         spec.external.kubeconfigSecretRef"
    );
    Blocked::new(Reason::KubeconfigSecretNotOwned, message)
}

/// A Secret's type is immutable: only its creator can replace it.
pub(super) fn wrong_type(secret: &Secret) -> Option<Blocked> {
    let found = secret.type_.as_deref().unwrap_or("Opaque");
    (found != names::CLUSTER_SECRET_TYPE).then(|| {
        let name = secret.name_any();
        let message = format!(
            "Secret {name} has type {found}; Cluster API requires {}, and the type of a Secret cannot be changed: \
             delete it and create it again with that type",
            names::CLUSTER_SECRET_TYPE
        );
        Blocked::new(Reason::KubeconfigSecretWrongType, message)
    })
}

pub(super) fn is_labelled(secret: &Secret, cluster: &str) -> bool {
    secret.labels().get(names::CLUSTER_NAME_LABEL).is_some_and(|label| label == cluster)
}

/// Whether it has an owner. A Secret without any owner, as after a restore from a backup, counts as created
/// by the provider if its content is what the provider would write.
pub(super) fn has_other_owner(secret: &Secret) -> bool {
    !secret.owner_references().is_empty()
}
