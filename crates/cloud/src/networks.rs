//! Reads of networks, shared by all clusters of one set of credentials and region ([`crate::reads`]): a question is the
//! parts of one kind within one scope, or the quotas.

pub use crate::reads::{Freshness, Known, ReadResult};

use crate::reads::CloudReads;
use crate::{Clock, Cloud};
use foo_model::Operation;
use foo_model::network::{Kind, Parts, Quotas, Scope};
use std::sync::Arc;

/// The shared reads, one per (credentials, region).
#[derive(Debug)]
pub struct NetworkReads {
    parts: CloudReads<(Kind, Scope), Parts>,
    quotas: CloudReads<(), Quotas>,
}

impl NetworkReads {
    /// Nothing was read yet.
    pub fn new(cloud: Arc<dyn Cloud>, clock: Arc<dyn Clock>) -> Self {
        let parts = CloudReads::new(Arc::clone(&cloud), Arc::clone(&clock));
        Self { parts, quotas: CloudReads::new(cloud, clock) }
    }

    /// The parts of a kind within a scope.
    pub async fn parts(&self, kind: Kind, scope: &Scope, freshness: Freshness) -> Known<Parts> {
        let question = (kind, canonical(kind, scope));
        let CloudReads { cloud, shared } = &self.parts;
        let call = || cloud.describe_network(kind, &question.1);
        shared.ask(kind.operation(), &question, freshness, call).await
    }

    /// How much AWS allows, and how much there is.
    pub async fn quotas(&self, freshness: Freshness) -> Known<Quotas> {
        let CloudReads { cloud, shared } = &self.quotas;
        shared.ask(Operation::GetServiceQuota, &(), freshness, || cloud.quotas()).await
    }

    /// The newest read of the parts of a kind within a scope, however old. Does not call AWS.
    pub fn last(&self, kind: Kind, scope: &Scope) -> Option<ReadResult<Parts>> {
        self.parts.shared.last(&(kind, canonical(kind, scope)))
    }
}

/// One scope for all callers that ask the same: zones are of the region, in every scope.
fn canonical(kind: Kind, scope: &Scope) -> Scope {
    if kind == Kind::Zone { Scope::TagKey(String::new()) } else { scope.clone() }
}
