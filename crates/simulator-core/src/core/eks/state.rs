//! All clusters of a region.

use super::cluster::Cluster;
use super::mishap::EksMishap;
use super::tokens::Tokens;
use crate::core::chance::Chance;
use crate::core::versioned::Versioned;
use foo_model::Timestamp;
use serde::Serialize;
use std::time::Duration;

/// EKS in a region.
#[derive(Clone, Debug, Serialize)]
pub struct Eks {
    pub(crate) clusters: Versioned<String, Cluster>,
    /// What goes wrong with what comes.
    pub(in crate::core) mishaps: Vec<EksMishap>,
    #[serde(skip)]
    pub(in crate::core) tokens: Tokens,
    #[serde(skip)]
    pub(in crate::core) chance: Chance,
}

impl Eks {
    /// No clusters. The seed decides all ids.
    pub(crate) fn new(region: &str, seed: u64, lag: Duration) -> Self {
        Self {
            clusters: Versioned::new(lag),
            mishaps: Vec::new(),
            tokens: Tokens::default(),
            chance: Chance::new(seed, &format!("clusters of {region}")),
        }
    }

    /// Moves the present on for readers.
    pub(crate) fn advance(&mut self, now: Timestamp) {
        self.clusters.advance(now);
    }

    /// All clusters as they are now.
    pub fn clusters(&self) -> impl Iterator<Item = &Cluster> {
        self.clusters.iter().map(|(_, cluster)| cluster)
    }

    /// A cluster as it is now.
    pub fn cluster(&self, name: &str) -> Option<&Cluster> {
        self.clusters.get(name)
    }
}
