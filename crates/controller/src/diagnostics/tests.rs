//! Which responses of an API server give access, over real sockets where TLS matters.

use super::*;
use crate::admin::{Transport, health, served};
use crate::liveness::Liveness;
use crate::readiness::Readiness;
use crate::telemetry::LogFormat;
use crate::telemetry::tests::{log_level, logged, set_default};
use axum::body::Body as AxumBody;
use axum::http::{Request, Response};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, sleep};
use tower::{BoxError, ServiceExt as _};

/// An API server that knows the tokens `scraper` and `other`, and allows the first to get metrics.
fn reviewed(request: &Value) -> Value {
    let status = match request["kind"].as_str().unwrap() {
        "TokenReview" => match request["spec"]["token"].as_str().unwrap() {
            name @ ("scraper" | "other") => {
                json!({"authenticated": true, "user": {"username": name, "uid": "7", "groups": ["g"], "extra": {"k": ["v"]}}})
            }
            _ => json!({"authenticated": false, "error": "no such token"}),
        },
        "SubjectAccessReview" => {
            let spec = &request["spec"];
            let whole = (&spec["uid"], &spec["groups"], &spec["extra"])
                == (&json!("7"), &json!(["g"]), &json!({"k": ["v"]}));
            let metrics = spec["nonResourceAttributes"] == json!({"path": "/metrics", "verb": "get"});
            json!({"allowed": whole && spec["user"] == "scraper" && metrics})
        }
        kind => panic!("{kind}"),
    };
    json!({"apiVersion": request["apiVersion"], "kind": request["kind"], "spec": request["spec"], "status": status})
}

#[derive(Clone, Default)]
struct Asked(Arc<AtomicUsize>);

