//! The driver against an API server of one Lease, with paused time.

use super::*;
use crate::clock::{KubernetesClock, SystemClock};
use crate::readiness::Readiness;
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

/// One Lease, and the faults of its server.
#[derive(Clone, Default)]
struct Server(Arc<Mutex<Inside>>);

#[derive(Default)]
struct Inside {
    lease: Option<Value>,
    version: u64,
    fault: Fault,
    writes: u32,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Fault {
    #[default]
    None,
    /// No request gets a response.
    Hanging,
    /// Writes take effect, but get no response.
    ResponsesLost,
    /// Every request fails.
    Down,
    /// Every request is refused because of the API server's load.
    Overloaded,
}

impl Server {
    fn client(&self) -> Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let server = server.clone();
            async move { Ok::<_, Infallible>(server.respond(request).await) }
        });
        Client::new(service, "default")
    }

    async fn respond(&self, request: Request<Body>) -> Response<Body> {
        let fault = self.0.lock().unwrap().fault;
        if fault == Fault::Hanging {
            return std::future::pending().await;
        }
        if fault == Fault::Down {
            return status(StatusCode::INTERNAL_SERVER_ERROR);
        }
        if fault == Fault::Overloaded {
            return status(StatusCode::TOO_MANY_REQUESTS);
        }
        let method = request.method().clone();
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let respond = self.carry_out(&method, &body);
        if fault == Fault::ResponsesLost && method != Method::GET {
            return std::future::pending().await;
        }
        respond
    }

    fn carry_out(&self, method: &Method, body: &[u8]) -> Response<Body> {
        let mut inside = self.0.lock().unwrap();
        let version = |lease: &Option<Value>| {
            lease.as_ref().map(|lease| lease["metadata"]["resourceVersion"].clone()).unwrap_or_default()
        };
        match *method {
            Method::GET => match &inside.lease {
                Some(lease) => Response::new(Body::from(lease.to_string().into_bytes())),
                None => status(StatusCode::NOT_FOUND),
            },
            Method::POST | Method::PUT => {
                let mut lease: Value = serde_json::from_slice(body).unwrap();
                let based_on = lease["metadata"]["resourceVersion"].clone();
                if based_on != version(&inside.lease) {
                    return status(StatusCode::CONFLICT);
                }
                inside.version += 1;
                inside.writes += 1;
                lease["metadata"]["resourceVersion"] = json!(inside.version.to_string());
                inside.lease = Some(lease.clone());
                Response::new(Body::from(lease.to_string().into_bytes()))
            }
            _ => panic!("unexpected {method}"),
        }
    }

    fn holder(&self) -> String {
        let inside = self.0.lock().unwrap();
        inside
            .lease
            .as_ref()
            .and_then(|lease| lease["spec"]["holderIdentity"].as_str())
            .unwrap_or_default()
            .to_owned()
    }

    fn fault(&self, fault: Fault) {
        self.0.lock().unwrap().fault = fault;
    }
}

fn status(code: StatusCode) -> Response<Body> {
    let reason = match code {
        StatusCode::NOT_FOUND => "NotFound",
        StatusCode::CONFLICT => "Conflict",
        _ => "InternalError",
    };
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "code": code.as_u16(), "reason": reason, "message": "no",
    });
    Response::builder().status(code).body(Body::from(status.to_string().into_bytes())).unwrap()
}

fn candidate(server: &Server, identity: &str) -> Candidate {
    counting(server, identity, Counter::default())
}

fn counting(server: &Server, identity: &str, transitions: Counter) -> Candidate {
    let settings = Settings {
        namespace: "ns".into(),
        name: "lease".into(),
        identity: identity.into(),
        timing: Timing {
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        },
    };
    Candidate::start(
        server.client(),
        settings,
        KubernetesClock::with(Arc::new(SystemClock::start())),
        transitions,
    )
}

/// Waits for the candidate to lead, for a limited time.
async fn elected(candidate: &mut Candidate) -> Role {
    timeout(Duration::from_mins(5), candidate.elected()).await.expect("one is elected")
}

async fn seconds(n: u64) {
    tokio::time::sleep(Duration::from_secs(n)).await;
}

#[tokio::test(start_paused = true)]
async fn the_first_leads_and_renews_and_the_second_waits() {
    let server = Server::default();
    let mut first = candidate(&server, "first");
    assert_eq!(elected(&mut first).await, Role::Leading);
    let second = candidate(&server, "second");
    seconds(120).await;
    assert!(first.leadership().holds() && !second.leadership().holds());
    assert_eq!(*second.standing().borrow(), Role::Standby { holder: Some("first".into()) });
    assert!((50..70).contains(&server.0.lock().unwrap().writes));
}

