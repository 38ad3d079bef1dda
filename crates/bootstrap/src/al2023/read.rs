//! User data as nodeadm and cloud-init on Amazon Linux 2023 read it (amazon-eks-ami,
//! `nodeadm/internal/configprovider`).

use super::node_config::{API_VERSION, KIND, NodeConfig, Spec};
use super::write::{nodeadm_dns, waits};
use super::{CLOUD_CONFIG, NODE_CONFIG};
use crate::cloud_init::{CloudConfig, cloud_config};
use crate::merge;
use crate::mime::{self, Part};
use crate::packed::unpack;
use crate::seen::{self, Seen, Unreadable};
use crate::shell;
use crate::waiting;
use crate::yaml;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ipnet::IpNet;
use serde_json::{Map, Value};
use std::net::IpAddr;

/// What nodeadm and cloud-init take from user data.
pub(crate) fn read(user_data: &[u8]) -> Result<Seen, Unreadable> {
    let document = unwrap(user_data)?;
    let (configs, cloud) = match mime::read(&document)? {
        Some(parts) => of_parts(parts)?,
        None => (vec![decode(&document)?], CloudConfig::default()),
    };
    let spec = configs.into_iter().reduce(|first, second| merged(first, &second));
    let spec = spec.ok_or_else(|| Unreadable::new("could not find NodeConfig within UserData"))?;
    seen(spec, cloud)
}

/// nodeadm takes base64 and gzip for whole documents and for parts.
fn unwrap(bytes: &[u8]) -> Result<Vec<u8>, Unreadable> {
    let decoded = BASE64.decode(bytes);
    let bytes = decoded.as_deref().unwrap_or(bytes);
    unpack(bytes).map_err(|error| Unreadable::new(format!("failed to read from GZIP reader: {error}")))
}

fn of_parts(parts: Vec<Part>) -> Result<(Vec<Spec>, CloudConfig), Unreadable> {
    let mut configs = Vec::new();
    let mut cloud = CloudConfig::default();
    for part in parts {
        if part.media_type == NODE_CONFIG {
            configs.push(decode(&unwrap(&part.body)?)?);
        } else if part.media_type == CLOUD_CONFIG {
            cloud = cloud_config(&part.body)?;
        }
    }
    Ok((configs, cloud))
}

fn decode(bytes: &[u8]) -> Result<Spec, Unreadable> {
    let failure = |why: String| Unreadable::new(format!("failed to decode node config, {why}"));
    let text = std::str::from_utf8(bytes).map_err(|error| failure(error.to_string()))?;
    // What begins as JSON is read as JSON (apimachinery, `yaml.GuessJSONStream`).
    let config: NodeConfig = if text.trim_start().starts_with('{') {
        serde_json::from_str(text).map_err(|error| failure(error.to_string()))?
    } else {
        yaml::read(text).map_err(|error| failure(error.to_string()))?
    };
    if config.api_version != API_VERSION || config.kind != KIND {
        return Err(failure(format!("no kind {:?} is registered for {:?}", config.kind, config.api_version)));
    }
    Ok(config.spec)
}

/// The second over the first (`nodeadm/internal/api/merge.go`): what it does not set stays, flags are appended,
/// documents are merged.
fn merged(first: Spec, second: &Spec) -> Spec {
    let flags = [first.kubelet.flags.clone(), second.kubelet.flags.clone()].concat();
    let containerd = merged_toml(&first.containerd.config, &second.containerd.config);
    let value = |spec: &Spec| match serde_json::to_value(spec) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => Map::new(),
    };
    let mut both = value(&first);
    merge::deep(&mut both, value(second));
    let mut spec: Spec = serde_json::from_value(Value::Object(both)).unwrap_or(first);
    spec.kubelet.flags = flags;
    spec.containerd.config = containerd;
    spec
}

fn merged_toml(first: &str, second: &str) -> String {
    let fields = |text: &str| match text.parse::<toml::Table>().map(serde_json::to_value) {
        Ok(Ok(Value::Object(fields))) => fields,
        Ok(_) | Err(_) => Map::new(),
    };
    if first.is_empty() || second.is_empty() {
        return format!("{first}{second}");
    }
    let mut both = fields(first);
    merge::deep(&mut both, fields(second));
    toml::to_string(&both).unwrap_or_default()
}

fn seen(spec: Spec, cloud: CloudConfig) -> Result<Seen, Unreadable> {
    let cluster = &spec.cluster;
    for (value, what) in [
        (&cluster.name, "Name is missing in cluster configuration"),
        (&cluster.api_server_endpoint, "Apiserver endpoint is missing in cluster configuration"),
        (&cluster.certificate_authority, "Certificate authority is missing in cluster configuration"),
        (&cluster.cidr, "CIDR is missing in cluster configuration"),
    ] {
        if value.is_empty() {
            return Err(Unreadable::new(what));
        }
    }
    let authority = BASE64.decode(&cluster.certificate_authority);
    let authority = authority.map_err(|error| Unreadable::new(format!("illegal base64 data: {error}")))?;
    let range: IpNet = cluster
        .cidr
        .parse()
        .map_err(|_| Unreadable::new(format!("{} is not a valid IP Address", cluster.cidr)))?;
    let mut kubelet = spec.kubelet.config;
    let dns = dns(&mut kubelet).or_else(|| nodeadm_dns(&cluster.cidr));
    let mut labels = std::collections::BTreeMap::new();
    let mut taints = taints(&mut kubelet)?;
    for flag in &spec.kubelet.flags {
        match flag.split_once('=') {
            Some(("--node-labels", text)) => labels.extend(seen::labels(text)?),
            Some(("--register-with-taints", text)) => {
                taints = text.split(',').map(seen::taint).collect::<Result<_, _>>()?;
            }
            Some(_) | None => {}
        }
    }
    seen::check_labels(&labels)?;
    Ok(Seen {
        cluster: spec.cluster.name,
        endpoint: spec.cluster.api_server_endpoint,
        certificate_authority: authority,
        service_range: Some(range),
        dns,
        labels,
        taints,
        kubelet,
        join_when_in_service: [waits(), waiting::script()].iter().all(|it| shell::has(&cloud.files, it)),
        files: cloud.files,
        commands: cloud.commands,
    })
}

fn dns(kubelet: &mut Map<String, Value>) -> Option<IpAddr> {
    let addresses = kubelet.remove("clusterDNS")?;
    addresses.get(0)?.as_str()?.parse().ok()
}

fn taints(kubelet: &mut Map<String, Value>) -> Result<Vec<crate::Taint>, Unreadable> {
    let Some(value) = kubelet.remove("registerWithTaints") else { return Ok(Vec::new()) };
    let taints: Vec<crate::Taint> = serde_json::from_value(value)
        .map_err(|error| Unreadable::new(format!("invalid registerWithTaints: {error}")))?;
    taints.iter().try_for_each(seen::check_taint)?;
    Ok(taints)
}
