//! Lines about any kind: the verdict of its conditions, what differs from a healthy object, and warnings.

use crate::text::{age, duration, last_seen, one_line, reported};
use foo_api::conditions::find;
use foo_api::names::CLUSTER_NAME_LABEL;
use foo_model::Reason;
use foo_model::reason::Class;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::{Resource, ResourceExt as _};
use std::collections::BTreeSet;

/// Older warnings are not shown.
const RECENT: jiff::SignedDuration = jiff::SignedDuration::from_hours(1);
/// If an object is not ready and its status is older than this, the output reports it: either nothing has changed,
/// or no manager is at work. The user has to find out which.
const STALE: jiff::SignedDuration = jiff::SignedDuration::from_mins(10);
/// Maximum number of warnings shown.
const WARNINGS: usize = 5;

/// Kind, name, Cluster, and what else is worth its place there. Ends with a new line.
pub(super) fn heading<K: Resource<DynamicType = ()>>(object: &K, more: Option<String>) -> String {
    let cluster = object.labels().get(CLUSTER_NAME_LABEL);
    let cluster = cluster.map(|cluster| format!(" of Cluster {cluster}")).unwrap_or_default();
    let more = more.map(|more| format!(", {more}")).unwrap_or_default();
    let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
    format!("{} {namespace}/{name}{cluster}{more}\n", K::kind(&()))
}

/// Whether it is ready, and if not, why. `seen` is the generation of the spec that the status is about.
pub(super) fn verdict(meta: &ObjectMeta, all: &[Condition], seen: Option<i64>, now: Timestamp) -> String {
    let Some(ready) = find(all, "Ready") else { return String::new() };
    let behind = behind(meta, seen);
    // The status of a healthy object is not written again: there an old one is no reason to worry.
    let written = written(meta).filter(|at| now.duration_since(*at) >= STALE);
    let stale = written.filter(|_| behind.is_some() || ready.status != "True");
    let stale = stale.map(|at| format!("the manager last wrote this status {} ago", duration(at, now)));
    let caution = behind.into_iter().chain(stale).collect::<Vec<_>>().join("; ");
    let caution = if caution.is_empty() { caution } else { format!(" ({caution})") };
    let at_work = Reason::parse(&ready.reason)
        .is_some_and(|reason| reason.entry().class == Class::Waiting || reason == Reason::RolloutPaused);
    if ready.status == "True" && at_work {
        // Routine work, for example a scale-in, leaves it ready.
        format!("Ready for {}: {}{caution}", age(ready, now), reported(ready))
    } else if ready.status == "True" {
        format!("Ready for {}{caution}{}", age(ready, now), asides(ready, all))
    } else {
        format!("Not ready for {}: {}{caution}", age(ready, now), reported(ready))
    }
}

/// Warnings in what `Ready` shows that no other condition repeats.
fn asides(ready: &Condition, all: &[Condition]) -> String {
    let message = one_line(&ready.message);
    let is_repeated = |warning: &&str| all.iter().any(|other| one_line(&other.message) == *warning);
    let warnings = message.split("; warning: ").skip(1).filter(|warning| !is_repeated(warning));
    warnings.fold(String::new(), |asides, warning| format!("{asides}; warning: {warning}"))
}

/// Whether the status is about an older generation of the spec.
fn behind(meta: &ObjectMeta, seen: Option<i64>) -> Option<String> {
    let stands = meta.generation?;
    let known = seen.map_or_else(|| "none".to_owned(), |seen| seen.to_string());
    (seen != Some(stands)).then(|| {
        format!("that is about generation {known}; the spec has changed since, to generation {stands}")
    })
}

/// When the status was last written, as the API server remembers it.
fn written(meta: &ObjectMeta) -> Option<Timestamp> {
    let writes = meta.managed_fields.iter().flatten();
    let of_status = writes.filter(|write| write.subresource.as_deref() == Some("status"));
    of_status.filter_map(|write| write.time.as_ref()).map(|time| time.0).max()
}

/// Every condition beside `Ready` that differs from a healthy object's. Those of `well_when_true` are well when they
/// are True; of all others a False for a good reason is not printed.
pub(super) fn others(all: &[Condition], well_when_true: &[&str], now: Timestamp) -> Vec<String> {
    let rows = |condition: &Condition| {
        format!(
            "{} has been {} for {}: {}",
            condition.type_,
            condition.status,
            age(condition, now),
            reported(condition)
        )
    };
    worth_printing(all, well_when_true).into_iter().map(rows).collect()
}

