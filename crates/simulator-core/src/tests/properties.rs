//! Whatever is done to a region in whatever order: its state stays coherent, and comes out the same each time.

use super::mixed::{mix, types, weighted};
use super::scene::{Scene, name, scene_with, source};
use crate::core::Region;
use crate::core::document::Document;
use crate::core::group::activity::ActivityLog;
use crate::core::group::model::{Group, units};
use crate::core::mishaps::{LaunchMishap, Mishap, ZoneState};
use crate::core::network::PRIVATE_SUBNETS;
use crate::core::rules::group::hooks::{ActionKey, ActionResult, HookChange, Transition};
use crate::core::rules::group::launch_instances::{LaunchPlace, LaunchRequest};
use crate::core::rules::group::members::GracePeriod;
use crate::core::rules::group::operations::{Cooldown, Deletion, GroupUpdate, NewGroup, SettingsChange};
use crate::core::rules::group::refresh::{PreferencesSpec, Treatment};
use crate::core::rules::group::warm_pool::{PoolState, WarmPoolChange};
use foo_cloud::InstanceState;
use foo_model::{
    ActivityStatus, Decrement, GroupName, Health, InstanceId, LifecycleState, Process, Protection, SubnetId,
    Zone,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// One thing that happens. Numbers pick among what there is.
#[derive(Clone, Debug)]
enum Act {
    Create { group: u8, min: u8, size: u8, protected: bool, kind: u8 },
    Desired { group: u8, desired: u8 },
    Bounds { group: u8, min: u8, max: u8 },
    Terminate { member: u8, shrink: bool },
    Kill { member: u8 },
    Protect { member: u8, protected: bool },
    Unhealthy { member: u8 },
    Suspend { group: u8, process: u8 },
    Resume { group: u8 },
    Limit { zone: u8, limit: Option<u8> },
    Standby { member: u8, shrink: bool },
    Back { member: u8 },
    Detach { member: u8, shrink: bool },
    Attach { group: u8, instance: u8 },
    Hook { group: u8, launching: bool, abandon: bool },
    Unhook { group: u8, launching: bool },
    Complete { member: u8, abandon: bool },
    Heartbeat { member: u8 },
    Refresh { group: u8, max: u8, wait: bool, skip: bool, kind: u8 },
    Rollback { group: u8 },
    Cancel { group: u8, wait: bool },
    WarmPool { group: u8, prepared: u8, reuse: bool },
    NoWarmPool { group: u8, forced: bool },
    Zone { zone: u8, state: u8 },
    Mishap { skip: u8, kind: u8 },
    Launch { group: u8, zone: u8, capacity: u8 },
    Policy { group: u8, min: u8, max: u8 },
    Delete { group: u8, forced: bool },
    Wait { seconds: u16 },
}

fn act() -> impl Strategy<Value = Act> {
    let group = 0..3_u8;
    prop_oneof![
        2 => (group.clone(), 0..4_u8, 0..8_u8, any::<bool>(), 0..4_u8).prop_map(
            |(group, min, size, protected, kind)| Act::Create { group, min, size, protected, kind }
        ),
        4 => (group.clone(), 0..10_u8).prop_map(|(group, desired)| Act::Desired { group, desired }),
        2 => (group.clone(), 0..6_u8, 0..10_u8).prop_map(|(group, min, max)| Act::Bounds { group, min, max }),
        4 => (any::<u8>(), any::<bool>()).prop_map(|(member, shrink)| Act::Terminate { member, shrink }),
        2 => any::<u8>().prop_map(|member| Act::Kill { member }),
        2 => (any::<u8>(), any::<bool>()).prop_map(|(member, protected)| Act::Protect { member, protected }),
        1 => any::<u8>().prop_map(|member| Act::Unhealthy { member }),
        1 => (group.clone(), 0..9_u8).prop_map(|(group, process)| Act::Suspend { group, process }),
        1 => group.clone().prop_map(|group| Act::Resume { group }),
        1 => (0..3_u8, prop::option::of(0..4_u8)).prop_map(|(zone, limit)| Act::Limit { zone, limit }),
        1 => (any::<u8>(), any::<bool>()).prop_map(|(member, shrink)| Act::Standby { member, shrink }),
        1 => any::<u8>().prop_map(|member| Act::Back { member }),
        1 => (any::<u8>(), any::<bool>()).prop_map(|(member, shrink)| Act::Detach { member, shrink }),
        1 => (group.clone(), any::<u8>()).prop_map(|(group, instance)| Act::Attach { group, instance }),
        2 => (group.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(group, launching, abandon)| Act::Hook { group, launching, abandon }),
        1 => (group.clone(), any::<bool>()).prop_map(|(group, launching)| Act::Unhook { group, launching }),
        3 => (any::<u8>(), any::<bool>()).prop_map(|(member, abandon)| Act::Complete { member, abandon }),
        1 => any::<u8>().prop_map(|member| Act::Heartbeat { member }),
        2 => (group.clone(), 100..150_u8, any::<bool>(), any::<bool>(), 0..4_u8)
            .prop_map(|(group, max, wait, skip, kind)| Act::Refresh { group, max, wait, skip, kind }),
        1 => group.clone().prop_map(|group| Act::Rollback { group }),
        1 => (group.clone(), any::<bool>()).prop_map(|(group, wait)| Act::Cancel { group, wait }),
        1 => (group.clone(), 0..9_u8, any::<bool>())
            .prop_map(|(group, prepared, reuse)| Act::WarmPool { group, prepared, reuse }),
        1 => (group.clone(), any::<bool>()).prop_map(|(group, forced)| Act::NoWarmPool { group, forced }),
        1 => (0..3_u8, 0..3_u8).prop_map(|(zone, state)| Act::Zone { zone, state }),
        1 => (0..3_u8, 0..3_u8).prop_map(|(skip, kind)| Act::Mishap { skip, kind }),
        1 => (group.clone(), 0..3_u8, 1..3_u8)
            .prop_map(|(group, zone, capacity)| Act::Launch { group, zone, capacity }),
        1 => (group.clone(), 50..101_u8, 100..150_u8)
            .prop_map(|(group, min, max)| Act::Policy { group, min, max }),
        1 => (group, any::<bool>()).prop_map(|(group, forced)| Act::Delete { group, forced }),
        6 => (0..90_u16).prop_map(|seconds| Act::Wait { seconds }),
    ]
}

/// By how much less than this a group can miss its sizes, because instances come whole.
fn heaviest(group: &Group) -> u32 {
    group.members.values().chain(group.warm.values()).map(|it| it.weight).max().unwrap_or(1)
}

fn group_name(group: u8) -> GroupName {
    name(&format!("pool-{group}"))
}

/// The member that a number picks, with its group.
fn pick(region: &Region, number: u8) -> Option<(GroupName, InstanceId)> {
    let members: Vec<(GroupName, InstanceId)> = region
        .groups()
        .flat_map(|group| {
            let ids = group.members.keys().chain(group.warm.keys());
            ids.map(|id| (group.name.clone(), id.clone()))
        })
        .collect();
    let at = usize::from(number).checked_rem(members.len())?;
    members.get(at).cloned()
}

fn decrement(shrink: bool) -> Decrement {
    if shrink { Decrement::Shrink } else { Decrement::Replace }
}

fn zone_name(zone: u8) -> &'static str {
    ["eu-central-1a", "eu-central-1b", "eu-central-1c"][usize::from(zone)]
}

