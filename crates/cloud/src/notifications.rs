//! Notifications of all Auto Scaling groups, shared by all pools of one set of credentials and region ([`crate::reads`]): one
//! list, whatever the number of pools that have some.

use crate::reads::{CloudReads, Freshness, Known};
use foo_model::{GroupName, Notifications, Operation};
use std::collections::BTreeMap;

/// The shared list, one per (credentials, region).
pub type NotificationReads = CloudReads<(), BTreeMap<GroupName, Notifications>>;

impl NotificationReads {
    /// The notifications of all groups that have some.
    pub async fn all(&self, freshness: Freshness) -> Known<BTreeMap<GroupName, Notifications>> {
        let call = || self.cloud.describe_notifications();
        self.shared.ask(Operation::DescribeNotificationConfigurations, &(), freshness, call).await
    }
}
