//! Is the group there, is it ours, and does it have the wanted settings?
//!
//! Sizes other than the minimum are the size step's business.

use crate::action::{Action, NewGroup};
use crate::desired::{Blocked, Wanted};
use crate::draft::{Draft, Stage};
use crate::model::group::{GroupStatus, TemplateChoice};
use crate::model::hook::HookTerms;
use crate::model::{Group, InstanceId, InstancesMix, LifecycleState, Process, Protection};
use crate::report::{About, Severity};
use crate::situation::{Decider, Situation, View};
use crate::steps::own::may_create;
use crate::steps::template::{Stand, stand};
use std::collections::{BTreeMap, BTreeSet};

/// Most instances in one SetInstanceProtection call.
const PROTECT_AT_ONCE: usize = 50;

/// A setting of the group that is not as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    Min,
    Max,
    Template,
    Subnets,
    NewProtection,
    Tags,
    Processes,
}

impl Difference {
    /// For messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Min => "minimum size",
            Self::Max => "maximum size",
            Self::Template => "launch template version",
            Self::Subnets => "subnets",
            Self::NewProtection => "protection of new instances",
            Self::Tags => "tags",
            Self::Processes => "suspended processes",
        }
    }
}

/// Makes the group, or puts its settings right with as few calls as possible.
pub(crate) fn create_or_repair(situation: &Situation<'_>, draft: &mut Draft) {
    if let Some(group) = situation.writable_group() {
        repair(situation, group, draft);
    } else if is_due(situation) {
        create(situation, draft);
    }
}

/// There is no group, certainly: a fresh look says so and none was made a moment ago.
fn is_due(situation: &Situation<'_>) -> bool {
    matches!(situation.view, View::Absent)
        && situation.is_fresh()
        && situation.memory.ledger.created.is_none()
        && may_create(situation)
}

/// Whether the group had existed and went away without us.
pub(crate) fn was_lost(situation: &Situation<'_>) -> bool {
    matches!(situation.view, View::Absent) && situation.observed.recorded_arn.is_some()
}

fn create(situation: &Situation<'_>, draft: &mut Draft) {
    let (Stand::Ready(template, version), Wanted::Ready(subnets)) =
        (stand(situation), &situation.desired.group.subnets)
    else {
        return;
    };
    let identity = &situation.desired.identity;
    let wish = situation.wish;
    let (min, max, desired) = match wish.decider {
        Decider::Replicas => (0, wish.size, Some(wish.size)),
        Decider::External { min, max, .. } => (min, max, None),
    };
    let group = NewGroup {
        name: identity.group.clone(),
        min,
        max,
        desired,
        template: (template.id.clone(), version),
        mix: situation.desired.group.mix.clone(),
        subnets: subnets.clone(),
        hook: HookTerms::OURS,
        tags: wanted_tags(situation),
    };
    if was_lost(situation) {
        draft.tell(
            Severity::Warning,
            About::NewGroup,
            "AutoScalingGroupRecreated",
            format!("Auto Scaling group {} was deleted by somebody else; it is made anew", identity.group),
        );
    } else {
        let size = desired.map_or_else(|| format!("{min} to {max}"), |desired| desired.to_string());
        draft.tell(
            Severity::Normal,
            About::NewGroup,
            "AutoScalingGroupCreated",
            format!("Auto Scaling group {} is made, size {size}", identity.group),
        );
    }
    draft.act(Stage::Group, Action::CreateGroup(Box::new(group)));
    draft.act(Stage::Group, suspend(situation));
}

fn repair(situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    protect(situation, group, draft);
    for difference in differences(situation, group) {
        mend(difference, situation, group, draft);
    }
    resume_launches(situation, group, draft);
}

/// Why launches are suspended, if AWS did that by itself: it gives up on a group whose launches have failed for a day (Auto
/// Scaling User Guide, "Suspend and resume processes"). What a person suspends is that person's, and AWS says so.
pub(crate) fn given_up_by_aws(group: &Group) -> Option<&str> {
    let reason = group.suspended.get(&Process::Launch)?;
    (!reason.is_empty() && !reason.starts_with("User suspended")).then_some(reason)
}

/// Lets a group launch again that AWS has given up on, once something else is wanted of it than what failed.
fn resume_launches(situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    if given_up_by_aws(group).is_none() {
        draft.memory.suspended_for = None;
        return;
    }
    let launched = stand(situation).launchable().map(|(_, version)| version);
    let wish = &situation.desired.group;
    let wanted = format!("{:?}", (situation.wish.size, launched, &wish.subnets, &wish.mix));
    match draft.memory.suspended_for.replace(wanted.clone()) {
        Some(before) if before != wanted => {
            let message =
                "AWS had suspended launches by itself; they are resumed because something else is wanted now";
            draft.tell(Severity::Normal, About::Nothing, "LaunchResumed", message);
            let processes = BTreeSet::from([Process::Launch]);
            draft.act(Stage::Decorate, Action::ResumeProcesses { name: group.name.clone(), processes });
        }
        Some(_) | None => {}
    }
}

fn mend(difference: Difference, situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    let wish = &situation.desired.group;
    match difference {
        Difference::Min => {
            let min = wanted_min(situation);
            draft.change(format!("minimum size {} → {min}", group.sizes.min), |change| {
                change.min = Some(min);
            });
        }
        Difference::Max => change_max(situation, group, draft),
        Difference::Template => {
            if let Some((template, version)) = stand(situation).launchable() {
                let choice = (template.id.clone(), version, mix(situation, group));
                draft.change(format!("launch template version {version}"), |change| {
                    change.template = Some(choice);
                });
            }
        }
        Difference::Subnets => {
            if let Wanted::Ready(subnets) = &wish.subnets {
                let subnets = subnets.clone();
                draft.change("subnets", |change| change.subnets = Some(subnets));
            }
        }
        Difference::NewProtection => {
            draft.change("protection of new instances", |change| change.protect_new_instances = true);
        }
        Difference::Tags => {
            let tags = lacking_tags(situation, group);
            draft.act(Stage::Decorate, Action::TagGroup { name: group.name.clone(), tags });
        }
        Difference::Processes => draft.act(Stage::Decorate, suspend(situation)),
    }
}

