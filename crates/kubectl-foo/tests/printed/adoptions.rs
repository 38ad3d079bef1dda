//! What `kubectl foo adopt` writes for groups, in the shapes in which the AWS CLI prints them.

use crate::is_printed;
use kubectl_foo::adopt::found::Found;
use kubectl_foo::adopt::{Adopter, Adoption, notes, of_found};
use kubectl_foo::cluster::InAws;
use kubectl_foo::terminal::{Format, Out, Screen};
use serde_json::{Value, json};

fn adopter() -> Adopter {
    Adopter {
        namespace: "team".to_owned(),
        name: "workers".to_owned(),
        cluster: "prod".to_owned(),
        version: Some("v1.36.3".to_owned()),
        bootstrap_secret: None,
    }
}

fn cluster() -> InAws {
    InAws {
        region: "eu-central-1".to_owned(),
        subnets: Some(["subnet-1", "subnet-2"].map(str::to_owned).into()),
        identity: "team".to_owned(),
        allows_adoption: Some(true),
        version: None,
        is_on_eks: true,
    }
}

/// A group with one instance type and two members.
fn plain() -> Value {
    json!({
        "AutoScalingGroupName": "workers",
        "AutoScalingGroupARN": "arn:aws:autoscaling:eu-central-1:123456789012:autoScalingGroup:1:autoScalingGroupName/workers", "MinSize": 1, "MaxSize": 6, "DesiredCapacity": 2,
        "LaunchTemplate": {"LaunchTemplateId": "lt-1", "LaunchTemplateName": "workers-of-eksctl", "Version": "3"},
        "VPCZoneIdentifier": "subnet-1,subnet-2", "Tags": [],
        "Instances": [
            {"InstanceId": "i-1", "LifecycleState": "InService"}, {"InstanceId": "i-2", "LifecycleState": "InService"},
        ],
    })
}

/// A launch template that a FooMachinePool can have all of.
fn simple() -> Value {
    json!({
        "LaunchTemplateName": "workers-of-eksctl",
        "LaunchTemplateData": {
            "ImageId": "ami-1", "InstanceType": "m7i.large", "IamInstanceProfile": {"Name": "nodes"},
            "SecurityGroupIds": ["sg-1"],
            "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 2},
        },
    })
}

fn found(group: Value, template: Value) -> Found {
    Found {
        group: serde_json::from_value(group).unwrap(),
        template: serde_json::from_value(template).unwrap(),
        image: serde_json::from_value(json!({
            "Name": "amazon-eks-node-al2023-x86_64-standard-1.36-v20261101", "RootDeviceName": "/dev/xvda",
            "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 20, "VolumeType": "gp3"}}],
        }))
        .unwrap(),
        ..Found::default()
    }
}

/// Manifests and notes, as they are printed.
fn printed(adoption: &Adoption) -> String {
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let mut out = Out::new(&mut output, &mut errors, Screen::Lines);
    out.manifests(Format::Yaml, &adoption.objects).unwrap();
    String::from_utf8(output).unwrap() + "(standard error)\n" + &notes(adoption)
}

#[test]
fn a_plain_group_has_a_short_manifest_and_one_next_step() {
    is_printed("adopt", &printed(&of_found(&found(plain(), simple()), &adopter(), &cluster()).unwrap()));
}

#[test]
fn with_consent_and_a_secret_nothing_is_left_to_say() {
    let mut group = plain();
    group["Tags"] = json!([{"Key": "infrastructure.foo.com/adoptable", "Value": "team/workers", "PropagateAtLaunch": false}]);
    let adopter = Adopter { bootstrap_secret: Some("join".to_owned()), ..adopter() };
    let adoption = of_found(&found(group, simple()), &adopter, &cluster()).unwrap();
    assert_eq!(notes(&adoption).lines().count(), 1, "{}", notes(&adoption));
    let kinds: Vec<&Value> = adoption.objects.iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds, ["FooMachinePool", "MachinePool"]);
    let bootstrap = &adoption.objects[1]["spec"]["template"]["spec"]["bootstrap"];
    assert_eq!(bootstrap, &json!({"dataSecretName": "join"}));
}

