//! Every change that a request can ask for, as SDKs write it.

use super::{Around, change};
use crate::core::error::{AwsError, AwsResult};
use crate::request::params::Params;
use crate::wire::ec2::network::ACTIONS;
use foo_model::Zone;
use foo_model::network::{
    Change, Destination, DnsAttribute, EndpointChange, EndpointKind, Peer, Protocol, RouteTarget, Rule,
    SubnetAttribute, Tags,
};
use std::collections::{BTreeMap, BTreeSet};

fn parse(form: &str) -> AwsResult<Change> {
    let params = Params::parse(form.as_bytes()).expect("well formed");
    let zones = BTreeMap::from([(Zone::from("eu-central-1a"), "euc1-az1".to_owned())]);
    let no_rules =
        |_: &Params| -> AwsResult<BTreeSet<Rule>> { Ok(BTreeSet::from([everything("10.0.0.0/8")])) };
    let around = Around { zones: &zones, token: "fresh".to_owned(), rules: &no_rules };
    change(params.required("Action")?, &params, &around)
}

fn refusal(form: &str) -> AwsError {
    parse(form).expect_err(form)
}

fn code(form: &str) -> String {
    refusal(form).code
}

fn tags() -> Tags {
    Tags::from([("Name".to_owned(), "a b".to_owned())])
}

fn tagged(kind: &str) -> String {
    format!(
        "&TagSpecification.1.ResourceType={kind}&TagSpecification.1.Tag.1.Key=Name&TagSpecification.1.Tag.1.Value=a+b"
    )
}

fn everything(range: &str) -> Rule {
    Rule {
        protocol: Protocol::All,
        peer: Peer::V4(range.parse().expect("a range")),
        description: String::new(),
    }
}

fn set<T: Ord + for<'a> From<&'a str>>(id: &str) -> BTreeSet<T> {
    BTreeSet::from([T::from(id)])
}

/// Requests about VPCs and subnets.
fn of_ranges() -> Vec<(String, Change)> {
    let (vpc, subnet) = (|| "vpc-1".into(), || "subnet-1".into());
    vec![
        (
            format!(
                "Action=CreateVpc&CidrBlock=10.0.0.7/16&AmazonProvidedIpv6CidrBlock=true{}",
                tagged("vpc")
            ),
            Change::CreateVpc { cidr: "10.0.0.0/16".parse().expect("a range"), ipv6: true, tags: tags() },
        ),
        (
            "Action=ModifyVpcAttribute&VpcId=vpc-1&EnableDnsHostnames.Value=true".to_owned(),
            Change::ModifyVpcAttribute { vpc: vpc(), attribute: DnsAttribute::Hostnames, enabled: true },
        ),
        (
            "Action=ModifyVpcAttribute&VpcId=vpc-1&EnableDnsSupport.Value=false".to_owned(),
            Change::ModifyVpcAttribute { vpc: vpc(), attribute: DnsAttribute::Support, enabled: false },
        ),
        (
            "Action=AssociateVpcCidrBlock&VpcId=vpc-1&CidrBlock=100.64.0.0/16".to_owned(),
            Change::AssociateVpcCidrBlock { vpc: vpc(), cidr: "100.64.0.0/16".parse().expect("a range") },
        ),
        (
            "Action=AssociateVpcCidrBlock&VpcId=vpc-1&AmazonProvidedIpv6CidrBlock=true".to_owned(),
            Change::AssociateVpcIpv6 { vpc: vpc() },
        ),
        (
            "Action=DisassociateVpcCidrBlock&AssociationId=vpc-cidr-assoc-1".to_owned(),
            Change::DisassociateVpcCidrBlock { association: "vpc-cidr-assoc-1".into() },
        ),
        ("Action=DeleteVpc&VpcId=vpc-1".to_owned(), Change::DeleteVpc { vpc: vpc() }),
        (
            format!(
                "Action=CreateSubnet&VpcId=vpc-1&AvailabilityZone=eu-central-1b&CidrBlock=10.0.1.0/24\
                 &Ipv6CidrBlock=2001:db8::/64{}",
                tagged("subnet")
            ),
            Change::CreateSubnet {
                vpc: vpc(),
                zone: "eu-central-1b".into(),
                cidr: "10.0.1.0/24".parse().expect("a range"),
                ipv6: Some("2001:db8::/64".parse().expect("a range")),
                tags: tags(),
            },
        ),
        (
            "Action=CreateSubnet&VpcId=vpc-1&AvailabilityZoneId=euc1-az1&CidrBlock=10.0.1.0/24".to_owned(),
            Change::CreateSubnet {
                vpc: vpc(),
                zone: "eu-central-1a".into(),
                cidr: "10.0.1.0/24".parse().expect("a range"),
                ipv6: None,
                tags: Tags::new(),
            },
        ),
        (
            "Action=ModifySubnetAttribute&SubnetId=subnet-1&MapPublicIpOnLaunch.Value=true".to_owned(),
            Change::ModifySubnetAttribute {
                subnet: subnet(),
                attribute: SubnetAttribute::PublicIpOnLaunch,
                enabled: true,
            },
        ),
        (
            "Action=AssociateSubnetCidrBlock&SubnetId=subnet-1&Ipv6CidrBlock=2001:db8::/64".to_owned(),
            Change::AssociateSubnetCidrBlock {
                subnet: subnet(),
                ipv6: "2001:db8::/64".parse().expect("a range"),
            },
        ),
        ("Action=DeleteSubnet&SubnetId=subnet-1".to_owned(), Change::DeleteSubnet { subnet: subnet() }),
    ]
}

