//! Reads everything that there is to say about pools.

use anyhow::{Context as _, Result};
use foo_api::capi::Machine;
use foo_api::{FooMachine, FooMachinePool};
use futures::future::try_join_all;
use k8s_openapi::api::core::v1::Event;
use kube::api::ListParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, Resource as _, ResourceExt as _};
use std::collections::BTreeSet;
use std::path::Path;

/// A pool with everything that belongs to it, as it stands in the cluster.
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

/// A cluster that can be asked.
pub struct Access {
    /// Its client.
    pub client: Client,
    /// The namespace that is meant when none is named.
    pub namespace: String,
}

impl Access {
    /// As kubectl would: the file, or `$KUBECONFIG`, or `~/.kube/config`; its current context or that one.
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
        let config = config.context("no usable kubeconfig")?;
        let namespace = config.default_namespace.clone();
        Ok(Self { client: Client::try_from(config)?, namespace })
    }
}

/// The pools of a namespace, or of all; of these names, if there are any.
pub async fn pools(client: &Client, namespace: Option<&str>, names: &[String]) -> Result<Vec<Facts>> {
    let api: Api<FooMachinePool> = match namespace {
        Some(namespace) => Api::namespaced(client.clone(), namespace),
        None => Api::all(client.clone()),
    };
    let pools = if names.is_empty() {
        api.list(&ListParams::default()).await.context("listing FooMachinePools")?.items
    } else {
        let each =
            names.iter().map(async |name| api.get(name).await.with_context(|| format!("reading {name}")));
        try_join_all(each).await?
    };
    // Namespaces are read once, however many pools they have.
    let namespaces: BTreeSet<String> = pools.iter().filter_map(kube::ResourceExt::namespace).collect();
    let mut all = Vec::new();
    for namespace in namespaces {
        let foo_machines = list::<FooMachine>(client, &namespace).await?;
        let machines = list::<Machine>(client, &namespace).await?;
        for pool in pools.iter().filter(|pool| pool.namespace().as_ref() == Some(&namespace)) {
            all.push(facts(client, pool, &foo_machines, &machines).await?);
        }
    }
    Ok(all)
}

async fn list<K>(client: &Client, namespace: &str) -> Result<Vec<K>>
where
    K: kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>
        + Clone
        + std::fmt::Debug
        + serde::de::DeserializeOwned,
{
    let api: Api<K> = Api::namespaced(client.clone(), namespace);
    let listed = api.list(&ListParams::default()).await;
    Ok(listed.with_context(|| format!("listing {}s of namespace {namespace}", K::kind(&())))?.items)
}

async fn facts(
    client: &Client,
    pool: &FooMachinePool,
    foo_machines: &[FooMachine],
    machines: &[Machine],
) -> Result<Facts> {
    let uid = pool.uid().unwrap_or_default();
    let is_ours = |machine: &&FooMachine| machine.owner_references().iter().any(|owner| owner.uid == uid);
    let mut foo_machines: Vec<FooMachine> = foo_machines.iter().filter(is_ours).cloned().collect();
    foo_machines.sort_by_key(kube::ResourceExt::name_any);
    let names: BTreeSet<String> = foo_machines.iter().map(kube::ResourceExt::name_any).collect();
    let is_theirs = |machine: &&Machine| {
        machine.spec.infrastructure_ref.kind == FooMachine::kind(&()) && names.contains(&machine.name_any())
    };
    let mut machines: Vec<Machine> = machines.iter().filter(is_theirs).cloned().collect();
    machines.sort_by_key(kube::ResourceExt::name_any);
    let events: Api<Event> = Api::namespaced(client.clone(), &pool.namespace().unwrap_or_default());
    let about = ListParams::default().fields(&format!("involvedObject.uid={uid}"));
    let events = events.list(&about).await.context("listing events")?.items;
    Ok(Facts { pool: pool.clone(), foo_machines, machines, events })
}
