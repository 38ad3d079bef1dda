//! A NodeConfig that the user wrote, which nodeadm merges over the provider's.
//!
//! nodeadm passes over fields that it does not know, so a misspelt one would do nothing: here it is refused.

use super::node_config::{API_VERSION, KIND, NodeConfig, Spec};
use crate::merge;
use crate::refusal::Refusals;
use crate::yaml;
use serde_json::{Map, Value, json};
use std::net::IpAddr;

/// The document, if it can be merged over the provider's.
pub(super) fn parse(text: &str, own: &Spec, refusals: &mut Refusals) -> Option<NodeConfig> {
    let document: Value = match yaml::read(text) {
        Ok(document) => document,
        Err(error) => {
            refusals.invalid("extra", format!("is not a NodeConfig in YAML: {error}"));
            return None;
        }
    };
    let config: NodeConfig = match serde_json::from_value(document.clone()) {
        Ok(config) => config,
        Err(error) => {
            refusals.invalid("extra", format!("is not a NodeConfig: {error}"));
            return None;
        }
    };
    if config.api_version != API_VERSION || config.kind != KIND {
        refusals.invalid("extra", format!("must have apiVersion {API_VERSION} and kind {KIND}"));
    }
    for path in merge::not_understood(&document, &understood(&config)) {
        refusals.invalid(format!("extra.{path}"), "is not a field of a NodeConfig");
    }
    values(&config.spec, refusals);
    conflicts(&config.spec, own, refusals);
    Some(config)
}

/// What was read of the document. Groups of fields are there even if nothing in them was: then it is the field that is
/// unknown, not its group.
fn understood(config: &NodeConfig) -> Value {
    let instance = json!({"localStorage": {}, "environment": {}, "network": {}});
    let spec =
        json!({"cluster": {}, "containerd": {}, "instance": instance, "kubelet": {}, "featureGates": {}});
    let mut groups = Map::new();
    groups.insert("spec".into(), spec);
    if let Ok(Value::Object(read)) = serde_json::to_value(config) {
        merge::deep(&mut groups, read);
    }
    Value::Object(groups)
}

/// Values that nodeadm does not check, or checks only on the node.
fn values(spec: &Spec, refusals: &mut Refusals) {
    let storage = &spec.instance.local_storage;
    if !matches!(storage.strategy.as_str(), "" | "RAID0" | "RAID10" | "Mount") {
        refusals.invalid("extra.spec.instance.localStorage.strategy", "must be RAID0, RAID10 or Mount");
    }
    if !storage.disabled_mounts.iter().all(|it| matches!(it.as_str(), "Containerd" | "PodLogs" | "SOCI")) {
        refusals.invalid(
            "extra.spec.instance.localStorage.disabledMounts",
            "must be Containerd, PodLogs or SOCI",
        );
    }
    if let Some(other) = spec.instance.network.nameservers.iter().find(|it| it.parse::<IpAddr>().is_err()) {
        refusals
            .invalid("extra.spec.instance.network.nameservers", format!("{other:?} is not an IP address"));
    }
    for gate in spec.feature_gates.keys() {
        let field = format!("extra.spec.featureGates.{gate}");
        match gate.as_str() {
            "FastImagePull" => {}
            "InstanceIdNodeName" => refusals.unsupported(
                field,
                "nodes join by an access entry of the type EC2_LINUX, which allows only Nodes that are named by \
                 the private DNS name of their instance",
            ),
            _ => refusals.invalid(field, "is not a feature gate of nodeadm"),
        }
    }
    if let Err(error) = spec.containerd.config.parse::<toml::Table>() {
        refusals.invalid("extra.spec.containerd.config", format!("is not TOML: {}", error.message()));
    }
}

fn conflicts(user: &Spec, own: &Spec, refusals: &mut Refusals) {
    let value = |spec: &Spec| {
        let mut value = serde_json::to_value(spec).unwrap_or_default();
        // Flags are appended, not replaced.
        if let Some(kubelet) = value.get_mut("kubelet").and_then(Value::as_object_mut) {
            kubelet.remove("flags");
        }
        value
    };
    let mut user_value = value(user);
    if user_value.get("cluster").is_some() {
        refusals.set_twice("extra.spec.cluster", "is set by the provider, from the control plane");
        user_value.as_object_mut().map(|spec| spec.remove("cluster"));
    }
    for path in merge::in_both(&value(own), &user_value) {
        refusals.set_twice(format!("extra.spec.{path}"), "is set by another field of the spec");
    }
    for flag in &user.kubelet.flags {
        let name = flag.split(['=', ' ']).next().unwrap_or_default();
        let instead = match name {
            "--node-labels" => "labels",
            "--register-with-taints" => "taints",
            _ => continue,
        };
        refusals.unsupported("extra.spec.kubelet.flags", format!("set {instead} instead of {name}"));
    }
}