impl Asked {
    fn so_far(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Code and body of the response to a review.
type Respond = fn(&Value) -> (u16, Value);

/// A client of a server with these responses.
fn api_server(asked: Asked, response: Respond) -> Client {
    let response = move |request: Request<Body>| {
        asked.0.fetch_add(1, Ordering::SeqCst);
        async move {
            let body: Value = serde_json::from_slice(&request.into_body().collect_bytes().await?)?;
            let (code, response) = response(&body);
            let response =
                Response::builder().status(code).body(Body::from(response.to_string().into_bytes()))?;
            Ok::<_, BoxError>(response)
        }
    };
    Client::new(tower::service_fn(response), "default")
}

fn sensible(asked: &Asked) -> Client {
    api_server(asked.clone(), |request| (201, reviewed(request)))
}

fn without_response() -> Client {
    let never = |_: Request<Body>| std::future::pending::<Result<Response<Body>, BoxError>>();
    Client::new(tower::service_fn(never), "default")
}

fn pages(client: Client) -> Router {
    guarded(Metrics::new(), &Debug::default(), log_level(), Access::new(client, [7; 32]))
}

/// Status and text of a response.
async fn get(pages: &Router, path: &str, authorization: Option<&str>) -> (u16, String) {
    let mut request = Request::get(path);
    if let Some(authorization) = authorization {
        request = request.header("authorization", authorization);
    }
    let response = pages.clone().oneshot(request.body(AxumBody::empty()).unwrap()).await.unwrap();
    let status = response.status().as_u16();
    let text = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(text.to_vec()).unwrap())
}

#[tokio::test]
async fn only_tokens_with_the_permission_have_access() {
    let pages = pages(sensible(&Asked::default()));
    for (path, authorization, status) in [
        ("/metrics", None, 401),
        ("/metrics", Some("Basic c2NyYXBlcjo="), 401),
        ("/metrics", Some("Bearer"), 401),
        ("/metrics", Some("Bearer  "), 401),
        ("/metrics", Some("Bearer guess"), 401),
        ("/metrics", Some("Bearer other"), 403),
        ("/metrics", Some("Bearer scraper"), 200),
        ("/metrics", Some("bearer scraper"), 200),
        ("/metrics?x=y", Some("Bearer scraper"), 200),
        ("/debug/pools", None, 401),
        ("/debug/pools", Some("Bearer scraper"), 403),
        ("/debug/clusters", None, 401),
        ("/debug/control-planes", None, 401),
        ("/debug/node-configs", Some("Bearer scraper"), 403),
        ("/debug/identities", Some("Bearer scraper"), 403),
        ("/debug/other", Some("Bearer scraper"), 404),
    ] {
        let (seen, text) = get(&pages, path, authorization).await;
        assert_eq!(seen, status, "{path} {authorization:?}: {text}");
        assert_eq!(text.contains("foo_leader"), status == 200, "{path} {authorization:?}: {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_response_of_the_api_server_access_is_denied_in_time() {
    let pages = pages(without_response());
    let liveness = health(Readiness::default(), Liveness::default());
    let began = Instant::now();
    let (refused, alive) = tokio::join!(get(&pages, "/metrics", Some("Bearer scraper")), async {
        sleep(Duration::from_secs(5)).await;
        get(&liveness, "/livez", None).await
    });
    assert_eq!((refused.0, alive.0), (503, 200), "{refused:?} {alive:?}");
    assert_eq!(began.elapsed(), Duration::from_secs(10));
}

#[tokio::test]
async fn refused_and_garbled_reviews_deny_access() {
    let responses: [Respond; 5] = [
        |_| (403, json!({"kind": "Status", "status": "Failure", "code": 403, "reason": "Forbidden"})),
        |_| (500, json!("broken")),
        |_| (201, json!({"status": {"authenticated": "yes"}})),
        |_| (201, json!({"kind": "TokenReview"})),
        // The first review gets a response, the second does not.
        |request| {
            if request["kind"] == "TokenReview" {
                (201, reviewed(request))
            } else {
                (504, json!({"kind": "Status", "code": 504}))
            }
        },
    ];
    for (number, response) in responses.into_iter().enumerate() {
        let pages = pages(api_server(Asked::default(), response));
        let (status, text) = get(&pages, "/metrics", Some("Bearer scraper")).await;
        assert_eq!(status, 503, "{number}: {text}");
    }
    // Known, but without a user.
    let unauthenticated = pages(api_server(Asked::default(), |_| {
        (201, json!({"status": {"authenticated": true, "allowed": true, "user": {"username": ""}}}))
    }));
    assert_eq!(get(&unauthenticated, "/metrics", Some("Bearer scraper")).await.0, 401);
    // Both at once: a denial counts.
    let denied = pages(api_server(Asked::default(), |request| {
        if request["kind"] == "TokenReview" {
            (201, reviewed(request))
        } else {
            (201, json!({"status": {"allowed": true, "denied": true}}))
        }
    }));
    assert_eq!(get(&denied, "/metrics", Some("Bearer scraper")).await.0, 403);
}

#[tokio::test(start_paused = true)]
async fn verdicts_are_cached_for_a_minute_and_denials_for_ten_seconds() {
    let asked = Asked::default();
    let pages = pages(sensible(&asked));
    let scrape = async || get(&pages, "/metrics", Some("Bearer scraper")).await.0;
    assert_eq!((scrape().await, scrape().await, asked.so_far()), (200, 200, 2));
    sleep(Duration::from_secs(59)).await;
    assert_eq!((scrape().await, asked.so_far()), (200, 2));
    sleep(Duration::from_secs(1)).await;
    assert_eq!((scrape().await, asked.so_far()), (200, 4));
    let guess = async || get(&pages, "/metrics", Some("Bearer guess")).await.0;
    assert_eq!((guess().await, guess().await, asked.so_far()), (401, 401, 5));
    sleep(Duration::from_secs(10)).await;
    assert_eq!((guess().await, asked.so_far()), (401, 6));
    // What was allowed for one page is not for another.
    assert_eq!(get(&pages, "/debug/pools", Some("Bearer scraper")).await.0, 403);
    assert_eq!(get(&pages, "/debug/pools", Some("Bearer scraper")).await.0, 403);
    assert_eq!(asked.so_far(), 8);
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_guessed_tokens_does_not_evict_valid_ones() {
    let asked = Asked::default();
    let access = Access::new(sensible(&asked), [7; 32]);
    let pages = guarded(Metrics::new(), &Debug::default(), log_level(), access.clone());
    assert_eq!(get(&pages, "/metrics", Some("Bearer scraper")).await.0, 200);
    for number in 0..3000 {
        assert_eq!(get(&pages, "/metrics", Some(&format!("Bearer guess-{number}"))).await.0, 401);
    }
    assert_eq!(access.remembered(), 1024);
    let before = asked.so_far();
    assert_eq!((get(&pages, "/metrics", Some("Bearer scraper")).await.0, asked.so_far()), (200, before));
}

/// Whatever an API server responds with a token in it, and however much is logged.
#[tokio::test]
async fn tokens_are_never_logged() {
    let (written, _level, subscriber) = logged(LogFormat::Text, "trace");
    let _logging = set_default(subscriber);
    let responses: [Respond; 4] = [
        |request| {
            (
                403,
                json!({"kind": "Status", "code": 403, "reason": "Forbidden", "message": request.to_string()}),
            )
        },
        |request| (201, json!({"status": request.to_string()})),
        |request| (500, json!(request.to_string())),
        |request| (201, reviewed(request)),
    ];
    for response in responses {
        let pages = pages(api_server(Asked::default(), response));
        get(&pages, "/metrics", Some("Bearer very-secret-token")).await;
    }
    let text = written.text();
    assert!(
        text.contains("could not check who may read diagnostics; all requests are refused")
            && text.contains("403 Forbidden"),
        "{text}"
    );
    assert!(!text.contains("very-secret"), "{text}");
}

/// Status of a page at an address, by a client that verifies no certificate; none if there is no response.
async fn over_tls(address: SocketAddr, token: &str, authority: Option<&[u8]>) -> Option<u16> {
    let mut config = kube::Config::new(format!("https://{address}").parse().unwrap());
    config.accept_invalid_certs = authority.is_none();
    config.root_cert = authority.map(|der| vec![der.to_vec()]);
    config.auth_info.token = Some(token.to_owned().into());
    let client = Client::try_from(config).unwrap();
    let response = client.send(Request::get("/metrics").body(Body::empty()).unwrap()).await;
    response.ok().map(|response| response.status().as_u16())
}

#[tokio::test]
async fn diagnostics_are_served_over_tls_only() {
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    let certificate = Arc::new(Certificate::self_signed().unwrap());
    let address = served(pages(sensible(&Asked::default())), Transport::Tls(certificate)).await;
    assert_eq!(over_tls(address, "scraper", None).await, Some(200));
    assert_eq!(over_tls(address, "guess", None).await, Some(401));
    let mut plain = tokio::net::TcpStream::connect(address).await.unwrap();
    plain.write_all(b"GET /metrics HTTP/1.0\r\nauthorization: Bearer scraper\r\n\r\n").await.unwrap();
    let mut response = Vec::new();
    // It may be cut off as well.
    let _end = plain.read_to_end(&mut response).await;
    assert!(!response.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&response));
}

#[tokio::test]
async fn clients_without_a_handshake_block_others_briefly() {
    let certificate = Arc::new(Certificate::self_signed().unwrap());
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    let bounds =
        crate::admin::Bounds { connections: 1, header: Duration::from_millis(200), ..crate::admin::BOUNDS };
    let pages = pages(sensible(&Asked::default()));
    let address = crate::admin::served_within(pages, Transport::Tls(certificate), bounds).await;
    let _silent = tokio::net::TcpStream::connect(address).await.unwrap();
    let response = tokio::time::timeout(Duration::from_secs(20), over_tls(address, "scraper", None)).await;
    assert_eq!(response, Ok(Some(200)));
}

struct Issued {
    der: Vec<u8>,
}

/// Puts a new certificate into the files.
fn issue(files: &Files) -> Issued {
    let issued = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    std::fs::write(&files.certificate, issued.cert.pem()).unwrap();
    std::fs::write(&files.key, issued.signing_key.serialize_pem()).unwrap();
    Issued { der: issued.cert.der().to_vec() }
}

#[tokio::test]
async fn a_certificate_from_files_is_used_and_renewed_and_a_broken_one_is_not() {
    drop(rustls::crypto::aws_lc_rs::default_provider().install_default());
    let folder = tempfile::tempdir().unwrap();
    let files = Files { certificate: folder.path().join("tls.crt"), key: folder.path().join("tls.key") };
    assert!(Certificate::of_files(files.clone()).await.is_err(), "there is none");
    let first = issue(&files);
    let certificate = Arc::new(Certificate::of_files(files.clone()).await.unwrap());
    let address = served(pages(sensible(&Asked::default())), Transport::Tls(Arc::clone(&certificate))).await;
    assert_eq!(over_tls(address, "scraper", Some(&first.der)).await, Some(200));
    let second = issue(&files);
    assert_eq!(over_tls(address, "scraper", Some(&first.der)).await, Some(200), "not read yet");
    certificate.is_due_now();
    assert_eq!(over_tls(address, "scraper", Some(&second.der)).await, Some(200));
    assert_eq!(over_tls(address, "scraper", Some(&first.der)).await, None);
    std::fs::write(&files.key, rcgen::KeyPair::generate().unwrap().serialize_pem()).unwrap();
    certificate.is_due_now();
    assert_eq!(over_tls(address, "scraper", Some(&second.der)).await, Some(200), "of another certificate");
}

#[tokio::test]
async fn insecure_diagnostics_are_metrics_alone() {
    let pages = open(Metrics::new());
    assert_eq!(get(&pages, "/metrics", None).await.0, 200);
    assert_eq!(get(&pages, "/debug/pools", None).await.0, 404);
}
