//! What goes over the wire, field by field.

use crate::canned::{Canned, Form, autoscaling_response, ec2_error, ec2_response};
use foo_cloud::{Compute, ErrorKind, Groups, Made, VersionCopy};
use foo_model::hook::{HookConfig, HookResult, HookTarget, LifecycleHook, Transition};
use foo_model::{
    AdditionalInterface, AutoRecovery, BandwidthWeighting, CapacityReservation, Cores, CpuCredits, Device,
    Efa, GroupChange, GroupSettings, HostnameType, InstanceOptions, InstancesMix, MetadataOptions,
    MixOverride, NewGroup, OnDemandStrategy, Overlay, Placement, PlacementGroup, Primary, PrivateDns,
    ReservationPreference, SecondaryInterface, Seconds, ShutdownBehavior, SpotOptions, SpotStrategy,
    TemplateContent, TemplateVersion, Tenancy, TrafficSource, UserData, Volume, VolumeType,
};
use std::collections::{BTreeMap, BTreeSet};

/// A template with everything in it.
pub(crate) fn content() -> TemplateContent {
    TemplateContent {
        image: "ami-1".into(),
        arm64_image: None,
        instance_type: Some("m7i.large".into()),
        security_groups: vec!["sg-1".into(), "sg-2".into()],
        instance_profile: Some("nodes".into()),
        key_name: Some("ops".into()),
        volumes: vec![Volume {
            device: "/dev/xvda".into(),
            size_gib: 80,
            kind: VolumeType::Gp3,
            iops: Some(4_000),
            throughput: Some(250),
            encrypted: Some(true),
            kms_key: Some("alias/nodes".into()),
            outlives_instance: false,
            snapshot: None,
            initialization_rate: None,
        }],
        metadata: MetadataOptions::with_tokens(1),
        spot: Some(SpotOptions { max_price: Some("0.05".into()) }),
        options: InstanceOptions::default(),
        user_data: UserData(b"#!/bin/sh\necho hi\n".to_vec()),
        tags: tags(&[("Name", "node")]),
        interface_tags: BTreeMap::new(),
    }
}

