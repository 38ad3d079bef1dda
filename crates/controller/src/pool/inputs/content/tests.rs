use super::*;
use foo_api::pool::{Ami, MetadataOptions as ApiMetadata};
use serde_json::json;
use std::collections::BTreeSet;

fn spec() -> FooMachinePoolSpec {
    FooMachinePoolSpec {
        instance_type: Some("m7i.large".into()),
        ami: Ami::of_id("ami-1"),
        ..FooMachinePoolSpec::default()
    }
}

fn facts() -> Facts {
    Facts {
        image: "ami-1".into(),
        arm64: None,
        root_device: "/dev/xvda".into(),
        security_groups: vec!["sg-1".into()],
        user_data: b"#cloud-config".to_vec(),
        waits_in_warm_pool: false,
        data_secret_name: "boot".into(),
        new_data: NewData::ForNewInstances,
        version: Some("v1.36.3".into()),
        keeping: None,
        tags: BTreeMap::new(),
        efa: None,
        bandwidth_weighting: None,
        interfaces: Vec::new(),
    }
}

fn in_s3() -> Facts {
    let keeping = Keeping {
        storage: foo_model::Storage { bucket: "nodes".into(), prefix: String::new() },
        region: "eu-central-1".into(),
        namespace: "ns".into(),
        group: "g".into(),
        reader: "arn:aws:iam::1:role/r".into(),
    };
    Facts { keeping: Some(keeping), ..facts() }
}

#[test]
fn where_user_data_is_kept_replaces_nothing() {
    for new_data in [NewData::ForNewInstances, NewData::ReplacesInstances] {
        let (there, here) = (Facts { new_data, ..in_s3() }, Facts { new_data, ..facts() });
        let (there, here) = (hashes(&spec(), there), hashes(&spec(), here));
        assert_eq!(there.0, here.0);
        assert_ne!(there.1, here.1, "another launch template version");
    }
}

#[test]
fn large_user_data_is_an_object_that_a_small_one_names() {
    let large = [b"#cloud-config\n".to_vec(), vec![b'#'; 100_000]].concat();
    let template = template(&spec(), Facts { user_data: large.clone(), ..in_s3() }).unwrap();
    assert_eq!(template.object.as_ref().unwrap().user_data.0, large);
    assert!(template.content.user_data.0.len() < USER_DATA_LIMIT / 2);
    let place = template.object.as_ref().map(|object| object.place.clone());
    assert_eq!(template.hashes().object, place);
}

fn cores(count: i32, threads: i32) -> api::CpuOptions {
    api::CpuOptions { core_count: Some(count), threads_per_core: Some(threads), amd_sev_snp: None }
}

fn snp(switch: Switch) -> api::CpuOptions {
    api::CpuOptions { amd_sev_snp: Some(switch), ..api::CpuOptions::default() }
}

fn host(hostname_type: api::HostnameType) -> api::PrivateDnsNameOptions {
    api::PrivateDnsNameOptions { hostname_type: Some(hostname_type), ..api::PrivateDnsNameOptions::default() }
}

fn hashes(spec: &FooMachinePoolSpec, facts: Facts) -> (SpecHash, SpecHash) {
    let template = template(spec, facts).unwrap();
    (template.spec_hash, template.data_hash)
}

#[test]
fn the_hash_of_a_known_pool_never_changes() {
    // If this fails, an upgrade of the manager would replace every Node: restore the serialised form, or
    // add a new scheme and keep the old one for comparison.
    assert_eq!(hashes(&spec(), facts()).0.as_str(), "v1-6a714c2f33ab2636");
}

#[test]
fn new_bytes_behind_the_same_secret_change_the_data_hash_only() {
    let before = hashes(&spec(), facts());
    let after = hashes(&spec(), Facts { user_data: b"other".to_vec(), ..facts() });
    assert_eq!(before.0, after.0);
    assert_ne!(before.1, after.1);
}

#[test]
fn new_bytes_of_a_node_config_change_the_spec_hash() {
    let of = |user_data: &[u8]| Facts {
        user_data: user_data.to_vec(),
        new_data: NewData::ReplacesInstances,
        ..facts()
    };
    let before = hashes(&spec(), of(b"a"));
    assert_eq!(before, hashes(&spec(), of(b"a")));
    assert_ne!(before.0, hashes(&spec(), of(b"b")).0);
    // Pinned as the other one: an upgrade of the manager must not replace Nodes.
    assert_eq!(before.0.as_str(), "v1-fc2da03d95ad1fe2");
}

