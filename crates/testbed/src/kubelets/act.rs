//! Carries out what was decided. Every action may be late or repeated: "does not exist" and "done already" are
//! no errors, and whatever failed is decided again in the next round.

use super::model::Action;
use super::objects;
use futures::{StreamExt as _, stream};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::{Api, Client, Error, ResourceExt as _};
use serde_json::{Value, json};

/// Requests at a time: a thousand Nodes that join together must not take a minute.
const CONCURRENCY: usize = 8;

/// At least one action failed for a reason other than being late.
#[derive(Debug)]
pub(super) struct Failed;

pub(super) async fn all(client: &Client, actions: Vec<Action>) -> Result<(), Failed> {
    let results: Vec<Result<(), Failed>> = stream::iter(actions)
        .map(async |action| match one(client, &action).await {
            Ok(()) => Ok(()),
            Err(Error::Api(status)) if status.code == 404 || status.code == 409 => Ok(()),
            Err(error) => {
                tracing::debug!(?action, %error, "failed");
                Err(Failed)
            }
        })
        .buffer_unordered(CONCURRENCY)
        .collect()
        .await;
    results.into_iter().collect()
}

async fn one(client: &Client, action: &Action) -> Result<(), Error> {
    let nodes: Api<Node> = Api::all(client.clone());
    let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    match action {
        Action::CreateNode(spec) => {
            let node = serde_json::from_value(objects::node(spec)).map_err(Error::SerdeError)?;
            nodes.create(&PostParams::default(), &node).await?;
        }
        Action::SetNodeReady { spec, version, pods } => {
            let status = objects::ready_status(spec, version, *pods, &now);
            nodes.patch_status(&spec.name, &PatchParams::default(), &Patch::Strategic(status)).await?;
        }
        Action::SetNodeUnknown(name) => {
            let status = objects::unknown_status(&now);
            nodes.patch_status(name, &PatchParams::default(), &Patch::Strategic(status)).await?;
        }
        Action::SetTaints { node, taints } => {
            // With the version it was decided on: core changes taints of the same list.
            let patch = json!({
                "metadata": {"resourceVersion": node.resource_version()},
                "spec": {"taints": taints},
            });
            nodes.patch(&node.name_any(), &PatchParams::default(), &Patch::Merge(patch)).await?;
        }
        Action::DeleteNode(name) => drop(nodes.delete(name, &DeleteParams::default()).await?),
        Action::Bind { pod, node } => {
            let binding = json!({
                "apiVersion": "v1",
                "kind": "Binding",
                "metadata": {"name": pod.name_any()},
                "target": {"apiVersion": "v1", "kind": "Node", "name": node},
            });
            let params = PostParams::default();
            let _: Value = pods_of(client, pod)
                .create_subresource("binding", &pod.name_any(), &params, &binding)
                .await?;
        }
        Action::SetPodRunning(pod) => set_pod(client, pod, objects::running_status(pod, &now)).await?,
        Action::SetPodUnready(pod) => set_pod(client, pod, objects::unready_status(&now)).await?,
        Action::RemovePod(pod) => {
            // By UID: a StatefulSet's next pod has the same name.
            let this = Preconditions { uid: pod.uid(), resource_version: None };
            let params = DeleteParams::default().grace_period(0).preconditions(this);
            drop(pods_of(client, pod).delete(&pod.name_any(), &params).await?);
        }
    }
    Ok(())
}

async fn set_pod(client: &Client, pod: &Pod, status: Value) -> Result<(), Error> {
    let patch = Patch::Strategic(status);
    pods_of(client, pod).patch_status(&pod.name_any(), &PatchParams::default(), &patch).await?;
    Ok(())
}

fn pods_of(client: &Client, pod: &Pod) -> Api<Pod> {
    Api::namespaced(client.clone(), &pod.namespace().unwrap_or_default())
}
