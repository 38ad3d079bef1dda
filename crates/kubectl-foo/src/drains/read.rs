//! Lists the Machines that are being deleted, and what is known of their drains in the management cluster.

use super::message::parse;
use super::{Deadline, Drain, Source};
use crate::access::{Listed, Reads, meant};
use crate::asked::{Asked, Kind, of_kind};
use anyhow::Result;
use foo_api::capi::{Cluster, Machine};
use foo_api::conditions::find;
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_api::{FooMachine, FooMachinePool};
use jiff::{SignedDuration, Timestamp};
use kube::ResourceExt as _;
use std::collections::BTreeSet;

/// Reason of the condition `Deleting` while Pods are evicted (Cluster API).
pub const DRAINING: &str = "DrainingNode";

/// The Machines that are being deleted: of these Clusters, FooMachinePools and Machines, or all. Without the right to
/// list FooMachines only the deadlines of AWS are missing, unless a pool is named.
///
/// # Errors
/// An object that is named does not exist, or a right is missing.
pub async fn read(reads: &Reads<'_>, asked: &[Asked]) -> Result<Vec<Drain>> {
    let names = |kind| of_kind(asked, kind).unwrap_or_default();
    let (clusters, pools) = (names(Kind::Cluster), names(Kind::Pool));
    let only_clusters = !clusters.is_empty() && asked.iter().all(|it| it.kind == Kind::Cluster);
    let selector = only_clusters.then(|| format!("{CLUSTER_NAME_LABEL} in ({})", clusters.join(",")));
    let (machines, foo_machines, clusters, pools) = tokio::join!(
        reads.list::<Machine>(selector.as_deref()),
        reads.list::<FooMachine>(selector.as_deref()),
        existing::<Cluster>(reads, &clusters),
        existing::<FooMachinePool>(reads, &pools),
    );
    let pools = pools?;
    // They say which Machines belong to a pool.
    let foo_machines =
        if pools.is_empty() { reads.or_warn(foo_machines).unwrap_or_default() } else { foo_machines? };
    let machines = chosen(machines?, &foo_machines, &clusters?, &pools, reads.namespace, asked)?;
    let is_going = |machine: &&Machine| machine.metadata.deletion_timestamp.is_some();
    let mut drains: Vec<Drain> = machines
        .iter()
        .filter(is_going)
        .map(|machine| {
            let is_its = |it: &&FooMachine| {
                it.name_any() == machine.name_any() && it.namespace() == machine.namespace()
            };
            drain(machine, foo_machines.iter().find(is_its))
        })
        .collect();
    drains.sort_by_key(|it| (it.namespace.clone(), it.cluster.clone(), it.machine.clone()));
    Ok(drains)
}

/// The objects of these names, all of which must exist; without names nothing is read.
async fn existing<K: Listed>(reads: &Reads<'_>, names: &[String]) -> Result<Vec<K>> {
    if names.is_empty() { Ok(Vec::new()) } else { meant(reads.list(None).await?, reads.namespace, names) }
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
    if asked.iter().all(|it| it.name.is_none()) {
        return Ok(machines);
    }
    let of_machines = of_kind(asked, Kind::Machine).unwrap_or_default();
    if !of_machines.is_empty() {
        meant(machines.clone(), namespace, &of_machines)?;
    }
    let of_clusters: BTreeSet<String> = clusters.iter().map(kube::ResourceExt::name_any).collect();
    let owners: BTreeSet<String> = pools.iter().filter_map(kube::ResourceExt::uid).collect();
    let owned: BTreeSet<String> = foo_machines
        .iter()
        .filter(|it| it.owner_references().iter().any(|owner| owners.contains(&owner.uid)))
        .map(kube::ResourceExt::name_any)
        .collect();
    let is_chosen = |machine: &Machine| {
        let name = machine.name_any();
        of_clusters.contains(&machine.spec.cluster_name)
            || of_machines.contains(&name)
            || owned.contains(&name)
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
    // The Pods are listed below it.
    let is_heading = reason == DRAINING && !parsed.pods.is_empty();
    Drain {
        namespace: machine.namespace().unwrap_or_default(),
        cluster: machine.spec.cluster_name.clone(),
        machine: machine.name_any(),
        node: status.node_ref.map(|node| node.name),
        since,
        deadline: deadline(machine, parsed.started, foo_machine),
        reason,
        message: if is_heading { String::new() } else { parsed.rest },
        source: Source::ClusterApi,
        pods: parsed.pods,
        unnamed_pods: parsed.unnamed,
    }
}

/// The earlier of the Machine's drain timeout and of the end of the lifecycle hook.
fn deadline(
    machine: &Machine,
    started: Option<Timestamp>,
    foo_machine: Option<&FooMachine>,
) -> Option<Deadline> {
    let timeout = machine.spec.deletion.and_then(|deletion| deletion.node_drain_timeout_seconds);
    let timeout =
        timeout.filter(|seconds| *seconds > 0).map(|seconds| SignedDuration::from_secs(seconds.into()));
    let ends = started.zip(timeout).and_then(|(started, timeout)| started.checked_add(timeout).ok());
    let ends = ends
        .map(|at| Deadline { at, then: "Cluster API ends the drain (nodeDrainTimeoutSeconds)".to_owned() });
    let hook = foo_machine.and_then(|it| it.status.as_ref()?.drain_hook.as_ref());
    let hook =
        hook.map(|hook| Deadline { at: hook.deadline.0, then: "AWS terminates the instance".to_owned() });
    ends.into_iter().chain(hook).min_by_key(|deadline| deadline.at)
}
