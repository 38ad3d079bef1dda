//! What the region publishes as events.

use crate::core::events::CloudEvent;
use crate::core::group::activity::Activity;
use crate::core::region::Region;
use crate::core::rules::group::hooks::{Hook, Transition};
use crate::core::time::iso_seconds;
use foo_cloud::InstanceState;
use foo_model::{ActivityStatus, GroupName, InstanceId};
use serde_json::{Value, json};

/// How descriptions of launches and terminations begin.
const LAUNCHING: &str = "Launching a new EC2 instance";
const TERMINATING: &str = "Terminating EC2 instance";

impl Region {
    /// The latest events (at most [`EVENTS_KEPT`](crate::core::events::EVENTS_KEPT)) with a number above `sequence`, oldest first.
    pub fn events_after(&self, sequence: u64) -> impl Iterator<Item = &CloudEvent> {
        self.events.after(sequence)
    }

    /// Publishes an event that the simulator itself does not cause (`aws.health`, "AWS Health Event").
    pub fn publish(&mut self, source: String, detail_type: &str, resources: Vec<String>, detail: Value) {
        self.events.add(source, detail_type, self.now, resources, detail);
    }

    /// Publishes that an instance changed its state in EC2.
    pub(crate) fn publish_state(&mut self, id: &InstanceId, state: InstanceState) {
        let state_name = match state {
            InstanceState::Pending => "pending",
            InstanceState::Running => "running",
            InstanceState::ShuttingDown => "shutting-down",
            InstanceState::Stopping => "stopping",
            InstanceState::Stopped => "stopped",
            InstanceState::Terminated => "terminated",
        };
        let resources = vec![self.instance_arn(id)];
        let detail = json!({ "instance-id": id, "state": state_name });
        self.events.add("aws.ec2", "EC2 Instance State-change Notification", self.now, resources, detail);
    }

    /// Publishes the interruption notice of a spot instance.
    pub(crate) fn publish_interruption(&mut self, id: &InstanceId) {
        let detail = json!({ "instance-id": id, "instance-action": "terminate" });
        let resources = vec![self.instance_arn(id)];
        self.events.add("aws.ec2", "EC2 Spot Instance Interruption Warning", self.now, resources, detail);
    }

    /// Publishes the rebalance recommendation for a spot instance.
    pub(crate) fn publish_rebalance(&mut self, id: &InstanceId) {
        let detail = json!({ "instance-id": id });
        let resources = vec![self.instance_arn(id)];
        self.events.add("aws.ec2", "EC2 Instance Rebalance Recommendation", self.now, resources, detail);
    }

    /// Publishes that a member waits for a lifecycle hook.
    pub(crate) fn publish_wait(&mut self, group: &GroupName, id: &InstanceId, hook: &Hook, token: &str) {
        let (origin, destination) = self.origin_and_destination(group, id, hook.transition);
        let detail_type = match hook.transition {
            Transition::Launching => "EC2 Instance-launch Lifecycle Action",
            Transition::Terminating => "EC2 Instance-terminate Lifecycle Action",
        };
        let mut detail = json!({
            "LifecycleActionToken": token,
            "AutoScalingGroupName": group,
            "LifecycleHookName": hook.name,
            "EC2InstanceId": id,
            "LifecycleTransition": hook.transition.name(),
            "Origin": origin,
            "Destination": destination,
        });
        if let (Some(metadata), Some(detail)) =
            (hook.notification.get("NotificationMetadata"), detail.as_object_mut())
        {
            detail.insert("NotificationMetadata".to_owned(), json!(metadata));
        }
        let resources = self.group_arn(group);
        self.events.add("aws.autoscaling", detail_type, self.now, resources, detail);
    }

