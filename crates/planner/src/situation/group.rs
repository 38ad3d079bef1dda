//! Whether the group exists, is usable, and which of its settings differ from the desired ones.
//! `steps/group.rs` acts on it.

use super::adoption::{AdoptionState, adoption};
use super::facts::Facts;
use super::size::ReplicasManagedBy;
use super::template::template_differs;
use super::view::View;
use super::warm_pool::holds_template;
use crate::desired::{Identity, Wanted};
use foo_model::group::GroupStatus;
use foo_model::names::{ADOPT_FROM_ANNOTATION, INSTALLATION_OF_RETAINED, TAG_INSTALLATION};
use foo_model::{
    Applied, Blocked, Group, GroupSettings, GroupSettingsChange, HookName, LifecycleHook, Notifications,
    Process, Reason, TopicArn, TrafficSource, TrafficSourceKind, Transition,
};
use std::collections::{BTreeMap, BTreeSet};

/// What of the group differs from what is desired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    Min,
    Max,
    Template,
    Settings(GroupSettingsChange),
    Tags,
    /// Processes to suspend, and to resume.
    Processes(BTreeSet<Process>, BTreeSet<Process>),
    /// Lifecycle hooks of the spec to create or change, and those to delete.
    Hooks(BTreeMap<HookName, LifecycleHook>, BTreeSet<HookName>),
    /// Topics to put with their types, and topics to delete.
    Notifications(Notifications, BTreeSet<TopicArn>),
    /// Traffic sources to attach, and to detach.
    TrafficSources(BTreeSet<TrafficSource>, BTreeSet<TrafficSource>),
}

impl Difference {
    /// The names in messages of what differs.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        match self {
            Self::Min => vec!["minimum size"],
            Self::Max => vec!["maximum size"],
            Self::Template => vec!["launch template version"],
            Self::Settings(change) => change.names(),
            Self::Tags => vec!["tags"],
            Self::Processes(..) => vec!["suspended processes"],
            Self::Hooks(..) => vec!["lifecycle hooks"],
            Self::Notifications(..) => vec!["notifications"],
            Self::TrafficSources(attach, detach) => {
                let kinds: BTreeSet<_> = attach.union(detach).map(TrafficSource::kind).collect();
                kinds.into_iter().map(TrafficSourceKind::plural).collect()
            }
        }
    }
}

/// Whether the group existed and was deleted by another user or controller.
pub(crate) fn was_lost(facts: &Facts<'_>) -> bool {
    matches!(facts.view, View::Absent) && facts.observed.recorded_arn.is_some()
}

/// Whether nothing of the group is left to remove. A manager that just became the leader does not trust the
/// absence of a group, nor that it is another owner's: its predecessor may have created or adopted one, which is not visible yet.
pub(crate) fn group_is_gone(facts: &Facts<'_>) -> bool {
    facts.is_fresh()
        && match facts.view {
            View::Absent => facts.is_settled() && facts.memory.ledger.created.is_none(),
            View::Foreign(_) => facts.is_settled(),
            View::Own(_) | View::Unknown | View::Failed { .. } => false,
        }
}

/// Why launches are suspended, if AWS suspended them: it does so when a group's launches have failed for a
/// day (Auto Scaling User Guide, "Suspend and resume processes"). AWS gives another reason for processes that
/// a user suspended.
pub(crate) fn launches_suspended_by_aws(group: &Group) -> Option<&str> {
    let reason = group.suspended.get(&Process::Launch)?;
    (!reason.is_empty() && !reason.starts_with("User suspended")).then_some(reason)
}

