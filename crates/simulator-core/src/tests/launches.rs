//! Launches: balance, time, lack of capacity, broken templates, mixes.

use super::scene::{data, name, refusal, scene, scene_with, source};
use crate::core::document::Document;
use crate::core::ec2::instances::Market;
use crate::core::ec2::launch_data::LaunchData;
use crate::core::ec2::templates::TemplateKey;
use crate::core::network::{PRIVATE_SUBNETS, PUBLIC_SUBNETS, SECURITY_GROUP};
use crate::core::rules::group::operations::GroupUpdate;
use crate::core::rules::group::source::{OverrideSpec, SourceSpec, TemplateSpec};
use crate::core::settings::TemplateCheck;
use foo_cloud::InstanceState;
use foo_model::{ActivityStatus, LifecycleState, SubnetId, TemplateVersion, Zone};
use std::collections::BTreeMap;

/// "Launches follow AZ balance over the group's subnets".
#[test]
fn launches_are_spread_over_the_zones() {
    let scene = scene();
    scene.settled_pool((0, 7, 9));
    let mut zones: BTreeMap<Zone, usize> = BTreeMap::new();
    for member in scene.group().members.into_values() {
        *zones.entry(member.zone).or_default() += 1;
    }
    let mut sizes: Vec<usize> = zones.into_values().collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [2, 2, 3]);
}

/// "each launch takes time; each writes a scaling activity (InProgress → Successful)"; EC2's state runs beside it.
#[test]
fn a_launch_takes_its_time() {
    let scene = scene();
    scene.create(scene.pool((0, 1, 1))).expect("a group");
    scene.wait(0);
    let states = || {
        let member = scene.group().members.into_values().next().expect("a member");
        let instance = scene.region.instance(&member.id).expect("an instance");
        (member.lifecycle, instance.state, scene.activities()[0].status)
    };
    assert_eq!(states(), (LifecycleState::Pending, InstanceState::Pending, ActivityStatus::InProgress));
    scene.wait(10);
    assert_eq!(states(), (LifecycleState::Pending, InstanceState::Running, ActivityStatus::InProgress));
    scene.wait(10);
    assert_eq!(states(), (LifecycleState::InService, InstanceState::Running, ActivityStatus::Successful));
    let activity = &scene.activities()[0];
    assert!(activity.description.starts_with("Launching a new EC2 instance: i-"));
    assert_eq!(
        activity.cause,
        "At 2026-01-01T00:00:00Z a user request created an AutoScalingGroup changing the desired capacity from 0 to \
         1.  At 2026-01-01T00:00:00Z an instance was started in response to a difference between desired and actual \
         capacity, increasing the capacity from 0 to 1."
    );
}

/// "Lack of capacity …: activity Failed with EC2's message, no instance, retried with growing delay."
#[test]
fn no_capacity_means_a_failed_activity_and_another_try() {
    let scene = scene();
    for zone in ["a", "b", "c"] {
        scene
            .region
            .set_capacity_limit(&format!("eu-central-1{zone}"), "m7i.large", Some(0))
            .expect("a limit");
    }
    scene.settled_pool((0, 2, 5));
    let failed = || scene.count_activities(ActivityStatus::Failed, "Launching");
    assert_eq!((scene.group().members.len(), failed()), (0, 6));
    let activity = scene.activities().pop().expect("an activity");
    assert!(
        activity.description.starts_with(
            "Launching a new EC2 instance.  Status Reason: We currently do not have sufficient m7i.large capacity in \
             the Availability Zone you requested (eu-central-1"
        ) && activity.description.ends_with("Launching EC2 instance failed."),
        "{}",
        activity.description
    );
    // 10 s, then 20 s, 40 s, … up to five minutes.
    let mut times = Vec::new();
    for second in 21..3600 {
        let before = failed();
        scene.wait(1);
        if failed() > before {
            times.push(second);
        }
    }
    let gaps: Vec<i32> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps[..4], [40, 80, 160, 300]);
    for zone in ["a", "b", "c"] {
        scene.region.set_capacity_limit(&format!("eu-central-1{zone}"), "m7i.large", None).expect("lifted");
    }
    assert_eq!(scene.wait(330).in_service().len(), 2);
}

