//! What is remembered of each control plane between passes. All of it can be lost at any time: status, annotation and tags suffice.

use super::looks::Looks;
use super::record;
use foo_api::{FooControlPlane, FooControlPlaneStatus};
use foo_eks::{Memory, Recorded};
use foo_model::names::CONTROL_PLANE_ID_ANNOTATION;
use foo_model::{Blocked, Difference, Kubernetes, Timestamp};
use kube::ResourceExt;
use kube_runtime::reflector::{ObjectRef, Store};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Of one control plane.
#[derive(Debug, Default)]
pub(super) struct EksState {
    /// Uid of the FooControlPlane that this is about.
    uid: Option<String>,
    /// The control plane's id.
    pub(super) id: String,
    /// Whether the id was written onto the FooControlPlane, and the cache may not show that yet.
    pub(super) id_written: bool,
    /// Whether the FooControlPlane had the id before this process saw it.
    pub(super) begun_before: bool,
    /// What the status says, as it was written last: the cache may show an older one.
    pub(super) record: Recorded,
    pub(super) memory: Memory,
    pub(super) looks: Looks,
    /// The status as it was written last.
    pub(super) written: Option<FooControlPlaneStatus>,
    /// When the token in the kubeconfig Secret ends, if there is one.
    pub(super) token_ends: Option<Timestamp>,
    /// Hash of that token, if this process wrote it: another one there is somebody else's, and need not be one.
    pub(super) token_hash: Option<String>,
    /// The last request to the API server.
    pub(super) asked: Option<AskedApiServer>,
    /// Failures that were told of in events, and since when.
    pub(super) told: BTreeMap<String, Timestamp>,
}

/// A request to the API server.
#[derive(Clone, Debug)]
pub(super) struct AskedApiServer {
    /// When.
    pub(super) at: Timestamp,
    /// With which kubeconfig; another one is tried at once.
    pub(super) kubeconfig: String,
    /// The version that it reports, or why it did not answer.
    pub(super) answer: Result<String, Blocked>,
}

impl EksState {
    /// What this process knows of the FooControlPlane when it sees it first: what the status says.
    pub(super) fn first(control_plane: &FooControlPlane, clock: Difference<Kubernetes>) -> Self {
        let annotated = control_plane.annotations().get(CONTROL_PLANE_ID_ANNOTATION).cloned();
        Self {
            uid: control_plane.uid(),
            begun_before: annotated.is_some(),
            id: annotated.or_else(|| control_plane.uid()).unwrap_or_default(),
            record: control_plane.status.as_ref().map(|it| record::read(it, clock)).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Whether it is of this very object, and not of another one that had its name, nor of the same one with another id.
    pub(super) fn is_of(&self, control_plane: &FooControlPlane) -> bool {
        self.uid.is_some() && self.uid == control_plane.uid() && !self.has_another_id(control_plane)
    }

    /// Whether a user gave the FooControlPlane the id of an EKS cluster that exists (a restore). Once anything was created for it, it
    /// keeps its id.
    fn has_another_id(&self, control_plane: &FooControlPlane) -> bool {
        let annotated = control_plane.annotations().get(CONTROL_PLANE_ID_ANNOTATION);
        let has_nothing = self.record.arn.is_none() && self.record.creating_since.is_none();
        has_nothing && annotated.is_some_and(|id| *id != self.id)
    }

    /// The newest status of the FooControlPlane.
    pub(super) fn status(&self, control_plane: &FooControlPlane) -> FooControlPlaneStatus {
        self.written.clone().or_else(|| control_plane.status.clone()).unwrap_or_default()
    }
}

/// Those of all control planes.
#[derive(Debug, Default)]
pub(super) struct States(Mutex<HashMap<Key, Slot>>);

type Key = ObjectRef<FooControlPlane>;
type Slot = Arc<tokio::sync::Mutex<EksState>>;

impl States {
    /// That of one FooControlPlane.
    pub(super) fn of(&self, key: &Key) -> Slot {
        Arc::clone(self.lock().entry(key.clone()).or_default())
    }

    /// Nothing is remembered of FooControlPlanes that are gone.
    pub(super) fn forget_vanished(&self, there: &Store<FooControlPlane>) {
        self.lock().retain(|key, _| there.get(key).is_some());
    }

    /// Nothing is remembered of this one.
    pub(super) fn forget(&self, key: &Key) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