pub(crate) fn tags(tags: &[(&str, &str)]) -> BTreeMap<String, String> {
    tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// The fields of a form that are not the protocol's own.
fn fields(form: &Form) -> Vec<String> {
    let own = |key: &str| !matches!(key, "Action" | "Version");
    form.iter().filter(|(key, _)| own(key)).map(|(key, value)| format!("{key}={value}")).collect()
}

#[tokio::test]
async fn a_launch_template_is_complete() {
    let made = "<launchTemplate><launchTemplateId>lt-1</launchTemplateId><launchTemplateName>g</launchTemplateName>\
                <latestVersionNumber>1</latestVersionNumber></launchTemplate>";
    let server = Canned::always(|| ec2_response("CreateLaunchTemplate", made)).await;
    let cloud = server.cloud().await;
    let made =
        cloud.create_template("g", &content(), "foo spec=v1-a data=v1-b", &tags(&[("k", "v")]), "t-1").await;
    assert_eq!(made, Ok(Made { made: ("lt-1".into(), TemplateVersion(1)), warning: None }));
    let data = "LaunchTemplateData";
    let mut expected = vec![
        "ClientToken=t-1".to_owned(),
        "LaunchTemplateName=g".to_owned(),
        "VersionDescription=foo spec=v1-a data=v1-b".to_owned(),
        "TagSpecification.1.ResourceType=launch-template".to_owned(),
        "TagSpecification.1.Tag.1.Key=k".to_owned(),
        "TagSpecification.1.Tag.1.Value=v".to_owned(),
    ];
    for field in [
        "BlockDeviceMapping.1.DeviceName=/dev/xvda",
        "BlockDeviceMapping.1.Ebs.DeleteOnTermination=true",
        "BlockDeviceMapping.1.Ebs.Encrypted=true",
        "BlockDeviceMapping.1.Ebs.Iops=4000",
        "BlockDeviceMapping.1.Ebs.KmsKeyId=alias/nodes",
        "BlockDeviceMapping.1.Ebs.Throughput=250",
        "BlockDeviceMapping.1.Ebs.VolumeSize=80",
        "BlockDeviceMapping.1.Ebs.VolumeType=gp3",
        "IamInstanceProfile.Name=nodes",
        "ImageId=ami-1",
        "InstanceMarketOptions.MarketType=spot",
        "InstanceMarketOptions.SpotOptions.MaxPrice=0.05",
        "InstanceType=m7i.large",
        "KeyName=ops",
        "MetadataOptions.HttpEndpoint=enabled",
        "MetadataOptions.HttpPutResponseHopLimit=1",
        "MetadataOptions.HttpTokens=required",
        "MetadataOptions.InstanceMetadataTags=disabled",
        "SecurityGroupId.1=sg-1",
        "SecurityGroupId.2=sg-2",
        "TagSpecification.1.ResourceType=instance",
        "TagSpecification.1.Tag.1.Key=Name",
        "TagSpecification.1.Tag.1.Value=node",
        "TagSpecification.2.ResourceType=volume",
        "TagSpecification.2.Tag.1.Key=Name",
        "TagSpecification.2.Tag.1.Value=node",
        "UserData=IyEvYmluL3NoCmVjaG8gaGkK",
    ] {
        expected.push(format!("{data}.{field}"));
    }
    let mut sent = fields(&server.asked()[0]);
    sent.sort();
    expected.sort();
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn each_efa_interface_has_a_network_card_and_all_security_groups() {
    let made = "<launchTemplate><launchTemplateId>lt-1</launchTemplateId><launchTemplateName>g</launchTemplateName>\
                <latestVersionNumber>1</latestVersionNumber></launchTemplate>";
    let server = Canned::always(|| ec2_response("CreateLaunchTemplate", made)).await;
    let cloud = server.cloud().await;
    for (interfaces, primary, only, public_address) in [
        (2, Primary::Efa, false, None),
        (2, Primary::Plain, true, None),
        (1, Primary::PlainAlone, false, None),
        (1, Primary::Efa, true, Some(true)),
    ] {
        let efa = Some(Efa { interfaces, primary, only });
        let options = InstanceOptions { efa, public_address, ..InstanceOptions::default() };
        cloud
            .create_template("g", &TemplateContent { options, ..content() }, "d", &tags(&[]), "t-1")
            .await
            .unwrap();
    }
    let of_interfaces = |form: &Form| -> Vec<String> {
        let prefix = "LaunchTemplateData.NetworkInterface.";
        let mut found: Vec<String> =
            fields(form).iter().filter_map(|it| it.strip_prefix(prefix)).map(str::to_owned).collect();
        found.sort();
        found
    };
    let interface = |number: u32, card: u32, device: u32, kind: &str| {
        [
            "DeleteOnTermination=true".to_owned(),
            format!("DeviceIndex={device}"),
            format!("InterfaceType={kind}"),
            format!("NetworkCardIndex={card}"),
            "SecurityGroupId.1=sg-1".to_owned(),
            "SecurityGroupId.2=sg-2".to_owned(),
        ]
        .map(|field| format!("{number}.{field}"))
    };
    let sent: Vec<Vec<String>> = server.asked().iter().map(of_interfaces).collect();
    assert_eq!(sent[0], [interface(1, 0, 0, "efa"), interface(2, 1, 1, "efa")].concat());
    let plain =
        [interface(1, 0, 0, "interface"), interface(2, 0, 1, "efa-only"), interface(3, 1, 0, "efa-only")];
    assert_eq!(sent[1], plain.concat());
    assert_eq!(sent[2], [interface(1, 0, 0, "interface"), interface(2, 1, 1, "efa")].concat());
    assert_eq!(sent[3][0], "1.AssociatePublicIpAddress=true");
    assert_eq!(sent[3][1..], interface(1, 0, 0, "efa"));
    let at_the_top =
        |form: &Form| fields(form).iter().any(|it| it.starts_with("LaunchTemplateData.SecurityGroupId"));
    assert!(!server.asked().iter().any(at_the_top), "EC2 takes them in one place only");
}

#[tokio::test]
async fn options_of_instances_are_sent_in_ec2s_words_and_a_public_address_needs_an_interface() {
    let made = "<launchTemplate><launchTemplateId>lt-1</launchTemplateId><launchTemplateName>g</launchTemplateName>\
                <latestVersionNumber>1</latestVersionNumber></launchTemplate>";
    let server = Canned::always(|| ec2_response("CreateLaunchTemplate", made)).await;
    let options = InstanceOptions {
        detailed_monitoring: true,
        public_address: Some(false),
        tenancy: Some(Tenancy::Dedicated),
        cores: Some(Cores { count: 2, threads: 1 }),
        amd_sev_snp: Some(false),
        cpu_credits: Some(CpuCredits::Unlimited),
        nitro_enclaves: true,
        private_dns: PrivateDns {
            hostname: Some(HostnameType::ResourceName),
            a_record: Some(true),
            aaaa_record: Some(false),
        },
        placement: Some(Placement::Group {
            group: PlacementGroup::Name("spread".into()),
            partition: Some(3),
        }),
        capacity_reservation: Some(CapacityReservation::Id("cr-1".into())),
        license_configurations: ["arn:b".to_owned(), "arn:a".to_owned()].into(),
        efa: None,
        bandwidth_weighting: Some(BandwidthWeighting::Vpc1),
        overlay: Overlay::default(),
        interfaces: Vec::new(),
    };
    let plain = content();
    let mut content = TemplateContent { options, ..plain.clone() };
    content.metadata = MetadataOptions { disabled: true, ipv6: true, ..content.metadata };
    content.volumes[0].outlives_instance = true;
    content.volumes[0].snapshot = Some("snap-1".into());
    content.volumes[0].initialization_rate = Some(200);
    let cloud = server.cloud().await;
    for content in [&plain, &content] {
        cloud.create_template("g", content, "d", &tags(&[]), "t-1").await.unwrap();
    }
    let sent: Vec<BTreeSet<String>> =
        server.asked().iter().map(|form| fields(form).into_iter().collect()).collect();
    let data = |fields: &[&str]| -> BTreeSet<String> {
        fields.iter().map(|field| format!("LaunchTemplateData.{field}")).collect()
    };
    let added: BTreeSet<String> = sent[1].difference(&sent[0]).cloned().collect();
    let removed: BTreeSet<String> = sent[0].difference(&sent[1]).cloned().collect();
    assert_eq!(
        added,
        data(&[
            "BlockDeviceMapping.1.Ebs.DeleteOnTermination=false",
            "BlockDeviceMapping.1.Ebs.SnapshotId=snap-1",
            "BlockDeviceMapping.1.Ebs.VolumeInitializationRate=200",
            "CapacityReservationSpecification.CapacityReservationTarget.CapacityReservationId=cr-1",
            "CpuOptions.AmdSevSnp=disabled",
            "CpuOptions.CoreCount=2",
            "CpuOptions.ThreadsPerCore=1",
            "CreditSpecification.CpuCredits=unlimited",
            "EnclaveOptions.Enabled=true",
            "LicenseSpecification.1.LicenseConfigurationArn=arn:a",
            "LicenseSpecification.2.LicenseConfigurationArn=arn:b",
            "MetadataOptions.HttpEndpoint=disabled",
            "MetadataOptions.HttpProtocolIpv6=enabled",
            "Monitoring.Enabled=true",
            "NetworkInterface.1.AssociatePublicIpAddress=false",
            "NetworkInterface.1.DeleteOnTermination=true",
            "NetworkInterface.1.DeviceIndex=0",
            "NetworkInterface.1.SecurityGroupId.1=sg-1",
            "NetworkInterface.1.SecurityGroupId.2=sg-2",
            "NetworkPerformanceOptions.BandwidthWeighting=vpc-1",
            "Placement.GroupName=spread",
            "Placement.PartitionNumber=3",
            "Placement.Tenancy=dedicated",
            "PrivateDnsNameOptions.EnableResourceNameDnsAAAARecord=false",
            "PrivateDnsNameOptions.EnableResourceNameDnsARecord=true",
            "PrivateDnsNameOptions.HostnameType=resource-name",
        ])
    );
    let replaced = [
        "BlockDeviceMapping.1.Ebs.DeleteOnTermination=true",
        "MetadataOptions.HttpEndpoint=enabled",
        "SecurityGroupId.1=sg-1",
        "SecurityGroupId.2=sg-2",
    ];
    assert_eq!(removed, data(&replaced));
}

/// Fields of launch template data that are sent for these options and not without them.
async fn sent_for(options: InstanceOptions) -> Vec<String> {
    let made = "<launchTemplate><launchTemplateId>lt-1</launchTemplateId><launchTemplateName>g</launchTemplateName>\
                <latestVersionNumber>1</latestVersionNumber></launchTemplate>";
    let server = Canned::always(|| ec2_response("CreateLaunchTemplate", made)).await;
    let cloud = server.cloud().await;
    for content in [content(), TemplateContent { options, ..content() }] {
        cloud.create_template("g", &content, "d", &tags(&[]), "t-1").await.unwrap();
    }
    let asked = server.asked();
    let plain = fields(&asked[0]);
    let added = fields(&asked[1]).into_iter().filter(|field| !plain.contains(field));
    added.map(|field| field.replace("LaunchTemplateData.", "")).collect()
}

#[tokio::test]
async fn additional_network_interfaces_have_places_and_security_groups() {
    let interface = |card: u32, groups: &[&str]| AdditionalInterface {
        card,
        security_groups: groups.iter().map(|id| (*id).into()).collect(),
    };
    let interfaces = vec![interface(0, &[]), interface(1, &["sg-3"])];
    let mut sent = sent_for(InstanceOptions { interfaces, ..InstanceOptions::default() }).await;
    sent.sort();
    assert_eq!(
        sent,
        [
            "NetworkInterface.1.DeleteOnTermination=true",
            "NetworkInterface.1.DeviceIndex=0",
            "NetworkInterface.1.SecurityGroupId.1=sg-1",
            "NetworkInterface.1.SecurityGroupId.2=sg-2",
            "NetworkInterface.2.DeleteOnTermination=true",
            "NetworkInterface.2.DeviceIndex=1",
            "NetworkInterface.2.SecurityGroupId.1=sg-1",
            "NetworkInterface.2.SecurityGroupId.2=sg-2",
            "NetworkInterface.3.DeleteOnTermination=true",
            "NetworkInterface.3.DeviceIndex=1",
            "NetworkInterface.3.NetworkCardIndex=1",
            "NetworkInterface.3.SecurityGroupId.1=sg-3",
        ]
    );
}

#[tokio::test]
async fn a_copied_version_keeps_the_tags_of_network_interfaces() {
    let copied = async |kinds: &'static [&'static str]| -> Vec<String> {
        let tag = "<item><key>team</key><value>a</value></item>";
        let specification =
            |kind: &&str| format!("<item><resourceType>{kind}</resourceType><tagSet>{tag}</tagSet></item>");
        let specifications = kinds.iter().map(specification).collect::<Vec<_>>().concat();
        let read = format!(
            "<launchTemplateVersionSet><item><versionNumber>2</versionNumber><launchTemplateData><tagSpecificationSet>\
             {specifications}</tagSpecificationSet></launchTemplateData></item></launchTemplateVersionSet>"
        );
        let made = "<launchTemplateVersion><versionNumber>3</versionNumber></launchTemplateVersion>";
        let server = Canned::start(move |form, _| match form["Action"].as_str() {
            "DescribeLaunchTemplateVersions" => ec2_response("DescribeLaunchTemplateVersions", &read),
            other => ec2_response(other, made),
        })
        .await;
        let tags = tags(&[("a", "b")]);
        let copy = VersionCopy { from: TemplateVersion(2), user_data: &UserData(b"x".to_vec()), tags: &tags };
        let cloud = server.cloud().await;
        let made = cloud.copy_template_version(&"lt-1".into(), copy, "d", "t-1").await;
        assert_eq!(made, Ok(Made { made: TemplateVersion(3), warning: None }));
        let asked = server.asked();
        assert_eq!(asked[0]["LaunchTemplateVersion.1"], "2");
        let of = |field: String| Some(field.split_once("TagSpecification.")?.1.to_owned());
        let mut sent: Vec<String> = fields(&asked[1]).into_iter().filter_map(of).collect();
        sent.sort();
        sent
    };
    let specification = |number: u32, kind: &str, key: &str, value: &str| {
        [format!("ResourceType={kind}"), format!("Tag.1.Key={key}"), format!("Tag.1.Value={value}")]
            .map(|field| format!("{number}.{field}"))
    };
    let replaced = [specification(1, "instance", "a", "b"), specification(2, "volume", "a", "b")].concat();
    assert_eq!(copied(&["instance", "volume"]).await, replaced);
    let kept = [replaced, specification(3, "network-interface", "team", "a").to_vec()].concat();
    assert_eq!(copied(&["instance", "volume", "network-interface"]).await, kept);
}

#[tokio::test]
async fn a_version_that_ec2_does_not_show_yet_is_not_copied_without_its_tags() {
    let unseen = "InvalidLaunchTemplateId.VersionNotFound";
    let none = "<launchTemplateVersionSet/>";
    for (is_refused, kind) in [(true, ErrorKind::NotFound), (false, ErrorKind::Internal)] {
        let server = Canned::start(move |form, _| {
            if is_refused {
                ec2_error(400, unseen, "Could not find launch template version 2")
            } else {
                ec2_response(&form["Action"], none)
            }
        })
        .await;
        let (user_data, tags) = (UserData(b"x".to_vec()), tags(&[("a", "b")]));
        let copy = VersionCopy { from: TemplateVersion(2), user_data: &user_data, tags: &tags };
        let failed = server.cloud().await.copy_template_version(&"lt-1".into(), copy, "d", "t-1").await;
        assert_eq!(failed.unwrap_err().kind, kind);
        let actions: BTreeSet<String> = server.asked().iter().map(|form| form["Action"].clone()).collect();
        assert_eq!(actions, ["DescribeLaunchTemplateVersions".to_owned()].into());
    }
}

#[tokio::test]
async fn each_kind_of_special_capacity_has_its_own_fields() {
    let placed = |placement| InstanceOptions { placement: Some(placement), ..InstanceOptions::default() };
    let group = |group| placed(Placement::Group { group, partition: None });
    let by_id = group(PlacementGroup::Id("pg-1".into()));
    assert_eq!(sent_for(by_id).await, ["Placement.GroupId=pg-1"]);
    let hosts = placed(Placement::HostResourceGroup("arn:h".into()));
    let of_hosts = ["Placement.HostResourceGroupArn=arn:h", "Placement.Tenancy=host"];
    assert_eq!(sent_for(hosts).await, of_hosts);
    let reserved = |reservation| InstanceOptions {
        capacity_reservation: Some(reservation),
        ..InstanceOptions::default()
    };
    let specification = "CapacityReservationSpecification";
    let only = CapacityReservation::Preference(ReservationPreference::CapacityReservationsOnly);
    let preference = format!("{specification}.CapacityReservationPreference=capacity-reservations-only");
    assert_eq!(sent_for(reserved(only)).await, [preference]);
    let of_group = CapacityReservation::ResourceGroup("arn:g".into());
    let target =
        format!("{specification}.CapacityReservationTarget.CapacityReservationResourceGroupArn=arn:g");
    assert_eq!(sent_for(reserved(of_group)).await, [target]);
    let block = CapacityReservation::Block("cr-1".into());
    let target = format!("{specification}.CapacityReservationTarget.CapacityReservationId=cr-1");
    let market = "InstanceMarketOptions.MarketType=capacity-block".to_owned();
    assert_eq!(sent_for(reserved(block)).await, [target, market]);
}

#[tokio::test]
async fn the_overlay_is_sent_in_ec2s_words_and_devices_beside_the_volumes() {
    let device = |name: &str, device| (name.to_owned(), device);
    let overlay = Overlay {
        ebs_optimized: Some(true),
        shutdown_behavior: Some(ShutdownBehavior::Terminate),
        kernel: Some("aki-1".into()),
        ram_disk: Some("ari-1".into()),
        auto_recovery: Some(AutoRecovery::Disabled),
        stop_protection: Some(false),
        termination_protection: Some(true),
        nested_virtualization: Some(true),
        devices: [
            device("/dev/xvda", Device::OnEbsCard(1)),
            device("/dev/xvdb", Device::Omitted),
            device("/dev/xvdc", Device::InstanceStore("ephemeral0".into())),
            device("/dev/xvdd", Device::OnEbsCard(2)),
        ]
        .into(),
        secondary_interfaces: vec![SecondaryInterface {
            subnet: "ss-1".into(),
            device: Some(0),
            card: Some(3),
            addresses: Some(2),
        }],
    };
    let mut sent = sent_for(InstanceOptions { overlay, ..InstanceOptions::default() }).await;
    sent.sort();
    assert_eq!(
        sent,
        [
            "BlockDeviceMapping.1.Ebs.EbsCardIndex=1",
            "BlockDeviceMapping.2.DeviceName=/dev/xvdb",
            "BlockDeviceMapping.2.NoDevice=",
            "BlockDeviceMapping.3.DeviceName=/dev/xvdc",
            "BlockDeviceMapping.3.VirtualName=ephemeral0",
            "BlockDeviceMapping.4.DeviceName=/dev/xvdd",
            "BlockDeviceMapping.4.Ebs.EbsCardIndex=2",
            "CpuOptions.NestedVirtualization=enabled",
            "DisableApiStop=false",
            "DisableApiTermination=true",
            "EbsOptimized=true",
            "InstanceInitiatedShutdownBehavior=terminate",
            "KernelId=aki-1",
            "MaintenanceOptions.AutoRecovery=disabled",
            "RamDiskId=ari-1",
            "SecondaryInterface.1.DeleteOnTermination=true",
            "SecondaryInterface.1.DeviceIndex=0",
            "SecondaryInterface.1.InterfaceType=secondary",
            "SecondaryInterface.1.NetworkCardIndex=3",
            "SecondaryInterface.1.PrivateIpAddressCount=2",
            "SecondaryInterface.1.SecondarySubnetId=ss-1",
        ]
    );
}

#[tokio::test]
async fn network_interfaces_have_tags_of_their_own() {
    let made = "<launchTemplateVersion><versionNumber>2</versionNumber></launchTemplateVersion>";
    let server = Canned::always(|| ec2_response("CreateLaunchTemplateVersion", made)).await;
    let cloud = server.cloud().await;
    let content = TemplateContent { interface_tags: tags(&[("team", "a")]), ..content() };
    cloud.create_template_version(&"lt-1".into(), &content, "d", "t-1").await.unwrap();
    let sent = fields(&server.asked()[0]);
    for expected in ["ResourceType=network-interface", "Tag.1.Key=team", "Tag.1.Value=a"] {
        let expected = format!("LaunchTemplateData.TagSpecification.3.{expected}");
        assert!(sent.contains(&expected), "{expected}: {sent:?}");
    }
}

#[tokio::test]
async fn what_ec2_warns_of_comes_with_what_it_made() {
    let error =
        |code: &str, message: &str| format!("<item><code>{code}</code><message>{message}</message></item>");
    let errors = error("MissingParameter", "The parameter iops must be specified for io1 volumes.")
        + &error("InvalidAMIID.NotFound", "no image; request 7a62c49f-347e-4fc4-9331-6e8e000000aa");
    let warning = format!("<warning><errorSet>{errors}</errorSet></warning>");
    let reply = move |form: &Form, _| {
        let made = match form["Action"].as_str() {
            "CreateLaunchTemplate" => {
                "<launchTemplate><launchTemplateId>lt-1</launchTemplateId><launchTemplateName>g</launchTemplateName>\
                 <latestVersionNumber>1</latestVersionNumber></launchTemplate>"
            }
            _ => "<launchTemplateVersion><versionNumber>2</versionNumber></launchTemplateVersion>",
        };
        ec2_response(&form["Action"], &format!("{made}{warning}"))
    };
    let cloud = Canned::start(reply).await.cloud().await;
    let words = "MissingParameter: The parameter iops must be specified for io1 volumes.; \
                 InvalidAMIID.NotFound: no image; request …";
    let made = cloud.create_template("g", &content(), "d", &tags(&[]), "t-1").await.unwrap();
    assert_eq!(made.warning.as_deref(), Some(words), "the same each time");
    let version = cloud.create_template_version(&"lt-1".into(), &content(), "d", "t-2").await.unwrap();
    assert_eq!((version.made, version.warning.as_deref()), (TemplateVersion(2), Some(words)));
}

#[tokio::test]
async fn a_group_is_created_with_one_call_and_its_mix_removed_with_another() {
    let server = Canned::start(|form, _| autoscaling_response(&form["Action"], "")).await;
    let cloud = server.cloud().await;
    let mix = InstancesMix {
        overrides: vec![
            MixOverride::named("m7i.large".into(), None),
            MixOverride::named("m7g.large".into(), Some("ami-2".into())),
        ],
        on_demand_base: 1,
        on_demand_percentage: 20,
        on_demand_strategy: OnDemandStrategy::Prioritized,
        spot_strategy: SpotStrategy::PriceCapacityOptimized,
        spot_max_price: None,
    };
    let spec = NewGroup {
        name: "g".into(),
        min: 0,
        max: 5,
        desired: Some(3),
        template: ("lt-1".into(), TemplateVersion(7)),
        mix: Some(mix.clone()),
        settings: GroupSettings::in_subnets(["subnet-b".into(), "subnet-a".into()].into()),
        traffic_sources: [TrafficSource::TargetGroup("arn:web".into())].into(),
        drain_hook: Some(HookConfig::DRAIN),
        hooks: [(
            "boot".into(),
            LifecycleHook {
                transition: Transition::Launching,
                heartbeat: Seconds(60),
                result: HookResult::Abandon,
                target: Some(HookTarget { arn: "arn:topic".to_owned(), role: Some("arn:role".to_owned()) }),
                metadata: Some("m".to_owned()),
            },
        )]
        .into(),
        tags: tags(&[("k", "v")]),
    };
    cloud.create_group(&spec).await.unwrap();
    let policy = "MixedInstancesPolicy";
    let (hook, other) =
        ("LifecycleHookSpecificationList.member.1", "LifecycleHookSpecificationList.member.2");
    let template = format!("{policy}.LaunchTemplate");
    assert_eq!(
        fields(&server.asked()[0]),
        [
            "AutoScalingGroupName=g".to_owned(),
            "DesiredCapacity=3".to_owned(),
            format!("{hook}.DefaultResult=CONTINUE"),
            format!("{hook}.HeartbeatTimeout=3600"),
            format!("{hook}.LifecycleHookName=foo-drain"),
            format!("{hook}.LifecycleTransition=autoscaling:EC2_INSTANCE_TERMINATING"),
            format!("{other}.DefaultResult=ABANDON"),
            format!("{other}.HeartbeatTimeout=60"),
            format!("{other}.LifecycleHookName=boot"),
            format!("{other}.LifecycleTransition=autoscaling:EC2_INSTANCE_LAUNCHING"),
            format!("{other}.NotificationMetadata=m"),
            format!("{other}.NotificationTargetARN=arn:topic"),
            format!("{other}.RoleARN=arn:role"),
            "MaxSize=5".to_owned(),
            "MinSize=0".to_owned(),
            format!("{policy}.InstancesDistribution.OnDemandAllocationStrategy=prioritized"),
            format!("{policy}.InstancesDistribution.OnDemandBaseCapacity=1"),
            format!("{policy}.InstancesDistribution.OnDemandPercentageAboveBaseCapacity=20"),
            format!("{policy}.InstancesDistribution.SpotAllocationStrategy=price-capacity-optimized"),
            format!("{template}.LaunchTemplateSpecification.LaunchTemplateId=lt-1"),
            format!("{template}.LaunchTemplateSpecification.Version=7"),
            format!("{template}.Overrides.member.1.InstanceType=m7i.large"),
            format!("{template}.Overrides.member.2.ImageId=ami-2"),
            format!("{template}.Overrides.member.2.InstanceType=m7g.large"),
            "NewInstancesProtectedFromScaleIn=true".to_owned(),
            "Tags.member.1.Key=k".to_owned(),
            "Tags.member.1.PropagateAtLaunch=false".to_owned(),
            "Tags.member.1.ResourceId=g".to_owned(),
            "Tags.member.1.ResourceType=auto-scaling-group".to_owned(),
            "Tags.member.1.Value=v".to_owned(),
            "TrafficSources.member.1.Identifier=arn:web".to_owned(),
            "TrafficSources.member.1.Type=elbv2".to_owned(),
            "VPCZoneIdentifier=subnet-a,subnet-b".to_owned(),
        ]
    );

    let template = |mix| Some(("lt-1".into(), TemplateVersion(8), mix));
    let with_mix = GroupChange { template: template(Some(mix)), ..GroupChange::default() };
    cloud.update_group(&"g".into(), &with_mix).await.unwrap();
    let asked = server.asked();
    assert_eq!(
        asked[1]["MixedInstancesPolicy.InstancesDistribution.SpotMaxPrice"], "",
        "an earlier price is removed"
    );

    let without_mix = GroupChange { template: template(None), desired: Some(4), ..GroupChange::default() };
    cloud.update_group(&"g".into(), &without_mix).await.unwrap();
    assert_eq!(
        fields(&server.asked()[2]),
        [
            "AutoScalingGroupName=g",
            "DesiredCapacity=4",
            "LaunchTemplate.LaunchTemplateId=lt-1",
            "LaunchTemplate.Version=8"
        ]
    );
}
