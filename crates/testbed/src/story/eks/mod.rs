//! The story of a cluster on EKS, in six steps: one file is applied, Nodes become Ready, everything is upgraded by two
//! minors, and nothing is left after deletion.
//!
//! The simulated EKS completes in seconds what takes minutes at AWS. The provider polls it once in 30 s, as at AWS:
//! that is most of the time the story takes.

mod manifest;
mod nodes;
mod prepared;
mod steps;

use super::step::{Env, Step};
use super::terminal::exports;
use crate::world::kinds::{Kind, condition};
use crate::world::{World, network};
use crate::{Probe, wait_until};
use anyhow::{Context as _, Result, ensure};
use manifest::{CLUSTER, LINUX, NEWEST, ROCKETS, VERSIONS};
use serde_json::Value;
use std::path::PathBuf;
use steps::{EksSteps, SOON_ON_EKS};

pub(super) const TITLES: [&str; 6] = [
    "one file: a network, a control plane on EKS, add-ons, two pools",
    "EKS runs the API server, and its kubeconfig gives access",
    "Nodes: Amazon Linux on demand, Bottlerocket partly spot; add-ons and access",
    "the control plane upgraded by two minors, one at a time, while Nodes stay",
    "the pools follow: every Node drained and replaced",
    "the Cluster deleted: nothing left in Kubernetes nor in AWS",
];

/// Where the one file is that the story applies, for a user who wants to apply it again.
pub fn manifest_path(world: &World) -> PathBuf {
    world.rig().folder().join(manifest::FILE_NAME)
}

/// Runs all steps; the first has started.
pub(super) async fn run(env: &Env<'_>, first: Step<'_>) -> Result<()> {
    let eks = EksSteps { env };
    let step = first.then(eks.one_file().await)?;
    let step = step.then(eks.an_api_server().await)?;
    let step = step.then(eks.nodes_of_both_families().await)?;
    let step = step.then(eks.the_control_plane_upgraded().await)?;
    let step = step.then(eks.the_pools_follow().await)?;
    step.ends(eks.nothing_is_left().await)
}