#[test]
fn a_warm_pool_of_stopped_instances_is_taken_over_with_user_data_that_wait() {
    let with = |config: Value, secret: Option<&str>| {
        let mut group = plain();
        group["WarmPoolConfiguration"] = config;
        let adopter = Adopter { bootstrap_secret: secret.map(str::to_owned), ..adopter() };
        of_found(&found(group, simple()), &adopter, &cluster()).unwrap()
    };
    let adoption = with(json!({"MinSize": 1, "PoolState": "Stopped"}), None);
    let warm_pool = &adoption.objects[0]["spec"]["warmPool"];
    assert_eq!(warm_pool, &json!({"minSize": 1, "maxPreparedCapacity": 6, "state": "Stopped"}));
    assert_eq!(adoption.objects[1]["spec"]["joinWhenInService"], json!(true));
    assert!(adoption.obstacles.is_empty(), "{:?}", adoption.obstacles);
    assert!(adoption.afterwards.iter().any(|line| line.contains("warm pool")), "{:?}", adoption.afterwards);
    let limited = with(json!({"MinSize": 0, "MaxGroupPreparedCapacity": 4}), None);
    assert_eq!(limited.objects[0]["spec"]["warmPool"]["maxPreparedCapacity"], 4);
    for (config, secret) in [
        (json!({"PoolState": "Running"}), None),
        (json!({"PoolState": "Hibernated"}), None),
        (json!({"MinSize": 0, "MaxGroupPreparedCapacity": 0}), None),
        (json!({"MinSize": 1}), Some("join")),
    ] {
        let refused = with(config, secret);
        assert!(refused.obstacles.iter().any(|line| line.contains("warm pool")), "{:?}", refused.obstacles);
        assert_eq!(refused.objects[0]["spec"].get("warmPool"), None);
    }
    let ending = with(json!({"MinSize": 1, "Status": "PendingDelete"}), None);
    assert_eq!((ending.objects[0]["spec"].get("warmPool"), ending.obstacles.len()), (None, 0));
}

/// As eksctl, cluster-autoscaler, a node termination handler and a person at night leave it.
#[test]
fn everything_in_the_way_and_everything_that_is_lost_is_named() {
    let mut group = plain();
    group["Tags"] = json!([
        {"Key": "Name", "Value": "worker", "PropagateAtLaunch": true},
        {"Key": "team", "Value": "blue", "PropagateAtLaunch": true},
        {"Key": "of-the-group", "Value": "only", "PropagateAtLaunch": false},
        {"Key": "kubernetes.io/cluster/prod", "Value": "owned", "PropagateAtLaunch": true},
        {"Key": "sigs.k8s.io/cluster-api-provider-aws/cluster/old", "Value": "owned", "PropagateAtLaunch": true},
        {"Key": "k8s.io/cluster-autoscaler/enabled", "Value": "true", "PropagateAtLaunch": true},
        {"Key": "aws:cloudformation:stack-name", "Value": "eksctl-prod-nodegroup-workers", "PropagateAtLaunch": true},
    ]);
    group["SuspendedProcesses"] =
        json!(["AZRebalance", "HealthCheck", "Terminate"].map(|name| json!({"ProcessName": name})));
    group["LaunchTemplate"] = Value::Null;
    group["MixedInstancesPolicy"] = json!({
        "LaunchTemplate": {
            "LaunchTemplateSpecification": {"LaunchTemplateId": "lt-1", "Version": "$Latest"},
            "Overrides": [
                {"InstanceType": "m7i.large", "WeightedCapacity": "2"},
                {"InstanceType": "m6i.large", "LaunchTemplateSpecification": {"LaunchTemplateId": "lt-2"}},
            ],
        },
        "InstancesDistribution": {
            "OnDemandAllocationStrategy": "lowest-price", "OnDemandBaseCapacity": 1,
            "OnDemandPercentageAboveBaseCapacity": 40, "SpotAllocationStrategy": "capacity-optimized", "SpotMaxPrice": "0.3",
        },
    });
    group["Instances"][1]["LifecycleState"] = json!("Standby");
    group["MaxInstanceLifetime"] = json!(1_209_600);
    group["HealthCheckType"] = json!("EC2,ELB");
    group["WarmPoolConfiguration"] = json!({"MinSize": 1, "InstanceReusePolicy": {"ReuseOnScaleIn": true}});
    group["DesiredCapacityType"] = json!("vcpu");
    group["DesiredCapacity"] = json!(3);
    group["VPCZoneIdentifier"] = json!("subnet-1,subnet-9");
    let template = json!({
        "LaunchTemplateName": "workers",
        "LaunchTemplateData": {
            "ImageId": "resolve:ssm:/team/image", "KeyName": "ops", "EbsOptimized": true,
            "Placement": {"GroupName": "near", "PartitionNumber": 2, "Tenancy": "host", "HostId": "h-1"},
            "IamInstanceProfile": {"Arn": "arn:aws:iam::123456789012:instance-profile/path/nodes"},
            "NetworkInterfaces": [
                {"DeviceIndex": 0, "Groups": ["sg-1"], "AssociatePublicIpAddress": true, "DeleteOnTermination": false},
                {"DeviceIndex": 1, "Groups": ["sg-2"], "DeleteOnTermination": false},
            ],
            "BlockDeviceMappings": [
                {"DeviceName": "/dev/xvda", "Ebs": {
                    "Encrypted": true, "KmsKeyId": "alias/a", "DeleteOnTermination": true, "SnapshotId": "snap-2",
                }},
                {"DeviceName": "/dev/xvdb", "Ebs": {
                    "VolumeSize": 100, "VolumeType": "io2", "Iops": 5000, "SnapshotId": "snap-1", "DeleteOnTermination": false,
                    "VolumeInitializationRate": 200,
                }},
                {"DeviceName": "/dev/xvdc", "VirtualName": "ephemeral0"},
                {"DeviceName": "/dev/xvde", "NoDevice": ""},
                {"DeviceName": "/dev/xvdd", "Ebs": {"VolumeType": "gp3"}},
            ],
            "MetadataOptions": {"HttpEndpoint": "enabled", "HttpProtocolIpv6": "disabled", "InstanceMetadataTags": "enabled"},
            "InstanceMarketOptions": {"MarketType": "another"},
            "UserData": "c2VjcmV0", "Monitoring": {"Enabled": true}, "EnclaveOptions": {"Enabled": true},
            "CpuOptions": {"CoreCount": 2, "ThreadsPerCore": 1, "AmdSevSnp": "disabled", "NestedVirtualization": "enabled"},
            "CreditSpecification": {"CpuCredits": "unlimited"},
            "PrivateDnsNameOptions": {
                "HostnameType": "resource-name", "EnableResourceNameDnsARecord": true, "EnableResourceNameDnsAAAARecord": false,
            },
            "DisableApiStop": false, "HibernationOptions": {"Configured": true},
            "CapacityReservationSpecification": {"CapacityReservationTarget": {"CapacityReservationId": "cr-1"}},
            "LicenseSpecifications": [{"LicenseConfigurationArn": "arn:aws:license-manager:eu-central-1:1:license-configuration:lic-1"}],
            "TagSpecifications": [
                {"ResourceType": "instance", "Tags": [{"Key": "team", "Value": "red"}]},
                {"ResourceType": "volume", "Tags": [{"Key": "disk", "Value": "yes"}]},
            ],
        },
    });
    let mut found = Found {
        policies: vec!["cpu".to_owned()],
        schedules: vec!["nightly".to_owned()],
        refreshes: vec!["refresh-1".to_owned()],
        termination_hooks: vec!["nth".to_owned()],
        launch_hooks: vec!["bake".to_owned()],
        stack: Some("eksctl-prod-nodegroup-workers".to_owned()),
        taken_names: vec!["workers".to_owned()],
        unread: vec!["aws autoscaling describe-policies failed: denied".to_owned()],
        ..found(group, template)
    };
    found.image.as_mut().unwrap().name = "golden-image-7".to_owned();
    let cluster = InAws { allows_adoption: Some(false), ..cluster() };
    let printed = printed(&of_found(&found, &adopter(), &cluster).unwrap());
    assert!(!printed.contains("c2VjcmV0"), "user data may contain secrets");
    is_printed("adopt-obstacles", &printed);
}