/// One zone without capacity: the others take over.
#[test]
fn other_zones_take_over() {
    let scene = scene();
    scene.region.set_capacity_limit("eu-central-1a", "m7i.large", Some(1)).expect("a limit");
    scene.settled_pool((0, 6, 9));
    assert_eq!(scene.in_service().len(), 6);
    let in_a =
        scene.group().members.values().filter(|member| member.zone.as_str() == "eu-central-1a").count();
    assert_eq!(in_a, 1);
    assert_eq!(scene.count_activities(ActivityStatus::Failed, "Launching"), 1);
}

/// A bad image or template is refused when the group refers to it, as RunInstances would refuse it.
#[test]
fn a_template_that_cannot_work_is_refused() {
    let scene = scene();
    let new = scene.pool((0, 1, 1));
    let template = scene.template("other", "m7g.large");
    let mut wrong = new.clone();
    wrong.source = Some(source(&template, None));
    let (code, message) = refusal(scene.create(wrong.clone()));
    assert_eq!(code, "ValidationError");
    assert!(
        message.starts_with("You must use a valid fully-formed launch template. The architecture"),
        "{message}"
    );
    wrong.source = Some(source(&template, Some("7")));
    assert!(refusal(scene.create(wrong.clone())).1.contains("Could not find the specified version 7"));
    wrong.source = Some(source(&"lt-0123456789abcdef0".into(), None));
    assert!(refusal(scene.create(wrong.clone())).1.contains("does not exist"));
    wrong.source = None;
    assert!(refusal(scene.create(wrong)).1.starts_with("Valid requests must contain either LaunchTemplate"));
    let mut no_subnet = new.clone();
    no_subnet.subnets = vec![];
    assert_eq!(
        refusal(scene.create(no_subnet)).1,
        "At least one Availability Zone or VPC Subnet is required."
    );
    let mut bad_subnet = new;
    bad_subnet.subnets = vec![SubnetId::from("subnet-1")];
    assert_eq!(refusal(scene.create(bad_subnet)).0, "ValidationError");
}

/// EC2 API Reference, RunInstances; EC2 User Guide, "Rules for specifying CPU options".
#[test]
fn settings_that_contradict_each_other_or_the_type_are_refused() {
    let one = |name: &str, value: &str| Document::map().with(name, Some(Document::text(value)));
    let cpu = |cores: &str, threads: &str| {
        one("coreCount", cores).with("threadsPerCore", Some(Document::text(threads)))
    };
    let interface = || Document::List(vec![one("deviceIndex", "0")]);
    let enclaves = || ("enclaveOptions", one("enabled", "true"));
    let weighting = |name: &str| ("networkPerformanceOptions", one("bandwidthWeighting", name));
    let m8i = || ("instanceType", Document::text("m8i.large"));
    for (fields, refused) in [
        (vec![("networkInterfaceSet", interface())], Some("Network interfaces and an instance-level")),
        (vec![("cpuOptions", cpu("1", "1"))], None),
        (vec![("cpuOptions", cpu("1", "2"))], None),
        (vec![("cpuOptions", cpu("2", "2"))], Some("not valid for the instance type with 2 vCPUs")),
        (vec![("cpuOptions", one("coreCount", "1"))], Some("both CoreCount and ThreadsPerCore")),
        (vec![("creditSpecification", one("cpuCredits", "standard"))], Some("does not support CPU credits")),
        (vec![("cpuOptions", one("amdSevSnp", "disabled")), enclaves()], None),
        (vec![("cpuOptions", one("amdSevSnp", "enabled")), enclaves()], Some("cannot be combined")),
        (vec![weighting("vpc-1")], Some("type does not support the bandwidth weighting vpc-1")),
        (vec![m8i(), weighting("vpc-1")], None),
        (vec![m8i(), weighting("default")], None),
        (vec![m8i(), weighting("gpu-1")], Some("does not support the bandwidth weighting gpu-1")),
    ] {
        let scene = scene();
        let mut document = data("m7i.large").document;
        for (name, value) in &fields {
            document.set(name, value.clone());
        }
        let mut new = scene.pool((0, 1, 1));
        new.source = Some(source(&scene.template_of("own", LaunchData { document }), None));
        match (scene.create(new), refused) {
            (Ok(()), None) => {}
            (Err(error), Some(text)) => assert!(error.message.contains(text), "{fields:?}: {error:?}"),
            (created, _) => panic!("{fields:?}: {created:?}"),
        }
    }
}

