//! Queues over the wire, and events that reach them.

use super::scene::{REGION, Scene, scene};
use crate::core::sqs::Receive;
use crate::core::sqs::delivery::EventRule;
use crate::wire::sigv4::SignedRequest;
use crate::wire::{WireResponse, json};
use crate::{Probability, Simulator};
use foo_model::Timestamp;
use http::{HeaderMap, HeaderValue, Method};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

async fn raw(sim: &Simulator, action: &str, body: &[u8]) -> (u16, Value) {
    let mut headers = HeaderMap::new();
    let authorization = format!("AWS4-HMAC-SHA256 Credential=AKID/20260101/{REGION}/sqs/aws4_request");
    headers.insert("authorization", HeaderValue::from_str(&authorization).expect("a header"));
    headers.insert("host", HeaderValue::from_static("sim:4566"));
    let request = SignedRequest {
        method: &Method::POST,
        path: "/",
        query: "",
        headers: &headers,
        body,
        received: Timestamp(0),
    };
    match json::respond(&sim.world, request, &format!("AmazonSQS.{action}")).await {
        WireResponse::Json { status, body, .. } => (status, serde_json::from_str(&body).expect("JSON")),
        other => panic!("{other:?}"),
    }
}

async fn ask(sim: &Simulator, action: &str, body: Value) -> Value {
    let (status, response) = raw(sim, action, body.to_string().as_bytes()).await;
    assert_eq!(status, 200, "{action} {response}");
    response
}

async fn refused(sim: &Simulator, action: &str, body: Value) -> String {
    let (status, response) = raw(sim, action, body.to_string().as_bytes()).await;
    assert!((400..500).contains(&status), "{action} {response}");
    response["__type"].as_str().and_then(|kind| kind.split('#').nth(1)).expect("a code").to_owned()
}

const URL: &str = "http://sim:4566/123456789012/events";

async fn with_queue(attributes: Value) -> Scene {
    let scene = scene();
    let made = ask(&scene.sim, "CreateQueue", json!({"QueueName": "events", "Attributes": attributes})).await;
    assert_eq!(made, json!({"QueueUrl": URL}));
    scene
}

/// SQS Developer Guide, "Visibility timeout": a received message is hidden, comes back, and each receipt has its own handle.
#[tokio::test]
async fn a_message_that_is_not_deleted_comes_back() {
    let scene = with_queue(json!({})).await;
    let sim = &scene.sim;
    let sent = ask(sim, "SendMessage", json!({"QueueUrl": URL, "MessageBody": "hello"})).await;
    assert_eq!(sent["MD5OfMessageBody"], json!("5d41402abc4b2a76b9719d911017c592"));
    let receive = json!({"QueueUrl": URL, "MaxNumberOfMessages": 10, "AttributeNames": ["All"]});
    let first = ask(sim, "ReceiveMessage", receive.clone()).await;
    assert_eq!(first["Messages"][0]["Attributes"]["ApproximateReceiveCount"], json!("1"));
    assert_eq!(ask(sim, "ReceiveMessage", receive.clone()).await, json!({}));
    scene.wait(30);
    let second = ask(sim, "ReceiveMessage", receive.clone()).await;
    assert_eq!(second["Messages"][0]["Attributes"]["ApproximateReceiveCount"], json!("2"));
    assert_eq!(first["Messages"][0]["MessageId"], second["Messages"][0]["MessageId"]);
    // "you must use the most recent receipt handle": the older one deletes nothing.
    let delete =
        |from: &Value| json!({"QueueUrl": URL, "ReceiptHandle": from["Messages"][0]["ReceiptHandle"]});
    ask(sim, "DeleteMessage", delete(&first)).await;
    let wanted = json!({"QueueUrl": URL, "AttributeNames": ["ApproximateNumberOfMessagesNotVisible"]});
    let shown = ask(sim, "GetQueueAttributes", wanted).await;
    assert_eq!(shown, json!({"Attributes": {"ApproximateNumberOfMessagesNotVisible": "1"}}));
    let mut hide = delete(&second);
    hide["VisibilityTimeout"] = json!(0);
    ask(sim, "ChangeMessageVisibility", hide).await;
    let third = ask(sim, "ReceiveMessage", receive.clone()).await;
    let entries = json!([{"Id": "a", "ReceiptHandle": third["Messages"][0]["ReceiptHandle"]},
        {"Id": "b", "ReceiptHandle": "nonsense"}]);
    let batch = ask(sim, "DeleteMessageBatch", json!({"QueueUrl": URL, "Entries": entries})).await;
    assert_eq!(batch["Successful"], json!([{"Id": "a"}]));
    assert_eq!(batch["Failed"][0]["Code"], json!("ReceiptHandleIsInvalid"));
    scene.wait(60);
    assert_eq!(ask(sim, "ReceiveMessage", receive).await, json!({}));
}

