//! The rules about replacing outdated, unhealthy and expired Machines.

use super::announced::{ends_now, may_be_replaced, retires};
use super::facts::Facts;
use super::rule::{Found, Violation};
use super::sizes::{staying_instances, target};
use crate::action::{Action, GroupAction, MachineAction, Precondition};
use crate::desired::{Goal, OnFailure, Strategy, Template, Wanted};
use crate::observed::Verdict;
use foo_model::{
    HealthInGroups, Instance, InstancesMix, LaunchTemplateId, LifecycleState, Machine, MachineName,
    Maintenance, MixOverride, MixTypes, NodeState, SpecHash, TemplateRecord, TemplateVersion, count,
    health_in,
};
use std::collections::BTreeSet;
use std::time::Duration;

pub(super) fn check(facts: &Facts<'_>, found: &mut Found) {
    stays_available(facts, found);
    replaces_in_windows(facts, found);
    launches_no_quarantined(facts, found);
    launches_images_of_version(facts, found);
}

/// Whether MachineHealthCheck marked it as unhealthy, a load balancer reports it as such, or its Node is late.
pub(super) fn is_unhealthy(facts: &Facts<'_>, name: &MachineName) -> bool {
    let rules = facts.desired.remediation;
    let Some(machine) = facts.machines.get(name).filter(|machine| rules.enabled && !machine.spared) else {
        return false;
    };
    let late = machine.node == NodeState::None
        && facts.observed.clocks.proves_ages()
        && rules
            .join_timeout
            .is_some_and(|timeout| machine.created.until(facts.observed.now) >= Duration::from(timeout));
    machine.unhealthy.is_some() || late || fails_as_target(facts, machine)
}

/// Whether a load balancer reports its instance as unhealthy after the grace period.
fn fails_as_target(facts: &Facts<'_>, machine: &Machine) -> bool {
    let Some(grace) = facts.desired.target_health_grace() else { return false };
    let Some(groups) = facts.observed.target_health.seen() else { return false };
    let instance = facts.instances.keys().find(|id| facts.machine_of(id) == machine.name);
    let fails = instance.is_some_and(|id| matches!(health_in(groups, id), HealthInGroups::Unhealthy(..)));
    let age = machine.created.until(facts.observed.now);
    fails && facts.observed.clocks.proves_ages() && age >= Duration::from(grace)
}

/// Whether the pool asks for the health of its targets before it replaces instances, and it is not known.
fn is_blind(facts: &Facts<'_>) -> bool {
    facts.desired.requires_target_health() && facts.observed.target_health.seen().is_none()
}

/// Whether load balancers send requests to an instance, as far as the pool asks for that and it is known.
fn is_target(facts: &Facts<'_>, instance: &Instance, new: bool) -> bool {
    let serves = |groups| health_in(groups, &instance.id) == HealthInGroups::Serves;
    !facts.desired.requires_target_health() || facts.observed.target_health.seen().map_or(!new, serves)
}

/// Whether its instance was launched from other content than the target, and the provider replaces it.
pub(super) fn is_outdated(facts: &Facts<'_>, name: &MachineName) -> bool {
    let has = facts.content_of(name);
    let differs = if has.is_some() { has != target_hash(facts) } else { facts.is_of_others(name) };
    is_replaced_by_provider(facts) && differs
}

/// Whether it has the target content and has been unready for too long: it failed before.
pub(super) fn is_overdue(facts: &Facts<'_>, name: &MachineName) -> bool {
    let Some(machine) = facts.machines.get(name) else { return false };
    let since = machine.node_since.unwrap_or(machine.created);
    let late = since.until(facts.observed.now) >= Duration::from(facts.desired.rollout.ready_timeout);
    let late = late && facts.observed.clocks.proves_ages();
    is_replaced_by_provider(facts) && late && machine.node != NodeState::Ready
}

/// Whether its instance is in the last tenth of its lifetime or older, roll-outs are not paused, and its successor would be
/// launched from content that has not failed.
pub(super) fn is_expired(facts: &Facts<'_>, name: &MachineName) -> bool {
    let rules = facts.desired.rollout;
    let Some((machine, lifetime)) = facts.machines.get(name).zip(rules.max_lifetime) else { return false };
    let tenths = machine.created.until(facts.observed.now).saturating_mul(10);
    let old = facts.observed.clocks.proves_ages() && tenths >= Duration::from(lifetime).saturating_mul(9);
    let works = matches!(facts.desired.template, Wanted::Ready(_)) && failed_content(facts).is_none();
    old && works && rules.paused.is_none() && !is_blind(facts)
}

