//! Settings of nodes of every family, parsed once into valid values.

use crate::input::{ClusterInput, Family, MirrorInput, NodeInput, TaintInput};
use crate::kubelet;
use crate::refusal::Refusals;
use crate::syntax;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use url::Url;

/// What is the same for all families.
pub(crate) struct Common {
    pub(crate) cluster: Cluster,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) taints: Vec<Taint>,
    /// Under the names of KubeletConfiguration.
    pub(crate) kubelet: Map<String, Value>,
    pub(crate) mirrors: Vec<MirrorInput>,
}

/// The cluster that nodes join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cluster {
    pub(crate) name: String,
    /// `https://host` or `https://host:port`.
    pub(crate) endpoint: String,
    /// PEM.
    pub(crate) certificate_authority: String,
    pub(crate) service_range: IpNet,
    pub(crate) dns: IpAddr,
}

/// A taint with which a Node registers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Taint {
    /// Key.
    pub key: String,
    /// Value; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// What the taint does.
    pub effect: Effect,
}

/// What a taint does (Kubernetes, "Taints and Tolerations").
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
)]
pub enum Effect {
    /// Pods that do not tolerate it are not scheduled.
    NoSchedule,
    /// Pods that do not tolerate it are scheduled elsewhere if possible.
    PreferNoSchedule,
    /// Pods that do not tolerate it are evicted too.
    NoExecute,
}

impl Common {
    /// Reads what all families share; reports every mistake in it.
    pub(crate) fn parse(cluster: &ClusterInput, node: &NodeInput, refusals: &mut Refusals) -> Option<Self> {
        labels(&node.labels, refusals);
        let taints = taints(&node.taints, refusals);
        let kubelet = kubelet::parse(&node.kubelet, node.family, refusals);
        mirrors(&node.registry_mirrors, node.family, refusals);
        Some(Self {
            cluster: Cluster::parse(cluster, refusals)?,
            labels: node.labels.clone(),
            taints,
            kubelet,
            mirrors: node.registry_mirrors.clone(),
        })
    }
}

impl Cluster {
    fn parse(input: &ClusterInput, refusals: &mut Refusals) -> Option<Self> {
        if !is_cluster_name(&input.name) {
            refusals.invalid("cluster.name", "is not a name of an EKS cluster");
        }
        let endpoint = endpoint(&input.endpoint);
        if endpoint.is_none() {
            refusals.invalid("cluster.endpoint", "must be https:// and a host, without a path");
        }
        let authority = authority(&input.certificate_authority);
        if let Err(message) = &authority {
            refusals.invalid("cluster.certificateAuthority", *message);
        }
        let range = input.service_range.parse::<IpNet>().ok().filter(|range| range.trunc() == *range);
        if range.is_none() {
            refusals.invalid(
                "cluster.serviceRange",
                "must be a range of IP addresses, for example 10.100.0.0/16",
            );
        }
        let dns = dns(input.dns.as_deref(), range?, refusals);
        Some(Self {
            name: input.name.clone(),
            endpoint: endpoint?,
            certificate_authority: authority.ok()?,
            service_range: range?,
            dns: dns?,
        })
    }

    /// The certificates as base64 of PEM.
    pub(crate) fn authority_base64(&self) -> String {
        BASE64.encode(&self.certificate_authority)
    }
}

/// Amazon EKS API Reference, CreateCluster, `name`.
pub(crate) fn is_cluster_name(name: &str) -> bool {
    name.len() <= 100
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// The URL as it is written, which EKS does with capital letters, without a slash at its end.
fn endpoint(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|url| url.scheme() == "https" && url.path() == "/")?;
    is_bare(text, &url).then(|| text.trim_end_matches('/').to_owned())
}

/// Whether nothing but a host, a port and a path is in a URL, in characters that need no quotes anywhere.
fn is_bare(text: &str, url: &Url) -> bool {
    text.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b'\\'))
        && url.has_host()
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none()
}

