//! What is rendered, to the byte. A change of these bytes replaces every node that was launched with the old ones.
//!
//! `UPDATE_GOLDEN=1 cargo test -p foo-bootstrap` writes the files again; read the difference, and add it to the release
//! notes.

use crate::sample::{cluster, ipv6_cluster, plain, rich, waiting, with_mirrors, with_shell};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foo_bootstrap::input::LocalStorage;
use foo_bootstrap::{ClusterInput, Compression, Family, NodeInput, render};
use similar_asserts::assert_eq;
use std::path::Path;

fn check(name: &str, cluster: &ClusterInput, node: &NodeInput) {
    check_text(name, &String::from_utf8(render(cluster, node).unwrap()).unwrap());
}

/// Bytes, in lines of base64.
fn check_packed(name: &str, bytes: &[u8]) {
    let text = BASE64.encode(bytes);
    let lines: Vec<&str> =
        text.as_bytes().chunks(76).map(|line| std::str::from_utf8(line).unwrap()).collect();
    check_text(name, &format!("{}\n", lines.join("\n")));
}

fn check_text(name: &str, rendered: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, rendered).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(golden, rendered);
}

#[test]
fn al2023() {
    check("al2023-plain.txt", &cluster(), &plain(Family::AL2023));
    let mut node = with_mirrors(with_shell(Family::AL2023));
    node.containerd =
        Some("[plugins.'io.containerd.cri.v1.runtime'.containerd]\ndiscard_unpacked_layers = false\n".into());
    node.local_storage = Some(LocalStorage::Raid0);
    node.extra = Some(
        "---\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  featureGates:\n    FastImagePull: true\n  kubelet:\n    config:\n      serializeImagePulls: false\n    \
         flags: [--v=4]\n"
            .into(),
    );
    check("al2023-rich.txt", &cluster(), &node);
    check("al2023-ipv6.txt", &ipv6_cluster(), &plain(Family::AL2023));
    check("al2023-waiting.txt", &cluster(), &waiting(Family::AL2023));
}

#[test]
fn bottlerocket() {
    check("bottlerocket-plain.toml", &cluster(), &plain(Family::Bottlerocket));
    let mut node = with_mirrors(rich(Family::Bottlerocket));
    node.extra = Some(
        "[settings.host-containers.admin]\nenabled = true\n[settings.kubernetes]\nstatic-pods-enabled = true\n\
         [settings.kubernetes.node-labels]\n\"a.b/c\" = \"d\"\n[settings.bootstrap-commands.fips]\n\
         commands = [[\"apiclient\", \"report\", \"fips\"]]\nmode = \"always\"\nessential = false\n"
            .into(),
    );
    node.local_storage = Some(LocalStorage::Raid0);
    check("bottlerocket-rich.toml", &cluster(), &node);
    check("bottlerocket-ipv6.toml", &ipv6_cluster(), &plain(Family::Bottlerocket));
    check("bottlerocket-waiting.toml", &cluster(), &waiting(Family::Bottlerocket));
}

#[test]
fn cloud_init() {
    check("cloud-init-plain.yaml", &cluster(), &plain(Family::CloudInit));
    let mut node = with_shell(Family::CloudInit);
    node.extra = Some("#cloud-config\nntp:\n  enabled: true\n  servers: [169.254.169.123]\n".into());
    check("cloud-init-rich.yaml", &cluster(), &node);
    check("cloud-init-ipv6.yaml", &ipv6_cluster(), &plain(Family::CloudInit));
    let mut node = waiting(Family::CloudInit);
    node.extra = Some("bootcmd:\n- [echo, early]\n".into());
    check("cloud-init-waiting.yaml", &cluster(), &node);
}

#[test]
fn gzip() {
    let mut node = rich(Family::AL2023);
    node.compression = Compression::Gzip;
    check_packed("al2023-rich.gz.base64", &render(&cluster(), &node).unwrap());
}
