//! What a group reports to SNS topics (Auto Scaling API Reference, PutNotificationConfiguration). The messages themselves are not
//! simulated.

use crate::core::error::{AwsError, AwsResult};
use crate::core::region::Region;
use foo_model::GroupName;
use std::collections::BTreeSet;

/// Topics of a group (API Reference, PutNotificationConfiguration).
pub const TOPICS_PER_GROUP: usize = 10;
/// Types of notifications (API Reference, DescribeAutoScalingNotificationTypes).
pub const NOTIFICATION_TYPES: [&str; 5] = [
    "autoscaling:EC2_INSTANCE_LAUNCH",
    "autoscaling:EC2_INSTANCE_LAUNCH_ERROR",
    "autoscaling:EC2_INSTANCE_TERMINATE",
    "autoscaling:EC2_INSTANCE_TERMINATE_ERROR",
    "autoscaling:TEST_NOTIFICATION",
];

impl Region {
    /// PutNotificationConfiguration: it replaces the types of the topic.
    ///
    /// # Errors
    /// The group does not exist, a type is unknown, the topic cannot be reached, or there are too many topics.
    pub fn put_notifications(
        &mut self,
        name: &GroupName,
        topic: &str,
        types: BTreeSet<String>,
    ) -> AwsResult<()> {
        let known = &self.living_group(name)?.notifications;
        if let Some(unknown) = types.iter().find(|it| !NOTIFICATION_TYPES.contains(&it.as_str())) {
            return Err(AwsError::validation(format!("{unknown} is not a valid Notification Type")));
        }
        if types.is_empty() {
            return Err(AwsError::validation(
                "1 validation error detected: Value null at 'notificationTypes' failed to satisfy constraint: Member must not be null",
            ));
        }
        if self.settings.unreachable_targets.contains(topic) {
            return Err(AwsError::validation(format!(
                "Unable to publish notification to topic: {topic}. Check that the topic exists and admits Auto Scaling."
            )));
        }
        if !known.contains_key(topic) && known.len() >= TOPICS_PER_GROUP {
            let message = format!("An Auto Scaling group can have at most {TOPICS_PER_GROUP} SNS topics.");
            return Err(AwsError::new("LimitExceeded", message));
        }
        if let Some(group) = self.groups.get_mut(name) {
            group.notifications.insert(topic.to_owned(), types);
        }
        Ok(())
    }

    /// DeleteNotificationConfiguration. That of a topic without any is accepted **(A)**.
    ///
    /// # Errors
    /// The group does not exist.
    pub fn delete_notifications(&mut self, name: &GroupName, topic: &str) -> AwsResult<()> {
        self.living_group(name)?;
        if let Some(group) = self.groups.get_mut(name) {
            group.notifications.remove(topic);
        }
        Ok(())
    }
}
