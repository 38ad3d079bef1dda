//! What is known of the group, and whose it is.

use crate::desired::Desired;
use crate::observed::{Look, Observed};
use foo_model::{Group, Reason};

/// What is known of the group.
#[derive(Clone, Copy)]
pub(crate) enum View<'a> {
    /// Never looked.
    Unknown,
    /// Looking failed.
    Failed { reason: Reason, message: &'a str },
    /// There is none.
    Absent,
    /// There is one without our ownership tags, or of another management cluster.
    Foreign(&'a Group),
    /// Ours.
    Ours(&'a Group),
}

impl<'a> View<'a> {
    pub(super) fn of(desired: &Desired, observed: &'a Observed) -> Self {
        match &observed.group {
            Look::Unknown => Self::Unknown,
            Look::Failed { reason, message } => Self::Failed { reason: *reason, message },
            Look::At { seen: None, .. } => Self::Absent,
            Look::At { seen: Some(group), .. } if desired.identity.may_manage(&group.tags) => {
                Self::Ours(group)
            }
            Look::At { seen: Some(group), .. } => Self::Foreign(group),
        }
    }

    /// The group if there is one, whoever's it is.
    pub(crate) fn group(self) -> Option<&'a Group> {
        match self {
            Self::Ours(group) | Self::Foreign(group) => Some(group),
            Self::Unknown | Self::Failed { .. } | Self::Absent => None,
        }
    }
}
