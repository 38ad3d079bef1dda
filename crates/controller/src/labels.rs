//! The values of all labels of metrics: what the manager counts by.
//!
//! They are enums, so that their number is bounded. What is counted is named by one of these; nothing of the
//! manager is imported here, so that all modules can use them.

use foo_model::reason::Class;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use std::fmt;
use strum::{EnumIter, EnumString, IntoStaticStr};

/// Implements the encoding of label enums by their strum texts.
macro_rules! label_values {
    ($($name:ident),* $(,)?) => {$(
        impl EncodeLabelValue for $name {
            fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
                let text: &'static str = self.into();
                EncodeLabelValue::encode(&text, encoder)
            }
        }
    )*};
}

label_values!(
    Controller,
    PassResult,
    EventKind,
    AnnouncementOutcome,
    EventOutcome,
    ActionOutcome,
    LaunchOutcome,
    RolloutOutcome,
    Invariant,
    Watched,
    KubeClient,
    Verb,
    KubeCode,
    Task,
    Clock,
    ConditionType,
    ReasonClass,
);

/// A clock that the manager compares its own with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Clock {
    /// That of the management cluster's API server.
    Kubernetes,
    /// AWS's; of several regions and credentials the one that differs most.
    Aws,
}

/// A controller of the manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Controller {
    /// FooMachinePools and their FooMachines.
    Pool,
    /// FooClusters.
    Cluster,
    /// FooControlPlanes in mode `external`.
    ControlPlane,
    /// FooNodeConfigs.
    NodeConfig,
    /// FooControlPlanes in mode `eks`.
    Eks,
    /// FooClusterIdentities; a pass is over all of them.
    Identity,
}

/// A task beside the controllers that runs for as long as the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Task {
    /// Describes groups; one per credentials and region.
    Observer,
    /// Passes the names of changed groups to the pool controller; one per credentials and region.
    Wakes,
    /// Reads the queue of events.
    Announcements,
    /// Resolves identities.
    Identities,
    /// Competes for the Lease.
    Election,
    /// Finds groups without a FooMachinePool.
    UnmanagedGroups,
    /// Responds to FooPlans.
    Plans,
}

/// The labels of a metric about tasks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct TaskLabels {
    pub(crate) task: Task,
}

/// The result of a pass over an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum PassResult {
    /// There was nothing to do, and nothing was written.
    Settled,
    /// An action was executed or an object was written.
    Worked,
    /// The object was skipped: it is paused, not managed here, or its back-off has not ended.
    Skipped,
    /// An error: the object waits for its back-off.
    Failed,
    /// It took longer than its deadline.
    GivenUp,
    /// The pass was cancelled: lost leadership, shutdown, panic.
    Aborted,
}

/// What happened to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum EventOutcome {
    /// It was published.
    Published,
    /// It could not be published.
    Lost,
}

/// Kinds of events of AWS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum EventKind {
    /// An instance waits for a lifecycle hook.
    LifecycleAction,
    /// A launch, a termination or an instance refresh of a group.
    ScalingActivity,
    /// An instance changed its state in EC2.
    StateChange,
    /// EC2 is about to interrupt a spot instance.
    Interruption,
    /// EC2 recommends replacing a spot instance.
    Rebalance,
    /// AWS Health: the retirement of instances is scheduled.
    Health,
    /// None of these.
    Other,
}

/// What happened to a message of the queue of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum AnnouncementOutcome {
    /// It was acted on, or required no action, and was deleted.
    Acted,
    /// It was deleted although it was not acted on for a long time.
    Expired,
    /// Its instance is unknown; the queue delivers it again after a while. Counted each time.
    Parked,
    /// Its instance stayed unknown; it was deleted.
    Unknown,
    /// It is readable and irrelevant here; it was deleted.
    Irrelevant,
    /// It is unreadable; the queue delivers it again after a while. Counted each time.
    Unreadable,
    /// It stayed unreadable; it was logged and deleted.
    SetAside,
}

/// The result of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ActionOutcome {
    /// Executed.
    Done,
    /// Not executed: its precondition did not hold any more.
    Refused,
    /// It failed.
    Failed,
}

