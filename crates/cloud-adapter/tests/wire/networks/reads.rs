//! Reads of EC2.

use super::{describe_one, fields, ids, only, tagged};
use crate::canned::{Canned, ec2_error, ec2_response};
use foo_cloud::{ErrorKind, Networks};
use foo_model::network::{
    CidrAssociation, CidrState, Destination, Endpoint, EndpointKind, EndpointState, Interface, Kind,
    NatState, Parts, Peer, Protocol, Route, RouteTarget, Rule, Scope, TableAssociation,
};
use foo_model::{AwsTime, VpcId};
use strum::IntoEnumIterator as _;

const TAGS: &str = "<tagSet><item><key>k</key><value>v</value></item></tagSet>";

#[tokio::test]
async fn a_vpc_with_its_ranges() {
    let state = |state: &str| format!("<state>{state}</state>");
    let item = format!(
        "<vpcId>vpc-1</vpcId><ownerId>123456789012</ownerId><state>available</state>\
         <cidrBlock>10.0.0.0/16</cidrBlock><isDefault>false</isDefault><cidrBlockAssociationSet>\
         <item><cidrBlock>10.0.0.0/16</cidrBlock><associationId>vpc-cidr-assoc-1</associationId>\
         <cidrBlockState>{}</cidrBlockState></item>\
         <item><cidrBlock>100.64.0.0/16</cidrBlock><associationId>vpc-cidr-assoc-2</associationId>\
         <cidrBlockState>{}</cidrBlockState></item></cidrBlockAssociationSet>\
         <ipv6CidrBlockAssociationSet><item><ipv6CidrBlock>2001:db8::/56</ipv6CidrBlock>\
         <associationId>vpc-cidr-assoc-3</associationId><ipv6CidrBlockState>{}</ipv6CidrBlockState></item>\
         <item><associationId>vpc-cidr-assoc-4</associationId><ipv6CidrBlockState>{}</ipv6CidrBlockState></item>\
         </ipv6CidrBlockAssociationSet>{TAGS}",
        state("associated"),
        state("failed"),
        state("associated"),
        state("associating"),
    );
    let (parts, asked) = describe_one(Kind::Vpc, &tagged(), "vpcSet", &item).await;
    assert_eq!(asked["Action"], "DescribeVpcs");
    assert_eq!(
        fields(&asked),
        ["Filter.1.Name=tag-key", "Filter.1.Value.1=infrastructure.foo.com/network", "MaxResults=1000"]
    );
    let vpc = only(parts.vpcs);
    assert_eq!((vpc.id.as_str(), vpc.owner.as_str(), vpc.available), ("vpc-1", "123456789012", true));
    assert_eq!(vpc.cidr, "10.0.0.0/16".parse().unwrap());
    let states: Vec<CidrState> = vpc.cidrs.iter().map(|it| it.state).collect();
    assert_eq!(states, [CidrState::Associated, CidrState::Failed]);
    let ipv6 = CidrAssociation {
        id: "vpc-cidr-assoc-3".into(),
        range: "2001:db8::/56".parse().unwrap(),
        state: CidrState::Associated,
    };
    assert_eq!(vpc.ipv6, [ipv6], "a range is there when it is known");
    assert_eq!((vpc.dns_support, vpc.tags["k"].as_str()), (None, "v"));
}

#[tokio::test]
async fn attributes_of_a_vpc_are_asked_for_one_by_one() {
    let server = Canned::start(|form, _| {
        let response = match form.get("Attribute").map(String::as_str) {
            Some("enableDnsSupport") => "<enableDnsSupport><value>true</value></enableDnsSupport>",
            Some("enableDnsHostnames") if form["VpcId"] == "vpc-2" => {
                return ec2_error(400, "InvalidVpcID.NotFound", "The vpc ID 'vpc-2' does not exist");
            }
            Some(_) => "<enableDnsHostnames><value>false</value></enableDnsHostnames>",
            None => {
                "<vpcSet><item><vpcId>vpc-1</vpcId><cidrBlock>10.0.0.0/16</cidrBlock></item>\
                 <item><vpcId>vpc-2</vpcId><cidrBlock>10.1.0.0/16</cidrBlock></item></vpcSet>"
            }
        };
        ec2_response(&form["Action"], response)
    })
    .await;
    let cloud = server.cloud().await;
    let vpcs = cloud.describe_network(Kind::VpcAttributes, &ids(&["vpc-1", "vpc-2"])).await.unwrap().vpcs;
    let vpc = only(vpcs);
    assert_eq!((vpc.id.as_str(), vpc.dns_support, vpc.dns_hostnames), ("vpc-1", Some(true), Some(false)));
    let refused = cloud.describe_network(Kind::VpcAttributes, &tagged()).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Invalid);
}

