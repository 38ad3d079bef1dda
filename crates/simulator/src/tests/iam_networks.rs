//! What calls about networks and load balancers must be allowed to do (Service Authorization Reference, "Amazon EC2" and
//! "Elastic Load Balancing V2").

use super::manager_with;
use super::scene::REGION;
use crate::asks::of_call;
use crate::core::network::{INTERNET_GATEWAY, NewInterface, PUBLIC_SUBNETS, SECURITY_GROUP, VPC};
use crate::iam::policy::Ask;
use crate::request::params::Params;
use crate::service::Service;
use crate::wire::{WireRequest, WireResponse, all_actions, respond};
use crate::{AccessKey, Policy, Simulator, SimulatorConfig};
use foo_model::Timestamp;
use foo_model::network::EndpointState;
use std::time::Duration;

const NETWORK: &str = "infrastructure.foo.com/network";

fn sim() -> Simulator {
    Simulator::new(SimulatorConfig::stepped())
}

fn asks(sim: &Simulator, service: Service, form: &str) -> Vec<Ask> {
    let params = Params::parse(form.as_bytes()).expect("well formed");
    let action = params.text("Action").expect("an action").to_owned();
    sim.region(REGION).with(|region| of_call(region, service, &action, &params)).expect("the region exists")
}

/// Actions and resources, without what all ARNs have in common.
fn asked(sim: &Simulator, form: &str) -> Vec<String> {
    let short = |ask: Ask| {
        let resource = ask.resource.replace("arn:aws:ec2:eu-central-1:123456789012:", "");
        format!("{} {resource}", ask.action.replace("ec2:", ""))
    };
    asks(sim, Service::Ec2, form).into_iter().map(short).collect()
}

/// "Most calls touch several resources; all of them must be allowed."
#[test]
fn a_call_is_about_everything_that_it_touches() {
    let sim = sim();
    let association = PUBLIC_SUBNETS[0].replacen("subnet", "rtbassoc", 1);
    let tags = |kind: &str| {
        format!(
            "&TagSpecification.1.ResourceType={kind}&TagSpecification.1.Tag.1.Key=k&TagSpecification.1.Tag.1.Value=v"
        )
    };
    let table = [
        ("Action=CreateVpc&CidrBlock=10.0.0.0/16".to_owned(), vec!["CreateVpc vpc/*".to_owned()]),
        (
            format!("Action=CreateSubnet&VpcId={VPC}{}", tags("subnet")),
            vec![
                "CreateSubnet subnet/*".into(),
                "CreateTags subnet/*".into(),
                format!("CreateSubnet vpc/{VPC}"),
            ],
        ),
        (
            format!("Action=CreateNatGateway&SubnetId={}&AllocationId=eipalloc-1", PUBLIC_SUBNETS[0]),
            vec![
                "CreateNatGateway natgateway/*".into(),
                format!("CreateNatGateway subnet/{}", PUBLIC_SUBNETS[0]),
                "CreateNatGateway elastic-ip/eipalloc-1".into(),
            ],
        ),
        (
            format!("Action=AttachInternetGateway&InternetGatewayId={INTERNET_GATEWAY}&VpcId={VPC}"),
            vec![
                format!("AttachInternetGateway internet-gateway/{INTERNET_GATEWAY}"),
                format!("AttachInternetGateway vpc/{VPC}"),
            ],
        ),
        (
            format!("Action=CreateVpcEndpoint&VpcId={VPC}&RouteTableId.1=rtb-1&RouteTableId.2=rtb-2"),
            vec![
                "CreateVpcEndpoint vpc-endpoint/*".into(),
                format!("CreateVpcEndpoint vpc/{VPC}"),
                "CreateVpcEndpoint route-table/rtb-1".into(),
                "CreateVpcEndpoint route-table/rtb-2".into(),
            ],
        ),
        (
            format!("Action=CreateVpcEndpoint&VpcId={VPC}&VpcEndpointType=Interface"),
            vec![
                "CreateVpcEndpoint vpc-endpoint/*".into(),
                format!("CreateVpcEndpoint vpc/{VPC}"),
                "route53:AssociateVPCWithHostedZone arn:aws:route53:::hostedzone/*".into(),
            ],
        ),
        (
            format!("Action=CreateVpcEndpoint&VpcId={VPC}&VpcEndpointType=Interface&PrivateDnsEnabled=false"),
            vec!["CreateVpcEndpoint vpc-endpoint/*".into(), format!("CreateVpcEndpoint vpc/{VPC}")],
        ),
        (
            format!("Action=DisassociateRouteTable&AssociationId={association}"),
            vec![
                "DisassociateRouteTable route-table/rtb-0b000000000000001".into(),
                format!("DisassociateRouteTable subnet/{}", PUBLIC_SUBNETS[0]),
            ],
        ),
        (
            format!("Action=ReplaceRouteTableAssociation&AssociationId={association}&RouteTableId=rtb-1"),
            vec![
                "ReplaceRouteTableAssociation route-table/rtb-1".into(),
                format!("ReplaceRouteTableAssociation subnet/{}", PUBLIC_SUBNETS[0]),
            ],
        ),
        (
            format!("Action=AuthorizeSecurityGroupIngress&GroupId={SECURITY_GROUP}"),
            vec![format!("AuthorizeSecurityGroupIngress security-group/{SECURITY_GROUP}")],
        ),
        (
            format!("Action=CreateTags&ResourceId.1={VPC}&ResourceId.2=eni-1&Tag.1.Key=k"),
            vec![format!("CreateTags vpc/{VPC}"), "CreateTags network-interface/eni-1".into()],
        ),
        ("Action=DescribeVpcs".to_owned(), vec!["DescribeVpcs *".into()]),
    ];
    for (form, expected) in table {
        assert_eq!(asked(&sim, &form), expected, "{form}");
    }
}

