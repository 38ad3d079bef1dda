//! One read of everything that belongs to a pool, in Kubernetes and in AWS; printed when a wait runs out of time.

use super::kinds::{self, Kind, condition, is_deleting, number, text};
use super::manifests::PoolName;
use super::{Aws, World};
use anyhow::Result;
use foo_simulator::core::group::model::Group;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A pool as it was at one moment.
#[derive(Clone, Debug)]
pub struct PoolView {
    /// The MachinePool.
    pub machine_pool: Option<Value>,
    /// The FooMachinePool.
    pub foo_pool: Option<Value>,
    /// The Machines of the pool, by name.
    pub machines: Vec<MachineView>,
    /// The FooMachines of the pool, by name.
    pub foo_machines: Vec<Value>,
    /// Its group in AWS.
    pub group: Option<Group>,
    /// Instances that still exist in EC2, with their states, by id.
    pub instances: BTreeMap<String, String>,
}

/// A Machine.
#[derive(Clone, Debug)]
pub struct MachineView {
    /// Its name.
    pub name: String,
    /// The object.
    pub object: Value,
    /// Instance id, from its providerID.
    pub instance: String,
    /// Its Node, if there is one.
    pub node: Option<Value>,
}

impl MachineView {
    /// Whether it is being deleted.
    pub fn is_deleting(&self) -> bool {
        is_deleting(&self.object)
    }

    /// Its phase in Cluster API's words (`Running`, `Deleting`, …).
    pub fn phase(&self) -> &str {
        text(&self.object, "/status/phase")
    }

    /// The message of its condition `Deleting`, for instance why a drain waits.
    pub fn deletion_message(&self) -> &str {
        condition(&self.object, "Deleting").map(|(_, _, message)| message).unwrap_or_default()
    }

    /// Whether its drain waits for a PodDisruptionBudget.
    pub fn waits_for_budget(&self) -> bool {
        self.is_deleting() && self.deletion_message().contains("disruption budget")
    }

    /// Name of its Node, empty if there is none.
    pub fn node_name(&self) -> &str {
        self.node.as_ref().map(|node| text(node, "/metadata/name")).unwrap_or_default()
    }

    /// Whether it runs, is not being deleted, and its Node is Ready.
    pub fn is_good(&self) -> bool {
        let node_ready = self.node.as_ref().and_then(|node| condition(node, "Ready"));
        !self.is_deleting()
            && self.phase() == "Running"
            && node_ready.is_some_and(|(status, ..)| status == "True")
    }
}

impl PoolView {
    /// The instances of its Machines. A Machine has none until its FooMachine was read.
    pub fn instances_of_machines(&self) -> BTreeSet<String> {
        self.machines.iter().map(|it| it.instance.clone()).filter(|id| !id.is_empty()).collect()
    }

    pub(super) async fn take(world: &World, name: &PoolName) -> Result<Self> {
        let client = || world.client();
        let of_pool =
            format!("cluster.x-k8s.io/pool-name={}", foo_api::labels::must_format_value(&name.machine_pool));
        let namespace = name.namespace.as_str();
        // An API server that was stopped shows no Nodes; all else can be seen without it.
        let nodes = async || {
            let client = world.workload_client(&name.cluster);
            anyhow::Ok(kinds::list(client, Kind::Node, "", "").await.unwrap_or_default())
        };
        let (machine_pool, foo_pool, machines, foo_machines, nodes) = tokio::try_join!(
            kinds::read(client(), Kind::MachinePool, namespace, &name.machine_pool),
            kinds::read(client(), Kind::FooMachinePool, namespace, &name.pool),
            kinds::list(client(), Kind::Machine, namespace, &of_pool),
            kinds::list(client(), Kind::FooMachine, namespace, &of_pool),
            nodes(),
        )?;
        let mut nodes: BTreeMap<String, Value> =
            nodes.into_iter().map(|node| (text(&node, "/spec/providerID").to_owned(), node)).collect();
        let machines = machines.into_iter().map(|object| {
            let provider_id = text(&object, "/spec/providerID").to_owned();
            let instance = provider_id.rsplit('/').next().unwrap_or_default().to_owned();
            let name = text(&object, "/metadata/name").to_owned();
            MachineView { name, instance, node: nodes.remove(&provider_id), object }
        });
        let group = name.group();
        Ok(Self {
            machine_pool,
            foo_pool,
            machines: machines.collect(),
            foo_machines,
            group: world.aws().group(&group),
            instances: states(world.aws(), &group),
        })
    }

    /// The Machine of an instance.
    pub fn machine_of(&self, instance: &str) -> Option<&MachineView> {
        self.machines.iter().find(|machine| machine.instance == instance)
    }

    /// The Machines that run with a Ready Node and are not being deleted.
    pub fn good(&self) -> impl Iterator<Item = &MachineView> {
        self.machines.iter().filter(|machine| machine.is_good())
    }

    /// The Machines that are being deleted.
    pub fn deleting(&self) -> impl Iterator<Item = &MachineView> {
        self.machines.iter().filter(|machine| machine.is_deleting())
    }

