//! What a node takes from its user data.

use crate::common::Taint;
use crate::input::FileInput;
use crate::syntax;
use ipnet::IpNet;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::net::IpAddr;

/// What a node takes from its user data.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// Name of the EKS cluster, for which the node asks for tokens.
    pub cluster: String,
    /// URL of the API server.
    pub endpoint: String,
    /// Certificates of the API server's authorities, in PEM.
    pub certificate_authority: Vec<u8>,
    /// Range of Services, where the family needs it.
    pub service_range: Option<IpNet>,
    /// Where Pods resolve names. Bottlerocket reads it from EKS by default.
    pub dns: Option<IpAddr>,
    /// Labels with which the Node registers.
    pub labels: BTreeMap<String, String>,
    /// Taints with which the Node registers.
    pub taints: Vec<Taint>,
    /// What is configured of the kubelet besides, under the names of KubeletConfiguration. Bottlerocket's and flags'
    /// settings that [`crate::input::KubeletInput`] does not have are not here.
    pub kubelet: Map<String, Value>,
    /// Whether the Node joins only once its instance enters service of its Auto Scaling group.
    pub join_when_in_service: bool,
    /// Files that cloud-init writes.
    pub files: Vec<FileInput>,
    /// Commands that cloud-init runs, each with its arguments; one that is a line for a shell has no others.
    pub commands: Vec<Vec<String>>,
}

/// Why a node does not start with its user data, in the words of what refuses it where they are known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unreadable {
    message: String,
}

impl Unreadable {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// Labels as the kubelet reads them from `--node-labels`.
pub(crate) fn labels(text: &str) -> Result<BTreeMap<String, String>, Unreadable> {
    let pairs = text.split(',').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (key, value) = pair
                .split_once('=')
                .ok_or_else(|| Unreadable::new(format!("malformed pair, expect string=string: {pair}")))?;
            Ok((key.trim().to_owned(), value.trim().to_owned()))
        })
        .collect()
}

/// Refuses labels with which a kubelet ends.
pub(crate) fn check_labels(labels: &BTreeMap<String, String>) -> Result<(), Unreadable> {
    for (key, value) in labels {
        if !syntax::is_label_key(key) || !syntax::is_label_value(value) {
            return Err(Unreadable::new(format!("invalid node label {key}={value}")));
        }
        if !syntax::may_kubelet_set(key) {
            let words = "unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels";
            return Err(Unreadable::new(format!("{words}: [{key}]")));
        }
    }
    Ok(())
}

/// A taint as the kubelet reads it from `--register-with-taints`: `key=value:Effect` or `key:Effect`.
pub(crate) fn taint(text: &str) -> Result<Taint, Unreadable> {
    let invalid = || Unreadable::new(format!("invalid taint spec: {text}"));
    let (pair, effect) = text.rsplit_once(':').ok_or_else(invalid)?;
    let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
    let effect = effect.parse().map_err(|_| invalid())?;
    let taint = Taint { key: key.to_owned(), value: value.to_owned(), effect };
    check_taint(&taint).map(|()| taint)
}

/// Refuses a taint with which a kubelet ends.
pub(crate) fn check_taint(taint: &Taint) -> Result<(), Unreadable> {
    if syntax::is_label_key(&taint.key) && syntax::is_label_value(&taint.value) {
        return Ok(());
    }
    Err(Unreadable::new(format!("invalid taint spec: {}={}:{}", taint.key, taint.value, taint.effect)))
}