/// No call that changes a network is asked for on everything at once.
#[test]
fn every_change_names_its_resources() {
    let sim = sim();
    let names = "VpcId=vpc-1&SubnetId=subnet-1&InternetGatewayId=igw-1&EgressOnlyInternetGatewayId=eigw-1\
                 &AllocationId=eipalloc-1&NatGatewayId=nat-1&RouteTableId=rtb-1&AssociationId=rtbassoc-1&GroupId=sg-1\
                 &VpcEndpointId=vpce-1&NetworkInterfaceId=eni-1&ResourceId.1=vpc-1&InstanceId.1=i-1\
                 &LaunchTemplateName=lt&GroupName=g&CapacityReservationId=cr-1&SnapshotId=snap-1";
    for (service, action) in all_actions() {
        let is_read = ["Describe", "Get"].iter().any(|begin| action.starts_with(begin));
        if service == Service::Ec2 && !is_read {
            let found = asked(&sim, &format!("Action={action}&{names}"));
            assert!(!found.is_empty() && !found.iter().any(|it| it.ends_with(" *")), "{action}: {found:?}");
        }
    }
}

#[test]
fn conditions_know_tags_the_vpc_and_the_creating_action() {
    let sim = sim();
    let region = sim.region(REGION);
    let own = [(NETWORK.to_owned(), "n1".to_owned())].into();
    region.with(|region| region.create_tags(&[VPC.to_owned()], &own)).expect("a region").expect("tagged");
    let form = format!(
        "Action=CreateSubnet&VpcId={VPC}&TagSpecification.1.ResourceType=subnet\
         &TagSpecification.1.Tag.1.Key={NETWORK}&TagSpecification.1.Tag.1.Value=n1"
    );
    let found = asks(&sim, Service::Ec2, &form);
    let of = |at: usize, key: &str| found[at].context.get(key).map(String::as_str);
    let (request, resource) = (format!("aws:RequestTag/{NETWORK}"), format!("aws:ResourceTag/{NETWORK}"));
    assert_eq!((of(0, &request), of(0, &resource)), (Some("n1"), None), "the new subnet has no tags yet");
    assert_eq!((of(1, "ec2:CreateAction"), of(1, &request)), (Some("CreateSubnet"), Some("n1")));
    assert_eq!((of(2, &resource), of(2, &request)), (Some("n1"), None), "the VPC gets none");
    let on_group = asks(&sim, Service::Ec2, &format!("Action=DeleteSecurityGroup&GroupId={SECURITY_GROUP}"));
    let vpc = on_group[0].context.get("ec2:Vpc").map(String::as_str);
    assert_eq!(vpc, Some("arn:aws:ec2:eu-central-1:123456789012:vpc/vpc-0a000000000000001"));
    let form = format!("Action=CreateVpcEndpoint&VpcId={VPC}&ServiceName=com.amazonaws.eu-central-1.s3");
    let service = asks(&sim, Service::Ec2, &form)[0].context.get("ec2:VpceServiceName").cloned();
    assert_eq!(service.as_deref(), Some("com.amazonaws.eu-central-1.s3"));
}

