//! Prints how long a plan for a pool of 1,000 Machines takes: at rest, and when half of them must go.
//!
//! `cargo run --release -p foo-planner --example plan_1000`. The target is 5 ms per plan.

use foo_model::group::{DeletionProtection, GroupStatus};
use foo_model::{
    Deletion, DeletionTimeouts, FooMachine, Group, GroupName, Health, ImageId, Instance, InstanceId,
    InstanceType, LaunchTemplate, LaunchTemplateId, LifecycleState, Machine, MetadataOptions, NodeState,
    Process, Protection, RemovalMark, Seconds, Sizes, SpecHash, SubnetId, TemplateChoice, TemplateContent,
    TemplateRecord, TemplateVersion, Timestamp, Uid, UserData, Zone, machine_name,
};
use foo_planner::desired::{
    Desired, GroupWish, Identity, OnFailure, Remediation, Rollout, ScaleIn, Share, Size, Strategy, Template,
    VictimPolicy, Wanted,
};
use foo_planner::observed::Finalizer;
use foo_planner::{Goal, Look, Memory, Observed, plan, violations};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

const SIZE: u32 = 1000;
const NOW: Timestamp = Timestamp(1_700_000_000_000);

fn main() {
    for (what, wanted) in [("at rest", SIZE), ("500 too many", SIZE / 2), ("500 too few", SIZE * 3 / 2)] {
        let desired = desired(wanted);
        let observed = observed(&desired);
        let memory = Memory::default();
        let rounds = 50;
        let begin = Instant::now();
        let mut actions = 0;
        for _ in 0..rounds {
            actions = plan(&desired, &observed, &memory).actions.len();
        }
        let planned = begin.elapsed() / rounds;
        let a_plan = plan(&desired, &observed, &memory);
        let begin = Instant::now();
        let broken = violations(&desired, &observed, &memory, &a_plan).len();
        let checked = begin.elapsed();
        println!(
            "{SIZE} machines, {what}: plan {planned:?} ({actions} actions), check {checked:?} ({broken} violations)"
        );
    }
}

fn desired(wanted: u32) -> Desired {
    Desired {
        identity: Identity {
            namespace: "ns".to_owned(),
            pool: "workers".to_owned(),
            cluster: "prod".to_owned(),
            group: GroupName::new("ns-prod-workers"),
            installation: "here".to_owned(),
            adopt_from: None,
        },
        goal: Goal::Run,
        pause: None,
        missing: Vec::new(),
        size: Size::Replicas { wanted, ceiling: None },
        template: Wanted::Ready(Template {
            content: TemplateContent {
                image: ImageId::new("ami-1"),
                instance_type: InstanceType::new("m7i.large"),
                security_groups: Vec::new(),
                instance_profile: None,
                key_name: None,
                volumes: Vec::new(),
                metadata: MetadataOptions { tokens_required: true, hop_limit: 1 },
                spot: None,
                user_data: UserData(Vec::new()),
                tags: BTreeMap::new(),
            },
            spec_hash: SpecHash::new("v1"),
            data_hash: SpecHash::new("d1"),
            source_hash: SpecHash::new("s1"),
        }),
        group: GroupWish {
            subnets: Wanted::Ready(BTreeSet::from([SubnetId::new("subnet-a")])),
            mix: None,
            tags: BTreeMap::new(),
        },
        scale_in: ScaleIn {
            policy: VictimPolicy::Oldest,
            max_concurrent_drains: SIZE,
            stabilization: Seconds(0),
        },
        rollout: Rollout {
            strategy: Strategy::RollingUpdate,
            max_surge: Share::Count(1),
            max_unavailable: Share::Count(0),
            min_ready: Seconds(0),
            ready_timeout: Seconds(600),
            on_failure: OnFailure::Halt,
            paused: false,
        },
        remediation: Remediation {
            enabled: true,
            max_in_flight: Share::Count(1),
            unhealthy_limit: Share::Percent(40),
            join_timeout: None,
        },
        interruption: foo_planner::desired::Interruption {
            rebalance: foo_planner::desired::Rebalance::Ignore,
        },
        timeouts: DeletionTimeouts { node_drain: Some(Seconds(600)), ..DeletionTimeouts::default() },
        warnings: Vec::new(),
    }
}

