//! Reads of other services than EC2: load balancers, target groups, quotas.

use super::{only, tagged};
use crate::canned::{Canned, Form, Reply, autoscaling_error, autoscaling_response, ec2_response};
use foo_cloud::{Compute, ErrorKind, Networks, VcpuQuota};
use foo_cloud_adapter::AwsCloud;
use foo_model::network::{Kind, LoadBalancerKind, Scope};

/// Both APIs of Elastic Load Balancing: two load balancers and a target group in the VPC, one elsewhere.
fn balancers(form: &Form) -> Reply {
    const ARN: &str = "arn:aws:elasticloadbalancing:eu-central-1:123456789012";
    let is_classic = form["Version"] == "2012-06-01";
    let tags = "<Tags><member><Key>elbv2.k8s.aws/cluster</Key><Value>c</Value></member></Tags>";
    let content = match (form["Action"].as_str(), is_classic) {
        ("DescribeLoadBalancers", true) => {
            "<LoadBalancerDescriptions><member><LoadBalancerName>old</LoadBalancerName>\
             <VPCId>vpc-1</VPCId><SecurityGroups><member>sg-1</member></SecurityGroups></member>\
             </LoadBalancerDescriptions>"
                .to_owned()
        }
        ("DescribeLoadBalancers", false) => format!(
            "<LoadBalancers><member><LoadBalancerArn>{ARN}:loadbalancer/app/web/1</LoadBalancerArn>\
             <LoadBalancerName>web</LoadBalancerName><VpcId>vpc-1</VpcId><Type>application</Type></member>\
             <member><LoadBalancerArn>{ARN}:loadbalancer/net/other/2</LoadBalancerArn>\
             <LoadBalancerName>other</LoadBalancerName><VpcId>vpc-2</VpcId><Type>network</Type></member></LoadBalancers>"
        ),
        ("DescribeTargetGroups", _) => format!(
            "<TargetGroups><member><TargetGroupArn>{ARN}:targetgroup/web/3</TargetGroupArn>\
             <TargetGroupName>web</TargetGroupName><VpcId>vpc-1</VpcId></member></TargetGroups>"
        ),
        ("DescribeTags", true) => {
            format!(
                "<TagDescriptions><member><LoadBalancerName>{}</LoadBalancerName>{tags}</member></TagDescriptions>",
                form["LoadBalancerNames.member.1"]
            )
        }
        ("DescribeTags", false) => {
            format!(
                "<TagDescriptions><member><ResourceArn>{}</ResourceArn>{tags}</member></TagDescriptions>",
                form["ResourceArns.member.1"]
            )
        }
        (other, _) => panic!("{other}"),
    };
    autoscaling_response(&form["Action"], &content)
}

#[tokio::test]
async fn load_balancers_of_a_vpc_by_both_apis_with_their_tags() {
    let server = Canned::start(|form, _| balancers(form)).await;
    let cloud = server.cloud().await;
    let scope = Scope::Vpc("vpc-1".into());
    let found = cloud.describe_network(Kind::LoadBalancer, &scope).await.unwrap().load_balancers;
    let kinds: Vec<(&str, LoadBalancerKind)> = found.values().map(|it| (it.name.as_str(), it.kind)).collect();
    assert_eq!(kinds, [("web", LoadBalancerKind::Application), ("old", LoadBalancerKind::Classic)]);
    assert!(found.iter().all(|(key, it)| *key == it.arn.as_ref().unwrap_or(&it.name).clone()));
    assert!(found.values().all(|it| it.tags["elbv2.k8s.aws/cluster"] == "c" && it.vpc.as_str() == "vpc-1"));
    let asked: Vec<String> = server.asked().iter().map(|form| form["Action"].clone()).collect();
    assert_eq!(asked, ["DescribeLoadBalancers", "DescribeTags", "DescribeLoadBalancers", "DescribeTags"]);

    let group = only(cloud.describe_network(Kind::TargetGroup, &scope).await.unwrap().target_groups);
    assert_eq!((group.name.as_str(), group.tags.len()), ("web", 1));
    for kind in [Kind::LoadBalancer, Kind::TargetGroup] {
        let refused = cloud.describe_network(kind, &tagged()).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Invalid);
    }
}

#[tokio::test]
async fn a_load_balancer_that_goes_between_two_calls_hides_no_other() {
    let server = Canned::start(|form, _| match form["Action"].as_str() {
        "DescribeTags" if form.values().any(|name| name == "gone") => {
            autoscaling_error(400, "LoadBalancerNotFound", "There is no ACTIVE Load Balancer named 'gone'")
        }
        "DescribeLoadBalancers" if form["Version"] == "2012-06-01" => {
            let one = |name: &str| {
                format!("<member><LoadBalancerName>{name}</LoadBalancerName><VPCId>vpc-1</VPCId></member>")
            };
            let all = format!("{}{}", one("gone"), one("here"));
            autoscaling_response(
                "DescribeLoadBalancers",
                &format!("<LoadBalancerDescriptions>{all}</LoadBalancerDescriptions>"),
            )
        }
        "DescribeLoadBalancers" => autoscaling_response("DescribeLoadBalancers", "<LoadBalancers/>"),
        _ => balancers(form),
    })
    .await;
    let scope = Scope::Vpc("vpc-1".into());
    let found = server.cloud().await.describe_network(Kind::LoadBalancer, &scope).await.unwrap();
    let tags: Vec<(&str, usize)> =
        found.load_balancers.iter().map(|(name, it)| (name.as_str(), it.tags.len())).collect();
    assert_eq!(tags, [("gone", 0), ("here", 1)]);
}

