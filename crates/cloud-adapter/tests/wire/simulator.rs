//! Every operation through the real SDK against the simulator's wire. What is read must equal what the simulator's own
//! implementation of the traits says of the same world.

use crate::canned::settings;
use crate::shapes::{content, tags};
use foo_cloud::{
    Compute, Described, Ended, ErrorKind, FoundGroups, Groups, ImageQuery, InstanceState, NetworkQuery,
};
use foo_cloud_adapter::{AwsCloud, AwsSettings, Timeouts};
use foo_model::group::TemplateChoice;
use foo_model::hook::{DRAIN_HOOK, HookConfig, HookResult, HookTarget, Hooks, LifecycleHook, Transition};
use foo_model::network::Tags;
use foo_model::requirements::{Bounds, Feature, Inclusion, List, PriceLimit, Range, Thousandths};
use foo_model::{
    ActivityStatus, AwsTime, Decrement, Group, GroupChange, GroupName, GroupSettings, HookName, InstanceId,
    InstancesMix, LifecycleState, MixOverride, NewGroup, OnDemandStrategy, Process, Protection, Requirements,
    ReservationKind, ReservationState, Seconds, SpotStrategy, TargetGroupArn, TargetState, TemplateContent,
    TemplateHashes, TemplateVersion, TrafficSource, WarmPoolSettings, WarmState,
};
use foo_simulator::core::catalogue::{IMAGE_ARM64, IMAGE_X86_64};
use foo_simulator::core::ec2::capacity::{MatchCriteria, Period};
use foo_simulator::core::ec2::workload_volumes::WorkloadVolume;
use foo_simulator::core::network::{PRIVATE_SUBNETS, PUBLIC_SUBNETS, SECURITY_GROUP, VPC};
use foo_simulator::core::rules::capacity::NewReservation;
use foo_simulator::core::settings::Batches;
use foo_simulator::{Fault, FaultRule, Handle, SimCloud, SimulatorConfig};
use std::time::Duration;

const REGION: &str = "eu-central-1";
const OWNER: &str = "infrastructure.foo.com/pool";

/// The simulator, the adapter in front of its wire, and its own implementation of the traits.
struct World {
    server: Handle,
    wire: AwsCloud,
    direct: SimCloud,
}

impl World {
    async fn start() -> Self {
        let server = Handle::start(SimulatorConfig::stepped()).await.unwrap();
        // No scripted delays here, but a busy machine.
        let settings = AwsSettings { timeouts: Timeouts::default(), ..settings(&server.endpoint()) };
        let wire = AwsCloud::connect(settings).await.unwrap();
        let direct = server.simulator().cloud(REGION, "direct");
        Self { server, wire, direct }
    }

    fn step(&self, seconds: u64) {
        self.server.simulator().step(Duration::from_secs(seconds));
    }

    /// A template `pool` and a group `pool` of that size, launched from it and in service.
    async fn with_group(size: u32) -> Self {
        let world = Self::start().await;
        let (id, version) = world
            .wire
            .create_template("pool", &template(), &description(1), &tags(&[(OWNER, "pool")]), "token-1")
            .await
            .unwrap()
            .made;
        let spec = NewGroup {
            name: "pool".into(),
            min: 0,
            max: 10,
            desired: Some(size),
            template: (id, version),
            mix: None,
            settings: GroupSettings::in_subnets(PRIVATE_SUBNETS.map(Into::into).into()),
            traffic_sources: [].into(),
            drain_hook: None,
            hooks: [].into(),
            tags: tags(&[(OWNER, "pool"), ("other", "")]),
        };
        world.wire.create_group(&spec).await.unwrap();
        world.step(120);
        world
    }

    async fn group(&self) -> Group {
        let mut found = self.wire.describe_groups(&["pool".into(), "missing".into()]).await.unwrap().groups;
        assert_eq!(
            sorted(found.clone()),
            sorted(self.direct.describe_groups(&["pool".into()]).await.unwrap().groups)
        );
        found.pop().expect("no group")
    }

    fn lose_responses(&self, action: &str, times: u32) {
        self.server.simulator().add_fault(FaultRule::on(action, Fault::DroppedAfter).times(times));
    }
}

fn template() -> TemplateContent {
    TemplateContent {
        image: IMAGE_X86_64.into(),
        instance_type: Some("m7i.large".into()),
        security_groups: vec![SECURITY_GROUP.into()],
        spot: None,
        ..content()
    }
}

fn description(number: u32) -> String {
    TemplateHashes {
        spec: format!("v1-{number}").into(),
        data: "v1-data".into(),
        source: Some("v1-secret".into()),
        object: None,
        arm64_image: Some(IMAGE_ARM64.into()),
    }
    .describe()
}

fn sorted(mut groups: Vec<Group>) -> Vec<Group> {
    groups.sort_by(|a, b| a.name.cmp(&b.name));
    for group in &mut groups {
        group.instances.sort_by(|a, b| a.id.cmp(&b.id));
    }
    groups
}