/// EC2 API Reference, RequestLaunchTemplateData; EC2 User Guide, "Change instance termination protection".
#[test]
fn rare_settings_of_a_launch_template_are_kept_and_refused_where_ec2_does_not_have_them() {
    let map = |fields: &[(&str, &str)]| {
        fields.iter().fold(Document::map(), |map, (name, value)| map.with(name, Some(Document::text(value))))
    };
    let list = |items: &[&[(&str, &str)]]| Document::List(items.iter().map(|fields| map(fields)).collect());
    let on = || Document::text(true);
    let spot = || ("instanceMarketOptions", map(&[("marketType", "spot")]));
    let protected = || ("disableApiTermination", on());
    let nested = || ("cpuOptions", map(&[("nestedVirtualization", "enabled")]));
    let omitted: &[(&str, &str)] = &[("deviceName", "/dev/xvdb"), ("noDevice", "")];
    let of_instance: &[(&str, &str)] = &[("deviceName", "/dev/xvdb"), ("virtualName", "ephemeral0")];
    let devices = |items: &[&[(&str, &str)]]| ("blockDeviceMappingSet", list(items));
    let secondary =
        |field, value| ("secondaryInterfaceSet", list(&[&[("secondarySubnetId", "ss-1"), (field, value)]]));
    let tags = |kind| ("tagSpecificationSet", list(&[&[("resourceType", kind)]]));
    for (fields, refused) in [
        (vec![("ebsOptimized", on()), ("disableApiStop", on()), protected()], None),
        (vec![protected(), spot()], Some("Spot Instances have no termination protection")),
        (vec![("disableApiStop", on()), spot()], None),
        (vec![nested()], Some("The m7i.large instance type does not support nested virtualization")),
        (vec![nested(), ("instanceType", Document::text("m8i.large"))], None),
        (vec![devices(&[omitted])], None),
        (vec![devices(&[of_instance])], None),
        (vec![devices(&[omitted, of_instance])], Some("more than one block-device mapping")),
        (vec![secondary("deleteOnTermination", "true")], None),
        (
            vec![secondary("deleteOnTermination", "false")],
            Some("Value (false) for parameter deleteOnTermination"),
        ),
        (vec![secondary("interfaceType", "efa")], Some("Value (efa) for parameter interfaceType")),
        (vec![tags("network-interface")], None),
        (vec![tags("launch-template")], Some("not a valid taggable resource type")),
    ] {
        let scene = scene();
        let mut document = data("m7i.large").document;
        for (name, value) in &fields {
            document.set(name, value.clone());
        }
        let mut new = scene.pool((0, 1, 1));
        new.source = Some(source(&scene.template_of("own", LaunchData { document }), None));
        match (scene.create(new), refused) {
            (Ok(()), None) => {}
            (Err(error), Some(text)) => assert!(error.message.contains(text), "{fields:?}: {error:?}"),
            (created, _) => panic!("{fields:?}: {created:?}"),
        }
    }
}

