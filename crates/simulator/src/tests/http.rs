//! Over TCP: the endpoint, dropped connections, the control API.

use super::scene::REGION;
use crate::{Fault, FaultRule, Handle, SimulatorConfig};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Sends a request on a connection of its own and returns all that comes back.
async fn send(aws: &Handle, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(aws.address()).await.expect("it listens");
    let request = format!(
        "{head} HTTP/1.1\r\nHost: sim\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut response = Vec::new();
    // A connection that is dropped may end in a reset instead of an end.
    let _ = stream.read_to_end(&mut response).await;
    String::from_utf8(response).expect("text")
}

async fn call(aws: &Handle, action: &str) -> String {
    call_of(aws, "autoscaling", action).await
}

async fn ec2(aws: &Handle, action: &str) -> String {
    call_of(aws, "ec2", action).await
}

async fn call_of(aws: &Handle, service: &str, action: &str) -> String {
    let mut stream = TcpStream::connect(aws.address()).await.expect("it listens");
    let body = format!("Action={action}&Version=2011-01-01");
    let request = format!(
        "POST / HTTP/1.1\r\nHost: sim\r\nConnection: close\r\nContent-Length: {}\r\nAuthorization: AWS4-HMAC-SHA256 \
         Credential=AKID/20260101/{REGION}/{service}/aws4_request, SignedHeaders=host, Signature=0\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response).await;
    String::from_utf8(response).expect("text")
}

async fn control(aws: &Handle, method: &str, path: &str, body: Value) -> (bool, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let response = send(aws, &format!("{method} /_sim/{path}"), &body).await;
    let (head, body) = response.split_once("\r\n\r\n").expect("a response");
    (head.starts_with("HTTP/1.1 200"), serde_json::from_str(body).expect("JSON"))
}

async fn start() -> Handle {
    Handle::start(SimulatorConfig::stepped()).await.expect("a free port")
}

#[tokio::test]
async fn the_endpoint_responds_until_the_handle_is_dropped() {
    let aws = start().await;
    let response = call(&aws, "DescribeAutoScalingGroups").await;
    assert!(
        response.starts_with("HTTP/1.1 200 OK\r\n") && response.contains("content-type: text/xml"),
        "{response}"
    );
    assert!(response.contains("x-amzn-requestid: "), "{response}");
    let response = send(&aws, "GET /?Action=DescribeTags&Version=2011-01-01", "").await;
    assert!(
        response.starts_with("HTTP/1.1 403") && response.contains("MissingAuthenticationToken"),
        "{response}"
    );
    let address = aws.address();
    drop(aws);
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn the_page_is_there_and_asks_for_nothing_from_elsewhere() {
    let aws = start().await;
    let page = send(&aws, "GET /", "").await;
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("text/html"), "{page}");
    for asset in ["app.js", "style.css"] {
        assert!(page.contains(&format!("/_sim/page/{asset}")));
        let response = send(&aws, &format!("GET /_sim/page/{asset}"), "").await;
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
        let elsewhere = response.replace("http://www.w3.org/2000/svg", "");
        assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://"), "{asset}");
    }
    let (ok, all) = control(&aws, "GET", "page", Value::Null).await;
    assert!(ok && all["regions"][REGION].is_array(), "{all}");
    assert!(!control(&aws, "GET", "page/eu-central-1/missing", Value::Null).await.0);
}

#[tokio::test]
async fn a_dropped_connection_gives_no_byte() {
    let aws = start().await;
    aws.add_fault(FaultRule::on("DescribeAutoScalingGroups", Fault::DroppedAfter).times(1));
    aws.add_fault(FaultRule::on("DescribeTags", Fault::DroppedBefore).times(1));
    assert_eq!(call(&aws, "DescribeAutoScalingGroups").await, "");
    assert_eq!(call(&aws, "DescribeTags").await, "");
    assert!(call(&aws, "DescribeTags").await.starts_with("HTTP/1.1 200"));
    assert_eq!(aws.total_calls(), 3);
}

#[tokio::test]
async fn the_control_api_does_what_the_handle_does() {
    let aws = start().await;
    let null = Value::Null;
    assert!(control(&aws, "GET", "health", null.clone()).await.0);
    let (_, clock) = control(&aws, "POST", "clock", json!({"step_seconds": 90.5})).await;
    assert_eq!(clock["now"], json!(crate::STEPPED_START.0 + 90_500));
    let (_, clock) = control(&aws, "POST", "clock", json!({"factor": 10})).await;
    assert_eq!(clock["pace"], json!({"mode": "scaled", "factor": 10.0}));
    control(&aws, "POST", "clock", json!({"stepped": true})).await;
    let rule = json!({"service": "autoscaling", "action": "DescribeTags", "times": 1, "fault": {"kind": "throttled"}});
    let (_, added) = control(&aws, "POST", "faults", rule).await;
    assert_eq!(added, json!({"number": 1}));
    assert!(call(&aws, "DescribeTags").await.contains("<Code>Throttling</Code>"));
    let (_, calls) = control(&aws, "GET", "calls", null.clone()).await;
    assert_eq!(
        (&calls["total"], &calls["counts"]["autoscaling:DescribeTags"]["failures"]),
        (&json!(1), &json!(1))
    );
    control(&aws, "DELETE", "calls", null.clone()).await;
    assert_eq!(aws.total_calls(), 0);
    let capacity = json!({"zone": "eu-central-1a", "instance_type": "m7i.large", "limit": 0});
    assert!(control(&aws, "PUT", "regions/eu-central-1/capacity", capacity).await.0);
    let nonsense = json!({"zone": "mars", "instance_type": "m7i.large", "limit": 0});
    assert!(!control(&aws, "PUT", "regions/eu-central-1/capacity", nonsense).await.0);
    let image = "regions/eu-central-1/images/ami-0a000000000000001";
    assert!(control(&aws, "PATCH", image, json!({"boots": "Fails"})).await.0);
    assert!(control(&aws, "PATCH", "regions/eu-central-1/settings", json!({"spread_percent": 0})).await.0);
    assert_eq!(aws.region(REGION).settings().spread_percent, 0);
    let (_, state) = control(&aws, "GET", "state", null.clone()).await;
    assert_eq!(state["regions"]["eu-central-1"]["capacity_limits"][0]["limit"], json!(0));
    assert_eq!(state["regions"]["eu-central-1"]["images"]["ami-0a000000000000001"]["boots"], json!("Fails"));
    let (ok, refusal) = control(&aws, "GET", "nothing", null).await;
    assert!(!ok && refusal["error"].as_str().is_some_and(|text| text.contains("/_sim/nothing")));
}

#[tokio::test]
async fn the_control_api_creates_volumes_as_a_driver_would() {
    let (aws, null) = (start().await, Value::Null);
    let volumes = "regions/eu-central-1/volumes";
    let tags = json!({"kubernetes.io/cluster/main": "owned"});
    let (ok, volume) = control(&aws, "POST", volumes, json!({"size_gib": 10, "tags": tags})).await;
    assert!(ok, "{volume}");
    let id = volume["id"].as_str().expect("an id").to_owned();
    assert!(ec2(&aws, "DescribeVolumes").await.contains(&format!("<volumeId>{id}</volumeId>")));
    let on_nothing = json!({"size_gib": 10, "instance": "i-0123456789abcdef0"});
    assert!(!control(&aws, "POST", volumes, on_nothing).await.0);
    assert!(control(&aws, "DELETE", &format!("{volumes}/{id}"), null.clone()).await.0);
    assert!(!ec2(&aws, "DescribeVolumes").await.contains(&id));
    assert!(!control(&aws, "DELETE", &format!("{volumes}/{id}"), null).await.0);
}

/// Sends a call and returns what came of it: what could be read, and how the reading ended.
async fn raw_call(aws: &Handle, action: &str) -> (String, Result<(), std::io::ErrorKind>) {
    let mut stream = TcpStream::connect(aws.address()).await.expect("it listens");
    let body = format!("Action={action}&Version=2011-01-01");
    let request = format!(
        "POST / HTTP/1.1\r\nHost: sim\r\nContent-Length: {}\r\nAuthorization: AWS4-HMAC-SHA256 \
         Credential=AKID/20260101/{REGION}/autoscaling/aws4_request, SignedHeaders=host, Signature=0\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut response = Vec::new();
    let ended = stream.read_to_end(&mut response).await;
    (String::from_utf8(response).expect("text"), ended.map(|_| ()).map_err(|error| error.kind()))
}

/// A dropped call is a reset (RST) on the wire, not an orderly end, whether it was carried out or not.
#[tokio::test]
async fn a_dropped_call_resets_the_connection() {
    let aws = start().await;
    for fault in [Fault::DroppedBefore, Fault::DroppedAfter] {
        aws.add_fault(FaultRule::on("DescribeTags", fault).times(1));
        let (response, ended) = raw_call(&aws, "DescribeTags").await;
        assert_eq!((response.as_str(), ended), ("", Err(std::io::ErrorKind::ConnectionReset)));
    }
}

/// A truncated response announces more than it holds.
#[tokio::test]
async fn a_truncated_response_ends_in_the_middle() {
    let aws = start().await;
    aws.add_fault(FaultRule::on("DescribeTags", Fault::Truncated).times(1));
    let (response, ended) = raw_call(&aws, "DescribeTags").await;
    assert_eq!(ended, Ok(()));
    let (head, body) = response.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let announced = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    let announced: usize = announced.parse().expect("a number");
    assert_eq!(body.len(), announced / 2);
    assert_eq!(aws.recent_calls().last().map(|call| call.outcome.clone()).as_deref(), Some("Truncated"));
}

/// A hanging call gets no response, while others do.
#[tokio::test]
async fn a_hanging_call_blocks_no_other() {
    let aws = start().await;
    aws.add_fault(FaultRule::on("DescribeTags", Fault::Hang).times(1));
    let hanging = tokio::time::timeout(std::time::Duration::from_millis(200), raw_call(&aws, "DescribeTags"));
    let (hung, other) = tokio::join!(hanging, call(&aws, "DescribeAutoScalingGroups"));
    assert!(hung.is_err());
    assert!(other.starts_with("HTTP/1.1 200"), "{other}");
}

#[tokio::test]
async fn snapshots_bring_everything_back() {
    let aws = start().await;
    let null = Value::Null;
    let scene = super::scene::Scene { sim: aws.simulator().clone(), region: aws.region(REGION) };
    scene.settled_pool((0, 2, 4));
    aws.add_fault(FaultRule::on("Nothing", Fault::Hang));
    call(&aws, "DescribeTags").await;
    assert!(control(&aws, "POST", "snapshots/settled", null.clone()).await.0);
    let before = (aws.state(), aws.faults(), aws.call_counts());
    scene.set_desired(4).expect("in range");
    scene.wait(100);
    aws.clear_faults();
    aws.reset_calls();
    assert_ne!(before.0, aws.state());
    assert!(control(&aws, "POST", "snapshots/settled/restore", null.clone()).await.0);
    assert_eq!(before, (aws.state(), aws.faults(), aws.call_counts()));
    // What happens after a snapshot happens the same way each time.
    let futures: Vec<Value> = (0..2)
        .map(|_| {
            aws.restore_snapshot("settled").expect("taken");
            scene.set_desired(4).expect("in range");
            scene.wait(100);
            aws.state()
        })
        .collect();
    assert_eq!(futures.first(), futures.last());
    let (_, names) = control(&aws, "GET", "snapshots", null.clone()).await;
    assert_eq!(names, json!(["settled"]));
    assert!(control(&aws, "DELETE", "snapshots/settled", null.clone()).await.0);
    assert!(!control(&aws, "POST", "snapshots/settled/restore", null).await.0);
}

#[tokio::test]
async fn calls_are_counted_by_caller_too() {
    let aws = start().await;
    call(&aws, "DescribeTags").await;
    call(&aws, "DescribeTags").await;
    let (_, calls) = control(&aws, "GET", "calls", Value::Null).await;
    assert_eq!(calls["callers"]["AKID"]["autoscaling:DescribeTags"]["calls"], json!(2));
    control(&aws, "DELETE", "calls", Value::Null).await;
    assert!(aws.call_counts_by_caller().is_empty());
}

/// "without any known key everything signed is accepted; with one, signatures are verified", each service with its
/// own codes (EC2 API Reference, "Error codes"; Auto Scaling API Reference, "Common errors").
#[tokio::test]
async fn known_keys_make_signatures_count() {
    let aws = start().await;
    let key = json!({"id": "AKID", "secret": "geheim"});
    assert!(control(&aws, "PUT", "keys", key).await.0);
    let (_, keys) = control(&aws, "GET", "keys", Value::Null).await;
    assert_eq!(keys, json!([{"id": "AKID"}]));
    let ask = async |key: &str, service: &str, headers: &str| {
        let head = format!(
            "POST / HTTP/1.1\r\nAuthorization: AWS4-HMAC-SHA256 Credential={key}/20260101/{REGION}/{service}/aws4_request, \
             SignedHeaders=host, Signature=0{headers}"
        );
        let head = head.replacen(" HTTP/1.1", "", 1);
        let (line, rest) = head.split_once("\r\n").expect("a line");
        let response =
            send(&aws, &format!("{line}?Action=DescribeTags HTTP/1.1\r\n{rest}\r\nX-Rest:"), "").await;
        let status = response.get(9..12).expect("a status").to_owned();
        let code = response.split("<Code>").nth(1).and_then(|rest| rest.split('<').next()).unwrap_or("none");
        (status, code.to_owned())
    };
    let is = |status: &str, code: &str| (status.to_owned(), code.to_owned());
    assert_eq!(ask("OTHER", "autoscaling", "").await, is("403", "InvalidClientTokenId"));
    assert_eq!(ask("OTHER", "ec2", "").await, is("401", "AuthFailure"));
    assert_eq!(ask("AKID", "autoscaling", "").await, is("400", "IncompleteSignature"));
    let old = "\r\nX-Amz-Date: 20000101T000000Z";
    assert_eq!(ask("AKID", "autoscaling", old).await, is("403", "SignatureDoesNotMatch"));
    assert_eq!(ask("AKID", "ec2", old).await, is("400", "RequestExpired"));
    assert!(control(&aws, "DELETE", "keys/AKID", Value::Null).await.0);
    assert_eq!(ask("OTHER", "autoscaling", "").await, is("200", "none"));
    assert!(!control(&aws, "DELETE", "keys/AKID", Value::Null).await.0);
}
