//! Cordons Nodes, with the kubeconfig that Cluster API has of the workload cluster.

use crate::kubeconfig::{self, PATIENCE};
use crate::metrics::Metrics;
use foo_api::names::managers;
use k8s_openapi::api::core::v1::{Node, Secret};
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::json;
use tokio::time::timeout;

/// Keeps new pods away from a Node of the cluster, or says why it could not, in the same words while the cause is the same. A
/// Node that is not there any more is no failure.
pub(super) async fn cordon(
    client: &Client,
    metrics: &Metrics,
    (namespace, cluster): (&str, &str),
    node: &str,
) -> Result<(), String> {
    let name = kubeconfig::secret_name(cluster);
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let secret = match secrets.get_opt(&name).await {
        Ok(Some(secret)) => secret,
        Ok(None) => return Err(format!("Secret {name} does not exist")),
        Err(error) => {
            tracing::debug!(%error, namespace, name, "no kubeconfig");
            return Err(format!("Secret {name} cannot be read"));
        }
    };
    let usable = kubeconfig::read(&name, &secret).map_err(|blocked| blocked.message)?;
    let asked = async {
        let workload = usable.client(metrics).await.ok_or("its kubeconfig cannot be used")?;
        let params =
            PatchParams { field_manager: Some(managers::CORDON.to_owned()), ..PatchParams::default() };
        let patch = Patch::Merge(json!({ "spec": { "unschedulable": true } }));
        match Api::<Node>::all(workload).patch(node, &params, &patch).await {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 403 => {
                Err("the user of its kubeconfig may not patch Nodes")
            }
            Err(error) => {
                tracing::debug!(%error, node, "not cordoned");
                Err("its API server did not do it")
            }
        }
    };
    let why = match timeout(PATIENCE, asked).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(why)) => why,
        Err(_elapsed) => "its API server did not answer",
    };
    Err(format!("cluster {cluster}: {why}"))
}
