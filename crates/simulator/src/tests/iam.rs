//! Keys, policies and DryRun, over the wire.

use super::manager_with;
use super::scene::{REGION, Scene};
use crate::core::Settings;
use crate::core::settings::TemplateRefusal;
use crate::wire::{WireRequest, WireResponse, respond};
use crate::{AccessKey, Policy, Simulator, SimulatorConfig};
use foo_model::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

/// The policy that the manager is documented to need.
const MANAGER: &str = include_str!("../../../../docs/reference/iam-policy.json");
const OWNER: &str = "infrastructure.foo.com/cluster";

/// A simulator that knows one key, and that policy for it.
fn sim(policy: &str) -> Simulator {
    let mut config = SimulatorConfig::stepped();
    config.settings.spread_percent = 0;
    let sim = Simulator::new(config);
    let policy: Policy = serde_json::from_str(policy).expect("a policy");
    sim.put_key(AccessKey { id: "manager".into(), secret: "s".into(), policy: Some(policy) });
    sim
}

async fn ask(sim: &Simulator, caller: &str, service: &str, form: &str) -> (u16, String) {
    let authorization =
        format!("AWS4-HMAC-SHA256 Credential={caller}/20260101/{REGION}/{service}/aws4_request");
    let request = WireRequest {
        authorization: Some(&authorization),
        query: "",
        body: form.as_bytes(),
        received: Timestamp(0),
    };
    match respond(&sim.world, request).await {
        WireResponse::Xml { status, body, .. } => (status, body),
        _ => panic!("no complete response"),
    }
}

fn code(body: &str) -> &str {
    body.split("<Code>").nth(1).and_then(|rest| rest.split("</Code>").next()).unwrap_or("none")
}

const CREATE_TEMPLATE: &str = "Action=CreateLaunchTemplate&LaunchTemplateData.ImageId=ami-0a000000000000001\
    &LaunchTemplateData.InstanceType=m7i.large&LaunchTemplateData.SecurityGroupId.1=sg-0a000000000000001";

fn create_group(name: &str, tag: &str) -> String {
    format!(
        "Action=CreateAutoScalingGroup&AutoScalingGroupName={name}&MinSize=0&MaxSize=3&DesiredCapacity=1\
         &LaunchTemplate.LaunchTemplateName=own&VPCZoneIdentifier=subnet-0a00000000000000a{tag}"
    )
}

