//! How failures arrive: their kind, their text, and how often the request was sent.

use crate::canned::{
    Canned, Form, Reply, autoscaling_error, autoscaling_response, cloud, ec2_error, ec2_response, settings,
};
use crate::shapes::content;
use foo_cloud::{CloudError, Compute, Described, ErrorKind, FoundGroups, Groups};
use foo_cloud_adapter::{AssumedRole, AwsCloud, AwsSettings};
use foo_model::hook::HookConfig;
use foo_model::{Decrement, GroupName, HookName, InstanceId, TemplateVersion};
use std::collections::BTreeMap;
use tokio::net::TcpListener;

/// A change without a client token.
async fn change(cloud: &AwsCloud) -> CloudError {
    cloud.terminate_instance(&"i-1".into(), Decrement::Shrink).await.unwrap_err()
}

/// A change with a client token.
async fn change_with_token(cloud: &AwsCloud) -> CloudError {
    cloud.create_template_version(&"lt-1".into(), &content(), "d", "token-1").await.unwrap_err()
}

async fn read(cloud: &AwsCloud) -> CloudError {
    cloud.describe_groups(&["g".into()]).await.unwrap_err()
}

#[tokio::test]
async fn without_a_response_a_change_may_have_happened_and_is_sent_once() {
    for reply in [|| Reply::HangUp, || Reply::Silence, || Reply::BreakOff] {
        let server = Canned::always(reply).await;
        let error = change(&server.cloud().await).await;
        assert_eq!((error.kind, server.asked().len()), (ErrorKind::LostResponse, 1));
        assert!(error.may_have_happened());
    }
}

#[tokio::test]
async fn without_a_response_a_read_and_a_change_with_a_token_are_repeated() {
    let server = Canned::always(|| Reply::HangUp).await;
    let error = read(&server.cloud().await).await;
    assert_eq!((error.kind, server.asked().len()), (ErrorKind::Unreachable, 3));

    let server = Canned::always(|| Reply::HangUp).await;
    let error = change_with_token(&server.cloud().await).await;
    assert_eq!((error.kind, server.asked().len()), (ErrorKind::LostResponse, 3));
    let tokens: Vec<Option<String>> =
        server.asked().iter().map(|form| form.get("ClientToken").cloned()).collect();
    assert_eq!(tokens, vec![Some("token-1".to_owned()); 3]);
}

#[tokio::test]
async fn without_a_connection_nothing_has_happened() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let cloud = cloud(&url).await;
    for error in [change(&cloud).await, read(&cloud).await] {
        assert_eq!((error.kind, error.may_have_happened()), (ErrorKind::Unreachable, false));
    }
}

#[tokio::test]
async fn a_page_without_an_error_code_is_a_failure_of_the_other_side() {
    let server = Canned::always(|| Reply::Html(502)).await;
    let error = change(&server.cloud().await).await;
    assert_eq!((error.kind, error.code, server.asked().len()), (ErrorKind::Internal, None, 1));
    assert_eq!(error.message, "HTTP status 502 without a message");
}

#[tokio::test]
async fn throttling_is_repeated_for_reads_only() {
    let server = Canned::always(|| autoscaling_error(400, "Throttling", "Rate exceeded")).await;
    let cloud = server.cloud().await;
    let error = change(&cloud).await;
    assert_eq!((error.kind, server.asked().len()), (ErrorKind::Throttled, 1));
    let error = read(&cloud).await;
    assert_eq!((error.kind, server.asked().len()), (ErrorKind::Throttled, 4));
    assert_eq!(error.code.as_deref(), Some("Throttling"));
}

#[tokio::test]
async fn both_services_errors_are_read_and_lose_their_request_ids() {
    let server = Canned::always(|| {
        let text = "No access. Encoded authorization failure message: Zm9v (RequestId: 7a62c49f-347e-4fc4-9331-6e8e000000aa)";
        ec2_error(403, "UnauthorizedOperation", text)
    })
    .await;
    let error = server.cloud().await.delete_template(&"lt-1".into()).await.unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Denied, "No access."));

    let server =
        Canned::always(|| autoscaling_error(400, "ValidationError", "AutoScalingGroup name not found")).await;
    let error = server.cloud().await.delete_group(&"g".into()).await.unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Invalid, "AutoScalingGroup name not found"));
}