#[test]
fn spot_instances_of_a_launch_template_stay_spot_instances() {
    let mut template = simple();
    let data = &mut template["LaunchTemplateData"];
    data["InstanceMarketOptions"] = json!({"MarketType": "spot", "SpotOptions": {"MaxPrice": "0.1"}});
    data["SecurityGroupIds"] = json!(["sg-1"]);
    let mut group = plain();
    group["AutoScalingGroupName"] = json!("workers-of-eksctl");
    let adoption = of_found(&found(group, template), &adopter(), &cluster()).unwrap();
    let spec = &adoption.objects[0]["spec"];
    assert_eq!(spec["spot"], json!({"maxPrice": "0.1"}));
    assert_eq!(spec["securityGroups"], json!([{"id": "sg-1"}]));
    // A launch template of the group's name is the other tool's.
    assert_eq!(spec["launchTemplateName"], "workers-of-eksctl-foo");
}

/// A group with these overrides; its launch template has the image ami-1 of x86_64.
fn with_overrides(overrides: &Value) -> Adoption {
    let mut group = plain();
    group["LaunchTemplate"] = Value::Null;
    let template = json!({"LaunchTemplateId": "lt-1", "Version": "3"});
    let template = json!({"LaunchTemplateSpecification": template, "Overrides": overrides});
    group["MixedInstancesPolicy"] = json!({"LaunchTemplate": template});
    let mut found = found(group, simple());
    "x86_64".clone_into(&mut found.image.as_mut().unwrap().architecture);
    let images = [("ami-2", "arm64"), ("ami-3", "x86_64")];
    let images = images.map(|(id, runs)| json!({"ImageId": id, "Architecture": runs}));
    found.images_of_types = serde_json::from_value(json!(images)).unwrap();
    of_found(&found, &adopter(), &cluster()).unwrap()
}