/// SQS Developer Guide, "Dead-letter queues": after maxReceiveCount receipts a message goes aside.
#[tokio::test]
async fn a_message_that_no_consumer_handles_goes_to_the_dead_letter_queue() {
    let scene = scene();
    let sim = &scene.sim;
    ask(sim, "CreateQueue", json!({"QueueName": "dead"})).await;
    let redrive =
        json!({"deadLetterTargetArn": "arn:aws:sqs:eu-central-1:123456789012:dead", "maxReceiveCount": 2});
    let attributes = json!({"RedrivePolicy": redrive.to_string(), "VisibilityTimeout": "5"});
    ask(sim, "CreateQueue", json!({"QueueName": "events", "Attributes": attributes})).await;
    ask(sim, "SendMessage", json!({"QueueUrl": URL, "MessageBody": "poison"})).await;
    for expected in [1, 1, 0] {
        let got = ask(sim, "ReceiveMessage", json!({"QueueUrl": URL})).await;
        assert_eq!(got["Messages"].as_array().map_or(0, Vec::len), expected);
        scene.wait(5);
    }
    let got = ask(sim, "ReceiveMessage", json!({"QueueUrl": "dead"})).await;
    assert_eq!(got["Messages"][0]["Body"], json!("poison"));
}

/// SQS API Reference, ReceiveMessage, WaitTimeSeconds: a call without messages waits, in virtual time.
#[tokio::test]
async fn a_long_poll_ends_with_the_first_message_or_its_time() {
    let scene = with_queue(json!({"ReceiveMessageWaitTimeSeconds": "20"})).await;
    let sim = &scene.sim;
    let send = async {
        tokio::time::sleep(Duration::from_millis(60)).await;
        ask(sim, "SendMessage", json!({"QueueUrl": URL, "MessageBody": "late"})).await
    };
    let (got, _) = tokio::join!(ask(sim, "ReceiveMessage", json!({"QueueUrl": URL})), send);
    assert_eq!(got["Messages"][0]["Body"], json!("late"));
    let pass = async {
        tokio::time::sleep(Duration::from_millis(60)).await;
        scene.wait(20);
    };
    let (got, ()) = tokio::join!(ask(sim, "ReceiveMessage", json!({"QueueUrl": URL})), pass);
    assert_eq!(got, json!({}));
}

/// The codes of the SQS API Reference.
#[tokio::test]
async fn bad_requests_have_sqss_codes() {
    let scene = with_queue(json!({})).await;
    let sim = &scene.sim;
    let same_name = json!({"QueueName": "events", "Attributes": {"DelaySeconds": "9"}});
    assert_eq!(refused(sim, "CreateQueue", same_name).await, "QueueNameExists");
    ask(sim, "CreateQueue", json!({"QueueName": "events"})).await;
    let bad = json!({"QueueName": "b", "Attributes": {"DelaySeconds": "901"}});
    assert_eq!(refused(sim, "CreateQueue", bad).await, "InvalidAttributeValue");
    let bad = json!({"QueueName": "b", "Attributes": {"KmsMasterKeyId": "x"}});
    assert_eq!(refused(sim, "CreateQueue", bad).await, "InvalidAttributeName");
    assert_eq!(refused(sim, "GetQueueUrl", json!({"QueueName": "nope"})).await, "QueueDoesNotExist");
    let many = json!({"QueueUrl": URL, "MaxNumberOfMessages": 11});
    assert_eq!(refused(sim, "ReceiveMessage", many).await, "InvalidParameterValue");
    assert_eq!(refused(sim, "AddPermission", json!({})).await, "UnknownOperationException");
    ask(sim, "PurgeQueue", json!({"QueueUrl": URL})).await;
    assert_eq!(refused(sim, "PurgeQueue", json!({"QueueUrl": URL})).await, "PurgeQueueInProgress");
    ask(sim, "DeleteQueue", json!({"QueueUrl": URL})).await;
    assert_eq!(refused(sim, "CreateQueue", json!({"QueueName": "events"})).await, "QueueDeletedRecently");
    scene.wait(60);
    ask(sim, "CreateQueue", json!({"QueueName": "events"})).await;
}

