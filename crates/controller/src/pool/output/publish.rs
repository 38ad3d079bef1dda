//! Builds and writes status and provider ids by server-side apply, and the status of each FooMachine; only
//! what changed.

use crate::clock::to_kube;
use crate::pool::gather::Gathered;
use foo_api::machine::{DrainHookStatus, FooMachineStatus, MachineAddress};
use foo_api::pool::{FooMachinePoolStatus, GroupStatus, LaunchTemplateStatus, MaxPods, NodeInfo};
use foo_api::pool::{ImageStatus, RolloutStatus, WarmPoolStatus};
use foo_api::shared::Initialization;
use foo_api::{FooMachine, FooMachinePool, conditions, names};
use foo_cloud::InstanceDetails;
use foo_model::{Difference, Kubernetes, KubernetesTime, LifecycleState, Reason, Timestamp};
use foo_planner::Report;
use foo_planner::observed::Ec2State;
use foo_planner::report::{Condition, ConditionKind, MachineReport, OutsideReport, RolloutReport};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition as MetaCondition, Time};
use kube::api::{Patch, PatchParams};
use kube::{Api, Client, Resource, ResourceExt};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// What the status shows and the planner does not know.
#[derive(Clone, Debug, Default)]
pub(in crate::pool) struct Extra {
    /// Capacity and node information, from the instance types. The latter is absent if they have several architectures.
    pub(in crate::pool) capacity: Option<(BTreeMap<String, String>, Option<NodeInfo>)>,
    /// Most Pods on a Node, from the instance types.
    pub(in crate::pool) max_pods: Option<MaxPods>,
    /// Kubernetes version of the MachinePool.
    pub(in crate::pool) version: Option<String>,
    /// Instance type, or the first of a mix.
    pub(in crate::pool) instance_type: Option<String>,
    /// Name of the group.
    pub(in crate::pool) group: Option<String>,
    /// Image that was found by lookup.
    pub(in crate::pool) image: Option<ImageStatus>,
    /// When this manager began to reconcile the pool.
    pub(in crate::pool) started: Option<Timestamp>,
}

/// Writes the list of ids if it changed. Cluster API reads it together with `status.replicas`, which is
/// written next.
///
/// `arn` is the group's, as recorded before or in this pass: one apply contains both fields, and an apply
/// without the ARN would remove it.
pub(in crate::pool) async fn ids(
    client: &Client,
    gathered: &Gathered,
    report: &Report,
    arn: Option<&str>,
) -> Result<(), kube::Error> {
    let pool = &gathered.pool;
    let Some(ids) = &report.provider_ids else { return Ok(()) };
    let nothing_yet = arn.is_none() && ids.is_empty() && pool.spec.provider_id_list.is_none();
    if nothing_yet || pool.spec.provider_id_list.as_ref() == Some(ids) {
        return Ok(());
    }
    let pools: Api<FooMachinePool> = Api::namespaced(client.clone(), &gathered.namespace());
    let apply = spec_apply(pool, arn, ids);
    let manager = PatchParams::apply(names::managers::POOL_SPEC).force();
    pools.patch(&pool.name_any(), &manager, &Patch::Apply(apply)).await.map(drop)
}

/// Our fields of a pool's spec, as one apply.
pub(in crate::pool) fn spec_apply(pool: &FooMachinePool, arn: Option<&str>, ids: &[String]) -> Value {
    let mut spec = serde_json::Map::new();
    if let Some(arn) = arn {
        spec.insert("providerID".to_owned(), json!(arn));
    }
    spec.insert("providerIDList".to_owned(), json!(ids));
    json!({
        "apiVersion": FooMachinePool::api_version(&()), "kind": FooMachinePool::kind(&()),
        "metadata": {"name": pool.name_any(), "uid": pool.uid()},
        "spec": spec,
    })
}

