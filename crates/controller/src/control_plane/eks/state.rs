//! What is remembered of each control plane between passes. All of it can be lost at any time: status, annotation and
//! tags suffice.

use super::reads::Reads;
use super::record;
use crate::calls::Warned;
use crate::calls::identity::Identity;
use foo_api::{FooControlPlane, FooControlPlaneStatus};
use foo_calls::Process;
use foo_eks::Eks;
use foo_model::names::{ADOPTED_ANNOTATION, CONTROL_PLANE_ID_ANNOTATION};
use foo_model::{Blocked, Difference, Kubernetes, Timestamp};
use kube::ResourceExt;

/// Of one control plane.
#[derive(Debug, Default)]
pub(super) struct EksState {
    /// The control plane's id.
    pub(super) identity: Identity,
    pub(super) process: Process<Eks>,
    pub(super) reads: Reads,
    /// The status as it was written last.
    pub(super) written: Option<FooControlPlaneStatus>,
    /// When the token in the kubeconfig Secret ends, if there is one.
    pub(super) token_ends: Option<Timestamp>,
    /// Hash of that token, if this process wrote it: another one there is another owner's, and need not be one.
    pub(super) token_hash: Option<String>,
    /// The last request to the API server.
    pub(super) asked: Option<AskedApiServer>,
    /// Failures that were in events.
    pub(super) warned: Warned,
}

/// A request to the API server.
#[derive(Clone, Debug)]
pub(super) struct AskedApiServer {
    /// When.
    pub(super) at: Timestamp,
    /// With which kubeconfig; another one is tried at once.
    pub(super) kubeconfig: String,
    /// The version that it reports, or why it did not respond.
    pub(super) version: Result<String, Blocked>,
}

impl EksState {
    /// What this process knows of the FooControlPlane when it sees it first: what the status reports, and after a move
    /// the annotations.
    pub(super) fn first(control_plane: &FooControlPlane, clock: Difference<Kubernetes>) -> Self {
        let annotated = control_plane.annotations().get(CONTROL_PLANE_ID_ANNOTATION).cloned();
        let recorded = control_plane.status.as_ref().map(|it| record::read(it, clock));
        let mut record = recorded.unwrap_or_default();
        record.adopted |= control_plane.annotations().get(ADOPTED_ANNOTATION).is_some_and(|it| it == "true");
        Self {
            identity: Identity::first(control_plane, annotated),
            process: Process::new(record),
            ..Self::default()
        }
    }

    /// Whether it is of this very object, and not of another one that had its name, nor of the same one with another
    /// id.
    pub(super) fn is_of(&self, control_plane: &FooControlPlane) -> bool {
        self.identity.is_of(control_plane) && !self.has_another_id(control_plane)
    }

    /// Whether a user gave the FooControlPlane the id of an EKS cluster that exists (a restore). Once anything was
    /// created for it, it keeps its id.
    fn has_another_id(&self, control_plane: &FooControlPlane) -> bool {
        let record = &self.process.record;
        let has_nothing = record.arn.is_none() && record.creating_since.is_none();
        has_nothing && self.identity.differs_from(CONTROL_PLANE_ID_ANNOTATION, control_plane)
    }

    /// What plans need of it. Nothing that is done with it has an effect on passes.
    pub(super) fn for_plan(&self) -> Self {
        Self {
            identity: self.identity.clone(),
            process: self.process.clone(),
            reads: self.reads.clone(),
            ..Self::default()
        }
    }

    /// The newest status of the FooControlPlane.
    pub(super) fn status(&self, control_plane: &FooControlPlane) -> FooControlPlaneStatus {
        self.written.clone().or_else(|| control_plane.status.clone()).unwrap_or_default()
    }
}
