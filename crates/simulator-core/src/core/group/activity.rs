//! Scaling activities: the record of what a group did (Auto Scaling User Guide, "Verify a scaling activity").

use foo_model::{ActivityStatus, GroupName, Timestamp};
use serde::Serialize;
use std::collections::BTreeMap;

/// Finished activities kept per group. AWS keeps six weeks' worth.
pub const ACTIVITIES_KEPT: usize = 1_000;

/// One scaling activity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Activity {
    /// Its id.
    pub id: String,
    /// The group.
    pub group: GroupName,
    /// The group's ARN.
    pub group_arn: String,
    /// What the activity does.
    pub description: String,
    /// Why the group does it.
    pub cause: String,
    /// Its state.
    pub status: ActivityStatus,
    /// Why it failed.
    pub status_message: Option<String>,
    /// When it began.
    pub started: Timestamp,
    /// When it ended; `None` while it is in progress.
    pub ended: Option<Timestamp>,
    /// Percent done.
    pub progress: u8,
    /// Zone and subnet, as JSON.
    pub details: String,
}

/// The activities of one group, oldest first.
#[derive(Clone, Debug, Default)]
pub struct ActivityLog {
    entries: BTreeMap<u64, Activity>,
    open: usize,
}

impl ActivityLog {
    /// Adds an activity under its serial number.
    pub(crate) fn add(&mut self, serial: u64, activity: Activity) {
        if activity.status == ActivityStatus::InProgress {
            self.open += 1;
        }
        self.entries.insert(serial, activity);
        while self.entries.len() > ACTIVITIES_KEPT + self.open {
            let Some(oldest) =
                self.entries.iter().find(|(_, it)| it.ended.is_some()).map(|(serial, _)| *serial)
            else {
                break;
            };
            self.entries.remove(&oldest);
        }
    }

    /// Ends an activity that is in progress, and returns it.
    pub(crate) fn finish(
        &mut self,
        serial: u64,
        now: Timestamp,
        status: ActivityStatus,
        message: Option<String>,
    ) -> Option<&Activity> {
        let activity = self.entries.get_mut(&serial).filter(|it| it.status == ActivityStatus::InProgress)?;
        self.open = self.open.saturating_sub(1);
        activity.status = status;
        activity.status_message = message;
        activity.ended = Some(now);
        activity.progress = 100;
        Some(activity)
    }

    /// Whether any activity is in progress.
    pub fn is_busy(&self) -> bool {
        self.open > 0
    }

    /// One activity.
    pub fn get(&self, serial: u64) -> Option<&Activity> {
        self.entries.get(&serial)
    }

    /// All of them with their serial numbers, newest first.
    pub fn newest_first(&self) -> impl Iterator<Item = (u64, &Activity)> {
        self.entries.iter().rev().map(|(serial, activity)| (*serial, activity))
    }
}

/// AWS's text of a status. `InProgress` stands for AWS's waiting states as well.
pub fn status_name(status: ActivityStatus) -> &'static str {
    match status {
        ActivityStatus::InProgress => "InProgress",
        ActivityStatus::Successful => "Successful",
        ActivityStatus::Failed => "Failed",
        ActivityStatus::Cancelled => "Cancelled",
    }
}
