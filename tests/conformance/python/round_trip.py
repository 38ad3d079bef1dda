"""A round trip through every simulated operation with boto3.

Usage: round_trip.py ENDPOINT

Two judges: botocore encodes the requests and parses the responses; `Strict` checks each raw response against botocore's model.
"""

import base64
import hashlib
import json
import sys
import traceback
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from strict import Strict

ENDPOINT = sys.argv[1]
SUBNETS = [f"subnet-0a00000000000000{letter}" for letter in "abc"]
IMAGE = "ami-0a000000000000001"
IMAGES_ARM64 = ["ami-0a000000000000002", "ami-0a000000000000004"]
SECURITY_GROUP = "sg-0a000000000000001"
# What instances run whose user data is in S3.
HANDLER = Path(__file__).parents[3] / "crates/bootstrap/src/stored/fetch.py"


STRICT = Strict()


def client(service, region="eu-central-1", key="AKIDEXAMPLE", secret="secret", token=None):
    return STRICT.watch(
        boto3.client(
            service,
            endpoint_url=ENDPOINT,
            region_name=region,
            aws_access_key_id=key,
            aws_secret_access_key=secret,
            aws_session_token=token,
            config=Config(retries={"mode": "standard", "total_max_attempts": 2}, s3={"addressing_style": "path"}),
        )
    )


def session(credentials, service):
    return client(
        service,
        key=credentials["AccessKeyId"],
        secret=credentials["SecretAccessKey"],
        token=credentials["SessionToken"],
    )


AUTOSCALING, EC2, STS = client("autoscaling"), client("ec2"), client("sts")
SQS, SSM = client("sqs"), client("ssm")
BALANCING = client("elb"), client("elbv2")
QUOTAS = client("service-quotas")
EKS, IAM = client("eks"), client("iam")
S3 = client("s3")


def control(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{ENDPOINT}/_sim/{path}", method=method, data=data)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


def wait(seconds):
    control("POST", "clock", {"step_seconds": seconds})


def refused(code, call, **parameters):
    """The call must be refused with this code."""
    try:
        call(**parameters)
    except ClientError as error:
        found = error.response["Error"]["Code"]
        assert found == code, f"expected {code}, got {found}: {error}"
        assert error.response["ResponseMetadata"]["RequestId"]
        return error.response["Error"]["Message"]
    raise AssertionError(f"not refused with {code}")


def group(name):
    return AUTOSCALING.describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"][0]


def template_data(instance_type="m7i.large", **more):
    return dict(ImageId=IMAGE, InstanceType=instance_type, SecurityGroupIds=[SECURITY_GROUP], **more)


def template(name, **more):
    response = EC2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=template_data(**more))
    return response["LaunchTemplate"]["LaunchTemplateId"]


def create(name, template_id, **more):
    arguments = dict(
        AutoScalingGroupName=name,
        MinSize=0,
        MaxSize=10,
        VPCZoneIdentifier=",".join(SUBNETS),
        LaunchTemplate=dict(LaunchTemplateId=template_id, Version="1"),
    )
    AUTOSCALING.create_auto_scaling_group(**{**arguments, **more})


def test_identity():
    identity = STS.get_caller_identity()
    assert identity["Account"] == "123456789012"
    assert identity["Arn"].endswith("user/AKIDEXAMPLE")