/// EC2 User Guide, "Network interfaces" and "Elastic Fabric Adapter".
#[test]
fn network_interfaces_that_the_type_does_not_support_are_refused() {
    let interface = |card: u32, device: u32, kind: &str| {
        Document::map()
            .with("networkCardIndex", Some(Document::text(card)))
            .with("deviceIndex", Some(Document::text(device)))
            .with("interfaceType", Some(Document::text(kind)))
    };
    let plain = |count: u32| -> Vec<Document> {
        (0..count).map(|device| interface(0, device, "interface")).collect()
    };
    let public = || interface(0, 0, "efa").with("associatePublicIpAddress", Some(Document::text(false)));
    for (kind, interfaces, refused) in [
        ("p4d.24xlarge", (0..4).map(|card| interface(card, u32::from(card > 0), "efa")).collect(), None),
        ("p4d.24xlarge", vec![interface(0, 0, "interface"), interface(1, 1, "efa-only")], None),
        ("m7i.large", vec![interface(0, 0, "interface"), interface(0, 1, "interface")], None),
        ("m7i.large", vec![interface(0, 0, "efa")], Some("The m7i.large instance type supports 0")),
        ("m7i.large", plain(3), None),
        ("m7i.large", plain(4), Some("Interface count 4 exceeds the limit for m7i.large")),
        ("m7i.large", vec![interface(1, 1, "interface")], Some("is not a network card index")),
        ("p4d.24xlarge", vec![interface(0, 0, "efa"), interface(0, 0, "efa")], Some("unique device index")),
        ("p4d.24xlarge", vec![interface(0, 0, "efa-only")], Some("cannot be efa-only")),
        ("p4d.24xlarge", vec![public(), interface(1, 1, "efa")], Some("associatePublicIPAddress")),
    ] {
        let scene = scene();
        let mut document = Document::map();
        document.set("imageId", data("m7i.large").document.get(&["imageId"]).expect("it is there").clone());
        document.set("instanceType", Document::text(kind));
        document.set("networkInterfaceSet", Document::List(interfaces));
        let mut new = scene.pool((0, 1, 1));
        new.source = Some(source(&scene.template_of("own", LaunchData { document }), None));
        match (scene.create(new), refused) {
            (Ok(()), None) => {}
            (Err(error), Some(text)) => assert!(error.message.contains(text), "{kind}: {error:?}"),
            (created, _) => panic!("{kind}, {refused:?}: {created:?}"),
        }
    }
}

/// EC2 User Guide, "Amazon EC2 instance hostname types"; VPC User Guide, "Modify the IP addressing attributes of your subnet".
#[test]
fn a_template_decides_on_host_names_and_public_addresses() {
    let scene = scene();
    let mut document = Document::map();
    for field in ["imageId", "instanceType"] {
        document.set(field, data("m7i.large").document.get(&[field]).expect("it is there").clone());
    }
    let interface = Document::map()
        .with("deviceIndex", Some(Document::text(0)))
        .with("associatePublicIpAddress", Some(Document::text(true)));
    document.set("networkInterfaceSet", Document::List(vec![interface]));
    let names = Document::map().with("hostnameType", Some(Document::text("resource-name")));
    document.set("privateDnsNameOptions", names);
    let mut new = scene.pool((0, 1, 1));
    new.source = Some(source(&scene.template_of("own", LaunchData { document }), None));
    scene.create(new).expect("a group");
    scene.wait(30);
    let id = scene.in_service().remove(0);
    let addresses =
        scene.with(|region| region.instances.get(&id).and_then(|it| it.addresses.clone())).expect("it runs");
    assert_eq!(addresses.private_dns, format!("{id}.eu-central-1.compute.internal"));
    assert!(addresses.public.is_some());
}

/// EC2 User Guide, "Amazon EC2 instance IP addressing"; Service Authorization Reference, "Amazon EC2": RunInstances.
#[test]
fn several_network_interfaces_get_no_public_address_and_their_security_groups_have_to_exist() {
    let launched = |group: &str| {
        let scene = scene();
        let mut document = Document::map();
        for field in ["imageId", "instanceType"] {
            document.set(field, data("m7i.large").document.get(&[field]).expect("it is there").clone());
        }
        let interface = |device: u32, group: &str| {
            Document::map()
                .with("deviceIndex", Some(Document::text(device)))
                .with("groupSet", Some(Document::List(vec![Document::text(group)])))
        };
        let interfaces = vec![interface(0, SECURITY_GROUP), interface(1, group)];
        document.set("networkInterfaceSet", Document::List(interfaces));
        let mut new = scene.pool((0, 1, 1));
        new.subnets = vec![PUBLIC_SUBNETS[0].into()];
        new.source = Some(source(&scene.template_of("own", LaunchData { document }), None));
        scene.create(new).map_err(|error| error.message)?;
        scene.wait(30);
        let id = scene.in_service().remove(0);
        let addresses = scene.with(|region| region.instances.get(&id).and_then(|it| it.addresses.clone()));
        Ok::<_, String>(addresses.expect("it runs").public)
    };
    assert_eq!(launched(SECURITY_GROUP), Ok(None));
    let refused = launched("sg-none").unwrap_err();
    assert!(refused.contains("The security group 'sg-none' does not exist"), "{refused}");
}

