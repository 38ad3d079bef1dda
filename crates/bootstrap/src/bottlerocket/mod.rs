//! Bottlerocket: settings in TOML. There is no shell and no file that a user could write.

mod extra;
mod names;
mod read;

pub(crate) use read::read;

use crate::common::Common;
use crate::input::{LocalStorage, NodeInput};
use crate::kubelet;
use crate::refusal::Refusals;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Of the group `autoscaling`: whether the kubelet waits until the target lifecycle state of the instance is `InService`.
const WAITS: &str = "should-wait";

/// The whole document.
pub(crate) fn render(common: &Common, node: &NodeInput, refusals: &mut Refusals) -> Option<String> {
    refuse_shell(node, refusals);
    let mut settings = settings(common);
    settings.extend(node.local_storage.map(local_storage));
    if node.join_when_in_service {
        // At its first boot, before the kubelet starts (bottlerocket-core-kit, `warm-pool-wait.service`).
        settings.insert("autoscaling".into(), json!({WAITS: true}));
    }
    if let Some(text) = &node.extra {
        extra::merge(&mut settings, text, refusals)?;
    }
    let mut document = toml::Table::new();
    document.insert("settings".into(), to_toml(&Value::Object(settings))?);
    toml::to_string(&document).ok()
}

fn refuse_shell(node: &NodeInput, refusals: &mut Refusals) {
    if !node.files.is_empty() {
        refusals
            .unsupported("files", "Bottlerocket writes no files; it has settings for most things: use extra");
    }
    for (field, commands) in [("preCommands", &node.pre_commands), ("postCommands", &node.post_commands)] {
        if !commands.is_empty() {
            refusals.unsupported(
                field,
                "Bottlerocket has no shell; set settings.bootstrap-commands or settings.bootstrap-containers in extra",
            );
        }
    }
    if node.containerd.is_some() {
        refusals.unsupported(
            "containerd",
            "Bottlerocket writes containerd's configuration; set settings.container-runtime in extra",
        );
    }
}

/// The provider's settings (Bottlerocket settings SDK, `settings-extensions/kubernetes`, `container-registry`).
fn settings(common: &Common) -> Map<String, Value> {
    let cluster = &common.cluster;
    let mut kubernetes = kubelet::to_bottlerocket(&common.kubelet);
    let mut set = |name: &str, value: Value| kubernetes.insert(name.to_owned(), value);
    set("cluster-name", json!(cluster.name));
    set("api-server", json!(cluster.endpoint));
    set("cluster-certificate", json!(cluster.authority_base64()));
    // Otherwise it asks EKS for it, which the node's role may not be allowed to do.
    set("cluster-dns-ip", json!(cluster.dns.to_string()));
    if !common.labels.is_empty() {
        set("node-labels", json!(common.labels));
    }
    if !common.taints.is_empty() {
        let mut taints: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for taint in &common.taints {
            taints.entry(&taint.key).or_default().push(format!("{}:{}", taint.value, taint.effect));
        }
        set("node-taints", json!(taints));
    }
    let mut settings = Map::new();
    settings.insert("kubernetes".into(), Value::Object(kubernetes));
    if !common.mirrors.is_empty() {
        let mirrors: Vec<Value> = common
            .mirrors
            .iter()
            .map(|mirror| json!({"registry": mirror.registry, "endpoint": mirror.endpoints}))
            .collect();
        settings.insert("container-registry".into(), json!({"mirrors": mirrors}));
    }
    settings
}

/// Before other commands of the boot, which run in the order of their names (Bottlerocket, "Bootstrap Commands": "Configure
/// ephemeral disks"). Without disks the commands do nothing.
fn local_storage(storage: LocalStorage) -> (String, Value) {
    let commands = match storage {
        LocalStorage::Raid0 => json!([
            ["apiclient", "ephemeral-storage", "init"],
            [
                "apiclient",
                "ephemeral-storage",
                "bind",
                "--dirs",
                "/var/lib/containerd",
                "/var/lib/kubelet",
                "/var/log/pods"
            ],
        ]),
    };
    let command = json!({"commands": commands, "mode": "always", "essential": true});
    ("bootstrap-commands".into(), json!({"000-local-storage": command}))
}

/// In the order of names, whatever the features of the crates: the same settings are the same bytes.
fn to_toml(value: &Value) -> Option<toml::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(value) => toml::Value::Boolean(*value),
        Value::Number(number) => match number.as_i64() {
            Some(number) => toml::Value::Integer(number),
            None => toml::Value::Float(number.as_f64()?),
        },
        Value::String(text) => toml::Value::String(text.clone()),
        Value::Array(items) => toml::Value::Array(items.iter().map(to_toml).collect::<Option<_>>()?),
        Value::Object(fields) => {
            let sorted: BTreeMap<&String, &Value> = fields.iter().collect();
            let entry = |(name, value): (&String, &Value)| Some((name.clone(), to_toml(value)?));
            toml::Value::Table(sorted.into_iter().map(entry).collect::<Option<_>>()?)
        }
    })
}