fn hook_name(launching: bool) -> &'static str {
    if launching { "boot" } else { "drain" }
}

fn action_result(abandon: bool) -> ActionResult {
    if abandon { ActionResult::Abandon } else { ActionResult::Continue }
}

fn protection(protected: bool) -> Protection {
    if protected { Protection::Protected } else { Protection::Unprotected }
}

/// Carries it out. A refusal is a result, too.
fn perform(scene: &Scene, act: &Act) {
    let with = |work: &mut dyn FnMut(&mut Region)| scene.with(work);
    match act.clone() {
        Act::Wait { seconds } => scene.sim.step(Duration::from_secs(u64::from(seconds))),
        Act::Limit { zone, limit } => {
            let limit = limit.map(u32::from);
            scene.region.set_capacity_limit(zone_name(zone), "m7i.large", limit).expect("a limit");
        }
        Act::Create { group, min, size, protected, kind } => {
            let template = scene.region.templates().remove(0).id;
            let on_demand = [("OnDemandPercentageAboveBaseCapacity", "100")];
            let source = match kind {
                0 => mix("all", types(&["m7i.large", "m7i.xlarge"]), &on_demand),
                1 => mix("all", weighted(&[("m7i.large", 2), ("m7i.xlarge", 3)]), &on_demand),
                _ => source(&template, None),
            };
            let _ = scene.create(NewGroup {
                name: group_name(group),
                min: u32::from(min.min(size)),
                max: 9,
                desired: Some(u32::from(size)),
                source: Some(source),
                subnets: PRIVATE_SUBNETS.map(SubnetId::from).to_vec(),
                new_instances: protection(protected),
                tags: BTreeMap::new(),
                settings: SettingsChange::default(),
                traffic_sources: [].into(),
                hooks: Vec::new(),
            });
        }
        Act::Desired { group, desired } => with(&mut |region| {
            let _ = region.set_desired_capacity(&group_name(group), u32::from(desired), Cooldown::Ignored);
        }),
        Act::Bounds { group, min, max } => with(&mut |region| {
            let update =
                GroupUpdate { min: Some(min.into()), max: Some(max.into()), ..GroupUpdate::default() };
            let _ = region.update_group(&group_name(group), update);
        }),
        Act::Terminate { member, shrink } => with(&mut |region| {
            if let Some((_, id)) = pick(region, member) {
                let _ = region.terminate_member(&id, decrement(shrink));
            }
        }),
        Act::Kill { member } => with(&mut |region| {
            if let Some((_, id)) = pick(region, member) {
                region.terminate_in_ec2(&id, ("Test", "Test"));
            }
        }),
        Act::Protect { member, protected } => with(&mut |region| {
            if let Some((group, id)) = pick(region, member) {
                let _ = region.set_protection(&group, &[id], protection(protected));
            }
        }),
        Act::Unhealthy { member } => with(&mut |region| {
            if let Some((_, id)) = pick(region, member) {
                let _ = region.set_health(&id, Health::Unhealthy, GracePeriod::Ignored);
            }
        }),
        Act::Suspend { group, process } => with(&mut |region| {
            let _ = region.suspend_processes(&group_name(group), &[Process::ALL[usize::from(process)]]);
        }),
        Act::Resume { group } => with(&mut |region| {
            let _ = region.resume_processes(&group_name(group), &Process::ALL);
        }),
        Act::Standby { member, shrink } => with(&mut |region| {
            if let Some((group, id)) = pick(region, member) {
                let _ = region.enter_standby(&group, &[id], decrement(shrink));
            }
        }),
        Act::Back { member } => with(&mut |region| {
            if let Some((group, id)) = pick(region, member) {
                let _ = region.exit_standby(&group, &[id]);
            }
        }),
        Act::Detach { member, shrink } => with(&mut |region| {
            if let Some((group, id)) = pick(region, member) {
                let _ = region.detach_instances(&group, &[id], decrement(shrink));
            }
        }),
        Act::Attach { group, instance } => with(&mut |region| {
            let loose: Vec<InstanceId> =
                region.instances().filter(|it| it.group.is_none()).map(|it| it.id.clone()).collect();
            let at = usize::from(instance).checked_rem(loose.len());
            if let Some(id) = at.and_then(|at| loose.get(at)) {
                let _ = region.attach_instances(&group_name(group), std::slice::from_ref(id));
            }
        }),
        Act::Hook { group, launching, abandon } => with(&mut |region| {
            let transition = if launching { Transition::Launching } else { Transition::Terminating };
            let change = HookChange {
                name: hook_name(launching).to_owned(),
                transition: Some(transition),
                heartbeat: Some(60),
                default_result: Some(action_result(abandon)),
                ..HookChange::default()
            };
            let _ = region.put_hook(&group_name(group), change);
        }),
        Act::Unhook { group, launching } => with(&mut |region| {
            let _ = region.delete_hook(&group_name(group), hook_name(launching));
        }),
        Act::Complete { member, abandon } => with(&mut |region| {
            if let Some((group, id)) = pick(region, member) {
                for launching in [true, false] {
                    let key = ActionKey::Instance(id.clone());
                    let _ =
                        region.complete_action(&group, hook_name(launching), &key, action_result(abandon));
                }
            }
        }),
        Act::Heartbeat { member } => with(&mut |region| {
            if let Some((group, id)) = pick(region, member) {
                let _ = region.record_heartbeat(&group, hook_name(false), &ActionKey::Instance(id));
            }
        }),
        Act::Refresh { group, max, wait, skip, kind } => with(&mut |region| {
            let template = region.templates_seen(None).next().expect("one").id.clone();
            let desired = (kind > 0).then(|| source(&template, Some(if kind == 1 { "1" } else { "2" })));
            let preferences = PreferencesSpec {
                min_healthy: Some(60),
                max_healthy: Some(max.into()),
                skip_matching: skip,
                protected: Some(if wait { Treatment::Wait } else { Treatment::Replace }),
                standby: Some(if wait { Treatment::Ignore } else { Treatment::Replace }),
                checkpoints: if kind == 3 { vec![30, 60] } else { Vec::new() },
                checkpoint_delay: Some(Duration::from_mins(1)),
                auto_rollback: wait,
                ..PreferencesSpec::default()
            };
            let _ = region.start_refresh(&group_name(group), desired, preferences);
        }),
        Act::Rollback { group } => with(&mut |region| {
            let _ = region.rollback_refresh(&group_name(group));
        }),
        Act::Cancel { group, wait } => with(&mut |region| {
            let _ = region.cancel_refresh(&group_name(group), wait);
        }),
        Act::WarmPool { group, prepared, reuse } => with(&mut |region| {
            let change = WarmPoolChange {
                state: Some(if prepared % 2 == 0 { PoolState::Stopped } else { PoolState::Running }),
                max_prepared: Some(Some(prepared.into())),
                reuse: Some(reuse),
                ..WarmPoolChange::default()
            };
            let _ = region.put_warm_pool(&group_name(group), change);
        }),
        Act::NoWarmPool { group, forced } => with(&mut |region| {
            let _ = region.delete_warm_pool(&group_name(group), forced);
        }),
        Act::Zone { zone, state } => {
            let states = [ZoneState::Available, ZoneState::Impaired, ZoneState::Unavailable];
            scene.region.set_zone_state(zone_name(zone), states[usize::from(state)]).expect("a zone");
        }
        Act::Mishap { skip, kind } => {
            let refused = || Mishap::Refused { code: "X".to_owned(), message: "no".to_owned() };
            let mishap = [refused(), Mishap::Dies, Mishap::NeverJoins][usize::from(kind)].clone();
            let rule = LaunchMishap { group: None, zone: None, skip: skip.into(), times: Some(2), mishap };
            scene.region.set_launch_mishaps(vec![rule]).expect("a rule");
        }
        Act::Launch { group, zone, capacity } => with(&mut |region| {
            let request = LaunchRequest {
                group: group_name(group),
                capacity: capacity.into(),
                token: format!("{:?}", region.now()),
                place: Some(LaunchPlace::Zone(Zone::from(zone_name(zone)))),
                retries: capacity == 1,
            };
            let _ = region.launch_instances(request);
        }),
        Act::Policy { group, min, max } => with(&mut |region| {
            let policy = Document::map()
                .with("MinHealthyPercentage", Some(Document::text(min)))
                .with("MaxHealthyPercentage", Some(Document::text(max)));
            let stored = [("InstanceMaintenancePolicy".to_owned(), policy)].into();
            let settings = SettingsChange { stored, ..SettingsChange::default() };
            let _ =
                region.update_group(&group_name(group), GroupUpdate { settings, ..GroupUpdate::default() });
        }),
        Act::Delete { group, forced } => with(&mut |region| {
            let how = if forced { Deletion::Forced } else { Deletion::IfEmpty };
            let _ = region.delete_group(&group_name(group), how);
        }),
    }
}

