//! Changes of networks: each is one request, and its response shows what it created.

use super::fields;
use crate::canned::{Canned, Reply, autoscaling_response, ec2_error, ec2_response};
use crate::shapes::tags;
use foo_cloud::{ErrorKind, Networks, Operation};
use foo_model::VpcId;
use foo_model::network::{
    Change, Destination, DnsAttribute, EndpointChange, EndpointKind, LoadBalancerKind, Parts, Peer, Protocol,
    RouteTarget, Rule, SubnetAttribute, Tags,
};

/// Sends one change and compares its request with these lines; the response's content is given.
async fn sends(change: Change, response: &'static str, expected: &[&str]) -> Parts {
    let server = Canned::start(move |form, _| ec2_response(&form["Action"], response)).await;
    let made = server.cloud().await.change_network(&change).await.unwrap();
    let asked = server.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0]["Action"], change.operation().name());
    assert_eq!(fields(&asked[0]), expected, "{change:?}");
    made
}

/// As [`sends`], of a change that creates nothing.
async fn does(change: Change, expected: &[&str]) {
    assert_eq!(sends(change, "<return>true</return>", expected).await, Parts::default());
}

fn tag() -> Tags {
    tags(&[("k", "v")])
}

/// The lines of the tag of a new part.
fn tagged(kind: &str) -> [String; 3] {
    [
        format!("TagSpecification.1.ResourceType={kind}"),
        "TagSpecification.1.Tag.1.Key=k".to_owned(),
        "TagSpecification.1.Tag.1.Value=v".to_owned(),
    ]
}

/// The tag's lines among the others, in the order of their names.
macro_rules! with_tag {
    ($kind:literal $(, $line:literal)*) => {{
        let tag = tagged($kind);
        let mut lines: Vec<&str> = vec![$($line),*];
        lines.extend(tag.iter().map(String::as_str));
        lines.sort_by_key(|line| line.split_once('=').map(|it| it.0));
        lines.iter().map(|line| (*line).to_owned()).collect::<Vec<String>>()
    }};
}

