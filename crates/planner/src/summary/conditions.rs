//! Derives each condition from the situation.

use super::capacity_block::capacity_block_ready;
use super::parts::{condition, cut, departures, kept, many, said, undrainable};
use super::warm_pool::{self, OF_ANOTHER_USER};
use super::{ready, replacing};
use crate::desired::{Goal, PausedBy};
use crate::draft::Draft;
use crate::observed::{Finalizer, LastRead};
use crate::report::{Condition, ConditionKind, Status};
use crate::situation::{
    Difference, MissingObject, Situation, TemplateState, View, differences, group_is_gone, is_to_come,
    launches_suspended_by_aws, may_have_pods_of_others, missing_object, obstacle, of_another_installation,
    template_state, was_lost,
};
use foo_model::group::GroupStatus;
use foo_model::{Blocked, DeletionProtection, LifecycleState, MachinePause, Process, Reason, some_names};

/// All conditions, in order.
pub(crate) fn conditions(situation: &Situation<'_>, draft: &Draft) -> Vec<Condition> {
    let mut conditions = vec![
        paused(situation),
        credentials(situation),
        launch_template(situation),
        group(situation),
        capacity(situation, draft),
        scaling_up(situation),
        scaling_down(situation, draft),
        replacing::rolling_out(situation),
        replacing::remediating(situation),
        deleting(situation),
    ];
    conditions.extend(autoscaler(situation));
    conditions.extend(warm_pool::warm_pool_ready(situation));
    conditions.extend(capacity_block_ready(situation.desired, situation.observed));
    let summary = ready::ready(situation, draft, &conditions);
    conditions.insert(0, summary);
    conditions
}

fn paused(situation: &Situation<'_>) -> Condition {
    let (status, reason, message) = match situation.desired.pause {
        None => (Status::False, Reason::NotPaused, ""),
        Some(PausedBy::Cluster) => (Status::True, Reason::Paused, "Cluster spec.paused is set"),
        Some(PausedBy::Annotation) => {
            (Status::True, Reason::Paused, "FooMachinePool has the cluster.x-k8s.io/paused annotation")
        }
    };
    condition(ConditionKind::Paused, status, reason, message)
}

fn credentials(situation: &Situation<'_>) -> Condition {
    let observed = situation.observed;
    let kind = ConditionKind::CredentialsReady;
    let failures = [failure(&observed.group), failure(&observed.template)];
    let refused = |(reason, _): &(Reason, &str)| reason.is_about_credentials();
    if let Some((reason, message)) = failures.into_iter().flatten().find(refused) {
        return condition(kind, Status::False, reason, message);
    }
    if observed.group.seen().is_some() || observed.template.seen().is_some() {
        return condition(kind, Status::True, Reason::Accepted, "");
    }
    match failures.into_iter().flatten().find(|(reason, _)| *reason != Reason::GroupNameTaken) {
        Some((reason, message)) => condition(kind, Status::Unknown, reason, message),
        None => condition(kind, Status::Unknown, Reason::NotYetVerified, "AWS has not been asked yet"),
    }
}

fn failure<T>(read: &LastRead<T>) -> Option<(Reason, &str)> {
    match read {
        LastRead::Failed { reason, message } => Some((*reason, message)),
        LastRead::Unknown | LastRead::At { .. } => None,
    }
}

/// In a removal, or after a move to another cluster, the pool no longer provides infrastructure.
fn not_provided(situation: &Situation<'_>, kind: ConditionKind) -> Option<Condition> {
    match situation.desired.goal {
        Goal::Run => None,
        Goal::Remove | Goal::Retain => {
            Some(condition(kind, Status::False, Reason::Deleting, "the pool is being deleted"))
        }
        Goal::Orphan => Some(condition(
            kind,
            Status::Unknown,
            Reason::Moved,
            "the pool belongs to another management cluster",
        )),
    }
}