fn is_replaced_by_provider(facts: &Facts<'_>) -> bool {
    let rules = facts.desired.rollout;
    rules.paused.is_none()
        && rules.strategy == Strategy::RollingUpdate
        && target_hash(facts).is_some()
        && !is_blind(facts)
}

/// The content that all instances get; `None` if unknown, or if it failed without a rollback.
fn target_hash<'a>(facts: &Facts<'a>) -> Option<&'a SpecHash> {
    let Wanted::Ready(wanted) = &facts.desired.template else { return None };
    if failed_content(facts).is_none() {
        return Some(&wanted.spec_hash);
    }
    let back = facts.desired.rollout.on_failure == OnFailure::Rollback;
    good_ones(facts).into_iter().max().map(|(_, _, hash)| hash).filter(|_| back)
}

/// Contents that never failed, each with the number of its instances and its newest version.
fn good_ones<'a>(facts: &Facts<'a>) -> Vec<(usize, TemplateVersion, &'a SpecHash)> {
    let Some(Some(template)) = facts.observed.template.seen() else { return Vec::new() };
    let failed = |hash: &SpecHash| facts.observed.quarantine.iter().any(|record| record.hash == *hash);
    let mut good: Vec<(usize, TemplateVersion, &SpecHash)> = Vec::new();
    for record in &template.versions {
        let Some(hash) = record.spec_hash.as_ref().filter(|hash| !failed(hash)) else { continue };
        let of = |instance: &&&Instance| {
            let version = instance.template.as_ref().filter(|(id, _)| *id == template.id);
            let from = version.is_some_and(|(_, version)| *version == record.version);
            from && instance.lifecycle.is_capacity()
        };
        let used = facts.instances.values().filter(of).count();
        match good.iter_mut().find(|(_, _, known)| *known == hash) {
            Some((count, newest, _)) => {
                *count += used;
                *newest = (*newest).max(record.version);
            }
            None => good.push((used, record.version, hash)),
        }
    }
    good
}

/// The desired content, if it failed.
fn failed_content<'a>(facts: &Facts<'a>) -> Option<&'a SpecHash> {
    let Wanted::Ready(wanted) = &facts.desired.template else { return None };
    let stands = |hash: &SpecHash| {
        let records = &facts.observed.quarantine;
        records.iter().any(|record| record.verdict != Verdict::Over && record.hash == *hash)
    };
    Some(&wanted.spec_hash).filter(|hash| stands(hash))
}

fn stays_available(facts: &Facts<'_>, found: &mut Found) {
    if facts.desired.goal != Goal::Run {
        return;
    }
    let going: BTreeSet<&MachineName> = facts
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::Machine(MachineAction::DeleteMachine { name, .. }) => Some(name),
            _ => None,
        })
        .collect();
    let replaced = |action: &Action| match action {
        Action::Machine(MachineAction::DeleteMachine { name, only_if: Precondition::SameUid, .. }) => {
            let failed = facts.is_lost(name) || is_unhealthy(facts, name) || ends_now(facts, name);
            !failed && serves(facts, name)
        }
        _ => false,
    };
    let Some(group) = facts.group.filter(|_| facts.actions.iter().any(replaced)) else { return };
    let target = target(facts, group.sizes.desired);
    let floor = target.saturating_sub(facts.desired.rollout.unavailable(target));
    // Where a retiring instance cannot be replaced in advance, it is deleted first: one at a time.
    let yields = going.iter().any(|name| retires(facts, name)) && floor == target;
    let floor = floor.saturating_sub(u32::from(yields));
    let left = staying_instances(facts, group)
        .map(|instance| facts.machine_of(&instance.id))
        .filter(|name| !going.contains(name) && serves(facts, name));
    let left = count(left);
    found.check(left >= floor, || Violation::TooFewAvailable { left, floor });
}

/// Outside of maintenance windows no Machine is deleted that is only outdated or too old. A rollback also replaces what does
/// not serve.
fn replaces_in_windows(facts: &Facts<'_>, found: &mut Found) {
    let now = facts.observed.now;
    let open = match &facts.desired.maintenance {
        Maintenance::Always => true,
        Maintenance::Window { opens, closes } => {
            (*opens..*closes).contains(&now) && facts.observed.clocks.proves_ages()
        }
        Maintenance::Unusable(_) => false,
    };
    if open || facts.desired.goal != Goal::Run {
        return;
    }
    let rolls_back = failed_content(facts).is_some();
    for action in facts.actions {
        let Action::Machine(MachineAction::DeleteMachine { name, only_if: Precondition::SameUid, .. }) =
            action
        else {
            continue;
        };
        let forced = facts.is_lost(name)
            || is_unhealthy(facts, name)
            || ends_now(facts, name)
            || retires(facts, name)
            || may_be_replaced(facts, name)
            || (rolls_back && !serves(facts, name));
        found.check(forced, || Violation::ReplacedOutsideWindow { machine: name.clone() });
    }
}

