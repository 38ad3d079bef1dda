//! What is known of the group, and whether it is this pool's.

use crate::desired::Desired;
use crate::observed::{LastRead, Observed};
use foo_model::{Group, Reason};

/// What is known of the group.
#[derive(Clone, Copy)]
pub(crate) enum View<'a> {
    /// It was not observed yet.
    Unknown,
    /// The read failed.
    Failed { reason: Reason, message: &'a str },
    /// It does not exist.
    Absent,
    /// A group without the pool's ownership tags, or of another management cluster.
    Foreign(&'a Group),
    /// The pool's own.
    Own(&'a Group),
}

impl<'a> View<'a> {
    pub(super) fn of(desired: &Desired, observed: &'a Observed) -> Self {
        match &observed.group {
            LastRead::Unknown => Self::Unknown,
            LastRead::Failed { reason, message } => Self::Failed { reason: *reason, message },
            LastRead::At { seen: None, .. } => Self::Absent,
            LastRead::At { seen: Some(group), .. }
                if desired.identity.may_manage(group, observed.recorded_arn.as_deref()) =>
            {
                Self::Own(group)
            }
            LastRead::At { seen: Some(group), .. } => Self::Foreign(group),
        }
    }

    /// The group if it exists, whoever owns it.
    pub(crate) fn group(self) -> Option<&'a Group> {
        match self {
            Self::Own(group) | Self::Foreign(group) => Some(group),
            Self::Unknown | Self::Failed { .. } | Self::Absent => None,
        }
    }
}
