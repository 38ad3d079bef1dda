//! The API server refuses requests because of its load (API Priority and Fairness): the manager waits as long as it
//! is asked to, and the end is the same.

use crate::support::{MANAGER, NS, Pool, World};
use foo_apiserver_fake::{Ending, Fault, Requests, Verb};
use foo_controller::clock::KubernetesClock;
use foo_controller::leader::{Candidate, Settings, Timing};
use foo_model::{InstanceId, LifecycleState};
use prometheus_client::metrics::counter::Counter;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The client of the Lease in the API server's log.
const ELECTION: &str = "election";
/// What the API server asks to wait, in seconds.
const RETRY_AFTER: u32 = 5;

/// The manager's candidate, which leads: it has a client of its own.
async fn leader(world: &World) -> Candidate {
    let settings = Settings {
        namespace: NS.to_owned(),
        name: "lease".to_owned(),
        identity: MANAGER.to_owned(),
        timing: Timing {
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        },
    };
    let clock = KubernetesClock::with(Arc::new(foo_cloud::SystemClock::start()));
    let candidate = Candidate::start(world.server.client_as(ELECTION), settings, clock, Counter::default());
    world.until("it leads", || candidate.leadership().holds()).await;
    candidate
}

/// Of the requests of this client to the API server each nth is refused.
fn refuses_each(nth: u64, client: &str) -> Fault {
    Fault::too_many_requests(RETRY_AFTER).client(client).every(nth).always()
}

/// How many requests were sent before the time for which the API server had asked to wait was over.
fn sent_too_early(requests: &Requests) -> usize {
    let wait = Duration::from_secs(RETRY_AFTER.into());
    let mut refused: Option<Instant> = None;
    let mut early = 0;
    for request in requests {
        early += usize::from(refused.is_some_and(|at| request.at > at && request.at < at + wait));
        if request.ending == Ending::Responded(429) {
            refused = Some(request.at);
        }
    }
    early
}

fn is_being_drained(pool: &Pool<'_>, id: &InstanceId) -> bool {
    let group = pool.group();
    let member = group.as_ref().and_then(|group| group.members.get(id));
    member.is_some_and(|member| member.lifecycle == LifecycleState::TerminatingWait)
}

#[tokio::test(start_paused = true)]
async fn an_hour_in_which_each_third_request_is_refused_costs_no_lease_no_heartbeat_and_no_node() {
    let world = World::new().await;
    let pool = world.pool("p").of(4).await;
    world.drains_take(Duration::from_mins(50));
    let election = leader(&world).await;
    world.forgets();
    let refused = world.server.inject(refuses_each(3, MANAGER));
    world.server.inject(refuses_each(3, ELECTION));
    let victim = pool.instances()[0].clone();
    world.region.find_unhealthy(&victim).unwrap();
    pool.scales_to(6);
    world.waits(Duration::from_mins(45)).await;
    assert_eq!(pool.instances().len(), 6, "{}", world.summary());
    assert!(is_being_drained(&pool, &victim), "{}", world.summary());
    assert!(world.aws.calls("RecordLifecycleActionHeartbeat") >= 2);
    world.waits(Duration::from_mins(15)).await;
    assert!(election.leadership().holds(), "it renews the Lease");
    assert!(world.missing().is_empty(), "{:?}", world.missing());
    assert!(refused.struck() > 20, "{}", refused.struck());
    assert_eq!(sent_too_early(&world.requests()), 0);
    drop(election);
    world.server.heal();
    world.settles().await;
    pool.is_of(6);
}

#[tokio::test(start_paused = true)]
async fn a_pool_continues_within_two_minutes_after_an_hour_in_which_all_writes_were_refused() {
    let world = World::new().await;
    let pool = world.pool("p").of(1).await;
    let writes = Fault::too_many_requests(RETRY_AFTER).on_writes().client(MANAGER).always();
    let refused = world.server.inject(writes);
    pool.scales_to(3);
    world.waits_long(Duration::from_hours(1)).await;
    assert!(refused.struck() > 30, "{}", refused.struck());
    assert_eq!(pool.foo_machines().len(), 1, "nothing can be written");
    world.server.heal();
    world.waits(Duration::from_mins(2)).await;
    assert_eq!(pool.foo_machines().len(), 3, "{}", world.summary());
    world.settles().await;
    pool.is_of(3);
}

#[tokio::test(start_paused = true)]
async fn a_manager_that_starts_while_each_second_list_and_watch_is_refused_fills_its_caches() {
    let mut world = World::new().await;
    world.pool("p").of(2).await;
    world.kills_the_manager();
    world.forgets();
    world.server.inject(refuses_each(2, MANAGER).on(Verb::List).on(Verb::Watch));
    world.starts_the_manager();
    world.waits(Duration::from_mins(5)).await;
    assert!(world.missing().is_empty(), "{:?}", world.missing());
    assert_eq!(sent_too_early(&world.requests()), 0);
    let pool = world.pool("p");
    pool.scales_to(3);
    world.settles().await;
    pool.is_of(3);
}
