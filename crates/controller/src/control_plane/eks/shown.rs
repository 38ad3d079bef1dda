//! The status of a FooControlPlane in mode `eks`, by Cluster API's contract for control planes: what a plan reports,
//! and what the controller itself finds out about the API server.

use super::record;
use foo_api::conditions::{self, NewCondition};
use foo_api::control_plane::{
    AddonStatus, ControlPlaneInitialization, ControlPlaneVersion, EksStatus, eks as api,
};
use foo_api::{FooControlPlane, FooControlPlaneStatus};
use foo_calls::report::Status;
use foo_eks::report::ConditionKind;
use foo_eks::{Plan, Recorded};
use foo_model::eks::{Addon, Cluster, ClusterStatus, IpFamily, Minor};
use foo_model::{Blocked, Difference, Kubernetes, Reason};
use jiff::Timestamp;

/// The longest message about an add-on.
const LONGEST_MESSAGE: usize = 1024;

/// What a pass found out.
#[derive(Default)]
pub(super) struct Facts<'a> {
    /// Name of the EKS cluster.
    pub(super) name: String,
    /// What was planned last; `None`: nothing was planned.
    pub(super) plan: Option<&'a Plan>,
    /// Why nothing could be planned.
    pub(super) blocked: Option<Blocked>,
    /// What the deletion waits for besides what the plan names.
    pub(super) deleting: Option<Blocked>,
    /// Whether it is paused.
    pub(super) paused: bool,
    /// Whether the kubeconfigs are as they must be; `None`: they were not checked.
    pub(super) kubeconfig: Option<Result<(), Blocked>>,
    /// The version that the API server reports to the kubeconfig's credentials if they work; otherwise why they do not.
    /// `None`: it was not asked.
    pub(super) api_server: Option<Result<String, Blocked>>,
    /// How far the manager's clock is from the API server's.
    pub(super) clock: Difference<Kubernetes>,
}

/// The status.
pub(super) fn status(
    control_plane: &FooControlPlane,
    old: &FooControlPlaneStatus,
    facts: &Facts<'_>,
    record: &Recorded,
    now: Timestamp,
) -> FooControlPlaneStatus {
    if facts.paused && facts.plan.is_none() {
        // Nothing was found out: what was published stays, also the absence of what was not published after a move.
        let initialized = old.initialized.unwrap_or_default();
        let wanted = wanted(old, facts, initialized);
        let conditions = conditions::merge(&old.conditions, &wanted, control_plane.metadata.generation, now);
        return FooControlPlaneStatus { conditions, ..old.clone() };
    }
    let cluster = facts.plan.and_then(|plan| plan.report.cluster.as_deref());
    let reported_version = facts.api_server.as_ref().and_then(|response| response.as_ref().ok());
    let version = version(&control_plane.spec.version, old.version.as_deref(), cluster, reported_version);
    // Once true it stays true, as the contract requires.
    let initialized = record.initialized || reported_version.is_some();
    FooControlPlaneStatus {
        initialization: Some(ControlPlaneInitialization { control_plane_initialized: Some(initialized) }),
        ready: Some(initialized),
        initialized: Some(initialized),
        external_managed_control_plane: Some(true),
        versions: version.iter().map(|version| ControlPlaneVersion { version: version.clone() }).collect(),
        version,
        eks: Some(eks(old, facts, record)),
        conditions: conditions::merge(
            &old.conditions,
            &wanted(old, facts, initialized),
            control_plane.metadata.generation,
            now,
        ),
    }
}

/// The version that the cluster runs, in the spelling of the spec if it is the same minor: Cluster API compares them as
/// texts, and EKS has no more than the minor. While EKS updates the cluster it shows the former one.
fn version(
    spec: &str,
    old: Option<&str>,
    cluster: Option<&Cluster>,
    reported_version: Option<&String>,
) -> Option<String> {
    let Some(cluster) = cluster.filter(|cluster| runs(cluster.status)) else { return old.map(str::to_owned) };
    let is_it = |text: &&str| Minor::of(text) == Some(cluster.version);
    let known = [Some(spec), old].into_iter().flatten().find(is_it).map(str::to_owned);
    let reported = || reported_version.map(String::as_str).filter(is_it).map(plain);
    Some(known.or_else(reported).unwrap_or_else(|| format!("v{}.0", cluster.version)))
}

