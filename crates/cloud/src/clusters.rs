//! Reads of EKS clusters and what they need of IAM, shared by all clusters of one set of credentials and region
//! ([`crate::looks`]).
//!
//! Most questions name a cluster; those that do not (versions, releases of add-ons, roles and so on) are the same for all clusters, so
//! all of them share the response.

use crate::looks::{Answers, Freshness, Known, Look};
use crate::{Clock, Cloud};
use foo_model::eks::{Answer, Question};
use std::fmt;
use std::sync::Arc;

/// The shared reads, one per (credentials, region).
pub struct ClusterLooks {
    cloud: Arc<dyn Cloud>,
    answers: Answers<Question, Answer>,
}

impl ClusterLooks {
    /// Nothing was asked yet.
    pub fn new(cloud: Arc<dyn Cloud>, clock: Arc<dyn Clock>) -> Self {
        Self { cloud, answers: Answers::new(clock) }
    }

    /// The response to a question.
    pub async fn ask(&self, question: &Question, freshness: Freshness) -> Known<Answer> {
        let call = || self.cloud.describe_eks(question);
        self.answers.ask(question.into(), question, freshness, call).await
    }

    /// The newest answer to a question, however old. Does not call AWS.
    pub fn last(&self, question: &Question) -> Option<Look<Answer>> {
        self.answers.last(question)
    }
}

impl fmt::Debug for ClusterLooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClusterLooks").finish_non_exhaustive()
    }
}