fn launch_template(situation: &Situation<'_>) -> Condition {
    let kind = ConditionKind::LaunchTemplateReady;
    if let Some(condition) = not_provided(situation, kind) {
        return condition;
    }
    if let Some(Blocked { reason, message }) = of_another_installation(situation) {
        return condition(kind, Status::Unknown, reason, message);
    }
    let name = &situation.desired.identity.template;
    match template_state(situation) {
        TemplateState::Blocked(blocked) => condition(kind, Status::False, blocked.reason, &blocked.message),
        TemplateState::Unknown => condition(
            kind,
            Status::Unknown,
            Reason::NotYetObserved,
            "the launch template has not been read yet",
        ),
        TemplateState::Failed { reason, message } => condition(kind, Status::Unknown, reason, message),
        TemplateState::Foreign(template) => condition(
            kind,
            Status::False,
            Reason::LaunchTemplateNotOwned,
            situation.desired.identity.of_another_owner(&format!("launch template {name}"), &template.tags),
        ),
        // It is created after the adoption: the group's condition says what that waits for.
        TemplateState::Absent(_) if is_to_come(situation) => condition(
            kind,
            Status::Unknown,
            Reason::AdoptionWaiting,
            "it is created once the group is adopted",
        ),
        TemplateState::Absent(_) => condition(
            kind,
            Status::False,
            Reason::LaunchTemplateMissing,
            format!("launch template {name} does not exist yet"),
        ),
        TemplateState::VersionMissing(..) | TemplateState::UserDataOutdated(..) => condition(
            kind,
            Status::False,
            Reason::VersionMissing,
            "no launch template version has the content of the spec yet",
        ),
        TemplateState::Ready(..) => match missing_object(situation) {
            None => condition(kind, Status::True, Reason::VersionReady, ""),
            Some(missing) => condition(kind, Status::False, Reason::UserDataMissing, in_vain(&missing)),
        },
    }
}

fn in_vain(missing: &MissingObject<'_>) -> String {
    let MissingObject { version, place, content } = missing;
    let follows = match content {
        Some(_) => "it is written again, and nothing is launched before",
        None => {
            "the pool no longer has this user data, which is from an earlier bootstrap Secret, so nothing is launched: give the pool \
             content that works"
        }
    };
    format!(
        "object {place}, which launch template version {version} fetches user data from, does not exist: {follows}"
    )
}

fn group(situation: &Situation<'_>) -> Condition {
    let kind = ConditionKind::AutoScalingGroupReady;
    if let Some(condition) = not_provided(situation, kind) {
        return condition;
    }
    if let View::Failed { reason, message } = situation.view {
        // That another pool has the group is certain. Whatever else prevents reading leaves open what exists.
        let status = if reason == Reason::GroupNameTaken { Status::False } else { Status::Unknown };
        return condition(kind, status, reason, message);
    }
    if let Some(obstacle) = obstacle(situation) {
        return condition(kind, Status::False, obstacle.reason, obstacle.message);
    }
    let name = &situation.desired.identity.group;
    match situation.view {
        View::Own(group) => {
            let differences = differences(situation, group);
            if !differences.is_empty() {
                let names = differences.iter().flat_map(Difference::names).collect::<Vec<_>>().join(", ");
                return condition(
                    kind,
                    Status::False,
                    Reason::SettingsDiffer,
                    format!("about to be updated: {names}"),
                );
            }
            match &situation.observed.recorded_arn {
                Some(arn) if *arn != group.arn => condition(
                    kind,
                    Status::True,
                    Reason::GroupRecreated,
                    "the group was deleted outside this provider and recreated; spec.providerID has the old ARN",
                ),
                Some(_) | None => condition(kind, Status::True, Reason::GroupReady, ""),
            }
        }
        View::Absent if was_lost(situation) => condition(
            kind,
            Status::False,
            Reason::GroupLost,
            format!("Auto Scaling group {name} was deleted outside this provider; recreating it"),
        ),
        View::Absent => condition(
            kind,
            Status::False,
            Reason::GroupMissing,
            format!("Auto Scaling group {name} does not exist yet"),
        ),
        View::Unknown | View::Failed { .. } | View::Foreign(_) => {
            condition(kind, Status::Unknown, Reason::NotYetObserved, "the group has not been read yet")
        }
    }
}

fn capacity(situation: &Situation<'_>, draft: &Draft) -> Condition {
    let kind = ConditionKind::CapacityAvailable;
    if let Some(condition) = not_provided(situation, kind) {
        return condition;
    }
    let View::Own(group) = situation.view else {
        return condition(kind, Status::Unknown, Reason::NoGroup, "");
    };
    if let Some(reason) = group.suspended.get(&Process::Launch).filter(|_| situation.unlaunched() > 0) {
        let follows = if launches_suspended_by_aws(group).is_some() {
            "AWS did that after launches had failed for long; the manager resumes it when replicas, launch template \
             or network change"
        } else {
            "resume it so that instances are launched"
        };
        let message =
            format!("process Launch of the Auto Scaling group is suspended ({}): {follows}", said(reason));
        return condition(kind, Status::False, Reason::LaunchSuspended, message);
    }
    if !draft.memory.is_starving(situation.observed.now) {
        return condition(kind, Status::True, Reason::Available, "");
    }
    let (have, want) = (situation.counts.existing, group.sizes.desired);
    let counted = format!("{have} of {} launched", many(want, "instance"));
    let message = match &situation.observed.launch_failure {
        Some(words) => format!("{counted}; AWS says: {words}"),
        None => counted,
    };
    condition(kind, Status::False, Reason::InstancesNotLaunched, message)
}

