//! Which actions of a plan are skipped after a failed one: those that depend on it, and those that would fail
//! in the same way. All others are carried out, so that one Machine that a policy protects, or one instance
//! that AWS refuses to terminate, does not delay the others.

use super::operations::operation_of;
use crate::pool::pass::ActionFailure;
use foo_cloud::{ErrorKind, Operation};
use foo_model::operation::Priority;
use foo_model::{Decrement, MachineName};
use foo_planner::Action;
use foo_planner::action::{
    ActionKind, GroupAction, HookAction, InstanceAction, MachineAction, PoolAction, ReadAction,
    TemplateAction,
};
use foo_planner::memory::WriteOutcome;
use std::collections::HashSet;

/// What is skipped in one pass.
#[derive(Debug, Default)]
pub(in crate::pool) struct Skips(HashSet<Skip>);

#[derive(Debug, PartialEq, Eq, Hash)]
enum Skip {
    /// All further actions.
    Everything,
    /// All further calls to AWS.
    Aws,
    /// All further calls to AWS of this priority and less urgent ones, except heartbeats and completions of lifecycle
    /// actions: without a heartbeat AWS terminates an instance whose Machine drains, and each concerns one instance only.
    Throttled(Priority),
    /// All further actions of this kind.
    Kind(ActionKind),
    /// All further actions on this Machine and FooMachine.
    Machine(MachineName),
    /// Changes of the group.
    GroupChange,
    /// Terminations with decrement.
    Shrinking,
    /// Terminations without decrement.
    Replacing,
}

impl Skips {
    /// An action failed.
    pub(in crate::pool) fn failed(&mut self, action: &Action, failure: &ActionFailure) {
        match failure {
            // The API server does not respond, so the next request would fail, too.
            ActionFailure::Kubernetes(_) if failure.outcome() == WriteOutcome::MayHaveHappened => {
                self.add(Skip::Everything);
            }
            ActionFailure::Kubernetes(_) => {
                // A missing right or a quota: the next action of this kind would fail, too.
                self.add(Skip::Kind(action.kind()));
                self.depends_on(action, false);
            }
            ActionFailure::Cloud(error) => {
                match error.kind {
                    ErrorKind::Throttled => self.add(Skip::Throttled(error.operation.priority())),
                    ErrorKind::Unreachable | ErrorKind::Credentials => self.add(Skip::Aws),
                    ErrorKind::Denied => self.add(Skip::Kind(action.kind())),
                    _ => {}
                }
                self.depends_on(action, error.may_have_happened());
            }
        }
    }

    /// An action lost a race with another writer, or its precondition is no longer met: actions on the same
    /// object, and those that depend on it, wait for the next observation.
    pub(in crate::pool) fn raced(&mut self, action: &Action) {
        self.depends_on(action, false);
    }

    /// A termination of several instances was refused or only partly done: what depends on it waits for the
    /// next observation.
    pub(in crate::pool) fn not_together(&mut self, action: &Action) {
        self.depends_on(action, true);
    }

    /// Whether an action is skipped.
    pub(in crate::pool) fn includes(&self, action: &Action) -> bool {
        let priority = operation_of(action).map(Operation::priority);
        let own = match action {
            Action::Group(GroupAction::UpdateGroup { .. }) => Some(Skip::GroupChange),
            Action::Instance(InstanceAction::TerminateInstance { decrement: Decrement::Shrink, .. }) => {
                Some(Skip::Shrinking)
            }
            Action::Instance(InstanceAction::TerminateInstance { decrement: Decrement::Replace, .. }) => {
                Some(Skip::Replacing)
            }
            Action::Machine(action) => Some(Skip::Machine(action.name().clone())),
            Action::Group(
                GroupAction::CreateGroup(_)
                | GroupAction::AdoptGroup { .. }
                | GroupAction::TagGroup { .. }
                | GroupAction::SuspendProcesses { .. }
                | GroupAction::ResumeProcesses { .. }
                | GroupAction::AttachTrafficSources { .. }
                | GroupAction::DetachTrafficSources { .. }
                | GroupAction::PutNotifications { .. }
                | GroupAction::DeleteNotifications { .. }
                | GroupAction::PutWarmPool { .. }
                | GroupAction::DeleteWarmPool { .. }
                | GroupAction::DeleteGroup { .. },
            )
            | Action::Instance(InstanceAction::ProtectInstances { .. })
            | Action::Pool(_)
            | Action::Read(_)
            | Action::Template(_)
            | Action::Hook(_)
            | Action::Object(_)
            | Action::Node(_) => None,
        };
        // Actions in the workload cluster depend on nothing.
        (self.has(&Skip::Everything) && !matches!(action, Action::Node(_)))
            || (priority.is_some() && self.has(&Skip::Aws))
            || priority.is_some_and(|priority| self.is_throttled(priority))
            || self.has(&Skip::Kind(action.kind()))
            || own.is_some_and(|own| self.has(&own))
    }

