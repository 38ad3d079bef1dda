//! User data as Bottlerocket reads it (bottlerocket-core-kit, `early-boot-config`; Bottlerocket settings SDK).

use super::{WAITS, extra};
use crate::common::{Taint, is_cluster_name};
use crate::kubelet;
use crate::packed::unpack;
use crate::seen::{self, Seen, Unreadable};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What Bottlerocket takes from user data.
pub(crate) fn read(user_data: &[u8]) -> Result<Seen, Unreadable> {
    let unpacked = unpack(user_data)
        .map_err(|error| Unreadable::new(format!("Failed to decompress user data: {error}")))?;
    let text = String::from_utf8(unpacked)
        .map_err(|error| Unreadable::new(format!("Failed to decompress user data: {error}")))?;
    let settings = extra::parse(&text)
        .map_err(|message| Unreadable::new(format!("Error parsing TOML user data: {message}")))?;
    if let Some(unknown) = extra::unknown(&settings).first() {
        return Err(Unreadable::new(format!("unknown field `settings.{unknown}`")));
    }
    let empty = Map::new();
    let group = |name: &str| settings.get(name).and_then(Value::as_object).unwrap_or(&empty);
    seen(group("kubernetes"), group("autoscaling"))
}

fn seen(kubernetes: &Map<String, Value>, autoscaling: &Map<String, Value>) -> Result<Seen, Unreadable> {
    let cluster = text(kubernetes, "cluster-name")?;
    if !is_cluster_name(&cluster) {
        return Err(Unreadable::new(format!("Invalid cluster name '{cluster}'")));
    }
    let authority = BASE64
        .decode(text(kubernetes, "cluster-certificate")?)
        .map_err(|error| Unreadable::new(format!("Invalid base64 input: {error}")))?;
    let labels: BTreeMap<String, String> = map(kubernetes, "node-labels")?;
    seen::check_labels(&labels)?;
    Ok(Seen {
        cluster,
        endpoint: text(kubernetes, "api-server")?,
        certificate_authority: authority,
        service_range: None,
        dns: dns(kubernetes)?,
        labels,
        taints: taints(kubernetes)?,
        kubelet: kubelet::from_bottlerocket(kubernetes),
        join_when_in_service: autoscaling.get(WAITS) == Some(&Value::Bool(true)),
        files: Vec::new(),
        commands: Vec::new(),
    })
}

fn text(kubernetes: &Map<String, Value>, name: &str) -> Result<String, Unreadable> {
    let value = kubernetes.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    value.map(str::to_owned).ok_or_else(|| {
        Unreadable::new(format!("settings.kubernetes.{name} is missing: the kubelet cannot join"))
    })
}

fn map<T: serde::de::DeserializeOwned + Default>(
    kubernetes: &Map<String, Value>,
    name: &str,
) -> Result<T, Unreadable> {
    let Some(value) = kubernetes.get(name) else { return Ok(T::default()) };
    serde_json::from_value(value.clone())
        .map_err(|error| Unreadable::new(format!("settings.kubernetes.{name}: {error}")))
}

/// One address, or a list of which Pods are given all.
fn dns(kubernetes: &Map<String, Value>) -> Result<Option<std::net::IpAddr>, Unreadable> {
    let first = match kubernetes.get("cluster-dns-ip") {
        None => return Ok(None),
        Some(Value::Array(addresses)) => addresses.first(),
        Some(address) => Some(address),
    };
    let address = first.and_then(Value::as_str).and_then(|text| text.parse().ok());
    address
        .map(Some)
        .ok_or_else(|| Unreadable::new("settings.kubernetes.cluster-dns-ip: invalid IP address syntax"))
}

fn taints(kubernetes: &Map<String, Value>) -> Result<Vec<Taint>, Unreadable> {
    let taints: BTreeMap<String, Vec<String>> = map(kubernetes, "node-taints")?;
    let each =
        taints.iter().flat_map(|(key, values)| values.iter().map(move |value| format!("{key}={value}")));
    each.map(|text| seen::taint(&text)).collect()
}
