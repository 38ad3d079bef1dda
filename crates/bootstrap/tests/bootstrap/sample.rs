//! A cluster and nodes to write tests about.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foo_bootstrap::input::{FileInput, MirrorInput, TaintInput};
use foo_bootstrap::{ClusterInput, Family, NodeInput};
use std::collections::BTreeMap;

pub(crate) const PEM: &str = "-----BEGIN CERTIFICATE-----\nMIIBgTCCASegAwIBAgIB\n-----END CERTIFICATE-----\n";

pub(crate) fn cluster() -> ClusterInput {
    ClusterInput {
        name: "prod_1".into(),
        endpoint: "https://ABCDEF0123456789.gr7.eu-central-1.eks.amazonaws.com".into(),
        certificate_authority: BASE64.encode(PEM),
        service_range: "10.100.0.0/16".into(),
        dns: None,
    }
}

pub(crate) fn ipv6_cluster() -> ClusterInput {
    ClusterInput { service_range: "fd30:1c53:5f8a::/108".into(), ..cluster() }
}

pub(crate) fn plain(family: Family) -> NodeInput {
    NodeInput { family, ..NodeInput::default() }
}

pub(crate) fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

pub(crate) fn taint(key: &str, value: &str, effect: &str) -> TaintInput {
    TaintInput { key: key.into(), value: value.into(), effect: effect.into() }
}

pub(crate) fn file(path: &str, content: &[u8]) -> FileInput {
    FileInput { path: path.into(), owner: None, permissions: None, content: content.to_vec() }
}

/// With everything that every family can have.
pub(crate) fn rich(family: Family) -> NodeInput {
    let mut node = plain(family);
    node.labels = map(&[("team", "payments"), ("node.kubernetes.io/pool", "a"), ("empty", "")]);
    node.taints = vec![
        taint("dedicated", "payments", "NoSchedule"),
        taint("dedicated", "payments", "NoExecute"),
        taint("gpu", "", "PreferNoSchedule"),
    ];
    node.kubelet.max_pods = Some(58);
    node.kubelet.kube_reserved = map(&[("cpu", "100m"), ("memory", "1Gi")]);
    node.kubelet.eviction_hard = map(&[("memory.available", "200Mi"), ("nodefs.available", "10%")]);
    node.kubelet.eviction_soft = map(&[("memory.available", "500Mi")]);
    node.kubelet.eviction_soft_grace_period = map(&[("memory.available", "1m30s")]);
    node.kubelet.pod_pids_limit = Some(-1);
    node.kubelet.container_log_max_size = Some("50Mi".into());
    node.kubelet.cpu_cfs_quota = Some(false);
    node
}

pub(crate) fn with_shell(family: Family) -> NodeInput {
    let mut node = rich(family);
    node.files = vec![file("/etc/motd", "Grüße 👋\n".as_bytes()), file("/etc/key", &[0, 255, 10])];
    node.pre_commands = vec!["echo 'before'".into(), "exit 1 # it's\nnothing".into()];
    node.post_commands = vec!["echo \"after\" it's".into()];
    node
}

/// Nodes that join once their instance is in service, with commands if the family has them.
pub(crate) fn waiting(family: Family) -> NodeInput {
    let mut node = NodeInput { join_when_in_service: true, ..plain(family) };
    if family != Family::Bottlerocket {
        node.pre_commands = vec!["echo before".into()];
        node.post_commands = vec!["echo after, it's joined".into()];
    }
    node
}

pub(crate) fn with_mirrors(mut node: NodeInput) -> NodeInput {
    let mirror = |registry: &str, endpoints: &[&str]| MirrorInput {
        registry: registry.into(),
        endpoints: endpoints.iter().map(|url| (*url).to_owned()).collect(),
    };
    node.registry_mirrors = vec![
        mirror("docker.io", &["https://mirror.example.com", "http://10.0.0.7:5000"]),
        mirror("*", &["https://all.example.com"]),
    ];
    node
}
