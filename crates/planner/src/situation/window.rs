//! Whether the provider may begin to replace instances by its own choice now.

use super::facts::Facts;
use foo_model::WindowHold;

/// Why the provider begins no replacement by its own choice now; `None` if it may.
pub(crate) fn window_hold<'a>(facts: &Facts<'a>) -> Option<WindowHold<'a>> {
    facts.desired.maintenance.hold(facts.observed.now, facts.observed.clocks)
}
