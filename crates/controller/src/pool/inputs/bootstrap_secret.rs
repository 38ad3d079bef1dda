//! The bootstrap Secret: read live, and only when it may have changed.
//!
//! A metadata watch on Secrets with a cluster's label (all bootstrap providers set it) reports changes. A
//! Secret without the label is read again once per sync period.

use super::desired::BootstrapData;
use crate::kubeconfig::{self, KUBECONFIG_SUFFIX};
use crate::pool::gather::Gathered;
use crate::pool::reads::{ReadSecret, Reads, SecretContent};
use foo_api::names::{CLUSTER_NAME_LABEL, SECRET_VALUE_KEY};
use foo_api::patterns::is_object_name;
use foo_model::names::is_marked_as_waiting;
use foo_model::{Blocked, Reason, Timestamp};
use k8s_openapi::api::core::v1::Secret;
use kube::core::PartialObjectMeta;
use kube::{Api, Client, ResourceExt};
use kube_runtime::reflector::{ObjectRef, Store};
use std::time::Duration;

/// How soon a Secret that is missing or invalid is read again, if no watch reports it before.
const TRY_AGAIN: Duration = Duration::from_secs(30);

/// The pool's bootstrap data, read if necessary.
pub(in crate::pool) async fn bootstrap_data(
    client: &Client,
    secrets: &Store<PartialObjectMeta<Secret>>,
    gathered: &Gathered,
    reads: &mut Reads,
    now: Timestamp,
    sync_period: Duration,
) -> BootstrapData {
    let name = gathered
        .machine_pool
        .as_ref()
        .and_then(|pool| pool.spec.template.spec.bootstrap.data_secret_name.clone())
        .filter(|name| !name.is_empty());
    let Some(name) = name else {
        return BootstrapData::Missing(Blocked::new(
            Reason::WaitingForBootstrapData,
            "the MachinePool has no bootstrap data Secret yet",
        ));
    };
    if let Err(blocked) = may_be_bootstrap_data(&name) {
        return BootstrapData::Missing(blocked);
    }
    let namespace = gathered.namespace();
    let watched =
        secrets.get(&ObjectRef::new(&name).within(&namespace)).and_then(|secret| secret.resource_version());
    if let Some(read) = reads.bootstrap_secret.as_ref().filter(|read| read.name == name)
        && is_current(read, watched.as_deref(), now, sync_period)
    {
        return data_of(read);
    }
    let cluster = gathered.identity.as_ref().map(|identity| identity.cluster.as_str()).unwrap_or_default();
    let read = read(client, &namespace, &name, cluster, now).await;
    let data = data_of(&read);
    reads.bootstrap_secret = Some(read);
    data
}

fn is_current(read: &ReadSecret, watched: Option<&str>, now: Timestamp, sync_period: Duration) -> bool {
    match (watched, &read.data) {
        (Some(version), _) => read.resource_version.as_deref() == Some(version),
        (None, Ok(_)) => read.at.until(now) < sync_period,
        (None, Err(_)) => read.at.until(now) < TRY_AGAIN,
    }
}

/// When to read a missing or invalid Secret again: no watch reports one without the label.
pub(in crate::pool) fn next_try(reads: &Reads) -> Option<Duration> {
    reads.bootstrap_secret.as_ref().filter(|read| read.data.is_err()).map(|_| TRY_AGAIN)
}

fn data_of(read: &ReadSecret) -> BootstrapData {
    match &read.data {
        Ok(content) => BootstrapData::Found(content.clone()),
        Err(blocked) => BootstrapData::Missing(blocked.clone()),
    }
}

async fn read(client: &Client, namespace: &str, name: &str, cluster: &str, now: Timestamp) -> ReadSecret {
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let (resource_version, data) = match secrets.get_opt(name).await {
        Ok(Some(secret)) => (secret.resource_version(), content(name, cluster, secret)),
        Ok(None) => (
            None,
            Err(Blocked::new(
                Reason::BootstrapDataSecretNotFound,
                format!("Secret {name} with the bootstrap data does not exist"),
            )),
        ),
        Err(error) => {
            tracing::warn!(%error, namespace, name, "could not read the bootstrap Secret");
            (
                None,
                Err(Blocked::new(
                    Reason::BootstrapDataSecretUnreadable,
                    format!("Secret {name} with the bootstrap data cannot be read"),
                )),
            )
        }
    };
    ReadSecret { name: name.to_owned(), resource_version, data, at: now }
}

/// Whether a Secret of that name can hold bootstrap data. User data is readable on the instance and by
/// all users who may describe launch templates, and an invalid name would become another path in the API
/// server.
fn may_be_bootstrap_data(name: &str) -> Result<(), Blocked> {
    let invalid = |what: &str| {
        let message = format!("MachinePool.spec.template.spec.bootstrap.dataSecretName {name:?} {what}");
        Err(Blocked::new(Reason::BootstrapDataSecretNameInvalid, message))
    };
    if !is_object_name(name) {
        return invalid("cannot be the name of a Secret");
    }
    if name.ends_with(KUBECONFIG_SUFFIX) {
        return invalid("is the name of a Cluster's kubeconfig, which is never given to instances");
    }
    Ok(())
}

fn content(name: &str, cluster: &str, secret: Secret) -> Result<SecretContent, Blocked> {
    let foreign = |message: String| {
        Err(Blocked::new(Reason::BootstrapDataNotAllowed, format!("Secret {name} {message}")))
    };
    if let Some(other) = secret.labels().get(CLUSTER_NAME_LABEL).filter(|label| *label != cluster) {
        return foreign(format!(
            "belongs to Cluster {other} by its label {CLUSTER_NAME_LABEL}; it is not given to instances"
        ));
    }
    let waits = is_marked_as_waiting(secret.annotations());
    let bytes = secret.data.and_then(|mut data| data.remove(SECRET_VALUE_KEY)).map(|bytes| bytes.0);
    match bytes.filter(|bytes| !bytes.is_empty()) {
        None => Err(Blocked::new(
            Reason::BootstrapDataInvalid,
            format!("Secret {name:?} has no bootstrap data under the key {SECRET_VALUE_KEY:?}"),
        )),
        Some(bytes) if kubeconfig::is_kubeconfig(&bytes) => {
            foreign("contains a kubeconfig, which is never given to instances".to_owned())
        }
        Some(user_data) => Ok(SecretContent { user_data, waits_in_warm_pool: waits }),
    }
}