def test_network_and_catalogue():
    zones = EC2.describe_availability_zones()["AvailabilityZones"]
    assert [zone["ZoneName"] for zone in zones] == ["eu-central-1a", "eu-central-1b", "eu-central-1c"]
    subnets = EC2.describe_subnets(Filters=[{"Name": "tag:kubernetes.io/role/internal-elb", "Values": ["*"]}])
    assert [subnet["SubnetId"] for subnet in subnets["Subnets"]] == SUBNETS
    assert subnets["Subnets"][0]["AvailableIpAddressCount"] > 8000
    vpc = EC2.describe_vpcs()["Vpcs"][0]["VpcId"]
    groups = EC2.describe_security_groups(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["SecurityGroups"]
    assert {(each["GroupId"], each["GroupName"]) for each in groups} == {
        (SECURITY_GROUP, "sim-node"), ("sg-0d000000000000001", "default")
    }, groups
    names = ["p4d.24xlarge", "m7g.large", "m8i.large"]
    types = EC2.describe_instance_types(InstanceTypes=names)["InstanceTypes"]
    by_name = {each["InstanceType"]: each for each in types}
    assert by_name["p4d.24xlarge"]["GpuInfo"]["Gpus"][0]["Count"] == 8
    assert by_name["m7g.large"]["ProcessorInfo"]["SupportedArchitectures"] == ["arm64"]
    assert "BandwidthWeightings" not in by_name["m7g.large"]["NetworkInfo"]
    assert by_name["m7g.large"]["NetworkInfo"]["Ipv4AddressesPerInterface"] == 10
    cards = by_name["p4d.24xlarge"]["NetworkInfo"]["NetworkCards"]
    assert [(card["NetworkCardIndex"], card["MaximumNetworkInterfaces"]) for card in cards] == [
        (0, 15), (1, 15), (2, 15), (3, 15)
    ]
    assert set(by_name["m8i.large"]["NetworkInfo"]["BandwidthWeightings"]) == {"default", "vpc-1", "ebs-1"}
    pages = EC2.get_paginator("describe_instance_types").paginate(PaginationConfig={"PageSize": 5})
    assert sum(len(page["InstanceTypes"]) for page in pages) >= 12
    image = EC2.describe_images(ImageIds=[IMAGE])["Images"][0]
    assert (image["Architecture"], image["RootDeviceName"], image["State"]) == ("x86_64", "/dev/xvda", "available")
    refused("InvalidInstanceType", EC2.describe_instance_types, InstanceTypes=["z9.huge"])
    refused("InvalidAMIID.NotFound", EC2.describe_images, ImageIds=["ami-0123456789abcdef0"])
    refused("InvalidSubnetID.NotFound", EC2.describe_subnets, SubnetIds=["subnet-0123456789abcdef0"])
    refused("InvalidGroup.NotFound", EC2.describe_security_groups, GroupIds=["sg-0123456789abcdef0"])


def tagged(kind):
    return [{"ResourceType": kind, "Tags": [{"Key": "network", "Value": "n1"}]}]


def only(response, key):
    """The one thing of a list."""
    (found,) = response[key]
    return found


def test_life_of_a_network():
    """Everything that a cluster's network is made of, and back to nothing."""
    region = client("ec2", region="eu-north-1")
    control("DELETE", "regions/eu-north-1/network")
    assert region.describe_vpcs()["Vpcs"] == []
    vpc = region.create_vpc(
        CidrBlock="10.0.0.0/16", AmazonProvidedIpv6CidrBlock=True, TagSpecifications=tagged("vpc")
    )["Vpc"]["VpcId"]
    wait(30)
    whole = only(region.describe_vpcs(Filters=[{"Name": "tag:network", "Values": ["n1"]}]), "Vpcs")
    assert (whole["State"], whole["CidrBlockAssociationSet"][0]["CidrBlock"]) == ("available", "10.0.0.0/16")
    ipv6 = whole["Ipv6CidrBlockAssociationSet"][0]["Ipv6CidrBlock"]
    for name in ("EnableDnsSupport", "EnableDnsHostnames"):
        region.modify_vpc_attribute(VpcId=vpc, **{name: {"Value": True}})
        attribute = name[0].lower() + name[1:]
        assert region.describe_vpc_attribute(VpcId=vpc, Attribute=attribute)[name]["Value"] is True
    more = region.associate_vpc_cidr_block(VpcId=vpc, CidrBlock="100.64.0.0/16")["CidrBlockAssociation"]
    wait(30)
    subnet = region.create_subnet(
        VpcId=vpc, CidrBlock="10.0.0.0/24", AvailabilityZone="eu-north-1a", TagSpecifications=tagged("subnet")
    )["Subnet"]["SubnetId"]
    refused("InvalidSubnet.Conflict", region.create_subnet, VpcId=vpc, CidrBlock="10.0.0.128/25")
    region.modify_subnet_attribute(SubnetId=subnet, MapPublicIpOnLaunch={"Value": True})
    region.associate_subnet_cidr_block(SubnetId=subnet, Ipv6CidrBlock=ipv6.replace("/56", "/64"))
    wait(30)
    shown = only(region.describe_subnets(SubnetIds=[subnet]), "Subnets")
    assert (shown["MapPublicIpOnLaunch"], shown["AvailableIpAddressCount"]) == (True, 251)
    assert shown["Ipv6CidrBlockAssociationSet"][0]["Ipv6CidrBlockState"]["State"] == "associated"

    gateway = region.create_internet_gateway(TagSpecifications=tagged("internet-gateway"))
    gateway = {"InternetGatewayId": gateway["InternetGateway"]["InternetGatewayId"]}
    region.attach_internet_gateway(**gateway, VpcId=vpc)
    found = only(region.describe_internet_gateways(InternetGatewayIds=[*gateway.values()]), "InternetGateways")
    assert found["Attachments"] == [{"State": "available", "VpcId": vpc}]
    outward = region.create_egress_only_internet_gateway(VpcId=vpc, ClientToken="e")["EgressOnlyInternetGateway"]
    outward = {"EgressOnlyInternetGatewayId": outward["EgressOnlyInternetGatewayId"]}
    assert only(region.describe_egress_only_internet_gateways(), "EgressOnlyInternetGateways")["Attachments"]
    address = region.allocate_address(Domain="vpc", TagSpecifications=tagged("elastic-ip"))["AllocationId"]
    nat = dict(SubnetId=subnet, AllocationId=address, ClientToken="n", TagSpecifications=tagged("natgateway"))
    pending = region.create_nat_gateway(**nat)["NatGateway"]
    again = region.create_nat_gateway(**nat)["NatGateway"]
    assert (pending["State"], again["NatGatewayId"]) == ("pending", pending["NatGatewayId"])
    nat = pending["NatGatewayId"]
    wait(600)
    running = only(region.describe_nat_gateways(NatGatewayIds=[nat]), "NatGateways")
    assert (running["State"], running["NatGatewayAddresses"][0]["AllocationId"]) == ("available", address)
    assert only(region.describe_addresses(AllocationIds=[address]), "Addresses")["NetworkInterfaceId"]
    own = only(region.describe_network_interfaces(Filters=[{"Name": "vpc-id", "Values": [vpc]}]), "NetworkInterfaces")
    assert (own["InterfaceType"], own["RequesterManaged"]) == ("nat_gateway", True)

    table = region.create_route_table(VpcId=vpc, TagSpecifications=tagged("route-table"))["RouteTable"]["RouteTableId"]
    everywhere = dict(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0")
    region.create_route(**everywhere, NatGatewayId=nat)
    refused("RouteAlreadyExists", region.create_route, **everywhere, **dict(GatewayId=gateway["InternetGatewayId"]))
    region.replace_route(**everywhere, GatewayId=gateway["InternetGatewayId"])
    region.create_route(RouteTableId=table, DestinationIpv6CidrBlock="::/0", **outward)
    association = region.associate_route_table(RouteTableId=table, SubnetId=subnet)["AssociationId"]
    other = region.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    moved = region.replace_route_table_association(AssociationId=association, RouteTableId=other)["NewAssociationId"]
    tables = region.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"]
    assert sorted(each["Associations"][0]["Main"] for each in tables if each["Associations"]) == [False, True]

    group = region.create_security_group(GroupName="node", Description="nodes", VpcId=vpc)["GroupId"]
    kubelet = {"IpProtocol": "tcp", "FromPort": 10250, "ToPort": 10250,
               "UserIdGroupPairs": [{"GroupId": group, "Description": "kubelet"}]}
    region.authorize_security_group_ingress(GroupId=group, IpPermissions=[kubelet])
    dns = {"IpProtocol": "udp", "FromPort": 53, "ToPort": 53, "Ipv6Ranges": [{"CidrIpv6": ipv6}]}
    region.authorize_security_group_egress(GroupId=group, IpPermissions=[dns])
    refused("InvalidPermission.Duplicate", region.authorize_security_group_egress, GroupId=group, IpPermissions=[dns])
    shown = only(region.describe_security_groups(GroupIds=[group]), "SecurityGroups")
    assert shown["IpPermissions"][0]["UserIdGroupPairs"][0]["Description"] == "kubelet"
    kubelet["UserIdGroupPairs"][0]["Description"] = "API server to kubelets"
    region.update_security_group_rule_descriptions_ingress(GroupId=group, IpPermissions=[kubelet])
    shown = only(region.describe_security_groups(GroupIds=[group]), "SecurityGroups")
    assert shown["IpPermissions"][0]["UserIdGroupPairs"][0]["Description"] == "API server to kubelets"
    rules = region.describe_security_group_rules(Filters=[{"Name": "group-id", "Values": [group]}])
    assert {rule["IsEgress"] for rule in rules["SecurityGroupRules"]} == {True, False}

    services = region.describe_vpc_endpoint_services()
    assert "com.amazonaws.eu-north-1.ecr.api" in services["ServiceNames"]
    create = lambda service, **more: region.create_vpc_endpoint(
        VpcId=vpc, ServiceName=f"com.amazonaws.eu-north-1.{service}", **more)["VpcEndpoint"]["VpcEndpointId"]
    s3 = create("s3", RouteTableIds=[table])
    assert region.describe_prefix_lists()["PrefixLists"]
    ecr = create("ecr.api", VpcEndpointType="Interface", SubnetIds=[subnet], SecurityGroupIds=[group],
                 PrivateDnsEnabled=True, TagSpecifications=tagged("vpc-endpoint"))
    region.modify_vpc_endpoint(VpcEndpointId=s3, AddRouteTableIds=[other])
    wait(600)
    endpoints = region.describe_vpc_endpoints(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["VpcEndpoints"]
    assert {each["State"] for each in endpoints} == {"available"}, endpoints
    assert sorted(len(each["RouteTableIds"]) for each in endpoints) == [0, 2]

    foreign = control("POST", "regions/eu-north-1/network-interfaces", {"subnet": subnet})["id"]
    refused("DependencyViolation", region.delete_subnet, SubnetId=subnet)
    region.delete_network_interface(NetworkInterfaceId=foreign)
    assert region.delete_vpc_endpoints(VpcEndpointIds=[s3, ecr])["Unsuccessful"] == []
    region.delete_nat_gateway(NatGatewayId=nat)
    wait(600)
    region.release_address(AllocationId=address)
    region.disassociate_route_table(AssociationId=moved)
    region.delete_route(**everywhere)
    for each in (table, other):
        region.delete_route_table(RouteTableId=each)
    region.revoke_security_group_ingress(GroupId=group, IpPermissions=[kubelet])
    region.revoke_security_group_egress(GroupId=group, IpPermissions=[dns])
    region.delete_security_group(GroupId=group)
    region.detach_internet_gateway(**gateway, VpcId=vpc)
    region.delete_internet_gateway(**gateway)
    assert region.delete_egress_only_internet_gateway(**outward)["ReturnCode"] is True
    region.delete_subnet(SubnetId=subnet)
    region.disassociate_vpc_cidr_block(AssociationId=more["AssociationId"])
    wait(30)
    region.delete_vpc(VpcId=vpc)
    wait(30)
    refused("InvalidVpcID.NotFound", region.describe_vpcs, VpcIds=[vpc])


ROLE = "arn:aws:iam::123456789012:role/{}".format


def cluster(name, **more):
    made = {
        "name": name, "roleArn": ROLE("clusters"), "version": "1.33", "resourcesVpcConfig": {"subnetIds": SUBNETS},
        "accessConfig": {"authenticationMode": "API"}, "logging": {"clusterLogging": [{"types": ["audit"], "enabled": True}]},
    }
    return EKS.create_cluster(**{**made, **more})["cluster"]


def updated(call, **parameters):
    """An update that succeeds within twelve minutes."""
    update = call(**parameters)["update"]
    assert update["status"] == "InProgress", update
    wait(720)
    names = {key: value for key, value in parameters.items() if key in ("name", "addonName")}
    names.setdefault("name", parameters.get("clusterName"))
    found = EKS.describe_update(updateId=update["id"], **names)["update"]
    assert found["status"] == "Successful", found
    return found["type"]


def test_life_of_a_cluster():
    made = cluster("main", tags={"team": "a"}, zonalShiftConfig={"enabled": False}, upgradePolicy={"supportType": "EXTENDED"})
    assert made["status"] == "CREATING" and "endpoint" not in made
    refused("ResourceInUseException", cluster, name="main")
    refused("InvalidParameterException", cluster, name="one-zone", resourcesVpcConfig={"subnetIds": SUBNETS[:1]})
    wait(600)
    main = EKS.describe_cluster(name="main")["cluster"]
    assert main["status"] == "ACTIVE" and main["endpoint"].startswith("https://")
    assert base64.b64decode(main["certificateAuthority"]["data"]).startswith(b"-----BEGIN CERTIFICATE")
    group = main["resourcesVpcConfig"]["clusterSecurityGroupId"]
    found = only(EC2.describe_security_groups(GroupIds=[group]), "SecurityGroups")
    assert {"Key": "kubernetes.io/cluster/main", "Value": "owned"} in found["Tags"]
    eni = EC2.describe_network_interfaces(Filters=[{"Name": "description", "Values": ["Amazon EKS main"]}])
    assert len(eni["NetworkInterfaces"]) == 3 and all(each["RequesterManaged"] for each in eni["NetworkInterfaces"])
    assert EKS.list_clusters()["clusters"] == ["main"]
    refused("ResourceNotFoundException", EKS.describe_cluster, name="missing")

    access = {"resourcesVpcConfig": {"endpointPrivateAccess": True}}
    assert updated(EKS.update_cluster_config, name="main", **access) == "EndpointAccessUpdate"
    refused("InvalidParameterException", EKS.update_cluster_config, name="main", **access)
    update = EKS.update_cluster_version(name="main", version="1.34")["update"]
    refused("ResourceInUseException", EKS.update_cluster_version, name="main", version="1.34")
    refused("InvalidStateException", EKS.cancel_update, name="main", updateId=update["id"])
    wait(720)
    assert EKS.describe_cluster(name="main")["cluster"]["version"] == "1.34"
    key = {"resources": ["secrets"], "provider": {"keyArn": "arn:aws:kms:eu-central-1:123456789012:key/1"}}
    assert updated(EKS.associate_encryption_config, clusterName="main", encryptionConfig=[key]) == "AssociateEncryptionConfig"
    assert update["id"] in EKS.list_updates(name="main")["updateIds"]
    tier = {"controlPlaneScalingConfig": {"tier": "tier-xl"}}
    assert updated(EKS.update_cluster_config, name="main", **tier) == "ControlPlaneScalingConfigUpdate"
    assert EKS.describe_cluster(name="main")["cluster"]["controlPlaneScalingConfig"] == tier["controlPlaneScalingConfig"]
    refused("InvalidParameterException", EKS.update_cluster_config, name="main", **tier)
    assert EKS.list_nodegroups(clusterName="main")["nodegroups"] == []
    assert EKS.list_fargate_profiles(clusterName="main")["fargateProfileNames"] == []
    arn = main["arn"]
    EKS.tag_resource(resourceArn=arn, tags={"b": "2"})
    EKS.untag_resource(resourceArn=arn, tagKeys=["team"])
    assert EKS.list_tags_for_resource(resourceArn=arn)["tags"] == {"b": "2"}
    refused("NotFoundException", EKS.list_tags_for_resource, resourceArn=arn + "-none")

    insight = EKS.list_insights(clusterName="main", filter={"categories": ["UPGRADE_READINESS"]})["insights"][0]
    assert EKS.describe_insight(clusterName="main", id=insight["id"])["insight"]["insightStatus"]["status"] == "PASSING"
    assert EKS.start_insights_refresh(clusterName="main")["status"] == "IN_PROGRESS"
    wait(60)
    assert EKS.describe_insights_refresh(clusterName="main")["status"] == "COMPLETED"
    offered = EKS.describe_cluster_versions(defaultOnly=True)["clusterVersions"]
    assert [each["versionStatus"] for each in offered] == ["STANDARD_SUPPORT"]
    EKS.delete_cluster(name="main")
    wait(240)
    refused("ResourceNotFoundException", EKS.delete_cluster, name="main")
    assert not EC2.describe_network_interfaces(Filters=[{"Name": "description", "Values": ["Amazon EKS main"]}])["NetworkInterfaces"]


def test_access_to_a_cluster():
    cluster("access")
    wait(600)
    of = {"clusterName": "access"}
    entry = EKS.create_access_entry(**of, principalArn=ROLE("nodes"), type="EC2_LINUX")["accessEntry"]
    assert entry["username"] == "system:node:{{EC2PrivateDNSName}}"
    refused("ResourceInUseException", EKS.create_access_entry, **of, principalArn=ROLE("nodes"))
    ops = {**of, "principalArn": ROLE("ops")}
    EKS.create_access_entry(**ops, kubernetesGroups=["viewers"])
    assert EKS.update_access_entry(**ops, username="ops")["accessEntry"]["username"] == "ops"
    policies = {each["name"]: each["arn"] for each in EKS.list_access_policies()["accessPolicies"]}
    view = policies["AmazonEKSViewPolicy"]
    scope = {"type": "namespace", "namespaces": ["apps"]}
    assert EKS.associate_access_policy(**ops, policyArn=view, accessScope=scope)["associatedAccessPolicy"]["accessScope"] == scope
    assert only(EKS.list_associated_access_policies(**ops), "associatedAccessPolicies")["policyArn"] == view
    assert EKS.list_access_entries(**of, associatedPolicyArn=view)["accessEntries"] == [ROLE("ops")]
    assert len(EKS.list_access_entries(**of)["accessEntries"]) == 3
    EKS.disassociate_access_policy(**ops, policyArn=view)
    assert EKS.describe_access_entry(**ops)["accessEntry"]["kubernetesGroups"] == ["viewers"]
    EKS.delete_access_entry(**ops)
    refused("ResourceNotFoundException", EKS.describe_access_entry, **ops)

    people = {"identityProviderConfigName": "people", "issuerUrl": "https://id.example.com", "clientId": "k8s"}
    own = EKS.describe_cluster(name="access")["cluster"]["identity"]["oidc"]["issuer"]
    refused("InvalidParameterException", EKS.associate_identity_provider_config, **of, oidc={**people, "issuerUrl": own})
    associate = {**of, "oidc": {**people, "requiredClaims": {"hd": "example.com"}}}
    assert updated(EKS.associate_identity_provider_config, **associate) == "AssociateIdentityProviderConfig"
    other = {**people, "identityProviderConfigName": "other"}
    refused("InvalidRequestException", EKS.associate_identity_provider_config, **of, oidc=other)
    named = only(EKS.list_identity_provider_configs(**of), "identityProviderConfigs")
    found = EKS.describe_identity_provider_config(**of, identityProviderConfig=named)["identityProviderConfig"]["oidc"]
    assert (found["status"], found["requiredClaims"]) == ("ACTIVE", {"hd": "example.com"})
    request = {**of, "identityProviderConfig": named}
    assert updated(EKS.disassociate_identity_provider_config, **request) == "DisassociateIdentityProviderConfig"
    refused("InvalidRequestException", EKS.disassociate_identity_provider_config, **request)
    refused("ResourceNotFoundException", EKS.describe_identity_provider_config, **request)

    pod = {**of, "namespace": "apps", "serviceAccount": "web"}
    made = EKS.create_pod_identity_association(**pod, roleArn=ROLE("web"))["association"]
    refused("ResourceInUseException", EKS.create_pod_identity_association, **pod, roleArn=ROLE("web"))
    named = {**of, "associationId": made["associationId"]}
    EKS.update_pod_identity_association(**named, targetRoleArn=ROLE("other"))
    assert EKS.describe_pod_identity_association(**named)["association"]["targetRoleArn"] == ROLE("other")
    assert only(EKS.list_pod_identity_associations(**of, namespace="apps"), "associations")["serviceAccount"] == "web"
    EKS.delete_pod_identity_association(**named)
    refused("ResourceNotFoundException", EKS.describe_pod_identity_association, **named)


def test_add_ons_of_a_cluster():
    cluster("addons")
    wait(600)
    of = {"clusterName": "addons", "addonName": "kube-proxy"}
    offer = only(EKS.describe_addon_versions(addonName="kube-proxy", kubernetesVersion="1.33"), "addons")
    (default,) = [
        each["addonVersion"] for each in offer["addonVersions"]
        if any(it["defaultVersion"] and it["clusterVersion"] == "1.33" for it in each["compatibilities"])
    ]
    schema = EKS.describe_addon_configuration(addonName="kube-proxy", addonVersion=default)["configurationSchema"]
    assert "mode" in json.loads(schema)["properties"]
    refused("InvalidParameterException", EKS.create_addon, **of, configurationValues='{"mode": 1}')
    made = EKS.create_addon(**of, resolveConflicts="OVERWRITE", configurationValues='{"mode": "ipvs"}')["addon"]
    assert (made["status"], made["addonVersion"]) == ("CREATING", default)
    wait(60)
    assert EKS.describe_addon(**of)["addon"]["status"] == "ACTIVE"
    assert updated(EKS.update_addon, **of, resolveConflicts="PRESERVE", configurationValues="") == "AddonUpdate"
    assert "configurationValues" not in EKS.describe_addon(**of)["addon"]
    assert EKS.list_addons(clusterName="addons")["addons"] == ["kube-proxy"]
    EKS.delete_addon(**of, preserve=True)
    wait(60)
    refused("ResourceNotFoundException", EKS.describe_addon, **of)


def test_roles_profiles_and_identity_providers():
    role = IAM.get_role(RoleName="nodes")["Role"]
    assert role["RoleId"].startswith("AROA") and role["Arn"] == ROLE("nodes")
    control("PUT", "instance-profiles", {"name": "pool", "role": "nodes"})
    assert only(IAM.get_instance_profile(InstanceProfileName="pool")["InstanceProfile"], "Roles")["RoleName"] == "nodes"
    narrow = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "ec2:*", "Resource": "arn:aws:ec2:*:*:vpc/*"}]}
    control("PUT", "roles", {"name": "narrow", "policy": narrow})
    arns = [f"arn:aws:ec2:eu-central-1:123456789012:{kind}/x" for kind in ("vpc", "subnet")]
    simulated = only(
        IAM.simulate_principal_policy(PolicySourceArn=ROLE("narrow"), ActionNames=["ec2:CreateTags"], ResourceArns=arns),
        "EvaluationResults",
    )
    decisions = [it["EvalResourceDecision"] for it in simulated["ResourceSpecificResults"]]
    assert (simulated["EvalDecision"], decisions) == ("implicitDeny", ["allowed", "implicitDeny"])
    url = "https://oidc.eks.eu-central-1.amazonaws.com/id/0123456789ABCDEF"
    made = IAM.create_open_id_connect_provider(Url=url, ClientIDList=["sts.amazonaws.com"], Tags=[{"Key": "a", "Value": "1"}])
    arn = {"OpenIDConnectProviderArn": made["OpenIDConnectProviderArn"]}
    refused("EntityAlreadyExists", IAM.create_open_id_connect_provider, Url=url)
    IAM.add_client_id_to_open_id_connect_provider(**arn, ClientID="other")
    IAM.remove_client_id_from_open_id_connect_provider(**arn, ClientID="other")
    IAM.update_open_id_connect_provider_thumbprint(**arn, ThumbprintList=["0" * 40])
    IAM.tag_open_id_connect_provider(**arn, Tags=[{"Key": "b", "Value": "2"}])
    IAM.untag_open_id_connect_provider(**arn, TagKeys=["a"])
    assert IAM.list_open_id_connect_provider_tags(**arn)["Tags"] == [{"Key": "b", "Value": "2"}]
    seen = IAM.get_open_id_connect_provider(**arn)
    assert (seen["Url"], seen["ClientIDList"]) == (url.removeprefix("https://"), ["sts.amazonaws.com"])
    assert only(IAM.list_open_id_connect_providers(), "OpenIDConnectProviderList")["Arn"] == made["OpenIDConnectProviderArn"]
    IAM.delete_open_id_connect_provider(**arn)
    refused("NoSuchEntity", IAM.get_open_id_connect_provider, **arn)


