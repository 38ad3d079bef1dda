//! Scheduled events: the only source of change besides calls. The region keeps them by time, so it never searches for
//! what is due.

use super::eks::step::EksStep;
use super::network::Step;
use super::schedule::Schedule;
use foo_model::{GroupName, InstanceId, Timestamp};
use std::collections::BTreeMap;

/// A change that happens at a scheduled time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// EC2: pending → running.
    Running(InstanceId),
    /// EC2: pending → shutting-down, because the launch failed.
    Broke(InstanceId),
    /// EC2: stopping → stopped.
    Stopped(InstanceId),
    /// Auto Scaling: the launch with this activity is over; Pending → InService if it succeeded.
    Launched(InstanceId, Option<u64>),
    /// EC2: shutting-down → terminated.
    Ended(InstanceId),
    /// Auto Scaling: the termination is over; the group removes the instance.
    Left(InstanceId),
    /// EC2 no longer shows a terminated instance.
    Forgotten(InstanceId),
    /// The group's next health check of this member.
    HealthCheck(InstanceId),
    /// The two minutes after an interruption notice are over.
    Interrupted(InstanceId),
    /// The time has come at which EC2 terminates the instances of the Capacity Block with this id, unless it was extended.
    BlockEnds(String),
    /// The lifecycle action with this token expires, unless a heartbeat has extended it.
    HookExpired(InstanceId, String),
    /// The connections of a member that is being terminated are drained.
    Deregistered(InstanceId),
    /// EnteringStandby → Standby.
    StoodBy(InstanceId),
    /// Detaching → no longer a member.
    Detached(InstanceId),
    /// The group of that name compares desired with actual capacity.
    Evaluate(GroupName),
    /// An event reaches the queue of that name.
    Delivered(String, String),
    /// A pending change of a network completes.
    Network(Step),
    /// The next step of an EKS cluster.
    Eks(EksStep),
    /// The group of that name and serial number is removed.
    GroupGone(GroupName, u64),
}

/// Events by time; those of one moment in the order they were scheduled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Due {
    queue: BTreeMap<(Timestamp, u64), Event>,
    serial: u64,
}

impl Due {
    /// Schedules an event.
    pub(crate) fn at(&mut self, when: Timestamp, event: Event) {
        self.serial = self.serial.wrapping_add(1);
        self.queue.insert((when, self.serial), event);
    }

    /// Takes the next event that is due at `now`.
    pub(crate) fn take(&mut self, now: Timestamp) -> Option<(Timestamp, Event)> {
        let ((when, _), _) = self.queue.first_key_value()?;
        if *when > now {
            return None;
        }
        self.queue.pop_first().map(|((when, _), event)| (when, event))
    }

    /// When the next event is due.
    pub(crate) fn next(&self) -> Option<Timestamp> {
        self.queue.first_key_value().map(|((when, _), _)| *when)
    }
}

impl Schedule<Step> for Due {
    fn at(&mut self, when: Timestamp, step: Step) {
        Self::at(self, when, Event::Network(step));
    }
}
