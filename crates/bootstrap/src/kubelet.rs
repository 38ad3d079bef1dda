//! Settings of the kubelet that all families have, and what each family calls them.

use crate::input::{Family, KubeletInput};
use crate::refusal::Refusals;
use crate::syntax;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One setting under its three names.
struct Setting {
    /// In KubeletConfiguration (`kubelet.config.k8s.io/v1beta1`), which nodeadm passes on.
    field: &'static str,
    /// In Bottlerocket's `settings.kubernetes`.
    bottlerocket: &'static str,
    /// The kubelet's flag, without dashes, for `bootstrap.sh`; some settings have none.
    flag: Option<&'static str>,
    kind: FlagKind,
}

/// How a value is written in a flag.
#[derive(Clone, Copy)]
enum FlagKind {
    Number,
    YesNo,
    Text,
    /// Names and values with a character between them, separated by commas.
    Pairs(char),
}

const fn setting(
    field: &'static str,
    bottlerocket: &'static str,
    flag: Option<&'static str>,
    kind: FlagKind,
) -> Setting {
    Setting { field, bottlerocket, flag, kind }
}

/// All of [`KubeletInput`]. Sources: Kubernetes' reference of the kubelet's configuration and flags, and Bottlerocket's
/// `kubelet-config` template.
const SETTINGS: [Setting; 20] = [
    setting("maxPods", "max-pods", Some("max-pods"), FlagKind::Number),
    setting("kubeReserved", "kube-reserved", Some("kube-reserved"), FlagKind::Pairs('=')),
    setting("systemReserved", "system-reserved", Some("system-reserved"), FlagKind::Pairs('=')),
    setting("evictionHard", "eviction-hard", Some("eviction-hard"), FlagKind::Pairs('<')),
    setting("evictionSoft", "eviction-soft", Some("eviction-soft"), FlagKind::Pairs('<')),
    setting(
        "evictionSoftGracePeriod",
        "eviction-soft-grace-period",
        Some("eviction-soft-grace-period"),
        FlagKind::Pairs('='),
    ),
    setting(
        "evictionMaxPodGracePeriod",
        "eviction-max-pod-grace-period",
        Some("eviction-max-pod-grace-period"),
        FlagKind::Number,
    ),
    setting(
        "imageGCHighThresholdPercent",
        "image-gc-high-threshold-percent",
        Some("image-gc-high-threshold"),
        FlagKind::Number,
    ),
    setting(
        "imageGCLowThresholdPercent",
        "image-gc-low-threshold-percent",
        Some("image-gc-low-threshold"),
        FlagKind::Number,
    ),
    setting("podPidsLimit", "pod-pids-limit", Some("pod-max-pids"), FlagKind::Number),
    setting("containerLogMaxSize", "container-log-max-size", Some("container-log-max-size"), FlagKind::Text),
    setting(
        "containerLogMaxFiles",
        "container-log-max-files",
        Some("container-log-max-files"),
        FlagKind::Number,
    ),
    setting("shutdownGracePeriod", "shutdown-grace-period", None, FlagKind::Text),
    setting(
        "shutdownGracePeriodCriticalPods",
        "shutdown-grace-period-for-critical-pods",
        None,
        FlagKind::Text,
    ),
    setting("cpuManagerPolicy", "cpu-manager-policy", Some("cpu-manager-policy"), FlagKind::Text),
    setting(
        "topologyManagerPolicy",
        "topology-manager-policy",
        Some("topology-manager-policy"),
        FlagKind::Text,
    ),
    setting("registryPullQPS", "registry-qps", Some("registry-qps"), FlagKind::Number),
    setting("registryBurst", "registry-burst", Some("registry-burst"), FlagKind::Number),
    setting("cpuCFSQuota", "cpu-cfs-quota-enforced", Some("cpu-cfs-quota"), FlagKind::YesNo),
    setting("seccompDefault", "seccomp-default", Some("seccomp-default"), FlagKind::YesNo),
];

/// What is set, under the names of KubeletConfiguration.
pub(crate) fn parse(input: &KubeletInput, family: Family, refusals: &mut Refusals) -> Map<String, Value> {
    numbers(input, refusals);
    reserved("kubelet.kubeReserved", &input.kube_reserved, refusals);
    reserved("kubelet.systemReserved", &input.system_reserved, refusals);
    evictions(input, refusals);
    texts(input, refusals);
    shutdown(input, refusals);
    let set = match serde_json::to_value(input) {
        Ok(Value::Object(set)) => set,
        Ok(_) | Err(_) => Map::new(),
    };
    if family == Family::CloudInit {
        for setting in SETTINGS.iter().filter(|it| it.flag.is_none() && set.contains_key(it.field)) {
            refusals.unsupported(
                format!("kubelet.{}", setting.field),
                "the kubelet has no flag for it, and nodes of the family CloudInit get their settings by flags",
            );
        }
    }
    set
}

