//! Events that AWS sends through a queue: they shorten waits and nothing depends on them.

use crate::support::{CLUSTER, NS, Pool, World, objects};
use foo_api::pool::{RebalancePolicy, Spot};
use foo_api::{FooCluster, FooMachine, FooMachinePoolSpec};
use foo_controller::labels::AnnouncementOutcome;
use foo_controller::labels::EventKind;
use foo_model::{Health, InstanceId, LifecycleState};
use foo_simulator_core::core::rules::group::members::GracePeriod;
use foo_simulator_core::core::sqs::delivery::EventRule;
use foo_simulator_core::{Fault, FaultRule, Probability};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

const QUEUE: &str = "events";
const URL: &str = "https://sqs.eu-central-1.amazonaws.com/123456789012/events";
/// From an event to the deletion of the Machine it is about.
const AT_ONCE: Duration = Duration::from_secs(5);

fn spot(spec: &mut FooMachinePoolSpec) {
    spec.spot = Some(Spot::default());
}

fn replacing(spec: &mut FooMachinePoolSpec) {
    spot(spec);
    spec.interruption.rebalance = RebalancePolicy::Replace;
}

impl World {
    /// A cluster that is ready for pools, and a manager that reads a queue with all events of the region.
    pub(crate) async fn with_queue() -> Self {
        Self::with_queue_and(EventRule::to_queue(QUEUE)).await
    }

    async fn with_queue_and(rule: EventRule) -> Self {
        let mut world = Self::new().await;
        world.region.with(|region| region.create_queue(QUEUE, &BTreeMap::new())).unwrap().unwrap();
        world.region.set_event_rules(vec![rule]).unwrap();
        world.restarts_the_manager_with_queue(URL);
        world
    }

    /// EventBridge delivers nothing from now on.
    fn loses_all_events(&self) {
        self.region.set_event_rules(Vec::new()).unwrap();
    }

    fn sends(&self, body: &str) {
        self.region.with(|region| region.send_message(QUEUE, body.to_owned(), None)).unwrap().unwrap();
    }

    /// Messages in the queue: those that can be received, and those that are hidden.
    pub(crate) fn messages(&self) -> (u64, u64) {
        let shown = |region: &mut foo_simulator_core::core::Region| {
            let now = region.now();
            let shown = region.queues.find(QUEUE).unwrap().shown(now);
            let count = |name: &str| shown[name].parse().unwrap();
            (count("ApproximateNumberOfMessages"), count("ApproximateNumberOfMessagesNotVisible"))
        };
        self.region.with(shown).unwrap()
    }

    fn counted(&self, kind: EventKind, outcome: AnnouncementOutcome) -> u64 {
        self.metrics().announcements(kind, outcome)
    }

    /// EC2 takes a spot instance back; when its two minutes are over it ends, drained or not.
    fn interrupts(&self, id: &InstanceId) {
        self.region.interrupt(id).unwrap();
    }

    /// How long it takes until this is so, at the most this long.
    async fn takes(&self, what: &str, most: Duration, is_so: impl Fn() -> bool) {
        let began = Instant::now();
        self.until(what, is_so).await;
        let took = began.elapsed();
        assert!(took <= most, "{what}: {took:?}, at most {most:?}\n{}", self.summary());
    }

    fn asked(&self, action: &str) -> u64 {
        let counts = self.aws.call_counts();
        counts.iter().filter(|((_, name), _)| name == action).map(|(_, count)| count.calls).sum()
    }
}

impl Pool<'_> {
    fn is_deleting(&self, id: &InstanceId) -> bool {
        let suffix = id.as_str().trim_start_matches("i-").to_owned();
        let name = |name: &Option<String>| name.as_ref().is_some_and(|name| name.ends_with(&suffix));
        let machines = self.machines();
        let machine = machines.iter().find(|machine| name(&machine.metadata.name));
        machine.is_none_or(|machine| machine.metadata.deletion_timestamp.is_some())
    }

    fn desired(&self) -> u32 {
        self.group().unwrap().sizes.desired
    }
}