#[test]
fn load_balancers_are_named_by_their_arns() {
    let sim = sim();
    let resource = |form: &str| {
        let found = asks(&sim, Service::ElasticLoadBalancing, form);
        assert_eq!(found.len(), 1, "{form}");
        format!("{} {}", found[0].action, found[0].resource)
    };
    let arn = "arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer";
    assert_eq!(
        resource("Action=DeleteLoadBalancer&LoadBalancerName=classic"),
        format!("elasticloadbalancing:DeleteLoadBalancer {arn}/classic")
    );
    assert_eq!(
        resource(&format!("Action=DeleteLoadBalancer&LoadBalancerArn={arn}/net/n/1")),
        format!("elasticloadbalancing:DeleteLoadBalancer {arn}/net/n/1")
    );
    assert_eq!(
        resource("Action=DescribeLoadBalancers"),
        "elasticloadbalancing:DescribeLoadBalancers *".to_owned()
    );
}

/// A policy that allows subnets only with our tag, and only in VPCs that have it.
const POLICY: &str = r#"{"Version":"2012-10-17","Statement":[
    {"Effect":"Allow","Action":"ec2:CreateSubnet","Resource":"arn:aws:ec2:*:*:subnet/*",
     "Condition":{"Null":{"aws:RequestTag/infrastructure.foo.com/network":"false"}}},
    {"Effect":"Allow","Action":["ec2:CreateSubnet","ec2:DeleteVpc"],"Resource":"arn:aws:ec2:*:*:vpc/*",
     "Condition":{"Null":{"aws:ResourceTag/infrastructure.foo.com/network":"false"}}},
    {"Effect":"Allow","Action":"ec2:CreateTags","Resource":"*",
     "Condition":{"StringEquals":{"ec2:CreateAction":"CreateSubnet"}}},
    {"Effect":"Allow","Action":"elasticloadbalancing:DescribeLoadBalancers","Resource":"*"}]}"#;

async fn ask(sim: &Simulator, service: &str, form: &str) -> String {
    ask_as(sim, "manager", service, form).await
}

async fn ask_as(sim: &Simulator, caller: &str, service: &str, form: &str) -> String {
    let authorization =
        format!("AWS4-HMAC-SHA256 Credential={caller}/20260101/{REGION}/{service}/aws4_request");
    let request = WireRequest {
        authorization: Some(&authorization),
        query: "",
        body: form.as_bytes(),
        received: Timestamp(0),
    };
    match respond(&sim.world, request).await {
        WireResponse::Xml { body, .. } => body,
        _ => panic!("no complete response"),
    }
}

#[tokio::test]
async fn a_policy_with_tags_holds_over_the_wire() {
    let sim = sim();
    let policy: Policy = serde_json::from_str(POLICY).expect("a policy");
    sim.put_key(AccessKey { id: "manager".into(), secret: "s".into(), policy: Some(policy) });
    let create = format!("Action=CreateSubnet&DryRun=true&VpcId={VPC}&CidrBlock=10.0.0.0/24");
    let tagged = format!(
        "{create}&TagSpecification.1.ResourceType=subnet&TagSpecification.1.Tag.1.Key={NETWORK}\
         &TagSpecification.1.Tag.1.Value=n1"
    );
    let refused = ask(&sim, "ec2", &create).await;
    assert!(refused.contains("UnauthorizedOperation") && refused.contains("subnet/*"), "{refused}");
    let refused = ask(&sim, "ec2", &tagged).await;
    assert!(
        refused.contains("UnauthorizedOperation") && refused.contains(&format!("vpc/{VPC}")),
        "{refused}"
    );
    let own = [(NETWORK.to_owned(), "n1".to_owned())].into();
    let region = sim.region(REGION);
    region.with(|region| region.create_tags(&[VPC.to_owned()], &own)).expect("a region").expect("tagged");
    let allowed = ask(&sim, "ec2", &tagged).await;
    assert!(allowed.contains("DryRunOperation"), "{allowed}");
    let refused = ask(&sim, "ec2", &format!("Action=CreateTags&ResourceId.1={VPC}&Tag.1.Key=k")).await;
    assert!(refused.contains("UnauthorizedOperation"), "tags are given at creation only: {refused}");
    for version in ["2012-06-01", "2015-12-01"] {
        let form = format!("Action=DescribeLoadBalancers&Version={version}");
        let allowed = ask(&sim, "elasticloadbalancing", &form).await;
        assert!(allowed.contains(&format!("doc/{version}/")), "{allowed}");
        let form = format!("Action=DeleteLoadBalancer&LoadBalancerName=x&Version={version}");
        let refused = ask(&sim, "elasticloadbalancing", &form).await;
        assert!(refused.contains("<Code>AccessDenied</Code>"), "{refused}");
    }
}

