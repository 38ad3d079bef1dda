//! Combines the newest shared observation of the group with our objects, as the planner's nouns.
//!
//! It makes no call: it uses the observer's views, the template as last read, and the caches.
//!
//! A new fact about a Machine is a field in `model/src/machine.rs`, filled by `view` here. It must not be a text that
//! changes by itself (`idle_check`). A field of Cluster API that is not read yet: `api/src/capi.rs`, checked in
//! `tests/contract`.

use crate::clock::{from_kube, shown};
use crate::pool::foo_machine_metadata;
use crate::pool::gather::Gathered;
use crate::pool::reads::Read;
use foo_api::{capi, names};
use foo_cloud::observer::{InstanceReport, Observer, Seen};
use foo_cloud::{CloudError, ErrorKind, TemplateSummary};
use foo_model::group::TemplateChoice;
use foo_model::names::{APPLIED_ANNOTATION, QUARANTINE_ANNOTATION};
use foo_model::{
    Applied, Blocked, Deletion, DeletionStage, DeletionTimeouts, Difference, FooMachine, Group, GroupName,
    Instance, InstanceId, Kubernetes, LaunchTemplate, LifecycleState, Machine, MachineName, MachinePause,
    NodeState, Reason, RemovalMark, Seconds, SpecHash, Timestamp, Uid, Zone,
};
use foo_planner::desired::{Desired, Identity, Wanted};
use foo_planner::observed::{Ec2State, Finalizer, LastRead, MoveBlock, Quarantine, Verdict};
use foo_planner::report::{MachineReport, Report};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::ResourceExt;
use std::collections::BTreeMap;

/// The group as the observer knows it. A single failed sweep must not change every condition; two periods
/// without an observation do, with or without an error.
pub(in crate::pool) fn group(observer: &Observer, region: &str, name: &GroupName) -> LastRead<Option<Group>> {
    let view = observer.view(name);
    let unseen = observer.unseen_since(name);
    match (observer.failure(name), unseen) {
        (Some((_, error)), Some(since)) if view.is_some() => return failed_since(&error, since),
        (Some((_, error)), _) if view.is_none() && error.kind == ErrorKind::Unreachable => {
            let message = crate::cluster::unreachable(region, &error.to_string());
            return LastRead::Failed { reason: error.kind.into(), message };
        }
        (Some((_, error)), _) if view.is_none() || needs_a_human(&error) => return failed(&error),
        (None, Some(since)) => {
            let message =
                format!("Auto Scaling group {name} has not been read since {}", to_the_second(since));
            return LastRead::Failed { reason: Reason::ObservationStale, message };
        }
        (Some(_), _) | (None, None) => {}
    }
    match view {
        None => LastRead::Unknown,
        Some(view) => LastRead::At {
            at: view.at,
            seen: match view.seen {
                Seen::Absent => None,
                Seen::Present(group) => Some(Group::clone(&group)),
            },
        },
    }
}

/// A read that must not be trusted.
pub(in crate::pool) fn untrusted<T>(doubt: &Blocked) -> LastRead<T> {
    LastRead::Failed { reason: doubt.reason, message: doubt.message.clone() }
}

/// A failed read, as the planner's value.
pub(in crate::pool) fn failed<T>(error: &CloudError) -> LastRead<T> {
    LastRead::Failed { reason: error.kind.into(), message: error.to_string() }
}

/// A read that has failed since then, as the planner's value.
fn failed_since<T>(error: &CloudError, since: Timestamp) -> LastRead<T> {
    let message = format!("{error}; last read at {}", to_the_second(since));
    LastRead::Failed { reason: error.kind.into(), message }
}

