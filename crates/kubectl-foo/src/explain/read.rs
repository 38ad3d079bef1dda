//! Reads the objects that are explained, and those that they are explained from.

use crate::access::{Reads, meant};
use crate::asked::{Asked, Kind, of_kind};
use crate::capi::Machine;
use anyhow::Result;
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_api::{FooControlPlane, FooMachine, FooMachinePool, FooNodeConfig};
use foo_model::names::TOKEN_EXPIRES_ANNOTATION;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, Secret};
use kube::{Api, Client, Resource as _, ResourceExt as _};
use std::collections::BTreeSet;

/// A pool with the objects that belong to it.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The pool.
    pub pool: FooMachinePool,
    /// Its FooMachines, by name.
    pub foo_machines: Vec<FooMachine>,
    /// Their Machines, by name. A Machine has the name of its FooMachine.
    pub machines: Vec<Machine>,
    /// Events about the pool.
    pub events: Vec<Event>,
}

/// A control plane with what belongs to it.
#[derive(Clone, Debug)]
pub struct ControlPlaneFacts {
    /// The control plane.
    pub control_plane: FooControlPlane,
    /// When the token expires that Cluster API connects with, from the metadata of the Secret. `None`: there is none,
    /// or the user who asks may not read that.
    pub token_ends: Option<Timestamp>,
    /// Events about the control plane.
    pub events: Vec<Event>,
}

/// A FooNodeConfig with what belongs to it.
#[derive(Clone, Debug)]
pub struct NodeConfigFacts {
    /// The FooNodeConfig.
    pub node_config: FooNodeConfig,
    /// Events about it.
    pub events: Vec<Event>,
}

/// Everything that is explained by one command.
#[derive(Clone, Debug, Default)]
pub struct Everything {
    /// Control planes.
    pub control_planes: Vec<ControlPlaneFacts>,
    /// FooNodeConfigs.
    pub node_configs: Vec<NodeConfigFacts>,
    /// Pools.
    pub pools: Vec<Facts>,
}

/// What is asked for: everything if nothing is named. Every kind is listed once. A kind that the user did not name and
/// may not list, or that this cluster does not have, is a warning, except pools.
///
/// # Errors
/// An object does not exist, or a right is missing.
pub async fn read(reads: &Reads<'_>, asked: &[Asked]) -> Result<Everything> {
    let names = |kind| of_kind(asked, kind);
    let (of_control_planes, of_configs, of_pools) =
        (names(Kind::ControlPlane), names(Kind::NodeConfig), names(Kind::Pool));
    let (control_planes, node_configs, pools, events) = tokio::join!(
        reads.unless_unasked::<FooControlPlane>(of_control_planes.as_deref()),
        reads.unless_unasked::<FooNodeConfig>(of_configs.as_deref()),
        pools(reads, of_pools.as_deref()),
        // The rest of an explanation does not need them.
        async { reads.or_warn(reads.list::<Event>(None).await).unwrap_or_default() },
    );
    let mut everything = Everything::default();
    for control_plane in control_planes? {
        let token_ends = token_ends(reads.client, &control_plane).await;
        let events = about(&events, control_plane.uid());
        everything.control_planes.push(ControlPlaneFacts { control_plane, token_ends, events });
    }
    for node_config in node_configs? {
        let events = about(&events, node_config.uid());
        everything.node_configs.push(NodeConfigFacts { node_config, events });
    }
    let (pools, foo_machines, machines) = pools?;
    everything.pools = pools.iter().map(|pool| facts(pool, &foo_machines, &machines, &events)).collect();
    Ok(everything)
}

/// The pools of these names with all FooMachines and Machines of the namespace: without them an instance would seem to
/// have none.
async fn pools(
    reads: &Reads<'_>,
    names: Option<&[String]>,
) -> Result<(Vec<FooMachinePool>, Vec<FooMachine>, Vec<Machine>)> {
    let Some(names) = names else { return Ok((Vec::new(), Vec::new(), Vec::new())) };
    let (pools, foo_machines, machines) =
        tokio::try_join!(reads.list(None), reads.list(None), reads.list(None))?;
    Ok((meant(pools, reads.namespace, names)?, foo_machines, machines))
}

/// When the token in the kubeconfig of a control plane ends. Only the metadata of the Secret is asked for, so that the
/// token does not come here; a user who may not read Secrets gets none.
async fn token_ends(client: &Client, control_plane: &FooControlPlane) -> Option<Timestamp> {
    let cluster = control_plane.labels().get(CLUSTER_NAME_LABEL)?;
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &control_plane.namespace()?);
    let metadata = secrets.get_metadata_opt(&format!("{cluster}-kubeconfig")).await.ok()??;
    metadata.annotations().get(TOKEN_EXPIRES_ANNOTATION)?.parse().ok()
}

/// Events about the object with that uid.
fn about(events: &[Event], uid: Option<String>) -> Vec<Event> {
    let uid = uid.unwrap_or_default();
    let is_about = |event: &&Event| event.involved_object.uid.as_deref() == Some(uid.as_str());
    events.iter().filter(is_about).cloned().collect()
}

/// A pool with those of these objects that belong to it.
pub fn facts(
    pool: &FooMachinePool,
    foo_machines: &[FooMachine],
    machines: &[Machine],
    events: &[Event],
) -> Facts {
    let uid = pool.uid().unwrap_or_default();
    let namespace = pool.namespace();
    let is_ours = |machine: &&FooMachine| machine.owner_references().iter().any(|owner| owner.uid == uid);
    let mut foo_machines: Vec<FooMachine> = foo_machines.iter().filter(is_ours).cloned().collect();
    foo_machines.sort_by_key(kube::ResourceExt::name_any);
    let names: BTreeSet<String> = foo_machines.iter().map(kube::ResourceExt::name_any).collect();
    let is_external = |machine: &&Machine| {
        machine.spec.infrastructure_ref.kind == FooMachine::kind(&())
            && machine.namespace() == namespace
            && names.contains(&machine.name_any())
    };
    let mut machines: Vec<Machine> = machines.iter().filter(is_external).cloned().collect();
    machines.sort_by_key(kube::ResourceExt::name_any);
    Facts { pool: pool.clone(), foo_machines, machines, events: about(events, pool.uid()) }
}