    /// Whether AWS throttled a call of this priority or a more urgent one.
    fn is_throttled(&self, priority: Priority) -> bool {
        let as_urgent = |skip: &Skip| matches!(skip, Skip::Throttled(throttled) if *throttled <= priority);
        priority != Priority::Hook && self.0.iter().any(as_urgent)
    }

    fn add(&mut self, hold_up: Skip) {
        self.0.insert(hold_up);
    }

    fn has(&self, hold_up: &Skip) -> bool {
        self.0.contains(hold_up)
    }

    fn depends_on(&mut self, action: &Action, may_have_happened: bool) {
        match action {
            Action::Machine(action) => self.rests_on_machine(action),
            Action::Group(action) => self.rests_on_group(action, may_have_happened),
            // Lowering desired capacity depends on protection. A termination by id takes its capacity with
            // it.
            Action::Instance(InstanceAction::ProtectInstances { .. }) => self.add(Skip::GroupChange),
            // Later terminations are counted as if this one had happened; only with the same decrement
            // setting would the count be right.
            Action::Instance(InstanceAction::TerminateInstance { decrement, .. }) => {
                if may_have_happened || *decrement == Decrement::Shrink {
                    self.add(Skip::Replacing);
                }
                if may_have_happened || *decrement == Decrement::Replace {
                    self.add(Skip::Shrinking);
                }
            }
            // Nothing later in the plan needs these.
            Action::Pool(
                PoolAction::PublishReplicas { .. }
                | PoolAction::UnblockMove
                | PoolAction::ForgetAdoption
                // What follows from it is planned once it is observed.
                | PoolAction::Quarantine { .. },
            )
            | Action::Template(TemplateAction::DeleteTemplateVersions { .. })
            | Action::Read(ReadAction::DescribeLifecycleHook { .. } | ReadAction::DescribeInstances { .. })
            | Action::Hook(
                HookAction::PutLifecycleHook { .. }
                | HookAction::PutOtherHook { .. }
                | HookAction::DeleteOtherHook { .. }
                | HookAction::RecordHeartbeat { .. }
                | HookAction::CompleteLifecycleAction { .. },
            )
            | Action::Node(_) => {}
            Action::Pool(
                PoolAction::AddFinalizer
                | PoolAction::RemoveFinalizer
                | PoolAction::BlockMove
                | PoolAction::RecordAdoption
                | PoolAction::ForgetAdopted
                | PoolAction::RecordArn { .. }
                // Nothing is set in the group that could not be removed later.
                | PoolAction::RecordApplied { .. },
            )
            | Action::Read(ReadAction::DescribeLaunchTemplate)
            // The group is released only without it.
            | Action::Hook(HookAction::DeleteLifecycleHook { .. })
            // A version never precedes what it fetches, and shows where it is until that is deleted.
            | Action::Object(_)
            | Action::Template(
                TemplateAction::CreateTemplate { .. }
                | TemplateAction::CreateTemplateVersion { .. }
                | TemplateAction::CopyTemplateVersion { .. }
                | TemplateAction::DeleteTemplate { .. },
            ) => self.add(Skip::Everything),
        }
    }

    fn rests_on_machine(&mut self, action: &MachineAction) {
        match action {
            MachineAction::CreateFooMachine { name, .. }
            | MachineAction::DeleteFooMachine { name, .. }
            | MachineAction::ReleaseFooMachine { name, .. }
            | MachineAction::DeleteMachine { name, .. }
            | MachineAction::ExcludeFromDraining { name, .. }
            | MachineAction::PauseMachine { name, .. }
            | MachineAction::ResumeMachine { name, .. }
            | MachineAction::RetainInstance { name, .. } => self.add(Skip::Machine(name.clone())),
            // Nothing depends on it.
            MachineAction::SetMachineTimeouts { .. } => {}
        }
    }

