//! Which management cluster this is: the uid of its namespace `kube-system`. It comes and goes with the cluster's store: another
//! one that was restored from a backup of objects has another, the same one restored from a snapshot has the same.

use crate::readiness::Readiness;
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The namespace that every cluster has, and nobody deletes.
const NAMESPACE: &str = "kube-system";
/// How long it is waited before it is asked for again.
const AGAIN: Duration = Duration::from_secs(5);
/// A request that is not answered is given up after this long.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reads it, again and again until it is there: without it nobody can say whose a group is. The manager is not ready before.
pub(crate) async fn id(client: &Client, readiness: &Readiness) -> Arc<str> {
    let known = Arc::new(AtomicBool::new(false));
    let is_known = Arc::clone(&known);
    readiness.wait_for("the uid of namespace kube-system", move || is_known.load(Ordering::Relaxed));
    let namespaces: Api<Namespace> = Api::all(client.clone());
    loop {
        let read = tokio::time::timeout(PATIENCE, namespaces.get_metadata(NAMESPACE)).await;
        match read {
            Ok(Ok(namespace)) => {
                if let Some(uid) = namespace.metadata.uid {
                    known.store(true, Ordering::Relaxed);
                    return uid.into();
                }
                tracing::warn!("namespace {NAMESPACE} has no uid; no pool is reconciled until it has");
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "could not read namespace {NAMESPACE}; no pool is reconciled until that succeeds");
            }
            Err(_elapsed) => tracing::warn!(
                "could not read namespace {NAMESPACE} in time; no pool is reconciled until that succeeds"
            ),
        }
        tokio::time::sleep(AGAIN).await;
    }
}
