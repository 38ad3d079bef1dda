//! What the steps of this story read again and again.

use super::manifest::{CLUSTER, EKS_CLUSTER};
use crate::story::step::Env;
use crate::world::Cluster;
use crate::world::kinds::{self, Kind, condition, text, until_condition};
use crate::{ClusterServer, Probe, beside_us, wait_until};
use anyhow::{Context as _, Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long anything may take here: EKS is asked once in 30 s, and some steps wait for it several times.
pub(super) const SOON_ON_EKS: Duration = Duration::from_mins(5);

/// What all steps use.
pub(super) struct EksSteps<'s> {
    pub(super) env: &'s Env<'s>,
}

impl<'s> EksSteps<'s> {
    pub(super) fn cluster(&self) -> Cluster<'s> {
        self.env.world.existing_cluster(CLUSTER, CLUSTER)
    }

    /// The EKS cluster, if there is one.
    pub(super) fn eks(&self) -> Option<foo_simulator::core::eks::cluster::Cluster> {
        self.env.world.aws().region().cluster(EKS_CLUSTER)
    }

    pub(super) async fn server(&self) -> Result<Arc<ClusterServer>> {
        self.env.world.cluster_servers().wait_for(EKS_CLUSTER).await
    }

    pub(super) async fn object(&self) -> Result<Value> {
        self.cluster().read(Kind::FooControlPlane).await?.context("no FooControlPlane")
    }

    /// Waits until the API server responds and runs a version.
    pub(super) async fn runs(&self, version: &str) -> Result<()> {
        wait_until(&format!("the control plane to run {version}"), SOON_ON_EKS, async || {
            let object = self.object().await?;
            let available = condition(&object, "Available").is_some_and(|(status, ..)| status == "True");
            let is_it = text(&object, "/status/version") == version;
            Ok(Probe::when(available && is_it, || {
                object.pointer("/status").map_or_else(String::new, Value::to_string)
            }))
        })
        .await
    }

    /// Waits until a condition of the control plane is true.
    pub(super) async fn has_condition(&self, kind: &str) -> Result<()> {
        let what = format!("{kind} of the control plane");
        let is_true = |(status, ..): (&str, &str, &str)| status == "True";
        until_condition(&what, SOON_ON_EKS, async || self.object().await, kind, is_true).await?;
        Ok(())
    }

    /// Prints what the kubectl plugin reports of all objects of a kind.
    pub(super) async fn explains(&self, kind: &str) -> Result<()> {
        let plugin = beside_us("kubectl-foo")?;
        let arguments = ["explain", "--namespace", CLUSTER, &format!("{kind}/{CLUSTER}")].map(str::to_owned);
        let api = self.env.world.api();
        let printed = api.run(&plugin.display().to_string(), &arguments, &[], "").await?;
        self.env.reporter.prints(&format!("kubectl foo {}", arguments.join(" ")), &printed.stdout);
        ensure!(printed.stdout.contains(CLUSTER), "kubectl foo explain printed {}", printed.stdout);
        Ok(())
    }

    /// Writes the kubeconfig that Cluster API reads into a file, as `clusterctl get kubeconfig` does.
    pub(super) async fn write_kubeconfig(&self) -> Result<PathBuf> {
        let name = format!("{CLUSTER}-kubeconfig");
        let secret = kinds::read(self.env.world.client(), Kind::Secret, CLUSTER, &name).await?;
        let secret = secret.with_context(|| format!("no Secret {name}"))?;
        let kubeconfig = BASE64.decode(text(&secret, "/data/value")).context("a kubeconfig in base64")?;
        let path = self.kubeconfig_path();
        crate::pki::write(&path, &String::from_utf8(kubeconfig)?)?;
        Ok(path)
    }

    pub(super) fn kubeconfig_path(&self) -> PathBuf {
        self.env.world.rig().folder().join(format!("{CLUSTER}-eks.kubeconfig"))
    }

    /// What kubectl prints of the cluster on EKS, with the kubeconfig that was written last.
    pub(super) async fn kubectl_there(&self, arguments: &[&str]) -> Result<String> {
        let path = self.kubeconfig_path().display().to_string();
        let all = ["--kubeconfig", path.as_str()].into_iter().chain(arguments.iter().copied());
        self.env.world.api().kubectl(all).await
    }
}