fn rollout(report: &RolloutReport) -> RolloutStatus {
    let count = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    RolloutStatus {
        phase: <&str>::from(report.phase).to_owned(),
        target_hash: report.target_hash.as_str().to_owned(),
        updated: count(report.updated),
        outdated: count(report.outdated),
        message: report.message.clone(),
    }
}

fn by_type(report: &Report) -> BTreeMap<String, i32> {
    let mut types = BTreeMap::new();
    for machine in &report.machines {
        let number: &mut i32 = types.entry(machine.instance_type.clone()).or_default();
        *number = number.saturating_add(1);
    }
    types
}

/// The status of a pool.
pub(in crate::pool) fn pool_status(
    pool: &FooMachinePool,
    report: &Report,
    extra: &Extra,
    (now, clock): (jiff::Timestamp, Difference<Kubernetes>),
) -> FooMachinePoolStatus {
    let old = pool.status.clone().unwrap_or_default();
    // It stays true: otherwise Cluster API would assume that the infrastructure was lost.
    let ready = report.provisioned || old.ready == Some(true);
    let count = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    let counts = report.counts;
    let (capacity, node_info) = match &extra.capacity {
        Some((capacity, info)) => (capacity.clone(), info.clone()),
        None => (old.capacity.clone(), old.node_info.clone()),
    };
    FooMachinePoolStatus {
        ready: Some(ready),
        initialization: Some(Initialization { provisioned: Some(ready) }),
        infrastructure_machine_kind: Some("FooMachine".to_owned()),
        replicas: counts.map(|c| count(c.replicas)).or(old.replicas),
        desired_replicas: counts.map(|c| count(c.desired)).or(old.desired_replicas),
        ready_replicas: counts.map(|c| count(c.ready)).or(old.ready_replicas),
        up_to_date_replicas: counts.map(|c| count(c.up_to_date)).or(old.up_to_date_replicas),
        observed_generation: pool.metadata.generation,
        version: extra.version.clone().or(old.version),
        instance_type: extra.instance_type.clone(),
        instance_types: match counts {
            _ if pool.spec.mixed_instances.is_none() => BTreeMap::new(),
            Some(_) => by_type(report),
            None => old.instance_types,
        },
        capacity,
        node_info,
        max_pods: extra.max_pods,
        image: extra.image.clone(),
        auto_scaling_group: match (counts, &extra.group) {
            (Some(c), Some(name)) => Some(GroupStatus {
                name: name.clone(),
                desired_capacity: count(c.group_desired),
                min_size: count(c.group_min),
                max_size: count(c.group_max),
            }),
            _ => old.auto_scaling_group,
        },
        warm_pool: match counts {
            Some(c) => c.warm.map(|size| WarmPoolStatus { size: count(size) }),
            None => old.warm_pool,
        },
        rollout: report.rollout.as_ref().map(rollout).or(old.rollout),
        // As long as the instances are not known, it stays.
        next_expiry: match counts {
            Some(_) => report.next_expiry.map(|at| to_the_second(clock.remote(at))),
            None => old.next_expiry,
        },
        launch_template: report
            .template
            .as_ref()
            .map(|template| LaunchTemplateStatus {
                id: template.id.clone(),
                version: template.version.0,
                spec_hash: template.spec_hash.as_str().to_owned(),
            })
            .or(old.launch_template),
        conditions: conditions::merge(
            &old.conditions,
            &wanted(&report.conditions),
            pool.metadata.generation,
            now,
        ),
    }
}

/// Both the creation of a Machine and its lifetime are whole seconds; the clocks' difference may have changed by less
/// since the pass began.
fn to_the_second(moment: KubernetesTime) -> Time {
    let second = to_kube(moment.plus(Duration::from_millis(500))).as_second();
    Time(jiff::Timestamp::from_second(second).unwrap_or(jiff::Timestamp::UNIX_EPOCH))
}

fn wanted(conditions: &[Condition]) -> Vec<conditions::NewCondition> {
    conditions
        .iter()
        .map(|condition| conditions::NewCondition {
            kind: <&str>::from(condition.kind).to_owned(),
            status: condition.status.into(),
            reason: condition.reason.into(),
            message: condition.message.clone(),
        })
        .collect()
}

