//! What a user gives to others who are to help: objects of the management cluster, events, and which versions run.
//! Secrets are not read. What may be secret in other objects is replaced: see [`redacted`].

use crate::access::{Listed, Reads};
use crate::events::{self, Moment};
use crate::text::is_in;
use foo_api::capi::{Cluster, Machine, MachinePool};
use foo_api::{FooCluster, FooControlPlane, FooMachine, FooMachinePool, FooNodeConfig};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::ListParams;
use kube::core::NamespaceResourceScope;
use kube::{Resource, ResourceExt as _};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// Stands for a text that may be secret.
const REDACTED: &str = "REDACTED";
/// Domains whose annotations have a known meaning, with all below them.
const DOMAINS: [&str; 2] = ["foo.com", "x-k8s.io"];
/// The fields of a FooNodeConfig that are not written to disks of Nodes: of all others the texts are replaced.
const OF_NODE_CONFIGS: [&str; 5] = ["family", "cluster", "labels", "taints", "compression"];
/// Fields with a value of any form, whose texts are replaced in every kind.
const FREE_FORM: [&str; 1] = ["configurationValues"];
/// Label of the Deployments that clusterctl has installed.
const PROVIDER_LABEL: &str = "cluster.x-k8s.io/provider";

/// A bundle.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bundle {
    /// Version of the plugin.
    pub plugin: &'static str,
    /// When the objects were read.
    pub taken_at: Timestamp,
    /// The namespace; absent for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// What could not be read, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<String>,
    /// The providers of Cluster API in all namespaces.
    pub providers: Vec<Provider>,
    /// Objects by kind.
    pub objects: BTreeMap<String, Vec<Value>>,
    /// Kubernetes events about objects of this provider and of Cluster API, oldest first.
    pub events: Vec<Moment>,
}

/// A Deployment of a provider.
#[derive(Clone, Debug, Serialize)]
pub struct Provider {
    /// `<namespace>/<name>`.
    pub deployment: String,
    /// Images of its containers.
    pub images: Vec<String>,
    /// Pods that are ready.
    pub ready: i32,
    /// Pods that are requested.
    pub replicas: i32,
}

/// Reads everything. What cannot be read is a warning, and is named in the bundle.
pub async fn read(reads: &Reads<'_>, now: Timestamp) -> Bundle {
    let of_providers = ListParams::default().labels(PROVIDER_LABEL);
    let (clusters, networks, control_planes, pools, foo_machines, node_configs, machine_pools, machines) = tokio::join!(
        objects::<Cluster>(reads),
        objects::<FooCluster>(reads),
        objects::<FooControlPlane>(reads),
        objects::<FooMachinePool>(reads),
        objects::<FooMachine>(reads),
        objects::<FooNodeConfig>(reads),
        objects::<MachinePool>(reads),
        objects::<Machine>(reads),
    );
    let (timeline, deployments) =
        tokio::join!(events::read(reads, &[]), reads.list_with::<Deployment>(None, of_providers));
    let lists =
        [clusters, networks, control_planes, pools, foo_machines, node_configs, machine_pools, machines];
    let mut incomplete = Vec::new();
    let mut found = BTreeMap::new();
    for (kind, list) in lists {
        match list {
            Ok(list) => drop(found.insert(kind, list)),
            Err(error) => incomplete.push(format!("{error:#}")),
        }
    }
    let mut noted = |error: anyhow::Error| incomplete.push(format!("{error:#}"));
    let timeline = timeline.map_err(&mut noted).map(|timeline| timeline.events).unwrap_or_default();
    let deployments = deployments.map_err(&mut noted).unwrap_or_default();
    for error in &incomplete {
        reads.warn(error.clone());
    }
    Bundle {
        plugin: env!("CARGO_PKG_VERSION"),
        taken_at: now,
        namespace: reads.namespace.map(str::to_owned),
        incomplete,
        providers: deployments.iter().map(provider).collect(),
        objects: found,
        events: timeline
            .into_iter()
            .map(|moment| Moment { message: without_credentials(&moment.message), ..moment })
            .collect(),
    }
}