    /// Origin and destination of a member in a lifecycle transition (Auto Scaling User Guide, "Warm pool event types
    /// and event patterns").
    fn origin_and_destination(
        &self,
        group: &GroupName,
        id: &InstanceId,
        transition: Transition,
    ) -> (&'static str, &'static str) {
        const GROUP: &str = "AutoScalingGroup";
        const POOL: &str = "WarmPool";
        let group = self.groups.get(group);
        let waits = group.is_some_and(|group| group.warm.contains_key(id));
        let member = group.and_then(|group| group.members.get(id));
        match transition {
            Transition::Launching if waits => ("EC2", POOL),
            Transition::Launching if member.is_some_and(|it| it.from_warm_pool) => (POOL, GROUP),
            Transition::Launching => ("EC2", GROUP),
            Transition::Terminating if waits => (POOL, "EC2"),
            Transition::Terminating if member.is_some_and(|it| it.returns) => (GROUP, POOL),
            Transition::Terminating => (GROUP, "EC2"),
        }
    }

    /// Publishes a state of a group's instance refresh.
    pub(crate) fn publish_refresh(&mut self, name: &GroupName, what: &str, checkpoint: Option<u32>) {
        let Some(group) = self.groups.get(name) else { return };
        let id = group.refresh().map(|refresh| refresh.id.clone()).unwrap_or_default();
        let mut detail = json!({ "InstanceRefreshId": id, "AutoScalingGroupName": name });
        if let (Some(percentage), Some(detail)) = (checkpoint, detail.as_object_mut()) {
            detail.insert("CheckpointPercentage".to_owned(), json!(percentage.to_string()));
        }
        let detail_type = format!("EC2 Auto Scaling Instance Refresh {what}");
        let resources = self.group_arn(name);
        self.events.add("aws.autoscaling", &detail_type, self.now, resources, detail);
    }

    /// Publishes that a launch or a termination is over. Other activities (standby, detaching) have no event.
    pub(crate) fn publish_activity(&mut self, activity: &Activity) {
        let description = activity.description.as_str();
        let launch = description.starts_with(LAUNCHING);
        if !launch && !description.starts_with(TERMINATING) {
            return;
        }
        // A failed launch has no instance, and its description continues with the reason.
        let (place, id) = [LAUNCHING, TERMINATING]
            .iter()
            .find_map(|begin| description.strip_prefix(begin)?.split_once(": "))
            .filter(|(_, id)| id.starts_with("i-"))
            .map_or(("", None), |(place, id)| (place, Some(InstanceId::from(id))));
        let (what, origin, destination) = match (launch, place) {
            (true, " from warm pool") => ("Launch", "WarmPool", "AutoScalingGroup"),
            (true, " into warm pool") => ("Launch", "EC2", "WarmPool"),
            (true, _) => ("Launch", "EC2", "AutoScalingGroup"),
            (false, " from warm pool") => ("Terminate", "WarmPool", "EC2"),
            (false, _) => ("Terminate", "AutoScalingGroup", "EC2"),
        };
        let (how, code) = match activity.status {
            ActivityStatus::Successful => ("Successful", "InProgress"),
            ActivityStatus::Failed | ActivityStatus::Cancelled => ("Unsuccessful", "Failed"),
            ActivityStatus::InProgress => return,
        };
        let mut resources = vec![activity.group_arn.clone()];
        resources.extend(id.iter().map(|id| self.instance_arn(id)));
        let details: Value = serde_json::from_str(&activity.details).unwrap_or_else(|_| json!({}));
        let detail = json!({
            "StatusCode": code,
            "AutoScalingGroupName": activity.group,
            "ActivityId": activity.id,
            "RequestId": activity.id,
            "Details": details,
            "Description": activity.description,
            "StatusMessage": activity.status_message.as_deref().unwrap_or_default(),
            "StartTime": iso_seconds(activity.started),
            "EndTime": iso_seconds(activity.ended.unwrap_or(self.now)),
            "EC2InstanceId": id.as_ref().map(InstanceId::as_str).unwrap_or_default(),
            "Cause": activity.cause,
            "Origin": origin,
            "Destination": destination,
        });
        let detail_type = format!("EC2 Instance {what} {how}");
        self.events.add("aws.autoscaling", &detail_type, self.now, resources, detail);
    }

    pub(crate) fn instance_arn(&self, id: &InstanceId) -> String {
        format!("arn:aws:ec2:{}:{}:instance/{id}", self.name, self.account)
    }

    fn group_arn(&self, group: &GroupName) -> Vec<String> {
        self.groups.get(group).map(|group| group.arn.clone()).into_iter().collect()
    }
}
