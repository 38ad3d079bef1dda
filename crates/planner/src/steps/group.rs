//! Does the group exist, is it the pool's own, and does it have the desired settings?
//!
//! The size step handles all sizes except the minimum.

use crate::action::{GroupAction, InstanceAction, PoolAction};
use crate::desired::Wanted;
use crate::draft::{Draft, Stage};
use crate::report::EventTrigger;
use crate::situation::{
    Difference, ReplicasManagedBy, Situation, TemplateState, View, differences, is_secured, lacking_tags,
    launches_suspended_by_aws, mix, suspended, template_state, wanted_min, wanted_tags, was_lost,
};
use crate::steps::own::may_create;
use crate::steps::{hooks, objects};
use foo_model::hook::HookConfig;
use foo_model::{
    EventReason, Group, GroupSettingsChange, InstanceId, LifecycleState, NewGroup, Process, Protection,
    TrafficSource, TrafficSourceKind,
};
use std::collections::BTreeSet;

/// Maximum of instances in one SetInstanceProtection call.
const PROTECT_AT_ONCE: usize = 50;

/// Creates the group, or repairs its settings with as few calls as possible.
pub(crate) fn create_or_repair(situation: &Situation<'_>, draft: &mut Draft) {
    if let Some(group) = situation.writable_group() {
        repair(situation, group, draft);
    } else if is_due(situation) {
        create(situation, draft);
    }
}

/// Whether the group certainly does not exist: a fresh observation shows it, and the provider did not just
/// create one.
fn is_due(situation: &Situation<'_>) -> bool {
    matches!(situation.view, View::Absent)
        && situation.is_fresh()
        && situation.memory.ledger.created.is_none()
        && may_create(situation)
        && !objects::holds_launches(situation)
}

fn create(situation: &Situation<'_>, draft: &mut Draft) {
    let settings = &situation.desired.group.settings;
    let (TemplateState::Ready(template, version), Wanted::Ready(subnets)) =
        (template_state(situation), &settings.subnets)
    else {
        return;
    };
    let identity = &situation.desired.identity;
    let target = situation.target;
    let (min, max, desired) = match target.managed_by {
        ReplicasManagedBy::Replicas => (0, target.replicas, Some(target.replicas)),
        ReplicasManagedBy::External { min, max, .. } => (min, max, None),
    };
    let group = NewGroup {
        name: identity.group.clone(),
        min,
        max,
        desired,
        template: (template.id.clone(), version),
        mix: mix(situation, None, (template, version)),
        settings: settings.with_subnets(subnets.clone()),
        traffic_sources: situation.desired.group.traffic_sources().into_values().flatten().collect(),
        drain_hook: Some(HookConfig::DRAIN),
        hooks: situation.desired.group.hooks.clone().unwrap_or_default(),
        tags: wanted_tags(situation),
    };
    if was_lost(situation) {
        draft.event(
            EventTrigger::NewGroup,
            EventReason::AutoScalingGroupRecreated,
            format!("Recreating Auto Scaling group {}: it was deleted outside this provider", identity.group),
        );
    } else {
        let size = desired
            .map_or_else(|| format!("size {min} to {max}"), |desired| format!("desired capacity {desired}"));
        draft.event(
            EventTrigger::NewGroup,
            EventReason::AutoScalingGroupCreated,
            format!("Created Auto Scaling group {} with {size}", identity.group),
        );
    }
    if situation.observed.recorded_adoption {
        draft.act(Stage::Own, PoolAction::ForgetAdopted);
    }
    draft.act(Stage::Group, GroupAction::CreateGroup(Box::new(group)));
    draft.act(Stage::Group, suspend(situation, suspended(situation)));
}

fn repair(situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    protect(situation, group, draft);
    let secured = is_secured(situation, group);
    for difference in differences(situation, group) {
        match difference {
            difference if secured => repair_settings(difference, situation, group, draft),
            Difference::Processes(..) | Difference::Tags => {
                repair_settings(difference, situation, group, draft);
            }
            // That new instances are protected delays no drain.
            Difference::Settings(GroupSettingsChange { new_instances: Some(protection), .. }) => {
                let protects =
                    GroupSettingsChange { new_instances: Some(protection), ..GroupSettingsChange::default() };
                repair_settings(Difference::Settings(protects), situation, group, draft);
            }
            Difference::Min
            | Difference::Max
            | Difference::Template
            | Difference::Settings(_)
            | Difference::Hooks(..)
            | Difference::Notifications(..)
            | Difference::TrafficSources(..) => {}
        }
    }
    resume_launches(situation, group, draft);
}

