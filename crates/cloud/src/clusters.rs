//! Reads of EKS clusters and what they need of IAM, shared by all clusters of one set of credentials and region
//! ([`crate::reads`]).
//!
//! Most questions name a cluster; those that do not (versions, releases of add-ons, roles and so on) are the same for
//! all clusters, so all of them share the result.

use crate::reads::{CloudReads, Freshness, Known, ReadResult};
use foo_model::eks::{Query, QueryResult};

/// The shared reads, one per (credentials, region).
pub type ClusterReads = CloudReads<Query, QueryResult>;

impl ClusterReads {
    /// The result of a query.
    pub async fn ask(&self, query: &Query, freshness: Freshness) -> Known<QueryResult> {
        let call = || self.cloud.describe_eks(query);
        self.shared.ask(query.operation(), query, freshness, call).await
    }

    /// The newest result of a query, however old. Does not call AWS.
    pub fn last(&self, query: &Query) -> Option<ReadResult<QueryResult>> {
        self.shared.last(query)
    }
}
