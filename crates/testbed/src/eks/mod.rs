//! A real kube-apiserver behind each cluster of the simulated EKS.
//!
//! [`ClusterServers`] watches the clusters of a region. For one that is created it starts etcd, kube-apiserver and
//! kube-controller-manager, with an authority of their own, and reports endpoint and authority to the simulator.
//! Clusters stay CREATING until then (`waits_for_server`), so that no client ever sees another endpoint. When a cluster
//! is deleted its server ends; all end with the process, whatever ends it.
//!
//! What is as on EKS, and what is not:
//! * The version is that of the test bed's kube-apiserver, whatever the version of the cluster, also after its update.
//! * Tokens are reviewed by the real aws-iam-authenticator ([`authenticator`]), which reaches the simulated STS and EC2
//!   under the names that AWS has ([`endpoints`]). No review is remembered but by kube-apiserver itself: for ten
//!   seconds, if the token was good.
//! * Access policies become bindings to the roles of RBAC that they are modelled after ([`rights`]), as late as the
//!   simulated EKS applies them (`policies_apply_after`, `policies_apply_spread`). The ConfigMap aws-auth is not read.
//! * Instances whose user data names a cluster join it with the credentials of their own role, over its endpoint
//!   ([`nodes`]).
//! * Endpoint access and security groups do not matter: every server is on loopback.

mod authenticator;
mod endpoints;
mod nodes;
mod rights;
mod server;
mod shared;
mod user_data;

pub use server::ClusterServer;
pub(crate) use user_data::UserDataCache;

use crate::kubelets::KubeletOptions;
use crate::{ApiServer, PodDeath, Probe, Tools, lock, wait_until};
use anyhow::{Context as _, Result};
use endpoints::Endpoints;
use foo_model::eks::ClusterStatus;
use foo_simulator::core::eks::cluster::Cluster;
use shared::Shared;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How often the clusters are read.
const TICK: Duration = Duration::from_millis(200);
/// How long to leave a cluster alone whose server did not start.
const RETRY: Duration = Duration::from_secs(5);
/// How long a server takes to start, generously: a machine may be busy with a build.
const STARTED: Duration = Duration::from_mins(3);
/// A cluster by name and by the id that only it has: one of the same name that is created later is another one.
type Key = (String, String);
/// The servers that run.
type Servers = Arc<Mutex<BTreeMap<Key, Arc<ClusterServer>>>>;

/// The API servers of the clusters of a region. Dropping it ends them.
#[derive(Debug)]
pub struct ClusterServers {
    shared: Arc<Shared>,
    servers: Servers,
    /// Aborted when dropped.
    _tasks: JoinSet<()>,
    /// Starts of servers end when it is dropped.
    _alive: watch::Sender<()>,
}

impl ClusterServers {
    /// Starts watching the clusters of a region of a simulated AWS; logs, keys and stores are below `folder`. From now
    /// on clusters of that region wait for their servers.
    pub async fn start(
        aws: &foo_simulator::Simulator,
        region: &str,
        folder: &Path,
        kubelets: KubeletOptions,
    ) -> Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
        let shared = Arc::new(Shared {
            simulator: aws.clone(),
            endpoints: Endpoints::start(aws, folder).await?,
            region: aws.region(region),
            tools: Tools::find()?,
            folder: folder.to_owned(),
            kubelets,
            refused_nodes: Mutex::default(),
            user_data: UserDataCache::default(),
        });
        shared.region.change_settings(|settings| settings.eks.waits_for_server = true)?;
        let mut tasks = JoinSet::new();
        let (alive, ended) = watch::channel(());
        let servers = Servers::default();
        tasks.spawn(reconcile_servers(Arc::clone(&shared), Arc::clone(&servers), ended));
        Ok(Self { shared, servers, _tasks: tasks, _alive: alive })
    }

    /// The API server of a cluster, if it runs.
    pub fn api(&self, cluster: &str) -> Option<Arc<ClusterServer>> {
        let servers = lock(&self.servers);
        servers.iter().find(|((name, _), _)| name == cluster).map(|(_, server)| Arc::clone(server))
    }

    /// The API server of a cluster, once it runs.
    pub async fn wait_for(&self, cluster: &str) -> Result<Arc<ClusterServer>> {
        wait_until(&format!("the API server of {cluster}"), STARTED, async || {
            Ok(self.api(cluster).map_or_else(|| Probe::NotYet("it does not run".to_owned()), Probe::Done))
        })
        .await
    }

    /// The pods on all of them that were lost with their instance although a drain would have moved them.
    pub fn undrained(&self) -> Vec<PodDeath> {
        lock(&self.servers).values().flat_map(|server| server.kubelets().undrained()).collect()
    }

    /// Why the tokens were refused that clients of a cluster showed, oldest first, in the words of its authenticator.
    pub fn refused_tokens(&self, cluster: &str) -> Vec<String> {
        self.api(cluster).map(|server| server.refused_tokens()).unwrap_or_default()
    }

    /// Why instances whose user data names a cluster have not joined it yet, by instance id.
    pub fn refused_nodes(&self) -> BTreeMap<String, String> {
        lock(&self.shared.refused_nodes).clone()
    }
}

