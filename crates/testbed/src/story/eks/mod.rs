//! The story of a cluster on EKS, in six steps: one file is applied, Nodes become Ready, everything is upgraded by two minors, and
//! nothing is left after deletion.
//!
//! The simulated EKS makes in seconds what takes minutes at AWS. The provider asks it once in 30 s, as it does at AWS: that is most of
//! the time the story takes.

mod manifest;
mod nodes;
mod prepared;
mod scene;

use super::scene::{Scene, Step};
use super::terminal::exports;
use crate::world::kinds::{Kind, condition};
use crate::world::{World, network};
use crate::{Probe, wait_until};
use anyhow::{Context as _, Result, ensure};
use manifest::{CLUSTER, LINUX, NEWEST, ROCKETS, VERSIONS};
use scene::{EksScene, MADE};
use serde_json::Value;
use std::path::PathBuf;

pub(super) const TITLES: [&str; 6] = [
    "one file: a network, a control plane on EKS, add-ons, two pools",
    "EKS runs the API server, and its kubeconfig lets its bearer in",
    "Nodes: Amazon Linux on demand, Bottlerocket partly spot; add-ons and access",
    "the control plane upgraded by two minors, one at a time, while Nodes stay",
    "the pools follow: every Node drained and replaced",
    "the Cluster deleted: nothing left in Kubernetes nor in AWS",
];

/// Where the one file is that the story applies, for a user who wants to apply it again.
pub fn manifest_path(world: &World) -> PathBuf {
    world.rig().folder().join(manifest::FILE_NAME)
}

/// Plays all steps; the first has begun.
pub(super) async fn play(scene: &Scene<'_>, first: Step<'_>) -> Result<()> {
    let eks = EksScene { scene };
    let step = first.then(eks.one_file().await)?;
    let step = step.then(eks.an_api_server().await)?;
    let step = step.then(eks.nodes_of_both_families().await)?;
    let step = step.then(eks.the_control_plane_upgraded().await)?;
    let step = step.then(eks.the_pools_follow().await)?;
    step.ends(eks.nothing_is_left().await)
}

