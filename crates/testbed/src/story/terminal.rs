//! What a user types to inspect a world from another terminal.

use crate::{Tools, World, beside_us};
use anyhow::{Context as _, Result};

/// The commands that make kubectl, its plugin, clusterctl and whatever speaks to AWS find a world.
pub fn exports(world: &World) -> Result<Vec<String>> {
    let api = world.api();
    let config = world.rig().capi()?.clusterctl_config();
    Ok(vec![
        format!("export KUBECONFIG={}", api.kubeconfig_path().display()),
        format!("export PATH={}:$PATH", folders(api.tools())?),
        format!(
            "export CLUSTERCTL_CONFIG={} CLUSTERCTL_DISABLE_VERSIONCHECK=true GOPROXY=off",
            config.display()
        ),
        format!("export AWS_ENDPOINT_URL={}", world.aws().endpoint()),
    ])
}

/// Where the programs are: those of Kubernetes and Cluster API, and the provider's.
fn folders(tools: &Tools) -> Result<String> {
    let (kubectl, plugin) = (tools.program("kubectl"), beside_us("kubectl-foo")?);
    let folder_of = |program: &std::path::Path| program.parent().map(|folder| folder.display().to_string());
    let upstream = folder_of(&kubectl).context("kubectl without folder")?;
    let own = folder_of(&plugin).context("kubectl-foo without folder")?;
    Ok(format!("{upstream}:{own}"))
}