def test_user_data_in_s3():
    account = STS.get_caller_identity()["Account"]
    where = {"Bucket": "nodes", "Key": "a/foo-user-data/g(1)/0f"}
    refused("NoSuchBucket", S3.put_object, **where, Body=b"x")
    control("PUT", "regions/eu-central-1/buckets/nodes", {"reader_tag": "foo-node-role"})
    reader = f"arn:aws:iam::{account}:role/nodes"
    tags = urllib.parse.urlencode({"foo-node-role": reader})
    S3.put_object(**where, Body=b"\xff", Tagging=tags, IfNoneMatch="*", ExpectedBucketOwner=account)
    refused("PreconditionFailed", S3.put_object, **where, Body=b"other", IfNoneMatch="*")
    refused("AccessDenied", S3.delete_object, **where, ExpectedBucketOwner="999999999999")
    found = only(S3.list_objects_v2(Bucket="nodes", Prefix="a/foo-user-data/"), "Contents")
    assert (found["Key"], found["Size"]) == (where["Key"], 1)
    assert S3.list_objects_v2(Bucket="nodes", Prefix="b")["KeyCount"] == 0
    # Only the named role reads it.
    for role, reads in (("nodes", True), ("others", False)):
        control("PUT", "roles", {"name": role, "trusts": ["*"]})
        credentials = STS.assume_role(RoleArn=f"arn:aws:iam::{account}:role/{role}", RoleSessionName="i-1")["Credentials"]
        bucket = session(credentials, "s3")
        if reads:
            assert bucket.get_object(**where)["Body"].read() == b"\xff"
            assert fetched_by_an_instance(where, credentials) == b"\xff"
        else:
            refused("AccessDenied", bucket.get_object, **where)
    refused("AccessDenied", S3.get_object, **where)
    S3.delete_object(**where)
    S3.delete_object(**where)
    assert S3.list_objects_v2(Bucket="nodes")["KeyCount"] == 0


def fetched_by_an_instance(where, credentials):
    """What the part handler of the provider hands to cloud-init, with a metadata service that gives these credentials."""
    import http.server
    import threading
    from types import SimpleNamespace

    keys = {"AccessKeyId": "AccessKeyId", "SecretAccessKey": "SecretAccessKey", "SessionToken": "Token"}
    responses = {
        "/latest/api/token": "token",
        "/latest/meta-data/iam/security-credentials/": "nodes",
        "/latest/meta-data/iam/security-credentials/nodes": json.dumps({keys[k]: credentials[k] for k in keys}),
    }

    class Metadata(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            allowed = self.command == "PUT" or self.headers.get("X-aws-ec2-metadata-token") == "token"
            self.send_response(200 if allowed and self.path in responses else 401)
            self.end_headers()
            self.wfile.write(responses.get(self.path, "").encode())

        do_PUT = do_GET

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Metadata)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    handler = {"__name__": "part_handler"}
    exec(compile(HANDLER.read_text(), str(HANDLER), "exec"), handler)
    handler["METADATA"][:] = ["http://127.0.0.1:1/latest/", f"http://127.0.0.1:{server.server_port}/latest/"]
    handler["PAUSE"], handler["ATTEMPTS"] = 0, 3
    body = hashlib.sha256(b"\xff").hexdigest()
    place = {"url": f"{ENDPOINT}/nodes/a/foo-user-data/g%281%29/0f", "region": "eu-central-1", "sha256": body}
    cloud = SimpleNamespace(datasource=SimpleNamespace(vendordata_raw=None, vendordata="before"))
    assert handler["list_types"]() == ["text/x-foo-user-data"]
    handler["handle_part"](cloud, "__begin__", None, None)
    handler["handle_part"](cloud, "text/x-foo-user-data", "part", json.dumps(place))
    assert cloud.datasource.vendordata is None
    try:
        handler["handle_part"](cloud, "text/x-foo-user-data", "part", json.dumps({**place, "sha256": "00"}))
        raise AssertionError("another object was taken")
    except OSError as error:
        assert "another SHA-256" in str(error)
    server.shutdown()
    return cloud.datasource.vendordata_raw


def test_target_groups():
    _, v2 = BALANCING
    subnets = {"kind": "Network", "subnets": SUBNETS[:2]}
    control("POST", "regions/eu-central-1/load-balancers", {"name": "tg", "target_groups": ["tg"], **subnets})
    balancer = only(v2.describe_load_balancers(Names=["tg"]), "LoadBalancers")["LoadBalancerArn"]
    arn = only(v2.describe_target_groups(LoadBalancerArn=balancer), "TargetGroups")["TargetGroupArn"]
    source = {"Identifier": arn, "Type": "elbv2"}
    create("targets", template("targets"), MaxSize=1, DesiredCapacity=1, TargetGroupARNs=[arn])
    wait(180)
    found = group("targets")
    (member,) = found["Instances"]
    assert (found["TargetGroupARNs"], found["TrafficSources"]) == ([arn], [source])
    target = only(v2.describe_target_health(TargetGroupArn=arn), "TargetHealthDescriptions")
    assert (target["Target"]["Id"], target["TargetHealth"]["State"]) == (member["InstanceId"], "healthy")
    control("PUT", f"regions/eu-central-1/instances/{member['InstanceId']}/target-health", {"state": "Unhealthy"})
    targets = v2.describe_target_health(TargetGroupArn=arn, Targets=[{"Id": member["InstanceId"]}])
    assert only(targets, "TargetHealthDescriptions")["TargetHealth"]["Reason"] == "Target.FailedHealthChecks"
    control("PUT", f"regions/eu-central-1/instances/{member['InstanceId']}/target-health", {"state": None})
    name = {"AutoScalingGroupName": "targets"}
    states = AUTOSCALING.describe_load_balancer_target_groups(**name)
    assert only(states, "LoadBalancerTargetGroups") == {"LoadBalancerTargetGroupARN": arn, "State": "InService"}
    assert only(AUTOSCALING.describe_traffic_sources(**name), "TrafficSources")["Identifier"] == arn
    AUTOSCALING.detach_traffic_sources(**name, TrafficSources=[source])
    assert group("targets")["TargetGroupARNs"] == []
    AUTOSCALING.attach_traffic_sources(**name, TrafficSources=[source])
    AUTOSCALING.detach_load_balancer_target_groups(**name, TargetGroupARNs=[arn])
    AUTOSCALING.attach_load_balancer_target_groups(**name, TargetGroupARNs=[arn])
    assert group("targets")["TargetGroupARNs"] == [arn]
    refused("ValidationError", AUTOSCALING.attach_traffic_sources, **name, TrafficSources=[{"Identifier": "old"}])
    refused("TargetGroupNotFound", v2.describe_target_health, TargetGroupArn=arn + "0")
    AUTOSCALING.delete_auto_scaling_group(**name, ForceDelete=True)
    v2.delete_load_balancer(LoadBalancerArn=balancer)
    v2.delete_target_group(TargetGroupArn=arn)
    wait(360)