    fn rests_on_group(&mut self, action: &GroupAction, may_have_happened: bool) {
        match action {
            // Nothing depends on them.
            GroupAction::AdoptGroup { .. }
            | GroupAction::TagGroup { .. }
            | GroupAction::SuspendProcesses { .. }
            | GroupAction::ResumeProcesses { .. }
            | GroupAction::AttachTrafficSources { .. }
            | GroupAction::DetachTrafficSources { .. }
            | GroupAction::PutNotifications { .. }
            | GroupAction::DeleteNotifications { .. }
            | GroupAction::PutWarmPool { .. }
            | GroupAction::DeleteWarmPool { .. } => {}
            // A raise would launch what the group launches now. The plan puts the template first when that
            // matters.
            GroupAction::UpdateGroup { change, .. } if change.template.is_some() => {
                self.add(Skip::GroupChange);
            }
            // Each termination is counted from desired capacity after this change.
            GroupAction::UpdateGroup { .. } => {
                self.add(Skip::Shrinking);
                if may_have_happened {
                    self.add(Skip::Replacing);
                }
            }
            GroupAction::CreateGroup(_) | GroupAction::DeleteGroup { .. } => self.add(Skip::Everything),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::act::test_actions::termination;
    use foo_cloud::CloudError;
    use foo_model::GroupChange;
    use foo_planner::action::NodeAction;
    use std::collections::{BTreeMap, BTreeSet};

    fn suspend() -> Action {
        Action::Group(GroupAction::SuspendProcesses { name: "g".into(), processes: BTreeSet::new() })
    }

    fn refused(kind: ErrorKind) -> ActionFailure {
        CloudError::new(Operation::TerminateInstanceInAutoScalingGroup, kind, None, "no").into()
    }

    #[test]
    fn a_refused_termination_delays_only_dependent_terminations() {
        let mut skips = Skips::default();
        skips.failed(&termination("i-1", Decrement::Shrink), &refused(ErrorKind::Invalid));
        assert!(!skips.includes(&termination("i-2", Decrement::Shrink)));
        assert!(
            skips.includes(&termination("i-3", Decrement::Replace)),
            "one more would be launched than is requested"
        );
    }

    #[test]
    fn a_termination_without_a_response_delays_all_terminations() {
        let mut skips = Skips::default();
        skips.failed(&termination("i-1", Decrement::Shrink), &refused(ErrorKind::LostResponse));
        assert!(skips.includes(&termination("i-2", Decrement::Shrink)));
    }

    #[test]
    fn actions_that_would_fail_in_the_same_way_are_not_tried() {
        let mut skips = Skips::default();
        skips.failed(&termination("i-1", Decrement::Shrink), &refused(ErrorKind::Denied));
        assert!(skips.includes(&termination("i-2", Decrement::Shrink)));
        assert!(!skips.includes(&suspend()));
        skips.failed(&termination("i-1", Decrement::Shrink), &refused(ErrorKind::Throttled));
        assert!(skips.includes(&suspend()));
    }

    fn throttled(operation: Operation) -> ActionFailure {
        CloudError::new(operation, ErrorKind::Throttled, None, "no").into()
    }

    #[test]
    fn heartbeats_and_completions_continue_while_aws_throttles_and_not_during_an_outage() {
        let mut skips = Skips::default();
        let beat = |id: &str| Action::Hook(HookAction::RecordHeartbeat { group: "g".into(), id: id.into() });
        let (group, id, why) = ("g".into(), "i-3".into(), String::new());
        let completion = Action::Hook(HookAction::CompleteLifecycleAction { group, id, why });
        skips.failed(&beat("i-1"), &throttled(Operation::RecordLifecycleActionHeartbeat));
        assert!(!skips.includes(&beat("i-2")) && !skips.includes(&completion));
        assert!(skips.includes(&suspend()));
        skips.failed(&beat("i-2"), &refused(ErrorKind::Unreachable));
        assert!(skips.includes(&beat("i-3")) && skips.includes(&completion));
    }

    #[test]
    fn a_throttled_call_delays_calls_that_are_no_more_urgent() {
        let mut skips = Skips::default();
        let resume =
            Action::Group(GroupAction::ResumeProcesses { name: "g".into(), processes: BTreeSet::new() });
        skips.failed(&resume, &throttled(Operation::ResumeProcesses));
        assert!(!skips.includes(&termination("i-1", Decrement::Shrink)), "terminations come before launches");
        assert!(skips.includes(&suspend()) && skips.includes(&resume));
        skips.failed(
            &termination("i-1", Decrement::Shrink),
            &throttled(Operation::TerminateInstanceInAutoScalingGroup),
        );
        assert!(skips.includes(&termination("i-2", Decrement::Shrink)));
    }

    #[test]
    fn failures_elsewhere_do_not_delay_changes_in_the_workload_cluster() {
        let mut skips = Skips::default();
        skips.failed(&Action::Read(ReadAction::DescribeLaunchTemplate), &refused(ErrorKind::Denied));
        assert!(skips.includes(&suspend()), "everything else waits");
        assert!(!skips.includes(&Action::Node(NodeAction::CordonNodes { nodes: BTreeMap::new() })));
    }

    #[test]
    fn without_protection_the_group_is_not_changed_but_released_instances_are_terminated() {
        let mut skips = Skips::default();
        let protect =
            Action::Instance(InstanceAction::ProtectInstances { name: "g".into(), ids: vec!["i-9".into()] });
        skips.failed(&protect, &refused(ErrorKind::Invalid));
        let change = Action::Group(GroupAction::UpdateGroup {
            name: "g".into(),
            change: GroupChange::default(),
            why: String::new(),
        });
        assert!(skips.includes(&change));
        assert!(!skips.includes(&termination("i-1", Decrement::Replace)));
    }
}
