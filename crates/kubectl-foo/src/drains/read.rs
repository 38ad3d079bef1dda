//! Lists the Machines that are being deleted, and what is known of their drains in the management cluster.

use super::message::parse;
use super::{Deadline, Drain, Source};
use crate::access::{Listed, Reads, meant};
use crate::asked::{Asked, Kind, of_kind};
use crate::capi::Machine;
use anyhow::Result;
use foo_api::capi::{Cluster, MachineDeletionStatus};
use foo_api::conditions::find;
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_api::{FooMachine, FooMachinePool};
use jiff::SignedDuration;
use kube::ResourceExt as _;
use std::collections::{BTreeSet, HashMap};

/// Reason of the condition `Deleting` while Pods are evicted (Cluster API).
pub const DRAINING: &str = "DrainingNode";
/// Reason of the condition `Deleting` after that, while volumes are attached.
const DETACHING: &str = "WaitingForVolumeDetach";

/// The Machines that are being deleted: of these Clusters, FooMachinePools and Machines, or all. Without the right to
/// list FooMachines only the deadlines of AWS are missing, unless a pool is named.
///
/// # Errors
/// An object that is named does not exist, or a right is missing.
pub async fn read(reads: &Reads<'_>, asked: &[Asked]) -> Result<Vec<Drain>> {
    // Absent: none of that kind is named; empty: all of it are meant.
    let names = |kind| if asked.is_empty() { None } else { of_kind(asked, kind) };
    let (clusters, pools) = (names(Kind::Cluster), names(Kind::Pool));
    let selector = clusters
        .as_ref()
        .filter(|names| !names.is_empty() && asked.iter().all(|it| it.kind == Kind::Cluster));
    let selector = selector.map(|names| format!("{CLUSTER_NAME_LABEL} in ({})", names.join(",")));
    let (machines, foo_machines, clusters, pools) = tokio::join!(
        reads.list::<Machine>(selector.as_deref()),
        reads.list::<FooMachine>(selector.as_deref()),
        existing::<Cluster>(reads, clusters.as_deref()),
        existing::<FooMachinePool>(reads, pools.as_deref()),
    );
    let pools = pools?;
    // They say which Machines belong to a pool.
    let foo_machines =
        if pools.is_empty() { reads.or_warn(foo_machines).unwrap_or_default() } else { foo_machines? };
    let machines = chosen(machines?, &foo_machines, &clusters?, &pools, reads.namespace, asked)?;
    let of_machines: HashMap<(Option<String>, String), &FooMachine> =
        foo_machines.iter().map(|it| ((it.namespace(), it.name_any()), it)).collect();
    let is_going = |machine: &&Machine| machine.metadata.deletion_timestamp.is_some();
    let drain = |machine: &Machine| {
        drain(machine, of_machines.get(&(machine.namespace(), machine.name_any())).copied())
    };
    let mut drains: Vec<Drain> = machines.iter().filter(is_going).map(drain).collect();
    drains.sort_by_key(|it| (it.namespace.clone(), it.cluster.clone(), it.machine.clone()));
    Ok(drains)
}

/// The objects of these names, all of which must exist; all if there are no names; none if they are not asked for.
async fn existing<K: Listed>(reads: &Reads<'_>, names: Option<&[String]>) -> Result<Vec<K>> {
    match names {
        Some(names) => meant(reads.list(None).await?, reads.namespace, names),
        None => Ok(Vec::new()),
    }
}

/// The Machines that are asked for.
fn chosen(
    machines: Vec<Machine>,
    foo_machines: &[FooMachine],
    clusters: &[Cluster],
    pools: &[FooMachinePool],
    namespace: Option<&str>,
    asked: &[Asked],
) -> Result<Vec<Machine>> {
    if asked.is_empty() {
        return Ok(machines);
    }
    let of_machines = of_kind(asked, Kind::Machine);
    if let Some(names) = &of_machines {
        meant(machines.clone(), namespace, names)?;
    }
    let is_named =
        |name: &String| of_machines.as_ref().is_some_and(|names| names.is_empty() || names.contains(name));
    let of_clusters: BTreeSet<(Option<String>, String)> =
        clusters.iter().map(|it| (it.namespace(), it.name_any())).collect();
    let owners: BTreeSet<String> = pools.iter().filter_map(kube::ResourceExt::uid).collect();
    let owned: BTreeSet<(Option<String>, String)> = foo_machines
        .iter()
        .filter(|it| it.owner_references().iter().any(|owner| owners.contains(&owner.uid)))
        .map(|it| (it.namespace(), it.name_any()))
        .collect();
    let is_chosen = |machine: &Machine| {
        let (namespace, name) = (machine.namespace(), machine.name_any());
        is_named(&name)
            || of_clusters.contains(&(namespace.clone(), machine.spec.cluster_name.clone()))
            || owned.contains(&(namespace, name))
    };
    Ok(machines.into_iter().filter(is_chosen).collect())
}

/// What the objects of the management cluster say.
pub fn drain(machine: &Machine, foo_machine: Option<&FooMachine>) -> Drain {
    let status = machine.status.clone().unwrap_or_default();
    let deleting = find(&status.conditions, "Deleting");
    let since = machine.metadata.deletion_timestamp.as_ref().map(|time| time.0);
    let reason = deleting.map(|it| it.reason.clone()).unwrap_or_default();
    let parsed = parse(deleting.map(|it| it.message.as_str()).unwrap_or_default());
    Drain {
        namespace: machine.namespace().unwrap_or_default(),
        cluster: machine.spec.cluster_name.clone(),
        machine: machine.name_any(),
        provider_id: machine.spec.provider_id.clone(),
        deadline: deadline(machine, &reason, status.deletion.as_ref(), foo_machine),
        node: status.node_ref.map(|node| node.name),
        since,
        drain_since: status.deletion.as_ref().and_then(|it| it.node_drain_start_time.as_ref()).map(|it| it.0),
        reason,
        message: parsed.rest,
        source: Source::ClusterApi,
        pods: parsed.pods,
        unnamed_pods: parsed.unnamed,
    }
}

/// The earlier of the timeout of what Cluster API does with the Machine and of the end of the lifecycle hook.
fn deadline(
    machine: &Machine,
    reason: &str,
    progress: Option<&MachineDeletionStatus>,
    foo_machine: Option<&FooMachine>,
) -> Option<Deadline> {
    let timeouts = machine.spec.deletion.unwrap_or_default();
    let progress = progress.cloned().unwrap_or_default();
    let (began, timeout, then) = match reason {
        DRAINING => (
            progress.node_drain_start_time,
            timeouts.node_drain_timeout_seconds,
            "Cluster API ends the drain (nodeDrainTimeoutSeconds)",
        ),
        DETACHING => (
            progress.wait_for_node_volume_detach_start_time,
            timeouts.node_volume_detach_timeout_seconds,
            "Cluster API waits for volumes no longer (nodeVolumeDetachTimeoutSeconds)",
        ),
        _ => (None, None, ""),
    };
    // 0 is no limit.
    let timeout =
        timeout.filter(|seconds| *seconds > 0).map(|seconds| SignedDuration::from_secs(seconds.into()));
    let ends = began.zip(timeout).and_then(|(began, timeout)| began.0.checked_add(timeout).ok());
    let ends = ends.map(|at| Deadline { at, then: then.to_owned() });
    let hook = foo_machine.and_then(|it| it.status.as_ref()?.drain_hook.as_ref());
    let hook =
        hook.map(|hook| Deadline { at: hook.deadline.0, then: "AWS terminates the instance".to_owned() });
    ends.into_iter().chain(hook).min_by_key(|deadline| deadline.at)
}