#[test]
fn only_a_foo_node_config_promises_that_its_data_has_no_token() {
    let of = |api_group: &str, kind: &str| {
        NewData::of(Some(&ContractReference {
            api_group: api_group.into(),
            kind: kind.into(),
            name: "c".into(),
        }))
    };
    assert_eq!(of("bootstrap.foo.com", "FooNodeConfig"), NewData::ReplacesInstances);
    assert_eq!(of("bootstrap.cluster.x-k8s.io", "KubeadmConfig"), NewData::ForNewInstances);
    assert_eq!(of("bootstrap.example.com", "FooNodeConfig"), NewData::ForNewInstances);
    assert_eq!(NewData::of(None), NewData::ForNewInstances);
}

#[test]
fn what_rolls_nodes_changes_the_spec_hash() {
    let before = hashes(&spec(), facts()).0;
    let changed = [
        hashes(&FooMachinePoolSpec { instance_type: Some("m7i.xlarge".into()), ..spec() }, facts()).0,
        hashes(&FooMachinePoolSpec { ssh_key_name: Some("k".into()), ..spec() }, facts()).0,
        hashes(
            &FooMachinePoolSpec {
                metadata_options: ApiMetadata { http_put_response_hop_limit: 2, ..ApiMetadata::default() },
                ..spec()
            },
            facts(),
        )
        .0,
        hashes(&spec(), Facts { image: "ami-2".into(), ..facts() }).0,
        hashes(&spec(), Facts { version: Some("v1.37.0".into()), ..facts() }).0,
        hashes(&spec(), Facts { data_secret_name: "boot-2".into(), ..facts() }).0,
    ];
    for hash in changed {
        assert_ne!(hash, before);
    }
}

#[test]
fn each_option_of_instances_replaces_them_and_its_absence_does_not() {
    let set = |change: fn(&mut FooMachinePoolSpec)| {
        let mut spec = spec();
        change(&mut spec);
        (hashes(&spec, facts()).0, template(&spec, facts()).unwrap().content)
    };
    let changes: [fn(&mut FooMachinePoolSpec); 16] = [
        |it| it.detailed_monitoring = true,
        |it| it.associate_public_ip_address = Some(true),
        |it| it.associate_public_ip_address = Some(false),
        |it| it.tenancy = Some(api::Tenancy::Default),
        |it| it.tenancy = Some(api::Tenancy::Dedicated),
        |it| it.cpu_options = Some(cores(2, 1)),
        |it| it.cpu_options = Some(cores(1, 2)),
        |it| it.cpu_options = Some(snp(Switch::Enabled)),
        |it| it.cpu_options = Some(snp(Switch::Disabled)),
        |it| it.cpu_credits = Some(api::CpuCredits::Standard),
        |it| it.cpu_credits = Some(api::CpuCredits::Unlimited),
        |it| it.nitro_enclaves = true,
        |it| it.private_dns_name_options = Some(host(api::HostnameType::IpName)),
        |it| it.private_dns_name_options = Some(host(api::HostnameType::ResourceName)),
        |it| it.metadata_options.http_endpoint = Some(Switch::Disabled),
        |it| it.metadata_options.http_protocol_ipv6 = Some(Switch::Enabled),
    ];
    let all: Vec<_> = changes.into_iter().map(set).collect();
    let distinct: BTreeSet<_> = all.iter().map(|(hash, _)| hash.as_str()).collect();
    assert_eq!(distinct.len(), changes.len(), "each is a change of its own");
    assert!(!distinct.contains(hashes(&spec(), facts()).0.as_str()));
    let same: [fn(&mut FooMachinePoolSpec); 3] = [
        |it| it.metadata_options.http_endpoint = Some(Switch::Enabled),
        |it| it.metadata_options.http_protocol_ipv6 = Some(Switch::Disabled),
        |it| it.private_dns_name_options = Some(api::PrivateDnsNameOptions::default()),
    ];
    for change in same {
        assert_eq!(set(change).0, hashes(&spec(), facts()).0, "what is EC2's default is no change");
    }
}

#[test]
fn other_efa_interfaces_replace_instances() {
    use foo_model::Primary;
    let of = |interfaces, primary, only| {
        let efa = Some(foo_model::Efa { interfaces, primary, only });
        hashes(&spec(), Facts { efa, ..facts() }).0
    };
    let all = [
        of(4, Primary::Plain, true),
        of(3, Primary::Plain, true),
        of(4, Primary::Efa, true),
        of(4, Primary::PlainAlone, true),
        of(4, Primary::Plain, false),
        hashes(&spec(), facts()).0,
    ];
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    // Names and order of the fields and variants in foo-model are part of it.
    assert_eq!(all[0].as_str(), "v1-474061ea05603cd6");
}

