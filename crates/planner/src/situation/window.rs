//! Whether the provider may begin to replace instances by its own choice now.

use super::facts::Facts;
use crate::desired::Maintenance;
use foo_model::{Blocked, Timestamp};

/// Why the provider begins no replacement by its own choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowHold<'a> {
    /// No maintenance window is open before this moment.
    Opens(Timestamp),
    /// The maintenance window that is known is over.
    Over,
    /// The clocks do not agree, so it is not known whether a window is open.
    Clocks,
    /// The spec's windows cannot be used.
    Unusable(&'a Blocked),
}

/// Why the provider begins no replacement by its own choice now; `None` if it may.
pub(crate) fn window_hold<'a>(facts: &Facts<'a>) -> Option<WindowHold<'a>> {
    let now = facts.observed.now;
    let (opens, closes) = match &facts.desired.maintenance {
        Maintenance::Always => return None,
        Maintenance::Unusable(blocked) => return Some(WindowHold::Unusable(blocked)),
        Maintenance::Window { opens, closes } => (*opens, *closes),
    };
    if !facts.knows_ages() {
        Some(WindowHold::Clocks)
    } else if now < opens {
        Some(WindowHold::Opens(opens))
    } else {
        (closes <= now).then_some(WindowHold::Over)
    }
}

/// When that changes.
pub(crate) fn window_changes(facts: &Facts<'_>) -> Option<Timestamp> {
    let now = facts.observed.now;
    match facts.desired.maintenance {
        Maintenance::Window { opens, closes } => [opens, closes].into_iter().find(|at| *at > now),
        Maintenance::Always | Maintenance::Unusable(_) => None,
    }
}