impl EksScene<'_> {
    async fn one_file(&self) -> Result<()> {
        let scene = self.scene;
        scene.says("In another terminal you can look at everything meanwhile:");
        for line in exports(scene.world)? {
            scene.says(&format!("  {line}"));
        }
        scene.says("An administrator of the account made a role for control planes and one for nodes.");
        prepared::prepare(scene.world)?;
        let path = manifest_path(scene.world);
        std::fs::write(&path, manifest::FILE).with_context(|| format!("writing {}", path.display()))?;
        scene.says(&format!("kubectl create namespace {CLUSTER}"));
        scene.world.no_cluster(CLUSTER).await?;
        scene.says(&format!("kubectl apply -f {}", path.display()));
        scene.world.api().apply(manifest::FILE).await?;
        let exists = wait_until("EKS to create the cluster", MADE, async || {
            Ok(Probe::when(self.eks().is_some(), || "there is no EKS cluster".to_owned()))
        });
        scene.waits("network and EKS cluster to be begun", exists).await?;
        self.explains("foocontrolplane").await
    }

    async fn an_api_server(&self) -> Result<()> {
        let scene = self.scene;
        let runs = self.runs(VERSIONS[0]);
        scene.waits("EKS, ten minutes at AWS", runs).await?;
        let server = self.server().await?;
        scene.world.finds_nodes_on(CLUSTER, &server);
        scene.shows(CLUSTER, &["get", "foocontrolplanes"]).await?;
        let access = self.says_true("AccessReady");
        scene.waits("the manager's access entry", access).await?;
        let path = self.write_kubeconfig().await?;
        scene.says(&format!("export EKS={}  # its token is valid for 15 minutes", path.display()));
        let namespaces = self.kubectl_there(&["get", "namespaces"]).await?;
        ensure!(namespaces.contains("kube-system"), "the kubeconfig shows {namespaces}");
        scene.voice.shows("kubectl --kubeconfig $EKS get namespaces", &namespaces);
        Ok(())
    }

    async fn nodes_of_both_families(&self) -> Result<()> {
        let scene = self.scene;
        scene.says(
            "The user data is written from the FooNodeConfigs and from what the control plane reports.",
        );
        let linux = scene.waits("Nodes with Amazon Linux", self.has_nodes(LINUX, VERSIONS[0])).await?;
        nodes::have_label(&linux)?;
        let rockets = scene.waits("Nodes with Bottlerocket", self.has_nodes(ROCKETS, VERSIONS[0])).await?;
        nodes::have_taint(&rockets)?;
        self.markets_are_right()?;
        let nodes = self.kubectl_there(&["get", "nodes"]).await?;
        scene.voice.shows("kubectl --kubeconfig $EKS get nodes", &nodes);
        for kind in ["AddonsReady", "AccessReady", "Ready"] {
            scene.waits(kind, self.says_true(kind)).await?;
        }
        scene.shows(CLUSTER, &["get", "clusters,foocontrolplanes,foomachinepools"]).await
    }

    async fn the_control_plane_upgraded(&self) -> Result<()> {
        let scene = self.scene;
        let before = self.instances();
        let history = scene.world.history(Kind::FooControlPlane, CLUSTER).await?;
        scene.says(&manifest::upgrade_command());
        manifest::upgrade_control_plane(&self.cluster()).await?;
        let upgrades = wait_until("the upgrade to begin", MADE, async || {
            let object = self.object().await?;
            let says = condition(&object, "Upgrading").is_some_and(|(status, ..)| status == "True");
            Ok(Probe::when(says, || object.pointer("/status").map_or_else(String::new, Value::to_string)))
        });
        scene.waits("EKS's insights, and the upgrade to begin", upgrades).await?;
        self.explains("foocontrolplane").await?;
        scene.waits("both minors, 10 to 40 minutes each at AWS", self.runs(NEWEST)).await?;
        let seen = nodes::in_order(&history.versions());
        ensure!(seen == VERSIONS, "the control plane went through {seen:?}");
        scene.says(&format!("status.version went through {}.", seen.join(", ")));
        ensure!(self.instances() == before, "instances were replaced by an upgrade of the control plane");
        scene.says("All Nodes stayed: they may be up to three minors older.");
        scene.shows(CLUSTER, &["get", "foocontrolplanes"]).await
    }

    async fn the_pools_follow(&self) -> Result<()> {
        let scene = self.scene;
        let before = self.instances();
        let pool = self.cluster().existing_pool(LINUX);
        let workload = scene.waits("a Deployment on the Nodes", pool.run("web", 2)).await?;
        workload.allow(1).await?;
        for pool in [LINUX, ROCKETS] {
            scene.says(&format!("kubectl patch machinepool {pool}: spec.template.spec.version is {NEWEST}"));
            manifest::upgrade_pool(&self.cluster(), pool).await?;
        }
        for pool in [LINUX, ROCKETS] {
            let what = format!("{pool}: drained and replaced, one after the other");
            scene.waits(&what, self.has_nodes(pool, NEWEST)).await?;
        }
        let stayed: Vec<String> = self.instances().intersection(&before).cloned().collect();
        ensure!(stayed.is_empty(), "not replaced: {stayed:?}");
        let undrained = self.server().await?.kubelets().undrained();
        ensure!(undrained.is_empty(), "pods were lost with their instance: {undrained:#?}");
        scene.says("No pod was lost: each was evicted first, as its budget allowed.");
        self.write_kubeconfig().await?;
        let nodes = self.kubectl_there(&["get", "nodes"]).await?;
        scene.voice.shows("kubectl --kubeconfig $EKS get nodes", &nodes);
        Ok(())
    }

    async fn nothing_is_left(&self) -> Result<()> {
        let scene = self.scene;
        scene.says(&format!("kubectl delete cluster {CLUSTER} -n {CLUSTER}"));
        self.cluster().delete().await?;
        let gone = self.cluster();
        let gone = gone.is_gone(MADE);
        scene.waits("pools, control plane and network to go, in this order", gone).await?;
        ensure!(self.eks().is_none(), "the EKS cluster is left");
        let instances = self.instances();
        ensure!(instances.is_empty(), "instances are left: {instances:?}");
        let aws = scene.world.aws();
        let templates = aws.region().templates();
        ensure!(templates.is_empty(), "launch templates are left: {templates:?}");
        let network = network::ids(&aws.network(CLUSTER, CLUSTER)?);
        ensure!(network.is_empty(), "of the network are left: {network:?}");
        scene.says("No EKS cluster, no group, no instance and no part of the network is left in AWS.");
        scene.world.check_nothing_forbidden()
    }
}