#[test]
fn another_bandwidth_weighting_replaces_instances() {
    use foo_model::BandwidthWeighting as Weighting;
    let of = |bandwidth_weighting| hashes(&spec(), Facts { bandwidth_weighting, ..facts() }).0;
    let all = [None, Some(Weighting::Vpc1), Some(Weighting::Ebs1)].map(of);
    // The names in foo-model are part of it.
    let pinned = ["v1-6a714c2f33ab2636", "v1-46a296bd64d159f5", "v1-b3b5ac919faa8de2"];
    assert_eq!(all.each_ref().map(SpecHash::as_str), pinned);
}

#[test]
fn other_additional_interfaces_replace_instances_and_another_order_does_not() {
    let interface = |card: u32, groups: &[&str]| foo_model::AdditionalInterface {
        card,
        security_groups: groups.iter().map(|id| SecurityGroupId::new(*id)).collect(),
    };
    let of = |interfaces: &[foo_model::AdditionalInterface]| {
        hashes(&spec(), Facts { interfaces: interfaces.to_vec(), ..facts() }).0
    };
    let [first, second, other] = [interface(0, &[]), interface(1, &[]), interface(0, &["sg-2"])];
    let all = [
        of(&[]),
        of(std::slice::from_ref(&first)),
        of(std::slice::from_ref(&second)),
        of(std::slice::from_ref(&other)),
        of(&[first.clone(), first.clone()]),
        of(&[first.clone(), second.clone()]),
    ];
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    assert_eq!(of(&[second, first]), all[5]);
    assert_eq!(all[0], hashes(&spec(), facts()).0);
    // Names and order of the fields in foo-model are part of them.
    assert_eq!([all[1].as_str(), all[3].as_str()], ["v1-c3f52797aaa4cc5a", "v1-a018f93cbf56d934"]);
}

#[test]
fn another_image_of_arm64_types_replaces_instances() {
    let of = |image: &str| {
        let arm64 = Some(Arm64 { image: image.into(), types: ["m7g.large".into()].into() });
        hashes(&spec(), Facts { arm64, ..facts() })
    };
    let all = [hashes(&spec(), facts()), of("ami-2"), of("ami-3")];
    assert_eq!(all.iter().map(|(spec, _)| spec).collect::<BTreeSet<_>>().len(), all.len());
    assert_eq!(all.iter().map(|(_, data)| data).collect::<BTreeSet<_>>().len(), 1);
}

#[test]
fn a_version_that_cannot_record_both_the_image_of_arm64_and_the_object_is_refused() {
    let stored = |bucket: usize| {
        let storage = foo_model::Storage { bucket: "b".repeat(bucket), prefix: "p".repeat(32) };
        let keeping = in_s3().keeping.map(|keeping| Keeping { storage, ..keeping });
        let image = "ami-0123456789abcdef0".into();
        let arm64 = Some(Arm64 { image, types: ["m7g.large".into()].into() });
        template(&spec(), Facts { arm64, keeping, ..facts() })
    };
    assert!(stored(41).is_ok());
    let blocked = stored(42).unwrap_err();
    assert_eq!(blocked.reason, Reason::ImagesNotCombinable);
    assert!(blocked.message.ends_with("together by 1"), "{}", blocked.message);
}

#[test]
fn a_volume_that_outlives_its_instance_replaces_instances_and_one_that_does_not_changes_nothing() {
    let with = |delete_on_termination| {
        let volume = api::Volume { size_gib: 20, delete_on_termination, ..api::Volume::default() };
        hashes(&FooMachinePoolSpec { root_volume: Some(volume), ..spec() }, facts()).0
    };
    assert_eq!(with(None), with(Some(true)));
    assert_ne!(with(None), with(Some(false)));
    // Pinned before the field existed: an upgrade of the manager must not replace Nodes.
    assert_eq!(with(None).as_str(), "v1-56270b451db6f544");
}