impl EksSteps<'_> {
    async fn one_file(&self) -> Result<()> {
        let env = self.env;
        env.info("In another terminal you can watch everything meanwhile:");
        for line in exports(env.world)? {
            env.info(&format!("  {line}"));
        }
        env.info("An administrator of the account created a role for control planes and one for nodes.");
        prepared::prepare(env.world)?;
        let path = manifest_path(env.world);
        std::fs::write(&path, manifest::FILE).with_context(|| format!("writing {}", path.display()))?;
        env.info(&format!("kubectl create namespace {CLUSTER}"));
        env.world.no_cluster(CLUSTER).await?;
        env.info(&format!("kubectl apply -f {}", path.display()));
        env.world.api().apply(manifest::FILE).await?;
        let exists = wait_until("EKS to create the cluster", SOON_ON_EKS, async || {
            Ok(Probe::when(self.eks().is_some(), || "there is no EKS cluster".to_owned()))
        });
        env.waiting_for("network and EKS cluster to be created", exists).await?;
        self.explains("foocontrolplane").await
    }

    async fn an_api_server(&self) -> Result<()> {
        let env = self.env;
        let runs = self.runs(VERSIONS[0]);
        env.waiting_for("EKS, ten minutes at AWS", runs).await?;
        let server = self.server().await?;
        env.world.finds_nodes_on(CLUSTER, &server);
        env.prints(CLUSTER, &["get", "foocontrolplanes"]).await?;
        let access = self.has_condition("AccessReady");
        env.waiting_for("the manager's access entry", access).await?;
        let path = self.write_kubeconfig().await?;
        env.info(&format!("export EKS={}  # its token is valid for 15 minutes", path.display()));
        let namespaces = self.kubectl_there(&["get", "namespaces"]).await?;
        ensure!(namespaces.contains("kube-system"), "the kubeconfig shows {namespaces}");
        env.reporter.prints("kubectl --kubeconfig $EKS get namespaces", &namespaces);
        Ok(())
    }

    async fn nodes_of_both_families(&self) -> Result<()> {
        let env = self.env;
        env.info("The user data is written from the FooNodeConfigs and from what the control plane reports.");
        let linux = env.waiting_for("Nodes with Amazon Linux", self.has_nodes(LINUX, VERSIONS[0])).await?;
        nodes::have_label(&linux)?;
        let rockets =
            env.waiting_for("Nodes with Bottlerocket", self.has_nodes(ROCKETS, VERSIONS[0])).await?;
        nodes::have_taint(&rockets)?;
        self.markets_are_right()?;
        let nodes = self.kubectl_there(&["get", "nodes"]).await?;
        env.reporter.prints("kubectl --kubeconfig $EKS get nodes", &nodes);
        for kind in ["AddonsReady", "AccessReady", "Ready"] {
            env.waiting_for(kind, self.has_condition(kind)).await?;
        }
        env.prints(CLUSTER, &["get", "clusters,foocontrolplanes,foomachinepools"]).await
    }

    async fn the_control_plane_upgraded(&self) -> Result<()> {
        let env = self.env;
        let before = self.instances();
        let history = env.world.history(Kind::FooControlPlane, CLUSTER).await?;
        env.info(&manifest::upgrade_command());
        manifest::upgrade_control_plane(&self.cluster()).await?;
        let upgrades = wait_until("the upgrade to begin", SOON_ON_EKS, async || {
            let object = self.object().await?;
            let info = condition(&object, "Upgrading").is_some_and(|(status, ..)| status == "True");
            Ok(Probe::when(info, || object.pointer("/status").map_or_else(String::new, Value::to_string)))
        });
        env.waiting_for("EKS's insights, and the upgrade to begin", upgrades).await?;
        self.explains("foocontrolplane").await?;
        env.waiting_for("both minors, 10 to 40 minutes each at AWS", self.runs(NEWEST)).await?;
        let seen = nodes::in_order(&history.versions());
        ensure!(seen == VERSIONS, "the control plane went through {seen:?}");
        env.info(&format!("status.version went through {}.", seen.join(", ")));
        ensure!(self.instances() == before, "instances were replaced by an upgrade of the control plane");
        env.info("All Nodes stayed: they may be up to three minors older.");
        env.prints(CLUSTER, &["get", "foocontrolplanes"]).await
    }

    async fn the_pools_follow(&self) -> Result<()> {
        let env = self.env;
        let before = self.instances();
        let pool = self.cluster().existing_pool(LINUX);
        let workload = env.waiting_for("a Deployment on the Nodes", pool.run("web", 2)).await?;
        workload.allow(1).await?;
        for pool in [LINUX, ROCKETS] {
            env.info(&format!("kubectl patch machinepool {pool}: spec.template.spec.version is {NEWEST}"));
            manifest::upgrade_pool(&self.cluster(), pool).await?;
        }
        for pool in [LINUX, ROCKETS] {
            let what = format!("{pool}: drained and replaced, one after the other");
            env.waiting_for(&what, self.has_nodes(pool, NEWEST)).await?;
        }
        let stayed: Vec<String> = self.instances().intersection(&before).cloned().collect();
        ensure!(stayed.is_empty(), "not replaced: {stayed:?}");
        let undrained = self.server().await?.kubelets().undrained();
        ensure!(undrained.is_empty(), "pods were lost with their instance: {undrained:#?}");
        env.info("No pod was lost: each was evicted first, as its budget allowed.");
        self.write_kubeconfig().await?;
        let nodes = self.kubectl_there(&["get", "nodes"]).await?;
        env.reporter.prints("kubectl --kubeconfig $EKS get nodes", &nodes);
        Ok(())
    }

    async fn nothing_is_left(&self) -> Result<()> {
        let env = self.env;
        env.info(&format!("kubectl delete cluster {CLUSTER} -n {CLUSTER}"));
        self.cluster().delete().await?;
        let gone = self.cluster();
        let gone = gone.is_gone(SOON_ON_EKS);
        env.waiting_for("pools, control plane and network to be deleted, in this order", gone).await?;
        ensure!(self.eks().is_none(), "the EKS cluster is left");
        let instances = self.instances();
        ensure!(instances.is_empty(), "instances are left: {instances:?}");
        let aws = env.world.aws();
        let templates = aws.region().templates();
        ensure!(templates.is_empty(), "launch templates are left: {templates:?}");
        let network = network::ids(&aws.network(CLUSTER, CLUSTER)?);
        ensure!(network.is_empty(), "of the network are left: {network:?}");
        env.info("No EKS cluster, no group, no instance and no part of the network is left in AWS.");
        env.world.check_nothing_forbidden()
    }
}
