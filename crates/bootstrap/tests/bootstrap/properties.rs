//! What holds for every input: rendered and read back it is the same, and no text leaves its place.

use crate::sample::{cluster, file, ipv6_cluster, plain, taint};
use foo_bootstrap::input::FileInput;
use foo_bootstrap::{ClusterInput, Compression, Family, NodeInput, Seen, read, render};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Map, Value};

fn families() -> impl Strategy<Value = Family> {
    prop::sample::select(vec![Family::AL2023, Family::Bottlerocket, Family::CloudInit])
}

/// A part of a label's key or value.
const NAME: &str = "[A-Za-z0-9]([A-Za-z0-9._-]{0,20}[A-Za-z0-9])?";

fn labels() -> impl Strategy<Value = std::collections::BTreeMap<String, String>> {
    let prefixed = ("[a-z]{1,9}", NAME).prop_map(|(prefix, name)| format!("{prefix}.com/{name}"));
    let key = prop_oneof![NAME.prop_map(|name| name), prefixed];
    btree_map(key, prop_oneof![Just(String::new()), NAME.prop_map(|value| value)], 0..5)
}

fn taints() -> impl Strategy<Value = Vec<foo_bootstrap::input::TaintInput>> {
    let effects = prop::sample::select(vec!["NoSchedule", "PreferNoSchedule", "NoExecute"]);
    btree_map((NAME, effects), prop_oneof![Just(String::new()), NAME.prop_map(|value| value)], 0..4).prop_map(
        |taints| taints.into_iter().map(|((key, effect), value)| taint(&key, &value, effect)).collect(),
    )
}

/// Texts that try to end what they are in.
fn nasty() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        vec(
            prop::sample::select(vec![
                "\n--foo-node-user-data--\n",
                "\n--foo-node-user-data\n",
                "Content-Type: application/node.eks.aws\n\n",
                "'",
                "\"",
                "\\",
                "\"]}\nruncmd: [reboot]\n",
                "\u{85}",
                "\u{2028}",
                "\u{feff}",
                "👋",
                "\r\n",
                "#",
                "$(reboot)",
                "a",
            ]),
            1..6
        )
        .prop_map(|parts| parts.concat()),
    ]
}

fn commands() -> impl Strategy<Value = Vec<String>> {
    let command = nasty().prop_map(|text| format!(": {}", text.replace('\0', "")));
    vec(command, 0..4)
}

fn files() -> impl Strategy<Value = Vec<FileInput>> {
    let content = prop_oneof![nasty().prop_map(String::into_bytes), vec(any::<u8>(), 0..60)];
    btree_map("/etc/[a-z]{1,9}", content, 0..4)
        .prop_map(|files| files.into_iter().map(|(path, content)| file(&path, &content)).collect())
}

fn clusters() -> impl Strategy<Value = ClusterInput> {
    let ranges =
        prop::sample::select(vec!["10.100.0.0/16", "172.20.0.0/16", "10.0.16.0/20", "10.7.3.128/25"]);
    let dns = |range: &str| match range {
        "10.0.16.0/20" => Some("10.0.31.53".to_owned()),
        _ => None,
    };
    let ipv4 = ranges.prop_map(move |range| ClusterInput {
        service_range: range.into(),
        dns: dns(range),
        ..cluster()
    });
    let prefix = any::<[u16; 6]>().prop_map(|segments| {
        let [first, second, third, fourth, fifth, sixth] = segments;
        let range =
            std::net::Ipv6Addr::new(0xfd00 | (first & 0xff), second, third, fourth, fifth, sixth, 0, 0);
        ClusterInput { service_range: format!("{range}/108"), ..cluster() }
    });
    prop_oneof![ipv4, prefix, Just(ipv6_cluster())]
}

fn nodes() -> impl Strategy<Value = NodeInput> {
    let compression = prop::sample::select(vec![Compression::None, Compression::Gzip]);
    let shell = (files(), commands(), commands());
    let packed = (compression, any::<bool>());
    (families(), labels(), taints(), prop::option::of(1_i64..500), shell, packed).prop_map(
        |(family, labels, taints, max_pods, shell, (compression, join_when_in_service))| {
            let (files, pre_commands, post_commands) = shell;
            let mut node = NodeInput { labels, taints, join_when_in_service, compression, ..plain(family) };
            node.kubelet.max_pods = max_pods;
            node.kubelet.seccomp_default = max_pods.map(|pods| pods % 2 == 0);
            if family != Family::Bottlerocket {
                node.files = files;
                node.pre_commands = pre_commands;
                node.post_commands = post_commands;
            }
            node
        },
    )
}

/// What the node must take from its user data.
fn check_facts(cluster: &ClusterInput, node: &NodeInput, seen: &Seen) {
    assert_eq!(seen.cluster, cluster.name);
    assert_eq!(seen.endpoint, cluster.endpoint);
    assert_eq!(seen.certificate_authority, crate::sample::PEM.as_bytes());
    let range: ipnet::IpNet = cluster.service_range.parse().unwrap();
    let dns = cluster.dns.as_ref().map_or_else(|| tenth(range), |dns| dns.parse().unwrap());
    assert_eq!(seen.dns, Some(dns));
    if node.family == Family::AL2023 {
        assert_eq!(seen.service_range, Some(range));
    }
    assert_eq!(seen.labels, node.labels);
    let mut taints: Vec<_> =
        seen.taints.iter().map(|it| taint(&it.key, &it.value, &it.effect.to_string())).collect();
    let mut expected = node.taints.clone();
    taints.sort_by_key(|it| format!("{it:?}"));
    expected.sort_by_key(|it| format!("{it:?}"));
    assert_eq!(taints, expected);
    let mut kubelet = Map::new();
    if let Some(pods) = node.kubelet.max_pods {
        kubelet.insert("maxPods".into(), Value::from(pods));
        kubelet.insert("seccompDefault".into(), Value::from(pods % 2 == 0));
    }
    assert_eq!(seen.kubelet, kubelet);
    assert_eq!(seen.join_when_in_service, node.join_when_in_service);
}