/// Every operation of the provider's documented policy passes on what carries the ownership tag, and the same
/// operations are refused on what others made.
#[tokio::test]
async fn the_documented_policy_is_enough_for_own_groups_and_refuses_others() {
    let sim = sim(MANAGER);
    let template_tag = format!(
        "&TagSpecification.1.ResourceType=launch-template&TagSpecification.1.Tag.1.Key={OWNER}\
         &TagSpecification.1.Tag.1.Value=a"
    );
    let group_tag = |name: &str| {
        format!("&Tags.member.1.Key={OWNER}&Tags.member.1.Value=a&Tags.member.1.ResourceId={name}")
    };
    let manager = async |service: &str, form: &str| {
        let (status, body) = ask(&sim, "manager", service, form).await;
        (status, code(&body).to_owned(), body)
    };
    // Made by a caller whose key is unknown to IAM's rules: no policy binds it.
    let foreign = async |service: &str, form: &str| {
        let (status, body) = ask(&sim, "foreign", service, form).await;
        assert_eq!(status, 200, "{body}");
    };
    let allowed = async |service: &str, form: &str| {
        let (status, _, body) = manager(service, form).await;
        assert_eq!(status, 200, "{form}: {body}");
    };
    let own = format!("{CREATE_TEMPLATE}&LaunchTemplateName=own{template_tag}");
    allowed("ec2", &own).await;
    allowed("autoscaling", &create_group("own", &group_tag("own"))).await;
    foreign("ec2", &format!("{CREATE_TEMPLATE}&LaunchTemplateName=other")).await;
    foreign("autoscaling", &create_group("other", "")).await;
    Scene { sim: sim.clone(), region: sim.region(REGION) }.wait(60);
    let member = |group: &str| {
        let group = sim.region(REGION).group(group).expect("a group");
        group.members.into_keys().next().expect("a member").to_string()
    };
    let (own_member, other_member) = (member("own"), member("other"));
    for action in ["DescribeAutoScalingGroups", "DescribeScalingActivities"] {
        allowed("autoscaling", &format!("Action={action}")).await;
    }
    for action in ["Images", "InstanceTypes", "Instances", "LaunchTemplates", "SecurityGroups", "Subnets"] {
        allowed("ec2", &format!("Action=Describe{action}")).await;
    }
    allowed("ec2", "Action=DescribeLaunchTemplateVersions&LaunchTemplateName=own").await;
    allowed("autoscaling", "Action=DescribeLifecycleHooks&AutoScalingGroupName=own").await;
    allowed("sts", "Action=GetCallerIdentity").await;
    let changes = |group: &str, member: &str| {
        [
            ("autoscaling", format!("Action=UpdateAutoScalingGroup&AutoScalingGroupName={group}&MaxSize=4")),
            (
                "autoscaling",
                format!(
                    "Action=SuspendProcesses&AutoScalingGroupName={group}&ScalingProcesses.member.1=Launch"
                ),
            ),
            ("autoscaling", format!("Action=ResumeProcesses&AutoScalingGroupName={group}")),
            (
                "autoscaling",
                format!(
                    "Action=SetInstanceProtection&AutoScalingGroupName={group}&InstanceIds.member.1={member}\
                     &ProtectedFromScaleIn=true"
                ),
            ),
            (
                "autoscaling",
                format!(
                    "Action=PutLifecycleHook&AutoScalingGroupName={group}&LifecycleHookName=foo-drain\
                     &LifecycleTransition=autoscaling:EC2_INSTANCE_TERMINATING&HeartbeatTimeout=3600"
                ),
            ),
            (
                "autoscaling",
                format!(
                    "Action=TerminateInstanceInAutoScalingGroup&InstanceId={member}\
                     &ShouldDecrementDesiredCapacity=true"
                ),
            ),
            (
                "autoscaling",
                format!(
                    "Action=RecordLifecycleActionHeartbeat&AutoScalingGroupName={group}\
                     &LifecycleHookName=foo-drain&InstanceId={member}"
                ),
            ),
            (
                "autoscaling",
                format!(
                    "Action=CompleteLifecycleAction&AutoScalingGroupName={group}\
                     &LifecycleHookName=foo-drain&InstanceId={member}&LifecycleActionResult=CONTINUE"
                ),
            ),
            (
                "ec2",
                format!(
                    "Action=CreateLaunchTemplateVersion&LaunchTemplateName={group}\
                     &LaunchTemplateData.InstanceType=m7i.large"
                ),
            ),
            (
                "ec2",
                format!(
                    "Action=DeleteLaunchTemplateVersions&LaunchTemplateName={group}&LaunchTemplateVersion.1=2"
                ),
            ),
            ("ec2", format!("Action=DeleteLaunchTemplate&LaunchTemplateName={group}")),
        ]
    };
    for (service, form) in changes("own", &own_member) {
        allowed(service, &form).await;
    }
    for (service, form) in changes("other", &other_member) {
        let (status, code, body) = manager(service, &form).await;
        let expected = if service == "ec2" { "UnauthorizedOperation" } else { "AccessDenied" };
        assert_eq!((status, code.as_str()), (403, expected), "{form}: {body}");
    }
    let delete = |group: &str| format!("Action=DeleteAutoScalingGroup&AutoScalingGroupName={group}");
    assert_eq!(manager("autoscaling", &delete("other")).await.1, "AccessDenied");
    let by_force = manager("autoscaling", &format!("{}&ForceDelete=true", delete("own"))).await;
    assert!(by_force.2.contains("with an explicit deny"), "{}", by_force.2);
    // Its instances are still going.
    assert_eq!(manager("autoscaling", &delete("own")).await.1, "ResourceInUse");
    // Nothing may be made without the ownership tag, and what the provider never calls stays closed.
    for (service, form) in [
        ("autoscaling", create_group("untagged", "")),
        ("autoscaling", "Action=SetDesiredCapacity&AutoScalingGroupName=own&DesiredCapacity=0".to_owned()),
        ("autoscaling", "Action=DeleteTags&Tags.member.1.Key=x&Tags.member.1.ResourceId=own".to_owned()),
        ("ec2", format!("{CREATE_TEMPLATE}&LaunchTemplateName=untagged")),
        ("ec2", format!("Action=TerminateInstances&InstanceId.1={own_member}")),
        ("ec2", format!("Action=CreateTags&ResourceId.1={own_member}&Tag.1.Key=a&Tag.1.Value=b")),
    ] {
        assert_eq!(manager(service, &form).await.0, 403, "{form}");
    }
}