/// Settings that differ from the desired ones and can be repaired now.
pub(crate) fn differences(facts: &Facts<'_>, group: &Group) -> Vec<Difference> {
    let max_differs = match facts.target.managed_by {
        ReplicasManagedBy::Replicas => false,
        ReplicasManagedBy::External { max, .. } => max != group.sizes.max,
    };
    let settings = settings_now(facts, group).changes_from(&group.settings);
    let settings_differ = settings != GroupSettingsChange::default();
    let (attach, detach) = traffic_sources(facts, group);
    let sources_differ = !attach.is_empty() || !detach.is_empty();
    let (put, delete) = hooks(facts);
    let hooks_differ = !put.is_empty() || !delete.is_empty();
    let (topics, left) = notifications(facts);
    let topics_differ = !topics.is_empty() || !left.is_empty();
    let (suspend, resume) = processes(facts, group);
    let processes_differ = !suspend.is_empty() || !resume.is_empty();
    [
        (Difference::Min, group.sizes.min != wanted_min(facts)),
        (Difference::Max, max_differs),
        (Difference::Template, template_differs(facts, group) && !holds_template(facts, group)),
        (Difference::Settings(settings), settings_differ),
        (Difference::Tags, !lacking_tags(facts, group).is_empty()),
        (Difference::TrafficSources(attach, detach), sources_differ),
        (Difference::Processes(suspend, resume), processes_differ),
        (Difference::Hooks(put, delete), hooks_differ),
        (Difference::Notifications(topics, left), topics_differ),
    ]
    .into_iter()
    .filter_map(|(difference, differs)| differs.then_some(difference))
    .collect()
}

/// The settings that the group should have now: subnets that are not known stay as they are.
fn settings_now(facts: &Facts<'_>, group: &Group) -> GroupSettings {
    let settings = &facts.desired.group.settings;
    let subnets = match &settings.subnets {
        Wanted::Ready(subnets) => subnets,
        Wanted::Blocked(_) => &group.settings.subnets,
    };
    settings.with_subnets(subnets.clone())
}

/// The traffic sources to attach and to detach. Those of a kind that the spec leaves out stay.
fn traffic_sources(facts: &Facts<'_>, group: &Group) -> (BTreeSet<TrafficSource>, BTreeSet<TrafficSource>) {
    let by_kind = facts.desired.group.traffic_sources();
    let wanted: BTreeSet<&TrafficSource> = by_kind.values().flatten().collect();
    let has = &group.traffic_sources;
    let attach = wanted.iter().filter(|source| !has.contains(**source)).map(|source| (*source).clone());
    let left = has.iter().filter(|source| by_kind.contains_key(&source.kind()) && !wanted.contains(source));
    (attach.collect(), left.cloned().collect())
}

/// Names of the terminating lifecycle hooks besides the provider's own, in the order of their names: whoever added them completes them.
pub(crate) fn other_terminating_hooks<'a>(facts: &Facts<'a>) -> Vec<&'a HookName> {
    let others = facts.observed.other_hooks.iter();
    let terminating = others.filter(|(_, hook)| hook.transition == Transition::Terminating);
    terminating.map(|(name, _)| name).collect()
}

/// What the spec named before, and does not name any more.
fn left(facts: &Facts<'_>) -> Applied {
    facts.desired.group.no_longer_named(&facts.observed.applied)
}

/// What to create or change of what the spec names, and what to delete of what has left it. What other users added stays.
fn to_change<K: Ord + Clone, V: Clone + PartialEq>(
    wanted: &BTreeMap<K, V>,
    has: &BTreeMap<K, V>,
    left: &BTreeSet<K>,
) -> (BTreeMap<K, V>, BTreeSet<K>) {
    let differs = wanted.iter().filter(|(name, value)| has.get(name) != Some(value));
    let left = left.iter().filter(|name| has.contains_key(name)).cloned();
    (differs.map(|(name, value)| (name.clone(), value.clone())).collect(), left.collect())
}

fn hooks(facts: &Facts<'_>) -> (BTreeMap<HookName, LifecycleHook>, BTreeSet<HookName>) {
    let (Some(wanted), Some(_)) = (&facts.desired.group.hooks, facts.observed.hook.seen()) else {
        return Default::default();
    };
    to_change(wanted, &facts.observed.other_hooks, &left(facts).lifecycle_hooks)
}

fn notifications(facts: &Facts<'_>) -> (Notifications, BTreeSet<TopicArn>) {
    let (Some(wanted), Some(has)) = (&facts.desired.group.notifications, facts.observed.notifications.seen())
    else {
        return Default::default();
    };
    to_change(wanted, has, &left(facts).notification_topics)
}

/// The processes of the group that are to be suspended.
pub(crate) fn suspended(facts: &Facts<'_>) -> BTreeSet<Process> {
    [Process::AZRebalance].into_iter().chain(facts.desired.group.suspended.iter().copied()).collect()
}

