//! SQS's actions (SQS API Reference), with their parameters in JSON.

use super::json_fields::{number, required, text, texts};
use super::operation::JsonOperation;
use crate::core::Region;
use crate::core::error::{AwsError, AwsResult};
use crate::core::sqs::{Message, Receive};
use foo_model::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// Longest visibility timeout, in seconds.
const VISIBILITY_MAX: u64 = 43_200;

/// All actions.
pub(super) const ACTIONS: [(&str, JsonOperation); 12] = [
    ("CreateQueue", create),
    ("GetQueueUrl", get_url),
    ("ListQueues", list),
    ("GetQueueAttributes", get_attributes),
    ("SetQueueAttributes", set_attributes),
    ("DeleteQueue", |region, body, _| region.delete_queue(queue(body)?).map(|()| json!({}))),
    ("PurgeQueue", |region, body, _| region.purge_queue(queue(body)?).map(|()| json!({}))),
    ("SendMessage", send),
    ("ReceiveMessage", receive),
    ("DeleteMessage", delete),
    ("DeleteMessageBatch", delete_batch),
    ("ChangeMessageVisibility", change_visibility),
];

/// The queue that a request names, by its URL or its name.
pub(super) fn queue_of(body: &Value) -> Option<&str> {
    let url = body.get("QueueUrl").and_then(Value::as_str).and_then(|url| url.rsplit('/').next());
    url.or_else(|| body.get("QueueName").and_then(Value::as_str))
}

/// Until when ReceiveMessage waits for a message, in virtual time; `None` if it does not wait.
pub(super) fn poll_until(region: &Region, action: &str, body: &Value) -> Option<Timestamp> {
    if action != "ReceiveMessage" {
        return None;
    }
    let asked = number(body, "WaitTimeSeconds", 0, 20).ok()?.map(Duration::from_secs);
    let queue = region.queues.find(queue_of(body)?).ok()?;
    let wait = asked.unwrap_or(queue.attributes.wait);
    (!wait.is_zero()).then(|| region.now().plus(wait))
}

fn create(region: &mut Region, body: &Value, host: &str) -> AwsResult<Value> {
    let name = required(body, "QueueName")?;
    region.create_queue(name, &attributes(body)?)?;
    Ok(json!({ "QueueUrl": url(region, host, name) }))
}

fn get_url(region: &mut Region, body: &Value, host: &str) -> AwsResult<Value> {
    let name = required(body, "QueueName")?;
    region.queues.find(name)?;
    Ok(json!({ "QueueUrl": url(region, host, name) }))
}

/// ListQueues: at most 1,000 names, as AWS returns without MaxResults; a longer prefix finds the others.
fn list(region: &mut Region, body: &Value, host: &str) -> AwsResult<Value> {
    let prefix = text(body, "QueueNamePrefix")?.unwrap_or_default();
    let names = region.queues.names().filter(|name| name.starts_with(prefix)).take(1_000);
    let urls: Vec<String> = names.map(|name| url(region, host, name)).collect();
    Ok(if urls.is_empty() { json!({}) } else { json!({ "QueueUrls": urls }) })
}

fn get_attributes(region: &mut Region, body: &Value, _: &str) -> AwsResult<Value> {
    let shown = region.queues.find(queue(body)?)?.shown(region.now());
    let wanted = texts(body, "AttributeNames")?;
    let is_wanted = |name: &str| wanted.iter().any(|it| *it == "All" || *it == name);
    let shown: Map<String, Value> = shown
        .into_iter()
        .filter(|(name, _)| is_wanted(name))
        .map(|(name, value)| (name.to_owned(), Value::String(value)))
        .collect();
    Ok(if shown.is_empty() { json!({}) } else { json!({ "Attributes": shown }) })
}

fn set_attributes(region: &mut Region, body: &Value, _: &str) -> AwsResult<Value> {
    region.set_queue_attributes(queue(body)?, &attributes(body)?)?;
    Ok(json!({}))
}

fn send(region: &mut Region, body: &Value, _: &str) -> AwsResult<Value> {
    for name in ["MessageAttributes", "MessageSystemAttributes", "MessageGroupId", "MessageDeduplicationId"] {
        if body.get(name).is_some_and(|value| !value.is_null() && value != &json!({})) {
            return Err(AwsError::new("UnsupportedOperation", format!("{name} is not simulated.")));
        }
    }
    let delay = number(body, "DelaySeconds", 0, 900)?.map(Duration::from_secs);
    let message = region.send_message(queue(body)?, required(body, "MessageBody")?.to_owned(), delay)?;
    Ok(json!({ "MessageId": message.id, "MD5OfMessageBody": message.md5() }))
}

