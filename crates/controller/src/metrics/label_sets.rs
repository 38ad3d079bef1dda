//! The sets of labels that metrics have, and their initial members.

use crate::labels::{
    ActionOutcome, AnnouncementOutcome, Clock, ConditionType, Controller, EventKind, EventOutcome, Invariant,
    KubeClient, KubeCode, LaunchOutcome, PassResult, ReasonClass, RolloutOutcome, TaskLabels, Verb, Watched,
};
use foo_cloud::initialized::{InitialLabels, each, each_pair};
use foo_model::Severity;
use prometheus_client::encoding::EncodeLabelSet;
use strum::{IntoEnumIterator, VariantNames};

macro_rules! label_sets {
    ($($(#[$doc:meta])* $labels:ident { $($label:ident: $value:ty),+ })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
        pub(super) struct $labels {
            $(pub(super) $label: $value),+
        }
    )*};
}

label_sets! {
    PassLabels { controller: Controller, result: PassResult }
    ControllerLabels { controller: Controller }
    AnnouncementLabels { kind: EventKind, outcome: AnnouncementOutcome }
    AnnouncementKindLabels { kind: EventKind }
    EventLabels { severity: &'static str, outcome: EventOutcome }
    ActionLabels { action: &'static str, outcome: ActionOutcome }
    InvariantLabels { invariant: Invariant }
    LaunchLabels { outcome: LaunchOutcome }
    RolloutLabels { outcome: RolloutOutcome }
    KindLabels { kind: Watched }
    ClientLabels { client: KubeClient }
    VerbLabels { client: KubeClient, verb: Verb }
    RequestLabels { client: KubeClient, verb: Verb, code: KubeCode }
    /// What the conditions of objects show; see [`crate::census`].
    ConditionLabels { kind: Watched, condition: ConditionType, status: &'static str, class: ReasonClass }
    ClockLabels { clock: Clock }
    /// The name of the Lease, which a flag sets: there is one. Empty without leader election.
    LeaderLabels { lease: String }
    /// The same under the label that other controllers use.
    LeaseLabels { name: String }
}

/// Every combination of values exists from the start.
macro_rules! initial {
    ($($labels:ident { $($one:ident),+ })*) => {$(
        impl InitialLabels for $labels {
            fn initial() -> Vec<Self> {
                initial!(@each $($one),+)
            }
        }
    )*};
    (@each $one:ident) => { each(|$one| Self { $one }) };
    (@each $one:ident, $other:ident) => { each_pair(|$one, $other| Self { $one, $other }) };
}

initial! {
    PassLabels { controller, result }
    ControllerLabels { controller }
    AnnouncementLabels { kind, outcome }
    AnnouncementKindLabels { kind }
    InvariantLabels { invariant }
    LaunchLabels { outcome }
    RolloutLabels { outcome }
    KindLabels { kind }
    ClientLabels { client }
    VerbLabels { client, verb }
    TaskLabels { task }
}

impl InitialLabels for EventLabels {
    fn initial() -> Vec<Self> {
        let of = |severity: &&'static str| each(|outcome| Self { severity, outcome });
        Severity::VARIANTS.iter().flat_map(of).collect()
    }
}

impl InitialLabels for RequestLabels {
    fn initial() -> Vec<Self> {
        let of = |client: KubeClient| each_pair(move |verb, code| Self { client, verb, code });
        KubeClient::iter().flat_map(of).collect()
    }
}
