//! Calls of consoles and tools that read in passing, and whose results must be right.

use super::scene::{REGION, Scene, data, name, refusal, scene};
use crate::core::catalogue::IMAGE_X86_64;
use crate::core::document::Document;
use crate::core::ec2::launch_data::LaunchData;
use crate::core::ec2::templates::NewTemplate;
use crate::core::group::model::GroupTag;
use crate::wire::{WireRequest, WireResponse, respond};
use foo_model::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

impl Scene {
    async fn ask(&self, service: &str, form: &str) -> (u16, String) {
        let authorization =
            format!("AWS4-HMAC-SHA256 Credential=AKID/20260101/{REGION}/{service}/aws4_request");
        let request = WireRequest {
            authorization: Some(&authorization),
            query: "",
            body: form.as_bytes(),
            received: Timestamp(0),
        };
        match respond(&self.sim.world, request).await {
            WireResponse::Xml { status, body, .. } | WireResponse::Json { status, body, .. } => {
                (status, body)
            }
            other => panic!("no complete response: {other:?}"),
        }
    }

    async fn asked(&self, service: &str, form: &str) -> String {
        let (status, body) = self.ask(service, form).await;
        assert_eq!(status, 200, "{form}: {body}");
        body
    }

    /// How many instances EC2 finds by a filter.
    async fn found_by(&self, filter: &str, value: &str) -> usize {
        let form = format!("Action=DescribeInstances&Filter.1.Name={filter}&Filter.1.Value.1={value}");
        self.asked("ec2", &form).await.matches("<instanceId>").count()
    }
}

/// Auto Scaling API Reference, Tag: a pattern that XML can hold. What breaks it is a ValidationError, not a tag that comes
/// back changed.
#[tokio::test]
async fn tags_with_characters_that_xml_cannot_hold_are_refused() {
    let scene = scene();
    scene.settled_pool((0, 1, 1));
    let tag = |key: &str, value: &str| {
        let tag = GroupTag { value: value.to_owned(), propagate: false };
        scene.with(|region| region.tag_group(&name("pool"), BTreeMap::from([(key.to_owned(), tag)])))
    };
    for (key, value) in [("k", "\u{1}"), ("k\u{0}", "v"), ("k", "\u{ffff}")] {
        let (code, message) = refusal(tag(key, value));
        assert_eq!(code, "ValidationError");
        assert!(message.contains("regular expression pattern"), "{message}");
    }
    tag("line\r\n\tÄ \u{7f}", "\u{1f980} \u{9f}").expect("these XML can hold");
    let body = scene.asked("autoscaling", "Action=DescribeTags").await;
    assert!(body.contains("<Key>line&#13;\n\tÄ \u{7f}</Key><Value>\u{1f980} \u{9f}</Value>"), "{body}");
    let id = scene.in_service()[0].to_string();
    let (status, body) =
        scene.ask("ec2", &format!("Action=CreateTags&ResourceId.1={id}&Tag.1.Key=k&Tag.1.Value=%01")).await;
    assert!(status == 400 && body.contains("<Code>InvalidParameterValue</Code>"), "{body}");
}

fn with_volume(fields: &[(&str, &str)]) -> LaunchData {
    let ebs =
        fields.iter().fold(Document::map(), |map, (name, value)| map.with(name, Some(Document::text(value))));
    let mapping = Document::map().with("deviceName", Some(Document::text("/dev/sdf"))).with("ebs", Some(ebs));
    LaunchData {
        document: data("m7i.large")
            .document
            .with("blockDeviceMappingSet", Some(Document::List(vec![mapping]))),
    }
}