#[test]
fn the_hash_of_a_pool_with_every_option_never_changes() {
    let all = FooMachinePoolSpec {
        detailed_monitoring: true,
        associate_public_ip_address: Some(false),
        tenancy: Some(api::Tenancy::Dedicated),
        cpu_options: Some(api::CpuOptions { amd_sev_snp: Some(Switch::Enabled), ..cores(2, 1) }),
        cpu_credits: Some(api::CpuCredits::Unlimited),
        nitro_enclaves: true,
        private_dns_name_options: Some(api::PrivateDnsNameOptions {
            enable_resource_name_dns_a_record: Some(true),
            enable_resource_name_dns_aaaa_record: Some(false),
            ..host(api::HostnameType::ResourceName)
        }),
        metadata_options: ApiMetadata {
            http_endpoint: Some(Switch::Disabled),
            http_protocol_ipv6: Some(Switch::Enabled),
            ..ApiMetadata::default()
        },
        root_volume: Some(api::Volume {
            size_gib: 20,
            delete_on_termination: Some(false),
            ..api::Volume::default()
        }),
        ..spec()
    };
    // Names and order of the fields and variants in foo-model are part of it.
    assert_eq!(hashes(&all, facts()).0.as_str(), "v1-6d9462e5b8b36017");
}

#[test]
fn special_capacity_replaces_instances_and_the_order_of_licenses_does_not() {
    let set = |change: &dyn Fn(&mut FooMachinePoolSpec)| {
        let mut spec = spec();
        change(&mut spec);
        hashes(&spec, facts()).0
    };
    let place = |placement: api::Placement| {
        move |it: &mut FooMachinePoolSpec| {
            it.placement = Some(placement.clone());
        }
    };
    let reserve = |reservation: api::CapacityReservation| {
        move |it: &mut FooMachinePoolSpec| {
            it.capacity_reservation = Some(reservation.clone());
        }
    };
    let prefer =
        |preference| reserve(api::CapacityReservation { preference: Some(preference), ..Default::default() });
    let text = || Some("x".to_owned());
    let volume = |snapshot: Option<&str>, rate| {
        let snapshot_id = snapshot.map(str::to_owned);
        move |it: &mut FooMachinePoolSpec| {
            let volume = api::Volume { size_gib: 9, initialization_rate: rate, ..api::Volume::default() };
            let snapshot_id = snapshot_id.clone();
            it.volumes = vec![api::DataVolume { device_name: "/dev/xvdb".into(), snapshot_id, volume }];
        }
    };
    let in_block = |drain_lead_seconds| {
        let block = Some(api::CapacityBlock { id: "x".to_owned(), drain_lead_seconds });
        reserve(api::CapacityReservation { block, ..Default::default() })
    };
    let changes: [&dyn Fn(&mut FooMachinePoolSpec); 15] = [
        &|_| {},
        &place(api::Placement { group_name: text(), ..Default::default() }),
        &place(api::Placement { group_id: text(), ..Default::default() }),
        &place(api::Placement { group_name: text(), partition_number: Some(1), ..Default::default() }),
        &place(api::Placement { host_resource_group_arn: text(), ..Default::default() }),
        &prefer(api::ReservationPreference::Open),
        &prefer(api::ReservationPreference::None),
        &prefer(api::ReservationPreference::CapacityReservationsOnly),
        &reserve(api::CapacityReservation { id: text(), ..Default::default() }),
        &reserve(api::CapacityReservation { resource_group_arn: text(), ..Default::default() }),
        &|it| it.license_configurations = vec!["a".into(), "b".into()],
        &volume(None, None),
        &volume(Some("snap-1"), None),
        &volume(Some("snap-1"), Some(200)),
        &in_block(1_800),
    ];
    let distinct: BTreeSet<_> = changes.iter().map(|change| set(change).to_string()).collect();
    assert_eq!(distinct.len(), changes.len(), "each is a change of its own");
    let other_order = set(&|it| it.license_configurations = vec!["b".into(), "a".into()]);
    assert_eq!(other_order, set(changes[10]));
    assert_eq!(set(&in_block(600)), set(changes[14]), "when it is drained is no content");
}

