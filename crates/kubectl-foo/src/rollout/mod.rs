//! The roll-out of a pool: its progress, and the annotations by which a user stops it or has failed content tried
//! again. There is no history and no undo: the API keeps neither earlier specs nor who changed them.

pub mod change;
pub mod read;
mod text;

pub use text::text;

use foo_api::FooMachinePool;
use foo_api::capi::MachinePool;
use foo_model::names::{QUARANTINE_ANNOTATION, ROLLOUT_PAUSED_ANNOTATION};
use kube::ResourceExt as _;
use serde::Serialize;

/// The pools that are asked for.
#[derive(Clone, Debug, Serialize)]
pub struct Rollouts {
    /// By namespace and name.
    pub rollouts: Vec<Rollout>,
}

/// The roll-out of one pool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rollout {
    /// Namespace of the pool.
    pub namespace: String,
    /// Its name.
    pub pool: String,
    /// `status.rollout.phase`, or `Unobserved` while the manager has not reported on the spec of the pool and the
    /// version of its MachinePool.
    pub phase: String,
    /// Number of instances with the content that all are to have.
    pub updated: i32,
    /// Number of other instances.
    pub outdated: i32,
    /// What it waits for, or why it stopped.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Whether the annotation is there that stops it.
    pub paused: bool,
    /// Contents that failed, and are not launched again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Failed>,
}

/// Content that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failed {
    /// Its hash, as in `status.rollout.targetHash`.
    pub hash: String,
    /// Whether it is requested, or not any more, or its rollback failed as well.
    pub state: FailedState,
    /// What failed.
    pub message: String,
}

/// What became of failed content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum FailedState {
    /// The spec has it.
    Requested,
    /// The spec has it no longer.
    NoLongerRequested,
    /// The rollback failed as well.
    RollbackFailed,
}

/// Whether a roll-out continues by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All instances are as requested.
    Finished,
    /// It continues, or a user has to let it.
    Pending,
    /// Its content failed.
    Failed,
}

/// Phase of a pool whose status is about an older spec.
const UNOBSERVED: &str = "Unobserved";

impl Rollout {
    /// The roll-out of a pool. `machine_pool` is the one that references it: its Kubernetes version is part of what is
    /// rolled out.
    pub fn of(pool: &FooMachinePool, machine_pool: Option<&MachinePool>) -> Self {
        let status = pool.status.clone().unwrap_or_default();
        let version = machine_pool.and_then(|it| it.spec.template.spec.version.as_ref());
        let behind = if status.observed_generation != pool.metadata.generation {
            Some("the manager has not reported on the newest spec yet".to_owned())
        } else if version.is_some() && version != status.version.as_ref() {
            let version = version.map(String::as_str).unwrap_or_default();
            Some(format!("the manager has not reported on version {version} of the MachinePool yet"))
        } else if status.rollout.is_none() {
            Some("the manager reports no roll-out: content or group are not known".to_owned())
        } else {
            None
        };
        let rollout = status.rollout.unwrap_or_default();
        let (phase, message) = match behind {
            Some(why) => (UNOBSERVED.to_owned(), why),
            None => (rollout.phase, rollout.message),
        };
        let annotations = pool.annotations();
        let failed = annotations.get(QUARANTINE_ANNOTATION).map(String::as_str).unwrap_or_default();
        Self {
            namespace: pool.namespace().unwrap_or_default(),
            pool: pool.name_any(),
            phase,
            updated: rollout.updated,
            outdated: rollout.outdated,
            message,
            paused: annotations.contains_key(ROLLOUT_PAUSED_ANNOTATION),
            failed: failed.lines().filter_map(record).collect(),
        }
    }

    /// How it is going.
    pub fn outcome(&self) -> Outcome {
        match self.phase.as_str() {
            "Finished" => Outcome::Finished,
            "OnDelete" if self.outdated == 0 => Outcome::Finished,
            "Halted" | "RollingBack" | "RolledBack" => Outcome::Failed,
            _ => Outcome::Pending,
        }
    }
}

/// A line of the annotation: `<hash>: <what failed>`, with a mark before it or not.
fn record(line: &str) -> Option<Failed> {
    let line = line.trim();
    let marked = |mark: &str, state| line.strip_prefix(mark).map(|rest| (state, rest));
    let (state, line) = marked("over ", FailedState::NoLongerRequested)
        .or_else(|| marked("stuck ", FailedState::RollbackFailed))
        .unwrap_or((FailedState::Requested, line));
    let (hash, message) = line.split_once(':').unwrap_or((line, ""));
    let (hash, message) = (hash.to_owned(), message.trim().to_owned());
    (!hash.is_empty()).then_some(Failed { hash, state, message })
}
