//! The server as core meets it: over TLS, on loopback.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use foo_runtime_sdk::hooks::{BeforeClusterCreate, FailurePolicy, path};
use foo_runtime_sdk::metrics::CallOutcome;
use foo_runtime_sdk::server::{BODY_LIMIT, CERTIFICATE_PERIOD, ROOM};
use foo_runtime_sdk::{Decision, Extension, Handler};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use support::{Authority, Running, post};
use tokio::sync::{Notify, Semaphore};

fn proceed() -> Extension {
    Extension::new([Handler::new(BeforeClusterCreate, "quota", |_request| async { Ok(Decision::Proceed) })])
        .unwrap()
}

fn quota() -> String {
    path("BeforeClusterCreate", Some("quota"))
}

fn create() -> Vec<u8> {
    json!({"cluster": {"metadata": {"name": "c", "namespace": "n"}}}).to_string().into_bytes()
}

#[tokio::test]
async fn core_discovers_and_calls() {
    let authority = Authority::new();
    let running = Running::start(proceed(), &authority, None).await;
    let (status, body) = post(&running, &authority, &path("Discovery", None), b"{}".to_vec()).await.unwrap();
    assert_eq!((status, &body["handlers"][0]["name"]), (200, &json!("quota")));
    let address = format!("{}?timeout=10s", quota());
    let (status, body) = post(&running, &authority, &address, create()).await.unwrap();
    assert_eq!(status, 200);
    assert_eq!(
        body,
        json!({
            "kind": "BeforeClusterCreateResponse",
            "apiVersion": "hooks.runtime.cluster.x-k8s.io/v1alpha1",
            "status": "Success",
            "retryAfterSeconds": 0,
        })
    );
    assert_eq!(running.metrics.calls("BeforeClusterCreate", CallOutcome::Success), 1);
    running.stop().await;
}

#[tokio::test]
async fn malformed_requests_never_reach_a_handler() {
    let authority = Authority::new();
    let running = Running::start(proceed(), &authority, None).await;
    let (status, _body) = post(&running, &authority, "/elsewhere", create()).await.unwrap();
    assert_eq!(status, 404);
    let (status, body) = post(&running, &authority, &quota(), b"{".to_vec()).await.unwrap();
    assert_eq!((status, &body["status"]), (200, &json!("Failure")));
    assert_eq!(body["message"], "the request is no BeforeClusterCreateRequest: EOF while parsing an object");
    assert_eq!(running.metrics.calls("BeforeClusterCreate", CallOutcome::Failure), 1);
    running.stop().await;
}

#[tokio::test]
async fn a_body_over_the_bound_is_refused_and_the_server_continues() {
    let authority = Authority::new();
    let running = Running::start(proceed(), &authority, None).await;
    // The response may come before all is sent: then the client sees a broken connection instead.
    if let Ok((status, _body)) = post(&running, &authority, &quota(), vec![b' '; BODY_LIMIT + 1]).await {
        assert_eq!(status, 413);
    }
    assert_eq!(running.metrics.calls("BeforeClusterCreate", CallOutcome::Refused), 1);
    let (status, _body) = post(&running, &authority, &quota(), create()).await.unwrap();
    assert_eq!(status, 200);
    running.stop().await;
}

#[tokio::test]
async fn a_renewed_certificate_is_used_without_a_restart() {
    let (before, after) = (Authority::new(), Authority::new());
    let running = Running::start(proceed(), &before, None).await;
    assert!(post(&running, &after, &quota(), create()).await.is_err(), "signed by another authority");
    // The files change one after the other: a pair that does not fit is not used.
    running.write_certificate(&after);
    tokio::time::sleep(CERTIFICATE_PERIOD + Duration::from_secs(1)).await;
    post(&running, &before, &quota(), create()).await.expect("the old pair is still in use");
    running.write_key(&after);
    tokio::time::sleep(CERTIFICATE_PERIOD + Duration::from_secs(1)).await;
    post(&running, &after, &quota(), create()).await.expect("the new pair is in use");
    running.stop().await;
}

#[tokio::test]
async fn with_client_authorities_a_client_needs_a_certificate() {
    let authority = Authority::new();
    let clients = Authority::new();
    let running = Running::start(proceed(), &authority, Some(&clients)).await;
    assert!(post(&running, &authority, &quota(), create()).await.is_err());
    let known = authority.with_client(&clients);
    let (status, _body) = post(&running, &known, &quota(), create()).await.unwrap();
    assert_eq!(status, 200);
    running.stop().await;
}