/// The tags of an adoption: only with the policy for it, and only on a group with the tag of its account.
#[tokio::test]
async fn a_group_is_adopted_with_the_documented_policies_and_the_consent_of_its_account() {
    const ADOPTION: &str = include_str!("../../../../docs/reference/iam-adoption-policy.json");
    let both = |one: &str, other: &str| {
        let mut both: serde_json::Value = serde_json::from_str(one).expect("a policy");
        let other: serde_json::Value = serde_json::from_str(other).expect("a policy");
        let more = other["Statement"].as_array().expect("statements").clone();
        both["Statement"].as_array_mut().expect("statements").extend(more);
        both.to_string()
    };
    for (policy, adoptable, status) in [
        (MANAGER.to_owned(), true, 403),
        (both(MANAGER, ADOPTION), false, 403),
        (both(MANAGER, ADOPTION), true, 200),
    ] {
        let sim = sim(&policy);
        let template = format!("{CREATE_TEMPLATE}&LaunchTemplateName=own");
        assert_eq!(ask(&sim, "another-tool", "ec2", &template).await.0, 200);
        let tag = "&Tags.member.1.Key=infrastructure.foo.com/adoptable&Tags.member.1.Value=ns/p&Tags.member.1.ResourceId=legacy";
        let group = create_group("legacy", if adoptable { tag } else { "" });
        assert_eq!(ask(&sim, "another-tool", "autoscaling", &group).await.0, 200);
        let keys = [OWNER, "infrastructure.foo.com/pool", "infrastructure.foo.com/adopted"];
        let tags: Vec<String> = keys
            .iter()
            .zip(1..)
            .map(|(key, at)| {
                format!(
                    "&Tags.member.{at}.Key={key}&Tags.member.{at}.Value=v&Tags.member.{at}.ResourceId=legacy"
                )
            })
            .collect();
        let adopt = format!("Action=CreateOrUpdateTags{}", tags.concat());
        let (found, body) = ask(&sim, "manager", "autoscaling", &adopt).await;
        assert_eq!(found, status, "{body}");
        let suspend =
            "Action=SuspendProcesses&AutoScalingGroupName=legacy&ScalingProcesses.member.1=AZRebalance";
        assert_eq!(ask(&sim, "manager", "autoscaling", suspend).await.0, status, "what follows");
    }
}

/// IAM User Guide, "Troubleshoot access denied error messages": the message names caller, action and resource.
#[tokio::test]
async fn a_refusal_names_caller_action_and_resource() {
    let sim = sim(r#"{"Statement":[{"Effect":"Allow","Action":"ec2:*","Resource":"*"},
            {"Effect":"Deny","Action":"ec2:DescribeImages","Resource":"*"}]}"#);
    let (_, body) = ask(&sim, "manager", "autoscaling", "Action=DescribeTags").await;
    assert!(
        body.contains(
            "User: arn:aws:iam::123456789012:user/manager is not authorized to perform: autoscaling:DescribeTags on \
             resource: * because no identity-based policy allows the autoscaling:DescribeTags action"
        ),
        "{body}"
    );
    let (_, body) = ask(&sim, "manager", "ec2", "Action=DescribeImages").await;
    assert!(body.contains("with an explicit deny in an identity-based policy"), "{body}");
    assert_eq!(sim.recent_calls().last().map(|call| call.outcome.as_str()), Some("UnauthorizedOperation"));
}