/// Requests about gateways, addresses and interfaces.
fn of_gateways() -> Vec<(String, Change)> {
    let (gateway, vpc) = (|| "igw-1".into(), || "vpc-1".into());
    vec![
        (
            format!("Action=CreateInternetGateway{}", tagged("internet-gateway")),
            Change::CreateInternetGateway { tags: tags() },
        ),
        (
            "Action=AttachInternetGateway&InternetGatewayId=igw-1&VpcId=vpc-1".to_owned(),
            Change::AttachInternetGateway { gateway: gateway(), vpc: vpc() },
        ),
        (
            "Action=DetachInternetGateway&InternetGatewayId=igw-1&VpcId=vpc-1".to_owned(),
            Change::DetachInternetGateway { gateway: gateway(), vpc: vpc() },
        ),
        (
            "Action=DeleteInternetGateway&InternetGatewayId=igw-1".to_owned(),
            Change::DeleteInternetGateway { gateway: gateway() },
        ),
        (
            format!(
                "Action=CreateEgressOnlyInternetGateway&VpcId=vpc-1&ClientToken=t{}",
                tagged("egress-only-internet-gateway")
            ),
            Change::CreateEgressOnlyInternetGateway { vpc: vpc(), tags: tags(), token: "t".to_owned() },
        ),
        (
            "Action=DeleteEgressOnlyInternetGateway&EgressOnlyInternetGatewayId=eigw-1".to_owned(),
            Change::DeleteEgressOnlyInternetGateway { gateway: "eigw-1".into() },
        ),
        (
            format!("Action=AllocateAddress&Domain=vpc{}", tagged("elastic-ip")),
            Change::AllocateAddress { tags: tags() },
        ),
        (
            "Action=ReleaseAddress&AllocationId=eipalloc-1".to_owned(),
            Change::ReleaseAddress { allocation: "eipalloc-1".into() },
        ),
        (
            format!(
                "Action=CreateNatGateway&SubnetId=subnet-1&AllocationId=eipalloc-1&ConnectivityType=public{}",
                tagged("natgateway")
            ),
            Change::CreateNatGateway {
                subnet: "subnet-1".into(),
                allocation: "eipalloc-1".into(),
                tags: tags(),
                token: "fresh".to_owned(),
            },
        ),
        (
            "Action=DeleteNatGateway&NatGatewayId=nat-1".to_owned(),
            Change::DeleteNatGateway { gateway: "nat-1".into() },
        ),
        (
            "Action=DeleteNetworkInterface&NetworkInterfaceId=eni-1".to_owned(),
            Change::DeleteNetworkInterface { interface: "eni-1".into() },
        ),
    ]
}