fn pool() -> GroupName {
    "pool".into()
}

#[tokio::test]
async fn a_group_comes_back_as_it_was_made() {
    let world = World::with_group(3).await;
    let group = world.group().await;
    assert_eq!((group.sizes.min, group.sizes.max, group.sizes.desired), (0, 10, 3));
    assert_eq!(group.tags, tags(&[(OWNER, "pool"), ("other", "")]));
    assert_eq!(group.settings, GroupSettings::in_subnets(PRIVATE_SUBNETS.map(Into::into).into()));
    let (id, choice) = group.template.clone().unwrap();
    assert_eq!(choice, TemplateChoice::Version(TemplateVersion(1)));
    assert_eq!(group.instances.len(), 3);
    for instance in &group.instances {
        assert_eq!(instance.lifecycle, LifecycleState::InService);
        assert_eq!(instance.protection, Protection::Protected);
        assert_eq!(instance.template, Some((id.clone(), TemplateVersion(1))));
    }
    assert_eq!(world.wire.describe_groups_tagged(OWNER).await.unwrap().len(), 1);
    assert_eq!(world.wire.describe_groups_tagged("another cluster's").await.unwrap(), vec![]);
    let taken = world.wire.describe_groups(&["missing".into()]).await.unwrap();
    assert_eq!(taken, FoundGroups::default());
}

/// Attributes that the simulator knows.
fn requirements() -> Requirements {
    let bounds = |min, max| Bounds { min: Some(Thousandths::whole(min)), max: Some(Thousandths::whole(max)) };
    let half = Bounds { min: Some("1.5".parse().unwrap()), max: None };
    Requirements {
        ranges: [
            (Range::VCpuCount, bounds(2, 4)),
            (Range::MemoryMiB, bounds(4096, 32_768)),
            (Range::MemoryGiBPerVCpu, half),
        ]
        .into(),
        lists: [
            (List::CpuManufacturers, ["intel".to_owned(), "amd".to_owned()].into()),
            (List::ExcludedInstanceTypes, ["r*".to_owned()].into()),
        ]
        .into(),
        features: [(Feature::BareMetal, Inclusion::Included)].into(),
        prices: [(PriceLimit::OnDemandMaxPricePercentageOverLowestPrice, 100)].into(),
    }
}

#[tokio::test]
async fn a_group_can_be_changed_in_every_way_we_change_it() {
    let world = World::with_group(2).await;
    let before = world.group().await;
    let (id, _) = before.template.unwrap();
    let second =
        world.wire.create_template_version(&id, &template(), &description(2), "token-2").await.unwrap().made;
    let mix = InstancesMix {
        overrides: vec![MixOverride::named("m7i.large".into(), None)],
        on_demand_base: 1,
        on_demand_percentage: 50,
        on_demand_strategy: OnDemandStrategy::LowestPrice,
        spot_strategy: SpotStrategy::PriceCapacityOptimized,
        spot_max_price: None,
    };
    let other = GroupSettings {
        subnets: [PRIVATE_SUBNETS[0].into()].into(),
        new_instances: Protection::Unprotected,
        default_warmup: Some(Seconds(90)),
    };
    let change = GroupChange {
        min: Some(1),
        max: Some(6),
        desired: Some(4),
        template: Some((id.clone(), second, Some(mix.clone()))),
        settings: other.changes_from(&before.settings),
    };
    world.wire.update_group(&pool(), &change).await.unwrap();
    world.wire.tag_group(&pool(), &tags(&[("new", "yes")])).await.unwrap();
    world.wire.suspend_processes(&pool(), &[Process::AZRebalance, Process::Launch]).await.unwrap();
    world.wire.resume_processes(&pool(), &[Process::Launch]).await.unwrap();
    world.step(120);
    let group = world.group().await;
    assert_eq!((group.sizes.min, group.sizes.max, group.sizes.desired), (1, 6, 4));
    assert_eq!(group.template, Some((id.clone(), TemplateChoice::Version(second))));
    assert_eq!(group.mix, Some(mix.clone()));
    let mix = InstancesMix {
        overrides: [None, Some(IMAGE_ARM64.into())]
            .map(|image| MixOverride::described(requirements(), image))
            .to_vec(),
        spot_strategy: SpotStrategy::CapacityOptimized,
        ..mix
    };
    let by_attributes =
        GroupChange { template: Some((id.clone(), second, Some(mix.clone()))), ..GroupChange::default() };
    world.wire.update_group(&pool(), &by_attributes).await.unwrap();
    assert_eq!(
        world.group().await.mix,
        Some(mix.clone()),
        "types by their attributes, a set with an image of its own"
    );
    let arm64 = MixOverride::named("m7g.large".into(), Some(IMAGE_ARM64.into()));
    let mix = InstancesMix { overrides: vec![MixOverride::named("m7i.large".into(), None), arm64], ..mix };
    let both =
        GroupChange { template: Some((id.clone(), second, Some(mix.clone()))), ..GroupChange::default() };
    world.wire.update_group(&pool(), &both).await.unwrap();
    assert_eq!(world.group().await.mix, Some(mix), "an image of its own for one of the types");
    assert_eq!(group.settings, other, "every setting");
    assert_eq!(group.tags, tags(&[(OWNER, "pool"), ("other", ""), ("new", "yes")]));
    assert_eq!(group.suspended.keys().collect::<Vec<_>>(), [&Process::AZRebalance]);

    let unprotected: Vec<InstanceId> = group
        .instances
        .iter()
        .filter(|instance| instance.protection == Protection::Unprotected)
        .map(|instance| instance.id.clone())
        .collect();
    assert_eq!(unprotected.len(), 2);
    world.wire.protect_instances(&pool(), &unprotected).await.unwrap();
    assert!(
        world.group().await.instances.iter().all(|instance| instance.protection == Protection::Protected)
    );

    let plain = GroupChange { template: Some((id, second, None)), ..GroupChange::default() };
    world.wire.update_group(&pool(), &plain).await.unwrap();
    assert_eq!(world.group().await.mix, None);
}

