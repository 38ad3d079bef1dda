//! Parses one message of the queue: an EventBridge event, as far as the manager needs it.
//!
//! A message that cannot be parsed is an error with a reason; one that does not concern the manager is
//! [`Parsed::Irrelevant`]. Nothing is decided here.

use crate::labels::EventKind;
use foo_model::hook::DRAIN_HOOK;
use foo_model::{AwsTime, GroupName, InstanceId, SignalKind};
use serde::Deserialize;
use serde_json::Value;

/// A parsed message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// Something happened to groups or instances.
    Event(Event),
    /// Nothing that concerns the manager.
    Irrelevant,
}

/// Something that happened to groups or instances, or will.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// What kind of event it is.
    pub(crate) kind: EventKind,
    /// The account it happened in (12 digits).
    pub(crate) account: String,
    /// The region it happened in.
    pub(crate) region: String,
    /// When.
    pub(crate) time: AwsTime,
    /// The group that it names.
    pub(crate) group: Option<GroupName>,
    /// The instances that it names.
    pub(crate) instances: Vec<InstanceId>,
    /// What it announces about them.
    pub(crate) signal: Option<SignalKind>,
    /// It withdraws what was announced about them.
    pub(crate) withdraws: bool,
}

/// Why a message cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    /// Not an EventBridge event.
    #[error("it is not an event of EventBridge: {0}")]
    NotAnEvent(String),
    /// A known event without a required field.
    #[error("the event {kind:?} has no usable {field}")]
    Detail {
        /// Its detail-type.
        kind: String,
        /// The field.
        field: &'static str,
    },
}

/// EventBridge User Guide, "AWS service event metadata".
#[derive(Debug, Deserialize)]
struct EventBridgeEvent {
    source: String,
    #[serde(rename = "detail-type")]
    detail_type: String,
    account: String,
    region: String,
    time: jiff::Timestamp,
    #[serde(default)]
    detail: Value,
}

/// Parses a message.
pub(crate) fn parse(body: &str) -> Result<Parsed, Unreadable> {
    let raw: EventBridgeEvent =
        serde_json::from_str(body).map_err(|error| Unreadable::NotAnEvent(error.to_string()))?;
    match (raw.source.as_str(), raw.detail_type.as_str()) {
        ("aws.autoscaling", _) => of_auto_scaling(raw),
        // EC2 User Guide, "State change events for your instances".
        ("aws.ec2", "EC2 Instance State-change Notification") => {
            of_instance(raw, EventKind::StateChange, None)
        }
        // EC2 User Guide, "Spot Instance interruption notices". A group loses stopped and hibernated
        // instances, too.
        ("aws.ec2", "EC2 Spot Instance Interruption Warning") => {
            of_instance(raw, EventKind::Interruption, Some(SignalKind::Interruption))
        }
        // EC2 User Guide, "EC2 instance rebalance recommendations".
        ("aws.ec2", "EC2 Instance Rebalance Recommendation") => {
            of_instance(raw, EventKind::Rebalance, Some(SignalKind::Rebalance))
        }
        ("aws.health", "AWS Health Event") => of_health(raw),
        _ => Ok(Parsed::Irrelevant),
    }
}

/// Auto Scaling User Guide, "Amazon EC2 Auto Scaling event reference".
fn of_auto_scaling(raw: EventBridgeEvent) -> Result<Parsed, Unreadable> {
    let kind = match raw.detail_type.as_str() {
        "EC2 Instance-launch Lifecycle Action" | "EC2 Instance-terminate Lifecycle Action" => {
            EventKind::LifecycleAction
        }
        "EC2 Instance Launch Successful"
        | "EC2 Instance Launch Unsuccessful"
        | "EC2 Instance Terminate Successful"
        | "EC2 Instance Terminate Unsuccessful" => EventKind::ScalingActivity,
        other if other.starts_with("EC2 Auto Scaling Instance Refresh ") => EventKind::ScalingActivity,
        _ => return Ok(Parsed::Irrelevant),
    };
    let Some(group) = text(&raw.detail, "AutoScalingGroupName") else {
        return Err(Unreadable::Detail { kind: raw.detail_type, field: "AutoScalingGroupName" });
    };
    let group = Some(GroupName::new(group));
    let instances: Vec<InstanceId> = leaves_warm_pool(&raw).into_iter().collect();
    let signal = instances.first().map(|_| SignalKind::LeavesWarmPool);
    Ok(Parsed::Event(Event { group, instances, signal, ..raw.event(kind) }))
}