#[tokio::test]
async fn a_shutdown_completes_calls_in_progress_and_accepts_none() {
    let (begun, proceed) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let handler = {
        let (begun, proceed) = (Arc::clone(&begun), Arc::clone(&proceed));
        Handler::new(BeforeClusterCreate, "quota", move |_request| {
            let (begun, proceed) = (Arc::clone(&begun), Arc::clone(&proceed));
            async move {
                begun.notify_one();
                proceed.notified().await;
                Ok(Decision::Proceed)
            }
        })
    };
    let authority = Authority::new();
    let running = Running::start(Extension::new([handler]).unwrap(), &authority, None).await;
    assert_eq!(running.probe("/readyz").await, 200);
    let quota = quota();
    let call = post(&running, &authority, &quota, create());
    let ending = async {
        begun.notified().await;
        running.begin_to_stop();
        while running.probe("/readyz").await == 200 {
            tokio::task::yield_now().await;
        }
        assert!(post(&running, &authority, &quota, create()).await.is_err(), "nothing new is taken");
        proceed.notify_one();
    };
    let (response, ()) = tokio::join!(call, ending);
    assert_eq!(response.unwrap().0, 200);
    running.stop().await;
}

#[tokio::test]
async fn two_hundred_concurrent_calls_get_responses() {
    let authority = Authority::new();
    let running = Running::start(proceed(), &authority, None).await;
    let quota = quota();
    let calls = (0..200).map(|_| post(&running, &authority, &quota, create()));
    for response in futures::future::join_all(calls).await {
        assert_eq!(response.unwrap().0, 200);
    }
    assert_eq!(running.metrics.calls("BeforeClusterCreate", CallOutcome::Success), 200);
    running.stop().await;
}

/// Three bodies of 8 MiB are all there is room for. A fourth is not read, gets a response after half of its time, and
/// core calls again.
#[tokio::test]
async fn calls_without_room_wait_and_get_a_response() {
    let begun = Arc::new(Semaphore::new(0));
    let proceed = Arc::new(Semaphore::new(0));
    let handler = |name: &str, seconds, policy| {
        let (begun, proceed) = (Arc::clone(&begun), Arc::clone(&proceed));
        let function = move |_request| {
            let (begun, proceed) = (Arc::clone(&begun), Arc::clone(&proceed));
            async move {
                begun.add_permits(1);
                proceed.acquire().await.unwrap().forget();
                Ok(Decision::Proceed)
            }
        };
        Handler::new(BeforeClusterCreate, name, function).timeout_seconds(seconds).failure_policy(policy)
    };
    let handlers = [
        handler("patient", 30, FailurePolicy::Fail),
        handler("quota", 1, FailurePolicy::Fail),
        handler("optional", 1, FailurePolicy::Ignore),
    ];
    let authority = Authority::new();
    let running = Running::start(Extension::new(handlers).unwrap(), &authority, None).await;
    let mut large = create();
    large.resize(ROOM / 3, b' ');
    let call = async |name: &str| {
        let path = path("BeforeClusterCreate", Some(name));
        post(&running, &authority, &path, large.clone()).await.unwrap()
    };
    let full = async {
        begun.acquire_many(3).await.unwrap().forget();
        let (status, body) = call("quota").await;
        assert_eq!((status, &body["status"]), (200, &json!("Failure")));
        let why = "handler quota did not get its turn in time: too many calls at the same time";
        assert_eq!(body["message"], why);
        assert_eq!(call("optional").await.0, 503, "who asked to be ignored is");
        assert_eq!(begun.available_permits(), 0, "neither reached a handler");
        proceed.add_permits(4);
    };
    let (first, second, third, ()) = tokio::join!(call("patient"), call("patient"), call("patient"), full);
    for (status, body) in [first, second, third, call("quota").await] {
        assert_eq!((status, &body["status"]), (200, &json!("Success")));
    }
    assert_eq!(running.metrics.calls("BeforeClusterCreate", CallOutcome::Busy), 2);
    assert_eq!(running.metrics.calls("BeforeClusterCreate", CallOutcome::Success), 4);
    running.stop().await;
}
