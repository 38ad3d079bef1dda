//! cloud-init on an image with `/etc/eks/bootstrap.sh`: one cloud-config that joins the cluster with it.
//!
//! `bootstrap.sh` runs as a command of the cloud-config, or, for Nodes that join once their instance is in service, in a
//! unit of systemd.

mod joining;
mod read;
mod write;

pub(crate) use read::{CloudConfig, cloud_config, read};
pub(crate) use write::render;

/// What configures and starts the kubelet.
const BOOTSTRAP: &str = "/etc/eks/bootstrap.sh";
