//! The whole system: a [`Rig`] with our provider installed by clusterctl, our managers as processes, a simulated AWS,
//! and kubelets on its instances.
//!
//! A world takes about 15 s to start and 700 MB, so many tests share one: each works in a namespace and a Cluster of
//! its own, and everything here that could disturb others is marked.
//!
//! ```no_run
//! # async fn example() -> anyhow::Result<()> {
//! use foo_testbed::world::{World, WorldOptions};
//! let world = World::start(WorldOptions::default()).await?;
//! let cluster = world.cluster("example").await?;
//! let pool = cluster.pool("workers", 3).await?;
//! pool.settles_at(3).await?;
//! assert!(world.undrained().is_empty());
//! # Ok(()) }
//! ```

mod audit;
mod aws;
mod clock;
mod cluster;
mod diagnostics;
pub mod kinds;
mod management;
mod manager;
pub mod manifests;
pub mod network;
mod pool;
mod restarts;
mod view;

pub use audit::Request;
pub use aws::{Aws, Failing, GROUP_LABEL, IMAGE, INSTANCE_TYPE, REGION, SECURITY_GROUP, SUBNETS};
pub use clock::ManagerClock;
pub use cluster::Cluster;
pub use management::ManagementCluster;
use manager::Managers;
pub use manager::{Manager, PROGRAM as MANAGER_PROGRAM, program as manager_program};
pub use manifests::PoolName;
pub use pool::{Pool, Workload};
pub use restarts::Restarts;
pub use view::{MachineView, PoolView};

use crate::folder::Folder;
use crate::{
    ApiServer, CapiOptions, ClusterServers, KubeletOptions, Kubelets, PodDeath, Provider, ProviderKind, Rig,
    RigOptions, Tools, lock,
};
use anyhow::{Context as _, Result};
use aws::{Clusters, Elsewhere, Running};
use clock::MovedClock;
use kinds::{History, Kind};
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::TypeMeta;
use kube::{Api, Client};
use restarts::Restarter;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Version under which our provider is released into a world.
pub const RELEASE: &str = "v0.1.0";

/// The service accounts that our managers run under.
const MANAGERS: [&str; 2] = [
    "system:serviceaccount:foo-system:foo-manager",
    "system:serviceaccount:foo-control-plane-system:foo-control-plane-manager",
];

/// From the eviction of a pod to its containers having ended, unless a test sets another value.
const POD_SHUTDOWN: Duration = Duration::from_millis(300);
/// How long a world takes to start where deadlines were written; those of a slower machine grow with it.
const TYPICAL_START: Duration = Duration::from_secs(15);
/// How often the managers of a world read AWS when they know of nothing to come. Whatever they would do by themselves
/// they have begun within one of these.
pub const QUIET_PERIOD: Duration = Duration::from_secs(5);
/// How often they poll while they expect something.
pub const ACTIVE_PERIOD: Duration = Duration::from_secs(1);
/// How long anything may take that does not wait for a drain. Generous: a machine may be busy with a build.
pub const SOON: Duration = Duration::from_mins(2);
/// The same with drains in it: Cluster API core reads a drain only every 20 s, whatever happens in between.
pub const AFTER_DRAIN: Duration = Duration::from_mins(4);

/// How a world is set up.
#[derive(Clone, Debug)]
pub struct WorldOptions {
    /// As in [`RigOptions::folder`].
    pub folder: Option<PathBuf>,
    /// Flags of the infrastructure manager beside those of the release; they win over the release's.
    pub manager_args: Vec<String>,
    /// AWS's events go into a queue, and the infrastructure manager reads it.
    pub events: bool,
    /// Cluster API's kubeadm bootstrap provider is there, too.
    pub kubeadm_bootstrap: bool,
    /// Versions that kubelets on certain images report; otherwise it is that of the API server.
    pub kubelet_versions: BTreeMap<String, String>,
    /// From the eviction of a pod to its containers having ended.
    pub pod_shutdown: Duration,
    /// Managers that end by themselves are started again. None: they stay away until a test starts them.
    pub restarts: Option<Restarts>,
    /// Whose clock the infrastructure manager has.
    pub clock: ManagerClock,
}

impl Default for WorldOptions {
    /// The manager of the release, but reading AWS more often than one would want to pay for.
    fn default() -> Self {
        let args = [
            format!("--aws-quiet-period={}s", QUIET_PERIOD.as_secs()),
            format!("--aws-active-period={}s", ACTIVE_PERIOD.as_secs()),
            format!("--aws-network-period={}s", QUIET_PERIOD.as_secs()),
            "--settle-time=3s".to_owned(),
            "--log-level=info,foo_controller=debug".to_owned(),
        ];
        Self {
            folder: None,
            manager_args: args.to_vec(),
            events: false,
            kubeadm_bootstrap: false,
            kubelet_versions: BTreeMap::new(),
            pod_shutdown: POD_SHUTDOWN,
            restarts: None,
            clock: ManagerClock::Machine,
        }
    }
}

