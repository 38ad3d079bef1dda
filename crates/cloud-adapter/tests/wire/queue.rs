//! A queue through the real SDK against the simulator's wire.

use crate::canned::settings;
use foo_cloud::{ErrorKind, Queue};
use foo_cloud_adapter::{AwsQueue, AwsSettings, Timeouts};
use foo_simulator::core::Region;
use foo_simulator::core::sqs::delivery::EventRule;
use foo_simulator::{Handle, SimulatorConfig};
use std::collections::BTreeMap;
use std::time::Duration;

const REGION: &str = "eu-central-1";
const MINUTE: Duration = Duration::from_mins(1);

async fn queue(server: &Handle, name: &str) -> AwsQueue {
    let settings = AwsSettings { timeouts: Timeouts::default(), ..settings(&server.endpoint()) };
    let url = format!("{}/123456789012/{name}", server.endpoint());
    AwsQueue::connect(settings, &url).await.unwrap()
}

fn with<T>(server: &Handle, work: impl FnOnce(&mut Region) -> T) -> T {
    server.simulator().region(REGION).with(work).unwrap()
}

#[tokio::test]
async fn messages_are_received_hidden_and_deleted() {
    let server = Handle::start(SimulatorConfig::stepped()).await.unwrap();
    let queue = queue(&server, "events").await;
    let missing = queue.receive(Duration::ZERO, MINUTE).await.unwrap_err();
    assert_eq!(missing.kind, ErrorKind::NotFound);
    with(&server, |region| region.create_queue("events", &BTreeMap::new())).unwrap();
    assert_eq!(queue.receive(Duration::ZERO, MINUTE).await.unwrap(), []);
    for number in 0..12 {
        with(&server, |region| region.send_message("events", format!("message {number}"), None)).unwrap();
    }
    let sent = with(&server, |region| region.now());
    let first = queue.receive(Duration::from_secs(20), MINUTE).await.unwrap();
    assert_eq!(first.len(), 10, "a batch");
    assert!(first.iter().all(|message| message.receives == 1 && message.sent.millis() == sent.0));
    let second = queue.receive(Duration::ZERO, MINUTE).await.unwrap();
    assert_eq!(second.len(), 2, "what was received is hidden");
    let receipts: Vec<_> = first.iter().map(|message| message.receipt.clone()).collect();
    queue.delete(&receipts).await.unwrap();
    queue.delete(&receipts).await.unwrap();
    queue.delete(&[]).await.unwrap();
    queue.hide(&second[0].receipt, Duration::ZERO).await.unwrap();
    let again = queue.receive(Duration::ZERO, MINUTE).await.unwrap();
    assert_eq!(again.len(), 1);
    assert_eq!((again[0].id.as_str(), again[0].receives), (second[0].id.as_str(), 2));
    assert_eq!(again[0].body, second[0].body);
    assert_ne!(again[0].receipt, second[0].receipt);
    server.simulator().step(MINUTE);
    let late = queue.hide(&second[1].receipt, MINUTE).await.unwrap_err();
    assert_eq!(late.kind, ErrorKind::Invalid);
    assert_eq!(queue.receive(Duration::ZERO, MINUTE).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_receive_waits_for_an_event() {
    let server = Handle::start(SimulatorConfig::stepped()).await.unwrap();
    let queue = queue(&server, "events").await;
    with(&server, |region| region.create_queue("events", &BTreeMap::new())).unwrap();
    server.simulator().region(REGION).set_event_rules(vec![EventRule::to_queue("events")]).unwrap();
    let published = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let detail = serde_json::json!({"service": "EC2"});
        server
            .simulator()
            .region(REGION)
            .publish("aws.health", "AWS Health Event", Vec::new(), detail)
            .unwrap();
    };
    let (received, ()) = tokio::join!(queue.receive(Duration::from_secs(20), MINUTE), published);
    let received = received.unwrap();
    assert_eq!(received.len(), 1);
    assert!(received[0].body.contains("AWS Health Event"), "{}", received[0].body);
}
