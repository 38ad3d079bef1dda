//! Reads the objects that are explained, and those that they are explained from.

use anyhow::{Context as _, Result, bail};
use foo_api::capi::Machine;
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_api::{FooControlPlane, FooMachine, FooMachinePool, FooNodeConfig};
use foo_model::names::TOKEN_EXPIRES_ANNOTATION;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Event, Secret};
use kube::api::ListParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::DeserializeGuard;
use kube::{Api, Client, Config, Resource as _, ResourceExt as _};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Objects in one response.
const PAGE: u32 = 500;

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

/// Access to a management cluster.
pub struct Access {
    /// Its client.
    pub client: Client,
    /// The namespace of the kubeconfig's context.
    pub namespace: String,
}

impl Access {
    /// Finds the cluster as kubectl does: the file, or `$KUBECONFIG`, or `~/.kube/config`; its current
    /// context or that one.
    pub async fn of(file: Option<&Path>, context: Option<String>) -> Result<Self> {
        let options = KubeConfigOptions { context, ..KubeConfigOptions::default() };
        let config = match file {
            Some(file) => {
                let read =
                    Kubeconfig::read_from(file).with_context(|| format!("reading {}", file.display()))?;
                Config::from_custom_kubeconfig(read, &options).await
            }
            None => Config::from_kubeconfig(&options).await,
        };
        let mut config = config.context("no usable kubeconfig")?;
        // kube knows no NO_PROXY: a proxy of the environment would be used for everything.
        config.proxy_url = None;
        let namespace = config.default_namespace.clone();
        Ok(Self { client: Client::try_from(config)?, namespace })
    }
}

/// The pools of a namespace, or of all; of these names, if there are any. Objects that cannot be read are
/// named in `unread`, and left out.
pub async fn pools(
    client: &Client,
    namespace: Option<&str>,
    names: &[String],
    unread: &mut Vec<String>,
) -> Result<Vec<Facts>> {
    let pools: Vec<FooMachinePool> = meant(list(client, namespace, unread).await?, namespace, names)?;
    // Namespaces are read once, however many pools they have.
    let namespaces: BTreeSet<String> = pools.iter().filter_map(kube::ResourceExt::namespace).collect();
    let mut all = Vec::new();
    for namespace in namespaces {
        let foo_machines: Vec<FooMachine> = list(client, Some(&namespace), unread).await?;
        let machines: Vec<Machine> = list(client, Some(&namespace), unread).await?;
        let events = events(client, &namespace, unread).await;
        for pool in pools.iter().filter(|pool| pool.namespace().as_ref() == Some(&namespace)) {
            all.push(facts(pool, &foo_machines, &machines, &events));
        }
    }
    Ok(all)
}

/// The control planes of a namespace, or of all; of these names, if there are any. Objects that cannot be read are
/// named in `unread`, and left out.
pub async fn control_planes(
    client: &Client,
    namespace: Option<&str>,
    names: &[String],
    unread: &mut Vec<String>,
) -> Result<Vec<ControlPlaneFacts>> {
    let mut all = Vec::new();
    for (control_plane, events) in with_events::<FooControlPlane>(client, namespace, names, unread).await? {
        let token_ends = token_ends(client, &control_plane).await;
        all.push(ControlPlaneFacts { control_plane, token_ends, events });
    }
    Ok(all)
}

/// The FooNodeConfigs of a namespace, or of all; of these names, if there are any. Objects that cannot be read are
/// named in `unread`, and left out.
pub async fn node_configs(
    client: &Client,
    namespace: Option<&str>,
    names: &[String],
    unread: &mut Vec<String>,
) -> Result<Vec<NodeConfigFacts>> {
    let found = with_events::<FooNodeConfig>(client, namespace, names, unread).await?;
    Ok(found.into_iter().map(|(node_config, events)| NodeConfigFacts { node_config, events }).collect())
}

/// The objects of a kind, each with the events about it.
async fn with_events<K: Explained>(
    client: &Client,
    namespace: Option<&str>,
    names: &[String],
    unread: &mut Vec<String>,
) -> Result<Vec<(K, Vec<Event>)>> {
    let objects = meant(list::<K>(client, namespace, unread).await?, namespace, names)?;
    let mut of_namespaces: BTreeMap<String, Vec<Event>> = BTreeMap::new();
    let mut all = Vec::new();
    for object in objects {
        let namespace = object.namespace().unwrap_or_default();
        let there = match of_namespaces.entry(namespace.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(events(client, &namespace, unread).await),
        };
        let uid = object.uid().unwrap_or_default();
        let is_about = |event: &&Event| event.involved_object.uid.as_deref() == Some(uid.as_str());
        let about = there.iter().filter(is_about).cloned().collect();
        all.push((object, about));
    }
    Ok(all)
}

