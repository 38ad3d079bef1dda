//! Activities of groups.

use crate::core::group::activity::Activity;
use crate::core::region::Region;
use foo_model::{ActivityStatus, GroupName, InstanceId};

/// The texts and the status of a new activity.
pub(crate) struct ActivityEntry {
    pub(crate) description: String,
    pub(crate) cause: String,
    pub(crate) status: ActivityStatus,
    pub(crate) message: Option<String>,
    pub(crate) details: String,
}

impl Region {
    /// Records a new activity of a group and returns its serial number.
    pub(crate) fn begin_activity(&mut self, group: &GroupName, entry: ActivityEntry) -> u64 {
        let serial = self.next_serial();
        let group_arn = self.groups.get(group).map(|group| group.arn.clone()).unwrap_or_default();
        let over = entry.status != ActivityStatus::InProgress;
        let activity = Activity {
            id: self.chance.uuid(),
            group: group.clone(),
            group_arn,
            description: entry.description,
            cause: entry.cause,
            status: entry.status,
            status_message: entry.message,
            started: self.now,
            ended: over.then_some(self.now),
            progress: if over { 100 } else { 30 },
            details: entry.details,
        };
        self.publish_activity(&activity);
        self.activities.entry(group.clone()).or_default().add(serial, activity);
        serial
    }

    /// Records a new activity in progress about an instance of a group, and returns its serial number.
    pub(crate) fn begin_activity_of(
        &mut self,
        group: &GroupName,
        id: &InstanceId,
        description: String,
        cause: String,
    ) -> u64 {
        let details = self.details_of(id);
        let status = ActivityStatus::InProgress;
        self.begin_activity(group, ActivityEntry { description, cause, status, message: None, details })
    }

    /// Ends an activity; a successful one starts the group's cooldown.
    pub(crate) fn end_activity(
        &mut self,
        group: &GroupName,
        serial: Option<u64>,
        status: ActivityStatus,
        message: Option<String>,
    ) {
        let now = self.now;
        let ended = match (serial, self.activities.get_mut(group)) {
            (Some(serial), Some(log)) => log.finish(serial, now, status, message).cloned(),
            _ => None,
        };
        if let Some(ended) = ended {
            self.publish_activity(&ended);
        }
        if status == ActivityStatus::Successful
            && let Some(group) = self.groups.get_mut(group)
        {
            group.cooldown_until = now.plus(group.settings.cooldown);
        }
    }
}
