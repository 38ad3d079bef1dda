//! The warning about the manager's clock, when ages of Machines cannot be trusted.

use crate::clock::in_words;
use foo_cloud::compared::Found;
use foo_model::{Agreement, Kubernetes, Reason};
use foo_planner::desired::Blocked;

/// What waits while the clocks differ.
pub(in crate::pool) fn warning(found: &Found<Kubernetes>) -> Option<Blocked> {
    (found.agreement == Agreement::Differ).then(|| {
        let (how_far, direction) = in_words(found.difference.millis());
        let message = format!(
            "the manager's clock is {how_far} {direction} the API server's; no Machine is deleted because of its age until the clocks agree"
        );
        Blocked::new(Reason::ClocksDiffer, message)
    })
}
