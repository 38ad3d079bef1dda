//! What is refused, and in which words.

use crate::sample::{cluster, file, map, plain, rich, taint, waiting, with_mirrors, with_shell};
use foo_bootstrap::input::{LocalStorage, MirrorInput};
use foo_bootstrap::{ClusterInput, Compression, Family, LIMIT, NodeInput, STORED_LIMIT, render};

const NODE_CONFIG: &str = "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n";

/// The input is refused, by refusals that begin so, in this order and no others.
fn check(cluster: &ClusterInput, node: &NodeInput, expected: &[&str]) {
    let refusals = render(cluster, node).expect_err("it was rendered");
    let texts: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    let all =
        texts.len() == expected.len() && texts.iter().zip(expected).all(|(it, begin)| it.starts_with(begin));
    assert!(all, "expected {expected:#?}\nbut found {texts:#?}");
}

fn node(family: Family, change: impl FnOnce(&mut NodeInput)) -> NodeInput {
    let mut node = plain(family);
    change(&mut node);
    node
}

fn check_node(family: Family, change: impl FnOnce(&mut NodeInput), expected: &[&str]) {
    check(&cluster(), &node(family, change), expected);
}

fn check_cluster(change: impl FnOnce(&mut ClusterInput), expected: &str) {
    let mut cluster = cluster();
    change(&mut cluster);
    check(&cluster, &plain(Family::AL2023), &[expected]);
}

#[test]
fn facts_of_the_cluster() {
    for name in ["", "-a", "a b", "a'b", &"a".repeat(101)] {
        check_cluster(|it| it.name = name.into(), "cluster.name: is not a name of an EKS cluster");
    }
    for endpoint in
        ["", "http://a", "https://", "a.b", "https://a/b", "https://u@a", "https://a?b", "https://a b"]
    {
        check_cluster(|it| it.endpoint = endpoint.into(), "cluster.endpoint: must be https://");
    }
    for range in ["", "10.100.0.0", "10.100.0.1/16", "10.100.0.0/33"] {
        check_cluster(|it| it.service_range = range.into(), "cluster.serviceRange: must be a range");
    }
    for dns in ["", "a", "10.101.0.10", "fd00::a"] {
        check_cluster(|it| it.dns = Some(dns.into()), "cluster.dns: must be an address in the range");
    }
    // "!", "hello", an end without a beginning, a key.
    for authority in [
        "!",
        "aGVsbG8=",
        "",
        "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==",
        "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCg==",
    ] {
        check_cluster(
            |it| it.certificate_authority = authority.into(),
            "cluster.certificateAuthority: must be base64",
        );
    }
}

#[test]
fn labels_and_taints() {
    check_node(
        Family::Bottlerocket,
        |it| {
            it.labels = map(&[("a b", ""), ("kubernetes.io/role", "x"), ("ok", "no/slash")]);
            it.taints = vec![
                taint("a", "b", "Never"),
                taint("=", ",", "NoSchedule"),
                taint("c", "1", "NoExecute"),
                taint("c", "2", "NoExecute"),
            ];
        },
        &[
            "labels[a b]: is not a key",
            "labels[kubernetes.io/role]: a kubelet may not set",
            "labels[ok]: the value must have",
            "taints[0].effect: must be NoSchedule, PreferNoSchedule or NoExecute",
            "taints[1].key: is not a key",
            "taints[1].value: is not a value",
            "taints[3]: another taint has this key and effect",
        ],
    );
}

