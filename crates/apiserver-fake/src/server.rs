//! The server: an HTTP service in process, and the handles by which tests read it and interfere with it.

use crate::faults::{Fault, Faults, Injected};
use crate::interference::{Interference, What};
use crate::kinds::Kinds;
use crate::log::{Recorded, Requests};
use crate::store::Store;
use jiff::Timestamp;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch::{Receiver, Sender};
use tokio::time::Instant;

/// The server's clock.
type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What the server knows, behind one lock.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) store: Store,
    pub(crate) interferences: Vec<Interference>,
    /// How often tests interfered with watches.
    pub(crate) interfered: u64,
    pub(crate) open_watches: usize,
    pub(crate) faults: Faults,
    pub(crate) log: Vec<Recorded>,
}

/// The lock, and the bell that rings after every change.
pub(crate) struct Shared {
    state: Mutex<State>,
    bell: Sender<u64>,
    clock: Clock,
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn ticks(&self) -> Receiver<u64> {
        self.bell.subscribe()
    }

    /// The present time by the server's clock.
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    fn ring(&self) {
        self.bell.send_modify(|count| *count += 1);
    }

    /// Runs something on the store and notifies the watches if it changed.
    pub(crate) fn with_store<T>(&self, act: impl FnOnce(&mut Store, &str) -> T) -> (T, bool) {
        let now = self.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let mut state = self.lock();
        let before = state.store.version;
        let result = act(&mut state.store, &now);
        let changed = state.store.version != before;
        drop(state);
        if changed {
            self.ring();
        }
        (result, changed)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// A Kubernetes API server in memory. Clones are handles to the same server.
///
/// Starts empty, with resourceVersion 1. Two servers that get the same requests in the same order end up with the same
/// objects, uids and resourceVersions; timestamps follow tokio's clock from the time of construction on, so they stand
/// still while a paused clock does, or the clock given to [`FakeApiServer::with_clock`].
#[derive(Clone, Debug)]
pub struct FakeApiServer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) client: Arc<str>,
}

impl Default for FakeApiServer {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeApiServer {
    /// A server that knows Secrets, ConfigMaps, Events, Leases, Nodes, Pods, Namespaces, ServiceAccounts, CRDs, Cluster
    /// API's Cluster, MachinePool and Machine, and all kinds of [`foo_api::crds`] with their schemas.
    pub fn new() -> Self {
        let (start, began) = (Timestamp::now(), Instant::now());
        Self::with_clock(move || {
            let passed = jiff::SignedDuration::try_from(began.elapsed()).unwrap_or_default();
            start.checked_add(passed).unwrap_or(Timestamp::MAX)
        })
    }

    /// The same with a clock for creation and deletion timestamps, usually that of the simulated cloud.
    pub fn with_clock(clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let state = State {
            store: Store::new(Kinds::usual(), 0),
            interferences: Vec::new(),
            interfered: 0,
            open_watches: 0,
            faults: Faults::default(),
            log: Vec::new(),
        };
        let shared = Shared { state: Mutex::new(state), bell: Sender::new(0), clock: Arc::new(clock) };
        Self { shared: Arc::new(shared), client: Arc::from("unnamed") }
    }

    /// A client without a name of its own in the log (`unnamed`). Needs a tokio runtime.
    pub fn client(&self) -> kube::Client {
        self.client_as("unnamed")
    }

    /// A client whose requests carry this name in the log and for faults, and as field manager of writes that name
    /// none.
    pub fn client_as(&self, name: &str) -> kube::Client {
        kube::Client::new(self.service_as(name), "default")
    }

    /// The service behind such a client, for those who put layers of their own around it.
    #[must_use]
    pub fn service_as(&self, name: &str) -> Self {
        Self { shared: Arc::clone(&self.shared), client: Arc::from(name) }
    }

    /// Serves the kinds of a CRD, or serves them differently.
    pub fn register(&self, crd: &CustomResourceDefinition) {
        self.shared.lock().store.kinds.add_crd(crd);
    }

    /// Puts a fault to work.
    pub fn inject(&self, fault: Fault) -> Injected {
        self.shared.lock().faults.add(fault)
    }

    /// Withdraws a fault.
    pub fn withdraw(&self, fault: &Injected) {
        self.shared.lock().faults.remove(fault.id);
    }