#[tokio::test]
async fn a_subnet() {
    let item = format!(
        "<subnetId>subnet-1</subnetId><state>available</state><vpcId>vpc-1</vpcId><cidrBlock>10.0.0.0/20</cidrBlock>\
         <availableIpAddressCount>4091</availableIpAddressCount><availabilityZone>eu-central-1a</availabilityZone>\
         <availabilityZoneId>euc1-az2</availabilityZoneId><mapPublicIpOnLaunch>true</mapPublicIpOnLaunch>\
         <assignIpv6AddressOnCreation>true</assignIpv6AddressOnCreation><ipv6CidrBlockAssociationSet><item>\
         <ipv6CidrBlock>2001:db8::/64</ipv6CidrBlock><associationId>subnet-cidr-assoc-1</associationId>\
         <ipv6CidrBlockState><state>associated</state></ipv6CidrBlockState></item></ipv6CidrBlockAssociationSet>{TAGS}"
    );
    let (parts, asked) = describe_one(Kind::Subnet, &Scope::Vpc("vpc-1".into()), "subnetSet", &item).await;
    assert_eq!(fields(&asked), ["Filter.1.Name=vpc-id", "Filter.1.Value.1=vpc-1", "MaxResults=1000"]);
    let subnet = only(parts.subnets);
    assert_eq!((subnet.zone.as_str(), subnet.zone_id.as_str()), ("eu-central-1a", "euc1-az2"));
    assert_eq!((subnet.free_addresses, subnet.state.as_str()), (4091, "available"));
    assert!(subnet.public_ip_on_launch && subnet.ipv6_on_creation);
    assert_eq!(subnet.ipv6[0].range, "2001:db8::/64".parse().unwrap());
}

#[tokio::test]
async fn gateways_know_the_vpc_that_they_are_attached_to() {
    let attached = |state: &str| {
        format!(
            "<attachmentSet><item><vpcId>vpc-1</vpcId><state>{state}</state></item></attachmentSet>{TAGS}"
        )
    };
    for (state, vpc) in [("available", Some("vpc-1")), ("attaching", Some("vpc-1")), ("detaching", None)] {
        let item = format!("<internetGatewayId>igw-1</internetGatewayId>{}", attached(state));
        let scope = Scope::Vpc("vpc-1".into());
        let (parts, asked) = describe_one(Kind::InternetGateway, &scope, "internetGatewaySet", &item).await;
        assert_eq!(asked["Filter.1.Name"], "attachment.vpc-id");
        assert_eq!(only(parts.internet_gateways).vpc, vpc.map(VpcId::from), "{state}");
    }
    let item =
        format!("<egressOnlyInternetGatewayId>eigw-1</egressOnlyInternetGatewayId>{}", attached("attached"));
    let set = "egressOnlyInternetGatewaySet";
    let (parts, asked) = describe_one(Kind::EgressOnlyGateway, &tagged(), set, &item).await;
    assert_eq!(asked["MaxResults"], "255");
    assert_eq!(only(parts.egress_only_gateways).vpc.as_str(), "vpc-1");
    let (parts, asked) = describe_one(Kind::EgressOnlyGateway, &Scope::Vpc("vpc-2".into()), set, &item).await;
    assert_eq!(fields(&asked), ["MaxResults=255"], "EC2 has no such filter");
    assert!(parts.egress_only_gateways.is_empty());
}

#[tokio::test]
async fn addresses_and_the_nat_gateways_that_use_them() {
    let item = format!(
        "<publicIp>192.0.2.1</publicIp><allocationId>eipalloc-1</allocationId><domain>vpc</domain>\
         <networkInterfaceId>eni-1</networkInterfaceId>{TAGS}"
    );
    let (parts, asked) = describe_one(Kind::Address, &tagged(), "addressesSet", &item).await;
    assert!(!asked.contains_key("MaxResults"), "there are no pages");
    let address = only(parts.addresses);
    assert_eq!((address.ip.as_str(), address.interface), ("192.0.2.1", Some("eni-1".into())));

    let item = format!(
        "<natGatewayId>nat-1</natGatewayId><subnetId>subnet-1</subnetId><vpcId>vpc-1</vpcId><state>failed</state>\
         <createTime>2026-01-01T00:00:00.000Z</createTime><failureCode>Gateway.NotAttached</failureCode>\
         <failureMessage>no gateway</failureMessage><natGatewayAddressSet><item>\
         <allocationId>eipalloc-1</allocationId></item></natGatewayAddressSet>{TAGS}"
    );
    let (parts, asked) = describe_one(Kind::NatGateway, &tagged(), "natGatewaySet", &item).await;
    assert_eq!(asked["Filter.1.Name"], "tag-key");
    let gateway = only(parts.nat_gateways);
    assert_eq!(gateway.state, NatState::Failed);
    assert_eq!(gateway.failure, Some(("Gateway.NotAttached".into(), "no gateway".into())));
    assert_eq!(gateway.allocations, ["eipalloc-1".into()].into());
    assert_eq!(gateway.created, Some(AwsTime::from_millis(1_767_225_600_000)));
}

