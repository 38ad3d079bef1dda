//! Values that were read for a pool and are not read again in each pass, each with its time.

use foo_model::hook::HookConfig;
use foo_model::{
    Blocked, FoundReservation, HookName, InstanceId, LaunchTemplate, LifecycleHook, Notifications,
    TargetGroupArn, Targets, Timestamp,
};
use foo_planner::observed::LastRead;
use std::collections::{BTreeMap, BTreeSet};

/// A value, and when the request was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<T> {
    pub(super) at: Timestamp,
    pub(super) value: T,
}

/// The values of one pool.
#[derive(Clone, Default)]
pub(super) struct Reads {
    /// The launch template, as this process read it.
    pub(super) template: Option<Read<Option<LaunchTemplate>>>,
    /// Whether this process has read or changed the template, or found out that it has to: then the shared list of
    /// latest versions, which is from its start, does not serve any more.
    pub(super) template_is_own: bool,
    /// Names of the pool's objects in S3.
    pub(super) stored: LastRead<BTreeSet<String>>,
    /// The health of targets in the pool's target groups, if it asks for it.
    pub(super) target_health: LastRead<BTreeMap<TargetGroupArn, Targets>>,
    /// What the group reports to topics, as read or as written since, if the pool has or had any.
    pub(super) notifications: LastRead<Notifications>,
    /// The reservation of the pool's Capacity Block, if it has one.
    pub(super) capacity_block: ReadBlock,
    /// The settings of the group's lifecycle hook, as read or as written.
    pub(super) hook: Option<Read<Option<HookConfig>>>,
    /// The group's other lifecycle hooks, as read together with it or as written since.
    pub(super) other_hooks: BTreeMap<HookName, LifecycleHook>,
    /// AWS's message on the last failed launch; only while the group is short of capacity.
    pub(super) launch_failure: Option<Read<Option<String>>>,
    /// Why AWS terminates instances, as far as it was read; only while they wait for their termination.
    pub(super) termination_causes: BTreeMap<InstanceId, Option<String>>,
    /// The bootstrap Secret.
    pub(super) bootstrap_secret: Option<ReadSecret>,
    /// The name that the workload cluster has in AWS.
    pub(super) workload_name: Option<String>,
}

impl Reads {
    /// The template was changed, or may have been: it is read before anything follows from it.
    pub(super) fn template_changes(&mut self) {
        (self.template, self.template_is_own) = (None, true);
    }

    /// Drops what was observed with other credentials, perhaps in another account.
    pub(super) fn forget_what_was_seen(&mut self) {
        (self.hook, self.launch_failure) = (None, None);
        self.template_changes();
        self.stored = LastRead::Unknown;
        self.target_health = LastRead::Unknown;
        self.notifications = LastRead::Unknown;
        self.capacity_block = ReadBlock::default();
    }
}

/// A Capacity Block that was read.
#[derive(Clone, Default)]
pub(super) struct ReadBlock {
    /// Its id.
    pub(super) id: String,
    /// Its reservation; `None` if EC2 does not know it.
    pub(super) read: LastRead<Option<FoundReservation>>,
}

/// A bootstrap Secret that was read.
#[derive(Clone)]
pub(super) struct ReadSecret {
    /// Its name.
    pub(super) name: String,
    /// Its version, if it could be read.
    pub(super) resource_version: Option<String>,
    /// Its content, or why there is none.
    pub(super) data: Result<SecretContent, Blocked>,
    /// When it was read.
    pub(super) at: Timestamp,
}

/// The content of a bootstrap Secret.
#[derive(Clone)]
pub(super) struct SecretContent {
    /// The user data.
    pub(super) user_data: Vec<u8>,
    /// Whether they wait in a warm pool, before they join the cluster, until the instance is in service.
    pub(super) waits_in_warm_pool: bool,
}