/// How the launch of an instance ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum LaunchOutcome {
    /// Its Node became Ready.
    Ready,
    /// Its Machine was deleted before.
    Deleted,
}

/// How a roll-out ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum RolloutOutcome {
    /// All instances have the new content.
    Finished,
    /// The new content failed, and all instances have the previous one again.
    RolledBack,
}

/// The invariants of the design that are checked at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
#[expect(missing_docs, reason = "the numbers are those of the design's list of invariants")]
pub enum Invariant {
    I1,
    I2,
    I3,
    I4,
    I5,
    I6,
    I7,
    I8,
    I9,
    I10,
    I11,
    I12,
}

/// The kinds that have a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, IntoStaticStr)]
#[expect(missing_docs, reason = "the names are the kinds")]
pub enum Watched {
    FooMachinePool,
    FooMachine,
    FooCluster,
    FooClusterIdentity,
    FooControlPlane,
    FooNodeConfig,
    FooPlan,
    Cluster,
    MachinePool,
    Machine,
    Namespace,
    Secret,
}

/// The type of a condition of our kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, EnumString, IntoStaticStr)]
#[expect(missing_docs, reason = "docs/operations/conditions.md describes them")]
pub enum ConditionType {
    Ready,
    Paused,
    Deleting,
    CredentialsReady,
    LaunchTemplateReady,
    AutoScalingGroupReady,
    CapacityAvailable,
    ScalingUp,
    ScalingDown,
    RollingOut,
    Remediating,
    AutoscalerReady,
    WarmPoolReady,
    CapacityBlockReady,
    UpToDate,
    NetworkReady,
    #[strum(serialize = "VPCReady")]
    VpcReady,
    SubnetsReady,
    RoutesReady,
    #[strum(serialize = "NATReady")]
    NatReady,
    SecurityGroupsReady,
    EndpointsReady,
    Available,
    ClusterReady,
    Upgrading,
    AddonsReady,
    AccessReady,
    KubeconfigReady,
    DataSecretAvailable,
    /// One that another user or controller or another version of the manager wrote.
    Other,
}

/// Who has to act on the reason of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ReasonClass {
    /// No one: all is as requested.
    Good,
    /// No one yet: it passes by itself.
    Waiting,
    /// A user.
    NeedsUser,
    /// The project: a fault of the provider.
    Fault,
    /// Another version of the manager wrote the reason.
    Unknown,
}

impl From<Class> for ReasonClass {
    fn from(class: Class) -> Self {
        match class {
            Class::Good => Self::Good,
            Class::Waiting => Self::Waiting,
            Class::NeedsUser => Self::NeedsUser,
            Class::Fault => Self::Fault,
        }
    }
}

/// The purpose of a client of the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum KubeClient {
    /// The controllers.
    Work,
    /// Leader election.
    Lease,
    /// API servers of workload clusters.
    Workload,
    /// Reviews of who may see diagnostics.
    Review,
}

/// The verb of a request to the API server, in the words of RBAC; a server-side apply is separate from other
/// patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Verb {
    /// GET of one object (or of a path that is not a resource).
    Get,
    /// GET of many objects.
    List,
    /// A watch.
    Watch,
    /// POST.
    Create,
    /// PUT.
    Update,
    /// PATCH that is not an apply.
    Patch,
    /// Server-side apply.
    Apply,
    /// DELETE.
    Delete,
}

impl Verb {
    /// Whether the verb changes objects.
    pub fn writes(self) -> bool {
        match self {
            Self::Get | Self::List | Self::Watch => false,
            Self::Create | Self::Update | Self::Patch | Self::Apply | Self::Delete => true,
        }
    }
}

/// The API server's response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum KubeCode {
    /// 2xx.
    Ok,
    /// 401 or 403.
    Forbidden,
    /// 404.
    NotFound,
    /// 409.
    Conflict,
    /// 410: the kind must be listed again.
    Gone,
    /// 422 and 400.
    Invalid,
    /// 429.
    TooManyRequests,
    /// Other 4xx, and 3xx.
    OtherClient,
    /// 5xx.
    Server,
    /// No response.
    NoAnswer,
}

