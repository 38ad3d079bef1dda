//! Pods and budgets of workload clusters, if the user may read them: with the kubeconfig that Cluster API keeps in the
//! Secret `<cluster>-kubeconfig`, or with one of the user's own. Reads only.

use super::pods::waits;
use super::read::DRAINING;
use super::{Drain, Source};
use crate::access::{Access, Reads};
use crate::refused::{Request, Usage, refused};
use anyhow::{Context as _, Result, bail, ensure};
use foo_api::names::SECRET_VALUE_KEY;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node, Pod, Secret};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::api::ListParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// How long a workload cluster may take to accept a connection, and to respond.
const PATIENCE: Duration = Duration::from_secs(10);

/// Replaces the Pods that Cluster API names by those of the workload clusters, of each Cluster whose Nodes are being
/// drained; all clusters at a time. What cannot be read is a warning; the Pods that Cluster API names then stay.
///
/// # Errors
/// A kubeconfig is given, and Nodes of several Clusters are being drained.
pub async fn refine(
    reads: &Reads<'_>,
    drains: &mut [Drain],
    file: Option<&Path>,
    now: Timestamp,
) -> Result<()> {
    let mut clusters: BTreeMap<(String, String), Vec<&mut Drain>> = BTreeMap::new();
    for drain in drains.iter_mut().filter(|drain| drain.reason == DRAINING && drain.node.is_some()) {
        clusters.entry((drain.namespace.clone(), drain.cluster.clone())).or_default().push(drain);
    }
    if file.is_some() && clusters.len() > 1 {
        let usage =
            "--workload-kubeconfig is for one Cluster, and Nodes of several are being drained: name one";
        return Err(Usage(usage.to_owned()).into());
    }
    let refined = clusters.into_iter().map(async |((namespace, cluster), drains)| {
        let place = format!("Pods and budgets of Cluster {namespace}/{cluster}");
        let refined = async {
            let mut config = match file {
                Some(file) => Access::config_of(Some(file), None).await?,
                None => of_secret(reads.client, &namespace, &cluster).await?,
            };
            (config.connect_timeout, config.read_timeout) = (Some(PATIENCE), Some(PATIENCE));
            let access = Access::with(config)?;
            of_nodes(&access.client, drains, now, reads, &place).await
        };
        if let Err(error) = refined.await {
            reads.warn(format!("{place}: {error:#}"));
        }
    });
    futures::future::join_all(refined).await;
    Ok(())
}

/// Pods and budgets of the Nodes of one cluster: one list of budgets, and for each Node one of Pods. A Node that the
/// cluster does not have is a warning, which begins with `place`.
///
/// # Errors
/// A right is missing; it is named.
pub async fn of_nodes(
    client: &Client,
    drains: Vec<&mut Drain>,
    now: Timestamp,
    warnings: &Reads<'_>,
    place: &str,
) -> Result<()> {
    let reads = Reads::new(client, None);
    let budgets: Vec<PodDisruptionBudget> = reads.list(None).await?;
    let nodes: Api<Node> = Api::all(client.clone());
    for drain in drains {
        let Some(name) = drain.node.clone() else { continue };
        // A kubeconfig of another cluster would show no Pod, as if none were left.
        let request = Request { verb: "get", resource: "nodes", namespace: None };
        let node = nodes.get_opt(&name).await.map_err(|error| refused(request, error))?;
        let provider_id = node.as_ref().and_then(|node| node.spec.as_ref()?.provider_id.as_ref());
        let is_other =
            provider_id.is_some() && drain.provider_id.is_some() && provider_id != drain.provider_id.as_ref();
        if node.is_none() || is_other {
            let what = if is_other { "is of another instance" } else { "does not exist" };
            warnings
                .warn(format!("{place}: Node {name} {what} there: the kubeconfig may be of another cluster"));
            continue;
        }
        let on_node = ListParams::default().fields(&format!("spec.nodeName={name}"));
        let pods: Vec<Pod> = reads.list_with(None, on_node).await?;
        drain.pods = waits(&pods, &budgets, now);
        drain.unnamed_pods = 0;
        drain.source = Source::WorkloadCluster;
    }
    reads.warnings().into_iter().for_each(|warning| warnings.warn(warning));
    Ok(())
}

async fn of_secret(client: &Client, namespace: &str, cluster: &str) -> Result<Config> {
    let name = format!("{cluster}-kubeconfig");
    let secrets: Api<Secret> = Api::namespaced(client.clone(), namespace);
    let request = Request { verb: "get", resource: "secrets", namespace: Some(namespace) };
    let secret = secrets.get_opt(&name).await.map_err(|error| refused(request, error))?;
    let secret = secret.with_context(|| format!("there is no Secret {name}"))?;
    let text = secret.data.and_then(|mut data| data.remove(SECRET_VALUE_KEY)).map(|bytes| bytes.0);
    let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text.with_context(|| format!("Secret {name} has no text under the key {SECRET_VALUE_KEY}"))?;
    config(&text).await.with_context(|| format!("Secret {name}"))
}

/// The configuration in a Secret. Whoever may write the Secret must be able neither to start programs on this machine,
/// nor to send files of it anywhere.
async fn config(text: &str) -> Result<Config> {
    let Ok(kubeconfig) = Kubeconfig::from_yaml(text) else { bail!("its kubeconfig cannot be read as one") };
    let users = kubeconfig.auth_infos.iter().filter_map(|named| named.auth_info.as_ref());
    for user in users {
        ensure!(
            user.exec.is_none() && user.auth_provider.is_none(),
            "its kubeconfig would start a program; use --workload-kubeconfig with a file that you trust"
        );
        let names_files =
            user.token_file.is_some() || user.client_certificate.is_some() || user.client_key.is_some();
        ensure!(!names_files, "its kubeconfig names files of this machine");
    }
    let mut clusters = kubeconfig.clusters.iter().filter_map(|named| named.cluster.as_ref());
    ensure!(
        clusters.all(|cluster| cluster.certificate_authority.is_none()),
        "its kubeconfig names files of this machine"
    );
    // The error may repeat parts of it.
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    config.ok().context("its kubeconfig cannot be used")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn refusal(user: &str, cluster: &str) -> String {
        let text = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
             clusters: [{{name: c, cluster: {{server: 'https://localhost:1'{cluster}}}}}]\n\
             users: [{{name: u, user: {{{user}}}}}]\n\
             contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n"
        );
        config(&text).await.err().map(|error| format!("{error:#}")).unwrap_or_default()
    }

    #[tokio::test]
    async fn a_kubeconfig_of_a_secret_starts_no_program_and_reads_no_file() {
        assert_eq!(refusal("token: t", "").await, "");
        let exec = "exec: {apiVersion: client.authentication.k8s.io/v1, command: sh}";
        assert!(refusal(exec, "").await.contains("would start a program"));
        for user in ["tokenFile: /etc/passwd", "client-certificate: /a", "client-key: /a"] {
            assert!(refusal(user, "").await.contains("names files"), "{user}");
        }
        assert!(refusal("token: t", ", certificate-authority: /a").await.contains("names files"));
    }
}
