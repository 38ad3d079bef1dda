"""The calls for both: functions of an `Account`, which record their results step by step.

A step's result is what `Account.step` returns for the call: the code of the error, or what `pick` selects from the result. Only
what AWS documents is picked: no ids, no times, no texts.
"""


def launch_templates(account):
    step, ec2 = account.step, account.ec2
    data = account.template_data()
    name = {"LaunchTemplateName": "web"}
    numbers = lambda result: [each["VersionNumber"] for each in result["LaunchTemplateVersions"]]
    step("create", ec2.create_launch_template, **name, LaunchTemplateData=data, pick=head)
    step("create again", ec2.create_launch_template, **name, LaunchTemplateData=data)
    step("short name", ec2.create_launch_template, LaunchTemplateName="t", LaunchTemplateData=data)
    step("second version", ec2.create_launch_template_version, **name, LaunchTemplateData=data,
         pick=lambda result: result["LaunchTemplateVersion"]["VersionNumber"])
    step("version of a missing template", ec2.create_launch_template_version, LaunchTemplateName="missing", LaunchTemplateData=data)
    step("versions", ec2.describe_launch_template_versions, **name, pick=lambda result: sorted(numbers(result)))
    step("latest", ec2.describe_launch_template_versions, **name, Versions=["$Latest"], pick=numbers)
    step("default", ec2.describe_launch_template_versions, **name, Versions=["$Default"], pick=numbers)
    step("unknown version", ec2.describe_launch_template_versions, **name, Versions=["9"])
    step("unknown name", ec2.describe_launch_templates, LaunchTemplateNames=["missing"])
    step("unknown id", ec2.describe_launch_templates, LaunchTemplateIds=["lt-00000000000000009"])
    step("other default", ec2.modify_launch_template, **name, DefaultVersion="2", pick=head)
    step("delete a version", ec2.delete_launch_template_versions, **name, Versions=["1"],
         pick=lambda result: [each["VersionNumber"] for each in result["SuccessfullyDeletedLaunchTemplateVersions"]])
    step("delete", ec2.delete_launch_template, **name, pick=lambda result: result["LaunchTemplate"]["LaunchTemplateName"])
    step("delete again", ec2.delete_launch_template, **name)


def head(result):
    template = result["LaunchTemplate"]
    return [template[key] for key in ("LaunchTemplateName", "DefaultVersionNumber", "LatestVersionNumber")]


def instances(account):
    step, ec2 = account.step, account.ec2
    step("unknown instance", ec2.describe_instances, InstanceIds=["i-00000000000000009"])
    step("malformed instance", ec2.describe_instances, InstanceIds=["nonsense"])
    step("end an unknown instance", ec2.terminate_instances, InstanceIds=["i-00000000000000009"])
    step("type", ec2.describe_instance_types, InstanceTypes=["m7i.large"], pick=lambda result: [
        (each["InstanceType"], each["VCpuInfo"]["DefaultVCpus"], each["MemoryInfo"]["SizeInMiB"],
         each["ProcessorInfo"]["SupportedArchitectures"])
        for each in result["InstanceTypes"]
    ])
    step("unknown type", ec2.describe_instance_types, InstanceTypes=["x9.nano"])
    step("unknown image", ec2.describe_images, ImageIds=["ami-00000000000000009"])
    step("unknown subnet", ec2.describe_subnets, SubnetIds=["subnet-00000000000000009"])
    step("unknown security group", ec2.describe_security_groups, GroupIds=["sg-00000000000000009"])
    step("unknown VPC", ec2.describe_vpcs, VpcIds=["vpc-00000000000000009"])
    step("zones", ec2.describe_availability_zones,
         pick=lambda result: sorted(each["ZoneName"] for each in result["AvailabilityZones"]))
    step("dry run", ec2.describe_instances, DryRun=True)