/// What must hold at every moment.
fn check(region: &Region) {
    let mut members: BTreeSet<&InstanceId> = BTreeSet::new();
    for group in region.groups() {
        let sizes = group.sizes;
        assert!(sizes.min <= sizes.desired && sizes.desired <= sizes.max, "{sizes:?}");
        let log = region.activity_log(&group.name);
        for member in group.members.values().chain(group.warm.values()) {
            assert!(members.insert(&member.id), "{} is in two groups", member.id);
            let instance = region.instance(&member.id).expect("every member is an instance");
            assert_eq!(instance.group.as_ref(), Some(&group.name));
            assert_eq!((&instance.zone, &instance.instance_type), (&member.zone, &member.instance_type));
            let activity = member.activity.and_then(|serial| log?.get(serial));
            let waits =
                matches!(member.lifecycle, LifecycleState::PendingWait | LifecycleState::TerminatingWait);
            assert_eq!(waits, !member.waits.is_empty(), "{} waits for what it says", member.id);
            match &member.lifecycle {
                LifecycleState::TerminatingWait => {
                    let activity = activity.expect("every termination has an activity");
                    assert_eq!(activity.status, ActivityStatus::InProgress);
                }
                LifecycleState::Terminating | LifecycleState::TerminatingProceed => {
                    let activity = activity.expect("every termination has an activity");
                    assert_eq!(activity.status, ActivityStatus::InProgress);
                    assert!(activity.description.ends_with(member.id.as_str()), "{}", activity.description);
                    assert!(!instance.state.is_alive());
                }
                LifecycleState::Pending
                | LifecycleState::PendingWait
                | LifecycleState::PendingProceed
                | LifecycleState::EnteringStandby
                | LifecycleState::Detaching => {
                    assert_eq!(activity.map(|it| it.status), Some(ActivityStatus::InProgress));
                }
                LifecycleState::InService | LifecycleState::Standby => assert!(activity.is_none()),
                LifecycleState::Warmed => assert!(activity.is_none() && group.warm.contains_key(&member.id)),
                other => panic!("nothing leads to {other:?}"),
            }
        }
    }
    let mut alive: BTreeMap<(Zone, _), u32> = BTreeMap::new();
    let mut addresses = BTreeSet::new();
    for instance in region.instances() {
        assert_eq!(instance.group.is_some(), members.contains(&instance.id), "{}", instance.id);
        if instance.state != InstanceState::Terminated {
            *alive.entry((instance.zone.clone(), instance.instance_type.clone())).or_default() += 1;
            let address = instance.addresses.as_ref().expect("it lives").private;
            assert!(addresses.insert(address), "{address} was given twice");
        }
    }
    let counted: BTreeMap<_, u32> = region
        .alive
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(place, count)| (place.clone(), *count))
        .collect();
    assert_eq!(counted, alive);
}