#[test]
fn sets_of_attributes_of_both_architectures_stay_with_their_images() {
    let attributes = json!({
        "VCpuCount": {"Min": 2}, "MemoryMiB": {"Min": 4096}, "CpuManufacturers": ["intel", "amazon-web-services"],
    });
    let sets = json!([
        {"InstanceRequirements": attributes}, {"InstanceRequirements": attributes, "ImageId": "ami-2"},
    ]);
    let spec = with_overrides(&sets).objects[0]["spec"].clone();
    assert_eq!(spec["ami"], json!({"ids": {"x86_64": "ami-1", "arm64": "ami-2"}}));
    let sets = [0_usize, 1].map(|set| spec["mixedInstances"]["overrides"][set]["requirements"].clone());
    let of = sets.map(|set| (set["architecture"].clone(), set["cpuManufacturers"].clone()));
    assert_eq!(of, [(Value::Null, json!(["intel"])), (json!("arm64"), json!(["amazon-web-services"]))]);
}

#[test]
fn images_of_both_architectures_stay_and_others_are_named() {
    let adopted = |overrides: &Value| {
        let adoption = with_overrides(overrides);
        let is_named = |it: &String| it.starts_with("images of single instance types");
        (adoption.objects[0]["spec"]["ami"].clone(), adoption.differences.iter().any(is_named))
    };
    let of = |name: &str| json!({"InstanceType": name});
    let with = |name: &str, image: &str| json!({"InstanceType": name, "ImageId": image});
    let ids = |x86_64: &str, arm64: &str| json!({"ids": {"x86_64": x86_64, "arm64": arm64}});
    for (overrides, expected) in [
        (json!([of("m7i.large"), with("m7g.large", "ami-2")]), (ids("ami-1", "ami-2"), false)),
        (json!([with("m7g.large", "ami-2"), with("m7i.large", "ami-3")]), (ids("ami-3", "ami-2"), false)),
        (json!([with("m7i.large", "ami-3"), with("m6i.large", "ami-3")]), (json!({"id": "ami-3"}), false)),
        (json!([of("m7i.large"), with("m6i.large", "ami-3")]), (json!({"id": "ami-1"}), true)),
        (json!([of("m7i.large"), with("m7g.large", "ami-unread")]), (json!({"id": "ami-1"}), true)),
    ] {
        assert_eq!(adopted(&overrides), expected, "{overrides}");
    }
}

#[test]
fn cpu_credits_are_in_the_manifest_for_burstable_types_only() {
    for (instance_type, expected) in [("t3.large", json!("unlimited")), ("trn1.2xlarge", Value::Null)] {
        let mut template = simple();
        let data = &mut template["LaunchTemplateData"];
        data["InstanceType"] = json!(instance_type);
        data["CreditSpecification"] = json!({"CpuCredits": "unlimited"});
        let adoption = of_found(&found(plain(), template), &adopter(), &cluster()).unwrap();
        assert_eq!(adoption.objects[0]["spec"]["cpuCredits"], expected, "{instance_type}");
        let is_named = adoption.differences.iter().any(|it| it.starts_with("CpuCredits unlimited"));
        assert_eq!(is_named, expected.is_null(), "{instance_type}");
    }
}

#[test]
fn a_bandwidth_weighting_stays_if_a_pool_can_have_it() {
    for (weighting, expected) in
        [("vpc-1", json!("vpc-1")), ("default", json!("default")), ("gpu-1", Value::Null)]
    {
        let mut template = simple();
        template["LaunchTemplateData"]["NetworkPerformanceOptions"] =
            json!({"BandwidthWeighting": weighting});
        let adoption = of_found(&found(plain(), template), &adopter(), &cluster()).unwrap();
        assert_eq!(adoption.objects[0]["spec"]["bandwidthWeighting"], expected, "{weighting}");
        let is_named = adoption.differences.iter().any(|it| it.starts_with("BandwidthWeighting gpu-1"));
        assert_eq!(is_named, expected.is_null(), "{weighting}");
    }
}

