//! Networks in EC2's query protocol: made, described and taken down as SDKs do it.

use super::scene::REGION;
use crate::wire::{WireRequest, WireResponse, respond};
use crate::{Simulator, SimulatorConfig};
use foo_model::Timestamp;
use serde_json::json;
use std::time::Duration;

/// An account with an empty region.
struct Aws {
    sim: Simulator,
}

impl Aws {
    fn new() -> Self {
        let sim = Simulator::new(SimulatorConfig::stepped());
        sim.region(REGION).empty_network().expect("the region exists");
        Self { sim }
    }

    async fn ask(&self, service: &str, form: &str) -> (u16, String) {
        let authorization =
            format!("AWS4-HMAC-SHA256 Credential=someone/20260101/{REGION}/{service}/aws4_request");
        let request = WireRequest {
            authorization: Some(&authorization),
            query: "",
            body: form.as_bytes(),
            received: Timestamp(0),
        };
        match respond(&self.sim.world, request).await {
            WireResponse::Xml { status, body, .. } => (status, body),
            _ => panic!("no complete response"),
        }
    }

    /// A call that succeeds.
    async fn ec2(&self, form: &str) -> String {
        let (status, body) = self.ask("ec2", form).await;
        assert_eq!(status, 200, "{form}: {body}");
        body
    }

    /// A call that makes something: what stands in this element.
    async fn made(&self, form: &str, element: &str) -> String {
        let body = self.ec2(form).await;
        text(&body, element).unwrap_or_else(|| panic!("no {element} in {body}")).to_owned()
    }

    /// The code of a refusal.
    async fn refused(&self, form: &str) -> String {
        let (status, body) = self.ask("ec2", form).await;
        assert_eq!(status, 400, "{form}: {body}");
        text(&body, "Code").expect("a code").to_owned()
    }

    async fn balancing(&self, version: &str, form: &str) -> (u16, String) {
        self.ask("elasticloadbalancing", &format!("{form}&Version={version}")).await
    }

    fn wait(&self, seconds: u64) {
        self.sim.step(Duration::from_secs(seconds));
    }
}

/// The first element of this name.
fn text<'a>(body: &'a str, element: &str) -> Option<&'a str> {
    body.split(&format!("<{element}>")).nth(1)?.split(&format!("</{element}>")).next()
}

/// `TagSpecification` with one tag.
fn tagged(kind: &str) -> String {
    format!(
        "&TagSpecification.1.ResourceType={kind}&TagSpecification.1.Tag.1.Key=network&TagSpecification.1.Tag.1.Value=n1"
    )
}

const BY_MANAGER: &str = "&Filter.1.Name=tag:network&Filter.1.Value.1=n1";

/// A public subnet with a NAT gateway, and what it stands in.
struct Built {
    vpc: String,
    subnet: String,
    gateway: String,
    allocation: String,
    nat: String,
    table: String,
    association: String,
}

async fn build(aws: &Aws) -> Built {
    let vpc = aws.made(&format!("Action=CreateVpc&CidrBlock=10.0.0.0/16{}", tagged("vpc")), "vpcId").await;
    aws.wait(10);
    let subnet = format!(
        "Action=CreateSubnet&VpcId={vpc}&CidrBlock=10.0.0.0/24&AvailabilityZone={REGION}a{}",
        tagged("subnet")
    );
    let subnet = aws.made(&subnet, "subnetId").await;
    let gateway = format!("Action=CreateInternetGateway{}", tagged("internet-gateway"));
    let gateway = aws.made(&gateway, "internetGatewayId").await;
    aws.ec2(&format!("Action=AttachInternetGateway&InternetGatewayId={gateway}&VpcId={vpc}")).await;
    let allocation =
        aws.made(&format!("Action=AllocateAddress&Domain=vpc{}", tagged("elastic-ip")), "allocationId").await;
    aws.wait(10);
    let nat = format!(
        "Action=CreateNatGateway&SubnetId={subnet}&AllocationId={allocation}&ClientToken=t1{}",
        tagged("natgateway")
    );
    let nat = aws.made(&nat, "natGatewayId").await;
    let table = format!("Action=CreateRouteTable&VpcId={vpc}&ClientToken=t2{}", tagged("route-table"));
    let table = aws.made(&table, "routeTableId").await;
    let route =
        format!("Action=CreateRoute&RouteTableId={table}&DestinationCidrBlock=0.0.0.0/0&GatewayId={gateway}");
    aws.ec2(&route).await;
    let association = format!("Action=AssociateRouteTable&RouteTableId={table}&SubnetId={subnet}");
    let association = aws.made(&association, "associationId").await;
    Built { vpc, subnet, gateway, allocation, nat, table, association }
}

