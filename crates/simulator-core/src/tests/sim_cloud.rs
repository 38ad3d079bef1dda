//! The in-process cloud: a pool's whole life through the controller's traits.

use super::scene::REGION;
use crate::core::catalogue::IMAGE_X86_64;
use crate::core::network::{PRIVATE_SUBNETS, SECURITY_GROUP, VPC};
use crate::{SimCloud, Simulator, SimulatorConfig, plain_content};
use foo_cloud::{
    Compute as _, Described, ErrorKind, FoundGroups, Groups as _, InstanceState, NetworkQuery, VersionCopy,
};
use foo_model::{
    ActivityStatus, Decrement, GroupChange, GroupName, GroupSettings, LifecycleState, NewGroup, Process,
    SubnetId, TemplateContent, TemplateHashes, TemplateVersion, UserData,
};
use std::collections::BTreeMap;
use std::time::Duration;

pub(super) fn content(instance_type: &str) -> TemplateContent {
    TemplateContent {
        instance_type: Some(instance_type.into()),
        instance_profile: Some("nodes".to_owned()),
        tags: BTreeMap::from([("Name".to_owned(), "pool".to_owned())]),
        ..plain_content(b"#!/bin/sh")
    }
}

pub(super) fn tags() -> BTreeMap<String, String> {
    BTreeMap::from([("owner".to_owned(), "us".to_owned())])
}

fn world() -> (Simulator, SimCloud) {
    let sim = Simulator::new(SimulatorConfig::stepped());
    let cloud = sim.cloud(REGION, "manager");
    (sim, cloud)
}

