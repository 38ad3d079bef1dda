//! What was read for a pool and is not read again with each pass, each with its moment.

use foo_model::hook::HookConfig;
use foo_model::{InstanceId, LaunchTemplate, Timestamp};
use foo_planner::desired::Blocked;
use std::collections::BTreeMap;

/// An answer, and when the question was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<T> {
    pub(super) at: Timestamp,
    pub(super) value: T,
}

/// What was read for one pool.
#[derive(Default)]
pub(super) struct Reads {
    /// The launch template.
    pub(super) template: Option<Read<Option<LaunchTemplate>>>,
    /// The terms of the group's lifecycle hook, as read or as we put them.
    pub(super) hook: Option<Read<Option<HookConfig>>>,
    /// What AWS said of the last launch that failed; only while the group is short of capacity.
    pub(super) launch_failure: Option<Read<Option<String>>>,
    /// Why AWS terminates instances, as far as it was asked; only while they wait for their termination.
    pub(super) termination_causes: BTreeMap<InstanceId, Option<String>>,
    /// The bootstrap Secret.
    pub(super) bootstrap_secret: Option<ReadSecret>,
}

impl Reads {
    /// What was seen in AWS was seen by somebody else, perhaps in another account.
    pub(super) fn forget_what_was_seen(&mut self) {
        (self.template, self.hook, self.launch_failure) = (None, None, None);
    }
}

/// A bootstrap Secret that was read.
pub(super) struct ReadSecret {
    /// Its name.
    pub(super) name: String,
    /// Its version, if it could be read.
    pub(super) resource_version: Option<String>,
    /// Its data, or why there is none.
    pub(super) data: Result<Vec<u8>, Blocked>,
    /// When it was read.
    pub(super) at: Timestamp,
}
