//! From a FooNodeConfig's spec to what `foo-bootstrap` takes, and from its refusals to a message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foo_api::FooNodeConfigSpec;
use foo_api::node_config as api;
use foo_bootstrap::input::{FileInput, KubeletInput, LocalStorage, MirrorInput, TaintInput};
use foo_bootstrap::{Compression, Family, InputRefusal, NodeInput, RefusalKind};
use foo_model::{Blocked, Reason};

/// Settings of nodes, except those known from their cluster (`spec.cluster`). `of_image` is the family of the pool's
/// image, or why that is not known.
pub(super) fn node(
    spec: &FooNodeConfigSpec,
    of_image: Result<api::Family, Blocked>,
) -> Result<NodeInput, Blocked> {
    // Every field by name: the compiler finds one that would be ignored.
    let FooNodeConfigSpec {
        family,
        cluster: _,
        labels,
        taints,
        kubelet,
        containerd,
        registry_mirrors,
        local_storage,
        files,
        pre_commands,
        post_commands,
        extra,
        compression,
    } = spec;
    Ok(NodeInput {
        family: self::family(family.map_or(of_image, Ok)?),
        labels: labels.clone(),
        taints: taints.iter().map(taint).collect(),
        kubelet: kubelet.as_ref().map(settings).unwrap_or_default(),
        containerd: containerd.clone(),
        registry_mirrors: registry_mirrors.iter().map(mirror).collect(),
        local_storage: local_storage.map(|it| match it {
            api::LocalStorage::Raid0 => LocalStorage::Raid0,
        }),
        files: files.iter().enumerate().map(file).collect::<Result<_, _>>()?,
        pre_commands: pre_commands.clone(),
        post_commands: post_commands.clone(),
        extra: extra.clone(),
        compression: match compression {
            api::Compression::None => Compression::None,
            api::Compression::Gzip => Compression::Gzip,
        },
    })
}

/// The family in the terms of `foo-bootstrap`.
pub(crate) const fn family(family: api::Family) -> Family {
    match family {
        api::Family::AL2023 => Family::AL2023,
        api::Family::Bottlerocket => Family::Bottlerocket,
        api::Family::CloudInit => Family::CloudInit,
    }
}

fn taint(api::Taint { key, value, effect }: &api::Taint) -> TaintInput {
    let effect = match effect {
        api::TaintEffect::NoSchedule => "NoSchedule",
        api::TaintEffect::PreferNoSchedule => "PreferNoSchedule",
        api::TaintEffect::NoExecute => "NoExecute",
    };
    TaintInput { key: key.clone(), value: value.clone(), effect: effect.to_owned() }
}

fn mirror(api::RegistryMirror { registry, endpoints }: &api::RegistryMirror) -> MirrorInput {
    MirrorInput { registry: registry.clone(), endpoints: endpoints.clone() }
}

fn file((index, file): (usize, &api::NodeFile)) -> Result<FileInput, Blocked> {
    let api::NodeFile { path, owner, permissions, content, encoding } = file;
    let content = match encoding {
        api::FileEncoding::Text => content.clone().into_bytes(),
        api::FileEncoding::Base64 => {
            let text: String = content.split_whitespace().collect();
            STANDARD.decode(text).map_err(|_| {
                let message = format!("files[{index}].content: is not base64, although encoding is Base64");
                Blocked::new(Reason::NodeConfigInvalid, message)
            })?
        }
    };
    Ok(FileInput { path: path.clone(), owner: owner.clone(), permissions: permissions.clone(), content })
}