fn numbers(input: &KubeletInput, refusals: &mut Refusals) {
    const MANY: i64 = 2_147_483_647;
    let mut within = |name: &str, value: Option<i64>, least: i64, most: i64| {
        if value.is_some_and(|value| !(least..=most).contains(&value)) {
            refusals.invalid(format!("kubelet.{name}"), format!("must be a number from {least} to {most}"));
        }
    };
    within("maxPods", input.max_pods, 1, MANY);
    within("evictionMaxPodGracePeriod", input.eviction_max_pod_grace_period, 0, MANY);
    within("imageGCHighThresholdPercent", input.image_gc_high_threshold_percent, 0, 100);
    within("imageGCLowThresholdPercent", input.image_gc_low_threshold_percent, 0, 100);
    within("containerLogMaxFiles", input.container_log_max_files, 2, MANY);
    within("registryPullQPS", input.registry_pull_qps, 0, MANY);
    within("registryBurst", input.registry_burst, 0, MANY);
    if input.pod_pids_limit.is_some_and(|limit| limit != -1 && !(1..=MANY).contains(&limit)) {
        refusals.invalid("kubelet.podPidsLimit", "must be a number from 1 to 2147483647, or -1 for no limit");
    }
    // The kubelet's own defaults (KubeletConfiguration, v1beta1).
    let high = input.image_gc_high_threshold_percent.unwrap_or(85);
    let low = input.image_gc_low_threshold_percent.unwrap_or(80);
    if low >= high {
        refusals.invalid(
            "kubelet.imageGCLowThresholdPercent",
            format!(
                "must be below imageGCHighThresholdPercent: the kubelet does not start with {low} and {high}"
            ),
        );
    }
}

fn reserved(field: &str, of: &BTreeMap<String, String>, refusals: &mut Refusals) {
    for (resource, amount) in of {
        if !matches!(resource.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            refusals.invalid(
                format!("{field}.{resource}"),
                "is not a resource that can be reserved: cpu, memory or ephemeral-storage",
            );
        } else if !syntax::is_quantity(amount) {
            refusals.invalid(format!("{field}.{resource}"), "must be a quantity, for example 100m or 1Gi");
        }
    }
}

/// Signals that all families know (Bottlerocket, `KubernetesEvictionKey`).
const SIGNALS: [&str; 6] = [
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "pid.available",
];

fn evictions(input: &KubeletInput, refusals: &mut Refusals) {
    let hard = input.eviction_hard.iter().map(|it| ("kubelet.evictionHard", it));
    let soft = input.eviction_soft.iter().map(|it| ("kubelet.evictionSoft", it));
    for (field, (signal, threshold)) in hard.chain(soft) {
        if !SIGNALS.contains(&signal.as_str()) {
            refusals.invalid(format!("{field}.{signal}"), format!("is not a signal: {}", SIGNALS.join(", ")));
        } else if !syntax::is_threshold(threshold) {
            refusals.invalid(
                format!("{field}.{signal}"),
                "must be a quantity or a percentage, for example 100Mi or 10%",
            );
        }
    }
    for signal in input.eviction_soft.keys() {
        if !input.eviction_soft_grace_period.contains_key(signal) {
            refusals.invalid(
                format!("kubelet.evictionSoftGracePeriod.{signal}"),
                "is required: the kubelet does not start with a soft threshold that has no grace period",
            );
        }
    }
    for (signal, period) in &input.eviction_soft_grace_period {
        let field = format!("kubelet.evictionSoftGracePeriod.{signal}");
        if !input.eviction_soft.contains_key(signal) {
            refusals.invalid(field, "has no threshold in evictionSoft");
        } else if syntax::milliseconds(period).is_none() {
            refusals.invalid(field, DURATION);
        }
    }
}

const DURATION: &str = "must be a duration, for example 1m30s";

fn texts(input: &KubeletInput, refusals: &mut Refusals) {
    if input.container_log_max_size.as_deref().is_some_and(|size| !syntax::is_quantity(size)) {
        refusals.invalid("kubelet.containerLogMaxSize", "must be a quantity, for example 10Mi");
    }
    let mut one_of = |name: &str, value: Option<&str>, of: &[&str]| {
        if value.is_some_and(|value| !of.contains(&value)) {
            refusals.invalid(format!("kubelet.{name}"), format!("must be one of {}", of.join(", ")));
        }
    };
    one_of("cpuManagerPolicy", input.cpu_manager_policy.as_deref(), &["none", "static"]);
    one_of(
        "topologyManagerPolicy",
        input.topology_manager_policy.as_deref(),
        &["none", "restricted", "best-effort", "single-numa-node"],
    );
}

fn shutdown(input: &KubeletInput, refusals: &mut Refusals) {
    let mut duration = |name: &str, text: Option<&str>| {
        let duration = text.map(syntax::milliseconds);
        if duration == Some(None) {
            refusals.invalid(format!("kubelet.{name}"), DURATION);
        }
        duration.flatten()
    };
    let whole = duration("shutdownGracePeriod", input.shutdown_grace_period.as_deref());
    let part =
        duration("shutdownGracePeriodCriticalPods", input.shutdown_grace_period_critical_pods.as_deref());
    // Only when both are given: what an image has otherwise is its own.
    if let (Some(whole), Some(part)) = (whole, part)
        && part > whole
    {
        refusals.invalid(
            "kubelet.shutdownGracePeriodCriticalPods",
            "must not be longer than shutdownGracePeriod, of which it is a part",
        );
    }
}