/// The quotas of a world with two VPCs and three NAT gateways.
async fn quotas_where(refused: &'static str) -> (AwsCloud, Canned) {
    let server = Canned::start(move |form, _| {
        let content = match form["Action"].as_str() {
            "DescribeVpcs" => "<vpcSet><item><vpcId>vpc-1</vpcId></item><item><vpcId>vpc-2</vpcId></item></vpcSet>",
            "DescribeInternetGateways" => "<internetGatewaySet/>",
            "DescribeAddresses" => {
                "<addressesSet><item><allocationId>eipalloc-1</allocationId><publicIpv4Pool>amazon</publicIpv4Pool></item>\
                 <item><allocationId>eipalloc-2</allocationId><publicIpv4Pool>ipv4pool-ec2-1</publicIpv4Pool></item></addressesSet>"
            }
            "DescribeNatGateways" => {
                "<natGatewaySet><item><natGatewayId>nat-1</natGatewayId><subnetId>subnet-1</subnetId></item>\
                 <item><natGatewayId>nat-2</natGatewayId><subnetId>subnet-1</subnetId></item></natGatewaySet>"
            }
            "DescribeSubnets" => {
                "<subnetSet><item><subnetId>subnet-1</subnetId><vpcId>vpc-1</vpcId><cidrBlock>10.0.0.0/24</cidrBlock>\
                 <availabilityZone>a</availabilityZone><availableIpAddressCount>9</availableIpAddressCount></item></subnetSet>"
            }
            // Service Quotas speaks JSON: see `Canned`.
            "GetServiceQuota" if form["QuotaCode"] == refused => {
                return Reply::Json(400, r#"{"__type":"AccessDeniedException","Message":"no"}"#.to_owned());
            }
            "GetServiceQuota" => return Reply::Json(200, r#"{"Quota":{"Value":5.0}}"#.to_owned()),
            other => panic!("{other}"),
        };
        ec2_response(&form["Action"], content)
    })
    .await;
    (server.cloud().await, server)
}

#[tokio::test]
async fn quotas_and_what_is_used_of_them() {
    let (cloud, server) = quotas_where("none").await;
    let quotas = cloud.quotas().await.unwrap();
    assert_eq!(quotas.vpcs, Some((5, 2)));
    assert_eq!(quotas.addresses, Some((5, 1)), "addresses that the account brought do not count");
    assert_eq!(quotas.nat_gateways, Some((5, [("a".into(), 2)].into())));
    assert_eq!(quotas.internet_gateways, Some((5, 0)));
    let asked: Vec<String> = server
        .asked()
        .iter()
        .filter(|form| form["Action"] == "GetServiceQuota")
        .map(|form| format!("{} {}", form["ServiceCode"], form["QuotaCode"]))
        .collect();
    assert_eq!(asked, ["vpc L-F678F1CE", "ec2 L-0263D0A3", "vpc L-FE5A380F", "vpc L-A4707A72"]);
}

#[tokio::test]
async fn quotas_of_vcpus_are_asked_for_by_their_codes() {
    let (cloud, server) = quotas_where("L-34B43A08").await;
    assert_eq!(cloud.vcpu_quota(VcpuQuota::Standard).await.unwrap(), Some(5));
    assert_eq!(cloud.vcpu_quota(VcpuQuota::SpotStandard).await.unwrap(), None, "it may not be asked for");
    let asked: Vec<String> =
        server.asked().iter().map(|form| format!("{} {}", form["ServiceCode"], form["QuotaCode"])).collect();
    assert_eq!(asked, ["ec2 L-1216C47A", "ec2 L-34B43A08"]);
}

#[tokio::test]
async fn a_volume_that_is_being_deleted_counts_as_deleted() {
    let volume = |id: &str, status: &str| {
        format!("<item><volumeId>{id}</volumeId><status>{status}</status><attachmentSet/></item>")
    };
    let all =
        [volume("vol-1", "available"), volume("vol-2", "deleting"), volume("vol-3", "deleted")].concat();
    let content = format!("<volumeSet>{all}</volumeSet>");
    let server = Canned::start(move |_, _| ec2_response("DescribeVolumes", &content)).await;
    let found = server.cloud().await.describe_volumes_tagged("kubernetes.io/cluster/c").await.unwrap();
    let found: Vec<_> = found.iter().map(|it| (it.id.as_str(), it.goes_with_instance)).collect();
    assert_eq!(found, [("vol-1", false)]);
    let asked = &server.asked()[0];
    assert_eq!(
        (asked["Filter.1.Name"].as_str(), asked["Filter.1.Value.1"].as_str()),
        ("tag-key", "kubernetes.io/cluster/c")
    );
}

#[tokio::test]
async fn a_quota_that_may_not_be_asked_for_is_unknown_and_the_others_are_not() {
    let (cloud, server) = quotas_where("L-F678F1CE").await;
    let quotas = cloud.quotas().await.unwrap();
    assert_eq!((quotas.vpcs, quotas.internet_gateways), (None, Some((5, 0))));
    assert!(server.asked().iter().all(|form| form["Action"] != "DescribeVpcs"), "nothing to compare with");
}
