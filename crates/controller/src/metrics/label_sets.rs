//! The sets of labels that metrics have, and their initial members.

use crate::labels::{
    ActionOutcome, AnnouncementOutcome, Clock, ConditionType, Controller, EventKind, EventOutcome, Invariant,
    KubeClient, KubeCode, PassResult, ReasonClass, TaskLabels, Verb, Watched,
};
use foo_cloud::initialized::{InitialLabels, each, each_pair};
use foo_model::Severity;
use prometheus_client::encoding::EncodeLabelSet;
use strum::{IntoEnumIterator, VariantNames};

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

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct PassLabels {
    pub(super) controller: Controller,
    pub(super) result: PassResult,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ControllerLabels {
    pub(super) controller: Controller,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct AnnouncementLabels {
    pub(super) kind: EventKind,
    pub(super) outcome: AnnouncementOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct AnnouncementKindLabels {
    pub(super) kind: EventKind,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct EventLabels {
    pub(super) severity: &'static str,
    pub(super) outcome: EventOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ActionLabels {
    pub(super) action: &'static str,
    pub(super) outcome: ActionOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct InvariantLabels {
    pub(super) invariant: Invariant,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct KindLabels {
    pub(super) kind: Watched,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ClientLabels {
    pub(super) client: KubeClient,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct VerbLabels {
    pub(super) client: KubeClient,
    pub(super) verb: Verb,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct RequestLabels {
    pub(super) client: KubeClient,
    pub(super) verb: Verb,
    pub(super) code: KubeCode,
}

/// What the conditions of objects show; see [`crate::census`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ConditionLabels {
    pub(super) kind: Watched,
    pub(super) condition: ConditionType,
    pub(super) status: &'static str,
    pub(super) class: ReasonClass,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct ClockLabels {
    pub(super) clock: Clock,
}

/// The name of the Lease, which a flag sets: there is one. Empty without leader election.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct LeaderLabels {
    pub(super) lease: String,
}

/// The same under the label that other controllers use.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct LeaseLabels {
    pub(super) name: String,
}