fn provider(deployment: &Deployment) -> Provider {
    let containers = deployment.spec.as_ref().and_then(|spec| Some(&spec.template.spec.as_ref()?.containers));
    let images = containers.into_iter().flatten().filter_map(|container| container.image.clone());
    let status = deployment.status.clone().unwrap_or_default();
    Provider {
        deployment: format!("{}/{}", deployment.namespace().unwrap_or_default(), deployment.name_any()),
        images: images.collect(),
        ready: status.ready_replicas.unwrap_or_default(),
        replicas: deployment.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1),
    }
}

/// Kind, and all objects of it, redacted.
async fn objects<K: Listed>(reads: &Reads<'_>) -> (String, anyhow::Result<Vec<Value>>) {
    let kind = K::kind(&()).into_owned();
    let list = reads.list::<Whole<K>>(None).await;
    (kind, list.map(|list| list.into_iter().map(redacted).collect()))
}

/// An object of kind `K` with all its fields, also those that this plugin does not know.
#[derive(Clone, Debug, Deserialize)]
#[serde(bound = "")]
struct Whole<K> {
    metadata: ObjectMeta,
    #[serde(flatten)]
    rest: Map<String, Value>,
    #[serde(skip)]
    kind: PhantomData<K>,
}

impl<K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>> Resource for Whole<K> {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        K::kind(&())
    }

    fn group((): &()) -> Cow<'_, str> {
        K::group(&())
    }

    fn version((): &()) -> Cow<'_, str> {
        K::version(&())
    }

    fn plural((): &()) -> Cow<'_, str> {
        K::plural(&())
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

/// The object without texts that may be secret: values of annotations of other domains (kubectl keeps a copy of the whole
/// object in one), what a FooNodeConfig writes to disks, values of variables of a ClusterClass, configuration of add-ons of
/// EKS, and credentials by their form wherever they are.
fn redacted<K: Listed>(object: Whole<K>) -> Value {
    let Whole { mut metadata, mut rest, .. } = object;
    metadata.managed_fields = None;
    for (name, value) in metadata.annotations.iter_mut().flatten() {
        let domain = name.split_once('/').map(|(domain, _)| domain).unwrap_or_default();
        if !DOMAINS.into_iter().any(|known| is_in(domain, known)) {
            REDACTED.clone_into(value);
        }
    }
    if K::kind(&()) == FooNodeConfig::kind(&())
        && let Some(spec) = rest.get_mut("spec").and_then(Value::as_object_mut)
    {
        let hidden = spec.iter_mut().filter(|(field, _)| !OF_NODE_CONFIGS.contains(&field.as_str()));
        hidden.for_each(|(_, value)| hide(value));
    }
    rest.values_mut().for_each(|value| each_object(value, &free_form));
    if let Some(topology) = rest.get_mut("spec").and_then(|spec| spec.get_mut("topology")) {
        each_object(topology, &variable);
    }
    rest.insert("apiVersion".to_owned(), K::api_version(&()).into());
    rest.insert("kind".to_owned(), K::kind(&()).into());
    rest.insert("metadata".to_owned(), json!(metadata));
    let mut whole = Value::Object(rest);
    texts(&mut whole, &without_credentials);
    whole
}