#[test]
fn elastic_fabric_adapters_of_a_launch_template_stay_if_a_pool_can_have_them() {
    let adopted = |group: Value, interfaces: &Value| {
        let mut template = simple();
        let data = &mut template["LaunchTemplateData"];
        data["SecurityGroupIds"] = json!([]);
        data["NetworkInterfaces"] = interfaces.clone();
        let adoption = of_found(&found(group, template), &adopter(), &cluster()).unwrap();
        let spec = &adoption.objects[0]["spec"];
        let named = |it: &&String| {
            ["network interfaces", "Elastic Fabric", "public addresses"]
                .iter()
                .any(|begin| it.starts_with(begin))
        };
        (
            spec["efa"].clone(),
            spec["associatePublicIPAddress"].clone(),
            adoption.differences.iter().filter(named).count(),
        )
    };
    let interface = |card: u32, device: u32, kind: &str| json!({"NetworkCardIndex": card, "DeviceIndex": device, "InterfaceType": kind, "Groups": ["sg-1", "sg-2"]});
    let public = |mut it: Value| {
        it["AssociatePublicIpAddress"] = json!(true);
        it
    };
    let efa = |interfaces: u32, primary: &str, others: &str| json!({"interfaces": interfaces, "primary": primary, "others": others});
    for (interfaces, expected) in [
        (json!([interface(0, 0, "efa"), interface(1, 1, "efa")]), efa(2, "EFA", "EFA")),
        (json!([interface(1, 0, "efa-only"), interface(0, 0, "efa")]), efa(2, "EFA", "EFAOnly")),
        (json!([interface(0, 0, "interface"), interface(0, 1, "efa-only")]), efa(1, "Interface", "EFAOnly")),
        (json!([interface(0, 0, "interface"), interface(1, 1, "efa-only")]), efa(1, "Interface", "EFAOnly")),
    ] {
        assert_eq!(adopted(plain(), &interfaces), (expected, Value::Null, 0), "{interfaces}");
    }
    let single = json!([public(interface(0, 0, "efa"))]);
    assert_eq!(adopted(plain(), &single), (efa(1, "EFA", "EFAOnly"), json!(true), 0));
    let several = json!([public(interface(0, 0, "efa")), interface(1, 1, "efa")]);
    assert_eq!(adopted(plain(), &several), (efa(2, "EFA", "EFA"), Value::Null, 1));
    for one in [json!([interface(0, 0, "interface")]), json!([{"DeviceIndex": 0, "Groups": ["sg-1"]}])] {
        assert_eq!(adopted(plain(), &one), (Value::Null, Value::Null, 0), "{one}");
    }
    let with = |field: &str, value: Value| {
        let mut other = interface(1, 1, "efa");
        other[field] = value;
        json!([interface(0, 0, "efa"), other])
    };
    for other in [
        json!([interface(0, 1, "interface")]),
        json!([interface(0, 0, "efa"), interface(0, 1, "efa")]),
        with("Groups", json!(["sg-1"])),
        with("DeleteOnTermination", json!(false)),
        with("Ipv6AddressCount", json!(1)),
    ] {
        assert_eq!(adopted(plain(), &other), (Value::Null, Value::Null, 1), "{other}");
    }
    let mut mixed = plain();
    let template = mixed.as_object_mut().unwrap().remove("LaunchTemplate").unwrap();
    mixed["MixedInstancesPolicy"] = json!({"LaunchTemplate": {
        "LaunchTemplateSpecification": template, "Overrides": [{"InstanceType": "p4d.24xlarge"}, {"InstanceType": "p5.48xlarge"}],
    }});
    let interfaces = json!([interface(0, 0, "efa"), interface(1, 1, "efa")]);
    assert_eq!(adopted(mixed, &interfaces), (Value::Null, Value::Null, 1), "the API takes efa with one type");
}