#[tokio::test(start_paused = true)]
async fn a_release_hands_over_within_a_retry_period() {
    let server = Server::default();
    let mut first = candidate(&server, "first");
    elected(&mut first).await;
    let mut second = candidate(&server, "second");
    seconds(5).await;
    let released = Instant::now();
    first.release().await;
    assert_eq!(server.holder(), "");
    assert_eq!(elected(&mut second).await, Role::Leading);
    assert!(released.elapsed() <= Duration::from_secs(2), "{:?}", released.elapsed());
    assert_eq!(server.holder(), "second");
}

#[tokio::test(start_paused = true)]
async fn the_wait_for_a_created_lease_does_not_begin_again_with_another_candidate() {
    let server = Server::default();
    let created = Instant::now();
    let first = candidate(&server, "first");
    seconds(10).await;
    assert_eq!(server.holder(), "first", "it created the Lease");
    assert!(!first.leadership().holds());
    first.release().await;
    let mut second = candidate(&server, "second");
    assert_eq!(elected(&mut second).await, Role::Leading);
    let took = created.elapsed();
    assert!(took >= Duration::from_secs(15), "one may lead by a deleted Lease: {took:?}");
    assert!(took <= Duration::from_secs(17), "the wait does not begin again: {took:?}");
}

#[tokio::test(start_paused = true)]
async fn the_second_takes_over_from_one_that_vanished() {
    let server = Server::default();
    let mut first = candidate(&server, "first");
    elected(&mut first).await;
    let mut second = candidate(&server, "second");
    seconds(5).await;
    let vanished = Instant::now();
    drop(first);
    elected(&mut second).await;
    let took = vanished.elapsed();
    assert!(took >= Duration::from_secs(12) && took <= Duration::from_secs(18), "{took:?}");
    let lease = server.0.lock().unwrap().lease.clone().unwrap();
    assert_eq!(lease["spec"]["leaseTransitions"], json!(1));
}

