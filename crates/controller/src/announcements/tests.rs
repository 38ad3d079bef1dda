//! Messages as AWS sends them, and what is not one.

use super::event::{Event, Parsed, parse};
use crate::labels::EventKind;
use foo_model::{GroupName, InstanceId, SignalKind};
use serde_json::{Value, json};

fn message(source: &str, detail_type: &str, detail: &Value) -> String {
    json!({
        "version": "0",
        "id": "12345678-1234-1234-1234-123456789012",
        "detail-type": detail_type,
        "source": source,
        "account": "123456789012",
        "time": "2026-04-14T09:30:00Z",
        "region": "us-west-2",
        "resources": ["arn:aws:ec2:us-west-2:123456789012:instance/i-1234567890abcdef0"],
        "detail": detail,
    })
    .to_string()
}

fn event(source: &str, detail_type: &str, detail: &Value) -> Event {
    match parse(&message(source, detail_type, detail)) {
        Ok(Parsed::Event(event)) => event,
        other => panic!("{detail_type}: {other:?}"),
    }
}

fn instance() -> Vec<InstanceId> {
    vec![InstanceId::new("i-1234567890abcdef0")]
}

/// Auto Scaling User Guide, "Amazon EC2 Auto Scaling event reference".
#[test]
fn events_of_auto_scaling_name_a_group() {
    let lifecycle = json!({
        "LifecycleActionToken": "87654321-4321-4321-4321-210987654321",
        "AutoScalingGroupName": "my-asg",
        "LifecycleHookName": "my-lifecycle-hook",
        "EC2InstanceId": "i-1234567890abcdef0",
        "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING",
        "NotificationMetadata": "additional-info",
        "Origin": "AutoScalingGroup",
        "Destination": "EC2",
    });
    let activity = json!({
        "StatusCode": "InProgress",
        "AutoScalingGroupName": "my-asg",
        "ActivityId": "87654321-4321-4321-4321-210987654321",
        "Details": {"Availability Zone": "us-west-2b", "Subnet ID": "subnet-12345678"},
        "RequestId": "12345678-1234-1234-1234-123456789012",
        "StatusMessage": "",
        "EndTime": "2026-04-14T09:30:00Z",
        "EC2InstanceId": "",
        "StartTime": "2026-04-14T09:30:00Z",
        "Cause": "description-text",
        "Origin": "EC2",
        "Destination": "AutoScalingGroup",
    });
    let refresh = json!({"InstanceRefreshId": "ab00cf8f", "AutoScalingGroupName": "my-asg"});
    let check = |detail_type: &str, detail: &Value, kind: EventKind| {
        let event = event("aws.autoscaling", detail_type, detail);
        assert_eq!((event.kind, event.group), (kind, Some(GroupName::new("my-asg"))), "{detail_type}");
        assert_eq!((event.instances, event.signal), (Vec::new(), None));
        assert_eq!((event.account.as_str(), event.region.as_str()), ("123456789012", "us-west-2"));
        assert_eq!(event.time.millis(), 1_776_159_000_000);
    };
    check("EC2 Instance-terminate Lifecycle Action", &lifecycle, EventKind::LifecycleAction);
    check("EC2 Instance-launch Lifecycle Action", &lifecycle, EventKind::LifecycleAction);
    for what in ["Launch Successful", "Launch Unsuccessful", "Terminate Successful", "Terminate Unsuccessful"]
    {
        check(&format!("EC2 Instance {what}"), &activity, EventKind::ScalingActivity);
    }
    check("EC2 Auto Scaling Instance Refresh Started", &refresh, EventKind::ScalingActivity);
}

/// Auto Scaling User Guide, "Warm pool example events".
#[test]
fn an_instance_that_leaves_the_warm_pool_waits_for_the_providers_hook_only_if_it_names_that() {
    let seen = |detail_type: &str, origin: &str, destination: &str, hook: &str| {
        let detail = json!({
            "LifecycleActionToken": "71514b9d-6a40-4b26-8523-05e7ee35fa40",
            "AutoScalingGroupName": "my-asg",
            "LifecycleHookName": hook,
            "EC2InstanceId": "i-1234567890abcdef0",
            "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING",
            "Origin": origin,
            "Destination": destination,
        });
        let event = event("aws.autoscaling", detail_type, &detail);
        assert_eq!(event.group, Some(GroupName::new("my-asg")));
        (event.instances, event.signal)
    };
    let ends = "EC2 Instance-terminate Lifecycle Action";
    assert_eq!(seen(ends, "WarmPool", "EC2", "foo-drain"), (instance(), Some(SignalKind::LeavesWarmPool)));
    let nothing = (Vec::new(), None);
    assert_eq!(seen(ends, "WarmPool", "EC2", "evict"), nothing);
    assert_eq!(seen(ends, "AutoScalingGroup", "EC2", "foo-drain"), nothing, "it may have Pods");
    assert_eq!(seen(ends, "AutoScalingGroup", "WarmPool", "foo-drain"), nothing, "it may have Pods");
    let launches = "EC2 Instance-launch Lifecycle Action";
    assert_eq!(seen(launches, "WarmPool", "AutoScalingGroup", "foo-drain"), nothing);
}