/// Whether its Node is Ready, for new content long enough, and load balancers send requests to it.
fn serves(facts: &Facts<'_>, name: &MachineName) -> bool {
    let Some(machine) = facts.machines.get(name).filter(|machine| machine.unhealthy_because().is_none())
    else {
        return false;
    };
    let by_name = || facts.instances.values().find(|instance| facts.machine_of(&instance.id) == *name);
    let claimed = facts.claim_of(name).and_then(|claim| facts.instances.get(&claim.instance));
    let instance: Option<&&Instance> = claimed.or_else(by_name);
    let new = target_hash(facts).is_some() && facts.content_of(name) == target_hash(facts);
    let runs = instance.is_some_and(|instance| {
        instance.lifecycle == LifecycleState::InService && is_target(facts, instance, new)
    });
    let since = machine.node_since.unwrap_or(machine.created);
    let ready_for = since.until(facts.observed.now);
    let long_enough = !new || ready_for >= Duration::from(facts.desired.rollout.min_ready);
    runs && machine.node == NodeState::Ready && long_enough
}

/// What an action lets the group launch: the version of a launch template, and the mix of types.
fn launched(action: &Action) -> Option<(&LaunchTemplateId, TemplateVersion, Option<&InstancesMix>)> {
    match action {
        Action::Group(GroupAction::CreateGroup(group)) => {
            let (id, version) = &group.template;
            Some((id, *version, group.mix.as_ref()))
        }
        Action::Group(GroupAction::UpdateGroup { change, .. }) => {
            let (id, version, mix) = change.template.as_ref()?;
            Some((id, *version, mix.as_ref()))
        }
        _ => None,
    }
}

/// Images that a mix names are content, too: they are those that its launch template version records.
fn launches_images_of_version(facts: &Facts<'_>, found: &mut Found) {
    for (id, version, mix) in facts.actions.iter().filter_map(launched) {
        let Some(record) = facts.record_of(id, version) else { continue };
        let boots = |choice: &MixOverride| boots_its_image(facts, record, choice);
        let all = mix.is_none_or(|mix| !mix.overrides.is_empty() && mix.overrides.iter().all(boots));
        found.check(all && !lacks_types(facts, record, mix), || Violation::LaunchesOtherImages { version });
    }
}

/// Whether types boot the image of their architecture, which the mix of the spec shows.
fn boots_its_image(facts: &Facts<'_>, record: &TemplateRecord, choice: &MixOverride) -> bool {
    let wanted = facts.desired.group.mix.as_ref();
    let of_spec = wanted.and_then(|wanted| wanted.choice_of(&choice.types));
    let as_in_spec = of_spec.is_none_or(|it| it.image.is_some() == choice.image.is_some());
    as_in_spec && (choice.image.is_none() || choice.image == record.arm64_image)
}

/// Whether types of the spec are left out that have an image. While other content than that of the spec is launched, types that the
/// group does not have may be.
fn lacks_types(facts: &Facts<'_>, record: &TemplateRecord, mix: Option<&InstancesMix>) -> bool {
    let Some(wanted) = &facts.desired.group.mix else { return false };
    let of_spec = |template: &Template| record.spec_hash.as_ref() == Some(&template.spec_hash);
    let is_of_spec = matches!(&facts.desired.template, Wanted::Ready(template) if of_spec(template));
    let group = facts.group.filter(|_| !is_of_spec);
    let has =
        |mix: Option<&InstancesMix>, types: &MixTypes| mix.is_some_and(|it| it.choice_of(types).is_some());
    let is_lost =
        |types: &MixTypes| !has(mix, types) && group.is_none_or(|group| has(group.mix.as_ref(), types));
    let bootable = |choice: &&MixOverride| choice.image.is_none() || record.arm64_image.is_some();
    wanted.overrides.iter().filter(bootable).map(|choice| &choice.types).any(is_lost)
}

fn launches_no_quarantined(facts: &Facts<'_>, found: &mut Found) {
    let Some(bad) = failed_content(facts) else { return };
    for action in facts.actions {
        let launches = launched(action).and_then(|(id, version, _)| facts.hash_of_version(id, version));
        let another = !good_ones(facts).is_empty();
        found.check(!another || launches != Some(bad), || Violation::LaunchesQuarantined {
            hash: bad.clone(),
        });
    }
}