#[tokio::test]
async fn a_route_table_with_routes_and_associations() {
    let item = format!(
        "<routeTableId>rtb-1</routeTableId><vpcId>vpc-1</vpcId><routeSet>\
         <item><destinationCidrBlock>10.0.0.0/16</destinationCidrBlock><gatewayId>local</gatewayId><state>active</state></item>\
         <item><destinationCidrBlock>0.0.0.0/0</destinationCidrBlock><natGatewayId>nat-1</natGatewayId>\
         <state>blackhole</state></item>\
         <item><destinationIpv6CidrBlock>::/0</destinationIpv6CidrBlock>\
         <egressOnlyInternetGatewayId>eigw-1</egressOnlyInternetGatewayId><state>active</state></item>\
         <item><destinationPrefixListId>pl-1</destinationPrefixListId><gatewayId>vpce-1</gatewayId><state>active</state></item>\
         <item><gatewayId>lgw-1</gatewayId></item>\
         </routeSet><associationSet>\
         <item><routeTableAssociationId>rtbassoc-0</routeTableAssociationId><main>true</main></item>\
         <item><routeTableAssociationId>rtbassoc-1</routeTableAssociationId><subnetId>subnet-1</subnetId><main>false</main>\
         <associationState><state>associated</state></associationState></item>\
         <item><routeTableAssociationId>rtbassoc-2</routeTableAssociationId><subnetId>subnet-2</subnetId><main>false</main>\
         <associationState><state>disassociated</state></associationState></item>\
         </associationSet>{TAGS}"
    );
    let (parts, asked) = describe_one(Kind::RouteTable, &tagged(), "routeTableSet", &item).await;
    assert_eq!(asked["MaxResults"], "100");
    let table = only(parts.route_tables);
    let route = |destination, target, blackhole| Route { destination, target, blackhole };
    assert_eq!(
        table.routes,
        [
            route(Destination::V4("10.0.0.0/16".parse().unwrap()), RouteTarget::Local, false),
            route(
                Destination::V4("0.0.0.0/0".parse().unwrap()),
                RouteTarget::NatGateway("nat-1".into()),
                true
            ),
            route(
                Destination::V6("::/0".parse().unwrap()),
                RouteTarget::EgressOnlyGateway("eigw-1".into()),
                false
            ),
            route(Destination::Prefixes("pl-1".into()), RouteTarget::Endpoint("vpce-1".into()), false),
        ]
    );
    assert!(table.main);
    let association = TableAssociation { id: "rtbassoc-1".into(), subnet: "subnet-1".into() };
    assert_eq!(table.associations, [association]);
}

#[tokio::test]
async fn a_security_group_has_one_rule_per_peer() {
    let item = format!(
        "<groupId>sg-1</groupId><vpcId>vpc-1</vpcId><groupName>node</groupName><groupDescription>nodes</groupDescription>\
         <ipPermissions><item><ipProtocol>tcp</ipProtocol><fromPort>10250</fromPort><toPort>10250</toPort>\
         <groups><item><groupId>sg-2</groupId><userId>123456789012</userId><description>kubelet</description></item></groups>\
         <ipRanges><item><cidrIp>10.0.0.0/16</cidrIp></item></ipRanges></item></ipPermissions>\
         <ipPermissionsEgress><item><ipProtocol>-1</ipProtocol><ipRanges><item><cidrIp>0.0.0.0/0</cidrIp></item></ipRanges>\
         <ipv6Ranges><item><cidrIpv6>::/0</cidrIpv6></item></ipv6Ranges></item></ipPermissionsEgress>{TAGS}"
    );
    let (parts, _) = describe_one(Kind::SecurityGroup, &tagged(), "securityGroupInfo", &item).await;
    let group = only(parts.security_groups);
    assert_eq!((group.name.as_str(), group.description.as_str()), ("node", "nodes"));
    let rule = |protocol, peer, description: &str| Rule { protocol, peer, description: description.into() };
    let kubelet = Protocol::Tcp(10250, 10250);
    let range = Peer::V4("10.0.0.0/16".parse().unwrap());
    assert_eq!(
        group.ingress,
        [rule(kubelet, range, ""), rule(kubelet, Peer::Group("sg-2".into()), "kubelet")].into()
    );
    let (v4, v6) = (Peer::V4("0.0.0.0/0".parse().unwrap()), Peer::V6("::/0".parse().unwrap()));
    assert_eq!(group.egress, [rule(Protocol::All, v4, ""), rule(Protocol::All, v6, "")].into());
}