/// Requests about route tables.
fn of_tables() -> Vec<(String, Change)> {
    let table = || "rtb-1".into();
    let everywhere = || Destination::V4("0.0.0.0/0".parse().expect("a range"));
    vec![
        (
            format!("Action=CreateRouteTable&VpcId=vpc-1&ClientToken=t{}", tagged("route-table")),
            Change::CreateRouteTable { vpc: "vpc-1".into(), tags: tags(), token: "t".to_owned() },
        ),
        (
            "Action=CreateRoute&RouteTableId=rtb-1&DestinationCidrBlock=0.0.0.0/0&NatGatewayId=nat-1".to_owned(),
            Change::CreateRoute {
                table: table(),
                destination: everywhere(),
                target: RouteTarget::NatGateway("nat-1".into()),
            },
        ),
        (
            "Action=CreateRoute&RouteTableId=rtb-1&DestinationIpv6CidrBlock=::/0&EgressOnlyInternetGatewayId=eigw-1"
                .to_owned(),
            Change::CreateRoute {
                table: table(),
                destination: Destination::V6("::/0".parse().expect("a range")),
                target: RouteTarget::EgressOnlyGateway("eigw-1".into()),
            },
        ),
        (
            "Action=ReplaceRoute&RouteTableId=rtb-1&DestinationCidrBlock=0.0.0.0/0&GatewayId=igw-1".to_owned(),
            Change::ReplaceRoute {
                table: table(),
                destination: everywhere(),
                target: RouteTarget::InternetGateway("igw-1".into()),
            },
        ),
        (
            "Action=DeleteRoute&RouteTableId=rtb-1&DestinationCidrBlock=0.0.0.0/0".to_owned(),
            Change::DeleteRoute { table: table(), destination: everywhere() },
        ),
        (
            "Action=AssociateRouteTable&RouteTableId=rtb-1&SubnetId=subnet-1".to_owned(),
            Change::AssociateRouteTable { table: table(), subnet: "subnet-1".into() },
        ),
        (
            "Action=ReplaceRouteTableAssociation&AssociationId=rtbassoc-1&RouteTableId=rtb-1".to_owned(),
            Change::ReplaceRouteTableAssociation { association: "rtbassoc-1".into(), table: table() },
        ),
        (
            "Action=DisassociateRouteTable&AssociationId=rtbassoc-1".to_owned(),
            Change::DisassociateRouteTable { association: "rtbassoc-1".into() },
        ),
        ("Action=DeleteRouteTable&RouteTableId=rtb-1".to_owned(), Change::DeleteRouteTable { table: table() }),
    ]
}

/// Two permissions, the first with a peer of every kind.
const PERMISSIONS: &str = "&IpPermissions.1.IpProtocol=tcp&IpPermissions.1.FromPort=443&IpPermissions.1.ToPort=444\
    &IpPermissions.1.IpRanges.1.CidrIp=10.1.2.3/8&IpPermissions.1.IpRanges.1.Description=inside\
    &IpPermissions.1.Ipv6Ranges.1.CidrIpv6=2001:db8::/32&IpPermissions.1.Groups.1.GroupId=sg-2\
    &IpPermissions.1.PrefixListIds.1.PrefixListId=pl-1\
    &IpPermissions.2.IpProtocol=-1&IpPermissions.2.IpRanges.1.CidrIp=10.0.0.0/8";

fn permissions() -> BTreeSet<Rule> {
    let rule = |peer, description: &str| Rule {
        protocol: Protocol::Tcp(443, 444),
        peer,
        description: description.to_owned(),
    };
    BTreeSet::from([
        rule(Peer::V4("10.0.0.0/8".parse().expect("a range")), "inside"),
        rule(Peer::V6("2001:db8::/32".parse().expect("a range")), ""),
        rule(Peer::Group("sg-2".into()), ""),
        rule(Peer::Prefixes("pl-1".into()), ""),
        everything("10.0.0.0/8"),
    ])
}

/// Requests about security groups.
fn of_groups() -> Vec<(String, Change)> {
    let group = || "sg-1".into();
    vec![
        (
            format!(
                "Action=CreateSecurityGroup&VpcId=vpc-1&GroupName=node&GroupDescription=nodes{}",
                tagged("security-group")
            ),
            Change::CreateSecurityGroup {
                vpc: "vpc-1".into(),
                name: "node".to_owned(),
                description: "nodes".to_owned(),
                tags: tags(),
            },
        ),
        (
            format!("Action=AuthorizeSecurityGroupIngress&GroupId=sg-1{PERMISSIONS}"),
            Change::AuthorizeSecurityGroupIngress { group: group(), rules: permissions() },
        ),
        (
            format!("Action=AuthorizeSecurityGroupEgress&GroupId=sg-1{PERMISSIONS}"),
            Change::AuthorizeSecurityGroupEgress { group: group(), rules: permissions() },
        ),
        (
            format!("Action=RevokeSecurityGroupIngress&GroupId=sg-1{PERMISSIONS}"),
            Change::RevokeSecurityGroupIngress { group: group(), rules: permissions() },
        ),
        (
            "Action=RevokeSecurityGroupEgress&GroupId=sg-1&SecurityGroupRuleId.1=sgr-1".to_owned(),
            Change::RevokeSecurityGroupEgress {
                group: group(),
                rules: BTreeSet::from([everything("10.0.0.0/8")]),
            },
        ),
        (
            format!("Action=UpdateSecurityGroupRuleDescriptionsIngress&GroupId=sg-1{PERMISSIONS}"),
            Change::UpdateSecurityGroupRuleDescriptionsIngress { group: group(), rules: permissions() },
        ),
        (
            "Action=DeleteSecurityGroup&GroupId=sg-1".to_owned(),
            Change::DeleteSecurityGroup { group: group() },
        ),
    ]
}