#[test]
fn settings_of_the_kubelet() {
    check_node(
        Family::AL2023,
        |it| {
            it.kubelet.max_pods = Some(0);
            it.kubelet.pod_pids_limit = Some(0);
            it.kubelet.image_gc_high_threshold_percent = Some(50);
            it.kubelet.kube_reserved = map(&[("cpu", "lots"), ("gpu", "1")]);
            it.kubelet.eviction_hard = map(&[("memory.available", "100%"), ("sky.available", "1")]);
            it.kubelet.eviction_soft = map(&[("nodefs.available", "10%")]);
            it.kubelet.eviction_soft_grace_period = map(&[("memory.available", "1m")]);
            it.kubelet.cpu_manager_policy = Some("fast".into());
            it.kubelet.shutdown_grace_period = Some("10s".into());
            it.kubelet.shutdown_grace_period_critical_pods = Some("1m".into());
        },
        &[
            "kubelet.maxPods: must be a number from 1",
            "kubelet.podPidsLimit: must be a number from 1",
            "kubelet.imageGCLowThresholdPercent: must be below imageGCHighThresholdPercent: the kubelet does not start with 80 and 50",
            "kubelet.kubeReserved.cpu: must be a quantity",
            "kubelet.kubeReserved.gpu: is not a resource",
            "kubelet.evictionHard.memory.available: must be a quantity or a percentage",
            "kubelet.evictionHard.sky.available: is not a signal",
            "kubelet.evictionSoftGracePeriod.nodefs.available: is required",
            "kubelet.evictionSoftGracePeriod.memory.available: has no threshold",
            "kubelet.cpuManagerPolicy: must be one of none, static",
            "kubelet.shutdownGracePeriodCriticalPods: must not be longer",
        ],
    );
}

#[test]
fn files_and_commands() {
    check_node(
        Family::AL2023,
        |it| {
            it.files = vec![
                file("etc/a", b""),
                file("/etc/a", b""),
                file("/etc/a", b""),
                file("/etc/foo-node/started.sh", b""),
            ];
            it.files[1].owner = Some("root; reboot".into());
            it.files[1].permissions = Some("u+x".into());
            it.pre_commands = vec!["ok".into(), " ".into()];
            it.post_commands = vec!["a\0b".into()];
        },
        &[
            "files[0].path: must be an absolute path",
            "files[1].owner: must be a user and a group",
            "files[1].permissions: must be octal",
            "files[2].path: another entry writes this file",
            "files[3].path: the provider writes this file",
            "preCommands[1]: must be a command",
            "postCommands[0]: must be a command",
        ],
    );
}

#[test]
fn mirrors() {
    check_node(
        Family::AL2023,
        |it| {
            let mirror = |registry: &str, endpoints: &[&str]| MirrorInput {
                registry: registry.into(),
                endpoints: endpoints.iter().map(|url| (*url).to_owned()).collect(),
            };
            it.registry_mirrors = vec![
                mirror("../etc", &["https://a"]),
                mirror("docker.io", &[]),
                mirror("docker.io", &["ftp://a", "https://a\"]\nb", "https://u:p@a"]),
            ];
        },
        &[
            "registryMirrors[0].registry: must be a host",
            "registryMirrors[1].endpoints: must have at least one",
            "registryMirrors[2].registry: is listed twice",
            "registryMirrors[2].endpoints: \"ftp://a\" is not",
            "registryMirrors[2].endpoints: \"https://a\\\"]\\nb\" is not",
            "registryMirrors[2].endpoints: \"https://u:p@a\" is not",
        ],
    );
}

#[test]
fn fields_of_other_families() {
    let mut bottlerocket = with_shell(Family::Bottlerocket);
    bottlerocket.containerd = Some(String::new());
    check(
        &cluster(),
        &bottlerocket,
        &[
            "files: Bottlerocket writes no files",
            "preCommands: Bottlerocket has no shell",
            "postCommands: Bottlerocket has no shell",
            "containerd: Bottlerocket writes containerd's configuration",
        ],
    );
    let mut cloud_init = with_mirrors(rich(Family::CloudInit));
    cloud_init.kubelet.shutdown_grace_period = Some("30s".into());
    cloud_init.containerd = Some(String::new());
    cloud_init.local_storage = Some(LocalStorage::Raid0);
    check(
        &cluster(),
        &cloud_init,
        &[
            "kubelet.shutdownGracePeriod: the kubelet has no flag for it",
            "registryMirrors: for the family CloudInit the image decides",
            "containerd: for the family CloudInit the image has",
            "localStorage: for the family CloudInit no program of the image",
        ],
    );
}