/// Those of these names, all of which must exist; all if there are no names.
fn meant<K: Explained>(objects: Vec<K>, namespace: Option<&str>, names: &[String]) -> Result<Vec<K>> {
    if let Some(missing) = names.iter().find(|name| objects.iter().all(|object| object.name_any() != **name))
    {
        bail!("{} {missing} not found in namespace {}", K::kind(&()), namespace.unwrap_or_default());
    }
    Ok(objects.into_iter().filter(|object| names.is_empty() || names.contains(&object.name_any())).collect())
}

/// The events of a namespace. The rest of an explanation does not need them.
async fn events(client: &Client, namespace: &str, unread: &mut Vec<String>) -> Vec<Event> {
    match list::<Event>(client, Some(namespace), unread).await {
        Ok(events) => events,
        Err(error) => {
            unread.push(format!("{error:#}"));
            Vec::new()
        }
    }
}

/// When the token in the kubeconfig of a control plane ends. Only the metadata of the Secret is asked for, so that the
/// token does not come here; a user who may not read Secrets gets none.
async fn token_ends(client: &Client, control_plane: &FooControlPlane) -> Option<Timestamp> {
    let cluster = control_plane.labels().get(CLUSTER_NAME_LABEL)?;
    let secrets: Api<Secret> = Api::namespaced(client.clone(), &control_plane.namespace()?);
    let metadata = secrets.get_metadata_opt(&format!("{cluster}-kubeconfig")).await.ok()??;
    metadata.annotations().get(TOKEN_EXPIRES_ANNOTATION)?.parse().ok()
}

/// A kind of the provider that is explained.
trait Explained:
    kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>
    + Clone
    + std::fmt::Debug
    + serde::de::DeserializeOwned
{
}

impl Explained for FooMachinePool {}
impl Explained for FooControlPlane {}
impl Explained for FooNodeConfig {}

async fn list<K>(client: &Client, namespace: Option<&str>, unread: &mut Vec<String>) -> Result<Vec<K>>
where
    K: kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned,
{
    let api: Api<DeserializeGuard<K>> = match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    };
    let kind = K::kind(&());
    let mut read = Vec::new();
    let mut page = ListParams::default().limit(PAGE);
    loop {
        let listed = api.list(&page).await.with_context(|| format!("listing {kind}s"))?;
        let next = listed.metadata.continue_.clone().filter(|token| !token.is_empty());
        for object in listed.items {
            let name = object.name_any();
            match object.0 {
                Ok(object) => read.push(object),
                Err(error) => unread.push(format!("{kind} {name} cannot be read: {}", error.error)),
            }
        }
        match next {
            Some(token) => page = page.continue_token(&token),
            None => return Ok(read),
        }
    }
}

fn facts(
    pool: &FooMachinePool,
    foo_machines: &[FooMachine],
    machines: &[Machine],
    events: &[Event],
) -> Facts {
    let uid = pool.uid().unwrap_or_default();
    let is_ours = |machine: &&FooMachine| machine.owner_references().iter().any(|owner| owner.uid == uid);
    let mut foo_machines: Vec<FooMachine> = foo_machines.iter().filter(is_ours).cloned().collect();
    foo_machines.sort_by_key(kube::ResourceExt::name_any);
    let names: BTreeSet<String> = foo_machines.iter().map(kube::ResourceExt::name_any).collect();
    let is_external = |machine: &&Machine| {
        machine.spec.infrastructure_ref.kind == FooMachine::kind(&()) && names.contains(&machine.name_any())
    };
    let mut machines: Vec<Machine> = machines.iter().filter(is_external).cloned().collect();
    machines.sort_by_key(kube::ResourceExt::name_any);
    let is_about = |event: &&Event| event.involved_object.uid.as_deref() == Some(uid.as_str());
    let events = events.iter().filter(is_about).cloned().collect();
    Facts { pool: pool.clone(), foo_machines, machines, events }
}