/// "Private names of a new interface endpoint … who makes the endpoint must be allowed to do that."
#[tokio::test]
async fn private_names_of_an_endpoint_need_a_right_of_route_53() {
    let sim = sim();
    let ec2 = r#"{"Effect":"Allow","Action":"ec2:*","Resource":"*"}"#;
    let zones = |vpcs: &str| {
        format!(
            r#"{{"Effect":"Allow","Action":"route53:AssociateVPCWithHostedZone","Resource":"arn:aws:route53:::hostedzone/*",
               "Condition":{{"StringEquals":{{"route53:VPCs":"{vpcs}"}}}}}}"#
        )
    };
    let has = |statements: &[&str]| {
        let text = format!(r#"{{"Version":"2012-10-17","Statement":[{}]}}"#, statements.join(","));
        let policy: Policy = serde_json::from_str(&text).expect("a policy");
        sim.put_key(AccessKey { id: "manager".into(), secret: "s".into(), policy: Some(policy) });
    };
    let create = format!(
        "Action=CreateVpcEndpoint&DryRun=true&VpcId={VPC}&VpcEndpointType=Interface\
         &ServiceName=com.amazonaws.{REGION}.ec2"
    );
    has(&[ec2]);
    let refused = ask(&sim, "ec2", &create).await;
    let words = "You are not authorized to perform this operation. User: arn:aws:iam::123456789012:user/manager is not \
                 authorized to perform: route53:AssociateVPCWithHostedZone on resource: arn:aws:route53:::hostedzone/* \
                 because no identity-based policy allows the route53:AssociateVPCWithHostedZone action";
    assert!(refused.contains("<Code>UnauthorizedOperation</Code>") && refused.contains(words), "{refused}");
    for other in ["&PrivateDnsEnabled=false", "&PrivateDnsEnabled=False"] {
        let allowed = ask(&sim, "ec2", &format!("{create}{other}")).await;
        assert!(allowed.contains("DryRunOperation"), "without private names: {allowed}");
    }
    has(&[ec2, &zones(&format!("VPCId=vpc-1,VPCRegion={REGION}"))]);
    let refused = ask(&sim, "ec2", &create).await;
    assert!(refused.contains("UnauthorizedOperation"), "for another VPC: {refused}");
    has(&[ec2, &zones(&format!("VPCId={VPC},VPCRegion={REGION}"))]);
    let allowed = ask(&sim, "ec2", &create).await;
    assert!(allowed.contains("DryRunOperation"), "{allowed}");
}

fn is_denied(body: &str) -> bool {
    body.contains("<Code>UnauthorizedOperation</Code>")
}

/// The statements DeleteIdleInterfacesOfNodes and, of left-overs, DeleteLeftInterfaces: tags of the VPC CNI say whose they are.
#[tokio::test]
async fn interfaces_of_the_vpc_cni_are_deleted_by_the_name_of_their_cluster() {
    const CLUSTER: (&str, &str) = ("cluster.k8s.amazonaws.com/name", "team-a_blue-1");
    const INSTANCE: (&str, &str) = ("node.k8s.amazonaws.com/instance_id", "i-0123");
    const OF_ANOTHER: (&str, &str) = (CLUSTER.0, "team-b_blue-1");
    let (all, of_team) = (&[][..], &[("ControlPlaneNames", "team-a_*")][..]);
    for (policy, given, tags, deleted) in [
        ("NetworkPolicy", all, &[CLUSTER, INSTANCE][..], true),
        ("NetworkPolicy", of_team, &[CLUSTER, INSTANCE], true),
        ("NetworkPolicy", of_team, &[OF_ANOTHER, INSTANCE], false),
        ("NetworkPolicy", all, &[INSTANCE], false),
        ("NetworkPolicy", all, &[CLUSTER], false),
        ("NetworkPolicy", all, &[("Name", "mine")], false),
        ("LeftoversPolicy", all, &[CLUSTER], true),
        ("LeftoversPolicy", of_team, &[OF_ANOTHER], false),
        ("LeftoversPolicy", all, &[INSTANCE], false),
    ] {
        let sim = sim();
        sim.put_key(manager_with(policy, given));
        let new = NewInterface {
            subnet: PUBLIC_SUBNETS[0].into(),
            groups: [].into(),
            description: "aws-K8S-i-0123".into(),
            requester_managed: false,
            in_use: false,
            public_ip: None,
            tags: tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        };
        let id = sim.region(REGION).put_foreign_interface(new).expect("an interface");
        let body = ask(&sim, "ec2", &format!("Action=DeleteNetworkInterface&NetworkInterfaceId={id}")).await;
        assert_eq!(is_denied(&body), !deleted, "{policy} {given:?} {tags:?}: {body}");
        let left = sim.region(REGION).with(|region| region.network_now()).expect("a region").interfaces;
        assert_eq!(left.contains_key(&id), !deleted, "{policy} {given:?} {tags:?}");
    }
}