def test_other_traffic_sources():
    """Classic Load Balancers and VPC Lattice, by the calls for all traffic sources and by the older ones."""
    classic, _ = BALANCING
    control("POST", "regions/eu-central-1/load-balancers", {"name": "clb", "kind": "Classic", "subnets": SUBNETS[:2]})
    arn = control("POST", "regions/eu-central-1/lattice-target-groups", {})["id"]
    sources = [{"Identifier": "clb", "Type": "elb"}, {"Identifier": arn, "Type": "vpc-lattice"}]
    name = {"AutoScalingGroupName": "sources"}
    create("sources", template("sources"), MaxSize=1, DesiredCapacity=1, TrafficSources=sources)
    wait(180)
    found = group("sources")
    assert (found["LoadBalancerNames"], found["TrafficSources"]) == (["clb"], sources)
    states = AUTOSCALING.describe_load_balancers(**name)
    assert only(states, "LoadBalancers") == {"LoadBalancerName": "clb", "State": "InService"}
    lattice = AUTOSCALING.describe_traffic_sources(**name, TrafficSourceType="vpc-lattice")
    assert only(lattice, "TrafficSources")["Identifier"] == arn
    AUTOSCALING.detach_traffic_sources(**name, TrafficSources=sources)
    assert group("sources")["TrafficSources"] == []
    AUTOSCALING.attach_load_balancers(**name, LoadBalancerNames=["clb"])
    assert group("sources")["TrafficSources"] == sources[:1]
    AUTOSCALING.detach_load_balancers(**name, LoadBalancerNames=["clb"])
    refused("ValidationError", AUTOSCALING.detach_load_balancers, **name, LoadBalancerNames=["clb"])
    refused("ValidationError", AUTOSCALING.attach_load_balancers, **name, LoadBalancerNames=["missing"])
    AUTOSCALING.delete_auto_scaling_group(**name, ForceDelete=True)
    classic.delete_load_balancer(LoadBalancerName="clb")
    wait(360)


def test_load_balancers_and_quotas():
    classic, v2 = BALANCING
    tags = {"kubernetes.io/cluster/c": "owned"}
    for name, kind in (("old", "Classic"), ("web", "Application")):
        made = {"name": name, "kind": kind, "subnets": SUBNETS[:2], "target_groups": [f"{name}-tg"], "tags": tags}
        control("POST", "regions/eu-central-1/load-balancers", made)
    balancer = only(v2.describe_load_balancers(), "LoadBalancers")
    assert (balancer["Type"], balancer["State"]["Code"], len(balancer["AvailabilityZones"])) == ("application", "active", 2)
    arn = balancer["LoadBalancerArn"]
    refused("LoadBalancerNotFound", v2.describe_load_balancers, Names=["missing"])
    assert only(v2.describe_tags(ResourceArns=[arn]), "TagDescriptions")["Tags"] == [
        {"Key": "kubernetes.io/cluster/c", "Value": "owned"}
    ]
    group = only(v2.describe_target_groups(LoadBalancerArn=arn), "TargetGroups")["TargetGroupArn"]
    refused("ResourceInUse", v2.delete_target_group, TargetGroupArn=group)
    v2.delete_load_balancer(LoadBalancerArn=arn)
    v2.delete_target_group(TargetGroupArn=group)
    old = only(classic.describe_load_balancers(), "LoadBalancerDescriptions")
    assert (old["LoadBalancerName"], sorted(old["Subnets"])) == ("old", SUBNETS[:2])
    assert only(classic.describe_tags(LoadBalancerNames=["old"]), "TagDescriptions")["Tags"]
    refused("LoadBalancerNotFound", classic.describe_tags, LoadBalancerNames=["web"])
    classic.delete_load_balancer(LoadBalancerName="old")
    assert classic.describe_load_balancers()["LoadBalancerDescriptions"] == []

    quota = QUOTAS.get_service_quota(ServiceCode="vpc", QuotaCode="L-F678F1CE")["Quota"]
    assert (quota["QuotaName"], quota["Value"]) == ("VPCs per Region", 5.0)
    refused("NoSuchResourceException", QUOTAS.get_service_quota, ServiceCode="vpc", QuotaCode="L-00000000")
    pages = QUOTAS.get_paginator("list_service_quotas").paginate(ServiceCode="vpc", PaginationConfig={"PageSize": 2})
    assert len({quota["QuotaCode"] for page in pages for quota in page["Quotas"]}) == 9
    control("PATCH", "regions/eu-central-1/settings", {"network_quotas": {"vpcs": 1}})
    refused("VpcLimitExceeded", EC2.create_vpc, CidrBlock="10.1.0.0/16")
    quota = QUOTAS.get_service_quota(ServiceCode="ec2", QuotaCode="L-0263D0A3")["Quota"]
    assert quota["Value"] == 5.0, "quotas that a change does not name stay"
    control("PATCH", "regions/eu-central-1/settings", {"network_quotas": {"vpcs": 5}})


def test_template_data_round_trip():
    data = dict(
        ImageId=IMAGE,
        InstanceType="m7i.large",
        KeyName="ssh",
        EbsOptimized=True,
        IamInstanceProfile={"Name": "nodes"},
        UserData=base64.b64encode(b"#!/bin/sh\n").decode(),
        BlockDeviceMappings=[
            {
                "DeviceName": "/dev/xvda",
                "Ebs": {
                    "VolumeSize": 30,
                    "VolumeType": "gp3",
                    "Iops": 4000,
                    "Throughput": 250,
                    "Encrypted": True,
                    "DeleteOnTermination": True,
                    "KmsKeyId": "alias/ebs",
                },
            },
            {"DeviceName": "/dev/xvdb", "Ebs": {"VolumeSize": 100, "VolumeType": "io2"}},
        ],
        NetworkInterfaces=[
            {"DeviceIndex": 0, "Groups": [SECURITY_GROUP], "AssociatePublicIpAddress": False, "SubnetId": SUBNETS[0]},
            {"DeviceIndex": 1, "NetworkCardIndex": 1, "Groups": [SECURITY_GROUP], "DeleteOnTermination": True},
        ],
        Monitoring={"Enabled": True},
        Placement={"Tenancy": "default", "GroupName": "near"},
        InstanceMarketOptions={"MarketType": "spot", "SpotOptions": {"MaxPrice": "0.05"}},
        MetadataOptions={"HttpTokens": "required", "HttpPutResponseHopLimit": 1, "HttpEndpoint": "enabled"},
        TagSpecifications=[
            {"ResourceType": "instance", "Tags": [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "<&>\"' ü"}]},
            {"ResourceType": "volume", "Tags": [{"Key": "c", "Value": ""}]},
            {"ResourceType": "network-interface", "Tags": [{"Key": "node.k8s.amazonaws.com/no_manage", "Value": "true"}]},
        ],
        CpuOptions={"CoreCount": 1, "ThreadsPerCore": 1, "NestedVirtualization": "enabled"},
        MaintenanceOptions={"AutoRecovery": "disabled"},
        KernelId="aki-1",
        RamDiskId="ari-1",
        DisableApiStop=True,
        DisableApiTermination=False,
        SecondaryInterfaces=[
            {
                "DeleteOnTermination": True,
                "DeviceIndex": 1,
                "InterfaceType": "secondary",
                "NetworkCardIndex": 2,
                "PrivateIpAddressCount": 3,
                "SecondarySubnetId": "ss-1",
            }
        ],
        CapacityReservationSpecification={"CapacityReservationPreference": "open"},
        PrivateDnsNameOptions={"HostnameType": "ip-name", "EnableResourceNameDnsARecord": True},
        NetworkPerformanceOptions={"BandwidthWeighting": "vpc-1"},
        LicenseSpecifications=[{"LicenseConfigurationArn": "arn:x"}],
        InstanceRequirements={
            "VCpuCount": {"Min": 2, "Max": 4},
            "MemoryMiB": {"Min": 4096},
            "CpuManufacturers": ["intel", "amd"],
            "AllowedInstanceTypes": ["m7i.*"],
        },
    )
    made = EC2.create_launch_template(
        LaunchTemplateName="round-trip",
        VersionDescription="first",
        LaunchTemplateData=data,
        TagSpecifications=[{"ResourceType": "launch-template", "Tags": [{"Key": "owner", "Value": "us"}]}],
    )["LaunchTemplate"]
    assert made["Tags"] == [{"Key": "owner", "Value": "us"}]
    version = EC2.describe_launch_template_versions(LaunchTemplateName="round-trip", Versions=["$Latest"])
    version = version["LaunchTemplateVersions"][0]
    assert (version["VersionNumber"], version["DefaultVersion"]) == (1, True)
    found = version["LaunchTemplateData"]
    assert found == data, f"{found}\n{data}"


