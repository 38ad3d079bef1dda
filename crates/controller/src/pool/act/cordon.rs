//! Cordons Nodes, with the kubeconfig that Cluster API has of the workload cluster.

use crate::client::Workloads;
use crate::kubeconfig::{self, PATIENCE};
use foo_api::names::managers;
use foo_model::{EventReason, some_names};
use foo_model::{InstanceId, MachineName};
use foo_planner::report::{Event, EventTrigger};
use futures::{StreamExt, stream};
use k8s_openapi::api::core::v1::{Node, Secret};
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::json;
use std::collections::BTreeMap;
use tokio::time::{Instant, timeout_at};

/// Maximum of concurrent requests.
const AT_ONCE: usize = 16;

/// A Node to cordon, and its Machine.
pub(in crate::pool) struct Cordon {
    pub(in crate::pool) instance: InstanceId,
    pub(in crate::pool) machine: MachineName,
    /// The Node's name; `None` if the Machine has none.
    pub(in crate::pool) node: Option<String>,
}

/// Success, or why it failed, in the same words while the cause is the same.
pub(in crate::pool) type CordonResult = Result<(), String>;

/// Cordons Nodes of a cluster within [`PATIENCE`], however many there are; a request that has not completed
/// by then has failed.
pub(in crate::pool) async fn cordon(
    client: &Client,
    workloads: &Workloads,
    (namespace, cluster): (&str, &str),
    cordons: Vec<Cordon>,
) -> Vec<(Cordon, CordonResult)> {
    let until = Instant::now() + PATIENCE;
    let late = || format!("cluster {cluster}: no response in time");
    let connected = timeout_at(until, connect(client, workloads, namespace, cluster)).await;
    let workload = match connected.unwrap_or_else(|_elapsed| Err(late())) {
        Ok(workload) => Api::<Node>::all(workload),
        Err(why) => return cordons.into_iter().map(|cordon| (cordon, Err(why.clone()))).collect(),
    };
    let each = cordons.into_iter().map(async |cordon| {
        let done = match &cordon.node {
            Some(node) => {
                timeout_at(until, patch(&workload, cluster, node)).await.unwrap_or_else(|_| Err(late()))
            }
            None => Err("it has no Node".to_owned()),
        };
        (cordon, done)
    });
    stream::iter(each).buffered(AT_ONCE).collect().await
}

async fn connect(
    client: &Client,
    workloads: &Workloads,
    namespace: &str,
    cluster: &str,
) -> Result<Client, String> {
    let name = kubeconfig::secret_name(cluster);
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let secret = match secrets.get_opt(&name).await {
        Ok(Some(secret)) => secret,
        Ok(None) => return Err(format!("Secret {name} does not exist")),
        Err(error) => {
            tracing::debug!(%error, namespace, name, "could not read the kubeconfig of the cluster");
            return Err(format!("Secret {name} cannot be read"));
        }
    };
    let usable = kubeconfig::read(&name, &secret).map_err(|blocked| blocked.message)?;
    usable.client(workloads).await.ok_or_else(|| format!("the kubeconfig in Secret {name} cannot be used"))
}

async fn patch(nodes: &Api<Node>, cluster: &str, node: &str) -> CordonResult {
    let params = PatchParams { field_manager: Some(managers::CORDON.to_owned()), ..PatchParams::default() };
    let patch = Patch::Merge(json!({ "spec": { "unschedulable": true } }));
    match nodes.patch(node, &params, &patch).await {
        Ok(_) => Ok(()),
        // The message names the Node or the user, and stays the same.
        Err(kube::Error::Api(status)) if status.code < 500 => {
            Err(format!("cluster {cluster}: {}", status.message))
        }
        Err(error) => {
            tracing::debug!(%error, node, "could not cordon the Node");
            Err(format!("cluster {cluster}: its API server did not accept the change"))
        }
    }
}

/// One event for all cordoned Nodes, and one per cause for the others.
pub(in crate::pool) fn events_of(outcomes: &[(Cordon, CordonResult)]) -> Vec<Event> {
    let mut reasons: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
    for (cordon, outcome) in outcomes {
        let why = outcome.as_ref().err().map(String::as_str);
        reasons.entry(why).or_default().push(cordon.machine.as_str());
    }
    let event = |(why, machines): (Option<&str>, Vec<&str>)| {
        let machines = some_names(machines);
        let (reason, message) = match why {
            None => (
                EventReason::NodeCordoned,
                format!("Cordoned the Nodes of {machines}: AWS recommends replacing their spot instances"),
            ),
            Some(why) => (EventReason::CordonFailed, format!("Cannot cordon the Nodes of {machines}: {why}")),
        };
        Event { reason, message, about: EventTrigger::Nothing }
    };
    reasons.into_iter().map(event).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cordon_is_reported_once_and_a_failure_once_per_reason() {
        let of = |number: u32, outcome: CordonResult| {
            let cordon = Cordon {
                instance: InstanceId::new(format!("i-{number}")),
                machine: MachineName::new(format!("m-{number}")),
                node: None,
            };
            (cordon, outcome)
        };
        let mut outcomes: Vec<_> = (1..=5).map(|number| of(number, Ok(()))).collect();
        outcomes.push(of(6, Err("no".to_owned())));
        outcomes.push(of(7, Err("no".to_owned())));
        let events_of: Vec<String> = events_of(&outcomes)
            .into_iter()
            .map(|event| format!("{} {}", event.reason, event.message))
            .collect();
        let expected = [
            "NodeCordoned Cordoned the Nodes of m-1, m-2, m-3 and 2 more: AWS recommends replacing their spot instances",
            "CordonFailed Cannot cordon the Nodes of m-6, m-7: no",
        ];
        assert_eq!(events_of, expected);
    }
}
