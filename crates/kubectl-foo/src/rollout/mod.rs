//! The roll-out of a pool: its progress, and the annotations by which a user stops it or has failed content tried
//! again; in [`history`] what AWS has of earlier contents. The API keeps no earlier specs.

pub mod change;
pub mod history;
pub mod read;
mod text;

pub use text::{of_one, text};

use crate::text::reported;
use foo_api::capi::MachinePool;
use foo_api::conditions::find;
use foo_api::pool::LaunchTemplateStatus;
use foo_api::{FooMachinePool, FooMachinePoolStatus};
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
    /// `status.rollout.phase`, or `Unobserved` while that is not about the spec of the pool and the version of its
    /// MachinePool: the manager has not reported on them yet, or their launch template is not ready.
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
    /// Hash of the content that all instances are to have.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub target_hash: String,
    /// Launch template and version that new instances are launched from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch_template: Option<LaunchTemplateStatus>,
    /// Instance type; of several the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_type: Option<String>,
    /// Kubernetes version that the MachinePool requested when the manager reported last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
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

/// Phases of `status.rollout` in which the requested content has failed.
const FAILED: [&str; 3] = ["Halted", "RollingBack", "RolledBack"];

/// Phase of a pool whose status is about an older spec.
const UNOBSERVED: &str = "Unobserved";

impl Rollout {
    /// The roll-out of a pool. `machine_pool` is the one that references it: its Kubernetes version is part of what is
    /// rolled out.
    pub fn of(pool: &FooMachinePool, machine_pool: Option<&MachinePool>) -> Self {
        let status = pool.status.clone().unwrap_or_default();
        let annotations = pool.annotations();
        let failed = annotations.get(QUARANTINE_ANNOTATION).map(String::as_str).unwrap_or_default();
        let failed: Vec<Failed> = failed.lines().filter_map(record).collect();
        let version = machine_pool.and_then(|it| it.spec.template.spec.version.as_ref());
        let behind = behind(pool, &status, version, &failed);
        let rollout = status.rollout.unwrap_or_default();
        let (phase, message) = match behind {
            Some(why) => (UNOBSERVED.to_owned(), why),
            None => (rollout.phase, rollout.message),
        };
        Self {
            namespace: pool.namespace().unwrap_or_default(),
            pool: pool.name_any(),
            phase,
            updated: rollout.updated,
            outdated: rollout.outdated,
            message,
            paused: annotations.contains_key(ROLLOUT_PAUSED_ANNOTATION),
            target_hash: rollout.target_hash,
            launch_template: status.launch_template,
            instance_type: status.instance_type,
            version: status.version,
            failed,
        }
    }

    /// How it is going.
    pub fn outcome(&self) -> Outcome {
        match self.phase.as_str() {
            "Finished" => Outcome::Finished,
            "OnDelete" if self.outdated == 0 => Outcome::Finished,
            failed if FAILED.contains(&failed) => Outcome::Failed,
            _ => Outcome::Pending,
        }
    }
}

/// Why the phase in the status is not about what is requested now.
fn behind(
    pool: &FooMachinePool,
    status: &FooMachinePoolStatus,
    version: Option<&String>,
    failed: &[Failed],
) -> Option<String> {
    if status.observed_generation != pool.metadata.generation {
        return Some("the manager has not reported on the newest spec yet".to_owned());
    }
    if let Some(version) = version.filter(|version| Some(*version) != status.version.as_ref()) {
        return Some(format!("the manager has not reported on version {version} of the MachinePool yet"));
    }
    let Some(rollout) = &status.rollout else {
        return Some("the manager reports no roll-out: content or group are not known".to_owned());
    };
    // Until the requested content has a launch template version, every other phase is about the one before.
    let template = find(&status.conditions, "LaunchTemplateReady");
    if rollout.phase != "Waiting" && template.is_none_or(|template| template.status != "True") {
        let why = template.map(reported).unwrap_or_default();
        return Some(format!("the launch template is not ready: {why}").trim_end_matches(": ").to_owned());
    }
    // A failed target has a record, until a user removes that.
    let is_failed = FAILED.contains(&rollout.phase.as_str());
    let stands = failed.iter().any(|failed| failed.state != FailedState::NoLongerRequested);
    (is_failed && !stands)
        .then(|| "the manager has not reported since failed content is tried again".to_owned())
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
