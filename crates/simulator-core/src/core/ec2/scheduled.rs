//! Events that EC2 schedules for instances (EC2 User Guide, "Scheduled events for your instances"). On the date of an
//! event a group considers its member unhealthy (Auto Scaling User Guide, "Health checks for instances in an Auto
//! Scaling group"); a test decides what EC2 itself does then.

use foo_model::Timestamp;
use serde::Serialize;

/// A scheduled event of an instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScheduledEvent {
    /// Its id.
    pub id: String,
    /// `instance-retirement`, `system-reboot`, ….
    pub code: String,
    /// When it begins.
    pub not_before: Timestamp,
}
