//! Events that EC2 schedules for instances (EC2 User Guide, "Scheduled events for your instances"). On the date of an
//! event a group considers its member unhealthy (Auto Scaling User Guide, "Health checks for instances in an Auto
//! Scaling group"); a test decides what EC2 itself does then.

use crate::core::due::Event;
use crate::core::error::{AwsError, AwsResult};
use crate::core::lookup::unknown_instances;
use crate::core::region::Region;
use crate::core::time::iso_millis;
use foo_model::{InstanceId, Timestamp};
use serde::Serialize;
use serde_json::json;
use std::time::Duration;

/// Codes (EC2 API Reference, InstanceStatusEvent) with the corresponding code of AWS Health.
const CODES: [(&str, &str); 5] = [
    ("instance-retirement", "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED"),
    ("instance-stop", "AWS_EC2_INSTANCE_STOP_SCHEDULED"),
    ("instance-reboot", "AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED"),
    ("system-reboot", "AWS_EC2_SYSTEM_REBOOT_MAINTENANCE_SCHEDULED"),
    ("system-maintenance", "AWS_EC2_SYSTEM_MAINTENANCE_EVENT"),
];

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

impl Region {
    /// Schedules an event for an instance, and publishes it as AWS Health does.
    ///
    /// # Errors
    /// There is no such instance, or no event of that code.
    pub fn schedule_event(&mut self, id: &InstanceId, code: &str, ahead: Duration) -> AwsResult<()> {
        let (_, health_code) = CODES
            .into_iter()
            .find(|(known, _)| *known == code)
            .ok_or_else(|| AwsError::invalid_value(format!("There is no scheduled event {code}.")))?;
        let event = ScheduledEvent {
            id: self.chance.id("instance-event"),
            code: code.to_owned(),
            not_before: self.now.plus(ahead),
        };
        let not_before = event.not_before;
        let instance = self.instances.get_mut(id).ok_or_else(|| unknown_instances(&[id.as_str()]))?;
        instance.events.push(event);
        let arn = format!("arn:aws:health:{}::event/EC2/{health_code}/{}", self.name, self.chance.uuid());
        let detail = json!({
            "eventArn": arn,
            "service": "EC2",
            "eventTypeCode": health_code,
            "eventTypeCategory": "scheduledChange",
            "startTime": iso_millis(not_before),
            "statusCode": "upcoming",
            "eventRegion": self.name,
            "affectedEntities": [{ "entityValue": id, "status": "PENDING" }],
            "affectedAccount": self.account,
        });
        self.tell("aws.health".to_owned(), "AWS Health Event", vec![self.instance_arn(id)], detail);
        self.due.at(not_before, Event::HealthCheck(id.clone()));
        Ok(())
    }
}
