//! The id of the management cluster: the uid of its namespace `kube-system`. It lives in the cluster's store:
//! a cluster that was restored from a backup of objects has another one, a cluster that was restored from a
//! snapshot has the same.

use crate::readiness::Readiness;
use foo_api::names::INSTALLATION_NAMESPACE;
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Pause before the next attempt to read it.
const AGAIN: Duration = Duration::from_secs(5);
/// Timeout of one request.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads it, repeatedly until it succeeds: without it the manager does not know the owner of a group. The manager
/// is not ready before.
pub(crate) async fn id(client: &Client, readiness: &Readiness) -> Arc<str> {
    let known = Arc::new(AtomicBool::new(false));
    let is_known = Arc::clone(&known);
    readiness.wait_for("the uid of namespace kube-system", move || is_known.load(Ordering::Relaxed));
    let namespaces: Api<Namespace> = Api::all(client.clone());
    loop {
        let read = tokio::time::timeout(PATIENCE, namespaces.get_metadata(INSTALLATION_NAMESPACE)).await;
        match read {
            Ok(Ok(namespace)) => {
                if let Some(uid) = namespace.metadata.uid {
                    known.store(true, Ordering::Relaxed);
                    return uid.into();
                }
                tracing::warn!(
                    "namespace {INSTALLATION_NAMESPACE} has no uid; no pool is reconciled until it has"
                );
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "could not read namespace {INSTALLATION_NAMESPACE}; no pool is reconciled until that succeeds");
            }
            Err(_elapsed) => tracing::warn!(
                "could not read namespace {INSTALLATION_NAMESPACE} in time; no pool is reconciled until that succeeds"
            ),
        }
        tokio::time::sleep(AGAIN).await;
    }
}