#[test]
fn a_node_config_of_the_user() {
    let extra = |text: &str| Some(format!("{NODE_CONFIG}{text}"));
    let check = |text: &str, expected: &[&str]| {
        let mut node = rich(Family::AL2023);
        node.containerd = Some("version = 3".into());
        node.local_storage = Some(LocalStorage::Raid0);
        node.extra = extra(text);
        check(&cluster(), &node, expected);
    };
    check(
        "  kubelet: {config: {maxPods: 7}}",
        &["extra.spec.kubelet.config.maxPods: is set by another field"],
    );
    check(
        "  containerd: {config: 'version = 2'}",
        &["extra.spec.containerd.config: is set by another field"],
    );
    check(
        "  instance: {localStorage: {strategy: Mount}}",
        &["extra.spec.instance.localStorage.strategy: is set by another field"],
    );
    check("  cluster: {name: other}", &["extra.spec.cluster: is set by the provider"]);
    check("  kubelt: {flags: [a]}", &["extra.spec.kubelt: is not a field"]);
    check("  kubelet: {config: {}, flag: [a]}", &["extra.spec.kubelet.flag: is not a field"]);
    check("  kubelet: {flags: [--node-labels=a=b]}", &["extra.spec.kubelet.flags: set labels instead"]);
    check(
        "  instance: {localStorage: {strategy: RAID5}}",
        &[
            "extra.spec.instance.localStorage.strategy: must be RAID0",
            "extra.spec.instance.localStorage.strategy: is set by another field",
        ],
    );
    check(
        "  instance: {network: {nameservers: [dns]}}",
        &["extra.spec.instance.network.nameservers: \"dns\" is not an IP"],
    );
    check(
        "  featureGates: {InstanceIdNodeName: true}",
        &["extra.spec.featureGates.InstanceIdNodeName: nodes join by"],
    );
    check("  featureGates: {Fast: true}", &["extra.spec.featureGates.Fast: is not a feature gate"]);
    check("  featureGates: {FastImagePull: \"yes\"}", &["extra: is not a NodeConfig: invalid type"]);
    check_node(Family::AL2023, |it| it.extra = Some("a: [".into()), &["extra: is not a NodeConfig in YAML"]);
    check_node(
        Family::AL2023,
        |it| it.extra = Some("kind: Pod".into()),
        &["extra: must have apiVersion node.eks.aws/v1alpha1"],
    );
    check_node(Family::AL2023, |it| it.containerd = Some("= 3".into()), &["containerd: is not TOML"]);
}

#[test]
fn settings_of_the_user() {
    let check = |text: &str, expected: &[&str]| {
        let mut node = with_mirrors(rich(Family::Bottlerocket));
        node.extra = Some(text.into());
        check(&cluster(), &node, expected);
    };
    check(
        "[settings.kubernetes]\nmax-pods = 7",
        &["extra.settings.kubernetes.max-pods: is set by the provider or"],
    );
    check(
        "[settings.kubernetes]\ncluster-name = 'a'",
        &["extra.settings.kubernetes.cluster-name: is set by the provider"],
    );
    check(
        "[settings.kubernetes.node-labels]\nteam = 'a'",
        &["extra.settings.kubernetes.node-labels.team: is set by"],
    );
    check(
        "[[settings.container-registry.mirrors]]\nregistry = 'a'",
        &["extra.settings.container-registry.mirrors: is set by"],
    );
    check("[settings.kubernetes]\nmax-podz = 7", &["extra.settings.kubernetes.max-podz: is not a setting"]);
    check("[settings.kubernets]\nmax-pods = 7", &["extra.settings.kubernets: is not a setting"]);
    check(
        "[settings.kubernetes]\nstandalone-mode = true",
        &["extra.settings.kubernetes.standalone-mode: nodes join with the role"],
    );
    check("settings = 1", &["extra: must have a table named settings"]);
    check("[kubernetes]\nmax-pods = 7", &["extra: must have its settings below [settings]"]);
    check("[settings]\n[other]", &["extra: has other, which is not below"]);
    check("[settings.motd]\na = 1979-05-27", &["extra: has a date"]);
    check("settings = ", &["extra: is not TOML"]);
}

