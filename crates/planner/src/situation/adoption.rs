//! Whether the pool adopts a group that exists and has no owner. `steps/own.rs` acts on it.

use super::facts::Facts;
use super::size::ReplicasManagedBy;
use super::template::{TemplateState, template_state};
use super::view::View;
use crate::desired::{Goal, Identity, Size, Wanted};
use foo_model::group::GroupStatus;
use foo_model::hook::HookConfig;
use foo_model::{Blocked, Group, InstancesMix, LifecycleState, Process, Protection, Reason, count};

/// The state of an adoption that the spec requests and that has not happened yet.
pub(crate) enum AdoptionState<'a> {
    /// It waits, or is not allowed.
    Blocked(Blocked),
    /// It depends on the launch template, which has not been read.
    AwaitsTemplate,
    /// Nothing prevents it.
    Due(&'a Group),
}

/// The state of the adoption; `None` if none is requested, it has happened, or the group has an owner or was not read.
pub(crate) fn adoption<'a>(facts: &Facts<'a>) -> Option<AdoptionState<'a>> {
    if !is_to_come(facts) {
        return None;
    }
    match facts.view {
        View::Absent => Some(AdoptionState::Blocked(waiting(format!(
            "Auto Scaling group {} is to be adopted (spec.adopt), and does not exist",
            facts.desired.identity.group
        )))),
        View::Foreign(group) if group.status == GroupStatus::Active && !Identity::have_owner(&group.tags) => {
            Some(of_group(facts, group).unwrap_or_else(AdoptionState::Blocked))
        }
        View::Foreign(_) | View::Own(_) | View::Unknown | View::Failed { .. } => None,
    }
}

/// Whether the pool has no group yet and is to adopt one: then it creates none.
pub(crate) fn is_to_come(facts: &Facts<'_>) -> bool {
    facts.desired.goal == Goal::Run
        && facts.observed.awaits_adoption(facts.desired.adoption)
        && !matches!(facts.view, View::Own(_))
}

fn of_group<'a>(facts: &Facts<'a>, group: &'a Group) -> Result<AdoptionState<'a>, Blocked> {
    if let Some(missing) = facts.desired.missing.first() {
        return Err(missing.clone());
    }
    let what = format!("Auto Scaling group {}", group.name);
    let adopter = facts.desired.identity.adoptable_by();
    if let Some(refusal) = facts.desired.adoption.refusal(&what, &group.tags, &adopter) {
        return Err(refusal);
    }
    has_desired_size(facts, group)?;
    has_desired_purchases(facts, group)?;
    if let Wanted::Blocked(blocked) = &facts.desired.group.settings.subnets {
        return Err(blocked.clone());
    }
    match template_state(facts) {
        TemplateState::Blocked(blocked) => Err(blocked.clone()),
        TemplateState::Failed { reason, message } if reason != Reason::NotYetObserved => {
            Err(Blocked::new(reason, message))
        }
        TemplateState::Unknown | TemplateState::Failed { .. } => Ok(AdoptionState::AwaitsTemplate),
        TemplateState::Foreign(template) => Err(waiting(format!(
            "launch template {} exists and is not this pool's; delete this pool and create it again with another \
             spec.launchTemplateName",
            template.name
        ))),
        TemplateState::Absent(_)
        | TemplateState::VersionMissing(..)
        | TemplateState::UserDataOutdated(..)
        | TemplateState::Ready(..) => Ok(AdoptionState::Due(group)),
    }
}

/// The adoption itself launches and terminates nothing.
fn has_desired_size(facts: &Facts<'_>, group: &Group) -> Result<(), Blocked> {
    let (name, has) = (&group.name, group.sizes.desired);
    match facts.target.managed_by {
        _ if facts.desired.size == Size::Unknown => {
            return Err(waiting(format!(
                "{name} has desired capacity {has}; the replicas of this pool are not known"
            )));
        }
        ReplicasManagedBy::External { min, max, .. } if (min..=max).contains(&has) => {}
        ReplicasManagedBy::External { min, max, .. } => {
            return Err(waiting(format!(
                "{name} has desired capacity {has}, which is not within spec.autoscaling, {min} to {max}: adoption would \
                 launch or terminate instances"
            )));
        }
        ReplicasManagedBy::Replicas if facts.target.replicas == has => {}
        ReplicasManagedBy::Replicas => {
            let is_cut = facts.target.spec_replicas == has;
            let (is, field) = if is_cut {
                (facts.target.replicas, "spec.maxSize")
            } else {
                (facts.target.spec_replicas, "MachinePool.spec.replicas")
            };
            return Err(waiting(format!(
                "{name} has desired capacity {has}, and {field} is {is}: set it to {has}, so that adoption launches and terminates \
                 nothing"
            )));
        }
    }
    let serving = count(group.instances.iter().filter(|it| it.lifecycle == LifecycleState::InService));
    if serving != has || count(&group.instances) != has {
        return Err(waiting(format!(
            "{name} has desired capacity {has} and {serving} instances in service: it is adopted when these are equal, and AWS is \
             launching and terminating none and has none in standby (a group whose instance types have weights cannot be adopted)"
        )));
    }
    Ok(())
}

/// Auto Scaling replaces instances that do not fit another mix of on-demand and spot instances.
fn has_desired_purchases(facts: &Facts<'_>, group: &Group) -> Result<(), Blocked> {
    let of = |mix: Option<&InstancesMix>| {
        mix.map_or((0, 100), |mix| (mix.on_demand_base, mix.on_demand_percentage))
    };
    let ((has_base, has), (base, wanted)) = (of(group.mix.as_ref()), of(facts.desired.group.mix.as_ref()));
    if (has_base, has) == (base, wanted) {
        return Ok(());
    }
    Err(waiting(format!(
        "{} has {has_base} on-demand instances and {has}% beyond these, and this pool {base} and {wanted}%: Auto Scaling would replace \
         instances; set spec.mixedInstances.onDemandBase and onDemandPercentage to what the group has, and change them later",
        group.name
    )))
}

/// Whether an adopted group has, or once had, what makes AWS wait for drains: until then no setting is changed that makes it terminate
/// instances. Others have it from their creation. One that launches from the pool's launch template had it.
pub(crate) fn is_secured(facts: &Facts<'_>, group: &Group) -> bool {
    let own = facts.observed.template.seen().and_then(Option::as_ref);
    let own = own.filter(|template| facts.desired.identity.owns_template(&template.tags));
    let launches_own = own.is_some_and(|own| group.template.as_ref().is_some_and(|(id, _)| *id == own.id));
    let has_hook = matches!(facts.observed.hook.seen(), Some(Some(terms)) if *terms == HookConfig::DRAIN);
    let balances = !group.suspended.contains_key(&Process::AZRebalance);
    let unprotected = group.instances.iter().any(|it| {
        it.lifecycle == LifecycleState::InService
            && it.protection == Protection::Unprotected
            && !facts.memory.ledger.leaving.contains_key(&it.id)
    });
    !facts.observed.was_adopted(group) || launches_own || (has_hook && !balances && !unprotected)
}

fn waiting(message: String) -> Blocked {
    Blocked::new(Reason::AdoptionWaiting, message)
}