fn to_the_second(moment: Timestamp) -> String {
    shown(moment).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn needs_a_human(error: &CloudError) -> bool {
    matches!(error.kind, ErrorKind::Denied | ErrorKind::Credentials)
}

/// Why the details of an instance in service, which its FooMachine waits for, are unavailable, if a user must
/// act.
pub(in crate::pool) fn denied_details(observer: &Observer, report: &Report) -> Option<CloudError> {
    let (_, error) = observer.details_failure().filter(|(_, error)| needs_a_human(error))?;
    let waits = |machine: &MachineReport| {
        machine.lifecycle == LifecycleState::InService
            && observer.details(&machine.instance).is_none_or(|(_, word)| word.details().is_none())
    };
    report.machines.iter().any(waits).then_some(error)
}

/// The launch template as last read, unless the shared sweep of templates has shown something else since.
pub(in crate::pool) fn template(
    observer: &Observer,
    identity: &Identity,
    read: Option<&Read<Option<LaunchTemplate>>>,
) -> LastRead<Option<LaunchTemplate>> {
    let Some(Read { at, value: read }) = read else { return LastRead::Unknown };
    let differs = observer.template(&identity.template).is_some_and(|(swept, summary)| {
        swept > *at
            && match (&summary, read) {
                (None, None) => false,
                (Some(summary), Some(read)) => {
                    summary.id != read.id
                        // A user removed or restored our tags, or they were not visible yet.
                        || identity.owns_template(&summary.tags) != identity.owns_template(&read.tags)
                        || read.versions.last().is_some_and(|newest| newest.version < summary.latest)
                }
                (None, Some(_)) | (Some(_), None) => true,
            }
    });
    if differs { LastRead::Unknown } else { LastRead::At { at: *at, seen: read.clone() } }
}

/// The launch template of an idle pool, as the lists of all templates show it that the manager requests when it starts:
/// without its former versions, which matter only if anything uses them. `Unknown` if they may matter: then the pool
/// reads its own.
pub(in crate::pool) fn idle_template(
    observer: &Observer,
    desired: &Desired,
    group: &LastRead<Option<Group>>,
) -> LastRead<Option<LaunchTemplate>> {
    let at_rest = || {
        let Wanted::Ready(wanted) = &desired.template else { return None };
        let group = group.seen()?.as_ref()?;
        let (at, TemplateSummary { id, name, tags, latest }, record) =
            observer.latest_version(&desired.identity.template)?;
        let is_wanted = record.spec_hash.as_ref() == Some(&wanted.spec_hash)
            && record.data_hash.as_ref() == Some(&wanted.data_hash);
        let is_used = group.template.as_ref() == Some(&(id.clone(), TemplateChoice::Version(latest)));
        let of_latest = |instance: &Instance| instance.template.as_ref() == Some(&(id.clone(), latest));
        let is_alone = group.instances.iter().all(of_latest);
        let serves = is_wanted && is_used && is_alone && desired.identity.owns_template(&tags);
        serves.then(|| LastRead::At {
            at,
            seen: Some(LaunchTemplate { id, name, tags, versions: vec![record] }),
        })
    };
    at_rest().unwrap_or_default()
}

/// EC2's state of instances that are not in the group or are in `Terminating:Wait`, as far as it was read
/// after the group was observed.
pub(in crate::pool) fn ec2_states(
    observer: &Observer,
    group: &LastRead<Option<Group>>,
    machines: &[FooMachine],
) -> BTreeMap<InstanceId, Ec2State> {
    let Some(seen_at) = group.seen_at() else { return BTreeMap::new() };
    let group = group.seen().and_then(Option::as_ref);
    machines
        .iter()
        .filter(|machine| {
            let member = group.and_then(|group| group.instance(&machine.instance));
            member.is_none_or(|member| member.lifecycle.is_leaving())
        })
        .filter_map(|machine| {
            let (at, word) = observer.details(&machine.instance)?;
            let ec2_state = match word {
                InstanceReport::Known(details) if details.state.is_alive() => Ec2State::Alive,
                InstanceReport::Known(_) => Ec2State::Gone,
                InstanceReport::NotFound { since } => Ec2State::NotFound { since, at },
            };
            // A terminated instance stays terminated; the state of others is read again after each
            // observation.
            (ec2_state == Ec2State::Gone || at >= seen_at).then(|| (machine.instance.clone(), ec2_state))
        })
        .collect()
}

/// Our FooMachines.
pub(in crate::pool) fn foo_machines(gathered: &Gathered, clock: Difference<Kubernetes>) -> Vec<FooMachine> {
    gathered
        .foo_machines
        .iter()
        .map(|machine| FooMachine {
            name: MachineName::new(machine.name_any()),
            uid: Uid::new(machine.uid().unwrap_or_default()),
            instance: InstanceId::new(machine.spec.instance_id.as_str()),
            zone: zone_of(&machine.spec.provider_id),
            // A FooMachine that was moved away is deleted, too, but not released: its instance stays. A
            // paused one waits.
            deletion: deletion(
                clock,
                machine
                    .metadata
                    .deletion_timestamp
                    .as_ref()
                    .filter(|_| !is_moved(machine) && !is_paused(machine)),
            ),
            has_finalizer: machine.finalizers().iter().any(|finalizer| finalizer == names::MACHINE_FINALIZER),
            hook_waiting_since: machine
                .status
                .as_ref()
                .and_then(|status| status.drain_hook.as_ref())
                .map(|hook| timestamp(clock, &hook.since))
                .or_else(|| foo_machine_metadata::waiting_since(machine).map(|since| clock.local(since))),
            spec_hash: machine
                .status
                .as_ref()
                .and_then(|status| status.spec_hash.as_deref())
                .or_else(|| machine.annotations().get(names::SPEC_HASH_ANNOTATION).map(String::as_str))
                .map(SpecHash::new),
        })
        .collect()
}

/// Whether a user paused this FooMachine.
pub(in crate::pool) fn is_paused(machine: &foo_api::FooMachine) -> bool {
    machine.annotations().contains_key(names::PAUSED_ANNOTATION)
}

fn is_moved(machine: &foo_api::FooMachine) -> bool {
    machine.annotations().contains_key(names::DELETE_FOR_MOVE_ANNOTATION)
}

/// Their Machines.
pub(in crate::pool) fn machines(gathered: &Gathered, clock: Difference<Kubernetes>) -> Vec<Machine> {
    gathered.machines.iter().map(|machine| view(machine, clock)).collect()
}

fn view(machine: &capi::Machine, clock: Difference<Kubernetes>) -> Machine {
    let annotated = |key: &str| machine.annotations().contains_key(key);
    Machine {
        name: MachineName::new(machine.name_any()),
        uid: Uid::new(machine.uid().unwrap_or_default()),
        deletion: deletion(clock, machine.metadata.deletion_timestamp.as_ref()),
        mark: if annotated(names::DELETE_MACHINE_ANNOTATION) {
            RemovalMark::DeleteFirst
        } else {
            RemovalMark::None
        },
        node: node(machine),
        node_since: node_since(machine, clock),
        unhealthy: unhealthy(machine),
        spared: annotated(names::SKIP_REMEDIATION_ANNOTATION),
        timeouts: timeouts(machine.spec.deletion.unwrap_or_default()),
        stage: stage(machine),
        drain_excluded: annotated(names::EXCLUDE_DRAINING_ANNOTATION),
        pause: pause(machine),
        created: machine
            .metadata
            .creation_timestamp
            .as_ref()
            .map_or(Timestamp(0), |created| timestamp(clock, created)),
    }
}

/// Who paused a Machine, and whether Cluster API reports that (its condition `Paused`).
fn pause(machine: &capi::Machine) -> MachinePause {
    match machine.annotations().get(names::PAUSED_ANNOTATION).map(String::as_str) {
        None => MachinePause::None,
        Some(names::PAUSED_FOR_RETENTION) => {
            let seen = condition(machine, "Paused").is_some_and(|paused| paused.status == "True");
            if seen { MachinePause::InForce } else { MachinePause::Requested }
        }
        Some(names::PAUSED_FOR_REMOVAL) => MachinePause::Removing,
        Some(_) => MachinePause::ByUser,
    }
}

/// The stage of a deletion from the `Deleting` condition. Its reasons are Cluster API's (`api/core/v1beta2`,
/// `MachineDeleting…Reason`), in this order; any other reason concerns hooks, drain and volumes, or is an
/// error in between.
fn stage(machine: &capi::Machine) -> DeletionStage {
    const PAST_THE_DRAIN: [&str; 4] = [
        "WaitingForInfrastructureDeletion",
        "WaitingForBootstrapDeletion",
        "DeletingNode",
        "DeletionCompleted",
    ];
    let conditions = machine.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default();
    let past = conditions.iter().any(|condition| {
        condition.type_ == "Deleting" && PAST_THE_DRAIN.contains(&condition.reason.as_str())
    });
    if past { DeletionStage::WaitsForInfrastructure } else { DeletionStage::Preparing }
}

fn node(machine: &capi::Machine) -> NodeState {
    let Some(status) = &machine.status else { return NodeState::None };
    if status.node_ref.as_ref().is_none_or(|node| node.name.is_empty()) {
        NodeState::None
    } else if foo_api::conditions::is_true(&status.conditions, "NodeReady") {
        NodeState::Ready
    } else {
        NodeState::NotReady
    }
}

fn node_since(machine: &capi::Machine, clock: Difference<Kubernetes>) -> Option<Timestamp> {
    condition(machine, "NodeReady").map(|ready| timestamp(clock, &ready.last_transition_time))
}

/// Why MachineHealthCheck marked a Machine: `OwnerRemediated` is False, and `HealthCheckSucceeded` has the
/// message (Cluster API, MachineHealthCheck).
fn unhealthy(machine: &capi::Machine) -> Option<String> {
    condition(machine, "OwnerRemediated").filter(|given_up| given_up.status == "False")?;
    let seen = condition(machine, "HealthCheckSucceeded").filter(|check| check.status == "False");
    let words = seen.map(|check| if check.message.is_empty() { &check.reason } else { &check.message });
    Some(words.map_or_else(|| "it is unhealthy".to_owned(), |words| words.trim().to_owned()))
}

fn condition<'a>(machine: &'a capi::Machine, kind: &str) -> Option<&'a Condition> {
    foo_api::conditions::find(&machine.status.as_ref()?.conditions, kind)
}