#[test]
fn rare_settings_of_a_launch_template_become_an_overlay_if_a_pool_can_have_them() {
    let adopted = |group: Value, fields: &Value| {
        let mut template = simple();
        let data = template["LaunchTemplateData"].as_object_mut().unwrap();
        data.extend(fields.as_object().unwrap().clone());
        let adoption = of_found(&found(group, template), &adopter(), &cluster()).unwrap();
        (adoption.objects[0]["spec"]["launchTemplateOverlay"].clone(), adoption.differences)
    };
    let usual = adopted(plain(), &json!({})).1;
    let settings = json!({
        "DisableApiStop": true, "DisableApiTermination": true, "InstanceInitiatedShutdownBehavior": "terminate",
        "KernelId": "aki-1", "RamDiskId": "ari-1", "MaintenanceOptions": {"AutoRecovery": "disabled"},
        "SecondaryInterfaces": [{
            "DeviceIndex": 1, "NetworkCardIndex": 2, "PrivateIpAddressCount": 3, "SecondarySubnetId": "ss-1",
            "InterfaceType": "secondary", "DeleteOnTermination": true,
        }],
        "BlockDeviceMappings": [
            {"DeviceName": "/dev/xvdb", "Ebs": {"VolumeSize": 1, "VolumeType": "gp3", "EbsCardIndex": 1}},
        ],
        "TagSpecifications": [{"ResourceType": "network-interface", "Tags": [
            {"Key": "team", "Value": "blue"}, {"Key": "eks:cluster-name", "Value": "prod"},
        ]}],
    });
    let expected = json!({
        "DisableApiStop": true, "DisableApiTermination": true, "InstanceInitiatedShutdownBehavior": "terminate",
        "KernelId": "aki-1", "RamDiskId": "ari-1", "MaintenanceOptions": {"AutoRecovery": "disabled"},
        "SecondaryInterfaces": [{
            "DeviceIndex": 1, "NetworkCardIndex": 2, "PrivateIpAddressCount": 3, "SecondarySubnetId": "ss-1",
        }],
        "BlockDeviceMappings": [{"DeviceName": "/dev/xvdb", "Ebs": {"EbsCardIndex": 1}}],
        "TagSpecifications": [{"ResourceType": "network-interface", "Tags": [{"Key": "team", "Value": "blue"}]}],
    });
    assert_eq!(adopted(plain(), &settings), (expected, usual.clone()));
    let defaults = json!({
        "EbsOptimized": false, "DisableApiStop": false, "InstanceInitiatedShutdownBehavior": "stop",
        "MaintenanceOptions": {"AutoRecovery": "default"}, "CpuOptions": {"NestedVirtualization": "disabled"},
    });
    assert_eq!(adopted(plain(), &defaults), (Value::Null, usual));
    let mut warm = plain();
    warm["WarmPoolConfiguration"] = json!({"MinSize": 1});
    for (group, fields, named) in [
        (warm, json!({"DisableApiStop": true}), "DisableApiStop"),
        (
            plain(),
            json!({"DisableApiTermination": true, "InstanceMarketOptions": {"MarketType": "spot"}}),
            "DisableApiTermination",
        ),
        (plain(), json!({"MaintenanceOptions": {"AutoRecovery": "often"}}), "AutoRecovery often"),
        (
            plain(),
            json!({"BlockDeviceMappings": [{"DeviceName": "/dev/xvdb", "VirtualName": "ephemeral24"}]}),
            "device /dev/xvdb",
        ),
        (
            plain(),
            json!({"SecondaryInterfaces": [{"PrivateIpAddresses": [{"PrivateIpAddress": "10.0.0.1"}]}]}),
            "PrivateIpAddresses of the secondary interface",
        ),
    ] {
        let (overlay, differences) = adopted(group, &fields);
        assert_eq!(overlay, Value::Null, "{fields}");
        let times = differences.iter().filter(|it| it.starts_with(named)).count();
        assert_eq!(times, 1, "{fields}: {differences:?}");
    }
}

#[test]
fn additional_network_interfaces_of_a_launch_template_stay_if_a_pool_can_have_them() {
    let adopted = |interfaces: Value, tagged: bool| {
        let mut template = simple();
        let data = &mut template["LaunchTemplateData"];
        data["SecurityGroupIds"] = json!([]);
        data["NetworkInterfaces"] = interfaces;
        if tagged {
            let tag = json!({"Key": "node.k8s.amazonaws.com/no_manage", "Value": "true"});
            data["TagSpecifications"] = json!([{"ResourceType": "network-interface", "Tags": [tag]}]);
        }
        let adoption = of_found(&found(plain(), template), &adopter(), &cluster()).unwrap();
        let spec = &adoption.objects[0]["spec"];
        let words = ["network interfaces", "public addresses", "tags of the resource type network-interface"];
        let is_named = |it: &&String| words.iter().any(|begin| it.starts_with(begin));
        assert_eq!(spec["associatePublicIPAddress"], Value::Null);
        let differences = adoption.differences.iter().filter(is_named).count();
        (spec["networkInterfaces"].clone(), spec["efa"].clone(), differences)
    };
    let interface = |card: u32, device: u32, groups: &[&str]| json!({"NetworkCardIndex": card, "DeviceIndex": device, "Groups": groups});
    let first = || interface(0, 0, &["sg-1"]);
    let on_first_card = |count: u32| json!([{"networkCard": 0, "count": count}]);
    let two = json!([first(), interface(0, 1, &["sg-1"]), interface(0, 2, &["sg-1"])]);
    assert_eq!(adopted(two.clone(), true), (on_first_card(2), Value::Null, 0));
    assert_eq!(adopted(two, false), (on_first_card(2), Value::Null, 1));
    let own = json!([interface(1, 1, &["sg-2"]), first(), interface(0, 1, &["sg-1"])]);
    let expected = json!([
        {"networkCard": 0, "count": 1}, {"networkCard": 1, "count": 1, "securityGroups": [{"id": "sg-2"}]},
    ]);
    assert_eq!(adopted(own, true), (expected, Value::Null, 0));
    let mut public = first();
    public["AssociatePublicIpAddress"] = json!(true);
    assert_eq!(
        adopted(json!([public, interface(0, 1, &["sg-1"])]), true),
        (on_first_card(1), Value::Null, 1)
    );
    let mut adapter = interface(0, 1, &["sg-1"]);
    adapter["InterfaceType"] = json!("efa-only");
    let efa = json!({"interfaces": 1, "primary": "Interface", "others": "EFAOnly"});
    let both = json!([first(), adapter, interface(0, 2, &["sg-2"])]);
    let of_group_2 = json!([{"networkCard": 0, "count": 1, "securityGroups": [{"id": "sg-2"}]}]);
    assert_eq!(adopted(both, true), (of_group_2, efa, 0));
    let mut adapter = interface(1, 0, &["sg-1"]);
    adapter["InterfaceType"] = json!("efa-only");
    let mut public = first();
    public["AssociatePublicIpAddress"] = json!(true);
    for order in [json!([public, adapter]), json!([adapter, public])] {
        assert_eq!(adopted(order, true).2, 1, "the primary interface is the one of the first network card");
    }
    let mut with_addresses = interface(0, 1, &["sg-1"]);
    with_addresses["Ipv6AddressCount"] = json!(1);
    assert_eq!(adopted(json!([first(), with_addresses]), true), (Value::Null, Value::Null, 1));
    let default_group = interface(0, 1, &[]);
    assert_eq!(adopted(json!([first(), default_group]), true), (Value::Null, Value::Null, 1));
}

