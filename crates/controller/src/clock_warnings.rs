//! Warnings about the manager's clock, for every object for which AWS is called.
//!
//! Pools have texts of their own (`pool/inputs/clock.rs`): for them it matters which decisions wait.

use crate::Context;
use crate::clock::in_words;
use foo_model::{Agreement, Blocked, Comparison, Reason};

/// A warning if the clocks do not agree. `other` names the other clock, and shows what follows.
pub(crate) fn warning<C>(found: &Comparison<C>, other: &str) -> Option<Blocked> {
    (found.agreement == Agreement::Differ).then(|| {
        let (how_far, direction) = in_words(found.difference.millis());
        Blocked::new(Reason::ClocksDiffer, format!("the manager's clock is {how_far} {direction} {other}"))
    })
}

/// The warnings for an object for which AWS is called in this region, if it is known.
pub(crate) fn of(context: &Context, region: Option<&str>) -> Vec<Blocked> {
    let kubernetes = warning(&context.kubernetes_clock.found(), "the API server's: synchronize both");
    let clouds = region.map(|region| context.clouds.connected_in(region)).unwrap_or_default();
    let aws = clouds.iter().find_map(|cloud| {
        let region = &cloud.key.region;
        let other = format!("AWS's in {region}; AWS refuses signatures with a wrong time: synchronize both");
        warning(&cloud.clock(), &other)
    });
    kubernetes.into_iter().chain(aws).collect()
}