/// Everything that was made is described with its tags, its states and what it belongs to.
#[tokio::test]
async fn a_network_is_created_and_described() {
    let aws = Aws::new();
    let built = build(&aws).await;
    let vpcs = aws.ec2(&format!("Action=DescribeVpcs{BY_MANAGER}")).await;
    assert!(vpcs.contains(&format!("<vpcId>{}</vpcId>", built.vpc)), "{vpcs}");
    assert!(vpcs.contains("<cidrBlockState><state>associated</state></cidrBlockState>"), "{vpcs}");
    assert!(vpcs.contains("<tagSet><item><key>network</key><value>n1</value></item></tagSet>"), "{vpcs}");
    let pending = aws.ec2(&format!("Action=DescribeNatGateways{BY_MANAGER}")).await;
    assert_eq!(text(&pending, "state"), Some("pending"), "{pending}");
    aws.wait(600);
    let nat = aws.ec2(&format!("Action=DescribeNatGateways&NatGatewayId.1={}", built.nat)).await;
    assert_eq!(text(&nat, "state"), Some("available"), "{nat}");
    assert!(nat.contains(&format!("<allocationId>{}</allocationId>", built.allocation)), "{nat}");
    let interface = text(&nat, "networkInterfaceId").expect("an interface").to_owned();
    assert!(text(&nat, "privateIp").expect("an address").starts_with("10.0.0."), "{nat}");
    let interfaces =
        aws.ec2(&format!("Action=DescribeNetworkInterfaces&NetworkInterfaceId.1={interface}")).await;
    assert!(interfaces.contains("<interfaceType>nat_gateway</interfaceType>"), "{interfaces}");
    assert!(interfaces.contains("<requesterManaged>true</requesterManaged>"), "{interfaces}");
    let address = aws.ec2(&format!("Action=DescribeAddresses&AllocationId.1={}", built.allocation)).await;
    assert_eq!(text(&address, "networkInterfaceId"), Some(interface.as_str()), "{address}");
    assert_eq!(text(&address, "publicIp"), text(&nat, "publicIp"));
    let subnets = aws.ec2(&format!("Action=DescribeSubnets&SubnetId.1={}", built.subnet)).await;
    assert_eq!(text(&subnets, "availableIpAddressCount"), Some("250"), "the NAT gateway uses one: {subnets}");
    let tables = aws.ec2(&format!("Action=DescribeRouteTables{BY_MANAGER}")).await;
    assert!(tables.contains("<gatewayId>local</gatewayId><origin>CreateRouteTable</origin>"), "{tables}");
    assert!(tables.contains(&format!("<gatewayId>{}</gatewayId>", built.gateway)), "{tables}");
    assert_eq!(text(&tables, "routeTableAssociationId"), Some(built.association.as_str()));
    let main = "Action=DescribeRouteTables&Filter.1.Name=association.main&Filter.1.Value.1=true";
    let main = aws.ec2(&format!("{main}&Filter.2.Name=vpc-id&Filter.2.Value.1={}", built.vpc)).await;
    assert!(main.contains("<main>true</main>") && !main.contains(&built.table), "{main}");
    let gateways = aws.ec2(&format!("Action=DescribeInternetGateways{BY_MANAGER}")).await;
    assert!(
        gateways.contains(&format!("<vpcId>{}</vpcId><state>available</state>", built.vpc)),
        "{gateways}"
    );
    let of_tags = aws.ec2("Action=DescribeTags&Filter.1.Name=key&Filter.1.Value.1=network").await;
    for id in [&built.vpc, &built.subnet, &built.gateway, &built.allocation, &built.nat, &built.table] {
        assert!(of_tags.contains(id.as_str()), "{id} in {of_tags}");
    }
}

