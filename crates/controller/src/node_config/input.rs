//! From a FooNodeConfig's spec to what `foo-bootstrap` takes, and from its refusals to a message.

use super::belonging::{Interfaces, OfPool};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use foo_api::FooNodeConfigSpec;
use foo_api::node_config as api;
use foo_bootstrap::input::{FileInput, KubeletInput, LocalStorage, MirrorInput, TaintInput};
use foo_bootstrap::{Compression, Family, InputRefusal, NodeInput, RefusalKind};
use foo_model::{Blocked, Reason};

/// Settings of nodes, except those known from their cluster (`spec.cluster`).
pub(super) fn node(spec: &FooNodeConfigSpec, of_pool: &OfPool) -> Result<NodeInput, Blocked> {
    // Every field by name: the compiler finds one that would be ignored.
    let FooNodeConfigSpec {
        family,
        cluster: _,
        labels,
        taints,
        kubelet,
        vpc_cni,
        containerd,
        registry_mirrors,
        local_storage,
        files,
        pre_commands,
        post_commands,
        extra,
        join_when_in_service,
        compression,
    } = spec;
    let mut kubelet = kubelet.as_ref().map(settings).unwrap_or_default();
    if kubelet.max_pods.is_none() {
        kubelet.max_pods = max_pods(*vpc_cni, of_pool)?;
    }
    Ok(NodeInput {
        family: self::family(family.map_or_else(|| of_pool.image_family.clone(), Ok)?),
        labels: labels.clone(),
        taints: taints.iter().map(taint).collect(),
        kubelet,
        containerd: containerd.clone(),
        registry_mirrors: registry_mirrors.iter().map(mirror).collect(),
        local_storage: local_storage.map(|it| match it {
            api::LocalStorage::Raid0 => LocalStorage::Raid0,
        }),
        files: files.iter().enumerate().map(file).collect::<Result<_, _>>()?,
        pre_commands: pre_commands.clone(),
        post_commands: post_commands.clone(),
        extra: extra.clone(),
        join_when_in_service: *join_when_in_service,
        compression: match compression {
            api::Compression::None => Compression::None,
            api::Compression::Gzip => Compression::Gzip,
        },
    })
}

/// Most Pods on a Node by the settings of the VPC CNI. With its default settings, the image finds the number, unless the instances have
/// interfaces that are not for Pods: the image does not know that.
fn max_pods(vpc_cni: Option<api::VpcCni>, of_pool: &OfPool) -> Result<Option<i64>, Blocked> {
    let settings = vpc_cni.unwrap_or_default();
    if settings == api::VpcCni::default() && of_pool.interfaces.clone()? == Interfaces::AllForPods {
        return Ok(None);
    }
    Ok(Some(of_pool.max_pods.clone()?.with(settings).into()))
}

/// Most Pods that new Nodes can have, if that is known. Without a number in the user data, a recommended image finds the one of its
/// instance type, unless the user configured another; what other images do is not known.
pub(super) fn expected_max_pods(node: &NodeInput, of_pool: &OfPool) -> Option<i64> {
    node.kubelet.max_pods.or_else(|| {
        let OfPool { image_family, max_pods, interfaces: _ } = of_pool;
        // The family is known of recommended images only.
        let is_found_by_image = image_family.is_ok() && !may_set_max_pods(node);
        max_pods.as_ref().ok().filter(|_| is_found_by_image).map(|known| known.standard.into())
    })
}