/// The running system. Dropping it stops everything.
pub struct World {
    // Dropped in this order: a component ends before what it talks to.
    restarter: Restarter,
    manager: Arc<Manager>,
    control_plane_manager: Arc<Manager>,
    bootstrap_manager: Arc<Manager>,
    kubelets: Kubelets,
    cluster_servers: ClusterServers,
    elsewhere: Elsewhere,
    rig: Rig,
    aws: Aws,
    manager_args: Vec<String>,
    restarts: Option<Restarts>,
    clock: Option<MovedClock>,
}

impl World {
    /// Starts everything and waits until it is ready.
    pub async fn start(options: WorldOptions) -> Result<Self> {
        let began = Instant::now();
        // Everything that is started at once is a large future.
        let world = Box::pin(Self::start_all(options)).await?;
        crate::wait::measured(began.elapsed(), TYPICAL_START);
        Ok(world)
    }

    async fn start_all(options: WorldOptions) -> Result<Self> {
        // Before anything is created: a missing program is the first thing to report.
        manager::program()?;
        Tools::find()?;
        let folder = Folder::prepare(options.folder)?;
        let providers = released_providers(&folder.path().join("release"))?;
        let rig_options = RigOptions {
            folder: None,
            capi: Some(CapiOptions {
                providers,
                kubeadm_bootstrap: options.kubeadm_bootstrap,
                variables: variables(),
                ..CapiOptions::default()
            }),
            apiserver_args: apiserver_args(folder.path())?,
        };
        let (rig, aws) = tokio::try_join!(Rig::start_in(folder, rig_options), Aws::start())?;
        let elsewhere = Elsewhere::default();
        let clusters = Clusters::AllBut(Arc::clone(&elsewhere));
        let running = Running {
            region: aws.region().clone(),
            clusters,
            kubelet_versions: options.kubelet_versions,
            user_data: Arc::default(),
        };
        let kubelets = start_kubelets(rig.api(), running, options.pod_shutdown);
        let eks = rig.folder().join("eks");
        let cluster_servers =
            ClusterServers::start(aws.simulator(), REGION, &eks, kubelet_options(options.pod_shutdown))
                .await?;
        let mut manager_args = options.manager_args;
        if options.events {
            manager_args.extend(aws.queue_of_events()?);
        }
        let managers = Managers::of(rig.api(), &aws, &manager_args).await?;
        let clock = match options.clock {
            ManagerClock::Machine => None,
            ManagerClock::Movable => Some(MovedClock::new(rig.folder()).await?),
        };
        let manager = Arc::new(managers.infrastructure.with_env(clock.iter().flat_map(MovedClock::env)));
        let control_plane_manager = Arc::new(managers.control_plane);
        let bootstrap_manager = Arc::new(managers.bootstrap);
        let (restarter, restarts) = (Restarter::default(), options.restarts);
        let mut world = Self {
            restarter,
            manager,
            control_plane_manager,
            bootstrap_manager,
            kubelets,
            cluster_servers,
            elsewhere,
            rig,
            aws,
            manager_args,
            restarts,
            clock,
        };
        let started = world.start_managers().await;
        if started.is_err() {
            // The error names a log.
            world.rig.keep_folder();
        }
        started.map(|()| world)
    }

    async fn start_managers(&mut self) -> Result<()> {
        tokio::try_join!(
            self.manager.start(),
            self.control_plane_manager.start(),
            self.bootstrap_manager.start()
        )?;
        if let Some(restarts) = &self.restarts {
            let managers = [&self.manager, &self.control_plane_manager, &self.bootstrap_manager];
            self.restarter = Restarter::of(managers, restarts);
        }
        Ok(())
    }

    /// Kubernetes and Cluster API.
    pub fn rig(&self) -> &Rig {
        &self.rig
    }

    /// The management cluster's API server, which is also the workload cluster's unless a test sets another value.
    pub fn api(&self) -> &ApiServer {
        self.rig.api()
    }

    /// An administrator's client of the management cluster.
    pub fn client(&self) -> Client {
        self.rig.api().client()
    }

    /// AWS.
    pub fn aws(&self) -> &Aws {
        &self.aws
    }

    /// The manager of pools and FooClusters. Stopping it stops it for all tests in this world.
    pub fn manager(&self) -> &Manager {
        &self.manager
    }

    /// The manager of FooControlPlanes.
    pub fn control_plane_manager(&self) -> &Manager {
        &self.control_plane_manager
    }