def networks(account):
    """A VPC of its own, from nothing to nothing."""
    step, ec2 = account.step, account.ec2
    vpc = ec2.create_vpc(CidrBlock="10.77.0.0/16")["Vpc"]["VpcId"]
    account.wait(60)
    own = {"VpcId": vpc}
    step("VPC", ec2.describe_vpcs, VpcIds=[vpc],
         pick=lambda result: [(each["State"], each["CidrBlock"], each["IsDefault"]) for each in result["Vpcs"]])
    step("malformed range", ec2.create_vpc, CidrBlock="ten")
    step("range of a VPC too large", ec2.create_vpc, CidrBlock="10.0.0.0/15")
    attribute = lambda name: step(name, ec2.describe_vpc_attribute, **own, Attribute=name[0].lower() + name[1:],
                                  pick=lambda result: result[name]["Value"])
    attribute("EnableDnsSupport")
    attribute("EnableDnsHostnames")
    ec2.modify_vpc_attribute(**own, EnableDnsHostnames={"Value": True})
    attribute("EnableDnsHostnames")
    subnet = ec2.create_subnet(**own, CidrBlock="10.77.0.0/24", AvailabilityZone="eu-central-1a")["Subnet"]["SubnetId"]
    step("overlap", ec2.create_subnet, **own, CidrBlock="10.77.0.128/25")
    step("outside of the VPC", ec2.create_subnet, **own, CidrBlock="10.78.0.0/24")
    step("unknown zone", ec2.create_subnet, **own, CidrBlock="10.77.9.0/24", AvailabilityZone="eu-central-1z")
    account.wait(60)
    step("subnet", ec2.describe_subnets, SubnetIds=[subnet], pick=lambda result: [
        (each["State"], each["AvailabilityZone"], each["AvailableIpAddressCount"]) for each in result["Subnets"]
    ])
    gateways(account, vpc, subnet)
    route_tables(account, vpc, subnet)
    security_groups(account, vpc)
    endpoints(account, vpc)
    step("a VPC with a subnet", ec2.delete_vpc, **own)
    step("delete the subnet", ec2.delete_subnet, SubnetId=subnet)
    step("delete the VPC", ec2.delete_vpc, **own)
    step("delete it again", ec2.delete_vpc, **own)


def gateways(account, vpc, subnet):
    step, ec2 = account.step, account.ec2
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    own = {"InternetGatewayId": gateway, "VpcId": vpc}
    step("attach", ec2.attach_internet_gateway, **own)
    step("attach again", ec2.attach_internet_gateway, **own)
    step("gateway", ec2.describe_internet_gateways, Filters=[{"Name": "attachment.vpc-id", "Values": [vpc]}],
         pick=lambda result: [each["Attachments"][0]["State"] for each in result["InternetGateways"]])
    step("delete an attached gateway", ec2.delete_internet_gateway, InternetGatewayId=gateway)
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    nat = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)["NatGateway"]["NatGatewayId"]
    account.wait(600)
    states = lambda result: [each["State"] for each in result["NatGateways"]]
    step("NAT gateway", ec2.describe_nat_gateways, NatGatewayIds=[nat], pick=states)
    step("release its address", ec2.release_address, AllocationId=address)
    step("detach while addresses are mapped", ec2.detach_internet_gateway, **own)
    ec2.delete_nat_gateway(NatGatewayId=nat)
    account.wait(600)
    step("NAT gateway deleted", ec2.describe_nat_gateways, NatGatewayIds=[nat], pick=states)
    step("unknown NAT gateway", ec2.delete_nat_gateway, NatGatewayId="nat-00000000000000009")
    step("release", ec2.release_address, AllocationId=address)
    step("release again", ec2.release_address, AllocationId=address)
    step("detach", ec2.detach_internet_gateway, **own)
    step("detach again", ec2.detach_internet_gateway, **own)
    step("delete the gateway", ec2.delete_internet_gateway, InternetGatewayId=gateway)
    step("unknown gateway", ec2.delete_internet_gateway, InternetGatewayId=gateway)
    outward = ec2.create_egress_only_internet_gateway(VpcId=vpc)["EgressOnlyInternetGateway"]
    step("delete an egress-only gateway", ec2.delete_egress_only_internet_gateway,
         EgressOnlyInternetGatewayId=outward["EgressOnlyInternetGatewayId"], pick=lambda result: result["ReturnCode"])