    /// `spec.providerIDList` of the FooMachinePool.
    pub fn provider_ids(&self) -> Vec<&str> {
        let ids = self.foo_pool.as_ref().and_then(|pool| pool.pointer("/spec/providerIDList")?.as_array());
        ids.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Status, reason and message of a condition of the FooMachinePool.
    pub fn condition(&self, kind: &str) -> Option<(&str, &str, &str)> {
        condition(self.foo_pool.as_ref()?, kind)
    }

    /// Type, status, reason and message of all conditions of the FooMachinePool.
    pub fn conditions(&self) -> impl Iterator<Item = (&str, &str, &str, &str)> {
        let all = self.foo_pool.as_ref().and_then(|pool| pool.pointer("/status/conditions")?.as_array());
        let part = |it, name| text(it, name);
        all.into_iter().flatten().map(move |it| {
            (part(it, "/type"), part(it, "/status"), part(it, "/reason"), part(it, "/message"))
        })
    }

    /// Whether everything agrees on a number of machines, and nothing is on its way up or down.
    pub fn is_settled_at(&self, wanted: usize) -> bool {
        let (Some(machine_pool), Some(foo_pool), Some(group)) =
            (&self.machine_pool, &self.foo_pool, &self.group)
        else {
            return false;
        };
        let count = i64::try_from(wanted).ok();
        let numbers = [
            number(machine_pool, "/spec/replicas"),
            number(machine_pool, "/status/replicas").or(Some(0)),
            number(machine_pool, "/status/readyReplicas").or(Some(0)),
            number(foo_pool, "/status/replicas"),
            number(foo_pool, "/status/readyReplicas"),
            Some(i64::from(group.sizes.desired)),
        ];
        let counts = [self.machines.len(), self.good().count(), self.foo_machines.len(), group.members.len()];
        text(machine_pool, "/status/phase") == "Running"
            && numbers.iter().all(|number| *number == count)
            && counts.iter().all(|number| *number == wanted)
            && self.provider_ids().len() == wanted
            && self.instances.len() == wanted
            && self.condition("Ready").is_some_and(|(status, ..)| status == "True")
            // A pool is ready during routine work.
            && ["RollingOut", "ScalingDown"]
                .iter()
                .all(|kind| self.condition(kind).is_some_and(|(status, ..)| status == "False"))
    }
}

fn states(aws: &Aws, group: &str) -> BTreeMap<String, String> {
    let instances = aws.instances_of(group).into_iter();
    instances.map(|instance| (instance.id.to_string(), format!("{:?}", instance.state))).collect()
}

impl fmt::Display for PoolView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.machine_pool {
            None => writeln!(f, "\n  no MachinePool")?,
            Some(pool) => writeln!(
                f,
                "\n  MachinePool: phase {}, spec.replicas {:?}, replicas {:?}, ready {:?}{}",
                text(pool, "/status/phase"),
                number(pool, "/spec/replicas"),
                number(pool, "/status/replicas"),
                number(pool, "/status/readyReplicas"),
                if is_deleting(pool) { ", being deleted" } else { "" }
            )?,
        }
        match &self.foo_pool {
            None => writeln!(f, "  no FooMachinePool")?,
            Some(pool) => {
                writeln!(
                    f,
                    "  FooMachinePool: desired {:?}, replicas {:?}, ready {:?}{}, ids {:?}",
                    number(pool, "/status/desiredReplicas"),
                    number(pool, "/status/replicas"),
                    number(pool, "/status/readyReplicas"),
                    if is_deleting(pool) { ", being deleted" } else { "" },
                    self.provider_ids(),
                )?;
                let conditions = pool.pointer("/status/conditions").and_then(Value::as_array);
                for it in conditions.into_iter().flatten() {
                    let part = |name| text(it, name);
                    let (kind, status) = (part("/type"), part("/status"));
                    writeln!(f, "    {kind}={status} {}: {}", part("/reason"), part("/message"))?;
                }
            }
        }
        for machine in &self.machines {
            let deleting = if machine.is_deleting() { " deleting: " } else { "" };
            writeln!(
                f,
                "  Machine {} {} on {} node {:?}{deleting}{}",
                machine.name,
                machine.phase(),
                machine.instance,
                machine.node_name(),
                if machine.is_deleting() { machine.deletion_message() } else { "" },
            )?;
        }
        for machine in &self.foo_machines {
            let state = text(machine, "/status/lifecycleState");
            let deleting = if is_deleting(machine) { ", being deleted" } else { "" };
            writeln!(f, "  FooMachine {} {state}{deleting}", text(machine, "/metadata/name"))?;
        }
        match &self.group {
            None => writeln!(f, "  AWS: no group")?,
            Some(group) => {
                let sizes = &group.sizes;
                write!(f, "  AWS: group desired {} min {} max {}", sizes.desired, sizes.min, sizes.max)?;
                for member in group.members.values() {
                    write!(f, ", {} {:?}", member.id, member.lifecycle)?;
                }
                writeln!(f)?;
            }
        }
        write!(f, "  EC2: {:?}", self.instances)
    }
}
