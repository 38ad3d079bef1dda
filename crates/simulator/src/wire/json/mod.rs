//! AWS JSON 1.0 and 1.1: the action in the header `X-Amz-Target`, parameters and responses as JSON (Smithy, "AWS JSON 1.0
//! protocol" and "AWS JSON 1.1 protocol").

use super::gate::{self, GateRefusal};
use super::operation::{JsonOperation, named};
use super::response::WireResponse;
use super::sigv4::SignedRequest;
use super::{authentication, quotas, signature, sqs, ssm};
use crate::core::Region;
use crate::core::error::{AwsError, AwsResult};
use crate::faults::CallHead;
use crate::iam::policy::Ask;
use crate::iam::refusals;
use crate::service::Service;
use crate::world::{Ending, World};
use foo_model::Timestamp;
use http::header::HOST;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The header that names the action.
pub(crate) const TARGET: &str = "x-amz-target";
/// How often a long poll receives again, in real time: no notification says that virtual time has passed.
const POLL_PERIOD: Duration = Duration::from_millis(25);

/// A service that speaks JSON.
#[derive(Clone, Copy, Debug)]
struct Dialect {
    service: Service,
    /// Prefix of its actions in the header.
    prefix: &'static str,
    /// Prefix of its error codes.
    error_prefix: &'static str,
    content_type: &'static str,
    actions: &'static [(&'static str, JsonOperation)],
}

const DIALECTS: [Dialect; 3] = [
    Dialect {
        service: Service::Sqs,
        prefix: "AmazonSQS.",
        error_prefix: "com.amazonaws.sqs#",
        content_type: "application/x-amz-json-1.0",
        actions: &sqs::ACTIONS,
    },
    Dialect {
        service: Service::Ssm,
        prefix: "AmazonSSM.",
        error_prefix: "",
        content_type: "application/x-amz-json-1.1",
        actions: &ssm::ACTIONS,
    },
    Dialect {
        service: Service::ServiceQuotas,
        prefix: "ServiceQuotasV20190624.",
        error_prefix: "",
        content_type: "application/x-amz-json-1.1",
        actions: &quotas::ACTIONS,
    },
];

/// Responds to a request that has an `X-Amz-Target`.
pub(crate) async fn respond(world: &World, request: SignedRequest<'_>, target: &str) -> WireResponse {
    let request_id = world.request_id();
    // A target of no known service gets its refusal in the first dialect.
    let dialect = DIALECTS.into_iter().find(|it| target.starts_with(it.prefix)).unwrap_or(DIALECTS[0]);
    let content_type = dialect.content_type;
    match carry_out(world, request, target, dialect).await {
        Ok((Ending::Complete, outcome)) => {
            let query_error = outcome.as_ref().err().and_then(|error| dialect.query_error(error));
            let (status, body) = dialect.written(outcome);
            WireResponse::Json { status, body, request_id, content_type, query_error, error_type: None }
        }
        Ok((Ending::Truncated, outcome)) => {
            let (status, body) = dialect.written(outcome);
            WireResponse::Truncated { status, body, content_type }
        }
        Ok((Ending::Never, _)) => std::future::pending().await,
        Ok((Ending::Lost, _)) | Err(GateRefusal::Dropped) => WireResponse::Dropped,
        Err(GateRefusal::Response(error)) => {
            let query_error = dialect.query_error(&error);
            let (status, body) = dialect.written(Err(error));
            WireResponse::Json { status, body, request_id, content_type, query_error, error_type: None }
        }
    }
}

/// A refusal for SDKs of services that speak REST with JSON (Smithy, "AWS restJson1 protocol").
pub(super) fn refuse_rest(kind: &'static str, error: &AwsError, request_id: String) -> WireResponse {
    let body = json!({ "message": error.message }).to_string();
    WireResponse::Json {
        status: 404,
        body,
        request_id,
        content_type: "application/json",
        query_error: None,
        error_type: Some(kind.to_owned()),
    }
}

