//! Leader election by a Lease: of several replicas of the manager one is active.
//!
//! * [`state`]: the rules, pure, and the argument for their safety;
//! * [`leadership`]: whether this process leads, for all code that is about to change something;
//! * `lease`: the object on the API server;
//! * this file: the driver, which reads the clock, calls the API server and informs the process.
//!
//! Why it is not a library: `docs/decisions/0004`.

pub mod leadership;
mod lease;
pub mod state;

#[cfg(test)]
mod driver_tests;
#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod state_tests;

pub use leadership::Leadership;
pub use state::Timing;

use crate::clock::{KubernetesClock, kube_time};
use foo_cloud::Watchdog;
use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, Client};
use lease::LeaseObject;
use prometheus_client::metrics::counter::Counter;
use state::{Election, Step, Write, Written};
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// Maximum time for a release: without one the others wait for the lease duration.
const RELEASE_PATIENCE: Duration = Duration::from_secs(3);

/// Which Lease, and the identity of this candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Namespace of the Lease.
    pub namespace: String,
    /// Name of the Lease.
    pub name: String,
    /// Different from every other candidate's, including those of earlier processes.
    pub identity: String,
    /// Periods.
    pub timing: Timing,
}

/// The state of a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// The Lease has not been read yet.
    Starting,
    /// Another replica leads, or none does.
    Standby {
        /// The holder, if there is one.
        holder: Option<String>,
    },
    /// This replica leads.
    Leading,
    /// This replica led and must not work any more.
    Lost,
    /// This replica led and released the Lease.
    Released,
}

/// A candidate whose driver runs. Dropping it ends the driver without a release.
#[derive(Debug)]
pub struct Candidate {
    standing: watch::Receiver<Role>,
    leadership: Leadership,
    release: CancellationToken,
    /// Kept here as well: a driver that ended never makes progress again.
    watchdog: Watchdog,
    task: AbortOnDropHandle<()>,
}

impl Candidate {
    /// Starts to compete for the Lease. `client` must not repeat failed requests by itself: a repetition
    /// would delay the report of the failure beyond the end of the leadership. Counts the changes of the
    /// holder that it sees in `transitions`.
    pub fn start(client: Client, settings: Settings, clock: KubernetesClock, transitions: Counter) -> Self {
        let start = Instant::now();
        let leadership = Leadership::none(start);
        let release = CancellationToken::new();
        let (announced, standing) = watch::channel(Role::Starting);
        let watchdog = Watchdog::default();
        let api: Api<Lease> = Api::namespaced(client, &settings.namespace);
        let driver = Driver {
            election: Election::new(settings.identity, settings.timing),
            lease: LeaseObject { api, name: settings.name, acquired: None },
            timing: settings.timing,
            start,
            clock,
            leadership: leadership.clone(),
            standing: announced,
            release: release.clone(),
            watchdog: watchdog.clone(),
            holder: None,
            transitions,
        };
        Self {
            standing,
            leadership,
            release,
            watchdog,
            task: AbortOnDropHandle::new(tokio::spawn(driver.run())),
        }
    }

    /// [`Candidate::start`] on a thread of its own, where `client` is created, too: work that blocks the
    /// workers of the process, above all the decoding of large lists, does not delay the renewal.
    pub async fn start_apart(
        client: impl FnOnce() -> kube::Result<Client> + Send + 'static,
        settings: Settings,
        clock: KubernetesClock,
        transitions: Counter,
    ) -> anyhow::Result<Self> {
        let (announce, announced) = oneshot::channel();
        let elect = move || {
            let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => return drop(announce.send(Err(error.into()))),
            };
            runtime.block_on(async move {
                let client = match client() {
                    Ok(client) => client,
                    Err(error) => return drop(announce.send(Err(error.into()))),
                };
                let candidate = Self::start(client, settings, clock, transitions);
                let mut standing = candidate.standing();
                if announce.send(Ok(candidate)).is_ok() {
                    // The channel closes when the election ends.
                    while standing.changed().await.is_ok() {}
                }
            });
        };
        std::thread::Builder::new().name("leader-election".to_owned()).spawn(elect)?;
        announced.await?
    }

    /// Whether this process leads, for all code that is about to change something.
    pub fn leadership(&self) -> Leadership {
        self.leadership.clone()
    }

    /// The state, whenever it changes. The channel closes when the election ends.
    pub fn standing(&self) -> watch::Receiver<Role> {
        self.standing.clone()
    }

    /// The watchdog of the election task; a standby whose task is stuck would never take over.
    pub fn watchdog(&self) -> &Watchdog {
        &self.watchdog
    }

    /// Resolves when this candidate leads, or never will.
    pub async fn elected(&mut self) -> Role {
        self.reaches(|standing| !matches!(standing, Role::Starting | Role::Standby { .. })).await
    }

    /// Resolves when this candidate does not lead any more.
    pub async fn lost(&mut self) -> Role {
        self.reaches(|standing| matches!(standing, Role::Lost | Role::Released)).await
    }

    /// Releases the Lease. All work must have ended.
    pub async fn release(self) {
        self.release.cancel();
        if let Err(error) = self.task.await {
            tracing::error!(%error, "the leader election failed");
        }
    }

    async fn reaches(&mut self, wanted: impl FnMut(&Role) -> bool) -> Role {
        // A closed channel means that the driver ended, possibly by a panic: then nothing renews the Lease
        // any more.
        self.standing.wait_for(wanted).await.map_or(Role::Lost, |standing| standing.clone())
    }
}

