//! The rig as tests use it: real API server, real controllers, real Cluster API core. Needs `hack/tools/bin`.

use anyhow::{Result, ensure};
use foo_testbed::{
    Capi, CapiOptions, InstanceList, KubeletOptions, Kubelets, NodeSpec, PodEnd, Probe, Rig, RigOptions,
    Signal, wait_until,
};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::{EvictParams, ListParams};
use kube::{Api, Error, ResourceExt as _};
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(20);

/// Two replicas of which one must stay.
const WORKLOAD: &str = r"
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: none}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
";

async fn ready_pods(pods: &Api<Pod>, count: usize) -> Result<Vec<Pod>> {
    wait_until(&format!("{count} ready pods"), SOON, async || {
        let found = pods.list(&ListParams::default().labels("app=web")).await?.items;
        let ready = |pod: &Pod| {
            let conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
            pod.metadata.deletion_timestamp.is_none()
                && conditions.filter(|it| it.type_ == "Ready" && it.status == "True").count() == 1
        };
        let count_ready = found.iter().filter(|pod| ready(pod)).count();
        if count_ready == count && found.len() == count {
            return Ok(Probe::Done(found));
        }
        Ok(Probe::NotYet(format!("{count_ready} of {} ready", found.len())))
    })
    .await
}

fn node_of(pod: &Pod) -> String {
    pod.spec.as_ref().and_then(|spec| spec.node_name.clone()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_run_are_evicted_within_their_budget_and_lost_pods_are_noticed() -> Result<()> {
    let rig = Rig::start(RigOptions { capi: None, ..RigOptions::default() }).await?;
    let instances = InstanceList::default();
    let options = KubeletOptions { node_lingers: Some(Duration::from_secs(1)), ..KubeletOptions::default() };
    let kubelets = Kubelets::start(rig.api().client(), instances.clone(), options);
    instances.launch(NodeSpec::new("node-a", "aws:///eu-west-1a/i-a"));
    instances.launch(NodeSpec::new("node-b", "aws:///eu-west-1a/i-b"));
    rig.api().apply(WORKLOAD).await?;
    let pods: Api<Pod> = Api::namespaced(rig.api().client(), "default");
    let running = ready_pods(&pods, 2).await?;
    let mut on: Vec<String> = running.iter().map(node_of).collect();
    on.sort();
    assert_eq!(on, ["node-a", "node-b"]);

    // One may be evicted; the budget blocks the other as long as its replacement is not ready.
    kubelets.adjust(|options| options.pod_startup = Duration::from_secs(2));
    let [first, second] = &running[..] else { panic!("two pods") };
    wait_until("the budget to allow a disruption", SOON, async || {
        Ok(Probe::Done(pods.evict(&first.name_any(), &EvictParams::default()).await?))
    })
    .await?;
    let refused = pods.evict(&second.name_any(), &EvictParams::default()).await;
    assert!(matches!(&refused, Err(Error::Api(status)) if status.code == 429), "{refused:?}");
    wait_until("the second eviction to be allowed", SOON, async || {
        Ok(Probe::Done(pods.evict(&second.name_any(), &EvictParams::default()).await?))
    })
    .await?;
    wait_until("both evictions to be written down", SOON, async || {
        let deaths = kubelets.deaths();
        Ok(Probe::when(deaths.iter().filter(|it| it.end == PodEnd::Evicted).count() == 2, || {
            format!("{deaths:?}")
        }))
    })
    .await?;
    assert_eq!(kubelets.undrained(), []);

    let running = ready_pods(&pods, 2).await?;
    let on_a = running.iter().filter(|pod| node_of(pod) == "node-a").count();
    assert!(on_a > 0, "nothing on node-a");
    assert!(instances.terminate("aws:///eu-west-1a/i-a"));
    wait_until("the pods on node-a to be missed", SOON, async || {
        let undrained = kubelets.undrained();
        Ok(Probe::when(undrained.len() == on_a, || format!("{undrained:?}")))
    })
    .await?;
    assert!(
        kubelets
            .undrained()
            .iter()
            .all(|death| death.provider_id.as_deref() == Some("aws:///eu-west-1a/i-a"))
    );
    // A pod may be missed before the API server shows that it is deleted.
    wait_until("all pods to run on node-b", SOON, async || {
        let on: Vec<String> = ready_pods(&pods, 2).await?.iter().map(node_of).collect();
        Ok(Probe::when(on.iter().all(|node| node == "node-b"), || format!("{on:?}")))
    })
    .await?;
    let nodes: Api<Node> = Api::all(rig.api().client());
    wait_until("node-a to be deleted", SOON, async || {
        Ok(Probe::when(nodes.get_opt("node-a").await?.is_none(), || "still there".into()))
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cluster_api_is_installed_and_survives_restarts_and_cut_networks() -> Result<()> {
    let started = Instant::now();
    let rig = Rig::start(RigOptions::default()).await?;
    eprintln!("rig up in {:?}: {:?}", started.elapsed(), rig.timings());
    let providers = rig.api().kubectl(["get", "providers.clusterctl.cluster.x-k8s.io", "-A"]).await?;
    assert!(providers.contains("cluster-api") && !providers.contains("kubeadm"), "{providers}");
    let pods = rig.api().kubectl(["get", "pods", "-A", "-o", "name"]).await?;
    ensure!(pods.is_empty(), "{pods}");
    rig.link_cluster("default", "c1").await?;
    assert!(rig.clusterctl(["get", "kubeconfig", "c1"]).await?.contains("127.0.0.1"));

    // The webhooks of core work: this one refuses two different names of the Cluster.
    let bad = "{apiVersion: cluster.x-k8s.io/v1beta2, kind: MachinePool, metadata: {name: p, namespace: default}, \
        spec: {clusterName: c1, template: {spec: {clusterName: other, bootstrap: {dataSecretName: x}, \
        infrastructureRef: {apiGroup: a.b, kind: X, name: x}}}}}";
    let refused = rig.api().apply(bad).await.unwrap_err().to_string();
    assert!(refused.contains("must be set to the same value"), "{refused}");

    let capi = rig.capi()?;
    capi.kill();
    let refused = rig.api().apply(bad).await.unwrap_err().to_string();
    assert!(refused.contains("connection refused"), "{refused}");
    capi.restart(rig.api()).await?;

    let (workload, _controllers) = rig.another_cluster("workload").await?;
    rig.link_cluster_to("default", "c2", &workload).await?;
    Capi::install(&workload, CapiOptions::default()).await?;
    workload.freeze()?;
    let outcome = tokio::time::timeout(Duration::from_secs(1), workload.client().apiserver_version()).await;
    // A connection that was being closed just then is no response.
    ensure!(!matches!(outcome, Ok(Ok(_))), "a frozen API server responded: {outcome:?}");
    workload.thaw()?;
    workload.client().apiserver_version().await?;
    workload.stop();
    ensure!(workload.client().apiserver_version().await.is_err(), "a stopped API server responded");
    workload.resume().await?;
    workload.client().apiserver_version().await?;
    rig.controllers().process().signal(Signal::Freeze)?;
    Ok(())
}
