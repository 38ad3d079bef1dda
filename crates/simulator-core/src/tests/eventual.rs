//! What AWS does not show at once: ids, tags, versions and rights of what was just made, zones that are left out, reads that
//! go back (EC2 Developer Guide, "Eventual consistency").

use super::scene::{REGION, Scene, name, refusal, scene, scene_with};
use super::sim_cloud::{content, tags};
use crate::core::lookup::View;
use crate::core::rules::group::operations::GroupUpdate;
use crate::core::settings::{ReadOrder, TemplateRefusal};
use crate::core::{Region, Settings};
use foo_cloud::{CloudError, Compute as _, ErrorKind, Groups as _};
use foo_model::hook::{DRAIN_HOOK, HookConfig, HookResult};
use foo_model::{GroupChange, GroupName, GroupSettings, InstanceId, NewGroup, Seconds};
use std::time::Duration;

const TEN_SECONDS: Duration = Duration::from_secs(10);

impl Scene {
    /// The ids that DescribeInstances returns for these.
    fn described(&self, ids: &[InstanceId]) -> Result<Vec<InstanceId>, String> {
        self.with(|region| {
            let found = region.instances_by_id(ids, View::Lagging).map_err(|error| error.code)?;
            Ok(found.iter().map(|instance| instance.id.clone()).collect())
        })
    }

    fn launching(&self) -> InstanceId {
        self.create(self.pool((0, 1, 1))).expect("a group");
        self.wait(0);
        self.group().members.into_keys().next().expect("a member")
    }
}

#[test]
fn ec2_does_not_know_a_new_instance_for_a_while() {
    let scene = scene_with(|settings| settings.instances_appear_after = TEN_SECONDS);
    let id = scene.launching();
    let ids = [id.clone()];
    let listed = || scene.with(|region| region.instances_seen(None).count());
    assert_eq!(scene.described(&ids), Err("InvalidInstanceID.NotFound".to_owned()));
    assert_eq!(listed(), 0);
    scene.wait(10);
    assert_eq!((scene.described(&ids), listed()), (Ok(ids.to_vec()), 1));
}

#[test]
fn the_instances_of_a_zone_can_be_left_out_of_a_successful_response() {
    let scene = scene();
    scene.settled_pool((0, 3, 3));
    let all = scene.in_service();
    assert!(scene.region.leave_out_zone("nowhere-1a", TEN_SECONDS).is_err());
    scene.region.leave_out_zone("eu-central-1b", TEN_SECONDS).expect("a zone");
    let in_zone =
        |id: &InstanceId| scene.region.instance(id).is_some_and(|it| it.zone == "eu-central-1b".into());
    let (hidden, shown): (Vec<_>, Vec<_>) = all.iter().cloned().partition(in_zone);
    assert_eq!((hidden.len(), shown.len()), (1, 2));
    assert_eq!(scene.described(&all), Ok(shown.clone()));
    assert_eq!(scene.described(&hidden), Ok(vec![]), "alone as well, and that is no refusal");
    assert_eq!(scene.with(|region| region.instances_seen(None).count()), 2);
    // Auto Scaling shows its members all the same; a call that changes something finds them.
    assert_eq!(scene.with(|region| region.group_seen(&name("pool")).map(|it| it.members.len())), Some(3));
    assert!(scene.with(|region| region.instances_by_id(&hidden, View::Present).is_ok()));
    scene.wait(10);
    assert_eq!(scene.described(&all), Ok(all));
}

#[test]
fn reads_can_come_in_any_order_for_each_service_on_its_own() {
    let scene = scene_with(|settings| {
        settings.read_lag = TEN_SECONDS;
        settings.read_order = ReadOrder::AnyOrder;
    });
    let read = |region: &mut Region| {
        region.begin_reads();
        let members = region.group_seen(&name("pool")).map_or(0, |group| group.members.len());
        (members, region.instances_seen(None).count())
    };
    scene.create(scene.pool((0, 0, 9))).expect("a group");
    let mut seen = vec![];
    for desired in 1..=9 {
        scene.set_desired(desired).expect("up");
        scene.wait(1);
        seen.extend(scene.with(|region| [read(region), read(region), read(region)]));
    }
    assert!(seen.windows(2).any(|pair| pair[1].0 < pair[0].0), "a later read is older: {seen:?}");
    assert!(seen.iter().any(|(members, instances)| members != instances), "services disagree: {seen:?}");
    scene.wait(11);
    assert_eq!(scene.with(read), (9, 9), "never older than the lag");
}