/// Marks the record of content that is no longer desired.
const OVER: &str = "over ";
/// Marks the record of content whose rollback failed as well.
const STUCK: &str = "stuck ";

/// The failed contents, as [`quarantine_text`] wrote them: one per line.
pub(in crate::pool) fn quarantine(gathered: &Gathered) -> Vec<Quarantine> {
    let text = gathered.pool.annotations().get(QUARANTINE_ANNOTATION);
    text.iter().flat_map(|text| text.lines()).filter_map(record).collect()
}

fn record(line: &str) -> Option<Quarantine> {
    let line = line.trim();
    let marked = |mark: &str, verdict| line.strip_prefix(mark).map(|rest| (verdict, rest));
    let (verdict, line) = marked(OVER, Verdict::Over)
        .or_else(|| marked(STUCK, Verdict::Stuck))
        .unwrap_or((Verdict::Stands, line));
    let (hash, message) = line.split_once(':').unwrap_or((line, ""));
    let message = message.trim();
    (!hash.is_empty()).then(|| Quarantine { hash: SpecHash::new(hash), message: message.to_owned(), verdict })
}

/// The records as text: `<spec hash>: <what failed>`, one per line. `None` without records.
pub(in crate::pool) fn quarantine_text(records: &[Quarantine]) -> Option<String> {
    let line = |record: &Quarantine| {
        let mark = match record.verdict {
            Verdict::Stands => "",
            Verdict::Over => OVER,
            Verdict::Stuck => STUCK,
        };
        format!("{mark}{}: {}", record.hash, record.message.replace(['\n', '\r'], " "))
    };
    (!records.is_empty()).then(|| records.iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// What the pool records of its spec as applied to the group. A text that is no such record is as good as none: the spec is recorded
/// again.
pub(in crate::pool) fn applied(gathered: &Gathered) -> Applied {
    let text = gathered.pool.annotations().get(APPLIED_ANNOTATION);
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// The record as text, `None` for an empty one.
pub(in crate::pool) fn applied_text(applied: &Applied) -> Option<String> {
    (*applied != Applied::default()).then(|| serde_json::json!(applied).to_string())
}

fn timeouts(deletion: capi::MachineDeletion) -> DeletionTimeouts {
    let seconds = |value: Option<i32>| value.and_then(|value| u32::try_from(value).ok()).map(Seconds);
    DeletionTimeouts {
        node_drain: seconds(deletion.node_drain_timeout_seconds),
        node_volume_detach: seconds(deletion.node_volume_detach_timeout_seconds),
        node_deletion: seconds(deletion.node_deletion_timeout_seconds),
    }
}

fn deletion(clock: Difference<Kubernetes>, timestamp: Option<&Time>) -> Deletion {
    timestamp.map_or(Deletion::Alive, |time| Deletion::Since(self::timestamp(clock, time)))
}

/// When the manager's clock shows what the API server dated.
fn timestamp(clock: Difference<Kubernetes>, time: &Time) -> Timestamp {
    clock.local(from_kube(time.0))
}

/// The zone in `aws:///<zone>/<id>`.
fn zone_of(provider_id: &str) -> Zone {
    Zone::new(provider_id.rsplit('/').nth(1).unwrap_or_default())
}

/// Whether the pool blocks its move.
pub(in crate::pool) fn moves(gathered: &Gathered) -> MoveBlock {
    let blocked = gathered.pool.annotations().contains_key(names::BLOCK_MOVE_ANNOTATION);
    if blocked { MoveBlock::Blocked } else { MoveBlock::Free }
}

/// Whether our finalizer is on the pool.
pub(in crate::pool) fn finalizer(gathered: &Gathered) -> Finalizer {
    if gathered.pool.finalizers().iter().any(|finalizer| finalizer == names::POOL_FINALIZER) {
        Finalizer::Present
    } else {
        Finalizer::Absent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foo_model::AppliedWarmPool;

    #[test]
    fn the_record_of_what_was_applied_round_trips() {
        let applied = Applied {
            lifecycle_hooks: ["a/b".into()].into(),
            suspended_processes: [foo_model::Process::AlarmNotification].into(),
            ..Applied::default()
        };
        let text = applied_text(&applied).unwrap();
        assert_eq!(text, r#"{"lifecycleHooks":["a/b"],"suspendedProcesses":["AlarmNotification"]}"#);
        assert_eq!(serde_json::from_str::<Applied>(&text).unwrap(), applied);
        assert_eq!(applied_text(&Applied::default()), None);
    }

    #[test]
    fn the_record_of_a_warm_pool_has_the_one_version_of_its_instances_or_none() {
        let of = |warm_pool| applied_text(&Applied { warm_pool: Some(warm_pool), ..Applied::default() });
        let template = Some(("lt-1".into(), foo_model::TemplateVersion(3)));
        let text = of(AppliedWarmPool { template: template.clone() }).unwrap();
        assert_eq!(text, r#"{"warmPool":{"template":["lt-1",3]}}"#);
        let read: Applied = serde_json::from_str(&text).unwrap();
        assert_eq!(read.warm_pool.unwrap().template, template);
        let mixed = of(AppliedWarmPool::default()).unwrap();
        assert_eq!(mixed, r#"{"warmPool":{}}"#);
        let read: Applied = serde_json::from_str(&mixed).unwrap();
        assert_eq!(read.warm_pool, Some(AppliedWarmPool::default()));
    }

    #[test]
    fn records_of_failures_round_trip() {
        let record = |hash: &str, message: &str, verdict| Quarantine {
            hash: SpecHash::new(hash),
            message: message.to_owned(),
            verdict,
        };
        let records = [
            record("v1-a", "Machine m: its Node: deleted", Verdict::Over),
            record("v1-b", "", Verdict::Stands),
            record("v1-d", "both: ways", Verdict::Stuck),
        ];
        let text = quarantine_text(&records).unwrap();
        let back: Vec<Quarantine> = text.lines().filter_map(super::record).collect();
        assert_eq!(back, records);
        assert_eq!(quarantine_text(&[]), None);
        assert_eq!(super::record("  "), None, "written by hand");
        assert_eq!(super::record("v1-c"), Some(record("v1-c", "", Verdict::Stands)));
    }
}
