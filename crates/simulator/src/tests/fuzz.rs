//! Bad requests never panic and never get a status in the 500s: the wire's parsers and every action, fed with what comes close to
//! good requests, with good requests that were damaged, and with noise. Bounded by the number of cases.

use super::scene::{REGION, Scene};
use crate::service::Service;
use crate::wire::sigv4::SignedRequest;
use crate::wire::{WireRequest, WireResponse, all_actions, json, respond};
use crate::{Simulator, SimulatorConfig};
use foo_model::Timestamp;
use http::{HeaderMap, HeaderValue, Method};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Good requests, with everything in them that a parameter can be.
const GOOD: [(&str, &str); 19] = [
    (
        "ec2",
        "Action=CreateLaunchTemplate&LaunchTemplateName=lt-a&ClientToken=t&LaunchTemplateData.ImageId=ami-0a000000000000001\
         &LaunchTemplateData.InstanceType=m7i.large&LaunchTemplateData.SecurityGroupId.1=sg-0a000000000000001\
         &LaunchTemplateData.UserData=Zm9v&LaunchTemplateData.BlockDeviceMapping.1.DeviceName=/dev/xvda\
         &LaunchTemplateData.BlockDeviceMapping.1.Ebs.VolumeSize=20&TagSpecification.1.ResourceType=launch-template\
         &TagSpecification.1.Tag.1.Key=k&TagSpecification.1.Tag.1.Value=v",
    ),
    (
        "autoscaling",
        "Action=CreateAutoScalingGroup&AutoScalingGroupName=other&MinSize=0&MaxSize=4&DesiredCapacity=2\
         &LaunchTemplate.LaunchTemplateName=pool-template&LaunchTemplate.Version=1\
         &VPCZoneIdentifier=subnet-0a00000000000000a%2Csubnet-0a00000000000000b&Tags.member.1.Key=k&Tags.member.1.Value=v\
         &MaxInstanceLifetime=86400&InstanceMaintenancePolicy.MinHealthyPercentage=90\
         &InstanceMaintenancePolicy.MaxHealthyPercentage=120&TerminationPolicies.member.1=OldestInstance\
         &LifecycleHookSpecificationList.member.1.LifecycleHookName=h\
         &LifecycleHookSpecificationList.member.1.LifecycleTransition=autoscaling%3AEC2_INSTANCE_LAUNCHING",
    ),
    (
        "autoscaling",
        "Action=UpdateAutoScalingGroup&AutoScalingGroupName=pool\
         &MixedInstancesPolicy.LaunchTemplate.LaunchTemplateSpecification.LaunchTemplateName=pool-template\
         &MixedInstancesPolicy.LaunchTemplate.Overrides.member.1.InstanceType=m7i.large\
         &MixedInstancesPolicy.LaunchTemplate.Overrides.member.1.WeightedCapacity=2\
         &MixedInstancesPolicy.LaunchTemplate.Overrides.member.2.InstanceRequirements.VCpuCount.Min=2\
         &MixedInstancesPolicy.LaunchTemplate.Overrides.member.2.InstanceRequirements.MemoryMiB.Min=1024\
         &MixedInstancesPolicy.LaunchTemplate.Overrides.member.2.WeightedCapacity=1\
         &MixedInstancesPolicy.InstancesDistribution.OnDemandBaseCapacity=1\
         &MixedInstancesPolicy.InstancesDistribution.SpotMaxPrice=0.5",
    ),
    (
        "autoscaling",
        "Action=SetDesiredCapacity&AutoScalingGroupName=pool&DesiredCapacity=3&HonorCooldown=false",
    ),
    (
        "autoscaling",
        "Action=PutWarmPool&AutoScalingGroupName=pool&PoolState=Stopped&MaxGroupPreparedCapacity=3",
    ),
    (
        "autoscaling",
        "Action=StartInstanceRefresh&AutoScalingGroupName=pool&Preferences.MinHealthyPercentage=50\
         &Preferences.CheckpointPercentages.member.1=50&DesiredConfiguration.LaunchTemplate.LaunchTemplateName=pool-template\
         &DesiredConfiguration.LaunchTemplate.Version=1",
    ),
    (
        "autoscaling",
        "Action=LaunchInstances&AutoScalingGroupName=pool&RequestedCapacity=1&ClientToken=t\
         &AvailabilityZones.member.1=eu-central-1a",
    ),
    (
        "autoscaling",
        "Action=PutLifecycleHook&AutoScalingGroupName=pool&LifecycleHookName=h&HeartbeatTimeout=60\
         &LifecycleTransition=autoscaling%3AEC2_INSTANCE_TERMINATING",
    ),
    (
        "autoscaling",
        "Action=CreateOrUpdateTags&Tags.member.1.ResourceId=pool&Tags.member.1.ResourceType=auto-scaling-group\
         &Tags.member.1.Key=k&Tags.member.1.Value=v&Tags.member.1.PropagateAtLaunch=true",
    ),
    (
        "autoscaling",
        "Action=DescribeAutoScalingGroups&Filters.member.1.Name=tag-key&Filters.member.1.Values.member.1=k&MaxRecords=10",
    ),
    ("ec2", "Action=DescribeInstances&Filter.1.Name=tag%3Ak&Filter.1.Value.1=v&MaxResults=5"),
    (
        "ec2",
        "Action=DescribeLaunchTemplateVersions&LaunchTemplateName=pool-template&LaunchTemplateVersion.1=%24Latest",
    ),
    ("ec2", "Action=CreateTags&ResourceId.1=subnet-0a00000000000000a&Tag.1.Key=k&Tag.1.Value=v"),
    (
        "sts",
        "Action=AssumeRole&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Fr&RoleSessionName=foo&DurationSeconds=900",
    ),
    (
        "sts",
        "Action=AssumeRoleWithWebIdentity&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Fr&RoleSessionName=foo\
         &WebIdentityToken=e30.eyJpc3MiOiJhIiwic3ViIjoiYiIsImF1ZCI6ImMifQ.x",
    ),
    ("sts", "Action=GetCallerIdentity"),
    (
        "iam",
        "Action=CreateOpenIDConnectProvider&Url=https%3A%2F%2Foidc.example.com%2Fid%2F1&ClientIDList.member.1=sts.amazonaws.com\
         &ThumbprintList.member.1=9e99a48a9960b14926bb7f3b02e22da2b0ab7280&Tags.member.1.Key=k&Tags.member.1.Value=v",
    ),
    ("iam", "Action=GetRole&RoleName=nodes"),
    ("sts", "Action=AssumeRoleWithWebIdentity&Action=GetCallerIdentity"),
];

