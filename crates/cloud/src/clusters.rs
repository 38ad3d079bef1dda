//! Reads of EKS clusters and what they need of IAM, shared by all clusters of one set of credentials and region
//! ([`crate::reads`]).
//!
//! Most questions name a cluster; those that do not (versions, releases of add-ons, roles and so on) are the same for
//! all clusters, so all of them share the result.

use crate::reads::{Freshness, Known, ReadResult, SharedReads};
use crate::{Clock, Cloud};
use foo_model::eks::{Answer, Question};
use std::fmt;
use std::sync::Arc;

/// The shared reads, one per (credentials, region).
pub struct ClusterReads {
    cloud: Arc<dyn Cloud>,
    reads: SharedReads<Question, Answer>,
}

impl ClusterReads {
    /// Nothing has been read yet.
    pub fn new(cloud: Arc<dyn Cloud>, clock: Arc<dyn Clock>) -> Self {
        Self { cloud, reads: SharedReads::new(clock) }
    }

    /// The result of a question.
    pub async fn ask(&self, question: &Question, freshness: Freshness) -> Known<Answer> {
        let call = || self.cloud.describe_eks(question);
        self.reads.ask(question.operation(), question, freshness, call).await
    }

    /// The newest result of a question, however old. Does not call AWS.
    pub fn last(&self, question: &Question) -> Option<ReadResult<Answer>> {
        self.reads.last(question)
    }
}

impl fmt::Debug for ClusterReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterReads").finish_non_exhaustive()
    }
}
