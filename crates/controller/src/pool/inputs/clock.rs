//! Warnings about the manager's clock, when ages cannot be trusted.

use crate::clock_warnings::warning;
use foo_model::{Aws, Blocked, Comparison, Kubernetes};

/// What waits while the manager's clock and the API server's differ.
pub(in crate::pool) fn kubernetes_warning(found: &Comparison<Kubernetes>) -> Option<Blocked> {
    let what = "the API server's; no Machine is deleted because of its age until the clocks agree";
    warning(found, what)
}

/// What waits while the manager's clock and AWS's differ.
pub(in crate::pool) fn aws_warning(found: &Comparison<Aws>, region: &str) -> Option<Blocked> {
    let what = format!(
        "AWS's in {region}; AWS refuses signatures with a wrong time, and until the clocks agree no launch template version is pruned \
         and no instance is replaced because of a rebalance recommendation"
    );
    warning(found, &what)
}