/// Without the suffix of EKS's build, which sorts below the release.
fn plain(reported: &str) -> String {
    reported.split(['-', '+']).next().unwrap_or(reported).to_owned()
}

fn runs(status: ClusterStatus) -> bool {
    match status {
        ClusterStatus::Active | ClusterStatus::Updating | ClusterStatus::Deleting => true,
        ClusterStatus::Pending | ClusterStatus::Creating | ClusterStatus::Failed => false,
    }
}

fn eks(old: &FooControlPlaneStatus, facts: &Facts<'_>, record: &Recorded) -> EksStatus {
    let mut eks = match facts.plan.map(|plan| &plan.report) {
        Some(report) => match report.cluster.as_deref() {
            Some(cluster) => shown(cluster, &report.addons),
            None => old.eks.clone().unwrap_or_default(),
        },
        None => old.eks.clone().unwrap_or_default(),
    };
    eks.name = Some(facts.name.clone());
    record::write(record, &mut eks, facts.clock);
    eks
}

fn shown(cluster: &Cluster, addons: &[Addon]) -> EksStatus {
    let status: &'static str = cluster.status.into();
    EksStatus {
        name: Some(cluster.name.clone()),
        arn: Some(cluster.arn.clone()),
        status: Some(status.to_owned()),
        platform_version: cluster.platform_version.clone(),
        certificate_authority: cluster.certificate_authority.clone(),
        service_cidr: match cluster.ip_family {
            IpFamily::Ipv4 => cluster.service_ipv4.clone(),
            IpFamily::Ipv6 => cluster.service_ipv6.clone(),
        },
        ip_family: Some(match cluster.ip_family {
            IpFamily::Ipv4 => api::IpFamily::Ipv4,
            IpFamily::Ipv6 => api::IpFamily::Ipv6,
        }),
        oidc_issuer: cluster.oidc_issuer.clone(),
        cluster_security_group: cluster.cluster_security_group.as_ref().map(|id| id.as_str().to_owned()),
        addons: addons.iter().map(addon).collect(),
        record: None,
    }
}

fn addon(addon: &Addon) -> AddonStatus {
    let status: &'static str = addon.status.into();
    let words: Vec<String> = addon.issues.iter().map(|it| format!("{}: {}", it.code, it.message)).collect();
    let message: String = words.join("; ").chars().take(LONGEST_MESSAGE).collect();
    AddonStatus {
        name: addon.name.clone(),
        version: Some(addon.version.clone()),
        status: Some(status.to_owned()),
        message: Some(message).filter(|message| !message.is_empty()),
    }
}