#[test]
fn the_read_lag_can_be_changed_while_the_region_lives() {
    let scene = scene();
    scene.settled_pool((0, 1, 3));
    scene.region.change_settings(|settings| settings.read_lag = TEN_SECONDS).expect("changed");
    scene.set_desired(3).expect("up");
    scene.wait(1);
    let seen = || scene.with(|region| region.group_seen(&name("pool")).map(|it| it.members.len()));
    assert_eq!(seen(), Some(1));
    scene.region.change_settings(|settings| settings.read_lag = Duration::ZERO).expect("changed");
    assert_eq!(seen(), Some(3));
}

fn spec(template: (foo_model::LaunchTemplateId, foo_model::TemplateVersion)) -> NewGroup {
    NewGroup {
        name: GroupName::from("pool"),
        min: 0,
        max: 3,
        desired: Some(1),
        template,
        mix: None,
        settings: GroupSettings::in_subnets([crate::core::network::PRIVATE_SUBNETS[0].into()].into()),
        traffic_sources: [].into(),
        drain_hook: None,
        hooks: [].into(),
        tags: tags(),
    }
}

#[tokio::test]
async fn tags_of_what_is_new_appear_later() {
    let scene = scene_with(|settings| settings.tags_appear_after = TEN_SECONDS);
    let cloud = scene.sim.cloud(REGION, "manager");
    let template =
        cloud.create_template("pool", &content("m7i.large"), "d", &tags(), "t").await.expect("made").made;
    cloud.create_group(&spec(template)).await.expect("made");
    scene.wait(0);
    let shown = async || {
        let group = cloud.describe_groups(&["pool".into()]).await.expect("read").groups.remove(0);
        let template = cloud.describe_template("pool").await.expect("read").expect("it exists");
        let tagged = (
            cloud.describe_groups_tagged("owner").await.expect("read").len(),
            cloud.describe_templates_tagged("owner").await.expect("read").len(),
        );
        let instances =
            scene.with(|region| region.instances_seen(None).map(|it| it.tags.len()).sum::<usize>());
        (group.tags, template.tags, tagged, instances > 0)
    };
    assert_eq!(shown().await, ([].into(), [].into(), (0, 0), false));
    scene.wait(10);
    assert_eq!(shown().await, (tags(), tags(), (1, 1), true));
}

#[tokio::test]
async fn a_version_that_does_not_show_yet_cannot_be_used_either() {
    let scene = scene_with(|settings| settings.versions_appear_after = TEN_SECONDS);
    let cloud = scene.sim.cloud(REGION, "manager");
    let (id, first) =
        cloud.create_template("pool", &content("m7i.large"), "d", &tags(), "t").await.expect("made").made;
    let versions =
        async || cloud.describe_template("pool").await.expect("read").expect("there").versions.len();
    let unknown = |error: CloudError| {
        assert_eq!(error.kind, ErrorKind::Invalid);
        assert!(error.message.contains("valid fully-formed launch template"), "{}", error.message);
    };
    assert_eq!(versions().await, 0);
    unknown(cloud.create_group(&spec((id.clone(), first))).await.expect_err("not yet"));
    scene.wait(10);
    cloud.create_group(&spec((id.clone(), first))).await.expect("made");
    let second =
        cloud.create_template_version(&id, &content("m7i.xlarge"), "e", "u").await.expect("made").made;
    assert_eq!(versions().await, 1);
    let change = GroupChange { template: Some((id, second, None)), ..GroupChange::default() };
    unknown(cloud.update_group(&"pool".into(), &change).await.expect_err("not yet"));
    scene.wait(10);
    assert_eq!(versions().await, 2);
    cloud.update_group(&"pool".into(), &change).await.expect("changed");
}