fn observed(desired: &Desired) -> Observed {
    let instances: Vec<Instance> = (0..SIZE).map(instance).collect();
    let name = |instance: &Instance| machine_name(&desired.identity.pool, &instance.id);
    Observed {
        now: NOW,
        foo_machines: instances
            .iter()
            .map(|instance| FooMachine {
                name: name(instance),
                uid: Uid::new(format!("f-{}", instance.id)),
                instance: instance.id.clone(),
                zone: instance.zone.clone(),
                deletion: Deletion::Alive,
                held: true,
                held_since: None,
                spec_hash: Some(SpecHash::new("v1")),
            })
            .collect(),
        machines: instances
            .iter()
            .enumerate()
            .map(|(number, instance)| Machine {
                name: name(instance),
                uid: Uid::new(format!("m-{}", instance.id)),
                deletion: Deletion::Alive,
                mark: RemovalMark::None,
                node: NodeState::Ready,
                node_since: Some(NOW),
                unhealthy: None,
                spared: false,
                timeouts: desired.timeouts,
                drain_excluded: false,
                stage: foo_model::DeletionStage::Preparing,
                created: Timestamp(NOW.0 - i64::try_from(number * 7919 % 100_000).unwrap_or_default()),
            })
            .collect(),
        group: Look::At { at: NOW, seen: Some(group(desired, instances)) },
        template: Look::At { at: NOW, seen: Some(template(desired)) },
        hook: Look::At { at: NOW, seen: Some(foo_model::hook::HookConfig::OURS) },
        strays: BTreeMap::new(),
        signals: BTreeMap::new(),
        finalizer: Finalizer::Present,
        quarantine: Vec::new(),
        moves: foo_planner::observed::Moves::Free,
        recorded_arn: Some("arn:aws:autoscaling".to_owned()),
        settled_from: NOW,
        shortage: None,
        causes: std::collections::BTreeMap::new(),
    }
}

fn instance(number: u32) -> Instance {
    let zone = match number % 3 {
        0 => "eu-1a",
        1 => "eu-1b",
        _ => "eu-1c",
    };
    Instance {
        id: InstanceId::new(format!("i-{number:017x}")),
        zone: Zone::new(zone),
        instance_type: InstanceType::new("m7i.large"),
        lifecycle: LifecycleState::InService,
        health: Health::Healthy,
        protection: Protection::Protected,
        template: Some((LaunchTemplateId::new("lt-1"), TemplateVersion(1))),
    }
}

fn group(desired: &Desired, instances: Vec<Instance>) -> Group {
    Group {
        name: desired.identity.group.clone(),
        arn: "arn:aws:autoscaling".to_owned(),
        sizes: Sizes { min: 0, max: SIZE, desired: SIZE },
        template: Some((LaunchTemplateId::new("lt-1"), TemplateChoice::Version(TemplateVersion(1)))),
        mix: None,
        subnets: BTreeSet::from([SubnetId::new("subnet-a")]),
        new_instances: Protection::Protected,
        suspended: [(Process::AZRebalance, String::new())].into(),
        tags: desired.identity.group_tags(),
        status: GroupStatus::Active,
        deletion_protection: DeletionProtection::None,
        instances,
    }
}

fn template(desired: &Desired) -> LaunchTemplate {
    LaunchTemplate {
        id: LaunchTemplateId::new("lt-1"),
        name: "ns-prod-workers".to_owned(),
        tags: desired.identity.ownership_tags(),
        versions: vec![TemplateRecord {
            version: TemplateVersion(1),
            spec_hash: Some(SpecHash::new("v1")),
            data_hash: Some(SpecHash::new("d1")),
            source_hash: Some(SpecHash::new("s1")),
            is_default: true,
            created: NOW,
        }],
    }
}