/// All names of parameters in the good requests.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let fields = GOOD.iter().flat_map(|(_, form)| form.split('&').filter_map(|field| field.split_once('=')));
    let mut names: Vec<String> = fields.map(|(name, _)| name.to_owned()).collect();
    let more = [
        "ForceDelete",
        "OpenIDConnectProviderArn",
        "ClientID",
        "InstanceProfileName",
        "TagKeys.member.1",
        "DryRun",
        "NextToken",
        "InstanceId",
        "InstanceIds.member.1",
        "InstanceId.1",
        "HealthStatus",
        "ScalingProcesses.member.1",
        "ShouldDecrementDesiredCapacity",
        "ProtectedFromScaleIn",
        "LifecycleActionResult",
        "LifecycleActionToken",
        "SetDefaultVersion",
        "Names.member.1",
        "ActivityIds.member.1",
        "LaunchTemplateId",
        "LaunchTemplateData",
        "LaunchTemplateVersion.1",
        "MinSize",
        "Preferences.BakeTime",
        "InstanceRefreshIds.member.1",
    ];
    names.extend(more.map(str::to_owned));
    names.sort();
    names.dedup();
    names
});

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "pool", "pool-template", "subnet-0a00000000000000a", "ami-0a000000000000001", "m7i.large", "true", "$Latest",
            "i-00000000000000000", "arn:aws:iam::123456789012:oidc-provider/oidc.example.com/id/1", "Zm9vMTpwb29s", "tag:k", "CONTINUE", "Terminate", "eu-central-1a", "h", "-1",
        ])
        .prop_map(str::to_owned),
        3 => (-2..2_000_000_i64).prop_map(|number| number.to_string()),
        2 => any::<String>(),
        1 => Just(String::new()),
    ]
}