/// Every instance that a group ended has exactly one activity that says so.
fn check_diary(region: &Region) {
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    for log in region.activities.values() {
        for (_, activity) in log.newest_first() {
            let end = activity.description.strip_prefix("Terminating EC2 instance");
            if let Some((_, id)) = end.and_then(|end| end.split_once(": ")) {
                *ends.entry(id).or_default() += 1;
            }
        }
    }
    for (id, count) in ends {
        assert_eq!(count, 1, "{id} was ended {count} times");
    }
}

fn run(seed: u64, acts: &[Act]) -> serde_json::Value {
    let scene = scene_with(|settings| {
        settings.spread_percent = 30;
        settings.reaction = Duration::from_secs(1);
    });
    // The seed of the scene's world is fixed; the tests' own seed picks how much of its stream is used up first.
    for _ in 0..seed % 16 {
        scene.with(|region| region.chance.bits());
    }
    let template = scene.template("all", "m7i.large");
    scene.version(&template, "m7i.xlarge");
    for act in acts {
        perform(&scene, act);
        scene.with(|region| check(region));
    }
    scene.with(|region| check_diary(region));
    // Left alone and unhindered, each group gets to where it should be.
    scene.region.set_launch_mishaps(Vec::new()).expect("no more");
    for zone in 0..3 {
        scene.region.set_capacity_limit(zone_name(zone), "m7i.large", None).expect("lifted");
        scene.region.set_zone_state(zone_name(zone), ZoneState::Available).expect("repaired");
    }
    for group in 0..3 {
        let _ = scene.with(|region| region.resume_processes(&group_name(group), &Process::ALL));
        for launching in [true, false] {
            let _ = scene.with(|region| region.delete_hook(&group_name(group), hook_name(launching)));
        }
    }
    // A refresh may wait an hour for protected instances before it times out.
    scene.wait(10_000);
    scene.with(|region| {
        check(region);
        for group in region.groups() {
            assert!(!group.is_deleting(), "a deleted group disappears");
            assert!(group.refresh().is_none(), "a refresh comes to an end");
            let (warm, wanted) = (units(group.warm.values()), group.warm_size());
            assert!((wanted..wanted + heaviest(group)).contains(&warm), "{warm} of {wanted}");
            assert!(group.warm.values().all(|it| it.lifecycle == LifecycleState::Warmed));
            let protected = group.members.values().filter(|it| {
                it.lifecycle == LifecycleState::InService && it.protection == Protection::Protected
            });
            let (actual, desired) = (group.capacity(), group.sizes.desired);
            let protected = units(protected);
            let fits = (desired..desired + heaviest(group)).contains(&actual);
            assert!(fits || (actual > desired && actual == protected), "{actual} of {desired}");
            let mut log = region.activity_log(&group.name).into_iter().flat_map(ActivityLog::newest_first);
            let open = log.find(|(_, it)| it.status == ActivityStatus::InProgress);
            assert!(open.is_none(), "{open:?} never ends");
            // The health of members in standby is not checked.
            let members = group.members.values();
            for member in members.filter(|it| it.lifecycle != LifecycleState::Standby) {
                let state = region.instance(&member.id).map(|it| it.state);
                assert_eq!(state, Some(InstanceState::Running), "{member:?}");
            }
            assert!(
                group
                    .members
                    .values()
                    .all(|it| it.health == Health::Healthy || it.lifecycle == LifecycleState::Standby)
            );
        }
    });
    scene.sim.state()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_region_stays_coherent_and_repeats_itself(
        seed in any::<u64>(),
        acts in prop::collection::vec(act(), 1..60),
    ) {
        let first = run(seed, &acts);
        prop_assert_eq!(first, run(seed, &acts));
    }
}
