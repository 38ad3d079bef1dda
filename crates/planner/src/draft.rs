//! A plan being written: actions by stage, one merged change of the group, events, memory and timers.

use crate::action::{Action, GroupAction, HookAction, TemplateAction};
use crate::memory::{Memory, RAISE_WAITS};
use crate::report::{Event, EventTrigger};
use foo_model::{EventReason, GroupChange, GroupName, InstanceId, MachineName, Seconds, Timestamp};
use std::collections::BTreeSet;

/// When in a plan an action comes: what others rest on first, and what must not wait long before what can: Kubernetes
/// before AWS, what ends instances before what decorates them, what may be refused for ever (a bad template, a denied
/// look) last. An action that fails holds up only what rests on it; whoever carries the plan out decides on that.
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
    /// Machines chosen to go.
    Victims,
    /// Released instances.
    Ends,
    /// Tags and processes.
    Decorate,
    /// Template and versions.
    Template,
    /// Reading more.
    Look,
    /// The last things of a removal.
    Finish,
    /// What talks to the workload cluster, which may take its time.
    Last,
}

/// Unmarked Machines with a Node that are more than desired and stay for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Postponed {
    /// How many.
    pub(crate) machines: u32,
    /// What was desired before; `None`: nobody remembers.
    pub(crate) from: Option<u32>,
    pub(crate) until: Until,
}

/// When the first of those that are held back may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// At this moment, and all of them.
    At(Timestamp),
    /// At this moment, and others later.
    AtLeast(Timestamp),
    /// So long after launches come again.
    Launches(Seconds),
}

/// The two parts of a change of the group, each a call of its own: AWS refuses a template for reasons that nobody can foresee
/// (an instance refresh with another one, an image that is gone, a right that was taken away), and all that comes with it
/// in the same call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Template,
    Settings,
}

/// A plan being written.
pub(crate) struct Draft {
    pub(crate) memory: Memory,
    pub(crate) events: Vec<Event>,
    /// How many Machines this plan chose to go.
    pub(crate) victims: u32,
    /// What this plan does not choose yet, though it is too many.
    pub(crate) postponed: Option<Postponed>,
    /// How many launches in flight are not cancelled because marked Machines wait for them.
    pub(crate) reserved: u32,
    /// Machines that this plan deletes, so that two reasons make one deletion.
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

    /// Whether anything is done so far, here or in AWS, but for reading.
    pub(crate) fn does_something(&self) -> bool {
        let reads = |action: &Action| matches!(action, Action::Read(_));
        !self.reasons.is_empty() || self.actions.iter().any(|(_, action)| !reads(action))
    }

    /// Adds to the change of the group that this plan makes.
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

    /// Instances that this plan lets go from our hook.
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

    /// Plan again at this moment even if nothing happens.
    pub(crate) fn wake_at(&mut self, at: Timestamp) {
        self.timers.push(at);
    }

    /// Whether something is made in AWS so far.
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

    /// Nothing to do so far, here or in AWS.
    pub(crate) fn is_idle(&self) -> bool {
        self.actions.iter().all(|(stage, _)| *stage == Stage::Last) && self.reasons.is_empty()
    }

    /// The earliest timer.
    pub(crate) fn next_timer(&self) -> Option<Timestamp> {
        self.timers.iter().min().copied()
    }

    /// The actions in their order, the change of the group among them.
    ///
    /// The template comes first, so that what is launched is launched from it; when AWS has refused it for long, last, so that
    /// the rest does not wait for it.
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
        // Stable: within a stage the order of writing stays.
        self.actions.sort_by_key(|(stage, _)| *stage);
        self.actions.into_iter().map(|(_, action)| action).collect()
    }
}
