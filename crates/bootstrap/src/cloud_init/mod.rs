//! cloud-init on an image with `/etc/eks/bootstrap.sh`: one cloud-config that joins the cluster with it.

mod read;
mod write;

pub(crate) use read::{CloudConfig, cloud_config, read};
pub(crate) use write::render;

/// What configures and starts the kubelet.
const BOOTSTRAP: &str = "/etc/eks/bootstrap.sh";