    /// The manager of FooNodeConfigs.
    pub fn bootstrap_manager(&self) -> &Manager {
        &self.bootstrap_manager
    }

    /// What the managers show of themselves ([`Manager::shows`]).
    pub async fn shows(&self) -> String {
        let managers = [self.manager(), self.control_plane_manager(), self.bootstrap_manager()];
        futures::future::join_all(managers.map(Manager::shows)).await.join("\n")
    }

    /// From now on the infrastructure manager's wall clock is off by this many seconds. An error unless the world was
    /// started with [`ManagerClock::Movable`].
    pub fn move_managers_clock(&self, seconds: i64) -> Result<()> {
        self.clock.as_ref().context("the manager has the machine's clock")?.set(seconds)
    }

    /// So much time passes at once for AWS and for the infrastructure manager; Kubernetes and Cluster API keep the
    /// machine's clock, and so do the authenticators of EKS's clusters: STS reports which tokens are too old. The
    /// manager finds out when something wakes it; one that is elected leader may have to end, because it could not
    /// renew its Lease. An error unless the world was started with [`ManagerClock::Movable`].
    pub fn passes(&self, time: Duration) -> Result<()> {
        let clock = self.clock.as_ref().context("the manager has the machine's clock")?;
        // In this order: a manager that is ahead of AWS for a moment signs tokens that are older, not ones that AWS
        // does not know yet.
        clock.advance(time)?;
        self.aws.simulator().pass(time);
        Ok(())
    }

    /// The kubelets on the management cluster's own API server.
    pub fn kubelets(&self) -> &Kubelets {
        &self.kubelets
    }

    /// The API servers of the clusters of the simulated EKS, each with kubelets of its own.
    pub fn cluster_servers(&self) -> &ClusterServers {
        &self.cluster_servers
    }

    /// The pods that were lost with their instance although a drain would have moved them: empty, whatever happens. Not
    /// among them: those on instances that [`Aws::kill_instance`] ended, and those of deleted clusters in the simulated
    /// EKS.
    pub fn undrained(&self) -> Vec<PodDeath> {
        let killed = self.aws.killed();
        let mut deaths = self.kubelets.undrained();
        deaths.extend(self.cluster_servers.undrained());
        deaths.retain(|death| {
            let instance = death.provider_id.as_deref().and_then(|id| id.rsplit('/').next());
            !instance.is_some_and(|id| killed.contains(id))
        });
        deaths
    }

    /// Fails if pods were lost undrained.
    pub fn check_nothing_undrained(&self) -> Result<()> {
        let undrained = self.undrained();
        anyhow::ensure!(undrained.is_empty(), "pods were lost with their instance: {undrained:#?}");
        Ok(())
    }

    /// An administrator's client of a Cluster's workload cluster.
    pub fn workload_client(&self, cluster: &str) -> Client {
        lock(&self.elsewhere).get(cluster).cloned().unwrap_or_else(|| self.client())
    }

    /// From now on the Nodes of a Cluster are on this API server, whose kubelets are its own.
    pub fn finds_nodes_on(&self, cluster: &str, workload: &ApiServer) {
        lock(&self.elsewhere).insert(cluster.to_owned(), workload.client());
    }

    /// Writes an object as a user would, by server-side apply.
    pub async fn apply(&self, object: &Value) -> Result<()> {
        Self::apply_by(self.client(), object).await
    }

    /// The same in the workload cluster of a Cluster.
    pub async fn apply_in(&self, cluster: &str, object: &Value) -> Result<()> {
        Self::apply_by(self.workload_client(cluster), object).await
    }

    async fn apply_by(client: Client, object: &Value) -> Result<()> {
        let types: TypeMeta = serde_json::from_value(object.clone()).context("an object without kind")?;
        let resource = ApiResource::from_gvk(&(&types).try_into().context("an object without kind")?);
        let name = kinds::text(object, "/metadata/name");
        let objects: Api<DynamicObject> = match kinds::text(object, "/metadata/namespace") {
            "" => Api::all_with(client, &resource),
            namespace => Api::namespaced_with(client, namespace, &resource),
        };
        let params = PatchParams::apply("foo-testbed").force();
        let applied = objects.patch(name, &params, &Patch::Apply(object)).await;
        applied.map(drop).with_context(|| format!("applying {} {name}", types.kind))
    }

    /// From now on every version of the objects of a kind in a namespace.
    pub async fn history(&self, kind: Kind, namespace: &str) -> Result<History> {
        History::of(self.client(), kind, namespace).await
    }

    /// What the managers asked of the management cluster's API server so far, in order, reads left out.
    pub fn writes(&self) -> Result<Vec<Request>> {
        audit::writes(self.rig.folder())
    }