def test_template_versions():
    template_id = template("versions")
    add = lambda **more: EC2.create_launch_template_version(  # noqa: E731
        LaunchTemplateId=template_id, LaunchTemplateData=template_data(**more)
    )["LaunchTemplateVersion"]["VersionNumber"]
    assert [add() for _ in range(5)] == [2, 3, 4, 5, 6]
    pages = EC2.get_paginator("describe_launch_template_versions").paginate(
        LaunchTemplateId=template_id, PaginationConfig={"PageSize": 2}
    )
    numbers = [each["VersionNumber"] for page in pages for each in page["LaunchTemplateVersions"]]
    assert numbers == [6, 5, 4, 3, 2, 1], numbers
    EC2.modify_launch_template(LaunchTemplateId=template_id, DefaultVersion="2")
    result = EC2.delete_launch_template_versions(LaunchTemplateId=template_id, Versions=["1", "2", "6", "99"])
    gone = [each["VersionNumber"] for each in result["SuccessfullyDeletedLaunchTemplateVersions"]]
    kept = {
        each["VersionNumber"]: each["ResponseError"]["Code"]
        for each in result["UnsuccessfullyDeletedLaunchTemplateVersions"]
    }
    assert gone == [1, 6]
    assert kept[99] == "launchTemplateVersionDoesNotExist" and 2 in kept
    assert add() == 7
    summary = EC2.describe_launch_templates(LaunchTemplateIds=[template_id])["LaunchTemplates"][0]
    assert (summary["DefaultVersionNumber"], summary["LatestVersionNumber"]) == (2, 7)
    EC2.create_tags(Resources=[template_id], Tags=[{"Key": "colour", "Value": "red"}])
    found = EC2.describe_launch_templates(Filters=[{"Name": "tag:colour", "Values": ["red"]}])["LaunchTemplates"]
    assert [each["LaunchTemplateId"] for each in found] == [template_id]
    EC2.delete_tags(Resources=[template_id], Tags=[{"Key": "colour"}])
    assert not EC2.describe_launch_templates(Filters=[{"Name": "tag-key", "Values": ["colour"]}])["LaunchTemplates"]
    refused(
        "InvalidLaunchTemplateId.VersionNotFound",
        EC2.describe_launch_template_versions,
        LaunchTemplateId=template_id,
        Versions=["1"],
    )
    EC2.delete_launch_template(LaunchTemplateId=template_id)
    refused("InvalidLaunchTemplateId.NotFound", EC2.delete_launch_template, LaunchTemplateId=template_id)
    refused("InvalidLaunchTemplateId.NotFound", EC2.describe_launch_templates, LaunchTemplateIds=[template_id])
    refused(
        "InvalidLaunchTemplateName.NotFoundException",
        EC2.describe_launch_templates,
        LaunchTemplateNames=["versions"],
    )


def test_client_token():
    make = lambda token, kind: EC2.create_launch_template(  # noqa: E731
        LaunchTemplateName="token", LaunchTemplateData=template_data(kind), ClientToken=token
    )["LaunchTemplate"]["LaunchTemplateId"]
    assert make("one", "m7i.large") == make("one", "m7i.large")
    refused(
        "InvalidLaunchTemplateName.AlreadyExistsException",
        EC2.create_launch_template,
        LaunchTemplateName="token",
        LaunchTemplateData=template_data(),
    )
    refused(
        "IdempotentParameterMismatch",
        EC2.create_launch_template,
        LaunchTemplateName="token",
        LaunchTemplateData=template_data("m7i.xlarge"),
        ClientToken="one",
    )


def test_life_of_a_group():
    template_id = template("life")
    tags = [
        {"Key": "owner", "Value": "us", "PropagateAtLaunch": False},
        {"Key": "role", "Value": "node", "PropagateAtLaunch": True},
    ]
    settings = dict(
        CapacityRebalance=True,
        MaxInstanceLifetime=86400,
        DefaultInstanceWarmup=30,
        DefaultCooldown=60,
        HealthCheckType="EC2",
        HealthCheckGracePeriod=120,
        TerminationPolicies=["OldestInstance", "Default"],
        NewInstancesProtectedFromScaleIn=True,
        InstanceMaintenancePolicy={"MinHealthyPercentage": 90, "MaxHealthyPercentage": 110},
        AvailabilityZoneDistribution={"CapacityDistributionStrategy": "balanced-best-effort"},
        Context="here",
    )
    create("life", template_id, DesiredCapacity=3, Tags=tags, **settings)
    refused("AlreadyExists", create, name="life", template_id=template_id)
    wait(60)
    found = group("life")
    for key, value in settings.items():
        assert found[key] == value, f"{key}: {found[key]} instead of {value}"
    assert {tag["Key"]: tag["PropagateAtLaunch"] for tag in found["Tags"]} == {"owner": False, "role": True}
    assert sorted({each["AvailabilityZone"] for each in found["Instances"]}) == found["AvailabilityZones"]
    ids = [each["InstanceId"] for each in found["Instances"]]
    for each in found["Instances"]:
        assert (each["LifecycleState"], each["HealthStatus"]) == ("InService", "Healthy")
        assert each["ProtectedFromScaleIn"] is True
        assert each["LaunchTemplate"] == {
            "LaunchTemplateId": template_id,
            "LaunchTemplateName": "life",
            "Version": "1",
        }
    instances = AUTOSCALING.describe_auto_scaling_instances(InstanceIds=ids)["AutoScalingInstances"]
    assert {each["AutoScalingGroupName"] for each in instances} == {"life"}
    in_ec2 = EC2.describe_instances(Filters=[{"Name": "tag:role", "Values": ["node"]}])["Reservations"]
    in_ec2 = [each for reservation in in_ec2 for each in reservation["Instances"]]
    assert sorted(each["InstanceId"] for each in in_ec2) == sorted(ids)
    assert all(each["PrivateDnsName"].endswith(".eu-central-1.compute.internal") for each in in_ec2)

    # Protected members survive scale-in; one is ended by name.
    AUTOSCALING.set_desired_capacity(AutoScalingGroupName="life", DesiredCapacity=2)
    wait(60)
    assert len(group("life")["Instances"]) == 3
    AUTOSCALING.set_instance_protection(
        AutoScalingGroupName="life", InstanceIds=ids[:1], ProtectedFromScaleIn=False
    )
    wait(60)
    assert sorted(each["InstanceId"] for each in group("life")["Instances"]) == sorted(ids[1:])
    activity = AUTOSCALING.terminate_instance_in_auto_scaling_group(
        InstanceId=ids[1], ShouldDecrementDesiredCapacity=True
    )["Activity"]
    assert (activity["StatusCode"], activity["AutoScalingGroupName"]) == ("InProgress", "life")
    assert group("life")["DesiredCapacity"] == 1
    wait(60)
    refused(
        "ValidationError",
        AUTOSCALING.terminate_instance_in_auto_scaling_group,
        InstanceId=ids[1],
        ShouldDecrementDesiredCapacity=True,
    )
    # One dies in EC2 and is replaced.
    changes = EC2.terminate_instances(InstanceIds=[ids[2]])["TerminatingInstances"]
    assert changes[0]["CurrentState"]["Name"] == "shutting-down"
    assert changes[0]["PreviousState"]["Name"] == "running"
    wait(120)
    (replacement,) = group("life")["Instances"]
    assert replacement["InstanceId"] != ids[2]
    pages = AUTOSCALING.get_paginator("describe_scaling_activities").paginate(
        AutoScalingGroupName="life", PaginationConfig={"PageSize": 3}
    )
    activities = [each for page in pages for each in page["Activities"]]
    ended = [each for each in activities if each["Description"].startswith("Terminating EC2 instance")]
    assert len(ended) == 3 and all(each["StatusCode"] == "Successful" for each in ended)
    times = [each["StartTime"] for each in activities]
    assert times == sorted(times, reverse=True)

    AUTOSCALING.suspend_processes(AutoScalingGroupName="life", ScalingProcesses=["AZRebalance", "Launch"])
    assert sorted(each["ProcessName"] for each in group("life")["SuspendedProcesses"]) == ["AZRebalance", "Launch"]
    AUTOSCALING.resume_processes(AutoScalingGroupName="life")
    assert group("life")["SuspendedProcesses"] == []
    refused(
        "ValidationError", AUTOSCALING.suspend_processes, AutoScalingGroupName="life", ScalingProcesses=["Sleep"]
    )
    message = refused(
        "ValidationError", AUTOSCALING.set_desired_capacity, AutoScalingGroupName="life", DesiredCapacity=11
    )
    assert message == "New SetDesiredCapacity value 11 is above max value 10 for the AutoScalingGroup."
    refused("ResourceInUse", AUTOSCALING.delete_auto_scaling_group, AutoScalingGroupName="life")
    AUTOSCALING.delete_auto_scaling_group(AutoScalingGroupName="life", ForceDelete=True)
    assert group("life")["Status"] == "Delete in progress"
    wait(60)
    assert not AUTOSCALING.describe_auto_scaling_groups(AutoScalingGroupNames=["life"])["AutoScalingGroups"]


def test_mixed_instances():
    template_id = template("mixed", instance_type="t3.medium")
    policy = {
        "LaunchTemplate": {
            "LaunchTemplateSpecification": {"LaunchTemplateId": template_id, "Version": "$Latest"},
            "Overrides": [{"InstanceType": "m7i.large"}, {"InstanceType": "m6i.large"}],
        },
        "InstancesDistribution": {
            "OnDemandBaseCapacity": 1,
            "OnDemandPercentageAboveBaseCapacity": 0,
            "SpotAllocationStrategy": "price-capacity-optimized",
        },
    }
    AUTOSCALING.create_auto_scaling_group(
        AutoScalingGroupName="mixed",
        MinSize=0,
        MaxSize=10,
        DesiredCapacity=3,
        VPCZoneIdentifier=",".join(SUBNETS),
        MixedInstancesPolicy=policy,
    )
    wait(60)
    found = group("mixed")
    assert "LaunchTemplate" not in found
    assert found["MixedInstancesPolicy"]["LaunchTemplate"]["Overrides"] == policy["LaunchTemplate"]["Overrides"]
    assert found["MixedInstancesPolicy"]["InstancesDistribution"]["OnDemandBaseCapacity"] == 1
    ids = [each["InstanceId"] for each in found["Instances"]]
    assert {each["InstanceType"] for each in found["Instances"]} == {"m7i.large"}
    reservations = EC2.describe_instances(InstanceIds=ids)["Reservations"]
    spot = [each for r in reservations for each in r["Instances"] if each.get("InstanceLifecycle") == "spot"]
    assert len(spot) == 2
    AUTOSCALING.update_auto_scaling_group(AutoScalingGroupName="mixed", MaxSize=5)
    assert group("mixed")["MixedInstancesPolicy"] == found["MixedInstancesPolicy"]
    for image in IMAGES_ARM64:
        overrides = [{"InstanceType": "m7i.large"}, {"InstanceType": "m7g.large", "ImageId": image}]
        AUTOSCALING.update_auto_scaling_group(
            AutoScalingGroupName="mixed", MixedInstancesPolicy={"LaunchTemplate": {"Overrides": overrides}}
        )
        assert group("mixed")["MixedInstancesPolicy"]["LaunchTemplate"]["Overrides"] == overrides
    requirements = {
        "VCpuCount": {"Min": 2, "Max": 4},
        "MemoryMiB": {"Min": 4096},
        "MemoryGiBPerVCpu": {"Min": 0.5},
        "CpuManufacturers": ["intel", "amd"],
        "InstanceGenerations": ["current"],
        "BareMetal": "excluded",
        "OnDemandMaxPricePercentageOverLowestPrice": 50,
    }
    by_attributes = {
        "LaunchTemplate": {"Overrides": [{"InstanceRequirements": requirements}]},
        "InstancesDistribution": {"OnDemandAllocationStrategy": "lowest-price"},
    }
    AUTOSCALING.update_auto_scaling_group(AutoScalingGroupName="mixed", MixedInstancesPolicy=by_attributes)
    found = group("mixed")["MixedInstancesPolicy"]
    assert found["LaunchTemplate"]["Overrides"] == [{"InstanceRequirements": requirements}]
    assert found["InstancesDistribution"]["OnDemandAllocationStrategy"] == "lowest-price"
    AUTOSCALING.update_auto_scaling_group(
        AutoScalingGroupName="mixed", LaunchTemplate={"LaunchTemplateName": "mixed", "Version": "1"}
    )
    found = group("mixed")
    assert "MixedInstancesPolicy" not in found
    assert found["LaunchTemplate"] == {
        "LaunchTemplateId": template_id,
        "LaunchTemplateName": "mixed",
        "Version": "1",
    }


