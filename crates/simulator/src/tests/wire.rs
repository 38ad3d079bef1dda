//! AWS's protocols, with requests written by hand.

use super::scene::{REGION, Scene};
use crate::wire::{WireRequest, WireResponse, respond};
use crate::{Simulator, SimulatorConfig};
use foo_model::Timestamp;

fn signed(service: &str, region: &str) -> String {
    format!(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260101/{region}/{service}/aws4_request, \
         SignedHeaders=host;x-amz-date, Signature=abc"
    )
}

async fn send(sim: &Simulator, authorization: Option<&str>, body: &str) -> (u16, String) {
    let request = WireRequest { authorization, query: "", body: body.as_bytes(), received: Timestamp(0) };
    match respond(&sim.world, request).await {
        WireResponse::Xml { status, body, .. } => (status, body),
        _ => panic!("no complete response"),
    }
}

async fn ask(sim: &Simulator, service: &str, body: &str) -> (u16, String) {
    let version = if service == "ec2" { "2016-11-15" } else { "2011-01-01" };
    send(sim, Some(&signed(service, REGION)), &format!("{body}&Version={version}")).await
}

fn code(body: &str) -> &str {
    body.split("<Code>").nth(1).and_then(|rest| rest.split("</Code>").next()).unwrap_or("none")
}

fn sim() -> Simulator {
    Simulator::new(SimulatorConfig::stepped())
}

/// "unsigned requests are refused with MissingAuthenticationToken"; the XML is the service's.
#[tokio::test]
async fn unsigned_requests_are_refused() {
    let sim = sim();
    let (status, body) = send(&sim, None, "Action=DescribeAutoScalingGroups&Version=2011-01-01").await;
    assert_eq!((status, code(&body)), (403, "MissingAuthenticationToken"));
    assert!(
        body.contains(
            "<ErrorResponse xmlns=\"http://autoscaling.amazonaws.com/doc/2011-01-01/\"><Error><Type>"
        )
    );
    let (_, body) = send(&sim, None, "Action=DescribeInstances&Version=2016-11-15").await;
    assert!(body.contains("<Response><Errors><Error><Code>MissingAuthenticationToken</Code>"), "{body}");
}

/// "Unknown actions: InvalidAction (400), never a 500 page."
#[tokio::test]
async fn unknown_actions_services_and_regions_are_refused() {
    let sim = sim();
    for (service, action) in [
        ("autoscaling", "PutScalingPolicy"),
        ("ec2", "RunInstances"),
        ("sts", "GetSessionToken"),
        ("sqs", "X"),
        ("ssm", "X"),
    ] {
        let (status, body) = ask(&sim, service, &format!("Action={action}")).await;
        assert_eq!((status, code(&body)), (400, "InvalidAction"), "{service} {action}");
    }
    assert_eq!(code(&ask(&sim, "ec2", "Foo=1").await.1), "MissingAction");
    let (status, _) = send(&sim, Some(&signed("ec2", "no/where at all")), "Action=DescribeVpcs").await;
    assert!((400..500).contains(&status));
    let (_, body) = send(&sim, Some(&signed("ec2", "NOWHERE")), "Action=DescribeVpcs").await;
    assert_eq!(code(&body), "SignatureDoesNotMatch");
}

/// "a region is a separate world, created on demand".
#[tokio::test]
async fn regions_are_worlds_of_their_own() {
    let sim = sim();
    let scene = Scene { sim: sim.clone(), region: sim.region(REGION) };
    scene.settled_pool((0, 1, 1));
    let describe = "Action=DescribeAutoScalingGroups&Version=2011-01-01";
    let (_, here) = send(&sim, Some(&signed("autoscaling", REGION)), describe).await;
    let (status, there) = send(&sim, Some(&signed("autoscaling", "us-west-2")), describe).await;
    assert!(here.contains("<AutoScalingGroupName>pool</AutoScalingGroupName>"));
    assert_eq!(status, 200);
    assert!(!there.contains("pool"));
    let (_, zones) = send(&sim, Some(&signed("ec2", "us-west-2")), "Action=DescribeAvailabilityZones").await;
    assert!(zones.contains("<zoneName>us-west-2c</zoneName><zoneId>usw2-az3</zoneId>"), "{zones}");
}