/// The bodies that reach the queue `events`.
fn drain(scene: &Scene) -> Vec<Value> {
    let receive = Receive { most: 10_000, visibility: None };
    let messages = scene.with(|region| region.receive_messages("events", receive)).expect("a queue");
    messages.iter().map(|message| serde_json::from_str(&message.body).expect("JSON")).collect()
}

/// EventBridge User Guide, "Event patterns" and "SQS as a target": the message is the whole event.
#[tokio::test]
async fn events_reach_the_queues_whose_rules_take_them() {
    let scene = with_queue(json!({})).await;
    let mut rule = EventRule::to_queue("events");
    rule.detail_types = vec!["EC2 Instance Launch Successful".to_owned()];
    scene.region.set_event_rules(vec![rule.clone()]).expect("the queue exists");
    scene.settled_pool((0, 3, 4));
    let got = drain(&scene);
    assert_eq!(got.len(), 3);
    assert!(got.iter().all(|event| event["detail"]["AutoScalingGroupName"] == json!("pool")), "{got:?}");
    rule.queue = "nowhere".to_owned();
    assert!(scene.region.set_event_rules(vec![rule]).is_err());
}

/// EventBridge delivers late, twice, in any order or not at all, each as often as the rule says.
#[tokio::test]
async fn delivery_can_be_late_doubled_out_of_order_and_lost() {
    let deliver = async |change: fn(&mut EventRule)| {
        let scene = with_queue(json!({})).await;
        let mut rule = EventRule::to_queue("events");
        rule.sources = vec!["aws.ec2".to_owned()];
        change(&mut rule);
        scene.region.set_event_rules(vec![rule]).expect("the queue exists");
        scene.settled_pool((0, 4, 4)).set_desired(0).expect("in range");
        scene.wait(20);
        let prompt = drain(&scene);
        scene.wait(60);
        (prompt, drain(&scene))
    };
    let always = |rule: &mut EventRule| rule.lost = Probability::new(1.0).expect("a probability");
    assert_eq!(deliver(always).await, (vec![], vec![]));
    let (exact, rest) = deliver(|_| {}).await;
    assert!(!exact.is_empty() && exact == deliver(|_| {}).await.0);
    // What was not deleted comes back after its visibility timeout.
    assert_eq!(rest.len(), exact.len());
    let (doubled, _) = deliver(|rule| rule.doubled = Probability::new(1.0).expect("a probability")).await;
    assert_eq!(doubled.len(), exact.len() * 2);
    let (prompt, late) = deliver(|rule| rule.delay_millis = 50_000).await;
    assert_eq!((prompt.len(), late.len()), (0, exact.len()));
    let (_, mixed) = deliver(|rule| (rule.delay_millis, rule.delay_spread_millis) = (45_000, 30_000)).await;
    let times = |events: &[Value]| events.iter().map(|event| event["time"].to_string()).collect::<Vec<_>>();
    assert!(!times(&mixed).is_sorted() && times(&exact).is_sorted());
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        "[ -~]{0,12}".prop_map(Value::from),
        Just(json!(URL)),
        Just(json!("events")),
        Just(json!("MTp4")),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[A-Za-z]{1,8}", inner, 0..3).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bad requests never panic and never get a 500: every action, with known names and any values.
    #[test]
    fn any_json_gets_a_response_that_sqs_could_have_given(
        action in prop::sample::select(vec!["CreateQueue", "GetQueueUrl", "ListQueues", "GetQueueAttributes",
            "SetQueueAttributes", "DeleteQueue", "PurgeQueue", "SendMessage", "ReceiveMessage", "DeleteMessage",
            "DeleteMessageBatch", "ChangeMessageVisibility", "Nothing"]),
        fields in prop::collection::btree_map(prop::sample::select(vec!["QueueUrl", "QueueName", "Attributes",
            "AttributeNames", "MessageBody", "DelaySeconds", "MaxNumberOfMessages", "VisibilityTimeout",
            "ReceiptHandle", "Entries", "QueueNamePrefix"]), any_value(), 0..5),
        junk in prop::option::of(prop::collection::vec(any::<u8>(), 0..20)),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (status, _) = runtime.block_on(async {
            let scene = with_queue(json!({})).await;
            raw(&scene.sim, action, &junk.unwrap_or_else(|| json!(fields).to_string().into_bytes())).await
        });
        prop_assert!(status < 500, "{status}");
    }
}