/// The target group of a new load balancer of another user.
fn target_group(world: &World, name: &str) -> TargetGroupArn {
    let region = world.server.simulator().region(REGION);
    let body = serde_json::json!({
        "name": name, "kind": "Network", "subnets": PRIVATE_SUBNETS, "target_groups": [name],
    });
    region.put_load_balancer(serde_json::from_value(body).unwrap()).unwrap();
    let of = format!("targetgroup/{name}/");
    let find = |region: &mut foo_simulator::core::Region| {
        region.network.targeted.keys().find(|arn| arn.contains(&of)).cloned()
    };
    TargetGroupArn::new(region.with(find).unwrap().unwrap())
}

#[tokio::test]
async fn target_groups_are_attached_and_detached_and_the_health_of_their_targets_is_read() {
    let world = World::with_group(2).await;
    let (web, tls) = (target_group(&world, "web"), target_group(&world, "tls"));
    let [behind_web, behind_tls] = [&web, &tls].map(|arn| TrafficSource::TargetGroup(arn.clone()));
    let both = [behind_web.clone(), behind_tls.clone()].into();
    world.wire.attach_traffic_sources(&pool(), &both).await.unwrap();
    let group = world.group().await;
    assert_eq!(group.traffic_sources, both);
    world.step(60);
    let ids: Vec<InstanceId> = group.instances.into_iter().map(|instance| instance.id).collect();
    world.server.simulator().region(REGION).set_target_state(&ids[0], Some(TargetState::Unhealthy)).unwrap();
    let health = world.wire.describe_target_health(&web).await.unwrap();
    assert_eq!(health, world.direct.describe_target_health(&web).await.unwrap());
    assert_eq!(
        (health[&ids[0]].state, health[&ids[1]].state),
        (TargetState::Unhealthy, TargetState::Healthy)
    );
    assert_eq!(health[&ids[0]].reason, "Target.FailedHealthChecks");

    let only_web = [behind_web].into();
    world.wire.detach_traffic_sources(&pool(), &only_web).await.unwrap();
    assert_eq!(world.group().await.traffic_sources, [behind_tls].into());
    let again = world.wire.detach_traffic_sources(&pool(), &only_web).await.unwrap_err();
    assert_eq!(again.kind, ErrorKind::Invalid, "{again}");
    let unknown: TargetGroupArn =
        format!("arn:aws:elasticloadbalancing:{REGION}:1:targetgroup/none/0").into();
    let missing = world.wire.describe_target_health(&unknown).await.unwrap_err();
    assert_eq!(missing.kind, ErrorKind::NotFound, "{missing}");
    let unknown = [TrafficSource::TargetGroup(unknown)].into();
    let refused = world.wire.attach_traffic_sources(&pool(), &unknown).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Invalid, "{refused}");
    let none = std::collections::BTreeSet::new();
    assert_eq!(world.wire.attach_traffic_sources(&pool(), &none).await, Ok(()));
    assert_eq!(world.wire.detach_traffic_sources(&pool(), &none).await, Ok(()));
}

#[tokio::test]
async fn classic_load_balancers_and_target_groups_of_vpc_lattice_are_traffic_sources_too() {
    let world = World::with_group(1).await;
    let region = world.server.simulator().region(REGION);
    let body = serde_json::json!({ "name": "old", "kind": "Classic", "subnets": PRIVATE_SUBNETS });
    region.put_load_balancer(serde_json::from_value(body).unwrap()).unwrap();
    let both = std::collections::BTreeSet::from([
        TrafficSource::ClassicLoadBalancer("old".into()),
        TrafficSource::LatticeTargetGroup(region.put_lattice_target_group().unwrap()),
    ]);
    world.wire.attach_traffic_sources(&pool(), &both).await.unwrap();
    assert_eq!(world.group().await.traffic_sources, both);
    world.wire.detach_traffic_sources(&pool(), &both).await.unwrap();
    assert_eq!(world.group().await.traffic_sources, [].into());
}