#[tokio::test]
async fn a_role_that_may_not_be_assumed_is_a_matter_of_credentials() {
    let server = Canned::start(|form, _| match form.get("Action").map(String::as_str) {
        Some("AssumeRole") => {
            autoscaling_error(403, "AccessDenied", "not authorized to perform: sts:AssumeRole")
        }
        _ => autoscaling_response("DescribeAutoScalingGroups", "<AutoScalingGroups/>"),
    })
    .await;
    let role = AssumedRole {
        arn: "arn:aws:iam::123456789012:role/pools".into(),
        external_id: Some("foo".into()),
        session_name: "manager".into(),
    };
    let cloud = AwsCloud::connect(AwsSettings { roles: vec![role], ..settings(&server.url) }).await.unwrap();
    let error = read(&cloud).await;
    assert_eq!(error.kind, ErrorKind::Credentials, "{error}");
    assert!(error.message.contains("sts:AssumeRole"), "{error}");
    assert_eq!(server.asked()[0].get("ExternalId").map(String::as_str), Some("foo"));
}

/// The provider's own hook is restored whatever hooks other users have.
#[tokio::test]
async fn a_hook_that_cannot_be_decoded_hides_no_other() {
    let hook = |name: &str, transition: &str| {
        let times = "<HeartbeatTimeout>3600</HeartbeatTimeout><DefaultResult>CONTINUE</DefaultResult>";
        format!(
            "<member><LifecycleHookName>{name}</LifecycleHookName><LifecycleTransition>autoscaling:{transition}\
             </LifecycleTransition>{times}</member>"
        )
    };
    let hooks = [
        hook("odd", "ODD"),
        hook("boot", "EC2_INSTANCE_LAUNCHING"),
        hook("foo-drain", "EC2_INSTANCE_TERMINATING"),
    ];
    let body = format!("<LifecycleHooks>{}</LifecycleHooks>", hooks.concat());
    let server = Canned::always(move || autoscaling_response("DescribeLifecycleHooks", &body)).await;
    let found = server.cloud().await.describe_hooks(&"g".into()).await.unwrap();
    let others: Vec<&str> = found.others.keys().map(HookName::as_str).collect();
    assert_eq!((found.drain, others), (Some(HookConfig::DRAIN), vec!["boot"]));
}

#[tokio::test]
async fn a_group_without_a_name_is_not_taken_for_an_absent_group() {
    let group = "<member><MinSize>0</MinSize></member>";
    let server = Canned::always(move || {
        autoscaling_response(
            "DescribeAutoScalingGroups",
            &format!("<AutoScalingGroups>{group}</AutoScalingGroups>"),
        )
    })
    .await;
    let found_groups = server.cloud().await.describe_groups(&["g".into()]).await.unwrap();
    let error = &found_groups.odd[&GroupName::from("g")];
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::Internal, "the response has no usable AutoScalingGroupName")
    );
}

#[tokio::test]
async fn instances_ec2_does_not_know_are_left_out() {
    let known = |form: &Form| {
        let ids: Vec<&String> =
            form.iter().filter(|(key, _)| key.starts_with("InstanceId.")).map(|(_, id)| id).collect();
        if ids.iter().any(|id| *id == "i-0bad") {
            return ec2_error(400, "InvalidInstanceID.NotFound", "The instance ID 'i-0bad' does not exist");
        }
        if ids.iter().any(|id| *id == "i-0odd") {
            return ec2_error(400, "InvalidInstanceID.NotFound", "One of them does not exist");
        }
        let item = |id: &&String| {
            let state = "<instanceState><code>16</code><name>running</name></instanceState>";
            let place = "<placement><availabilityZone>eu-central-1a</availabilityZone></placement>";
            format!(
                "<item><instanceId>{id}</instanceId>{state}{place}<instanceType>m7i.large</instanceType></item>"
            )
        };
        let items = ids.iter().map(item).collect::<Vec<_>>().concat();
        let reservation = format!("<item><instancesSet>{items}</instancesSet></item>");
        ec2_response("DescribeInstances", &format!("<reservationSet>{reservation}</reservationSet>"))
    };
    let server = Canned::start(move |form, _| known(form)).await;
    let ids = ["i-0aaa", "i-0bad", "i-0bbb", "i-0odd"].map(Into::into);
    let found = server.cloud().await.describe_instances(&ids).await.unwrap();
    let known: Vec<&str> =
        found.iter().filter(|(_, said)| **said != Described::NotFound).map(|(id, _)| id.as_str()).collect();
    assert_eq!((known, found.len()), (vec!["i-0aaa", "i-0bbb"], 4));
    assert!(server.asked().len() <= 7, "{} calls", server.asked().len());
}