/// Carries out a call. Returns what is to happen to the response, and the response.
async fn carry_out(
    world: &World,
    request: SignedRequest<'_>,
    target: &str,
    dialect: Dialect,
) -> Result<(Ending, AwsResult<Value>), GateRefusal> {
    let authorization = request.headers.get("authorization").and_then(|value| value.to_str().ok());
    let scope = signature::scope(authorization, request.query)?;
    let service = signature::service_of(&scope)?;
    let (action, operation) = dialect.operation(service, target)?;
    let parameters = String::from_utf8_lossy(request.body);
    let call =
        CallHead { caller: &scope.caller, region: &scope.region, service, action, parameters: &parameters };
    authentication::authenticate(world, &request, &scope, service)
        .inspect_err(|error| world.record_refusal(&call, error))?;
    let key = world.lock().keys.get(&scope.caller);
    let body = object(request.body)?;
    let ending = gate::pass(world, &call).await?;
    let host = request.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let arn = world.arn_of(&scope.caller);
    let first = world.carry_out(&call, ending, |region| {
        if let Some(key) = &key {
            let resources = resources_of(service, region, action, &body);
            let asks: Vec<Ask> =
                resources.into_iter().map(|resource| ask(service, action, resource)).collect();
            refusals::check(key, &asks, service, &arn)?;
        }
        operation(region, &body, host).map(|value| {
            let until = (service == Service::Sqs).then(|| sqs::poll_until(region, action, &body)).flatten();
            (value, until)
        })
    });
    let response = match first {
        Ok((first, Some(until))) => {
            poll(world, &scope.region, first, until, |region| operation(region, &body, host)).await
        }
        Ok((response, None)) => Ok(response),
        Err(error) => Err(error),
    };
    Ok((ending, response))
}

/// The body of a request; an empty one stands for an object without fields.
fn object(body: &[u8]) -> AwsResult<Value> {
    if body.is_empty() {
        return Ok(json!({}));
    }
    let value = serde_json::from_slice(body).ok().filter(Value::is_object);
    value.ok_or_else(|| AwsError::new("SerializationException", "The request is not a JSON object."))
}

/// The permission for an action on one resource.
fn ask(service: Service, action: &str, resource: String) -> Ask {
    Ask { action: format!("{}:{action}", service.name()), resource, context: BTreeMap::new() }
}

/// Repeats a receive that found no message, until there is one or virtual time has reached `until`.
async fn poll(
    world: &World,
    region: &str,
    first: Value,
    until: Timestamp,
    receive: impl Fn(&mut Region) -> AwsResult<Value>,
) -> AwsResult<Value> {
    let mut response = first;
    while response.as_object().is_some_and(serde_json::Map::is_empty) {
        tokio::time::sleep(POLL_PERIOD).await;
        let (next, is_over) = world.in_region(region, |region| (receive(region), region.now() >= until))?;
        response = next?;
        if is_over {
            break;
        }
    }
    Ok(response)
}

/// The resources of a call in IAM. Quotas have no ARNs in policies (Service Authorization Reference, "Service
/// Quotas").
fn resources_of(service: Service, region: &Region, action: &str, body: &Value) -> Vec<String> {
    match service {
        Service::Ssm => ssm::resources_of(region, action, body),
        Service::Sqs => {
            let queue = sqs::queue_of(body).unwrap_or("*");
            vec![format!("arn:aws:sqs:{}:{}:{queue}", region.name, region.account)]
        }
        Service::ServiceQuotas
        | Service::AutoScaling
        | Service::Ec2
        | Service::Sts
        | Service::ElasticLoadBalancing
        | Service::Eks
        | Service::Iam
        | Service::S3 => vec!["*".to_owned()],
    }
}

impl Dialect {
    /// The action and the operation that the header names.
    ///
    /// # Errors
    /// `UnknownOperationException`, also if the request is signed for another service.
    fn operation(self, service: Service, target: &str) -> AwsResult<(&str, JsonOperation)> {
        let action = target.strip_prefix(self.prefix).filter(|_| service == self.service);
        let found = action.and_then(|action| Some((action, named(self.actions, action)?)));
        found.ok_or_else(|| AwsError::new("UnknownOperationException", "The operation is not known."))
    }

    /// The code of an error in the query protocol, by which SDKs of SQS still identify errors (Smithy, "AWS query
    /// compatible trait").
    fn query_error(self, error: &AwsError) -> Option<String> {
        if self.service != Service::Sqs {
            return None;
        }
        let code = match error.code.as_str() {
            "QueueDoesNotExist" => "AWS.SimpleQueueService.NonExistentQueue",
            "QueueNameExists" => "QueueAlreadyExists",
            code @ ("BatchEntryIdsNotDistinct"
            | "EmptyBatchRequest"
            | "MessageNotInflight"
            | "PurgeQueueInProgress"
            | "QueueDeletedRecently"
            | "TooManyEntriesInBatchRequest"
            | "UnsupportedOperation") => return Some(format!("AWS.SimpleQueueService.{code};Sender")),
            code => code,
        };
        Some(format!("{code};{}", if error.status < 500 { "Sender" } else { "Receiver" }))
    }

    fn written(self, outcome: AwsResult<Value>) -> (u16, String) {
        match outcome {
            Ok(value) => (200, value.to_string()),
            Err(error) => {
                let kind = format!("{}{}", self.error_prefix, error.code);
                (error.status, json!({ "__type": kind, "message": error.message }).to_string())
            }
        }
    }
}