fn parameter() -> impl Strategy<Value = String> {
    (prop::sample::select(NAMES.clone()), value()).prop_map(|(name, value)| {
        url::form_urlencoded::Serializer::new(String::new()).append_pair(&name, &value).finish()
    })
}

/// Damage to bytes: where, and what is put there in place of how many.
pub(super) type Damage = Vec<(prop::sample::Index, u8, Vec<u8>)>;

pub(super) fn damage() -> impl Strategy<Value = Damage> {
    let piece = prop_oneof![
        2 => prop::collection::vec(any::<u8>(), 0..4),
        1 => prop::sample::select(vec!["&", "=", ".", "%", "%00", "%ff", "member", ".1", "99999999999999999999", "\u{0}"])
            .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), 0..5_u8, piece), 1..6)
}

pub(super) fn damaged(bytes: &[u8], damage: Damage) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (place, removed, piece) in damage {
        let start = place.index(bytes.len() + 1);
        let end = (start + usize::from(removed)).min(bytes.len());
        bytes.splice(start..end, piece);
    }
    bytes
}

fn authorization(service: &str) -> String {
    format!(
        "AWS4-HMAC-SHA256 Credential=AKID/20260101/{REGION}/{service}/aws4_request, SignedHeaders=host, Signature=abc"
    )
}

pub(super) fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(work)
}

fn world() -> Scene {
    let sim = Simulator::new(SimulatorConfig::stepped());
    let scene = Scene { sim: sim.clone(), region: sim.region(REGION) };
    scene.settled_pool((0, 2, 4));
    scene
}

/// Status and body of a response in XML; other responses are none that these requests can get.
async fn xml(sim: &Simulator, authorization: Option<&str>, query: &str, body: &[u8]) -> (u16, String) {
    match respond(&sim.world, WireRequest { authorization, query, body, received: Timestamp(0) }).await {
        WireResponse::Xml { status, body, .. } => (status, body),
        other => panic!("{other:?}"),
    }
}

/// A response that AWS could have given: not in the 500s, XML, a code exactly when it is a refusal.
fn check(status: u16, body: &str) -> Result<(), TestCaseError> {
    prop_assert!(status < 500, "{}", body);
    prop_assert!(body.starts_with("<?xml"), "{}", body);
    prop_assert_eq!(status == 200, !body.contains("<Code>"), "{}", body);
    Ok(())
}