#[test]
fn the_hash_of_a_pool_with_special_capacity_never_changes() {
    let placement = |placement| FooMachinePoolSpec { placement: Some(placement), ..spec() };
    let reserved = |capacity_reservation| FooMachinePoolSpec {
        capacity_reservation: Some(capacity_reservation),
        ..spec()
    };
    let volume = api::Volume { size_gib: 20, initialization_rate: Some(200), ..api::Volume::default() };
    let all = FooMachinePoolSpec {
        license_configurations: vec!["arn:b".into(), "arn:a".into()],
        root_volume: Some(volume.clone()),
        volumes: vec![api::DataVolume {
            device_name: "/dev/xvdb".into(),
            snapshot_id: Some("snap-1".into()),
            volume,
        }],
        capacity_reservation: Some(api::CapacityReservation {
            preference: Some(api::ReservationPreference::CapacityReservationsOnly),
            ..Default::default()
        }),
        ..placement(api::Placement {
            group_name: Some("spread".into()),
            partition_number: Some(3),
            ..Default::default()
        })
    };
    let id = Some("x".to_owned());
    let others = [
        placement(api::Placement { group_id: id.clone(), ..Default::default() }),
        placement(api::Placement { host_resource_group_arn: id.clone(), ..Default::default() }),
        reserved(api::CapacityReservation { id: id.clone(), ..Default::default() }),
        reserved(api::CapacityReservation { resource_group_arn: id, ..Default::default() }),
    ];
    let hashes = std::iter::once(&all).chain(&others).map(|spec| hashes(spec, facts()).0);
    let hashes: Vec<String> = hashes.map(|hash| hash.to_string()).collect();
    // Names and order of the fields and variants in foo-model are part of them.
    assert_eq!(
        hashes,
        [
            "v1-15a7be5a0b51c37b",
            "v1-0ba328580672cd06",
            "v1-648975394724783f",
            "v1-b849475681911dd5",
            "v1-c9947aa87c579c97"
        ]
    );
}

fn overlaid(overlay: &serde_json::Value) -> FooMachinePoolSpec {
    let launch_template_overlay = serde_json::from_value(overlay.clone()).unwrap();
    FooMachinePoolSpec { launch_template_overlay, ..spec() }
}

#[test]
fn each_setting_of_the_overlay_replaces_instances_and_an_empty_one_none() {
    let of = |overlay: serde_json::Value| hashes(&overlaid(&overlay), facts()).0;
    let device = |fields: serde_json::Value| {
        let mut device = json!({"DeviceName": "/dev/xvdb"});
        device.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!({"BlockDeviceMappings": [device]})
    };
    let changes = [
        json!({}),
        json!({"EbsOptimized": true}),
        json!({"EbsOptimized": false}),
        json!({"InstanceInitiatedShutdownBehavior": "stop"}),
        json!({"InstanceInitiatedShutdownBehavior": "terminate"}),
        json!({"KernelId": "aki-1"}),
        json!({"RamDiskId": "ari-1"}),
        json!({"MaintenanceOptions": {"AutoRecovery": "default"}}),
        json!({"MaintenanceOptions": {"AutoRecovery": "disabled"}}),
        json!({"DisableApiStop": true}),
        json!({"DisableApiTermination": true}),
        json!({"CpuOptions": {"NestedVirtualization": "enabled"}}),
        json!({"CpuOptions": {"NestedVirtualization": "disabled"}}),
        device(json!({"Ebs": {"EbsCardIndex": 0}})),
        device(json!({"Ebs": {"EbsCardIndex": 1}})),
        device(json!({"NoDevice": ""})),
        device(json!({"VirtualName": "ephemeral0"})),
        json!({"SecondaryInterfaces": [{"SecondarySubnetId": "ss-1"}]}),
        json!({"SecondaryInterfaces": [{"SecondarySubnetId": "ss-1", "DeviceIndex": 0}]}),
        json!({"SecondaryInterfaces": [{"SecondarySubnetId": "ss-1", "NetworkCardIndex": 0}]}),
        json!({"SecondaryInterfaces": [{"SecondarySubnetId": "ss-1", "PrivateIpAddressCount": 1}]}),
    ];
    let distinct: BTreeSet<_> = changes.iter().map(|it| of(it.clone()).to_string()).collect();
    assert_eq!(distinct.len(), changes.len(), "each is a change of its own");
    for nothing in [json!({}), json!({"CpuOptions": {}, "MaintenanceOptions": {}})] {
        assert_eq!(of(nothing), hashes(&spec(), facts()).0);
    }
}