/// EC2 API Reference, CreateLaunchTemplate, Warning: a faulty template is created with a warning; a group of it is refused.
#[tokio::test]
async fn a_template_with_impossible_volumes_is_created_with_a_warning_and_cannot_be_used() {
    let scene = scene();
    let form = format!(
        "Action=CreateLaunchTemplate&LaunchTemplateName=odd&LaunchTemplateData.ImageId={IMAGE_X86_64}\
         &LaunchTemplateData.InstanceType=m7i.large&LaunchTemplateData.SecurityGroupId.1=sg-00000000000000009\
         &LaunchTemplateData.BlockDeviceMapping.1.DeviceName=/dev/sdf\
         &LaunchTemplateData.BlockDeviceMapping.1.Ebs.VolumeType=gp2\
         &LaunchTemplateData.BlockDeviceMapping.1.Ebs.Iops=3000"
    );
    let body = scene.asked("ec2", &form).await;
    assert!(
        body.contains(
            "<warning><errorSet><item><code>InvalidParameterCombination</code><message>The parameter iops is not \
             supported for gp2 volumes.</message></item><item><code>InvalidGroup.NotFound</code>"
        ),
        "{body}"
    );
    for (fields, fits) in [
        (&[("volumeType", "gp2"), ("throughput", "125")][..], false),
        (&[("volumeType", "io1"), ("volumeSize", "20")], false),
        (&[("volumeType", "gp3"), ("volumeSize", "20"), ("iops", "3000")], true),
    ] {
        let scene = super::scene::scene();
        let template = scene.with(|region| {
            let new = NewTemplate {
                name: "own".to_owned(),
                data: with_volume(fields),
                description: None,
                tags: BTreeMap::new(),
                token: None,
                caller: "arn:test".to_owned(),
            };
            assert_eq!(region.template_warnings(&new.data).is_empty(), fits);
            region.create_template(new).expect("made").id.clone()
        });
        let mut new = scene.pool((0, 1, 1));
        new.source = Some(super::scene::source(&template, None));
        let made = scene.create(new);
        if fits {
            made.expect("a group");
        } else {
            let (code, message) = refusal(made);
            assert_eq!(code, "ValidationError");
            assert!(
                message.starts_with("You must use a valid fully-formed launch template. The param"),
                "{message}"
            );
        }
    }
}

#[tokio::test]
async fn instances_are_found_by_address_group_and_the_other_everyday_filters() {
    let scene = scene();
    scene.settled_pool((0, 2, 2));
    let instance = scene.region.instances().remove(0);
    let address = instance.addresses.expect("it runs").private.to_string();
    let group = instance.security_groups[0].to_string();
    for (filter, value, count) in [
        ("private-ip-address", address.as_str(), 1),
        ("network-interface.addresses.private-ip-address", &address, 1),
        ("instance.group-id", &group, 2),
        ("instance.group-name", "sim-node", 2),
        ("instance-state-code", "16", 2),
        ("architecture", "x86_64", 2),
        ("owner-id", "123456789012", 2),
        ("tenancy", "dedicated", 0),
        ("key-name", "missing", 0),
        ("launch-time", "2026-01-01T*", 2),
        ("iam-instance-profile.arn", "*", 0),
        ("ip-address", "*", 0),
        ("dns-name", "*", 0),
    ] {
        assert_eq!(scene.found_by(filter, value).await, count, "{filter}");
    }
}

/// VPC User Guide, "Default security groups for your VPCs".
#[tokio::test]
async fn an_instance_without_security_groups_gets_the_default_one() {
    let scene = scene();
    let document = Document::map()
        .with("imageId", Some(Document::text(IMAGE_X86_64)))
        .with("instanceType", Some(Document::text("m7i.large")));
    let template = scene.with(|region| {
        let new = NewTemplate {
            name: "bare".to_owned(),
            data: LaunchData { document },
            description: None,
            tags: BTreeMap::new(),
            token: None,
            caller: "arn:test".to_owned(),
        };
        region.create_template(new).expect("made").id.clone()
    });
    let mut new = scene.pool((0, 1, 1));
    new.source = Some(super::scene::source(&template, None));
    scene.create(new).expect("a group");
    scene.wait(21);
    assert_eq!(scene.found_by("instance.group-name", "default").await, 1);
    let form = "Action=DescribeSecurityGroups&Filter.1.Name=group-name&Filter.1.Value.1=default";
    let groups = scene.asked("ec2", form).await;
    assert_eq!(groups.matches("<groupName>default</groupName>").count(), 1, "{groups}");
}