#[tokio::test]
async fn instances_end_with_and_without_a_replacement_and_the_group_goes_when_it_is_empty() {
    let world = World::with_group(2).await;
    let ids: Vec<InstanceId> =
        world.group().await.instances.into_iter().map(|instance| instance.id).collect();
    world.wire.terminate_instance(&ids[0], Decrement::Replace).await.unwrap();
    world.step(120);
    let group = world.group().await;
    assert_eq!((group.sizes.desired, group.instances.len()), (2, 2));
    assert!(group.instance(&ids[0]).is_none());
    world.wire.terminate_instance(&ids[1], Decrement::Shrink).await.unwrap();
    let in_use = world.wire.delete_group(&pool()).await.unwrap_err();
    assert_eq!(in_use.kind, ErrorKind::InUse, "{in_use}");
    world.step(120);
    let last = world.group().await.instances[0].id.clone();
    world.wire.terminate_instance(&last, Decrement::Shrink).await.unwrap();
    world.step(120);
    let unknown = world.wire.terminate_instance(&last, Decrement::Shrink).await.unwrap_err();
    assert_eq!(unknown.kind, ErrorKind::Invalid, "{unknown}");

    let activities = world.wire.describe_activities(&pool(), 100).await.unwrap();
    assert_eq!(activities, world.direct.describe_activities(&pool(), 100).await.unwrap());
    assert!(activities.len() >= 6 && activities.iter().all(|one| one.status == ActivityStatus::Successful));
    assert!(activities.is_sorted_by(|newer, older| newer.started >= older.started));
    assert_eq!(world.wire.describe_activities(&pool(), 1).await.unwrap(), activities[..1]);

    world.wire.delete_group(&pool()).await.unwrap();
    world.step(10);
    assert_eq!(world.wire.describe_groups(&[pool()]).await.unwrap(), FoundGroups::default());
}

#[tokio::test]
async fn instances_end_together_and_a_refusal_says_nothing_of_the_others() {
    let world = World::with_group(4).await;
    let ids: Vec<InstanceId> =
        world.group().await.instances.into_iter().map(|instance| instance.id).collect();
    let calls = || world.server.simulator().calls("TerminateInstanceInAutoScalingGroup");
    let end =
        async |ids: &[InstanceId]| world.wire.terminate_instances(&pool(), ids, Decrement::Shrink).await;
    assert_eq!((end(&[]).await, calls()), (Ok(Ended::All), 0));
    assert_eq!((end(&ids[..2]).await, calls()), (Ok(Ended::All), 1));
    let left = |group: &Group| (group.sizes.desired, group.instances.len());
    world.step(120);
    assert_eq!(left(&world.group().await), (2, 2));
    let with_foreign = [ids[2].clone(), "i-00000000000000009".into()];
    let refused = end(&with_foreign).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Invalid, "{refused}");
    let region = world.server.simulator().region(REGION);
    region.change_settings(|settings| settings.batches = Batches::AllButTheRefused).unwrap();
    assert_eq!(end(&with_foreign).await, Ok(Ended::NotAll));
    world.step(120);
    assert_eq!(left(&world.group().await), (1, 1));
}

#[tokio::test]
async fn other_hooks_come_back_as_they_were_sent_and_lose_what_the_spec_no_longer_has() {
    const ROLE: &str = "arn:aws:iam::123456789012:role/a.hooks.infrastructure.foo.com";
    const QUEUE: &str = "arn:aws:sqs:eu-central-1:123456789012:waits";
    let world = World::with_group(1).await;
    let hook = |target: Option<&str>, metadata: Option<&str>| LifecycleHook {
        transition: Transition::Launching,
        heartbeat: Seconds(120),
        result: HookResult::Abandon,
        target: target.map(|arn| HookTarget { arn: arn.to_owned(), role: Some(ROLE.to_owned()) }),
        metadata: metadata.map(str::to_owned),
    };
    let name = HookName::new("boot/config");
    let mut before = None;
    for now in [
        hook(None, None),
        hook(Some(QUEUE), Some("a b\tc")),
        hook(None, Some("d")),
        hook(Some(QUEUE), Some("d")),
    ] {
        world.wire.put_hook(&pool(), &name, &now, before.as_ref()).await.unwrap();
        let only = Ok(Hooks { drain: None, others: [(name.clone(), now.clone())].into() });
        assert_eq!(world.wire.describe_hooks(&pool()).await, only);
        assert_eq!(world.direct.describe_hooks(&pool()).await, only);
        before = Some(now);
    }
    // A call without them keeps them: a hook loses its text only if it is deleted.
    world.wire.put_hook(&pool(), &name, &hook(None, None), before.as_ref()).await.unwrap();
    let kept = world.wire.describe_hooks(&pool()).await.unwrap();
    assert_eq!(kept.others[&name], hook(None, Some("d")));
    let region = world.server.simulator().region(REGION);
    region.change_settings(|settings| settings.unreachable_targets = [QUEUE.to_owned()].into()).unwrap();
    let unreachable = hook(Some(QUEUE), None);
    let refused = world.wire.put_hook(&pool(), &"other".into(), &unreachable, None).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Invalid, "{refused}");
    assert!(refused.to_string().contains("Unable to publish test message"), "{refused}");
    world.wire.delete_hook(&pool(), &name).await.unwrap();
    let twice = world.wire.delete_hook(&pool(), &name).await.unwrap_err();
    assert_eq!(twice.kind, ErrorKind::Invalid, "{twice}");
    assert_eq!(world.wire.describe_hooks(&pool()).await, Ok(Hooks::default()));
}

