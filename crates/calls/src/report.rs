//! What all reports have: conditions, and how far a deletion is.

use foo_model::Reason;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition<K> {
    /// Which.
    pub kind: K,
    /// Whether it is true.
    pub status: Status,
    /// Why.
    pub reason: Reason,
    /// Sentences for users; may be empty when the condition is as it should be.
    pub message: String,
}

/// Status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
pub enum Status {
    /// It is true.
    True,
    /// It does not.
    False,
    /// AWS has not been asked yet, or did not respond.
    Unknown,
}

/// How far a deletion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deletion {
    /// Not asked for.
    NotAsked,
    /// Something of the provider still exists, or may.
    Pending,
    /// Nothing of the provider is left, or it is retained: the finalizer may be removed.
    Done,
}

/// The conditions of a domain.
pub trait ConditionKinds: Copy + PartialEq {
    /// The one that shows whether all is as requested.
    const READY: Self;
    /// The one that shows what a deletion waits for.
    const DELETING: Self;
}

/// What the engine needs of a report.
pub trait Report {
    /// The domain's conditions.
    type Kind: ConditionKinds;

    /// The conditions.
    fn conditions(&self) -> &[Condition<Self::Kind>];

    /// The conditions, to change them.
    fn conditions_mut(&mut self) -> &mut [Condition<Self::Kind>];

    /// How far the deletion is.
    fn deletion(&self) -> Deletion;

    /// The deletion is this far.
    fn set_deletion(&mut self, deletion: Deletion);
}