#[tokio::test(start_paused = true)]
async fn a_leader_without_responses_stops_before_its_lease_expires() {
    for fault in [Fault::Hanging, Fault::Down, Fault::Overloaded, Fault::ResponsesLost] {
        let server = Server::default();
        let mut first = candidate(&server, "first");
        elected(&mut first).await;
        let leadership = first.leadership();
        seconds(60).await;
        server.fault(fault);
        let began = Instant::now();
        let lost = timeout(Duration::from_mins(5), first.lost()).await;
        assert_eq!(lost, Ok(Role::Lost));
        assert!(!leadership.holds());
        assert!(began.elapsed() <= Duration::from_secs(10), "{:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_short_outage_is_survived() {
    for fault in [Fault::Hanging, Fault::Down, Fault::Overloaded, Fault::ResponsesLost] {
        let server = Server::default();
        let mut first = candidate(&server, "first");
        elected(&mut first).await;
        server.fault(fault);
        seconds(4).await;
        server.fault(Fault::None);
        seconds(60).await;
        assert!(first.leadership().holds());
        assert_eq!(*first.standing().borrow(), Role::Leading);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deleted_lease_is_recreated_by_its_leader() {
    let server = Server::default();
    let mut first = candidate(&server, "first");
    elected(&mut first).await;
    server.0.lock().unwrap().lease = None;
    seconds(30).await;
    assert!(first.leadership().holds());
    assert_eq!(server.holder(), "first");
}

#[tokio::test(start_paused = true)]
async fn a_leader_whose_lease_has_another_holder_stops_with_its_next_renewal() {
    let server = Server::default();
    let mut first = candidate(&server, "first");
    elected(&mut first).await;
    {
        let mut inside = server.0.lock().unwrap();
        inside.version += 1;
        let version = json!(inside.version.to_string());
        let lease = inside.lease.as_mut().unwrap();
        lease["spec"]["holderIdentity"] = json!("other");
        lease["metadata"]["resourceVersion"] = version;
    }
    let began = Instant::now();
    assert_eq!(timeout(Duration::from_mins(5), first.lost()).await, Ok(Role::Lost));
    assert!(!first.leadership().holds());
    assert!(began.elapsed() <= Duration::from_secs(3), "{:?}", began.elapsed());
}

/// On real time: a paused clock cannot simulate a busy worker.
#[tokio::test]
async fn lists_that_keep_every_worker_busy_do_not_cost_the_lead() {
    let server = Server::default();
    server.0.lock().unwrap().lease = Some(json!({"metadata": {"resourceVersion": "0"}, "spec": {}}));
    let millis = Duration::from_millis;
    let settings = Settings {
        namespace: "ns".into(),
        name: "lease".into(),
        identity: "first".into(),
        timing: Timing {
            lease_duration: millis(1200),
            renew_deadline: millis(800),
            retry_period: millis(100),
        },
    };
    let client = move || Ok(server.client());
    let mut candidate = Candidate::start_apart(
        client,
        settings,
        KubernetesClock::with(Arc::new(SystemClock::start())),
        Counter::default(),
    )
    .await
    .unwrap();
    assert_eq!(elected(&mut candidate).await, Role::Leading);
    // The only worker of this runtime is blocked meanwhile.
    std::thread::sleep(millis(2500));
    assert!(candidate.leadership().holds());
    candidate.release().await;
}

#[tokio::test(start_paused = true)]
async fn changes_of_the_holder_are_counted_by_each_observer() {
    let server = Server::default();
    let (of_first, of_second) = (Counter::default(), Counter::default());
    let mut first = counting(&server, "first", of_first.clone());
    elected(&mut first).await;
    let mut second = counting(&server, "second", of_second.clone());
    seconds(60).await;
    assert_eq!((of_first.get(), of_second.get()), (0, 0));
    first.release().await;
    elected(&mut second).await;
    seconds(60).await;
    assert_eq!((of_first.get(), of_second.get()), (0, 1));
}

/// A standby whose driver does not run would never take over.
#[tokio::test(start_paused = true)]
async fn an_election_that_stands_still_is_noticed() {
    let server = Server::default();
    let mut first = candidate(&server, "first");
    elected(&mut first).await;
    let second = candidate(&server, "second");
    let seen = second.watchdog().downgrade();
    for fault in [Fault::None, Fault::Hanging, Fault::Down] {
        server.fault(fault);
        for _ in 0..100 {
            tokio::time::sleep(Duration::from_millis(700)).await;
            assert!(seen.overdue().unwrap() < Duration::from_millis(100), "{:?}", seen.overdue());
        }
    }
    second.task.abort();
    seconds(60).await;
    assert!(seen.overdue().unwrap() > Duration::from_secs(40));
}

/// A new process begins with the right time; until then no other replica waits for the lease duration.
#[tokio::test(start_paused = true)]
async fn a_manager_whose_machines_clock_was_set_back_finishes_its_passes_releases_the_lease_and_ends() {
    let server = Server::default();
    let mut first = candidate(&server, "first");
    elected(&mut first).await;
    let (leads, stop) = (first.leadership(), CancellationToken::new());
    let (led, led_to_the_end) = oneshot::channel();
    let mut controllers = tokio::task::JoinSet::new();
    let stopped = stop.clone();
    controllers.spawn(async move {
        stopped.cancelled().await;
        seconds(5).await;
        led.send(leads.holds()).unwrap();
    });
    let left_ahead = async {
        seconds(60).await;
        Duration::from_mins(30)
    };
    let began = Instant::now();
    let end = crate::run::work_until_the_end(controllers, Some(first), left_ahead, stop).await.unwrap();
    assert_eq!(end, crate::run::End::ClockSetBack);
    assert!(led_to_the_end.await.unwrap(), "a pass under way ends before the Lease is released");
    assert_eq!(server.holder(), "");
    let mut second = candidate(&server, "second");
    elected(&mut second).await;
    assert!(began.elapsed() < Duration::from_secs(75), "{:?}", began.elapsed());
}

/// It does not wait for the Lease first: as the leader it would begin with a wrong time.
#[tokio::test(start_paused = true)]
async fn a_standby_whose_machines_clock_was_set_back_ends_and_leaves_the_lease() {
    let server = Server::default();
    let mut first = candidate(&server, "first");
    elected(&mut first).await;
    let mut second = candidate(&server, "second");
    let left_ahead = async {
        seconds(60).await;
        Duration::from_mins(30)
    };
    let (readiness, stop) = (Readiness::default(), CancellationToken::new());
    let waited = crate::run::wait_until_elected(&mut second, &readiness, left_ahead, &stop);
    let end = timeout(Duration::from_mins(2), waited).await.expect("it does not wait for the Lease");
    assert_eq!(end, Some(crate::run::End::ClockSetBack));
    second.release().await;
    assert_eq!(server.holder(), "first");
    assert!(first.leadership().holds());
}