fn tenth(range: ipnet::IpNet) -> std::net::IpAddr {
    range.hosts().nth(if range.addr().is_ipv4() { 9 } else { 10 }).unwrap()
}

/// Marks a first boot as complete.
const COMPLETE: &str = "case $(systemctl show -p ActiveState -p Job shutdown.target) in\n\
    *Job=[1-9]*) ;;\n\
    *=inactive*) sync && touch /var/lib/cloud/instance/foo-node-prepared ;;\n\
    esac";

/// Files and commands of the user are those that were written, with the provider's around them.
fn check_shell(node: &NodeInput, seen: &Seen) {
    let content = |files: &[FileInput]| -> Vec<(String, Vec<u8>)> {
        files.iter().map(|file| (file.path.clone(), file.content.clone())).collect()
    };
    let of_user: Vec<FileInput> =
        seen.files.iter().filter(|file| !file.path.contains("foo-node")).cloned().collect();
    assert_eq!(content(&of_user), content(&node.files));
    let shell = |command: &str| vec!["/bin/sh".to_owned(), "-c".into(), command.to_owned()];
    let shells = |commands: &[String]| commands.iter().map(|command| shell(command)).collect::<Vec<_>>();
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let reload = words("systemctl daemon-reload");
    // Whatever a command of the user does, nodeadm waits.
    let first = usize::from(node.join_when_in_service && node.family == Family::AL2023);
    let (first, rest) = seen.commands.split_at(first);
    assert!(first.iter().all(|command| *command == reload), "{first:?}");
    let (pre, rest) = rest.split_at(node.pre_commands.len());
    assert_eq!(pre, shells(&node.pre_commands));
    let expected: Vec<Vec<String>> = match (node.family, node.join_when_in_service) {
        (Family::CloudInit, false) => {
            let join = rest.first().cloned().into_iter();
            join.chain(shells(&node.post_commands)).collect()
        }
        (_, false) => vec![reload, words("systemctl start --no-block foo-node-started.service")],
        (family, true) => {
            let unit = if family == Family::CloudInit { "foo-node-join" } else { "foo-node-started" };
            vec![
                reload,
                words(&format!("systemctl enable {unit}.service")),
                shell(COMPLETE),
                words(&format!("systemctl start --no-block {unit}.service")),
            ]
        }
    };
    assert_eq!(rest, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_node_reads_what_was_rendered(cluster in clusters(), node in nodes()) {
        let rendered = render(&cluster, &node).unwrap();
        prop_assert_eq!(&rendered, &render(&cluster, &node).unwrap());
        let seen = read(node.family, &rendered).unwrap();
        check_facts(&cluster, &node, &seen);
        if node.family != Family::Bottlerocket {
            check_shell(&node, &seen);
        }
    }

    #[test]
    fn whatever_is_rendered_can_be_read(
        family in families(), text in nasty(), key in nasty(), cluster_name in nasty(), mut node in nodes(),
    ) {
        node.family = family;
        node.labels.insert(key, text.clone());
        node.taints.push(taint(&text, &text, "NoSchedule"));
        node.kubelet.container_log_max_size = Some(text);
        let cluster = ClusterInput { name: cluster_name, ..cluster() };
        if let Ok(rendered) = render(&cluster, &node) {
            prop_assert!(read(family, &rendered).is_ok());
        }
    }

    #[test]
    fn reading_never_panics(family in families(), bytes in vec(any::<u8>(), 0..200), text in nasty()) {
        let _: Result<_, _> = read(family, &bytes);
        let _: Result<_, _> = read(family, text.as_bytes());
        let _: Result<_, _> = read(family, format!("#cloud-config\n{text}").as_bytes());
    }
}

/// What the commands of the user print that are in a script of the provider, after `own` lines of it.
fn printed(node: &NodeInput, script: &str, own: usize) -> String {
    let seen = read(node.family, &render(&cluster(), node).unwrap()).unwrap();
    let script = seen.files.iter().find(|file| file.path.ends_with(script)).unwrap();
    let script = String::from_utf8(script.content.clone()).unwrap();
    let user: Vec<&str> = script.lines().skip(own).collect();
    let output = std::process::Command::new("sh").args(["-c", &user.join("\n")]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn commands_after_the_start_stay_apart_in_the_script() {
    let commands = ["echo one; exit 3", "echo 'unfinished", "echo two '\n' three", "echo it\\'s"];
    let expected = "one\ntwo \n three\nit's\n";
    let of = |family, join_when_in_service| {
        let post_commands = commands.map(str::to_owned).to_vec();
        NodeInput { post_commands, join_when_in_service, ..plain(family) }
    };
    // Without the lines that are about systemd and the sentinel, or that join.
    assert_eq!(printed(&of(Family::AL2023, false), "started.sh", 4), expected);
    assert_eq!(printed(&of(Family::AL2023, true), "started.sh", 5), expected);
    assert_eq!(printed(&of(Family::CloudInit, true), "join.sh", 2), expected);
}