#[tokio::test]
async fn rights_on_what_is_new_come_later() {
    let scene = scene_with(|settings| settings.rights_appear_after = TEN_SECONDS);
    let cloud = scene.sim.cloud(REGION, "manager");
    let template =
        cloud.create_template("pool", &content("m7i.large"), "d", &tags(), "t").await.expect("made").made;
    let denied = |error: CloudError, words: &str| {
        assert_eq!(error.kind, ErrorKind::Denied);
        assert!(error.message.contains(words), "{}", error.message);
    };
    let spec = spec(template.clone());
    let words = format!("You are not authorized to use launch template: {}", template.0);
    denied(cloud.create_group(&spec).await.expect_err("not yet"), &words);
    scene
        .region
        .change_settings(|it| it.template_refusal = TemplateRefusal::ValidationError)
        .expect("changed");
    let error = cloud.create_group(&spec).await.expect_err("not yet");
    assert!(
        error.kind == ErrorKind::Invalid && error.message.contains("template. You are not authorized"),
        "{error:?}"
    );
    let version = cloud.create_template_version(&template.0, &content("m7i.xlarge"), "e", "u").await;
    denied(version.expect_err("not yet"), "ec2:CreateLaunchTemplateVersion");
    scene.wait(10);
    cloud.create_group(&spec).await.expect("made");
    let hook = HookConfig { terminating: true, heartbeat: Seconds(60), result: HookResult::Continue }.into();
    let put = cloud.put_hook(&spec.name, &DRAIN_HOOK.into(), &hook, None).await;
    denied(put.expect_err("not yet"), "not authorized to perform: autoscaling:PutLifecycleHook");
    assert!(cloud.describe_hooks(&spec.name).await.is_ok(), "reads are not on a tag");
    scene.wait(10);
    cloud.put_hook(&spec.name, &DRAIN_HOOK.into(), &hook, None).await.expect("by now");
}

/// Snapshots hold the switches and what they hide.
#[test]
fn a_snapshot_keeps_what_is_left_out() {
    let scene = scene();
    scene.settled_pool((0, 3, 3));
    let set = |settings: &mut Settings| settings.instances_appear_after = Duration::from_hours(1);
    scene.region.change_settings(set).expect("changed");
    scene.region.leave_out_zone("eu-central-1b", TEN_SECONDS).expect("a zone");
    let (left_out, unknown) = (Ok(vec![]), Err("InvalidInstanceID.NotFound".to_owned()));
    let in_b = scene.in_service().into_iter();
    let in_b: Vec<_> = in_b
        .filter(|id| scene.region.instance(id).is_some_and(|it| it.zone == "eu-central-1b".into()))
        .collect();
    assert_eq!(scene.described(&in_b), unknown);
    scene.sim.take_snapshot("s").expect("kept");
    scene.region.change_settings(|it| it.instances_appear_after = Duration::ZERO).expect("changed");
    assert_eq!(scene.described(&in_b), left_out);
    scene.wait(10);
    assert_eq!(scene.described(&in_b), Ok(in_b.clone()));
    scene.sim.restore_snapshot("s").expect("put back");
    assert_eq!(scene.described(&in_b), unknown);
}

/// The refusal is of the source alone: sizes can be changed without it.
#[test]
fn a_refused_version_does_not_block_sizes() {
    let scene = scene_with(|settings| settings.versions_appear_after = TEN_SECONDS);
    let new = scene.pool((0, 1, 3));
    assert_eq!(refusal(scene.create(new.clone())).0, "ValidationError");
    scene.wait(10);
    scene.create(new).expect("a group");
    let desired = GroupUpdate { desired: Some(2), ..GroupUpdate::default() };
    scene.with(|region| region.update_group(&name("pool"), desired)).expect("changed");
}