/// EC2 API Reference, common parameter DryRun: `DryRunOperation` if the caller may, `UnauthorizedOperation` if not;
/// nothing is done either way.
#[tokio::test]
async fn a_dry_run_checks_permissions_and_changes_nothing() {
    let sim = sim(r#"{"Statement":{"Effect":"Allow","Action":"ec2:CreateLaunchTemplate","Resource":"*"}}"#);
    let dry = format!("{CREATE_TEMPLATE}&LaunchTemplateName=t&DryRun=true");
    let (status, body) = ask(&sim, "manager", "ec2", &dry).await;
    assert_eq!((status, code(&body)), (412, "DryRunOperation"));
    let (status, body) = ask(&sim, "manager", "ec2", "Action=DescribeImages&DryRun=true").await;
    assert_eq!((status, code(&body)), (403, "UnauthorizedOperation"));
    let (_, body) = ask(&sim, "other", "ec2", "Action=DescribeLaunchTemplates").await;
    assert!(!body.contains("<launchTemplateId>"), "{body}");
}

#[test]
fn secrets_are_never_given_out() {
    let sim = sim(r#"{"Statement":[]}"#);
    let shown = serde_json::to_string(&sim.keys()).expect("JSON");
    assert!(shown.contains("manager") && !shown.contains("secret"), "{shown}");
}

/// A group's name beside an instance's id does not lend its permissions to another group's instance.
#[tokio::test]
async fn ending_an_instance_asks_for_the_instances_own_group() {
    let sim = sim(r#"{"Statement":{"Effect":"Allow","Action":"autoscaling:*",
            "Resource":"arn:aws:autoscaling:*:*:autoScalingGroup:*:autoScalingGroupName/mine"}}"#);
    for name in ["mine", "foreign"] {
        let template = format!("{CREATE_TEMPLATE}&LaunchTemplateName={name}");
        assert_eq!(ask(&sim, "foreign", "ec2", &template).await.0, 200);
        let group = create_group(name, "").replace("Name=own", &format!("Name={name}"));
        let (status, body) = ask(&sim, "foreign", "autoscaling", &group).await;
        assert_eq!(status, 200, "{body}");
    }
    Scene { sim: sim.clone(), region: sim.region(REGION) }.wait(60);
    let end = |of: &str, named: &str| {
        let group = sim.region(REGION).group(of).expect("a group");
        let id = group.members.into_keys().next().expect("a member");
        format!(
            "Action=TerminateInstanceInAutoScalingGroup&InstanceId={id}&AutoScalingGroupName={named}\
             &ShouldDecrementDesiredCapacity=true"
        )
    };
    assert_eq!(ask(&sim, "manager", "autoscaling", &end("foreign", "mine")).await.0, 403);
    assert_eq!(ask(&sim, "manager", "autoscaling", &end("mine", "mine")).await.0, 200);
}

/// Auto Scaling User Guide, "Troubleshoot: launch templates" ("You are not authorized to use launch template"):
/// RunInstances, CreateTags of a template with tags, and PassRole are checked when a group refers to the template; the
/// error does not name the missing one.
#[tokio::test]
async fn only_a_caller_who_may_launch_its_template_creates_a_group() {
    let run = r#"{"Effect":"Allow","Action":"ec2:RunInstances","Resource":"*"}"#;
    let tag = r#"{"Effect":"Allow","Action":"ec2:CreateTags","Resource":"*",
        "Condition":{"StringEquals":{"ec2:CreateAction":"RunInstances"}}}"#;
    let pass = r#"{"Effect":"Allow","Action":"iam:PassRole","Resource":"arn:aws:iam::*:role/nodes",
        "Condition":{"StringEquals":{"iam:PassedToService":"ec2.amazonaws.com"}}}"#;
    let template = format!(
        "{CREATE_TEMPLATE}&LaunchTemplateName=own&LaunchTemplateData.IamInstanceProfile.Name=nodes\
         &LaunchTemplateData.TagSpecification.1.ResourceType=instance\
         &LaunchTemplateData.TagSpecification.1.Tag.1.Key=a&LaunchTemplateData.TagSpecification.1.Tag.1.Value=b"
    );
    for (statements, made) in [
        (vec![run, tag, pass], true),
        (vec![tag, pass], false),
        (vec![run, pass], false),
        (vec![run, tag], false),
    ] {
        let sim = sim(&format!(
            r#"{{"Statement":[{{"Effect":"Allow","Action":"autoscaling:*","Resource":"*"}},{}]}}"#,
            statements.join(",")
        ));
        assert_eq!(ask(&sim, "foreign", "ec2", &template).await.0, 200);
        let (status, body) = ask(&sim, "manager", "autoscaling", &create_group("own", "")).await;
        assert_eq!(status == 200, made, "{statements:?}: {body}");
        if made {
            continue;
        }
        let id = sim.region(REGION).templates()[0].id.clone();
        assert_eq!((status, code(&body)), (403, "AccessDenied"));
        assert!(body.contains(&format!("You are not authorized to use launch template: {id}")), "{body}");
        let encoded = |settings: &mut Settings| settings.template_refusal = TemplateRefusal::ValidationError;
        sim.region(REGION).change_settings(encoded).expect("changed");
        let (status, body) = ask(&sim, "manager", "autoscaling", &create_group("own", "")).await;
        assert_eq!((status, code(&body)), (400, "ValidationError"));
        assert!(body.contains("fully-formed launch template. You are not authorized"), "{body}");
    }
}