#[tokio::test]
async fn the_hook_is_created_read_kept_alive_and_completed() {
    let world = World::with_group(1).await;
    assert_eq!(world.wire.describe_hooks(&pool()).await, Ok(Hooks::default()));
    let others = HookConfig { heartbeat: Seconds(60), result: HookResult::Abandon, ..HookConfig::DRAIN };
    for terms in [others, HookConfig::DRAIN] {
        world.wire.put_hook(&pool(), &DRAIN_HOOK.into(), &terms.into(), None).await.unwrap();
        let only = Ok(Hooks { drain: Some(terms), ..Hooks::default() });
        assert_eq!(world.wire.describe_hooks(&pool()).await, only);
        assert_eq!(world.direct.describe_hooks(&pool()).await, only);
    }
    let id = world.group().await.instances[0].id.clone();
    let early = world.wire.record_heartbeat(&pool(), &id).await.unwrap_err();
    assert_eq!(early.kind, ErrorKind::Invalid, "{early}");
    world.wire.terminate_instance(&id, Decrement::Shrink).await.unwrap();
    for _ in 0..3 {
        world.step(3_500);
        world.wire.record_heartbeat(&pool(), &id).await.unwrap();
    }
    assert_eq!(world.group().await.instances[0].lifecycle, LifecycleState::TerminatingWait);
    world.wire.complete_drain_hook(&pool(), &id).await.unwrap();
    let twice = world.wire.complete_drain_hook(&pool(), &id).await.unwrap_err();
    assert_eq!(twice.kind, ErrorKind::Invalid, "{twice}");
    world.step(120);
    assert!(world.group().await.instances.is_empty());
}

#[tokio::test]
async fn a_warm_pool_is_created_changed_and_deleted_with_its_instances() {
    let world = World::with_group(1).await;
    assert_eq!(world.group().await.warm_pool, None);
    let first =
        WarmPoolSettings { min_size: 1, max_prepared: Some(3), state: WarmState::Stopped, reuse: true };
    let second =
        WarmPoolSettings { min_size: 2, max_prepared: None, state: WarmState::Running, reuse: false };
    for settings in [first, second] {
        world.wire.put_warm_pool(&pool(), &settings).await.unwrap();
        let seen = world.group().await.warm_pool.unwrap();
        assert_eq!((seen.settings, seen.deleting), (settings, false));
    }
    world.step(300);
    assert_eq!(world.group().await.instances.len(), 1, "those that wait are no members");
    world.wire.delete_warm_pool(&pool()).await.unwrap();
    assert!(world.group().await.warm_pool.is_none_or(|pool| pool.deleting));
    world.step(300);
    assert_eq!(world.group().await.warm_pool, None);
    let twice = world.wire.delete_warm_pool(&pool()).await.unwrap_err();
    assert_eq!(twice.kind, ErrorKind::Invalid, "{twice}");
}