/// Resumes launches that AWS suspended, once the desired state differs from what failed.
fn resume_launches(situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    if launches_suspended_by_aws(group).is_none() {
        draft.memory.suspended_for = None;
        return;
    }
    let launched = template_state(situation).launchable().map(|(_, version)| version);
    let target = &situation.desired.group;
    let wanted =
        format!("{:?}", (situation.target.replicas, launched, &target.settings.subnets, &target.mix));
    match draft.memory.suspended_for.replace(wanted.clone()) {
        Some(before) if before != wanted => {
            let message =
                "Resuming launches, which AWS had suspended: replicas, launch template or network changed";
            draft.event(EventTrigger::Nothing, EventReason::LaunchResumed, message);
            let processes = BTreeSet::from([Process::Launch]);
            draft.act(Stage::Decorate, GroupAction::ResumeProcesses { name: group.name.clone(), processes });
        }
        Some(_) | None => {}
    }
}

fn repair_settings(difference: Difference, situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    match difference {
        Difference::Min => {
            let min = wanted_min(situation);
            draft.change(format!("minimum size {} → {min}", group.sizes.min), |change| {
                change.min = Some(min);
            });
        }
        Difference::Max => change_max(situation, group, draft),
        Difference::Template => {
            if let Some((template, version)) = template_state(situation).launchable() {
                let mix = mix(situation, Some(group), (template, version));
                let choice = (template.id.clone(), version, mix);
                draft.change(format!("launch template version {version}"), |change| {
                    change.template = Some(choice);
                });
            }
        }
        Difference::Settings(settings) => {
            draft.change(settings.names().join("; "), |change| change.settings = settings);
        }
        Difference::Tags => {
            let tags = lacking_tags(situation, group);
            draft.act(Stage::Decorate, GroupAction::TagGroup { name: group.name.clone(), tags });
        }
        Difference::TrafficSources(attach, detach) => repair_sources(attach, detach, group, draft),
        Difference::Hooks(put, delete) => hooks::change_others(put, delete, situation, draft),
        Difference::Notifications(topics, left) => {
            for (topic, types) in topics {
                let name = group.name.clone();
                draft.act(Stage::Decorate, GroupAction::PutNotifications { name, topic, types });
            }
            for topic in left {
                let name = group.name.clone();
                draft.act(Stage::Decorate, GroupAction::DeleteNotifications { name, topic });
            }
        }
        Difference::Processes(suspended, resumed) => {
            // Of an adopted group, first of all: a failing call would delay it.
            let stage = if situation.observed.was_adopted(group) { Stage::Protect } else { Stage::Decorate };
            if !suspended.is_empty() {
                draft.act(stage, suspend(situation, suspended));
            }
            if !resumed.is_empty() {
                let (name, processes) = (group.name.clone(), resumed);
                draft.act(Stage::Decorate, GroupAction::ResumeProcesses { name, processes });
            }
        }
    }
}

/// Attaches traffic sources before it detaches others, so that requests arrive all the time; in the other order those of a kind of
/// which the group has no room for both.
fn repair_sources(
    attach: BTreeSet<TrafficSource>,
    detach: BTreeSet<TrafficSource>,
    group: &Group,
    draft: &mut Draft,
) {
    let is_full = |kind: TrafficSourceKind| {
        let both = group.traffic_sources.union(&attach);
        both.filter(|source| source.kind() == kind).count() > kind.quota()
    };
    let (first, last): (Vec<_>, Vec<_>) = detach.into_iter().partition(|source| is_full(source.kind()));
    // One by one: AWS refuses a call that names one that does not exist.
    let attached = |source: TrafficSource| GroupAction::AttachTrafficSources {
        name: group.name.clone(),
        sources: [source].into(),
    };
    let detached = |source: TrafficSource| GroupAction::DetachTrafficSources {
        name: group.name.clone(),
        sources: [source].into(),
    };
    let first = first.into_iter().map(detached).chain(attach.into_iter().map(attached));
    for action in first.chain(last.into_iter().map(detached)) {
        draft.act(Stage::Decorate, action);
    }
}

/// The maximum that an external controller requests. AWS lowers a desired capacity above the maximum, so the
/// change waits until all instances are protected and the manager is settled.
fn change_max(situation: &Situation<'_>, group: &Group, draft: &mut Draft) {
    let ReplicasManagedBy::External { max, .. } = situation.target.managed_by else { return };
    let lowers = max < situation.capacity.high;
    if lowers && (situation.counts.unprotected > 0 || situation.sizable_group().is_none()) {
        return;
    }
    draft.change(format!("maximum size {} → {max}", group.sizes.max), |change| change.max = Some(max));
}

fn suspend(situation: &Situation<'_>, processes: BTreeSet<Process>) -> GroupAction {
    GroupAction::SuspendProcesses { name: situation.desired.identity.group.clone(), processes }
}

/// Restores scale-in protection of members without it.
///
/// SetInstanceProtection accepts only instances in service. An instance that launches unprotected is
/// protected later; until then desired capacity is not lowered.
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
        draft.act(
            Stage::Protect,
            InstanceAction::ProtectInstances { name: group.name.clone(), ids: ids.to_vec() },
        );
    }
}
