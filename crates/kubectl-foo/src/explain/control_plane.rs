//! What a control plane waits for: EKS's update under way, add-ons with issues, what was tried and failed, and how long
//! the token of its kubeconfig is valid.

use super::lines::{heading, others, remedies, verdict, warnings};
use super::read::ControlPlaneFacts;
use crate::text::{duration, line, section, table};
use foo_api::FooControlPlane;
use foo_api::conditions::find;
use foo_api::control_plane::{EksRecord, EksStatus, FailedInEks, UpdateUnderWay};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::Resource as _;
use std::collections::BTreeMap;

/// Conditions that are well when they are True.
pub(crate) const WELL_WHEN_TRUE: [&str; 6] =
    ["Available", "Initialized", "ClusterReady", "AddonsReady", "AccessReady", "KubeconfigReady"];
/// What EKS calls a cluster or an add-on with which all is well.
const ACTIVE: &str = "ACTIVE";
/// What it calls a cluster that it updates.
const UPDATING: &str = "UPDATING";

/// The explanation of one control plane at that moment. Ends with a new line.
pub fn explain(facts: &ControlPlaneFacts, now: Timestamp) -> String {
    let control_plane = &facts.control_plane;
    let all = conditions(control_plane);
    let mut text = heading(control_plane, Some(operated_by(control_plane)));
    line(&mut text, &versions(control_plane));
    let seen = find(all, "Ready").and_then(|ready| ready.observed_generation);
    line(&mut text, &verdict(control_plane.meta(), all, seen, now));
    section(&mut text, "Also", &others(all, &WELL_WHEN_TRUE, now));
    section(&mut text, "EKS", &at_eks(control_plane, now));
    section(&mut text, "Add-ons", &addons(control_plane));
    section(&mut text, "Kubeconfig", &token(facts, now));
    section(&mut text, "What to do", &remedies(all, &WELL_WHEN_TRUE));
    section(&mut text, "Warnings of the last hour", &warnings(&facts.events, now));
    text
}

fn conditions(control_plane: &FooControlPlane) -> &[Condition] {
    control_plane.status.as_ref().map(|status| status.conditions.as_slice()).unwrap_or_default()
}

fn eks(control_plane: &FooControlPlane) -> Option<&EksStatus> {
    control_plane.status.as_ref().and_then(|status| status.eks.as_ref())
}

/// Which EKS cluster it is, or that it is none.
pub(crate) fn operated_by(control_plane: &FooControlPlane) -> String {
    let Some(wanted) = &control_plane.spec.eks else { return "API server of another provider".to_owned() };
    let name = eks(control_plane).and_then(|eks| eks.name.as_ref()).or(wanted.name.as_ref());
    name.map_or_else(|| "EKS cluster without a name yet".to_owned(), |name| format!("EKS cluster {name}"))
}

/// The Kubernetes version that runs and the one that is requested, and the status in EKS.
pub(crate) fn versions(control_plane: &FooControlPlane) -> String {
    let Some(status) = &control_plane.status else {
        return "the manager has not reported on it yet".to_owned();
    };
    let wanted = &control_plane.spec.version;
    let runs = match &status.version {
        None => format!("Kubernetes {wanted} requested, not running yet"),
        Some(runs) if runs == wanted => format!("Kubernetes {runs}"),
        Some(runs) => format!("Kubernetes {runs}, {wanted} requested"),
    };
    let shown = status.eks.as_ref().and_then(|eks| eks.status.as_ref());
    shown.map_or_else(|| runs.clone(), |shown| format!("{runs}; EKS status {shown}"))
}

/// What EKS is at work on, and what it failed at.
fn at_eks(control_plane: &FooControlPlane, now: Timestamp) -> Vec<String> {
    let Some(record) = eks(control_plane).and_then(|eks| eks.record.as_ref()) else { return Vec::new() };
    let mut lines: Vec<String> = creation(control_plane, record, now).into_iter().collect();
    lines.extend(record.update.as_ref().map(|update| under_way(update, now)));
    lines.extend(record.failed.iter().map(|failed| failure(failed, now)));
    if let Some(refused) = record.rollback.as_ref().and_then(|it| it.refused_version.as_ref()) {
        lines.push(format!("a user rolled the version back; it is not updated to {refused} again"));
    }
    if record.deleting {
        lines.push("the deletion of the cluster was requested".to_owned());
    }
    lines
}

