//! What EC2 Auto Scaling reports about a group to SNS topics (Auto Scaling User Guide, "Amazon SNS notification options").

use crate::TopicArn;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The topics of a group, each with what is reported there.
pub type Notifications = BTreeMap<TopicArn, BTreeSet<NotificationType>>;

/// What is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum NotificationType {
    /// An instance was launched.
    Launch,
    /// A launch failed.
    LaunchError,
    /// An instance was terminated.
    Terminate,
    /// A termination failed.
    TerminateError,
}

impl NotificationType {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Launch, Self::LaunchError, Self::Terminate, Self::TerminateError];

    /// AWS's name of it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Launch => "autoscaling:EC2_INSTANCE_LAUNCH",
            Self::LaunchError => "autoscaling:EC2_INSTANCE_LAUNCH_ERROR",
            Self::Terminate => "autoscaling:EC2_INSTANCE_TERMINATE",
            Self::TerminateError => "autoscaling:EC2_INSTANCE_TERMINATE_ERROR",
        }
    }

    /// By AWS's name; test messages, which every topic gets, are none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}