/// The same settings under Bottlerocket's names.
pub(crate) fn to_bottlerocket(set: &Map<String, Value>) -> Map<String, Value> {
    let named = |setting: &Setting| Some((setting.bottlerocket.to_owned(), set.get(setting.field)?.clone()));
    SETTINGS.iter().filter_map(named).collect()
}

/// Those of Bottlerocket's settings that are settings of the kubelet, under the names of KubeletConfiguration.
pub(crate) fn from_bottlerocket(of: &Map<String, Value>) -> Map<String, Value> {
    let named = |setting: &Setting| Some((setting.field.to_owned(), of.get(setting.bottlerocket)?.clone()));
    SETTINGS.iter().filter_map(named).collect()
}

/// The same settings as flags of the kubelet.
pub(crate) fn to_flags(set: &Map<String, Value>) -> Vec<String> {
    let flag = |setting: &Setting| {
        Some(format!("--{}={}", setting.flag?, written(set.get(setting.field)?, setting.kind)))
    };
    SETTINGS.iter().filter_map(flag).collect()
}

fn written(value: &Value, kind: FlagKind) -> String {
    match (value, kind) {
        (Value::Object(pairs), FlagKind::Pairs(between)) => {
            let pair = |(name, value): (&String, &Value)| {
                format!("{name}{between}{}", value.as_str().unwrap_or_default())
            };
            let mut pairs: Vec<String> = pairs.iter().map(pair).collect();
            pairs.sort();
            pairs.join(",")
        }
        (Value::String(text), _) => text.clone(),
        (value, _) => value.to_string(),
    }
}

/// The setting that a flag sets, if it is one of these; nothing for a value that the kubelet would not read.
pub(crate) fn from_flag(flag: &str, value: &str) -> Option<(String, Value)> {
    let setting = SETTINGS.iter().find(|setting| setting.flag == Some(flag))?;
    let value = match setting.kind {
        FlagKind::Number => Value::from(value.parse::<i64>().ok()?),
        FlagKind::YesNo => Value::from(value.parse::<bool>().ok()?),
        FlagKind::Text => Value::from(value),
        FlagKind::Pairs(between) => {
            let pair = |pair: &str| {
                let (name, value) = pair.split_once(between)?;
                Some((name.to_owned(), Value::from(value)))
            };
            Value::Object(value.split(',').map(pair).collect::<Option<_>>()?)
        }
    };
    Some((setting.field.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn everything() -> KubeletInput {
        let map = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
        KubeletInput {
            max_pods: Some(58),
            kube_reserved: map("cpu", "100m"),
            system_reserved: map("memory", "1Gi"),
            eviction_hard: map("memory.available", "5%"),
            eviction_soft: map("memory.available", "9%"),
            eviction_soft_grace_period: map("memory.available", "1m"),
            eviction_max_pod_grace_period: Some(30),
            image_gc_high_threshold_percent: Some(90),
            image_gc_low_threshold_percent: Some(70),
            pod_pids_limit: Some(-1),
            container_log_max_size: Some("10Mi".into()),
            container_log_max_files: Some(3),
            shutdown_grace_period: Some("1m".into()),
            shutdown_grace_period_critical_pods: Some("20s".into()),
            cpu_manager_policy: Some("static".into()),
            topology_manager_policy: Some("restricted".into()),
            registry_pull_qps: Some(5),
            registry_burst: Some(10),
            cpu_cfs_quota: Some(false),
            seccomp_default: Some(true),
        }
    }

    fn parsed(family: Family) -> Map<String, Value> {
        let mut refusals = Refusals::default();
        let mut input = everything();
        if family == Family::CloudInit {
            input.shutdown_grace_period = None;
            input.shutdown_grace_period_critical_pods = None;
        }
        let set = parse(&input, family, &mut refusals);
        refusals.or(Some(set)).unwrap()
    }

    #[test]
    fn every_field_is_in_the_table() {
        let set = parsed(Family::AL2023);
        let fields: Vec<&str> = set.keys().map(String::as_str).collect();
        let mut known: Vec<&str> = SETTINGS.iter().map(|setting| setting.field).collect();
        known.sort_unstable();
        assert_eq!(fields.len(), 20);
        assert!(fields.iter().all(|field| known.contains(field)), "{fields:?}");
    }

    #[test]
    fn names_of_bottlerocket_convert_back() {
        let set = parsed(Family::Bottlerocket);
        assert_eq!(from_bottlerocket(&to_bottlerocket(&set)), set);
    }

    #[test]
    fn flags_convert_back() {
        let set = parsed(Family::CloudInit);
        let flags = to_flags(&set);
        let read = flags.iter().map(|flag| {
            let (name, value) = flag.trim_start_matches("--").split_once('=').unwrap();
            from_flag(name, value).unwrap()
        });
        assert_eq!(read.collect::<Map<_, _>>(), set);
        assert!(flags.contains(&"--eviction-hard=memory.available<5%".to_owned()));
    }
}