/// The status of a paused pool: the previous one, with the condition that it is paused. Nothing else is
/// reconciled meanwhile.
pub(in crate::pool) fn paused_pool_status(
    pool: &FooMachinePool,
    report: &Report,
    now: jiff::Timestamp,
) -> Option<FooMachinePoolStatus> {
    let mut status = pool.status.clone()?;
    let of_pause = |condition: &&Condition| condition.kind == ConditionKind::Paused;
    let kept: Vec<Condition> = report.conditions.iter().filter(of_pause).cloned().collect();
    status.conditions = amended(&status.conditions, &wanted(&kept), pool.metadata.generation, now);
    Some(status)
}

/// The old conditions, with these replacing those of the same type.
fn amended(
    old: &[MetaCondition],
    wanted: &[conditions::NewCondition],
    generation: Option<i64>,
    now: jiff::Timestamp,
) -> Vec<MetaCondition> {
    let mut fresh = conditions::merge(old, wanted, generation, now);
    let mut all: Vec<MetaCondition> = old
        .iter()
        .map(|before| match fresh.iter().position(|new| new.type_ == before.type_) {
            Some(at) => fresh.remove(at),
            None => before.clone(),
        })
        .collect();
    all.extend(fresh);
    all
}

/// The status of a paused FooMachine: the previous one, with the condition that it is paused.
pub(in crate::pool) fn paused_machine_status(machine: &FooMachine, now: jiff::Timestamp) -> FooMachineStatus {
    let old = machine.status.clone().unwrap_or_default();
    let wanted = [paused_condition(true)];
    let conditions = amended(&old.conditions, &wanted, machine.metadata.generation, now);
    FooMachineStatus { conditions, ..old }
}

/// The status of a FooMachine; `None` while there is nothing new to report.
///
/// An instance in service becomes provisioned, together with its addresses, in one write, once EC2 has
/// reported them.
pub(in crate::pool) fn machine_status(
    machine: &FooMachine,
    report: &MachineReport,
    details: Option<&InstanceDetails>,
    (now, clock): (jiff::Timestamp, Difference<Kubernetes>),
) -> Option<FooMachineStatus> {
    let old = machine.status.clone().unwrap_or_default();
    let was_provisioned = old.ready == Some(true);
    let serves = report.lifecycle == LifecycleState::InService;
    let provisioned = was_provisioned || (serves && details.is_some());
    if serves && !provisioned {
        return None;
    }
    let (status, reason) = match &report.lifecycle {
        state if state.is_leaving() => ("False", Reason::Terminating),
        _ if !provisioned => ("False", Reason::Launching),
        LifecycleState::InService => ("True", Reason::InService),
        _ => ("False", Reason::NotInService),
    };
    let wanted = [
        ready_condition(status, reason, String::new()),
        paused_condition(false),
        up_to_date_condition(report.up_to_date, &old.conditions),
    ];
    Some(FooMachineStatus {
        initialization: Some(Initialization { provisioned: Some(provisioned) }),
        ready: Some(provisioned),
        addresses: details.map_or_else(|| old.addresses.clone(), addresses),
        failure_domain: Some(report.zone.as_str().to_owned()),
        interruptible: details.map(|details| details.spot).or(old.interruptible),
        lifecycle_state: Some(report.lifecycle.name().to_owned()),
        instance_type: Some(report.instance_type.clone()),
        launch_template_version: report.template_version.map(|version| version.0),
        spec_hash: report.spec_hash.as_ref().map(|hash| hash.as_str().to_owned()).or(old.spec_hash),
        // A wait has one beginning, also while the clocks' difference changes.
        drain_hook: report.hook_wait.and_then(|wait| old.drain_hook.or_else(|| drain_hook(wait, clock))),
        conditions: conditions::merge(&old.conditions, &wanted, machine.metadata.generation, now),
    })
}

