//! What the provider writes for Amazon Linux 2023.

use super::node_config::{ClusterDetails, Containerd, Instance, Kubelet, LocalStorage, Spec};
use crate::common::Common;
use crate::input::{self, FileInput, MirrorInput, NodeInput};
use crate::json::{self, Reader};
use crate::refusal::Refusals;
use crate::shell;
use crate::waiting::{self, Modules};
use serde_json::{Map, Value, json};
use std::net::IpAddr;

/// The unit that runs when the kubelet was started.
const UNIT: &str = "/etc/systemd/system/foo-node-started.service";
/// What it runs.
const SCRIPT: &str = "/etc/foo-node/started.sh";
/// Adds to the unit that starts the kubelet.
const DROP_IN: &str = "/etc/systemd/system/nodeadm-run.service.d/foo-node.conf";

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
pub(super) fn own_files(common: &Common, node: &NodeInput) -> Vec<String> {
    let mirrors = common.mirrors.iter().map(mirror_path);
    mirrors.chain(own(node).into_iter().map(|file| file.path)).collect()
}

fn own(node: &NodeInput) -> Vec<FileInput> {
    let mut files = vec![shell::fixed(SCRIPT, "0755", script(node)), shell::fixed(UNIT, "0644", unit(node))];
    if node.join_when_in_service {
        files.extend([waiting::script(), waits()]);
    }
    files
}

/// Has nodeadm wait at each boot before it starts the kubelet.
pub(super) fn waits() -> FileInput {
    shell::fixed(DROP_IN, "0644", format!("[Service]\n{}", waiting::exec_start_pre()))
}

/// Files and commands.
pub(super) fn cloud_config(common: &Common, node: &NodeInput) -> String {
    let unit = UNIT.rsplit('/').next().unwrap_or(UNIT);
    let mirrors: Vec<FileInput> = common.mirrors.iter().map(mirror).collect();
    let files: Vec<Value> = mirrors.iter().chain(&node.files).chain(&own(node)).map(shell::file).collect();
    let pre = node.pre_commands.iter().map(|text| shell::command(text));
    let mut commands: Vec<Value> = Vec::new();
    let mut config = Map::new();
    if node.join_when_in_service {
        // nodeadm starts the kubelet after cloud-init, also if that fails. So it has to wait before a command of the user can
        // end cloud-init.
        commands.push(shell::reload());
        commands.extend(pre);
        commands.extend(waiting::end(unit));
        config.insert("bootcmd".into(), json!([waiting::begin(Modules::FilesAndCommands)]));
    } else {
        commands.extend(pre);
        commands.push(shell::reload());
        // Its turn comes after nodeadm, which waits for cloud-init: waiting for it here would never end.
        commands.push(json!(["systemctl", "start", "--no-block", unit]));
    }
    config.insert("write_files".into(), files.into());
    config.insert("runcmd".into(), commands.into());
    format!("#cloud-config\n{}", json::print(&Value::Object(config), Reader::Yaml))
}

/// `nodeadm-run.service` starts the kubelet and ends.
fn unit(node: &NodeInput) -> String {
    let (once, every_boot) = if node.join_when_in_service {
        (waiting::unless_joined(), "[Install]\nWantedBy=multi-user.target\n")
    } else {
        (String::new(), "")
    };
    format!(
        "[Unit]\nDescription=Reports that the node was started, and runs its commands\n\
         After=nodeadm-run.service kubelet.service\n{once}\
         [Service]\nType=oneshot\nExecStart={SCRIPT}\n{every_boot}"
    )
}

/// Writes Cluster API's sentinel once the kubelet runs, then runs the user's commands.
fn script(node: &NodeInput) -> String {
    let sentinel = shell::SENTINEL;
    let directory = sentinel.rsplit_once('/').map_or("/", |(directory, _)| directory);
    let joined =
        if node.join_when_in_service { format!("touch {}\n", waiting::JOINED) } else { String::new() };
    format!(
        "#!/bin/sh\nsystemctl is-active --quiet kubelet.service || exit 1\nmkdir -p {directory}\n\
         echo success > {sentinel}\n{joined}{}",
        shell::post_commands(node)
    )
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
    shell::fixed(&mirror_path(mirror), "0644", text)
}