/// EC2 User Guide, "State change events", "Spot Instance interruption notices", "EC2 instance rebalance
/// recommendations".
#[test]
fn events_of_ec2_name_an_instance() {
    let check = |detail_type: &str, more: &Value, kind: EventKind, signal: Option<SignalKind>| {
        let mut detail = json!({"instance-id": "i-1234567890abcdef0"});
        detail.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let event = event("aws.ec2", detail_type, &detail);
        assert_eq!((event.kind, event.group, event.signal), (kind, None, signal), "{detail_type}");
        assert_eq!(event.instances, instance());
    };
    let state = json!({"state": "shutting-down"});
    check("EC2 Instance State-change Notification", &state, EventKind::StateChange, None);
    let action = json!({"instance-action": "terminate"});
    let interruption = Some(SignalKind::Interruption);
    check("EC2 Spot Instance Interruption Warning", &action, EventKind::Interruption, interruption);
    let rebalance = Some(SignalKind::Rebalance);
    check("EC2 Instance Rebalance Recommendation", &json!({}), EventKind::Rebalance, rebalance);
}

fn health(code: &str) -> Value {
    json!({
        "eventArn": format!("arn:aws:health:us-west-2::event/EC2/{code}/{code}-1"),
        "service": "EC2",
        "eventTypeCode": code,
        "eventTypeCategory": "scheduledChange",
        "startTime": "Tue, 28 Apr 2026 05:01:10 GMT",
        "statusCode": "upcoming",
        "eventRegion": "us-west-2",
        "eventDescription": [{"language": "en_US", "latestDescription": "A description of the event."}],
        "affectedEntities": [
            {"entityValue": "i-1234567890abcdef0", "status": "PENDING"},
            {"entityValue": "arn:aws:ec2:us-west-2:123456789012:instance/i-0fedcba0987654321"},
        ],
        "affectedAccount": "123456789012",
        "page": "1",
        "totalPages": "1",
    })
}

/// AWS Health User Guide, "AWS Health events Amazon EventBridge schema".
#[test]
fn only_health_events_that_terminate_instances_count() {
    for code in [
        "AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED",
        "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
        "AWS_EC2_INSTANCE_STOP_SCHEDULED",
    ] {
        let event = event("aws.health", "AWS Health Event", &health(code));
        assert_eq!((event.kind, event.signal), (EventKind::Health, Some(SignalKind::Retirement)));
        assert_eq!(event.instances, [instance(), vec![InstanceId::new("i-0fedcba0987654321")]].concat());
    }
    let irrelevant = |detail: &Value| parse(&message("aws.health", "AWS Health Event", detail));
    for code in ["AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED", "AWS_RDS_MAINTENANCE_SCHEDULED"] {
        assert_eq!(irrelevant(&health(code)), Ok(Parsed::Irrelevant), "{code}");
    }
    let mut closed = health("AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED");
    closed["statusCode"] = json!("closed");
    let closed = event("aws.health", "AWS Health Event", &closed);
    assert_eq!((closed.signal, closed.withdraws), (None, true));
    // A copy for the backup region names the region of its instances.
    let mut elsewhere = health("AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED");
    elsewhere["eventRegion"] = json!("eu-central-1");
    assert_eq!(event("aws.health", "AWS Health Event", &elsewhere).region, "eu-central-1");
}

#[test]
fn other_events_are_irrelevant_and_malformed_ones_unreadable() {
    for (source, detail_type) in [
        ("aws.autoscaling", "EC2 Auto Scaling Something New"),
        ("aws.ec2", "EBS Volume Notification"),
        ("com.example", "EC2 Spot Instance Interruption Warning"),
    ] {
        assert_eq!(parse(&message(source, detail_type, &json!({}))), Ok(Parsed::Irrelevant), "{detail_type}");
    }
    for garbage in ["", "hello", "{}", "[]", "null", r#"{"source": "aws.ec2"}"#] {
        assert!(parse(garbage).is_err(), "{garbage}");
    }
    for (source, detail_type, detail) in [
        ("aws.ec2", "EC2 Spot Instance Interruption Warning", json!({})),
        ("aws.ec2", "EC2 Spot Instance Interruption Warning", json!({"instance-id": 5})),
        ("aws.ec2", "EC2 Instance State-change Notification", json!({"instance-id": "vol-1"})),
        ("aws.ec2", "EC2 Instance Rebalance Recommendation", Value::Null),
        ("aws.autoscaling", "EC2 Instance Launch Successful", json!({"AutoScalingGroupName": ""})),
        ("aws.health", "AWS Health Event", json!({})),
        (
            "aws.health",
            "AWS Health Event",
            json!({"eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED", "affectedEntities": []}),
        ),
    ] {
        assert!(parse(&message(source, detail_type, &detail)).is_err(), "{detail_type} {detail}");
    }
}

/// What the template's rules send is what is read.
#[test]
fn the_template_names_the_events_that_are_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/aws/events.yaml");
    let template = std::fs::read_to_string(path).unwrap();
    let rules: Vec<&str> = template
        .lines()
        .filter_map(|line| line.strip_prefix("        - "))
        .filter(|kind| kind.starts_with("EC2 ") || kind.starts_with("AWS "))
        .collect();
    assert_eq!(rules.len(), 10, "{rules:?}");
    for kind in rules {
        let detail = json!({
            "AutoScalingGroupName": "g", "instance-id": "i-1",
            "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
            "affectedEntities": [{"entityValue": "i-1"}],
        });
        let read = ["aws.autoscaling", "aws.ec2", "aws.health"]
            .iter()
            .filter(|source| matches!(parse(&message(source, kind, &detail)), Ok(Parsed::Event(_))));
        assert_eq!(read.count(), 1, "{kind}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_much(text in ".{0,400}") {
        drop(parse(&text));
    }
}
