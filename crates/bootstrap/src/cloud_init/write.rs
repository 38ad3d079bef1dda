//! What the provider writes for images with cloud-init.

use super::{BOOTSTRAP, joining};
use crate::common::Common;
use crate::input::NodeInput;
use crate::json::{self, Reader};
use crate::kubelet;
use crate::refusal::Refusals;
use crate::shell;
use crate::waiting::{self, Modules};
use crate::yaml;
use serde_json::{Map, Value};

/// The whole document.
pub(crate) fn render(common: &Common, node: &NodeInput, refusals: &mut Refusals) -> Option<String> {
    let join = join(common, node);
    let own = if node.join_when_in_service { joining::files(&join, node).to_vec() } else { Vec::new() };
    let paths: Vec<String> = own.iter().map(|file| file.path.clone()).collect();
    shell::check(node, &paths, refusals);
    if node.containerd.is_some() {
        refusals.unsupported(
            "containerd",
            "for the family CloudInit the image has containerd's configuration: write that file with files",
        );
    }
    if node.local_storage.is_some() {
        refusals.unsupported(
            "localStorage",
            "for the family CloudInit no program of the image sets up local disks: use preCommands",
        );
    }
    let mut config = match &node.extra {
        Some(text) => extra(text, refusals)?,
        None => Map::new(),
    };
    let files: Vec<Value> = node.files.iter().chain(&own).map(shell::file).collect();
    if !files.is_empty() {
        config.insert("write_files".into(), files.into());
    }
    let pre = node.pre_commands.iter().map(|text| shell::command(text));
    if node.join_when_in_service {
        let bootcmd = begin(config.remove("bootcmd"), refusals)?;
        config.insert("bootcmd".into(), bootcmd);
        config.insert("runcmd".into(), pre.chain(joining::commands()).collect());
    } else {
        let post = node.post_commands.iter().map(|text| shell::command(text));
        config.insert("runcmd".into(), pre.chain([join.into()]).chain(post).collect());
    }
    Some(format!("#cloud-config\n{}\n", json::print(&Value::Object(config), Reader::Yaml)))
}

/// The provider's command before those of the user's cloud-config. A first boot is repeated with all modules, since the user's
/// cloud-config may have settings of any.
fn begin(user: Option<Value>, refusals: &mut Refusals) -> Option<Value> {
    let mut commands = vec![waiting::begin(Modules::All)];
    match user {
        None => {}
        Some(Value::Array(user)) => commands.extend(user),
        Some(_) => {
            refusals.invalid("extra.bootcmd", "must be a list of commands");
            return None;
        }
    }
    Some(commands.into())
}

/// The user's cloud-config, if it leaves alone what the provider writes.
fn extra(text: &str, refusals: &mut Refusals) -> Option<Map<String, Value>> {
    let config = match yaml::read::<Value>(text) {
        Ok(Value::Object(config)) => config,
        Ok(_) => {
            refusals.invalid("extra", "must be a cloud-config: a map of modules");
            return None;
        }
        Err(error) => {
            refusals.invalid("extra", format!("is not a cloud-config in YAML: {error}"));
            return None;
        }
    };
    for (name, instead) in [("write_files", "files"), ("runcmd", "preCommands and postCommands")] {
        if config.contains_key(name) {
            refusals.set_twice(format!("extra.{name}"), format!("is written from {instead}: use these"));
        }
    }
    Some(config)
}

/// Joins the cluster, and writes Cluster API's sentinel if that succeeds.
fn join(common: &Common, node: &NodeInput) -> Vec<String> {
    let sentinel = shell::SENTINEL;
    let directory = sentinel.rsplit_once('/').map_or("/", |(directory, _)| directory);
    let mut script = format!("\"$@\" && mkdir -p {directory} && echo success > {sentinel}");
    if node.join_when_in_service {
        script.push_str(" && touch ");
        script.push_str(waiting::JOINED);
    }
    let mut words = vec!["/bin/sh".to_owned(), "-c".into(), script, "join".into(), BOOTSTRAP.into()];
    words.extend(arguments(common));
    words
}

/// Arguments of `bootstrap.sh`. It does not read names and values with an equal sign between them.
fn arguments(common: &Common) -> Vec<String> {
    let cluster = &common.cluster;
    let mut arguments = vec![cluster.name.clone()];
    let mut option = |name: &str, value: String| arguments.extend([name.to_owned(), value]);
    option("--apiserver-endpoint", cluster.endpoint.clone());
    option("--b64-cluster-ca", cluster.authority_base64());
    option("--dns-cluster-ip", cluster.dns.to_string());
    if cluster.dns.is_ipv6() {
        option("--ip-family", "ipv6".into());
        option("--service-ipv6-cidr", cluster.service_range.to_string());
    }
    if common.kubelet.contains_key("maxPods") {
        // Otherwise it writes its own number for the instance type.
        option("--use-max-pods", "false".into());
    }
    let flags = flags(common);
    if !flags.is_empty() {
        option("--kubelet-extra-args", flags.join(" "));
    }
    arguments
}

fn flags(common: &Common) -> Vec<String> {
    let mut flags = Vec::new();
    if !common.labels.is_empty() {
        let labels: Vec<String> = common.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        flags.push(format!("--node-labels={}", labels.join(",")));
    }
    if !common.taints.is_empty() {
        let taint = |taint: &crate::Taint| format!("{}={}:{}", taint.key, taint.value, taint.effect);
        let taints: Vec<String> = common.taints.iter().map(taint).collect();
        flags.push(format!("--register-with-taints={}", taints.join(",")));
    }
    flags.extend(kubelet::to_flags(&common.kubelet));
    flags
}