#[test]
fn tags_of_network_interfaces_that_a_pool_has_in_any_case_are_not_repeated() {
    let no_manage = json!({"Key": "node.k8s.amazonaws.com/no_manage", "Value": "true"});
    let team = json!({"Key": "team", "Value": "blue"});
    let [unit, other_unit] = ["a", "b"].map(|value| json!({"Key": "unit", "Value": value}));
    let adopted = |count: i64| {
        let interfaces: Vec<Value> =
            (0..count).map(|device| json!({"DeviceIndex": device, "Groups": ["sg-1"]})).collect();
        let mut template = simple();
        let data = &mut template["LaunchTemplateData"];
        data["SecurityGroupIds"] = json!([]);
        data["NetworkInterfaces"] = json!(interfaces);
        data["TagSpecifications"] = json!([
            {"ResourceType": "instance", "Tags": [team, unit]},
            {"ResourceType": "network-interface", "Tags": [team, other_unit, no_manage]},
        ]);
        let adoption = of_found(&found(plain(), template), &adopter(), &cluster()).unwrap();
        adoption.objects[0]["spec"]["launchTemplateOverlay"]["TagSpecifications"][0]["Tags"].clone()
    };
    assert_eq!(adopted(1), json!([no_manage, team, other_unit]));
    assert_eq!(adopted(2), json!([other_unit]), "networkInterfaces have the others");
}

#[test]
fn reservations_and_dedicated_hosts_of_a_launch_template_stay() {
    let spec_of = |data: &Value| {
        let mut template = simple();
        let fields = template["LaunchTemplateData"].as_object_mut().unwrap();
        fields.extend(data.as_object().unwrap().clone());
        let adoption = of_found(&found(plain(), template), &adopter(), &cluster()).unwrap();
        (adoption.objects[0]["spec"].clone(), adoption.differences.len())
    };
    let none = spec_of(&json!({})).1;
    let reserved = |specification: Value, market: Value| {
        let data =
            json!({"CapacityReservationSpecification": specification, "InstanceMarketOptions": market});
        let (spec, differences) = spec_of(&data);
        (spec["capacityReservation"].clone(), differences - none)
    };
    let target = |field: &str| json!({"CapacityReservationTarget": {field: "x"}});
    for (specification, expected) in [
        (target("CapacityReservationId"), json!({"id": "x"})),
        (target("CapacityReservationResourceGroupArn"), json!({"resourceGroupARN": "x"})),
        (json!({"CapacityReservationPreference": "none"}), json!({"preference": "none"})),
    ] {
        assert_eq!(reserved(specification, Value::Null), (expected, 0));
    }
    // EC2's default, and a preference that is not known.
    assert_eq!(reserved(json!({}), Value::Null), (Value::Null, 0));
    assert_eq!(reserved(json!({"CapacityReservationPreference": "some"}), Value::Null), (Value::Null, 1));
    let spot = json!({"MarketType": "spot"});
    assert_eq!(reserved(target("CapacityReservationId"), spot.clone()), (Value::Null, 1));
    assert_eq!(reserved(json!({}), spot), (Value::Null, 0));
    let block = json!({"MarketType": "capacity-block"});
    let in_block = json!({"block": {"id": "x", "drainLeadSeconds": 1800}});
    assert_eq!(reserved(target("CapacityReservationId"), block.clone()), (in_block, 0));
    assert_eq!(reserved(target("CapacityReservationResourceGroupArn"), block), (Value::Null, 1));
    let (spec, differences) =
        spec_of(&json!({"Placement": {"Tenancy": "host", "HostResourceGroupArn": "arn:h"}}));
    assert_eq!(spec["placement"], json!({"hostResourceGroupARN": "arn:h"}));
    assert_eq!((&spec["tenancy"], differences), (&Value::Null, none));
    let (spec, differences) = spec_of(&json!({"Placement": {"Tenancy": "dedicated", "GroupId": "pg-1"}}));
    assert_eq!(spec["placement"], json!({"groupID": "pg-1"}));
    assert_eq!((&spec["tenancy"], differences), (&json!("dedicated"), none));
}