def test_capacity():
    for zone in "abc":
        limit = {"zone": f"eu-central-1{zone}", "instance_type": "r7i.large", "limit": 0}
        control("PUT", "regions/eu-central-1/capacity", limit)
    create("capacity", template("capacity", instance_type="r7i.large"), DesiredCapacity=1)
    wait(5)
    activities = AUTOSCALING.describe_scaling_activities(AutoScalingGroupName="capacity")["Activities"]
    assert {each["StatusCode"] for each in activities} == {"Failed"}
    assert "sufficient r7i.large capacity" in activities[0]["StatusMessage"]
    assert group("capacity")["Instances"] == []


def test_standby_health_attach():
    create("moves", template("moves"), DesiredCapacity=2)
    wait(60)
    first, second = [each["InstanceId"] for each in group("moves")["Instances"]]
    both = dict(AutoScalingGroupName="moves", InstanceIds=[first])
    activities = AUTOSCALING.enter_standby(**both, ShouldDecrementDesiredCapacity=True)["Activities"]
    assert activities[0]["StatusCode"] == "InProgress"
    wait(10)
    states = {each["InstanceId"]: each["LifecycleState"] for each in group("moves")["Instances"]}
    assert states == {first: "Standby", second: "InService"}
    AUTOSCALING.exit_standby(**both)
    wait(10)
    AUTOSCALING.detach_instances(**both, ShouldDecrementDesiredCapacity=True)
    wait(10)
    assert [each["InstanceId"] for each in group("moves")["Instances"]] == [second]
    AUTOSCALING.attach_instances(**both)
    wait(10)
    assert group("moves")["DesiredCapacity"] == 2
    AUTOSCALING.set_instance_health(InstanceId=second, HealthStatus="Unhealthy", ShouldRespectGracePeriod=False)
    wait(60)
    assert second not in [each["InstanceId"] for each in group("moves")["Instances"]]
    ids = [each["InstanceId"] for each in group("moves")["Instances"]]
    for odd in [dict(InstanceIds=ids), dict(InstanceIds=ids, InstanceId=ids[0], AutoScalingGroupName="moves")]:
        end = AUTOSCALING.terminate_instance_in_auto_scaling_group
        refused("ValidationError", end, **odd, ShouldDecrementDesiredCapacity=True)
    response = AUTOSCALING.terminate_instance_in_auto_scaling_group(
        InstanceIds=ids, AutoScalingGroupName="moves", ShouldDecrementDesiredCapacity=True
    )
    assert len(response["Activities"]) == 2
    assert group("moves")["DesiredCapacity"] == 0


def test_notifications():
    create("told", template("told"), DesiredCapacity=0)
    topic = dict(AutoScalingGroupName="told", TopicARN="arn:aws:sns:eu-central-1:123456789012:ops")
    launch, terminate = "autoscaling:EC2_INSTANCE_LAUNCH", "autoscaling:EC2_INSTANCE_TERMINATE"
    AUTOSCALING.put_notification_configuration(NotificationTypes=[launch, terminate], **topic)
    described = AUTOSCALING.get_paginator("describe_notification_configurations").paginate(
        AutoScalingGroupNames=["told"], PaginationConfig={"PageSize": 1}
    )
    found = described.build_full_result()["NotificationConfigurations"]
    assert [each["NotificationType"] for each in found] == [launch, terminate]
    AUTOSCALING.put_notification_configuration(NotificationTypes=[terminate], **topic)
    found = AUTOSCALING.describe_notification_configurations()["NotificationConfigurations"]
    assert found == [dict(NotificationType=terminate, **topic)]
    refused("ValidationError", AUTOSCALING.put_notification_configuration, NotificationTypes=["x"], **topic)
    AUTOSCALING.delete_notification_configuration(**topic)
    assert AUTOSCALING.describe_notification_configurations()["NotificationConfigurations"] == []


def test_lifecycle_hooks():
    template_id = template("hooked")
    boot = dict(LifecycleHookName="boot", LifecycleTransition="autoscaling:EC2_INSTANCE_LAUNCHING", HeartbeatTimeout=60)
    create("hooked", template_id, DesiredCapacity=1, LifecycleHookSpecificationList=[boot])
    AUTOSCALING.put_lifecycle_hook(
        AutoScalingGroupName="hooked",
        LifecycleHookName="drain",
        LifecycleTransition="autoscaling:EC2_INSTANCE_TERMINATING",
        NotificationMetadata="cluster-a",
        DefaultResult="CONTINUE",
    )
    hooks = AUTOSCALING.describe_lifecycle_hooks(AutoScalingGroupName="hooked")["LifecycleHooks"]
    assert {each["LifecycleHookName"]: each["HeartbeatTimeout"] for each in hooks} == {"boot": 60, "drain": 3600}
    assert {each["LifecycleHookName"]: each["GlobalTimeout"] for each in hooks} == {"boot": 6000, "drain": 172800}
    assert {each["LifecycleHookName"]: each["DefaultResult"] for each in hooks} == {
        "boot": "ABANDON",
        "drain": "CONTINUE",
    }
    (found,) = AUTOSCALING.describe_lifecycle_hooks(AutoScalingGroupName="hooked", LifecycleHookNames=["drain"])[
        "LifecycleHooks"
    ]
    assert found["NotificationMetadata"] == "cluster-a"
    drain = dict(AutoScalingGroupName="hooked", LifecycleHookName="drain")
    queue = "arn:aws:sqs:eu-central-1:123456789012:waits"
    refused("ValidationError", AUTOSCALING.put_lifecycle_hook, NotificationTargetARN=queue, **drain)
    AUTOSCALING.put_lifecycle_hook(
        NotificationTargetARN=queue, RoleARN="arn:aws:iam::123456789012:role/a.hooks.infrastructure.foo.com", **drain
    )
    describe_drain = dict(AutoScalingGroupName="hooked", LifecycleHookNames=["drain"])
    (found,) = AUTOSCALING.describe_lifecycle_hooks(**describe_drain)["LifecycleHooks"]
    assert (found["NotificationTargetARN"], found["NotificationMetadata"]) == (queue, "cluster-a")
    AUTOSCALING.put_lifecycle_hook(NotificationTargetARN="", **drain)
    (found,) = AUTOSCALING.describe_lifecycle_hooks(**describe_drain)["LifecycleHooks"]
    assert "NotificationTargetARN" not in found and found["NotificationMetadata"] == "cluster-a"
    assert len(AUTOSCALING.describe_lifecycle_hook_types()["LifecycleHookTypes"]) == 2
    wait(40)
    (member,) = group("hooked")["Instances"]
    assert member["LifecycleState"] == "Pending:Wait"
    action = dict(AutoScalingGroupName="hooked", LifecycleHookName="boot", InstanceId=member["InstanceId"])
    AUTOSCALING.record_lifecycle_action_heartbeat(**action)
    AUTOSCALING.complete_lifecycle_action(LifecycleActionResult="CONTINUE", **action)
    wait(5)
    assert group("hooked")["Instances"][0]["LifecycleState"] == "InService"
    refused("ValidationError", AUTOSCALING.complete_lifecycle_action, LifecycleActionResult="CONTINUE", **action)
    AUTOSCALING.terminate_instance_in_auto_scaling_group(
        InstanceId=member["InstanceId"], ShouldDecrementDesiredCapacity=True
    )
    wait(60)
    assert group("hooked")["Instances"][0]["LifecycleState"] == "Terminating:Wait"
    action["LifecycleHookName"] = "drain"
    AUTOSCALING.complete_lifecycle_action(LifecycleActionResult="ABANDON", **action)
    wait(60)
    assert group("hooked")["Instances"] == []
    refused("ValidationError", AUTOSCALING.put_lifecycle_hook, AutoScalingGroupName="hooked", LifecycleHookName="x")
    for name in ["boot", "drain"]:
        AUTOSCALING.delete_lifecycle_hook(AutoScalingGroupName="hooked", LifecycleHookName=name)
    assert AUTOSCALING.describe_lifecycle_hooks(AutoScalingGroupName="hooked")["LifecycleHooks"] == []


def test_instance_refresh():
    template_id = template("refreshed")
    create("refreshed", template_id, DesiredCapacity=4)
    wait(60)
    EC2.create_launch_template_version(LaunchTemplateId=template_id, LaunchTemplateData=template_data("m7i.xlarge"))
    wanted = {"LaunchTemplateId": template_id, "LaunchTemplateName": "refreshed", "Version": "2"}
    preferences = dict(
        MinHealthyPercentage=50,
        MaxHealthyPercentage=100,
        InstanceWarmup=0,
        CheckpointPercentages=[50, 100],
        CheckpointDelay=600,
        SkipMatching=True,
        AutoRollback=True,
        ScaleInProtectedInstances="Refresh",
        StandbyInstances="Ignore",
        BakeTime=60,
    )
    started = AUTOSCALING.start_instance_refresh(
        AutoScalingGroupName="refreshed",
        Strategy="Rolling",
        DesiredConfiguration={"LaunchTemplate": {"LaunchTemplateId": template_id, "Version": "2"}},
        Preferences=preferences,
    )["InstanceRefreshId"]
    refused("InstanceRefreshInProgress", AUTOSCALING.start_instance_refresh, AutoScalingGroupName="refreshed")
    refused("InstanceRefreshInProgress", AUTOSCALING.put_warm_pool, AutoScalingGroupName="refreshed")
    wait(300)
    read = lambda: AUTOSCALING.describe_instance_refreshes(AutoScalingGroupName="refreshed")["InstanceRefreshes"]  # noqa: E731
    (refresh,) = read()
    assert (refresh["InstanceRefreshId"], refresh["Status"], refresh["PercentageComplete"]) == (started, "InProgress", 50)
    assert refresh["InstancesToUpdate"] == 2 and refresh["ProgressDetails"]["LivePoolProgress"]["InstancesToUpdate"] == 2
    assert refresh["Preferences"] == preferences, refresh["Preferences"]
    assert refresh["DesiredConfiguration"]["LaunchTemplate"] == wanted
    assert AUTOSCALING.rollback_instance_refresh(AutoScalingGroupName="refreshed")["InstanceRefreshId"] == started
    wait(300)
    (refresh,) = read()
    assert refresh["Status"] == "RollbackSuccessful"
    assert refresh["RollbackDetails"]["PercentageCompleteOnRollback"] == 50
    assert {each["InstanceType"] for each in group("refreshed")["Instances"]} == {"m7i.large"}
    second = AUTOSCALING.start_instance_refresh(AutoScalingGroupName="refreshed")["InstanceRefreshId"]
    assert AUTOSCALING.cancel_instance_refresh(AutoScalingGroupName="refreshed")["InstanceRefreshId"] == second
    wait(120)
    page = AUTOSCALING.describe_instance_refreshes(AutoScalingGroupName="refreshed", MaxRecords=1)
    rest = AUTOSCALING.describe_instance_refreshes(AutoScalingGroupName="refreshed", NextToken=page["NextToken"])
    both = page["InstanceRefreshes"] + rest["InstanceRefreshes"]
    found = [(each["InstanceRefreshId"], each["Status"]) for each in both]
    assert found == [(second, "Cancelled"), (started, "RollbackSuccessful")], found
    refused("ActiveInstanceRefreshNotFound", AUTOSCALING.cancel_instance_refresh, AutoScalingGroupName="refreshed")
    refused("ActiveInstanceRefreshNotFound", AUTOSCALING.rollback_instance_refresh, AutoScalingGroupName="refreshed")