/// The policy is to be narrowed to VPCs and key pairs; as it is, it allows all of them.
#[tokio::test]
async fn a_launch_uses_only_the_vpcs_and_keys_of_the_policy() {
    let tag = format!("&Tags.member.1.Key={OWNER}&Tags.member.1.Value=a&Tags.member.1.ResourceId=own");
    let template = format!(
        "{CREATE_TEMPLATE}&LaunchTemplateName=own&LaunchTemplateData.KeyName=ops\
         &TagSpecification.1.ResourceType=launch-template\
         &TagSpecification.1.Tag.1.Key={OWNER}&TagSpecification.1.Tag.1.Value=a"
    );
    for (vpcs, keys, made) in [
        ("*", "*", true),
        ("vpc-0a000000000000001", "op*", true),
        ("vpc-0b*", "*", false),
        ("*", "team-a-*", false),
    ] {
        let policy = MANAGER.replace("vpc/*", &format!("vpc/{vpcs}"));
        let sim = sim(&policy.replace("key-pair/*", &format!("key-pair/{keys}")));
        let (status, body) = ask(&sim, "manager", "ec2", &template).await;
        assert_eq!(status, 200, "{body}");
        let (status, body) = ask(&sim, "manager", "autoscaling", &create_group("own", &tag)).await;
        assert_eq!(status == 200, made, "{vpcs} {keys}: {body}");
    }
}

