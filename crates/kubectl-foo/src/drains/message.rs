//! Reads the message of a Machine's condition `Deleting` while Cluster API drains its Node
//! (`internal/controllers/machine/drain` of Cluster API v1.14, `EvictionResult.ConditionMessage`). It has a line
//! `* Pods <names>: <cause>` for each cause, with at most three names.

use super::Wait;
use crate::text::one_line;
use jiff::Timestamp;

/// What is said of the time at which the drain began.
const STARTED: &str = "(started at ";
/// What is said of Pods that are evicted after others.
const LATER: &str = "the following Pods will be evicted: ";
/// What the API server says of a budget that refuses an eviction, before its name.
const BUDGET: &str = "The disruption budget ";

/// What a message says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// When the drain began.
    pub started: Option<Timestamp>,
    /// Pods by name.
    pub pods: Vec<Wait>,
    /// Number of Pods that are only counted.
    pub unnamed: u32,
    /// The lines that are about no Pod, in one line.
    pub rest: String,
}

/// Takes the message apart. What has another form stays in `rest`.
pub fn parse(message: &str) -> Parsed {
    let mut parsed = Parsed::default();
    let mut rest = Vec::new();
    for line in message.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let caused = line.strip_prefix("* Pods ").or_else(|| line.strip_prefix("* Pod "));
        if let Some((names, cause)) = caused.and_then(|line| line.split_once(": ")) {
            parsed.add(names, cause);
        } else if let Some((_, names)) = line.split_once(LATER) {
            parsed.add(names, "evicted after the others");
        } else {
            let started = line.split_once(STARTED).and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
            parsed.started = parsed.started.or(started);
            rest.push(line);
        }
    }
    parsed.rest = one_line(&rest.join("\n"));
    parsed
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
            self.pods.push(Wait { pod: name.to_owned(), budget, why: cause.to_owned() });
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
                       After above Pods have been removed from the Node, the following Pods will be evicted: c/last";
        let parsed = parse(message);
        let pods: Vec<(&str, Option<&str>)> =
            parsed.pods.iter().map(|it| (it.pod.as_str(), it.budget.as_deref())).collect();
        let expected = [
            ("a/one", None),
            ("a/two", None),
            ("a/three", None),
            ("b/web", Some("b/web-budget")),
            ("c/last", None),
        ];
        assert_eq!(pods, expected);
        assert_eq!(parsed.unnamed, 2);
        assert_eq!(parsed.started, "2026-11-21T11:58:02Z".parse().ok());
        assert_eq!(parsed.rest, "Drain not completed yet (started at 2026-11-21T11:58:02Z):");
    }

    #[test]
    fn a_message_of_another_form_is_kept() {
        let parsed = parse("* Pods in 3 namespaces\nwaiting for volumes: pv-1, pv-2");
        assert!(parsed.pods.is_empty());
        assert_eq!(parsed.rest, "* Pods in 3 namespaces waiting for volumes: pv-1, pv-2");
    }
}