#[test]
fn the_hash_of_a_pool_with_an_overlay_never_changes() {
    let all = json!({
        "BlockDeviceMappings": [
            {"DeviceName": "/dev/xvdc", "NoDevice": ""},
            {"DeviceName": "/dev/xvdb", "Ebs": {"EbsCardIndex": 1}},
            {"DeviceName": "/dev/xvdd", "VirtualName": "ephemeral0"},
        ],
        "CpuOptions": {"NestedVirtualization": "enabled"},
        "DisableApiStop": false,
        "DisableApiTermination": true,
        "EbsOptimized": true,
        "InstanceInitiatedShutdownBehavior": "terminate",
        "KernelId": "aki-1",
        "MaintenanceOptions": {"AutoRecovery": "disabled"},
        "RamDiskId": "ari-1",
        "SecondaryInterfaces": [{"DeviceIndex": 1, "NetworkCardIndex": 2, "SecondarySubnetId": "ss-1"}],
        "TagSpecifications": [{"ResourceType": "network-interface", "Tags": [{"Key": "a", "Value": "b"}]}],
    });
    // Names and order of the fields and variants in foo-model are part of it.
    assert_eq!(hashes(&overlaid(&all), facts()).0.as_str(), "v1-cd683c6bc8a34d0c");
}

#[test]
fn tags_of_network_interfaces_make_a_new_version_of_their_own_and_roll_nothing() {
    let of = |tags: &[(&str, &str)], of_interfaces: &[(&str, &str)]| {
        let tag = |(key, value): &(&str, &str)| json!({"Key": key, "Value": value});
        let of_interfaces: Vec<_> = of_interfaces.iter().map(tag).collect();
        let overlay =
            json!({"TagSpecifications": [{"ResourceType": "network-interface", "Tags": of_interfaces}]});
        let own = tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        hashes(&overlaid(&overlay), Facts { tags: own, ..facts() })
    };
    let (a, b) = (("a", "1"), ("b", "2"));
    let all = [of(&[], &[]), of(&[a], &[]), of(&[], &[a]), of(&[a], &[a]), of(&[a, b], &[]), of(&[a], &[b])];
    assert!(all.iter().all(|(spec, _)| *spec == all[0].0));
    let distinct: BTreeSet<_> = all.iter().map(|(_, data)| data.to_string()).collect();
    assert_eq!(distinct.len(), all.len());
    assert_eq!(all[0].1, hashes(&spec(), facts()).1, "without any, a version is as before");
}

#[test]
fn with_additional_interfaces_all_have_the_tags_of_the_pool_and_of_the_overlay_and_are_not_for_pods() {
    let pairs = |tags: &[(&str, &str)]| -> BTreeMap<String, String> {
        tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let no_manage = "node.k8s.amazonaws.com/no_manage";
    let additional = foo_model::AdditionalInterface { card: 0, security_groups: Vec::new() };
    let of = |interfaces: &[foo_model::AdditionalInterface], overlay: &serde_json::Value| {
        let own = pairs(&[("Name", "p"), ("team", "a")]);
        let known = Facts { tags: own.clone(), interfaces: interfaces.to_vec(), ..facts() };
        let content = template(&overlaid(overlay), known).unwrap().content;
        assert_eq!(content.tags, own, "those of instances and volumes");
        content.interface_tags
    };
    let tags = json!([
        {"Key": "team", "Value": "b"}, {"Key": "unit", "Value": "c"}, {"Key": no_manage, "Value": "false"},
    ]);
    let overlay = json!({"TagSpecifications": [{"ResourceType": "network-interface", "Tags": tags}]});
    assert_eq!(of(&[], &json!({})), pairs(&[]));
    assert_eq!(of(&[], &overlay), pairs(&[("team", "b"), ("unit", "c"), (no_manage, "false")]));
    let one = std::slice::from_ref(&additional);
    assert_eq!(of(one, &json!({})), pairs(&[("Name", "p"), ("team", "a"), (no_manage, "true")]));
    let both = pairs(&[("Name", "p"), ("team", "b"), ("unit", "c"), (no_manage, "true")]);
    assert_eq!(of(one, &overlay), both, "the tag that keeps Pods away cannot be changed");
}

#[test]
fn tags_make_a_new_version_and_roll_nothing() {
    let before = hashes(&spec(), facts());
    let after = hashes(&spec(), Facts { tags: BTreeMap::from([("a".into(), "b".into())]), ..facts() });
    assert_eq!(before.0, after.0);
    assert_ne!(before.1, after.1);
}

#[test]
fn user_data_over_the_limit_is_refused_with_a_reason() {
    let blocked =
        template(&spec(), Facts { user_data: vec![0; USER_DATA_LIMIT + 1], ..facts() }).unwrap_err();
    assert_eq!(blocked.reason, Reason::UserDataTooLarge);
    assert!(blocked.message.contains("16385 bytes"), "{}", blocked.message);
}
