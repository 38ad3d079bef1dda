//! What a failed action holds up: what rests on it, and what would only fail in the same way. Everything else of the
//! plan goes on, so that one Machine that a policy protects, or one instance that AWS refuses to end, does not keep all
//! others from their turn.

use super::execute::Failure;
use foo_cloud::ErrorKind;
use foo_model::{Decrement, MachineName};
use foo_planner::Action;
use foo_planner::action::{
    ActionKind, GroupAction, HookAction, InstanceAction, MachineAction, PoolAction, ReadAction,
    TemplateAction,
};
use foo_planner::memory::Outcome;
use std::collections::HashSet;

/// The hold-ups of one pass.
#[derive(Debug, Default)]
pub(in crate::pool) struct Skips(HashSet<Skip>);

#[derive(Debug, PartialEq, Eq, Hash)]
enum Skip {
    /// Nothing more is done.
    Everything,
    /// No more calls of AWS.
    Aws,
    /// No more calls of AWS but heartbeats: an instance that waits for its drain ends without them, and each is for one
    /// instance only.
    Throttled,
    /// No more actions of this kind.
    Kind(ActionKind),
    /// Nothing more is done to this Machine and FooMachine.
    Machine(MachineName),
    /// The group is not changed.
    GroupChange,
    /// No instance ends with desired capacity going down with it.
    Shrinking,
    /// No instance ends with desired capacity staying.
    Replacing,
}

impl Skips {
    /// An action failed.
    pub(in crate::pool) fn failed(&mut self, action: &Action, failure: &Failure) {
        match failure {
            // Nobody answers, so nobody will answer the next one.
            Failure::Kubernetes(_) if failure.outcome() == Outcome::MayHaveHappened => {
                self.add(Skip::Everything);
            }
            Failure::Kubernetes(_) => {
                // A right that is missing, a quota: the next of its kind fares no better.
                self.add(Skip::Kind(action.kind()));
                self.depends_on(action, false);
            }
            Failure::Cloud(error) => {
                match error.kind {
                    ErrorKind::Throttled => self.add(Skip::Throttled),
                    ErrorKind::Unreachable | ErrorKind::Credentials => self.add(Skip::Aws),
                    ErrorKind::Denied => self.add(Skip::Kind(action.kind())),
                    _ => {}
                }
                self.depends_on(action, error.may_have_happened());
            }
        }
    }

    /// An action lost a race with somebody else's write, or what it was decided on is no longer so: its object is looked at
    /// again before anything is done to it or counts on it.
    pub(in crate::pool) fn raced(&mut self, action: &Action) {
        self.depends_on(action, false);
    }

    /// An action was refused together with others, or some of them were done: who counts on it waits for a look.
    pub(in crate::pool) fn not_together(&mut self, action: &Action) {
        self.depends_on(action, true);
    }