fn scaling_up(situation: &Situation<'_>) -> Condition {
    let kind = ConditionKind::ScalingUp;
    let counts = situation.counts;
    let coming = situation.unlaunched().saturating_add(counts.booting);
    let lacking = situation.target().saturating_sub(counts.active);
    match situation.view {
        View::Own(group) if group.status == GroupStatus::Active && situation.desired.goal == Goal::Run => {}
        View::Own(_) | View::Absent | View::Unknown | View::Failed { .. } | View::Foreign(_) => {
            return condition(kind, Status::False, Reason::NotScalingUp, "");
        }
    }
    if coming == 0 && lacking == 0 {
        return match cut(situation) {
            Some(message) => condition(kind, Status::False, Reason::MaxSizeReached, message),
            None => condition(kind, Status::False, Reason::NotScalingUp, ""),
        };
    }
    let message = if coming > 0 {
        format!("{} being launched{}", many(coming, "instance"), held_launches(situation))
    } else {
        format!("{} more desired", many(lacking, "instance"))
    };
    condition(kind, Status::True, Reason::InstancesLaunching, message)
}

/// How many of the instances that are launched wait for lifecycle hooks.
fn held_launches(situation: &Situation<'_>) -> String {
    let members = situation.members.iter();
    let held = members.filter(|it| it.instance.lifecycle == LifecycleState::PendingWait);
    match foo_model::count(held) {
        0 => String::new(),
        held => format!("; {} in Pending:Wait for a lifecycle hook", many(held, "instance")),
    }
}

fn scaling_down(situation: &Situation<'_>, draft: &Draft) -> Condition {
    let kind = ConditionKind::ScalingDown;
    let excess = situation.counts.active.saturating_sub(situation.target());
    let excess = if situation.desired.goal == Goal::Run { excess } else { 0 };
    if let Some((reason, message)) = departures(situation) {
        return condition(kind, Status::True, reason, message);
    }
    if let Some(held) = draft.postponed {
        return condition(kind, Status::True, Reason::ScaleInDelayed, kept(situation, held));
    }
    match situation.view {
        View::Own(_) if excess > 0 => condition(
            kind,
            Status::True,
            Reason::TooManyMachines,
            format!("{} over the desired {}", many(excess, "Machine"), situation.target.replicas),
        ),
        View::Own(_) | View::Absent | View::Unknown | View::Failed { .. } | View::Foreign(_) => {
            condition(kind, Status::False, Reason::NotScalingDown, "")
        }
    }
}

pub(super) fn deleting(situation: &Situation<'_>) -> Condition {
    let kind = ConditionKind::Deleting;
    match situation.desired.goal {
        Goal::Run | Goal::Orphan => condition(kind, Status::False, Reason::NotDeleting, ""),
        Goal::Remove => {
            let (reason, message) = removal(situation);
            condition(kind, Status::True, reason, message)
        }
        Goal::Retain => {
            let (reason, message) = retention(situation);
            condition(kind, Status::True, reason, message)
        }
    }
}