type Words = (&'static str, String, String);

fn wanted(old: &FooControlPlaneStatus, facts: &Facts<'_>, initialized: bool) -> Vec<NewCondition> {
    let cluster = area(ConditionKind::ClusterReady, old, facts);
    let available = available(old, facts, &cluster);
    let kubeconfig = kubeconfig(old, facts);
    let deleting = deleting(facts);
    let ready = if deleting.0 == "True" {
        ("False", Reason::Deleting.into(), deleting.2.clone())
    } else {
        let parts = [&available, &cluster, &kubeconfig];
        parts.into_iter().find(|part| part.0 != "True").unwrap_or(&available).clone()
    };
    let first = if initialized {
        ("True", Reason::ApiServerReachable.into(), String::new())
    } else {
        (available.0, available.1.clone(), available.2.clone())
    };
    let paused = if facts.paused { ("True", Reason::Paused) } else { ("False", Reason::NotPaused) };
    vec![
        new("Available", available),
        new("Ready", ready),
        new("Initialized", first),
        new("ClusterReady", cluster),
        new("Upgrading", area(ConditionKind::Upgrading, old, facts)),
        new("AddonsReady", area(ConditionKind::AddonsReady, old, facts)),
        new("AccessReady", access(old, facts)),
        new("KubeconfigReady", kubeconfig),
        new("Paused", (paused.0, paused.1.into(), String::new())),
        new("Deleting", deleting),
    ]
}

fn new(kind: &str, (status, reason, message): Words) -> NewCondition {
    NewCondition { kind: kind.to_owned(), status, reason, message }
}

/// A condition of the plan; without a plan that of before, or why there is none.
fn area(kind: ConditionKind, old: &FooControlPlaneStatus, facts: &Facts<'_>) -> Words {
    let planned = facts.plan.and_then(|plan| plan.report.conditions.iter().find(|it| it.kind == kind));
    if let Some(reported) = planned {
        return (text(reported.status), reported.reason.into(), reported.message.clone());
    }
    match (&facts.blocked, kind) {
        (Some(blocked), ConditionKind::ClusterReady) => {
            ("False", blocked.reason.into(), blocked.message.clone())
        }
        (Some(_), _) => ("Unknown", Reason::NotVerified.into(), "see condition ClusterReady".to_owned()),
        (None, _) => as_before(old, kind.into()).unwrap_or_else(not_asked),
    }
}

/// Access is ready when it is as requested in EKS and the kubeconfig's credentials work at the API server.
fn access(old: &FooControlPlaneStatus, facts: &Facts<'_>) -> Words {
    let planned = area(ConditionKind::AccessReady, old, facts);
    if planned.0 != "True" {
        return planned;
    }
    match &facts.api_server {
        Some(Ok(_)) => planned,
        Some(Err(refused)) if refused.reason == Reason::WaitingForAccess => {
            ("False", refused.reason.into(), refused.message.clone())
        }
        Some(Err(_)) => ("Unknown", Reason::NotVerified.into(), "see condition Available".to_owned()),
        None => as_before(old, ConditionKind::AccessReady.into()).unwrap_or_else(not_asked),
    }
}

fn not_asked() -> Words {
    ("Unknown", Reason::NotYetVerified.into(), "AWS has not been asked yet".to_owned())
}

fn text(status: Status) -> &'static str {
    match status {
        Status::True => "True",
        Status::False => "False",
        Status::Unknown => "Unknown",
    }
}

fn as_before(old: &FooControlPlaneStatus, kind: &str) -> Option<Words> {
    let before = conditions::find(&old.conditions, kind)?;
    let status = match before.status.as_str() {
        "True" => "True",
        "False" => "False",
        _ => "Unknown",
    };
    Some((status, before.reason.clone(), before.message.clone()))
}

/// Whether the kubeconfig's credentials work at the API server. Before it is there, the cluster's state shows why.
fn available(old: &FooControlPlaneStatus, facts: &Facts<'_>, cluster: &Words) -> Words {
    match &facts.api_server {
        Some(Ok(_)) => ("True", Reason::ApiServerReachable.into(), String::new()),
        Some(Err(blocked)) => ("False", blocked.reason.into(), blocked.message.clone()),
        None => {
            let before = as_before(old, "Available").filter(|before| before.0 == "True");
            before.unwrap_or_else(|| ("False", cluster.1.clone(), cluster.2.clone()))
        }
    }
}

fn kubeconfig(old: &FooControlPlaneStatus, facts: &Facts<'_>) -> Words {
    match &facts.kubeconfig {
        Some(Ok(())) => ("True", Reason::KubeconfigValid.into(), String::new()),
        Some(Err(blocked)) => ("False", blocked.reason.into(), blocked.message.clone()),
        None => as_before(old, "KubeconfigReady").unwrap_or_else(|| {
            let message = "the EKS cluster has no API server yet".to_owned();
            ("Unknown", Reason::NotChecked.into(), message)
        }),
    }
}

fn deleting(facts: &Facts<'_>) -> Words {
    if let Some(waits) = &facts.deleting {
        return ("True", waits.reason.into(), waits.message.clone());
    }
    let planned = facts.plan.and_then(|plan| {
        let reported = plan.report.conditions.iter().find(|it| it.kind == ConditionKind::Deleting)?;
        Some((text(reported.status), reported.reason.into(), reported.message.clone()))
    });
    planned.unwrap_or_else(|| ("False", Reason::NotDeleting.into(), String::new()))
}