/// Changes every object in a value.
fn each_object(value: &mut Value, change: &impl Fn(&mut Map<String, Value>)) {
    match value {
        Value::Object(fields) => {
            change(fields);
            fields.values_mut().for_each(|field| each_object(field, change));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each_object(item, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Replaces the value of a variable, and of an override of one.
fn variable(fields: &mut Map<String, Value>) {
    if fields.contains_key("name")
        && let Some(value) = fields.get_mut("value")
    {
        hide(value);
    }
}

/// Replaces the texts of fields that may have a value of any form.
fn free_form(fields: &mut Map<String, Value>) {
    for field in FREE_FORM {
        fields.get_mut(field).into_iter().for_each(hide);
    }
}

/// Replaces every text in a value.
fn hide(value: &mut Value) {
    texts(value, &|_| REDACTED.to_owned());
}

/// Changes every text in a value; the names of fields stay.
fn texts(value: &mut Value, change: &impl Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| texts(item, change)),
        Value::Object(fields) => fields.iter_mut().for_each(|(_, field)| texts(field, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text without words that have the form of a credential.
fn without_credentials(text: &str) -> String {
    if text.contains("PRIVATE KEY-----") {
        return REDACTED.to_owned();
    }
    let is_inside = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.find(|character| !is_inside(character)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word);
        shown.push_str(if is_credential(word) { REDACTED } else { word });
        let between = after.find(is_inside).unwrap_or(after.len());
        let (between, after) = after.split_at(between);
        shown.push_str(between);
        rest = after;
    }
    shown
}

/// Whether a word has the form of an access key id of AWS, a token of an EKS cluster, or a JSON Web Token.
fn is_credential(word: &str) -> bool {
    let is_key = word.len() == 20 && (word.starts_with("AKIA") || word.starts_with("ASIA"));
    let is_web_token = word.starts_with("eyJ") && word.split('.').count() == 3;
    is_key || is_web_token || word.starts_with("k8s-aws-v1.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::CustomResourceExt as _;

    #[test]
    fn credentials_are_known_by_their_form() {
        let redacted = [
            ("user AKIAIOSFODNN7EXAMPLE is denied", "user REDACTED is denied"),
            ("\"k8s-aws-v1.aHR0cHM\": expired", "\"REDACTED\": expired"),
            ("Bearer eyJhbGciOi.eyJzdWIi.c2ln", "Bearer REDACTED"),
            ("user/AKIAIOSFODNN7EXAMPLE", "user/REDACTED"),
            ("id=ASIAIOSFODNN7EXAMPLE+x", "id=REDACTED+x"),
            ("-----BEGIN RSA PRIVATE KEY-----\nx", "REDACTED"),
        ];
        for (text, expected) in redacted {
            assert_eq!(without_credentials(text), expected);
        }
        for text in ["arn:aws:iam::123456789012:role/nodes, ip-10-0-1-2: 3 of 4 – AKIA", "", "ü"] {
            assert_eq!(without_credentials(text), text);
        }
    }

    #[test]
    fn every_field_of_any_form_is_redacted() {
        let kinds = [
            FooCluster::crd(),
            FooControlPlane::crd(),
            FooMachinePool::crd(),
            FooMachine::crd(),
            FooNodeConfig::crd(),
        ];
        let mut found = Vec::new();
        for kind in kinds {
            of_any_form("", &json!(kind), &mut found);
        }
        assert!(!found.is_empty(), "the schemas are read wrongly");
        found.retain(|field| !FREE_FORM.contains(&field.as_str()));
        assert_eq!(found, Vec::<String>::new());
    }

    /// The names of the fields below whose schema keeps unknown fields.
    fn of_any_form(name: &str, below: &Value, found: &mut Vec<String>) {
        match below {
            Value::Object(fields) => {
                if fields.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true)) {
                    found.push(name.to_owned());
                }
                fields.iter().for_each(|(name, field)| of_any_form(name, field, found));
            }
            Value::Array(items) => items.iter().for_each(|item| of_any_form(name, item, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn texts_of_fields_of_any_form_are_replaced_wherever_they_are() {
        let mut spec = json!({"addons": [{"name": "a", "configurationValues": {"x": ["s"], "n": 3}}]});
        each_object(&mut spec, &free_form);
        let expected = json!({"addons": [{"name": "a", "configurationValues": {"x": [REDACTED], "n": 3}}]});
        assert_eq!(spec, expected);
    }
}
