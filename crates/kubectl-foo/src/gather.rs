//! Reads the objects that pools are explained from.

use anyhow::{Context as _, Result, bail};
use foo_api::capi::Machine;
use foo_api::{FooMachine, FooMachinePool};
use k8s_openapi::api::core::v1::Event;
use kube::api::ListParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::DeserializeGuard;
use kube::{Api, Client, Config, Resource as _, ResourceExt as _};
use std::collections::BTreeSet;
use std::path::Path;

/// Objects in one answer.
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
    let pools: Vec<FooMachinePool> = list(client, namespace, unread).await?;
    if let Some(missing) = names.iter().find(|name| pools.iter().all(|pool| pool.name_any() != **name)) {
        bail!("FooMachinePool {missing} not found in namespace {}", namespace.unwrap_or_default());
    }
    let is_meant = |pool: &&FooMachinePool| names.is_empty() || names.contains(&pool.name_any());
    let pools: Vec<&FooMachinePool> = pools.iter().filter(is_meant).collect();
    // Namespaces are read once, however many pools they have.
    let namespaces: BTreeSet<String> = pools.iter().filter_map(|pool| pool.namespace()).collect();
    let mut all = Vec::new();
    for namespace in namespaces {
        let foo_machines: Vec<FooMachine> = list(client, Some(&namespace), unread).await?;
        let machines: Vec<Machine> = list(client, Some(&namespace), unread).await?;
        let events = match list::<Event>(client, Some(&namespace), unread).await {
            Ok(events) => events,
            // The rest of the explanation does not need them.
            Err(error) => {
                unread.push(format!("{error:#}"));
                Vec::new()
            }
        };
        for pool in pools.iter().filter(|pool| pool.namespace().as_ref() == Some(&namespace)) {
            all.push(facts(pool, &foo_machines, &machines, &events));
        }
    }
    Ok(all)
}

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
    let is_theirs = |machine: &&Machine| {
        machine.spec.infrastructure_ref.kind == FooMachine::kind(&()) && names.contains(&machine.name_any())
    };
    let mut machines: Vec<Machine> = machines.iter().filter(is_theirs).cloned().collect();
    machines.sort_by_key(kube::ResourceExt::name_any);
    let is_about = |event: &&Event| event.involved_object.uid.as_deref() == Some(uid.as_str());
    let events = events.iter().filter(is_about).cloned().collect();
    Facts { pool: pool.clone(), foo_machines, machines, events }
}