#[tokio::test(start_paused = true)]
async fn an_interruption_deletes_the_machine_and_asks_for_its_replacement_at_once() {
    let world = World::with_queue().await;
    let pool = world.pool("p").with(spot).of(3).await;
    world.drains_take(Duration::from_secs(40));
    let victim = pool.instances()[0].clone();
    world.interrupts(&victim);
    world.takes("its Machine is deleted", AT_ONCE, || pool.is_deleting(&victim)).await;
    world.takes("its replacement is asked for", Duration::from_millis(500), || pool.desired() == 4).await;
    assert!(world.events_on("p").contains(&"SpotInterruption".to_owned()), "{:?}", world.events_on("p"));
    world.settles().await;
    pool.is_of(3);
    assert_eq!(world.core.drains().len(), 1);
    assert_eq!(world.messages(), (0, 0), "everything was deleted");
    assert_eq!(world.counted(EventKind::Interruption, AnnouncementOutcome::Acted), 1);
}

#[tokio::test(start_paused = true)]
async fn an_event_finds_its_pool_among_several_clouds_of_a_region() {
    let world = World::with_queue().await;
    let pool = world.pool("p").with(spot).of(2).await;
    let (cluster, foo_cluster) = objects::another_cluster("d", None);
    world.has(&cluster);
    world.has(&foo_cluster);
    world.has(&objects::keys("prod", "AKIAPROD"));
    world.has(&objects::identity("prod", json!({"allowedNamespaces": {}, "secret": {"name": "prod"}})));
    let turn =
        |cluster: &mut FooCluster| cluster.spec.identity_ref = Some(objects::identity_reference("prod"));
    world.server.edit(NS, CLUSTER, turn).unwrap();
    world.settles().await;
    assert_eq!(world.clouds().len(), 2, "{:?}", world.clouds());
    let victim = pool.instances()[0].clone();
    world.interrupts(&victim);
    world.takes("its Machine is deleted", AT_ONCE, || pool.is_deleting(&victim)).await;
    world.settles().await;
    pool.is_of(2);
    assert_eq!(world.messages(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_drain_of_more_than_two_minutes_is_cut_short_by_aws_and_the_pool_ends_at_its_target() {
    let world = World::with_queue().await;
    let pool = world.pool("p").with(spot).of(3).await;
    world.drains_take(Duration::from_mins(10));
    let victim = pool.instances()[1].clone();
    world.excuses(&victim);
    world.interrupts(&victim);
    world.waits(Duration::from_mins(4)).await;
    world.settles().await;
    pool.is_of(3);
    assert_eq!(pool.desired(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_interruption_of_all_at_once_breaks_no_ceiling() {
    let world = World::with_queue().await;
    let with_ceiling = |spec: &mut FooMachinePoolSpec| {
        spot(spec);
        spec.max_size = Some(6);
    };
    let pool = world.pool("p").with(with_ceiling).of(5).await;
    world.drains_take(Duration::from_secs(30));
    let all = pool.instances();
    for id in &all {
        world.interrupts(id);
    }
    world
        .takes("all their Machines are deleted", AT_ONCE, || all.iter().all(|id| pool.is_deleting(id)))
        .await;
    world.waits(Duration::from_secs(2)).await;
    assert_eq!(pool.desired(), 6);
    world.settles().await;
    pool.is_of(5);
}

#[tokio::test(start_paused = true)]
async fn terminations_by_aws_are_seen_at_once_with_events_and_within_a_sweep_without() {
    let world = World::with_queue().await;
    let pool = world.pool("p").of(3).await;
    world.drains_take(Duration::from_secs(20));
    let unhealthy = |id: &InstanceId| {
        let set = |region: &mut foo_simulator_core::core::Region| {
            region.set_health(id, Health::Unhealthy, GracePeriod::Ignored)
        };
        world.region.with(set).unwrap().unwrap();
    };
    let waits = |id: &InstanceId| {
        let group = pool.group().unwrap();
        group.members.get(id).is_some_and(|member| member.lifecycle == LifecycleState::TerminatingWait)
    };
    let first = pool.instances()[0].clone();
    unhealthy(&first);
    world.until("it waits for its hook", || waits(&first)).await;
    world.takes("its Machine is deleted", AT_ONCE, || pool.is_deleting(&first)).await;
    world.settles().await;
    world.loses_all_events();
    let second = pool.instances()[0].clone();
    unhealthy(&second);
    world.until("it waits for its hook", || waits(&second)).await;
    world.takes("its Machine is deleted", Duration::from_secs(32), || pool.is_deleting(&second)).await;
    world.settles().await;
    pool.is_of(3);
    assert_eq!(world.messages(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_announcement_waits_for_an_instance_not_yet_observed() {
    let world = World::with_queue().await;
    let pool = world.pool("p").with(spot).of(1).await;
    world.loses_all_events();
    pool.scales_to(2);
    let grown = || pool.group().unwrap().members.len() == 2;
    world.until("the second instance is launched", grown).await;
    let known = pool.foo_machines();
    assert_eq!(known.len(), 1, "its FooMachine is not there yet");
    let ids: Vec<InstanceId> = pool.group().unwrap().members.into_keys().collect();
    let suffix = |id: &InstanceId| id.as_str().trim_start_matches("i-").to_owned();
    let newest = ids.iter().find(|id| !known.iter().any(|name| name.ends_with(&suffix(id)))).unwrap();
    world.region.set_event_rules(vec![EventRule::to_queue(QUEUE)]).unwrap();
    world.drains_take(Duration::from_secs(10));
    world.interrupts(newest);
    let has_machine = || pool.machines().len() == 2;
    world.until("it has a Machine", has_machine).await;
    world.takes("its Machine is deleted", Duration::from_secs(12), || pool.is_deleting(newest)).await;
    world.settles().await;
    pool.is_of(2);
    assert_eq!(world.counted(EventKind::Interruption, AnnouncementOutcome::Acted), 1);
    assert_eq!(world.messages(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn unknown_announcements_are_polled_rarely_and_finally_deleted() {
    let world = World::with_queue().await;
    world.pool("p").of(1).await;
    let foreign = json!({
        "version": "0", "id": "1", "source": "aws.ec2", "account": "123456789012",
        "detail-type": "EC2 Spot Instance Interruption Warning", "region": "eu-central-1",
        "time": "2026-01-01T00:00:00Z", "resources": [],
        "detail": {"instance-id": "i-00000000000000abc", "instance-action": "terminate"},
    });
    world.forgets();
    world.sends(&foreign.to_string());
    world.waits(Duration::from_secs(1)).await;
    // It is shown to other managers soon, and not eaten.
    world.takes("it can be received by others", Duration::from_secs(6), || world.messages().0 == 1).await;
    world.waits(Duration::from_mins(14)).await;
    assert_eq!(world.messages().0 + world.messages().1, 1, "it is still there");
    world.waits(Duration::from_mins(3)).await;
    assert_eq!(world.messages(), (0, 0));
    assert_eq!(world.counted(EventKind::Interruption, AnnouncementOutcome::Unknown), 1);
    let parked = world.counted(EventKind::Interruption, AnnouncementOutcome::Parked);
    assert!((14..=22).contains(&parked), "{parked}: about once a minute");
    let asked = world.asked("ReceiveMessage");
    assert!(asked <= 110, "{asked} receives in 18 minutes");
    // What announces nothing is not worth a call of its own.
    world.forgets();
    for number in 0..40 {
        world.sends(&foreign_state_change(number));
    }
    world.waits(Duration::from_mins(8)).await;
    assert_eq!(world.messages(), (0, 0));
    let (hidden, deleted) = (world.asked("ChangeMessageVisibility"), world.asked("DeleteMessageBatch"));
    assert!(hidden == 0 && deleted <= 8, "{hidden} hidden, {deleted} deletions");
    let asked = world.asked("ReceiveMessage");
    assert!(asked <= 24 + 2 * 40, "{asked} receives in 8 minutes");
    world.settles().await;
    assert_eq!(world.asked("UpdateAutoScalingGroup"), 0);
}

fn foreign_state_change(number: u32) -> String {
    json!({
        "version": "0", "id": "1", "source": "aws.ec2", "account": "123456789012",
        "detail-type": "EC2 Instance State-change Notification", "region": "eu-central-1",
        "time": "2026-01-01T00:00:00Z", "resources": [],
        "detail": {"instance-id": format!("i-{number:017x}"), "state": "terminated"},
    })
    .to_string()
}

#[tokio::test(start_paused = true)]
async fn thousands_of_events_about_other_instances_do_not_delay_an_interruption() {
    let world = World::with_queue().await;
    let pool = world.pool("p").with(spot).of(2).await;
    world.drains_take(Duration::from_secs(10));
    for number in 0..4_000 {
        world.sends(&foreign_state_change(number));
    }
    world.waits(Duration::from_secs(20)).await;
    let victim = pool.instances()[0].clone();
    world.interrupts(&victim);
    world.takes("its Machine is deleted", AT_ONCE, || pool.is_deleting(&victim)).await;
    world.settles().await;
    pool.is_of(2);
}

#[tokio::test(start_paused = true)]
async fn hundreds_of_waiting_recommendations_do_not_delay_an_interruption() {
    let world = World::with_queue().await;
    let patient = world.pool("patient").with(replacing).of(3).await;
    let pool = world.pool("p").with(spot).of(2).await;
    world.drains_take(Duration::from_secs(10));
    // In the rest of the manager that has just begun: they wait.
    for number in 0..700 {
        let id = patient.instances()[number % 3].clone();
        world.region.recommend_rebalance(&id).unwrap();
    }
    world.waits(Duration::from_secs(30)).await;
    let victim = pool.instances()[0].clone();
    world.interrupts(&victim);
    world.takes("its Machine is deleted", AT_ONCE, || pool.is_deleting(&victim)).await;
    world.waits(Duration::from_mins(90)).await;
    world.settles().await;
    assert_eq!(world.messages(), (0, 0));
    pool.is_of(2);
    patient.is_of(3);
}

#[tokio::test(start_paused = true)]
async fn a_manager_that_exits_returns_its_messages_to_the_queue() {
    let mut world = World::with_queue().await;
    world.pool("p").with(spot).of(2).await;
    let annotation = foo_api::names::PAUSED_ANNOTATION.to_owned();
    world.pool("p").edits_object(|pool| {
        pool.metadata.annotations.get_or_insert_default().insert(annotation.clone(), String::new());
    });
    world.waits(Duration::from_secs(5)).await;
    let victim = world.pool("p").instances()[0].clone();
    world.interrupts(&victim);
    world.waits(Duration::from_secs(2)).await;
    let (_, pending) = world.messages();
    assert!(pending > 0, "the pool is paused");
    world.stops_the_manager().await;
    assert_eq!(world.messages(), (pending, 0));
    world.excuses(&victim);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_retirement_is_forgotten_in_any_order_of_messages() {
    let world = World::with_queue().await;
    let pool = world.pool("p").of(3).await;
    let annotation = foo_api::names::PAUSED_ANNOTATION.to_owned();
    pool.edits_object(|pool| {
        pool.metadata.annotations.get_or_insert_default().insert(annotation.clone(), String::new());
    });
    world.waits(Duration::from_secs(5)).await;
    let before = pool.instances();
    let announces = |id: &InstanceId, status: &str, minute: u32| {
        let event = json!({
            "version": "0", "id": "1", "source": "aws.health", "account": "123456789012",
            "detail-type": "AWS Health Event", "region": "eu-central-1",
            "time": format!("2026-01-01T00:{minute:02}:00Z"), "resources": [],
            "detail": {
                "service": "EC2", "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
                "eventTypeCategory": "scheduledChange", "statusCode": status, "eventRegion": "eu-central-1",
                "affectedEntities": [{"entityValue": id.as_str()}],
            },
        });
        world.sends(&event.to_string());
    };
    announces(&before[0], "upcoming", 1);
    world.waits(Duration::from_secs(5)).await;
    announces(&before[0], "closed", 2);
    announces(&before[1], "closed", 4);
    world.waits(Duration::from_secs(5)).await;
    announces(&before[1], "upcoming", 3);
    world.waits(Duration::from_secs(5)).await;
    pool.edits_object(|pool| {
        pool.metadata.annotations.get_or_insert_default().remove(&annotation);
    });
    world.waits(Duration::from_mins(10)).await;
    world.settles().await;
    assert_eq!(pool.instances(), before);
    assert_eq!(world.messages(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn poison_is_counted_and_set_aside() {
    let world = World::with_queue().await;
    let pool = world.pool("p").with(spot).of(2).await;
    for poison in ["hello", "{}", r#"{"source": "aws.ec2"}"#] {
        world.sends(poison);
    }
    // It delays no other.
    let victim = pool.instances()[0].clone();
    world.drains_take(Duration::from_secs(10));
    world.interrupts(&victim);
    world.takes("its Machine is deleted", AT_ONCE, || pool.is_deleting(&victim)).await;
    world.waits(Duration::from_mins(70)).await;
    assert_eq!(world.counted(EventKind::Other, AnnouncementOutcome::SetAside), 3);
    assert_eq!(world.counted(EventKind::Other, AnnouncementOutcome::Unreadable), 3 * 59);
    assert_eq!(world.messages(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn poison_is_moved_to_the_queues_own_dead_letters() {
    let world = World::with_queue().await;
    let redrive = json!({
        "deadLetterTargetArn": "arn:aws:sqs:eu-central-1:123456789012:dead",
        "maxReceiveCount": 25,
    });
    let attributes = BTreeMap::from([("RedrivePolicy".to_owned(), redrive.to_string())]);
    let change = |region: &mut foo_simulator_core::core::Region| {
        region.create_queue("dead", &BTreeMap::new())?;
        region.set_queue_attributes(QUEUE, &attributes)
    };
    world.region.with(change).unwrap().unwrap();
    world.sends("hello");
    world.waits(Duration::from_mins(40)).await;
    let dead = |region: &mut foo_simulator_core::core::Region| {
        let now = region.now();
        region.queues.find("dead").unwrap().shown(now)["ApproximateNumberOfMessages"].clone()
    };
    assert_eq!((world.messages(), world.region.with(dead).unwrap().as_str()), ((0, 0), "1"));
    assert_eq!(world.counted(EventKind::Other, AnnouncementOutcome::SetAside), 0);
}

#[tokio::test(start_paused = true)]
async fn one_queue_serves_many_pools_whatever_is_lost_doubled_or_late() {
    let rule = EventRule {
        lost: Probability::new(0.2).unwrap(),
        doubled: Probability::new(0.3).unwrap(),
        delay_millis: 200,
        delay_spread_millis: 4_000,
        ..EventRule::to_queue(QUEUE)
    };
    let world = World::with_queue_and(rule).await;
    let pools = [world.pool("a").with(spot).of(4).await, world.pool("b").with(spot).of(4).await];
    world.drains_take(Duration::from_secs(30));
    for _ in 0..3 {
        for pool in &pools {
            let victim = pool.instances()[0].clone();
            world.excuses(&victim);
            world.interrupts(&victim);
        }
        world.waits(Duration::from_mins(3)).await;
    }
    world.settles().await;
    for pool in &pools {
        pool.is_of(4);
    }
    assert_eq!(world.messages(), (0, 0));
    assert!(world.counted(EventKind::Interruption, AnnouncementOutcome::Acted) >= 3);
}

#[tokio::test(start_paused = true)]
async fn a_killed_manager_loses_no_announcement() {
    let mut world = World::with_queue().await;
    world.pool("p").with(spot).of(2).await;
    world.drains_take(Duration::from_secs(10));
    for after in [0, 150, 300, 450, 600, 900] {
        let victim = world.pool("p").instances()[0].clone();
        world.interrupts(&victim);
        world.waits(Duration::from_millis(after)).await;
        world.kills_the_manager();
        world.waits(Duration::from_secs(5)).await;
        world.starts_the_manager();
        let pool = world.pool("p");
        // Hidden for half a minute by the killed one.
        world.takes("its Machine is deleted", Duration::from_secs(38), || pool.is_deleting(&victim)).await;
        world.settles().await;
        pool.is_of(2);
        assert_eq!(world.messages(), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_broken_queue_affects_no_pool_and_is_polled_rarely() {
    let world = World::with_queue().await;
    let pool = world.pool("p").of(2).await;
    let denied = world.aws.add_fault(FaultRule::on("ReceiveMessage", Fault::Denied));
    world.forgets();
    pool.scales_to(4);
    world.waits(Duration::from_mins(10)).await;
    pool.is_of(4);
    let asked = world.asked("ReceiveMessage");
    assert!((10..=20).contains(&asked), "{asked} receives in ten minutes");
    world.aws.remove_fault(denied);
    // What cannot be deleted comes again and is harmless.
    let undeleted = world.aws.add_fault(FaultRule::on("DeleteMessageBatch", Fault::Throttled));
    world.waits(Duration::from_mins(5)).await;
    let deletions = world.asked("DeleteMessageBatch");
    assert!((1..=60).contains(&deletions), "{deletions}");
    world.aws.remove_fault(undeleted);
    world.waits(Duration::from_mins(3)).await;
    assert_eq!(world.messages(), (0, 0));
    world.settles().await;
    pool.is_of(4);
}

#[tokio::test(start_paused = true)]
async fn a_settled_pool_with_a_queue_costs_three_receives_a_minute() {
    let world = World::with_queue().await;
    world.pool("p").of(2).await;
    world.forgets();
    world.waits(Duration::from_mins(10)).await;
    let asked = world.asked("ReceiveMessage");
    assert!((28..=32).contains(&asked), "{asked}");
    assert_eq!(world.aws_writes(), 0);
    assert_eq!(world.requests().writes().count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_recommendation_is_ignored_unless_the_pool_follows_it() {
    let world = World::with_queue().await;
    let careless = world.pool("careless").with(spot).of(2).await;
    let careful = world.pool("careful").with(replacing).of(3).await;
    world.waits(Duration::from_mins(12)).await;
    let (ignored, followed) = (careless.instances()[0].clone(), careful.instances()[0].clone());
    world.region.recommend_rebalance(&ignored).unwrap();
    world.region.recommend_rebalance(&followed).unwrap();
    world.until("its Machine is deleted", || careful.is_deleting(&followed)).await;
    let events = world.events_on("careful");
    assert!(events.contains(&"RebalanceRecommended".to_owned()), "{events:?}");
    world.settles().await;
    careful.is_of(3);
    careless.is_of(2);
    assert!(careless.instances().contains(&ignored) && !careful.instances().contains(&followed));
    assert_eq!(world.messages(), (0, 0));
    // Again and again: one round in ten minutes.
    let (before, began) = (world.region.instances().len(), Instant::now());
    for _ in 0..30 {
        for id in careful.instances() {
            world.region.recommend_rebalance(&id).unwrap();
        }
        world.waits(Duration::from_mins(1)).await;
    }
    let rounds = usize::try_from(began.elapsed().as_secs() / 600).unwrap() + 1;
    let launched = world.region.instances().len().saturating_sub(before);
    assert!(launched <= 2 * rounds, "{launched} launches in {rounds} rounds");
    world.waits(Duration::from_mins(70)).await;
    world.settles().await;
    careful.is_of(3);
    assert_eq!(world.messages(), (0, 0), "what was not followed is too old now");
}

#[tokio::test(start_paused = true)]
async fn an_instance_that_will_be_retired_is_replaced() {
    let world = World::with_queue().await;
    let pool = world.pool("p").of(3).await;
    world.drains_take(Duration::from_secs(30));
    let victim = pool.instances()[2].clone();
    let detail = json!({
        "service": "EC2",
        "eventTypeCode": "AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED",
        "eventTypeCategory": "scheduledChange",
        "statusCode": "upcoming",
        "eventRegion": "eu-central-1",
        "affectedEntities": [{"entityValue": victim.as_str()}, {"entityValue": "i-00000000000000abc"}],
    });
    world.region.publish("aws.health", "AWS Health Event", Vec::new(), detail).unwrap();
    world.until("its Machine is deleted", || pool.is_deleting(&victim)).await;
    world.settles().await;
    pool.is_of(3);
    assert!(!pool.instances().contains(&victim));
    assert!(world.events_on("p").contains(&"InstanceRetirement".to_owned()), "{:?}", world.events_on("p"));
    assert_eq!(world.core.drains().len(), 1);
    // One of its instances is unknown here: it was shown to others until it was too old.
    assert!(world.counted(EventKind::Health, AnnouncementOutcome::Parked) >= 10);
    assert_eq!(world.messages(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_paused_pool_is_not_reconciled_and_its_messages_wait() {
    let world = World::with_queue().await;
    let pool = world.pool("p").with(spot).of(2).await;
    let annotation = foo_api::names::PAUSED_ANNOTATION.to_owned();
    pool.edits_object(|pool| {
        pool.metadata.annotations.get_or_insert_default().insert(annotation.clone(), String::new());
    });
    world.waits(Duration::from_secs(5)).await;
    let victim = pool.instances()[0].clone();
    world.interrupts(&victim);
    world.waits(Duration::from_secs(70)).await;
    assert!(!pool.is_deleting(&victim));
    assert!(world.messages().1 >= 1, "it is pending, and hidden again");
    pool.edits_object(|pool| {
        pool.metadata.annotations.get_or_insert_default().remove(&annotation);
    });
    world.takes("its Machine is deleted", AT_ONCE, || pool.is_deleting(&victim)).await;
    world.settles().await;
    pool.is_of(2);
    let left: Vec<FooMachine> = world.server.list(NS);
    assert_eq!(left.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_never_responds_is_polled_again() {
    let world = World::with_queue().await;
    let pool = world.pool("p").with(spot).of(1).await;
    let hangs = world.aws.add_fault(FaultRule::on("ReceiveMessage", Fault::Delay { millis: 3_600_000 }));
    world.waits(Duration::from_mins(1)).await;
    world.aws.remove_fault(hangs);
    // The question that was asked in the meantime is cancelled.
    world.waits(Duration::from_mins(3)).await;
    assert_eq!(world.metrics().tasks().stands_still(), None);
    let victim = pool.instances()[0].clone();
    world.interrupts(&victim);
    world.takes("its Machine is deleted", AT_ONCE, || pool.is_deleting(&victim)).await;
}

/// Whether a recommendation is older than the hour that it is worth is known only by AWS's clock.
#[tokio::test(start_paused = true)]
async fn a_recommendation_waits_until_the_clocks_of_the_manager_and_of_aws_agree() {
    for minutes in [-30, 30] {
        let mut world = World::with_queue().await;
        world.sets_the_clock_of_aws_ahead(minutes);
        let pool = world.pool("p").with(replacing).of(2).await;
        world.waits(Duration::from_mins(12)).await;
        let advised = pool.instances()[0].clone();
        world.region.recommend_rebalance(&advised).unwrap();
        world.waits(Duration::from_mins(10)).await;
        assert!(pool.instances().contains(&advised), "AWS's clock ahead by {minutes} min");
        assert!(!pool.is_deleting(&advised), "AWS's clock ahead by {minutes} min");
        world.sets_the_clock_of_aws_ahead(-minutes);
        let pool = world.pool("p");
        world.waits(Duration::from_mins(28)).await;
        assert!(!pool.instances().contains(&advised), "AWS's clock was ahead by {minutes} min");
        pool.is_of(2);
    }
}