/// A network goes in the order that AWS wants, and not otherwise.
#[tokio::test]
async fn a_network_is_taken_down_in_order() {
    let aws = Aws::new();
    let Built { vpc, subnet, gateway, allocation, nat, table, association } = build(&aws).await;
    aws.wait(600);
    let detach = format!("Action=DetachInternetGateway&InternetGatewayId={gateway}&VpcId={vpc}");
    for form in
        [&detach, &format!("Action=DeleteSubnet&SubnetId={subnet}"), &format!("Action=DeleteVpc&VpcId={vpc}")]
    {
        assert_eq!(aws.refused(form).await, "DependencyViolation", "{form}");
    }
    let gone = aws.ec2(&format!("Action=DeleteNatGateway&NatGatewayId={nat}")).await;
    assert_eq!(text(&gone, "natGatewayId"), Some(nat.as_str()));
    aws.wait(600);
    let deleted = aws.ec2(&format!("Action=DescribeNatGateways&NatGatewayId.1={nat}")).await;
    assert_eq!(text(&deleted, "state"), Some("deleted"), "shown for an hour: {deleted}");
    aws.ec2(&format!("Action=ReleaseAddress&AllocationId={allocation}")).await;
    aws.ec2(&detach).await;
    aws.ec2(&format!("Action=DeleteInternetGateway&InternetGatewayId={gateway}")).await;
    aws.ec2(&format!("Action=DisassociateRouteTable&AssociationId={association}")).await;
    aws.ec2(&format!("Action=DeleteRouteTable&RouteTableId={table}")).await;
    aws.ec2(&format!("Action=DeleteSubnet&SubnetId={subnet}")).await;
    aws.ec2(&format!("Action=DeleteVpc&VpcId={vpc}")).await;
    aws.wait(10);
    assert_eq!(aws.refused(&format!("Action=DescribeVpcs&VpcId.1={vpc}")).await, "InvalidVpcID.NotFound");
    let left = aws.ec2("Action=DescribeRouteTables").await;
    assert!(left.contains("<routeTableSet></routeTableSet>"), "the main table went with it: {left}");
}