/// Auto Scaling API Reference, TerminateInstanceInAutoScalingGroup: InstanceIds need the group's name, are up to 100, and go
/// not with InstanceId; the response has Activities instead of Activity.
#[tokio::test]
async fn several_instances_of_a_group_end_in_one_call() {
    let sim = sim();
    let scene = Scene { sim: sim.clone(), region: sim.region(REGION) };
    // Launches take as long as they take with AWS here, each another time.
    scene.settled_pool((0, 3, 3)).wait(300);
    let ids = scene.in_service();
    let end = "Action=TerminateInstanceInAutoScalingGroup&ShouldDecrementDesiredCapacity=true";
    let named = format!("{end}&AutoScalingGroupName=pool");
    let two = format!("&InstanceIds.member.1={}&InstanceIds.member.2={}", ids[0], ids[1]);
    let many = (1..=101).map(|n| format!("&InstanceIds.member.{n}=i-{n:017x}")).collect::<Vec<_>>().concat();
    let refused =
        [format!("{end}{two}"), format!("{named}{two}&InstanceId={}", ids[2]), format!("{named}{many}")];
    for call in refused {
        let (status, body) = ask(&sim, "autoscaling", &call).await;
        assert_eq!((status, code(&body)), (400, "ValidationError"), "{body}");
    }
    assert_eq!(scene.group().sizes.desired, 3);
    let (status, body) = ask(&sim, "autoscaling", &format!("{named}{two}")).await;
    assert_eq!((status, body.matches("<ActivityId>").count()), (200, 2), "{body}");
    assert!(body.contains("<Activities>") && !body.contains("<Activity>"), "{body}");
    assert_eq!(scene.group().sizes.desired, 1);
}

/// A group's life in Auto Scaling's query protocol.
#[tokio::test]
async fn a_group_over_the_wire() {
    let sim = sim();
    let create = "Action=CreateLaunchTemplate&LaunchTemplateName=lt-a&ClientToken=t\
                  &LaunchTemplateData.ImageId=ami-0a000000000000001&LaunchTemplateData.InstanceType=m7i.large\
                  &LaunchTemplateData.SecurityGroupId.1=sg-0a000000000000001";
    let (status, body) = ask(&sim, "ec2", create).await;
    assert_eq!(status, 200, "{body}");
    let id = body
        .split("<launchTemplateId>")
        .nth(1)
        .and_then(|rest| rest.split('<').next())
        .expect("an id")
        .to_owned();
    let create = format!(
        "Action=CreateAutoScalingGroup&AutoScalingGroupName=pool&MinSize=0&MaxSize=4&DesiredCapacity=2\
         &LaunchTemplate.LaunchTemplateId={id}&LaunchTemplate.Version=%241&VPCZoneIdentifier=subnet-0a00000000000000a%2C\
         subnet-0a00000000000000b&Tags.member.1.Key=k&Tags.member.1.Value=v%3C%26&Tags.member.1.PropagateAtLaunch=true\
         &MaxInstanceLifetime=86400&InstanceMaintenancePolicy.MinHealthyPercentage=90\
         &InstanceMaintenancePolicy.MaxHealthyPercentage=120"
    );
    let (status, body) = ask(&sim, "autoscaling", &create).await;
    assert_eq!((status, code(&body)), (400, "ValidationError"), "version $1 is no number");
    let (status, body) = ask(&sim, "autoscaling", &create.replace("%241", "1")).await;
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("<CreateAutoScalingGroupResponse xmlns="), "{body}");
    sim.step(std::time::Duration::from_mins(1));
    let (_, body) =
        ask(&sim, "autoscaling", "Action=DescribeAutoScalingGroups&AutoScalingGroupNames.member.1=pool")
            .await;
    assert_eq!(body.matches("<LifecycleState>InService</LifecycleState>").count(), 2, "{body}");
    assert!(body.contains("<Value>v&lt;&amp;</Value>"), "{body}");
    // What is only stored comes back all the same.
    assert!(body.contains("<MaxInstanceLifetime>86400</MaxInstanceLifetime>"));
    assert!(body.contains("<MinHealthyPercentage>90</MinHealthyPercentage></InstanceMaintenancePolicy>"));
    let (_, body) =
        ask(&sim, "ec2", "Action=DescribeInstances&Filter.1.Name=tag:k&Filter.1.Value.1=v*").await;
    assert_eq!(body.matches("<name>running</name>").count(), 2, "{body}");
    let (_, body) =
        ask(&sim, "autoscaling", "Action=DescribeScalingActivities&AutoScalingGroupName=pool&MaxRecords=1")
            .await;
    assert!(body.contains("<StatusCode>Successful</StatusCode>") && body.contains("<NextToken>"), "{body}");
    let (_, body) =
        ask(&sim, "autoscaling", "Action=SetDesiredCapacity&AutoScalingGroupName=pool&DesiredCapacity=-1")
            .await;
    assert_eq!(code(&body), "ValidationError");
    let (_, body) =
        ask(&sim, "autoscaling", "Action=SetDesiredCapacity&AutoScalingGroupName=none&DesiredCapacity=1")
            .await;
    assert_eq!(code(&body), "ValidationError");
    let (_, body) = ask(&sim, "autoscaling", "Action=SetDesiredCapacity&AutoScalingGroupName=pool").await;
    assert_eq!(code(&body), "ValidationError");
    let (_, body) =
        ask(&sim, "autoscaling", "Action=DeleteAutoScalingGroup&AutoScalingGroupName=pool&ForceDelete=true")
            .await;
    assert!(body.contains("DeleteAutoScalingGroupResponse"));
    let (_, body) = ask(&sim, "autoscaling", "Action=DescribeAutoScalingGroups").await;
    assert!(body.contains("<Status>Delete in progress</Status>"), "{body}");
}

