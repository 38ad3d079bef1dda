//! deny.toml, as far as we use it. Unknown options are errors: an option that is silently ignored is a check that does
//! not happen.

use anyhow::{Context as _, Result};
use serde::Deserialize;
use std::path::Path;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Policy {
    pub(super) graph: Graph,
    pub(super) licenses: Licences,
    pub(super) bans: Bans,
    pub(super) sources: Sources,
    pub(super) advisories: Advisories,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Graph {
    pub(super) targets: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Licences {
    pub(super) allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
    /// Our own crates; they are never checked here.
    #[serde(default, rename = "private")]
    _private: Private,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Exception {
    #[serde(rename = "crate")]
    name: String,
    allow: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Private {
    #[serde(rename = "ignore")]
    _ignore: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bans {
    #[serde(rename = "multiple-versions")]
    _multiple_versions: Deny,
    deny: Vec<Entry>,
    #[serde(default)]
    pub(super) skip: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Sources {
    #[serde(rename = "unknown-registry")]
    _unknown_registry: Deny,
    #[serde(rename = "unknown-git")]
    _unknown_git: Deny,
    pub(super) allow_registry: Vec<String>,
}

/// There are no other levels of these in cargo-deny: every advisory on a crate in use is an error.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Advisories {
    #[serde(rename = "yanked")]
    _yanked: Deny,
    #[serde(rename = "unmaintained")]
    _unmaintained: All,
    /// Older advisories than that are mentioned.
    pub(super) maximum_db_staleness: Staleness,
    pub(super) ignore: Vec<Ignored>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum All {
    All,
}

/// A duration as ISO 8601 writes whole days: `P30D`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Staleness {
    pub(super) days: i32,
}

impl TryFrom<String> for Staleness {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let days = text.strip_prefix('P').and_then(|rest| rest.strip_suffix('D')?.parse().ok());
        days.map(|days| Self { days }).ok_or_else(|| format!("{text:?} is no number of days like P30D"))
    }
}

/// An advisory, or yanked versions of a crate, and why it does not matter here. The reason is not optional.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Ignored {
    Advisory(IgnoredAdvisory),
    Yanked(Entry),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IgnoredAdvisory {
    pub(super) id: String,
    #[serde(rename = "reason")]
    _reason: String,
}

/// The only level there is: a warning that nobody has to act on is noise.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Deny {
    Deny,
}

/// A crate, or some versions of it, and why. The reason is not optional.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// `name` or `name@1.2`.
    #[serde(rename = "crate")]
    text: String,
    reason: String,
}

impl Policy {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("in {}", path.display()))
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).context("an option that this check does not know")
    }

    /// Whether that crate may have that licence.
    pub(super) fn allows(&self, name: &str, id: &str) -> bool {
        let excepted =
            self.licenses.exceptions.iter().any(|e| e.name == name && e.allow.iter().any(|a| a == id));
        excepted || self.licenses.allow.iter().any(|allowed| allowed == id)
    }

    /// Why the crate is banned, if it is.
    pub(super) fn banned(&self, name: &str) -> Option<&str> {
        self.bans.deny.iter().find(|entry| entry.name() == name).map(|entry| entry.reason.as_str())
    }

    /// Whether that version does not count as a duplicate.
    pub(super) fn skips(&self, name: &str, version: &str) -> bool {
        self.bans.skip.iter().any(|entry| entry.matches(name, version))
    }
}

impl Entry {
    pub(super) fn name(&self) -> &str {
        self.text.split('@').next().unwrap_or_default()
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// `name@0.12` stands for every 0.12.x, as a version requirement of Cargo's would.
    pub(super) fn matches(&self, name: &str, version: &str) -> bool {
        if self.name() != name {
            return false;
        }
        let Some((_, wanted)) = self.text.split_once('@') else { return true };
        version == wanted || version.strip_prefix(wanted).is_some_and(|rest| rest.starts_with(['.', '+']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_stands_for_all_that_begin_with_it() {
        let entry = Entry { text: "a@0.2".into(), reason: String::new() };
        assert!(entry.matches("a", "0.2.17") && entry.matches("a", "0.2"));
        assert!(!entry.matches("a", "0.20.1") && !entry.matches("b", "0.2.1"));
    }

    #[test]
    fn options_it_does_not_know_are_errors() {
        let known = super::super::tests::POLICY;
        Policy::parse(known).unwrap();
        for (text, instead) in [
            ("[advisories]", "[advisories]\ngit-fetch-with-cli = true"),
            ("yanked = \"deny\"", "yanked = \"warn\""),
            ("unmaintained = \"all\"", "unmaintained = \"workspace\""),
            ("P30D", "P1M"),
            ("ignore = []", "ignore = [\"RUSTSEC-2026-0001\"]"),
            ("ignore = []", "ignore = [{ id = \"RUSTSEC-2026-0001\" }]"),
            ("[bans]", "[bans]\nwildcards = \"deny\""),
        ] {
            assert!(known.contains(text));
            assert!(Policy::parse(&known.replace(text, instead)).is_err(), "{instead}");
        }
    }
}