def test_warm_pool():
    create("warm", template("warm"), DesiredCapacity=1)
    AUTOSCALING.put_warm_pool(
        AutoScalingGroupName="warm",
        MaxGroupPreparedCapacity=3,
        MinSize=1,
        PoolState="Stopped",
        InstanceReusePolicy={"ReuseOnScaleIn": True},
    )
    wait(90)
    found = group("warm")
    assert (len(found["Instances"]), found["WarmPoolSize"]) == (1, 2)
    pages = AUTOSCALING.get_paginator("describe_warm_pool").paginate(
        AutoScalingGroupName="warm", PaginationConfig={"PageSize": 1}
    )
    pages = list(pages)
    assert pages[0]["WarmPoolConfiguration"] == found["WarmPoolConfiguration"] == {
        "MaxGroupPreparedCapacity": 3,
        "MinSize": 1,
        "PoolState": "Stopped",
        "InstanceReusePolicy": {"ReuseOnScaleIn": True},
    }
    warm = [each for page in pages for each in page["Instances"]]
    assert [each["LifecycleState"] for each in warm] == ["Warmed:Stopped"] * 2
    ids = [each["InstanceId"] for each in warm]
    states = EC2.describe_instances(InstanceIds=ids)["Reservations"]
    assert {each["State"]["Name"] for one in states for each in one["Instances"]} == {"stopped"}
    shown = AUTOSCALING.describe_auto_scaling_instances(InstanceIds=ids)["AutoScalingInstances"]
    assert {each["LifecycleState"] for each in shown} == {"Warmed:Stopped"}
    AUTOSCALING.delete_warm_pool(AutoScalingGroupName="warm")
    status = AUTOSCALING.describe_warm_pool(AutoScalingGroupName="warm")["WarmPoolConfiguration"]["Status"]
    assert status == "PendingDelete"
    wait(60)
    assert "WarmPoolConfiguration" not in AUTOSCALING.describe_warm_pool(AutoScalingGroupName="warm")
    refused("ValidationError", AUTOSCALING.delete_warm_pool, AutoScalingGroupName="warm")


def test_launch_instances():
    create("at-once", template("at-once"))
    ask = lambda **more: AUTOSCALING.launch_instances(  # noqa: E731
        AutoScalingGroupName="at-once", AvailabilityZones=["eu-central-1a"], **more
    )
    first = ask(RequestedCapacity=2, ClientToken="once")
    (launched,) = first["Instances"]
    assert launched["AvailabilityZoneId"] == "euc1-az1" and len(launched["InstanceIds"]) == 2
    assert ask(RequestedCapacity=2, ClientToken="once")["Instances"] == first["Instances"]
    refused("IdempotentParameterMismatch", ask, RequestedCapacity=1, ClientToken="once")
    assert group("at-once")["DesiredCapacity"] == 2
    capacity = {"zone": "eu-central-1a", "instance_type": "m7i.large"}
    control("PUT", "regions/eu-central-1/capacity", {**capacity, "limit": 0})
    (error,) = ask(RequestedCapacity=1, ClientToken="none")["Errors"]
    assert error["ErrorCode"] == "InsufficientInstanceCapacity"
    control("PUT", "regions/eu-central-1/capacity", {**capacity, "limit": None})


