//! What the provider writes for Amazon Linux 2023.

use super::node_config::{ClusterDetails, Containerd, Instance, Kubelet, LocalStorage, Spec};
use crate::common::Common;
use crate::input::{self, FileInput, MirrorInput, NodeInput};
use crate::json::{self, Reader};
use crate::refusal::Refusals;
use crate::shell;
use crate::syntax;
use serde_json::{Value, json};
use std::net::IpAddr;

/// The unit that runs when the kubelet was started.
const UNIT: &str = "/etc/systemd/system/foo-node-started.service";
/// What it runs.
const SCRIPT: &str = "/etc/foo-node/started.sh";

/// The provider's part of the NodeConfig.
pub(super) fn spec(common: &Common, node: &NodeInput, refusals: &mut Refusals) -> Spec {
    let cluster = &common.cluster;
    let cidr = cluster.service_range.to_string();
    let mut config = common.kubelet.clone();
    if nodeadm_dns(&cidr) != Some(cluster.dns) {
        config.insert("clusterDNS".into(), json!([cluster.dns.to_string()]));
    }
    if !common.taints.is_empty() {
        let taint = |it: &crate::Taint| json!({"key": it.key, "value": it.value, "effect": it.effect});
        config.insert("registerWithTaints".into(), common.taints.iter().map(taint).collect());
    }
    Spec {
        cluster: ClusterDetails {
            name: cluster.name.clone(),
            api_server_endpoint: cluster.endpoint.clone(),
            certificate_authority: cluster.authority_base64(),
            cidr,
            ..ClusterDetails::default()
        },
        containerd: Containerd { config: containerd(node, refusals), ..Containerd::default() },
        instance: Instance { local_storage: local_storage(node), ..Instance::default() },
        kubelet: Kubelet { config, flags: labels_flag(common), ..Kubelet::default() },
        ..Spec::default()
    }
}

fn local_storage(node: &NodeInput) -> LocalStorage {
    match node.local_storage {
        None => LocalStorage::default(),
        Some(input::LocalStorage::Raid0) => {
            LocalStorage { strategy: "RAID0".into(), ..LocalStorage::default() }
        }
    }
}

/// KubeletConfiguration has no field for labels.
fn labels_flag(common: &Common) -> Vec<String> {
    if common.labels.is_empty() {
        return Vec::new();
    }
    let labels: Vec<String> = common.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    vec![format!("--node-labels={}", labels.join(","))]
}

fn containerd(node: &NodeInput, refusals: &mut Refusals) -> String {
    let text = node.containerd.clone().unwrap_or_default();
    if let Err(error) = text.parse::<toml::Table>() {
        refusals.invalid("containerd", format!("is not TOML: {}", error.message()));
    }
    text
}

/// The address that nodeadm takes for the cluster's DNS: it works on the text of the range (`GetClusterDns` in
/// `internal/api/net.go`), which is right for the usual ranges only.
pub(super) fn nodeadm_dns(cidr: &str) -> Option<IpAddr> {
    let derived = if cidr.contains(':') {
        format!("{}a", cidr.split('/').next()?)
    } else {
        format!("{}.10", cidr.rsplit_once('.')?.0)
    };
    derived.parse().ok()
}

/// Paths of the files in [`cloud_config`] that are not the user's.
pub(super) fn own_files(common: &Common) -> Vec<String> {
    let mirrors = common.mirrors.iter().map(mirror_path);
    mirrors.chain([SCRIPT.to_owned(), UNIT.to_owned()]).collect()
}

/// Files and commands.
pub(super) fn cloud_config(common: &Common, node: &NodeInput) -> String {
    let unit = UNIT.rsplit('/').next().unwrap_or(UNIT);
    let mirrors: Vec<FileInput> = common.mirrors.iter().map(mirror).collect();
    let own = [fixed(SCRIPT, "0755", script(node)), fixed(UNIT, "0644", UNIT_TEXT.to_owned())];
    let files: Vec<Value> = mirrors.iter().chain(&node.files).chain(&own).map(shell::file).collect();
    let mut commands: Vec<Value> = node.pre_commands.iter().map(|text| shell::command(text)).collect();
    commands.push(json!(["systemctl", "daemon-reload"]));
    // Its turn comes after nodeadm, which waits for cloud-init: waiting for it here would never end.
    commands.push(json!(["systemctl", "start", "--no-block", unit]));
    let config = json!({"write_files": files, "runcmd": commands});
    format!("#cloud-config\n{}", json::print(&config, Reader::Yaml))
}

fn fixed(path: &str, permissions: &str, text: String) -> FileInput {
    FileInput {
        path: path.into(),
        owner: None,
        permissions: Some(permissions.into()),
        content: text.into_bytes(),
    }
}

/// `nodeadm-run.service` starts the kubelet and ends.
const UNIT_TEXT: &str = "\
[Unit]
Description=Reports that the node was started, and runs its commands
After=nodeadm-run.service kubelet.service
[Service]
Type=oneshot
ExecStart=/etc/foo-node/started.sh
";

/// Writes Cluster API's sentinel once the kubelet runs, then runs the user's commands; each is a shell of its own.
fn script(node: &NodeInput) -> String {
    let sentinel = shell::SENTINEL;
    let directory = sentinel.rsplit_once('/').map_or("/", |(directory, _)| directory);
    let mut script = format!(
        "#!/bin/sh\nsystemctl is-active --quiet kubelet.service || exit 1\nmkdir -p {directory}\necho success > {sentinel}\n"
    );
    for command in &node.post_commands {
        script.push_str("/bin/sh -c ");
        script.push_str(&syntax::shell_word(command));
        script.push('\n');
    }
    script
}

/// Where nodeadm's containerd finds mirrors of a registry (`config_path` in its `config.template.toml`).
fn mirror_path(mirror: &MirrorInput) -> String {
    let registry = if mirror.registry == "*" { "_default" } else { &mirror.registry };
    format!("/etc/containerd/certs.d/{registry}/hosts.toml")
}

/// containerd, "Registry Configuration": hosts are tried in the order of the file, then the registry.
fn mirror(mirror: &MirrorInput) -> FileInput {
    let host = |url: &String| format!("[host.\"{url}\"]\n  capabilities = [\"pull\", \"resolve\"]\n");
    let text: String = mirror.endpoints.iter().map(host).collect();
    fixed(&mirror_path(mirror), "0644", text)
}