def route_tables(account, vpc, subnet):
    step, ec2 = account.step, account.ec2
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    route = {"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0"}
    step("route", ec2.create_route, **route, GatewayId=gateway)
    step("route again", ec2.create_route, **route, GatewayId=gateway)
    step("routes", ec2.describe_route_tables, RouteTableIds=[table], pick=lambda result: sorted(
        (each["DestinationCidrBlock"], each["State"], each["Origin"]) for each in result["RouteTables"][0]["Routes"]
    ))
    step("replace no route", ec2.replace_route, RouteTableId=table, DestinationCidrBlock="1.0.0.0/8", GatewayId=gateway)
    step("delete no route", ec2.delete_route, RouteTableId=table, DestinationCidrBlock="1.0.0.0/8")
    association = ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)["AssociationId"]
    step("delete a table in use", ec2.delete_route_table, RouteTableId=table)
    main = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}, {"Name": "association.main", "Values": ["true"]}])
    main = main["RouteTables"][0]["RouteTableId"]
    step("delete the main table", ec2.delete_route_table, RouteTableId=main)
    step("disassociate", ec2.disassociate_route_table, AssociationId=association)
    step("disassociate again", ec2.disassociate_route_table, AssociationId=association)
    step("delete the table", ec2.delete_route_table, RouteTableId=table)
    step("unknown table", ec2.create_route, **route, GatewayId=gateway)
    ec2.detach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    ec2.delete_internet_gateway(InternetGatewayId=gateway)


