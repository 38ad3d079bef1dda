//! Reads of EKS clusters and what they need of IAM, shared by all clusters of one set of credentials and region
//! ([`crate::reads`]).
//!
//! Most questions name a cluster; those that do not (versions, releases of add-ons, roles and so on) are the same for
//! all clusters, so all of them share the result.

use crate::reads::{Freshness, Known, ReadResult, SharedReads};
use crate::{Clock, Cloud};
use foo_model::eks::{Query, QueryResult};
use std::fmt;
use std::sync::Arc;

/// The shared reads, one per (credentials, region).
pub struct ClusterReads {
    cloud: Arc<dyn Cloud>,
    reads: SharedReads<Query, QueryResult>,
}

impl ClusterReads {
    /// Nothing has been read yet.
    pub fn new(cloud: Arc<dyn Cloud>, clock: Arc<dyn Clock>) -> Self {
        Self { cloud, reads: SharedReads::new(clock) }
    }

    /// The result of a query.
    pub async fn ask(&self, query: &Query, freshness: Freshness) -> Known<QueryResult> {
        let call = || self.cloud.describe_eks(query);
        self.reads.ask(query.operation(), query, freshness, call).await
    }

    /// The newest result of a query, however old. Does not call AWS.
    pub fn last(&self, query: &Query) -> Option<ReadResult<QueryResult>> {
        self.reads.last(query)
    }
}

impl fmt::Debug for ClusterReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterReads").finish_non_exhaustive()
    }
}
