//! AWS JSON 1.0: the action in the header `X-Amz-Target`, parameters and answers as JSON (Smithy, "AWS JSON 1.0
//! protocol").

use super::sigv4::SignedRequest;
use super::{WireAnswer, WireRequest, signature, sqs};
use crate::core::error::{AwsError, AwsResult};
use crate::faults::CallHead;
use crate::iam::policy::Ask;
use crate::iam::refusals;
use crate::service::Service;
use crate::world::{Ending, Gate, World};
use http::header::HOST;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The header that names the action.
pub(crate) const TARGET: &str = "x-amz-target";
/// What SQS's actions are called in it.
const SQS: &str = "AmazonSQS.";
/// How often a long poll looks again, in real time: nothing tells it that virtual time has passed.
const LOOK_AGAIN: Duration = Duration::from_millis(25);

/// Answers a request that has an `X-Amz-Target`.
pub(crate) async fn answer(world: &World, request: SignedRequest<'_>, target: &str) -> WireAnswer {
    let request_id = world.request_id();
    match carry_out(world, request, target).await {
        Ok((Ending::Whole, outcome)) => {
            let (status, body) = written(outcome);
            WireAnswer::Json { status, body, request_id }
        }
        Ok((Ending::Truncated, outcome)) => {
            let (status, body) = written(outcome);
            WireAnswer::Truncated { status, body }
        }
        Ok((Ending::Lost, _)) | Err(Refusal::Dropped) => WireAnswer::Dropped,
        Err(Refusal::Answer(error)) => {
            let (status, body) = written(Err(error));
            WireAnswer::Json { status, body, request_id }
        }
    }
}

/// Why a call is not carried out.
enum Refusal {
    Answer(AwsError),
    Dropped,
}

impl From<AwsError> for Refusal {
    fn from(error: AwsError) -> Self {
        Self::Answer(error)
    }
}

async fn carry_out(
    world: &World,
    request: SignedRequest<'_>,
    target: &str,
) -> Result<(Ending, AwsResult<Value>), Refusal> {
    let authorization = request.headers.get("authorization").and_then(|value| value.to_str().ok());
    let plain = WireRequest { authorization, query: request.query, body: request.body };
    let scope = signature::scope(plain.authorization, plain.query)?;
    let service = signature::service_of(&scope)?;
    let unknown = || AwsError::new("UnknownOperationException", "The operation is not known.");
    let action = target.strip_prefix(SQS).filter(|_| service == Service::Sqs).ok_or_else(unknown)?;
    let operation = sqs::operation(action).ok_or_else(unknown)?;
    let (key, known) = {
        let inner = world.lock();
        (inner.keys.get(&scope.caller), !inner.keys.is_empty())
    };
    let parameters = String::from_utf8_lossy(plain.body);
    let call =
        CallHead { caller: &scope.caller, region: &scope.region, service, action, parameters: &parameters };
    if known {
        let verified = match &key {
            None => Err(refusals::unknown_key(service)),
            Some(key) => super::sigv4::verify(&request, &scope, key, service),
        };
        verified.inspect_err(|error| world.record_refusal(&call, error))?;
    }
    let body: Value = match plain.body {
        [] => json!({}),
        body => serde_json::from_slice(body)
            .ok()
            .filter(Value::is_object)
            .ok_or_else(|| AwsError::new("SerializationException", "The request is not a JSON object."))?,
    };
    let (wait, ending) = match world.gate(&call) {
        Gate::Open(wait) => (wait, Ending::Whole),
        Gate::AnswerLost => (Duration::ZERO, Ending::Lost),
        Gate::Truncated => (Duration::ZERO, Ending::Truncated),
        Gate::Hangs => std::future::pending().await,
        Gate::Refused(error) => return Err(error.into()),
        Gate::Dropped | Gate::Unreachable => return Err(Refusal::Dropped),
    };
    if !wait.is_zero() {
        tokio::time::sleep(wait).await;
    }
    let host = request.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let arn = world.arn_of(&scope.caller);
    let first = world.carry_out(&call, ending, |region| {
        if let Some(key) = &key {
            let queue = sqs::queue_of(&body).unwrap_or("*");
            let ask = Ask {
                action: format!("sqs:{action}"),
                resource: format!("arn:aws:sqs:{}:{}:{queue}", region.name, region.account),
                context: BTreeMap::new(),
            };
            refusals::check(key, &[ask], service, &arn)?;
        }
        operation(region, &body, host).map(|value| (value, sqs::poll_until(region, action, &body)))
    });
    let (mut value, until) = match first {
        Ok(first) => first,
        Err(error) => return Ok((ending, Err(error))),
    };
    // Only an answer without messages waits, and only as long as virtual time has not come to its end.
    while let Some(until) = until
        && value.as_object().is_some_and(serde_json::Map::is_empty)
    {
        tokio::time::sleep(LOOK_AGAIN).await;
        let look =
            world.in_region(&scope.region, |region| (operation(region, &body, host), region.now() >= until));
        match look.and_then(|(found, over)| found.map(|found| (found, over))) {
            Ok((found, over)) => {
                value = found;
                if over {
                    break;
                }
            }
            Err(error) => return Ok((ending, Err(error))),
        }
    }
    Ok((ending, Ok(value)))
}

fn written(outcome: AwsResult<Value>) -> (u16, String) {
    match outcome {
        Ok(value) => (200, value.to_string()),
        Err(error) => {
            let kind = format!("com.amazonaws.sqs#{}", error.code);
            (error.status, json!({ "__type": kind, "message": error.message }).to_string())
        }
    }
}