    /// What service accounts of our namespaces asked for and were not allowed to, in order.
    pub fn forbidden(&self) -> Result<Vec<Request>> {
        audit::forbidden(self.rig.folder())
    }

    /// Fails if a manager lacks a right that it tried to use.
    pub fn check_nothing_forbidden(&self) -> Result<()> {
        let by_managers = |request: &Request| MANAGERS.contains(&request.user.as_str());
        let forbidden: Vec<Request> = self.forbidden()?.into_iter().filter(by_managers).collect();
        anyhow::ensure!(forbidden.is_empty(), "a manager lacks rights: {forbidden:#?}");
        Ok(())
    }

    /// The same where the API server was restarted: for a moment it allowed no request.
    pub fn check_nothing_is_always_forbidden(&self) -> Result<()> {
        let by_managers = |request: &Request| MANAGERS.contains(&request.user.as_str());
        let forbidden: Vec<Request> =
            audit::never_allowed(self.rig.folder())?.into_iter().filter(by_managers).collect();
        anyhow::ensure!(forbidden.is_empty(), "a manager lacks rights: {forbidden:#?}");
        Ok(())
    }

    /// Uses another API server as the workload cluster of a Cluster that does not exist yet: its Nodes will be there.
    /// The kubelets live as long as what is returned.
    pub(crate) fn moves_to(&self, cluster: &str, workload: &ApiServer) -> Kubelets {
        lock(&self.elsewhere).insert(cluster.to_owned(), workload.client());
        let clusters = Clusters::Only(cluster.to_owned());
        let region = self.aws.region().clone();
        let running =
            Running { region, clusters, kubelet_versions: BTreeMap::new(), user_data: Arc::default() };
        start_kubelets(workload, running, POD_SHUTDOWN)
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("folder", &self.rig.folder()).finish_non_exhaustive()
    }
}

/// The audit log, and a plugin that many clusters have on: it asks for rights that are not needed without it.
fn apiserver_args(folder: &Path) -> Result<Vec<String>> {
    let mut args = audit::apiserver_args(folder)?;
    args.push("--enable-admission-plugins=OwnerReferencesPermissionEnforcement".to_owned());
    Ok(args)
}

fn start_kubelets(api: &ApiServer, running: Running, pod_shutdown: Duration) -> Kubelets {
    Kubelets::start(api.client(), running, kubelet_options(pod_shutdown))
}

fn kubelet_options(pod_shutdown: Duration) -> KubeletOptions {
    KubeletOptions {
        pod_startup: Duration::from_millis(300),
        pod_shutdown,
        kubelet_version: manifests::VERSION.to_owned(),
        ..KubeletOptions::default()
    }
}

/// What clusterctl fills into the release and into our cluster template. The Secrets are those of a Cluster `demo`.
fn variables() -> Vec<(String, String)> {
    let ids = |ids: &[&str]| {
        let ids: Vec<String> = ids.iter().map(|id| format!("{{id: {id}}}")).collect();
        format!("[{}]", ids.join(", "))
    };
    let demo = manifests::DEMO;
    [
        ("FOO_LOG_FORMAT", "text".to_owned()),
        ("AWS_REGION", REGION.to_owned()),
        ("FOO_SUBNETS", ids(&SUBNETS)),
        ("FOO_SECURITY_GROUPS", ids(&[SECURITY_GROUP])),
        ("FOO_AMI_ID", IMAGE.to_owned()),
        ("FOO_INSTANCE_PROFILE", "nodes.foo.com".to_owned()),
        (
            "FOO_CONTROL_PLANE_ROLE_ARN",
            format!("arn:aws:iam::{}:role/eks-control-plane", foo_simulator::DEFAULT_ACCOUNT),
        ),
        ("FOO_KUBECONFIG_SECRET", manifests::existing_kubeconfig(demo)),
        ("FOO_BOOTSTRAP_SECRET", format!("{demo}-bootstrap")),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

/// Writes a release of our provider to a folder; what clusterctl has to know to install it.
pub fn released_providers(folder: &Path) -> Result<Vec<Provider>> {
    xtask::release::write(&xtask::root(), RELEASE, xtask::release::IMAGE, folder)
        .context("writing the release folder")?;
    let provider = |kind, label: &str| Provider {
        name: "foo".to_owned(),
        kind,
        version: RELEASE.to_owned(),
        folder: folder.join(label),
    };
    Ok(vec![
        provider(ProviderKind::Infrastructure, "infrastructure-foo"),
        provider(ProviderKind::ControlPlane, "control-plane-foo"),
        provider(ProviderKind::Bootstrap, "bootstrap-foo"),
    ])
}