#[tokio::test]
async fn versions_that_could_not_be_deleted_fail_the_call_unless_they_are_gone() {
    let response = |code: &'static str| {
        move || {
            let error =
                format!("<responseError><code>{code}</code><message>because</message></responseError>");
            let item = format!(
                "<item><launchTemplateId>lt-1</launchTemplateId><versionNumber>2</versionNumber>{error}</item>"
            );
            let set = "unsuccessfullyDeletedLaunchTemplateVersionSet";
            ec2_response("DeleteLaunchTemplateVersions", &format!("<{set}>{item}</{set}>"))
        }
    };
    let versions = [TemplateVersion(1), TemplateVersion(2)];
    let gone = Canned::always(response("launchTemplateVersionDoesNotExist")).await;
    gone.cloud().await.delete_template_versions(&"lt-1".into(), &versions).await.unwrap();
    let refused = Canned::always(response("unexpectedError")).await;
    let error = refused.cloud().await.delete_template_versions(&"lt-1".into(), &versions).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Internal);
    assert_eq!(error.message, "version 2 was not deleted: because");
}

#[tokio::test]
async fn empty_questions_are_not_sent() {
    let server = Canned::always(|| Reply::HangUp).await;
    let cloud = server.cloud().await;
    assert_eq!(cloud.describe_groups(&[]).await, Ok(FoundGroups::default()));
    assert_eq!(cloud.describe_instances(&[]).await, Ok(BTreeMap::new()));
    assert_eq!(cloud.describe_images(&[]).await, Ok(vec![]));
    assert_eq!(cloud.describe_instance_types(&[]).await, Ok(vec![]));
    assert_eq!(cloud.suspend_processes(&"g".into(), &[]).await, Ok(()));
    assert_eq!(cloud.resume_processes(&"g".into(), &[]).await, Ok(()));
    assert_eq!(cloud.tag_group(&"g".into(), &BTreeMap::new()).await, Ok(()));
    assert_eq!(cloud.protect_instances(&"g".into(), &[]).await, Ok(()));
    assert_eq!(cloud.delete_template_versions(&"lt-1".into(), &[]).await, Ok(()));
    assert_eq!(server.asked(), Vec::<Form>::new());
}

#[tokio::test]
async fn an_id_that_a_response_leaves_out_is_requested_alone_before_it_counts() {
    // EC2 hides the instances of a zone from a call for many, and one of them altogether.
    let script = |form: &Form, _| {
        let ids: Vec<&String> =
            form.iter().filter(|(key, _)| key.starts_with("InstanceId")).map(|(_, id)| id).collect();
        let shown = |id: &&&String| **id == "i-0aaa" || (ids.len() == 1 && **id == "i-0bbb");
        if ids.len() == 1 && *ids[0] == "i-0bad" {
            return ec2_error(400, "InvalidInstanceID.NotFound", "The instance ID 'i-0bad' does not exist");
        }
        let item = |id: &&String| {
            let state = "<instanceState><code>16</code><name>running</name></instanceState>";
            let place = "<placement><availabilityZone>eu-central-1a</availabilityZone></placement>";
            format!("<item><instanceId>{id}</instanceId>{state}{place}</item>")
        };
        let items = ids.iter().filter(shown).map(item).collect::<String>();
        let reservation = format!("<item><instancesSet>{items}</instancesSet></item>");
        ec2_response("DescribeInstances", &format!("<reservationSet>{reservation}</reservationSet>"))
    };
    let server = Canned::start(script).await;
    let ids = ["i-0aaa", "i-0bad", "i-0bbb", "i-0ccc"].map(Into::into);
    let found = server.cloud().await.describe_instances(&ids).await.unwrap();
    let said: Vec<(&str, bool)> =
        found.iter().map(|(id, said)| (id.as_str(), *said != Described::NotFound)).collect();
    assert_eq!(said, [("i-0aaa", true), ("i-0bad", false), ("i-0bbb", true)], "nothing of i-0ccc");
    assert_eq!(server.asked().len(), 4);
}

#[tokio::test]
async fn a_group_that_aws_describes_oddly_is_set_aside_alone() {
    let member = |name: &str, more: &str| {
        let name = if name.is_empty() {
            String::new()
        } else {
            format!("<AutoScalingGroupName>{name}</AutoScalingGroupName>")
        };
        let sizes = "<MinSize>0</MinSize><MaxSize>1</MaxSize><DesiredCapacity>1</DesiredCapacity>";
        format!("<member>{name}{sizes}{more}</member>")
    };
    let homeless = "<Instances><member><InstanceId>i-1</InstanceId><LifecycleState>InService</LifecycleState></member></Instances>";
    let response = |groups: String| {
        let groups = format!("<AutoScalingGroups>{groups}</AutoScalingGroups>");
        move || autoscaling_response("DescribeAutoScalingGroups", &groups)
    };
    let names = ["sound", "odd", "missing"].map(GroupName::from);
    let found_groups = async |groups: String| {
        Canned::always(response(groups)).await.cloud().await.describe_groups(&names).await.unwrap()
    };
    let seen = |found_groups: &FoundGroups| {
        found_groups.groups.iter().map(|group| group.name.to_string()).collect::<Vec<_>>()
    };
    let odd =
        |found_groups: &FoundGroups| found_groups.odd.keys().map(ToString::to_string).collect::<Vec<_>>();

    let found = found_groups(member("sound", "") + &member("odd", homeless)).await;
    assert_eq!((seen(&found), odd(&found)), (vec!["sound".to_owned()], vec!["odd".to_owned()]));
    let error = &found.odd[&names[1]];
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::Internal, "the response has no usable AvailabilityZone")
    );
    // A group without a name may be any of those requested, so a missing one may exist.
    let found = found_groups(member("sound", "") + &member("", "")).await;
    assert_eq!(
        (seen(&found), odd(&found)),
        (vec!["sound".to_owned()], vec!["missing".to_owned(), "odd".to_owned()])
    );
}