fn settings(spec: &api::KubeletSettings) -> KubeletInput {
    let api::KubeletSettings {
        max_pods,
        kube_reserved,
        system_reserved,
        eviction_hard,
        eviction_soft,
        eviction_soft_grace_period,
        eviction_max_pod_grace_period,
        image_gc_high_threshold_percent,
        image_gc_low_threshold_percent,
        pod_pids_limit,
        container_log_max_size,
        container_log_max_files,
        shutdown_grace_period,
        shutdown_grace_period_critical_pods,
        cpu_manager_policy,
        topology_manager_policy,
        registry_pull_qps,
        registry_burst,
        cpu_cfs_quota,
        seccomp_default,
    } = spec;
    let number = |number: &Option<i32>| number.map(i64::from);
    KubeletInput {
        max_pods: number(max_pods),
        kube_reserved: kube_reserved.clone(),
        system_reserved: system_reserved.clone(),
        eviction_hard: eviction_hard.clone(),
        eviction_soft: eviction_soft.clone(),
        eviction_soft_grace_period: eviction_soft_grace_period.clone(),
        eviction_max_pod_grace_period: number(eviction_max_pod_grace_period),
        image_gc_high_threshold_percent: number(image_gc_high_threshold_percent),
        image_gc_low_threshold_percent: number(image_gc_low_threshold_percent),
        pod_pids_limit: number(pod_pids_limit),
        container_log_max_size: container_log_max_size.clone(),
        container_log_max_files: number(container_log_max_files),
        shutdown_grace_period: shutdown_grace_period.clone(),
        shutdown_grace_period_critical_pods: shutdown_grace_period_critical_pods.clone(),
        cpu_manager_policy: cpu_manager_policy.map(cpu_policy),
        topology_manager_policy: topology_manager_policy.map(topology_policy),
        registry_pull_qps: number(registry_pull_qps),
        registry_burst: number(registry_burst),
        cpu_cfs_quota: *cpu_cfs_quota,
        seccomp_default: *seccomp_default,
    }
}

fn cpu_policy(policy: api::CpuManagerPolicy) -> String {
    let name = match policy {
        api::CpuManagerPolicy::None => "none",
        api::CpuManagerPolicy::Static => "static",
    };
    name.to_owned()
}

fn topology_policy(policy: api::TopologyManagerPolicy) -> String {
    let name = match policy {
        api::TopologyManagerPolicy::None => "none",
        api::TopologyManagerPolicy::Restricted => "restricted",
        api::TopologyManagerPolicy::BestEffort => "best-effort",
        api::TopologyManagerPolicy::SingleNumaNode => "single-numa-node",
    };
    name.to_owned()
}

/// How many refusals a message has: a status has no room for hundreds.
const SHOWN: usize = 10;

/// Everything that is wrong, in one message.
pub(super) fn refused(refusals: &[InputRefusal]) -> Blocked {
    let reason = match refusals {
        [only] if only.kind == RefusalKind::TooLong => Reason::UserDataTooLarge,
        _ => Reason::NodeConfigInvalid,
    };
    let mut texts: Vec<String> = refusals.iter().take(SHOWN).map(worded).collect();
    if refusals.len() > SHOWN {
        texts.push(format!("and {} more", refusals.len() - SHOWN));
    }
    Blocked::new(reason, texts.join("; "))
}

