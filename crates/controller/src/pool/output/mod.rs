//! What a pass shows: status, provider ids and events.

pub(super) mod capacity;
pub(super) mod failure_report;
pub(super) mod instance_details;
pub(super) mod publish;