/// Requests about endpoints.
fn of_endpoints() -> Vec<(String, Change)> {
    let service = || "com.amazonaws.eu-central-1.s3".to_owned();
    let ecr = || "com.amazonaws.eu-central-1.ecr.api".to_owned();
    vec![
        (
            format!(
                "Action=CreateVpcEndpoint&VpcId=vpc-1&ServiceName={}&RouteTableId.1=rtb-1&ClientToken=t{}",
                service(),
                tagged("vpc-endpoint")
            ),
            Change::CreateVpcEndpoint {
                vpc: "vpc-1".into(),
                service: service(),
                kind: EndpointKind::Gateway { tables: set("rtb-1") },
                tags: tags(),
                token: "t".to_owned(),
            },
        ),
        (
            format!(
                "Action=CreateVpcEndpoint&VpcId=vpc-1&ServiceName={}&VpcEndpointType=Interface&SubnetId.1=subnet-1\
                 &SecurityGroupId.1=sg-1&PrivateDnsEnabled=false&ClientToken=t",
                ecr()
            ),
            Change::CreateVpcEndpoint {
                vpc: "vpc-1".into(),
                service: ecr(),
                kind: EndpointKind::Interface {
                    subnets: set("subnet-1"),
                    groups: set("sg-1"),
                    private_dns: false,
                },
                tags: Tags::new(),
                token: "t".to_owned(),
            },
        ),
        (
            "Action=ModifyVpcEndpoint&VpcEndpointId=vpce-1&AddRouteTableId.1=rtb-1&RemoveRouteTableId.1=rtb-2\
             &AddSubnetId.1=subnet-1&RemoveSubnetId.1=subnet-2&AddSecurityGroupId.1=sg-1&RemoveSecurityGroupId.1=sg-2\
             &PrivateDnsEnabled=true"
                .to_owned(),
            Change::ModifyVpcEndpoint {
                endpoint: "vpce-1".into(),
                change: EndpointChange {
                    add_tables: set("rtb-1"),
                    remove_tables: set("rtb-2"),
                    add_subnets: set("subnet-1"),
                    remove_subnets: set("subnet-2"),
                    add_groups: set("sg-1"),
                    remove_groups: set("sg-2"),
                    private_dns: Some(true),
                },
            },
        ),
        (
            "Action=DeleteVpcEndpoints&VpcEndpointId.1=vpce-1".to_owned(),
            Change::DeleteVpcEndpoints { endpoints: set("vpce-1") },
        ),
    ]
}

#[test]
fn every_change_has_its_request() {
    let all = [of_ranges(), of_gateways(), of_tables(), of_groups(), of_endpoints()].concat();
    let mut seen = BTreeSet::new();
    for (form, expected) in all {
        let found = parse(&form).unwrap_or_else(|error| panic!("{form}: {error}"));
        assert_eq!(found, expected, "{form}");
        assert!(form.starts_with(&format!("Action={}&", found.operation())), "{form}");
        seen.insert(found.operation().name());
    }
    let changes = ACTIONS.iter().map(|(name, _)| *name).filter(|name| !name.starts_with("Describe"));
    for name in changes {
        assert!(seen.contains(name), "no request of {name}");
    }
}