/// "A template in use can be deleted: launches then fail." A deregistered image likewise.
#[test]
fn a_template_or_image_that_vanishes_fails_launches() {
    let scene = scene();
    scene.settled_pool((0, 1, 5));
    scene.region.set_image_available(crate::core::catalogue::IMAGE_X86_64, false).expect("deregistered");
    scene.set_desired(2).expect("up");
    scene.wait(1);
    let newest = |n: usize| scene.activities()[n].clone();
    assert_eq!(newest(0).status, ActivityStatus::Failed);
    assert!(newest(0).description.contains("does not exist"), "{}", newest(0).description);
    scene.with(|region| {
        let template = region.group(&name("pool")).expect("it exists").template().id.clone();
        region.templates.delete(&TemplateKey::Id(template)).expect("deleted");
    });
    scene.wait(11);
    assert!(newest(0).description.contains("with template ID"), "{}", newest(0).description);
    assert_eq!(scene.in_service().len(), 1);
}

/// The same with the check switched off: the group is created, its launches fail.
#[test]
fn the_check_of_templates_can_be_switched_off() {
    let scene = scene_with(|settings| settings.template_check = TemplateCheck::AtLaunch);
    let mut new = scene.pool((0, 1, 1));
    let template = scene.template("other", "m7g.large");
    new.source = Some(source(&template, None));
    scene.create(new).expect("not checked");
    scene.wait(1);
    assert_eq!(scene.count_activities(ActivityStatus::Failed, "Launching"), 1);
    // A new template is tried at once.
    let good = scene.template("good", "m7i.large");
    let update = GroupUpdate { source: Some(source(&good, None)), ..GroupUpdate::default() };
    scene.with(|region| region.update_group(&name("pool"), update)).expect("changed");
    assert_eq!(scene.wait(21).in_service().len(), 1);
}

/// "The instance reports the launch template id, name and version it was launched with"; "$Latest / $Default are
/// resolved at launch".
#[test]
fn an_instance_reports_the_version_it_was_launched_with() {
    let scene = scene();
    let mut new = scene.pool((0, 1, 5));
    let template = scene.template("floating", "m7i.large");
    new.source = Some(source(&template, Some("$Latest")));
    scene.create(new).expect("a group");
    scene.wait(21);
    assert_eq!(scene.version(&template, "m7i.xlarge"), TemplateVersion(2));
    scene.set_desired(2).expect("up");
    scene.wait(21);
    let mut versions: Vec<(TemplateVersion, String)> = scene
        .group()
        .members
        .into_values()
        .map(|member| {
            let (id, name, version) = member.template.expect("launched from a template");
            assert_eq!((id, name.as_str()), (template.clone(), "floating"));
            (version, member.instance_type.to_string())
        })
        .collect();
    versions.sort();
    assert_eq!(
        versions,
        [(TemplateVersion(1), "m7i.large".to_owned()), (TemplateVersion(2), "m7i.xlarge".to_owned())]
    );
    assert_eq!(scene.group().template().version, "$Latest");
}

fn mixed(scene: &super::scene::Scene, types: &[&str], base: u32, percentage: u32) -> SourceSpec {
    let overrides = types.iter().map(|name| OverrideSpec {
        template: None,
        document: Document::map().with("InstanceType", Some(Document::text(name))),
    });
    SourceSpec::Mixed {
        template: Some(TemplateSpec {
            key: TemplateKey::Id(scene.template("mixed", "t3.medium")),
            version: Some("1".to_owned()),
        }),
        overrides: Some(overrides.collect()),
        distribution: Some(
            Document::map()
                .with("OnDemandBaseCapacity", Some(Document::text(base)))
                .with("OnDemandPercentageAboveBaseCapacity", Some(Document::text(percentage))),
        ),
    }
}

/// "MixedInstancesPolicy (overrides by priority, on-demand base/percentage → spot flag)".
#[test]
fn a_mix_prefers_earlier_types_and_keeps_its_share_on_demand() {
    let scene = scene();
    for zone in ["a", "b", "c"] {
        scene
            .region
            .set_capacity_limit(&format!("eu-central-1{zone}"), "m7i.large", Some(1))
            .expect("a limit");
    }
    let mut new = scene.pool((0, 10, 20));
    new.source = Some(mixed(&scene, &["m7i.large", "m6i.large"], 2, 25));
    scene.create(new).expect("a group");
    scene.wait(21);
    let group = scene.group();
    let count = |name: &str| group.members.values().filter(|it| it.instance_type.as_str() == name).count();
    assert_eq!((count("m7i.large"), count("m6i.large")), (3, 7));
    // 2 + a quarter of 8.
    let on_demand = group.members.values().filter(|it| it.market == Market::OnDemand).count();
    assert_eq!(on_demand, 4);
    assert_eq!(scene.count_activities(ActivityStatus::Failed, ""), 0);
}