/// The PEM in base64, if it is nothing but certificates.
fn authority(text: &str) -> Result<String, &'static str> {
    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";
    let bytes = BASE64.decode(text.trim()).map_err(|_| "must be base64")?;
    let pem = String::from_utf8(bytes).map_err(|_| "must be base64 of certificates in PEM")?;
    let mut inside = false;
    let mut certificates = 0;
    for line in pem.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
        match (inside, line) {
            (false, BEGIN) => inside = true,
            (true, END) => {
                inside = false;
                certificates += 1;
            }
            (true, line) if line.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b)) => {}
            (true | false, _) => return Err("must be base64 of certificates in PEM, and nothing else"),
        }
    }
    if inside || certificates == 0 {
        return Err("must be base64 of at least one whole certificate in PEM");
    }
    Ok(pem)
}

/// The address of the DNS Service: the given one, or the one that EKS gives it.
fn dns(given: Option<&str>, range: IpNet, refusals: &mut Refusals) -> Option<IpAddr> {
    let Some(given) = given else { return Some(tenth(range)) };
    let address = given.parse::<IpAddr>().ok().filter(|address| range.contains(address));
    if address.is_none() {
        refusals.invalid("cluster.dns", format!("must be an address in the range of Services, {range}"));
    }
    address
}

/// The address that EKS gives the cluster's DNS Service: the tenth of the range.
pub(crate) fn tenth(range: IpNet) -> IpAddr {
    match range {
        IpNet::V4(range) => Ipv4Addr::from_bits(range.network().to_bits().wrapping_add(10)).into(),
        IpNet::V6(range) => Ipv6Addr::from_bits(range.network().to_bits().wrapping_add(10)).into(),
    }
}

fn labels(labels: &BTreeMap<String, String>, refusals: &mut Refusals) {
    for (key, value) in labels {
        let field = format!("labels[{key}]");
        if !syntax::is_label_key(key) {
            refusals.invalid(field, "is not a key of a label");
        } else if !syntax::may_kubelet_set(key) {
            refusals.invalid(
                field,
                "a kubelet may not set this label on its Node: of kubernetes.io and k8s.io it may use kubelet.kubernetes.io and \
                 node.kubernetes.io; set the label on the MachinePool's template instead",
            );
        } else if !syntax::is_label_value(value) {
            refusals.invalid(
                field,
                "the value must have at most 63 letters, digits, dots, dashes and underscores",
            );
        }
    }
}

fn taints(taints: &[TaintInput], refusals: &mut Refusals) -> Vec<Taint> {
    let mut seen = BTreeSet::new();
    let mut read = Vec::new();
    for (index, TaintInput { key, value, effect }) in taints.iter().enumerate() {
        let field = format!("taints[{index}]");
        if !syntax::is_label_key(key) {
            refusals.invalid(format!("{field}.key"), "is not a key of a taint");
        }
        if !syntax::is_label_value(value) {
            refusals.invalid(format!("{field}.value"), "is not a value of a taint");
        }
        let Ok(effect) = effect.parse::<Effect>() else {
            refusals.invalid(format!("{field}.effect"), "must be NoSchedule, PreferNoSchedule or NoExecute");
            continue;
        };
        if !seen.insert((key, effect)) {
            refusals.set_twice(
                field,
                "another taint has this key and effect: the kubelet does not start with both",
            );
        }
        read.push(Taint { key: key.clone(), value: value.clone(), effect });
    }
    read
}

fn mirrors(mirrors: &[MirrorInput], family: Family, refusals: &mut Refusals) {
    if family == Family::CloudInit && !mirrors.is_empty() {
        refusals.unsupported(
            "registryMirrors",
            "for the family CloudInit the image decides where containerd reads mirrors from: write that file with files",
        );
    }
    let mut seen = BTreeSet::new();
    for (index, MirrorInput { registry, endpoints }) in mirrors.iter().enumerate() {
        let field = format!("registryMirrors[{index}]");
        if !syntax::is_registry(registry) {
            refusals.invalid(format!("{field}.registry"), "must be a host, with or without a port, or *");
        }
        if !seen.insert(registry) {
            refusals.set_twice(format!("{field}.registry"), "is listed twice");
        }
        if endpoints.is_empty() {
            refusals.invalid(format!("{field}.endpoints"), "must have at least one URL");
        }
        for endpoint in endpoints.iter().filter(|endpoint| !is_mirror_url(endpoint)) {
            refusals.invalid(
                format!("{field}.endpoints"),
                format!(
                    "{endpoint:?} is not an http:// or https:// URL, without a user, a query or a fragment"
                ),
            );
        }
    }
}

fn is_mirror_url(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && is_bare(text, &url))
}