fn creation(control_plane: &FooControlPlane, record: &EksRecord, now: Timestamp) -> Option<String> {
    let before = match record.attempts.unwrap_or_default() {
        0 => String::new(),
        1 => "; one creation before failed".to_owned(),
        count => format!("; {count} creations before failed"),
    };
    let is_shown = eks(control_plane).is_some_and(|eks| eks.status.is_some());
    match &record.creating_since {
        Some(since) if !is_shown => Some(format!(
            "its creation was requested {} ago, and EKS does not show the cluster yet{before}",
            duration(since.0, now)
        )),
        Some(_) | None if before.is_empty() || record.active_once => None,
        Some(_) | None => Some(format!("the cluster is being created{before}")),
    }
}

fn under_way(update: &UpdateUnderWay, now: Timestamp) -> String {
    let (what, since) = (update_of(&update.kind), duration(update.since.0, now));
    match &update.id {
        Some(id) => format!("{what} has been under way for {since} (update {id}); EKS runs one at a time"),
        None => format!("{what} was requested {since} ago, and EKS does not show it yet"),
    }
}

fn failure(failed: &FailedInEks, now: Timestamp) -> String {
    let what = match failed.kind.as_str() {
        "cluster" => "the creation of the cluster".to_owned(),
        kind => kind.strip_prefix("addon/").map_or_else(|| update_of(kind), |name| format!("add-on {name}")),
    };
    let times = if failed.times == 1 { "once".to_owned() } else { format!("{} times", failed.times) };
    format!("{what} failed {times}, last {} ago: {}", duration(failed.at.0, now), failed.message)
}

/// An update of the cluster, by the name of its kind in the status.
pub(crate) fn update_of(kind: &str) -> String {
    let what = match kind {
        "version" => "the version",
        "access" => "who reaches the API server",
        "subnets" => "the subnets",
        "securityGroups" => "the security groups",
        "logging" => "the logs",
        "authenticationMode" => "the authentication mode",
        "upgradePolicy" => "the upgrade policy",
        "zonalShift" => "zonal shift",
        "deletionProtection" => "deletion protection",
        "encryption" => "the encryption of Secrets",
        "scalingTier" => "the capacity of the control plane",
        "associateIdentityProvider" => "the identity provider, which is being associated,",
        "disassociateIdentityProvider" => "the identity provider, which is being disassociated,",
        other => other,
    };
    format!("the update of {what}")
}

/// Add-ons that are not as they should be, and how many are.
fn addons(control_plane: &FooControlPlane) -> Vec<String> {
    let (Some(wanted), Some(shown)) = (&control_plane.spec.eks, eks(control_plane)) else {
        return Vec::new();
    };
    let may_have_some = shown.status.as_deref().is_some_and(|status| [ACTIVE, UPDATING].contains(&status));
    if !may_have_some && shown.addons.is_empty() {
        return Vec::new();
    }
    let mut all: BTreeMap<&str, [String; 3]> = BTreeMap::new();
    for addon in &wanted.addons {
        let missing = "requested, not in EKS yet".to_owned();
        all.insert(&addon.name, [String::new(), String::new(), missing]);
    }
    let requested = |name: &str| wanted.addons.iter().any(|addon| addon.name == name);
    for addon in &shown.addons {
        let unwanted = (!requested(&addon.name)).then(|| "no longer requested".to_owned());
        let why: Vec<String> = unwanted.into_iter().chain(addon.message.clone()).collect();
        let (version, status) = (addon.version.clone(), addon.status.clone());
        all.insert(&addon.name, [version, status, Some(why.join("; "))].map(Option::unwrap_or_default));
    }
    let count = all.len();
    let is_well = |[_, status, why]: &[String; 3]| status == ACTIVE && why.is_empty();
    let rows = all.into_iter().filter(|(_, row)| !is_well(row));
    let rows: Vec<[String; 4]> =
        rows.map(|(name, [version, status, why])| [name.to_owned(), version, status, why]).collect();
    let well = count - rows.len();
    let mut lines = table(["NAME", "VERSION", "STATUS", "WHY"], rows);
    match (well, lines.is_empty()) {
        (0, _) => {}
        (all, true) => lines.push(format!("all {all} are ACTIVE")),
        (1, false) => lines.push("1 more is ACTIVE".to_owned()),
        (others, false) => lines.push(format!("{others} more are ACTIVE")),
    }
    lines
}

/// How long the token in the kubeconfig is valid, if this user may read the Secret's metadata.
fn token(facts: &ControlPlaneFacts, now: Timestamp) -> Vec<String> {
    let Some(ends) = facts.token_ends else { return Vec::new() };
    let line = if ends > now {
        format!("its token is valid for another {}", duration(now, ends))
    } else {
        format!("the token expired {} ago and was not renewed", duration(ends, now))
    };
    vec![line]
}