/// With the path of the field, or the fact of the cluster that is wrong.
fn worded(refusal: &InputRefusal) -> String {
    match refusal.field.strip_prefix("cluster.") {
        Some(fact) => format!("{fact} of the cluster: {}", refusal.message),
        None => format!("spec.{refusal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The two types spell their fields alike, so what one writes the other one reads, except the content of files.
    #[test]
    fn every_field_of_a_spec_reaches_the_nodes() {
        let spec = json!({
            "family": "CloudInit", "labels": {"a": "b"},
            "taints": [{"key": "k", "value": "v", "effect": "NoExecute"}, {"key": "l", "effect": "PreferNoSchedule"}],
            "kubelet": {
                "maxPods": 58, "kubeReserved": {"cpu": "1"}, "systemReserved": {"cpu": "2"},
                "evictionHard": {"memory.available": "1%"}, "evictionSoft": {"memory.available": "2%"},
                "evictionSoftGracePeriod": {"memory.available": "1m"}, "evictionMaxPodGracePeriod": 3,
                "imageGCHighThresholdPercent": 90, "imageGCLowThresholdPercent": 70, "podPidsLimit": -1,
                "containerLogMaxSize": "10Mi", "containerLogMaxFiles": 4, "shutdownGracePeriod": "1m",
                "shutdownGracePeriodCriticalPods": "20s", "cpuManagerPolicy": "static",
                "topologyManagerPolicy": "single-numa-node", "registryPullQPS": 5, "registryBurst": 6,
                "cpuCFSQuota": false, "seccompDefault": true,
            },
            "containerd": "c", "registryMirrors": [{"registry": "docker.io", "endpoints": ["https://a"]}],
            "localStorage": "RAID0", "preCommands": ["x"], "postCommands": ["y"], "extra": "z", "compression": "Gzip",
        });
        let typed: FooNodeConfigSpec = serde_json::from_value(spec.clone()).unwrap();
        let mut expected: NodeInput = serde_json::from_value(spec).unwrap();
        assert_eq!(serde_json::to_value(&expected).unwrap()["kubelet"].as_object().unwrap().len(), 20);
        assert_eq!(node(&typed, unknown()).unwrap(), expected);
        for (family, same) in [("AL2023", Family::AL2023), ("Bottlerocket", Family::Bottlerocket)] {
            let typed: FooNodeConfigSpec = serde_json::from_value(json!({"family": family})).unwrap();
            expected = NodeInput { family: same, ..NodeInput::default() };
            assert_eq!(node(&typed, unknown()).unwrap(), expected);
        }
        let typed: FooNodeConfigSpec = serde_json::from_value(json!({})).unwrap();
        assert_eq!(node(&typed, Ok(api::Family::Bottlerocket)).unwrap(), expected, "that of the image");
        assert_eq!(node(&typed, unknown()), unknown().map(|_| expected));
    }

    /// The family of the image is not needed.
    fn unknown() -> Result<api::Family, Blocked> {
        Err(Blocked::new(Reason::WaitingForMachinePool, "the image is not known"))
    }

    #[test]
    fn files_are_text_or_any_bytes() {
        let file = |content: &str, encoding: &str| {
            let file = json!({"path": "/a", "owner": "o:o", "permissions": "0600", "content": content, "encoding": encoding});
            let spec = json!({"family": "AL2023", "files": [file]});
            node(&serde_json::from_value(spec).unwrap(), unknown()).map(|mut node| node.files.remove(0))
        };
        let text = file("hello", "Text").unwrap();
        assert_eq!((text.path.as_str(), text.content.as_slice()), ("/a", &b"hello"[..]));
        assert_eq!((text.owner.as_deref(), text.permissions.as_deref()), (Some("o:o"), Some("0600")));
        assert_eq!(file("/wD\n+\n", "Base64").unwrap().content, [0xff, 0x00, 0xfe]);
        let refused = file("%", "Base64").unwrap_err();
        assert_eq!(refused.message, "files[0].content: is not base64, although encoding is Base64");
    }

    #[test]
    fn all_mistakes_are_reported_at_once() {
        let refusal =
            |field: &str, kind| InputRefusal { field: field.into(), kind, message: "is wrong".into() };
        let two = [refusal("labels[x]", RefusalKind::Invalid), refusal("cluster.dns", RefusalKind::Invalid)];
        let blocked = refused(&two);
        assert_eq!(blocked.reason, Reason::NodeConfigInvalid);
        assert_eq!(blocked.message, "spec.labels[x]: is wrong; dns of the cluster: is wrong");
        assert_eq!(refused(&[refusal("compression", RefusalKind::TooLong)]).reason, Reason::UserDataTooLarge);
        let many: Vec<InputRefusal> = (0..12).map(|_| refusal("extra", RefusalKind::Invalid)).collect();
        assert!(refused(&many).message.ends_with("; and 2 more"));
    }
}