def security_groups(account, vpc):
    step, ec2 = account.step, account.ec2
    group = ec2.create_security_group(GroupName="node", Description="nodes", VpcId=vpc)["GroupId"]
    step("group of the same name", ec2.create_security_group, GroupName="node", Description="nodes", VpcId=vpc)
    rule = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "10.0.0.0/8", "Description": "d"}]}
    step("rule", ec2.authorize_security_group_ingress, GroupId=group, IpPermissions=[rule],
         pick=lambda result: [(each["IpProtocol"], each["FromPort"], each["CidrIpv4"]) for each in result["SecurityGroupRules"]])
    step("rule again", ec2.authorize_security_group_ingress, GroupId=group, IpPermissions=[rule])
    step("rule without ports", ec2.authorize_security_group_ingress, GroupId=group,
         IpPermissions=[{"IpProtocol": "tcp", "IpRanges": [{"CidrIp": "10.0.0.0/8"}]}])
    permissions = lambda key: lambda result: [
        (each["IpProtocol"], each.get("FromPort"), [it["CidrIp"] for it in each["IpRanges"]])
        for each in result["SecurityGroups"][0][key]
    ]
    step("ingress", ec2.describe_security_groups, GroupIds=[group], pick=permissions("IpPermissions"))
    described = {**rule, "IpRanges": [{"CidrIp": "10.0.0.0/8", "Description": "new"}]}
    step("describe", ec2.update_security_group_rule_descriptions_ingress, GroupId=group, IpPermissions=[described])
    step("described", ec2.describe_security_groups, GroupIds=[group],
         pick=lambda result: [it.get("Description") for each in result["SecurityGroups"][0]["IpPermissions"] for it in each["IpRanges"]])
    step("egress", ec2.describe_security_groups, GroupIds=[group], pick=permissions("IpPermissionsEgress"))
    step("revoke", ec2.revoke_security_group_ingress, GroupId=group, IpPermissions=[rule])
    step("revoke again", ec2.revoke_security_group_ingress, GroupId=group, IpPermissions=[rule])
    other = ec2.create_security_group(GroupName="other", Description="others", VpcId=vpc)["GroupId"]
    reference = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
    ec2.authorize_security_group_ingress(GroupId=other, IpPermissions=[reference])
    step("delete a group that another names", ec2.delete_security_group, GroupId=group)
    step("revoke the reference", ec2.revoke_security_group_ingress, GroupId=other, IpPermissions=[reference])
    for each in (group, other):
        step(f"delete {'node' if each == group else 'other'}", ec2.delete_security_group, GroupId=each)
    groups = ec2.describe_security_groups(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["SecurityGroups"]
    step("delete the default group", ec2.delete_security_group, GroupId=groups[0]["GroupId"])


def endpoints(account, vpc):
    step, ec2 = account.step, account.ec2
    endpoint = ec2.create_vpc_endpoint(VpcId=vpc, ServiceName="com.amazonaws.eu-central-1.s3")["VpcEndpoint"]
    step("endpoint", ec2.describe_vpc_endpoints, VpcEndpointIds=[endpoint["VpcEndpointId"]], pick=lambda result: [
        (each["State"], each["VpcEndpointType"], each["ServiceName"]) for each in result["VpcEndpoints"]
    ])
    step("unknown service", ec2.create_vpc_endpoint, VpcId=vpc, ServiceName="com.amazonaws.eu-central-1.nothing")
    step("delete the endpoint", ec2.delete_vpc_endpoints, VpcEndpointIds=[endpoint["VpcEndpointId"]],
         pick=lambda result: result["Unsuccessful"])
    account.wait(600)
    step("delete no endpoint", ec2.delete_vpc_endpoints, VpcEndpointIds=["vpce-00000000000000009"],
         pick=lambda result: [each["Error"]["Code"] for each in result["Unsuccessful"]])


def identity(account):
    account.step("who", account.sts.get_caller_identity, pick=lambda result: (len(result["Account"]), result["Arn"][:8]))


def refused_groups(account):
    step, scaling = account.step, account.scaling
    create = account.create
    step("no source", scaling.create_auto_scaling_group, AutoScalingGroupName="bare", MinSize=0, MaxSize=1,
         VPCZoneIdentifier=account.subnets)
    step("no subnet", scaling.create_auto_scaling_group, AutoScalingGroupName="bare", MinSize=0, MaxSize=1,
         LaunchTemplate=account.template)
    step("minimum above maximum", create, "odd", MinSize=3, MaxSize=1)
    step("desired above maximum", create, "odd", MaxSize=1, DesiredCapacity=2)
    step("unknown template", create, "odd", LaunchTemplate={"LaunchTemplateName": "missing", "Version": "1"})
    step("colon in the name", create, "a:b")
    create("twice")
    step("create again", create, "twice")
    step("above the maximum", scaling.set_desired_capacity, AutoScalingGroupName="twice", DesiredCapacity=6)
    step("desired of missing", scaling.set_desired_capacity, AutoScalingGroupName="missing", DesiredCapacity=1)


def groups(account):
    step, scaling = account.step, account.scaling
    create = account.create
    step("create", create, "main", MaxSize=5, DesiredCapacity=3, NewInstancesProtectedFromScaleIn=True,
         Tags=[tag("team", "blue", True), tag("cost", "7", False)])
    account.wait(60)
    step("read", account.read_group, "main", pick=sizes)
    step("members", account.read_group, "main", pick=members)
    step("tags", account.read_group, "main",
         pick=lambda group: sorted((each["Key"], each["Value"], each["PropagateAtLaunch"]) for each in group["Tags"]))
    step("unknown group", scaling.describe_auto_scaling_groups, AutoScalingGroupNames=["missing"],
         pick=lambda result: result["AutoScalingGroups"])
    step("maximum below desired", scaling.update_auto_scaling_group, AutoScalingGroupName="main", MaxSize=2)
    step("sizes after it", account.read_group, "main", pick=sizes)
    account.wait(60)
    step("protected members stay", account.read_group, "main", pick=lambda group: len(group["Instances"]))
    step("minimum above desired", scaling.update_auto_scaling_group, AutoScalingGroupName="main", MinSize=4, MaxSize=5)
    step("sizes after that", account.read_group, "main", pick=sizes)
    account.wait(60)
    step("update missing", scaling.update_auto_scaling_group, AutoScalingGroupName="missing", MaxSize=1)
    step("delete with members", scaling.delete_auto_scaling_group, AutoScalingGroupName="main")
    step("delete by force", scaling.delete_auto_scaling_group, AutoScalingGroupName="main", ForceDelete=True)
    account.wait(60)
    step("gone", scaling.describe_auto_scaling_groups, AutoScalingGroupNames=["main"],
         pick=lambda result: result["AutoScalingGroups"])
    step("delete missing", scaling.delete_auto_scaling_group, AutoScalingGroupName="missing")


def tag(key, value, propagate):
    return {"Key": key, "Value": value, "PropagateAtLaunch": propagate}


def sizes(group):
    return [group[key] for key in ("MinSize", "DesiredCapacity", "MaxSize")]


def members(group):
    return [(each["LifecycleState"], each["HealthStatus"], each["ProtectedFromScaleIn"]) for each in group["Instances"]]


def single_members(account):
    step, scaling = account.step, account.scaling
    account.create("main", MaxSize=6, DesiredCapacity=3)
    account.wait(60)
    ids = [each["InstanceId"] for each in account.read_group("main")["Instances"]]
    own = {"AutoScalingGroupName": "main"}
    step("by id", scaling.describe_auto_scaling_instances, InstanceIds=ids, pick=lambda result: sorted(
        (each["AutoScalingGroupName"], each["LifecycleState"]) for each in result["AutoScalingInstances"]
    ))
    step("protect", scaling.set_instance_protection, **own, InstanceIds=ids[:1], ProtectedFromScaleIn=True)
    step("protect a foreign instance", scaling.set_instance_protection, **own, InstanceIds=["i-00000000000000009"],
         ProtectedFromScaleIn=True)
    step("scale in", scaling.set_desired_capacity, **own, DesiredCapacity=1)
    account.wait(60)
    step("the protected one stays", account.read_group, "main",
         pick=lambda group: [each["InstanceId"] == ids[0] for each in group["Instances"]])
    step("scale out", scaling.set_desired_capacity, **own, DesiredCapacity=3)
    account.wait(60)
    ids = [each["InstanceId"] for each in account.read_group("main")["Instances"]]
    step("end a foreign instance", scaling.terminate_instance_in_auto_scaling_group, InstanceId="i-00000000000000009",
         ShouldDecrementDesiredCapacity=True)
    step("end one", scaling.terminate_instance_in_auto_scaling_group, InstanceId=ids[0],
         ShouldDecrementDesiredCapacity=True)
    account.wait(60)
    step("one less", account.read_group, "main", pick=sizes)
    step("two are left", account.read_group, "main", pick=lambda group: len(group["Instances"]))
    step("replace one", scaling.terminate_instance_in_auto_scaling_group, InstanceId=ids[1],
         ShouldDecrementDesiredCapacity=False)
    account.wait(90)
    step("replaced", account.read_group, "main", pick=lambda group: (len(group["Instances"]), group["DesiredCapacity"]))
    ids = [each["InstanceId"] for each in account.read_group("main")["Instances"]]
    step("standby", scaling.enter_standby, **own, InstanceIds=ids[:1], ShouldDecrementDesiredCapacity=True)
    account.wait(30)
    step("in standby", account.read_group, "main", pick=lambda group: sorted(each["LifecycleState"] for each in group["Instances"]))
    step("back", scaling.exit_standby, **own, InstanceIds=ids[:1])
    account.wait(30)
    step("in service", account.read_group, "main", pick=lambda group: (len(group["Instances"]), group["DesiredCapacity"]))
    step("detach", scaling.detach_instances, **own, InstanceIds=ids[:1], ShouldDecrementDesiredCapacity=True)
    account.wait(30)
    step("detached", account.read_group, "main", pick=lambda group: (len(group["Instances"]), group["DesiredCapacity"]))
    step("attach", scaling.attach_instances, **own, InstanceIds=ids[:1])
    account.wait(30)
    step("attached", account.read_group, "main", pick=lambda group: (len(group["Instances"]), group["DesiredCapacity"]))
    step("unhealthy", scaling.set_instance_health, InstanceId=ids[0], HealthStatus="Unhealthy", ShouldRespectGracePeriod=False)
    account.wait(90)
    step("replaced when unhealthy", account.read_group, "main",
         pick=lambda group: ids[0] in [each["InstanceId"] for each in group["Instances"]])
    step("activities", scaling.describe_scaling_activities, **own,
         pick=lambda result: bool(result["Activities"]))


def processes(account):
    step, scaling = account.step, account.scaling
    account.create("main", MaxSize=3)
    own = {"AutoScalingGroupName": "main"}
    suspended = lambda group: sorted(each["ProcessName"] for each in group["SuspendedProcesses"])
    step("suspend", scaling.suspend_processes, **own, ScalingProcesses=["AZRebalance", "Launch"])
    step("suspended", account.read_group, "main", pick=suspended)
    step("suspend nonsense", scaling.suspend_processes, **own, ScalingProcesses=["Nonsense"])
    step("ask for one", scaling.set_desired_capacity, **own, DesiredCapacity=1)
    account.wait(60)
    step("nothing launches", account.read_group, "main", pick=lambda group: len(group["Instances"]))
    step("resume", scaling.resume_processes, **own, ScalingProcesses=["Launch"])
    step("left", account.read_group, "main", pick=suspended)


def hooks(account):
    step, scaling = account.step, account.scaling
    account.create("main", MaxSize=3, DesiredCapacity=1)
    account.wait(60)
    own = {"AutoScalingGroupName": "main", "LifecycleHookName": "drain"}
    step("put", scaling.put_lifecycle_hook, **own, LifecycleTransition="autoscaling:EC2_INSTANCE_TERMINATING",
         HeartbeatTimeout=300)
    step("read", scaling.describe_lifecycle_hooks, AutoScalingGroupName="main", pick=lambda result: [
        (each["LifecycleHookName"], each["LifecycleTransition"], each["HeartbeatTimeout"], each["DefaultResult"],
         each["GlobalTimeout"])
        for each in result["LifecycleHooks"]
    ])
    (member,) = account.read_group("main")["Instances"]
    step("nothing waits", scaling.complete_lifecycle_action, **own, InstanceId=member["InstanceId"],
         LifecycleActionResult="CONTINUE")
    step("end", scaling.terminate_instance_in_auto_scaling_group, InstanceId=member["InstanceId"],
         ShouldDecrementDesiredCapacity=True)
    account.wait(60)
    step("waits", account.read_group, "main", pick=lambda group: [each["LifecycleState"] for each in group["Instances"]])
    step("complete", scaling.complete_lifecycle_action, **own, InstanceId=member["InstanceId"],
         LifecycleActionResult="CONTINUE")
    account.wait(60)
    step("gone", account.read_group, "main", pick=lambda group: len(group["Instances"]))
    step("delete", scaling.delete_lifecycle_hook, **own)
    step("none left", scaling.describe_lifecycle_hooks, AutoScalingGroupName="main",
         pick=lambda result: result["LifecycleHooks"])


def tags_and_pages(account):
    step, scaling = account.step, account.scaling
    for name in "abc":
        account.create(name, MaxSize=1)
    mark = lambda name, value: {"ResourceId": name, "ResourceType": "auto-scaling-group", "Key": "k", "Value": value,
                                "PropagateAtLaunch": True}
    step("tag", scaling.create_or_update_tags, Tags=[mark("a", "1"), mark("b", "2")])
    step("tag again", scaling.create_or_update_tags, Tags=[mark("a", "3")])
    step("tag missing", scaling.create_or_update_tags, Tags=[mark("missing", "1")])
    step("tags", scaling.describe_tags, Filters=[{"Name": "key", "Values": ["k"]}],
         pick=lambda result: sorted((each["ResourceId"], each["Value"]) for each in result["Tags"]))
    by_tag = [{"Name": "tag:k", "Values": ["3"]}]
    names = lambda result: sorted(each["AutoScalingGroupName"] for each in result["AutoScalingGroups"])
    step("by tag", scaling.describe_auto_scaling_groups, Filters=by_tag, pick=names)
    step("untag", scaling.delete_tags, Tags=[mark("a", "3")])
    step("by tag again", scaling.describe_auto_scaling_groups, Filters=by_tag, pick=names)
    step("first page", scaling.describe_auto_scaling_groups, MaxRecords=2,
         pick=lambda result: (len(result["AutoScalingGroups"]), "NextToken" in result))
    pages = scaling.get_paginator("describe_auto_scaling_groups").paginate(PaginationConfig={"PageSize": 1})
    step("all pages", lambda: {"AutoScalingGroups": [each for page in pages for each in page["AutoScalingGroups"]]},
         pick=names)
    step("bad token", scaling.describe_auto_scaling_groups, NextToken="nonsense")
    step("page too long", scaling.describe_auto_scaling_groups, MaxRecords=101)


def mixed_instances(account):
    step = account.step
    policy = {
        "LaunchTemplate": {
            "LaunchTemplateSpecification": account.template,
            "Overrides": [{"InstanceType": "m7i.large"}, {"InstanceType": "c7i.large"}],
        },
        "InstancesDistribution": {"OnDemandBaseCapacity": 1, "OnDemandPercentageAboveBaseCapacity": 0},
    }
    step("create", account.create, "main", MaxSize=3, DesiredCapacity=2, LaunchTemplate=None, MixedInstancesPolicy=policy)
    account.wait(60)
    step("no template at the top", account.read_group, "main", pick=lambda group: "LaunchTemplate" in group)
    step("distribution", account.read_group, "main", pick=lambda group: [
        group["MixedInstancesPolicy"]["InstancesDistribution"][key]
        for key in ("OnDemandBaseCapacity", "OnDemandPercentageAboveBaseCapacity")
    ])
    step("overrides", account.read_group, "main", pick=lambda group: [
        each["InstanceType"] for each in group["MixedInstancesPolicy"]["LaunchTemplate"]["Overrides"]
    ])
    step("both sources", account.create, "both", MixedInstancesPolicy=policy)


def warm_pools(account):
    step, scaling = account.step, account.scaling
    account.create("main", MaxSize=3)
    own = {"AutoScalingGroupName": "main"}
    configuration = lambda result: result.get("WarmPoolConfiguration")
    step("none", scaling.describe_warm_pool, **own, pick=configuration)
    step("put", scaling.put_warm_pool, **own, MinSize=1, MaxGroupPreparedCapacity=2, PoolState="Running",
         InstanceReusePolicy={"ReuseOnScaleIn": True})
    step("configuration", scaling.describe_warm_pool, **own, pick=configuration)
    account.wait(60)
    step("filled", scaling.describe_warm_pool, **own,
         pick=lambda result: [each["LifecycleState"] for each in result["Instances"]])
    step("of missing", scaling.put_warm_pool, AutoScalingGroupName="missing")
    step("delete", scaling.delete_warm_pool, **own)
    account.wait(60)
    step("deleted", scaling.describe_warm_pool, **own, pick=configuration)


def queues(account):
    step, sqs = account.step, account.sqs
    url = sqs.create_queue(QueueName="events", Attributes={"VisibilityTimeout": "30"})["QueueUrl"]
    step("name", lambda: url, pick=lambda url: url.rsplit("/", 1)[-1])
    step("create again", sqs.create_queue, QueueName="events", Attributes={"VisibilityTimeout": "30"})
    step("create otherwise", sqs.create_queue, QueueName="events", Attributes={"VisibilityTimeout": "31"})
    step("unknown", sqs.get_queue_url, QueueName="missing")
    step("send", sqs.send_message, QueueUrl=url, MessageBody="hello", pick=lambda result: result["MD5OfMessageBody"])
    taken = sqs.receive_message(QueueUrl=url, MessageSystemAttributeNames=["ApproximateReceiveCount"])["Messages"]
    step("receive", lambda: taken, pick=lambda found: [(each["Body"], each["Attributes"]) for each in found])
    step("hidden", sqs.receive_message, QueueUrl=url, pick=lambda result: result.get("Messages", []))
    receipt = {"QueueUrl": url, "ReceiptHandle": taken[0]["ReceiptHandle"]}
    step("show again", sqs.change_message_visibility, **receipt, VisibilityTimeout=0)
    step("visible", sqs.receive_message, QueueUrl=url, pick=lambda result: len(result["Messages"]))
    step("nonsense receipt", sqs.delete_message, QueueUrl=url, ReceiptHandle="nonsense")
    step("numbers", sqs.get_queue_attributes, QueueUrl=url, AttributeNames=["All"], pick=lambda result: {
        key: result["Attributes"][key] for key in
        ("VisibilityTimeout", "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "DelaySeconds")
    })
    step("wrong number", sqs.receive_message, QueueUrl=url, MaxNumberOfMessages=11)
    step("delete", sqs.delete_queue, QueueUrl=url)
    step("deleted", sqs.send_message, QueueUrl=url, MessageBody="hello")


def parameters(account):
    step, ssm = account.step, account.ssm
    own = {"Name": "/own/a"}
    shown = lambda result: [result["Parameter"][key] for key in ("Name", "Type", "Value", "Version", "DataType")]
    step("unknown", ssm.get_parameter, **own)
    step("put", ssm.put_parameter, **own, Value="one", Type="String", pick=lambda result: result["Version"])
    step("put again", ssm.put_parameter, **own, Value="two", Type="String")
    step("overwrite", ssm.put_parameter, **own, Value="two", Type="String", Overwrite=True,
         pick=lambda result: result["Version"])
    step("get", ssm.get_parameter, **own, pick=shown)
    step("older version", ssm.get_parameter, Name="/own/a:1", pick=lambda result: result["Parameter"]["Value"])
    step("version of missing", ssm.get_parameter, Name="/own/a:9")
    step("some", ssm.get_parameters, Names=["/own/a", "/own/b"],
         pick=lambda result: (len(result["Parameters"]), result["InvalidParameters"]))
    step("below", ssm.get_parameters_by_path, Path="/own",
         pick=lambda result: [each["Name"] for each in result["Parameters"]])
    step("reserved", ssm.put_parameter, Name="/aws/service/x", Value="x", Type="String")
    step("delete", ssm.delete_parameter, **own)
    step("delete again", ssm.delete_parameter, **own)


def clusters(account):
    step, eks = account.step, account.eks
    role = "arn:aws:iam::123456789012:role/clusters"
    subnets = {"subnetIds": account.subnets.split(",")}
    wanted = {"name": "main", "roleArn": role, "resourcesVpcConfig": subnets}
    shown = lambda result: [result["cluster"][key] for key in ("name", "roleArn", "status")]
    step("of missing", eks.describe_cluster, name="missing")
    step("delete missing", eks.delete_cluster, name="missing")
    step("create", eks.create_cluster, **wanted, pick=lambda result: result["cluster"]["name"])
    step("create again", eks.create_cluster, **wanted)
    step("one zone", eks.create_cluster, **{**wanted, "name": "one", "resourcesVpcConfig": {"subnetIds": subnets["subnetIds"][:1]}})
    step("bad name", eks.create_cluster, **{**wanted, "name": "-"})
    account.wait(600)
    step("describe", eks.describe_cluster, name="main", pick=shown)
    step("list", eks.list_clusters, pick=lambda result: "main" in result["clusters"])
    step("node groups", eks.list_nodegroups, clusterName="main", pick=lambda result: result["nodegroups"])
    step("Fargate profiles", eks.list_fargate_profiles, clusterName="main", pick=lambda result: result["fargateProfileNames"])
    arn = eks.describe_cluster(name="main")["cluster"]["arn"]
    step("tag", eks.tag_resource, resourceArn=arn, tags={"a": "1"})
    step("tags", eks.list_tags_for_resource, resourceArn=arn, pick=lambda result: result["tags"])
    step("untag", eks.untag_resource, resourceArn=arn, tagKeys=["a"])
    step("version", eks.update_cluster_version, name="main", version="1.1")
    step("delete", eks.delete_cluster, name="main", pick=lambda result: result["cluster"]["name"])
    account.wait(600)
    step("deleted", eks.describe_cluster, name="main")


def identity_providers(account):
    step, iam = account.step, account.iam
    url = "https://oidc.eks.eu-central-1.amazonaws.com/id/1"
    wanted = {"Url": url, "ClientIDList": ["sts.amazonaws.com"], "ThumbprintList": ["0" * 40]}
    arn = {"OpenIDConnectProviderArn": "arn:aws:iam::123456789012:oidc-provider/" + url.removeprefix("https://")}
    step("of missing", iam.get_open_id_connect_provider, **arn)
    step("create", iam.create_open_id_connect_provider, **wanted,
         pick=lambda result: result["OpenIDConnectProviderArn"] == arn["OpenIDConnectProviderArn"])
    step("create again", iam.create_open_id_connect_provider, **wanted)
    step("tag", iam.tag_open_id_connect_provider, **arn, Tags=[{"Key": "a", "Value": "1"}])
    step("get", iam.get_open_id_connect_provider, **arn,
         pick=lambda result: [result[key] for key in ("Url", "ClientIDList", "ThumbprintList", "Tags")])
    step("list", iam.list_open_id_connect_providers, pick=lambda result: len(result["OpenIDConnectProviderList"]))
    step("delete", iam.delete_open_id_connect_provider, **arn)
    step("delete again", iam.delete_open_id_connect_provider, **arn)


def sessions(account):
    step, sts = account.step, account.sts
    number = sts.get_caller_identity()["Account"]
    role = {"RoleArn": f"arn:aws:iam::{number}:role/pools", "RoleSessionName": "foo"}
    result = sts.assume_role(**role)
    step("who", lambda: result["AssumedRoleUser"]["Arn"], pick=lambda arn: arn.split(":", 5)[5])
    step("credentials", lambda: result["Credentials"], pick=lambda them: (sorted(them), them["AccessKeyId"][:4]))
    own = result["Credentials"]
    session = account.client("sts", own["AccessKeyId"], own["SecretAccessKey"], own["SessionToken"])
    step("who with them", session.get_caller_identity, pick=lambda result: result["Arn"].split(":", 5)[5])
    step("too short", sts.assume_role, **role, DurationSeconds=899)
    step("nameless", sts.assume_role, RoleArn=role["RoleArn"], RoleSessionName="a b")


ALL = [
    launch_templates,
    instances,
    networks,
    identity,
    refused_groups,
    groups,
    single_members,
    processes,
    hooks,
    tags_and_pages,
    mixed_instances,
    warm_pools,
    queues,
    parameters,
    clusters,
    identity_providers,
    sessions,
]
