//! A plan being written: actions by stage, one merged change of the group, events, memory and timers.

use crate::action::{Action, GroupAction, HookAction, TemplateAction};
use crate::memory::{Memory, RAISE_WAITS};
use crate::report::{Event, EventTrigger};
use foo_model::{EventReason, GroupChange, GroupName, InstanceId, MachineName, Seconds, Timestamp};
use std::collections::BTreeSet;

/// The place of an action in a plan. An action comes before those that depend on it: Kubernetes before AWS,
/// terminations before tags and processes, and last what AWS may refuse for good (a bad template, a denied
/// read). An action that fails delays only what depends on it; the code that carries out the plan decides
/// that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Finalizer, ARN.
    Own,
    /// FooMachines and their Machines.
    Machines,
    /// Protection from scale-in: before anything that lowers desired capacity.
    Protect,
    /// The group itself.
    Group,
    /// MachinePool.spec.replicas: before Machines whose deletion is conditional on it.
    Publish,
    /// Deletion of the Machines that this plan chose.
    Victims,
    /// Termination of released instances.
    Ends,
    /// Tags and processes.
    Decorate,
    /// Template and versions.
    Template,
    /// Further reads.
    Read,
    /// The last actions of a removal.
    Finish,
    /// Calls to the workload cluster, which may be slow.
    Last,
}

/// Unmarked Machines with a Node that exceed the desired replicas and are not deleted yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Postponed {
    /// How many.
    pub(crate) machines: u32,
    /// The desired replicas before; `None` if the memory of them is lost.
    pub(crate) from: Option<u32>,
    pub(crate) until: Until,
}

/// When the first of the postponed Machines may be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// All of them at this moment.
    At(Timestamp),
    /// Some at this moment, others later.
    AtLeast(Timestamp),
    /// This long after launches succeed again.
    Launches(Seconds),
}

/// The two parts of a change of the group, each sent as a call of its own. AWS refuses a template for reasons
/// that the planner cannot foresee (an instance refresh with another template, a deleted image, a revoked
/// right), and then refuses everything else in the same call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Template,
    Settings,
}

/// A plan being written.
pub(crate) struct Draft {
    pub(crate) memory: Memory,
    pub(crate) events: Vec<Event>,
    /// How many Machines this plan deletes because there are too many.
    pub(crate) victims: u32,
    /// Excess Machines that this plan does not delete yet.
    pub(crate) postponed: Option<Postponed>,
    /// How many launches in flight are not cancelled because marked Machines wait for them.
    pub(crate) reserved: u32,
    /// Machines that this plan deletes. Two reasons to delete a Machine cause one deletion.
    pub(crate) deleted: BTreeSet<MachineName>,
    actions: Vec<(Stage, Action)>,
    change: GroupChange,
    reasons: Vec<(Part, String)>,
    timers: Vec<Timestamp>,
}

impl Draft {
    pub(crate) fn new(memory: Memory) -> Self {
        Self {
            memory,
            events: Vec::new(),
            victims: 0,
            postponed: None,
            reserved: 0,
            deleted: BTreeSet::new(),
            actions: Vec::new(),
            change: GroupChange::default(),
            reasons: Vec::new(),
            timers: Vec::new(),
        }
    }

    /// Adds an action.
    pub(crate) fn act(&mut self, stage: Stage, action: impl Into<Action>) {
        self.actions.push((stage, action.into()));
    }

    /// Adds an action that comes before all others of its stage.
    pub(crate) fn act_first(&mut self, stage: Stage, action: impl Into<Action>) {
        self.actions.insert(0, (stage, action.into()));
    }

    /// Whether the plan so far has an action other than reads.
    pub(crate) fn does_something(&self) -> bool {
        let reads = |action: &Action| matches!(action, Action::Read(_));
        !self.reasons.is_empty() || self.actions.iter().any(|(_, action)| !reads(action))
    }

    /// Adds to the one change of the group in this plan.
    pub(crate) fn change(&mut self, why: impl Into<String>, edit: impl FnOnce(&mut GroupChange)) {
        let before = self.change.template.clone();
        edit(&mut self.change);
        let part = if self.change.template == before { Part::Settings } else { Part::Template };
        self.reasons.push((part, why.into()));
    }

    /// The change of the group so far.
    pub(crate) fn pending_change(&self) -> &GroupChange {
        &self.change
    }

    /// Instances whose lifecycle action this plan completes.
    pub(crate) fn completed_hooks(&self) -> BTreeSet<&InstanceId> {
        let actions = self.actions.iter().map(|(_, action)| action);
        actions
            .filter_map(|action| match action {
                Action::Hook(HookAction::CompleteLifecycleAction { id, .. }) => Some(id),
                _ => None,
            })
            .collect()
    }

    /// Adds an event, which is published once, when that action was carried out.
    pub(crate) fn event(&mut self, about: EventTrigger, reason: EventReason, message: impl Into<String>) {
        self.events.push(Event { reason, message: message.into(), about });
    }

    /// Requests another plan at this moment, even if nothing changes until then.
    pub(crate) fn wake_at(&mut self, at: Timestamp) {
        self.timers.push(at);
    }

    /// Whether the plan so far creates something in AWS.
    pub(crate) fn makes_something(&self) -> bool {
        let makes = |action: &Action| {
            matches!(
                action,
                Action::Template(TemplateAction::CreateTemplate { .. })
                    | Action::Group(GroupAction::CreateGroup(_))
            )
        };
        self.actions.iter().any(|(_, action)| makes(action))
    }

    /// Whether the plan so far has no action.
    pub(crate) fn is_idle(&self) -> bool {
        self.actions.iter().all(|(stage, _)| *stage == Stage::Last) && self.reasons.is_empty()
    }

    /// The earliest timer.
    pub(crate) fn next_timer(&self) -> Option<Timestamp> {
        self.timers.iter().min().copied()
    }

    /// The actions in their order, including the change of the group.
    ///
    /// A change of the launch template comes first, so that new instances are launched from it. After AWS has
    /// refused it for a while it comes last, so that the other actions do not wait for it.
    pub(crate) fn into_actions(mut self, group: &GroupName, now: Timestamp) -> Vec<Action> {
        let refused = self.memory.template_refused_since;
        let hopeless = refused.is_some_and(|since| since.until(now) >= RAISE_WAITS);
        let order =
            if hopeless { [Part::Settings, Part::Template] } else { [Part::Template, Part::Settings] };
        for part in order {
            let whys = self.reasons.iter().filter(|(of, _)| *of == part).map(|(_, why)| why.as_str());
            let why = whys.collect::<Vec<_>>().join("; ");
            if why.is_empty() {
                continue;
            }
            let change = match part {
                Part::Template => {
                    GroupChange { template: self.change.template.clone(), ..GroupChange::default() }
                }
                Part::Settings => GroupChange { template: None, ..self.change.clone() },
            };
            self.actions.push((
                Stage::Group,
                Action::Group(GroupAction::UpdateGroup { name: group.clone(), change, why }),
            ));
        }
        // A stable sort: within a stage, actions keep the order in which the steps added them.
        self.actions.sort_by_key(|(stage, _)| *stage);
        self.actions.into_iter().map(|(_, action)| action).collect()
    }
}