#[tokio::test]
async fn attributes_and_ranges_change_one_at_a_time() {
    let aws = Aws::new();
    let Built { vpc, subnet, .. } = build(&aws).await;
    let attribute = async |name: &str| {
        aws.made(&format!("Action=DescribeVpcAttribute&VpcId={vpc}&Attribute={name}"), "value").await
    };
    assert_eq!(attribute("enableDnsSupport").await, "true");
    assert_eq!(attribute("enableDnsHostnames").await, "false");
    aws.ec2(&format!("Action=ModifyVpcAttribute&VpcId={vpc}&EnableDnsHostnames.Value=true")).await;
    assert_eq!(attribute("enableDnsHostnames").await, "true");
    aws.ec2(&format!("Action=ModifySubnetAttribute&SubnetId={subnet}&MapPublicIpOnLaunch.Value=true")).await;
    let filter = "Action=DescribeSubnets&Filter.1.Name=map-public-ip-on-launch&Filter.1.Value.1=true";
    assert!(aws.ec2(filter).await.contains(&subnet));
    let range = format!("Action=AssociateVpcCidrBlock&VpcId={vpc}&CidrBlock=100.64.0.0/16");
    let association = aws.made(&range, "associationId").await;
    let six = format!("Action=AssociateVpcCidrBlock&VpcId={vpc}&AmazonProvidedIpv6CidrBlock=true");
    let six = aws.ec2(&six).await;
    assert!(six.contains("<ipv6CidrBlockAssociation><associationId>vpc-cidr-assoc-"), "{six}");
    aws.wait(10);
    let vpcs = aws.ec2(&format!("Action=DescribeVpcs&VpcId.1={vpc}")).await;
    assert!(vpcs.contains("<cidrBlock>100.64.0.0/16</cidrBlock>"), "{vpcs}");
    let ipv6 = text(&vpcs, "ipv6CidrBlock").expect("a range").replace("/56", "/64");
    let form = format!("Action=AssociateSubnetCidrBlock&SubnetId={subnet}&Ipv6CidrBlock={ipv6}");
    assert_eq!(aws.made(&form, "ipv6CidrBlock").await, ipv6);
    let gone = aws.ec2(&format!("Action=DisassociateVpcCidrBlock&AssociationId={association}")).await;
    assert_eq!(text(&gone, "associationId"), Some(association.as_str()), "{gone}");
    assert_eq!(text(&gone, "state"), Some("disassociating"), "{gone}");
}

#[tokio::test]
async fn rules_are_permissions_and_things_of_their_own() {
    let aws = Aws::new();
    let Built { vpc, .. } = build(&aws).await;
    let group = format!("Action=CreateSecurityGroup&VpcId={vpc}&GroupName=node&GroupDescription=nodes");
    let group = aws.made(&format!("{group}{}", tagged("security-group")), "groupId").await;
    let rule = format!(
        "&GroupId={group}&IpPermissions.1.IpProtocol=tcp&IpPermissions.1.FromPort=10250&IpPermissions.1.ToPort=10250\
         &IpPermissions.1.Groups.1.GroupId={group}&IpPermissions.1.Groups.1.Description=kubelet\
         &IpPermissions.1.IpRanges.1.CidrIp=10.0.0.0/16"
    );
    let allowed = aws.ec2(&format!("Action=AuthorizeSecurityGroupIngress{rule}")).await;
    assert_eq!(allowed.matches("<securityGroupRuleId>sgr-").count(), 2, "{allowed}");
    let twice = aws.refused(&format!("Action=AuthorizeSecurityGroupIngress{rule}")).await;
    assert_eq!(twice, "InvalidPermission.Duplicate");
    let groups = aws.ec2(&format!("Action=DescribeSecurityGroups&GroupId.1={group}")).await;
    let permissions = text(&groups, "ipPermissions").expect("permissions");
    assert_eq!(
        permissions.matches("<ipProtocol>").count(),
        1,
        "one permission with two peers: {permissions}"
    );
    assert!(permissions.contains("<description>kubelet</description>"), "{permissions}");
    assert!(
        text(&groups, "ipPermissionsEgress").expect("permissions").contains("<cidrIp>0.0.0.0/0</cidrIp>")
    );
    let filter = format!("Action=DescribeSecurityGroupRules&Filter.1.Name=group-id&Filter.1.Value.1={group}");
    let rules = aws.ec2(&filter).await;
    assert_eq!(rules.matches("<securityGroupRuleId>").count(), 3, "{rules}");
    let egress = rules.split("<item>").find(|it| it.contains("<isEgress>true")).expect("a rule");
    let id = text(egress, "securityGroupRuleId").expect("an id");
    let revoke = format!("Action=RevokeSecurityGroupEgress&GroupId={group}&SecurityGroupRuleId.1={id}");
    let revoked = aws.ec2(&revoke).await;
    assert_eq!(text(&revoked, "securityGroupRuleId"), Some(id), "{revoked}");
    assert_eq!(aws.refused(&revoke).await, "InvalidSecurityGroupRuleId.NotFound");
    aws.ec2(&format!("Action=RevokeSecurityGroupIngress{rule}")).await;
    let left = aws.ec2(&filter).await;
    assert!(left.contains("<securityGroupRuleSet></securityGroupRuleSet>"), "{left}");
    aws.ec2(&format!("Action=DeleteSecurityGroup&GroupId={group}")).await;
}

