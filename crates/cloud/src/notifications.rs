//! Notifications of all Auto Scaling groups, shared by all pools of one set of credentials and region ([`crate::reads`]): one
//! list, whatever the number of pools that have some.

use crate::reads::{Freshness, Known, SharedReads};
use crate::{Clock, Cloud};
use foo_model::{GroupName, Notifications, Operation};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The shared list, one per (credentials, region).
pub struct NotificationReads {
    cloud: Arc<dyn Cloud>,
    list: SharedReads<(), BTreeMap<GroupName, Notifications>>,
}

impl NotificationReads {
    /// Nothing was read yet.
    pub fn new(cloud: Arc<dyn Cloud>, clock: Arc<dyn Clock>) -> Self {
        Self { cloud, list: SharedReads::new(clock) }
    }

    /// The notifications of all groups that have some.
    pub async fn all(&self, freshness: Freshness) -> Known<BTreeMap<GroupName, Notifications>> {
        let call = async || self.cloud.describe_notifications().await;
        self.list.ask(Operation::DescribeNotificationConfigurations, &(), freshness, call).await
    }
}

impl fmt::Debug for NotificationReads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NotificationReads").finish_non_exhaustive()
    }
}