#[tokio::test]
async fn an_odd_template_of_a_list_and_an_odd_old_version_are_passed_over() {
    let template =
        |id: &str, rest: &str| format!("<item><launchTemplateId>{id}</launchTemplateId>{rest}</item>");
    let sound = "<launchTemplateName>pool</launchTemplateName><latestVersionNumber>2</latestVersionNumber>";
    let version = |number: u32, created: &str| {
        format!(
            "<item><launchTemplateId>lt-1</launchTemplateId><versionNumber>{number}</versionNumber>{created}</item>"
        )
    };
    let made = "<createTime>2026-01-01T00:00:00Z</createTime>";
    let reply = move |form: &Form, odd: u32| {
        let with_odd = template("lt-1", sound) + &template("lt-0", "");
        if form["Action"] == "DescribeLaunchTemplates" {
            let list = format!("<launchTemplates>{with_odd}</launchTemplates>");
            return ec2_response("DescribeLaunchTemplates", &list);
        }
        let versions = [1, 2].map(|number| version(number, if number == odd { "" } else { made })).concat();
        let set = format!("<launchTemplateVersionSet>{versions}</launchTemplateVersionSet>");
        ec2_response("DescribeLaunchTemplateVersions", &set)
    };
    let old = Canned::start(move |form, _| reply(form, 1)).await.cloud().await;
    let listed = old.describe_templates_tagged("k").await.unwrap();
    assert_eq!(listed.iter().map(|one| one.id.to_string()).collect::<Vec<_>>(), ["lt-1"]);
    let read = old.describe_template("pool").await.unwrap().expect("there");
    assert_eq!(read.versions.iter().map(|one| one.version).collect::<Vec<_>>(), [TemplateVersion(2)]);
    let newest = Canned::start(move |form, _| reply(form, 2)).await.cloud().await;
    let refused = newest.describe_template("pool").await.unwrap_err();
    assert_eq!(
        refused.message, "the response has no usable CreateTime",
        "it would be created again and again"
    );
}

#[tokio::test]
async fn one_odd_instance_does_not_keep_the_others_from_being_known() {
    let odd = "<item><instanceId>i-0odd</instanceId></item>";
    let sound = "<item><instanceId>i-0aaa</instanceId><instanceState><name>running</name></instanceState>\
                 <placement><availabilityZone>eu-central-1a</availabilityZone></placement></item>";
    let set =
        format!("<reservationSet><item><instancesSet>{odd}{sound}</instancesSet></item></reservationSet>");
    let server = Canned::always(move || ec2_response("DescribeInstances", &set)).await;
    let found = server.cloud().await.describe_instances(&["i-0aaa", "i-0odd"].map(Into::into)).await.unwrap();
    assert_eq!(found.keys().map(InstanceId::as_str).collect::<Vec<_>>(), ["i-0aaa"]);
}

#[tokio::test]
async fn activities_are_read_to_the_page_that_holds_them() {
    let script = |form: &Form, _| {
        if !form.contains_key("NextToken") {
            let none = "<Activities></Activities><NextToken>more</NextToken>";
            return autoscaling_response("DescribeScalingActivities", none);
        }
        let odd = "<member><ActivityId>odd</ActivityId></member>";
        let sound = "<member><ActivityId>a</ActivityId><StatusCode>Failed</StatusCode>\
                     <StartTime>2026-01-01T00:00:00Z</StartTime><Cause>c</Cause></member>";
        autoscaling_response("DescribeScalingActivities", &format!("<Activities>{odd}{sound}</Activities>"))
    };
    let server = Canned::start(script).await;
    let found = server.cloud().await.describe_activities(&"g".into(), 20).await.unwrap();
    assert_eq!(found.iter().map(|one| one.id.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(server.asked().len(), 2);
}