/// Whether the user configured something in which the provider does not recognise a number of Pods.
const fn may_set_max_pods(node: &NodeInput) -> bool {
    // Every field by name: the compiler finds one that is not considered.
    let NodeInput {
        family: _,
        labels: _,
        taints: _,
        kubelet: _,
        containerd: _,
        registry_mirrors: _,
        local_storage: _,
        files,
        pre_commands,
        post_commands,
        extra,
        join_when_in_service: _,
        compression: _,
    } = node;
    extra.is_some() || !files.is_empty() || !pre_commands.is_empty() || !post_commands.is_empty()
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
    use foo_api::pool::MaxPods;
    use serde_json::{Value, json};

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
            "localStorage": "RAID0", "preCommands": ["x"], "postCommands": ["y"], "extra": "z",
            "joinWhenInService": true, "compression": "Gzip",
        });
        let typed: FooNodeConfigSpec = serde_json::from_value(spec.clone()).unwrap();
        let mut expected: NodeInput = serde_json::from_value(spec).unwrap();
        assert_eq!(serde_json::to_value(&expected).unwrap()["kubelet"].as_object().unwrap().len(), 20);
        assert_eq!(node(&typed, &unknown()).unwrap(), expected);
        for (family, same) in [("AL2023", Family::AL2023), ("Bottlerocket", Family::Bottlerocket)] {
            let typed: FooNodeConfigSpec = serde_json::from_value(json!({"family": family})).unwrap();
            expected = NodeInput { family: same, ..NodeInput::default() };
            assert_eq!(node(&typed, &unknown()).unwrap(), expected);
        }
        let typed: FooNodeConfigSpec = serde_json::from_value(json!({})).unwrap();
        let bottlerocket = OfPool { image_family: Ok(api::Family::Bottlerocket), ..unknown() };
        assert_eq!(node(&typed, &bottlerocket).unwrap(), expected, "that of the image");
        assert_eq!(node(&typed, &unknown()), unknown().image_family.map(|_| expected));
    }

    /// Neither the family of the image nor the number of Pods is known.
    fn unknown() -> OfPool {
        let waits = || Blocked::new(Reason::WaitingForFooMachinePool, "the FooMachinePool is not known");
        OfPool { image_family: Err(waits()), max_pods: Err(waits()), interfaces: Ok(Interfaces::AllForPods) }
    }

    /// A pool with a recommended image.
    fn known() -> OfPool {
        let numbers = MaxPods {
            standard: 29,
            custom_networking: 20,
            prefix_delegation: 110,
            prefix_delegation_with_custom_networking: 90,
        };
        OfPool {
            image_family: Ok(api::Family::AL2023),
            max_pods: Ok(numbers),
            interfaces: Ok(Interfaces::AllForPods),
        }
    }

    fn of_al2023(fields: &Value, of_pool: &OfPool) -> Result<NodeInput, Blocked> {
        let mut spec = json!({"family": "AL2023"});
        spec.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        node(&serde_json::from_value(spec).unwrap(), of_pool)
    }

    fn cni(prefixes: bool, custom: bool) -> Value {
        json!({"vpcCNI": {"prefixDelegation": prefixes, "customNetworking": custom}})
    }

    #[test]
    fn the_number_of_pods_is_the_one_of_the_spec_or_follows_from_the_vpc_cni_or_is_found_by_the_image() {
        let of = |fields: &Value, of_pool: &OfPool| {
            let node = of_al2023(fields, of_pool)?;
            Ok::<_, Blocked>((node.kubelet.max_pods, expected_max_pods(&node, of_pool)))
        };
        for (fields, number, expected) in [
            (json!({}), None, Some(29)),
            (json!({"vpcCNI": {}}), None, Some(29)),
            (json!({"extra": "kind: NodeConfig"}), None, None),
            (json!({"files": [{"path": "/a", "content": "x"}]}), None, None),
            (json!({"preCommands": ["x"]}), None, None),
            (json!({"postCommands": ["x"]}), None, None),
            (json!({"kubelet": {"maxPods": 58}, "extra": "x"}), Some(58), Some(58)),
            (cni(false, true), Some(20), Some(20)),
            (cni(true, false), Some(110), Some(110)),
            (cni(true, true), Some(90), Some(90)),
        ] {
            assert_eq!(of(&fields, &known()), Ok((number, expected)), "{fields}");
        }
        let of_another_image = OfPool { image_family: unknown().image_family, ..known() };
        assert_eq!(of(&json!({}), &of_another_image), Ok((None, None)), "what that image does is not known");
        assert_eq!(of(&cni(true, false), &of_another_image), Ok((Some(110), Some(110))));
        assert_eq!(of(&json!({}), &unknown()), Ok((None, None)), "it is not needed");
        let waits = of(&cni(true, false), &unknown()).unwrap_err();
        assert_eq!(waits.reason, Reason::WaitingForFooMachinePool);
        let not_there = OfPool { interfaces: unknown().max_pods.map(|_| Interfaces::OthersToo), ..known() };
        assert_eq!(of(&json!({}), &not_there).unwrap_err().reason, Reason::WaitingForFooMachinePool);
        assert_eq!(of(&json!({"kubelet": {"maxPods": 58}}), &not_there), Ok((Some(58), Some(58))));
        let with_others = |of_pool: OfPool| OfPool { interfaces: Ok(Interfaces::OthersToo), ..of_pool };
        for fields in [json!({}), json!({"vpcCNI": {}})] {
            let number = of(&fields, &with_others(known()));
            assert_eq!(number, Ok((Some(29), Some(29))), "the image counts all interfaces");
            let waits = of(&fields, &with_others(unknown())).unwrap_err();
            assert_eq!(waits.reason, Reason::WaitingForFooMachinePool);
        }
        assert_eq!(of(&cni(true, false), &with_others(known())), Ok((Some(110), Some(110))));
    }

    /// By which a pool keeps its Nodes when an older manager follows, which ignores `vpcCNI`.
    #[test]
    fn nodes_stay_the_same_with_max_pods_in_place_of_the_vpc_cni() {
        let followed = of_al2023(&cni(true, false), &known());
        assert_eq!(followed, of_al2023(&json!({"kubelet": {"maxPods": 110}}), &unknown()));
    }

    #[test]
    fn files_are_text_or_any_bytes() {
        let file = |content: &str, encoding: &str| {
            let file = json!({"path": "/a", "owner": "o:o", "permissions": "0600", "content": content, "encoding": encoding});
            let spec = json!({"family": "AL2023", "files": [file]});
            node(&serde_json::from_value(spec).unwrap(), &unknown()).map(|mut node| node.files.remove(0))
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