/// "inside MixedInstancesPolicy there is no top-level template"; an update that does not repeat the policy keeps it.
#[test]
fn an_update_of_sizes_keeps_the_mix() {
    let scene = scene();
    let mut new = scene.pool((0, 0, 20));
    new.source = Some(mixed(&scene, &["m7i.large"], 0, 100));
    scene.create(new).expect("a group");
    let before = scene.group().source;
    let update = GroupUpdate { max: Some(7), ..GroupUpdate::default() };
    scene.with(|region| region.update_group(&name("pool"), update)).expect("changed");
    assert_eq!(scene.group().source, before);
    let partly = SourceSpec::Mixed {
        template: None,
        overrides: None,
        distribution: Some(Document::map().with("SpotMaxPrice", Some(Document::text("0.1")))),
    };
    let update = GroupUpdate { source: Some(partly), ..GroupUpdate::default() };
    scene.with(|region| region.update_group(&name("pool"), update)).expect("changed");
    let crate::core::group::model::LaunchSource::Mixed(policy) = scene.group().source else {
        panic!("still a mix");
    };
    assert_eq!(policy.overrides.len(), 1);
    assert_eq!(policy.distribution.get_text(&["SpotMaxPrice"]), Some("0.1"));
}

/// Tags: the template's for instances, the group's with PropagateAtLaunch, AWS's own.
#[test]
fn an_instance_has_the_tags_of_template_and_group() {
    let scene = scene();
    let mut new = scene.pool((0, 1, 1));
    let tag =
        |value: &str, propagate| crate::core::group::model::GroupTag { value: value.to_owned(), propagate };
    new.tags =
        BTreeMap::from([("to-instances".to_owned(), tag("1", true)), ("mine".to_owned(), tag("2", false))]);
    scene.create(new).expect("a group");
    scene.wait(21);
    let tags = scene.region.instances().remove(0).tags;
    assert_eq!(tags.get("to-instances").map(String::as_str), Some("1"));
    assert_eq!(tags.get("mine"), None);
    assert_eq!(tags.get("aws:autoscaling:groupName").map(String::as_str), Some("pool"));
    assert_eq!(tags.get("aws:ec2launchtemplate:version").map(String::as_str), Some("1"));
}

/// Public subnets give public addresses; node names follow the private address.
#[test]
fn addresses_follow_the_subnet() {
    let scene = scene();
    let mut new = scene.pool((0, 1, 1));
    new.subnets = vec![SubnetId::from(PUBLIC_SUBNETS[0])];
    scene.create(new).expect("a group");
    scene.wait(21);
    let addresses = scene.region.instances().remove(0).addresses.expect("it runs");
    assert!(addresses.public.is_some());
    assert_eq!(addresses.private_dns, "ip-10-0-96-4.eu-central-1.compute.internal");
    let node = scene.region.in_service_instances().remove(0);
    assert_eq!((node.private_dns, node.zone.as_str()), (addresses.private_dns, "eu-central-1a"));
}

/// A subnet without free addresses is a reason of its own.
#[test]
fn a_full_subnet_fails_launches() {
    let scene = scene();
    scene.with(|region| {
        let subnet = SubnetId::from(PRIVATE_SUBNETS[0]);
        let free = region.network.subnets.get(&subnet).expect("it exists").free_addresses;
        for _ in 3..free {
            region.network.assign_address(&subnet).expect("free");
        }
    });
    let mut new = scene.pool((0, 4, 9));
    new.subnets = vec![SubnetId::from(PRIVATE_SUBNETS[0])];
    scene.create(new).expect("a group");
    assert_eq!(scene.wait(21).in_service().len(), 3);
    assert!(scene.activities().iter().any(|it| it.description.contains("not enough free addresses")));
}