    /// Withdraws all faults and resumes watches that are suspended, stalled or without bookmarks.
    pub fn heal(&self) {
        let mut state = self.shared.lock();
        state.faults.clear();
        state.interferences.retain(|interference| !interference.what.lasts());
        drop(state);
        self.shared.ring();
    }

    /// All requests done so far, in order, refused and lost ones included.
    pub fn requests(&self) -> Requests {
        Requests(self.shared.lock().log.clone())
    }

    /// Number of writes (POST, PUT, PATCH, DELETE) of a kind.
    pub fn writes(&self, kind: &str) -> usize {
        self.count(|request| request.kind == kind && request.verb.is_write())
    }

    /// Number of reads (GET, LIST, WATCH) of a kind.
    pub fn reads(&self, kind: &str) -> usize {
        self.count(|request| request.kind == kind && !request.verb.is_write())
    }

    fn count(&self, which: impl Fn(&Recorded) -> bool) -> usize {
        self.shared.lock().log.iter().filter(|request| which(request)).count()
    }

    /// Empties the log.
    pub fn reset_counts(&self) {
        self.shared.lock().log.clear();
    }

    /// The newest resourceVersion: it stands still exactly when nothing is written.
    pub fn resource_version(&self) -> u64 {
        self.shared.lock().store.version
    }

    /// How many watches are open.
    pub fn open_watches(&self) -> usize {
        self.shared.lock().open_watches
    }

    /// Forgets the history: every watch that is behind, and every watch that starts from before now, gets 410.
    pub fn compact(&self) {
        self.shared.lock().store.compact();
        self.shared.ring();
    }

    /// All watches, to be narrowed and interfered with.
    pub fn watches(&self) -> Watches {
        Watches { server: self.clone(), kind: "*".to_owned(), client: "*".to_owned() }
    }

    fn interfere(&self, watches: &Watches, what: impl FnOnce(&State) -> What) -> u64 {
        let mut state = self.shared.lock();
        state.interfered += 1;
        let interference = Interference {
            id: state.interfered,
            kind: watches.kind.clone(),
            client: watches.client.clone(),
            what: what(&state),
        };
        let id = interference.id;
        state.interferences.push(interference);
        drop(state);
        self.shared.ring();
        id
    }
}

/// Some watches, chosen by kind and client.
#[derive(Clone, Debug)]
pub struct Watches {
    server: FakeApiServer,
    kind: String,
    client: String,
}

impl Watches {
    /// Only those of this kind (`*` stands for any text).
    #[must_use]
    pub fn kind(self, pattern: &str) -> Self {
        Self { kind: pattern.to_owned(), ..self }
    }

    /// Only those of this client (`*` stands for any text).
    #[must_use]
    pub fn client(self, pattern: &str) -> Self {
        Self { client: pattern.to_owned(), ..self }
    }

    /// Delivers nothing of what changes from now on, so that caches go stale, until the hold is released.
    /// Lists and new watches' initial objects stay up to date.
    pub fn hold(&self) -> Hold {
        let id = self.server.interfere(self, |state| What::Hold(state.store.version));
        Hold { server: self.server.clone(), id }
    }

    /// Sends nothing more, no bookmark either, and ends none, until the hold is released. Lists stay up to date.
    pub fn stall(&self) -> Hold {
        self.lasting(What::Stall)
    }

    /// Sends no bookmarks until the hold is released: a server may do that at any time.
    pub fn without_bookmarks(&self) -> Hold {
        self.lasting(What::NoBookmarks)
    }

    fn lasting(&self, what: What) -> Hold {
        let id = self.server.interfere(self, |_| what);
        Hold { server: self.server.clone(), id }
    }

    /// Ends those that are open. Clients take up where they were: nothing is lost.
    pub fn close(&self) {
        self.server.interfere(self, |_| What::Close);
    }

    /// Ends those that are open with 410, so that clients list again: they get no event for what was deleted in
    /// between.
    pub fn expire(&self) {
        self.server.interfere(self, |_| What::Expire);
    }
}

/// Watches that are suspended, stalled or without bookmarks. Dropping it resumes them.
#[derive(Debug)]
#[must_use = "dropping the hold releases the watches"]
pub struct Hold {
    server: FakeApiServer,
    id: u64,
}

impl Hold {
    /// Delivers what was deferred.
    pub fn release(self) {
        drop(self);
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.server.shared.lock().interferences.retain(|interference| interference.id != self.id);
        self.server.shared.ring();
    }
}