/// The maximum that somebody else's rules want. A maximum below desired capacity makes AWS lower that, so it waits
/// for everything to be protected and for a manager that knows what is going on.
fn change_max(situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    let Decider::External { max, .. } = situation.wish.decider else { return };
    let lowers = max < situation.capacity.high;
    if lowers && (situation.tally.unprotected > 0 || situation.sizable_group().is_none()) {
        return;
    }
    draft.change(format!("maximum size {} → {max}", group.sizes.max), |change| change.max = Some(max));
}

/// What differs from the wish and can be put right now.
pub(crate) fn differences(situation: &Situation<'_>, group: &Group) -> Vec<Difference> {
    let wish = &situation.desired.group;
    let max_differs = match situation.wish.decider {
        Decider::Replicas => false,
        Decider::External { max, .. } => max != group.sizes.max,
    };
    let subnets_differ = matches!(&wish.subnets, Wanted::Ready(subnets) if *subnets != group.subnets);
    [
        (Difference::Min, group.sizes.min != wanted_min(situation)),
        (Difference::Max, max_differs),
        (Difference::Template, template_differs(situation, group)),
        (Difference::Subnets, subnets_differ),
        (Difference::NewProtection, group.new_instances == Protection::Unprotected),
        (Difference::Tags, !lacking_tags(situation, group).is_empty()),
        (Difference::Processes, !group.suspended.contains_key(&Process::AZRebalance)),
    ]
    .into_iter()
    .filter_map(|(difference, differs)| differs.then_some(difference))
    .collect()
}

fn template_differs(situation: &Situation<'_>, group: &Group) -> bool {
    let Some((template, version)) = stand(situation).launchable() else { return false };
    let wanted = (template.id.clone(), TemplateChoice::Version(version));
    group.template.as_ref() != Some(&wanted) || group.mix != mix(situation, group)
}

/// The mix of types is no part of a version: while other content than the wanted one is launched, it stays as it is.
fn mix(situation: &Situation<'_>, group: &Group) -> Option<InstancesMix> {
    if situation.fallback.is_some() { group.mix.clone() } else { situation.desired.group.mix.clone() }
}

/// Whether what the group launches now is what all instances shall have in the end.
pub(crate) fn launches_wanted_content(situation: &Situation<'_>) -> bool {
    let View::Ours(group) = situation.view else { return false };
    matches!(stand(situation), Stand::Ready(..)) && !template_differs(situation, group)
}

/// Zero while we own the replicas: a minimum would refuse our decrements, and does nothing else for us.
fn wanted_min(situation: &Situation<'_>) -> u32 {
    match situation.wish.decider {
        Decider::Replicas => 0,
        Decider::External { min, .. } => min,
    }
}

fn wanted_tags(situation: &Situation<'_>) -> BTreeMap<String, String> {
    let mut tags = situation.desired.group.tags.clone();
    tags.extend(situation.desired.identity.ownership_tags());
    tags
}

/// Wanted tags that are missing or different. Tags of others are none of our business.
fn lacking_tags(situation: &Situation<'_>, group: &Group) -> BTreeMap<String, String> {
    let mut tags = wanted_tags(situation);
    tags.retain(|key, value| group.tags.get(key) != Some(value));
    tags
}

fn suspend(situation: &Situation<'_>) -> Action {
    Action::SuspendProcesses {
        name: situation.desired.identity.group.clone(),
        processes: BTreeSet::from([Process::AZRebalance]),
    }
}

/// Puts scale-in protection back on members that lack it.
///
/// SetInstanceProtection takes instances in service only; one that launches unprotected is caught later, and until
/// then desired capacity is not lowered.
pub(crate) fn protect(situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    let bare: Vec<InstanceId> = situation
        .members
        .iter()
        .map(|member| member.instance)
        .filter(|instance| instance.lifecycle == LifecycleState::InService)
        .filter(|instance| instance.protection == Protection::Unprotected)
        .filter(|instance| !situation.memory.ledger.leaving.contains_key(&instance.id))
        .map(|instance| instance.id.clone())
        .collect();
    for ids in bare.chunks(PROTECT_AT_ONCE) {
        draft.act(Stage::Protect, Action::ProtectInstances { name: group.name.clone(), ids: ids.to_vec() });
    }
}

/// Why the group cannot be made or used as it stands, if something certain stands in the way.
pub(crate) fn obstacle(situation: &Situation<'_>) -> Option<Blocked> {
    let name = &situation.desired.identity.group;
    match situation.view {
        View::Foreign(group) if group.status == GroupStatus::Active => Some(Blocked::new(
            "GroupNotOwned",
            situation.desired.identity.somebody_elses(&format!("Auto Scaling group {name}"), &group.tags),
        )),
        View::Foreign(group) | View::Ours(group) if group.status == GroupStatus::Deleting => {
            Some(Blocked::new(
                "GroupDeleting",
                format!("Auto Scaling group {name} is being deleted by AWS; waiting until it is gone"),
            ))
        }
        View::Failed { reason, message } => Some(Blocked::new(reason, message)),
        View::Ours(_) | View::Absent => match &situation.desired.group.subnets {
            Wanted::Blocked(blocked) => Some(blocked.clone()),
            Wanted::Ready(_) => None,
        },
        View::Unknown | View::Foreign(_) => None,
    }
}