/// Service Authorization Reference, "Amazon EC2": resources of RunInstances. Snapshots are public resources, without an account.
#[tokio::test]
async fn a_launch_uses_only_capacity_that_the_policy_has() {
    let tag = format!("&Tags.member.1.Key={OWNER}&Tags.member.1.Value=a&Tags.member.1.ResourceId=own");
    let hosts = "arn:aws:resource-groups:eu-central-1:123456789012:group/near";
    let hosts = format!("Placement.HostResourceGroupArn={hosts}");
    let license = "arn:aws:license-manager:eu-central-1:123456789012:license-configuration:lic-1";
    let license = format!("LicenseSpecification.1.LicenseConfigurationArn={license}");
    for (all, some, fields, made) in [
        ("placement-group/*", "placement-group/ne*", "Placement.GroupName=near", true),
        ("placement-group/*", "placement-group/far", "Placement.GroupName=near", false),
        ("secondary-subnet/*", "secondary-subnet/ss-1", "SecondaryInterface.1.SecondarySubnetId=ss-1", true),
        ("secondary-subnet/*", "secondary-subnet/ss-2", "SecondaryInterface.1.SecondarySubnetId=ss-1", false),
        (":group/*", ":group/near", hosts.as_str(), true),
        (":group/*", ":group/far", hosts.as_str(), false),
        ("license-configuration:*", "license-configuration:lic-1", license.as_str(), true),
        ("license-configuration:*", "license-configuration:lic-2", license.as_str(), false),
    ] {
        assert!(MANAGER.contains(all), "{all}");
        let sim = sim(&MANAGER.replace(all, some));
        let region = sim.region(REGION);
        let strategy = crate::core::ec2::capacity::Strategy::Spread;
        let group =
            region.with(|region| region.create_placement_group("near", strategy, BTreeMap::new()).map(drop));
        group.expect("a region").expect("a group");
        let template = format!(
            "{CREATE_TEMPLATE}&LaunchTemplateName=own&LaunchTemplateData.{fields}\
             &TagSpecification.1.ResourceType=launch-template\
             &TagSpecification.1.Tag.1.Key={OWNER}&TagSpecification.1.Tag.1.Value=a"
        );
        let (status, body) = ask(&sim, "manager", "ec2", &template).await;
        assert_eq!(status, 200, "{body}");
        let (status, body) = ask(&sim, "manager", "autoscaling", &create_group("own", &tag)).await;
        assert_eq!(status == 200, made, "{some} {fields}: {body}");
    }
}

/// By default the stack allows launches into no VPC that is not the provider's. Subnets and groups of a managed network have the
/// ownership tag: all that a launch uses must be of clusters that the policy is for.
#[tokio::test]
async fn a_launch_into_a_managed_network_needs_its_tags_and_no_vpc_in_the_policy() {
    const SUBNET: &str = "subnet-0a00000000000000a";
    const GROUP: &str = "sg-0a000000000000001";
    const VPC: &str = "vpc-0a000000000000001";
    let tag = format!("&Tags.member.1.Key={OWNER}&Tags.member.1.Value=team-a/c&Tags.member.1.ResourceId=own");
    let template = format!(
        "{CREATE_TEMPLATE}&LaunchTemplateName=own&TagSpecification.1.ResourceType=launch-template\
         &TagSpecification.1.Tag.1.Key={OWNER}&TagSpecification.1.Tag.1.Value=team-a/c"
    );
    let (own, other) = (Some("team-a/c"), Some("team-b/c"));
    for (vpcs, subnet, group, made) in [
        ("None", own, own, true),
        ("None", None, None, false),
        ("None", own, None, false),
        ("None", None, own, false),
        ("None", other, own, false),
        ("None", own, other, false),
        // An existing network, and a group of the user's in a managed one.
        (VPC, None, None, true),
        (VPC, own, None, true),
        ("vpc-0b000000000000001", None, None, false),
    ] {
        let sim = Simulator::new(SimulatorConfig::stepped());
        sim.put_key(manager_with("Policy", &[("Clusters", "team-a/*"), ("LaunchVpcs", vpcs)]));
        for (id, owner) in [(SUBNET, subnet), (GROUP, group)] {
            let Some(owner) = owner else { continue };
            let tags = BTreeMap::from([(OWNER.to_owned(), owner.to_owned())]);
            let tagged = sim.region(REGION).with(|region| region.create_tags(&[id.to_owned()], &tags));
            tagged.expect("a region").expect("tagged");
        }
        assert_eq!(ask(&sim, "manager", "ec2", &template).await.0, 200);
        let (status, body) = ask(&sim, "manager", "autoscaling", &create_group("own", &tag)).await;
        assert_eq!(status == 200, made, "{vpcs} {subnet:?} {group:?}: {body}");
    }
}