#[test]
fn the_good_requests_are_good() {
    let scene = world();
    for (service, form) in GOOD {
        let (status, body) = block_on(xml(&scene.sim, Some(&authorization(service)), "", form.as_bytes()));
        assert_eq!(status, 200, "{form}: {body}");
        scene.wait(1);
        if form.contains("StartInstanceRefresh") {
            scene.wait(3_000);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Every action with parameters that come close to right ones.
    #[test]
    fn no_parameters_break_it(
        requests in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::collection::vec(parameter(), 0..8)), 1..12,
        ),
    ) {
        let scene = world();
        let actions: Vec<_> = all_actions()
            .into_iter()
            .filter(|(service, _)| {
                !matches!(service, Service::Sqs | Service::Ssm | Service::ServiceQuotas | Service::Eks)
            })
            .collect();
        for (action, parameters) in requests {
            let (service, action) = actions[action.index(actions.len())];
            let form = format!("Action={action}&{}", parameters.join("&"));
            let (status, body) =
                block_on(xml(&scene.sim, Some(&authorization(service.name())), "", form.as_bytes()));
            check(status, &body)?;
            scene.wait(7);
        }
    }

    /// Good requests whose bytes were damaged, in the body or in the query; with their signature damaged as well.
    #[test]
    fn no_damage_breaks_it(
        requests in prop::collection::vec((any::<prop::sample::Index>(), damage(), damage(), 0..4_u8), 1..8),
    ) {
        let scene = world();
        for (number, damage, to_header, how) in requests {
            let (service, form) = GOOD[number.index(GOOD.len())];
            let bytes = damaged(form.as_bytes(), damage);
            let header = authorization(service);
            let header = if how == 0 {
                String::from_utf8_lossy(&damaged(header.as_bytes(), to_header)).into_owned()
            } else {
                header
            };
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let (query, body) = if how == 1 { (text.as_str(), &[][..]) } else { ("", bytes.as_slice()) };
            let (status, body) = block_on(xml(&scene.sim, Some(&header), query, body));
            check(status, &body)?;
            scene.wait(5);
        }
    }

    /// Bytes that are no form at all, under headers that are none.
    #[test]
    fn no_noise_breaks_it(bytes in prop::collection::vec(any::<u8>(), 0..300), header in any::<String>()) {
        let sim = Simulator::new(SimulatorConfig::stepped());
        for authorization in [Some(header.as_str()), Some(&authorization("ec2")), None] {
            let (status, body) = block_on(xml(&sim, authorization, &header, &bytes));
            prop_assert!((400..500).contains(&status));
            check(status, &body)?;
        }
    }

    /// Actions in JSON, with known names, any values, and bytes that are no JSON.
    #[test]
    fn no_json_breaks_it(
        action in any::<prop::sample::Index>(),
        fields in prop::collection::btree_map(
            prop::sample::select(vec![
                "Name", "Names", "Path", "Recursive", "MaxResults", "NextToken", "Type", "Value", "Overwrite", "QueueUrl",
                "QueueName", "ParameterFilters", "Entries", "Attributes", "WaitTimeSeconds", "MessageBody",
            ]),
            any_json(),
            0..5,
        ),
        to_body in prop::option::of(damage()),
    ) {
        let actions: Vec<_> = all_actions()
            .into_iter()
            .filter(|(service, _)| matches!(service, Service::Sqs | Service::Ssm | Service::ServiceQuotas))
            .collect();
        let (service, action) = actions[action.index(actions.len())];
        let target = format!("{}.{action}", if service == Service::Sqs { "AmazonSQS" } else { "AmazonSSM" });
        let body = serde_json::json!(fields).to_string().into_bytes();
        let body = to_body.map_or_else(|| body.clone(), |damage| damaged(&body, damage));
        let mut headers = HeaderMap::new();
        let header = HeaderValue::from_str(&authorization(service.name())).expect("a header");
        headers.insert("authorization", header);
        let request = SignedRequest {
            method: &Method::POST, path: "/", query: "", headers: &headers, body: &body, received: Timestamp(0),
        };
        let sim = Simulator::new(SimulatorConfig::stepped());
        let WireResponse::Json { status, body, .. } = block_on(json::respond(&sim.world, request, &target)) else {
            return Err(TestCaseError::fail("no response"));
        };
        prop_assert!(status < 500, "{}", body);
        prop_assert_eq!(status != 200, body.contains("__type"), "{}", body);
    }
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        any::<String>().prop_map(serde_json::Value::from),
        prop::sample::select(vec![
            "/aws/service",
            "/a/b",
            "a:1",
            "String",
            "http://h/1/events",
            "/aws/service/"
        ])
        .prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
        prop::collection::vec(any::<String>(), 0..12).prop_map(serde_json::Value::from),
    ]
}
