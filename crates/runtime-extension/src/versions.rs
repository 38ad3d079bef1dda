//! Kubernetes versions, as Cluster API writes them: semantic, with a leading `v`, with a suffix on EKS.

use foo_runtime_sdk::Failure;
use semver::Version;

/// A version and the text it was read from, which is what is written again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kubernetes {
    /// As it was written.
    pub(crate) text: String,
    /// As numbers and suffixes.
    pub(crate) version: Version,
}

impl Kubernetes {
    /// Reads `v1.36.3` or `v1.36.3-eks-0a1b2c3`.
    pub(crate) fn read(text: &str) -> Result<Self, Failure> {
        let version = text.strip_prefix('v').and_then(|rest| Version::parse(rest).ok());
        let version = version.ok_or_else(|| {
            Failure::new(format!("{text:?} is no Kubernetes version, which is like v1.36.3"))
        })?;
        Ok(Self { text: text.to_owned(), version })
    }
}
