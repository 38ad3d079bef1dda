//! The rules by name, and what is found against them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A rule that a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// Which rule.
    pub rule: Rule,
    /// Which action breaks it, and how.
    pub what: String,
}

/// The rules. The numbers are those of the design's invariants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Rule {
    /// I1: an instance is ended only when Cluster API released its FooMachine, or in a removal when it has neither
    /// FooMachine nor Machine. No instance is ended twice.
    EndsOnlyReleased,
    /// I1, from the other side: a Machine in good order is deleted only for an excess, a replacement, an announcement of
    /// AWS or a removal, and never twice.
    DeletesOnlyWithCause,
    /// I2: desired capacity is never written below the number of instances that exist.
    DesiredCoversExisting,
    /// I4: raising desired capacity stays within wish plus surge plus what AWS takes back, and within the ceiling.
    RaisesWithinWish,
    /// I7: a mark without an excess removes nothing, and no more Machines go than are too many.
    VictimsWithinExcess,
    /// I12: what lacks our ownership tags is never changed.
    OwnOnly,
    /// A paused pool is left alone, but for the ARN that a move waits for; a moved one is only let go of.
    HandsOff,
    /// Our finalizer is there before anything is made in AWS, and the pool is not moved before the spec tells of it.
    FinalizerFirst,
    /// Decisions on size wait for a settled manager and a view newer than our last change.
    SettledFirst,
    /// Desired capacity that somebody else manages is not written.
    ExternalSize,
    /// I5: our hook is completed for instances that wait for it, once, and not before Cluster API released them, unless
    /// there is no Machine or AWS waits no longer.
    CompletesOnlyDrained,
    /// I3: a Machine that serves goes for a replacement only while the rest is as many as the budget wants.
    StaysAvailable,
    /// I9: content that was given up on is not launched again.
    LaunchesNoQuarantined,
    /// Our finalizer stays on a FooMachine while its instance may be alive, and on the pool while anything is left.
    FinalizersLast,
}

impl Rule {
    /// All rules, for metrics.
    pub const ALL: [Self; 14] = [
        Self::EndsOnlyReleased,
        Self::DeletesOnlyWithCause,
        Self::DesiredCoversExisting,
        Self::RaisesWithinWish,
        Self::VictimsWithinExcess,
        Self::OwnOnly,
        Self::HandsOff,
        Self::FinalizerFirst,
        Self::SettledFirst,
        Self::ExternalSize,
        Self::CompletesOnlyDrained,
        Self::StaysAvailable,
        Self::LaunchesNoQuarantined,
        Self::FinalizersLast,
    ];

    /// A name that stays, for metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::EndsOnlyReleased => "ends-only-released",
            Self::DeletesOnlyWithCause => "deletes-only-with-cause",
            Self::DesiredCoversExisting => "desired-covers-existing",
            Self::RaisesWithinWish => "raises-within-wish",
            Self::VictimsWithinExcess => "victims-within-excess",
            Self::OwnOnly => "own-only",
            Self::HandsOff => "hands-off",
            Self::FinalizerFirst => "finalizer-first",
            Self::SettledFirst => "settled-first",
            Self::ExternalSize => "external-size",
            Self::CompletesOnlyDrained => "completes-only-drained",
            Self::StaysAvailable => "stays-available",
            Self::LaunchesNoQuarantined => "launches-no-quarantined",
            Self::FinalizersLast => "finalizers-last",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule.name(), self.what)
    }
}

#[derive(Default)]
pub(super) struct Found(pub(super) Vec<Violation>);

impl Found {
    pub(super) fn push(&mut self, rule: Rule, what: impl Into<String>) {
        self.0.push(Violation { rule, what: what.into() });
    }

    pub(super) fn check(&mut self, holds: bool, rule: Rule, what: impl FnOnce() -> String) {
        if !holds {
            self.push(rule, what());
        }
    }
}