/// The instance of a warm pool whose termination waits for the provider's lifecycle hook.
fn leaves_warm_pool(raw: &EventBridgeEvent) -> Option<InstanceId> {
    let waits = raw.detail_type == "EC2 Instance-terminate Lifecycle Action"
        && text(&raw.detail, "Origin") == Some("WarmPool")
        && text(&raw.detail, "LifecycleHookName") == Some(DRAIN_HOOK);
    text(&raw.detail, "EC2InstanceId").filter(|id| waits && id.starts_with("i-")).map(InstanceId::new)
}

fn of_instance(
    raw: EventBridgeEvent,
    kind: EventKind,
    signal: Option<SignalKind>,
) -> Result<Parsed, Unreadable> {
    let Some(id) = text(&raw.detail, "instance-id").filter(|id| id.starts_with("i-")) else {
        return Err(Unreadable::Detail { kind: raw.detail_type, field: "instance-id" });
    };
    let instances = vec![InstanceId::new(id)];
    Ok(Parsed::Event(Event { instances, signal, ..raw.event(kind) }))
}

/// AWS Health User Guide, "AWS Health events Amazon EventBridge schema". Of EC2's events only those count
/// that announce that an instance will be retired, stopped or terminated; an instance survives a reboot or a
/// maintenance.
fn of_health(raw: EventBridgeEvent) -> Result<Parsed, Unreadable> {
    const ENDS: [&str; 3] = ["INSTANCE_RETIREMENT", "INSTANCE_STOP", "INSTANCE_TERMINATION"];
    let Some(code) = text(&raw.detail, "eventTypeCode") else {
        return Err(Unreadable::Detail { kind: raw.detail_type, field: "eventTypeCode" });
    };
    let ends = code.starts_with("AWS_EC2_") && ENDS.iter().any(|end| code.contains(end));
    if !ends {
        return Ok(Parsed::Irrelevant);
    }
    let entities = raw.detail.get("affectedEntities").and_then(Value::as_array);
    let instances: Vec<InstanceId> = entities
        .into_iter()
        .flatten()
        .filter_map(|entity| text(entity, "entityValue")?.rsplit('/').next())
        .filter(|id| id.starts_with("i-"))
        .map(InstanceId::new)
        .collect();
    if instances.is_empty() {
        return Err(Unreadable::Detail { kind: raw.detail_type, field: "affectedEntities" });
    }
    // AWS sends events to a second region as a backup; this field names the region of the instances.
    let region = text(&raw.detail, "eventRegion").map(str::to_owned);
    let withdraws = text(&raw.detail, "statusCode") == Some("closed");
    let signal = (!withdraws).then_some(SignalKind::Retirement);
    let event = raw.event(EventKind::Health);
    let region = region.unwrap_or_else(|| event.region.clone());
    Ok(Parsed::Event(Event { region, instances, signal, withdraws, ..event }))
}

fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
}

impl EventBridgeEvent {
    /// An event of that kind that names nothing yet.
    fn event(self, kind: EventKind) -> Event {
        Event {
            kind,
            account: self.account,
            region: self.region,
            time: AwsTime::from_millis(self.time.as_millisecond()),
            group: None,
            instances: Vec::new(),
            signal: None,
            withdraws: false,
        }
    }
}