/// What the removal waits for.
fn removal(situation: &Situation<'_>) -> (Reason, String) {
    let said = |reason: Reason, message: &str| (reason, message.to_owned());
    if let View::Failed { reason, message } = situation.view {
        return said(reason, message);
    }
    if let LastRead::Failed { reason, message } = &situation.observed.template {
        return said(*reason, message);
    }
    if let Some((reason, message)) = departures(situation) {
        return (reason, message);
    }
    if let Some(message) = undrainable(situation) {
        return (
            Reason::AwaitingNodes,
            format!("{message}. To continue, delete their Machines or terminate the instances yourself"),
        );
    }
    let instances = u32::try_from(situation.members.len()).unwrap_or(u32::MAX);
    match situation.view {
        View::Unknown => said(Reason::NotYetObserved, "the group has not been read yet"),
        View::Own(_) if instances > 0 => {
            (Reason::TerminatingInstances, format!("{} still in the group", many(instances, "instance")))
        }
        View::Own(group) if group.deletion_protection == DeletionProtection::All => (
            Reason::DeletionProtected,
            format!(
                "another user protected Auto Scaling group {} from deletion (prevent-all-deletion); set its deletion \
                 protection to none, and the manager deletes it",
                group.name
            ),
        ),
        View::Own(group) if may_have_pods_of_others(situation, group) => {
            (Reason::WarmPoolNotOwned, format!("{OF_ANOTHER_USER}, and the manager deletes the group"))
        }
        View::Own(group) if group.warm_pool.is_some() => {
            said(Reason::DeletingGroup, "the warm pool is being deleted, and then the Auto Scaling group")
        }
        View::Own(_) => said(Reason::DeletingGroup, "the Auto Scaling group is being deleted"),
        View::Failed { .. } | View::Absent | View::Foreign(_) if !group_is_gone(situation) => {
            said(Reason::DeletingGroup, "verifying that no Auto Scaling group is left")
        }
        View::Failed { .. } | View::Absent | View::Foreign(_) => {
            let foo_machines = situation.observed.foo_machines.len();
            if foo_machines > 0 {
                let foo_machines = many(u32::try_from(foo_machines).unwrap_or(u32::MAX), "FooMachine");
                return (Reason::WaitingForFooMachines, format!("waiting for {foo_machines} to be deleted"));
            }
            match situation.observed.template.seen() {
                _ if situation.other_installation().is_some() => {
                    said(Reason::Finished, "what is left in AWS belongs to another management cluster")
                }
                _ if situation.is_tagged_by_others() => {
                    said(Reason::Finished, "what is left in AWS was not created by this management cluster")
                }
                Some(None) => said(Reason::Finished, "nothing is left in AWS"),
                Some(Some(template)) if !situation.desired.identity.owns_template(&template.tags) => {
                    said(Reason::Finished, "nothing of this pool is left in AWS")
                }
                None if situation.observed.finalizer == Finalizer::Absent => {
                    said(Reason::Finished, "nothing was created in AWS for this pool")
                }
                Some(Some(_)) | None => {
                    said(Reason::DeletingLaunchTemplate, "the launch template is being deleted")
                }
            }
        }
    }
}

/// What the end of a pool waits for whose group stays.
fn retention(situation: &Situation<'_>) -> (Reason, String) {
    if let View::Failed { reason, message } = situation.view {
        return (reason, message.to_owned());
    }
    if matches!(situation.view, View::Unknown) {
        return (Reason::NotYetObserved, "the group has not been read yet".to_owned());
    }
    if matches!(situation.view, View::Absent) && !situation.has_machines() {
        return removal(situation);
    }
    if let Some((reason, message)) = departures(situation) {
        return (reason, message);
    }
    let waiting = situation.observed.machines.iter().filter(|machine| {
        !machine.deletion.is_deleting()
            && !matches!(machine.pause, MachinePause::InForce | MachinePause::Removing)
    });
    let names: Vec<&str> = waiting.map(|machine| machine.name.as_str()).collect();
    if !names.is_empty() {
        let machines = many(u32::try_from(names.len()).unwrap_or(u32::MAX), "Machine");
        let message =
            format!("waiting for Cluster API to pause {machines}: {}", some_names(names.into_iter()));
        return (Reason::PausingMachines, message);
    }
    if situation.has_machines() {
        return (
            Reason::WaitingForFooMachines,
            "removing FooMachines and Machines; their instances stay".to_owned(),
        );
    }
    match (&situation.observed.hook, situation.view) {
        (LastRead::Failed { reason, message }, View::Own(_)) => (*reason, message.clone()),
        (_, View::Own(group)) if group.status == GroupStatus::Deleting => {
            (Reason::DeletingGroup, format!("AWS is deleting Auto Scaling group {}", group.name))
        }
        (_, View::Own(group)) => (
            Reason::ReleasingGroup,
            format!("Auto Scaling group {} stays; its hook foo-drain is being deleted", group.name),
        ),
        _ => (Reason::Finished, "the Auto Scaling group and its instances stay".to_owned()),
    }
}

fn autoscaler(situation: &Situation<'_>) -> Option<Condition> {
    let warning = situation.desired.warnings.iter().find(|warning| warning.reason.is_about_autoscaler())?;
    Some(condition(ConditionKind::AutoscalerReady, Status::False, warning.reason, &warning.message))
}