fn worth_printing<'a>(all: &'a [Condition], well_when_true: &[&str]) -> Vec<&'a Condition> {
    let ready = find(all, "Ready").map(reported);
    let is_worth_printing = |condition: &&Condition| {
        let reason = Reason::parse(&condition.reason);
        let settled = if well_when_true.contains(&condition.type_.as_str()) {
            condition.status == "True" && reason.is_none_or(Reason::is_good)
        } else {
            condition.status == "False" && reason.is_some_and(Reason::is_good)
        };
        let is_ready = condition.type_ == "Ready" || ready.as_ref() == Some(&reported(condition));
        !settled && !is_ready && !reason.is_some_and(|reason| refers_to_another(reason, condition))
    };
    all.iter().filter(is_worth_printing).collect()
}

/// Why an object is not well: what `Ready` reports if it is not True, and what else needs a user or is a fault.
pub(crate) fn unwell(all: &[Condition], well_when_true: &[&str]) -> Vec<String> {
    let is_serious = |condition: &Condition| {
        Reason::parse(&condition.reason)
            .is_none_or(|reason| matches!(reason.entry().class, Class::NeedsUser | Class::Fault))
    };
    let ready = find(all, "Ready").filter(|ready| ready.status != "True" || is_serious(ready));
    let others = worth_printing(all, well_when_true).into_iter().filter(|condition| is_serious(condition));
    let others =
        others.map(|condition| format!("{} {}: {}", condition.type_, condition.status, reported(condition)));
    ready.map(reported).into_iter().chain(others).collect()
}

/// Whether it only shows that another condition reports why.
fn refers_to_another(reason: Reason, condition: &Condition) -> bool {
    let elsewhere = matches!(reason, Reason::WaitingForEksCluster | Reason::NotVerified);
    elsewhere || (reason == Reason::Deleting && condition.message.is_empty())
}

/// What a user can do about what the conditions report, if it takes a user.
pub(super) fn remedies(all: &[Condition], well_when_true: &[&str]) -> Vec<String> {
    let ready = find(all, "Ready").filter(|ready| ready.status != "True");
    let rows = ready.into_iter().chain(worth_printing(all, well_when_true));
    let reasons: Vec<Reason> = rows.filter_map(|condition| Reason::parse(&condition.reason)).collect();
    let mut remedies = Vec::new();
    for reason in reasons {
        let entry = reason.entry();
        let action = plain(entry.action);
        // Others pass by themselves, or are explained by their message.
        if entry.class != Class::NeedsUser || action == "the message" {
            continue;
        }
        let remedy = format!("{reason}: {action}");
        if !remedies.contains(&remedy) {
            remedies.push(remedy);
        }
    }
    remedies
}

/// Markdown as a terminal shows it: without the marks of code and the targets of links.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, link)) = rest.split_once("](") {
        let (before, label) = before.rsplit_once('[').unwrap_or((before, ""));
        text.push_str(before);
        text.push_str(label);
        rest = link.split_once(')').map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    text.replace('`', "")
}

/// The latest first, without duplicates.
pub(super) fn warnings(events: &[Event], now: Timestamp) -> Vec<String> {
    let mut recent: Vec<(Timestamp, String)> = events
        .iter()
        .filter(|event| event.type_.as_deref() == Some("Warning"))
        .filter_map(|event| {
            let at = last_seen(event)?;
            let reason = event.reason.as_deref().unwrap_or_default();
            let message = one_line(event.message.as_deref().unwrap_or_default());
            (now.duration_since(at) < RECENT).then(|| (at, format!("{reason}: {message}")))
        })
        .collect();
    recent.sort_by(|a, b| b.cmp(a));
    let mut rows = BTreeSet::new();
    recent.retain(|(_, text)| rows.insert(text.clone()));
    let more = recent.len().saturating_sub(WARNINGS);
    let rows =
        recent.into_iter().take(WARNINGS).map(|(at, text)| format!("{} ago {text}", duration(at, now)));
    rows.chain((more > 0).then(|| format!("and {more} more"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_plain_on_a_terminal() {
        assert_eq!(
            plain("add it: [IAM policy](../reference/iam-policy.md); also `x`"),
            "add it: IAM policy; also x"
        );
        assert_eq!(plain("`spec.eks.addons[].version`, [a](b), [c](d)"), "spec.eks.addons[].version, a, c");
    }
}