#[tokio::test]
async fn status_checks_and_scheduled_events_are_shown() {
    let scene = scene();
    scene.settled_pool((0, 1, 2));
    let id = scene.in_service().remove(0);
    scene.region.schedule_event(&id, "system-reboot", Duration::from_hours(1)).expect("scheduled");
    let body = scene.asked("ec2", "Action=DescribeInstanceStatus").await;
    for text in [
        "<status>ok</status>",
        "<code>system-reboot</code>",
        "<notBefore>2026-01-01T01:00:21.000Z</notBefore>",
    ] {
        assert!(body.contains(text), "{text}: {body}");
    }
    scene.set_desired(2).expect("up");
    scene.wait(1);
    let shown = async |form: &str| scene.asked("ec2", form).await.matches("<instanceId>").count();
    assert_eq!(shown("Action=DescribeInstanceStatus").await, 1, "running ones only");
    assert_eq!(shown("Action=DescribeInstanceStatus&IncludeAllInstances=true").await, 2);
    let form = format!("Action=DescribeInstanceAttribute&Attribute=instanceType&InstanceId={id}");
    assert!(
        scene.asked("ec2", &form).await.contains("<instanceType><value>m7i.large</value></instanceType>")
    );
    let (status, _) = scene.ask("ec2", &form.replace("instanceType", "colour")).await;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn constants_and_empty_lists_are_returned() {
    let scene = scene();
    scene.settled_pool((0, 1, 1));
    let none = ["Volumes", "KeyPairs", "SpotPriceHistory", "SpotInstanceRequests"];
    for action in none {
        assert!(
            !scene.asked("ec2", &format!("Action=Describe{action}")).await.contains("<item>"),
            "{action}"
        );
    }
    // The instance's own.
    let interfaces = scene.asked("ec2", "Action=DescribeNetworkInterfaces").await;
    assert_eq!(interfaces.matches("<networkInterfaceId>").count(), 1, "{interfaces}");
    let body = scene.asked("ec2", "Action=DescribeRegions").await;
    assert!(body.contains("<regionName>eu-central-1</regionName>") && body.contains("us-west-2"), "{body}");
    let form = "Action=DescribeInstanceTypeOfferings&LocationType=availability-zone\
                &Filter.1.Name=instance-type&Filter.1.Value.1=m6i.2xlarge";
    assert_eq!(scene.asked("ec2", form).await.matches("<location>").count(), 3);
    let form = "Action=DescribeTags&Filter.1.Name=resource-type&Filter.1.Value.1=subnet";
    assert_eq!(scene.asked("ec2", form).await.matches("<resourceId>").count(), 12);
    for (action, text) in [
        ("Policies", "<ScalingPolicies></ScalingPolicies>"),
        ("ScheduledActions", "<ScheduledUpdateGroupActions></ScheduledUpdateGroupActions>"),
        ("NotificationConfigurations", "<NotificationConfigurations></NotificationConfigurations>"),
        ("LaunchConfigurations", "<LaunchConfigurations></LaunchConfigurations>"),
        ("LoadBalancers&AutoScalingGroupName=pool", "<LoadBalancers></LoadBalancers>"),
        ("TrafficSources&AutoScalingGroupName=pool", "<TrafficSources></TrafficSources>"),
        ("AccountLimits", "<NumberOfAutoScalingGroups>1</NumberOfAutoScalingGroups>"),
        ("TerminationPolicyTypes", "<member>OldestInstance</member>"),
        ("ScalingProcessTypes", "<ProcessName>AZRebalance</ProcessName>"),
        ("AdjustmentTypes", "<AdjustmentType>ExactCapacity</AdjustmentType>"),
        ("MetricCollectionTypes", "<Granularity>1Minute</Granularity>"),
        ("AutoScalingNotificationTypes", "<member>autoscaling:TEST_NOTIFICATION</member>"),
    ] {
        let body = scene.asked("autoscaling", &format!("Action=Describe{action}")).await;
        assert!(body.contains(text), "{action}: {body}");
    }
    let form = "Action=DescribeLoadBalancerTargetGroups&AutoScalingGroupName=missing";
    assert_eq!(scene.ask("autoscaling", form).await.0, 400);
}

/// SDKs of services that speak REST with JSON cannot read a refusal in XML.
#[tokio::test]
async fn services_that_speak_rest_are_refused_in_json() {
    let scene = scene();
    let (status, body) = scene.ask("lambda", "").await;
    assert_eq!((status, body.as_str()), (404, r#"{"message":"The service lambda is not simulated."}"#));
    let (status, body) = scene.ask("elasticloadbalancing", "Action=CreateLoadBalancer").await;
    assert!(status == 400 && body.contains("<Code>InvalidAction</Code>"), "{body}");
}