#[test]
fn a_cloud_config_of_the_user() {
    let extra = |text: &str| node(Family::CloudInit, |it| it.extra = Some(text.into()));
    check(&cluster(), &extra("[a]"), &["extra: must be a cloud-config"]);
    check(&cluster(), &extra("a: ["), &["extra: is not a cloud-config in YAML"]);
    check(
        &cluster(),
        &extra("write_files: []\nruncmd: []"),
        &["extra.write_files: is written from files", "extra.runcmd: is written from preCommands"],
    );
}

#[test]
fn what_waits_until_the_instance_is_in_service() {
    let mut al2023 = waiting(Family::AL2023);
    al2023.files = vec![
        file("/etc/foo-node/wait.sh", b""),
        file("/etc/systemd/system/nodeadm-run.service.d/foo-node.conf", b""),
    ];
    let taken =
        ["files[0].path: the provider writes this file", "files[1].path: the provider writes this file"];
    check(&cluster(), &al2023, &taken);
    al2023.join_when_in_service = false;
    assert!(render(&cluster(), &al2023).is_ok());

    let mut cloud_init = waiting(Family::CloudInit);
    cloud_init.files =
        vec![file("/etc/foo-node/join.sh", b""), file("/etc/systemd/system/foo-node-join.service", b"")];
    cloud_init.extra = Some("bootcmd: reboot".into());
    check(&cluster(), &cloud_init, &[taken[0], taken[1], "extra.bootcmd: must be a list of commands"]);

    let mut bottlerocket = waiting(Family::Bottlerocket);
    bottlerocket.extra = Some("[settings.autoscaling]\nshould-wait = false".into());
    check(&cluster(), &bottlerocket, &["extra.settings.autoscaling.should-wait: is set by the provider or"]);
}

/// Bytes that do not compress.
fn noise(length: usize) -> Vec<u8> {
    let mut state: u32 = 1;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn user_data_that_is_too_long() {
    let long = |content: Vec<u8>, compression| {
        node(Family::CloudInit, |it| {
            it.files = vec![file("/a", &content)];
            it.compression = compression;
        })
    };
    let text = vec![b'a'; STORED_LIMIT];
    check(&cluster(), &long(text.clone(), Compression::None), &["compression: the user data has 52"]);
    assert!(render(&cluster(), &long(text, Compression::Gzip)).is_ok());
    let expected =
        "compression: the user data has 531756 bytes; at most 524288 are stored: fetch large files";
    check(&cluster(), &long(noise(STORED_LIMIT), Compression::Gzip), &[expected]);
}

#[test]
fn exactly_as_long_as_a_family_can_get() {
    let of = |family, length: usize| {
        let comment = format!("# {}\n", "a".repeat(length));
        node(family, |it| match family {
            Family::Bottlerocket => {
                it.extra = Some(format!("[settings]\nmotd = \"{}\"\n", comment.trim_end()));
            }
            Family::AL2023 | Family::CloudInit => it.files = vec![file("/a", &vec![b'a'; length])],
        })
    };
    for (family, limit, message) in [
        (
            Family::CloudInit,
            STORED_LIMIT,
            "compression: the user data has 524289 bytes; at most 524288 are stored",
        ),
        (
            Family::Bottlerocket,
            LIMIT,
            "compression: the user data has 16385 bytes; EC2 accepts 16384, and Bottlerocket",
        ),
    ] {
        let rest = limit - render(&cluster(), &of(family, 1)).unwrap().len() + 1;
        assert_eq!(render(&cluster(), &of(family, rest)).unwrap().len(), limit);
        check(&cluster(), &of(family, rest + 1), &[message]);
    }
}
