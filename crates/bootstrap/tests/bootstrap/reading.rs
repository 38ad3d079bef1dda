//! User data that others wrote, read as the operating system does.

use crate::sample::{cluster, plain};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use foo_bootstrap::{Compression, Family, NodeInput, Seen, read, render};
use serde_json::json;

const CLUSTER: &str = "spec:\n  cluster:\n    name: my-cluster\n    apiServerEndpoint: https://example.com\n    \
                       certificateAuthority: Y2VydGlmaWNhdGVBdXRob3JpdHk=\n    cidr: 10.100.0.0/16\n";

fn node_config(spec: &str) -> String {
    format!("---\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\n{spec}")
}

fn multipart(configs: &[String]) -> String {
    let part = |config: &String| format!("--BOUNDARY\nContent-Type: application/node.eks.aws\n\n{config}\n");
    let parts: String = configs.iter().map(part).collect();
    format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"BOUNDARY\"\n\n{parts}--BOUNDARY--\n"
    )
}

fn al2023(text: &str) -> Seen {
    read(Family::AL2023, text.as_bytes()).unwrap()
}

fn refused(family: Family, text: &str) -> String {
    read(family, text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn a_bare_node_config_with_fields_that_nodeadm_does_not_know() {
    let seen = al2023(&node_config(&format!("{CLUSTER}  other: 1\n")));
    assert_eq!(seen.cluster, "my-cluster");
    assert_eq!(seen.certificate_authority, b"certificateAuthority");
    assert_eq!(seen.dns, Some([10, 100, 0, 10].into()));
}

#[test]
fn later_parts_win_and_flags_are_appended() {
    let first = node_config(&format!(
        "{CLUSTER}  kubelet:\n    config: {{maxPods: 1, evictionHard: {{memory.available: 5%}}}}\n    flags: [--node-labels=a=1]\n"
    ));
    let second = node_config(
        "spec:\n  cluster:\n    name: other\n  kubelet:\n    config: {maxPods: 2, evictionHard: {nodefs.available: 9%}}\n    \
         flags: ['--node-labels=a=2,b=3', '--register-with-taints=c=d:NoSchedule,e:NoExecute']\n",
    );
    let seen = al2023(&multipart(&[first, second]));
    assert_eq!(seen.cluster, "other");
    assert_eq!(seen.endpoint, "https://example.com");
    let expected =
        json!({"maxPods": 2, "evictionHard": {"memory.available": "5%", "nodefs.available": "9%"}});
    assert_eq!(serde_json::Value::Object(seen.kubelet), expected);
    assert_eq!(seen.labels, crate::sample::map(&[("a", "2"), ("b", "3")]));
    let taints: Vec<String> =
        seen.taints.iter().map(|it| format!("{}={}:{}", it.key, it.value, it.effect)).collect();
    assert_eq!(taints, ["c=d:NoSchedule", "e=:NoExecute"]);
}

#[test]
fn nodeadm_takes_base64_of_the_whole() {
    let text = BASE64.encode(multipart(&[node_config(CLUSTER)]));
    assert_eq!(al2023(&text).cluster, "my-cluster");
}

#[test]
fn settings_that_nodeadm_and_the_kubelet_refuse() {
    let refused = |text: &str| refused(Family::AL2023, text);
    assert_eq!(refused(&multipart(&[])), "could not find NodeConfig within UserData");
    let without = |field: &str| {
        node_config(&CLUSTER.lines().filter(|it| !it.contains(field)).collect::<Vec<_>>().join("\n"))
    };
    assert_eq!(refused(&without("name:")), "Name is missing in cluster configuration");
    assert_eq!(refused(&without("cidr:")), "CIDR is missing in cluster configuration");
    assert_eq!(refused(&without("apiServer")), "Apiserver endpoint is missing in cluster configuration");
    assert_eq!(refused(&without("certificate")), "Certificate authority is missing in cluster configuration");
    assert!(
        refused(&node_config(CLUSTER).replace("v1alpha1", "v1")).starts_with("failed to decode node config")
    );
    let labels = node_config(&format!("{CLUSTER}  kubelet:\n    flags: [--node-labels=kubernetes.io/a=b]\n"));
    assert!(refused(&labels).starts_with("unknown 'kubernetes.io' or 'k8s.io' labels"));
    let taint = node_config(&format!("{CLUSTER}  kubelet:\n    flags: [--register-with-taints=a=b:Never]\n"));
    assert_eq!(refused(&taint), "invalid taint spec: a=b:Never");
    assert!(refused("#!/bin/sh\n").starts_with("failed to decode node config"));
}

#[test]
fn settings_that_bottlerocket_refuses() {
    let refused = |text: &str| refused(Family::Bottlerocket, text);
    let rendered = String::from_utf8(render(&cluster(), &plain(Family::Bottlerocket)).unwrap()).unwrap();
    assert!(refused("#!/bin/sh\n").starts_with("Error parsing TOML user data"));
    assert!(refused("[settings]\n").starts_with("settings.kubernetes.cluster-name is missing"));
    assert_eq!(
        refused(&rendered.replace("cluster-dns-ip", "cluster-dns")),
        "unknown field `settings.kubernetes.cluster-dns`"
    );
    assert_eq!(refused(&rendered.replace("prod_1", "no.dots")), "Invalid cluster name 'no.dots'");
    let labels = format!("{rendered}[settings.kubernetes.node-labels]\n\"a b\" = \"c\"\n");
    assert_eq!(refused(&labels), "invalid node label a b=c");
}

#[test]
fn bottlerocket_can_be_left_to_ask_for_the_dns() {
    let rendered = String::from_utf8(render(&cluster(), &plain(Family::Bottlerocket)).unwrap()).unwrap();
    let without: Vec<&str> = rendered.lines().filter(|line| !line.contains("dns")).collect();
    assert_eq!(read(Family::Bottlerocket, without.join("\n").as_bytes()).unwrap().dns, None);
}

#[test]
fn settings_that_cloud_init_and_bootstrap_sh_refuse() {
    let refused = |text: &str| refused(Family::CloudInit, text);
    assert!(refused("#!/bin/sh\n").starts_with("not a cloud-config"));
    assert_eq!(refused("#cloud-config\nruncmd: [reboot]\n"), "no command runs /etc/eks/bootstrap.sh");
    assert_eq!(refused("#cloud-config\nruncmd: [[/etc/eks/bootstrap.sh]]\n"), "CLUSTER_NAME is not defined");
    assert!(
        refused("#cloud-config\nruncmd: [[/etc/eks/bootstrap.sh, a]]\n")
            .starts_with("--b64-cluster-ca is missing")
    );
}

#[test]
fn files_of_a_cloud_config_in_its_encodings() {
    let join = "[/etc/eks/bootstrap.sh, a, --b64-cluster-ca, YQ==, --apiserver-endpoint, https://a]";
    let text = format!(
        "#cloud-config\nwrite_files:\n- {{path: /a, content: b}}\n- {{path: /c, encoding: b64, content: ZA==}}\nruncmd: [{join}]\n"
    );
    let seen = read(Family::CloudInit, text.as_bytes()).unwrap();
    let files: Vec<(&str, &[u8])> =
        seen.files.iter().map(|it| (it.path.as_str(), it.content.as_slice())).collect();
    assert_eq!(files, [("/a", b"b".as_slice()), ("/c", b"d")]);
    assert!(read(Family::CloudInit, text.replace("ZA==", "a").as_bytes()).is_err());
}

/// By this the pool controller detects that an image and a FooNodeConfig do not match.
#[test]
fn user_data_of_one_family_is_unreadable_for_the_others() {
    let families = [Family::AL2023, Family::Bottlerocket, Family::CloudInit];
    for written in families {
        for compression in [Compression::None, Compression::Gzip] {
            let node = NodeInput { compression, ..plain(written) };
            let user_data = render(&cluster(), &node).unwrap();
            for family in families {
                assert_eq!(read(family, &user_data).is_ok(), family == written, "{written:?} for {family:?}");
            }
        }
    }
}