    /// Whether an action is held up.
    pub(in crate::pool) fn hold(&self, action: &Action) -> bool {
        let aws = calls_aws(action);
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
                | GroupAction::TagGroup { .. }
                | GroupAction::SuspendProcesses { .. }
                | GroupAction::ResumeProcesses { .. }
                | GroupAction::DeleteGroup { .. },
            )
            | Action::Instance(InstanceAction::ProtectInstances { .. })
            | Action::Pool(_)
            | Action::Read(_)
            | Action::Template(_)
            | Action::Hook(_)
            | Action::Node(_) => None,
        };
        // What is done in the workload cluster rests on nothing.
        (self.has(&Skip::Everything) && !matches!(action, Action::Node(_)))
            || (aws && self.has(&Skip::Aws))
            || (aws
                && !matches!(action, Action::Hook(HookAction::RecordHeartbeat { .. }))
                && self.has(&Skip::Throttled))
            || self.has(&Skip::Kind(action.kind()))
            || own.is_some_and(|own| self.has(&own))
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
            // Lowering desired capacity rests on protection. An instance that is ended by name takes its place with it.
            Action::Instance(InstanceAction::ProtectInstances { .. }) => self.add(Skip::GroupChange),
            // The ends after it are counted as if this one had happened: with another answer than the same again the
            // count would be wrong.
            Action::Instance(InstanceAction::TerminateInstance { decrement, .. }) => {
                if may_have_happened || *decrement == Decrement::Shrink {
                    self.add(Skip::Replacing);
                }
                if may_have_happened || *decrement == Decrement::Replace {
                    self.add(Skip::Shrinking);
                }
            }
            // What follows does not need these: they decorate, or are made up for before they matter.
            Action::Pool(
                PoolAction::PublishReplicas { .. }
                | PoolAction::UnblockMove
                | PoolAction::ForgetAdoption
                // What follows from it is planned when it is seen.
                | PoolAction::Quarantine { .. },
            )
            | Action::Template(TemplateAction::DeleteTemplateVersions { .. })
            | Action::Read(ReadAction::DescribeLifecycleHook { .. } | ReadAction::DescribeInstances { .. })
            | Action::Hook(_)
            | Action::Node(_) => {}
            Action::Pool(
                PoolAction::AddFinalizer
                | PoolAction::RemoveFinalizer
                | PoolAction::BlockMove
                | PoolAction::RecordArn { .. },
            )
            | Action::Read(ReadAction::DescribeLaunchTemplate)
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
            | MachineAction::ExcludeFromDraining { name, .. } => self.add(Skip::Machine(name.clone())),
            // It decorates.
            MachineAction::SetMachineTimeouts { .. } => {}
        }
    }

    fn rests_on_group(&mut self, action: &GroupAction, may_have_happened: bool) {
        match action {
            // They decorate.
            GroupAction::TagGroup { .. }
            | GroupAction::SuspendProcesses { .. }
            | GroupAction::ResumeProcesses { .. } => {}
            // A raise would launch what the group launches now. The plan puts it first when that has to be.
            GroupAction::UpdateGroup { change, .. } if change.template.is_some() => {
                self.add(Skip::GroupChange);
            }
            // Each end is counted against desired capacity as this change leaves it.
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

/// Whether an action is a call of AWS. A look at instances is none: the observer makes it when its time comes.
fn calls_aws(action: &Action) -> bool {
    match action {
        Action::Group(_)
        | Action::Instance(_)
        | Action::Template(_)
        | Action::Hook(_)
        | Action::Read(ReadAction::DescribeLaunchTemplate | ReadAction::DescribeLifecycleHook { .. }) => true,
        Action::Read(ReadAction::DescribeInstances { .. })
        | Action::Pool(_)
        | Action::Machine(_)
        | Action::Node(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_cloud::{CloudError, Operation};
    use foo_model::GroupChange;
    use foo_planner::action::NodeAction;
    use std::collections::{BTreeMap, BTreeSet};

    fn end(id: &str, decrement: Decrement) -> Action {
        Action::Instance(InstanceAction::TerminateInstance {
            group: "g".into(),
            id: id.into(),
            decrement,
            why: String::new(),
        })
    }

    fn suspend() -> Action {
        Action::Group(GroupAction::SuspendProcesses { name: "g".into(), processes: BTreeSet::new() })
    }

    fn refused(kind: ErrorKind) -> Failure {
        CloudError::new(Operation::TerminateInstanceInAutoScalingGroup, kind, None, "no").into()
    }

    #[test]
    fn a_refused_end_holds_up_only_ends_that_count_on_it() {
        let mut holds = Skips::default();
        holds.failed(&end("i-1", Decrement::Shrink), &refused(ErrorKind::Invalid));
        assert!(!holds.hold(&end("i-2", Decrement::Shrink)));
        assert!(holds.hold(&end("i-3", Decrement::Replace)), "one more would be launched than is wanted");
    }

    #[test]
    fn an_end_without_an_answer_holds_up_all_ends() {
        let mut holds = Skips::default();
        holds.failed(&end("i-1", Decrement::Shrink), &refused(ErrorKind::LostAnswer));
        assert!(holds.hold(&end("i-2", Decrement::Shrink)));
    }

    #[test]
    fn what_would_fail_in_the_same_way_is_not_tried() {
        let mut holds = Skips::default();
        holds.failed(&end("i-1", Decrement::Shrink), &refused(ErrorKind::Denied));
        assert!(holds.hold(&end("i-2", Decrement::Shrink)));
        assert!(!holds.hold(&suspend()));
        holds.failed(&end("i-1", Decrement::Shrink), &refused(ErrorKind::Throttled));
        assert!(holds.hold(&suspend()));
    }

    #[test]
    fn heartbeats_go_on_while_aws_throttles_and_not_while_it_is_away() {
        let mut holds = Skips::default();
        let beat = |id: &str| Action::Hook(HookAction::RecordHeartbeat { group: "g".into(), id: id.into() });
        holds.failed(&beat("i-1"), &refused(ErrorKind::Throttled));
        assert!(!holds.hold(&beat("i-2")) && holds.hold(&suspend()));
        holds.failed(&beat("i-2"), &refused(ErrorKind::Unreachable));
        assert!(holds.hold(&beat("i-3")));
    }

    #[test]
    fn nothing_of_ours_or_of_aws_holds_up_what_is_done_in_the_workload_cluster() {
        let mut holds = Skips::default();
        holds.failed(&Action::Read(ReadAction::DescribeLaunchTemplate), &refused(ErrorKind::Denied));
        assert!(holds.hold(&suspend()), "everything else waits");
        assert!(!holds.hold(&Action::Node(NodeAction::CordonNodes { nodes: BTreeMap::new() })));
    }

    #[test]
    fn without_protection_the_group_is_not_changed_but_released_instances_end() {
        let mut holds = Skips::default();
        let protect =
            Action::Instance(InstanceAction::ProtectInstances { name: "g".into(), ids: vec!["i-9".into()] });
        holds.failed(&protect, &refused(ErrorKind::Invalid));
        let change = Action::Group(GroupAction::UpdateGroup {
            name: "g".into(),
            change: GroupChange::default(),
            why: String::new(),
        });
        assert!(holds.hold(&change));
        assert!(!holds.hold(&end("i-1", Decrement::Replace)));
    }
}
