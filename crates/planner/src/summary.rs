//! Turns the situation into conditions, counts and the time of the next observation.
//!
//! Conditions come in the order of `ConditionKind`: Ready, Paused, CredentialsReady, LaunchTemplateReady,
//! AutoScalingGroupReady, CapacityAvailable, ScalingUp, ScalingDown, RollingOut, Remediating, Deleting. All
//! of them are always present; AutoscalerReady is present only if the autoscaler's annotations are invalid, and
//! WarmPoolReady only if the spec names a warm pool or the provider has one, CapacityBlockReady only while the pool runs in a
//! Capacity Block. A message stays the same while its cause stays the same: it has counts and names, and of times only the end of a
//! wait.
//!
//! A new condition is a `ConditionKind` in `output/report.rs`, its function in `conditions.rs`, and an entry of
//! `NEEDED` in `ready.rs` if `Ready` needs it; also a variant of `ConditionType` in the controller's metrics, and a
//! place and a section of the documentation (`foo_model::reason`). A condition of a network is in `output/report.rs`
//! and `summary.rs` of `foo-network`.

mod capacity_block;
mod conditions;
mod parts;
mod ready;
mod replacing;
mod warm_pool;

pub(crate) use capacity_block::capacity_block_ready;
pub(crate) use conditions::conditions;
pub(crate) use replacing::rollout;

use crate::desired::Wanted;
use crate::draft::Draft;
use crate::memory::SHORT_FOR;
use crate::observed::{Ec2State, MoveBlock};
use crate::report::{Counts, MachineReport, NextObservation, OutsideReport, Pace, TemplateReport};
use crate::situation::{ContentState, MachineState, Member, Situation, View, awaits_read, is_awaited};
use foo_model::group::TemplateChoice;
use foo_model::{InstanceId, LifecycleState, NodeState, SpecHash, Timestamp};
use std::collections::BTreeSet;
use std::time::Duration;

/// How soon a pool is planned again that waits for a read of its group: its pace has the group read before.
const READ_SOON: Duration = Duration::from_secs(5);

/// Whether the pool's infrastructure exists: the group does, and if the pool desires instances, one is in
/// service. An instance that is still launching may never come up.
pub(crate) fn provisioned(situation: &Situation<'_>) -> bool {
    let serves =
        |member: &Member<'_>| member.is_replica() && member.instance.lifecycle == LifecycleState::InService;
    let serving = situation.members.iter().any(serves);
    matches!(situation.view, View::Own(_)) && (situation.target.replicas == 0 || serving)
}

/// Provider ids of all instances that exist, sorted. `None` if they are unknown.
///
/// An instance with a FooMachine that is not in the group stays listed until EC2 reports that it is gone.
/// Cluster API deletes the Node of an id that leaves the list; neither a gap in a response of AWS nor a user
/// who detaches an instance may cause that. For a group without our tags the list is unknown: if someone
/// removed the tags, the Nodes of the group must survive.
pub(crate) fn provider_ids(situation: &Situation<'_>) -> Option<Vec<String>> {
    match situation.view {
        View::Unknown | View::Failed { .. } | View::Foreign(_) => None,
        View::Absent | View::Own(_) => {
            let members = situation
                .members
                .iter()
                .filter(|member| member.is_replica())
                .map(super::situation::Member::provider_id);
            let outside = situation
                .missing
                .iter()
                .filter(|missing| missing.ec2_state != Some(Ec2State::Gone))
                .map(|missing| missing.foo_machine.instance.provider_id(&missing.foo_machine.zone));
            let ids: BTreeSet<String> = members.chain(outside).collect();
            Some(ids.into_iter().collect())
        }
    }
}

/// Counts, from the same facts as the provider ids.
pub(crate) fn counts(situation: &Situation<'_>) -> Option<Counts> {
    let replicas = provider_ids(situation)?.len();
    let group = situation.view.group();
    let sizes = group.map(|group| group.sizes);
    let wanted = reference_hash(situation);
    let mut counts = Counts {
        replicas: u32::try_from(replicas).unwrap_or(u32::MAX),
        desired: situation.target.replicas,
        group_desired: sizes.map_or(0, |sizes| sizes.desired),
        group_min: sizes.map_or(0, |sizes| sizes.min),
        group_max: sizes.map_or(0, |sizes| sizes.max),
        warm: group.and_then(|group| group.warm_pool).map(|pool| pool.size),
        ..Counts::default()
    };
    for member in situation.members.iter().filter(|member| member.is_replica()) {
        let joined = member.machine.is_some_and(|machine| machine.node == NodeState::Ready);
        counts.ready += u32::from(joined && member.instance.lifecycle == LifecycleState::InService);
        let hash = situation.content.spec_hash(member.instance, member.foo_machine);
        counts.up_to_date += u32::from(hash.is_some() && hash == wanted);
    }
    Some(counts)
}

/// The spec hash of up-to-date instances: the desired one, or the one in use while the desired one is
/// blocked.
fn reference_hash<'a>(situation: &Situation<'a>) -> Option<&'a SpecHash> {
    match &situation.desired.template {
        Wanted::Ready(template) => Some(&template.spec_hash),
        Wanted::Blocked(_) => match situation.view.group().and_then(|group| group.template.as_ref()) {
            Some((_, TemplateChoice::Version(version))) => situation.content.hash_of_version(*version),
            Some((_, TemplateChoice::Floating(_))) | None => None,
        },
    }
}