fn lines(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

fn v4<T: std::str::FromStr<Err: std::fmt::Debug>>(range: &str) -> T {
    range.parse().unwrap()
}

#[tokio::test]
async fn a_vpc_and_its_ranges() {
    let vpc = "<vpc><vpcId>vpc-1</vpcId><cidrBlock>10.0.0.0/16</cidrBlock><state>pending</state></vpc>";
    let change = Change::CreateVpc { cidr: v4("10.0.0.0/16"), ipv6: true, tags: tag() };
    let asked = with_tag!("vpc", "AmazonProvidedIpv6CidrBlock=true", "CidrBlock=10.0.0.0/16");
    let made = sends(change, vpc, &lines(&asked)).await;
    assert_eq!(made.vpcs.keys().map(VpcId::as_str).collect::<Vec<_>>(), ["vpc-1"]);
    let change = Change::CreateVpc { cidr: v4("10.0.0.0/16"), ipv6: false, tags: Tags::new() };
    sends(change, vpc, &["CidrBlock=10.0.0.0/16"]).await;

    let attribute =
        |attribute, enabled| Change::ModifyVpcAttribute { vpc: "vpc-1".into(), attribute, enabled };
    does(attribute(DnsAttribute::Support, true), &["EnableDnsSupport.Value=true", "VpcId=vpc-1"]).await;
    does(attribute(DnsAttribute::Hostnames, false), &["EnableDnsHostnames.Value=false", "VpcId=vpc-1"]).await;

    let response = "<vpcId>vpc-1</vpcId><cidrBlockAssociation><cidrBlock>100.64.0.0/16</cidrBlock>\
                  <associationId>vpc-cidr-assoc-1</associationId><cidrBlockState><state>associating</state></cidrBlockState>\
                  </cidrBlockAssociation>";
    let change = Change::AssociateVpcCidrBlock { vpc: "vpc-1".into(), cidr: v4("100.64.0.0/16") };
    let made = sends(change, response, &["CidrBlock=100.64.0.0/16", "VpcId=vpc-1"]).await;
    assert_eq!(made.vpcs[&"vpc-1".into()].cidrs[0].id.as_str(), "vpc-cidr-assoc-1");

    let response = "<vpcId>vpc-1</vpcId><ipv6CidrBlockAssociation><associationId>vpc-cidr-assoc-2</associationId>\
                  </ipv6CidrBlockAssociation>";
    let change = Change::AssociateVpcIpv6 { vpc: "vpc-1".into() };
    let made = sends(change, response, &["AmazonProvidedIpv6CidrBlock=true", "VpcId=vpc-1"]).await;
    assert!(made.vpcs[&"vpc-1".into()].ipv6.is_empty(), "the range is chosen later");

    does(
        Change::DisassociateVpcCidrBlock { association: "vpc-cidr-assoc-1".into() },
        &["AssociationId=vpc-cidr-assoc-1"],
    )
    .await;
    does(Change::DeleteVpc { vpc: "vpc-1".into() }, &["VpcId=vpc-1"]).await;
}

#[tokio::test]
async fn a_subnet() {
    let response = "<subnet><subnetId>subnet-1</subnetId><vpcId>vpc-1</vpcId><cidrBlock>10.0.0.0/20</cidrBlock>\
                  <availabilityZone>a</availabilityZone><availableIpAddressCount>4091</availableIpAddressCount></subnet>";
    let change = Change::CreateSubnet {
        vpc: "vpc-1".into(),
        zone: "a".into(),
        cidr: v4("10.0.0.0/20"),
        ipv6: Some(v4("2001:db8::/64")),
        tags: tag(),
    };
    let asked = with_tag!(
        "subnet",
        "AvailabilityZone=a",
        "CidrBlock=10.0.0.0/20",
        "Ipv6CidrBlock=2001:db8::/64",
        "VpcId=vpc-1"
    );
    let made = sends(change, response, &lines(&asked)).await;
    assert!(made.subnets.contains_key(&"subnet-1".into()));

    let attribute =
        |attribute| Change::ModifySubnetAttribute { subnet: "subnet-1".into(), attribute, enabled: true };
    does(
        attribute(SubnetAttribute::PublicIpOnLaunch),
        &["MapPublicIpOnLaunch.Value=true", "SubnetId=subnet-1"],
    )
    .await;
    does(
        attribute(SubnetAttribute::Ipv6OnCreation),
        &["AssignIpv6AddressOnCreation.Value=true", "SubnetId=subnet-1"],
    )
    .await;

    let response = "<subnetId>subnet-1</subnetId><ipv6CidrBlockAssociation><ipv6CidrBlock>2001:db8::/64</ipv6CidrBlock>\
                  <associationId>subnet-cidr-assoc-1</associationId></ipv6CidrBlockAssociation>";
    let change = Change::AssociateSubnetCidrBlock { subnet: "subnet-1".into(), ipv6: v4("2001:db8::/64") };
    let made = sends(change, response, &["Ipv6CidrBlock=2001:db8::/64", "SubnetId=subnet-1"]).await;
    assert_eq!(made.subnets[&"subnet-1".into()].ipv6[0].id.as_str(), "subnet-cidr-assoc-1");
    does(Change::DeleteSubnet { subnet: "subnet-1".into() }, &["SubnetId=subnet-1"]).await;
}

#[tokio::test]
async fn gateways_of_the_internet() {
    let response = "<internetGateway><internetGatewayId>igw-1</internetGatewayId></internetGateway>";
    let change = Change::CreateInternetGateway { tags: tag() };
    let made = sends(change, response, &lines(&with_tag!("internet-gateway"))).await;
    assert_eq!(made.internet_gateways[&"igw-1".into()].vpc, None);
    let both = ["InternetGatewayId=igw-1", "VpcId=vpc-1"];
    let (gateway, vpc) = (|| "igw-1".into(), || "vpc-1".into());
    does(Change::AttachInternetGateway { gateway: gateway(), vpc: vpc() }, &both).await;
    does(Change::DetachInternetGateway { gateway: gateway(), vpc: vpc() }, &both).await;
    does(Change::DeleteInternetGateway { gateway: gateway() }, &both[..1]).await;

    let response = "<egressOnlyInternetGateway><egressOnlyInternetGatewayId>eigw-1</egressOnlyInternetGatewayId>\
                  </egressOnlyInternetGateway>";
    let change =
        Change::CreateEgressOnlyInternetGateway { vpc: "vpc-1".into(), tags: tag(), token: "t-1".into() };
    let asked = with_tag!("egress-only-internet-gateway", "ClientToken=t-1", "VpcId=vpc-1");
    let made = sends(change, response, &lines(&asked)).await;
    assert_eq!(made.egress_only_gateways[&"eigw-1".into()].vpc.as_str(), "vpc-1", "attached or not yet");
    does(
        Change::DeleteEgressOnlyInternetGateway { gateway: "eigw-1".into() },
        &["EgressOnlyInternetGatewayId=eigw-1"],
    )
    .await;
}

#[tokio::test]
async fn an_address_and_a_nat_gateway() {
    let response = "<allocationId>eipalloc-1</allocationId><publicIp>192.0.2.1</publicIp>";
    let made = sends(
        Change::AllocateAddress { tags: tag() },
        response,
        &lines(&with_tag!("elastic-ip", "Domain=vpc")),
    )
    .await;
    assert_eq!(made.addresses[&"eipalloc-1".into()].ip, "192.0.2.1");
    does(Change::ReleaseAddress { allocation: "eipalloc-1".into() }, &["AllocationId=eipalloc-1"]).await;

    let response = "<natGateway><natGatewayId>nat-1</natGatewayId><vpcId>vpc-1</vpcId><subnetId>subnet-1</subnetId>\
                  <state>pending</state></natGateway>";
    let change = Change::CreateNatGateway {
        subnet: "subnet-1".into(),
        allocation: "eipalloc-1".into(),
        tags: tag(),
        token: "t-1".into(),
    };
    let asked = with_tag!("natgateway", "AllocationId=eipalloc-1", "ClientToken=t-1", "SubnetId=subnet-1");
    let made = sends(change, response, &lines(&asked)).await;
    assert!(made.nat_gateways.contains_key(&"nat-1".into()));
    does(Change::DeleteNatGateway { gateway: "nat-1".into() }, &["NatGatewayId=nat-1"]).await;
}

#[tokio::test]
async fn route_tables_and_who_uses_them() {
    let response = "<routeTable><routeTableId>rtb-1</routeTableId><vpcId>vpc-1</vpcId></routeTable>";
    let change = Change::CreateRouteTable { vpc: "vpc-1".into(), tags: tag(), token: "t-1".into() };
    let asked = with_tag!("route-table", "ClientToken=t-1", "VpcId=vpc-1");
    let made = sends(change, response, &lines(&asked)).await;
    assert!(made.route_tables.contains_key(&"rtb-1".into()));

    let change = Change::AssociateRouteTable { table: "rtb-1".into(), subnet: "subnet-1".into() };
    let response = "<associationId>rtbassoc-1</associationId>";
    let made = sends(change, response, &["RouteTableId=rtb-1", "SubnetId=subnet-1"]).await;
    let association = &made.route_tables[&"rtb-1".into()].associations[0];
    assert_eq!((association.id.as_str(), association.subnet.as_str()), ("rtbassoc-1", "subnet-1"));

    let change =
        Change::ReplaceRouteTableAssociation { association: "rtbassoc-1".into(), table: "rtb-2".into() };
    let response = "<newAssociationId>rtbassoc-2</newAssociationId>";
    let made = sends(change, response, &["AssociationId=rtbassoc-1", "RouteTableId=rtb-2"]).await;
    assert_eq!(made.route_tables[&"rtb-2".into()].associations[0].id.as_str(), "rtbassoc-2");
    does(Change::DisassociateRouteTable { association: "rtbassoc-1".into() }, &["AssociationId=rtbassoc-1"])
        .await;
    does(Change::DeleteRouteTable { table: "rtb-1".into() }, &["RouteTableId=rtb-1"]).await;
}

#[tokio::test]
async fn routes_by_destination_and_target() {
    let all = Destination::V4(v4("0.0.0.0/0"));
    let all6 = Destination::V6(v4("::/0"));
    let list = Destination::Prefixes("pl-1".into());
    let create = |destination: &Destination, target| Change::CreateRoute {
        table: "rtb-1".into(),
        destination: destination.clone(),
        target,
    };
    let replace = |destination: &Destination, target| Change::ReplaceRoute {
        table: "rtb-1".into(),
        destination: destination.clone(),
        target,
    };
    let asked = ["DestinationCidrBlock=0.0.0.0/0", "GatewayId=igw-1", "RouteTableId=rtb-1"];
    does(create(&all, RouteTarget::InternetGateway("igw-1".into())), &asked).await;
    does(replace(&all, RouteTarget::InternetGateway("igw-1".into())), &asked).await;
    let asked = ["DestinationCidrBlock=0.0.0.0/0", "NatGatewayId=nat-1", "RouteTableId=rtb-1"];
    does(create(&all, RouteTarget::NatGateway("nat-1".into())), &asked).await;
    does(replace(&all, RouteTarget::NatGateway("nat-1".into())), &asked).await;
    let asked = ["DestinationIpv6CidrBlock=::/0", "EgressOnlyInternetGatewayId=eigw-1", "RouteTableId=rtb-1"];
    does(create(&all6, RouteTarget::EgressOnlyGateway("eigw-1".into())), &asked).await;
    does(replace(&all6, RouteTarget::EgressOnlyGateway("eigw-1".into())), &asked).await;
    for (destination, line) in [
        (all, "DestinationCidrBlock=0.0.0.0/0"),
        (all6, "DestinationIpv6CidrBlock=::/0"),
        (list, "DestinationPrefixListId=pl-1"),
    ] {
        does(Change::DeleteRoute { table: "rtb-1".into(), destination }, &[line, "RouteTableId=rtb-1"]).await;
    }
}

#[tokio::test]
async fn what_only_aws_makes_is_never_asked_for() {
    let server = Canned::always(|| ec2_response("Never", "")).await;
    let cloud = server.cloud().await;
    let table = || "rtb-1".into();
    let destination = || Destination::V4(v4("0.0.0.0/0"));
    for change in [
        Change::CreateRoute { table: table(), destination: destination(), target: RouteTarget::Local },
        Change::ReplaceRoute {
            table: table(),
            destination: destination(),
            target: RouteTarget::Other("tgw-1".into()),
        },
        Change::CreateVpcEndpoint {
            vpc: "vpc-1".into(),
            service: "s".into(),
            kind: EndpointKind::Other("GatewayLoadBalancer".into()),
            tags: tag(),
            token: "t".into(),
        },
        Change::DeleteLoadBalancer { kind: LoadBalancerKind::Network, name: "n".into(), arn: None },
    ] {
        assert_eq!(cloud.change_network(&change).await.unwrap_err().kind, ErrorKind::Invalid, "{change:?}");
    }
    // To EC2, no keys would mean all tags.
    let nothing = Change::DeleteTags { ids: ["vpc-1".into()].into(), keys: [].into() };
    assert_eq!(cloud.change_network(&nothing).await, Ok(Parts::default()));
    assert_eq!(server.asked().len(), 0);
}

#[tokio::test]
async fn a_security_group_and_its_rules() {
    let response = "<groupId>sg-1</groupId><tagSet><item><key>k</key><value>v</value></item></tagSet>";
    let change = Change::CreateSecurityGroup {
        vpc: "vpc-1".into(),
        name: "node".into(),
        description: "nodes".into(),
        tags: tag(),
    };
    let asked = with_tag!("security-group", "GroupDescription=nodes", "GroupName=node", "VpcId=vpc-1");
    let made = sends(change, response, &lines(&asked)).await;
    assert_eq!(made.security_groups[&"sg-1".into()].tags, tag());

    let rules = || {
        [
            Rule {
                protocol: Protocol::Tcp(10250, 10251),
                peer: Peer::Group("sg-2".into()),
                description: "kubelet".into(),
            },
            Rule { protocol: Protocol::All, peer: Peer::V4(v4("10.0.0.0/8")), description: String::new() },
        ]
        .into()
    };
    let group = || "sg-1".into();
    let all = ["IpPermissions.1.IpProtocol=-1", "IpPermissions.1.IpRanges.1.CidrIp=10.0.0.0/8"];
    let kubelet = [
        "IpPermissions.2.FromPort=10250",
        "IpPermissions.2.Groups.1.Description=kubelet",
        "IpPermissions.2.Groups.1.GroupId=sg-2",
        "IpPermissions.2.IpProtocol=tcp",
        "IpPermissions.2.ToPort=10251",
    ];
    let authorized = [&["GroupId=sg-1"], &all[..], &kubelet[..]].concat();
    does(Change::AuthorizeSecurityGroupIngress { group: group(), rules: rules() }, &authorized).await;
    does(Change::AuthorizeSecurityGroupEgress { group: group(), rules: rules() }, &authorized).await;
    let change = Change::UpdateSecurityGroupRuleDescriptionsIngress { group: group(), rules: rules() };
    does(change, &authorized).await;
    // A rule is the same whatever its description.
    let revoked: Vec<&str> = authorized.into_iter().filter(|line| !line.contains("Description")).collect();
    does(Change::RevokeSecurityGroupIngress { group: group(), rules: rules() }, &revoked).await;
    does(Change::RevokeSecurityGroupEgress { group: group(), rules: rules() }, &revoked).await;
    does(Change::DeleteSecurityGroup { group: group() }, &["GroupId=sg-1"]).await;
}

#[tokio::test]
async fn endpoints() {
    let response = "<vpcEndpoint><vpcEndpointId>vpce-1</vpcEndpointId><vpcId>vpc-1</vpcId></vpcEndpoint>";
    let create = |kind| Change::CreateVpcEndpoint {
        vpc: "vpc-1".into(),
        service: "com.amazonaws.r.s3".into(),
        kind,
        tags: tag(),
        token: "t-1".into(),
    };
    let asked = with_tag!(
        "vpc-endpoint",
        "ClientToken=t-1",
        "RouteTableId.1=rtb-1",
        "RouteTableId.2=rtb-2",
        "ServiceName=com.amazonaws.r.s3",
        "VpcEndpointType=Gateway",
        "VpcId=vpc-1"
    );
    let gateway = EndpointKind::Gateway { tables: ["rtb-1".into(), "rtb-2".into()].into() };
    let made = sends(create(gateway), response, &lines(&asked)).await;
    assert!(made.endpoints.contains_key(&"vpce-1".into()));
    let asked = with_tag!(
        "vpc-endpoint",
        "ClientToken=t-1",
        "PrivateDnsEnabled=true",
        "SecurityGroupId.1=sg-1",
        "ServiceName=com.amazonaws.r.s3",
        "SubnetId.1=subnet-1",
        "VpcEndpointType=Interface",
        "VpcId=vpc-1"
    );
    let interface = EndpointKind::Interface {
        subnets: ["subnet-1".into()].into(),
        groups: ["sg-1".into()].into(),
        private_dns: true,
    };
    sends(create(interface), response, &lines(&asked)).await;

    let change = EndpointChange {
        add_tables: ["rtb-1".into()].into(),
        remove_tables: ["rtb-2".into()].into(),
        add_subnets: ["subnet-1".into()].into(),
        remove_subnets: ["subnet-2".into()].into(),
        add_groups: ["sg-1".into()].into(),
        remove_groups: ["sg-2".into()].into(),
        private_dns: Some(false),
    };
    does(
        Change::ModifyVpcEndpoint { endpoint: "vpce-1".into(), change },
        &[
            "AddRouteTableId.1=rtb-1",
            "AddSecurityGroupId.1=sg-1",
            "AddSubnetId.1=subnet-1",
            "PrivateDnsEnabled=false",
            "RemoveRouteTableId.1=rtb-2",
            "RemoveSecurityGroupId.1=sg-2",
            "RemoveSubnetId.1=subnet-2",
            "VpcEndpointId=vpce-1",
        ],
    )
    .await;
    does(
        Change::DeleteVpcEndpoints { endpoints: ["vpce-1".into(), "vpce-2".into()].into() },
        &["VpcEndpointId.1=vpce-1", "VpcEndpointId.2=vpce-2"],
    )
    .await;
}

const GONE: &str = "InvalidVpcEndpointId.NotFound";

#[tokio::test]
async fn endpoints_that_ec2_does_not_delete_are_a_failure_of_the_change() {
    let delete = |unsuccessful: &[(&str, &str)]| {
        let item = |(id, code): &(&str, &str)| {
            format!(
                "<item><resourceId>{id}</resourceId><error><code>{code}</code><message>no</message></error></item>"
            )
        };
        let items: String = unsuccessful.iter().map(item).collect();
        async move {
            let response = format!("<unsuccessful>{items}</unsuccessful>");
            let server = Canned::always(move || ec2_response("DeleteVpcEndpoints", &response)).await;
            let both = Change::DeleteVpcEndpoints { endpoints: ["vpce-1".into(), "vpce-2".into()].into() };
            server.cloud().await.change_network(&both).await
        }
    };
    assert_eq!(delete(&[("vpce-1", GONE)]).await, Ok(Parts::default()), "the other is being deleted");
    let all_gone = delete(&[("vpce-1", GONE), ("vpce-2", GONE)]).await.unwrap_err();
    assert_eq!(all_gone.kind, ErrorKind::NotFound);
    let refused = delete(&[("vpce-1", GONE), ("vpce-2", "UnauthorizedOperation")]).await.unwrap_err();
    assert_eq!((refused.kind, refused.message.as_str()), (ErrorKind::Denied, "vpce-2: no"));
}

#[tokio::test]
async fn tags_and_what_others_left() {
    let ids = || ["vpc-1".to_owned(), "subnet-1".to_owned()].into();
    does(
        Change::CreateTags { ids: ids(), tags: tag() },
        &["ResourceId.1=subnet-1", "ResourceId.2=vpc-1", "Tag.1.Key=k", "Tag.1.Value=v"],
    )
    .await;
    // A tag without a value is removed whatever its value is.
    does(
        Change::DeleteTags { ids: ids(), keys: ["k".to_owned()].into() },
        &["ResourceId.1=subnet-1", "ResourceId.2=vpc-1", "Tag.1.Key=k"],
    )
    .await;
    does(Change::DeleteNetworkInterface { interface: "eni-1".into() }, &["NetworkInterfaceId=eni-1"]).await;
}

#[tokio::test]
async fn load_balancers_are_deleted_by_the_api_that_made_them() {
    const ARN: &str = "arn:aws:elasticloadbalancing:r:1:loadbalancer/net/n/1";
    let server = Canned::start(|form, _| autoscaling_response(&form["Action"], "")).await;
    let cloud = server.cloud().await;
    for change in [
        Change::DeleteLoadBalancer { kind: LoadBalancerKind::Classic, name: "old".into(), arn: None },
        Change::DeleteLoadBalancer {
            kind: LoadBalancerKind::Network,
            name: "n".into(),
            arn: Some(ARN.into()),
        },
        Change::DeleteTargetGroup { arn: "arn:group".into() },
    ] {
        cloud.change_network(&change).await.unwrap();
    }
    let asked: Vec<(String, Vec<String>)> =
        server.asked().iter().map(|form| (form["Version"].clone(), fields(form))).collect();
    let expected = |version: &str, line: &str| (version.to_owned(), vec![line.to_owned()]);
    assert_eq!(
        asked,
        [
            expected("2012-06-01", "LoadBalancerName=old"),
            expected("2015-12-01", &format!("LoadBalancerArn={ARN}")),
            expected("2015-12-01", "TargetGroupArn=arn:group"),
        ]
    );
}

/// How often a change is sent that gets no response.
async fn sent(change: Change) -> usize {
    let server = Canned::always(|| Reply::HangUp).await;
    let error = server.cloud().await.change_network(&change).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::LostResponse, "{change:?}");
    assert!(error.may_have_happened());
    server.asked().len()
}