#[tokio::test]
async fn endpoints_of_both_types_and_their_failures() {
    let item = format!(
        "<vpcEndpointId>vpce-1</vpcEndpointId><vpcEndpointType>Interface</vpcEndpointType><vpcId>vpc-1</vpcId>\
         <serviceName>com.amazonaws.eu-central-1.ec2</serviceName><state>failed</state><subnetIdSet>\
         <item>subnet-1</item></subnetIdSet><groupSet><item><groupId>sg-1</groupId></item></groupSet>\
         <privateDnsEnabled>true</privateDnsEnabled>\
         <lastError><code>c</code><message>no addresses</message></lastError>{TAGS}"
    );
    let (parts, _) = describe_one(Kind::Endpoint, &tagged(), "vpcEndpointSet", &item).await;
    let kind = EndpointKind::Interface {
        subnets: ["subnet-1".into()].into(),
        groups: ["sg-1".into()].into(),
        private_dns: true,
    };
    let expected = Endpoint {
        id: "vpce-1".into(),
        vpc: "vpc-1".into(),
        service: "com.amazonaws.eu-central-1.ec2".into(),
        kind,
        state: EndpointState::Failed,
        failure: Some("no addresses".into()),
        tags: [("k".to_owned(), "v".to_owned())].into(),
    };
    assert_eq!(only(parts.endpoints), expected);

    let item = "<vpcEndpointId>vpce-2</vpcEndpointId><vpcEndpointType>Gateway</vpcEndpointType><vpcId>vpc-1</vpcId>\
                <serviceName>com.amazonaws.eu-central-1.s3</serviceName><state>available</state>\
                <routeTableIdSet><item>rtb-1</item></routeTableIdSet>";
    let (parts, _) = describe_one(Kind::Endpoint, &tagged(), "vpcEndpointSet", item).await;
    let endpoint = only(parts.endpoints);
    assert_eq!(endpoint.kind, EndpointKind::Gateway { tables: ["rtb-1".into()].into() });
    assert_eq!(endpoint.state, EndpointState::Available);
}

#[tokio::test]
async fn an_interface_of_a_load_balancer() {
    let item = format!(
        "<networkInterfaceId>eni-1</networkInterfaceId><subnetId>subnet-1</subnetId><vpcId>vpc-1</vpcId>\
         <description>ELB app/web/1</description><requesterManaged>true</requesterManaged><status>in-use</status>\
         <interfaceType>interface</interfaceType><privateIpAddress>10.0.0.9</privateIpAddress>\
         <groupSet><item><groupId>sg-1</groupId></item></groupSet>\
         <attachment><attachmentId>eni-attach-1</attachmentId></attachment>\
         <association><publicIp>192.0.2.9</publicIp></association>{TAGS}"
    );
    let (parts, _) =
        describe_one(Kind::Interface, &Scope::Vpc("vpc-1".into()), "networkInterfaceSet", &item).await;
    let expected = Interface {
        id: "eni-1".into(),
        vpc: "vpc-1".into(),
        subnet: "subnet-1".into(),
        groups: ["sg-1".into()].into(),
        description: "ELB app/web/1".into(),
        interface_type: "interface".into(),
        requester_managed: true,
        in_use: true,
        instance: None,
        private_ip: "10.0.0.9".into(),
        public_ip: Some("192.0.2.9".into()),
        tags: [("k".to_owned(), "v".to_owned())].into(),
    };
    assert_eq!(only(parts.interfaces), expected);
}

#[tokio::test]
async fn zones_of_the_region() {
    let item = "<zoneName>eu-central-1a</zoneName><zoneId>euc1-az2</zoneId><zoneState>available</zoneState>\
                <zoneType>availability-zone</zoneType>";
    let (parts, asked) = describe_one(Kind::Zone, &tagged(), "availabilityZoneInfo", item).await;
    assert_eq!(fields(&asked), Vec::<String>::new());
    let zone = only(parts.zones);
    assert!(zone.available && zone.is_availability_zone && zone.id == "euc1-az2");
}