#[test]
fn what_is_missing_malformed_or_not_simulated_is_refused() {
    for (form, expected) in [
        ("Action=CreateVpc", "MissingParameter"),
        ("Action=CreateVpc&CidrBlock=ten", "InvalidParameterValue"),
        ("Action=CreateVpc&CidrBlock=10.0.0.0/16&Ipv6Pool=x", "UnknownParameter"),
        ("Action=CreateVpc&CidrBlock=10.0.0.0/16&InstanceTenancy=dedicated", "UnsupportedOperation"),
        (
            "Action=ModifyVpcAttribute&VpcId=vpc-1&EnableDnsSupport.Value=true&EnableDnsHostnames.Value=true",
            "InvalidParameterCombination",
        ),
        ("Action=ModifyVpcAttribute&VpcId=vpc-1", "MissingParameter"),
        (
            "Action=CreateSubnet&VpcId=vpc-1&CidrBlock=10.0.0.0/24&AvailabilityZoneId=x",
            "InvalidParameterValue",
        ),
        ("Action=CreateRoute&RouteTableId=rtb-1&GatewayId=igw-1", "MissingParameter"),
        ("Action=CreateRoute&RouteTableId=rtb-1&DestinationCidrBlock=0.0.0.0/0", "MissingParameter"),
        (
            "Action=CreateRoute&RouteTableId=rtb-1&DestinationCidrBlock=0.0.0.0/0&GatewayId=igw-1&NatGatewayId=nat-1",
            "InvalidParameterCombination",
        ),
        (
            "Action=CreateNatGateway&SubnetId=subnet-1&AllocationId=eipalloc-1&ConnectivityType=private",
            "UnsupportedOperation",
        ),
        ("Action=AuthorizeSecurityGroupIngress&GroupId=sg-1", "MissingParameter"),
        ("Action=AuthorizeSecurityGroupIngress&GroupId=sg-1&SecurityGroupRuleId.1=sgr-1", "UnknownParameter"),
        (
            "Action=CreateVpcEndpoint&VpcId=vpc-1&ServiceName=s&VpcEndpointType=GatewayLoadBalancer",
            "UnsupportedOperation",
        ),
        ("Action=CreateVpcEndpoint&VpcId=vpc-1&ServiceName=s&SubnetId.1=subnet-1", "InvalidParameter"),
        ("Action=DeleteVpcEndpoints", "MissingParameter"),
        (
            "Action=CreateInternetGateway&TagSpecification.1.ResourceType=vpc&TagSpecification.1.Tag.1.Key=k",
            "InvalidParameterValue",
        ),
    ] {
        assert_eq!(code(form), expected, "{form}");
    }
}

#[test]
fn ports_and_protocols_are_those_of_ec2() {
    let rule = |protocol: &str| {
        let form = format!(
            "Action=AuthorizeSecurityGroupIngress&GroupId=sg-1&IpPermissions.1.IpRanges.1.CidrIp=10.0.0.0/8{protocol}"
        );
        parse(&form).map(|change| match change {
            Change::AuthorizeSecurityGroupIngress { rules, .. } => {
                rules.into_iter().next().map(|it| it.protocol)
            }
            other => panic!("{other:?}"),
        })
    };
    let ports = |name: &str, from: &str, to: &str| {
        rule(&format!(
            "&IpPermissions.1.IpProtocol={name}&IpPermissions.1.FromPort={from}&IpPermissions.1.ToPort={to}"
        ))
    };
    assert_eq!(ports("6", "22", "22"), Ok(Some(Protocol::Tcp(22, 22))));
    assert_eq!(ports("udp", "0", "65535"), Ok(Some(Protocol::Udp(0, 65_535))));
    assert_eq!(ports("icmp", "-1", "-1"), Ok(Some(Protocol::Icmp)));
    assert_eq!(ports("icmp", "8", "0"), Ok(Some(Protocol::Other(1, Some((8, 0))))));
    assert_eq!(rule("&IpPermissions.1.IpProtocol=50"), Ok(Some(Protocol::Other(50, None))));
    let refused = [
        ports("tcp", "2", "1"),
        ports("tcp", "0", "65536"),
        rule("&IpPermissions.1.IpProtocol=tcp"),
        rule("&IpPermissions.1.IpProtocol=sctp-ish"),
    ];
    for refused in refused {
        assert_eq!(refused.expect_err("refused").code, "InvalidParameterValue");
    }
    let text =
        refusal("Action=AuthorizeSecurityGroupIngress&GroupId=sg-1&IpProtocol=tcp&CidrIp=10.0.0.0/8").message;
    assert!(text.contains("Must specify both from and to ports with TCP/UDP."), "{text}");
}
