//! Kubernetes versions as EKS counts them: by minor.

use crate::AwsTime;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use strum::IntoStaticStr;

/// A minor version of Kubernetes 1, `1.34`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Minor(pub u16);

impl Minor {
    /// The minor of a version: `1.34`, `v1.34.2`, `1.34.2-eks-abc`, `v1.34`. `None` for anything else than Kubernetes 1.
    pub fn of(version: &str) -> Option<Self> {
        let bare = version.strip_prefix('v').unwrap_or(version);
        let rest = bare.strip_prefix("1.")?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).map_or(rest, |end| &rest[..end]);
        let after = &rest[digits.len()..];
        if !(after.is_empty() || after.starts_with(['.', '-', '+'])) {
            return None;
        }
        digits.parse().ok().map(Self)
    }

    /// The next one. EKS updates by one minor at a time (EKS User Guide, "Update existing cluster to new Kubernetes version").
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// As AWS writes it, `1.34`, and in no other way.
impl FromStr for Minor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::of(text).filter(|it| it.to_string() == text).ok_or_else(|| format!("{text} is no version"))
    }
}

impl TryFrom<String> for Minor {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Minor> for String {
    fn from(minor: Minor) -> Self {
        minor.to_string()
    }
}

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.0)
    }
}

/// A version that EKS offers (EKS API Reference, `ClusterVersionInformation`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionOffer {
    /// The version.
    pub version: Minor,
    /// The newest patch that EKS runs of it, `1.34.2`, if EKS shows it.
    pub patch: Option<String>,
    /// Whether new clusters get it by default.
    pub default: bool,
    /// How far its support is.
    pub support: Support,
    /// When standard support ends, if EKS shows it.
    pub standard_ends: Option<AwsTime>,
    /// When extended support ends, after which EKS updates clusters by itself, if EKS shows it.
    pub extended_ends: Option<AwsTime>,
}

/// How far the support of a version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum Support {
    /// Standard support.
    StandardSupport,
    /// Extended support, which costs more.
    ExtendedSupport,
    /// None; clusters cannot be created with it.
    Unsupported,
}

#[cfg(test)]
mod tests {
    use super::Minor;

    #[test]
    fn every_spelling_of_a_version_has_its_minor() {
        for spelling in ["1.34", "v1.34", "1.34.2", "v1.34.2-eks-113cf36", "1.34-alpha", "v1.34+x"] {
            assert_eq!(Minor::of(spelling), Some(Minor(34)), "{spelling}");
        }
        for other in ["", "v", "2.34", "1.", "1.x", "1.34x", "v1.99999999"] {
            assert_eq!(Minor::of(other), None, "{other}");
        }
    }

    #[test]
    fn versions_are_ordered_as_numbers() {
        assert!(Minor(9) < Minor(10));
        assert_eq!(Minor(34).next().to_string(), "1.35");
    }
}