#[tokio::test]
async fn all_pages_are_read() {
    let server = Canned::start(|form, _| {
        let subnet = |number: u32| {
            format!(
                "<subnetSet><item><subnetId>subnet-{number}</subnetId><vpcId>vpc-1</vpcId><cidrBlock>10.0.{number}.0/24</cidrBlock>\
                 <availabilityZone>a</availabilityZone><availableIpAddressCount>9</availableIpAddressCount></item></subnetSet>"
            )
        };
        let page = match form.get("NextToken").map(String::as_str) {
            None => format!("{}<nextToken>more</nextToken>", subnet(1)),
            Some(_) => subnet(2),
        };
        ec2_response("DescribeSubnets", &page)
    })
    .await;
    let parts = server.cloud().await.describe_network(Kind::Subnet, &tagged()).await.unwrap();
    assert_eq!(parts.subnets.len(), 2);
    assert_eq!(server.asked()[1]["NextToken"], "more");
}

#[tokio::test]
async fn unknown_ids_are_left_out_and_no_ids_make_no_call() {
    for (code, message) in [
        ("InvalidVpcID.NotFound", "The vpc ID 'vpc-0' does not exist"),
        ("InvalidVpcID.Malformed", "Invalid id"),
    ] {
        let server = Canned::start(move |form, _| {
            let asked: Vec<&String> =
                form.iter().filter(|(key, _)| key.starts_with("VpcId.")).map(|(_, id)| id).collect();
            if asked.iter().any(|id| *id == "vpc-0") {
                return ec2_error(400, code, message);
            }
            let vpc =
                |id: &&String| format!("<item><vpcId>{id}</vpcId><cidrBlock>10.0.0.0/16</cidrBlock></item>");
            let vpcs: String = asked.iter().map(vpc).collect();
            ec2_response("DescribeVpcs", &format!("<vpcSet>{vpcs}</vpcSet>"))
        })
        .await;
        let cloud = server.cloud().await;
        let parts = cloud.describe_network(Kind::Vpc, &ids(&["vpc-0", "vpc-1", "vpc-2"])).await.unwrap();
        let found: Vec<&str> = parts.vpcs.keys().map(VpcId::as_str).collect();
        assert_eq!(found, ["vpc-1", "vpc-2"], "{code}");
        assert!(server.asked().iter().all(|form| !form.contains_key("MaxResults")));
        let before = server.asked().len();
        assert_eq!(cloud.describe_network(Kind::Vpc, &ids(&[])).await, Ok(Parts::default()));
        assert_eq!(server.asked().len(), before);
    }
}

/// One VPC without its range among others.
#[tokio::test]
async fn an_odd_part_affects_only_those_who_requested_it() {
    let vpcs = "<vpcSet><item><vpcId>vpc-1</vpcId></item>\
                <item><vpcId>vpc-2</vpcId><cidrBlock>10.0.0.0/16</cidrBlock></item></vpcSet>";
    let server = Canned::always(move || ec2_response("DescribeVpcs", vpcs)).await;
    let cloud = server.cloud().await;
    let swept = cloud.describe_network(Kind::Vpc, &tagged()).await.unwrap();
    assert_eq!(only(swept.vpcs).id.as_str(), "vpc-2");
    let asked = cloud.describe_network(Kind::Vpc, &ids(&["vpc-1"])).await.unwrap_err();
    assert_eq!(
        (asked.kind, asked.message.as_str()),
        (ErrorKind::Internal, "the response has no usable cidrBlock")
    );
}

/// Every kind is asked for by the operation that names it in errors, metrics and limits.
#[tokio::test]
async fn a_failed_look_names_its_operation() {
    let server = Canned::always(|| ec2_error(403, "UnauthorizedOperation", "no")).await;
    let cloud = server.cloud().await;
    for kind in Kind::iter() {
        let scope = match kind {
            Kind::VpcAttributes => ids(&["vpc-1"]),
            _ => Scope::Vpc("vpc-1".into()),
        };
        let error = cloud.describe_network(kind, &scope).await.unwrap_err();
        let expected = match kind {
            // The VPCs are asked for first.
            Kind::VpcAttributes => Kind::Vpc,
            other => other,
        };
        assert_eq!((error.kind, error.operation), (ErrorKind::Denied, expected.operation()), "{kind:?}");
    }
}