/// "DescribeAutoScalingGroups default 50, max 100; bad token InvalidNextToken".
#[tokio::test]
async fn pages_and_tokens() {
    let sim = sim();
    let scene = Scene { sim: sim.clone(), region: sim.region(REGION) };
    let first = scene.pool((0, 0, 0));
    for n in 0..130 {
        let mut new = first.clone();
        new.name = format!("pool-{n:03}").into();
        scene.create(new).expect("a group");
    }
    let describe = |rest: String| {
        let sim = sim.clone();
        async move { ask(&sim, "autoscaling", &format!("Action=DescribeAutoScalingGroups{rest}")).await.1 }
    };
    let count = |body: &str| body.matches("<AutoScalingGroupARN>").count();
    let token = |body: &str| {
        body.split("<NextToken>").nth(1).map(|rest| rest.split('<').next().unwrap_or("").to_owned())
    };
    let page = describe(String::new()).await;
    assert_eq!(count(&page), 50);
    // The last group seen disappears in between: nothing is lost or doubled.
    let gone = scene.with(|region| {
        region.delete_group(&"pool-049".into(), crate::core::rules::group::operations::Deletion::IfEmpty)
    });
    gone.expect("deleted");
    scene.wait(5);
    let page = describe(format!("&NextToken={}", token(&page).expect("more"))).await;
    assert!(count(&page) == 50 && page.contains(">pool-050<") && page.contains(">pool-099<"));
    let page = describe(format!("&NextToken={}", token(&page).expect("more"))).await;
    assert_eq!((count(&page), token(&page)), (30, None));
    assert_eq!(code(&describe("&MaxRecords=101".to_owned()).await), "ValidationError");
    assert_eq!(code(&describe("&NextToken=abc".to_owned()).await), "InvalidNextToken");
}

/// EC2's codes for instances that do not exist or whose ids are no ids.
#[tokio::test]
async fn unknown_and_malformed_instances() {
    let sim = sim();
    let describe = |rest: &'static str| {
        let sim = sim.clone();
        async move { ask(&sim, "ec2", &format!("Action=DescribeInstances{rest}")).await.1 }
    };
    let unknown = describe("&InstanceId.1=i-00000000000000001&InstanceId.2=i-00000000000000002").await;
    assert_eq!(code(&unknown), "InvalidInstanceID.NotFound");
    assert!(unknown.contains("The instance IDs 'i-00000000000000001, i-00000000000000002' do not exist"));
    assert_eq!(code(&describe("&InstanceId.1=x").await), "InvalidInstanceID.Malformed");
    let both = describe("&InstanceId.1=i-00000000000000001&MaxResults=10").await;
    assert_eq!(code(&both), "InvalidParameterCombination");
    assert_eq!(code(&describe("&Filter.1.Name=colour&Filter.1.Value.1=red").await), "InvalidParameterValue");
    assert_eq!(code(&describe("&DryRun=true").await), "DryRunOperation");
}

/// API Reference, DescribeScalingActivities: a response may hold fewer activities than asked for, even none, and a token.
#[tokio::test]
async fn pages_of_activities_can_be_short_or_empty() {
    let sim = sim();
    let scene = Scene { sim: sim.clone(), region: sim.region(REGION) };
    scene.settled_pool((0, 3, 3));
    let short = |settings: &mut crate::core::Settings| {
        settings.activity_pages = crate::core::settings::ActivityPages::Short;
    };
    scene.region.change_settings(short).expect("changed");
    let (mut token, mut pages) = (String::new(), vec![]);
    loop {
        let form = format!(
            "Action=DescribeScalingActivities&AutoScalingGroupName=pool&MaxRecords=4&NextToken={token}"
        );
        let (status, body) = ask(&sim, "autoscaling", &form).await;
        assert_eq!(status, 200, "{body}");
        pages.push(body.matches("<ActivityId>").count());
        match body.split("<NextToken>").nth(1).and_then(|rest| rest.split("</NextToken>").next()) {
            Some(next) => token = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(pages, [0, 2, 1]);
}