#[tokio::test]
async fn a_template_lives_with_its_versions() {
    let world = World::with_group(0).await;
    let known = world.wire.describe_template("pool").await.unwrap().unwrap();
    assert_eq!(known.tags, tags(&[(OWNER, "pool")]));
    let repeated =
        world.wire.create_template("pool", &template(), &description(1), &known.tags, "token-1").await;
    let first = (known.id.clone(), TemplateVersion(1));
    assert_eq!(repeated.map(|it| it.made), Ok(first), "the token makes a repetition harmless");
    let other =
        world.wire.create_template("pool", &template(), &description(1), &known.tags, "token-9").await;
    assert_eq!(other.unwrap_err().kind, ErrorKind::AlreadyExists);

    for number in 2..=4 {
        let token = format!("token-{number}");
        for _ in 0..2 {
            let made = world
                .wire
                .create_template_version(&known.id, &template(), &description(number), &token)
                .await
                .unwrap()
                .made;
            assert_eq!(made, TemplateVersion(number.into()));
        }
    }
    let template = world.wire.describe_template("pool").await.unwrap().unwrap();
    assert_eq!(Some(template.clone()), world.direct.describe_template("pool").await.unwrap());
    let hashes: Vec<_> =
        template.versions.iter().map(|one| one.spec_hash.clone().unwrap().to_string()).collect();
    assert_eq!(hashes, ["v1-1", "v1-2", "v1-3", "v1-4"]);
    assert!(template.versions[0].is_default);

    let gone = [TemplateVersion(2), TemplateVersion(3), TemplateVersion(77)];
    world.wire.delete_template_versions(&known.id, &gone).await.unwrap();
    let left: Vec<i64> = world
        .wire
        .describe_template("pool")
        .await
        .unwrap()
        .unwrap()
        .versions
        .iter()
        .map(|one| one.version.0)
        .collect();
    assert_eq!(left, [1, 4]);

    let summaries = world.wire.describe_templates_tagged(OWNER).await.unwrap();
    assert_eq!(summaries, world.direct.describe_templates_tagged(OWNER).await.unwrap());
    assert_eq!((summaries.len(), summaries[0].latest), (1, TemplateVersion(4)));
    world.wire.delete_template(&known.id).await.unwrap();
    assert_eq!(world.wire.delete_template(&known.id).await.unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(world.wire.describe_template("pool").await, Ok(None));
}

#[tokio::test]
async fn what_a_template_says_reaches_the_instance() {
    let world = World::with_group(1).await;
    let id = world.group().await.instances[0].id.clone();
    let made = world.server.simulator().region(REGION).instance(&id).unwrap();
    assert_eq!(made.tags.get("Name").map(String::as_str), Some("node"));
    let templates = world.server.simulator().region(REGION).templates();
    let shown = format!("{templates:?}");
    for part in
        ["IyEvYmluL3NoCmVjaG8gaGkK", "alias/nodes", "/dev/xvda", "required", SECURITY_GROUP, "nodes", "ops"]
    {
        assert!(shown.contains(part), "{part} is missing in {shown}");
    }
}

#[tokio::test]
async fn instances_are_described_and_unknown_ones_said_to_be_unknown() {
    let world = World::with_group(2).await;
    let known: Vec<InstanceId> =
        world.group().await.instances.into_iter().map(|instance| instance.id).collect();
    let mut asked = known.clone();
    asked.extend(["i-0123456789abcdef0".into(), "i-0123456789abcdef1".into()]);
    let found = world.wire.describe_instances(&asked).await.unwrap();
    let direct = world.direct.describe_instances(&asked).await.unwrap();
    assert_eq!(found, direct);
    let found: Vec<_> = found.values().filter_map(Described::details).collect();
    assert_eq!((found.len(), direct.len()), (2, 4));
    assert!(
        found.iter().all(|one| one.state == InstanceState::Running && one.private_dns.is_some() && !one.spot)
    );
}

#[tokio::test]
async fn facts_about_images_types_and_the_network() {
    let World { server: _server, wire, direct } = World::start().await;
    let images = [IMAGE_X86_64.into(), IMAGE_ARM64.into()];
    let found = wire.describe_images(&images).await.unwrap();
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|image| image.available && image.root_device.starts_with("/dev/")));
    assert_eq!(wire.describe_images(&["ami-0123".into()]).await.unwrap_err().kind, ErrorKind::NotFound);

    let query = ImageQuery { owner: "self".into(), name: "foo-node-*".into(), architecture: "arm64".into() };
    let mut found = wire.find_images(&query).await.unwrap();
    let mut same = direct.find_images(&query).await.unwrap();
    found.sort_by(|a, b| a.id.cmp(&b.id));
    same.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!((&found, found.len()), (&same, 2));
    assert!(found[0].created > AwsTime::from_millis(0) && found[0].created < found[1].created);
    let name = "/aws/service/bottlerocket/aws-k8s-1.35/arm64/latest/image_id";
    assert_eq!(wire.parameter(name).await, Ok(Some(found[1].id.to_string())));
    assert_eq!(wire.parameter("/no/such/parameter").await, Ok(None));

    let types = ["g5.xlarge".into(), "m7i.large".into(), "m8i.large".into(), "p4d.24xlarge".into()];
    let mut found = wire.describe_instance_types(&types).await.unwrap();
    let mut same = direct.describe_instance_types(&types).await.unwrap();
    found.sort_by(|a, b| a.instance_type.cmp(&b.instance_type));
    same.sort_by(|a, b| a.instance_type.cmp(&b.instance_type));
    assert_eq!(found, same);
    assert_eq!((found[0].nvidia_gpus, found[1].vcpus, found[1].memory_mib), (1, 2, 8_192));
    let network: Vec<_> = found.iter().map(|it| (it.network_cards, it.efa_interfaces)).collect();
    assert_eq!(network, [(1, 0), (1, 0), (1, 0), (4, 4)]);
    let cards: Vec<_> = found.iter().map(|it| it.interfaces_per_card.len()).collect();
    assert_eq!(cards, [1, 1, 1, 4]);
    let weightings: Vec<_> = found.iter().map(|it| it.bandwidth_weightings.len()).collect();
    assert_eq!(weightings, [0, 0, 3, 0]);
    let addresses: Vec<_> = found
        .iter()
        .map(|it| it.addresses.map(|it| (it.interfaces, it.ipv4_per_interface, it.prefixes)))
        .collect();
    assert_eq!(addresses, [(4, 15, true), (3, 10, true), (3, 10, true), (15, 50, true)].map(Some));
    assert_eq!(
        wire.describe_instance_types(&["m0.none".into()]).await.unwrap_err().kind,
        ErrorKind::NotFound
    );

    let by_id = NetworkQuery::Ids(vec![PRIVATE_SUBNETS[1].into(), PUBLIC_SUBNETS[0].into()]);
    let in_vpc = NetworkQuery::Tags { vpc: Some(VPC.into()), tags: tags(&[]) };
    let nothing = NetworkQuery::Tags { vpc: None, tags: tags(&[("no-such-key", "")]) };
    for (query, count) in [(&by_id, 2), (&in_vpc, 6), (&nothing, 0)] {
        let mut found = wire.describe_subnets(query).await.unwrap();
        let mut same = direct.describe_subnets(query).await.unwrap();
        found.sort_by(|a, b| a.id.cmp(&b.id));
        same.sort_by(|a, b| a.id.cmp(&b.id));
        assert_eq!((&found, found.len()), (&same, count));
    }
    let unknown = NetworkQuery::Ids(vec!["subnet-0123".into()]);
    assert_eq!(wire.describe_subnets(&unknown).await.unwrap_err().kind, ErrorKind::NotFound);

    let groups = NetworkQuery::Ids(vec![SECURITY_GROUP.into()]);
    assert_eq!(wire.describe_security_groups(&groups).await, direct.describe_security_groups(&groups).await);
    assert_eq!(wire.describe_security_groups(&groups).await.unwrap()[0].vpc, VPC);
    let unknown = NetworkQuery::Ids(vec!["sg-0123".into()]);
    assert_eq!(wire.describe_security_groups(&unknown).await.unwrap_err().kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn capacity_reservations_are_described_alike_and_a_block_has_an_end() {
    let world = World::start().await;
    let region = world.server.simulator().region(REGION);
    let new = || NewReservation {
        instance_type: "m7i.large".into(),
        zone: "eu-central-1a".into(),
        total: 1,
        criteria: MatchCriteria::Targeted,
        tags: Tags::new(),
    };
    let now = world.server.simulator().now();
    let period =
        Period { starts: now.plus(Duration::from_hours(1)), ends: now.plus(Duration::from_hours(25)) };
    let block = region.with(|region| region.create_capacity_block(new(), period)).unwrap().unwrap();
    let plain = region.with(|region| region.create_capacity_reservation(new())).unwrap().unwrap();
    for (id, kind, state) in [
        (block, ReservationKind::CapacityBlock, ReservationState::Coming),
        (plain, ReservationKind::OnDemand, ReservationState::Active),
    ] {
        let found = world.wire.describe_capacity_reservation(&id).await.unwrap();
        assert_eq!(found, world.direct.describe_capacity_reservation(&id).await.unwrap());
        let found = found.unwrap();
        let has_end = kind == ReservationKind::CapacityBlock;
        assert_eq!((found.kind, found.state(), found.ends.is_some()), (kind, state, has_end));
    }
    assert_eq!(world.wire.describe_capacity_reservation("cr-0").await.unwrap(), None);
    assert_eq!(world.direct.describe_capacity_reservation("cr-0").await.unwrap(), None);
}

#[tokio::test]
async fn volumes_of_a_tag_are_found_and_whether_they_go_with_their_instance() {
    const KEY: &str = "kubernetes.io/cluster/c";
    let world = World::start().await;
    let region = world.server.simulator().region(REGION);
    let put = |key: &str, attached: Option<(String, bool)>| {
        let tags = [(key.to_owned(), "owned".to_owned())].into();
        region.put_volume(WorkloadVolume { size_gib: 1, attached, tags }).unwrap()
    };
    let instance = || "i-0123456789abcdef0".to_owned();
    let mut expected = vec![(put(KEY, None), false), (put(KEY, Some((instance(), false))), false)];
    expected.push((put(KEY, Some((instance(), true))), true));
    put("kubernetes.io/cluster/c2", None);
    expected.sort();
    let mut found = world.wire.describe_volumes_tagged(KEY).await.unwrap();
    found.sort_by(|a, b| a.id.cmp(&b.id));
    assert_eq!(found, world.direct.describe_volumes_tagged(KEY).await.unwrap());
    let found: Vec<_> = found.into_iter().map(|it| (it.id, it.goes_with_instance)).collect();
    assert_eq!(found, expected);
    assert_eq!(world.wire.describe_volumes_tagged("*").await.unwrap(), [], "a key is no pattern");
}

#[tokio::test]
async fn aws_refusals_have_their_kinds() {
    let world = World::with_group(1).await;
    let (id, version) = match world.group().await.template.unwrap() {
        (id, TemplateChoice::Version(version)) => (id, version),
        (_, TemplateChoice::Floating(text)) => panic!("{text}"),
    };
    let spec = NewGroup {
        name: pool(),
        min: 0,
        max: 1,
        desired: None,
        template: (id.clone(), version),
        mix: None,
        settings: GroupSettings::in_subnets([PRIVATE_SUBNETS[0].into()].into()),
        traffic_sources: [].into(),
        drain_hook: None,
        hooks: [].into(),
        tags: tags(&[]),
    };
    assert_eq!(world.wire.create_group(&spec).await.unwrap_err().kind, ErrorKind::AlreadyExists);
    let above = GroupChange { desired: Some(11), ..GroupChange::default() };
    assert_eq!(world.wire.update_group(&pool(), &above).await.unwrap_err().kind, ErrorKind::Invalid);
    let missing = world.wire.update_group(&"missing".into(), &GroupChange::default()).await.unwrap_err();
    assert_eq!((missing.kind, missing.code.as_deref()), (ErrorKind::Invalid, Some("ValidationError")));
    let unknown =
        world.wire.create_template_version(&"lt-0123".into(), &template(), "d", "token-5").await.unwrap_err();
    assert_eq!(unknown.kind, ErrorKind::NotFound, "{unknown}");

    let simulator = world.server.simulator();
    simulator.add_fault(FaultRule::on("UpdateAutoScalingGroup", Fault::Denied).times(1));
    let denied = world.wire.update_group(&pool(), &GroupChange::default()).await.unwrap_err();
    assert_eq!(denied.kind, ErrorKind::Denied);
    simulator.add_fault(FaultRule::on("CreateLaunchTemplateVersion", Fault::Denied).times(2));
    let denied = world.wire.create_template_version(&id, &template(), "d", "token-6").await.unwrap_err();
    let again = world.wire.create_template_version(&id, &template(), "d", "token-6").await.unwrap_err();
    assert_eq!(
        (denied.kind, &denied),
        (ErrorKind::Denied, &again),
        "the text does not change from call to call"
    );
}

#[tokio::test]
async fn a_call_without_a_token_is_not_repeated_after_a_lost_response() {
    let world = World::with_group(3).await;
    let id = world.group().await.instances[0].id.clone();
    world.lose_responses("TerminateInstanceInAutoScalingGroup", 1);
    let lost = world.wire.terminate_instance(&id, Decrement::Shrink).await.unwrap_err();
    assert_eq!(lost.kind, ErrorKind::LostResponse);
    world.step(120);
    assert_eq!(world.group().await.sizes.desired, 2, "it was done once");
    assert_eq!(world.server.simulator().calls("TerminateInstanceInAutoScalingGroup"), 1);
}

#[tokio::test]
async fn a_call_with_a_token_is_repeated_after_a_lost_response_and_creates_one_version() {
    let world = World::with_group(0).await;
    let (id, _) = world.group().await.template.unwrap();
    world.lose_responses("CreateLaunchTemplateVersion", 2);
    let made =
        world.wire.create_template_version(&id, &template(), &description(2), "token-2").await.unwrap().made;
    assert_eq!(made, TemplateVersion(2));
    assert_eq!(world.wire.describe_template("pool").await.unwrap().unwrap().versions.len(), 2);
}

#[tokio::test]
async fn throttling_arrives_as_such_from_both_services() {
    let world = World::with_group(0).await;
    let simulator = world.server.simulator();
    simulator.add_fault(FaultRule::on_everything(Fault::Throttled));
    let mut kinds = vec![world.wire.delete_group(&pool()).await.unwrap_err().kind];
    kinds.push(world.wire.delete_template(&"lt-1".into()).await.unwrap_err().kind);
    kinds.push(world.wire.describe_groups(&[pool()]).await.unwrap_err().kind);
    kinds.push(world.wire.describe_images(&[IMAGE_X86_64.into()]).await.unwrap_err().kind);
    assert_eq!(kinds, [ErrorKind::Throttled; 4]);
    simulator.clear_faults();
    world.wire.describe_groups(&[pool()]).await.unwrap();
}

#[tokio::test]
async fn many_groups_and_templates_come_in_pages() {
    let world = World::start().await;
    for at in 0..120 {
        let name = format!("pool-{at}");
        let tags = tags(&[(OWNER, &name)]);
        let (id, version) =
            world.direct.create_template(&name, &template(), "d", &tags, &name).await.unwrap().made;
        let spec = NewGroup {
            name: name.as_str().into(),
            min: 0,
            max: 1,
            desired: None,
            template: (id, version),
            mix: None,
            settings: GroupSettings::in_subnets([PRIVATE_SUBNETS[0].into()].into()),
            traffic_sources: [].into(),
            drain_hook: None,
            hooks: [].into(),
            tags,
        };
        world.direct.create_group(&spec).await.unwrap();
    }
    assert_eq!(world.wire.describe_groups_tagged(OWNER).await.unwrap().len(), 120);
    assert_eq!(world.wire.describe_templates_tagged(OWNER).await.unwrap().len(), 120);
    world.server.simulator().reset_calls();
    let names: Vec<GroupName> = (0..100).map(|at| format!("pool-{at}").into()).collect();
    assert_eq!(world.wire.describe_groups(&names).await.unwrap().groups.len(), 100);
    assert_eq!(world.server.simulator().calls("DescribeAutoScalingGroups"), 1);
}