/// The processes to suspend, and those to resume: the spec named them before. What other users suspended stays.
fn processes(facts: &Facts<'_>, group: &Group) -> (BTreeSet<Process>, BTreeSet<Process>) {
    let wanted = suspended(facts);
    let is_suspended = |process: &Process| group.suspended.contains_key(process);
    let left = left(facts).suspended_processes;
    let resume = left.difference(&wanted).copied().filter(is_suspended).collect();
    (wanted.into_iter().filter(|process| !is_suspended(process)).collect(), resume)
}

/// Zero while the provider manages the replicas: a minimum would make AWS refuse decrements, and has no other
/// use.
pub(crate) fn wanted_min(facts: &Facts<'_>) -> u32 {
    match facts.target.managed_by {
        ReplicasManagedBy::Replicas => 0,
        ReplicasManagedBy::External { min, .. } => min,
    }
}

pub(crate) fn wanted_tags(facts: &Facts<'_>) -> BTreeMap<String, String> {
    let mut tags = facts.desired.group.tags.clone();
    tags.extend(facts.desired.identity.group_tags());
    tags
}

/// Desired tags that are missing or different. Other tags stay unchanged.
pub(crate) fn lacking_tags(facts: &Facts<'_>, group: &Group) -> BTreeMap<String, String> {
    let mut tags = wanted_tags(facts);
    if facts.observed.records_adoption_of(group) {
        tags.extend(facts.desired.identity.adopted_tags());
    }
    tags.retain(|key, value| group.tags.get(key) != Some(value));
    tags
}

/// Why the group is not usable if it belongs to this pool in another management cluster.
pub(crate) fn of_another_installation(facts: &Facts<'_>) -> Option<Blocked> {
    let other = facts.other_installation()?;
    let Identity { group, installation, adopt_from, .. } = &facts.desired.identity;
    if other == INSTALLATION_OF_RETAINED {
        let message = format!(
            "Auto Scaling group {group} stayed when its FooMachinePool was deleted, and no management cluster manages it; to \
             manage it again, set the annotation {ADOPT_FROM_ANNOTATION}={other} on this FooMachinePool"
        );
        return Some(Blocked::new(Reason::GroupOfAnotherInstallation, message));
    }
    let named = match adopt_from {
        Some(named) => format!(", not {named:?}"),
        None => String::new(),
    };
    let message = format!(
        "Auto Scaling group {group} is managed by another management cluster: its tag {TAG_INSTALLATION} is \
         {other:?}, this one is {installation:?}; it is left alone. If that one no longer manages the pool, set the \
         annotation {ADOPT_FROM_ANNOTATION}={other}{named} on this FooMachinePool"
    );
    Some(Blocked::new(Reason::GroupOfAnotherInstallation, message))
}

/// Why the group cannot be created or used, if that is certain.
pub(crate) fn obstacle(facts: &Facts<'_>) -> Option<Blocked> {
    let name = &facts.desired.identity.group;
    match adoption(facts) {
        Some(AdoptionState::Blocked(blocked)) => return Some(blocked),
        Some(AdoptionState::AwaitsTemplate | AdoptionState::Due(_)) => {
            let message = format!("Auto Scaling group {name} is about to be adopted");
            return Some(Blocked::new(Reason::AdoptionWaiting, message));
        }
        None => {}
    }
    match facts.view {
        View::Foreign(_) if facts.other_installation().is_some() => of_another_installation(facts),
        View::Foreign(group) if group.status == GroupStatus::Active => Some(Blocked::new(
            Reason::GroupNotOwned,
            facts.desired.identity.of_another_owner(&format!("Auto Scaling group {name}"), &group.tags),
        )),
        View::Foreign(group) | View::Own(group) if group.status == GroupStatus::Deleting => {
            Some(Blocked::new(
                Reason::GroupDeleting,
                format!("AWS is deleting Auto Scaling group {name}; waiting until it is deleted"),
            ))
        }
        View::Failed { reason, message } => Some(Blocked::new(reason, message)),
        View::Own(_) | View::Absent => match &facts.desired.group.settings.subnets {
            Wanted::Blocked(blocked) => Some(blocked.clone()),
            Wanted::Ready(_) => None,
        },
        View::Unknown | View::Foreign(_) => None,
    }
}