#[tokio::test]
async fn endpoints_are_gateways_or_interfaces() {
    let aws = Aws::new();
    let Built { vpc, subnet, table, .. } = build(&aws).await;
    let (s3, ecr) = (format!("com.amazonaws.{REGION}.s3"), format!("com.amazonaws.{REGION}.ecr.api"));
    let create = format!("Action=CreateVpcEndpoint&VpcId={vpc}");
    let gateway = format!("{create}&ServiceName={s3}&RouteTableId.1={table}{}", tagged("vpc-endpoint"));
    let gateway = aws.made(&gateway, "vpcEndpointId").await;
    let tables = aws.ec2(&format!("Action=DescribeRouteTables&RouteTableId.1={table}")).await;
    let list = text(&tables, "destinationPrefixListId").expect("a route of the endpoint");
    assert!(tables.contains(&format!("<gatewayId>{gateway}</gatewayId>")), "{tables}");
    let lists = aws.ec2(&format!("Action=DescribePrefixLists&PrefixListId.1={list}")).await;
    assert_eq!(text(&lists, "prefixListName"), Some(s3.as_str()), "{lists}");
    for attribute in ["EnableDnsSupport", "EnableDnsHostnames"] {
        aws.ec2(&format!("Action=ModifyVpcAttribute&VpcId={vpc}&{attribute}.Value=true")).await;
    }
    let interface = format!("{create}&ServiceName={ecr}&VpcEndpointType=Interface&SubnetId.1={subnet}");
    let interface = aws.made(&interface, "vpcEndpointId").await;
    aws.wait(600);
    let found = aws.ec2(&format!("Action=DescribeVpcEndpoints&VpcEndpointId.1={interface}")).await;
    assert_eq!(text(&found, "state"), Some("available"), "{found}");
    assert!(found.contains("<networkInterfaceIdSet><item>eni-"), "{found}");
    let services = "Action=DescribeVpcEndpointServices&Filter.1.Name=service-name&Filter.1.Value.1=*.s3";
    let services = aws.ec2(services).await;
    assert_eq!(
        services.matches("<serviceType><item>").count(),
        2,
        "as gateway and as interfaces: {services}"
    );
    aws.ec2(&format!("Action=ModifyVpcEndpoint&VpcEndpointId={gateway}&RemoveRouteTableId.1={table}")).await;
    let tables = aws.ec2(&format!("Action=DescribeRouteTables&RouteTableId.1={table}")).await;
    assert!(!tables.contains(&gateway), "{tables}");
    let delete =
        format!("Action=DeleteVpcEndpoints&VpcEndpointId.1={gateway}&VpcEndpointId.2=vpce-0000000000000000f");
    let response = aws.ec2(&delete).await;
    let refused = text(&response, "unsuccessful").expect("a list");
    assert!(refused.contains("<resourceId>vpce-0000000000000000f</resourceId>"), "{response}");
    assert!(
        refused.contains("<code>InvalidVpcEndpointId.NotFound</code>") && !refused.contains(&gateway),
        "{response}"
    );
}