/// The id in a response to a creation.
fn id_in(body: &str, element: &str) -> String {
    let after = body.split_once(&format!("<{element}>")).map(|(_, after)| after);
    after.and_then(|after| after.split_once('<')).unwrap_or_else(|| panic!("{element}: {body}")).0.to_owned()
}

/// The statements DeleteEndpointsOfGuardDuty and DeleteGroupsOfGuardDuty: what GuardDuty tagged may be deleted, and nothing like it of
/// other owners.
#[tokio::test]
async fn what_guardduty_created_may_be_deleted_and_nothing_like_it() {
    let sim = sim();
    sim.put_key(manager_with("LeftoversPolicy", &[]));
    let create = async |key: &str| {
        let tags = |kind: &str| {
            format!(
                "&TagSpecification.1.ResourceType={kind}&TagSpecification.1.Tag.1.Key={key}&TagSpecification.1.Tag.1.Value=true"
            )
        };
        let group = format!(
            "Action=CreateSecurityGroup&VpcId={VPC}&GroupName=GuardDutyManagedSecurityGroup-{key}&GroupDescription=x{}",
            tags("security-group")
        );
        let group = id_in(&ask_as(&sim, "foreign", "ec2", &group).await, "groupId");
        let rule = format!(
            "Action=AuthorizeSecurityGroupIngress&GroupId={group}&IpPermissions.1.IpProtocol=tcp&IpPermissions.1.FromPort=443\
             &IpPermissions.1.ToPort=443&IpPermissions.1.IpRanges.1.CidrIp=10.0.0.0/16"
        );
        assert!(!ask_as(&sim, "foreign", "ec2", &rule).await.contains("<Code>"));
        let endpoint = format!(
            "Action=CreateVpcEndpoint&VpcId={VPC}&VpcEndpointType=Interface&PrivateDnsEnabled=false\
             &ServiceName=com.amazonaws.{REGION}.guardduty-data&SubnetId.1={}&SecurityGroupId.1={group}{}",
            PUBLIC_SUBNETS[0],
            tags("vpc-endpoint")
        );
        let endpoint = id_in(&ask_as(&sim, "foreign", "ec2", &endpoint).await, "vpcEndpointId");
        (endpoint, group)
    };
    let (managed, foreign) = (create("GuardDutyManaged").await, create("Name").await);
    sim.step(Duration::from_mins(10));
    let on_group = |group: &str| {
        let rule = "IpPermissions.1.IpProtocol=tcp&IpPermissions.1.FromPort=443&IpPermissions.1.ToPort=443\
                    &IpPermissions.1.IpRanges.1.CidrIp=10.0.0.0/16";
        let everything = "IpPermissions.1.IpProtocol=-1&IpPermissions.1.IpRanges.1.CidrIp=0.0.0.0/0";
        [
            format!("Action=RevokeSecurityGroupIngress&GroupId={group}&{rule}"),
            format!("Action=RevokeSecurityGroupEgress&GroupId={group}&{everything}"),
            format!("Action=DeleteSecurityGroup&GroupId={group}"),
        ]
    };
    let on_endpoint = |id: &str| format!("Action=DeleteVpcEndpoints&VpcEndpointId.1={id}");
    for (what, allowed) in [(&foreign, false), (&managed, true)] {
        let (endpoint, group) = what;
        let body = ask(&sim, "ec2", &on_endpoint(endpoint)).await;
        assert_eq!(is_denied(&body), !allowed, "{body}");
        sim.step(Duration::from_mins(10));
        for form in on_group(group) {
            let body = ask(&sim, "ec2", &form).await;
            assert_eq!(body.contains("<Code>"), !allowed, "{form}: {body}");
            assert_eq!(is_denied(&body), !allowed, "{form}: {body}");
        }
    }
    let both = format!("{}&VpcEndpointId.2={}", on_endpoint("vpce-1"), foreign.0);
    assert!(is_denied(&ask(&sim, "ec2", &both).await), "one of several is enough for a refusal");
    let left = sim.region(REGION).with(|region| region.network_now()).expect("a region");
    assert!(left.endpoints.contains_key(&foreign.0.as_str().into()));
    assert!(left.security_groups.contains_key(&foreign.1.as_str().into()));
    assert!(!left.security_groups.contains_key(&managed.1.as_str().into()));
    let endpoint = left.endpoints.get(&managed.0.as_str().into());
    assert!(endpoint.is_none_or(|it| it.state == EndpointState::Deleted), "{endpoint:?}");
}