def test_queues():
    url = SQS.create_queue(QueueName="round-trip", Attributes={"VisibilityTimeout": "30"})["QueueUrl"]
    assert SQS.get_queue_url(QueueName="round-trip")["QueueUrl"] == url
    assert url in SQS.list_queues(QueueNamePrefix="round")["QueueUrls"]
    SQS.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "60"})
    attributes = SQS.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert attributes["VisibilityTimeout"] == "60" and attributes["QueueArn"].endswith(":round-trip")
    # boto3 compares the checksums of bodies with its own.
    sent = {SQS.send_message(QueueUrl=url, MessageBody=f"message {number}")["MessageId"] for number in range(3)}
    found = SQS.receive_message(QueueUrl=url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"])["Messages"]
    assert {each["MessageId"] for each in found} == sent
    assert found[0]["Attributes"]["ApproximateReceiveCount"] == "1"
    SQS.delete_message(QueueUrl=url, ReceiptHandle=found[0]["ReceiptHandle"])
    entries = [{"Id": "a", "ReceiptHandle": found[1]["ReceiptHandle"]}]
    assert SQS.delete_message_batch(QueueUrl=url, Entries=entries)["Successful"] == [{"Id": "a"}]
    SQS.change_message_visibility(QueueUrl=url, ReceiptHandle=found[2]["ReceiptHandle"], VisibilityTimeout=0)
    assert len(SQS.receive_message(QueueUrl=url)["Messages"]) == 1
    SQS.purge_queue(QueueUrl=url)
    SQS.delete_queue(QueueUrl=url)
    refused("AWS.SimpleQueueService.NonExistentQueue", SQS.get_queue_url, QueueName="round-trip")


def test_parameters():
    path = "/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended"
    found = SSM.get_parameter(Name=f"{path}/image_id")["Parameter"]
    assert (found["Value"], found["Version"], found["Type"]) == (IMAGE, 1, "String")
    pages = SSM.get_paginator("get_parameters_by_path").paginate(
        Path="/aws/service/eks", Recursive=True, PaginationConfig={"PageSize": 3}
    )
    assert len([each for page in pages for each in page["Parameters"]]) == 8 * 2 * 4
    assert SSM.put_parameter(Name="/own/a", Value="one", Type="String")["Version"] == 1
    refused("ParameterAlreadyExists", SSM.put_parameter, Name="/own/a", Value="two", Type="String")
    SSM.put_parameter(Name="/own/a", Value="two", Type="String", Overwrite=True)
    both = SSM.get_parameters(Names=["/own/a:1", "/own/b"])
    assert ([each["Value"] for each in both["Parameters"]], both["InvalidParameters"]) == (["one"], ["/own/b"])
    SSM.delete_parameter(Name="/own/a")
    assert SSM.delete_parameters(Names=["/own/a"])["InvalidParameters"] == ["/own/a"]
    refused("ParameterNotFound", SSM.get_parameter, Name="/own/a")


def test_sessions_of_roles():
    account = STS.get_caller_identity()["Account"]
    role = f"arn:aws:iam::{account}:role/pools"
    allowed = {"Statement": [{"Effect": "Allow", "Action": "autoscaling:Describe*", "Resource": "*"}]}
    control("PUT", "roles", {"name": "pools", "trusts": ["AKIDEXAMPLE"], "policy": allowed})
    control("PUT", "keys", {"id": "AKIDEXAMPLE", "secret": "secret"})
    try:
        response = STS.assume_role(RoleArn=role, RoleSessionName="foo", DurationSeconds=900)
        credentials = response["Credentials"]
        assert response["AssumedRoleUser"]["Arn"] == f"arn:aws:sts::{account}:assumed-role/pools/foo"
        identity = session(credentials, "sts").get_caller_identity()
        assert identity["Arn"] == response["AssumedRoleUser"]["Arn"]
        groups = session(credentials, "autoscaling")
        groups.describe_auto_scaling_groups()
        message = refused("AccessDenied", groups.delete_auto_scaling_group, AutoScalingGroupName="x")
        assert "assumed-role/pools/foo is not authorized to perform: autoscaling:DeleteAutoScalingGroup" in message
        # A wrong secret, a wrong token, no token, an unknown key.
        for wrong in [{"SecretAccessKey": "x"}, {"SessionToken": "x"}, {"SessionToken": None}]:
            code = "SignatureDoesNotMatch" if "SecretAccessKey" in wrong else "InvalidClientTokenId"
            refused(code, session({**credentials, **wrong}, "sts").get_caller_identity)
        refused("InvalidClientTokenId", client("sts", key="AKIDNOBODY").get_caller_identity)
        refused("UnrecognizedClientException", client("ssm", key="AKIDNOBODY").get_parameter, Name="/a")
        # Presigned, as tokens for EKS are made: nothing but the URL is needed; a changed one is refused.
        url = session(credentials, "sts").generate_presigned_url("get_caller_identity", ExpiresIn=60, HttpMethod="GET")
        with urllib.request.urlopen(url) as presigned:
            assert f"assumed-role/pools/foo" in presigned.read().decode()
        # aws-iam-authenticator asks for JSON.
        with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": "application/json"})) as presigned:
            shown = json.load(presigned)["GetCallerIdentityResponse"]
        assert shown["GetCallerIdentityResult"]["Arn"] == identity["Arn"] and shown["ResponseMetadata"]["RequestId"]
        for changed in [url.replace("X-Amz-Expires=60", "X-Amz-Expires=61"), url.replace("Signature=", "Signature=0")]:
            try:
                urllib.request.urlopen(changed)
                raise AssertionError("a changed URL was accepted")
            except urllib.error.HTTPError as error:
                assert error.code == 403
        # Sessions end.
        control("DELETE", "sessions")
        refused("ExpiredToken", groups.describe_auto_scaling_groups)
        refused("RequestExpired", session(credentials, "ec2").describe_vpcs)
        refused("ExpiredTokenException", session(credentials, "ssm").get_parameter, Name="/a")
        # A web identity needs no key at all.
        trust = {"issuer": "https://issuer", "audience": "sts.amazonaws.com", "subject": "system:serviceaccount:*"}
        control("PUT", "roles", {"name": "web", "web_identity": trust})
        claims = {"iss": "https://issuer", "aud": "sts.amazonaws.com", "sub": "system:serviceaccount:a:b"}
        encoded = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
        response = STS.assume_role_with_web_identity(
            RoleArn=f"arn:aws:iam::{account}:role/web", RoleSessionName="web", WebIdentityToken=f"e30.{encoded}.x"
        )
        assert response["SubjectFromWebIdentityToken"] == claims["sub"]
        assert session(response["Credentials"], "sts").get_caller_identity()["Arn"].endswith("assumed-role/web/web")
        refused("AccessDenied", STS.assume_role, RoleArn=f"arn:aws:iam::{account}:role/other", RoleSessionName="foo")
    finally:
        control("DELETE", "keys/AKIDEXAMPLE")


def test_everyday_questions():
    """What consoles and Terraform ask in passing."""
    create("everyday", template("everyday"), MaxSize=1, DesiredCapacity=1)
    wait(60)
    (member,) = group("everyday")["Instances"]
    own = {"InstanceId": member["InstanceId"]}
    (status,) = EC2.describe_instance_status(InstanceIds=[member["InstanceId"]])["InstanceStatuses"]
    assert (status["InstanceStatus"]["Status"], status["Events"]) == ("ok", []), status
    value = EC2.describe_instance_attribute(**own, Attribute="instanceType")["InstanceType"]["Value"]
    assert value == member["InstanceType"]
    assert EC2.describe_instance_attribute(**own, Attribute="groupSet")["Groups"]
    EC2.describe_instance_attribute(**own, Attribute="userData")
    assert not EC2.get_console_output(**own).get("Output")
    control("PUT", f"regions/eu-central-1/instances/{member['InstanceId']}/console", {"output": "login:"})
    assert EC2.get_console_output(**own, Latest=True)["Output"] == "login:"
    address = EC2.describe_instances(InstanceIds=[member["InstanceId"]])["Reservations"][0]["Instances"][0]["PrivateIpAddress"]
    found = EC2.describe_instances(Filters=[{"Name": "private-ip-address", "Values": [address]}])["Reservations"]
    assert [each["InstanceId"] for found in found for each in found["Instances"]] == [member["InstanceId"]]
    assert EC2.describe_tags(Filters=[{"Name": "resource-id", "Values": [member["InstanceId"]]}])["Tags"]
    assert "eu-central-1" in [each["RegionName"] for each in EC2.describe_regions()["Regions"]]
    assert EC2.describe_instance_type_offerings(LocationType="availability-zone")["InstanceTypeOfferings"]
    assert EC2.describe_account_attributes()["AccountAttributes"]
    for action, key in [
        ("volumes", "Volumes"), ("key_pairs", "KeyPairs"), ("network_acls", "NetworkAcls"),
        ("spot_price_history", "SpotPriceHistory"), ("spot_instance_requests", "SpotInstanceRequests"),
    ]:
        assert getattr(EC2, f"describe_{action}")()[key] == [], action
    for action, key in [
        ("policies", "ScalingPolicies"), ("scheduled_actions", "ScheduledUpdateGroupActions"),
        ("notification_configurations", "NotificationConfigurations"), ("launch_configurations", "LaunchConfigurations"),
    ]:
        assert getattr(AUTOSCALING, f"describe_{action}")()[key] == [], action
    for action, key in [
        ("load_balancers", "LoadBalancers"), ("load_balancer_target_groups", "LoadBalancerTargetGroups"),
        ("traffic_sources", "TrafficSources"),
    ]:
        assert getattr(AUTOSCALING, f"describe_{action}")(AutoScalingGroupName="everyday")[key] == [], action
    for action, key in [
        ("account_limits", "MaxNumberOfAutoScalingGroups"), ("termination_policy_types", "TerminationPolicyTypes"),
        ("scaling_process_types", "Processes"), ("adjustment_types", "AdjustmentTypes"),
        ("metric_collection_types", "Metrics"), ("auto_scaling_notification_types", "AutoScalingNotificationTypes"),
    ]:
        assert getattr(AUTOSCALING, f"describe_{action}")()[key], action


def test_capacity_apart():
    """Placement groups, Capacity Reservations and snapshots, and an instance with all of them."""
    tags = [{"Key": "team", "Value": "a"}]
    on = lambda kind: [{"ResourceType": kind, "Tags": tags}]
    made = EC2.create_placement_group(
        GroupName="parts", Strategy="partition", PartitionCount=3, TagSpecifications=on("placement-group")
    )["PlacementGroup"]
    refused("InvalidPlacementGroup.Duplicate", EC2.create_placement_group, GroupName="parts")
    found = only(EC2.describe_placement_groups(GroupIds=[made["GroupId"]]), "PlacementGroups")
    assert found == made and (found["PartitionCount"], found["Tags"]) == (3, tags), found
    refused("InvalidPlacementGroup.Unknown", EC2.describe_placement_groups, GroupNames=["none"])

    zone = "eu-central-1b"
    reservation = EC2.create_capacity_reservation(
        InstanceType="m7i.large", InstancePlatform="Linux/UNIX", AvailabilityZone=zone, InstanceCount=1,
        InstanceMatchCriteria="targeted", TagSpecifications=on("capacity-reservation"),
    )["CapacityReservation"]
    own = {"CapacityReservationId": reservation["CapacityReservationId"]}
    found = only(EC2.describe_capacity_reservations(CapacityReservationIds=[*own.values()]), "CapacityReservations")
    assert found == reservation and (found["State"], found["AvailableInstanceCount"]) == ("active", 1), found
    refused("UnknownParameter", EC2.create_capacity_reservation, InstanceType="m7i.large", EbsOptimized=True,
            InstancePlatform="Linux/UNIX", AvailabilityZone=zone, InstanceCount=1)

    volume = control("POST", "regions/eu-central-1/volumes", {"size_gib": 10})["id"]
    snapshot = EC2.create_snapshot(VolumeId=volume, Description="data", TagSpecifications=on("snapshot"))
    control("DELETE", f"regions/eu-central-1/volumes/{volume}")
    found = only(EC2.describe_snapshots(OwnerIds=["self"], SnapshotIds=[snapshot["SnapshotId"]]), "Snapshots")
    assert (found["VolumeSize"], found["State"], found["Description"], found["Tags"]) == (10, "completed", "data", tags)
    described = EC2.describe_tags(Filters=[{"Name": "key", "Values": ["team"]}])["Tags"]
    kinds = {each["ResourceType"] for each in described}
    assert {"placement-group", "capacity-reservation", "snapshot"} <= kinds, kinds
    EC2.create_tags(Resources=[made["GroupId"], snapshot["SnapshotId"], *own.values()], Tags=[{"Key": "b", "Value": ""}])

    ebs = {"SnapshotId": snapshot["SnapshotId"], "VolumeSize": 10, "VolumeType": "gp3", "VolumeInitializationRate": 200}
    create("apart", template(
        "apart",
        Placement={"GroupName": "parts", "PartitionNumber": 2},
        CapacityReservationSpecification={"CapacityReservationTarget": own},
        BlockDeviceMappings=[{"DeviceName": "/dev/xvdb", "Ebs": ebs}],
    ), DesiredCapacity=1, MaxSize=1)
    wait(600)
    (member,) = group("apart")["Instances"]
    (found,) = EC2.describe_instances(InstanceIds=[member["InstanceId"]])["Reservations"][0]["Instances"]
    assert (found["Placement"]["GroupName"], found["Placement"]["PartitionNumber"]) == ("parts", 2)
    assert (found["CapacityReservationId"], found["Placement"]["AvailabilityZone"]) == (*own.values(), zone)
    refused("InvalidPlacementGroup.InUse", EC2.delete_placement_group, GroupName="parts")
    AUTOSCALING.delete_auto_scaling_group(AutoScalingGroupName="apart", ForceDelete=True)
    wait(600)
    EC2.delete_placement_group(GroupName="parts")
    assert EC2.cancel_capacity_reservation(**own)["Return"] is True
    refused("InvalidCapacityReservationId.NotFound", EC2.cancel_capacity_reservation, **own)
    EC2.delete_snapshot(SnapshotId=snapshot["SnapshotId"])
    refused("InvalidSnapshot.NotFound", EC2.delete_snapshot, SnapshotId=snapshot["SnapshotId"])


def test_tags_and_pages():
    template_id = template("pages")
    for number in range(60):
        create(f"page-{number:02}", template_id, Tags=[{"Key": "half", "Value": str(number % 2)}])
    pages = AUTOSCALING.get_paginator("describe_auto_scaling_groups").paginate(
        Filters=[{"Name": "tag:half", "Values": ["1"]}], PaginationConfig={"PageSize": 7}
    )
    names = [each["AutoScalingGroupName"] for page in pages for each in page["AutoScalingGroups"]]
    assert names == [f"page-{number:02}" for number in range(1, 60, 2)], names
    tag = {"ResourceType": "auto-scaling-group", "ResourceId": "page-00", "Key": "extra", "Value": "x"}
    AUTOSCALING.create_or_update_tags(Tags=[{**tag, "PropagateAtLaunch": True}])
    found = AUTOSCALING.describe_tags(Filters=[{"Name": "key", "Values": ["extra"]}])["Tags"]
    assert found == [{**tag, "PropagateAtLaunch": True}], found
    AUTOSCALING.delete_tags(Tags=[tag])
    assert not AUTOSCALING.describe_tags(Filters=[{"Name": "key", "Values": ["extra"]}])["Tags"]
    pages = AUTOSCALING.get_paginator("describe_tags").paginate(PaginationConfig={"PageSize": 9})
    assert sum(len(page["Tags"]) for page in pages) >= 60
    refused("InvalidNextToken", AUTOSCALING.describe_auto_scaling_groups, NextToken="nonsense")
    refused("ValidationError", AUTOSCALING.describe_auto_scaling_groups, MaxRecords=101)


def test_faults():
    rule = {"service": "autoscaling", "action": "DescribeTags", "times": 1}
    control("POST", "faults", {**rule, "fault": {"kind": "denied"}})
    message = refused("AccessDenied", AUTOSCALING.describe_tags)
    assert "is not authorized to perform: autoscaling:DescribeTags" in message
    rule = {"service": "ec2", "action": "DescribeVpcs", "times": 1}
    control("POST", "faults", {**rule, "fault": {"kind": "denied"}})
    refused("UnauthorizedOperation", EC2.describe_vpcs)
    # The SDK itself repeats calls that are throttled or lose their response.
    before = control("GET", "calls")["total"]
    for fault in ("throttled", "dropped_after", "dropped_before"):
        control("POST", "faults", {**rule, "fault": {"kind": fault}})
        EC2.describe_vpcs()
    assert control("GET", "calls")["total"] - before == 6
    refused("InvalidAction", AUTOSCALING.delete_policy, PolicyName="missing")
    refused("InvalidAction", EC2.describe_fleets)


def test_every_field_of_launch_templates_interfaces_groups_and_warm_pools_has_a_row():
    page = (Path(__file__).parents[3] / "docs/reference/aws-fields.md").read_text()
    _, templates, interfaces, groups, warm_pools = page.split("\n## ")
    templates, parts = templates.split("\n### ")
    for section, api, shape in [
        (templates, EC2, "RequestLaunchTemplateData"),
        (interfaces, EC2, "LaunchTemplateInstanceNetworkInterfaceSpecificationRequest"),
        (groups, AUTOSCALING, "CreateAutoScalingGroupType"),
        (warm_pools, AUTOSCALING, "PutWarmPoolType"),
    ]:
        assert set(rows_of(section)) == set(api.meta.service_model.shape_for(shape).members)
    # All parts of a structure of which one has a row.
    named = rows_of(parts)
    data = EC2.meta.service_model.shape_for("RequestLaunchTemplateData")
    for path in {name.rpartition(".")[0] for name in named}:
        shape = data
        for name in path.split("."):
            shape = shape.members[name]
            shape = shape.member if shape.type_name == "list" else shape
        assert {f"{path}.{member}" for member in shape.members} == {
            name for name in named if name.rpartition(".")[0] == path
        }, path


def rows_of(section):
    """What the first column of a table names."""
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = [name.strip(" `") for row in rows for name in row.split(",")]
    assert len(set(named)) == len(named), named
    return named


def test_other_region():
    other = client("autoscaling", "us-west-2")
    assert other.describe_auto_scaling_groups()["AutoScalingGroups"] == []


def main():
    failures = 0
    tests = [(key, value) for key, value in globals().items() if key.startswith("test_")]
    for key, test in tests:
        try:
            test()
            print(f"ok   {key}")
        except Exception:  # one failure must not hide the others
            failures += 1
            print(f"FAIL {key}\n{traceback.format_exc(limit=-3)}")
    for each in sorted(STRICT.wrong):
        print(f"FAIL boto3's model: {each}")
    called = sorted(f"{service} {action}" for service, action in STRICT.actions)
    uncalled = sorted(set(control("GET", "actions")) - {each.replace(" ", ":", 1) for each in called})
    for each in uncalled:
        print(f"FAIL never called: {each}")
    print(f"{len(tests)} tests, {len(called)} actions, {STRICT.responses} responses, {failures} failures")
    sys.exit(1 if failures or STRICT.wrong or uncalled else 0)


if __name__ == "__main__":
    main()