/// Authorization reads tags eventually, too: a condition on the tag of a resource fails at first.
#[tokio::test]
async fn conditions_on_tags_of_what_is_new_fail_at_first() {
    let sim = sim(MANAGER);
    let late = |settings: &mut Settings| settings.rights_appear_after = Duration::from_secs(10);
    sim.region(REGION).change_settings(late).expect("changed");
    let template = format!(
        "{CREATE_TEMPLATE}&LaunchTemplateName=own&TagSpecification.1.ResourceType=launch-template\
         &TagSpecification.1.Tag.1.Key={OWNER}&TagSpecification.1.Tag.1.Value=a"
    );
    let tag = format!("&Tags.member.1.Key={OWNER}&Tags.member.1.Value=a&Tags.member.1.ResourceId=own");
    assert_eq!(ask(&sim, "manager", "ec2", &template).await.0, 200);
    let group = create_group("own", &tag);
    let (_, body) = ask(&sim, "manager", "autoscaling", &group).await;
    assert!(body.contains("You are not authorized to use launch template"), "{body}");
    sim.step(Duration::from_secs(10));
    assert_eq!(ask(&sim, "manager", "autoscaling", &group).await.0, 200);
    let suspend = "Action=SuspendProcesses&AutoScalingGroupName=own&ScalingProcesses.member.1=Launch";
    let (status, body) = ask(&sim, "manager", "autoscaling", suspend).await;
    assert_eq!((status, code(&body)), (403, "AccessDenied"));
    sim.step(Duration::from_secs(10));
    assert_eq!(ask(&sim, "manager", "autoscaling", suspend).await.0, 200);
}

/// IAM API Reference, SimulatePrincipalPolicy: decisions, and the condition keys that a request does not have.
#[tokio::test]
async fn a_simulation_decides_as_the_policy_and_names_missing_keys() {
    let sim = sim(MANAGER);
    let role = serde_json::json!({"name": "narrow", "policy": {"Statement": [
        {"Effect": "Allow", "Action": "ec2:Describe*", "Resource": "*"},
        {"Effect": "Allow", "Action": "ec2:CreateTags", "Resource": "*", "Condition": {"Null": {"aws:RequestTag/x": "false"}}},
        {"Effect": "Deny", "Action": "ec2:RunInstances", "Resource": "*"},
    ]}});
    sim.put_role(serde_json::from_value(role).unwrap());
    sim.put_key(AccessKey { id: "owner".into(), secret: "s".into(), policy: None });
    let simulate = async |arn: &str, more: &str| {
        let named = "&ActionNames.member.1=ec2:DescribeImages&ActionNames.member.2=ec2:CreateTags\
                     &ActionNames.member.3=ec2:RunInstances";
        let form =
            format!("Action=SimulatePrincipalPolicy&Version=2010-05-08&PolicySourceArn={arn}{named}{more}");
        ask(&sim, "owner", "iam", &form).await
    };
    let decisions = |body: &str| {
        let all = body
            .split("<EvalDecision>")
            .skip(1)
            .map(|it| it.split('<').next().unwrap_or_default().to_owned());
        all.collect::<Vec<_>>()
    };
    let role = "arn:aws:iam::123456789012:role/narrow";
    let (status, body) = simulate(role, "").await;
    assert_eq!(
        (status, decisions(&body)),
        (200, ["allowed", "implicitDeny", "explicitDeny"].map(str::to_owned).into())
    );
    assert!(body.contains("<MissingContextValues><member>aws:RequestTag/x</member>"), "{body}");
    let two = "&ResourceArns.member.1=arn:aws:ec2:x:1:vpc/a&ResourceArns.member.2=arn:aws:ec2:x:1:vpc/b";
    let (_, body) = simulate(role, two).await;
    assert_eq!(
        body.matches("<EvalResourceDecision>explicitDeny</EvalResourceDecision>").count(),
        2,
        "{body}"
    );
    let entry = "&ContextEntries.member.1.ContextKeyName=aws:RequestTag/x&ContextEntries.member.1.ContextKeyType=string\
                 &ContextEntries.member.1.ContextKeyValues.member.1=y";
    let (_, body) = simulate(role, entry).await;
    assert_eq!(decisions(&body)[1], "allowed", "{body}");
    let (status, body) = simulate("arn:aws:iam::123456789012:user/unknown", "").await;
    assert_eq!((status, code(&body)), (404, "NoSuchEntity"));
}