/// The same for a FooMachine whose instance is not in the group: the known values stay, but it is not ready.
pub(in crate::pool) fn status_outside(
    machine: &FooMachine,
    report: &OutsideReport,
    group: &str,
    now: jiff::Timestamp,
) -> Option<FooMachineStatus> {
    if report.ec2_state == Ec2State::Gone && machine.metadata.deletion_timestamp.is_some() {
        // It is deleted in this pass.
        return None;
    }
    let old = machine.status.clone().unwrap_or_default();
    let instance = &report.instance;
    let (status, reason, message, state) = match report.ec2_state {
        Ec2State::Gone => {
            let message = format!("EC2 reports that instance {instance} is terminated");
            ("False", Reason::InstanceGone, message, Some(LifecycleState::Terminated.name().to_owned()))
        }
        Ec2State::Alive => {
            let message = format!(
                "instance {instance} runs, but is not in Auto Scaling group {group}: it was detached, or the group \
                 does not list it yet"
            );
            ("False", Reason::NotInGroup, message, None)
        }
        Ec2State::NotFound { .. } => {
            let message = format!(
                "EC2 does not know instance {instance}; if that does not change, the instance counts as terminated"
            );
            ("Unknown", Reason::InstanceNotFound, message, old.lifecycle_state.clone())
        }
    };
    let wanted = [
        ready_condition(status, reason, message),
        paused_condition(false),
        up_to_date_condition(None, &old.conditions),
    ];
    Some(FooMachineStatus {
        lifecycle_state: state,
        drain_hook: None,
        conditions: conditions::merge(&old.conditions, &wanted, machine.metadata.generation, now),
        ..old
    })
}

fn ready_condition(status: &'static str, reason: Reason, message: String) -> conditions::NewCondition {
    conditions::NewCondition { kind: "Ready".to_owned(), status, reason: reason.into(), message }
}

/// Whole seconds, as Kubernetes writes times: what is written equals what is read.
fn drain_hook(
    (since, deadline): (Timestamp, Timestamp),
    clock: Difference<Kubernetes>,
) -> Option<DrainHookStatus> {
    let time = |at: Timestamp| jiff::Timestamp::from_second(clock.remote(at).millis() / 1000).ok().map(Time);
    Some(DrainHookStatus { since: time(since)?, deadline: time(deadline)? })
}

/// While it is unknown, as after a restart, the condition stays: otherwise each restart would change the
/// status of each FooMachine twice.
fn up_to_date_condition(up_to_date: Option<bool>, old: &[MetaCondition]) -> conditions::NewCondition {
    let before = || old.iter().find(|it| it.type_ == "UpToDate" && it.status != "Unknown");
    let known = up_to_date.or_else(|| before().map(|it| it.status == "True"));
    let (status, reason) = match known {
        Some(true) => ("True", Reason::UpToDate),
        Some(false) => ("False", Reason::Outdated),
        None => ("Unknown", Reason::TemplateVersionUnknown),
    };
    conditions::NewCondition {
        kind: "UpToDate".to_owned(),
        status,
        reason: reason.into(),
        message: String::new(),
    }
}

fn paused_condition(paused: bool) -> conditions::NewCondition {
    let (status, reason) = if paused { ("True", Reason::Paused) } else { ("False", Reason::NotPaused) };
    conditions::NewCondition {
        kind: "Paused".to_owned(),
        status,
        reason: reason.into(),
        message: String::new(),
    }
}

fn addresses(details: &InstanceDetails) -> Vec<MachineAddress> {
    let address = |kind: &str, address: &Option<String>| {
        address.as_ref().map(|address| MachineAddress { kind: kind.to_owned(), address: address.clone() })
    };
    [
        address("InternalIP", &details.private_ip),
        address("InternalDNS", &details.private_dns),
        address("ExternalIP", &details.public_ip),
        address("ExternalDNS", &details.public_dns),
    ]
    .into_iter()
    .flatten()
    .collect()
}