#[tokio::test]
async fn a_copied_version_keeps_the_tags_of_network_interfaces() {
    for interface_tags in [BTreeMap::new(), [("team".to_owned(), "a".to_owned())].into()] {
        let (sim, cloud) = world();
        let source = TemplateContent { interface_tags: interface_tags.clone(), ..content("m7i.large") };
        let (id, from) = cloud.create_template("pool", &source, "d", &tags(), "t").await.expect("made").made;
        let (user_data, tags) = (UserData(b"#!/bin/sh".to_vec()), tags());
        let copy = VersionCopy { from, user_data: &user_data, tags: &tags };
        let copied = cloud.copy_template_version(&id, copy, "d", "u").await.expect("made").made;
        let template = sim.region(REGION).templates().remove(0);
        let of = |kind: &str| template.versions[&copied].data.tags_for(kind);
        assert_eq!((of("instance"), of("volume")), (tags.clone(), tags.clone()));
        assert_eq!(of("network-interface"), interface_tags);
        let unknown = VersionCopy { from: TemplateVersion(9), user_data: &user_data, tags: &tags };
        let refused = cloud.copy_template_version(&id, unknown, "d", "v").await.expect_err("no source");
        assert_eq!(refused.kind, ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn a_pool_lives_and_dies() {
    let (sim, cloud) = world();
    let name = GroupName::from("pool");
    let description = TemplateHashes {
        spec: "v1-a".into(),
        data: "v1-b".into(),
        source: None,
        object: None,
        arm64_image: None,
    }
    .describe();
    let (template, first) = cloud
        .create_template("pool", &content("m7i.large"), &description, &tags(), "t")
        .await
        .expect("made")
        .made;
    let spec = NewGroup {
        name: name.clone(),
        min: 0,
        max: 5,
        desired: Some(3),
        template: (template.clone(), first),
        mix: None,
        settings: GroupSettings::in_subnets(PRIVATE_SUBNETS.map(SubnetId::from).into()),
        traffic_sources: [].into(),
        drain_hook: None,
        hooks: [].into(),
        tags: tags(),
    };
    cloud.create_group(&spec).await.expect("made");
    assert_eq!(cloud.create_group(&spec).await.expect_err("taken").kind, ErrorKind::AlreadyExists);
    sim.step(Duration::from_secs(40));
    let group = cloud.describe_groups(std::slice::from_ref(&name)).await.expect("read").groups.remove(0);
    assert!(group.instances.iter().all(|it| it.lifecycle == LifecycleState::InService));
    assert_eq!((group.instances.len(), group.tags.clone()), (3, tags()));
    assert_eq!(group.settings, spec.settings);

    let second = cloud
        .create_template_version(&template, &content("m7i.xlarge"), "by hand", "u")
        .await
        .expect("made")
        .made;
    assert_eq!(second, TemplateVersion(2));
    let change = GroupChange {
        template: Some((template.clone(), second, None)),
        desired: Some(4),
        ..Default::default()
    };
    cloud.update_group(&name, &change).await.expect("changed");
    cloud.suspend_processes(&name, &[Process::AZRebalance]).await.expect("suspended");
    sim.step(Duration::from_secs(40));
    let group = cloud.describe_groups(std::slice::from_ref(&name)).await.expect("read").groups.remove(0);
    assert_eq!(group.suspended.keys().collect::<Vec<_>>(), [&Process::AZRebalance]);
    let new: Vec<_> =
        group.instances.iter().filter(|it| it.template.as_ref().is_some_and(|it| it.1 == second)).collect();
    assert_eq!(new.len(), 1);
    let found = cloud.describe_template("pool").await.expect("read").expect("it exists");
    assert_eq!(found.versions.len(), 2);
    assert_eq!(found.versions[0].spec_hash, Some("v1-a".into()));
    assert_eq!(found.versions[1].spec_hash, None);

    let mut ids: Vec<_> = group.instances.iter().map(|it| it.id.clone()).collect();
    ids.push("i-00000000000000000".into());
    let details = cloud.describe_instances(&ids).await.expect("read");
    let known: Vec<_> = details.values().filter_map(Described::details).collect();
    assert_eq!((known.len(), details.len()), (4, 5), "one is unknown");
    assert!(known.iter().all(|it| it.state == InstanceState::Running && it.private_dns.is_some()));
    assert_eq!(sim.calls("DescribeInstances"), 2, "once refused, once without the foreign instance");

    for id in &ids[..4] {
        cloud.terminate_instance(id, Decrement::Shrink).await.expect("ended");
    }
    assert_eq!(cloud.delete_group(&name).await.expect_err("in use").kind, ErrorKind::InUse);
    sim.step(Duration::from_secs(40));
    let ended = cloud.describe_activities(&name, 4).await.expect("read");
    assert!(
        ended.iter().all(|it| it.status == ActivityStatus::Successful && it.description.starts_with("Term"))
    );
    cloud.delete_group(&name).await.expect("deleted");
    sim.step(Duration::from_secs(5));
    assert_eq!(cloud.describe_groups(std::slice::from_ref(&name)).await, Ok(FoundGroups::default()));
    assert_eq!(cloud.delete_group(&name).await.expect_err("gone").kind, ErrorKind::Invalid);
    cloud.delete_template_versions(&template, &[second, TemplateVersion(9)]).await.expect("deleted");
    cloud.delete_template(&template).await.expect("deleted");
    assert_eq!(cloud.describe_template("pool").await, Ok(None));
    assert_eq!(cloud.delete_template(&template).await.expect_err("gone").kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn the_catalogue_is_known() {
    let (_, cloud) = world();
    let types = cloud.describe_instance_types(&["g5.xlarge".into(), "m7g.large".into()]).await.expect("read");
    assert_eq!((types[0].nvidia_gpus, types[0].memory_mib), (1, 16_384));
    assert_eq!((types[1].architecture.as_str(), types[1].vcpus), ("arm64", 2));
    let unknown = cloud.describe_instance_types(&["z9.huge".into()]).await.expect_err("unknown");
    assert!(unknown.kind == ErrorKind::NotFound && unknown.message.contains("z9.huge"));
    let image = cloud.describe_images(&[IMAGE_X86_64.into()]).await.expect("read").remove(0);
    assert_eq!((image.root_device.as_str(), image.available), ("/dev/xvda", true));
    assert_eq!(
        cloud.describe_images(&["ami-1".into()]).await.expect_err("unknown").kind,
        ErrorKind::NotFound
    );
    let role = BTreeMap::from([("kubernetes.io/role/internal-elb".to_owned(), String::new())]);
    let query = NetworkQuery::Tags { vpc: Some(VPC.to_owned()), tags: role };
    let subnets = cloud.describe_subnets(&query).await.expect("read");
    assert_eq!(subnets.len(), 3);
    assert!(subnets.iter().all(|it| !it.public && it.free_addresses == 8187));
    let unknown = NetworkQuery::Ids(vec!["subnet-1".to_owned()]);
    assert_eq!(cloud.describe_subnets(&unknown).await.expect_err("unknown").kind, ErrorKind::NotFound);
    let group = NetworkQuery::Ids(vec![SECURITY_GROUP.to_owned()]);
    assert_eq!(cloud.describe_security_groups(&group).await.expect("read")[0].vpc, VPC);
}

#[tokio::test]
async fn pages_and_tags() {
    let (sim, cloud) = world();
    let (template, version) =
        cloud.create_template("one", &content("m7i.large"), "", &tags(), "t").await.expect("made").made;
    for n in 0..250 {
        let spec = NewGroup {
            name: format!("pool-{n:03}").into(),
            min: 0,
            max: 0,
            desired: None,
            template: (template.clone(), version),
            mix: None,
            settings: GroupSettings::in_subnets([PRIVATE_SUBNETS[0].into()].into()),
            traffic_sources: [].into(),
            drain_hook: None,
            hooks: [].into(),
            tags: if n % 2 == 0 { tags() } else { BTreeMap::new() },
        };
        cloud.create_group(&spec).await.expect("made");
    }
    assert_eq!(cloud.describe_groups_tagged("owner").await.expect("read").len(), 125);
    assert_eq!(sim.calls("DescribeAutoScalingGroups"), 2);
    let name = GroupName::from("pool-001");
    cloud.tag_group(&name, &tags()).await.expect("tagged");
    assert_eq!(cloud.describe_groups_tagged("owner").await.expect("read").len(), 126);
    assert_eq!(cloud.describe_templates_tagged("owner").await.expect("read").len(), 1);
}
