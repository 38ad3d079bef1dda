//! What was found out, and how it is reported.

use foo_cloud::{CloudError, ErrorKind};
use std::collections::{BTreeMap, BTreeSet};

/// Findings in one response; more would not be read.
const MOST: usize = 8;

/// What was found out of a topology.
#[derive(Debug, Default)]
pub struct Report {
    findings: BTreeSet<String>,
    unanswered: BTreeSet<String>,
}

impl Report {
    /// What AWS would refuse, in one sentence, if anything.
    pub fn refusal(&self) -> Option<String> {
        let shown: Vec<&str> = self.findings.iter().take(MOST).map(String::as_str).collect();
        let more = self.findings.len().saturating_sub(MOST);
        match (shown.is_empty(), more) {
            (true, _) => None,
            (false, 0) => Some(shown.join("; ")),
            (false, more) => Some(format!("{}; and {more} more", shown.join("; "))),
        }
    }

    /// What could not be found out.
    pub fn unanswered(&self) -> Option<String> {
        let all: Vec<&str> = self.unanswered.iter().map(String::as_str).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    /// What AWS would refuse: sentences, in order.
    pub fn findings(&self) -> impl Iterator<Item = &str> {
        self.findings.iter().map(String::as_str)
    }

    /// What could not be found out: sentences, in order.
    pub fn gaps(&self) -> impl Iterator<Item = &str> {
        self.unanswered.iter().map(String::as_str)
    }

    /// Adds what another report has.
    pub(crate) fn takes(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.unanswered.extend(other.unanswered);
    }

    pub(crate) fn finds(&mut self, finding: impl Into<String>) {
        self.findings.insert(finding.into());
    }

    /// A result; what AWS refuses becomes a finding, a missing response a gap.
    pub(crate) fn result<T>(&mut self, what: &str, result: foo_cloud::Result<T>) -> Option<T> {
        match result {
            Ok(result) => return Some(result),
            Err(error) if error.kind == ErrorKind::NotFound => self.finds(format!("{what} does not exist")),
            Err(error) if error.kind == ErrorKind::Invalid => {
                self.finds(format!("{what}: {}", error.message));
            }
            Err(error) => self.no_response(&error),
        }
        None
    }

    fn no_response(&mut self, error: &CloudError) {
        self.unanswered.insert(error.to_string());
    }

    /// Something was not found out, for this reason.
    pub(crate) fn lacks(&mut self, why: impl Into<String>) {
        self.unanswered.insert(why.into());
    }
}

/// Names of pools by what they request.
pub(crate) fn by_what<'a, T: Ord + 'a>(
    pairs: impl Iterator<Item = (T, &'a str)>,
) -> BTreeMap<T, BTreeSet<&'a str>> {
    let mut found: BTreeMap<T, BTreeSet<&str>> = BTreeMap::new();
    for (what, pool) in pairs {
        found.entry(what).or_default().insert(pool);
    }
    found
}

/// `pool a`, `pools a, b`.
pub(crate) fn pools(names: &BTreeSet<&str>) -> String {
    let all: Vec<&str> = names.iter().copied().collect();
    format!("{} {}", if all.len() == 1 { "pool" } else { "pools" }, all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_the_first_findings_and_counts_the_rest() {
        let mut report = Report::default();
        assert_eq!(report.refusal(), None);
        for finding in 0..10 {
            report.finds(format!("finding {finding}"));
        }
        let refusal = report.refusal().unwrap();
        assert!(refusal.starts_with("finding 0; finding 1"), "{refusal}");
        assert!(refusal.ends_with("finding 7; and 2 more"), "{refusal}");
    }
}