struct Driver {
    election: Election,
    lease: LeaseObject,
    timing: Timing,
    start: Instant,
    clock: KubernetesClock,
    leadership: Leadership,
    standing: watch::Sender<Role>,
    release: CancellationToken,
    watchdog: Watchdog,
    /// The last holder of the Lease.
    holder: Option<String>,
    transitions: Counter,
}

impl Driver {
    async fn run(mut self) {
        while !self.release.is_cancelled() {
            match self.election.next(self.start.elapsed()) {
                Step::Read => self.read().await,
                Step::Write(write) => self.write(&write).await,
                Step::Sleep(pause) => {
                    self.watchdog.expects(pause);
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        () = self.release.cancelled() => {}
                    }
                }
                Step::Stop => {
                    self.watchdog.rests();
                    self.leadership.ends_at(None);
                    tracing::error!("no longer the leader");
                    self.announce(Role::Lost);
                    return;
                }
            }
            self.count_transitions();
            self.log_role();
        }
        self.release_lease().await;
    }

    async fn read(&mut self) {
        let patience = self.patience();
        self.watchdog.expects(patience);
        let response = timeout(patience, self.lease.read()).await;
        let now = self.start.elapsed();
        match response {
            Ok(Ok(record)) => self.election.was_read(now, record),
            Ok(Err(error)) => {
                tracing::warn!(%error, "could not read the Lease");
                self.election.was_not_read(now);
            }
            Err(_elapsed) => {
                tracing::warn!("could not read the Lease in time");
                self.election.was_not_read(now);
            }
        }
    }

    async fn write(&mut self, write: &Write) {
        let patience = self.patience();
        self.watchdog.expects(patience);
        let wall = kube_time(&self.clock);
        let response = timeout(patience, self.lease.write(write, wall)).await;
        let written = match response {
            Ok(Ok(written)) => written,
            Ok(Err(error)) => {
                tracing::warn!(%error, "could not write the Lease");
                Written::Failed
            }
            Err(_elapsed) => {
                tracing::warn!("could not write the Lease in time");
                Written::Failed
            }
        };
        self.election.was_written(self.start.elapsed(), written);
        self.leadership.ends_at(self.election.leads_until());
    }

    /// How long to wait for a response: never past the end of the leadership.
    fn patience(&self) -> Duration {
        let now = self.start.elapsed();
        let left = self.election.leads_until().map(|until| until.saturating_sub(now));
        left.unwrap_or(self.timing.renew_deadline).min(self.timing.renew_deadline / 2)
    }

    fn count_transitions(&mut self) {
        let Some(holder) = self.election.holder().filter(|holder| !holder.is_empty()) else { return };
        if self.holder.as_deref() == Some(holder) {
            return;
        }
        if self.holder.replace(holder.to_owned()).is_some() {
            self.transitions.inc();
        }
    }

    fn log_role(&self) {
        if self.election.leads(self.start.elapsed()) {
            self.announce(Role::Leading);
        } else if *self.standing.borrow() != Role::Leading {
            self.announce(Role::Standby { holder: self.election.holder().map(str::to_owned) });
        }
    }

    fn announce(&self, standing: Role) {
        self.standing.send_if_modified(|announced| {
            if *announced == standing {
                return false;
            }
            tracing::info!(?standing, "leader election");
            *announced = standing;
            true
        });
    }

    async fn release_lease(&mut self) {
        self.watchdog.rests();
        let write = self.election.release(self.start.elapsed());
        self.leadership.ends_at(None);
        if let Some(write) = write {
            let wall = kube_time(&self.clock);
            match timeout(RELEASE_PATIENCE, self.lease.write(&write, wall)).await {
                Ok(Ok(_)) => tracing::info!("released the Lease"),
                Ok(Err(error)) => tracing::warn!(%error, "could not release the Lease"),
                Err(_elapsed) => tracing::warn!("could not release the Lease in time"),
            }
        }
        self.announce(Role::Released);
    }
}