/// The status of each FooMachine.
pub(crate) fn machines(situation: &Situation<'_>, draft: &Draft) -> Vec<MachineReport> {
    let mut reports: Vec<MachineReport> = situation
        .members
        .iter()
        .filter_map(|member| {
            let foo_machine = member.foo_machine?;
            let instance = member.instance;
            Some(MachineReport {
                name: foo_machine.name.clone(),
                instance: instance.id.clone(),
                zone: instance.zone.clone(),
                instance_type: instance.instance_type.as_str().to_owned(),
                lifecycle: instance.lifecycle.clone(),
                template_version: instance.template.as_ref().map(|(_, version)| *version),
                spec_hash: situation.content.spec_hash(instance, Some(foo_machine)).cloned(),
                up_to_date: match member.content {
                    ContentState::UpToDate => Some(true),
                    ContentState::Outdated => Some(false),
                    ContentState::Unknown => None,
                },
                hook_wait: draft
                    .memory
                    .hook_waits
                    .get(&instance.id)
                    .map(|hold| (hold.since, hold.deadline())),
            })
        })
        .collect();
    reports.sort_by(|a, b| a.name.cmp(&b.name));
    reports
}

/// FooMachines whose instance is not in the group, as far as EC2 reported its state.
pub(crate) fn outside(situation: &Situation<'_>) -> Vec<OutsideReport> {
    let said = situation.missing.iter().filter_map(|missing| {
        Some(OutsideReport {
            name: missing.foo_machine.name.clone(),
            instance: missing.foo_machine.instance.clone(),
            ec2_state: missing.ec2_state?,
        })
    });
    match situation.view {
        View::Absent | View::Own(_) => said.collect(),
        View::Unknown | View::Failed { .. } | View::Foreign(_) => Vec::new(),
    }
}

/// The template version that new instances launch from, once its hash is known.
pub(crate) fn template(situation: &Situation<'_>) -> Option<TemplateReport> {
    let View::Own(group) = situation.view else { return None };
    match &group.template {
        Some((id, TemplateChoice::Version(version))) => Some(TemplateReport {
            id: id.as_str().to_owned(),
            version: *version,
            spec_hash: situation.content.hash_of_version(*version)?.clone(),
        }),
        Some((_, TemplateChoice::Floating(_))) | None => None,
    }
}

/// When to observe again, and how often until then.
pub(crate) fn next_observation(situation: &Situation<'_>, draft: &Draft) -> NextObservation {
    let now = situation.observed.now;
    let settling = (!situation.is_settled()).then_some(situation.observed.size_decisions_from);
    let short = draft.memory.short_since.map(|since| since.plus(SHORT_FOR)).filter(|at| *at > now);
    // A read that shows nothing new wakes no pool.
    let reading = awaits_read(situation).then(|| now.plus(READ_SOON));
    let timers: [Option<Timestamp>; 5] =
        [settling, short, reading, draft.memory.next_deadline(), draft.next_timer()];
    let after = timers.into_iter().flatten().min().map(|at| now.until(at));
    // A move waits for a paused pool that blocks it.
    let paused = situation.desired.pause.is_some() && situation.observed.move_block == MoveBlock::Free;
    let pace = match is_under_way(situation, draft) {
        _ if paused => Pace::Quiet,
        false => Pace::Quiet,
        true if only_shuts_down(situation, draft) => Pace::Patient,
        true => Pace::Active,
    };
    NextObservation { pace, after: after.filter(|_| !paused) }
}

/// Whether AWS has work in progress. A drain does not count: it can take hours, and Kubernetes shows its end.
fn is_under_way(situation: &Situation<'_>, draft: &Draft) -> bool {
    let counts = situation.counts;
    let expected = situation.memory.next_deadline().is_some();
    let moving = counts.terminating + counts.released + counts.booting + counts.without_foo_machine > 0
        || situation.unlaunched() > 0
        || is_awaited(situation);
    let own = matches!(situation.view, View::Own(_));
    let unclear = match situation.view {
        View::Unknown | View::Failed { .. } => true,
        View::Absent | View::Own(_) | View::Foreign(_) => !situation.is_fresh(),
    };
    !draft.is_idle() || expected || (own && moving) || unclear
}

/// Whether the only work in progress is instances that shut down, or wait to be terminated together with
/// others that still drain. A call that terminates instances is followed by an observation anyway.
fn only_shuts_down(situation: &Situation<'_>, draft: &Draft) -> bool {
    let counts = situation.counts;
    let comes = counts.booting + counts.without_foo_machine > 0 || situation.unlaunched() > 0;
    let now = draft.completed_hooks();
    let hook_completed = |id: &InstanceId| {
        let before = situation.memory.hook_waits.get(id).is_some_and(|hold| hold.completed.is_some());
        before || now.contains(id)
    };
    let shuts_down = |member: &Member<'_>| match member.state {
        MachineState::TerminateSent => false,
        MachineState::Terminating => {
            member.instance.lifecycle == LifecycleState::TerminatingProceed
                || hook_completed(&member.instance.id)
        }
        _ => true,
    };
    matches!(situation.view, View::Own(_))
        && situation.is_fresh()
        && situation.memory.ledger.desired.is_none()
        && draft.pending_change().desired.is_none()
        && counts.draining > 0
        && !comes
        && situation.members.iter().all(shuts_down)
}
