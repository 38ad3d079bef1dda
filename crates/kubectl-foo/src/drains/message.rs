//! Reads the message of a Machine's condition `Deleting` while Cluster API drains its Node
//! (`EvictionResult.ConditionMessage` of Cluster API v1.14). Below a heading it has a line `* Pods <names>: <cause>` for
//! each cause, with at most three names and five causes, and a line for Pods that come after those.

use super::Wait;
use crate::text::one_line;

/// How the heading begins.
const HEADING: &str = "Drain not completed yet";
/// What is reported of Pods that are evicted after others.
const EVICTED_LATER: &str = "the following Pods will be evicted: ";
/// What is reported of Pods that are to end by themselves after others.
const COMPLETED_LATER: &str = "waiting for the following Pods to complete without eviction: ";
/// What the API server says of a budget that refuses an eviction, before its name.
const BUDGET: &str = "The disruption budget ";

/// What a message says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// Pods by name.
    pub pods: Vec<Wait>,
    /// Number of Pods that are only counted.
    pub unnamed: u32,
    /// The lines that are about no Pod, in one line; without the heading, if there are Pods.
    pub rest: String,
}

/// Takes the message apart. What has another form stays in `rest`.
pub fn parse(message: &str) -> Parsed {
    let mut parsed = Parsed::default();
    let mut rest = Vec::new();
    for line in message.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let item = line.strip_prefix("* ");
        let caused = item.and_then(|item| item.strip_prefix("Pods ").or_else(|| item.strip_prefix("Pod ")));
        if let Some((names, cause)) = caused.and_then(|item| item.split_once(": ")) {
            parsed.add(names, cause);
        } else if let Some((_, names)) = line.split_once(EVICTED_LATER) {
            parsed.add(names, "evicted after the others");
        } else if let Some((_, names)) = line.split_once(COMPLETED_LATER) {
            parsed.add(names, "not evicted; after the others the drain waits until it has ended");
        } else if let Some(count) = item.and_then(counted) {
            parsed.unnamed = parsed.unnamed.saturating_add(count);
        } else {
            rest.push(line);
        }
    }
    if !parsed.pods.is_empty() || parsed.unnamed > 0 {
        rest.retain(|line| !line.starts_with(HEADING));
    }
    parsed.rest = one_line(&rest.join("\n"));
    parsed
}

/// The number in `2 Pods with other issues`.
fn counted(item: &str) -> Option<u32> {
    let count =
        item.strip_suffix(" Pods with other issues").or_else(|| item.strip_suffix(" Pod with other issues"));
    count?.parse().ok()
}

impl Parsed {
    fn add(&mut self, names: &str, cause: &str) {
        let budget = cause.split_once(BUDGET).and_then(|(_, rest)| rest.split(' ').next());
        for name in names.split(", ") {
            if let Some(more) = name.strip_prefix("... (").and_then(|rest| rest.strip_suffix(" more)")) {
                self.unnamed = self.unnamed.saturating_add(more.parse().unwrap_or_default());
                continue;
            }
            let namespace = name.split_once('/').map(|(namespace, _)| namespace);
            let budget = budget.map(|budget| match namespace {
                Some(namespace) => format!("{namespace}/{budget}"),
                None => budget.to_owned(),
            });
            self.pods.push(Wait {
                pod: name.to_owned(),
                budget,
                why: cause.to_owned(),
                owner: None,
                created: None,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_and_their_budgets_are_found() {
        let message = "Drain not completed yet (started at 2026-11-21T11:58:02Z):\n\
                       * Pods a/one, a/two, a/three, ... (2 more): deletionTimestamp set, but still not removed from the Node\n\
                       * Pod b/web: cannot evict pod as it would violate the pod's disruption budget. The disruption \
                       budget web-budget needs 20 healthy pods and has 20 currently\n\
                       * 4 Pods with other issues\n\
                       * Pod b/job: waiting for completion\n\
                       After above Pods have been removed from the Node, the following Pods will be evicted: c/last\n\
                       After above Pods have been removed from the Node, waiting for the following Pods to complete without \
                       eviction: c/one, c/two";
        let parsed = parse(message);
        let pods: Vec<(&str, Option<&str>)> =
            parsed.pods.iter().map(|it| (it.pod.as_str(), it.budget.as_deref())).collect();
        let expected = [
            ("a/one", None),
            ("a/two", None),
            ("a/three", None),
            ("b/web", Some("b/web-budget")),
            ("b/job", None),
            ("c/last", None),
            ("c/one", None),
            ("c/two", None),
        ];
        assert_eq!(pods, expected);
        assert_eq!((parsed.unnamed, parsed.rest.as_str()), (6, ""));
        let one = parse("Drain not completed yet (started at x):\n* 1 Pod with other issues");
        assert_eq!((one.unnamed, one.rest.as_str()), (1, ""));
    }

    #[test]
    fn what_is_about_no_pod_is_kept() {
        let message = "Drain not completed yet (started at x):\n* Pod a/one: failed to evict Pod, webhook refused:\nno reason";
        assert_eq!(parse(message).rest, "no reason");
        let parsed = parse("* Pods in 3 namespaces\nwaiting for volumes: pv-1, pv-2");
        assert!(parsed.pods.is_empty());
        assert_eq!(parsed.rest, "* Pods in 3 namespaces waiting for volumes: pv-1, pv-2");
        let heading = "Drain not completed yet (started at x):";
        assert_eq!(parse(heading).rest, heading);
    }
}
