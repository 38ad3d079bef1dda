//! Starts the real components on loopback for tests and the demo, and stands in for kubelets.
//!
//! etcd, kube-apiserver, kube-controller-manager, Cluster API core, its kubeadm bootstrap provider and clusterctl are
//! the published programs, built by `hack/tools/build.sh`; nothing of them is simulated. Three things that a cluster
//! has are missing, and [`Kubelets`] stands in for them as far as a drain depends on them: kubelets, a scheduler, and
//! the controllers that clean up after a terminated instance. No container runs.
//!
//! Layers, each usable without the ones above:
//! * [`Rig`]: the real components without the provider. A test sets what runs in the cloud through [`Instances`].
//! * [`World`]: a rig with our provider installed, our managers as processes, and a simulated AWS.
//! * [`ClusterServers`]: a real API server behind each cluster of a simulated EKS; a [`World`] has them, too.
//! * [`story`]: the main job, run and verified; `foo-demo` and an end-to-end test are two ways to watch it.
//!
//! ```no_run
//! # async fn example() -> anyhow::Result<()> {
//! use foo_testbed::{InstanceList, KubeletOptions, Kubelets, NodeSpec, Rig, RigOptions};
//! let rig = Rig::start(RigOptions::default()).await?;
//! let instances = InstanceList::default();
//! instances.launch(NodeSpec::new("node-1", "aws:///eu-west-1a/i-0123456789abcdef0"));
//! let kubelets = Kubelets::start(rig.api().client(), instances.clone(), KubeletOptions::default());
//! println!("{}", rig.api().kubectl(["get", "nodes"]).await?);
//! assert!(kubelets.undrained().is_empty());
//! # Ok(()) }
//! ```
//!
//! A world's managers have the rights of their ServiceAccounts; on request they are started again when they exit, or
//! run with a wall clock that a test sets. For moves there is a second `ManagementCluster`. It starts `foo-manager` as
//! a process and does not link it. Programs: `foo-rig` and `foo-demo` (`--eks`: the life of a cluster on EKS).

mod api_server;
mod capi;
mod commands;
mod controllers;
mod eks;
mod folder;
mod http;
mod kubelets;
mod pki;
mod ports;
mod process;
mod rig;
mod simulated;
mod store;
pub mod story;
mod tools;
mod wait;
pub mod world;

pub use api_server::ApiServer;
pub use capi::{Capi, CapiOptions, Provider, ProviderKind, point_webhooks_at};
pub use commands::{Printed, beside_us, run};
pub use controllers::Controllers;
pub use eks::{ClusterServer, ClusterServers};
pub use kubelets::{InstanceList, Instances, Join, KubeletOptions, Kubelets, NodeSpec, PodDeath, PodEnd};
pub use pki::{KeyAndCertificate, Pki};
pub use ports::free_port;
pub use process::{Process, Signal};
pub use rig::{Rig, RigOptions};
pub use simulated::{CONTROL_PLANE_ROLE, NODE_ROLE, prepare_eks, publish_images, service_role};
pub use tools::Tools;
pub use wait::{Probe, nothing_happens, on_this_machine, until_quiet, wait_until, watched_for};
pub use world::World;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A test that panicked with the lock must not hide its own message behind a poisoned lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