fn receive(region: &mut Region, body: &Value, _: &str) -> AwsResult<Value> {
    let most = number(body, "MaxNumberOfMessages", 1, 10)?.unwrap_or(1);
    number(body, "WaitTimeSeconds", 0, 20)?;
    let visibility = number(body, "VisibilityTimeout", 0, VISIBILITY_MAX)?.map(Duration::from_secs);
    let mut wanted = texts(body, "AttributeNames")?;
    wanted.extend(texts(body, "MessageSystemAttributeNames")?);
    let receive = Receive { most: usize::try_from(most).unwrap_or(1), visibility };
    let messages = region.receive_messages(queue(body)?, receive)?;
    let messages: Vec<Value> = messages.iter().map(|message| show(message, &wanted)).collect();
    Ok(if messages.is_empty() { json!({}) } else { json!({ "Messages": messages }) })
}

fn show(message: &Message, wanted: &[&str]) -> Value {
    let known = [
        ("ApproximateReceiveCount", message.received.to_string()),
        ("ApproximateFirstReceiveTimestamp", message.first_received.unwrap_or(message.sent).0.to_string()),
        ("SentTimestamp", message.sent.0.to_string()),
    ];
    let attributes: Map<String, Value> = known
        .into_iter()
        .filter(|(name, _)| wanted.iter().any(|it| it == &"All" || it == name))
        .map(|(name, value)| (name.to_owned(), Value::String(value)))
        .collect();
    let mut shown = json!({
        "MessageId": message.id,
        "ReceiptHandle": message.receipt,
        "MD5OfBody": message.md5(),
        "Body": message.body,
    });
    if let Some(shown) = shown.as_object_mut()
        && !attributes.is_empty()
    {
        shown.insert("Attributes".to_owned(), Value::Object(attributes));
    }
    shown
}

fn delete(region: &mut Region, body: &Value, _: &str) -> AwsResult<Value> {
    region.delete_message(queue(body)?, required(body, "ReceiptHandle")?)?;
    Ok(json!({}))
}

fn delete_batch(region: &mut Region, body: &Value, _: &str) -> AwsResult<Value> {
    let name = queue(body)?;
    region.queues.find(name)?;
    let entries = body.get("Entries").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if entries.is_empty() {
        return Err(AwsError::new("EmptyBatchRequest", "There should be at least one entry in the request."));
    }
    if entries.len() > 10 {
        return Err(AwsError::new(
            "TooManyEntriesInBatchRequest",
            "Maximum number of entries per request are 10.",
        ));
    }
    let mut ids = std::collections::BTreeSet::new();
    for entry in entries {
        if !ids.insert(required(entry, "Id")?) {
            return Err(AwsError::new("BatchEntryIdsNotDistinct", "Two or more entries have the same Id."));
        }
    }
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    for entry in entries {
        let id = required(entry, "Id")?;
        match required(entry, "ReceiptHandle").and_then(|receipt| region.delete_message(name, receipt)) {
            Ok(()) => done.push(json!({ "Id": id })),
            Err(error) => failed.push(json!({
                "Id": id, "SenderFault": true, "Code": error.code, "Message": error.message,
            })),
        }
    }
    Ok(json!({ "Successful": done, "Failed": failed }))
}

fn change_visibility(region: &mut Region, body: &Value, _: &str) -> AwsResult<Value> {
    let seconds = number(body, "VisibilityTimeout", 0, VISIBILITY_MAX)?
        .ok_or_else(|| AwsError::missing("VisibilityTimeout"))?;
    let receipt = required(body, "ReceiptHandle")?;
    region.change_visibility(queue(body)?, receipt, Duration::from_secs(seconds))?;
    Ok(json!({}))
}

fn url(region: &Region, host: &str, name: &str) -> String {
    format!("http://{host}/{}/{name}", region.account)
}

fn queue(body: &Value) -> AwsResult<&str> {
    required(body, "QueueUrl")?;
    queue_of(body).ok_or_else(|| AwsError::missing("QueueUrl"))
}

fn attributes(body: &Value) -> AwsResult<BTreeMap<String, String>> {
    let wrong = || AwsError::new("SerializationException", "Attributes must be texts by name.");
    match body.get("Attributes") {
        None | Some(Value::Null) => Ok(BTreeMap::new()),
        Some(Value::Object(entries)) => entries
            .iter()
            .map(|(name, value)| Ok((name.clone(), value.as_str().ok_or_else(wrong)?.to_owned())))
            .collect(),
        Some(_) => Err(wrong()),
    }
}