#[test]
fn what_can_never_be_adopted_is_refused() {
    let refused = |change: &dyn Fn(&mut Value, &mut Value)| {
        let (mut group, mut template) = (plain(), simple());
        change(&mut group, &mut template);
        format!("{:#}", of_found(&found(group, template), &adopter(), &cluster()).unwrap_err())
    };
    let tagged = |key: &'static str| {
        move |group: &mut Value, _: &mut Value| {
            group["Tags"] = json!([{"Key": key, "Value": "x", "PropagateAtLaunch": true}]);
        }
    };
    assert_eq!(
        refused(&tagged("eks:nodegroup-name")),
        "workers belongs to the EKS managed node group x: AWS owns it, and it cannot be adopted"
    );
    for owner in ["pool", "cluster", "installation"] {
        let key: &'static str = format!("infrastructure.foo.com/{owner}").leak();
        assert!(refused(&tagged(key)).starts_with("workers belongs to x already"), "{owner}");
    }
    let being_deleted = |group: &mut Value, _: &mut Value| group["Status"] = json!("Delete in progress");
    assert!(refused(&being_deleted).contains("being deleted"));
    let no_subnets = |group: &mut Value, _: &mut Value| group["VPCZoneIdentifier"] = json!("");
    assert!(refused(&no_subnets).starts_with("workers has no subnets"));
    let both = |group: &mut Value, _: &mut Value| {
        let attributes = json!({"VCpuCount": {"Min": 2}, "MemoryMiB": {"Min": 4096}});
        let overrides = json!([{"InstanceRequirements": attributes}, {"InstanceType": "m7i.large"}]);
        group["MixedInstancesPolicy"] = json!({"LaunchTemplate": {"Overrides": overrides}});
    };
    assert!(refused(&both).contains("a FooMachinePool has one of the two"));
    let no_image =
        |_: &mut Value, template: &mut Value| template["LaunchTemplateData"]["ImageId"] = Value::Null;
    assert_eq!(refused(&no_image), "the launch template has no image");
}

#[test]
fn a_volume_of_the_images_type_has_its_performance() {
    let mut template = simple();
    template["LaunchTemplateData"]["BlockDeviceMappings"] = json!([
        {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 40}},
        {"DeviceName": "/dev/xvdb", "Ebs": {"VolumeSize": 50, "VolumeType": "gp3"}},
    ]);
    let mut found = found(plain(), template);
    found.image.as_mut().unwrap().block_device_mappings = serde_json::from_value(json!([
        {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 20, "VolumeType": "io2", "Iops": 4000}},
        {"DeviceName": "/dev/xvdb", "Ebs": {
            "VolumeSize": 20, "VolumeType": "io2", "Iops": 5000, "DeleteOnTermination": false,
        }},
    ]))
    .unwrap();
    let spec = &of_found(&found, &adopter(), &cluster()).unwrap().objects[0]["spec"];
    assert_eq!(spec["rootVolume"], json!({"sizeGiB": 40, "type": "io2", "iops": 4000}));
    // What becomes of a volume is as in the image, too, if the launch template does not say it.
    let volume =
        json!({"deviceName": "/dev/xvdb", "sizeGiB": 50, "type": "gp3", "deleteOnTermination": false});
    assert_eq!(spec["volumes"], json!([volume]));
    // Without the image nothing is guessed.
    found.image = None;
    let adoption = of_found(&found, &adopter(), &cluster()).unwrap();
    assert_eq!(adoption.objects[0]["spec"]["rootVolume"], Value::Null);
    assert!(notes(&adoption).contains("volume /dev/xvda: its size or type is not known"));
}

#[test]
fn the_launch_template_of_the_pool_has_a_name_that_none_has() {
    let named = |taken: &[&str]| {
        let taken_names = taken.iter().map(|&it| it.to_owned()).collect();
        of_found(&Found { taken_names, ..found(plain(), simple()) }, &adopter(), &cluster())
    };
    let name = |taken: &[&str]| named(taken).unwrap().objects[0]["spec"]["launchTemplateName"].clone();
    assert_eq!(name(&[]), Value::Null);
    assert_eq!(name(&["workers"]), "workers-foo");
    assert!(named(&["workers", "workers-foo"]).is_err());
}