/// Starts and ends servers as the clusters come and go.
async fn reconcile_servers(shared: Arc<Shared>, servers: Servers, ended: watch::Receiver<()>) {
    let runtime = Handle::current();
    let mut starting: BTreeSet<Key> = BTreeSet::new();
    let mut starts = JoinSet::new();
    loop {
        let clusters = shared.region.clusters();
        let there: BTreeSet<Key> = clusters.iter().map(key).collect();
        // Ended outside the lock: killing processes takes milliseconds.
        let gone: Vec<_> = lock(&servers).extract_if(.., |key, _| !there.contains(key)).collect();
        for ((name, id), server) in gone {
            tracing::info!(cluster = name, "its API server ends");
            drop(server);
            drop(std::fs::remove_dir_all(shared.folder.join(folder_of(&name, &id))));
        }
        for cluster in clusters.iter().filter(|cluster| cluster.status != ClusterStatus::Failed) {
            let key = key(cluster);
            if !lock(&servers).contains_key(&key) && starting.insert(key.clone()) {
                let (shared, servers) = (Arc::clone(&shared), Arc::clone(&servers));
                let (mut ended, runtime) = (ended.clone(), runtime.clone());
                // On a thread of its own: waiting for a server is no `Send` future.
                starts.spawn_blocking(move || {
                    runtime.block_on(async {
                        tokio::select! {
                            () = start(&shared, &servers, &key) => {}
                            _ = ended.changed() => {}
                        }
                    });
                    key
                });
            }
        }
        nodes::note_hopeless(&shared);
        while let Some(Ok(key)) = starts.try_join_next() {
            starting.remove(&key);
        }
        tokio::time::sleep(TICK).await;
    }
}

fn key(cluster: &Cluster) -> Key {
    (cluster.name.clone(), cluster.id.clone())
}

fn folder_of(name: &str, id: &str) -> String {
    format!("{name}-{}", id.get(..8).unwrap_or(id))
}

/// Starts the server of a cluster and reports it to the simulator.
async fn start(shared: &Arc<Shared>, servers: &Servers, key: &Key) {
    let (name, id) = key;
    let folder = shared.folder.join(folder_of(name, id));
    match ClusterServer::start(shared, name, id, &folder).await {
        Ok(server) => {
            let address = server.address();
            // Before the simulator reports it: a client that sees the endpoint may request the server at once.
            lock(servers).insert(key.clone(), Arc::new(server));
            let still = shared.region.cluster(name).is_some_and(|cluster| &cluster.id == id);
            if let Err(error) = shared.region.set_cluster_server(name, still.then_some(address)) {
                tracing::info!(cluster = name, %error, "deleted before its API server ran");
            }
        }
        Err(error) => {
            tracing::warn!(cluster = name, "its API server did not start: {error:#}");
            tokio::time::sleep(RETRY).await;
        }
    }
}

/// The server of a cluster is an [`ApiServer`] in all that tests do with one.
impl std::ops::Deref for ClusterServer {
    type Target = ApiServer;

    fn deref(&self) -> &ApiServer {
        self.api()
    }
}
