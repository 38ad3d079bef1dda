//! The life of an instance in EC2: pending, running, shutting down, terminated, forgotten.

use crate::core::due::Event;
use crate::core::ec2::instances::Ec2Instance;
use crate::core::ec2::scheduled::ScheduledEvent;
use crate::core::error::{AwsError, AwsResult};
use crate::core::lookup::unknown_instances;
use crate::core::region::Region;
use crate::core::time::iso_millis;
use foo_cloud::InstanceState;
use foo_model::{InstanceId, Timestamp};
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

impl Region {
    /// Puts a new instance into EC2.
    pub(crate) fn add_instance(&mut self, instance: Ec2Instance) {
        *self.alive.entry((instance.zone.clone(), instance.instance_type.clone())).or_default() += 1;
        self.network.add_instance_interface(&instance);
        self.networking().guard_node(&instance);
        let id = instance.id.clone();
        self.instances.insert(id.clone(), instance);
        self.publish_state(&id, InstanceState::Pending);
    }

    pub(super) fn start_running(&mut self, id: &InstanceId) {
        if let Some(instance) = self.instances.get_mut(id)
            && instance.state == InstanceState::Pending
        {
            instance.state = InstanceState::Running;
            self.publish_state(id, InstanceState::Running);
        }
    }

    /// Terminates an instance that a rule makes fail during its launch.
    pub(super) fn break_launch(&mut self, id: &InstanceId) {
        self.shut_down(id, ("Server.InternalError", "Server.InternalError: Internal error on launch"));
    }

    pub(super) fn stop_instance(&mut self, id: &InstanceId) {
        if let Some(instance) = self.instances.get_mut(id)
            && instance.state == InstanceState::Stopping
        {
            instance.state = InstanceState::Stopped;
            self.publish_state(id, InstanceState::Stopped);
        }
        self.finish_waiting(id);
    }

    /// Begins to shut an instance down, and returns when it will be terminated. If it is shutting down already, that
    /// time stays.
    pub(crate) fn shut_down(&mut self, id: &InstanceId, reason: (&str, &str)) -> Option<Timestamp> {
        let instance = self.instances.get_mut(id)?;
        if !instance.state.is_alive() {
            return instance.ended;
        }
        let took = self.chance.around(self.settings.terminate, self.settings.spread_percent);
        let when = self.now.plus(took);
        instance.state = InstanceState::ShuttingDown;
        instance.reason = Some((reason.0.to_owned(), reason.1.to_owned()));
        // The planned time, so that a second request finds it; `end_instance` overwrites it with the actual one.
        instance.ended = Some(when);
        self.due.at(when, Event::Ended(id.clone()));
        self.publish_state(id, InstanceState::ShuttingDown);
        Some(when)
    }

    pub(super) fn end_instance(&mut self, id: &InstanceId) {
        let Some(instance) = self.instances.get_mut(id) else { return };
        instance.state = InstanceState::Terminated;
        instance.ended = Some(self.now);
        instance.security_groups = Vec::new();
        let key = (instance.zone.clone(), instance.instance_type.clone());
        instance.addresses = None;
        if let Some(alive) = self.alive.get_mut(&key) {
            *alive = alive.saturating_sub(1);
        }
        self.network.remove_instance_interface(id);
        self.publish_state(id, InstanceState::Terminated);
        self.due.at(self.now.plus(self.settings.terminated_visible), Event::Forgotten(id.clone()));
    }

    /// EC2 stops showing a terminated instance, unless it is still a member of its group: one that was terminated in
    /// standby is.
    pub(super) fn forget_instance(&mut self, id: &InstanceId) {
        if self.group_of(id).is_some() {
            self.due.at(self.now.plus(self.settings.terminated_visible), Event::Forgotten(id.clone()));
        } else {
            self.instances.remove(id);
            self.targets.forget(id);
        }
    }

    /// EC2's TerminateInstances for one instance, whoever the caller is. Its group notices at the next health check
    /// (Auto Scaling User Guide, "Health checks for instances in an Auto Scaling group").
    pub fn terminate_in_ec2(&mut self, id: &InstanceId, reason: (&str, &str)) {
        let Some(instance) = self.instances.get(id) else { return };
        let (alive, member) = (instance.state.is_alive(), instance.group.is_some());
        self.shut_down(id, reason);
        if alive && member {
            self.check_health_soon(id);
        }
    }

    /// Schedules a check of an instance by its group within the period of the health checks.
    pub(crate) fn check_health_soon(&mut self, id: &InstanceId) {
        let period = u64::try_from(self.settings.health_check.as_millis()).unwrap_or(u64::MAX);
        let wait = std::time::Duration::from_millis(self.chance.below(period).saturating_add(1));
        self.due.at(self.now.plus(wait), Event::HealthCheck(id.clone()));
    }

    /// What an instance wrote to its console so far: a test bed knows what runs in it.
    ///
    /// # Errors
    /// There is no such instance.
    pub fn write_console(&mut self, id: &InstanceId, output: &str) -> AwsResult<()> {
        let now = self.now;
        let instance = self.instances.get_mut(id).ok_or_else(|| unknown_instances(&[id.as_str()]))?;
        instance.console = Some((output.into(), now));
        Ok(())
    }

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
        self.publish("aws.health".to_owned(), "AWS Health Event", vec![self.instance_arn(id)], detail);
        self.due.at(not_before, Event::HealthCheck(id.clone()));
        Ok(())
    }
}