#[tokio::test]
async fn only_what_has_a_token_is_sent_again() {
    let (vpc, token) = (|| "vpc-1".into(), || "t-1".to_owned());
    assert_eq!(sent(Change::CreateVpc { cidr: v4("10.0.0.0/16"), ipv6: false, tags: tag() }).await, 1);
    assert_eq!(sent(Change::AllocateAddress { tags: tag() }).await, 1);
    assert_eq!(sent(Change::CreateInternetGateway { tags: tag() }).await, 1);
    assert_eq!(sent(Change::DeleteVpc { vpc: vpc() }).await, 1);
    assert_eq!(sent(Change::DeleteTargetGroup { arn: "arn:group".into() }).await, 1);
    assert_eq!(sent(Change::CreateRouteTable { vpc: vpc(), tags: tag(), token: token() }).await, 3);
    let egress = Change::CreateEgressOnlyInternetGateway { vpc: vpc(), tags: tag(), token: token() };
    assert_eq!(sent(egress).await, 3);
    let nat = Change::CreateNatGateway {
        subnet: "subnet-1".into(),
        allocation: "eipalloc-1".into(),
        tags: tag(),
        token: token(),
    };
    assert_eq!(sent(nat).await, 3);
    let endpoint = Change::CreateVpcEndpoint {
        vpc: vpc(),
        service: "s".into(),
        kind: EndpointKind::Gateway { tables: [].into() },
        tags: tag(),
        token: token(),
    };
    assert_eq!(sent(endpoint).await, 3);
}

#[tokio::test]
async fn a_response_without_an_id_may_have_created_something() {
    let server = Canned::start(|form, _| ec2_response(&form["Action"], "")).await;
    let cloud = server.cloud().await;
    for change in [
        Change::CreateVpc { cidr: v4("10.0.0.0/16"), ipv6: false, tags: tag() },
        Change::AllocateAddress { tags: tag() },
        Change::CreateInternetGateway { tags: tag() },
    ] {
        let error = cloud.change_network(&change).await.unwrap_err();
        assert!(error.may_have_happened(), "{error}");
    }
}

#[tokio::test]
async fn a_refused_change_says_what_aws_said() {
    let server =
        Canned::always(|| ec2_error(400, "DependencyViolation", "The vpc 'vpc-1' has dependencies")).await;
    let error =
        server.cloud().await.change_network(&Change::DeleteVpc { vpc: "vpc-1".into() }).await.unwrap_err();
    assert_eq!((error.kind, error.operation), (ErrorKind::InUse, Operation::DeleteVpc));
    assert_eq!(error.to_string(), "ec2:DeleteVpc: DependencyViolation: The vpc 'vpc-1' has dependencies");
}