impl From<http::StatusCode> for KubeCode {
    fn from(code: http::StatusCode) -> Self {
        match code.as_u16() {
            100..=299 => Self::Ok,
            400 | 422 => Self::Invalid,
            401 | 403 => Self::Forbidden,
            404 => Self::NotFound,
            409 => Self::Conflict,
            410 => Self::Gone,
            429 => Self::TooManyRequests,
            500.. => Self::Server,
            _ => Self::OtherClient,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};
    use strum::{IntoEnumIterator, VariantNames as _};

    /// A condition that this enum forgets would be counted as one of another owner.
    #[test]
    fn every_condition_of_the_planners_has_a_label() {
        let pools = foo_planner::report::ConditionKind::VARIANTS.iter().copied();
        let networks = foo_network::report::ConditionKind::iter().map(<&str>::from);
        let eks = foo_eks::report::ConditionKind::iter().map(<&str>::from);
        for name in pools.chain(networks).chain(eks) {
            assert!(name.parse::<ConditionType>().is_ok(), "{name}");
        }
    }

    const PAGE: &str = include_str!("../../../docs/operations/metrics.md");

    /// Rows whose values are those of an enum.
    fn of_enums() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
        fn all<T: IntoEnumIterator + Into<&'static str>>() -> BTreeSet<&'static str> {
            T::iter().map(Into::into).collect()
        }
        let mut severities_and_outcomes = all::<EventOutcome>();
        severities_and_outcomes.extend(["normal", "warning"]);
        let mut launches_and_rollouts = all::<LaunchOutcome>();
        launches_and_rollouts.extend(all::<RolloutOutcome>());
        let mut invariants = all::<Invariant>();
        assert!(invariants.remove("I6"), "it cannot be checked at run time: a lost event cannot be seen");
        BTreeMap::from([
            ("`controller`", all::<Controller>()),
            ("`task`", all::<Task>()),
            ("`clock`", all::<Clock>()),
            ("`result`", all::<PassResult>()),
            ("`outcome` of an action", all::<ActionOutcome>()),
            ("`outcome` of a launch; of a roll-out", launches_and_rollouts),
            ("`class`", all::<ReasonClass>()),
            ("`invariant`", invariants),
            ("`severity`; `outcome` of an event", severities_and_outcomes),
            ("`kind` of an announcement", all::<EventKind>()),
            ("`outcome` of an announcement", all::<AnnouncementOutcome>()),
            ("`kind`", all::<Watched>()),
            ("`client`", all::<KubeClient>()),
            ("`verb`", all::<Verb>()),
            ("`code` of Kubernetes", all::<KubeCode>()),
        ])
    }

    /// Rows that refer to another list: names of Leases, the planner's actions, the conditions.
    const ELSEWHERE: [&str; 3] = ["`name`, `lease`", "`action`", "`condition`, `status`"];

    /// The words that a cell marks as code, without those in its brackets, which explain a value.
    fn values(cell: &str) -> BTreeSet<&str> {
        let mut depth = 0_i32;
        let mut found = BTreeSet::new();
        for (at, part) in cell.split('`').enumerate() {
            let is_code = at % 2 == 1;
            if is_code && depth == 0 {
                found.insert(part);
            } else if !is_code {
                for c in part.chars() {
                    depth += i32::from(c == '(') - i32::from(c == ')');
                }
            }
        }
        found
    }

    /// Whoever writes an alert or a dashboard takes the values from the page.
    #[test]
    fn the_page_has_every_value_of_every_label_and_no_other() {
        let (_, table) = PAGE.split_once("\n| Label | Values |\n|---|---|\n").expect("a table");
        let rows = table.lines().map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
        let mut rows: BTreeMap<&str, &str> = rows.filter_map(|row| row.split_once(" | ")).collect();
        for head in ELSEWHERE {
            assert!(rows.remove(head).is_some(), "{head}");
        }
        let page: BTreeMap<&str, BTreeSet<&str>> =
            rows.into_iter().map(|(head, cell)| (head, values(cell))).collect();
        assert_eq!(page, of_enums());
    }
}