#[tokio::test]
async fn load_balancers_have_two_apis() {
    let aws = Aws::new();
    let Built { vpc, subnet, .. } = build(&aws).await;
    let region = aws.sim.region(REGION);
    let make = |name: &str, kind: &str| {
        let body = json!({
            "name": name, "kind": kind, "subnets": [subnet], "target_groups": [format!("{name}-tg")],
            "tags": { "kubernetes.io/cluster/c": "owned" },
        });
        region.put_load_balancer(serde_json::from_value(body).expect("a load balancer")).expect("made")
    };
    let (arn, name) = (make("web", "Network"), make("old", "Classic"));
    let (classic, v2) = ("2012-06-01", "2015-12-01");
    let (_, all) = aws.balancing(v2, "Action=DescribeLoadBalancers").await;
    assert_eq!((text(&all, "LoadBalancerArn"), text(&all, "Type")), (Some(arn.as_str()), Some("network")));
    assert!(all.contains(&format!("<VpcId>{vpc}</VpcId>")) && !all.contains("old"), "{all}");
    assert!(all.contains(&format!("<SubnetId>{subnet}</SubnetId>")), "{all}");
    let (_, all) = aws.balancing(classic, "Action=DescribeLoadBalancers").await;
    assert_eq!((text(&all, "LoadBalancerName"), text(&all, "VPCId")), (Some("old"), Some(vpc.as_str())));
    assert!(all.contains(&format!("<Subnets><member>{subnet}</member></Subnets>")), "{all}");
    for (version, form) in [
        (v2, format!("Action=DescribeTags&ResourceArns.member.1={arn}")),
        (classic, format!("Action=DescribeTags&LoadBalancerNames.member.1={name}")),
    ] {
        let (_, tags) = aws.balancing(version, &form).await;
        assert!(tags.contains("<Key>kubernetes.io/cluster/c</Key><Value>owned</Value>"), "{tags}");
    }
    let (_, groups) = aws.balancing(v2, &format!("Action=DescribeTargetGroups&LoadBalancerArn={arn}")).await;
    let group = text(&groups, "TargetGroupArn").expect("a target group").to_owned();
    let (_, refused) = aws.balancing(v2, &format!("Action=DeleteTargetGroup&TargetGroupArn={group}")).await;
    assert_eq!(text(&refused, "Code"), Some("ResourceInUse"), "{refused}");
    for (version, form) in [
        (v2, format!("Action=DeleteLoadBalancer&LoadBalancerArn={arn}")),
        (v2, format!("Action=DeleteTargetGroup&TargetGroupArn={group}")),
        (classic, format!("Action=DeleteLoadBalancer&LoadBalancerName={name}")),
        (classic, format!("Action=DeleteLoadBalancer&LoadBalancerName={name}")),
    ] {
        let (status, body) = aws.balancing(version, &form).await;
        assert_eq!(status, 200, "a repetition succeeds, too: {form}: {body}");
    }
    let (_, refused) = aws.balancing(v2, &format!("Action=DescribeTags&ResourceArns.member.1={arn}")).await;
    assert_eq!(text(&refused, "Code"), Some("LoadBalancerNotFound"), "{refused}");
}

/// Snapshots hold networks, too.
#[tokio::test]
async fn a_snapshot_brings_a_network_back() {
    let aws = Aws::new();
    let Built { vpc, nat, .. } = build(&aws).await;
    aws.wait(600);
    aws.sim.take_snapshot("built").expect("kept");
    aws.ec2(&format!("Action=DeleteNatGateway&NatGatewayId={nat}")).await;
    aws.wait(600);
    aws.sim.restore_snapshot("built").expect("restored");
    let back =
        aws.ec2(&format!("Action=DescribeNatGateways&Filter.1.Name=vpc-id&Filter.1.Value.1={vpc}")).await;
    assert_eq!(text(&back, "state"), Some("available"), "{back}");
    let repeated = format!("Action=CreateRouteTable&VpcId={vpc}&ClientToken=t2{}", tagged("route-table"));
    aws.ec2(&repeated).await;
    let tables = aws.ec2(&format!("Action=DescribeRouteTables{BY_MANAGER}")).await;
    assert_eq!(tables.matches("<routeSet>").count(), 1, "the token is remembered: {tables}");
}
