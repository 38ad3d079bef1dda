//! Amazon Linux 2023: a NodeConfig for nodeadm and a cloud-config, as two parts of one document.
//!
//! nodeadm reads its part before cloud-init runs, and starts the kubelet after cloud-init's last stage: commands of the
//! cloud-config run before the kubelet, and those that are to run after it are a unit of systemd. nodeadm starts the
//! kubelet at every boot (amazon-eks-ami, `nodeadm-run.service`): there a Node waits that joins once its instance is in service.

mod extra;
mod node_config;
mod read;
mod write;

pub(crate) use read::read;

use crate::common::Common;
use crate::input::NodeInput;
use crate::json::{self, Reader};
use crate::mime;
use crate::refusal::Refusals;
use crate::shell;
use node_config::NodeConfig;
use serde::Serialize;

/// The type of a part that nodeadm reads.
const NODE_CONFIG: &str = "application/node.eks.aws";
/// The type of a part that cloud-init reads.
const CLOUD_CONFIG: &str = "text/cloud-config";

/// The whole document.
pub(crate) fn render(common: &Common, node: &NodeInput, refusals: &mut Refusals) -> Option<String> {
    shell::check(node, &write::own_files(common, node), refusals);
    let own = write::spec(common, node, refusals);
    let user = node.extra.as_deref().map(|text| extra::parse(text, &own, refusals));
    let mut parts = vec![(CLOUD_CONFIG, write::cloud_config(common, node))];
    parts.push((NODE_CONFIG, document(&NodeConfig::of(own))?));
    if let Some(user) = user {
        // As a part of its own, after the provider's: nodeadm merges them.
        parts.push((NODE_CONFIG, document(&user?)?));
    }
    Some(mime::write(&parts))
}

fn document(config: &impl Serialize) -> Option<String> {
    let value = serde_json::to_value(config).ok()?;
    Some(json::print(&value, Reader::Json))
}
