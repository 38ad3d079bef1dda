//! The components of a provider: the objects of deploy/ and the roles of the table, made its own.

use super::entries::Entry;
use crate::generate::rbac::{self, Provider};
use crate::sources::{label, read};
use crate::{generate, yaml};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Files of deploy/ that all providers are made from. The roles that differ are cut from the table instead.
const SHARED: [&str; 8] = [
    "deploy/manager/namespace.yaml",
    "deploy/rbac/service_account.yaml",
    "deploy/rbac/role_binding.yaml",
    "deploy/rbac/leader_election_role.yaml",
    "deploy/rbac/leader_election_role_binding.yaml",
    "deploy/rbac/diagnostics_roles.yaml",
    "deploy/manager/flow_schema.yaml",
    "deploy/manager/manager.yaml",
];

/// Those for the provider that calls AWS.
const FOR_AWS: [&str; 2] =
    ["deploy/rbac/identity_secrets_role.yaml", "deploy/rbac/identity_secrets_role_binding.yaml"];

pub(super) fn components(root: &Path, entry: &Entry, version: &str, image: &str) -> Result<String> {
    let mut shared = yaml::parse(&rbac::manager_role(entry.controllers))?;
    let for_aws: &[&str] = if entry.provider == Provider::Infrastructure { &FOR_AWS } else { &[] };
    for path in SHARED.iter().chain(for_aws) {
        shared.extend(yaml::parse(&read(root, path)?).with_context(|| format!("in {path}"))?);
    }
    rename(&mut shared, entry.prefix);
    for object in &mut shared {
        adapt(object, entry, &format!("{image}:{version}"));
    }
    let mut objects: Vec<Value> = generate::crds()?
        .into_iter()
        .filter(|crd| crd.pointer("/spec/group").and_then(Value::as_str) == Some(entry.group))
        .collect();
    objects.extend(shared);
    objects.extend(yaml::parse(&rbac::core_role(entry.provider))?);
    for name in entry.policies {
        objects.extend(yaml::parse(&read(root, &format!("deploy/policy/{name}"))?)?);
    }
    for name in entry.for_others {
        objects.extend(yaml::parse(&read(root, &format!("deploy/rbac/{name}"))?)?);
    }
    for object in &mut objects {
        label(object, entry.label);
    }
    sorted(&mut objects);
    yaml::documents(&objects)
}

/// clusterctl sorts by kind itself; a stable order of our own makes two releases comparable.
pub(super) fn sorted(objects: &mut [Value]) {
    objects.sort_by_key(|object| {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        (rank(&text("/kind")), text("/metadata/name"))
    });
}

fn rank(kind: &str) -> u8 {
    match kind {
        "Namespace" => 0,
        "CustomResourceDefinition" => 1,
        "ServiceAccount" => 2,
        "Role" | "ClusterRole" => 3,
        "RoleBinding" | "ClusterRoleBinding" => 4,
        _ => 5,
    }
}

/// Gives the objects, and whatever refers to them by name, the provider's prefix.
fn rename(objects: &mut [Value], prefix: &str) {
    let names: BTreeMap<String, String> = objects
        .iter()
        .filter_map(|object| object.pointer("/metadata/name")?.as_str())
        .filter_map(|name| Some((name.to_owned(), format!("{prefix}{}", name.strip_prefix("foo-")?))))
        .collect();
    for object in objects {
        replace(object, &names);
    }
}

fn replace(value: &mut Value, names: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            if let Some(new) = names.get(text) {
                text.clone_from(new);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, names)),
        Value::Object(map) => map.values_mut().for_each(|item| replace(item, names)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What a release has and `kubectl apply -k` cannot have: the provider's controllers, its image, clusterctl's variables.
fn adapt(object: &mut Value, entry: &Entry, image: &str) {
    match object.get("kind").and_then(Value::as_str) {
        Some("ServiceAccount") if entry.provider == Provider::Infrastructure => {
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                // IAM roles for service accounts; empty means none. The default is a pair of quotes because clusterctl
                // takes an empty default for none at all and then insists on a value.
                metadata.insert(
                    "annotations".to_owned(),
                    json!({"eks.amazonaws.com/role-arn": "${FOO_IAM_ROLE_ARN:=''}"}),
                );
            }
        }
        Some("Deployment") => {
            let path = "/spec/template/spec/containers/0";
            let Some(container) = object.pointer_mut(path).and_then(Value::as_object_mut) else { return };
            container.insert("image".to_owned(), json!(image));
            container.insert("imagePullPolicy".to_owned(), json!("IfNotPresent"));
            if entry.provider != Provider::Infrastructure {
                // It talks to Kubernetes only.
                if let Some(env) = container.get_mut("env").and_then(Value::as_array_mut) {
                    env.retain(|variable| variable.pointer("/valueFrom/secretKeyRef").is_none());
                }
            } else if let Some(env) = container.get_mut("env").and_then(Value::as_array_mut) {
                // As above, empty means none.
                env.push(json!({"name": "FOO_EVENTS_QUEUE_URL", "value": "${FOO_EVENTS_QUEUE_URL:=''}"}));
            }
            let flags: Vec<&str> = entry.controllers.iter().map(|controller| controller.flag()).collect();
            if let Some(args) = container.get_mut("args").and_then(Value::as_array_mut) {
                args.push(json!(format!("--controllers={}", flags.join(","))));
                args.push(json!(format!("--leader-election-id={}", entry.lease)));
                args.push(json!("--log-format=${FOO_LOG_FORMAT:=json}"));
            }
        }
        _ => {}
    }
}
