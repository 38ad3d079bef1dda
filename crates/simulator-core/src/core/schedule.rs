//! What a service needs of the clock of its region: to do something later.

use foo_model::Timestamp;

/// Carries out steps of a service when they are due.
pub(crate) trait Schedule<Step> {
    /// Schedules a step. Those of one moment are carried out in the order in which they were scheduled.
    fn at(&mut self, when: Timestamp, step: Step);
}
